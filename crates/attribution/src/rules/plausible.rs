//! Whether a finding can be true, as far as Slurm says whose job it was and where it ran.
//!
//! In goes what a rule found of a process; out comes why it cannot be so. Whoever starts a process
//! chooses its environment, its command line and the names of its files; only control groups that
//! root made (`slurm_cgroup`) and numbers that an engine reports are not in his hands. So a claim
//! of those other rules has to fit the job's user, and every claim the nodes on which the job ran,
//! where Slurm calls that host a node. What is not known contradicts nothing.

use super::claim::{Claim, Finding};
use super::facts::Facts;
use super::{native_id, slurm_cgroup};
use crate::entities::{Entities, KnownJob};

/// Why a finding cannot be true. `user` is the name of the process's user, or of the nearest
/// ancestor's that has one (a user namespace has ids without names).
pub fn refuted(finding: &Finding, facts: &Facts, user: Option<&str>, entities: &Entities) -> Option<String> {
    let is_forgeable = !matches!(finding.rule, slurm_cgroup::NAME | native_id::NAME);
    match &finding.claim {
        Claim::Job(claim) => {
            let of_id = |at_ns| entities.jobs.find(claim.id, claim.cluster.as_deref(), at_ns);
            let now = of_id(facts.started_ns);
            let candidates = if now.is_empty() { of_id(None) } else { now };
            first_of_all(candidates.iter().map(|at| {
                let job = entities.jobs.get(*at);
                of_another(job, user.filter(|_| is_forgeable)).or_else(|| elsewhere(job, facts, entities))
            }))
        }
        Claim::Task(task) if is_forgeable => {
            let task = entities.tasks.get(*task);
            if let Some(why) = user.zip(task.user.as_deref()).and_then(|(user, owner)| not_his(user, owner, "task")) {
                return Some(why);
            }
            let id = task.native_id.as_deref().filter(|_| task.native_kind.as_deref() == Some("slurm_job"))?.parse().ok()?;
            let candidates = entities.jobs.find(id, None, facts.started_ns);
            first_of_all(candidates.iter().map(|at| of_another(entities.jobs.get(*at), user)))
        }
        _ => None,
    }
}

/// The first reason, when there is one against each.
fn first_of_all(mut reasons: impl Iterator<Item = Option<String>>) -> Option<String> {
    let first = reasons.next()??;
    reasons.all(|reason| reason.is_some()).then_some(first)
}

/// Root can do everything, also in a user's name.
fn of_another(job: &KnownJob, user: Option<&str>) -> Option<String> {
    let (user, owner) = (user?, job.user.as_deref()?);
    not_his(user, owner, "job")
}

fn not_his(user: &str, owner: &str, what: &str) -> Option<String> {
    (user != owner && user != "root").then(|| format!("the process is of user {user}, and the {what} of {owner}"))
}

fn elsewhere(job: &KnownJob, facts: &Facts, entities: &Entities) -> Option<String> {
    let nodes = job.node_list.as_deref()?;
    entities.jobs.ran_elsewhere(job, &facts.host).then(|| format!("the process is on {}, and the job ran on {nodes}", facts.host))
}

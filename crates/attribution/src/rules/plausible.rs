//! Plausibility of findings, by the owners and nodes that Slurm and engines record.
//!
//! The input is the finding of a rule about a process; the result is the reason why it cannot be
//! true. The user who starts a process chooses its environment, its command line and the names of
//! its files, and becomes another user by a set-user-id program. So such a claim is judged by the
//! users who can have made it ([`Finding::users`]), not by the user as whom the process acts. A
//! control group that root made is judged by the user in its name, an engine's number by the
//! engine's user, and every claim by the nodes on which the job ran, where Slurm calls that host a
//! node. What is not known contradicts nothing.

use std::borrow::Cow;

use super::claim::{Claim, Finding, JobClaim};
use super::facts::{Facts, ROOT, User};
use super::{container_cgroup, native_id, slurm_cgroup};
use crate::entities::{Entities, KnownJob, Task};

/// Known properties of the ancestors of a process.
#[derive(Debug, Clone, Copy, Default)]
pub struct Above<'a> {
    /// Name of the user of the process, or of the nearest ancestor that has one: ids of a user
    /// namespace have none.
    pub user: Option<&'a str>,
    /// The job of its parent.
    pub job: Option<&'a JobClaim>,
}

/// Why a finding cannot be true.
pub fn refuted(finding: &Finding, facts: &Facts, above: Above<'_>, entities: &Entities) -> Option<String> {
    let users = named(&finding.users, above.user);
    let users: Vec<&str> = users.iter().map(AsRef::as_ref).collect();
    match &finding.claim {
        Claim::Job(claim) => {
            let of_group = finding.rule == slurm_cgroup::NAME;
            if let Some(why) = of_group.then(|| in_anothers_group(claim, facts, above)).flatten() {
                return Some(why);
            }
            let makers = if of_group { &[][..] } else { &users };
            let candidates = entities.jobs.meant(claim.id, claim.cluster.as_deref(), facts.started_ns);
            first_of_all(candidates.iter().map(|at| {
                let job = entities.jobs.get(*at);
                not_theirs("process", makers, "job", job.user.as_deref()).or_else(|| elsewhere(job, facts, entities))
            }))
        }
        Claim::Task(at) => {
            let task = entities.tasks.get(*at);
            if finding.rule != native_id::NAME || container_cgroup::of_user(facts) {
                return of_anothers_task(task, &users, facts.started_ns, entities);
            }
            match task.native_kind.as_deref() {
                // The engine's log is in the hands of its user.
                Some("slurm_job") => of_job(task, facts.started_ns, entities, |job| {
                    not_theirs("engine", task.user.as_deref().as_slice(), "job", job.user.as_deref())
                }),
                Some("pid") => not_theirs("process", &users, "task", task.user.as_deref()),
                _ => None,
            }
        }
        Claim::Pod(_) | Claim::Container(_) | Claim::Unit(_) => None,
    }
}

/// Why what these users made cannot be a part of a task: it is another's, or its job is.
pub fn of_anothers_task(task: &Task, users: &[&str], at_ns: Option<i64>, entities: &Entities) -> Option<String> {
    not_theirs("process", users, "task", task.user.as_deref())
        .or_else(|| of_job(task, at_ns, entities, |job| not_theirs("process", users, "job", job.user.as_deref())))
}

/// In place of the name of a user whom the tracer could not know. It is no valid name (useradd(8)).
const UNKNOWN: &str = "(unknown)";

/// The names of users. One without a name is the nearest ancestor that has one: in a user namespace
/// ids have no names. Below root alone, as of a daemon that starts programs as other users, such an
/// id belongs to no user with a name: its user cannot be known here, and is not root. The id 0 is
/// root whether the host has a name for it or not.
fn named<'u>(users: &'u [User], above: Option<&'u str>) -> Vec<Cow<'u, str>> {
    if users.is_empty() {
        return above.into_iter().map(Cow::from).collect();
    }
    let name = |user: &'u User| match user {
        User::Named(name) => Some(Cow::from(&**name)),
        User::Unnamed(id) if *id != 0 && above.is_none_or(|above| above == ROOT) => Some(format!("with id {id}").into()),
        User::Unnamed(_) => above.map(Cow::from),
        User::Unknown => Some(UNKNOWN.into()),
    };
    users.iter().filter_map(name).collect()
}

/// Returns the first objection, if there is one to each Slurm job that a task can have been by its
/// engine.
fn of_job(task: &Task, at_ns: Option<i64>, entities: &Entities, against: impl Fn(&KnownJob) -> Option<String>) -> Option<String> {
    let id = task.native_id.as_deref().filter(|_| task.native_kind.as_deref() == Some("slurm_job"))?.parse().ok()?;
    first_of_all(entities.jobs.find(id, None, at_ns).iter().map(|at| against(entities.jobs.get(*at))))
}

/// Returns the first reason, if there is one against each.
fn first_of_all(mut reasons: impl Iterator<Item = Option<String>>) -> Option<String> {
    let first = reasons.next()??;
    reasons.all(|reason| reason.is_some()).then_some(first)
}

/// Root can do everything, also in a user's name. Who is not known became root, and takes nothing
/// from root by it.
fn not_theirs(whose: &str, users: &[&str], what: &str, owner: Option<&str>) -> Option<String> {
    let owner = owner?;
    let can = |user: &str| user == owner || user == ROOT || (user == UNKNOWN && owner == ROOT);
    let user = users.iter().find(|user| !can(user))?;
    Some(format!("the {whose} is of user {user}, and the {what} of {owner}"))
}

/// A job's control group carries its user's id. Another user in it was started by the job.
fn in_anothers_group(claim: &JobClaim, facts: &Facts, above: Above<'_>) -> Option<String> {
    let owner = slurm_cgroup::owner(facts)?;
    let is_below = above.job.is_some_and(|job| job.id == claim.id);
    let (user, uid) = above.user.zip(facts.real_uid).filter(|_| facts.forked && !is_below)?;
    (uid != owner && user != ROOT).then(|| format!("the process is of user {user} ({uid}), and the control group of {owner}"))
}

fn elsewhere(job: &KnownJob, facts: &Facts, entities: &Entities) -> Option<String> {
    let nodes = job.node_list.as_deref()?;
    entities.jobs.ran_elsewhere(job, &facts.host).then(|| format!("the process is on {}, and the job ran on {nodes}", facts.host))
}

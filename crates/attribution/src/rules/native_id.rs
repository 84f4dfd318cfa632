//! Rule by an engine's record of how its task ran: a Slurm job, a process, a pod, a container.
//!
//! If an engine writes a number without its kind (Makeflow), it is tried as both, a job and a
//! process. Process numbers are used again: the process must have started while the task ran, on
//! its host where that is known. A job, pod or container of several tasks gives no finding.

use super::claim::{Claim, Strength};
use super::facts::{Facts, Place};
use super::rule::{AddClaim, Rule};
use crate::entities::{Entities, Task};

/// Clocks, and how long after an engine's entry a process appears.
const SLACK_NS: i64 = 2_000_000_000;

/// The rule's name, as in the table `links`.
pub const NAME: &str = "native-id";

pub(super) struct NativeId;

impl Rule for NativeId {
    fn name(&self) -> &'static str {
        NAME
    }

    fn strength(&self) -> Strength {
        Strength::Declared
    }

    fn of_process(&self, facts: &Facts, entities: &Entities, say: &mut AddClaim<'_>) {
        let pid = facts.pid.to_string();
        let found = one(entities, entities.tasks.with_native_id(&pid), facts, |task| {
            kind(task, "pid") && task.host.as_deref().is_none_or(|host| same_host(host, &facts.host))
        });
        // Without both times a number alone could be anybody's.
        if let Some(at) = found.filter(|at| facts.started_ns.is_some() && entities.tasks.get(*at).submitted.is_some()) {
            say(Claim::Task(at), format!("{} names pid {pid}", entities.tasks.get(at).engine));
        }
    }

    fn of_place(&self, place: &Place, facts: &Facts, entities: &Entities, say: &mut AddClaim<'_>) {
        let tasks = &entities.tasks;
        if let Some(job) = &place.job {
            let raw = job.id.to_string();
            let labels = entities.jobs.find(job.id, job.cluster.as_deref(), facts.started_ns);
            let label = labels.first().map(|at| entities.jobs.get(*at).job.clone()).filter(|label| *label != raw);
            let ids: Vec<u32> = [Some(raw), label].iter().flatten().flat_map(|id| tasks.with_native_id(id)).copied().collect();
            if let Some(at) = one(entities, &ids, facts, |task| kind(task, "slurm_job")) {
                say(Claim::Task(at), format!("{} names Slurm job {}", tasks.get(at).engine, job.id));
            }
        }
        if let Some(pod) = &place.pod {
            // Kubernetes gives the name that goes with the uid, and an engine mostly the name.
            let rows = tasks.with_native_id(pod);
            let named = rows.iter().flat_map(|at| tasks.with_native_id(&tasks.get(*at).name));
            let of_engines: Vec<u32> = rows.iter().chain(named).copied().filter(|at| tasks.get(*at).engine != "kubernetes").collect();
            let found = one(entities, &of_engines, facts, |task| kind(task, "pod"))
                .or_else(|| one(entities, rows, facts, |task| kind(task, "pod")));
            if let Some(at) = found {
                say(Claim::Task(at), format!("{} names pod {}", tasks.get(at).engine, tasks.get(at).native_id.as_deref().unwrap_or(pod)));
            }
        }
        if let Some(container) = &place.container {
            let ids = [tasks.in_container(container), tasks.with_native_id(container)].concat();
            let of_engines: Vec<u32> = ids.iter().copied().filter(|at| tasks.get(*at).engine != "kubernetes").collect();
            if let Some(at) = one(entities, &of_engines, facts, |_| true).or_else(|| one(entities, &ids, facts, |_| true)) {
                say(Claim::Task(at), format!("{} names container {container}", tasks.get(at).engine));
            }
        }
    }
}

fn kind(task: &Task, kind: &str) -> bool {
    task.native_kind.as_deref().is_none_or(|told| told == kind)
}

/// The only task that fits; a task that `flowmine transform` wrapped before that of the engine
/// which started its layers.
fn one(entities: &Entities, candidates: &[u32], facts: &Facts, fits: impl Fn(&Task) -> bool) -> Option<u32> {
    let wrapped = |task: &Task| task.engine == "transform";
    only(entities, candidates, facts, |task| wrapped(task) && fits(task))
        .or_else(|| only(entities, candidates, facts, |task| !wrapped(task) && fits(task)))
}

fn only(entities: &Entities, candidates: &[u32], facts: &Facts, fits: impl Fn(&Task) -> bool) -> Option<u32> {
    let mut fitting = candidates.iter().copied().filter(|at| {
        let task = entities.tasks.get(*at);
        fits(task) && facts.started_ns.is_none_or(|ns| task.covers(ns, SLACK_NS))
    });
    let first = fitting.next()?;
    fitting.all(|other| other == first).then_some(first)
}

/// Names of a host with and without its domain.
pub(super) fn same_host(a: &str, b: &str) -> bool {
    let short = |name: &str| name.split('.').next().map(str::to_ascii_lowercase);
    a.eq_ignore_ascii_case(b) || (a.contains('.') != b.contains('.') && short(a) == short(b))
}

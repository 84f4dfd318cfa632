//! How jobs are assigned to the cases of tasks.

use rustc_hash::FxHashMap;

use super::entities::Entities;
use super::notion::{Assignment, Strength, Why};
use crate::components;
use crate::jobs::attempt_name;
use crate::tasks_as_jobs::RAN_AS;

/// Assigns each attempt to the case of the task that it was, by this notion of tasks. An attempt that
/// was no task is in a case of its submission alone, `<notion>:<cluster>:<id>`: the case of a task has
/// more parts in its id.
pub fn assign_by_task(entities: &Entities<'_>, notion: &str) -> Assignment {
    let jobs = entities.jobs;
    let mut assignment = Assignment::default();
    let mut known: FxHashMap<String, u32> = FxHashMap::default();
    for attempt in &jobs.attempts {
        let name = attempt_name(jobs.text(attempt.cluster), jobs.text(attempt.job), attempt.submit_ns.get());
        let task = entities.overview.tasks.case(notion, &name);
        let id = match task {
            Some((case, _)) => case.to_owned(),
            None => components::case_id(notion, components::key(jobs, attempt.submission)),
        };
        let case = match known.get(&id) {
            Some(&case) => case,
            None => {
                let case = assignment.case(id.clone(), task.is_some());
                known.insert(id, case);
                case
            }
        };
        assignment.case_of.push(case);
        assignment.why.push(Why {
            reason: if task.is_some() { RAN_AS } else { "alone" },
            evidence: task.map(|(_, task)| format!("task {task}")),
            confidence: None,
            strength: Some(if task.is_some() { Strength::Derived } else { Strength::Declared }),
        });
    }
    assignment
}

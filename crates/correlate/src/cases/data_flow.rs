//! The notion `data-flow`: jobs that are connected by declared dependencies, or by data that went
//! from one to another, are one case.
//!
//! A job is connected to each job that read a version of a file that it wrote, as traces show
//! ([`crate::exchanges`]), and to all that the notion `dependency` connects it to. So a workflow
//! with jobs that a user chains by files alone is one case. So is a workflow that an engine submits
//! without declaring dependencies to Slurm.
//!
//! It joins more than workflows: unrelated jobs are one case when they read the same file that a
//! traced job wrote, such as a reference genome that a job unpacked once. So are the workflows of
//! these jobs. A file that existed before anything was traced joins no jobs. A job that was not
//! traced is joined by its declared dependencies only.
//!
//! **The id** is `data-flow:<cluster>:<id>` with the id of the case's oldest submission, by the
//! rules of the notion `dependency`.

use rustc_hash::FxHashMap;

use super::entities::Entities;
use super::notion::{Assignment, CaseNotion, Strength};
use crate::components;
use crate::exchanges::ComponentGroups;

/// Connected components of declared dependencies and of data that jobs gave to each other.
#[derive(Debug, Clone, Copy)]
pub struct DataFlow;

impl CaseNotion for DataFlow {
    fn name(&self) -> &'static str {
        "data-flow"
    }

    fn description(&self) -> &'static str {
        "jobs connected by declared dependencies, or by files that one wrote and another read, as traced"
    }

    fn within_parts(&self) -> bool {
        false
    }

    fn needs_data_flow(&self) -> bool {
        true
    }

    fn is_standard(&self) -> bool {
        true
    }

    fn strength(&self) -> Strength {
        Strength::Derived
    }

    fn assign(&self, entities: &Entities<'_>) -> Assignment {
        assign(entities, self.name(), &entities.overview.exchanges.of_files)
    }
}

/// Assigns jobs to groups of components.
pub(super) fn assign(entities: &Entities<'_>, notion: &str, groups: &ComponentGroups) -> Assignment {
    let jobs = entities.jobs;
    let mut assignment = Assignment::default();
    let mut of_group: FxHashMap<u32, u32> = FxHashMap::default();
    let mut case_of_submission: Vec<u32> = Vec::with_capacity(jobs.submissions.len());
    for (at, oldest) in (0u32..).zip(components::oldest(jobs)) {
        let case = match case_of_submission.get(oldest as usize) {
            Some(&case) => case,
            None => match groups.group(components::key(jobs, at)) {
                Some(group) => *of_group
                    .entry(group)
                    .or_insert_with(|| assignment.case(components::case_id(notion, groups.oldest(group).as_key()), true)),
                None => assignment.case(components::case_id(notion, components::key(jobs, at)), false),
            },
        };
        case_of_submission.push(case);
    }
    assignment.case_of = jobs.attempts.iter().map(|attempt| case_of_submission[attempt.submission as usize]).collect();
    assignment
}

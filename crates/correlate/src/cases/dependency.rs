//! The notion `dependency`: jobs that are connected by declared dependencies are one case.
//!
//! A case is a component of submissions ([`crate::components`]). The users of the jobs do not
//! matter: a dependency between jobs of two users joins them.
//!
//! **The id** is `dependency:<cluster>:<id>` with the id of the case's oldest submission that was
//! seen (by submit time, then id); `#2`, `#3`, … follow when that id had been used before for
//! another job in this dataset. So it does not change when later jobs come in, except that a later
//! job can join two cases into one, which then keeps the id of the older. (When older jobs come in
//! afterwards, say from accounting of the days before, the oldest of a case and with it the case's
//! id can become another.)

use super::entities::Entities;
use super::notion::{Assignment, CaseNotion, Strength};
use crate::components;

/// Connected components of the declared dependencies.
#[derive(Debug, Clone, Copy)]
pub struct Dependency;

impl CaseNotion for Dependency {
    fn name(&self) -> &'static str {
        "dependency"
    }

    fn description(&self) -> &'static str {
        "jobs connected by declared dependencies (sbatch --dependency)"
    }

    fn within_parts(&self) -> bool {
        true
    }

    fn is_standard(&self) -> bool {
        true
    }

    fn strength(&self) -> Strength {
        Strength::Declared
    }

    fn assign(&self, entities: &Entities<'_>) -> Assignment {
        let jobs = entities.jobs;
        let mut assignment = Assignment::default();
        let mut case_of_submission: Vec<u32> = Vec::with_capacity(jobs.submissions.len());
        for (at, oldest) in (0u32..).zip(components::oldest(jobs)) {
            // The oldest comes first.
            let case = match case_of_submission.get(oldest as usize) {
                Some(&case) => case,
                None => assignment.case(components::case_id(self.name(), components::key(jobs, at)), false),
            };
            case_of_submission.push(case);
        }
        assignment.case_of = jobs.attempts.iter().map(|attempt| case_of_submission[attempt.submission as usize]).collect();
        assignment
    }
}

//! The notion `array`: what was submitted at once is one case.
//!
//! An array with all its tasks, a heterogeneous job with its components, and each other job. The id
//! is that of the notion `dependency`, with the name `array`.

use super::entities::Entities;
use super::notion::{Assignment, CaseNotion, Strength};
use crate::components;

/// One case for each submission.
#[derive(Debug, Clone, Copy)]
pub struct Array;

impl CaseNotion for Array {
    fn name(&self) -> &'static str {
        "array"
    }

    fn description(&self) -> &'static str {
        "each submission: an array with its tasks, a heterogeneous job, any other job"
    }

    fn within_parts(&self) -> bool {
        true
    }

    fn strength(&self) -> Strength {
        Strength::Declared
    }

    fn assign(&self, entities: &Entities<'_>) -> Assignment {
        let jobs = entities.jobs;
        let mut assignment = Assignment::default();
        for submission in 0..jobs.submissions.len() as u32 {
            assignment.case(components::case_id(self.name(), components::key(jobs, submission)), false);
        }
        assignment.case_of = jobs.attempts.iter().map(|attempt| attempt.submission).collect();
        assignment
    }
}

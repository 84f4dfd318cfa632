//! The notion `job`: each job is a case of its own, with all attempts at it.
//!
//! The id is `job:<cluster>:<job>` with the job as Slurm prints it (`8_3` for the task of an array),
//! and `#2`, `#3`, … where the id had been used before for another job.

use rustc_hash::FxHashMap;

use flowmine_schema::text::ids::escape;

use super::entities::Entities;
use super::notion::{Assignment, CaseNotion, Strength};

/// One case for each job.
#[derive(Debug, Clone, Copy)]
pub struct Job;

impl CaseNotion for Job {
    fn name(&self) -> &'static str {
        "job"
    }

    fn description(&self) -> &'static str {
        "each job, with all attempts at it"
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
        let mut known = FxHashMap::default();
        for attempt in &jobs.attempts {
            let case = *known.entry((attempt.submission, attempt.job)).or_insert_with(|| {
                let mut id = format!("{}:", self.name());
                escape(jobs.text(attempt.cluster), &mut id);
                id.push(':');
                escape(jobs.text(attempt.job), &mut id);
                let generation = jobs.submissions[attempt.submission as usize].generation;
                if generation > 1 {
                    id.push_str(&format!("#{generation}"));
                }
                assignment.case(id, false)
            });
            assignment.case_of.push(case);
        }
        assignment
    }
}

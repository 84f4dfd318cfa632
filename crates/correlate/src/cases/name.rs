//! The notion `name`: all jobs of one user that have one name, but for its numbers, are one case.

use super::entities::Entities;
use super::notion::{Assignment, CaseNotion, Strength};
use super::of_user;
use crate::words::stem;

/// One case for each user and name without counters.
#[derive(Debug, Clone, Copy)]
pub struct Name;

impl CaseNotion for Name {
    fn name(&self) -> &'static str {
        "name"
    }

    fn description(&self) -> &'static str {
        "all jobs of one user with one name, whatever numbers are in it"
    }

    fn within_parts(&self) -> bool {
        false
    }

    fn strength(&self) -> Strength {
        Strength::Inferred
    }

    fn assign(&self, entities: &Entities<'_>) -> Assignment {
        let jobs = entities.jobs;
        of_user::assign(jobs, self.name(), |attempt| jobs.text_of(attempt.name).map(stem))
    }
}

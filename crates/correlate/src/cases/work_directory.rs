//! The notion `work-directory`: all jobs of one user in one work directory are one case.

use super::entities::Entities;
use super::notion::{Assignment, CaseNotion, Strength};
use super::of_user;

/// One case for each user and work directory.
#[derive(Debug, Clone, Copy)]
pub struct WorkDirectory;

impl CaseNotion for WorkDirectory {
    fn name(&self) -> &'static str {
        "work-directory"
    }

    fn description(&self) -> &'static str {
        "all jobs of one user in one work directory"
    }

    fn within_parts(&self) -> bool {
        false
    }

    fn strength(&self) -> Strength {
        Strength::Inferred
    }

    fn assign(&self, entities: &Entities<'_>) -> Assignment {
        let jobs = entities.jobs;
        of_user::assign(jobs, self.name(), |attempt| jobs.text_of(attempt.work_dir).map(str::to_owned))
    }
}

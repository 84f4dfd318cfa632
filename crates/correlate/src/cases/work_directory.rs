//! The notion `work-directory`: all jobs of one user in one work directory are one case.

use super::of_user::OfUser;

/// One case for each user and work directory.
pub static WORK_DIRECTORY: OfUser = OfUser {
    name: "work-directory",
    description: "all jobs of one user in one work directory",
    value: |jobs, attempt| jobs.text_of(attempt.work_dir).map(str::to_owned),
};

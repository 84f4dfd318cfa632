//! The notion `name`: all jobs of one user that have one name, but for its numbers, are one case.

use super::of_user::OfUser;
use crate::words::stem;

/// One case for each user and name without counters.
pub static NAME: OfUser = OfUser {
    name: "name",
    description: "all jobs of one user with one name, whatever numbers are in it",
    value: |jobs, attempt| jobs.text_of(attempt.name).map(stem),
};

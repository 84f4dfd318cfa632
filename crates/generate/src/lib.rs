//! Jobs of imagined users with known workflow runs.
//!
//! The input is a seed and numbers of users and runs; the output is jobs as a scheduler records
//! them, each with its run ([`generate`]). They measure how well a case notion finds undeclared
//! runs.
//!
//! Users begin runs in working hours (Feitelson, Workload Modeling for Computer Systems Performance
//! Evaluation, 2015, chapter 9: daily and weekly cycles), think before they continue by hand, and
//! repeat what failed. Shapes are those that Bharathi et al., Characterization of scientific
//! workflows, WORKS 2008, figure 1 call process, pipeline, distribution and aggregation. The
//! distributions themselves are chosen, not fitted to a cluster.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod habits;
pub mod squeue;
mod users;

use users::FIRST_S;
pub use users::generate;

/// What is generated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// The same seed gives the same jobs.
    pub seed: u64,
    /// Number of users.
    pub users: usize,
    /// Runs of each user.
    pub runs: usize,
    /// Runs that a user has under way at once, at most; 1 for one after another.
    pub overlap: usize,
}

/// A job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// Its id.
    pub id: i64,
    /// The run that it is of.
    pub run: String,
    /// The step that it is an instance of: the same for all users that do the same.
    pub step: String,
    /// Name of the user.
    pub user: String,
    /// Name of the account.
    pub account: String,
    /// Name of the job.
    pub name: String,
    /// Path of the command.
    pub command: String,
    /// Arguments of the command.
    pub arguments: String,
    /// Work directory.
    pub work_dir: String,
    /// Session that submitted it.
    pub session: i64,
    /// When it was submitted, in seconds since 1970.
    pub submit_s: i64,
    /// When it started, in seconds since 1970.
    pub start_s: i64,
    /// When it ended, in seconds since 1970.
    pub end_s: i64,
    /// Whether it failed.
    pub failed: bool,
}

#[cfg(test)]
mod tests {
    use super::{Options, generate};

    const OPTIONS: Options = Options { seed: 7, users: 5, runs: 12, overlap: 2 };

    #[test]
    fn a_seed_gives_the_same_jobs_and_another_gives_others() {
        let jobs = generate(&OPTIONS);
        assert_eq!(jobs, generate(&OPTIONS));
        assert_ne!(jobs, generate(&Options { seed: 8, ..OPTIONS }));
        let fewer = generate(&Options { users: 2, ..OPTIONS });
        let runs = |jobs: &[super::Job]| jobs.iter().filter(|job| job.user == "user01").map(|job| job.run.clone()).collect::<Vec<_>>();
        assert_eq!(runs(&fewer), runs(&jobs), "a user does not depend on the number of users");
    }

    #[test]
    fn jobs_are_possible() {
        let jobs = generate(&OPTIONS);
        assert!(jobs.windows(2).all(|pair| pair[0].submit_s <= pair[1].submit_s && pair[0].id + 1 == pair[1].id));
        assert!(jobs.iter().all(|job| job.submit_s <= job.start_s && job.start_s < job.end_s));
        let runs: std::collections::BTreeSet<_> = jobs.iter().filter(|job| !job.run.contains("trial")).map(|job| &job.run).collect();
        assert_eq!(runs.len(), OPTIONS.users * OPTIONS.runs);
        let failed = jobs.iter().filter(|job| job.failed).count();
        assert!(failed > 0 && failed * 10 < jobs.len(), "{failed} of {}", jobs.len());
    }

    #[test]
    fn runs_one_after_another_do_not_overlap() {
        let jobs = generate(&Options { overlap: 1, ..OPTIONS });
        for user in 0..OPTIONS.users {
            let of_user = |run: usize| jobs.iter().filter(move |job| job.run == format!("user{user:02}-{run}"));
            for run in 1..OPTIONS.runs {
                let end = of_user(run - 1).map(|job| job.end_s).max();
                assert!(of_user(run).map(|job| Some(job.submit_s)).min().is_some_and(|begin| begin > end), "user {user}, run {run}");
            }
        }
    }
}

//! The notion `session`: a user's jobs as an interleaving of undeclared runs.
//!
//! Each submission continues the run of the same user for which the evidence is strongest, or
//! begins a new one ([`cover`]). The evidence ([`evidence`]) is a sum of logarithms of likelihood
//! ratios: time from an end or a submission in the run, submitting session, work directory, shared
//! words and counters, order of the steps, return of a step. The order of steps and the use of
//! directories in the user's other runs are learnt from the assignment itself, in a few rounds
//! ([`learnt`]).
//!
//! Only jobs of one user on one cluster are compared, never by account. A submission is compared
//! with a bounded number of runs, so that the time grows with the number of jobs. The result is a
//! function of the submissions in the order of age.

mod cover;
mod evidence;
mod learnt;
mod members;
mod quickness;
mod run;

use super::notion::{CaseNotion, Strength};
use crate::groups::{Grouping, Placed};
use crate::submitted::AllSubmitted;
pub(super) use cover::group;

/// Runs inferred from when, where and how a user submitted jobs.
#[derive(Debug, Clone, Copy)]
pub struct Session;

impl CaseNotion for Session {
    fn name(&self) -> &'static str {
        "session"
    }

    fn description(&self) -> &'static str {
        "runs inferred from when, where and how a user submitted jobs"
    }

    fn within_parts(&self) -> bool {
        false
    }

    fn strength(&self) -> Strength {
        Strength::Inferred
    }

    fn grouping(&self) -> Option<&dyn Grouping> {
        Some(self)
    }
}

impl Grouping for Session {
    fn group(&self, all: &AllSubmitted) -> Vec<Placed> {
        group(all, |_| true)
    }
}

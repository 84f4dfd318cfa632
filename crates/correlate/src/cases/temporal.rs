//! The notion `temporal`: a user's jobs are one case as long as one runs soon after another.
//!
//! D. Ghoshal et al., Characterizing scientific workflows on HPC systems using logs, WORKS 2020,
//! identify workflows by temporal connections in the logs of batch queues. Only the abstract was
//! available to us, so the definition is ours: two jobs are connected if one starts while the other
//! runs, or at most 20 minutes after it ended. A job without a known start is alone; one that has not
//! ended goes on. It is a baseline for `session`; the method's other half is `data-dependency`.

use super::notion::{CaseNotion, Strength};
use crate::groups::{Grouping, Placed};
use crate::submitted::AllSubmitted;
use flowmine_schema::time::SECOND_NS;

/// The longest time from an end to a start within a case.
const PAUSE_NS: i64 = 20 * 60 * SECOND_NS;

/// Cases of jobs that run one after another.
#[derive(Debug, Clone, Copy)]
pub struct Temporal;

impl CaseNotion for Temporal {
    fn name(&self) -> &'static str {
        "temporal"
    }

    fn description(&self) -> &'static str {
        "a user's jobs until 20 minutes pass in which none runs"
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

impl Grouping for Temporal {
    fn group(&self, all: &AllSubmitted) -> Vec<Placed> {
        let mut placed: Vec<Placed> = (0..all.all.len() as u32).map(|at| Placed::first(at, "alone")).collect();
        let (order, users) = all.by_user();
        for user in users {
            let started = order[user].iter().filter_map(|&at| Some((all.all[at as usize].started_ns.get()?, at)));
            let mut started: Vec<(i64, u32)> = started.collect();
            started.sort_unstable();
            let mut start = 0;
            let mut until_ns = i64::MIN;
            for next in 0..=started.len() {
                let goes_on = started.get(next).is_some_and(|(ns, _)| next > start && *ns <= until_ns);
                if !goes_on {
                    join(&started[start..next], &mut placed);
                    (start, until_ns) = (next, i64::MIN);
                }
                let Some(&(ns, at)) = started.get(next) else { continue };
                let ended_ns = all.all[at as usize].ended_ns.get().unwrap_or(i64::MAX).max(ns);
                until_ns = until_ns.max(ended_ns.saturating_add(PAUSE_NS));
            }
        }
        placed
    }
}

/// Puts jobs in the order of their starts into one case, which the oldest names.
fn join(jobs: &[(i64, u32)], placed: &mut [Placed]) {
    let Some(first) = jobs.iter().map(|&(_, at)| at).min() else { return };
    for (number, &(_, at)) in jobs.iter().enumerate() {
        let follows = number.checked_sub(1).map(|before| jobs[before].1);
        placed[at as usize] = Placed { first, follows, ..Placed::first(at, if follows.is_some() { "time" } else { "first" }) };
    }
}

//! The notions `gap-arrival`, `gap-last` and `gap-max`: a user's jobs are one case until a gap.
//!
//! The three definitions of a user's session in N. Zakay and D. G. Feitelson, On identifying user
//! session boundaries in parallel workload logs, JSSPP 2012 (LNCS 7698, 2013), section 3. A job
//! begins a new case when it is submitted more than 20 minutes
//! * after the submission of the job before (Arrival),
//! * after the end of the job before (Last), or
//! * after the latest end of all jobs before (Max).
//!
//! A job that has not ended ends the gap of no job after it. They are baselines for `session`.

use super::notion::{CaseNotion, Strength};
use crate::groups::{Grouping, Placed};
use crate::submitted::{AllSubmitted, Submitted};
use flowmine_schema::time::SECOND_NS;

/// The longest gap within a case.
const GAP_NS: i64 = 20 * 60 * SECOND_NS;

/// From when a gap is measured.
#[derive(Debug, Clone, Copy)]
pub enum Gap {
    /// From the submission of the job before.
    Arrival,
    /// From the end of the job before.
    Last,
    /// From the latest end of all jobs before.
    Max,
}

impl CaseNotion for Gap {
    fn name(&self) -> &'static str {
        match self {
            Self::Arrival => "gap-arrival",
            Self::Last => "gap-last",
            Self::Max => "gap-max",
        }
    }

    fn description(&self) -> &'static str {
        match self {
            Self::Arrival => "a user's jobs until none is submitted for 20 minutes",
            Self::Last => "a user's jobs until 20 minutes pass from the end of the last submitted one",
            Self::Max => "a user's jobs until 20 minutes pass in which none is in the queue",
        }
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

impl Grouping for Gap {
    fn group(&self, all: &AllSubmitted) -> Vec<Placed> {
        let mut placed: Vec<Placed> = (0..all.all.len() as u32).map(|at| Placed::first(at, "alone")).collect();
        let (order, users) = all.by_user();
        for user in users {
            // The first of the case, the job before, and until when the case goes on.
            let mut open: Option<(u32, u32, i64)> = None;
            for &at in &order[user] {
                let submitted = &all.all[at as usize];
                let before = open.filter(|(.., until_ns)| submitted.since_ns <= *until_ns);
                if let Some((first, follows, _)) = before {
                    placed[at as usize] = Placed { first, follows: Some(follows), ..Placed::first(at, "gap") };
                }
                let known = open.map_or(i64::MIN, |(.., until_ns)| until_ns);
                open = Some((before.map_or(at, |(first, ..)| first), at, self.until(submitted, known)));
            }
        }
        placed
    }
}

impl Gap {
    fn until(self, job: &Submitted, known: i64) -> i64 {
        let ended_ns = job.ended_ns.get().unwrap_or(i64::MAX).max(job.since_ns);
        match self {
            Self::Arrival => job.since_ns.saturating_add(GAP_NS),
            Self::Last => ended_ns.saturating_add(GAP_NS),
            Self::Max => ended_ns.saturating_add(GAP_NS).max(known),
        }
    }
}

//! How much it says that a user submits within seconds.
//!
//! A user who submits for several runs at once shows it where directories or dependencies
//! distinguish the runs.

use super::evidence::BURST_NS;
use crate::submitted::{AllSubmitted, Submitted};

/// Pairs of one run that are supposed before any is seen.
const SUPPOSED: f64 = 5.0;

/// The share of pairs of consecutive submissions within seconds that are of one run, as far as
/// directories, engines and dependencies show it, to the third power. `jobs` are all of one user in the order of
/// age, also those that are compared with none.
pub fn quickness(all: &AllSubmitted, declared: &[bool], jobs: &[u32]) -> f64 {
    let (mut same, mut pairs) = (SUPPOSED, SUPPOSED);
    for pair in jobs.windows(2) {
        let [before, job] = [&all.all[pair[0] as usize], &all.all[pair[1] as usize]];
        let is_declared = declared[pair[0] as usize] || declared[pair[1] as usize];
        if job.since_ns - before.since_ns <= BURST_NS
            && let Some(is_one) = are_one(before, job, is_declared)
        {
            pairs += 1.0;
            same += f64::from(u8::from(is_one));
        }
    }
    (same / pairs).powi(3)
}

/// Whether two submissions are of one run, where something shows it.
fn are_one(before: &Submitted, job: &Submitted, is_declared: bool) -> Option<bool> {
    if is_declared {
        return Some(before.declared == job.declared);
    }
    if before.engine_run.is_some() || job.engine_run.is_some() {
        return Some(before.engine_run == job.engine_run);
    }
    Some(before.work_dir? == job.work_dir?)
}

//! How a notion that must see all jobs at once assigns those of a part.

use super::entities::Entities;
use super::notion::{Assignment, Why};
use crate::components;
use crate::groups::Place;

/// What is said of a submission that was not grouped.
const ALONE: Why = Why { reason: "alone", evidence: None, confidence: None, strength: None };

/// Assigns each submission as the notion's groups say ([`crate::groups`]); one that was not grouped
/// is alone. The id is that of the notion `dependency`, with this notion's name.
pub(super) fn assign(entities: &Entities<'_>, notion: &str) -> Assignment {
    let jobs = entities.jobs;
    let mut assignment = Assignment::default();
    let mut known = rustc_hash::FxHashMap::default();
    let mut of_submission = Vec::with_capacity(jobs.submissions.len());
    for submission in 0..jobs.submissions.len() as u32 {
        let own = components::key(jobs, submission);
        let place = entities.overview.groups.place(notion, own);
        let first = place.map_or(own, |place| place.first);
        let case = *known.entry(first).or_insert_with(|| assignment.case(components::case_id(notion, first), true));
        of_submission.push((case, place.map(|place| why(&place))));
    }
    assignment.case_of = jobs.attempts.iter().map(|attempt| of_submission[attempt.submission as usize].0).collect();
    if of_submission.iter().any(|(_, why)| why.is_some()) {
        let of_attempt = |attempt: &crate::JobAttempt| of_submission[attempt.submission as usize].1.clone().unwrap_or(ALONE);
        assignment.why = jobs.attempts.iter().map(of_attempt).collect();
    }
    assignment
}

fn why(place: &Place<'_>) -> Why {
    let evidence = place.follows.map(|(_, cluster, id, _)| format!("job {id} of {cluster}"));
    Why { reason: place.placed.reason, evidence, confidence: place.placed.confidence, strength: place.placed.strength }
}

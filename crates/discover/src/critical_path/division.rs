//! Division of the time before a task's start: one definition for the critical path and for waits.
//!
//! In go the facts about one task ([`Facts`]); out come consecutive [`Span`]s, from the end of all
//! its predecessors (or the start of the run) to its start.

use flowmine_activity_log::RunTask;

use super::TimePart;
use crate::slots;

/// Facts about a task that determine its wait. Times are UTC nanoseconds since 1970.
#[derive(Debug, Clone, Copy)]
pub(super) struct Facts<'f> {
    /// The task.
    pub task: &'f RunTask,
    /// Latest end of the tasks that must end before it; `None` if there are none.
    pub ready_ns: Option<i64>,
    /// Whether its predecessors are known.
    pub is_known: bool,
    /// Moment at which the first task of the run was ready.
    pub begin_ns: i64,
    /// Its start, or its submission if the start is not known.
    pub start_ns: i64,
    /// Intervals in which all executor slots were taken; empty if that has no meaning, as for jobs.
    pub full: &'f [(i64, i64)],
}

/// Part of a task's time before its start. It ends before it begins if clocks are not exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    /// Kind of time.
    pub part: TimePart,
    /// Start of the span.
    pub from_ns: i64,
    /// End of the span.
    pub to_ns: i64,
}

impl Span {
    /// Returns its length in nanoseconds.
    pub fn len_ns(&self) -> i64 {
        self.to_ns.saturating_sub(self.from_ns)
    }
}

/// Returns the spans of a task before its start.
pub(super) fn before(facts: &Facts<'_>) -> Vec<Span> {
    let Facts { task, start_ns: start, .. } = *facts;
    let ready = facts.ready_ns.unwrap_or(facts.begin_ns);
    let mut spans = Vec::new();
    let Some(submitted) = task.submitted_ns.filter(|&submitted| submitted <= start) else {
        let part = if task.submitted_ns.is_some() { TimePart::Submission } else { TimePart::Waiting };
        put_held_back(facts, Span { part: TimePart::Waiting, from_ns: ready, to_ns: start }, part, &mut spans);
        return spans;
    };
    // A job that is submitted early waits in the queue only from the moment when it could start.
    let last = submitted.max(ready).min(start.max(ready));
    let first = task.first_ns.unwrap_or(last).clamp(ready.min(last), last);
    let first = if task.attempts > 1 { first } else { last };
    let eligible = task.ready_ns.map_or(last, |ready| ready.clamp(last.min(start), last.max(start)));
    let submission = Span { part: TimePart::Submission, from_ns: ready, to_ns: first };
    put_held_back(facts, submission, TimePart::Submission, &mut spans);
    spans.push(Span { part: TimePart::Retry, from_ns: first, to_ns: last });
    spans.push(Span { part: TimePart::OwnWish, from_ns: last, to_ns: eligible });
    spans.push(Span { part: TimePart::Queue, from_ns: eligible, to_ns: start });
    spans
}

/// Adds the time before its engine submitted it: unknown, or divided by whether slots were free.
/// `divided` is the kind of time to divide.
fn put_held_back(facts: &Facts<'_>, whole: Span, divided: TimePart, spans: &mut Vec<Span>) {
    if whole.part != divided {
        spans.push(whole);
    } else if facts.ready_ns.is_none() && !facts.is_known {
        spans.push(Span { part: TimePart::Unknown, ..whole });
    } else if whole.len_ns() > 0 {
        let pieces = slots::pieces(facts.full, whole.from_ns, whole.to_ns);
        spans.extend(pieces.into_iter().map(|(from_ns, to_ns, is_full)| {
            let part = if is_full { TimePart::Slots } else { whole.part };
            Span { part, from_ns, to_ns }
        }));
    } else {
        spans.push(whole);
    }
}

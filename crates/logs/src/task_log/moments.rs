//! When what happened to a task: the times that its engine reports, as events.

use flowmine_schema::tables::TaskRun;

/// An event of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// Which of the times: 0 queued, 1 submitted, 2 started, 3 ended or cached.
    pub number: u8,
    /// `task started`.
    pub kind: &'static str,
    /// The transition of the XES lifecycle.
    pub lifecycle: &'static str,
    /// When it happened, UTC nanoseconds since 1970.
    pub time_ns: i64,
    /// The true moment is at most so far away; `None` when the bound is not known.
    pub precision_ns: Option<i64>,
    /// Whether it is the last one that is known.
    pub is_last: bool,
    /// Whether the engine reports a time after that of a later moment, which stands here instead.
    pub is_clamped: bool,
}

impl Moment {
    /// What a task was at this moment, in the words of `task_runs.status`, when it is not its last.
    pub fn status_then(&self) -> &'static str {
        if self.number < 2 { "submitted" } else { "running" }
    }
}

/// What the end of a task is called, and its transition.
fn end(row: &TaskRun<'_>) -> (&'static str, &'static str) {
    match &*row.status {
        _ if row.cached => ("task cached", "autoskip"),
        "completed" => ("task finished", "complete"),
        "failed" => ("task failed", "ate_abort"),
        "aborted" if row.started_ns.is_none() => ("task aborted", "withdraw"),
        "aborted" => ("task aborted", "ate_abort"),
        // Over, but how is not known.
        _ => ("task ended", "unknown"),
    }
}

/// Returns the events of a task, in the order of its life. An unknown time gives no event.
///
/// No moment is after a later one of the same attempt: where the engine's times contradict each
/// other (a start that it noticed or computed milliseconds after the end), both get the time of the
/// later moment.
pub fn moments(row: &TaskRun<'_>) -> impl Iterator<Item = Moment> {
    let (ended, transition) = end(row);
    let last = match row.cached_ns {
        Some(_) => (ended, transition, row.cached_ns, row.cached_precision_ns),
        None => (ended, transition, row.finished_ns, row.finished_precision_ns),
    };
    // As a job's, a task's life begins with `schedule`.
    let submitted = if row.queued_ns.is_none() { "schedule" } else { "assign" };
    let mut all = [
        ("task queued", "schedule", row.queued_ns, row.queued_precision_ns),
        ("task submitted", submitted, row.submitted_ns, row.submitted_precision_ns),
        ("task started", "start", row.started_ns, row.started_precision_ns),
        last,
    ];
    let last = all.iter().rposition(|(_, _, time, _)| time.is_some());
    let told = all.map(|(_, _, time, _)| time);
    let mut not_after = i64::MAX;
    for time in all.iter_mut().rev().filter_map(|(_, _, time, _)| time.as_mut()) {
        not_after = not_after.min(*time);
        *time = not_after;
    }
    (0u8..).zip(all).zip(told).filter_map(move |((number, (kind, lifecycle, time, precision_ns)), told)| {
        let is_last = last == Some(number.into());
        Some(Moment { number, kind, lifecycle, time_ns: time?, precision_ns, is_last, is_clamped: time != told })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_moment_is_after_a_later_one() {
        let clamped = |times: [Option<i64>; 4]| {
            let [queued_ns, submitted_ns, started_ns, finished_ns] = times;
            let row = TaskRun { status: "completed".into(), queued_ns, submitted_ns, started_ns, finished_ns, ..TaskRun::default() };
            moments(&row).map(|moment| (moment.time_ns, moment.is_clamped)).collect::<Vec<_>>()
        };
        assert_eq!(clamped([None, Some(1), Some(5), Some(4)]), [(1, false), (4, true), (4, false)]);
        assert_eq!(clamped([Some(3), Some(2), None, Some(2)]), [(2, true), (2, false), (2, false)]);
        assert_eq!(clamped([Some(1), Some(2), Some(3), None]), [(1, false), (2, false), (3, false)]);
    }

    fn told(status: &'static str, times: [Option<i64>; 4]) -> Vec<(&'static str, &'static str, i64, bool)> {
        let [queued_ns, submitted_ns, started_ns, finished_ns] = times;
        let cached = status == "cached";
        let row = TaskRun { status: status.into(), cached, queued_ns, submitted_ns, started_ns, finished_ns, ..TaskRun::default() };
        moments(&row).map(|moment| (moment.kind, moment.lifecycle, moment.time_ns, moment.is_last)).collect()
    }

    #[test]
    fn only_what_is_told() {
        assert_eq!(
            told("running", [None, Some(1), Some(2), None]),
            [("task submitted", "schedule", 1, false), ("task started", "start", 2, true)]
        );
        assert_eq!(
            told("aborted", [Some(1), None, None, Some(2)]),
            [("task queued", "schedule", 1, false), ("task aborted", "withdraw", 2, true)]
        );
        assert_eq!(told("submitted", [Some(1), Some(2), None, None])[1], ("task submitted", "assign", 2, true));
        assert_eq!(told("aborted", [None, None, Some(1), Some(2)])[1].1, "ate_abort");
        assert_eq!(told("unknown", [None, None, None, Some(2)]), [("task ended", "unknown", 2, true)]);
        assert_eq!(told("cached", [None, None, None, Some(2)]), [("task cached", "autoskip", 2, true)]);
        assert_eq!(told("cached", [None; 4]), []);
        let row = TaskRun { status: "cached".into(), cached: true, cached_ns: Some(7), cached_precision_ns: Some(1), ..TaskRun::default() };
        let all: Vec<_> = moments(&row).map(|moment| (moment.kind, moment.time_ns, moment.precision_ns, moment.is_last)).collect();
        assert_eq!(all, [("task cached", 7, Some(1), true)]);
    }
}

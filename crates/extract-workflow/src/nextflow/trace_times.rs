//! When a task of a trace file was submitted, began and ended, from what its columns say.
//!
//! `submit`, `start` and `complete` are when Nextflow submitted the task and noticed its start and
//! its end; `duration` is `complete` less `submit`. `realtime` is measured around the task's script
//! where its resources were measured too, else it is `complete` less `start`. By default a trace
//! file has `submit`, `duration` and `realtime` alone: the task ended by submission and duration at
//! the latest, and began its `realtime` before that at the latest. A time is the latest possible
//! moment, and its precision is how far before it the true one can be.

use flowmine_schema::time::SECOND_NS;

use crate::Row;

/// A time or a span in nanoseconds, and how exact it is.
pub type WithPrecision = (i64, i64);

/// The columns of a trace file that are times or spans.
#[derive(Debug, Clone, Copy, Default)]
pub struct Times {
    pub submit: Option<WithPrecision>,
    pub start: Option<WithPrecision>,
    pub complete: Option<WithPrecision>,
    pub duration: Option<WithPrecision>,
    pub realtime: Option<WithPrecision>,
    /// Whether `realtime` was measured beside the task.
    pub measured: bool,
}

/// A century and a half: a longer span is none, and with it a sum could be no time.
const LONGEST_NS: f64 = 5e18;

/// A span in seconds as Nextflow writes it, and how exact that is: milliseconds below a second,
/// tenths below a minute, then whole seconds.
pub fn span(seconds: f64, is_raw: bool) -> Option<WithPrecision> {
    let ns = seconds * SECOND_NS as f64;
    let precision = match seconds {
        _ if is_raw || seconds < 1.0 => 1_000_000,
        _ if seconds < 60.0 => SECOND_NS / 20,
        _ => SECOND_NS / 2,
    };
    (ns.is_finite() && (0.0..LONGEST_NS).contains(&ns)).then_some((ns as i64, precision))
}

fn plus(at: Option<WithPrecision>, span: Option<WithPrecision>) -> Option<WithPrecision> {
    let ((at, a), (span, b)) = (at?, span?);
    Some((at.checked_add(span)?, a.checked_add(b)?))
}

fn minus(at: Option<WithPrecision>, span: Option<WithPrecision>) -> Option<WithPrecision> {
    plus(at, span.map(|(span, precision)| (-span, precision)))
}

impl Times {
    /// Puts the times that follow into a row.
    pub fn put(self, row: &mut Row) {
        let submitted = self.submit.or_else(|| minus(self.complete, self.duration));
        let finished = self.complete.or_else(|| plus(submitted, self.duration)).or_else(|| plus(self.start, self.realtime));
        // A time that was measured in another attempt of the executor's can be longer than all of this one.
        let fits =
            |began: &WithPrecision| submitted.is_none_or(|(submitted, precision)| began.0.saturating_add(began.1 + precision) >= submitted);
        let latest = minus(finished, self.realtime).filter(fits);
        let started = match (self.start, latest) {
            // Noticed late, perhaps when it was over.
            (Some(noticed), Some(latest)) if self.measured => Some(noticed.min(latest)),
            (start, latest) => start.or(latest),
        };
        // Not before the submission, and what was measured took its time.
        let since = |(at, precision): WithPrecision, first: Option<WithPrecision>| {
            first.map(|(first, digits)| (at - first).max(0) + precision + digits)
        };
        let earliest_end = if self.measured && latest.is_some() { plus(submitted, self.realtime) } else { None };
        (row.submitted_ns, row.submitted_precision_ns) = submitted.unzip();
        row.started_ns = started.map(|(at, _)| at);
        row.started_precision_ns = started.and_then(|started| since(started, submitted));
        row.finished_ns = finished.map(|(at, _)| at);
        row.finished_precision_ns = finished.and_then(|finished| since(finished, earliest_end.or(submitted)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    /// Submitted, started and finished with their precisions, in milliseconds.
    fn put(times: Times) -> [(Option<i64>, Option<i64>); 3] {
        let mut row = Row::default();
        times.put(&mut row);
        let ms = |ns: Option<i64>| ns.map(|ns| ns / MS);
        [
            (ms(row.submitted_ns), ms(row.submitted_precision_ns)),
            (ms(row.started_ns), ms(row.started_precision_ns)),
            (ms(row.finished_ns), ms(row.finished_precision_ns)),
        ]
    }

    fn told(ms: i64) -> Option<WithPrecision> {
        Some((ms * MS, MS))
    }

    #[test]
    fn default_columns() {
        let times =
            Times { submit: told(1000), duration: span(47.9, false), realtime: span(39.9, false), measured: true, ..Times::default() };
        // It can have run from 1000 to 40900, or from 9000 to 48900.
        assert_eq!(put(times), [(Some(1000), Some(1)), (Some(9000), Some(8102)), (Some(48_900), Some(8102))]);
        // A realtime that Nextflow noticed does not say how long it ran.
        let noticed = Times { measured: false, ..times };
        assert_eq!(put(noticed)[1..], [(Some(9000), Some(8102)), (Some(48_900), Some(47_952))]);
        let open = Times { duration: None, ..times };
        assert_eq!(put(open)[1..], [(None, None), (None, None)]);
    }

    #[test]
    fn all_columns() {
        let times =
            Times { submit: told(0), start: told(5000), complete: told(10_000), realtime: told(9000), measured: true, ..Times::default() };
        assert_eq!(put(times), [(Some(0), Some(1)), (Some(1000), Some(1003)), (Some(10_000), Some(1003))]);
        assert_eq!(put(Times { realtime: None, ..times })[1..], [(Some(5000), Some(5002)), (Some(10_000), Some(10_002))]);
        assert_eq!(put(Times { submit: None, duration: told(10_000), ..times })[0], (Some(0), Some(2)));
    }

    #[test]
    fn a_realtime_that_is_longer_than_the_task() {
        let times = Times { submit: told(0), duration: told(10_000), realtime: told(60_000), measured: true, ..Times::default() };
        assert_eq!(put(times)[1..], [(None, None), (Some(10_000), Some(10_003))]);
    }

    #[test]
    fn spans() {
        for (seconds, is_raw, expected) in [
            (0.809, false, Some((809, 1))),
            (8.5, false, Some((8500, 50))),
            (95.0, false, Some((95_000, 500))),
            (95.0, true, Some((95_000, 1))),
            (f64::MAX, true, None),
        ] {
            assert_eq!(span(seconds, is_raw).map(|(ns, precision)| (ns / MS, precision / MS)), expected);
        }
    }
}

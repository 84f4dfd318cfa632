//! Submission, start and end of a task, from the columns of a trace file.
//!
//! `submit`, `start` and `complete` are the times at which Nextflow submitted the task and noticed
//! its start and its end; `duration` is `complete` minus `submit`. `realtime` is measured around
//! the task's script if its resources were measured too; otherwise it is `complete` minus `start`.
//! By default a trace file has only `submit`, `duration` and `realtime`: the sum of the first two
//! is the latest possible end, and this end minus `realtime` the latest possible start. Each time
//! is the latest possible moment; its precision is the maximum distance of the true moment before
//! it.

use flowmine_schema::time::SECOND_NS;

use crate::Row;

/// A time or a span in nanoseconds, and its precision.
pub type WithPrecision = (i64, i64);

/// The columns of a trace file with times or spans.
#[derive(Debug, Clone, Copy, Default)]
pub struct Times {
    pub submit: Option<WithPrecision>,
    pub start: Option<WithPrecision>,
    pub complete: Option<WithPrecision>,
    pub duration: Option<WithPrecision>,
    pub realtime: Option<WithPrecision>,
    /// Whether `realtime` was measured around the task's script, and not by Nextflow's polls.
    pub measured: bool,
}

/// Maximum span in nanoseconds, about 150 years; the sum of a time and a longer one could overflow.
const LONGEST_NS: f64 = 5e18;

/// Converts a span in seconds. Its precision follows from Nextflow's format: milliseconds below a
/// second, tenths below a minute, then whole seconds.
pub fn span(seconds: f64, is_raw: bool) -> Option<WithPrecision> {
    let ns = seconds * SECOND_NS as f64;
    let precision = match seconds {
        _ if is_raw || seconds < 1.0 => 1_000_000,
        _ if seconds < 60.0 => SECOND_NS / 20,
        _ => SECOND_NS / 2,
    };
    (ns.is_finite() && (0.0..LONGEST_NS).contains(&ns)).then_some((ns.round() as i64, precision))
}

fn plus(at: Option<WithPrecision>, span: Option<WithPrecision>) -> Option<WithPrecision> {
    let ((at, a), (span, b)) = (at?, span?);
    Some((at.checked_add(span)?, a.checked_add(b)?))
}

fn minus(at: Option<WithPrecision>, span: Option<WithPrecision>) -> Option<WithPrecision> {
    plus(at, span.map(|(span, precision)| (-span, precision)))
}

impl Times {
    /// Puts the resulting times into a row.
    pub fn put(self, row: &mut Row) {
        let submitted = self.submit.or_else(|| minus(self.complete, self.duration));
        let finished = self.complete.or_else(|| plus(submitted, self.duration)).or_else(|| plus(self.start, self.realtime));
        // A time measured in another attempt of the executor can exceed the whole duration of this
        // one.
        let fits =
            |began: &WithPrecision| submitted.is_none_or(|(submitted, precision)| began.0.saturating_add(began.1 + precision) >= submitted);
        let latest = minus(finished, self.realtime).filter(fits);
        let started = match (self.start, latest) {
            // The start was noticed late, perhaps after the end.
            (Some(noticed), Some(latest)) if self.measured => Some(noticed.min(latest)),
            (start, latest) => start.or(latest),
        };
        // The earliest bound is the submission, for the end plus the measured time.
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

    /// Returns submission, start and end with their precisions, in milliseconds.
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
        // The task can have run from 1000 to 40900, or from 9000 to 48900.
        assert_eq!(put(times), [(Some(1000), Some(1)), (Some(9000), Some(8102)), (Some(48_900), Some(8102))]);
        // A realtime from Nextflow's polls is not the duration of the script.
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
            (8.2, false, Some((8200, 50))),
            (95.0, true, Some((95_000, 1))),
            (f64::MAX, true, None),
        ] {
            assert_eq!(span(seconds, is_raw), expected.map(|(ms, precision)| (ms * MS, precision * MS)), "{seconds}");
        }
    }
}

//! Arrivals and throughput: submissions by weekday and hour, and the number of submissions, starts
//! and ends over time. Times are UTC.

use flowmine_activity_log::{ActivityLog, UNKNOWN};

/// Maximum number of columns over time.
pub const COLUMNS: usize = 120;

const SECOND: i64 = 1_000_000_000;
const HOUR: i64 = 3600 * SECOND;
const DAY: i64 = 24 * HOUR;

/// Round widths of a column.
const WIDTHS: [i64; 15] = [
    SECOND,
    5 * SECOND,
    15 * SECOND,
    60 * SECOND,
    300 * SECOND,
    900 * SECOND,
    HOUR,
    3 * HOUR,
    6 * HOUR,
    12 * HOUR,
    DAY,
    7 * DAY,
    28 * DAY,
    91 * DAY,
    365 * DAY,
];

/// Arrivals and throughput of a log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Arrivals {
    /// Word for an instance in the log.
    pub instance: String,
    /// Number of arrivals on each weekday from Monday, and in each hour of it.
    pub by_hour: [[u64; 24]; 7],
    /// Whether an arrival is a submission; otherwise it is the first known moment.
    pub are_submissions: bool,
    /// Start of the first column, in nanoseconds since 1970.
    pub begin_ns: i64,
    /// The width of a column, in nanoseconds.
    pub width_ns: i64,
    /// The number of arrivals, starts and ends in each column.
    pub columns: Vec<[u64; 3]>,
    /// Instances without any time.
    pub without_time: u64,
}

/// Counts arrivals, starts and ends of all instances.
pub fn discover(log: &ActivityLog) -> Arrivals {
    let all = || 0..log.len() as u32;
    let are_submissions = all().any(|at| log.submitted_ns(at).is_some());
    let start = |at: u32| log.start_ns(at).filter(|ns| log.start_is_known(at) && *ns != UNKNOWN);
    let moments = |at: u32| {
        let arrival = if are_submissions { log.submitted_ns(at) } else { log.start_ns(at).or_else(|| log.end_ns(at)) };
        [arrival, start(at), log.end_ns(at)]
    };
    let mut found = Arrivals { instance: log.words.instance.clone(), are_submissions, ..Arrivals::default() };
    let mut span: Option<(i64, i64)> = None;
    for at in all() {
        let times = moments(at);
        found.without_time += u64::from(times.iter().all(Option::is_none));
        for ns in times.into_iter().flatten() {
            let (low, high) = span.unwrap_or((ns, ns));
            span = Some((low.min(ns), high.max(ns)));
        }
        if let Some(ns) = times[0] {
            // 1970-01-01 was a Thursday.
            let day = (ns.div_euclid(DAY) + 3).rem_euclid(7) as usize;
            let hour = (ns.rem_euclid(DAY) / HOUR) as usize;
            found.by_hour[day][hour] += 1;
        }
    }
    let Some((low, high)) = span else { return found };
    let columns = |width: i64| (i128::from(high.div_euclid(width)) - i128::from(low.div_euclid(width)) + 1) as usize;
    let last = WIDTHS[WIDTHS.len() - 1];
    let width =
        WIDTHS.into_iter().find(|width| columns(*width) <= COLUMNS).unwrap_or_else(|| last * (columns(last).div_ceil(COLUMNS) as i64));
    found.width_ns = width;
    found.begin_ns = low.div_euclid(width).saturating_mul(width);
    found.columns = vec![[0; 3]; columns(width)];
    let first = low.div_euclid(width);
    for at in all() {
        for (kind, ns) in moments(at).into_iter().enumerate() {
            if let Some(ns) = ns {
                found.columns[(ns.div_euclid(width) - first) as usize][kind] += 1;
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use flowmine_activity_log::{EventRow, LogBuilder};
    use proptest::prelude::*;

    use super::*;

    fn log(times: &[i64]) -> ActivityLog {
        let mut builder = LogBuilder::new(&[]);
        let activity = builder.activity("a");
        for &time_ns in times {
            builder.event(&EventRow { activity, time_ns, ..EventRow::default() }).expect("few");
        }
        builder.end_case("c").expect("one");
        builder.finish()
    }

    #[test]
    fn weekdays_begin_on_monday() {
        // 2026-11-23 was a Monday; 01:30 UTC.
        let found = discover(&log(&[1_795_397_400 * SECOND]));
        assert_eq!(found.by_hour[0][1], 1, "{found:?}");
        assert_eq!(found.columns.iter().map(|column| column[0]).sum::<u64>(), 1);
    }

    proptest! {
        #[test]
        fn every_instance_is_counted_once(times in proptest::collection::vec(-(1i64 << 60)..1i64 << 60, 1..50)) {
            let found = discover(&log(&times));
            prop_assert!(found.columns.len() <= COLUMNS);
            prop_assert_eq!(found.by_hour.iter().flatten().sum::<u64>(), times.len() as u64);
            for kind in 0..3 {
                prop_assert_eq!(found.columns.iter().map(|column| column[kind]).sum::<u64>(), times.len() as u64);
            }
            prop_assert!(times.iter().all(|ns| *ns >= found.begin_ns));
        }
    }
}

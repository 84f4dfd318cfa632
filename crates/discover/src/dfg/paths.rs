//! Critical paths of cases, as they follow from a log.
//!
//! The path of a case leads back from the instance that ended last. The predecessor of each
//! instance is the one that ended last before its start: the one for which it can have waited. A
//! log declares no dependencies; [`crate::critical_path`] follows those of a run.

use flowmine_activity_log::{ActivityLog, Cases, Measure, elapsed_ns};
use rustc_hash::FxHashMap;

/// Share of an activity or a pair of activities in critical paths.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OnPath {
    /// Number of times that it is on a path.
    pub frequency: u64,
    /// Running time, or time between the two, in nanoseconds.
    pub time_ns: i128,
    /// Running time × CPUs of an activity, of instances with both known, in nanoseconds of one
    /// core.
    pub core_ns: Option<i128>,
}

impl OnPath {
    fn add(&mut self, time_ns: Option<i64>, core_ns: Option<i128>) {
        self.frequency += 1;
        self.time_ns += time_ns.map_or(0, i128::from);
        if let Some(core_ns) = core_ns {
            self.core_ns = Some(self.core_ns.unwrap_or(0).saturating_add(core_ns));
        }
    }
}

/// Contents of the critical paths of a log, by the numbers of its activities.
#[derive(Debug, Default)]
pub(super) struct Paths {
    pub activities: FxHashMap<u32, OnPath>,
    pub pairs: FxHashMap<(u32, u32), OnPath>,
}

impl Paths {
    /// Returns the paths of all cases; none for a log of moments, which contains no waiting.
    pub fn new(log: &ActivityLog, cases: &Cases) -> Self {
        let mut found = Self::default();
        if !log.has_intervals() {
            return found;
        }
        let mut by_end: Vec<(u32, u32)> = Vec::new();
        for case in 0..cases.len() {
            by_end.clear();
            by_end.extend(cases.of(case).map(|at| (log.instances.end[at as usize], at)));
            by_end.sort_unstable();
            found.add_case(log, &by_end);
        }
        found
    }

    /// Adds the path of a case with instances in the order of their last events.
    fn add_case(&mut self, log: &ActivityLog, by_end: &[(u32, u32)]) {
        let mut rest = by_end;
        let mut after: Option<u32> = None;
        while let Some(&(_, at)) = rest.last() {
            let activity = log.instances.activity[at as usize];
            let ran = log.service_ns(at);
            let cpus = log.measure(Measure::Cpus, at).filter(|cpus| *cpus > 0);
            let core_ns = ran.zip(cpus).map(|(ran, cpus)| i128::from(ran) * i128::from(cpus));
            self.activities.entry(activity).or_default().add(ran, core_ns);
            if let Some(after) = after {
                let start = log.start_ns(after).filter(|_| log.start_is_known(after));
                let wait = log.end_ns(at).zip(start).and_then(|(end, start)| elapsed_ns(end, start));
                self.pairs.entry((activity, log.instances.activity[after as usize])).or_default().add(wait, None);
            }
            after = Some(at);
            let start = log.instances.start[at as usize];
            rest = &rest[..rest.partition_point(|(end, _)| *end < start)];
        }
    }
}

#[cfg(test)]
mod tests {
    use flowmine_activity_log::{BytesFrom, InstanceRow, LogBuilder, Status, UNKNOWN};
    use proptest::prelude::*;

    use super::*;

    fn log(rows: &[(&str, i64, i64)]) -> ActivityLog {
        let mut builder = LogBuilder::new(&[]);
        for &(name, start_ns, end_ns) in rows {
            let activity = builder.activity(name);
            let row = InstanceRow {
                activity,
                ready_ns: UNKNOWN,
                start_ns,
                end_ns,
                resource: None,
                status: Status::Unknown,
                attempt: 0,
                measures: &[(Measure::Cpus, 2)],
                bytes_from: BytesFrom::Nobody,
                attributes: &[],
            };
            builder.instance(&row).expect("few");
        }
        builder.end_case("case").expect("one");
        builder.finish()
    }

    #[test]
    fn the_path_leads_back_over_what_ended_last() {
        let log = log(&[("a", 0, 10), ("b", 11, 20), ("c", 12, 50), ("d", 55, 60), ("aside", 0, 54)]);
        let found = Paths::new(&log, &log.groups[0]);
        let number = |name: &str| (0u32..).zip(log.activities.iter()).find(|(_, of)| *of == name).expect("known").0;
        let of = |name: &str| found.activities.get(&number(name)).copied();
        assert_eq!(of("d"), Some(OnPath { frequency: 1, time_ns: 5, core_ns: Some(10) }));
        assert_eq!(of("aside").map(|of| of.time_ns), Some(54));
        assert_eq!((of("c"), of("b"), of("a")), (None, None, None));
        assert_eq!(found.pairs.get(&(number("aside"), number("d"))).map(|of| of.time_ns), Some(1));
    }

    proptest! {
        /// Running times and waits cover the time from the first start on the path to the last end
        /// without overlap.
        #[test]
        fn a_path_is_as_long_as_its_span(times in proptest::collection::vec((0i64..100, 1i64..40), 1..30)) {
            let rows: Vec<(&str, i64, i64)> = times.iter().map(|&(start, time)| ("x", start, start + time)).collect();
            let log = log(&rows);
            let found = Paths::new(&log, &log.groups[0]);
            let ran: i128 = found.activities.values().map(|of| of.time_ns).sum();
            let waited: i128 = found.pairs.values().map(|of| of.time_ns).sum();
            let last = rows.iter().map(|row| row.2).max().expect("rows");
            let begins: Vec<i128> = rows.iter().map(|row| i128::from(last - row.1)).collect();
            prop_assert!(begins.contains(&(ran + waited)));
        }
    }
}

//! Time in the queue and load of the cluster by day, by hour of the day and by weekday (UTC).
//!
//! In goes one job with the parts of its time after the other; out come the times in the queue by
//! the moment of submission, and the mean numbers of jobs that ran, of jobs that waited, and of the
//! CPUs of those that ran. The load is that of the jobs that were added: jobs that nothing recorded
//! are in no number. Where the nodes were observed too, the CPUs of all of them are divided into
//! those that jobs had, that were free, and that no job could have.

use std::collections::BTreeMap;

use flowmine_activity_log::{JobWait, WaitKind};
use schemars::JsonSchema;
use serde::Serialize;

use super::rows::quantile;
use crate::calendar;

const HOUR_NS: i128 = 3_600_000_000_000;

/// Names of the days of the week, from Monday on.
const WEEKDAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// Jobs of a day, an hour of the day or a weekday, and the load meanwhile.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Slot {
    /// Kind of slot: `day`, `hour` (of the day) or `weekday`.
    pub by: &'static str,
    /// The slot: a date, an hour (`00` to `23`) or the name of a weekday; UTC.
    pub value: String,
    /// Number of attempts at jobs that were submitted in it.
    pub jobs: u64,
    /// Median of their time in the queue, in nanoseconds; null without jobs.
    pub median_ns: Option<i64>,
    /// Ninth decile of their time in the queue, in nanoseconds; null without jobs.
    pub ninth_decile_ns: Option<i64>,
    /// Sum of their time in the queue, in nanoseconds.
    pub queue_ns: i128,
    /// Sum of their time in the queue × CPUs, in nanoseconds of one core.
    pub queue_core_ns: i128,
    /// Mean number of jobs that ran; null where nothing was recorded.
    pub running: Option<f64>,
    /// Mean number of jobs that waited, for any cause; null where nothing was recorded.
    pub waiting: Option<f64>,
    /// Mean number of CPUs of the jobs that ran, of those with known CPUs; null if none are known.
    pub cpus: Option<f64>,
    /// Mean number of CPUs of nodes that jobs had; null where no nodes were observed.
    pub allocated_cpus: Option<f64>,
    /// Mean number of CPUs of nodes that were free for jobs; null where no nodes were observed.
    pub idle_cpus: Option<f64>,
    /// Mean number of CPUs of nodes that no job could have, as the node was down or drained; null
    /// where no nodes were observed.
    pub down_cpus: Option<f64>,
}

/// Running, waiting, CPUs in use.
type Load = [i128; 3];

/// CPUs of a node, or of several: those that jobs have, that are free, and that no job can have.
pub type NodeCpus = [i128; 3];

fn add(sum: &mut Load, of: Load, times: i128) {
    for (sum, of) in sum.iter_mut().zip(of) {
        *sum = sum.saturating_add(of.saturating_mul(times));
    }
}

#[derive(Debug, Default)]
struct Sums {
    times: Vec<i64>,
    queue_ns: i128,
    core_ns: i128,
    load: Load,
    /// Time of the slot within the record.
    time_ns: i128,
    nodes: NodeCpus,
    /// Time of the slot within the record of nodes.
    nodes_time_ns: i128,
}

/// Three numbers over time.
#[derive(Debug, Default)]
struct Levels {
    /// By hour since 1970: changes at its beginning, of whole hours.
    changes: BTreeMap<i128, Load>,
    /// By hour since 1970: numbers × time of parts of it.
    partly: BTreeMap<i128, Load>,
    span_ns: Option<(i128, i128)>,
}

impl Levels {
    fn cover(&mut self, from_ns: i128, to_ns: i128) {
        let span = self.span_ns.get_or_insert((from_ns, to_ns));
        *span = (span.0.min(from_ns), span.1.max(to_ns));
    }

    fn add(&mut self, from_ns: i128, to_ns: i128, load: Load) {
        self.cover(from_ns, to_ns);
        let (first, last) = (from_ns.div_euclid(HOUR_NS), to_ns.div_euclid(HOUR_NS));
        if first == last {
            add(self.partly.entry(first).or_default(), load, to_ns - from_ns);
            return;
        }
        add(self.partly.entry(first).or_default(), load, (first + 1) * HOUR_NS - from_ns);
        add(self.partly.entry(last).or_default(), load, to_ns - last * HOUR_NS);
        if first + 1 < last {
            add(self.changes.entry(first + 1).or_default(), load, 1);
            add(self.changes.entry(last).or_default(), load, -1);
        }
    }

    /// Returns the numbers × time of an hour, and the time of the record in it. Hours are asked for
    /// in their order, with all from the first of the record on.
    fn take(&mut self, hour: i128, level: &mut Load) -> (Load, i128) {
        add(level, self.changes.remove(&hour).unwrap_or_default(), 1);
        let mut load = self.partly.remove(&hour).unwrap_or_default();
        add(&mut load, *level, HOUR_NS);
        let within = |(from_ns, to_ns): (i128, i128)| ((hour + 1) * HOUR_NS).min(to_ns) - (hour * HOUR_NS).max(from_ns);
        (load, self.span_ns.map_or(0, within).max(0))
    }
}

/// Builder of the slots.
#[derive(Debug, Default)]
pub(super) struct Builder {
    jobs: Levels,
    nodes: Levels,
    /// By hour since 1970: what was submitted in it.
    submitted: BTreeMap<i128, Sums>,
    /// Whether the CPUs of any job are known.
    with_cpus: bool,
}

impl Builder {
    /// Adds an attempt at a job.
    pub fn add(&mut self, job: &JobWait<'_>) {
        let Some(first) = job.parts.first() else { return };
        self.jobs.cover(i128::from(first.from_ns), i128::from(first.from_ns));
        let cpus = i128::from(job.cpus.unwrap_or(0).max(0));
        self.with_cpus |= cpus > 0;
        let queued_ns = job.queued_ns();
        let sums = self.submitted.entry(i128::from(first.from_ns).div_euclid(HOUR_NS)).or_default();
        sums.times.push(queued_ns);
        sums.queue_ns += i128::from(queued_ns);
        sums.core_ns += i128::from(queued_ns) * cpus;
        for part in &job.parts {
            let is_running = matches!(part.cause, "running" | "turnaround");
            let load = match part.kind {
                WaitKind::Started if is_running => [1, 0, cpus],
                // Suspended, or its nodes are made ready.
                WaitKind::Started => continue,
                _ => [0, 1, 0],
            };
            self.jobs.add(i128::from(part.from_ns), i128::from(part.to_ns), load);
        }
    }

    /// Adds the CPUs of a node between two times.
    pub fn add_node(&mut self, from_ns: i64, to_ns: i64, cpus: NodeCpus) {
        if from_ns < to_ns {
            self.nodes.add(from_ns.into(), to_ns.into(), cpus);
        }
    }

    /// Returns the days on which anything happened, then the hours of the day and the weekdays.
    pub fn finish(mut self) -> Vec<Slot> {
        let spans = [self.jobs.span_ns, self.nodes.span_ns].into_iter().flatten();
        let Some((from_ns, to_ns)) = spans.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))) else { return Vec::new() };
        let mut days: BTreeMap<i128, Sums> = BTreeMap::new();
        let mut hours: [Sums; 24] = Default::default();
        let mut weekdays: [Sums; 7] = Default::default();
        let (mut level, mut nodes_level) = (Load::default(), NodeCpus::default());
        for hour in from_ns.div_euclid(HOUR_NS)..=to_ns.div_euclid(HOUR_NS) {
            let (load, time_ns) = self.jobs.take(hour, &mut level);
            let (nodes, nodes_time_ns) = self.nodes.take(hour, &mut nodes_level);
            let submitted = self.submitted.remove(&hour);
            let day = hour.div_euclid(24);
            // 1970-01-01 was a Thursday.
            let slots =
                [days.entry(day).or_default(), &mut hours[hour.rem_euclid(24) as usize], &mut weekdays[(day + 3).rem_euclid(7) as usize]];
            for sums in slots {
                add(&mut sums.load, load, 1);
                sums.time_ns += time_ns;
                add(&mut sums.nodes, nodes, 1);
                sums.nodes_time_ns += nodes_time_ns;
                if let Some(of) = &submitted {
                    sums.times.extend(&of.times);
                    sums.queue_ns += of.queue_ns;
                    sums.core_ns += of.core_ns;
                }
            }
        }
        let days = days.into_iter().filter(|(_, sums)| !sums.times.is_empty() || sums.load != Load::default() || sums.nodes_time_ns > 0);
        let days = days.map(|(day, sums)| slot("day", calendar::day(day), sums));
        let hours = hours.into_iter().enumerate().map(|(hour, sums)| slot("hour", format!("{hour:02}"), sums));
        let weekdays = weekdays.into_iter().zip(WEEKDAYS).map(|(sums, name)| slot("weekday", name.to_owned(), sums));
        let mut slots: Vec<Slot> = days.chain(hours).chain(weekdays).collect();
        if !self.with_cpus {
            slots.iter_mut().for_each(|slot| slot.cpus = None);
        }
        slots
    }
}

fn slot(by: &'static str, value: String, mut sums: Sums) -> Slot {
    let mean = |of: i128, time_ns: i128| (time_ns > 0).then(|| of as f64 / time_ns as f64);
    let [running, waiting, cpus] = sums.load.map(|of| mean(of, sums.time_ns));
    let [allocated_cpus, idle_cpus, down_cpus] = sums.nodes.map(|of| mean(of, sums.nodes_time_ns));
    let has_jobs = !sums.times.is_empty();
    Slot {
        by,
        value,
        jobs: sums.times.len() as u64,
        median_ns: has_jobs.then(|| quantile(&mut sums.times, 1, 2)),
        ninth_decile_ns: has_jobs.then(|| quantile(&mut sums.times, 9, 10)),
        queue_ns: sums.queue_ns,
        queue_core_ns: sums.core_ns,
        running,
        waiting,
        cpus,
        allocated_cpus,
        idle_cpus,
        down_cpus,
    }
}

#[cfg(test)]
mod tests {
    use flowmine_activity_log::WaitPart;
    use proptest::prelude::*;

    use super::*;

    const HOUR: i64 = HOUR_NS as i64;

    fn part(cause: &'static str, kind: WaitKind, from_ns: i64, to_ns: i64) -> WaitPart<'static> {
        let within = ((from_ns, from_ns), (to_ns, to_ns));
        let (from_within_ns, to_within_ns) = within;
        WaitPart {
            cause,
            kind,
            from_ns,
            to_ns,
            from_within_ns,
            to_within_ns,
            reason: None,
            limit: None,
            predecessors: None,
            evidence: "times",
        }
    }

    fn slots(jobs: &[(i64, i64, i64, i64)]) -> Vec<Slot> {
        let mut builder = Builder::default();
        for &(submit, start, end, cpus) in jobs {
            let parts = vec![part("queued", WaitKind::Queue, submit, start), part("running", WaitKind::Started, start, end)];
            builder.add(&JobWait { job: "1", cpus: Some(cpus), parts, ..JobWait::default() });
        }
        builder.finish()
    }

    #[test]
    fn days_hours_and_weekdays_by_hand() {
        // Thursday 22:30, runs from 23:00 to Friday 01:00; Friday 00:00, runs from 00:30 to 01:00.
        let found = slots(&[(45 * HOUR / 2, 23 * HOUR, 25 * HOUR, 4), (24 * HOUR, 49 * HOUR / 2, 25 * HOUR, 2)]);
        let of = |by: &str, value: &str| found.iter().find(|slot| (slot.by, slot.value.as_str()) == (by, value)).cloned().unwrap();
        let thursday = of("day", "1970-01-01");
        assert_eq!((thursday.jobs, thursday.median_ns, thursday.queue_core_ns), (1, Some(HOUR / 2), i128::from(2 * HOUR)));
        // An hour of the one and a half that are recorded.
        assert_eq!((thursday.running, thursday.waiting, thursday.cpus), (Some(2.0 / 3.0), Some(1.0 / 3.0), Some(8.0 / 3.0)));
        let midnight = of("hour", "00");
        assert_eq!((midnight.jobs, midnight.running, midnight.waiting, midnight.cpus), (1, Some(1.5), Some(0.5), Some(5.0)));
        assert_eq!((of("weekday", "Friday").running, of("weekday", "Friday").jobs), (Some(1.5), 1));
        let noon = of("hour", "12");
        assert_eq!((noon.jobs, noon.median_ns, noon.running), (0, None, None));
    }

    #[test]
    fn nodes_as_they_were_observed() {
        let mut builder = Builder::default();
        // Eight CPUs, in use for the first hour and a half, then free, and down from the second day on; a node of two CPUs that is free.
        builder.add_node(HOUR, 5 * HOUR / 2, [8, 0, 0]);
        builder.add_node(5 * HOUR / 2, 24 * HOUR, [0, 8, 0]);
        builder.add_node(24 * HOUR, 25 * HOUR, [0, 0, 8]);
        builder.add_node(HOUR, 25 * HOUR, [0, 2, 0]);
        builder.add_node(HOUR, HOUR, [99, 99, 99]);
        let found = builder.finish();
        let of = |by: &str, value: &str| {
            let slot = found.iter().find(|slot| (slot.by, slot.value.as_str()) == (by, value)).unwrap();
            ([slot.allocated_cpus, slot.idle_cpus, slot.down_cpus], slot.running, slot.jobs)
        };
        let means = |cpus: [f64; 3]| (cpus.map(Some), None, 0);
        assert_eq!(of("day", "1970-01-01"), means([12.0 / 23.0, 218.0 / 23.0, 0.0]));
        assert_eq!(of("hour", "02"), means([4.0, 6.0, 0.0]));
        // Both days have a first hour, of which only the second was observed.
        assert_eq!(of("hour", "00"), means([0.0, 2.0, 8.0]));
        assert_eq!(of("weekday", "Friday"), means([0.0, 2.0, 8.0]));
        assert_eq!(of("weekday", "Monday").0, [None; 3]);
    }

    proptest! {
        /// The load × time of all days, hours and weekdays is the time of all jobs.
        #[test]
        fn no_time_is_lost(jobs in prop::collection::vec((0i64..2000, 0i64..200, 0i64..200, 1i64..9), 1..20)) {
            let minute = HOUR / 60;
            let times: Vec<(i64, i64, i64, i64)> =
                jobs.iter().map(|&(at, wait, run, cpus)| (at * minute, (at + wait) * minute, (at + wait + run) * minute, cpus)).collect();
            let mut builder = Builder::default();
            for &(submit, start, end, cpus) in &times {
                let parts = vec![part("queued", WaitKind::Queue, submit, start), part("running", WaitKind::Started, start, end)];
                builder.add(&JobWait { job: "1", cpus: Some(cpus), parts, ..JobWait::default() });
            }
            let found = builder.finish();
            for by in ["day", "hour", "weekday"] {
                let of = || found.iter().filter(|slot| slot.by == by);
                prop_assert_eq!(of().map(|slot| slot.jobs).sum::<u64>(), times.len() as u64);
                let queued: i64 = times.iter().map(|(submit, start, ..)| start - submit).sum();
                prop_assert_eq!(of().map(|slot| slot.queue_ns).sum::<i128>(), i128::from(queued));
            }
            let (from, to) = (times.iter().map(|of| of.0).min().unwrap(), times.iter().map(|of| of.2).max().unwrap());
            // Jobs within one day: the mean of that day is exact.
            if to < 24 * HOUR && to > from {
                let used: i64 = times.iter().map(|(_, start, end, cpus)| (end - start) * cpus).sum();
                let day = found.iter().find(|slot| slot.by == "day").unwrap();
                prop_assert!((day.cpus.unwrap() * (to - from) as f64 - used as f64).abs() < 1e3);
            }
        }
    }
}

//! Findings about what instances asked for: memory, CPUs and time, and running times that grow
//! within a log.

use flowmine_activity_log::{ActivityLog, Measure};

use super::{BottleneckKind, Options, Search, counted, duration};
use crate::resources::Usage;
use crate::stats::percentile;

/// Share of the time limit from which on a run is close to it.
const NEAR_LIMIT: f64 = 0.9;

/// Multiple of the CPUs asked for from which on an instance uses more than it asked for.
const MORE_CPUS: f64 = 1.2;

/// An activity needs as many instances for a trend.
const TREND_INSTANCES: usize = 12;

/// The median running time of the last third over that of the first third from which on there is a
/// trend.
const TREND_FACTOR: f64 = 1.5;

/// Share of neighbours, in the order of starts, of which the later one ran longer.
const TREND_SHARE: f64 = 0.75;

impl Search<'_> {
    /// Adds what is found of requests of one activity, of which `service` are the running times.
    pub(super) fn of_requests(&mut self, activity: u32, service: &[(u32, i128)], options: &Options) {
        self.memory(activity, service, options);
        self.more_cpus(activity, service);
        self.near_limit(activity, service);
        self.trend(activity, service);
    }

    fn memory(&mut self, activity: u32, service: &[(u32, i128)], options: &Options) {
        let log = self.log;
        let both = |at: u32| {
            let used = log.measure(Measure::PeakMemoryBytes, at).filter(|used| *used > 0)?;
            Some((log.measure(Measure::MemoryBytes, at)?, used))
        };
        let wide = |asked: i64, used: i64| asked as f64 >= options.memory_factor * used as f64;
        let idle: Vec<(u32, i128)> =
            service.iter().copied().filter(|&(at, _)| both(at).is_some_and(|(asked, used)| wide(asked, used))).collect();
        let known = service.iter().filter(|(at, _)| both(*at).is_some()).count();
        if idle.len() * 2 <= known {
            return;
        }
        let most = |of: fn((i64, i64)) -> i64| idle.iter().filter_map(|(at, _)| both(*at).map(of)).max().unwrap_or(0);
        let (asked, used) = (most(|of| of.0), most(|of| of.1));
        let found = format!(
            "{} of {known} instances asked for {:.0} times the memory that they used or more: {} and {} at most",
            idle.len(),
            options.memory_factor,
            flowmine_draw::axis::bytes(asked),
            flowmine_draw::axis::bytes(used)
        );
        self.put(BottleneckKind::IdleMemory, activity, None, 0, &idle, found);
    }

    fn more_cpus(&mut self, activity: u32, service: &[(u32, i128)]) {
        let log = self.log;
        let used = |at: u32| Usage::of(log, None, at)?.cpu_efficiency().filter(|share| *share > MORE_CPUS);
        let more: Vec<(u32, i128, f64)> = service.iter().filter_map(|&(at, ns)| Some((at, ns, used(at)?))).collect();
        let Some(most) = more.iter().map(|(_, _, share)| *share).max_by(f64::total_cmp) else { return };
        let found = format!(
            "{} used more CPU time than the CPUs that they asked for can give, up to {:.0} % of it",
            counted(more.len(), "instance"),
            most * 100.0
        );
        let of: Vec<(u32, i128)> = more.iter().map(|&(at, ns, _)| (at, ns)).collect();
        self.put(BottleneckKind::MoreCpus, activity, None, 0, &of, found);
    }

    fn near_limit(&mut self, activity: u32, service: &[(u32, i128)]) {
        let log = self.log;
        let limit = |at: u32| log.measure(Measure::TimeLimitNs, at).filter(|limit| *limit > 0);
        let share = |&(at, ns): &(u32, i128)| limit(at).map(|limit| ns as f64 / limit as f64);
        let near: Vec<(u32, i128)> = service.iter().copied().filter(|of| share(of).is_some_and(|share| share >= NEAR_LIMIT)).collect();
        let Some(most) = near.iter().max_by_key(|(at, ns)| (*ns, *at)) else { return };
        let found = format!(
            "{} ran for {:.0} % of their time limit or more: {} of {} at most",
            counted(near.len(), "instance"),
            NEAR_LIMIT * 100.0,
            duration(most.1),
            duration(limit(most.0).unwrap_or(0).into())
        );
        self.add(BottleneckKind::NearLimit, activity, &near, found);
    }

    fn trend(&mut self, activity: u32, service: &[(u32, i128)]) {
        let log = self.log;
        let times = in_order(log, service);
        if times.len() < TREND_INSTANCES {
            return;
        }
        let grows = times.windows(2).filter(|two| two[1].1 > two[0].1).count();
        let third = times.len() / 3;
        let median = |of: &[(u32, i64)]| percentile(&mut of.iter().map(|(_, ns)| *ns).collect::<Vec<_>>(), 0.5);
        let (first, last) = (median(&times[..third]), median(&times[times.len() - third..]));
        if last < TREND_FACTOR * first || (grows as f64) < TREND_SHARE * (times.len() - 1) as f64 {
            return;
        }
        let slower: Vec<(u32, i128)> =
            times.iter().map(|&(at, ns)| (at, i128::from(ns) - first as i128)).filter(|(_, ns)| *ns > 0).collect();
        let found = format!(
            "running times grow: {} in the first third by start, {} in the last, as medians",
            duration(first as i128),
            duration(last as i128)
        );
        self.add(BottleneckKind::Trend, activity, &slower, found);
    }
}

/// Instances with their running times, by start.
fn in_order(log: &ActivityLog, service: &[(u32, i128)]) -> Vec<(u32, i64)> {
    let mut times: Vec<(i64, u32, i64)> =
        service.iter().filter_map(|&(at, ns)| Some((log.start_ns(at)?, at, i64::try_from(ns).ok()?))).collect();
    times.sort_unstable();
    times.into_iter().map(|(_, at, ns)| (at, ns)).collect()
}

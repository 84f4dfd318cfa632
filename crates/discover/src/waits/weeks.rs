//! Time in the queue by week: of all jobs, and by partition, account and user; and by day, hour of
//! the day and weekday, with the load of the cluster.
//!
//! In goes one [`JobWait`] after the other; out come for each group and week the number of jobs,
//! the median and the ninth decile of their time in the queue, and the core-time. The trend is the
//! median of the slopes between all pairs of weeks (Theil and Sen), on which one unusual week has
//! little effect. A job counts in the week in which it was submitted.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use flowmine_activity_log::{Interner, JobWait, NONE, Names};
use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::Serialize;

use super::load::{self, NodeCpus, Slot};
use super::rows::quantile;
use crate::calendar::week_begin_ns;

/// Dimensions by which jobs are grouped; the first group is all of them.
const GROUPS: [&str; 4] = ["all", "partition", "account", "user"];

/// Minimum number of weeks with jobs for a trend.
const WEEKS_OF_A_TREND: usize = 3;

/// Time in the queue over the weeks.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Weeks {
    /// Number of attempts at jobs.
    pub jobs: u64,
    /// Number of those without known CPUs: their time is in no core-time.
    pub without_cpus: u64,
    /// The last known moment, in nanoseconds since 1970.
    pub end_ns: Option<i64>,
    /// The groups: all jobs, then partitions, accounts and users, each by core-time.
    pub groups: Vec<Group>,
    /// Days on which anything was recorded, hours of the day and weekdays, with the load meanwhile.
    pub slots: Vec<Slot>,
}

/// Jobs with a common value.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Group {
    /// Dimension of the common value: `all`, `partition`, `account` or `user`.
    pub by: &'static str,
    /// Common value; empty for all jobs.
    pub value: String,
    /// Number of attempts at jobs.
    pub jobs: u64,
    /// Sum of their time in the queue × CPUs, in nanoseconds of one core.
    pub queue_core_ns: i128,
    /// Change of the median per week, in nanoseconds; `None` for fewer than three weeks.
    pub trend_ns: Option<i64>,
    /// Weeks in which jobs were submitted, in order.
    pub weeks: Vec<Week>,
}

/// The jobs of a group that were submitted in one week.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Week {
    /// Start of the week, a Monday at midnight (UTC), in nanoseconds since 1970.
    pub begin_ns: i64,
    /// Number of attempts at jobs.
    pub jobs: u64,
    /// The median of a job's time in the queue, in nanoseconds.
    pub median_ns: i64,
    /// Ninth decile of a job's time in the queue, in nanoseconds.
    pub ninth_decile_ns: i64,
    /// Sum of the time in the queue, in nanoseconds.
    pub queue_ns: i128,
    /// Sum of the time in the queue × CPUs, in nanoseconds of one core.
    pub queue_core_ns: i128,
    /// Cause with most of the time in the queue.
    pub main_cause: Option<&'static str>,
}

#[derive(Debug, Default)]
struct Sums {
    times: Vec<i64>,
    queue_ns: i128,
    core_ns: i128,
    causes: Vec<(&'static str, i128)>,
}

/// Builder of the sums from jobs.
#[derive(Debug, Default)]
pub struct Builder {
    found: Weeks,
    names: Interner,
    sums: FxHashMap<(usize, u32), BTreeMap<i64, Sums>>,
    load: load::Builder,
}

impl Builder {
    /// Adds an attempt at a job.
    pub fn add(&mut self, job: &JobWait<'_>) {
        let (Some(first), Some(last)) = (job.parts.first(), job.parts.last()) else { return };
        let cpus = job.cpus.filter(|cpus| *cpus > 0);
        self.load.add(job);
        self.found.jobs += 1;
        self.found.without_cpus += u64::from(cpus.is_none());
        self.found.end_ns = self.found.end_ns.max(Some(last.to_ns));
        let week = week_begin_ns(first.from_ns);
        let queued_ns = job.queued_ns();
        let values = [Some(""), job.partition, job.account, job.user];
        for (at, value) in values.into_iter().enumerate().filter_map(|(at, value)| Some((at, value?))) {
            let key = self.names.intern(value);
            let sums = self.sums.entry((at, key)).or_default().entry(week).or_default();
            sums.times.push(queued_ns);
            sums.queue_ns += i128::from(queued_ns);
            sums.core_ns += i128::from(queued_ns) * i128::from(cpus.unwrap_or(0));
            for part in job.parts.iter().filter(|part| part.kind.is_queue()) {
                match sums.causes.iter_mut().find(|(known, _)| *known == part.cause) {
                    Some((_, sum)) => *sum += i128::from(part.len_ns()),
                    None => sums.causes.push((part.cause, i128::from(part.len_ns()))),
                }
            }
        }
    }

    /// Adds the CPUs of a node between two times, in nanoseconds since 1970.
    pub fn add_node(&mut self, from_ns: i64, to_ns: i64, cpus: NodeCpus) {
        self.load.add_node(from_ns, to_ns, cpus);
    }

    /// Returns the weeks of all jobs that were added.
    pub fn finish(self) -> Weeks {
        let Self { mut found, names, sums, load } = self;
        found.slots = load.finish();
        let names = names.names();
        let mut groups: Vec<(usize, Group)> = sums.into_iter().map(|((at, key), weeks)| (at, group(at, key, weeks, names))).collect();
        groups.sort_by(|(a, of), (b, other)| {
            (a, Reverse(of.queue_core_ns), Reverse(of.jobs), &of.value).cmp(&(
                b,
                Reverse(other.queue_core_ns),
                Reverse(other.jobs),
                &other.value,
            ))
        });
        found.groups = groups.into_iter().map(|(_, group)| group).collect();
        found
    }
}

fn group(at: usize, key: u32, weeks: BTreeMap<i64, Sums>, names: &Names) -> Group {
    let weeks: Vec<Week> = weeks.into_iter().map(|(begin_ns, sums)| week(begin_ns, sums)).collect();
    Group {
        by: GROUPS[at],
        value: if key == NONE { String::new() } else { names.get(key).to_owned() },
        jobs: weeks.iter().map(|week| week.jobs).sum(),
        queue_core_ns: weeks.iter().map(|week| week.queue_core_ns).sum(),
        trend_ns: trend(&weeks),
        weeks,
    }
}

fn week(begin_ns: i64, mut sums: Sums) -> Week {
    Week {
        begin_ns,
        jobs: sums.times.len() as u64,
        median_ns: quantile(&mut sums.times, 1, 2),
        ninth_decile_ns: quantile(&mut sums.times, 9, 10),
        queue_ns: sums.queue_ns,
        queue_core_ns: sums.core_ns,
        main_cause: sums.causes.iter().min_by_key(|(cause, sum)| (Reverse(*sum), *cause)).map(|(cause, _)| *cause),
    }
}

/// Returns the median of the slopes between all pairs of weeks, in nanoseconds per week.
fn trend(weeks: &[Week]) -> Option<i64> {
    const WEEK_NS: i128 = 7 * 86_400_000_000_000;
    if weeks.len() < WEEKS_OF_A_TREND {
        return None;
    }
    let slope = |a: &Week, b: &Week| {
        let apart = (i128::from(b.begin_ns) - i128::from(a.begin_ns)) / WEEK_NS;
        ((i128::from(b.median_ns) - i128::from(a.median_ns)) / apart.max(1)) as i64
    };
    let mut slopes: Vec<i64> = weeks.iter().enumerate().flat_map(|(at, a)| weeks[at + 1..].iter().map(move |b| slope(a, b))).collect();
    Some(quantile(&mut slopes, 1, 2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use flowmine_activity_log::{WaitKind, WaitPart};

    const HOUR: i64 = 3_600_000_000_000;
    const WEEK: i64 = 7 * 24 * HOUR;
    /// A Monday.
    const MONDAY: i64 = 4 * 24 * HOUR;

    fn add(builder: &mut Builder, week: i64, hours: i64, user: &str, partition: Option<&str>) {
        let from_ns = MONDAY + week * WEEK + 30 * HOUR;
        let part = |cause, kind, from: i64, to: i64| WaitPart {
            cause,
            kind,
            from_ns: from,
            to_ns: to,
            from_within_ns: (from, from),
            to_within_ns: (to, to),
            reason: None,
            limit: None,
            predecessors: None,
            evidence: "poll",
        };
        let queued = from_ns + hours * HOUR;
        let parts = vec![
            part("priority", WaitKind::Queue, from_ns, queued),
            part("held_by_user", WaitKind::Wish, queued, queued + 5 * HOUR),
            part("running", WaitKind::Started, queued + 5 * HOUR, queued + 6 * HOUR),
        ];
        builder.add(&JobWait { job: "1", user: Some(user), partition, cpus: Some(2), parts, ..JobWait::default() });
    }

    #[test]
    fn medians_and_trends_by_hand() {
        let mut builder = Builder::default();
        // The median grows by two hours a week; one week is unusual, and one has no jobs.
        for (week, hours) in [(0, [1, 1, 9]), (1, [2, 3, 4]), (2, [100, 100, 100]), (4, [9, 9, 9]), (5, [11, 11, 11])] {
            hours.into_iter().for_each(|hours| add(&mut builder, week, hours, "ann", Some("main")));
        }
        add(&mut builder, 5, 1, "bob", None);
        let found = builder.finish();
        let shown: Vec<_> = found.groups.iter().map(|group| (group.by, group.value.as_str(), group.jobs, group.weeks.len())).collect();
        assert_eq!(shown, [("all", "", 16, 5), ("partition", "main", 15, 5), ("user", "ann", 15, 5), ("user", "bob", 1, 1)]);
        let main = &found.groups[1];
        assert_eq!(main.trend_ns, Some(2 * HOUR));
        let medians: Vec<i64> = main.weeks.iter().map(|week| week.median_ns / HOUR).collect();
        assert_eq!(medians, [1, 3, 100, 9, 11]);
        assert_eq!((main.weeks[0].begin_ns, main.weeks[3].begin_ns), (MONDAY, MONDAY + 4 * WEEK));
        assert_eq!((main.weeks[0].ninth_decile_ns, main.weeks[0].main_cause), (9 * HOUR, Some("priority")));
        assert_eq!(main.weeks[0].queue_core_ns, i128::from(22 * HOUR));
        assert_eq!(found.groups[3].trend_ns, None);
    }
}

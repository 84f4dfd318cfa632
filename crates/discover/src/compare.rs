//! Comparison of two runs, datasets or periods: what appeared, vanished, took longer or moved more
//! bytes, and which differences chance explains.
//!
//! Two logs in; numbers by activity out. Instances are compared by activity, not by id. A
//! difference has an effect size (Cliff's delta) and a corrected p-value; if there are too few
//! numbers, the verdict states that.

use std::collections::BTreeMap;

use flowmine_activity_log::{ActivityLog, BytesFrom, Cases, Measure, Status, elapsed_ns};
use schemars::JsonSchema;
use serde::Serialize;

use crate::about::{About, bytes_from, origin, span};
use crate::stats::Stats;
use crate::two_samples::{self, TwoSamples};

/// Compared quantity of an activity's instances.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// Time from start to end, in nanoseconds.
    RunTime,
    /// Time from ready to start, in nanoseconds.
    QueueTime,
    /// Time from ready to end, in nanoseconds, if the start is not known.
    Turnaround,
    /// Bytes read by an instance.
    ReadBytes,
    /// Bytes written by an instance.
    WrittenBytes,
    /// CPU time, in nanoseconds.
    CpuTime,
    /// Largest resident memory, in bytes.
    PeakMemory,
}

impl Quantity {
    /// All quantities, in the order in which they are listed.
    pub const ALL: [Self; 7] =
        [Self::RunTime, Self::QueueTime, Self::Turnaround, Self::ReadBytes, Self::WrittenBytes, Self::CpuTime, Self::PeakMemory];

    /// Returns its name in words, such as `run time`.
    pub fn name(self) -> &'static str {
        match self {
            Self::RunTime => "run time",
            Self::QueueTime => "queue time",
            Self::Turnaround => "queue and run time",
            Self::ReadBytes => "bytes read",
            Self::WrittenBytes => "bytes written",
            Self::CpuTime => "CPU time",
            Self::PeakMemory => "peak memory",
        }
    }

    /// Returns whether it is a time, in nanoseconds.
    pub fn is_time(self) -> bool {
        matches!(self, Self::RunTime | Self::QueueTime | Self::Turnaround | Self::CpuTime)
    }
}

/// Verdict on whether chance explains a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// All numbers of both logs are equal.
    Same,
    /// Chance alone causes such a difference in less than one of twenty cases, corrected for all
    /// tests of this comparison.
    BeyondChance,
    /// Chance alone explains the difference: its corrected p-value is not below [`LEVEL`].
    Chance,
    /// Too few numbers: no difference between so few could be significant.
    TooFew,
}

/// Significance level: with a lower p-value, a difference is beyond chance.
pub const LEVEL: f64 = 0.05;

/// Two logs compared: activity by activity, in numbers and times.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Comparison {
    /// The first log, to which the second is compared.
    pub first: Side,
    /// The second log, which is compared to the first.
    pub second: Side,
    /// Activities, those with the largest difference in total time first.
    pub activities: Vec<Activity>,
    /// Whether both logs are equal in everything that is compared.
    pub equal: bool,
}

/// One of the two logs that are compared.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Side {
    /// Name of the log, given by the caller.
    pub name: String,
    /// Description of the log.
    #[serde(flatten)]
    pub about: About,
    /// Time from the first to the last known moment of its cases, in nanoseconds.
    pub time_ns: Option<i64>,
}

/// An activity on both sides.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Activity {
    /// Name of the activity.
    pub activity: String,
    /// Number of instances in the first log.
    pub first: Counts,
    /// Number of instances in the second log.
    pub second: Counts,
    /// Time of all instances of the second less that of the first, in nanoseconds: running where
    /// that is known, else queued and running.
    pub time_difference_ns: Option<i128>,
    /// Quantities that are known in both logs, each with its difference.
    pub quantities: Vec<Difference>,
    /// Quantities that are known in one log only and therefore not compared.
    pub one_sided: Vec<Quantity>,
}

/// Number of instances of an activity in one log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Counts {
    /// Number of all instances of the activity.
    pub instances: u64,
    /// Number of instances with the status failed.
    pub failed: u64,
    /// Number of instances that did not run because an earlier result was reused.
    pub cached: u64,
    /// Number of instances that are a second or later attempt.
    pub retries: u64,
}

/// Difference of one quantity of an activity between the two logs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Difference {
    /// The quantity that is compared.
    pub quantity: Quantity,
    /// Origin of the byte counts; only numbers of the same origin are compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counted_by: Option<&'static str>,
    /// Statistics of the first log's instances, in the quantity's unit (nanoseconds or bytes).
    pub first: Stats,
    /// Statistics of the second log's instances, in the same unit.
    pub second: Stats,
    /// The second's mean over the first's; null where that is zero.
    pub ratio: Option<f64>,
    /// Effect size, and the uncorrected p-value.
    #[serde(flatten)]
    pub test: TwoSamples,
    /// The p-value corrected for all tests of this comparison (Holm).
    pub corrected_p: f64,
    /// Verdict on whether chance explains the difference, by `corrected_p`.
    pub verdict: Verdict,
}

type Numbers = BTreeMap<(Quantity, Option<BytesFrom>), Vec<i64>>;

#[derive(Default)]
struct Gathered {
    counts: Counts,
    numbers: Numbers,
}

impl Gathered {
    /// Adds the values of an activity with the same name.
    fn add(&mut self, other: Self) {
        let (of, more) = (&mut self.counts, other.counts);
        of.instances += more.instances;
        of.failed += more.failed;
        of.cached += more.cached;
        of.retries += more.retries;
        for (key, numbers) in other.numbers {
            self.numbers.entry(key).or_default().extend(numbers);
        }
    }
}

/// Compares two logs, each given with a name and its cases.
pub fn discover(first: (&str, &ActivityLog, &Cases), second: (&str, &ActivityLog, &Cases)) -> Comparison {
    discover_renamed(first, second, &BTreeMap::new())
}

/// Compares two logs with different names of activities: `renamed` maps names of the first to names
/// of the second.
pub fn discover_renamed(
    first: (&str, &ActivityLog, &Cases),
    second: (&str, &ActivityLog, &Cases),
    renamed: &BTreeMap<String, String>,
) -> Comparison {
    let mut sides = [gather(first.1, renamed), gather(second.1, &BTreeMap::new())];
    let names: std::collections::BTreeSet<String> = sides.iter().flat_map(|side| side.keys().cloned()).collect();
    let mut activities = Vec::new();
    for name in names {
        let [one, other] = &mut sides;
        let (mut one, mut other) = (one.remove(&name).unwrap_or_default(), other.remove(&name).unwrap_or_default());
        let time_difference_ns = time_difference(&one.numbers, &other.numbers);
        let mut quantities = Vec::new();
        for (key, numbers) in &mut one.numbers {
            let Some(others) = other.numbers.get_mut(key) else { continue };
            quantities.extend(difference(*key, numbers, others));
        }
        let keys = |a: &Numbers, b: &Numbers| a.keys().filter(|key| !b.contains_key(key)).map(|key| key.0).collect::<Vec<_>>();
        let mut one_sided = [keys(&one.numbers, &other.numbers), keys(&other.numbers, &one.numbers)].concat();
        one_sided.sort_unstable();
        one_sided.dedup();
        activities.push(Activity { activity: name, first: one.counts, second: other.counts, time_difference_ns, quantities, one_sided });
    }
    correct(&mut activities);
    activities.sort_by(|a, b| {
        let size = |of: &Activity| of.time_difference_ns.map(i128::abs);
        size(b).cmp(&size(a)).then_with(|| a.activity.cmp(&b.activity))
    });
    let same =
        |of: &Activity| of.first == of.second && of.one_sided.is_empty() && of.quantities.iter().all(|of| of.verdict == Verdict::Same);
    Comparison { equal: activities.iter().all(same), first: side(first), second: side(second), activities }
}

fn side((name, log, cases): (&str, &ActivityLog, &Cases)) -> Side {
    let spans = (0..cases.len()).filter_map(|case| span(log, cases, case));
    let whole = spans.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
    Side { name: name.to_owned(), about: About::new(log, cases), time_ns: whole.and_then(|(from, to)| elapsed_ns(from, to)) }
}

fn gather(log: &ActivityLog, renamed: &BTreeMap<String, String>) -> BTreeMap<String, Gathered> {
    let mut all: Vec<Gathered> = (0..log.activities.len()).map(|_| Gathered::default()).collect();
    for at in 0..log.len() as u32 {
        let of = &mut all[log.instances.activity[at as usize] as usize];
        let status = log.status(at);
        of.counts.instances += 1;
        of.counts.failed += u64::from(status == Status::Failed);
        of.counts.cached += u64::from(status == Status::Cached);
        of.counts.retries += u64::from(log.attempt(at).is_some_and(|attempt| attempt > 1));
        // An instance that did not run took no time, and the time of one that has not ended is
        // incomplete.
        if matches!(status, Status::Cached | Status::Unfinished) {
            continue;
        }
        let turnaround = || {
            let known = !log.is_moment(at) && !log.start_is_known(at);
            known.then(|| elapsed_ns(log.start_ns(at)?, log.end_ns(at)?)).flatten()
        };
        let mut add = |quantity, from, number: Option<i64>| {
            if let Some(number) = number.filter(|number| *number >= 0) {
                of.numbers.entry((quantity, from)).or_default().push(number);
            }
        };
        add(Quantity::RunTime, None, log.service_ns(at));
        add(Quantity::QueueTime, None, log.queue_ns(at));
        add(Quantity::Turnaround, None, turnaround());
        let from = Some(bytes_from(log, at));
        add(Quantity::ReadBytes, from, log.measure(Measure::ReadBytes, at));
        add(Quantity::WrittenBytes, from, log.measure(Measure::WrittenBytes, at));
        add(Quantity::CpuTime, None, log.measure(Measure::CpuTimeNs, at));
        add(Quantity::PeakMemory, None, log.measure(Measure::PeakMemoryBytes, at));
    }
    let named = (0u32..).zip(all).filter(|(_, of)| of.counts.instances > 0);
    let mut by_name: BTreeMap<String, Gathered> = BTreeMap::new();
    for (at, of) in named {
        let name = log.activities.get(at);
        by_name.entry(renamed.get(name).map_or(name, String::as_str).to_owned()).or_default().add(of);
    }
    by_name
}

/// Returns the time of all instances of the second log minus that of the first. For an activity in
/// one log only, it is the time in that log.
fn time_difference(first: &Numbers, second: &Numbers) -> Option<i128> {
    let sum = |numbers: &Numbers, of: Quantity| numbers.get(&(of, None)).map(|list| list.iter().map(|&ns| i128::from(ns)).sum::<i128>());
    for of in [Quantity::RunTime, Quantity::Turnaround] {
        let (one, other) = (sum(first, of), sum(second, of));
        let comparable = one.is_some() && other.is_some() || first.is_empty() || second.is_empty();
        if comparable && let Some(time) = one.or(other).map(|_| other.unwrap_or(0) - one.unwrap_or(0)) {
            return Some(time);
        }
    }
    None
}

fn difference((quantity, from): (Quantity, Option<BytesFrom>), first: &mut [i64], second: &mut [i64]) -> Option<Difference> {
    let test = two_samples::compare(first, second)?;
    // Both are sorted now.
    let same = first == second;
    let (one, other) = (Stats::new(first)?, Stats::new(second)?);
    let verdict = match () {
        () if same => Verdict::Same,
        () if test.least_p > LEVEL => Verdict::TooFew,
        () => Verdict::Chance,
    };
    let ratio = (one.mean > 0.0).then(|| other.mean / one.mean);
    Some(Difference { quantity, counted_by: from.map(origin), first: one, second: other, ratio, test, corrected_p: test.p, verdict })
}

/// Corrects p-values for the number of tests. Samples that are too small to be significant do not
/// count as tests.
fn correct(activities: &mut [Activity]) {
    let mut tests: Vec<&mut Difference> =
        activities.iter_mut().flat_map(|of| &mut of.quantities).filter(|of| matches!(of.verdict, Verdict::Chance)).collect();
    let mut p: Vec<f64> = tests.iter().map(|of| of.test.p).collect();
    two_samples::holm(&mut p);
    for (of, p) in tests.iter_mut().zip(p) {
        of.corrected_p = p;
        if p < LEVEL {
            of.verdict = Verdict::BeyondChance;
        }
    }
}

#[cfg(test)]
mod tests {
    use flowmine_activity_log::{InstanceRow, LogBuilder, UNKNOWN};

    use super::*;

    /// Makes a log of instances: activity, start, end.
    fn log(rows: &[(&str, i64, i64)]) -> ActivityLog {
        let mut builder = LogBuilder::new(&[]);
        for (name, start, end) in rows {
            let activity = builder.activity(name);
            let row = InstanceRow {
                activity,
                ready_ns: UNKNOWN,
                start_ns: *start,
                end_ns: *end,
                resource: None,
                status: Status::Completed,
                attempt: 0,
                measures: &[],
                bytes_from: BytesFrom::Nobody,
                attributes: &[],
            };
            builder.instance(&row).expect("few");
        }
        builder.end_case("run").expect("one");
        builder.finish()
    }

    fn compare(first: &ActivityLog, second: &ActivityLog) -> Comparison {
        discover(("a", first, first.cases().expect("one")), ("b", second, second.cases().expect("one")))
    }

    #[test]
    fn a_run_beside_itself_is_equal() {
        let of = log(&[("align", 0, 10), ("align", 0, 20), ("merge", 20, 25)]);
        let found = compare(&of, &of);
        assert!(found.equal && found.activities.iter().all(|of| of.time_difference_ns == Some(0)));
    }

    #[test]
    fn an_activity_that_is_called_differently_is_compared() {
        let (one, two) = (log(&[("bwa", 0, 10), ("bwa 2", 20, 30)]), log(&[("align", 0, 10), ("align", 20, 30)]));
        assert!(!compare(&one, &two).equal);
        let renamed = ["bwa", "bwa 2"].map(|old| (old.to_owned(), "align".to_owned())).into();
        let sides = (("a", &one, one.cases().expect("one")), ("b", &two, two.cases().expect("one")));
        let found = discover_renamed(sides.0, sides.1, &renamed);
        assert!(found.equal && found.activities.len() == 1, "{found:?}");
    }

    #[test]
    fn what_is_known_of_one_side_only_is_not_equal() {
        let of = |known: bool| {
            let mut builder = LogBuilder::new(&[]);
            let activity = builder.activity("align");
            let measures = [(Measure::CpuTimeNs, 5)];
            let row = InstanceRow {
                activity,
                ready_ns: UNKNOWN,
                start_ns: 0,
                end_ns: 10,
                resource: None,
                status: Status::Completed,
                attempt: 0,
                measures: if known { &measures } else { &[] },
                bytes_from: BytesFrom::Nobody,
                attributes: &[],
            };
            builder.instance(&row).expect("few");
            builder.end_case("run").expect("one");
            builder.finish()
        };
        let found = compare(&of(true), &of(false));
        assert_eq!((found.equal, found.activities[0].one_sided.as_slice()), (false, [Quantity::CpuTime].as_slice()));
        assert!(compare(&of(true), &of(true)).equal);
    }

    #[test]
    fn what_is_slower_comes_first() {
        let times = |name: &'static str, by: i64| (0..10).map(move |at| (name, at * 100, at * 100 + 10 + at + by));
        let one = log(&times("align", 0).chain(times("sort", 0)).chain([("gone", 0, 7), ("call", 0, 5)]).collect::<Vec<_>>());
        let two = log(&times("align", 40).chain(times("sort", 0)).chain([("new", 0, 3), ("call", 0, 6)]).collect::<Vec<_>>());
        let found = compare(&one, &two);
        let names: Vec<(&str, Option<i128>)> = found.activities.iter().map(|of| (of.activity.as_str(), of.time_difference_ns)).collect();
        assert_eq!(names, [("align", Some(400)), ("gone", Some(-7)), ("new", Some(3)), ("call", Some(1)), ("sort", Some(0))]);
        let verdict = |at: usize| found.activities[at].quantities.first().map(|of| of.verdict);
        assert_eq!([0, 1, 3, 4].map(verdict), [Some(Verdict::BeyondChance), None, Some(Verdict::TooFew), Some(Verdict::Same)]);
        assert_eq!(found.activities[0].quantities[0].test.cliffs_delta, 1.0);
        assert!(!found.equal && found.activities[2].first.instances == 0);
    }
}

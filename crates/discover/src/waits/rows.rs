//! Sums by cause, and by each dimension of jobs.

use std::cmp::Reverse;

use flowmine_activity_log::{Interner, JobWait, NONE, Names, WaitKind, WaitPart};
use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::Serialize;

use super::Occupant;
use crate::calendar::{hour, monday};

/// Dimensions by which jobs are grouped. Hour of the day (UTC) and week (its Monday) are those of
/// submission.
pub const DIMENSIONS: [&str; 8] = ["user", "account", "partition", "qos", "activity", "run", "hour", "week"];

/// Indices of user, account, partition and QOS in [`DIMENSIONS`].
const WHO: [usize; 4] = [0, 1, 2, 3];

/// Maximum number of examples of a cause.
const EXAMPLES: usize = 3;

/// Value of a job in each of [`DIMENSIONS`]; [`NONE`] if it is not known.
#[derive(Debug, Clone, Copy)]
pub(super) struct Keys([u32; DIMENSIONS.len()]);

impl Keys {
    pub fn new(job: &JobWait<'_>, submit_ns: i64, names: &mut Interner) -> Self {
        let mut key = |text: Option<&str>| text.map_or(NONE, |text| names.intern(text));
        Self([
            key(job.user),
            key(job.account),
            key(job.partition),
            key(job.qos),
            key(Some(job.activity)),
            key(Some(job.run)),
            key(Some(&hour(submit_ns))),
            key(Some(&monday(submit_ns))),
        ])
    }

    /// Returns the known values, with their dimension.
    pub fn all(self) -> impl Iterator<Item = (usize, u32)> {
        self.0.into_iter().enumerate().filter(|(_, key)| *key != NONE)
    }

    pub fn user(&self) -> u32 {
        self.0[WHO[0]]
    }

    pub fn partition(&self) -> u32 {
        self.0[WHO[2]]
    }
}

/// Time and core-time, in nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Sum {
    time_ns: i128,
    core_ns: i128,
}

impl Sum {
    fn add(&mut self, time_ns: i64, cpus: Option<i64>) {
        self.time_ns += i128::from(time_ns);
        self.core_ns += i128::from(time_ns) * i128::from(cpus.unwrap_or(0));
    }
}

/// A job that waited long.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Example {
    /// Name of the cluster.
    pub cluster: String,
    /// The job, as users type it.
    pub job: String,
    /// The user.
    pub user: Option<String>,
    /// Time that it waited for this cause, in nanoseconds.
    pub time_ns: i64,
    /// The begin of its longest part, in nanoseconds since 1970.
    pub from_ns: i64,
    /// The end of that part, in nanoseconds since 1970.
    pub to_ns: i64,
    /// The scheduler's reason.
    pub reason: Option<String>,
    /// Jobs that it waited for, separated by commas.
    pub predecessors: Option<String>,
}

impl Example {
    pub(super) fn new(job: &JobWait<'_>, part: &WaitPart<'_>, time_ns: i64) -> Self {
        Self {
            cluster: job.cluster.to_owned(),
            job: job.job.to_owned(),
            user: job.user.map(str::to_owned),
            time_ns,
            from_ns: part.from_ns,
            to_ns: part.to_ns,
            reason: part.reason.map(str::to_owned),
            predecessors: part.predecessors.clone(),
        }
    }
}

/// Value of a dimension with most of a cause's time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Main {
    /// Name of the dimension.
    pub dimension: &'static str,
    /// Its value.
    pub value: String,
    /// Number of jobs with this value.
    pub jobs: u64,
}

/// A cause with its sums.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CauseRow {
    /// Name of the cause.
    pub cause: &'static str,
    /// Kind of waiting.
    pub kind: &'static str,
    /// The limit, as the scheduler names it.
    pub limit: Option<String>,
    /// Number of jobs that waited for it.
    pub jobs: u64,
    /// Sum of their waiting times, in nanoseconds.
    pub time_ns: i128,
    /// Sum of waiting time × CPUs, in nanoseconds of one core.
    pub core_ns: i128,
    /// The median of a job's time, in nanoseconds.
    pub median_ns: i64,
    /// User, account, partition and QOS with most of the time.
    pub main: Vec<Main>,
    /// Users with running jobs in the partitions of these jobs meanwhile, most core-time first.
    pub occupants: Vec<Occupant>,
    /// The jobs that waited longest.
    pub examples: Vec<Example>,
}

impl CauseRow {
    /// Returns the sort key of a cause.
    pub(super) fn rank(&self) -> impl Ord + use<> {
        let is_predecessor = self.kind == WaitKind::Predecessor.name();
        (is_predecessor, Reverse((self.core_ns, self.time_ns)), self.cause, self.limit.clone())
    }
}

/// Sums of a cause while jobs are added.
#[derive(Debug)]
pub(super) struct CauseSums {
    kind: WaitKind,
    sum: Sum,
    times: Vec<i64>,
    who: FxHashMap<(usize, u32), (i128, u64)>,
    examples: Vec<Example>,
}

impl CauseSums {
    pub fn new(kind: WaitKind) -> Self {
        Self { kind, sum: Sum::default(), times: Vec::new(), who: FxHashMap::default(), examples: Vec::new() }
    }

    pub fn add(&mut self, time_ns: i64, cpus: Option<i64>, keys: &Keys, example: impl FnOnce(i64) -> Option<Example>) {
        self.sum.add(time_ns, cpus);
        self.times.push(time_ns);
        for (dimension, key) in keys.all().filter(|(dimension, _)| WHO.contains(dimension)) {
            let of = self.who.entry((dimension, key)).or_default();
            of.0 += i128::from(time_ns) * i128::from(cpus.unwrap_or(1));
            of.1 += 1;
        }
        let is_longer = self.examples.len() < EXAMPLES || self.examples.last().is_some_and(|last| last.time_ns < time_ns);
        if is_longer && let Some(example) = example(time_ns) {
            let at = self.examples.partition_point(|known| known.time_ns >= time_ns);
            self.examples.insert(at, example);
            self.examples.truncate(EXAMPLES);
        }
    }

    pub fn finish(mut self, cause: &'static str, limit: u32, names: &Names) -> CauseRow {
        let main = WHO.into_iter().filter_map(|dimension| {
            let of = self.who.iter().filter(|((at, _), _)| *at == dimension);
            let most = of.max_by_key(|((_, key), (weight, _))| (*weight, Reverse(names.get(*key))))?;
            Some(Main { dimension: DIMENSIONS[dimension], value: names.get(most.0.1).to_owned(), jobs: most.1.1 })
        });
        let main = main.collect();
        CauseRow {
            cause,
            kind: self.kind.name(),
            limit: (limit != NONE).then(|| names.get(limit).to_owned()),
            jobs: self.times.len() as u64,
            time_ns: self.sum.time_ns,
            core_ns: self.sum.core_ns,
            median_ns: median(&mut self.times),
            main,
            occupants: Vec::new(),
            examples: self.examples,
        }
    }
}

/// A value of a dimension with its sums.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DimensionRow {
    /// The value.
    pub value: String,
    /// Number of attempts at jobs.
    pub jobs: u64,
    /// Sum of their times in the queue, in nanoseconds, including unknown causes.
    pub queue_ns: i128,
    /// Sum of the time in the queue × CPUs, in nanoseconds of one core.
    pub queue_core_ns: i128,
    /// The median of a job's time in the queue, in nanoseconds.
    pub median_queue_ns: i64,
    /// Time that their own settings (hold, begin time, requeue) delayed them, in nanoseconds.
    pub wish_ns: i128,
    /// Time that they waited for predecessors, in nanoseconds.
    pub predecessor_ns: i128,
    /// Cause with most of the time in the queue.
    pub main_cause: Option<&'static str>,
}

impl DimensionRow {
    pub(super) fn rank(&self) -> impl Ord + use<> {
        (Reverse((self.queue_core_ns, self.queue_ns, self.jobs)), self.value.clone())
    }
}

/// Sums of a value of a dimension while jobs are added.
#[derive(Debug, Default)]
pub(super) struct DimensionSums {
    queue: Sum,
    wish_ns: i128,
    predecessor_ns: i128,
    times: Vec<i64>,
    causes: Vec<(&'static str, i128)>,
}

impl DimensionSums {
    pub fn add(&mut self, of_job: &[(&'static str, WaitKind, u32, i64)], cpus: Option<i64>) {
        let mut queued = 0i64;
        for &(cause, kind, _, time_ns) in of_job {
            match kind {
                WaitKind::Predecessor => self.predecessor_ns += i128::from(time_ns),
                WaitKind::Wish => self.wish_ns += i128::from(time_ns),
                _ if kind.is_queue() => {
                    queued = queued.saturating_add(time_ns);
                    match self.causes.iter_mut().find(|(known, _)| *known == cause) {
                        Some((_, sum)) => *sum += i128::from(time_ns),
                        None => self.causes.push((cause, i128::from(time_ns))),
                    }
                }
                _ => {}
            }
        }
        self.queue.add(queued, cpus);
        self.times.push(queued);
    }

    pub fn finish(mut self, value: &str) -> DimensionRow {
        DimensionRow {
            value: value.to_owned(),
            jobs: self.times.len() as u64,
            queue_ns: self.queue.time_ns,
            queue_core_ns: self.queue.core_ns,
            median_queue_ns: median(&mut self.times),
            wish_ns: self.wish_ns,
            predecessor_ns: self.predecessor_ns,
            main_cause: self.causes.iter().min_by_key(|(cause, sum)| (Reverse(*sum), *cause)).map(|(cause, _)| *cause),
        }
    }
}

/// Returns the median; the lower of the two middle values if their number is even.
fn median(times: &mut [i64]) -> i64 {
    quantile(times, 1, 2)
}

/// Returns the least of the times that a share of them does not exceed; 0 without times.
pub(super) fn quantile(times: &mut [i64], part: usize, of: usize) -> i64 {
    if times.is_empty() {
        return 0;
    }
    let at = (times.len() * part).div_ceil(of).saturating_sub(1);
    *times.select_nth_unstable(at).1
}

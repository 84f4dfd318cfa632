//! Waits of jobs, added up by cause, limit and partition.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use flowmine_activity_log::{ActivityLog, JOB, JobWait, NOT_READY_FOR, QUEUED_FOR, WaitKind};
use rustc_hash::{FxHashMap, FxHashSet};

use super::Example;
use super::facts::Facts;
use crate::who::Who;

/// Number of jobs that are kept as examples.
const EXAMPLES: usize = 3;

/// Waiting for one cause, over all activities.
#[derive(Debug, Clone, PartialEq)]
pub struct Wait {
    /// Name of the cause, such as `priority`.
    pub cause: String,
    /// The limit, as the scheduler names it.
    pub limit: Option<String>,
    /// The partition.
    pub partition: Option<String>,
    /// Whether the job's own settings caused it, and not the cluster.
    pub is_own_wish: bool,
    /// Number of jobs.
    pub instances: u64,
    /// Time that they waited, in nanoseconds.
    pub time_ns: i128,
    /// Time × CPUs of each job, in nanoseconds of one core; one CPU if they are not known.
    pub core_ns: i128,
    /// Whether the CPUs of all are known.
    pub cpus_are_known: bool,
    /// Activities with their times, most first.
    pub activities: Vec<(String, i128)>,
    /// The jobs that waited longest.
    pub examples: Vec<Example>,
}

#[derive(Debug, Clone, Default)]
struct Sums {
    instances: u64,
    time_ns: i128,
    core_ns: i128,
    without_cpus: bool,
    activities: FxHashMap<String, i128>,
    examples: Vec<Example>,
}

impl Sums {
    fn add(&mut self, activity: &str, cpus: Option<i64>, example: impl FnOnce() -> Example, time_ns: i128) {
        self.instances += 1;
        self.time_ns = self.time_ns.saturating_add(time_ns);
        self.core_ns = self.core_ns.saturating_add(time_ns.saturating_mul(cpus.unwrap_or(1).into()));
        self.without_cpus |= cpus.is_none();
        match self.activities.get_mut(activity) {
            Some(sum) => *sum += time_ns,
            None => drop(self.activities.insert(activity.to_owned(), time_ns)),
        }
        let is_long = self.examples.len() < EXAMPLES || self.examples.last().is_some_and(|least| least.time_ns <= time_ns);
        if is_long {
            self.examples.push(example());
            let name = |of: &Example| (of.who.job.clone(), of.who.task.clone(), of.case.clone(), of.start_ns);
            self.examples.sort_by_cached_key(|of| (Reverse(of.time_ns), name(of)));
            self.examples.truncate(EXAMPLES);
        }
    }
}

type Key = (String, Option<String>, Option<String>, bool);

fn finish(sums: BTreeMap<Key, Sums>) -> Vec<Wait> {
    sums.into_iter()
        .map(|((cause, limit, partition, is_own_wish), sums)| {
            let mut activities: Vec<(String, i128)> = sums.activities.into_iter().collect();
            activities.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
            Wait {
                cause,
                limit,
                partition,
                is_own_wish,
                instances: sums.instances,
                time_ns: sums.time_ns,
                core_ns: sums.core_ns,
                cpus_are_known: !sums.without_cpus,
                activities,
                examples: sums.examples,
            }
        })
        .collect()
}

/// Builder of the sums, job by job.
#[derive(Debug, Default)]
pub struct Builder {
    of_log: FxHashSet<String>,
    sums: BTreeMap<Key, Sums>,
}

impl Builder {
    /// Creates a builder for the jobs of a log; other logs add nothing.
    pub fn new(log: &ActivityLog) -> Self {
        let names = log.attribute(JOB).map(|jobs| (0..jobs.names.len() as u32).map(|name| jobs.names.get(name).to_owned()));
        Self { of_log: names.into_iter().flatten().collect(), sums: BTreeMap::new() }
    }

    /// Returns whether the log has jobs, so that their waits are needed.
    pub fn is_wanted(&self) -> bool {
        !self.of_log.is_empty()
    }

    /// Adds an attempt at a job.
    pub fn add(&mut self, job: &JobWait<'_>) {
        if !self.of_log.contains(job.job) {
            return;
        }
        let mut parts: BTreeMap<(&str, Option<&str>, bool), (i128, i64)> = BTreeMap::new();
        for part in &job.parts {
            if matches!(part.kind, WaitKind::Predecessor | WaitKind::Started) || part.len_ns() <= 0 {
                continue;
            }
            let key = (part.cause, part.limit, part.kind == WaitKind::Wish);
            let sum = parts.entry(key).or_insert((0, part.from_ns));
            sum.0 += i128::from(part.len_ns());
        }
        for ((cause, limit, wish), (time_ns, from_ns)) in parts {
            let key = (cause.to_owned(), limit.map(str::to_owned), job.partition.map(str::to_owned), wish);
            let example = || Example {
                who: Who { job: Some(job.job.to_owned()), ..Who::default() },
                case: Some(job.run.to_owned()),
                start_ns: Some(from_ns),
                resource: None,
                time_ns,
            };
            self.sums.entry(key).or_default().add(job.activity, job.cpus.filter(|cpus| *cpus > 0), example, time_ns);
        }
    }

    /// Returns the sums by cause, limit and partition; `None` if nothing was added.
    pub fn finish(self) -> Option<Vec<Wait>> {
        self.is_wanted().then(|| finish(self.sums))
    }
}

/// Returns the waits of instances by the log alone: each wait as a whole has one cause.
pub(super) fn of_log(facts: &Facts<'_>) -> Vec<Wait> {
    let log = facts.log;
    let mut sums: BTreeMap<Key, Sums> = BTreeMap::new();
    let (queued, wished) = (log.attribute(QUEUED_FOR), log.attribute(NOT_READY_FOR));
    for &at in facts.activities.iter().flat_map(|(_, all)| all) {
        let before = log.measure(flowmine_activity_log::Measure::BeforeReadyNs, at).filter(|_| wished.is_some());
        for (time_ns, causes, is_own_wish) in [(log.queue_ns(at), queued, false), (before, wished, true)] {
            let Some(time_ns) = time_ns.map(i128::from).filter(|ns| *ns > 0) else { continue };
            let cause = facts.text(at, causes).unwrap_or("unknown");
            // Waiting for a dependency is the running time of another instance.
            if cause == "predecessor" || is_own_wish && cause == "unknown" {
                continue;
            }
            let partition = facts.text(at, facts.keys.partition).map(str::to_owned);
            let example = || facts.examples(&[(at, time_ns)]).remove(0);
            let sum = sums.entry((cause.to_owned(), None, partition, is_own_wish)).or_default();
            sum.add(log.activity(at), facts.cpus(at), example, time_ns);
        }
    }
    finish(sums)
}

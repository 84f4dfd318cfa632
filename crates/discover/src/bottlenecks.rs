//! Bottlenecks: one ranked list of what costs time, over queue waits, running times, waits between
//! activities, reads and writes, stragglers, failed attempts, and what was asked for and not used.
//!
//! In goes a log and its cases; out come findings, each with the **time at stake**: the time that
//! would be gained, added up over all instances, if the finding did not exist. These times overlap
//! (a straggler is also part of its activity's running time) and are not to be added; they say
//! where to look first. Thresholds are in [`Options`] and are named in the output.
//!
//! Findings are ranked by the **core time at stake**: of each instance the time at stake × its
//! CPUs. An instance whose CPUs are not known counts as one CPU in the ranking.
//!
//! | kind | found when | time at stake |
//! |---|---|---|
//! | `queue` | instances waited between ready and start; for each cause, where the log has causes | the sum of these waits |
//! | `own-wish` | a hold, a begin time or a dependency that can no longer be met kept instances from being ready | the sum of these times |
//! | `activity` | instances ran | the sum of their running times |
//! | `wait` | an activity started later than the one before it ended | the sum of the waits that the queue does not explain |
//! | `io-time` | reads and writes took [`Options::io_share`] of the running time or more | the time in reads and writes |
//! | `re-read` | bytes were read again: [`Options::re_read_share`] of all or more | their share of the time in reads and writes |
//! | `tiny-requests` | a read or write moved less than [`Options::tiny_bytes`] on average, in [`Options::many_calls`] calls or more | the time in reads and writes |
//! | `low-rate` | bytes moved slower than a tenth of the rate of the quickest activity that moved as much | running time beyond that rate |
//! | `straggler` | an instance ran [`Options::straggler_factor`] times the median of its activity | what is above the median |
//! | `failed` | attempts failed or were aborted after they had started | their running times |
//! | `idle-cpus` | less than [`Options::cpu_share`] of the CPUs asked for were used, of two or more | the running times that these CPUs stand for |
//! | `near-limit` | instances ran for nine tenths of their time limit or more | their running times, which are lost at the limit |
//! | `trend` | running times grow by half from the first third to the last | what is above the median of the first third |
//! | `time-limit` | time limits are [`Options::limit_factor`] times the running time or more, and instances queued | a part of the queue: none is claimed |
//! | `idle-memory` | most instances asked for [`Options::memory_factor`] times the memory that they used | none is claimed |
//! | `more-cpus` | instances used more CPU time than their CPUs can give | none is claimed |
//!
//! Findings that claim no time are listed last, and always.

mod requests;

use std::collections::BTreeMap;

use flowmine_activity_log::{ActivityLog, Cases, Measure, NOT_READY_FOR, QUEUED_FOR, Status};
use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::Serialize;

use crate::about::About;
use crate::ranks::InstanceRanks;
use crate::resources::Usage;
use crate::stats::percentile;
use crate::wait_advice;
use crate::who::{Identities, Who};

/// Share of the CPUs that an activity has to use, lest it be told to ask for fewer.
const CPU_SHARE: f64 = 0.5;

/// Thresholds from which on something is a finding.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Options {
    /// Share of the running time in reads and writes from which on it is a finding, 0 to 1.
    pub io_share: f64,
    /// Share of the bytes read that were read before from which on it is a finding, 0 to 1.
    pub re_read_share: f64,
    /// Bytes that a call moves on average below which reads and writes are small.
    pub tiny_bytes: f64,
    /// Number of calls from which on small reads and writes are a finding.
    pub many_calls: i64,
    /// Multiple of the median running time of its activity above which an instance is a
    /// straggler.
    pub straggler_factor: f64,
    /// Number of instances that an activity needs to have stragglers.
    pub straggler_instances: usize,
    /// Share of the CPU time asked for that was used below which it is a finding, 0 to 1.
    pub cpu_share: f64,
    /// Multiple of the running time from which on a time limit is a finding.
    pub limit_factor: f64,
    /// Multiple of the memory used from which on the memory asked for is a finding.
    pub memory_factor: f64,
    /// Findings with less time at stake than this share of the largest are left out (and counted).
    pub least_share: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            io_share: 0.3,
            re_read_share: 0.2,
            tiny_bytes: 4096.0,
            many_calls: 1000,
            straggler_factor: 3.0,
            straggler_instances: 5,
            cpu_share: CPU_SHARE,
            limit_factor: 10.0,
            memory_factor: 10.0,
            least_share: 0.001,
        }
    }
}

/// The kinds of findings; the table above says when each is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BottleneckKind {
    /// Instances waited in the queue, from ready to start.
    Queue,
    /// What instances wished for themselves kept them from being ready.
    OwnWish,
    /// Instances ran: the sum of their running times.
    Activity,
    /// Waiting between two activities, beyond the queue.
    Wait,
    /// Much of the running time went into reads and writes.
    IoTime,
    /// Bytes were read again that had been read before.
    ReRead,
    /// Reads and writes moved few bytes each, on average.
    TinyRequests,
    /// Bytes moved slower than those of other activities that moved as much.
    LowRate,
    /// Instances much slower than their like.
    Straggler,
    /// Attempts failed or were aborted after they had started.
    Failed,
    /// CPUs asked for and not used.
    IdleCpus,
    /// Running times close to the time limit.
    NearLimit,
    /// Running times that grow within the log.
    Trend,
    /// Time limits far above the running time.
    TimeLimit,
    /// Memory asked for and not used.
    IdleMemory,
    /// More CPU time than the CPUs that were asked for can give.
    MoreCpus,
}

impl BottleneckKind {
    /// Its name in lower case with hyphens, as in the output: `queue`, `re-read`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::OwnWish => "own-wish",
            Self::Activity => "activity",
            Self::Wait => "wait",
            Self::IoTime => "io-time",
            Self::ReRead => "re-read",
            Self::TinyRequests => "tiny-requests",
            Self::LowRate => "low-rate",
            Self::Straggler => "straggler",
            Self::Failed => "failed",
            Self::IdleCpus => "idle-cpus",
            Self::NearLimit => "near-limit",
            Self::Trend => "trend",
            Self::TimeLimit => "time-limit",
            Self::IdleMemory => "idle-memory",
            Self::MoreCpus => "more-cpus",
        }
    }

    /// Whether a finding of this kind claims time.
    pub fn claims_time(self) -> bool {
        !matches!(self, Self::TimeLimit | Self::IdleMemory | Self::MoreCpus)
    }

    /// One sentence on what to do about it, where no cause of waiting is known.
    fn advice(self) -> &'static str {
        match self {
            Self::Queue => wait_advice::of("resources"),
            Self::OwnWish => wait_advice::of("not_eligible"),
            Self::Activity => {
                "This is where the time goes: give it more CPUs if it can use them, split its input, or look for a quicker program."
            }
            Self::Wait => {
                "Nothing ran although the step before had ended: submit the next step with a dependency instead of by hand, or let the engine poll more often."
            }
            Self::IoTime => "Much of its time goes into reads and writes: put its files on node-local or faster storage, or compress them.",
            Self::ReRead => "The same bytes are read more than once: keep them in memory, or copy the file to node-local storage first.",
            Self::TinyRequests => {
                "Many small reads or writes: use larger buffers (1 MiB), fewer and larger files, or a library that collects requests."
            }
            Self::LowRate => {
                "It moves its bytes much slower than others on the same storage: look for small requests, compression on one CPU, or a busy file system."
            }
            Self::Straggler => "A few are much slower than their like: compare their inputs and hosts, and split what is large.",
            Self::Failed => "Attempts ended without a result: look at their errors first, then at memory and time limits.",
            Self::IdleCpus => "It asks for CPUs that it does not use: ask for fewer, and more of them run at once.",
            Self::NearLimit => {
                "Little is left until the limit: a larger input will be killed. Ask for a longer time limit, or split its input."
            }
            Self::Trend => {
                "Later instances are slower: look for a file or a table that grows, a disk that fills, or inputs sorted by size."
            }
            Self::IdleMemory => {
                "It asks for much more memory than it uses: ask for the maximum seen plus a margin, and more of them run at once."
            }
            Self::MoreCpus => "It starts more threads than it has CPUs: limit its threads to its CPUs, or ask for more CPUs.",
            Self::TimeLimit => {
                "Its time limit is far above what it needs: a limit closer to the longest run lets the scheduler fit it into gaps."
            }
        }
    }
}

/// One finding: something that costs time, with the time at stake.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Finding {
    /// What kind of finding it is.
    pub kind: BottleneckKind,
    /// The activity; of waits the second one.
    pub activity: String,
    /// Of a wait the activity that ended before it; `None` of all other kinds.
    pub after: Option<String>,
    /// What instances waited for: of a queue and of own wishes, where that is known.
    pub cause: Option<String>,
    /// Time at stake in nanoseconds, over all instances.
    pub at_stake_ns: i128,
    /// The same times the CPUs of each instance, in nanoseconds of one core; `None` where the CPUs
    /// of an instance are not known.
    pub at_stake_core_ns: Option<i128>,
    /// Of an activity: the share of its CPUs that it used, where that is known.
    pub cpu_efficiency: Option<f64>,
    /// Number of instances that show the finding.
    pub instances: u64,
    /// What was found, in a sentence with its numbers.
    pub found: String,
    /// Up to three instances that show it most, to be looked up.
    pub examples: Vec<Example>,
    /// What the finding is ranked by, in nanoseconds.
    #[serde(skip)]
    weight_ns: i128,
}

impl Finding {
    /// One sentence on what to do.
    pub fn advice(&self) -> &'static str {
        let leaves_cpus_idle = self.kind == BottleneckKind::Activity && self.cpu_efficiency.is_some_and(|used| used < CPU_SHARE);
        match self.cause.as_deref() {
            Some(cause) => wait_advice::of(cause),
            None if leaves_cpus_idle => {
                "This is where the core-hours go, and most of its CPUs are idle: more CPUs would not make it faster."
            }
            None => self.kind.advice(),
        }
    }
}

/// An instance that shows a finding.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Example {
    /// What identifies it.
    #[serde(flatten)]
    pub who: Who,
    /// The name of its case.
    pub case: String,
    /// Its place in its case, by start, from 1.
    pub place: u64,
    /// When it started, UTC nanoseconds since 1970.
    pub start_ns: Option<i64>,
    /// The resource on which it ran; `None` where that is not known.
    pub resource: Option<String>,
    /// What of its time is at stake, in nanoseconds.
    pub time_ns: i128,
}

/// The ranked list of bottlenecks of a log.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Bottlenecks {
    /// The log that the list is of.
    pub about: About,
    /// The thresholds by which findings were made.
    pub options: Options,
    /// Findings, most core time at stake first.
    pub findings: Vec<Finding>,
    /// Findings with too little at stake to be listed.
    pub small: u64,
    /// What could not be judged, and what to record so that it can.
    pub unknown: Vec<String>,
}

/// Number of instances that a finding names.
const EXAMPLES: usize = 3;

struct Search<'l> {
    log: &'l ActivityLog,
    cases: &'l Cases,
    ranks: InstanceRanks<'l>,
    identities: Identities,
    findings: Vec<Finding>,
}

fn duration(ns: i128) -> String {
    flowmine_draw::duration(ns as f64)
}

fn counted(n: usize, word: &str) -> String {
    flowmine_draw::text::counted(n as u64, word, &format!("{word}s"))
}

impl Search<'_> {
    fn add(&mut self, kind: BottleneckKind, activity: u32, of: &[(u32, i128)], found: String) {
        let at_stake = of.iter().map(|(_, ns)| ns).sum();
        self.put(kind, activity, None, at_stake, of, found);
    }

    /// Adds a finding for each cause for which instances waited, by the attribute that names it.
    fn add_by_cause(&mut self, kind: BottleneckKind, activity: u32, of: &[(u32, i128)], key: &str, words: &str) {
        let log = self.log;
        let causes = log.attribute(key);
        let mut by_cause: BTreeMap<Option<&str>, Vec<(u32, i128)>> = BTreeMap::new();
        for &(at, ns) in of {
            by_cause.entry(causes.and_then(|causes| causes.value(at))).or_default().push((at, ns));
        }
        // What is waited for by dependency is the time of another instance.
        for (cause, of) in by_cause.into_iter().filter(|(cause, _)| *cause != Some("predecessor")) {
            let sum: i128 = of.iter().map(|(_, ns)| ns).sum();
            let because = cause.map_or_else(String::new, |cause| format!(" ({cause})"));
            let mean = duration(sum / of.len() as i128);
            let found = format!("{} waited {} {words}{because}, {mean} on average", counted(of.len(), "instance"), duration(sum));
            let before = self.findings.len();
            self.add(kind, activity, &of, found);
            for finding in &mut self.findings[before..] {
                finding.cause = cause.map(str::to_owned);
            }
        }
    }

    fn put(&mut self, kind: BottleneckKind, activity: u32, after: Option<u32>, at_stake: i128, of: &[(u32, i128)], found: String) {
        if at_stake <= 0 && kind.claims_time() {
            return;
        }
        let name = |number: u32| self.log.activities.get(number).to_owned();
        let mut most: Vec<(u32, i128)> = of.to_vec();
        let order = |&(at, ns): &(u32, i128)| (std::cmp::Reverse(ns), self.ranks.key(at));
        if most.len() > EXAMPLES {
            most.select_nth_unstable_by_key(EXAMPLES, order);
            most.truncate(EXAMPLES);
        }
        most.sort_unstable_by_key(order);
        let examples = most.iter().map(|&(at, ns)| self.example(at, ns)).collect();
        let (weight_ns, is_known) = self.core_time(at_stake, of);
        self.findings.push(Finding {
            kind,
            activity: name(activity),
            after: after.map(name),
            cause: None,
            at_stake_ns: at_stake,
            at_stake_core_ns: is_known.then_some(weight_ns),
            cpu_efficiency: None,
            instances: of.len() as u64,
            found,
            examples,
            weight_ns,
        });
    }

    /// The core time of a finding, with one CPU for each instance whose CPUs are not known, and
    /// whether those of all are known.
    fn core_time(&self, at_stake: i128, of: &[(u32, i128)]) -> (i128, bool) {
        let (mut sum, mut core, mut is_known) = (0i128, 0i128, true);
        for &(at, ns) in of {
            let cpus = self.log.measure(Measure::Cpus, at).filter(|cpus| *cpus > 0);
            is_known &= cpus.is_some();
            sum = sum.saturating_add(ns);
            core = core.saturating_add(ns.saturating_mul(cpus.unwrap_or(1).into()));
        }
        // Some findings claim a part of the time of their instances.
        let core = if sum == at_stake || sum == 0 { core } else { (core as f64 * (at_stake as f64 / sum as f64)) as i128 };
        (core, is_known && !of.is_empty())
    }

    fn example(&self, at: u32, ns: i128) -> Example {
        let case = self.ranks.case(at) as usize;
        let place = if case < self.cases.len() { self.cases.of(case).position(|member| member == at) } else { None };
        let resource = self.log.instances.resource.get(at as usize).map(|&resource| self.log.resources.get(resource).to_owned());
        Example {
            who: self.identities.who(at),
            case: self.cases.names.get(case as u32).to_owned(),
            place: place.map_or(0, |place| place as u64 + 1),
            start_ns: self.log.start_ns(at),
            resource: resource.filter(|name| !name.is_empty()),
            time_ns: ns,
        }
    }

    /// Adds the findings about one activity, whose instances are `all`.
    fn of_activity(&mut self, activity: u32, all: &[u32], options: &Options) {
        let log = self.log;
        let queue: Vec<(u32, i128)> =
            all.iter().filter_map(|&at| Some((at, i128::from(log.queue_ns(at)?)))).filter(|(_, ns)| *ns > 0).collect();
        self.add_by_cause(BottleneckKind::Queue, activity, &queue, QUEUED_FOR, "in the queue");
        // Without causes a wait for a predecessor cannot be told from a hold.
        if log.attribute(NOT_READY_FOR).is_some() {
            let before = |at: u32| log.measure(Measure::BeforeReadyNs, at).map(i128::from).filter(|ns| *ns > 0);
            let wished: Vec<(u32, i128)> = all.iter().filter_map(|&at| Some((at, before(at)?))).collect();
            self.add_by_cause(BottleneckKind::OwnWish, activity, &wished, NOT_READY_FOR, "before being eligible");
        }
        let sum = |of: &[(u32, i128)]| -> i128 { of.iter().map(|(_, ns)| ns).sum() };
        let service: Vec<(u32, i128)> =
            all.iter().filter_map(|&at| Some((at, i128::from(log.service_ns(at)?)))).filter(|(_, ns)| *ns > 0).collect();
        if service.is_empty() {
            return;
        }
        let total = sum(&service);
        let mut times: Vec<i64> = all.iter().filter_map(|&at| log.service_ns(at)).filter(|&ns| ns > 0).collect();
        let median = percentile(&mut times, 0.5);
        let found =
            format!("{} ran {}, half of them {} or less", counted(service.len(), "instance"), duration(total), duration(median as i128));
        self.add(BottleneckKind::Activity, activity, &service, found);
        let efficiency = self.cpu_efficiency(all);
        if let Some(finding) = self.findings.last_mut() {
            finding.cpu_efficiency = efficiency;
        }

        if service.len() >= options.straggler_instances {
            let slow: Vec<(u32, i128)> = service
                .iter()
                .filter(|(_, ns)| *ns as f64 > options.straggler_factor * median)
                .map(|&(at, ns)| (at, ns - median as i128))
                .collect();
            // Where every tenth is slow, that is how the activity is.
            if !slow.is_empty() && slow.len() * 10 <= service.len().max(10) {
                let found = format!(
                    "{} ran more than {} times the median of {}",
                    counted(slow.len(), "instance"),
                    options.straggler_factor,
                    duration(median as i128)
                );
                self.add(BottleneckKind::Straggler, activity, &slow, found);
            }
        }
        let failed: Vec<(u32, i128)> =
            service.iter().copied().filter(|&(at, _)| matches!(log.status(at), Status::Failed | Status::Aborted)).collect();
        if !failed.is_empty() {
            let found = format!("{} failed or were aborted after {} of running", counted(failed.len(), "instance"), duration(sum(&failed)));
            self.add(BottleneckKind::Failed, activity, &failed, found);
        }
        self.io(activity, &service, total, options);
        self.asked(activity, &service, &queue, options);
        self.of_requests(activity, &service, options);
    }

    /// The share of their CPUs that instances used, of those of which it is known.
    fn cpu_efficiency(&self, all: &[u32]) -> Option<f64> {
        let usages = all.iter().filter_map(|&at| Usage::of(self.log, None, at));
        let (used, there) = usages
            .filter_map(|usage| Some((usage.cpu_used_ns()?, usage.core_ns()?)))
            .fold((0i128, 0i128), |sum, (used, there)| (sum.0.saturating_add(used), sum.1.saturating_add(there)));
        (there > 0).then(|| used as f64 / there as f64)
    }

    fn io(&mut self, activity: u32, service: &[(u32, i128)], total: i128, options: &Options) {
        let log = self.log;
        let measure = |measure: Measure, at: u32| log.measure(measure, at).map(i128::from);
        let io: Vec<(u32, i128)> = service.iter().filter_map(|&(at, _)| Some((at, measure(Measure::IoTimeNs, at)?))).collect();
        let io_total: i128 = io.iter().map(|(_, ns)| ns).sum();
        if io_total > 0 && io_total as f64 >= options.io_share * total as f64 {
            let found = format!(
                "reads and writes took {} of {} ({:.0} %; of several threads more than the time that passed)",
                duration(io_total),
                duration(total),
                io_total as f64 / total as f64 * 100.0
            );
            self.add(BottleneckKind::IoTime, activity, &io, found);
        }
        let again: Vec<(u32, i128)> = service
            .iter()
            .filter_map(|&(at, _)| Some((at, (measure(Measure::ReadBytes, at)? - measure(Measure::UniqueReadBytes, at)?).max(0))))
            .collect();
        let read: i128 = again.iter().filter_map(|&(at, _)| measure(Measure::ReadBytes, at)).sum();
        let again_total: i128 = again.iter().map(|(_, bytes)| bytes).sum();
        if read > 0 && again_total as f64 >= options.re_read_share * read as f64 {
            let cost: Vec<(u32, i128)> = again
                .iter()
                .filter_map(|&(at, bytes)| {
                    let all = measure(Measure::ReadBytes, at)?.max(1);
                    Some((at, (measure(Measure::IoTimeNs, at)? as f64 * bytes as f64 / all as f64) as i128))
                })
                .collect();
            let found =
                format!("{} of {} read had been read before", flowmine_draw::axis::bytes(again_total), flowmine_draw::axis::bytes(read));
            self.add(BottleneckKind::ReRead, activity, &cost, found);
        }
        let calls = |at: u32| Some(measure(Measure::ReadCalls, at)? + measure(Measure::WriteCalls, at)?);
        let tiny: Vec<(u32, i128, i128, i128)> = io
            .iter()
            .filter_map(|&(at, ns)| Some((at, ns, calls(at)?, measure(Measure::ReadBytes, at)? + measure(Measure::WrittenBytes, at)?)))
            .filter(|&(_, _, calls, bytes)| calls >= i128::from(options.many_calls) && (bytes as f64) < options.tiny_bytes * calls as f64)
            .collect();
        if !tiny.is_empty() {
            let (calls, bytes) = tiny.iter().fold((0, 0), |sum, one| (sum.0 + one.2, sum.1 + one.3));
            let found = format!(
                "{} calls moved {} on average",
                flowmine_draw::count(calls.max(0).unsigned_abs()),
                flowmine_draw::axis::bytes(bytes / calls.max(1))
            );
            let of: Vec<(u32, i128)> = tiny.iter().map(|&(at, ns, ..)| (at, ns)).collect();
            self.add(BottleneckKind::TinyRequests, activity, &of, found);
        }
    }

    fn asked(&mut self, activity: u32, service: &[(u32, i128)], queue: &[(u32, i128)], options: &Options) {
        let log = self.log;
        let used: Vec<(u32, i128, f64)> =
            service.iter().filter_map(|&(at, ns)| Some((at, ns, Usage::of(log, None, at)?.cpu_efficiency()?.min(1.0)))).collect();
        // Of one CPU no smaller number can be asked for.
        let several = |at: u32| log.measure(Measure::Cpus, at).is_some_and(|cpus| cpus > 1);
        let idle: Vec<(u32, i128)> = used
            .iter()
            .filter(|(at, _, share)| *share < options.cpu_share && several(*at))
            .map(|&(at, ns, share)| (at, (ns as f64 * (1.0 - share)) as i128))
            .collect();
        if !idle.is_empty() {
            // In the order of size: sums of fractions depend on it.
            let mut shares: Vec<f64> = used.iter().map(|(_, _, share)| *share).collect();
            shares.sort_unstable_by(f64::total_cmp);
            let mean = shares.iter().sum::<f64>() / shares.len() as f64;
            let found = format!(
                "{} used less than {:.0} % of their CPUs ({:.0} % on average)",
                counted(idle.len(), "instance"),
                options.cpu_share * 100.0,
                mean * 100.0
            );
            self.add(BottleneckKind::IdleCpus, activity, &idle, found);
        }
        let wide: Vec<(u32, i128)> = service
            .iter()
            .filter(|&&(at, ns)| {
                log.measure(Measure::TimeLimitNs, at).is_some_and(|limit| limit as f64 >= options.limit_factor * ns as f64)
            })
            .copied()
            .collect();
        // A limit, a reservation or a partition that is down is not met sooner by a shorter time limit.
        let causes = log.attribute(QUEUED_FOR);
        let cause = |at: u32| causes.and_then(|causes| causes.value(at)).unwrap_or("unknown");
        let helps = |at: u32| matches!(cause(at), "priority" | "resources" | "queued" | "unknown");
        let waited: i128 = queue.iter().filter(|(at, _)| helps(*at)).map(|(_, ns)| ns).sum();
        if wide.len() * 2 > service.len() && waited > 0 {
            let found = format!(
                "{} of {} have a time limit of {} times their running time or more, and {} were spent in the queue",
                wide.len(),
                counted(service.len(), "instance"),
                options.limit_factor,
                duration(waited)
            );
            self.put(BottleneckKind::TimeLimit, activity, None, 0, &wide, found);
        }
    }

    /// Activities that move bytes much slower than the quickest that moves as much.
    fn rates(&mut self, of: &[Vec<u32>]) {
        let log = self.log;
        let mut rates: Vec<(u32, f64, f64, f64)> = Vec::new();
        for (activity, all) in (0u32..).zip(of) {
            let (mut bytes, mut ns) = (0i128, 0i128);
            for &at in all {
                if let Some(io) = log.measure(Measure::IoTimeNs, at).filter(|&io| io > 0) {
                    let moved = [Measure::ReadBytes, Measure::WrittenBytes].iter().filter_map(|&m| log.measure(m, at));
                    bytes += moved.map(i128::from).sum::<i128>();
                    ns += i128::from(io);
                }
            }
            if ns > 0 {
                rates.push((activity, bytes as f64 / ns as f64, bytes as f64, ns as f64));
            }
        }
        for &(activity, rate, bytes, ns) in &rates {
            let best = rates.iter().filter(|other| other.2 * 2.0 >= bytes).map(|other| other.1).fold(0.0, f64::max);
            if rate * 10.0 < best {
                let stake = ns - bytes / best;
                let per_s = |rate: f64| flowmine_draw::axis::bytes((rate * 1e9) as i128);
                let found = format!(
                    "moved {} at {}/s while reading and writing; another activity moved as much at {}/s",
                    flowmine_draw::axis::bytes(bytes as i128),
                    per_s(rate),
                    per_s(best)
                );
                let list: Vec<(u32, i128)> =
                    of[activity as usize].iter().filter_map(|&at| Some((at, i128::from(log.measure(Measure::IoTimeNs, at)?)))).collect();
                self.put(BottleneckKind::LowRate, activity, None, stake as i128, &list, found);
            }
        }
    }

    /// Waits between activities that the queue does not explain.
    fn waits(&mut self) {
        let log = self.log;
        let mut by_pair: FxHashMap<(u32, u32), Vec<(u32, i128)>> = FxHashMap::default();
        for case in 0..self.cases.len() {
            let mut latest: Option<(i64, u32)> = None;
            for at in self.cases.of(case) {
                if let (Some((ended, before)), Some(start)) = (latest, log.start_ns(at).filter(|_| log.start_is_known(at))) {
                    // What it waited for once it was submitted is known of its own.
                    let asked = log.submitted_ns(at).unwrap_or(start);
                    let wait = i128::from(asked) - i128::from(ended);
                    if wait > 0 {
                        let pair = (log.instances.activity[before as usize], log.instances.activity[at as usize]);
                        by_pair.entry(pair).or_default().push((at, wait));
                    }
                }
                if let Some(end) = log.end_ns(at)
                    && latest.is_none_or(|(known, _)| end >= known)
                {
                    latest = Some((end, at));
                }
            }
        }
        let mut pairs: Vec<(u32, u32)> = by_pair.keys().copied().collect();
        pairs.sort_unstable();
        for (before, activity) in pairs {
            let waits = by_pair.remove(&(before, activity)).unwrap_or_default();
            let sum: i128 = waits.iter().map(|(_, ns)| ns).sum();
            let found = format!(
                "{} began {} after all that ran before had ended, beyond the time in the queue",
                counted(waits.len(), "instance"),
                duration(sum)
            );
            self.put(BottleneckKind::Wait, activity, Some(before), sum, &waits, found);
        }
    }
}

/// Finds what costs time in a log and ranks it by the core time at stake.
pub fn discover(log: &ActivityLog, cases: &Cases, options: &Options) -> Bottlenecks {
    let mut search = Search { log, cases, ranks: InstanceRanks::new(log, cases), identities: Identities::of(log), findings: Vec::new() };
    let mut of: Vec<Vec<u32>> = vec![Vec::new(); log.activities.len()];
    for (at, &activity) in (0u32..).zip(&log.instances.activity) {
        if search.ranks.case(at) != flowmine_activity_log::NONE {
            of[activity as usize].push(at);
        }
    }
    for (activity, all) in (0u32..).zip(&of) {
        search.of_activity(activity, all, options);
    }
    search.rates(&of);
    search.waits();
    let mut findings = search.findings;
    findings.sort_by(|a, b| {
        let most_first = (b.weight_ns, b.at_stake_ns).cmp(&(a.weight_ns, a.at_stake_ns));
        most_first.then_with(|| (a.kind, &a.activity, &a.after).cmp(&(b.kind, &b.activity, &b.after)))
    });
    let least = findings.first().map_or(0.0, |first| first.weight_ns as f64 * options.least_share);
    let all = findings.len();
    findings.retain(|finding| !finding.kind.claims_time() || finding.weight_ns as f64 >= least && finding.at_stake_ns > 0);
    let mut unknown = Vec::new();
    if !log.has_intervals() {
        unknown.push("running times: the log has one moment for each instance; a log with starts and ends has them".to_owned());
    }
    if log.instances.ready.is_empty() {
        unknown.push("time in the queue: the log does not say when instances were submitted".to_owned());
    }
    if log.measures(Measure::IoTimeNs).is_none() {
        unknown.push("time in reads and writes, small requests, bytes read again: record them with `flowmine trace`".to_owned());
    }
    if log.measures(Measure::CpuTimeNs).is_none() || log.measures(Measure::Cpus).is_none() {
        unknown.push("CPUs asked for and used: the engine's trace file or accounting tells them".to_owned());
    }
    Bottlenecks { about: About::of(log, cases), options: options.clone(), small: (all - findings.len()) as u64, findings, unknown }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flowmine_activity_log::{BytesFrom, InstanceRow, LogBuilder};

    const SECOND: i64 = 1_000_000_000;

    /// Activity, ready, start, end (in seconds), what became of it, numbers.
    type Row<'a> = (&'a str, i64, i64, i64, Status, &'a [(Measure, i64)]);

    fn log(rows: &[Row<'_>]) -> ActivityLog {
        let mut builder = LogBuilder::new(&[]);
        for &(name, ready, start, end, status, measures) in rows {
            let activity = builder.activity(name);
            let row = InstanceRow {
                activity,
                ready_ns: ready * SECOND,
                start_ns: start * SECOND,
                end_ns: end * SECOND,
                resource: None,
                status,
                attempt: 0,
                measures,
                bytes_from: BytesFrom::Trace,
                attributes: &[],
            };
            builder.instance(&row).expect("few");
        }
        builder.end_case("run").expect("one");
        builder.finish()
    }

    fn found(log: &ActivityLog) -> Vec<(&'static str, String, i64)> {
        let list = discover(log, &log.groups[0], &Options::default());
        list.findings.iter().map(|f| (f.kind.name(), f.activity.clone(), (f.at_stake_ns / i128::from(SECOND)) as i64)).collect()
    }

    #[test]
    fn planted_bottlenecks_are_found_with_their_time() {
        let done = Status::Completed;
        let planted = log(&[
            ("align", 0, 100, 400, done, &[]),
            ("align", 0, 100, 150, Status::Failed, &[]),
            ("merge", 450, 460, 470, done, &[(Measure::Cpus, 4), (Measure::CpuTimeNs, 10 * SECOND)]),
        ]);
        let list = found(&planted);
        assert_eq!(
            list,
            [
                ("activity", "align".to_owned(), 350),
                ("queue", "align".to_owned(), 200),
                ("wait", "merge".to_owned(), 50),
                ("failed", "align".to_owned(), 50),
                ("queue", "merge".to_owned(), 10),
                ("activity", "merge".to_owned(), 10),
                ("idle-cpus", "merge".to_owned(), 7),
            ]
        );
    }

    #[test]
    fn reads_and_writes() {
        let many = [
            (Measure::ReadBytes, 1_000_000),
            (Measure::WrittenBytes, 0),
            (Measure::UniqueReadBytes, 250_000),
            (Measure::ReadCalls, 10_000),
            (Measure::WriteCalls, 0),
            (Measure::IoTimeNs, 8 * SECOND),
        ];
        let quick = [(Measure::ReadBytes, 900_000_000), (Measure::WrittenBytes, 0), (Measure::IoTimeNs, SECOND)];
        let planted = log(&[("slow", 0, 0, 10, Status::Completed, &many), ("quick", 10, 10, 20, Status::Completed, &quick)]);
        let list = found(&planted);
        for expected in [("io-time", 8), ("re-read", 6), ("tiny-requests", 8), ("low-rate", 7)] {
            assert!(list.contains(&(expected.0, "slow".to_owned(), expected.1)), "{expected:?} in {list:?}");
        }
        assert!(!list.iter().any(|(kind, name, _)| name == "quick" && *kind != "activity"), "{list:?}");
    }

    #[test]
    fn requests_and_trends() {
        let done = Status::Completed;
        let kinds = |rows: &[Row<'_>]| -> Vec<(&'static str, i64)> {
            found(&log(rows))
                .into_iter()
                .filter(|(kind, ..)| !["activity", "wait", "failed"].contains(kind))
                .map(|(kind, _, s)| (kind, s))
                .collect()
        };
        let memory = [(Measure::MemoryBytes, 36_000_000_000), (Measure::PeakMemoryBytes, 50_000_000)];
        assert_eq!(kinds(&[("a", 0, 0, 240, done, &memory)]), [("idle-memory", 0)]);
        let limit = [(Measure::TimeLimitNs, 3600 * SECOND)];
        let near = [("a", 0, 0, 3590, done, &limit[..]), ("a", 0, 0, 3600, Status::Failed, &limit), ("a", 0, 0, 100, done, &limit)];
        assert_eq!(kinds(&near), [("near-limit", 7190)]);
        let cpu = |time: i64| [(Measure::Cpus, 1), (Measure::CpuTimeNs, time * SECOND)];
        assert_eq!(kinds(&[("a", 0, 0, 60, done, &cpu(19_941))]), [("more-cpus", 0)]);
        assert_eq!(kinds(&[("a", 0, 0, 60, done, &cpu(3))]), [], "one CPU is the least that can be asked for");
        let growing: Vec<Row<'_>> = (0..12).map(|at| ("a", at * 100, at * 100, at * 100 + 10 + at, done, &[][..])).collect();
        assert_eq!(kinds(&growing), [("trend", 50)]);
        let steady: Vec<Row<'_>> = (0..12).map(|at| ("a", at * 100, at * 100, at * 100 + 10 + at % 3, done, &[][..])).collect();
        assert_eq!(kinds(&steady), []);
    }

    #[test]
    fn stragglers_and_nothing_of_nothing() {
        let mut rows: Vec<Row<'_>> = (0..9).map(|_| ("s", 0, 0, 10, Status::Completed, &[][..])).collect();
        rows.push(("s", 0, 0, 100, Status::Completed, &[]));
        assert!(found(&log(&rows)).contains(&("straggler", "s".to_owned(), 90)));
        let empty = LogBuilder::new(&[]).finish();
        let list = discover(&empty, &empty.groups[0], &Options::default());
        assert!(list.findings.is_empty() && !list.unknown.is_empty());
    }
}

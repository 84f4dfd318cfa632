//! Directly-follows graphs of activity instances, with times and bytes.
//!
//! In goes a log and a grouping of its instances into cases; out comes a [`Dfg`]: the activities
//! and the pairs that follow directly, with frequencies, waiting times and the bytes from one to
//! the other.
//!
//! **What follows directly.** Instances have a beginning and an end. `a` precedes `b` when `a`
//! ended before `b` started. `b` follows `a` directly when `a` precedes `b` and no third instance
//! of the case lies wholly between them: none that started after `a` had ended, and ended before
//! `b` started. That is the transitive reduction of the interval order of a case, the
//! directly-follows relation of Leemans, Fahland and van der Aalst, "Using Life Cycle Information
//! in Process Discovery" (BPM workshops 2015, section 3). For instances that are moments, it is the
//! usual relation of neighbours. Instances that overlap in time are **concurrent**
//! ([`Dfg::concurrent`]) and have no edge.
//!
//! **How often.** An edge `A → B` is counted once for each instance of `B` that follows an instance
//! of `A` directly. If several parallel instances of `A` end before it, only the last one counts,
//! because `B` waited for that one: a step that gathers a thousand samples counts once, not a
//! thousand times. For instances that are moments, the counts equal those of PM4Py and
//! process_mining.
//!
//! **Times.** Waiting is from the end of `A` to the start of `B`. Steps with an unknown time are
//! counted and are in no statistic.
//!
//! **Bytes.** Between activities: the bytes that instances of `A` wrote and instances of `B` read
//! ([`flowmine_activity_log::Flows`]). A pair that exchanged bytes without following directly is an
//! edge with frequency 0.
//!
//! The result does not depend on the order of cases or on internal numbers: activities are sorted
//! by name, edges by their ends. Memory is 20 bytes for each step and 16 for each instance with
//! times and bytes, since exact percentiles need every value.

mod paths;
mod steps;

use flowmine_activity_log::{ActivityLog, BytesFrom, Cases, LeftOut, Measure, NONE, Status, UNKNOWN, Words};
use flowmine_threads::both;
use rustc_hash::FxHashMap;

pub use paths::OnPath;
use paths::Paths;
pub use steps::for_each_step;

use crate::about::ORIGINS;
use crate::grouped::Grouped;
use crate::stats::Stats;

/// A directly-follows graph.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Dfg {
    /// Activities that occur, sorted by name (by code point).
    pub activities: Vec<Activity>,
    /// Pairs, sorted by (`from`, `to`), each once.
    pub edges: Vec<Edge>,
    /// Start activities with their number of cases (an instance has no predecessor), sorted by
    /// activity.
    pub starts: Vec<(usize, u64)>,
    /// End activities with their number of cases (an instance has no successor), sorted by
    /// activity.
    pub ends: Vec<(usize, u64)>,
    /// Pairs of activities with instances that overlapped in time, sorted; `a <= b`.
    pub concurrent: Vec<Concurrent>,
    /// Number of cases with at least one instance.
    pub cases: u64,
    /// Number of cases without instances; they are not in `cases`.
    pub empty_cases: u64,
    /// Number of instances in cases; one that is in two cases counts twice.
    pub instances: u64,
    /// Number of steps in which the later instance has the earlier time.
    pub backward_steps: u64,
    /// Number of steps in which the end of the first or the start of the second is not known.
    pub steps_without_time: u64,
    /// Number of instances that started while instances of more than a thousand activities ran;
    /// their concurrent activities are not in `concurrent`.
    pub uncounted_overlaps: u64,
    /// Origins of the bytes that instances read; `None` if no origin is known.
    pub flow: Option<FlowTotals>,
    /// Missing and inconsistent data of the log.
    pub left_out: LeftOut,
    /// Description of the log: words for instance and case, and filters.
    pub words: Words,
}

/// An activity with the counts, times and bytes of its instances in cases.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Activity {
    /// Its name in the log: any characters, not yet escaped.
    pub name: String,
    /// Number of its instances in cases.
    pub frequency: u64,
    /// Number of cases in which it occurs.
    pub cases: u64,
    /// Time from start to end, in nanoseconds; `None` if no instance has both.
    pub service_ns: Option<Stats>,
    /// Time from ready to start, in nanoseconds.
    pub queue_ns: Option<Stats>,
    /// Bytes read by an instance.
    pub read_bytes: Option<Stats>,
    /// Bytes written by an instance.
    pub written_bytes: Option<Stats>,
    /// Origins of the byte counts with numbers of instances, most first.
    pub bytes_from: Vec<(BytesFrom, u64)>,
    /// Bytes read and written per second of service, of the instances with both known.
    pub bytes_per_s: Option<f64>,
    /// Number of instances with the status failed.
    pub failed: u64,
    /// Number of instances that were ended from outside or never ran.
    pub aborted: u64,
    /// Number of instances with a result reused from an earlier run.
    pub cached: u64,
    /// Number of instances that had not ended at the end of the log.
    pub unfinished: u64,
    /// Number of instances that are a second or later attempt.
    pub retries: u64,
    /// Maximum number of its instances that ran at the same time in one case.
    pub most_at_once: u64,
    /// Its share of the critical paths of cases; `None` if it is on none.
    pub on_path: Option<OnPath>,
}

/// A pair of activities in which the second follows the first directly, or read its bytes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Edge {
    /// Index of the first activity in [`Dfg::activities`].
    pub from: usize,
    /// Index of the second activity in [`Dfg::activities`].
    pub to: usize,
    /// Number of times that the second follows the first directly; 0 for a pair that only exchanged
    /// bytes.
    pub frequency: u64,
    /// Number of cases in which the second follows the first directly.
    pub cases: u64,
    /// Waiting time, from the end of the first to the start of the second, in nanoseconds.
    pub wait_ns: Option<Stats>,
    /// Sum of the waits in which the first ended last of all predecessors of the second, so that
    /// the second waited for it, in nanoseconds.
    pub last_wait_ns: i128,
    /// Bytes that an instance of the second read from the output of an instance of the first.
    pub bytes: Option<Stats>,
    /// Its share of the critical paths of cases; `None` if it is on none.
    pub on_path: Option<OnPath>,
}

/// Two activities that overlapped in time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Concurrent {
    /// Index of one activity in [`Dfg::activities`].
    pub a: usize,
    /// Index of the other, or the same.
    pub b: usize,
    /// Number of times that an instance of one started while an instance of the other ran.
    pub frequency: u64,
    /// Time during which both ran, in nanoseconds, over all cases; `None` if too many ran at once
    /// to compute it.
    pub overlap_ns: Option<i128>,
}

/// Bytes that were read, by origin. Their sum is the known total of the dataset.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FlowTotals {
    /// Read from the output of another instance of the log: the bytes on the edges.
    pub between: i128,
    /// Read from data that existed before, or that no instance of the log wrote.
    pub from_outside: i128,
    /// Read by an instance from its own output.
    pub read_back: i128,
    /// Read in the dataset, but by no instance of the log.
    pub read_by_others: i128,
    /// Whether these are sizes of declared files, not traced bytes.
    pub declared: bool,
}

/// Number of activities above which pairs are found by hash; below, by a square table (at most 16
/// MB).
const DENSE_LIMIT: usize = 2048;

/// Maximum number of activities at one moment for which the common time of each pair is added up.
const MOST_PAIRED: usize = 48;

/// Maximum number of activities that are counted as concurrent to an instance at its start.
const MOST_COUNTED: usize = 1024;

/// Numbering of pairs of activities by first occurrence.
struct Pairs {
    activities: usize,
    dense: Vec<u32>,
    sparse: FxHashMap<(u32, u32), u32>,
    list: Vec<(u32, u32)>,
}

impl Pairs {
    fn new(activities: usize) -> Self {
        let dense = if activities <= DENSE_LIMIT { vec![NONE; activities * activities] } else { Vec::new() };
        Self { activities, dense, sparse: FxHashMap::default(), list: Vec::new() }
    }

    fn slot(&mut self, from: u32, to: u32) -> u32 {
        let place = if self.activities <= DENSE_LIMIT {
            &mut self.dense[from as usize * self.activities + to as usize]
        } else {
            self.sparse.entry((from, to)).or_insert(NONE)
        };
        if *place == NONE {
            *place = self.list.len() as u32;
            self.list.push((from, to));
        }
        *place
    }
}

/// Counter of cases that counts each case once.
#[derive(Debug, Clone, Copy, Default)]
struct CaseCount {
    count: u64,
    last: u32,
}

impl CaseCount {
    fn see(&mut self, case: u32) {
        let case = case + 1;
        if self.last != case {
            self.last = case;
            self.count += 1;
        }
    }
}

/// Values with the index to which each belongs, for statistics by index.
#[derive(Default)]
struct Values {
    slots: Vec<u32>,
    values: Vec<i64>,
}

impl Values {
    fn push(&mut self, slot: u32, value: i64) {
        self.slots.push(slot);
        self.values.push(value);
    }

    /// Returns the statistics of each index.
    fn stats(self, places: usize) -> Vec<Option<Stats>> {
        let numbers = Grouped::new(places, || self.slots.iter().copied().zip(self.values.iter().copied()));
        drop(self);
        numbers.stats()
    }
}

/// State of an edge while cases are read.
#[derive(Debug, Clone, Copy, Default)]
struct EdgeCount {
    frequency: u64,
    cases: CaseCount,
    last_wait: i128,
}

/// Results while cases are read.
struct Walk<'l> {
    log: &'l ActivityLog,
    pairs: Pairs,
    frequency: Vec<u64>,
    cases_of: Vec<CaseCount>,
    starts: Vec<CaseCount>,
    ends: Vec<CaseCount>,
    edges: Vec<EdgeCount>,
    waits: Values,
    backward_steps: u64,
    steps_without_time: u64,
    overlaps: FxHashMap<(u32, u32), (u64, i128)>,
    /// Too many activities ran at once to add up the time of each pair.
    overlap_unknown: bool,
    uncounted_overlaps: u64,
    most_at_once: Vec<u64>,
}

impl<'l> Walk<'l> {
    fn new(log: &'l ActivityLog) -> Self {
        let n = log.activities.len();
        Self {
            log,
            pairs: Pairs::new(n),
            frequency: vec![0; n],
            cases_of: vec![CaseCount::default(); n],
            starts: vec![CaseCount::default(); n],
            ends: vec![CaseCount::default(); n],
            edges: Vec::new(),
            waits: Values::default(),
            backward_steps: 0,
            steps_without_time: 0,
            overlaps: FxHashMap::default(),
            overlap_unknown: false,
            uncounted_overlaps: 0,
            most_at_once: vec![0; n],
        }
    }

    fn activity(&self, instance: u32) -> u32 {
        self.log.instances.activity[instance as usize]
    }

    /// Counts a step. With `last`, no other direct predecessor of `b` ended later than `a`.
    fn step(&mut self, case: u32, a: u32, b: u32, last: bool) {
        let end = self.log.end_ns(a).unwrap_or(UNKNOWN);
        let start = self.log.start_ns(b).filter(|_| self.log.start_is_known(b)).unwrap_or(UNKNOWN);
        self.follow(case, (self.activity(a), end), (self.activity(b), start), last);
    }

    /// Counts a step from an activity that ended to one that started.
    fn follow(&mut self, case: u32, (a, end): (u32, i64), (b, start): (u32, i64), last: bool) {
        let slot = self.pairs.slot(a, b);
        if slot as usize == self.edges.len() {
            self.edges.push(EdgeCount::default());
        }
        let edge = &mut self.edges[slot as usize];
        edge.frequency += 1;
        edge.cases.see(case);
        let known = end != UNKNOWN && start != UNKNOWN;
        // Two times more than 292 years apart do not fit, and count as unknown.
        match start.checked_sub(end).filter(|_| known) {
            None => self.steps_without_time += 1,
            Some(wait) => {
                self.backward_steps += u64::from(wait < 0);
                self.waits.push(slot, wait);
                if last {
                    edge.last_wait += i128::from(wait);
                }
            }
        }
    }

    /// Counts a case of a log of moments. Returns `false` and does nothing if they are not in the
    /// order of the log.
    fn moments(&mut self, case: u32, cases: &Cases) -> bool {
        if !cases.of(case as usize).is_sorted_by(|a, b| a < b) {
            return false;
        }
        let log = self.log;
        let mut before: Option<(u32, i64)> = None;
        let mut members = cases.of(case as usize);
        // Events of an object lie apart in memory: several are fetched at a time, so that the
        // processor does not wait for each.
        let mut fetched = [(0, 0); 32];
        loop {
            let mut count = 0;
            for (place, at) in fetched.iter_mut().zip(&mut members) {
                *place = (log.instances.activity[at as usize], log.events.time_ns[at as usize]);
                count += 1;
            }
            for &now in &fetched[..count] {
                let activity = now.0 as usize;
                self.frequency[activity] += 1;
                self.cases_of[activity].see(case);
                match before {
                    None => self.starts[activity].see(case),
                    Some(before) => self.follow(case, before, now, true),
                }
                before = Some(now);
            }
            if count < fetched.len() {
                break;
            }
        }
        if let Some((last, _)) = before {
            self.ends[last as usize].see(case);
        }
        true
    }

    /// Counts a case with sequential instances. Returns `false` and does nothing if some overlap.
    fn sequence(&mut self, case: u32, cases: &Cases) -> bool {
        let instances = &self.log.instances;
        let mut ended = None;
        for at in cases.of(case as usize) {
            let (start, end) = (instances.start[at as usize], instances.end[at as usize]);
            if ended.is_some_and(|ended| start <= ended) {
                return false;
            }
            ended = Some(end);
        }
        let mut before: Option<u32> = None;
        for at in cases.of(case as usize) {
            let activity = self.activity(at) as usize;
            self.frequency[activity] += 1;
            self.cases_of[activity].see(case);
            match before {
                None => self.starts[activity].see(case),
                Some(before) => self.step(case, before, at, true),
            }
            before = Some(at);
        }
        if let Some(last) = before {
            let activity = self.activity(last) as usize;
            self.ends[activity].see(case);
        }
        true
    }

    /// Counts a case with instances that overlap.
    fn overlapping(&mut self, case: u32, cases: &Cases) {
        let log = self.log;
        let instances = &log.instances;
        let by_start: Vec<u32> = cases.of(case as usize).collect();
        let mut by_end = by_start.clone();
        by_end.sort_unstable_by_key(|&at| (instances.end[at as usize], at));
        let last_start = by_start.iter().map(|&at| instances.start[at as usize]).max().unwrap_or(0);
        steps::each(log, &by_start, &by_end, |b, before| {
            let activity = self.activity(b) as usize;
            self.frequency[activity] += 1;
            self.cases_of[activity].see(case);
            if before.is_empty() {
                self.starts[activity].see(case);
            }
            for &(a, is_last) in before {
                self.step(case, a, b, is_last);
            }
            if instances.end[b as usize] >= last_start {
                self.ends[activity].see(case);
            }
        });
        self.concurrency(&by_start, &by_end);
    }

    fn concurrency(&mut self, by_start: &[u32], by_end: &[u32]) {
        let log = self.log;
        let instances = &log.instances;
        let mut running: Vec<(u32, u64)> = Vec::new();
        let mut ended = 0;
        let mut before_ns: Option<i64> = None;
        let mut pass = |walk: &mut Self, running: &[(u32, u64)], now: Option<i64>| {
            if let (Some(now), Some(before)) = (now, before_ns)
                && now > before
                && !running.is_empty()
            {
                if running.len() > MOST_PAIRED {
                    walk.overlap_unknown = true;
                    before_ns = Some(now);
                    return;
                }
                let time = i128::from(now) - i128::from(before);
                for (place, &(a, count)) in running.iter().enumerate() {
                    let others = running[place + 1..].iter().map(|&(b, _)| b).chain((count > 1).then_some(a));
                    for b in others {
                        walk.overlaps.entry((a.min(b), a.max(b))).or_default().1 += time;
                    }
                }
            }
            before_ns = now.or(before_ns);
        };
        for &b in by_start {
            let start = instances.start[b as usize];
            while ended < by_end.len() && instances.end[by_end[ended] as usize] < start {
                let a = by_end[ended];
                pass(self, &running, log.end_ns(a));
                let activity = self.activity(a);
                if let Some(place) = running.iter().position(|(of, _)| *of == activity) {
                    running[place].1 -= 1;
                    if running[place].1 == 0 {
                        running.swap_remove(place);
                    }
                }
                ended += 1;
            }
            pass(self, &running, log.start_ns(b));
            let activity = self.activity(b);
            if running.len() > MOST_COUNTED {
                self.uncounted_overlaps += 1;
            } else {
                for &(other, _) in &running {
                    self.overlaps.entry((other.min(activity), other.max(activity))).or_default().0 += 1;
                }
            }
            let now = match running.iter_mut().find(|(of, _)| *of == activity) {
                Some((_, count)) => {
                    *count += 1;
                    *count
                }
                None => {
                    running.push((activity, 1));
                    1
                }
            };
            let known = &mut self.most_at_once[activity as usize];
            *known = (*known).max(now);
        }
        for &a in &by_end[ended..] {
            pass(self, &running, log.end_ns(a));
            let activity = self.activity(a);
            if let Some(place) = running.iter().position(|(of, _)| *of == activity) {
                running[place].1 -= 1;
                if running[place].1 == 0 {
                    running.swap_remove(place);
                }
            }
        }
    }
}

/// Returns the directly-follows graph of a log in one of its groupings.
pub fn dfg(log: &ActivityLog, cases: &Cases) -> Dfg {
    let mut walk = Walk::new(log);
    // A step for each instance except the first of a case, if none overlap.
    let steps = cases.offsets.last().map_or(0, |&end| end as usize);
    walk.waits = Values { slots: Vec::with_capacity(steps), values: Vec::with_capacity(steps) };
    let (mut with, mut empty, mut instances) = (0, 0, 0u64);
    let is_of_moments = log.is_of_moments();
    for case in 0..cases.len() as u32 {
        match cases.of(case as usize).len() {
            0 => {
                empty += 1;
                continue;
            }
            n => instances += n as u64,
        }
        with += 1;
        let is_sequence = if is_of_moments { walk.moments(case, cases) } else { walk.sequence(case, cases) };
        if !is_sequence {
            walk.overlapping(case, cases);
        }
    }
    let flow = flows(log, &mut walk.pairs);
    walk.edges.resize(walk.pairs.list.len(), EdgeCount::default());

    let waits = std::mem::take(&mut walk.waits);
    let pairs = walk.pairs.list.len();
    // Each instance counts once, however many cases it is in: its time and bytes are its own.
    let (waits, (paths, activities)) = both(move || waits.stats(pairs), || (Paths::new(log, cases), activities(log, cases)));

    let mut place = vec![usize::MAX; log.activities.len()];
    let mut dfg = Dfg {
        cases: with,
        empty_cases: empty,
        instances,
        backward_steps: walk.backward_steps,
        steps_without_time: walk.steps_without_time,
        uncounted_overlaps: walk.uncounted_overlaps,
        left_out: log.left_out,
        words: log.words.clone(),
        ..Dfg::default()
    };
    let (flow_bytes, totals) = flow;
    dfg.flow = totals;
    let mut details: Vec<Option<Activity>> = activities.into_iter().map(Some).collect();
    for number in log.activities.sorted() {
        let at = number as usize;
        if walk.frequency[at] > 0 {
            place[at] = dfg.activities.len();
            let known = details[at].take().unwrap_or_default();
            dfg.activities.push(Activity {
                name: log.activities.get(number).to_owned(),
                frequency: walk.frequency[at],
                cases: walk.cases_of[at].count,
                most_at_once: walk.most_at_once[at].max(1),
                on_path: paths.activities.get(&number).copied(),
                ..known
            });
        }
    }
    for (number, &at) in place.iter().enumerate().filter(|(_, at)| **at != usize::MAX) {
        for (counts, list) in [(&walk.starts, &mut dfg.starts), (&walk.ends, &mut dfg.ends)] {
            if counts[number].count > 0 {
                list.push((at, counts[number].count));
            }
        }
    }
    dfg.starts.sort_unstable();
    dfg.ends.sort_unstable();
    let edges = walk.pairs.list.iter().zip(&walk.edges).zip(waits.into_iter().zip(flow_bytes));
    for ((&(from, to), counted), (wait_ns, bytes)) in edges {
        let on_path = paths.pairs.get(&(from, to)).copied();
        let (from, to) = (place[from as usize], place[to as usize]);
        // An exchange with an instance that is in no case of this grouping.
        if from != usize::MAX && to != usize::MAX {
            let EdgeCount { frequency, cases, last_wait: last_wait_ns } = *counted;
            dfg.edges.push(Edge { from, to, frequency, cases: cases.count, wait_ns, last_wait_ns, bytes, on_path });
        }
    }
    dfg.edges.sort_by_key(|edge| (edge.from, edge.to));
    for ((a, b), (frequency, overlap_ns)) in walk.overlaps {
        let (a, b) = (place[a as usize], place[b as usize]);
        let overlap_ns = (!walk.overlap_unknown).then_some(overlap_ns);
        dfg.concurrent.push(Concurrent { a: a.min(b), b: a.max(b), frequency, overlap_ns });
    }
    dfg.concurrent.sort_unstable_by_key(|pair| (pair.a, pair.b));
    dfg
}

/// Returns the bytes between activities by pair, and the origins of all bytes.
fn flows(log: &ActivityLog, pairs: &mut Pairs) -> (Vec<Option<Stats>>, Option<FlowTotals>) {
    let mut values = Values::default();
    let Some(flows) = &log.flows else { return (vec![None; pairs.list.len()], None) };
    let mut totals = FlowTotals {
        from_outside: flows.from_outside.iter().map(|(_, bytes)| bytes).sum(),
        read_back: flows.read_back,
        read_by_others: flows.read_by_others,
        declared: flows.declared,
        ..FlowTotals::default()
    };
    for flow in &flows.between {
        let activity = |at: u32| log.instances.activity[at as usize];
        values.push(pairs.slot(activity(flow.from), activity(flow.to)), flow.bytes);
        totals.between += i128::from(flow.bytes);
    }
    (values.stats(pairs.list.len()), Some(totals))
}

/// Returns times and bytes of the instances of each activity, by the numbers of the log.
pub(crate) fn activities(log: &ActivityLog, cases: &Cases) -> Vec<Activity> {
    let n = log.activities.len();
    let mut out = vec![Activity::default(); n];
    // If a grouping does not contain all instances, only those that it contains.
    let members: Option<Vec<bool>> = cases.members.as_ref().map(|members| {
        let mut inside = vec![false; log.len()];
        members.iter().for_each(|&at| inside[at as usize] = true);
        inside
    });
    let is_inside = |at: usize| members.as_ref().is_none_or(|members| members[at]);
    let instances = &log.instances;
    let gather = |value: &dyn Fn(u32) -> Option<i64>| -> Vec<Option<Stats>> {
        let inside = || (0..log.len()).filter(|&at| is_inside(at));
        Grouped::new(n, || inside().filter_map(|at| Some((instances.activity[at], value(at as u32)?)))).stats()
    };
    let has_intervals = log.has_intervals();
    if has_intervals {
        let stats = gather(&|at| log.service_ns(at));
        out.iter_mut().zip(stats).for_each(|(activity, stats)| activity.service_ns = stats);
    }
    if !instances.ready.is_empty() {
        let stats = gather(&|at| log.queue_ns(at));
        out.iter_mut().zip(stats).for_each(|(activity, stats)| activity.queue_ns = stats);
    }
    let column = |measure: Measure| {
        let column = log.measures(measure)?;
        Some(gather(&|at| Some(column[at as usize]).filter(|&value| value != UNKNOWN)))
    };
    if let Some(stats) = column(Measure::ReadBytes) {
        out.iter_mut().zip(stats).for_each(|(activity, stats)| activity.read_bytes = stats);
    }
    if let Some(stats) = column(Measure::WrittenBytes) {
        out.iter_mut().zip(stats).for_each(|(activity, stats)| activity.written_bytes = stats);
    }
    if has_intervals && (log.measures(Measure::ReadBytes).is_some() || log.measures(Measure::WrittenBytes).is_some()) {
        let mut sums = vec![(0i128, 0i128); n];
        for at in (0..log.len() as u32).filter(|&at| is_inside(at as usize)) {
            let bytes = [Measure::ReadBytes, Measure::WrittenBytes].map(|measure| log.measure(measure, at));
            if let (Some(ns), true) = (log.service_ns(at).filter(|&ns| ns > 0), bytes.iter().any(Option::is_some)) {
                let sum = &mut sums[instances.activity[at as usize] as usize];
                sum.0 += bytes.iter().flatten().map(|&bytes| i128::from(bytes)).sum::<i128>();
                sum.1 += i128::from(ns);
            }
        }
        for (activity, (bytes, ns)) in out.iter_mut().zip(sums).filter(|(_, (_, ns))| *ns > 0) {
            activity.bytes_per_s = Some(bytes as f64 / (ns as f64 / 1e9));
        }
    }
    if !instances.status.is_empty() || !instances.attempt.is_empty() || !instances.bytes_from.is_empty() {
        let mut origins: Vec<[u64; 5]> = vec![[0; 5]; n];
        for at in (0..log.len()).filter(|&at| is_inside(at)) {
            let number = instances.activity[at] as usize;
            let activity = &mut out[number];
            match log.status(at as u32) {
                Status::Failed => activity.failed += 1,
                Status::Aborted => activity.aborted += 1,
                Status::Cached => activity.cached += 1,
                Status::Unfinished => activity.unfinished += 1,
                Status::Unknown | Status::Completed => {}
            }
            activity.retries += u64::from(log.attempt(at as u32).is_some_and(|attempt| attempt > 1));
            if let Some(&from) = instances.bytes_from.get(at) {
                origins[number][from as usize] += 1;
            }
        }
        for (activity, counts) in out.iter_mut().zip(origins) {
            let counts = ORIGINS.iter().map(|&from| (from, counts[from as usize]));
            activity.bytes_from = counts.filter(|&(from, count)| from != BytesFrom::Nobody && count > 0).collect();
            activity.bytes_from.sort_by_key(|&(from, count)| (std::cmp::Reverse(count), from));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use flowmine_activity_log::{EventRow, Flow, Flows, InstanceRow, LogBuilder, Transition};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn interval(builder: &mut LogBuilder, name: &str, start_ns: i64, end_ns: i64) {
        let activity = builder.activity(name);
        let row = InstanceRow {
            activity,
            ready_ns: UNKNOWN,
            start_ns,
            end_ns,
            resource: None,
            status: Status::Unknown,
            attempt: 0,
            measures: &[],
            bytes_from: BytesFrom::Nobody,
            attributes: &[],
        };
        builder.instance(&row).expect("few");
    }

    fn of(cases: &[&[(&str, i64, i64)]]) -> ActivityLog {
        let mut builder = LogBuilder::new(&[]);
        for (number, case) in cases.iter().enumerate() {
            case.iter().for_each(|&(name, start, end)| interval(&mut builder, name, start, end));
            builder.end_case(&number.to_string()).expect("few");
        }
        builder.finish()
    }

    fn edges(dfg: &Dfg) -> Vec<(&str, &str, u64)> {
        dfg.edges.iter().map(|e| (&*dfg.activities[e.from].name, &*dfg.activities[e.to].name, e.frequency)).collect()
    }

    #[test]
    fn side_by_side_is_no_loop() {
        let log = of(&[&[("fastqc", 0, 30), ("trim", 5, 20), ("split", 40, 60)]]);
        let found = dfg(&log, &log.groups[0]);
        assert_eq!(edges(&found), [("fastqc", "split", 1), ("trim", "split", 1)]);
        assert_eq!(found.starts, [(0, 1), (2, 1)]);
        assert_eq!(found.ends, [(1, 1)]);
        assert_eq!(found.concurrent, [Concurrent { a: 0, b: 2, frequency: 1, overlap_ns: Some(15) }]);
        assert_eq!(found.edges[1].wait_ns.map(|wait| wait.sum), Some(20));
        // It waited for fastqc, which ended last.
        assert_eq!((found.edges[0].last_wait_ns, found.edges[1].last_wait_ns), (10, 0));
        assert_eq!(found.activities[0].service_ns.map(|service| service.sum), Some(30));
    }

    #[test]
    fn what_gathers_waits_for_the_last() {
        let log = of(&[&[("s", 0, 1), ("s", 0, 5), ("s", 0, 3), ("g", 6, 7)]]);
        let found = dfg(&log, &log.groups[0]);
        assert_eq!(edges(&found), [("s", "g", 1)]);
        assert_eq!(found.edges[0].wait_ns.map(|wait| wait.sum), Some(1));
        assert_eq!((found.activities[1].most_at_once, found.starts), (3, vec![(1, 1)]));
        assert_eq!(found.concurrent, [Concurrent { a: 1, b: 1, frequency: 2, overlap_ns: Some(3) }]);
    }

    #[test]
    fn bytes_are_on_edges_and_add_up() {
        let mut log = of(&[&[("a", 0, 1), ("b", 2, 3), ("c", 4, 5)]]);
        log.flows = Some(Flows {
            between: vec![Flow { from: 0, to: 1, bytes: 10 }, Flow { from: 0, to: 2, bytes: 7 }],
            from_outside: vec![(0, 3)],
            read_by_others: 2,
            read_back: 1,
            declared: false,
        });
        let found = dfg(&log, &log.groups[0]);
        assert_eq!(edges(&found), [("a", "b", 1), ("a", "c", 0), ("b", "c", 1)]);
        assert_eq!(found.edges.iter().filter_map(|edge| edge.bytes).map(|bytes| bytes.sum).sum::<i128>(), 17);
        let totals = FlowTotals { between: 17, from_outside: 3, read_back: 1, read_by_others: 2, declared: false };
        assert_eq!(found.flow, Some(totals));
    }

    #[test]
    fn unknown_times_are_counted_and_keep_their_place() {
        let mut builder = LogBuilder::new(&[]);
        for (name, time_ns) in [("a", 1), ("b", UNKNOWN), ("c", 3)] {
            let activity = builder.activity(name);
            builder.event(&EventRow { activity, time_ns, transition: Transition::Untold, ..EventRow::default() }).expect("few");
        }
        builder.end_case("c").expect("few");
        builder.end_case("empty").expect("few");
        let log = builder.finish();
        let found = dfg(&log, &log.groups[0]);
        assert_eq!(edges(&found), [("a", "b", 1), ("b", "c", 1)]);
        assert_eq!((found.steps_without_time, found.cases, found.empty_cases), (2, 1, 1));
        assert!(found.edges.iter().all(|edge| edge.wait_ns.is_none()));
    }

    /// Implements the definition by comparing all pairs.
    fn by_definition(log: &ActivityLog) -> BTreeMap<(String, String), u64> {
        let mut out = BTreeMap::new();
        let cases = &log.groups[0];
        for case in 0..cases.len() {
            let all: Vec<u32> = cases.of(case).collect();
            let (start, end) = (|at: u32| log.instances.start[at as usize], |at: u32| log.instances.end[at as usize]);
            let precedes = |a: u32, b: u32| a != b && end(a) < start(b);
            for &b in &all {
                let mut before: Vec<&str> = (all.iter().copied())
                    .filter(|&a| precedes(a, b) && !all.iter().any(|&c| precedes(a, c) && precedes(c, b)))
                    .map(|a| log.activity(a))
                    .collect();
                before.sort_unstable();
                before.dedup();
                for a in before {
                    *out.entry((a.to_owned(), log.activity(b).to_owned())).or_insert(0) += 1;
                }
            }
        }
        out
    }

    proptest! {
        #[test]
        fn edges_are_those_of_the_definition(cases in prop::collection::vec(prop::collection::vec(("[a-d]", 0i64..12, 0i64..6), 0..12), 0..4)) {
            let rows: Vec<Vec<(&str, i64, i64)>> =
                cases.iter().map(|case| case.iter().map(|(name, start, time)| (name.as_str(), *start, start + time)).collect()).collect();
            let log = of(&rows.iter().map(Vec::as_slice).collect::<Vec<_>>());
            let found = dfg(&log, &log.groups[0]);
            let edges: BTreeMap<(String, String), u64> =
                edges(&found).into_iter().map(|(a, b, n)| ((a.to_owned(), b.to_owned()), n)).collect();
            prop_assert_eq!(edges, by_definition(&log));
            prop_assert!(found.edges.iter().all(|edge| edge.wait_ns.is_some_and(|wait| wait.min >= 0)));
            prop_assert_eq!(found.activities.iter().map(|a| a.frequency).sum::<u64>(), log.len() as u64);
        }
    }
}

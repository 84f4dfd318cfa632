//! Critical path of a run, the slack of all other tasks, and the gain if a part of the path were
//! faster.
//!
//! In goes a run as a graph; out come numbers. A dependency was declared, or follows from a task
//! that read the output of another. Each is interpreted by the precedence diagramming method: a
//! task that started after the end of the other waited for that end (finish to start); a task that
//! started earlier overlapped the other and waited for its start, with the observed lag (start to
//! start).
//!
//! If the predecessors of tasks are not known, probable ones are inferred ([`crate::inferred`]) and
//! marked. If none can be inferred, the result has bounds from times alone (`bounds.rs`), without
//! gains and slack.
//!
//! The time of a task has parts ([`TimePart`]). With all parts as observed, the longest path
//! through the graph ends at the end of the run; the gain of a faster part comes from the longest
//! path with that part divided. The gain is a bound: lags and queue times stay as they were,
//! although other tasks might have used the freed resources.

mod division;
pub mod task_waits;

use flowmine_activity_log::{RunGraph, RunTask};
use flowmine_threads::Beside;
use schemars::JsonSchema;
use serde::Serialize;

use crate::bounds::Timed;
use crate::precedence::{Edge, Network, Schedule, Times};
use crate::stats::Stats;
use crate::who::Who;
use division::Facts;

/// Part of a task's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TimePart {
    /// Before its submission, if its predecessors are not known.
    Unknown,
    /// Before its submission, while the maximum number of tasks ran: all executor slots were taken.
    Slots,
    /// From the end of all its predecessors (or the start of the run) to its first submission.
    Submission,
    /// Attempts before the last one.
    Retry,
    /// A hold, a begin time or a requeue, after its submission and the end of all its predecessors.
    OwnWish,
    /// From the moment when only the cluster delayed its start to its start.
    Queue,
    /// From the end of all its predecessors to its start, if its submission is not known.
    Waiting,
    /// From the start of a task that it overlapped to its own start.
    Lag,
    /// Time in traced reads, while it ran.
    Read,
    /// Time in traced writes, while it ran.
    Write,
    /// The rest of its running time, if reads and writes were traced.
    Compute,
    /// Its running time, if they were not traced, or if the reads and writes of parallel processes
    /// add up to more than the running time.
    Run,
    /// The rest of the time from its start to its end, if its engine measured the running time:
    /// staging, wrappers, and the time until the engine noticed the end.
    Overhead,
    /// From its submission to its end, if its start is not known.
    Turnaround,
}

impl TimePart {
    /// All parts, in the order in which they occur.
    pub const ALL: [Self; 14] = [
        Self::Unknown,
        Self::Slots,
        Self::Submission,
        Self::Retry,
        Self::OwnWish,
        Self::Queue,
        Self::Waiting,
        Self::Lag,
        Self::Read,
        Self::Write,
        Self::Compute,
        Self::Run,
        Self::Overhead,
        Self::Turnaround,
    ];

    /// Returns its name in lower case, such as `submission`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Slots => "slots",
            Self::Submission => "submission",
            Self::Retry => "retry",
            Self::OwnWish => "own_wish",
            Self::Queue => "queue",
            Self::Waiting => "waiting",
            Self::Lag => "lag",
            Self::Read => "read",
            Self::Write => "write",
            Self::Compute => "compute",
            Self::Run => "run",
            Self::Overhead => "overhead",
            Self::Turnaround => "turnaround",
        }
    }

    /// Returns its description, in a few words.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Unknown => "before the submission; what it waited for is not known",
            Self::Slots => "all executor slots were taken: as many tasks ran as ever did",
            Self::Submission => "not submitted, though all that it is known to have waited for had ended",
            Self::Retry => "attempts before the last",
            Self::OwnWish => "not eligible yet: a hold, a begin time or a requeue",
            Self::Queue => "in the queue",
            Self::Waiting => "not started, though all that it is known to have waited for had ended",
            Self::Lag => "behind a task with which it overlapped",
            Self::Read => "reading",
            Self::Write => "writing",
            Self::Compute => "running without reading or writing",
            Self::Run => "running",
            Self::Overhead => "started, outside of the running time that the engine measured",
            Self::Turnaround => "queued and running, when it started is not known",
        }
    }
}

/// Selection of the computed gains.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// Factor by which a part is divided to compute the gain; more than 1.
    pub faster: f64,
    /// Maximum number of parts of activities for which gains are computed, those with most time on
    /// the path first.
    pub most_gains: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { faster: 2.0, most_gains: 30 }
    }
}

/// The critical path of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct CriticalPath {
    /// Name of the run.
    pub run: String,
    /// Word for its nodes: `task` or `job`.
    pub noun: &'static str,
    /// Number of tasks from which the path was computed.
    pub tasks: u64,
    /// First moment at which one of them was ready, submitted or started, in nanoseconds since
    /// 1970; null if no times are known.
    pub begin_ns: Option<i64>,
    /// Time from there to the end of the last task, in nanoseconds.
    pub makespan_ns: Option<i64>,
    /// Sum of the running times of all tasks, in nanoseconds.
    pub work_ns: i64,
    /// Certainty of the dependencies on which the path rests.
    pub certainty: Certainty,
    /// Longest path of running times alone, over known dependencies, in nanoseconds: more machines
    /// cannot make the run shorter.
    pub span_ns: i64,
    /// Longest chain of times from start to end that the times allow, in nanoseconds: with enough
    /// machines the run needs at most this. Null if all dependencies are known; then it is `span_ns`.
    pub most_span_ns: Option<i64>,
    /// Numbers of dependencies by source.
    pub dependencies: Dependencies,
    /// Parts of the run that are not in the result.
    pub left_out: LeftOut,
    /// The tasks on the path, from the first to the last.
    pub path: Vec<Step>,
    /// Sums of each kind of time on the path, the longest first.
    pub parts: Vec<PartTime>,
    /// Gains: how much shorter the run would be for each part that is made faster, largest first.
    pub gains: Vec<Gain>,
    /// Number of parts of activities on the path for which no gain was computed.
    pub more_gains: u64,
    /// The slack of tasks by activity, least first.
    pub slack: Vec<Slack>,
}

/// Dependencies between tasks with times, each pair once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Dependencies {
    /// Declared only.
    pub declared: u64,
    /// Observed only: a task read the output of another.
    pub traced: u64,
    /// Both declared and observed.
    pub both: u64,
    /// Inferred: neither declared nor observed.
    pub inferred: u64,
    /// Of all these, dependencies in which the task overlapped its predecessor.
    pub beside: u64,
}

/// Numbers of tasks and dependencies that the result leaves out, by reason.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LeftOut {
    /// Tasks with unknown start and end, or unknown running time.
    pub tasks_without_times: u64,
    /// Tasks that ended before they started.
    pub tasks_backwards: u64,
    /// Processes that forked others; they may have waited for these all the time.
    pub forked_others: u64,
    /// Dependencies on tasks without a row.
    pub unknown_parents: u64,
    /// Tasks without declared dependencies and without a trace; the dependencies of some are
    /// inferred.
    pub tasks_without_parents: u64,
    /// Dependencies in a cycle.
    pub circular: u64,
    /// Dependencies of tasks that started before their predecessor.
    pub started_before: u64,
    /// Tasks that started before the end of what they waited for, by no more than the precision of
    /// the times. Their running time counts from that end.
    pub started_early: u64,
}

/// Certainty of a critical path.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Certainty {
    /// The predecessors of each task are known.
    #[default]
    Known,
    /// The predecessors of some tasks are inferred.
    Inferred,
    /// The predecessors of some tasks are neither known nor inferred: the path begins at such a
    /// task, and gains and slack cannot be computed.
    Partial,
}

/// Reason why a task did not start earlier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum After {
    /// None: it depends on no task.
    Begin,
    /// The end of the previous task, as declared.
    Declared,
    /// The end of the previous task, the output of which this one read.
    Traced,
    /// The start of the previous task, which it overlapped.
    Beside,
    /// The end of the previous task, as inferred: see `confidence`.
    Inferred,
    /// Its predecessors are not known.
    Unknown,
}

/// A task on the critical path.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Step {
    /// Index among the tasks of the run.
    #[serde(skip)]
    pub place: u32,
    /// Name of the task.
    pub task: String,
    /// Identity of the task.
    pub who: Who,
    /// Name of its activity.
    pub activity: String,
    /// Reason why it did not start earlier.
    pub after: After,
    /// Confidence that it waited for the previous task, between 0 and 1; null for the first task.
    pub confidence: Option<f64>,
    /// Start of its part of the path, in nanoseconds from the start of the run.
    pub from_ns: i64,
    /// End of its part, or the start of the lag of the next task if that overlapped it, in
    /// nanoseconds from the start of the run.
    pub to_ns: i64,
    /// The parts of its time that lie on the path, in the order in which they occur.
    pub parts: Vec<PartTime>,
}

/// Time of one kind, of a task or of the whole path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PartTime {
    /// Kind of time.
    pub part: TimePart,
    /// Duration, in nanoseconds. Negative if clocks are not exact.
    pub time_ns: i64,
}

/// Gain: how much shorter the run would be with a faster part.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Gain {
    /// Name of the activity with the faster part; null for all activities.
    pub activity: Option<String>,
    /// The part of its time that is made faster.
    pub part: TimePart,
    /// Time of this part on the critical path, in nanoseconds.
    pub on_path_ns: i64,
    /// Time by which the run is shorter if the part is divided by `factor`, in nanoseconds.
    pub gain_ns: i64,
    /// The factor by which the part is divided.
    pub factor: f64,
    /// Time by which the run is shorter if the part takes no time, in nanoseconds.
    pub most_ns: i64,
}

/// Slack of an activity: how much later its tasks could have ended without making the run longer.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Slack {
    /// Name of the activity.
    pub activity: String,
    /// Number of its tasks without slack.
    pub critical: u64,
    /// Slack of its tasks, in nanoseconds.
    pub slack_ns: Option<Stats>,
}

/// Time of each task by part: one column for each part, in the order of [`TimePart::ALL`].
type Parts = Vec<[i64; TimePart::ALL.len()]>;

const LAG: usize = TimePart::Lag as usize;

/// Finds the critical path of a run, its gains, and the slack of the other tasks.
pub fn discover(run: &RunGraph, options: &Options) -> CriticalPath {
    let mut found = CriticalPath { run: run.name.clone(), noun: run.noun, ..CriticalPath::default() };
    found.left_out.unknown_parents = run.unknown_parents;
    let chosen = Chosen::new(run, &mut found.left_out);
    let mut edges = edges(run, &chosen, &mut found);
    let (known, circular) = Network::new(chosen.tasks.len(), edges.clone());
    found.left_out.circular += circular;
    let before = edges.len();
    put_inferred(run, &chosen, &mut edges);
    found.dependencies.inferred = (edges.len() - before) as u64;
    let (network, _) = Network::new(chosen.tasks.len(), edges);
    let lengths: Parts = chosen.tasks.iter().map(|task| put_run(task, chosen.length(task))).collect();
    let parts = parts(&chosen, &network, &lengths, &mut found.left_out);
    let schedule = network.schedule(&times(&parts));
    found.tasks = chosen.tasks.len() as u64;
    found.begin_ns = chosen.begin_ns;
    found.makespan_ns = chosen.begin_ns.map(|_| schedule.end_ns);
    found.work_ns = flowmine_sums::total(lengths.iter().map(running));
    found.certainty = match found.left_out.tasks_without_parents {
        0 => Certainty::Known,
        _ if (0..).zip(&chosen.known).all(|(at, known)| *known || network.waits_for(at).next().is_some()) => Certainty::Inferred,
        _ => Certainty::Partial,
    };
    found.span_ns = span(&known, &lengths);
    if found.certainty != Certainty::Known {
        found.most_span_ns = Some(most_span(&chosen, &known, &lengths).max(found.span_ns));
    }
    steps(run, &chosen, &network, &schedule, &parts, &mut found);
    if found.certainty != Certainty::Partial {
        gains(&chosen, &network, &schedule, &parts, options, &mut found);
        found.slack = slack(&chosen, &network, &schedule, &parts);
    }
    found
}

/// Returns whether the predecessors of a task are known: from records, or because no task had ended
/// at its submission.
fn is_known(task: &RunTask, first_end: Option<i64>) -> bool {
    let submitted = task.submitted_ns.or(task.started_ns);
    let nothing_ended = || submitted.zip(first_end).is_some_and(|(at, end)| at.saturating_add(task.order_precision_ns) < end);
    task.parents_known || task.traced || nothing_ended()
}

/// Tasks with times, from which the path is computed.
struct Chosen<'r> {
    tasks: Vec<&'r RunTask>,
    /// Index of each of them among the tasks of the run.
    of_run: Vec<u32>,
    /// Index of each task of the run among them.
    place: Vec<Option<u32>>,
    /// Whether the predecessors of each are known.
    known: Vec<bool>,
    begin_ns: Option<i64>,
    noun: &'static str,
}

impl<'r> Chosen<'r> {
    fn new(run: &'r RunGraph, left_out: &mut LeftOut) -> Self {
        let timed = run.tasks.iter().any(|task| !task.forked_others && bounds(task).is_some());
        let mut chosen = Self {
            tasks: Vec::new(),
            of_run: Vec::new(),
            place: vec![None; run.tasks.len()],
            known: Vec::new(),
            begin_ns: None,
            noun: run.noun,
        };
        // Any task with unknown times may have ended first.
        let ends: Option<Vec<i64>> = run.tasks.iter().map(|task| bounds(task).map(|(_, end)| end)).collect();
        let first_end = ends.and_then(|ends| ends.into_iter().min());
        for (at, (task, place)) in (0..).zip(run.tasks.iter().zip(&mut chosen.place)) {
            if task.forked_others {
                left_out.forked_others += 1;
                continue;
            }
            let known = if timed { bounds(task).is_some() } else { run_time(task).is_some() };
            if !known {
                left_out.tasks_without_times += 1;
                continue;
            }
            if bounds(task).is_some_and(|(start, end)| end < start) {
                left_out.tasks_backwards += 1;
                continue;
            }
            let known = is_known(task, first_end);
            left_out.tasks_without_parents += u64::from(!known);
            *place = Some(chosen.tasks.len() as u32);
            chosen.known.push(known);
            chosen.tasks.push(task);
            chosen.of_run.push(at);
        }
        if timed {
            let first = |task: &&RunTask| {
                [task.first_ns, task.submitted_ns, task.started_ns].into_iter().flatten().filter(|ns| ns.unsigned_abs() < FARTHEST_NS).min()
            };
            chosen.begin_ns = chosen.tasks.iter().filter_map(first).min();
        }
        chosen
    }
}

impl Chosen<'_> {
    /// Returns the time from the start of a task to its end; its running time if no times are known.
    fn length(&self, task: &RunTask) -> i64 {
        match self.begin_ns {
            Some(_) => bounds(task).map_or(0, |(start, end)| end.saturating_sub(start)),
            None => run_time(task).unwrap_or(0),
        }
    }
}

/// Times more than 126 years from 1970 are treated as unknown, so that differences cannot overflow.
const FARTHEST_NS: u64 = 4_000_000_000_000_000_000;

/// Returns start and end of a task; its submission if its start is not known.
fn bounds(task: &RunTask) -> Option<(i64, i64)> {
    let sane = |ns: &i64| ns.unsigned_abs() < FARTHEST_NS;
    task.started_ns.or(task.submitted_ns).filter(sane).zip(task.finished_ns.filter(sane))
}

fn run_time(task: &RunTask) -> Option<i64> {
    task.run_time_ns.filter(|ns| (0..FARTHEST_NS as i64).contains(ns))
}

/// Returns the dependencies, each pair once, ascending.
fn edges(run: &RunGraph, chosen: &Chosen<'_>, found: &mut CriticalPath) -> Vec<Edge> {
    let place = |task: u32| chosen.place.get(task as usize).copied().flatten();
    let declared = run.declared.iter().map(|of| (of.from, of.to, true, of.for_start));
    let traced = run.flows.iter().filter_map(|flow| flow.pair()).map(|(from, to)| (from, to, false, false));
    let mut pairs: Vec<(u32, u32, bool, bool)> = declared
        .chain(traced)
        .filter_map(|(from, to, declared, for_start)| Some((place(from)?, place(to)?, declared, for_start)))
        .collect();
    pairs.sort_unstable();
    pairs.dedup();
    let mut edges = Vec::new();
    for same in pairs.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        let Some(&(from, to, ..)) = same.first() else { continue };
        if from == to {
            found.left_out.circular += 1;
            continue;
        }
        let is_declared = same.iter().any(|pair| pair.2);
        let is_traced = same.iter().any(|pair| !pair.2);
        // Only a dependency that is declared and not observed can wait for a start alone.
        let for_start = same.iter().all(|pair| pair.3);
        let Some(lag_ns) = lag(chosen.tasks[from as usize], chosen.tasks[to as usize], for_start) else {
            found.left_out.started_before += 1;
            continue;
        };
        let of = &mut found.dependencies;
        let count = match (is_declared, is_traced) {
            (true, true) => &mut of.both,
            (true, false) => &mut of.declared,
            (false, _) => &mut of.traced,
        };
        *count += 1;
        of.beside += u64::from(lag_ns.is_some());
        edges.push(Edge { from, to, declared: is_declared, confidence_percent: 100, lag_ns });
    }
    edges
}

/// Adds the probable predecessors of tasks without known ones.
fn put_inferred(run: &RunGraph, chosen: &Chosen<'_>, edges: &mut Vec<Edge>) {
    let known: std::collections::BTreeSet<(u32, u32)> = edges.iter().map(|edge| (edge.from, edge.to)).collect();
    let place = |task: u32| chosen.place.get(task as usize).copied().flatten();
    for of in crate::inferred::predecessors(run) {
        if let (Some(from), Some(to)) = (place(of.from), place(of.to))
            && !known.contains(&(from, to))
        {
            edges.push(Edge { from, to, declared: false, confidence_percent: of.confidence_percent, lag_ns: None });
        }
    }
}

/// Returns the kind of a dependency: `Some(None)` if it waited for the end, `Some(Some(lag))` for
/// the start, `None` if it started before.
#[expect(clippy::option_option, reason = "the two answers are different questions")]
fn lag(from: &RunTask, to: &RunTask, for_start: bool) -> Option<Option<i64>> {
    let (Some((from_start, from_end)), Some((to_start, _))) = (bounds(from), bounds(to)) else { return Some(None) };
    let unsure = from.precision_ns.saturating_add(to.precision_ns);
    if !for_start && to_start >= from_end.saturating_sub(unsure) {
        return Some(None);
    }
    (to_start >= from_start).then(|| Some(to_start - from_start))
}

/// Divides the time of each task into parts.
fn parts(chosen: &Chosen<'_>, network: &Network, lengths: &Parts, left_out: &mut LeftOut) -> Parts {
    let Some(begin) = chosen.begin_ns else { return lengths.clone() };
    let full = full_slots(chosen);
    let mut all = Parts::with_capacity(chosen.tasks.len());
    for (at, length) in (0u32..).zip(lengths) {
        let mut of = *length;
        for span in facts(chosen, network, at, begin, &full).iter().flat_map(division::before) {
            flowmine_sums::add_to(&mut of[span.part as usize], span.len_ns());
        }
        left_out.started_early += u64::from(clamp(&mut of));
        all.push(of);
    }
    all
}

/// Moves the start of a task to the end of what it waited for, if times that are not exact have it
/// earlier: no wait is shorter than nothing. Returns whether it did.
fn clamp(of: &mut [i64; TimePart::ALL.len()]) -> bool {
    let mut early = of[..LAG].iter().fold(0i64, |sum, ns| sum.saturating_add(*ns)).min(0).saturating_neg();
    if early == 0 {
        return false;
    }
    of[..LAG].fill(0);
    for part in [TimePart::Overhead, TimePart::Run, TimePart::Turnaround, TimePart::Compute, TimePart::Read, TimePart::Write] {
        let taken = early.min(of[part as usize].max(0));
        of[part as usize] -= taken;
        early -= taken;
    }
    // It ended before that, too: then the parts of the path are longer than the run.
    true
}

/// Returns the intervals in which all executor slots were taken; none for jobs, which have no
/// executor with slots.
fn full_slots(chosen: &Chosen<'_>) -> Vec<(i64, i64)> {
    if chosen.noun != "task" {
        return Vec::new();
    }
    crate::slots::full(chosen.tasks.iter().filter_map(|task| task.started_ns.zip(task.finished_ns)))
}

/// Returns the facts about the wait of a task; `None` if it waited only for the starts of others.
fn facts<'f>(chosen: &'f Chosen<'_>, network: &Network, at: u32, begin_ns: i64, full: &'f [(i64, i64)]) -> Option<Facts<'f>> {
    let task = chosen.tasks[at as usize];
    let waited_for = network.waits_for(at).filter(|edge| edge.lag_ns.is_none());
    let ready_ns = waited_for.filter_map(|edge| chosen.tasks[edge.from as usize].finished_ns).max();
    let beside = network.waits_for(at).any(|edge| edge.lag_ns.is_some());
    let start_ns = bounds(task).unwrap_or_default().0;
    let is_known = chosen.known[at as usize];
    (ready_ns.is_some() || !beside).then_some(Facts { task, ready_ns, is_known, begin_ns, start_ns, full })
}

fn put_run(task: &RunTask, run_ns: i64) -> [i64; TimePart::ALL.len()] {
    let mut of = [0; TimePart::ALL.len()];
    if task.started_ns.is_none() && task.submitted_ns.is_some() {
        of[TimePart::Turnaround as usize] = run_ns;
        return of;
    }
    // The running time of all models: what the engine measured, otherwise from start to end.
    let whole_ns = run_ns;
    let run_ns = run_time(task).filter(|measured| *measured <= whole_ns).unwrap_or(whole_ns);
    of[TimePart::Overhead as usize] = whole_ns - run_ns;
    let io = task.read_ns.zip(task.write_ns).filter(|(read, write)| read.saturating_add(*write) <= run_ns);
    match io {
        Some((read, write)) => {
            of[TimePart::Read as usize] = read;
            of[TimePart::Write as usize] = write;
            of[TimePart::Compute as usize] = run_ns - read - write;
        }
        None => of[TimePart::Run as usize] = run_ns,
    }
    of
}

/// Returns the running time of a task.
fn running(of: &[i64; TimePart::ALL.len()]) -> i64 {
    from_start(of) - of[TimePart::Overhead as usize]
}

/// Returns the time from the start of a task to its end.
fn from_start(of: &[i64; TimePart::ALL.len()]) -> i64 {
    of[LAG + 1..].iter().sum()
}

fn times(parts: &Parts) -> Times {
    Times { before_ns: parts.iter().map(|of| of[..LAG].iter().sum()).collect(), run_ns: parts.iter().map(from_start).collect() }
}

/// Returns the longest path of running times.
fn span(network: &Network, parts: &Parts) -> i64 {
    let run_ns: Vec<i64> = parts.iter().map(running).collect();
    network.schedule(&Times { before_ns: vec![0; run_ns.len()], run_ns }).end_ns
}

/// Returns the longest chain of running times that the times allow: a task without known
/// predecessors may have waited for any task that ended before its submission.
fn most_span(chosen: &Chosen<'_>, known: &Network, parts: &Parts) -> i64 {
    let worst = chosen.tasks.iter().map(|task| task.order_precision_ns).max().unwrap_or(0);
    let tasks: Vec<Timed> = (0u32..)
        .zip(chosen.tasks.iter().zip(parts))
        .filter_map(|(at, (task, of))| {
            let (start, end) = bounds(task)?;
            let unsure = task.order_precision_ns.saturating_add(worst);
            let waits = task.submitted_ns.unwrap_or(start).min(start).saturating_add(unsure);
            Some(Timed {
                at,
                start_ns: start,
                end_ns: end,
                waits_until_ns: (!chosen.known[at as usize]).then_some(waits),
                run_ns: from_start(of),
            })
        })
        .collect();
    crate::bounds::longest_chain(&tasks, known)
}

/// Walks back from the task that ended last.
fn steps(run: &RunGraph, chosen: &Chosen<'_>, network: &Network, schedule: &Schedule, parts: &Parts, found: &mut CriticalPath) {
    let mut sums = [0i64; TimePart::ALL.len()];
    let mut next = schedule.last;
    // If the next task overlapped this one, only the time before the start of the next one counts.
    let mut until: Option<i64> = None;
    while let Some(at) = next {
        let task = chosen.tasks[at as usize];
        let why = schedule.after[at as usize].map(|edge| network.edge(edge));
        let mut of = parts[at as usize];
        let start = schedule.start_ns[at as usize];
        let lag = why.and_then(|edge| edge.lag_ns);
        let from_ns = match lag {
            Some(lag) => {
                of[..LAG].fill(0);
                of[LAG] = lag;
                start - lag
            }
            None => start - of[..LAG].iter().sum::<i64>(),
        };
        if until.is_some() {
            of[LAG + 1..].fill(0);
        }
        let to_ns = until.unwrap_or(start + from_start(&of));
        let times: Vec<PartTime> =
            TimePart::ALL.into_iter().zip(of).filter(|(_, ns)| *ns != 0).map(|(part, time_ns)| PartTime { part, time_ns }).collect();
        for (sum, ns) in sums.iter_mut().zip(of) {
            flowmine_sums::add_to(sum, ns);
        }
        let after = match why {
            None if !chosen.known[at as usize] => After::Unknown,
            None => After::Begin,
            Some(edge) if edge.confidence_percent < 100 => After::Inferred,
            Some(edge) if edge.lag_ns.is_some() => After::Beside,
            Some(edge) if edge.declared => After::Declared,
            Some(_) => After::Traced,
        };
        let confidence = why.map(|edge| f64::from(edge.confidence_percent) / 100.0);
        let place = chosen.of_run[at as usize];
        let (name, who) = (task.name.clone(), Who::of_task(run, task));
        found.path.push(Step { place, task: name, who, activity: task.activity.clone(), after, confidence, from_ns, to_ns, parts: times });
        until = lag.map(|lag| start - lag);
        next = why.map(|edge| edge.from);
    }
    found.path.reverse();
    found.parts =
        TimePart::ALL.into_iter().zip(sums).filter(|(_, ns)| *ns != 0).map(|(part, time_ns)| PartTime { part, time_ns }).collect();
    found.parts.sort_by_key(|of| std::cmp::Reverse(of.time_ns));
}

/// Computes the gain of each part of each activity on the path, and of each part over all
/// activities.
fn gains(chosen: &Chosen<'_>, network: &Network, schedule: &Schedule, parts: &Parts, options: &Options, found: &mut CriticalPath) {
    let mut on_path: std::collections::BTreeMap<(Option<&str>, TimePart), i64> = std::collections::BTreeMap::new();
    for step in &found.path {
        for of in step.parts.iter().filter(|of| of.part != TimePart::Lag && of.time_ns > 0) {
            *on_path.entry((Some(step.activity.as_str()), of.part)).or_default() += of.time_ns;
            *on_path.entry((None, of.part)).or_default() += of.time_ns;
        }
    }
    let mut candidates: Vec<((Option<&str>, TimePart), i64)> = on_path.into_iter().collect();
    candidates.sort_by_key(|(key, ns)| (std::cmp::Reverse(*ns), *key));
    found.more_gains = candidates.len().saturating_sub(options.most_gains) as u64;
    candidates.truncate(options.most_gains);
    let end_with = |activity: Option<&str>, part: TimePart, factor: f64| {
        let mut times = times(parts);
        for (at, (task, of)) in chosen.tasks.iter().zip(parts).enumerate() {
            let saved = of[part as usize].max(0);
            if activity.is_none_or(|activity| task.activity == activity) && saved > 0 {
                let saved = saved - (saved as f64 / factor) as i64;
                let sum = if (part as usize) < LAG { &mut times.before_ns } else { &mut times.run_ns };
                sum[at] -= saved;
            }
        }
        network.schedule(&times).end_ns
    };
    let gain = |&((activity, part), on_path_ns): &((Option<&str>, TimePart), i64)| Gain {
        activity: activity.map(str::to_owned),
        part,
        on_path_ns,
        gain_ns: schedule.end_ns - end_with(activity, part, options.faster),
        factor: options.faster,
        most_ns: schedule.end_ns - end_with(activity, part, f64::INFINITY),
    };
    let threads = flowmine_threads::count(candidates.len());
    let mut gains: Vec<Gain> = std::thread::scope(|scope| {
        let share = candidates.len().div_ceil(threads).max(1);
        let gains = |some: &[_]| some.iter().map(gain).collect::<Vec<_>>();
        let works: Vec<_> = candidates.chunks(share).map(|some| flowmine_threads::beside(scope, move || gains(some))).collect();
        works.into_iter().flat_map(Beside::join).collect()
    });
    gains.sort_by(|a, b| {
        (b.gain_ns, b.most_ns).cmp(&(a.gain_ns, a.most_ns)).then_with(|| (&a.activity, a.part).cmp(&(&b.activity, b.part)))
    });
    found.gains = gains;
}

/// Returns the slack of tasks by activity, those with the least slack first.
fn slack(chosen: &Chosen<'_>, network: &Network, schedule: &Schedule, parts: &Parts) -> Vec<Slack> {
    let slack = network.slack(&times(parts), schedule);
    let mut by_activity: std::collections::BTreeMap<&str, Vec<i64>> = std::collections::BTreeMap::new();
    for (task, ns) in chosen.tasks.iter().zip(slack) {
        by_activity.entry(&task.activity).or_default().push(ns);
    }
    let mut all: Vec<Slack> = by_activity
        .into_iter()
        .map(|(activity, mut ns)| Slack {
            activity: activity.to_owned(),
            critical: ns.iter().filter(|ns| **ns <= 0).count() as u64,
            slack_ns: Stats::new(&mut ns),
        })
        .collect();
    all.sort_by(|a, b| {
        let least = |of: &Slack| of.slack_ns.map(|stats| stats.min);
        (least(a), &a.activity).cmp(&(least(b), &b.activity))
    });
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use flowmine_activity_log::{Declared, FileFlow, LogicalParent};
    use proptest::prelude::*;

    pub(super) const S: i64 = 1_000_000_000;

    /// Returns a task with these times of submission, start and end, in seconds.
    pub(super) fn task(name: &str, submitted: i64, started: i64, finished: i64) -> RunTask {
        RunTask {
            name: name.to_owned(),
            activity: name.to_owned(),
            attempts: 1,
            first_ns: Some(submitted * S),
            submitted_ns: Some(submitted * S),
            started_ns: Some(started * S),
            finished_ns: Some(finished * S),
            parents_known: true,
            ..RunTask::default()
        }
    }

    pub(super) fn run(tasks: Vec<RunTask>, declared: &[(u32, u32)]) -> RunGraph {
        let declared = declared.iter().map(|&(from, to)| Declared { from, to, for_start: false }).collect();
        RunGraph { noun: "task", tasks, declared, ..RunGraph::default() }
    }

    fn names(found: &CriticalPath) -> Vec<(&str, After)> {
        found.path.iter().map(|step| (step.task.as_str(), step.after)).collect()
    }

    fn time(found: &CriticalPath, part: TimePart) -> i64 {
        found.parts.iter().find(|of| of.part == part).map_or(0, |of| of.time_ns / S)
    }

    #[test]
    fn the_path_is_what_was_waited_for() {
        // a and b at once; c waits for both, is submitted a second later, queues for two, and had
        // failed once.
        let mut c = task("c", 14, 16, 20);
        c.attempts = 2;
        c.first_ns = Some(11 * S);
        (c.read_ns, c.write_ns) = (Some(S), Some(2 * S));
        let found = discover(&run(vec![task("a", 0, 0, 10), task("b", 0, 1, 4), c], &[(0, 2), (1, 2)]), &Options::default());
        assert_eq!(names(&found), [("a", After::Begin), ("c", After::Declared)]);
        assert_eq!(found.makespan_ns, Some(20 * S));
        let of = |part| time(&found, part);
        let parts =
            [TimePart::Submission, TimePart::Retry, TimePart::Queue, TimePart::Read, TimePart::Write, TimePart::Compute, TimePart::Run]
                .map(of);
        assert_eq!(parts, [1, 3, 2, 1, 2, 1, 10]);
        assert_eq!(found.parts.iter().map(|of| of.time_ns).sum::<i64>(), 20 * S);
        let slack: Vec<(&str, i64)> = found.slack.iter().map(|of| (of.activity.as_str(), of.slack_ns.unwrap().min / S)).collect();
        assert_eq!(slack, [("a", 0), ("c", 0), ("b", 6)]);
        // a twice as fast: c can start 5 s earlier, because b has ended by then.
        let a = found.gains.iter().find(|gain| gain.activity.as_deref() == Some("a")).unwrap();
        assert_eq!((a.part, a.gain_ns / S, a.most_ns / S), (TimePart::Run, 5, 6));
        // The longest chain of running times: a, then c.
        assert_eq!((found.span_ns / S, found.work_ns / S), (14, 17));
    }

    /// The engine measured 7 of the 10 s between start and end of a task.
    #[test]
    fn running_time_is_what_the_engine_measured() {
        let (mut a, mut b) = (task("a", 0, 0, 10), task("b", 10, 11, 15));
        a.run_time_ns = Some(7 * S);
        // Longer than from start to end: the parts still add up to the makespan.
        b.run_time_ns = Some(6 * S);
        let found = discover(&run(vec![a, b], &[(0, 1)]), &Options::default());
        assert_eq!([TimePart::Run, TimePart::Overhead, TimePart::Queue].map(|part| time(&found, part)), [11, 3, 1]);
        assert_eq!((found.makespan_ns, found.span_ns / S, found.work_ns / S), (Some(15 * S), 11, 11));
    }

    /// A log with whole seconds next to one with milliseconds.
    #[test]
    fn no_wait_is_shorter_than_nothing() {
        let mut a = task("a", 0, 0, 10);
        let mut b = task("b", 9, 9, 15);
        (a.precision_ns, b.precision_ns) = (S / 2, S / 2);
        let found = discover(&run(vec![a, b], &[(0, 1)]), &Options::default());
        assert_eq!(names(&found), [("a", After::Begin), ("b", After::Declared)]);
        assert_eq!((found.makespan_ns, found.left_out.started_early), (Some(15 * S), 1));
        assert_eq!((found.parts.len(), time(&found, TimePart::Run)), (1, 15), "{found:?}");
    }

    #[test]
    fn who_ran_beside_another_waited_for_its_start() {
        let mut streaming = run(vec![task("make", 0, 2, 10), task("use", 3, 3, 12)], &[]);
        streaming.files.push("/w/pipe");
        streaming.flows.push(FileFlow {
            file: 0,
            version: 0,
            writer: 0,
            was_there: false,
            reader: 1,
            read_outside: false,
            written_bytes: 1,
            read_bytes: 1,
            ..FileFlow::default()
        });
        let found = discover(&streaming, &Options::default());
        assert_eq!(names(&found), [("make", After::Begin), ("use", After::Beside)]);
        let sums = [TimePart::Queue, TimePart::Lag, TimePart::Run].map(|part| time(&found, part));
        assert_eq!((sums, found.dependencies.beside), ([2, 1, 9], 1));
        assert_eq!(found.parts.iter().map(|of| of.time_ns).sum::<i64>(), 12 * S);
    }

    #[test]
    fn what_cannot_be_is_left_out_and_counted() {
        let mut odd = run(
            vec![task("a", 0, 0, 1), task("b", 0, 1, 2), task("early", 0, -5, 3), RunTask::default(), task("back", 0, 9, 8)],
            &[(0, 1), (1, 0), (0, 2)],
        );
        odd.unknown_parents = 1;
        odd.tasks[0].started_ns = Some(i64::MIN);
        let found = discover(&odd, &Options::default());
        assert_eq!((found.tasks, found.left_out.tasks_without_times, found.left_out.tasks_backwards), (2, 2, 1));
        assert_eq!(found.left_out.unknown_parents, 1);
        assert_eq!(discover(&RunGraph::default(), &Options::default()).path, []);
    }

    /// Dependencies by definition: after an end, or with a lag after a start.
    fn waits(from: &RunTask, to: &RunTask, for_start: bool) -> Option<Option<i64>> {
        let (begin, end, start) = (from.started_ns?, from.finished_ns?, to.started_ns?);
        match () {
            () if start >= end && !for_start => Some(None),
            () if start >= begin => Some(Some(start - begin)),
            () => None,
        }
    }

    /// Computes the start of a task by trying every path to it, with running times alone.
    fn start_by_hand(at: usize, tasks: &[RunTask], edges: &[(usize, usize, bool)]) -> i64 {
        let of = edges.iter().filter(|(_, to, _)| *to == at).filter_map(|&(from, to, for_start)| {
            let start = start_by_hand(from, tasks, edges);
            let run = tasks[from].finished_ns.unwrap() - tasks[from].started_ns.unwrap();
            waits(&tasks[from], &tasks[to], for_start).map(|lag| start + lag.unwrap_or(run))
        });
        of.max().unwrap_or(0)
    }

    #[test]
    fn what_nobody_recorded_gives_bounds_and_no_gains() {
        let unknown =
            |name: &str, submitted, started, finished| RunTask { parents_known: false, ..task(name, submitted, started, finished) };
        // a and b start before anything has ended; c starts after a, d after both.
        let tasks = vec![unknown("a", 0, 0, 10), unknown("b", 1, 1, 30), unknown("c", 12, 12, 14), unknown("d", 40, 41, 50)];
        let found = discover(&run(tasks, &[]), &Options::default());
        assert_eq!((found.certainty, found.left_out.tasks_without_parents), (Certainty::Partial, 2));
        assert_eq!((found.span_ns / S, found.most_span_ns.unwrap() / S), (29, 38), "b alone, or b and then d");
        assert_eq!(names(&found), [("d", After::Unknown)]);
        assert_eq!([TimePart::Unknown, TimePart::Submission, TimePart::Queue, TimePart::Run].map(|part| time(&found, part)), [40, 0, 1, 9]);
        assert_eq!((found.gains.len(), found.slack.len()), (0, 0), "nothing follows of gains");
    }

    #[test]
    fn a_path_of_inferred_dependencies_says_so() {
        let of = |name: &str, above: &[&str], submitted, finished| RunTask {
            parents_known: false,
            logical_parents: Some(above.iter().map(|name| LogicalParent { activity: (*name).to_owned(), each: true }).collect()),
            ..task(name, submitted, submitted, finished)
        };
        let found = discover(&run(vec![of("a", &[], 0, 10), of("b", &["a"], 12, 20)], &[]), &Options::default());
        assert_eq!(names(&found), [("a", After::Begin), ("b", After::Inferred)]);
        assert_eq!((found.certainty, found.dependencies.inferred, found.path[1].confidence), (Certainty::Inferred, 1, Some(0.95)));
        assert!(!found.gains.is_empty(), "it carries gains");
    }

    #[test]
    fn a_task_that_waits_for_a_slot_is_not_slow_to_be_submitted() {
        // Two at once, of a hundred that depend on nothing.
        let tasks: Vec<RunTask> = (0..100).map(|at| task(&format!("t{at}"), at / 2 * 10, at / 2 * 10, at / 2 * 10 + 10)).collect();
        let found = discover(&run(tasks, &[]), &Options::default());
        assert_eq!([TimePart::Slots, TimePart::Submission].map(|part| time(&found, part)), [490, 0]);
    }

    proptest! {
        /// Random workflows with retries, pipes and tasks that overlap: the span is the longest of
        /// all paths, and each task of the path waited for the previous one.
        #[test]
        fn the_longest_way_is_that_of_trying_all(
            times in prop::collection::vec((0i64..40, 1i64..25, 0i64..5, 1u32..4), 1..9),
            declared in prop::collection::vec((0u32..9, 0u32..9, any::<bool>()), 0..10),
            read in prop::collection::vec((0u32..9, 0u32..9), 0..10),
        ) {
            let count = times.len() as u32;
            let tasks: Vec<RunTask> = times
                .iter()
                .enumerate()
                .map(|(at, (start, run, queue, attempts))| {
                    let mut of = task(&format!("t{at}"), (start - queue).max(0), *start, start + run);
                    (of.attempts, of.first_ns) = (*attempts, Some((start - 2 * queue).max(0) * S));
                    of
                })
                .collect();
            let mut graph = run(tasks.clone(), &[]);
            // Only forwards, so that there is no cycle.
            graph.declared = declared.iter().map(|(a, b, start)| Declared { from: a % count, to: b % count, for_start: *start }).filter(|of| of.from < of.to).collect();
            graph.declared.sort_unstable();
            graph.declared.dedup_by_key(|of| (of.from, of.to));
            graph.files.push("/w/pipe");
            for (version, (writer, reader)) in (0..).zip(read.iter().map(|(a, b)| (a % count, b % count)).filter(|(a, b)| a < b)) {
                graph.flows.push(FileFlow { version, writer, reader, written_bytes: 1, read_bytes: 1, ..FileFlow::default() });
            }
            let mut edges: Vec<(usize, usize, bool)> = graph.flows.iter().map(|flow| (flow.writer as usize, flow.reader as usize, false)).collect();
            // A task that also read from it waited for its end if possible.
            edges.extend(
                graph.declared.iter().map(|of| (of.from as usize, of.to as usize, of.for_start)).filter(|of| !edges.contains(&(of.0, of.1, false))).collect::<Vec<_>>(),
            );
            let end = |at: usize| start_by_hand(at, &tasks, &edges) + tasks[at].finished_ns.unwrap() - tasks[at].started_ns.unwrap();
            let wanted = (0..tasks.len()).map(end).max().unwrap();
            let found = discover(&graph, &Options::default());
            prop_assert_eq!(found.span_ns, wanted);
            let last = tasks.iter().filter_map(|task| task.finished_ns).max().unwrap();
            prop_assert_eq!(found.path.last().map(|step| step.to_ns + found.begin_ns.unwrap()), Some(last));
            for two in found.path.windows(2) {
                let (from, to) = (two[0].place as usize, two[1].place as usize);
                let edge = edges.iter().find(|of| (of.0, of.1) == (from, to));
                prop_assert!(edge.is_some_and(|&(from, to, start)| waits(&tasks[from], &tasks[to], start).is_some()));
                prop_assert_eq!(two[0].to_ns, two[1].from_ns);
            }
            prop_assert_eq!(found.path.iter().map(|step| step.to_ns - step.from_ns).sum::<i64>(), last - found.begin_ns.unwrap());
        }
    }

    proptest! {
        /// For any times, the path is as long as the run, its parts add up to it, and no faster
        /// part makes it longer.
        #[test]
        fn the_parts_add_up(
            times in prop::collection::vec((0i64..30, 0i64..10, 0i64..10, 0i64..20), 1..12),
            picked in prop::collection::vec((0u32..12, 0u32..12), 0..20),
        ) {
            let count = times.len() as u32;
            let tasks: Vec<RunTask> = times
                .iter()
                .enumerate()
                .map(|(at, (submit, queue, lead, run))| {
                    let mut of = task(&format!("t{at}"), *submit, submit + queue, submit + queue + run);
                    of.first_ns = Some((submit - lead).max(0) * S);
                    of.attempts = 1 + (lead % 2) as u32;
                    of
                })
                .collect();
            let end = tasks.iter().filter_map(|task| task.finished_ns).max().unwrap();
            let mut edges: Vec<(u32, u32)> = picked.into_iter().map(|(a, b)| (a % count, b % count)).collect();
            edges.sort_unstable();
            edges.dedup();
            let found = discover(&run(tasks, &edges), &Options::default());
            let begin = found.begin_ns.unwrap();
            prop_assert_eq!(found.makespan_ns, Some(end - begin));
            prop_assert_eq!(found.parts.iter().map(|of| of.time_ns).sum::<i64>(), end - begin);
            prop_assert_eq!(found.path.last().map(|step| step.to_ns), Some(end - begin));
            prop_assert!(found.path.windows(2).all(|two| two[0].to_ns == two[1].from_ns));
            prop_assert!(found.span_ns <= end - begin);
            prop_assert!(found.gains.iter().all(|gain| 0 <= gain.gain_ns && gain.gain_ns <= gain.most_ns && gain.most_ns <= gain.on_path_ns));
            prop_assert!(found.slack.iter().filter_map(|of| of.slack_ns).all(|stats| stats.min >= 0));
        }
    }
}

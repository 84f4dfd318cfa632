//! What is learnt of a logical task from all its instances: how long it works, when of that it
//! reads and writes what, what its time goes to.

use std::collections::BTreeMap;

use flowmine_activity_log::{Curve, NONE, TracedRun, TracedTask};

use super::scale::Scale;
use super::shape::{Joined, Shape};

/// An instance of a logical task.
#[derive(Clone, Copy)]
struct Seen<'r> {
    run: &'r TracedRun,
    at: usize,
}

impl<'r> Seen<'r> {
    fn task(&self) -> &'r TracedTask {
        &self.run.tasks[self.at]
    }
}

/// The other end of an input or output: a logical task, or none of the run.
pub(super) type Role = Option<String>;

/// What a task's time goes to. One goes to another step by step; each piece of the work is put down
/// to what takes most of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pace {
    /// Its processes are on a processor.
    Cpu,
    /// Its processes read or write files.
    Files,
    /// Its processes are ready to run, and others have the processors.
    Queue,
    /// None of these: the network, pipes, locks, sleep.
    Elsewhere,
    /// Nothing was traced that would show it.
    Unknown,
}

impl Pace {
    /// What the resource is called in a model.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Files => "files",
            Self::Queue => "waiting for a processor",
            Self::Elsewhere => "elsewhere",
            Self::Unknown => "run time",
        }
    }
}

/// An input or output of a logical task.
#[derive(Debug, Clone)]
pub(super) struct End {
    pub shape: Shape,
    /// Bytes by the other end, as a share: for an input of the bytes that the other wrote for it,
    /// for an output of all written bytes.
    pub share: f64,
    /// Whether each other end has bytes of its own, instead of equal ones.
    pub apart: bool,
}

/// What was learnt of a logical task from its instances.
#[derive(Debug, Clone)]
pub(super) struct Activity {
    pub instances: usize,
    pub traced: usize,
    /// Instances that read while the other was writing, which could not be left out.
    pub streamed: usize,
    /// Seconds of work by bytes read.
    pub work: Scale,
    /// Bytes written by bytes read; nothing when it writes nothing.
    pub written: Option<Scale>,
    pub inputs: BTreeMap<Role, End>,
    pub outputs: BTreeMap<Role, End>,
    /// Seconds of CPU time for each second of work, and its shape.
    pub cpu: Option<(f64, Shape)>,
    /// What each piece of the work goes to: from which share of it on.
    pub paces: Vec<(f64, Pace)>,
}

/// A pace that holds for less than this share of the work is put to its neighbour.
const SHORT: f64 = 0.02;
/// Processes that want a processor are held up by others when they wait for it longer than this
/// share of that time.
const CONTENDED: f64 = 1.0 / 3.0;
const CELLS: usize = 100;

impl Activity {
    /// What is learnt from all instances of a logical task in these runs; nothing when there are
    /// none.
    pub fn new<'r>(runs: &[&'r TracedRun], name: &str) -> Option<Self> {
        let of_run = |run: &&'r TracedRun| {
            let run = *run;
            (0..run.tasks.len()).filter(|at| run.tasks[*at].activity == name).map(|at| Seen { run, at }).collect::<Vec<_>>()
        };
        let all: Vec<Seen<'_>> = runs.iter().flat_map(of_run).collect();
        // What was traced says more than what was not, and waiting for a stream is no work.
        let best = [
            |task: &TracedTask| task.traced && !task.inputs.iter().any(|input| input.streamed),
            |task: &TracedTask| task.traced,
            |_: &TracedTask| true,
        ];
        let seen = best.iter().map(|wanted| all.iter().copied().filter(|seen| wanted(seen.task())).collect::<Vec<_>>());
        let seen = seen.into_iter().find(|seen| !seen.is_empty())?;
        let sizes = |of: &dyn Fn(&TracedTask) -> f64| seen.iter().map(|seen| (size(seen.task()), of(seen.task()))).collect::<Vec<_>>();
        let written: Vec<(f64, f64)> = sizes(&written_bytes).into_iter().filter(|(_, bytes)| *bytes > 0.0).collect();
        Some(Self {
            instances: seen.len(),
            traced: seen.iter().filter(|seen| seen.task().traced).count(),
            streamed: seen.iter().filter(|seen| seen.task().inputs.iter().any(|input| input.streamed)).count(),
            work: Scale::new(&sizes(&|task| task.run_s))?,
            written: Scale::new(&written),
            inputs: inputs(&seen),
            outputs: outputs(&seen),
            cpu: cpu(&seen),
            paces: paces(&seen),
        })
    }
}

/// The bytes by which a task grows: those that it reads or, where it reads nothing that was traced,
/// those that it brings in and writes.
pub(super) fn size(task: &TracedTask) -> f64 {
    let read = task.read_bytes();
    if read > 0.0 { read } else { written_bytes(task) }
}

/// Bytes that a task wrote, those that several read counted once as far as that can be known.
pub(super) fn written_bytes(task: &TracedTask) -> f64 {
    let last = |curve: &Curve| curve.last().map_or(0.0, |last| last.1);
    task.written.unwrap_or_else(|| task.outputs.iter().map(|output| last(&output.written)).sum())
}

pub(super) fn role(run: &TracedRun, of: u32) -> Role {
    (of != NONE).then(|| run.tasks[of as usize].activity.clone())
}

/// What several ends of one role did, as one curve.
fn together<'c>(curves: impl Iterator<Item = &'c Curve>) -> Curve {
    let mut steps: Vec<(f64, f64)> = Vec::new();
    for curve in curves {
        let mut before = 0.0;
        for (at, sum) in curve {
            steps.push((*at, sum - before));
            before = *sum;
        }
    }
    steps.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut sum = 0.0;
    steps
        .into_iter()
        .map(|(at, more)| {
            (at, {
                sum += more;
                sum
            })
        })
        .collect()
}

fn last(curve: &Curve) -> f64 {
    curve.last().map_or(0.0, |last| last.1)
}

/// Curves by role with the length of the task's life, and the shares of each end.
#[derive(Default)]
struct Ends {
    curves: Vec<(Curve, f64)>,
    shares: Vec<f64>,
    sums: Vec<f64>,
}

impl Ends {
    fn end(self, apart: bool) -> Option<End> {
        let curves: Vec<(&Curve, f64)> = self.curves.iter().map(|(curve, length)| (curve, *length)).collect();
        let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len().max(1) as f64;
        let share = if apart { mean(&self.sums) } else { mean(&self.shares) };
        Some(End { shape: Shape::new(&curves, Joined::Steps)?, share, apart })
    }
}

fn inputs(seen: &[Seen<'_>]) -> BTreeMap<Role, End> {
    let mut roles: BTreeMap<Role, Ends> = BTreeMap::new();
    for Seen { run, at } in seen {
        let task = &run.tasks[*at];
        let mut of: BTreeMap<Role, Vec<&Curve>> = BTreeMap::new();
        for input in &task.inputs {
            let role = role(run, input.from);
            let ends = roles.entry(role.clone()).or_default();
            if let Some(source) = run.tasks.get(input.from as usize) {
                let given = source.outputs.iter().find(|output| output.to as usize == *at).map_or(0.0, |output| last(&output.written));
                ends.shares.extend((given > 0.0).then(|| (last(&input.read) / given).min(1.0)));
            }
            of.entry(role).or_default().push(&input.read);
        }
        for (role, curves) in of {
            let ends = roles.entry(role).or_default();
            ends.curves.push((together(curves.into_iter()), task.run_s));
        }
    }
    roles.into_iter().filter_map(|(role, ends)| Some((role, ends.end(false)?))).collect()
}

fn outputs(seen: &[Seen<'_>]) -> BTreeMap<Role, End> {
    let mut roles: BTreeMap<Role, Ends> = BTreeMap::new();
    for Seen { run, at } in seen {
        let task = &run.tasks[*at];
        let total = written_bytes(task);
        let mut of: BTreeMap<Role, Vec<&Curve>> = BTreeMap::new();
        for output in task.outputs.iter().filter(|output| last(&output.written) > 0.0) {
            of.entry(role(run, output.to)).or_default().push(&output.written);
        }
        for (role, curves) in of {
            let ends = roles.entry(role).or_default();
            let shares: Vec<f64> = curves.iter().map(|curve| last(curve) / total).collect();
            ends.sums.push(shares.iter().sum());
            ends.shares.extend(shares);
            ends.curves.push((together(curves.into_iter()), task.run_s));
        }
    }
    let apart = |ends: &Ends| ends.sums.iter().all(|sum| *sum <= 1.05);
    roles
        .into_iter()
        .filter_map(|(role, ends)| {
            let apart = apart(&ends);
            Some((role, ends.end(apart)?))
        })
        .collect()
}

fn cpu(seen: &[Seen<'_>]) -> Option<(f64, Shape)> {
    let known: Vec<&TracedTask> = seen.iter().map(Seen::task).filter(|task| last(&task.cpu_s) > 0.0 && task.run_s > 0.0).collect();
    let curves: Vec<(&Curve, f64)> = known.iter().map(|task| (&task.cpu_s, task.run_s)).collect();
    let rate = known.iter().map(|task| last(&task.cpu_s) / task.run_s).sum::<f64>() / known.len().max(1) as f64;
    Some((rate, Shape::new(&curves, Joined::Lines)?))
}

/// What pieces of the work go to, from the sums over all instances.
fn paces(seen: &[Seen<'_>]) -> Vec<(f64, Pace)> {
    let tasks: Vec<&TracedTask> = seen.iter().map(Seen::task).filter(|task| task.run_s > 0.0).collect();
    let told = |task: &&TracedTask| !task.cpu_s.is_empty();
    if !tasks.iter().any(told) {
        return vec![(0.0, Pace::Unknown)];
    }
    let cell = |at: usize| {
        let part = |curve: &Curve, length: f64| {
            value(curve, length * (at + 1) as f64 / CELLS as f64) - value(curve, length * at as f64 / CELLS as f64)
        };
        let sum = |of: &dyn Fn(&TracedTask) -> f64| tasks.iter().copied().filter(|task| told(task)).map(of).sum::<f64>();
        let time = sum(&|task| task.run_s / CELLS as f64);
        let cpu = sum(&|task| part(&task.cpu_s, task.run_s)) / time;
        // Time in a call may be on a processor too: what the CPU does not explain.
        let files = (sum(&|task| part(&task.io_s, task.run_s)) / time).min((1.0 - cpu).max(0.0));
        let rest = 1.0 - cpu - files;
        let queue = (sum(&|task| part(&task.run_delay_s, task.run_s)) / time).min(rest.max(0.0));
        let (processor, elsewhere) = (cpu + queue, rest - queue);
        if processor >= files && processor >= elsewhere {
            if queue > CONTENDED * processor { Pace::Queue } else { Pace::Cpu }
        } else if files >= elsewhere {
            Pace::Files
        } else {
            Pace::Elsewhere
        }
    };
    let cells: Vec<Pace> = (0..CELLS).map(cell).collect();
    let mut paces: Vec<(f64, Pace)> = Vec::new();
    for run in cells.chunk_by(|a, b| a == b).scan(0, |from, run| {
        let at = *from;
        *from += run.len();
        Some((at, run))
    }) {
        let (at, cells) = run;
        let short = (cells.len() as f64) < SHORT * CELLS as f64 && !paces.is_empty();
        if !short && paces.last().is_none_or(|last| last.1 != cells[0]) {
            paces.push((at as f64 / CELLS as f64, cells[0]));
        }
    }
    paces
}

/// The value of a curve of points that are joined by lines, from (0, 0) on.
fn value(curve: &Curve, at: f64) -> f64 {
    let next = curve.partition_point(|point| point.0 <= at);
    let (x, y) = next.checked_sub(1).map_or((0.0, 0.0), |before| curve[before]);
    match curve.get(next) {
        Some((to, top)) if *to > x => y + (top - y) * (at - x) / (to - x),
        _ => y,
    }
}

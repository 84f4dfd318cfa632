//! From the fitted parameters of logical tasks to the model of a run: its tasks, their data flow
//! and their shared resources.

use std::collections::BTreeMap;

use flowmine_activity_log::{NONE, TracedRun};

use super::activity::{Activity, Pace, Role, role, size};
use super::shape::Shape;
use super::{Options, Start};
use crate::model::{DataInput, Function, Model, Output, Points, Policy, Process, Resource, Shared, Source, When};

/// A task that uses less than this share of one processor has no part in the sharing of processors.
const LITTLE_CPU: f64 = 0.1;
/// A delay before a start that is shorter, in seconds, is left out.
const NO_DELAY: f64 = 1e-3;
const BYTES: &str = "bytes";
const SECONDS: &str = "s";
const CPU_SECONDS: &str = "cpu_s";

/// The model of a run.
pub(super) fn model(run: &TracedRun, learnt: &BTreeMap<&str, Activity>, options: &Options) -> Model {
    let processors: BTreeMap<&str, u32> = run.processors.iter().map(|(host, count)| (host.as_str(), *count)).collect();
    let mut made = Made { run, learnt, options, processors, written: vec![0.0; run.tasks.len()], pools: BTreeMap::new() };
    // Sizes of outputs depend on those of inputs: tasks come after those with the output that they
    // read.
    let mut processes: Vec<Option<Process>> = vec![None; run.tasks.len()];
    for at in order(run) {
        processes[at] = made.process(at);
    }
    let mut shared: Vec<Shared> = made.pools.into_values().collect();
    for link in &options.share {
        shared.push(Shared {
            name: link.name.clone(),
            capacity: Function::Constant(1.0),
            policy: Policy::Weighted,
            unit: Some(SECONDS.to_owned()),
        });
    }
    Model { name: run.name.clone(), shared, processes: processes.into_iter().flatten().collect() }
}

/// Tasks, each after those with the output that it reads and those that it follows; without those
/// in a cycle, and without those that wait for such.
pub(super) fn order(run: &TracedRun) -> Vec<usize> {
    let mut readers = vec![Vec::new(); run.tasks.len()];
    let mut missing = vec![0usize; run.tasks.len()];
    for (at, task) in run.tasks.iter().enumerate() {
        let read = task.inputs.iter().map(|input| input.from).filter(|from| *from != NONE);
        for from in read.chain(task.after.iter().copied()) {
            readers[from as usize].push(at);
            missing[at] += 1;
        }
    }
    let mut order: Vec<usize> = (0..run.tasks.len()).filter(|at| missing[*at] == 0).collect();
    let mut next = 0;
    while let Some(&at) = order.get(next) {
        next += 1;
        for &reader in &readers[at] {
            missing[reader] -= 1;
            if missing[reader] == 0 {
                order.push(reader);
            }
        }
    }
    order
}

struct Made<'a> {
    run: &'a TracedRun,
    learnt: &'a BTreeMap<&'a str, Activity>,
    options: &'a Options,
    processors: BTreeMap<&'a str, u32>,
    /// Bytes that each task writes in the model.
    written: Vec<f64>,
    pools: BTreeMap<String, Shared>,
}

impl Made<'_> {
    fn process(&mut self, at: usize) -> Option<Process> {
        let task = &self.run.tasks[at];
        let learnt = self.learnt.get(task.activity.as_str())?;
        let inputs = self.inputs(at, learnt);
        let read: f64 = inputs.iter().map(|input| input.1).sum();
        // What a task brings in that reads nothing comes from outside, as what was there before does.
        let size = if task.read_bytes() > 0.0 { read } else { size(task) * self.options.inputs_times };
        let work = learnt.work.at(size).max(1e-9);
        self.written[at] = learnt.written.map_or(0.0, |of| of.at(size));
        let streams: Vec<u32> = inputs.iter().filter(|input| self.is_stream(at, input.0)).map(|input| input.0).collect();
        let data = self.data(at, learnt, &inputs, work);
        let after: Vec<u32> = task.after.iter().copied().filter(|from| !streams.contains(from)).collect();
        let (start_s, delay) = self.start(at, &after, &inputs, &streams);
        let mut resources = self.resources(at, learnt, work);
        if delay > NO_DELAY {
            let requirement = Function::Points(Points { points: vec![(0.0, delay), (work, delay)] });
            resources.push(resource("to be started", requirement, SECONDS));
        }
        Some(Process {
            name: task.name.clone(),
            progress: work,
            start_s,
            after: after.iter().map(|from| self.run.tasks[*from as usize].name.clone()).collect(),
            data,
            resources,
            outputs: self.outputs(at, learnt, work),
        })
    }

    /// From whom it reads how much in this model.
    fn inputs(&self, at: usize, learnt: &Activity) -> Vec<(u32, f64)> {
        let task = &self.run.tasks[at];
        let bytes = |input: &flowmine_activity_log::TracedInput| {
            let seen = input.read.last().map_or(0.0, |last| last.1);
            if input.from == NONE {
                return seen * self.options.inputs_times;
            }
            let share = learnt.inputs.get(&role(self.run, input.from)).map_or(1.0, |end| end.share);
            // Without traces of the writer what is known of the reader counts.
            let given = self.given(input.from as usize, at);
            given.map_or(seen, |given| given * if share > 0.0 { share } else { 1.0 })
        };
        task.inputs.iter().map(|input| (input.from, bytes(input).floor())).filter(|(_, bytes)| *bytes > 0.0).collect()
    }

    /// What a task writes for another in this model; nothing when that was not traced.
    fn given(&self, from: usize, to: usize) -> Option<f64> {
        let source = &self.run.tasks[from];
        let to_role = role(self.run, to as u32);
        source.outputs.iter().find(|output| output.to as usize == to)?;
        let end = self.learnt.get(source.activity.as_str())?.outputs.get(&to_role)?;
        let ends = source.outputs.iter().filter(|output| role(self.run, output.to) == to_role).count() as f64;
        let share = if end.apart { end.share / ends } else { end.share };
        Some((self.written[from] * share).floor())
    }

    fn is_stream(&self, at: usize, from: u32) -> bool {
        let task = &self.run.tasks[at];
        let Some(source) = self.run.tasks.get(from as usize) else { return false };
        let streamed = task.inputs.iter().any(|input| input.from == from && input.streamed);
        let overlap = task.start_s.zip(source.start_s).is_some_and(|(start, begin)| start < begin + source.run_s - NO_DELAY);
        self.options.stream.contains(&task.name) || streamed || (overlap && source.traced && task.traced)
    }

    fn data(&self, at: usize, learnt: &Activity, inputs: &[(u32, f64)], work: f64) -> Vec<DataInput> {
        // Ends of one role are taken to be read one after the other.
        let mut sums: BTreeMap<Role, f64> = BTreeMap::new();
        inputs.iter().for_each(|(from, bytes)| *sums.entry(role(self.run, *from)).or_default() += bytes);
        let mut before: BTreeMap<Role, f64> = BTreeMap::new();
        let input = |(from, bytes): &(u32, f64)| {
            let of = role(self.run, *from);
            let (total, done) = (sums[&of], before.entry(of.clone()).or_default());
            let whole = learnt.inputs.get(&of).map_or_else(|| Shape::at_once(0.0), |end| end.shape.clone());
            let shape = if *bytes >= total { whole } else { whole.slice(*done / total, (*done + bytes) / total) };
            *done += bytes;
            let source = self.run.tasks.get(*from as usize);
            let (available, from) = match source {
                None => (Some(Function::Constant(*bytes)), None),
                Some(source) => {
                    let when = if self.is_stream(at, *from) { When::Streaming } else { When::Complete };
                    (None, Some(Source { process: source.name.clone(), output: output_name(Some(&self.run.tasks[at].name)), when }))
                }
            };
            let name = source.map_or_else(|| "what was there before".to_owned(), |source| format!("from {}", source.name));
            DataInput { name, requirement: requirement(&shape, *bytes, work), available, from, unit: Some(BYTES.to_owned()) }
        };
        inputs.iter().filter(|(from, _)| *from == NONE || self.given(*from as usize, at).is_some()).map(input).collect()
    }

    fn outputs(&self, at: usize, learnt: &Activity, work: f64) -> Vec<Output> {
        let task = &self.run.tasks[at];
        let output = |output: &flowmine_activity_log::TracedOutput| {
            let bytes = match output.to {
                NONE => {
                    let end = learnt.outputs.get(&None)?;
                    (self.written[at] * end.share).floor()
                }
                to => self.given(at, to as usize)?,
            };
            let shape = &learnt.outputs.get(&role(self.run, output.to))?.shape;
            let reader = self.run.tasks.get(output.to as usize).map(|reader| reader.name.as_str());
            Some(Output { name: output_name(reader), written: written(shape, bytes, work), unit: Some(BYTES.to_owned()) })
        };
        task.outputs.iter().filter_map(output).collect()
    }

    /// When it may start, and how long after what it waits for it did.
    fn start(&self, at: usize, after: &[u32], inputs: &[(u32, f64)], streams: &[u32]) -> (f64, f64) {
        let task = &self.run.tasks[at];
        let (Start::Observed, Some(start)) = (self.options.start, task.start_s) else { return (0.0, 0.0) };
        let whole = inputs.iter().map(|input| input.0).filter(|from| *from != NONE && !streams.contains(from));
        let ends = after.iter().copied().chain(whole).filter_map(|from| {
            let source = &self.run.tasks[from as usize];
            Some(source.start_s? + source.run_s)
        });
        match ends.reduce(f64::max) {
            // Times of engines may be so coarse that it seems to start before.
            Some(end) if start >= end => (0.0, start - end),
            Some(_) => (0.0, 0.0),
            None => (start, 0.0),
        }
    }

    fn resources(&mut self, at: usize, learnt: &Activity, work: f64) -> Vec<Resource> {
        let task = &self.run.tasks[at];
        let mut kinds: Vec<Pace> = learnt.paces.iter().map(|pace| pace.1).collect();
        kinds.sort_unstable();
        kinds.dedup();
        let of_kind = |kind: &Pace| {
            let mut points = vec![(0.0, 0.0)];
            let mut sum = 0.0;
            for (n, (from, pace)) in learnt.paces.iter().enumerate() {
                let to = learnt.paces.get(n + 1).map_or(1.0, |next| next.0);
                if pace == kind {
                    sum += (to - from) * work;
                }
                points.push((to * work, sum));
            }
            resource(kind.name(), Function::Points(Points { points: without_middles(points) }), SECONDS)
        };
        let mut resources: Vec<Resource> = kinds.iter().map(of_kind).collect();
        for link in self.options.share.iter().filter(|link| link.tasks.contains(&task.name)) {
            // What it waits for elsewhere is this link; a task that waits for nothing has no part in it.
            for resource in resources.iter_mut().filter(|resource| resource.name == Pace::Elsewhere.name()) {
                (resource.allocation, resource.shared) = (None, Some(link.name.clone()));
            }
        }
        let host = task.host.as_deref();
        if let (Some((rate, shape)), Some(host)) = (&learnt.cpu, host)
            && let Some(count) = self.processors.get(host).filter(|_| *rate >= LITTLE_CPU && learnt.traced > 0)
        {
            let name = format!("processors of {host}");
            self.pools.entry(name.clone()).or_insert_with(|| Shared {
                name: name.clone(),
                capacity: Function::Constant(f64::from(*count)),
                policy: Policy::Fair,
                unit: Some(CPU_SECONDS.to_owned()),
            });
            let mut points: Vec<(f64, f64)> = shape.knots.iter().map(|(x, y)| (x * work, y * rate * work)).collect();
            if points[0].0 > 0.0 {
                points.insert(0, (0.0, 0.0));
            }
            let requirement = Function::Points(Points { points: without_middles(points) });
            let allocation = Resource { shared: Some(name.clone()), allocation: None, ..resource(&name, requirement, CPU_SECONDS) };
            resources.push(allocation);
        }
        resources
    }
}

fn output_name(reader: Option<&str>) -> String {
    reader.map_or_else(|| "for nobody".to_owned(), |reader| format!("for {reader}"))
}

fn resource(name: &str, requirement: Function, unit: &str) -> Resource {
    Resource {
        name: name.to_owned(),
        requirement,
        allocation: Some(Function::Constant(1.0)),
        shared: None,
        weight: None,
        priority: None,
        unit: Some(unit.to_owned()),
    }
}

/// From bytes to the work that they allow. The last byte is asked for a little before it is there,
/// so that rounding asks for none too many.
fn requirement(shape: &Shape, bytes: f64, work: f64) -> Function {
    let last = bytes * (1.0 - 1e-9);
    let mut points: Vec<(f64, f64)> = shape.knots.iter().map(|(x, y)| ((y * bytes).min(last), x * work)).collect();
    points.push((last, work));
    Function::Points(Points { points: without_middles(points) })
}

/// From work to the bytes that are written by then.
fn written(shape: &Shape, bytes: f64, work: f64) -> Function {
    let mut points: Vec<(f64, f64)> = vec![(0.0, 0.0)];
    points.extend(shape.knots.iter().map(|(x, y)| (x * work, y * bytes)));
    if let Some(last) = points.last().filter(|last| last.0 < work) {
        points.push((work, last.1));
    }
    Function::Points(Points { points: without_middles(points) })
}

/// Without points that are there twice, and those of several at one place that are neither first
/// nor last.
fn without_middles(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let mut out: Vec<(f64, f64)> = Vec::with_capacity(points.len());
    for point in points {
        let n = out.len();
        if out.last() == Some(&point) {
            continue;
        }
        if n >= 2 && out[n - 1].0 == point.0 && out[n - 2].0 == point.0 {
            out[n - 1] = point;
        } else {
            out.push(point);
        }
    }
    out
}

//! From the model as written to what the analysis works on; everything that cannot be is refused
//! with the path of its field.

use std::collections::BTreeMap;

use crate::coupling::find_clusters;
use crate::error::PredictError;
use crate::functions::{MAX_DEGREE, Piecewise, Poly};
use crate::model::{Function, Model, Policy, When};

/// A model of more processes is refused.
pub const MAX_PROCESSES: usize = 200_000;
/// More pieces in one function are refused.
pub const MAX_PIECES: usize = 1_000_000;

type Checked<T> = Result<T, PredictError>;

/// A model that can be analysed: names are numbers, functions are in pieces.
#[derive(Debug, Clone)]
pub struct Workflow {
    pub(crate) processes: Vec<Process>,
    pub(crate) shared: Vec<Shared>,
    /// The processes, each after those on which it depends.
    pub(crate) order: Vec<usize>,
    /// The shared resources of each cluster (`coupling.rs`).
    pub(crate) clusters: Vec<Vec<usize>>,
    /// Where the analysis differs from the model.
    pub(crate) notes: Vec<String>,
}

#[derive(Debug, Clone)]
pub(crate) struct Process {
    pub name: String,
    pub end: f64,
    pub start: f64,
    pub after: Vec<usize>,
    pub data: Vec<Data>,
    pub resources: Vec<Resource>,
    pub outputs: Vec<Output>,
    /// Where requirements of resources and outputs change, ascending, the last is `end`.
    pub breaks: Vec<f64>,
    /// The shared resources that it uses, each with its number among the users there.
    pub uses: Vec<(usize, usize)>,
    /// The cluster in which its rate is solved together with others.
    pub cluster: Option<usize>,
}

#[derive(Debug, Clone)]
pub(crate) struct Data {
    pub name: String,
    pub requirement: Piecewise,
    pub supply: Supply,
}

#[derive(Debug, Clone)]
pub(crate) enum Supply {
    Function(Piecewise),
    Stream { process: usize, output: usize },
    Complete { process: usize, output: usize },
}

#[derive(Debug, Clone)]
pub(crate) struct Resource {
    pub name: String,
    pub requirement: Piecewise,
    pub allocation: Allocation,
}

#[derive(Debug, Clone)]
pub(crate) enum Allocation {
    Function(Piecewise),
    /// The number of the shared resource.
    Shared(usize),
}

#[derive(Debug, Clone)]
pub(crate) struct Output {
    pub name: String,
    pub written: Piecewise,
}

#[derive(Debug, Clone)]
pub(crate) struct Shared {
    pub name: String,
    pub capacity: Piecewise,
    pub users: Vec<User>,
    /// The cluster in which it is divided together with others.
    pub cluster: Option<usize>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct User {
    pub process: usize,
    pub resource: usize,
    pub weight: f64,
    pub priority: i32,
}

impl Model {
    /// Checks the model and gives it in a form that can be analysed.
    ///
    /// # Errors
    /// [`PredictError::Field`] with the path of the first field that cannot be.
    pub fn check(&self) -> Checked<Workflow> {
        if self.processes.is_empty() || self.processes.len() > MAX_PROCESSES {
            return Err(PredictError::field("processes", format!("there have to be 1 to {MAX_PROCESSES}, not {}", self.processes.len())));
        }
        let names = names("processes", self.processes.iter().map(|p| p.name.as_str()))?;
        let shared_names = names_of_shared(self)?;
        let mut shared = self.shared()?;
        let mut processes = Vec::with_capacity(self.processes.len());
        for at in 0..self.processes.len() {
            processes.push(self.process(at, &names, &shared_names, &mut shared)?);
        }
        if let Some(pool) = shared.iter().position(|s| !s.users.iter().map(|u| u.weight).sum::<f64>().is_finite()) {
            return Err(PredictError::field(format!("shared[{pool}]"), "the weights of its users are too large to be added up"));
        }
        let order = order(&processes)?;
        let clusters = find_clusters(&mut processes, &mut shared);
        let mut workflow = Workflow { processes, shared, order, clusters, notes: Vec::new() };
        workflow.straighten_streams().ok_or_else(|| PredictError::field("processes", "the numbers of a stream get too large"))?;
        Ok(workflow)
    }

    fn shared(&self) -> Checked<Vec<Shared>> {
        let shared = self.shared.iter().enumerate().map(|(at, s)| {
            let path = format!("shared[{at}].capacity");
            let capacity = not_below_zero(&path, function(&path, &s.capacity)?)?;
            if capacity.pieces().any(|(_, p)| p.degree() > MAX_DEGREE - 1) {
                return Err(PredictError::field(path, format!("a capacity has at most degree {}", MAX_DEGREE - 1)));
            }
            Ok(Shared { name: s.name.clone(), capacity, users: Vec::new(), cluster: None })
        });
        shared.collect()
    }

    fn process(&self, at: usize, names: &Names<'_>, pools: &Names<'_>, shared: &mut [Shared]) -> Checked<Process> {
        let (p, path) = (&self.processes[at], format!("processes[{at}]"));
        if !(p.progress.is_finite() && p.progress > 0.0) {
            return Err(PredictError::field(format!("{path}.progress"), "the progress at the end has to be above zero and finite"));
        }
        if !(p.start_s.is_finite() && p.start_s >= 0.0) {
            return Err(PredictError::field(format!("{path}.start_s"), "a start is zero or later, in seconds"));
        }
        let after = p.after.iter().enumerate().map(|(n, name)| find(names, name, || format!("{path}.after[{n}]"), "process"));
        let mut after = after.collect::<Checked<Vec<_>>>()?;
        let mut data = Vec::with_capacity(p.data.len());
        self::names(&format!("{path}.data"), p.data.iter().map(|d| d.name.as_str()))?;
        self::names(&format!("{path}.resources"), p.resources.iter().map(|d| d.name.as_str()))?;
        self::names(&format!("{path}.outputs"), p.outputs.iter().map(|d| d.name.as_str()))?;
        for n in 0..p.data.len() {
            let input = self.data(at, n, names)?;
            if let Supply::Complete { process, .. } = input.supply {
                after.push(process);
            }
            data.push(input);
        }
        let resources = (0..p.resources.len()).map(|n| self.resource(at, n, pools, shared)).collect::<Checked<Vec<_>>>()?;
        let uses = resources.iter().filter_map(|r| match r.allocation {
            Allocation::Shared(pool) => Some((pool, shared[pool].users.len() - 1)),
            Allocation::Function(_) => None,
        });
        let uses = uses.collect();
        let outputs = p.outputs.iter().enumerate().map(|(n, o)| {
            let path = format!("{path}.outputs[{n}].written");
            let written = never_falls(&path, function(&path, &o.written)?)?;
            Ok(Output { name: o.name.clone(), written: not_below_zero(&path, written)? })
        });
        let outputs = outputs.collect::<Checked<Vec<_>>>()?;
        let (name, end, start) = (p.name.clone(), p.progress, p.start_s);
        let mut process = Process { name, end, start, after, data, resources, outputs, breaks: Vec::new(), uses, cluster: None };
        process.find_breaks();
        Ok(process)
    }

    fn data(&self, at: usize, n: usize, names: &Names<'_>) -> Checked<Data> {
        let (d, path) = (&self.processes[at].data[n], format!("processes[{at}].data[{n}]"));
        let place = format!("{path}.requirement");
        let requirement = never_falls(&place, function(&place, &d.requirement)?)?;
        let supply = match (&d.available, &d.from) {
            (Some(available), None) => {
                let place = format!("{path}.available");
                Supply::Function(not_below_zero(&place, never_falls(&place, function(&place, available)?)?)?)
            }
            (None, Some(source)) => {
                let process = find(names, &source.process, || format!("{path}.from.process"), "process")?;
                let outputs = &self.processes[process].outputs;
                let output = outputs.iter().position(|o| o.name == source.output);
                let output = output
                    .ok_or_else(|| PredictError::field(format!("{path}.from.output"), format!("there is no output {:?}", source.output)))?;
                same_unit(&format!("{path}.unit"), d.unit.as_deref(), outputs[output].unit.as_deref())?;
                match source.when {
                    When::Streaming => Supply::Stream { process, output },
                    When::Complete => Supply::Complete { process, output },
                }
            }
            _ => return Err(PredictError::field(path, "give either `available` or `from`")),
        };
        Ok(Data { name: d.name.clone(), requirement, supply })
    }

    fn resource(&self, at: usize, n: usize, pools: &Names<'_>, shared: &mut [Shared]) -> Checked<Resource> {
        let (r, path) = (&self.processes[at].resources[n], format!("processes[{at}].resources[{n}]"));
        let place = format!("{path}.requirement");
        let requirement = not_below_zero(&place, never_falls(&place, function(&place, &r.requirement)?)?)?;
        if !requirement.is_linear() {
            return Err(PredictError::field(place, "the requirement of a resource has straight pieces (the paper's section 4)"));
        }
        let allocation = match (&r.allocation, &r.shared) {
            (Some(allocation), None) => {
                if r.weight.is_some() || r.priority.is_some() {
                    return Err(PredictError::field(path, "`weight` and `priority` are for a shared resource"));
                }
                let place = format!("{path}.allocation");
                let allocation = not_below_zero(&place, function(&place, allocation)?)?;
                if allocation.pieces().any(|(_, p)| p.degree() > MAX_DEGREE - 1) {
                    return Err(PredictError::field(place, format!("an allocation has at most degree {}", MAX_DEGREE - 1)));
                }
                Allocation::Function(allocation)
            }
            (None, Some(name)) => {
                let pool = find(pools, name, || format!("{path}.shared"), "shared resource")?;
                same_unit(&format!("{path}.unit"), r.unit.as_deref(), self.shared[pool].unit.as_deref())?;
                let weight = r.weight.unwrap_or(1.0);
                if !(weight.is_finite() && weight > 0.0) {
                    return Err(PredictError::field(format!("{path}.weight"), "a weight is above zero and finite"));
                }
                if shared[pool].users.last().is_some_and(|u| u.process == at) {
                    return Err(PredictError::field(format!("{path}.shared"), "the process uses this already: add the requirements up"));
                }
                let policy = self.shared[pool].policy;
                let weight = if policy == Policy::Fair { 1.0 } else { weight };
                let priority = if policy == Policy::Prioritised { r.priority.unwrap_or(0) } else { 0 };
                shared[pool].users.push(User { process: at, resource: n, weight, priority });
                Allocation::Shared(pool)
            }
            _ => return Err(PredictError::field(path, "give either `allocation` or `shared`")),
        };
        Ok(Resource { name: r.name.clone(), requirement, allocation })
    }
}

type Names<'a> = BTreeMap<&'a str, usize>;

fn names<'a>(path: &str, all: impl Iterator<Item = &'a str>) -> Checked<Names<'a>> {
    let mut names = BTreeMap::new();
    for (at, name) in all.enumerate() {
        if let Some(first) = names.insert(name, at) {
            return Err(PredictError::field(format!("{path}[{at}].name"), format!("{name:?} is the name of {path}[{first}] already")));
        }
    }
    Ok(names)
}

fn names_of_shared(model: &Model) -> Checked<Names<'_>> {
    names("shared", model.shared.iter().map(|s| s.name.as_str()))
}

fn find(names: &Names<'_>, name: &str, path: impl Fn() -> String, what: &str) -> Checked<usize> {
    names.get(name).copied().ok_or_else(|| PredictError::field(path(), format!("there is no {what} {name:?}")))
}

fn same_unit(path: &str, one: Option<&str>, other: Option<&str>) -> Checked<()> {
    match (one, other) {
        (Some(one), Some(other)) if one != other => {
            Err(PredictError::field(path, format!("the unit is {one:?} here and {other:?} where it comes from")))
        }
        _ => Ok(()),
    }
}

/// A function of the file in pieces.
fn function(path: &str, function: &Function) -> Checked<Piecewise> {
    let wrong = |problem: &str| PredictError::field(path, problem);
    let finite = "numbers have to be finite";
    match function {
        Function::Constant(value) if value.is_finite() => Ok(Piecewise::constant(*value)),
        Function::Constant(_) => Err(wrong(finite)),
        Function::Points(points) => {
            let points = &points.points;
            bounded(path, points.len(), points.first().map(|p| p.0))?;
            if let Some(at) = points.iter().position(|(x, y)| !(x.is_finite() && y.is_finite())) {
                return Err(PredictError::field(format!("{path}.points[{at}]"), finite));
            }
            if let Some(at) = points.windows(2).position(|w| w[1].0 < w[0].0) {
                return Err(PredictError::field(format!("{path}.points[{}]", at + 1), "the places have to ascend"));
            }
            Piecewise::points(points).ok_or_else(|| wrong("a slope between points is too steep for a number"))
        }
        Function::Pieces(pieces) => {
            let pieces = &pieces.pieces;
            bounded(path, pieces.len(), pieces.first().map(|p| p.from))?;
            let mut out = Vec::with_capacity(pieces.len());
            for (at, piece) in pieces.iter().enumerate() {
                let place = || format!("{path}.pieces[{at}]");
                if !piece.from.is_finite() || piece.polynomial.iter().any(|c| !c.is_finite()) {
                    return Err(PredictError::field(place(), finite));
                }
                if at > 0 && piece.from <= pieces[at - 1].from {
                    return Err(PredictError::field(place(), "the pieces have to ascend, each from another place"));
                }
                let poly = Poly::new(&piece.polynomial)
                    .ok_or_else(|| PredictError::field(place(), format!("a polynomial has at most degree {MAX_DEGREE}")))?;
                out.push((piece.from, poly));
            }
            Piecewise::new(out).ok_or_else(|| wrong(finite))
        }
    }
}

fn bounded(path: &str, pieces: usize, first: Option<f64>) -> Checked<()> {
    if pieces > MAX_PIECES {
        return Err(PredictError::field(path, format!("a function has at most {MAX_PIECES} pieces, not {pieces}")));
    }
    match first {
        Some(0.0) => Ok(()),
        Some(_) => Err(PredictError::field(path, "a function begins at 0: there is a gap before the first piece, or a piece before 0")),
        None => Err(PredictError::field(path, "a function has at least one piece")),
    }
}

fn never_falls(path: &str, function: Piecewise) -> Checked<Piecewise> {
    match function.first_fall() {
        Some(x) => Err(PredictError::field(path, format!("the function must never fall, and it does at {x}"))),
        None => Ok(function),
    }
}

fn not_below_zero(path: &str, function: Piecewise) -> Checked<Piecewise> {
    match function.first_below_zero() {
        Some(x) => Err(PredictError::field(path, format!("the function must not be below zero, and it is at {x}"))),
        None => Ok(function),
    }
}

impl Process {
    /// Enters the places where requirements of resources and outputs change.
    pub(crate) fn find_breaks(&mut self) {
        let functions = self.resources.iter().map(|r| &r.requirement).chain(self.outputs.iter().map(|o| &o.written));
        let inside = functions.flat_map(Piecewise::breakpoints).copied().filter(|b| *b > 0.0 && *b < self.end);
        self.breaks = inside.chain([self.end]).collect();
        self.breaks.sort_by(f64::total_cmp);
        self.breaks.dedup();
    }

    /// Places of the processes on which this one depends: by its start, or by a stream.
    pub(crate) fn sources(&self) -> impl Iterator<Item = usize> {
        self.after.iter().copied().chain(self.writers())
    }
}

/// The processes, each after its sources; refuses cycles.
fn order(processes: &[Process]) -> Checked<Vec<usize>> {
    let mut missing: Vec<usize> = processes.iter().map(|p| p.sources().count()).collect();
    let mut readers = vec![Vec::new(); processes.len()];
    for (at, process) in processes.iter().enumerate() {
        process.sources().for_each(|source| readers[source].push(at));
    }
    let mut order: Vec<usize> = (0..processes.len()).filter(|at| missing[*at] == 0).collect();
    let mut at = 0;
    while let Some(&process) = order.get(at) {
        at += 1;
        for &reader in &readers[process] {
            missing[reader] -= 1;
            if missing[reader] == 0 {
                order.push(reader);
            }
        }
    }
    // Among the remaining ones, a walk along remaining sources has to meet itself: that is a cycle.
    let Some(mut on) = missing.iter().position(|n| *n > 0) else { return Ok(order) };
    let mut seen = vec![false; processes.len()];
    while !seen[on] {
        seen[on] = true;
        on = processes[on].sources().find(|s| missing[*s] > 0).unwrap_or(on);
    }
    Err(PredictError::field(
        format!("processes[{on}]"),
        format!("{:?} waits for itself, through those it reads from or comes after", processes[on].name),
    ))
}

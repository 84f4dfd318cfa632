//! A number or a function of a model, by its path, and how it is changed.
//!
//! A path is that of the file, `processes[2].resources[0].allocation`, with names in place of
//! numbers where one likes: `processes[task 1].resources[cpu].allocation`.
//! `shared[link].part[download 1]` is the share of a resource that one of its users gets; the
//! others have the rest in the proportion of their weights.

use crate::error::PredictError;
use crate::model::{DataInput, Function, Model, Output, Policy, Process, Resource};

/// How a value changes what is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It takes its place; a function becomes this everywhere.
    Set,
    /// It is multiplied with it; a function's values are.
    Times,
}

/// A number or function of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    path: String,
    place: Place,
    change: Change,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    Start(usize),
    Capacity(usize),
    /// Of a shared resource what this process gets.
    Part(usize, usize),
    Requirement(End, usize, usize),
    Available(usize, usize),
    Allocation(usize, usize),
    Weight(usize, usize),
    Written(usize, usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Data,
    Resource,
}

/// A field of a path and the text in its brackets.
type Step<'p> = (&'p str, Option<&'p str>);

fn steps(path: &str) -> Option<Vec<Step<'_>>> {
    let mut steps = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        let word = rest.find(['[', '.']).unwrap_or(rest.len());
        let name = &rest[..word];
        rest = &rest[word..];
        let mut inner = None;
        if let Some(after) = rest.strip_prefix('[') {
            // A bracket that ends a name stands before a dot or the end.
            let end = after.match_indices(']').map(|at| at.0).find(|at| matches!(after.as_bytes().get(at + 1), None | Some(b'.')))?;
            inner = Some(&after[..end]);
            rest = &after[end + 1..];
        }
        steps.push((name, inner));
        rest = rest.strip_prefix('.').unwrap_or(rest);
    }
    Some(steps)
}

impl Parameter {
    /// Finds what a path names in a model.
    ///
    /// # Errors
    /// [`PredictError::Field`] when there is no such number or function.
    pub fn find(model: &Model, path: &str, change: Change) -> Result<Self, PredictError> {
        let no = |problem: &str| PredictError::field(path, problem);
        let place = steps(path).and_then(|steps| place(model, &steps)).ok_or_else(|| {
            no("there is no such number or function in the model: give a path such as `processes[0].resources[0].allocation`, \
                `shared[0].capacity` or `shared[link].part[process]`; names may stand for numbers")
        })?;
        if let Place::Part(shared, process) = place {
            if model.shared[shared].policy != Policy::Weighted {
                return Err(no("a share can be given only of a weighted resource: set its policy to `weighted`"));
            }
            if users(model, shared).all(|user| user.0 == process) {
                return Err(no("nobody else uses it"));
            }
            if change == Change::Times {
                return Err(no("a part is set, not multiplied: use `=`"));
            }
        }
        Ok(Self { path: path.to_owned(), place, change })
    }

    /// Whether a second value may follow a first one in the same model: it leaves nothing of that.
    pub(super) fn is_repeatable(&self) -> bool {
        self.change == Change::Set
    }

    /// The path as it was given.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// What of a model may be more or less: capacities, allocations, requirements, what is
    /// available, what is written.
    pub fn all(model: &Model) -> Vec<Self> {
        let mut all = Vec::new();
        let mut add = |path: String, place| all.push(Self { path, place, change: Change::Times });
        for (s, shared) in model.shared.iter().enumerate() {
            add(format!("shared[{}].capacity", shared.name), Place::Capacity(s));
        }
        for (p, process) in model.processes.iter().enumerate() {
            let of = format!("processes[{}]", process.name);
            for (k, data) in process.data.iter().enumerate() {
                if data.available.is_some() {
                    add(format!("{of}.data[{}].available", data.name), Place::Available(p, k));
                }
            }
            for (l, resource) in process.resources.iter().enumerate() {
                let of = format!("{of}.resources[{}]", resource.name);
                if resource.allocation.is_some() {
                    add(format!("{of}.allocation"), Place::Allocation(p, l));
                }
                add(format!("{of}.requirement"), Place::Requirement(End::Resource, p, l));
            }
        }
        all
    }

    /// Changes this number or function in a model, by a value.
    ///
    /// # Errors
    /// [`PredictError::Field`] when the value cannot be there.
    pub fn apply(&self, model: &mut Model, value: f64) -> Result<(), PredictError> {
        if !value.is_finite() {
            return Err(PredictError::field(&self.path, "a value has to be finite"));
        }
        let change = self.change;
        let number = |field: &mut f64| *field = if change == Change::Set { value } else { *field * value };
        match self.place {
            Place::Start(p) => number(&mut model.processes[p].start_s),
            Place::Weight(p, l) => number(model.processes[p].resources[l].weight.get_or_insert(1.0)),
            Place::Capacity(s) => self.function(&mut model.shared[s].capacity, value),
            Place::Requirement(End::Data, p, k) => self.function(&mut model.processes[p].data[k].requirement, value),
            Place::Requirement(End::Resource, p, l) => self.function(&mut model.processes[p].resources[l].requirement, value),
            Place::Available(p, k) => model.processes[p].data[k].available.iter_mut().for_each(|f| self.function(f, value)),
            Place::Allocation(p, l) => model.processes[p].resources[l].allocation.iter_mut().for_each(|f| self.function(f, value)),
            Place::Written(p, m) => self.function(&mut model.processes[p].outputs[m].written, value),
            Place::Part(shared, process) => {
                if !(value > 0.0 && value < 1.0) {
                    return Err(PredictError::field(&self.path, format!("a part lies between 0 and 1, and {value} does not")));
                }
                let others: f64 = users(model, shared).filter(|user| user.0 != process).map(|user| user.2).sum();
                let all: Vec<(usize, usize, f64)> = users(model, shared).collect();
                for (p, l, weight) in all {
                    let part = if p == process { value } else { (1.0 - value) * weight / others };
                    model.processes[p].resources[l].weight = Some(part);
                }
            }
        }
        Ok(())
    }

    fn function(&self, function: &mut Function, value: f64) {
        match (self.change, function) {
            (Change::Set, function) => *function = Function::Constant(value),
            (Change::Times, Function::Constant(c)) => *c *= value,
            (Change::Times, Function::Points(points)) => points.points.iter_mut().for_each(|point| point.1 *= value),
            (Change::Times, Function::Pieces(pieces)) => {
                pieces.pieces.iter_mut().flat_map(|piece| &mut piece.polynomial).for_each(|c| *c *= value);
            }
        }
    }
}

/// Who uses a shared resource: process, resource of it, weight.
fn users(model: &Model, shared: usize) -> impl Iterator<Item = (usize, usize, f64)> {
    let name = model.shared[shared].name.as_str();
    model.processes.iter().enumerate().flat_map(move |(p, process)| {
        let of = process.resources.iter().enumerate().filter(move |(_, r)| r.shared.as_deref() == Some(name));
        of.map(move |(l, r)| (p, l, r.weight.unwrap_or(1.0)))
    })
}

/// By number or, where none has that number, by name.
fn nth<'m, T>(all: &'m [T], wanted: Option<&str>, name: impl Fn(&'m T) -> &'m str) -> Option<usize> {
    let wanted = wanted?;
    wanted.parse().ok().filter(|at| *at < all.len()).or_else(|| all.iter().position(|one| name(one) == wanted))
}

fn place(model: &Model, steps: &[Step<'_>]) -> Option<Place> {
    let process = |wanted| nth(&model.processes, wanted, |p: &Process| &p.name);
    match *steps {
        [("shared", s), ("capacity", None)] => Some(Place::Capacity(nth(&model.shared, s, |s| &s.name)?)),
        [("shared", s), ("part", p)] => {
            let (s, p) = (nth(&model.shared, s, |s| &s.name)?, process(p)?);
            users(model, s).any(|user| user.0 == p).then_some(Place::Part(s, p))
        }
        [("processes", p), ("start_s", None)] => process(p).map(Place::Start),
        [("processes", p), (list, n), (field, None)] => {
            let p = process(p)?;
            let of = &model.processes[p];
            let data = |n| nth(&of.data, n, |d: &DataInput| &d.name);
            let resource = |n| nth(&of.resources, n, |r: &Resource| &r.name);
            match (list, field) {
                ("data", "requirement") => Some(Place::Requirement(End::Data, p, data(n)?)),
                ("data", "available") => data(n).filter(|k| of.data[*k].available.is_some()).map(|k| Place::Available(p, k)),
                ("resources", "requirement") => Some(Place::Requirement(End::Resource, p, resource(n)?)),
                ("resources", "allocation") => {
                    resource(n).filter(|l| of.resources[*l].allocation.is_some()).map(|l| Place::Allocation(p, l))
                }
                ("resources", "weight") => resource(n).filter(|l| of.resources[*l].shared.is_some()).map(|l| Place::Weight(p, l)),
                ("outputs", "written") => nth(&of.outputs, n, |o: &Output| &o.name).map(|m| Place::Written(p, m)),
                _ => None,
            }
        }
        _ => None,
    }
}

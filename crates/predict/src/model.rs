//! The model as its file has it: what goes in. `docs/prediction.md` explains each field.

use serde::{Deserialize, Serialize};

/// A workflow: processes, what they need and what they are given.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// The workflow's name.
    #[serde(default)]
    pub name: String,
    /// What several processes share: a link, a disk, a pool of CPUs.
    #[serde(default)]
    pub shared: Vec<Shared>,
    /// The processes, in any order.
    pub processes: Vec<Process>,
}

/// A resource that several processes share.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shared {
    /// Its name, by which resources refer to it.
    pub name: String,
    /// What there is of it a second, over time in seconds.
    pub capacity: Function,
    /// How it is shared among those who use it at the same time.
    #[serde(default)]
    pub policy: Policy,
    /// The unit of its amount, such as `bytes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
}

/// How a resource is shared among those who are running. What one does not use goes to the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Policy {
    /// All who use it get equal parts.
    #[default]
    Fair,
    /// Users get parts in proportion to their weights.
    Weighted,
    /// The highest priority first; equal priorities by weight.
    Prioritised,
}

/// A process of the workflow: a task or a transfer.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Process {
    /// Its name, unlike all others.
    pub name: String,
    /// The progress at which it has finished, in a unit of its own.
    pub progress: f64,
    /// It does not start before this time, in seconds.
    #[serde(default)]
    pub start_s: f64,
    /// Names of processes that have to finish before it starts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
    /// The data inputs that the process reads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub data: Vec<DataInput>,
    /// The resources that it uses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<Resource>,
    /// The data that it writes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<Output>,
}

/// A data input: what progress an amount of it allows, and where it comes from.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataInput {
    /// Its name within the process.
    pub name: String,
    /// From an amount of data to the progress that it allows; never falls.
    pub requirement: Function,
    /// What is there over time in seconds; never falls. Either this or `from`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub available: Option<Function>,
    /// The output of another process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Source>,
    /// The unit, such as `bytes`; that of the output it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
}

/// The output of another process from which data come.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// The process that writes them.
    pub process: String,
    /// The name of that process's output.
    pub output: String,
    /// Whether they can be read as they are written.
    #[serde(default)]
    pub when: When,
}

/// When the data of an edge can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum When {
    /// As they are written, while their writer runs.
    #[default]
    Streaming,
    /// When their writer has finished; the reader does not start before.
    Complete,
}

/// A resource: how much of it progress costs, and what is allocated.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resource {
    /// Its name within the process.
    pub name: String,
    /// From progress to the amount needed to get there; never falls; straight pieces. A jump is an
    /// amount that is needed at that progress before any more can be made.
    pub requirement: Function,
    /// What the process gets of it a second, over time in seconds. Either this or `shared`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocation: Option<Function>,
    /// Name of the shared resource, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<String>,
    /// Its weight among those who share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// Its priority among those who share; higher goes first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<i32>,
    /// The unit of its amount, such as `cpu_s`; that of the shared resource.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
}

/// A data output: how much is written by which progress.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Output {
    /// Its name within the process.
    pub name: String,
    /// From progress to the amount written by then; never falls.
    pub written: Function,
    /// The unit, such as `bytes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
}

/// A function of one number.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged, expecting = "a function is a number, points ([[x, y], …]) or pieces ([{from, polynomial}, …])")]
pub enum Function {
    /// The same value everywhere.
    Constant(f64),
    /// Straight lines between points, given as pairs of place and value.
    Points(Points),
    /// Polynomials, each from a place on.
    Pieces(Pieces),
}

/// Straight lines between points; two points at one place are a jump.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Points {
    /// Pairs of place and value, the places ascending from 0.
    pub points: Vec<(f64, f64)>,
}

/// Polynomials, each from a place on.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pieces {
    /// The pieces, ascending from 0.
    pub pieces: Vec<Piece>,
}

/// A polynomial from a place on.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Piece {
    /// From where on, along the function's argument, the polynomial holds.
    pub from: f64,
    /// Its coefficients, ascending, of the distance from there.
    pub polynomial: Vec<f64>,
}

//! How a process stands, and what it has of shared resources.

use super::joint::Terms;
use super::segment::{Limit, Segment};
use crate::functions::Poly;

/// What a process has of one resource.
#[derive(Debug, Clone, Copy)]
pub(super) struct Share {
    pub since: f64,
    pub given: Poly,
    /// Whether the process gets all of the resource that it can use.
    pub satisfied: bool,
}

/// What a user of a shared resource could use.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Demand {
    Nothing,
    UpTo(Poly),
    All,
}

/// How a process stands at a moment of the analysis.
#[derive(Debug, Clone)]
pub(super) struct State {
    pub running: bool,
    pub started: Option<f64>,
    pub finished: Option<f64>,
    pub since: f64,
    pub progress: Poly,
    pub limit: Limit,
    /// When it has to be looked at again, and the progress it has then reached exactly.
    pub next: f64,
    pub reaches: Option<f64>,
    pub version: u32,
    pub missing: usize,
    /// What is left of amounts that are needed at the present progress, by resource.
    pub burst: Vec<f64>,
    pub burst_at: f64,
    pub burst_since: f64,
    pub shares: Vec<Option<Share>>,
    pub demand: Demand,
    pub demand_since: f64,
    /// What limits it, of a process of a cluster that runs.
    pub terms: Option<Box<Terms>>,
    pub segments: Vec<Segment>,
    /// What it was given of shared resources: resource, from when, how much a second.
    pub given: Vec<(usize, f64, Poly)>,
}

impl State {
    pub fn new(missing: usize, resources: usize) -> Self {
        Self {
            running: false,
            started: None,
            finished: None,
            since: 0.0,
            progress: Poly::constant(0.0),
            limit: Limit::NotStarted,
            next: f64::INFINITY,
            reaches: None,
            version: 0,
            missing,
            burst: vec![0.0; resources],
            burst_at: -1.0,
            burst_since: 0.0,
            shares: vec![None; resources],
            demand: Demand::Nothing,
            demand_since: 0.0,
            terms: None,
            segments: Vec::new(),
            given: Vec::new(),
        }
    }
}

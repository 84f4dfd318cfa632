//! Block-structured process models: a process tree by the Inductive Miner, its Petri net, and their
//! quality on the log.
//!
//! In goes a log and its cases; the traces are the activities of a case in the order of their
//! starts. Out comes a [`ProcessModel`]. Definitions, papers and bounds: `flowmine-process-models`
//! and `docs/process-models.md`.

use flowmine_activity_log::{ActivityLog, Cases, variants};
use flowmine_process_models::{Error, PetriNet, ProcessTree, Variant, Variants, align, declare, inductive, replay};

use rustc_hash::FxHashMap;

use crate::about::About;
use crate::ranks::ranks;
use crate::sojourn::{self, Sojourn};
use crate::stats::percentile;

/// Options of discovery and measures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// Noise threshold: share, 0 to 1, of the most frequent edge out of an activity below which an
    /// edge is noise; 0 is IM, above it IMf.
    pub noise: f64,
    /// Whether alignments are computed; their cost grows up to the third power of a trace's length.
    pub alignments: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { noise: 0.0, alignments: true }
    }
}

/// A model with its quality on the log.
#[derive(Debug, Clone, PartialEq)]
pub struct ProcessModel {
    /// Description of the log.
    pub about: About,
    /// Noise threshold of the discovery, 0 to 1; see [`Options::noise`].
    pub noise: f64,
    /// Number of distinct traces in the log.
    pub variants: u64,
    /// The process tree that the Inductive Miner found.
    pub tree: ProcessTree,
    /// Number of parts of the log that became a flower: any number of any of their activities.
    pub flowers: u64,
    /// Number of fall-throughs that were not tried because of their cost.
    pub passed_over: u64,
    /// Petri net of the tree.
    pub net: PetriNet,
    /// Executions of the net's activities, by their numbers in it.
    pub executions: Vec<Execution>,
    /// Times of tokens in the net's places, by their numbers.
    pub sojourns: Vec<Sojourn>,
    /// Token-based replay: the log's fitness, 0 to 1.
    pub fitness: f64,
    /// The share of cases that fit without a fault.
    pub fitting_cases: f64,
    /// Number of variants that may fit, because a search met its bound.
    pub cut_short: u64,
    /// Precision (ETConformance, by token-based replay), 0 to 1; `None` if the log has no state to
    /// judge.
    pub precision: Option<f64>,
    /// Number of steps of cases after a prefix that the net cannot replay; they do not count in the
    /// precision.
    pub not_followed: u64,
    /// Generalisation, 0 to 1.
    pub generalisation: f64,
    /// Fitness by alignments over the cases that have one; `None` if there are none.
    pub alignment_fitness: Option<f64>,
    /// Number of cases without an alignment because it would exceed the limit.
    pub not_aligned: u64,
}

impl ProcessModel {
    /// Whether the log has times: some token stayed in a place.
    pub fn has_times(&self) -> bool {
        self.sojourns.iter().any(|of| of.mean_ns.is_some_and(|mean| mean > 0.0))
    }
}

/// Executions of an activity: number and duration.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Execution {
    /// Number of its instances.
    pub count: u64,
    /// Median time from start to end in nanoseconds; `None` if no instance has both.
    pub median_ns: Option<f64>,
}

/// Returns the executions of these activities in the cases of a log.
fn executions(log: &ActivityLog, cases: &Cases, activities: &[String]) -> Vec<Execution> {
    let mut counts = vec![0; log.activities.len()];
    let mut times: Vec<Vec<i64>> = vec![Vec::new(); log.activities.len()];
    for at in (0..cases.len()).flat_map(|case| cases.of(case)) {
        let activity = log.instances.activity[at as usize] as usize;
        counts[activity] += 1;
        // An event that is a moment has no duration.
        times[activity].extend(log.service_ns(at).filter(|_| log.has_intervals()));
    }
    let numbers: FxHashMap<&str, usize> = log.activities.iter().zip(0..).collect();
    let mut of = |name: &String| {
        let Some(&at) = numbers.get(name.as_str()) else { return Execution::default() };
        let times = &mut times[at];
        Execution { count: counts[at], median_ns: (!times.is_empty()).then(|| percentile(times, 0.5)) }
    };
    activities.iter().map(&mut of).collect()
}

/// Returns the variants of a log's cases for process models: activities are numbered in the order
/// of their names, so that nothing depends on their order in the log.
///
/// # Errors
/// Never for a log of this crate: its activities have names.
pub fn variants_of(log: &ActivityLog, cases: &Cases) -> Result<Variants, Error> {
    let found = variants(log, cases);
    let ranks = ranks(&log.activities);
    let ranked = |trace: Vec<u32>| trace.into_iter().map(|activity| ranks[activity as usize]).collect();
    let list = found.variants.into_iter().map(|variant| Variant { trace: ranked(variant.trace), count: variant.count }).collect();
    Variants::new(log.activities.sorted().into_iter().map(|activity| log.activities.get(activity).to_owned()).collect(), list)
}

/// Discovers a model and measures it.
///
/// # Errors
/// [`Error`] for a noise threshold outside 0 to 1 and for logs beyond the bounds of
/// `flowmine-process-models`.
pub fn discover(log: &ActivityLog, cases: &Cases, options: &Options) -> Result<ProcessModel, Error> {
    let variants = variants_of(log, cases)?;
    let found = inductive::discover(&variants, inductive::Options { noise: options.noise, ..inductive::Options::default() })?;
    let net = PetriNet::of_tree(&found.tree);
    let replayed = replay::replay(&net, &variants, replay::Options::default());
    let precision = replay::precision(&net, &variants, replay::Options::default());
    let aligned = if options.alignments { Some(align::align(&found.tree, &variants, align::Options::default())?) } else { None };
    Ok(ProcessModel {
        about: About::new(log, cases),
        noise: options.noise,
        variants: variants.variants().len() as u64,
        flowers: found.flowers,
        passed_over: found.passed_over,
        fitness: replayed.fitness(),
        fitting_cases: replayed.fitting,
        cut_short: replayed.cut_short,
        precision: Some(precision.precision).filter(|_| precision.followed > 0),
        not_followed: precision.not_followed,
        generalisation: replayed.generalisation(),
        alignment_fitness: aligned.as_ref().and_then(align::Alignments::fitness),
        not_aligned: aligned.as_ref().map_or(0, align::Alignments::undecided),
        tree: found.tree,
        sojourns: sojourn::sojourns((log, cases), &net, (&variants, &ranks(&log.activities)), &replayed.runs),
        executions: executions(log, cases, net.labels()),
        net,
    })
}

/// Declarative constraints that hold in a log.
#[derive(Debug, Clone, PartialEq)]
pub struct Constraints {
    /// Description of the log.
    pub about: About,
    /// Names of activities, by their numbers in constraints.
    pub activities: Vec<String>,
    /// The constraints, by template and activities.
    pub constraints: Vec<declare::Constraint>,
}

/// Finds the constraints that hold in a log.
///
/// # Errors
/// [`Error`] for thresholds outside 0 to 1, or more pairs than the bound allows.
pub fn constraints(log: &ActivityLog, cases: &Cases, options: &declare::Options) -> Result<Constraints, Error> {
    let variants = variants_of(log, cases)?;
    let constraints = declare::discover(&variants, options)?;
    Ok(Constraints { about: About::new(log, cases), activities: variants.activities().to_vec(), constraints })
}

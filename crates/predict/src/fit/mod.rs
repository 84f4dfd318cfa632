//! Models of logical tasks fitted to runs that were traced, and the model of a run made of them.
//!
//! In go runs ([`TracedRun`]) and, of one of them, its tasks and the bytes that it read from
//! outside; out comes a [`Model`] that can be written, edited and predicted, and what was learnt of
//! each logical task with its error. Progress is seconds of work, as long as the task ran when
//! nothing held it up.
//!
//! Of each input: which share of its bytes was needed by which share of the work; of each output:
//! which share was there by then. Shares are averaged over all instances; seconds of work and bytes
//! written grow with the bytes read as [`Scale`] says. `docs/prediction.md` has the rules.

mod activity;
mod options;
mod scale;
mod shape;
mod workflow;

use std::collections::{BTreeMap, BTreeSet};

use flowmine_activity_log::TracedRun;

use activity::Activity;
pub use activity::Pace;
pub use options::{Link, Options, Start};
pub use scale::Scale;
pub use shape::{MAX_PIECES, Shape};

use crate::error::PredictError;
use crate::model::Model;

/// What was learnt of an input or output.
#[derive(Debug, Clone, PartialEq)]
pub struct LearntEnd {
    /// The logical task at the other end; `None` for data from before the run, and for data that no
    /// task of the run read.
    pub other: Option<String>,
    /// Shares of bytes by shares of work.
    pub shape: Shape,
}

impl LearntEnd {
    /// Whether all of it is needed while more than half of the work is still to come: the paper's
    /// burst; else it is a stream.
    pub fn is_burst(&self) -> bool {
        self.shape.work_after() > 0.5
    }
}

/// What was learnt of a logical task.
#[derive(Debug, Clone, PartialEq)]
pub struct Learnt {
    /// Name of the logical task.
    pub name: String,
    /// Instances that it was learnt from.
    pub instances: usize,
    /// How many of these were traced; of the others only times and bytes are known.
    pub traced: usize,
    /// How many read what was still being written, so that their waiting counts as work.
    pub streamed: usize,
    /// Seconds of work by bytes read or, of a task that reads nothing that was traced, by bytes
    /// written.
    pub work: Scale,
    /// Bytes written, by bytes as with `work`; nothing when it writes nothing.
    pub written: Option<Scale>,
    /// Its inputs, by the logical tasks that wrote them.
    pub inputs: Vec<LearntEnd>,
    /// Its outputs, by the logical tasks that read them.
    pub outputs: Vec<LearntEnd>,
    /// CPU seconds for each second of work; nothing when not known.
    pub cpu: Option<f64>,
    /// What its work goes to, from which share on.
    pub paces: Vec<(f64, Pace)>,
}

/// A model from the fitted parameters.
#[derive(Debug, Clone)]
pub struct Fitted {
    /// The model of the run.
    pub model: Model,
    /// The logical tasks of it.
    pub learnt: Vec<Learnt>,
    /// How long the run took when it was observed, in seconds.
    pub observed_s: Option<f64>,
    /// What is not known, and what to record so that it is.
    pub notes: Vec<String>,
}

/// Learns from runs and makes the model of one of them, which may be none of those learnt from.
/// Tasks that none of the runs has are learnt from it itself, which is said.
///
/// # Errors
/// [`PredictError::Field`] when the run has no task, or a name of the options is none of a task.
pub fn fit(runs: &[&TracedRun], target: &TracedRun, options: &Options) -> Result<Fitted, PredictError> {
    if target.tasks.is_empty() {
        let of = &target.left_out;
        let problem = format!(
            "{}: there is nothing to fit: of its tasks {} have neither start and end nor a run time, {} had not ended, failed or were aborted, \
             {} were not run because an earlier result was taken",
            target.name, of.without_times, of.not_completed, of.cached
        );
        return Err(PredictError::field("run", problem));
    }
    if !(options.inputs_times.is_finite() && options.inputs_times > 0.0) {
        return Err(PredictError::field("inputs-times", "a factor is above zero and finite"));
    }
    let of_share = options.share.iter().flat_map(|link| &link.tasks).map(|name| ("share", name));
    for (option, name) in of_share.chain(options.stream.iter().map(|name| ("stream", name))) {
        if !target.tasks.iter().any(|task| task.name == *name) {
            let known: Vec<&str> = target.tasks.iter().map(|task| task.name.as_str()).take(8).collect();
            return Err(PredictError::field(option, format!("there is no task {name:?}; there are {}", known.join(", "))));
        }
    }
    let circular = target.tasks.len() - workflow::order(target).len();
    if circular == target.tasks.len() {
        return Err(PredictError::field("run", format!("{}: all its {circular} tasks wait for each other in a circle", target.name)));
    }
    let names: BTreeSet<&str> = target.tasks.iter().map(|task| task.activity.as_str()).collect();
    let mut notes = Vec::new();
    if circular > 0 {
        notes.push(format!("left out: {circular} tasks that wait for each other in a circle, or for such tasks"));
    }
    let mut learnt: BTreeMap<&str, Activity> = BTreeMap::new();
    let mut strangers = Vec::new();
    for name in names {
        let of = Activity::new(runs, name).or_else(|| {
            strangers.push(name);
            Activity::new(&[target], name)
        });
        learnt.extend(of.map(|of| (name, of)));
    }
    if !strangers.is_empty() {
        notes.push(format!("not in the runs that were learnt from, and so taken from the predicted one itself: {}", strangers.join(", ")));
    }
    let model = workflow::model(target, &learnt, options);
    let learnt: Vec<Learnt> = learnt.into_iter().map(|(name, of)| told(name, of)).collect();
    notes.extend(missing(runs, target, &learnt, options));
    Ok(Fitted { model, learnt, observed_s: target.makespan_s, notes })
}

fn told(name: &str, of: Activity) -> Learnt {
    let ends = |ends: BTreeMap<Option<String>, activity::End>| {
        ends.into_iter().map(|(other, end)| LearntEnd { other, shape: end.shape }).collect::<Vec<_>>()
    };
    Learnt {
        name: name.to_owned(),
        instances: of.instances,
        traced: of.traced,
        streamed: of.streamed,
        work: of.work,
        written: of.written,
        inputs: ends(of.inputs),
        outputs: ends(of.outputs),
        cpu: of.cpu.map(|(rate, _)| rate),
        paces: of.paces,
    }
}

/// What the data do not show, and what would.
fn missing(runs: &[&TracedRun], target: &TracedRun, learnt: &[Learnt], options: &Options) -> Vec<String> {
    let mut notes = Vec::new();
    let any = |of: &dyn Fn(&flowmine_activity_log::RunLeftOut) -> bool| runs.iter().any(|run| of(&run.left_out));
    let sum = |of: &dyn Fn(&flowmine_activity_log::RunLeftOut) -> u64| runs.iter().map(|run| of(&run.left_out)).sum::<u64>();
    if any(&|of| of.uncorrelated) {
        notes.push("operations were traced but belong to no task: run `flowmine correlate` on the dataset first".to_owned());
    }
    let coarse: Vec<&str> = learnt.iter().filter(|of| of.traced == 0).map(|of| of.name.as_str()).collect();
    if !coarse.is_empty() {
        let which = if coarse.len() == learnt.len() { "all tasks".to_owned() } else { listed(&coarse) };
        notes.push(format!(
            "coarse: of {which} only run times and, if recorded, bytes are known: the model reads all at the start of each, writes all at its end and \
             works at one rate. It has no streams, shared processors or links: record them with `flowmine trace`"
        ));
    }
    let no_start = target.tasks.iter().filter(|task| task.start_s.is_none()).count();
    if no_start > 0 {
        let work: f64 = target.tasks.iter().map(|task| task.run_s).sum();
        let took = target.makespan_s.map_or_else(String::new, |took| format!("; the run took {took:.1} s"));
        notes.push(format!(
            "of {no_start} of {} tasks no start is known: in the model, each starts when its predecessors have ended, and waits for no worker, queue or transfer. \
             All run times together are {work:.1} s{took}",
            target.tasks.len()
        ));
    }
    if any(&|of| of.only_totals) {
        notes.push(
            "the trace has only sums of operations, so the model spreads reads and writes evenly between the first and the last: \
             record with `flowmine trace --detail events`"
                .to_owned(),
        );
    }
    let lost = sum(&|of| of.lost);
    if lost > 0 {
        notes.push(format!(
            "{lost} operations that read or write, or may, were lost by the trace: bytes fitted to the others are lower bounds; \
             the table `losses` has the reasons, and a larger `--ring` helps where it was full"
        ));
    }
    let streamed: Vec<&str> = learnt.iter().filter(|of| of.streamed > 0).map(|of| of.name.as_str()).collect();
    if !streamed.is_empty() {
        notes.push(format!(
            "{} read while it was still being written in all runs, so that waiting for it counts as work: trace each once alone, with its input complete",
            listed(&streamed)
        ));
    }
    let one_size = learnt.iter().any(|of| of.work.one_size && of.work.per_byte > 0.0);
    if one_size && options.inputs_times != 1.0 {
        notes.push(
            "some tasks have inputs of one size only: their work is assumed to grow in proportion to the size; record a second size"
                .to_owned(),
        );
    }
    let unknown: Vec<&str> = learnt.iter().filter(|of| of.traced > 0 && of.cpu.is_none()).map(|of| of.name.as_str()).collect();
    if !unknown.is_empty() {
        notes.push(format!("the CPU time of {} is not known: record until all their processes have ended", listed(&unknown)));
    }
    if target.processors.is_empty() && learnt.iter().any(|of| of.traced > 0) {
        notes.push(
            "the number of processors of the hosts is not known (no rows in `hosts`), so that tasks do not share them in the model"
                .to_owned(),
        );
    }
    for (count, what) in [
        (sum(&|of| of.not_completed), "had not ended, failed or were aborted"),
        (sum(&|of| of.without_times), "have neither start and end nor a run time"),
        (sum(&|of| of.cached), "were not run because an earlier result was taken"),
    ] {
        if count > 0 {
            notes.push(format!("left out: {count} tasks that {what}"));
        }
    }
    if target.left_out.circular > 0 {
        notes.push(format!("{} flows of data would make tasks wait for each other and are left out", target.left_out.circular));
    }
    for link in &options.share {
        notes.push(format!("{}: what {} wait for elsewhere, shared; 1 is what one of them had alone", link.name, link.tasks.join(", ")));
    }
    notes
}

/// Names, not too many of them.
fn listed(names: &[&str]) -> String {
    const SHOWN: usize = 8;
    match names.len() {
        n if n > SHOWN => format!("{} and {} more", names[..SHOWN].join(", "), n - SHOWN),
        _ => names.join(", "),
    }
}

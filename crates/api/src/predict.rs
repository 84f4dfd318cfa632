//! Predictions of a model file, or of a model that is fitted to traced runs.

mod written;

use std::io;
use std::path::{Path, PathBuf};

use flowmine_activity_log::TracedRun;
use flowmine_correlate::Filter;
use flowmine_dataset::Dataset;
use flowmine_logs::task_log::Tasks;
use flowmine_logs::traced_run;
use flowmine_predict::fit::{self, Fitted};
use flowmine_predict::model::Model;
use flowmine_predict::report::Report;
use flowmine_predict::study;
use flowmine_privacy::RowRules;

use crate::error::{Context, Result, ensure, refuse};
use crate::options::Choice;
use crate::sink::{Message, Sink};
use crate::{inputs, lower_bounds};

pub use flowmine_predict::fit::{Link, Options, Start};
pub use flowmine_predict::study::{Sweep, Vary};
pub use flowmine_predict::what_if::Wider;
pub use written::Format;

/// The most bytes of a model's file: a larger one is refused.
const MAX_BYTES: u64 = 512 << 20;

/// A prediction: of which model, with which studies, and where it is written.
#[derive(Debug, Clone)]
pub struct Request {
    /// The model.
    pub of: Of,
    /// What is studied next to the prediction.
    pub studies: Studies,
    /// The file for the model: TOML by its ending, else JSON.
    pub write_model: Option<PathBuf>,
    /// The format; by default that of the ending of the output file, else text.
    pub format: Option<Format>,
    /// The file; standard output without.
    pub output: Option<PathBuf>,
    /// Whether use of resources and waiting data are written, too.
    pub details: bool,
    /// Whether a figure has no heading and no legend.
    pub plain: bool,
    /// The CSV file with measured values of a sweep.
    pub measured: Option<PathBuf>,
}

/// The model of a prediction.
#[derive(Debug, Clone)]
pub enum Of {
    /// The model in a file.
    File(PathBuf),
    /// A model that is fitted to runs.
    Runs(Runs),
}

/// Predicts, and writes the prediction.
///
/// # Errors
/// When the model cannot be read or fitted, contradicts itself, or what was asked for cannot be
/// written in the format.
pub fn predict(request: &Request, sink: &dyn Sink) -> Result<()> {
    let source = match &request.of {
        Of::File(path) => Source::file(path)?,
        Of::Runs(runs) => Source::fit(runs, sink)?,
    };
    let format = written::format(request)?;
    if let Some(path) = &request.write_model {
        written::model(&source.model, path)?;
    }
    let measured = request.measured.as_deref().map(written::measurements).transpose()?.unwrap_or_default();
    source.predict(&request.studies, sink, |report| {
        written::report(request, format, report, &measured)?;
        if format != Format::Text {
            report.notes().for_each(|note| sink.message(Message::Done(note)));
        }
        Ok(())
    })?
}

impl Choice for Start {
    const VALUES: &'static [(&'static str, &'static str, Self)] =
        &[("observed", "With the delays that were observed", Self::Observed), ("ready", "As soon as what they read is there", Self::Ready)];
}

/// A model, and where it comes from.
pub struct Source {
    /// The file, or that the model is fitted.
    pub place: String,
    /// The model.
    pub model: Model,
    /// The fit, where there is one.
    pub fitted: Option<Fitted>,
    /// The tasks of the fitted run with their activities.
    pub activities: Vec<(String, String)>,
}

/// The runs to which a model is fitted.
#[derive(Debug, Clone, Default)]
pub struct Runs {
    /// The datasets with runs, traced and correlated.
    pub datasets: Vec<PathBuf>,
    /// The run that is predicted: its name, its id, or the directory of its dataset.
    pub run: Option<String>,
    /// Whether the predicted run is left out of what is learnt from.
    pub held_out: bool,
    /// How the model is made.
    pub options: Options,
}

/// What is studied next to the prediction.
#[derive(Debug, Clone, Default)]
pub struct Studies {
    /// How much wider each thing that limits is made.
    pub wider: Option<Wider>,
    /// The factor and the number of the longest segments that are made wider alone.
    pub segments: Option<(f64, usize)>,
    /// A number of the model that is swept.
    pub sweep: Option<Sweep>,
    /// Whether the sensitivity of the finish is computed.
    pub sensitivity: bool,
    /// Numbers of the model that are drawn at random.
    pub vary: Vec<Vary>,
    /// How many times they are drawn.
    pub samples: usize,
    /// The seed of the draws.
    pub seed: u64,
}

impl Source {
    /// Reads a model file: TOML by its ending, else JSON.
    ///
    /// # Errors
    /// When the file cannot be read, is too large, or is no model.
    pub fn file(path: &Path) -> Result<Self> {
        let place = path.display().to_string();
        let text = match inputs::text(path, MAX_BYTES) {
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
                refuse!("{place}: a model has at most {} MiB", MAX_BYTES >> 20)
            }
            read => read.context(&place)?,
        };
        let is_toml = path.extension().is_some_and(|ending| ending == "toml");
        let model = if is_toml { Model::from_toml(&text) } else { Model::from_json(&text) }.context(&place)?;
        Ok(Self { place, model, fitted: None, activities: Vec::new() })
    }

    /// Reads all runs of all datasets and fits the model of one of them.
    ///
    /// # Errors
    /// When a dataset cannot be read, the run cannot be chosen, or there is nothing to fit.
    pub fn fit(runs: &Runs, sink: &dyn Sink) -> Result<Self> {
        let found = read(&runs.datasets, sink)?;
        let target = choose(&found, runs.run.as_deref())?;
        let learn: Vec<&TracedRun> =
            found.iter().enumerate().filter(|(at, _)| !runs.held_out || *at != target).map(|(_, found)| &found.run).collect();
        ensure!(!learn.is_empty(), "--held-out leaves no run to learn from: give the datasets of others too");
        let _stage = sink.stage("fitting");
        let fitted = fit::fit(&learn, &found[target].run, &runs.options)?;
        let activities = found[target].run.tasks.iter().map(|task| (task.name.clone(), task.activity.clone())).collect();
        Ok(Self { place: "the fitted model".to_owned(), model: fitted.model.clone(), fitted: Some(fitted), activities })
    }

    /// Predicts, studies, and gives the report to `tell`.
    ///
    /// # Errors
    /// When the model contradicts itself, or a study names what it does not have.
    pub fn predict<T>(&self, studies: &Studies, sink: &dyn Sink, tell: impl FnOnce(&Report<'_>) -> T) -> Result<T> {
        let stage = sink.stage("predicting");
        let workflow = self.model.check().context(&self.place)?;
        let prediction = workflow.predict().context(&self.place)?;
        let report = Report {
            gains: studies.wider.map(|wider| workflow.gains(wider)).transpose()?.unwrap_or_default(),
            segment_gains: studies.segments.map(|(times, most)| workflow.segment_gains(times, most)).transpose()?.unwrap_or_default(),
            sweep: match &studies.sweep {
                Some(sweep) => {
                    let (points, best) = study::sweep(&self.model, sweep)?;
                    Some((sweep.clone(), points, best))
                }
                None => None,
            },
            sensitivity: if studies.sensitivity { Some(study::sensitivity(&self.model)?) } else { None },
            interval: if studies.vary.is_empty() {
                None
            } else {
                Some(study::monte_carlo(&self.model, &studies.vary, studies.samples, studies.seed)?)
            },
            prediction: &prediction,
            fitted: self.fitted.as_ref(),
        };
        drop(stage);
        Ok(tell(&report))
    }
}

/// A run and the directory of its dataset, as it was given.
struct Found {
    dir: String,
    names: Vec<String>,
    run: TracedRun,
}

fn read(datasets: &[PathBuf], sink: &dyn Sink) -> Result<Vec<Found>> {
    let _stage = sink.stage("reading the dataset");
    let mut found = Vec::new();
    for dir in datasets {
        let dataset = Dataset::open(dir)?;
        lower_bounds::warn(&dataset, sink)?;
        let (rules, filter) = (RowRules::default(), Filter::default());
        let tasks = Tasks::new(&dataset, &rules, &filter);
        let place = || format!("{} has no run to fit a model to", dir.display());
        for (name, names) in traced_run::runs(&tasks).with_context(place)? {
            let run = traced_run::read(&dataset, &tasks, Some(&name)).with_context(place)?;
            found.push(Found { dir: dir.display().to_string(), names, run });
        }
    }
    Ok(found)
}

/// The run that is called so, or the only one.
fn choose(found: &[Found], wanted: Option<&str>) -> Result<usize> {
    let known = || found.iter().map(|of| format!("{:?} in {}", of.run.name, of.dir)).take(8).collect::<Vec<_>>().join(", ");
    let Some(wanted) = wanted else {
        ensure!(found.len() == 1, "there are {} runs: choose the one that is predicted with --run; there are {}", found.len(), known());
        return Ok(0);
    };
    let is = |of: &Found| of.run.name == wanted || of.dir == wanted || of.names.iter().any(|name| name == wanted);
    let called: Vec<usize> = (0..found.len()).filter(|at| is(&found[*at])).collect();
    match called[..] {
        [only] => Ok(only),
        [] => refuse!("no run is called {wanted:?}; there are {}", known()),
        _ => {
            refuse!("more than one run is called {wanted:?}: give its name and id, or the directory of its dataset; there are {}", known())
        }
    }
}

//! `flowmine predict`: how long a model takes, or one fitted to traced runs.

use std::io::Read;
use std::path::Path;

use anyhow::Context;
use flowmine_activity_log::TracedRun;
use flowmine_api::endings::by_ending;
use flowmine_api::lower_bounds;
use flowmine_correlate::Filter;
use flowmine_dataset::Dataset;
use flowmine_logs::task_log::Tasks;
use flowmine_logs::traced_run;
use flowmine_predict::fit::{self, Fitted, Link, Options, Start};
use flowmine_predict::model::Model;
use flowmine_predict::picture;
use flowmine_predict::report::{self, Report};
use flowmine_predict::study::{self, Sweep, Vary};
use flowmine_predict::what_if::Wider;
use flowmine_privacy::RowRules;

use crate::args::{Predict, PredictFormat, StartArg};
use crate::outcome::Outcome;
use crate::progress::Stage;
use crate::terminal::Terminal;
use crate::{messages, output};

/// The most bytes of a model's file: a larger one is refused.
const MAX_BYTES: u64 = 512 << 20;

/// Predicts what a model says, or one fitted to datasets.
pub fn run(args: &Predict) -> anyhow::Result<Outcome> {
    let (place, model, fitted) = match &args.model {
        Some(path) => (path.display().to_string(), read(path)?, None),
        None => {
            let fitted = fit(args)?;
            ("the fitted model".to_owned(), fitted.model.clone(), Some(fitted))
        }
    };
    let format = args.format.map_or_else(|| by_name(args.output.as_deref()), Ok)?;
    refuse_what_is_not_told(args, format)?;
    if let Some(path) = &args.write_model {
        let as_toml = by_ending(Some(path), &MODELS, |_| true)?.unwrap_or(false);
        let text = if as_toml { model.to_toml()? } else { model.to_json()? };
        output::write(Some(path), |out| Ok(out.write_all(text.as_bytes())?))?;
    }
    let measured = args.measured.as_deref().map(measurements).transpose()?.unwrap_or_default();
    let place = || place.clone();
    let _stage = Stage::new("predicting");
    let workflow = model.check().with_context(place)?;
    let prediction = workflow.predict().with_context(place)?;
    let wider = if args.unlimited { Some(Wider::Unlimited) } else { args.widen.map(Wider::Times) };
    let report = Report {
        gains: wider.map(|wider| workflow.gains(wider)).transpose()?.unwrap_or_default(),
        segment_gains: match (args.widen, args.segments) {
            (Some(times), Some(most)) => workflow.segment_gains(times, most)?,
            _ => Vec::new(),
        },
        sweep: match &args.sweep {
            Some(text) => {
                let sweep: Sweep = text.parse()?;
                let (points, best) = study::sweep(&model, &sweep)?;
                Some((sweep, points, best))
            }
            None => None,
        },
        sensitivity: if args.sensitivity { Some(study::sensitivity(&model)?) } else { None },
        interval: if args.vary.is_empty() {
            None
        } else {
            let vary = args.vary.iter().map(|text| text.parse()).collect::<Result<Vec<Vary>, _>>()?;
            Some(study::monte_carlo(&model, &vary, args.samples, args.seed)?)
        },
        prediction: &prediction,
        fitted: fitted.as_ref(),
    };
    output::write(args.output.as_deref(), |out| match format {
        PredictFormat::Text => Ok(out.write_all(report::text(&report).as_bytes())?),
        PredictFormat::Csv => {
            let rows = if args.details && report.sweep.is_none() { report::csv_of_details(&prediction) } else { report::csv(&report) };
            Ok(out.write_all(rows.as_bytes())?)
        }
        PredictFormat::Svg => {
            let drawn = match &report.sweep {
                Some((sweep, points, best)) => picture::sweep(sweep, points, *best, &measured),
                None if args.details => picture::detailed(&prediction),
                None => picture::svg(&prediction),
            };
            Ok(out.write_all(drawn.as_bytes())?)
        }
        PredictFormat::Json => {
            serde_json::to_writer_pretty(&mut *out, &report::json(&report))?;
            Ok(out.write_all(b"\n")?)
        }
    })?;
    if format != PredictFormat::Text {
        report.notes().for_each(messages::note);
    }
    Ok(Outcome::Clean)
}

/// What was asked for has to be shown somewhere.
fn refuse_what_is_not_told(args: &Predict, format: PredictFormat) -> anyhow::Result<()> {
    let told = matches!(format, PredictFormat::Text | PredictFormat::Json);
    anyhow::ensure!(!args.details || format != PredictFormat::Text, "--details are written as svg, csv or json");
    let asked = [
        (args.widen.is_some() || args.unlimited, "--widen and --unlimited are"),
        (args.sensitivity, "--sensitivity is"),
        (!args.vary.is_empty(), "--vary is"),
    ];
    for (asked, what) in asked {
        anyhow::ensure!(!asked || told, "{what} written as text or json");
    }
    Ok(())
}

fn read(path: &Path) -> anyhow::Result<Model> {
    let place = || path.display().to_string();
    let mut text = String::new();
    let file = std::fs::File::open(path).with_context(place)?;
    file.take(MAX_BYTES + 1).read_to_string(&mut text).with_context(place)?;
    anyhow::ensure!(text.len() as u64 <= MAX_BYTES, "{}: a model has at most {} MiB", place(), MAX_BYTES >> 20);
    let is_toml = path.extension().is_some_and(|ending| ending == "toml");
    if is_toml { Model::from_toml(&text) } else { Model::from_json(&text) }.with_context(place)
}

/// Values and seconds of a CSV file; a first line of words is passed over.
fn measurements(path: &Path) -> anyhow::Result<Vec<(f64, f64)>> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let mut points = Vec::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
        match line.split_once(',').map(|(value, seconds)| (number(value), number(seconds))) {
            Some((Some(value), Some(seconds))) => points.push((value, seconds)),
            _ if at == 0 => {}
            _ => anyhow::bail!("{}:{}: a line has a value and seconds, with a comma between", path.display(), at + 1),
        }
    }
    Ok(points)
}

/// The endings of models' names: whether it is TOML, and not JSON.
const MODELS: [(&str, bool); 2] = [("json", false), ("toml", true)];

/// The format that the ending of a result's name stands for.
fn by_name(path: Option<&Path>) -> anyhow::Result<PredictFormat> {
    const ENDINGS: [(&str, PredictFormat); 4] =
        [("txt", PredictFormat::Text), ("json", PredictFormat::Json), ("csv", PredictFormat::Csv), ("svg", PredictFormat::Svg)];
    Ok(by_ending(path, &ENDINGS, |_| true)?.unwrap_or(PredictFormat::Text))
}

/// A run and the directory of its dataset, as it was given.
struct Found {
    dir: String,
    names: Vec<String>,
    run: TracedRun,
}

/// Reads all runs of all datasets and fits the model of one of them.
fn fit(args: &Predict) -> anyhow::Result<Fitted> {
    let mut found = Vec::new();
    {
        let _stage = Stage::new("reading the dataset");
        for dir in &args.dataset {
            let dataset = Dataset::open(dir)?;
            lower_bounds::warn(&dataset, &Terminal)?;
            let (rules, filter) = (RowRules::default(), Filter::default());
            let tasks = Tasks::new(&dataset, &rules, &filter);
            let place = || format!("{} has no run to fit a model to", dir.display());
            for (name, names) in traced_run::runs(&tasks).with_context(place)? {
                let run = traced_run::read(&dataset, &tasks, Some(&name)).with_context(place)?;
                found.push(Found { dir: dir.display().to_string(), names, run });
            }
        }
    }
    let target = choose(&found, args.run.as_deref())?;
    let learn: Vec<&TracedRun> =
        found.iter().enumerate().filter(|(at, _)| !args.held_out || *at != target).map(|(_, found)| &found.run).collect();
    anyhow::ensure!(!learn.is_empty(), "--held-out leaves no run to learn from: give the datasets of others too");
    let share = args.share.iter().map(|text| link(text)).collect::<anyhow::Result<Vec<_>>>()?;
    let start = match args.start {
        StartArg::Observed => Start::Observed,
        StartArg::Ready => Start::Ready,
    };
    let options = Options { start, stream: args.stream.clone(), inputs_times: args.inputs_times, share };
    let _stage = Stage::new("fitting");
    Ok(fit::fit(&learn, &found[target].run, &options)?)
}

/// The run that is called so, or the only one.
fn choose(found: &[Found], wanted: Option<&str>) -> anyhow::Result<usize> {
    let known = || found.iter().map(|of| format!("{:?} in {}", of.run.name, of.dir)).take(8).collect::<Vec<_>>().join(", ");
    let Some(wanted) = wanted else {
        anyhow::ensure!(
            found.len() == 1,
            "there are {} runs: choose the one that is predicted with --run; there are {}",
            found.len(),
            known()
        );
        return Ok(0);
    };
    let is = |of: &Found| of.run.name == wanted || of.dir == wanted || of.names.iter().any(|name| name == wanted);
    let called: Vec<usize> = (0..found.len()).filter(|at| is(&found[*at])).collect();
    match called[..] {
        [only] => Ok(only),
        [] => anyhow::bail!("no run is called {wanted:?}; there are {}", known()),
        _ => anyhow::bail!(
            "more than one run is called {wanted:?}: give its name and id, or the directory of its dataset; there are {}",
            known()
        ),
    }
}

fn link(text: &str) -> anyhow::Result<Link> {
    let (name, tasks) = text
        .split_once('=')
        .filter(|(name, tasks)| !name.is_empty() && !tasks.is_empty())
        .with_context(|| format!("--share {text:?} is not NAME=TASK,TASK…"))?;
    Ok(Link { name: name.to_owned(), tasks: tasks.split(',').map(str::to_owned).collect() })
}

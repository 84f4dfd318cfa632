//! `flowmine predict`: how long a model takes, or one fitted to traced runs.

use std::path::Path;

use anyhow::Context;
use flowmine_api::endings::{by_ending, format_of};
use flowmine_api::inputs;
use flowmine_api::predict::{Runs, Source, Studies};
use flowmine_predict::fit::{Link, Options, Start};
use flowmine_predict::report::{self, Report};
use flowmine_predict::what_if::Wider;
use flowmine_predict::{picture, study};

use crate::args::{Predict, PredictFormat, StartArg};
use crate::outcome::Outcome;
use crate::terminal::Terminal;
use crate::{messages, output};

/// Predicts what a model says, or one fitted to datasets.
pub fn run(args: &Predict) -> anyhow::Result<Outcome> {
    let source = match &args.model {
        Some(path) => Source::file(path)?,
        None => Source::fit(&runs(args)?, &Terminal)?,
    };
    let format = format_of(args.format, args.output.as_deref(), &ENDINGS, |_| true)?.unwrap_or(PredictFormat::Text);
    refuse_what_is_not_told(args, format)?;
    if let Some(path) = &args.write_model {
        let as_toml = by_ending(Some(path), &MODELS, |_| true)?.unwrap_or(false);
        let text = if as_toml { source.model.to_toml()? } else { source.model.to_json()? };
        output::write(Some(path), |out| Ok(out.write_all(text.as_bytes())?))?;
    }
    let measured = args.measured.as_deref().map(measurements).transpose()?.unwrap_or_default();
    source.predict(&studies(args)?, &Terminal, |report| write(args, format, report, &measured))??;
    Ok(Outcome::Clean)
}

fn runs(args: &Predict) -> anyhow::Result<Runs> {
    let share = args.share.iter().map(|text| link(text)).collect::<anyhow::Result<Vec<_>>>()?;
    let start = match args.start {
        StartArg::Observed => Start::Observed,
        StartArg::Ready => Start::Ready,
    };
    let options = Options { start, stream: args.stream.clone(), inputs_times: args.inputs_times, share };
    Ok(Runs { datasets: args.dataset.clone(), run: args.run.clone(), held_out: args.held_out, options })
}

fn studies(args: &Predict) -> anyhow::Result<Studies> {
    Ok(Studies {
        wider: if args.unlimited { Some(Wider::Unlimited) } else { args.widen.map(Wider::Times) },
        segments: args.widen.zip(args.segments),
        sweep: args.sweep.as_deref().map(str::parse).transpose()?,
        sensitivity: args.sensitivity,
        vary: args.vary.iter().map(|text| text.parse()).collect::<Result<Vec<study::Vary>, _>>()?,
        samples: args.samples,
        seed: args.seed,
    })
}

fn write(args: &Predict, format: PredictFormat, report: &Report<'_>, measured: &[(f64, f64)]) -> anyhow::Result<()> {
    output::write(args.output.as_deref(), |out| match format {
        PredictFormat::Text => Ok(out.write_all(report::text(report).as_bytes())?),
        PredictFormat::Csv => {
            let rows = if args.details && report.sweep.is_none() { report::csv_of_details(report.prediction) } else { report::csv(report) };
            Ok(out.write_all(rows.as_bytes())?)
        }
        PredictFormat::Svg => {
            let drawn = match &report.sweep {
                Some((sweep, points, best)) => picture::sweep(sweep, points, *best, measured),
                None if args.details => picture::detailed(report.prediction),
                None => picture::svg(report.prediction),
            };
            Ok(out.write_all(drawn.as_bytes())?)
        }
        PredictFormat::Json => {
            serde_json::to_writer_pretty(&mut *out, &report::json(report))?;
            Ok(out.write_all(b"\n")?)
        }
    })?;
    if format != PredictFormat::Text {
        report.notes().for_each(messages::note);
    }
    Ok(())
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

/// Values and seconds of a CSV file; a first line of words is passed over.
fn measurements(path: &Path) -> anyhow::Result<Vec<(f64, f64)>> {
    inputs::note(path);
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

/// The endings of predictions' names.
const ENDINGS: [(&str, PredictFormat); 4] =
    [("txt", PredictFormat::Text), ("json", PredictFormat::Json), ("csv", PredictFormat::Csv), ("svg", PredictFormat::Svg)];

fn link(text: &str) -> anyhow::Result<Link> {
    let (name, tasks) = text
        .split_once('=')
        .filter(|(name, tasks)| !name.is_empty() && !tasks.is_empty())
        .with_context(|| format!("--share {text:?} is not NAME=TASK,TASK…"))?;
    Ok(Link { name: name.to_owned(), tasks: tasks.split(',').map(str::to_owned).collect() })
}

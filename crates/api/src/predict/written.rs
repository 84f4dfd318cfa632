//! How models and predictions are written.

use std::path::Path;

use flowmine_draw::plain::plain;
use flowmine_predict::model::Model;
use flowmine_predict::picture;
use flowmine_predict::report::{self, Report};

use super::Request;
use crate::endings::{by_ending, format_of};
use crate::error::{Context, Result, ensure, refuse};
use crate::options::Choice;
use crate::{inputs, output};

/// How a prediction is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// What limits each process when, for people.
    Text,
    /// All, with the polynomials.
    Json,
    /// A row for each segment, or for each point of a sweep.
    Csv,
    /// A figure, or that of the sweep.
    Svg,
}

impl Choice for Format {
    const VALUES: &'static [(&'static str, &'static str, Self)] = &[
        ("text", "What limits each process when", Self::Text),
        ("json", "Everything, with the polynomials", Self::Json),
        ("csv", "A row for each time in which one thing limits a process; with --sweep for each point", Self::Csv),
        ("svg", "A figure; with --sweep that of the sweep", Self::Svg),
    ];
}

/// The endings of predictions' names.
const ENDINGS: [(&str, Format); 4] = [("txt", Format::Text), ("json", Format::Json), ("csv", Format::Csv), ("svg", Format::Svg)];

/// The endings of models' names: whether it is TOML, and not JSON.
const MODELS: [(&str, bool); 2] = [("json", false), ("toml", true)];

/// Returns the format of a prediction.
///
/// # Errors
/// When the ending of the file stands for none, or the format lacks what was asked for.
pub fn format(request: &Request) -> Result<Format> {
    let format = format_of(request.format, request.output.as_deref(), &ENDINGS, |_| true)?.unwrap_or(Format::Text);
    let has_all = matches!(format, Format::Text | Format::Json);
    ensure!(!request.plain || format == Format::Svg, "--plain is for a figure: give --format svg");
    ensure!(!request.details || format != Format::Text, "--details are written as svg, csv or json");
    let studies = &request.studies;
    let asked = [
        (studies.wider.is_some(), "--widen and --unlimited are"),
        (studies.sensitivity, "--sensitivity is"),
        (!studies.vary.is_empty(), "--vary is"),
    ];
    for (is_asked, what) in asked {
        ensure!(!is_asked || has_all, "{what} written as text or json");
    }
    Ok(format)
}

/// Writes a model to a file.
///
/// # Errors
/// When it cannot be written there.
pub fn model(model: &Model, path: &Path) -> Result<()> {
    let is_toml = by_ending(Some(path), &MODELS, |_| true)?.unwrap_or(false);
    let text = if is_toml { model.to_toml()? } else { model.to_json()? };
    output::write(Some(path), |out| Ok(out.write_all(text.as_bytes())?))
}

/// Writes a prediction.
///
/// # Errors
/// When it cannot be written there.
pub fn report(request: &Request, format: Format, report: &Report<'_>, measured: &[(f64, f64)]) -> Result<()> {
    output::write(request.output.as_deref(), |out| match format {
        Format::Text => Ok(out.write_all(report::text(report).as_bytes())?),
        Format::Csv => {
            let is_detailed = request.details && report.sweep.is_none();
            let rows = if is_detailed { report::csv_of_details(report.prediction) } else { report::csv(report) };
            Ok(out.write_all(rows.as_bytes())?)
        }
        Format::Svg => {
            let drawn = match &report.sweep {
                Some((sweep, points, best)) => picture::sweep(sweep, points, *best, measured),
                None if request.details => picture::detailed(report.prediction),
                None => picture::svg(report.prediction),
            };
            let drawn = if request.plain { plain(&drawn)? } else { drawn };
            Ok(out.write_all(drawn.as_bytes())?)
        }
        Format::Json => Ok(report::json(report, out)?),
    })
}

/// Maximum size of a file of measurements, in bytes.
const LARGEST: u64 = 256 << 20;

/// Reads values and seconds of a CSV file; a first line of words is passed over.
///
/// # Errors
/// When the file cannot be read, or a line has other columns.
pub fn measurements(path: &Path) -> Result<Vec<(f64, f64)>> {
    let text = inputs::text(path, LARGEST).with_context(|| path.display().to_string())?;
    let mut points = Vec::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
        match line.split_once(',').map(|(value, seconds)| (number(value), number(seconds))) {
            Some((Some(value), Some(seconds))) => points.push((value, seconds)),
            _ if at == 0 => {}
            _ => refuse!("{}:{}: a line has a value and seconds, with a comma between", path.display(), at + 1),
        }
    }
    Ok(points)
}

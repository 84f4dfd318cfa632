//! `flowmine predict`.

use std::io::Read;

use anyhow::Context;
use flowmine_predict::model::Model;
use flowmine_predict::what_if::Wider;
use flowmine_predict::{picture, report};

use crate::args::{Predict, PredictFormat};
use crate::{Outcome, output};

/// A longer model is refused.
const MAX_BYTES: u64 = 512 << 20;

/// Predicts what a model says.
pub fn run(args: &Predict) -> anyhow::Result<Outcome> {
    let place = || args.model.display().to_string();
    let mut text = String::new();
    let file = std::fs::File::open(&args.model).with_context(place)?;
    file.take(MAX_BYTES + 1).read_to_string(&mut text).with_context(place)?;
    anyhow::ensure!(text.len() as u64 <= MAX_BYTES, "{}: a model has at most {} MiB", place(), MAX_BYTES >> 20);
    let workflow = Model::from_json(&text).and_then(|model| model.check()).with_context(place)?;
    let prediction = workflow.predict().with_context(place)?;
    let wider = if args.unlimited { Some(Wider::Unlimited) } else { args.widen.map(Wider::Times) };
    let gains = wider.map(|wider| workflow.gains(wider)).transpose()?.unwrap_or_default();
    let format = args.format.unwrap_or_else(|| by_name(args));
    anyhow::ensure!(
        wider.is_none() || matches!(format, PredictFormat::Text | PredictFormat::Json),
        "--widen and --unlimited are told as text or json"
    );
    output::write(args.output.as_deref(), |out| match format {
        PredictFormat::Text => Ok(out.write_all(report::text(&prediction, &gains).as_bytes())?),
        PredictFormat::Csv => Ok(out.write_all(report::csv(&prediction).as_bytes())?),
        PredictFormat::Svg => Ok(out.write_all(picture::svg(&prediction).as_bytes())?),
        PredictFormat::Json => {
            serde_json::to_writer_pretty(&mut *out, &report::json(&prediction, &gains))?;
            Ok(out.write_all(b"\n")?)
        }
    })?;
    Ok(Outcome::Clean)
}

fn by_name(args: &Predict) -> PredictFormat {
    match args.output.as_deref().and_then(|path| path.extension()).and_then(|e| e.to_str()) {
        Some("json") => PredictFormat::Json,
        Some("csv") => PredictFormat::Csv,
        Some("svg") => PredictFormat::Svg,
        _ => PredictFormat::Text,
    }
}

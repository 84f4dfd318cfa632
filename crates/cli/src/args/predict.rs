//! `flowmine predict`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// `flowmine predict`.
#[derive(Debug, Args)]
#[command(
    after_help = "The model says of each process what data and resources its progress takes and what it is given of them; docs/prediction.md has \
    the format and examples."
)]
pub struct Predict {
    /// The model, a JSON file.
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,
    /// How the prediction is written; by the ending of -o when not given, else text.
    #[arg(long, value_enum)]
    pub format: Option<PredictFormat>,
    /// The file to write; standard output without.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Say for each thing that limits how much earlier all would finish with this many times as much of it.
    #[arg(long, value_name = "TIMES")]
    pub widen: Option<f64>,
    /// Say the same as if there were no limit.
    #[arg(long, conflicts_with = "widen")]
    pub unlimited: bool,
}

/// How a prediction is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PredictFormat {
    /// What limits each process when.
    Text,
    /// Everything, with the polynomials.
    Json,
    /// A row for each time in which one thing limits a process.
    Csv,
    /// A picture.
    Svg,
}

//! `flowmine predict`: how long a model takes, or one fitted to traced runs.

use flowmine_api::predict::predict;

use crate::args::Predict;
use crate::outcome::Outcome;
use crate::terminal::Terminal;

/// Predicts what a model says, or one fitted to datasets.
pub fn run(args: &Predict) -> anyhow::Result<Outcome> {
    predict(&args.request()?, &Terminal)?;
    Ok(Outcome::Clean)
}

//! Arguments of `flowmine evaluate`.

use clap::Args;

use super::DatasetArgs;

/// `flowmine evaluate`.
#[derive(Debug, Args)]
#[command(
    after_help = "Pairs are pairs of jobs in one case; an array counts as one job. Split are true cases whose jobs are in several found cases; \
    merged are found cases with jobs of several true cases. docs/case-notions.md compares the notions."
)]
pub struct Evaluate {
    /// The dataset.
    #[command(flatten)]
    pub source: DatasetArgs,
    /// The true cases: a file with the columns job and case (CSV or TSV), or a case notion. Of
    /// steps, a file with the columns job and step, or logical-task: what engines declare.
    #[arg(long, value_name = "FILE|NOTION")]
    pub truth: String,
    /// Evaluate steps instead of cases, with and without traces.
    #[arg(long, conflicts_with = "notion")]
    pub steps: bool,
    /// Only this case notion; can be given several times.
    #[arg(long, value_name = "NAME")]
    pub notion: Vec<String>,
}

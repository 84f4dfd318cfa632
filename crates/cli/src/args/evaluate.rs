//! Arguments of `flowmine evaluate`.

use clap::Args;

use super::DatasetArgs;

/// `flowmine evaluate`.
#[derive(Debug, Args)]
#[command(
    after_help = "Pairs are pairs of jobs in one case; an array counts as one job. Split are true cases whose jobs are in several found cases; \
    merged are found cases with jobs of several true cases. \
    Right is the share of jobs in one true case with the job that they follow. Evidence counts pairs of jobs that it decided. docs/case-notions.md compares the notions."
)]
pub struct Evaluate {
    /// The dataset.
    #[command(flatten)]
    pub source: DatasetArgs,
    /// The true cases: a file with the columns job and case (CSV or TSV), or a case notion. Of
    /// steps, a file with the columns job and step, or logical-task: what engines declare. Without
    /// a truth, the models that the cases of each notion lead to are measured.
    #[arg(long, value_name = "FILE|NOTION", required_if_eq("steps", "true"))]
    pub truth: Option<String>,
    /// Evaluate steps instead of cases, with and without traces.
    #[arg(long, conflicts_with = "notion")]
    pub steps: bool,
    /// Output as JSON.
    #[arg(long, conflicts_with = "steps")]
    pub json: bool,
    /// Only this case notion; can be given several times.
    #[arg(long, value_name = "NAME")]
    pub notion: Vec<String>,
}

//! Runs of engines that start jobs as their own children.

/// Snakemake's name in the column `engine` of `task_runs`.
pub(crate) const SNAKEMAKE: &str = "snakemake";

/// Whether an engine may start its jobs as its own children, so that they are found below it.
pub fn starts_jobs(engine: &str) -> bool {
    engine == SNAKEMAKE
}

/// A run with an engine that was traced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// Name of the run, as in the column `run_name` of `task_runs`.
    pub name: String,
    /// The directory in which the engine runs, as the host sees it.
    pub dir: String,
}

//! Arguments of `flowmine why`.

use std::path::PathBuf;

use clap::Args;

/// `flowmine why`.
#[derive(Debug, Args)]
#[command(
    after_help = "Each part of a job's time has its cause, Slurm's reason, and how it is known. Times that lie between two polls have ± with the \
    length of that interval. docs/models.md defines the causes."
)]
pub struct Why {
    /// The jobs as squeue prints them: 7, 8_3, 18+1; or names of tasks of a workflow engine. 8 also
    /// means all tasks of the array 8.
    #[arg(required = true, value_name = "JOB")]
    pub jobs: Vec<String>,
    /// The dataset.
    #[arg(long, value_name = "DIR")]
    pub dataset: PathBuf,
    /// Only jobs of this cluster.
    #[arg(long, value_name = "NAME")]
    pub cluster: Option<String>,
}

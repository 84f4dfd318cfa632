//! Arguments of `flowmine generate`.

use std::path::PathBuf;

use clap::Args;

/// `flowmine generate`.
#[derive(Debug, Args)]
#[command(
    after_help = "The files are what squeue prints, for `flowmine import slurm`, and truth.csv with the run of each job, for `flowmine evaluate`."
)]
pub struct Generate {
    /// The directory for the files.
    #[arg(long, short, value_name = "DIR")]
    pub output: PathBuf,
    /// The same seed gives the same jobs.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Number of users.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub users: u32,
    /// Number of runs of each user.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub runs: u32,
    /// Maximum number of runs that a user has under way at once.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub overlap: u32,
}

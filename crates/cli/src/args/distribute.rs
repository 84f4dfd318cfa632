//! Arguments of `flowmine distribute` and `flowmine work`.

use std::path::PathBuf;

use clap::Args;
use flowmine_api::distribute::{Launcher, Options, Task, What};

use super::CorrelatedCases;
use super::options::choice;

/// `flowmine distribute`.
#[derive(Debug, Args)]
#[command(
    after_help = "The same command after an interruption asks only for what is missing. docs/scale.md has an example and describes the \
    estimate of time and memory."
)]
pub struct Distribute {
    /// The work.
    #[arg(value_name = "WHAT", value_parser = choice::<What>())]
    pub what: What,
    /// What starts the tasks.
    #[arg(long, value_name = "LAUNCHER", value_parser = choice::<Launcher>())]
    pub on: Launcher,
    /// The dataset, on a file system that all machines share.
    #[arg(long, value_name = "DIR")]
    pub dataset: PathBuf,
    /// The directory for scripts and partial results, on such a file system; made when it does not
    /// exist.
    #[arg(long, short, value_name = "DIR")]
    pub out: PathBuf,
    /// Maximum number of tasks; a task can have several hosts [default: one for each host, and at
    /// most 1000].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub tasks: Option<u32>,
    /// The program flowmine on the machines of the tasks [default: the path of this program].
    #[arg(long, value_name = "PROGRAM")]
    pub program: Option<PathBuf>,
    /// Submit the jobs with sbatch, instead of only writing their scripts.
    #[arg(long)]
    pub submit: bool,
    /// Cases and hub files.
    #[command(flatten)]
    pub cases: CorrelatedCases,
}

impl Distribute {
    /// The request for the library.
    ///
    /// # Errors
    /// When the path of this program is not known.
    pub fn options(&self) -> std::io::Result<Options> {
        Ok(Options {
            what: self.what,
            launcher: self.on,
            dataset: self.dataset.clone(),
            dir: self.out.clone(),
            tasks: self.tasks.map(|tasks| tasks as usize),
            program: self.program.clone().map_or_else(std::env::current_exe, Ok)?,
            case_notion: self.cases.case_notion.clone(),
            hubs: self.cases.hubs(),
            submit: self.submit,
        })
    }
}

/// `flowmine work`.
#[derive(Debug, Args)]
pub struct Work {
    /// The plan that `flowmine distribute` wrote.
    #[arg(value_name = "PLAN")]
    pub plan: PathBuf,
    /// The number of the task, from 1, or `merge`.
    #[arg(value_name = "TASK")]
    pub task: Task,
}

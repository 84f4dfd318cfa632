//! Tasks of engines and jobs of Slurm, which are known before the trace is read, and how they are
//! found from the properties of a process.

mod jobs;
mod run;
mod tasks;

pub use jobs::{KnownJob, KnownJobs};
pub(crate) use run::SNAKEMAKE;
pub use run::{Run, starts_jobs};
pub use tasks::{Moment, Task, Tasks};
pub(crate) use tasks::{SameKey, TaskRow, key, of_row, without_number};

use flowmine_dataset::Dataset;

use crate::AttributionError;

/// The tasks and jobs to which processes may belong.
#[derive(Debug, Default)]
pub struct Entities {
    /// Attempts at tasks, from `task_runs`.
    pub tasks: Tasks,
    /// Attempts at jobs.
    pub jobs: KnownJobs,
}

impl Entities {
    /// Reads the table `task_runs`; jobs are known already.
    ///
    /// # Errors
    /// When the dataset cannot be read.
    pub fn read(dataset: &Dataset, jobs: KnownJobs) -> Result<Self, AttributionError> {
        Ok(Self { tasks: Tasks::read(dataset)?, jobs })
    }
}

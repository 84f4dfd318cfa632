//! From raw rows to jobs, events, links and cases.
//!
//! In goes a dataset ([`flowmine_dataset::Dataset`]) with the tables `job_states` and
//! `job_dependencies`; out come the job attempts with their events ([`Jobs`]), the dependencies
//! between them ([`dependencies`]), their cases by a case notion ([`cases`]), also by the data that
//! jobs gave to each other ([`exchanges`]), and event logs of all these ([`EventLog`]).
//! [`write::correlate`] writes the tables `links` and `cases`, and calls `flowmine-attribution` to
//! write the owners of traced processes and bytes. [`prune`](prune::prune) removes old rows.
//!
//! ```
//! use flowmine_correlate::cases::{CaseNotion, Dependency, Entities};
//! use flowmine_correlate::{Jobs, Timestamp};
//! use flowmine_dataset::{Builder, Dataset, Role};
//! use flowmine_schema::tables::{JobDependency, JobState};
//! use flowmine_schema::time::SECOND_NS;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // What a poll of squeue showed: three jobs, of which job 8 waits for job 7.
//! let (submit_ns, polled_ns) = (1_795_000_000 * SECOND_NS, 1_795_000_060 * SECOND_NS);
//! let mut states: Builder<JobState<'static>> = Builder::new();
//! for (job, job_id) in [("7", 7), ("8", 8), ("9", 9)] {
//!     states.push(&JobState {
//!         cluster: "lab".into(),
//!         job: job.into(),
//!         job_id,
//!         submit_ns: Some(submit_ns),
//!         change: "new".into(),
//!         state: Some("PENDING".into()),
//!         observed_at_ns: polled_ns,
//!         source: "squeue".into(),
//!         ..JobState::default()
//!     });
//! }
//! let mut waits: Builder<JobDependency<'static>> = Builder::new();
//! waits.push(&JobDependency {
//!     cluster: "lab".into(),
//!     job: "8".into(),
//!     submit_ns: Some(submit_ns),
//!     kind: "afterok".into(),
//!     target_kind: "job".into(),
//!     target_job_id: Some(7),
//!     observed_at_ns: polled_ns,
//!     source: "squeue".into(),
//!     ..JobDependency::default()
//! });
//! let dir = tempfile::tempdir()?;
//! let dataset = Dataset::open_or_create(&dir.path().join("dataset"))?;
//! let mut writer = dataset.writer(Role::Raw, "an example")?;
//! let mut transaction = writer.begin()?;
//! transaction.append(states)?;
//! transaction.append(waits)?;
//! transaction.commit()?;
//!
//! let jobs = Jobs::read(&dataset, Timestamp::Reported)?;
//! let cases = Dependency.assign(&Entities::new(&jobs));
//! let of = |at: usize| (jobs.text(jobs.attempts[at].job), cases.id_of(at));
//! assert_eq!(of(0), ("7", "dependency:lab:7"));
//! assert_eq!(of(1), ("8", "dependency:lab:7"));
//! assert_eq!(of(2), ("9", "dependency:lab:9"));
//! # Ok(())
//! # }
//! ```
//!
//! Nothing here touches a network, a kernel or a clock, and nothing depends on the order in which
//! rows of different jobs arrive: the same rows give the same result. Events are never invented:
//! each represents a row, or a time that Slurm reports. Rows go through rules first
//! (`flowmine-privacy`: names as codes, columns left out). What does not fit in memory at once is
//! partitioned into [`parts`] of whole components.
//!
//! **Errors.** A [`CorrelateError`] reports that the dataset or a temporary file could not be read
//! or written, or that there are more items than 32 bits can count. Tables are written in one
//! transaction: after an error they are unchanged.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod agreement;
pub mod attempts;
pub mod cases;
pub mod clocks;
pub mod components;
pub mod dependencies;
mod engine_jobs;
pub mod events;
pub mod exchanges;
mod gather;
pub mod groups;
pub mod jobs;
pub mod joined;
pub mod known_jobs;
pub mod log;
mod memory;
pub mod overview;
pub mod packed_int;
pub mod parts;
pub mod prune;
pub mod share;
pub mod state;
pub mod strings;
pub mod submissions;
pub mod submitted;
pub mod tasks_as_jobs;
pub mod waits;
pub mod words;
pub mod write;

#[cfg(test)]
mod tests;

pub use flowmine_privacy::{RowRules, row_rules};

pub use attempts::JobAttempt;
pub use cases::{Assignment, CaseNotion, Entities};
pub use events::{Event, Timestamp};
pub use exchanges::Exchanges;
pub use jobs::Jobs;
pub use log::{CaseTrace, Classifier, EventLog, Filter, Labels};
pub use overview::Overview;
pub use packed_int::PackedInt;
pub use share::Share;
pub use state::Lifecycle;
pub use strings::{Strings, Sym};
pub use submissions::Submission;
pub use waits::Waits;
pub use write::{Correlated, PutCase, PutWait, TaskRows, Traces, correlate, correlate_with_tasks};

use flowmine_attribution::AttributionError;

/// Why the jobs of a dataset could not be read or its tables not be derived.
#[derive(Debug, thiserror::Error)]
pub enum CorrelateError {
    /// The dataset could not be read or written.
    #[error("{0}")]
    Dataset(#[from] flowmine_dataset::DatasetError),
    /// Rows that are spilled for a while could not be.
    #[error("{0}")]
    Temporary(flowmine_spill::SpillError),
    /// A partial result was refused.
    #[error(transparent)]
    Partial(#[from] flowmine_attribution::partial::PartialError),
    /// More than 32 bits can count.
    #[error("more than {} {what} in one dataset: split it by time into several datasets", u32::MAX - 1)]
    TooMany {
        /// What there are too many of.
        what: &'static str,
    },
    /// The waits of tasks could not be derived.
    #[error("the waits of tasks: {0}")]
    TaskWaits(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl From<AttributionError> for CorrelateError {
    /// The same error: who waits for a lock or goes on without it need not know who met it.
    fn from(error: AttributionError) -> Self {
        match error {
            AttributionError::Dataset(error) => Self::Dataset(error),
            AttributionError::Temporary(error) => Self::Temporary(error),
            AttributionError::Partial(error) => Self::Partial(error),
        }
    }
}

//! From raw rows to jobs, events, links and cases.
//!
//! In goes a dataset ([`flowmine_schema::Dataset`]) with the tables `job_states` and `job_dependencies`; out come the
//! job attempts with their events ([`Jobs`]), who waits for whom ([`dependencies`]), which attempt belongs to which
//! case of a case notion ([`cases`]), and event logs made of all that ([`EventLog`]). [`write::correlate`] writes the
//! tables `links` and `cases`.
//!
//! Nothing here touches a network, a kernel or a clock, and nothing depends on the order in which rows of different jobs
//! arrive: the same rows give the same result. Events are never invented: each stands for a row, or for a time that
//! accounting tells.

pub mod attempts;
pub mod cases;
pub mod dependencies;
pub mod events;
pub mod jobs;
pub mod known_jobs;
pub mod log;
pub mod maybe;
pub mod parts;
pub mod prune;
pub mod state;
pub mod strings;
pub mod submissions;
pub mod write;

#[cfg(test)]
mod tests;

pub use flowmine_privacy::{RowRules, row_rules};

pub use attempts::Attempt;
pub use cases::{Assignment, CaseNotion};
pub use events::{Event, Timestamp};
pub use jobs::Jobs;
pub use log::{CaseTrace, Classifier, EventLog, Filter, Labels};
pub use maybe::Maybe;
pub use state::Lifecycle;
pub use strings::{Strings, Sym};
pub use submissions::Submission;
pub use write::{Correlated, correlate};

use flowmine_attribution::AttributionError;

/// Why correlating stopped.
#[derive(Debug, thiserror::Error)]
pub enum CorrelateError {
    /// The dataset could not be read or written.
    #[error(transparent)]
    Dataset(#[from] flowmine_schema::DatasetError),
    /// Rows that are put away for a while could not be.
    #[error(transparent)]
    Temporary(flowmine_spill::SpillError),
    /// More than 32 bits can count.
    #[error("more than {} {what} in one dataset: split it by time into several datasets", u32::MAX - 1)]
    TooMany {
        /// What there are too many of.
        what: &'static str,
    },
}

impl From<AttributionError> for CorrelateError {
    /// The same error: who waits for a lock or goes on without it need not know who met it.
    fn from(error: AttributionError) -> Self {
        match error {
            AttributionError::Dataset(error) => Self::Dataset(error),
            AttributionError::Temporary(error) => Self::Temporary(error),
        }
    }
}

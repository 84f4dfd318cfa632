//! Logs as columns in memory ([`ActivityLog`](flowmine_activity_log::ActivityLog)), for models.
//!
//! [`Columns`] takes the records of a log from any reader or walk; [`JobColumns`] and [`tasks()`]
//! take a dataset. All pair events to instances by the same rules
//! ([`LogBuilder`](flowmine_activity_log::LogBuilder)), so that a log is the same whichever way it
//! was read.

mod jobs;
mod objects;
mod options;
mod records;
mod tasks;
mod traced;

pub use jobs::{ColumnsError, JobColumns, suffices};
pub(crate) use jobs::{FlowRow, each_flow, each_flow_of, each_task_in_job, some_wrote_nothing};
pub use options::{OR, ReadOptions, Unit};
pub use records::{Columns, classifier, read_file, walk_cases, walk_objects};
pub use tasks::{TASK_KEY, tasks, unknown_attribute};

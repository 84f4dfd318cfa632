//! Accesses of tasks to files, as numbers and as two figures of section VI of the monitoring paper.
//!
//! The input is the tables that `flowmine correlate` wrote; the results are numbers to draw:
//!
//! - [`file_span`]: for each task attempt and file the share of the task's time between first and last
//!   access (Figure 4).
//! - [`file_timeline`]: the reads and writes of one file, by offset, time and owner (Figure 5).
//!   [`find`] finds the file, [`merge`] bounds the number of bars.
//!
//! [`table`] writes the numbers as CSV and JSON, [`pictures`] draws them. Times are UTC
//! nanoseconds, sizes are bytes. Unknown values are null, and operations that cannot be drawn are
//! counted.
//!
//! ```
//! use flowmine_file_access::file_span;
//! use flowmine_dataset::{Builder, Dataset, Role};
//! use flowmine_schema::tables::TaskIo;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // What `flowmine correlate` writes: a task read a file during the first quarter of its time.
//! let mut rows: Builder<TaskIo<'static>> = Builder::new();
//! rows.push(&TaskIo {
//!     task: Some("snakemake:run/align#1".into()),
//!     logical_task: Some("align".into()),
//!     host: "n1".into(),
//!     path: Some("/data/reads.fq".into()),
//!     read_calls: 16,
//!     read_bytes: 1 << 20,
//!     access_share: Some(0.25),
//!     ..TaskIo::default()
//! });
//! let dir = tempfile::tempdir()?;
//! let dataset = Dataset::open_or_create(&dir.path().join("dataset"))?;
//! let mut writer = dataset.writer(Role::Derived, "an example")?;
//! let mut transaction = writer.begin()?;
//! transaction.replace(rows)?;
//! transaction.commit()?;
//!
//! let shares = file_span::read(&dataset)?;
//! let group = &shares.groups[0];
//! assert_eq!((group.name(), group.tasks), ("align", 1));
//! assert_eq!(group.points[0].path.as_deref(), Some("/data/reads.fq"));
//! assert_eq!((group.points[0].share, group.points[0].bytes()), (Some(0.25), 1 << 20));
//! # Ok(())
//! # }
//! ```
//!
//! **Errors.** A [`FileAccessError`] states why there is nothing to draw and what to do: correlate
//! first, trace single operations, choose one of several files.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod file_span;
pub mod file_timeline;
pub mod find;
pub mod merge;
mod owner;
pub mod pictures;
mod processes;
pub mod table;

use flowmine_attribution::AttributionError;
use flowmine_dataset::DatasetError;

pub use owner::Owner;

/// Reason why there is nothing to draw.
#[derive(Debug, thiserror::Error)]
pub enum FileAccessError {
    /// The dataset cannot be read.
    #[error("{0}")]
    Dataset(#[from] DatasetError),
    /// The rows of the dataset cannot be processed.
    #[error("{0}")]
    Attribution(#[from] AttributionError),
    /// There is no row of `task_io`.
    #[error("the table task_io is empty: trace the tasks, import the log of their engine, then run `flowmine correlate`")]
    NotCorrelated,
    /// No task read or wrote any file.
    #[error(
        "no task read or wrote a file in this dataset: nothing traced belongs to a task (`flowmine correlate` reports the unattributed share)"
    )]
    NoTask,
    /// No file has this path.
    #[error("no file {file:?} in task_io{}", list("did you mean", .like))]
    UnknownFile {
        /// The requested path or id.
        file: String,
        /// Paths that are like it.
        like: Vec<String>,
    },
    /// Several files have this path.
    #[error("several files were {file:?}: choose one with --file{}", list("of", .which))]
    SeveralFiles {
        /// The requested path or id.
        file: String,
        /// Their ids, with the known properties of each.
        which: Vec<String>,
    },
    /// The file was neither read nor written.
    #[error("{file:?} was opened, but neither read nor written")]
    NoAccess {
        /// Path of the file.
        file: String,
    },
    /// Only sums were traced for the file, so that no single access can be drawn.
    #[error("of {file:?} only sums were traced: single reads and writes are kept with `flowmine trace --detail events`")]
    OnlySums {
        /// Path of the file.
        file: String,
    },
}

fn list(word: &str, candidates: &[String]) -> String {
    if candidates.is_empty() { String::new() } else { format!("; {word}\n  {}", candidates.join("\n  ")) }
}

/// The bytes of a file's number that may be null in tables; as
/// [`flowmine_attribution::files::UNTOLD`].
fn untold(number: Option<i64>) -> i64 {
    number.unwrap_or(flowmine_attribution::files::UNTOLD)
}

//! Removing old rows from a dataset.

use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use flowmine_correlate::CorrelateError;
use flowmine_correlate::prune::{self, Pruning};
use flowmine_dataset::{Dataset, DatasetError};
use flowmine_schema::tables::{Case, Link};

use crate::error::Result;
use crate::sink::Sink;

/// What is removed, and from where.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// The dataset.
    pub dataset: PathBuf,
    /// For root: whether the dataset is written as its owner.
    pub as_owner: bool,
    /// What had ended before this is removed, in nanoseconds since 1970.
    pub before_ns: i64,
    /// Whether nothing is removed, and the result is what would be.
    pub dry_run: bool,
    /// The longest wait for another writer.
    pub wait: Duration,
}

/// What was removed.
pub struct Removed {
    /// The rows of each table, and what stayed.
    pub rows: Pruning,
    /// Whether links and cases are of rows that are gone.
    pub derived_is_stale: bool,
}

/// Removes old rows from a dataset.
///
/// # Errors
/// When the dataset cannot be read or written, or another writer holds it for longer than the wait.
pub fn prune(options: &Options, sink: &dyn Sink) -> Result<Removed> {
    let dataset = Dataset::open(&options.dataset)?;
    let dataset = if options.as_owner { dataset.as_owner()? } else { dataset };
    let _stage = sink.stage("pruning");
    let began = Instant::now();
    let rows = loop {
        match prune::prune(&dataset, options.before_ns, options.dry_run) {
            Err(CorrelateError::Dataset(DatasetError::Locked { .. })) if began.elapsed() < options.wait => {
                thread::sleep(Duration::from_millis(100));
            }
            other => break other?,
        }
    };
    let derived = dataset.row_count::<Link<'static>>()? + dataset.row_count::<Case<'static>>()? > 0;
    let derived_is_stale = derived && !options.dry_run && rows.tables.iter().any(|(_, pruned)| pruned.rows > 0);
    Ok(Removed { rows, derived_is_stale })
}

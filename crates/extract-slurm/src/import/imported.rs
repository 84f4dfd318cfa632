//! What an imported file of Slurm holds: a poll, a log of changes, or accounting.

use crate::record::JobRecord;
use crate::sacct::Attempt;

/// What an imported file of Slurm holds.
#[derive(Debug)]
pub enum Imported<'a> {
    /// The whole queue, at one time.
    Queue {
        /// When, if the content says: squeue's own date line (`-l`, `-i`), or `last_update` of the
        /// JSON.
        observed_at_ns: Option<i64>,
        /// As in [`flowmine_schema::tables::source`].
        source: &'static str,
        /// The jobs in the order of the file.
        records: Vec<JobRecord<'a>>,
        /// Name of the cluster, if the content has it.
        cluster: Option<String>,
        /// Whether every job of the file is in `records`. When rows were rejected, or the file is
        /// cut short, a job that is missing here may still be in the queue.
        whole: bool,
    },
    /// Changes, each with the time at which it was observed.
    Log {
        /// As in [`flowmine_schema::tables::source`].
        source: &'static str,
        /// When each change was seen, UTC nanoseconds since 1970, and the record; in the order of
        /// the file.
        entries: Vec<(i64, JobRecord<'a>)>,
        /// Name of the cluster, if the content has it.
        cluster: Option<String>,
    },
    /// What accounting remembers: one record a job attempt, with the I/O of its steps.
    Accounting {
        /// As in [`flowmine_schema::tables::source`].
        source: &'static str,
        /// With the cluster's name where the row has one.
        records: Vec<Attempt<'a>>,
    },
}

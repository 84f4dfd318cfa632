//! Which columns of a table are what, and what comes out of it.

use flowmine_activity_log::ActivityLog;

use super::times::TimeUnit;

/// How many faults of one sort are reported with their places.
pub const FAULTS_TOLD: usize = 3;

/// Which columns of a table are what. What is `None` is looked for under the usual names; an empty
/// name says that there is no such column.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TableOptions {
    /// Name of the column with the case of a row.
    pub case_column: Option<String>,
    /// The activity; with `+` between them several columns, whose values are joined by `+`.
    pub activity_column: Option<String>,
    /// Name of the column with when it happened or, where there is a start, when it ended.
    pub timestamp_column: Option<String>,
    /// Name of the column with when it started.
    pub start_column: Option<String>,
    /// Name of the column with the transition of the standard lifecycle of XES.
    pub lifecycle_column: Option<String>,
    /// Name of the column with who or what did it.
    pub resource_column: Option<String>,
    /// Name of the column with the id of the instance to which an event belongs.
    pub instance_column: Option<String>,
    /// Name of the column with the bytes that it read.
    pub read_bytes_column: Option<String>,
    /// Name of the column with the bytes that it wrote.
    pub written_bytes_column: Option<String>,
    /// The unit of times that are numbers; inferred from the largest when not given.
    pub timestamp_unit: Option<TimeUnit>,
    /// Columns to keep as attributes of instances.
    pub keep: Vec<String>,
}

/// A table as a log.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReadTable {
    /// The log of the table's rows.
    pub log: ActivityLog,
    /// What was odd about the table, in sentences, with places.
    pub notes: Vec<String>,
    /// What was inferred and not said by the table, in a sentence: the unit of numbers that are
    /// times.
    pub inferred: Option<String>,
    /// The unit of the numbers that are times, given or inferred; `None` where there are none.
    pub time_unit: Option<TimeUnit>,
    /// Rows that could not be read and are left out, because they have more fields than the table
    /// has columns, are too long, or end in the midst of a text. They are in the notes too.
    pub bad_rows: u64,
}

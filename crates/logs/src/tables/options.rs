//! Which columns of a table are what, and what comes out of it.

use flowmine_activity_log::ActivityLog;

use super::encoding::Encoding;
use super::times::{TimeRules, TimeUnit};

/// How many faults of one sort are reported with their places.
pub const FAULTS_TOLD: usize = 3;

/// Given properties of a CSV file; the others are inferred.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CsvRules {
    /// The encoding of its bytes.
    pub encoding: Option<Encoding>,
    /// The byte between fields.
    pub delimiter: Option<u8>,
    /// Whether the first line names the columns.
    pub has_header: Option<bool>,
}

/// Something that the table does not say, and how it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inferred {
    /// What it is, in a sentence without its end.
    pub sentence: String,
    /// The option that says otherwise.
    pub option: &'static str,
}

/// What was inferred in one line, with the options that say otherwise.
pub(super) fn inferred_line(all: Vec<Inferred>) -> Option<String> {
    let mut options: Vec<&str> = Vec::new();
    for inferred in &all {
        if !options.contains(&inferred.option) {
            options.push(inferred.option);
        }
    }
    let sentences: Vec<String> = all.into_iter().map(|inferred| inferred.sentence).collect();
    let verb = if options.len() == 1 { "says" } else { "say" };
    (!sentences.is_empty()).then(|| format!("{}; {} {verb} otherwise", sentences.join("; "), options.join(", ")))
}

/// Which columns of a table are what. What is `None` is looked for under the usual names; an empty
/// name says that there is no such column.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TableOptions {
    /// Name of the column with the case of a row.
    pub case_column: Option<String>,
    /// Name of the column with the activity, or several names with `+` between them: their values
    /// are joined by `+`.
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
    /// How times are read; what is not said is inferred.
    pub times: TimeRules,
    /// How CSV is read; what is not said is inferred.
    pub csv: CsvRules,
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
    /// What was inferred and not said by the table, in a line: its encoding, that it has no header,
    /// the order of dates, the unit of numbers that are times.
    pub inferred: Option<String>,
    /// The unit of the numbers that are times, given or inferred; `None` where there are none.
    pub time_unit: Option<TimeUnit>,
    /// Rows that could not be read and are left out, because they have more fields than the table
    /// has columns, are too long, or end in the midst of a text. They are in the notes too.
    pub bad_rows: u64,
}

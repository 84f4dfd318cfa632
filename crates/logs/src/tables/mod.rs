//! Flat tables as logs: CSV and Parquet files with an event or an activity instance in each row,
//! in; an [`ActivityLog`](flowmine_activity_log::ActivityLog), out.
//!
//! # Which column is what
//! A column is named by an option of [`TableOptions`], or it is the first of these that the file
//! has. Only letters and digits count, whatever their case: `Case ID`, `case_id` and `CaseID` are
//! one name.
//!
//! | what | names, the first that is there counts | from |
//! |---|---|---|
//! | case | `case:concept:name`, `case_id`, `case`, `case_name`, `trace_id`, … | PM4Py and ours; bupaR, Disco |
//! | activity | `concept:name`, `activity`, `activity_name`, `activity_id`, `task`, … | PM4Py and ours; bupaR |
//! | time | `time:timestamp`, `timestamp`, `complete`, `complete_timestamp`, `end`, `end_timestamp`, `end_time`, `time`, `datetime`, then those of the start | PM4Py and ours; bupaR; Disco |
//! | time, where there is a start | the same with `timestamp` after the ends | |
//! | start | `start_timestamp`, `start`, `start_time` | PM4Py, Disco; bupaR |
//! | lifecycle | `lifecycle:transition`, `lifecycle_id`, `lifecycle` | PM4Py and ours; bupaR |
//! | resource | `org:resource`, `resource_id`, `resource` | PM4Py and ours; bupaR, Disco |
//! | instance | `concept:instance`, `activity_instance_id` | PM4Py and ours; bupaR |
//! | bytes read | `io:read_bytes`, `read_bytes`, `bytes_read` | ours |
//! | bytes written | `io:written_bytes`, `written_bytes`, `bytes_written`, `write_bytes` | ours |
//!
//! Where one of case, activity and time is missing the file is refused with its columns and the
//! option that names one. The other numbers that our own tables have (`io:unique_read_bytes`,
//! `task:cpus`, …) are read where they stand under these names.
//!
//! # What a row is
//! - **With a start and a time** it is an instance with both; of one that has only one of them a
//!   moment is known. One with none is left out and counted. At equal times ends come before starts
//!   ([`flowmine_activity_log::LogBuilder::instance`]).
//! - **With a lifecycle** it is an event; events are paired to instances as XES says
//!   ([`flowmine_activity_log::LogBuilder::event`]). A lifecycle that has starts goes before a
//!   start column that was not asked for.
//! - **Else** it is an event and an instance of its own.
//!
//! # Order
//! The rows of a case need not stand together. Cases come in the order of their first rows. Within
//! a case events are put in the order of their times, and at equal times of their rows, as PM4Py
//! does. A row without a time keeps its place among the rows of its case: those with a time are put
//! in order on the other places.
//!
//! # Times
//! Dates are RFC 3339 and its relatives, or as people write them (`dates`): the whole table decides
//! whether the day or the month comes first, and where it does not, the table is refused. What has
//! no zone is of the zone that is asked for, else UTC. A time of day has its date in a column of
//! the same name that ends in `date` in place of `time`, or in the column that is named before it
//! with a plus sign.
//!
//! In CSV, and where Parquet has text, numbers are times since 1970, days of spreadsheets or digits
//! of dates. One unit holds for all numbers of a table: the given unit, else the unit that is
//! inferred from the numbers (`times`). A table with numbers that no single unit fits is refused,
//! with two places. Parquet columns of numeric type are refused as times, since Parquet has types
//! for times.
//!
//! What was inferred is one line ([`ReadTable::inferred`]).
//!
//! # What is missing or wrong
//! Nothing vanishes: rows without a case are left out and counted, those without an activity get
//! [`UNNAMED`](crate::log_file::as_objects::UNNAMED) and are counted, times that cannot be read are
//! unknown and counted, and so are numbers below zero, above 2⁶³ − 1 or with a fraction. What is
//! wrong is reported with its place, the first few each. Not refused is a file for its rows;
//! refused is one without a time that can be read.
//!
//! # Memory
//! For each row 4 bytes for each text column, 8 for each time or number, 8 for the instance's
//! events, and another 4 where the rows have to be put in order; while columns are put in order,
//! one is there twice. Names are kept once each. At most 2³² − 16 rows.

mod assemble;
mod choose;
mod columns;
mod csv;
mod dates;
mod dialect;
mod encoding;
mod error;
mod objects;
mod options;
mod parquet;
mod raw_texts;
mod records;
mod references;
#[cfg(test)]
mod tests;
mod times;
mod values;
mod zone;

use std::fs::File;
use std::io::Read;
use std::path::Path;

use columns::Source;
use flowmine_eventlog::read::Format;

use crate::log_file::{Collector, LogFile, LogRules};

pub use encoding::Encoding;
pub use error::TableError;
pub use options::{CsvRules, FAULTS_TOLD, Inferred, ReadTable, TableOptions};
pub use times::{DateFormat, TimeRules, TimeUnit};
pub use zone::Zone;

/// The first bytes of a Parquet file.
const PARQUET_MAGIC: &[u8] = b"PAR1";

/// Whether a file is a table that [`read`] reads: Parquet by its first bytes, CSV by its name
/// (`.csv`, `.tsv`, packed as `.gz` too) or by names of columns in its first line. `head` is how
/// the file begins, the more the better, up to a few kilobytes.
pub fn is_table(path: Option<&Path>, head: &[u8]) -> bool {
    head.starts_with(PARQUET_MAGIC) || path.is_some_and(csv::is_named_so) || csv::looks_so(head)
}

/// The fields of the first line of a file that is named as CSV and begins so, where they have a
/// usual name of a column or a date; none of another file.
pub fn first_fields(path: &Path, head: &[u8]) -> Vec<String> {
    let mut fields = if csv::is_named_so(path) { csv::first_fields(head) } else { Vec::new() };
    if !dialect::has_date(&fields) && !choose::has_usual_name(fields.iter().map(String::as_str)) {
        fields.clear();
    }
    fields
}

/// Whether columns are those of a log: there is one of a case and one of an activity, or they are
/// those of objects.
pub fn has_log_columns<'a>(names: impl Iterator<Item = &'a str>) -> bool {
    choose::looks_like_a_log(names)
}

/// Reads a Parquet or CSV file.
///
/// # Errors
/// When it cannot be read, has not the columns that a log needs, or is too large.
pub fn read(path: &Path, options: &TableOptions) -> Result<ReadTable, TableError> {
    let name = path.display().to_string();
    let in_file = |error: TableError| error.of(&name);
    let read = match open(path).map_err(in_file)? {
        Opened::Parquet(table) => log_of(*table, options),
        Opened::Csv(file) => csv::CsvTable::open(file, &options.csv).and_then(|table| log_of(table, options)),
    };
    read.map_err(in_file)
}

/// Reads a table from standard input or whatever else can be read but not sought in: CSV, as it is
/// or packed as gz.
///
/// # Errors
/// Those of [`read`]; Parquet is refused, because it is read from its end.
pub fn read_csv(source: impl Read, options: &TableOptions) -> Result<ReadTable, TableError> {
    csv::CsvTable::open(source, &options.csv).and_then(|table| log_of(table, options)).map_err(|error| error.of("the input"))
}

/// Which columns of a table are those of a log of cases.
fn choice(table: &impl Source, options: &TableOptions) -> Result<choose::Choice, TableError> {
    match (choose::choose(table.names(), options), table.first_row()) {
        (Err(TableError::NoColumn { what, .. }), Some(row)) => Err(TableError::NoHeader { what, columns: choose::numbered(row) }),
        (choice, _) => choice,
    }
}

/// Reads a table as a log of traces with all of its columns, with rules for its records. Next to it
/// is what was inferred, in a line.
///
/// # Errors
/// Those of [`read`]; a table of objects is refused.
pub fn read_traces(path: &Path, options: &TableOptions, rules: LogRules) -> Result<(LogFile, Option<String>), TableError> {
    let name = path.display().to_string();
    let in_file = |error: TableError| error.of(&name);
    let mut collector = Collector::new(rules);
    let inferred = match open(path).map_err(in_file)? {
        Opened::Parquet(table) => records::collect(*table, options, &mut collector),
        Opened::Csv(file) => csv::CsvTable::open(file, &options.csv).and_then(|table| records::collect(table, options, &mut collector)),
    };
    let inferred = inferred.map_err(in_file)?;
    let log = collector.finish(Format::Xes).map_err(|error| in_file(TableError::Refused(error.to_string())))?;
    Ok((log, inferred))
}

/// A file that is a table.
enum Opened {
    Parquet(Box<parquet::ParquetTable>),
    Csv(File),
}

fn open(path: &Path) -> Result<Opened, TableError> {
    let file = flowmine_files::open_given(path).map_err(std::io::Error::from)?;
    let mut head = [0; 4];
    let is_parquet = file.metadata().is_ok_and(|data| data.is_file()) && {
        use std::os::unix::fs::FileExt;
        file.read_exact_at(&mut head, 0).is_ok() && head == PARQUET_MAGIC
    };
    Ok(if is_parquet { Opened::Parquet(Box::new(parquet::ParquetTable::open(file)?)) } else { Opened::Csv(file) })
}

fn log_of(table: impl Source, options: &TableOptions) -> Result<ReadTable, TableError> {
    let names = table.names().to_vec();
    if let Some(choice) = objects::choose(&names, options)? {
        return objects::read(table, &choice, &names, &options.times);
    }
    let choice = choice(&table, options)?;
    let read = columns::read(table, &choice, &names, &options.times)?;
    let mut notes = read.notes;
    let (log, more) = assemble::assemble(read.columns, options.keep.clone())?;
    notes.extend(more);
    Ok(ReadTable { log, notes, inferred: read.inferred, time_unit: read.time_unit, bad_rows: read.bad_rows })
}

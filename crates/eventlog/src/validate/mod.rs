//! Whether a log file keeps to its standard, and if not, what is wrong and where.
//!
//! The input is a file in any of the formats of [`Format`]; the output is [`Finding`]s, each with
//! the name of its rule and its place: line and column in JSON and XML, table and row in SQLite.
//! The rules of the schemas (OCEL 2.0 JSON schema and XSD, IEEE 1849-2016 XSD) are expressed here,
//! rule by rule in [`RULES`]; no schema file is needed. Files of OCEL 1.0 are checked for the
//! findings of the readers, and for their relations. Content that the schemas forbid but all tools
//! write is a note.
//!
//! Every file is treated as hostile: memory holds the definitions, one record and 24 bytes per id;
//! content that is too large or too deep ends the check with one finding. Only a file that is not a
//! log is refused.

use std::path::Path;

use crate::error::LogError;
use crate::read::{Finding, Format, Limits, Told, no_log, open, told};
use report::{Report, Tally};

mod elements;
mod fault;
mod first_version;
mod ids;
mod json;
mod lexical;
mod markup;
mod ocel;
mod ocel_json;
pub mod ocel_sqlite;
mod ocel_xml;
mod relations;
mod report;
mod rules;
mod xes;
mod xes_keys;

pub use rules::{RULES, Rule, SHOWN};

/// What a file was found to have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Summary {
    /// Findings that are errors, as they were given, so that at most [`SHOWN`] and one are of the
    /// same rule.
    pub errors: u64,
    /// Findings that are warnings, as they were given.
    pub warnings: u64,
    /// Findings that are notes, as they were given.
    pub notes: u64,
    /// Events that were checked; `None` in SQLite.
    pub events: Option<u64>,
    /// Objects that were checked; `None` in XES and SQLite.
    pub objects: Option<u64>,
    /// Traces that were checked; `None` in OCEL.
    pub traces: Option<u64>,
    /// Whether the file is OCEL 1.0.
    pub is_first_version: bool,
}

/// Checks a file, which says by its content which format it is in.
///
/// # Errors
/// From the operating system or SQLite, and when it is none of the formats.
pub fn validate(path: &Path, found: &mut dyn FnMut(Finding)) -> Result<(Format, Summary), LogError> {
    validate_with(path, &Limits::default(), found)
}

/// The same with other limits.
///
/// # Errors
/// From the operating system or SQLite, and when it is none of the formats.
pub fn validate_with(path: &Path, limits: &Limits, found: &mut dyn FnMut(Finding)) -> Result<(Format, Summary), LogError> {
    let mut tally = Tally::default();
    let mut count = |finding: Finding| {
        tally.count(finding.severity);
        found(finding);
    };
    let mut summary = Summary::default();
    let Told { format, is_first_version } = match told(path) {
        Ok(told) => told.map_err(no_log)?,
        // The check then says where it cannot be read, and why.
        Err(LogError::Refused { .. }) => Format::Xes.into(),
        Err(error) => return Err(error),
    };
    summary.is_first_version = is_first_version;
    if format == Format::OcelSqlite {
        summary.is_first_version = ocel_sqlite::check(path, limits, &mut count)?;
    } else if is_first_version {
        let [events, objects] = first_version::check(path, limits, &mut count)?;
        (summary.events, summary.objects) = (Some(events), Some(objects));
    } else {
        let mut report = Report::new(&mut count);
        match format {
            Format::Xes => {
                let [traces, events] = xes::check(open(path)?, limits, &mut report)?;
                (summary.traces, summary.events) = (Some(traces), Some(events));
            }
            _ => {
                let check = if format == Format::OcelJson { ocel_json::check } else { ocel_xml::check };
                let [events, objects] = check(path, limits, &mut report)?;
                (summary.events, summary.objects) = (Some(events), Some(objects));
            }
        }
        report.finish();
    }
    Ok((format, Summary { errors: tally.errors, warnings: tally.warnings, notes: tally.notes, ..summary }))
}

#[cfg(test)]
mod tests;

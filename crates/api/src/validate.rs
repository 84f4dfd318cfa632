//! Checks of event logs against their standards.

use std::path::Path;

use flowmine_eventlog::read::Format;
use flowmine_eventlog::validate::{self, Summary};
use flowmine_logs::log_file::LogRules;

use crate::error::{Result, ensure};
use crate::groups::TableColumns;
use crate::sink::Sink;
use crate::source;

pub use flowmine_eventlog::read::{Finding, Severity};

/// A log that was checked.
pub struct Checked {
    /// Name of the standard, or `table`.
    pub standard: &'static str,
    /// What is wrong or worth knowing, in the order of the file.
    pub findings: Vec<Finding>,
    /// The numbers of findings.
    pub summary: Summary,
}

/// Checks a file: XES, OCEL 2.0 or 1.0, or a table (CSV, Parquet).
///
/// # Errors
/// When it cannot be read, or columns are named and it is no table.
pub fn validate(path: &Path, columns: &TableColumns, sink: &dyn Sink) -> Result<Checked> {
    if source::is_table(path)? {
        return table(path, columns, sink);
    }
    ensure!(!columns.is_some(), "{}: --case-column and the like are for tables (CSV, Parquet), and this is none", path.display());
    let _stage = sink.stage("checking");
    let mut findings = Vec::new();
    let checked = validate::validate(path, &mut |finding| findings.push(finding));
    let (format, summary) = checked.map_err(|error| source::in_file(path, error))?;
    let standard = match format {
        Format::Xes => "XES",
        Format::OcelJson if summary.is_first_version => "OCEL 1.0 JSON",
        Format::OcelXml if summary.is_first_version => "OCEL 1.0 XML",
        Format::OcelSqlite if summary.is_first_version => "OCEL 1.0 SQLite",
        Format::OcelJson => "OCEL 2.0 JSON",
        Format::OcelXml => "OCEL 2.0 XML",
        Format::OcelSqlite => "OCEL 2.0 SQLite",
    };
    Ok(Checked { standard, findings, summary })
}

/// A table has no standard. Its findings are those of reading it.
fn table(path: &Path, columns: &TableColumns, sink: &dyn Sink) -> Result<Checked> {
    let findings = source::read_file(path, columns, LogRules::default(), sink)?.findings;
    let count = |severity| findings.iter().filter(|finding| finding.severity == severity).count() as u64;
    let (errors, warnings, notes) = (count(Severity::Error), count(Severity::Warning), count(Severity::Note));
    Ok(Checked { standard: "table", summary: Summary { errors, warnings, notes, ..Summary::default() }, findings })
}

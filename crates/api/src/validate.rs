//! Checks of event logs against their standards.

use std::path::Path;

use flowmine_eventlog::read::{Finding, Format};
use flowmine_eventlog::validate::{self, Summary};

use crate::error::Result;
use crate::source;

/// A log that was checked.
pub struct Checked {
    /// Name of the standard.
    pub standard: &'static str,
    /// What is wrong or worth knowing, in the order of the file.
    pub findings: Vec<Finding>,
    /// The numbers of findings.
    pub summary: Summary,
}

/// Checks a file: XES or OCEL 2.0.
///
/// # Errors
/// When it cannot be read.
pub fn validate(path: &Path) -> Result<Checked> {
    let mut findings = Vec::new();
    let checked = validate::validate(path, &mut |finding| findings.push(finding));
    let (format, summary) = checked.map_err(|error| source::in_file(path, error))?;
    let standard = match format {
        Format::Xes => "XES",
        Format::OcelJson => "OCEL 2.0 JSON",
        Format::OcelXml => "OCEL 2.0 XML",
        Format::OcelSqlite => "OCEL 2.0 SQLite",
    };
    Ok(Checked { standard, findings, summary })
}

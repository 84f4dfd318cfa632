//! OCEL 1.0 in JSON or XML in, what is wrong with it out: what its readers find, ids that are there
//! twice, and relations to objects that are not there.

use std::path::Path;

use super::relations::{Ids, Names};
use crate::error::LogError;
use crate::log::{CaseHeader, Types};
use crate::read::ocel_sqlite::Report;
use crate::read::{Finding, Limits, Severity, Sink, read_file, shown};
use crate::record::Record;

/// Checks a file; gives the numbers of events and objects.
///
/// # Errors
/// Errors of the operating system; what is wrong with the file is a finding.
pub(super) fn check(path: &Path, limits: &Limits, give: &mut dyn FnMut(Finding)) -> Result<[u64; 2], LogError> {
    let mut sink = Checked { report: Report::default(), ids: Ids::default(), events: 0, objects: 0 };
    match read_file(path, limits, &mut sink) {
        Err(LogError::Refused { line, column, message }) => {
            let (line, column) = (Some(line), Some(column));
            sink.finding(Finding { severity: Severity::Error, rule: "refused", line, column, place: String::new(), message });
        }
        result => drop(result?),
    }
    let Checked { mut report, ids, events, objects } = sink;
    let source = |of_event: bool, id: &str| format!("{} {}", if of_event { "event" } else { "object" }, shown(id));
    ids.finish(&Names { source: &source, objects: "the file" }, &mut report)?;
    report.end(give);
    Ok([events, objects])
}

struct Checked {
    report: Report,
    ids: Ids,
    events: u64,
    objects: u64,
}

impl Sink for Checked {
    fn types(&mut self, _: Types) -> Result<(), LogError> {
        Ok(())
    }

    fn header(&mut self, _: CaseHeader) -> Result<(), LogError> {
        Ok(())
    }

    fn record(&mut self, record: &Record<'_>) -> Result<(), LogError> {
        match record {
            Record::Event(_) => self.events += 1,
            Record::Object(_) => self.objects += 1,
            _ => {}
        }
        self.ids.record(record)
    }

    fn finding(&mut self, finding: Finding) {
        self.report.take(finding);
    }
}

//! Log files of others as logs: what a reader of `flowmine-eventlog` finds in, an
//! [`ObjectLog`](flowmine_eventlog::ObjectLog) or a [`CaseLog`](flowmine_eventlog::CaseLog) out,
//! whichever the file was.
//!
//! [`Collector`] takes records in the order of the file and sorts them outside of memory; memory
//! holds the types, and sixteen bytes for each object. [`as_objects`] and [`as_cases`] say what an
//! XES file is as objects and an OCEL file as cases; [`stored`] puts a log into a dataset and gets
//! it back.
//!
//! What is mended, each with a finding: an id that comes twice (the later object is left out, the
//! later event gets another id), a relation to an object that there is none of (left out), a type
//! or attribute that was not declared (declared), a value that does not fit its declared type (the
//! type becomes `string`).

pub mod as_cases;
pub mod as_objects;
mod findings;
mod json;
mod rules;
pub mod stored;
mod type_table;

use std::path::Path;

use flowmine_eventlog::read::{self, Finding, Format, Limits, Severity, Sink};
use flowmine_eventlog::sorted::SortRecords;
use flowmine_eventlog::{CaseHeader, IdHash, LogError, Record, Types};
use flowmine_spill::{Sorted, Sorter, put_ordered};
use rustc_hash::FxHashSet;

pub use as_cases::TraceLog;
pub use as_objects::FileObjectLog;
pub use findings::Findings;
pub(crate) use findings::found;
pub use rules::LogRules;
use type_table::TypeTable;

/// A log file of another program that was read.
pub struct LogFile {
    /// What it holds: objects and events, or traces.
    pub content: Content,
    /// What was odd about the file, and what was mended.
    pub findings: Vec<Finding>,
}

/// What a log file holds: objects or traces.
pub enum Content {
    /// The objects and events of an object-centric log.
    Objects(Box<FileObjectLog>),
    /// The traces of a log of cases.
    Traces(Box<TraceLog>),
}

/// Takes the records that a reader finds, and sorts them.
pub struct Collector {
    rules: LogRules,
    records: Sorter,
    events: Sorter,
    number: i64,
    types: TypeTable,
    header: CaseHeader,
    object_ids: FxHashSet<IdHash>,
    event_ids: FxHashSet<IdHash>,
    /// Whether an event came before some object, so that its relations must be looked at again.
    events_before_objects: bool,
    findings: Findings,
}

impl Collector {
    /// A collector that applies rules to every record.
    pub fn new(rules: LogRules) -> Self {
        Self {
            rules,
            records: Sorter::default(),
            events: Sorter::default(),
            number: 0,
            types: TypeTable::default(),
            header: CaseHeader::default(),
            object_ids: FxHashSet::default(),
            event_ids: FxHashSet::default(),
            events_before_objects: false,
            findings: Findings::default(),
        }
    }
}

impl Sink for Collector {
    fn types(&mut self, types: Types) -> Result<(), LogError> {
        self.types.declare(self.rules.types(types));
        Ok(())
    }

    fn header(&mut self, header: CaseHeader) -> Result<(), LogError> {
        self.header = self.rules.header(header);
        Ok(())
    }

    fn record(&mut self, record: &Record<'_>) -> Result<(), LogError> {
        if self.rules.is_empty() { self.take(record) } else { self.take(&self.rules.record(record.clone())) }
    }

    fn finding(&mut self, finding: Finding) {
        self.findings.push(finding);
    }
}

impl Collector {
    fn take(&mut self, record: &Record<'_>) -> Result<(), LogError> {
        self.number += 1;
        let mut key = Vec::with_capacity(24);
        match record {
            Record::Object(object) => {
                if !self.object_ids.insert(IdHash::new(&object.id)) {
                    let message = "this object id has come before; the later object is left out";
                    self.findings.push(found(Severity::Error, "duplicate_object_id", &object.id, message));
                    return Ok(());
                }
                self.events_before_objects |= !self.event_ids.is_empty();
                self.types.see_object(object, &mut self.findings);
                put_ordered(self.number, &mut key);
                self.records.push_record(&key, record)
            }
            Record::Event(event) => {
                self.types.see_event(event, &mut self.findings);
                put_ordered(event.time_ns, &mut key);
                put_ordered(self.number, &mut key);
                if self.event_ids.insert(IdHash::new(&event.id)) {
                    return self.events.push_record(&key, record);
                }
                let mut event = event.clone();
                let mut again = 1;
                let id = loop {
                    again += 1;
                    let id = format!("{}#{again}", event.id);
                    if self.event_ids.insert(IdHash::new(&id)) {
                        break id;
                    }
                };
                let message = format!("this event id has come before; the later event gets the id {id}");
                self.findings.push(found(Severity::Error, "duplicate_event_id", &event.id, message));
                event.id = id.into();
                self.events.push_record(&key, &Record::Event(event))
            }
            Record::Trace(_) | Record::CaseEvent(_) | Record::TraceEnd => {
                put_ordered(self.number, &mut key);
                self.records.push_record(&key, record)
            }
        }
    }

    /// The log, once the reader has come to its end.
    ///
    /// # Errors
    /// When the temporary file cannot be written or read.
    pub fn finish(mut self, format: Format) -> Result<LogFile, LogError> {
        let records: Sorted = self.records.finish()?;
        let content = if format == Format::Xes {
            Content::Traces(Box::new(TraceLog::new(self.header, records)))
        } else {
            let events = self.events.finish()?;
            let dangling = as_objects::dangling(&events, &self.object_ids, &mut self.findings)?;
            let known = (dangling > 0).then_some(self.object_ids);
            Content::Objects(Box::new(FileObjectLog::new(self.types, records, events, known)))
        };
        Ok(LogFile { content, findings: self.findings.finish() })
    }
}

/// Reads a log file, with rules for its records.
///
/// # Errors
/// When it is none, or one that no more of can be used; the error says where.
pub fn read(path: &Path, rules: LogRules) -> Result<LogFile, LogError> {
    let mut collector = Collector::new(rules);
    let format = read::read_file(path, &Limits::default(), &mut collector)?;
    collector.finish(format)
}

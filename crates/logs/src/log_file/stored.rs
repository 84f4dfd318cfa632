//! Imported logs in a dataset: the tables `imported_logs`, `log_objects` and `log_events`, written
//! and read again.
//!
//! A log gets into the dataset in one transaction. Its name is that of its file; a second log of
//! that name is refused.

use std::borrow::Cow;

use flowmine_dataset::{Builder, Dataset, DatasetError, Role, Transaction};
use flowmine_eventlog::read::{Format, Sink};
use flowmine_eventlog::sorted::SortRecords;
use flowmine_eventlog::{Attribute, CaseLog, Event, LogError, Object, ObjectLog, Record, Value};
use flowmine_schema::row::Row;
use flowmine_schema::tables::{ImportedLog, LogEvent, LogObject};
use flowmine_schema::text::visible;
use flowmine_spill::{Sorter, put_ordered};

use super::as_objects::CASE;
use super::{Collector, Content, LogFile, LogRules, TraceLog, json};

flowmine_schema::columns! {
    /// What an imported log is called.
    struct LogName of ImportedLog { log }
}

/// How many rows are held before they are written.
const ROWS: usize = 1 << 16;

/// Why a log could not be stored or found.
#[derive(Debug, thiserror::Error)]
pub enum StoredError {
    /// An error of the dataset.
    #[error("{0}")]
    Dataset(#[from] DatasetError),
    /// An error of the log that is stored or read.
    #[error("{0}")]
    Log(#[from] LogError),
    /// The dataset has a log of that name already.
    #[error("the dataset has a log named {0:?} already: rename the file to import both")]
    Taken(String),
    /// The dataset has no log of that name.
    #[error("the dataset has no imported log named {name:?}; it has: {}", list(known))]
    NotThere {
        /// The name that was asked for.
        name: String,
        /// The names of all imported logs.
        known: Vec<String>,
    },
}

fn list(known: &[String]) -> String {
    let names: Vec<_> = known.iter().map(|name| visible(name)).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// The names of the imported logs, in the order of import.
///
/// # Errors
/// When the dataset cannot be read.
pub fn names(dataset: &Dataset) -> Result<Vec<String>, DatasetError> {
    let mut names = Vec::new();
    dataset.read::<LogName<'static>, DatasetError>(|row| {
        names.push(row.log.into_owned());
        Ok(())
    })?;
    Ok(names)
}

/// How much of a log was stored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StoredCounts {
    /// Number of objects or, of a log with cases, of traces.
    pub objects: u64,
    /// Number of events.
    pub events: u64,
}

/// Rows of one table on their way into a transaction.
struct Filling<R: Row>(Builder<R>);

impl<R: Row> Filling<R> {
    fn push(&mut self, row: &R::Of<'_>, transaction: &mut Transaction<'_>) -> Result<(), DatasetError> {
        self.0.push(row);
        if self.0.len() < ROWS { Ok(()) } else { transaction.append(std::mem::take(&mut self.0)) }
    }
}

/// Puts a log into a dataset.
///
/// # Errors
/// When there is one of that name, another process is writing, or a file cannot be written; then
/// the dataset is as it was.
pub fn store(dataset: &Dataset, name: &str, file: &LogFile) -> Result<StoredCounts, StoredError> {
    let mut writer = dataset.writer(Role::Raw, &format!("import log, process {}", std::process::id()))?;
    if names(dataset)?.iter().any(|known| known == name) {
        return Err(StoredError::Taken(name.to_owned()));
    }
    let mut transaction = writer.begin()?;
    let mut logs = Builder::<ImportedLog<'static>>::new();
    let (format, header) = match &file.content {
        Content::Objects(log) => ("ocel", json::types(log.types())?),
        Content::Traces(log) => ("xes", json::header(log.header())?),
    };
    logs.push(&ImportedLog { log: name.into(), format: format.into(), header: header.into(), ..ImportedLog::default() });
    transaction.append(logs)?;
    let mut counts = StoredCounts::default();
    let mut objects = Filling(Builder::<LogObject<'static>>::new());
    let mut events = Filling(Builder::<LogEvent<'static>>::new());
    let batches = match &file.content {
        Content::Objects(log) => vec![log.objects(), log.events()],
        Content::Traces(log) => vec![log.traces()],
    };
    for batch in batches.into_iter().flatten() {
        for record in batch?.records() {
            match record? {
                Record::Object(object) => {
                    counts.objects += 1;
                    let row = LogObject {
                        log: name.into(),
                        number: counts.objects as i64,
                        object_id: object.id,
                        object_type: object.kind,
                        attributes: json::attributes(&object.attributes)?.into(),
                        relationships: Some(json::relations(&object.relations)?.into()),
                        ..LogObject::default()
                    };
                    objects.push(&row, &mut transaction)?;
                }
                Record::Event(event) => {
                    counts.events += 1;
                    let row = LogEvent {
                        log: name.into(),
                        number: counts.events as i64,
                        event_id: Some(event.id),
                        event_type: Some(event.kind),
                        time_ns: Some(event.time_ns),
                        attributes: json::attributes(&event.attributes)?.into(),
                        relationships: Some(json::relations(&event.relations)?.into()),
                        ..LogEvent::default()
                    };
                    events.push(&row, &mut transaction)?;
                }
                Record::Trace(attributes) => {
                    counts.objects += 1;
                    let id = Attribute::find(&attributes, "concept:name").and_then(|a| a.value.as_name());
                    let row = LogObject {
                        log: name.into(),
                        number: counts.objects as i64,
                        object_id: id.unwrap_or_default(),
                        object_type: CASE.into(),
                        attributes: json::attributes(&attributes)?.into(),
                        ..LogObject::default()
                    };
                    objects.push(&row, &mut transaction)?;
                }
                Record::CaseEvent(attributes) => {
                    counts.events += 1;
                    let time_ns = Attribute::find(&attributes, "time:timestamp").and_then(|a| match a.value {
                        Value::Time(ns) => Some(ns),
                        _ => None,
                    });
                    let row = LogEvent {
                        log: name.into(),
                        number: counts.events as i64,
                        trace: Some(counts.objects as i64),
                        event_type: Attribute::find(&attributes, "concept:name").and_then(|a| a.value.as_name()),
                        time_ns,
                        attributes: json::attributes(&attributes)?.into(),
                        ..LogEvent::default()
                    };
                    events.push(&row, &mut transaction)?;
                }
                Record::TraceEnd => {}
            }
        }
    }
    transaction.append(objects.0)?;
    transaction.append(events.0)?;
    transaction.commit()?;
    Ok(counts)
}

/// Gets a log out of a dataset, with rules for its records.
///
/// # Errors
/// When there is none of that name, or the tables cannot be read.
pub fn load(dataset: &Dataset, name: &str, rules: LogRules) -> Result<LogFile, StoredError> {
    let mut found = None;
    dataset.read::<ImportedLog<'static>, StoredError>(|row| {
        if row.log == name {
            found = Some((row.format.into_owned(), row.header.into_owned()));
        }
        Ok(())
    })?;
    let Some((format, header)) = found else { return Err(StoredError::NotThere { name: name.to_owned(), known: names(dataset)? }) };
    if format == "xes" { load_traces(dataset, name, &header, &rules) } else { load_objects(dataset, name, &header, rules) }
}

fn load_traces(dataset: &Dataset, name: &str, header: &str, rules: &LogRules) -> Result<LogFile, StoredError> {
    let mut records = Sorter::default();
    let mut key = Vec::new();
    let mut push = |trace: i64, part: u8, number: i64, record: &Record<'_>| {
        key.clear();
        put_ordered(trace, &mut key);
        key.push(part);
        put_ordered(number, &mut key);
        records.push_record(&key, record)
    };
    dataset.read::<LogObject<'static>, StoredError>(|row| {
        if row.log == name {
            push(row.number, 0, 0, &rules.record(Record::Trace(json::read_attributes(&row.attributes)?)))?;
            push(row.number, 2, 0, &Record::TraceEnd)?;
        }
        Ok(())
    })?;
    dataset.read::<LogEvent<'static>, StoredError>(|row| {
        if row.log == name
            && let Some(trace) = row.trace
        {
            push(trace, 1, row.number, &rules.record(Record::CaseEvent(json::read_attributes(&row.attributes)?)))?;
        }
        Ok(())
    })?;
    let content =
        Content::Traces(Box::new(TraceLog::new(rules.header(json::read_header(header)?), records.finish().map_err(LogError::from)?)));
    Ok(LogFile { content, findings: Vec::new() })
}

fn load_objects(dataset: &Dataset, name: &str, header: &str, rules: LogRules) -> Result<LogFile, StoredError> {
    let mut collector = Collector::new(rules);
    collector.types(json::read_types(header)?)?;
    let none = Cow::Borrowed("[]");
    dataset.read::<LogObject<'static>, StoredError>(|row| {
        if row.log != name {
            return Ok(());
        }
        let relations = row.relationships.as_ref().unwrap_or(&none);
        let object = Object {
            id: Cow::Borrowed(&row.object_id),
            kind: Cow::Borrowed(&row.object_type),
            attributes: json::read_attributes(&row.attributes)?,
            relations: json::read_relations(relations)?,
        };
        Ok(collector.record(&Record::Object(object))?)
    })?;
    dataset.read::<LogEvent<'static>, StoredError>(|row| {
        if row.log != name {
            return Ok(());
        }
        let relations = row.relationships.as_ref().unwrap_or(&none);
        let event = Event {
            id: Cow::Borrowed(row.event_id.as_deref().unwrap_or_default()),
            kind: Cow::Borrowed(row.event_type.as_deref().unwrap_or_default()),
            time_ns: row.time_ns.unwrap_or_default(),
            attributes: json::read_attributes(&row.attributes)?,
            relations: json::read_relations(relations)?,
        };
        Ok(collector.record(&Record::Event(event))?)
    })?;
    Ok(collector.finish(Format::OcelJson)?)
}

//! A log file as an object-centric log.
//!
//! An OCEL file is one. Of an XES file each trace is an object of type `case` with the attributes of the trace and its `concept:name` as id (`#2`
//! follows when an earlier trace has the same), and each event is one of type `concept:name`, related to its trace as `case`. Events get ids by
//! their order in time. An event without `time:timestamp` cannot be in an OCEL log and is left out, which a finding says.

use std::borrow::Cow;

use flowmine_eventlog::read::{Finding, Severity};
use flowmine_eventlog::record::give_event_id;
use flowmine_eventlog::spool::{Sorted, Sorter, put_ordered};
use flowmine_eventlog::{Attribute, Batches, CaseLog, Event, IdHash, LogError, Object, ObjectLog, Record, Relation, Types, Value};
use rustc_hash::FxHashSet;

use super::type_table::TypeTable;
use super::{Findings, found};

/// The object type of a trace.
pub const CASE: &str = "case";

/// The type of an event that has no `concept:name`.
pub const UNNAMED: &str = "(unnamed)";

/// An object-centric log from a file.
pub struct FileObjectLog {
    table: TypeTable,
    types: Types,
    objects: Sorted,
    events: Sorted,
    /// The objects that there are, if some relation leads to none of them.
    known: Option<FxHashSet<IdHash>>,
    number_events: bool,
}

impl FileObjectLog {
    pub(super) fn new(table: TypeTable, objects: Sorted, events: Sorted, known: Option<FxHashSet<IdHash>>) -> Self {
        Self { types: table.types(), table, objects, events, known, number_events: false }
    }

    /// The traces of an XES log as objects.
    ///
    /// # Errors
    /// When the log cannot be walked through or the temporary file not be written.
    pub fn of_cases(log: &dyn CaseLog) -> Result<(Self, Vec<Finding>), LogError> {
        let mut table = TypeTable::default();
        let (mut objects, mut events) = (Sorter::default(), Sorter::default());
        let mut ids: FxHashSet<IdHash> = FxHashSet::default();
        let mut findings = Findings::default();
        let mut number = 0;
        let mut case = String::new();
        for batch in log.traces() {
            for record in batch?.records() {
                number += 1;
                let mut key = Vec::new();
                match record? {
                    Record::Trace(mut attributes) => {
                        let name = Attribute::find(&attributes, "concept:name").and_then(|a| text_of(&a.value));
                        let name = name.map_or_else(|| format!("{CASE} {number}"), Cow::into_owned);
                        case.clone_from(&name);
                        let mut again = 1;
                        while !ids.insert(IdHash::of(&case)) {
                            again += 1;
                            case = format!("{name}#{again}");
                        }
                        if again > 1 {
                            let message = format!("an earlier trace has the same concept:name; as an object this one is {case}");
                            findings.push(found(Severity::Note, "duplicate_case_id", &name, message));
                        }
                        distinct(&mut attributes);
                        table.learn(false, CASE, &attributes);
                        put_ordered(number, &mut key);
                        let object = Object { id: case.as_str().into(), kind: CASE.into(), attributes, relations: Vec::new() };
                        objects.push_record(&key, &Record::Object(object))?;
                    }
                    Record::CaseEvent(mut attributes) => {
                        let time = attributes.iter().position(|a| a.key == "time:timestamp" && matches!(a.value, Value::Time(_)));
                        let Some(Value::Time(time_ns)) = time.map(|at| attributes.remove(at).value) else {
                            let message = "an event without time:timestamp cannot be in an OCEL log; it is left out";
                            findings.push(found(Severity::Warning, "event_without_time", &case, message));
                            continue;
                        };
                        let name = attributes.iter().position(|a| a.key == "concept:name" && matches!(a.value, Value::String(_)));
                        let kind = match name.map(|at| attributes.remove(at).value) {
                            Some(Value::String(name)) => name,
                            _ => UNNAMED.into(),
                        };
                        distinct(&mut attributes);
                        table.learn(true, &kind, &attributes);
                        put_ordered(time_ns, &mut key);
                        put_ordered(number, &mut key);
                        let relations = vec![Relation { object: case.as_str().into(), qualifier: CASE.into() }];
                        events.push_record(&key, &Record::Event(Event { id: "".into(), kind, time_ns, attributes, relations }))?;
                    }
                    _ => {}
                }
            }
        }
        let mut log = Self::new(table, objects.finish()?, events.finish()?, None);
        log.number_events = true;
        Ok((log, findings.finish()))
    }
}

/// OCEL knows an attribute once: of several with one key the first stays.
fn distinct(attributes: &mut Vec<Attribute<'_>>) {
    let mut keys: Vec<Cow<'_, str>> = Vec::with_capacity(attributes.len());
    attributes.retain(|attribute| {
        let new = !keys.contains(&attribute.key);
        if new {
            keys.push(attribute.key.clone());
        }
        new
    });
}

/// A value as text, if it is one that can be a name.
pub(super) fn text_of<'v>(value: &'v Value<'_>) -> Option<Cow<'v, str>> {
    match value {
        Value::String(text) | Value::Id(text) => Some(Cow::Borrowed(text.as_ref())),
        Value::Integer(number) => Some(Cow::Owned(number.to_string())),
        _ => None,
    }
}

/// Counts the relations that lead to no object.
pub(super) fn dangling(events: &Sorted, known: &FxHashSet<IdHash>, findings: &mut Findings) -> Result<u64, LogError> {
    let mut count = 0;
    let mut walk = events.walk()?;
    while let Some((_, bytes)) = walk.next()? {
        let Record::Event(event) = Record::decode(bytes)? else { continue };
        for relation in &event.relations {
            if !known.contains(&IdHash::of(&relation.object)) {
                count += 1;
                let message = format!(
                    "event {:?} is related to an object {:?} that there is not; the relation is left out",
                    event.id, relation.object
                );
                findings.push(found(Severity::Error, "relation_to_no_object", &event.id, message));
            }
        }
    }
    Ok(count)
}

impl ObjectLog for FileObjectLog {
    fn types(&self) -> &Types {
        &self.types
    }

    fn objects(&self) -> Batches<'_> {
        let change = self.table.is_mixed(false) || self.known.is_some();
        self.objects.batches(move |bytes, out| {
            let Ok(Record::Object(mut object)) = (if change { Record::decode(bytes) } else { Err(LogError::Damaged) }) else {
                return false;
            };
            self.table.conform_object(&mut object);
            if let Some(known) = &self.known {
                object.relations.retain(|relation| known.contains(&IdHash::of(&relation.object)));
            }
            Record::Object(object).encode(out);
            true
        })
    }

    fn events(&self) -> Batches<'_> {
        let digits = self.events.len().to_string().len();
        let mut number = 0u64;
        let change = self.table.is_mixed(true) || self.known.is_some();
        self.events.batches(move |bytes, out| {
            number += 1;
            let id = || format!("e{number:0digits$}");
            if !change {
                return self.number_events && give_event_id(bytes, &id(), out);
            }
            let Ok(Record::Event(mut event)) = Record::decode(bytes) else { return false };
            self.table.conform_event(&mut event);
            if self.number_events {
                event.id = id().into();
            }
            if let Some(known) = &self.known {
                event.relations.retain(|relation| known.contains(&IdHash::of(&relation.object)));
            }
            Record::Event(event).encode(out);
            true
        })
    }
}

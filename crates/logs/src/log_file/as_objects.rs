//! A log file as an object-centric log.
//!
//! An OCEL file is one already. Each trace of an XES file becomes an object of type `case` with the
//! attributes of the trace. Its id is the `concept:name` of the trace; where that is missing or not
//! unique, [`flowmine_eventlog::case_names`] gives the id, and the attribute `name` contains its
//! own name, if any. Each event of an XES file gets its `concept:name` as type and is related to
//! its trace as `case`. Events get ids by their order in time.
//!
//! OCEL has no event without a time. One without `time:timestamp` is left out, which a finding
//! says, or gets a time as [`Untimed`] says. OCEL has no order but that of times: how many events
//! stand elsewhere in their trace than their time says is a finding too. Keys by which PM4Py's
//! flattened logs name case and activity are not used for other things, since a table has each
//! column once.

use std::borrow::Cow;

use flowmine_eventlog::case_names::{self, CaseNames};
use flowmine_eventlog::read::{Finding, Severity};
use flowmine_eventlog::record::give_event_id;
use flowmine_eventlog::sorted::{SortRecords, SortedRecords};
use flowmine_eventlog::{Attribute, Batches, CaseLog, Event, IdHash, LogError, Object, ObjectLog, Record, Relation, Types, Value};
use flowmine_spill::{Sorted, Sorter, put_ordered};
use rustc_hash::FxHashSet;

use super::type_table::TypeTable;
use super::{Findings, found};

/// The object type of a trace.
pub const CASE: &str = "case";

/// The type of an event that has no `concept:name`.
pub const UNNAMED: &str = "(unnamed)";

/// The attribute of an event that has the time of a neighbour.
pub const TIME_UNKNOWN: &str = "time_unknown";

/// What becomes of events without a time, which OCEL cannot hold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Untimed {
    /// They are left out, which a finding says.
    #[default]
    LeaveOut,
    /// They have the time of the event before them in their trace, or of the first that has one,
    /// and [`TIME_UNKNOWN`] is true: their order and number stay. Those of a trace without any time
    /// are left out.
    Neighbour,
}

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
    pub fn of_cases(log: &dyn CaseLog, untimed: Untimed) -> Result<(Self, Vec<Finding>), LogError> {
        let mut table = TypeTable::default();
        let (mut objects, mut events) = (Sorter::default(), Sorter::default());
        let mut names = CaseNames::default();
        let mut findings = Findings::default();
        let mut first_times = if untimed == Untimed::Neighbour { first_times(log)? } else { Vec::new() }.into_iter();
        let mut number = 0;
        let mut case = String::new();
        let (mut neighbour, mut latest, mut disordered) = (None, None, 0u64);
        for batch in log.traces() {
            for record in batch?.records() {
                number += 1;
                let mut key = Vec::new();
                match record? {
                    Record::Trace(mut attributes) => {
                        let name = names.next(&attributes);
                        distinct(&mut attributes, &name.name, &mut findings);
                        take_out(&mut attributes, case_names::KEY, "name");
                        if let Some(told) = name.told.as_ref().filter(|_| name.is_new()) {
                            let message = format!("an earlier trace has the same concept:name; as an object this one is {}", name.name);
                            findings.push(found(Severity::Note, "duplicate_case_id", told, message));
                            attributes.insert(0, Attribute::text("name", told.clone()));
                        }
                        case = name.name;
                        (neighbour, latest) = (first_times.next().flatten(), None);
                        distinct(&mut attributes, &case, &mut findings);
                        table.learn(false, CASE, &attributes);
                        put_ordered(number, &mut key);
                        let object = Object { id: case.as_str().into(), kind: CASE.into(), attributes, relations: Vec::new() };
                        objects.push_record(&key, &Record::Object(object))?;
                    }
                    Record::CaseEvent(mut attributes) => {
                        distinct(&mut attributes, &case, &mut findings);
                        let time_ns = match time_of(&attributes) {
                            Some(time_ns) => {
                                disordered += u64::from(latest.is_some_and(|latest| time_ns < latest));
                                latest = latest.max(Some(time_ns));
                                neighbour = Some(time_ns).filter(|_| untimed == Untimed::Neighbour);
                                time_ns
                            }
                            None => {
                                let Some(time_ns) = neighbour else {
                                    let message = "an event without time:timestamp cannot be in an OCEL log; it is left out";
                                    findings.push(found(Severity::Error, "event_without_time", &case, message));
                                    continue;
                                };
                                let message = "an event without time:timestamp has the time of its neighbour, and time_unknown is true";
                                findings.push(found(Severity::Error, "event_without_time", &case, message));
                                attributes.insert(0, Attribute::new(TIME_UNKNOWN, Value::Boolean(true)));
                                time_ns
                            }
                        };
                        let name = take_out(&mut attributes, "concept:name", "name");
                        let kind =
                            name.as_ref().and_then(Value::as_name).filter(|name| !name.is_empty()).unwrap_or(UNNAMED.into()).into_owned();
                        take_out(&mut attributes, "time:timestamp", "time");
                        distinct(&mut attributes, &case, &mut findings);
                        table.learn(true, &kind, &attributes);
                        put_ordered(time_ns, &mut key);
                        put_ordered(number, &mut key);
                        let relations = vec![Relation { object: case.as_str().into(), qualifier: CASE.into() }];
                        events.push_record(
                            &key,
                            &Record::Event(Event { id: "".into(), kind: kind.into(), time_ns, attributes, relations }),
                        )?;
                    }
                    _ => {}
                }
            }
        }
        if disordered > 0 {
            let message = format!(
                "events that are earlier than one before them in their trace: {disordered}; an OCEL log has no order but that of times"
            );
            findings.push(found(Severity::Warning, "event_order", "", message));
        }
        let mut log = Self::new(table, objects.finish()?, events.finish()?, None);
        log.number_events = true;
        Ok((log, findings.finish()))
    }
}

/// Takes out the attribute that becomes something else in OCEL. One that holds more than that,
/// because others hang below it or it is a time that is none, stays too, under another key: the key
/// that it has is one by which PM4Py names case, activity and time of a flattened log.
fn take_out<'a>(attributes: &mut Vec<Attribute<'a>>, key: &str, other: &'static str) -> Option<Value<'a>> {
    let at = attributes.iter().position(|attribute| attribute.key == key)?;
    let is_time = key != "time:timestamp" || matches!(attributes[at].value, Value::Time(_));
    if attributes[at].children.is_empty() && is_time {
        return Some(attributes.remove(at).value);
    }
    attributes[at].key = other.into();
    Some(attributes[at].value.clone())
}

/// The time of an event of a trace.
fn time_of(attributes: &[Attribute<'_>]) -> Option<i64> {
    attributes.iter().find_map(|attribute| match attribute.value {
        Value::Time(ns) if attribute.key == "time:timestamp" => Some(ns),
        _ => None,
    })
}

/// The first time that each trace has.
fn first_times(log: &dyn CaseLog) -> Result<Vec<Option<i64>>, LogError> {
    let mut first = Vec::new();
    for batch in log.traces() {
        for record in batch?.records() {
            match record? {
                Record::Trace(_) => first.push(None),
                Record::CaseEvent(attributes) => {
                    if let Some(none @ None) = first.last_mut() {
                        *none = time_of(&attributes);
                    }
                }
                _ => {}
            }
        }
    }
    Ok(first)
}

/// OCEL knows an attribute once: of several with one key the first stays.
fn distinct(attributes: &mut Vec<Attribute<'_>>, case: &str, findings: &mut Findings) {
    let mut keys: Vec<Cow<'_, str>> = Vec::with_capacity(attributes.len());
    attributes.retain(|attribute| {
        let new = !keys.contains(&attribute.key);
        if new {
            keys.push(attribute.key.clone());
        } else {
            let message = format!("a second attribute {:?} in the same place cannot be in an OCEL log; it is left out", attribute.key);
            findings.push(found(Severity::Error, "repeated_attribute", case, message));
        }
        new
    });
}

/// Counts the relations that lead to no object.
pub(super) fn dangling(events: &Sorted, known: &FxHashSet<IdHash>, findings: &mut Findings) -> Result<u64, LogError> {
    let mut count = 0;
    let mut walk = events.walk()?;
    while let Some((_, bytes)) = walk.next()? {
        let Record::Event(event) = Record::decode(bytes)? else { continue };
        for relation in &event.relations {
            if !known.contains(&IdHash::new(&relation.object)) {
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
                object.relations.retain(|relation| known.contains(&IdHash::new(&relation.object)));
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
                event.relations.retain(|relation| known.contains(&IdHash::new(&relation.object)));
            }
            Record::Event(event).encode(out);
            true
        })
    }
}

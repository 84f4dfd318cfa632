//! OCEL XML in, 2.0 or 1.0, objects and events out.
//!
//! In goes an [`Input`]; out come types, [`Record::Object`]s and [`Record::Event`]s in the order of
//! the file. Types stand first, as the schema wants; values that stand before their type are kept
//! as text. Relations are read from `<relationship>`, as the standard's example and the tools write
//! them, and from `<object>`, as the schema has them. Refused is what is not well-formed XML or
//! larger than the [`Limits`].
//!
//! OCEL 1.0 (`.xmlocel`) has the elements of XES in its events and objects: `<string key="id">`,
//! `<list key="omap">`. Values are of the type that their element says; the types come after the
//! records, as the values show them. Relations have no qualifier, except where PM4Py wrote one.
//!
//! Findings. Left out: `unknown_element`, `missing_id`, `missing_type`, `missing_time` (of events),
//! `missing_object`, `missing_name`, `missing_value` (1.0), `text`. Kept as text: `not_a_time`,
//! `time_range`, `not_a_number`, `number_range`, `not_a_boolean`. Kept: `missing_section`,
//! `missing_qualifier`, `missing_value_time`, `duplicate_key`, `duplicate_type`,
//! `unknown_value_type`, `late_types`, `xml_character`, `document_type`. In OCEL 1.0 an id that
//! stands there twice is a `duplicate_key`, too: both records are kept.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use crate::attribute::{Attribute, ValueType};
use crate::error::LogError;
use crate::id_hash::IdHash;
use crate::log::{TypeDef, Types};
use crate::read::elements::{Elements, Node, Tag, has_forbidden};
use crate::read::input::{Input, Position};
use crate::read::values::{self, Declared, Inferred};
use crate::read::{Limits, Severity, Sink, found, printable, shown};
use crate::record::{Event, Object, Record, Relation};

/// Reads a file to its end.
///
/// # Errors
/// [`LogError::Refused`] when nothing more of the file can be used; what the sink says; errors of
/// the operating system.
pub fn read(input: Input<'_>, limits: &Limits, sink: &mut dyn Sink) -> Result<(), LogError> {
    let mut elements = Elements::new(input, limits);
    let mut reader = Reader::new(*limits, sink);
    let mut buffer = Vec::new();
    loop {
        let in_value = reader.open.last() == Some(&Open::Value);
        let node = elements.next(!in_value, &mut buffer)?;
        reader.place = elements.place();
        match node {
            Node::Start(tag) => reader.start(&tag)?,
            Node::End => reader.end()?,
            Node::Text(text) if in_value => reader.value_text(&text)?,
            Node::Text(text) => {
                if !text.trim_ascii().is_empty() && reader.open.last() != Some(&Open::Skipped) {
                    reader.odd(Severity::Warning, "text", format!("text between elements is left out: {}", shown(&text)));
                }
            }
            Node::Other(finding) => finding.into_iter().for_each(|finding| reader.sink.finding(finding)),
            Node::Eof => return Ok(()),
        }
    }
}

/// An element that is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    Log,
    Types {
        of_events: bool,
    },
    Type {
        of_events: bool,
    },
    TypeAttributes,
    Records {
        of_events: bool,
    },
    Record {
        of_events: bool,
    },
    Attributes {
        of_events: bool,
    },
    Value,
    Relations,
    /// What OCEL 1.0 says of the log as a whole.
    Global,
    /// The values of a record of OCEL 1.0.
    FirstValues,
    /// The relations of a record of OCEL 1.0.
    FirstRelations,
    /// Without content that means something.
    Leaf,
    Skipped,
}

/// A value as ranges of the text of its record.
struct FlatValue {
    name: Range<usize>,
    text: Range<usize>,
    since_ns: Option<i64>,
    /// The type that the value's element names in OCEL 1.0; `None` in OCEL 2.0.
    of: Option<ValueType>,
    place: Position,
}

/// What is known of a file of OCEL 1.0.
#[derive(Default)]
struct First {
    inferred: Inferred,
    events: HashSet<IdHash>,
    objects: HashSet<IdHash>,
}

struct Reader<'s> {
    limits: Limits,
    sink: &'s mut dyn Sink,
    place: Position,
    open: Vec<Open>,
    declared: Declared,
    types: Vec<TypeDef>,
    type_bytes: usize,
    /// Which sections there were: event types, object types, events, objects.
    seen: [bool; 4],
    /// Texts of the record that is being read, concatenated.
    text: String,
    id: Option<Range<usize>>,
    kind: Option<Range<usize>>,
    time_ns: Option<i64>,
    values: Vec<FlatValue>,
    relations: Vec<(Range<usize>, Range<usize>)>,
    /// Where the record that is being read begins.
    owner: Position,
    /// What is known of a file of OCEL 1.0; `None` for OCEL 2.0.
    first: Option<First>,
}

const SECTIONS: [&str; 4] = ["event-types", "object-types", "events", "objects"];

impl<'s> Reader<'s> {
    fn new(limits: Limits, sink: &'s mut dyn Sink) -> Self {
        Self {
            limits,
            sink,
            place: Position::START,
            open: Vec::new(),
            declared: Declared::default(),
            types: Vec::new(),
            type_bytes: 0,
            seen: [false; 4],
            text: String::new(),
            id: None,
            kind: None,
            time_ns: None,
            values: Vec::new(),
            relations: Vec::new(),
            owner: Position::START,
            first: None,
        }
    }

    fn odd(&mut self, severity: Severity, rule: &'static str, message: String) {
        self.sink.finding(found(severity, rule, self.place, message));
    }

    fn start(&mut self, tag: &Tag<'_>) -> Result<(), LogError> {
        let name = if tag.ours { tag.name() } else { "" };
        let open = match (self.open.last().copied(), name) {
            (None, "log") => Open::Log,
            (None, _) => {
                return Err(self.place.refuse(format!("the outermost element is <{}>, not the <log> of OCEL", printable(tag.name(), 60))));
            }
            (Some(Open::Skipped), _) => Open::Skipped,
            (Some(Open::Log), "global") if self.first_version() => Open::Global,
            (Some(Open::Global), _) => Open::Skipped,
            (Some(Open::Record { of_events }), "list") if self.first_version() => self.first_list(tag, of_events)?,
            (Some(Open::Record { of_events }), name) if first_value_type(name).is_some() && self.first_version() => {
                self.first_part(tag, of_events)?
            }
            (Some(Open::FirstValues), name) if let Some(of) = first_value_type(name) => self.first_value(tag, of)?,
            (Some(Open::FirstRelations), "string" | "id") => self.first_relation(tag)?,
            (Some(Open::Log), "event-types") => self.section(0),
            (Some(Open::Log), "object-types") => self.section(1),
            (Some(Open::Log), "events") => self.section(2),
            (Some(Open::Log), "objects") => self.section(3),
            (Some(Open::Types { of_events: true }), "event-type") => self.type_def(tag, true)?,
            (Some(Open::Types { of_events: false }), "object-type") => self.type_def(tag, false)?,
            (Some(Open::Type { .. }), "attributes") => Open::TypeAttributes,
            (Some(Open::TypeAttributes), "attribute") => self.attribute_def(tag)?,
            (Some(Open::Records { of_events: true }), "event") => self.record(tag, true)?,
            (Some(Open::Records { of_events: false }), "object") => self.record(tag, false)?,
            (Some(Open::Record { of_events }), "attributes") => Open::Attributes { of_events },
            (Some(Open::Record { .. }), "objects") => Open::Relations,
            (Some(Open::Attributes { of_events }), "attribute") => self.value(tag, of_events)?,
            (Some(Open::Relations), "relationship" | "object") => self.relation(tag)?,
            _ => {
                self.odd(Severity::Warning, "unknown_element", format!("<{}> is not known here and left out", printable(tag.name(), 60)));
                Open::Skipped
            }
        };
        self.open.push(open);
        Ok(())
    }

    fn end(&mut self) -> Result<(), LogError> {
        match self.open.pop() {
            Some(Open::Types { of_events }) => {
                let types = std::mem::take(&mut self.types);
                for one in &types {
                    if !self.declared.add(of_events, one) {
                        let message = format!("the type {} is declared twice, or an attribute of it is", shown(&one.name));
                        self.odd(Severity::Error, "duplicate_type", message);
                    }
                }
                self.sink.types(if of_events {
                    Types { events: types, objects: Vec::new() }
                } else {
                    Types { events: Vec::new(), objects: types }
                })?;
            }
            Some(Open::Record { of_events }) => self.emit(of_events)?,
            Some(Open::Log) => {
                let sections = if self.first.is_some() { 2 } else { 0 };
                for (section, _) in SECTIONS.iter().zip(self.seen).skip(sections).filter(|(_, seen)| !seen) {
                    self.odd(Severity::Error, "missing_section", format!("there is no <{section}>"));
                }
                if let Some(first) = self.first.take() {
                    self.sink.types(first.inferred.into_types())?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn section(&mut self, section: usize) -> Open {
        let name = SECTIONS.get(section).copied().unwrap_or_default();
        if self.seen.get_mut(section).is_some_and(|seen| std::mem::replace(seen, true)) {
            self.odd(Severity::Error, "duplicate_key", format!("<{name}> appears here a second time; all are read"));
        }
        if section < 2 && self.seen.get(section + 2) == Some(&true) {
            self.odd(
                Severity::Error,
                "late_types",
                format!("<{name}> stands behind what is of these types; values before it are kept as text"),
            );
        }
        let of_events = section.is_multiple_of(2);
        if section < 2 { Open::Types { of_events } } else { Open::Records { of_events } }
    }

    fn read<'t, const N: usize>(&mut self, tag: &'t Tag<'_>, names: [&str; N]) -> Result<[Option<Cow<'t, str>>; N], LogError> {
        let read = tag.read(names).map_err(|message| self.place.refuse(message))?;
        if read.forbidden {
            self.odd(Severity::Error, "xml_character", "a character that XML does not allow; it is kept".into());
        }
        Ok(read.values)
    }

    fn type_def(&mut self, tag: &Tag<'_>, of_events: bool) -> Result<Open, LogError> {
        let [name] = self.read(tag, ["name"])?;
        let Some(name) = name else {
            self.odd(Severity::Error, "missing_name", "a type without a name is left out".into());
            return Ok(Open::Skipped);
        };
        let one = TypeDef { name: name.into_owned(), attributes: Vec::new() };
        self.define(values::type_bytes(&one), self.types.len())?;
        self.types.push(one);
        Ok(Open::Type { of_events })
    }

    fn attribute_def(&mut self, tag: &Tag<'_>) -> Result<Open, LogError> {
        let [name, kind] = self.read(tag, ["name", "type"])?;
        let Some(name) = name else {
            self.odd(Severity::Error, "missing_name", "an attribute without a name is left out".into());
            return Ok(Open::Skipped);
        };
        let kind = kind.unwrap_or_default();
        let known = ValueType::from_ocel_name(&kind);
        if let Some(finding) = values::about_type_name(&kind, known, &name, self.place) {
            self.sink.finding(finding);
        }
        let before = self.types.last().map_or(0, |one| one.attributes.len());
        self.define(values::EACH_BYTES + name.len(), before)?;
        if let Some(one) = self.types.last_mut() {
            one.attributes.push((name.into_owned(), known.unwrap_or(ValueType::String)));
        }
        Ok(Open::Leaf)
    }

    /// Counts the definition of a type or an attribute; too many are refused.
    fn define(&mut self, bytes: usize, before: usize) -> Result<(), LogError> {
        self.type_bytes += bytes;
        if before >= self.limits.definitions || self.type_bytes > self.limits.record_bytes {
            let (most, size) = (self.limits.definitions, self.limits.record_bytes);
            return Err(self
                .place
                .refuse(format!("more than {most} types, or attributes of one, or types that take more than {size} bytes")));
        }
        Ok(())
    }

    fn keep(&mut self, text: &str) -> Range<usize> {
        let start = self.text.len();
        self.text.push_str(text);
        start..self.text.len()
    }

    fn time(&mut self, text: &str, what: &str) -> Option<i64> {
        match values::time(text) {
            Ok(ns) => Some(ns),
            Err(rule) => {
                self.odd(Severity::Error, rule, format!("{what} cannot be read and is left out: {}", shown(text)));
                None
            }
        }
    }

    fn record(&mut self, tag: &Tag<'_>, of_events: bool) -> Result<Open, LogError> {
        let [id, kind, time] = self.read(tag, ["id", "type", "time"])?;
        self.text.clear();
        self.values.clear();
        self.relations.clear();
        // One large record must not make all later ones expensive to hold.
        if self.text.capacity() > 1 << 20 {
            (self.text, self.values, self.relations) = (String::new(), Vec::new(), Vec::new());
        }
        self.owner = self.place;
        self.id = id.map(|id| self.keep(&id));
        self.kind = kind.map(|kind| self.keep(&kind));
        self.time_ns = time.filter(|_| of_events).and_then(|time| self.time(&time, "the time of an event"));
        self.check_size()?;
        Ok(Open::Record { of_events })
    }

    fn check_size(&self) -> Result<(), LogError> {
        let parts = self.values.len() * (size_of::<FlatValue>() + size_of::<Attribute<'_>>())
            + self.relations.len() * (size_of::<Range<usize>>() * 2 + size_of::<Relation<'_>>());
        if self.text.len() + parts > self.limits.record_bytes {
            return Err(self.owner.refuse(format!("a record takes more than {} bytes", self.limits.record_bytes)));
        }
        Ok(())
    }

    fn value(&mut self, tag: &Tag<'_>, of_events: bool) -> Result<Open, LogError> {
        let [name, time] = self.read(tag, ["name", "time"])?;
        let Some(name) = name else {
            self.odd(Severity::Error, "missing_name", "an attribute without a name is left out".into());
            return Ok(Open::Skipped);
        };
        let since_ns = match time {
            // So published logs write the time of a value that an object has always had.
            Some(time) if !of_events && time.trim_ascii() == "0" => None,
            Some(time) if !of_events => self.time(&time, "the time of a value").filter(|&ns| ns != 0),
            None if !of_events => {
                let message = format!("the value of {} has no time: it is treated as always valid", shown(&name));
                self.odd(Severity::Error, "missing_value_time", message);
                None
            }
            _ => None,
        };
        let name = self.keep(&name);
        let text = name.end..name.end;
        self.values.push(FlatValue { name, text, since_ns, of: None, place: self.place });
        self.check_size()?;
        Ok(Open::Value)
    }

    fn value_text(&mut self, text: &str) -> Result<(), LogError> {
        if has_forbidden(text) {
            self.odd(Severity::Error, "xml_character", "a character that XML does not allow; it is kept".into());
        }
        let range = self.keep(text);
        if let Some(value) = self.values.last_mut() {
            value.text.end = range.end;
            if value.text.len() > self.limits.text_bytes {
                return Err(value.place.refuse(format!("a text is longer than {} bytes", self.limits.text_bytes)));
            }
        }
        self.check_size()
    }

    fn relation(&mut self, tag: &Tag<'_>) -> Result<Open, LogError> {
        let [object, qualifier] = self.read(tag, ["object-id", "qualifier"])?;
        let Some(object) = object else {
            self.odd(Severity::Error, "missing_object", "a relation without object-id is left out".into());
            return Ok(Open::Skipped);
        };
        if qualifier.is_none() {
            self.odd(Severity::Error, "missing_qualifier", format!("the relation to {} has no qualifier", shown(&object)));
        }
        let relation = (self.keep(&object), self.keep(&qualifier.unwrap_or_default()));
        self.relations.push(relation);
        self.check_size()?;
        Ok(Open::Leaf)
    }

    /// Whether this is a file of OCEL 1.0, as what was met just now says, where nothing before says
    /// otherwise.
    fn first_version(&mut self) -> bool {
        // Types are declared in OCEL 2.0 only.
        if self.first.is_none() && !self.seen[0] && !self.seen[1] {
            self.first = Some(First::default());
        }
        self.first.is_some()
    }

    /// The id, the type or the time of a record of OCEL 1.0.
    fn first_part(&mut self, tag: &Tag<'_>, of_events: bool) -> Result<Open, LogError> {
        let [key, value] = self.read(tag, ["key", "value"])?;
        let key = key.unwrap_or_default();
        let value = value.unwrap_or_default();
        let twice = match key.strip_prefix("ocel:").unwrap_or(&key) {
            "id" | "eid" | "oid" => {
                let id = self.keep(&value);
                self.id.replace(id).is_some()
            }
            "activity" | "type" => {
                let kind = self.keep(&value);
                self.kind.replace(kind).is_some()
            }
            "timestamp" if of_events => {
                let time_ns = self.time(&value, "the time of an event");
                std::mem::replace(&mut self.time_ns, time_ns).is_some()
            }
            _ => {
                self.odd(Severity::Warning, "unknown_element", format!("{} is not known here and left out", shown(&key)));
                false
            }
        };
        if twice {
            self.odd(Severity::Error, "duplicate_key", format!("a second {} in one record; the last one is read", shown(&key)));
        }
        self.check_size()?;
        Ok(Open::Leaf)
    }

    fn first_list(&mut self, tag: &Tag<'_>, of_events: bool) -> Result<Open, LogError> {
        let [key] = self.read(tag, ["key"])?;
        let key = key.unwrap_or_default();
        Ok(match key.strip_prefix("ocel:").unwrap_or(&key) {
            "omap" if of_events => Open::FirstRelations,
            "o2o" if !of_events => Open::FirstRelations,
            "vmap" if of_events => Open::FirstValues,
            "ovmap" if !of_events => Open::FirstValues,
            _ => {
                self.odd(Severity::Warning, "unknown_element", format!("{} is not known here and left out", shown(&key)));
                Open::Skipped
            }
        })
    }

    fn first_value(&mut self, tag: &Tag<'_>, of: ValueType) -> Result<Open, LogError> {
        let [name, value] = self.read(tag, ["key", "value"])?;
        let Some(name) = name else {
            self.odd(Severity::Error, "missing_name", "an attribute without a key is left out".into());
            return Ok(Open::Skipped);
        };
        let Some(value) = value else {
            self.odd(Severity::Error, "missing_value", format!("the attribute {} has no value and is left out", shown(&name)));
            return Ok(Open::Skipped);
        };
        let (name, text) = (self.keep(&name), self.keep(&value));
        self.values.push(FlatValue { name, text, since_ns: None, of: Some(of), place: self.place });
        self.check_size()?;
        Ok(Open::Leaf)
    }

    fn first_relation(&mut self, tag: &Tag<'_>) -> Result<Open, LogError> {
        let [object, qualifier] = self.read(tag, ["value", "qualifier"])?;
        let Some(object) = object else {
            self.odd(Severity::Error, "missing_object", "a relation without an object is left out".into());
            return Ok(Open::Skipped);
        };
        let relation = (self.keep(&object), self.keep(&qualifier.unwrap_or_default()));
        self.relations.push(relation);
        self.check_size()?;
        Ok(Open::Leaf)
    }

    fn emit(&mut self, of_events: bool) -> Result<(), LogError> {
        let (what, owner) = (if of_events { "event" } else { "object" }, self.owner);
        let (text, sink, declared, first) = (&self.text, &mut *self.sink, &self.declared, &mut self.first);
        let slice = |range: &Range<usize>| text.get(range.clone()).unwrap_or_default();
        let mut missing = |rule, attribute| {
            let message = format!("an {what} without a usable {attribute} is left out");
            sink.finding(found(Severity::Error, rule, owner, message));
        };
        let Some(id) = self.id.as_ref().map(slice) else {
            missing("missing_id", "id");
            return Ok(());
        };
        let Some(kind) = self.kind.as_ref().map(slice) else {
            missing("missing_type", "type");
            return Ok(());
        };
        if of_events && self.time_ns.is_none() {
            missing("missing_time", "time");
            return Ok(());
        }
        let mut attributes = Vec::with_capacity(self.values.len());
        for flat in &self.values {
            let name = slice(&flat.name);
            let declared = flat.of.or_else(|| declared.of(of_events, kind, name));
            let (value, oddity) = values::from_text(slice(&flat.text).into(), declared);
            if let Some((severity, rule, message)) = oddity {
                sink.finding(found(severity, rule, flat.place, format!("the attribute {}: {message}", shown(name))));
            }
            if let Some(first) = first {
                let known = Some((name, value.kind()));
                first.inferred.note(of_events, kind, known, &self.limits).map_err(|message| flat.place.refuse(message))?;
            }
            attributes.push(Attribute { key: name.into(), value, since_ns: flat.since_ns, children: Vec::new() });
        }
        if let Some(first) = first {
            first.inferred.note(of_events, kind, None, &self.limits).map_err(|message| owner.refuse(message))?;
            let ids = if of_events { &mut first.events } else { &mut first.objects };
            if !ids.insert(IdHash::new(id)) {
                let message = format!("a second {what} with the id {}; both are kept", shown(id));
                sink.finding(found(Severity::Error, "duplicate_key", owner, message));
            }
        }
        let relation = |(object, qualifier): &(_, _)| Relation { object: slice(object).into(), qualifier: slice(qualifier).into() };
        let relations = self.relations.iter().map(relation).collect();
        let (id, kind) = (id.into(), kind.into());
        let Some(time_ns) = self.time_ns.filter(|_| of_events) else {
            return sink.record(&Record::Object(Object { id, kind, attributes, relations }));
        };
        if let Some(key) = values::first_duplicate(&attributes) {
            let message = format!("more than one attribute {} of one event; all are kept", shown(key));
            sink.finding(found(Severity::Error, "duplicate_key", owner, message));
        }
        sink.record(&Record::Event(Event { id, kind, time_ns, attributes, relations }))
    }
}

/// The type of the values that an element of OCEL 1.0 has.
fn first_value_type(element: &str) -> Option<ValueType> {
    Some(match element {
        "string" | "id" => ValueType::String,
        "date" => ValueType::Time,
        "int" => ValueType::Integer,
        "float" => ValueType::Float,
        "boolean" => ValueType::Boolean,
        _ => return None,
    })
}

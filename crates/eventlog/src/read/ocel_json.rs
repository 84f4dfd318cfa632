//! OCEL JSON in, 2.0 or 1.0, objects and events out.
//!
//! The input is an [`Input`]; the output is types, [`Record::Object`]s and [`Record::Event`]s in
//! the order of the file; keys can have any order. Values are read as their declared type. The
//! declaration may follow them in the file: [`types`] finds the types first, where a file can be
//! read twice. A file with keys that begin with `ocel:` is OCEL 1.0, which has its own module.
//! Refused is input that is not JSON, is larger than the [`Limits`], or mixes both versions.
//!
//! Findings. Left out: `unknown_key`, `null_value`, `missing_id`, `missing_type`, `missing_time`
//! (of events), `missing_object`, `missing_name`, `wrong_type`. Kept as text: `not_a_time`,
//! `time_range`, `not_a_number`, `number_range`, `not_a_boolean`, `nested_value`. Kept:
//! `missing_section`, `missing_qualifier`, `missing_value_time`, `duplicate_key`, `duplicate_type`,
//! `unknown_value_type`, `number_as_text`, `whole_float`, `value_type`, `not_finite`.

mod first_version;

use std::borrow::Cow;

use crate::attribute::{Attribute, Value, ValueType};
use crate::error::LogError;
use crate::log::{TypeDef, Types};
use crate::read::input::{Input, Position};
use crate::read::json::{Cursor, Document, Kind};
use crate::read::values::{self, Declared, Inferred};
use crate::read::{Limits, Severity, Sink, found, shown};
use crate::record::{Event, Object, Record, Relation};

/// Finds the types of a file and reads no further than it must.
///
/// # Errors
/// As [`read`], for what stands before the last type.
pub fn types(input: Input<'_>, limits: &Limits) -> Result<Types, LogError> {
    struct Deaf(Types);
    impl Sink for Deaf {
        fn types(&mut self, types: Types) -> Result<(), LogError> {
            self.0.events.extend(types.events);
            self.0.objects.extend(types.objects);
            Ok(())
        }
        fn header(&mut self, _: crate::log::CaseHeader) -> Result<(), LogError> {
            Ok(())
        }
        fn record(&mut self, _: &Record<'_>) -> Result<(), LogError> {
            Ok(())
        }
        fn finding(&mut self, _: crate::read::Finding) {}
    }
    let mut sink = Deaf(Types::default());
    let mut reader = Reader {
        limits: *limits,
        sink: &mut sink,
        declared: Declared::default(),
        met: Declared::default(),
        told: false,
        only_types: true,
        seen: [false; 4],
        inferred: None,
    };
    reader.document(&mut Document::new(input, limits))?;
    Ok(sink.0)
}

/// Reads a file to its end. With `known` types, from [`types`], values are read as them and the
/// sink gets them first; without, values that stand before their type are read as what they are in
/// JSON.
///
/// # Errors
/// [`LogError::Refused`] when nothing more of the file can be used; what the sink says; errors of
/// the operating system.
pub fn read(input: Input<'_>, limits: &Limits, known: Option<Types>, sink: &mut dyn Sink) -> Result<(), LogError> {
    let mut declared = Declared::default();
    let told = known.is_some();
    if let Some(types) = known {
        for (of_events, all) in [(true, &types.events), (false, &types.objects)] {
            for one in all {
                declared.add(of_events, one);
            }
        }
        sink.types(types)?;
    }
    let (met, seen) = (Declared::default(), [false; 4]);
    let mut reader = Reader { limits: *limits, sink, declared, met, told, only_types: false, seen, inferred: None };
    reader.document(&mut Document::new(input, limits))
}

const SECTIONS: [&str; 4] = ["eventTypes", "objectTypes", "events", "objects"];

struct Reader<'s> {
    limits: Limits,
    sink: &'s mut dyn Sink,
    declared: Declared,
    /// Those of them that were met in the file.
    met: Declared,
    /// Whether the sink knows the contents of the first section of event types and the first of
    /// object types.
    told: bool,
    only_types: bool,
    /// Which of the four sections of the file were there, in the order of `SECTIONS`.
    seen: [bool; 4],
    /// The types that the values of a file of OCEL 1.0 have; none in OCEL 2.0.
    inferred: Option<Inferred>,
}

/// The members of an event or object.
#[derive(Default)]
struct Parts<'a> {
    id: Option<Cow<'a, str>>,
    kind: Option<Cow<'a, str>>,
    time_ns: Option<i64>,
    attributes: Vec<Attribute<'a>>,
    relations: Vec<Relation<'a>>,
}

impl Reader<'_> {
    fn odd(&mut self, severity: Severity, rule: &'static str, place: Position, message: String) {
        self.sink.finding(found(severity, rule, place, message));
    }

    fn document(&mut self, document: &mut Document<'_>) -> Result<(), LogError> {
        document.expect(b'{')?;
        let mut first = true;
        while document.more(first, b'}')? {
            first = false;
            let place = document.place();
            let mut cursor = document.item()?;
            let key = cursor.string()?.into_owned();
            document.expect(b':')?;
            if key.starts_with("ocel:") {
                if self.seen.contains(&true) {
                    return Err(place.refuse("keys of OCEL 1.0 and of OCEL 2.0 in one file"));
                }
                return self.first_version(document, key, place);
            }
            let Some(section) = SECTIONS.iter().position(|known| *known == key) else {
                self.odd(Severity::Warning, "unknown_key", place, format!("{} is not known here and left out", shown(&key)));
                let mut cursor = document.item()?;
                cursor.skip()?;
                cursor.end()?;
                continue;
            };
            self.section(document, section, place)?;
            if self.only_types && self.seen[0] && self.seen[1] {
                return Ok(());
            }
        }
        if document.peek()?.is_some() {
            return Err(document.unexpected("the end of the file"));
        }
        for (section, _) in SECTIONS.iter().zip(self.seen).filter(|(_, seen)| !seen) {
            let place = document.place();
            self.odd(Severity::Error, "missing_section", place, format!("there is no {section}"));
        }
        Ok(())
    }

    fn section(&mut self, document: &mut Document<'_>, section: usize, place: Position) -> Result<(), LogError> {
        let name = SECTIONS.get(section).copied().unwrap_or_default();
        let again = self.seen.get_mut(section).is_some_and(|seen| std::mem::replace(seen, true));
        if again {
            self.odd(Severity::Error, "duplicate_key", place, format!("{name} appears here a second time; all are read"));
        }
        if document.peek()? != Some(b'[') {
            let place = document.place();
            return Err(place.refuse(format!("{name} is no array")));
        }
        document.expect(b'[')?;
        let mut types = Vec::new();
        let mut bytes = 0;
        let mut first = true;
        while document.more(first, b']')? {
            first = false;
            let mut cursor = document.item()?;
            let place = cursor.place();
            if self.only_types && (section >= 2 || again) {
                continue;
            }
            if cursor.kind()? != Kind::Object {
                self.odd(Severity::Error, "wrong_type", place, format!("an item of {name} is no object and left out"));
                cursor.skip()?;
            } else if section < 2 {
                let one = self.type_def(&mut cursor)?;
                bytes += one.as_ref().map_or(0, values::type_bytes);
                types.extend(one);
                if types.len() > self.limits.definitions || bytes > self.limits.record_bytes {
                    let (most, size) = (self.limits.definitions, self.limits.record_bytes);
                    return Err(place.refuse(format!("{name} has more than {most} types or takes more than {size} bytes")));
                }
            } else {
                self.record(&mut cursor, section == 2)?;
            }
            cursor.end()?;
        }
        if section < 2 {
            self.declare(types, section == 0, again, place)?;
        }
        Ok(())
    }

    fn declare(&mut self, types: Vec<TypeDef>, of_events: bool, again: bool, place: Position) -> Result<(), LogError> {
        for one in &types {
            if !self.met.add(of_events, one) {
                let message = format!("the type {} is declared twice, or an attribute of it is", shown(&one.name));
                self.odd(Severity::Error, "duplicate_type", place, message);
            }
            self.declared.add(of_events, one);
        }
        if self.told && !again {
            return Ok(());
        }
        let types = if of_events { Types { events: types, objects: Vec::new() } } else { Types { events: Vec::new(), objects: types } };
        self.sink.types(types)
    }

    fn type_def(&mut self, cursor: &mut Cursor<'_>) -> Result<Option<TypeDef>, LogError> {
        let place = cursor.place();
        let mut name = None;
        let mut attributes = Vec::new();
        let mut listed = false;
        cursor.object(|cursor, key| {
            match key.as_ref() {
                "name" => name = self.text(cursor, "the name of a type")?,
                "attributes" if cursor.kind()? == Kind::Array => {
                    listed = true;
                    cursor.array(|cursor| {
                        let one = self.attribute_def(cursor)?;
                        attributes.extend(one);
                        if attributes.len() > self.limits.definitions {
                            return Err(cursor.place().refuse(format!("a type has more than {} attributes", self.limits.definitions)));
                        }
                        Ok(())
                    })?;
                }
                _ => self.unknown(cursor, &key)?,
            }
            Ok(())
        })?;
        let Some(name) = name else {
            self.odd(Severity::Error, "missing_name", place, "a type without a name is left out".into());
            return Ok(None);
        };
        if !listed {
            self.odd(Severity::Error, "missing_section", place, format!("the type {} has no attributes, not even none", shown(&name)));
        }
        Ok(Some(TypeDef { name: name.into_owned(), attributes }))
    }

    fn attribute_def(&mut self, cursor: &mut Cursor<'_>) -> Result<Option<(String, ValueType)>, LogError> {
        let place = cursor.place();
        if !self.is_object(cursor, "an attribute")? {
            return Ok(None);
        }
        let (mut name, mut kind) = (None, None);
        cursor.object(|cursor, key| {
            match key.as_ref() {
                "name" => name = self.text(cursor, "the name of an attribute")?,
                "type" => kind = self.text(cursor, "the type of an attribute")?,
                _ => self.unknown(cursor, &key)?,
            }
            Ok(())
        })?;
        let Some(name) = name else {
            self.odd(Severity::Error, "missing_name", place, "an attribute without a name is left out".into());
            return Ok(None);
        };
        let kind = kind.as_deref().unwrap_or_default();
        let known = ValueType::from_ocel_name(kind);
        if let Some(finding) = values::about_type_name(kind, known, &name, place) {
            self.sink.finding(finding);
        }
        Ok(Some((name.into_owned(), known.unwrap_or(ValueType::String))))
    }

    /// Whether an object follows; passes over what else it is.
    fn is_object(&mut self, cursor: &mut Cursor<'_>, what: &str) -> Result<bool, LogError> {
        if cursor.kind()? == Kind::Object {
            return Ok(true);
        }
        let place = cursor.place();
        self.odd(Severity::Error, "wrong_type", place, format!("{what} is no object and left out"));
        cursor.skip()?;
        Ok(false)
    }

    fn unknown(&mut self, cursor: &mut Cursor<'_>, key: &str) -> Result<(), LogError> {
        let place = cursor.place();
        self.odd(Severity::Warning, "unknown_key", place, format!("{} is not known here, or not as this, and left out", shown(key)));
        cursor.skip().map(|_| ())
    }

    /// Reads a text; a number is treated as a text.
    fn text<'a>(&mut self, cursor: &mut Cursor<'a>, what: &str) -> Result<Option<Cow<'a, str>>, LogError> {
        let place = cursor.place();
        Ok(match cursor.kind()? {
            Kind::String => Some(cursor.string()?),
            Kind::Number => {
                self.odd(Severity::Error, "number_as_text", place, format!("{what} is a number; it is read as text"));
                Some(cursor.number()?.into())
            }
            _ => {
                self.odd(Severity::Error, "wrong_type", place, format!("{what} is no text and left out"));
                cursor.skip()?;
                None
            }
        })
    }

    fn time(&mut self, cursor: &mut Cursor<'_>, what: &str) -> Result<Option<i64>, LogError> {
        let place = cursor.place();
        let Some(text) = self.text(cursor, what)? else { return Ok(None) };
        match values::time(&text) {
            Ok(ns) => Ok(Some(ns)),
            Err(rule) => {
                self.odd(Severity::Error, rule, place, format!("{what} cannot be read and is left out: {}", shown(&text)));
                Ok(None)
            }
        }
    }

    fn record<'a>(&mut self, cursor: &mut Cursor<'a>, is_event: bool) -> Result<(), LogError> {
        let what = if is_event { "event" } else { "object" };
        let place = cursor.place();
        let mut parts = Parts::default();
        let mut later = None;
        let mut seen: u8 = 0;
        cursor.object(|cursor, key| {
            let member = match key.as_ref() {
                "id" => 1,
                "type" => 2,
                "time" if is_event => 4,
                "attributes" => 8,
                "relationships" => 16,
                _ => return self.unknown(cursor, &key),
            };
            if seen & member != 0 {
                let place = cursor.place();
                self.odd(Severity::Error, "duplicate_key", place, format!("a second {key} in one {what} is left out"));
                cursor.skip()?;
                return Ok(());
            }
            seen |= member;
            match member {
                1 => parts.id = self.text(cursor, "an id")?,
                2 => parts.kind = self.text(cursor, "a type")?,
                4 => parts.time_ns = self.time(cursor, "the time of an event")?,
                _ if cursor.kind()? != Kind::Array => {
                    let place = cursor.place();
                    // Python's tools write null for none.
                    let severity = if cursor.kind()? == Kind::Null { Severity::Warning } else { Severity::Error };
                    self.odd(severity, "wrong_type", place, format!("{key} is no array and left out"));
                    cursor.skip()?;
                }
                // The type says how to read the attributes.
                8 if parts.kind.is_none() => {
                    later = Some(cursor.clone());
                    cursor.skip()?;
                }
                8 => self.attributes(cursor, is_event, &mut parts)?,
                _ => self.relations(cursor, &mut parts.relations)?,
            }
            Ok(())
        })?;
        if let Some(mut cursor) = later {
            self.attributes(&mut cursor, is_event, &mut parts)?;
        }
        let Parts { id, kind, time_ns, attributes, relations } = parts;
        let mut missing = |rule, member| self.odd(Severity::Error, rule, place, format!("an {what} without a usable {member} is left out"));
        let Some(id) = id else {
            missing("missing_id", "id");
            return Ok(());
        };
        let Some(kind) = kind else {
            missing("missing_type", "type");
            return Ok(());
        };
        if is_event {
            let Some(time_ns) = time_ns else {
                missing("missing_time", "time");
                return Ok(());
            };
            if let Some(key) = values::first_duplicate(&attributes) {
                self.odd(
                    Severity::Error,
                    "duplicate_key",
                    place,
                    format!("more than one attribute {} of one event; all are kept", shown(key)),
                );
            }
            return self.sink.record(&Record::Event(Event { id, kind, time_ns, attributes, relations }));
        }
        self.sink.record(&Record::Object(Object { id, kind, attributes, relations }))
    }

    /// A record of very many very small parts takes more memory than its text.
    fn check_size(&self, cursor: &mut Cursor<'_>, bytes: usize) -> Result<(), LogError> {
        if bytes > self.limits.record_bytes {
            return Err(cursor.place().refuse(format!("a record takes more than {} bytes", self.limits.record_bytes)));
        }
        Ok(())
    }

    fn attributes<'a>(&mut self, cursor: &mut Cursor<'a>, is_event: bool, parts: &mut Parts<'a>) -> Result<(), LogError> {
        let kind = parts.kind.as_deref().unwrap_or_default();
        cursor.array(|cursor| {
            let one = self.attribute(cursor, is_event, kind)?;
            parts.attributes.extend(one);
            self.check_size(cursor, parts.attributes.len() * size_of::<Attribute<'_>>())
        })
    }

    fn attribute<'a>(&mut self, cursor: &mut Cursor<'a>, is_event: bool, kind: &str) -> Result<Option<Attribute<'a>>, LogError> {
        if !self.is_object(cursor, "an attribute")? {
            return Ok(None);
        }
        let place = cursor.place();
        let mut name = None;
        let mut value_at = None;
        let mut since_ns = None;
        let mut timed = false;
        cursor.object(|cursor, key| {
            match key.as_ref() {
                "name" if name.is_none() => name = self.text(cursor, "the name of an attribute")?,
                "value" if value_at.is_none() => {
                    // The name says how to read it, and may come later.
                    value_at = Some(cursor.clone());
                    cursor.skip()?;
                }
                "time" if !is_event && !timed => {
                    timed = true;
                    since_ns = self.time(cursor, "the time of a value")?.filter(|&ns| ns != 0);
                }
                "name" | "value" | "time" if !is_event || key != "time" => {
                    let place = cursor.place();
                    self.odd(Severity::Error, "duplicate_key", place, format!("a second {key} of one attribute is left out"));
                    cursor.skip()?;
                }
                _ => self.unknown(cursor, &key)?,
            }
            Ok(())
        })?;
        let Some(name) = name else {
            self.odd(Severity::Error, "missing_name", place, "an attribute without a name is left out".into());
            return Ok(None);
        };
        if !is_event && !timed {
            self.odd(
                Severity::Error,
                "missing_value_time",
                place,
                format!("the value of {} has no time: it is treated as always valid", shown(&name)),
            );
        }
        let Some(mut cursor) = value_at else {
            self.odd(Severity::Error, "null_value", place, format!("the attribute {} has no value and is left out", shown(&name)));
            return Ok(None);
        };
        let declared = self.declared.of(is_event, kind, &name);
        let Some(value) = self.value(&mut cursor, declared, &name)? else { return Ok(None) };
        Ok(Some(Attribute { key: name, value, since_ns, children: Vec::new() }))
    }

    fn value<'a>(&mut self, cursor: &mut Cursor<'a>, declared: Option<ValueType>, name: &str) -> Result<Option<Value<'a>>, LogError> {
        let place = cursor.place();
        let (value, oddity) = match cursor.kind()? {
            Kind::String => values::from_text(cursor.string()?, declared),
            Kind::Number => values::from_number(cursor.number()?, declared),
            Kind::Boolean => values::from_boolean(cursor.boolean()?, declared),
            Kind::Null => {
                cursor.null()?;
                self.odd(Severity::Warning, "null_value", place, format!("the attribute {} is null and left out", shown(name)));
                return Ok(None);
            }
            Kind::Object | Kind::Array => {
                let text = cursor.skip()?;
                if text.len() > self.limits.text_bytes {
                    return Err(place.refuse(format!("a nested value is longer than {} bytes", self.limits.text_bytes)));
                }
                let message = "OCEL has no nested values; kept as its JSON text";
                (Value::String(text.into()), Some((Severity::Error, "nested_value", message)))
            }
        };
        if let Some((severity, rule, message)) = oddity {
            // OCEL 1.0 declares nothing.
            let inferred = self.inferred.is_some() && rule == "value_type";
            let (severity, message) =
                if inferred { (Severity::Note, "the file has values of several types for it; read as text") } else { (severity, message) };
            self.odd(severity, rule, place, format!("the attribute {}: {message}", shown(name)));
        }
        Ok(Some(value))
    }

    fn relations<'a>(&mut self, cursor: &mut Cursor<'a>, relations: &mut Vec<Relation<'a>>) -> Result<(), LogError> {
        cursor.array(|cursor| {
            if !self.is_object(cursor, "a relationship")? {
                return Ok(());
            }
            let place = cursor.place();
            let (mut object, mut qualifier) = (None, None);
            cursor.object(|cursor, key| {
                match key.as_ref() {
                    "objectId" if object.is_none() => object = self.text(cursor, "an id")?,
                    "qualifier" if qualifier.is_none() => qualifier = self.text(cursor, "a qualifier")?,
                    _ => self.unknown(cursor, &key)?,
                }
                Ok(())
            })?;
            let Some(object) = object else {
                self.odd(Severity::Error, "missing_object", place, "a relationship without objectId is left out".into());
                return Ok(());
            };
            if qualifier.is_none() {
                self.odd(Severity::Error, "missing_qualifier", place, format!("the relationship to {} has no qualifier", shown(&object)));
            }
            relations.push(Relation { object, qualifier: qualifier.unwrap_or_default() });
            self.check_size(cursor, relations.len() * size_of::<Relation<'_>>())
        })
    }
}

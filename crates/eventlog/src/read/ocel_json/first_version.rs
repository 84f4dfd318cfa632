//! OCEL 1.0 JSON (`.jsonocel`; Ghahfarokhi et al. 2021, the format's first standard).
//!
//! Events and objects are the members of two objects, under their ids. Types of attributes are not
//! declared: [`super::types`] reads the whole file and takes what all values of an attribute can be
//! read as; without it they are read as what they are in JSON. Relations have no qualifier, except
//! where PM4Py wrote some (`ocel:typedOmap`, `ocel:o2o`).
//!
//! Findings besides those of OCEL 2.0: `duplicate_key` for an id that stands there twice (both
//! records are kept), `value_type` (note) for a value that is read as text since others of its
//! attribute are.

use std::borrow::Cow;
use std::collections::HashSet;

use super::{Parts, Reader};
use crate::attribute::{Attribute, Value, ValueType};
use crate::error::LogError;
use crate::id_hash::IdHash;
use crate::read::input::Position;
use crate::read::json::{Cursor, Document, Kind};
use crate::read::values::{self, Inferred};
use crate::read::{Severity, shown};
use crate::record::{Event, Object, Record, Relation};

const SECTIONS: [&str; 2] = ["ocel:events", "ocel:objects"];

/// What says something about the log as a whole, which nothing here keeps.
// PM4Py writes types as well, which the values show, and how objects changed, which it only knows of OCEL 2.0.
const GLOBALS: [&str; 6] =
    ["ocel:global-log", "ocel:global-event", "ocel:global-object", "ocel:version", "ocel:eventTypes", "ocel:objectTypes"];

impl Reader<'_> {
    /// Reads the file on from behind its first key of OCEL 1.0.
    pub(super) fn first_version(&mut self, document: &mut Document<'_>, first: String, place: Position) -> Result<(), LogError> {
        self.inferred = Some(Inferred::default());
        let (mut key, mut place) = (first, place);
        loop {
            match SECTIONS.iter().position(|known| *known == key) {
                Some(section) => {
                    let seen = &mut self.seen[2 + section];
                    if std::mem::replace(seen, true) {
                        self.odd(Severity::Error, "duplicate_key", place, format!("{key} appears here a second time; all are read"));
                    }
                    self.members(document, section == 0, &key)?;
                }
                None => {
                    if super::SECTIONS.contains(&key.as_str()) {
                        return Err(place.refuse("keys of OCEL 1.0 and of OCEL 2.0 in one file"));
                    }
                    let mut cursor = document.item()?;
                    let nothing = matches!(cursor.skip()?, "[]" | "{}");
                    cursor.end()?;
                    if !GLOBALS.contains(&key.as_str()) && !nothing {
                        self.odd(Severity::Warning, "unknown_key", place, format!("{} is not known here and left out", shown(&key)));
                    }
                }
            }
            if !document.more(false, b'}')? {
                break;
            }
            place = document.place();
            key = document.item()?.string()?.into_owned();
            document.expect(b':')?;
        }
        if document.peek()?.is_some() {
            return Err(document.unexpected("the end of the file"));
        }
        for (section, _) in SECTIONS.iter().zip(self.seen.into_iter().skip(2)).filter(|(_, seen)| !seen) {
            let place = document.place();
            self.odd(Severity::Error, "missing_section", place, format!("there is no {section}"));
        }
        match self.inferred.take() {
            Some(inferred) if !self.told => self.sink.types(inferred.into_types()),
            _ => Ok(()),
        }
    }

    /// The events or objects, each under its id.
    fn members(&mut self, document: &mut Document<'_>, of_events: bool, name: &str) -> Result<(), LogError> {
        if document.peek()? != Some(b'{') {
            let place = document.place();
            return Err(place.refuse(format!("{name} is no object")));
        }
        document.expect(b'{')?;
        let mut ids = HashSet::new();
        let mut first = true;
        while document.more(first, b'}')? {
            first = false;
            let place = document.place();
            let mut cursor = document.item()?;
            let id = cursor.string()?.into_owned();
            cursor.end()?;
            document.expect(b':')?;
            if !self.only_types && !ids.insert(IdHash::new(&id)) {
                let what = if of_events { "event" } else { "object" };
                self.odd(Severity::Error, "duplicate_key", place, format!("a second {what} with the id {}; both are kept", shown(&id)));
            }
            let mut cursor = document.item()?;
            if cursor.kind()? == Kind::Object {
                self.member(&mut cursor, &id, of_events)?;
            } else {
                let place = cursor.place();
                self.odd(Severity::Error, "wrong_type", place, format!("a member of {name} is no object and left out"));
                cursor.skip()?;
            }
            cursor.end()?;
        }
        Ok(())
    }

    fn member<'a>(&mut self, cursor: &mut Cursor<'a>, id: &'a str, of_events: bool) -> Result<(), LogError> {
        let what = if of_events { "event" } else { "object" };
        let place = cursor.place();
        let mut parts = Parts::default();
        let mut later = None;
        let mut qualified = Vec::new();
        let mut seen: u8 = 0;
        cursor.object(|cursor, key| {
            let member = match (key.as_ref(), of_events) {
                ("ocel:activity", true) | ("ocel:type", false) => 1,
                ("ocel:timestamp", true) => 2,
                ("ocel:omap", true) => 4,
                ("ocel:typedOmap", true) | ("ocel:o2o", false) => 8,
                ("ocel:vmap", true) | ("ocel:ovmap", false) => 16,
                _ => return self.unknown(cursor, &key),
            };
            if seen & member != 0 {
                let place = cursor.place();
                self.odd(Severity::Error, "duplicate_key", place, format!("a second {key} in one {what} is left out"));
                cursor.skip()?;
                return Ok(());
            }
            seen |= member;
            let wanted = match member {
                4 | 8 => Kind::Array,
                16 => Kind::Object,
                _ => Kind::String,
            };
            match member {
                1 => parts.kind = self.text(cursor, "a type")?,
                2 => parts.time_ns = self.time(cursor, "the time of an event")?,
                _ if cursor.kind()? != wanted => {
                    let place = cursor.place();
                    let severity = if cursor.kind()? == Kind::Null { Severity::Warning } else { Severity::Error };
                    self.odd(severity, "wrong_type", place, format!("{key} is not what it should be and left out"));
                    cursor.skip()?;
                }
                4 => self.object_ids(cursor, &mut parts.relations)?,
                8 => self.qualified(cursor, &mut qualified)?,
                // The type says how to read the attributes.
                _ if parts.kind.is_none() => {
                    later = Some(cursor.clone());
                    cursor.skip()?;
                }
                _ => self.value_map(cursor, of_events, &mut parts)?,
            }
            Ok(())
        })?;
        if let Some(mut cursor) = later {
            self.value_map(&mut cursor, of_events, &mut parts)?;
        }
        let Parts { kind, time_ns, attributes, mut relations, .. } = parts;
        if let Some(kind) = &kind {
            self.note(cursor, of_events, kind, None)?;
        }
        if self.only_types {
            return Ok(());
        }
        let mut missing = |rule, member| self.odd(Severity::Error, rule, place, format!("an {what} without a usable {member} is left out"));
        let Some(kind) = kind else {
            missing("missing_type", if of_events { "ocel:activity" } else { "ocel:type" });
            return Ok(());
        };
        let time_ns = match time_ns {
            Some(time_ns) => time_ns,
            None if of_events => {
                missing("missing_time", "ocel:timestamp");
                return Ok(());
            }
            None => 0,
        };
        if let Some(key) = values::first_duplicate(&attributes) {
            let message = format!("more than one attribute {} of one {what}; all are kept", shown(key));
            self.odd(Severity::Error, "duplicate_key", place, message);
        }
        qualify(&mut relations, qualified);
        let id = Cow::Borrowed(id);
        self.sink.record(&if of_events {
            Record::Event(Event { id, kind, time_ns, attributes, relations })
        } else {
            Record::Object(Object { id, kind, attributes, relations })
        })
    }

    fn object_ids<'a>(&mut self, cursor: &mut Cursor<'a>, relations: &mut Vec<Relation<'a>>) -> Result<(), LogError> {
        cursor.array(|cursor| {
            let object = self.text(cursor, "an id")?;
            relations.extend(object.map(|object| Relation { object, qualifier: Cow::Borrowed("") }));
            self.check_size(cursor, relations.len() * size_of::<Relation<'_>>())
        })
    }

    fn qualified<'a>(&mut self, cursor: &mut Cursor<'a>, relations: &mut Vec<Relation<'a>>) -> Result<(), LogError> {
        cursor.array(|cursor| {
            if !self.is_object(cursor, "a relation")? {
                return Ok(());
            }
            let place = cursor.place();
            let (mut object, mut qualifier) = (None, None);
            cursor.object(|cursor, key| {
                match key.as_ref() {
                    "ocel:oid" if object.is_none() => object = self.text(cursor, "an id")?,
                    "ocel:qualifier" if qualifier.is_none() => qualifier = self.text(cursor, "a qualifier")?,
                    _ => self.unknown(cursor, &key)?,
                }
                Ok(())
            })?;
            let Some(object) = object else {
                self.odd(Severity::Error, "missing_object", place, "a relation without ocel:oid is left out".into());
                return Ok(());
            };
            relations.push(Relation { object, qualifier: qualifier.unwrap_or_default() });
            self.check_size(cursor, relations.len() * size_of::<Relation<'_>>())
        })
    }

    fn value_map<'a>(&mut self, cursor: &mut Cursor<'a>, of_events: bool, parts: &mut Parts<'a>) -> Result<(), LogError> {
        let kind = parts.kind.as_deref().unwrap_or_default();
        cursor.object(|cursor, name| {
            let declared = self.declared.of(of_events, kind, &name);
            if let Some(value) = self.value(cursor, declared, &name)? {
                let of = match &value {
                    Value::String(text) if values::looks_like_a_time(text) && self.only_types => ValueType::Time,
                    value => value.kind(),
                };
                self.note(cursor, of_events, kind, Some((&name, of)))?;
                parts.attributes.push(Attribute::new(name, value));
            }
            self.check_size(cursor, parts.attributes.len() * size_of::<Attribute<'_>>())
        })
    }

    fn note(&mut self, cursor: &mut Cursor<'_>, of_events: bool, kind: &str, attribute: Option<(&str, ValueType)>) -> Result<(), LogError> {
        // They are known already.
        if self.told {
            return Ok(());
        }
        let Some(inferred) = &mut self.inferred else { return Ok(()) };
        inferred.note(of_events, kind, attribute, &self.limits).map_err(|message| cursor.place().refuse(message))
    }
}

/// Gives relations the qualifiers that PM4Py writes separately, and adds the relations that appear
/// only there.
fn qualify<'a>(relations: &mut Vec<Relation<'a>>, qualified: Vec<Relation<'a>>) {
    if qualified.is_empty() {
        return;
    }
    let mut order: Vec<usize> = (0..relations.len()).collect();
    order.sort_by(|&a, &b| relations[a].object.cmp(&relations[b].object));
    let mut more = Vec::new();
    for one in qualified {
        match order.binary_search_by(|&at| relations[at].object.cmp(&one.object)) {
            Ok(at) => relations[order[at]].qualifier = one.qualifier,
            Err(_) => more.push(one),
        }
    }
    relations.extend(more);
}

//! What the peers are known to cut, each as a change to what we expect of them; docs/round-trips.md
//! has the same as a table.
//!
//! A cut changes our dump into what the peer must then have: as exactly as it can be said, so that
//! a peer that starts to cut more, or less, fails a test. Only where the peer decides from the
//! whole of a table (whether an integer becomes a float) does the cut look at both sides, and then
//! it takes over the peer's value only if it means the same as ours.

use std::collections::{BTreeMap, BTreeSet};

use flowmine_eventlog::time;

use super::dump::{Dump, Entry, Number, Thing, Value};

/// Something that a peer cuts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// PM4Py has no declared types: it knows those that have instances, and infers their attributes
    /// from values.
    InferredTypes,
    /// PM4Py keeps times in microseconds; what is finer is cut off.
    Microseconds,
    /// PM4Py writes the times of events and what stands in columns of times in seconds; changes of
    /// objects keep theirs.
    Seconds,
    /// In PM4Py a column of integers with gaps holds floats.
    IntegersAsFloats,
    /// In PM4Py one qualifier of several between the same event and object is left.
    OneQualifier,
    /// PM4Py drops events without objects, objects without events, and what relates to those.
    OnlyRelated,
    /// In PM4Py an object's attribute always has had its first value.
    FirstValueAlways,
    /// PM4Py takes the text `null` for no value.
    NullText,
    /// PM4Py takes no type from XML but `float` and `date`, and writes no other but `string` into
    /// JSON and XML: the rest becomes text.
    OnlyTextAndFloats,
    /// PM4Py reads an empty element as the text `None`.
    EmptyIsNone,
    /// PM4Py reads booleans from SQLite as the numbers that they are there.
    BooleansAsNumbers,
    /// PM4Py reads times of attributes from SQLite as text.
    TimesAsText,
    /// PM4Py adds a column of its own to objects that change.
    CountColumn,
    /// process_mining takes a text that looks like a time for one.
    TextLikeTimes,
    /// process_mining takes an empty text in XML for no value.
    EmptyIsNothing,
    /// process_mining reads and writes quotes and backslashes in the names of columns as `_`.
    UnquotedNames,
    /// XML has no control characters: they are written visibly, as `\x1b`.
    VisibleControls,
    /// SQLite does not tell apart columns by case, and some names are taken: those get a number.
    NumberedNames,
    /// SQLite has no negative zero.
    NoNegativeZero,
    /// process_mining writes carriage returns in XML as they are, which makes newlines of them.
    LineEnds,
    /// process_mining writes tabs and newlines in XML attributes as they are, which makes spaces of
    /// them.
    Spaces,
    /// process_mining knows no ids but UUIDs: others become zeros.
    OnlyUuids,
    /// PM4Py knows no ids: they are text.
    IdsAsText,
    /// PM4Py skips containers.
    NoContainers,
    /// PM4Py keeps the last of several attributes with one key, at the place of the first.
    LastOfKey,
}

impl Cut {
    /// Changes what is ours into what is expected of them. `theirs` changes only by what they add.
    pub fn apply(self, ours: &mut Dump, theirs: &mut Dump) {
        match self {
            Self::InferredTypes => inferred_types(ours, theirs),
            Self::Microseconds => {
                let cut = |ns: &mut i64| *ns = ns.div_euclid(1000) * 1000;
                ours.events.values_mut().filter_map(|event| event.time.as_mut()).for_each(cut);
                ours.each_entries(&mut |entries| entries.iter_mut().filter_map(|entry| entry.since.as_mut()).for_each(cut));
                each_value(ours, |value| {
                    if let Value::Time(ns) = value {
                        cut(ns);
                    }
                });
            }
            Self::Seconds => {
                let cut = |ns: &mut i64| *ns = ns.div_euclid(1_000_000_000) * 1_000_000_000;
                for thing in ours.events.values_mut().chain(ours.objects.values_mut()) {
                    thing.time.as_mut().map(cut);
                    for entry in thing.attributes.iter_mut().filter(|entry| entry.since.unwrap_or(0) == 0) {
                        if let Value::Time(ns) = &mut entry.value {
                            cut(ns);
                        }
                    }
                }
            }
            Self::IntegersAsFloats => both(ours, theirs, |one, another| match (one, another) {
                (Value::Integer(number), Value::Float(float)) => Number(*number as f64) == *float,
                _ => false,
            }),
            Self::OneQualifier => {
                for (id, event) in &mut ours.events {
                    let Some(theirs) = theirs.events.get(id) else { continue };
                    let objects: BTreeSet<String> = event.relations.iter().map(|(object, _)| object.clone()).collect();
                    for object in objects {
                        let of = |thing: &Thing| thing.relations.iter().filter(|(other, _)| *other == object).cloned().collect::<Vec<_>>();
                        if let ([one], many) = (of(theirs).as_slice(), of(event))
                            && many.len() > 1
                            && many.contains(one)
                        {
                            event.relations.retain(|relation| relation.0 != object || relation == one);
                        }
                    }
                }
            }
            Self::OnlyRelated => {
                ours.events.retain(|_, event| !event.relations.is_empty());
                let related: BTreeSet<&String> = ours.events.values().flat_map(|e| e.relations.iter().map(|(object, _)| object)).collect();
                ours.objects.retain(|id, _| related.contains(id));
                for object in ours.objects.values_mut() {
                    object.relations.retain(|(object, _)| related.contains(object));
                }
            }
            Self::FirstValueAlways => {
                for object in ours.objects.values_mut() {
                    let mut before = None;
                    for entry in &mut object.attributes {
                        if before.as_ref() != Some(&entry.key) {
                            entry.since = Some(0);
                        }
                        before = Some(entry.key.clone());
                    }
                }
            }
            Self::NullText => ours.each_entries(&mut |entries| {
                let null = |value: &Value| matches!(value, Value::String(text) if text.trim().eq_ignore_ascii_case("null"));
                entries.retain(|entry| !null(&entry.value));
            }),
            Self::OnlyTextAndFloats => both(ours, theirs, |one, another| match (one, another) {
                (Value::Integer(number), Value::String(text)) => text.parse() == Ok(*number),
                (Value::Boolean(truth), Value::String(text)) => text.to_lowercase().parse() == Ok(*truth),
                (Value::Time(ns), Value::String(text)) => time::parse(text) == Ok(*ns),
                _ => false,
            }),
            Self::EmptyIsNone => each_value(ours, |value| {
                if *value == Value::String(String::new()) {
                    *value = Value::String("None".to_owned());
                }
            }),
            Self::BooleansAsNumbers => both(ours, theirs, |one, another| match (one, another) {
                (Value::Boolean(truth), Value::Integer(number)) => *number == i64::from(*truth),
                (Value::Boolean(truth), Value::Float(number)) => *number == Number(f64::from(u8::from(*truth))),
                _ => false,
            }),
            Self::TimesAsText => both(ours, theirs, |one, another| match (one, another) {
                (Value::Time(ns), Value::String(text)) => time::parse(text) == Ok(*ns),
                _ => false,
            }),
            Self::CountColumn => {
                let column = "@@cumcount";
                theirs.object_types.values_mut().for_each(|of| of.retain(|name, _| name != column));
                theirs.objects.values_mut().for_each(|object| object.attributes.retain(|entry| entry.key != column));
            }
            Self::TextLikeTimes => both(ours, theirs, |one, another| match (one, another) {
                (Value::String(text), Value::Time(ns)) => time::parse(text) == Ok(*ns),
                _ => false,
            }),
            Self::EmptyIsNothing => both(ours, theirs, |one, another| (one, another) == (&Value::String(String::new()), &Value::Null)),
            Self::UnquotedNames => {
                let unquoted = |name: &str| name.replace(['\'', '"', '\\'], "_");
                ours.each_entries(&mut |entries| entries.iter_mut().for_each(|entry| entry.key = unquoted(&entry.key)));
                for of in ours.event_types.values_mut().chain(ours.object_types.values_mut()) {
                    *of = of.iter().map(|(name, of)| (unquoted(name), of.clone())).collect();
                }
            }
            Self::VisibleControls => each_value(ours, |value| {
                if let Value::String(text) = value {
                    let visible = |c: char| c < ' ' && !matches!(c, '\t' | '\n' | '\r') || matches!(c, '\u{fffe}' | '\u{ffff}');
                    let bytes = |c: char| c.to_string().bytes().map(|byte| format!("\\x{byte:02x}")).collect::<String>();
                    *text = text.chars().map(|c| if visible(c) { bytes(c) } else { c.to_string() }).collect();
                }
            }),
            Self::NumberedNames => {
                let (types, things) = (&mut ours.event_types, &mut ours.events);
                numbered_names(types, things);
                let (types, things) = (&mut ours.object_types, &mut ours.objects);
                numbered_names(types, things);
            }
            Self::NoNegativeZero => each_value(ours, |value| {
                if *value == Value::Float(Number(-0.0)) {
                    *value = Value::Float(Number(0.0));
                }
            }),
            Self::LineEnds => each_value(ours, |value| {
                if let Value::String(text) = value {
                    *text = text.replace("\r\n", "\n").replace('\r', "\n");
                }
            }),
            Self::Spaces => each_value(ours, |value| {
                if let Value::String(text) = value {
                    *text = text.replace("\r\n", " ").replace(['\t', '\n', '\r'], " ");
                }
            }),
            Self::OnlyUuids => each_value(ours, |value| {
                if let Value::Id(text) = value
                    && !(text.len() == 36 && text.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit()))
                {
                    *text = "00000000-0000-0000-0000-000000000000".to_owned();
                }
            }),
            Self::LastOfKey => ours.each_attributes(&mut |entries| {
                let mut last: Vec<Entry> = Vec::new();
                for entry in entries.drain(..) {
                    match last.iter_mut().find(|other| other.key == entry.key) {
                        Some(other) => *other = entry,
                        None => last.push(entry),
                    }
                }
                *entries = last;
            }),
            Self::IdsAsText => each_value(ours, |value| {
                if let Value::Id(text) = value {
                    *value = Value::String(text.clone());
                }
            }),
            Self::NoContainers => ours.each_entries(&mut |entries| entries.retain(|entry| entry.value != Value::Container)),
        }
        ours.sort();
        theirs.sort();
    }
}

/// The differences that are left after all cuts.
pub fn differences(ours: &Dump, theirs: &Dump, cuts: &[Cut]) -> Option<String> {
    let (mut ours, mut theirs) = (ours.clone(), theirs.clone());
    cuts.iter().for_each(|cut| cut.apply(&mut ours, &mut theirs));
    ours.differences(&theirs)
}

/// The cuts without which nothing would differ: the peer does not cut that any more, or never did.
pub fn needless(ours: &Dump, theirs: &Dump, cuts: &[Cut]) -> Vec<Cut> {
    let without = |cut: &Cut| cuts.iter().copied().filter(|other| other != cut).collect::<Vec<_>>();
    cuts.iter().copied().filter(|cut| differences(ours, theirs, &without(cut)).is_none()).collect()
}

fn each_value(dump: &mut Dump, mut change: impl FnMut(&mut Value)) {
    dump.each_entries(&mut |entries| entries.iter_mut().for_each(|entry| change(&mut entry.value)));
    dump.globals.iter_mut().for_each(|(_, entry)| change(&mut entry.value));
}

/// Takes over the value of their attribute of the same thing, name and time (to the microsecond,
/// since that may not be cut yet) where `same` says that it means the same.
fn both(ours: &mut Dump, theirs: &Dump, same: impl Fn(&Value, &Value) -> bool) {
    let micros = |entry: &Entry| entry.since.map(|ns| ns.div_euclid(1000));
    let all = |ours: &mut Vec<Entry>, theirs: &[Entry]| {
        for one in ours {
            let key = |entry: &&Entry| entry.key == one.key && micros(entry) == micros(one);
            if !theirs.iter().filter(key).any(|another| another.value == one.value)
                && let Some(another) = theirs.iter().filter(key).find(|another| same(&one.value, &another.value))
            {
                one.value = another.value.clone();
            }
        }
    };
    for (ours, theirs) in [(&mut ours.objects, &theirs.objects), (&mut ours.events, &theirs.events)] {
        for (id, thing) in ours {
            if let Some(theirs) = theirs.get(id) {
                all(&mut thing.attributes, &theirs.attributes);
            }
        }
    }
}

fn numbered_names(types: &mut BTreeMap<String, BTreeMap<String, String>>, things: &mut BTreeMap<String, Thing>) {
    for (kind, of) in types {
        let mut taken = BTreeSet::from(["ocel_id", "ocel_time", "ocel_changed_field"].map(str::to_owned));
        let mut renamed = BTreeMap::new();
        for (name, value_type) in &*of {
            let mut column = name.clone();
            for number in 2.. {
                if taken.insert(column.to_ascii_lowercase()) {
                    break;
                }
                column = format!("{name}_{number}");
            }
            renamed.insert(name.clone(), (column, value_type.clone()));
        }
        let of_kind = things.values_mut().filter(|thing| thing.kind == *kind);
        for entry in of_kind.flat_map(|thing| &mut thing.attributes) {
            if let Some((column, _)) = renamed.get(&entry.key) {
                entry.key.clone_from(column);
            }
        }
        *of = renamed.into_values().collect();
    }
}

/// What they infer must be declared; which types they infer is known from their values, which are
/// compared.
fn inferred_types(ours: &mut Dump, theirs: &mut Dump) {
    for (ours, theirs) in [(&mut ours.event_types, &mut theirs.event_types), (&mut ours.object_types, &mut theirs.object_types)] {
        for (name, declared) in &*ours {
            if let Some(inferred) = theirs.get_mut(name) {
                inferred.retain(|attribute, _| !declared.contains_key(attribute));
                if inferred.is_empty() {
                    theirs.remove(name);
                }
            }
        }
        ours.clear();
    }
}

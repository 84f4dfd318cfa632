//! What a log says, in one form for everyone who reads it: our readers, process_mining (tests/peer)
//! and PM4Py (tests/peers.py).
//!
//! The peers print a dump as lines, each a JSON array; all numbers and times in them are texts, so
//! that nothing is lost on the way:
//!
//! ```text
//! ["event_type", name, [[attribute, type], …]]               types: string, time, integer, float, boolean
//! ["object_type", name, [[attribute, type], …]]
//! ["object", id, type, [[name, since, type, value], …], [[object, qualifier], …]]
//! ["event", id, type, time, [[name, "", type, value], …], [[object, qualifier], …]]
//! ["extension", name, prefix, uri]
//! ["classifier", name, [key, …]]
//! ["global", scope, attribute]                               scope: trace, event
//! ["log", [attribute, …]]
//! ["trace", number, [attribute, …]]
//! ["case_event", number of the trace, number in it, [attribute, …]]
//! ```
//!
//! with an XES attribute as `[key, type, value, [attribute, …]]`, where the types are those of OCEL
//! and `id`, `list` (the value is an array of attributes) and `container` (the content are the
//! attributes below it). Times are UTC nanoseconds since 1970, floats have the shortest digits that
//! give the number back. What has no order (types, objects, relations, …) is sorted; traces, their
//! events and the attributes of those are in the order of the file.

use std::collections::BTreeMap;
use std::fmt;

use flowmine_eventlog::{Attribute, Record, Relation, TypeDef, Value as LogValue};
use serde_json::Value as Json;

use super::logs::Log;

/// A log as one reader has it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Dump {
    pub event_types: BTreeMap<String, BTreeMap<String, String>>,
    pub object_types: BTreeMap<String, BTreeMap<String, String>>,
    pub objects: BTreeMap<String, Thing>,
    pub events: BTreeMap<String, Thing>,
    /// Name, prefix, URI.
    pub extensions: Vec<[String; 3]>,
    pub classifiers: Vec<(String, Vec<String>)>,
    /// Scope and attribute.
    pub globals: Vec<(String, Entry)>,
    pub log: Vec<Entry>,
    pub traces: Vec<Trace>,
}

/// An object or an event.
#[derive(Debug, Clone, PartialEq)]
pub struct Thing {
    pub kind: String,
    /// Of events.
    pub time: Option<i64>,
    pub attributes: Vec<Entry>,
    /// Object and qualifier.
    pub relations: Vec<(String, String)>,
}

/// A trace and its events.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Trace {
    pub attributes: Vec<Entry>,
    pub events: Vec<Vec<Entry>>,
}

/// An attribute.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub key: String,
    /// Of an object's attribute; 0 when it has the value always.
    pub since: Option<i64>,
    pub value: Value,
    pub children: Vec<Entry>,
}

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    String(String),
    Time(i64),
    Integer(i64),
    Float(Number),
    Boolean(bool),
    Id(String),
    List(Vec<Entry>),
    Container,
    Null,
}

/// A float that equals another when it is the same number: NaN is NaN, and 0 is not -0.
#[derive(Clone, Copy)]
pub struct Number(pub f64);

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_bits() == other.0.to_bits() || self.0.is_nan() && other.0.is_nan()
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:e}", self.0)
    }
}

impl Dump {
    /// Reads what a peer printed.
    ///
    /// # Panics
    /// When it is no dump.
    pub fn parse(text: &str) -> Self {
        let mut dump = Self::default();
        for line in text.lines() {
            let json: Json = serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
            let parts = array(&json);
            match (string(&parts[0]).as_str(), &parts[1..]) {
                (what @ ("event_type" | "object_type"), [name, attributes]) => {
                    let of = if what == "event_type" { &mut dump.event_types } else { &mut dump.object_types };
                    let attributes = array(attributes).iter().map(|a| (string(&a[0]), string(&a[1]))).collect();
                    unique(of.insert(string(name), attributes), line);
                }
                ("object", [id, kind, attributes, relations]) => {
                    let thing = Thing::parse(kind, None, attributes, relations);
                    unique(dump.objects.insert(string(id), thing), line);
                }
                ("event", [id, kind, time, attributes, relations]) => {
                    let thing = Thing::parse(kind, Some(number(time)), attributes, relations);
                    unique(dump.events.insert(string(id), thing), line);
                }
                ("extension", [name, prefix, uri]) => dump.extensions.push([name, prefix, uri].map(string)),
                ("classifier", [name, keys]) => dump.classifiers.push((string(name), array(keys).iter().map(string).collect())),
                ("global", [scope, attribute]) => dump.globals.push((string(scope), Entry::of_xes(attribute))),
                ("log", [attributes]) => dump.log = Entry::all_of_xes(attributes),
                ("trace", [_, attributes]) => {
                    dump.traces.push(Trace { attributes: Entry::all_of_xes(attributes), events: Vec::new() });
                }
                ("case_event", [_, _, attributes]) => {
                    dump.traces.last_mut().expect("a trace").events.push(Entry::all_of_xes(attributes));
                }
                _ => panic!("no line of a dump: {line}"),
            }
        }
        dump.sort();
        dump
    }

    /// What our reader found.
    pub fn new(log: &Log) -> Self {
        let types = |types: &[TypeDef]| {
            let attributes = |of: &TypeDef| of.attributes.iter().map(|(name, of)| (name.clone(), of.ocel_name().to_owned())).collect();
            types.iter().map(|of| (of.name.clone(), attributes(of))).collect()
        };
        let entries = |of: &[Attribute<'_>]| of.iter().map(Entry::of).collect::<Vec<_>>();
        let mut dump = Self {
            event_types: types(&log.types.events),
            object_types: types(&log.types.objects),
            extensions: log.header.extensions.iter().map(|e| [&e.name, &e.prefix, &e.uri].map(Clone::clone)).collect(),
            classifiers: log.header.classifiers.iter().map(|c| (c.name.clone(), c.keys.clone())).collect(),
            log: entries(&log.header.attributes),
            ..Self::default()
        };
        for (scope, globals) in [("event", &log.header.event_globals), ("trace", &log.header.trace_globals)] {
            dump.globals.extend(entries(globals).into_iter().map(|entry| (scope.to_owned(), entry)));
        }
        log.each(|record| match record {
            Record::Object(object) => {
                let mut thing = Thing::new(&object.kind, None, &object.attributes, &object.relations);
                thing.attributes.iter_mut().for_each(|entry| entry.since = Some(entry.since.unwrap_or(0)));
                unique(dump.objects.insert(object.id.to_string(), thing), &object.id);
            }
            Record::Event(event) => {
                let thing = Thing::new(&event.kind, Some(event.time_ns), &event.attributes, &event.relations);
                unique(dump.events.insert(event.id.to_string(), thing), &event.id);
            }
            Record::Trace(attributes) => dump.traces.push(Trace { attributes: entries(&attributes), events: Vec::new() }),
            Record::CaseEvent(attributes) => dump.traces.last_mut().expect("a trace").events.push(entries(&attributes)),
            Record::TraceEnd => {}
        });
        dump.sort();
        dump
    }

    /// Puts what has no order into one.
    pub fn sort(&mut self) {
        for thing in self.objects.values_mut().chain(self.events.values_mut()) {
            thing.attributes.sort_by_cached_key(|entry| (entry.key.clone(), entry.since, format!("{:?}", entry.value)));
            thing.relations.sort();
        }
        self.extensions.sort();
        self.classifiers.sort();
        self.globals.sort_by_cached_key(|(scope, entry)| (scope.clone(), entry.key.clone()));
    }

    /// Calls `change` with all attributes of an object, an event, a trace, the log, an attribute or
    /// a list, for each of them; nested ones after what they are part of.
    pub fn each_entries(&mut self, change: &mut impl FnMut(&mut Vec<Entry>)) {
        self.each_nested(true, change);
    }

    /// The same without those of lists.
    pub fn each_attributes(&mut self, change: &mut impl FnMut(&mut Vec<Entry>)) {
        self.each_nested(false, change);
    }

    fn each_nested(&mut self, lists: bool, change: &mut impl FnMut(&mut Vec<Entry>)) {
        let things = self.objects.values_mut().chain(self.events.values_mut()).map(|thing| &mut thing.attributes);
        let traces = self.traces.iter_mut().flat_map(|trace| std::iter::once(&mut trace.attributes).chain(&mut trace.events));
        for entries in things.chain(traces).chain([&mut self.log]) {
            nested(entries, true, lists, change);
        }
    }

    /// The first differences, or nothing when both say the same.
    pub fn differences(&self, other: &Self) -> Option<String> {
        let mut found = Vec::new();
        maps("event type", &self.event_types, &other.event_types, &mut found);
        maps("object type", &self.object_types, &other.object_types, &mut found);
        things("object", &self.objects, &other.objects, &mut found);
        things("event", &self.events, &other.events, &mut found);
        lists("extension", &self.extensions, &other.extensions, &mut found);
        lists("classifier", &self.classifiers, &other.classifiers, &mut found);
        lists("global", &self.globals, &other.globals, &mut found);
        lists("attribute of the log", &self.log, &other.log, &mut found);
        counts("traces", &self.traces, &other.traces, &mut found);
        for (number, (ours, theirs)) in self.traces.iter().zip(&other.traces).enumerate() {
            lists(&format!("attribute of trace {number}"), &ours.attributes, &theirs.attributes, &mut found);
            counts(&format!("events of trace {number}"), &ours.events, &theirs.events, &mut found);
            for (place, (one, another)) in ours.events.iter().zip(&theirs.events).enumerate() {
                lists(&format!("attribute of event {place} of trace {number}"), one, another, &mut found);
            }
        }
        assert_eq!(found.is_empty(), self == other, "the comparison overlooks something");
        (!found.is_empty()).then(|| format!("{} differences\n{}", found.len(), found[..found.len().min(8)].join("\n")))
    }
}

impl Thing {
    fn parse(kind: &Json, time: Option<i64>, attributes: &Json, relations: &Json) -> Self {
        let entry = |json: &Json| {
            let [key, since, kind, value] = array(json) else { panic!("no attribute: {json}") };
            let since = (!string(since).is_empty()).then(|| number(since));
            Entry { key: string(key), since, value: Value::parse(&string(kind), value), children: Vec::new() }
        };
        let relations = array(relations).iter().map(|r| (string(&r[0]), string(&r[1]))).collect();
        Self { kind: string(kind), time, attributes: array(attributes).iter().map(entry).collect(), relations }
    }

    fn new(kind: &str, time: Option<i64>, attributes: &[Attribute<'_>], relations: &[Relation<'_>]) -> Self {
        let relations = relations.iter().map(|r| (r.object.to_string(), r.qualifier.to_string())).collect();
        Self { kind: kind.to_owned(), time, attributes: attributes.iter().map(Entry::of).collect(), relations }
    }
}

impl Entry {
    fn of(attribute: &Attribute<'_>) -> Self {
        Self {
            key: attribute.key.to_string(),
            since: attribute.since_ns,
            value: Value::of(&attribute.value),
            children: attribute.children.iter().map(Self::of).collect(),
        }
    }

    fn of_xes(json: &Json) -> Self {
        let [key, kind, value, children] = array(json) else { panic!("no attribute: {json}") };
        Self { key: string(key), since: None, value: Value::parse(&string(kind), value), children: Self::all_of_xes(children) }
    }

    fn all_of_xes(json: &Json) -> Vec<Self> {
        array(json).iter().map(Self::of_xes).collect()
    }
}

impl Value {
    fn of(value: &LogValue<'_>) -> Self {
        match value {
            LogValue::String(text) => Self::String(text.to_string()),
            LogValue::Time(ns) => Self::Time(*ns),
            LogValue::Integer(number) => Self::Integer(*number),
            LogValue::Float(number) => Self::Float(Number(*number)),
            LogValue::Boolean(truth) => Self::Boolean(*truth),
            LogValue::Id(text) => Self::Id(text.to_string()),
            LogValue::List(items) => Self::List(items.iter().map(Entry::of).collect()),
            LogValue::Container => Self::Container,
        }
    }

    fn parse(kind: &str, value: &Json) -> Self {
        match kind {
            "string" => Self::String(string(value)),
            "time" => Self::Time(number(value)),
            "integer" => Self::Integer(number(value)),
            "float" => Self::Float(Number(string(value).parse().unwrap_or_else(|e| panic!("{e}: {value}")))),
            "boolean" => Self::Boolean(string(value) == "true"),
            "id" => Self::Id(string(value)),
            "list" => Self::List(Entry::all_of_xes(value)),
            "container" => Self::Container,
            "null" => Self::Null,
            _ => panic!("no type: {kind}"),
        }
    }
}

fn nested(entries: &mut Vec<Entry>, these: bool, lists: bool, change: &mut impl FnMut(&mut Vec<Entry>)) {
    if these {
        change(entries);
    }
    for entry in entries {
        if let Value::List(items) = &mut entry.value {
            nested(items, lists, lists, change);
        }
        if !entry.children.is_empty() {
            nested(&mut entry.children, true, lists, change);
        }
    }
}

fn array(json: &Json) -> &[Json] {
    json.as_array().unwrap_or_else(|| panic!("no array: {json}"))
}

fn string(json: &Json) -> String {
    json.as_str().unwrap_or_else(|| panic!("no string: {json}")).to_owned()
}

fn number(json: &Json) -> i64 {
    string(json).parse().unwrap_or_else(|e| panic!("{e}: {json}"))
}

fn unique<T>(before: Option<T>, what: &str) {
    assert!(before.is_none(), "twice: {what}");
}

fn maps<T: PartialEq + fmt::Debug>(what: &str, ours: &BTreeMap<String, T>, theirs: &BTreeMap<String, T>, found: &mut Vec<String>) {
    for (name, one) in ours {
        match theirs.get(name) {
            None => found.push(format!("{what} {name:?} is only in ours: {one:?}")),
            Some(another) if one != another => found.push(format!("{what} {name:?}\n  ours   {one:?}\n  theirs {another:?}")),
            Some(_) => {}
        }
    }
    for (name, another) in theirs.iter().filter(|(name, _)| !ours.contains_key(*name)) {
        found.push(format!("{what} {name:?} is only in theirs: {another:?}"));
    }
}

/// Of a thing that both have, only what differs.
fn things(what: &str, ours: &BTreeMap<String, Thing>, theirs: &BTreeMap<String, Thing>, found: &mut Vec<String>) {
    let mut rest = (ours.clone(), theirs.clone());
    for (id, one) in ours {
        let Some(another) = theirs.get(id) else { continue };
        let head = |thing: &Thing| format!("{:?}, {:?}", thing.kind, thing.time);
        let lines = |thing: &Thing| {
            let attributes = thing.attributes.iter().map(|entry| format!("{entry:?}"));
            attributes.chain(thing.relations.iter().map(|relation| format!("{relation:?}"))).chain([head(thing)]).collect::<Vec<_>>()
        };
        let (one, another) = (lines(one), lines(another));
        let only = |these: &[String], those: &[String]| these.iter().filter(|line| !those.contains(line)).cloned().collect::<Vec<_>>();
        if one != another {
            let (one, another) = (only(&one, &another).join("\n         "), only(&another, &one).join("\n         "));
            found.push(format!("{what} {id:?}\n  ours   {one}\n  theirs {another}"));
        }
        rest.0.remove(id);
        rest.1.remove(id);
    }
    maps(what, &rest.0, &rest.1, found);
}

fn lists<T: PartialEq + fmt::Debug>(what: &str, ours: &[T], theirs: &[T], found: &mut Vec<String>) {
    counts(what, ours, theirs, found);
    for (place, (one, another)) in ours.iter().zip(theirs).enumerate().filter(|(_, (one, another))| one != another) {
        found.push(format!("{what}, number {place}\n  ours   {one:?}\n  theirs {another:?}"));
    }
}

fn counts<T>(what: &str, ours: &[T], theirs: &[T], found: &mut Vec<String>) {
    if ours.len() != theirs.len() {
        found.push(format!("{what}: {} in ours, {} in theirs", ours.len(), theirs.len()));
    }
}

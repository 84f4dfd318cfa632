//! What is written is read back: random small logs of hostile text, extreme numbers and times
//! through every writer and our own readers.
//!
//! What comes back equals what was written, but for what the writers' documentation says that a
//! format cannot carry. That is written down here once more, in [`Form`] and the functions that use
//! it, and each such change has to be in the [`Counts`]. The checks find no error in any file.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::File;
use std::io::Write;
use std::path::Path;

use flowmine_eventlog::read::{Finding, Format, Limits, Severity, Sink, read_file};
use flowmine_eventlog::validate::validate;
use flowmine_eventlog::{
    Attribute, Batch, BatchBuilder, Batches, CaseHeader, CaseLog, Classifier, Counts, Event, Extension, LogError, Object, ObjectLog,
    Record, Relation, TypeDef, Types, Value, ValueType, gzip, nested, ocel, xes,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

/// A log in memory.
#[derive(Debug, Clone, Default)]
struct Log {
    types: Types,
    header: CaseHeader,
    objects: Vec<Object<'static>>,
    events: Vec<Event<'static>>,
    traces: Vec<Trace>,
    /// A batch ends behind every so many records.
    cut: usize,
}

type Attributes = Vec<Attribute<'static>>;

/// A trace and its events.
type Trace = (Attributes, Vec<Attributes>);

impl Log {
    fn batches(&self, records: impl Iterator<Item = Record<'static>>) -> Batches<'_> {
        let mut batches: Vec<Batch> = Vec::new();
        let mut builder = BatchBuilder::default();
        for (at, record) in records.enumerate() {
            batches.extend(builder.push(&record));
            if (at + 1) % self.cut.max(1) == 0 {
                batches.extend(std::mem::take(&mut builder).finish());
            }
        }
        batches.extend(builder.finish());
        Box::new(batches.into_iter().map(Ok))
    }

    fn case_records(&self) -> impl Iterator<Item = Record<'static>> {
        self.traces.iter().flat_map(|(attributes, events)| {
            let events = events.iter().cloned().map(Record::CaseEvent);
            [Record::Trace(attributes.clone())].into_iter().chain(events).chain([Record::TraceEnd])
        })
    }
}

impl ObjectLog for Log {
    fn types(&self) -> &Types {
        &self.types
    }
    fn objects(&self) -> Batches<'_> {
        self.batches(self.objects.iter().cloned().map(Record::Object))
    }
    fn events(&self) -> Batches<'_> {
        self.batches(self.events.iter().cloned().map(Record::Event))
    }
}

impl CaseLog for Log {
    fn header(&self) -> &CaseHeader {
        &self.header
    }
    fn traces(&self) -> Batches<'_> {
        self.batches(self.case_records())
    }
}

// What logs are made of.

/// Pieces that some format, reader or terminal takes for something else.
const PIECES: [&str; 40] = [
    "a",
    "B",
    "ä",
    "作",
    "😀",
    " ",
    "  ",
    "\t",
    "\n",
    "\r",
    "\r\n",
    "\u{0}",
    "\u{1}",
    "\u{1b}[31m",
    "\u{1f}",
    "\u{7f}",
    "\u{85}",
    "\u{a0}",
    "\u{2028}",
    "\u{200f}",
    "\u{feff}",
    "\u{fffd}",
    "\u{fffe}",
    "\u{ffff}",
    "\u{10ffff}",
    "]]>",
    "<![CDATA[",
    "<!--",
    "&amp;",
    "&#0;",
    "<",
    ">",
    "\"",
    "'",
    "\\",
    "\\x01",
    "\\u0000",
    "1",
    "ocel_id",
    "%00",
];

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => vec(prop::sample::select(&PIECES[..]), 0..4).prop_map(|pieces| pieces.concat()),
        2 => "[a-c]{1,3}",
        1 => any::<String>(),
        // Longer than a buffer of a page.
        1 => (prop::sample::select(&PIECES[..]), 0..3000_usize).prop_map(|(piece, count)| piece.repeat(count)),
    ]
}

fn time() -> impl Strategy<Value = i64> {
    prop_oneof![
        Just(i64::MIN),
        Just(i64::MIN + 1),
        Just(i64::MAX),
        Just(0),
        Just(-1),
        Just(1),
        any::<i64>(),
        0..2_000_000_000_000_000_000_i64
    ]
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        Just(f64::NAN),
        Just(f64::INFINITY),
        Just(f64::NEG_INFINITY),
        Just(-0.0),
        Just(f64::MAX),
        Just(f64::MIN_POSITIVE / 3.0),
        Just(3.0),
        any::<f64>().prop_filter("one NaN is like another", |number| !number.is_nan()),
    ]
}

fn integer() -> impl Strategy<Value = i64> {
    prop_oneof![Just(i64::MIN), Just(i64::MAX), Just(0), Just((1 << 53) + 1), any::<i64>()]
}

/// A value of each type, of which that of the declared type is taken.
#[derive(Debug, Clone)]
struct Raw {
    text: String,
    time: i64,
    integer: i64,
    float: f64,
    truth: bool,
    since: Option<i64>,
    attribute: Index,
    nested: Attribute<'static>,
}

fn raw() -> impl Strategy<Value = Raw> {
    let since = prop_oneof![2 => Just(None), 3 => time().prop_map(Some)];
    (text(), time(), integer(), number(), any::<bool>(), since, any::<Index>(), attribute(Keys::Any)).prop_map(
        |(text, time, integer, float, truth, since, attribute, nested)| Raw { text, time, integer, float, truth, since, attribute, nested },
    )
}

impl Raw {
    fn of(self, (key, kind): (String, ValueType), changes: bool) -> Attribute<'static> {
        let mut children = Vec::new();
        let value = match kind {
            ValueType::String => Value::String(self.text.into()),
            ValueType::Id => Value::Id(self.text.into()),
            ValueType::Time => Value::Time(self.time),
            ValueType::Integer => Value::Integer(self.integer),
            ValueType::Float => Value::Float(self.float),
            ValueType::Boolean => Value::Boolean(self.truth),
            ValueType::List => Value::List(vec![self.nested]),
            ValueType::Container => {
                children = vec![self.nested];
                Value::Container
            }
        };
        Attribute { key: key.into(), value, since_ns: self.since.filter(|_| changes), children }
    }
}

fn value_type() -> impl Strategy<Value = ValueType> {
    use ValueType::{Boolean, Container, Float, Id, Integer, List, String, Time};
    prop::sample::select(vec![String, String, Time, Integer, Float, Float, Boolean, Id, List, Container])
}

fn types() -> impl Strategy<Value = Vec<TypeDef>> {
    vec((text(), vec((text(), value_type()), 0..5)), 0..4).prop_map(|types| {
        let mut names = BTreeSet::new();
        types
            .into_iter()
            .filter(|(name, _)| names.insert(visible(name)))
            .map(|(name, attributes)| {
                let mut names = BTreeSet::new();
                TypeDef { name, attributes: attributes.into_iter().filter(|(name, _)| names.insert(visible(name))).collect() }
            })
            .collect()
    })
}

type RawRecord = (String, Index, i64, Vec<Raw>, Vec<(Index, String)>);

fn records() -> impl Strategy<Value = Vec<RawRecord>> {
    vec((text(), any::<Index>(), time(), vec(raw(), 0..5), vec((any::<Index>(), text()), 0..4)), 0..6)
}

/// Ids are unique, and stay so in XML. With `clean`, what the formats or their checks do not allow
/// twice is there once.
fn object_log() -> impl Strategy<Value = (Log, bool)> {
    (types(), types(), records(), records(), any::<bool>(), 1..5_usize).prop_map(
        |(event_types, object_types, objects, events, clean, cut)| {
            let mut log = Log { types: Types { events: event_types, objects: object_types }, cut, ..Log::default() };
            let mut ids = BTreeSet::new();
            let objects: Vec<_> = objects.into_iter().filter(|one| !log.types.objects.is_empty() && ids.insert(visible(&one.0))).collect();
            let ids: Vec<String> = objects.iter().map(|one| one.0.clone()).collect();
            let relations = |raw: Vec<(Index, String)>| -> Vec<Relation<'static>> {
                let mut seen = BTreeSet::new();
                let all = raw.into_iter().filter(|_| !ids.is_empty());
                all.map(|(to, qualifier)| Relation { object: ids[to.index(ids.len())].clone().into(), qualifier: qualifier.into() })
                    .filter(|one| !clean || seen.insert((visible(&one.object), visible(&one.qualifier))))
                    .collect()
            };
            let attributes = |raw: Vec<Raw>, def: &TypeDef, changes: bool| -> Attributes {
                let mut seen = BTreeSet::new();
                let all = raw.into_iter().filter(|_| !def.attributes.is_empty());
                all.map(|raw| {
                    let of = def.attributes[raw.attribute.index(def.attributes.len())].clone();
                    raw.of(of, changes)
                })
                .filter(|one| !clean || seen.insert((one.key.clone(), one.since_ns.unwrap_or(0))))
                .collect()
            };
            for (id, kind, _, raw, related) in objects {
                let def = &log.types.objects[kind.index(log.types.objects.len())];
                let attributes = attributes(raw, def, true);
                log.objects.push(Object { id: id.into(), kind: def.name.clone().into(), attributes, relations: relations(related) });
            }
            let mut ids = BTreeSet::new();
            for (id, kind, time_ns, raw, related) in events {
                if log.types.events.is_empty() || !ids.insert(visible(&id)) {
                    continue;
                }
                let def = &log.types.events[kind.index(log.types.events.len())];
                let (attributes, relations) = (attributes(raw, def, false), relations(related));
                log.events.push(Event { id: id.into(), kind: def.name.clone().into(), time_ns, attributes, relations });
            }
            log.events.sort_by_key(|event| event.time_ns);
            (log, clean)
        },
    )
}

/// Which keys attributes have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keys {
    Any,
    /// As the schema wants them.
    Good,
}

fn attribute(keys: Keys) -> BoxedStrategy<Attribute<'static>> {
    let key = move || if keys == Keys::Any { text().boxed() } else { "[a-z_][a-z0-9_.-]{0,12}".boxed() };
    let plain = prop_oneof![
        text().prop_map(|text| Value::String(text.into())),
        text().prop_map(|text| Value::Id(text.into())),
        time().prop_map(Value::Time),
        integer().prop_map(Value::Integer),
        number().prop_map(Value::Float),
        any::<bool>().prop_map(Value::Boolean),
    ];
    let leaf = (key(), plain).prop_map(|(key, value)| Attribute::new(key, value));
    leaf.prop_recursive(3, 12, 3, move |inner| {
        let value = prop_oneof![
            text().prop_map(|text| Value::String(text.into())),
            Just(Value::Container),
            vec(inner.clone(), 0..3).prop_map(Value::List)
        ];
        (key(), value, vec(inner, 0..3))
            .prop_map(move |(key, value, children)| Attribute { children: once_each(children, keys), ..Attribute::new(key, value) })
    })
    .boxed()
}

/// With good keys, each stands once.
fn once_each(mut attributes: Attributes, keys: Keys) -> Attributes {
    let mut seen = BTreeSet::new();
    attributes.retain(|one| keys == Keys::Any || seen.insert(one.key.clone()));
    attributes
}

fn case_log() -> impl Strategy<Value = (Log, Keys)> {
    prop::sample::select(vec![Keys::Any, Keys::Good]).prop_flat_map(|keys| {
        let attributes = move |most: usize| vec(attribute(keys), 0..most).prop_map(move |all| once_each(all, keys));
        let traces = vec((attributes(3), vec(attributes(4), 0..4)), 0..4);
        // A key with both kinds of quotes and white space is beyond what a classifier can say.
        let key = move || {
            if keys == Keys::Any { text().prop_map(|key| key.replace('"', "")).boxed() } else { "[a-z]{1,5}( [a-z]{1,5}){0,2}".boxed() }
        };
        let name = move || if keys == Keys::Any { text().boxed() } else { "[A-Z][a-z]{1,8}".boxed() };
        let extension = (name(), name()).prop_map(|(name, prefix)| Extension { name, prefix, uri: "http://example.org/a?b&c".to_owned() });
        let classifier = (name(), vec(key(), 1..4)).prop_map(|(name, keys)| Classifier { name, keys });
        let header = (vec(extension, 0..2), vec(classifier, 0..3), attributes(3), attributes(2));
        (traces, header, 1..7_usize).prop_map(move |(traces, (extensions, mut classifiers, attributes, mut globals), cut)| {
            if keys == Keys::Good {
                // Every event would have to have them.
                globals.clear();
                classifiers.truncate(1);
            }
            let header = CaseHeader { extensions, classifiers, attributes, trace_globals: globals.clone(), event_globals: globals };
            (Log { header, traces, cut, ..Log::default() }, keys)
        })
    })
}

// What formats make of them.

/// A text as XML carries it.
fn visible(text: &str) -> String {
    let mut out = String::new();
    for character in text.chars() {
        if in_xml(character) {
            out.push(character);
        } else {
            character.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| write!(out, "\\x{byte:02x}").unwrap());
        }
    }
    out
}

/// Section 2.2 of XML 1.0.
fn in_xml(character: char) -> bool {
    matches!(character, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Json,
    Xml,
    Sqlite,
    Xes,
}

/// Changes a log into what is read back of its file, and counts.
struct Carried {
    form: Form,
    counts: Counts,
}

impl Carried {
    fn text(&mut self, text: &str) -> String {
        if matches!(self.form, Form::Xml | Form::Xes) {
            self.counts.replaced_characters += text.chars().filter(|&character| !in_xml(character)).count() as u64;
            return visible(text);
        }
        text.to_owned()
    }

    /// An attribute of an event or object of OCEL.
    fn attribute(&mut self, one: &Attribute<'static>) -> Attribute<'static> {
        let key = self.text(&one.key);
        let value = match &one.value {
            _ if nested::is_nested(one) => {
                self.counts.simplified_values += 1;
                Value::String(self.text(&nested::text(&Attribute { since_ns: None, ..one.clone() })).into())
            }
            // What is only in XES is text.
            Value::String(text) | Value::Id(text) => Value::String(self.text(text).into()),
            Value::Float(number) => {
                let finite = number.is_finite();
                let lost = match self.form {
                    Form::Json => !finite,
                    Form::Sqlite => number.is_nan() || (*number == 0.0 && number.is_sign_negative()),
                    Form::Xml | Form::Xes => false,
                };
                self.counts.simplified_values += u64::from(lost);
                Value::Float(if lost && self.form == Form::Sqlite { number.abs() } else { *number })
            }
            other => other.clone(),
        };
        // From the beginning is since 1970.
        Attribute { key: key.into(), value, since_ns: one.since_ns.filter(|&ns| ns != 0), children: Vec::new() }
    }

    fn relations(&mut self, relations: &[Relation<'static>]) -> Vec<Relation<'static>> {
        let mut all: Vec<Relation<'static>> = relations
            .iter()
            .map(|one| Relation { object: self.text(&one.object).into(), qualifier: self.text(&one.qualifier).into() })
            .collect();
        if self.form == Form::Sqlite {
            let before = all.len();
            all.sort_by(|a, b| (&a.object, &a.qualifier).cmp(&(&b.object, &b.qualifier)));
            all.dedup();
            self.counts.repeated += (before - all.len()) as u64;
        }
        all
    }

    /// The attributes of a record of this type: in SQLite in the order of the columns, each value
    /// in its place.
    fn attributes(&mut self, attributes: &[Attribute<'static>], def: &TypeDef, columns: &[String], is_event: bool) -> Attributes {
        let mut all = Vec::new();
        for one in attributes {
            let column = def.attributes.iter().position(|(name, _)| *name == one.key).unwrap();
            if self.form != Form::Sqlite {
                all.push((0, self.attribute(one)));
            } else if is_event && all.iter().any(|(other, _)| *other == column) {
                self.counts.simplified_values += 1;
            } else {
                let carried = self.attribute(one);
                // There is no such value; a second one takes its place.
                if !matches!(carried.value, Value::Float(number) if number.is_nan()) {
                    all.push((column, Attribute { key: Cow::Owned(columns[column].clone()), ..carried }));
                }
            }
        }
        all.sort_by_key(|(column, one)| (*column, one.since_ns.filter(|_| self.form == Form::Sqlite)));
        all.into_iter().map(|(_, one)| one).collect()
    }

    fn type_defs(&mut self, types: &[TypeDef]) -> (Vec<TypeDef>, Vec<Vec<String>>) {
        let mut carried = Vec::new();
        let mut all_columns = Vec::new();
        for def in types {
            let name = self.text(&def.name);
            let columns = ocel::sqlite::names::columns(def.attributes.iter().map(|(name, _)| name.as_str()));
            let mut attributes = Vec::new();
            for ((name, kind), column) in def.attributes.iter().zip(&columns) {
                let kind = ValueType::from_ocel_name(kind.ocel_name()).unwrap();
                if self.form == Form::Sqlite {
                    self.counts.replaced_characters += name.matches('\0').count() as u64;
                    self.counts.simplified_values += u64::from(name.replace('\0', "\\x00") != *column);
                    attributes.push((column.clone(), kind));
                } else {
                    attributes.push((self.text(name), kind));
                }
            }
            carried.push(TypeDef { name, attributes });
            all_columns.push(columns);
        }
        if self.form == Form::Sqlite {
            carried.sort_by(|a, b| a.name.cmp(&b.name));
        }
        (carried, all_columns)
    }

    fn object_log(&mut self, log: &Log) -> Taken {
        let (objects, object_columns) = self.type_defs(&log.types.objects);
        let (events, event_columns) = self.type_defs(&log.types.events);
        let mut taken = Taken { types: Types { events, objects }, ..Taken::default() };
        let place = |types: &[TypeDef], kind: &str| types.iter().position(|def| def.name == kind).unwrap();
        let mut lines = Vec::new();
        for object in &log.objects {
            let of = place(&log.types.objects, &object.kind);
            let carried = Object {
                id: self.text(&object.id).into(),
                kind: self.text(&object.kind).into(),
                attributes: self.attributes(&object.attributes, &log.types.objects[of], &object_columns[of], false),
                relations: self.relations(&object.relations),
            };
            self.counts.objects += 1;
            self.counts.object_relations += carried.relations.len() as u64;
            lines.push((carried.id.to_string(), format!("{:?}", Record::Object(carried))));
        }
        // The order of objects is that of their ids in SQLite; events keep the order of their rows.
        if self.form == Form::Sqlite {
            lines.sort();
        }
        taken.records.extend(lines.into_iter().map(|(_, line)| line));
        for event in &log.events {
            let of = place(&log.types.events, &event.kind);
            let carried = Event {
                id: self.text(&event.id).into(),
                kind: self.text(&event.kind).into(),
                time_ns: event.time_ns,
                attributes: self.attributes(&event.attributes, &log.types.events[of], &event_columns[of], true),
                relations: self.relations(&event.relations),
            };
            self.counts.events += 1;
            self.counts.event_relations += carried.relations.len() as u64;
            taken.records.push(format!("{:?}", Record::Event(carried)));
        }
        taken
    }

    /// An attribute of XES, with all below it.
    fn whole(&mut self, one: &Attribute<'static>) -> Attribute<'static> {
        let key = self.text(&one.key);
        let value = match &one.value {
            Value::String(text) => Value::String(self.text(text).into()),
            Value::Id(text) => Value::Id(self.text(text).into()),
            Value::List(items) => Value::List(self.wholes(items)),
            other => other.clone(),
        };
        Attribute { children: self.wholes(&one.children), ..Attribute::new(key, value) }
    }

    fn wholes(&mut self, all: &[Attribute<'static>]) -> Attributes {
        all.iter().map(|one| self.whole(one)).collect()
    }

    fn case_log(&mut self, log: &Log) -> Taken {
        let header = &log.header;
        let mut taken = Taken {
            header: CaseHeader {
                extensions: (header.extensions.iter())
                    .map(|one| Extension { name: self.text(&one.name), prefix: self.text(&one.prefix), uri: self.text(&one.uri) })
                    .collect(),
                classifiers: (header.classifiers.iter())
                    .map(|one| Classifier { name: self.text(&one.name), keys: one.keys.iter().map(|key| self.text(key)).collect() })
                    .collect(),
                attributes: self.wholes(&header.attributes),
                trace_globals: self.wholes(&header.trace_globals),
                event_globals: self.wholes(&header.event_globals),
            },
            ..Taken::default()
        };
        for record in log.case_records() {
            let record = match record {
                Record::Trace(attributes) => {
                    self.counts.traces += 1;
                    Record::Trace(self.wholes(&attributes))
                }
                Record::CaseEvent(attributes) => {
                    self.counts.events += 1;
                    Record::CaseEvent(self.wholes(&attributes))
                }
                other => other,
            };
            taken.records.push(format!("{record:?}"));
        }
        taken
    }
}

/// What a reader gave. Records as text, in which a NaN is like another and -0.0 is not 0.0.
#[derive(Debug, Default)]
struct Taken {
    types: Types,
    header: CaseHeader,
    records: Vec<String>,
    findings: Vec<Finding>,
}

impl Sink for Taken {
    fn types(&mut self, types: Types) -> Result<(), LogError> {
        self.types.events.extend(types.events);
        self.types.objects.extend(types.objects);
        Ok(())
    }
    fn header(&mut self, header: CaseHeader) -> Result<(), LogError> {
        self.header = header;
        Ok(())
    }
    fn record(&mut self, record: &Record<'_>) -> Result<(), LogError> {
        self.records.push(format!("{record:?}"));
        Ok(())
    }
    fn finding(&mut self, finding: Finding) {
        self.findings.push(finding);
    }
}

fn file(path: &Path, gz: bool, write: impl FnOnce(&mut dyn Write) -> Result<Counts, LogError>) -> Counts {
    let mut out = std::io::BufWriter::new(File::create(path).unwrap());
    let counts = if gz { gzip::write(&mut out, write) } else { write(&mut out) }.unwrap();
    out.flush().unwrap();
    counts
}

fn read(path: &Path, format: Format) -> Taken {
    let mut taken = Taken::default();
    assert_eq!(read_file(path, &Limits::default(), &mut taken).unwrap(), format);
    taken
}

/// The words of the rules that the checks say are broken.
fn errors(path: &Path, format: Format) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let (told, _) = validate(path, &mut |finding| {
        if finding.severity == Severity::Error {
            found.insert(format!("{}: {}", finding.rule, finding.message));
        }
    })
    .unwrap();
    assert_eq!(told, format);
    found
}

/// Errors of rules but for these.
fn but_for(errors: BTreeSet<String>, rules: &[&str]) -> BTreeSet<String> {
    errors.into_iter().filter(|error| !rules.iter().any(|rule| error.starts_with(&format!("{rule}:")))).collect()
}

fn object_log_survives(log: &Log, clean: bool, gz: bool) -> Result<(), TestCaseError> {
    let dir = tempfile::tempdir().unwrap();
    for (form, format) in [(Form::Json, Format::OcelJson), (Form::Xml, Format::OcelXml), (Form::Sqlite, Format::OcelSqlite)] {
        let path = dir.path().join("log");
        let counts = match form {
            Form::Json => file(&path, gz, |out| ocel::json::write(log, out)),
            Form::Xml => file(&path, gz, |out| ocel::xml::write(log, out)),
            _ => ocel::sqlite::write(log, &path).unwrap(),
        };
        let mut carried = Carried { form, counts: Counts::default() };
        let expected = carried.object_log(log);
        let found = read(&path, format);
        prop_assert_eq!(&found.types, &expected.types, "{:?}", form);
        prop_assert_eq!(&found.records, &expected.records, "{:?}", form);
        prop_assert_eq!(counts, carried.counts, "{:?}", form);
        prop_assert!(found.findings.iter().all(|finding| finding.severity < Severity::Error || !clean), "{:?}: {:?}", form, found.findings);
        let allowed: &[&str] = if clean { &[] } else { &["repeated_attribute", "repeated_relation"] };
        prop_assert_eq!(but_for(errors(&path, format), allowed), BTreeSet::new(), "{:?}", form);
        std::fs::remove_file(&path).unwrap();
    }
    Ok(())
}

fn case_log_survives(log: &Log, keys: Keys, gz: bool) -> Result<(), TestCaseError> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log");
    let counts = if gz { file(&path, false, |out| xes::gzip::write(log, out)) } else { file(&path, false, |out| xes::write(log, out)) };
    let mut carried = Carried { form: Form::Xes, counts: Counts::default() };
    let expected = carried.case_log(log);
    let found = read(&path, Format::Xes);
    prop_assert_eq!(format!("{:?}", found.header), format!("{:?}", expected.header));
    prop_assert_eq!(&found.records, &expected.records);
    prop_assert_eq!(counts, carried.counts);
    // What is in a key or a name cannot be mended in writing.
    let allowed: &[&str] = match keys {
        Keys::Good => &[],
        Keys::Any => &["empty_key", "duplicate_key", "name_form", "missing_global"],
    };
    prop_assert_eq!(but_for(errors(&path, Format::Xes), allowed), BTreeSet::new());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn ocel((log, clean) in object_log(), gz: bool) {
        object_log_survives(&log, clean, gz)?;
    }

    #[test]
    fn xes((log, keys) in case_log(), gz: bool) {
        case_log_survives(&log, keys, gz)?;
    }
}

#[test]
fn nothing_at_all() {
    let types = vec![TypeDef { name: "no attributes, no records".into(), attributes: Vec::new() }];
    for log in [Log::default(), Log { types: Types { events: types.clone(), objects: types }, ..Log::default() }] {
        object_log_survives(&log, true, false).unwrap();
        object_log_survives(&log, true, true).unwrap();
    }
    case_log_survives(&Log::default(), Keys::Good, false).unwrap();
    let bare = Log { traces: vec![Trace::default(), (Vec::new(), vec![Vec::new()])], ..Log::default() };
    case_log_survives(&bare, Keys::Good, true).unwrap();
}

//! XES: the structure of its schema, element by element, and what the standard says of extensions,
//! globals and classifiers.

use std::collections::{HashMap, HashSet};
use std::io::Read;

use super::elements::{Elements, place};
use super::fault::Fault;
use super::lexical::{self, Form};
use super::markup::Xml;
use super::ocel::PARTS;
use super::report::Report;
use super::rules::{self, Rule};
use super::xes_keys::{EXTENSIONS, Kind, Level, TRANSITIONS, standard_key};
use crate::error::LogError;
use crate::read::input::{Input, Position};
use crate::read::{Limits, shown};
use crate::time::{NotATime, parse};

/// Checks a file. Gives how many traces and events it has.
pub(super) fn check<'r>(source: impl Read + 'r, limits: &Limits, report: &mut Report<'_>) -> Result<[u64; 2], LogError> {
    let mut counts = [0; 2];
    if let Err(fault) = walk(source, limits, report, &mut counts) {
        fault.report(report)?;
    }
    Ok(counts)
}

fn walk<'r>(source: impl Read + 'r, limits: &Limits, report: &mut Report<'_>, counts: &mut [u64; 2]) -> Result<(), Fault> {
    let elements = Elements::new(Xml::new(Input::xml(source, limits)?, limits), limits, report);
    let walk = Walk {
        elements,
        counts,
        extensions: HashSet::new(),
        globals: [HashMap::new(), HashMap::new()],
        classifiers: HashSet::new(),
        keys: Keys::default(),
        spare: Vec::new(),
        standard_model: false,
        trace_name: None,
        time_ns: None,
        previous_ns: None,
        definitions: [0; 4],
        definition_bytes: 0,
    };
    walk.file()
}

/// The keys of one element.
#[derive(Debug, Default)]
struct Keys {
    text: String,
    keys: Vec<(usize, usize, Kind, Position)>,
}

impl Keys {
    fn clear(&mut self) {
        self.text.clear();
        self.keys.clear();
    }

    fn push(&mut self, key: &str, kind: Kind, at: Position) {
        let start = self.text.len();
        self.text.push_str(key);
        self.keys.push((start, self.text.len(), kind, at));
    }

    fn key(&self, entry: &(usize, usize, Kind, Position)) -> &str {
        self.text.get(entry.0..entry.1).unwrap_or_default()
    }

    /// Sorts them, those with the same key in the order of the file.
    fn sort(&mut self) {
        let text = &self.text;
        self.keys.sort_by(|a, b| text.get(a.0..a.1).cmp(&text.get(b.0..b.1)));
    }

    /// The type of a key, once sorted.
    fn kind(&self, key: &str) -> Option<Kind> {
        let found = self.keys.binary_search_by(|entry| self.key(entry).cmp(key)).ok()?;
        self.keys.get(found).map(|entry| entry.2)
    }
}

struct Walk<'r, 'a, 'f> {
    elements: Elements<'r, 'a, 'f>,
    counts: &'a mut [u64; 2],
    /// Prefixes of the extensions that the file declares.
    extensions: HashSet<String>,
    /// Keys and types of the global attributes: of traces, and of events.
    globals: [HashMap<String, Kind>; 2],
    classifiers: HashSet<(bool, String)>,
    /// Keys of the attributes of the element that is being read.
    keys: Keys,
    /// Sets of keys that are free, to be used again for nested elements.
    spare: Vec<Keys>,
    standard_model: bool,
    trace_name: Option<String>,
    /// The time of the event that is being read, and of the one before in its trace.
    time_ns: Option<i64>,
    previous_ns: Option<i64>,
    /// How many of each of the first four in [`ORDER`] there were.
    definitions: [usize; 4],
    definition_bytes: u64,
}

const ORDER: [&str; 6] = ["extension", "global", "classifier", "attributes", "trace", "event"];

impl Walk<'_, '_, '_> {
    fn file(mut self) -> Result<(), Fault> {
        if !self.elements.root("http://www.xes-standard.org", &["xes.version", "xes.features"])? {
            return Ok(());
        }
        let root = self.elements.xml.at;
        self.version();
        let mut last = 0;
        let mut keys = Keys::default();
        let mut no_globals = false;
        while self.elements.child(false)? {
            let name = self.elements.xml.name.as_str();
            let kind = Kind::new(name);
            let phase = if kind.is_some() { Some(3) } else { ORDER.iter().position(|&known| known == name) };
            let Some(phase) = phase.filter(|_| name != "attributes") else {
                self.elements.unknown()?;
                continue;
            };
            if phase < last {
                self.elements.misplaced(&rules::ELEMENT_ORDER, |name| {
                    format!("{name} comes too late, behind the first {}; the order is {}", ORDER.get(last).unwrap_or(&""), ORDER.join(", "))
                });
            }
            if phase >= 4 && !std::mem::replace(&mut no_globals, true) {
                self.globals_are_there(root);
            }
            last = last.max(phase);
            if let Some(count) = self.definitions.get_mut(phase) {
                *count += 1;
                if *count > self.elements.limits.definitions {
                    return Err(Fault::too_large(self.elements.xml.at, "there are too many definitions"));
                }
                self.elements.begin_record();
            }
            let before = self.elements.xml.offset();
            match phase {
                0 => self.extension()?,
                1 => self.global()?,
                2 => self.classifier()?,
                3 => {
                    std::mem::swap(&mut keys, &mut self.keys);
                    if let Some(kind) = kind {
                        self.attribute(kind, Level::Log)?;
                    }
                    std::mem::swap(&mut keys, &mut self.keys);
                }
                4 => self.trace()?,
                _ => {
                    self.elements.misplaced(&rules::LOG_EVENT, |_| "an event outside of traces".into());
                    self.previous_ns = None;
                    self.event(None)?;
                }
            }
            if phase < 4 {
                self.definition_bytes += self.elements.xml.offset() - before;
                if self.definition_bytes > self.elements.limits.record_bytes as u64 {
                    return Err(Fault::too_large(self.elements.xml.at, "the definitions are too large"));
                }
            }
            self.elements.record.clear();
        }
        self.keys = keys;
        self.unique("log");
        // Only comments may follow.
        self.elements.xml.next().map(|_| ())
    }

    fn version(&mut self) {
        if let Some((version, at)) = self.elements.required("xes.version")
            && !lexical::decimal(&version)
        {
            let rule = if version == "1849-2016" { &rules::XES_VERSION_DASH } else { &rules::XES_VERSION };
            self.elements
                .report
                .add(rule, at, String::new, || format!("the version {} is no decimal number; write 1849.2016", shown(&version)));
        }
    }

    fn globals_are_there(&mut self, root: Position) {
        for (globals, scope) in self.globals.iter().zip(["trace", "event"]) {
            if globals.is_empty() {
                self.elements.report.add(&rules::NO_GLOBALS, root, String::new, || {
                    format!("no <global scope=\"{scope}\"> declares the attributes of every {scope}")
                });
            }
        }
    }

    /// Reports a text that is not of the form that `good` knows.
    fn form(&mut self, rule: &'static Rule, placed: &Option<(String, Position)>, good: fn(&str) -> bool, form: &str) {
        if let Some((text, at)) = placed
            && !good(text)
        {
            let elements = &mut self.elements;
            elements.report.add(rule, *at, || place(&elements.record, &elements.xml), || format!("{} is no {form}", shown(text)));
        }
    }

    fn extension(&mut self) -> Result<(), Fault> {
        self.elements.allow(&["name", "prefix", "uri"]);
        let name = self.elements.required("name");
        let prefix = self.elements.required("prefix");
        let uri = self.elements.required("uri");
        self.form(&rules::SPOKEN_NAME, &name, lexical::ncname, "xs:NCName, a name without spaces and colons");
        self.form(&rules::NAME_FORM, &prefix, lexical::ncname, "xs:NCName, a name without spaces and colons");
        self.form(&rules::URI_FORM, &uri, lexical::any_uri, "URI");
        if let Some((prefix, at)) = prefix {
            if let Some((uri, at)) = uri
                && let Some((_, standard)) = EXTENSIONS.iter().find(|(known, _)| *known == prefix)
                && uri.trim() != *standard
            {
                self.elements.report.add(&rules::EXTENSION_URI, at, String::new, || {
                    format!("the prefix {} belongs to {standard}, not to {}", shown(&prefix), shown(&uri))
                });
            }
            let message = format!("the prefix {} is declared a second time", shown(&prefix));
            if !self.extensions.insert(prefix) {
                self.elements.report.add(&rules::DUPLICATE_EXTENSION, at, String::new, || message);
            }
        }
        self.elements.empty()
    }

    /// Whether the scope is that of events, which it is when nothing is said.
    fn scope(&mut self) -> bool {
        let scope = self.elements.optional("scope");
        self.form(&rules::NAME_FORM, &scope, lexical::ncname, "xs:NCName, a name without spaces and colons");
        match scope {
            Some((scope, at)) if scope != "event" && scope != "trace" => {
                self.elements
                    .report
                    .add(&rules::SCOPE, at, String::new, || format!("the scope {} is neither trace nor event", shown(&scope)));
                true
            }
            Some((scope, _)) => scope == "event",
            None => true,
        }
    }

    fn global(&mut self) -> Result<(), Fault> {
        self.elements.allow(&["scope"]);
        let of_events = self.scope();
        let at = self.elements.xml.at;
        let level = if of_events { Level::Event } else { Level::Trace };
        if !self.globals[usize::from(of_events)].is_empty() {
            self.elements.misplaced(&rules::DUPLICATE_GLOBAL, |_| format!("a second global for each {}", level.word()));
        }
        self.keys.clear();
        while self.elements.child(false)? {
            match Kind::new(&self.elements.xml.name) {
                Some(kind) => self.attribute(kind, level)?,
                None => self.elements.unknown()?,
            }
        }
        // What is global for events is not an event: its time and transition mean nothing.
        self.time_ns = None;
        self.keys.sort();
        self.unique_sorted("global");
        let Keys { text, keys } = &self.keys;
        for (start, end, kind, _) in keys {
            let globals = &mut self.globals[usize::from(of_events)];
            if globals.len() >= self.elements.limits.definitions {
                return Err(Fault::too_large(at, "there are too many global attributes"));
            }
            globals.insert(text.get(*start..*end).unwrap_or_default().to_owned(), *kind);
        }
        Ok(())
    }

    fn classifier(&mut self) -> Result<(), Fault> {
        self.elements.allow(&["name", "scope", "keys"]);
        let name = self.elements.required("name");
        self.form(&rules::SPOKEN_NAME, &name, lexical::ncname, "xs:NCName, a name without spaces and colons");
        let of_events = self.scope();
        if let Some((name, at)) = name
            && !self.classifiers.insert((of_events, name.clone()))
        {
            self.elements.report.add(&rules::DUPLICATE_CLASSIFIER, at, String::new, || format!("a second classifier {}", shown(&name)));
        }
        if let Some((keys, at)) = self.elements.required("keys") {
            let globals = &self.globals[usize::from(of_events)];
            let scope = if of_events { "event" } else { "trace" };
            for key in split_keys(&keys, |key| globals.contains_key(key)) {
                if !globals.contains_key(&key) {
                    self.elements.report.add(&rules::CLASSIFIER_KEYS, at, String::new, || {
                        format!("the key {} is not in <global scope=\"{scope}\">, so there can be {scope}s without a class", shown(&key))
                    });
                }
            }
            if keys.trim().is_empty() {
                self.elements.report.add(&rules::CLASSIFIER_KEYS, at, String::new, || "the classifier has no keys".into());
            }
        }
        self.elements.empty()
    }

    fn trace(&mut self) -> Result<(), Fault> {
        let at = self.elements.xml.at;
        self.counts[0] += 1;
        let number = self.counts[0];
        self.elements.begin_record();
        self.elements.allow(&[]);
        self.elements.record = format!("trace {number}");
        self.trace_name = None;
        self.previous_ns = None;
        self.keys.clear();
        let mut events = 0;
        let mut checked = false;
        while self.elements.child(false)? {
            let kind = Kind::new(&self.elements.xml.name);
            match kind {
                Some(kind) => {
                    if checked {
                        self.elements.misplaced(&rules::ELEMENT_ORDER, |name| {
                            format!("{name} comes behind the first event; a trace's attributes come before")
                        });
                        // It counts with nothing: the trace's attributes were looked at before.
                        self.keys.clear();
                    }
                    self.attribute(kind, Level::Trace)?;
                }
                None if self.elements.xml.name == "event" => {
                    if !std::mem::replace(&mut checked, true) {
                        self.trace_head(at);
                    }
                    events += 1;
                    self.event(Some((number, events)))?;
                }
                None => self.elements.unknown()?,
            }
        }
        if !checked {
            self.trace_head(at);
        }
        Ok(())
    }

    fn trace_head(&mut self, at: Position) {
        self.keys.sort();
        self.unique_sorted("trace");
        self.has_globals(false, at);
        if self.trace_name.is_none() && self.keys.kind("concept:name").is_none() {
            let record = &self.elements.record;
            self.elements.report.add(&rules::UNNAMED_TRACE, at, || record.clone(), || "the trace has no concept:name".into());
        }
    }

    fn event(&mut self, number: Option<(u64, u64)>) -> Result<(), Fault> {
        let at = self.elements.xml.at;
        self.counts[1] += 1;
        self.elements.begin_record();
        self.elements.record = match (number, &self.trace_name) {
            (Some((trace, event)), Some(name)) => format!("trace {trace} {name}, event {event}"),
            (Some((trace, event)), None) => format!("trace {trace}, event {event}"),
            (None, _) => "event outside of traces".into(),
        };
        self.elements.allow(&[]);
        self.time_ns = None;
        self.keys.clear();
        while self.elements.child(false)? {
            match Kind::new(&self.elements.xml.name) {
                Some(kind) => self.attribute(kind, Level::Event)?,
                None => self.elements.unknown()?,
            }
        }
        self.keys.sort();
        self.unique_sorted("event");
        self.has_globals(true, at);
        let record = &self.elements.record;
        for (key, rule) in [("concept:name", &rules::UNNAMED_EVENT), ("time:timestamp", &rules::UNTIMED_EVENT)] {
            if self.keys.kind(key).is_none() {
                self.elements.report.add(rule, at, || record.clone(), || format!("the event has no {key}"));
            }
        }
        if let Some(time) = self.time_ns {
            if self.previous_ns.is_some_and(|before| before > time) {
                self.elements.report.add(&rules::EVENT_ORDER, at, || record.clone(), || "the event is earlier than the one before".into());
            }
            self.previous_ns = Some(time);
        }
        Ok(())
    }

    fn unique(&mut self, element: &str) {
        self.keys.sort();
        self.unique_sorted(element);
    }

    fn unique_sorted(&mut self, element: &str) {
        for pair in self.keys.keys.windows(2) {
            if let [first, second] = pair
                && self.keys.key(first) == self.keys.key(second)
            {
                let (key, record) = (self.keys.key(second), &self.elements.record);
                self.elements.report.add(
                    &rules::DUPLICATE_KEY,
                    second.3,
                    || record.clone(),
                    || format!("a second {} in one {element}", shown(key)),
                );
            }
        }
    }

    fn has_globals(&mut self, of_events: bool, at: Position) {
        let globals = &self.globals[usize::from(of_events)];
        // However many globals there are, an event costs no more than its own keys.
        let mut present = 0;
        let mut before = None;
        for entry in &self.keys.keys {
            let key = self.keys.key(entry);
            present += usize::from(globals.get(key) == Some(&entry.2) && before != Some(key));
            before = Some(key);
        }
        if present == globals.len() {
            return;
        }
        if self.elements.report.is_full(&rules::MISSING_GLOBAL) {
            self.elements.report.count(&rules::MISSING_GLOBAL, (globals.len() - present) as u64);
            return;
        }
        // In the order of the keys, not of the hashes.
        let mut missing: Vec<_> = globals.iter().filter(|(key, kind)| self.keys.kind(key) != Some(**kind)).collect();
        missing.sort_unstable_by_key(|(key, _)| *key);
        let record = &self.elements.record;
        for (key, kind) in missing {
            self.elements.report.add(
                &rules::MISSING_GLOBAL,
                at,
                || record.clone(),
                || match self.keys.kind(key) {
                    None => format!("the global attribute {} is missing", shown(key)),
                    Some(found) => {
                        format!("the global attribute {} is a {} here, and a {} in its declaration", shown(key), found.word(), kind.word())
                    }
                },
            );
        }
    }

    /// An attribute, to its end.
    fn attribute(&mut self, kind: Kind, level: Level) -> Result<(), Fault> {
        self.elements.check_size()?;
        let at = self.elements.xml.at;
        let has_value = !matches!(kind, Kind::List | Kind::Container);
        self.elements.allow(if has_value { &["key", "value"] } else { &["key"] });
        if kind == Kind::Container {
            self.elements.misplaced(&rules::CONTAINER, |_| "a container, which the schema does not have".into());
        }
        if has_value && self.elements.xml.attribute("value").is_none() {
            self.elements.required("value");
        }
        if self.elements.xml.attribute("key").is_none() {
            self.elements.required("key");
        }
        self.key(kind, level);
        if has_value {
            self.value(kind, level);
        }
        if let Some(key) = self.elements.xml.attribute("key") {
            self.keys.push(&key.value, kind, at);
            if self.keys.keys.len() > PARTS {
                return Err(Fault::too_large(at, format!("more than {PARTS} attributes in one element")));
            }
        }
        self.content(kind)
    }

    /// The attributes below an attribute, and its end.
    fn content(&mut self, kind: Kind) -> Result<(), Fault> {
        let begin = self.elements.xml.at;
        let mut nested: Option<Keys> = None;
        let mut values = 0;
        while self.elements.child(false)? {
            match Kind::new(&self.elements.xml.name) {
                Some(inner) => {
                    if values > 0 {
                        self.elements.misplaced(&rules::ELEMENT_ORDER, |name| format!("{name} comes behind values"));
                    }
                    let mut keys = nested.take().unwrap_or_else(|| self.spare.pop().unwrap_or_default());
                    std::mem::swap(&mut keys, &mut self.keys);
                    let result = self.attribute(inner, Level::Meta);
                    std::mem::swap(&mut keys, &mut self.keys);
                    nested = Some(keys);
                    result?;
                }
                None if kind == Kind::List && self.elements.xml.name == "values" => {
                    values += 1;
                    if values == 2 {
                        self.elements.misplaced(&rules::REPEATED_ELEMENT, |name| format!("a second element {name}"));
                    }
                    self.values()?;
                }
                None => self.elements.unknown()?,
            }
        }
        if kind == Kind::List && values == 0 {
            self.elements.missing("values", "list", begin);
        }
        if let Some(mut keys) = nested {
            std::mem::swap(&mut keys, &mut self.keys);
            self.unique("attribute");
            std::mem::swap(&mut keys, &mut self.keys);
            keys.clear();
            self.spare.push(keys);
        }
        Ok(())
    }

    /// Checks the items of a list; the same key can occur more than once.
    fn values(&mut self) -> Result<(), Fault> {
        self.elements.allow(&["key"]);
        if self.elements.xml.attribute("key").is_none() {
            self.elements
                .misplaced(&rules::LIST_VALUES_KEY, |_| "the values of a list have no key, as in the final schema and in all tools".into());
        }
        let key = self.elements.optional("key");
        self.form(&rules::KEY_FORM, &key, lexical::name, "xs:Name");
        let mut keys = self.spare.pop().unwrap_or_default();
        std::mem::swap(&mut keys, &mut self.keys);
        while self.elements.child(false)? {
            match Kind::new(&self.elements.xml.name) {
                Some(kind) => self.attribute(kind, Level::Meta)?,
                None => self.elements.unknown()?,
            }
            self.keys.clear();
        }
        std::mem::swap(&mut keys, &mut self.keys);
        keys.clear();
        self.spare.push(keys);
        Ok(())
    }

    fn key(&mut self, kind: Kind, level: Level) {
        let Some(attribute) = self.elements.xml.attribute("key") else { return };
        let (key, at) = (attribute.value.as_str(), attribute.value_at);
        let (report, record, xml) = (&mut *self.elements.report, &self.elements.record, &self.elements.xml);
        let place = || place(record, xml);
        if key.trim().is_empty() {
            report.add(&rules::EMPTY_KEY, at, place, || "the key is empty".into());
            return;
        }
        if !lexical::name(key) {
            report.add(&rules::KEY_FORM, at, place, || {
                format!("the key {} is no xs:Name: letters, digits, `.`, `-`, `_`, `:`, no spaces", shown(key))
            });
        }
        let Some((prefix, _)) = key.split_once(':') else { return };
        if !self.extensions.contains(prefix) {
            report.once(&rules::UNDECLARED_PREFIX, prefix, at, place, || {
                format!("no extension with the prefix {} is declared, which the key {} has", shown(prefix), shown(key))
            });
        }
        if !EXTENSIONS.iter().any(|(known, _)| *known == prefix) {
            return;
        }
        let Some(standard) = standard_key(key) else {
            report.once(&rules::EXTENSION_KEY, key, at, place, || {
                format!("the standard extension {} has no key {}", shown(prefix), shown(key))
            });
            return;
        };
        if !standard.kinds.contains(&kind) {
            let wanted = standard.kinds.first().map_or("", |kind| kind.word());
            report.add(&rules::EXTENSION_KEY_TYPE, at, place, || format!("{} is a {wanted}, not a {}", shown(key), kind.word()));
        }
        if !standard.levels.contains(&level) {
            report.once(&rules::EXTENSION_KEY_LEVEL, &format!("{key} {}", level.word()), at, place, || {
                format!("the standard has no {} in a {}", shown(key), level.word())
            });
        }
    }

    fn value(&mut self, kind: Kind, level: Level) {
        let Some(attribute) = self.elements.xml.attribute("value") else { return };
        let (text, at) = (attribute.value.as_str(), attribute.value_at);
        let key = self.elements.xml.attribute("key").map_or("", |key| key.value.as_str());
        let (report, record, xml) = (&mut *self.elements.report, &self.elements.record, &self.elements.xml);
        let place = || place(record, xml);
        let form = match kind {
            Kind::Date => lexical::date_time(text),
            Kind::Int => lexical::integer(text),
            Kind::Float => lexical::float(text),
            Kind::Boolean => lexical::boolean(text),
            _ => Form::Good,
        };
        match form {
            Form::Good => {}
            Form::Allowed if kind == Kind::Date => {
                report.add(&rules::NO_ZONE, at, place, || format!("the time {} of {} has no zone", shown(text), shown(key)));
            }
            Form::Allowed => {
                report.add(&rules::VALUE_FORM, at, place, || format!("{} for true or false; some readers want the words", shown(text)))
            }
            Form::Readable | Form::Bad => report.add(&rules::VALUE, at, place, || {
                let wanted = match kind {
                    Kind::Date => "an xs:dateTime, like 2026-11-20T13:04:05.123+00:00",
                    Kind::Int => "a whole number of 64 bits",
                    Kind::Float => "a number, INF, -INF or NaN",
                    _ => "true or false",
                };
                format!("the {} {} of {} is not {wanted}", kind.word(), shown(text), shown(key))
            }),
        }
        match kind {
            Kind::Date if form != Form::Bad => match parse(text) {
                Ok(time) if level == Level::Event && key == "time:timestamp" => self.time_ns = Some(time),
                Err(NotATime::Range) => {
                    report.add(&rules::TIME_RANGE, at, place, || {
                        format!("the time {} does not fit into 64 bits of nanoseconds", shown(text))
                    });
                }
                _ => {}
            },
            Kind::Id if !lexical::uuid(text) => report.add(&rules::ID_FORM, at, place, || format!("the id {} is no UUID", shown(text))),
            Kind::String => match (level, key) {
                (Level::Log, "lifecycle:model") => self.standard_model = text.eq_ignore_ascii_case("standard"),
                (Level::Trace, "concept:name") => self.trace_name = Some(shown(text)),
                (Level::Event, "lifecycle:transition") if self.standard_model && !TRANSITIONS.contains(&text) => {
                    let lower = text.to_ascii_lowercase();
                    report.add(&rules::TRANSITION, at, place, || match TRANSITIONS.contains(&lower.as_str()) {
                        true => format!("the standard writes the transition {} as {lower}", shown(text)),
                        false => format!("{} is no transition of the standard model: {}", shown(text), TRANSITIONS.join(", ")),
                    });
                }
                _ => {}
            },
            _ => {}
        }
    }
}

/// Returns the keys of a classifier: separated by white space, or in single quotes. A key can
/// contain spaces, so the longest sequence of words that is `known` is treated as one key.
fn split_keys(text: &str, known: impl Fn(&str) -> bool) -> Vec<String> {
    let mut keys = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        if let Some((key, behind)) = rest.strip_prefix('\'').and_then(|inside| inside.split_once('\'')) {
            keys.push(key.to_owned());
            rest = behind.trim_start();
            continue;
        }
        let ends = rest.match_indices(char::is_whitespace).map(|(at, _)| at).take(WORDS_A_KEY).chain([rest.len()]);
        let parts: Vec<_> = ends.filter_map(|end| rest.split_at_checked(end)).collect();
        let Some(&(key, behind)) = parts.iter().rev().find(|(key, _)| known(key)).or(parts.first()) else { break };
        keys.push(key.to_owned());
        rest = behind.trim_start();
    }
    keys
}

/// A key with more spaces is not looked for.
const WORDS_A_KEY: usize = 16;

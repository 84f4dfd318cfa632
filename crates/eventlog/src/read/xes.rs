//! XES in, traces with their events out.
//!
//! The input is an [`Input`]; the output is [`Record::Trace`], [`Record::CaseEvent`]s and
//! [`Record::TraceEnd`] in the order of the file, with attributes in their order, and at the end
//! the header of the log. Supported are IEEE 1849-2016, its 2023 revision and the XES 1.0 and 2.0
//! before it: nested attributes, lists with and without `<values>`, containers, globals,
//! classifiers, events outside of traces. A value that does not have its type is kept as text.
//! Refused is input that is not well-formed XML or is larger than the [`Limits`].
//!
//! Findings: `unknown_element`, `unknown_scope`, `no_scope`, `trace_classifier`,
//! `late_trace_attribute` and `missing_value` (left out); `text_time` (read as a time);
//! `not_a_time`, `time_range`, `not_a_number`, `number_range` and `not_a_boolean` (kept as text);
//! `missing_key`, `missing_name`, `duplicate_key`, `unusual_boolean`, `event_without_trace`,
//! `xml_character`, `text`, `document_type`.

mod flat;
mod plain_event;

use flat::{Flat, FlatValue, typed};

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

use crate::attribute::{Attribute, Value};
use crate::error::LogError;
use crate::log::{CaseHeader, Classifier, Extension};
use crate::read::elements::{Elements, Node, Tag};
use crate::read::input::{Input, Position};
use crate::read::values::first_duplicate;
use crate::read::{Limits, Severity, Sink, found, printable, shown};
use crate::record::Record;
use crate::time;

/// Reads a file to its end.
///
/// # Errors
/// [`LogError::Refused`] when nothing more of the file can be used; what the sink says; errors of
/// the operating system.
pub fn read(input: Input<'_>, limits: &Limits, sink: &mut dyn Sink) -> Result<(), LogError> {
    let mut elements = Elements::new(input, limits);
    let mut reader = Reader::new(*limits, sink);
    let mut buffer = Vec::new();
    // Whether an event could begin: behind text the parser may be in the middle of something.
    let mut between = false;
    loop {
        if between && reader.plain_event(&mut elements)? {
            continue;
        }
        let node = elements.next(true, &mut buffer)?;
        reader.place = elements.place();
        between = matches!(node, Node::Start(_) | Node::End);
        match node {
            Node::Start(tag) => reader.start(&tag)?,
            Node::End => reader.end()?,
            Node::Text(text) => {
                if !text.trim_ascii().is_empty() && !matches!(reader.open.last(), Some(Open::Skipped)) {
                    reader.odd(Severity::Warning, "text", format!("text between elements is left out: {}", shown(&text)));
                }
            }
            Node::Other(finding) => finding.into_iter().for_each(|finding| reader.sink.finding(finding)),
            Node::Eof => break,
        }
    }
    reader.finish()
}

/// An element that is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    Log,
    Trace,
    Event,
    Global {
        of_traces: bool,
    },
    /// Without content that means something.
    Leaf,
    Attribute {
        list: bool,
    },
    Values,
    Skipped,
}

/// How far the current trace has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trace {
    None,
    /// The attributes of the trace are being read.
    Head,
    Events,
    /// Events outside of traces.
    Loose,
}

/// What an attribute takes in memory besides its text.
const ATTRIBUTE_BYTES: usize = size_of::<Flat>() + size_of::<Attribute<'_>>();

struct Reader<'s> {
    limits: Limits,
    sink: &'s mut dyn Sink,
    place: Position,
    open: Vec<Open>,
    trace: Trace,
    header: CaseHeader,
    header_bytes: usize,
    /// Attributes of the element that is being read; their text is concatenated in `text`.
    flat: Vec<Flat>,
    text: String,
    /// Where the element begins to which the attributes belong.
    owner: Position,
}

impl<'s> Reader<'s> {
    fn new(limits: Limits, sink: &'s mut dyn Sink) -> Self {
        Self {
            limits,
            sink,
            place: Position::START,
            open: Vec::new(),
            trace: Trace::None,
            header: CaseHeader::default(),
            header_bytes: 0,
            flat: Vec::new(),
            text: String::new(),
            owner: Position::START,
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
                return Err(self.place.refuse(format!("the outermost element is <{}>, not the <log> of XES", printable(tag.name(), 60))));
            }
            (Some(Open::Skipped), _) => Open::Skipped,
            (Some(Open::Log), "trace") => {
                self.end_loose()?;
                self.owner = self.place;
                self.trace = Trace::Head;
                Open::Trace
            }
            (Some(Open::Log), "event") => {
                if self.trace != Trace::Loose {
                    self.odd(
                        Severity::Warning,
                        "event_without_trace",
                        "an event outside of a trace: such events are read as a trace without attributes".into(),
                    );
                    self.sink.record(&Record::Trace(Vec::new()))?;
                    self.trace = Trace::Loose;
                }
                self.owner = self.place;
                Open::Event
            }
            (Some(Open::Trace), "event") => {
                self.emit_head()?;
                self.owner = self.place;
                Open::Event
            }
            (Some(Open::Log), "events" | "objects" | "event-types" | "object-types") => {
                return Err(self.place.refuse("this is OCEL and no XES"));
            }
            (Some(Open::Log), "extension") => self.extension(tag)?,
            (Some(Open::Log), "classifier") => self.classifier(tag)?,
            (Some(Open::Log), "global") => self.global(tag)?,
            (Some(Open::Attribute { list: true }), "values") => {
                self.push("", FlatValue::Values)?;
                Open::Values
            }
            (Some(Open::Trace), _) if self.trace == Trace::Events && is_attribute(name) => {
                let message = "an attribute of a trace after its events is left out; move it before them".to_owned();
                self.odd(Severity::Error, "late_trace_attribute", message);
                Open::Skipped
            }
            (Some(Open::Log | Open::Trace | Open::Event | Open::Global { .. } | Open::Attribute { .. } | Open::Values), name)
                if is_attribute(name) =>
            {
                self.attribute(name, tag)?
            }
            _ => {
                self.odd(Severity::Warning, "unknown_element", format!("<{}> is not known here and left out", printable(tag.name(), 60)));
                Open::Skipped
            }
        };
        self.open.push(open);
        Ok(())
    }

    fn end(&mut self) -> Result<(), LogError> {
        let closed = self.open.pop();
        match closed {
            Some(Open::Event) => self.emit_event()?,
            Some(Open::Trace) => {
                self.emit_head()?;
                self.trace = Trace::None;
                self.sink.record(&Record::TraceEnd)?;
            }
            Some(Open::Global { of_traces }) => {
                let globals = self.take_for_header();
                let all = if of_traces { &mut self.header.trace_globals } else { &mut self.header.event_globals };
                all.extend(globals);
                if all.len() > self.limits.definitions {
                    return Err(self.owner.refuse(format!("more than {} globals", self.limits.definitions)));
                }
            }
            Some(Open::Attribute { .. }) if self.open.last() == Some(&Open::Log) => {
                let attributes = self.take_for_header();
                self.header.attributes.extend(attributes);
            }
            Some(Open::Log) => {
                self.end_loose()?;
                if let Some(key) = first_duplicate(&self.header.attributes) {
                    let message = format!("the log has more than one attribute {}; all are kept", shown(key));
                    self.sink.finding(found(Severity::Note, "duplicate_key", self.place, message));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn finish(mut self) -> Result<(), LogError> {
        let names = self.header.event_globals.iter().map(|attribute| attribute.key.as_ref());
        let names: BTreeSet<&str> = names.filter(|name| name.contains(' ')).collect();
        if !names.is_empty() {
            self.header.classifiers.iter_mut().for_each(|classifier| join_keys(&mut classifier.keys, &names));
        }
        self.sink.header(self.header)
    }

    fn end_loose(&mut self) -> Result<(), LogError> {
        if self.trace == Trace::Loose {
            self.trace = Trace::None;
            self.sink.record(&Record::TraceEnd)?;
        }
        Ok(())
    }

    /// The trace's attributes are complete with its first event or its end.
    fn emit_head(&mut self) -> Result<(), LogError> {
        if self.trace != Trace::Head {
            return Ok(());
        }
        self.trace = Trace::Events;
        let attributes = nested(&self.flat, &self.text, self.owner, self.sink);
        self.sink.record(&Record::Trace(attributes))?;
        self.clear();
        Ok(())
    }

    fn emit_event(&mut self) -> Result<(), LogError> {
        let attributes = nested(&self.flat, &self.text, self.owner, self.sink);
        self.sink.record(&Record::CaseEvent(attributes))?;
        self.clear();
        Ok(())
    }

    /// Takes the next event as a whole where it is one of the usual form; the elements then go on
    /// behind it.
    fn plain_event(&mut self, elements: &mut Elements<'_>) -> Result<bool, LogError> {
        const LEVELS: usize = 2;
        if !matches!(self.open.last(), Some(Open::Trace)) {
            return Ok(false);
        }
        let Some(bytes) = elements.ready(LEVELS) else { return Ok(false) };
        // Asked first: the head of the trace is still in `flat` and `text`.
        if !plain_event::begins(bytes) {
            return Ok(false);
        }
        self.emit_head()?;
        let taken = plain_event::take(bytes, &mut self.flat, &mut self.text);
        let small = self.text.len() + self.flat.len() * ATTRIBUTE_BYTES <= self.limits.record_bytes;
        let Some(end) = taken.filter(|_| small) else {
            self.clear();
            return Ok(false);
        };
        let attributes: Vec<Attribute<'_>> = self.flat.iter().filter_map(|one| plain_event::attribute(one, &self.text)).collect();
        // A finding needs the place, which is not worked out here.
        if first_duplicate(&attributes).is_some() {
            drop(attributes);
            self.clear();
            return Ok(false);
        }
        elements.pass(end);
        self.sink.record(&Record::CaseEvent(attributes))?;
        self.clear();
        Ok(true)
    }

    fn take_for_header(&mut self) -> Vec<Attribute<'static>> {
        let attributes = nested(&self.flat, &self.text, self.owner, self.sink);
        let attributes = attributes.into_iter().map(Attribute::into_owned).collect();
        self.header_bytes += self.text.len() + self.flat.len() * ATTRIBUTE_BYTES;
        self.clear();
        attributes
    }

    fn clear(&mut self) {
        self.flat.clear();
        self.text.clear();
        // One large record must not make all later ones expensive to hold.
        if self.text.capacity() > 1 << 20 {
            (self.text, self.flat) = (String::new(), Vec::new());
        }
    }

    fn read<'t, const N: usize>(&mut self, tag: &'t Tag<'_>, names: [&str; N]) -> Result<[Option<Cow<'t, str>>; N], LogError> {
        let read = tag.read(names).map_err(|message| self.place.refuse(message))?;
        if read.forbidden {
            self.odd(Severity::Error, "xml_character", "a character that XML does not allow; it is kept".into());
        }
        Ok(read.values)
    }

    fn extension(&mut self, tag: &Tag<'_>) -> Result<Open, LogError> {
        let values = self.read(tag, ["name", "prefix", "uri"])?;
        if values.contains(&None) {
            self.odd(Severity::Error, "missing_name", "an extension needs name, prefix and uri; what is missing is left empty".into());
        }
        let [name, prefix, uri] = values.map(|value| value.unwrap_or_default().into_owned());
        self.define(name.len() + prefix.len() + uri.len(), self.header.extensions.len())?;
        self.header.extensions.push(Extension { name, prefix, uri });
        Ok(Open::Leaf)
    }

    fn classifier(&mut self, tag: &Tag<'_>) -> Result<Open, LogError> {
        let [name, keys, scope] = self.read(tag, ["name", "keys", "scope"])?;
        if name.is_none() || keys.is_none() {
            self.odd(Severity::Error, "missing_name", "a classifier needs a name and keys; what is missing is left empty".into());
        }
        let (name, keys) = (name.unwrap_or_default(), keys.unwrap_or_default());
        match scope.as_deref() {
            None | Some("event") => {}
            Some("trace") => {
                self.odd(Severity::Note, "trace_classifier", format!("the classifier {} is one of traces and left out", shown(&name)));
                return Ok(Open::Leaf);
            }
            Some(scope) => {
                self.odd(Severity::Error, "unknown_scope", format!("a classifier of the scope {} is left out", shown(scope)));
                return Ok(Open::Leaf);
            }
        }
        // Each key takes more than its text.
        self.define(name.len() + keys.len() * 32, self.header.classifiers.len())?;
        self.header.classifiers.push(Classifier { name: name.into_owned(), keys: split_keys(&keys) });
        Ok(Open::Leaf)
    }

    fn global(&mut self, tag: &Tag<'_>) -> Result<Open, LogError> {
        let [scope] = self.read(tag, ["scope"])?;
        self.owner = self.place;
        Ok(match scope.as_deref() {
            Some("trace") => Open::Global { of_traces: true },
            Some("event") => Open::Global { of_traces: false },
            None => {
                self.odd(Severity::Note, "no_scope", "a global without a scope is one of events".into());
                Open::Global { of_traces: false }
            }
            Some(scope) => {
                self.odd(Severity::Error, "unknown_scope", format!("globals of the scope {} are left out", shown(scope)));
                Open::Skipped
            }
        })
    }

    /// Counts a definition that the header keeps.
    fn define(&mut self, bytes: usize, before: usize) -> Result<(), LogError> {
        self.header_bytes += bytes + ATTRIBUTE_BYTES;
        if before >= self.limits.definitions {
            return Err(self.place.refuse(format!("more than {} definitions of one kind", self.limits.definitions)));
        }
        self.check_size()
    }

    fn check_size(&self) -> Result<(), LogError> {
        let of_record = matches!(self.open.get(1), Some(Open::Trace | Open::Event));
        let kept = if of_record { 0 } else { self.header_bytes };
        if kept + self.text.len() + self.flat.len() * ATTRIBUTE_BYTES > self.limits.record_bytes {
            let message =
                format!("the attributes of one event, of one trace or of the log take more than {} bytes", self.limits.record_bytes);
            return Err(self.place.refuse(message));
        }
        Ok(())
    }

    fn attribute(&mut self, kind: &str, tag: &Tag<'_>) -> Result<Open, LogError> {
        if self.open.last() == Some(&Open::Log) {
            self.owner = self.place;
        }
        let [key, value] = self.read(tag, ["key", "value"])?;
        if key.is_none() && self.open.last() != Some(&Open::Values) {
            self.odd(Severity::Error, "missing_key", "an attribute without a key; it is kept under an empty one".into());
        }
        let key = key.unwrap_or_default();
        let value = match (kind, value.as_deref()) {
            ("list", _) => FlatValue::List,
            ("container", _) => FlatValue::Container,
            (_, None) => {
                self.odd(Severity::Error, "missing_value", format!("the attribute {} has no value and is left out", shown(&key)));
                FlatValue::Missing
            }
            ("string", Some(value)) => match self.untyped_time(&key, value) {
                Some(ns) => {
                    let message = format!("time:timestamp is of type string and not date; it is read as this time: {}", shown(value));
                    self.odd(Severity::Warning, "text_time", message);
                    FlatValue::Time(ns)
                }
                None => FlatValue::String(self.keep(value)),
            },
            ("id", Some(value)) => FlatValue::Id(self.keep(value)),
            (kind, Some(value)) => match typed(kind, value) {
                Ok(typed) => {
                    if kind == "boolean" && !matches!(value, "true" | "false" | "1" | "0") {
                        self.odd(Severity::Warning, "unusual_boolean", format!("{} is read as the boolean it seems to mean", shown(value)));
                    }
                    typed
                }
                Err(rule) => {
                    self.odd(
                        Severity::Error,
                        rule,
                        format!("the attribute {} of type {kind} is kept as text: {}", shown(&key), shown(value)),
                    );
                    FlatValue::String(self.keep(value))
                }
            },
        };
        self.push(&key, value)?;
        Ok(Open::Attribute { list: kind == "list" })
    }

    /// The time of an event that was written as a text.
    fn untyped_time(&self, key: &str, value: &str) -> Option<i64> {
        let of_event = key == plain_event::TIMESTAMP && self.open.last() == Some(&Open::Event);
        if of_event { time::parse(value).ok() } else { None }
    }

    fn keep(&mut self, text: &str) -> Range<usize> {
        let start = self.text.len();
        self.text.push_str(text);
        start..self.text.len()
    }

    fn push(&mut self, key: &str, value: FlatValue) -> Result<(), LogError> {
        let level = self.open.iter().rev().take_while(|open| matches!(open, Open::Attribute { .. } | Open::Values)).count();
        let key = self.keep(key);
        self.flat.push(Flat { level, key, value });
        self.check_size()
    }
}

fn is_attribute(name: &str) -> bool {
    matches!(name, "string" | "date" | "int" | "float" | "boolean" | "id" | "list" | "container")
}

/// The attributes with what hangs below them.
fn nested<'a>(flat: &[Flat], text: &'a str, owner: Position, sink: &mut dyn Sink) -> Vec<Attribute<'a>> {
    let mut attributes = Vec::with_capacity(flat.iter().filter(|one| one.level == 0).count());
    let mut duplicate = |key: &str| {
        let message = format!("more than one attribute {} in the same place; all are kept", shown(key));
        sink.finding(found(Severity::Note, "duplicate_key", owner, message));
    };
    subtree(&mut &flat[..], 0, text, &mut attributes, &mut duplicate);
    if let Some(key) = first_duplicate(&attributes) {
        duplicate(key);
    }
    attributes
}

/// Takes attributes of one level, with all below them. The depth of the recursion is that of the
/// elements, which is limited.
fn subtree<'a>(rest: &mut &[Flat], level: usize, text: &'a str, into: &mut Vec<Attribute<'a>>, duplicate: &mut dyn FnMut(&str)) {
    let slice = |range: &Range<usize>| text.get(range.clone()).unwrap_or_default();
    while let Some((one, after)) = rest.split_first()
        && one.level == level
        && !matches!(one.value, FlatValue::Values)
    {
        *rest = after;
        let mut children = Vec::new();
        let mut items = None;
        loop {
            subtree(rest, level + 1, text, &mut children, duplicate);
            match rest.split_first() {
                Some((values, after)) if values.level == level + 1 => {
                    *rest = after;
                    subtree(rest, level + 2, text, items.get_or_insert_default(), duplicate);
                }
                _ => break,
            }
        }
        let value = match &one.value {
            FlatValue::String(range) => Value::String(slice(range).into()),
            FlatValue::Id(range) => Value::Id(slice(range).into()),
            FlatValue::Time(ns) => Value::Time(*ns),
            FlatValue::Integer(number) => Value::Integer(*number),
            FlatValue::Float(number) => Value::Float(*number),
            FlatValue::Boolean(truth) => Value::Boolean(*truth),
            // Before IEEE 1849 the items stood in the list itself.
            FlatValue::List => Value::List(items.unwrap_or_else(|| std::mem::take(&mut children))),
            FlatValue::Missing if children.is_empty() => continue,
            // What hangs below an attribute without a value is not lost with it.
            FlatValue::Missing | FlatValue::Container | FlatValue::Values => Value::Container,
        };
        if let Some(key) = first_duplicate(&children) {
            duplicate(key);
        }
        into.push(Attribute { key: slice(&one.key).into(), value, since_ns: None, children });
    }
}

/// The keys of a classifier: separated by white space, those with spaces in quotes.
fn split_keys(keys: &str) -> Vec<String> {
    let mut split = Vec::new();
    let mut rest = keys.trim_ascii_start();
    while let Some(first) = rest.chars().next() {
        let quoted = rest.strip_prefix(['\'', '"']).and_then(|inside| inside.split_once(first));
        let (key, after) = match quoted {
            Some(parts) => parts,
            None => rest.split_once(|character: char| character.is_ascii_whitespace()).unwrap_or((rest, "")),
        };
        split.push(key.to_owned());
        rest = after.trim_ascii_start();
    }
    split
}

/// Puts pieces together again where several of them are the name of one attribute: some logs have
/// names with spaces and no quotes.
fn join_keys(keys: &mut Vec<String>, names: &BTreeSet<&str>) {
    const MOST_WORDS: usize = 16;
    let mut joined = Vec::with_capacity(keys.len());
    let mut rest = keys.as_slice();
    while let Some((first, after)) = rest.split_first() {
        let longest = (2..=rest.len().min(MOST_WORDS)).rev().find_map(|count| {
            let (these, after) = rest.split_at_checked(count)?;
            let name = these.join(" ");
            names.contains(name.as_str()).then_some((name, after))
        });
        let (key, next) = longest.unwrap_or_else(|| (first.clone(), after));
        joined.push(key);
        rest = next;
    }
    *keys = joined;
}

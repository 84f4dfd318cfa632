//! XES (IEEE 1849-2016): a log of cases in, one XML document out, an element on each line.
//!
//! The order is that of the standard's schema: extensions, globals, classifiers, attributes of the
//! log, traces.
//!
//! - The root carries `xmlns="http://www.xes-standard.org/"`. OpenXES, PM4Py and process_mining
//!   write it and some readers look for it; the standard's schema has no namespace, so whoever
//!   validates takes it off first.
//! - `xes.features` is `nested-attributes`, because any event can have them and the root is written
//!   before the first.
//! - Dates are `2026-11-20T13:04:05.000+00:00`, in UTC with 3, 6 or 9 digits as they need; all that
//!   is there is written, as `xs:dateTime` allows. PM4Py cuts it to microseconds. **OpenXES, and so
//!   ProM, on Java 7 and 8 takes any number of digits for milliseconds**: `.123456789` is one and a
//!   half days later to it. For such readers there is [`Options::milliseconds`].
//! - Numbers that are not finite are `NaN`, `INF` and `-INF`, as `xs:double` has them.
//! - A list is `<list key="…"><values>…</values></list>`, with children of the list before its
//!   values, as the schema has it (which also wants a key in `values`, a slip that no reader
//!   follows). A container, which the standard dropped and OpenXES and process_mining know, is
//!   `<container key="…">…</container>`.
//! - A trace or event without anything is written with two tags: process_mining stops at
//!   `<event/>`.
//! - Keys of a classifier are put in quotes where one of them has white space, begins with a quote
//!   or is empty. A double quote together with an apostrophe becomes `\x22`.
//! - For characters that XML does not have see [`crate::xml`].
//!
//! Refused is a log that gives objects.

pub mod extensions;
pub mod gzip;

use std::io::Write;

use crate::attribute::{Attribute, Value};
use crate::error::LogError;
use crate::log::{CaseHeader, CaseLog, Counts};
use crate::nested;
use crate::pieces;
use crate::record::{Batch, Record};
use crate::time;
use crate::xml::escape;

/// How a log is written as XES.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Options {
    /// Cuts times to milliseconds, downwards, and counts those that lost something as simplified.
    pub milliseconds: bool,
}

/// Writes a log with nothing cut. The caller buffers `out` if small writes cost, and flushes it.
///
/// # Errors
/// Those of the log and of `out`.
pub fn write(log: &dyn CaseLog, out: &mut dyn Write) -> Result<Counts, LogError> {
    write_with(log, Options::default(), out)
}

/// Writes a log with these options. The caller buffers `out` if small writes cost, and flushes it.
///
/// # Errors
/// Those of the log and of `out`.
pub fn write_with(log: &dyn CaseLog, options: Options, out: &mut dyn Write) -> Result<Counts, LogError> {
    let mut head = Vec::new();
    let mut counts = header(log.header(), options, &mut head);
    out.write_all(&head)?;
    counts += pieces::write(log.traces(), out, 0, |batch, piece| traces(batch, options, piece))?;
    out.write_all(b"</log>\n")?;
    Ok(counts)
}

fn header(header: &CaseHeader, options: Options, out: &mut Vec<u8>) -> Counts {
    let mut elements = Elements { options, counts: Counts::default(), out };
    elements.raw(b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<log xes.version=\"1849.2016\" xes.features=\"nested-attributes\"");
    elements.raw(b" xmlns=\"http://www.xes-standard.org/\">\n");
    for extension in &header.extensions {
        elements.quoted(b"\t<extension name=\"", &extension.name);
        elements.quoted(b" prefix=\"", &extension.prefix);
        elements.quoted(b" uri=\"", &extension.uri);
        elements.raw(b"/>\n");
    }
    for (scope, attributes) in [("trace", &header.trace_globals), ("event", &header.event_globals)] {
        if attributes.is_empty() {
            continue;
        }
        elements.quoted(b"\t<global scope=\"", scope);
        elements.raw(b">\n");
        elements.all(attributes, 2);
        elements.raw(b"\t</global>\n");
    }
    for classifier in &header.classifiers {
        let keys = classifier_keys(&classifier.keys, &mut elements.counts);
        elements.quoted(b"\t<classifier name=\"", &classifier.name);
        elements.quoted(b" scope=\"event\" keys=\"", &keys);
        elements.raw(b"/>\n");
    }
    elements.all(&header.attributes, 1);
    elements.counts
}

/// The keys in one text, in quotes where one of them needs it.
fn classifier_keys(keys: &[String], counts: &mut Counts) -> String {
    let needs = |key: &String| key.is_empty() || key.starts_with(['\'', '"']) || key.contains(|c: char| c.is_ascii_whitespace());
    if !keys.iter().any(needs) {
        return keys.join(" ");
    }
    let mut quoted = |key: &String| {
        if !key.contains('\'') {
            return format!("'{key}'");
        }
        // Nothing in XES says how to write both kinds of quotes.
        counts.replaced_characters += key.matches('"').count() as u64;
        format!("\"{}\"", key.replace('"', "\\x22"))
    };
    keys.iter().map(&mut quoted).collect::<Vec<_>>().join(" ")
}

fn traces(batch: &Batch, options: Options, out: &mut Vec<u8>) -> Result<Counts, LogError> {
    let mut elements = Elements { options, counts: Counts::default(), out };
    for record in batch.records() {
        match record? {
            Record::Trace(attributes) => {
                elements.raw(b"\t<trace>\n");
                elements.all(&attributes, 2);
                elements.counts.traces += 1;
            }
            Record::CaseEvent(attributes) => {
                elements.raw(b"\t\t<event>\n");
                elements.all(&attributes, 3);
                elements.raw(b"\t\t</event>\n");
                elements.counts.events += 1;
            }
            Record::TraceEnd => elements.raw(b"\t</trace>\n"),
            Record::Object(_) | Record::Event(_) => return Err(pieces::misplaced("traces")),
        }
    }
    Ok(elements.counts)
}

/// Writer of attributes as elements; counts what the format cannot hold.
struct Elements<'a> {
    options: Options,
    counts: Counts,
    out: &'a mut Vec<u8>,
}

impl Elements<'_> {
    fn raw(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    fn text(&mut self, text: &str) {
        self.counts.replaced_characters += escape(text, self.out);
    }

    fn quoted(&mut self, before: &[u8], text: &str) {
        self.raw(before);
        self.text(text);
        self.out.push(b'"');
    }

    fn all(&mut self, attributes: &[Attribute<'_>], depth: usize) {
        attributes.iter().for_each(|attribute| self.one(attribute, depth));
    }

    fn one(&mut self, attribute: &Attribute<'_>, depth: usize) {
        let name: &[u8] = match attribute.value {
            Value::String(_) => b"string",
            Value::Time(_) => b"date",
            Value::Integer(_) => b"int",
            Value::Float(_) => b"float",
            Value::Boolean(_) => b"boolean",
            Value::Id(_) => b"id",
            Value::List(_) => b"list",
            Value::Container => b"container",
        };
        self.indent(depth);
        self.out.push(b'<');
        self.raw(name);
        self.raw(b" key=\"");
        self.text(&attribute.key);
        if !matches!(attribute.value, Value::List(_) | Value::Container) {
            self.raw(b"\" value=\"");
        }
        match &attribute.value {
            Value::String(text) | Value::Id(text) => self.text(text),
            Value::Time(ns) => self.time(*ns),
            Value::Integer(number) => nested::integer(*number, self.out),
            Value::Float(number) => nested::double(*number, self.out),
            Value::Boolean(truth) => self.raw(if *truth { b"true" } else { b"false" }),
            Value::List(_) | Value::Container => {}
        }
        if !nested::is_nested(attribute) {
            self.raw(b"\"/>\n");
            return;
        }
        self.raw(b"\">\n");
        self.all(&attribute.children, depth + 1);
        if let Value::List(items) = &attribute.value {
            self.indent(depth + 1);
            self.raw(b"<values>\n");
            self.all(items, depth + 2);
            self.indent(depth + 1);
            self.raw(b"</values>\n");
        }
        self.indent(depth);
        self.raw(b"</");
        self.raw(name);
        self.raw(b">\n");
    }

    fn time(&mut self, ns: i64) {
        let fraction = ns.rem_euclid(1_000_000);
        if self.options.milliseconds && fraction != 0 {
            self.counts.simplified_values += 1;
            // The first millisecond of all is not within the numbers: that one moment goes up.
            time::write(ns.checked_sub(fraction).unwrap_or_else(|| ns + (1_000_000 - fraction)), 3, "+00:00", self.out);
        } else {
            time::write(ns, 3, "+00:00", self.out);
        }
    }

    fn indent(&mut self, depth: usize) {
        // Whoever nests a thousand levels deep gets no thousand tabs.
        const TABS: [u8; 16] = [b'\t'; 16];
        self.raw(&TABS[..depth.min(TABS.len())]);
    }
}

//! XES (IEEE 1849-2016): a log of cases in, one XML document out, an element on each line.
//!
//! The order is that of the standard's schema: extensions, globals, classifiers, attributes of the log, traces.
//!
//! - The root carries `xmlns="http://www.xes-standard.org/"`. OpenXES, PM4Py and process_mining write it and some readers look for it;
//!   the standard's schema has no namespace, so whoever validates takes it off first.
//! - `xes.features` is `nested-attributes`, because any event can have them and the root is written before the first.
//! - Dates are `2026-11-20T13:04:05.000+00:00`, in UTC with 3, 6 or 9 digits as they need; all that is there is written. Readers with
//!   less (Java's dates have milliseconds, Python's microseconds) cut it themselves.
//! - Numbers that are not finite are `NaN`, `INF` and `-INF`, as `xs:double` has them.
//! - A list is `<list key="…"><values>…</values></list>`, with children of the list before its values, as the schema has it (which also
//!   wants a key in `values`, a slip that no reader follows). A container, which the standard dropped and OpenXES and process_mining
//!   know, is `<container key="…">…</container>`.
//! - A trace or event without anything is written with two tags: process_mining stops at `<event/>`.
//! - Keys of a classifier are put in apostrophes where one of them has a space.
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

/// Writes a log. The caller buffers `out` if small writes cost, and flushes it.
///
/// # Errors
/// Those of the log and of `out`.
pub fn write(log: &dyn CaseLog, out: &mut dyn Write) -> Result<Counts, LogError> {
    let mut text = Vec::new();
    let replaced = header(log.header(), &mut text);
    out.write_all(&text)?;
    let mut counts = pieces::write(log.traces(), out, 0, traces)?;
    counts.replaced_characters += replaced;
    out.write_all(b"</log>\n")?;
    Ok(counts)
}

fn header(header: &CaseHeader, out: &mut Vec<u8>) -> u64 {
    let mut replaced = 0;
    out.extend_from_slice(b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<log xes.version=\"1849.2016\" xes.features=\"nested-attributes\"");
    out.extend_from_slice(b" xmlns=\"http://www.xes-standard.org/\">\n");
    let quoted = |before: &[u8], text: &str, out: &mut Vec<u8>| {
        out.extend_from_slice(before);
        let replaced = escape(text, out);
        out.push(b'"');
        replaced
    };
    for extension in &header.extensions {
        replaced += quoted(b"\t<extension name=\"", &extension.name, out);
        replaced += quoted(b" prefix=\"", &extension.prefix, out);
        replaced += quoted(b" uri=\"", &extension.uri, out);
        out.extend_from_slice(b"/>\n");
    }
    for (scope, attributes) in [("trace", &header.trace_globals), ("event", &header.event_globals)] {
        if attributes.is_empty() {
            continue;
        }
        replaced += quoted(b"\t<global scope=\"", scope, out);
        out.extend_from_slice(b">\n");
        replaced += elements(attributes, 2, out);
        out.extend_from_slice(b"\t</global>\n");
    }
    for classifier in &header.classifiers {
        let keys = if classifier.keys.iter().any(|key| key.contains(' ')) {
            classifier.keys.iter().map(|key| format!("'{key}'")).collect::<Vec<_>>().join(" ")
        } else {
            classifier.keys.join(" ")
        };
        replaced += quoted(b"\t<classifier name=\"", &classifier.name, out);
        replaced += quoted(b" scope=\"event\" keys=\"", &keys, out);
        out.extend_from_slice(b"/>\n");
    }
    replaced + elements(&header.attributes, 1, out)
}

fn traces(batch: &Batch, out: &mut Vec<u8>) -> Result<Counts, LogError> {
    let mut counts = Counts::default();
    for record in batch.records() {
        match record? {
            Record::Trace(attributes) => {
                out.extend_from_slice(b"\t<trace>\n");
                counts.replaced_characters += elements(&attributes, 2, out);
                counts.traces += 1;
            }
            Record::CaseEvent(attributes) => {
                out.extend_from_slice(b"\t\t<event>\n");
                counts.replaced_characters += elements(&attributes, 3, out);
                out.extend_from_slice(b"\t\t</event>\n");
                counts.events += 1;
            }
            Record::TraceEnd => out.extend_from_slice(b"\t</trace>\n"),
            Record::Object(_) | Record::Event(_) => return Err(pieces::misplaced("traces")),
        }
    }
    Ok(counts)
}

fn elements(attributes: &[Attribute<'_>], depth: usize, out: &mut Vec<u8>) -> u64 {
    attributes.iter().map(|attribute| element(attribute, depth, out)).sum()
}

/// Appends an attribute's element. Returns how many characters had to be replaced.
fn element(attribute: &Attribute<'_>, depth: usize, out: &mut Vec<u8>) -> u64 {
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
    indent(depth, out);
    out.push(b'<');
    out.extend_from_slice(name);
    out.extend_from_slice(b" key=\"");
    let mut replaced = escape(&attribute.key, out);
    if !matches!(attribute.value, Value::List(_) | Value::Container) {
        out.extend_from_slice(b"\" value=\"");
    }
    match &attribute.value {
        Value::String(text) | Value::Id(text) => replaced += escape(text, out),
        Value::Time(ns) => time::write(*ns, 3, "+00:00", out),
        Value::Integer(number) => nested::integer(*number, out),
        Value::Float(number) => nested::double(*number, out),
        Value::Boolean(truth) => out.extend_from_slice(if *truth { b"true" } else { b"false" }),
        Value::List(_) | Value::Container => {}
    }
    if !nested::is_nested(attribute) {
        out.extend_from_slice(b"\"/>\n");
        return replaced;
    }
    out.extend_from_slice(b"\">\n");
    replaced += elements(&attribute.children, depth + 1, out);
    if let Value::List(items) = &attribute.value {
        indent(depth + 1, out);
        out.extend_from_slice(b"<values>\n");
        replaced += elements(items, depth + 2, out);
        indent(depth + 1, out);
        out.extend_from_slice(b"</values>\n");
    }
    indent(depth, out);
    out.extend_from_slice(b"</");
    out.extend_from_slice(name);
    out.extend_from_slice(b">\n");
    replaced
}

fn indent(depth: usize, out: &mut Vec<u8>) {
    // Whoever nests a thousand levels deep gets no thousand tabs.
    const TABS: [u8; 16] = [b'\t'; 16];
    out.extend_from_slice(&TABS[..depth.min(TABS.len())]);
}

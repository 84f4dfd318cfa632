//! OCEL 2.0 as XML: a log in, one XML document out, a type or record on each line.
//!
//! The elements are those of the standard's schema in its order, with one exception: the schema
//! calls a relation `object` and wants a type in it, while the standard's own example and what
//! reads such logs (PM4Py, process_mining) have `relationship`. So it is `relationship` here.
//!
//! - Times are RFC 3339 in UTC (`Z`) with as many digits as they need. A value of an object without
//!   a time has `1970-01-01T00:00:00Z`, which in OCEL says: from the beginning.
//! - Numbers that are not finite are `NaN`, `INF` and `-INF`, as `xs:double` has them. Lists and
//!   attributes of attributes become text ([`crate::nested`]) and are counted as simplified.
//! - For characters that XML does not have see [`crate::xml`]. A space at the beginning or end of a
//!   value is written `&#32;`, because process_mining cuts it off otherwise. An empty text stays an
//!   empty element; process_mining takes that for no value at all, PM4Py for the text `None`.
//!
//! Refused is a log that gives events among its objects, or the other way round.

use std::io::Write;

use crate::attribute::{Attribute, Value};
use crate::error::LogError;
use crate::log::{Counts, ObjectLog, TypeDef};
use crate::nested;
use crate::pieces;
use crate::record::{Batch, Record, Relation};
use crate::time;
use crate::xml::escape;

/// Writes a log. The caller buffers `out` if small writes cost, and flushes it.
///
/// # Errors
/// Those of the log and of `out`.
pub fn write(log: &dyn ObjectLog, out: &mut dyn Write) -> Result<Counts, LogError> {
    let mut text = Vec::new();
    let mut counts = Counts::default();
    // No element here is written as an empty tag: process_mining does not see those.
    text.extend_from_slice(b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<log>\n<object-types>\n");
    counts.replaced_characters += types("object-type", &log.types().objects, &mut text);
    text.extend_from_slice(b"</object-types>\n<event-types>\n");
    counts.replaced_characters += types("event-type", &log.types().events, &mut text);
    text.extend_from_slice(b"</event-types>\n<objects>\n");
    out.write_all(&text)?;
    counts += pieces::write(log.objects(), out, 0, objects)?;
    out.write_all(b"</objects>\n<events>\n")?;
    counts += pieces::write(log.events(), out, 0, events)?;
    out.write_all(b"</events>\n</log>\n")?;
    Ok(counts)
}

fn types(element: &str, types: &[TypeDef], out: &mut Vec<u8>) -> u64 {
    let mut replaced = 0;
    for kind in types {
        out.push(b'<');
        out.extend_from_slice(element.as_bytes());
        out.extend_from_slice(b" name=\"");
        replaced += escape(&kind.name, out);
        out.extend_from_slice(b"\"><attributes>");
        for (name, kind) in &kind.attributes {
            out.extend_from_slice(b"<attribute name=\"");
            replaced += escape(name, out);
            out.extend_from_slice(b"\" type=\"");
            out.extend_from_slice(kind.ocel_name().as_bytes());
            out.extend_from_slice(b"\"/>");
        }
        out.extend_from_slice(b"</attributes></");
        out.extend_from_slice(element.as_bytes());
        out.extend_from_slice(b">\n");
    }
    replaced
}

fn objects(batch: &Batch, out: &mut Vec<u8>) -> Result<Counts, LogError> {
    let mut counts = Counts::default();
    for record in batch.records() {
        let Record::Object(object) = record? else { return Err(pieces::misplaced("objects")) };
        out.extend_from_slice(b"<object id=\"");
        counts.replaced_characters += escape(&object.id, out);
        out.extend_from_slice(b"\" type=\"");
        counts.replaced_characters += escape(&object.kind, out);
        out.extend_from_slice(b"\"><attributes>");
        for attribute in &object.attributes {
            out.extend_from_slice(b"<attribute name=\"");
            counts.replaced_characters += escape(&attribute.key, out);
            out.extend_from_slice(b"\" time=\"");
            time::write(attribute.since_ns.unwrap_or(0), 0, "Z", out);
            out.extend_from_slice(b"\">");
            value(attribute, &mut counts, out);
        }
        relations(&object.relations, &mut counts, out);
        out.extend_from_slice(b"</object>\n");
        counts.objects += 1;
        counts.object_relations += object.relations.len() as u64;
    }
    Ok(counts)
}

fn events(batch: &Batch, out: &mut Vec<u8>) -> Result<Counts, LogError> {
    let mut counts = Counts::default();
    for record in batch.records() {
        let Record::Event(event) = record? else { return Err(pieces::misplaced("events")) };
        out.extend_from_slice(b"<event id=\"");
        counts.replaced_characters += escape(&event.id, out);
        out.extend_from_slice(b"\" type=\"");
        counts.replaced_characters += escape(&event.kind, out);
        out.extend_from_slice(b"\" time=\"");
        time::write(event.time_ns, 0, "Z", out);
        out.extend_from_slice(b"\"><attributes>");
        for attribute in &event.attributes {
            out.extend_from_slice(b"<attribute name=\"");
            counts.replaced_characters += escape(&attribute.key, out);
            out.extend_from_slice(b"\">");
            value(attribute, &mut counts, out);
        }
        relations(&event.relations, &mut counts, out);
        out.extend_from_slice(b"</event>\n");
        counts.events += 1;
        counts.event_relations += event.relations.len() as u64;
    }
    Ok(counts)
}

/// Appends a value and the end of its element.
fn value(attribute: &Attribute<'_>, counts: &mut Counts, out: &mut Vec<u8>) {
    if nested::is_nested(attribute) {
        counts.simplified_values += 1;
        counts.replaced_characters += content(&nested::text(attribute), out);
    } else {
        match &attribute.value {
            Value::String(text) | Value::Id(text) => counts.replaced_characters += content(text, out),
            Value::Time(ns) => time::write(*ns, 0, "Z", out),
            Value::Integer(number) => nested::integer(*number, out),
            Value::Float(number) => nested::double(*number, out),
            Value::Boolean(truth) => out.extend_from_slice(if *truth { b"true" } else { b"false" }),
            Value::List(_) | Value::Container => {}
        }
    }
    out.extend_from_slice(b"</attribute>");
}

/// Appends a text as the content of an element, with the spaces at its ends.
fn content(text: &str, out: &mut Vec<u8>) -> u64 {
    if !text.starts_with(' ') && !text.ends_with(' ') {
        return escape(text, out);
    }
    let inner = text.trim_start_matches(' ');
    let before = text.len() - inner.len();
    let trimmed = inner.trim_end_matches(' ');
    let after = inner.len() - trimmed.len();
    (0..before).for_each(|_| out.extend_from_slice(b"&#32;"));
    let replaced = escape(trimmed, out);
    (0..after).for_each(|_| out.extend_from_slice(b"&#32;"));
    replaced
}

/// Appends the end of the attributes and the relations.
fn relations(relations: &[Relation<'_>], counts: &mut Counts, out: &mut Vec<u8>) {
    out.extend_from_slice(b"</attributes><objects>");
    for relation in relations {
        out.extend_from_slice(b"<relationship object-id=\"");
        counts.replaced_characters += escape(&relation.object, out);
        out.extend_from_slice(b"\" qualifier=\"");
        counts.replaced_characters += escape(&relation.qualifier, out);
        out.extend_from_slice(b"\"/>");
    }
    out.extend_from_slice(b"</objects>");
}

//! OCEL 2.0 as JSON: a log in, one JSON document out, a type or record on each line.
//!
//! The order is `eventTypes`, `objectTypes`, `objects`, `events`, so that who reads it as a stream
//! knows an object before its events. The members are those of the standard's JSON schema;
//! `attributes` and `relationships` are there even when they are empty.
//!
//! - Numbers and truth values are JSON numbers and truth values. The schema wants texts, but what
//!   reads such logs (PM4Py, process_mining) writes numbers too, and of texts it makes columns of
//!   text.
//! - Times are RFC 3339 in UTC (`Z`) with as many digits as they need. A value of an object without
//!   a time has `1970-01-01T00:00:00Z`, which in OCEL says: from the beginning.
//! - JSON has no number for what is not finite: that becomes `"NaN"`, `"INF"` or `"-INF"`; lists
//!   and attributes of attributes become text ([`crate::nested`]). Both are counted as simplified.
//!
//! Refused is a log that gives events among its objects, or the other way round.

use std::io::Write;

use crate::attribute::Attribute;
use crate::error::LogError;
use crate::log::{Counts, ObjectLog, TypeDef};
use crate::nested::{self, json_text};
use crate::pieces;
use crate::record::{Batch, Record, Relation};
use crate::time;

/// Writes a log. The caller buffers `out` if small writes cost, and flushes it.
///
/// # Errors
/// Those of the log and of `out`.
pub fn write(log: &dyn ObjectLog, out: &mut dyn Write) -> Result<Counts, LogError> {
    let mut text = Vec::new();
    text.extend_from_slice(b"{\"eventTypes\":[");
    types(&log.types().events, &mut text);
    text.extend_from_slice(b"],\n\"objectTypes\":[");
    types(&log.types().objects, &mut text);
    text.extend_from_slice(b"],\n\"objects\":[");
    out.write_all(&text)?;
    let mut counts = pieces::write(log.objects(), out, 1, objects)?;
    out.write_all(b"],\n\"events\":[")?;
    counts += pieces::write(log.events(), out, 1, events)?;
    out.write_all(b"]}\n")?;
    Ok(counts)
}

fn types(types: &[TypeDef], out: &mut Vec<u8>) {
    for (at, kind) in types.iter().enumerate() {
        out.extend_from_slice(if at == 0 { b"\n{\"name\":" } else { b",\n{\"name\":" });
        json_text(&kind.name, out);
        out.extend_from_slice(b",\"attributes\":[");
        for (at, (name, kind)) in kind.attributes.iter().enumerate() {
            out.extend_from_slice(if at == 0 { b"{\"name\":" } else { b",{\"name\":" });
            json_text(name, out);
            out.extend_from_slice(b",\"type\":\"");
            out.extend_from_slice(kind.ocel_name().as_bytes());
            out.extend_from_slice(b"\"}");
        }
        out.extend_from_slice(b"]}");
    }
}

fn objects(batch: &Batch, out: &mut Vec<u8>) -> Result<Counts, LogError> {
    let mut counts = Counts::default();
    for record in batch.records() {
        let Record::Object(object) = record? else { return Err(pieces::misplaced("objects")) };
        out.extend_from_slice(b",\n{\"id\":");
        json_text(&object.id, out);
        out.extend_from_slice(b",\"type\":");
        json_text(&object.kind, out);
        out.extend_from_slice(b",\"attributes\":[");
        for (at, attribute) in object.attributes.iter().enumerate() {
            counts.simplified_values += value(at, attribute, out);
            out.extend_from_slice(b",\"time\":\"");
            time::write(attribute.since_ns.unwrap_or(0), 0, "Z", out);
            out.extend_from_slice(b"\"}");
        }
        relations(&object.relations, out);
        counts.objects += 1;
        counts.object_relations += object.relations.len() as u64;
    }
    Ok(counts)
}

fn events(batch: &Batch, out: &mut Vec<u8>) -> Result<Counts, LogError> {
    let mut counts = Counts::default();
    for record in batch.records() {
        let Record::Event(event) = record? else { return Err(pieces::misplaced("events")) };
        out.extend_from_slice(b",\n{\"id\":");
        json_text(&event.id, out);
        out.extend_from_slice(b",\"type\":");
        json_text(&event.kind, out);
        out.extend_from_slice(b",\"time\":\"");
        time::write(event.time_ns, 0, "Z", out);
        out.extend_from_slice(b"\",\"attributes\":[");
        for (at, attribute) in event.attributes.iter().enumerate() {
            counts.simplified_values += value(at, attribute, out);
            out.push(b'}');
        }
        relations(&event.relations, out);
        counts.events += 1;
        counts.event_relations += event.relations.len() as u64;
    }
    Ok(counts)
}

/// Appends an attribute's name and value, with the object still open. Returns 1 if the value had to
/// be simplified.
fn value(at: usize, attribute: &Attribute<'_>, out: &mut Vec<u8>) -> u64 {
    out.extend_from_slice(if at == 0 { b"{\"name\":" } else { b",{\"name\":" });
    json_text(&attribute.key, out);
    out.extend_from_slice(b",\"value\":");
    if nested::is_nested(attribute) {
        json_text(&nested::text(attribute), out);
        return 1;
    }
    u64::from(nested::plain(&attribute.value, out))
}

/// Appends the end of the attributes, the relations and the end of the record.
fn relations(relations: &[Relation<'_>], out: &mut Vec<u8>) {
    out.extend_from_slice(b"],\"relationships\":[");
    for (at, relation) in relations.iter().enumerate() {
        out.extend_from_slice(if at == 0 { b"{\"objectId\":" } else { b",{\"objectId\":" });
        json_text(&relation.object, out);
        out.extend_from_slice(b",\"qualifier\":");
        json_text(&relation.qualifier, out);
        out.push(b'}');
    }
    out.extend_from_slice(b"]}");
}

//! A log of cases as lines: extensions, classifiers, globals, attributes of the log, then each
//! trace with its events.

use std::io::{self, Write};

use process_mining::EventLog;
use process_mining::core::event_data::case_centric::{Attribute, AttributeValue, Attributes};
use serde_json::{Value, json};

use crate::dump::{float, line, sorted, time};

/// Prints the log: what stands before the traces sorted, traces and events with their attributes in
/// their order.
pub fn dump(log: &EventLog, out: &mut impl Write) -> io::Result<()> {
    let extensions = log.extensions.iter().flatten().map(|e| json!(["extension", e.name, e.prefix, e.uri]));
    let classifiers = log.classifiers.iter().flatten().map(|c| json!(["classifier", c.name, c.keys]));
    let globals = |scope: &'static str, of: &Option<Attributes>| {
        sorted(of.iter().flatten().map(|a| json!(["global", scope, attribute(a)])).collect())
    };
    let head = [
        sorted(extensions.collect()),
        sorted(classifiers.collect()),
        globals("event", &log.global_event_attrs),
        globals("trace", &log.global_trace_attrs),
    ];
    for value in head.iter().flatten() {
        line(value, out)?;
    }
    line(&json!(["log", attributes(&log.attributes)]), out)?;
    for (number, trace) in log.traces.iter().enumerate() {
        line(&json!(["trace", number, attributes(&trace.attributes)]), out)?;
        for (place, event) in trace.events.iter().enumerate() {
            line(&json!(["case_event", number, place, attributes(&event.attributes)]), out)?;
        }
    }
    Ok(())
}

fn attributes(attributes: &[Attribute]) -> Vec<Value> {
    attributes.iter().map(attribute).collect()
}

/// Key, type, value and children. A list's value is its items; a container's content are its
/// children.
fn attribute(attribute: &Attribute) -> Value {
    let children = attribute.own_attributes.as_deref().unwrap_or_default();
    let (kind, value, children) = match &attribute.value {
        AttributeValue::String(text) => ("string", json!(text), children),
        AttributeValue::Date(at) => ("time", json!(time(at)), children),
        AttributeValue::Int(number) => ("integer", json!(number.to_string()), children),
        AttributeValue::Float(number) => ("float", json!(float(*number)), children),
        AttributeValue::Boolean(truth) => ("boolean", json!(truth.to_string()), children),
        AttributeValue::ID(id) => ("id", json!(id.to_string()), children),
        AttributeValue::List(items) => ("list", json!(attributes(items)), children),
        AttributeValue::Container(content) => ("container", json!(""), content.as_slice()),
        AttributeValue::None() => ("null", json!(""), children),
    };
    json!([attribute.key, kind, value, attributes(children)])
}

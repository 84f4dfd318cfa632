//! An object-centric log as lines: event types, object types, objects, events.

use std::io::{self, Write};

use process_mining::OCEL;
use process_mining::core::event_data::object_centric::{OCELAttributeValue, OCELRelationship, OCELType};
use serde_json::{Value, json};

use crate::dump::{float, line, sorted, time};

/// Prints the log; each kind of line in the order of names or ids.
pub fn dump(log: &OCEL, out: &mut impl Write) -> io::Result<()> {
    types("event_type", &log.event_types, out)?;
    types("object_type", &log.object_types, out)?;

    let mut objects: Vec<_> = log.objects.iter().collect();
    objects.sort_by(|a, b| a.id.cmp(&b.id));
    for object in objects {
        let attributes = object.attributes.iter().map(|attribute| {
            let (kind, text) = value(&attribute.value);
            json!([attribute.name, time(&attribute.time), kind, text])
        });
        line(&json!(["object", object.id, object.object_type, sorted(attributes.collect()), relations(&object.relationships)]), out)?;
    }

    let mut events: Vec<_> = log.events.iter().collect();
    events.sort_by(|a, b| a.id.cmp(&b.id));
    for event in events {
        let attributes = event.attributes.iter().map(|attribute| {
            let (kind, text) = value(&attribute.value);
            json!([attribute.name, "", kind, text])
        });
        let (attributes, relations) = (sorted(attributes.collect()), relations(&event.relationships));
        line(&json!(["event", event.id, event.event_type, time(&event.time), attributes, relations]), out)?;
    }
    Ok(())
}

fn types(what: &str, types: &[OCELType], out: &mut impl Write) -> io::Result<()> {
    let mut types: Vec<_> = types.iter().collect();
    types.sort_by(|a, b| a.name.cmp(&b.name));
    for of in types {
        let attributes = of.attributes.iter().map(|attribute| json!([attribute.name, attribute.value_type])).collect();
        line(&json!([what, of.name, sorted(attributes)]), out)?;
    }
    Ok(())
}

fn relations(relations: &[OCELRelationship]) -> Vec<Value> {
    sorted(relations.iter().map(|relation| json!([relation.object_id, relation.qualifier])).collect())
}

fn value(value: &OCELAttributeValue) -> (&'static str, String) {
    match value {
        OCELAttributeValue::Integer(number) => ("integer", number.to_string()),
        OCELAttributeValue::Float(number) => ("float", float(*number)),
        OCELAttributeValue::Boolean(truth) => ("boolean", truth.to_string()),
        OCELAttributeValue::Time(at) => ("time", time(at)),
        OCELAttributeValue::String(text) => ("string", text.clone()),
        OCELAttributeValue::Null => ("null", String::new()),
    }
}

//! Attributes with attributes inside, as text: for the formats that have only plain values.
//!
//! The input is an XES attribute that is a list, a container or has children; the output is one
//! JSON object with all its contents:
//!
//! ```json
//! {"type":"list","values":[{"key":"io:file","type":"string","value":"/a","children":[{"key":"io:read_bytes","type":"integer","value":5}]}]}
//! ```
//!
//! `type` is `string`, `time`, `integer`, `float`, `boolean`, `id`, `list` or `container`; the last
//! two have no `value`. Times are RFC 3339 in UTC, and numbers are JSON numbers; numbers that are
//! not finite are the texts `NaN`, `INF` and `-INF`. So nothing is lost, and a reader can restore
//! the attribute. The writers still count such values as simplified.

use std::borrow::Cow;

use crate::attribute::{Attribute, Value, ValueType};
use crate::time;

/// Whether the attribute is more than a key and a plain value.
pub fn is_nested(attribute: &Attribute<'_>) -> bool {
    !attribute.children.is_empty() || matches!(attribute.value, Value::List(_) | Value::Container)
}

/// The attribute without its key and time, which have their own place, as a JSON object.
pub fn text(attribute: &Attribute<'_>) -> String {
    let mut out = Vec::with_capacity(128);
    out.push(b'{');
    content(attribute, &mut out);
    out.push(b'}');
    // Only UTF-8 was written.
    String::from_utf8(out).unwrap_or_default()
}

fn content(attribute: &Attribute<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(b"\"type\":\"");
    out.extend_from_slice(name(attribute.value.kind()).as_bytes());
    out.push(b'"');
    match &attribute.value {
        Value::Container => {}
        Value::List(items) => list("values", items, out),
        value => {
            out.extend_from_slice(b",\"value\":");
            plain(value, out);
        }
    }
    if !attribute.children.is_empty() {
        list("children", &attribute.children, out);
    }
}

fn list(name: &str, attributes: &[Attribute<'_>], out: &mut Vec<u8>) {
    out.extend_from_slice(b",\"");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":[");
    for (at, attribute) in attributes.iter().enumerate() {
        out.extend_from_slice(if at == 0 { b"{\"key\":" } else { b",{\"key\":" });
        json_text(&attribute.key, out);
        out.push(b',');
        content(attribute, out);
        if let Some(ns) = attribute.since_ns {
            out.extend_from_slice(b",\"since\":\"");
            time::write(ns, 0, "Z", out);
            out.push(b'"');
        }
        out.push(b'}');
    }
    out.push(b']');
}

impl Value<'_> {
    /// The value as the text that it is as a name; `None` for a list or a container.
    pub fn as_name(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::String(text) | Self::Id(text) => Some(Cow::Borrowed(text)),
            Self::List(_) | Self::Container => None,
            plain => Some(Cow::Owned(value_text(plain))),
        }
    }
}

/// A plain value as text: the text itself, RFC 3339, digits, `true` or `false`.
pub(crate) fn value_text(value: &Value<'_>) -> String {
    let mut out = Vec::new();
    match value {
        Value::String(text) | Value::Id(text) => return text.to_string(),
        Value::Time(ns) => time::write(*ns, 0, "Z", &mut out),
        Value::Integer(number) => integer(*number, &mut out),
        Value::Float(number) => double(*number, &mut out),
        Value::Boolean(truth) => return truth.to_string(),
        Value::List(_) | Value::Container => {}
    }
    // Only ASCII was written.
    String::from_utf8(out).unwrap_or_default()
}

/// Appends a plain value as JSON. Returns whether it could not be written as what it is: a number
/// that is not finite.
pub(crate) fn plain(value: &Value<'_>, out: &mut Vec<u8>) -> bool {
    match value {
        Value::String(text) | Value::Id(text) => json_text(text, out),
        Value::Time(ns) => {
            out.push(b'"');
            time::write(*ns, 0, "Z", out);
            out.push(b'"');
        }
        Value::Integer(number) => json(number, out),
        Value::Float(number) if number.is_finite() => json(number, out),
        Value::Float(number) => {
            json_text(not_finite(*number), out);
            return true;
        }
        Value::Boolean(truth) => out.extend_from_slice(if *truth { b"true" } else { b"false" }),
        Value::List(_) | Value::Container => out.extend_from_slice(b"null"),
    }
    false
}

/// Appends a text as JSON.
pub(crate) fn json_text(text: &str, out: &mut Vec<u8>) {
    json(text, out);
}

/// Appends what needs no fallible serialisation.
fn json<T: serde::Serialize + ?Sized>(value: &T, out: &mut Vec<u8>) {
    // Neither texts nor numbers can fail, nor can memory that grows.
    let _ = serde_json::to_writer(out, value);
}

/// Appends a number as XML Schema's `xs:double` writes it: `0.5`, `1e300`, `INF`, `NaN`.
pub(crate) fn double(number: f64, out: &mut Vec<u8>) {
    if number.is_finite() { json(&number, out) } else { out.extend_from_slice(not_finite(number).as_bytes()) }
}

/// Appends a whole number as JSON.
pub(crate) fn integer(number: i64, out: &mut Vec<u8>) {
    json(&number, out);
}

fn not_finite(number: f64) -> &'static str {
    if number.is_nan() {
        "NaN"
    } else if number > 0.0 {
        "INF"
    } else {
        "-INF"
    }
}

fn name(kind: ValueType) -> &'static str {
    match kind {
        ValueType::Id => "id",
        ValueType::List => "list",
        ValueType::Container => "container",
        plain => plain.ocel_name(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_in_the_text() {
        let mut file = Attribute::text("io:file", "/a \"b\"\n");
        file.children = vec![Attribute::integer("n", i64::MIN), Attribute::new("f", Value::Float(f64::NEG_INFINITY))];
        let files = Attribute::new("io:files", Value::List(vec![file, Attribute::new("c", Value::Container), Attribute::time("t", 1)]));
        assert!(is_nested(&files) && !is_nested(&Attribute::integer("n", 1)));
        let json: serde_json::Value = serde_json::from_str(&text(&files)).unwrap();
        let expected = serde_json::json!({"type": "list", "values": [
            {"key": "io:file", "type": "string", "value": "/a \"b\"\n", "children": [
                {"key": "n", "type": "integer", "value": i64::MIN}, {"key": "f", "type": "float", "value": "-INF"}]},
            {"key": "c", "type": "container"},
            {"key": "t", "type": "time", "value": "1970-01-01T00:00:00.000000001Z"}]});
        assert_eq!(json, expected);
    }
}

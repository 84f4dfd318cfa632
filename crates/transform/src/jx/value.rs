//! Values: JSON with places, and with known and bounded depth and size.

use std::fmt::Write;
use std::sync::Arc;

use super::bounds::{DEPTH, VALUE_SIZE};
use super::numbers;
use crate::error::{Fault, Place};

/// A value and where it comes from. Copies share their parts.
#[derive(Debug, Clone)]
pub struct Value {
    /// Place of the expression that it results from.
    pub at: Place,
    /// The value itself.
    pub data: Data,
    depth: u32,
    size: u64,
}

/// The kinds of values: those of JSON, with whole numbers apart.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub enum Data {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(Arc<str>),
    List(Arc<Vec<Value>>),
    /// In the order of writing; names differ.
    Object(Arc<Vec<(Arc<str>, Value)>>),
}

impl Value {
    /// A value that has no parts: its depth is 0.
    pub fn atom(at: Place, data: Data) -> Self {
        Self { at, data, depth: 0, size: 1 }
    }

    /// A value that is a whole number.
    pub fn int(at: Place, number: i64) -> Self {
        Self::atom(at, Data::Int(number))
    }

    /// A value that is a text; one that is too large is refused.
    pub fn text(at: Place, text: impl Into<Arc<str>>) -> Result<Self, Fault> {
        let text = text.into();
        let size = 1 + text.len() as u64;
        Self { at, data: Data::Text(text), depth: 0, size }.bounded()
    }

    /// A value that is a list; one that is too deep or too large is refused.
    pub fn list(at: Place, list: Vec<Value>) -> Result<Self, Fault> {
        let depth = 1 + list.iter().map(|v| v.depth).max().unwrap_or(0);
        let size = list.iter().fold(1u64, |sum, v| sum.saturating_add(v.size));
        Self { at, data: Data::List(Arc::new(list)), depth, size }.bounded()
    }

    /// An object; a name that comes twice is refused.
    pub fn object(at: Place, members: Vec<(Arc<str>, Value)>) -> Result<Self, Fault> {
        let mut names: Vec<&str> = members.iter().map(|(name, _)| &**name).collect();
        names.sort_unstable();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            let second = members.iter().rev().find(|(name, _)| &**name == pair[0]);
            return Err(Fault::new(second.map_or(at, |(_, v)| v.at), format!("“{}” is given twice in one object", pair[0])));
        }
        let depth = 1 + members.iter().map(|(_, v)| v.depth).max().unwrap_or(0);
        let size = members.iter().fold(1u64, |sum, (name, v)| sum.saturating_add(v.size).saturating_add(name.len() as u64));
        Self { at, data: Data::Object(Arc::new(members)), depth, size }.bounded()
    }

    fn bounded(self) -> Result<Self, Fault> {
        if self.depth > DEPTH {
            return Err(Fault::new(self.at, format!("lists and objects nest deeper than {DEPTH}")));
        }
        if self.size > VALUE_SIZE {
            return Err(Fault::new(self.at, format!("the value has more than {VALUE_SIZE} parts and bytes")));
        }
        Ok(self)
    }

    /// The same value, found at another place.
    pub fn found_at(self, at: Place) -> Self {
        Self { at, ..self }
    }

    /// Its parts and the bytes of its texts together.
    pub fn size(&self) -> usize {
        usize::try_from(self.size).unwrap_or(usize::MAX)
    }

    /// Returns the kind of the value, for messages.
    pub fn kind(&self) -> &'static str {
        match &self.data {
            Data::Null => "null",
            Data::Bool(_) => "true or false",
            Data::Int(_) | Data::Float(_) => "a number",
            Data::Text(_) => "a text",
            Data::List(_) => "a list",
            Data::Object(_) => "an object",
        }
    }

    /// A fault at this value.
    pub fn fault(&self, message: impl Into<String>) -> Fault {
        Fault::new(self.at, message)
    }

    /// The text, or a fault that says what `what` must be.
    pub fn as_text(&self, what: &str) -> Result<&str, Fault> {
        match &self.data {
            Data::Text(text) => Ok(text),
            _ => Err(self.fault(format!("{what} must be a text, and is {}", self.kind()))),
        }
    }

    /// The elements of a list; an error, which names `what`, when it is none.
    pub fn as_list(&self, what: &str) -> Result<&[Value], Fault> {
        match &self.data {
            Data::List(list) => Ok(list),
            _ => Err(self.fault(format!("{what} must be a list, and is {}", self.kind()))),
        }
    }

    /// The members of an object; an error, which names `what`, when it is none.
    pub fn as_object(&self, what: &str) -> Result<&[(Arc<str>, Value)], Fault> {
        match &self.data {
            Data::Object(members) => Ok(members),
            _ => Err(self.fault(format!("{what} must be an object, and is {}", self.kind()))),
        }
    }

    /// The value as true or false; an error, which names `what`, when it is neither.
    pub fn as_bool(&self, what: &str) -> Result<bool, Fault> {
        match &self.data {
            Data::Bool(value) => Ok(*value),
            _ => Err(self.fault(format!("{what} must be true or false, and is {}", self.kind()))),
        }
    }

    /// A member of an object; nothing where it is no object or has none of that name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        match &self.data {
            Data::Object(members) => members.iter().find(|(n, _)| &**n == name).map(|(_, v)| v),
            _ => None,
        }
    }

    /// Whether two values are the same, wherever they stand. A whole number is none with a point, and
    /// members have an order.
    pub fn same(&self, other: &Value) -> bool {
        match (&self.data, &other.data) {
            (Data::Null, Data::Null) => true,
            (Data::Bool(a), Data::Bool(b)) => a == b,
            (Data::Int(a), Data::Int(b)) => a == b,
            (Data::Float(a), Data::Float(b)) => a == b,
            (Data::Text(a), Data::Text(b)) => a == b,
            (Data::List(a), Data::List(b)) => a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| a.same(b)),
            (Data::Object(a), Data::Object(b)) => a.len() == b.len() && a.iter().zip(b.iter()).all(|((a, x), (b, y))| a == b && x.same(y)),
            _ => false,
        }
    }

    /// The value as JSON, on one line.
    pub fn to_json(&self) -> String {
        let mut out = String::new();
        self.write_json(&mut out);
        out
    }

    fn write_json(&self, out: &mut String) {
        match &self.data {
            Data::Null => out.push_str("null"),
            Data::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Data::Int(number) => {
                let _ = write!(out, "{number}");
            }
            Data::Float(number) if number.is_finite() => out.push_str(&numbers::written(*number)),
            Data::Float(_) => out.push_str("null"),
            Data::Text(text) => out.push_str(&quote_json(text)),
            Data::List(list) => {
                out.push('[');
                for (n, value) in list.iter().enumerate() {
                    out.push_str(if n == 0 { "" } else { "," });
                    value.write_json(out);
                }
                out.push(']');
            }
            Data::Object(members) => {
                out.push('{');
                for (n, (name, value)) in members.iter().enumerate() {
                    out.push_str(if n == 0 { "" } else { "," });
                    out.push_str(&quote_json(name));
                    out.push(':');
                    value.write_json(out);
                }
                out.push('}');
            }
        }
    }
}

/// A text as JSON writes it.
pub fn quote_json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

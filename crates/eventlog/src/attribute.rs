//! Attributes: a key, a typed value, and what hangs below it.

use std::borrow::Cow;

/// The type of a value. OCEL 2.0 knows the first five; XES all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ValueType {
    /// Text.
    String,
    /// A moment: UTC nanoseconds since 1970.
    Time,
    /// A whole number.
    Integer,
    /// A floating-point number.
    Float,
    /// True or false.
    Boolean,
    /// An identifier (XES).
    Id,
    /// Attributes in order (XES).
    List,
    /// Attributes without order (XES).
    Container,
}

impl ValueType {
    /// The word for it in OCEL 2.0; for what OCEL does not have, `string`.
    pub fn ocel_name(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Integer => "integer",
            Self::Float => "float",
            Self::Boolean => "boolean",
            Self::String | Self::Id | Self::List | Self::Container => "string",
        }
    }

    /// Returns the type that a type name of an OCEL file denotes. Tools for OCEL 1 write `date` and
    /// `int`.
    pub fn from_ocel_name(name: &str) -> Option<Self> {
        Some(match name {
            "string" => Self::String,
            "time" | "date" | "timestamp" => Self::Time,
            "integer" | "int" => Self::Integer,
            "float" | "real" | "double" => Self::Float,
            "boolean" | "bool" => Self::Boolean,
            _ => return None,
        })
    }
}

/// A value. What is not known has no attribute; there is no null.
#[derive(Debug, Clone, PartialEq)]
pub enum Value<'a> {
    /// Text.
    String(Cow<'a, str>),
    /// UTC nanoseconds since 1970.
    Time(i64),
    /// A whole number.
    Integer(i64),
    /// A floating-point number.
    Float(f64),
    /// True or false.
    Boolean(bool),
    /// An identifier (XES).
    Id(Cow<'a, str>),
    /// Attributes in order (XES).
    List(Vec<Attribute<'a>>),
    /// Its content is the attribute's children (XES).
    Container,
}

impl Value<'_> {
    /// The type of the value.
    pub fn kind(&self) -> ValueType {
        match self {
            Self::String(_) => ValueType::String,
            Self::Time(_) => ValueType::Time,
            Self::Integer(_) => ValueType::Integer,
            Self::Float(_) => ValueType::Float,
            Self::Boolean(_) => ValueType::Boolean,
            Self::Id(_) => ValueType::Id,
            Self::List(_) => ValueType::List,
            Self::Container => ValueType::Container,
        }
    }

    /// The same value with its text copied.
    pub fn into_owned(self) -> Value<'static> {
        match self {
            Self::String(text) => Value::String(Cow::Owned(text.into_owned())),
            Self::Id(text) => Value::Id(Cow::Owned(text.into_owned())),
            Self::Time(ns) => Value::Time(ns),
            Self::Integer(number) => Value::Integer(number),
            Self::Float(number) => Value::Float(number),
            Self::Boolean(truth) => Value::Boolean(truth),
            Self::List(items) => Value::List(items.into_iter().map(Attribute::into_owned).collect()),
            Self::Container => Value::Container,
        }
    }
}

/// An attribute of a log, a trace, an event or an object.
#[derive(Debug, Clone, PartialEq)]
pub struct Attribute<'a> {
    /// Its name: `concept:name`.
    pub key: Cow<'a, str>,
    /// Its value; its type is that of the attribute.
    pub value: Value<'a>,
    /// Since when an object has this value, in UTC nanoseconds since 1970; unknown or always when
    /// `None`, which OCEL writes as 1970-01-01.
    pub since_ns: Option<i64>,
    /// Attributes of the attribute (XES).
    pub children: Vec<Attribute<'a>>,
}

impl<'a> Attribute<'a> {
    /// An attribute without children that does not change.
    pub fn new(key: impl Into<Cow<'a, str>>, value: Value<'a>) -> Self {
        Self { key: key.into(), value, since_ns: None, children: Vec::new() }
    }

    /// An attribute with a text.
    pub fn text(key: impl Into<Cow<'a, str>>, value: impl Into<Cow<'a, str>>) -> Self {
        Self::new(key, Value::String(value.into()))
    }

    /// An attribute with a whole number.
    pub fn integer(key: impl Into<Cow<'a, str>>, value: i64) -> Self {
        Self::new(key, Value::Integer(value))
    }

    /// A moment in UTC nanoseconds since 1970.
    pub fn time(key: impl Into<Cow<'a, str>>, ns: i64) -> Self {
        Self::new(key, Value::Time(ns))
    }

    /// The same attribute, valid since a moment.
    pub fn since(mut self, ns: i64) -> Self {
        self.since_ns = Some(ns);
        self
    }

    /// The same attribute with its text copied.
    pub fn into_owned(self) -> Attribute<'static> {
        Attribute {
            key: Cow::Owned(self.key.into_owned()),
            value: self.value.into_owned(),
            since_ns: self.since_ns,
            children: self.children.into_iter().map(Attribute::into_owned).collect(),
        }
    }

    /// The first attribute of that key.
    pub fn find<'s>(attributes: &'s [Attribute<'a>], key: &str) -> Option<&'s Attribute<'a>> {
        attributes.iter().find(|attribute| attribute.key == key)
    }
}

//! Values of SQLite in, values of a log out, by the type that the column was declared with.

use rusqlite::types::ValueRef;

use crate::attribute::{Value, ValueType};
use crate::time;

/// What a column is for by its declared type, in capitals; nothing when the type says nothing.
pub(crate) fn declared(name: &str) -> Option<ValueType> {
    let has = |part: &str| name.contains(part);
    Some(if has("TIME") || has("DATE") {
        ValueType::Time
    } else if has("BOOL") {
        ValueType::Boolean
    } else if has("INT") {
        ValueType::Integer
    } else if has("REAL") || has("FLOA") || has("DOUB") || has("DEC") {
        ValueType::Float
    } else if has("CHAR") || has("TEXT") || has("CLOB") || has("STRING") {
        ValueType::String
    } else {
        return None;
    })
}

/// How a value was taken.
#[derive(Debug, PartialEq)]
pub(crate) enum Taken<'a> {
    /// There is no value: it is NULL.
    Absent,
    /// The value is of the declared type.
    Fits(Value<'a>),
    /// Kept in the type that it has, which is not the declared one.
    Differs(Value<'a>),
    /// Text with bytes that are no UTF-8, written as `\xNN`.
    NotUtf8(Value<'a>),
    /// Bytes that are not text; they cannot be kept.
    Bytes,
}

/// Takes a value as one of the type `wanted`, as far as it is one.
pub(crate) fn take(value: ValueRef<'_>, wanted: ValueType) -> Taken<'_> {
    match (value, wanted) {
        (ValueRef::Null, _) => Taken::Absent,
        (ValueRef::Blob(_), _) => Taken::Bytes,
        (ValueRef::Integer(number), ValueType::Boolean) if number == 0 || number == 1 => Taken::Fits(Value::Boolean(number == 1)),
        (ValueRef::Integer(number), ValueType::Float) if number.unsigned_abs() <= 1 << 53 => Taken::Fits(Value::Float(number as f64)),
        (ValueRef::Integer(number), ValueType::Integer) => Taken::Fits(Value::Integer(number)),
        (ValueRef::Integer(number), _) => Taken::Differs(Value::Integer(number)),
        (ValueRef::Real(number), ValueType::Float) => Taken::Fits(Value::Float(number)),
        (ValueRef::Real(number), _) => Taken::Differs(Value::Float(number)),
        (ValueRef::Text(bytes), _) => match std::str::from_utf8(bytes) {
            Ok(text) => take_text(text, wanted),
            Err(_) => Taken::NotUtf8(Value::String(flowmine_text::decode(bytes))),
        },
    }
}

fn take_text(text: &str, wanted: ValueType) -> Taken<'_> {
    let value = match wanted {
        ValueType::Time => time::parse(text).ok().map(Value::Time),
        ValueType::Boolean if text.eq_ignore_ascii_case("true") => Some(Value::Boolean(true)),
        ValueType::Boolean if text.eq_ignore_ascii_case("false") => Some(Value::Boolean(false)),
        // process_mining writes all values as text, and some do not become numbers in the column.
        ValueType::Float => text.parse().ok().map(Value::Float),
        ValueType::Integer => text.parse().ok().map(Value::Integer),
        ValueType::String => return Taken::Fits(Value::String(text.into())),
        _ => None,
    };
    value.map_or_else(|| Taken::Differs(Value::String(text.into())), Taken::Fits)
}

/// Type of a column with an uninformative declaration, inferred from the storage classes of its
/// values.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Seen {
    integers: bool,
    reals: bool,
    others: bool,
}

impl Seen {
    /// Notes the storage class of one more value; NULL has none.
    pub fn see(&mut self, value: ValueRef<'_>) {
        match value {
            ValueRef::Null => {}
            ValueRef::Integer(_) => self.integers = true,
            ValueRef::Real(_) => self.reals = true,
            ValueRef::Text(_) | ValueRef::Blob(_) => self.others = true,
        }
    }

    /// The narrowest type that all values have: whole number, floating-point number or text.
    pub fn kind(self) -> ValueType {
        match self {
            Self { others: false, reals: true, .. } => ValueType::Float,
            Self { others: false, integers: true, .. } => ValueType::Integer,
            _ => ValueType::String,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_several_tools() {
        for (name, kind) in [
            ("TEXT", ValueType::String),
            ("VARCHAR(20)", ValueType::String),
            ("BIGINT", ValueType::Integer),
            ("DOUBLE PRECISION", ValueType::Float),
            ("DATETIME", ValueType::Time),
            ("TIMESTAMP", ValueType::Time),
            ("BOOLEAN", ValueType::Boolean),
        ] {
            assert_eq!(declared(name), Some(kind), "{name}");
        }
        assert_eq!(declared(""), None);
        assert_eq!(declared("NUM"), None);
    }

    #[test]
    fn values_fit_or_are_kept_as_they_are() {
        let text = |text: &'static str| ValueRef::Text(text.as_bytes());
        for (value, wanted, taken) in [
            (ValueRef::Null, ValueType::Time, Taken::Absent),
            (text("1970-01-01 00:00:01"), ValueType::Time, Taken::Fits(Value::Time(1_000_000_000))),
            (text("soon"), ValueType::Time, Taken::Differs(Value::String("soon".into()))),
            (ValueRef::Integer(1), ValueType::Boolean, Taken::Fits(Value::Boolean(true))),
            (ValueRef::Integer(2), ValueType::Boolean, Taken::Differs(Value::Integer(2))),
            (text("False"), ValueType::Boolean, Taken::Fits(Value::Boolean(false))),
            (ValueRef::Integer(3), ValueType::Float, Taken::Fits(Value::Float(3.0))),
            (text("inf"), ValueType::Float, Taken::Fits(Value::Float(f64::INFINITY))),
            (ValueRef::Real(0.5), ValueType::Integer, Taken::Differs(Value::Float(0.5))),
            (ValueRef::Integer(7), ValueType::String, Taken::Differs(Value::Integer(7))),
            (ValueRef::Text(b"a\xff"), ValueType::String, Taken::NotUtf8(Value::String("a\\xff".into()))),
            (ValueRef::Blob(b"a"), ValueType::String, Taken::Bytes),
        ] {
            assert_eq!(take(value, wanted), taken);
        }
    }
}

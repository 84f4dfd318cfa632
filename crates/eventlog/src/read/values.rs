//! Values of OCEL as the type that is declared for them.
//!
//! In goes what a file has, in JSON a text, a number or a boolean, in XML always a text; out comes
//! a [`Value`] of the declared type, or the value as it is with what is odd about it. No digit is
//! lost: a number that 64 bits cannot hold is kept as text.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::attribute::{Attribute, Value, ValueType};
use crate::log::{TypeDef, Types};
use crate::read::input::Position;
use crate::read::{Finding, Limits, Severity, found, shown};
use crate::time::{self, NotATime};

/// What is odd about a value: how bad, the rule, and what was done.
pub(crate) type Oddity = (Severity, &'static str, &'static str);

/// The types of the attributes of the types.
// Trees, because whoever writes a file chooses the names, and with them what a hash table would be worth.
#[derive(Debug, Default)]
pub(crate) struct Declared {
    events: BTreeMap<String, BTreeMap<String, ValueType>>,
    objects: BTreeMap<String, BTreeMap<String, ValueType>>,
}

impl Declared {
    /// Adds a type. Gives false when there was one of that name or it has an attribute twice; what
    /// came first stays.
    pub(crate) fn add(&mut self, of_events: bool, one: &TypeDef) -> bool {
        let types = if of_events { &mut self.events } else { &mut self.objects };
        let mut new = !types.contains_key(&one.name);
        let attributes = types.entry(one.name.clone()).or_default();
        for (name, kind) in &one.attributes {
            if attributes.contains_key(name) {
                new = false;
            } else {
                attributes.insert(name.clone(), *kind);
            }
        }
        new
    }

    /// The declared type of an attribute.
    pub(crate) fn of(&self, of_events: bool, kind: &str, attribute: &str) -> Option<ValueType> {
        let types = if of_events { &self.events } else { &self.objects };
        types.get(kind)?.get(attribute).copied()
    }
}

/// The types of a file that declares none (OCEL 1.0), as the values show them.
#[derive(Debug, Default)]
pub(crate) struct Inferred {
    events: BTreeMap<String, BTreeMap<String, ValueType>>,
    objects: BTreeMap<String, BTreeMap<String, ValueType>>,
    bytes: usize,
}

impl Inferred {
    /// Notes a type, and an attribute of it with the type of a value that it has.
    ///
    /// # Errors
    /// Why there are too many of them.
    pub(crate) fn note(
        &mut self,
        of_events: bool,
        kind: &str,
        attribute: Option<(&str, ValueType)>,
        limits: &Limits,
    ) -> Result<(), String> {
        let types = if of_events { &mut self.events } else { &mut self.objects };
        let mut bytes = 0;
        // Asked first, so that no name is copied for nothing.
        if !types.contains_key(kind) {
            types.insert(kind.to_owned(), BTreeMap::new());
            bytes += EACH_BYTES + kind.len();
        }
        let count = types.len();
        let Some(attributes) = types.get_mut(kind) else { return Ok(()) };
        if let Some((name, of)) = attribute {
            match attributes.get_mut(name) {
                Some(known) => *known = common(*known, of),
                None => {
                    attributes.insert(name.to_owned(), of);
                    bytes += EACH_BYTES + name.len();
                }
            }
        }
        self.bytes += bytes;
        let (most, size) = (limits.definitions, limits.record_bytes);
        if count > most || attributes.len() > most || self.bytes > size {
            return Err(format!("more than {most} types, or attributes of one, or types that take more than {size} bytes"));
        }
        Ok(())
    }

    /// The types, in the order of their names.
    pub(crate) fn into_types(self) -> Types {
        let all = |types: BTreeMap<String, BTreeMap<String, ValueType>>| {
            types.into_iter().map(|(name, attributes)| TypeDef { name, attributes: attributes.into_iter().collect() }).collect()
        };
        Types { events: all(self.events), objects: all(self.objects) }
    }
}

/// The type that values of two types can both be read as.
fn common(one: ValueType, other: ValueType) -> ValueType {
    use ValueType::{Float, Integer, String};
    match (one, other) {
        _ if one == other => one,
        (Integer | Float, Integer | Float) => Float,
        _ => String,
    }
}

/// Whether a text says a day and a time of day: that is a time also where nothing declares it one.
pub(crate) fn looks_like_a_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    let at = |at: usize, of: &[u8]| bytes.get(at).is_some_and(|byte| of.contains(byte));
    bytes.len() >= 16
        && bytes.iter().take(4).all(u8::is_ascii_digit)
        && at(4, b"-")
        && at(7, b"-")
        && at(10, b"T ")
        && at(13, b":")
        && time::parse(text).is_ok()
}

/// What a type or attribute takes in memory besides its name, about.
pub(crate) const EACH_BYTES: usize = 100;

/// What a type takes in memory, about.
pub(crate) fn type_bytes(one: &TypeDef) -> usize {
    EACH_BYTES + one.name.len() + one.attributes.iter().map(|(name, _)| EACH_BYTES + name.len()).sum::<usize>()
}

/// What is odd about the word for a type.
pub(crate) fn about_type_name(word: &str, known: Option<ValueType>, attribute: &str, place: Position) -> Option<Finding> {
    let message = match known {
        None => format!("the attribute {} has the unknown type {}; it is read as string", shown(attribute), shown(word)),
        Some(known) if known.ocel_name() != word => {
            format!("the attribute {} has the type {}, which OCEL 2.0 calls {}", shown(attribute), shown(word), known.ocel_name())
        }
        Some(_) => return None,
    };
    Some(found(if known.is_some() { Severity::Warning } else { Severity::Error }, "unknown_value_type", place, message))
}

/// A moment, or the rule that its text breaks.
pub(crate) fn time(text: &str) -> Result<i64, &'static str> {
    time::parse(text).map_err(|error| match error {
        NotATime::Form => "not_a_time",
        NotATime::Range => "time_range",
    })
}

/// The value of a text.
pub(crate) fn from_text(text: Cow<'_, str>, declared: Option<ValueType>) -> (Value<'_>, Option<Oddity>) {
    let trimmed = text.trim_ascii();
    let odd = |rule| Some((Severity::Error, rule, "its value is not of the declared type; kept as text"));
    let (value, rule) = match declared {
        Some(ValueType::Time) => match time(&text) {
            Ok(ns) => (Value::Time(ns), None),
            Err(rule) => (Value::String(text), odd(rule)),
        },
        Some(ValueType::Integer) => match whole(trimmed) {
            Ok(number) => (Value::Integer(number), None),
            Err(rule) => (Value::String(text), odd(rule)),
        },
        Some(ValueType::Float) => match float(trimmed) {
            Ok(number) => (Value::Float(number), None),
            Err(rule) => (Value::String(text), odd(rule)),
        },
        Some(ValueType::Boolean) => match trimmed {
            _ if trimmed == "1" || trimmed.eq_ignore_ascii_case("true") => (Value::Boolean(true), None),
            _ if trimmed == "0" || trimmed.eq_ignore_ascii_case("false") => (Value::Boolean(false), None),
            _ => (Value::String(text), odd("not_a_boolean")),
        },
        _ => (Value::String(text), None),
    };
    (value, rule)
}

/// The value of a JSON number, as it is written.
pub(crate) fn from_number(text: &str, declared: Option<ValueType>) -> (Value<'_>, Option<Oddity>) {
    let as_text = |rule, message| (Value::String(text.into()), Some((Severity::Error, rule, message)));
    if matches!(text, "NaN" | "Infinity" | "-Infinity") {
        let oddity = (Severity::Error, "not_finite", "JSON has no such number; kept");
        return (float(text).map_or_else(|_| Value::String(text.into()), Value::Float), Some(oddity));
    }
    const RANGE: &str = "the number does not fit into 64 bits; kept as text";
    match declared {
        Some(ValueType::Float) => match float(text) {
            Ok(number) => (Value::Float(number), None),
            Err(rule) => as_text(rule, RANGE),
        },
        Some(ValueType::String) => {
            (Value::String(text.into()), Some((Severity::Warning, "value_type", "a number where text is declared; read as text")))
        }
        _ => {
            let oddity = match declared {
                None | Some(ValueType::Integer) => None,
                Some(_) => Some((Severity::Error, "value_type", "a number where another type is declared; kept as a number")),
            };
            match whole(text) {
                Ok(number) => (Value::Integer(number), oddity),
                Err("number_range") => as_text("number_range", RANGE),
                Err(_) => match float(text) {
                    // Tools that know only floating point write 3.0 for 3.
                    Ok(number) if declared == Some(ValueType::Integer) && number.fract() == 0.0 && number.abs() <= EXACT => {
                        (Value::Integer(number as i64), Some((Severity::Note, "whole_float", "an integer written with a fraction of zero")))
                    }
                    Ok(number) if declared == Some(ValueType::Integer) => (
                        Value::Float(number),
                        Some((Severity::Error, "value_type", "a fraction where an integer is declared; kept as a number")),
                    ),
                    Ok(number) => (Value::Float(number), oddity),
                    Err(rule) => as_text(rule, RANGE),
                },
            }
        }
    }
}

/// Up to here a floating-point number is a whole number and no other.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// The value of a JSON boolean.
pub(crate) fn from_boolean(truth: bool, declared: Option<ValueType>) -> (Value<'static>, Option<Oddity>) {
    match declared {
        None | Some(ValueType::Boolean) => (Value::Boolean(truth), None),
        Some(ValueType::String) => {
            let text = if truth { "true" } else { "false" };
            (Value::String(text.into()), Some((Severity::Warning, "value_type", "a boolean where text is declared; read as text")))
        }
        Some(_) => {
            (Value::Boolean(truth), Some((Severity::Error, "value_type", "a boolean where another type is declared; kept as a boolean")))
        }
    }
}

/// A whole number, or the rule that its text breaks.
pub(crate) fn whole(text: &str) -> Result<i64, &'static str> {
    text.parse().map_err(|error: std::num::ParseIntError| match error.kind() {
        std::num::IntErrorKind::PosOverflow | std::num::IntErrorKind::NegOverflow => "number_range",
        _ => "not_a_number",
    })
}

/// A floating-point number, or the rule that its text breaks.
pub(crate) fn float(text: &str) -> Result<f64, &'static str> {
    match text.parse::<f64>() {
        // Rust reads 1e999 as infinity.
        Ok(number) if number.is_infinite() && text.bytes().any(|byte| byte.is_ascii_digit()) => Err("number_range"),
        Ok(number) => Ok(number),
        Err(_) => Err("not_a_number"),
    }
}

/// A key that more than one of the attributes has.
pub(crate) fn first_duplicate<'k>(attributes: &'k [Attribute<'_>]) -> Option<&'k str> {
    if attributes.len() <= 16 {
        let mut rest = attributes;
        while let Some((one, after)) = rest.split_first() {
            if after.iter().any(|other| other.key == one.key) {
                return Some(&one.key);
            }
            rest = after;
        }
        return None;
    }
    let mut keys: Vec<&str> = attributes.iter().map(|attribute| attribute.key.as_ref()).collect();
    keys.sort_unstable();
    keys.windows(2).find_map(|pair| match pair {
        [one, other] if one == other => Some(*one),
        _ => None,
    })
}

//! Attributes as they are read, one after the other, before they are nested.

use std::ops::Range;

use crate::read::values;

/// An attribute, or the `<values>` of a list, before what hangs below it; that follows with a
/// higher level.
pub(super) struct Flat {
    pub level: usize,
    pub key: Range<usize>,
    pub value: FlatValue,
}

pub(super) enum FlatValue {
    String(Range<usize>),
    Id(Range<usize>),
    Time(i64),
    Integer(i64),
    Float(f64),
    Boolean(bool),
    List,
    Container,
    Missing,
    Values,
}

pub(super) fn typed(kind: &str, text: &str) -> Result<FlatValue, &'static str> {
    // The types of XML Schema collapse white space.
    let trimmed = text.trim_ascii();
    match kind {
        "date" => values::time(text).map(FlatValue::Time),
        "int" => values::whole(trimmed).map(FlatValue::Integer),
        "float" => values::float(trimmed).map(FlatValue::Float),
        _ if trimmed == "1" || trimmed.eq_ignore_ascii_case("true") => Ok(FlatValue::Boolean(true)),
        _ if trimmed == "0" || trimmed.eq_ignore_ascii_case("false") => Ok(FlatValue::Boolean(false)),
        _ => Err("not_a_boolean"),
    }
}

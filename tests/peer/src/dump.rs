//! Values in the form of a dump.

use std::io::{self, Write};

use chrono::{DateTime, FixedOffset};
use serde_json::Value;

/// UTC nanoseconds since 1970 as a decimal number; a time that does not fit as `out of range`.
pub fn time(time: &DateTime<FixedOffset>) -> String {
    time.timestamp_nanos_opt().map_or_else(|| "out of range".to_owned(), |ns| ns.to_string())
}

/// The shortest digits that give the number back, with an exponent: `1.5e0`; `NaN`, `inf`, `-inf`.
pub fn float(number: f64) -> String {
    format!("{number:e}")
}

/// One line.
pub fn line(value: &Value, out: &mut impl Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    out.write_all(b"\n")
}

/// Lines in the order of their text.
pub fn sorted(values: Vec<Value>) -> Vec<Value> {
    let mut keyed: Vec<(String, Value)> = values.into_iter().map(|value| (value.to_string(), value)).collect();
    keyed.sort_by(|a, b| a.0.cmp(&b.0));
    keyed.into_iter().map(|(_, value)| value).collect()
}

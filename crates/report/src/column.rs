//! Tables as columns: what a page stores of a table, and how.
//!
//! A text is stored once in a dictionary; its column has places in it. Numbers are whole multiples
//! of a unit and are stored as differences to the one before. Both make a table of jobs a third of
//! the size that rows of JSON have, and gzip does the rest. The script of the page reads a table
//! with `JSON.parse` and adds the differences up.

use flowmine_schema::text::visible;
use rustc_hash::FxHashMap;
use serde::Serialize;

/// The largest whole number that a number of JavaScript holds exactly.
const EXACT: i128 = 1 << 53;

/// What the values of a column are, for display, sums and CSV.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A text.
    Text,
    /// A number of things.
    Count,
    /// A moment, in microseconds since 1970.
    Time,
    /// A length of time, in microseconds.
    Duration,
    /// A number of bytes.
    Bytes,
    /// Hours of one core, in thousandths.
    CoreHours,
    /// A share, in thousandths.
    Share,
}

/// The values of a column.
#[derive(Debug, Clone, PartialEq)]
enum Values {
    Text { names: Vec<String>, places: Vec<Option<i128>> },
    Numbers(Vec<Option<i128>>),
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    name: &'static str,
    kind: Kind,
    values: Values,
}

impl Column {
    /// A column of texts; `None` is a value that is not known. Names become visible here.
    pub fn text<'t>(name: &'static str, texts: impl Iterator<Item = Option<&'t str>>) -> Self {
        let mut numbers: FxHashMap<&str, usize> = FxHashMap::default();
        let mut names = Vec::new();
        let places = texts.map(|text| {
            let text = text?;
            let place = *numbers.entry(text).or_insert_with(|| {
                names.push(visible(text).into_owned());
                names.len() - 1
            });
            Some(place as i128)
        });
        let places = places.collect();
        Self { name, kind: Kind::Text, values: Values::Text { names, places } }
    }

    /// A column of moments, from nanoseconds since 1970.
    pub fn time(name: &'static str, ns: impl Iterator<Item = Option<i64>>) -> Self {
        Self::numbers(name, Kind::Time, ns.map(|ns| ns.map(|ns| i128::from(ns.div_euclid(1000)))))
    }

    /// A column of lengths of time, from nanoseconds.
    pub fn duration(name: &'static str, ns: impl Iterator<Item = Option<i128>>) -> Self {
        Self::numbers(name, Kind::Duration, ns.map(|ns| ns.map(|ns| ns.div_euclid(1000))))
    }

    /// A column of core time, from nanoseconds of one core.
    pub fn core_hours(name: &'static str, ns: impl Iterator<Item = Option<i128>>) -> Self {
        Self::numbers(name, Kind::CoreHours, ns.map(|ns| ns.map(|ns| (ns + 1_800_000_000).div_euclid(3_600_000_000))))
    }

    /// A column of shares from 0 to 1.
    pub fn share(name: &'static str, shares: impl Iterator<Item = Option<f64>>) -> Self {
        let thousandths = shares.map(|share| share.filter(|share| share.is_finite()).map(|share| (share * 1000.0).round() as i128));
        Self::numbers(name, Kind::Share, thousandths)
    }

    /// A column of whole numbers. One that JavaScript cannot hold exactly becomes the nearest that
    /// it can.
    pub fn numbers(name: &'static str, kind: Kind, numbers: impl Iterator<Item = Option<i128>>) -> Self {
        Self { name, kind, values: Values::Numbers(numbers.map(|number| number.map(|number| number.clamp(-EXACT, EXACT))).collect()) }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        match &self.values {
            Values::Text { places: values, .. } | Values::Numbers(values) => values.len(),
        }
    }

    /// Whether no value is known.
    pub fn is_empty(&self) -> bool {
        match &self.values {
            Values::Text { places: values, .. } | Values::Numbers(values) => values.iter().all(Option::is_none),
        }
    }
}

/// A column as the page stores it.
#[derive(Serialize)]
struct Stored<'c> {
    name: &'c str,
    kind: Kind,
    /// The dictionary of a column of texts.
    #[serde(skip_serializing_if = "Option::is_none")]
    names: Option<&'c [String]>,
    /// The number by which differences are multiplied.
    unit: i128,
    /// Differences to the value before that is known, in units; null where none is known.
    differences: Vec<Option<i128>>,
}

impl<'c> Stored<'c> {
    fn new(column: &'c Column) -> Self {
        let (names, values, unit) = match &column.values {
            Values::Text { names, places } => (Some(&names[..]), places, 1),
            Values::Numbers(values) => (None, values, unit(values)),
        };
        let mut before = 0;
        let differences = values.iter().map(|value| {
            let value = (*value)? / unit;
            let difference = value - before;
            before = value;
            Some(difference)
        });
        let differences = differences.collect();
        Self { name: column.name, kind: column.kind, names, unit, differences }
    }
}

/// The largest power of ten that divides all values.
fn unit(values: &[Option<i128>]) -> i128 {
    let mut unit = 1;
    while unit < 1_000_000_000 && values.iter().flatten().all(|value| value % (unit * 10) == 0) {
        unit *= 10;
    }
    unit
}

/// Returns columns as JSON, as the page stores them. Columns without a known value are left out.
pub fn json(columns: &[Column]) -> serde_json::Result<Vec<u8>> {
    let stored: Vec<Stored<'_>> = columns.iter().filter(|column| !column.is_empty()).map(Stored::new).collect();
    serde_json::to_vec(&stored)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    /// Reads a column as the script does.
    fn read(stored: &Value) -> Vec<Value> {
        let (unit, mut sum) = (stored["unit"].as_i64().expect("a unit"), 0);
        let value = |difference: &Value| {
            let Some(difference) = difference.as_i64() else { return Value::Null };
            sum += difference;
            match stored.get("names") {
                Some(names) => names[sum as usize].clone(),
                None => Value::from(sum * unit),
            }
        };
        stored["differences"].as_array().expect("differences").iter().map(value).collect()
    }

    fn stored(column: Column) -> Value {
        let columns: Value = serde_json::from_slice(&json(&[column]).expect("JSON")).expect("JSON");
        columns[0].clone()
    }

    #[test]
    fn whole_seconds_are_stored_as_small_numbers() {
        let second = 1_000_000_000;
        let times = [Some(1_764_000_000 * second), None, Some(1_764_000_010 * second)];
        let stored = stored(Column::time("start", times.into_iter()));
        assert_eq!(stored["unit"], 10_000_000);
        assert_eq!(stored["differences"], serde_json::json!([176_400_000, null, 1]));
    }

    #[test]
    fn a_column_without_a_value_is_left_out() {
        let empty = Column::text("tag", [None, None].into_iter());
        assert_eq!(json(&[empty]).expect("JSON"), b"[]");
    }

    #[test]
    fn core_hours_are_rounded_to_thousandths() {
        let stored = stored(Column::core_hours("c", [Some(3_600_000_000_000), Some(1_800_000_000), Some(1_799_999_999)].into_iter()));
        assert_eq!(read(&stored), [1000, 1, 0].map(Value::from));
    }

    proptest! {
        #[test]
        fn texts_come_back(texts in proptest::collection::vec(proptest::option::of("[a-c</>\"\\\\]{0,3}"), 1..40)) {
            prop_assume!(texts.iter().any(Option::is_some));
            let stored = stored(Column::text("t", texts.iter().map(Option::as_deref)));
            let expected: Vec<Value> = texts.iter().map(|text| text.as_deref().map(visible).map_or(Value::Null, |text| Value::from(&*text))).collect();
            prop_assert_eq!(read(&stored), expected);
        }

        #[test]
        fn numbers_come_back(numbers in proptest::collection::vec(proptest::option::of(-(1i64 << 53)..=1i64 << 53), 1..40)) {
            prop_assume!(numbers.iter().any(Option::is_some));
            let stored = stored(Column::numbers("n", Kind::Count, numbers.iter().map(|number| number.map(i128::from))));
            prop_assert_eq!(read(&stored), numbers.iter().map(|number| number.map_or(Value::Null, Value::from)).collect::<Vec<_>>());
        }
    }
}

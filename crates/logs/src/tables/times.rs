//! Columns of times while they are read: dates as they are, and numbers, whose unit is one for the
//! whole table.
//!
//! Nothing says the unit of a number since 1970, so it is inferred from the largest number of all
//! time columns: below 10¹¹ seconds, below 10¹⁴ milliseconds, below 10¹⁷ microseconds, else
//! nanoseconds. Refused is a table in which a smaller number would be of 1990 to 2100 in a larger
//! unit: then no unit fits all. A number that 64 bits of nanoseconds cannot hold in the unit of its
//! own size is no time.

use std::ops::Range;

use flowmine_activity_log::UNKNOWN;

use super::columns::Faults;
use super::values;

/// A unit of time since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TimeUnit {
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Milliseconds,
    /// Microseconds.
    Microseconds,
    /// Nanoseconds.
    Nanoseconds,
}

impl TimeUnit {
    const ALL: [Self; 4] = [Self::Seconds, Self::Milliseconds, Self::Microseconds, Self::Nanoseconds];

    /// The unit in which a number of this size is a time from 1973 on.
    fn of_size(number: i64) -> Self {
        match number.unsigned_abs() {
            0..100_000_000_000 => Self::Seconds,
            100_000_000_000..100_000_000_000_000 => Self::Milliseconds,
            100_000_000_000_000..100_000_000_000_000_000 => Self::Microseconds,
            _ => Self::Nanoseconds,
        }
    }

    /// Its length in nanoseconds.
    fn ns(self) -> i64 {
        match self {
            Self::Seconds => 1_000_000_000,
            Self::Milliseconds => 1_000_000,
            Self::Microseconds => 1_000,
            Self::Nanoseconds => 1,
        }
    }

    /// Its name in the plural.
    pub fn name(self) -> &'static str {
        match self {
            Self::Seconds => "seconds",
            Self::Milliseconds => "milliseconds",
            Self::Microseconds => "microseconds",
            Self::Nanoseconds => "nanoseconds",
        }
    }

    /// A number of this unit as nanoseconds; what is finer is cut. `None` beyond 64 bits.
    fn to_ns(self, number: Number) -> Option<i64> {
        let part = i64::from(number.billionths) / (1_000_000_000 / self.ns());
        number.whole.checked_mul(self.ns())?.checked_add(part).filter(|&ns| ns != UNKNOWN)
    }
}

/// A decimal number. Both of its parts have its sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Number {
    /// What stands before the point.
    pub whole: i64,
    /// What stands behind it, to nine digits.
    pub billionths: i32,
}

/// 1990-01-01 and 2100-01-01 in seconds since 1970: numbers between are times of logs.
const PLAUSIBLE_S: Range<i64> = 631_152_000..4_102_444_800;

/// A number of a column and the place where it stands.
#[derive(Debug, Clone, Copy)]
struct Seen {
    number: i64,
    place: u64,
}

/// A column of times that is being read, value after value.
#[derive(Debug)]
pub struct TimesReading {
    /// Nanoseconds; of numbers what stands before the point.
    values: Vec<i64>,
    /// The rows with numbers.
    numbers: Vec<Range<usize>>,
    /// What stands behind the points of numbers; shorter than `values` where nothing does.
    billionths: Vec<i32>,
    largest: Option<Seen>,
    /// Of each unit the first number that is plausible in it, among those of its size.
    plausible: [Option<Seen>; 4],
    /// What a place is: `line` or `row`.
    place_word: &'static str,
    column: usize,
    /// Values that are no times.
    pub faults: Faults,
}

impl TimesReading {
    /// A column without values, by its place in the table from 0; places are lines or rows.
    pub fn new(column: usize, place_word: &'static str) -> Self {
        Self {
            values: Vec::new(),
            numbers: Vec::new(),
            billionths: Vec::new(),
            largest: None,
            plausible: [None; 4],
            place_word,
            column,
            faults: Faults::default(),
        }
    }

    /// A column of dates that were read elsewhere.
    pub fn of_dates(values: Vec<i64>, faults: Faults) -> Self {
        Self { values, faults, ..Self::new(0, "row") }
    }

    /// Takes the value of the next row.
    pub fn push(&mut self, text: &str, place: u64) {
        let trimmed = text.trim_ascii();
        if let Some(ns) = values::usual_date(trimmed) {
            self.values.push(ns);
        } else if values::is_missing(trimmed) {
            self.values.push(UNKNOWN);
        } else if let Some(number) = values::decimal(trimmed) {
            self.push_number(number, text, place);
        } else if let Some(ns) = values::date(trimmed) {
            self.values.push(ns);
        } else {
            self.push_fault(text, place);
        }
    }

    fn push_number(&mut self, number: Number, text: &str, place: u64) {
        let unit = TimeUnit::of_size(number.whole);
        if unit.to_ns(number).is_none() {
            return self.push_fault(text, place);
        }
        let seen = Seen { number: number.whole, place };
        if self.largest.is_none_or(|largest| largest.number.unsigned_abs() < number.whole.unsigned_abs()) {
            self.largest = Some(seen);
        }
        let plausible = &mut self.plausible[unit as usize];
        if plausible.is_none() && PLAUSIBLE_S.contains(&(number.whole / (1_000_000_000 / unit.ns()))) {
            *plausible = Some(seen);
        }
        let row = self.values.len();
        if number.billionths != 0 {
            self.billionths.resize(row, 0);
            self.billionths.push(number.billionths);
        }
        match self.numbers.last_mut() {
            Some(run) if run.end == row => run.end += 1,
            _ => self.numbers.push(row..row + 1),
        }
        self.values.push(number.whole);
    }

    fn push_fault(&mut self, text: &str, place: u64) {
        let (word, column) = (self.place_word, self.column + 1);
        self.faults.note(|| {
            let text: String = text.chars().take(60).collect();
            if word == "line" { format!("line {place}, column {column} has {text:?}") } else { format!("{word} {place} has {text:?}") }
        });
        self.values.push(UNKNOWN);
    }

    /// Whether some of its values are numbers.
    pub fn has_numbers(&self) -> bool {
        !self.numbers.is_empty()
    }

    fn shown(&self, seen: Seen) -> String {
        let (word, place, column) = (self.place_word, seen.place, self.column + 1);
        format!("{word} {place}, column {column} has {}", seen.number)
    }

    /// The times, numbers taken as of this unit.
    pub fn finish(mut self, unit: Option<TimeUnit>) -> (Vec<i64>, Faults) {
        let Some(unit) = unit else { return (self.values, self.faults) };
        for row in self.numbers.into_iter().flatten() {
            let billionths = self.billionths.get(row).copied().unwrap_or(0);
            self.values[row] = unit.to_ns(Number { whole: self.values[row], billionths }).unwrap_or(UNKNOWN);
        }
        (self.values, self.faults)
    }
}

/// The unit of the numbers in the time columns of a table, and how it was inferred.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InferredUnit {
    /// The unit.
    pub unit: TimeUnit,
    /// The number that decided, with its place.
    pub largest: String,
}

/// Infers the unit of the numbers in the time columns of a table; `None` where there are none.
///
/// # Errors
/// A sentence with two places when no unit fits all numbers.
pub fn infer(columns: &[&TimesReading]) -> Result<Option<InferredUnit>, String> {
    let largest = columns.iter().filter_map(|column| Some((column, column.largest?)));
    // Of several that are as large the first column has it.
    let Some((column, largest)) = largest.reduce(|a, b| if b.1.number.unsigned_abs() > a.1.number.unsigned_abs() { b } else { a }) else {
        return Ok(None);
    };
    let (unit, largest) = (TimeUnit::of_size(largest.number), column.shown(largest));
    for other in TimeUnit::ALL.into_iter().filter(|other| *other < unit) {
        if let Some((column, seen)) = columns.iter().find_map(|column| Some((column, column.plausible[other as usize]?))) {
            return Err(format!(
                "no unit fits all times that are numbers: by their sizes {} {}, and {largest} {}. Write the times as dates \
                 (2026-11-20T13:04:05Z), or name their unit with --timestamp-unit",
                column.shown(seen),
                other.name(),
                unit.name(),
            ));
        }
    }
    Ok(Some(InferredUnit { unit, largest }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn column(texts: &[&str]) -> TimesReading {
        let mut reading = TimesReading::new(2, "line");
        (2..).zip(texts).for_each(|(line, text)| reading.push(text, line));
        reading
    }

    fn times(texts: &[&str]) -> Result<Vec<i64>, String> {
        let column = column(texts);
        let unit = infer(&[&column])?.map(|inferred| inferred.unit);
        Ok(column.finish(unit).0)
    }

    #[test]
    fn one_unit_is_that_of_all_numbers() {
        const MS: i64 = 1_000_000;
        assert_eq!(times(&["9000000000", "200000000000", "0", "-5"]), Ok(vec![9_000_000_000 * MS, 200_000_000_000 * MS, 0, -5 * MS]));
        assert_eq!(times(&["1.5", "-0.25", "", "1970-01-01", "2"]), Ok(vec![1_500_000_000, -250_000_000, UNKNOWN, 0, 2_000_000_000]));
        assert_eq!(times(&["1795179770500.25"]), Ok(vec![1_795_179_770_500_250_000]));
        assert_eq!(times(&["1795179770500000.5", "1.5"]), Ok(vec![1_795_179_770_500_000_500, 1500]));
        let refused = times(&["1700000000", "1700000010000"]).unwrap_err();
        assert!(
            refused.contains("line 2, column 3 has 1700000000 seconds, and line 3, column 3 has 1700000010000 milliseconds"),
            "{refused}"
        );
    }

    #[test]
    fn start_and_end_have_one_unit() {
        let (start, end) = (column(&["5000000000"]), column(&["200000000000"]));
        let inferred = infer(&[&start, &end]).unwrap().unwrap();
        assert_eq!((inferred.unit, inferred.largest.as_str()), (TimeUnit::Milliseconds, "line 2, column 3 has 200000000000"));
        assert!(infer(&[&column(&["1700000000"]), &column(&["1700000010000"])]).is_err());
        assert_eq!(infer(&[&column(&["2026-01-01", ""])]), Ok(None));
    }

    #[test]
    fn what_does_not_fit_is_a_fault() {
        let column = column(&["99999999999", "1700000000"]);
        assert_eq!(column.faults.first, ["line 2, column 3 has \"99999999999\""]);
        assert_eq!(infer(&[&column]).unwrap().map(|inferred| inferred.unit), Some(TimeUnit::Seconds));
        assert_eq!(column.finish(Some(TimeUnit::Seconds)).0, [UNKNOWN, 1_700_000_000_000_000_000]);
    }

    proptest! {
        /// Whatever unit is taken, it is one: the order of numbers is that of times, and distances
        /// keep their proportion.
        #[test]
        fn times_are_proportional_to_numbers(numbers in prop::collection::vec(prop_oneof![-100..100i64, 0..5_000_000_000i64, 0..9_000_000_000_000i64], 1..12)) {
            let texts: Vec<String> = numbers.iter().map(i64::to_string).collect();
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            if let Ok(times) = times(&texts)
                && times.iter().all(|&time| time != UNKNOWN)
            {
                let factor = numbers.iter().zip(&times).find(|(number, _)| **number != 0).map_or(1, |(number, time)| time / number);
                prop_assert!([1, 1_000, 1_000_000, 1_000_000_000].contains(&factor));
                prop_assert!(numbers.iter().zip(&times).all(|(number, time)| number * factor == *time));
            }
        }
    }
}

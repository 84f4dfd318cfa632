//! Columns of times while they are read: dates and numbers. The order of day and month in dates,
//! and the unit of numbers, are inferred from the whole table.
//!
//! Nothing says the unit of a number since 1970, so it is inferred from the largest number of all
//! time columns: below 10¹¹ seconds, below 10¹⁴ milliseconds, below 10¹⁷ microseconds, else
//! nanoseconds. Refused is a table in which a smaller number would be of 1990 to 2100 in a larger
//! unit: then no unit fits all. A number that 64 bits of nanoseconds cannot hold in the unit of its
//! own size is no time.
//!
//! Two sorts of numbers are no count since 1970: where all are from 20,000 to 80,000 they are days
//! of spreadsheets (1954 to 2119), and where all have the digits of a date of 1990 to 2099
//! (20261120, 202611201304, 20261120130405) they are this date.

use std::ops::Range;

use chrono::format::{Item, Parsed, StrftimeItems, parse};
use chrono::{NaiveDate, NaiveTime};
use flowmine_activity_log::UNKNOWN;
use flowmine_eventlog::time::rfc3339;

use super::columns::Faults;
use super::dates::{self, Order};
use super::values;
use super::zone::Zone;

/// What a number that is a time counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TimeUnit {
    /// Seconds since 1970.
    Seconds,
    /// Milliseconds since 1970.
    Milliseconds,
    /// Microseconds since 1970.
    Microseconds,
    /// Nanoseconds since 1970.
    Nanoseconds,
    /// Days since 1899-12-30, as spreadsheets count them.
    Days,
    /// Nothing: its digits are those of a date (`20261120`, `202611201304`, `20261120130405`).
    Digits,
}

/// 1899-12-30 in days since 1970.
const SPREADSHEETS_BEGIN: i64 = -25_569;
const DAY_NS: i64 = 86_400_000_000_000;

impl TimeUnit {
    const SINCE_1970: [Self; 4] = [Self::Seconds, Self::Milliseconds, Self::Microseconds, Self::Nanoseconds];

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
            Self::Nanoseconds | Self::Digits => 1,
            Self::Days => DAY_NS,
        }
    }

    /// What the numbers are, as the end of a sentence.
    pub fn name(self) -> &'static str {
        match self {
            Self::Seconds => "seconds since 1970",
            Self::Milliseconds => "milliseconds since 1970",
            Self::Microseconds => "microseconds since 1970",
            Self::Nanoseconds => "nanoseconds since 1970",
            Self::Days => "days of a spreadsheet (from 1899-12-30 on)",
            Self::Digits => "the digits of dates",
        }
    }

    /// Whether its times are those of a calendar on a wall, which a zone moves.
    fn is_local(self) -> bool {
        matches!(self, Self::Days | Self::Digits)
    }

    /// A number of this unit as nanoseconds; what is finer is cut. `None` beyond 64 bits.
    fn to_ns(self, number: Number) -> Option<i64> {
        let ns = match self {
            Self::Days => days(number)?,
            Self::Digits => digits(number)?,
            _ => {
                let part = i64::from(number.billionths) / (1_000_000_000 / self.ns());
                number.whole.checked_mul(self.ns())?.checked_add(part)?
            }
        };
        (ns != UNKNOWN).then_some(ns)
    }
}

/// Days of a spreadsheet. They have few digits: seven are rounded to seconds, more to milliseconds.
fn days(number: Number) -> Option<i64> {
    let part = i64::from(number.billionths) * (DAY_NS / 1_000_000_000);
    let step = if number.billionths % 100 == 0 { 1_000_000_000 } else { 1_000_000 };
    let part = (part + step / 2).div_euclid(step) * step;
    number.whole.checked_add(SPREADSHEETS_BEGIN)?.checked_mul(DAY_NS)?.checked_add(part)
}

/// The date of which these are the digits.
fn digits(number: Number) -> Option<i64> {
    let (date, time) = match number.whole {
        _ if number.billionths != 0 => return None,
        date @ 10_000_000..100_000_000 => (date, 0),
        minutes @ 100_000_000_000..1_000_000_000_000 => (minutes / 10_000, minutes % 10_000 * 100),
        seconds @ 10_000_000_000_000..100_000_000_000_000 => (seconds / 1_000_000, seconds % 1_000_000),
        _ => return None,
    };
    let (year, month, day) = (date / 10_000, date / 100 % 100, date % 100);
    let (hour, minute, second) = (time / 10_000, time / 100 % 100, time % 100);
    let text = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
    (1990..2100).contains(&year).then(|| values::usual_date(&text))?
}

/// A decimal number. Both of its parts have its sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Number {
    /// What stands before the point.
    pub whole: i64,
    /// What stands behind it, to nine digits.
    pub billionths: i32,
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.billionths == 0 {
            return write!(f, "{}", self.whole);
        }
        let sign = if self.whole == 0 && self.billionths < 0 { "-" } else { "" };
        let digits = format!("{:09}", self.billionths.unsigned_abs());
        write!(f, "{sign}{}.{}", self.whole, digits.trim_end_matches('0'))
    }
}

/// The form of dates, where it is named.
#[derive(Debug, Clone, PartialEq)]
pub enum DateFormat {
    /// The day comes before the month.
    DayFirst,
    /// The month comes before the day.
    MonthFirst,
    /// A pattern as of `strftime`.
    Pattern(Vec<Item<'static>>),
}

impl DateFormat {
    /// Reads a form: `day-first`, `month-first` or a pattern such as `%d.%m.%Y %H:%M`.
    ///
    /// # Errors
    /// When the text is none.
    pub fn parse(text: &str) -> Result<Self, String> {
        match text {
            "day-first" => return Ok(Self::DayFirst),
            "month-first" => return Ok(Self::MonthFirst),
            _ => {}
        }
        let items = StrftimeItems::new(text).parse_to_owned();
        match items {
            Ok(items) if text.contains('%') => Ok(Self::Pattern(items)),
            _ => Err(format!("{text:?} is neither day-first nor month-first nor a pattern such as %d.%m.%Y %H:%M")),
        }
    }
}

/// A text of this pattern in nanoseconds, and whether it has a zone. Without a date it is a time of
/// 1970-01-01.
fn by_pattern(text: &str, items: &[Item<'static>]) -> Option<(i64, bool)> {
    let mut parsed = Parsed::new();
    parse(&mut parsed, text, items.iter()).ok()?;
    if let Ok(time) = parsed.to_datetime() {
        return Some((time.timestamp_nanos_opt()?, true));
    }
    let time = match (parsed.to_naive_datetime_with_offset(0), parsed.to_naive_date(), parsed.to_naive_time()) {
        (Ok(time), ..) => time,
        (_, Ok(date), _) => date.and_time(NaiveTime::MIN),
        (_, Err(_), Ok(time)) if !has_date_field(&parsed) => NaiveDate::default().and_time(time),
        _ => return None,
    };
    Some((time.and_utc().timestamp_nanos_opt()?, parsed.timestamp().is_some()))
}

/// Whether a part of a date was read.
fn has_date_field(parsed: &Parsed) -> bool {
    let of_year = parsed.year().or(parsed.year_mod_100()).or(parsed.isoyear()).or(parsed.isoyear_mod_100());
    let month_or_day = parsed.month().or(parsed.day()).or(parsed.ordinal()).or(parsed.quarter());
    let week = parsed.isoweek().or(parsed.week_from_sun()).or(parsed.week_from_mon());
    of_year.is_some() || month_or_day.or(week).is_some() || parsed.weekday().is_some()
}

/// Given properties of times; the others are inferred.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TimeRules {
    /// The unit of numbers.
    pub unit: Option<TimeUnit>,
    /// The form of dates.
    pub format: Option<DateFormat>,
    /// The zone of dates without one; else UTC.
    pub zone: Option<Zone>,
}

/// 1990-01-01 and 2100-01-01 in seconds since 1970: numbers between are times of logs.
const PLAUSIBLE_S: Range<i64> = 631_152_000..4_102_444_800;

/// 1954-10-03 and 2119-01-11 in days of spreadsheets.
const PLAUSIBLE_DAYS: Range<i64> = 20_000..80_000;

/// A number of a column and the place where it stands.
#[derive(Debug, Clone, Copy)]
struct Seen {
    number: Number,
    place: u64,
}

/// The first date of some form: its place, its text and its time.
#[derive(Debug, Clone)]
struct SeenDate {
    place: u64,
    text: String,
    ns: i64,
}

/// Rows of a column.
#[derive(Debug, Default)]
struct Rows(Vec<Range<usize>>);

impl Rows {
    fn push(&mut self, row: usize) {
        match self.0.last_mut() {
            Some(run) if run.end == row => run.end += 1,
            _ => self.0.push(row..row + 1),
        }
    }

    fn iter(&self) -> impl Iterator<Item = usize> {
        self.0.iter().cloned().flatten()
    }
}

/// The first dates of a column of each form that says something of its order.
#[derive(Debug, Default)]
struct Dates {
    day_first: Option<SeenDate>,
    month_first: Option<SeenDate>,
    either: Option<SeenDate>,
    /// The first date that is not as RFC 3339 has it.
    unusual: Option<SeenDate>,
    has_points: bool,
}

/// A column of times that is being read, value after value.
#[derive(Debug)]
pub struct TimesReading {
    rules: TimeRules,
    /// Nanoseconds; of numbers what stands before the point.
    values: Vec<i64>,
    /// The rows with numbers.
    numbers: Rows,
    /// What stands behind the points of numbers; shorter than `values` where nothing does.
    billionths: Vec<i32>,
    largest: Option<Seen>,
    smallest: Option<i64>,
    /// The first number with the digits of a date.
    digits: Option<Seen>,
    /// Whether the digits of all numbers are those of dates.
    are_digits: bool,
    /// Of each unit the first number that is plausible in it, among those of its size.
    plausible: [Option<Seen>; 4],
    dates: Dates,
    /// The rows in which the day, which is read first, can be the month.
    either: Rows,
    /// The rows with dates without a zone, where one is named for them.
    local: Rows,
    /// What a place is: `line` or `row`.
    place_word: &'static str,
    column: usize,
    /// Values that are no times.
    pub faults: Faults,
}

impl TimesReading {
    /// A column without values, by its place in the table from 0; places are lines or rows.
    pub fn new(column: usize, place_word: &'static str, rules: &TimeRules) -> Self {
        Self {
            rules: rules.clone(),
            values: Vec::new(),
            numbers: Rows::default(),
            billionths: Vec::new(),
            largest: None,
            smallest: None,
            digits: None,
            are_digits: true,
            plausible: [None; 4],
            dates: Dates::default(),
            either: Rows::default(),
            local: Rows::default(),
            place_word,
            column,
            faults: Faults::default(),
        }
    }

    /// A column of dates that were read elsewhere.
    pub fn of_dates(values: Vec<i64>, faults: Faults) -> Self {
        Self { values, faults, ..Self::new(0, "row", &TimeRules::default()) }
    }

    /// Takes the value of the next row.
    pub fn push(&mut self, text: &str, place: u64) {
        let trimmed = text.trim_ascii();
        if let Some(DateFormat::Pattern(items)) = &self.rules.format {
            match by_pattern(trimmed, items) {
                Some((ns, has_zone)) => self.push_date(ns, has_zone),
                None if values::is_missing(trimmed) => self.values.push(UNKNOWN),
                None => self.push_fault(text, place),
            }
        } else if let Some(ns) = values::usual_date(trimmed) {
            self.push_date(ns, self.rules.zone.is_some() && values::has_zone(trimmed));
        } else if values::is_missing(trimmed) {
            self.values.push(UNKNOWN);
        } else if let Some(number) = values::decimal(trimmed) {
            self.push_number(number, text, place);
        } else if let Some(ns) = values::date(trimmed) {
            self.push_date(ns, self.rules.zone.is_some() && values::has_zone(trimmed));
        } else if let Some(date) = dates::date(trimmed) {
            self.push_unusual(date, trimmed, place);
        } else {
            self.push_fault(text, place);
        }
    }

    /// Takes the value of the next row, with date and time of day in two texts. The second counts
    /// alone where it is a complete time.
    pub fn push_two(&mut self, date: &str, time: &str, place: u64) {
        let (day, clock) = (date.trim_ascii(), time.trim_ascii());
        let is_pattern = matches!(self.rules.format, Some(DateFormat::Pattern(_)));
        match (values::decimal(day), values::decimal(clock)) {
            (Some(day), Some(part)) if part.whole == 0 && day.billionths == 0 && !is_pattern => {
                self.push_number(Number { whole: day.whole, billionths: part.billionths }, date, place);
            }
            _ if values::is_missing(clock) => self.values.push(UNKNOWN),
            _ if is_pattern || dates::time_of_day(clock).is_some() => self.push(&format!("{day} {clock}"), place),
            _ => self.push(time, place),
        }
    }

    fn push_date(&mut self, ns: i64, has_zone: bool) {
        if !has_zone && self.rules.zone.is_some() {
            self.local.push(self.values.len());
        }
        self.values.push(ns);
    }

    fn push_unusual(&mut self, mut date: dates::Date, text: &str, place: u64) {
        match (&self.rules.format, date.order) {
            (Some(DateFormat::DayFirst), Order::MonthFirst) | (Some(DateFormat::MonthFirst), Order::DayFirst) => {
                return self.push_fault(text, place);
            }
            (Some(DateFormat::MonthFirst), Order::Either) => match dates::exchanged(date.ns) {
                Some(ns) => date.ns = ns,
                None => return self.push_fault(text, place),
            },
            (None, Order::Either) => self.either.push(self.values.len()),
            _ => {}
        }
        let seen = &mut self.dates;
        let first = |of: &mut Option<SeenDate>| {
            of.get_or_insert_with(|| SeenDate { place, text: shortened(text), ns: date.ns });
        };
        first(&mut seen.unusual);
        match date.order {
            Order::DayFirst => first(&mut seen.day_first),
            Order::MonthFirst => first(&mut seen.month_first),
            Order::Either => {
                first(&mut seen.either);
                seen.has_points |= date.has_points;
            }
            Order::Plain => {}
        }
        self.push_date(date.ns, date.has_zone);
    }

    fn push_number(&mut self, number: Number, text: &str, place: u64) {
        let unit = TimeUnit::of_size(number.whole);
        let is_date = TimeUnit::Digits.to_ns(number).is_some();
        let seen = Seen { number, place };
        if unit.to_ns(number).is_some() {
            if self.largest.is_none_or(|largest| largest.number.whole.unsigned_abs() < number.whole.unsigned_abs()) {
                self.largest = Some(seen);
            }
            self.smallest = Some(self.smallest.map_or(number.whole, |smallest| smallest.min(number.whole)));
            let plausible = &mut self.plausible[unit as usize];
            if plausible.is_none() && PLAUSIBLE_S.contains(&(number.whole / (1_000_000_000 / unit.ns()))) {
                *plausible = Some(seen);
            }
        } else if !is_date {
            return self.push_fault(text, place);
        }
        self.are_digits &= is_date;
        if is_date {
            self.digits.get_or_insert(seen);
        }
        let row = self.values.len();
        if number.billionths != 0 {
            self.billionths.resize(row, 0);
            self.billionths.push(number.billionths);
        }
        self.numbers.push(row);
        self.values.push(number.whole);
    }

    fn push_fault(&mut self, text: &str, place: u64) {
        let (word, column) = (self.place_word, self.column + 1);
        self.faults.note(|| {
            let text = shortened(text);
            if word == "line" { format!("line {place}, column {column} has {text:?}") } else { format!("{word} {place} has {text:?}") }
        });
        self.values.push(UNKNOWN);
    }

    /// Whether some of its values are numbers.
    pub fn has_numbers(&self) -> bool {
        !self.numbers.0.is_empty()
    }

    fn shown(&self, seen: Seen) -> String {
        format!("{} has {}", self.at(seen.place), seen.number)
    }

    fn shown_with_time(&self, seen: Seen, unit: TimeUnit) -> String {
        let moment = unit.to_ns(seen.number).map(|ns| format!(", which is {}", rfc3339(ns))).unwrap_or_default();
        format!("{}{moment}", self.shown(seen))
    }

    fn shown_date(&self, seen: &SeenDate) -> String {
        format!("{} has {:?}", self.at(seen.place), seen.text)
    }

    fn at(&self, place: u64) -> String {
        let (word, column) = (self.place_word, self.column + 1);
        format!("{word} {place}, column {column}")
    }

    /// The times, with numbers of this unit, and with the month first where the table decides so.
    pub fn finish(mut self, unit: Option<TimeUnit>, is_month_first: bool) -> (Vec<i64>, Faults) {
        if is_month_first {
            for row in self.either.iter() {
                // A day that can be a month has one in each month.
                self.values[row] = dates::exchanged(self.values[row]).unwrap_or(UNKNOWN);
            }
        }
        if let Some(unit) = unit {
            for row in self.numbers.iter() {
                let billionths = self.billionths.get(row).copied().unwrap_or(0);
                let number = Number { whole: self.values[row], billionths };
                self.values[row] = unit.to_ns(number).unwrap_or_else(|| {
                    self.faults.note(|| format!("row {} has {number}", row + 1));
                    UNKNOWN
                });
            }
        }
        if let Some(zone) = self.rules.zone {
            let numbers = self.numbers.iter().filter(|_| unit.is_some_and(TimeUnit::is_local));
            for row in self.local.iter().chain(numbers) {
                let local = self.values[row];
                if local == UNKNOWN {
                    continue;
                }
                self.values[row] = zone.to_utc(local).unwrap_or_else(|| {
                    let local = rfc3339(local);
                    self.faults
                        .note(|| format!("row {} has {}, which clocks skip in {}", row + 1, local.trim_end_matches('Z'), zone.name()));
                    UNKNOWN
                });
            }
        }
        (self.values, self.faults)
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(60).collect()
}

/// What numbers of the time columns of a table count, and how it was inferred.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InferredUnit {
    /// The unit.
    pub unit: TimeUnit,
    /// The number that decided, with its place and what time it is.
    pub largest: String,
}

/// Infers what the numbers in the time columns of a table count; `None` where there are none.
///
/// # Errors
/// A sentence with two places when no unit fits all numbers.
pub fn infer(columns: &[&TimesReading]) -> Result<Option<InferredUnit>, String> {
    if columns.iter().all(|column| column.are_digits)
        && let Some((column, seen)) = columns.iter().find_map(|column| Some((column, column.digits?)))
    {
        return Ok(Some(InferredUnit { unit: TimeUnit::Digits, largest: column.shown_with_time(seen, TimeUnit::Digits) }));
    }
    let largest = columns.iter().filter_map(|column| Some((column, column.largest?)));
    // Of several that are as large the first column has it.
    let Some((column, largest)) =
        largest.reduce(|a, b| if b.1.number.whole.unsigned_abs() > a.1.number.whole.unsigned_abs() { b } else { a })
    else {
        return Ok(None);
    };
    let smallest = columns.iter().filter_map(|column| column.smallest).min().unwrap_or_default();
    let are_days = PLAUSIBLE_DAYS.contains(&smallest) && PLAUSIBLE_DAYS.contains(&largest.number.whole);
    let unit = if are_days { TimeUnit::Days } else { TimeUnit::of_size(largest.number.whole) };
    let (number, largest) = (column.shown(largest), column.shown_with_time(largest, unit));
    for other in TimeUnit::SINCE_1970.into_iter().filter(|other| *other < unit && TimeUnit::SINCE_1970.contains(&unit)) {
        if let Some((column, seen)) = columns.iter().find_map(|column| Some((column, column.plausible[other as usize]?))) {
            let short = |unit: TimeUnit| unit.name().trim_end_matches(" since 1970");
            return Err(format!(
                "no unit fits all times that are numbers: by their sizes {} {}, and {number} {}. Write the times as dates \
                 (2026-11-20T13:04:05Z), or name their unit with --timestamp-unit",
                column.shown(seen),
                short(other),
                short(unit),
            ));
        }
    }
    Ok(Some(InferredUnit { unit, largest }))
}

/// The order of day and month in the dates of a table, and the form of these.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InferredDates {
    /// Whether dates that can be both have the month first.
    pub is_month_first: bool,
    /// How dates are read, in a sentence.
    pub sentence: String,
}

/// Infers how the dates of a table's time columns are written; `None` where all are as RFC 3339 has
/// them.
///
/// # Errors
/// A sentence with places when no order fits all dates, or when both fit.
pub fn infer_dates(columns: &[&TimesReading]) -> Result<Option<InferredDates>, String> {
    fn first<'c>(columns: &'c [&TimesReading], of: fn(&Dates) -> &Option<SeenDate>) -> Option<(&'c TimesReading, &'c SeenDate)> {
        columns.iter().find_map(|column| Some((*column, of(&column.dates).as_ref()?)))
    }
    let Some((column, unusual)) = first(columns, |dates| &dates.unusual) else { return Ok(None) };
    let is_asked = columns.iter().any(|column| column.rules.format.is_some());
    let (day, month) = (first(columns, |dates| &dates.day_first), first(columns, |dates| &dates.month_first));
    let either = first(columns, |dates| &dates.either);
    let has_points = columns.iter().any(|column| column.dates.has_points);
    let decided = |word: &str, (column, seen): (&TimesReading, &SeenDate)| {
        format!("dates have the {word} first, since {}, which is {}", column.shown_date(seen), rfc3339(seen.ns))
    };
    let (is_month_first, sentence) = match (day, month, either) {
        (Some(day), Some(month), _) => {
            return Err(format!(
                "no order of day and month fits all dates: {}, and {}. Name the form with --date-format",
                day.0.shown_date(day.1),
                month.0.shown_date(month.1)
            ));
        }
        (Some(day), None, _) => (false, decided("day", day)),
        (None, Some(month), _) => (true, decided("month", month)),
        (None, None, Some((column, seen))) if !is_asked => {
            let by_day = rfc3339(seen.ns);
            if !has_points {
                let by_month = dates::exchanged(seen.ns).map(rfc3339).unwrap_or_default();
                return Err(format!(
                    "no date decides whether the day or the month comes first: {}, which is {} or {}. Say it with \
                     --date-format day-first or --date-format month-first",
                    column.shown_date(seen),
                    &by_day[..10],
                    by_month.get(..10).unwrap_or_default()
                ));
            }
            (false, format!("dates have the day first, as where points separate numbers: {}, which is {by_day}", column.shown_date(seen)))
        }
        _ => (false, format!("dates are read by their form: {}, which is {}", column.shown_date(unusual), rfc3339(unusual.ns))),
    };
    Ok(Some(InferredDates { is_month_first, sentence }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn column(texts: &[&str]) -> TimesReading {
        let mut reading = TimesReading::new(2, "line", &TimeRules::default());
        (2..).zip(texts).for_each(|(line, text)| reading.push(text, line));
        reading
    }

    fn times(texts: &[&str]) -> Result<Vec<i64>, String> {
        let column = column(texts);
        let unit = infer(&[&column])?.map(|inferred| inferred.unit);
        Ok(column.finish(unit, false).0)
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
        assert_eq!(
            (inferred.unit, inferred.largest.as_str()),
            (TimeUnit::Milliseconds, "line 2, column 3 has 200000000000, which is 1976-05-03T19:33:20Z")
        );
        assert!(infer(&[&column(&["1700000000"]), &column(&["1700000010000"])]).is_err());
        assert_eq!(infer(&[&column(&["2026-01-01", ""])]), Ok(None));
    }

    #[test]
    fn what_does_not_fit_is_a_fault() {
        let column = column(&["99999999999", "1700000000"]);
        assert_eq!(column.faults.first, ["line 2, column 3 has \"99999999999\""]);
        assert_eq!(infer(&[&column]).unwrap().map(|inferred| inferred.unit), Some(TimeUnit::Seconds));
        assert_eq!(column.finish(Some(TimeUnit::Seconds), false).0, [UNKNOWN, 1_700_000_000_000_000_000]);
    }

    fn moments(texts: &[&str]) -> Result<(Vec<String>, Option<String>), String> {
        let column = column(texts);
        let unit = infer(&[&column])?.map(|inferred| inferred.unit);
        let dates = infer_dates(&[&column])?;
        let is_month_first = dates.as_ref().is_some_and(|dates| dates.is_month_first);
        let times = column.finish(unit, is_month_first).0.into_iter().map(rfc3339).collect();
        Ok((times, dates.map(|dates| dates.sentence)))
    }

    #[test]
    fn days_of_spreadsheets_and_digits_of_dates() {
        let (times, _) = moments(&["46082.625", "46082.708333", "46083"]).unwrap();
        assert_eq!(times, ["2026-03-01T15:00:00Z", "2026-03-01T17:00:00Z", "2026-03-02T00:00:00Z"]);
        let (times, _) = moments(&["20260301150000", "202603011700", "20260302"]).unwrap();
        assert_eq!(times, ["2026-03-01T15:00:00Z", "2026-03-01T17:00:00Z", "2026-03-02T00:00:00Z"]);
        // Seconds of a simulation begin before.
        assert_eq!(moments(&["0", "46082.5"]).unwrap().0, ["1970-01-01T00:00:00Z", "1970-01-01T12:48:02.500Z"]);
    }

    #[test]
    fn the_column_decides_the_order_of_day_and_month() {
        let (times, said) = moments(&["03/04/2026 08:00", "13/04/2026 08:00"]).unwrap();
        assert_eq!(times, ["2026-04-03T08:00:00Z", "2026-04-13T08:00:00Z"]);
        let expected = "dates have the day first, since line 3, column 3 has \"13/04/2026 08:00\", which is 2026-04-13T08:00:00Z";
        assert_eq!(said.as_deref(), Some(expected));
        let (times, _) = moments(&["03/04/2026 08:00", "04/13/2026 08:00"]).unwrap();
        assert_eq!(times, ["2026-03-04T08:00:00Z", "2026-04-13T08:00:00Z"]);
        assert_eq!(moments(&["03.04.2026", "04.04.2026"]).unwrap().0, ["2026-04-03T00:00:00Z", "2026-04-04T00:00:00Z"]);
        let refused = moments(&["04/04/2026", "03/04/2026"]).unwrap_err();
        assert!(refused.contains("line 3, column 3 has \"03/04/2026\", which is 2026-04-03 or 2026-03-04"), "{refused}");
        let refused = moments(&["13/04/2026", "04/13/2026"]).unwrap_err();
        assert!(refused.contains("line 2") && refused.contains("line 3"), "{refused}");
    }

    #[test]
    fn what_is_named_is_not_inferred() {
        let read = |rules: TimeRules, texts: &[&str]| {
            let mut reading = TimesReading::new(0, "line", &rules);
            (2..).zip(texts).for_each(|(line, text)| reading.push(text, line));
            infer_dates(&[&reading]).unwrap();
            let (times, faults) = reading.finish(rules.unit, false);
            (times.into_iter().map(|ns| if ns == UNKNOWN { "-".to_owned() } else { rfc3339(ns) }).collect::<Vec<_>>(), faults.count)
        };
        let format = |text: &str| TimeRules { format: Some(DateFormat::parse(text).unwrap()), ..TimeRules::default() };
        assert_eq!(
            read(format("month-first"), &["03/04/2026", "13/04/2026"]),
            (vec!["2026-03-04T00:00:00Z".to_owned(), "-".to_owned()], 1)
        );
        assert_eq!(read(format("day-first"), &["03/04/2026"]).0, ["2026-04-03T00:00:00Z"]);
        assert_eq!(
            read(format("%Y%d%m %H.%M"), &["20260304 08.15", "", "x"]),
            (vec!["2026-04-03T08:15:00Z".into(), "-".into(), "-".into()], 1)
        );
        // Times of day are of one day, but part of a date is no date.
        assert_eq!(read(format("%H:%M"), &["08:15", "9:05"]).0, ["1970-01-01T08:15:00Z", "1970-01-01T09:05:00Z"]);
        for (pattern, text) in [("%d.%m. %H:%M", "01.01. 08:15"), ("%a %H:%M", "Thu 08:15"), ("%y %H:%M", "70 08:15")] {
            assert_eq!(read(format(pattern), &[text]), (vec!["-".to_owned()], 1), "{pattern}");
        }
        let zone = Zone::named("Europe/Berlin");
        let rules = TimeRules { zone, unit: Some(TimeUnit::Days), ..TimeRules::default() };
        let texts = ["2026-07-01 12:00:00", "2026-07-01T12:00:00Z", "17 Jul 2026", "46082.5", "2026-03-29 02:30:00"];
        let expected = ["2026-07-01T10:00:00Z", "2026-07-01T12:00:00Z", "2026-07-16T22:00:00Z", "2026-03-01T11:00:00Z", "-"];
        assert_eq!(read(rules, &texts), (expected.map(str::to_owned).to_vec(), 1));
        assert!(DateFormat::parse("%Q").is_err() && DateFormat::parse("soon").is_err());
    }

    #[test]
    fn a_date_and_a_time_of_day_are_one_time() {
        let mut reading = TimesReading::new(0, "line", &TimeRules::default());
        for (date, time) in
            [("17.10.2026", "8:05"), ("2026-10-17", "08:05:01 PM"), ("46082", "0.5"), ("x", "2026-10-17T00:00:00Z"), ("17.10.2026", "")]
        {
            reading.push_two(date, time, 2);
        }
        let times: Vec<i64> = reading.finish(Some(TimeUnit::Days), false).0;
        let shown: Vec<String> = times[..4].iter().copied().map(rfc3339).collect();
        assert_eq!(shown, ["2026-10-17T08:05:00Z", "2026-10-17T20:05:01Z", "2026-03-01T12:00:00Z", "2026-10-17T00:00:00Z"]);
        assert_eq!(times[4], UNKNOWN);
    }

    proptest! {
        /// Whatever unit is taken, it is one: the order of numbers is that of times, and distances
        /// keep their proportion.
        #[test]
        fn times_are_proportional_to_numbers(numbers in prop::collection::vec(prop_oneof![-100..100i64, 0..5_000_000_000i64, 0..9_000_000_000_000i64], 1..12)) {
            let texts: Vec<String> = numbers.iter().map(i64::to_string).collect();
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let are_days = numbers.iter().all(|number| PLAUSIBLE_DAYS.contains(number));
            let are_digits = numbers.iter().all(|&whole| digits(Number { whole, billionths: 0 }).is_some());
            prop_assume!(!are_days && !are_digits);
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

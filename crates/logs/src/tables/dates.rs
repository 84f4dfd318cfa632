//! Dates as people and programs write them: numbers with `/`, `.` or `-` between them, names of
//! months, a time of day with AM or PM, a zone or none.
//!
//! Where a date is three numbers, a text alone often does not say which is the day
//! ([`Order::Either`]); the column decides. Two digits are a year of 1969 to 2068, as in POSIX.

use chrono::{Datelike, NaiveDate};

const SECOND_NS: i64 = 1_000_000_000;
const DAY_NS: i64 = 86_400 * SECOND_NS;

/// What a text says of the order of day and month.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// There is no choice: the month has a name, the year comes first, or both are the same number.
    Plain,
    /// The first number is the day, since the second is above 12.
    DayFirst,
    /// The first number is the month, since the second is above 12.
    MonthFirst,
    /// Both can be.
    Either,
}

/// A date and a time of day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Date {
    /// Nanoseconds since 1970, in UTC where there is a zone; of [`Order::Either`] with the day
    /// first.
    pub ns: i64,
    /// The order of day and month.
    pub order: Order,
    /// Whether the text has a zone.
    pub has_zone: bool,
    /// Whether points separate the numbers, as where the day comes first.
    pub has_points: bool,
}

/// Reads a date, with a time of day or without.
pub fn date(text: &str) -> Option<Date> {
    let mut rest = Rest(text.trim().as_bytes());
    rest.weekday();
    let calendar = rest.calendar()?;
    let (mut time, mut offset) = (0, None);
    let mut year = calendar.year;
    if rest.between() {
        time = rest.time_of_day()?;
        if year.is_none() {
            // `Mon Oct 17 08:00:00 2022`
            rest.spaces();
            year = rest.number(4, 4);
        }
        offset = rest.zone()?;
    }
    if !rest.0.is_empty() {
        return None;
    }
    let (day, month) = (calendar.day, calendar.month);
    let date = NaiveDate::from_ymd_opt(year? as i32, month as u32, day as u32)?;
    let days = i64::from(date.num_days_from_ce() - NaiveDate::default().num_days_from_ce());
    let ns = days.checked_mul(DAY_NS)?.checked_add(time)?.checked_sub(offset.unwrap_or(0))?;
    Some(Date { ns, order: calendar.order, has_zone: offset.is_some(), has_points: calendar.has_points })
}

/// Reads a time of day, in nanoseconds: `8:05`, `08:05:30.5`, `8:05 PM`.
pub fn time_of_day(text: &str) -> Option<i64> {
    let mut rest = Rest(text.trim().as_bytes());
    let time = rest.time_of_day()?;
    rest.0.is_empty().then_some(time)
}

/// A time with day and month exchanged; `None` where there is no such day.
pub fn exchanged(ns: i64) -> Option<i64> {
    let date = NaiveDate::from_epoch_days(i32::try_from(ns.div_euclid(DAY_NS)).ok()?)?;
    let other = NaiveDate::from_ymd_opt(date.year(), date.day(), date.month())?;
    let days = i64::from(other.num_days_from_ce() - date.num_days_from_ce());
    ns.checked_add(days.checked_mul(DAY_NS)?)
}

/// The days of a text.
struct Calendar {
    day: i64,
    month: i64,
    /// `None` where it comes behind the time of day.
    year: Option<i64>,
    order: Order,
    has_points: bool,
}

const MONTHS: [&str; 12] =
    ["january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"];
const WEEKDAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// The place of a name in a list, also of its first letters, at least three.
fn place(names: &[&str], word: &[u8]) -> Option<usize> {
    let word = std::str::from_utf8(word).ok()?.to_ascii_lowercase();
    (word.len() >= 3).then(|| names.iter().position(|name| name.starts_with(&word) || (word == "sept" && *name == "september")))?
}

fn year_of(digits: usize, number: i64) -> Option<i64> {
    match digits {
        4 => Some(number),
        2 => Some(if number < 69 { 2000 + number } else { 1900 + number }),
        _ => None,
    }
}

/// What of a text has not been read.
#[derive(Clone, Copy)]
struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    fn spaces(&mut self) -> bool {
        let rest = self.0.trim_ascii_start();
        let any = rest.len() < self.0.len();
        self.0 = rest;
        any
    }

    fn is(&mut self, byte: u8) -> bool {
        match self.0.split_first() {
            Some((&first, rest)) if first == byte => {
                self.0 = rest;
                true
            }
            _ => false,
        }
    }

    /// Reads a number of `least` to `most` digits.
    fn number(&mut self, least: usize, most: usize) -> Option<i64> {
        self.digits(least, most).map(|(_, number)| number)
    }

    fn digits(&mut self, least: usize, most: usize) -> Option<(usize, i64)> {
        let length = self.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if !(least..=most).contains(&length) {
            return None;
        }
        let (digits, rest) = self.0.split_at(length);
        self.0 = rest;
        Some((length, digits.iter().fold(0, |number, byte| number * 10 + i64::from(byte - b'0'))))
    }

    fn word(&mut self) -> &[u8] {
        let length = self.0.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let (word, rest) = self.0.split_at(length);
        self.0 = rest;
        word
    }

    /// Skips a name of a day, if there is one.
    fn weekday(&mut self) {
        let mut rest = *self;
        if place(&WEEKDAYS, rest.word()).is_some() {
            let _ = rest.is(b'.') || rest.is(b',');
            rest.spaces();
            *self = rest;
        }
    }

    /// What stands between the parts of a date: `/`, `.`, `-`, or spaces and commas.
    fn separator(&mut self) -> Option<u8> {
        if let Some((&byte @ (b'/' | b'.' | b'-'), rest)) = self.0.split_first() {
            self.0 = rest;
            // `17. October`
            return Some(if byte == b'.' && self.spaces() { b' ' } else { byte });
        }
        let comma = self.is(b',');
        (self.spaces() || comma).then_some(b' ')
    }

    fn month(&mut self) -> Option<i64> {
        place(&MONTHS, self.word()).map(|at| at as i64 + 1)
    }

    fn calendar(&mut self) -> Option<Calendar> {
        let named = |day, month, year| Calendar { day, month, year, order: Order::Plain, has_points: false };
        if self.0.first()?.is_ascii_alphabetic() {
            let month = self.month()?;
            self.separator()?;
            let day = self.number(1, 2)?;
            let mut rest = *self;
            // A time of day can come before the year.
            let year = rest.separator().and_then(|_| rest.number(4, 4)).filter(|_| rest.0.first() != Some(&b':'));
            if year.is_some() {
                *self = rest;
            }
            return Some(named(day, month, year));
        }
        let (length, first) = self.digits(1, 4)?;
        let separator = self.separator()?;
        if self.0.first()?.is_ascii_alphabetic() {
            let month = self.month()?;
            self.separator()?;
            let (other_length, other) = self.digits(1, 4)?;
            return match (length, other_length) {
                (4, 1 | 2) => Some(named(other, month, Some(first))),
                (1 | 2, _) => Some(named(first, month, Some(year_of(other_length, other)?))),
                _ => None,
            };
        }
        if separator == b' ' {
            return None;
        }
        let second = self.number(1, 2)?;
        if !self.is(separator) {
            return None;
        }
        let (third_length, third) = self.digits(1, 4)?;
        let has_points = separator == b'.';
        if length == 4 {
            let day = (third_length <= 2).then_some(third)?;
            return Some(Calendar { day, month: second, year: Some(first), order: Order::Plain, has_points });
        }
        if length > 2 {
            return None;
        }
        let year = Some(year_of(third_length, third)?);
        let (order, day, month) = match (first, second) {
            (13.., 1..=12) => (Order::DayFirst, first, second),
            (1..=12, 13..) => (Order::MonthFirst, second, first),
            (1..=12, 1..=12) if first == second => (Order::Plain, first, second),
            (1..=12, 1..=12) => (Order::Either, first, second),
            _ => return None,
        };
        Some(Calendar { day, month, year, order, has_points })
    }

    /// What stands between date and time of day. `false` at the end.
    fn between(&mut self) -> bool {
        let comma = self.is(b',');
        let spaces = self.spaces();
        if self.0.is_empty() {
            return false;
        }
        if !comma && !spaces {
            // ISO 8601 has a T, the logs of Apache a colon.
            let _ = self.is(b'T') || self.is(b't') || self.is(b':');
        }
        true
    }

    fn time_of_day(&mut self) -> Option<i64> {
        let mut hour = self.number(1, 2)?;
        let (mut minute, mut second, mut fraction) = (0, 0, 0);
        let is_clock = self.is(b':') || self.point();
        if is_clock {
            minute = self.number(2, 2)?;
            if self.is(b':') || self.point() {
                second = self.number(2, 2)?;
                if self.is(b'.') || self.is(b',') || self.is(b':') {
                    let (length, number) = self.digits(1, 9)?;
                    fraction = number * 10_i64.pow(9 - length as u32);
                }
            }
        }
        let half = self.half();
        match half {
            Some(is_afternoon) if (1..=12).contains(&hour) => hour = hour % 12 + if is_afternoon { 12 } else { 0 },
            Some(_) => return None,
            None if !is_clock => return None,
            None => {}
        }
        if hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        Some((hour * 3600 + minute * 60 + second) * SECOND_NS + fraction)
    }

    /// A point between hours, minutes and seconds: `08.30`.
    fn point(&mut self) -> bool {
        let mut rest = *self;
        let is_point = rest.is(b'.') && rest.number(2, 2).is_some();
        is_point && self.is(b'.')
    }

    /// AM or PM: whether it is the afternoon.
    fn half(&mut self) -> Option<bool> {
        let mut rest = *self;
        rest.spaces();
        let letter = rest.0.first()?.to_ascii_lowercase();
        rest.0 = &rest.0[1..];
        let point = rest.is(b'.');
        if !(rest.is(b'm') || rest.is(b'M')) || point && !rest.is(b'.') || rest.0.first().is_some_and(u8::is_ascii_alphanumeric) {
            return None;
        }
        let is_afternoon = match letter {
            b'a' => false,
            b'p' => true,
            _ => return None,
        };
        *self = rest;
        Some(is_afternoon)
    }

    /// The offset of a zone in nanoseconds; `Some(None)` where there is none.
    fn zone(&mut self) -> Option<Option<i64>> {
        self.spaces();
        let Some(&first) = self.0.first() else { return Some(None) };
        let sign = match first {
            b'+' => 1,
            b'-' => -1,
            _ => return matches!(self.word(), b"Z" | b"z" | b"UTC" | b"GMT").then_some(Some(0)),
        };
        self.0 = &self.0[1..];
        let (length, number) = self.digits(1, 4)?;
        let (hours, minutes) = match length {
            3 | 4 => (number / 100, number % 100),
            _ => (number, if self.is(b':') { self.number(2, 2)? } else { 0 }),
        };
        (hours < 24 && minutes < 60).then_some(Some(sign * (hours * 60 + minutes) * 60 * SECOND_NS))
    }
}

#[cfg(test)]
mod tests {
    use flowmine_eventlog::time::rfc3339;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn forms() {
        for (text, expected, order) in [
            ("17-10-2022 08:00:00", "2022-10-17T08:00:00Z", Order::DayFirst),
            ("10/17/2022 8:00", "2022-10-17T08:00:00Z", Order::MonthFirst),
            ("03/04/2022", "2022-04-03T00:00:00Z", Order::Either),
            ("04.04.22 08:00", "2022-04-04T08:00:00Z", Order::Plain),
            ("2022/10/17 08:00:00.123", "2022-10-17T08:00:00.123Z", Order::Plain),
            ("2022/10/17T08:00:00,5", "2022-10-17T08:00:00.500Z", Order::Plain),
            ("17 Oct 2022 08:00 PM", "2022-10-17T20:00:00Z", Order::Plain),
            ("17-OCT-22 12:05:00 a.m.", "2022-10-17T00:05:00Z", Order::Plain),
            ("Oct 17, 2022, 12:00 PM", "2022-10-17T12:00:00Z", Order::Plain),
            ("October 17 2022 8pm", "2022-10-17T20:00:00Z", Order::Plain),
            ("2022-Oct-17 08:00", "2022-10-17T08:00:00Z", Order::Plain),
            ("Mon, 17 Oct 2022 08:00:00 GMT", "2022-10-17T08:00:00Z", Order::Plain),
            ("Mon Oct 17 08:00:00 2022", "2022-10-17T08:00:00Z", Order::Plain),
            ("17/Oct/2022:08:00:00 +0200", "2022-10-17T06:00:00Z", Order::Plain),
            ("17. October 2022 08.30", "2022-10-17T08:30:00Z", Order::Plain),
            ("17.10.1969 08:00:00 -05:30", "1969-10-17T13:30:00Z", Order::DayFirst),
            ("Sept 1, 2022", "2022-09-01T00:00:00Z", Order::Plain),
            ("10/17/22 1:02:03 PM", "2022-10-17T13:02:03Z", Order::MonthFirst),
        ] {
            let read = date(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!((rfc3339(read.ns).as_str(), read.order), (expected, order), "{text}");
        }
        for text in [
            "",
            "soon",
            "17",
            "17-10",
            "30/02/2022",
            "13/13/2022",
            "17-10/2022",
            "17 10 2022",
            "2022/10/17 25:00",
            "17 Okt 2022",
            "Oct 17",
            "1.2.3",
            "10/17/2022 13:00 PM",
            "10/17/2022 8",
            "10/17/2022 08:00 CET",
            "10/17/2022 08:00 x",
            "17/10/222",
        ] {
            assert_eq!(date(text), None, "{text}");
        }
        assert_eq!(time_of_day("8:05:01.5 PM"), Some((20 * 3600 + 5 * 60 + 1) * SECOND_NS + SECOND_NS / 2));
        assert_eq!(time_of_day("17.10.2022"), None);
    }

    proptest! {
        #[test]
        fn nothing_panics(text in "[-0-9T:./ ZPMamOctJan,+]{0,30}") {
            date(&text);
            time_of_day(&text);
        }

        /// Each order reads what it writes.
        #[test]
        fn orders(day in 0..40_000i64, second in 0..86_400i64, separator in "[-/.]") {
            let ns = day * DAY_NS + second * SECOND_NS;
            let text = rfc3339(ns);
            let (year, month, of_month, clock) = (&text[..4], &text[5..7], &text[8..10], &text[11..19]);
            let day_first = date(&format!("{of_month}{separator}{month}{separator}{year} {clock}")).unwrap();
            let month_first = date(&format!("{month}{separator}{of_month}{separator}{year} {clock}")).unwrap();
            prop_assert_eq!(day_first.ns, ns);
            match month_first.order {
                Order::Plain | Order::MonthFirst => prop_assert_eq!(month_first.ns, ns),
                Order::Either => prop_assert_eq!(exchanged(month_first.ns), Some(ns)),
                Order::DayFirst => prop_assert!(false, "{} cannot be the day", month),
            }
        }
    }
}

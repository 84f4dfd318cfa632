//! Times: UTC nanoseconds since 1970-01-01 as `i64`, in and out of RFC 3339.
//!
//! The range of an `i64` is 1677 to 2262; times outside of it give `None`.

use std::fmt;

use chrono::{DateTime, Datelike, NaiveDate, SecondsFormat, Utc};

/// Number of nanoseconds in a second.
pub const SECOND_NS: i64 = 1_000_000_000;

/// Whole seconds since 1970 as nanoseconds, `None` when out of range.
pub fn from_seconds(seconds: i64) -> Option<i64> {
    seconds.checked_mul(SECOND_NS)
}

/// A length of time in seconds as nanoseconds, rounded: 8.2 seconds have no exact `f64`, and are
/// 8,200,000,000 ns. `None` for lengths below zero, and from 285 years on.
///
/// ```
/// assert_eq!(flowmine_schema::time::length_ns(8.2), Some(8_200_000_000));
/// ```
pub fn length_ns(seconds: f64) -> Option<i64> {
    (0.0..9e9).contains(&seconds).then(|| (seconds * SECOND_NS as f64).round() as i64)
}

/// RFC 3339 in UTC with as many fractional digits (0, 3, 6 or 9) as the value needs, so nothing is
/// cut.
pub fn rfc3339(ns: i64) -> String {
    DateTime::<Utc>::from_timestamp_nanos(ns).to_rfc3339_opts(SecondsFormat::AutoSi, true)
}

/// A time for people: `2026-11-20 13:04:05 UTC`.
pub fn human(ns: i64) -> String {
    DateTime::<Utc>::from_timestamp_nanos(ns).format("%Y-%m-%d %H:%M:%S UTC").to_string()
}

/// Reads RFC 3339 (`2026-11-20T13:04:05.5Z`, with any offset), a date and time without zone,
/// interpreted as UTC (`2026-11-20T13:04:05`, or with a space instead of `T`), a date (midnight
/// UTC), or seconds since 1970.
pub fn parse(text: &str) -> Option<i64> {
    let text = text.trim();
    if text.len() > 1 && text.bytes().all(|b| b.is_ascii_digit()) && text.len() <= 11 {
        return from_seconds(text.parse().ok()?);
    }
    if let Ok(time) = DateTime::parse_from_rfc3339(text) {
        return time.timestamp_nanos_opt();
    }
    for format in ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M"] {
        if let Ok(time) = chrono::NaiveDateTime::parse_from_str(text, format) {
            return time.and_utc().timestamp_nanos_opt();
        }
    }
    let date = chrono::NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()?;
    date.and_hms_opt(0, 0, 0)?.and_utc().timestamp_nanos_opt()
}

/// A day of the calendar in UTC, written `2026-11-20`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(NaiveDate);

impl Day {
    /// Returns the day of a moment.
    pub fn new(ns: i64) -> Self {
        Self(DateTime::<Utc>::from_timestamp_nanos(ns).date_naive())
    }

    /// Reads what [`Day`] displays, with a year from 0 to 9999 in four digits; everything else is
    /// `None`.
    pub fn parse(text: &str) -> Option<Self> {
        let day = NaiveDate::parse_from_str(text, "%Y-%m-%d").ok().map(Self)?;
        ((0..=9999).contains(&day.0.year()) && day.to_string() == text).then_some(day)
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.format("%Y-%m-%d"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let ns = 1_795_179_770_123_456_789;
        assert_eq!(rfc3339(ns), "2026-11-20T13:02:50.123456789Z");
        assert_eq!(parse(&rfc3339(ns)), Some(ns));
    }

    #[test]
    fn forms_that_people_type() {
        assert_eq!(parse("2026-11-20"), parse("2026-11-20T00:00:00Z"));
        assert_eq!(parse("2026-11-20 13:02"), parse("2026-11-20T14:02:00+01:00"));
        assert_eq!(parse("1795179770"), Some(1_795_179_770 * SECOND_NS));
        assert_eq!(parse("yesterday"), None);
    }

    #[test]
    fn every_moment_has_a_day_that_is_read_again() {
        assert_eq!(Day::new(parse("2026-11-20T23:59:59.999999999Z").unwrap()).to_string(), "2026-11-20");
        assert_eq!(Day::new(-1).to_string(), "1969-12-31");
        for ns in [i64::MIN, -1, 0, i64::MAX] {
            assert_eq!(Day::parse(&Day::new(ns).to_string()), Some(Day::new(ns)));
        }
        for other in ["2026-11-2", "2026-02-30", "+2026-11-20", " 2026-11-20", "2026-11-20 ", "12026-11-20", ""] {
            assert_eq!(Day::parse(other), None, "{other}");
        }
    }
}

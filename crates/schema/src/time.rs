//! Times: UTC nanoseconds since 1970-01-01 as `i64`, in and out of RFC 3339.
//!
//! The range of an `i64` is 1677 to 2262; what lies outside is refused as `None`.

use chrono::{DateTime, SecondsFormat, Utc};

/// Nanoseconds in a second.
pub const SECOND_NS: i64 = 1_000_000_000;

/// Whole seconds since 1970 as nanoseconds, `None` when out of range.
pub fn from_seconds(seconds: i64) -> Option<i64> {
    seconds.checked_mul(SECOND_NS)
}

/// RFC 3339 in UTC with as many fractional digits (0, 3, 6 or 9) as the value needs, so nothing is cut.
pub fn rfc3339(ns: i64) -> String {
    DateTime::<Utc>::from_timestamp_nanos(ns).to_rfc3339_opts(SecondsFormat::AutoSi, true)
}

/// A time for people: `2026-11-20 13:04:05 UTC`.
pub fn human(ns: i64) -> String {
    DateTime::<Utc>::from_timestamp_nanos(ns).format("%Y-%m-%d %H:%M:%S UTC").to_string()
}

/// Reads RFC 3339 (`2026-11-20T13:04:05.5Z`, with any offset), a date and time without zone taken as UTC
/// (`2026-11-20T13:04:05`, with a space instead of `T` as well), a date (midnight UTC), or seconds since 1970.
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
}

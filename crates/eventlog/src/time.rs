//! Times in the formats of logs: RFC 3339 written fast and without loss, and what logs of others
//! write, read.

use chrono::{DateTime, Datelike, NaiveDate, NaiveDateTime};

const DAY_S: i64 = 86_400;

/// Appends a moment (UTC nanoseconds since 1970) as `2026-11-20T13:04:05`, then as many fractional
/// digits as it needs (0, 3, 6 or 9, and at least `digits`), then `zone`.
pub fn write(ns: i64, digits: usize, zone: &str, out: &mut Vec<u8>) {
    write_with(ns, b'T', digits, zone, out);
}

/// The same with another character between date and time.
pub fn write_with(ns: i64, between: u8, digits: usize, zone: &str, out: &mut Vec<u8>) {
    let (seconds, fraction) = (ns.div_euclid(1_000_000_000), ns.rem_euclid(1_000_000_000));
    let (year, month, day) = civil(seconds.div_euclid(DAY_S));
    let second_of_day = seconds.rem_euclid(DAY_S);
    // The years of an i64 of nanoseconds, 1677 to 2262, have four digits.
    for (number, width, end) in [
        (year, 4, b'-'),
        (month, 2, b'-'),
        (day, 2, between),
        (second_of_day / 3600, 2, b':'),
        (second_of_day / 60 % 60, 2, b':'),
        (second_of_day % 60, 2, 0),
    ] {
        padded(number, width, out);
        if end != 0 {
            out.push(end);
        }
    }
    let needed = if fraction == 0 {
        0
    } else if fraction % 1_000_000 == 0 {
        3
    } else if fraction % 1_000 == 0 {
        6
    } else {
        9
    };
    match needed.max(digits) {
        0 => {}
        n => {
            out.push(b'.');
            padded(fraction / 10_i64.pow(9 - n.min(9) as u32), n.min(9), out);
        }
    }
    out.extend_from_slice(zone.as_bytes());
}

/// A moment as RFC 3339 in UTC, with nothing cut: `2026-11-20T13:04:05.5Z` has three digits, `…05Z`
/// none.
pub fn rfc3339(ns: i64) -> String {
    let mut out = Vec::with_capacity(30);
    write(ns, 0, "Z", &mut out);
    // Only ASCII was written.
    String::from_utf8(out).unwrap_or_default()
}

fn padded(mut number: i64, width: usize, out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + width, b'0');
    for place in out[start..].iter_mut().rev() {
        *place = b'0' + (number % 10) as u8;
        number /= 10;
    }
}

/// Year, month and day of a day since 1970 in the Gregorian calendar.
fn civil(days: i64) -> (i64, i64, i64) {
    // The days of an i64 of nanoseconds are all dates of chrono.
    let date = i32::try_from(days).ok().and_then(NaiveDate::from_epoch_days).unwrap_or_default();
    (i64::from(date.year()), i64::from(date.month()), i64::from(date.day()))
}

/// Why a text is no time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotATime {
    /// The text has none of the forms of a time that are read.
    Form,
    /// It is before 1677-09-21 or after 2262-04-11, which nanoseconds in 64 bits cannot count.
    Range,
}

/// Reads RFC 3339 with any offset, also written `+0100` or `+01`; the same with a space instead of
/// `T`; without a zone it is UTC; a date alone is its midnight, and the hour 24 the midnight at the
/// end of the day.
///
/// # Errors
/// When the text is no time or one that does not fit.
pub fn parse(text: &str) -> Result<i64, NotATime> {
    let text = text.trim_ascii();
    if let Some(ns) = usual(text.as_bytes()) {
        return Ok(ns);
    }
    // In XML Schema (dateTime, 3.3.7) a day can end with 24:00:00, which is the next one's midnight.
    if let (Some(day), Some(after)) = (text.get(..11), text.get(11..).and_then(|rest| rest.strip_prefix("24:00:00")))
        && !after.trim_start_matches(['.', '0']).starts_with(|next: char| next.is_ascii_digit())
    {
        let midnight = parse(&format!("{day}00:00:00{after}"))?;
        return midnight.checked_add(DAY_S * 1_000_000_000).ok_or(NotATime::Range);
    }
    unusual(text)
}

/// Reads what [`parse`] reads, in whatever form.
fn unusual(text: &str) -> Result<i64, NotATime> {
    let in_range = |ns: Option<i64>| ns.ok_or(NotATime::Range);
    if let Ok(time) = DateTime::parse_from_rfc3339(text) {
        return in_range(time.timestamp_nanos_opt());
    }
    for format in ["%Y-%m-%dT%H:%M:%S%.f%#z", "%Y-%m-%d %H:%M:%S%.f%#z", "%Y-%m-%d %H:%M:%S%.f %#z"] {
        if let Ok(time) = DateTime::parse_from_str(text, format) {
            return in_range(time.timestamp_nanos_opt());
        }
    }
    let plain = text.strip_suffix(" UTC").or(text.strip_suffix('Z')).unwrap_or(text);
    for format in ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M"] {
        if let Ok(time) = NaiveDateTime::parse_from_str(plain, format) {
            return in_range(time.and_utc().timestamp_nanos_opt());
        }
    }
    let date = NaiveDate::parse_from_str(text, "%Y-%m-%d").map_err(|_| NotATime::Form)?;
    in_range(date.and_hms_opt(0, 0, 0).and_then(|time| time.and_utc().timestamp_nanos_opt()))
}

/// Reads `2026-11-20T14:02:50`, then a fraction of up to nine digits or none, then `Z`, an offset
/// or nothing. What is not of this form, is no time of an ordinary day or does not fit is left to
/// the rest of [`parse`].
pub(crate) fn usual(text: &[u8]) -> Option<i64> {
    let number = |at: usize, digits: usize| {
        let digits = text.get(at..at + digits)?;
        digits.iter().try_fold(0, |number, byte| byte.is_ascii_digit().then(|| number * 10 + i64::from(byte - b'0')))
    };
    let is = |at: usize, byte: u8| text.get(at) == Some(&byte);
    if !(is(4, b'-') && is(7, b'-') && (is(10, b'T') || is(10, b' ')) && is(13, b':') && is(16, b':')) {
        return None;
    }
    let (year, month, day) = (number(0, 4)?, number(5, 2)?, number(8, 2)?);
    let (hour, minute, second) = (number(11, 2)?, number(14, 2)?, number(17, 2)?);
    let day = days_since_1970(year, month, day)?;
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let mut at = 19;
    let mut fraction = 0;
    if is(at, b'.') {
        let digits = text.get(at + 1..)?.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 || digits > 9 {
            return None;
        }
        fraction = number(at + 1, digits)? * 10_i64.pow(9 - digits as u32);
        at += 1 + digits;
    }
    let offset_s = match text.get(at..)? {
        [] | [b'Z'] => 0,
        [sign @ (b'+' | b'-'), _, _, b':', _, _] | [sign @ (b'+' | b'-'), _, _, _, _] => {
            let (hours, minutes) = (number(at + 1, 2)?, number(text.len() - 2, 2)?);
            if hours > 23 || minutes > 59 {
                return None;
            }
            (hours * 3600 + minutes * 60) * if *sign == b'-' { -1 } else { 1 }
        }
        _ => return None,
    };
    let seconds = day * DAY_S + hour * 3600 + minute * 60 + second - offset_s;
    seconds.checked_mul(1_000_000_000)?.checked_add(fraction)
}

/// The day since 1970 of a date of the Gregorian calendar, if there is such a day.
fn days_since_1970(year: i64, month: i64, day: i64) -> Option<i64> {
    let date = NaiveDate::from_ymd_opt(year.try_into().ok()?, month.try_into().ok()?, day.try_into().ok()?)?;
    Some(i64::from(date.to_epoch_days()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::{SecondsFormat, Utc};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_what_chrono_writes(ns in any::<i64>(), cut in 0..4u32) {
            let ns = ns - ns.rem_euclid(1000_i64.pow(cut));
            prop_assume!(ns > i64::MIN / 2 || cut == 0);
            let theirs = DateTime::<Utc>::from_timestamp_nanos(ns).to_rfc3339_opts(SecondsFormat::AutoSi, true);
            prop_assert_eq!(rfc3339(ns), theirs);
            prop_assert_eq!(parse(&rfc3339(ns)), Ok(ns));
        }
    }

    proptest! {
        /// The short way says what the long way says, or nothing.
        #[test]
        fn the_usual_form_is_read_as_the_others(text in "[0-3][0-9][0-9]{2}-[01][0-9]-[0-3][0-9][T ][0-2][0-9]:[0-6][0-9]:[0-6][0-9](\\.[0-9]{0,10})?(Z|[+-][0-2][0-9]:?[0-6][0-9]|[+-][0-9]{2})?") {
            if let Some(ns) = usual(text.as_bytes()) {
                prop_assert_eq!(unusual(&text), Ok(ns));
            }
        }

        #[test]
        fn days_go_both_ways(day in -200_000..200_000_i64) {
            let (year, month, date) = civil(day);
            prop_assert_eq!(days_since_1970(year, month, date), Some(day));
        }
    }

    #[test]
    fn forms_of_others() {
        let time = Ok(1_795_179_770_500_000_000);
        for text in [
            "2026-11-20T13:02:50.5Z",
            "2026-11-20T14:02:50.500+01:00",
            "2026-11-20T14:02:50.500+0100",
            "2026-11-20 13:02:50.500000",
            "2026-11-20 13:02:50.5 UTC",
            "2026-11-20 14:02:50.5+01:00",
            " 2026-11-20T13:02:50.500 ",
        ] {
            assert_eq!(parse(text), time, "{text}");
        }
        assert_eq!(parse("2026-11-19T24:00:00.000+01:00"), parse("2026-11-20T00:00:00+01:00"));
        for text in ["2026-11-19T24:00:01", "2026-11-19T24:00:00.5", "2026-11-19T25:00:00", "2026-11-31T24:00:00"] {
            assert_eq!(parse(text), Err(NotATime::Form), "{text}");
        }
        assert_eq!(parse("9999-12-31T00:00:00Z"), Err(NotATime::Range));
        assert_eq!(parse("soon"), Err(NotATime::Form));
        let mut out = Vec::new();
        write(0, 3, "+00:00", &mut out);
        assert_eq!(out, b"1970-01-01T00:00:00.000+00:00");
        let offset = |ns| {
            let mut out = Vec::new();
            write(ns, 3, "+00:00", &mut out);
            String::from_utf8(out).unwrap()
        };
        let ns = 1_795_179_770_123_456_789;
        assert_eq!(parse(&offset(ns)), Ok(ns));
        assert_eq!(offset(5_000_000_000), "1970-01-01T00:00:05.000+00:00");
    }
}

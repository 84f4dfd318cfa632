//! Times and numbers out of text.

use flowmine_eventlog::time::parse as parse_time;

use super::times::Number;

/// A time that is no number: RFC 3339 with `T` or a space, with a zone (`Z`, `UTC`, `+01:00`,
/// `+0100`, `+01`) or without (then it is UTC), without seconds, or a date alone.
pub fn date(text: &str) -> Option<i64> {
    let text = text.trim_ascii();
    usual_date(text).or_else(|| parse_time(text).ok())
}

/// Whether a date of RFC 3339 or its relatives has a zone.
pub fn has_zone(text: &str) -> bool {
    text.get(10..).is_some_and(|clock| clock.ends_with(['Z', 'z']) || clock.ends_with("UTC") || clock.contains(['+', '-']))
}

/// A decimal number of up to 19 digits, with a fraction or without; what is finer than a billionth
/// is cut. The fraction may stand behind a comma, unless its three digits can be thousands.
pub fn decimal(text: &str) -> Option<Number> {
    let (sign, plain) = text.strip_prefix('-').map_or((1, text), |plain| (-1, plain));
    let comma = || plain.split_once(',').filter(|(_, fraction)| fraction.len() != 3);
    let (whole, fraction) = plain.split_once('.').or_else(comma).unwrap_or((plain, ""));
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || whole.len() > 19 || !are_digits(whole) || !are_digits(fraction) {
        return None;
    }
    let mut part = 1_000_000_000;
    let billionths = fraction.bytes().fold(0, |sum, digit| {
        part /= 10;
        sum + part * i32::from(digit - b'0')
    });
    Some(Number { whole: sign * whole.parse::<i64>().ok()?, billionths: sign as i32 * billionths })
}

/// A whole number, also written as `12.0`.
pub fn number(text: &str) -> Option<i64> {
    let text = text.trim_ascii();
    text.parse().ok().or_else(|| {
        let (whole, fraction) = text.split_once('.')?;
        fraction.bytes().all(|digit| digit == b'0').then(|| whole.parse().ok())?
    })
}

/// A number of seconds in nanoseconds, with a fraction or without.
pub fn seconds(text: &str) -> Option<i64> {
    let Number { whole, billionths } = decimal(text.trim_ascii())?;
    whole.checked_mul(1_000_000_000)?.checked_add(billionths.into())
}

/// Returns whether the text represents a missing number or time in tables of pandas and R.
pub fn is_missing(text: &str) -> bool {
    matches!(text, "" | "NA" | "NaN" | "nan" | "NaT" | "null" | "NULL" | "None" | "<NA>")
}

fn digits(bytes: &[u8]) -> Option<i64> {
    bytes.iter().try_fold(0i64, |sum, byte| byte.is_ascii_digit().then(|| 10 * sum + i64::from(byte - b'0')))
}

/// The forms that nearly all tables have: `2026-11-20T13:04:05`, a fraction of up to nine digits,
/// `Z` or `+01:00`.
pub fn usual_date(text: &str) -> Option<i64> {
    let text = text.as_bytes();
    let (head, mut rest) = text.split_at_checked(19)?;
    if head[4] != b'-' || head[7] != b'-' || !matches!(head[10], b'T' | b' ') || head[13] != b':' || head[16] != b':' {
        return None;
    }
    let number = |from: usize, to: usize| digits(&head[from..to]);
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days_of_month = match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    // Leap seconds are left to the reader that knows them.
    if !(1..=days_of_month).contains(&day) || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let mut fraction = 0;
    if let Some(after) = rest.strip_prefix(b".") {
        let length = after.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if !(1..=9).contains(&length) {
            return None;
        }
        fraction = digits(&after[..length])? * 10i64.pow(9 - length as u32);
        rest = &after[length..];
    }
    let offset = match rest {
        b"" | b"Z" => 0,
        [sign @ (b'+' | b'-'), hour @ .., b':', m1, m2] if hour.len() == 2 => {
            let (hours, minutes) = (digits(hour)?, digits(&[*m1, *m2])?);
            if hours > 23 || minutes > 59 {
                return None;
            }
            (3600 * hours + 60 * minutes) * if *sign == b'-' { -1 } else { 1 }
        }
        _ => return None,
    };
    // Years begin in March here, so that the leap day is the last of its year.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + (153 * month + 2) / 5 + day - 1 - 719_468;
    let seconds = 86_400 * days + 3600 * hour + 60 * minute + second - offset;
    seconds.checked_mul(1_000_000_000)?.checked_add(fraction)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn forms() {
        let at = Some(1_795_179_770_500_000_000);
        for text in [
            "2026-11-20T13:02:50.5Z",
            "2026-11-20 13:02:50.500000",
            "2026-11-20T14:02:50.5+01:00",
            "2026-11-20T12:32:50.5-00:30",
            "2026-11-20 13:02:50.5 UTC",
            "2026-11-20 14:02:50.5+0100",
        ] {
            assert_eq!(date(text), at, "{text}");
        }
        assert_eq!(date("1900-02-28"), date("1900-02-28T00:00:00"));
        for text in [
            "",
            "soon",
            "2026-02-30T00:00:00",
            "2026-13-01 00:00:00",
            "1.2.3",
            "12:00",
            "9999-01-01T00:00:00",
            "1e9",
            "99999999999999999999",
        ] {
            assert_eq!((date(text), decimal(text)), (None, None), "{text}");
        }
        for (text, whole, billionths) in [
            ("1795179770.5", 1_795_179_770, 500_000_000),
            ("-1.0000000019", -1, -1),
            ("-0.5", 0, -500_000_000),
            ("9223372036854775807", i64::MAX, 0),
        ] {
            assert_eq!(decimal(text), Some(Number { whole, billionths }), "{text}");
        }
        assert_eq!((number(" 12.0"), number("1.5"), number("9223372036854775808"), number("-3")), (Some(12), None, None, Some(-3)));
    }

    proptest! {
        #[test]
        fn the_fast_way_is_the_slow_way(ns in any::<i64>(), cut in 0..4u32) {
            let ns = ns - ns.rem_euclid(1000_i64.pow(cut));
            prop_assume!(ns > i64::MIN / 2 || cut == 0);
            let text = flowmine_eventlog::time::rfc3339(ns);
            prop_assert_eq!(date(&text), Some(ns).filter(|&ns| ns != i64::MIN).or(Some(ns)));
            prop_assert!(usual_date(&text).is_none_or(|fast| fast == ns));
        }

        #[test]
        fn nothing_panics(text in "[-0-9T:. Z+UC]{0,30}") {
            let slow = parse_time(text.trim_ascii());
            if let (Some(fast), Ok(slow)) = (usual_date(text.trim_ascii()), slow) {
                prop_assert_eq!(fast, slow);
            }
            date(&text);
            decimal(text.trim_ascii());
            number(&text);
        }
    }
}

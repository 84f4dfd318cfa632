//! Times and numbers out of text.

use flowmine_eventlog::time::parse as parse_time;

/// A time: RFC 3339 with `T` or a space, with a zone (`Z`, `UTC`, `+01:00`, `+0100`, `+01`) or
/// without (then it is UTC), without seconds, a date alone; or a number since 1970: seconds with a
/// fraction or not, and with 12 to 14 digits milliseconds, with 15 to 17 microseconds, with 18 or
/// 19 nanoseconds.
pub fn time(text: &str) -> Option<i64> {
    let text = text.trim_ascii();
    usual(text.as_bytes()).or_else(|| parse_time(text).ok()).or_else(|| since_1970(text))
}

/// A whole number, also written as `12.0`.
pub fn number(text: &str) -> Option<i64> {
    let text = text.trim_ascii();
    text.parse().ok().or_else(|| {
        let (whole, fraction) = text.split_once('.')?;
        fraction.bytes().all(|digit| digit == b'0').then(|| whole.parse().ok())?
    })
}

/// Whether text stands for a missing number or time in the tables of pandas and R.
pub fn is_missing(text: &str) -> bool {
    matches!(text, "" | "NA" | "NaN" | "nan" | "NaT" | "null" | "NULL" | "None" | "<NA>")
}

fn digits(bytes: &[u8]) -> Option<i64> {
    bytes.iter().try_fold(0i64, |sum, byte| byte.is_ascii_digit().then(|| 10 * sum + i64::from(byte - b'0')))
}

/// The forms that nearly all tables have: `2026-11-20T13:04:05`, a fraction of up to nine digits,
/// `Z` or `+01:00`.
fn usual(text: &[u8]) -> Option<i64> {
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

fn since_1970(text: &str) -> Option<i64> {
    let (sign, plain) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text),
    };
    let (whole, fraction) = plain.split_once('.').unwrap_or((plain, ""));
    if whole.is_empty() || whole.len() > 19 || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let unit = match whole.len() {
        ..=11 => 1_000_000_000,
        12..=14 => 1_000_000,
        15..=17 => 1_000,
        _ => 1,
    };
    let whole: i64 = whole.bytes().all(|byte| byte.is_ascii_digit()).then(|| whole.parse().ok())??;
    // What is finer than a nanosecond is cut.
    let mut part = unit;
    let fraction = fraction.bytes().fold(0, |sum, digit| {
        part /= 10;
        sum + part * i64::from(digit - b'0')
    });
    whole.checked_mul(unit)?.checked_add(fraction).map(|ns| sign * ns)
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
            "1795179770.5",
            "1795179770500",
            "1795179770500000",
            "1795179770500000000",
        ] {
            assert_eq!(time(text), at, "{text}");
        }
        assert_eq!(time("-1.5"), Some(-1_500_000_000));
        assert_eq!(time("1900-02-28"), time("1900-02-28T00:00:00"));
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
            assert_eq!(time(text), None, "{text}");
        }
        assert_eq!((number(" 12.0"), number("1.5"), number("9223372036854775808"), number("-3")), (Some(12), None, None, Some(-3)));
    }

    proptest! {
        #[test]
        fn the_fast_way_is_the_slow_way(ns in any::<i64>(), cut in 0..4u32) {
            let ns = ns - ns.rem_euclid(1000_i64.pow(cut));
            prop_assume!(ns > i64::MIN / 2 || cut == 0);
            let text = flowmine_eventlog::time::rfc3339(ns);
            prop_assert_eq!(time(&text), Some(ns).filter(|&ns| ns != i64::MIN).or(Some(ns)));
            prop_assert!(usual(text.as_bytes()).is_none_or(|fast| fast == ns));
        }

        #[test]
        fn nothing_panics(text in "[-0-9T:. Z+UC]{0,30}") {
            let slow = parse_time(text.trim_ascii());
            if let (Some(fast), Ok(slow)) = (usual(text.trim_ascii().as_bytes()), slow) {
                prop_assert_eq!(fast, slow);
            }
            time(&text);
            number(&text);
        }
    }
}

//! Values of options from their text.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use flowmine_schema::time::{self, SECOND_NS};

/// Reads a length of time such as `30s`, `2m` or `1h`; a number alone is seconds.
///
/// # Errors
/// When the text is none, or it is shorter than a millisecond or longer than a year.
pub fn duration(text: &str) -> Result<Duration, String> {
    let bad = || format!("{text:?} is not a length of time such as 30s, 2m or 1h");
    let (number, unit) = match text.char_indices().find(|(_, c)| c.is_ascii_alphabetic()) {
        Some((at, _)) => text.split_at(at),
        None => (text, "s"),
    };
    let number: f64 = number.trim().parse().map_err(|_| bad())?;
    let seconds = match unit {
        "ms" => number / 1e3,
        "s" => number,
        "m" | "min" => number * 60.0,
        "h" => number * 3600.0,
        "d" => number * 86_400.0,
        "w" => number * 604_800.0,
        _ => return Err(bad()),
    };
    if (0.001..=366.0 * 86_400.0).contains(&seconds) { Ok(Duration::from_secs_f64(seconds)) } else { Err(bad()) }
}

/// Reads a moment, in nanoseconds since 1970: a time, or how long before now it was.
///
/// # Errors
/// When the text is none.
pub fn moment(text: &str) -> Result<i64, String> {
    moment_at(text, SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as i64))
}

fn moment_at(text: &str, now: i64) -> Result<i64, String> {
    const DAY_NS: i64 = 86_400 * SECOND_NS;
    let today = now - now.rem_euclid(DAY_NS);
    match text {
        "now" => return Ok(now),
        "today" => return Ok(today),
        "yesterday" => return Ok(today - DAY_NS),
        _ => {}
    }
    if let Some(before) = text.ends_with(|c: char| c.is_ascii_alphabetic()).then(|| duration(text).ok()).flatten() {
        return i64::try_from(before.as_nanos())
            .ok()
            .and_then(|before| now.checked_sub(before))
            .ok_or_else(|| format!("{text:?} is too long ago"));
    }
    time::parse(text).ok_or_else(|| {
        format!(
            "{text:?} is not a time such as 2026-11-20, 2026-11-20T13:04:05 (UTC), 2026-11-20T13:04:05+01:00, seconds since 1970, \
             today, yesterday (from 0:00 UTC), or 90m, 2h, 3d, 2w (before now)"
        )
    })
}

/// Reads a percentage as a share, 0 to 1.
///
/// # Errors
/// When the text is none.
pub fn percent(text: &str) -> Result<f64, String> {
    let number: f64 = text.trim_end_matches('%').trim().parse().map_err(|_| format!("{text:?} is not a percentage such as 80"))?;
    if (0.0..=100.0).contains(&number) { Ok(number / 100.0) } else { Err(format!("{text:?} is not between 0 and 100")) }
}

/// Reads two activities, `A=>B`.
///
/// # Errors
/// When there is no `=>`.
pub fn path(text: &str) -> Result<(String, String), String> {
    let (first, second) = text.split_once("=>").ok_or_else(|| format!("{text:?} is not a path such as align=>merge"))?;
    Ok((first.trim().to_owned(), second.trim().to_owned()))
}

/// Reads a number between two bounds.
///
/// # Errors
/// When the text is none, or it is outside of them.
pub fn number(text: &str, least: f64, most: f64) -> Result<f64, String> {
    let number: f64 = text.trim().parse().map_err(|_| format!("{text:?} is not a number such as 0.5"))?;
    if number.is_finite() && (least..=most).contains(&number) {
        return Ok(number);
    }
    Err(match (least, most) {
        (f64::MIN, f64::MAX) => format!("{text:?} is not finite"),
        (_, f64::MAX) => format!("{text:?} is not a number from {least} on"),
        _ => format!("{text:?} is not between {least} and {most}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_before_now() {
        const S: i64 = SECOND_NS;
        // 1970-01-11T01:00:00Z
        let now = (10 * 86_400 + 3600) * S;
        for (text, seconds) in [
            ("now", 10 * 86_400 + 3600),
            ("today", 10 * 86_400),
            ("yesterday", 9 * 86_400),
            ("2h", 10 * 86_400 - 3600),
            ("90m", 10 * 86_400 - 1800),
            ("3d", 7 * 86_400 + 3600),
            ("1w", 3 * 86_400 + 3600),
            ("1970-01-02", 86_400),
            ("1970-01-02T00:00:00Z", 86_400),
        ] {
            assert_eq!(moment_at(text, now), Ok(seconds * S), "{text}");
        }
        for text in ["tomorrow", "2 fortnights", "-2h", "99999999999w", "h"] {
            assert!(moment_at(text, now).is_err(), "{text}");
        }
    }

    #[test]
    fn values() {
        assert_eq!(duration("60s"), Ok(Duration::from_secs(60)));
        assert_eq!(duration("1.5m"), Ok(Duration::from_secs(90)));
        assert!(duration("0s").is_err() && duration("soon").is_err());
        assert!(moment("2026-11-20").is_ok() && moment("soon").is_err());
        assert_eq!((percent("80"), percent("2.5%")), (Ok(0.8), Ok(0.025)));
        assert!(percent("101").is_err() && percent("all").is_err());
        assert_eq!(path("a b=>c"), Ok(("a b".to_owned(), "c".to_owned())));
        assert!(path("a->b").is_err());
        assert_eq!((number("1", 0.0, 1.0), number("-0.5", f64::MIN, f64::MAX)), (Ok(1.0), Ok(-0.5)));
        assert!(number("1.1", 0.0, 1.0).is_err() && number("nan", 0.0, 1.0).is_err() && number("inf", 0.0, f64::MAX).is_err());
    }
}

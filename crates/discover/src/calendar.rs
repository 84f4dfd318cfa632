//! Dates for axes and tables: UTC nanoseconds since 1970 in, ticks and ISO 8601 out (Gregorian
//! calendar, no leap seconds).

use flowmine_draw::axis::{Axis, Ticks};

const SECOND: i128 = 1_000_000_000;
const DAY: i128 = 86_400 * SECOND;

/// Returns year, month (from 1) and day (from 1) of a day since 1970-01-01.
fn date(day: i128) -> (i128, i128, i128) {
    // Years that begin on 1 March put the leap day at their end; 400 of them have 146,097 days.
    let from_march = day + 719_468;
    let era = from_march.div_euclid(146_097);
    let of_era = from_march.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + i128::from(month <= 2), month, day)
}

/// Returns the day since 1970-01-01 of the first of a month; months may be above 12.
fn first_of(year: i128, month: i128) -> i128 {
    let (year, month) = (year + (month - 1).div_euclid(12), (month - 1).rem_euclid(12) + 1);
    let (year, from_march) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + (153 * from_march + 2) / 5 - 719_468
}

/// Returns the day in UTC, such as `2026-11-22`, of nanoseconds since 1970.
fn day_words(ns: i128) -> String {
    let (year, month, day) = date(ns.div_euclid(DAY));
    format!("{year:04}-{month:02}-{day:02}")
}

fn clock(ns: i128) -> (i128, i128, i128) {
    let second = ns.rem_euclid(DAY) / SECOND;
    (second / 3600, second / 60 % 60, second % 60)
}

/// Formats a time as `2026-11-22T15:00:40.25Z`, without trailing zeros.
pub fn iso(ns: i64) -> String {
    let ns = i128::from(ns);
    let (h, m, s) = clock(ns);
    let part = format!("{:09}", ns.rem_euclid(SECOND));
    let part = part.trim_end_matches('0');
    format!("{}T{h:02}:{m:02}:{s:02}{}{part}Z", day_words(ns), if part.is_empty() { "" } else { "." })
}

/// Formats a time for people: `2026-11-22 15:00:40`.
pub fn moment(ns: i64) -> String {
    let (h, m, s) = clock(i128::from(ns));
    format!("{} {h:02}:{m:02}:{s:02}", day_words(i128::from(ns)))
}

/// Returns the start of the week of a time, a Monday at midnight (UTC).
fn week_begin(ns: i64) -> i128 {
    let day = i128::from(ns).div_euclid(DAY);
    // 1970-01-01 was a Thursday.
    (day - (day + 3).rem_euclid(7)) * DAY
}

/// Returns the start of the week of a time, a Monday at midnight (UTC), in nanoseconds since 1970.
pub fn week_begin_ns(ns: i64) -> i64 {
    i64::try_from(week_begin(ns)).unwrap_or(i64::MIN)
}

/// Returns the first day of the week of a time, a Monday (UTC).
pub fn monday(ns: i64) -> String {
    day_words(week_begin(ns))
}

/// Returns the date of a day (UTC), counted from 1970-01-01.
pub fn day(day: i128) -> String {
    day_words(day * DAY)
}

/// Returns the hour of the day (UTC), two digits.
pub fn hour(ns: i64) -> String {
    format!("{:02}", clock(i128::from(ns)).0)
}

/// Returns ticks at round times for an axis in nanoseconds since `zero_ns`, and the title of the
/// axis.
pub fn ticks(axis: &Axis, zero_ns: i64, most: f64) -> (Ticks, String) {
    let span = axis.high - axis.low;
    let zero = i128::from(zero_ns);
    if span < 10e9 {
        let ticks = Ticks::of_time(axis, most);
        let words = format!("time since {} UTC ({})", moment(zero_ns), ticks.unit);
        return (ticks, words);
    }
    let (low, high) = (zero + axis.low.ceil() as i128, zero + axis.high.floor() as i128);
    let at = |ns: i128, words: String| ((ns - zero) as f64, words);
    let fits = |step: i128| span / step as f64 <= most;
    let steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200].map(|s| s * SECOND);
    let days = [1, 2, 7, 14].map(|days| days * DAY);
    let step = steps.into_iter().chain(days).find(|&step| fits(step));
    let Some(step) = step else {
        let months = [1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 2400].into_iter().find(|&n| fits(n * 30 * DAY)).unwrap_or(6000);
        let (year, month, _) = date(low.div_euclid(DAY));
        let first = (year * 12 + month - 1).div_euclid(months) * months;
        let places =
            (0..=60).map(|n| first + n * months).map(|month| (month, first_of(month.div_euclid(12), month.rem_euclid(12) + 1) * DAY));
        let shown = places.filter(|(_, ns)| (low..=high).contains(ns));
        let words = |month: i128| match months {
            12.. => format!("{:04}", month.div_euclid(12)),
            _ => format!("{:04}-{:02}", month.div_euclid(12), month.rem_euclid(12) + 1),
        };
        return (Ticks { at: shown.map(|(month, ns)| at(ns, words(month))).collect(), unit: "UTC" }, "date (UTC)".to_owned());
    };
    let one_day = low.div_euclid(DAY) == high.div_euclid(DAY);
    // Weeks begin on a Monday: 1970-01-01 was a Thursday.
    let shift = if step >= 7 * DAY { 4 * DAY } else { 0 };
    let first = (low - shift).div_euclid(step) + i128::from((low - shift).rem_euclid(step) != 0);
    let words = |ns: i128| {
        let (h, m, s) = clock(ns);
        let day = day_words(ns);
        match step {
            _ if step >= DAY => day,
            _ if !one_day => format!("{} {h:02}:{m:02}", &day[day.len() - 5..]),
            _ if step >= 60 * SECOND => format!("{h:02}:{m:02}"),
            _ => format!("{h:02}:{m:02}:{s:02}"),
        }
    };
    let places = (0..=60).map(|n| (first + n) * step + shift).filter(|ns| (low..=high).contains(ns));
    let about = match step {
        _ if step >= DAY => "date (UTC)".to_owned(),
        _ if one_day => format!("time (UTC) on {}", day_words(low)),
        _ => format!("time (UTC) from {}", day_words(low)),
    };
    (Ticks { at: places.map(|ns| at(ns, words(ns))).collect(), unit: "UTC" }, about)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn times_by_hand() {
        assert_eq!(iso(0), "1970-01-01T00:00:00Z");
        assert_eq!(iso(1_795_359_640_250_000_000), "2026-11-22T15:00:40.25Z");
        assert_eq!(iso(-1), "1969-12-31T23:59:59.999999999Z");
        assert_eq!(iso(951_782_400_000_000_000), "2000-02-29T00:00:00Z");
        assert_eq!(moment(i64::MAX), "2262-04-11 23:47:16");
        assert_eq!((hour(1_795_359_640_250_000_000), monday(1_795_359_640_250_000_000)), ("15".to_owned(), "2026-11-16".to_owned()));
        assert_eq!(monday(-1), "1969-12-29");
        assert_eq!(moment(i64::MIN + 1), "1677-09-21 00:12:43");
    }

    #[test]
    fn ticks_by_hand() {
        let shown = |zero: i64, span: f64| {
            let (ticks, about) = ticks(&Axis { low: 0.0, high: span, from: 0.0, to: 700.0 }, zero, 8.0);
            (ticks.at.into_iter().map(|(_, words)| words).collect::<Vec<_>>(), about)
        };
        let zero = 1_795_359_640_250_000_000;
        let (words, about) = shown(zero, 3600e9);
        assert_eq!((words[0].as_str(), words.len(), about.as_str()), ("15:10", 6, "time (UTC) on 2026-11-22"));
        let (words, _) = shown(zero, 20.0 * 86_400e9);
        assert_eq!(words, ["2026-11-23", "2026-11-30", "2026-12-07"]);
        let (words, about) = shown(zero, 400.0 * 86_400e9);
        assert_eq!((words[0].as_str(), about.as_str()), ("2027-01", "date (UTC)"));
        let (words, _) = shown(i64::MIN + 1, 1.8e19);
        assert_eq!(words, ["1700", "1800", "1900", "2000", "2100", "2200"]);
    }

    proptest! {
        #[test]
        fn every_day_has_a_date(day in -120_000i128..120_000) {
            let (year, month, of_month) = date(day);
            prop_assert_eq!(first_of(year, month) + of_month - 1, day);
        }

        #[test]
        fn ticks_are_within_and_few(zero in any::<i64>(), span in 1.0f64..1.8e19, most in 2.0f64..12.0) {
            let axis = Axis { low: 0.0, high: span, from: 0.0, to: 700.0 };
            let (ticks, _) = ticks(&axis, zero, most);
            prop_assert!(ticks.at.len() as f64 <= most + 3.0, "{:?}", ticks);
            for (at, _) in ticks.at {
                prop_assert!(at >= -span * 1e-3 && at <= span * 1.001);
            }
        }
    }
}

//! Times of log lines: a line's prefix has neither year nor zone, so both come from other facts.
//!
//! The **zone** follows from lines of grid executors: `started` and `exited` are UTC, the prefix of
//! the line that reports them is local and hardly later, and zones differ by multiples of a quarter
//! of an hour. Otherwise `--zone` specifies it. Otherwise Nextflow's own `Created:` line contains
//! the zone of the machine on the day of Nextflow's build, which is right up to daylight saving
//! time. Otherwise times are interpreted as UTC, with an error of up to the range of zones.
//!
//! The **year** follows from the same UTC times; otherwise from the date in the name of a report or
//! trace file; otherwise from `--year`; otherwise it is the latest year in which the log is not
//! younger than its file.

use chrono::{DateTime, Datelike, Duration, NaiveDate, NaiveDateTime, NaiveTime};
use flowmine_schema::diagnostic::{Diagnostic, Diagnostics};
use flowmine_schema::time::SECOND_NS;

use super::months::month;
use crate::Options;

/// Zones lie between 12 hours west and 14 hours east of Greenwich.
pub const ANY_ZONE_NS: i64 = 14 * 3600 * SECOND_NS;
const MILLISECOND_NS: i64 = 1_000_000;
const QUARTER_HOUR_S: i64 = 900;
/// Maximum lead of the file server's clock, which `exited` comes from, in seconds.
const SKEW_S: i64 = 60;
/// Maximum delay, in seconds, between the newest UTC time in a line and the line; later lines do
/// not show the zone.
const LONGEST_DELAY_S: i64 = 600;

/// The local time of a line, without zone; the year is relative.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp {
    /// Number of years after that of the first line.
    year: i32,
    month: u32,
    day: u32,
    /// Time of the day in milliseconds.
    ms: i64,
}

impl Stamp {
    fn local(self, first_year: i32) -> Option<NaiveDateTime> {
        let date = NaiveDate::from_ymd_opt(first_year.checked_add(self.year)?, self.month, self.day)?;
        date.and_hms_opt(0, 0, 0)?.checked_add_signed(Duration::milliseconds(self.ms))
    }
}

/// Parses a line's prefix; returns its time and the offset of the rest. `None` when the line
/// continues another one.
pub fn prefix(line: &str) -> Option<(&str, u32, i64, usize)> {
    // The name of a month may have a dot, an article or multi-byte letters, but never more bytes
    // than this.
    let dash = line.char_indices().take(16).find(|&(_, c)| c == '-').map(|(at, _)| at).filter(|at| *at > 0)?;
    if !is_date(line.as_bytes().get(dash + 1..dash + 17)) {
        return None;
    }
    let digits = |from: usize, to: usize| line.get(dash + from..dash + to)?.parse::<u32>().ok();
    let (day, hour, minute, second, ms) = (digits(1, 3)?, digits(4, 6)?, digits(7, 9)?, digits(10, 12)?, digits(13, 16)?);
    let ms_of_day = i64::from((hour * 60 + minute) * 60 + second) * 1000 + i64::from(ms);
    // The thread follows. A line of a tool such as `2024-07-10 11:02:13.596` is not Nextflow's.
    let is_one = line[dash + 17..].starts_with('[') && hour < 24 && minute < 60 && second < 61;
    is_one.then_some((&line[..dash], day, ms_of_day, dash + 17))
}

/// Whether a text has the form of day and time in a log's line, such as `18 15:48:50.258 `.
fn is_date(bytes: Option<&[u8]>) -> bool {
    let shape = b"00 00:00:00.000 ";
    bytes.is_some_and(|bytes| bytes.iter().zip(shape).all(|(b, s)| if *s == b'0' { b.is_ascii_digit() } else { b == s }))
}

/// Facts about the year and the zone of a run, from its lines.
#[derive(Debug, Default)]
pub struct Clock {
    last: Option<Stamp>,
    /// The smallest difference between a line's prefix and the newest UTC time in it, in seconds,
    /// and the resulting year of the first line.
    utc: Option<(i64, i32)>,
    /// Year of the first line, from the name of a report.
    of_report: Option<i32>,
    /// Time of Nextflow's build, and the offset of its machine from UTC at that time, in seconds.
    built: Option<(NaiveDateTime, Option<i64>)>,
}

/// Zone and year that convert a run's stamps to times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resolved {
    first_year: i32,
    offset_s: i64,
    /// Maximum error of the zone, in nanoseconds.
    pub zone_precision_ns: i64,
}

impl Resolved {
    /// Returns UTC and precision of a line's time.
    pub fn utc(&self, stamp: Stamp) -> Option<(i64, i64)> {
        self.local_to_utc(stamp.local(self.first_year)?)
    }

    /// Returns UTC and precision of a local time with date.
    pub fn local_to_utc(&self, local: NaiveDateTime) -> Option<(i64, i64)> {
        let ns = local.checked_sub_signed(Duration::seconds(self.offset_s))?.and_utc().timestamp_nanos_opt()?;
        Some((ns, MILLISECOND_NS + self.zone_precision_ns))
    }

    /// Derives the zone from a time known both locally and in UTC, to about a second.
    pub fn by_pair(local: NaiveDateTime, utc_ns: i64) -> Option<Self> {
        let seconds = (local - DateTime::from_timestamp_nanos(utc_ns).naive_utc()).num_seconds();
        let offset_s = (seconds + QUARTER_HOUR_S / 2).div_euclid(QUARTER_HOUR_S) * QUARTER_HOUR_S;
        let is_zone = (seconds - offset_s).abs() <= SKEW_S && (-12 * 3600..=14 * 3600).contains(&offset_s);
        is_zone.then_some(Self { first_year: 0, offset_s, zone_precision_ns: 0 })
    }

    /// Returns the conversion for times with date without a log.
    pub fn without_log(options: &Options) -> Self {
        let zone_precision_ns = if options.zone_offset_s.is_some() { 0 } else { ANY_ZONE_NS };
        Self { first_year: 0, offset_s: options.zone_offset_s.unwrap_or(0), zone_precision_ns }
    }
}

impl Clock {
    /// Records a line's prefix; `None` when the month is unknown or the date does not exist.
    pub fn stamp(&mut self, month_name: &str, day: u32, ms: i64) -> Option<Stamp> {
        let month = month(month_name)?;
        let mut stamp = Stamp { year: 0, month, day, ms };
        // A leap year, so that 29 February exists.
        stamp.local(2000)?;
        if let Some(last) = self.last {
            let ahead = month as i32 - last.month as i32;
            stamp.year = last.year + i32::from(ahead < -6) - i32::from(ahead > 6);
        }
        self.last = Some(stamp);
        Some(stamp)
    }

    /// Records that a line reported an event at this UTC time.
    pub fn see_utc(&mut self, stamp: Stamp, utc_ns: i64) {
        let utc = DateTime::from_timestamp_nanos(utc_ns).naive_utc();
        let differences = [-1, 0, 1].into_iter().filter_map(|add| {
            let first_year = utc.year() + add - stamp.year;
            Some(((stamp.local(first_year)? - utc).num_seconds(), first_year))
        });
        let Some(nearest) = differences.min_by_key(|(seconds, _)| seconds.abs()) else { return };
        if (-12 * 3600 - SKEW_S..=14 * 3600 + LONGEST_DELAY_S).contains(&nearest.0) && self.utc.is_none_or(|known| nearest.0 < known.0) {
            self.utc = Some(nearest);
        }
    }

    /// Records that a line named a report or trace file: `execution_trace_2024-07-10_11-02-18.txt`.
    pub fn see_report(&mut self, stamp: Stamp, path: &str) {
        let name = path.rsplit('/').next().unwrap_or(path);
        let dates = name.char_indices().filter_map(|(at, _)| NaiveDate::parse_from_str(name.get(at..at + 10)?, "%Y-%m-%d").ok());
        let fits =
            |date: &NaiveDate| stamp.local(date.year() - stamp.year).is_some_and(|local| (local.date() - *date).num_days().abs() <= 1);
        self.of_report = self.of_report.or_else(|| dates.into_iter().find(fits).map(|date| date.year() - stamp.year));
    }

    /// Records the time of Nextflow's build in UTC and in the machine's zone: `Created: 29-05-2024
    /// 06:19 UTC (07:19 BST)`. Without parentheses the two are equal.
    pub fn see_built(&mut self, text: &str) {
        let Some((utc, local)) = text.split_once(" UTC") else { return };
        let Ok(built) = NaiveDateTime::parse_from_str(utc.trim(), "%d-%m-%Y %H:%M") else { return };
        let local = local.trim().trim_start_matches('(').trim_end_matches(')');
        let words: Vec<&str> = local.split_whitespace().collect();
        let at = |date: NaiveDate, time: &str| Some(date.and_time(NaiveTime::parse_from_str(time, "%H:%M").ok()?));
        let here = match words[..] {
            [] => Some(built),
            [time, _] => at(built.date(), time),
            [date, time, _] => NaiveDate::parse_from_str(date, "%d-%m-%Y").ok().and_then(|date| at(date, time)),
            _ => None,
        };
        let seconds = here.map(|here| (here - built).num_seconds()).filter(|seconds| seconds.abs() <= 14 * 3600);
        self.built = Some((built, seconds));
    }

    /// Derives zone and year from all facts, and reports assumptions.
    pub fn resolve(
        &self,
        options: &Options,
        file_mtime_ns: Option<i64>,
        first_line: u64,
        diagnostics: &mut Diagnostics,
    ) -> Option<Resolved> {
        let told = self.utc.and_then(|(seconds, year)| {
            let offset = (seconds + SKEW_S).div_euclid(QUARTER_HOUR_S) * QUARTER_HOUR_S;
            (seconds - offset <= LONGEST_DELAY_S).then_some((offset, year))
        });
        let (offset_s, zone_precision_ns) = self.zone(options, told.map(|told| told.0), first_line, diagnostics);
        let first_year = self.utc.map(|utc| utc.1).or(self.of_report).or(options.year);
        let first_year = first_year.or_else(|| self.year_of_file(file_mtime_ns, first_line, diagnostics))?;
        Some(Resolved { first_year, offset_s, zone_precision_ns })
    }

    fn zone(&self, options: &Options, told: Option<i64>, line: u64, diagnostics: &mut Diagnostics) -> (i64, i64) {
        match (told, options.zone_offset_s, self.built.and_then(|built| built.1)) {
            (Some(told), given, _) => {
                if given.is_some_and(|given| given != told) {
                    let message =
                        format!("the log's own times imply the zone {}, not the given one; the log's zone is used", zone_name(told));
                    diagnostics.push(Diagnostic::warning("zone_contradicted", message).at(line, None));
                }
                (told, 0)
            }
            (None, Some(given), _) => (given, 0),
            (None, None, Some(0)) => (0, 0),
            (None, None, Some(built)) => {
                let message = format!(
                    "the log does not contain its zone; that of Nextflow's build date is used, {}, which can be wrong by an hour of daylight saving time",
                    zone_name(built)
                );
                diagnostics.push(
                    Diagnostic::warning("zone_of_build", message).at(line, None).advise("give the zone with --zone, as in --zone=+01:00"),
                );
                (built, 3600 * SECOND_NS)
            }
            (None, None, None) => {
                let message = "the log does not contain its zone; its times are interpreted as UTC and can be wrong by up to 14 hours, all by the same amount";
                diagnostics
                    .push(Diagnostic::warning("no_zone", message).at(line, None).advise("give the zone with --zone, as in --zone=+01:00"));
                (0, ANY_ZONE_NS)
            }
        }
    }

    fn year_of_file(&self, mtime_ns: Option<i64>, line: u64, diagnostics: &mut Diagnostics) -> Option<i32> {
        let last = self.last?;
        let advice = "give the year of the first line with --year";
        // One day of tolerance, because the zone is not known.
        let file = mtime_ns.map(|ns| DateTime::from_timestamp_nanos(ns).naive_utc() + Duration::days(1));
        let year = file.and_then(|file| {
            let fits = |year: &i32| last.local(year - last.year).is_some_and(|local| local <= file);
            (file.year() - 8..=file.year()).rev().find(fits).map(|year| year - last.year)
        });
        let built_later =
            |year: i32| self.built.is_some_and(|(built, _)| last.local(year).is_some_and(|local| local + Duration::days(1) < built));
        match year.filter(|year| !built_later(*year)) {
            Some(year) => {
                let earliest = self.built.map(|(built, _)| built.year()).filter(|built| *built < year);
                let range = earliest.map(|built| format!("; the version of Nextflow allows any year from {built} on")).unwrap_or_default();
                let message = format!("the log does not contain its year; by the modification time of the file it is {year}{range}");
                diagnostics.push(Diagnostic::warning("year_of_file", message).at(line, None).advise(advice));
                Some(year)
            }
            None => {
                let message =
                    "the log does not contain its year, and the file's modification time does not fit: its local times are left out";
                diagnostics.push(Diagnostic::warning("no_year", message).at(line, None).advise(advice));
                None
            }
        }
    }
}

fn zone_name(offset_s: i64) -> String {
    let sign = if offset_s < 0 { '-' } else { '+' };
    format!("{sign}{:02}:{:02}", offset_s.abs() / 3600, offset_s.abs() / 60 % 60)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flowmine_schema::time;

    fn utc(text: &str) -> i64 {
        time::parse(text).unwrap()
    }

    /// Returns the stamp of a line with the time `Jul-10 11:02:13.596`.
    fn stamp(clock: &mut Clock, text: &str) -> Option<Stamp> {
        let line = format!("{text} [main] DEBUG x - y");
        let (month, day, ms, _) = prefix(&line).unwrap();
        clock.stamp(month, day, ms)
    }

    fn resolve(clock: &Clock, options: &Options, mtime: Option<&str>) -> (Option<Resolved>, Vec<&'static str>) {
        let mut diagnostics = Diagnostics::default();
        let resolved = clock.resolve(options, mtime.map(utc), 1, &mut diagnostics);
        (resolved, diagnostics.iter().map(|d| d.code).collect())
    }

    #[test]
    fn prefixes() {
        for (line, month) in
            [("Dec-27 12:43:07.640 [main]", "Dec"), ("de nov.-18 15:48:50.258 [a]", "de nov."), ("10月-16 10:27:53.882 [a]", "10月")]
        {
            assert_eq!(prefix(line).unwrap().0, month);
        }
        for none in [
            "",
            "\tat java.Foo",
            "Dec-27 12:43:07,640 [main]",
            "Dec-27 25:43:07.640 [main]",
            "-27 12:43:07.640 [main]",
            "  x - y",
            "é-é-27 12:43:07.64",
        ] {
            assert!(prefix(none).is_none(), "{none}");
        }
    }

    #[test]
    fn zone_by_utc_times() {
        for (line, newest, offset_s) in [
            ("Jul-10 11:03:19.864", "2024-07-10T10:02:59.035Z", Some(3600)),
            ("Jul-10 15:48:19.000", "2024-07-10T10:03:00Z", Some(20_700)),
            ("Jan-01 00:30:10.000", "2024-12-31T19:00:00Z", Some(19_800)),
            ("Dec-31 20:31:00.000", "2025-01-01T00:00:00Z", Some(-12_600)),
            // The file server's clock is ahead.
            ("Jul-10 10:03:00.000", "2024-07-10T10:03:30Z", Some(0)),
            // Noticed too late to determine the zone.
            ("Jul-10 10:15:00.000", "2024-07-10T10:04:00Z", None),
            ("Jul-10 10:09:00.000", "2024-07-10T10:00:00Z", Some(0)),
        ] {
            let mut clock = Clock::default();
            let stamp = stamp(&mut clock, line).unwrap();
            clock.see_utc(stamp, utc(newest));
            let (resolved, diagnostics) = resolve(&clock, &Options::default(), None);
            let resolved = resolved.unwrap();
            match offset_s {
                Some(offset_s) => assert_eq!((resolved.offset_s, resolved.zone_precision_ns, diagnostics), (offset_s, 0, vec![]), "{line}"),
                None => assert_eq!((resolved.zone_precision_ns, diagnostics), (ANY_ZONE_NS, vec!["no_zone"]), "{line}"),
            }
        }
    }

    #[test]
    fn the_nearest_line_tells_the_zone() {
        let mut clock = Clock::default();
        for (line, newest) in [("Jul-10 12:50:00.000", "2024-07-10T10:00:00Z"), ("Jul-10 12:50:01.000", "2024-07-10T10:49:58Z")] {
            let stamp = stamp(&mut clock, line).unwrap();
            clock.see_utc(stamp, utc(newest));
        }
        assert_eq!(resolve(&clock, &Options::default(), None).0.unwrap().offset_s, 7200);
        let options = Options { zone_offset_s: Some(3600), ..Options::default() };
        let (resolved, diagnostics) = resolve(&clock, &options, None);
        assert_eq!((resolved.unwrap().offset_s, diagnostics), (7200, vec!["zone_contradicted"]));
    }

    #[test]
    fn zone_of_the_build() {
        for (built, offset_s) in [
            ("29-05-2024 06:19 UTC (07:19 BST)", Some(3600)),
            ("16-09-2019 21:15 UTC (17-09-2019 09:15 NZDT)", Some(43_200)),
            ("21-07-2021 15:09 UTC ", Some(0)),
            ("15-10-2023 15:07 UTC (10:07 CDT)", Some(-18_000)),
            ("15-10-2023 15:07 UTC (odd)", None),
            ("15-10-2023 15:07 UTC (20-10-2023 15:07 X)", None),
        ] {
            let mut clock = Clock::default();
            clock.see_built(built);
            assert_eq!(clock.built.unwrap().1, offset_s, "{built}");
        }
    }

    #[test]
    fn years() {
        let at = |line: &str, options: &Options, mtime: Option<&str>| {
            let mut clock = Clock::default();
            clock.see_built("06-10-2023 21:19 UTC ");
            let stamp = stamp(&mut clock, line).unwrap();
            let (resolved, diagnostics) = resolve(&clock, options, mtime);
            (resolved.and_then(|resolved| resolved.utc(stamp)).map(|(ns, _)| time::rfc3339(ns)), diagnostics)
        };
        let told = |text: &str, diagnostics: &[&'static str]| (Some(text.to_owned()), diagnostics.to_vec());
        let none = Options::default();
        assert_eq!(at("Oct-16 10:00:00.000", &none, Some("2023-10-16T10:00:05Z")), told("2023-10-16T10:00:00Z", &["year_of_file"]));
        assert_eq!(at("Dec-31 23:59:59.000", &none, Some("2025-01-05T00:00:00Z")), told("2024-12-31T23:59:59Z", &["year_of_file"]));
        assert_eq!(at("Feb-29 10:00:00.000", &none, Some("2026-03-01T00:00:00Z")), told("2024-02-29T10:00:00Z", &["year_of_file"]));
        assert_eq!(at("Oct-16 10:00:00.000", &none, Some("2022-10-16T10:00:05Z")), (None, vec!["no_year"]), "older than its Nextflow");
        assert_eq!(at("Oct-16 10:00:00.000", &none, None), (None, vec!["no_year"]));
        let given = Options { year: Some(2024), ..Options::default() };
        assert_eq!(at("Oct-16 10:00:00.000", &given, None), told("2024-10-16T10:00:00Z", &[]));
        assert_eq!(at("Feb-29 10:00:00.000", &Options { year: Some(2023), ..Options::default() }, None), (None, vec![]), "there was none");
    }

    #[test]
    fn year_of_a_report() {
        let mut clock = Clock::default();
        let first = stamp(&mut clock, "Dec-31 23:59:59.000").unwrap();
        // Of another day, then of this one.
        clock.see_report(first, "/x/execution_trace_2021-05-05_10-00-00.txt");
        clock.see_report(first, "/2019-12-31/execution_trace_2023-12-31_23-59-58.txt");
        let next = stamp(&mut clock, "Jan-01 00:00:01.000").unwrap();
        let resolved = resolve(&clock, &Options { zone_offset_s: Some(0), ..Options::default() }, None).0.unwrap();
        assert_eq!(resolved.utc(first).map(|(ns, _)| ns), Some(utc("2023-12-31T23:59:59Z")));
        assert_eq!(resolved.utc(next).map(|(ns, _)| ns), Some(utc("2024-01-01T00:00:01Z")));
    }
}

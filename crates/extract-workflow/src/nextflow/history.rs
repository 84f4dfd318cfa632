//! `.nextflow/history`: the runs that were launched in a directory, one a line.
//!
//! ```text
//! 2022-09-09 15:26:27⇥-⇥disturbed_dijkstra⇥-⇥ad4343be…⇥d900f69d-a44f-4bad-8b0d-ae5f4e945fba⇥nextflow run main.nf
//! 2022-09-09 15:37:24⇥1m 25s⇥sick_hoover⇥OK⇥7e08f8e2…⇥75af9ddc-c4a3-4e15-acfe-720cb792f766⇥nextflow run main.nf
//! ```
//!
//! The columns are: local time of the launch, duration, name, `OK` or `ERR`, revision of the
//! script, UUID of the session, command. Duration and status are `-` until Nextflow has ended the
//! run, and for good when it was killed. The history contains no tasks; it identifies the run of a
//! trace file without a log.

use std::io::{self, BufRead};

use chrono::{Duration, NaiveDateTime};
use flowmine_schema::diagnostic::{Diagnostic, Diagnostics};
use flowmine_schema::text;

use crate::{input, units};

/// Tolerance of the comparison: launch and end are in whole seconds, as are durations of more than
/// a minute.
const SLACK: Duration = Duration::seconds(2);

/// A run that was launched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    pub run_id: String,
    pub run_name: String,
    launched: NaiveDateTime,
    /// `None` when the history does not contain it.
    ended: Option<NaiveDateTime>,
}

/// Whether a line belongs to a history.
pub fn is_line(line: &str) -> bool {
    parse(line).is_some()
}

/// Reads `.nextflow/history`.
///
/// # Errors
/// When reading fails.
pub fn read(reader: impl BufRead, diagnostics: &mut Diagnostics) -> io::Result<Vec<Launch>> {
    let mut lines = input::lines(reader);
    let mut launches = Vec::new();
    while let Some((number, line)) = input::next_line(&mut lines, diagnostics)? {
        let line = text::decode(line);
        match parse(&line) {
            Some(launch) => launches.push(launch),
            None if line.trim().is_empty() => {}
            None => {
                diagnostics.push(Diagnostic::warning("history_line_bad", "this is no launch of a run; it is passed over").at(number, None))
            }
        }
        input::not_too_many(launches.len())?;
    }
    Ok(launches)
}

fn parse(line: &str) -> Option<Launch> {
    let columns: Vec<&str> = line.split('\t').collect();
    let [launched, duration, name, status, _, session, ..] = columns[..] else { return None };
    let launched = NaiveDateTime::parse_from_str(launched, "%Y-%m-%d %H:%M:%S").ok()?;
    let is_uuid = session.len() == 36 && session.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
    let ended = units::duration_s(duration)
        .filter(|seconds| *seconds < 1e9)
        .map(|seconds| launched + Duration::milliseconds((seconds * 1e3).round() as i64));
    (is_uuid && matches!(status, "-" | "OK" | "ERR") && name != "-" && !name.is_empty()).then(|| Launch {
        run_id: session.to_owned(),
        run_name: name.to_owned(),
        launched,
        ended,
    })
}

/// Returns the only run that can contain all of this period, by the same clock. A run without a
/// known end has no limit, so it counts only when no other fits.
pub fn run_of(launches: &[Launch], first: NaiveDateTime, last: NaiveDateTime) -> Option<&Launch> {
    let begun = || launches.iter().filter(|launch| launch.launched - SLACK <= first);
    let mut ended = begun().filter(|launch| launch.ended.is_some_and(|ended| last <= ended + SLACK));
    let mut open = begun().filter(|launch| launch.ended.is_none());
    match (ended.next(), ended.next(), open.next(), open.next()) {
        (Some(only), None, ..) | (None, None, Some(only), None) => Some(only),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(time: &str) -> NaiveDateTime {
        NaiveDateTime::parse_from_str(&format!("2022-09-09 {time}"), "%Y-%m-%d %H:%M:%S").unwrap()
    }

    const HISTORY: &str = "2022-09-09 11:00:00\t-\tkilled_run\t-\tde27\t27146311-18c0-4fdd-91bf-9a570d53fc8d\tnextflow run x.nf\n\
        2022-09-09 12:00:00\t1m 28s\tgood_run\tOK\tde27\t69c84e0c-373f-4acf-873a-56c71673b996\tnextflow run x.nf -resume\n\
        \n\
        2022-09-09 13:00:00\t\tcut_r\n\
        2022-09-09 14:00:00\t2.4s\tbad_run\tERR\tde27\t900f69d0-a44f-4bad-8b0d-ae5f4e945fba\tnextflow run\n";

    #[test]
    fn lines() {
        let mut diagnostics = Diagnostics::default();
        let launches = read(HISTORY.as_bytes(), &mut diagnostics).unwrap();
        let names: Vec<_> = launches.iter().map(|launch| launch.run_name.as_str()).collect();
        assert_eq!(names, ["killed_run", "good_run", "bad_run"]);
        assert_eq!(diagnostics.iter().map(|d| (d.code, d.line)).collect::<Vec<_>>(), [("history_line_bad", Some(4))]);
        assert!(!is_line("2022-09-09 11:00:00\tsomething else") && !is_line(""));
    }

    #[test]
    fn the_run_in_which_it_happened() {
        let launches = read(HISTORY.as_bytes(), &mut Diagnostics::default()).unwrap();
        let run = |first: &str, last: &str| run_of(&launches, at(first), at(last)).map(|launch| launch.run_name.as_str());
        assert_eq!(run("12:00:10", "12:01:29"), Some("good_run"));
        assert_eq!(run("12:00:10", "12:05:00"), Some("killed_run"), "no run that ended took so long");
        assert_eq!(run("10:00:00", "10:00:01"), None);
        assert_eq!(run("14:00:01", "14:00:02"), Some("bad_run"));
        let twice = [launches.clone(), launches.clone()].concat();
        assert_eq!(run_of(&twice, at("12:00:10"), at("12:01:00")), None);
    }
}

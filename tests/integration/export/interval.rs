//! The interval of an observed change: both its ends are in every format, and `--timestamp` says
//! which is the time.

use std::path::Path;

use super::cells::{dump, format, rows};
use super::{Recording, all_formats};
use crate::support::dump::Value;

/// An event's state, its time, not before, observed at, reported: as far as they are there.
type Moment = (String, [Option<i64>; 4], String);

fn moments(file: &Path) -> Vec<Moment> {
    let time = |text: &String| flowmine_eventlog::time::parse(text).unwrap();
    let mut moments: Vec<Moment> = if format(file).starts_with("ocel") {
        let of = |thing: crate::support::dump::Thing| {
            let find = |key: &str| thing.attributes.iter().find(|entry| entry.key == key).map(|entry| &entry.value);
            let text = |key| match find(key) {
                Some(Value::String(text)) => text.clone(),
                other => panic!("{key}: {other:?}"),
            };
            let time = |key| match find(key) {
                Some(Value::Time(ns)) => Some(*ns),
                None => None,
                other => panic!("{key}: {other:?}"),
            };
            (text("state"), [thing.time, time("not_before"), time("observed_at"), time("reported")], text("source"))
        };
        dump(file).events.into_values().map(of).collect()
    } else {
        let of = |row: super::cells::Row| {
            let times = ["time:timestamp", "slurm:not_before", "slurm:observed_at", "slurm:reported"].map(|key| row.get(key).map(time));
            (row["slurm:state"].clone(), times, row["slurm:source"].clone())
        };
        rows(file).into_iter().map(of).collect()
    };
    moments.sort();
    moments
}

#[test]
fn both_ends_are_in_every_format() {
    let recording = Recording::new();
    for timestamp in ["reported", "observed-at", "not-before"] {
        let mut first: Option<Vec<Moment>> = None;
        for format in all_formats() {
            let moments = moments(&recording.export(format, "log", &["--timestamp", timestamp]));
            assert_eq!(first.get_or_insert_with(|| moments.clone()), &moments, "{timestamp} {format}");
        }
        let (mut reported_within, mut polled, mut told_later, mut by_accounting, mut pushed) = (0, 0, 0, 0, 0usize);
        let moments = first.unwrap();
        // A time that Slurm tells stays whatever is asked for, and what comes after it is not before it.
        let eligible: Vec<i64> = moments.iter().filter(|(state, ..)| state == "ELIGIBLE").filter_map(|(_, [time, ..], _)| *time).collect();
        for moment in moments {
            let (_, [time, not_before, observed_at, reported], source) = &moment;
            let (time, observed_at) = (time.unwrap(), observed_at.unwrap());
            if source == "sacct" {
                // What no poll saw has no interval: its time is what accounting says, whatever was asked for, but not before the event that
                // came before it.
                assert!(not_before.is_none() && (reported.unwrap()..=observed_at).contains(&time), "{timestamp} {moment:?}");
                by_accounting += u32::from(*reported == Some(time));
                continue;
            }
            // Neither has what squeue told later: when a job that runs was submitted and started.
            let Some(not_before) = *not_before else {
                assert!((reported.unwrap()..=observed_at).contains(&time), "{timestamp} {moment:?}");
                told_later += 1;
                continue;
            };
            polled += 1;
            assert!(not_before <= observed_at, "{moment:?}");
            match timestamp {
                "observed-at" => assert_eq!(time, observed_at, "{moment:?}"),
                "not-before" => {
                    assert!(time == not_before || (not_before..=observed_at).contains(&time) && eligible.contains(&time), "{moment:?}");
                    pushed += usize::from(time > not_before);
                }
                _ => {
                    assert!((not_before..=observed_at).contains(&time), "{moment:?}");
                    if let Some(reported) = *reported
                        && (not_before..=observed_at).contains(&reported)
                    {
                        assert_eq!(time, reported, "{moment:?}");
                        reported_within += 1;
                    }
                }
            }
        }
        // Each of them can push the start after it.
        assert!(pushed <= eligible.len(), "{pushed} of {}", eligible.len());
        assert!(polled > 400 && told_later > 0 && by_accounting > 50, "{polled} {told_later} {by_accounting}");
        assert_eq!(reported_within > 300, timestamp == "reported", "{reported_within}");
    }
}

#[test]
fn without_the_option_it_is_the_reported_time() {
    let recording = Recording::new();
    let bytes = |options: &[&str]| std::fs::read(recording.export("csv", "log", options)).unwrap();
    assert!(bytes(&[]) == bytes(&["--timestamp", "reported"]));
    assert!(bytes(&[]) != bytes(&["--timestamp", "observed-at"]));
}

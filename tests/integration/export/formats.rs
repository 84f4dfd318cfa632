//! What every format holds: the same log, valid, to the byte whenever and wherever it is made.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use super::cells::{as_in_xml, dump, format, rows};
use super::{NOTIONS, READABLE, Recording, all_formats, said};
use crate::support::{expect, flowmine, repository};

#[test]
fn validate_finds_nothing_wrong() {
    let recording = Recording::new();
    let check = |name: &str, format: &str, options: &[&str]| {
        let file = recording.export(format, name, options);
        let printed = String::from_utf8(expect(flowmine().arg("validate").arg(&file), 0).stdout).unwrap();
        assert!(printed.lines().last().unwrap().contains(" 0 errors, 0 warnings, "), "{format} {options:?}: {printed}");
    };
    for format in READABLE {
        check("log", format, &[]);
    }
    for notion in NOTIONS {
        check("notion", "xes", &["--case-notion", notion]);
    }
}

/// Another directory, another time of import, another time zone, another locale, another day.
#[test]
fn the_same_dataset_gives_the_same_bytes() {
    let one = Recording::new();
    let dir = tempfile::tempdir().unwrap();
    let copy = dir.path().join("copied");
    expect(Command::new("cp").arg("-r").arg(repository("fixtures/case-study")).arg(&copy), 0);
    let dataset = dir.path().join("elsewhere");
    let files = [copy.join("polls"), copy.join("sacct-token.txt.gz")];
    expect(flowmine().args(["import", "slurm", "--dataset"]).arg(&dataset).args(files), 0);
    let log = |format: &str, notion: &[&str]| {
        let first = fs::read(one.export(format, "log", notion)).unwrap();
        let again = fs::read(one.export(format, "again", notion)).unwrap();
        let other = dir.path().join(format!("other.{format}"));
        let mut command = flowmine();
        command.env("TZ", "Asia/Kathmandu").env("LC_ALL", "de_DE.UTF-8").env("POLARS_MAX_THREADS", "1").current_dir(dir.path());
        command.args(["export", "--dataset", "elsewhere", "--format", format]).args(notion).arg("-o").arg(&other);
        expect(&mut command, 0);
        assert!(!first.is_empty() && first == again, "{format} {notion:?} again");
        assert!(first == fs::read(&other).unwrap(), "{format} {notion:?} elsewhere");
        first
    };
    let mut different = BTreeSet::new();
    for format in all_formats() {
        different.insert(log(format, &[]));
    }
    for notion in &NOTIONS[1..] {
        different.insert(log("xes", &["--case-notion", notion]));
    }
    assert_eq!(different.len(), 7 + NOTIONS.len() - 1, "each format and notion is another file");
}

#[test]
fn standard_output_gets_what_a_file_gets() {
    let recording = Recording::new();
    for format in all_formats().filter(|format| *format != "ocel.sqlite") {
        let file = fs::read(recording.export(format, "log", &[])).unwrap();
        for dash in [&[][..], &["-o", "-"]] {
            let mut command = flowmine();
            command.args(["export", "--format", format, "--dataset"]).arg(&recording.dataset).args(dash);
            assert!(expect(&mut command, 0).stdout == file, "{format} {dash:?}");
        }
    }
}

/// XES, packed XES, CSV and Parquet are one table; the three OCEL formats are compared in
/// tests/integration/round_trip.rs.
#[test]
fn all_formats_with_cases_hold_the_same_rows() {
    let recording = Recording::new();
    for notion in ["dependency", "account-group", "object:user", "object:node"] {
        let export = |format: &str| recording.export(format, "log", &["--case-notion", notion]);
        let xes = rows(&export("xes"));
        assert!(xes.len() > 500, "{notion}");
        for column in ["case:concept:name", "concept:name", "time:timestamp"] {
            assert!(xes.iter().all(|row| row.contains_key(column)), "{notion}: {column}");
        }
        for format in ["xes.gz", "csv", "parquet"] {
            let theirs = as_in_xml(rows(&export(format)));
            assert_eq!(theirs.len(), xes.len(), "{notion} {format}");
            for (ours, theirs) in xes.iter().zip(&theirs) {
                assert_eq!(ours, theirs, "{notion} {format}");
            }
        }
    }
}

/// The numbers of events, cases and objects, as the program itself counts them for other commands.
#[test]
fn nothing_is_missing() {
    let recording = Recording::new();
    let out = recording.path("out");
    expect(flowmine().args(["run", "--formats", "xes,ocel.json", "--dataset"]).arg(&recording.dataset).arg("--out").arg(&out), 0);
    let summary: serde_json::Value = serde_json::from_slice(&fs::read(out.join("summary.json")).unwrap()).unwrap();
    let events = summary["events"].as_u64().unwrap() as usize;
    assert!(events > 500);
    for notion in NOTIONS {
        let graph = recording.graph(&["--events", "all", "--case-notion", notion]);
        let file = recording.export("xes", "log", &["--case-notion", notion]);
        let log = dump(&file);
        assert_eq!(graph["cases"], log.traces.iter().filter(|trace| !trace.events.is_empty()).count(), "{notion}");
        assert_eq!(graph["instances"], log.traces.iter().map(|trace| trace.events.len()).sum::<usize>(), "{notion}");
        if !notion.starts_with("object:") {
            assert_eq!(graph["instances"], events, "{notion}");
        }
    }
    for format in READABLE {
        let file = recording.export(format, "log", &[]);
        let log = dump(&file);
        match self::format(&file) {
            "xes" | "xes.gz" => assert_eq!(log.traces.len(), summary["cases"]["dependency"]["cases"].as_u64().map_or(166, |n| n as usize)),
            _ => {
                assert_eq!(log.events.len(), events, "{format}");
                let jobs = log.objects.values().filter(|object| object.kind == "job" && !object.attributes.is_empty()).count();
                assert!(jobs >= summary["jobs"].as_u64().unwrap() as usize, "{format}: {jobs}");
            }
        }
    }
}

#[test]
fn what_cannot_be_is_refused_with_a_sentence() {
    let recording = Recording::new();
    let to = recording.path("log");
    let refused = |format: &str, options: &[&str], words: &[&str]| {
        let text = said(recording.command(format, &to).args(options), 2);
        for word in words {
            assert!(text.contains(word), "{format} {options:?}: {text}");
        }
        assert!(!to.exists(), "{format} {options:?}");
    };
    refused("ocel.json", &["--case-notion", "dependency"], &["no case notion", "--case-notion"]);
    refused("xes", &["--case-notion", "object:moon"], &["object:job", "object:workflow run", "--case-notion"]);
    refused("xes", &["--case-notion", "moon"], &["dependency", "account-group"]);
    refused("csv", &["--log", "moon.xes"], &["moon.xes"]);
    for to in [&[][..], &["-o", "-"]] {
        let mut command = flowmine();
        command.args(["export", "--format", "ocel.sqlite", "--dataset"]).arg(&recording.dataset).args(to);
        let output = expect(&mut command, 2);
        assert!(output.stdout.is_empty());
        let text = super::said_by(&output);
        assert!(text.contains("standard output") && text.contains("-o FILE"), "{text}");
    }
}

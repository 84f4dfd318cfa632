//! `flowmine validate`: what it prints, and its exit codes.

use std::fs;

use super::{READABLE, Recording, said};
use crate::support::{expect, flowmine};

/// A log with one thing wrong: an event of a type that is not declared.
const WRONG: &str = r#"{"eventTypes": [], "objectTypes": [], "objects": [],
 "events": [{"id": "e1", "type": "done", "time": "2026-11-20T13:00:00Z"}]}"#;

#[test]
fn the_exit_code_is_that_of_the_worst_file() {
    let recording = Recording::new();
    let good: Vec<_> = READABLE.iter().map(|format| recording.export(format, "good", &[])).collect();
    let (wrong, unreadable) = (recording.path("wrong.json"), recording.path("no-log.txt"));
    fs::write(&wrong, WRONG).unwrap();
    fs::write(&unreadable, "milk\n").unwrap();
    let lines = |output: std::process::Output| {
        let printed = String::from_utf8(output.stdout).unwrap();
        printed.lines().filter(|line| line.contains(" errors, ")).map(str::to_owned).collect::<Vec<_>>()
    };
    let of_good = lines(expect(flowmine().arg("validate").args(&good), 0));
    assert_eq!(of_good.len(), 5);
    for ((line, file), name) in of_good.iter().zip(&good).zip(["OCEL 2.0 JSON", "OCEL 2.0 XML", "OCEL 2.0 SQLite", "XES", "XES"]) {
        assert!(line.starts_with(&format!("{}: {name}, 0 errors, 0 warnings, ", file.display())), "{line}");
    }
    for format in ["csv", "parquet"] {
        let table = recording.export(format, "table", &[]);
        let of_table = lines(expect(flowmine().arg("validate").arg(&table), 0));
        assert_eq!(of_table, [format!("{}: table, 0 errors, 0 warnings, 0 notes", table.display())]);
    }
    let with_wrong = lines(expect(flowmine().arg("validate").arg(&good[0]).arg(&wrong).arg(&good[3]), 1));
    assert_eq!(with_wrong.len(), 3);
    assert!(!with_wrong[1].contains(" 0 errors"), "{with_wrong:?}");
    // A file that cannot be read does not keep the others from being checked.
    for missing in [&unreadable, &recording.path("missing.xes"), &recording.dataset] {
        let output = expect(flowmine().arg("validate").arg(&wrong).arg(missing).arg(&good[3]), 2);
        let text = super::said_by(&output);
        assert!(text.contains(&missing.display().to_string()), "{text}");
        assert_eq!(lines(output).len(), 2, "{text}");
    }
    assert!(said(flowmine().arg("validate"), 2).contains("FILE"));
}

#[test]
fn quiet_leaves_out_notes_and_nothing_else() {
    let recording = Recording::new();
    let good = recording.export("ocel.xml", "good", &[]);
    let wrong = recording.path("wrong.json");
    fs::write(&wrong, WRONG).unwrap();
    let print =
        |file, code, quiet: &[&str]| String::from_utf8(expect(flowmine().arg("validate").arg(file).args(quiet), code).stdout).unwrap();
    let all = print(&good, 0, &[]);
    let less = print(&good, 0, &["--quiet"]);
    assert!(all.lines().count() > 1 && all.contains(": note: "), "{all}");
    assert_eq!(less, format!("{}\n", all.lines().last().unwrap()));
    assert_eq!(print(&good, 0, &["-q"]), less);
    assert!(print(&wrong, 1, &["--quiet"]).contains(": error: "));
}

//! The examples, run on the fixtures and on what they write.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]

use std::fs;
use std::path::{Path, PathBuf};

use flowmine_eventlog::validate::validate;

#[path = "../examples/read_ocel.rs"]
mod read_ocel;
#[path = "../examples/write_xes.rs"]
mod write_xes;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn counted(file: &Path) -> String {
    let mut out = Vec::new();
    read_ocel::run(file, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn read_ocel_counts_every_format() {
    let json = tempfile::Builder::new().suffix(".json").tempfile().unwrap();
    fs::write(
        json.path(),
        r#"{"objectTypes": [{"name": "job", "attributes": []}, {"name": "user", "attributes": []}],
            "eventTypes": [{"name": "started", "attributes": []}],
            "objects": [{"id": "j1", "type": "job"}, {"id": "j2", "type": "job"}],
            "events": [{"id": "e1", "type": "started", "time": "2026-11-20T13:04:05Z",
                        "relationships": [{"objectId": "j1", "qualifier": "job"}]}]}"#,
    )
    .unwrap();
    assert_eq!(counted(json.path()), "object types:\n       2  job\n       0  user\nevent types:\n       1  started\n");
    for name in ["all_constructs.xml", "all_constructs.sqlite"] {
        let counted = counted(&fixture(name));
        assert!(counted.lines().any(|line| line.trim_start().starts_with(|c: char| ('1'..='9').contains(&c))), "{name}: {counted}");
    }
}

#[test]
fn read_ocel_says_what_is_wrong_and_where() {
    for (name, why) in [("all_constructs.xes", "no objects"), ("truncated.json", "line "), ("missing.json", "No such file")] {
        let error = read_ocel::run(&fixture(name), &mut Vec::new()).unwrap_err().to_string();
        assert!(error.contains(name) && error.contains(why), "{error}");
    }
}

#[test]
fn write_xes_writes_what_the_standard_wants() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("log.xes");
    let counts = write_xes::run(&file).unwrap();
    assert_eq!((counts.traces, counts.events), (2, 5));
    let mut found = Vec::new();
    let (_, summary) = validate(&file, &mut |finding| found.push(finding)).unwrap();
    assert_eq!((summary.errors, summary.warnings, summary.traces, summary.events), (0, 0, Some(2), Some(5)), "{found:?}");
    let error = write_xes::run(&dir.path().join("absent/log.xes")).unwrap_err().to_string();
    assert!(error.contains("absent/log.xes"), "{error}");
}

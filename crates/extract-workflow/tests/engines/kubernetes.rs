//! Objects of Kubernetes in, rows and diagnostics out.

use std::fs;
use std::path::{Path, PathBuf};

use flowmine_extract_workflow::kubernetes::Kubernetes;
use flowmine_extract_workflow::{Engine, Options, Row, Source};
use flowmine_schema::diagnostic::Diagnostics;
use flowmine_schema::time::rfc3339;

const PODS: &str = "pods_of_many_engines.json";
const WATCH: &str = "watch_without_types.json";
const API_WATCH: &str = "api_watch_with_restarts_deletion_cut_line.jsonl";
const EVENTS: &str = "events_of_a_pod_that_is_gone.json";

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/kubernetes").join(name)
}

/// Rows, and diagnostics as `code` or `code:line`.
fn read_paths(paths: &[PathBuf]) -> (Vec<Row>, Vec<String>) {
    let source = |path: &PathBuf| {
        let kind = Kubernetes.recognise(path, &fs::read(path).unwrap())?;
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        Some(Source { path: path.clone(), name, kind, sha256: String::new(), rows: 0, joined: 0, diagnostics: Diagnostics::default() })
    };
    let mut sources: Vec<Source> = paths.iter().filter_map(source).collect();
    let rows = Kubernetes.read(&mut sources, &Options::default());
    assert_eq!(sources.iter().map(|source| source.rows).sum::<u64>(), rows.len() as u64);
    let said = sources.iter().flat_map(|source| source.diagnostics.iter()).map(|d| match d.line {
        Some(line) => format!("{}:{line}", d.code),
        None => d.code.to_owned(),
    });
    (rows, said.collect())
}

fn read(names: &[&str]) -> (Vec<Row>, Vec<String>) {
    read_paths(&names.iter().map(|name| fixture(name)).collect::<Vec<_>>())
}

fn or(text: &Option<std::borrow::Cow<'_, str>>) -> String {
    text.as_deref().unwrap_or("-").to_owned()
}

fn clock(ns: Option<i64>) -> String {
    ns.map_or("-".to_owned(), |ns| rfc3339(ns)["2026-11-20T".len()..].trim_end_matches('Z').to_owned())
}

/// Pod, attempt, status, exit code, the three times.
fn statuses(rows: &[Row]) -> Vec<String> {
    let row_status = |row: &Row| {
        let exit = row.exit_code.map_or("-".to_owned(), |code| code.to_string());
        let attempt = row.attempt.map_or("-".to_owned(), |attempt| attempt.to_string());
        let times = [row.submitted_ns, row.started_ns, row.finished_ns].map(clock).join(" ");
        format!("{} {attempt} {} {exit} {times}", row.name, row.status)
    };
    rows.iter().map(row_status).collect()
}

#[test]
fn events_fill_what_pods_do_not_tell() {
    let (rows, said) = read(&[EVENTS]);
    assert_eq!(said, Vec::<String>::new());
    assert_eq!(statuses(&rows), ["nf-ab12 - unknown - - 13:00:09 -", "vanished-1 - unknown - - 16:00:03 -"]);
    assert_eq!((or(&rows[1].host), or(&rows[1].error)), ("node07".into(), "Preempted: Preempted by pod 1234 on node node07".into()));
    // The pod knows better.
    let (rows, _) = read(&[PODS, EVENTS]);
    assert_eq!((rows.len(), clock(rows[1].started_ns)), (10, "13:00:04".into()));
    assert_eq!(rows[0].name, "vanished-1");
}

mod hostile {
    use proptest::prelude::*;

    use super::*;

    fn mangled() -> impl Strategy<Value = Vec<u8>> {
        let texts: Vec<Vec<u8>> = [PODS, WATCH, API_WATCH, EVENTS].iter().map(|name| fs::read(fixture(name)).unwrap()).collect();
        let edit = (any::<prop::sample::Index>(), 0..30_usize, proptest::collection::vec(any::<u8>(), 0..6));
        (prop::sample::select(texts), proptest::collection::vec(edit, 0..6)).prop_map(|(mut text, edits)| {
            for (at, remove, insert) in edits {
                let at = at.index(text.len() + 1);
                let end = (at + remove).min(text.len());
                text.splice(at..end, insert);
            }
            text
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn decoding_never_panics(first in mangled(), second in mangled()) {
            let dir = tempfile::tempdir().unwrap();
            let mut paths: Vec<PathBuf> = Vec::new();
            for (name, text) in [("a.json", first), ("b.json", second)] {
                paths.push(dir.path().join(name));
                fs::write(dir.path().join(name), text).unwrap();
            }
            let (rows, _) = read_paths(&paths);
            for row in &rows {
                prop_assert!(row.native_id.is_some() && !row.name.is_empty() && !row.logical_task.is_empty() && !row.status.is_empty());
            }
            paths.reverse();
            prop_assert_eq!(read_paths(&paths).0, rows);
        }
    }

    /// Values that Kubernetes does not write, in the places where it writes others.
    #[test]
    fn odd_values() {
        for odd in ["null", "-1", "1e300", "9223372036854775807", "[]", "{}", "\"9999-99-99T00:00:00Z\"", "\"-5Gi\"", "[[{}]]"] {
            let pod = format!(
                r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"uid":"u","name":{odd},"labels":{odd},"creationTimestamp":{odd},"deletionTimestamp":"2026-01-01T00:00:00Z","deletionGracePeriodSeconds":{odd}}},
                "spec":{{"containers":[{{"name":"c","command":{odd},"resources":{{"requests":{{"cpu":{odd},"memory":{odd}}}}}}}],"activeDeadlineSeconds":{odd}}},
                "status":{{"phase":{odd},"containerStatuses":[{{"name":"c","restartCount":{odd},"containerID":{odd},"state":{{"terminated":{{"exitCode":{odd},"finishedAt":{odd}}}}},"lastState":{{"terminated":{{}}}}}}]}}}}"#
            );
            let dir = tempfile::tempdir().unwrap();
            fs::write(dir.path().join("a.json"), pod).unwrap();
            let (rows, _) = read_paths(&[dir.path().join("a.json")]);
            assert!(!rows.is_empty(), "{odd}");
        }
    }
}

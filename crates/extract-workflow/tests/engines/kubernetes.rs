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
fn pods_of_many_engines() {
    let (rows, said) = read(&[PODS]);
    assert_eq!(said, ["cpu_fraction", "pod_without_uid", "kind_not_read:1"]);
    assert_eq!(
        statuses(&rows),
        [
            "nf-ab12 1 completed 0 13:00:00 13:00:04 13:01:04",
            "nf-cd34 1 failed 137 13:00:01 13:00:05 13:00:35",
            "etl-load-k3x9 2 failed 1 13:10:00 13:10:03 13:12:00",
            "etl-load-k3x9 2 running - 13:10:00 13:12:30 -",
            "diamond-x7-align-123 1 completed 0 13:20:00 13:20:03 13:20:08",
            "pi-2-zzzz9 1 failed - 13:30:00 - -",
            "waits-1 1 submitted - 13:40:00 - -",
            "init-fails 1 failed - 13:41:00 - -",
            "cannot-start 1 failed 128 13:42:00 - 13:42:03",
        ]
    );
    let nextflow = &rows[1];
    assert_eq!(nextflow.native_id.as_deref(), Some("00000002-1111-4222-8333-444455556666"));
    assert_eq!((nextflow.native_kind.as_deref(), nextflow.host.as_deref()), (Some("pod"), Some("node02")));
    assert_eq!(nextflow.container_id.as_deref(), Some("02".repeat(32).as_str()));
    assert_eq!((or(&nextflow.run_id), or(&nextflow.run_name)), ("3f9c1e0a-7a56-4d0e-9a53-0a2f1c9d8e7f".into(), "goofy_yalow".into()));
    assert_eq!((nextflow.logical_task.as_ref(), or(&nextflow.tag)), ("ALIGN_BWA", "ALIGN_BWA_sample1".into()));
    assert_eq!((or(&nextflow.error), or(&nextflow.work_dir)), ("OOMKilled".into(), "/work/cd/34c0ffee00000000000000000000cd34".into()));
    assert_eq!((nextflow.cpus, nextflow.memory_bytes, nextflow.submitted_precision_ns), (Some(2), Some(1 << 30), Some(1_000_000_000)));
    let airflow = &rows[3];
    assert_eq!((or(&airflow.run_id), or(&airflow.run_name)), ("manual__2026-11-20T13:09:00+00:00".into(), "etl".into()));
    assert_eq!((or(&airflow.task_id), airflow.logical_task.as_ref(), or(&airflow.tag)), ("load files[4]".into(), "load files", "4".into()));
    assert_eq!(
        (airflow.cpus, airflow.memory_bytes, or(&airflow.container_image)),
        (None, Some(512_000_000), "apache/airflow:3.1.0".into())
    );
    assert_ne!(rows[2].container_id, rows[3].container_id);
    let argo = &rows[4];
    assert_eq!((or(&argo.run_name), or(&argo.task_id)), ("diamond-x7".into(), "diamond-x7-123".into()));
    assert_eq!((argo.logical_task.as_ref(), or(&argo.tag)), ("align", "diamond-x7.B(1:b)".into()));
    assert_eq!((argo.cpus, argo.memory_bytes, argo.disk_bytes), (Some(1), Some(1_000_000_000), Some(10 << 30)));
    let job = &rows[5];
    assert_eq!((or(&job.run_name), or(&job.task_id), job.logical_task.as_ref()), ("pi".into(), "2".into(), "pi"));
    assert_eq!(or(&job.error), "Evicted: The node was low on resource: memory.");
    assert!(or(&rows[6].error).starts_with("Unschedulable: 0/3 nodes"));
    assert_eq!(or(&rows[7].error), "init container fetch failed with exit code 3: Error");
    assert!(or(&rows[8].error).starts_with("StartError: exec"));
}

#[test]
fn a_watch_keeps_what_is_no_longer_told() {
    let (rows, said) = read(&[WATCH]);
    assert_eq!(said, Vec::<String>::new());
    assert_eq!(statuses(&rows), ["nf-ef56 1 completed 0 14:00:00 14:00:09 14:02:00"]);
    assert_eq!((or(&rows[0].container_id), rows[0].error.as_deref(), rows[0].line), ("14".repeat(32), None, Some(1)));
}

#[test]
fn restarts_and_deletions() {
    let (rows, said) = read(&[API_WATCH]);
    assert_eq!(said, ["json_bad:6", "watch_ended:11"]);
    assert_eq!(
        statuses(&rows),
        [
            "crash-1 1 failed 1 15:00:00 15:00:02 15:00:03",
            "crash-1 2 failed 2 15:00:00 15:00:05 15:00:15",
            "crash-1 3 completed 0 15:00:00 15:00:25 15:01:00",
            "gone-1 1 aborted - 15:10:00 15:10:02 -",
            "killed-1 1 aborted 143 15:20:00 15:20:02 15:21:05",
        ]
    );
    assert_eq!(rows[3].line, Some(4));
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

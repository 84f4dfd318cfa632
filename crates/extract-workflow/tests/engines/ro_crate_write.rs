//! Rows of real runs, written as Workflow Run RO-Crates and read again.

use std::fs;
use std::path::{Path, PathBuf};

use flowmine_extract_workflow::ro_crate::RoCrate;
use flowmine_extract_workflow::ro_crate::write::{METADATA, metadata};
use flowmine_extract_workflow::{Engine, Options, Row, Source, airflow, argo, makeflow, nextflow};
use flowmine_schema::diagnostic::Diagnostics;
use serde_json::{Value, json};

fn source(engine: &dyn Engine, path: &Path) -> Source {
    let kind = engine.recognise(path, &fs::read(path).unwrap()).unwrap();
    let name = path.file_name().unwrap().to_str().unwrap().to_owned();
    Source { path: path.to_owned(), name, kind, sha256: String::new(), rows: 0, joined: 0, diagnostics: Diagnostics::default() }
}

fn read(engine: &dyn Engine, path: &Path) -> Vec<Row> {
    let options = Options { year: Some(2025), zone_offset_s: Some(0) };
    engine.read(&mut [source(engine, path)], &options)
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// Writes a crate and reads it.
fn again(rows: &[Row]) -> (Value, Vec<Row>) {
    let written = metadata(rows).unwrap().json;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(METADATA);
    fs::write(&path, serde_json::to_string_pretty(&written).unwrap()).unwrap();
    let mut sources = [source(&RoCrate, &path)];
    let read = RoCrate.read(&mut sources, &Options::default());
    assert_eq!(sources[0].diagnostics.iter().count(), 0);
    (written, read)
}

/// Removes what describes the import, and not the run.
fn of_the_run(rows: &[Row]) -> Vec<Row> {
    let without = |row: &Row| Row { engine: "".into(), source: "".into(), line: None, source_sha256: None, ..row.clone() };
    rows.iter().map(without).collect()
}

fn entities<'j>(json: &'j Value, kind: &str) -> Vec<&'j Value> {
    json["@graph"].as_array().unwrap().iter().filter(|entity| entity["@type"] == kind).collect()
}

#[test]
fn real_runs_come_back_with_every_column() {
    let runs: [(&dyn Engine, &str); 7] = [
        (&nextflow::Nextflow, "nextflow/slurm_retried_ignored_array.log"),
        (&nextflow::Nextflow, "nextflow/local_resumed_cached_aborted.log"),
        (&nextflow::Nextflow, "nextflow/aws_s3.log"),
        (&nextflow::Nextflow, "nextflow/raw_with_script.trace.txt"),
        (&airflow::Airflow, "airflow/3.3.2/postgres.jsonl"),
        (&argo::Argo, "argo/words.json"),
        (&makeflow::Makeflow, "makeflow/failed_but_completed.makeflowlog"),
    ];
    for (engine, file) in runs {
        let rows = read(engine, &fixture(file));
        assert!(!rows.is_empty(), "{file}");
        let (json, read) = again(&rows);
        assert_eq!(of_the_run(&read), of_the_run(&rows), "{file}");
        assert_eq!(again(&rows).0, json, "{file}");
        let ids: Vec<&str> = json["@graph"].as_array().unwrap().iter().map(|entity| entity["@id"].as_str().unwrap()).collect();
        let distinct: std::collections::BTreeSet<_> = ids.iter().collect();
        assert_eq!(distinct.len(), ids.len(), "{file}");
    }
}

#[test]
fn a_run_uses_the_terms_of_the_profiles_and_leaves_unknown_values_out() {
    let second = 1_772_352_000_000_000_000;
    let task = |id: &str, attempt: i64, status: &str| Row {
        engine: "snakemake".into(),
        run_id: Some("r-1".into()),
        run_name: Some("words".into()),
        task_id: Some(id.to_owned().into()),
        attempt: Some(attempt),
        name: "count (a)".into(),
        logical_task: "count".into(),
        status: status.to_owned().into(),
        ..Row::default()
    };
    let failed = Row {
        started_ns: Some(second),
        started_precision_ns: Some(1_000_000_000),
        exit_code: Some(3),
        user: Some("u1".into()),
        ..task("1", 1, "failed")
    };
    let done = Row {
        realtime_s: Some(0.1 + 0.2),
        finished_ns: Some(second + 1_500_000),
        outputs: Some(r#"[{"bytes":17,"path":"/data/a b"},{"path":"rel"},{"path":"*.txt"}]"#.into()),
        ..task("1", 2, "completed")
    };
    let next =
        Row { inputs: Some(r#"[{"bytes":17,"path":"/data/a b"}]"#.into()), parents: Some("[\"1\"]".into()), ..task("2", 1, "unknown") };
    let rows = [failed, done, next];
    let (json, read) = again(&rows);
    assert_eq!(of_the_run(&read), of_the_run(&rows));

    let actions = entities(&json, "CreateAction");
    let [run, first, second, third] = actions[..] else { panic!("{actions:?}") };
    assert_eq!(run["instrument"]["@id"], "#workflow");
    assert!(run["actionStatus"].is_null() && run["startTime"].is_null(), "{run}");
    assert_eq!((&first["startTime"], &first["error"]), (&json!("2026-03-01T08:00:00Z"), &json!("exit code 3")));
    assert_eq!(first["agent"], json!({ "@id": "#user/u1" }));
    assert_eq!(first["object"], Value::Null);
    assert_eq!(second["endTime"], "2026-03-01T08:00:00.0015Z");
    assert_eq!(second["agent"], Value::Null);
    assert_eq!(second["result"], json!([{ "@id": "file:///data/a%20b" }, { "@id": "#file/rel" }]));
    assert_eq!((&second["actionStatus"], &third["actionStatus"]), (&json!("http://schema.org/CompletedActionStatus"), &Value::Null));
    let files = entities(&json, "File");
    assert_eq!(files[0], &json!({ "@id": "file:///data/a%20b", "@type": "File", "name": "/data/a b", "contentSize": "17" }));
    assert_eq!(files.len(), 2);
    let notes = metadata(&rows).unwrap().notes;
    assert_eq!(notes.values().copied().collect::<Vec<_>>(), [1, 1], "{notes:?}");
    assert!(metadata(&[]).is_err());
}

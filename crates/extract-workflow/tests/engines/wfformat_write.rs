//! Rows in, WfFormat instances out, and back.

use std::fs;
use std::path::{Path, PathBuf};

use flowmine_extract_workflow::makeflow::Makeflow;
use flowmine_extract_workflow::snakemake::Snakemake;
use flowmine_extract_workflow::wfformat::WfFormat;
use flowmine_extract_workflow::wfformat::write::{Run, id};
use flowmine_extract_workflow::{Engine, Options, Row, Source};
use flowmine_schema::diagnostic::Diagnostics;
use flowmine_schema::time::{SECOND_NS, rfc3339};
use serde_json::{Value, json};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn read(engine: &dyn Engine, paths: &[PathBuf]) -> Vec<Row> {
    let source = |path: &PathBuf| {
        let head = if path.is_dir() { Vec::new() } else { fs::read(path).unwrap() };
        let kind = engine.recognise(path, &head)?;
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        Some(Source { path: path.clone(), name, kind, sha256: String::new(), rows: 0, joined: 0, diagnostics: Diagnostics::default() })
    };
    engine.read(&mut paths.iter().filter_map(source).collect::<Vec<_>>(), &Options::default())
}

fn read_back(json: &Value) -> Vec<Row> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("instance.json");
    fs::write(&path, json.to_string()).unwrap();
    read(&WfFormat, &[path])
}

fn run(rows: Vec<Row>) -> Run {
    let text = |text: &Option<std::borrow::Cow<'_, str>>| text.as_deref().map(str::to_owned);
    Run { engine: rows[0].engine.to_string(), id: text(&rows[0].run_id), name: text(&rows[0].run_name), rows, ..Run::default() }
}

/// What must come back of a row: what the format has no place for is left out here, one by one.
fn without_cuts(row: &Row, executed_at: &str, makespan_s: f64, name: &str) -> Row {
    let ids = |list: &str| serde_json::from_str::<Vec<String>>(list).unwrap().iter().map(|text| id(text)).collect::<Vec<_>>();
    // Paths become ids; sizes stay.
    let files = |list: &str| {
        let mut files: Value = serde_json::from_str(list).unwrap();
        files.as_array_mut().unwrap().iter_mut().for_each(|file| file["path"] = id(file["path"].as_str().unwrap()).into());
        files.to_string().into()
    };
    let runtime = row.realtime_s.unwrap_or_else(|| (row.finished_ns.unwrap() - row.started_ns.unwrap()) as f64 / 1e9);
    // Precision is given by the number of digits only.
    let precision = row.started_ns.map(|ns| if ns % SECOND_NS == 0 { SECOND_NS } else { SECOND_NS / 1000 });
    Row {
        engine: "wfformat".into(),
        run_id: Some(executed_at.to_owned().into()),
        run_name: Some(name.to_owned().into()),
        task_id: row.task_id.as_deref().map(|text| id(text).into()),
        name: row.name.clone(),
        logical_task: row.logical_task.clone(),
        status: "unknown".into(),
        host: row.host.clone(),
        started_ns: row.started_ns,
        started_precision_ns: precision,
        finished_ns: row.started_ns.map(|ns| ns + (runtime * 1e9).round() as i64),
        finished_precision_ns: precision.map(|precision| precision + SECOND_NS / 1000),
        command: row.command.clone(),
        cpus: row.cpus,
        realtime_s: Some(runtime),
        run_makespan_s: Some(makespan_s),
        cpu_percent: row.cpu_percent,
        peak_rss_bytes: row.peak_rss_bytes,
        read_bytes: row.read_bytes.or(row.rchar_bytes),
        write_bytes: row.write_bytes.or(row.wchar_bytes),
        parents: row.parents.as_deref().map(|list| json!(ids(list)).to_string().into()),
        inputs: row.inputs.as_deref().map(files),
        outputs: row.outputs.as_deref().map(files),
        source: "instance.json".into(),
        ..Row::default()
    }
}

#[test]
fn runs_come_back_but_for_the_listed_cuts() {
    let monitored = fixture("makeflow/monitor");
    for (rows, unlisted) in [
        (read(&Snakemake, &Snakemake.find(&fixture("snakemake/slurm_9")).unwrap()), 8),
        (read(&Makeflow, &Makeflow.find(&monitored).unwrap()), 1),
    ] {
        let run = run(rows);
        let instance = run.instance().unwrap();
        let executed_at = instance.json["workflow"]["execution"]["executedAt"].as_str().unwrap();
        let makespan_s = instance.json["workflow"]["execution"]["makespanInSeconds"].as_f64().unwrap();
        let expected: Vec<Row> = run.rows.iter().map(|row| without_cuts(row, executed_at, makespan_s, run.label().unwrap())).collect();
        assert_eq!(read_back(&instance.json), expected);
        assert_eq!(instance.left.values().sum::<u64>(), unlisted, "{:?}", instance.left);
        // Once more, nothing is lost.
        let again = Run {
            engine: "wfformat".to_owned(),
            id: Some(executed_at.to_owned()),
            name: run.name.clone(),
            rows: expected,
            ..Run::default()
        };
        assert_eq!(read_back(&again.instance().unwrap().json), again.rows);
    }
}

#[test]
fn what_an_instance_said_of_its_execution_is_said_again() {
    let task = |id: &str, parents: &[&str], children: &[&str]| json!({ "name": id, "id": id, "parents": parents, "children": children, "inputFiles": ["/data/in"], "outputFiles": [format!("s3://b/{id}#1")] });
    let execution = json!({
        "executedAt": "05-04-23T10:46:27Z",
        "makespanInSeconds": 437.25,
        "tasks": [
            { "id": "A:b/1", "runtimeInSeconds": 100.187, "avgCPU": 59.919, "memoryInBytes": 74628, "coreCount": 2, "machines": ["w1"],
              "readBytes": 12, "writtenBytes": 7, "command": { "program": "cpuhog", "arguments": ["--percent-cpu", "0.6"] } },
            { "id": "c", "runtimeInSeconds": 3.0, "machines": ["w1", "w2"] },
            { "id": "d", "runtimeInSeconds": 0.0, "machines": ["w3"] }
        ],
        "machines": [
            { "nodeName": "w1", "system": "linux", "architecture": "x86_64", "release": "5.4.0", "memoryInBytes": 1_u64 << 40,
              "cpu": { "coreCount": 48, "speedInMHz": 1200, "vendor": "GenuineIntel" } },
            { "nodeName": "w2", "cpu": { "coreCount": 24 } },
            { "nodeName": "w3" }
        ]
    });
    let specification = json!({
        "tasks": [task("A:b/1", &[], &["c", "d"]), task("c", &["A:b/1"], &["d"]), task("d", &["A:b/1", "c"], &[])],
        "files": [{ "id": "/data/in", "sizeInBytes": 9 }, { "id": "s3://b/A:b/1#1", "sizeInBytes": 0 }, { "id": "s3://b/c#1", "sizeInBytes": 3 },
                  { "id": "s3://b/d#1", "sizeInBytes": 4 }]
    });
    let told = json!({ "name": "made", "schemaVersion": "1.6", "workflow": { "specification": specification, "execution": execution } });
    let instance = run(read_back(&told)).instance().unwrap();
    assert_eq!(instance.json["workflow"], told["workflow"]);
    let left: Vec<_> = instance.left.keys().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn an_instance_has_what_the_schema_requires() {
    let run = run(read(&Snakemake, &Snakemake.find(&fixture("snakemake/slurm_9")).unwrap()));
    let json = run.instance().unwrap().json;
    assert_eq!((json["schemaVersion"].as_str(), json["name"].as_str()), (Some("1.6"), Some("2026-11-22T060002.317716")));
    let is_id = |value: &Value| value.as_str().is_some_and(|id| id.chars().all(|c| c.is_ascii_alphanumeric() || "-_./:#".contains(c)));
    let tasks = json["workflow"]["specification"]["tasks"].as_array().unwrap();
    for task in tasks {
        assert!(is_id(&task["id"]) && task["name"].is_string(), "{task}");
        for list in ["parents", "children", "inputFiles", "outputFiles"] {
            assert!(task[list].as_array().unwrap().iter().all(is_id), "{task}");
        }
        for parent in task["parents"].as_array().unwrap() {
            let parent = tasks.iter().find(|task| task["id"] == *parent).unwrap();
            assert!(parent["children"].as_array().unwrap().contains(&task["id"]));
        }
    }
    let execution = &json["workflow"]["execution"];
    assert_eq!((execution["makespanInSeconds"].as_f64(), execution["executedAt"].as_str()), (Some(57.0), Some("2026-11-22T06:00:02Z")));
    assert_eq!(execution["machines"], json!([{ "nodeName": "node01" }]));
    assert!(execution["tasks"].as_array().unwrap().iter().all(|task| task["id"].is_string() && task["runtimeInSeconds"].is_f64()));
}

fn row(task: &str, attempt: i64, status: &str, parents: Option<&str>) -> Row {
    let begin = 1_795_327_202_500_000_000 + attempt * 100 * SECOND_NS;
    Row {
        engine: "snakemake".into(),
        run_name: Some("made".into()),
        task_id: Some(task.to_owned().into()),
        attempt: Some(attempt),
        name: task.to_owned().into(),
        logical_task: task.to_owned().into(),
        status: status.to_owned().into(),
        started_ns: Some(begin),
        finished_ns: Some(begin + 2 * SECOND_NS),
        parents: parents.map(|parents| parents.to_owned().into()),
        ..Row::default()
    }
}

#[test]
fn what_the_format_cannot_hold_is_counted() {
    let mut rows = vec![
        row("a b", 1, "completed", Some("[]")),
        row("a b", 2, "failed", Some("[]")),
        row("c", 1, "failed", Some(r#"["a b","gone","a b"]"#)),
        row("c", 2, "aborted", Some(r#"["a b"]"#)),
        row("d", 1, "cached", Some("[]")),
    ];
    rows.push(Row { task_id: None, ..row("x", 1, "unknown", None) });
    (rows[4].cached, rows[4].started_ns, rows[4].finished_ns) = (true, None, None);
    rows[0].outputs = Some(r#"[{"path":"f","bytes":7},{"path":"unknown"}]"#.into());
    rows[3].inputs = Some(r#"[{"path":"f","bytes":9}]"#.into());
    let instance = run(rows).instance().unwrap();
    let left: Vec<String> =
        instance.left.iter().map(|(what, count)| format!("{count} {}", what.split([',', ':']).next().unwrap())).collect();
    assert_eq!(
        left,
        [
            "1 attempts have no task id",
            "2 attempts were followed by others at the same task",
            "1 files had several sizes",
            "1 files have no size that is known",
            "1 ids of tasks have characters that the format does not allow",
            "1 tasks did not complete",
            "1 tasks have no runtime",
        ]
    );
    let json = &instance.json["workflow"];
    assert_eq!(json["specification"]["files"], json!([{ "id": "f", "sizeInBytes": 7 }]));
    assert_eq!(json["specification"]["tasks"][0]["children"], json!(["c"]));
    assert_eq!(json["specification"]["tasks"][1]["parents"], json!(["a_x20b"]));
    let ran: Vec<_> = json["execution"]["tasks"].as_array().unwrap().iter().map(|task| task["executedAt"].as_str().unwrap()).collect();
    assert_eq!(ran, [rfc3339(1_795_327_302_500_000_000), rfc3339(1_795_327_402_500_000_000)], "the one that completed, else the last");
    assert_eq!(json["execution"]["makespanInSeconds"], json!(102.0), "of all attempts");
}

#[test]
fn traced_data_flow_stands_in_for_parents_that_are_not_told() {
    let mut run = run(vec![row("a", 1, "completed", None), row("b", 1, "completed", None), row("c", 1, "completed", Some(r#"["b"]"#))]);
    assert!(run.instance().unwrap_err().contains("the parents of 2 of its 3 tasks"));
    run.read_from.insert("b".to_owned(), ["a".to_owned()].into());
    run.read_from.insert("c".to_owned(), ["a".to_owned()].into());
    assert!(run.instance().unwrap_err().contains("the parents of 1 of its 3 tasks"), "one was not traced");
    run.read_from.insert("a".to_owned(), [].into());
    let instance = run.instance().unwrap();
    let tasks = &instance.json["workflow"]["specification"]["tasks"];
    assert_eq!(
        [&tasks[0]["parents"], &tasks[1]["parents"], &tasks[2]["parents"]],
        [&json!([]), &json!(["a"]), &json!(["b"])],
        "what is told counts"
    );
    let description = "A run of snakemake, written by flowmine. The parents of 2 tasks are not those of the engine but those whose data they read, as traced";
    assert_eq!(instance.json["description"], description);
    assert_eq!(
        instance.left.iter().next().map(|(what, count)| (what.starts_with("tasks have parents from traced"), *count)),
        Some((true, 2))
    );
    run.read_from.insert("a".to_owned(), ["b".to_owned()].into());
    assert!(run.instance().unwrap_err().contains("has a cycle through"));
}

/// Outputs of Nextflow are where its inputs are, also those that it gives as patterns; sizes are
/// those of traced files.
#[test]
fn traced_files_are_named_with_sizes() {
    let mut rows = vec![row("1", 1, "completed", Some("[]")), row("2", 1, "completed", Some(r#"["1"]"#))];
    for (row, dir) in rows.iter_mut().zip(["/w/aa/1", "/w/bb/2"]) {
        (row.engine, row.work_dir) = ("nextflow".into(), Some(dir.into()));
    }
    (rows[0].inputs, rows[0].outputs) = (Some("[]".into()), Some(r#"[{"path":"*.part"},{"path":"all.log"}]"#.into()));
    rows[1].inputs = Some(r#"[{"path":"/w/aa/1/x.part"},{"path":"/data/in"}]"#.into());
    let mut run = run(rows);
    let read = ["/w/aa/1/x.part", "/w/aa/1/.command.sh", "/tmp/cache"].map(str::to_owned);
    run.gave.insert("1".to_owned(), read.into());
    run.written_to = [("/w/aa/1/x.part".to_owned(), 12), ("/w/aa/1/all.log".to_owned(), 7), ("/tmp/cache".to_owned(), 5)].into();
    let instance = run.instance().unwrap();
    let of = &instance.json["workflow"]["specification"];
    assert_eq!(of["tasks"][0]["outputFiles"], json!(["/w/aa/1/all.log", "/w/aa/1/x.part"]));
    assert_eq!(of["tasks"][1]["inputFiles"], json!(["/w/aa/1/x.part", "/data/in"]));
    let sizes = json!([{ "id": "/w/aa/1/all.log", "sizeInBytes": 7 }, { "id": "/w/aa/1/x.part", "sizeInBytes": 12 }]);
    assert_eq!(of["files"], sizes);
    assert_eq!(instance.left.iter().filter(|(what, count)| what.starts_with("outputs are patterns") && **count == 1).count(), 1);
}

#[test]
fn nothing_is_made_up() {
    let refused = |rows: Vec<Row>| run(rows).instance().unwrap_err();
    assert!(refused(vec![row("a", 1, "completed", None)]).contains("the parents of 1 of its 1 tasks"));
    assert!(refused(vec![Row { run_name: None, ..row("a", 1, "completed", Some("[]")) }]).contains("no run that is known"));
    assert!(refused(vec![Row { task_id: None, ..row("a", 1, "completed", Some("[]")) }]).contains("has an id"));
    let mut without_times = row("a", 1, "completed", Some("[]"));
    (without_times.started_ns, without_times.finished_ns) = (None, None);
    let instance = run(vec![without_times.clone()]).instance().unwrap();
    assert!(instance.json["workflow"].get("execution").is_none());
    without_times.realtime_s = Some(3.0);
    let instance = run(vec![without_times]).instance().unwrap();
    assert!(instance.json["workflow"].get("execution").is_none(), "when it began is required");
    assert_eq!(instance.left.len(), 1);
}

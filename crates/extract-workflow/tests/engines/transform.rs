//! Records of tasks that `flowmine transform` wrapped in, rows and diagnostics out.

use std::path::{Path, PathBuf};

use flowmine_dataset::Dataset;
use flowmine_extract_workflow::import_files::import_files;
use flowmine_extract_workflow::transform::Transform;
use flowmine_extract_workflow::{Engine, Options, Row, Source};
use flowmine_schema::diagnostic::Diagnostics;
use flowmine_schema::time::rfc3339;
use proptest::prelude::*;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/transform")
}

/// Rows, and diagnostics as `code:line`.
fn read(paths: &[PathBuf]) -> (Vec<Row>, Vec<String>) {
    let source = |path: &PathBuf| {
        let kind = Transform.recognise(path, &std::fs::read(path).unwrap()).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        Source { path: path.clone(), name, kind, sha256: String::new(), rows: 0, joined: 0, diagnostics: Diagnostics::default() }
    };
    let mut sources: Vec<Source> = paths.iter().map(source).collect();
    let rows = Transform.read(&mut sources, &Options::default());
    let said = sources.iter().flat_map(|source| source.diagnostics.iter()).map(|d| format!("{}:{}", d.code, d.line.unwrap_or(0)));
    (rows, said.collect())
}

fn text(of: &str) -> (Vec<Row>, Vec<String>) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t_1.record");
    std::fs::write(&path, of).unwrap();
    read(&[path])
}

fn statuses(rows: &[Row]) -> Vec<String> {
    let part = |text: &Option<std::borrow::Cow<'_, str>>| text.as_deref().unwrap_or("-").to_owned();
    let row_status = |row: &Row| {
        format!("{} {} {} {} {}", row.logical_task, row.attempt.unwrap(), row.status, part(&row.failed_layer), part(&row.failed_in))
    };
    rows.iter().map(row_status).collect()
}

/// Whose directory it is swaps a record and a link while it is imported: what the link leads to is
/// never read.
#[test]
fn a_link_that_comes_after_the_listing_is_not_followed() {
    let top = tempfile::tempdir().unwrap();
    let (dir, secret) = (top.path().join("given"), top.path().join("secret.record"));
    std::fs::create_dir(&dir).unwrap();
    let record = std::fs::read_to_string(Transform.find(&fixtures()).unwrap().first().unwrap()).unwrap();
    std::fs::write(&secret, record.replace("\"use\"", "\"SECRET\"").replace("\"make\"", "\"SECRET\"")).unwrap();
    std::fs::write(dir.join("t_1.record"), &record).unwrap();
    std::os::unix::fs::symlink(&secret, dir.join(".link")).unwrap();
    let names = ["t_1.record", ".link"].map(|name| std::ffi::CString::new(dir.join(name).into_os_string().into_encoded_bytes()).unwrap());
    let over = std::sync::atomic::AtomicBool::new(false);
    let found = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(std::sync::atomic::Ordering::Relaxed) {
                // SAFETY: two texts with a zero at their ends.
                unsafe {
                    libc::renameat2(libc::AT_FDCWD, names[0].as_ptr(), libc::AT_FDCWD, names[1].as_ptr(), libc::RENAME_EXCHANGE);
                }
            }
        });
        let (mut read, mut secrets) = (0, 0);
        for n in 0..200 {
            let dataset = Dataset::open_or_create(&top.path().join(n.to_string())).unwrap();
            import_files(&dataset, &Transform, std::slice::from_ref(&dir), &Options::default()).unwrap();
            dataset
                .read::<flowmine_schema::tables::TaskRun<'static>, flowmine_dataset::DatasetError>(|row| {
                    read += 1;
                    secrets += usize::from(row.logical_task == "SECRET");
                    Ok(())
                })
                .unwrap();
        }
        over.store(true, std::sync::atomic::Ordering::Relaxed);
        (read > 0, secrets)
    });
    assert_eq!(found, (true, 0));
}

#[test]
fn which_layer_failed() {
    let (rows, said) = read(&Transform.find(&fixtures()).unwrap());
    assert_eq!(said, Vec::<String>::new());
    assert_eq!(statuses(&rows), ["use 1 failed task cmd", "use 2 completed - -", "make 1 failed pull pre", "make 2 completed - -"]);
    let row = &rows[0];
    assert_eq!(
        (row.run_id.as_deref(), row.run_name.as_deref(), row.task_id.as_deref()),
        (None, Some("flow.json"), Some("0a52708a8048567d"))
    );
    assert_eq!((&*row.name, row.exit_code, row.error.as_deref()), ("rule 2", Some(4), Some("task failed in cmd with status 4")));
    assert_eq!((row.native_kind.as_deref(), row.native_id.as_deref(), row.host.as_deref()), (Some("pid"), Some("5149"), Some("vm")));
    assert_eq!((row.cpus, row.memory_bytes, row.disk_bytes), (Some(2), Some(100 << 20), None));
    assert_eq!(row.started_ns.map(rfc3339).as_deref(), Some("2026-11-24T12:25:52.650Z"));
    assert_eq!(row.finished_ns.map(rfc3339).as_deref(), Some("2026-11-24T12:25:52.670Z"));
    assert_eq!(row.parents.as_deref(), Some(r#"["d39b03810c0718a6"]"#));
    assert_eq!((row.inputs.as_deref(), row.outputs.as_deref()), (Some(r#"[{"path":"a"}]"#), Some(r#"[{"path":"b"}]"#)));
    let layers: serde_json::Value = serde_json::from_str(row.layers.as_deref().unwrap()).unwrap();
    assert_eq!(
        (layers[2]["name"].as_str(), layers[2]["failed_in"].as_str(), layers[2]["runs"].as_i64()),
        (Some("pull"), Some("cmd"), Some(1))
    );
    let of_pull: serde_json::Value = serde_json::from_str(rows[2].layers.as_deref().unwrap()).unwrap();
    assert_eq!((of_pull[0]["runs"].as_i64(), of_pull[0].get("status")), (Some(0), None), "the task itself never began");
    assert_eq!(rows[2].parents.as_deref(), Some("[]"));
}

fn begin(id: &str, instance: &str, job: &str, parents: &str, at: i64) -> String {
    format!(
        "{{\"task\":\"line 3\",\"activity\":\"count\",\"workflow\":\"s.sh\",\"layers\":[{{\"name\":\"task\",\"id\":\"{id}\"}},{{\"name\":\"a\",\"id\":\"{id}a\"}}],\"parents\":{parents},\"inputs\":[],\"outputs\":[],\"instance\":{instance},\"pid\":7,\"host\":\"n1\",\"job\":{job},\"begin\":{at}.05}}\n"
    )
}

fn ended(id: &str, status: i64, signal: &str) -> String {
    format!(
        "{{\"task\":\"line 3\",\"layer\":\"x\",\"level\":0,\"id\":\"{id}\",\"failed_in\":null,\"command\":{status},\"status\":{status},\"signal\":{signal},\"begin\":5.05,\"end\":6.09}}\n"
    )
}

#[test]
fn many_runs_of_one_script() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: String| std::fs::write(dir.path().join(name), text).unwrap();
    write("t_p.4.8.record", begin("p", "\"4.8\"", "\"4\"", "[]", 1) + &ended("p", 0, "null") + &ended("pa", 0, "null"));
    write("t_q.5.9.record", begin("q", "\"5.9\"", "\"5\"", "[\"p\"]", 2) + &ended("q", 143, "\"TERM\"") + &ended("qa", 143, "\"TERM\""));
    // The same job, started again, and another one.
    write("t_q.5.11.record", begin("q", "\"5.11\"", "\"5\"", "[\"p\"]", 3) + &ended("q", 0, "null") + &ended("qa", 0, "null"));
    write("t_q.6.9.record", begin("q", "\"6.9\"", "\"6\"", "[\"p\"]", 2));
    write("t_r.7.9.record", begin("r", "\"7.9\"", "\"7\"", "[\"q\"]", 9) + &ended("r", 0, "null") + &ended("ra", 3, "null"));
    let (rows, said) = read(&Transform.find(dir.path()).unwrap());
    // The last one began at 9.05 and ended at 6.09.
    assert_eq!(said, ["attempt_without_end:1", "attempt_ends_before_begin:1"]);
    let told: Vec<String> = rows
        .iter()
        .map(|row| {
            format!(
                "{} {} {} {} {:?}",
                row.task_id.as_deref().unwrap(),
                row.attempt.unwrap(),
                row.status,
                row.native_id.as_deref().unwrap(),
                row.parents.as_deref()
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            "p.4 1 completed 4 None",
            "q.5 1 aborted 5 Some(\"[\\\"p.4\\\"]\")",
            "q.5 2 completed 5 Some(\"[\\\"p.4\\\"]\")",
            "q.6 1 unknown 6 Some(\"[\\\"p.4\\\"]\")",
            "r.7 1 failed 7 None",
        ],
        "which of q's jobs came before r is not known"
    );
    assert_eq!((rows[4].failed_layer.as_deref(), rows[4].executor.as_deref()), (Some("a"), Some("slurm")));
}

#[test]
fn what_is_wrong_has_its_line() {
    let (rows, said) = text(
        &(ended("p", 0, "null") + "{\"broken\n" + &begin("p", "null", "null", "[]", 1) + &ended("z", 0, "null") + &ended("pa", 0, "null")),
    );
    assert_eq!((rows.len(), &*rows[0].status), (1, "completed"));
    assert_eq!(said, ["layer_without_attempt:1", "json_bad:2", "layer_without_attempt:4"]);
    assert_eq!(Transform.recognise(Path::new("x"), b"{\"task\":1}"), None);
}

proptest! {
    #[test]
    fn any_lines_are_read(lines in proptest::collection::vec("(\\{\"task\":\"a\",\"layers\":\\[\\{\"name\":\"t\",\"id\":\"p\"\\}\\],\"begin\":-?[0-9e.]{1,9}\\}|[ -~]{0,30}|\\{\"layer\":1,\"id\":\"p\",\"command\":1,\"status\":[0-9]\\})", 0..6)) {
        let _ = text(&format!("{{\"task\":\"a\",\"layers\":[]}}\n{}", lines.join("\n")));
    }
}

/// A file that says it has very many layers is no record, and what does not look like one is not
/// read as one.
#[test]
fn hostile_records() {
    let begin = |layers: usize| {
        let layers: Vec<_> = (0..layers).map(|n| serde_json::json!({"name": "a", "id": n.to_string()})).collect();
        // The fields in the order in which the scripts write them, by which a record is known.
        format!("{{\"task\":\"t\",\"layers\":{},\"begin\":5.0}}\n", serde_json::Value::from(layers))
    };
    assert_eq!(text(&begin(1000)).0.len(), 1);
    assert_eq!(text(&begin(1001)), (vec![], vec!["record_bad:1".to_owned()]));
    let odd = [
        r#"{"task":5,"layers":[{"name":"task","id":"q"}],"begin":1}"#,
        r#"{"task":"a","layers":[],"begin":1}"#,
        r#"{"task":"a","layers":[{"name":"task"}],"begin":1}"#,
        r#"{"task":"a","layers":[{"name":"task","id":"q"}],"begin":-5}"#,
        r#"{"task":"a","layers":[{"name":"task","id":"q"}],"begin":1e300}"#,
        r#"{"task":"a","layers":[{"name":"task","id":"q"}]}"#,
    ];
    let (rows, said) = text(&odd.join("\n"));
    assert_eq!((rows.len(), said.len()), (0, odd.len()), "{said:?}");
    // Wrong kinds of what may be absent are absent.
    let (rows, _) = text(
        r#"{"task":"a","layers":[{"name":"task","id":"q"}],"begin":1.5,"cores":"4","memory":9223372036854775807,"parents":[1,null],"inputs":{"a":1},"pid":"x","job":"12; rm","host":7}"#,
    );
    let row = &rows[0];
    assert_eq!(
        (row.cpus, row.memory_bytes, row.inputs.as_deref(), row.native_id.as_deref(), row.host.as_deref()),
        (None, None, None, None, None)
    );
    assert_eq!(row.parents.as_deref(), Some("[]"));
    let deep = format!("{{\"task\":\"a\",\"layers\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(text(&deep).0, vec![]);

    // Refused by its head, and so reported, but not read.
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t_1.record");
    std::fs::write(&path, begin(1)).unwrap();
    let diagnostics = Diagnostics::default();
    let mut sources =
        vec![Source { path, name: "t_1.record".to_owned(), kind: "", sha256: String::new(), rows: 0, joined: 0, diagnostics }];
    assert_eq!(Transform.read(&mut sources, &Options::default()), vec![]);
}

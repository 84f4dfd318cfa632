//! Transactions logs of TaskVine in, rows and diagnostics out.

use std::fs;
use std::path::Path;

use flowmine_extract_workflow::taskvine::TaskVine;
use flowmine_extract_workflow::{Engine, Options, Row, Source};
use flowmine_schema::diagnostic::Diagnostics;
use proptest::prelude::*;

const LOG: &str = "tests/fixtures/taskvine/2026-03-01T080000/vine-logs/transactions";

fn read(path: &Path) -> (Vec<Row>, Diagnostics) {
    let mut sources = [Source {
        path: path.to_owned(),
        name: "transactions".to_owned(),
        kind: "TaskVine transactions log",
        sha256: String::new(),
        rows: 0,
        joined: 0,
        diagnostics: Diagnostics::default(),
    }];
    let rows = TaskVine.read(&mut sources, &Options::default());
    (rows, std::mem::take(&mut sources[0].diagnostics))
}

#[test]
fn each_attempt_has_its_end() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(LOG);
    assert!(TaskVine.recognise(&path, &fs::read(&path).unwrap()).is_some());
    let (rows, said) = read(&path);
    assert_eq!(said.iter().count(), 0);
    let mut told: Vec<String> = rows
        .iter()
        .map(|row| {
            let id = row.task_id.as_deref().unwrap();
            format!("{} {id}/{} {} {:?} {:?}", row.logical_task, row.attempt.unwrap(), row.status, row.exit_code, row.error.as_deref())
        })
        .collect();
    told.sort();
    assert_eq!(
        told,
        [
            "library 9/1 aborted None Some(\"LIBRARY_EXIT\")",
            "map 1/1 completed Some(0) None",
            "map 2/1 aborted None None",
            "map 2/2 failed Some(3) None",
            "map 3/1 failed None Some(\"RESOURCE_EXHAUSTION\")",
            "map 3/2 completed Some(0) None",
            "reduce 4/1 running None None",
        ]
    );
    assert!(rows.iter().all(|row| row.run_name.as_deref() == Some("2026-03-01T080000")));
}

#[test]
fn times_are_the_workers_and_sizes_are_binary() {
    let (rows, _) = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join(LOG));
    let first = rows.iter().find(|row| row.task_id.as_deref() == Some("1")).unwrap();
    let begin = 1_772_352_000_000_000_000;
    let since = |ns: Option<i64>| ns.map(|ns| (ns - begin) / 1_000_000);
    assert_eq!(
        [first.queued_ns, first.submitted_ns, first.started_ns, first.finished_ns].map(since),
        [Some(101), Some(2000), Some(2100), Some(4900)]
    );
    assert_eq!((first.cpus, first.memory_bytes, first.peak_rss_bytes), (Some(2), Some(1000 << 20), Some(300 << 20)));
    assert_eq!((first.realtime_s, first.host.as_deref()), (Some(2.8), Some("192.0.2.11")));
    // A lost worker reports no start.
    let lost = rows.iter().find(|row| row.status == "aborted" && row.task_id.as_deref() == Some("2")).unwrap();
    assert_eq!((lost.started_ns, since(lost.finished_ns)), (None, Some(6000)));
    assert!(rows.iter().all(|row| row.parents.is_none()), "the log has no dependencies");
}

#[test]
fn the_directory_of_runs_has_their_logs() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/taskvine");
    for dir in [dir.clone(), dir.join("2026-03-01T080000"), dir.join("2026-03-01T080000/vine-logs")] {
        let found = TaskVine.find(&dir).unwrap();
        let logs = found.iter().filter(|path| path.is_file() && TaskVine.recognise(path, &fs::read(path).unwrap()).is_some());
        assert_eq!(logs.count(), 1, "{dir:?}");
    }
}

#[test]
fn a_long_name_is_not_repeated_without_end() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("transactions");
    let long = "h".repeat(8 << 20);
    let of = |lines: &[String]| {
        fs::write(&path, format!("# time manager_pid MANAGER manager_pid START\n1 1 MANAGER 1 START 0\n{}", lines.concat())).unwrap();
        let (rows, said) = read(&path);
        (rows.len(), said.iter().map(|d| d.message.clone()).collect::<Vec<_>>().join("\n"))
    };
    // The host of a worker, and the category of a task that begins again.
    let hosts = [format!("2 1 WORKER w CONNECTION {long}:1\n"), "3 1 TASK 5 RUNNING w\n".repeat(40)];
    let categories = [format!("2 1 TASK 5 READY {long}\n"), "3 1 TASK 5 RUNNING w\n4 1 TASK 5 READY\n".repeat(40)];
    for lines in [hosts, categories] {
        let (rows, said) = of(&lines);
        assert!(rows == 0 && said.contains("are too long for so many attempts"), "{rows} {said}");
        let fewer = lines.map(|text| text.lines().take(4).map(|line| format!("{line}\n")).collect::<String>());
        assert!(matches!(of(&fewer), (rows, said) if rows > 0 && said.is_empty()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    #[test]
    fn damaged_logs_do_not_panic(at in any::<prop::sample::Index>(), byte: u8, cut in any::<prop::sample::Index>()) {
        let mut bytes = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(LOG)).unwrap();
        let (at, cut) = (at.index(bytes.len()), cut.index(bytes.len()));
        bytes[at] = byte;
        bytes.truncate(cut);
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("transactions");
        fs::write(&path, bytes).unwrap();
        read(&path);
    }
}

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

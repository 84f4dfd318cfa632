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

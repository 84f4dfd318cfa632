//! Each small recorded file of an engine, with all its rows and diagnostics in `tests/expected/`.

use std::fs;
use std::path::Path;

use flowmine_extract_workflow::argo::Argo;
use flowmine_extract_workflow::kubernetes::Kubernetes;
use flowmine_extract_workflow::makeflow::Makeflow;
use flowmine_extract_workflow::taskvine::TaskVine;
use flowmine_extract_workflow::wfformat::WfFormat;
use flowmine_extract_workflow::{Engine, Options, Source};
use flowmine_schema::diagnostic::Diagnostics;
use flowmine_schema::tables::TaskRun;
use flowmine_test_support::{Cases, row_text};

/// The rows of a file, one a line, then its diagnostics.
fn rows(engine: &dyn Engine, path: &Path) -> String {
    let Some(kind) = engine.recognise(path, &fs::read(path).unwrap()) else { return "not recognised\n".to_owned() };
    let name = path.file_name().unwrap().to_str().unwrap().to_owned();
    let mut sources =
        [Source { path: path.to_owned(), name, kind, sha256: String::new(), rows: 0, joined: 0, diagnostics: Diagnostics::default() }];
    let rows = engine.read(&mut sources, &Options { zone_offset_s: Some(0), year: Some(2026) });
    let mut text: String = rows.iter().map(|row| format!("{}\n", row_text::<TaskRun<'static>>(row))).collect();
    for told in sources[0].diagnostics.iter() {
        let line = told.line.map_or_else(String::new, |line| format!(":{line}"));
        text.push_str(&format!("{:?} {}{line}*{}: {:?}\n", told.severity, told.code, told.count, told.message));
    }
    text
}

fn check(engine: &dyn Engine, folder: &str, is_case: impl Fn(&str) -> bool) {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    Cases::new(tests.join("fixtures").join(folder), tests.join("expected").join(folder)).check(is_case, |path| rows(engine, path));
}

#[test]
fn argo() {
    check(&Argo, "argo", |name| name.ends_with(".json"));
}

#[test]
fn kubernetes() {
    check(&Kubernetes, "kubernetes", |name| name.contains(".json"));
}

#[test]
fn makeflow() {
    check(&Makeflow, "makeflow", |name| name.ends_with(".makeflowlog"));
}

#[test]
fn taskvine() {
    check(&TaskVine, "taskvine/2026-03-01T080000/vine-logs", |name| name == "transactions");
}

#[test]
fn wfformat() {
    check(&WfFormat, "wfformat", |name| name.ends_with(".json"));
}

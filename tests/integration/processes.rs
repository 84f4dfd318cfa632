//! Programs that make processes, threads and filters in unusual ways see the same under ptrace as
//! without it, and what all their processes write has rows.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use crate::support::operations::Seen;
use crate::support::operations::compiled;
use crate::support::require::require;
use crate::support::{doctor, traced};

const CASES: [&str; 16] = [
    "by_clone",
    "by_clone3",
    "no_stack",
    "as_thread",
    "as_vfork",
    "with_tracer_flag",
    "begun_again",
    "at_once",
    "foreign",
    "in_namespaces",
    "as_brother",
    "thread_executes",
    "short_ones",
    "other_user",
    "own_filter",
    "supervised",
];

/// `tests/operations/processes.c`, compiled when it is first asked for.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| compiled("processes"))
}

/// A case in an empty directory, under other words or natively. The time is for what hangs.
fn run(directory: &Path, words: &[&str], case: &str) -> Output {
    std::fs::create_dir(directory).unwrap();
    let mut command = Command::new("timeout");
    command.args(["-s", "KILL", "60"]).args(words).arg(program()).arg(case).current_dir(directory).stdin(Stdio::null());
    command.output().unwrap()
}

/// Names of the files `by-…`, each of which must hold what was to be written.
fn left(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = entries.filter(|name| name.starts_with("by-")).collect();
    names.sort();
    for name in &names {
        assert_eq!(std::fs::read_to_string(directory.join(name)).unwrap(), "hello", "{name}");
    }
    names
}

fn traces_by_ptrace() -> bool {
    require("ptrace", "ptrace", doctor::says("ptrace").0)
}

#[test]
fn each_case_is_as_without_the_trace() {
    if !traces_by_ptrace() {
        return;
    }
    for case in CASES {
        let base = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let native = run(&base.path().join("native"), &[], case);
        let names = left(&base.path().join("native"));
        assert_ne!(native.status.code(), Some(2), "{case}: {}", String::from_utf8_lossy(&native.stderr));
        for detail in ["events", "totals"] {
            let (directory, dataset) = (base.path().join(detail), base.path().join(format!("{detail}.data")));
            let words = [env!("CARGO_BIN_EXE_flowmine"), "trace", "--must-trace", "--backend", "ptrace", "--detail", detail];
            let traced = run(&directory, &[&words[..], &["--dataset", dataset.to_str().unwrap(), "--"]].concat(), case);
            let said = String::from_utf8_lossy(&traced.stderr);
            let text = |output: &Output| String::from_utf8_lossy(&output.stdout).into_owned();
            assert_eq!(text(&traced), text(&native), "{case} {detail}: {said}");
            assert_eq!(traced.status.code(), native.status.code(), "{case} {detail}: {said}");
            assert_eq!(left(&directory), names, "{case} {detail}");
            let (rows, _) = traced::rows(&dataset);
            for name in &names {
                has_rows(&rows, &directory.join(name), detail, case);
            }
        }
    }
}

/// A file was opened, and where reads and writes have rows it was written by who opened it.
fn has_rows(rows: &[Seen], path: &Path, detail: &str, case: &str) {
    let path = path.as_os_str().as_encoded_bytes();
    let open = rows.iter().find(|row| row.op == "open" && row.result == Some(0) && row.path.as_deref() == Some(path));
    let open = open.unwrap_or_else(|| panic!("{case} {detail}: nobody opens {}", String::from_utf8_lossy(path)));
    if detail == "events" {
        let writes = |row: &&Seen| row.op == "write" && row.result == Some(5) && (row.pid, row.handle) == (open.pid, open.handle);
        assert_eq!(rows.iter().filter(writes).count(), 1, "{case}: {}", String::from_utf8_lossy(path));
    }
}

/// A process has one tracer: a debugger below the trace is refused by the kernel, and sees that.
#[test]
fn a_program_cannot_trace_what_is_traced() {
    if !traces_by_ptrace() {
        return;
    }
    let base = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let dataset = base.path().join("data");
    let words = [env!("CARGO_BIN_EXE_flowmine"), "trace", "--backend", "ptrace", "--dataset", dataset.to_str().unwrap(), "--"];
    let output = run(&base.path().join("traced"), &words, "traces");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "who asks to be traced exits with 1 (Operation not permitted)\n");
}

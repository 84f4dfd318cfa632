//! The same known programs traced in every way, on this kernel: the rows are the same but for declared blind spots, and what is declared must be
//! true. `docs/tracing.md` has these lists for users.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]

#[path = "support/operations.rs"]
mod operations;
#[path = "support/require.rs"]
mod require;
#[path = "support/sight.rs"]
mod sight;
#[path = "support/traced.rs"]
mod traced;

use std::path::{Path, PathBuf};
use std::process::Command;

use operations::{Expectations, Used, Way};
use require::require;
use sight::{FUSE, PTRACE, SYSCALLS};

fn flowmine() -> &'static str {
    env!("CARGO_BIN_EXE_flowmine")
}

fn doctor_says(backend: &str) -> (bool, String) {
    let output = Command::new(flowmine()).args(["doctor", "--json"]).output().unwrap();
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let ways = found["ways"].as_array().unwrap();
    let way = ways.iter().find(|way| way["backend"] == backend).unwrap_or_else(|| panic!("doctor does not know {backend}"));
    (way["works"] == true, way["how"].as_str().unwrap_or_default().to_owned())
}

/// Where the cases run: `FLOWMINE_SCRATCH`, or beside the target folder.
fn scratch() -> PathBuf {
    std::env::var_os("FLOWMINE_SCRATCH").map_or_else(|| env!("CARGO_TARGET_TMPDIR").into(), PathBuf::from)
}

/// Every case in one way, here.
fn every_case(way: &Way, options: &[&str]) {
    let base = tempfile::tempdir_in(scratch()).unwrap();
    let (mut used, mut wrong, mut ran) = (Used::default(), Vec::new(), 0);
    let only = std::env::var("FLOWMINE_CASE").unwrap_or_default();
    for case in operations::cases().iter().filter(|case| case.contains(&only)) {
        let (dir, expectations, dataset) =
            (base.path().join(case), base.path().join(format!("{case}.expect")), base.path().join(format!("{case}.data")));
        std::fs::create_dir(&dir).unwrap();
        let mut command = Command::new(flowmine());
        command.args(["trace", "--dataset"]).arg(&dataset).args(options).arg("--");
        // It is there before, or it gets the inode of a file that the case deleted, and its own rows look like those of the case.
        std::fs::write(&expectations, "").unwrap();
        let expected = operations::run(command, case, &dir, &expectations).unwrap_or_default();
        // Without the right to chroot, say.
        if expected.rows.is_empty() {
            continue;
        }
        ran += 1;
        wrong.extend(compare(way, case, &dir, &expected, &dataset, &mut used));
    }
    assert!(wrong.is_empty(), "{}: {} of {ran} cases differ\n{}", way.name, wrong.len(), wrong.join("\n"));
    if only.is_empty() {
        assert!(ran >= 30, "{}: only {ran} cases ran", way.name);
        used.check(way).unwrap();
    }
}

fn compare(way: &Way, case: &str, dir: &Path, expected: &Expectations, dataset: &Path, used: &mut Used) -> Option<String> {
    let (rows, files) = traced::rows(dataset);
    operations::compare(way, case, dir, expected, &rows, &files, used).err().map(|text| format!("{case}: {text}"))
}

#[test]
fn ebpf_by_system_calls() {
    let (works, how) = doctor_says("ebpf");
    if require("bpf", &format!("eBPF ({how})"), works) {
        every_case(&SYSCALLS, &["--backend", "ebpf", "--hooks", "syscalls"]);
    }
}

#[test]
fn ptrace() {
    let (works, how) = doctor_says("ptrace");
    if require("ptrace", &format!("ptrace ({how})"), works) {
        every_case(&PTRACE, &["--backend", "ptrace"]);
    }
}

/// The way in that is not finished: plain reads and writes are right.
#[test]
fn fuse_tells_plain_reads_and_writes() {
    let (works, how) = doctor_says("fuse");
    if !require("fuse", &format!("FUSE ({how})"), works) {
        return;
    }
    let base = tempfile::tempdir_in(scratch()).unwrap();
    let mut used = Used::default();
    for case in ["sequential", "random", "append", "pread_pwrite", "vectored", "dup", "threads", "fork_without_exec"] {
        assert!(operations::cases().iter().any(|name| name == case), "{case} is a case");
        let (dir, expectations, dataset) =
            (base.path().join(case), base.path().join(format!("{case}.expect")), base.path().join(format!("{case}.data")));
        std::fs::create_dir(&dir).unwrap();
        let mut command = Command::new(flowmine());
        command.args(["trace", "--dataset"]).arg(&dataset).args(["--backend", "fuse", "--"]);
        let expected = operations::run(command, case, &dir, &expectations).expect("it runs everywhere");
        assert_eq!(compare(&FUSE, case, &dir, &expected, &dataset, &mut used), None);
    }
}

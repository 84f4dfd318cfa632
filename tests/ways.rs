//! The same known programs traced in every way, on this kernel: the rows are the same but for declared blind spots, and what is declared must be
//! true. `docs/tracing.md` has these lists for users.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]

#[path = "support/operations.rs"]
mod operations;
#[path = "support/require.rs"]
mod require;
#[path = "support/traced.rs"]
mod traced;

use std::path::{Path, PathBuf};
use std::process::Command;

use operations::{Blind, Column, Expectations, Extra, Sight, Used, Want, Way};
use require::require;

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
        let Some(expected) = operations::run(command, case, &dir, &expectations) else { continue };
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

const UNKNOWN_INODE: Blind = Blind {
    why: "the system call names a path; which inode it led to is known to the VFS alone",
    of: |_, row| matches!(row.op.as_str(), "delete" | "rename" | "link"),
    sight: Sight::Null(Column::File),
};

const AIO: Blind = Blind {
    why: "io_submit(2) (libaio) is no call that is hooked",
    of: |case, row| case == "aio" && matches!(row.op.as_str(), "read" | "write"),
    sight: Sight::NoRow,
};

const NO_IO_URING: Blind = Blind {
    why: "what goes through io_uring passes no system call; submissions are counted in `losses`",
    of: |_, row| row.via == Want::Is("io_uring".to_owned()),
    sight: Sight::NoRow,
};

const LONG_PATH: Blind = Blind {
    why: "/proc tells no path of more than 4096 bytes",
    of: |case, row| case == "longer_path" && matches!(row.op.as_str(), "open" | "delete") && row.path != Want::Any,
    sight: Sight::Null(Column::Path),
};

const SYSCALLS: Way = Way { name: "eBPF, system calls", same_files: true, ordered: true, blind: &[UNKNOWN_INODE, AIO], extra: NO_EXTRA };
const PTRACE: Way = Way { name: "ptrace", same_files: true, ordered: true, blind: &[AIO, NO_IO_URING, LONG_PATH], extra: NO_EXTRA };
const FUSE: Way = Way { name: "FUSE", same_files: false, ordered: true, blind: &[], extra: NO_EXTRA };
const NO_EXTRA: &[Extra] = &[];

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

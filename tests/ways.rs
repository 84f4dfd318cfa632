//! The same known programs traced in every way, on this kernel and on Debian's: the rows are the same but for declared blind spots, and what is declared must be
//! true. `docs/tracing.md` has these lists for users.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]

#[path = "support/operations.rs"]
mod operations;
#[path = "support/qemu.rs"]
mod qemu;
#[path = "support/require.rs"]
mod require;
#[path = "support/traced.rs"]
mod traced;

use std::path::{Path, PathBuf};
use std::process::Command;

use operations::{Blind, Column, Expectations, Extra, Sight, Used, Way};
use qemu::{KERNELS, Machine, NEEDED};
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
fn every_case(way: &Way, options: &[&str], excused: &[(&str, &str)]) {
    let base = tempfile::tempdir_in(scratch()).unwrap();
    let (mut used, mut wrong, mut ran) = (Used::default(), Vec::new(), 0);
    let only = std::env::var("FLOWMINE_CASE").unwrap_or_default();
    for case in operations::cases().iter().filter(|case| case.contains(&only)) {
        if excused.iter().any(|(name, _)| name == case) {
            continue;
        }
        let (dir, expectations, dataset) = (base.path().join(case), base.path().join(format!("{case}.expect")), base.path().join(format!("{case}.data")));
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

const SYSCALLS: Way = Way { name: "eBPF, system calls", same_files: true, ordered: true, blind: &[UNKNOWN_INODE], extra: NO_EXTRA };
const VFS: Way = Way { name: "eBPF, VFS", same_files: true, ordered: true, blind: &[], extra: NO_EXTRA };
const PTRACE: Way = Way { name: "ptrace", same_files: true, ordered: true, blind: &[], extra: NO_EXTRA };
const FUSE: Way = Way { name: "FUSE", same_files: false, ordered: true, blind: &[], extra: NO_EXTRA };
const NO_EXTRA: &[Extra] = &[];

#[test]
fn ebpf_by_system_calls() {
    let (works, how) = doctor_says("ebpf");
    if require("bpf", &format!("eBPF ({how})"), works) {
        every_case(&SYSCALLS, &["--backend", "ebpf", "--hooks", "syscalls"], &[]);
    }
}

#[test]
fn ptrace() {
    let (works, how) = doctor_says("ptrace");
    if require("ptrace", &format!("ptrace ({how})"), works) {
        every_case(&PTRACE, &["--backend", "ptrace"], &[]);
    }
}

#[test]
fn fuse() {
    let (works, how) = doctor_says("fuse");
    if require("fuse", &format!("FUSE ({how})"), works) {
        every_case(&FUSE, &["--backend", "fuse"], &[]);
    }
}

/// Both sets of hooks on Debian's kernels.
#[test]
fn ebpf_on_debian_kernels() {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let has = |name: &str| std::env::split_paths(&path).chain(["/usr/sbin".into(), "/sbin".into()]).any(|dir: PathBuf| dir.join(name).is_file());
    let missing: Vec<_> = NEEDED.into_iter().filter(|name| !has(name)).collect();
    if !require("qemu", &missing.join(", "), missing.is_empty()) {
        return;
    }
    let script = "
        flowmine doctor > /results/doctor; uname -r >> /results/doctor
        for hooks in syscalls vfs; do
            mkdir -p /work/$hooks /results/$hooks
            for case in $(operations --list); do
                mkdir /work/$hooks/$case && cd /work/$hooks/$case
                timeout 60 flowmine trace --dataset /results/$hooks/$case.data --backend ebpf --hooks $hooks -- operations $case --expect /results/$hooks/$case.expect \
                    2> /results/$hooks/$case.err || echo \"$hooks $case $?: $(tail -n 1 /results/$hooks/$case.err)\"
            done
        done
        exit 41";
    let only = std::env::var("FLOWMINE_KERNEL").unwrap_or_default();
    for (suite, version) in KERNELS.iter().filter(|(suite, _)| suite.contains(&only)) {
        let temp = tempfile::tempdir_in(scratch()).unwrap();
        let results = temp.path().join("results");
        let machine = Machine::new(suite, 500).program(operations::program()).program(Path::new(flowmine()));
        let ended = machine.run(script, temp.path(), &results);
        assert_eq!(ended.code, 41, "{suite}: {}\n{}", ended.output, ended.messages);
        let mut wrong: Vec<String> = ended.output.lines().filter(|line| !line.contains("cannot run here")).map(str::to_owned).collect();
        for (hooks, way) in [("syscalls", &SYSCALLS), ("vfs", &VFS)] {
            let mut used = Used::default();
            let mut ran = 0;
            for case in operations::cases() {
                let Ok(told) = std::fs::read(results.join(hooks).join(format!("{case}.expect"))) else { continue };
                ran += 1;
                let dir = PathBuf::from(format!("/work/{hooks}/{case}"));
                let dataset = results.join(hooks).join(format!("{case}.data"));
                let difference = if dataset.is_dir() { compare(way, &case, &dir, &operations::parse(&told), &dataset, &mut used) } else { Some(format!("{case}: no dataset")) };
                wrong.extend(difference.map(|text| format!("{hooks} {text}")));
            }
            assert!(ran >= 30, "{suite}, {hooks}: only {ran} cases ran\n{}\n{}", ended.output, std::fs::read_to_string(results.join("doctor")).unwrap_or_default());
            if let Err(unused) = used.check(way) {
                wrong.push(unused);
            }
        }
        assert!(wrong.is_empty(), "{suite} ({version}): {} differences\n{}", wrong.len(), wrong.join("\n"));
    }
}

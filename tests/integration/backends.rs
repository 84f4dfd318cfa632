//! The same known programs traced in every way, on this kernel: the rows are the same but for
//! declared blind spots, and what is declared must be true. `docs/tracing.md` has these lists for
//! users.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::operations::{Expectations, Used, Way};
use crate::support::require::require;
use crate::support::sight::{FUSE, FUSE_OF_A_USER, PTRACE, SYSCALLS};
use crate::support::{doctor, operations, traced};

fn flowmine() -> &'static str {
    env!("CARGO_BIN_EXE_flowmine")
}

/// Where the cases run: `FLOWMINE_SCRATCH`, or beside the target folder.
fn scratch() -> PathBuf {
    std::env::var_os("FLOWMINE_SCRATCH").map_or_else(|| env!("CARGO_TARGET_TMPDIR").into(), PathBuf::from)
}

/// Calls on directories that a way tells of the process of the case `directory_calls`.
fn counted(way: &Way) -> [Option<i64>; 5] {
    match way.name {
        name if name == SYSCALLS.name => operations::COUNTED,
        // Not those of stat(2): to stop each of them would cost too much.
        name if name == PTRACE.name => [&operations::COUNTED[..4], &[None]].concat().try_into().unwrap(),
        _ => [None; 5],
    }
}

/// Every case in one way, here. `broken` are cases that do not come to their end when they are
/// traced so, with the reason: they must fail. `under` is a program and its arguments before the
/// tracer.
fn every_case(way: &Way, under: &[&str], options: &[&str], broken: &[(&str, &str)]) {
    let base = tempfile::tempdir_in(scratch()).unwrap();
    let (mut used, mut wrong, mut ran) = (Used::default(), Vec::new(), 0);
    let only = std::env::var("FLOWMINE_CASE").unwrap_or_default();
    for case in operations::cases().iter().filter(|case| case.contains(&only)) {
        let (dir, expectations, dataset) =
            (base.path().join(case), base.path().join(format!("{case}.expect")), base.path().join(format!("{case}.data")));
        std::fs::create_dir(&dir).unwrap();
        // Where we may, a group that is not ours: what a user namespace does not know.
        let _ = std::os::unix::fs::chown(&dir, None, Some(65534));
        let words: Vec<&str> = under.iter().copied().chain([flowmine()]).collect();
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).args(["trace", "--dataset"]).arg(&dataset).args(options).arg("--");
        // It is there before, or it gets the inode of a file that the case deleted, and its own rows look like those of the case.
        std::fs::write(&expectations, "").unwrap();
        if let Some((_, why)) = broken.iter().find(|(name, _)| name == case) {
            let output = command.arg(operations::program()).args([case, "--expect"]).arg(&expectations).current_dir(&dir).output().unwrap();
            assert_eq!(output.status.code(), Some(2), "{case} is said not to work ({why}): {}", String::from_utf8_lossy(&output.stderr));
            continue;
        }
        let expected = operations::run(command, case, &dir, &expectations).unwrap_or_default();
        // Without the right to chroot, say.
        if expected.rows.is_empty() {
            continue;
        }
        ran += 1;
        wrong.extend(compare(way, case, &dir, &expected, &dataset, &mut used));
        if case == "directory_calls" && !traced::directory_calls(&dataset).contains(&counted(way)) {
            wrong.push(format!("{case}: no process has {:?}: {:?}", counted(way), traced::directory_calls(&dataset)));
        }
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

/// Cases that do not come to their end.
const BROKEN_OVER_FUSE: &[(&str, &str)] = &[(
    "io_uring_position",
    "Linux does not move the position of a file of FUSE that is read past the page cache when io_uring reads at the position (fuse_direct_IO)",
)];

#[test]
fn ebpf_by_system_calls() {
    let (works, how) = doctor::says("ebpf");
    if require("bpf", &format!("eBPF ({how})"), works) {
        every_case(&SYSCALLS, &[], &["--backend", "ebpf", "--hooks", "syscalls"], &[]);
    }
}

#[test]
fn ptrace() {
    let (works, how) = doctor::says("ptrace");
    if require("ptrace", &format!("ptrace ({how})"), works) {
        every_case(&PTRACE, &[], &["--backend", "ptrace"], &[]);
    }
}

#[test]
fn fuse() {
    let (works, how) = doctor::says("fuse");
    if require("fuse", &format!("FUSE ({how})"), works) {
        every_case(&FUSE, &[], &["--backend", "fuse"], BROKEN_OVER_FUSE);
    }
}

/// Without capabilities (but the one without which root must not be in a user namespace): root
/// stays the owner of the files, but is a user like others.
#[test]
fn fuse_without_privileges() {
    let (works, how) = doctor::says("fuse");
    let helps =
        |program: &str, arguments: &[&str]| Command::new(program).args(arguments).output().is_ok_and(|output| output.status.success());
    let namespaces = helps("setpriv", &["--bounding-set", "-all,+setfcap", "unshare", "--user", "true"]);
    if require("fuse", &format!("FUSE ({how}) and user namespaces"), works && namespaces) {
        every_case(&FUSE_OF_A_USER, &["setpriv", "--bounding-set", "-all,+setfcap"], &["--backend", "fuse"], BROKEN_OVER_FUSE);
    }
}

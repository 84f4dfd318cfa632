//! Where transfers begin when processes and threads share the position of an open file or append to
//! one file, in every way of tracing: an offset that is given is right, and one that cannot be
//! known is marked.

use crate::support::doctor::works;
use crate::support::{flowmine, positions};

/// Transfers of each thread.
const COUNT: &str = "2000";

/// Runs with copies that begin at the same time. A server that refuses FUSE_COPY_FILE_RANGE_64 loses
/// rows in half of them.
const RUNS: usize = 6;

/// Every case in one way; `exact` says of which cases all offsets must be known.
fn every_case(backend: &str, options: &[&str], skip: &[&str], exact: impl Fn(&str) -> bool) {
    if !works(backend) {
        return;
    }
    let mut wrong = Vec::new();
    for case in positions::cases().iter().filter(|case| !skip.contains(&case.as_str())) {
        let base = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let (dir, dataset) = (base.path().join("work"), base.path().join("data"));
        std::fs::create_dir(&dir).unwrap();
        let mut command = flowmine();
        command.args(["trace", "--backend", backend, "--ring", "64M", "--dataset"]).arg(&dataset).args(options).arg("--");
        let output = command.arg(positions::program()).args([case, COUNT]).current_dir(&dir).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{case}: {}", String::from_utf8_lossy(&output.stderr));
        match positions::compare(&dataset, &dir, &dir) {
            Ok(told) if told.certain == 0 => wrong.push(format!("{case}: {told:?}")),
            Ok(told) if exact(case) && told.uncertain > 0 => wrong.push(format!("{case}: {told:?}")),
            Ok(told) => eprintln!("{backend}, {case}: {told:?}"),
            Err(error) => wrong.push(format!("{case}: {error}\n{}", String::from_utf8_lossy(&output.stderr))),
        }
    }
    assert!(wrong.is_empty(), "{backend}:\n{}", wrong.join("\n"));
}

#[test]
fn ebpf_by_system_calls() {
    every_case("ebpf", &["--hooks", "syscalls"], &[], |case| positions::APART.contains(&case));
}

/// Threads are stopped at each call, and those that share a position wait for each other, but for
/// calls that may wait themselves and for appends of others.
#[test]
fn ptrace() {
    let overlap = ["own_append_pwrite", "shared_sendfile", "shared_splice", "shared_both"];
    every_case("ptrace", &[], &[], |case| !overlap.contains(&case));
}

/// The kernel asks for a transfer at its offset. What sendfile(2) and splice(2) read comes from its
/// cache.
#[test]
fn fuse() {
    every_case("fuse", &["--directory", "."], &["shared_sendfile", "shared_splice", "shared_both"], |_| true);
}

/// Linux 6.18 gives up all requests for copies when a server refuses two new ones at the same time.
#[test]
fn copies_that_begin_together_by_fuse() {
    if !works("fuse") {
        return;
    }
    for run in 0..RUNS {
        let base = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let (dir, dataset) = (base.path().join("work"), base.path().join("data"));
        std::fs::create_dir(&dir).unwrap();
        let mut command = flowmine();
        command.args(["trace", "--backend", "fuse", "--directory", ".", "--dataset"]).arg(&dataset).arg("--");
        let output = command.arg(positions::program()).args(["shared_copy", "20"]).current_dir(&dir).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "run {run}: {}", String::from_utf8_lossy(&output.stderr));
        let told = positions::compare(&dataset, &dir, &dir);
        assert!(matches!(&told, Ok(told) if told.certain == 4 * 20 && told.uncertain == 0), "run {run}: {told:?}");
    }
}

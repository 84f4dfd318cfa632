//! A command that serves a file system of FUSE itself: the tracer must not wait for a server that
//! it has stopped. Each run has a mount namespace of its own, so that nothing stays mounted.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use crate::support::operations::{Seen, compiled};
use crate::support::require::require;
use crate::support::{doctor, traced};

/// `tests/operations/served.c`, compiled when it is first asked for.
fn program() -> &'static str {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| compiled("served")).to_str().unwrap()
}

/// A command in an empty directory. The time is for what hangs.
fn run(directory: &Path, words: &[&str]) -> Output {
    std::fs::create_dir(directory).unwrap();
    let mut command = Command::new("timeout");
    command.args(["-s", "KILL", "120", "unshare", "--mount", "--propagation", "private"]);
    command.args(words).current_dir(directory).stdin(Stdio::null()).output().unwrap()
}

/// The backends that work here, as root with FUSE; none otherwise.
fn backends() -> Vec<&'static str> {
    // SAFETY: geteuid(2) has no effect.
    let root = unsafe { libc::geteuid() } == 0;
    if !require("fuse", "root and FUSE", root && doctor::works("fuse")) {
        return Vec::new();
    }
    ["ptrace", "fuse", "ebpf"].into_iter().filter(|backend| require(backend, backend, doctor::works(backend))).collect()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_server_below_the_trace_answers() {
    for backend in backends() {
        for (how, detail) in [(&["0"][..], "events"), (&["3600"], "events"), (&["0", "apart"], "events"), (&["3600", "apart"], "totals")] {
            let base = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
            let native = run(&base.path().join("native"), &[&[program()], how].concat());
            assert!(native.status.success(), "{how:?}: {native:?}");
            let (directory, dataset) = (base.path().join("traced"), base.path().join("data"));
            let trace = [env!("CARGO_BIN_EXE_flowmine"), "trace", "--must-trace", "--detail", detail, "--backend", backend];
            let rest = ["--directory", directory.to_str().unwrap(), "--dataset", dataset.to_str().unwrap(), "--", program()];
            let output = run(&directory, &[&trace[..], &rest, how].concat());
            let what = format!("{backend} {how:?} {detail}: {output:?}");
            assert!(output.status.success(), "{what}");
            assert_eq!(text(&output), text(&native), "{what}");
            if backend == "ptrace" {
                has_rows(&traced::rows(&dataset).0, &directory, detail, how.len() > 1, &what);
            }
        }
    }
}

/// What the users of the served files did has rows, with the paths as they see them.
fn has_rows(rows: &[Seen], directory: &Path, detail: &str, apart: bool, what: &str) {
    let path = |name: &str| Some(directory.join(name).into_os_string().into_encoded_bytes());
    // The tracer does not have a file system that is mounted for others only.
    let seen = |row: &Seen| if apart { row.container_path.clone() } else { row.path.clone() };
    let opens = |name: &str| rows.iter().find(|row| row.op == "open" && row.result == Some(0) && seen(row) == path(name));
    let open = opens("mnt/in").unwrap_or_else(|| panic!("nobody opens the served file: {what}"));
    let of_server = |row: &Seen| row.op == "open" && row.result == Some(0) && row.path == path("back/in") && row.pid != open.pid;
    assert!(rows.iter().any(of_server), "the server's own file has no row: {what}");
    if detail == "events" {
        let reads = |row: &&Seen| row.op == "read" && row.handle == open.handle && row.pid == open.pid;
        assert_eq!(rows.iter().filter(reads).map(|row| row.result).collect::<Vec<_>>(), [Some(7)], "{what}");
        // The second text is appended where the kernel has the end of the file.
        let made = rows.iter().filter(|row| row.op == "open" && row.result == Some(0) && seen(row) == path("mnt/made"));
        let handles: Vec<_> = made.map(|row| row.handle).collect();
        let writes = rows.iter().filter(|row| row.op == "write" && row.pid == open.pid && handles.contains(&row.handle));
        let writes: Vec<_> = writes.map(|row| (row.offset, row.result)).collect();
        assert_eq!(writes, [(Some(0), Some(6)), (Some(6), Some(6))], "{what}");
    }
    let renamed = rows.iter().find(|row| row.op == "rename" && row.pid == open.pid).expect("a row of the rename");
    assert_eq!((renamed.result, seen(renamed)), (Some(0), path("mnt/made")), "{what}");
    let deleted: Vec<_> = rows.iter().filter(|row| row.op == "delete" && row.pid == open.pid).map(seen).collect();
    assert_eq!(deleted, [path("mnt/renamed")], "{what}");
    let truncated = rows.iter().find(|row| row.op == "truncate" && row.pid == open.pid).expect("a row of the truncation");
    assert_eq!((truncated.result, truncated.size), (Some(0), Some(5)), "{what}");
}

/// A trace that serves the files of a command, below a trace by ptrace.
#[test]
fn a_trace_by_fuse_is_traced_by_ptrace() {
    if backends().is_empty() {
        return;
    }
    let base = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let directory = base.path().join("work");
    let (outer, inner) = (base.path().join("outer"), base.path().join("inner"));
    let trace = [env!("CARGO_BIN_EXE_flowmine"), "trace", "--must-trace", "--backend"];
    let shell = "mkdir d && echo text > d/a && mv d/a d/b && cat d/b && rm d/b && cp /bin/cat . && ./cat /dev/null";
    let words = [
        &trace[..],
        &["ptrace", "--dataset", outer.to_str().unwrap(), "--"],
        &trace,
        &["fuse", "--directory", directory.to_str().unwrap(), "--dataset", inner.to_str().unwrap(), "--", "sh", "-c", shell],
    ];
    let output = run(&directory, &words.concat());
    assert!(output.status.success(), "{output:?}");
    assert_eq!(text(&output), "text\n", "{output:?}");
    for dataset in [outer, inner] {
        let moves = traced::rows(&dataset).0.into_iter().filter(|row| row.op == "rename" && row.result == Some(0));
        let target = Some(directory.join("d/b").into_os_string().into_encoded_bytes());
        assert!(moves.into_iter().any(|row| row.new_path == target), "{}", dataset.display());
    }
}

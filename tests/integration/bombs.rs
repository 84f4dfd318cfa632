//! Small files that unpack, or claim, to be large ones: what reads them says what is wrong, with
//! its place, and memory does not follow them.

use std::fs::File;
use std::io::{Seek, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::support::flowmine;

/// How a program ended.
struct Ended {
    code: Option<i32>,
    stderr: String,
    /// Its largest resident memory.
    peak_mib: u64,
}

/// Runs a command to its end.
fn run(command: &mut Command) -> Ended {
    let mut said = tempfile::tempfile().unwrap();
    #[allow(clippy::zombie_processes, reason = "wait4 waits for it")]
    let child = command.stdout(Stdio::null()).stderr(said.try_clone().unwrap()).spawn().unwrap();
    let mut status = 0;
    // SAFETY: plain data, for which all zeros is a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both places live until it returns, and the child is ours and not waited for.
    let ended = unsafe { libc::wait4(child.id() as libc::pid_t, &mut status, 0, &mut usage) };
    assert_eq!(ended, child.id() as libc::pid_t);
    said.rewind().unwrap();
    let stderr = std::io::read_to_string(&mut said).unwrap();
    let code = libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status));
    Ended { code, stderr, peak_mib: usage.ru_maxrss as u64 / 1024 }
}

/// A gz with what stands before, `times` times a piece, and what stands behind.
fn bomb(dir: &Path, name: &str, before: &str, piece: &str, times: usize, behind: &str) -> PathBuf {
    let path = dir.join(name);
    let mut gz = GzEncoder::new(File::create(&path).unwrap(), Compression::default());
    gz.write_all(before.as_bytes()).unwrap();
    let together = (1 << 20) / piece.len();
    let block = piece.repeat(together);
    for _ in 0..times / together {
        gz.write_all(block.as_bytes()).unwrap();
    }
    gz.write_all(piece.repeat(times % together).as_bytes()).unwrap();
    gz.write_all(behind.as_bytes()).unwrap();
    gz.finish().unwrap();
    path
}

/// Imports a file, which has to be refused in so much memory, with these words.
fn refused(kind: &str, file: &Path, most_mib: u64, words: &[&str]) {
    let dir = tempfile::tempdir().unwrap();
    let ended = run(flowmine().args(["import", kind, "--dataset"]).arg(dir.path().join("dataset")).arg(file));
    let name = file.file_name().unwrap().to_string_lossy();
    assert_eq!(ended.code, Some(2), "{name}: {}", ended.stderr);
    for word in words.iter().copied().chain([name.as_ref()]) {
        assert!(ended.stderr.contains(word), "{name}: no {word:?} in {}", ended.stderr);
    }
    assert!(ended.peak_mib < most_mib, "{name}: {} MiB", ended.peak_mib);
}

const MIB: usize = 1 << 20;

#[test]
fn slurms_text() {
    let dir = tempfile::tempdir().unwrap();
    let head = "JOBID|STATE|NAME\n1|RUNNING|a\n2|RUNNING|";
    refused("squeue", &bomb(dir.path(), "line.txt.gz", head, "x", 300 * MIB, "\n"), 200, &["line 3", "longer than 4194304 bytes"]);
    let head = "JobID|State|JobName\n1|COMPLETED|";
    refused("squeue", &bomb(dir.path(), "sacct.txt.gz", head, "x|", 150 * MIB, "\n"), 200, &["line 2", "longer than 4194304 bytes"]);
    let row = format!("1|R|{}\n", "x".repeat(4000));
    refused("squeue", &bomb(dir.path(), "lines.txt.gz", "JOBID|ST|NAME\n", &row, MIB / 8, ""), 500, &["256 MiB, unpacked"]);
    refused("squeue", &bomb(dir.path(), "jobs.txt.gz", "JOBID|ST\n", "1|R\n", 40 * MIB, ""), 500, &["more than 4000000 jobs"]);
}

#[test]
fn slurms_json() {
    let dir = tempfile::tempdir().unwrap();
    let job = "{\"jobs\":[\n{\"job_id\":1,\"job_state\":\"RUNNING\",\"name\":";
    refused(
        "squeue",
        &bomb(dir.path(), "text.json.gz", &format!("{job}\""), "x", 300 * MIB, "\"}]}"),
        200,
        &["line 2", "a text is longer"],
    );
    refused("squeue", &bomb(dir.path(), "deep.json.gz", job, "[", 100 * MIB, ""), 200, &["line 2", "deeper than 64"]);
    refused(
        "squeue",
        &bomb(dir.path(), "parts.json.gz", &format!("{job}["), "0,", 100 * MIB, "0]}]}"),
        200,
        &["line 2", "more than 1000000 values"],
    );
    refused(
        "squeue",
        &bomb(dir.path(), "many.json.gz", &format!("{job}[]}},\n"), "[],", 100 * MIB, "[]]}"),
        200,
        &["more than 4000000 records"],
    );
    refused(
        "squeue",
        &bomb(dir.path(), "meta.json.gz", "{\"meta\":{\"a\":[", "[],", 100 * MIB, "[]]},\"jobs\":[]}"),
        200,
        &["more than 1000000 values"],
    );
}

#[test]
fn engines_json() {
    let dir = tempfile::tempdir().unwrap();
    let head = "{\"schemaVersion\":\"1.5\",\"workflow\":{\"execution\":{\"tasks\":[";
    refused("wfformat", &bomb(dir.path(), "many.json.gz", head, "[],", 80 * MIB, "[]]}}}"), 1000, &["more than 10000000 values"]);
    refused("wfformat", &bomb(dir.path(), "large.json.gz", head, "[],", 200 * MIB, "[]]}}}"), 600, &["256 MiB, unpacked"]);
    let head = "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"items\":[";
    let ended = run(flowmine().args(["import", "kubernetes", "--dataset"]).arg(dir.path().join("dataset")).arg(bomb(
        dir.path(),
        "pods.json.gz",
        head,
        "{},",
        80 * MIB,
        "{}]}",
    )));
    assert!(ended.stderr.contains("more than 10000000 values") && ended.peak_mib < 1500, "{} MiB: {}", ended.peak_mib, ended.stderr);
    let head = "{\"kind\":\"Workflow\",\"apiVersion\":\"argoproj.io/v1alpha1\",\"metadata\":{\"name\":\"w\"},\"status\":{\"nodes\":{\"w\":{\"children\":[";
    let ended = run(flowmine().args(["import", "argo", "--dataset"]).arg(dir.path().join("dataset")).arg(bomb(
        dir.path(),
        "nodes.json.gz",
        head,
        "[],",
        80 * MIB,
        "[]]}}}}",
    )));
    assert!(ended.stderr.contains("more than 10000000 values") && ended.peak_mib < 1500, "{} MiB: {}", ended.peak_mib, ended.stderr);
}

#[test]
fn engines_text() {
    let dir = tempfile::tempdir().unwrap();
    refused("nextflow", &bomb(dir.path(), "trace.txt.gz", "task_id\tname\n", "1\ta\n", 40 * MIB, ""), 5000, &["more than 2000000 tasks"]);
}

//! `flowmine trace` as a whole: what it loses, how it ends by signals, what a killed one leaves.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use flowmine_schema::tables::{IoEvent, IoLoss, IoTotal, Process, TaskIo, TaskRun, TaskTotal};

use crate::support::doctor::works;
use crate::support::operations::{self, compiled};
use crate::support::require::require;
use crate::support::running::{Running, text, until};
use crate::support::traced::{each, end};

fn scratch() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// `flowmine trace` in `dir`, into `dir/data`.
fn trace(dir: &Path, backend: &str, options: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_flowmine"));
    command.args(["trace", "--backend", backend, "--dataset"]).arg(dir.join("data")).args(options).current_dir(dir);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A trace of the host that sees everything from here on. What it prints is in `dir/said`.
fn trace_of_the_host(dir: &Path, options: &[&str]) -> Running {
    let said = dir.join("said");
    let mut command = trace(dir, "ebpf", options);
    command.stderr(std::fs::File::create(&said).unwrap());
    let running = Running::start(command);
    until("the host is being traced", || std::fs::read_to_string(&said).unwrap().contains("being traced"));
    assert_eq!(end(&dir.join("data")).state, "began", "a row of `hosts`");
    running
}

/// Reads and writes of a burst: so many of 512 bytes each way.
const BURST: i64 = 100_000;

fn burst(dir: &Path, options: &[&str], calls: i64) -> Output {
    std::fs::File::create(dir.join("in")).unwrap().set_len(512 * calls as u64).unwrap();
    let mut command = trace(dir, "ebpf", options);
    command.args(["--", "dd", "if=in", "of=out", "bs=512", "status=none"]).output().unwrap()
}

/// Count and bytes of the writes into `out` that are rows, by the way counting all rows.
fn writes(dataset: &Path) -> (i64, i64, i64) {
    let (mut all, mut calls, mut bytes) = (0, 0, 0);
    each::<IoEvent<'static>>(dataset, |row| {
        all += 1;
        if row.op == "write" && row.size == Some(512) {
            calls += 1;
            bytes += row.result.unwrap();
        }
    });
    (all, calls, bytes)
}

#[test]
fn what_the_ring_loses_is_counted() {
    if !works("ebpf") {
        return;
    }
    let dir = scratch();
    let output = burst(dir.path(), &["--ring", "4K", "--fail-on-loss"], BURST);
    let dataset = dir.path().join("data");
    let end = end(&dataset);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    let (counted, received, lost) = (end.operations.unwrap(), end.received.unwrap(), end.lost.unwrap());
    assert!(lost > 0 && received > 0, "{end:?}");
    assert_eq!(counted, received + lost);
    let (mut lost_by_kind, mut lost_bytes, mut all_bytes, mut all) = (BTreeMap::<String, i64>::new(), 0, 0, 0);
    each::<IoLoss<'static>>(&dataset, |loss| {
        assert!(loss.processor.is_some_and(|processor| processor >= 0) && loss.reason == "ring-full" && loss.count > 0, "{loss:?}");
        assert!(loss.not_before_ns < loss.observed_at_ns && loss.trace_ns < loss.observed_at_ns, "{loss:?}");
        *lost_by_kind.entry(loss.kind.to_string()).or_default() += loss.count;
        all += loss.count;
        all_bytes += loss.bytes.unwrap_or(0);
        if loss.kind == "write" {
            lost_bytes += loss.bytes.unwrap();
        }
    });
    let (rows, calls, bytes) = writes(&dataset);
    assert_eq!(rows, received);
    // Each write is a row or lost, and each byte of them.
    assert_eq!((calls + lost_by_kind["write"], bytes + lost_bytes), (BURST, 512 * BURST));
    let operations: i64 = lost_by_kind.iter().filter(|(kind, _)| flowmine_trace::Op::of(kind).is_some()).map(|(_, count)| count).sum();
    assert_eq!((operations, all), (lost, lost));
    let sentence = format!("{lost} of {counted} operations, with {all_bytes} bytes of reads and writes, were lost (ring-full: {all})");
    assert!(text(&output).contains(&sentence), "{sentence}\n{}", text(&output));
}

#[test]
fn totals_are_right_whatever_the_ring_loses() {
    if !works("ebpf") {
        return;
    }
    let dir = scratch();
    let output = burst(dir.path(), &["--ring", "4K", "--detail", "totals"], BURST);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let (mut reads, mut writes) = ((0, 0), (0, 0));
    let out = dir.path().join("out").metadata().unwrap().ino() as i64;
    let from = dir.path().join("in").metadata().unwrap().ino() as i64;
    each::<IoTotal<'static>>(&dir.path().join("data"), |row| {
        if row.inode == out {
            writes = (writes.0 + row.write_calls, writes.1 + row.write_bytes);
        } else if row.inode == from {
            reads = (reads.0 + row.read_calls, reads.1 + row.read_bytes);
        }
    });
    // The last read finds the end.
    assert_eq!((reads, writes), ((BURST + 1, 512 * BURST), (BURST, 512 * BURST)));
}

/// Neither the calls of libaio nor the requests of io_uring are seen by ptrace, with sums as with
/// events: that there were some is counted.
#[test]
fn what_ptrace_cannot_see_is_counted_with_totals_too() {
    for (case, kind, reason) in [("aio", "write", "asynchronous-io"), ("io_uring", "io_uring", "not-visible")] {
        let dir = scratch();
        let (expectations, work) = (dir.path().join("told"), dir.path().join("work"));
        std::fs::create_dir(&work).unwrap();
        let output = trace(dir.path(), "ptrace", &["--detail", "totals", "--"])
            .arg(operations::program())
            .args([case, "--expect"])
            .arg(&expectations)
            .current_dir(&work)
            .output()
            .unwrap();
        if output.status.code() == Some(77) {
            require(case, &format!("a kernel with {case}"), false);
            continue;
        }
        assert_eq!(output.status.code(), Some(0), "{}", text(&output));
        let mut lost = BTreeMap::<(String, String), i64>::new();
        each::<IoLoss<'static>>(&dir.path().join("data"), |loss| {
            *lost.entry((loss.kind.to_string(), loss.reason.to_string())).or_default() += loss.count;
        });
        assert!(lost[&(kind.to_owned(), reason.to_owned())] > 0, "{lost:?}");
        assert!(text(&output).contains(reason) && !text(&output).contains("--ring"), "{}", text(&output));
    }
}

/// A write and a read of 5,000 bytes by libaio: no rows, but operations with their bytes.
#[test]
fn what_libaio_does_is_counted_with_its_bytes() {
    for (backend, options) in
        [("ebpf", &["--hooks", "syscalls", "--"]), ("ebpf", &["--hooks", "auto", "--"]), ("ptrace", &["--detail", "events", "--"])]
    {
        if !works(backend) {
            continue;
        }
        let dir = scratch();
        let (expectations, work) = (dir.path().join("told"), dir.path().join("work"));
        std::fs::create_dir(&work).unwrap();
        let mut command = trace(dir.path(), backend, options);
        let output = command.arg(operations::program()).args(["aio", "--expect"]).arg(&expectations).current_dir(&work).output().unwrap();
        if output.status.code() == Some(77) {
            require("aio", "a kernel with libaio", false);
            continue;
        }
        let dataset = dir.path().join("data");
        let mut lost = BTreeMap::new();
        each::<IoLoss<'static>>(&dataset, |loss| {
            assert_eq!(loss.reason, "asynchronous-io", "{loss:?}");
            let sum: &mut (i64, i64) = lost.entry(loss.kind.to_string()).or_default();
            *sum = (sum.0 + loss.count, sum.1 + loss.bytes.unwrap());
        });
        assert_eq!(lost, BTreeMap::from([("read".to_owned(), (1, 5000)), ("write".to_owned(), (1, 5000))]), "{backend}");
        let end = end(&dataset);
        assert_eq!(end.lost, Some(2), "{end:?}");
        if backend == "ebpf" {
            assert_eq!(end.operations, end.received.map(|received| received + 2), "{end:?}");
        }
        assert!(
            text(&output).contains("operations, with 10000 bytes of reads and writes, were lost (asynchronous-io: 2)"),
            "{}",
            text(&output)
        );
    }
}

/// What `flowmine run` tells of the dataset.
fn flowmine_run(dir: &Path) -> String {
    let mut run = Command::new(env!("CARGO_BIN_EXE_flowmine"));
    let output = run.args(["run", "--dataset", "data", "--out", "out"]).current_dir(dir).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Requests of io_uring whose completion is not seen are counted, and a vectored write with a
/// registered buffer is a write.
#[test]
fn requests_of_io_uring_without_a_completion_are_counted() {
    if !works("ebpf") {
        return;
    }
    let program = compiled("unfinished");
    for detail in ["events", "totals"] {
        for case in ["silent", "full", "vectored"] {
            let dir = scratch();
            let dataset = dir.path().join("data");
            let mut command = trace(dir.path(), "ebpf", &["--detail", detail, "--"]);
            command.arg(&program).arg(case);
            let output = command.current_dir(dir.path()).output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            if output.status.code() == Some(77) {
                require("io_uring", "a kernel with io_uring", false);
                return;
            }
            assert_eq!(output.status.code(), Some(0), "{detail} {case}: {said}");
            let written: i64 = String::from_utf8_lossy(&output.stdout).trim().parse().unwrap();
            let mut seen = 0;
            each::<IoEvent<'static>>(&dataset, |row| {
                seen += row.result.filter(|_| row.op == "write" && row.via == "io_uring").unwrap_or(0);
            });
            each::<IoTotal<'static>>(&dataset, |row| seen += row.write_bytes);
            let mut lost = 0;
            each::<IoLoss<'static>>(&dataset, |row| {
                lost += i64::from(row.kind == "write" && row.reason == "io-uring-request") * row.count;
            });
            // Where the ring is full the kernel may have refused some.
            assert!(lost > 0 || seen == written && case == "vectored", "{detail} {case}: {seen} of {written}: {said}");
            assert_eq!(said.contains("lost"), lost > 0, "{detail} {case}: {said}");
            if case == "vectored" {
                assert_eq!(seen, written, "{detail}: {said}");
            }
        }
    }
}

/// Whatever is made of a trace with losses says that its bytes are lower bounds, and of one without
/// losses it does not.
#[test]
fn what_is_made_of_a_trace_with_losses_says_so() {
    const MODELS: [&str; 8] = ["io-profile", "file-span", "dfg", "ocdfg", "summary", "gantt", "critical-path", "dag"];
    if !works("ptrace") {
        return;
    }
    for case in ["aio", "vectored"] {
        let dir = scratch();
        let (expectations, work) = (dir.path().join("told"), dir.path().join("work"));
        std::fs::create_dir(&work).unwrap();
        let mut command = trace(dir.path(), "ptrace", &["--task", "align", "--"]);
        let output = command.arg(operations::program()).args([case, "--expect"]).arg(&expectations).current_dir(&work).output().unwrap();
        if output.status.code() == Some(77) {
            require(case, &format!("a kernel with {case}"), false);
            continue;
        }
        let lossy = case == "aio";
        let flowmine = |arguments: &[&str]| {
            let output = Command::new(env!("CARGO_BIN_EXE_flowmine")).args(arguments).current_dir(dir.path()).output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(matches!(output.status.code(), Some(0 | 1)), "{arguments:?}: {said}");
            assert_eq!(said.contains("lower bounds"), lossy, "{arguments:?}: {said}");
            String::from_utf8_lossy(&output.stdout).into_owned()
        };
        flowmine(&["correlate", "--dataset", "data"]);
        for model in MODELS {
            flowmine(&["discover", model, "--dataset", "data", "-o", "made"]);
        }
        for format in ["ocel.json", "xes", "csv", "wfformat"] {
            flowmine(&["export", "--dataset", "data", "--format", format, "-o", "exported"]);
        }
        flowmine(&["export", "--dataset", "data", "--format", "io-csv", "-o", "csv"]);
        let profile = flowmine(&["discover", "io-profile", "--dataset", "data"]);
        assert_eq!(profile.contains("Read at least ") && profile.contains("The trace lost 2 operations with 9.8 KiB"), lossy, "{profile}");
        let shares = flowmine(&["discover", "file-span", "--dataset", "data", "--format", "json"]);
        assert_eq!(shares.contains("\"lost_operations\": 2"), lossy, "{shares}");
        let graph = flowmine(&["discover", "dfg", "--dataset", "data", "--format", "json"]);
        assert_eq!(graph.contains("2 operations with 10000 bytes of reads and writes were lost by the trace"), lossy, "{graph}");
        // The second time nothing is new, and what was told is told again.
        assert_eq!([(); 2].map(|()| flowmine_run(dir.path())).map(|told| told.contains("lower bounds")), [lossy; 2]);
    }
}

/// A step of a build or workflow that succeeds goes on to the next one, whatever its trace lost; a
/// step that fails does not.
#[test]
fn make_goes_on_after_a_step_with_losses() {
    let dir = scratch();
    std::fs::create_dir(dir.path().join("work")).unwrap();
    let trace = format!("cd work && {} trace --backend ptrace --dataset ../data", env!("CARGO_BIN_EXE_flowmine"));
    let program = format!("{} aio --expect {}", operations::program().display(), dir.path().join("told").display());
    let rules = format!(
        "all: second third\nfirst:\n\t{trace} -- {program}\n\ttouch first\nsecond: first\n\ttouch second\n\
         third: second\n\t{trace} --fail-on-loss -- {program}\n\ttouch third\n"
    );
    std::fs::write(dir.path().join("Makefile"), rules).unwrap();
    let output = Command::new("make").current_dir(dir.path()).stdin(Stdio::null()).output().unwrap();
    if text(&output).contains("Error 77") {
        require("aio", "a kernel with aio", false);
        return;
    }
    assert!(dir.path().join("second").exists(), "{}", text(&output));
    assert!(text(&output).contains("asynchronous-io") && text(&output).contains("[Makefile:8: third] Error 1"), "{}", text(&output));
    assert!(!dir.path().join("third").exists());
}

/// What is done for the trace after the command has ended does not change the command's exit code.
#[test]
fn tasks_that_cannot_be_written_are_a_warning() {
    let dir = scratch();
    for (option, code) in [(&[][..], 0), (&["--fail-on-loss"][..], 1)] {
        let mut command = trace(dir.path(), "ptrace", &["--task", "gone"]);
        command.args(option).args(["--", "sh", "-c", "rm -r data; exit 0"]);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{}", text(&output));
        assert!(text(&output).contains("could not be written"), "{}", text(&output));
    }
}

/// A burst that fits into the default ring whole, so that it cannot depend on how fast the ring is
/// read.
#[test]
fn the_default_ring_loses_nothing() {
    if !works("ebpf") {
        return;
    }
    let dir = scratch();
    let output = burst(dir.path(), &[], BURST / 2);
    assert_eq!((output.status.code(), text(&output)), (Some(0), String::new()));
    let dataset = dir.path().join("data");
    let end = end(&dataset);
    assert_eq!((end.state.as_str(), end.lost, end.operations), ("ended", Some(0), end.received));
    let (rows, calls, bytes) = writes(&dataset);
    assert_eq!((Some(rows), calls, bytes), (end.received, BURST / 2, 256 * BURST));
    each::<IoLoss<'static>>(&dataset, |loss| panic!("{loss:?}"));
}

#[test]
fn sigterm_ends_the_trace_of_a_host_with_everything_written() {
    if !works("ebpf") {
        return;
    }
    let dir = scratch();
    let (watched, dataset) = (dir.path().join("watched"), dir.path().join("data"));
    std::fs::create_dir(&watched).unwrap();
    let running = trace_of_the_host(dir.path(), &["--detail", "events", "--directory", watched.to_str().unwrap()]);
    std::fs::write(watched.join("file"), [1; 12_345]).unwrap();
    running.signal("TERM");
    let output = running.output();
    // Others on this host may do what is counted as lost, such as io_submit(2).
    let mut lost = Vec::new();
    each::<IoLoss<'static>>(&dataset, |loss| lost.push(loss.into_owned()));
    let said = std::fs::read_to_string(dir.path().join("said")).unwrap();
    assert_eq!(output.status.code(), Some(i32::from(!lost.is_empty())), "{said}\n{lost:?}");
    assert_eq!(end(&dataset).state, "ended");
    let mut seen = Vec::new();
    // Of files that were never seen by a name, such as those that fault, nobody can say in which directory they lie: they are rows too.
    let inode = watched.join("file").metadata().unwrap().ino() as i64;
    each::<IoEvent<'static>>(&dataset, |row| {
        if row.inode == Some(inode) {
            seen.push((row.op.into_owned(), row.result));
        }
    });
    assert_eq!(seen, [("open".to_owned(), Some(0)), ("write".to_owned(), Some(12_345)), ("close".to_owned(), Some(0))]);
}

#[test]
fn a_signal_goes_to_the_command_and_what_it_does_then_is_written() {
    for backend in ["ebpf", "ptrace"].into_iter().filter(|backend| works(backend)) {
        let dir = scratch();
        let mut command = trace(dir.path(), backend, &[]);
        command.args(["--", "sh", "-c", "trap 'echo got it > last; exit 7' TERM; : > ready; while :; do sleep 0.05; done"]);
        let running = Running::start(command);
        until("the command runs", || dir.path().join("ready").exists());
        running.signal("TERM");
        let output = running.output();
        assert_eq!(output.status.code(), Some(7), "{backend}: {}", text(&output));
        let dataset = dir.path().join("data");
        assert_eq!(end(&dataset).state, "ended", "{backend}");
        let mut written = 0;
        let mut opened = None;
        each::<IoEvent<'static>>(&dataset, |row| {
            if row.op == "open" && row.path.as_deref().is_some_and(|path| path.ends_with("/last")) {
                opened = row.handle;
            }
            if row.op == "write" && row.handle == opened && opened.is_some() {
                written += row.result.unwrap();
            }
        });
        assert_eq!(written, "got it\n".len() as i64, "{backend}");
    }
}

#[test]
fn how_the_command_ended_is_passed_on() {
    for backend in ["ebpf", "ptrace"].into_iter().filter(|backend| works(backend)) {
        for (script, code, exit, signal) in [
            ("exit 0", 0, Some(0), None),
            ("exit 3", 3, Some(3), None),
            ("kill -KILL $$", 137, None, Some(9)),
            ("kill -SEGV $$", 139, None, Some(11)),
        ] {
            let dir = scratch();
            let output = trace(dir.path(), backend, &[]).args(["--", "sh", "-c", script]).output().unwrap();
            assert_eq!(output.status.code(), Some(code), "{backend}, {script}: {}", text(&output));
            let mut ends = Vec::new();
            each::<Process<'static>>(&dir.path().join("data"), |row| {
                if row.exit_ns.is_some() {
                    ends.push((row.exit_code, row.exit_signal));
                }
            });
            assert_eq!(ends, [(exit, signal)], "{backend}, {script}");
        }
    }
}

/// A command that writes a line every 20 ms, whose tracer is killed.
#[test]
fn a_killed_trace_leaves_what_was_flushed() {
    for backend in ["ebpf", "ptrace"].into_iter().filter(|backend| works(backend)) {
        let dir = scratch();
        let (out, dataset) = (dir.path().join("out"), dir.path().join("data"));
        let mut command = trace(dir.path(), backend, &["--flush", "1s"]);
        command.args(["--", "sh", "-c", "while :; do echo 0123456; sleep 0.02; done > out"]);
        let mut running = Running::start(command);
        let length = || out.metadata().map_or(0, |metadata| metadata.len() as i64);
        until("the command writes", || length() >= 8 * 50);
        let must_be_there = length();
        // A flush each second, and the time that it takes.
        std::thread::sleep(Duration::from_millis(2500));
        running.signal("KILL");
        let ended = running.0.as_mut().unwrap().wait().unwrap();
        assert_eq!(ended.signal(), Some(9), "{backend}");
        let at_most = length();
        assert_eq!(end(&dataset).state, "began", "{backend}");
        let mut offsets = Vec::new();
        each::<IoEvent<'static>>(&dataset, |row| {
            if row.op == "write" && row.size == Some(8) {
                offsets.push(row.offset.unwrap());
            }
        });
        // Without a hole, up to the last flush.
        assert_eq!(offsets, (0..offsets.len() as i64).map(|line| 8 * line).collect::<Vec<_>>(), "{backend}");
        let there = 8 * offsets.len() as i64;
        assert!(must_be_there <= there && there <= at_most, "{backend}: {must_be_there} {there} {at_most}");
        // The next trace of this host is not kept out.
        let output = trace(dir.path(), backend, &[]).args(["--", "true"]).output().unwrap();
        assert_eq!((output.status.code(), end(&dataset).state.as_str()), (Some(0), "ended"), "{backend}: {}", text(&output));
    }
}

/// A shell script of which the commands are tasks: by each way, what a task did is what its
/// processes did, and the script as a whole can be one as well.
#[test]
fn a_script_has_tasks() {
    for backend in ["ptrace", "ebpf", "fuse"] {
        if !works(backend) {
            continue;
        }
        let dir = scratch();
        let script = "seq 1 5000 > a\n( sort -r a | tail -100 > b )\nbash -c 'cp a c'\ncat missing 2> d || true\nwc -c < a > e\n";
        std::fs::write(dir.path().join("all.sh"), script).unwrap();
        let run = |options: &[&str]| {
            let output = trace(dir.path(), backend, options).args(["--", "sh", "all.sh"]).output().unwrap();
            assert_eq!(output.status.code(), Some(0), "{}", text(&output));
        };
        run(&["--tasks", "commands"]);
        run(&["--task", "prepare"]);
        let dataset = dir.path().join("data");
        let output = Command::new(env!("CARGO_BIN_EXE_flowmine")).args(["correlate", "--dataset"]).arg(&dataset).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", text(&output));
        let mut tasks: BTreeMap<String, Vec<(String, Option<i64>)>> = BTreeMap::new();
        each::<TaskRun<'static>>(&dataset, |row| {
            assert_eq!((&*row.engine, row.native_kind.as_deref()), ("flowmine", Some("pid")));
            assert!(row.started_ns <= row.finished_ns, "{row:?}");
            tasks.entry(row.run_name.unwrap().into_owned()).or_default().push((row.name.into_owned(), row.exit_code));
        });
        let told = |name: &str, code| (name.to_owned(), Some(code));
        if backend != "fuse" {
            // In a pipe either may begin first.
            let mut of_script = tasks["all.sh"].clone();
            of_script.sort();
            // The shell that becomes `cp` in its own place is called after what it was last.
            let expected = [told("cat", 1), told("cp", 0), told("seq", 0), told("sort", 0), told("tail", 0), told("wc", 0)];
            assert_eq!(of_script, expected, "{backend}");
        }
        assert_eq!(tasks["prepare"], [told("prepare", 0)], "{backend}");
        if backend == "fuse" {
            // Of processes that never used the overlay it knows nothing, and so not what is below them.
            continue;
        }
        let mut written: BTreeMap<(String, String), i64> = BTreeMap::new();
        each::<TaskIo<'static>>(&dataset, |row| {
            let name = row.path.as_deref().and_then(|path| path.rsplit('/').next()).unwrap_or_default().to_owned();
            if let ("a" | "b" | "c", Some(task)) = (name.as_str(), &row.logical_task) {
                *written.entry((task.to_string(), name)).or_default() += row.written_bytes;
            }
        });
        let size = |name: &str| std::fs::metadata(dir.path().join(name)).unwrap().len() as i64;
        let of = |task: &str, name: &str| written.get(&(task.to_owned(), name.to_owned())).copied().unwrap_or(0);
        assert_eq!(
            [("seq", "a"), ("tail", "b"), ("cp", "c")].map(|(task, name)| of(task, name)),
            [size("a"), size("b"), size("c")],
            "{backend}"
        );
        assert_eq!(["a", "b", "c"].map(|name| of("prepare", name)), [size("a"), size("b"), size("c")], "{backend}");
    }
}

/// What `waits` printed: the processes, and how long each said that its threads had waited.
fn waited(output: &Output) -> BTreeMap<i32, i64> {
    let said = String::from_utf8_lossy(&output.stdout);
    let line = |line: &str| {
        let (pid, ns) = line.split_once(' ')?;
        Some((pid.parse().ok()?, ns.parse().ok()?))
    };
    said.lines().filter_map(line).collect()
}

/// Two loops on one processor wait for it half of their time, and so does a process with two such
/// threads, which end before it does. The kernel reports the same in `/proc`, and the fit names it.
#[test]
fn what_waits_for_a_processor_is_told() {
    let program = compiled("waits");
    for backend in ["ptrace", "ebpf"] {
        if !works(backend) {
            continue;
        }
        for (threads, script) in [(0, "\"$0\" 600 0 & \"$0\" 600 0 & wait"), (2, "\"$0\" 600 2; exit")] {
            let dir = scratch();
            let mut command = trace(dir.path(), backend, &["--tasks", "commands"]);
            let output = command.args(["--", "sh", "-c", script]).arg(&program).output().unwrap();
            assert_eq!(output.status.code(), Some(0), "{}", text(&output));
            let waited = waited(&output);
            assert_eq!(waited.len(), if threads == 0 { 2 } else { 1 }, "{}", text(&output));
            let dataset = dir.path().join("data");
            let mut delays = Vec::new();
            each::<Process<'static>>(&dataset, |row| {
                let Some(told) = waited.get(&row.pid) else { return };
                let delay = row.run_delay_ns.unwrap_or_else(|| panic!("{backend}: {row:?}"));
                assert!(delay >= *told, "{backend}: {told} {row:?}");
                let life = row.exit_ns.unwrap() - row.started_ns.unwrap();
                assert!(10 * delay >= 3 * life, "{backend}: of {life} {row:?}");
                // No thread waits while it runs. CPU times and starts are exact to a tick.
                let used = delay + row.utime_ns.unwrap() + row.stime_ns.unwrap();
                assert!(used <= (1 + threads) * life + 50_000_000, "{backend}: of {life} {row:?}");
                delays.push(row.run_delay_ns);
            });
            let output = Command::new(env!("CARGO_BIN_EXE_flowmine")).args(["correlate", "--dataset"]).arg(&dataset).output().unwrap();
            assert_eq!(output.status.code(), Some(0), "{}", text(&output));
            let mut of_tasks = Vec::new();
            each::<TaskTotal<'static>>(&dataset, |row| of_tasks.extend(row.logical_task.is_some().then_some(row.run_delay_ns)));
            delays.sort();
            of_tasks.sort();
            assert_eq!(of_tasks, delays, "{backend}");
            if threads == 0 {
                let output = Command::new(env!("CARGO_BIN_EXE_flowmine")).args(["predict", "--dataset"]).arg(&dataset).output().unwrap();
                let said = String::from_utf8_lossy(&output.stdout);
                assert_eq!(said.matches("resource waiting for a processor").count(), 2, "{backend}: {said}");
                assert!(!said.contains("resource elsewhere"), "{backend}: {said}");
            }
        }
    }
}

/// The kernel does not tell how long threads waited that are gone. A part of it would be too little.
#[test]
fn threads_that_ended_before_the_trace_leave_the_run_delay_unknown() {
    if !works("ebpf") {
        return;
    }
    let program = compiled("waits");
    let dir = scratch();
    let [alone, threads] = ["0", "2"].map(|threads| {
        let mut command = Command::new(&program);
        command.args(["20", threads]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut running = Running::start(command);
        let mut line = String::new();
        let out = running.0.as_mut().unwrap().stdout.take().unwrap();
        std::io::BufReader::new(out).read_line(&mut line).unwrap();
        let (pid, told) = line.trim_end().split_once(' ').unwrap();
        (running, pid.parse::<i32>().unwrap(), told.parse::<i64>().unwrap())
    });
    let dataset = dir.path().join("data");
    let trace = trace_of_the_host(dir.path(), &["--detail", "totals"]);
    let pids = [alone.1, threads.1];
    for running in [alone.0, threads.0] {
        assert!(running.output().status.success());
    }
    trace.signal("TERM");
    trace.output();
    let mut ended = BTreeMap::new();
    each::<Process<'static>>(&dataset, |row| {
        if pids.contains(&row.pid) && row.exit_ns.is_some() {
            assert_eq!(row.first_seen, "running", "{row:?}");
            ended.insert(row.pid, row.run_delay_ns);
        }
    });
    assert_eq!(ended.len(), 2, "{ended:?}");
    assert!(ended[&alone.1].is_some_and(|delay| delay >= alone.2), "{ended:?}");
    assert_eq!(ended[&threads.1], None);
}

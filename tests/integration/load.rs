//! Tracing under load by eBPF, against a real kernel: what must hold when more happens than rings
//! and tables have room for, when a trace lasts, and when there are many short commands.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use flowmine_schema::tables::{IoEvent, IoLoss, IoTotal, Process, TracedFile};

use crate::support::require::require;
use crate::support::running::{Running, text, until};
use crate::support::traced::{each, end};
use crate::support::{doctor, is_root};

fn works() -> bool {
    doctor::works("ebpf")
}

fn scratch() -> tempfile::TempDir {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    fs::create_dir(dir.path().join("work")).unwrap();
    dir
}

/// `flowmine trace` in `dir/work`, into `dir/data`.
fn trace(dir: &Path, options: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_flowmine"));
    command.args(["trace", "--backend", "ebpf", "--dataset"]).arg(dir.join("data")).args(options).current_dir(dir.join("work"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// `tests/load/churn.c`, compiled when it is first asked for.
fn churn() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("churn.{}", std::process::id()));
        let mut compile = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
        compile.args(["-O1", "-Wall", "-Werror", "-pthread", "-o"]).arg(&program).arg("tests/load/churn.c");
        assert!(compile.current_dir(env!("CARGO_MANIFEST_DIR")).status().unwrap().success(), "{compile:?}");
        program
    })
}

/// Lost records by kind and reason.
fn losses(dataset: &Path) -> BTreeMap<(String, String), i64> {
    let mut losses = BTreeMap::new();
    each::<IoLoss<'static>>(dataset, |loss| *losses.entry((loss.kind.to_string(), loss.reason.to_string())).or_default() += loss.count);
    losses
}

/// More files than a table of totals has entries, of which each is closed at once, with a ring in
/// which nearly nothing has room: bytes and calls are still exact, and no table was full.
#[test]
fn sums_of_many_files_are_exact_whatever_the_ring_loses() {
    if !works() {
        return;
    }
    for (files, threads) in [(150_000, 1), (40_000, 4)] {
        let dir = scratch();
        let mut command = trace(dir.path(), &["--ring", "16K", "--detail", "totals", "--"]);
        let output = command.arg(churn()).args([&files.to_string(), ".", &threads.to_string()]).output().unwrap();
        assert!(matches!(output.status.code(), Some(0 | 1)), "{}", text(&output));
        let dataset = dir.path().join("data");
        let (mut reads, mut writes) = ((0, 0), (0, 0));
        each::<IoTotal<'static>>(&dataset, |row| {
            if row.write_calls > 0 {
                reads = (reads.0 + row.read_calls, reads.1 + row.read_bytes);
                writes = (writes.0 + row.write_calls, writes.1 + row.write_bytes);
            } else if row.read_bytes == 34 {
                // A thread was taken out of the table between its write and its read.
                reads = (reads.0 + row.read_calls, reads.1 + row.read_bytes);
            }
        });
        let all = files * threads;
        assert_eq!((writes, reads), ((all, 34 * all), (all, 34 * all)), "{threads} threads");
        let losses = losses(&dataset);
        assert!(losses.keys().all(|(kind, reason)| reason == "ring-full" && kind != "read" && kind != "write"), "{losses:?}");
    }
}

/// Each open file has one row with its path, and none without: a join with `files` counts no byte
/// twice.
#[test]
fn a_join_of_totals_with_files_counts_each_byte_once() {
    if !works() {
        return;
    }
    let dir = scratch();
    let output = trace(dir.path(), &["--ring", "64M", "--detail", "totals", "--"]).arg(churn()).args(["20000", ".", "2"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let dataset = dir.path().join("data");
    let mut files = BTreeMap::<(Option<i64>, i64, Option<i64>), Vec<Option<String>>>::new();
    each::<TracedFile<'static>>(&dataset, |file| {
        files.entry((file.device, file.inode, file.generation)).or_default().push(file.path.map(|path| path.into_owned()));
    });
    let mut joined = 0;
    each::<IoTotal<'static>>(&dataset, |row| {
        let paths = files.get(&(Some(row.device), row.inode, row.generation)).map_or(&[][..], Vec::as_slice);
        assert!(paths.iter().all(Option::is_some), "a row of files without a path: {row:?} {paths:?}");
        // An inode number that is used again, as it is here, is another file with another generation, or the same number with more names.
        joined += i64::from(!paths.is_empty()) * row.write_bytes;
    });
    assert_eq!(joined, 34 * 40_000);
}

/// What is told of processes has a ring of its own: a flood of reads and writes takes nothing of
/// it, however small the ring for these is.
#[test]
fn processes_are_known_when_operations_are_lost() {
    if !works() {
        return;
    }
    let dir = scratch();
    let script =
        "dd if=/dev/zero of=out bs=512 count=300000 status=none & i=0; while [ $i -lt 300 ]; do TASK=$i /bin/true; i=$((i+1)); done; wait";
    let mut command = trace(dir.path(), &["--ring", "4K", "--environ", "TASK", "--", "sh", "-c"]);
    let output = command.arg(script).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let dataset = dir.path().join("data");
    let losses = losses(&dataset);
    assert!(losses[&("write".to_owned(), "ring-full".to_owned())] > 1000, "the ring was flooded: {losses:?}");
    assert!(!losses.keys().any(|(kind, _)| ["fork", "exec", "exit", "environment", "cgroup"].contains(&kind.as_str())), "{losses:?}");
    let mut tasks = BTreeSet::new();
    each::<Process<'static>>(&dataset, |process| {
        if process.executable.as_deref().is_some_and(|path| path.ends_with("/true")) {
            assert_eq!((process.exit_code, process.execs, process.first_seen.as_ref()), (Some(0), 1, "fork"), "{process:?}");
            tasks.insert(process.environment.unwrap().into_owned());
        }
    });
    assert_eq!(tasks.len(), 300, "{tasks:?}");
    assert!(text(&output).contains("ring-full") && text(&output).contains("--ring"), "{}", text(&output));
}

fn parts(dataset: &Path) -> usize {
    fn count(dir: &Path) -> usize {
        let Ok(entries) = fs::read_dir(dir) else { return 0 };
        let entries = entries.flatten().map(|entry| entry.path());
        entries
            .map(|path| if path.is_dir() { count(&path) } else { usize::from(path.extension().is_some_and(|end| end == "parquet")) })
            .sum()
    }
    count(dataset)
}

/// A trace that lasts is merged while it runs, so that it does not leave a file for each flush, and
/// ends at once.
#[test]
fn small_files_are_merged_while_it_is_traced() {
    if !works() {
        return;
    }
    let dir = scratch();
    let script = "trap 'exit 0' TERM; while :; do echo x >> out; cat out > /dev/null; sleep 0.02; done";
    let mut command = trace(dir.path(), &["--flush", "20ms", "--", "sh", "-c"]);
    command.arg(script);
    let running = Running::start(command);
    let dataset = dir.path().join("data");
    // Each flush writes a file of four tables or more.
    let flushes = || {
        let mut flushes = 0;
        each::<flowmine_schema::tables::Clock<'static>>(&dataset, |_| flushes += 1);
        flushes
    };
    let mut most = 0;
    until("many flushes", || {
        most = most.max(parts(&dataset));
        parts(&dataset) > 0 && flushes() > 120
    });
    let end_begun = Instant::now();
    running.signal("TERM");
    let output = running.output();
    let took = end_begun.elapsed();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let flushes = flushes();
    assert!(most < 250 && most < 2 * flushes, "{most} files at a time, of {flushes} flushes");
    assert!(took < Duration::from_secs(2), "it took {took:?} to end");
    // Nothing was lost by it.
    let (mut appended, traced_end) = (0, end(&dataset));
    each::<IoEvent<'static>>(&dataset, |row| appended += i64::from(row.op == "write" && row.result == Some(2)));
    assert_eq!(traced_end.operations, traced_end.received);
    assert_eq!(appended, fs::read(dir.path().join("work/out")).unwrap().len() as i64 / 2);
}

/// They have other numbers and other structures: none of them is a row, and each on a file is
/// counted.
#[test]
fn calls_of_32_bit_programs_are_counted() {
    if !works() {
        return;
    }
    let alone = Command::new(churn()).args(["--32-bit", "/dev/null/no"]).status().unwrap();
    if !require("32-bit", "the kernel runs calls of 32-bit programs", alone.code() != Some(77)) {
        return;
    }
    for hooks in ["syscalls", "auto"] {
        let dir = scratch();
        let output = trace(dir.path(), &["--hooks", hooks, "--"]).arg(churn()).args(["--32-bit", "file"]).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", text(&output));
        let dataset = dir.path().join("data");
        let all = ["open", "write", "close", "delete"].map(|kind| ((kind.to_owned(), "32-bit-program".to_owned()), 1));
        assert_eq!(losses(&dataset), BTreeMap::from(all), "{hooks}");
        each::<IoLoss<'static>>(&dataset, |loss| assert_eq!(loss.bytes, (loss.kind == "write").then_some(10), "{loss:?}"));
        let end = end(&dataset);
        assert_eq!((end.operations, end.lost), (end.received.map(|received| received + 4), Some(4)), "{end:?}");
        let sentence = format!("4 of {} operations, with 10 bytes of reads and writes, were lost", end.operations.unwrap());
        assert!(text(&output).contains(&sentence), "{sentence}\n{}", text(&output));
        assert!(text(&output).contains("32-bit-program") && !text(&output).contains("--ring"), "{}", text(&output));
    }
}

/// A tracer that serves, in the background.
fn serve(dir: &Path, options: &[&str]) -> (Running, PathBuf) {
    let socket = dir.join("socket");
    let mut command = Command::new(env!("CARGO_BIN_EXE_flowmine"));
    command.args(["trace", "--dataset"]).arg(dir.join("data")).arg("--serve").arg(&socket).args(options);
    // Not by its socket, which one before may have left.
    let said = dir.join("said");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(fs::File::create(&said).unwrap());
    let running = Running::start(command);
    until("the tracer listens", || fs::read_to_string(&said).unwrap().contains("being traced"));
    (running, socket)
}

fn join(dir: &Path, socket: &Path, options: &[&str], script: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_flowmine"));
    command.args(["trace", "--join"]).arg(socket).args(options).args(["--", "sh", "-c", script]).current_dir(dir.join("work"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

#[test]
fn many_commands_join_one_tracer() {
    if !works() {
        return;
    }
    let dir = scratch();
    let (tracer, socket) = serve(dir.path(), &["--backend", "ebpf", "--command-lines", "all"]);
    assert_eq!(fs::metadata(&socket).unwrap().permissions().mode() & 0o777, 0o600);
    // A second one at the same place is refused, and takes nothing away.
    let mut second = Command::new(env!("CARGO_BIN_EXE_flowmine"));
    second.args(["trace", "--dataset"]).arg(dir.path().join("other")).arg("--serve").arg(&socket);
    let refused = second.stdin(Stdio::null()).output().unwrap();
    assert!(refused.status.code() == Some(2) && text(&refused).contains("another tracer"), "{}", text(&refused));
    // Its own output goes to a file that its parent had open, and it starts one more process.
    let commands: Vec<_> = (0..8)
        .map(|n| {
            let mut command = join(dir.path(), &socket, &[], &format!("echo {n} told; cat in{n} > copy{n}; exit {n}"));
            fs::write(dir.path().join(format!("work/in{n}")), "x".repeat(100 + n)).unwrap();
            command.stdout(fs::File::create(dir.path().join(format!("work/out{n}"))).unwrap());
            (n, Running::start(command))
        })
        .collect();
    for (n, command) in commands {
        let output = command.output();
        assert_eq!((output.status.code(), text(&output)), (Some(n as i32), String::new()));
    }
    // Signals reach the command, and how it ended is told.
    let waiting = Running::start(join(dir.path(), &socket, &[], "trap 'exit 9' USR1; touch ready; while :; do sleep 0.01; done"));
    until("it runs", || dir.path().join("work/ready").exists());
    waiting.signal("USR1");
    assert_eq!(waiting.output().status.code(), Some(9));
    // Nothing that did not join is recorded.
    fs::write(dir.path().join("work/not-joined"), "x").unwrap();
    tracer.signal("TERM");
    let output = tracer.output();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(!socket.exists());

    let dataset = dir.path().join("data");
    let mut paths = BTreeMap::new();
    each::<TracedFile<'static>>(&dataset, |file| {
        if let Some(path) = file.path {
            paths.insert((file.device, file.inode, file.generation), path.into_owned());
        }
    });
    let mut bytes = BTreeMap::<(String, String), i64>::new();
    each::<IoEvent<'static>>(&dataset, |row| {
        if let (Some(path), Some(result)) = (paths.get(&(row.device, row.inode.unwrap_or(0), row.generation)), row.result)
            && (row.op == "read" || row.op == "write")
            && let Some(name) = path.rsplit_once("/work/").map(|(_, name)| name)
        {
            *bytes.entry((row.op.to_string(), name.to_owned())).or_default() += result;
        }
    });
    let expected = (0..8).flat_map(|n: i64| {
        [("write", format!("out{n}"), 7), ("read", format!("in{n}"), 100 + n), ("write", format!("copy{n}"), 100 + n)]
            .map(|(op, name, bytes)| ((op.to_owned(), name), bytes))
    });
    assert_eq!(bytes, expected.collect());
    let mut ends = BTreeSet::new();
    each::<Process<'static>>(&dataset, |process| {
        assert!(!process.executable.as_deref().unwrap_or_default().ends_with("/flowmine"), "who joins is not traced himself: {process:?}");
        if process.command_line.as_deref().is_some_and(|line| line.contains("told")) {
            assert_eq!(process.first_seen, "fork");
            ends.insert(process.exit_code);
        }
    });
    assert_eq!(ends, (0..8).map(Some).collect());
}

/// Everybody may see the socket here, and only its owner may join, until he lets others in.
#[test]
fn only_the_owner_of_the_socket_may_join() {
    if !works() {
        return;
    }
    // The test's own directories may lie where nobody else comes.
    let dir = tempfile::tempdir_in("/tmp").unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let (tracer, socket) = serve(dir.path(), &[]);
    let ask = || {
        let script = "import socket,sys\ns = socket.socket(socket.AF_UNIX)\ns.connect(sys.argv[1])\nprint(s.recv(100).decode().strip())";
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "/usr/bin/python3", "-c", script]).arg(&socket);
        let output = command.output().unwrap();
        format!("{}{}", String::from_utf8_lossy(&output.stdout), text(&output))
    };
    let refused = ask();
    assert!(refused.contains("PermissionError"), "{refused}");
    fs::set_permissions(&socket, fs::Permissions::from_mode(0o666)).unwrap();
    assert_eq!(ask(), "traced\n");
    tracer.signal("TERM");
    assert_eq!(tracer.output().status.code(), Some(0));
    // Whoever joined without starting anything left nothing.
    each::<Process<'static>>(&dir.path().join("data"), |process| panic!("{process:?}"));
}

/// Who may not connect, or finds nobody, runs untraced, and is told so.
#[test]
fn a_command_that_cannot_join_runs_untraced_or_not_at_all() {
    if !works() {
        return;
    }
    let dir = scratch();
    let gone = dir.path().join("nobody");
    let output = join(dir.path(), &gone, &[], "echo ran; exit 4").output().unwrap();
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(4), &b"ran\n"[..]));
    assert!(text(&output).contains("NOT TRACED: no tracer answers at"), "{}", text(&output));
    let output = join(dir.path(), &gone, &["--must-trace"], "echo ran").output().unwrap();
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(2), &b""[..]), "{}", text(&output));
    // Whatever belongs to the tracer cannot be asked by one who joins.
    let output = join(dir.path(), &gone, &["--detail", "totals"], "echo ran").output().unwrap();
    assert!(output.status.code() == Some(2) && text(&output).contains("--detail"), "{}", text(&output));
    // A tracer that dies takes no command along, and leaves a socket that the next one replaces.
    let (tracer, socket) = serve(dir.path(), &[]);
    let command = Running::start(join(dir.path(), &socket, &[], "touch ready; while [ ! -e go ]; do sleep 0.01; done; exit 5"));
    until("it runs", || dir.path().join("work/ready").exists());
    tracer.signal("KILL");
    assert_eq!(tracer.output().status.signal(), Some(9));
    fs::write(dir.path().join("work/go"), "").unwrap();
    assert_eq!(command.output().status.code(), Some(5));
    assert!(socket.exists());
    let (tracer, _) = serve(dir.path(), &[]);
    tracer.signal("TERM");
    assert_eq!(tracer.output().status.code(), Some(0));
}

/// Whoever listens at a socket could answer `traced`: of other users than root and oneself it is
/// not believed. The kernel tells who listens.
#[test]
fn a_tracer_of_another_user_is_not_believed() {
    if !require("mount", "root, to act as two users", is_root()) {
        return;
    }
    // The test's own directories may lie where nobody else comes, and so may the program.
    let dir = tempfile::tempdir_in("/tmp").unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let program = dir.path().join("flowmine");
    fs::copy(env!("CARGO_BIN_EXE_flowmine"), &program).unwrap();
    let socket = dir.path().join("socket");
    let script = "import os, socket
s = socket.socket(socket.AF_UNIX)
s.bind('socket')
os.chmod('socket', 0o666)
s.listen()
open('ready', 'w').close()
while True:
    c = s.accept()[0]
    try:
        c.sendall(b'traced\\n')
    except OSError:
        pass
    c.close()";
    let as_user = |uid: &str, program: &str| {
        let mut command = Command::new("setpriv");
        command.args(["--reuid", uid, "--regid", uid, "--clear-groups", program]).current_dir(dir.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    };
    let mut stranger = as_user("6001", "/usr/bin/python3");
    stranger.args(["-c", script]);
    let _stranger = Running::start(stranger);
    until("the stranger listens", || dir.path().join("ready").exists());
    for uid in ["0", "6002"] {
        let asked = |options: &[&str]| {
            let mut command = as_user(uid, program.to_str().unwrap());
            command.args(["trace", "--join"]).arg(&socket).args(options).args(["--", "sh", "-c", "echo ran; exit 4"]);
            command.output().unwrap()
        };
        let refused = asked(&["--must-trace"]);
        assert_eq!((refused.status.code(), String::from_utf8_lossy(&refused.stdout).as_ref()), (Some(2), ""), "{}", text(&refused));
        assert!(text(&refused).contains("user 6001"), "{}", text(&refused));
        let untraced = asked(&[]);
        assert_eq!(untraced.status.code(), Some(4), "{}", text(&untraced));
        assert!(text(&untraced).contains("NOT TRACED"), "{}", text(&untraced));
    }
}

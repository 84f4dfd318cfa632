//! What happens to a command that is traced when something goes wrong with its tracer: it runs as
//! it would without, and its exit code is told.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use flowmine_dataset::{Dataset, DatasetError};
use flowmine_schema::Row;
use flowmine_schema::tables::{Host, IoEvent, IoLoss, Process, TaskIo};
use flowmine_trace::Op;

use crate::support::doctor::works;
use crate::support::require::require;
use crate::support::running::{Running, send, text, until};

/// The backends that work here.
fn backends() -> impl Iterator<Item = &'static str> {
    ["ebpf", "ptrace", "fuse"].into_iter().filter(|backend| works(backend))
}

/// With room for the command (`work`), and for the dataset beside it.
fn scratch() -> tempfile::TempDir {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    fs::create_dir(dir.path().join("work")).unwrap();
    dir
}

/// `flowmine trace` in `dir/work`.
fn trace(dir: &Path, dataset: &Path, backend: &str, options: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_flowmine"));
    command.args(["trace", "--backend", backend, "--dataset"]).arg(dataset).args(options).current_dir(dir.join("work"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn rows<R: Row, T>(dataset: &Path, mut of: impl FnMut(R::Of<'_>) -> T) -> Vec<T> {
    let mut all = Vec::new();
    let read = Dataset::open(dataset).unwrap().read::<R, DatasetError>(|row| {
        all.push(of(row));
        Ok(())
    });
    read.unwrap();
    all
}

fn states(dataset: &Path) -> Vec<String> {
    rows::<Host<'static>, _>(dataset, |row| row.state.to_string())
}

/// A small file system, full from the beginning or not, unmounted with the test.
struct Small(PathBuf);

impl Small {
    fn mount(dir: &Path) -> Self {
        let at = dir.join("small");
        fs::create_dir(&at).unwrap();
        assert!(Command::new("mount").args(["-t", "tmpfs", "-o", "size=4m", "tmpfs"]).arg(&at).status().unwrap().success());
        Small(at)
    }

    fn fill(&self) {
        use std::io::Write;
        let mut filler = fs::File::create(self.0.join("filler")).unwrap();
        while filler.write_all(&[1; 4096]).is_ok() {}
    }

    fn empty(&self) {
        fs::remove_file(self.0.join("filler")).unwrap();
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

fn may_mount() -> bool {
    // SAFETY: geteuid(2) has no effect.
    require("mount", "root, to mount a small file system", unsafe { libc::geteuid() } == 0)
}

#[test]
fn signals_go_to_the_command_once_and_end_no_tracer() {
    for backend in backends() {
        let dir = scratch();
        let dataset = dir.path().join("data");
        let names = ["HUP", "USR1", "USR2", "ALRM", "CONT", "INT", "QUIT", "PROF", "IO", "WINCH", "URG", "XCPU", "ABRT"];
        let traps: String = names.iter().map(|name| format!("trap 'echo {name} >> got' {name}; ")).collect();
        let script = format!("{traps}trap 'echo RT >> got' 40; trap 'exit 7' TERM; : > ready; while :; do sleep 0.02; done");
        let mut command = trace(dir.path(), &dataset, backend, &[]);
        command.args(["--", "bash", "-c", &script]);
        let running = Running::start(command);
        let work = dir.path().join("work");
        until("the command runs", || work.join("ready").exists());
        let got = || fs::read_to_string(work.join("got")).unwrap_or_default();
        let mut expected = String::new();
        for (signal, name) in names.iter().map(|name| (*name, *name)).chain([("40", "RT")]) {
            running.signal(signal);
            expected.push_str(&format!("{name}\n"));
            until(&format!("{backend}: {name} reaches the command, which has {:?}", got()), || got() == expected);
        }
        std::thread::sleep(Duration::from_millis(300));
        assert_eq!(got(), expected, "{backend}");
        running.signal("TERM");
        let output = running.output();
        assert_eq!(output.status.code(), Some(7), "{backend}: {}", text(&output));
        assert_eq!(states(&dataset), ["began", "ended"], "{backend}");
    }
}

/// As Slurm does to all processes of a step, and `kill` to a group.
#[test]
fn what_is_sent_to_all_around_reaches_the_command_once() {
    for backend in backends() {
        let dir = scratch();
        let work = dir.path().join("work");
        let mut command = trace(dir.path(), &dir.path().join("data"), backend, &[]);
        let script = "trap 'echo USR1 >> got' USR1; trap 'echo 40 >> got' 40; trap 'exit 7' TERM; : > ready; while :; do sleep 0.02; done";
        // A `sleep` is ended by it, the shell is not.
        command.args(["--", "bash", "-c", script]);
        let running = Running::start(command);
        until("the command runs", || work.join("ready").exists());
        let got = || fs::read_to_string(work.join("got")).unwrap_or_default();
        let mut expected = String::new();
        for signal in ["USR1", "40", "USR1"] {
            send(signal, &format!("-{}", running.1));
            expected.push_str(&format!("{signal}\n"));
            until(&format!("{backend}: {signal} reaches the command"), || got() == expected);
            std::thread::sleep(Duration::from_millis(500));
            assert_eq!(got(), expected, "{backend}");
        }
        running.signal("TERM");
        let output = running.output();
        assert_eq!(output.status.code(), Some(7), "{backend}: {}", text(&output));
    }
}

/// As `sbatch --signal=USR1` does to a program that does not expect it.
#[test]
fn a_signal_that_ends_the_command_leaves_a_whole_trace() {
    for backend in backends() {
        let dir = scratch();
        let dataset = dir.path().join("data");
        let mut command = trace(dir.path(), &dataset, backend, &[]);
        command.args(["--", "bash", "-c", ": > ready; exec sleep 100"]);
        let running = Running::start(command);
        until("the command runs", || dir.path().join("work/ready").exists());
        std::thread::sleep(Duration::from_millis(200));
        running.signal("USR1");
        let output = running.output();
        assert_eq!(output.status.code(), Some(128 + 10), "{backend}: {}", text(&output));
        assert_eq!(states(&dataset), ["began", "ended"], "{backend}");
        let signals = rows::<Process<'static>, _>(&dataset, |row| row.exit_signal);
        assert!(signals.contains(&Some(10)), "{backend}: {signals:?}");
    }
}

/// Stopped and told to go on as a job is: the shell must see the tracer stop, and both go on.
#[test]
fn it_stops_and_goes_on_with_the_command() {
    for backend in backends() {
        let dir = scratch();
        let mut command = trace(dir.path(), &dir.path().join("data"), backend, &[]);
        command.args(["--", "bash", "-c", "for i in {1..400}; do echo $i >> count; sleep 0.02; [ -e stop ] && exit 5; done"]);
        let running = Running::start(command);
        let work = dir.path().join("work");
        let count = || fs::read_to_string(work.join("count")).map_or(0, |text| text.lines().count());
        let state = |pid: u32| fs::read_to_string(format!("/proc/{pid}/stat")).unwrap().rsplit_once(") ").unwrap().1.starts_with('T');
        until("the command runs", || count() > 3);
        running.signal("TSTP");
        until(&format!("{backend}: the tracer is stopped"), || state(running.1));
        let then = count();
        std::thread::sleep(Duration::from_millis(300));
        assert!(count() <= then + 1, "{backend}: the command ran on");
        running.signal("CONT");
        until(&format!("{backend}: the command goes on"), || count() > then + 3);
        fs::write(work.join("stop"), "").unwrap();
        let output = running.output();
        assert_eq!(output.status.code(), Some(5), "{backend}: {}", text(&output));
    }
}

/// Under nohup a hang-up ends neither of them.
#[test]
fn what_was_ignored_stays_ignored() {
    for backend in backends() {
        let dir = scratch();
        let inner = trace(dir.path(), &dir.path().join("data"), backend, &[]);
        let mut command = Command::new("bash");
        command.args(["-c", "trap '' HUP CHLD; exec \"$@\"", "bash"]).arg(inner.get_program()).args(inner.get_args());
        command.args(["--", "bash", "-c", ": > ready; while [ ! -e stop ]; do sleep 0.02; done; exit 6"]);
        command.current_dir(dir.path().join("work")).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let running = Running::start(command);
        until("the command runs", || dir.path().join("work/ready").exists());
        running.signal("HUP");
        std::thread::sleep(Duration::from_millis(400));
        fs::write(dir.path().join("work/stop"), "").unwrap();
        let output = running.output();
        assert_eq!(output.status.code(), Some(6), "{backend}: {}", text(&output));
    }
}

/// A key of the terminal reaches the whole group: the command gets it once.
#[test]
fn a_key_of_the_terminal_is_told_once() {
    let script_works = Command::new("script").arg("--version").output().is_ok_and(|output| output.status.success());
    if !require("script", "script(1), to have a terminal", script_works) {
        return;
    }
    for backend in backends() {
        let dir = scratch();
        let work = dir.path().join("work");
        let inner = "trap 'echo INT >> got' INT; trap 'exit 7' TERM; : > ready; echo $PPID > tracer; while :; do sleep 0.02; done";
        fs::write(work.join("inner.sh"), inner).unwrap();
        let line = format!(
            "trap : INT; {} trace --backend {backend} --dataset {} -- bash inner.sh; echo $? > code",
            env!("CARGO_BIN_EXE_flowmine"),
            dir.path().join("data").display()
        );
        let mut command = Command::new("script");
        command.args(["-q", "-c", &line, "/dev/null"]).current_dir(&work).stdin(Stdio::piped()).stdout(Stdio::null());
        let mut running = Running::start(command);
        let got = || fs::read_to_string(work.join("got")).unwrap_or_default();
        until("the command runs", || fs::read_to_string(work.join("tracer")).is_ok_and(|text| text.ends_with('\n')));
        let mut keys = running.0.as_mut().unwrap().stdin.take().unwrap();
        std::io::Write::write_all(&mut keys, b"\x03").unwrap();
        until(&format!("{backend}: the key reaches the command"), || got() == "INT\n");
        std::thread::sleep(Duration::from_millis(400));
        assert_eq!(got(), "INT\n", "{backend}");
        // Sent to the tracer alone it is passed on, also on a terminal.
        let tracer = fs::read_to_string(work.join("tracer")).unwrap().trim().to_owned();
        send("INT", &tracer);
        until(&format!("{backend}: what is sent to the tracer reaches the command"), || got() == "INT\nINT\n");
        send("TERM", &tracer);
        until(&format!("{backend}: it ends"), || fs::read_to_string(work.join("code")).is_ok_and(|code| code.trim() == "7"));
    }
}

/// A hang-up ends the trace of a host with everything written, and no other signal does.
#[test]
fn the_trace_of_a_host_ends_by_a_hang_up_and_by_no_user_signal() {
    if !works("ebpf") {
        return;
    }
    let dir = scratch();
    let dataset = dir.path().join("data");
    let watched = dir.path().join("work");
    let running = Running::start(trace(dir.path(), &dataset, "ebpf", &["--directory", watched.to_str().unwrap()]));
    until("it began", || dataset.join("hosts").is_dir());
    for signal in ["USR1", "USR2", "ALRM", "WINCH"] {
        running.signal(signal);
    }
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(states(&dataset), ["began"]);
    running.signal("HUP");
    let output = running.output();
    assert!(matches!(output.status.code(), Some(0 | 1)), "{}", text(&output));
    assert_eq!(states(&dataset), ["began", "ended"]);
}

/// The disk of the dataset is full for a while, or from then on: the command does not notice, and
/// what is missing is told.
#[test]
fn a_full_disk_costs_rows_and_not_the_command() {
    if !may_mount() {
        return;
    }
    for (backend, room_again) in backends().flat_map(|backend| [(backend, true), (backend, false)]) {
        let what = format!("{backend}, room again: {room_again}");
        let dir = scratch();
        let small = Small::mount(dir.path());
        let dataset = small.0.join("data");
        let mut command = trace(dir.path(), &dataset, backend, &["--flush", "200ms"]);
        let step = |n: u32| {
            format!("while [ ! -e go{n} ]; do sleep 0.05; done; dd if=/dev/zero of=out{n} bs=512 count=1000 status=none; : > done{n}; ")
        };
        command.args(["--", "bash", "-c", &format!(": > ready; {}{}exit 5", step(1), step(2))]);
        let running = Running::start(command);
        let work = dir.path().join("work");
        until(&what, || work.join("ready").exists());
        small.fill();
        fs::write(work.join("go1"), "").unwrap();
        until(&what, || work.join("done1").exists());
        // A few flushes that fail.
        std::thread::sleep(Duration::from_millis(1500));
        if room_again {
            small.empty();
            std::thread::sleep(Duration::from_millis(800));
        }
        fs::write(work.join("go2"), "").unwrap();
        let output = running.output();
        assert_eq!(output.status.code(), Some(5), "{what}: {}", text(&output));
        let said = text(&output);
        assert!(said.contains("No space left on device") && said.contains("operations"), "{what}: {said}");
        for out in ["out1", "out2"] {
            assert_eq!(fs::metadata(work.join(out)).unwrap().len(), 512_000, "{what}");
        }
        if !room_again {
            assert_eq!(states(&dataset), ["began"], "{what}");
            continue;
        }
        assert_eq!(states(&dataset), ["began", "ended"], "{what}");
        let writes: i64 = rows::<IoEvent<'static>, _>(&dataset, |row| i64::from(row.op == "write" && row.size == Some(512))).iter().sum();
        let mut lost = BTreeMap::<String, (i64, i64)>::new();
        for (kind, reason, count, bytes) in
            rows::<IoLoss<'static>, _>(&dataset, |row| (row.kind.to_string(), row.reason.to_string(), row.count, row.bytes))
        {
            assert_eq!(reason, "not-written", "{what}");
            let sum = lost.entry(kind).or_default();
            *sum = (sum.0 + count, sum.1 + bytes.unwrap_or(0));
        }
        assert!(writes >= 1000 && lost["write"].0 > 0, "{what}: {writes} {lost:?}");
        assert_eq!((writes + lost["write"].0, 512 * writes + lost["write"].1), (2000, 512 * 2000), "{what}");
        let (operations, received, lost_operations) =
            rows::<Host<'static>, _>(&dataset, |row| (row.operations, row.received, row.lost)).pop().unwrap();
        let all: i64 = lost.iter().filter(|(kind, _)| Op::of(kind).is_some()).map(|(_, (count, _))| count).sum();
        assert_eq!(lost_operations, Some(all), "{what}");
        if let Some(operations) = operations {
            assert_eq!(Some(operations), received.map(|received| received + all), "{what}");
        }
        // What is told once was kept: each process, and the file whose open was lost.
        let ended = rows::<Process<'static>, _>(&dataset, |row| row.exit_ns.map(|_| row.executable.unwrap_or_default().into_owned()));
        let dd = ended.into_iter().flatten().filter(|path| path.ends_with("/dd")).count();
        assert_eq!(dd, 2, "{what}");
    }
}

#[test]
fn a_limit_of_file_sizes_is_like_a_full_disk() {
    for backend in backends() {
        let dir = scratch();
        let inner = trace(dir.path(), &dir.path().join("data"), backend, &["--flush", "100ms"]);
        let mut command = Command::new("bash");
        // In KiB: the first row still fits, and later the command lifts it for itself.
        command.args(["-c", "ulimit -S -f 24; exec \"$@\"", "bash"]).arg(inner.get_program()).args(inner.get_args());
        let script =
            "ulimit -S -f unlimited; for i in 1 2 3; do dd if=/dev/zero of=out bs=512 count=20000 status=none; sleep 0.4; done; exit 4";
        command.args(["--", "bash", "-c", script]);
        command.current_dir(dir.path().join("work")).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let output = Running::start(command).output();
        assert_eq!(output.status.code(), Some(4), "{backend}: {}", text(&output));
        assert_eq!(fs::metadata(dir.path().join("work/out")).unwrap().len(), 512 * 20000, "{backend}");
        // An overlay writes what the command writes: its tracer may not have the limit that the command has lifted.
        assert!(backend == "fuse" || text(&output).contains("File too large"), "{backend}: {}", text(&output));
        assert_eq!(states(&dir.path().join("data")), ["began", "ended"], "{backend}");
    }
}

/// Many tasks of a workflow, each traced into the same dataset: each runs, each has its rows, and
/// what is made of them is whole.
#[test]
fn traces_side_by_side_into_one_dataset() {
    const TASKS: usize = 40;
    for backend in backends() {
        let dir = scratch();
        let dataset = dir.path().join("data");
        let work = dir.path().join("work");
        let task = "echo \"task $1\" > out$1; sleep 0.1; cat out$1 >> again$1; exit 0";
        let line = format!(
            "seq {TASKS} | xargs -P8 -I{{}} {} trace --backend {backend} --flush 50ms --dataset {} -- bash -c '{task}' bash {{}}",
            env!("CARGO_BIN_EXE_flowmine"),
            dataset.display()
        );
        let output = Command::new("bash").args(["-c", &line]).current_dir(&work).output().unwrap();
        assert!(output.status.success(), "{backend}: {}", text(&output));
        let mut traces = BTreeMap::<i64, Vec<String>>::new();
        for (trace, state) in rows::<Host<'static>, _>(&dataset, |row| (row.trace_ns, row.state.to_string())) {
            traces.entry(trace).or_default().push(state);
        }
        assert_eq!(traces.len(), TASKS, "{backend}");
        assert!(traces.values().all(|states| states.len() == 2), "{backend}: {traces:?}");
        let mut written = BTreeMap::<i64, i64>::new();
        for (trace, bytes) in rows::<IoEvent<'static>, _>(&dataset, |row| {
            (row.trace_ns, row.result.filter(|bytes| row.op == "write" && *bytes > 0 && row.offset.is_some()))
        }) {
            *written.entry(trace).or_default() += bytes.unwrap_or(0);
        }
        let expected: i64 = (1..=TASKS).map(|task| 2 * format!("task {task}\n").len() as i64).sum();
        assert_eq!(written.values().sum::<i64>(), expected, "{backend}");
        assert_eq!(written.values().filter(|bytes| **bytes > 0).count(), TASKS, "{backend}");
        let owners: BTreeSet<String> = fs::read_dir(&dataset)
            .unwrap()
            .filter_map(|entry| entry.unwrap().file_name().into_string().ok())
            .filter(|name| name.ends_with(".tmp") || name.ends_with(".commit.json"))
            .collect();
        assert_eq!(owners, BTreeSet::new(), "{backend}: nothing is left half done");
        let correlated = Command::new(env!("CARGO_BIN_EXE_flowmine")).arg("correlate").arg("--dataset").arg(&dataset).output().unwrap();
        assert!(correlated.status.success(), "{}", text(&correlated));
        let attributed: i64 = rows::<TaskIo<'static>, _>(&dataset, |row| {
            let ours = row.path.as_deref().is_some_and(|path| path.contains("/work/out") || path.contains("/work/again"));
            if ours { row.written_bytes } else { 0 }
        })
        .iter()
        .sum();
        assert_eq!(attributed, expected, "{backend}");
    }
}

#[test]
fn a_command_that_cannot_be_traced_runs_untraced() {
    let dir = scratch();
    let work = dir.path().join("work");
    let run = |dataset: &Path, options: &[&str]| {
        let _ = fs::remove_file(work.join("ran"));
        let output = trace(dir.path(), dataset, "ptrace", options).args(["--", "sh", "-c", ": > ran; exit 7"]).output().unwrap();
        (output.status.code(), work.join("ran").exists(), text(&output))
    };
    // Where nothing can be made, whoever asks.
    let nowhere = Path::new("/proc/self/data");
    let (code, ran, said) = run(nowhere, &[]);
    assert_eq!((code, ran), (Some(7), true), "{said}");
    assert!(said.contains("NOT TRACED") && said.contains("/proc/self/data"), "{said}");
    let (code, ran, said) = run(nowhere, &["--must-trace"]);
    assert_eq!((code, ran), (Some(2), false), "{said}");
    // What is a mistake of whoever asks is told before anything runs.
    let other = dir.path().join("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("notes"), "mine").unwrap();
    for (dataset, options) in [(other.as_path(), &[][..]), (&dir.path().join("new"), &["--directory", "/no/such/folder"])] {
        let (code, ran, said) = run(dataset, options);
        assert_eq!((code, ran), (Some(2), false), "{said}");
    }
    // Signals and a signal's end as in a trace.
    let mut command = trace(dir.path(), nowhere, "ptrace", &[]);
    command.args(["--", "bash", "-c", "trap 'echo told > told; kill -KILL $$' USR2; : > ready; while :; do sleep 0.02; done"]);
    let running = Running::start(command);
    until("the command runs", || work.join("ready").exists());
    running.signal("USR2");
    assert_eq!(running.output().status.code(), Some(137));
    assert!(work.join("told").exists());
    if may_mount() {
        let small = Small::mount(dir.path());
        small.fill();
        let (code, ran, said) = run(&small.0.join("data"), &[]);
        assert_eq!((code, ran), (Some(7), true), "{said}");
        assert!(said.contains("No space left on device"), "{said}");
    }
}

/// The time of a trace is not the time of its command.
#[test]
fn a_command_outlives_the_time_of_its_trace() {
    for backend in backends() {
        let dir = scratch();
        let mut command = trace(dir.path(), &dir.path().join("data"), backend, &["--duration", "300ms"]);
        let output = command.args(["--", "bash", "-c", "sleep 1; : > done; exit 3"]).output().unwrap();
        assert_eq!((output.status.code(), dir.path().join("work/done").exists()), (Some(3), true), "{backend}: {}", text(&output));
    }
}

/// A copy of the program with rights by its file, for everybody.
fn with_rights(dir: &Path, rights: &str) -> PathBuf {
    let program = dir.join("flowmine");
    fs::copy(env!("CARGO_BIN_EXE_flowmine"), &program).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    assert!(Command::new("setcap").arg(rights).arg(&program).status().unwrap().success());
    program
}

#[test]
fn with_rights_by_its_file_it_shows_ones_own_processes_only() {
    if !works("ebpf") || !may_mount() {
        return;
    }
    // Where everybody may go.
    let dir = tempfile::tempdir_in("/var/tmp").unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let program = with_rights(dir.path(), "cap_bpf,cap_perfmon,cap_dac_override,cap_dac_read_search,cap_sys_ptrace+ep");
    let nobody = |arguments: &[&str]| {
        let mut command = Command::new("setpriv");
        command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]).arg(&program).args(arguments);
        command.current_dir(dir.path()).stdin(Stdio::null()).output().unwrap()
    };
    let dataset = dir.path().join("data");
    let data = dataset.to_str().unwrap();
    for refused in [&["--backend", "ebpf"][..], &["--backend", "ebpf", "--pid", "1"], &["--user", "root", "--", "true"]] {
        let output = nobody(&[&["trace", "--duration", "1s", "--dataset", data], refused].concat());
        assert_eq!(output.status.code(), Some(2), "{refused:?}: {}", text(&output));
        assert!(text(&output).contains("rights by its file"), "{refused:?}: {}", text(&output));
        assert!(!dataset.exists());
    }
    // A command of one's own, while root does something too.
    let mut of_root = Running::start({
        let mut command = Command::new("bash");
        command.args(["-c", "while :; do echo root >> of_root; sleep 0.01; done"]).current_dir(dir.path());
        command
    });
    let output = nobody(&[
        "trace",
        "--backend",
        "ebpf",
        "--must-trace",
        "--dataset",
        data,
        "--",
        "bash",
        "-c",
        "echo mine > of_nobody; sleep 0.3; exit 9",
    ]);
    assert_eq!(output.status.code(), Some(9), "{}", text(&output));
    let _ = of_root.0.as_mut().unwrap().kill();
    let users: BTreeSet<Option<i64>> = rows::<Process<'static>, _>(&dataset, |row| row.uid).into_iter().collect();
    assert_eq!(users, [Some(65534)].into());
    let opened = rows::<IoEvent<'static>, _>(&dataset, |row| row.path.map(|path| path.into_owned()).unwrap_or_default());
    assert!(opened.iter().any(|path| path.ends_with("/of_nobody")) && !opened.iter().any(|path| path.ends_with("/of_root")));
    // What the file's rights would open is not opened: neither by other commands nor by a trace.
    let secret = dir.path().join("secret");
    fs::create_dir(&secret).unwrap();
    fs::write(secret.join("log.xes"), "<log/>").unwrap();
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o700)).unwrap();
    let output = nobody(&["validate", secret.join("log.xes").to_str().unwrap()]);
    assert!(text(&output).contains("Permission denied"), "{}", text(&output));
    let output = nobody(&["trace", "--must-trace", "--dataset", secret.join("data").to_str().unwrap(), "--", "true"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(text(&output).contains("Permission denied") && !secret.join("data").exists(), "{}", text(&output));
}

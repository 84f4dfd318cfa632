//! Commands traced by ptrace, as rows of a dataset.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::OnceLock;
use std::time::Duration;

use flowmine_dataset::{Dataset, DatasetError, Role};
use flowmine_extract_ptrace as ptrace;
use flowmine_schema::Row;
use flowmine_schema::tables::{IoEvent, IoLoss, Process, TracedFile};
use flowmine_trace::host::HostFacts;
use flowmine_trace::options::Filters;
use flowmine_trace::stop::Stop;
use flowmine_trace::{Detail, Options, TraceError};

/// A trace and what it made.
struct Traced {
    status: ExitStatus,
    events: Vec<IoEvent<'static>>,
    processes: Vec<Process<'static>>,
    files: Vec<TracedFile<'static>>,
    losses: Vec<IoLoss<'static>>,
}

fn rows<R: Row, T>(dataset: &Dataset, mut of: impl FnMut(R::Of<'_>) -> T) -> Vec<T> {
    let mut rows = Vec::new();
    let read = dataset.read::<R, DatasetError>(|row| {
        rows.push(of(row));
        Ok(())
    });
    read.unwrap();
    rows
}

fn trace_with(command: &[OsString], options: &Options, stop: &Stop) -> Result<Traced, TraceError> {
    let dir = tempfile::tempdir().unwrap();
    let dataset = Dataset::open_or_create(&dir.path().join("dataset")).unwrap();
    let host = HostFacts::read(Path::new("/proc"));
    let writer = dataset.writer(Role::Host(host.name.clone()), "test").unwrap();
    let ended = ptrace::run(command, options, host, writer, stop)?;
    let mut events = rows::<IoEvent<'static>, _>(&dataset, |row| row.into_owned());
    events.sort_by_key(|row| row.start_ns);
    Ok(Traced {
        status: ended.status.unwrap(),
        events,
        processes: rows::<Process<'static>, _>(&dataset, |row| row.into_owned()),
        files: rows::<TracedFile<'static>, _>(&dataset, |row| row.into_owned()),
        losses: rows::<IoLoss<'static>, _>(&dataset, |row| row.into_owned()),
    })
}

fn words(command: &[&str]) -> Vec<OsString> {
    command.iter().map(OsString::from).collect()
}

fn trace(command: &[&str], detail: Detail) -> Traced {
    trace_with(&words(command), &Options { detail, ..Options::default() }, &Stop::never()).unwrap()
}

fn shell(script: &str, detail: Detail) -> Traced {
    trace(&["sh", "-c", script], detail)
}

impl Traced {
    /// Operations on files below a directory, by their handles or paths.
    fn below(&self, dir: &Path) -> Vec<&IoEvent<'static>> {
        let inside = |path: Option<&str>| path.is_some_and(|path| Path::new(path).starts_with(dir));
        let files: Vec<_> =
            self.files.iter().filter(|file| inside(file.path.as_deref())).filter_map(|file| Some((file.device?, file.inode))).collect();
        let ours =
            |row: &&IoEvent<'static>| inside(row.path.as_deref()) || row.device.zip(row.inode).is_some_and(|file| files.contains(&file));
        self.events.iter().filter(ours).collect()
    }
}

fn show(rows: &[&IoEvent<'static>]) -> Vec<String> {
    let one = |row: &&IoEvent<'static>| {
        let name = row.path.as_deref().and_then(|path| path.rsplit('/').next()).unwrap_or("");
        format!("{} {:?} {:?} {:?} {name}", row.op, row.offset, row.size, row.result)
    };
    rows.iter().map(one).collect()
}

/// The program of `fixtures/behaviour.c`, compiled when it is first asked for.
fn behaviour() -> &'static str {
    static PROGRAM: OnceLock<String> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/behaviour.c");
        let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("behaviour-{}", std::process::id()));
        let mut compile = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
        compile.args(["-O1", "-Wall", "-Werror", "-pthread", "-static", "-o"]).arg(&program).arg(source);
        assert!(compile.status().unwrap().success(), "{compile:?}");
        program.into_os_string().into_string().unwrap()
    })
}

/// A case of it in an empty directory. What hangs is killed after a minute and fails.
fn behave(case: &str, detail: Detail) -> (Traced, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let script = format!("cd {} && exec timeout -s KILL 60 {} {case}", dir.path().display(), behaviour());
    let traced = shell(&script, detail);
    (traced, dir)
}

fn base(dir: &tempfile::TempDir) -> PathBuf {
    dir.path().canonicalize().unwrap()
}

#[test]
fn dd_to_the_byte() {
    let dir = tempfile::tempdir().unwrap();
    let base = base(&dir);
    std::fs::write(base.join("in"), vec![7u8; 10_000]).unwrap();
    let (from, to) = (format!("if={}/in", base.display()), format!("of={}/out", base.display()));
    let traced = trace(&["dd", &from, &to, "bs=4096", "status=none"], Detail::Events);
    assert!(traced.status.success());
    assert!(traced.losses.is_empty(), "{:?}", traced.losses);
    let rows = traced.below(&base);
    let kept: Vec<_> = rows.iter().copied().filter(|row| matches!(&*row.op, "read" | "write")).collect();
    assert_eq!(
        show(&kept),
        [
            "read Some(0) Some(4096) Some(4096) ",
            "write Some(0) Some(4096) Some(4096) ",
            "read Some(4096) Some(4096) Some(4096) ",
            "write Some(4096) Some(4096) Some(4096) ",
            "read Some(8192) Some(4096) Some(1808) ",
            "write Some(8192) Some(1808) Some(1808) ",
            "read Some(10000) Some(4096) Some(0) ",
        ]
    );
    let process = traced.processes.iter().find(|process| process.exit_ns.is_some()).unwrap();
    assert!(process.rchar_bytes >= Some(10_000) && process.wchar_bytes >= Some(10_000), "{process:?}");
    assert_eq!((process.exit_code, process.execs), (Some(0), 1));
    let sizes: Vec<_> = traced
        .files
        .iter()
        .filter(|file| file.path.as_deref().is_some_and(|path| path.ends_with("/in")))
        .map(|file| file.size_bytes)
        .collect();
    assert_eq!(sizes, [Some(10_000)]);
}

#[test]
fn totals_are_counters_of_processes() {
    let dir = tempfile::tempdir().unwrap();
    let base = base(&dir);
    std::fs::write(base.join("a"), vec![7u8; 100_000]).unwrap();
    // The last `true` keeps the shell from becoming dd itself.
    let script = format!("cd {} && dd if=a of=b bs=1000 status=none; rm a; true", base.display());
    let traced = shell(&script, Detail::Totals);
    let rows = traced.below(&base);
    let ops: Vec<_> = rows.iter().map(|row| &*row.op).collect();
    assert_eq!(ops, ["open", "close", "open", "close", "close", "close", "delete"], "{rows:?}");
    assert!(traced.losses.is_empty(), "{:?}", traced.losses);
    let dd =
        traced.processes.iter().find(|process| process.command_line.as_deref().is_some_and(|line| line.starts_with("[\"dd\""))).unwrap();
    // Programs read a little more: their libraries.
    assert!((Some(100_000)..Some(120_000)).contains(&dd.rchar_bytes), "{dd:?}");
    assert_eq!((dd.wchar_bytes, dd.write_calls), (Some(100_000), Some(100)), "{dd:?}");
    assert!(dd.read_calls >= Some(101) && dd.utime_ns.is_some(), "{dd:?}");
}

#[test]
fn processes_have_their_facts() {
    let script = "FLOWMINE_TEST='a=b c' /bin/echo 'x y' >/dev/null; exit 3";
    let options = Options { environment: vec!["FLOWMINE_TEST".to_owned(), "NOT_THERE".to_owned()], ..Options::default() };
    let traced = trace_with(&words(&["sh", "-c", script]), &options, &Stop::never()).unwrap();
    assert_eq!(traced.status.code(), Some(3));
    let with = |text: &str| {
        traced.processes.iter().find(|process| process.command_line.as_deref().is_some_and(|line| line.contains(text))).unwrap()
    };
    let (shell, echo) = (with("-c"), with("[\"/bin/echo\""));
    assert_eq!(echo.command_line.as_deref(), Some("[\"/bin/echo\",\"x y\"]"));
    assert_eq!(echo.environment.as_deref(), Some("{\"FLOWMINE_TEST\":\"a=b c\"}"));
    assert_eq!((echo.parent_pid, echo.parent_start_ns), (Some(shell.pid), shell.process_start_ns));
    assert_eq!(shell.parent_pid, Some(std::process::id() as i32));
    assert_eq!((shell.exit_code, echo.exit_code, shell.execs, echo.execs), (Some(3), Some(0), 1, 1));
    assert_eq!((&*shell.first_seen, &*echo.first_seen), ("fork", "fork"));
    assert!(echo.executable.as_deref().is_some_and(|path| path.ends_with("/echo")), "{echo:?}");
    // SAFETY: geteuid(2) has no effect.
    assert_eq!(echo.uid, Some(i64::from(unsafe { libc::geteuid() })));
    assert!(echo.cgroup_path.is_some());
    for process in [shell, echo] {
        assert!(process.started_ns <= process.exec_ns && process.exec_ns < process.exit_ns, "{process:?}");
    }
}

#[test]
fn a_program_does_not_see_the_tracer() {
    for case in ["job_control", "traps", "interrupted", "many", "unshared", "pipe_and_position"] {
        for detail in [Detail::Events, Detail::Totals] {
            let (traced, _dir) = behave(case, detail);
            assert_eq!(traced.status.code(), Some(0), "{case} {detail:?}");
        }
    }
}

#[test]
fn what_is_killed_anywhere_never_stops_the_tracer() {
    for detail in [Detail::Events, Detail::Totals] {
        let (traced, _dir) = behave("killed", detail);
        assert_eq!(traced.status.code(), Some(0), "{detail:?}");
        let killed = traced.processes.iter().filter(|process| process.exit_signal == Some(libc::SIGKILL)).count();
        assert!(killed >= 60, "{killed}");
        let counted = |process: &&Process<'_>| process.exit_signal == Some(libc::SIGKILL) && process.wchar_bytes.is_some();
        eprintln!("{} of {killed} have counters", traced.processes.iter().filter(counted).count());
        assert!(traced.processes.iter().all(|process| process.exit_ns.is_some()));
    }
}

/// The registers show what became of the call (x86-64), or it is counted as lost: a thread that is
/// killed twice is gone before they can be read.
#[test]
fn what_a_killed_process_wrote_in_its_last_call_is_recorded() {
    let (traced, dir) = behave("killed_in_calls", Detail::Events);
    assert_eq!(traced.status.code(), Some(0));
    let missing = traced.losses.iter().filter(|loss| loss.reason == "killed").map(|loss| loss.count).sum::<i64>();
    assert!(traced.losses.iter().all(|loss| loss.reason == "killed"));
    if cfg!(target_arch = "x86_64") {
        assert!(missing <= 9, "{missing} of 18 are lost");
    }
    let mut differing = 0;
    for number in 0..18 {
        let path = base(&dir).join(format!("to{number:02}"));
        let size = std::fs::metadata(&path).unwrap().len() as i64;
        let of_file = |row: &&&IoEvent<'_>| row.op == "write";
        let written: i64 = traced.below(&path).iter().filter(of_file).filter_map(|row| row.result).filter(|result| *result > 0).sum();
        eprintln!("{number}: {written} of {size} bytes");
        differing += i64::from(written != size);
    }
    assert!(differing <= missing, "{differing} files, {missing} lost");
}

#[test]
fn a_first_thread_may_end_first() {
    let (traced, dir) = behave("leader_ends", Detail::Events);
    assert_eq!(traced.status.code(), Some(7));
    let rows = traced.below(&base(&dir));
    let last: Vec<_> = rows.iter().copied().filter(|row| row.tid != Some(row.pid)).collect();
    assert_eq!(show(&last), ["open None None Some(0) last", "write Some(0) Some(5) Some(5) ", "close None None Some(0) "]);
    assert_eq!(traced.processes.iter().filter(|process| process.exit_code == Some(7)).count(), 2, "timeout and its child");
}

#[test]
fn calls_that_share_a_position_have_their_own_offsets() {
    let (traced, dir) = behave("shared_position", Detail::Events);
    assert_eq!(traced.status.code(), Some(0));
    let rows = traced.below(&base(&dir));
    let mut ranges: Vec<_> = rows.iter().filter(|row| row.op == "write").map(|row| (row.offset.unwrap(), row.result.unwrap())).collect();
    ranges.sort_unstable();
    assert_eq!(ranges.len(), 1200);
    let mut end = 0;
    for (offset, size) in ranges {
        assert_eq!(offset, end);
        end += size;
    }
    let handles: std::collections::HashSet<_> = rows.iter().map(|row| row.handle).collect();
    assert_eq!(handles.len(), 1);
}

#[test]
fn a_thread_with_its_own_descriptors() {
    let (traced, dir) = behave("unshared", Detail::Events);
    let rows = traced.below(&base(&dir));
    let writes: Vec<_> = rows.iter().copied().filter(|row| row.op == "write").collect();
    assert_eq!(show(&writes), ["write Some(0) Some(6) Some(6) ", "write Some(0) Some(1) Some(1) ", "write Some(6) Some(4) Some(4) "]);
    assert_eq!(writes[0].handle, writes[2].handle);
    assert_ne!(writes[0].handle, writes[1].handle);
}

#[test]
fn calls_of_another_convention_are_counted_and_not_misread() {
    let (traced, dir) = behave("foreign", Detail::Events);
    if traced.status.code() == Some(77) {
        eprintln!("not run: this kernel has no 32-bit calls");
        return;
    }
    assert_eq!(traced.status.code(), Some(0));
    let lost = |kind: &str| {
        traced.losses.iter().filter(|loss| loss.kind == kind && loss.reason == "unreadable").map(|loss| loss.count).sum::<i64>()
    };
    assert_eq!((lost("open"), lost("write"), lost("read"), lost("close")), (1, 1, 1, 0), "{:?}", traced.losses);
    let bytes = |kind: &str| traced.losses.iter().filter(|loss| loss.kind == kind).filter_map(|loss| loss.bytes).collect::<Vec<_>>();
    assert_eq!((bytes("open"), bytes("write"), bytes("read")), (vec![], vec![4], vec![4]), "{:?}", traced.losses);
    // What it does in the native way is seen, though nobody saw the file being opened.
    let rows = traced.below(&base(&dir));
    assert_eq!(show(&rows), ["write Some(4) Some(6) Some(6) "]);
    assert!(rows[0].handle.is_some());
}

#[test]
fn what_cannot_be_started_says_why() {
    let reason = |command: &[&str]| match trace_with(&words(command), &Options::default(), &Stop::never()) {
        Err(TraceError::System { what, source }) => (what, source.raw_os_error()),
        other => panic!("{:?}", other.map(|traced| traced.status)),
    };
    assert_eq!(reason(&["/nowhere/program"]), ("starting /nowhere/program".to_owned(), Some(libc::ENOENT)));
    assert_eq!(reason(&["no-program-of-this-name"]).1, Some(libc::ENOENT));
    let dir = tempfile::tempdir().unwrap();
    let plain = dir.path().join("plain");
    std::fs::write(&plain, "no program").unwrap();
    assert_eq!(reason(&[plain.to_str().unwrap()]).1, Some(libc::EACCES));
    assert!(matches!(trace_with(&[], &Options::default(), &Stop::never()), Err(TraceError::NotHere(_))));
    let options = Options { filters: Filters { pids: vec![1], ..Filters::default() }, ..Options::default() };
    assert!(matches!(trace_with(&words(&["true"]), &options, &Stop::never()), Err(TraceError::NotHere(_))));
}

#[test]
fn how_it_ended_is_passed_on() {
    assert_eq!(shell("kill -9 $$", Detail::Totals).status.signal(), Some(libc::SIGKILL));
    assert_eq!(shell("kill -SEGV $$", Detail::Events).status.signal(), Some(libc::SIGSEGV));
    assert_eq!(shell("exit 255", Detail::Events).status.code(), Some(255));
}

#[test]
fn signals_to_the_tracer_go_to_the_command() {
    let dir = tempfile::tempdir().unwrap();
    let script = format!("trap 'echo told > {}/told; exit 9' TERM; while :; do sleep 0.05; done", dir.path().display());
    let stop = Stop::never();
    let teller = stop.clone();
    let late = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(400));
        teller.tell(libc::SIGTERM);
    });
    let traced = trace_with(&words(&["sh", "-c", &script]), &Options::default(), &stop).unwrap();
    late.join().unwrap();
    assert_eq!(traced.status.code(), Some(9));
    assert_eq!(traced.below(&base(&dir)).iter().filter(|row| row.op == "write").count(), 1);
}

#[test]
fn what_the_command_left_behind_is_traced_to_its_end() {
    let dir = tempfile::tempdir().unwrap();
    let script = format!("(sleep 0.5; echo late > {}/late) >/dev/null 2>&1 & exit 4", dir.path().display());
    let traced = shell(&script, Detail::Events);
    assert_eq!(traced.status.code(), Some(4));
    assert_eq!(traced.below(&base(&dir)).iter().filter(|row| row.op == "write").count(), 1);
}

#[test]
fn filters_leave_out() {
    let dir = tempfile::tempdir().unwrap();
    let base = base(&dir);
    let script = format!("cd {} && echo a > a; mkdir b; echo b > b/b; cat a b/b > /dev/null; rm a", base.display());
    let traced = |filters: Filters| {
        let traced = trace_with(&words(&["sh", "-c", &script]), &Options { filters, ..Options::default() }, &Stop::never()).unwrap();
        let _ = std::fs::remove_dir_all(base.join("b"));
        traced
    };
    let only = traced(Filters { ops: vec![flowmine_trace::Op::Delete], ..Filters::default() });
    assert_eq!(show(&only.events.iter().collect::<Vec<_>>()), ["delete None None Some(0) a"]);
    let below = traced(Filters { directories: vec![base.join("b")], ..Filters::default() });
    assert!(
        !below.events.is_empty() && below.events.len() == below.below(&base.join("b")).len(),
        "{:?}",
        show(&below.events.iter().collect::<Vec<_>>())
    );
    let nobody = traced(Filters { uids: vec![4_000_000], ..Filters::default() });
    assert!(nobody.events.is_empty());
    let proc = trace_with(
        &words(&["cat", "/proc/self/status"]),
        &Options { filters: Filters { file_systems: vec!["proc".to_owned()], ..Filters::default() }, ..Options::default() },
        &Stop::never(),
    );
    let proc = proc.unwrap();
    assert!(proc.events.iter().any(|row| row.op == "read" && row.result > Some(0)), "{:?}", proc.events);
    assert!(proc.files.iter().all(|file| file.file_system.as_deref() == Some("proc")), "{:?}", proc.files);
}

/// Another mount namespace, as containers have it.
#[test]
fn a_container_has_two_paths() {
    let dir = tempfile::tempdir().unwrap();
    let base = base(&dir);
    std::fs::create_dir_all(base.join("real/sub")).unwrap();
    std::fs::create_dir(base.join("seen")).unwrap();
    std::fs::write(base.join("real/sub/x"), "content").unwrap();
    let script = format!(
        "mount --bind {0}/real {0}/seen && mount -t tmpfs none {0}/real && cat {0}/seen/sub/x > /dev/null && rm {0}/seen/sub/x && echo y > {0}/real/y",
        base.display()
    );
    let traced = trace(&["unshare", "-m", "sh", "-c", &script], Detail::Events);
    if !traced.status.success() {
        eprintln!("not run: no mount namespace can be made here");
        return;
    }
    let text = |path: &str| Some(format!("{}/{path}", base.display()));
    let of = |op: &str, seen: &str| {
        let rows = traced.events.iter().filter(|row| row.op == op && row.container_path.as_deref() == text(seen).as_deref());
        let rows: Vec<_> = rows.map(|row| row.path.as_deref().map(str::to_owned)).collect();
        assert_eq!(rows.len(), 1, "{op} {seen}: {:?}", traced.events);
        rows[0].clone()
    };
    assert_eq!(of("open", "seen/sub/x"), text("real/sub/x"));
    assert_eq!(of("delete", "seen/sub/x"), text("real/sub/x"));
    // The host does not have that file system.
    assert_eq!(of("open", "real/y"), None);
}

/// When the dataset cannot be written any more, the command does not suffer.
#[test]
fn a_lost_dataset_is_told_at_the_end() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = dir.path().join("dataset");
    let dataset = Dataset::open_or_create(&dataset).unwrap();
    let host = HostFacts::read(Path::new("/proc"));
    let writer = dataset.writer(Role::Host(host.name.clone()), "test").unwrap();
    let script = format!(
        "cd {} && rm -r dataset && echo > dataset && for i in 1 2 3 4; do sleep 0.15; cat dataset >> done; done",
        dir.path().display()
    );
    let options = Options { flush_every: Duration::ZERO, ..Options::default() };
    let ended = ptrace::run(&words(&["sh", "-c", &script]), &options, host, writer, &Stop::never()).unwrap();
    assert_eq!(ended.status.and_then(|status| status.code()), Some(0));
    assert!(ended.outcome.not_written.is_some() && ended.outcome.lost_operations > 0, "{ended:?}");
    assert_eq!(std::fs::read_to_string(dir.path().join("done")).unwrap().len(), 4);
}

/// All of this as another user, who has no privileges.
#[test]
fn it_works_without_privileges() {
    // SAFETY: geteuid(2) has no effect.
    if unsafe { libc::geteuid() } != 0 {
        eprintln!("not run: it takes root to become nobody; the other tests have run without privileges");
        return;
    }
    let own = std::env::current_exe().unwrap();
    let dir = tempfile::tempdir().unwrap();
    // Where nobody may go.
    let program = dir.path().join("tests");
    std::fs::copy(&own, &program).unwrap();
    for path in [dir.path(), program.as_path()] {
        std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    }
    let output = Command::new("setpriv")
        .args(["--reuid", "65534", "--regid", "65534", "--clear-groups", "--bounding-set", "-all", "timeout", "120"])
        .arg(&program)
        .args(["--exact", "dd_to_the_byte", "totals_are_counters_of_processes", "processes_have_their_facts", "how_it_ended_is_passed_on"])
        .current_dir(dir.path())
        .env("TMPDIR", dir.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("4 passed"), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
}

//! `flowmine trace` of a host as its user runs it: each filter leaves in what it names and nothing
//! else, and sums are exact. By eBPF on this kernel.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use flowmine_dataset::{Dataset, DatasetError};
use flowmine_schema::row::Row;
use flowmine_schema::tables::{Host, IoEvent, IoTotal, Process, TracedFile};
use tempfile::TempDir;

use crate::support::doctor;
use crate::support::require::require;

fn ebpf_works() -> bool {
    let (works, how) = doctor::says("ebpf");
    require("bpf", &format!("eBPF ({how})"), works)
}

/// A trace of the host that runs.
struct HostTrace {
    tracer: Child,
    dataset: PathBuf,
}

impl HostTrace {
    /// Starts it and waits until it says that it sees what happens.
    fn start(dir: &TempDir, options: &[&str]) -> Self {
        let dataset = dir.path().join("dataset");
        let mut command = Command::new(env!("CARGO_BIN_EXE_flowmine"));
        command.args(["trace", "--backend", "ebpf", "--dataset"]).arg(&dataset).args(options).stderr(Stdio::piped());
        let mut tracer = command.spawn().unwrap();
        let mut lines = BufReader::new(tracer.stderr.take().unwrap());
        let mut line = String::new();
        while !line.contains("is being traced") {
            line.clear();
            assert!(lines.read_line(&mut line).unwrap() > 0, "{options:?}: the tracer ended before it began");
        }
        tracer.stderr = Some(lines.into_inner());
        HostTrace { tracer, dataset }
    }

    /// Ends it as a service manager does.
    fn end(mut self) -> Dataset {
        let pid = self.tracer.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        let status = self.tracer.wait().unwrap();
        let mut text = String::new();
        self.tracer.stderr.take().unwrap().read_to_string(&mut text).unwrap();
        assert!(status.success(), "{status}: {text}");
        Dataset::open(&self.dataset).unwrap()
    }
}

impl Drop for HostTrace {
    fn drop(&mut self) {
        let _ = self.tracer.kill();
        let _ = self.tracer.wait();
    }
}

fn rows<R: Row, T>(dataset: &Dataset, mut of: impl FnMut(R::Of<'_>) -> T) -> Vec<T> {
    let mut all = Vec::new();
    let read = dataset.read::<R, DatasetError>(|row| {
        all.push(of(row));
        Ok(())
    });
    read.unwrap();
    all
}

/// Which files below a directory were written, by the paths under which they were opened; what
/// others on this machine do lies elsewhere.
fn written(dataset: &Dataset, dir: &Path) -> BTreeSet<String> {
    let events = rows::<IoEvent<'static>, _>(dataset, |event| event.into_owned());
    let path_of = |handle: Option<i64>| {
        let open = events.iter().find(|event| event.op == "open" && event.handle.is_some() && event.handle == handle)?;
        open.path.as_deref()?.strip_prefix(dir.to_str()?)?.strip_prefix('/').map(str::to_owned)
    };
    events.iter().filter(|event| event.op == "write" && event.result == Some(3)).filter_map(|event| path_of(event.handle)).collect()
}

fn shell(script: &str, dir: &Path) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]).current_dir(dir).stdin(Stdio::null());
    command
}

fn run(mut command: Command) {
    assert!(command.status().unwrap().success(), "{command:?}");
}

fn names<const N: usize>(names: [&str; N]) -> BTreeSet<String> {
    names.map(str::to_owned).into()
}

/// A directory whose path has no symbolic link in it and that everybody may write to.
fn place() -> TempDir {
    let dir = tempfile::tempdir_in("/var/tmp").unwrap();
    fs::set_permissions(dir.path(), std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    dir
}

#[test]
fn users_and_groups() {
    if !ebpf_works() {
        return;
    }
    for (option, value) in [("--user", "65534"), ("--user", "nobody"), ("--group", "65534"), ("--group", "nogroup")] {
        let dir = place();
        let trace = HostTrace::start(&dir, &["--detail", "events", option, value]);
        run(shell("echo 12 > of_root", dir.path()));
        let mut other = shell("echo 12 > of_nobody; sh -c 'echo 12 > of_its_child'", dir.path());
        other.uid(65534).gid(65534);
        run(other);
        assert_eq!(written(&trace.end(), dir.path()), names(["of_nobody", "of_its_child"]), "{option} {value}");
    }
}

#[test]
fn a_process_with_its_descendants() {
    if !ebpf_works() {
        return;
    }
    let dir = place();
    // It waits until it is followed.
    let followed = shell("read go; echo 12 > a; (echo 12 > b; sh -c 'echo 12 > c') & wait", dir.path()).stdin(Stdio::piped()).spawn();
    let mut followed = followed.unwrap();
    let trace = HostTrace::start(&dir, &["--detail", "events", "--pid", &followed.id().to_string()]);
    run(shell("echo 12 > other", dir.path()));
    drop(followed.stdin.take());
    followed.wait().unwrap();
    assert_eq!(written(&trace.end(), dir.path()), names(["a", "b", "c"]));
}

/// Where control groups of a hierarchy can be made: of version 2, and of a controller of version 1.
fn cgroup_mounts() -> Vec<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let of = |kind: &str, option: &str| {
        let mut lines = mounts.lines().filter_map(|line| line.split_once(" - "));
        let (before, _) = lines.find(|(_, after)| after.split(' ').next() == Some(kind) && after.contains(option))?;
        Some(PathBuf::from(before.split(' ').nth(4)?))
    };
    of("cgroup2", "").into_iter().chain(of("cgroup", "freezer")).collect()
}

/// A control group that goes with its value.
struct Group(PathBuf);

impl Drop for Group {
    fn drop(&mut self) {
        let _ = fs::remove_dir(self.0.join("below"));
        let _ = fs::remove_dir(&self.0);
    }
}

#[test]
fn control_groups_with_those_below() {
    if !ebpf_works() {
        return;
    }
    let mounts = cgroup_mounts();
    if !require("bpf", "a hierarchy of control groups", !mounts.is_empty()) {
        return;
    }
    for mount in mounts {
        let dir = place();
        let group = Group(mount.join(format!("flowmine-test-{}", std::process::id())));
        fs::create_dir_all(group.0.join("below")).unwrap();
        let trace = HostTrace::start(&dir, &["--detail", "events", "--cgroup", group.0.to_str().unwrap()]);
        let script = "echo 12 > outside; echo $$ > $0/cgroup.procs; echo 12 > inside; echo $$ > $0/below/cgroup.procs; echo 12 > below";
        let mut command = shell(script, dir.path());
        command.arg(&group.0);
        run(command);
        let dataset = trace.end();
        assert_eq!(written(&dataset, dir.path()), names(["inside", "below"]), "{}", mount.display());
        // The process is known by its path in this hierarchy.
        let name = group.0.file_name().unwrap().to_str().unwrap().to_owned();
        let known = rows::<Process<'static>, _>(&dataset, |process| {
            let v1 = process.cgroup_v1.as_deref().is_some_and(|paths| paths.contains(&name));
            v1 || process.cgroup_path.as_deref().is_some_and(|path| path.contains(&name))
        });
        assert!(known.contains(&true), "{}", mount.display());
    }
}

#[test]
fn types_of_file_systems() {
    if !ebpf_works() {
        return;
    }
    let (dir, memory) = (place(), tempfile::tempdir_in("/dev/shm").unwrap());
    let beside = memory.path().to_str().unwrap().to_owned();
    let script = format!("echo 12 > here; echo 12 > {beside}/there");
    for (option, here, there) in [("--file-system", false, true), ("--not-file-system", true, false)] {
        let own = tempfile::tempdir_in(dir.path()).unwrap();
        let trace = HostTrace::start(&own, &["--detail", "events", option, "tmpfs"]);
        run(shell(&script, own.path()));
        let dataset = trace.end();
        assert_eq!(written(&dataset, own.path()).contains("here"), here, "{option}");
        assert_eq!(written(&dataset, memory.path()).contains("there"), there, "{option}");
    }
}

#[test]
fn directories() {
    if !ebpf_works() {
        return;
    }
    let dir = place();
    for below in ["in/out", "outside"] {
        fs::create_dir_all(dir.path().join(below)).unwrap();
    }
    // Through a symbolic link, as a user may name it.
    std::os::unix::fs::symlink(dir.path().join("in"), dir.path().join("link")).unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let options = ["--detail", "events", "--directory", &path("link"), "--not-directory", &path("in/out")];
    let trace = HostTrace::start(&dir, &options);
    run(shell("echo 12 > in/a; echo 12 > in/out/b; echo 12 > outside/c", dir.path()));
    assert_eq!(written(&trace.end(), dir.path()), names(["in/a"]));
}

#[test]
fn operations() {
    if !ebpf_works() {
        return;
    }
    let dir = place();
    let trace = HostTrace::start(&dir, &["--detail", "events", "--op", "rename,delete"]);
    run(shell("echo 12 > a; mv a b; rm b", dir.path()));
    let dataset = trace.end();
    let mut seen = BTreeSet::new();
    let mut here = Vec::new();
    for event in rows::<IoEvent<'static>, _>(&dataset, |event| event.into_owned()) {
        seen.insert(event.op.to_string());
        if let Some(name) = event.path.as_deref().and_then(|path| path.strip_prefix(dir.path().to_str().unwrap())) {
            here.push((event.op.to_string(), name.to_owned()));
        }
    }
    assert_eq!(here, [("rename".to_owned(), "/a".to_owned()), ("delete".to_owned(), "/b".to_owned())]);
    assert!(seen.is_subset(&names(["rename", "delete"])), "{seen:?}");
}

#[test]
fn totals_are_exact_and_names_of_variables_are_kept() {
    if !ebpf_works() {
        return;
    }
    let dir = place();
    let trace = HostTrace::start(&dir, &["--directory", dir.path().to_str().unwrap(), "--environ", "FM_TASK,FM_OTHER", "--flush", "1s"]);
    let mut command = shell("dd if=/dev/zero of=a bs=1000 count=777 status=none; dd if=a of=b bs=333 status=none", dir.path());
    command.env("FM_TASK", "t 1").env("FM_SECRET", "no");
    run(command);
    let dataset = trace.end();
    // A file whose path is not known, such as one that was deleted before, passes the filter.
    let files = rows::<TracedFile<'static>, _>(&dataset, |file| file.path.is_some().then_some((file.device, file.inode)));
    let (mut read, mut wrote) = ((0, 0), (0, 0));
    rows::<IoTotal<'static>, _>(&dataset, |total| {
        if !files.contains(&Some((Some(total.device), total.inode))) {
            return;
        }
        // The last read of a file brings nothing.
        read = (read.0 + total.read_calls, read.1 + total.read_bytes);
        wrote = (wrote.0 + total.write_calls, wrote.1 + total.write_bytes);
    });
    assert_eq!((read, wrote), ((777_000 / 333 + 2, 777_000), (777 + 777_000 / 333 + 1, 2 * 777_000)));
    assert!(rows::<IoEvent<'static>, _>(&dataset, |event| event.op.to_string()).iter().all(|op| op != "read" && op != "write"));
    let environments: Vec<String> =
        rows::<Process<'static>, _>(&dataset, |process| process.environment.map(|text| text.into_owned())).into_iter().flatten().collect();
    assert!(environments.iter().any(|text| text == r#"{"FM_TASK":"t 1"}"#), "{environments:?}");
    assert!(!environments.iter().any(|text| text.contains("SECRET")));
    let states = rows::<Host<'static>, _>(&dataset, |host| (host.state.to_string(), host.detail.to_string(), host.lost));
    assert_eq!(states, [("began".to_owned(), "totals".to_owned(), None), ("ended".to_owned(), "totals".to_owned(), Some(0))]);
}

/// What ran before is known: the process with its command line, and the file that it had open.
#[test]
fn what_ran_before_is_read_in() {
    if !ebpf_works() {
        return;
    }
    let dir = place();
    let mut before = shell("exec 3> early; read go; echo 12 >&3", dir.path()).stdin(Stdio::piped()).spawn().unwrap();
    while !dir.path().join("early").exists() {
        std::thread::yield_now();
    }
    let trace = HostTrace::start(&dir, &["--detail", "events", "--command-lines", "all"]);
    drop(before.stdin.take());
    before.wait().unwrap();
    let dataset = trace.end();
    let pid = before.id() as i32;
    let seen = rows::<Process<'static>, _>(&dataset, |process| {
        (process.pid, process.first_seen.to_string(), process.command_line.as_deref().is_some_and(|line| line.contains("exec 3> early")))
    });
    assert!(seen.contains(&(pid, "running".to_owned(), true)), "{seen:?}");
    let inode = std::os::unix::fs::MetadataExt::ino(&fs::metadata(dir.path().join("early")).unwrap()) as i64;
    let writes = rows::<IoEvent<'static>, _>(&dataset, |event| (event.pid, event.op.to_string(), event.inode, event.result));
    assert!(writes.contains(&(pid, "write".to_owned(), Some(inode), Some(3))));
    let files = rows::<TracedFile<'static>, _>(&dataset, |file| (file.inode, file.path.map(|path| path.into_owned())));
    assert!(files.contains(&(inode, dir.path().join("early").to_str().map(str::to_owned))), "{files:?}");
}

/// Others' command lines hold passwords: of a host's trace the first word is kept, unless somebody
/// asks for more. A command is one's own.
#[test]
fn of_command_lines_is_kept_what_was_asked_for() {
    if !ebpf_works() {
        return;
    }
    let lines = |dataset: &Dataset, pid: i32| {
        let lines = rows::<Process<'static>, _>(dataset, |row| (row.pid, row.command_line.map(Cow::into_owned), row.command_line_cut));
        lines.into_iter().filter(|(of, ..)| *of == pid).map(|(_, line, cut)| (line, cut)).collect::<BTreeSet<_>>()
    };
    let asked = |dataset: &Dataset| rows::<Host<'static>, _>(dataset, |host| host.command_lines.map(Cow::into_owned).unwrap_or_default());
    let (first, all) = (Some(r#"["sh"]"#.to_owned()), Some(r#"["sh","-c","read go","--password=hunter2"]"#.to_owned()));
    let cases: [(&[&str], &str, _); 4] = [
        (&[], "program", (first.clone(), true)),
        (&["--command-lines", "program"], "program", (first.clone(), true)),
        (&["--command-lines", "none"], "none", (None, false)),
        (&["--command-lines", "all"], "all", (all.clone(), false)),
    ];
    for (options, name, kept) in cases {
        let dir = place();
        let start = || {
            let mut command = shell("read go", dir.path());
            command.arg("--password=hunter2").stdin(Stdio::piped()).spawn().unwrap()
        };
        // One that ran before, and one that comes later.
        let mut before = start();
        let trace = HostTrace::start(&dir, options);
        let mut later = start();
        for child in [&mut before, &mut later] {
            drop(child.stdin.take());
            child.wait().unwrap();
        }
        let dataset = trace.end();
        assert_eq!(asked(&dataset), [name, name]);
        for (child, until) in [(before.id(), "before"), (later.id(), "later")] {
            let mut seen = lines(&dataset, child as i32);
            // A fork has no command line of its own before it is its program.
            seen.retain(|(line, _)| line.is_some() || name == "none");
            assert_eq!(seen, [kept.clone()].into(), "{name}, {until}");
        }
    }
    // A command, and processes of others beside it.
    let ours = std::process::id().to_string();
    let cases: [(&[&str], &str, _, _); 3] = [
        (&[], "all", Some((all, false)), r#"["sh","-c","read go","--password=hunter2"]"#),
        (&["--command-lines", "none"], "none", Some((None, false)), r#"["sh"]"#),
        (&["--pid", &ours], "program", Some((first, true)), r#"["sh"]"#),
    ];
    for (options, name, kept, of_trace) in cases {
        let dir = place();
        let mut command = Command::new(env!("CARGO_BIN_EXE_flowmine"));
        command.args(["trace", "--backend", "ebpf", "--dataset"]).arg(dir.path().join("d")).args(options);
        command.args(["--", "sh", "-c", "read go", "--password=hunter2"]).stdin(Stdio::null()).output().unwrap();
        let dataset = Dataset::open(&dir.path().join("d")).unwrap();
        assert_eq!(asked(&dataset), [name, name]);
        let commands = rows::<Host<'static>, _>(&dataset, |host| host.command.map(Cow::into_owned).unwrap_or_default());
        assert_eq!(commands, [of_trace, of_trace]);
        let seen = rows::<Process<'static>, _>(&dataset, |row| {
            (row.exit_ns.is_some(), row.command_line.map(Cow::into_owned), row.command_line_cut)
        });
        // Other tests of this program start processes, too.
        let ended: Vec<_> = seen.into_iter().filter(|(ended, ..)| *ended).map(|(_, line, cut)| (line, cut)).collect();
        assert!(kept.is_some_and(|kept| ended.contains(&kept)), "{name}: {ended:?}");
        assert!(name == "all" || !format!("{ended:?}").contains("hunter2"), "{name}: {ended:?}");
    }
}

#[test]
fn it_ends_after_its_time() {
    if !ebpf_works() {
        return;
    }
    let dir = place();
    let mut command = Command::new(env!("CARGO_BIN_EXE_flowmine"));
    command.args(["trace", "--backend", "ebpf", "--duration", "1s", "--dataset"]).arg(dir.path().join("d"));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let dataset = Dataset::open(&dir.path().join("d")).unwrap();
    let times = rows::<Host<'static>, _>(&dataset, |host| host.at_ns);
    assert!(times.len() == 2 && times[1] - times[0] >= 900_000_000, "{times:?}");
}

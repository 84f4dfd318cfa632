//! Each layer that comes with flowmine, in a directory full of files that look like its own: it
//! touches only what its own run made, however the task ends.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]

mod common;
#[path = "../../../tests/support/require.rs"]
mod require;

use std::collections::BTreeMap;
use std::ffi::CString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::{SHELLS, install, is_root, plan, seen};
use flowmine_transform::algebra::Composition;
use flowmine_transform::builtin;

/// How a task ends, or is ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Well,
    Fails,
    Crashes,
    Term,
    Kill,
}

impl End {
    fn command(self) -> &'static str {
        match self {
            Self::Well => "echo done >out",
            Self::Fails => "echo done >out; exit 3",
            Self::Crashes => "echo done >out; kill -SEGV $$",
            Self::Term | Self::Kill => "echo done >out; : >ready; sleep 321",
        }
    }
}

/// What a container's program or a tracer does: it runs its last argument.
const STAND_IN: &str = "#!/bin/sh\ncase $1 in run | exec | trace) for last; do :; done; exec \"$last\" ;; esac\n";

fn layer(name: &str) -> Composition {
    let lets = [("times", "2"), ("pause", "0"), ("program", "./stand-in"), ("flowmine", "./stand-in")];
    let lets = lets.map(|(name, value)| (name.to_owned(), value.to_owned()));
    Composition::read(name, builtin::text(name).unwrap(), None, &lets).unwrap()
}

fn fifo(path: &Path) {
    let path = CString::new(path.as_os_str().as_bytes()).unwrap();
    // SAFETY: the path ends with a NUL byte.
    assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
}

/// The head of a core dump, with whatever comes after it.
fn core_dump(rest: &str) -> Vec<u8> {
    let mut bytes = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x04\0".to_vec();
    bytes.extend_from_slice(rest.as_bytes());
    bytes
}

/// Files whose names and contents are like those of the layers.
fn decoys(dir: &Path, named: &str) {
    let texts = [
        "core.csv",
        "core.fasta",
        "core.-x",
        "core.a b",
        "core.new\nline",
        "core.$(touch pwned)",
        "stack.old",
        "-rf",
        "--",
        "in",
        "trace",
        "image.sif",
        ".mark",
        "began",
        "exit",
        "mark",
        "before",
        "stack",
        ".t_0123.77",
        "t_0123456789abcdef.record",
        "t_0123456789abcdef.sh",
        ".flowmine-0123456789abcdef.tmp",
    ];
    for name in texts {
        fs::write(dir.join(name), format!("the user's {name}\n")).unwrap();
    }
    fs::write(dir.join("core.12345"), core_dump("\0FLOWMINE_CORE=\0FLOWMINE_CORE=0\0")).unwrap();
    for name in ["core.d", "software", "software.old", "t_0123456789abcdef.box.x", ".t_0123456789abcdef.x"] {
        fs::create_dir(dir.join(name)).unwrap();
        fs::write(dir.join(name).join("kept"), "the user's\n").unwrap();
    }
    // What earlier flowmines called the software of this very task.
    fs::create_dir_all(dir.join(format!("software.{named}/bin"))).unwrap();
    fs::write(dir.join(format!("software.{named}/bin/sleep")), "#!/bin/sh\necho wrong >out\n").unwrap();
    fs::set_permissions(dir.join(format!("software.{named}/bin/sleep")), PermissionsExt::from_mode(0o755)).unwrap();
    symlink("core.csv", dir.join("core.link")).unwrap();
    symlink("nowhere", dir.join("core.dangling")).unwrap();
    fifo(&dir.join("core.fifo"));
    if is_root() {
        for name in ["core.theirs", "core.4711"] {
            fs::write(dir.join(name), core_dump("another user's")).unwrap();
            chown(dir.join(name), Some(6001), Some(6001)).unwrap();
        }
    }
}

/// Type and mode, owner, inode, time of the last change of its content, content.
type Facts = (u32, u32, u64, i64, Vec<u8>);

fn snapshot(dir: &Path) -> BTreeMap<PathBuf, Facts> {
    let mut all = BTreeMap::new();
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            let of = fs::symlink_metadata(&path).unwrap();
            let content = match of.file_type() {
                kind if kind.is_file() => fs::read(&path).unwrap(),
                kind if kind.is_symlink() => fs::read_link(&path).unwrap().as_os_str().as_bytes().to_vec(),
                _ => Vec::new(),
            };
            if of.is_dir() {
                folders.push(path.clone());
            }
            let time = of.mtime() * 1_000_000_000 + of.mtime_nsec();
            all.insert(path, (of.mode(), of.uid(), of.ino(), time, content));
        }
    }
    all
}

fn wait_until(holds: impl Fn() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(20), "nothing happened");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn found(dir: &Path, name: &str) -> bool {
    dir.join(name).exists() || fs::read_dir(dir).is_ok_and(|all| all.flatten().any(|e| e.path().is_dir() && found(&e.path(), name)))
}

/// Ends the processes in a directory: what is killed ends none below it, and timeout has a group of
/// its own.
fn end_what_is_left(dir: &Path) {
    let here = |process: &fs::DirEntry| fs::read_link(process.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(dir));
    for process in fs::read_dir("/proc").unwrap().flatten().filter(here) {
        if let Ok(pid) = process.file_name().to_string_lossy().parse() {
            // SAFETY: the process runs in the test's own directory.
            unsafe { libc::kill(pid, libc::SIGKILL) };
        }
    }
}

/// Runs a task below a layer among decoys; what it leaves besides is what it may leave.
fn among_decoys(name: &str, end: End, shell: &str) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path();
    let plan = plan(&serde_json::json!({"command": end.command(), "inputs": ["in"], "outputs": ["out"]}), &layer(name));
    let about = format!("{name} {end:?} {shell}");
    decoys(path, &plan.tasks[0].1[0].id);
    fs::write(path.join("stand-in"), STAND_IN).unwrap();
    fs::set_permissions(path.join("stand-in"), PermissionsExt::from_mode(0o755)).unwrap();
    let command = install(&plan, path, shell);
    let before = snapshot(path);
    let mut child = Command::new(&command)
        .current_dir(path)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .unwrap();
    if matches!(end, End::Term | End::Kill) {
        wait_until(|| found(path, "ready"));
        let (whom, signal) = if end == End::Term { (child.id() as i32, libc::SIGTERM) } else { (-(child.id() as i32), libc::SIGKILL) };
        // SAFETY: the process is our child, has not been waited for, and leads its group.
        unsafe { libc::kill(whom, signal) };
    }
    let status = seen(child.wait().unwrap());
    end_what_is_left(path);
    let expected = match (end, name) {
        (End::Well, _) => 0,
        (End::Fails, _) => 3,
        (End::Crashes, _) => 139,
        (End::Term, _) => 143,
        (End::Kill, _) => 137,
    };
    assert_eq!(status, expected, "{about}");
    let after = snapshot(path);
    for (path, facts) in &before {
        assert_eq!(after.get(path), Some(facts), "{about}: {}", path.display());
    }
    let foreign = |path: &&PathBuf| {
        let name = path.strip_prefix(dir.path()).unwrap().to_string_lossy().into_owned();
        let layers = &plan.tasks[0].1;
        let of_run =
            name == "out" || name == "ready" || name == format!("t_{}.record", layers[0].id) || name == format!("stack.{}", layers[0].id);
        // What the outputs of the attempt are, for the next one.
        let of_run = of_run || layers.iter().any(|layer| name == format!("t_{}.made", layer.id));
        // Nobody takes away what a killed run made.
        let left =
            layers.iter().any(|layer| name.starts_with(&format!(".t_{}.", layer.id)) || name.starts_with(&format!("t_{}.box.", layer.id)));
        // The dump itself, where no layer makes anything of it.
        let dump = end == End::Crashes && name.starts_with("core");
        !(before.contains_key(*path) || of_run || dump || end == End::Kill && left)
    };
    assert_eq!(after.keys().find(foreign), None, "{about}");
    if end != End::Kill {
        assert_eq!(fs::read_to_string(path.join("out")).unwrap(), "done\n", "{about}");
    }
}

#[test]
fn layers_touch_only_what_their_own_run_made() {
    for shell in SHELLS {
        for (name, _) in builtin::ALL {
            for end in [End::Well, End::Fails, End::Crashes, End::Term, End::Kill] {
                among_decoys(name, end, shell);
            }
        }
    }
}

/// A program that dumps core under a name of its own.
fn crashing(dir: &Path, name: &str) -> String {
    let sleep = ["/usr/bin/sleep", "/bin/sleep"].into_iter().find(|path| Path::new(path).exists()).unwrap();
    fs::copy(sleep, dir.join(name)).unwrap();
    format!("'./{name}' 30 & p=$!; sleep 0.3; kill -SEGV $p; wait $p")
}

fn dumps_cores() -> bool {
    let pattern = fs::read_to_string("/proc/sys/kernel/core_pattern").unwrap_or_default();
    let gdb = Command::new("gdb").arg("--version").output().is_ok();
    require::require("core-dump", "gdb, and a kernel.core_pattern that puts cores into the directory", gdb && pattern.starts_with("core"))
}

fn run(dir: &Path, command: &str) -> i32 {
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(dir).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    seen(shell.status().unwrap())
}

fn stack_of(dir: &Path, plan: &flowmine_transform::workflow::Plan) -> String {
    fs::read_to_string(dir.join(format!("stack.{}", plan.tasks[0].1[0].id))).unwrap()
}

fn cores(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.retain(|name| name.starts_with("core"));
    names.sort();
    names
}

#[test]
fn a_core_is_the_tasks_own_or_stays() {
    if !dumps_cores() {
        return;
    }
    for shell in SHELLS {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path();
        // A real core of this user's, of a program that no task ran.
        run(path, &format!("ulimit -c unlimited; {}", crashing(path, "stranger")));
        let dumped = cores(path);
        assert_eq!(dumped.len(), 1, "the shell of the test has no hard limit of 0");
        fs::rename(path.join(&dumped[0]), path.join("core.99999999")).unwrap();
        let before = fs::read(path.join("core.99999999")).unwrap();

        let well = plan(&serde_json::json!({"command": "echo fine", "outputs": []}), &layer("failure"));
        assert_eq!(run(path, &install(&well, path, shell)), 0);
        assert_eq!(stack_of(path, &well), "", "{shell}");
        let crash = plan(&serde_json::json!({"command": crashing(path, "my program"), "outputs": []}), &layer("failure"));
        assert_eq!(run(path, &install(&crash, path, shell)), 139);
        let stack = stack_of(path, &crash);
        assert!(stack.contains("my program") && stack.contains("\n#0") && !stack.contains("stranger"), "{shell}: {stack}");
        assert_eq!((cores(path), fs::read(path.join("core.99999999")).unwrap()), (vec!["core.99999999".to_owned()], before), "{shell}");
    }
}

/// All dump into one file where the kernel puts no process id into its name.
#[test]
fn tasks_that_crash_at_once_have_no_stack_of_each_other() {
    if !dumps_cores() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path();
    let names = ["first", "second", "third"];
    let plans = names.map(|name| plan(&serde_json::json!({"command": crashing(path, name), "outputs": []}), &layer("failure")));
    for _ in 0..4 {
        std::thread::scope(|scope| {
            for plan in &plans {
                let command = install(plan, path, "dash");
                scope.spawn(move || assert_eq!(run(path, &command), 139));
            }
        });
        for (name, plan) in names.iter().zip(&plans) {
            let stack = stack_of(path, plan);
            assert!(names.iter().all(|other| other == name || !stack.contains(&format!("./{other}"))), "{name}: {stack}");
        }
    }
}

#[test]
fn a_core_without_a_stack_trace_stays() {
    if !dumps_cores() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path();
    fs::create_dir(path.join("bin")).unwrap();
    fs::write(path.join("bin/gdb"), "#!/bin/sh\necho 'no core, no trace' >&2; exit 1\n").unwrap();
    fs::set_permissions(path.join("bin/gdb"), PermissionsExt::from_mode(0o755)).unwrap();
    let crash = plan(&serde_json::json!({"command": crashing(path, "program"), "outputs": []}), &layer("failure"));
    let command = install(&crash, path, "dash");
    assert_eq!(run(path, &format!("PATH=$PWD/bin:$PATH {command}")), 139);
    assert_eq!(cores(path).len(), 1, "{:?}", cores(path));
    assert!(stack_of(path, &crash).contains("the core stays"));
}

/// Its directory is not there, and names below it would be names in `/`.
#[test]
fn a_layer_that_did_not_begin_runs_nothing_after() {
    let own =
        r#"define own(T) {"command": {"pre": ["echo pre >>log"], "cmd": "./" + T.script, "post": ["echo \"post $FLOWMINE_DIR\" >>log"]}}"#;
    for shell in SHELLS {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path();
        let what = Composition::read("own.jx", own, None, &[]).unwrap();
        let plan = plan(&serde_json::json!({"command": "echo task >>log"}), &what);
        let command = install(&plan, path, shell);
        // A record with two names is refused before anything runs.
        let id = &plan.tasks[0].1[0].id;
        let record = format!("t_{id}.record");
        fs::write(path.join(&record), "").unwrap();
        fs::hard_link(path.join(&record), path.join("second")).unwrap();
        assert_eq!(run(path, &command), 125, "{shell}");
        assert!(!found(path, "log"), "{shell}: {}", fs::read_to_string(path.join("log")).unwrap());
        fs::remove_file(path.join("second")).unwrap();
        assert_eq!(run(path, &command), 0, "{shell}");
        let log = fs::read_to_string(path.join("log")).unwrap();
        assert!(log.starts_with("pre\ntask\npost /"), "{shell}: {log}");
    }
}

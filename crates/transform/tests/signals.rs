//! Signals to a task with layers and to the plain task: the same number reaches the task and its
//! processes, and both end with the same status, whether a signal goes to the process or to its group.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]

mod common;

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::thread::sleep;
use std::time::{Duration, Instant};

use common::{SHELLS, install, plan, seen};
use flowmine_transform::algebra::Composition;
use flowmine_transform::builtin;

use To::{All, Group, Process};

/// Where a signal is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum To {
    /// The process that was started, alone.
    Process,
    /// Its process group.
    Group,
    /// All processes that were started, one after the other, as a batch system tells a control group.
    All,
}

/// Records each signal, and ends when it is told to. Its child does the same.
const COUNTS: &str = r#"count() {
  for s in HUP INT QUIT USR1 USR2 TERM; do trap "echo $1 $s >>\"\$TOP/got\"" "$s"; done
  : >"$TOP/ready.$1"
  while [ ! -e "$TOP/stop" ]; do sleep 0.05; done
}
(count child) &
echo began >>"$TOP/got"; cat; count task; wait; echo ended; exit 0"#;

/// Ends by the first signal, as a process without traps does.
const PLAIN: &str = r#"echo began >>"$TOP/got"; : >"$TOP/ready.child"; : >"$TOP/ready.task"; sleep 321; echo no"#;

fn takes(signal: &str, status: i32) -> String {
    format!(
        "echo began >>\"$TOP/got\"; trap 'echo took >>\"$TOP/got\"; sleep 0.3; echo ended; exit {status}' {signal}
        : >\"$TOP/ready.child\"; : >\"$TOP/ready.task\"; while :; do sleep 0.05; done"
    )
}

fn layer(name: &str) -> Composition {
    let own = match name {
        "plain" => "define plain(T) {}",
        "prepost" => r#"define prepost(T) {"command": {"pre": ["A=1; export A", ":"], "post": ["echo \"$EXIT\" >/dev/null"]}}"#,
        "exec" => r#"define exec(T) {"command": {"cmd": "exec timeout 60 ./" + T.script}}"#,
        "beside" => r#"define beside(T) {"command": {"cmd": "sleep 322 & ./" + T.script + "; s=$?; kill $!; exit \"$s\""}}"#,
        name => builtin::text(name).unwrap(),
    };
    let bound = [("times", "3"), ("pause", "0"), ("limit", "60")].map(|(name, value)| (name.to_owned(), value.to_owned()));
    Composition::read("layer.jx", own, None, &bound).unwrap()
}

#[derive(Debug, Clone)]
struct Case {
    task: String,
    sent: Vec<(&'static str, i32, To)>,
    /// Whether TSTP leaves something running, such as what is below `timeout`, which makes a group.
    stays: bool,
}

fn case(task: &str, sent: &[(&'static str, To)]) -> Case {
    let number = |name: &str| match name {
        "HUP" => libc::SIGHUP,
        "INT" => libc::SIGINT,
        "QUIT" => libc::SIGQUIT,
        "USR1" => libc::SIGUSR1,
        "USR2" => libc::SIGUSR2,
        "TERM" => libc::SIGTERM,
        "TSTP" => libc::SIGTSTP,
        "CONT" => libc::SIGCONT,
        _ => unreachable!(),
    };
    Case { task: task.to_owned(), sent: sent.iter().map(|(name, to)| (*name, number(name), *to)).collect(), stays: false }
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct End {
    status: i32,
    out: String,
    err: String,
    /// Lines that the task and its child wrote, sorted.
    got: Vec<String>,
}

/// A directory whose `sh` is the shell under test.
struct Place {
    top: tempfile::TempDir,
}

impl Place {
    fn new(shell: &str) -> Self {
        let top = tempfile::tempdir().unwrap();
        fs::create_dir(top.path().join("flow")).unwrap();
        fs::create_dir(top.path().join("bin")).unwrap();
        let found = Command::new("which").arg(shell).output().unwrap();
        symlink(String::from_utf8(found.stdout).unwrap().trim(), top.path().join("bin/sh")).unwrap();
        Self { top }
    }

    fn flow(&self) -> PathBuf {
        self.top.path().join("flow")
    }

    fn got(&self) -> Vec<String> {
        let mut lines: Vec<_> = fs::read_to_string(self.top.path().join("got")).unwrap_or_default().lines().map(str::to_owned).collect();
        lines.sort();
        lines
    }

    fn started(&self, command: &[&str]) -> Child {
        let top = self.top.path();
        // Whoever started the tests in the background has them ignore INT and QUIT.
        Command::new("/usr/bin/env")
            .arg("--default-signal=HUP,INT,QUIT")
            .args(command)
            .current_dir(self.flow())
            .env("PATH", format!("{}:{}", top.join("bin").display(), std::env::var("PATH").unwrap()))
            .env("TOP", top)
            .stdin(Stdio::piped())
            .stdout(fs::File::create(top.join("out")).unwrap())
            .stderr(fs::File::create(top.join("err")).unwrap())
            .process_group(0)
            .spawn()
            .unwrap()
    }

    /// Starts a script, which is no longer `env` afterwards.
    fn start(&self, script: &str) -> Child {
        let child = self.started(&[script]);
        let comm = format!("/proc/{}/cmdline", child.id());
        until("the script to begin", || !fs::read(&comm).unwrap_or_default().starts_with(b"/usr/bin/env\0--default"));
        child
    }

    fn ends_within(&self, child: &mut Child, most: Duration) -> bool {
        let begun = Instant::now();
        while begun.elapsed() < most {
            if child.try_wait().unwrap().is_some() {
                return true;
            }
            sleep(Duration::from_millis(20));
        }
        false
    }

    /// The status of a child, as a shell sees it; `None` where it does not end.
    fn end(&self, mut child: Child) -> Option<i32> {
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(30) {
            if let Some(status) = child.try_wait().unwrap() {
                return Some(seen(status));
            }
            sleep(Duration::from_millis(20));
        }
        // SAFETY: the group is that of our child, which has not been waited for.
        unsafe { libc::kill(-i32::try_from(child.id()).unwrap(), libc::SIGKILL) };
        None
    }

    /// Runs a command, sends the signals, and gives after how many lines each of them was taken.
    fn run(&self, command: &[&str], case: &Case, expected: Option<&[usize]>) -> (End, Vec<usize>) {
        let top = self.top.path();
        let (out, err) = (top.join("out"), top.join("err"));
        let mut child = self.started(command);
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"input\n").unwrap();
        until("the task to begin", || top.join("ready.task").exists() && top.join("ready.child").exists());
        sleep(Duration::from_millis(100));
        let mut lines = Vec::new();
        for (n, (_, signal, to)) in case.sent.iter().enumerate() {
            send(&child, *signal, *to, top);
            if *signal == libc::SIGTSTP && !case.stays {
                until("all to stop", || processes(top).iter().all(|(pid, _)| is_stopped(*pid)));
            }
            if let Some(expected) = expected {
                let begun = Instant::now();
                while self.got().len() < expected[n] && begun.elapsed() < Duration::from_secs(5) {
                    sleep(Duration::from_millis(20));
                }
            }
            // Time for a signal that comes twice.
            sleep(Duration::from_millis(400));
            lines.push(self.got().len());
        }
        let text = |path: &Path| fs::read_to_string(path).unwrap();
        fs::write(top.join("stop"), "").unwrap();
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            if begun.elapsed() > Duration::from_secs(30) {
                let left = processes(top);
                // SAFETY: the group is that of our child, which has not been waited for.
                unsafe { libc::kill(-i32::try_from(child.id()).unwrap(), libc::SIGKILL) };
                return (End { status: -1, out: format!("does not end: {left:?}"), err: text(&err), got: self.got() }, lines);
            }
            sleep(Duration::from_millis(20));
        };
        (End { status: seen(status), out: text(&out), err: text(&err), got: self.got() }, lines)
    }
}

fn send(child: &Child, signal: i32, to: To, top: &Path) {
    let pid = i32::try_from(child.id()).unwrap();
    let pids = match to {
        Process => vec![pid],
        Group => vec![-pid],
        All => processes(top).into_iter().map(|(pid, _)| pid).collect(),
    };
    for pid in pids {
        // SAFETY: the processes are our child, which has not been waited for, and those that it started.
        unsafe { libc::kill(pid, signal) };
    }
}

/// Whether a process is stopped, or gone. One that waits for its child of vfork(2), which is
/// stopped, cannot stop by itself.
fn is_stopped(pid: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_none_or(|(_, rest)| rest.starts_with(['T', 'Z', 'X', 'D']))
}

/// The processes that a run started.
fn processes(top: &Path) -> Vec<(i32, String)> {
    let mark = format!("TOP={}", top.display());
    let mut all: Vec<_> = fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter(|e| fs::read(e.path().join("environ")).is_ok_and(|v| v.split(|b| *b == 0).any(|v| v == mark.as_bytes())))
        .filter_map(|e| {
            let shown = String::from_utf8_lossy(&fs::read(e.path().join("cmdline")).unwrap_or_default()).replace('\0', " ");
            Some((e.file_name().to_str()?.parse().ok()?, shown))
        })
        .collect();
    all.sort();
    all
}

/// The processes that stay: the watcher of `timeout` of BusyBox ends a second after its command.
fn left(top: &Path) -> Vec<(i32, String)> {
    let begun = Instant::now();
    while !processes(top).is_empty() && begun.elapsed() < Duration::from_secs(8) {
        sleep(Duration::from_millis(20));
    }
    processes(top)
}

fn until(what: &str, holds: impl Fn() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(30), "waited for {what}");
        sleep(Duration::from_millis(10));
    }
}

/// One test after another: on a machine with too much to do, signals come late.
static ONE: Mutex<()> = Mutex::new(());

/// Runs each case in each shell below each of the layers.
fn all_as_plain(cases: &[Case], above: &[&[&'static str]]) {
    let _one = ONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let todo = cases.iter().enumerate().flat_map(|(n, case)| (0..SHELLS.len()).map(move |shell| (n, case, shell)));
    let todo = Mutex::new(todo.collect::<Vec<_>>());
    let faults = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while let Some((number, case, shell)) = { todo.lock().unwrap().pop() } {
                    // Without the time for all, each case has each of the layers in one of the shells.
                    let above: Vec<_> = above
                        .iter()
                        .enumerate()
                        .filter(|(n, _)| is_long() || (n + number) % SHELLS.len() == shell)
                        .map(|(_, names)| names)
                        .collect();
                    let shell = SHELLS[shell];
                    let (plain, lines) = Place::new(shell).run(&["sh", "-c", &case.task], case, None);
                    for names in above {
                        let place = Place::new(shell);
                        let what = names.iter().fold(Composition::default(), |what, name| what.then(layer(name)));
                        let script = install(&plan(&serde_json::json!({"command": case.task}), &what), &place.flow(), "sh");
                        let (mut layered, _) = place.run(&[&script], case, Some(&lines));
                        // A shell may report of its own children which signal ended them.
                        if layered.status > 128 || case.sent.iter().any(|(.., to)| *to != Process) {
                            layered.err.clone_from(&plain.err);
                        }
                        let left = left(place.top.path());
                        if layered != plain || !left.is_empty() {
                            faults.lock().unwrap().push(format!(
                                "{shell} {names:?} {:?}\n{}\nplain {plain:?}\nlayered {layered:?}\nleft {left:?}",
                                case.sent, case.task
                            ));
                        }
                    }
                }
            });
        }
    });
    let faults = faults.into_inner().unwrap();
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n\n"));
}

const NESTED: [&[&str]; 6] = [
    &["sandbox"],
    &["retry"],
    &["timelimit"],
    &["environment", "exec"],
    &["failure", "plain", "beside"],
    &["environment", "timelimit", "prepost", "sandbox", "retry"],
];

fn is_long() -> bool {
    std::env::var_os("FLOWMINE_LONG").is_some()
}

#[test]
fn each_signal_reaches_the_task_once() {
    let many = |to| case(COUNTS, &[("USR1", to), ("USR1", to), ("TERM", to), ("HUP", to), ("USR2", to), ("TERM", to)]);
    let mut cases = vec![many(Process), many(Group), case(COUNTS, &[("TERM", Process), ("HUP", Group), ("USR1", All), ("USR2", Process)])];
    if is_long() {
        cases.extend([many(All)]);
        for signal in ["HUP", "INT", "QUIT", "USR1", "USR2", "TERM"] {
            cases.extend([Process, Group].map(|to| case(COUNTS, &[(signal, to), (signal, to)])));
        }
    }
    all_as_plain(&cases, &NESTED);
}

#[test]
fn a_task_that_takes_a_signal_has_its_own_status() {
    let mut cases = vec![
        case(&takes("TERM", 0), &[("TERM", Process)]),
        case(&takes("TERM", 3), &[("TERM", Group)]),
        case(&takes("USR1", 0), &[("USR1", Process)]),
    ];
    if is_long() {
        for signal in ["HUP", "INT", "QUIT", "USR2", "TERM"] {
            for to in [Process, Group, All] {
                cases.extend([case(&takes(signal, 0), &[(signal, to)]), case(&takes(signal, 0), &[(signal, to)])]);
            }
        }
    }
    all_as_plain(&cases, &NESTED);
}

#[test]
fn a_task_that_takes_no_signal_ends_by_it() {
    let signals: &[&str] = if is_long() { &["HUP", "INT", "USR1", "USR2", "TERM"] } else { &["USR1", "TERM"] };
    let cases: Vec<_> = signals.iter().flat_map(|signal| [Process, Group].map(|to| case(PLAIN, &[(signal, to)]))).collect();
    all_as_plain(&cases, &NESTED);
}

/// Leaves a dead process whose name, in `/proc/PID/stat`, is a line that says who its parents are.
fn forge(name: &std::ffi::CStr) -> i32 {
    // SAFETY: the child of this program of several threads calls only what is safe in a handler of signals.
    unsafe {
        let pid = libc::fork();
        if pid == 0 {
            libc::prctl(libc::PR_SET_NAME, name.as_ptr());
            libc::_exit(0);
        }
        pid
    }
}

#[test]
fn the_name_of_a_process_makes_no_other_a_part_of_the_task() {
    let _one = ONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    for shell in SHELLS {
        let place = Place::new(shell);
        let mut other = Command::new("sleep").arg("300").process_group(0).spawn().unwrap();
        let script = install(&plan(&serde_json::json!({"command": PLAIN}), &layer("plain")), &place.flow(), "sh");
        let mut layer = Command::new("/usr/bin/env")
            .args(["--default-signal=HUP,INT,QUIT", &script])
            .current_dir(place.flow())
            .env("PATH", format!("{}:{}", place.top.path().join("bin").display(), std::env::var("PATH").unwrap()))
            .env("TOP", place.top.path())
            .stdin(Stdio::null())
            .process_group(0)
            .spawn()
            .unwrap();
        until("the task to begin", || place.top.path().join("ready.task").exists());
        let parent = layer.id();
        let children = processes(place.top.path()).into_iter().filter(|(pid, _)| *pid != parent as i32);
        // A name has fifteen bytes, which is too few for two long numbers.
        let names = children.map(|(pid, _)| format!("\n2 () S {pid}  ")).chain([format!("\n{} () S 2  ", other.id())]);
        let forgers: Vec<i32> = names.map(|name| forge(&std::ffi::CString::new(name).unwrap())).collect();
        send(&layer, libc::SIGTERM, Process, place.top.path());
        let ended = layer.wait().unwrap();
        let others = other.try_wait().unwrap();
        other.kill().unwrap();
        other.wait().unwrap();
        for pid in forgers {
            // SAFETY: it is our child.
            unsafe { libc::waitpid(pid, std::ptr::null_mut(), 0) };
        }
        assert_eq!((seen(ended), others), (143, None), "{shell}");
    }
}

/// Ctrl-Z and `fg`: all of a group stops and goes on. What is sent meanwhile comes once, afterwards.
#[test]
fn a_group_that_stops_goes_on() {
    let stop = |task: &str, sent: &[(&'static str, To)], stays| Case { stays, ..case(task, sent) };
    let counts = [("TSTP", Group), ("USR1", Group), ("CONT", Group), ("TSTP", Group), ("USR2", Process), ("CONT", Group), ("HUP", Process)];
    let ends = [("TSTP", Group), ("TERM", Group), ("CONT", Group)];
    let cases = |stays| vec![stop(COUNTS, &counts, stays), stop(PLAIN, &ends, stays), stop(&takes("TERM", 3), &ends, stays)];
    let (with_groups, of_one_group): (Vec<_>, Vec<_>) =
        NESTED.into_iter().partition(|names| names.iter().any(|name| ["timelimit", "exec"].contains(name)));
    assert_eq!((with_groups.len(), of_one_group.len()), (3, 3));
    all_as_plain(&cases(false), &of_one_group);
    all_as_plain(&cases(true), &with_groups);
}

/// A signal at any moment from the start on ends a layer by that signal. Nothing is left: no process, no
/// sandbox, no file of a layer. One to the group in the moment in which a command starts may be lost (a
/// limit in `docs/transform.md`); then a second one, to the process, ends all.
#[test]
fn a_signal_during_the_start_ends_all() {
    let _one = ONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let moments = if is_long() { 40 } else { 8 };
    let todo: Vec<_> = (0..moments)
        .flat_map(|moment| {
            (0..SHELLS.len()).map(move |shell| (moment, shell, [("TERM", Process), ("HUP", Process), ("HUP", Group)][(moment + shell) % 3]))
        })
        .collect();
    let (todo, faults) = (Mutex::new(todo), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while let Some((moment, shell, (signal, to))) = { todo.lock().unwrap().pop() } {
                    let names = NESTED[(moment + 2 * shell) % NESTED.len()];
                    let place = Place::new(SHELLS[shell]);
                    fs::create_dir(place.flow().join("d")).unwrap();
                    for n in 0..200 {
                        fs::write(place.flow().join(format!("d/{n}")), "x").unwrap();
                    }
                    let what = names.iter().fold(Composition::default(), |what, name| what.then(layer(name)));
                    let task = serde_json::json!({"command": "sleep 321", "inputs": ["d"], "outputs": ["o"]});
                    let script = install(&plan(&task, &what), &place.flow(), SHELLS[shell]);
                    let before = names_in(&place.flow());
                    let (mut child, sent) = (place.start(&script), case("", &[(signal, to)]).sent[0].1);
                    let pause = Duration::from_millis(400 * moment as u64 / moments as u64);
                    sleep(pause);
                    send(&child, sent, to, place.top.path());
                    let mut expected = 128 + sent;
                    if to == Group && !place.ends_within(&mut child, Duration::from_secs(4)) {
                        send(&child, libc::SIGTERM, Process, place.top.path());
                        expected = 128 + libc::SIGTERM;
                    }
                    let status = place.end(child);
                    let left = left(place.top.path());
                    let more: Vec<_> = names_in(&place.flow()).into_iter().filter(|name| !before.contains(name)).collect();
                    // Reports of the layers, such as that of `failure`.
                    let is_report = |name: &str| name.ends_with(".record") || name.ends_with(".made") || name.starts_with("stack.");
                    let more: Vec<_> = more.into_iter().filter(|name| !is_report(name)).collect();
                    if status != Some(expected) || !left.is_empty() || !more.is_empty() {
                        faults.lock().unwrap().push(format!(
                            "{} {names:?} {signal} to {to:?} after {pause:?}: {status:?}, left {left:?}, files {more:?}\n{}",
                            SHELLS[shell],
                            fs::read_to_string(place.top.path().join("err")).unwrap()
                        ));
                    }
                }
            });
        }
    });
    let faults = faults.into_inner().unwrap();
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n\n"));
}

/// A signal while inputs come into a sandbox ends it before the task begins. While outputs leave it, signals
/// wait, and what stops goes on.
#[test]
fn a_signal_during_the_copying_of_a_sandbox() {
    let _one = ONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    // The shell of BusyBox copies by itself, so that it cannot be held up.
    for shell in &SHELLS[..2] {
        for (phase, sent, status) in [
            ("in", &[("TERM", Process)][..], 143),
            ("in", &[("TERM", Group)], 143),
            ("in", &[("INT", Group)], 130),
            ("in", &[("TSTP", Group), ("CONT", Group)], 0),
            ("in", &[("TSTP", Group), ("TERM", Group), ("CONT", Group)], 143),
            ("out", &[("TERM", Process)], 0),
            ("out", &[("TERM", Group)], 0),
            ("out", &[("INT", Group)], 0),
            ("out", &[("TSTP", Group), ("CONT", Group)], 0),
        ] {
            let place = Place::new(shell);
            let top = place.top.path();
            for name in ["cp", "mv"] {
                let found = Command::new("which").arg(name).output().unwrap();
                let held = format!(
                    "#!/bin/sh\nif [ -e \"$TOP/hold\" ]; then rm \"$TOP/hold\"; : >\"$TOP/holding\"; sleep 1; fi\nexec {} \"$@\"\n",
                    String::from_utf8_lossy(&found.stdout).trim()
                );
                fs::write(top.join("bin").join(name), held).unwrap();
                let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
                fs::set_permissions(top.join("bin").join(name), mode).unwrap();
            }
            fs::create_dir(place.flow().join("d")).unwrap();
            fs::write(place.flow().join("d/a"), "1").unwrap();
            fs::create_dir(place.flow().join("o")).unwrap();
            fs::write(place.flow().join("o/old"), "old").unwrap();
            let command = "echo began >>\"$TOP/got\"; mkdir o; cat d/a >o/new; [ -e \"$TOP/was\" ] || : >\"$TOP/hold\"";
            if phase == "in" {
                fs::write(top.join("hold"), "").unwrap();
                fs::write(top.join("was"), "").unwrap();
            }
            let task = serde_json::json!({"command": command, "inputs": ["d"], "outputs": ["o"]});
            let script = install(&plan(&task, &Composition::default().then(layer("sandbox"))), &place.flow(), shell);
            let child = place.start(&script);
            until("the copying", || top.join("holding").exists());
            for (_, signal, to) in case("", sent).sent {
                send(&child, signal, to, top);
                if signal == libc::SIGTSTP {
                    until("all to stop", || processes(top).iter().all(|(pid, _)| is_stopped(*pid)));
                }
                sleep(Duration::from_millis(100));
            }
            let ended = place.end(child);
            let err = fs::read_to_string(top.join("err")).unwrap();
            let what = format!("{shell} {phase} {sent:?}\n{err}");
            assert_eq!(ended, Some(status), "{what}");
            assert_eq!(left(top), [], "{what}");
            assert_eq!(place.got().len(), usize::from(status == 0 || phase == "out"), "{what}");
            let is_out = fs::read_to_string(place.flow().join("o/new")).is_ok_and(|text| text == "1");
            assert_eq!(is_out, status == 0, "{what}");
            assert!(status == 0 || place.flow().join("o/old").exists(), "{what}");
            let boxes: Vec<_> = names_in(&place.flow()).into_iter().filter(|name| name.contains(".box.")).collect();
            assert!(boxes.is_empty(), "{what}: {boxes:?}");
        }
    }
}

fn names_in(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

//! Locks hold, go and are refused under the FUSE overlay as on the file system underneath, also
//! between a command in the overlay and programs outside of it.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::OnceLock;

use crate::support::doctor;
use crate::support::operations::compiled;
use crate::support::require::require;

const CASES: [&str; 11] =
    ["last_close", "process_end", "who_has_it", "parts", "conversion", "waiting", "deadlocks", "upgrades", "counter", "leases", "program"];

/// `tests/operations/locks.c`, compiled when it is first asked for.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| compiled("locks"))
}

fn has_overlays() -> bool {
    require("fuse", "FUSE", doctor::says("fuse").0)
}

/// Words that trace what comes after them in overlays over directories.
fn traced(dataset: &Path, directories: &[&Path]) -> Vec<String> {
    let mut words: Vec<String> = [env!("CARGO_BIN_EXE_flowmine"), "trace", "--must-trace", "--backend", "fuse"].map(str::to_owned).to_vec();
    for directory in directories {
        words.extend(["--directory".to_owned(), directory.to_str().unwrap().to_owned()]);
    }
    words.extend(["--dataset".to_owned(), dataset.to_str().unwrap().to_owned(), "--".to_owned()]);
    words
}

/// What a case prints in an empty directory. The time is for what hangs.
fn run(directory: &Path, words: &[String], arguments: &[&str]) -> String {
    let mut command = Command::new("timeout");
    command.args(["-s", "KILL", "60"]).args(words).arg(program()).args(arguments).current_dir(directory).stdin(Stdio::null());
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), said.as_ref()), (Some(0), ""), "{arguments:?} in {}", directory.display());
    String::from_utf8(output.stdout).unwrap()
}

fn lines(text: &str) -> Vec<&str> {
    text.lines().collect()
}

#[test]
fn each_case_is_as_without_the_overlay() {
    if !has_overlays() {
        return;
    }
    for case in CASES {
        let base = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let [native, overlay] = ["native", "overlay"].map(|name| base.path().join(name));
        std::fs::create_dir(&native).unwrap();
        std::fs::create_dir(&overlay).unwrap();
        let expected = run(&native, &[], &[case]);
        let seen = run(&overlay, &traced(&base.path().join("data"), &[&overlay]), &[case]);
        assert_eq!(lines(&seen), lines(&expected), "{case}");
    }
}

/// A process has a lock in one overlay and waits in another.
#[test]
fn a_circle_over_two_overlays_is_found() {
    if !has_overlays() {
        return;
    }
    let base = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let [one, two] = ["one", "two"].map(|name| base.path().join(name));
    std::fs::create_dir(&one).unwrap();
    std::fs::create_dir(&two).unwrap();
    let seen = run(&one, &traced(&base.path().join("data"), &[&one, &two]), &["two_places", two.to_str().unwrap()]);
    assert_eq!(seen, "two places: 1 of 2 got EDEADLK, 1 the lock, 0 waited in vain\n");
}

/// A program that holds a lock until its input ends.
struct Holder(Child, Option<ChildStdin>, BufReader<ChildStdout>);

impl Holder {
    /// The holder and the number of its process.
    fn start(directory: &Path, words: &[String], kind: &str) -> (Self, u32) {
        let mut command = Command::new("timeout");
        command.args(["-s", "KILL", "60"]).args(words).arg(program()).args(["hold", kind, "file"]).current_dir(directory);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, mut output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        let pid = line.strip_prefix("held by ").unwrap_or_else(|| panic!("{kind}: {line:?}")).trim().parse().unwrap();
        (Holder(child, input, output), pid)
    }

    fn end(mut self) {
        drop(self.1.take());
        self.2.read_to_string(&mut String::new()).unwrap();
        assert!(self.0.wait().unwrap().success());
    }
}

/// What is locked inside is locked outside, and the other way round; the lock says whose it is.
#[test]
fn locks_hold_between_inside_and_outside() {
    if !has_overlays() {
        return;
    }
    let base = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let directory = base.path().join("here");
    std::fs::create_dir(&directory).unwrap();
    for kind in ["posix", "ofd", "flock"] {
        for inside_holds in [true, false] {
            let inside = traced(&base.path().join(format!("{kind}-{inside_holds}")), &[&directory]);
            let (holding, trying) = if inside_holds { (&inside[..], &[][..]) } else { (&[][..], &inside[..]) };
            let (holder, pid) = Holder::start(&directory, holding, kind);
            let refused = run(&directory, trying, &["try", kind, "file"]);
            holder.end();
            let free = run(&directory, trying, &["try", kind, "file"]);
            // Whose lock it is. The tracer has the locks of an overlay, as a file server has them.
            // Of an open file description the kernel gives no
            // process, and the protocol of FUSE has no word for that.
            let by = match (kind, inside_holds) {
                ("posix", false) => i64::from(pid),
                (_, true) => -1,
                _ => 0,
            };
            let details = if kind == "flock" { String::new() } else { format!("by {by}, length 10\nwhat is not locked: done\n") };
            let expected = format!("to write: Resource temporarily unavailable\n{details}");
            assert_eq!(refused, expected, "{kind}, {inside_holds}");
            assert!(free.starts_with("to write: done\n"), "{kind}, {inside_holds}: {free}");
        }
    }
}

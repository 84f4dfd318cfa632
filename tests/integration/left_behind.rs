//! Processes that a traced command leaves behind: the trace waits for them, signals do not reach
//! them, and a second signal ends the trace.

use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::overlay::{flowmine, open_to_all, until};
use crate::support::doctor;
use crate::support::require::require;

/// A trace whose command has ended with 3; what it left behind runs until a file `over` is there.
struct Left {
    tracer: Child,
    directory: PathBuf,
    _base: tempfile::TempDir,
}

const SCRIPT: &str = "setsid sh -c 'echo $$ > pid; while [ ! -e over ]; do sleep 0.1; done; echo end > end' > /dev/null 2>&1 &
    while [ ! -s pid ]; do sleep 0.1; done; exit 3";

impl Left {
    fn new(backend: &str) -> Self {
        let (base, directory) = open_to_all();
        let mut trace = Command::new("timeout");
        trace.args(["--foreground", "-s", "KILL", "100", flowmine(), "trace", "--must-trace", "--backend", backend, "--dataset"]);
        trace.arg(base.path().join("data")).args(["--", "sh", "-c", SCRIPT]).current_dir(&directory);
        let tracer = trace.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        until(|| directory.join("pid").metadata().ok().filter(|file| file.len() > 0));
        std::thread::sleep(Duration::from_secs(1));
        Left { tracer, directory, _base: base }
    }

    /// Sends the tracer a signal by its parent, timeout(1), which passes it on.
    fn signal(&self) {
        let pid = self.tracer.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        std::thread::sleep(Duration::from_secs(1));
    }

    fn is_left(&self) -> bool {
        let pid = std::fs::read_to_string(self.directory.join("pid")).unwrap();
        PathBuf::from(format!("/proc/{}", pid.trim())).exists()
    }

    /// The exit code and what was said.
    fn end(mut self) -> (Option<i32>, String) {
        let mut said = String::new();
        self.tracer.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        (self.tracer.wait().unwrap().code(), said)
    }
}

fn backends() -> Vec<&'static str> {
    let works: Vec<_> = ["ptrace", "fuse"].into_iter().filter(|backend| doctor::says(backend).0).collect();
    if require("fuse", "FUSE and ptrace", works.len() == 2) { works } else { Vec::new() }
}

#[test]
fn they_are_waited_for_and_get_no_signal() {
    for backend in backends() {
        let left = Left::new(backend);
        left.signal();
        assert!(left.is_left(), "{backend}");
        std::fs::write(left.directory.join("over"), "").unwrap();
        until(|| left.directory.join("end").exists().then_some(()));
        let (code, said) = left.end();
        assert_eq!(code, Some(3), "{backend}: {said}");
        assert_eq!(said.matches("the command has ended").count(), 1, "{backend}: {said}");
    }
}

#[test]
fn a_second_signal_ends_the_trace_with_the_commands_code() {
    for backend in backends() {
        let left = Left::new(backend);
        left.signal();
        left.signal();
        std::fs::write(left.directory.join("over"), "").unwrap();
        let written = left.directory.join("end");
        let (code, said) = left.end();
        assert_eq!(code, Some(3), "{backend}: {said}");
        assert!(!written.exists(), "{backend}");
    }
}

//! Programs in the background, for tests of traces.

use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// What it wrote to standard error.
pub fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Waits until something is so, for at most a minute.
pub fn until(what: &str, mut so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !so() {
        assert!(begin.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Sends a signal (`TERM`) to a process, or with `-` before its number to a group.
pub fn send(signal: &str, to: &str) {
    assert!(Command::new("kill").args([&format!("-{signal}"), "--", to]).status().unwrap().success());
}

const HUP: i32 = 1;
const INT: i32 = 2;
const QUIT: i32 = 3;
/// SIG_DFL.
const DEFAULT: usize = 0;

unsafe extern "C" {
    fn signal(number: i32, answer: usize) -> usize;
}

/// A program in the background in a process group of its own, ended with the test.
pub struct Running(pub Option<Child>, pub u32);

impl Running {
    /// With the usual answers to signals, whatever they are here: a job in the background of a
    /// shell ignores INT and QUIT, and all that it starts does so too.
    pub fn start(mut command: Command) -> Self {
        // SAFETY: between fork and exec only signal(2) is called, which is async-signal-safe (signal-safety(7)).
        unsafe {
            command.pre_exec(|| {
                [HUP, INT, QUIT].into_iter().for_each(|number| {
                    signal(number, DEFAULT);
                });
                Ok(())
            });
        }
        let child = command.process_group(0).spawn().unwrap();
        let pid = child.id();
        Self(Some(child), pid)
    }

    pub fn signal(&self, signal: &str) {
        send(signal, &self.1.to_string());
    }

    pub fn output(mut self) -> Output {
        self.0.take().unwrap().wait_with_output().unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = Command::new("kill").args(["-KILL", "--", &format!("-{}", self.1)]).stderr(Stdio::null()).status();
        if let Some(mut child) = self.0.take() {
            let _ = child.wait();
        }
    }
}

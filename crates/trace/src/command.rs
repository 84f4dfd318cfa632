//! Starting the traced command so that nothing of it is missed: it waits before it becomes its
//! program until the tracer is ready.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::error::TraceError;
use crate::stop::Stop;

/// A command that was started and waits.
pub struct Held {
    pid: u32,
    release: std::fs::File,
    starting: JoinHandle<io::Result<Child>>,
}

impl Held {
    /// Starts a command; the first argument is the program, found by `PATH`.
    ///
    /// # Errors
    /// When no process can be made.
    pub fn start(command: &[OsString]) -> Result<Self, TraceError> {
        let Some((program, arguments)) = command.split_first() else {
            return Err(TraceError::NotHere("no command was given".to_owned()));
        };
        let what = || format!("starting {}", program.to_string_lossy());
        let (told, tell) = nix::unistd::pipe2(nix::fcntl::OFlag::O_CLOEXEC).map_err(|e| TraceError::system(what())(e.into()))?;
        let (wait, release) = nix::unistd::pipe2(nix::fcntl::OFlag::O_CLOEXEC).map_err(|e| TraceError::system(what())(e.into()))?;
        let mut builder = Command::new(program);
        builder.args(arguments);
        let (tell_fd, wait_fd, release_fd) = (tell.as_raw_fd(), wait.as_raw_fd(), release.as_raw_fd());
        let parts: (OwnedFd, OwnedFd) = (tell, wait);
        // SAFETY: between fork and exec only sigaction, getpid, close, write and read are called, which are async-signal-safe (signal-safety(7)); the
        // descriptors are open in the child because `parts` and `release` outlive the call of spawn.
        unsafe {
            builder.pre_exec(move || {
                crate::stop::as_without_us();
                crate::inherited::give_back();
                let pid = libc::getpid().to_ne_bytes();
                // Otherwise our own copy would keep the pipe open when the tracer dies, and we would wait for ever.
                libc::close(release_fd);
                if libc::write(tell_fd, pid.as_ptr().cast(), pid.len()) != pid.len() as isize {
                    return Err(io::Error::last_os_error());
                }
                let mut go = 0u8;
                match libc::read(wait_fd, (&raw mut go).cast(), 1) {
                    1 => Ok(()),
                    // The tracer is gone: so is the reason to run.
                    _ => libc::_exit(125),
                }
            });
        }
        // `spawn` returns when the child has become its program, so both run.
        let starting = std::thread::Builder::new().spawn(move || {
            let child = builder.spawn();
            drop(parts);
            child
        });
        let starting = starting.map_err(TraceError::system("starting a thread"))?;
        let mut pid = [0; 4];
        let mut told = std::fs::File::from(told);
        match told.read_exact(&mut pid) {
            Ok(()) => Ok(Held { pid: u32::from_ne_bytes(pid), release: release.into(), starting }),
            Err(read_error) => match starting.join() {
                Ok(Err(e)) => Err(TraceError::system(what())(e)),
                _ => Err(TraceError::system(what())(read_error)),
            },
        }
    }

    /// Process number of the child, which its program will have.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Lets it become its program.
    ///
    /// # Errors
    /// When that fails, such as when there is no such program.
    pub fn release(mut self, name: &OsString) -> Result<Running, TraceError> {
        let what = || format!("starting {}", name.to_string_lossy());
        // A signal may have ended it while it waited: that is how it ended then.
        let _ = self.release.write_all(&[1]);
        drop(self.release);
        match self.starting.join() {
            Ok(Ok(child)) => Ok(Running { child }),
            Ok(Err(e)) => Err(TraceError::system(what())(e)),
            Err(_) => Err(TraceError::system(what())(io::Error::other("the starting thread failed"))),
        }
    }
}

/// A command that was started and is traced.
pub struct Running {
    child: Child,
}

impl Running {
    /// How it ended, if it has; waits for at most `patience`.
    ///
    /// # Errors
    /// When it cannot be waited for.
    pub fn ended_within(&mut self, patience: Duration) -> Result<Option<ExitStatus>, TraceError> {
        let end = std::time::Instant::now() + patience;
        loop {
            if let Some(status) = self.child.try_wait().map_err(TraceError::system("waiting for the command"))? {
                return Ok(Some(status));
            }
            let left = end.saturating_duration_since(std::time::Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            std::thread::sleep(left.min(Duration::from_millis(5)));
        }
    }

    /// Sends the command a signal (kill(2)).
    pub fn signal(&self, signal: libc::c_int) {
        if let Ok(pid) = i32::try_from(self.child.id()) {
            // SAFETY: kill(2) takes numbers. The child was not waited for to its end, so the number
            // is its own; when it has ended, the signal reaches no process.
            unsafe { libc::kill(pid, signal) };
        }
    }

    /// Waits for its end and passes on the signals that come meanwhile.
    ///
    /// # Errors
    /// When it cannot be waited for.
    pub fn to_its_end(&mut self, stop: &Stop) -> Result<ExitStatus, TraceError> {
        loop {
            stop.forwarded().for_each(|signal| self.signal(signal));
            if let Some(status) = self.ended_within(Duration::from_millis(50))? {
                return Ok(status);
            }
        }
    }
}

/// Runs a command that this process does not trace. Where no process can be made for it, it takes
/// this one's place (execve(2)).
///
/// # Errors
/// When it cannot be started.
pub fn run_beside(command: &[OsString], stop: &Stop) -> Result<ExitStatus, TraceError> {
    let Some((name, arguments)) = command.split_first() else { return Err(TraceError::NotHere("no command was given".to_owned())) };
    stop.before_command();
    let mut builder = Command::new(name);
    builder.args(arguments);
    let as_without_us = || {
        crate::stop::as_without_us();
        crate::inherited::give_back();
        Ok(())
    };
    // SAFETY: only calls that signal-safety(7) allows.
    unsafe { builder.pre_exec(as_without_us) };
    let child = builder.spawn().or_else(|error| {
        if !matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::ENOMEM)) {
            return Err(error);
        }
        stop.dismiss_witness();
        builder.spawn().map_err(|_| builder.exec())
    });
    let child = child.map_err(TraceError::system(format!("starting {}", name.to_string_lossy())))?;
    stop.begin();
    Running { child }.to_its_end(stop)
}

/// A command line as bytes, for the table `hosts`; `None` when it is empty.
pub fn words(command: &[OsString]) -> Option<Vec<Vec<u8>>> {
    let bytes = |word: &OsString| std::os::unix::ffi::OsStrExt::as_bytes(word.as_os_str()).to_vec();
    (!command.is_empty()).then(|| command.iter().map(bytes).collect())
}

/// The exit code that a shell would show: the command's own, or 128 and the signal's number.
pub fn shell_code(status: ExitStatus) -> u8 {
    match (status.code(), status.signal()) {
        (Some(code), _) => (code & 0xff) as u8,
        (None, Some(signal)) => (128 + signal) as u8,
        (None, None) => 255,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<OsString> {
        words.iter().map(OsString::from).collect()
    }

    #[test]
    fn it_waits_until_it_is_let_go() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("made");
        let command = words(&["sh", "-c", "echo $$ > \"$0\"; exit 7", file.to_str().unwrap()]);
        let held = Held::start(&command).unwrap();
        std::thread::sleep(Duration::from_millis(50));
        assert!(!file.exists());
        let pid = held.pid();
        let mut running = held.release(&command[0]).unwrap();
        let status = running.ended_within(Duration::from_secs(20)).unwrap().unwrap();
        assert_eq!(shell_code(status), 7);
        assert_eq!(std::fs::read_to_string(&file).unwrap().trim(), pid.to_string());
    }

    #[test]
    fn a_program_that_does_not_exist_is_an_error_and_leaves_nothing() {
        let command = words(&["/no/such/program"]);
        let held = Held::start(&command).unwrap();
        let error = held.release(&command[0]).err().unwrap().to_string();
        assert!(error.contains("/no/such/program") && error.contains("No such file"), "{error}");
    }

    #[test]
    fn a_signal_is_told_as_a_shell_does() {
        let command = words(&["sleep", "100"]);
        let mut running = Held::start(&command).unwrap().release(&command[0]).unwrap();
        running.signal(libc::SIGTERM);
        let status = running.ended_within(Duration::from_secs(20)).unwrap().unwrap();
        assert_eq!(shell_code(status), 143);
    }
}

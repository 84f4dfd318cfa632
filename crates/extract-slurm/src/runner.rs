//! Running fixed scripts where Slurm's commands live: on this machine ([`Local`]) or over SSH
//! ([`crate::ssh::SshRunner`], [`crate::ssh::ProgramRunner`]).
//!
//! In go a script, which is part of this program's text (`&'static str`), and bytes for its
//! standard input; out come both output streams, the exit status and the signal. A script is fixed
//! on purpose: text that came from elsewhere (a user's name, a job id) is never part of a shell
//! command, it goes through standard input. Scripts with a single quote are refused, because over
//! SSH the script stands between single quotes.

use std::io::{Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use flowmine_schema::text::visible;

#[cfg(feature = "ssh")]
use crate::ssh::SshError;

/// The most bytes of standard output that a command may send: 1 GiB, about two million jobs of
/// `squeue`. More is an error, so that a server that has gone wild cannot fill this machine's
/// memory.
pub const STDOUT_LIMIT: usize = 1 << 30;
/// The most bytes of standard error that are kept: 16 MiB. More is an error.
pub const STDERR_LIMIT: usize = 16 << 20;

/// What a command wrote, and how it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// All bytes of its standard output.
    pub stdout: Vec<u8>,
    /// All bytes of its standard error.
    pub stderr: Vec<u8>,
    /// The exit code; for a command that a signal ended it is 128 + the signal's number (255 where
    /// the number is unknown), as shells have it.
    pub status: i32,
    /// The signal that ended the command, without `SIG` (`KILL`, `TERM`), or none.
    pub signal: Option<String>,
}

impl Output {
    /// Whether the command ended by itself with exit code 0.
    pub fn success(&self) -> bool {
        self.status == 0 && self.signal.is_none()
    }
}

/// Why a command gave no [`Output`]. A command that ran and failed is an [`Output`] with its
/// status, not an error.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A script held a single quote; a mistake in this program.
    #[error("a built-in script holds a single quote and cannot be sent; this is a bug in flowmine, please report it")]
    Quote,
    /// The shell or the ssh program could not be started.
    #[error(
        "cannot start `{program}` on this machine: {source}; check that it is installed and on PATH, and that processes may be created"
    )]
    Start {
        /// The program, escaped.
        program: String,
        /// The operating system's error.
        source: std::io::Error,
    },
    /// A pipe to or from the local shell or ssh program failed.
    #[error("a pipe to a local process failed: {source}")]
    Io {
        /// The operating system's error.
        source: std::io::Error,
    },
    /// The command took too long and was given up.
    #[error("{place} gave no complete answer within {} s; the command was given up: try again, or allow more time", .after.as_secs_f64())]
    TimedOut {
        /// Where the command ran, as [`Runner::describe`] has it.
        place: String,
        /// The time that the command was given.
        after: Duration,
    },
    /// A stream was longer than its limit.
    #[error("{place} sent more than {limit} bytes on {stream}; that is no answer of Slurm's: look at what the command prints there")]
    TooMuchOutput {
        /// Where the command ran, as [`Runner::describe`] has it.
        place: String,
        /// `standard output` or `standard error`.
        stream: &'static str,
        /// The limit of the stream, in bytes.
        limit: usize,
    },
    /// No thread could be started for a pipe of the script.
    #[error("cannot start a thread for the script's pipes: {source}; raise the limit of threads (`ulimit -u`)")]
    Thread {
        /// The operating system's error.
        source: std::io::Error,
    },
    /// The SSH connection or its configuration.
    #[cfg(feature = "ssh")]
    #[error(transparent)]
    Ssh(#[from] SshError),
}

/// Runs fixed scripts on the machine where Slurm's commands live.
pub trait Runner {
    /// Runs `script` under `sh -c`, with `stdin` as its standard input, and waits until it has
    /// ended and closed its output.
    ///
    /// # Errors
    /// When the script could not be run to its end within `timeout`; a script that ends with a
    /// failure is not an error, see [`Output::status`].
    fn run(&mut self, script: &'static str, stdin: &[u8], timeout: Duration) -> Result<Output, RunError>;

    /// Where scripts run, for messages: `this machine` or `user@host:port`. Safe for a terminal.
    fn describe(&self) -> String;
}

/// Refuses a script that could not be sent between single quotes.
pub(crate) fn check_script(script: &str) -> Result<(), RunError> {
    if script.contains('\'') || script.contains('\0') {
        return Err(RunError::Quote);
    }
    Ok(())
}

/// The number that a signal's name has on Linux, see signal(7).
#[cfg(feature = "ssh")]
pub(crate) fn signal_number(name: &str) -> Option<i32> {
    SIGNALS.iter().find(|(_, n)| *n == name).map(|(number, _)| *number)
}

const SIGNALS: &[(i32, &str)] = &[
    (1, "HUP"),
    (2, "INT"),
    (3, "QUIT"),
    (4, "ILL"),
    (5, "TRAP"),
    (6, "ABRT"),
    (7, "BUS"),
    (8, "FPE"),
    (9, "KILL"),
    (10, "USR1"),
    (11, "SEGV"),
    (12, "USR2"),
    (13, "PIPE"),
    (14, "ALRM"),
    (15, "TERM"),
    (24, "XCPU"),
    (25, "XFSZ"),
    (31, "SYS"),
];

fn signal_name(number: i32) -> String {
    SIGNALS.iter().find(|(n, _)| *n == number).map_or_else(|| number.to_string(), |(_, name)| (*name).to_owned())
}

/// This machine: scripts run as a child process in a process group of their own, which is killed
/// when time is up.
#[derive(Debug, Default, Clone, Copy)]
pub struct Local;

impl Runner for Local {
    fn run(&mut self, script: &'static str, stdin: &[u8], timeout: Duration) -> Result<Output, RunError> {
        run_locally(script, stdin, timeout, STDOUT_LIMIT, STDERR_LIMIT)
    }

    fn describe(&self) -> String {
        "this machine".to_owned()
    }
}

enum Stream {
    Stdout,
    Stderr,
}

enum Report {
    Whole(Stream, Vec<u8>),
    TooLong(Stream),
    Failed(std::io::Error),
}

fn run_locally(
    script: &'static str,
    stdin: &[u8],
    timeout: Duration,
    stdout_limit: usize,
    stderr_limit: usize,
) -> Result<Output, RunError> {
    check_script(script)?;
    let mut command = Command::new("sh");
    command.arg("-c").arg(script);
    capture(&mut command, &Local.describe(), stdin, timeout, (stdout_limit, stderr_limit))
}

/// Runs a command in a process group of its own, which is killed when time is up. The limits are
/// those of its standard output and standard error.
///
/// # Errors
/// When the command could not be started, or not run to its end within `timeout` and its limits.
pub(crate) fn capture(
    command: &mut Command,
    place: &str,
    stdin: &[u8],
    timeout: Duration,
    (stdout_limit, stderr_limit): (usize, usize),
) -> Result<Output, RunError> {
    let deadline = Instant::now() + timeout;
    let timed_out = || RunError::TimedOut { place: place.to_owned(), after: timeout };
    let mut child = command
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|source| RunError::Start { program: visible(&command.get_program().to_string_lossy()).into_owned(), source })?;

    // One thread per pipe: in whatever order the command reads and writes, a full pipe blocks
    // neither side. The threads own their data and are not joined, because a process that left the
    // group could hold a pipe open forever.
    let (report, reports) = mpsc::channel();
    if let Err(source) = start_threads(&mut child, stdin, stdout_limit, stderr_limit, report) {
        kill_group(&mut child);
        return Err(RunError::Thread { source });
    }

    let (mut stdout, mut stderr) = (None, None);
    while stdout.is_none() || stderr.is_none() {
        let left = deadline.saturating_duration_since(Instant::now());
        let failure = match reports.recv_timeout(left) {
            Ok(Report::Whole(Stream::Stdout, bytes)) => {
                stdout = Some(bytes);
                continue;
            }
            Ok(Report::Whole(Stream::Stderr, bytes)) => {
                stderr = Some(bytes);
                continue;
            }
            Ok(Report::TooLong(stream)) => {
                let (stream, limit) = match stream {
                    Stream::Stdout => ("standard output", stdout_limit),
                    Stream::Stderr => ("standard error", stderr_limit),
                };
                RunError::TooMuchOutput { place: place.to_owned(), stream, limit }
            }
            Ok(Report::Failed(source)) => RunError::Io { source },
            Err(_) => timed_out(),
        };
        kill_group(&mut child);
        return Err(failure);
    }

    // Both streams are at their end; the process nearly always is too, so a short growing sleep costs nothing.
    let mut pause = Duration::from_micros(200);
    let ended = loop {
        match child.try_wait() {
            Ok(Some(ended)) => break ended,
            Ok(None) if Instant::now() < deadline => {
                thread::sleep(pause);
                pause = (pause * 2).min(Duration::from_millis(20));
            }
            Ok(None) => {
                kill_group(&mut child);
                return Err(timed_out());
            }
            Err(source) => {
                kill_group(&mut child);
                return Err(RunError::Io { source });
            }
        }
    };
    let signal = ended.signal();
    Ok(Output {
        stdout: stdout.unwrap_or_default(),
        stderr: stderr.unwrap_or_default(),
        status: ended.code().unwrap_or_else(|| signal.map_or(255, |n| 128 + n)),
        signal: signal.map(signal_name),
    })
}

/// Starts a thread for each pipe of a child.
fn start_threads(
    child: &mut Child,
    stdin: &[u8],
    stdout_limit: usize,
    stderr_limit: usize,
    report: mpsc::Sender<Report>,
) -> std::io::Result<()> {
    if let Some(mut pipe) = child.stdin.take() {
        let bytes = stdin.to_vec();
        thread::Builder::new().spawn(move || {
            // A command that does not read its input is not an error: its status says how it ended.
            let _ = pipe.write_all(&bytes);
        })?;
    }
    if let Some(pipe) = child.stdout.take() {
        read_in_thread(pipe, Stream::Stdout, stdout_limit, report.clone())?;
    }
    if let Some(pipe) = child.stderr.take() {
        read_in_thread(pipe, Stream::Stderr, stderr_limit, report)?;
    }
    Ok(())
}

fn read_in_thread(mut pipe: impl Read + Send + 'static, stream: Stream, limit: usize, report: mpsc::Sender<Report>) -> std::io::Result<()> {
    let reader = thread::Builder::new().spawn(move || {
        let mut bytes = Vec::new();
        // One byte more than the limit distinguishes "exactly full" from "too long".
        let read = pipe.by_ref().take(limit as u64 + 1).read_to_end(&mut bytes);
        let _ = report.send(match read {
            Err(error) => Report::Failed(error),
            Ok(_) if bytes.len() > limit => Report::TooLong(stream),
            Ok(_) => Report::Whole(stream, bytes),
        });
    });
    reader.map(drop)
}

/// Kills the child's whole group. The child has not been waited for yet, so its number is still its
/// own.
fn kill_group(child: &mut Child) {
    let _ = Command::new("sh")
        .arg("-c")
        .arg("kill -s KILL -- \"-$1\"")
        .arg("sh")
        .arg(child.id().to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let _ = child.kill();
    let _ = child.wait();
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(120);

    #[test]
    fn output_status_and_stdin_come_through() {
        let output = Local.run("cat; echo oops >&2; exit 3", b"in\xff\n", LONG).unwrap();
        assert_eq!(output.stdout, b"in\xff\n");
        assert_eq!(output.stderr, b"oops\n");
        assert_eq!((output.status, output.signal.clone(), output.success()), (3, None, false));
        assert!(Local.run("true", b"", LONG).unwrap().success());
    }

    #[test]
    fn signal_is_told_from_success() {
        let output = Local.run("kill -TERM $$", b"", LONG).unwrap();
        assert_eq!((output.status, output.signal.as_deref()), (143, Some("TERM")));
        assert!(!output.success());
    }

    #[test]
    fn large_streams_in_every_direction_do_not_deadlock() {
        // The command writes a lot on both streams before it reads, and more input than a pipe holds waits for it.
        let input = vec![b'x'; 20 << 20];
        let script = "head -c 30000000 /dev/zero >&2 & head -c 30000000 /dev/zero; wait; wc -c";
        let output = run_locally(script, &input, LONG, 64 << 20, 64 << 20).unwrap();
        assert_eq!(output.stdout.len(), 30_000_000 + "20971520\n".len());
        assert!(output.stdout.ends_with(b"20971520\n"));
        assert_eq!(output.stderr.len(), 30_000_000);
    }

    #[test]
    fn hundred_megabytes_of_output() {
        let output = Local.run("head -c 104857600 /dev/zero", b"", LONG).unwrap();
        assert_eq!(output.stdout.len(), 104_857_600);
    }

    #[test]
    fn input_that_nobody_reads_is_no_error() {
        let output = Local.run("exit 0", &vec![b'x'; 4 << 20], LONG).unwrap();
        assert!(output.success());
    }

    #[test]
    fn time_out_kills_the_whole_group() {
        let marker = tempfile::NamedTempFile::new().unwrap();
        let path = marker.path().to_str().unwrap().to_owned();
        // The grandchild writes its process id to the file named on standard input.
        let script = "read f; sh -c \"echo \\$\\$ >$f; exec sleep 60\" & wait";
        let mut written = String::new();
        // A loaded machine may need longer than the first time-out to come that far.
        for seconds in [1, 5, 25] {
            let failure = Local.run(script, format!("{path}\n").as_bytes(), Duration::from_secs(seconds)).unwrap_err();
            assert!(matches!(failure, RunError::TimedOut { .. }), "{failure}");
            written = std::fs::read_to_string(&path).unwrap();
            if written.ends_with('\n') {
                break;
            }
        }
        let pid: u32 = written.trim().parse().unwrap();
        // Killed, and gone as soon as init (or whoever adopts orphans here) has reaped it.
        for _ in 0..200 {
            let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            let gone = state.is_empty() || state.rsplit(')').next().is_some_and(|s| s.trim_start().starts_with('Z'));
            if gone {
                return;
            }
            thread::sleep(Duration::from_millis(50));
        }
        panic!("process {pid} outlived the time-out");
    }

    #[test]
    fn too_much_output_is_refused() {
        let failure = run_locally("cat /dev/zero", b"", LONG, 1000, 1000).unwrap_err();
        assert!(matches!(failure, RunError::TooMuchOutput { stream: "standard output", limit: 1000, .. }), "{failure}");
        let failure = run_locally("cat /dev/zero >&2", b"", LONG, 1000, 1000).unwrap_err();
        assert!(matches!(failure, RunError::TooMuchOutput { stream: "standard error", .. }), "{failure}");
        assert!(run_locally("head -c 1000 /dev/zero", b"", LONG, 1000, 1000).is_ok());
    }

    #[test]
    fn single_quotes_are_refused() {
        assert!(matches!(Local.run("echo 'x'", b"", LONG), Err(RunError::Quote)));
    }
}

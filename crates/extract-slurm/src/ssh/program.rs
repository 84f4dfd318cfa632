//! The runner that uses the ssh program of this machine.
//!
//! The program reads the whole configuration by itself, asks for passwords and second factors on
//! the terminal, and shares connections. One session of it holds the connection as long as this
//! runner lives: it runs `cat` on the login node, and so ends when the pipe to it is closed, also
//! after a kill. Scripts use the same connection through a control socket (ssh_config(5),
//! ControlPath): the user's where the configuration has one, else a socket in a private folder.

use std::ffi::OsString;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use flowmine_schema::text::visible;

use super::connection::shell_word;
use super::session::{login_command, remote_command};
use super::target::host_and_port;
use super::{HostKeyPolicy, SshError, SshOptions, Target};
use crate::runner::{Output, RunError, Runner, STDERR_LIMIT, STDOUT_LIMIT, capture};

/// The exit code of ssh(1) for its own failures.
const OWN_FAILURE: i32 = 255;
/// What the session that holds the connection prints once it runs.
const READY: &str = "flowmine-is-connected";
/// Maximum size of the output of `ssh -G`, and of what a login shell prints before [`READY`].
const SMALL: usize = 1 << 20;
/// Maximum length of the program's own message in an error, in characters.
const MESSAGE: usize = 600;
/// Time for a login. A person may have to type a password and a second factor.
const LOGIN: Duration = Duration::from_secs(180);
/// Time for `ssh -G`, which may run the commands of `Match exec`.
const CONFIG: Duration = Duration::from_secs(60);
/// Time between two looks at the session during a login.
const LOOK: Duration = Duration::from_millis(20);

/// Runs scripts with the ssh program.
pub struct ProgramRunner {
    program: PathBuf,
    /// Options of each call, without those of the control socket.
    options: Vec<OsString>,
    /// Name of the host, as the last argument before the remote command.
    host: String,
    /// User, host and port that the configuration comes to.
    place: String,
    /// The command that logs in to the same place, for messages.
    login: String,
    /// Options of the control socket; empty where the configuration has one of its own.
    socket: Vec<OsString>,
    holder: Option<Holder>,
    /// The private folder of the control socket, removed after the session has ended.
    _folder: Option<tempfile::TempDir>,
    connections_opened: usize,
}

/// The session that holds the connection.
struct Holder {
    child: Child,
    /// Closing it ends the session.
    _stdin: Option<ChildStdin>,
}

impl Drop for Holder {
    fn drop(&mut self) {
        self._stdin = None;
        // The session ends by itself at the end of its input; a network that is away must not
        // keep this process from ending.
        let deadline = Instant::now() + Duration::from_secs(2);
        while Instant::now() < deadline {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            thread::sleep(LOOK);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl ProgramRunner {
    /// Reads the configuration by `ssh -G`; the network is not touched before the first script or
    /// [`ProgramRunner::open`]. Passphrases are the program's matter: it asks the agent or the
    /// terminal.
    ///
    /// # Errors
    /// [`RunError::Start`] where there is no such program, [`SshError::ProgramConfig`] where it
    /// rejects the configuration.
    pub fn new(program: PathBuf, target: &Target, options: &SshOptions) -> Result<Self, RunError> {
        let mut arguments = arguments(target, options);
        let shown = visible(&program.to_string_lossy()).into_owned();
        let mut ask = Command::new(&program);
        ask.arg("-G").args(&arguments).arg("--").arg(&target.host);
        let answer = capture(&mut ask, &shown, b"", CONFIG, (SMALL, SMALL))?;
        if !answer.success() {
            let host = target.to_string();
            return Err(SshError::ProgramConfig { program: shown, host, why: message(&answer.stderr) }.into());
        }
        let config = Effective::read(&answer.stdout);
        if config.has("connecttimeout", "none") {
            arguments.extend(option("ConnectTimeout=15"));
        }
        if config.has("serveraliveinterval", "0") {
            arguments.extend(option("ServerAliveInterval=15"));
        }
        if config.value("remotecommand").is_some_and(|command| command != "none") {
            arguments.extend(option("RemoteCommand=none"));
        }
        let own_socket = config.value("controlpath").is_some_and(|path| path != "none");
        let (socket, folder) = if own_socket {
            (Vec::new(), None)
        } else {
            // Made with mode 0700 and a name that cannot be guessed.
            let folder = tempfile::Builder::new().prefix("flowmine-ssh-").tempdir().map_err(|source| RunError::Io { source })?;
            let mut path = OsString::from("ControlPath=");
            path.push(folder.path().join("s"));
            (vec!["-o".into(), path], Some(folder))
        };
        let port = config.value("port").and_then(|port| port.parse().ok()).or(target.port).unwrap_or(22);
        let user = config.value("user").unwrap_or_default();
        let place = format!("{}@{}", visible(user), host_and_port(config.value("hostname").unwrap_or(&target.host), port));
        let login = login_command(std::slice::from_ref(target), options.config_file.as_deref()).unwrap_or_default();
        let login = login.replacen("ssh ", &format!("{} ", shell_word(&shown)), 1);
        Ok(Self {
            program,
            options: arguments,
            host: target.host.clone(),
            place,
            login,
            socket,
            _folder: folder,
            holder: None,
            connections_opened: 0,
        })
    }

    /// Connects and logs in, if there is no connection, so that a mistake shows before the first
    /// poll. The program may ask on the terminal.
    ///
    /// # Errors
    /// [`SshError::Program`] with the end of the program's messages.
    pub fn open(&mut self) -> Result<(), RunError> {
        if let Some(holder) = &mut self.holder {
            if matches!(holder.child.try_wait(), Ok(None)) {
                return Ok(());
            }
            self.holder = None;
        }
        let mut command = self.command(if self.socket.is_empty() { None } else { Some("ControlMaster=auto") });
        command.args(option("ControlPersist=no"));
        command.arg("--").arg(&self.host).arg(remote_command(HOLD)?);
        // It stays in this process's group: a process in the background cannot ask on the terminal.
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|source| RunError::Start { program: self.shown(), source })?;
        let stdin = child.stdin.take();
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        // From here on the session is ended on each way out.
        let mut holder = Holder { child, _stdin: stdin };
        let (ready, is_ready) = mpsc::channel();
        if let Some(pipe) = stdout {
            start(move || wait_for_ready(pipe, &ready))?;
        }
        let (said, messages) = mpsc::channel();
        if let Some(pipe) = stderr {
            start(move || pass_on(pipe, &said))?;
        }
        let deadline = Instant::now() + LOGIN;
        let failure = loop {
            match is_ready.recv_timeout(LOOK) {
                Ok(()) => {
                    self.holder = Some(holder);
                    self.connections_opened += 1;
                    return Ok(());
                }
                Err(mpsc::RecvTimeoutError::Timeout) if Instant::now() >= deadline => {
                    break SshError::TimedOut { place: self.place.clone(), step: "logging in", after: LOGIN };
                }
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => {
                    // Its output is at its end, and its messages soon are.
                    let _ = holder.child.wait();
                    let mut all = Vec::new();
                    while let Ok(part) = messages.recv_timeout(Duration::from_secs(1)) {
                        all.extend_from_slice(&part);
                    }
                    break self.failure(&all);
                }
            }
        };
        let _ = holder.child.kill();
        Err(failure.into())
    }

    /// How many connections have been opened so far; more than one after a reconnect.
    pub fn connections_opened(&self) -> usize {
        self.connections_opened
    }

    fn shown(&self) -> String {
        visible(&self.program.to_string_lossy()).into_owned()
    }

    fn failure(&self, stderr: &[u8]) -> SshError {
        SshError::Program { program: self.shown(), place: self.place.clone(), why: message(stderr), login: self.login.clone() }
    }

    /// The program with its options; `master` is the part of this call in the shared connection.
    fn command(&self, master: Option<&str>) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.options).args(&self.socket);
        if let Some(master) = master {
            command.args(option(master));
        }
        command
    }

    fn run_once(&self, script: &'static str, stdin: &[u8], timeout: Duration) -> Result<Output, RunError> {
        let mut command = self.command((!self.socket.is_empty()).then_some("ControlMaster=no"));
        // What has to be asked was asked by the session that holds the connection.
        command.args(option("BatchMode=yes"));
        command.arg("--").arg(&self.host).arg(remote_command(script)?);
        capture(&mut command, &self.place, stdin, timeout, (STDOUT_LIMIT, STDERR_LIMIT))
    }
}

impl Runner for ProgramRunner {
    /// Runs a script. When the connection turns out to be dead before the script produced anything,
    /// it is opened again and the script sent once more, with the whole `timeout` again.
    ///
    /// ssh(1) ends with 255 both where it fails and where the remote command does, so exit code 255
    /// is a failure of the connection here. The scripts of flowmine do not end with it.
    fn run(&mut self, script: &'static str, stdin: &[u8], timeout: Duration) -> Result<Output, RunError> {
        let was_open = self.holder.is_some();
        self.open()?;
        let mut output = self.run_once(script, stdin, timeout)?;
        if output.status == OWN_FAILURE && output.stdout.is_empty() && was_open {
            self.holder = None;
            self.open()?;
            output = self.run_once(script, stdin, timeout)?;
        }
        if output.status == OWN_FAILURE {
            return Err(self.failure(&output.stderr).into());
        }
        Ok(output)
    }

    fn describe(&self) -> String {
        self.place.clone()
    }
}

/// The script of the session that holds the connection.
const HOLD: &str = "echo flowmine-is-connected; exec cat";

fn option(value: &str) -> [OsString; 2] {
    ["-o".into(), value.into()]
}

/// The options of each call: what the user gave, and what a session without a terminal needs.
fn arguments(target: &Target, options: &SshOptions) -> Vec<OsString> {
    // No terminal, no forwarding of the agent or of X11.
    let mut arguments: Vec<OsString> = ["-T", "-a", "-x"].map(Into::into).into();
    arguments.extend(option("ClearAllForwardings=yes"));
    arguments.extend(option("PermitLocalCommand=no"));
    arguments.extend(option(match options.host_keys {
        HostKeyPolicy::Strict => "StrictHostKeyChecking=yes",
        HostKeyPolicy::AcceptNew => "StrictHostKeyChecking=accept-new",
    }));
    if let Some(file) = &options.config_file {
        arguments.extend(["-F".into(), file.clone().into_os_string()]);
    }
    if let Some(jumps) = &options.jumps {
        let way: Vec<String> = jumps.iter().map(jump).collect();
        let way = if way.is_empty() { "none".to_owned() } else { way.join(",") };
        arguments.extend(option(&format!("ProxyJump={way}")));
    }
    for file in &options.identity_files {
        arguments.extend(["-i".into(), file.clone().into_os_string()]);
    }
    if let Some(user) = &target.user {
        arguments.extend(["-l".into(), user.into()]);
    }
    if let Some(port) = target.port {
        arguments.extend(["-p".into(), port.to_string().into()]);
    }
    arguments
}

/// A jump host as `ProxyJump` has it.
fn jump(host: &Target) -> String {
    let user = host.user.as_ref().map(|user| format!("{user}@")).unwrap_or_default();
    let name = if host.host.contains(':') { format!("[{}]", host.host) } else { host.host.clone() };
    let port = host.port.map(|port| format!(":{port}")).unwrap_or_default();
    format!("{user}{name}{port}")
}

/// The configuration that `ssh -G` prints: a keyword in lower case and its value on each line.
struct Effective<'a>(Vec<(&'a str, &'a str)>);

impl<'a> Effective<'a> {
    fn read(output: &'a [u8]) -> Self {
        let lines = output.split(|&byte| byte == b'\n').filter_map(|line| std::str::from_utf8(line).ok());
        Self(lines.filter_map(|line| line.split_once(' ')).collect())
    }

    fn value(&self, keyword: &str) -> Option<&'a str> {
        self.0.iter().find(|(name, _)| *name == keyword).map(|(_, value)| *value)
    }

    fn has(&self, keyword: &str, value: &str) -> bool {
        self.value(keyword).is_none_or(|found| found == value)
    }
}

/// The end of what the program printed, in one line.
fn message(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let last = lines[lines.len().saturating_sub(3)..].join("; ");
    let shown = visible(&last);
    let skipped = shown.chars().count().saturating_sub(MESSAGE);
    match shown.chars().skip(skipped).collect::<String>() {
        empty if empty.is_empty() => "it printed no message".to_owned(),
        message => message,
    }
}

fn start(work: impl FnOnce() + Send + 'static) -> Result<(), RunError> {
    thread::Builder::new().spawn(work).map(drop).map_err(|source| RunError::Thread { source })
}

/// Reports the line [`READY`], and then reads on, so that the session never blocks.
fn wait_for_ready(mut pipe: impl Read, ready: &mpsc::Sender<()>) {
    let mut seen: Vec<u8> = Vec::new();
    let mut chunk = [0; 4096];
    while let Ok(count @ 1..) = pipe.read(&mut chunk) {
        seen.extend_from_slice(&chunk[..count]);
        if seen.split(|&byte| byte == b'\n').any(|line| line == READY.as_bytes()) {
            if ready.send(()).is_err() {
                return;
            }
            let _ = std::io::copy(&mut pipe, &mut std::io::sink());
            return;
        }
        if seen.len() > SMALL {
            return;
        }
    }
}

/// Passes on the last messages, and then reads on.
fn pass_on(mut pipe: impl Read, said: &mpsc::Sender<Vec<u8>>) {
    let mut chunk = [0; 4096];
    let mut left = SMALL;
    while let Ok(count @ 1..) = pipe.read(&mut chunk) {
        left = left.saturating_sub(count);
        if left > 0 && said.send(chunk[..count].to_vec()).is_err() {
            left = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(target: &str, options: &SshOptions) -> Vec<String> {
        let arguments = arguments(&Target::parse(target).unwrap(), options);
        arguments.into_iter().map(|argument| argument.into_string().unwrap()).skip(3).collect()
    }

    #[test]
    fn options_of_the_program() {
        let options = SshOptions {
            config_file: Some("/c f".into()),
            jumps: Some(vec![Target::parse("bob@gate:2222").unwrap(), Target::parse("[::1]:5").unwrap()]),
            identity_files: vec!["/k/1".into(), "/k/2".into()],
            host_keys: HostKeyPolicy::AcceptNew,
            ..SshOptions::default()
        };
        let common = ["-o", "ClearAllForwardings=yes", "-o", "PermitLocalCommand=no", "-o"];
        let all = typed("ann@hpc:99", &options);
        assert_eq!(all[..5], common);
        assert_eq!(
            all[5..],
            [
                "StrictHostKeyChecking=accept-new",
                "-F",
                "/c f",
                "-o",
                "ProxyJump=bob@gate:2222,[::1]:5",
                "-i",
                "/k/1",
                "-i",
                "/k/2",
                "-l",
                "ann",
                "-p",
                "99"
            ]
        );
        let direct = typed("hpc", &SshOptions { jumps: Some(Vec::new()), ..SshOptions::default() });
        assert_eq!(direct[5..], ["StrictHostKeyChecking=yes", "-o", "ProxyJump=none"]);
    }

    #[test]
    fn messages_are_one_safe_line_of_the_end() {
        assert_eq!(message(b"Warning: a\n\nb\r\nc\n\x1b[31md\n"), "b; c; \\x1b[31md");
        assert_eq!(message(b""), "it printed no message");
        assert_eq!(message(&[b'x'; 5000]).len(), MESSAGE);
    }

    #[test]
    fn the_configuration_as_printed() {
        let config = Effective::read(b"user ann\nhostname h\nconnecttimeout none\n\xff x\nport 22\ncontrolpath none\n");
        assert_eq!(config.value("user"), Some("ann"));
        assert!(config.has("connecttimeout", "none") && !config.has("port", "23"));
        assert!(config.has("missing", "none"), "an old ssh does not print it");
    }
}

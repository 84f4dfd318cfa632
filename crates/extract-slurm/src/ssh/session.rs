//! The runner over SSH: it opens a connection at the first script, keeps it, and opens it again
//! when it died.
//!
//! In go options and scripts; out come outputs. A script is sent again at most once, and only when
//! the connection broke before the script had produced anything. Between scripts a thread shows the
//! server that we are still there.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use flowmine_schema::text::visible;

use super::config::{self, HostConfig, IdentityFile, Source, Surroundings};
use super::connection::{Connection, Hop, Limits, shell_word};
use super::passphrase::Passphrases;
use super::target::host_and_port;
use super::{PassphraseSource, SshError, Target};
use crate::runner::{Output, RunError, Runner, check_script};

/// What to do with a host that no known_hosts file knows. A changed or revoked key is refused
/// either way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HostKeyPolicy {
    /// Refuse to connect to a host with an unknown key.
    #[default]
    Strict,
    /// Add its key to the first of the user's known_hosts files, and go on.
    AcceptNew,
}

/// How to connect. `Default` is what OpenSSH does, with strict host keys.
#[derive(Debug, Clone, Default)]
pub struct SshOptions {
    /// Read this config file instead of the user's and the system's, like `ssh -F`.
    pub config_file: Option<PathBuf>,
    /// The hosts to pass on the way instead of those of the config, the first one first; an empty
    /// list is the direct way.
    pub jumps: Option<Vec<Target>>,
    /// Private keys to try before those of the config; for the target, not for hosts on the way.
    pub identity_files: Vec<PathBuf>,
    /// Where the passphrases of encrypted private keys come from.
    pub passphrase: PassphraseSource,
    /// What to do with an unknown host.
    pub host_keys: HostKeyPolicy,
    /// The time for each step.
    pub limits: Limits,
}

/// Runs scripts over one SSH connection.
pub struct SshRunner {
    /// The hosts on the way; the target is the last.
    route: Vec<Hop>,
    place: String,
    policy: HostKeyPolicy,
    limits: Limits,
    passphrases: Passphrases,
    warnings: Vec<String>,
    /// Shared with the keeper thread, which holds it weakly and only while it works.
    connection: Arc<Mutex<Option<Connection>>>,
    /// Dropping it ends the keeper thread.
    keeper: Option<mpsc::Sender<()>>,
    connections_opened: usize,
}

impl SshRunner {
    /// Reads the config; the network is not touched before the first script or [`SshRunner::open`].
    ///
    /// # Errors
    /// [`SshError`] where the config cannot be understood or wants what is not supported.
    pub fn new(target: &Target, options: SshOptions) -> Result<Self, SshError> {
        let surroundings = Surroundings::of_this_process();
        let sources = Source::usual(options.config_file.as_deref(), &surroundings);
        let mut hosts = config::route(target, options.jumps.as_deref(), &sources, &surroundings)?;
        if let (Some((_, host)), false) = (hosts.last_mut(), options.identity_files.is_empty()) {
            let given = options.identity_files.iter().map(|path| IdentityFile { path: path.clone(), named: true });
            // The usual places count only where nothing was named.
            host.identity_files.retain(|file| file.named && !options.identity_files.contains(&file.path));
            host.identity_files.splice(0..0, given);
        }
        let mut warnings: Vec<String> = Vec::new();
        let mut route: Vec<Hop> = Vec::new();
        let mut passed: Vec<Target> = Vec::new();
        for (typed, host) in hosts {
            for warning in &host.warnings {
                if !warnings.contains(warning) {
                    warnings.push(warning.clone());
                }
            }
            let mut place = format!("{}@{}", visible(&host.user), host_and_port(&host.host_name, host.port));
            if let Some(jump) = passed.last() {
                place.push_str(&format!(" (through {jump})"));
            }
            route.push(Hop { host, place, before: login_command(&passed, options.config_file.as_deref()) });
            passed.push(typed);
        }
        Ok(Self {
            place: route.last().map(|hop| hop.place.clone()).unwrap_or_default(),
            route,
            warnings,
            policy: options.host_keys,
            limits: options.limits,
            passphrases: Passphrases::new(options.passphrase),
            connection: Arc::default(),
            keeper: None,
            connections_opened: 0,
        })
    }

    /// Connects and logs in, if there is no connection, so that a mistake shows before the first
    /// poll.
    ///
    /// # Errors
    /// [`SshError`] with the step that failed.
    pub fn open(&mut self) -> Result<(), SshError> {
        let shared = Arc::clone(&self.connection);
        let mut slot = lock(&shared);
        self.open_in(&mut slot)
    }

    /// What was left out of config and known_hosts files or not understood, with file and line.
    /// Grows when a connection is opened.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// What the config came to for each host of the way; the target is the last.
    pub fn hosts(&self) -> impl Iterator<Item = &HostConfig> {
        self.route.iter().map(|hop| &hop.host)
    }

    /// How many connections have been opened so far; more than one after a reconnect.
    pub fn connections_opened(&self) -> usize {
        self.connections_opened
    }

    fn open_in(&mut self, slot: &mut Option<Connection>) -> Result<(), SshError> {
        if slot.is_some() {
            return Ok(());
        }
        let opened = Connection::open_route(&self.route, self.policy, &mut self.passphrases, self.limits, &mut self.warnings)?;
        *slot = Some(opened);
        self.connections_opened += 1;
        if self.keeper.is_none() {
            self.keeper = Some(keep_alive(Arc::downgrade(&self.connection), self.limits.keepalive));
        }
        Ok(())
    }
}

impl Runner for SshRunner {
    /// Runs a script over SSH. When the connection turns out to be dead before the script produced
    /// anything, it is opened again and the script sent once more, with the whole `timeout` again.
    fn run(&mut self, script: &'static str, stdin: &[u8], timeout: Duration) -> Result<Output, RunError> {
        let command = remote_command(script)?;
        let shared = Arc::clone(&self.connection);
        let mut slot = lock(&shared);
        let was_open = slot.is_some();
        self.open_in(&mut slot)?;
        let failure = match run_in(&mut slot, &command, stdin, timeout) {
            Ok(output) => return Ok(output),
            Err(failure) => failure,
        };
        // A fresh connection that breaks would break again.
        if !(failure.again && was_open) {
            return Err(failure.error);
        }
        self.open_in(&mut slot)?;
        run_in(&mut slot, &command, stdin, timeout).map_err(|failure| failure.error)
    }

    fn describe(&self) -> String {
        self.place.clone()
    }
}

impl Drop for SshRunner {
    fn drop(&mut self) {
        self.keeper = None;
        if let Some(connection) = lock(&self.connection).take() {
            connection.close();
        }
    }
}

/// Runs a command on the connection in the slot, and drops the connection after a failure, because
/// its state is then unknown.
fn run_in(slot: &mut Option<Connection>, command: &str, stdin: &[u8], timeout: Duration) -> Result<Output, super::connection::Failure> {
    let Some(connection) = slot.as_mut() else {
        let error = SshError::Library { step: "keep a connection", why: "there is none".to_owned() };
        return Err(super::connection::Failure { error: error.into(), again: true });
    };
    let result = connection.run(command, stdin, timeout);
    if result.is_err() {
        *slot = None;
    }
    result
}

/// A thread that died while it held the lock left a connection that works or fails like any other.
fn lock(shared: &Mutex<Option<Connection>>) -> MutexGuard<'_, Option<Connection>> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The `ssh` command that logs in to the last of these hosts through the others.
pub(super) fn login_command(hosts: &[Target], config: Option<&Path>) -> Option<String> {
    let (last, before) = hosts.split_last()?;
    let mut command = "ssh ".to_owned();
    if let Some(file) = config {
        command.push_str(&format!("-F {} ", shell_word(&visible(&file.to_string_lossy()))));
    }
    if !before.is_empty() {
        let before: Vec<String> = before.iter().map(ToString::to_string).collect();
        command.push_str(&format!("-J {} ", shell_word(&before.join(","))));
    }
    if let Some(port) = last.port {
        command.push_str(&format!("-p {port} "));
    }
    let name = Target { port: None, ..last.clone() };
    Some(command + &shell_word(&name.to_string()))
}

/// Keeps an idle connection alive until the sender is dropped. Where the system gives no thread for
/// that, a connection that the server ends meanwhile is made anew.
fn keep_alive(shared: Weak<Mutex<Option<Connection>>>, interval: Duration) -> mpsc::Sender<()> {
    let (sender, receiver) = mpsc::channel::<()>();
    let interval = interval.max(Duration::from_secs(1));
    let _ = thread::Builder::new().spawn(move || {
        while let Err(RecvTimeoutError::Timeout) = receiver.recv_timeout(interval) {
            let Some(shared) = shared.upgrade() else { return };
            // A connection that is at work needs no sign of life.
            let Ok(mut slot) = shared.try_lock() else { continue };
            if slot.as_mut().is_some_and(|connection| !connection.keep_alive()) {
                *slot = None;
            }
        }
    });
    sender
}

/// The command line for a script: `exec sh -c 'SCRIPT'`, so that the login shell, which may be csh
/// or fish, has nothing to understand but single quotes.
///
/// Inside of them csh replaces `!` and breaks at a newline, and fish reads `\\`; scripts with one
/// of these are sent with every special byte in octal, and `printf` writes them again on the other
/// side.
pub(super) fn remote_command(script: &str) -> Result<String, RunError> {
    check_script(script)?;
    if !script.contains(['!', '\n', '\\']) {
        return Ok(format!("exec sh -c '{script}'"));
    }
    let mut encoded = String::with_capacity(script.len() * 3);
    for &byte in script.as_bytes() {
        // Letters, digits and marks that no shell reads within quotes.
        if byte.is_ascii_alphanumeric() || b" _./=,:;-".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("\\0{byte:03o}"));
        }
    }
    Ok(format!("exec sh -c 'eval \"$(printf %b \"{encoded}\")\"'"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::process::Command;

    /// What `sh`, as a login shell, makes of the command line.
    fn in_sh(script: &str) -> String {
        let output = Command::new("sh").arg("-c").arg(remote_command(script).unwrap()).output().unwrap();
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    #[test]
    fn simple_scripts_stay_readable() {
        assert_eq!(remote_command("squeue -h; echo \"$?\"").unwrap(), "exec sh -c 'squeue -h; echo \"$?\"'");
        assert!(matches!(remote_command("echo 'x'"), Err(RunError::Quote)));
    }

    #[test]
    fn scripts_that_some_shell_would_read_arrive_unchanged() {
        assert_eq!(in_sh("printf %s \"a\\\\b\""), "a\\b");
        let script = "x=\"1 % 2\"\nif ! false; then\n\techo \"$x `echo y` \\$ \\\" \\t\" # comment\nfi\necho \"{*}~\"";
        let plain = Command::new("sh").arg("-c").arg(script).output().unwrap();
        assert_eq!(in_sh(script).as_bytes(), plain.stdout);
        let command = remote_command(script).unwrap();
        assert!(!command.contains(['!', '\n']) && !command.contains("\\\\"), "{command}");
    }

    #[test]
    fn names_are_shown_without_control_characters() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config");
        std::fs::write(&file, "User \"a\u{1b}[31m\"\nMatch user x\n").unwrap();
        let options = SshOptions { config_file: Some(file), ..SshOptions::default() };
        let runner = SshRunner::new(&Target::parse("[::1]:2222").unwrap(), options).unwrap();
        assert_eq!(runner.describe(), "a\\x1b[31m@[::1]:2222");
        assert_eq!(runner.warnings().len(), 1);
    }

    #[test]
    fn named_keys_come_before_those_of_the_config() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config");
        std::fs::write(&file, "IdentityFile /k/1\nIdentityFile /k/2\n").unwrap();
        let identity_files = vec![PathBuf::from("/k/3"), PathBuf::from("/k/2")];
        let options = SshOptions { config_file: Some(file), identity_files, ..SshOptions::default() };
        let runner = SshRunner::new(&Target::parse("a@h").unwrap(), options).unwrap();
        let paths: Vec<_> = runner.hosts().last().unwrap().identity_files.iter().map(|f| f.path.to_str().unwrap()).collect();
        assert_eq!(paths, ["/k/3", "/k/2", "/k/1"]);
    }

    proptest! {
        // Each case starts a shell.
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn encoded_scripts_decode_to_themselves(middle in "[ -&(-~\t\n\u{e9}]{0,80}") {
            let script = format!("!{middle}.");
            let command = remote_command(&script).unwrap();
            let encoded = command.strip_prefix("exec sh -c 'eval \"$(").and_then(|c| c.strip_suffix(")\"'")).unwrap();
            let decoded = Command::new("sh").arg("-c").arg(encoded).output().unwrap();
            prop_assert_eq!(decoded.stdout, script.as_bytes());
        }
    }
}

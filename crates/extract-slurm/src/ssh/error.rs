//! What can go wrong between here and the remote command, each as one sentence that says what to do
//! next.
//!
//! Text from the server, from files and from the command line is escaped in these messages: no
//! message can move a cursor or forge a line.

use std::path::{Path, PathBuf};
use std::time::Duration;

use flowmine_schema::text::visible;

/// A path for a message.
pub(super) fn shown(path: &Path) -> String {
    visible(&path.to_string_lossy()).into_owned()
}

/// Everything that the SSH client reports.
#[derive(Debug, thiserror::Error)]
pub enum SshError {
    /// `--ssh` was not of the form `[user@]host[:port]`.
    #[error("`{given}` is not of the form [user@]host[:port]: {why}")]
    Target {
        /// What was given, escaped.
        given: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A line of an ssh config file that matters here cannot be understood.
    #[error("{}:{line}: {what}; correct the line, or give another file with --ssh-config", shown(.file))]
    Config {
        /// The ssh config file.
        file: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What is wrong with the line.
        what: String,
    },
    /// A file that must be read could not be read.
    #[error("cannot read {}: {source}; {advice}", shown(.file))]
    Read {
        /// The file that could not be read.
        file: PathBuf,
        /// The operating system's error.
        source: std::io::Error,
        /// What the user can do about it.
        advice: &'static str,
    },
    /// The config wants a way through a command.
    #[error(
        "{}:{line} reaches {host} through ProxyCommand, for which an ssh program is needed: install OpenSSH's client or name one with \
         --ssh-command, or write the line as ProxyJump where the command is an ssh", shown(.file)
    )]
    Proxy {
        /// The host as it was given, escaped.
        host: String,
        /// The ssh config file.
        file: PathBuf,
        /// The line, counted from 1.
        line: usize,
    },
    /// The way leads through a host twice, or through too many.
    #[error(
        "ProxyJump leads in a circle or through too many hosts ({way}); write `ProxyJump none` into the Host block of the host that is \
         reached directly"
    )]
    JumpCircle {
        /// The hosts as they were written, from the target on, escaped.
        way: String,
    },
    /// A jump host would not open the way to the next host.
    #[error("{jump} does not open a way to {place}: {why}; {advice}")]
    Forward {
        /// The jump host: user, host and port, escaped.
        jump: String,
        /// The next host: host and port, escaped.
        place: String,
        /// What the jump host or libssh2 said.
        why: String,
        /// What the user can do about it.
        advice: &'static str,
        /// Whether the jump host tried and the next host did not answer.
        away: bool,
    },
    /// The name has no address.
    #[error("cannot find the address of {host}: {why}; check the name (HostName in the ssh config) and the network")]
    Resolve {
        /// The host, escaped.
        host: String,
        /// The resolver's message.
        why: String,
    },
    /// No address accepted a TCP connection.
    #[error("cannot connect to {place}: {why}; check the host, the port and the network")]
    Connect {
        /// Host and port, escaped.
        place: String,
        /// What happened at each address.
        why: String,
    },
    /// The SSH handshake with the server failed.
    #[error("{place} did not complete the SSH handshake: {why}; check with `ssh -v` that an SSH server answers there")]
    Handshake {
        /// Host and port, escaped.
        place: String,
        /// libssh2's message.
        why: String,
    },
    /// No file knows this host.
    #[error(
        "the host key of {name} is not known: it offers {offered}; ask the site for \
         its fingerprint, and if it is the same add the key with `{command}`{note}"
    )]
    UnknownHost {
        /// The name as known_hosts files have it, escaped.
        name: String,
        /// The offered key's type and fingerprint, as OpenSSH prints it.
        offered: String,
        /// The command that adds the key.
        command: String,
        /// More to know, beginning with a separator, or empty.
        note: String,
    },
    /// The host is known with other keys.
    #[error(
        "the host key of {name} does not match: it offers {offered}, but recorded are \
         {recorded}; somebody may be listening in, or the host has a new key: ask the site, and only then replace the \
         recorded key (`ssh-keygen -R {quoted_name}` removes it)"
    )]
    HostKeyMismatch {
        /// The name as known_hosts files have it, escaped.
        name: String,
        /// The same, as a shell word.
        quoted_name: String,
        /// The offered key's type and fingerprint, as OpenSSH prints it.
        offered: String,
        /// Every recorded key: type, fingerprint, file and line.
        recorded: String,
    },
    /// The offered key is marked `@revoked`.
    #[error(
        "the host key that {name} offers ({offered}) is marked @revoked at {place}: do not connect; \
         ask the site which key its host has now"
    )]
    HostKeyRevoked {
        /// The name as known_hosts files have it, escaped.
        name: String,
        /// The offered key's type and fingerprint, as OpenSSH prints it.
        offered: String,
        /// File and line of the mark.
        place: String,
    },
    /// A new key could not be recorded.
    #[error("cannot add the host key to {}: {source}; make the file writable, or add the key yourself", shown(.file))]
    RecordHostKey {
        /// The known_hosts file that the key was to be added to.
        file: PathBuf,
        /// The operating system's error.
        source: std::io::Error,
    },
    /// A private key that others can read.
    #[error("the private key {} has mode {mode:04o}: others can read it, so it is not used; run `chmod 600` on it", shown(.file))]
    KeyPermissions {
        /// The private key file.
        file: PathBuf,
        /// The file's permission bits (`mode & 0o7777` of stat(2)).
        mode: u32,
    },
    /// An encrypted key, and no passphrase.
    #[error(
        "the private key {} is encrypted and there is no passphrase for it: load the key with ssh-add, give the \
         passphrase with --ssh-passphrase-fd N, or run on a terminal", shown(.file)
    )]
    PassphraseMissing {
        /// The private key file.
        file: PathBuf,
    },
    /// An encrypted key, and a wrong passphrase.
    #[error(
        "the passphrase does not open the private key {} (cipher {cipher}); check it with `ssh-keygen -y -f`, and \
         where that accepts it, encrypt the key anew with `ssh-keygen -p -f`",
        shown(.file)
    )]
    PassphraseWrong {
        /// The private key file.
        file: PathBuf,
        /// What the key is encrypted with.
        cipher: String,
    },
    /// The passphrase could not be read.
    #[error("cannot read the passphrase from {from}: {why}")]
    PassphraseRead {
        /// `file descriptor N` or `the terminal`.
        from: String,
        /// What happened and what to do.
        why: String,
    },
    /// A file that is no usable private key.
    #[error("the private key {} cannot be used: {why}", shown(.file))]
    KeyFormat {
        /// The private key file.
        file: PathBuf,
        /// Why the key cannot be used, and what to do.
        why: String,
    },
    /// The SSH agent could not be used.
    #[error("the SSH agent at {} cannot be used: {why}; check it with `ssh-add -l`", shown(.socket))]
    Agent {
        /// The agent's socket.
        socket: PathBuf,
        /// What failed between here and the agent.
        why: String,
    },
    /// There was nothing to log in with.
    #[error(
        "there is no key to log in to {place} with: {tried}; name a key with IdentityFile in the ssh config, or load \
         one with ssh-add"
    )]
    NoKeys {
        /// User, host and port, escaped.
        place: String,
        /// Where keys were looked for.
        tried: String,
    },
    /// The server refused every key.
    #[error(
        "{place} refused every key: {tried}; check the user name, that the public key is in the account's \
         authorized_keys; where the site asks for more than a key, such as a password, add --ssh-command ssh"
    )]
    Refused {
        /// User, host and port, escaped.
        place: String,
        /// Each key and its outcome.
        tried: String,
    },
    /// The server hung up while keys were tried.
    #[error(
        "{place} hung up during the login ({why}) after: {tried}; when the agent holds many keys, choose one with \
         IdentityFile and IdentitiesOnly yes"
    )]
    HungUp {
        /// User, host and port, escaped.
        place: String,
        /// libssh2's message.
        why: String,
        /// Each key and its outcome.
        tried: String,
    },
    /// A step took too long.
    #[error("{place} did not answer within {} s while {step}; check the host and the network", .after.as_secs_f64())]
    TimedOut {
        /// User, host and port, escaped.
        place: String,
        /// The step that took too long, as in `while logging in`.
        step: &'static str,
        /// The time that the step was given.
        after: Duration,
    },
    /// The server would not start the command.
    #[error("{place} would not run a command: {why}; check that the account may run commands (no ForceCommand, no sftp-only login)")]
    CommandRefused {
        /// User, host and port, escaped.
        place: String,
        /// libssh2's message.
        why: String,
    },
    /// The connection broke; it is opened again at the next call.
    #[error("the connection to {place} broke while {step}: {why}; it is opened again at the next call")]
    Broken {
        /// User, host and port, escaped.
        place: String,
        /// The step during which it broke, as in `while starting a command`.
        step: &'static str,
        /// libssh2's or the operating system's message.
        why: String,
    },
    /// The ssh program rejected its arguments or the config.
    #[error("`{program} -G` cannot read the configuration of {host}: {why}; correct it, or give another file with --ssh-config")]
    ProgramConfig {
        /// The program, escaped.
        program: String,
        /// The host as it was given, escaped.
        host: String,
        /// The end of what the program printed, escaped.
        why: String,
    },
    /// The ssh program gave no connection, or lost it.
    #[error("`{program}` has no connection to {place}: {why}; check with `{login}`")]
    Program {
        /// The program, escaped.
        program: String,
        /// User, host and port, escaped.
        place: String,
        /// The end of what the program printed, escaped.
        why: String,
        /// The command that logs in to the same place, escaped.
        login: String,
    },
    /// libssh2 could not be set up; memory or a build without a needed algorithm.
    #[error("libssh2 cannot {step}: {why}; this is a fault of this program or its build, please report it")]
    Library {
        /// What libssh2 was to do.
        step: &'static str,
        /// libssh2's message.
        why: String,
    },
}

impl SshError {
    /// Whether trying again later may help without anybody changing anything: the network or the
    /// server is away.
    pub fn is_temporary(&self) -> bool {
        matches!(
            self,
            Self::Resolve { .. }
                | Self::Connect { .. }
                | Self::Handshake { .. }
                | Self::TimedOut { .. }
                | Self::Broken { .. }
                | Self::HungUp { .. }
                | Self::Program { .. }
                | Self::Forward { away: true, .. }
        )
    }
}

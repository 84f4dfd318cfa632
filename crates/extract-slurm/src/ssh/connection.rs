//! One SSH connection: TCP (or the way through a jump host), handshake, host key, login, and
//! commands on it.
//!
//! In go a resolved [`HostConfig`] and scripts; out come their [`Output`]s. Every step has a
//! time-out. The host key is checked before anything secret is sent, at each connection anew. A
//! connection on which anything went wrong is not used again.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd};
use std::thread;
use std::time::{Duration, Instant};

use flowmine_schema::text::visible;
use ssh2::{BlockDirections, Channel, MethodType, Session};

use super::auth::{in_time, is_gone, is_timeout, log_in, said};
use super::config::HostConfig;
use super::jump::Way;
use super::known_hosts::{HostName, KnownHosts, PublicKey, Verdict, append, host_key_preference};
use super::passphrase::Passphrases;
use super::target::host_and_port;
use super::{HostKeyPolicy, SshError};
use crate::runner::{Output, RunError, STDERR_LIMIT, STDOUT_LIMIT, signal_number};

/// The time for each step of connecting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Finding the host's addresses, and connecting to each of them.
    pub connect: Duration,
    /// The SSH handshake with one host.
    pub handshake: Duration,
    /// Each exchange of the login; an agent may ask its user for a confirmation.
    pub login: Duration,
    /// Opening a channel and starting a command on it.
    pub start: Duration,
    /// The interval between signs of life on an idle connection.
    pub keepalive: Duration,
}

impl Default for Limits {
    /// 15 s each, 60 s for a login, a sign of life every 15 s.
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(15),
            handshake: Duration::from_secs(15),
            login: Duration::from_secs(60),
            start: Duration::from_secs(15),
            keepalive: Duration::from_secs(15),
        }
    }
}

/// Why a command gave no output, and whether the same command may be sent again.
pub(crate) struct Failure {
    /// Why the command gave no output.
    pub error: RunError,
    /// Whether the connection broke before the command had produced anything, so that trying again
    /// is harmless.
    pub again: bool,
}

/// An open SSH connection to one host.
pub(crate) struct Connection {
    session: Session,
    carrier: Carrier,
    place: String,
    limits: Limits,
}

/// What carries the connection's bytes: a TCP connection, or a way through a jump host.
enum Carrier {
    Tcp(TcpStream),
    Jump(Way),
}

impl Carrier {
    fn shut(&self) {
        let _ = match self {
            Self::Tcp(tcp) => tcp.shutdown(Shutdown::Both),
            Self::Jump(way) => way.socket.shutdown(Shutdown::Both),
        };
    }
}

/// One host of a route, and how to speak of it.
pub(crate) struct Hop {
    /// How to reach and log in to the host.
    pub host: HostConfig,
    /// User, host and port, for messages; with the host before it on the way.
    pub place: String,
    /// The `ssh` command that logs in to the host before it, for advice; none for a host that is
    /// reached directly.
    pub before: Option<String>,
}

impl Connection {
    /// Connects, checks the host key and logs in, from host to host along the route. Warnings of
    /// known_hosts files are added to `warnings`.
    pub fn open_route(
        route: &[Hop],
        policy: HostKeyPolicy,
        passphrases: &mut Passphrases,
        limits: Limits,
        warnings: &mut Vec<String>,
    ) -> Result<Self, SshError> {
        let mut last = None;
        for hop in route {
            last = Some(Self::open(hop, last, policy, passphrases, limits, warnings)?);
        }
        last.ok_or_else(|| SshError::Library { step: "connect", why: "there is no host".to_owned() })
    }

    fn open(
        hop: &Hop,
        jump: Option<Self>,
        policy: HostKeyPolicy,
        passphrases: &mut Passphrases,
        limits: Limits,
        warnings: &mut Vec<String>,
    ) -> Result<Self, SshError> {
        let Hop { host, place, .. } = hop;
        let library = |step| move |e: ssh2::Error| SshError::Library { step, why: said(&e) };
        let files: Vec<_> = host.user_known_hosts.iter().chain(&host.global_known_hosts).cloned().collect();
        let known = KnownHosts::load(&files)?;
        for warning in known.warnings() {
            if !warnings.contains(warning) {
                warnings.push(warning.clone());
            }
        }
        let name = match &host.host_key_alias {
            Some(alias) => HostName::alias(alias),
            None => HostName::new(&host.host_name, host.port),
        };

        let address = host_and_port(&host.host_name, host.port);
        let limit = host.connect_timeout.unwrap_or(limits.connect);
        let spare_handle =
            |source: std::io::Error| SshError::Connect { place: address.clone(), why: visible(&source.to_string()).into_owned() };
        let mut session = Session::new().map_err(library("start a session"))?;
        let carrier = match jump {
            None => {
                let tcp = connect(host, limit)?;
                // Small packets go at once: each command waits for its answer.
                tcp.set_nodelay(true).map_err(spare_handle)?;
                session.set_tcp_stream(tcp.try_clone().map_err(spare_handle)?);
                Carrier::Tcp(tcp)
            }
            Some(jump) => {
                let way = Way::open(jump, &host.host_name, host.port, &address, limit)?;
                session.set_tcp_stream(way.socket.try_clone().map_err(spare_handle)?);
                Carrier::Jump(way)
            }
        };
        session
            .method_pref(MethodType::HostKey, &host_key_preference(&known.key_types(&name)))
            .map_err(library("set the host key algorithms"))?;
        // From here on every way out shuts the socket down first, so that freeing the session cannot wait for the server.
        let connection = Self { session, carrier, place: place.to_owned(), limits };
        connection.session.set_timeout(milliseconds(limits.handshake));
        let too_slow = || SshError::TimedOut { place: address.clone(), step: "shaking hands", after: limits.handshake };
        // libssh2 looks at the clock only while nothing comes in; a server that never stops talking needs a second clock.
        let mut other = connection.session.clone();
        match in_time(limits.handshake.saturating_mul(2), move || other.handshake()) {
            Some(Ok(())) => {}
            Some(Err(error)) if !is_timeout(&error) => {
                return Err(SshError::Handshake { why: connection.why(said(&error)), place: address });
            }
            Some(Err(_)) | None => return Err(too_slow()),
        }
        connection.check_host_key(hop, &known, &name, policy)?;
        connection.session.set_timeout(milliseconds(limits.login));
        log_in(&connection.session, host, place, passphrases, limits.login).map_err(|error| match error {
            SshError::HungUp { place, why, tried } => SshError::HungUp { place, why: connection.why(why), tried },
            other => other,
        })?;
        // Without asking for an answer: libssh2 keeps each one for ever, and TCP notices a dead peer as well.
        connection.session.set_keepalive(false, u32::try_from(limits.keepalive.as_secs()).unwrap_or(15).max(1));
        Ok(connection)
    }

    /// The session, for who opens channels of another kind on it.
    pub(super) fn session(&self) -> &Session {
        &self.session
    }

    /// User, host and port, for messages.
    pub(super) fn place(&self) -> &str {
        &self.place
    }

    /// The interval between signs of life.
    pub(super) fn keepalive(&self) -> Duration {
        self.limits.keepalive
    }

    /// The socket, to wait for.
    pub(super) fn carrier(&self) -> BorrowedFd<'_> {
        match &self.carrier {
            Carrier::Tcp(tcp) => tcp.as_fd(),
            Carrier::Jump(way) => way.socket.as_fd(),
        }
    }

    /// Shuts the socket, so that nothing waits for the server any more.
    pub(super) fn shut(&self) {
        self.carrier.shut();
    }

    /// What broke the connection: the jump host's trouble, where it has any, or else what libssh2
    /// saw of it.
    pub(super) fn why(&self, seen: String) -> String {
        match &self.carrier {
            Carrier::Jump(way) => way.trouble().unwrap_or(seen),
            Carrier::Tcp(_) => seen,
        }
    }

    fn check_host_key(&self, hop: &Hop, known: &KnownHosts, name: &HostName, policy: HostKeyPolicy) -> Result<(), SshError> {
        let host = &hop.host;
        let offered = self.session.host_key().and_then(|(blob, _)| PublicKey::from_blob(blob));
        let Some(offered) = offered else {
            let place = host_and_port(&host.host_name, host.port);
            return Err(SshError::Handshake { place, why: "it showed no host key".to_owned() });
        };
        let shown_name = visible(&name.main).into_owned();
        let shown_key = offered.to_string();
        match known.check(name, &offered) {
            Verdict::Known => Ok(()),
            Verdict::Revoked(entry) => {
                Err(SshError::HostKeyRevoked { name: shown_name, offered: shown_key, place: entry.place.to_string() })
            }
            Verdict::Mismatch(recorded) => {
                let recorded: Vec<String> = recorded.iter().map(|e| format!("{} ({})", e.key, e.place)).collect();
                Err(SshError::HostKeyMismatch {
                    quoted_name: shell_word(&shown_name),
                    name: shown_name,
                    offered: shown_key,
                    recorded: recorded.join(" and "),
                })
            }
            Verdict::Unknown(authorities) => {
                let first = host.user_known_hosts.first();
                if policy == HostKeyPolicy::AcceptNew
                    && let Some(file) = first
                {
                    return append(file, known, name, &offered);
                }
                let file = first.map_or_else(|| "~/.ssh/known_hosts".to_owned(), |f| visible(&f.to_string_lossy()).into_owned());
                let scan = keyscan_command(hop, &file);
                let mut note = String::new();
                if let Some(authority) = authorities.first() {
                    note = format!(" (certificates are not supported: the @cert-authority line at {} does not count)", authority.place);
                }
                if host.host_key_alias.is_some() {
                    note.push_str(&format!("; the line must begin with the HostKeyAlias {shown_name}"));
                }
                Err(SshError::UnknownHost { name: shown_name, offered: shown_key, command: scan, note })
            }
        }
    }

    /// Runs one command line and waits for its end.
    pub fn run(&mut self, command: &str, stdin: &[u8], timeout: Duration) -> Result<Output, Failure> {
        let result = self.exchange(command, stdin, timeout);
        if result.is_err() {
            // Whoever drops this connection must not wait for a packet that is half sent.
            self.session.set_blocking(false);
        }
        result
    }

    fn exchange(&mut self, command: &str, stdin: &[u8], timeout: Duration) -> Result<Output, Failure> {
        let deadline = Instant::now() + timeout;
        let channel = self.start(command, timeout)?;
        let mut exchange = Exchange { connection: self, channel, output: Collected::default(), timeout, deadline };
        exchange.transfer(stdin)?;
        exchange.finish()
    }

    /// Opens a channel and starts the command.
    fn start(&mut self, command: &str, timeout: Duration) -> Result<Channel, Failure> {
        let limit = self.limits.start.min(timeout);
        self.session.set_blocking(true);
        self.session.set_timeout(milliseconds(limit));
        let started = self.session.channel_session().and_then(|mut channel| channel.exec(command).map(|()| channel));
        started.map_err(|error| {
            // Nothing has run: whatever broke the connection, the command can be sent again.
            let again = is_gone(&error) || is_timeout(&error);
            let place = self.place.clone();
            let error = if is_timeout(&error) {
                SshError::TimedOut { place, step: "starting a command", after: limit }
            } else if again {
                SshError::Broken { place, step: "starting a command", why: self.why(said(&error)) }
            } else {
                SshError::CommandRefused { place, why: said(&error) }
            };
            Failure { error: error.into(), again }
        })
    }

    /// Shows the server, and whatever stands between, that we are there. False when the connection
    /// is gone.
    ///
    /// A server that asks the same of us (ClientAliveInterval) takes any packet for an answer; its
    /// questions are read with the next command.
    pub fn keep_alive(&mut self) -> bool {
        self.session.set_blocking(false);
        self.session.keepalive_send().is_ok()
    }

    /// Says goodbye, as long as that is quick.
    pub fn close(self) {
        self.session.set_blocking(true);
        self.session.set_timeout(500);
        let _ = self.session.disconnect(None, "done", None);
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // Freeing a channel waits for the server's answer, except on a socket that is shut.
        self.carrier.shut();
    }
}

#[derive(Default)]
struct Collected {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

/// One command that runs, and what it has written so far.
struct Exchange<'a> {
    connection: &'a Connection,
    channel: Channel,
    output: Collected,
    timeout: Duration,
    deadline: Instant,
}

/// The longest wait between two looks at what has come in.
const STEP: Duration = Duration::from_millis(250);
/// libssh2's LIBSSH2_ERROR_CHANNEL_WINDOW_FULL.
const WINDOW_FULL: i32 = -47;

impl Exchange<'_> {
    /// Writes standard input and reads both streams until the command has closed them.
    ///
    /// Both streams share one window: a reader of only one of them would wait forever once the
    /// other has filled it. So reading alternates, without blocking. A packet that was sent in part
    /// must be finished before another begins, which decides the side that continues after an
    /// "again".
    fn transfer(&mut self, stdin: &[u8]) -> Result<(), Failure> {
        let mut rest = stdin;
        let mut told_end = false;
        // Who has a packet half sent: the reading side (it widens the window) or the writing side.
        let (mut read_pending, mut write_pending) = (false, false);
        let mut pause = Duration::from_micros(500);
        loop {
            self.connection.session.set_blocking(false);
            let mut progress = false;
            if !write_pending {
                let before = self.received();
                read_pending = self.read_what_is_there()?;
                progress |= self.received() > before;
                // The end may come before all input is taken: a command need not read it.
                if self.channel.eof() {
                    return Ok(());
                }
            }
            if !read_pending && !told_end {
                let sent = if rest.is_empty() {
                    self.channel.send_eof().map(|()| told_end = true).map_err(std::io::Error::from)
                } else {
                    self.channel.write(rest).map(|n| {
                        progress |= n > 0;
                        rest = &rest[n..];
                    })
                };
                match sent {
                    Ok(()) => write_pending = false,
                    Err(error) if error.kind() == ErrorKind::WouldBlock => write_pending = self.half_sent(),
                    Err(error) => return Err(self.broken("sending input", &error)),
                }
                progress |= told_end;
            }
            if Instant::now() >= self.deadline {
                return Err(self.timed_out());
            }
            if progress {
                pause = Duration::from_micros(500);
                continue;
            }
            if told_end && !read_pending {
                self.wait_for_end()?;
            } else {
                // The server takes no more input for now; it will once the command has read some.
                thread::sleep(pause);
                pause = (pause * 2).min(Duration::from_millis(10));
            }
        }
    }

    fn received(&self) -> usize {
        self.output.stdout.len() + self.output.stderr.len()
    }

    fn half_sent(&self) -> bool {
        matches!(self.connection.session.block_directions(), BlockDirections::Outbound | BlockDirections::Both)
    }

    /// Takes in both streams until nothing is left for now. True when a packet that widens the
    /// window is half sent.
    fn read_what_is_there(&mut self) -> Result<bool, Failure> {
        let mut buffer = vec![0; 128 << 10];
        for id in [0, ssh2::EXTENDED_DATA_STDERR] {
            let mut stream = self.channel.stream(id);
            loop {
                match stream.read(&mut buffer) {
                    Ok(0) => break,
                    Ok(n) => {
                        let (bytes, name, limit) = match id {
                            0 => (&mut self.output.stdout, "standard output", STDOUT_LIMIT),
                            _ => (&mut self.output.stderr, "standard error", STDERR_LIMIT),
                        };
                        if bytes.len() + n > limit {
                            let place = self.connection.place.clone();
                            let error = RunError::TooMuchOutput { place, stream: name, limit };
                            return Err(Failure { error, again: false });
                        }
                        bytes.extend_from_slice(&buffer[..n]);
                        // A command that never stops talking must not keep us from looking at the clock.
                        if Instant::now() >= self.deadline {
                            return Err(self.timed_out());
                        }
                    }
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {
                        if self.half_sent() {
                            return Ok(true);
                        }
                        break;
                    }
                    Err(error) => return Err(self.broken("reading output", &error)),
                }
            }
        }
        Ok(false)
    }

    /// Sleeps until the command has closed its output, the window is full or a step has passed.
    fn wait_for_end(&mut self) -> Result<(), Failure> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        self.connection.session.set_blocking(true);
        self.connection.session.set_timeout(milliseconds(left.min(STEP)));
        match self.channel.wait_eof() {
            Ok(()) => Ok(()),
            Err(error) if is_timeout(&error) || matches!(error.code(), ssh2::ErrorCode::Session(WINDOW_FULL)) => Ok(()),
            Err(error) => Err(self.broken("waiting for output", &error.into())),
        }
    }

    /// Waits for the exit status, after both streams are at their end.
    fn finish(mut self) -> Result<Output, Failure> {
        self.connection.session.set_blocking(true);
        loop {
            let left = self.deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(self.timed_out());
            }
            self.connection.session.set_timeout(milliseconds(left.min(STEP)));
            match self.channel.wait_close() {
                Ok(()) => break,
                Err(error) if is_timeout(&error) => {}
                Err(error) => return Err(self.broken("waiting for the exit status", &error.into())),
            }
        }
        let failed = |exchange: &Self, error: ssh2::Error| exchange.broken("reading the exit status", &error.into());
        let signal = self.channel.exit_signal().map_err(|e| failed(&self, e))?.exit_signal;
        let status = self.channel.exit_status().map_err(|e| failed(&self, e))?;
        // The server has closed the channel; our own close needs no answer.
        let _ = self.channel.close();
        let signal = signal.map(|s| visible(&s).into_owned());
        // A command that a signal ended has exit status 0 in libssh2.
        let status = match &signal {
            Some(name) => signal_number(name).map_or(255, |n| 128 + n),
            None => status,
        };
        Ok(Output { stdout: self.output.stdout, stderr: self.output.stderr, status, signal })
    }

    fn timed_out(&self) -> Failure {
        let error = RunError::TimedOut { place: self.connection.place.clone(), after: self.timeout };
        Failure { error, again: false }
    }

    fn broken(&self, step: &'static str, error: &std::io::Error) -> Failure {
        let place = self.connection.place.clone();
        let error = SshError::Broken { place, step, why: self.connection.why(visible(&error.to_string()).into_owned()) };
        // What arrived together with the end of the connection waits in libssh2 and cannot be read any more.
        let nothing = self.received() == 0 && self.channel.read_window().available == 0;
        Failure { error: error.into(), again: nothing }
    }
}

/// Finds the host's addresses and connects to the first that answers.
fn connect(host: &HostConfig, limit: Duration) -> Result<TcpStream, SshError> {
    let shown = visible(&host.host_name).into_owned();
    let name = (host.host_name.clone(), host.port);
    let resolved = in_time(limit, move || name.to_socket_addrs().map(Iterator::collect::<Vec<SocketAddr>>));
    let addresses = match resolved {
        Some(Ok(addresses)) if !addresses.is_empty() => addresses,
        Some(Ok(_)) => return Err(SshError::Resolve { host: shown, why: "it has none".to_owned() }),
        Some(Err(error)) => {
            return Err(SshError::Resolve { host: shown, why: visible(&error.to_string()).into_owned() });
        }
        None => {
            return Err(SshError::TimedOut { place: shown, step: "looking for its address", after: limit });
        }
    };
    let mut failures = Vec::new();
    for address in addresses {
        match TcpStream::connect_timeout(&address, limit) {
            Ok(tcp) => return Ok(tcp),
            Err(error) => failures.push(format!("{}: {error}", address.ip())),
        }
    }
    Err(SshError::Connect { place: host_and_port(&host.host_name, host.port), why: failures.join(", ") })
}

/// A time-out as libssh2 wants it, where 0 would mean none.
pub(super) fn milliseconds(time: Duration) -> u32 {
    u32::try_from(time.as_millis()).unwrap_or(u32::MAX).clamp(1, i32::MAX as u32)
}

/// The command that records a host's keys; behind jump hosts it runs on the last of them.
fn keyscan_command(hop: &Hop, file: &str) -> String {
    let host = &hop.host;
    let name = shell_word(&visible(&host.host_name));
    let port = if host.port == 22 { String::new() } else { format!("-p {} ", host.port) };
    let before = hop.before.as_ref().map_or_else(String::new, |ssh| format!("{ssh} "));
    format!("{before}ssh-keyscan {port}{name} >> {}", if file.starts_with("~/") { file.to_owned() } else { shell_word(file) })
}

/// A word that a person can paste into a shell: as it is where that is safe, else in single quotes.
pub(super) fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-/:@%+=,".contains(c);
    if !text.is_empty() && !text.starts_with('-') && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_for_a_shell() {
        assert_eq!(shell_word("login.example.org"), "login.example.org");
        assert_eq!(shell_word("[login]:2222"), "'[login]:2222'");
        assert_eq!(shell_word("a'b $(x)"), r"'a'\''b $(x)'");
        assert_eq!(shell_word("-x"), "'-x'");
        assert_eq!(shell_word(""), "''");
    }

    #[test]
    fn a_time_out_is_never_nothing() {
        assert_eq!(milliseconds(Duration::ZERO), 1);
        assert_eq!(milliseconds(Duration::from_millis(250)), 250);
        assert_eq!(milliseconds(Duration::from_secs(u64::MAX)), i32::MAX as u32);
    }
}

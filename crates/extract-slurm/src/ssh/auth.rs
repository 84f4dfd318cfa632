//! Logging in with public keys: the agent's first, then key files.
//!
//! The input is a connection with an accepted host key, and the settings of the config; the output
//! is a logged-in connection, or an error that lists each key and its outcome. Passwords,
//! keyboard-interactive logins and certificates are not supported.

use std::sync::mpsc;
use std::time::Duration;

use flowmine_schema::text::visible;
use ssh2::{Agent, ErrorCode, Session};

use super::SshError;
use super::config::{AgentSocket, HostConfig};
use super::error::shown;
use super::key_file::{KeyFile, KeyFormat};
use super::known_hosts::PublicKey;
use super::passphrase::Passphrases;

/// libssh2's codes for a connection that is gone: BANNER_RECV, INVALID_MAC, SOCKET_SEND, DECRYPT,
/// SOCKET_DISCONNECT, PROTO, SOCKET_TIMEOUT, SOCKET_RECV, ENCRYPT, BAD_SOCKET.
const GONE: [i32; 10] = [-2, -4, -7, -12, -13, -14, -30, -43, -44, -45];
/// libssh2's LIBSSH2_ERROR_TIMEOUT.
const TIMEOUT: i32 = -9;

pub(crate) fn is_gone(error: &ssh2::Error) -> bool {
    matches!(error.code(), ErrorCode::Session(code) if GONE.contains(&code))
}

pub(crate) fn is_timeout(error: &ssh2::Error) -> bool {
    matches!(error.code(), ErrorCode::Session(TIMEOUT))
}

/// What a failed attempt with one key means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    /// The server does not want this key.
    Refused,
    /// The server took the key and the signature, and still did not let us in.
    WantsMore,
    /// The connection was closed during the attempt.
    Gone,
    /// There was no answer in time.
    TimedOut,
    /// The attempt failed on this side: key file, passphrase, agent.
    Here,
}

/// libssh2 reports a refusal, a connection that closed and a signature that could not be made with
/// the same two codes, LIBSSH2_ERROR_AUTHENTICATION_FAILED and LIBSSH2_ERROR_PUBLICKEY_UNVERIFIED;
/// its message distinguishes them.
fn judge(error: &ssh2::Error) -> Answer {
    match error.code() {
        _ if is_timeout(error) => Answer::TimedOut,
        _ if is_gone(error) => Answer::Gone,
        ErrorCode::Session(-18 | -19) => match error.message() {
            m if m.starts_with("Waiting for") => Answer::Gone,
            m if m.starts_with("Callback") || m.starts_with("Invalid public key") => Answer::Here,
            m if m.starts_with("Invalid signature") => Answer::WantsMore,
            _ => Answer::Refused,
        },
        _ => Answer::Here,
    }
}

/// What libssh2 said, safe for a terminal.
pub(crate) fn said(error: &ssh2::Error) -> String {
    visible(error.message()).into_owned()
}

/// Does something that has no time-out of its own in a thread, which is left behind when time is
/// up. Where the system gives no thread the work takes its time.
pub(crate) fn in_time<T: Send + 'static>(limit: Duration, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (sender, receiver) = mpsc::channel();
    let work = move || {
        let _ = sender.send(work());
    };
    if let Err(work) = flowmine_threads::apart(work) {
        work();
    }
    receiver.recv_timeout(limit).ok()
}

/// Logs in. `limit` is the time for each exchange with the server or the agent.
pub(crate) fn log_in(
    session: &Session,
    host: &HostConfig,
    place: &str,
    passphrases: &mut Passphrases,
    limit: Duration,
) -> Result<(), SshError> {
    let mut login = Login { session, host, place, limit, tried: Vec::new(), problems: Vec::new(), refused: Vec::new() };
    let files = login.read_files();
    if login.with_agent(&files)? || login.with_files(&files, passphrases)? {
        return Ok(());
    }
    Err(login.failure(&files))
}

struct Login<'a> {
    session: &'a Session,
    host: &'a HostConfig,
    place: &'a str,
    limit: Duration,
    /// Each key and its outcome, for messages.
    tried: Vec<String>,
    /// What kept keys that the user named from being tried.
    problems: Vec<SshError>,
    /// Public keys that the server refused; a file with the same key need not be opened.
    refused: Vec<PublicKey>,
}

impl Login<'_> {
    fn read_files(&mut self) -> Vec<KeyFile> {
        let mut files = Vec::new();
        for identity in &self.host.identity_files {
            match KeyFile::read(&identity.path) {
                Ok(Some(file)) => files.push(file),
                Ok(None) if identity.named => self.tried.push(format!("there is no file {}", shown(&identity.path))),
                Ok(None) => {}
                Err(problem) => self.note(problem),
            }
        }
        files
    }

    fn note(&mut self, problem: SshError) {
        self.tried.push(problem.to_string());
        self.problems.push(problem);
    }

    /// Tries the agent's keys: those that the config names first, because servers count attempts.
    fn with_agent(&mut self, files: &[KeyFile]) -> Result<bool, SshError> {
        let AgentSocket::Path(socket) = &self.host.agent else { return Ok(false) };
        let failed = |why: String| SshError::Agent { socket: socket.clone(), why };
        let limit = self.limit;
        let too_slow = || failed(format!("no answer within {} s", limit.as_secs()));
        let (session, path) = (self.session.clone(), socket.clone());
        let listed = in_time(limit, move || -> Result<_, ssh2::Error> {
            let mut agent = session.agent()?;
            agent.set_identity_path(&path)?;
            agent.connect()?;
            agent.list_identities()?;
            let identities = agent.identities()?;
            Ok((agent, identities))
        });
        let (mut agent, identities) = match listed {
            Some(Ok(listed)) => listed,
            Some(Err(error)) => {
                self.note(failed(said(&error)));
                return Ok(false);
            }
            // The thread still holds the session's lock: there is no going on with this connection.
            None => return Err(too_slow()),
        };
        let named = |blob: &[u8]| files.iter().position(|f| f.public().is_some_and(|k| k.blob() == blob));
        let mut order: Vec<_> = identities
            .into_iter()
            .map(|identity| (named(identity.blob()).unwrap_or(usize::MAX), identity))
            .filter(|(rank, _)| !self.host.identities_only || *rank != usize::MAX)
            .collect();
        order.sort_by_key(|(rank, _)| *rank);
        if order.is_empty() {
            self.tried.push(format!("the agent at {} holds no key for this", shown(socket)));
        }
        for (_, identity) in order {
            let public = PublicKey::from_blob(identity.blob());
            let what = format!(
                "the agent's key {} ({})",
                visible(identity.comment()),
                public.as_ref().map_or_else(|| "of an unknown type".to_owned(), |k| format!("{} {}", k.family(), k.fingerprint()))
            );
            let user = self.host.user.clone();
            // The agent may ask its user for a confirmation, in its own time.
            let done = in_time(limit, move || -> (Agent, Result<(), ssh2::Error>) {
                let result = agent.userauth(&user, &identity);
                (agent, result)
            });
            let Some((same_agent, result)) = done else { return Err(too_slow()) };
            agent = same_agent;
            match result {
                Ok(()) => return Ok(true),
                Err(error) => match judge(&error) {
                    answer @ (Answer::Refused | Answer::WantsMore) => self.no(what, answer, public),
                    Answer::Here => self.note(failed(format!("{what}: {}", said(&error)))),
                    answer => return Err(self.gone(answer, &error)),
                },
            }
        }
        Ok(false)
    }

    fn with_files(&mut self, files: &[KeyFile], passphrases: &mut Passphrases) -> Result<bool, SshError> {
        for file in files {
            let KeyFormat::Private { cipher, public } = &file.kind else {
                self.tried.push(format!("{} is only a public key and the agent does not hold it", shown(&file.path)));
                continue;
            };
            if public.as_ref().is_some_and(|key| self.refused.contains(key)) {
                continue;
            }
            if let Err(problem) = file.check_permissions() {
                self.note(problem);
                continue;
            }
            let attempts = if cipher.is_some() { passphrases.attempts() } else { 1 };
            for attempt in 1..=attempts {
                let passphrase = match cipher {
                    Some(_) => match passphrases.get(&file.path)? {
                        Some(passphrase) => Some(passphrase),
                        None => {
                            self.note(SshError::PassphraseMissing { file: file.path.clone() });
                            break;
                        }
                    },
                    None => None,
                };
                let result = self.session.userauth_pubkey_memory(&self.host.user, None, &file.text, passphrase.as_deref());
                let Err(error) = result else { return Ok(true) };
                match judge(&error) {
                    answer @ (Answer::Refused | Answer::WantsMore) => {
                        self.no(format!("the key {}", shown(&file.path)), answer, public.clone());
                        break;
                    }
                    Answer::Here => {}
                    answer => return Err(self.gone(answer, &error)),
                }
                let Some(cipher) = cipher else {
                    let why = format!("{}; make a new one with `ssh-keygen -t ed25519`", said(&error));
                    self.note(SshError::KeyFormat { file: file.path.clone(), why });
                    break;
                };
                passphrases.forget(&file.path);
                if attempt == attempts {
                    self.note(SshError::PassphraseWrong { file: file.path.clone(), cipher: cipher.clone() });
                }
            }
        }
        Ok(false)
    }

    /// The server said no to a key.
    fn no(&mut self, what: String, answer: Answer, public: Option<PublicKey>) {
        self.tried.push(match answer {
            Answer::WantsMore => format!("{what} was accepted, but the server wants more than this key"),
            _ => format!("{what} was refused"),
        });
        self.refused.extend(public);
    }

    /// The error for a connection that is gone, on which no further key can be tried.
    fn gone(&self, answer: Answer, error: &ssh2::Error) -> SshError {
        let place = self.place.to_owned();
        if answer == Answer::TimedOut {
            return SshError::TimedOut { place, step: "logging in", after: self.limit };
        }
        let tried = if self.tried.is_empty() { "no key yet".to_owned() } else { self.tried.join("; ") };
        SshError::HungUp { place, why: said(error), tried }
    }

    fn failure(mut self, files: &[KeyFile]) -> SshError {
        let place = self.place.to_owned();
        // One key, one problem: that is the message.
        if self.tried.len() == 1 && self.problems.len() == 1 {
            return self.problems.remove(0);
        }
        if self.tried.is_empty() && files.is_empty() {
            let looked: Vec<String> = self.host.identity_files.iter().map(|f| shown(&f.path)).collect();
            let agent = match &self.host.agent {
                AgentSocket::None => "no agent",
                AgentSocket::Path(_) => "an agent without keys",
            };
            let tried = match &looked[..] {
                [] => format!("{agent} and no key file"),
                looked => format!("{agent}, and none of the files {} exists", looked.join(", ")),
            };
            return SshError::NoKeys { place, tried };
        }
        SshError::Refused { place, tried: self.tried.join("; ") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_code_means_different_things() {
        let judged = |code, message| judge(&ssh2::Error::new(ErrorCode::Session(code), message));
        assert_eq!(judged(-18, "Username/PublicKey combination invalid"), Answer::Refused);
        assert_eq!(judged(-19, "Waiting for USERAUTH response"), Answer::Gone);
        assert_eq!(judged(-19, "Callback returned error"), Answer::Here);
        assert_eq!(judged(-19, "Invalid signature for supplied public key, or bad"), Answer::WantsMore);
        assert_eq!(judged(-43, ""), Answer::Gone);
        assert_eq!(judged(-9, ""), Answer::TimedOut);
        assert_eq!(judged(-16, "Unable to open private key file"), Answer::Here);
    }

    #[test]
    fn work_that_does_not_end_is_left_behind() {
        assert_eq!(in_time(Duration::from_secs(60), || 7), Some(7));
        let (_keep, never) = mpsc::channel::<()>();
        assert_eq!(in_time(Duration::from_millis(20), move || never.recv().is_ok()), None);
    }
}

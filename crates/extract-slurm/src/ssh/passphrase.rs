//! The passphrase of an encrypted key: from the terminal or from a file descriptor, never from an
//! argument.
//!
//! What was read is kept for reconnects, in memory only. Nothing here prints a passphrase, in
//! `Debug` neither.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use flowmine_files::kernel;
use flowmine_schema::text::visible;

use super::SshError;
use super::auth::in_time;

/// How long a file descriptor may take to give a line; a password manager may ask its user first.
const FD_PATIENCE: Duration = Duration::from_secs(60);
/// A passphrase is shorter than this many bytes.
const MAX_BYTES: usize = 4096;

/// Where the passphrases of encrypted private keys come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PassphraseSource {
    /// Asked on the terminal, where there is one; else like [`PassphraseSource::None`].
    #[default]
    Terminal,
    /// The first line of this file descriptor, for every encrypted key.
    Fd(i32),
    /// There is none: encrypted keys are passed over.
    None,
}

/// Reads passphrases once and keeps them.
pub(crate) struct Passphrases {
    source: PassphraseSource,
    from_fd: Option<String>,
    typed: BTreeMap<PathBuf, String>,
}

impl fmt::Debug for Passphrases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Passphrases").field("source", &self.source).finish_non_exhaustive()
    }
}

impl Passphrases {
    pub fn new(source: PassphraseSource) -> Self {
        Self { source, from_fd: None, typed: BTreeMap::new() }
    }

    /// How often one key may be tried: a person may mistype, a file descriptor says the same again.
    pub fn attempts(&self) -> usize {
        if self.source == PassphraseSource::Terminal { 3 } else { 1 }
    }

    /// The passphrase for a key file, or none where there is no source for it.
    pub fn get(&mut self, key: &Path) -> Result<Option<String>, SshError> {
        match self.source {
            PassphraseSource::None => Ok(None),
            PassphraseSource::Fd(fd) => {
                if self.from_fd.is_none() {
                    self.from_fd =
                        Some(read_fd(fd).map_err(|why| SshError::PassphraseRead { from: format!("file descriptor {fd}"), why })?);
                }
                Ok(self.from_fd.clone())
            }
            PassphraseSource::Terminal => {
                if let Some(known) = self.typed.get(key) {
                    return Ok(Some(known.clone()));
                }
                // A job of cron has no terminal, and one in the background must not stop to ask.
                if !(std::io::stdin().is_terminal() || std::io::stderr().is_terminal()) || !has_terminal() {
                    return Ok(None);
                }
                let prompt = format!("Passphrase for {}: ", visible(&key.to_string_lossy()));
                let typed = rpassword::prompt_password(prompt).map_err(|error| SshError::PassphraseRead {
                    from: "the terminal".to_owned(),
                    why: format!("{error}; use --ssh-passphrase-fd N or ssh-add"),
                })?;
                self.typed.insert(key.to_owned(), typed.clone());
                Ok(Some(typed))
            }
        }
    }

    /// Forgets a typed passphrase that did not open its key.
    pub fn forget(&mut self, key: &Path) {
        self.typed.remove(key);
    }
}

#[expect(clippy::disallowed_methods, reason = "the terminal is a device")]
fn has_terminal() -> bool {
    std::fs::File::open("/dev/tty").is_ok()
}

fn read_fd(fd: i32) -> Result<String, String> {
    if fd < 0 {
        return Err("a file descriptor is not negative; write for example `--ssh-passphrase-fd 3 3<FILE`".to_owned());
    }
    // Neither opening a pipe nor reading it has a time-out.
    let read = in_time(FD_PATIENCE, move || {
        kernel::open(format!("/proc/self/fd/{fd}")).or_else(|_| kernel::open(format!("/dev/fd/{fd}"))).and_then(read_line)
    });
    match read {
        None => Err(format!("no line came within {} s", FD_PATIENCE.as_secs())),
        Some(Err(error)) => Err(format!("{error}; is it open? Write for example `--ssh-passphrase-fd {fd} {fd}<FILE`")),
        Some(Ok(line)) if line.is_empty() => Err("its first line is empty".to_owned()),
        Some(Ok(line)) => {
            let line = String::from_utf8(line).map_err(|_| "its first line is not UTF-8".to_owned())?;
            if line.contains('\0') {
                return Err("its first line holds a NUL byte".to_owned());
            }
            Ok(line)
        }
    }
}

/// The bytes up to the first newline. One byte a call, so that what follows stays in the pipe for
/// whoever wants it.
fn read_line(mut from: impl Read) -> std::io::Result<Vec<u8>> {
    let mut line = Vec::new();
    let mut byte = [0];
    while line.len() < MAX_BYTES && from.read(&mut byte)? == 1 && byte[0] != b'\n' {
        line.push(byte[0]);
    }
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Seek, Write};
    use std::os::fd::AsRawFd;

    #[test]
    fn first_line_only() {
        assert_eq!(read_line(&b"secret\nmore\n"[..]).unwrap(), b"secret");
        assert_eq!(read_line(&b"a b \r\n"[..]).unwrap(), b"a b ");
        assert_eq!(read_line(&b"no end"[..]).unwrap(), b"no end");
        assert_eq!(read_line(&b""[..]).unwrap(), b"");
    }

    #[test]
    fn file_descriptor_is_read_once_and_kept() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"secret\n").unwrap();
        file.rewind().unwrap();
        let mut passphrases = Passphrases::new(PassphraseSource::Fd(file.as_raw_fd()));
        assert_eq!(passphrases.get(Path::new("a")).unwrap().as_deref(), Some("secret"));
        drop(file);
        assert_eq!(passphrases.get(Path::new("b")).unwrap().as_deref(), Some("secret"));
        assert!(!format!("{passphrases:?}").contains("secret"));
    }

    #[test]
    fn bad_file_descriptors_are_errors() {
        for fd in [-1, 987_654] {
            let failure = Passphrases::new(PassphraseSource::Fd(fd)).get(Path::new("a")).unwrap_err().to_string();
            assert!(failure.contains(&format!("file descriptor {fd}")), "{failure}");
        }
        assert_eq!(Passphrases::new(PassphraseSource::None).get(Path::new("a")).unwrap(), None);
    }
}

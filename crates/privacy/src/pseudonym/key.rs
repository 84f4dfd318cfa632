//! Key files.
//!
//! In goes a path; out come its bytes, as they are. Refused is what protects nothing: fewer than
//! [`SHORTEST`] bytes, or the same byte over and over; and what is no key but a mistake: more than
//! [`LONGEST`] bytes. A file that others can read is reported, not refused, since on some file
//! systems the mode bits say nothing.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The fewest bytes of a key: 128 bits, more than anybody can try.
pub const SHORTEST: usize = 16;
/// The most bytes of a key file.
pub const LONGEST: usize = 1 << 20;

/// Why there are no pseudonyms.
#[derive(Debug, thiserror::Error)]
pub enum PseudonymError {
    /// The key file could not be read.
    #[error("the key file {}: {source}", .path.display())]
    Read {
        /// Path of the key file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The key file has too few bytes, or none.
    #[error(
        "the key file {} holds {length} bytes; a key has at least {SHORTEST}: make one with `(umask 077; head -c 32 /dev/urandom > key)`",
        .path.display()
    )]
    Short {
        /// Path of the key file.
        path: PathBuf,
        /// How many bytes there are.
        length: usize,
    },
    /// The file holds the same byte over and over, which is no key.
    #[error("the key file {} holds one byte over and over: make a key with `(umask 077; head -c 32 /dev/urandom > key)`", .path.display())]
    Monotonous {
        /// Path of the key file.
        path: PathBuf,
    },
    /// No key has that many bytes.
    #[error("the key file {} holds more than {LONGEST} bytes: is it a key?", .path.display())]
    Long {
        /// Path of the key file.
        path: PathBuf,
    },
}

/// Something about a key file that its owner should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyFileWarning {
    /// Path of the key file.
    pub path: PathBuf,
    /// The file's permission bits (chmod(2)).
    pub mode: u32,
}

impl std::fmt::Display for KeyFileWarning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let path = self.path.display();
        write!(f, "the key file {path} can be read by others (mode {:04o}), who could undo the pseudonyms: chmod 600 {path}", self.mode)
    }
}

/// Reads the key from a file, with a warning when others can read the file.
pub(super) fn read(path: &Path) -> Result<(Vec<u8>, Option<KeyFileWarning>), PseudonymError> {
    let failed = |source| PseudonymError::Read { path: path.to_owned(), source };
    let file = flowmine_files::open_given(path).map_err(|error| failed(error.into()))?;
    let warning = readable_by_others(path, &file.metadata().map_err(failed)?);
    let mut key = Vec::new();
    file.take(LONGEST as u64 + 1).read_to_end(&mut key).map_err(failed)?;
    if key.len() > LONGEST {
        return Err(PseudonymError::Long { path: path.to_owned() });
    }
    if key.len() < SHORTEST {
        return Err(PseudonymError::Short { path: path.to_owned(), length: key.len() });
    }
    if key.windows(2).all(|pair| pair[0] == pair[1]) {
        return Err(PseudonymError::Monotonous { path: path.to_owned() });
    }
    Ok((key, warning))
}

#[cfg(unix)]
fn readable_by_others(path: &Path, metadata: &std::fs::Metadata) -> Option<KeyFileWarning> {
    use std::os::unix::fs::PermissionsExt;
    let mode = metadata.permissions().mode() & 0o7777;
    // A pipe, from `<(…)`, has no other reader.
    (metadata.is_file() && mode & 0o044 != 0).then(|| KeyFileWarning { path: path.to_owned(), mode })
}

#[cfg(not(unix))]
fn readable_by_others(_: &Path, _: &std::fs::Metadata) -> Option<KeyFileWarning> {
    None
}

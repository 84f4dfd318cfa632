//! The files that a command reads, so that no result replaces one of them.
//!
//! Kept for the whole process: an output is opened far from where its input was read.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use flowmine_files::{FileId, Folder};

static READ: Mutex<BTreeSet<FileId>> = Mutex::new(BTreeSet::new());

fn read() -> MutexGuard<'static, BTreeSet<FileId>> {
    // What a panicking thread left is still a set of files.
    READ.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Remembers a file or a directory that the user names to be read, by what it is and not by its path.
pub fn note(path: &Path) {
    // Whoever reads it says what is wrong with a file that is not there.
    if let Ok(id) = FileId::at(path) {
        read().insert(id);
    }
}

/// Notes a file that the user names, or a pipe of this command, and reads it as text.
///
/// # Errors
/// When it cannot be read, has more than `most` bytes, or is not UTF-8.
pub fn text(path: &Path, most: u64) -> io::Result<String> {
    note(path);
    String::from_utf8(flowmine_files::read_given(path, most)?).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8"))
}

/// Remembers these inputs and no others. For callers that do one thing after another in one process:
/// a file that was read once may be a result later.
pub fn only<'p>(paths: impl IntoIterator<Item = &'p Path>) {
    let ids = paths.into_iter().filter_map(|path| FileId::at(path).ok()).collect();
    *read() = ids;
}

/// Whether a folder was named to be read, or lies in one that was.
///
/// # Errors
/// When a folder above it cannot be looked at, other than for want of rights.
pub fn holds(folder: &Folder) -> io::Result<bool> {
    let mut next = Some(folder.try_clone()?);
    while let Some(folder) = next {
        if contains(folder.id()?) {
            return Ok(true);
        }
        next = match folder.above() {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => None,
            other => other?,
        };
    }
    Ok(false)
}

/// Whether a file was named to be read.
pub fn contains(id: FileId) -> bool {
    read().contains(&id)
}

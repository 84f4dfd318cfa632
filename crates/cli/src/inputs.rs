//! The files that a command reads, so that no result replaces one of them.
//!
//! Kept for the whole process: an output is opened far from where its input was read.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use flowmine_files::FileId;

static READ: Mutex<BTreeSet<FileId>> = Mutex::new(BTreeSet::new());

fn read() -> MutexGuard<'static, BTreeSet<FileId>> {
    // What a panicking thread left is still a set of files.
    READ.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Remembers a file that the user names to be read, by what it is and not by its path.
pub fn note(path: &Path) {
    // Whoever reads it says what is wrong with a file that is not there.
    if let Ok(id) = FileId::at(path) {
        read().insert(id);
    }
}

/// Whether a file was named to be read.
pub fn contains(id: FileId) -> bool {
    read().contains(&id)
}

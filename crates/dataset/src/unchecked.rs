//! Which files of datasets were read without checksums: an older flowmine or another program wrote
//! them, and an altered byte in them would not be noticed.
//!
//! Kept for the whole process, because a command opens a dataset in several places and says it once.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

static READ: Mutex<BTreeMap<PathBuf, BTreeSet<PathBuf>>> = Mutex::new(BTreeMap::new());

fn read() -> MutexGuard<'static, BTreeMap<PathBuf, BTreeSet<PathBuf>>> {
    // What a panicking thread left is still a set of files.
    READ.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Notes that a file of a dataset has no checksums.
pub(crate) fn note(dataset: &Path, file: &Path) {
    read().entry(dataset.to_owned()).or_default().insert(file.to_owned());
}

/// The directories of the datasets that this process has read files without checksums of, in order,
/// each with the number of these files.
pub fn files_without_checksums() -> Vec<(PathBuf, usize)> {
    read().iter().map(|(dataset, files)| (dataset.clone(), files.len())).collect()
}

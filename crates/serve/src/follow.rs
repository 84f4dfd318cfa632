//! Whether a source has changed on the disk.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use flowmine_api::SourcePaths;
use flowmine_files::{EntryKind, Folder, place_of};
use sha2::{Digest, Sha256};

/// How long a state that was read is taken as the present one.
const AGE: Duration = Duration::from_secs(1);
/// The deepest folder of a dataset: a table, its host and its date.
const DEEPEST: usize = 6;
/// The most names that are looked at in one folder. A dataset has far fewer.
const MOST: usize = 1_000_000;

/// The files of a source.
#[derive(Debug)]
pub struct Follow {
    roots: Vec<PathBuf>,
    /// Whether it can change.
    pub is_followed: bool,
    last: Mutex<Option<(Instant, String)>>,
}

impl Follow {
    /// Follows a source; a temporary dataset does not change.
    pub fn new(source: &SourcePaths, is_temporary: bool) -> Self {
        let logs = source.logs.iter().filter(|_| source.dataset.is_none());
        let roots = source.dataset.iter().chain(logs).cloned().collect();
        Self { roots, is_followed: !is_temporary, last: Mutex::default() }
    }

    /// Returns a text that differs when files have changed, at most a second old.
    pub fn state(&self) -> String {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((when, state)) = last.as_ref()
            && when.elapsed() < AGE
        {
            return state.clone();
        }
        let mut digest = Sha256::new();
        for root in &self.roots {
            digest.update(root.as_os_str().as_encoded_bytes());
            if let Ok(folder) = Folder::open(root) {
                look(&folder, 0, &mut digest);
            } else if let Ok((folder, name)) = place_of(root) {
                add(&folder, &name, &mut digest);
            }
        }
        let state: String = digest.finalize().iter().take(12).map(|byte| format!("{byte:02x}")).collect();
        *last = Some((Instant::now(), state.clone()));
        state
    }
}

/// Adds the names, sizes and times of the files below a folder. Hidden files are those of writers.
/// Links are not followed: no name leads out of a dataset.
fn look(folder: &Folder, depth: usize, digest: &mut Sha256) {
    let Ok(entries) = folder.entries(MOST) else { return };
    for entry in entries.entries.iter().filter(|entry| !entry.name.as_encoded_bytes().starts_with(b".")) {
        match entry.kind {
            EntryKind::File => add(folder, &entry.name, digest),
            EntryKind::Folder if depth < DEEPEST => {
                digest.update(entry.name.as_encoded_bytes());
                digest.update([1]);
                if let Ok(folder) = folder.folder(&entry.name) {
                    look(&folder, depth + 1, digest);
                }
                digest.update([2]);
            }
            EntryKind::Folder | EntryKind::Link | EntryKind::Special => {}
        }
    }
}

/// Adds the name, size and time of a file.
fn add(folder: &Folder, name: &OsStr, digest: &mut Sha256) {
    digest.update(name.as_encoded_bytes());
    digest.update([0]);
    digest.update(folder.stamp_of(name).ok().flatten().unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn new_and_changed_files_are_another_state() {
        let dir = tempfile::tempdir().expect("a directory");
        let source = SourcePaths { dataset: Some(dir.path().to_owned()), ..SourcePaths::default() };
        let state = || Follow::new(&source, false).state();
        let empty = state();
        fs::write(dir.path().join(".hidden"), "x").expect("a file");
        assert_eq!(state(), empty);
        fs::create_dir_all(dir.path().join("job_states/host=a")).expect("a folder");
        fs::write(dir.path().join("job_states/host=a/1.parquet"), "x").expect("a file");
        let one = state();
        assert_ne!(one, empty);
        assert_eq!(state(), one);
        fs::write(dir.path().join("job_states/host=a/1.parquet"), "xy").expect("a file");
        assert_ne!(state(), one);
    }

    #[test]
    fn no_link_leads_out() {
        let (dir, outside) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
        let source = SourcePaths { dataset: Some(dir.path().to_owned()), ..SourcePaths::default() };
        let state = || Follow::new(&source, false).state();
        fs::create_dir(dir.path().join("job_states")).expect("a folder");
        for link in ["task_runs", "job_states/host=a"] {
            symlink(outside.path(), dir.path().join(link)).expect("a link");
        }
        let before = state();
        fs::write(outside.path().join("1.parquet"), "x").expect("a file");
        assert_eq!(state(), before);
    }

    #[test]
    fn a_log_is_followed_by_its_size_and_time() {
        let dir = tempfile::tempdir().expect("a directory");
        let log = dir.path().join("log.csv");
        let source = SourcePaths { logs: vec![log.clone()], ..SourcePaths::default() };
        let state = || Follow::new(&source, false).state();
        fs::write(&log, "x").expect("a file");
        let before = state();
        fs::write(&log, "xy").expect("a file");
        assert_ne!(state(), before);
    }
}

//! Whether a source has changed on the disk.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, UNIX_EPOCH};

use flowmine_api::SourcePaths;
use flowmine_files::Folder;
use sha2::{Digest, Sha256};

/// How long a state that was read is taken as the present one.
const AGE: Duration = Duration::from_secs(1);
/// The deepest folder of a dataset: a table, its host and its date.
const DEEPEST: usize = 6;

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
        self.roots.iter().for_each(|root| look(root, 0, &mut digest));
        let state: String = digest.finalize().iter().take(12).map(|byte| format!("{byte:02x}")).collect();
        *last = Some((Instant::now(), state.clone()));
        state
    }
}

/// Adds the names, sizes and times of what lies at a place. Hidden files are those of writers.
fn look(place: &Path, depth: usize, digest: &mut Sha256) {
    let Ok(data) = fs::metadata(place) else { return };
    if data.is_file() {
        let changed = data.modified().ok().and_then(|when| when.duration_since(UNIX_EPOCH).ok()).map_or(0, |since| since.as_nanos());
        digest.update(place.as_os_str().as_encoded_bytes());
        digest.update([0]);
        digest.update(data.len().to_le_bytes());
        digest.update(changed.to_le_bytes());
    }
    if !data.is_dir() || depth >= DEEPEST {
        return;
    }
    let Ok(entries) = Folder::open(place).and_then(|folder| folder.entries(usize::MAX)) else { return };
    for entry in entries.entries.iter().filter(|entry| !entry.name.as_encoded_bytes().starts_with(b".")) {
        look(&place.join(&entry.name), depth + 1, digest);
    }
}

#[cfg(test)]
mod tests {
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
}

//! Bounded listings of directory trees.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use flowmine_files::{EntryKind, FileError, Folder};

/// Number of entries of a tree that are listed.
const ENTRIES: usize = 10_000;
/// Depth to which directories are listed: that of Airflow's log of an attempt,
/// `logs/dag_id=…/run_id=…/task_id=…/attempt=1.log`, and one more.
const DEPTH: usize = 6;
/// File that makes a directory a dataset.
pub(crate) const DATASET: &str = "flowmine.json";

/// Files at and below a directory. Links are not followed, and datasets below are not entered.
#[derive(Debug)]
pub struct Listing {
    root: Folder,
    /// Paths of the files relative to the directory, those of upper directories first, sorted
    /// within a directory.
    pub files: Vec<PathBuf>,
    /// Datasets below the directory, as relative paths.
    pub datasets: Vec<PathBuf>,
    /// Number of directories.
    pub folders: u64,
    /// Number of links, FIFOs, sockets and devices.
    pub passed_over: u64,
    /// Number of entries that are not listed, as far as they were counted.
    pub rest: u64,
}

impl Listing {
    /// Lists a directory.
    ///
    /// # Errors
    /// When the directory itself cannot be read.
    pub fn new(dir: &Path) -> io::Result<Self> {
        let root = Folder::open(dir)?;
        let mut listing = Self { root: root.try_clone()?, files: Vec::new(), datasets: Vec::new(), folders: 0, passed_over: 0, rest: 0 };
        let mut left = ENTRIES;
        let mut open = VecDeque::from([(PathBuf::new(), root)]);
        while let Some((above, folder)) = open.pop_front() {
            // One large directory leaves room for the others.
            let entries = match folder.entries(left.div_ceil(2)) {
                Ok(entries) => entries,
                Err(error) if above.as_os_str().is_empty() => return Err(error),
                Err(_) => {
                    listing.passed_over += 1;
                    continue;
                }
            };
            let is_dataset = entries.entries.iter().any(|entry| entry.name == DATASET && entry.kind == EntryKind::File);
            if is_dataset && !above.as_os_str().is_empty() {
                listing.datasets.push(above);
                continue;
            }
            left = left.saturating_sub(entries.entries.len());
            listing.rest += entries.rest;
            for entry in entries.entries {
                let path = above.join(&entry.name);
                match entry.kind {
                    EntryKind::File => listing.files.push(path),
                    EntryKind::Link | EntryKind::Special => listing.passed_over += 1,
                    EntryKind::Folder => {
                        listing.folders += 1;
                        if path.components().count() > DEPTH {
                            continue;
                        }
                        match folder.folder(&entry.name) {
                            Ok(folder) => open.push_back((path, folder)),
                            Err(_) => listing.passed_over += 1,
                        }
                    }
                }
            }
        }
        Ok(listing)
    }

    /// Opens a listed file, each step from the directory that was listed.
    ///
    /// # Errors
    /// When it is no plain file any more, or cannot be read.
    pub fn open(&self, below: &Path) -> Result<File, FileError> {
        let mut folder = self.root.try_clone()?;
        let mut steps = below.components().peekable();
        while let Some(step) = steps.next() {
            if steps.peek().is_none() {
                return folder.read(step);
            }
            folder = folder.folder(step)?;
        }
        Err(FileError::Io(io::ErrorKind::NotFound.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn one_large_directory_leaves_room_for_others() {
        let dir = tempfile::tempdir().unwrap();
        for n in 0..ENTRIES {
            fs::File::create(dir.path().join(format!("a{n:06}"))).unwrap();
        }
        fs::create_dir(dir.path().join(".engine")).unwrap();
        fs::write(dir.path().join(".engine/log"), "").unwrap();
        let listing = Listing::new(dir.path()).unwrap();
        assert!(listing.files.contains(&PathBuf::from(".engine/log")), "{:?}", listing.files.last());
        assert!(listing.files.len() <= ENTRIES);
        assert_eq!(listing.files.len() as u64 + listing.rest + listing.folders, ENTRIES as u64 + 2);
    }

    #[test]
    fn links_and_datasets_are_not_entered() {
        let (dir, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(elsewhere.path().join("secret"), "").unwrap();
        symlink(elsewhere.path(), dir.path().join("way")).unwrap();
        symlink(elsewhere.path().join("secret"), dir.path().join("link")).unwrap();
        fs::create_dir_all(dir.path().join("data/task_runs")).unwrap();
        fs::write(dir.path().join("data").join(DATASET), "{}").unwrap();
        fs::write(dir.path().join("data/task_runs/part"), "").unwrap();
        let listing = Listing::new(dir.path()).unwrap();
        assert_eq!((listing.files.len(), listing.passed_over), (0, 2));
        assert_eq!(listing.datasets, [PathBuf::from("data")]);
        assert!(matches!(listing.open(Path::new("link")), Err(FileError::Foreign(_))));
        assert!(listing.open(Path::new("way/secret")).is_err());
    }
}

//! Becoming a writer, finishing what a killed one had committed, and merging small files.

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::time::Duration;

use super::disk::{plain_file, sync_dir, try_lock, write_synced};
use super::error::{DatasetError, io_error, parquet_error};
use super::manifest::{Additions, manifest_json};
use super::place::{Leaf, PartName};
use super::{Dataset, MANIFEST, Part, Role, Transaction};
use crate::parquet;
use crate::row::Row;

impl Dataset {
    /// Becomes the writer. `who` is what another would-be writer is told, such as `observe, process 4711`.
    ///
    /// Finishes what a killed writer had committed and removes what it had not.
    ///
    /// # Errors
    /// [`DatasetError::Locked`] when there is a writer.
    pub fn writer(&self, role: Role, who: &str) -> Result<Writer, DatasetError> {
        let path = self.dir.join(role.lock_file());
        plain_file(&path)?;
        let mut lock = self.access.options().read(true).write(true).create(true).truncate(false).open(&path).map_err(io_error(&path))?;
        match try_lock(&lock, LOCK_WAIT) {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                let _ = Read::by_ref(&mut lock).take(200).read_to_string(&mut holder);
                let holder = crate::text::visible(holder.trim()).into_owned();
                return Err(DatasetError::Locked { path: self.dir.clone(), holder });
            }
            Err(TryLockError::Error(e)) => return Err(io_error(&path)(e)),
        }
        // What stands in the lock file is only for the message to others: failing to write it (a full disk) is no reason to stop.
        let _ = lock.set_len(0).and_then(|()| lock.rewind()).and_then(|()| lock.write_all(who.as_bytes()));
        let mut writer = Writer { dataset: self.clone(), role, next: 1, scanned: BTreeSet::new(), _lock: lock };
        writer.recover()?;
        Ok(writer)
    }
}

/// The one writer of its [`Role`]; dropping it lets another in.
#[derive(Debug)]
pub struct Writer {
    pub(super) dataset: Dataset,
    pub(super) role: Role,
    /// The number of the next write.
    pub(super) next: u64,
    /// The folders whose files have smaller numbers.
    scanned: BTreeSet<String>,
    _lock: File,
}

impl Writer {
    /// The dataset.
    pub fn dataset(&self) -> &Dataset {
        &self.dataset
    }

    fn recover(&mut self) -> Result<(), DatasetError> {
        self.finish_commit()?;
        let dir = self.dataset.dir.clone();
        let prefix = self.role.hidden_prefix();
        for entry in fs::read_dir(&dir).map_err(io_error(&dir))? {
            let entry = entry.map_err(io_error(&dir))?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            let path = entry.path();
            if entry.file_type().map_err(io_error(&path))?.is_dir() {
                // Those of tables that are split are looked at when they are written to: there can be many.
                self.scan(&name)?;
            } else if name.starts_with(&prefix) {
                fs::remove_file(&path).map_err(io_error(&path))?;
            }
        }
        Ok(())
    }

    /// Numbers the next write above all of ours in a folder of the dataset, whoever of us wrote them.
    pub(super) fn scan(&mut self, relative: &str) -> Result<(), DatasetError> {
        if !self.scanned.insert(relative.to_owned()) {
            return Ok(());
        }
        let owner = self.role.owner();
        let folder = self.dataset.dir.join(relative);
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(e) => return Err(io_error(&folder)(e)),
        };
        for entry in entries {
            let name = entry.map_err(io_error(&folder))?.file_name();
            if let Some(part) = name.to_str().and_then(PartName::of).filter(|part| part.owner == owner) {
                self.next = self.next.max(part.last.saturating_add(1));
            }
        }
        Ok(())
    }

    pub(super) fn finish_commit(&self) -> Result<(), DatasetError> {
        let dir = &self.dataset.dir;
        let list = dir.join(self.role.commit_file());
        let commit = self.dataset.pending_of(&self.role)?;
        let mut touched = BTreeSet::new();
        for name in commit.moves.iter().map(|(_, to)| to).chain(&commit.deletes) {
            if let Some((folder, _)) = name.rsplit_once('/') {
                touched.insert(folder);
            }
        }
        for folder in &touched {
            self.dataset.plain_folders(folder)?;
        }
        for (hidden, name) in &commit.moves {
            let (from, to) = (dir.join(hidden), dir.join(name));
            match fs::rename(&from, &to) {
                Ok(()) => {}
                // Done before we were killed.
                Err(e) if e.kind() == io::ErrorKind::NotFound && to.exists() => {}
                Err(e) => return Err(io_error(&to)(e)),
            }
        }
        for name in &commit.deletes {
            let path = dir.join(name);
            match fs::remove_file(&path) {
                Ok(()) => {}
                Err(e) if e.kind() == io::ErrorKind::NotFound => {}
                Err(e) => return Err(io_error(&path)(e)),
            }
        }
        for folder in touched {
            sync_dir(&dir.join(folder))?;
        }
        if !commit.manifest.is_empty() {
            self.add_to_manifest(&commit.manifest)?;
        }
        match fs::remove_file(&list) {
            Ok(()) => sync_dir(dir),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(e) => Err(io_error(&list)(e)),
        }
    }

    /// Adds to what the manifest says now, while no other writer does.
    fn add_to_manifest(&self, additions: &Additions) -> Result<(), DatasetError> {
        let dir = &self.dataset.dir;
        let path = dir.join(MANIFEST_LOCK);
        plain_file(&path)?;
        let lock =
            self.dataset.access.options().read(true).write(true).create(true).truncate(false).open(&path).map_err(io_error(&path))?;
        match try_lock(&lock, MANIFEST_WAIT) {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(DatasetError::Locked { path: dir.clone(), holder: "it changes flowmine.json".to_owned() });
            }
            Err(TryLockError::Error(e)) => return Err(io_error(&path)(e)),
        }
        let before = self.dataset.stored_manifest()?;
        let mut manifest = before.clone();
        additions.add_to(&mut manifest);
        if manifest == before {
            return Ok(());
        }
        let hidden = dir.join(format!("{}manifest.tmp", self.role.hidden_prefix()));
        // From a time when it could not be renamed.
        let _ = fs::remove_file(&hidden);
        let path = dir.join(MANIFEST);
        write_synced(self.dataset.access, &hidden, |file| file.write_all(&manifest_json(&manifest)))
            .and_then(|()| fs::rename(&hidden, &path))
            .map_err(io_error(&path))?;
        sync_dir(dir)
    }

    /// Begins a transaction; dropping it without [`Transaction::commit`] undoes it.
    ///
    /// # Errors
    /// When the transaction before was committed and its files could not be put in their places, and still cannot.
    pub fn begin(&mut self) -> Result<Transaction<'_>, DatasetError> {
        self.finish_commit()?;
        Ok(Transaction::new(self))
    }

    /// Merges small files of a table where many have gathered. Sixteen neighbours at a time, so that a row is written anew a logarithmic number of times until its file is large.
    ///
    /// Only files of this writer are merged, and of a table that is split only those of the hosts and days that it has written to.
    ///
    /// # Errors
    /// When a file cannot be read or written; the dataset stays as it was.
    pub fn merge_small_files<R: Row>(&mut self) -> Result<(), DatasetError> {
        let leaves = if R::SPLIT {
            self.scanned.iter().filter_map(|folder| Leaf::of_folder(folder)).filter(|leaf| leaf.table() == R::TABLE).collect()
        } else {
            vec![Leaf::whole::<R>()]
        };
        leaves.iter().try_for_each(|leaf| self.merge_leaf(leaf))
    }

    fn merge_leaf(&mut self, leaf: &Leaf) -> Result<(), DatasetError> {
        let owner = self.role.owner();
        for ceiling in MERGE_CEILINGS {
            let mut parts = self.dataset.leaf_parts(leaf)?;
            parts.retain(|part| part.name.owner == owner);
            for group in adjacent_groups(&parts, ceiling) {
                let parts = &parts[group];
                let (Some(first), Some(last)) = (parts.first(), parts.last()) else { continue };
                let files = parts.iter().map(|part| part.file.try_clone());
                // Where files are of an older format version, they stay as they are.
                let Some(bytes) = parquet::merged(files).map_err(parquet_error(&first.path))? else { return Ok(()) };
                let name = PartName { owner: owner.clone(), first: first.name.first, last: last.name.last };
                let mut transaction = self.begin()?;
                transaction.write_file(&leaf.folder(), &name.file_name(), |mut file| Ok(file.write_all(&bytes)?))?;
                for part in parts {
                    transaction.commit.deletes.push(leaf.path_of(&part.name));
                }
                transaction.commit()?;
            }
        }
        Ok(())
    }
}

/// How long to wait for another of the same role. A lock outlives its holder for a moment when a process was just being started.
const LOCK_WAIT: Duration = Duration::from_millis(200);
/// Held while the manifest is changed.
const MANIFEST_LOCK: &str = ".manifest.lock";
/// How long to wait for it: others hold it for one small file.
const MANIFEST_WAIT: Duration = Duration::from_secs(30);
/// How many neighbouring small files are merged into one.
const MERGE_COUNT: usize = 16;
/// Below which size in bytes a file counts as small, in each round.
const MERGE_CEILINGS: [u64; 3] = [64 << 10, 512 << 10, 4 << 20];

fn adjacent_groups(parts: &[Part], ceiling: u64) -> Vec<std::ops::Range<usize>> {
    let mut groups = Vec::new();
    let mut start = 0;
    for at in 0..=parts.len() {
        if at == parts.len() || parts[at].bytes >= ceiling {
            start = at + 1;
        } else if at + 1 - start == MERGE_COUNT {
            groups.push(start..at + 1);
            start = at + 1;
        }
    }
    groups
}

//! Becoming a writer, finishing what a killed one had committed, and merging small files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::sync::Arc;
use std::time::Duration;

use flowmine_files::Folder;

use super::disk::{try_lock, write_synced};
use super::error::{DatasetError, file_error, io_error, parquet_error};
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
        self.writer_within(role, who, LOCK_WAIT)
    }

    /// Becomes a writer of a host's rows beside those that there are: takes the first of its places that is free. Finishes and removes
    /// what killed writers left in other places too.
    ///
    /// # Errors
    /// When the dataset cannot be written; [`DatasetError::Locked`] when all of 65,536 places are taken.
    pub fn host_writer(&self, host: &str, who: &str) -> Result<Writer, DatasetError> {
        let mut number = 0;
        let writer = loop {
            match self.writer_within(Role::of_host(host, number), who, Duration::ZERO) {
                Err(DatasetError::Locked { .. }) if number + 1 < PLACES => number += 1,
                other => break other?,
            }
        };
        for role in self.roles_of(host, false)?.into_iter().filter(|role| *role != writer.role) {
            match self.writer_within(role, who, Duration::ZERO) {
                // Becoming the writer was all; and whoever is one looks after himself.
                Ok(_) | Err(DatasetError::Locked { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(writer)
    }

    /// All places that writers of a host have taken, the first one in any case.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub fn host_places(&self, host: &str) -> Result<Vec<Role>, DatasetError> {
        let mut roles = self.roles_of(host, true)?;
        roles.insert(Role::of_host(host, 0));
        Ok(roles.into_iter().collect())
    }

    /// The places of a host's writers of which a list or a hidden file is there, or also those of which only the lock is.
    fn roles_of(&self, host: &str, locks: bool) -> Result<BTreeSet<Role>, DatasetError> {
        let mut roles = BTreeSet::new();
        for name in self.folder.names().map_err(io_error(self.dir()))? {
            let role = Some(name.as_str()).filter(|name| locks || !name.ends_with(".lock")).and_then(Role::of_hidden);
            roles.extend(role.filter(|role| matches!(role, Role::Host(of) | Role::Beside(of, _) if of == host)));
        }
        Ok(roles)
    }

    fn writer_within(&self, role: Role, who: &str, patience: Duration) -> Result<Writer, DatasetError> {
        self.check_owner()?;
        let path = self.dir().join(role.lock_file());
        let mut lock = self.folder.lock_file(role.lock_file()).map_err(file_error(&path))?;
        match try_lock(&lock, patience) {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                let _ = Read::by_ref(&mut lock).take(200).read_to_string(&mut holder);
                let holder = crate::text::visible(holder.trim()).into_owned();
                return Err(DatasetError::Locked { path: self.dir().to_owned(), holder });
            }
            Err(TryLockError::Error(e)) => return Err(io_error(&path)(e)),
        }
        // What stands in the lock file is only for the message to others: failing to write it (a full disk) is no reason to stop.
        let _ = lock.set_len(0).and_then(|()| lock.rewind()).and_then(|()| lock.write_all(who.as_bytes()));
        let mut writer = Writer { dataset: self.clone(), role, next: 1, scanned: BTreeSet::new(), unmerged: BTreeSet::new(), _lock: lock };
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
    /// The folders whose files cannot be merged.
    unmerged: BTreeSet<String>,
    _lock: File,
}

impl Writer {
    /// The dataset.
    pub fn dataset(&self) -> &Dataset {
        &self.dataset
    }

    fn recover(&mut self) -> Result<(), DatasetError> {
        self.finish_commit()?;
        let folder = Arc::clone(&self.dataset.folder);
        let prefix = self.role.hidden_prefix();
        for name in folder.names().map_err(io_error(folder.path()))? {
            if name.starts_with(&prefix) {
                folder.remove(&name).map_err(file_error(&folder.path().join(&name)))?;
            } else if Leaf::of_folder(&name).is_some() {
                // Those of tables that are split are looked at when they are written to: there can be many.
                self.scan(&name)?;
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
        let Some(folder) = self.dataset.folder(relative)? else { return Ok(()) };
        for name in folder.names().map_err(io_error(folder.path()))? {
            if let Some(part) = PartName::of(&name).filter(|part| part.owner == owner) {
                self.next = self.next.max(part.last.saturating_add(1));
            }
        }
        Ok(())
    }

    pub(super) fn finish_commit(&self) -> Result<(), DatasetError> {
        let dir = self.dataset.dir();
        let root = &self.dataset.folder;
        let commit = self.dataset.pending_of(&self.role)?;
        let mut touched: BTreeMap<&str, Option<Folder>> = BTreeMap::new();
        for (folder, _) in commit.moves.iter().map(|(_, to)| to).chain(&commit.deletes).filter_map(|name| name.rsplit_once('/')) {
            touched.insert(folder, self.dataset.folder(folder)?);
        }
        // Every path of a list is a folder and a name in it: see `Commit::is_ours`.
        let place = |path: &str| path.rsplit_once('/').and_then(|(folder, name)| Some((touched.get(folder)?.as_ref()?, name.to_owned())));
        let missing = |path: &str| io_error(&dir.join(path))(io::ErrorKind::NotFound.into());
        for (hidden, to) in &commit.moves {
            let (folder, name) = place(to).ok_or_else(|| missing(to))?;
            match root.rename(hidden, folder, &name) {
                Ok(()) => {}
                // Done before we were killed.
                Err(error) if error.is_not_found() && folder.has_file(&name).unwrap_or(false) => {}
                Err(error) => return Err(file_error(&dir.join(to))(error)),
            }
        }
        for path in &commit.deletes {
            match place(path).map_or(Ok(()), |(folder, name)| folder.remove(&name)) {
                Ok(()) => {}
                Err(error) if error.is_not_found() => {}
                Err(error) => return Err(file_error(&dir.join(path))(error)),
            }
        }
        for folder in touched.values().flatten() {
            folder.sync().map_err(io_error(folder.path()))?;
        }
        if !commit.manifest.is_empty() {
            self.add_to_manifest(&commit.manifest)?;
        }
        match root.remove(self.role.commit_file()) {
            Ok(()) => root.sync().map_err(io_error(dir)),
            Err(error) if error.is_not_found() => Ok(()),
            Err(error) => Err(file_error(&dir.join(self.role.commit_file()))(error)),
        }
    }

    /// Adds to what the manifest says now, while no other writer does.
    fn add_to_manifest(&self, additions: &Additions) -> Result<(), DatasetError> {
        let (dir, folder) = (self.dataset.dir(), &self.dataset.folder);
        let path = dir.join(MANIFEST_LOCK);
        let lock = folder.lock_file(MANIFEST_LOCK).map_err(file_error(&path))?;
        match try_lock(&lock, MANIFEST_WAIT) {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(DatasetError::Locked { path: dir.to_owned(), holder: "it changes flowmine.json".to_owned() });
            }
            Err(TryLockError::Error(e)) => return Err(io_error(&path)(e)),
        }
        let before = self.dataset.stored_manifest()?;
        let mut manifest = before.clone();
        additions.add_to(&mut manifest);
        if manifest == before {
            return Ok(());
        }
        let hidden = format!("{}manifest.tmp", self.role.hidden_prefix());
        // From a time when it could not be renamed.
        let _ = folder.remove(&hidden);
        write_synced(folder, &hidden, self.dataset.access.file_mode(), |file| file.write_all(&manifest_json(&manifest)))
            .and_then(|()| folder.rename(&hidden, folder, MANIFEST))
            .map_err(file_error(&dir.join(MANIFEST)))?;
        folder.sync().map_err(io_error(dir))
    }

    /// Whether the last transaction was committed, but its files are not all in their places yet. Readers see it, and the next one tries again.
    pub fn is_unfinished(&self) -> bool {
        self.dataset.folder.has_file(self.role.commit_file()).unwrap_or(true)
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
        for leaf in self.leaves_written::<R>() {
            for ceiling in MERGE_CEILINGS {
                for merge in self.merges(&leaf, ceiling)? {
                    let merged = merge.run()?;
                    self.put_merged(merged)?;
                }
            }
        }
        Ok(())
    }

    /// The next merge of a table, as [`Writer::merge_small_files`] does them, for a thread that may not be kept from writing: [`Merge::run`] is the long part.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn next_merge<R: Row>(&self) -> Result<Option<Merge>, DatasetError> {
        for leaf in self.leaves_written::<R>() {
            for ceiling in MERGE_CEILINGS {
                if let Some(merge) = self.merges(&leaf, ceiling)?.next() {
                    return Ok(Some(merge));
                }
            }
        }
        Ok(None)
    }

    /// Puts what a [`Merge`] made in the place of its files.
    ///
    /// # Errors
    /// When it cannot be written; the dataset stays as it was.
    pub fn put_merged(&mut self, merged: Merged) -> Result<(), DatasetError> {
        let Merged { leaf, parts, name, bytes } = merged;
        let Some(bytes) = bytes else {
            self.unmerged.insert(leaf.folder());
            return Ok(());
        };
        let mut transaction = self.begin()?;
        transaction.write_file(&leaf.folder(), &name.file_name(), |mut file| Ok(file.write_all(&bytes)?))?;
        transaction.commit.deletes.extend(parts.iter().map(|part| leaf.path_of(part)));
        transaction.commit()
    }

    /// Where this writer has written rows of a table, but for what cannot be merged.
    fn leaves_written<R: Row>(&self) -> Vec<Leaf> {
        let mut leaves: Vec<Leaf> = if R::SPLIT {
            self.scanned.iter().filter_map(|folder| Leaf::of_folder(folder)).filter(|leaf| leaf.table() == R::TABLE).collect()
        } else {
            vec![Leaf::whole::<R>()]
        };
        leaves.retain(|leaf| !self.unmerged.contains(&leaf.folder()));
        leaves
    }

    /// The merges that there are to do among files below a size.
    fn merges(&self, leaf: &Leaf, ceiling: u64) -> Result<impl Iterator<Item = Merge> + use<>, DatasetError> {
        let owner = self.role.owner();
        let mut parts = self.dataset.parts_of_any_version(leaf)?;
        parts.retain(|part| part.name.owner == owner);
        let groups = adjacent_groups(&parts, ceiling);
        let leaf = leaf.clone();
        Ok(groups.into_iter().filter_map(move |group| {
            let parts = &parts[group];
            let (first, last) = (parts.first()?, parts.last()?);
            let name = PartName { owner: owner.clone(), first: first.name.first, last: last.name.last };
            let files = parts.iter().map(|part| part.file.try_clone()).collect();
            Some(Merge {
                leaf: leaf.clone(),
                parts: parts.iter().map(|part| part.name.clone()).collect(),
                name,
                files,
                path: first.path.clone(),
            })
        }))
    }
}

/// Neighbouring small files that are to become one.
#[derive(Debug)]
pub struct Merge {
    leaf: Leaf,
    parts: Vec<PartName>,
    name: PartName,
    files: Vec<io::Result<File>>,
    /// Of the first, for messages.
    path: std::path::PathBuf,
}

impl Merge {
    /// Puts the rows together, in memory. It needs no writer.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn run(self) -> Result<Merged, DatasetError> {
        let Merge { leaf, parts, name, files, path } = self;
        let bytes = parquet::merged(files).map_err(parquet_error(&path))?;
        Ok(Merged { leaf, parts, name, bytes })
    }
}

/// What is to stand in the place of small files.
#[derive(Debug)]
pub struct Merged {
    leaf: Leaf,
    parts: Vec<PartName>,
    name: PartName,
    /// `None` where files are of an older format version: they stay as they are.
    bytes: Option<Vec<u8>>,
}

/// So many traces of one host may write side by side.
pub const PLACES: u32 = 1 << 16;
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

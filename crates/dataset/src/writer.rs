//! Becoming a writer, and finishing what a killed one had committed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::sync::Arc;
use std::time::Duration;

use flowmine_files::Folder;

use crate::commit::Commit;
use crate::dataset::Dataset;
use crate::disk::{try_lock, write_synced};
use crate::error::{DatasetError, file_error, io_error};
use crate::format::MANIFEST;
use crate::manifest::{Additions, manifest_json};
use crate::place::{Leaf, PartName};
use crate::role::Role;

impl Dataset {
    /// Becomes the writer. `who` is the name that another would-be writer gets, such as `observe,
    /// process 4711`.
    ///
    /// Finishes what a killed writer had committed and removes what it had not.
    ///
    /// # Errors
    /// [`DatasetError::Locked`] when there is a writer.
    pub fn writer(&self, role: Role, who: &str) -> Result<Writer, DatasetError> {
        self.writer_within(role, who, LOCK_WAIT)
    }

    /// Becomes a further writer of a host's rows: takes the first of its places that is free.
    /// Finishes and removes what killed writers left in other places too.
    ///
    /// # Errors
    /// When the dataset cannot be written; [`DatasetError::Locked`] when all of 65,536 places are
    /// taken.
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

    /// The places of a host's writers of which a list or a hidden file is there, or also those of
    /// which only the lock is.
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
                let holder = flowmine_schema::text::visible(holder.trim()).into_owned();
                return Err(DatasetError::Locked { path: self.dir().to_owned(), holder });
            }
            Err(TryLockError::Error(e)) => return Err(io_error(&path)(e)),
        }
        // The content of the lock file is only for the message to others: failing to write it (a
        // full disk) is no reason to stop.
        let _ = lock.set_len(0).and_then(|()| lock.rewind()).and_then(|()| lock.write_all(who.as_bytes()));
        let mut writer = Writer { dataset: self.clone(), role, next: 1, scanned: BTreeSet::new(), unmerged: BTreeSet::new(), _lock: lock };
        writer.recover()?;
        Ok(writer)
    }
}

/// The one writer of its [`Role`]; dropping it lets another in.
#[derive(Debug)]
pub struct Writer {
    pub(crate) dataset: Dataset,
    pub(crate) role: Role,
    /// The number of the next write.
    pub(crate) next: u64,
    /// The folders of the files with smaller numbers.
    pub(crate) scanned: BTreeSet<String>,
    /// The folders of files that cannot be merged.
    pub(crate) unmerged: BTreeSet<String>,
    _lock: File,
}

impl Writer {
    /// The dataset that is written.
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

    /// Numbers the next write above all of ours in a folder of the dataset, whoever of us wrote
    /// them.
    pub(crate) fn scan(&mut self, relative: &str) -> Result<(), DatasetError> {
        if !self.scanned.insert(relative.to_owned()) {
            return Ok(());
        }
        let owner = self.role.owner();
        let Some(folder) = self.dataset.folder(relative)? else { return Ok(()) };
        for name in folder.names().map_err(io_error(folder.path()))? {
            if let Some(part) = PartName::new(&name).filter(|part| part.owner == owner) {
                self.next = self.next.max(part.last.saturating_add(1));
            }
        }
        Ok(())
    }

    pub(crate) fn finish_commit(&self) -> Result<(), DatasetError> {
        let dir = self.dataset.dir();
        let root = &self.dataset.folder;
        let commit = self.dataset.pending_of(&self.role)?;
        let mut touched: BTreeMap<&str, Option<Folder>> = BTreeMap::new();
        for (folder, _) in commit.moves.iter().map(|(_, to)| to).chain(&commit.deletes).filter_map(|name| name.rsplit_once('/')) {
            touched.insert(folder, self.dataset.folder(folder)?);
        }
        self.rename_all(&commit, &touched)?;
        for folder in touched.values().flatten() {
            folder.sync().map_err(io_error(folder.path()))?;
        }
        if !commit.manifest.is_empty() {
            self.add_to_manifest(&commit.manifest)?;
        }
        match root.remove(self.role.commit_file()) {
            Ok(()) => root.sync().map_err(io_error(dir))?,
            Err(error) if error.is_not_found() => {}
            Err(error) => return Err(file_error(&dir.join(self.role.commit_file()))(error)),
        }
        for number in 0..commit.deletes.len() {
            // They are not read. What cannot be removed now is removed by the next writer.
            let _ = root.remove(self.put_aside(number));
        }
        Ok(())
    }

    /// Puts the files of a list in their places, and those that they replace aside. When one cannot
    /// be renamed, all others are renamed back: whoever reads the folders without the list sees the
    /// rows of before, each once.
    fn rename_all(&self, commit: &Commit, touched: &BTreeMap<&str, Option<Folder>>) -> Result<(), DatasetError> {
        let dir = self.dataset.dir();
        let root = &*self.dataset.folder;
        // Every path of a list is a folder and a name in it: see `Commit::is_ours`.
        let place = |path: &str| path.rsplit_once('/').and_then(|(folder, name)| Some((touched.get(folder)?.as_ref()?, name.to_owned())));
        let missing = |path: &str| io_error(&dir.join(path))(io::ErrorKind::NotFound.into());
        let mut steps: Vec<(&Folder, String, &Folder, String)> = Vec::new();
        for (hidden, to) in &commit.moves {
            let (folder, name) = place(to).ok_or_else(|| missing(to))?;
            steps.push((root, hidden.clone(), folder, name));
        }
        for (number, path) in commit.deletes.iter().enumerate() {
            steps.extend(place(path).map(|(folder, name)| (folder, name, root, self.put_aside(number))));
        }
        for (at, (from, name, to, new_name)) in steps.iter().enumerate() {
            let is_move = at < commit.moves.len();
            match from.rename(name, to, new_name) {
                Ok(()) => {}
                // Done before we were killed.
                Err(error) if error.is_not_found() && (!is_move || to.has_file(new_name).unwrap_or(false)) => {}
                Err(error) => {
                    for (from, name, to, new_name) in steps[..at].iter().rev().filter(|_| !commit.deletes.is_empty()) {
                        let _ = to.rename(new_name, from, name);
                    }
                    let path = if is_move { to.path().join(new_name) } else { from.path().join(name) };
                    return Err(file_error(&path)(error));
                }
            }
        }
        Ok(())
    }

    /// The name of a replaced file until it is removed.
    fn put_aside(&self, number: usize) -> String {
        format!("{}replaced-{number}.tmp", self.role.hidden_prefix())
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

    /// Whether the last transaction was committed, but its files are not all in their places yet.
    /// Readers see it, and the next one tries again.
    pub fn is_unfinished(&self) -> bool {
        self.dataset.folder.has_file(self.role.commit_file()).unwrap_or(true)
    }
}

/// Maximum number of traces of one host that write at the same time.
pub const PLACES: u32 = 1 << 16;
/// How long to wait for another of the same role. A lock outlives its holder for a moment when a
/// process was just being started.
const LOCK_WAIT: Duration = Duration::from_millis(200);
/// Held while the manifest is changed.
const MANIFEST_LOCK: &str = ".manifest.lock";
/// How long to wait for it: others hold it for one small file.
const MANIFEST_WAIT: Duration = Duration::from_secs(30);

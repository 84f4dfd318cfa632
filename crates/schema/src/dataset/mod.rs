//! The dataset directory: what is in it, who may write, and how nothing is lost or doubled.
//!
//! ```text
//! DIR/flowmine.json                                  format version, clusters, hosts, imported files
//! DIR/job_states/part-0000000001-0000000001.parquet  one folder a table; the numbers say which writes a file holds
//! DIR/io_events/host=n%201/date=2026-11-20/part-0000000001-0000000004@n%201.parquet
//!                                                    rows from hosts: a folder for each host and day, as Hive names them
//! DIR/.state/…                                       what an observer must remember between polls
//! ```
//!
//! **Writing** is a transaction: every new file is written and synced under a hidden name in the dataset's own folder, then a list of
//! the renames and deletions to do is itself renamed to `.raw.commit.json` (that is the moment of commit), then they are done. Whoever
//! is killed before that moment leaves only hidden files, which the next writer removes; whoever is killed after it leaves a list that
//! the next writer finishes and that readers apply in their heads. A full disk is an error before the moment of commit.
//!
//! There is one writer of raw tables at a time, one of derived tables and one for each traced host ([`Role`]), each with a lock file
//! (`.raw.lock`, `.host=NAME.lock`), a list of steps and hidden names of its own. The locks are advisory (flock(2)), and the kernel
//! releases them when a process ends; over a network they hold between machines where the file system says so (NFS; Lustre mounted
//! with `flock`). Writers do not wait for each other, but for the moment in which one adds to `flowmine.json`, which
//! `.manifest.lock` guards. Files of a host's writer carry its name behind an `@`, so that two writers never want the same name.
//! Readers take no lock.
//!
//! **Modes.** Files and folders are made as the umask says, in a directory that only its owner may enter with the modes 0600 and 0700 from
//! the first byte ([`Access`]).
//!
//! **Order.** A table is read by host, by day, by writer (the raw one first), and as written. Host names are percent-encoded in paths.
//!
//! **Small files** are merged by their writer as they grow in number, within a folder: a merged file carries the range of writes that
//! it holds, and appears in the same transaction in which those it replaces go.

mod access;
mod commit;
mod disk;
mod error;
mod manifest;
mod part;
mod place;
mod prune;
mod role;
#[cfg(test)]
mod tests;
mod transaction;
mod writer;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use commit::Commit;
use disk::{plain_file, plain_folder, sync_dir, write_synced};
use error::{io_error, parquet_error};
use place::PartName;

pub use access::Access;
pub use error::DatasetError;
use manifest::manifest_json;
pub use manifest::{Import, Manifest};
pub use part::Part;
pub use place::Leaf;
pub use prune::Pruned;
pub use role::Role;
pub use transaction::Transaction;
pub use writer::Writer;

use crate::parquet;
use crate::row::{Projection, Row, Rows};

/// The version of the format that this code reads and writes.
pub const FORMAT_VERSION: u32 = 1;

/// A dataset, open for reading.
#[derive(Debug, Clone)]
pub struct Dataset {
    dir: PathBuf,
    access: Access,
}

impl Dataset {
    /// Opens an existing dataset.
    ///
    /// # Errors
    /// When there is none or a newer flowmine wrote it.
    pub fn open(dir: &Path) -> Result<Self, DatasetError> {
        let dataset = Self { dir: dir.to_owned(), access: Access::of(dir) };
        dataset.manifest()?;
        Ok(dataset)
    }

    /// Opens a dataset, or makes one where there is nothing or an empty directory.
    ///
    /// # Errors
    /// When the directory holds something else, or cannot be made.
    pub fn open_or_create(dir: &Path) -> Result<Self, DatasetError> {
        Self::open_or_create_with(dir, Access::Umask)
    }

    /// Opens a dataset, or makes one that this access is given to. What an existing one has stays: see [`Dataset::access`].
    ///
    /// # Errors
    /// When the directory holds something else, or cannot be made.
    pub fn open_or_create_with(dir: &Path, access: Access) -> Result<Self, DatasetError> {
        let manifest = dir.join(MANIFEST);
        if manifest.exists() {
            return Self::open(dir);
        }
        if dir.is_file() {
            return Err(DatasetError::NotEmpty(dir.to_owned()));
        }
        access.make_dataset(dir).map_err(io_error(dir))?;
        let dataset = Self { dir: dir.to_owned(), access: Access::of(dir) };
        for entry in fs::read_dir(dir).map_err(io_error(dir))? {
            let name = entry.map_err(io_error(dir))?.file_name();
            // A first writer may just now be at the same place: its hidden files are no reason to refuse.
            if !name.to_string_lossy().starts_with('.') && name != MANIFEST {
                return Err(DatasetError::NotEmpty(dir.to_owned()));
            }
        }
        let hidden = dir.join(format!(".{MANIFEST}.{}.tmp", std::process::id()));
        // Left by somebody with our process number who was killed here.
        let _ = fs::remove_file(&hidden);
        write_synced(dataset.access, &hidden, |file| file.write_all(&manifest_json(&Manifest::default()))).map_err(io_error(&hidden))?;
        // A link, not a renaming: whoever was first keeps his, which may already say more. Not every file system has links.
        let made = match fs::hard_link(&hidden, &manifest) {
            Ok(()) => Ok(()),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(_) => fs::rename(&hidden, &manifest),
        };
        let _ = fs::remove_file(&hidden);
        made.map_err(io_error(&manifest))?;
        sync_dir(dir)?;
        Ok(dataset)
    }

    /// Where it is.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Who may read what is written.
    pub fn access(&self) -> Access {
        self.access
    }

    /// What `flowmine.json` says, with what writers have committed and not yet written there.
    ///
    /// # Errors
    /// When it is missing, damaged or of a newer version.
    pub fn manifest(&self) -> Result<Manifest, DatasetError> {
        // The lists first: one that is done in between has then been added to the file that is read after it.
        let pending = self.pending()?;
        let mut manifest = self.stored_manifest()?;
        pending.iter().for_each(|commit| commit.manifest.add_to(&mut manifest));
        Ok(manifest)
    }

    fn stored_manifest(&self) -> Result<Manifest, DatasetError> {
        let path = self.dir.join(MANIFEST);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Err(DatasetError::NotADataset(self.dir.clone())),
            Err(e) => return Err(io_error(&path)(e)),
        };
        let manifest: Manifest = serde_json::from_slice(&bytes).map_err(|source| DatasetError::Json { path: path.clone(), source })?;
        if manifest.format_version > FORMAT_VERSION {
            return Err(DatasetError::Version { path, found: manifest.format_version });
        }
        Ok(manifest)
    }

    /// The files of a table in the order in which they are read, open, so that a merge meanwhile does not matter. A table that is split
    /// can have more files than a process may have open: [`Dataset::leaves`] gives them folder by folder.
    ///
    /// # Errors
    /// When a folder cannot be read. A table without a folder has no files.
    pub fn parts<R: Row>(&self) -> Result<Vec<Part>, DatasetError> {
        let mut parts = Vec::new();
        for leaf in self.leaves::<R>()? {
            parts.extend(self.leaf_parts(&leaf)?);
        }
        Ok(parts)
    }

    /// The folders that hold a table's files, in the order in which they are read: by host, then by day.
    ///
    /// # Errors
    /// When a folder cannot be read.
    pub fn leaves<R: Row>(&self) -> Result<Vec<Leaf>, DatasetError> {
        if !R::SPLIT {
            return Ok(vec![Leaf::whole::<R>()]);
        }
        let mut leaves = BTreeSet::new();
        // Before the folders, as their lists may be done meanwhile: a folder is made before its transaction is committed.
        for commit in self.pending()? {
            let of_table = commit.moves.iter().filter_map(|(_, to)| Leaf::of_part(to)).map(|(leaf, _)| leaf);
            leaves.extend(of_table.filter(|leaf| leaf.table() == R::TABLE));
        }
        let table = self.dir.join(R::TABLE);
        for (host, folder) in folders(&table, place::of_host_folder)? {
            for (day, _) in folders(&folder, place::of_day_folder)? {
                leaves.insert(Leaf::split::<R>(&host, day));
            }
        }
        Ok(leaves.into_iter().collect())
    }

    /// The files of one of a table's folders in the order of their writers and of writing, open.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn leaf_parts(&self, leaf: &Leaf) -> Result<Vec<Part>, DatasetError> {
        let mut tries = 0;
        loop {
            match self.try_open_parts(leaf) {
                // A writer finished a merge between our look at the folder and our opening of a file.
                Err(DatasetError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound && tries < 100 => tries += 1,
                other => return other,
            }
        }
    }

    fn try_open_parts(&self, leaf: &Leaf) -> Result<Vec<Part>, DatasetError> {
        let relative = leaf.folder();
        let folder = self.dir.join(&relative);
        self.plain_folders(&relative)?;
        let mut files: BTreeSet<PartName> = BTreeSet::new();
        // The lists of commits are read before the folder and after it: a move that is done in between shows as the final name
        // either way, and what a list deletes is not read beside what replaces it.
        let before = self.pending()?;
        match fs::read_dir(&folder) {
            Ok(entries) => {
                for entry in entries {
                    let name = entry.map_err(io_error(&folder))?.file_name();
                    files.extend(name.to_str().and_then(PartName::of));
                }
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => return Err(io_error(&folder)(e)),
        }
        let after = self.pending()?;
        let here = |path: &str| Leaf::of_part(path).filter(|(of, _)| of == leaf).map(|(_, name)| name);
        let deleted: BTreeSet<PartName> =
            before.iter().chain(&after).flat_map(|commit| &commit.deletes).filter_map(|path| here(path)).collect();
        let mut from: Vec<(PartName, PathBuf)> = Vec::new();
        for (hidden, to) in after.iter().flat_map(|commit| &commit.moves) {
            from.extend(here(to).filter(|name| !files.contains(name)).map(|name| (name, self.dir.join(hidden))));
        }
        from.extend(files.difference(&deleted).map(|name| (name.clone(), folder.join(name.file_name()))));
        // What a merged file holds is not read a second time from the files it replaces.
        let names: Vec<PartName> = from.iter().map(|(name, _)| name.clone()).collect();
        from.retain(|(name, _)| !names.iter().any(|other| other.covers(name)));
        from.sort();
        let mut parts = Vec::with_capacity(from.len());
        for (name, path) in from {
            plain_file(&path)?;
            let file = File::open(&path).map_err(io_error(&path))?;
            let bytes = file.metadata().map_err(io_error(&path))?.len();
            parts.push(Part { leaf: leaf.clone(), name, path, file, bytes });
        }
        Ok(parts)
    }

    /// Refuses a folder of the dataset that is not one, or lies behind a symbolic link.
    fn plain_folders(&self, relative: &str) -> Result<(), DatasetError> {
        let mut folder = self.dir.clone();
        for step in relative.split('/').filter(|step| !step.is_empty()) {
            folder.push(step);
            plain_folder(&folder)?;
        }
        Ok(())
    }

    /// What each writer has committed and not finished.
    fn pending(&self) -> Result<Vec<Commit>, DatasetError> {
        let mut commits = vec![self.pending_of(&Role::Raw)?, self.pending_of(&Role::Derived)?];
        let entries = match fs::read_dir(&self.dir) {
            Ok(entries) => entries,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(commits),
            Err(e) => return Err(io_error(&self.dir)(e)),
        };
        let mut hosts = BTreeSet::new();
        for entry in entries {
            let name = entry.map_err(io_error(&self.dir))?.file_name();
            if let Some(Role::Host(host)) = name.to_str().and_then(Role::of_commit_file) {
                hosts.insert(host);
            }
        }
        for host in hosts {
            commits.push(self.pending_of(&Role::Host(host))?);
        }
        Ok(commits)
    }

    fn pending_of(&self, role: &Role) -> Result<Commit, DatasetError> {
        let path = self.dir.join(role.commit_file());
        plain_file(&path)?;
        match fs::read(&path) {
            Ok(bytes) => {
                let commit: Commit = serde_json::from_slice(&bytes).map_err(|source| DatasetError::Json { path: path.clone(), source })?;
                let why = "this list of a writer's last steps names files that are not of a dataset";
                if commit.is_ours(role) { Ok(commit) } else { Err(DatasetError::Foreign { path, why }) }
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Commit::default()),
            Err(e) => Err(io_error(&path)(e)),
        }
    }

    /// Reads a whole table, file after file; memory holds one row group at a time besides what `each` keeps.
    ///
    /// # Errors
    /// When a file cannot be read, or what `each` returns.
    pub fn read<R: Row, E: From<DatasetError>>(
        &self,
        projection: Projection<'_>,
        mut each: impl FnMut(R::Of<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        for leaf in self.leaves::<R>()? {
            for part in self.leaf_parts(&leaf)? {
                let mut first = 0;
                for count in part.group_sizes()? {
                    let rows = part.read_rows::<R>(projection, first, count)?;
                    first += count;
                    let rows = rows.iter().map_err(|e| parquet_error(&part.path)(e.into()));
                    // The iterator borrows the rows, so the error is taken out first.
                    for row in rows? {
                        each(row)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// How many rows a table has.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn row_count<R: Row>(&self) -> Result<u64, DatasetError> {
        let mut rows = 0;
        for leaf in self.leaves::<R>()? {
            for part in self.leaf_parts(&leaf)? {
                rows += part.group_sizes()?.into_iter().map(|count| count as u64).sum::<u64>();
            }
        }
        Ok(rows)
    }

    /// Where a file lies: under its own name, or still under the hidden one of a transaction that was committed and not finished.
    fn current(&self, name: &str) -> Result<PathBuf, DatasetError> {
        for commit in self.pending()? {
            let hidden = commit.moves.iter().find(|(_, to)| to == name).map(|(hidden, _)| self.dir.join(hidden));
            if let Some(hidden) = hidden.filter(|hidden| hidden.exists()) {
                return Ok(hidden);
            }
        }
        Ok(self.dir.join(name))
    }

    /// A file of an observer's memory, `None` when there is none.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn state(&self, name: &str) -> Result<Option<Vec<u8>>, DatasetError> {
        let path = self.current(&format!("{STATE}/{name}"))?;
        match fs::read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(io_error(&path)(e)),
        }
    }

    /// Whether a file of an observer's memory exists.
    pub fn has_state(&self, name: &str) -> bool {
        self.dir.join(STATE).join(name).exists()
    }

    /// A table in an observer's memory, `None` when there is none.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn state_rows<R: Row>(&self, name: &str) -> Result<Option<Rows<R>>, DatasetError> {
        let path = self.current(&format!("{STATE}/{name}"))?;
        match File::open(&path) {
            Ok(file) => Ok(Some(parquet::read(file, Projection::All).map_err(parquet_error(&path))?)),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(io_error(&path)(e)),
        }
    }
}

const MANIFEST: &str = "flowmine.json";
const STATE: &str = ".state";

/// The folders in a folder whose names mean something, as what they mean; none when there is no such folder.
fn folders<T>(folder: &Path, meaning: impl Fn(&str) -> Option<T>) -> Result<Vec<(T, PathBuf)>, DatasetError> {
    plain_folder(folder)?;
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(io_error(folder)(e)),
    };
    let mut folders = Vec::new();
    for entry in entries {
        let name = entry.map_err(io_error(folder))?.file_name();
        if let Some(meant) = name.to_str().and_then(&meaning) {
            folders.push((meant, folder.join(name)));
        }
    }
    Ok(folders)
}

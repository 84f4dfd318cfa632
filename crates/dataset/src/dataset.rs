//! A dataset that is open: its directory, its manifest, its files in the order in which they are
//! read, and an observer's memory.
//!
//! How its tables are read is in `row_groups.rs` and `in_time.rs`, how they are written in
//! `writer.rs` and `transaction.rs`.

use std::collections::BTreeSet;
use std::fs::File;
use std::hash::{Hash, Hasher};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flowmine_files::{FileError, Folder};
use flowmine_schema::{Row, tables};
use rustc_hash::FxHasher;

use crate::access::Access;
use crate::commit::Commit;
use crate::disk::read_small;
use crate::error::{DatasetError, file_error, io_error, parquet_error};
use crate::format::{FORMAT_VERSION, MANIFEST, SINCE, STATE};
use crate::manifest::{Manifest, manifest_json};
use crate::part::Part;
use crate::place::{self, Leaf, PartName};
use crate::projection::Projection;
use crate::role::{DERIVED, Role};
use crate::rows::Rows;
use crate::table_file::TableFile;
use crate::unchecked;

/// A dataset, open for reading.
#[derive(Debug, Clone)]
pub struct Dataset {
    pub(crate) folder: Arc<Folder>,
    pub(crate) access: Access,
    as_owner: bool,
}

impl Dataset {
    /// Opens the existing dataset in a directory.
    ///
    /// # Errors
    /// When there is none or a newer flowmine wrote it.
    pub fn open(dir: &Path) -> Result<Self, DatasetError> {
        let folder = match Folder::open(dir) {
            Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Err(DatasetError::NotADataset(dir.to_owned()));
            }
            other => other.map_err(io_error(dir))?,
        };
        let dataset = Self::new(folder);
        dataset.manifest()?;
        Ok(dataset)
    }

    fn new(folder: Folder) -> Self {
        Self { access: Access::new(&folder), folder: Arc::new(folder), as_owner: false }
    }

    /// Opens a dataset, or makes one where there is nothing or an empty directory.
    ///
    /// # Errors
    /// When the directory holds something else, or cannot be made.
    pub fn open_or_create(dir: &Path) -> Result<Self, DatasetError> {
        Self::open_or_create_with(dir, Access::Umask, false)
    }

    /// Opens a dataset, or makes one that this access is given to. What an existing one has stays:
    /// see [`Dataset::access`]. With `as_owner` everything is written as the directory's owner: see
    /// [`Dataset::as_owner`].
    ///
    /// # Errors
    /// When the directory holds something else, cannot be made, or belongs to another and the
    /// caller is root.
    pub fn open_or_create_with(dir: &Path, access: Access, as_owner: bool) -> Result<Self, DatasetError> {
        let folder = match Folder::open(dir) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => access.make_directory(dir).map_err(file_error(dir))?,
            Err(e) if e.kind() == io::ErrorKind::NotADirectory => return Err(DatasetError::NotEmpty(dir.to_owned())),
            other => other.map_err(io_error(dir))?,
        };
        let folder = if as_owner { folder.as_owner().map_err(io_error(dir))? } else { folder };
        folder.check_way().map_err(file_error(dir))?;
        let mut dataset = Self { as_owner, ..Self::new(folder) };
        let folder = &dataset.folder;
        let manifest = dir.join(MANIFEST);
        if folder.has_file(MANIFEST).map_err(file_error(&manifest))? {
            dataset.manifest()?;
            return Ok(dataset);
        }
        dataset.check_owner()?;
        let names = folder.names().map_err(io_error(dir))?;
        // A first writer may just now be at the same place: its hidden files are no reason to refuse.
        if names.iter().any(|name| !name.starts_with('.') && name != MANIFEST) {
            // Tables, where another made the dataset since we looked.
            let is_made = folder.has_file(MANIFEST).map_err(file_error(&manifest))?;
            return if is_made { Ok(dataset) } else { Err(DatasetError::NotEmpty(dir.to_owned())) };
        }
        // Closed to others before anything is written into it; existing files may be open to other
        // users.
        if access == Access::Private && dataset.access != access && names.is_empty() {
            folder.set_mode(access.folder_mode()).map_err(io_error(dir))?;
            dataset.access = access;
        }
        let mut file = folder.new_file(MANIFEST, dataset.access.file_mode()).map_err(file_error(&manifest))?;
        file.write_all(&manifest_json(&Manifest::default())).map_err(io_error(&manifest))?;
        match file.add() {
            // Whoever was first keeps his, which may already say more.
            Err(error) if !error.is_already_there() => Err(file_error(&manifest)(error)),
            _ => Ok(dataset),
        }
    }

    /// The same dataset, written as its directory's owner where the caller is root.
    ///
    /// # Errors
    /// When the owner cannot be found out.
    pub fn as_owner(self) -> Result<Self, DatasetError> {
        let folder = self.folder.try_clone().and_then(Folder::as_owner).map_err(io_error(self.dir()))?;
        Ok(Self { folder: Arc::new(folder), as_owner: true, ..self })
    }

    /// The owner of a directory can redirect a writer. So root only writes where root owns the
    /// directory, and no user writes through a link of another user.
    pub(crate) fn check_owner(&self) -> Result<(), DatasetError> {
        self.folder.check_way().map_err(file_error(self.dir()))?;
        let owner = self.folder.owner().map_err(io_error(self.dir()))?;
        let is_root = flowmine_files::is_root();
        if is_root && owner != 0 && !self.as_owner {
            return Err(DatasetError::OfAnother { path: self.dir().to_owned(), owner });
        }
        Ok(())
    }

    /// The directory of the dataset.
    pub fn dir(&self) -> &Path {
        self.folder.path()
    }

    /// Who may read what is written.
    pub fn access(&self) -> Access {
        self.access
    }

    /// A folder in it, by its path relative to the dataset; nothing when there is none.
    pub(crate) fn folder(&self, relative: &str) -> Result<Option<Folder>, DatasetError> {
        let mut folder: Option<Folder> = None;
        for step in relative.split('/') {
            let above = folder.as_ref().unwrap_or(&self.folder);
            folder = match above.folder(step) {
                Ok(below) => Some(below),
                Err(error) if error.is_not_found() => return Ok(None),
                Err(error) => return Err(file_error(&above.path().join(step))(error)),
            };
        }
        Ok(folder)
    }

    /// Whether a folder is a dataset, of any version, or lies in one.
    ///
    /// # Errors
    /// When a folder above it cannot be looked at, other than for want of rights.
    pub fn holds(folder: &Folder) -> io::Result<bool> {
        let mut next = Some(folder.try_clone()?);
        while let Some(folder) = next {
            next = match folder.above() {
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => None,
                other => other?,
            };
            if matches!(Self::new(folder).stored_manifest(), Ok(_) | Err(DatasetError::Version { .. })) {
                return Ok(true);
            }
        }
        Ok(false)
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

    pub(crate) fn stored_manifest(&self) -> Result<Manifest, DatasetError> {
        let path = self.dir().join(MANIFEST);
        let bytes = match self.folder.read(MANIFEST).and_then(|file| Ok(read_small(file)?)) {
            Err(error) if error.is_not_found() => return Err(DatasetError::NotADataset(self.dir().to_owned())),
            other => other.map_err(file_error(&path))?,
        };
        let manifest: Manifest = serde_json::from_slice(&bytes).map_err(|source| DatasetError::Json { path: path.clone(), source })?;
        if manifest.format_version > FORMAT_VERSION {
            return Err(DatasetError::Version { path, found: manifest.format_version });
        }
        Ok(manifest)
    }

    /// The files of a table in the order in which they are read, open, so that a merge meanwhile
    /// does not matter. A table that is split can have more files than a process may have open:
    /// [`Dataset::leaves`] gives them folder by folder.
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

    /// The folders that hold a table's files, in the order in which they are read: by host, then by
    /// day.
    ///
    /// # Errors
    /// When a folder cannot be read.
    pub fn leaves<R: Row>(&self) -> Result<Vec<Leaf>, DatasetError> {
        self.leaves_of(R::TABLE, R::SPLIT)
    }

    pub(crate) fn leaves_of(&self, table: &'static str, is_split: bool) -> Result<Vec<Leaf>, DatasetError> {
        if !is_split {
            return Ok(vec![Leaf::whole(table)]);
        }
        let mut leaves = BTreeSet::new();
        // Before the folders, as their lists may be done meanwhile: a folder is made before its transaction is committed.
        for commit in self.pending()? {
            let of_table = commit.moves.iter().filter_map(|(_, to)| Leaf::of_part(to)).map(|(leaf, _)| leaf);
            leaves.extend(of_table.filter(|leaf| leaf.table() == table));
        }
        let Some(folder) = self.folder(table)? else { return Ok(leaves.into_iter().collect()) };
        for (host, folder) in folders(&folder, place::of_host_folder)? {
            for (day, _) in folders(&folder, place::of_day_folder)? {
                leaves.insert(Leaf::split(table, &host, day));
            }
        }
        Ok(leaves.into_iter().collect())
    }

    /// The folders that hold a table's files of one host, by day. Those of other hosts are not
    /// looked at.
    pub(crate) fn leaves_of_host(&self, table: &'static str, host: &str) -> Result<Vec<Leaf>, DatasetError> {
        let mut leaves = BTreeSet::new();
        for commit in self.pending()? {
            let of_table = commit.moves.iter().filter_map(|(_, to)| Leaf::of_part(to)).map(|(leaf, _)| leaf);
            leaves.extend(of_table.filter(|leaf| leaf.table() == table && leaf.host() == Some(host)));
        }
        let Some(folder) = self.folder(&format!("{table}/{}", place::host_folder(host)))? else { return Ok(leaves.into_iter().collect()) };
        for (day, _) in folders(&folder, place::of_day_folder)? {
            leaves.insert(Leaf::split(table, host, day));
        }
        Ok(leaves.into_iter().collect())
    }

    /// The files of one of a table's folders in the order of their writers and of writing, open.
    ///
    /// # Errors
    /// When the folder cannot be read; [`DatasetError::Older`] when its rows were derived by a
    /// flowmine that meant something else by them.
    pub fn leaf_parts(&self, leaf: &Leaf) -> Result<Vec<Part>, DatasetError> {
        let parts = self.parts_of_any_version(leaf)?;
        if let Some((table, since)) = SINCE.iter().find(|(table, _)| *table == leaf.table()).filter(|_| !parts.is_empty()) {
            let found = self.manifest()?.format_version;
            if found < *since {
                return Err(DatasetError::Older { path: self.dir().to_owned(), table, found });
            }
        }
        Ok(parts)
    }

    pub(crate) fn parts_of_any_version(&self, leaf: &Leaf) -> Result<Vec<Part>, DatasetError> {
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
        // The lists of commits are read before the folder and after it: a move that is done in
        // between shows as the final name either way, and what a list deletes is not read together
        // with what replaces it.
        let before = self.pending()?;
        let folder = self.folder(&leaf.folder())?;
        let names = folder.as_ref().map_or_else(|| Ok(Vec::new()), |folder| folder.names().map_err(io_error(folder.path())))?;
        let files: BTreeSet<PartName> = names.iter().filter_map(|name| PartName::new(name)).collect();
        let after = self.pending()?;
        let here = |path: &str| Leaf::of_part(path).filter(|(of, _)| of == leaf).map(|(_, name)| name);
        let deleted: BTreeSet<PartName> =
            before.iter().chain(&after).flat_map(|commit| &commit.deletes).filter_map(|path| here(path)).collect();
        let mut from: Vec<(PartName, &Folder, String)> = Vec::new();
        for (hidden, to) in after.iter().flat_map(|commit| &commit.moves) {
            from.extend(here(to).filter(|name| !files.contains(name)).map(|name| (name, &*self.folder, hidden.clone())));
        }
        if let Some(folder) = &folder {
            from.extend(files.difference(&deleted).map(|name| (name.clone(), folder, name.file_name())));
        }
        // What a merged file holds is not read a second time from the files it replaces.
        let names: Vec<PartName> = from.iter().map(|(name, ..)| name.clone()).collect();
        from.retain(|(name, ..)| !names.iter().any(|other| other.covers(name)));
        from.sort_by(|a, b| a.0.cmp(&b.0));
        let dataset: Arc<Path> = self.dir().into();
        let mut parts = Vec::with_capacity(from.len());
        for (name, folder, file_name) in from {
            let path = folder.path().join(&file_name);
            let file = folder.read(&file_name).map_err(file_error(&path))?;
            let bytes = file.metadata().map_err(io_error(&path))?.len();
            parts.push(Part { dataset: Arc::clone(&dataset), leaf: leaf.clone(), name, path, file, bytes });
        }
        Ok(parts)
    }

    /// What each writer has committed and not finished.
    fn pending(&self) -> Result<Vec<Commit>, DatasetError> {
        let mut commits = vec![self.pending_of(&Role::Raw)?, self.pending_of(&Role::Derived)?];
        let mut hosts = BTreeSet::new();
        for name in self.folder.names().map_err(io_error(self.dir()))? {
            hosts.extend(Role::of_commit_file(&name).filter(|role| !matches!(role, Role::Raw | Role::Derived)));
        }
        for role in hosts {
            commits.push(self.pending_of(&role)?);
        }
        Ok(commits)
    }

    pub(crate) fn pending_of(&self, role: &Role) -> Result<Commit, DatasetError> {
        let path = self.dir().join(role.commit_file());
        match self.folder.read(role.commit_file()).and_then(|file| Ok(read_small(file)?)) {
            Ok(bytes) => {
                let commit: Commit = serde_json::from_slice(&bytes).map_err(|source| DatasetError::Json { path: path.clone(), source })?;
                let why = "this list of a writer's last steps names files that are not of a dataset";
                if commit.is_ours(role) { Ok(commit) } else { Err(DatasetError::Foreign { path, why }) }
            }
            Err(error) if error.is_not_found() => Ok(Commit::default()),
            Err(error) => Err(file_error(&path)(error)),
        }
    }

    /// How many rows a table has.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn row_count<R: Row>(&self) -> Result<u64, DatasetError> {
        self.row_count_in(&self.leaves::<R>()?)
    }

    pub(crate) fn row_count_in(&self, leaves: &[Leaf]) -> Result<u64, DatasetError> {
        let mut rows = 0;
        for leaf in leaves {
            for part in self.leaf_parts(leaf)? {
                rows += part.rows()?;
            }
        }
        Ok(rows)
    }

    /// A number for the files of raw rows, from their names and sizes: as long as it is the same,
    /// so are the rows. Derived rows are ignored.
    ///
    /// # Errors
    /// When a folder cannot be read.
    pub fn raw_state(&self) -> Result<u64, DatasetError> {
        let mut hasher = FxHasher::default();
        for table in tables::ALL {
            for leaf in self.leaves_of(table.name, table.split)? {
                for part in self.parts_of_any_version(&leaf)?.iter().filter(|part| part.name.owner.as_deref() != Some(DERIVED)) {
                    (leaf.folder(), part.name.file_name(), part.bytes).hash(&mut hasher);
                }
            }
        }
        Ok(hasher.finish())
    }

    /// A file of an observer's memory, open, and its path: under its own name, or still under the
    /// hidden one of a transaction that was committed and not finished.
    fn state_file(&self, name: &str) -> Result<Option<(File, PathBuf)>, DatasetError> {
        let relative = format!("{STATE}/{name}");
        for commit in self.pending()? {
            let Some((hidden, _)) = commit.moves.iter().find(|(_, to)| *to == relative) else { continue };
            match self.folder.read(hidden) {
                Err(error) if error.is_not_found() => {}
                other => return open_file(other, self.dir().join(hidden)),
            }
        }
        match self.folder(STATE)? {
            Some(folder) => open_file(folder.read(name), folder.path().join(name)),
            None => Ok(None),
        }
    }

    /// A file of an observer's memory, `None` when there is none.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn state(&self, name: &str) -> Result<Option<Vec<u8>>, DatasetError> {
        let Some((file, path)) = self.state_file(name)? else { return Ok(None) };
        read_small(file).map(Some).map_err(io_error(&path))
    }

    /// Whether a file of an observer's memory exists.
    pub fn has_state(&self, name: &str) -> bool {
        self.folder(STATE).is_ok_and(|folder| folder.is_some_and(|folder| folder.has_file(name).unwrap_or(true)))
    }

    /// A table in an observer's memory, `None` when there is none.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn state_rows<R: Row>(&self, name: &str) -> Result<Option<Rows<R>>, DatasetError> {
        let Some((file, path)) = self.state_file(name)? else { return Ok(None) };
        let file = TableFile::open(file).map_err(parquet_error(&path))?;
        if !file.has_checksums() {
            unchecked::note(self.dir(), &path);
        }
        let columns = file.read_whole(None, Projection::new::<R>());
        Ok(Some(columns.and_then(Rows::of).map_err(parquet_error(&path))?))
    }
}

fn open_file(opened: Result<File, FileError>, path: PathBuf) -> Result<Option<(File, PathBuf)>, DatasetError> {
    match opened {
        Ok(file) => Ok(Some((file, path))),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(file_error(&path)(error)),
    }
}

/// The folders in a folder that have a meaningful name, as its meaning.
fn folders<T>(folder: &Folder, meaning: impl Fn(&str) -> Option<T>) -> Result<Vec<(T, Folder)>, DatasetError> {
    let mut folders = Vec::new();
    for name in folder.names().map_err(io_error(folder.path()))? {
        if let Some(meant) = meaning(&name) {
            folders.push((meant, folder.folder(&name).map_err(file_error(&folder.path().join(&name)))?));
        }
    }
    Ok(folders)
}

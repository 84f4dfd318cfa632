//! The dataset directory: what is in it, who may write, and how nothing is lost or doubled.
//!
//! ```text
//! DIR/flowmine.json                                  format version, clusters, hosts, imported files
//! DIR/job_states/part-0000000001-0000000001.parquet  one folder a table; the numbers say which writes a file holds
//! DIR/.state/…                                       what an observer must remember between polls
//! ```
//!
//! **Writing** is a transaction: every new file is written and synced under a hidden name, then a list of the renames and
//! deletions to do is itself renamed to `.raw.commit.json` (that is the moment of commit), then they are done. Whoever is killed
//! before that moment leaves only hidden files, which the next writer removes; whoever is killed after it leaves a list that
//! the next writer finishes and that readers apply in their heads. A full disk is an error before the moment of commit.
//!
//! There is one writer of raw tables at a time and one of derived tables ([`Role`]), held apart by advisory locks on
//! `.raw.lock` and `.derived.lock` which the kernel releases when a process ends. Readers take no lock.
//!
//! **Small files** are merged as they grow in number: a merged file carries the range of writes that it holds, and appears in
//! the same transaction in which those it replaces go.

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::parquet::{self, ParquetError};
use crate::row::{Builder, Projection, Row, Rows};

/// The version of the format that this code reads and writes.
pub const FORMAT_VERSION: u32 = 1;

/// Why a dataset could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum DatasetError {
    /// There is no dataset at this place.
    #[error("{} is not a flowmine dataset (it has no flowmine.json): give --dataset the directory that `flowmine observe` or `flowmine import` wrote", .0.display())]
    NotADataset(PathBuf),
    /// The directory holds other things.
    #[error("{} is not empty and not a flowmine dataset: choose another directory for --dataset", .0.display())]
    NotEmpty(PathBuf),
    /// A newer flowmine wrote it.
    #[error("{}: format version {found} is newer than {FORMAT_VERSION}, the newest that this flowmine reads: use a newer flowmine", .path.display())]
    Version {
        /// The manifest.
        path: PathBuf,
        /// What it says.
        found: u32,
    },
    /// Somebody else writes.
    #[error("{}: another flowmine is writing here ({holder}): stop it first, or use another dataset", .path.display())]
    Locked {
        /// The dataset.
        path: PathBuf,
        /// What it wrote about itself into the lock file.
        holder: String,
    },
    /// The operating system refused.
    #[error("{}: {source}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
    /// A JSON file of the dataset is damaged.
    #[error("{}: line {}, column {}: {source}", .path.display(), .source.line(), .source.column())]
    Json {
        /// The file.
        path: PathBuf,
        /// Where and what.
        source: serde_json::Error,
    },
    /// Something lies where flowmine's own files should be, and following it would lead out of the dataset.
    #[error("{}: {why}: the dataset was tampered with; look at what is there, and remove it if it is not yours", .path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A Parquet file is damaged or was written by something else.
    #[error("{}: {source}", .path.display())]
    Parquet {
        /// The file.
        path: PathBuf,
        /// What the reader said.
        source: ParquetError,
    },
}

fn io_error(path: &Path) -> impl FnOnce(io::Error) -> DatasetError {
    move |source| DatasetError::Io { path: path.to_owned(), source }
}

fn parquet_error(path: &Path) -> impl FnOnce(ParquetError) -> DatasetError {
    move |error| match error {
        ParquetError::Io(source) => DatasetError::Io { path: path.to_owned(), source },
        source => DatasetError::Parquet { path: path.to_owned(), source },
    }
}

/// `flowmine.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`FORMAT_VERSION`] of the writer.
    pub format_version: u32,
    /// Names of the clusters whose jobs are here, sorted.
    #[serde(default)]
    pub clusters: BTreeSet<String>,
    /// Names of the traced hosts, sorted.
    #[serde(default)]
    pub hosts: BTreeSet<String>,
    /// Files that were imported, so that none is taken in twice.
    #[serde(default)]
    pub imports: Vec<Import>,
}

impl Default for Manifest {
    fn default() -> Self {
        Self { format_version: FORMAT_VERSION, clusters: BTreeSet::new(), hosts: BTreeSet::new(), imports: Vec::new() }
    }
}

/// A file that was imported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Import {
    /// Its file name, without folders.
    pub name: String,
    /// SHA-256 of its bytes, in hexadecimal.
    pub sha256: String,
}

/// Whose tables are written: there is one writer for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Extractors and importers.
    Raw,
    /// `correlate` and what follows.
    Derived,
}

impl Role {
    fn lock_file(self) -> &'static str {
        match self {
            Role::Raw => ".raw.lock",
            Role::Derived => ".derived.lock",
        }
    }

    fn commit_file(self) -> &'static str {
        match self {
            Role::Raw => ".raw.commit.json",
            Role::Derived => ".derived.commit.json",
        }
    }

    /// What the names of its files begin with while they are being written.
    fn hidden_prefix(self) -> &'static str {
        match self {
            Role::Raw => ".raw-",
            Role::Derived => ".derived-",
        }
    }
}

/// What is left to do of a transaction that has been committed; paths are relative to the dataset.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Commit {
    moves: Vec<(String, String)>,
    deletes: Vec<String>,
}

impl Commit {
    /// Whether it names files of a dataset only. A list that somebody else put there must not move or delete anything else.
    fn is_ours(&self, role: Role) -> bool {
        let own_folder = |folder: &str| folder == STATE || crate::tables::ALL.iter().any(|table| table.name == folder);
        // The folder, when there is one, and the plain name in it.
        let split = |path: &str| -> Option<(Option<String>, String)> {
            let plain = |name: &str| !name.is_empty() && name != "." && name != ".." && !name.contains('/');
            match path.split_once('/') {
                None => plain(path).then(|| (None, path.to_owned())),
                Some((folder, name)) => (own_folder(folder) && plain(name)).then(|| (Some(folder.to_owned()), name.to_owned())),
            }
        };
        let is_part = |path: &str| matches!(split(path), Some((Some(_), name)) if Range::of(&name).is_some());
        self.deletes.iter().all(|path| is_part(path))
            && self.moves.iter().all(|(hidden, name)| match (split(hidden), split(name)) {
                (Some((from, hidden)), Some((to, name))) => {
                    let allowed = match to.as_deref() {
                        None => name == MANIFEST,
                        Some(STATE) => true,
                        Some(_) => Range::of(&name).is_some(),
                    };
                    from == to && allowed && hidden.starts_with(role.hidden_prefix()) && hidden.ends_with(".tmp")
                }
                _ => false,
            })
    }
}

/// Refuses what is not a plain file, without following a symbolic link. Nothing there is fine.
fn plain_file(path: &Path) -> Result<(), DatasetError> {
    plain(path, fs::FileType::is_file, "it is not a plain file")
}

/// Refuses what is not a folder, likewise.
fn plain_folder(path: &Path) -> Result<(), DatasetError> {
    plain(path, fs::FileType::is_dir, "it is not a folder")
}

fn plain(path: &Path, wanted: impl Fn(&fs::FileType) -> bool, why: &'static str) -> Result<(), DatasetError> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if wanted(&metadata.file_type()) => Ok(()),
        Ok(_) => Err(DatasetError::Foreign { path: path.to_owned(), why }),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(e) => Err(io_error(path)(e)),
    }
}

/// A dataset, open for reading.
#[derive(Debug, Clone)]
pub struct Dataset {
    dir: PathBuf,
}

impl Dataset {
    /// Opens an existing dataset.
    ///
    /// # Errors
    /// When there is none or a newer flowmine wrote it.
    pub fn open(dir: &Path) -> Result<Self, DatasetError> {
        let dataset = Self { dir: dir.to_owned() };
        dataset.manifest()?;
        Ok(dataset)
    }

    /// Opens a dataset, or makes one where there is nothing or an empty directory.
    ///
    /// # Errors
    /// When the directory holds something else, or cannot be made.
    pub fn open_or_create(dir: &Path) -> Result<Self, DatasetError> {
        let dataset = Self { dir: dir.to_owned() };
        let manifest = dir.join(MANIFEST);
        if manifest.exists() {
            dataset.manifest()?;
            return Ok(dataset);
        }
        fs::create_dir_all(dir).map_err(io_error(dir))?;
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
        write_synced(&hidden, |file| file.write_all(&manifest_json(&Manifest::default()))).map_err(io_error(&hidden))?;
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

    /// What `flowmine.json` says.
    ///
    /// # Errors
    /// When it is missing, damaged or of a newer version.
    pub fn manifest(&self) -> Result<Manifest, DatasetError> {
        let path = self.current(MANIFEST)?;
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

    /// The files of a table in the order of writing, open, so that a merge meanwhile does not matter.
    ///
    /// # Errors
    /// When the folder cannot be read. A table without a folder has no files.
    pub fn parts<R: Row>(&self) -> Result<Vec<Part>, DatasetError> {
        self.open_parts(R::TABLE)
    }

    fn open_parts(&self, table: &str) -> Result<Vec<Part>, DatasetError> {
        let mut tries = 0;
        loop {
            match self.try_open_parts(table) {
                // A writer finished a merge between our look at the folder and our opening of a file.
                Err(DatasetError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound && tries < 100 => tries += 1,
                other => return other,
            }
        }
    }

    fn try_open_parts(&self, table: &str) -> Result<Vec<Part>, DatasetError> {
        let folder = self.dir.join(table);
        let mut files: BTreeSet<String> = BTreeSet::new();
        plain_folder(&folder)?;
        // The lists of commits are read before the folder and after it: a move that is done in between shows as the final name
        // either way, and what a list deletes is not read beside what replaces it.
        let before = [self.pending(Role::Raw)?, self.pending(Role::Derived)?];
        match fs::read_dir(&folder) {
            Ok(entries) => {
                for entry in entries {
                    let name = entry.map_err(io_error(&folder))?.file_name();
                    files.extend(name.into_string().ok().filter(|name| Range::of(name).is_some()));
                }
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => return Err(io_error(&folder)(e)),
        }
        let mut from: Vec<(Range, PathBuf)> = files.iter().filter_map(|name| Some((Range::of(name)?, folder.join(name)))).collect();
        let after = [self.pending(Role::Raw)?, self.pending(Role::Derived)?];
        for commit in before.iter().chain(&after) {
            from.retain(|(range, _)| !commit.deletes.contains(&format!("{table}/{}", range.file_name())));
        }
        for commit in &after {
            for (hidden, name) in &commit.moves {
                let name = Path::new(name);
                if name.parent() == Some(Path::new(table))
                    && let Some(file) = name.file_name().and_then(|f| f.to_str())
                    && let Some(range) = Range::of(file)
                    && !files.contains(file)
                {
                    from.push((range, self.dir.join(hidden)));
                }
            }
        }
        // What a merged file holds is not read a second time from the files it replaces.
        let ranges: Vec<Range> = from.iter().map(|(range, _)| *range).collect();
        from.retain(|(range, _)| !ranges.iter().any(|other| other.covers(range)));
        from.sort();
        let mut parts = Vec::with_capacity(from.len());
        for (range, path) in from {
            plain_file(&path)?;
            let file = File::open(&path).map_err(io_error(&path))?;
            let bytes = file.metadata().map_err(io_error(&path))?.len();
            parts.push(Part { range, path, file, bytes });
        }
        Ok(parts)
    }

    fn pending(&self, role: Role) -> Result<Commit, DatasetError> {
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
        for part in self.parts::<R>()? {
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
        Ok(())
    }

    /// How many rows a table has.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn row_count<R: Row>(&self) -> Result<u64, DatasetError> {
        let mut rows = 0;
        for part in self.parts::<R>()? {
            rows += part.group_sizes()?.into_iter().map(|count| count as u64).sum::<u64>();
        }
        Ok(rows)
    }

    /// Where a file lies: under its own name, or still under the hidden one of a transaction that was committed and not finished.
    fn current(&self, name: &str) -> Result<PathBuf, DatasetError> {
        for role in [Role::Raw, Role::Derived] {
            let moves = self.pending(role)?.moves;
            let hidden = moves.iter().find(|(_, to)| to == name).map(|(hidden, _)| self.dir.join(hidden));
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

    /// Becomes the writer. `who` is what another would-be writer is told, such as `observe, process 4711`.
    ///
    /// Finishes what a killed writer had committed and removes what it had not.
    ///
    /// # Errors
    /// [`DatasetError::Locked`] when there is a writer.
    pub fn writer(&self, role: Role, who: &str) -> Result<Writer, DatasetError> {
        let path = self.dir.join(role.lock_file());
        plain_file(&path)?;
        let mut lock = File::options().read(true).write(true).create(true).truncate(false).open(&path).map_err(io_error(&path))?;
        match try_lock(&lock) {
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
        let mut writer = Writer { dataset: self.clone(), role, next: 1, _lock: lock };
        writer.recover()?;
        Ok(writer)
    }
}

/// Takes a lock, or gives up after a fifth of a second. A lock outlives its holder for a moment when a process was just being
/// started: the child has the file open until it becomes another program.
fn try_lock(lock: &File) -> Result<(), TryLockError> {
    for _ in 0..20 {
        match lock.try_lock() {
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(10)),
            other => return other,
        }
    }
    lock.try_lock()
}

const MANIFEST: &str = "flowmine.json";
const STATE: &str = ".state";

fn manifest_json(manifest: &Manifest) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(manifest).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

/// Which writes a file holds; ordered as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Range {
    first: u64,
    last: u64,
}

impl Range {
    fn of(name: &str) -> Option<Self> {
        let (first, last) = name.strip_prefix("part-")?.strip_suffix(".parquet")?.split_once('-')?;
        let range = Self { first: first.parse().ok()?, last: last.parse().ok()? };
        (range.first <= range.last).then_some(range)
    }

    fn file_name(self) -> String {
        format!("part-{:010}-{:010}.parquet", self.first, self.last)
    }

    fn covers(&self, other: &Range) -> bool {
        self != other && self.first <= other.first && other.last <= self.last
    }
}

/// One file of a table, open.
#[derive(Debug)]
pub struct Part {
    range: Range,
    path: PathBuf,
    file: File,
    bytes: u64,
}

impl Part {
    /// Its rows, and its path for messages.
    ///
    /// # Errors
    /// When it is damaged.
    pub fn read<R: Row>(self, projection: Projection<'_>) -> Result<(PathBuf, Rows<R>), DatasetError> {
        let rows = parquet::read(self.file, projection).map_err(parquet_error(&self.path))?;
        Ok((self.path, rows))
    }

    fn group_sizes(&self) -> Result<Vec<usize>, DatasetError> {
        let file = self.file.try_clone().map_err(io_error(&self.path))?;
        parquet::group_sizes(file).map_err(parquet_error(&self.path))
    }

    fn read_rows<R: Row>(&self, projection: Projection<'_>, first: usize, count: usize) -> Result<Rows<R>, DatasetError> {
        let file = self.file.try_clone().map_err(io_error(&self.path))?;
        parquet::read_rows(file, projection, first, count).map_err(parquet_error(&self.path))
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its size on disk in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// The one writer of a dataset's raw or derived tables; dropping it lets another in.
#[derive(Debug)]
pub struct Writer {
    dataset: Dataset,
    role: Role,
    next: u64,
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
        for folder in folders(&dir)? {
            for entry in fs::read_dir(&folder).map_err(io_error(&folder))? {
                let entry = entry.map_err(io_error(&folder))?;
                let Ok(name) = entry.file_name().into_string() else { continue };
                if let Some(range) = Range::of(&name) {
                    self.next = self.next.max(range.last + 1);
                } else if name.starts_with(self.role.hidden_prefix()) {
                    let path = entry.path();
                    fs::remove_file(&path).map_err(io_error(&path))?;
                }
            }
        }
        Ok(())
    }

    fn finish_commit(&self) -> Result<(), DatasetError> {
        let dir = &self.dataset.dir;
        let list = dir.join(self.role.commit_file());
        let commit = self.dataset.pending(self.role)?;
        let mut touched = BTreeSet::new();
        for (hidden, name) in &commit.moves {
            let (from, to) = (dir.join(hidden), dir.join(name));
            match fs::rename(&from, &to) {
                Ok(()) => {}
                // Done before we were killed.
                Err(e) if e.kind() == io::ErrorKind::NotFound && to.exists() => {}
                Err(e) => return Err(io_error(&to)(e)),
            }
            touched.extend(to.parent().map(Path::to_owned));
        }
        for name in &commit.deletes {
            let path = dir.join(name);
            match fs::remove_file(&path) {
                Ok(()) => {}
                Err(e) if e.kind() == io::ErrorKind::NotFound => {}
                Err(e) => return Err(io_error(&path)(e)),
            }
            touched.extend(path.parent().map(Path::to_owned));
        }
        for folder in touched {
            sync_dir(&folder)?;
        }
        match fs::remove_file(&list) {
            Ok(()) => sync_dir(dir),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(e) => Err(io_error(&list)(e)),
        }
    }

    /// Begins a transaction; dropping it without [`Transaction::commit`] undoes it.
    ///
    /// # Errors
    /// When the transaction before was committed and its files could not be put in their places, and still cannot.
    pub fn begin(&mut self) -> Result<Transaction<'_>, DatasetError> {
        self.finish_commit()?;
        let number = self.next;
        Ok(Transaction { writer: self, number, commit: Commit::default(), manifest: None, counter: 0, done: false })
    }

    /// Merges small files of a table where many have gathered. Sixteen neighbours at a time, so that a row is written anew a logarithmic number of times until its file is large.
    ///
    /// # Errors
    /// When a file cannot be read or written; the dataset stays as it was.
    pub fn merge_small_files<R: Row>(&mut self) -> Result<(), DatasetError> {
        let table = R::TABLE;
        for ceiling in MERGE_CEILINGS {
            let parts = self.dataset.open_parts(table)?;
            for group in adjacent_groups(&parts, ceiling) {
                let mut files = Vec::new();
                let mut merged: Option<polars::prelude::DataFrame> = None;
                for part in &parts[group] {
                    let file = part.file.try_clone().map_err(io_error(&part.path))?;
                    let frame = parquet::read_frame(file).map_err(parquet_error(&part.path))?;
                    match &mut merged {
                        None => merged = Some(frame),
                        Some(all) => {
                            // Files of an older format version lack columns: they stay as they are.
                            if all.vstack_mut(&frame).is_err() {
                                return Ok(());
                            }
                        }
                    }
                    files.push((part.range, part.path.clone()));
                }
                let (Some(mut frame), Some(first), Some(last)) = (merged, files.first(), files.last()) else { continue };
                let range = Range { first: first.0.first, last: last.0.last };
                let mut transaction = self.begin()?;
                transaction.write_file(table, &range.file_name(), |file| parquet::write_frame(file, &mut frame))?;
                for (_, path) in &files {
                    if let Some(name) = path.file_name().and_then(|n| n.to_str()) {
                        transaction.commit.deletes.push(format!("{table}/{name}"));
                    }
                }
                transaction.commit()?;
            }
        }
        Ok(())
    }
}

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

/// Files on their way into the dataset, all or none.
#[must_use = "nothing is written before commit()"]
#[derive(Debug)]
pub struct Transaction<'w> {
    writer: &'w mut Writer,
    number: u64,
    commit: Commit,
    manifest: Option<Manifest>,
    counter: u32,
    done: bool,
}

impl Transaction<'_> {
    /// Adds rows to a table, as a file; an empty builder adds none. Many rows are best added in several calls, so that memory holds few.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn append<R: Row>(&mut self, rows: Builder<R>) -> Result<(), DatasetError> {
        if rows.is_empty() {
            return Ok(());
        }
        let mut rows = self.columns(rows)?;
        let name = |number| Range { first: number, last: number }.file_name();
        let taken = |number| self.commit.moves.iter().any(|(_, to)| *to == format!("{}/{}", R::TABLE, name(number)));
        while taken(self.number) {
            self.number += 1;
        }
        self.write_file(R::TABLE, &name(self.number), |file| parquet::write(file, &mut rows))
    }

    /// Puts rows in place of all that a table held.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn replace<R: Row>(&mut self, rows: Builder<R>) -> Result<(), DatasetError> {
        for part in self.writer.dataset.open_parts(R::TABLE)? {
            self.commit.deletes.push(format!("{}/{}", R::TABLE, part.range.file_name()));
        }
        self.append(rows)
    }

    /// Writes a table of an observer's memory.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn put_state_rows<R: Row>(&mut self, name: &str, rows: Builder<R>) -> Result<(), DatasetError> {
        let mut rows = self.columns(rows)?;
        self.write_file(STATE, name, |file| parquet::write(file, &mut rows))
    }

    /// Writes a file of an observer's memory.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn put_state(&mut self, name: &str, bytes: &[u8]) -> Result<(), DatasetError> {
        self.write_file(STATE, name, |mut file| Ok(file.write_all(bytes)?))
    }

    /// Changes `flowmine.json`.
    ///
    /// # Errors
    /// When the present one cannot be read.
    pub fn update_manifest(&mut self, change: impl FnOnce(&mut Manifest)) -> Result<(), DatasetError> {
        let before = self.writer.dataset.manifest()?;
        let mut manifest = self.manifest.take().unwrap_or_else(|| before.clone());
        change(&mut manifest);
        self.manifest = Some(manifest).filter(|manifest| *manifest != before);
        Ok(())
    }

    fn columns<R: Row>(&self, rows: Builder<R>) -> Result<Rows<R>, DatasetError> {
        let path = self.writer.dataset.dir.join(R::TABLE);
        rows.finish().map_err(|e| parquet_error(&path)(e.into()))
    }

    fn write_file(&mut self, folder: &str, name: &str, write: impl FnOnce(&File) -> Result<(), ParquetError>) -> Result<(), DatasetError> {
        let dir = &self.writer.dataset.dir;
        plain_folder(&dir.join(folder))?;
        if !folder.is_empty() && !dir.join(folder).is_dir() {
            fs::create_dir_all(dir.join(folder)).map_err(io_error(&dir.join(folder)))?;
            sync_dir(dir)?;
        }
        self.counter += 1;
        let slash = if folder.is_empty() { "" } else { "/" };
        let hidden = format!("{folder}{slash}{}{}-{}.tmp", self.writer.role.hidden_prefix(), self.number, self.counter);
        let path = dir.join(&hidden);
        // Listed before it is written, so that a failure half way removes it.
        self.commit.moves.push((hidden, format!("{folder}{slash}{name}")));
        let file = File::options().write(true).create_new(true).open(&path).map_err(io_error(&path))?;
        write(&file).map_err(parquet_error(&path))?;
        file.sync_all().map_err(io_error(&path))
    }

    /// Makes everything visible at once. After this returned, it survives a crash.
    ///
    /// # Errors
    /// When the list of what to do cannot be written; then nothing has happened. Or when a file cannot be put in its place
    /// afterwards; then readers see it all the same, and the next [`Writer::begin`] tries again.
    pub fn commit(mut self) -> Result<(), DatasetError> {
        if let Some(manifest) = self.manifest.take() {
            let bytes = manifest_json(&manifest);
            self.write_file("", MANIFEST, |mut file| Ok(file.write_all(&bytes)?))?;
        }
        if self.commit.moves.is_empty() && self.commit.deletes.is_empty() {
            self.done = true;
            return Ok(());
        }
        let dir = self.writer.dataset.dir.clone();
        let list = dir.join(self.writer.role.commit_file());
        let hidden = dir.join(format!("{}{}-commit.tmp", self.writer.role.hidden_prefix(), self.number));
        let bytes = serde_json::to_vec(&self.commit).map_err(|source| DatasetError::Json { path: list.clone(), source })?;
        let written = write_synced(&hidden, |file| file.write_all(&bytes)).and_then(|()| fs::rename(&hidden, &list));
        if let Err(e) = written {
            let _ = fs::remove_file(&hidden);
            return Err(io_error(&list)(e));
        }
        self.done = true;
        self.writer.next = self.number + 1;
        sync_dir(&dir)?;
        self.writer.finish_commit()
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if !self.done {
            for (hidden, _) in &self.commit.moves {
                let _ = fs::remove_file(self.writer.dataset.dir.join(hidden));
            }
        }
    }
}

/// The dataset itself and its direct folders.
fn folders(dir: &Path) -> Result<Vec<PathBuf>, DatasetError> {
    let mut folders = vec![dir.to_owned()];
    for entry in fs::read_dir(dir).map_err(io_error(dir))? {
        let entry = entry.map_err(io_error(dir))?;
        if entry.file_type().map_err(io_error(dir))?.is_dir() {
            folders.push(entry.path());
        }
    }
    Ok(folders)
}

fn write_synced(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let mut file = File::options().write(true).create_new(true).open(path)?;
    write(&mut file)?;
    file.sync_all()
}

fn sync_dir(dir: &Path) -> Result<(), DatasetError> {
    File::open(dir).and_then(|file| file.sync_all()).map_err(io_error(dir))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::Link;

    fn link(n: i64) -> Link<'static> {
        Link { cluster: "lab".into(), source: format!("{n}").into(), source_submit_ns: Some(n), target_seen: true, ..Default::default() }
    }

    fn builder(numbers: impl IntoIterator<Item = i64>) -> Builder<Link<'static>> {
        let mut builder = Builder::new();
        for n in numbers {
            builder.push(&link(n));
        }
        builder
    }

    fn numbers(dataset: &Dataset) -> Vec<i64> {
        let mut numbers = Vec::new();
        dataset
            .read::<Link<'static>, DatasetError>(Projection::All, |row| {
                assert_eq!(row.clone().into_owned(), link(row.source_submit_ns.unwrap()));
                numbers.push(row.source_submit_ns.unwrap());
                Ok(())
            })
            .unwrap();
        numbers
    }

    fn files(dir: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn rows_come_back_in_order_also_after_many_small_writes() {
        let dir = tempfile::tempdir().unwrap();
        let dataset = Dataset::open_or_create(dir.path()).unwrap();
        let mut writer = dataset.writer(Role::Raw, "test").unwrap();
        for n in 0..300 {
            let mut transaction = writer.begin().unwrap();
            transaction.append(builder([2 * n, 2 * n + 1])).unwrap();
            transaction.commit().unwrap();
            writer.merge_small_files::<Link<'static>>().unwrap();
        }
        assert_eq!(numbers(&dataset), (0..600).collect::<Vec<_>>());
        let count = files(&dir.path().join("links")).len();
        assert!(count < 40, "{count} files were left of 300");
    }

    #[test]
    fn a_dropped_transaction_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let dataset = Dataset::open_or_create(dir.path()).unwrap();
        let mut writer = dataset.writer(Role::Raw, "test").unwrap();
        let mut transaction = writer.begin().unwrap();
        transaction.append(builder([1])).unwrap();
        drop(transaction);
        assert!(files(&dir.path().join("links")).is_empty());
    }

    #[test]
    fn killed_after_the_commit_point() {
        let dir = tempfile::tempdir().unwrap();
        let dataset = Dataset::open_or_create(dir.path()).unwrap();
        let mut writer = dataset.writer(Role::Raw, "test").unwrap();
        let mut transaction = writer.begin().unwrap();
        transaction.append(builder([1, 2])).unwrap();
        // What a kill between the commit point and the renames leaves behind.
        fs::write(dir.path().join(".raw.commit.json"), serde_json::to_vec(&transaction.commit).unwrap()).unwrap();
        transaction.done = true;
        drop(transaction);
        drop(writer);
        assert_eq!(numbers(&dataset), [1, 2], "a reader applies the list");
        let mut writer = dataset.writer(Role::Raw, "test").unwrap();
        assert_eq!(numbers(&dataset), [1, 2], "the next writer finishes it");
        assert_eq!(files(&dir.path().join("links")), ["part-0000000001-0000000001.parquet"]);
        let mut transaction = writer.begin().unwrap();
        transaction.append(builder([3])).unwrap();
        transaction.commit().unwrap();
        assert_eq!(numbers(&dataset), [1, 2, 3]);
    }

    #[test]
    fn a_commit_that_could_not_be_finished_is_finished_before_the_next() {
        let dir = tempfile::tempdir().unwrap();
        let dataset = Dataset::open_or_create(dir.path()).unwrap();
        let mut writer = dataset.writer(Role::Raw, "test").unwrap();
        // Something in the way of one file: the rows are moved, the memory is not.
        let obstacle = dir.path().join(".state/memory");
        fs::create_dir_all(&obstacle).unwrap();
        let mut transaction = writer.begin().unwrap();
        transaction.append(builder([1, 2])).unwrap();
        transaction.put_state("memory", b"two").unwrap();
        assert!(transaction.commit().is_err());
        assert_eq!((numbers(&dataset), dataset.state("memory").unwrap().unwrap()), (vec![1, 2], b"two".to_vec()));
        assert!(writer.begin().is_err(), "still in the way");
        fs::remove_dir(&obstacle).unwrap();
        let mut transaction = writer.begin().unwrap();
        transaction.append(builder([3])).unwrap();
        transaction.commit().unwrap();
        assert_eq!((numbers(&dataset), dataset.state("memory").unwrap().unwrap()), (vec![1, 2, 3], b"two".to_vec()));
    }

    #[test]
    fn a_list_that_leads_out_of_the_dataset_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let (inside, victim) = (dir.path().join("dataset"), dir.path().join("victim"));
        fs::write(&victim, "mine").unwrap();
        let dataset = Dataset::open_or_create(&inside).unwrap();
        for list in [
            format!(r#"{{"moves":[],"deletes":["{}"]}}"#, victim.display()),
            r#"{"moves":[],"deletes":["../victim"]}"#.to_owned(),
            r#"{"moves":[["../victim","links/part-0000000001-0000000001.parquet"]],"deletes":[]}"#.to_owned(),
            r#"{"moves":[["links/.raw-1-1.tmp","links/../../victim"]],"deletes":[]}"#.to_owned(),
            r#"{"moves":[],"deletes":["flowmine.json"]}"#.to_owned(),
        ] {
            fs::write(inside.join(".raw.commit.json"), &list).unwrap();
            assert!(matches!(dataset.writer(Role::Raw, "test"), Err(DatasetError::Foreign { .. })), "{list}");
            assert!(matches!(dataset.parts::<Link<'static>>(), Err(DatasetError::Foreign { .. })), "{list}");
        }
        assert_eq!(fs::read(&victim).unwrap(), b"mine");
    }

    #[test]
    fn links_that_lead_out_of_the_dataset_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let (inside, victim) = (dir.path().join("dataset"), dir.path().join("victim"));
        fs::write(&victim, "mine").unwrap();
        let dataset = Dataset::open_or_create(&inside).unwrap();
        std::os::unix::fs::symlink(&victim, inside.join(".derived.lock")).unwrap();
        assert!(matches!(dataset.writer(Role::Derived, "test"), Err(DatasetError::Foreign { .. })));
        let folder = dir.path().join("folder");
        fs::create_dir(&folder).unwrap();
        std::os::unix::fs::symlink(&folder, inside.join("links")).unwrap();
        let mut writer = dataset.writer(Role::Raw, "test").unwrap();
        assert!(matches!(writer.begin().unwrap().append(builder([1])), Err(DatasetError::Foreign { .. })));
        assert_eq!((fs::read(&victim).unwrap(), files(&folder)), (b"mine".to_vec(), vec![]));
    }

    #[test]
    fn what_an_unfinished_commit_replaces_is_not_read_beside_it() {
        let dir = tempfile::tempdir().unwrap();
        let dataset = Dataset::open_or_create(dir.path()).unwrap();
        let mut writer = dataset.writer(Role::Derived, "test").unwrap();
        let mut transaction = writer.begin().unwrap();
        transaction.append(builder([1, 2])).unwrap();
        transaction.commit().unwrap();
        let mut transaction = writer.begin().unwrap();
        transaction.replace(builder([3])).unwrap();
        fs::write(dir.path().join(".derived.commit.json"), serde_json::to_vec(&transaction.commit).unwrap()).unwrap();
        transaction.done = true;
        drop(transaction);
        assert_eq!(numbers(&dataset), [3]);
    }

    #[test]
    fn a_file_of_another_table_or_a_damaged_one_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let dataset = Dataset::open_or_create(dir.path()).unwrap();
        let mut writer = dataset.writer(Role::Raw, "test").unwrap();
        let mut transaction = writer.begin().unwrap();
        transaction.append(builder([1, 2])).unwrap();
        transaction.commit().unwrap();
        let part = "part-0000000001-0000000001.parquet";
        fs::create_dir(dir.path().join("job_states")).unwrap();
        fs::copy(dir.path().join("links").join(part), dir.path().join("job_states").join(part)).unwrap();
        let read = dataset.read::<crate::tables::JobState<'static>, DatasetError>(Projection::Only(&["job"]), |_| Ok(()));
        assert!(read.unwrap_err().to_string().contains("job"));
        let bytes = fs::read(dir.path().join("links").join(part)).unwrap();
        for at in (0..bytes.len()).step_by(7) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0xff;
            fs::write(dir.path().join("links").join(part), &damaged).unwrap();
            // An error or other values, but no panic.
            let _ = dataset.read::<Link<'static>, DatasetError>(Projection::All, |_| Ok(()));
        }
    }

    #[test]
    fn killed_before_the_commit_point() {
        let dir = tempfile::tempdir().unwrap();
        let dataset = Dataset::open_or_create(dir.path()).unwrap();
        let mut writer = dataset.writer(Role::Raw, "test").unwrap();
        let mut transaction = writer.begin().unwrap();
        transaction.append(builder([1, 2])).unwrap();
        transaction.done = true;
        drop(transaction);
        drop(writer);
        assert!(numbers(&dataset).is_empty());
        dataset.writer(Role::Raw, "test").unwrap();
        assert!(files(&dir.path().join("links")).is_empty(), "the hidden file is gone");
    }

    #[test]
    fn a_merge_that_was_killed_doubles_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let dataset = Dataset::open_or_create(dir.path()).unwrap();
        let mut writer = dataset.writer(Role::Raw, "test").unwrap();
        for n in 0..3 {
            let mut transaction = writer.begin().unwrap();
            transaction.append(builder([n])).unwrap();
            transaction.commit().unwrap();
        }
        let mut transaction = writer.begin().unwrap();
        let mut rows = builder(0..3).finish().unwrap();
        let range = Range { first: 1, last: 3 };
        transaction.write_file("links", &range.file_name(), |file| parquet::write(file, &mut rows)).unwrap();
        // The merged file is in place, those it replaces not yet gone.
        transaction.commit().unwrap();
        assert_eq!(files(&dir.path().join("links")).len(), 4);
        assert_eq!(numbers(&dataset), [0, 1, 2]);
    }

    #[test]
    fn a_second_writer_is_told_who_is_first() {
        let dir = tempfile::tempdir().unwrap();
        let dataset = Dataset::open_or_create(dir.path()).unwrap();
        let _writer = dataset.writer(Role::Raw, "observe, process 4711").unwrap();
        let error = dataset.writer(Role::Raw, "x").unwrap_err().to_string();
        assert!(error.contains("observe, process 4711"), "{error}");
        dataset.writer(Role::Derived, "correlate").unwrap();
    }

    #[test]
    fn a_folder_with_other_things_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("thesis.tex"), "").unwrap();
        assert!(matches!(Dataset::open_or_create(dir.path()), Err(DatasetError::NotEmpty(_))));
        assert!(matches!(Dataset::open(dir.path()), Err(DatasetError::NotADataset(_))));
    }

    #[test]
    fn replaced_rows_are_gone() {
        let dir = tempfile::tempdir().unwrap();
        let dataset = Dataset::open_or_create(dir.path()).unwrap();
        let mut writer = dataset.writer(Role::Derived, "test").unwrap();
        for numbers in [vec![1, 2, 3], vec![4], vec![]] {
            let mut transaction = writer.begin().unwrap();
            transaction.replace(builder(numbers.clone())).unwrap();
            transaction.commit().unwrap();
            assert_eq!(self::numbers(&dataset), numbers);
        }
    }

    #[test]
    fn the_manifest_keeps_what_it_was_told() {
        let dir = tempfile::tempdir().unwrap();
        let dataset = Dataset::open_or_create(dir.path()).unwrap();
        let mut writer = dataset.writer(Role::Raw, "test").unwrap();
        let mut transaction = writer.begin().unwrap();
        transaction.update_manifest(|m| m.clusters.extend(["lab".to_owned()])).unwrap();
        transaction.commit().unwrap();
        assert!(dataset.manifest().unwrap().clusters.contains("lab"));
        fs::write(dir.path().join("flowmine.json"), "{\"format_version\": 99}").unwrap();
        assert!(matches!(Dataset::open(dir.path()), Err(DatasetError::Version { found: 99, .. })));
    }
}

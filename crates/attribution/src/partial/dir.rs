//! A partial result as a directory: a Parquet file or more for each table, and the manifest.
//!
//! The manifest is written last, and removed first when the result is made again. So a directory
//! without one is no partial result, whenever its writer was killed.

use std::io::Read;

use flowmine_dataset::{Builder, DatasetError, Input, row_file};
use flowmine_files::Folder;
use flowmine_schema::row::{Record, Row};
use flowmine_schema::tables::{DiagnosticRow, Link, TaskTotal};

use super::manifest::{FILE, PartialManifest};
use super::tables::{AccessRange, FileStep, OwnerAccess, OwningUser, PartialOwner, ProcessOwner, RenamedFile, names};
use super::{HostPartial, InMemory, PartialError, Summary};
use crate::AttributionError;

/// Rows of a file.
const ROWS: usize = 1 << 19;

/// Largest manifest that is read, in bytes.
const LARGEST: u64 = 64 << 20;

/// A partial result of a host in a directory.
#[derive(Debug)]
pub struct PartialDir {
    folder: Folder,
    manifest: PartialManifest,
}

impl PartialDir {
    /// Reads the manifest of a directory; `None` where there is none.
    ///
    /// # Errors
    /// When it is damaged, of another version, or in a directory that another user can change.
    pub fn open(folder: Folder) -> Result<Option<Self>, AttributionError> {
        let path = folder.path().join(FILE);
        let file = match folder.read(FILE) {
            Err(error) if error.is_not_found() => return Ok(None),
            other => other.map_err(|source| DatasetError::Io { path: path.clone(), source: source.into() })?,
        };
        if !is_of_nobody_else(&folder).map_err(|source| DatasetError::Io { path: folder.path().to_owned(), source })? {
            return Err(PartialError::OfAnother(folder.path().to_owned()).into());
        }
        let mut bytes = Vec::new();
        file.take(LARGEST).read_to_end(&mut bytes).map_err(|source| DatasetError::Io { path: path.clone(), source })?;
        // The version first: another one may have other fields.
        let damaged = |source| PartialError::Manifest { path: path.clone(), source };
        let made: MadeBy = serde_json::from_slice(&bytes).map_err(damaged)?;
        if made.format != super::FORMAT || made.version != env!("CARGO_PKG_VERSION") {
            return Err(PartialError::Version { path: folder.path().to_owned(), made_by: made.version, format: made.format }.into());
        }
        let manifest: PartialManifest = serde_json::from_slice(&bytes).map_err(damaged)?;
        if manifest.digest().map_err(damaged)? != manifest.sha256 {
            return Err(PartialError::Altered(path).into());
        }
        Ok(Some(Self { folder, manifest }))
    }

    /// The manifest.
    pub fn manifest(&self) -> &PartialManifest {
        &self.manifest
    }

    /// The directory.
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Whether all files are those that the manifest lists. Rows are checked when they are read.
    ///
    /// # Errors
    /// When one is not.
    pub fn check_files(&self) -> Result<(), AttributionError> {
        let check = |file| row_file::check(&self.folder, file).map_err(|source| PartialError::Damaged { source }.into());
        self.manifest.files.values().flatten().try_for_each(check)
    }

    /// Whether it is what this manifest describes, and whole.
    pub fn is_made_of(&self, expected: &PartialManifest) -> bool {
        self.manifest.host == expected.host && self.manifest.other_input(expected).is_none() && self.check_files().is_ok()
    }

    /// Writes a partial result into a directory, in place of an earlier one.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn write(folder: Folder, partial: &InMemory, expected: PartialManifest) -> Result<Self, AttributionError> {
        match folder.remove(FILE) {
            Err(error) if !error.is_not_found() => {
                return Err(DatasetError::Io { path: folder.path().join(FILE), source: error.into() }.into());
            }
            _ => {}
        }
        let mut manifest = PartialManifest { summary: partial.summary().clone(), ..expected };
        let mut files = Files { folder: &folder, partial, manifest: &mut manifest };
        files.table::<PartialOwner<'static>>(names::OWNERS)?;
        files.table::<ProcessOwner<'static>>(names::PROCESSES)?;
        files.table::<OwningUser<'static>>(names::USERS)?;
        files.table::<OwnerAccess<'static>>(names::ACCESSES)?;
        files.table::<AccessRange<'static>>(names::RANGES)?;
        files.table::<FileStep<'static>>(names::STEPS)?;
        files.table::<RenamedFile<'static>>(names::RENAMED)?;
        files.table::<Link<'static>>(names::LINKS)?;
        files.table::<Link<'static>>(names::GROUP_LINKS)?;
        files.table::<DiagnosticRow<'static>>(names::DIAGNOSTICS)?;
        files.table::<DiagnosticRow<'static>>(names::GROUP_DIAGNOSTICS)?;
        files.table::<TaskTotal<'static>>(names::LOST)?;
        let failed = |source| PartialError::Manifest { path: folder.path().join(FILE), source };
        manifest.sha256 = manifest.digest().map_err(failed)?;
        let mut json = serde_json::to_vec_pretty(&manifest).map_err(failed)?;
        json.push(b'\n');
        row_file::put(&folder, FILE, &json)?;
        Ok(Self { folder, manifest })
    }
}

/// The fields that every version has.
#[derive(serde::Deserialize)]
struct MadeBy {
    format: u32,
    version: String,
}

/// The files of a partial result while they are written.
struct Files<'w> {
    folder: &'w Folder,
    partial: &'w InMemory,
    manifest: &'w mut PartialManifest,
}

impl Files<'_> {
    /// Writes a table as files of [`ROWS`] rows; one without rows has no file.
    fn table<R: Row>(&mut self, name: &'static str) -> Result<(), AttributionError>
    where
        for<'a> R::Of<'a>: Record<'a>,
    {
        let mut files: Vec<Input> = Vec::new();
        let mut rows = Builder::<R>::new();
        let mut put = |rows: Builder<R>| -> Result<(), AttributionError> {
            let file = format!("{name}-{}.parquet", files.len() + 1);
            files.push(row_file::write_rows(self.folder, &file, rows)?);
            Ok(())
        };
        self.partial.read::<R>(name, |row| {
            rows.push(&row);
            if rows.len() >= ROWS { put(std::mem::take(&mut rows)) } else { Ok(()) }
        })?;
        if !rows.is_empty() {
            put(rows)?;
        }
        if !files.is_empty() {
            self.manifest.files.insert(name.to_owned(), files);
        }
        Ok(())
    }
}

impl HostPartial for PartialDir {
    fn host(&self) -> &str {
        &self.manifest.host
    }

    fn summary(&self) -> &Summary {
        &self.manifest.summary
    }

    fn read<R: Row>(
        &self,
        name: &'static str,
        mut each: impl FnMut(R::Of<'_>) -> Result<(), AttributionError>,
    ) -> Result<(), AttributionError>
    where
        for<'a> R::Of<'a>: Record<'a>,
    {
        for file in self.manifest.files.get(name).into_iter().flatten() {
            let mut failed = Ok(());
            let read = row_file::read_rows::<R, StoppedOrDamaged>(&self.folder, file, |row| {
                failed = each(row);
                if failed.is_ok() { Ok(()) } else { Err(StoppedOrDamaged::Stopped) }
            });
            match read {
                Err(StoppedOrDamaged::Stopped) => failed?,
                Err(StoppedOrDamaged::Damaged(source)) => return Err(PartialError::Damaged { source }.into()),
                Ok(()) => {}
            }
        }
        Ok(())
    }
}

/// Why a file was not read to its end.
enum StoppedOrDamaged {
    Stopped,
    Damaged(DatasetError),
}

impl From<DatasetError> for StoppedOrDamaged {
    fn from(error: DatasetError) -> Self {
        Self::Damaged(error)
    }
}

/// Whether only root and the user can change what lies in a folder: whoever else can, could assign
/// bytes to other users.
fn is_of_nobody_else(folder: &Folder) -> std::io::Result<bool> {
    let owner = folder.owner()?;
    Ok((owner == 0 || owner == flowmine_files::user()) && folder.mode()? & OTHERS_WRITE == 0)
}

/// Whether there is nothing in a folder but a partial result, or what is left of one.
fn is_marked(folder: &Folder) -> Result<bool, flowmine_files::FileError> {
    Ok(folder.has_file(MARK)? || folder.entries(1)?.entries.is_empty())
}

/// Name of the empty file by which the folder of a partial result is known.
const MARK: &str = ".flowmine-partial";

/// Permissions of the folder of a partial result: for its owner alone.
const PRIVATE: u32 = 0o700;

/// The permissions of a mode by which its group and all users may write.
const OTHERS_WRITE: u32 = 0o022;

/// The folder of a host's partial result in a directory of several, made if there is none.
///
/// # Errors
/// When it cannot be made, or another user made it or can write it.
pub(super) fn folder_of(above: &Folder, name: &str) -> Result<Folder, DatasetError> {
    let path = above.path().join(name);
    let failed = |source: flowmine_files::FileError| DatasetError::Io { path: path.clone(), source: source.into() };
    // Whoever may read the dataset is not asked: the rows are for the user alone.
    let (folder, is_new) = above.make_folder(name, PRIVATE).map_err(failed)?;
    let is_own =
        is_new || (folder.owner().map_err(|e| failed(e.into()))? == flowmine_files::user() && is_marked(&folder).map_err(failed)?);
    if !is_own {
        return Err(failed(flowmine_files::FileError::NotMade(name.to_owned())));
    }
    folder.set_mode(PRIVATE).map_err(|error| failed(error.into()))?;
    if !folder.has_file(MARK).map_err(failed)? {
        folder.create_new(MARK, 0o600).map_err(failed)?;
    }
    Ok(folder)
}

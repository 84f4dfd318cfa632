//! Files on their way into the dataset.

use std::fs::File;
use std::io::Write;

use flowmine_files::Folder;
use flowmine_schema::row::{HOST, Row};
use flowmine_schema::tables::DiagnosticRow;
use flowmine_schema::time::Day;

use crate::commit::Commit;
use crate::disk::write_synced;
use crate::error::{DatasetError, file_error, io_error, parquet_error};
use crate::format::STATE;
use crate::manifest::{Additions, Manifest};
use crate::parquet_error::ParquetError;
use crate::parquet_writer;
use crate::place::{Leaf, PartName};
use crate::role::Role;
use crate::rows::{Builder, Rows};
use crate::writer::Writer;

/// Files on their way into the dataset, all or none.
#[must_use = "nothing is written before commit()"]
#[derive(Debug)]
pub struct Transaction<'w> {
    pub(crate) writer: &'w mut Writer,
    pub(crate) number: u64,
    pub(crate) commit: Commit,
    /// The manifest as it is to be, while it is changed.
    manifest: Option<Manifest>,
    counter: u32,
    pub(crate) done: bool,
}

impl<'w> Transaction<'w> {
    pub(crate) fn new(writer: &'w mut Writer) -> Self {
        Self { number: writer.next, writer, commit: Commit::default(), manifest: None, counter: 0, done: false }
    }
}

impl Writer {
    /// Begins a transaction; dropping it without [`Transaction::commit`] undoes it.
    ///
    /// # Errors
    /// When the transaction before was committed and its files could not be put in their places,
    /// and still cannot.
    pub fn begin(&mut self) -> Result<Transaction<'_>, DatasetError> {
        self.finish_commit()?;
        Ok(Transaction::new(self))
    }
}

impl Transaction<'_> {
    /// Adds rows to a table, as a file; an empty builder adds none. Many rows are best added in
    /// several calls, so that memory holds few.
    ///
    /// Rows of a table that is split go through [`Transaction::append_split`]; here they do not
    /// compile.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn append<R: Row>(&mut self, rows: Builder<R>) -> Result<(), DatasetError> {
        const { assert!(!R::SPLIT, "this table is split by host and day: use append_split") };
        self.add_file(&Leaf::whole(R::TABLE), rows)
    }

    /// Adds rows of one host and one day to a table that is split (`by host` in its declaration),
    /// as a file; an empty builder adds none.
    ///
    /// Which day a row belongs to is the caller's choice, best that of its main time ([`Day::new`]).
    /// The caller guarantees that all rows have this host: it is in the folder's name, and only
    /// there.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn append_split<R: Row>(&mut self, rows: Builder<R>, host: &str, day: Day) -> Result<(), DatasetError> {
        const { assert!(R::SPLIT, "this table is not split: use append") };
        self.add_file(&Leaf::split(R::TABLE, host, day), rows)
    }

    fn add_file<R: Row>(&mut self, leaf: &Leaf, rows: Builder<R>) -> Result<(), DatasetError> {
        if rows.is_empty() {
            return Ok(());
        }
        let mut rows = self.columns(rows)?;
        if R::SPLIT {
            rows.columns.remove(HOST);
        }
        self.writer.scan(&leaf.folder())?;
        self.number = self.number.max(self.writer.next);
        let name = |number| PartName { owner: self.writer.role.owner(), first: number, last: number };
        let taken = |number| self.commit.moves.iter().any(|(_, to)| *to == leaf.path_of(&name(number)));
        while taken(self.number) {
            self.number += 1;
        }
        let name = name(self.number).file_name();
        self.write_file(&leaf.folder(), &name, |file| parquet_writer::write(file, rows))
    }

    /// Puts rows in place of all that a table held of this writer.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn replace<R: Row>(&mut self, rows: Builder<R>) -> Result<(), DatasetError> {
        self.clear::<R>()?;
        self.append(rows)
    }

    /// Takes away all that a table held of this writer, so that it can be written anew with
    /// [`Transaction::append`].
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn clear<R: Row>(&mut self) -> Result<(), DatasetError> {
        const { assert!(!R::SPLIT, "no table that is split is ever written anew") };
        let leaf = Leaf::whole(R::TABLE);
        let owner = self.writer.role.owner();
        // Derived tables have one writer, whatever its files were called; to `diagnostics` all writers add.
        let shared = R::TABLE == DiagnosticRow::TABLE || self.writer.role != Role::Derived;
        for part in self.writer.dataset.parts_of_any_version(&leaf)?.into_iter().filter(|part| !shared || part.name.owner == owner) {
            self.commit.deletes.push(leaf.path_of(&part.name));
        }
        Ok(())
    }

    /// Writes a table of an observer's memory.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn put_state_rows<R: Row>(&mut self, name: &str, rows: Builder<R>) -> Result<(), DatasetError> {
        let rows = self.columns(rows)?;
        self.write_file(STATE, name, |file| parquet_writer::write(file, rows))
    }

    /// Writes a file of an observer's memory.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn put_state(&mut self, name: &str, bytes: &[u8]) -> Result<(), DatasetError> {
        self.write_file(STATE, name, |mut file| Ok(file.write_all(bytes)?))
    }

    /// Adds to `flowmine.json`. What was there stays, whatever the closure takes away: another
    /// writer may just have added it.
    ///
    /// # Errors
    /// When the present one cannot be read.
    pub fn update_manifest(&mut self, change: impl FnOnce(&mut Manifest)) -> Result<(), DatasetError> {
        let before = self.writer.dataset.manifest()?;
        let mut manifest = self.manifest.take().unwrap_or_else(|| before.clone());
        change(&mut manifest);
        self.commit.manifest = Additions::between(&before, &manifest);
        self.manifest = Some(manifest);
        Ok(())
    }

    fn columns<R: Row>(&self, rows: Builder<R>) -> Result<Rows<R>, DatasetError> {
        let path = self.writer.dataset.dir().join(R::TABLE);
        rows.finish().map_err(parquet_error(&path))
    }

    pub(crate) fn write_file(
        &mut self,
        folder: &str,
        name: &str,
        write: impl FnOnce(&File) -> Result<(), ParquetError>,
    ) -> Result<(), DatasetError> {
        self.make_folders(folder)?;
        self.counter += 1;
        let hidden = format!("{}{}-{}.tmp", self.writer.role.hidden_prefix(), self.number, self.counter);
        let dataset = &self.writer.dataset;
        let path = dataset.dir().join(&hidden);
        // Listed before it is written, so that a failure half way removes it.
        self.commit.moves.push((hidden.clone(), format!("{folder}/{name}")));
        let file = dataset.folder.create_new(&hidden, dataset.access.file_mode()).map_err(file_error(&path))?;
        write(&file).map_err(parquet_error(&path))?;
        file.sync_all().map_err(io_error(&path))
    }

    fn make_folders(&self, relative: &str) -> Result<(), DatasetError> {
        let dataset = &self.writer.dataset;
        let mut below: Option<Folder> = None;
        for step in relative.split('/') {
            let above = below.as_ref().unwrap_or(&dataset.folder);
            let (folder, made) = above.make_folder(step, dataset.access.folder_mode()).map_err(file_error(&above.path().join(step)))?;
            if made {
                above.sync().map_err(io_error(above.path()))?;
            }
            below = Some(folder);
        }
        Ok(())
    }

    /// Makes everything visible at once. After this returned, it survives a crash.
    ///
    /// # Errors
    /// When the list of what to do cannot be written; then nothing has happened. Or when a
    /// file cannot be put in its place afterwards; then readers still see it, and the next
    /// [`Writer::begin`] tries again.
    pub fn commit(mut self) -> Result<(), DatasetError> {
        if self.commit.is_empty() {
            self.done = true;
            return Ok(());
        }
        let dataset = &self.writer.dataset;
        let list = dataset.dir().join(self.writer.role.commit_file());
        let hidden = format!("{}{}-commit.tmp", self.writer.role.hidden_prefix(), self.number);
        let bytes = serde_json::to_vec(&self.commit).map_err(|source| DatasetError::Json { path: list.clone(), source })?;
        let folder = &dataset.folder;
        let written = write_synced(folder, &hidden, dataset.access.file_mode(), |file| file.write_all(&bytes))
            .and_then(|()| folder.rename(&hidden, folder, self.writer.role.commit_file()));
        if let Err(error) = written {
            let _ = folder.remove(&hidden);
            return Err(file_error(&list)(error));
        }
        self.done = true;
        self.writer.next = self.number + 1;
        let folder = &self.writer.dataset.folder;
        folder.sync().map_err(io_error(folder.path()))?;
        self.writer.finish_commit()
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if !self.done {
            for (hidden, _) in &self.commit.moves {
                let _ = self.writer.dataset.folder.remove(hidden);
            }
        }
    }
}

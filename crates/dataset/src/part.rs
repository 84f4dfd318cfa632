//! One Parquet file of a table, open for reading.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flowmine_schema::row::View;

use crate::columns::Columns;
use crate::error::{DatasetError, io_error, parquet_error};
use crate::place::{Leaf, PartName};
use crate::projection::Projection;
use crate::rows::Rows;
use crate::table_file::TableFile;
use crate::unchecked;

/// One file of a table, open.
#[derive(Debug)]
pub struct Part {
    /// The directory of the dataset.
    pub(crate) dataset: Arc<Path>,
    pub(crate) leaf: Leaf,
    pub(crate) name: PartName,
    pub(crate) path: PathBuf,
    pub(crate) file: File,
    pub(crate) bytes: u64,
}

impl Part {
    /// Reads all rows of the file.
    ///
    /// # Errors
    /// When it is damaged.
    pub fn read<V: View>(self) -> Result<Rows<V>, DatasetError> {
        let columns = self.open()?.read_whole(self.leaf.host(), Projection::new::<V>());
        columns.and_then(Rows::of).map_err(parquet_error(&self.path))
    }

    /// The file, to read its row groups.
    ///
    /// # Errors
    /// When it is damaged.
    pub(crate) fn open(&self) -> Result<TableFile, DatasetError> {
        let file = self.file.try_clone().map_err(io_error(&self.path))?;
        let file = TableFile::open(file).map_err(parquet_error(&self.path))?;
        if !file.has_checksums() {
            unchecked::note(&self.dataset, &self.path);
        }
        Ok(file)
    }

    /// Reads one row group of the file, which [`Part::open`] gave.
    ///
    /// # Errors
    /// When it is damaged.
    pub(crate) fn read_group(&self, file: &TableFile, group: usize, projection: Projection<'_>) -> Result<Columns, DatasetError> {
        file.read(self.leaf.host(), group, projection).map_err(parquet_error(&self.path))
    }

    /// How many rows it has.
    ///
    /// # Errors
    /// When it is damaged.
    pub fn rows(&self) -> Result<u64, DatasetError> {
        Ok(self.open()?.groups().map(|rows| rows as u64).sum())
    }

    /// The folder that it belongs to: for a split table, the host and the day of its rows.
    pub fn leaf(&self) -> &Leaf {
        &self.leaf
    }

    /// Owner, which distinguishes files of different writers; `None` is the writer of raw tables.
    pub fn writer(&self) -> Option<&str> {
        self.name.owner.as_deref()
    }

    /// Path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Size of the file on disk, in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

//! One file of a table.

use std::fs::File;
use std::path::{Path, PathBuf};

use flowmine_schema::row::View;

use crate::error::{DatasetError, io_error, parquet_error};
use crate::parquet;
use crate::place::{Leaf, PartName};
use crate::rows::Rows;

/// One file of a table, open.
#[derive(Debug)]
pub struct Part {
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
        parquet::read(self.file, self.leaf.host()).map_err(parquet_error(&self.path))
    }

    /// How many rows each of its row groups has.
    ///
    /// # Errors
    /// When it is damaged.
    pub fn group_sizes(&self) -> Result<Vec<usize>, DatasetError> {
        let file = self.file.try_clone().map_err(io_error(&self.path))?;
        parquet::group_sizes(file).map_err(parquet_error(&self.path))
    }

    /// Reads `count` rows of the file from row `first` on, counted from 0.
    ///
    /// # Errors
    /// When it is damaged.
    pub fn read_rows<V: View>(&self, first: usize, count: usize) -> Result<Rows<V>, DatasetError> {
        let file = self.file.try_clone().map_err(io_error(&self.path))?;
        parquet::read_rows(file, self.leaf.host(), first, count).map_err(parquet_error(&self.path))
    }

    /// The folder that it belongs to: of a table that is split, whose rows it has and of which day.
    pub fn leaf(&self) -> &Leaf {
        &self.leaf
    }

    /// Whose it is, to tell files of one writer from those of another; `None` is the writer of raw
    /// tables.
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

//! One file of a table.

use std::fs::File;
use std::path::{Path, PathBuf};

use polars::prelude::{ChunkFull, IntoColumn, StringChunked};

use super::error::{DatasetError, io_error, parquet_error};
use super::place::{Leaf, PartName};
use crate::parquet::{self, ParquetError};
use crate::row::{HOST, Projection, Row, Rows};

/// One file of a table, open.
#[derive(Debug)]
pub struct Part {
    pub(super) leaf: Leaf,
    pub(super) name: PartName,
    pub(super) path: PathBuf,
    pub(super) file: File,
    pub(super) bytes: u64,
}

impl Part {
    /// Its rows, and its path for messages.
    ///
    /// # Errors
    /// When it is damaged.
    pub fn read<R: Row>(self, projection: Projection<'_>) -> Result<(PathBuf, Rows<R>), DatasetError> {
        let rows = parquet::read(self.file, projection).map_err(parquet_error(&self.path))?;
        let rows = with_host(rows, &self.leaf, projection).map_err(parquet_error(&self.path))?;
        Ok((self.path, rows))
    }

    /// How many rows each of its row groups has.
    ///
    /// # Errors
    /// When it is damaged.
    pub fn group_sizes(&self) -> Result<Vec<usize>, DatasetError> {
        let file = self.file.try_clone().map_err(io_error(&self.path))?;
        parquet::group_sizes(file).map_err(parquet_error(&self.path))
    }

    /// Some of its rows.
    ///
    /// # Errors
    /// When it is damaged.
    pub fn read_rows<R: Row>(&self, projection: Projection<'_>, first: usize, count: usize) -> Result<Rows<R>, DatasetError> {
        let file = self.file.try_clone().map_err(io_error(&self.path))?;
        let rows = parquet::read_rows(file, projection, first, count);
        rows.and_then(|rows| with_host(rows, &self.leaf, projection)).map_err(parquet_error(&self.path))
    }

    /// The folder that it belongs to: of a table that is split, whose rows it has and of which day.
    pub fn leaf(&self) -> &Leaf {
        &self.leaf
    }

    /// Whose it is, to tell files of one writer from those of another; `None` is the writer of raw tables.
    pub fn writer(&self) -> Option<&str> {
        self.name.owner.as_deref()
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

/// Of a table that is split, the host stands in the folder's name and not in the file.
fn with_host<R: Row>(mut rows: Rows<R>, leaf: &Leaf, projection: Projection<'_>) -> Result<Rows<R>, ParquetError> {
    if let Some(host) = leaf.host()
        && projection.has(HOST)
    {
        rows.frame.with_column(StringChunked::full(HOST.into(), host, rows.len()).into_column())?;
    }
    Ok(rows)
}

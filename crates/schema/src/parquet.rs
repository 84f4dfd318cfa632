//! Rows to a Parquet file and back, through polars.
//!
//! Files are zstd-compressed with statistics, columns in the order of the table. A file holds one or more row groups; it is
//! written whole. Reading takes a [`Projection`]; a column that an older file does not have reads as null.

use std::fs::File;
use std::io::{BufWriter, Write};

use polars::prelude::{DataFrame, ParquetCompression, ParquetReader, ParquetWriter, PolarsError, SerReader};

use crate::row::{Projection, Row, Rows};

/// Why a Parquet file could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum ParquetError {
    /// From the operating system.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// From the format.
    #[error(transparent)]
    Format(#[from] PolarsError),
}

/// Writes rows to an open file and leaves it flushed, but not synced.
///
/// # Errors
/// When the file cannot be written, such as on a full disk.
pub fn write<R: Row>(file: &File, rows: &mut Rows<R>) -> Result<(), ParquetError> {
    write_frame(file, &mut rows.frame)
}

pub(crate) fn write_frame(file: &File, frame: &mut DataFrame) -> Result<(), ParquetError> {
    let mut out = BufWriter::with_capacity(1 << 16, file);
    ParquetWriter::new(&mut out).with_compression(ParquetCompression::Zstd(None)).finish(frame).map_err(io_first)?;
    out.flush()?;
    Ok(())
}

// A full disk comes out of polars wrapped; callers want to see it as what it is.
fn io_first(error: PolarsError) -> ParquetError {
    match error {
        PolarsError::IO { error, .. } => ParquetError::Io(std::io::Error::new(error.kind(), error.to_string())),
        other => ParquetError::Format(other),
    }
}

/// Reads a table's file.
///
/// # Errors
/// When it cannot be read or is not Parquet.
pub fn read<R: Row>(file: File, projection: Projection<'_>) -> Result<Rows<R>, ParquetError> {
    let mut reader = ParquetReader::new(file);
    let present = reader.schema()?;
    let wanted: Vec<String> = R::COLUMNS
        .iter()
        .filter(|def| match projection {
            Projection::All => true,
            Projection::Only(names) => names.contains(&def.name),
        })
        .filter(|def| present.contains(def.name))
        .map(|def| def.name.to_owned())
        .collect();
    let frame = reader.with_columns(Some(wanted)).finish()?;
    Ok(Rows::from_frame(frame))
}

pub(crate) fn read_frame(file: File) -> Result<DataFrame, ParquetError> {
    Ok(ParquetReader::new(file).finish()?)
}

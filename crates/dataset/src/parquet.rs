//! Rows to a Parquet file and back, through polars.
//!
//! Files are zstd-compressed with statistics, columns in the order of the table, encoded by their
//! values (`parquet_writer.rs`). A file holds row groups of at most
//! [`GROUP_ROWS`](crate::GROUP_ROWS) rows, so that it can be read piece by piece; it is written
//! whole. Read are the columns of a [`View`]; one that an older file does not have reads as null.

use std::fs::File;
use std::io::Write;

use flowmine_schema::row::{HOST, Row, View};
use polars::prelude::{ChunkFull, DataFrame, IntoColumn, ParquetReader, SerReader, StringChunked};

use crate::parquet_checks;
use crate::parquet_error::ParquetError;
use crate::parquet_writer::ParquetBytes;
use crate::quiet::caught;
use crate::rows::Rows;

/// Writes rows to an open file and leaves it flushed, but not synced.
///
/// # Errors
/// When the file cannot be written, such as on a full disk.
pub(crate) fn write<R: Row>(mut file: &File, rows: Rows<R>) -> Result<(), ParquetError> {
    // Made in memory first: what the file system says (a full disk) then comes as it is, not wrapped in words of the format.
    let mut bytes = ParquetBytes::new(&rows.frame)?;
    bytes.push(rows.frame)?;
    Ok(file.write_all(&bytes.finish()?)?)
}

/// The rows of several files as one file, read one file after the other. `None` when they differ in
/// columns, as those of an older format version do.
pub(crate) fn merged(files: impl IntoIterator<Item = std::io::Result<File>>) -> Result<Option<Vec<u8>>, ParquetError> {
    let mut merged: Option<ParquetBytes> = None;
    for file in files {
        let file = file?;
        let mut first = 0;
        // A file without rows has its columns all the same.
        let groups = Some(group_sizes(file.try_clone()?)?).filter(|groups| !groups.is_empty()).unwrap_or_else(|| vec![0]);
        for count in groups {
            let frame = trusting(|| read_all(file.try_clone()?, (first, count)))?;
            first += count;
            let bytes = match &mut merged {
                Some(bytes) => bytes,
                none => none.insert(ParquetBytes::new(&frame)?),
            };
            if !bytes.fits(&frame) {
                return Ok(None);
            }
            bytes.push(frame)?;
        }
    }
    merged.map(ParquetBytes::finish).transpose()
}

/// Reads a table's file; of a table that is split, with the host to which its rows belong.
///
/// # Errors
/// When it cannot be read or is not Parquet.
pub(crate) fn read<V: View>(file: File, host: Option<&str>) -> Result<Rows<V>, ParquetError> {
    trusting(|| read_slice(file, host, None))
}

/// How many rows each row group of a table's file has.
///
/// # Errors
/// When it cannot be read or is not Parquet.
pub(crate) fn group_sizes(file: File) -> Result<Vec<usize>, ParquetError> {
    trusting(|| Ok(ParquetReader::new(file).get_metadata()?.row_groups.iter().map(|group| group.num_rows()).collect()))
}

/// Reads `count` rows of a table's file from row `first` on.
///
/// # Errors
/// When it cannot be read or is not Parquet.
pub(crate) fn read_rows<V: View>(file: File, host: Option<&str>, first: usize, count: usize) -> Result<Rows<V>, ParquetError> {
    trusting(|| read_slice(file, host, Some((first, count))))
}

fn trusting<T>(read: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, ParquetError> {
    caught(read).unwrap_or(Err(ParquetError::Damaged))
}

/// All columns, whatever they are.
fn read_all(file: File, slice: (usize, usize)) -> Result<DataFrame, ParquetError> {
    let as_written = file.try_clone()?;
    let mut reader = ParquetReader::new(file);
    let metadata = reader.get_metadata()?.clone();
    let columns: Vec<String> = reader.schema()?.iter_names().map(ToString::to_string).collect();
    parquet_checks::check(&as_written, &metadata, &columns, Some(slice))?;
    Ok(reader.with_slice(Some(slice)).finish()?)
}

fn read_slice<V: View>(file: File, host: Option<&str>, slice: Option<(usize, usize)>) -> Result<Rows<V>, ParquetError> {
    let as_written = file.try_clone()?;
    let mut reader = ParquetReader::new(file);
    let metadata = reader.get_metadata()?.clone();
    let present = reader.schema()?;
    let all = <V::Table as View>::COLUMNS;
    let in_folder = |name| V::Table::SPLIT && name == HOST;
    if let Some(missing) = all.iter().find(|def| !def.nullable && !in_folder(def.name) && !present.contains(def.name)) {
        return Err(ParquetError::NotThisTable(missing.name));
    }
    let mut wanted: Vec<String> = V::COLUMNS.iter().filter(|def| present.contains(def.name)).map(|def| def.name.to_owned()).collect();
    if wanted.is_empty() {
        // Without any column nothing would say how many rows there are.
        wanted.extend(all.iter().map(|def| def.name.to_owned()).find(|name| present.contains(name)));
    }
    parquet_checks::check(&as_written, &metadata, &wanted, slice)?;
    let mut frame = reader.with_columns(Some(wanted)).with_slice(slice).finish()?;
    let heights_agree = frame.columns().iter().all(|column| {
        let series = column.as_materialized_series();
        series.chunks().iter().map(|chunk| chunk.len()).sum::<usize>() == frame.height()
    });
    let height_fits = slice.is_none_or(|(_, count)| frame.height() == count);
    if !heights_agree || !height_fits {
        return Err(ParquetError::Damaged);
    }
    if let Some(host) = host.filter(|_| V::COLUMNS.iter().any(|def| def.name == HOST)) {
        // It stands in the folder's name and not in the file.
        frame.with_column(StringChunked::full(HOST.into(), host, frame.height()).into_column())?;
    }
    Rows::of(frame)
}

//! Rows of a declared table in files outside of a dataset, as partial results have them.
//!
//! The files are those of a dataset: compressed, with checksums, and read within the same bounds.

use std::fs::File;
use std::io::Write;

use flowmine_files::{Folder, NewFile};
use flowmine_schema::row::{Row, View};

use crate::access::Access;
use crate::error::{DatasetError, file_error, io_error, parquet_error};
use crate::inputs::Input;
use crate::parquet_writer::ParquetBytes;
use crate::projection::Projection;
use crate::rows::{Builder, Rows};
use crate::table_file::TableFile;

/// Writes rows as a file of this name; it appears when it is complete, and replaces one that is
/// there. Returns its name, size and digest.
///
/// # Errors
/// When the file cannot be written.
pub fn write_rows<R: Row>(folder: &Folder, name: &str, rows: Builder<R>) -> Result<Input, DatasetError> {
    let path = folder.path().join(name);
    let rows = rows.finish().map_err(parquet_error(&path))?;
    let mut bytes = ParquetBytes::new(&rows.columns).map_err(parquet_error(&path))?;
    bytes.push(rows.columns).map_err(parquet_error(&path))?;
    let bytes = bytes.finish().map_err(parquet_error(&path))?;
    put(folder, name, &bytes)?;
    let file = TableFile::open(opened(folder, name)?).map_err(parquet_error(&path))?;
    let sha256 = file.digest().map_err(parquet_error(&path))?;
    Ok(Input { path: name.to_owned(), bytes: bytes.len() as u64, sha256 })
}

/// Writes a file of this name; it appears when it is complete, and replaces one that is there.
///
/// # Errors
/// When the file cannot be written.
pub fn put(folder: &Folder, name: &str, bytes: &[u8]) -> Result<(), DatasetError> {
    let path = folder.path().join(name);
    let mut file: NewFile = folder.new_file(name, Access::new(folder).file_mode()).map_err(file_error(&path))?;
    file.write_all(bytes).map_err(io_error(&path))?;
    file.replace().map_err(file_error(&path))
}

fn opened(folder: &Folder, name: &str) -> Result<File, DatasetError> {
    folder.read(name).map_err(file_error(&folder.path().join(name)))
}

/// Reads the rows of a file that has exactly this size and digest; memory holds a row group.
///
/// # Errors
/// When the file cannot be read or is another one; or what `each` returns.
pub fn read_rows<V: View, E: From<DatasetError>>(
    folder: &Folder,
    file: &Input,
    mut each: impl FnMut(V::Of<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let path = folder.path().join(&file.path);
    let table = open_checked(folder, file)?;
    for group in 0..table.groups().len() {
        let columns = table.read(None, group, Projection::new::<V>()).map_err(parquet_error(&path))?;
        Rows::<V>::read(columns, &path)?.iter().try_for_each(&mut each)?;
    }
    Ok(())
}

/// Whether a file has this size and digest; its rows are not read.
///
/// # Errors
/// When it cannot be read, or is another one.
pub fn check(folder: &Folder, file: &Input) -> Result<(), DatasetError> {
    open_checked(folder, file).map(drop)
}

fn open_checked(folder: &Folder, file: &Input) -> Result<TableFile, DatasetError> {
    let path = folder.path().join(&file.path);
    let open = opened(folder, &file.path)?;
    let bytes = open.metadata().map_err(io_error(&path))?.len();
    let table = TableFile::open(open).map_err(parquet_error(&path))?;
    if bytes != file.bytes || table.digest().map_err(parquet_error(&path))? != file.sha256 {
        return Err(DatasetError::Foreign { path, why: "it is not the file that its manifest lists" });
    }
    Ok(table)
}

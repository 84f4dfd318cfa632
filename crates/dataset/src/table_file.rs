//! A table's file, open for reading: its row groups, with the columns that are asked for.
//!
//! Read are the columns of a [`Projection`]; one that an older file does not have reads as null. The
//! bytes of a column chunk are read once, checked ([`crate::parquet_checks`]), and decoded, several
//! columns at a time on the machine's processors.
//!
//! Refused are files without a column that the table cannot do without, and columns with a type
//! that the table does not declare.

use std::fmt::Write;
use std::fs::File;
use std::io::Cursor;
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;

use flowmine_schema::row::HOST;
use polars_arrow::array::{Array, Utf8ViewArray, View};
use polars_arrow::compute::concatenate::concatenate;
use polars_arrow::datatypes::{ArrowDataType, Field};
use polars_buffer::Buffer;
use polars_parquet::parquet::metadata::{ColumnChunkMetadata, FileMetadata};
use polars_parquet::parquet::read::{BasicDecompressor, PageReader, read_metadata};
use polars_parquet::parquet::schema::types::{
    IntegerType, PhysicalType, PrimitiveConvertedType as Converted, PrimitiveLogicalType as Logical, PrimitiveType,
};
use polars_parquet::read::column_iter_to_arrays;
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use sha2::{Digest, Sha256};

use crate::columns::{Columns, arrow_type};
use crate::parquet_checks::{GroupCheck, check_rows, checksums, tail};
use crate::parquet_error::ParquetError;
use crate::projection::Projection;
use crate::quiet::caught;
use crate::thrift::footer_is_sound;

/// From how many values on a row group is decoded on several processors: below, handing the work
/// over takes longer.
const MANY_VALUES: usize = 1 << 15;

/// Bytes of a file that are digested at once.
const DIGESTED_AT_ONCE: usize = 1 << 16;

/// The threads that decode columns; none where the system gives none, as rayon's own pool panics
/// there, and none in a process that was forked after they were started, as it does not have them.
fn pool() -> Option<&'static ThreadPool> {
    static POOL: OnceLock<(u32, Option<ThreadPool>)> = OnceLock::new();
    let (process, pool) = POOL.get_or_init(|| (std::process::id(), ThreadPoolBuilder::new().build().ok()));
    pool.as_ref().filter(|_| *process == std::process::id())
}

/// A Parquet file of a table, open for reading.
pub(crate) struct TableFile {
    file: File,
    /// Size of the file in bytes.
    length: u64,
    metadata: FileMetadata,
    /// The columns, in the order in which row groups have them.
    columns: Vec<FileColumn>,
    /// Those of the column chunks, group after group.
    checksums: Option<Vec<u32>>,
}

/// A column of the file, with the type that its values get.
struct FileColumn {
    name: String,
    /// `None` where it is of no type that tables have.
    type_: Option<ArrowDataType>,
}

/// A column chunk as it lies in the file.
struct ChunkBytes<'f> {
    field: Field,
    metadata: &'f ColumnChunkMetadata,
    bytes: Buffer<u8>,
}

impl TableFile {
    /// Reads the metadata of a file.
    ///
    /// # Errors
    /// When it cannot be read, is not Parquet, or its footer is not what was written.
    pub(crate) fn open(file: File) -> Result<Self, ParquetError> {
        trusting(|| {
            let length = file.metadata()?.len();
            if !footer_is_sound(&file, length)? {
                return Err(ParquetError::Damaged);
            }
            let metadata = read_metadata(&mut &file)?;
            let columns = metadata.schema_descr.columns().iter().map(|leaf| {
                let nested = leaf.path_in_schema.len() != 1 || leaf.descriptor.max_rep_level > 0 || leaf.descriptor.max_def_level > 1;
                let type_ = if nested { None } else { type_of(&leaf.descriptor.primitive_type) };
                FileColumn { name: leaf.path_in_schema.first().map(ToString::to_string).unwrap_or_default(), type_ }
            });
            let columns = columns.collect();
            check_rows(&metadata, length, false)?;
            let checksums = checksums(&file, length, &metadata)?;
            Ok(Self { file, length, columns, checksums, metadata })
        })
    }

    /// SHA-256 of the footer, in hexadecimal; of the whole file if the footer has no checksums.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub(crate) fn digest(&self) -> Result<String, ParquetError> {
        let mut at = if self.has_checksums() { tail(&self.metadata) } else { 0 };
        let mut digest = Sha256::new();
        digest.update(self.length.to_le_bytes());
        let mut bytes = vec![0; DIGESTED_AT_ONCE];
        while at < self.length {
            let length = (self.length - at).min(DIGESTED_AT_ONCE as u64) as usize;
            self.file.read_exact_at(&mut bytes[..length], at)?;
            digest.update(&bytes[..length]);
            at += length as u64;
        }
        let mut text = String::with_capacity(64);
        digest.finalize().iter().for_each(|byte| {
            let _ = write!(text, "{byte:02x}");
        });
        Ok(text)
    }

    /// Whether the file has checksums, by which altered bytes are noticed.
    pub(crate) fn has_checksums(&self) -> bool {
        self.checksums.is_some()
    }

    /// How many rows each row group has.
    pub(crate) fn groups(&self) -> impl ExactSizeIterator<Item = usize> + '_ {
        self.metadata.row_groups.iter().map(|group| group.num_rows())
    }

    /// Some columns of a row group; of a table that is split, with the host to which they belong.
    ///
    /// # Errors
    /// When it cannot be read, is damaged, or is of another table.
    pub(crate) fn read(&self, host: Option<&str>, group: usize, projection: Projection<'_>) -> Result<Columns, ParquetError> {
        let wanted = self.wanted(projection)?;
        with_host(complete(self.group(group, &wanted)?, projection)?, host, projection)
    }

    /// All rows of the file.
    ///
    /// # Errors
    /// As those of [`TableFile::read`], and when it has more rows than memory may have to hold.
    pub(crate) fn read_whole(&self, host: Option<&str>, projection: Projection<'_>) -> Result<Columns, ParquetError> {
        check_rows(&self.metadata, self.length, true)?;
        let wanted = self.wanted(projection)?;
        let groups = (0..self.groups().len()).map(|group| self.group(group, &wanted)).collect::<Result<Vec<_>, _>>()?;
        let columns = if groups.is_empty() { self.without_rows(&wanted)? } else { Columns::concatenated(groups)? };
        with_host(complete(columns, projection)?, host, projection)
    }

    /// A row group with all columns of the file; one without rows when there is none.
    ///
    /// # Errors
    /// When it cannot be read, is damaged, or has columns of types that no table has.
    pub(crate) fn columns(&self, group: usize) -> Result<Columns, ParquetError> {
        let all: Vec<usize> = (0..self.columns.len()).collect();
        if self.groups().len() == 0 { self.without_rows(&all) } else { self.group(group, &all) }
    }

    /// Where in the file the columns are that have to be read.
    fn wanted(&self, Projection { is_split, all, columns, .. }: Projection<'_>) -> Result<Vec<usize>, ParquetError> {
        let place = |name: &str| self.columns.iter().position(|column| column.name == name);
        let in_folder = |name| is_split && name == HOST;
        if let Some(missing) = all.iter().find(|def| !def.nullable && !in_folder(def.name) && place(def.name).is_none()) {
            return Err(ParquetError::NotThisTable(missing.name));
        }
        let mut wanted = Vec::new();
        for def in columns {
            let Some(at) = place(def.name) else { continue };
            if self.columns[at].type_ != Some(arrow_type(def.kind)) {
                return Err(ParquetError::WrongType(def.name));
            }
            wanted.push(at);
        }
        if wanted.is_empty() {
            // Without any column nothing would confirm the number of rows in the file's metadata.
            wanted.extend(all.iter().find_map(|def| place(def.name)));
        }
        Ok(wanted)
    }

    /// Columns as they are in a file without row groups.
    fn without_rows(&self, wanted: &[usize]) -> Result<Columns, ParquetError> {
        let mut columns = Columns::new(0);
        for &at in wanted {
            let field = self.field(at)?;
            columns.push(&field.name, polars_arrow::array::new_empty_array(field.dtype))?;
        }
        Ok(columns)
    }

    fn field(&self, at: usize) -> Result<Field, ParquetError> {
        let column = self.columns.get(at).ok_or(ParquetError::Damaged)?;
        let type_ = column.type_.clone().ok_or(ParquetError::Misfit("it has a column of a type that no table has"))?;
        Ok(Field::new(column.name.as_str().into(), type_, true))
    }

    /// Some columns of a row group.
    fn group(&self, group: usize, wanted: &[usize]) -> Result<Columns, ParquetError> {
        let chunks = trusting(|| self.chunks(group, wanted))?;
        let rows = self.metadata.row_groups[group].num_rows();
        let decode = |chunk: ChunkBytes<'_>| trusting(|| chunk.decode()).map(|array| (chunk.field.name.clone(), array));
        let many = rows.saturating_mul(wanted.len()) >= MANY_VALUES;
        let arrays: Result<Vec<_>, _> = match pool().filter(|_| many) {
            Some(pool) => pool.install(|| chunks.into_par_iter().map(decode).collect()),
            None => chunks.into_iter().map(decode).collect(),
        };
        let mut columns = Columns::new(rows);
        for (name, array) in arrays? {
            columns.push(&name, array)?;
        }
        Ok(columns)
    }

    /// The bytes of some columns of a row group, checked.
    fn chunks(&self, group: usize, wanted: &[usize]) -> Result<Vec<ChunkBytes<'_>>, ParquetError> {
        let before: usize = self.metadata.row_groups.iter().take(group).map(|group| group.parquet_columns().len()).sum();
        let group = self.metadata.row_groups.get(group).ok_or(ParquetError::Damaged)?;
        let mut check = GroupCheck::new(group.num_rows())?;
        let mut chunks = Vec::with_capacity(wanted.len());
        for &at in wanted {
            let chunk = group.parquet_columns().get(at).ok_or(ParquetError::Damaged)?;
            let range = chunk.byte_range();
            if range.end > self.length || chunk.num_values() != group.num_rows() as i64 {
                return Err(ParquetError::Damaged);
            }
            let mut bytes = vec![0; (range.end - range.start) as usize];
            self.file.read_exact_at(&mut bytes, range.start)?;
            let bytes: Buffer<u8> = bytes.into();
            check.chunk(chunk, &bytes, self.checksums.as_ref().and_then(|all| all.get(before + at)).copied())?;
            chunks.push(ChunkBytes { field: self.field(at)?, metadata: chunk, bytes });
        }
        check.end()?;
        Ok(chunks)
    }
}

impl ChunkBytes<'_> {
    fn decode(&self) -> Result<Box<dyn Array>, ParquetError> {
        let pages = PageReader::new(Cursor::new(self.bytes.clone()), self.metadata, Vec::new(), self.bytes.len());
        let pages = BasicDecompressor::new(pages, Vec::new());
        let type_ = &self.metadata.descriptor().descriptor.primitive_type;
        let (mut arrays, _) = column_iter_to_arrays(vec![pages], vec![type_], self.field.clone(), None)?;
        let array = match arrays.len() {
            1 => arrays.remove(0),
            _ => concatenate(&arrays.iter().map(|array| &**array).collect::<Vec<_>>())?,
        };
        if array.as_any().downcast_ref::<Utf8ViewArray>().is_some_and(|texts| !is_text(texts)) {
            return Err(ParquetError::NotText(self.field.name.to_string()));
        }
        Ok(array)
    }
}

/// Whether all texts are UTF-8. The decoder promises it and does not look at the last bytes of short
/// ones; what it promises is relied upon everywhere else.
fn is_text(texts: &Utf8ViewArray) -> bool {
    const LENGTH: u128 = u32::MAX as u128;
    const NOT_ASCII: u128 = u128::from_le_bytes([0x80; 16]) & !LENGTH;
    let buffers_are_ascii = texts.data_buffers().iter().all(|buffer| buffer.is_ascii());
    let is_ascii = |view: &View| view.as_u128() & NOT_ASCII == 0;
    if buffers_are_ascii && texts.views().iter().all(|view| view.length > View::MAX_INLINE_SIZE || is_ascii(view)) {
        return true;
    }
    texts.to_binview().iter().all(|text| text.is_none_or(|text| std::str::from_utf8(text).is_ok()))
}

/// Columns, if none lacks a value that it must have.
fn complete(columns: Columns, projection: Projection<'_>) -> Result<Columns, ParquetError> {
    let lacks = |name| columns.get(name).is_some_and(|array| array.null_count() > 0);
    match projection.columns.iter().find(|def| !def.nullable && lacks(def.name)) {
        Some(def) => Err(ParquetError::NoValue(def.name)),
        None => Ok(columns),
    }
}

/// What `read` gives; an error where it panics.
fn trusting<T>(read: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, ParquetError> {
    caught(read).unwrap_or(Err(ParquetError::Damaged))
}

/// Columns with the host, which is in the folder's name and not in the file.
fn with_host(mut columns: Columns, host: Option<&str>, projection: Projection<'_>) -> Result<Columns, ParquetError> {
    if let Some(host) = host.filter(|_| projection.columns.iter().any(|def| def.name == HOST)) {
        columns.remove(HOST);
        columns.push_text(HOST, host)?;
    }
    Ok(columns)
}

/// The Arrow type of a column, if tables have columns of this type.
fn type_of(column: &PrimitiveType) -> Option<ArrowDataType> {
    match (column.physical_type, column.logical_type, column.converted_type) {
        (PhysicalType::Boolean, None, None) => Some(ArrowDataType::Boolean),
        // Others (DuckDB) say of signed whole numbers that they are.
        (PhysicalType::Int32, None | Some(Logical::Integer(IntegerType::Int32)), None | Some(Converted::Int32)) => {
            Some(ArrowDataType::Int32)
        }
        (PhysicalType::Int64, None | Some(Logical::Integer(IntegerType::Int64)), None | Some(Converted::Int64)) => {
            Some(ArrowDataType::Int64)
        }
        (PhysicalType::Double, None, None) => Some(ArrowDataType::Float64),
        (PhysicalType::ByteArray, Some(Logical::String), _) => Some(ArrowDataType::Utf8View),
        (PhysicalType::ByteArray, None, Some(Converted::Utf8)) => Some(ArrowDataType::Utf8View),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signed_whole_numbers_are_read_whether_it_is_said_or_not() {
        let of = |physical, logical_type, converted_type| {
            let column = PrimitiveType { logical_type, converted_type, ..PrimitiveType::from_physical("n".into(), physical) };
            type_of(&column)
        };
        for (logical, converted) in
            [(None, None), (None, Some(Converted::Int64)), (Some(Logical::Integer(IntegerType::Int64)), Some(Converted::Int64))]
        {
            assert_eq!(of(PhysicalType::Int64, logical, converted), Some(ArrowDataType::Int64));
        }
        assert_eq!(of(PhysicalType::Int32, None, Some(Converted::Int32)), Some(ArrowDataType::Int32));
        assert_eq!(of(PhysicalType::Int64, None, Some(Converted::Uint64)), None);
        assert_eq!(of(PhysicalType::Int64, None, Some(Converted::TimestampMicros)), None);
    }
}

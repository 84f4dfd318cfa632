//! Columns in memory to the bytes of a Parquet file, one row group after the other.
//!
//! A file is zstd-compressed with statistics, its columns in the order of the table. It holds row
//! groups of at most [`GROUP_ROWS`] rows, so that it can be read piece by piece; it is written
//! whole.
//!
//! How a column is written follows from its values: a dictionary where few of them repeat (host,
//! operation, inode number), and DELTA_BINARY_PACKED for whole numbers of which most are different
//! (times, offsets). Times that ascend then take the bits of their steps, and the compressor has a
//! third of the bytes to work on. Both are read by whatever reads Parquet.
//!
//! The choice looks at a sample at fixed places, so the same rows give the same bytes.
//!
//! There is no Arrow schema next to Parquet's own: it would require Arrow types that older readers
//! do not have.
//!
//! Refused are rows with other columns than those before.

use std::fs::File;
use std::io::Write;

use flowmine_schema::row::Row;
use polars_arrow::array::{Array, PrimitiveArray, Utf8ViewArray};
use polars_arrow::datatypes::Field;
use polars_error::PolarsError;
use polars_parquet::write::{
    CompressedPage, CompressionOptions, DynIter, DynStreamingIterator, Encoding, FileWriter, ParquetType, StatisticsOptions, Version,
    WriteOptions, ZstdLevel, array_to_columns, compress, fallible_streaming_iterator, get_dtype_encoding,
};

use crate::columns::Columns;
use crate::dictionary;
use crate::parquet_checks;
use crate::parquet_error::ParquetError;
use crate::rows::Rows;

/// How many values of a column are looked at. They cost a nanosecond a row of a full group.
const SAMPLE: usize = 512;

/// How many bytes of a text are kept in statistics.
const STATISTICS_BYTES: u64 = 64;

/// Above 1, what is encoded as above gets no smaller, but takes longer.
const LEVEL: i32 = 1;

/// Writes rows to an open file and leaves it flushed, but not synced.
///
/// # Errors
/// When the file cannot be written, such as on a full disk.
pub(crate) fn write<R: Row>(mut file: &File, rows: Rows<R>) -> Result<(), ParquetError> {
    // Made in memory first: what the file system says (a full disk) then comes as it is, not wrapped in words of the format.
    let mut bytes = ParquetBytes::new(&rows.columns)?;
    bytes.push(rows.columns)?;
    Ok(file.write_all(&bytes.finish()?)?)
}

/// How all files are written, but for how they are compressed.
pub(crate) const fn write_options(compression: CompressionOptions) -> WriteOptions {
    WriteOptions {
        statistics: StatisticsOptions {
            min_value: true,
            max_value: true,
            distinct_count: false,
            null_count: true,
            // Said here, because else the environment would have a say in the bytes.
            binary_statistics_truncate_length: Some(STATISTICS_BYTES),
        },
        version: Version::V1,
        compression,
        data_page_size: None,
    }
}

/// A Parquet file that grows in memory.
pub(crate) struct ParquetBytes {
    writer: FileWriter<Vec<u8>>,
    fields: Vec<Field>,
    types: Vec<ParquetType>,
    options: WriteOptions,
    /// Rows that are not yet a group.
    rest: Option<Columns>,
    /// How many row groups there are.
    groups: usize,
}

impl ParquetBytes {
    /// A file with the columns of these rows, and yet without the rows.
    pub(crate) fn new(columns: &Columns) -> Result<Self, ParquetError> {
        let options = write_options(CompressionOptions::Zstd(Some(ZstdLevel::try_new(LEVEL)?)));
        let writer = FileWriter::try_new(Vec::new(), columns.schema(), options)?;
        let types = writer.parquet_schema().fields().to_vec();
        Ok(Self { writer, fields: columns.fields().to_vec(), types, options, rest: None, groups: 0 })
    }

    /// Adds rows; full row groups are encoded at once.
    pub(crate) fn push(&mut self, columns: Columns) -> Result<(), ParquetError> {
        if !self.fits(&columns) {
            return Err(ParquetError::Misfit("rows with other columns"));
        }
        let rows = Columns::concatenated(self.rest.take().into_iter().chain([columns]).collect())?;
        let mut start = 0;
        while rows.rows() - start >= GROUP_ROWS {
            self.write_group(&rows.slice(start, GROUP_ROWS))?;
            start += GROUP_ROWS;
        }
        if start < rows.rows() {
            self.rest = Some(rows.slice(start, rows.rows() - start));
        }
        Ok(())
    }

    /// Whether rows have the columns of this file.
    pub(crate) fn fits(&self, columns: &Columns) -> bool {
        columns.fields() == self.fields
    }

    /// Encodes what is left and the footer.
    pub(crate) fn finish(mut self) -> Result<Vec<u8>, ParquetError> {
        if let Some(rows) = self.rest.take() {
            self.write_group(&rows)?;
        }
        self.writer.end(Some(vec![parquet_checks::room(self.groups * self.types.len())]))?;
        let mut bytes = self.writer.into_inner();
        parquet_checks::fill(&mut bytes)?;
        Ok(bytes)
    }

    fn write_group(&mut self, rows: &Columns) -> Result<(), ParquetError> {
        let mut columns: Vec<Vec<CompressedPage>> = Vec::with_capacity(self.types.len());
        for (array, type_) in rows.arrays().iter().zip(&self.types) {
            let (array, encodings) = encoded(array.as_ref())?;
            let mut pages = Vec::new();
            for page in array_to_columns(array, type_.clone(), self.options, &encodings)?.into_iter().flatten() {
                pages.push(compress(page?, Vec::new(), self.options.compression)?);
            }
            columns.push(pages);
        }
        let streams = columns.iter().map(|pages| {
            let pages = fallible_streaming_iterator::convert(pages.iter().map(Ok::<_, PolarsError>));
            Ok(DynStreamingIterator::new(pages))
        });
        self.groups += 1;
        Ok(self.writer.write(rows.rows() as u64, DynIter::new(streams))?)
    }
}

/// A column as it is written, and how.
fn encoded(array: &dyn Array) -> Result<(Box<dyn Array>, Vec<Encoding>), ParquetError> {
    if let Some(texts) = array.as_any().downcast_ref::<Utf8ViewArray>() {
        return Ok(match dictionary::of_texts(texts)? {
            Some(dictionary) => (dictionary.boxed(), vec![Encoding::RleDictionary]),
            None => (array.to_boxed(), vec![Encoding::Plain]),
        });
    }
    let encodings = if is_spread(array) { vec![Encoding::DeltaBinaryPacked] } else { get_dtype_encoding(array.dtype()) };
    Ok((array.to_boxed(), encodings))
}

/// Whether these are whole numbers of which, in a sample, more than half are different.
fn is_spread(array: &dyn Array) -> bool {
    let Some(array) = array.as_any().downcast_ref::<PrimitiveArray<i64>>() else { return false };
    // Not a power of two: what takes turns often does so in powers of two.
    let step = (array.len() / SAMPLE) | 1;
    let mut sample: Vec<i64> = (0..array.len()).step_by(step).filter(|&at| array.is_valid(at)).map(|at| array.value(at)).collect();
    let there = sample.len();
    sample.sort_unstable();
    sample.dedup();
    sample.len() * 2 > there
}

/// How many rows a row group has, and so how many a reader of a large file holds at once.
pub const GROUP_ROWS: usize = 1 << 15;

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use polars_parquet::read::read_metadata;

    use super::*;
    use crate::table_file::TableFile;

    /// What reads alike and what does not, with and without gaps: a step, any 64 bits, few values,
    /// ends of the range, nothing, text.
    fn columns(rows: usize) -> Columns {
        let mut columns = Columns::new(rows);
        let mut numbers = |name: &str, value: fn(i64) -> Option<i64>| {
            let values = (0..rows as i64).map(value).collect::<Vec<_>>();
            columns.push(name, PrimitiveArray::from(values).boxed()).unwrap();
        };
        numbers("time", |n| Some(1_795_179_770_000_000_000 + n * 1013 + n % 7));
        numbers("any", |n| (n % 3 != 0).then(|| n.wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as i64)));
        numbers("few", |n| (n % 5 != 0).then_some(n % 16));
        numbers("ends", |n| Some([i64::MIN, i64::MAX, n, -n][n as usize % 4]));
        numbers("last", |n| (n % 30_000 == 29_999).then_some(n));
        numbers("none", |_| None);
        let texts: Vec<_> = (0..rows).map(|n| (n % 2 == 0).then(|| format!("text {}", n % 100))).collect();
        columns.push("text", Utf8ViewArray::from_slice(texts).boxed()).unwrap();
        columns
    }

    fn file(bytes: &[u8]) -> TableFile {
        let mut file = tempfile::tempfile().unwrap();
        std::io::Write::write_all(&mut file, bytes).unwrap();
        TableFile::open(file).unwrap()
    }

    /// All rows of a file, and the numbers of rows of its groups.
    fn read(bytes: &[u8]) -> (Columns, Vec<usize>) {
        let file = file(bytes);
        let groups: Vec<usize> = file.groups().collect();
        let pieces: Vec<_> = (0..groups.len()).map(|at| file.columns(at).unwrap()).collect();
        (if pieces.is_empty() { columns(0) } else { Columns::concatenated(pieces).unwrap() }, groups)
    }

    fn written(pieces: impl IntoIterator<Item = Columns>) -> Vec<u8> {
        let mut file = ParquetBytes::new(&columns(0)).unwrap();
        pieces.into_iter().for_each(|piece| file.push(piece).unwrap());
        file.finish().unwrap()
    }

    #[test]
    fn values_come_back_and_pieces_leave_no_trace() {
        let rows = GROUP_ROWS * 2 + 777;
        let whole = columns(rows);
        let bytes = written([whole.clone()]);
        let (read_again, groups) = read(&bytes);
        assert!(read_again == whole);
        assert_eq!(groups, [GROUP_ROWS, GROUP_ROWS, 777]);
        let part = |start: usize| whole.slice(start, 5000.min(rows - start));
        assert!(written((0..rows).step_by(5000).map(part)) == bytes);
        assert!(file(&bytes).columns(1).unwrap() == whole.slice(GROUP_ROWS, GROUP_ROWS));
        for few in [0, 1, 2, 300] {
            assert!(read(&written([columns(few)])).0 == columns(few), "{few}");
        }
    }

    #[test]
    fn numbers_that_differ_are_written_as_differences() {
        let metadata = read_metadata(&mut Cursor::new(written([columns(GROUP_ROWS)]))).unwrap();
        let columns = metadata.row_groups[0].parquet_columns();
        let dictionaries: Vec<bool> = columns.iter().map(|column| column.dictionary_page_offset().is_some()).collect();
        assert_eq!(dictionaries, [false, false, true, false, true, true, true]);
        // A step of a thousand and a bit has ten bits more than its least, at most.
        assert!(columns[0].compressed_size() < GROUP_ROWS as i64, "{}", columns[0].compressed_size());
    }

    #[test]
    fn other_columns_are_refused() {
        let mut file = ParquetBytes::new(&columns(0)).unwrap();
        let mut other = Columns::new(1);
        other.push("time", PrimitiveArray::from_vec(vec![1_i64]).boxed()).unwrap();
        assert!(!file.fits(&other));
        assert!(matches!(file.push(other), Err(ParquetError::Misfit(_))));
    }
}

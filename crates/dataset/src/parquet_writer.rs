//! Columns in memory to the bytes of a Parquet file, one row group after the other.
//!
//! How a column is written follows from its values: a dictionary where few of them repeat (host,
//! operation, inode number), and DELTA_BINARY_PACKED for whole numbers of which most are different
//! (times, offsets). Times that ascend then take the bits of their steps, and the compressor has a
//! third of the bytes to work on. Both are read by whatever reads Parquet.
//!
//! The choice looks at a sample at fixed places, so the same rows give the same bytes.
//!
//! No Arrow schema is put beside Parquet's own: with it, readers would be asked for Arrow types
//! that older ones do not have.
//!
//! Refused are rows with other columns than those before.

use polars::prelude::{ArrowField, CompatLevel, DataFrame, PolarsError};
use polars_arrow::array::{Array, PrimitiveArray};
use polars_arrow::datatypes::ArrowSchema;
use polars_parquet::write::{
    CompressedPage, CompressionOptions, DynIter, DynStreamingIterator, Encoding, FileWriter, ParquetType, StatisticsOptions, Version,
    WriteOptions, ZstdLevel, array_to_columns, compress, fallible_streaming_iterator, get_dtype_encoding,
};

use crate::parquet_checks;
use crate::parquet_error::ParquetError;

/// How many values of a column are looked at. They cost a nanosecond a row of a full group.
const SAMPLE: usize = 512;

/// How many bytes of a text are kept in statistics.
const STATISTICS_BYTES: u64 = 64;

/// Above 1, what is encoded as above gets no smaller, but takes longer.
const LEVEL: i32 = 1;

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
    fields: Vec<ArrowField>,
    types: Vec<ParquetType>,
    options: WriteOptions,
    /// Rows that are not yet a group.
    rest: Option<DataFrame>,
    /// How many row groups there are.
    groups: usize,
}

impl ParquetBytes {
    /// A file with the columns of these rows, and yet without the rows.
    pub(crate) fn new(frame: &DataFrame) -> Result<Self, ParquetError> {
        let options = write_options(CompressionOptions::Zstd(Some(ZstdLevel::try_new(LEVEL)?)));
        let fields = fields(frame);
        let schema: ArrowSchema = fields.iter().map(|field| (field.name.clone(), field.clone())).collect();
        let writer = FileWriter::try_new(Vec::new(), schema, options)?;
        let types = writer.parquet_schema().fields().to_vec();
        Ok(Self { writer, fields, types, options, rest: None, groups: 0 })
    }

    /// Adds rows; full row groups are encoded at once.
    pub(crate) fn push(&mut self, frame: DataFrame) -> Result<(), ParquetError> {
        if !self.fits(&frame) {
            return Err(ParquetError::Misfit("rows with other columns"));
        }
        let mut rows = match self.rest.take() {
            None => frame,
            Some(mut rows) => {
                rows.vstack_mut(&frame)?;
                rows
            }
        };
        rows.rechunk_mut();
        let mut start = 0;
        while rows.height() - start >= GROUP_ROWS {
            self.write_group(&rows, start, GROUP_ROWS)?;
            start += GROUP_ROWS;
        }
        if start < rows.height() {
            self.rest = Some(rows.slice(start as i64, rows.height() - start));
        }
        Ok(())
    }

    /// Whether rows have the columns of this file.
    pub(crate) fn fits(&self, frame: &DataFrame) -> bool {
        fields(frame) == self.fields
    }

    /// Encodes what is left and the footer.
    pub(crate) fn finish(mut self) -> Result<Vec<u8>, ParquetError> {
        if let Some(mut rows) = self.rest.take() {
            rows.rechunk_mut();
            self.write_group(&rows, 0, rows.height())?;
        }
        self.writer.end(Some(vec![parquet_checks::room(self.groups * self.types.len())]))?;
        let mut bytes = self.writer.into_inner();
        parquet_checks::fill(&mut bytes)?;
        Ok(bytes)
    }

    fn write_group(&mut self, rows: &DataFrame, start: usize, count: usize) -> Result<(), ParquetError> {
        let mut columns: Vec<Vec<CompressedPage>> = Vec::with_capacity(self.types.len());
        for (column, type_) in rows.columns().iter().zip(&self.types) {
            let series = column.as_materialized_series().slice(start as i64, count);
            let array = series.to_arrow(0, CompatLevel::newest());
            let encodings = if is_spread(array.as_ref()) { vec![Encoding::DeltaBinaryPacked] } else { get_dtype_encoding(array.dtype()) };
            let mut pages = Vec::new();
            for page in array_to_columns(array, type_.clone(), self.options, &encodings)?.into_iter().flatten() {
                pages.push(compress(page?, Vec::new(), self.options.compression).map_err(PolarsError::from)?);
            }
            columns.push(pages);
        }
        let streams = columns.iter().map(|pages| {
            let pages = fallible_streaming_iterator::convert(pages.iter().map(Ok::<_, PolarsError>));
            Ok(DynStreamingIterator::new(pages))
        });
        self.groups += 1;
        Ok(self.writer.write(count as u64, DynIter::new(streams))?)
    }
}

fn fields(frame: &DataFrame) -> Vec<ArrowField> {
    frame.columns().iter().map(|column| column.field().to_arrow(CompatLevel::newest())).collect()
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

    use polars::prelude::{Column, ParquetReader, SerReader};
    use polars_parquet::read::read_metadata;

    use super::*;

    /// What reads alike and what does not, with and without gaps: a step, any 64 bits, few values,
    /// ends of the range, nothing, text.
    fn frame(rows: usize) -> DataFrame {
        let numbers = |value: fn(i64) -> Option<i64>| (0..rows as i64).map(value).collect::<Vec<_>>();
        let columns = vec![
            Column::new("time".into(), numbers(|n| Some(1_795_179_770_000_000_000 + n * 1013 + n % 7))),
            Column::new("any".into(), numbers(|n| (n % 3 != 0).then(|| n.wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as i64)))),
            Column::new("few".into(), numbers(|n| (n % 5 != 0).then_some(n % 16))),
            Column::new("ends".into(), numbers(|n| Some([i64::MIN, i64::MAX, n, -n][n as usize % 4]))),
            Column::new("last".into(), numbers(|n| (n % 30_000 == 29_999).then_some(n))),
            Column::new("none".into(), numbers(|_| None)),
            Column::new("text".into(), (0..rows).map(|n| (n % 2 == 0).then(|| format!("text {}", n % 100))).collect::<Vec<_>>()),
        ];
        DataFrame::new(rows, columns).unwrap()
    }

    fn written(frames: impl IntoIterator<Item = DataFrame>) -> Vec<u8> {
        let mut file = ParquetBytes::new(&frame(0)).unwrap();
        frames.into_iter().for_each(|frame| file.push(frame).unwrap());
        file.finish().unwrap()
    }

    #[test]
    fn values_come_back_and_pieces_leave_no_trace() {
        let rows = GROUP_ROWS * 2 + 777;
        let whole = frame(rows);
        let bytes = written([whole.clone()]);
        assert!(ParquetReader::new(Cursor::new(&bytes)).finish().unwrap().equals_missing(&whole));
        let part = |start: usize| whole.slice(start as i64, 5000.min(rows - start));
        assert!(written((0..rows).step_by(5000).map(part)) == bytes);
        for (start, count) in [(GROUP_ROWS - 1, 2), (rows - 1, 1), (100, GROUP_ROWS)] {
            let read = ParquetReader::new(Cursor::new(&bytes)).with_slice(Some((start, count))).finish().unwrap();
            assert!(read.equals_missing(&whole.slice(start as i64, count)), "{start} {count}");
        }
        for few in [0, 1, 2, 300] {
            let read = ParquetReader::new(Cursor::new(written([frame(few)]))).finish().unwrap();
            assert!(read.equals_missing(&frame(few)), "{few}");
        }
    }

    #[test]
    fn numbers_that_differ_are_written_as_differences() {
        let metadata = read_metadata(&mut Cursor::new(written([frame(GROUP_ROWS)]))).unwrap();
        let columns = metadata.row_groups[0].parquet_columns();
        let dictionaries: Vec<bool> = columns.iter().map(|column| column.dictionary_page_offset().is_some()).collect();
        assert_eq!(dictionaries, [false, false, true, false, true, true, true]);
        // A step of a thousand and a bit has ten bits more than its least, at most.
        assert!(columns[0].compressed_size() < GROUP_ROWS as i64, "{}", columns[0].compressed_size());
    }

    #[test]
    fn other_columns_are_refused() {
        let mut file = ParquetBytes::new(&frame(0)).unwrap();
        let other = DataFrame::new(1, vec![Column::new("time".into(), [1_i64])]).unwrap();
        assert!(!file.fits(&other));
        assert!(matches!(file.push(other), Err(ParquetError::Misfit(_))));
    }
}

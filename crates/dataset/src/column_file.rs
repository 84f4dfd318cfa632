//! Columns that are known only at run time to a Parquet file: rows of typed cells in, bytes out, in
//! bounded memory.
//!
//! For tables with declared columns, see [`Dataset`](crate::Dataset). Here they are found in the
//! data: an event log has the attributes that it has.
//!
//! - Text is UTF8, whole numbers INT64, floating-point numbers DOUBLE, times TIMESTAMP in
//!   nanoseconds adjusted to UTC, so that readers make times with a time zone of them. Every column
//!   may miss values; a missing value is null.
//! - Pages are zstd-compressed; columns with few different values get a dictionary. Statistics let
//!   readers skip row groups.
//! - A row group ends after the row with which it has [`GROUP_ROWS`] rows or [`GROUP_BYTES`], so
//!   the same rows give the same bytes, whatever chunks they came in.
//! - There is no Arrow schema next to Parquet's own: it would require Arrow types that older
//!   readers do not have.
//!
//! What a group holds is counted by the cells that are there: a table with thousands of columns, of
//! which each row has a few, takes the memory of the few. Only the footer grows with the file, by
//! about two kilobytes of memory for each column of each group.
//!
//! Refused are two columns of the same name, a value in a column of another type, and a text of
//! more than [`LONGEST_TEXT`].

use std::io::{self, Write};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use polars_arrow::array::{Array, BooleanArray, MutableBinaryViewArray, PrimitiveArray};
use polars_arrow::bitmap::BitmapBuilder;
use polars_arrow::datatypes::{ArrowDataType, ArrowSchema, Field, TimeUnit};
use polars_arrow::types::NativeType;
use polars_error::PolarsError;
use polars_parquet::write::{
    CompressedPage, CompressionOptions, DynIter, DynStreamingIterator, FileWriter, ParquetType, WriteOptions, array_to_columns, compress,
    fallible_streaming_iterator, get_dtype_encoding,
};

use crate::parquet_error::ParquetError;
use crate::parquet_writer::write_options;

/// How many rows a row group has at most. With more than 200 000, a dictionary column would have
/// several pages, and polars would write the number of nulls of all into the statistics of each.
pub const GROUP_ROWS: usize = 1 << 16;

/// After how many bytes of values a row group ends.
pub const GROUP_BYTES: usize = 16 << 20;

/// How many bytes a text may have. A page of the format has less than 2 GiB.
pub const LONGEST_TEXT: usize = 1 << 30;

const OPTIONS: WriteOptions = write_options(CompressionOptions::Zstd(None));

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// UTF-8 text.
    Text,
    /// UTC nanoseconds since 1970.
    Time,
    /// Signed 64-bit integers.
    Integer,
    /// 64-bit floating-point numbers.
    Float,
    /// True or false.
    Boolean,
}

/// Name and type of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Name of the column, different from all others.
    pub name: String,
    /// Type of the column's values.
    pub kind: Kind,
}

/// A value of a cell. A cell without one is null.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    /// UTF-8.
    Text(&'a str),
    /// UTC nanoseconds since 1970.
    Time(i64),
    /// A whole number.
    Integer(i64),
    /// A floating-point number.
    Float(f64),
    /// True or false.
    Boolean(bool),
}

/// Some rows, by column. Chunks can be filled on several threads.
#[derive(Debug)]
pub struct Chunk {
    columns: Vec<Cells>,
    /// Of each row, how many bytes its values have.
    sizes: Vec<usize>,
}

/// The cells of a column that have values.
#[derive(Debug)]
struct Cells {
    /// The row of each value, counted within the chunk.
    rows: Vec<u32>,
    values: Values,
}

#[derive(Debug)]
enum Values {
    /// One text behind the other, and where each ends.
    Text(String, Vec<usize>),
    Time(Vec<i64>),
    Integer(Vec<i64>),
    Float(Vec<f64>),
    Boolean(Vec<bool>),
}

impl Chunk {
    /// No rows of a table with these columns.
    pub fn new(columns: &[Column]) -> Self {
        let cells = |column: &Column| Cells { rows: Vec::new(), values: Values::new(column.kind) };
        Self { columns: columns.iter().map(cells).collect(), sizes: Vec::new() }
    }

    /// Adds a row with these values, each with the number of its column, from 0.
    ///
    /// # Errors
    /// When there is no such column, it has a value in this row already or another type, or the
    /// value is too large.
    pub fn push<'a>(&mut self, values: impl IntoIterator<Item = (usize, Value<'a>)>) -> Result<(), ParquetError> {
        let row = u32::try_from(self.sizes.len()).map_err(|_| ParquetError::Misfit("too many rows in one piece"))?;
        let mut size = 0;
        for (column, value) in values {
            let Some(cells) = self.columns.get_mut(column) else { return Err(ParquetError::Misfit("a value without a column")) };
            if cells.rows.last() == Some(&row) {
                return Err(ParquetError::Misfit("two values in one cell"));
            }
            size += cells.values.push(value)?;
            cells.rows.push(row);
        }
        self.sizes.push(size);
        Ok(())
    }

    /// How many rows it has.
    pub fn rows(&self) -> usize {
        self.sizes.len()
    }
}

impl Values {
    fn new(kind: Kind) -> Self {
        match kind {
            Kind::Text => Self::Text(String::new(), Vec::new()),
            Kind::Time => Self::Time(Vec::new()),
            Kind::Integer => Self::Integer(Vec::new()),
            Kind::Float => Self::Float(Vec::new()),
            Kind::Boolean => Self::Boolean(Vec::new()),
        }
    }

    /// Adds a value and says what it takes in memory.
    fn push(&mut self, value: Value<'_>) -> Result<usize, ParquetError> {
        match (self, value) {
            (Self::Text(..), Value::Text(text)) if text.len() > LONGEST_TEXT => {
                return Err(ParquetError::Misfit("a text of more than 1 GiB"));
            }
            (Self::Text(all, ends), Value::Text(text)) => {
                all.push_str(text);
                ends.push(all.len());
                return Ok(size_of::<u32>() + size_of::<usize>() + text.len());
            }
            (Self::Time(all), Value::Time(value)) | (Self::Integer(all), Value::Integer(value)) => all.push(value),
            (Self::Float(all), Value::Float(value)) => all.push(value),
            (Self::Boolean(all), Value::Boolean(value)) => all.push(value),
            _ => return Err(ParquetError::Misfit("a value of another type than its column")),
        }
        Ok(size_of::<u32>() + size_of::<i64>())
    }

    fn get(&self, at: usize) -> Option<Value<'_>> {
        match self {
            Self::Text(all, ends) => {
                let start = if at == 0 { 0 } else { *ends.get(at - 1)? };
                all.get(start..*ends.get(at)?).map(Value::Text)
            }
            Self::Time(all) => all.get(at).copied().map(Value::Time),
            Self::Integer(all) => all.get(at).copied().map(Value::Integer),
            Self::Float(all) => all.get(at).copied().map(Value::Float),
            Self::Boolean(all) => all.get(at).copied().map(Value::Boolean),
        }
    }
}

/// A Parquet file that is being written.
pub struct ColumnFile<'a> {
    writer: FileWriter<Sink<'a>>,
    failed: Arc<Mutex<Option<io::Error>>>,
    group: Group,
}

impl<'a> ColumnFile<'a> {
    /// Begins a file. The caller buffers `out` if small writes cost.
    ///
    /// # Errors
    /// When two columns have one name.
    pub fn new(out: &'a mut dyn Write, columns: &[Column]) -> Result<Self, ParquetError> {
        let schema: ArrowSchema = columns.iter().map(field).map(|field| (field.name.clone(), field)).collect();
        if schema.len() != columns.len() {
            return Err(ParquetError::Misfit("two columns of one name"));
        }
        let failed = Arc::new(Mutex::new(None));
        let writer = FileWriter::try_new(Sink { out, failed: Arc::clone(&failed) }, schema, OPTIONS)?;
        let types = writer.parquet_schema().fields().iter().cloned();
        let columns = columns.iter().map(|column| column.kind).zip(types).collect();
        Ok(Self { writer, failed, group: Group { columns, parts: Vec::new(), rows: 0, bytes: 0 } })
    }

    /// Adds the rows of a chunk.
    ///
    /// # Errors
    /// When the chunk has another number of columns, or the file cannot be written.
    pub fn push(&mut self, chunk: Chunk) -> Result<(), ParquetError> {
        if chunk.columns.len() != self.group.columns.len() {
            return Err(ParquetError::Misfit("rows of another table"));
        }
        let chunk = Arc::new(chunk);
        let mut start = 0;
        for (row, size) in chunk.sizes.iter().enumerate() {
            self.group.rows += 1;
            self.group.bytes += size;
            if self.group.rows == GROUP_ROWS || self.group.bytes >= GROUP_BYTES {
                self.group.parts.push(Part { chunk: Arc::clone(&chunk), rows: start..row + 1 });
                start = row + 1;
                self.write_group()?;
            }
        }
        if start < chunk.sizes.len() {
            let rows = start..chunk.sizes.len();
            self.group.parts.push(Part { chunk, rows });
        }
        Ok(())
    }

    /// Writes what is left and the footer, and flushes `out`.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn finish(mut self) -> Result<(), ParquetError> {
        if self.group.rows > 0 {
            self.write_group()?;
        }
        let ended = self.writer.end(Some(Vec::new()));
        ended.map_err(|error| self.reason(error))?;
        Ok(())
    }

    fn write_group(&mut self) -> Result<(), ParquetError> {
        let columns = self.group.encode()?;
        let rows = self.group.rows as u64;
        self.group.parts.clear();
        (self.group.rows, self.group.bytes) = (0, 0);
        let streams = columns.iter().map(|pages| {
            let pages = fallible_streaming_iterator::convert(pages.iter().map(Ok::<_, PolarsError>));
            Ok(DynStreamingIterator::new(pages))
        });
        let written = self.writer.write(rows, DynIter::new(streams));
        written.map_err(|error| self.reason(error))
    }

    /// What the file system said (a full disk), if it did; else what polars says.
    fn reason(&self, error: PolarsError) -> ParquetError {
        match self.failed.lock().ok().and_then(|mut failed| failed.take()) {
            Some(error) => error.into(),
            None => error.into(),
        }
    }
}

fn field(column: &Column) -> Field {
    let kind = match column.kind {
        Kind::Text => ArrowDataType::Utf8View,
        Kind::Time => ArrowDataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into())),
        Kind::Integer => ArrowDataType::Int64,
        Kind::Float => ArrowDataType::Float64,
        Kind::Boolean => ArrowDataType::Boolean,
    };
    Field::new(column.name.as_str().into(), kind, true)
}

/// Where the bytes go. polars makes a text of an error; here it is kept as it is.
struct Sink<'a> {
    out: &'a mut dyn Write,
    failed: Arc<Mutex<Option<io::Error>>>,
}

impl Sink<'_> {
    fn keeping<T>(&mut self, work: impl FnOnce(&mut dyn Write) -> io::Result<T>) -> io::Result<T> {
        work(self.out).map_err(|error| {
            let kind = error.kind();
            // Whoever is interrupted tries again.
            if kind != io::ErrorKind::Interrupted
                && let Ok(mut failed) = self.failed.lock()
            {
                failed.get_or_insert(error);
            }
            kind.into()
        })
    }
}

impl Write for Sink<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.keeping(|out| match out.write(bytes) {
            Ok(0) if !bytes.is_empty() => Err(io::ErrorKind::WriteZero.into()),
            written => written,
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.keeping(|out| out.flush())
    }
}

/// The rows of the row group that comes next.
struct Group {
    columns: Vec<(Kind, ParquetType)>,
    parts: Vec<Part>,
    rows: usize,
    bytes: usize,
}

/// Some rows of a chunk, which follow each other.
struct Part {
    chunk: Arc<Chunk>,
    rows: Range<usize>,
}

impl Group {
    /// The pages of each column, made on all processors.
    fn encode(&self) -> Result<Vec<Vec<CompressedPage>>, ParquetError> {
        let threads = flowmine_threads::count(self.columns.len().min(8));
        let next = AtomicUsize::new(0);
        let work = || {
            let mut done = Vec::new();
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some((kind, type_)) = self.columns.get(at) else { return Ok(done) };
                done.push((at, self.pages(at, *kind, type_)?));
            }
        };
        let mut columns = thread::scope(|scope| {
            let threads = flowmine_threads::helpers(scope, threads - 1, work);
            let mut columns = Vec::with_capacity(self.columns.len());
            columns.extend(work()?);
            for thread in threads {
                let done: Result<Vec<_>, ParquetError> = thread.join().map_err(|_| ParquetError::Misfit("polars could not encode it"))?;
                columns.extend(done?);
            }
            Ok::<_, ParquetError>(columns)
        })?;
        columns.sort_by_key(|(at, _)| *at);
        Ok(columns.into_iter().map(|(_, pages)| pages).collect())
    }

    fn pages(&self, column: usize, kind: Kind, type_: &ParquetType) -> Result<Vec<CompressedPage>, ParquetError> {
        let array = self.array(column, kind)?;
        let encodings = get_dtype_encoding(array.dtype());
        let mut pages = Vec::new();
        for page in array_to_columns(array, type_.clone(), OPTIONS, &encodings)?.into_iter().flatten() {
            pages.push(compress(page?, Vec::new(), OPTIONS.compression).map_err(PolarsError::from)?);
        }
        Ok(pages)
    }

    fn array(&self, column: usize, kind: Kind) -> Result<Box<dyn Array>, ParquetError> {
        Ok(match kind {
            Kind::Text => {
                let mut array = MutableBinaryViewArray::<str>::with_capacity(self.rows);
                self.each(column, |row, value| {
                    if let Value::Text(text) = value {
                        array.extend_null(row - array.len());
                        array.push_value(text);
                    }
                });
                array.extend_null(self.rows - array.len());
                array.freeze().boxed()
            }
            Kind::Time | Kind::Integer => self.numbers(column, ArrowDataType::Int64, |value| match value {
                Value::Time(value) | Value::Integer(value) => Some(value),
                _ => None,
            })?,
            Kind::Float => self.numbers(column, ArrowDataType::Float64, |value| match value {
                Value::Float(value) => Some(value),
                _ => None,
            })?,
            Kind::Boolean => {
                let (mut values, mut there) = (BitmapBuilder::with_capacity(self.rows), BitmapBuilder::with_capacity(self.rows));
                self.each(column, |row, value| {
                    if let Value::Boolean(value) = value {
                        let gap = row - values.len();
                        values.extend_constant(gap, false);
                        there.extend_constant(gap, false);
                        values.push(value);
                        there.push(true);
                    }
                });
                let gap = self.rows - values.len();
                values.extend_constant(gap, false);
                there.extend_constant(gap, false);
                BooleanArray::try_new(ArrowDataType::Boolean, values.freeze(), there.into_opt_validity())?.boxed()
            }
        })
    }

    fn numbers<T: NativeType>(
        &self,
        column: usize,
        of: ArrowDataType,
        number: impl Fn(Value<'_>) -> Option<T>,
    ) -> Result<Box<dyn Array>, ParquetError> {
        let (mut values, mut there) = (Vec::<T>::with_capacity(self.rows), BitmapBuilder::with_capacity(self.rows));
        self.each(column, |row, value| {
            if let Some(value) = number(value) {
                there.extend_constant(row - values.len(), false);
                there.push(true);
                values.resize(row, T::default());
                values.push(value);
            }
        });
        there.extend_constant(self.rows - values.len(), false);
        values.resize(self.rows, T::default());
        Ok(PrimitiveArray::try_new(of, values.into(), there.into_opt_validity())?.boxed())
    }

    /// Calls `take` with each value of a column and its row in the group, from above.
    fn each(&self, column: usize, mut take: impl FnMut(usize, Value<'_>)) {
        let mut above = 0;
        for part in &self.parts {
            let Some(cells) = part.chunk.columns.get(column) else { continue };
            let first = cells.rows.partition_point(|&row| (row as usize) < part.rows.start);
            for (at, &row) in cells.rows.iter().enumerate().skip(first).take_while(|&(_, &row)| (row as usize) < part.rows.end) {
                if let Some(value) = cells.values.get(at) {
                    take(above + row as usize - part.rows.start, value);
                }
            }
            above += part.rows.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use polars_arrow::array::Utf8ViewArray;
    use polars_parquet::read::{BasicDecompressor, PageReader, column_iter_to_arrays, infer_schema, read_metadata};

    use super::*;

    const KINDS: [(&str, Kind); 6] = [
        ("text", Kind::Text),
        ("time", Kind::Time),
        ("integer", Kind::Integer),
        ("float", Kind::Float),
        ("boolean", Kind::Boolean),
        ("nothing", Kind::Text),
    ];

    fn columns() -> Vec<Column> {
        KINDS.iter().map(|(name, kind)| Column { name: (*name).to_owned(), kind: *kind }).collect()
    }

    type Row<'a> = Vec<(usize, Value<'a>)>;

    fn chunk(rows: &[Row<'_>]) -> Chunk {
        let mut chunk = Chunk::new(&columns());
        rows.iter().for_each(|row| chunk.push(row.iter().copied()).unwrap());
        assert_eq!(chunk.rows(), rows.len());
        chunk
    }

    fn written<'a>(chunks: impl IntoIterator<Item = &'a [Row<'a>]>) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut file = ColumnFile::new(&mut bytes, &columns()).unwrap();
        chunks.into_iter().for_each(|rows| file.push(chunk(rows)).unwrap());
        file.finish().unwrap();
        bytes
    }

    /// What a reader sees: rows in each group, whether it has a dictionary for each column, and the
    /// columns as text with types.
    struct Seen {
        groups: Vec<usize>,
        dictionaries: Vec<Vec<bool>>,
        columns: Vec<(String, ArrowDataType, Vec<String>)>,
    }

    fn seen(bytes: &[u8]) -> Seen {
        let metadata = read_metadata(&mut Cursor::new(bytes)).unwrap();
        let schema = infer_schema(&metadata).unwrap();
        let mut columns: Vec<_> = schema.iter_values().map(|field| (field.name.to_string(), field.dtype.clone(), Vec::new())).collect();
        for group in &metadata.row_groups {
            for (at, (field, chunk)) in schema.iter_values().zip(group.parquet_columns()).enumerate() {
                let range = chunk.byte_range();
                let piece = bytes[range.start as usize..range.end as usize].to_vec();
                let pages = PageReader::new(Cursor::new(piece.into()), chunk, Vec::new(), usize::MAX);
                let types = vec![&chunk.descriptor().descriptor.primitive_type];
                let (arrays, _) =
                    column_iter_to_arrays(vec![BasicDecompressor::new(pages, Vec::new())], types, field.clone(), None).unwrap();
                arrays.iter().for_each(|array| columns[at].2.extend(texts(array.as_ref())));
            }
        }
        Seen {
            groups: metadata.row_groups.iter().map(|group| group.num_rows()).collect(),
            dictionaries: metadata
                .row_groups
                .iter()
                .map(|group| group.parquet_columns().iter().map(|chunk| chunk.dictionary_page_offset().is_some()).collect())
                .collect(),
            columns,
        }
    }

    fn texts(array: &dyn Array) -> Vec<String> {
        fn all<T: std::fmt::Debug>(values: impl Iterator<Item = Option<T>>) -> Vec<String> {
            values.map(|value| value.map_or_else(|| "null".to_owned(), |value| format!("{value:?}"))).collect()
        }
        let any = array.as_any();
        if let Some(array) = any.downcast_ref::<Utf8ViewArray>() {
            all(array.iter())
        } else if let Some(array) = any.downcast_ref::<PrimitiveArray<i64>>() {
            all(array.iter())
        } else if let Some(array) = any.downcast_ref::<PrimitiveArray<f64>>() {
            all(array.iter())
        } else {
            all(any.downcast_ref::<BooleanArray>().unwrap().iter())
        }
    }

    #[test]
    fn types_values_and_nulls_are_in_the_file() {
        let rows = [
            vec![(0, Value::Text("a \0 ä")), (1, Value::Time(1_795_179_845_000_000_001)), (2, Value::Integer(i64::MIN))],
            vec![],
            vec![(4, Value::Boolean(true)), (3, Value::Float(f64::NAN)), (0, Value::Text(""))],
            vec![(1, Value::Time(i64::MIN)), (2, Value::Integer(i64::MAX)), (3, Value::Float(-0.0)), (4, Value::Boolean(false))],
            vec![(3, Value::Float(f64::NEG_INFINITY))],
        ];
        let seen = seen(&written([rows.as_slice()]));
        let time = ArrowDataType::Timestamp(TimeUnit::Nanosecond, Some("+00:00".into()));
        let expected: [(&str, ArrowDataType, [&str; 5]); 6] = [
            ("text", ArrowDataType::Utf8View, ["\"a \\0 ä\"", "null", "\"\"", "null", "null"]),
            ("time", time, ["1795179845000000001", "null", "null", "-9223372036854775808", "null"]),
            ("integer", ArrowDataType::Int64, ["-9223372036854775808", "null", "null", "9223372036854775807", "null"]),
            ("float", ArrowDataType::Float64, ["null", "null", "NaN", "-0.0", "-inf"]),
            ("boolean", ArrowDataType::Boolean, ["null", "null", "true", "false", "null"]),
            ("nothing", ArrowDataType::Utf8View, ["null"; 5]),
        ];
        assert_eq!(seen.columns, expected.map(|(name, kind, values)| (name.to_owned(), kind, values.map(str::to_owned).to_vec())));
    }

    #[test]
    fn chunks_leave_no_trace() {
        let names: Vec<String> = (0..GROUP_ROWS + 1000).map(|n| format!("{n}")).collect();
        let rows: Vec<Row<'_>> = names
            .iter()
            .enumerate()
            .map(|(n, name)| {
                let mut row = vec![(0, Value::Text(name)), (2, Value::Integer(n as i64))];
                row.truncate((n % 10).min(2));
                row.extend((n % 2 == 0).then_some((5, Value::Text("often"))));
                row
            })
            .collect();
        let whole = written([rows.as_slice()]);
        for size in [1000, GROUP_ROWS - 1, GROUP_ROWS] {
            assert!(written(rows.chunks(size)) == whole, "chunks of {size}");
        }
        assert!(written(rows.chunks(700).flat_map(|rows| [rows, &[]])) == whole);
        let seen = seen(&whole);
        assert_eq!(seen.groups, [GROUP_ROWS, 1000]);
        assert_eq!((seen.dictionaries[0][0], seen.dictionaries[0][5]), (false, true));
        for (n, name) in names.iter().enumerate() {
            assert_eq!(seen.columns[0].2[n], if n % 10 > 0 { format!("{name:?}") } else { "null".to_owned() });
            assert_eq!(seen.columns[2].2[n], if n % 10 > 1 { name } else { "null" });
            assert_eq!(seen.columns[5].2[n], if n % 2 == 0 { "\"often\"" } else { "null" });
        }
    }

    #[test]
    fn long_texts_end_a_group_early() {
        let long = "x".repeat(GROUP_BYTES / 4);
        let rows: Vec<Row<'_>> = (0..6).map(|_| vec![(0, Value::Text(&long))]).collect();
        assert_eq!(seen(&written(rows.chunks(5))).groups, [4, 2]);
    }

    #[test]
    fn without_rows_there_are_columns() {
        let seen = seen(&written([]));
        assert!(seen.groups.is_empty());
        assert!(seen.columns.iter().map(|(name, _, _)| name.as_str()).eq(KINDS.map(|(name, _)| name)));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let mut chunk = Chunk::new(&columns());
        for row in [vec![(2, Value::Float(1.0))], vec![(6, Value::Text(""))], vec![(2, Value::Integer(1)), (2, Value::Integer(2))]] {
            assert!(matches!(chunk.push(row), Err(ParquetError::Misfit(_))));
        }
        let twice = [columns(), columns()].concat();
        assert!(matches!(ColumnFile::new(&mut Vec::new(), &twice), Err(ParquetError::Misfit(_))));
        let mut bytes = Vec::new();
        let mut file = ColumnFile::new(&mut bytes, &columns()).unwrap();
        assert!(matches!(file.push(Chunk::new(&twice)), Err(ParquetError::Misfit(_))));
    }

    #[test]
    fn a_full_disk_is_a_full_disk() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::StorageFull.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let file = |rows: &[Row<'_>]| {
            let mut full = Full;
            let mut file = ColumnFile::new(&mut full, &columns())?;
            file.push(chunk(rows))?;
            file.finish()
        };
        for rows in [vec![], vec![vec![]]] {
            assert!(matches!(file(&rows), Err(ParquetError::Io(error)) if error.kind() == io::ErrorKind::StorageFull));
        }
    }
}

//! Columns of Parquet files that others wrote (pandas, pyarrow, polars, DuckDB, Spark): some of a
//! file's columns in, whole, as numbers of texts, as times or as whole numbers.
//!
//! What is read: text, whole and floating-point numbers, truth values, dates and times (in any
//! unit, with or without a zone, INT96 too), in columns that are not nested, in every encoding and
//! compression that polars-parquet knows. Pages in the encodings `PLAIN` and dictionary, which
//! nearly all files have, are decoded here: the numbers of a dictionary are used as they are, and
//! no text is looked at twice. The others go through polars. A time without a zone is taken as UTC.
//!
//! The work is shared out by column and row group among the machine's processors, and only the
//! columns asked for are read from the file. Memory: 4 bytes for each value of a text column and 8
//! of the others, the distinct texts of each row group, and for each thread the compressed bytes of
//! the row group's column that it works on and one page of it.
//!
//! Refused: a file with more rows than 2³² − 16; one that declares more rows than its size can
//! account for ([`ROWS_PER_BYTE`]); pages of more than [`LARGEST_PAGE`]; lists and structures,
//! decimals with a fraction, and binary values that are no text. Nothing the file declares is
//! believed before it is compared with what is there, and a panic of polars is an error here. Text
//! that is not UTF-8 has its bytes written as `\xNN`, and is counted.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use flowmine_schema::text_numbers::TextNumbers;
use polars_arrow::array::{BinaryViewArray, BooleanArray, PrimitiveArray};
use polars_arrow::datatypes::{ArrowDataType, Field};
use polars_parquet::parquet::CowBuffer;
use polars_parquet::parquet::compression::{Compression, DecompressionContext};
use polars_parquet::parquet::encoding::Encoding;
use polars_parquet::parquet::metadata::ColumnChunkMetadata;
use polars_parquet::parquet::metadata::FileMetadata;
use polars_parquet::parquet::page::{CompressedPage, Page, split_buffer};
use polars_parquet::parquet::read::{BasicDecompressor, PageReader, decompress, read_metadata};
use polars_parquet::parquet::schema::types::{
    IntegerType, PhysicalType, PrimitiveConvertedType, PrimitiveLogicalType, PrimitiveType, TimeUnit,
};
use polars_parquet::read::column_iter_to_arrays;
use rustc_hash::FxHashMap;

use crate::leb128;
use crate::quiet::caught;
use crate::thrift::{FirstPage, footer_is_sound};

/// No text: the value is missing.
pub const NO_TEXT: u32 = u32::MAX;

/// No number: the value is missing, or none that could be read.
pub const NO_NUMBER: i64 = i64::MIN;

/// How many rows a file may have for each of its bytes, once it has [`FEW_ROWS`]. A log has its
/// times, which take bits; a file beyond this is made to fill the memory.
pub const ROWS_PER_BYTE: u64 = 64;

/// Maximum number of rows of a file of any size.
pub const FEW_ROWS: u64 = 1 << 22;

/// How many bytes a page may have once it is unpacked.
pub const LARGEST_PAGE: usize = 1 << 29;

/// Why columns could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ForeignError {
    /// The operating system refused to read the file.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The file as a whole cannot be read: it is no Parquet file, or damaged.
    #[error("this is no Parquet file that can be read: {0}")]
    File(String),
    /// One column of the file cannot be read.
    #[error("column {column:?}: {message}")]
    Column {
        /// Name of the column.
        column: String,
        /// What is wrong with it.
        message: String,
    },
}

/// What the values of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForeignKind {
    /// UTF-8 text.
    Text,
    /// Moments. They come as nanoseconds since 1970.
    Time,
    /// Whole numbers.
    Whole,
    /// Floating-point numbers.
    Float,
    /// True or false.
    Boolean,
    /// What is not read: lists, structures, decimals, times of day, binary values.
    Other,
}

/// A column of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignColumn {
    /// Name of the column.
    pub name: String,
    /// What the column's values are.
    pub kind: ForeignKind,
}

/// Reads a number or time out of a text.
pub type Parse = fn(&str) -> Option<i64>;

/// The type as which the values of a column are read.
#[derive(Debug, Clone, Copy)]
pub enum As {
    /// As texts; what is none is written as one: times as RFC 3339, numbers in digits, without an
    /// exponent.
    Texts,
    /// As times. Text is parsed by the function; numbers are refused, because nothing says their
    /// unit.
    Times(Parse),
    /// As whole numbers. Text is parsed by the function; floating-point numbers have to be whole.
    Numbers(Parse),
}

/// The values that were read of a column.
#[derive(Debug)]
pub enum Data {
    /// Texts, each row's by its place in a list of texts.
    Texts {
        /// Of each row the place of its text in those of its group, or [`NO_TEXT`].
        codes: Vec<u32>,
        /// The groups of rows in their order. A text can appear in a group more than once, or
        /// without a row that has it.
        groups: Vec<(Range<usize>, Texts)>,
    },
    /// Times, in nanoseconds since 1970, or whole numbers.
    Numbers {
        /// Of each row the number, or [`NO_NUMBER`].
        values: Vec<i64>,
        /// What was there and could not be read.
        refused: Refused,
    },
}

/// Values that were there and that are missing now, because they are out of range or could not be
/// read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Refused {
    /// Number of values that were refused.
    pub count: u64,
    /// The row of the first, from 0, and its text.
    pub first: Option<(usize, String)>,
}

impl Refused {
    /// Counts a value that was refused; the first one's row and text are kept.
    pub fn note(&mut self, row: usize, text: impl FnOnce() -> String) {
        self.count += 1;
        if self.first.is_none() {
            let mut shown: String = text().chars().take(60).collect();
            shown.shrink_to_fit();
            self.first = Some((row, shown));
        }
    }
}

/// Texts in one piece of memory.
#[derive(Debug, Clone, Default)]
pub struct Texts {
    text: String,
    ends: Vec<usize>,
    /// How many of them were not UTF-8.
    pub not_utf8: u64,
    /// Whether it is known that no two are the same.
    pub are_distinct: bool,
}

impl Texts {
    /// Number of texts.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no texts.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The text at a place; empty when there is none.
    pub fn get(&self, at: usize) -> &str {
        let Some(&end) = self.ends.get(at) else { return "" };
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.text[start..end]
    }

    fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.ends.push(self.text.len());
    }

    fn push_bytes(&mut self, bytes: &[u8]) {
        match std::str::from_utf8(bytes) {
            Ok(text) => self.push(text),
            Err(_) => {
                self.not_utf8 += 1;
                // It can be the same as a text in which this is written.
                self.are_distinct = false;
                self.push(&flowmine_schema::text::decode(bytes));
            }
        }
    }
}

/// A Parquet file with columns that can be read.
pub struct ForeignFile {
    file: File,
    length: u64,
    metadata: FileMetadata,
    columns: Vec<ForeignColumn>,
    /// Of each column its place among the leaves of the schema, and how its values are stored.
    leaves: Vec<Option<(usize, Stored)>>,
    rows: usize,
}

impl std::fmt::Debug for ForeignFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ForeignFile").field("columns", &self.columns).field("rows", &self.rows).finish_non_exhaustive()
    }
}

/// How values are stored, and what they mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stored {
    Bytes,
    /// A whole number of 32 or 64 bits, signed or unsigned.
    Int {
        wide: bool,
        signed: bool,
    },
    /// Nanoseconds in a unit, of 32 or 64 bits.
    Time {
        wide: bool,
        unit: i64,
    },
    Int96,
    Float,
    Double,
    Boolean,
    /// Only nulls, of whatever type.
    Nothing,
}

impl Stored {
    fn kind(self) -> ForeignKind {
        match self {
            Self::Bytes | Self::Nothing => ForeignKind::Text,
            Self::Int { .. } => ForeignKind::Whole,
            Self::Time { .. } | Self::Int96 => ForeignKind::Time,
            Self::Float | Self::Double => ForeignKind::Float,
            Self::Boolean => ForeignKind::Boolean,
        }
    }

    /// Bytes of a value, where they are the same for all and the value is decoded here.
    fn width(self) -> Option<usize> {
        match self {
            Self::Int { wide, .. } | Self::Time { wide, .. } => Some(if wide { 8 } else { 4 }),
            Self::Float => Some(4),
            Self::Double => Some(8),
            Self::Int96 => Some(12),
            Self::Bytes | Self::Boolean | Self::Nothing => None,
        }
    }

    /// The bits of a value of that width. Of INT96 they are nanoseconds since 1970.
    fn bits(self, bytes: &[u8]) -> u64 {
        let mut all = [0; 8];
        if let Some(place) = all.get_mut(..bytes.len().min(8)) {
            place.copy_from_slice(&bytes[..place.len()]);
        }
        let bits = u64::from_le_bytes(all);
        match bytes.get(8..12) {
            None => bits,
            Some(day) => {
                const DAY_OF_1970: i64 = 2_440_588;
                let day = i64::from(day.iter().rev().fold(0u32, |sum, &byte| sum << 8 | u32::from(byte))) - DAY_OF_1970;
                let ns = day.checked_mul(DAY_NS).zip(i64::try_from(bits).ok()).and_then(|(day, ns)| day.checked_add(ns));
                ns.unwrap_or(NO_NUMBER) as u64
            }
        }
    }
}

const DAY_NS: i64 = 86_400_000_000_000;

/// How a column is stored, unless it is of a type that is not read.
fn stored(of: &PrimitiveType) -> Option<Stored> {
    use PrimitiveConvertedType as Old;
    use PrimitiveLogicalType as New;
    let unit = |unit: TimeUnit| match unit {
        TimeUnit::Milliseconds => 1_000_000,
        TimeUnit::Microseconds => 1_000,
        TimeUnit::Nanoseconds => 1,
    };
    let (new, old) = (of.logical_type, of.converted_type);
    if matches!(new, Some(New::Unknown)) {
        return Some(Stored::Nothing);
    }
    match of.physical_type {
        PhysicalType::Boolean => Some(Stored::Boolean),
        PhysicalType::Float => Some(Stored::Float),
        PhysicalType::Double => Some(Stored::Double),
        PhysicalType::Int96 => Some(Stored::Int96),
        PhysicalType::ByteArray => match (new, old) {
            (Some(New::String | New::Enum | New::Json), _) | (None, Some(Old::Utf8 | Old::Enum | Old::Json) | None) => Some(Stored::Bytes),
            _ => None,
        },
        PhysicalType::FixedLenByteArray(_) => None,
        PhysicalType::Int32 | PhysicalType::Int64 => {
            let wide = of.physical_type == PhysicalType::Int64;
            let signed =
                !matches!(new, Some(New::Integer(IntegerType::UInt8 | IntegerType::UInt16 | IntegerType::UInt32 | IntegerType::UInt64)))
                    && !matches!(old, Some(Old::Uint8 | Old::Uint16 | Old::Uint32 | Old::Uint64));
            match (new, old) {
                (Some(New::Timestamp { unit: of, .. }), _) => Some(Stored::Time { wide, unit: unit(of) }),
                (None, Some(Old::TimestampMillis)) => Some(Stored::Time { wide, unit: 1_000_000 }),
                (None, Some(Old::TimestampMicros)) => Some(Stored::Time { wide, unit: 1_000 }),
                (Some(New::Date), _) | (None, Some(Old::Date)) => Some(Stored::Time { wide, unit: DAY_NS }),
                (Some(New::Decimal(_, 0)), _) | (None, Some(Old::Decimal(_, 0))) => Some(Stored::Int { wide, signed: true }),
                (Some(New::Decimal(..) | New::Time { .. }), _) | (None, Some(Old::Decimal(..) | Old::TimeMillis | Old::TimeMicros)) => None,
                _ => Some(Stored::Int { wide, signed }),
            }
        }
    }
}

fn trusting<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    caught(work).unwrap_or_else(|| Err("the file is damaged".to_owned()))
}

impl ForeignFile {
    /// Reads the metadata of the file.
    ///
    /// # Errors
    /// When it cannot be read, is not Parquet, or says what cannot be.
    pub fn open(file: File) -> Result<Self, ForeignError> {
        let length = file.metadata()?.len();
        if !footer_is_sound(&file, length)? {
            return Err(ForeignError::File("its footer is damaged".to_owned()));
        }
        let mut reader = &file;
        let metadata = trusting(|| read_metadata(&mut reader).map_err(|error| error.to_string())).map_err(ForeignError::File)?;
        let mut columns = Vec::new();
        let mut leaves = Vec::new();
        let descriptors = metadata.schema_descr.columns();
        for field in metadata.schema_descr.fields() {
            let name = field.name().to_string();
            let leaf = descriptors
                .iter()
                .position(|leaf| leaf.path_in_schema.len() == 1 && leaf.path_in_schema[0].as_str() == name)
                .filter(|&at| descriptors[at].descriptor.max_rep_level == 0 && descriptors[at].descriptor.max_def_level <= 1);
            let leaf = leaf.and_then(|at| Some((at, stored(&descriptors[at].descriptor.primitive_type)?)));
            columns.push(ForeignColumn { name, kind: leaf.map_or(ForeignKind::Other, |(_, stored)| stored.kind()) });
            leaves.push(leaf);
        }
        let rows = metadata.row_groups.iter().try_fold(0u64, |sum, group| sum.checked_add(group.num_rows() as u64));
        let rows = rows.filter(|&rows| rows < u64::from(u32::MAX) - 16);
        let rows = rows.ok_or_else(|| ForeignError::File("it declares more rows than 2³²: take a part of it".to_owned()))?;
        if rows > FEW_ROWS && rows / ROWS_PER_BYTE > length {
            return Err(ForeignError::File(format!("it declares {rows} rows, which {length} bytes cannot hold")));
        }
        let rows = rows as usize;
        Ok(Self { file, length, metadata, columns, leaves, rows })
    }

    /// The columns of the file.
    pub fn columns(&self) -> &[ForeignColumn] {
        &self.columns
    }

    /// How many rows it says it has. [`ForeignFile::read`] gives as many, or an error.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Reads columns, given by their places in [`ForeignFile::columns`].
    ///
    /// # Errors
    /// When the file cannot be read, is damaged, or a column cannot be read as what was asked for.
    pub fn read(&self, wanted: &[(usize, As)]) -> Result<Vec<Data>, ForeignError> {
        let mut columns = Vec::new();
        for &(at, how) in wanted {
            columns.push(self.room(at, how)?);
        }
        {
            let mut tasks = Vec::new();
            for ((column, (leaf, stored, values)), &(at, how)) in columns.iter_mut().enumerate().zip(wanted) {
                let mut parts = values.parts();
                let mut first = 0;
                for (group, of) in self.metadata.row_groups.iter().enumerate() {
                    let chunk = of.parquet_columns().get(*leaf).ok_or_else(|| self.wrong(at, "a row group does not have it"))?;
                    let part = parts.take(of.num_rows());
                    let size = chunk.compressed_size();
                    tasks.push(Task { column, group, at, how, stored: *stored, first, chunk, part, size });
                    first += of.num_rows();
                }
            }
            // The largest last: they are taken from the end.
            tasks.sort_by_key(|task| task.size);
            self.work(tasks)?
        }
        .into_iter()
        .for_each(|(column, group, done)| match (&mut columns[column].2, done) {
            (Values::Texts(_, groups), Done::Texts(texts)) => groups[group].1 = texts,
            (Values::Numbers(_, refused), Done::Numbers(found)) => {
                // They come in the order of the groups.
                refused.count += found.count;
                refused.first = refused.first.take().or(found.first);
            }
            _ => {}
        });
        Ok(columns
            .into_iter()
            .map(|(_, _, values)| match values {
                Values::Texts(codes, groups) => Data::Texts { codes, groups },
                Values::Numbers(values, refused) => Data::Numbers { values, refused },
            })
            .collect())
    }

    fn wrong(&self, at: usize, message: impl Into<String>) -> ForeignError {
        ForeignError::Column { column: self.columns.get(at).map(|column| column.name.clone()).unwrap_or_default(), message: message.into() }
    }

    /// Room for a column's values, and its leaf.
    fn room(&self, at: usize, how: As) -> Result<(usize, Stored, Values), ForeignError> {
        let Some(&Some((leaf, stored))) = self.leaves.get(at) else {
            return Err(self.wrong(at, "it holds lists, structures, decimals or binary values, which cannot be read as a column of a log"));
        };
        let refused = match (how, stored.kind()) {
            (As::Times(_), ForeignKind::Whole | ForeignKind::Float | ForeignKind::Boolean) => {
                Some("it holds numbers without a unit (seconds or nanoseconds): store it as timestamps")
            }
            (As::Numbers(_), ForeignKind::Time | ForeignKind::Boolean) => Some("it holds no numbers"),
            _ => None,
        };
        if let Some(message) = refused {
            return Err(self.wrong(at, message));
        }
        let mut room = 0..0;
        let values = match how {
            As::Texts => {
                let groups = self.metadata.row_groups.iter().map(|group| {
                    room = room.end..room.end + group.num_rows();
                    (room.clone(), Texts::default())
                });
                let groups = groups.collect();
                Values::Texts(vec![0; self.rows], groups)
            }
            As::Times(_) | As::Numbers(_) => Values::Numbers(vec![0; self.rows], Refused::default()),
        };
        Ok((leaf, stored, values))
    }

    fn work(&self, tasks: Vec<Task<'_>>) -> Result<Vec<(usize, usize, Done)>, ForeignError> {
        let threads = flowmine_threads::count(tasks.len());
        let tasks = Mutex::new(tasks);
        let failed = AtomicBool::new(false);
        let work = || {
            let mut done = Vec::new();
            loop {
                let next = match tasks.lock() {
                    Ok(mut tasks) => tasks.pop(),
                    Err(_) => None,
                };
                let Some(mut task) = next.filter(|_| !failed.load(Ordering::Relaxed)) else { return done };
                let result = trusting(|| task.run(&self.file, self.length));
                failed.fetch_or(result.is_err(), Ordering::Relaxed);
                done.push((task.column, task.group, task.at, result));
            }
        };
        let mut done = thread::scope(|scope| {
            let others = flowmine_threads::helpers(scope, threads - 1, work);
            let mut done = work();
            for other in others {
                done.extend(other.join().unwrap_or_default());
            }
            done
        });
        done.sort_by_key(|&(column, group, ..)| (column, group));
        done.into_iter()
            .map(|(column, group, at, result)| Ok((column, group, result.map_err(|message| self.wrong(at, message))?)))
            .collect()
    }
}

enum Values {
    Texts(Vec<u32>, Vec<(Range<usize>, Texts)>),
    Numbers(Vec<i64>, Refused),
}

impl Values {
    fn parts(&mut self) -> Parts<'_> {
        match self {
            Self::Texts(codes, _) => Parts::Texts(codes),
            Self::Numbers(values, _) => Parts::Numbers(values),
        }
    }
}

/// The rows of a column that are still to be shared out.
enum Parts<'a> {
    Texts(&'a mut [u32]),
    Numbers(&'a mut [i64]),
}

impl<'a> Parts<'a> {
    fn take(&mut self, rows: usize) -> Parts<'a> {
        fn split<'a, T>(all: &mut &'a mut [T], rows: usize) -> &'a mut [T] {
            let (part, rest) = std::mem::take(all).split_at_mut(rows);
            *all = rest;
            part
        }
        match self {
            Self::Texts(all) => Parts::Texts(split(all, rows)),
            Self::Numbers(all) => Parts::Numbers(split(all, rows)),
        }
    }
}

enum Done {
    Texts(Texts),
    Numbers(Refused),
}

/// The work of reading one column of a row group.
struct Task<'a> {
    column: usize,
    group: usize,
    at: usize,
    how: As,
    stored: Stored,
    /// Its first row in the file.
    first: usize,
    chunk: &'a ColumnChunkMetadata,
    part: Parts<'a>,
    size: i64,
}

impl Task<'_> {
    fn run(&mut self, file: &File, length: u64) -> Result<Done, String> {
        let rows = match &self.part {
            Parts::Texts(codes) => codes.len(),
            Parts::Numbers(values) => values.len(),
        };
        let range = self.chunk.byte_range();
        if range.end > length || self.chunk.num_values() != rows as i64 {
            return Err("the file is damaged or truncated: the metadata of this column do not fit its data".to_owned());
        }
        let mut bytes = vec![0; (range.end - range.start) as usize];
        file.read_exact_at(&mut bytes, range.start).map_err(|error| error.to_string())?;
        let (metadata, size) = (self.chunk, bytes.len());
        // polars does not say the size of a dictionary, which can only be the first page.
        if rows > 0 && FirstPage::new(&bytes).is_none_or(|page| page.unpacked > LARGEST_PAGE as u64 || !page.can_be(1)) {
            return Err(format!("its first page is damaged or larger than {LARGEST_PAGE} bytes"));
        }
        let bytes = bytes.into();
        let pages = move || PageReader::new(std::io::Cursor::new(Clone::clone(&bytes)), metadata, Vec::new(), size);
        let chunk = Chunk { pages: Box::new(pages), metadata, rows, stored: self.stored };
        let simple = chunk.check()?;
        match (&mut self.part, self.how) {
            (Parts::Texts(codes), _) => {
                let mut sink = TextSink::new(codes);
                match (self.stored, simple) {
                    (Stored::Bytes, true) => chunk.texts(&mut sink)?,
                    (Stored::Nothing, _) => sink.nulls(rows),
                    (stored, true) => chunk.fixed(|value| sink.push(value.map(|bits| Key::new(stored, bits))))?,
                    (_, false) => chunk.through_polars(|value| sink.value(value))?,
                }
                sink.finish(rows).map(Done::Texts)
            }
            (Parts::Numbers(values), how) => {
                let parse = match how {
                    As::Times(parse) | As::Numbers(parse) => parse,
                    As::Texts => return Err("it was requested in two ways".to_owned()),
                };
                let mut sink = NumberSink { values, at: 0, first: self.first, refused: Refused::default(), parse };
                match (self.stored, simple) {
                    (Stored::Bytes, true) => chunk.parsed(&mut sink)?,
                    (Stored::Nothing, _) => sink.nulls(rows),
                    (stored, true) => chunk.fixed(|value| sink.bits(stored, value))?,
                    (_, false) => chunk.through_polars(|value| sink.value(value))?,
                }
                if sink.at == rows { Ok(Done::Numbers(sink.refused)) } else { Err(SHORT.to_owned()) }
            }
        }
    }
}

const SHORT: &str = "the file is damaged: the column has fewer values than its metadata state";
const DAMAGED: &str = "the file is damaged: a page does not fit its header";

/// A value of a column as polars decodes it.
enum Value<'a> {
    Missing,
    Bytes(&'a [u8]),
    Key(Key),
}

/// A value other than text, as a key by which equal values are found.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    Signed(i64),
    Unsigned(u64),
    /// A time in nanoseconds since 1970.
    Time(i64),
    /// A time that nanoseconds in 64 bits cannot count.
    Never,
    /// The bits of a double.
    Float(u64),
    Boolean(bool),
}

impl Key {
    fn new(stored: Stored, bits: u64) -> Self {
        match stored {
            Stored::Int { signed: true, wide: true } => Self::Signed(bits as i64),
            Stored::Int { signed: true, wide: false } => Self::Signed(i64::from(bits as u32 as i32)),
            Stored::Int { signed: false, .. } => Self::Unsigned(bits),
            Stored::Time { wide, unit } => {
                let value = if wide { bits as i64 } else { i64::from(bits as u32 as i32) };
                value.checked_mul(unit).filter(|&ns| ns != NO_NUMBER).map_or(Self::Never, Self::Time)
            }
            Stored::Int96 if bits as i64 == NO_NUMBER => Self::Never,
            Stored::Int96 => Self::Time(bits as i64),
            Stored::Float => Self::Float(f64::from(f32::from_bits(bits as u32)).to_bits()),
            _ => Self::Float(bits),
        }
    }

    fn text(self) -> String {
        match self {
            Self::Signed(number) => number.to_string(),
            Self::Unsigned(number) => number.to_string(),
            Self::Time(ns) => flowmine_schema::time::rfc3339(ns),
            Self::Never => "a time outside 1677 to 2262".to_owned(),
            Self::Float(bits) => f64::from_bits(bits).to_string(),
            Self::Boolean(truth) => truth.to_string(),
        }
    }

    /// As a whole number, or as nanoseconds.
    fn number(self) -> Option<i64> {
        match self {
            Self::Signed(number) | Self::Time(number) => Some(number).filter(|&number| number != NO_NUMBER),
            Self::Unsigned(number) => i64::try_from(number).ok(),
            Self::Float(bits) => {
                let number = f64::from_bits(bits);
                // 2⁶³ as a float is exact and does not fit.
                let fits = number.fract() == 0.0 && number.abs() < 9_223_372_036_854_775_808.0;
                fits.then_some(number as i64)
            }
            Self::Never | Self::Boolean(_) => None,
        }
    }

    /// A missing number of pandas, which has no nulls among its floats.
    fn is_missing(self) -> bool {
        matches!(self, Self::Float(bits) if f64::from_bits(bits).is_nan())
    }
}

/// Takes the texts of a column of a group.
struct TextSink<'a> {
    codes: &'a mut [u32],
    at: usize,
    texts: Texts,
    /// The numbers of `texts`, once one comes that is not from the dictionary.
    numbers: TextNumbers,
    is_numbered: bool,
    keys: FxHashMap<Key, u32>,
    last: Option<(Key, u32)>,
}

impl<'a> TextSink<'a> {
    fn new(codes: &'a mut [u32]) -> Self {
        let numbers = TextNumbers::new(codes.len());
        Self { codes, at: 0, texts: Texts::default(), numbers, is_numbered: false, keys: FxHashMap::default(), last: None }
    }

    fn code(&mut self, code: u32) {
        if let Some(place) = self.codes.get_mut(self.at) {
            *place = code;
        }
        self.at += 1;
    }

    fn nulls(&mut self, count: usize) {
        let end = self.at.saturating_add(count);
        if let Some(places) = self.codes.get_mut(self.at..end) {
            places.fill(NO_TEXT);
        }
        self.at = end;
    }

    /// Makes ready for texts that do not come from the dictionary, which may hold them too.
    fn besides_dictionary(&mut self) {
        if !self.is_numbered {
            self.is_numbered = true;
            let texts = &self.texts;
            let numbers = &mut self.numbers;
            let same = |at: u32| numbers.number(texts.get(at as usize).as_bytes(), at, |at| texts.get(at as usize).as_bytes()) == at;
            self.texts.are_distinct = (0..texts.len() as u32).map(same).fold(true, |all, one| all & one);
        }
    }

    fn intern(&mut self, bytes: &[u8]) -> u32 {
        let texts = &self.texts;
        let next = texts.len() as u32;
        let code = self.numbers.number(bytes, next, |at| texts.get(at as usize).as_bytes());
        if code == next {
            self.texts.push_bytes(bytes);
        }
        code
    }

    fn push(&mut self, key: Option<Key>) {
        let Some(key) = key.filter(|key| !key.is_missing()) else { return self.code(NO_TEXT) };
        let code = match self.last {
            Some((last, code)) if last == key => code,
            _ => {
                let texts = &mut self.texts;
                *self.keys.entry(key).or_insert_with(|| {
                    texts.push(&key.text());
                    (texts.len() - 1) as u32
                })
            }
        };
        self.last = Some((key, code));
        self.code(code);
    }

    fn value(&mut self, value: Value<'_>) {
        match value {
            Value::Missing => self.code(NO_TEXT),
            Value::Bytes(bytes) => {
                let code = self.intern(bytes);
                self.code(code);
            }
            Value::Key(key) => self.push(Some(key)),
        }
    }

    fn finish(self, rows: usize) -> Result<Texts, String> {
        if self.at == rows { Ok(self.texts) } else { Err(SHORT.to_owned()) }
    }
}

/// Takes the numbers of a column of a group.
struct NumberSink<'a> {
    values: &'a mut [i64],
    at: usize,
    first: usize,
    refused: Refused,
    parse: Parse,
}

impl NumberSink<'_> {
    #[inline]
    fn put(&mut self, value: i64) {
        if let Some(place) = self.values.get_mut(self.at) {
            *place = value;
        }
        self.at += 1;
    }

    fn nulls(&mut self, count: usize) {
        (0..count).for_each(|_| self.put(NO_NUMBER));
    }

    fn refuse(&mut self, text: impl FnOnce() -> String) {
        let row = self.first + self.at;
        self.refused.note(row, text);
        self.put(NO_NUMBER);
    }

    #[inline]
    fn bits(&mut self, stored: Stored, bits: Option<u64>) {
        match bits {
            None => self.put(NO_NUMBER),
            Some(bits) => match (stored, bits as i64) {
                (Stored::Time { wide: true, unit: 1 } | Stored::Int { wide: true, signed: true }, value) if value != NO_NUMBER => {
                    self.put(value)
                }
                _ => self.key(Key::new(stored, bits)),
            },
        }
    }

    fn key(&mut self, key: Key) {
        match key.number() {
            Some(number) => self.put(number),
            None if key.is_missing() => self.put(NO_NUMBER),
            None => self.refuse(|| key.text()),
        }
    }

    fn bytes(&mut self, bytes: &[u8]) {
        match self.parsed(bytes) {
            Some(number) => self.put(number),
            None => self.refuse(|| String::from_utf8_lossy(bytes).into_owned()),
        }
    }

    fn parsed(&self, bytes: &[u8]) -> Option<i64> {
        std::str::from_utf8(bytes).ok().and_then(self.parse).filter(|&number| number != NO_NUMBER)
    }

    fn value(&mut self, value: Value<'_>) {
        match value {
            Value::Missing => self.put(NO_NUMBER),
            Value::Bytes(bytes) => self.bytes(bytes),
            Value::Key(key) => self.key(key),
        }
    }
}

/// The stored bytes of a column of a group.
struct Chunk<'a> {
    /// Reads its pages from the first on.
    pages: Box<dyn Fn() -> PageReader + 'a>,
    metadata: &'a ColumnChunkMetadata,
    rows: usize,
    stored: Stored,
}

/// A page of values, unpacked.
enum Unpacked<'a> {
    Dictionary {
        bytes: &'a [u8],
        count: usize,
    },
    Plain {
        bytes: &'a [u8],
        there: Option<&'a [bool]>,
        count: usize,
    },
    /// Places of the values in the dictionary.
    Places {
        places: &'a [u32],
        there: Option<&'a [bool]>,
        count: usize,
    },
}

impl Chunk<'_> {
    /// Looks at the heads of all pages: whether they fit what the column says. Returns whether all
    /// are in encodings that are decoded here.
    fn check(&self) -> Result<bool, String> {
        let mut simple = matches!(self.stored, Stored::Bytes) || self.stored.width().is_some();
        let mut left = self.rows;
        for (at, page) in (self.pages)().enumerate() {
            let size = match page.map_err(|error| error.to_string())? {
                CompressedPage::Data(page) => {
                    left = left.checked_sub(page.num_values()).ok_or(DAMAGED)?;
                    let encoding = Encoding::try_from(page.header().encoding()).map_err(|error| error.to_string())?;
                    simple &= matches!(encoding, Encoding::Plain | Encoding::PlainDictionary | Encoding::RleDictionary);
                    page.uncompressed_size()
                }
                CompressedPage::Dict(_) if at == 0 => 0,
                CompressedPage::Dict(_) => return Err(DAMAGED.to_owned()),
            };
            if size > LARGEST_PAGE {
                return Err(format!("a page of {size} bytes is larger than any that is read ({LARGEST_PAGE} bytes)"));
            }
        }
        if left == 0 { Ok(simple) } else { Err(SHORT.to_owned()) }
    }

    fn each(&self, mut take: impl FnMut(Unpacked<'_>) -> Result<(), String>) -> Result<(), String> {
        let optional = self.metadata.descriptor().descriptor.max_def_level > 0;
        let (mut buffer, mut context) = (Vec::new(), DecompressionContext::Unset);
        let (mut levels, mut there, mut places) = (Vec::new(), Vec::new(), Vec::new());
        for page in (self.pages)() {
            let page = page.map_err(|error| error.to_string())?;
            match decompress(page, &mut buffer, &mut context).map_err(|error| error.to_string())? {
                Page::Dict(mut page) => {
                    take(Unpacked::Dictionary { bytes: &page.buffer, count: page.num_values })?;
                    if let CowBuffer::Owned(used) = &mut page.buffer {
                        buffer = std::mem::take(used);
                    }
                }
                Page::Data(mut page) => {
                    let count = page.num_values();
                    {
                        let split = split_buffer(&page).map_err(|error| error.to_string())?;
                        let mut present = count;
                        let mut gaps = false;
                        if optional && page.null_count() != Some(0) {
                            levels.clear();
                            hybrid(split.def, 1, count, &mut levels)?;
                            present = levels.iter().filter(|&&level| level != 0).count();
                            gaps = present < count;
                            if gaps {
                                there.clear();
                                there.extend(levels.iter().map(|&level| level != 0));
                            }
                        }
                        let there = gaps.then_some(&there[..]);
                        if page.encoding() == Encoding::Plain {
                            take(Unpacked::Plain { bytes: split.values, there, count })?;
                        } else {
                            places.clear();
                            if present > 0 {
                                let (&bits, values) = split.values.split_first().ok_or(DAMAGED)?;
                                hybrid(values, u32::from(bits), present, &mut places)?;
                            }
                            take(Unpacked::Places { places: &places, there, count })?;
                        }
                    }
                    // Pages that were not packed are a view of the chunk, which must not be copied here.
                    if self.metadata.compression() != Compression::Uncompressed {
                        buffer = std::mem::take(page.buffer_mut());
                    }
                }
            }
        }
        Ok(())
    }

    fn texts(&self, sink: &mut TextSink<'_>) -> Result<(), String> {
        let mut dictionary = 0;
        self.each(|page| {
            match page {
                Unpacked::Dictionary { bytes, count } => {
                    let mut values = Lengths(bytes);
                    for _ in 0..count {
                        sink.texts.push_bytes(values.next().ok_or(DAMAGED)?);
                    }
                    dictionary = count;
                }
                Unpacked::Plain { bytes, there, count } => {
                    let mut values = Lengths(bytes);
                    sink.besides_dictionary();
                    // Rows of one id mostly stand together.
                    let mut last: (&[u8], u32) = (&[], NO_TEXT);
                    for row in 0..count {
                        if is_there(there, row) {
                            let text = values.next().ok_or(DAMAGED)?;
                            if last.1 == NO_TEXT || last.0 != text {
                                last = (text, sink.intern(text));
                            }
                            sink.code(last.1);
                        } else {
                            sink.code(NO_TEXT);
                        }
                    }
                }
                Unpacked::Places { places, there: None, count } => {
                    within(places, dictionary)?;
                    let to = sink.codes.get_mut(sink.at..sink.at + count).ok_or(DAMAGED)?;
                    to.copy_from_slice(places);
                    sink.at += count;
                }
                Unpacked::Places { places, there, count } => {
                    within(places, dictionary)?;
                    let mut places = places.iter();
                    for row in 0..count {
                        let code = if is_there(there, row) { *places.next().ok_or(DAMAGED)? } else { NO_TEXT };
                        sink.code(code);
                    }
                }
            }
            Ok(())
        })
    }

    /// Texts to numbers, those of a dictionary once each.
    fn parsed(&self, sink: &mut NumberSink<'_>) -> Result<(), String> {
        let (mut numbers, mut texts) = (Vec::new(), Vec::<Vec<u8>>::new());
        self.each(|page| {
            match page {
                Unpacked::Dictionary { bytes, count } => {
                    let mut values = Lengths(bytes);
                    for _ in 0..count {
                        let bytes = values.next().ok_or(DAMAGED)?;
                        let number = sink.parsed(bytes);
                        // What cannot be read is kept to be shown.
                        numbers.push(number.ok_or(texts.len()));
                        texts.extend(number.is_none().then(|| bytes.to_vec()));
                    }
                }
                Unpacked::Plain { bytes, there, count } => {
                    let mut values = Lengths(bytes);
                    for row in 0..count {
                        if is_there(there, row) {
                            sink.bytes(values.next().ok_or(DAMAGED)?);
                        } else {
                            sink.put(NO_NUMBER);
                        }
                    }
                }
                Unpacked::Places { places, there, count } => {
                    within(places, numbers.len())?;
                    let mut places = places.iter();
                    for row in 0..count {
                        if !is_there(there, row) {
                            sink.put(NO_NUMBER);
                            continue;
                        }
                        match numbers[*places.next().ok_or(DAMAGED)? as usize] {
                            Ok(number) => sink.put(number),
                            Err(text) => sink.refuse(|| String::from_utf8_lossy(&texts[text]).into_owned()),
                        }
                    }
                }
            }
            Ok(())
        })
    }

    /// Values of one width, as their bits.
    fn fixed(&self, mut take: impl FnMut(Option<u64>)) -> Result<(), String> {
        let stored = self.stored;
        let width = stored.width().ok_or(DAMAGED)?;
        let mut dictionary = Vec::new();
        self.each(|page| {
            match page {
                Unpacked::Dictionary { bytes, count } => {
                    let bytes = count.checked_mul(width).and_then(|length| bytes.get(..length)).ok_or(DAMAGED)?;
                    dictionary.extend(bytes.chunks_exact(width).map(|value| stored.bits(value)));
                }
                Unpacked::Plain { bytes, there: None, count } => {
                    let bytes = count.checked_mul(width).and_then(|length| bytes.get(..length)).ok_or(DAMAGED)?;
                    match width {
                        8 => bytes.as_chunks::<8>().0.iter().for_each(|value| take(Some(u64::from_le_bytes(*value)))),
                        4 => bytes.as_chunks::<4>().0.iter().for_each(|value| take(Some(u64::from(u32::from_le_bytes(*value))))),
                        _ => bytes.chunks_exact(width).for_each(|value| take(Some(stored.bits(value)))),
                    }
                }
                Unpacked::Plain { bytes, there, count } => {
                    let mut values = bytes.chunks_exact(width);
                    for row in 0..count {
                        let value = if is_there(there, row) { Some(stored.bits(values.next().ok_or(DAMAGED)?)) } else { None };
                        take(value);
                    }
                }
                Unpacked::Places { places, there: None, .. } => {
                    within(places, dictionary.len())?;
                    places.iter().for_each(|&place| take(Some(dictionary[place as usize])));
                }
                Unpacked::Places { places, there, count } => {
                    within(places, dictionary.len())?;
                    let mut places = places.iter();
                    for row in 0..count {
                        let value = if is_there(there, row) { Some(dictionary[*places.next().ok_or(DAMAGED)? as usize]) } else { None };
                        take(value);
                    }
                }
            }
            Ok(())
        })
    }

    /// Values in encodings that only polars decodes.
    fn through_polars(&self, mut take: impl FnMut(Value<'_>)) -> Result<(), String> {
        let of = &self.metadata.descriptor().descriptor.primitive_type;
        let dtype = match self.stored {
            Stored::Bytes => ArrowDataType::BinaryView,
            Stored::Int { wide: true, signed: false } => ArrowDataType::UInt64,
            Stored::Int { wide: false, signed: false } => ArrowDataType::UInt32,
            Stored::Int { wide: true, .. } | Stored::Time { wide: true, .. } => ArrowDataType::Int64,
            Stored::Int { wide: false, .. } | Stored::Time { wide: false, .. } => ArrowDataType::Int32,
            Stored::Float => ArrowDataType::Float32,
            Stored::Double => ArrowDataType::Float64,
            Stored::Boolean => ArrowDataType::Boolean,
            Stored::Int96 | Stored::Nothing => return Err("it is encoded in a way that is not read".to_owned()),
        };
        let field = Field::new(of.field_info.name.clone(), dtype, true);
        let pages = BasicDecompressor::new((self.pages)(), Vec::new());
        let (arrays, _) = column_iter_to_arrays(vec![pages], vec![of], field, None).map_err(|error| error.to_string())?;
        let stored = self.stored;
        let key = |bits: Option<u64>| bits.map_or(Value::Missing, |bits| Value::Key(Key::new(stored, bits)));
        for array in &arrays {
            let any = array.as_any();
            if let Some(array) = any.downcast_ref::<PrimitiveArray<i64>>() {
                array.iter().for_each(|value| take(key(value.map(|&value| value as u64))));
            } else if let Some(array) = any.downcast_ref::<PrimitiveArray<i32>>() {
                array.iter().for_each(|value| take(key(value.map(|&value| u64::from(value as u32)))));
            } else if let Some(array) = any.downcast_ref::<PrimitiveArray<u64>>() {
                array.iter().for_each(|value| take(key(value.copied())));
            } else if let Some(array) = any.downcast_ref::<PrimitiveArray<u32>>() {
                array.iter().for_each(|value| take(key(value.map(|&value| u64::from(value)))));
            } else if let Some(array) = any.downcast_ref::<PrimitiveArray<f64>>() {
                array.iter().for_each(|value| take(key(value.map(|value| value.to_bits()))));
            } else if let Some(array) = any.downcast_ref::<PrimitiveArray<f32>>() {
                array.iter().for_each(|value| take(key(value.map(|value| u64::from(value.to_bits())))));
            } else if let Some(array) = any.downcast_ref::<BooleanArray>() {
                array.iter().for_each(|value| take(value.map_or(Value::Missing, |truth| Value::Key(Key::Boolean(truth)))));
            } else if let Some(array) = any.downcast_ref::<BinaryViewArray>() {
                array.iter().for_each(|value| take(value.map_or(Value::Missing, Value::Bytes)));
            } else {
                return Err("it is of a type that is not read".to_owned());
            }
        }
        Ok(())
    }
}

fn is_there(there: Option<&[bool]>, row: usize) -> bool {
    there.is_none_or(|there| there.get(row).copied().unwrap_or_default())
}

/// All places are in a dictionary of this number of values.
fn within(places: &[u32], values: usize) -> Result<(), String> {
    let largest = places.iter().fold(0, |largest, &place| largest.max(place));
    if places.is_empty() || (largest as usize) < values { Ok(()) } else { Err(DAMAGED.to_owned()) }
}

/// Byte strings, each after its length.
struct Lengths<'a>(&'a [u8]);

impl<'a> Iterator for Lengths<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let (length, rest) = self.0.split_first_chunk::<4>()?;
        let (value, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        self.0 = rest;
        Some(value)
    }
}

/// Runs and packed bits (Parquet, encoding `RLE`): `count` values with the given number of bits
/// each, appended to `out`.
fn hybrid(mut data: &[u8], bits: u32, count: usize, out: &mut Vec<u32>) -> Result<(), String> {
    if bits > 32 {
        return Err(DAMAGED.to_owned());
    }
    let end = out.len() + count;
    out.reserve(count);
    if bits == 0 {
        out.resize(end, 0);
    }
    while out.len() < end {
        let head = leb128::take(&mut data).filter(|head| head >> 63 == 0).ok_or(DAMAGED)?;
        let rest = data;
        let left = end - out.len();
        if head & 1 == 0 {
            let width = bits.div_ceil(8) as usize;
            let (value, rest) = rest.split_at_checked(width).ok_or(DAMAGED)?;
            let value = value.iter().rev().fold(0, |sum, &byte| sum << 8 | u32::from(byte));
            let run = usize::try_from(head >> 1).unwrap_or(usize::MAX).min(left);
            if run == 0 {
                return Err(DAMAGED.to_owned());
            }
            out.resize(out.len() + run, value);
            data = rest;
        } else {
            let values = usize::try_from(head >> 1).unwrap_or(usize::MAX).saturating_mul(8);
            let packed = values.saturating_mul(bits as usize).div_ceil(8).min(rest.len());
            let (packed, rest) = rest.split_at(packed);
            let run = values.min(left);
            if run == 0 || packed.len() < (run * bits as usize).div_ceil(8) {
                return Err(DAMAGED.to_owned());
            }
            unpack(packed, bits, run, out);
            data = rest;
        }
    }
    Ok(())
}

/// Values with the given number of bits each, the lowest bits first.
fn unpack(packed: &[u8], bits: u32, count: usize, out: &mut Vec<u32>) {
    let mask = u64::MAX >> (64 - bits);
    let value = |at: usize, word: [u8; 8]| (u64::from_le_bytes(word) >> (at * bits as usize % 8) & mask) as u32;
    let words = (packed.len().saturating_sub(7) * 8 / bits as usize).min(count);
    out.extend((0..words).map(|at| {
        let byte = at * bits as usize / 8;
        value(at, packed.get(byte..).and_then(|rest| rest.first_chunk()).copied().unwrap_or_default())
    }));
    out.extend((words..count).map(|at| {
        let byte = at * bits as usize / 8;
        let mut word = [0; 8];
        let rest = packed.get(byte..).unwrap_or_default();
        let rest = &rest[..rest.len().min(8)];
        word[..rest.len()].copy_from_slice(rest);
        value(at, word)
    }));
}

//! Whether a table's file is what was written, and no larger inside than it may be, before polars
//! reads it.
//!
//! **Checksums.** Readers of Parquet do not notice a flipped bit in a page's header or in the
//! footer, nor, without checksums of pages, in most values. So the footer's key [`KEY`] has the
//! CRC-32 of each column chunk, with its pages' headers, group after group, and before them that of
//! all behind the last chunk (the footer; these eight digits count as [`BLANK`]). Each is eight
//! hexadecimal digits. Checked is what is read: the footer, and the chunks of the columns and
//! groups that are asked for. Files without the key were written before there was one, or by another
//! program; they are read, and counted by dataset ([`crate::files_without_checksums`]).
//!
//! **Bounds.** A run of equal values takes no bytes, so a few kilobytes can claim any number of
//! rows, and a page can unpack to gigabytes. Row groups have a bound, and pages must not unpack to
//! much more than they are ([`Packed`]).

use std::fs::File;
use std::io::Cursor;
use std::os::unix::fs::FileExt;

use flowmine_schema::text::bounds::Packed;
use polars_buffer::Buffer;
use polars_parquet::parquet::metadata::{ColumnChunkMetadata, FileMetadata, KeyValue};
use polars_parquet::parquet::page::CompressedPage;
use polars_parquet::parquet::read::{PageReader, read_metadata};

use crate::foreign_parquet::{FEW_ROWS, LARGEST_PAGE, ROWS_PER_BYTE};
use crate::parquet_error::ParquetError;
use crate::thrift::FirstPage;

/// Under which the footer has the checksums.
pub(crate) const KEY: &str = "flowmine.crc32";

/// Placeholder of a digit of the footer's own checksum while it is computed.
const BLANK: u8 = b'_';

/// Hexadecimal digits of a checksum.
const DIGITS: usize = 8;

/// No flowmine wrote larger row groups; [`crate::GROUP_ROWS`] is what it writes now.
const MOST_GROUP_ROWS: usize = 1 << 18;

/// Minimum number of bytes of a value in a dictionary of a table: a number, or a text's length.
const LEAST_VALUE: u64 = 4;

/// What is read as a whole (an observer's memory) may have this number of rows, and further ones
/// for each byte: no two rows of it are equal.
const WHOLE_ROWS: u64 = 1 << 20;
const WHOLE_ROWS_PER_BYTE: u64 = 8;

/// Entry with which a footer has to be written, so that [`fill`] finds room for this number of
/// column chunks.
pub(crate) fn room(chunks: usize) -> KeyValue {
    KeyValue { key: KEY.to_owned(), value: Some(char::from(BLANK).to_string().repeat(DIGITS * (1 + chunks))) }
}

/// Puts the checksums into a file that was written with [`room`] for them.
pub(crate) fn fill(bytes: &mut [u8]) -> Result<(), ParquetError> {
    const NO_ROOM: ParquetError = ParquetError::Misfit("it has no room for checksums");
    let metadata = read_metadata(&mut Cursor::new(&*bytes))?;
    let chunks = metadata.row_groups.iter().flat_map(|group| group.parquet_columns());
    let mut checksums = String::new();
    for chunk in chunks {
        let range = chunk.byte_range();
        let chunk = bytes.get(range.start as usize..range.end as usize).ok_or(NO_ROOM)?;
        checksums.push_str(&format!("{:08x}", crc32fast::hash(chunk)));
    }
    let start = tail(&metadata) as usize;
    let tail = bytes.get_mut(start..).ok_or(NO_ROOM)?;
    let at = place(tail, DIGITS + checksums.len()).ok_or(NO_ROOM)?;
    tail[at + DIGITS..at + DIGITS + checksums.len()].copy_from_slice(checksums.as_bytes());
    let own = format!("{:08x}", crc32fast::hash(tail));
    tail[at..at + DIGITS].copy_from_slice(own.as_bytes());
    Ok(())
}

/// Offset in the file at which the last column chunk ends.
pub(crate) fn tail(metadata: &FileMetadata) -> u64 {
    let chunks = metadata.row_groups.iter().flat_map(|group| group.parquet_columns());
    chunks.map(|chunk| chunk.byte_range().end).max().unwrap_or_default()
}

/// Offset in the footer of the value of [`KEY`], which has the given number of bytes.
fn place(tail: &[u8], length: usize) -> Option<usize> {
    // What follows the keys and values in a footer is who wrote it.
    let key = tail.windows(KEY.len()).rposition(|window| window == KEY.as_bytes())?;
    // The number and type of the field, and the length in groups of seven bits.
    let at = key + KEY.len() + 1 + (usize::BITS - length.leading_zeros()).div_ceil(7).max(1) as usize;
    (at + length <= tail.len()).then_some(at)
}

/// Whether a file of this number of bytes can have the rows that it claims; with `whole`, all of
/// them will be in memory at once.
pub(crate) fn check_rows(metadata: &FileMetadata, length: u64, whole: bool) -> Result<(), ParquetError> {
    let rows = metadata.row_groups.iter().map(|group| group.num_rows() as u64).fold(0, u64::saturating_add);
    if rows > FEW_ROWS && rows / ROWS_PER_BYTE > length {
        return Err(ParquetError::TooLarge(format!("it claims {rows} rows, which {length} bytes cannot hold")));
    }
    if whole && rows > WHOLE_ROWS && rows / WHOLE_ROWS_PER_BYTE > length {
        return Err(ParquetError::TooLarge(format!("it claims {rows} rows, and is read as a whole")));
    }
    Ok(())
}

/// What was read of a row group, while it is checked column chunk by column chunk.
pub(crate) struct GroupCheck {
    rows: usize,
    packed: u64,
    unpacked: u64,
}

impl GroupCheck {
    /// Begins with a row group of this number of rows.
    pub(crate) fn new(rows: usize) -> Result<Self, ParquetError> {
        if rows > MOST_GROUP_ROWS {
            let message = format!("it claims a row group of {rows} rows, and flowmine writes {MOST_GROUP_ROWS} at most");
            return Err(ParquetError::TooLarge(message));
        }
        Ok(Self { rows, packed: 0, unpacked: 0 })
    }

    /// Checks a column chunk, given its bytes and, if the file has one, its checksum.
    pub(crate) fn chunk(&mut self, chunk: &ColumnChunkMetadata, bytes: &Buffer<u8>, checksum: Option<u32>) -> Result<(), ParquetError> {
        if checksum.is_some_and(|checksum| checksum != crc32fast::hash(bytes)) {
            let name = chunk.descriptor().path_in_schema.first().map(|name| name.as_str()).unwrap_or_default();
            return Err(altered(&format!("column {name}"), &chunk.byte_range()));
        }
        self.packed += bytes.len() as u64;
        // polars does not say the size of a dictionary, which can only be the first page.
        if self.rows > 0 {
            let first = FirstPage::new(bytes).filter(|page| page.can_be(LEAST_VALUE)).ok_or(ParquetError::Damaged)?;
            self.unpacked = self.unpacked.saturating_add(first.unpacked);
        }
        let mut left = self.rows;
        for page in PageReader::new(Cursor::new(bytes.clone()), chunk, Vec::new(), bytes.len()) {
            if let CompressedPage::Data(page) = page.map_err(|_| ParquetError::Damaged)? {
                left = left.checked_sub(page.num_values()).ok_or(ParquetError::Damaged)?;
                self.unpacked = self.unpacked.saturating_add(page.uncompressed_size() as u64);
            }
        }
        if left == 0 { Ok(()) } else { Err(ParquetError::Damaged) }
    }

    /// Whether what was read unpacks to no more than it may.
    pub(crate) fn end(self) -> Result<(), ParquetError> {
        let most = Packed { bytes: self.packed }.most().max(LARGEST_PAGE as u64 / 2);
        if self.unpacked > most {
            let (packed, unpacked) = (self.packed, self.unpacked);
            return Err(ParquetError::TooLarge(format!("{packed} bytes of a row group unpack to {unpacked}")));
        }
        Ok(())
    }
}

/// The checksums of the column chunks, if the file has them and its footer is what was written.
pub(crate) fn checksums(file: &File, length: u64, metadata: &FileMetadata) -> Result<Option<Vec<u32>>, ParquetError> {
    let told = metadata.key_value_metadata().iter().flatten().find(|pair| pair.key == KEY);
    let Some(told) = told.and_then(|pair| pair.value.as_deref()) else { return Ok(None) };
    let start = tail(metadata);
    let range = start..length;
    let wrong = || altered("the footer", &range);
    let chunks: usize = metadata.row_groups.iter().map(|group| group.parquet_columns().len()).sum();
    if told.len() != DIGITS * (1 + chunks) || start > length {
        return Err(wrong());
    }
    let mut tail = vec![0; (length - start) as usize];
    file.read_exact_at(&mut tail, start)?;
    let at = place(&tail, told.len()).filter(|&at| &tail[at..at + told.len()] == told.as_bytes()).ok_or_else(wrong)?;
    tail[at..at + DIGITS].fill(BLANK);
    let numbers = told.as_bytes().chunks(DIGITS).map(|digits| u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
    let mut numbers = numbers.collect::<Option<Vec<u32>>>().ok_or_else(wrong)?;
    if numbers.remove(0) == crc32fast::hash(&tail) { Ok(Some(numbers)) } else { Err(wrong()) }
}

fn altered(what: &str, range: &std::ops::Range<u64>) -> ParquetError {
    ParquetError::Altered(format!("{what}, bytes {} to {}", range.start, range.end))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use polars_arrow::array::{Array, PrimitiveArray, Utf8ViewArray};
    use polars_arrow::datatypes::ArrowSchema;
    use polars_error::PolarsError;
    use polars_parquet::write::{
        CompressionOptions, DynIter, DynStreamingIterator, Encoding, FileWriter, array_to_columns, compress, fallible_streaming_iterator,
    };

    use super::*;
    use crate::columns::Columns;
    use crate::merge::merged;
    use crate::parquet_writer::{GROUP_ROWS, ParquetBytes, write, write_options};
    use crate::projection::Projection;
    use crate::rows::{Builder, Rows};
    use crate::table_file::TableFile;
    use flowmine_schema::tables::JobState;

    fn file(bytes: &[u8]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    fn written(rows: usize) -> Vec<u8> {
        let mut builder: Builder<JobState<'static>> = Builder::new();
        for at in 0..rows as i64 {
            let name = format!("job {}", at % 7);
            builder.push(&JobState {
                cluster: "lab".into(),
                job_id: at,
                state: Some("RUNNING".into()),
                name: Some(name.into()),
                observed_at_ns: at * 977,
                ..Default::default()
            });
        }
        let out = tempfile::NamedTempFile::new().unwrap();
        write(out.as_file(), builder.finish().unwrap()).unwrap();
        std::fs::read(out.path()).unwrap()
    }

    fn rows_of(bytes: &[u8]) -> Result<Rows<JobState<'static>>, ParquetError> {
        TableFile::open(file(bytes))?.read_whole(None, Projection::new::<JobState<'static>>()).and_then(Rows::of)
    }

    #[test]
    fn a_flipped_bit_is_noticed() {
        let bytes = written(4000);
        let whole = rows_of(&bytes).unwrap();
        let mut altered = 0;
        for at in (0..3000).map(|part| part * bytes.len() / 3000) {
            let mut bytes = bytes.clone();
            bytes[at] ^= 1 << (at % 8);
            match rows_of(&bytes) {
                // The magic at the beginning, and the checksums' key, say nothing of the rows.
                Ok(rows) => assert!(rows.columns == whole.columns, "bit {} of byte {at} of {}", at % 8, bytes.len()),
                Err(ParquetError::Altered(_)) => altered += 1,
                Err(_) => {}
            }
        }
        assert!(altered > 2000, "{altered}");
    }

    #[test]
    fn files_without_checksums_are_read() {
        let bytes = written(10);
        let key = bytes.windows(KEY.len()).rposition(|window| window == KEY.as_bytes()).unwrap();
        let mut older = bytes.clone();
        older[key] ^= 1;
        assert!(rows_of(&older).unwrap().columns == rows_of(&bytes).unwrap().columns);
    }

    /// A file of one row group with one column, whatever its size.
    fn one_group(array: &dyn Array) -> Vec<u8> {
        one_group_packed(array, CompressionOptions::Zstd(None))
    }

    fn one_group_packed(array: &dyn Array, compression: CompressionOptions) -> Vec<u8> {
        let mut columns = Columns::new(array.len());
        columns.push("alike", array.to_boxed()).unwrap();
        let options = write_options(compression);
        let schema: ArrowSchema = columns.schema();
        let mut writer = FileWriter::try_new(Vec::new(), schema, options).unwrap();
        let type_ = writer.parquet_schema().fields()[0].clone();
        let pages = array_to_columns(array.to_boxed(), type_, options, &[Encoding::Plain]).unwrap().into_iter().flatten();
        let pages: Vec<_> = pages.map(|page| compress(page.unwrap(), Vec::new(), options.compression).unwrap()).collect();
        let stream = DynStreamingIterator::new(fallible_streaming_iterator::convert(pages.iter().map(Ok::<_, PolarsError>)));
        writer.write(array.len() as u64, DynIter::new([Ok(stream)].into_iter())).unwrap();
        writer.end(None).unwrap();
        writer.into_inner()
    }

    #[test]
    fn rows_that_take_no_bytes_are_refused() {
        let alike = |rows: usize| {
            let mut columns = Columns::new(rows);
            columns.push("alike", PrimitiveArray::from_vec(vec![7_i64; rows]).boxed()).unwrap();
            columns
        };
        let few = ParquetBytes::new(&alike(0)).and_then(|mut out| out.push(alike(GROUP_ROWS)).and_then(|()| out.finish())).unwrap();
        assert!(merged([Ok(file(&few))]).unwrap().is_some());
        let many = one_group(&PrimitiveArray::from_vec(vec![7_i64; MOST_GROUP_ROWS + 1]));
        let refused = merged([Ok(file(&many))]).unwrap_err();
        assert!(matches!(refused, ParquetError::TooLarge(_)), "{refused}");
        let most = one_group(&PrimitiveArray::from_vec(vec![7_i64; MOST_GROUP_ROWS]));
        assert!(merged([Ok(file(&most))]).unwrap().is_some());
    }

    #[test]
    fn bytes_that_are_no_text_are_refused_wherever_they_are() {
        let texts = ["short", "twelve bytes", "ü and others", &"long ".repeat(40)];
        for of_ascii in [true, false] {
            let texts: Vec<&str> = texts.into_iter().filter(|text| !of_ascii || text.is_ascii()).collect();
            let bytes = one_group_packed(&Utf8ViewArray::from_slice_values(&texts), CompressionOptions::Uncompressed);
            assert!(merged([Ok(file(&bytes))]).unwrap().is_some());
            for text in &texts {
                // It is also in statistics, which are not read.
                let places: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at..].starts_with(text.as_bytes())).collect();
                for within in 0..text.len() {
                    let mut bytes = bytes.clone();
                    places.iter().for_each(|at| bytes[at + within] = 0xff);
                    let refused = merged([Ok(file(&bytes))]).unwrap_err();
                    assert!(matches!(refused, ParquetError::NotText(_) | ParquetError::Format(_)), "{refused}: byte {within} of {text:?}");
                }
            }
        }
    }

    #[test]
    fn a_value_that_has_to_be_there_is_there() {
        let bytes = one_group(&Utf8ViewArray::from_slice([Some("a"), None]));
        flowmine_schema::table! {
            /// A row that has to have a text.
            pub struct Full in "full" {
                /// The text.
                alike: text(Harmless),
            }
        }
        let read = TableFile::open(file(&bytes)).unwrap().read_whole(None, Projection::new::<Full<'static>>());
        assert!(matches!(read, Err(ParquetError::NoValue("alike"))));
    }

    #[test]
    fn a_page_that_unpacks_to_much_is_refused() {
        let text = "x".repeat(1 << 20);
        let texts: Vec<_> = (0..300).map(|at| Some(format!("{at}{text}"))).collect();
        let bytes = one_group(&Utf8ViewArray::from_slice(texts));
        let refused = merged([Ok(file(&bytes))]).unwrap_err();
        assert!(matches!(refused, ParquetError::TooLarge(_)), "{refused}: {} bytes", bytes.len());
    }
}

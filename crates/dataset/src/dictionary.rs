//! A column of texts as a dictionary: each different text once, in the order of first appearance,
//! and its place for each row.
//!
//! polars makes the same dictionary of such a column, after an estimate of its size: each text is
//! hashed twice. Here a text that repeats the one before is found by comparing, and a short one by
//! its sixteen bytes.
//!
//! A column of which more than three quarters of the values differ gets no dictionary, as with
//! polars.

use polars_arrow::array::{Array, DictionaryArray, MutableBinaryViewArray, PrimitiveArray, Utf8ViewArray, View};
use polars_arrow::datatypes::{ArrowDataType, IntegerType};
use rustc_hash::FxHashMap;

use crate::parquet_error::ParquetError;

/// A column of up to this many rows always gets a dictionary.
const SMALL: usize = 128;

/// The texts of a column as a dictionary; `None` if too many of them differ.
pub(crate) fn of_texts(texts: &Utf8ViewArray) -> Result<Option<DictionaryArray<u32>>, ParquetError> {
    let most = if texts.len() > SMALL { texts.len() / 4 * 3 } else { texts.len() };
    let mut dictionary = Dictionary { texts, short: FxHashMap::default(), long: FxHashMap::default(), values: Vec::new() };
    let mut keys: Vec<u32> = Vec::with_capacity(texts.len());
    if texts.null_count() == texts.len() {
        keys.resize(texts.len(), 0);
    } else {
        // The last row with a text, and its key.
        let mut before = None;
        for row in 0..texts.len() {
            if !texts.is_valid(row) {
                keys.push(0);
                continue;
            }
            let key = match before.filter(|(last, _)| dictionary.is_same(*last, row)) {
                Some((_, key)) => key,
                None => dictionary.key(row),
            };
            before = Some((row, key));
            keys.push(key);
            if dictionary.values.len() > most {
                return Ok(None);
            }
        }
    }
    let values = dictionary.values.iter().map(|row| texts.value(*row));
    let values = MutableBinaryViewArray::<str>::from_values_iter(values).freeze();
    let type_ = ArrowDataType::Dictionary(IntegerType::UInt32, Box::new(texts.dtype().clone()), false);
    let keys = PrimitiveArray::new(ArrowDataType::UInt32, keys.into(), texts.validity().cloned());
    Ok(Some(DictionaryArray::try_new(type_, keys, values.boxed())?))
}

/// The different texts of a column.
struct Dictionary<'t> {
    texts: &'t Utf8ViewArray,
    /// Places of the texts that a view contains whole, by the view.
    short: FxHashMap<u128, u32>,
    long: FxHashMap<&'t str, u32>,
    /// The rows in which each text is first.
    values: Vec<usize>,
}

impl<'t> Dictionary<'t> {
    fn is_short(view: View) -> bool {
        view.length <= View::MAX_INLINE_SIZE
    }

    fn is_same(&self, row: usize, other: usize) -> bool {
        let (a, b) = (self.texts.views()[row], self.texts.views()[other]);
        a.as_u128() == b.as_u128()
            || (!Self::is_short(a) && a.length == b.length && a.prefix == b.prefix && self.texts.value(row) == self.texts.value(other))
    }

    fn key(&mut self, row: usize) -> u32 {
        let view = self.texts.views()[row];
        // A row group has fewer rows than 32 bits can count.
        let next = self.values.len() as u32;
        let key = if Self::is_short(view) {
            *self.short.entry(view.as_u128()).or_insert(next)
        } else {
            *self.long.entry(self.texts.value(row)).or_insert(next)
        };
        if key == next {
            self.values.push(row);
        }
        key
    }
}

#[cfg(test)]
mod tests {
    use polars_arrow::datatypes::{ArrowSchema, Field};
    use polars_error::PolarsError;
    use polars_parquet::write::{
        CompressionOptions, DynIter, DynStreamingIterator, Encoding, FileWriter, array_to_columns, compress, fallible_streaming_iterator,
    };
    use proptest::prelude::*;

    use super::*;
    use crate::parquet_writer::write_options;

    /// A file with this column of texts.
    fn file(array: &dyn Array) -> Vec<u8> {
        let field = Field::new("text".into(), ArrowDataType::Utf8View, true);
        let schema: ArrowSchema = [(field.name.clone(), field)].into_iter().collect();
        let options = write_options(CompressionOptions::Uncompressed);
        let mut writer = FileWriter::try_new(Vec::new(), schema, options).unwrap();
        let type_ = writer.parquet_schema().fields()[0].clone();
        let columns = array_to_columns(array.to_boxed(), type_, options, &[Encoding::RleDictionary]).unwrap();
        let compressed = |page: Result<_, PolarsError>| compress(page.unwrap(), Vec::new(), options.compression).unwrap();
        let pages: Vec<_> = columns.into_iter().flatten().map(compressed).collect();
        let pages = fallible_streaming_iterator::convert(pages.iter().map(Ok::<_, PolarsError>));
        writer.write(array.len() as u64, DynIter::new(std::iter::once(Ok(DynStreamingIterator::new(pages))))).unwrap();
        writer.end(None).unwrap();
        writer.into_inner()
    }

    fn texts() -> impl Strategy<Value = Vec<Option<String>>> {
        let text = prop_oneof![Just(String::new()), "[a-c]{1,2}", "[ab]{12,14}", Just("a long text that no view contains".to_owned())];
        let run = (proptest::option::weighted(0.8, text), 1usize..4);
        proptest::collection::vec(run, 1..200).prop_map(|runs| runs.into_iter().flat_map(|(text, times)| vec![text; times]).collect())
    }

    proptest! {
        #[test]
        fn the_file_is_that_of_polars(texts in texts(), skipped in 0usize..9) {
            let skipped = skipped.min(texts.len() - 1);
            let array = Utf8ViewArray::from_slice(texts.clone()).sliced(skipped, texts.len() - skipped);
            let dictionary = of_texts(&array).unwrap().expect("few texts differ");
            prop_assert!(file(&dictionary) == file(&array));
        }
    }

    #[test]
    fn texts_that_differ_get_no_dictionary() {
        let of = |rows: usize, different: usize| {
            let texts: Vec<_> = (0..rows).map(|row| Some(format!("a text with the number {}", row % different))).collect();
            of_texts(&Utf8ViewArray::from_slice(texts)).unwrap().is_some()
        };
        assert_eq!([of(1000, 1000), of(1000, 751), of(1000, 750), of(128, 128), of(129, 129)], [false, false, true, true, false]);
        assert!(of_texts(&Utf8ViewArray::from_slice(vec![None::<&str>; 300])).unwrap().is_some());
    }
}

//! The metadata of a Parquet file, checked before polars uses it.
//!
//! Footers and heads of pages are structures in Thrift's compact protocol. In go their bytes; out
//! comes whether lists have as many elements as they claim, structures lie in each other no deeper
//! than those of Parquet do, and the schema is no deeper than anybody writes: polars makes room for
//! what a list claims, and calls itself for each level. The head of a column chunk's first page also
//! gives what polars does not say of a dictionary: its size, and how many values it claims.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use crate::leb128;

/// Structures in structures; those of Parquet go down eight levels.
const DEEPEST: usize = 32;

/// Groups of columns in groups of columns.
const DEEPEST_SCHEMA: usize = 100;

/// Every structure of which a footer has lists has a required field and an end.
const LEAST_STRUCTURE: usize = 3;

const MAGIC: &[u8] = b"PAR1";

/// Types of values.
const TRUE: u8 = 1;
const FALSE: u8 = 2;
const BYTE: u8 = 3;
const INTEGERS: std::ops::RangeInclusive<u8> = 4..=6;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const SET: u8 = 10;
const MAP: u8 = 11;
const STRUCTURE: u8 = 12;

/// Whether a file's footer can be read: `false` where it lies about itself. What has no footer at
/// all, or an encrypted one, is left to the reader, which says so.
///
/// # Errors
/// When the file cannot be read.
pub(crate) fn footer_is_sound(file: &File, length: u64) -> io::Result<bool> {
    let Some(end) = length.checked_sub(8) else { return Ok(true) };
    let mut last = [0; 8];
    file.read_exact_at(&mut last, end)?;
    let size = u32::from_le_bytes([last[0], last[1], last[2], last[3]]);
    let Some(start) = end.checked_sub(size.into()).filter(|_| &last[4..] == MAGIC) else { return Ok(true) };
    let mut footer = vec![0; size as usize];
    file.read_exact_at(&mut footer, start)?;
    Ok(is_sound(&footer))
}

fn is_sound(mut footer: &[u8]) -> bool {
    // Of each element of the schema how many are in it.
    let mut elements = Vec::new();
    let walked = structure(&mut footer, 0, &mut |place, number| match (place, elements.last_mut()) {
        // `FileMetaData.schema`; in it `SchemaElement.num_children`.
        ([2], _) => elements.push(0),
        ([2, 5], Some(last)) => *last = number,
        _ => {}
    });
    walked.is_some() && depth_is_sound(&elements)
}

/// Whether a schema is no deeper than it may be, given how many elements are in each: from the root
/// on, a group before those in it.
fn depth_is_sound(elements: &[i64]) -> bool {
    let mut open: Vec<i64> = Vec::new();
    for &children in elements {
        while open.pop_if(|left| *left == 0).is_some() {}
        if let Some(left) = open.last_mut() {
            *left -= 1;
        }
        if children < 0 || children > elements.len() as i64 || open.len() > DEEPEST_SCHEMA {
            return false;
        }
        if children > 0 {
            open.push(children);
        }
    }
    true
}

/// Header of a column chunk's first page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FirstPage {
    /// How many bytes the page has, unpacked.
    pub(crate) unpacked: u64,
    /// Of a dictionary, how many values it claims.
    pub(crate) dictionary: Option<u64>,
}

impl FirstPage {
    /// Reads the head; `None` where it is damaged.
    pub(crate) fn new(mut bytes: &[u8]) -> Option<Self> {
        let (mut unpacked, mut dictionary) = (None, None);
        structure(&mut bytes, 0, &mut |place, number| match place {
            // `PageHeader.uncompressed_page_size`; `DictionaryPageHeader.num_values` in it.
            [2] => unpacked = Some(number),
            [7, 1] => dictionary = Some(number),
            _ => {}
        })?;
        let dictionary = dictionary.map(u64::try_from).transpose().ok()?;
        Some(Self { unpacked: u64::try_from(unpacked?).ok()?, dictionary })
    }

    /// Whether a dictionary can have the values that it claims, each of which takes at least this
    /// number of bytes.
    pub(crate) fn can_be(self, least_bytes: u64) -> bool {
        self.dictionary.is_none_or(|values| values <= self.unpacked / least_bytes)
    }
}

/// Walks through a structure; calls `see` with each whole number and where it is (the fields from
/// the outermost structure on), and with zero where a structure in a list begins.
fn structure(bytes: &mut &[u8], depth: usize, see: &mut dyn FnMut(&[i64], i64)) -> Option<()> {
    fields(bytes, &mut Vec::new(), depth, see)
}

fn fields(bytes: &mut &[u8], place: &mut Vec<i64>, depth: usize, see: &mut dyn FnMut(&[i64], i64)) -> Option<()> {
    if depth > DEEPEST {
        return None;
    }
    let mut field = 0i64;
    loop {
        let head = byte(bytes)?;
        let (difference, type_) = (head >> 4, head & 0xf);
        if type_ == 0 {
            return Some(());
        }
        field = if difference == 0 { signed(leb128::take(bytes)?) } else { field.checked_add(difference.into())? };
        place.push(field);
        // A truth value is its type.
        if type_ != TRUE && type_ != FALSE {
            value(bytes, type_, place, depth, see)?;
        }
        place.pop();
    }
}

fn value(bytes: &mut &[u8], type_: u8, place: &mut Vec<i64>, depth: usize, see: &mut dyn FnMut(&[i64], i64)) -> Option<()> {
    match type_ {
        TRUE | FALSE | BYTE => skip(bytes, 1),
        number if INTEGERS.contains(&number) => {
            see(place, signed(leb128::take(bytes)?));
            Some(())
        }
        DOUBLE => skip(bytes, 8),
        BINARY => {
            let length = usize::try_from(leb128::take(bytes)?).ok()?;
            skip(bytes, length)
        }
        LIST | SET => {
            let head = byte(bytes)?;
            let (short, of) = (head >> 4, head & 0xf);
            let count = if short == 15 { usize::try_from(leb128::take(bytes)?).ok()? } else { short.into() };
            let least = if of == STRUCTURE { LEAST_STRUCTURE } else { 1 };
            if count.checked_mul(least)? > bytes.len() {
                return None;
            }
            for _ in 0..count {
                if of == STRUCTURE {
                    see(place, 0);
                }
                element(bytes, of, place, depth, see)?;
            }
            Some(())
        }
        MAP => {
            let count = usize::try_from(leb128::take(bytes)?).ok()?;
            if count == 0 {
                return Some(());
            }
            let types = byte(bytes)?;
            if count > bytes.len() {
                return None;
            }
            for _ in 0..count {
                element(bytes, types >> 4, place, depth, see)?;
                element(bytes, types & 0xf, place, depth, see)?;
            }
            Some(())
        }
        STRUCTURE => fields(bytes, place, depth + 1, see),
        _ => None,
    }
}

/// An element of a list or map, which may be a list again.
fn element(bytes: &mut &[u8], type_: u8, place: &mut Vec<i64>, depth: usize, see: &mut dyn FnMut(&[i64], i64)) -> Option<()> {
    if depth > DEEPEST {
        return None;
    }
    value(bytes, type_, place, depth + 1, see)
}

fn byte(bytes: &mut &[u8]) -> Option<u8> {
    let (&first, rest) = bytes.split_first()?;
    *bytes = rest;
    Some(first)
}

fn skip(bytes: &mut &[u8], count: usize) -> Option<()> {
    *bytes = bytes.get(count..)?;
    Some(())
}

/// Zigzag: the lowest bit is the sign.
fn signed(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A schema of groups of one in each other, above a column.
    fn chain(depth: usize) -> Vec<u8> {
        let mut footer = vec![0x15, 2, 0x19, 0xf0 | STRUCTURE];
        leb128::put(depth as u64, &mut footer);
        for at in 0..depth {
            // The name `a`, and one child.
            footer.extend([0x48, 1, b'a']);
            footer.extend(if at + 1 < depth { &[0x15, 2, 0][..] } else { &[0] });
        }
        footer.push(0);
        footer
    }

    #[test]
    fn a_footer_that_claims_too_much_is_refused() {
        assert!(is_sound(&chain(3)) && is_sound(&chain(100)));
        assert!(!is_sound(&chain(20_000)));
        // A list of two billion, of as many as there are bytes; a structure that does not end.
        assert!(!is_sound(&[0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07]));
        assert!(!is_sound(&[0x19, 0x5c, 0, 0, 0, 0, 0]));
        assert!(!is_sound(&[0x15]) && !is_sound(&[]));
        // Structures and lists in each other without end.
        assert!(!is_sound(&[0x1c; 100_000]) && !is_sound(&[0x19; 100_000]));
    }

    #[test]
    fn groups_side_by_side_are_not_deep() {
        let mut elements = vec![150];
        elements.extend([1, 0].repeat(150));
        assert!(depth_is_sound(&elements));
        assert!(!depth_is_sound(&[7, 0]) && !depth_is_sound(&[-1]));
    }

    #[test]
    fn the_first_page_however_its_fields_are_written() {
        let plain = [0x15, 4, 0x15, 200, 1, 0x15, 20, 0x4c, 0x15, 10, 0x15, 0, 0, 0];
        let page = FirstPage { unpacked: 100, dictionary: Some(5) };
        assert_eq!(FirstPage::new(&plain), Some(page));
        // With the numbers of the fields instead of their differences.
        let explicit = [0x05, 2, 4, 0x05, 4, 200, 1, 0x05, 6, 20, 0x0c, 14, 0x05, 2, 10, 0, 0];
        assert_eq!(FirstPage::new(&explicit), Some(page));
        assert!(page.can_be(4) && !FirstPage { dictionary: Some(26), ..page }.can_be(4));
        assert_eq!(FirstPage::new(&plain[..9]), None);
        assert_eq!(FirstPage::new(&[0x15, 4, 0x15, 3, 0]), None, "a negative size");
    }
}

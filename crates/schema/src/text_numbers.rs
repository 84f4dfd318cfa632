//! Fast numbering of texts: equal texts have equal numbers.
//!
//! Most ids are a word and a number (`order-17`, `e4711`). These are found in a table by that
//! number, without a hash and, if ids arrive in order, without leaving the processor's cache. Other
//! texts are found by their hashes, short ones and UUIDs without a comparison with the stored text.

use hashbrown::HashTable;

/// Number of a text that has none.
pub const NONE: u32 = u32::MAX;

/// Words before numbers that have a table.
const WORDS: usize = 4;

/// Ids may be numbered up to this in a table of any size.
const FEW: usize = 1 << 16;

/// Numbers of texts. The caller owns the texts.
#[derive(Debug, Default)]
pub struct TextNumbers {
    /// Ids with numbers below this are in tables.
    most: usize,
    words: Vec<(Vec<u8>, Vec<u32>)>,
    /// Place in `words` of the most recent word.
    last: usize,
    short: HashTable<(Short, u32)>,
    uuids: HashTable<(Uuid, u32)>,
    /// The most recent UUID: in a table of relations, the rows of an event are together.
    last_uuid: Option<(Uuid, u32)>,
    long: HashTable<(u64, u32)>,
}

impl TextNumbers {
    /// Creates numbers for a column with `rows` rows: tables take at most 64 bytes for each row.
    pub fn new(rows: usize) -> Self {
        Self { most: rows.saturating_mul(4).max(FEW), ..Self::default() }
    }

    /// Returns the number of a text; a new text gets `next`. `text` returns the text of an earlier
    /// number.
    #[inline]
    pub fn number<'a>(&mut self, of: &[u8], next: u32, text: impl Fn(u32) -> &'a [u8]) -> u32 {
        let most = self.most;
        if let Some((word, number)) = id(of).filter(|&(_, number)| number < most)
            && let Some(table) = self.table(word)
        {
            if table.len() <= number {
                table.resize((number + 1).next_power_of_two().min(most), NONE);
            }
            let place = &mut table[number];
            if *place == NONE {
                *place = next;
            }
            return *place;
        }
        if let Some(short) = Short::new(of) {
            let hash = short.hash();
            if let Some(&(_, number)) = self.short.find(hash, |&(other, _)| other == short) {
                return number;
            }
            self.short.insert_unique(hash, (short, next), |&(other, _)| other.hash());
            return next;
        }
        if let Some(uuid) = Uuid::new(of) {
            return self.number_of_uuid(uuid, next);
        }
        let hash = hash(of);
        if let Some(&(_, number)) = self.long.find(hash, |&(other, number)| other == hash && text(number) == of) {
            return number;
        }
        self.long.insert_unique(hash, (hash, next), |&(other, _)| other);
        next
    }

    fn number_of_uuid(&mut self, uuid: Uuid, next: u32) -> u32 {
        if let Some((last, number)) = self.last_uuid
            && last == uuid
        {
            return number;
        }
        let hash = uuid.hash();
        let number = match self.uuids.find(hash, |&(other, _)| other == uuid) {
            Some(&(_, number)) => number,
            None => {
                self.uuids.insert_unique(hash, (uuid, next), |&(other, _)| other.hash());
                next
            }
        };
        self.last_uuid = Some((uuid, number));
        number
    }

    /// The table of a word, if it has one.
    #[inline]
    fn table(&mut self, word: &[u8]) -> Option<&mut Vec<u32>> {
        if self.words.get(self.last).is_none_or(|(last, _)| last != word) {
            self.last = match self.words.iter().position(|(other, _)| other == word) {
                Some(at) => at,
                None if self.words.len() < WORDS => {
                    self.words.push((word.to_vec(), Vec::new()));
                    self.words.len() - 1
                }
                None => return None,
            };
        }
        self.words.get_mut(self.last).map(|(_, table)| table)
    }
}

/// A text that ends in a number of at most nine digits, the first of which is no zero unless it is
/// the only one: what stands before it, and the number.
#[inline]
fn id(text: &[u8]) -> Option<(&[u8], usize)> {
    let (mut number, mut unit, mut at, mut first) = (0, 1, text.len(), b'0');
    while at > 0 && text[at - 1].is_ascii_digit() && unit < 1_000_000_000 {
        at -= 1;
        first = text[at];
        number += usize::from(first - b'0') * unit;
        unit *= 10;
    }
    (unit > 1 && (first != b'0' || unit == 10)).then(|| (&text[..at], number))
}

/// A text of at most fifteen bytes, with their number in the last byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Short(u64, u64);

impl Short {
    fn new(bytes: &[u8]) -> Option<Self> {
        let mut all = [0; 16];
        all.get_mut(..bytes.len()).filter(|_| bytes.len() < 16)?.copy_from_slice(bytes);
        all[15] = bytes.len() as u8;
        let (low, high) = all.split_at(8);
        let number = |half: &[u8]| half.try_into().map_or(0, u64::from_le_bytes);
        Some(Self(number(low), number(high)))
    }

    fn hash(self) -> u64 {
        let mixed = (self.0 ^ self.1.rotate_left(23)).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ self.1;
        (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
    }
}

/// A UUID as RFC 9562 writes it, in small letters: each has one text, so that the number is enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Uuid(u64, u64);

impl Uuid {
    /// Length of its text.
    const LEN: usize = 36;

    #[inline]
    fn new(text: &[u8]) -> Option<Self> {
        let text: &[u8; Self::LEN] = text.try_into().ok()?;
        if [8, 13, 18, 23].iter().any(|&at| text[at] != b'-') {
            return None;
        }
        let four = |at: usize| u64::from(u32::from_le_bytes([text[at], text[at + 1], text[at + 2], text[at + 3]]));
        let eight = |at: usize, then: usize| hex(four(at) | four(then) << 32);
        Some(Self(eight(0, 4)? << 32 | eight(9, 14)?, eight(19, 24)? << 32 | eight(28, 32)?))
    }

    fn hash(self) -> u64 {
        let mixed = self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ self.1;
        (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
    }
}

/// Eight hexadecimal digits in small letters, computed on all at once: a number that no other eight
/// have.
#[inline]
fn hex(digits: u64) -> Option<u64> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    // The high bit of each byte: whether the byte is this or more. Bytes are below 0x80.
    let from = |least: u8| digits.wrapping_add(u64::from(0x80 - least) * ONES);
    let is_digit = (from(b'0') & !from(b'9' + 1)) | (from(b'a') & !from(b'f' + 1));
    if digits & HIGH != 0 || is_digit & HIGH != HIGH {
        return None;
    }
    let halves = (digits & (0x0f * ONES)) + 9 * (digits >> 6 & ONES);
    let bytes = (halves | halves >> 4) & 0x00ff_00ff_00ff_00ff;
    let pairs = (bytes | bytes >> 8) & 0x0000_ffff_0000_ffff;
    Some((pairs | pairs >> 16) & 0xffff_ffff)
}

fn hash(bytes: &[u8]) -> u64 {
    use std::hash::Hasher;
    let mut hasher = rustc_hash::FxHasher::default();
    hasher.write(bytes);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ids_are_a_word_and_a_number() {
        let cases: [(&str, Option<(&str, usize)>); 10] = [
            ("order-17", Some(("order-", 17))),
            ("0", Some(("", 0))),
            ("e0", Some(("e", 0))),
            ("e00", None),
            ("e01", None),
            ("e101", Some(("e", 101))),
            ("", None),
            ("seventeen", None),
            ("1234567890", Some(("1", 234_567_890))),
            ("1034567890", None),
        ];
        for (text, expected) in cases {
            assert_eq!(id(text.as_bytes()), expected.map(|(word, number)| (word.as_bytes(), number)), "{text}");
        }
    }

    #[test]
    fn hexadecimal_digits_are_small_letters() {
        let of = |at: usize, byte: u8| {
            let mut digits = *b"0123cdef";
            digits[at] = byte;
            hex(u64::from_le_bytes(digits))
        };
        for at in 0..8 {
            let mut found: Vec<u64> = (0..=u8::MAX).filter_map(|byte| of(at, byte)).collect();
            found.sort_unstable();
            found.dedup();
            assert_eq!(found.len(), 16);
            for byte in 0..=u8::MAX {
                assert_eq!(of(at, byte).is_some(), matches!(byte, b'0'..=b'9' | b'a'..=b'f'), "{byte} at {at}");
            }
        }
    }

    proptest! {
        #[test]
        fn the_same_text_has_the_same_number(
            texts in proptest::collection::vec("(a|b|c|order-|x-|item|a long word with a number |)[0-9]{0,11}|[a-f]{1,20}|0fae512-[01]{4}-4000-8000-00000000000[aAbg0]|0fae5120-00[01]0-4000-8000-0000000000[aAbg0]{2}", 0..200),
            rows in 0usize..40_000,
        ) {
            let mut numbers = TextNumbers::new(rows);
            let mut known: Vec<&[u8]> = Vec::new();
            for text in &texts {
                let text = text.as_bytes();
                let number = numbers.number(text, known.len() as u32, |at| known[at as usize]) as usize;
                match known.iter().position(|other| *other == text) {
                    Some(at) => prop_assert_eq!(number, at),
                    None => {
                        prop_assert_eq!(number, known.len());
                        known.push(text);
                    }
                }
            }
        }
    }
}

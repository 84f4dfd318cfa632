//! A column of texts in an encoding that is not known before the end of the column.

use flowmine_activity_log::{Interner, NONE};
use flowmine_schema::text;

use super::columns::Coded;
use super::encoding::Encoding;

/// Added to the number of a text that is not UTF-8 until the column's end.
const RAW: u32 = 1 << 31;

/// What the bytes of texts are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextsOf {
    /// UTF-8; where some are not, bytes are written so that they can be read back.
    Bytes,
    /// Text in this encoding.
    Encoding(Encoding),
}

/// A column of texts, in the order of its rows.
#[derive(Debug, Default)]
pub struct RawTexts {
    codes: Vec<u32>,
    texts: Interner,
    /// Texts that are not UTF-8, without loss.
    raw: Interner,
}

impl RawTexts {
    /// Takes a row without a text.
    pub fn push_none(&mut self) {
        self.codes.push(NONE);
    }

    /// Takes the text of the next row.
    pub fn push(&mut self, text: &str) {
        let code = match self.codes.last() {
            Some(&last) if last < RAW && self.texts.names().get(last) == text => last,
            _ => self.texts.intern(text),
        };
        self.codes.push(code);
    }

    /// Takes the bytes of the next row, which are not UTF-8.
    pub fn push_raw(&mut self, bytes: &[u8]) {
        let code = self.raw.intern(&text::decode(bytes));
        self.codes.push(RAW | code);
    }

    /// Number of different texts that are not UTF-8.
    pub fn raw(&self) -> usize {
        self.raw.names().len()
    }

    /// Number of different texts of UTF-8 that are not ASCII.
    pub fn beyond_ascii(&self) -> usize {
        self.texts.names().iter().filter(|name| !name.is_ascii()).count()
    }

    /// The column. Texts that differ in a byte stay different.
    pub fn finish(self, of: TextsOf) -> Coded {
        let Self { mut codes, texts, raw } = self;
        let as_read = match of {
            TextsOf::Bytes => raw.names().is_empty(),
            TextsOf::Encoding(_) => raw.names().is_empty() && texts.names().iter().all(str::is_ascii),
        };
        let texts = texts.into_names();
        if as_read {
            return Coded { codes, names: texts };
        }
        let shown = |bytes: &[u8]| match of {
            TextsOf::Bytes => text::decode(bytes).into_owned(),
            TextsOf::Encoding(encoding) => encoding.text(bytes),
        };
        let first_raw = texts.len() as u32;
        let mut names: flowmine_activity_log::Names = texts.iter().map(|name| shown(name.as_bytes())).collect();
        for name in raw.names().iter() {
            names.push(&shown(&text::encode(name)));
        }
        for code in codes.iter_mut().filter(|code| **code >= RAW && **code != NONE) {
            *code = first_raw + (*code - RAW);
        }
        Coded { codes, names }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn column(rows: &[Vec<u8>]) -> RawTexts {
        let mut column = RawTexts::default();
        for row in rows {
            match std::str::from_utf8(row) {
                Ok(text) => column.push(text),
                Err(_) => column.push_raw(row),
            }
        }
        column
    }

    #[test]
    fn earlier_texts_are_read_once_more() {
        let rows = ["ü".as_bytes().to_vec(), b"\xfc".to_vec(), b"\\xfc".to_vec()];
        let texts = |of| {
            let Coded { codes, names } = column(&rows).finish(of);
            codes.into_iter().map(|code| names.get(code).to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(texts(TextsOf::Encoding(Encoding::WINDOWS_1252)), ["Ã¼", "ü", "\\xfc"]);
        assert_eq!(texts(TextsOf::Bytes), ["ü", "\\xfc", "\\x5cxfc"]);
    }

    proptest! {
        #[test]
        fn as_many_names_as_byte_strings(rows in prop::collection::vec(prop::collection::vec(prop_oneof![Just(0xc3u8), Just(0xbc), Just(b'x'), Just(b'\\')], 0..3), 0..12)) {
            let different: BTreeSet<&Vec<u8>> = rows.iter().collect();
            for of in [TextsOf::Bytes, TextsOf::Encoding(Encoding::WINDOWS_1252)] {
                let Coded { codes, names } = column(&rows).finish(of);
                let seen: BTreeSet<&str> = codes.iter().map(|&code| names.get(code)).collect();
                prop_assert_eq!(seen.len(), different.len());
            }
        }
    }
}

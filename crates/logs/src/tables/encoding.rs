//! The encoding of a table's bytes: named, seen at its beginning, or inferred from its texts.
//!
//! Bytes that an encoding does not have are written as `\xNN`, so that two names that differ in
//! them stay two.

use std::fmt::Write as _;
use std::io::{self, Read};

use encoding_rs::{Decoder, DecoderResult, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// The UTF-8 byte order mark.
pub const MARK: &[u8] = "\u{feff}".as_bytes();

/// Number of bytes of a block that is decoded at once.
const BLOCK: usize = 1 << 16;

/// An encoding of the Encoding Standard (<https://encoding.spec.whatwg.org/>).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Encoding(&'static encoding_rs::Encoding);

impl Encoding {
    /// UTF-8.
    pub const UTF_8: Self = Self(UTF_8);
    /// The encoding of Windows in Western Europe; each byte is a character of it.
    pub const WINDOWS_1252: Self = Self(WINDOWS_1252);

    /// The encoding with this name, such as `windows-1252`, `latin1` or `utf-16le`.
    pub fn named(name: &str) -> Option<Self> {
        encoding_rs::Encoding::for_label(name.as_bytes()).map(Self)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// The encoding that the beginning of a file has for certain: UTF-16 by its byte order mark or
    /// by the zeros next to ASCII characters.
    pub fn seen(head: &[u8]) -> Option<Self> {
        match head {
            [0xff, 0xfe, ..] => return Some(Self(UTF_16LE)),
            [0xfe, 0xff, ..] => return Some(Self(UTF_16BE)),
            _ => {}
        }
        let pairs = head.chunks_exact(2).take(256);
        let count = |is: fn(&[u8]) -> bool| pairs.clone().filter(|pair| is(pair)).count();
        let half = pairs.len() / 2;
        let low_first = count(|pair| pair[0] != 0 && pair[1] == 0);
        let high_first = count(|pair| pair[0] == 0 && pair[1] != 0);
        match (low_first, high_first) {
            (low, 0) if low > half => Some(Self(UTF_16LE)),
            (0, high) if high > half => Some(Self(UTF_16BE)),
            _ => None,
        }
    }

    /// Bytes of it as text.
    pub fn text(self, bytes: &[u8]) -> String {
        let mut out = String::new();
        let mut decoding = Decoding::new(self);
        decoding.push(bytes, true, &mut out);
        out
    }
}

/// Bytes on their way to text.
struct Decoding {
    decoder: Decoder,
    /// The last bytes. They include the beginning of a character that is not complete yet.
    last: Vec<u8>,
}

/// Number of bytes that a decoder can hold back before it calls them malformed.
const HELD: usize = 8;

impl Decoding {
    fn new(encoding: Encoding) -> Self {
        Self { decoder: encoding.0.new_decoder_with_bom_removal(), last: Vec::new() }
    }

    /// Decodes what comes next.
    fn push(&mut self, mut bytes: &[u8], is_end: bool, out: &mut String) {
        loop {
            out.reserve(self.decoder.max_utf8_buffer_length_without_replacement(bytes.len()).unwrap_or(BLOCK).max(16));
            let (result, read) = self.decoder.decode_to_string_without_replacement(bytes, out, is_end);
            let (taken, rest) = bytes.split_at(read);
            self.last.extend_from_slice(&taken[taken.len().saturating_sub(HELD)..]);
            self.last.drain(..self.last.len().saturating_sub(HELD));
            bytes = rest;
            match result {
                DecoderResult::InputEmpty => return,
                DecoderResult::OutputFull => {}
                DecoderResult::Malformed(length, behind) => {
                    let end = self.last.len().saturating_sub(usize::from(behind));
                    let start = end.saturating_sub(usize::from(length));
                    for byte in &self.last[start..end] {
                        let _ = write!(out, "\\x{byte:02x}");
                    }
                }
            }
        }
    }
}

/// A source of bytes in some encoding, read as UTF-8.
pub struct Decoded<R> {
    source: R,
    decoding: Decoding,
    buffer: Vec<u8>,
    text: String,
    /// What of the text has been read.
    start: usize,
    is_end: bool,
}

impl<R: Read> Decoded<R> {
    /// Reads a source in this encoding.
    pub fn new(source: R, encoding: Encoding) -> Self {
        let decoding = Decoding::new(encoding);
        Self { source, decoding, buffer: vec![0; BLOCK], text: String::new(), start: 0, is_end: false }
    }
}

impl<R: Read> Read for Decoded<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.start == self.text.len() && !self.is_end {
            self.text.clear();
            self.start = 0;
            let read = self.source.read(&mut self.buffer)?;
            self.is_end = read == 0;
            self.decoding.push(&self.buffer[..read], self.is_end, &mut self.text);
        }
        let rest = &self.text.as_bytes()[self.start..];
        let length = rest.len().min(out.len());
        out[..length].copy_from_slice(&rest[..length]);
        self.start += length;
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn utf_16(text: &str, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(to_bytes).collect()
    }

    /// A source that gives one byte after the other.
    struct Slowly<'a>(&'a [u8]);

    impl Read for Slowly<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let length = out.len().min(1);
            self.0.read(&mut out[..length])
        }
    }

    #[test]
    fn utf_16_is_seen() {
        let text = "case;activity\n1;prüfen €\n";
        assert_eq!(Encoding::seen(&utf_16(text, u16::to_le_bytes)), Some(Encoding(UTF_16LE)));
        assert_eq!(Encoding::seen(&utf_16(text, u16::to_be_bytes)), Some(Encoding(UTF_16BE)));
        assert_eq!(Encoding::seen(&utf_16(&format!("\u{feff}{text}"), u16::to_be_bytes)), Some(Encoding(UTF_16BE)));
        assert_eq!(Encoding::seen(text.as_bytes()), None);
        assert_eq!(Encoding::seen(b""), None);
    }

    #[test]
    fn malformed_bytes_are_shown() {
        assert_eq!(Encoding::UTF_8.text(b"a\xffb\xc3"), "a\\xffb\\xc3");
        assert_eq!(Encoding(UTF_16LE).text(b"a\0\x00\xd8b\0"), "a\\x00\\xd8b");
        assert_eq!(Encoding::WINDOWS_1252.text(b"\x80\x81\xfc"), "€\u{81}ü");
    }

    proptest! {
        #[test]
        fn however_it_comes_it_is_the_same(bytes in prop::collection::vec(any::<u8>(), 0..80), at in 0..5usize) {
            let encoding = Encoding::named(["utf-8", "utf-16le", "windows-1252", "gb18030", "shift_jis"][at]).unwrap();
            let mut slowly = String::new();
            Decoded::new(Slowly(&bytes), encoding).read_to_string(&mut slowly).unwrap();
            prop_assert_eq!(slowly, encoding.text(&bytes));
        }

        /// Two byte strings are two texts.
        #[test]
        fn nothing_is_merged(a in prop::collection::vec(any::<u8>(), 0..6), b in prop::collection::vec(any::<u8>(), 0..6)) {
            prop_assert_eq!(Encoding::WINDOWS_1252.text(&a) == Encoding::WINDOWS_1252.text(&b), a == b);
        }
    }
}

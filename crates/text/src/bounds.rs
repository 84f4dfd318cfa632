//! Bounds on input of others: how long a line, how long a text, how deep, how many.
//!
//! A file of a few kilobytes can unpack to one line of gigabytes, or to millions of empty lists of
//! which a parser makes a tree. So what reads foreign text puts a [`Gate`] before its parser: bytes
//! go through as they are, and the first that goes beyond the [`Bounds`] ends the reading with its
//! place ([`Refused`]), before anything has grown. The gate knows no grammar more than it needs:
//! what is wrong otherwise is the parser's to say.

use std::fmt;
use std::io::{self, BufRead, Read};

use memchr::{memchr, memchr_iter, memchr2, memrchr};

/// How large the parts of an input may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// The most bytes of a line of text.
    pub line_bytes: usize,
    /// Bytes of one string or number of JSON, as it is written.
    pub text_bytes: usize,
    /// How deep lists and objects of JSON may be nested.
    pub depth: u32,
    /// How many values, lists and objects a record of JSON may have, with all that is in it.
    pub parts: u64,
    /// How many records of JSON there may be.
    pub records: u64,
}

impl Bounds {
    /// What every reader uses that has no reason for others.
    pub const USUAL: Self = Self { line_bytes: 4 << 20, text_bytes: 4 << 20, depth: 64, parts: 1_000_000, records: 4_000_000 };
}

/// Why an input is not read further, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// Number of the line, counted from 1.
    pub line: u64,
    /// In bytes from the beginning of the text, from 0.
    pub byte: u64,
    /// What is too large, and what to do.
    pub message: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, byte {} of the text: {}", self.line, self.byte, self.message)
    }
}

impl std::error::Error for Refused {}

impl From<Refused> for io::Error {
    fn from(refused: Refused) -> Self {
        io::Error::new(io::ErrorKind::FileTooLarge, refused)
    }
}

/// What a gate takes the text for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// The first byte that is not blank decides.
    Unknown,
    Lines,
    Json,
}

/// Where the records of a JSON text are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Records {
    /// A document is one record. Several may follow each other.
    Documents,
    /// What is in the list that the document is, or in the lists that the document's object holds,
    /// is a record each.
    Listed,
}

/// Looks at bytes in the order of the text, however they are cut into pieces.
#[derive(Debug, Clone)]
pub struct Gate {
    bounds: Bounds,
    records_in: Records,
    shape: Shape,
    line: u64,
    byte: u64,
    /// Bytes of the line or token so far.
    length: usize,
    in_string: bool,
    escaped: bool,
    depth: u32,
    /// At which depth a comma ends a record.
    between: u32,
    parts: u64,
    records: u64,
}

impl Gate {
    /// A gate for text in lines of bounded length.
    pub fn lines(bounds: Bounds) -> Self {
        Self::new(bounds, Records::Documents, Shape::Lines)
    }

    /// A gate for JSON of bounded depth, parts and records.
    pub fn json(bounds: Bounds, records: Records) -> Self {
        Self::new(bounds, records, Shape::Json)
    }

    /// For either: text that begins with a brace or bracket is held against the bounds of JSON,
    /// other text against those of lines.
    pub fn either(bounds: Bounds, records: Records) -> Self {
        Self::new(bounds, records, Shape::Unknown)
    }

    fn new(bounds: Bounds, records_in: Records, shape: Shape) -> Self {
        Self {
            bounds,
            records_in,
            shape,
            line: 1,
            byte: 0,
            length: 0,
            in_string: false,
            escaped: false,
            depth: 0,
            between: 0,
            parts: 0,
            records: 0,
        }
    }

    /// Looks at what comes next.
    ///
    /// # Errors
    /// When something in it is larger than it may be.
    pub fn pass(&mut self, bytes: &[u8]) -> Result<(), Refused> {
        if self.shape == Shape::Unknown {
            let mark = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, 0xef | 0xbb | 0xbf);
            match bytes.iter().find(|byte| !mark(byte)) {
                Some(b'{' | b'[') => self.shape = Shape::Json,
                Some(_) => self.shape = Shape::Lines,
                // Blanks are held against the length of a line meanwhile.
                None => {}
            }
        }
        let passed = if self.shape == Shape::Json { self.pass_json(bytes) } else { self.pass_lines(bytes) };
        if let Err((at, message)) = passed {
            let line = self.line + memchr_iter(b'\n', &bytes[..at]).count() as u64;
            return Err(Refused { line, byte: self.byte + at as u64, message });
        }
        self.line += memchr_iter(b'\n', bytes).count() as u64;
        self.byte += bytes.len() as u64;
        Ok(())
    }

    fn pass_lines(&mut self, bytes: &[u8]) -> Result<(), (usize, String)> {
        let most = self.bounds.line_bytes;
        let mut begin = 0;
        // Only a line that began in an earlier piece, or is as long as this one, can be too long.
        if self.length + bytes.len() > most {
            for end in memchr_iter(b'\n', bytes) {
                if self.length + end - begin > most {
                    return Err((begin, line_too_long(most)));
                }
                (self.length, begin) = (0, end + 1);
            }
        } else if let Some(last) = memrchr(b'\n', bytes) {
            (self.length, begin) = (0, last + 1);
        }
        self.length += bytes.len() - begin;
        if self.length > most { Err((begin, line_too_long(most))) } else { Ok(()) }
    }

    fn pass_json(&mut self, bytes: &[u8]) -> Result<(), (usize, String)> {
        let Bounds { text_bytes, depth, parts, records, .. } = self.bounds;
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            if self.in_string {
                if self.escaped {
                    self.escaped = false;
                    self.length += 1;
                    at += 1;
                    continue;
                }
                let run = memchr2(b'"', b'\\', &bytes[at..]);
                self.length += run.unwrap_or(bytes.len() - at);
                if self.length > text_bytes {
                    return Err((
                        at,
                        format!("a text is longer than {text_bytes} bytes; no record that is meant to be read has such a one"),
                    ));
                }
                at += run.map_or(bytes.len() - at, |run| run + 1);
                if run.is_some() {
                    self.escaped = bytes[at - 1] == b'\\';
                    self.in_string = self.escaped;
                }
                continue;
            }
            match byte {
                b'"' => (self.in_string, self.length) = (true, 0),
                b'{' | b'[' => {
                    if self.depth == 0 {
                        self.between = match (self.records_in, byte) {
                            (Records::Documents, _) => 0,
                            (Records::Listed, b'[') => 1,
                            (Records::Listed, _) => 2,
                        };
                        self.parts = 0;
                    }
                    self.depth += 1;
                    self.length = 0;
                    if self.depth > depth {
                        return Err((at, format!("lists and objects are nested deeper than {depth}")));
                    }
                    self.parts += 1;
                }
                b'}' | b']' => (self.depth, self.length) = (self.depth.saturating_sub(1), 0),
                b',' => {
                    self.length = 0;
                    if self.depth <= self.between {
                        (self.parts, self.records) = (0, self.records + 1);
                        if self.records >= records {
                            return Err((at, format!("there are more than {records} records; split the file and import its parts")));
                        }
                    } else {
                        self.parts += 1;
                    }
                    if self.parts > parts {
                        return Err((at, format!("a record has more than {parts} values; split the file and import its parts")));
                    }
                }
                b' ' | b'\n' | b'\r' | b'\t' | b':' => self.length = 0,
                _ => {
                    self.length += 1;
                    if self.length > text_bytes {
                        return Err((at, format!("a number or word is longer than {text_bytes} bytes")));
                    }
                }
            }
            at += 1;
        }
        Ok(())
    }
}

fn line_too_long(most: usize) -> String {
    format!("a line is longer than {most} bytes, so this is not text in lines; no row that is meant to be read is so long")
}

/// A reader with bytes that go through a gate.
#[derive(Debug)]
pub struct Gated<R> {
    reader: R,
    gate: Gate,
}

impl<R: Read> Gated<R> {
    /// Puts a gate before a reader of which nothing was read.
    pub fn new(reader: R, gate: Gate) -> Self {
        Self { reader, gate }
    }
}

impl<R: Read> Read for Gated<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n = self.reader.read(into)?;
        self.gate.pass(&into[..n])?;
        Ok(n)
    }
}

/// What unpacks must not be much larger than it was packed: real text packs to a tenth, and never
/// to a hundredth of its size. Small files may.
#[derive(Debug, Clone, Copy)]
pub struct Packed {
    /// Size of the packed file, in bytes.
    pub bytes: u64,
}

impl Packed {
    /// What unpacks to less than this may be packed as tightly as it is.
    pub const SMALL: u64 = 256 << 20;
    /// How many times as large as the packed file a larger one may be.
    pub const TIMES: u64 = 200;

    /// How many bytes it may unpack to.
    pub fn most(self) -> u64 {
        Self::SMALL.max(self.bytes.saturating_mul(Self::TIMES))
    }
}

/// A reader that fails after this number of bytes.
#[derive(Debug)]
pub struct UpTo<R> {
    reader: R,
    left: u64,
    most: u64,
}

impl<R: Read> UpTo<R> {
    /// At most `most` bytes of a reader that unpacks.
    pub fn new(reader: R, most: u64) -> Self {
        Self { reader, left: most, most }
    }
}

impl<R: Read> Read for UpTo<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n = self.reader.read(into)?;
        match self.left.checked_sub(n as u64) {
            Some(left) => self.left = left,
            None => return Err(too_large(self.most)),
        }
        Ok(n)
    }
}

fn too_large(most: u64) -> io::Error {
    let message = format!(
        "it has more than {} MiB, unpacked, which is more than is read of such a file; split it and import its parts, or unpack it first \
         if it is text that packs so well",
        most >> 20
    );
    io::Error::new(io::ErrorKind::FileTooLarge, message)
}

/// Reads all that a reader gives, if that is not more than `most` bytes.
///
/// # Errors
/// From the reader; when there is more.
pub fn read_whole(mut reader: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // Piece by piece: `read_to_end` would fill the room that it makes for more, and so touch twice the memory.
    let mut piece = vec![0; 1 << 16];
    loop {
        match reader.read(&mut piece) {
            Ok(0) => return Ok(bytes),
            Ok(n) if (bytes.len() + n) as u64 > most => return Err(too_large(most)),
            Ok(n) => bytes.extend_from_slice(&piece[..n]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// The lines of a text, one at a time; what is longer than it may be is cut, and the rest of the
/// line passed over.
#[derive(Debug)]
pub struct Lines<R> {
    reader: R,
    line: Vec<u8>,
    number: u64,
    longest: usize,
    /// Whether the last line ended with a newline.
    pub whole: bool,
}

impl<R: BufRead> Lines<R> {
    /// From the beginning; lines are cut at this number of bytes.
    pub fn new(reader: R, longest: usize) -> Self {
        Self { reader, line: Vec::new(), number: 0, longest, whole: true }
    }

    /// The next line with its number, from 1, and without what ends it.
    ///
    /// # Errors
    /// From the reader.
    #[allow(clippy::should_implement_trait, reason = "it lends the line")]
    pub fn next(&mut self) -> io::Result<Option<(u64, &[u8])>> {
        Ok(if self.advance()? { Some(self.line()) } else { None })
    }

    /// The line to which [`Lines::advance`] went.
    pub fn line(&self) -> (u64, &[u8]) {
        (self.number, &self.line)
    }

    /// Goes to the next line; whether there is one.
    ///
    /// # Errors
    /// From the reader.
    pub fn advance(&mut self) -> io::Result<bool> {
        self.line.clear();
        let mut any = false;
        loop {
            let buffer = self.reader.fill_buf()?;
            if buffer.is_empty() {
                // The end right after a newline cuts nothing.
                self.whole &= !any;
                break;
            }
            any = true;
            let end = memchr(b'\n', buffer);
            let taken = end.map_or(buffer.len(), |end| end + 1);
            let room = self.longest - self.line.len();
            self.line.extend_from_slice(&buffer[..end.unwrap_or(taken).min(room)]);
            self.reader.consume(taken);
            if end.is_some() {
                self.whole = true;
                break;
            }
        }
        if !any {
            return Ok(false);
        }
        self.number += 1;
        if self.line.last() == Some(&b'\r') {
            self.line.pop();
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SMALL: Bounds = Bounds { line_bytes: 10, text_bytes: 8, depth: 3, parts: 4, records: 3 };

    /// What a gate says of a text that comes in pieces of `piece` bytes.
    fn through(mut gate: Gate, text: &[u8], piece: usize) -> Result<(), Refused> {
        text.chunks(piece.max(1)).try_for_each(|bytes| gate.pass(bytes))
    }

    #[test]
    fn what_is_within_goes_through_and_what_is_beyond_does_not() {
        for piece in [1, 3, 100] {
            let lines = |text: &str| through(Gate::either(SMALL, Records::Listed), text.as_bytes(), piece);
            assert_eq!(lines("0123456789\n0123456789\n0123456789"), Ok(()));
            let refused = lines("0123456789\n0123456789\n01234567890").unwrap_err();
            assert_eq!(refused.line, 3);
            assert!(refused.to_string().contains("longer than 10 bytes"), "{refused}");
            assert!(lines("0\n12345678901\n").is_err());

            let json =
                |text: &str| through(Gate::either(SMALL, Records::Listed), text.as_bytes(), piece).map_err(|refused| refused.message);
            assert_eq!(
                json("\u{feff}\n{\"a\":[{\"b\":\"12345\\\"78\"},\n\n\n{\"b\":[]}]}").unwrap_err(),
                "lists and objects are nested deeper than 3"
            );
            assert_eq!(json("{\"a\":[{\"b\":\"12345\\\"7\"},                {\"b\":-12.5e-7}]}"), Ok(()));
            assert!(json("[\"123456789\"]").unwrap_err().contains("text is longer"));
            assert!(json("[123456789]").unwrap_err().contains("number or word is longer"));
            assert!(json("[[],[],[],[]]").unwrap_err().contains("more than 3 records"));
            assert_eq!(json("[[1,2,3],[1,2,3],[1,2,3]]"), Ok(()));
            assert!(json("[[1,2,3,4,5,6]]").unwrap_err().contains("more than 4 values"));
            let documents =
                |text: &str| through(Gate::json(SMALL, Records::Documents), text.as_bytes(), piece).map_err(|refused| refused.message);
            assert_eq!(documents("[1,2] [1,2] [1,2] [1,2] [1,2]"), Ok(()));
            assert!(documents("[1,2,3,4,5,6]").unwrap_err().contains("more than 4 values"));
        }
    }

    #[test]
    fn packed_text() {
        assert_eq!(Packed { bytes: 1000 }.most(), Packed::SMALL);
        assert_eq!(Packed { bytes: 1 << 30 }.most(), 200 << 30);
        assert_eq!(read_whole(&b"abc"[..], 3).unwrap(), b"abc");
        assert!(read_whole(&b"abc"[..], 2).is_err());
        assert_eq!(read_whole(UpTo::new(&b"abc"[..], 3), 9).unwrap(), b"abc");
        assert!(read_whole(UpTo::new(&b"abc"[..], 2), 9).is_err());
    }

    proptest! {
        /// How a text is cut into pieces does not matter for whether it goes through.
        #[test]
        fn pieces(text in "[\\[\\]{},:\"\\\\a1 \n]{0,60}", piece in 1_usize..20) {
            let whole = through(Gate::either(SMALL, Records::Listed), text.as_bytes(), text.len());
            let pieces = through(Gate::either(SMALL, Records::Listed), text.as_bytes(), piece);
            prop_assert_eq!(whole.map_err(|refused| refused.message), pieces.map_err(|refused| refused.message));
        }
    }
}

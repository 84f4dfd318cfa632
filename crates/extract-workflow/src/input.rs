//! Reading text line by line, packed or not, without holding it.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

/// Longer lines are cut; what is beyond is not read by any engine's decoder.
const LONGEST_LINE: usize = 1 << 20;

/// Opens a file, unpacking gzip.
pub fn open(path: &Path) -> io::Result<Box<dyn BufRead>> {
    let file = File::open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("this is not a file"));
    }
    let mut reader = BufReader::with_capacity(1 << 16, file);
    if reader.fill_buf()?.starts_with(&[0x1f, 0x8b]) {
        return Ok(Box::new(BufReader::with_capacity(1 << 16, MultiGzDecoder::new(reader))));
    }
    Ok(Box::new(reader))
}

/// The first bytes, unpacked.
pub fn head(path: &Path) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    open(path)?.take(1 << 16).read_to_end(&mut head)?;
    Ok(head)
}

/// A whole file as text, up to 256 MiB; what is beyond is cut.
pub fn whole(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    open(path)?.take(256 << 20).read_to_end(&mut bytes)?;
    Ok(flowmine_schema::text::decode(&bytes).into_owned())
}

/// A small file as text; `None` when there is none.
pub fn small(path: &Path) -> io::Result<Option<String>> {
    if !path.try_exists()? {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    open(path)?.take(LONGEST_LINE as u64).read_to_end(&mut bytes)?;
    Ok(Some(flowmine_schema::text::decode(&bytes).into_owned()))
}

/// Without what colours a terminal.
pub fn without_escapes(line: &str) -> Cow<'_, str> {
    if !line.contains('\x1b') {
        return line.into();
    }
    let mut out = String::with_capacity(line.len());
    let mut pieces = line.split('\x1b');
    out.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        // CSI, parameters, one letter.
        let end = piece.strip_prefix('[').and_then(|rest| rest.find(|c: char| c.is_ascii_alphabetic()));
        out.push_str(end.map_or(piece, |end| &piece[end + 2..]));
    }
    out.into()
}

/// The lines of a text, one at a time.
pub struct Lines<R> {
    reader: R,
    line: Vec<u8>,
    number: u64,
    longest: usize,
    /// Whether the last line ended with a newline.
    pub whole: bool,
}

impl<R: BufRead> Lines<R> {
    /// From the beginning.
    pub fn new(reader: R) -> Self {
        Self::with_longest(reader, LONGEST_LINE)
    }

    /// From the beginning; lines are cut at so many bytes.
    pub fn with_longest(reader: R, longest: usize) -> Self {
        Self { reader, line: Vec::new(), number: 0, longest, whole: true }
    }

    /// The next line with its number, from 1, and without what ends it.
    pub fn next(&mut self) -> io::Result<Option<(u64, &[u8])>> {
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
            let end = memchr::memchr(b'\n', buffer);
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
            return Ok(None);
        }
        self.number += 1;
        if self.line.last() == Some(&b'\r') {
            self.line.pop();
        }
        Ok(Some((self.number, &self.line)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_their_ends() {
        for (text, expected, whole) in [
            ("a\nb\r\n", vec![(1, "a"), (2, "b")], true),
            ("a\n\nb", vec![(1, "a"), (2, ""), (3, "b")], false),
            ("", vec![], true),
            ("\n", vec![(1, "")], true),
        ] {
            // A buffer smaller than a line.
            let mut lines = Lines::new(BufReader::with_capacity(1, text.as_bytes()));
            let mut read = Vec::new();
            while let Some((number, line)) = lines.next().unwrap() {
                read.push((number, String::from_utf8(line.to_vec()).unwrap()));
            }
            assert_eq!(read, expected.iter().map(|(number, line)| (*number, (*line).to_owned())).collect::<Vec<_>>(), "{text:?}");
            assert_eq!(lines.whole, whole, "{text:?}");
        }
        let long = vec![b'x'; LONGEST_LINE + 10];
        assert_eq!(Lines::new(long.as_slice()).next().unwrap().unwrap().1.len(), LONGEST_LINE);
    }
}

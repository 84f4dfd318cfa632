//! A file of lines, packed with gzip or not, in; its lines one by one out, with the hash of all
//! bytes that were read.
//!
//! Memory holds one block. A line longer than [`LONGEST`] is given as one that is too long, without
//! its content.

use std::io::{self, BufReader, Read};
use std::path::Path;

use memchr::memchr;
use sha2::{Digest, Sha256};

/// The longest line that is looked at, in bytes.
pub const LONGEST: usize = 64 << 10;
const BLOCK: usize = 1 << 20;

/// A line of a file, and whether it is whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'a> {
    /// Number of the line, counted from 1.
    pub number: u64,
    /// Without its end (`\n` or `\r\n`); empty when it is too long.
    pub bytes: &'a [u8],
    /// Whether a newline ended it, not the file.
    pub ended: bool,
    /// Whether the line is longer than [`LONGEST`].
    pub too_long: bool,
}

/// The lines of a file.
pub struct Lines {
    input: Box<dyn Read>,
    block: Vec<u8>,
    /// What of the block is not given yet.
    start: usize,
    end: usize,
    number: u64,
    /// In a line that is too long, of which the beginning has been thrown away.
    skipping: bool,
    at_end: bool,
    hash: Sha256,
}

impl Lines {
    /// Opens a file; one that is packed is seen by its first bytes.
    ///
    /// # Errors
    /// When it cannot be opened or is no plain file.
    pub fn open(path: &Path) -> io::Result<Self> {
        let mut file = flowmine_files::open_plain(path)?;
        let mut magic = Vec::new();
        Read::by_ref(&mut file).take(3).read_to_end(&mut magic)?;
        let packed = magic.starts_with(&[0x1f, 0x8b]);
        let file = io::Cursor::new(magic).chain(file);
        Ok(if packed { Self::new(flate2::read::MultiGzDecoder::new(BufReader::with_capacity(1 << 16, file))) } else { Self::new(file) })
    }

    /// Reads the lines of anything that can be read.
    pub fn new(input: impl Read + 'static) -> Self {
        Self {
            input: Box::new(input),
            block: vec![0; BLOCK],
            start: 0,
            end: 0,
            number: 0,
            skipping: false,
            at_end: false,
            hash: Sha256::new(),
        }
    }

    /// The next line; `None` at the end.
    ///
    /// # Errors
    /// What the file system or the packer says. What came before stays good.
    pub fn next_line(&mut self) -> io::Result<Option<Line<'_>>> {
        let mut looked = self.start;
        loop {
            if let Some(at) = memchr(b'\n', &self.block[looked..self.end]) {
                let (from, to) = (self.start, looked + at);
                self.start = to + 1;
                return Ok(Some(self.line(from, to, true)));
            }
            if self.at_end {
                if self.start == self.end && !self.skipping {
                    return Ok(None);
                }
                let (from, to) = (self.start, self.end);
                self.start = self.end;
                return Ok(Some(self.line(from, to, false)));
            }
            if self.end - self.start > LONGEST {
                self.skipping = true;
                self.start = self.end;
            }
            self.block.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
            looked = self.end;
            self.fill()?;
        }
    }

    fn line(&mut self, from: usize, to: usize, ended: bool) -> Line<'_> {
        self.number += 1;
        let too_long = std::mem::take(&mut self.skipping) || to - from > LONGEST;
        let bytes = if too_long { &[] } else { &self.block[from..to] };
        let bytes = if ended { bytes.strip_suffix(b"\r").unwrap_or(bytes) } else { bytes };
        // The byte order mark of UTF-8, which editors on Windows write.
        let bytes = if self.number == 1 { bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes) } else { bytes };
        Line { number: self.number, bytes, ended, too_long }
    }

    fn fill(&mut self) -> io::Result<()> {
        loop {
            match self.input.read(&mut self.block[self.end..]) {
                Ok(0) => {
                    self.at_end = true;
                    return Ok(());
                }
                Ok(count) => {
                    self.hash.update(&self.block[self.end..self.end + count]);
                    self.end += count;
                    return Ok(());
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => {
                    // What is in the block is given before; asked again, there is no more.
                    self.at_end = true;
                    return Err(e);
                }
            }
        }
    }

    /// SHA-256 of the bytes that were read, unpacked, in hexadecimal.
    pub fn sha256(&self) -> String {
        self.hash.clone().finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Gives a few bytes a read, as a slow pipe does.
    struct Slow(io::Cursor<Vec<u8>>, usize);

    impl Read for Slow {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let most = self.1.min(into.len());
            self.0.read(&mut into[..most])
        }
    }

    fn lines(bytes: &[u8], step: usize) -> Vec<(Vec<u8>, bool, bool)> {
        let mut lines = Lines::new(Slow(io::Cursor::new(bytes.to_vec()), step));
        let mut all = Vec::new();
        while let Some(line) = lines.next_line().unwrap() {
            all.push((line.bytes.to_vec(), line.ended, line.too_long));
            assert_eq!(line.number, all.len() as u64);
        }
        let hash: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(lines.sha256(), hash, "all bytes were read, once");
        all
    }

    #[test]
    fn ends_of_lines_and_of_the_file() {
        let line = |text: &str, ended| (text.as_bytes().to_vec(), ended, false);
        assert_eq!(lines(b"\xef\xbb\xbfa\r\n\nb\n", 100), [line("a", true), line("", true), line("b", true)]);
        assert_eq!(lines(b"a\nb\r", 1), [line("a", true), line("b\r", false)]);
        assert!(lines(b"", 1).is_empty());
    }

    #[test]
    fn a_line_without_end_does_not_fill_memory() {
        let mut bytes = b"short\n".to_vec();
        bytes.extend(std::iter::repeat_n(b'x', 3 * BLOCK + LONGEST + 1));
        bytes.extend(b"\nafter\n");
        let all = lines(&bytes, 70_000);
        assert_eq!(all.len(), 3);
        assert_eq!((all[1].2, all[1].0.len(), &all[2].0[..]), (true, 0, &b"after"[..]));
    }

    proptest! {
        #[test]
        fn how_it_is_read_does_not_matter(bytes in proptest::collection::vec(prop_oneof![any::<u8>(), Just(b'\n'), Just(b'\r')], 0..200), step in 1usize..20) {
            prop_assert_eq!(lines(&bytes, step), lines(&bytes, 1000));
        }
    }
}

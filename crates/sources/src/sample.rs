//! Samples of files: their first bytes.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;
use flowmine_schema::text::{json_key, visible};

/// Number of bytes of a sample.
const BYTES: usize = 64 << 10;
/// Number of characters of a line that are shown.
const SHOWN: usize = 60;
/// The UTF-8 byte order mark.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// The beginning of a file, unpacked from gzip.
#[derive(Debug)]
pub struct Sample {
    path: PathBuf,
    head: Vec<u8>,
    is_packed: bool,
    is_cut: bool,
}

impl Sample {
    /// Reads a sample of an open file.
    ///
    /// # Errors
    /// When the file cannot be read, or is gzip of which nothing can be unpacked.
    pub fn read(path: PathBuf, file: File) -> io::Result<Self> {
        let mut reader = BufReader::new(file);
        let is_packed = reader.fill_buf()?.starts_with(&[0x1f, 0x8b]);
        let mut head = Vec::new();
        if is_packed {
            let unpacked = MultiGzDecoder::new(reader).take(BYTES as u64).read_to_end(&mut head);
            // What was unpacked before the damage is enough; the reader reports the rest.
            if head.is_empty() {
                unpacked.map_err(|error| io::Error::new(error.kind(), format!("gzip that cannot be unpacked: {error}")))?;
            }
        } else {
            reader.take(BYTES as u64).read_to_end(&mut head)?;
        }
        let is_cut = head.len() == BYTES;
        if head.starts_with(MARK) {
            head.drain(..MARK.len());
        }
        Ok(Self { path, head, is_packed, is_cut })
    }

    /// Path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The first bytes, at most 64 KiB, without a byte order mark.
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// Whether the file can have more than these bytes.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Whether the file is packed with gzip.
    pub fn is_packed(&self) -> bool {
        self.is_packed
    }

    /// The sample as text; bytes that are not UTF-8 are replaced.
    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.head)
    }

    /// The complete lines of the sample; its last line where it is the only one.
    pub fn lines(&self) -> Vec<String> {
        let text = self.text();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        if self.is_cut() && lines.len() > 1 {
            lines.pop();
        }
        lines
    }

    /// The first byte that is not white space.
    pub fn first_byte(&self) -> Option<u8> {
        self.head.iter().copied().find(|byte| !byte.is_ascii_whitespace())
    }

    /// Whether the sample is JSON by its first byte.
    pub fn is_json(&self) -> bool {
        matches!(self.first_byte(), Some(b'{' | b'['))
    }

    /// Those of the names that are keys in the JSON text, at any depth.
    pub fn keys<'n>(&self, names: &[&'n str]) -> Vec<&'n str> {
        names.iter().copied().filter(|name| json_key(&self.head, name).is_some()).collect()
    }

    /// How the file begins, as evidence.
    pub fn beginning(&self) -> String {
        let text = self.text();
        let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
        let mut shown: String = line.chars().take(SHOWN).collect();
        if line.chars().nth(SHOWN).is_some() {
            shown.push('…');
        }
        format!("begins with \"{}\"", visible(&shown))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Write;

    fn sample(bytes: &[u8]) -> io::Result<Sample> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, bytes).unwrap();
        Sample::read(path.clone(), fs::File::open(&path).unwrap())
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn gzip_is_unpacked_as_far_as_it_goes() {
        let text: String = (0..20_000).map(|n| format!("line {n}\n")).collect();
        let packed = gzip(text.as_bytes());
        let whole = sample(&packed).unwrap();
        assert!(whole.is_packed() && whole.head() == &text.as_bytes()[..BYTES]);
        let cut = sample(&packed[..packed.len() / 4]).unwrap();
        assert!(cut.head().starts_with(b"line 0\nline 1\n"));
        let error = sample(&packed[..5]).unwrap_err().to_string();
        assert!(error.starts_with("gzip that cannot be unpacked"), "{error}");
    }

    #[test]
    fn evidence_is_one_short_visible_line() {
        assert_eq!(sample(b"\xef\xbb\xbf\n  a\x1b[2Jb \nc").unwrap().beginning(), "begins with \"a\\x1b[2Jb\"");
        let long = sample("é".repeat(100).as_bytes()).unwrap().beginning();
        assert_eq!(long.chars().filter(|c| *c == 'é').count(), SHOWN);
        assert!(long.ends_with("…\""));
    }

    #[test]
    fn the_last_line_of_a_cut_sample_is_left_out() {
        let text = "0123456789\n".repeat(BYTES / 8);
        assert!(sample(text.as_bytes()).unwrap().lines().iter().all(|line| line.len() == 10));
        assert_eq!(sample(b"a\nb").unwrap().lines(), ["a", "b"]);
    }
}

//! Reads text line by line, compressed or not, with bounded memory.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;
use flowmine_files::{EntryKind, Folder};
use flowmine_schema::diagnostic::{Diagnostic, Diagnostics};
pub use flowmine_schema::text::bounds::Lines;
use flowmine_schema::text::bounds::{self, Packed, UpTo};

/// An entry of a directory.
pub struct Entry {
    pub path: PathBuf,
    pub name: OsString,
    kind: EntryKind,
}

impl Entry {
    /// Whether it is a directory, and no link to one.
    pub fn is_dir(&self) -> bool {
        self.kind == EntryKind::Folder
    }

    /// Whether it is a plain file, and no link to one.
    pub fn is_file(&self) -> bool {
        self.kind == EntryKind::File
    }
}

/// Returns the entries of a directory, sorted by name.
///
/// # Errors
/// When the directory cannot be read.
pub fn entries(dir: &Path) -> io::Result<Vec<Entry>> {
    let opened = Folder::open_listed(dir).map_err(|error| {
        if error.kind() == io::ErrorKind::NotFound || !flowmine_files::is_within(dir) {
            return error;
        }
        let name = dir.file_name().unwrap_or_default();
        io::Error::other(format!("{}: {error}; links in a given directory are not followed", name.display()))
    });
    let listed = opened?.entries(usize::MAX)?.entries;
    Ok(listed.into_iter().map(|entry| Entry { path: dir.join(&entry.name), name: entry.name, kind: entry.kind }).collect())
}

/// Returns the entries of a folder that are not folders, including links.
pub fn files_in(dir: &Path) -> io::Result<Vec<PathBuf>> {
    Ok(entries(dir)?.into_iter().filter(|entry| !entry.is_dir()).map(|entry| entry.path).collect())
}

/// Whether this is a link, a FIFO or a device. In a directory, links are not followed out of the
/// path that the user gave, and FIFOs would block the reader.
pub fn is_no_plain_file(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir())
}

/// Maximum length of a line in bytes; longer ones are left out ([`next_line`]). It suffices for a
/// rule with a hundred thousand files.
const LONGEST_LINE: usize = 16 << 20;
/// Maximum number of bytes read of a file that is always small.
const SMALL: u64 = 1 << 20;
/// Maximum size of a file that is read as a whole, in bytes, uncompressed.
pub const LARGEST_WHOLE: u64 = 256 << 20;

/// Maximum number of tasks in one file; each needs a kilobyte of memory, but perhaps only a few
/// bytes of the file.
const MOST_TASKS: usize = 2_000_000;

/// Maximum total size, in bytes, of the texts of a run or a template that are repeated in the row
/// of each task.
pub const MOST_REPEATED: usize = 256 << 20;

/// Returns an error for a file that exceeds a limit.
pub fn too_large(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, message)
}

/// Fails when there are more tasks than a file may describe.
pub fn not_too_many(tasks: usize) -> io::Result<()> {
    if tasks <= MOST_TASKS {
        return Ok(());
    }
    Err(too_large(format!("it has more than {MOST_TASKS} tasks; split it and import its parts")))
}

/// Opens a regular file without decompression. Opening a FIFO would block until another process
/// writes to it.
pub fn open_plain(path: &Path) -> io::Result<File> {
    Ok(flowmine_files::open_plain(path)?)
}

/// Opens a file, and decompresses gzip up to the maximum size of text.
pub fn open(path: &Path) -> io::Result<Box<dyn BufRead>> {
    let file = open_plain(path)?;
    let mut reader = BufReader::with_capacity(1 << 16, file);
    if reader.fill_buf()?.starts_with(&[0x1f, 0x8b]) {
        let most = Packed { bytes: reader.get_ref().metadata()?.len() }.most();
        return Ok(Box::new(BufReader::with_capacity(1 << 16, UpTo::new(MultiGzDecoder::new(reader), most))));
    }
    Ok(Box::new(reader))
}

/// Returns the first bytes of a file (at most 64 KiB), decompressed.
pub fn head(path: &Path) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    open(path)?.take(1 << 16).read_to_end(&mut head)?;
    Ok(head)
}

/// Returns a whole file as text.
///
/// # Errors
/// When it cannot be read, or is larger than [`LARGEST_WHOLE`].
pub fn whole(path: &Path) -> io::Result<String> {
    let bytes = bounds::read_whole(open(path)?, LARGEST_WHOLE)?;
    // Most texts need no conversion; these are not held twice.
    if let Cow::Owned(text) = flowmine_schema::text::decode(&bytes) {
        return Ok(text);
    }
    String::from_utf8(bytes).map_err(io::Error::other)
}

/// Returns a small file of a directory as text; `None` when there is none.
///
/// # Errors
/// When it cannot be read, or is a link or not a regular file.
pub fn small(path: &Path) -> io::Result<Option<String>> {
    if is_no_plain_file(path) {
        let name = path.file_name().unwrap_or_default();
        return Err(io::Error::other(format!("{} is no plain file", name.display())));
    }
    if !path.try_exists()? {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    open(path)?.take(SMALL).read_to_end(&mut bytes)?;
    Ok(Some(flowmine_schema::text::decode(&bytes).into_owned()))
}

/// Removes the escape sequences that colour a terminal.
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

/// Returns the next line with its number; a line that is too long is skipped with a diagnostic.
///
/// # Errors
/// When the reader fails.
pub fn next_line<'l, R: BufRead>(lines: &'l mut Lines<R>, diagnostics: &mut Diagnostics) -> io::Result<Option<(u64, &'l [u8])>> {
    loop {
        if !lines.advance()? {
            return Ok(None);
        }
        let (number, line) = lines.line();
        if !is_too_long(line) {
            break;
        }
        let message = format!("the line has more than {} MiB and is left out", LONGEST_LINE >> 20);
        diagnostics.push(Diagnostic::error("line_too_long", message).at(number, None));
    }
    Ok(Some(lines.line()))
}

/// Fails when a line was too long, for files of which every line is needed.
pub fn not_too_long(number: u64, line: &[u8]) -> io::Result<()> {
    if is_too_long(line) {
        return Err(too_large(format!("line {number} has more than {} MiB", LONGEST_LINE >> 20)));
    }
    Ok(())
}

fn is_too_long(line: &[u8]) -> bool {
    line.len() >= LONGEST_LINE
}

/// Returns the lines of a text, one at a time; lines that are too long are cut.
pub fn lines<R: BufRead>(reader: R) -> Lines<R> {
    Lines::new(reader, LONGEST_LINE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fifo_is_refused_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("fifo");
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        assert_eq!(open(&path).err().map(|error| error.to_string()).as_deref(), Some("it is not a plain file"));
        assert!(small(&path).is_err() && head(&path).is_err());
    }

    #[test]
    fn lines_and_their_ends() {
        for (text, expected, whole) in [
            ("a\nb\r\n", vec![(1, "a"), (2, "b")], true),
            ("a\n\nb", vec![(1, "a"), (2, ""), (3, "b")], false),
            ("", vec![], true),
            ("\n", vec![(1, "")], true),
        ] {
            // A buffer smaller than a line.
            let mut read_lines = lines(BufReader::with_capacity(1, text.as_bytes()));
            let mut read = Vec::new();
            while let Some((number, line)) = read_lines.next().unwrap() {
                read.push((number, String::from_utf8(line.to_vec()).unwrap()));
            }
            assert_eq!(read, expected.iter().map(|(number, line)| (*number, (*line).to_owned())).collect::<Vec<_>>(), "{text:?}");
            assert_eq!(read_lines.whole, whole, "{text:?}");
        }
        let long = vec![b'x'; LONGEST_LINE + 10];
        let mut cut = lines(long.as_slice());
        let (_, line) = cut.next().unwrap().unwrap();
        assert!(line.len() == LONGEST_LINE && is_too_long(line));
    }
}

//! Sorting more records than fit in memory.
//!
//! The input is records with keys, in any order; the output is the same records by key, any number
//! of times. Records are kept in memory until they take a given number of bytes, then sorted and
//! written to one temporary file, run after run; at the end the runs are merged, in steps where
//! there are very many. Of each run only some bytes and the next key are in memory, and of large
//! records one at a time. Equal keys keep the order in which they came. The file has no name, so
//! that it is gone however the process ends; it lies where `TMPDIR` says, or beside a file that is
//! being written.
//!
//! ```
//! use flowmine_spill::{Sorter, put_ordered};
//!
//! let mut sorter = Sorter::default();
//! for (number, name) in [(7, "seven"), (-1, "minus one"), (3, "three")] {
//!     let mut key = Vec::new();
//!     put_ordered(number, &mut key);
//!     sorter.push(&key, |record| record.extend_from_slice(name.as_bytes()))?;
//! }
//! let sorted = sorter.finish()?;
//! let mut walk = sorted.walk()?;
//! let mut names = Vec::new();
//! while let Some((_, record)) = walk.next()? {
//!     names.push(String::from_utf8_lossy(record).into_owned());
//! }
//! assert_eq!(names, ["minus one", "three", "seven"]);
//! # Ok::<(), flowmine_spill::SpillError>(())
//! ```

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Why records could not be sorted.
#[derive(Debug, thiserror::Error)]
pub enum SpillError {
    /// The temporary file could not be made, written or read; the message says where it was to be.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// What was written a moment ago reads otherwise now.
    #[error("a temporary file was changed or damaged while it was in use")]
    Damaged,
}

/// How many bytes of records a sorter keeps in memory if nothing else is said.
pub const MEMORY: usize = 8 << 20;

/// Bytes that are written at once.
const WRITE_BYTES: usize = 256 << 10;

/// Bytes that the buffers of all runs may have together.
const READ_BYTES: usize = 8 << 20;

/// Runs that are merged at once.
const MOST_RUNS: usize = 256;

#[derive(Clone, Copy)]
struct Entry {
    /// The key's first eight bytes, which nearly always decide.
    prefix: u64,
    start: u32,
    key_end: u32,
    end: u32,
}

/// Takes records and sorts them by key, in a temporary file where they are many.
pub struct Sorter {
    memory: usize,
    /// Where the temporary file goes, if not where `TMPDIR` says.
    dir: Option<PathBuf>,
    arena: Vec<u8>,
    entries: Vec<Entry>,
    spilled: Option<Spilled>,
    count: u64,
}

impl Default for Sorter {
    fn default() -> Self {
        Self::new(MEMORY)
    }
}

impl Sorter {
    /// A sorter that keeps at most this number of bytes in memory; a single record can be larger.
    pub fn new(memory: usize) -> Self {
        let memory = memory.clamp(1 << 10, 1 << 30);
        Self { memory, dir: None, arena: Vec::new(), entries: Vec::new(), spilled: None, count: 0 }
    }

    /// A sorter with its temporary file, if it needs one, in this directory.
    pub fn beside(dir: &Path) -> Self {
        Self { dir: Some(dir.to_owned()), ..Self::default() }
    }

    /// Takes a record: `fill` appends its bytes.
    ///
    /// # Errors
    /// When the temporary file cannot be written, or one record has more than 3 GiB.
    pub fn push(&mut self, key: &[u8], fill: impl FnOnce(&mut Vec<u8>)) -> Result<(), SpillError> {
        if self.arena.len() + self.entries.len() * size_of::<Entry>() >= self.memory {
            self.spill()?;
        }
        let start = self.arena.len();
        self.arena.extend_from_slice(key);
        let key_end = self.arena.len();
        fill(&mut self.arena);
        let mut prefix = [0; 8];
        let known = key.len().min(8);
        prefix[..known].copy_from_slice(&key[..known]);
        let place = |at: usize| u32::try_from(at).map_err(|_| io::Error::other("a record of more than 3 GiB"));
        let entry =
            Entry { prefix: u64::from_be_bytes(prefix), start: place(start)?, key_end: place(key_end)?, end: place(self.arena.len())? };
        self.entries.push(entry);
        self.count += 1;
        Ok(())
    }

    fn sort(&mut self) {
        let arena = &self.arena;
        let key = |e: &Entry| &arena[e.start as usize..e.key_end as usize];
        self.entries.sort_unstable_by(|a, b| a.prefix.cmp(&b.prefix).then_with(|| key(a).cmp(key(b))).then(a.start.cmp(&b.start)));
    }

    fn spill(&mut self) -> Result<(), SpillError> {
        self.sort();
        let spilled = match &mut self.spilled {
            Some(spilled) => spilled,
            none => none.insert(Spilled::new(self.dir.as_deref())?),
        };
        for e in &self.entries {
            let (start, key_end, end) = (e.start as usize, e.key_end as usize, e.end as usize);
            spilled.put(&self.arena[start..key_end], &self.arena[key_end..end])?;
        }
        spilled.end_run()?;
        self.arena.clear();
        // One large record must not make the rest of the work expensive.
        self.arena.shrink_to(2 * self.memory);
        self.entries.clear();
        Ok(())
    }

    /// Sorts what was taken and gives all records in the order of their keys.
    ///
    /// # Errors
    /// When the temporary file cannot be written.
    pub fn finish(mut self) -> Result<Sorted, SpillError> {
        if self.spilled.is_some() && !self.entries.is_empty() {
            self.spill()?;
            self.arena = Vec::new();
        }
        self.sort();
        self.arena.shrink_to_fit();
        let (file, runs) = match self.spilled {
            Some(mut spilled) => {
                while spilled.runs.len() > MOST_RUNS {
                    spilled = spilled.in_fewer_runs(self.dir.as_deref())?;
                }
                (Some(Arc::new(spilled.file)), spilled.runs)
            }
            None => (None, Vec::new()),
        };
        Ok(Sorted { arena: self.arena, entries: self.entries, file, runs, count: self.count })
    }
}

/// Sorted runs in a file: each entry as the lengths of key and record, key, record.
struct Spilled {
    file: File,
    dir: Option<PathBuf>,
    /// Offset in the file at which what is in `out` will be written.
    end: u64,
    out: Vec<u8>,
    begin: u64,
    runs: Vec<(u64, u64)>,
}

impl Spilled {
    fn new(dir: Option<&Path>) -> Result<Self, SpillError> {
        let file = match dir {
            None => temporary()?,
            Some(dir) => tempfile::tempfile_in(dir).map_err(|e| error_in(Some(dir), e))?,
        };
        Ok(Self { file, dir: dir.map(Path::to_owned), end: 0, out: Vec::with_capacity(WRITE_BYTES), begin: 0, runs: Vec::new() })
    }

    fn put(&mut self, key: &[u8], payload: &[u8]) -> Result<(), SpillError> {
        // Both are within an arena that 32 bits can address.
        self.out.extend_from_slice(&(key.len() as u32).to_le_bytes());
        self.out.extend_from_slice(&(payload.len() as u32).to_le_bytes());
        self.out.extend_from_slice(key);
        if payload.len() >= WRITE_BYTES {
            self.write()?;
            self.file.write_all(payload).map_err(|e| error_in(self.dir.as_deref(), e))?;
            self.end += payload.len() as u64;
            return Ok(());
        }
        self.out.extend_from_slice(payload);
        if self.out.len() >= WRITE_BYTES { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> Result<(), SpillError> {
        self.file.write_all(&self.out).map_err(|e| error_in(self.dir.as_deref(), e))?;
        self.end += self.out.len() as u64;
        self.out.clear();
        Ok(())
    }

    fn end_run(&mut self) -> Result<(), SpillError> {
        self.write()?;
        self.runs.push((self.begin, self.end));
        self.begin = self.end;
        Ok(())
    }

    /// The same entries, [`MOST_RUNS`] runs merged into one.
    fn in_fewer_runs(self, dir: Option<&Path>) -> Result<Self, SpillError> {
        let mut merged = Self::new(dir)?;
        let file = Arc::new(self.file);
        for runs in self.runs.chunks(MOST_RUNS) {
            let mut merge = Merge::new(&file, runs)?;
            while let Some((key, payload)) = merge.next()? {
                merged.put(key, payload)?;
            }
            merged.end_run()?;
        }
        Ok(merged)
    }
}

/// A file without a name, where `TMPDIR` says.
///
/// # Errors
/// When it cannot be made there.
pub fn temporary() -> Result<File, SpillError> {
    tempfile::tempfile().map_err(|e| temporary_error(e).into())
}

/// Says that it is the temporary file that is at fault, and what to do.
pub fn temporary_error(error: io::Error) -> io::Error {
    error_in(None, error)
}

fn error_in(dir: Option<&Path>, error: io::Error) -> io::Error {
    let message = match dir {
        Some(dir) => format!("temporary file in {}: {error}; write to a directory with room", dir.display()),
        None => format!("temporary file in {}: {error}; set TMPDIR to a directory with room", std::env::temp_dir().display()),
    };
    io::Error::new(error.kind(), message)
}

/// Records in the order of their keys, in memory or in a temporary file.
pub struct Sorted {
    arena: Vec<u8>,
    entries: Vec<Entry>,
    file: Option<Arc<File>>,
    runs: Vec<(u64, u64)>,
    count: u64,
}

impl Sorted {
    /// Number of records that were sorted.
    pub fn len(&self) -> u64 {
        self.count
    }

    /// Whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Begins to go through the records.
    ///
    /// # Errors
    /// When the temporary file cannot be read.
    pub fn walk(&self) -> Result<Walk<'_>, SpillError> {
        let merge = self.file.as_ref().map(|file| Merge::new(file, &self.runs)).transpose()?;
        Ok(Walk { sorted: self, next: 0, merge })
    }
}

/// Goes through sorted records, from the first to the last.
pub struct Walk<'s> {
    sorted: &'s Sorted,
    /// Place of the next record in memory.
    next: usize,
    merge: Option<Merge>,
}

/// A key and the bytes of its record.
pub type Keyed<'w> = (&'w [u8], &'w [u8]);

impl Walk<'_> {
    /// The next key and bytes.
    ///
    /// # Errors
    /// When the temporary file cannot be read.
    #[expect(clippy::should_implement_trait, reason = "what it gives is borrowed from it")]
    pub fn next(&mut self) -> Result<Option<Keyed<'_>>, SpillError> {
        if let Some(merge) = &mut self.merge {
            return merge.next();
        }
        let Some(e) = self.sorted.entries.get(self.next) else { return Ok(None) };
        self.next += 1;
        let arena = &self.sorted.arena;
        Ok(Some((&arena[e.start as usize..e.key_end as usize], &arena[e.key_end as usize..e.end as usize])))
    }
}

/// Goes through several runs at once.
struct Merge {
    runs: Vec<Run>,
    /// The next key of each run, and its number: of equal keys, what came earlier lies in an
    /// earlier run.
    heap: BinaryHeap<Reverse<(Vec<u8>, usize)>>,
    current: Option<usize>,
}

impl Merge {
    fn new(file: &Arc<File>, runs: &[(u64, u64)]) -> Result<Self, SpillError> {
        let mut merge = Self { runs: Vec::with_capacity(runs.len()), heap: BinaryHeap::new(), current: None };
        // The fewer runs, the larger their buffers.
        let window = (READ_BYTES / runs.len().max(1)).clamp(1 << 12, 1 << 18);
        for (number, &(at, end)) in runs.iter().enumerate() {
            let mut run = Run { file: Arc::clone(file), at, end, buffer: Vec::new(), pos: 0, window, key: 0, payload: 0 };
            if run.advance()? {
                merge.heap.push(Reverse((run.key().to_vec(), number)));
            }
            merge.runs.push(run);
        }
        Ok(merge)
    }

    fn next(&mut self) -> Result<Option<Keyed<'_>>, SpillError> {
        if let Some(number) = self.current.take() {
            let run = &mut self.runs[number];
            if run.advance()? {
                let mut top = self.heap.peek_mut().ok_or(SpillError::Damaged)?;
                // The key's place is used again; setting it lets the heap find its new place.
                let Reverse((key, _)) = &mut *top;
                key.clear();
                key.extend_from_slice(run.key());
            } else {
                self.heap.pop();
            }
        }
        let Some(Reverse((_, number))) = self.heap.peek() else { return Ok(None) };
        self.current = Some(*number);
        let run = &mut self.runs[*number];
        run.load()?;
        Ok(Some((run.key(), run.payload())))
    }
}

struct Run {
    file: Arc<File>,
    /// Offset in the file of the next byte to read.
    at: u64,
    end: u64,
    buffer: Vec<u8>,
    /// Where the current entry's key begins.
    pos: usize,
    window: usize,
    key: usize,
    payload: usize,
}

impl Run {
    fn key(&self) -> &[u8] {
        &self.buffer[self.pos..self.pos + self.key]
    }

    /// The current entry's payload; valid only after [`Run::load`].
    fn payload(&self) -> &[u8] {
        &self.buffer[self.pos + self.key..self.pos + self.key + self.payload]
    }

    /// Bytes from `pos` on that are in the buffer, and all that there are.
    fn left(&self) -> (usize, u64) {
        let have = self.buffer.len() - self.pos;
        (have, have as u64 + (self.end - self.at))
    }

    /// Makes at least `wanted` bytes from `pos` on present.
    fn fill(&mut self, wanted: usize) -> Result<(), SpillError> {
        let (have, left) = self.left();
        if have >= wanted {
            return Ok(());
        }
        if left < wanted as u64 {
            return Err(SpillError::Damaged);
        }
        self.buffer.drain(..self.pos);
        self.pos = 0;
        // A large record is not kept when it has been.
        self.buffer.shrink_to(self.window.max(wanted));
        let more = usize::try_from(self.end - self.at).unwrap_or(usize::MAX).min(self.window.max(wanted - have));
        self.buffer.resize(have + more, 0);
        self.file.read_exact_at(&mut self.buffer[have..], self.at).map_err(|e| io::Error::new(e.kind(), format!("temporary file: {e}")))?;
        self.at += more as u64;
        Ok(())
    }

    /// Goes to the next entry and makes its key present; `false` at the end of the run.
    fn advance(&mut self) -> Result<bool, SpillError> {
        // The record itself may never have been read.
        let entry = self.key + self.payload;
        let (have, _) = self.left();
        self.pos += entry.min(have);
        self.at += (entry - entry.min(have)) as u64;
        (self.key, self.payload) = (0, 0);
        if self.left().1 == 0 {
            self.buffer = Vec::new();
            self.pos = 0;
            return Ok(false);
        }
        self.fill(8)?;
        let number = |bytes: &[u8]| bytes.try_into().map(u32::from_le_bytes).map_err(|_| SpillError::Damaged);
        let (key, payload) = (number(&self.buffer[self.pos..self.pos + 4])?, number(&self.buffer[self.pos + 4..self.pos + 8])?);
        self.pos += 8;
        if u64::from(key) + u64::from(payload) > self.left().1 {
            return Err(SpillError::Damaged);
        }
        self.fill(key as usize)?;
        (self.key, self.payload) = (key as usize, payload as usize);
        Ok(true)
    }

    /// Makes the current record present too.
    fn load(&mut self) -> Result<(), SpillError> {
        self.fill(self.key + self.payload)
    }
}

/// Appends a number so that the order of bytes is the order of numbers.
pub fn put_ordered(number: i64, key: &mut Vec<u8>) {
    key.extend_from_slice(&(number as u64 ^ (1 << 63)).to_be_bytes());
}

/// Appends a text so that the order of bytes is the order of texts, whatever follows.
pub fn put_ordered_text(text: &str, key: &mut Vec<u8>) {
    for &byte in text.as_bytes() {
        key.push(byte);
        if byte == 0 {
            // A zero in the text comes after the end of a shorter text.
            key.push(0xff);
        }
    }
    key.extend_from_slice(&[0, 0]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(sorted: &Sorted) -> Vec<(Vec<u8>, Vec<u8>)> {
        let mut walk = sorted.walk().unwrap();
        let mut out = Vec::new();
        while let Some((key, bytes)) = walk.next().unwrap() {
            out.push((key.to_vec(), bytes.to_vec()));
        }
        out
    }

    #[test]
    fn very_many_runs_are_merged_in_steps() {
        let dir = tempfile::tempdir().unwrap();
        let mut sorter = Sorter { memory: 1 << 10, ..Sorter::beside(dir.path()) };
        let key = |n: u32| (n.wrapping_mul(2_654_435_761) % 97).to_string().into_bytes();
        let mut expected: Vec<_> = (0..20_000_u32).map(|n| (key(n), n.to_be_bytes().to_vec())).collect();
        for (key, value) in &expected {
            sorter.push(key, |out| out.extend_from_slice(value)).unwrap();
        }
        assert!(sorter.spilled.as_ref().unwrap().runs.len() > MOST_RUNS);
        // The file has no name there.
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        let sorted = sorter.finish().unwrap();
        assert!(sorted.runs.len() <= MOST_RUNS);
        expected.sort_by(|a, b| a.0.cmp(&b.0));
        assert_eq!(all(&sorted), expected);
    }

    #[test]
    fn large_records_are_in_memory_one_at_a_time() {
        const LARGE: usize = 1 << 20;
        let mut sorter = Sorter::new(1 << 10);
        for n in (0..40_u8).rev() {
            sorter.push(&[n], |out| out.resize(out.len() + LARGE, n)).unwrap();
            sorter.push(&[n, 0], |out| out.push(n)).unwrap();
        }
        assert!(sorter.arena.capacity() < 4 * LARGE);
        let sorted = sorter.finish().unwrap();
        let mut walk = sorted.walk().unwrap();
        for n in 0..40_u8 {
            let (key, value) = walk.next().unwrap().unwrap();
            assert!(key == [n] && value.len() == LARGE && value.iter().all(|&byte| byte == n));
            assert_eq!(walk.next().unwrap().unwrap(), (&[n, 0][..], &[n][..]));
            let held: usize = walk.merge.as_ref().unwrap().runs.iter().map(|run| run.buffer.capacity()).sum();
            assert!(held < 4 * LARGE + READ_BYTES, "{held}");
        }
        assert!(walk.next().unwrap().is_none());
    }

    #[test]
    fn a_file_that_was_cut_is_an_error() {
        let mut sorter = Sorter::new(1 << 10);
        for n in 0..1000_u32 {
            sorter.push(&n.to_be_bytes(), |out| out.extend([7; 100])).unwrap();
        }
        let sorted = sorter.finish().unwrap();
        sorted.file.as_ref().unwrap().set_len(50_000).unwrap();
        // Some removed bytes are read again as soon as the runs are merged.
        let to_the_end = || -> Result<(), SpillError> {
            let mut walk = sorted.walk()?;
            while walk.next()?.is_some() {}
            Ok(())
        };
        let error = to_the_end().unwrap_err();
        assert!(error.to_string().contains("temporary file"), "{error}");
    }

    #[test]
    fn no_room_is_said() {
        let mut sorter = Sorter { memory: 1 << 10, ..Sorter::beside(Path::new("/nowhere")) };
        let error = (0..1000_u32).find_map(|n| sorter.push(&n.to_be_bytes(), |_| ()).err()).unwrap();
        assert!(error.to_string().starts_with("temporary file in /nowhere: "), "{error}");
    }

    proptest! {
        #[test]
        fn it_is_a_stable_sort(items in proptest::collection::vec((proptest::collection::vec(0..3u8, 0..12), 0..2000usize), 0..60)) {
            let mut expected: Vec<(Vec<u8>, Vec<u8>)> =
                items.iter().enumerate().map(|(at, (key, size))| (key.clone(), vec![at as u8; *size])).collect();
            // 1 KiB makes many runs, 1 MiB none.
            for memory in [1 << 10, 1 << 13, 1 << 20] {
                let mut sorter = Sorter::new(memory);
                for (at, (key, size)) in items.iter().enumerate() {
                    sorter.push(key, |out| out.extend(std::iter::repeat_n(at as u8, *size))).unwrap();
                }
                let sorted = sorter.finish().unwrap();
                expected.sort_by(|a, b| a.0.cmp(&b.0));
                prop_assert_eq!(&all(&sorted), &expected);
                prop_assert_eq!(all(&sorted), all(&sorted));
            }
        }

        #[test]
        fn ordered_bytes(a in any::<i64>(), b in any::<i64>(), s in "[\0a-c]{0,4}", t in "[\0a-c]{0,4}") {
            let key = |number, text: &str| {
                let mut key = Vec::new();
                put_ordered_text(text, &mut key);
                put_ordered(number, &mut key);
                key
            };
            prop_assert_eq!(key(a, &s).cmp(&key(b, &t)), (&s, a).cmp(&(&t, b)));
        }
    }
}

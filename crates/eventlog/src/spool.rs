//! Sorting more records than fit in memory.
//!
//! In go records with keys, in any order; out come the same records by key, as often as wanted. Records are kept in memory until they
//! take [`Sorter::memory`] bytes, then sorted and written to one temporary file, run after run; at the end the runs are merged. Equal keys
//! keep the order in which they came. The file has no name, so that it is gone however the process ends; it lies where `TMPDIR` says.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use crate::error::LogError;
use crate::record::{Batch, BatchBuilder, Record};

/// How many bytes of records a sorter keeps in memory if nothing else is said.
pub const MEMORY: usize = 16 << 20;

#[derive(Clone, Copy)]
struct Entry {
    /// The key's first eight bytes, which nearly always decide.
    prefix: u64,
    start: u32,
    key_end: u32,
    end: u32,
}

/// Takes records.
pub struct Sorter {
    memory: usize,
    arena: Vec<u8>,
    entries: Vec<Entry>,
    spilled: Option<Spilled>,
    count: u64,
}

struct Spilled {
    file: File,
    end: u64,
    runs: Vec<(u64, u64)>,
}

impl Default for Sorter {
    fn default() -> Self {
        Self::new(MEMORY)
    }
}

impl Sorter {
    /// A sorter that keeps so many bytes in memory; a single record can be larger.
    pub fn new(memory: usize) -> Self {
        Self { memory: memory.clamp(1 << 10, 1 << 30), arena: Vec::new(), entries: Vec::new(), spilled: None, count: 0 }
    }

    /// Takes a record: `fill` appends its bytes.
    ///
    /// # Errors
    /// When the temporary file cannot be written, or one record has more than 3 GiB.
    pub fn push(&mut self, key: &[u8], fill: impl FnOnce(&mut Vec<u8>)) -> Result<(), LogError> {
        if self.arena.len() >= self.memory {
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

    /// Takes a record of a log.
    ///
    /// # Errors
    /// As [`Sorter::push`].
    pub fn push_record(&mut self, key: &[u8], record: &Record<'_>) -> Result<(), LogError> {
        self.push(key, |out| record.encode(out))
    }

    fn sort(&mut self) {
        let arena = &self.arena;
        let key = |e: &Entry| &arena[e.start as usize..e.key_end as usize];
        self.entries.sort_unstable_by(|a, b| a.prefix.cmp(&b.prefix).then_with(|| key(a).cmp(key(b))).then(a.start.cmp(&b.start)));
    }

    fn spill(&mut self) -> Result<(), LogError> {
        self.sort();
        let spilled = match &mut self.spilled {
            Some(spilled) => spilled,
            none => none.insert(Spilled { file: temporary()?, end: 0, runs: Vec::new() }),
        };
        let start = spilled.end;
        let mut out = Vec::with_capacity(1 << 18);
        for e in &self.entries {
            let (key, payload) = (e.key_end - e.start, e.end - e.key_end);
            out.extend_from_slice(&key.to_le_bytes());
            out.extend_from_slice(&payload.to_le_bytes());
            out.extend_from_slice(&self.arena[e.start as usize..e.end as usize]);
            if out.len() >= 1 << 18 {
                spilled.put(&mut out)?;
            }
        }
        spilled.put(&mut out)?;
        spilled.runs.push((start, spilled.end));
        self.arena.clear();
        self.entries.clear();
        Ok(())
    }

    /// Everything in order.
    ///
    /// # Errors
    /// When the temporary file cannot be written.
    pub fn finish(mut self) -> Result<Sorted, LogError> {
        if self.spilled.is_some() && !self.entries.is_empty() {
            self.spill()?;
            self.arena = Vec::new();
        }
        self.sort();
        self.arena.shrink_to_fit();
        let (file, runs) = match self.spilled {
            Some(spilled) => (Some(Arc::new(spilled.file)), spilled.runs),
            None => (None, Vec::new()),
        };
        Ok(Sorted { arena: self.arena, entries: self.entries, file, runs, count: self.count })
    }
}

impl Spilled {
    fn put(&mut self, out: &mut Vec<u8>) -> Result<(), LogError> {
        self.file.write_all(out).map_err(temporary_error)?;
        self.end += out.len() as u64;
        out.clear();
        Ok(())
    }
}

/// A file without a name, where `TMPDIR` says.
///
/// # Errors
/// When it cannot be made there.
pub fn temporary() -> Result<File, LogError> {
    tempfile::tempfile().map_err(|e| temporary_error(e).into())
}

/// Says that it is the temporary file that is at fault, and what to do.
pub fn temporary_error(error: io::Error) -> io::Error {
    let dir = std::env::temp_dir();
    io::Error::new(error.kind(), format!("temporary file in {}: {error}; set TMPDIR to a directory with room", dir.display()))
}

/// Records by key.
pub struct Sorted {
    arena: Vec<u8>,
    entries: Vec<Entry>,
    file: Option<Arc<File>>,
    runs: Vec<(u64, u64)>,
    count: u64,
}

impl Sorted {
    /// How many records there are.
    pub fn len(&self) -> u64 {
        self.count
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Calls `each` with key and bytes of every record in order, until it returns `false`.
    ///
    /// # Errors
    /// When the temporary file cannot be read.
    pub fn walk(&self) -> Result<Walk<'_>, LogError> {
        let mut walk = Walk { sorted: self, next: 0, runs: Vec::new(), heap: BinaryHeap::new(), current: None };
        if let Some(file) = &self.file {
            // The fewer runs, the larger their buffers.
            let buffer = ((8 << 20) / self.runs.len().max(1)).clamp(1 << 12, 1 << 18);
            for (number, &(start, end)) in self.runs.iter().enumerate() {
                let mut run = Run { file: Arc::clone(file), at: start, end, buffer: Vec::new(), pos: 0, size: buffer, key: 0, payload: 0 };
                if run.advance()? {
                    walk.heap.push(Reverse((run.key().to_vec(), number)));
                }
                walk.runs.push(run);
            }
        }
        Ok(walk)
    }

    /// The records as batches; `change` may write another form of a record's bytes and otherwise leaves them to be copied by returning `false`.
    pub fn batches<'s>(&'s self, mut change: impl FnMut(&[u8], &mut Vec<u8>) -> bool + Send + 's) -> crate::Batches<'s> {
        let mut walk = None;
        let mut builder = Some(BatchBuilder::default());
        let mut scratch = Vec::new();
        let mut next = move || -> Result<Option<Batch>, LogError> {
            let walk = match &mut walk {
                Some(walk) => walk,
                none => none.insert(self.walk()?),
            };
            let Some(filling) = &mut builder else { return Ok(None) };
            while let Some((_, bytes)) = walk.next()? {
                scratch.clear();
                let changed = change(bytes, &mut scratch);
                if let Some(batch) = filling.push_piece(if changed { &scratch } else { bytes }) {
                    return Ok(Some(batch));
                }
            }
            Ok(builder.take().and_then(BatchBuilder::finish))
        };
        let mut failed = false;
        Box::new(std::iter::from_fn(move || {
            if failed {
                return None;
            }
            let result = next().transpose();
            failed = matches!(result, Some(Err(_)));
            result
        }))
    }
}

/// Goes through sorted records.
pub struct Walk<'s> {
    sorted: &'s Sorted,
    next: usize,
    runs: Vec<Run>,
    heap: BinaryHeap<Reverse<(Vec<u8>, usize)>>,
    current: Option<usize>,
}

impl Walk<'_> {
    /// The next key and bytes.
    ///
    /// # Errors
    /// When the temporary file cannot be read.
    #[expect(clippy::should_implement_trait, reason = "what it gives is borrowed from it")]
    pub fn next(&mut self) -> Result<Option<(&[u8], &[u8])>, LogError> {
        if self.runs.is_empty() {
            let Some(e) = self.sorted.entries.get(self.next) else { return Ok(None) };
            self.next += 1;
            let arena = &self.sorted.arena;
            return Ok(Some((&arena[e.start as usize..e.key_end as usize], &arena[e.key_end as usize..e.end as usize])));
        }
        if let Some(number) = self.current.take() {
            let run = &mut self.runs[number];
            if run.advance()? {
                let mut top = self.heap.peek_mut().ok_or(LogError::Damaged)?;
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
        let run = &self.runs[*number];
        Ok(Some((run.key(), run.payload())))
    }
}

struct Run {
    file: Arc<File>,
    at: u64,
    end: u64,
    buffer: Vec<u8>,
    pos: usize,
    size: usize,
    key: usize,
    payload: usize,
}

impl Run {
    fn key(&self) -> &[u8] {
        &self.buffer[self.pos - self.payload - self.key..self.pos - self.payload]
    }

    fn payload(&self) -> &[u8] {
        &self.buffer[self.pos - self.payload..self.pos]
    }

    /// Makes at least `wanted` bytes from `pos` on present; `false` at the end of the run.
    fn fill(&mut self, wanted: usize) -> Result<bool, LogError> {
        let have = self.buffer.len() - self.pos;
        if have >= wanted {
            return Ok(true);
        }
        let left = self.end - self.at;
        if have == 0 && left == 0 {
            return Ok(false);
        }
        self.buffer.drain(..self.pos);
        self.pos = 0;
        let more = usize::try_from(left).unwrap_or(usize::MAX).min(self.size.max(wanted - have));
        self.buffer.resize(have + more, 0);
        self.file.read_exact_at(&mut self.buffer[have..], self.at).map_err(temporary_error)?;
        self.at += more as u64;
        if self.buffer.len() >= wanted { Ok(true) } else { Err(LogError::Damaged) }
    }

    fn advance(&mut self) -> Result<bool, LogError> {
        if !self.fill(8)? {
            return Ok(false);
        }
        let number = |bytes: &[u8]| bytes.try_into().map(u32::from_le_bytes).map_err(|_| LogError::Damaged);
        let (key, payload) = (number(&self.buffer[self.pos..self.pos + 4])?, number(&self.buffer[self.pos + 4..self.pos + 8])?);
        (self.key, self.payload) = (key as usize, payload as usize);
        self.pos += 8;
        let length = self.key + self.payload;
        if length > 0 && !self.fill(length)? {
            return Err(LogError::Damaged);
        }
        self.pos += length;
        Ok(true)
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

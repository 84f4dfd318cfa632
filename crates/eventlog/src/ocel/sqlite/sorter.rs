//! Keys with values in, the same by key out, in bounded memory: what does not fit waits in a temporary file.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::env;
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::LogError;

/// Bytes that a sorter holds before it writes a run.
const RUN_BYTES: usize = 24 << 20;
/// Bytes that are read of a run at once; less when there are many runs.
const READ_BYTES: usize = 256 << 10;
/// Bytes that all runs' buffers may have together.
const MERGE_BYTES: usize = 24 << 20;
/// Runs that are merged at once; more are merged in steps.
const MOST_RUNS: usize = 256;

/// Sorts by key; what has the same key stays in the order in which it came.
pub struct Sorter {
    dir: PathBuf,
    bytes: Vec<u8>,
    /// Start, end of the key, end.
    entries: Vec<(usize, usize, usize)>,
    spill: Option<Spill>,
    run_bytes: usize,
}

struct Spill {
    file: File,
    /// Start and end of each run.
    runs: Vec<(u64, u64)>,
    end: u64,
}

impl Sorter {
    /// A sorter whose temporary file, if it needs one, is in this directory.
    pub fn beside(dir: &Path) -> Self {
        Self { dir: dir.to_owned(), bytes: Vec::new(), entries: Vec::new(), spill: None, run_bytes: RUN_BYTES }
    }

    /// A sorter whose temporary file is where the system has them.
    pub fn temporary() -> Self {
        Self::beside(&env::temp_dir())
    }

    #[cfg(test)]
    fn with_run_bytes(mut self, bytes: usize) -> Self {
        self.run_bytes = bytes;
        self
    }

    /// Adds an entry.
    ///
    /// # Errors
    /// When the temporary file cannot be written.
    pub fn push(&mut self, key: &[u8], value: &[u8]) -> Result<(), LogError> {
        self.push_parts(&[key], value)
    }

    /// Adds an entry whose key is these parts one after the other.
    ///
    /// # Errors
    /// When the temporary file cannot be written.
    pub fn push_parts(&mut self, key: &[&[u8]], value: &[u8]) -> Result<(), LogError> {
        let start = self.bytes.len();
        key.iter().for_each(|part| self.bytes.extend_from_slice(part));
        let key_end = self.bytes.len();
        self.bytes.extend_from_slice(value);
        self.entries.push((start, key_end, self.bytes.len()));
        if self.bytes.len() + self.entries.len() * size_of::<(usize, usize, usize)>() >= self.run_bytes {
            self.write_run()?;
        }
        Ok(())
    }

    fn sort(&mut self) {
        let bytes = &self.bytes;
        let key = |entry: &(usize, usize, usize)| bytes.get(entry.0..entry.1).unwrap_or_default();
        if !self.entries.is_sorted_by(|a, b| key(a) <= key(b)) {
            // Starts ascend in the order of arrival, so an unstable sort by both is stable.
            self.entries.sort_unstable_by(|a, b| key(a).cmp(key(b)).then(a.0.cmp(&b.0)));
        }
    }

    fn write_run(&mut self) -> Result<(), LogError> {
        self.sort();
        let mut spill = match self.spill.take() {
            Some(spill) => spill,
            None => Spill { file: unnamed(&self.dir)?, runs: Vec::new(), end: 0 },
        };
        let start = spill.end;
        spill.file.seek(SeekFrom::Start(start))?;
        let mut out = BufWriter::with_capacity(READ_BYTES, &spill.file);
        for &(start, key_end, end) in &self.entries {
            let entry = self.bytes.get(start..end).unwrap_or_default();
            spill.end += write_entry(&mut out, key_end - start, entry)?;
        }
        out.flush()?;
        drop(out);
        spill.runs.push((start, spill.end));
        self.spill = Some(spill);
        self.bytes.clear();
        self.entries.clear();
        Ok(())
    }

    /// All entries by key.
    ///
    /// # Errors
    /// When the temporary file cannot be written or read.
    pub fn finish(mut self) -> Result<Sorted, LogError> {
        if self.spill.is_none() {
            self.sort();
            return Ok(Sorted { memory: self.bytes, entries: self.entries.into_iter(), merge: None, current: (0, 0, 0) });
        }
        if !self.entries.is_empty() {
            self.write_run()?;
        }
        let dir = self.dir;
        let Some(mut spill) = self.spill else { return Err(LogError::Damaged) };
        self.bytes = Vec::new();
        self.entries = Vec::new();
        while spill.runs.len() > MOST_RUNS {
            let mut merged = Spill { file: unnamed(&dir)?, runs: Vec::new(), end: 0 };
            for runs in spill.runs.chunks(MOST_RUNS) {
                let start = merged.end;
                let mut out = BufWriter::with_capacity(READ_BYTES, &merged.file);
                let mut merge = Merge::of(runs);
                while merge.step(&mut spill.file)? {
                    merged.end += write_entry(&mut out, merge.key_bytes, &merge.entry)?;
                }
                out.flush()?;
                drop(out);
                merged.runs.push((start, merged.end));
            }
            spill = merged;
        }
        let merge = Merge::of(&spill.runs);
        Ok(Sorted { memory: Vec::new(), entries: Vec::new().into_iter(), merge: Some((spill.file, merge)), current: (0, 0, 0) })
    }
}

fn write_entry(out: &mut impl Write, key_bytes: usize, entry: &[u8]) -> Result<u64, LogError> {
    out.write_all(&(entry.len() as u64).to_le_bytes())?;
    out.write_all(&(key_bytes as u64).to_le_bytes())?;
    out.write_all(entry)?;
    Ok(16 + entry.len() as u64)
}

/// A file that nobody else can find and that is gone when it is closed.
fn unnamed(dir: &Path) -> Result<File, LogError> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    loop {
        let name = format!(".flowmine-{}-{}.tmp", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = dir.join(name);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        match options.open(&path) {
            Ok(file) => {
                std::fs::remove_file(&path)?;
                return Ok(file);
            }
            // From a killed process that had this id.
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => {
                return Err(LogError::Io(std::io::Error::new(error.kind(), format!("temporary file in {}: {error}", dir.display()))));
            }
        }
    }
}

/// A key and its value.
type Entry = (Vec<u8>, Vec<u8>);

struct Run {
    at: u64,
    end: u64,
    buffer: Vec<u8>,
    used: usize,
    window: usize,
}

impl Run {
    fn fill(&mut self, file: &mut File, wanted: usize) -> Result<(), LogError> {
        if self.buffer.len() - self.used >= wanted {
            return Ok(());
        }
        self.buffer.drain(..self.used);
        self.used = 0;
        let have = self.buffer.len();
        let left = usize::try_from(self.end - self.at).unwrap_or(usize::MAX);
        let more = left.min(self.window.max(wanted).saturating_sub(have));
        if have + more < wanted {
            return Err(LogError::Damaged);
        }
        self.buffer.resize(have + more, 0);
        file.seek(SeekFrom::Start(self.at))?;
        file.read_exact(self.buffer.get_mut(have..).unwrap_or_default())?;
        self.at += more as u64;
        Ok(())
    }

    fn number(&mut self) -> Result<usize, LogError> {
        let bytes = self.buffer.get(self.used..self.used + 8).ok_or(LogError::Damaged)?;
        self.used += 8;
        usize::try_from(u64::from_le_bytes(bytes.try_into().map_err(|_| LogError::Damaged)?)).map_err(|_| LogError::Damaged)
    }

    /// The next entry's key and value.
    fn next(&mut self, file: &mut File) -> Result<Option<Entry>, LogError> {
        if self.at == self.end && self.used == self.buffer.len() {
            return Ok(None);
        }
        self.fill(file, 16)?;
        let (bytes, key) = (self.number()?, self.number()?);
        self.fill(file, bytes)?;
        let entry = self.buffer.get(self.used..self.used + bytes).ok_or(LogError::Damaged)?;
        let (key, value) = entry.split_at_checked(key).ok_or(LogError::Damaged)?;
        let both = (key.to_vec(), value.to_vec());
        self.used += bytes;
        Ok(Some(both))
    }
}

/// Key, number of the run, value: of one key, what came earlier lies in an earlier run.
type Head = (Vec<u8>, usize, Vec<u8>);

struct Merge {
    runs: Vec<Run>,
    /// The next entry of each run.
    heap: BinaryHeap<Reverse<Head>>,
    started: bool,
    entry: Vec<u8>,
    key_bytes: usize,
}

impl Merge {
    fn of(runs: &[(u64, u64)]) -> Self {
        let window = (MERGE_BYTES / runs.len().max(1)).min(READ_BYTES);
        let run = |&(at, end): &(u64, u64)| Run { at, end, buffer: Vec::new(), used: 0, window };
        let runs = runs.iter().map(run).collect();
        Self { runs, heap: BinaryHeap::new(), started: false, entry: Vec::new(), key_bytes: 0 }
    }

    fn step(&mut self, file: &mut File) -> Result<bool, LogError> {
        if !self.started {
            self.started = true;
            for (number, run) in self.runs.iter_mut().enumerate() {
                if let Some((key, value)) = run.next(file)? {
                    self.heap.push(Reverse((key, number, value)));
                }
            }
        }
        let Some(Reverse((key, number, value))) = self.heap.pop() else { return Ok(false) };
        self.entry.clear();
        self.entry.extend_from_slice(&key);
        self.entry.extend_from_slice(&value);
        self.key_bytes = key.len();
        if let Some(run) = self.runs.get_mut(number)
            && let Some((key, value)) = run.next(file)?
        {
            self.heap.push(Reverse((key, number, value)));
        }
        Ok(true)
    }
}

/// A key and its value.
pub type Borrowed<'a> = (&'a [u8], &'a [u8]);

/// Entries by key.
pub struct Sorted {
    memory: Vec<u8>,
    entries: std::vec::IntoIter<(usize, usize, usize)>,
    merge: Option<(File, Merge)>,
    current: (usize, usize, usize),
}

impl Sorted {
    /// The next entry's key and value.
    ///
    /// # Errors
    /// When the temporary file cannot be read.
    #[allow(clippy::should_implement_trait, reason = "the entries are borrowed and can fail")]
    pub fn next(&mut self) -> Result<Option<Borrowed<'_>>, LogError> {
        if let Some((file, merge)) = &mut self.merge {
            return Ok(if merge.step(file)? {
                Some(merge.entry.split_at_checked(merge.key_bytes).ok_or(LogError::Damaged)?)
            } else {
                None
            });
        }
        let Some(entry) = self.entries.next() else { return Ok(None) };
        self.current = entry;
        let (start, key_end, end) = entry;
        Ok(Some((self.memory.get(start..key_end).ok_or(LogError::Damaged)?, self.memory.get(key_end..end).ok_or(LogError::Damaged)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(count: u32, run_bytes: usize) -> Vec<(Vec<u8>, Vec<u8>)> {
        let mut sorter = Sorter::temporary().with_run_bytes(run_bytes);
        for n in 0..count {
            let key = format!("{}", n.wrapping_mul(2_654_435_761) % 97);
            sorter.push(key.as_bytes(), &n.to_be_bytes()).unwrap();
        }
        let mut sorted = sorter.finish().unwrap();
        let mut all = Vec::new();
        while let Some((key, value)) = sorted.next().unwrap() {
            all.push((key.to_vec(), value.to_vec()));
        }
        all
    }

    #[test]
    fn it_is_a_stable_sort_however_many_runs() {
        let mut expected: Vec<_> =
            (0..5000_u32).map(|n| (format!("{}", n.wrapping_mul(2_654_435_761) % 97).into_bytes(), n.to_be_bytes().to_vec())).collect();
        expected.sort_by(|a, b| a.0.cmp(&b.0));
        // In memory, in three runs, in 5000 runs that are merged in steps.
        for run_bytes in [usize::MAX, 60_000, 1] {
            assert_eq!(sorted(5000, run_bytes), expected);
        }
        assert!(sorted(0, 1).is_empty());
    }
}

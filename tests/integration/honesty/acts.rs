//! Made programs that fork, duplicate descriptors, rename, truncate and delete, and what a model
//! of the kernel's files says of them.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

/// Names of files that programs use.
const NAMES: [&str; 3] = ["one", "two", "three"];
/// Descriptors that a program has at most at once.
const SLOTS: usize = 4;

/// What a task did to a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Done {
    pub opens: i64,
    pub read_calls: i64,
    pub write_calls: i64,
    pub read_bytes: i64,
    pub written_bytes: i64,
    pub read_offsets: BTreeSet<i64>,
    pub written_offsets: BTreeSet<i64>,
}

#[derive(Debug, Default)]
struct File {
    size: i64,
    /// Of the present version, with their bytes: one that made or truncated it has none.
    writers: BTreeMap<usize, i64>,
    /// Of the present version, also those that were at its end.
    readers: BTreeSet<usize>,
}

/// An open file description (open(2)): its offset is shared by all descriptors of it.
#[derive(Debug)]
struct Description {
    file: usize,
    offset: i64,
    reads: bool,
    writes: bool,
    appends: bool,
}

/// A file that nothing but a process's first step uses.
const START: &str = "start";

/// Files and what became of them.
#[derive(Debug, Default)]
pub struct Model {
    /// Whether each process begins by opening a file: an overlay knows processes by what they do
    /// in it, and nothing of what is below one that does nothing there (`docs/tracing.md`).
    starts_with_use: bool,
    files: Vec<File>,
    names: BTreeMap<&'static str, usize>,
    descriptions: Vec<Description>,
    /// The file of each open, in the order of opens.
    pub opened: Vec<usize>,
    /// By task and file.
    pub done: BTreeMap<(usize, usize), Done>,
    /// Writer, reader and file, where the reader read a version that the writer had written to.
    pub flows: BTreeSet<(usize, usize, usize)>,
    /// Task and file of reads that go through the page cache and move bytes: an overlay cannot
    /// record them.
    pub unseen: BTreeSet<(usize, usize)>,
}

/// Numbers from which a step is made that is possible where it stands.
pub type Draw = (u8, u8, u8, u16);

/// The numbers of some programs.
pub fn draws() -> impl Strategy<Value = Vec<Vec<Draw>>> {
    let draw = (0u8..17, 0u8..4, 0u8..8, 1u16..3000);
    prop::collection::vec(prop::collection::vec(draw, 20..60), 3..6)
}

impl Model {
    /// An empty directory; whether each process begins by opening a file.
    pub fn new(starts_with_use: bool) -> Self {
        Self { starts_with_use, ..Self::default() }
    }

    /// Makes a program of numbers, does what it does, and returns its arguments.
    pub fn program(&mut self, task: usize, draws: &[Draw]) -> Vec<String> {
        let mut words = Vec::new();
        let mut slots = [None; SLOTS];
        let mut draws = draws.iter();
        self.steps(task, &mut draws, &mut slots, &mut words, 0);
        words
    }

    fn steps(
        &mut self,
        task: usize,
        draws: &mut std::slice::Iter<'_, Draw>,
        slots: &mut [Option<usize>; SLOTS],
        words: &mut Vec<String>,
        depth: u32,
    ) {
        if self.starts_with_use {
            let file = self.names.get(START).copied().unwrap_or_else(|| self.create(START));
            self.open(task, file, "rwc");
            words.extend(["open", "9", START, "rwc", "close", "9"].map(str::to_owned));
        }
        while let Some(&(step, slot, choice, size)) = draws.next() {
            let slot = usize::from(slot);
            let (name, size) = (NAMES[usize::from(choice) % NAMES.len()], i64::from(size));
            let mut say = |parts: &[&dyn ToString]| words.extend(parts.iter().map(|part| part.to_string()));
            let there = self.names.get(name).copied();
            match (step, slots[slot]) {
                (0..=3, None) => {
                    let flags = ["r", "rw", "r", "wa", "wct", "rwc", "wca", "r"][usize::from(choice)];
                    let Some(file) = there.or_else(|| flags.contains('c').then(|| self.create(name))) else { continue };
                    say(&[&"open", &slot, &name, &flags]);
                    slots[slot] = Some(self.open(task, file, flags));
                }
                (0 | 1, Some(_)) => {
                    say(&[&"close", &slot]);
                    slots[slot] = None;
                }
                (4..=5, Some(at)) if self.descriptions[at].reads => {
                    say(&[&"read", &slot, &size]);
                    let offset = self.descriptions[at].offset;
                    self.descriptions[at].offset += self.read(task, at, offset, size);
                }
                (6, Some(at)) if self.descriptions[at].reads => {
                    say(&[&"pread", &slot, &(size / 2), &size]);
                    self.read(task, at, size / 2, size);
                }
                (7..=9, Some(at)) if self.descriptions[at].writes => {
                    say(&[&"write", &slot, &size]);
                    let end = self.files[self.descriptions[at].file].size;
                    let offset = if self.descriptions[at].appends { end } else { self.descriptions[at].offset };
                    self.write(task, at, offset, size);
                    self.descriptions[at].offset = offset + size;
                }
                (10, Some(at)) if self.descriptions[at].writes && !self.descriptions[at].appends => {
                    say(&[&"pwrite", &slot, &(size / 3), &size]);
                    self.write(task, at, size / 3, size);
                }
                (11, Some(at)) => {
                    let other = (slot + 1) % SLOTS;
                    if slots[other].is_none() {
                        say(&[&"dup", &slot, &other]);
                        slots[other] = Some(at);
                    }
                }
                (16, Some(at)) if self.descriptions[at].reads => {
                    let other = (slot + 1 + usize::from(choice) % (SLOTS - 1)) % SLOTS;
                    let Some(to) = slots[other].filter(|to| self.may_send(at, *to)) else { continue };
                    say(&[&"send", &slot, &other, &size]);
                    self.unseen.insert((task, self.descriptions[at].file));
                    let (from, offset) = (self.descriptions[at].offset, self.descriptions[to].offset);
                    let got = self.read(task, at, from, size);
                    self.write(task, to, offset, got);
                    self.descriptions[at].offset += got;
                    self.descriptions[to].offset += got;
                }
                (12, Some(at)) if self.descriptions[at].writes => {
                    say(&[&"size", &slot, &size]);
                    let file = self.descriptions[at].file;
                    self.files[file].size = size;
                    self.files[file].changes(task, 0);
                }
                (13, _) => {
                    let other = NAMES[(usize::from(choice) + 1 + slot % 2) % NAMES.len()];
                    if let Some(file) = there.filter(|_| other != name) {
                        say(&[&"rename", &name, &other]);
                        self.names.remove(name);
                        self.names.insert(other, file);
                    }
                }
                (14, _) if there.is_some() && choice < 3 => {
                    say(&[&"unlink", &name]);
                    self.names.remove(name);
                }
                (15, _) if depth < 3 => {
                    say(&[&"fork"]);
                    // Descriptors are the child's own, descriptions are not.
                    let mut own = *slots;
                    let few = usize::from(choice) + 2;
                    let rest = draws.as_slice();
                    let (inner, after) = rest.split_at(few.min(rest.len()));
                    self.steps(task, &mut inner.iter(), &mut own, words, depth + 1);
                    *draws = after.iter();
                    words.push("done".to_owned());
                }
                _ => {}
            }
        }
    }

    /// sendfile(2) refuses a file that is appended to. Within one file it is another matter, and an
    /// overlay has no rows of a transfer of no bytes.
    fn may_send(&self, from: usize, to: usize) -> bool {
        let (from, to) = (&self.descriptions[from], &self.descriptions[to]);
        to.writes && !to.appends && from.file != to.file && from.offset < self.files[from.file].size
    }

    fn create(&mut self, name: &'static str) -> usize {
        self.files.push(File::default());
        self.names.insert(name, self.files.len() - 1);
        self.files.len() - 1
    }

    fn open(&mut self, task: usize, file: usize, flags: &str) -> usize {
        self.opened.push(file);
        self.done.entry((task, file)).or_default().opens += 1;
        let is_made = flags.contains('c') && !self.opened[..self.opened.len() - 1].contains(&file);
        if flags.contains('t') || is_made {
            self.files[file].size = 0;
            self.files[file].changes(task, 0);
        }
        let is = |flag| flags.contains(flag);
        self.descriptions.push(Description { file, offset: 0, reads: is('r'), writes: is('w'), appends: is('a') });
        self.descriptions.len() - 1
    }

    fn read(&mut self, task: usize, at: usize, offset: i64, size: i64) -> i64 {
        let file = self.descriptions[at].file;
        let got = size.min((self.files[file].size - offset).max(0));
        let done = self.done.entry((task, file)).or_default();
        done.read_calls += 1;
        done.read_bytes += got;
        done.read_offsets.extend(offset..offset + got);
        let File { writers, readers, .. } = &mut self.files[file];
        readers.insert(task);
        if got > 0 {
            let others = writers.iter().filter(|(writer, bytes)| **writer != task && **bytes > 0);
            self.flows.extend(others.map(|(writer, _)| (*writer, task, file)));
        }
        got
    }

    fn write(&mut self, task: usize, at: usize, offset: i64, size: i64) {
        let file = self.descriptions[at].file;
        let done = self.done.entry((task, file)).or_default();
        done.write_calls += 1;
        done.written_bytes += size;
        done.written_offsets.extend(offset..offset + size);
        self.files[file].size = self.files[file].size.max(offset + size);
        self.files[file].changes(task, size);
    }
}

impl File {
    /// A version begins with the first change after another than its only writer has read it, or by
    /// another than its only writer after that has read it.
    fn changes(&mut self, task: usize, bytes: i64) {
        let only = self.writers.keys().next().filter(|_| self.writers.len() == 1).copied();
        if self.readers.iter().chain([&task]).any(|other| Some(*other) != only) && !self.readers.is_empty() {
            self.readers.clear();
            self.writers.clear();
        }
        *self.writers.entry(task).or_default() += bytes;
    }
}

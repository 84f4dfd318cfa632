//! The workflow of `tests/workflows/tasks.tsv` and what is known of it before it runs: which bytes
//! each attempt at a task reads and writes, and which version of a file goes from whom to whom. It
//! is known from the arguments of `work` (`tests/workflows/work.c`) alone.

use std::collections::BTreeMap;

/// A task as `tasks.tsv` tells it.
#[derive(Debug, Clone)]
pub struct Task {
    pub name: String,
    pub inputs: Vec<String>,
    pub outputs: Vec<String>,
    /// The words after the task's name on the command line of `work`.
    pub steps: String,
}

/// An attempt at a task: its name and a number from 1.
pub type Attempt = (String, usize);

/// What an attempt does to one file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Access {
    pub opens: i64,
    pub read_calls: i64,
    pub read_bytes: i64,
    pub unique_read_bytes: i64,
    pub write_calls: i64,
    pub written_bytes: i64,
    pub unique_written_bytes: i64,
}

/// A row of `data_flow`, without times and phases. A task that reads what it wrote itself is in it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    pub file: String,
    pub version: i64,
    pub origin: &'static str,
    pub writer: Option<Attempt>,
    pub written_bytes: i64,
    pub reader: Option<Attempt>,
    pub read_bytes: i64,
}

/// All that is known beforehand. Files are called by their names without directories, which differ.
#[derive(Debug, Default)]
pub struct Known {
    pub accesses: BTreeMap<Attempt, BTreeMap<String, Access>>,
    pub flow: Vec<Edge>,
}

/// Files that are there before the run, and their sizes.
pub const EXTERNAL: [(&str, usize); 2] = [("in.dat", 50_000), ("ref.dat", 30_000)];

/// The tasks of `tests/workflows/tasks.tsv`.
pub fn tasks() -> Vec<Task> {
    let text = include_str!("../../workflows/tasks.tsv");
    let words = |field: &str| field.split(' ').map(str::to_owned).collect();
    let task = |line: &str| {
        let mut fields = line.split('\t');
        let mut next = || fields.next().unwrap_or_else(|| panic!("four fields: {line}"));
        Task { name: next().to_owned(), inputs: words(next()), outputs: words(next()), steps: next().to_owned() }
    };
    text.lines().filter(|line| !line.starts_with('#')).map(task).collect()
}

/// What happens when the tasks run one after the other, starting with files of these sizes.
pub fn known(tasks: &[Task], external: &[(&str, usize)]) -> Known {
    let mut run = Run::default();
    for &(name, size) in external {
        run.files.insert(name.to_owned(), File { size, ..File::default() });
    }
    for task in tasks {
        let mut attempt = (task.name.clone(), 1);
        while !run.attempt(&attempt, &task.steps) {
            attempt.1 += 1;
        }
    }
    let mut known = Known::default();
    for (attempt, files) in run.marks {
        known.accesses.insert(attempt, files.into_iter().map(|(name, marks)| (name, marks.access())).collect());
    }
    for (name, file) in run.files {
        for (number, version) in file.versions.iter().enumerate() {
            known.flow.extend(version.edges(&name, number as i64));
        }
    }
    known.flow.sort();
    known
}

#[derive(Default)]
struct Run {
    files: BTreeMap<String, File>,
    marks: BTreeMap<Attempt, BTreeMap<String, Marks>>,
    /// Markers of `once`.
    made: Vec<String>,
}

/// The first version, 0, is what was there before; a file that a task makes does not have it.
#[derive(Default)]
struct File {
    size: usize,
    versions: Vec<Version>,
}

#[derive(Default)]
struct Version {
    origin: &'static str,
    written: BTreeMap<Attempt, i64>,
    read: BTreeMap<Attempt, i64>,
}

impl Version {
    fn edges(&self, file: &str, version: i64) -> Vec<Edge> {
        let (mut writers, mut readers) = (some(&self.written), some(&self.read));
        if self.origin == "before" && readers.is_empty() {
            return Vec::new();
        }
        for side in [&mut writers, &mut readers] {
            if side.is_empty() {
                side.push((None, 0));
            }
        }
        let edge = |(writer, written_bytes): &(Option<Attempt>, i64), (reader, read_bytes): &(Option<Attempt>, i64)| Edge {
            file: file.to_owned(),
            version,
            origin: self.origin,
            writer: writer.clone(),
            written_bytes: *written_bytes,
            reader: reader.clone(),
            read_bytes: *read_bytes,
        };
        writers.iter().flat_map(|writer| readers.iter().map(move |reader| edge(writer, reader))).collect()
    }
}

fn some(side: &BTreeMap<Attempt, i64>) -> Vec<(Option<Attempt>, i64)> {
    side.iter().map(|(attempt, bytes)| (Some(attempt.clone()), *bytes)).collect()
}

#[derive(Default)]
struct Marks {
    access: Access,
    read: Vec<bool>,
    written: Vec<bool>,
}

impl Marks {
    fn access(self) -> Access {
        let count = |marks: &[bool]| marks.iter().filter(|mark| **mark).count() as i64;
        Access { unique_read_bytes: count(&self.read), unique_written_bytes: count(&self.written), ..self.access }
    }
}

fn mark(marks: &mut Vec<bool>, from: usize, length: usize) {
    if marks.len() < from + length {
        marks.resize(from + length, false);
    }
    marks[from..from + length].fill(true);
}

impl Run {
    /// False when the attempt fails.
    fn attempt(&mut self, attempt: &Attempt, steps: &str) -> bool {
        self.marks.entry(attempt.clone()).or_default();
        let mut words = steps.split(' ');
        while let Some(step) = words.next() {
            if matches!(step, "join" | "fork") {
                continue;
            }
            let mut word = || words.next().unwrap_or_else(|| panic!("{step} has its words: {steps}"));
            let path = word().to_owned();
            let number = |word: &str| word.parse::<usize>().unwrap_or_else(|error| panic!("{steps}: {error}"));
            let file = path.rsplit('/').next().unwrap_or_default();
            match step {
                "sleep" => {}
                "once" => {
                    word();
                    if !self.made.contains(&path) {
                        self.made.push(path);
                        return false;
                    }
                }
                // The server writes, whoever asks.
                "ask" => {
                    let asked = format!("write {} {} {}", word(), word(), word());
                    self.attempt(&("daemon".to_owned(), 1), &asked);
                }
                "read" => {
                    let (size, request) = (self.files[file].size, number(word()));
                    self.open(attempt, file);
                    for at in (0..size).step_by(request) {
                        self.read(attempt, file, at, request);
                    }
                    self.read(attempt, file, size, request);
                }
                "pread" => {
                    let (request, count, start, stride) = (number(word()), number(word()), number(word()), number(word()));
                    self.open(attempt, file);
                    for i in 0..count {
                        self.read(attempt, file, start + i * stride, request);
                    }
                }
                "random" => {
                    let (request, count, seed) = (number(word()), number(word()), number(word()));
                    self.open(attempt, file);
                    let (mut state, size) = (seed as u64, self.files[file].size);
                    for _ in 0..count {
                        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                        self.read(attempt, file, (state >> 33) as usize % size, request);
                    }
                }
                "write" | "append" => {
                    let (request, count) = (number(word()), number(word()));
                    if step == "write" {
                        self.empty(attempt, file);
                    }
                    self.open(attempt, file);
                    for _ in 0..count {
                        self.write(attempt, file, self.files[file].size, request);
                    }
                }
                "update" => {
                    let (request, count, start, stride) = (number(word()), number(word()), number(word()), number(word()));
                    self.open(attempt, file);
                    for i in 0..count {
                        self.write(attempt, file, start + i * stride, request);
                    }
                }
                _ => panic!("{step} is no step"),
            }
        }
        true
    }

    fn marks(&mut self, attempt: &Attempt, file: &str) -> &mut Marks {
        self.marks.entry(attempt.clone()).or_default().entry(file.to_owned()).or_default()
    }

    fn open(&mut self, attempt: &Attempt, file: &str) {
        self.marks(attempt, file).access.opens += 1;
    }

    fn read(&mut self, attempt: &Attempt, name: &str, at: usize, request: usize) {
        let file = self.files.get_mut(name).unwrap_or_else(|| panic!("{name} is there"));
        let length = request.min(file.size.saturating_sub(at));
        if file.versions.is_empty() {
            file.versions.push(Version { origin: "before", ..Version::default() });
        }
        if length > 0
            && let Some(version) = file.versions.last_mut()
        {
            *version.read.entry(attempt.clone()).or_default() += length as i64;
        }
        let marks = self.marks(attempt, name);
        marks.access.read_calls += 1;
        marks.access.read_bytes += length as i64;
        mark(&mut marks.read, at, length);
    }

    fn write(&mut self, attempt: &Attempt, name: &str, at: usize, length: usize) {
        let file = self.files.get_mut(name).unwrap_or_else(|| panic!("{name} is there"));
        file.size = file.size.max(at + length);
        file.begins(attempt, "changed");
        if let Some(version) = file.versions.last_mut() {
            *version.written.entry(attempt.clone()).or_default() += length as i64;
        }
        let marks = self.marks(attempt, name);
        marks.access.write_calls += 1;
        marks.access.written_bytes += length as i64;
        mark(&mut marks.written, at, length);
    }

    fn empty(&mut self, attempt: &Attempt, name: &str) {
        let file = self.files.entry(name.to_owned()).or_default();
        file.size = 0;
        if file.versions.is_empty() {
            file.versions = vec![Version { origin: "before", ..Version::default() }, Version { origin: "created", ..Version::default() }];
        } else {
            file.begins(attempt, "truncated");
        }
    }
}

impl File {
    /// A version ends when somebody writes after another has read it.
    fn begins(&mut self, writer: &Attempt, origin: &'static str) {
        let ends =
            self.versions.last().is_none_or(|version| version.origin == "before" || version.read.keys().any(|reader| reader != writer));
        if ends {
            self.versions.push(Version { origin, ..Version::default() });
        }
    }
}

//! Random process trees that fork, share descriptors, rename, truncate and delete, against a model.
//!
//! The machine does what a kernel does, and writes down two things: the rows of a tracer, and what
//! happened as a list of deeds. The model goes through the deeds one by one, with a set of single
//! bytes for what was touched, as `docs/tables.md` describes `task_io` and `data_flow`. Where
//! nothing is reported, both must be equal.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;

/// What a process does: the numbers choose processes, descriptors, names and bytes among those that
/// there are.
#[derive(Debug, Clone)]
enum Act {
    Fork(u8),
    Exit(u8),
    Open { by: u8, name: u8, how: u8 },
    Duplicate { by: u8, descriptor: u8 },
    Close { by: u8, descriptor: u8 },
    Read { by: u8, descriptor: u8, bytes: u8 },
    Write { by: u8, descriptor: u8, bytes: u8 },
    Truncate { by: u8, descriptor: u8, bytes: u8 },
    Rename { by: u8, from: u8, to: u8 },
    Delete { by: u8, name: u8 },
}

fn act() -> impl Strategy<Value = Act> {
    let three = any::<(u8, u8, u8)>;
    prop_oneof![
        2 => any::<u8>().prop_map(Act::Fork),
        1 => any::<u8>().prop_map(Act::Exit),
        5 => three().prop_map(|(by, name, how)| Act::Open { by, name, how }),
        2 => three().prop_map(|(by, descriptor, _)| Act::Duplicate { by, descriptor }),
        1 => three().prop_map(|(by, descriptor, _)| Act::Close { by, descriptor }),
        6 => three().prop_map(|(by, descriptor, bytes)| Act::Read { by, descriptor, bytes }),
        6 => three().prop_map(|(by, descriptor, bytes)| Act::Write { by, descriptor, bytes }),
        1 => three().prop_map(|(by, descriptor, bytes)| Act::Truncate { by, descriptor, bytes }),
        1 => three().prop_map(|(by, from, to)| Act::Rename { by, from, to }),
        1 => three().prop_map(|(by, name, _)| Act::Delete { by, name }),
    ]
}

/// Owner of a process: one of two tasks, or none.
const OWNERS: [&str; 3] = ["a", "b", "nobody"];
const NAMES: u8 = 4;
/// open(2): O_RDONLY, O_WRONLY | O_CREAT | O_TRUNC, O_RDWR | O_CREAT, O_WRONLY | O_APPEND.
const WAYS: [i32; 4] = [0, 0o1101, 0o102, 0o2001];
const ACCESS: i32 = 0o3;
const WRITE_ONLY: i32 = 1;
const CREATE: i32 = 0o100;
const TRUNCATE: i32 = 0o1000;
const APPEND: i32 = 0o2000;

/// A file as the tables name it: inode number and generation.
type Name = (i64, i64);

#[derive(Debug, Clone, Copy)]
enum Action {
    Open,
    Read { at: i64, bytes: i64 },
    Write { at: i64, bytes: i64 },
    Empty,
}

#[derive(Debug)]
struct Deed {
    owner: &'static str,
    pid: i32,
    file: Name,
    did: Action,
}

struct Running {
    at: P,
    parent: Option<P>,
    owner: &'static str,
    descriptors: Vec<usize>,
    ended: bool,
}

struct OpenFile {
    file: usize,
    flags: i32,
    position: i64,
}

#[derive(Default)]
struct Machine {
    second: i64,
    running: Vec<Running>,
    open: Vec<OpenFile>,
    /// Number and generation, and size.
    files: Vec<(Name, i64)>,
    names: BTreeMap<u8, usize>,
    world: World,
    deeds: Vec<Deed>,
}

impl Machine {
    fn run(acts: &[Act]) -> Self {
        let mut machine = Self { second: 9, ..Self::default() };
        for (owner, pid) in OWNERS.into_iter().zip([10, 20, 30]) {
            let at = P("n1", pid, 1);
            machine.running.push(Running { at, parent: None, owner, descriptors: Vec::new(), ended: false });
        }
        // A file that was there before.
        machine.files.push(((100, 1), 50));
        machine.names.insert(0, 0);
        for act in acts {
            machine.second += 1;
            machine.does(act);
        }
        machine.second += 1;
        for by in 0..machine.running.len() {
            machine.exits(by);
        }
        machine.world.processes.sort_by_key(|row| row.process_start_ns);
        for (owner, pid) in [("a", 10), ("b", 20)] {
            machine.world.task_of_pid(owner, P("n1", pid, 1), machine.second + 1);
        }
        machine
    }

    fn does(&mut self, act: &Act) {
        match *act {
            Act::Fork(by) => {
                let Some(by) = self.alive(by) else { return };
                let at = P("n1", 100 + self.running.len() as i32, self.second);
                let Running { at: parent, owner, ref descriptors, .. } = self.running[by];
                let child = Running { at, parent: Some(parent), owner, descriptors: descriptors.clone(), ended: false };
                self.running.push(child);
            }
            Act::Exit(by) => {
                if let Some(by) = self.alive(by) {
                    self.exits(by);
                }
            }
            Act::Open { by, name, how } => {
                if let Some(by) = self.alive(by) {
                    self.opens(by, name % NAMES, WAYS[usize::from(how) % WAYS.len()]);
                }
            }
            Act::Duplicate { by, descriptor } => {
                if let Some((by, open)) = self.descriptor(by, descriptor) {
                    self.running[by].descriptors.push(open);
                }
            }
            Act::Close { by, descriptor } => {
                if let Some((by, open)) = self.descriptor(by, descriptor) {
                    let descriptors = &mut self.running[by].descriptors;
                    let at = descriptors.iter().position(|known| *known == open).unwrap();
                    descriptors.remove(at);
                }
            }
            Act::Read { by, descriptor, bytes } => self.reads(by, descriptor, i64::from(bytes % 40)),
            Act::Write { by, descriptor, bytes } => self.writes(by, descriptor, 1 + i64::from(bytes % 40)),
            Act::Truncate { by, descriptor, bytes } => self.truncates(by, descriptor, bytes.into()),
            Act::Rename { by, from, to } => {
                let (from, to) = (from % NAMES, to % NAMES);
                if let (Some(by), Some(file)) = (self.alive(by), self.names.get(&from).copied().filter(|_| from != to)) {
                    self.names.remove(&from);
                    self.names.insert(to, file);
                    self.event(by, "rename", file, |row| (row.path, row.new_path) = (Some(path(from)), Some(path(to))));
                }
            }
            Act::Delete { by, name } => {
                let name = name % NAMES;
                if let Some(by) = self.alive(by)
                    && let Some(file) = self.names.remove(&name)
                {
                    self.event(by, "delete", file, |row| row.path = Some(path(name)));
                }
            }
        }
    }

    fn alive(&self, number: u8) -> Option<usize> {
        let alive: Vec<usize> = (0..self.running.len()).filter(|at| !self.running[*at].ended).collect();
        alive.get(usize::from(number).checked_rem(alive.len())?).copied()
    }

    /// A process, and one of the open files that it has.
    fn descriptor(&self, by: u8, number: u8) -> Option<(usize, usize)> {
        let by = self.alive(by)?;
        let descriptors = &self.running[by].descriptors;
        Some((by, *descriptors.get(usize::from(number).checked_rem(descriptors.len())?)?))
    }

    fn exits(&mut self, by: usize) {
        let running = &mut self.running[by];
        if std::mem::replace(&mut running.ended, true) {
            return;
        }
        running.descriptors.clear();
        let parent = running.parent;
        self.world.process(running.at, self.second, |row| {
            if let Some(P(_, pid, start)) = parent {
                (row.parent_pid, row.parent_start_ns) = (Some(pid), Some(start * SECOND));
            }
        });
    }

    fn opens(&mut self, by: usize, name: u8, flags: i32) {
        let file = match self.names.get(&name) {
            Some(file) => *file,
            None if flags & CREATE != 0 => {
                self.files.push((self.free_number(), 0));
                self.names.insert(name, self.files.len() - 1);
                self.files.len() - 1
            }
            None => return,
        };
        self.open.push(OpenFile { file, flags, position: 0 });
        let number = self.open.len() - 1;
        self.running[by].descriptors.push(number);
        self.did(by, file, Action::Open);
        if flags & TRUNCATE != 0 {
            self.files[file].1 = 0;
            self.did(by, file, Action::Empty);
        }
        self.event(by, "open", file, |row| {
            (row.path, row.flags, row.handle) = (Some(path(name)), Some(flags), Some(number as i64));
        });
    }

    /// The lowest inode number that no file has, with its next generation.
    fn free_number(&self) -> Name {
        let used = |file: usize| {
            let is_open = |running: &Running| running.descriptors.iter().any(|open| self.open[*open].file == file);
            self.names.values().any(|named| *named == file) || self.running.iter().any(is_open)
        };
        let all = || self.files.iter().enumerate();
        let number = (100..).find(|number| !all().any(|(at, ((known, _), _))| known == number && used(at))).unwrap();
        let generation = all().filter(|(_, ((known, _), _))| *known == number).count() as i64;
        (number, 1 + generation)
    }

    fn reads(&mut self, by: u8, descriptor: u8, asked: i64) {
        let Some((by, open)) = self.descriptor(by, descriptor) else { return };
        let OpenFile { file, flags, position } = self.open[open];
        if flags & ACCESS == WRITE_ONLY {
            return;
        }
        let bytes = asked.min((self.files[file].1 - position).max(0));
        self.moves(by, open, "read", position, asked, bytes);
        self.did(by, file, Action::Read { at: position, bytes });
    }

    fn writes(&mut self, by: u8, descriptor: u8, bytes: i64) {
        let Some((by, open)) = self.descriptor(by, descriptor) else { return };
        let OpenFile { file, flags, position } = self.open[open];
        if flags & ACCESS == 0 {
            return;
        }
        let at = if flags & APPEND != 0 { self.files[file].1 } else { position };
        self.files[file].1 = self.files[file].1.max(at + bytes);
        self.moves(by, open, "write", at, bytes, bytes);
        self.did(by, file, Action::Write { at, bytes });
    }

    /// A call that moves bytes, and the position that all have who share the open file.
    fn moves(&mut self, by: usize, open: usize, op: &'static str, at: i64, asked: i64, bytes: i64) {
        self.open[open].position = at + bytes;
        self.event(by, op, self.open[open].file, |row| {
            (row.handle, row.offset, row.size, row.result) = (Some(open as i64), Some(at), Some(asked), Some(bytes));
        });
    }

    fn truncates(&mut self, by: u8, descriptor: u8, size: i64) {
        let Some((by, open)) = self.descriptor(by, descriptor) else { return };
        let OpenFile { file, flags, .. } = self.open[open];
        if flags & ACCESS == 0 {
            return;
        }
        self.files[file].1 = size;
        self.event(by, "truncate", file, |row| (row.handle, row.size) = (Some(open as i64), Some(size)));
        self.did(by, file, Action::Empty);
    }

    fn event(&mut self, by: usize, op: &'static str, file: usize, change: impl FnOnce(&mut IoEvent<'static>)) {
        let (inode, generation) = self.files[file].0;
        self.world.event(self.running[by].at, self.second * 1000 + 500, op, F(1, inode), |row| {
            row.generation = Some(generation);
            change(row);
        });
    }

    fn did(&mut self, by: usize, file: usize, did: Action) {
        let Running { at: P(_, pid, _), owner, .. } = self.running[by];
        self.deeds.push(Deed { owner, pid, file: self.files[file].0, did });
    }
}

fn path(name: u8) -> std::borrow::Cow<'static, str> {
    format!("/d/{name}").into()
}

/// What an owner did to a file, as `task_io` has it.
#[derive(Debug, Default, PartialEq, Eq)]
struct Sums {
    processes: usize,
    opens: i64,
    reads: (i64, i64),
    writes: (i64, i64),
    /// Single bytes that were read and written at least once.
    touched: (usize, usize),
}

/// Sums on their way: what was counted, by which processes, and which bytes were touched.
#[derive(Default)]
struct Counted {
    sums: Sums,
    pids: BTreeSet<i32>,
    read: BTreeSet<i64>,
    written: BTreeSet<i64>,
}

fn sums(deeds: &[Deed]) -> BTreeMap<(String, Name), Sums> {
    let mut found: BTreeMap<(String, Name), Counted> = BTreeMap::new();
    for deed in deeds {
        let Counted { sums, pids, read, written } = found.entry((deed.owner.to_owned(), deed.file)).or_default();
        pids.insert(deed.pid);
        match deed.did {
            Action::Open => sums.opens += 1,
            Action::Read { at, bytes } => {
                sums.reads = (sums.reads.0 + 1, sums.reads.1 + bytes);
                read.extend(at..at + bytes);
            }
            Action::Write { at, bytes } => {
                sums.writes = (sums.writes.0 + 1, sums.writes.1 + bytes);
                written.extend(at..at + bytes);
            }
            Action::Empty => {}
        }
    }
    let finish =
        |counted: Counted| Sums { processes: counted.pids.len(), touched: (counted.read.len(), counted.written.len()), ..counted.sums };
    found.into_iter().map(|(key, counted)| (key, finish(counted))).collect()
}

/// File, version, writer with its bytes, reader with its bytes.
type Flow = (Name, i64, Option<(String, i64)>, Option<(String, i64)>);

/// A version of a file: who wrote and who read how much of it.
#[derive(Default)]
struct Version {
    number: i64,
    writers: BTreeMap<&'static str, i64>,
    readers: BTreeMap<&'static str, i64>,
}

impl Version {
    /// Whether a write continues it: it was not read, or only by the writer itself, which is alone.
    fn goes_on(&self, writer: &str) -> bool {
        let alone = |all: &BTreeMap<&str, i64>| all.keys().all(|owner| *owner == writer);
        self.number > 0 && (self.readers.is_empty() || alone(&self.writers) && alone(&self.readers))
    }

    fn rows(self, file: Name, flows: &mut Vec<Flow>) {
        let is_task = |owner: &str| owner != OWNERS[2];
        if !self.writers.keys().chain(self.readers.keys()).any(|owner| is_task(owner)) {
            return;
        }
        let each = |all: &BTreeMap<&str, i64>| -> Vec<Option<(String, i64)>> {
            let all: Vec<_> = all.iter().map(|(owner, bytes)| Some(((*owner).to_owned(), *bytes))).collect();
            if all.is_empty() { vec![None] } else { all }
        };
        for writer in each(&self.writers) {
            for reader in each(&self.readers) {
                // For versions from before the trace there are rows of the reading tasks.
                if writer.is_some() || reader.as_ref().is_some_and(|(owner, _)| is_task(owner)) {
                    flows.push((file, self.number, writer.clone(), reader));
                }
            }
        }
    }
}

fn flows(deeds: &[Deed]) -> Vec<Flow> {
    let mut versions: BTreeMap<Name, Version> = BTreeMap::new();
    let mut flows = Vec::new();
    for deed in deeds {
        let version = versions.entry(deed.file).or_default();
        let written = match deed.did {
            Action::Open => continue,
            Action::Read { bytes, .. } => {
                *version.readers.entry(deed.owner).or_default() += bytes;
                continue;
            }
            Action::Write { bytes, .. } => bytes,
            Action::Empty => 0,
        };
        if !version.goes_on(deed.owner) {
            let next = Version { number: version.number + 1, ..Version::default() };
            std::mem::replace(version, next).rows(deed.file, &mut flows);
        }
        *version.writers.entry(deed.owner).or_default() += written;
    }
    versions.into_iter().for_each(|(file, version)| version.rows(file, &mut flows));
    flows.sort();
    flows
}

impl Derived {
    fn owner(task: Option<&str>) -> String {
        task.map_or_else(|| OWNERS[2].to_owned(), |task| whose(Some(task), None, None, None))
    }

    fn sums(&self) -> BTreeMap<(String, Name), Sums> {
        let row = |row: &TaskIo<'static>| {
            let owner = Self::owner(row.task.as_deref());
            let sums = Sums {
                processes: row.processes as usize,
                opens: row.opens,
                reads: (row.read_calls, row.read_bytes),
                writes: (row.write_calls, row.written_bytes),
                touched: (row.unique_read_bytes.unwrap_or(0) as usize, row.unique_written_bytes.unwrap_or(0) as usize),
            };
            ((owner, (row.inode.unwrap(), row.generation.unwrap())), sums)
        };
        self.io.iter().map(row).collect()
    }

    fn versions(&self) -> Vec<Flow> {
        let part = |kind: Option<&str>, id: Option<&str>, bytes| kind.map(|kind| (Self::owner(id.filter(|_| kind == "task")), bytes));
        let row = |row: &DataFlow<'static>| {
            let writer = part(row.writer_type.as_deref(), row.writer.as_deref(), row.written_bytes);
            let reader = part(row.reader_type.as_deref(), row.reader.as_deref(), row.read_bytes);
            ((row.inode.unwrap(), row.generation.unwrap()), row.version, writer, reader)
        };
        let mut rows: Vec<_> = self.flows.iter().map(row).collect();
        rows.sort();
        rows
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]
    #[test]
    fn what_processes_do_is_told_as_a_model_has_it(acts in proptest::collection::vec(act(), 1..120)) {
        let machine = Machine::run(&acts);
        let told = machine.world.correlated();
        prop_assert_eq!(told.diagnostics.iter().map(|row| row.message.to_string()).collect::<Vec<_>>(), Vec::<String>::new());
        prop_assert_eq!(told.sums(), sums(&machine.deeds));
        prop_assert_eq!(told.versions(), flows(&machine.deeds));
    }
}

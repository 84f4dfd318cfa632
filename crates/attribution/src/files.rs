//! Files of a host as they are used: which is which, and who read and wrote them in which order.
//!
//! A file is a device, an inode number and the inode's generation. Where the generation is not
//! known, a number is another file after it was deleted and opened under a path that it did not
//! have before (`incarnation`).
//!
//! **Epochs.** For data flow the order of some accesses matters: an epoch of a file has its writes
//! first, and then its reads. It ends with a write after another process has read, or after the
//! writer has read what it had not written, and with the first write of each process after that. A
//! process that wrote and read a version continues it, and others do not. Each epoch gives one
//! [`Step`] for each process. So a file that is written once and then read is a handful of steps,
//! for any number of operations.

use flowmine_schema::tables::IoEvent;
use flowmine_spill::put_ordered;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::bytes::{put, put_maybe, put_unsigned, take, take_byte, take_maybe, take_unsigned};
use crate::names::{FileNames, NameIndex};

flowmine_schema::columns! {
    /// Columns of an operation on a file that are read.
    pub struct FileEvent of IoEvent {
        pid, process_start_ns, op, start_ns, end_ns, handle, device, inode, generation, offset, size, result, flags, path,
        container_path, new_path
    }
}

/// Identity of a file on a host; unknown numbers are `i64::MIN`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileKey {
    /// Device number, as stat(2) gives it.
    pub device: i64,
    /// Inode number, as stat(2) gives it.
    pub inode: i64,
    /// Generation of the inode, which is another when its number is used again.
    pub generation: i64,
    /// Counts the files that had these numbers one after the other, from 1.
    pub incarnation: u32,
}

impl FileKey {
    pub(crate) fn put(&self, bytes: &mut Vec<u8>) {
        [self.device, self.inode, self.generation, self.incarnation.into()].into_iter().for_each(|number| put(number, bytes));
    }

    pub(crate) fn take(bytes: &mut &[u8]) -> Option<Self> {
        Some(Self { device: take(bytes)?, inode: take(bytes)?, generation: take(bytes)?, incarnation: take(bytes)? as u32 })
    }

    pub(crate) fn put_ordered(&self, key: &mut Vec<u8>) {
        [self.device, self.inode, self.generation, self.incarnation.into()].into_iter().for_each(|number| put_ordered(number, key));
    }

    /// The file with the numbers in the columns of a row; `None` if they cannot be one's.
    pub(crate) fn of(device: Option<i64>, inode: Option<i64>, generation: Option<i64>, incarnation: i64) -> Option<Self> {
        let untold = |number: Option<i64>| number.unwrap_or(UNTOLD);
        let incarnation = u32::try_from(incarnation).ok()?;
        Some(Self { device: untold(device), inode: untold(inode), generation: untold(generation), incarnation })
    }

    /// The number; `None` where it is [`UNTOLD`].
    pub fn told(number: i64) -> Option<i64> {
        (number != UNTOLD).then_some(number)
    }
}

/// Marks an unknown number.
pub const UNTOLD: i64 = i64::MIN;

/// Sums of the operations of a process on a file in one epoch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Step {
    /// The process, by its serial number; when hosts are merged, its owner's number.
    pub process: u32,
    /// Origin of the version, if this process began it by truncating or creating the file.
    pub truncated: bool,
    /// Whether the process created the file in this epoch.
    pub created: bool,
    /// Bytes that the process wrote in the epoch.
    pub written: i64,
    /// When the process's first write of the epoch began, in nanoseconds since 1970.
    pub first_write_ns: Option<i64>,
    /// When its last write of the epoch ended, in nanoseconds since 1970.
    pub last_write_ns: Option<i64>,
    /// Bytes that the process read in the epoch after it wrote.
    pub read: i64,
    /// When the first of these reads began, in nanoseconds since 1970.
    pub first_read_ns: Option<i64>,
    /// When the last of these reads ended, in nanoseconds since 1970.
    pub last_read_ns: Option<i64>,
    /// The order of the first write among all operations.
    pub first_write_at: Order,
    /// The order of the last write among all operations.
    pub last_write_at: Order,
    /// The order of the first read among all operations.
    pub first_read_at: Order,
}

/// A place in the order of operations: a clock that never goes back within a host, then a number
/// that only grows.
pub type Order = (i64, u64);

impl Step {
    fn writes(&self) -> bool {
        self.first_write_ns.is_some()
    }

    pub(crate) fn put(&self, bytes: &mut Vec<u8>) {
        put_unsigned(self.process.into(), bytes);
        bytes.push(u8::from(self.truncated) | u8::from(self.created) << 1);
        [self.written, self.read].into_iter().for_each(|number| put(number, bytes));
        [self.first_write_ns, self.last_write_ns, self.first_read_ns, self.last_read_ns].into_iter().for_each(|ns| put_maybe(ns, bytes));
        for (ns, number) in [self.first_write_at, self.last_write_at, self.first_read_at] {
            put(ns, bytes);
            put_unsigned(number, bytes);
        }
    }

    pub(crate) fn take(bytes: &mut &[u8]) -> Option<Self> {
        let process = take_unsigned(bytes)? as u32;
        let flags = take_byte(bytes)?;
        let (written, read) = (take(bytes)?, take(bytes)?);
        let mut ns = || take_maybe(bytes);
        let (first_write_ns, last_write_ns, first_read_ns, last_read_ns) = (ns()?, ns()?, ns()?, ns()?);
        let mut order = || Some((take(bytes)?, take_unsigned(bytes)?));
        let (first_write_at, last_write_at, first_read_at) = (order()?, order()?, order()?);
        Some(Self {
            process,
            truncated: flags & 1 != 0,
            created: flags & 2 != 0,
            written,
            first_write_ns,
            last_write_ns,
            read,
            first_read_ns,
            last_read_ns,
            first_write_at,
            last_write_at,
            first_read_at,
        })
    }
}

/// A file of a host, and what processes did to it in the present epoch.
#[derive(Debug)]
pub struct File {
    /// The numbers that identify the file on its host.
    pub key: FileKey,
    /// Its names.
    pub names: FileNames,
    /// Its size when it was first seen, until its first operation.
    size: Option<i64>,
    /// Hashes of all paths of a file that other hosts may have.
    pub paths: Vec<u64>,
    /// Number of live processes that use it.
    pub users: u32,
    /// The order of the operation with which the epoch began.
    pub epoch: Order,
    steps: Vec<Step>,
    /// Set if steps of this epoch were passed on before its end: whether some of them read.
    given: Option<bool>,
    /// Processes that have written since the file was read, some of them; `None` before it was.
    writers: Option<Vec<u32>>,
    deleted: bool,
}

/// Maximum number of steps of an epoch in memory: a file that thousands of processes read has one
/// for each of them.
const STEPS: usize = 256;
/// Maximum number of remembered paths of a file.
const PATHS: usize = 64;

/// Effect of an operation on a file's content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Bytes read from it.
    Read(i64),
    /// Bytes written to it.
    Wrote(i64),
    /// It was made empty or shorter.
    Truncated,
    /// The file was created.
    Created,
}

const O_ACCMODE: i32 = 0o3;
const O_CREAT: i32 = 0o100;
const O_EXCL: i32 = 0o200;
const O_TRUNC: i32 = 0o1000;
/// Flag of renameat2(2): the two names are exchanged.
const RENAME_EXCHANGE: i32 = 2;

impl Effect {
    /// Returns the effect of an operation on a file's content, if any.
    pub fn new(event: &FileEvent<'_>) -> Option<Self> {
        let result = event.result.unwrap_or(0);
        if result < 0 {
            return None;
        }
        let flags = event.flags.unwrap_or(0);
        match &*event.op {
            "read" => Some(Effect::Read(result)),
            "write" => Some(Effect::Wrote(result)),
            "truncate" => Some(Effect::Truncated),
            "open" if flags & (O_CREAT | O_EXCL) == O_CREAT | O_EXCL => Some(Effect::Created),
            "open" if flags & O_TRUNC != 0 && flags & O_ACCMODE != 0 => Some(Effect::Truncated),
            _ => None,
        }
    }
}

impl File {
    /// Takes what an operation did; gives the steps of the epoch that it ends, or those that became
    /// too many.
    pub fn take(&mut self, process: u32, effect: Effect, start_ns: i64, end_ns: i64, now: Order) -> Option<(Order, Vec<Step>)> {
        let writes = !matches!(effect, Effect::Read(_));
        // What was given away was of several processes: of any two that read one is another, and where none reads any two write.
        let others = || self.steps.iter().filter(|step| step.writes()).map(|step| &step.process).chain(self.writers.iter().flatten());
        let with_others = writes && (self.given.is_some() || others().any(|other| *other != process));
        let after_reading = |step: &Step| step.first_read_ns.is_some() && (with_others || step.process != process || !step.writes());
        let read = writes && (self.given == Some(true) || self.steps.iter().any(after_reading));
        let ends = read || writes && self.has_new_writer(process);
        if read {
            self.writers = Some(Vec::new());
        }
        if let Some(writers) = self.writers.as_mut().filter(|known| writes && known.len() < STEPS && !known.contains(&process)) {
            writers.push(process);
        }
        let mut ended = ends.then(|| (self.epoch, std::mem::take(&mut self.steps)));
        if ends {
            self.given = None;
        }
        if self.steps.is_empty() && self.given.is_none() {
            self.epoch = now;
        }
        let at = match self.steps.iter().rposition(|step| step.process == process) {
            Some(at) => at,
            None => {
                if self.steps.len() == STEPS {
                    let steps = std::mem::take(&mut self.steps);
                    self.given = Some(self.given == Some(true) || steps.iter().any(|step| step.first_read_ns.is_some()));
                    ended = Some((self.epoch, steps));
                }
                self.steps.push(Step { process, ..Step::default() });
                self.steps.len() - 1
            }
        };
        let step = &mut self.steps[at];
        match effect {
            Effect::Read(bytes) => {
                flowmine_sums::add_to(&mut step.read, bytes);
                if step.first_read_ns.is_none() {
                    step.first_read_ns = Some(start_ns);
                    step.first_read_at = now;
                }
                step.last_read_ns = step.last_read_ns.max(Some(end_ns));
            }
            Effect::Wrote(_) | Effect::Truncated | Effect::Created => {
                if let Effect::Wrote(bytes) = effect {
                    flowmine_sums::add_to(&mut step.written, bytes);
                }
                step.truncated |= effect == Effect::Truncated;
                step.created |= effect == Effect::Created;
                if step.first_write_ns.is_none() {
                    step.first_write_ns = Some(start_ns);
                    step.first_write_at = now;
                }
                step.last_write_at = now;
                step.last_write_ns = step.last_write_ns.max(Some(end_ns));
            }
        }
        ended
    }

    /// Whether a process is the first of another writer since the file was read: the writer that
    /// read it may go on with its version, and the other does not.
    fn has_new_writer(&self, process: u32) -> bool {
        let is_new = |writers: &Vec<u32>| !writers.is_empty() && writers.len() < STEPS && !writers.contains(&process);
        self.writers.as_ref().is_some_and(is_new)
    }

    fn has_path(&mut self, hash: u64) {
        if !self.paths.contains(&hash) {
            if self.paths.len() == PATHS {
                self.paths.remove(0);
            }
            self.paths.push(hash);
        }
    }

    /// Whether the operation made the file without writing to it, like `touch`: it opens an empty
    /// file with `O_CREAT`, and is its first use.
    pub fn is_made_by(&mut self, event: &FileEvent<'_>) -> bool {
        let is_empty = self.size.take() == Some(0);
        is_empty && &*event.op == "open" && event.flags.is_some_and(|flags| flags & O_CREAT != 0)
    }

    /// The steps of the epoch that lasts.
    pub fn take_steps(&mut self) -> Option<(Order, Vec<Step>)> {
        (!self.steps.is_empty()).then(|| (self.epoch, std::mem::take(&mut self.steps)))
    }
}

/// Maximum number of remembered files without an open handle.
const UNUSED: usize = 1 << 16;

/// The files of a host that are in use, and some that were.
#[derive(Debug, Default)]
pub struct Files {
    known: FxHashMap<(i64, i64, i64), u32>,
    all: Vec<Option<File>>,
    free: Vec<u32>,
    unused: usize,
    /// Numbers that were used again, and the incarnation that they are at.
    incarnations: FxHashMap<(i64, i64, i64), u32>,
    file_systems: FxHashMap<i64, Box<str>>,
    names: NameIndex,
}

impl Files {
    /// The file of an operation; it is made when it is not known.
    pub fn of_event(&mut self, event: &FileEvent<'_>) -> u32 {
        let numbers = (event.device.unwrap_or(UNTOLD), event.inode.unwrap_or(UNTOLD), event.generation.unwrap_or(UNTOLD));
        let at = self.numbered(numbers);
        if &*event.op == "open"
            && let Some(path) = &event.path
        {
            return self.opened(at, numbers, path);
        }
        at
    }

    /// The file with these numbers (device, inode, generation).
    pub fn numbered(&mut self, numbers: (i64, i64, i64)) -> u32 {
        if let Some(&at) = self.known.get(&numbers) {
            return at;
        }
        let incarnation = self.incarnations.get(&numbers).copied().unwrap_or(1);
        let (device, inode, generation) = numbers;
        let file = File {
            key: FileKey { device, inode, generation, incarnation },
            names: FileNames::default(),
            size: None,
            paths: Vec::new(),
            users: 0,
            epoch: Order::default(),
            steps: Vec::new(),
            given: None,
            writers: None,
            deleted: false,
        };
        let at = match self.free.pop() {
            Some(at) => {
                self.all[at as usize] = Some(file);
                at
            }
            None => {
                self.all.push(Some(file));
                self.all.len() as u32 - 1
            }
        };
        self.known.insert(numbers, at);
        self.unused += 1;
        at
    }

    /// Notes that a file is opened by a path; a deleted file with a number that is used again is a
    /// different file.
    fn opened(&mut self, at: u32, numbers: (i64, i64, i64), path: &str) -> u32 {
        let shared = self.may_be_shared(numbers.0);
        let Some(file) = self.all[at as usize].as_mut() else { return at };
        let hash = hash(path);
        if file.deleted && numbers.2 == UNTOLD && numbers.1 != UNTOLD && !file.paths.contains(&hash) {
            let next = file.key.incarnation + 1;
            self.incarnations.insert(numbers, next);
            self.known.remove(&numbers);
            let at = self.numbered(numbers);
            return self.opened(at, numbers, path);
        }
        if file.names.last() != Some(path) && file.names.add(path) {
            self.names.put(path, at);
        }
        if shared || numbers.2 == UNTOLD {
            file.has_path(hash);
        }
        at
    }

    /// Adds a row of `files`, with the known properties of a file.
    pub fn told(&mut self, numbers: (i64, i64, i64), path: Option<&str>, file_system: Option<&str>, size: Option<i64>) {
        if let Some(name) = file_system {
            self.file_systems.entry(numbers.0).or_insert_with(|| name.into());
        }
        // Its first operation comes after this.
        if let Some(path) = path {
            let at = self.numbered(numbers);
            if let Some(file) = self.all[at as usize].as_mut().filter(|file| file.names.last().is_none()) {
                file.names.add(path);
                file.size = size;
                self.names.put(path, at);
            }
        }
    }

    /// The last path of the file that has these numbers now, if one is known.
    pub fn path_of(&self, numbers: (i64, i64, i64)) -> Option<&str> {
        let at = self.known.get(&numbers)?;
        self.peek(*at)?.names.last()
    }

    /// A file or directory was deleted, renamed or linked, by a path. Returns the files that have
    /// another last name since.
    pub fn moved(&mut self, event: &FileEvent<'_>) -> Vec<u32> {
        if event.result.is_some_and(|result| result < 0) {
            return Vec::new();
        }
        let numbers = (event.device.unwrap_or(UNTOLD), event.inode.unwrap_or(UNTOLD), event.generation.unwrap_or(UNTOLD));
        let known = self.known.get(&numbers).copied();
        match (&*event.op, &event.path, &event.new_path, known) {
            ("delete", Some(path), _, Some(at)) => self.deleted(at, path).into_iter().collect(),
            ("link", _, Some(new), Some(at)) => {
                let Some(file) = self.all[at as usize].as_mut() else { return Vec::new() };
                file.has_path(hash(new));
                if file.names.last().is_some() && file.names.add(new) {
                    self.names.put(new, at);
                }
                Vec::new()
            }
            ("rename", Some(old), Some(new), _) => self.renamed(numbers, old, new, event.flags.unwrap_or(0)),
            _ => Vec::new(),
        }
    }

    fn deleted(&mut self, at: u32, path: &str) -> Option<u32> {
        let file = self.all[at as usize].as_mut()?;
        let hash = hash(path);
        file.paths.retain(|known| *known != hash);
        file.deleted = true;
        self.names.remove(path, at);
        file.names.remove(path).then_some(at)
    }

    fn renamed(&mut self, numbers: (i64, i64, i64), old: &str, new: &str, flags: i32) -> Vec<u32> {
        let mut changed = Vec::new();
        let known = self.known.get(&numbers).copied();
        if old == new {
            return changed;
        }
        let over = self.names.find(new).filter(|over| Some(*over) != known);
        let over = over.filter(|over| self.peek(*over).is_some_and(|file| file.key.device == numbers.0));
        if flags & RENAME_EXCHANGE != 0 {
            if let Some(over) = over {
                changed.extend(self.named(over, new, old));
            }
        } else if let Some(over) = over {
            changed.extend(self.deleted(over, new));
        }
        if let Some(at) = known {
            changed.extend(self.named(at, old, new));
            return changed;
        }
        // A path that was never opened can be a directory: then the files below it get other names.
        let below = self.names.below(old);
        for (rest, at) in &below {
            changed.extend(self.named(*at, &format!("{old}/{rest}"), &format!("{new}/{rest}")));
        }
        if below.is_empty() && numbers.1 != UNTOLD {
            let at = self.numbered(numbers);
            changed.extend(self.named(at, old, new));
        }
        changed
    }

    fn named(&mut self, at: u32, old: &str, new: &str) -> Option<u32> {
        let file = self.all[at as usize].as_mut()?;
        file.has_path(hash(new));
        self.names.remove(old, at);
        let changed = file.names.rename(old, new);
        self.names.put(new, at);
        changed.then_some(at)
    }

    /// The type of a device's file system.
    pub fn file_system(&self, device: i64) -> Option<&str> {
        self.file_systems.get(&device).map(|name| &**name)
    }

    /// Whether other hosts may have the same files: those of network file systems, and those of
    /// which no device is known.
    pub fn may_be_shared(&self, device: i64) -> bool {
        device == UNTOLD || self.file_system(device).is_some_and(is_network)
    }

    /// Returns a file by its number here, to read.
    pub fn peek(&self, at: u32) -> Option<&File> {
        self.all.get(at as usize)?.as_ref()
    }

    /// A file by its number here, to change it; `None` when it is no longer kept.
    pub fn get(&mut self, at: u32) -> Option<&mut File> {
        self.all.get_mut(at as usize)?.as_mut()
    }

    /// Counts one more process that uses the file.
    pub fn used(&mut self, at: u32) {
        if let Some(file) = self.all[at as usize].as_mut() {
            self.unused -= usize::from(file.users == 0);
            file.users += 1;
        }
    }

    /// Counts one process less that uses the file.
    pub fn unused(&mut self, at: u32) {
        if let Some(file) = self.all[at as usize].as_mut() {
            file.users = file.users.saturating_sub(1);
            self.unused += usize::from(file.users == 0);
        }
    }

    /// Forgets unused files when there are too many; each is passed on first.
    pub fn forget_unused<E>(&mut self, mut each: impl FnMut(File, &Self) -> Result<(), E>) -> Result<(), E> {
        let used = (self.all.len() - self.free.len()).saturating_sub(self.unused);
        if self.unused <= UNUSED.max(2 * used) {
            return Ok(());
        }
        self.forget(|file| file.users == 0, &mut each)
    }

    /// Forgets all; gives each before.
    pub fn forget_all<E>(&mut self, mut each: impl FnMut(File, &Self) -> Result<(), E>) -> Result<(), E> {
        self.forget(|_| true, &mut each)
    }

    fn forget<E>(&mut self, which: impl Fn(&File) -> bool, each: &mut impl FnMut(File, &Self) -> Result<(), E>) -> Result<(), E> {
        let mut gone: FxHashSet<u32> = FxHashSet::default();
        for at in 0..self.all.len() {
            if self.all[at].as_ref().is_some_and(&which)
                && let Some(file) = self.all[at].take()
            {
                self.unused -= usize::from(file.users == 0);
                file.names.present().for_each(|name| self.names.remove(name, at as u32));
                gone.insert(at as u32);
                self.free.push(at as u32);
                each(file, self)?;
            }
        }
        self.known.retain(|_, at| !gone.contains(at));
        Ok(())
    }
}

/// Types of file systems that several hosts can have mounted, as `/proc/mounts` calls them.
const NETWORK: &[&str] =
    &["nfs", "nfs4", "lustre", "ceph", "cifs", "smb3", "gpfs", "beegfs", "afs", "9p", "orangefs", "pvfs2", "glusterfs", "gfs2", "ocfs2"];

/// Whether several hosts can have a file system of this type mounted.
pub fn is_network(file_system: &str) -> bool {
    NETWORK.contains(&file_system)
}

fn hash(path: &str) -> u64 {
    use std::hash::BuildHasher;
    rustc_hash::FxBuildHasher.hash_one(path)
}

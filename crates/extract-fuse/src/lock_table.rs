//! All locks of a trace: who holds what on which file, and who waits.
//!
//! The tracer decides between the users of its overlays, and the file system underneath between
//! these and everybody else: there one open file description of the tracer, the [`Carrier`], has
//! all locks of a file together (`F_OFD_SETLK`, fcntl_locking(2)). So a file that is locked takes
//! one descriptor, and what the kernel detects for processes of its own (`EDEADLK`, the process of
//! F_GETLK) is known here.
//!
//! A thread retries for those that wait: at once when a lock of the overlays goes, and every few
//! milliseconds for locks of others, which end without a notice.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;

use crate::handles::Handle;
use crate::lock_ranges::{ENDLESS, Lock, Locks, Owner, Range};
use crate::open_files::OpenFile;
use crate::session::reply;
use crate::system::{self, Errno};

/// The device and inode of a file, the same in all overlays.
pub(crate) type FileId = (u64, u64);

/// The pauses between two attempts to get a lock that a process outside holds.
const SHORTEST: Duration = Duration::from_micros(100);
const LONGEST: Duration = Duration::from_millis(10);
/// The kernel reports that a file was closed for good only after the last close(2) or munmap(2) has
/// returned, while the lock must be gone by then. A lock by a file of which a descriptor was closed
/// refuses another only when so much time has passed since that close,
const CLOSING: Duration = Duration::from_millis(50);
/// and so much since the request, for the end of a mapping, which is not reported at all.
const MOMENT: Duration = Duration::from_millis(5);
/// Interrupts of requests that have not come to their lock yet, or are none of locks.
const INTERRUPTS: usize = 256;

/// The open file description that has the locks of a file underneath.
#[derive(Debug, Clone)]
pub(crate) struct Carrier {
    pub(crate) file: Arc<OpenFile>,
    pub(crate) reads: bool,
    pub(crate) writes: bool,
}

impl Carrier {
    /// Sets or clears a range underneath. It does not wait.
    pub(crate) fn set(&self, range: Range, kind: libc::c_int) -> Result<(), Errno> {
        let fd = self.file.fd()?;
        // SAFETY: a descriptor of ours, and a lock of this frame.
        system::positive(unsafe { libc::fcntl(fd.raw(), libc::F_OFD_SETLK, &for_system(range, kind)) }).map(|_| ())
    }
}

/// The kind of a lock, as fcntl(2) has it.
pub(crate) fn kind(write: bool) -> libc::c_int {
    if write { libc::F_WRLCK } else { libc::F_RDLCK }
}

/// A range as the system wants it: with a length, where 0 goes on for ever.
pub(crate) fn for_system(range: Range, kind: libc::c_int) -> libc::flock {
    // SAFETY: all-zero is a valid `flock`.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = kind as _;
    lock.l_whence = libc::SEEK_SET as _;
    lock.l_start = range.first as libc::off_t;
    lock.l_len = if range.last >= ENDLESS { 0 } else { (range.last - range.first + 1) as libc::off_t };
    lock
}

/// What is asked for.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    pub(crate) handle: Arc<Handle>,
    pub(crate) owner: Owner,
    /// The process that asks; 0 when it has no number here.
    pub(crate) pid: u32,
    /// The bytes; `None` for the whole file by flock(2).
    pub(crate) range: Option<Range>,
    /// A lock for writing, one for reading, or that there is none any more.
    pub(crate) write: Option<bool>,
    /// Whether a cycle of waiting owners is an error: not for locks of open file descriptions.
    pub(crate) detects: bool,
}

impl Wanted {
    pub(crate) fn file(&self) -> FileId {
        (self.handle.file.device, self.handle.file.inode)
    }
}

/// A request that is to be answered when it has its lock.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) wanted: Wanted,
    pub(crate) device: Arc<OwnedFd>,
    pub(crate) unique: u64,
    /// When it is refused; `None` for one that waits as long as it takes.
    pub(crate) until: Option<Instant>,
}

impl Waiting {
    fn answer(&self, result: Result<(), Errno>) {
        // An answer without a waiting caller is refused, and the overlay may be gone: nothing is
        // left to do then.
        let _ = reply(&self.device, self.unique, result.err().unwrap_or(0), &[]);
    }
}

/// The locks on one file.
#[derive(Debug, Default)]
pub(crate) struct Locked {
    pub(crate) locks: Locks,
    pub(crate) carrier: Option<Carrier>,
    /// Open files that have locks by flock(2), which the file system underneath decides on.
    flocks: Vec<u64>,
    /// Open files of which a descriptor was closed, and when that was last done.
    closing: FxHashMap<u64, Instant>,
}

impl Locked {
    /// When a lock that is in the way has gone if its file was closed; `None` when that cannot be.
    fn closes(&self, wanted: &Wanted, now: Instant) -> Option<Instant> {
        let holds = |handle: u64| match (wanted.range, wanted.write) {
            (Some(range), Some(write)) => self.locks.against(wanted.owner, range, write).any(|lock| lock.handle == handle),
            _ => handle != wanted.handle.id && self.flocks.contains(&handle),
        };
        let closed = self.closing.iter().filter(|(handle, _)| holds(**handle));
        closed.map(|(_, at)| (*at + CLOSING).max(now + MOMENT)).max()
    }
}

/// What is known under one lock.
#[derive(Debug, Default)]
pub(crate) struct State {
    files: FxHashMap<FileId, Locked>,
    waiting: Vec<Waiting>,
    interrupted: VecDeque<(u32, u64)>,
    /// Whether a thread retries.
    served: bool,
}

/// All locks of a trace.
#[derive(Debug, Default)]
pub(crate) struct LockTable {
    state: Mutex<State>,
    changed: Condvar,
}

/// An owner of a lock and its process.
type Who = (Owner, u32);

/// Whether two are one process: by its number where they are of two overlays.
fn same((one, one_pid): Who, (other, other_pid): Who) -> bool {
    one == other || (one.session != other.session && one_pid == other_pid && one_pid != 0)
}

impl State {
    /// The locks on a file.
    pub(crate) fn file(&mut self, id: FileId) -> &mut Locked {
        self.files.entry(id).or_default()
    }

    /// Does what is wanted if it can be done at once. Returns whether a lock went by it.
    ///
    /// # Errors
    /// `EAGAIN` if another owner has a lock.
    pub(crate) fn attempt(&mut self, wanted: &Wanted) -> Result<bool, Errno> {
        let file = self.files.entry(wanted.file()).or_default();
        let Some(range) = wanted.range else { return file.flock(wanted) };
        let Some(write) = wanted.write else {
            file.clear(wanted.owner, range);
            return Ok(true);
        };
        if file.locks.against(wanted.owner, range, write).next().is_some() {
            return Err(libc::EAGAIN);
        }
        let carrier = file.carrier.as_ref().ok_or(libc::ENOLCK)?;
        // A waiting caller cannot distinguish the two errors (fcntl(2)).
        carrier.set(range, kind(write)).map_err(|errno| if errno == libc::EACCES { libc::EAGAIN } else { errno })?;
        file.locks.set(Lock { owner: wanted.owner, pid: wanted.pid, handle: wanted.handle.id, range, write });
        Ok(!write)
    }

    /// Whether who waits for this waits for itself in the end.
    pub(crate) fn is_deadlock(&self, wanted: &Wanted) -> bool {
        let me = (wanted.owner, wanted.pid);
        let mut seen: Vec<Who> = Vec::new();
        let mut next = self.holders(wanted);
        while let Some(who) = next.pop() {
            if same(who, me) {
                return true;
            }
            if seen.contains(&who) {
                continue;
            }
            seen.push(who);
            let waits = self.waiting.iter().filter(|waiting| same(who, (waiting.wanted.owner, waiting.wanted.pid)));
            next.extend(waits.flat_map(|waiting| self.holders(&waiting.wanted)));
        }
        false
    }

    /// Who holds what is in the way.
    fn holders(&self, wanted: &Wanted) -> Vec<Who> {
        let (Some(range), Some(write), Some(file)) = (wanted.range, wanted.write, self.files.get(&wanted.file())) else {
            return Vec::new();
        };
        file.locks.against(wanted.owner, range, write).map(|lock| (lock.owner, lock.pid)).collect()
    }

    /// When a request that does not wait is to be refused, if not at once.
    pub(crate) fn refused_at(&self, wanted: &Wanted) -> Option<Instant> {
        self.files.get(&wanted.file())?.closes(wanted, Instant::now())
    }

    /// The result of a request that waits, once there is one.
    fn retry(&mut self, at: usize) -> Option<Result<(), Errno>> {
        let wanted = self.waiting[at].wanted.clone();
        let until = self.waiting[at].until;
        match self.attempt(&wanted) {
            Err(libc::EAGAIN) if until.is_some_and(|until| until <= Instant::now()) => Some(Err(libc::EAGAIN)),
            Err(libc::EAGAIN) if until.is_none() && wanted.detects && self.is_deadlock(&wanted) => Some(Err(libc::EDEADLK)),
            Err(libc::EAGAIN) => None,
            result => Some(result.map(|_| ())),
        }
    }

    /// Forgets a file without locks and without waiting owners. Its carrier is kept until then,
    /// since to open one for each lock would cost more than the lock.
    pub(crate) fn tidy(&mut self, id: FileId) {
        let wanted = self.waiting.iter().any(|waiting| waiting.wanted.file() == id);
        if !wanted && self.files.get(&id).is_some_and(|file| file.locks.all().is_empty() && file.flocks.is_empty()) {
            self.files.remove(&id);
        }
    }
}

impl Locked {
    /// flock(2) belongs to an open file description, as does ours.
    fn flock(&mut self, wanted: &Wanted) -> Result<bool, Errno> {
        let operation = match wanted.write {
            Some(true) => libc::LOCK_EX,
            Some(false) => libc::LOCK_SH,
            None => libc::LOCK_UN,
        };
        let (fd, id) = (wanted.handle.fd()?, wanted.handle.id);
        // SAFETY: a descriptor of ours.
        let result = system::positive(unsafe { libc::flock(fd.raw(), operation | libc::LOCK_NB) });
        self.flocks.retain(|handle| *handle != id);
        // One that could not be converted is gone (flock(2)).
        result?;
        if wanted.write.is_some() {
            self.flocks.push(id);
        }
        Ok(wanted.write != Some(true))
    }

    fn clear(&mut self, owner: Owner, range: Range) {
        self.locks.clear(owner, range);
        self.freed(range);
    }

    /// Where others still read there is a lock for reading already.
    fn freed(&self, range: Range) {
        let Some(carrier) = &self.carrier else { return };
        for gap in self.locks.gaps(range) {
            // For want of memory in the kernel alone; then more stays locked than has to.
            let _ = carrier.set(gap, libc::F_UNLCK);
        }
    }

    fn take(&mut self, gone: impl Fn(&Lock) -> bool) {
        for range in self.locks.take(gone) {
            self.freed(range);
        }
    }
}

impl LockTable {
    /// What is known, whatever became of the thread that had it last.
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A lock has gone: who waits may have it.
    pub(crate) fn changed(&self) {
        self.changed.notify_all();
    }

    /// A process has closed a descriptor of an open file: POSIX ends its locks on the file.
    pub(crate) fn closed(&self, handle: &Handle, owner: Owner) {
        let id = (handle.file.device, handle.file.inode);
        let mut state = self.state();
        let Some(file) = state.files.get_mut(&id) else { return };
        file.take(|lock| lock.owner == owner);
        file.closing.insert(handle.id, Instant::now());
        state.tidy(id);
        self.changed();
    }

    /// An open file description is gone, and with it its locks. Those of processes that were taken
    /// by it went when these closed it.
    pub(crate) fn released(&self, handle: &Handle) {
        let id = (handle.file.device, handle.file.inode);
        let mut state = self.state();
        let Some(file) = state.files.get_mut(&id) else { return };
        file.take(|lock| lock.handle == handle.id);
        file.flocks.retain(|flock| *flock != handle.id);
        file.closing.remove(&handle.id);
        state.tidy(id);
        self.changed();
    }

    /// An overlay is gone, with all that was locked by it.
    pub(crate) fn session_over(&self, session: u32) {
        let mut state = self.state();
        state.waiting.retain(|waiting| waiting.wanted.owner.session != session);
        let ids: Vec<FileId> = state.files.keys().copied().collect();
        for id in ids {
            state.file(id).take(|lock| lock.owner.session == session);
            state.tidy(id);
        }
        self.changed();
    }

    /// Has a request answered when it has its lock.
    ///
    /// # Errors
    /// `EINTR` when it was interrupted already, `ENOLCK` if waiting for it is not possible.
    pub(crate) fn wait(self: &Arc<Self>, state: &mut State, waiting: Waiting) -> Result<(), Errno> {
        let name = (waiting.wanted.owner.session, waiting.unique);
        if let Some(at) = state.interrupted.iter().position(|interrupted| *interrupted == name) {
            state.interrupted.remove(at);
            return Err(libc::EINTR);
        }
        if !state.served {
            let table = Arc::clone(self);
            let started = std::thread::Builder::new().name("flowmine-lock".into()).spawn(move || table.serve());
            started.map_err(|_| libc::ENOLCK)?;
            state.served = true;
        }
        state.waiting.push(waiting);
        self.changed();
        Ok(())
    }

    /// A request is not waited for any more: only locks wait here.
    pub(crate) fn interrupt(&self, session: u32, unique: u64) {
        let mut state = self.state();
        let is = |waiting: &Waiting| (waiting.wanted.owner.session, waiting.unique) == (session, unique);
        if let Some(at) = state.waiting.iter().position(is) {
            let waiting = state.waiting.remove(at);
            let id = waiting.wanted.file();
            waiting.answer(Err(if waiting.until.is_some() { libc::EAGAIN } else { libc::EINTR }));
            state.tidy(id);
            return;
        }
        // The request may have been taken by a thread that has not come to it yet.
        state.interrupted.push_back((session, unique));
        if state.interrupted.len() > INTERRUPTS {
            state.interrupted.pop_front();
        }
    }

    /// Retries, in the order in which they came, for those that wait, until there are none.
    fn serve(&self) {
        let mut state = self.state();
        let mut pause = SHORTEST;
        loop {
            let mut at = 0;
            let mut went = false;
            while at < state.waiting.len() {
                match state.retry(at) {
                    None => at += 1,
                    Some(result) => {
                        let waiting = state.waiting.remove(at);
                        waiting.answer(result);
                        state.tidy(waiting.wanted.file());
                        went = true;
                    }
                }
            }
            if state.waiting.is_empty() {
                state.served = false;
                return;
            }
            let told;
            (state, told) = match self.changed.wait_timeout(state, pause) {
                Ok((state, timeout)) => (state, !timeout.timed_out()),
                Err(poisoned) => (poisoned.into_inner().0, false),
            };
            pause = if told || went { SHORTEST } else { (pause * 2).min(LONGEST) };
        }
    }
}

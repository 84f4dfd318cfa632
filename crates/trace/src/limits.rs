//! Resource limits (getrlimit(2)).
//!
//! The limits of a traced command are those of its tracer when it is started. The tracer raises its
//! own as far as it may, gives the command back what it had, and works with less memory where a
//! limit stays. A tracer that has too little cannot run: an allocation that fails ends it, and what
//! it traces loses its files or its life. So what is needed is tried out before the command starts.

use std::sync::{Mutex, OnceLock, PoisonError, mpsc};
use std::thread;

use crate::error::TraceError;
use flowmine_files::kernel;

/// A limit of a process. The tracer raises all of them for itself, but that of the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// Bytes of address space (`RLIMIT_AS`, `ulimit -v`).
    AddressSpace,
    /// Bytes of private memory that can be written (`RLIMIT_DATA`, `ulimit -d`).
    Data,
    /// Processes and threads of the user (`RLIMIT_NPROC`, `ulimit -u`).
    Tasks,
    /// Open files of a process (`RLIMIT_NOFILE`, `ulimit -n`).
    Descriptors,
    /// Bytes of a file that is written (`RLIMIT_FSIZE`, `ulimit -f`).
    FileSize,
    /// Bytes of the stack of the main thread (`RLIMIT_STACK`, `ulimit -s`).
    Stack,
}

/// Those that every backend raises. What a command writes is written by FUSE only.
const OF_EVERY_BACKEND: [Limit; 4] = [Limit::AddressSpace, Limit::Data, Limit::Tasks, Limit::Descriptors];
/// Those that may be raised.
const ALL: [Limit; 5] = [Limit::AddressSpace, Limit::Data, Limit::Tasks, Limit::Descriptors, Limit::FileSize];

/// The limits that were raised, as they were, in the order of [`ALL`].
static BEFORE: [OnceLock<libc::rlimit>; ALL.len()] = [const { OnceLock::new() }; ALL.len()];

impl Limit {
    fn get(self) -> Option<libc::rlimit> {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: the structure is of this frame.
        let result = unsafe {
            match self {
                Limit::AddressSpace => libc::getrlimit(libc::RLIMIT_AS, &raw mut limit),
                Limit::Data => libc::getrlimit(libc::RLIMIT_DATA, &raw mut limit),
                Limit::Tasks => libc::getrlimit(libc::RLIMIT_NPROC, &raw mut limit),
                Limit::Descriptors => libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit),
                Limit::FileSize => libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit),
                Limit::Stack => libc::getrlimit(libc::RLIMIT_STACK, &raw mut limit),
            }
        };
        (result == 0).then_some(limit)
    }

    fn set(self, limit: &libc::rlimit) -> bool {
        // SAFETY: the structure lives until the call returns.
        let result = unsafe {
            match self {
                Limit::AddressSpace => libc::setrlimit(libc::RLIMIT_AS, limit),
                Limit::Data => libc::setrlimit(libc::RLIMIT_DATA, limit),
                Limit::Tasks => libc::setrlimit(libc::RLIMIT_NPROC, limit),
                Limit::Descriptors => libc::setrlimit(libc::RLIMIT_NOFILE, limit),
                Limit::FileSize => libc::setrlimit(libc::RLIMIT_FSIZE, limit),
                Limit::Stack => libc::setrlimit(libc::RLIMIT_STACK, limit),
            }
        };
        result == 0
    }

    /// The highest value that the system lets anybody have.
    fn highest(self) -> libc::rlim_t {
        match self {
            Limit::Descriptors => {
                kernel::read_to_string("/proc/sys/fs/nr_open").ok().and_then(|text| text.trim().parse().ok()).unwrap_or(1 << 20)
            }
            _ => libc::RLIM_INFINITY,
        }
    }

    /// Raises it for this process as far as it may; the command gets it back.
    pub fn raise(self) {
        let Some(before) = self.get() else { return };
        let highest = self.highest();
        if before.rlim_cur >= highest {
            return;
        }
        let slot = ALL.iter().position(|limit| *limit == self).and_then(|at| BEFORE.get(at));
        slot.map(|slot| slot.get_or_init(|| before));
        let all = libc::rlimit { rlim_cur: highest, rlim_max: before.rlim_max.max(highest) };
        if !self.set(&all) {
            self.set(&libc::rlimit { rlim_cur: before.rlim_max, ..before });
        }
    }

    /// How much there may be; `None` where there is no limit.
    pub fn now(self) -> Option<u64> {
        self.get().map(|limit| limit.rlim_cur).filter(|most| *most != libc::RLIM_INFINITY)
    }
}

/// Raises the limits of the tracer, as far as it may.
pub fn raise() {
    OF_EVERY_BACKEND.into_iter().for_each(Limit::raise);
    if memory_is_limited() {
        keep_to_one_heap();
    }
}

/// In a child before its exec: gives the command the limits that the tracer was started with. Only
/// makes calls that signal-safety(7) allows; nothing may be opened or allocated afterwards.
pub(crate) fn restore() {
    for (limit, before) in ALL.into_iter().zip(&BEFORE) {
        if let Some(before) = before.get() {
            limit.set(before);
        }
    }
}

/// Whether the tracer's memory is limited: then it keeps less, and merges no files.
pub fn memory_is_limited() -> bool {
    Limit::AddressSpace.now().is_some() || Limit::Data.now().is_some()
}

/// The C library reserves 64 MiB of addresses for each thread that allocates.
fn keep_to_one_heap() {
    // SAFETY: mallopt(3) takes numbers and may be called at any time.
    #[cfg(target_env = "gnu")]
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}

/// What a backend needs beyond what the process has when it is asked. The numbers are measured
/// (`docs/tracing.md`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Needs {
    /// Bytes of memory, where it is limited.
    pub memory: usize,
    /// Processes and threads, the command among them.
    pub tasks: usize,
    /// Open files, those that are open already among them.
    pub descriptors: u64,
}

/// Raises the limits, and tries whether what a backend needs can be had.
///
/// # Errors
/// What is missing, and which limit it is.
pub fn have(needs: Needs) -> Result<(), TraceError> {
    raise();
    let missing = |what: String| Err(TraceError::NotHere(what));
    if let Some(most) = Limit::Descriptors.now().filter(|most| *most < needs.descriptors) {
        return missing(format!("the tracer needs {} open files and may have {most} (ulimit -n)", needs.descriptors));
    }
    if memory_is_limited() && !can_map(needs.memory) {
        return missing(format!("the tracer needs {} MiB of memory more than the limit leaves (ulimit -v, ulimit -d)", needs.memory >> 20));
    }
    if !can_start(needs.tasks) {
        return missing(format!("the tracer needs {} processes and threads more than the limit leaves (ulimit -u, pids.max)", needs.tasks));
    }
    Ok(())
}

/// Whether the kernel gives this number of bytes: both limits count them.
fn can_map(bytes: usize) -> bool {
    let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE);
    // SAFETY: memory of its own, which is not used before it is given back.
    unsafe {
        let at = libc::mmap(std::ptr::null_mut(), bytes, access, flags, -1, 0);
        at != libc::MAP_FAILED && libc::munmap(at, bytes) == 0
    }
}

/// Whether this number of threads can exist at the same time.
fn can_start(count: usize) -> bool {
    let (end, ended) = mpsc::channel::<()>();
    let ended = Mutex::new(ended);
    thread::scope(|scope| {
        // Each waits until the other end of its channel is closed.
        let wait = || ended.lock().unwrap_or_else(PoisonError::into_inner).recv().is_err();
        let started = (0..count).all(|_| thread::Builder::new().stack_size(SMALL_STACK).spawn_scoped(scope, wait).is_ok());
        drop(end);
        started
    })
}

/// Bytes of the stack of a thread that only waits.
const SMALL_STACK: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_had_is_tried() {
        assert!(can_map(1 << 20) && !can_map(usize::MAX >> 1));
        assert!(can_start(4));
        assert!(have(Needs { memory: 1 << 20, tasks: 2, descriptors: 16 }).is_ok());
        let most = Limit::Descriptors.now().unwrap();
        let refused = have(Needs { memory: 0, tasks: 0, descriptors: most + 1 }).unwrap_err().to_string();
        assert_eq!(refused, format!("the tracer needs {} open files and may have {most} (ulimit -n)", most + 1));
    }
}

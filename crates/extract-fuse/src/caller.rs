//! Who asks, and by which system call: the thread of a request, its process, and what
//! `/proc/TID/syscall` says while it waits for our answer.
//!
//! The protocol gives a thread's number and the piece of work. Which call it came from (read or
//! sendfile, close or exit, the flags of the open) is in `/proc/TID/syscall` (proc_pid_syscall(5));
//! that file, kept open, also notices that a number is used again. It needs the right to trace the
//! caller, which the tracer of its own child has. Where it is refused, requests are taken as they
//! come.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use flowmine_files::kernel;
use flowmine_trace::record::{Op, Via};
use rustc_hash::FxHashMap;

use crate::handles::Handle;
use crate::process::{Phase, Process, Processes};
use crate::report::{Item, Reporter, Row};
use crate::room::Room;

/// A system call as it was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Call {
    /// Number of the call, one of `SYS_*` (syscalls(2)).
    pub(crate) number: i64,
    pub(crate) arguments: [u64; 6],
    /// Stack pointer and program counter.
    pub(crate) place: [u64; 2],
}

impl Call {
    /// Reads the line of `/proc/TID/syscall`; `None` for `running`, for other text that is no call,
    /// and for a call with an unknown number.
    pub(crate) fn parse(line: &[u8]) -> Option<Self> {
        let mut parts = std::str::from_utf8(line).ok()?.split_ascii_whitespace();
        let number = parts.next()?.parse().ok()?;
        if number < 0 {
            return None;
        }
        let mut hex = || u64::from_str_radix(parts.next()?.strip_prefix("0x")?, 16).ok();
        let mut arguments = [0; 6];
        for argument in &mut arguments {
            *argument = hex()?;
        }
        let place = [hex()?, hex()?];
        // A stack in the lower 4 GiB is that of a 32-bit program, which has other numbers for its calls.
        (place[0] >> 32 != 0).then_some(Call { number, arguments, place })
    }

    pub(crate) fn is(&self, numbers: &[libc::c_long]) -> bool {
        numbers.contains(&self.number)
    }

    /// Mechanism by which bytes move in this call.
    pub(crate) fn via(&self) -> Via {
        match self.number as libc::c_long {
            libc::SYS_sendfile => Via::Sendfile,
            libc::SYS_splice => Via::Splice,
            libc::SYS_copy_file_range => Via::CopyFileRange,
            libc::SYS_io_uring_enter => Via::IoUring,
            _ => Via::Call,
        }
    }

    /// How many bytes the call asks for, where it says so in a register.
    pub(crate) fn size(&self) -> Option<u64> {
        match self.number as libc::c_long {
            libc::SYS_read | libc::SYS_write | libc::SYS_pread64 | libc::SYS_pwrite64 => Some(self.arguments[2]),
            libc::SYS_sendfile => Some(self.arguments[3]),
            libc::SYS_splice | libc::SYS_copy_file_range => Some(self.arguments[4]),
            _ => None,
        }
    }

    /// Address and number of the parts of a vectored call.
    pub(crate) fn vector(&self) -> Option<(u64, u64)> {
        self.is(&[libc::SYS_readv, libc::SYS_writev, libc::SYS_preadv, libc::SYS_pwritev, libc::SYS_preadv2, libc::SYS_pwritev2])
            .then_some((self.arguments[1], self.arguments[2]))
    }
}

/// Pieces of one call that have come so far.
#[derive(Debug, Clone)]
pub(crate) struct Pieces {
    pub(crate) call: Call,
    pub(crate) op: Op,
    pub(crate) handle: Arc<Handle>,
    pub(crate) start_boot_ns: u64,
    pub(crate) end_boot_ns: u64,
    pub(crate) offset: u64,
    /// Bytes that the call asks for.
    pub(crate) size: u64,
    pub(crate) moved: u64,
    /// The error for which nothing was moved, as errno(3) numbers it.
    pub(crate) error: Option<i32>,
}

/// A thread that has asked for something.
#[derive(Debug)]
pub(crate) struct Thread {
    pub(crate) tid: u32,
    pub(crate) process: Arc<Process>,
    /// For whom it works: workers of io_uring carry the number of the submitter in their name.
    pub(crate) submitter: u32,
    pub(crate) io_uring: bool,
    call: Option<File>,
    statm: Option<File>,
    readable: AtomicBool,
    /// Since it was last looked at whether it can go.
    used: AtomicBool,
    /// Reads and writes that have begun: sendfile(2) can have both.
    pub(crate) pieces: Mutex<[Option<Pieces>; 2]>,
    /// The last call that was counted as one that cannot be recorded.
    unseen: Mutex<Option<Call>>,
}

impl Thread {
    /// Takes the pieces of reads and writes that have come so far, and leaves none.
    pub(crate) fn take_pieces(&self) -> [Option<Pieces>; 2] {
        std::mem::take(&mut *self.pieces.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether a call that cannot be recorded differs from the last one. Equal calls one after
    /// another are one: the number is a lower bound.
    pub(crate) fn begins_unseen(&self, call: &Call) -> bool {
        let last = self.unseen.lock().unwrap_or_else(PoisonError::into_inner).replace(*call);
        last.is_none_or(|last| last != *call)
    }

    /// An operation of this thread, of which `fill` gives the rest.
    pub(crate) fn operation(&self, op: Op, start_boot_ns: u64, fill: impl FnOnce(&mut Row)) -> Item {
        let mut row = Row {
            process: self.process.key,
            tid: self.submitter,
            op,
            via: if self.io_uring { Via::IoUring } else { Via::Call },
            start_boot_ns,
            end_boot_ns: None,
            open_file: None,
            file: None,
            offset: None,
            size: None,
            result: None,
            flags: None,
            more: None,
        };
        fill(&mut row);
        Item::Operation(row)
    }

    /// The call in which it waits; `Err` when the thread is gone and the number perhaps another's.
    pub(crate) fn call(&self) -> Result<Option<Call>, ()> {
        let Some(file) = &self.call else { return Ok(None) };
        let mut line = [0u8; 256];
        for _ in 0..64 {
            match file.read_at(&mut line, 0) {
                Ok(0) => return Ok(None),
                Ok(n) if line.starts_with(b"running") && n < 16 => {
                    // It has handed over its request and is on the way to sleep.
                    std::thread::yield_now();
                }
                Ok(n) => return Ok(Call::parse(&line[..n])),
                Err(error) if error.raw_os_error() == Some(libc::ESRCH) => return Err(()),
                Err(_) => {
                    self.readable.store(false, Ordering::Relaxed);
                    return Ok(None);
                }
            }
        }
        Ok(None)
    }
}

const SHARDS: usize = 16;

/// The threads that have asked so far.
#[derive(Debug)]
pub(crate) struct Threads {
    proc: PathBuf,
    room: Arc<Room>,
    shards: [Mutex<FxHashMap<u32, Arc<Thread>>>; SHARDS],
}

impl Threads {
    pub(crate) fn new(proc: PathBuf, room: Arc<Room>) -> Self {
        Threads { proc, room, shards: std::array::from_fn(|_| Mutex::default()) }
    }

    fn shard(&self, tid: u32) -> std::sync::MutexGuard<'_, FxHashMap<u32, Arc<Thread>>> {
        self.shards[tid as usize % SHARDS].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The thread of a request and the call it waits in. Nothing for requests of the kernel and of
    /// processes that we cannot see.
    pub(crate) fn find(&self, tid: u32, processes: &Processes, reporter: &Reporter) -> Option<(Arc<Thread>, Option<Call>)> {
        if tid == 0 {
            return None;
        }
        let known = self.shard(tid).get(&tid).cloned();
        if let Some(thread) = known {
            thread.used.store(true, Ordering::Relaxed);
            if let Ok(call) = thread.call() {
                return Some((thread, call));
            }
            // Pieces of a thread that is gone are left with it: the end of its call is not known.
            self.shard(tid).remove(&tid);
        }
        let process = processes.of_thread(tid, reporter)?;
        let comm = kernel::read(self.proc.join(format!("{tid}/comm"))).unwrap_or_default();
        let submitter = io_uring_submitter(&comm);
        let thread = Arc::new(Thread {
            tid,
            process,
            submitter: submitter.unwrap_or(tid),
            io_uring: submitter.is_some(),
            call: kernel::open(self.proc.join(format!("{tid}/syscall"))).ok(),
            statm: if self.room.plenty { kernel::open(self.proc.join(format!("{tid}/statm"))).ok() } else { None },
            readable: AtomicBool::new(true),
            used: AtomicBool::new(true),
            pieces: Mutex::default(),
            unseen: Mutex::default(),
        });
        let call = thread.call().ok().flatten();
        let mut shard = self.shard(tid);
        let gone = if shard.len() >= (self.room.threads / SHARDS).max(1) { idle(&mut shard) } else { None };
        shard.insert(tid, Arc::clone(&thread));
        drop(shard);
        // Its files are closed without the lock.
        drop(gone);
        Some((thread, call))
    }

    /// What a thread is doing, as far as it explains why its descriptors are closed.
    pub(crate) fn phase(&self, tid: u32) -> Phase {
        let known = self.shard(tid).get(&tid).cloned();
        let mut statm = [0; 128];
        let kept = known.and_then(|thread| thread.statm.as_ref()?.read_at(&mut statm, 0).ok()).filter(|n| *n > 0);
        match kept {
            Some(n) => Phase::new(&statm[..n]),
            // The number may be that of another thread by now.
            None => kernel::read(self.proc.join(format!("{tid}/statm"))).map_or(Phase::Exiting, |statm| Phase::new(&statm)),
        }
    }

    /// Lets go of the threads that are gone; pieces that were left are reported.
    pub(crate) fn sweep(&self, mut left: impl FnMut(&Thread, Pieces)) {
        for shard in &self.shards {
            let all: Vec<_> = shard.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect();
            for thread in all {
                // Without the lock: a thread in the middle of an exec lets us wait, and it may wait for one of ours that wants the lock.
                if self.proc.join(thread.tid.to_string()).exists() && thread.call().is_ok() {
                    continue;
                }
                {
                    let mut shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
                    if shard.get(&thread.tid).is_some_and(|now| Arc::ptr_eq(now, &thread)) {
                        shard.remove(&thread.tid);
                    }
                }
                for pieces in thread.take_pieces().into_iter().flatten() {
                    left(&thread, pieces);
                }
            }
        }
    }

    /// Gives out the pieces of all threads, when the trace ends.
    pub(crate) fn drain(&self, mut left: impl FnMut(&Thread, Pieces)) {
        for shard in &self.shards {
            for thread in std::mem::take(&mut *shard.lock().unwrap_or_else(PoisonError::into_inner)).into_values() {
                for pieces in thread.take_pieces().into_iter().flatten() {
                    left(&thread, pieces);
                }
            }
        }
    }
}

/// Takes out a thread that has asked for nothing lately and is in the middle of nothing. When it
/// asks again it is looked up as if it were new.
fn idle(shard: &mut FxHashMap<u32, Arc<Thread>>) -> Option<Arc<Thread>> {
    let can_go = |thread: &Arc<Thread>| {
        // It is reached only through the table, which is locked.
        Arc::strong_count(thread) == 1 && thread.pieces.lock().unwrap_or_else(PoisonError::into_inner).iter().all(Option::is_none)
    };
    let unused = shard.values().find(|thread| !thread.used.swap(false, Ordering::Relaxed) && can_go(thread)).map(|thread| thread.tid);
    let tid = unused.or_else(|| shard.values().find(|thread| can_go(thread)).map(|thread| thread.tid))?;
    shard.remove(&tid)
}

/// The kernel names its workers `iou-wrk-TID` and `iou-sqp-TID` after the thread that submitted.
fn io_uring_submitter(comm: &[u8]) -> Option<u32> {
    let comm = std::str::from_utf8(comm).ok()?.trim_end();
    comm.strip_prefix("iou-wrk-").or_else(|| comm.strip_prefix("iou-sqp-"))?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_read_from_its_line() {
        let line = b"0 0x3 0x7f1e82936000 0x20000 0x7f1e829c8b60 0xffffffff 0x0 0x7fff573f6228 0x7f1e82ab12ad\n";
        let call = Call::parse(line).unwrap();
        assert_eq!((call.number, call.arguments[0], call.arguments[2]), (0, 3, 0x20000));
        assert_eq!(call.place, [0x7fff_573f_6228, 0x7f1e_82ab_12ad]);
        for none in [
            &b"running\n"[..],
            b"-1 0x1 0x2\n",
            b"0 0x3\n",
            b"",
            b"0 0x3 0x1 0x2 0x3 0x4 0x5 zz 0x1",
            b"3 0x3 0x1 0x2 0x3 0x4 0x5 0xffdc1234 0xf7f31549\n",
        ] {
            assert_eq!(Call::parse(none), None);
        }
    }

    #[test]
    fn workers_of_io_uring_name_their_submitter() {
        assert_eq!(io_uring_submitter(b"iou-wrk-1234\n"), Some(1234));
        assert_eq!(io_uring_submitter(b"bash\n"), None);
    }
}

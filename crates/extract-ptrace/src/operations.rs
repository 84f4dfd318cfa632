//! From calls to operations: what is looked at when a call begins, and what is recorded when it
//! ended.
//!
//! In: the stops of a thread at a call. Out: records. What has to be known before the call acts
//! (the file behind a name that is about to go, the file of a descriptor that is about to be
//! closed, the offsets that a call is given by address) is read at its begin, all else at its end.

use flowmine_trace::clock::boot_ns;
use flowmine_trace::proc::files::Looked;
use flowmine_trace::proc::paths::Paths;
use flowmine_trace::record::{Op, Operation, Via};

use crate::aio;
use crate::calls::{At, Buffer, Call, Counted, OpenCall, Position};
use crate::descriptors::{OpenRef, Slot};
use crate::filter::{FOREIGN, MAKES_TASK, RECORDED, X32};
use crate::moves::Way;
use crate::open_files::{Found, NotFound};
use crate::pending::{Name, Pending, PendingKind, Place, Side};
use crate::requests::{self, CallStop, LastCall, RESTART, Resume};
use crate::tracer::Tracer;

/// For what a call is stopped at its end again, after its begin was seen; `None` where its end is of no interest.
type Next = Option<PendingKind>;

/// Where a transfer began.
enum Began {
    /// At this offset, where it can be read.
    At(Option<u64>),
    /// Others moved the position or the end meanwhile.
    Uncertain,
}

impl Began {
    /// What two readings say, one before and one after the transfer.
    fn only_if(before: Option<u64>, after: Option<u64>) -> Self {
        match (before, after) {
            (Some(before), Some(after)) if before != after => Began::Uncertain,
            (Some(_), after) => Began::At(after),
            (None, _) => Began::At(None),
        }
    }
}

/// The kernel's `O_LARGEFILE`, which the C library adds where it means nothing.
const O_LARGEFILE: u32 = if cfg!(target_arch = "aarch64") { 0o400_000 } else { 0o100_000 };
/// `RWF_APPEND` and `RWF_NOAPPEND` of pwritev2(2).
const RWF_APPEND: u64 = 0x10;
const RWF_NOAPPEND: u64 = 0x20;
/// Flags of close_range(2).
const CLOSE_RANGE_UNSHARE: u32 = 2;
const CLOSE_RANGE_CLOEXEC: u32 = 4;
/// Where the flags are in `struct io_uring_params`, and the one that makes a thread of the kernel
/// fetch the requests (io_uring_setup(2)).
const RING_FLAGS: u64 = 8;
const RING_POLLED: u32 = 2;

/// A number that a program gave as an offset.
fn offset(argument: u64) -> Option<u64> {
    i64::try_from(argument).is_ok().then_some(argument)
}

impl Tracer<'_> {
    /// The filter stopped a call of a thread.
    pub(crate) fn call_begins(&mut self, tid: u32) {
        let start = boot_ns();
        let Ok(CallStop::Seccomp { arch, number, arguments, instruction, stack, data }) = requests::call_stop(tid) else {
            requests::go(tid, Resume::On, 0);
            return;
        };
        let Some(task) = self.tasks.get_mut(&tid) else {
            requests::go(tid, Resume::On, 0);
            return;
        };
        let interrupted = task.interrupted.take();
        match data {
            RECORDED => {}
            MAKES_TASK => {
                self.trace_new_task(tid, arch, number, &arguments, stack);
                self.go(tid, 0);
                return;
            }
            FOREIGN => {
                self.foreign_call(tid, number, &arguments);
                requests::go(tid, Resume::On, 0);
                return;
            }
            // A filter of the program's own asks for a tracer. Untraced there is none: the call
            // fails.
            _ => {
                // That the thread is gone is learnt by waiting.
                let _ = requests::refuse_call(tid);
                requests::go(tid, Resume::On, 0);
                return;
            }
        }
        let mut start = start;
        if let Some((before, end)) = interrupted {
            if (before.number, before.arguments, before.instruction) == (number, arguments, instruction) {
                // It begins again: for the program it is one call.
                start = before.start;
            } else {
                self.finish(tid, before, -i64::from(libc::EINTR), end);
            }
        }
        let call = u32::try_from(number).ok().and_then(|number| self.calls.get(&number).copied());
        let next = call.and_then(|call| self.begin(tid, call, &arguments));
        let Some(what) = next else {
            requests::go(tid, Resume::On, 0);
            return;
        };
        let pending = Pending { number, arguments, instruction, start, what };
        if let Some(task) = self.tasks.get_mut(&tid) {
            task.pending = Some(pending);
        }
        if self.occupy(tid) {
            self.let_go(tid);
        } else {
            self.held.push_back(tid);
        }
    }

    /// Lets a thread's call go on to its end; it has the positions that it moves.
    fn let_go(&mut self, tid: u32) {
        let mut pending = self.tasks.get_mut(&tid).and_then(|task| task.pending.take());
        if let Some(Pending { what: PendingKind::Transfer { sides, .. }, .. }) = &mut pending {
            for side in sides {
                self.look_at_position(tid, side);
            }
        }
        if let Some(task) = self.tasks.get_mut(&tid) {
            task.pending = pending;
        }
        requests::go(tid, Resume::ToCallEnd, 0);
    }

    /// What of the position or the end of a file must be known before a transfer: threads that are
    /// not stopped, or not traced, may move them.
    fn look_at_position(&mut self, tid: u32, side: &mut Side) {
        let (fd, op, file) = (side.fd, side.op, side.file);
        let Place::Position { append, before, .. } = &mut side.place else { return };
        let Some(info) = self.position(tid, fd) else { return };
        *append |= info.flags & libc::O_APPEND as u32 != 0;
        *before = match *append && op == Op::Write {
            true if self.descriptors.is_alone(&file) => None,
            true => self.size(tid, fd),
            false => Some(info.position),
        };
    }

    /// Takes the positions that a thread's call will move, unless it has to wait for another call
    /// that is moving one of them.
    fn occupy(&mut self, tid: u32) -> bool {
        let Some(pending) = self.tasks.get(&tid).and_then(|task| task.pending.as_ref()) else {
            return true;
        };
        self.moves.begin(tid, &moved(&pending.what))
    }

    /// The positions that a thread's call moved are free: the next thread that waits for one goes
    /// on.
    fn vacate(&mut self, tid: u32, what: &PendingKind) {
        if !self.moves.end(tid, &moved(what)) {
            return;
        }
        for _ in 0..self.held.len() {
            let Some(tid) = self.held.pop_front() else { break };
            if self.occupy(tid) {
                self.let_go(tid);
            } else {
                self.held.push_back(tid);
            }
        }
    }

    /// A thread is at the stop before its end. Killed in a call, it may have done a part of it.
    pub(crate) fn ends_in_call(&mut self, tid: u32) {
        if let Some(pending) = self.taken_from(tid) {
            match requests::last_call(tid) {
                LastCall::Ended(result) => self.finish(tid, pending, result, boot_ns()),
                LastCall::Nothing => self.vacate(tid, &pending.what),
                LastCall::Unknown => self.lose_call(tid, &pending.what),
            }
        }
    }

    /// A thread has ended, and what became of a call of it is not known.
    pub(crate) fn call_given_up(&mut self, tid: u32) {
        if let Some(pending) = self.taken_from(tid) {
            self.lose_call(tid, &pending.what);
        }
    }

    /// The call of a thread that will not come to the stop at its end, if it was begun.
    fn taken_from(&mut self, tid: u32) -> Option<Pending> {
        let task = self.tasks.get_mut(&tid)?;
        task.interrupted = None;
        let pending = task.pending.take()?;
        if let Some(at) = self.held.iter().position(|held| *held == tid) {
            // It waited itself and has taken nothing.
            self.held.remove(at);
            return None;
        }
        Some(pending)
    }

    /// What a call did is not known.
    fn lose_call(&mut self, tid: u32, what: &PendingKind) {
        const KILLED: &str = "killed";
        match what {
            PendingKind::Open { .. } => self.lose(Op::Open.name(), KILLED, 1, None),
            PendingKind::Close { closing } | PendingKind::CloseRange { closing, .. } => {
                self.lose(Op::Close.name(), KILLED, closing.len() as u64, None);
            }
            PendingKind::DuplicateTo { old: Some(_), .. } => self.lose(Op::Close.name(), KILLED, 1, None),
            PendingKind::Transfer { sides, .. } => {
                for side in sides {
                    self.lose(side.op.name(), KILLED, 1, None);
                }
            }
            PendingKind::Named { op, .. } | PendingKind::OnFile { op, .. } => self.lose(op.name(), KILLED, 1, None),
            PendingKind::RingEnter => self.lose("io_uring", KILLED, 1, None),
            PendingKind::Submit { .. } => self.lose("call", KILLED, 1, None),
            PendingKind::Duplicate { .. }
            | PendingKind::DuplicateTo { old: None, .. }
            | PendingKind::Seek { .. }
            | PendingKind::RingSetup { .. }
            | PendingKind::Unshare { .. }
            | PendingKind::ChangeRoot => {}
        }
        self.vacate(tid, what);
    }

    /// A stop at the end of a call: records the call and lets the thread go on.
    pub(crate) fn call_ended(&mut self, tid: u32) {
        let end = boot_ns();
        let stop = requests::call_stop(tid);
        if matches!(stop, Ok(CallStop::Exit(_))) {
            self.restore(tid);
        }
        let pending = match stop {
            Ok(CallStop::Exit(_)) => self.tasks.get_mut(&tid).and_then(|task| task.pending.take()),
            // Kernels that stop for the filter before the begin of the call.
            Ok(CallStop::Entry) => {
                self.go(tid, 0);
                return;
            }
            _ => None,
        };
        if let (Some(pending), Ok(CallStop::Exit(result))) = (pending, stop) {
            if RESTART.contains(&result) {
                self.vacate(tid, &pending.what);
                if let Some(task) = self.tasks.get_mut(&tid) {
                    task.interrupted = Some((pending, end));
                }
            } else {
                self.finish(tid, pending, result, end);
            }
        }
        self.go(tid, 0);
    }

    /// A call in another calling convention; its arguments are ignored.
    fn foreign_call(&mut self, tid: u32, number: u64, a: &[u64; 6]) {
        let number = number as u32;
        let kind = if number & X32 != 0 && cfg!(target_arch = "x86_64") {
            // These are those of x86-64 but for a few that have pointers to pointers.
            match number & !X32 {
                515 | 534 | 546 => Some("read"),
                516 | 535 | 547 => Some("write"),
                number => self.calls.get(&number).and_then(|call| call.name()),
            }
        } else {
            self.foreign.get(&number).copied()
        };
        if let Some(task) = self.tasks.get(&tid) {
            self.descriptors.doubt(task.table);
        }
        let Some(kind) = kind else { return };
        let transfers = matches!(kind, "read" | "write");
        // A pipe or a terminal has no rows in any convention.
        if transfers && self.resolve_file(tid, a[0] as i32).is_none() {
            return;
        }
        self.lose(kind, "unreadable", 1, (transfers && takes_buffer(number)).then_some(a[2]));
    }

    /// Requests that io_submit(2) took of those behind an address.
    fn lose_submitted(&mut self, tid: u32, addresses: u64, count: u64) {
        let memory = self.memory(tid);
        for at in 0..count {
            let address = memory.word(addresses.wrapping_add(8 * at));
            let request = address.and_then(|address| aio::Request::read(&memory, address));
            match request {
                Some(request) if self.resolve_file(tid, request.descriptor).is_none() => {}
                Some(request) => {
                    if let Some(op) = request.op.filter(|op| self.wants(*op)) {
                        self.lose(op.name(), "asynchronous-io", 1, request.bytes(&memory));
                    }
                }
                None => self.lose("call", "asynchronous-io", 1, None),
            }
        }
    }

    fn begin(&mut self, tid: u32, call: Call, a: &[u64; 6]) -> Next {
        let fd = |n: usize| a[n] as i32;
        match call {
            Call::Open(how) => self.begin_open(tid, how, a),
            Call::Close => {
                let Some(file) = self.resolve_file(tid, fd(0)) else {
                    self.clear(tid, fd(0));
                    return None;
                };
                // From now on the number may be another file's.
                self.clear(tid, fd(0));
                Some(PendingKind::Close { closing: vec![(fd(0), file)] })
            }
            Call::CloseRange => self.begin_close_range(tid, a),
            Call::Duplicate => self.resolve_file(tid, fd(0)).map(|from| PendingKind::Duplicate { from }),
            Call::DuplicateTo => {
                let (from, to) = (self.resolve(tid, fd(0)), fd(1));
                let from = from.filter(|_| fd(0) != to)?;
                let old = self.resolve_file(tid, to);
                if old.is_none() && from == Slot::Other {
                    self.clear(tid, to);
                    return None;
                }
                Some(PendingKind::DuplicateTo { from, to, old })
            }
            Call::Transfer(op, buffer, position) => self.begin_transfer(tid, op, buffer, position, a),
            Call::Move(via) => self.begin_move(tid, via, a),
            Call::Seek => match self.resolve_file(tid, fd(0)) {
                Some(file) if !self.descriptors.is_alone(&file) => Some(PendingKind::Seek { file }),
                _ => None,
            },
            Call::Delete(at) => {
                // The removal of a directory is counted and has no row.
                if at == At::Directory && a[2] as i32 & libc::AT_REMOVEDIR != 0 {
                    self.count(tid, Counted::Rmdir);
                    return None;
                }
                let (base, path) = place(at, 0, a);
                self.begin_named(tid, Op::Delete, (base, path), None, None, false)
            }
            Call::Rename(at, with_flags) => {
                let flags = if with_flags { a[4] as u32 } else { 0 };
                let (from, to) = (place(at, 0, a), place(at, if at == At::Here { 1 } else { 2 }, a));
                self.begin_named(tid, Op::Rename, from, Some(to), Some(flags), false)
            }
            Call::Link(at) => {
                let follow = at == At::Directory && a[4] as i32 & libc::AT_SYMLINK_FOLLOW != 0;
                let (from, to) = (place(at, 0, a), place(at, if at == At::Here { 1 } else { 2 }, a));
                self.begin_named(tid, Op::Link, from, Some(to), None, follow)
            }
            Call::Count(what) => {
                self.count(tid, what);
                None
            }
            Call::Truncate => self.begin_truncate(tid, a),
            Call::TruncateOpen => self.begin_on_file(tid, Op::Truncate, fd(0), None, offset(a[1]), None),
            Call::Allocate => self.begin_on_file(tid, Op::Allocate, fd(0), offset(a[2]), offset(a[3]), Some(a[1] as u32)),
            Call::Sync => self.begin_on_file(tid, Op::Sync, fd(0), None, None, None),
            Call::SyncRange => self.begin_on_file(tid, Op::Sync, fd(0), offset(a[1]), offset(a[2]), None),
            Call::Map => self.begin_on_file(tid, Op::Mmap, fd(4), offset(a[5]), Some(a[1]), Some(a[2] as u32 | (a[3] as u32) << 8)),
            Call::RingSetup => {
                let flags = self.memory(tid).exactly::<4>(a[1].wrapping_add(RING_FLAGS)).map(u32::from_ne_bytes);
                Some(PendingKind::RingSetup { polled: flags.is_none_or(|flags| flags & RING_POLLED != 0) })
            }
            Call::RingEnter => Some(PendingKind::RingEnter),
            Call::Submit => Some(PendingKind::Submit { requests: a[2] }),
            Call::Unshare => Some(PendingKind::Unshare { flags: a[0] }),
            Call::ChangeRoot => Some(PendingKind::ChangeRoot),
        }
    }

    /// Adds a call to those of the process.
    fn count(&mut self, tid: u32, what: Counted) {
        let process = self.tasks.get(&tid).map(|task| task.process);
        let Some(process) = process.and_then(|process| self.processes.get_mut(&process)) else { return };
        let calls = &mut process.directories;
        *match what {
            Counted::Mkdir => &mut calls.mkdir,
            Counted::Rmdir => &mut calls.rmdir,
            Counted::Symlink => &mut calls.symlink,
            Counted::Readdir => &mut calls.readdir,
        } += 1;
    }

    fn clear(&mut self, tid: u32, fd: i32) {
        if let Some(task) = self.tasks.get(&tid) {
            self.descriptors.clear(task.table, fd);
        }
    }

    fn begin_open(&mut self, tid: u32, how: OpenCall, a: &[u64; 6]) -> Next {
        let (directory, path, flags) = match how {
            OpenCall::Open => (libc::AT_FDCWD, Some(a[0]), Some(a[1] as u32)),
            OpenCall::Creat => (libc::AT_FDCWD, Some(a[0]), Some((libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC) as u32)),
            OpenCall::OpenAt => (a[0] as i32, Some(a[1]), Some(a[2] as u32)),
            // The first member of `struct open_how`.
            OpenCall::OpenAt2 => (a[0] as i32, Some(a[1]), self.memory(tid).word(a[2]).map(|flags| flags as u32)),
            OpenCall::ByHandle => (a[0] as i32, None, Some(a[2] as u32)),
        };
        Some(PendingKind::Open { flags: flags.map(|flags| flags & !O_LARGEFILE), directory, path })
    }

    fn begin_close_range(&mut self, tid: u32, a: &[u64; 6]) -> Next {
        let number = |argument: u64| i32::try_from(argument as u32).unwrap_or(i32::MAX);
        let (first, last, flags) = (number(a[0]), number(a[1]), a[2] as u32);
        let mut closing = Vec::new();
        if flags & CLOSE_RANGE_CLOEXEC == 0 {
            for fd in self.proc.descriptors(tid) {
                let Ok(fd) = i32::try_from(fd) else { continue };
                if (first..=last).contains(&fd)
                    && let Some(file) = self.resolve_file(tid, fd)
                {
                    closing.push((fd, file));
                }
            }
        }
        Some(PendingKind::CloseRange { first, last, flags, closing })
    }

    fn begin_transfer(&mut self, tid: u32, op: Op, buffer: Buffer, position: Position, a: &[u64; 6]) -> Next {
        let fd = a[0] as i32;
        let file = self.resolve_file(tid, fd).filter(|file| !file.path_only && self.wants(op))?;
        let size = match buffer {
            Buffer::Plain => Some(a[2]),
            Buffer::Vector => self.memory(tid).vector_bytes(a[1], a[2]),
        };
        let flags = if position == Position::GivenOrOfFile { a[5] } else { 0 };
        let append = op == Op::Write && flags & RWF_APPEND != 0;
        let place = match position {
            Position::OfFile => Place::Position { append, way: Way::Waiting, before: None },
            Position::GivenOrOfFile if a[3] == u64::MAX => Place::Position { append, way: Way::Waiting, before: None },
            _ if append => Place::End(self.size(tid, fd)),
            // A descriptor that appends does so with pwrite(2) too (BUGS there).
            _ if op == Op::Write && flags & RWF_NOAPPEND == 0 && self.appends(tid, fd) => Place::End(self.size(tid, fd)),
            _ => Place::Given(offset(a[3])),
        };
        Some(PendingKind::Transfer { sides: vec![Side { op, via: Via::Call, fd, file, place }], size })
    }

    fn appends(&mut self, tid: u32, fd: i32) -> bool {
        self.position(tid, fd).is_some_and(|info| info.flags & libc::O_APPEND as u32 != 0)
    }

    fn begin_move(&mut self, tid: u32, via: Via, a: &[u64; 6]) -> Next {
        // Source and its offset, target and its offset, size.
        let (from, from_at, to, to_at, size) = match via {
            Via::Sendfile => (a[1], a[2], a[0], 0, a[3]),
            _ => (a[0], a[1], a[2], a[3], a[4]),
        };
        let mut sides = Vec::new();
        for (op, fd, at) in [(Op::Read, from as i32, from_at), (Op::Write, to as i32, to_at)] {
            // One that is not wanted still makes the offsets of others uncertain.
            if let Some(file) = self.resolve_file(tid, fd).filter(|file| !file.path_only && (at == 0 || self.wants(op))) {
                let place = if at != 0 {
                    Place::Given(self.memory(tid).word(at).and_then(offset))
                } else {
                    // sendfile(2) and splice(2) may wait for the other end of a pipe: no other
                    // thread waits for them.
                    let way = if via == Via::CopyFileRange { Way::Waiting } else { Way::AtOnce };
                    Place::Position { append: false, way, before: None }
                };
                sides.push(Side { op, via, fd, file, place });
            }
        }
        if sides.is_empty() { None } else { Some(PendingKind::Transfer { sides, size: Some(size) }) }
    }

    fn begin_named(&mut self, tid: u32, op: Op, at: (i32, u64), new: Option<(i32, u64)>, flags: Option<u32>, follow: bool) -> Next {
        if !self.wants(op) {
            return None;
        }
        let mut file = None;
        let mut name = self.name(tid, at);
        if let Some(path) = &name.given {
            let located = self.locate(tid, name.base, path);
            let file_system = self.file_system_of(tid, &located);
            let found = self.file_at(tid, &located, follow);
            // A file that has no name yet is reached through a link in /proc.
            if !follow && !self.wants_file_system(file_system.as_deref()) {
                return None;
            }
            // Only regular files and block devices have rows of their own: of a link, a directory, a FIFO or a socket its name is recorded.
            file = found.and_then(|(looked, key, _)| looked.kind().map(|_| key));
            name.paths = located.paths;
        }
        let new = new.map(|at| {
            let name = self.name(tid, at);
            self.led(tid, name)
        });
        Some(PendingKind::Named { op, name, new, file, size: None, flags })
    }

    fn begin_truncate(&mut self, tid: u32, a: &[u64; 6]) -> Next {
        if !self.wants(Op::Truncate) {
            return None;
        }
        let size = offset(a[1]);
        let (mut name, mut file) = (self.name(tid, (libc::AT_FDCWD, a[0])), None);
        if let Some(path) = &name.given {
            let located = self.locate(tid, name.base, path);
            name.paths = located.paths.clone();
            if let Some((looked, key, real)) = self.file_at(tid, &located, true) {
                let file_system = self.file_system_of(tid, &located);
                if looked.kind().is_none() || !self.wants_file_system(file_system.as_deref()) {
                    return None;
                }
                (name.paths, file) = (real, Some(key));
            }
        }
        Some(PendingKind::Named { op: Op::Truncate, name, new: None, file, size, flags: None })
    }

    /// A path that a call was given. One that cannot be read cannot be read by the kernel: the call
    /// will fail with EFAULT.
    fn name(&mut self, tid: u32, (base, address): (i32, u64)) -> Name {
        Name { base, given: self.memory(tid).path(address), paths: Paths::default() }
    }

    /// The same with where it leads, unless that is known already. When its call has ended, the
    /// kernel remembers directories that a process had to be asked for before.
    fn led(&mut self, tid: u32, mut name: Name) -> Name {
        if let (Paths { host: None, container: None }, Some(path)) = (&name.paths, &name.given) {
            name.paths = self.locate(tid, name.base, path).paths;
        }
        name
    }

    fn begin_on_file(&mut self, tid: u32, op: Op, fd: i32, offset: Option<u64>, size: Option<u64>, flags: Option<u32>) -> Next {
        match self.resolve_file(tid, fd) {
            Some(file) if self.wants(op) && !file.path_only => Some(PendingKind::OnFile { op, file, offset, size, flags }),
            _ => None,
        }
    }

    /// Records a call that ended.
    fn finish(&mut self, tid: u32, pending: Pending, result: i64, end: u64) {
        let Some(task) = self.tasks.get(&tid) else { return };
        let (process, table) = (task.process, task.table);
        let start = pending.start;
        let new = |op: Op| Operation { end_boot_ns: Some(end), result: Some(result), ..Operation::new(process, tid, op, start) };
        match pending.what {
            PendingKind::Open { flags, directory, path } => self.finish_open(tid, new(Op::Open), flags, directory, path, result),
            PendingKind::Close { closing } => self.tell_closed(&new(Op::Close), &closing),
            PendingKind::CloseRange { first, last, flags, closing } => {
                if result != 0 {
                    return;
                }
                let mut table = table;
                if flags & CLOSE_RANGE_UNSHARE != 0 {
                    table = self.own_table(tid);
                }
                if flags & CLOSE_RANGE_CLOEXEC == 0 {
                    for (fd, _) in self.descriptors.range(table, first, last) {
                        self.descriptors.clear(table, fd);
                    }
                    self.tell_closed(&new(Op::Close), &closing);
                }
            }
            PendingKind::Duplicate { from } => {
                if let Ok(fd) = i32::try_from(result)
                    && fd >= 0
                {
                    self.descriptors.set(table, fd, Slot::File(from));
                }
            }
            PendingKind::DuplicateTo { from, to, old } => {
                if result >= 0 {
                    self.descriptors.set(table, to, from);
                    if let Some(old) = old {
                        self.tell_closed(&Operation { result: Some(0), ..new(Op::Close) }, &[(to, old)]);
                    }
                }
            }
            PendingKind::Transfer { ref sides, size } => {
                for side in sides {
                    let (offset, offset_uncertain) = match self.began_at(tid, side, result) {
                        Began::At(offset) => (offset, false),
                        Began::Uncertain => (None, true),
                    };
                    let (open_file, file) = (side.file.number, Some(side.file.file));
                    self.tell(Operation { via: side.via, open_file, file, offset, offset_uncertain, size, ..new(side.op) });
                }
                self.vacate(tid, &pending.what);
            }
            PendingKind::Named { op, name, new: new_name, file, size, flags } => {
                let paths = self.led(tid, name).paths;
                let new_path = new_name.and_then(|name| self.led(tid, name).paths.host);
                let operation = Operation {
                    file,
                    size,
                    flags,
                    path: paths.host.as_deref(),
                    container_path: paths.container.as_deref(),
                    new_path: new_path.as_deref(),
                    ..new(op)
                };
                self.tell(operation);
            }
            PendingKind::OnFile { op, file, offset, size, flags } => {
                // An address is no error.
                let result = if op == Op::Mmap && !(-4095..0).contains(&result) { 0 } else { result };
                let operation =
                    Operation { open_file: file.number, file: Some(file.file), offset, size, flags, result: Some(result), ..new(op) };
                self.tell(operation);
            }
            PendingKind::RingSetup { polled } => {
                if result >= 0 {
                    self.descriptors.doubt(table);
                    if polled || !self.keeps_events() {
                        // How much will go through it is not seen at all.
                        self.lose("io_uring", "not-visible", 1, None);
                    }
                }
            }
            PendingKind::RingEnter => {
                if let Ok(submitted) = u64::try_from(result) {
                    self.descriptors.doubt(table);
                    if submitted > 0 {
                        self.lose("io_uring", "not-visible", submitted, None);
                    }
                }
            }
            PendingKind::Submit { requests } => self.lose_submitted(tid, requests, u64::try_from(result).unwrap_or(0)),
            PendingKind::Seek { .. } => self.vacate(tid, &pending.what),
            PendingKind::Unshare { flags } => {
                if result == 0 && flags & libc::CLONE_FILES as u64 != 0 {
                    self.own_table(tid);
                }
                self.views_age += 1;
            }
            PendingKind::ChangeRoot => self.views_age += 1,
        }
    }

    /// A thread has a table of its own from now on.
    fn own_table(&mut self, tid: u32) -> u32 {
        let Some(task) = self.tasks.get_mut(&tid) else { return 0 };
        let shared = task.table;
        if self.descriptors.threads(shared) > 1 {
            task.table = self.descriptors.copy(shared, tid);
            self.descriptors.leave(shared, tid);
        }
        task.table
    }

    fn tell_closed(&mut self, call: &Operation<'_>, closed: &[(i32, OpenRef)]) {
        for (_, file) in closed {
            self.tell(Operation { open_file: file.number, file: Some(file.file), ..call.clone() });
        }
    }

    /// Where a transfer began that has just ended.
    fn began_at(&mut self, tid: u32, side: &Side, result: i64) -> Began {
        let moved = u64::try_from(result).unwrap_or(0);
        match side.place {
            Place::Given(offset) => Began::At(offset),
            // Others may have appended meanwhile: then the offset is unknown.
            Place::End(before) => Began::only_if(before, self.size(tid, side.fd).and_then(|after| after.checked_sub(moved))),
            Place::Position { append, before, .. } => {
                if side.op == Op::Write && moved == 0 && append {
                    return Began::At(self.size(tid, side.fd));
                }
                if side.file.number.is_some_and(|number| self.moves.overlapped(tid, number)) {
                    return Began::Uncertain;
                }
                let began = self.position(tid, side.fd).and_then(|info| info.position.checked_sub(moved));
                match before {
                    Some(_) => Began::only_if(before, began),
                    None => Began::At(began),
                }
            }
        }
    }

    fn finish_open(&mut self, tid: u32, call: Operation<'_>, flags: Option<u32>, directory: i32, path: Option<u64>, result: i64) {
        let Ok(fd) = i32::try_from(result) else { return };
        if fd < 0 {
            self.failed_open(tid, &Operation { flags, ..call }, directory, path);
            return;
        }
        let Some(table) = self.tasks.get(&tid).map(|task| task.table) else { return };
        match self.find(tid, fd, flags) {
            Ok(Found { looked, file, file_system, paths }) => {
                let number = self.descriptors.new_number();
                let path_only = flags.is_some_and(|flags| flags & libc::O_PATH as u32 != 0);
                self.descriptors.set(table, fd, Slot::File(OpenRef { number: Some(number), file, seen_open: true, path_only }));
                let operation = Operation {
                    open_file: Some(number),
                    file: Some(file),
                    kind: looked.kind(),
                    file_system: file_system.as_deref(),
                    file_size: Some(looked.size),
                    result: Some(0),
                    flags,
                    path: paths.host.as_deref(),
                    container_path: paths.container.as_deref(),
                    ..call
                };
                self.tell(operation);
            }
            Err(NotFound::Other) => self.descriptors.set(table, fd, Slot::Other),
            Err(NotFound::Unreadable) => {
                self.descriptors.set(table, fd, Slot::Other);
                self.lose("open", "unreadable", 1, None);
            }
            // Another thread was quick.
            Err(NotFound::Closed) => {
                self.descriptors.clear(table, fd);
                self.lose("open", "unreadable", 1, None);
            }
        }
    }

    fn failed_open(&mut self, tid: u32, call: &Operation<'_>, directory: i32, path: Option<u64>) {
        if !self.wants(Op::Open) {
            return;
        }
        let mut paths = Paths::default();
        if let Some(path) = path.and_then(|address| self.memory(tid).path(address)) {
            let located = self.locate(tid, directory, &path);
            let file_system = self.file_system_of(tid, &located);
            if !self.wants_file_system(file_system.as_deref()) {
                return;
            }
            let followed = call.flags.is_none_or(|flags| flags & libc::O_NOFOLLOW as u32 == 0);
            if self.looked_at(tid, &located, followed).is_some_and(|looked| !may_be_recorded(&looked)) {
                return;
            }
            paths = located.paths;
        }
        self.tell(Operation { path: paths.host.as_deref(), container_path: paths.container.as_deref(), ..call.clone() });
    }
}

/// Whether the third argument of a read or write of a foreign convention is its number of bytes:
/// read, write, pread64 and pwrite64 of 32-bit programs, and of x32.
fn takes_buffer(number: u32) -> bool {
    if number & X32 != 0 && cfg!(target_arch = "x86_64") {
        return matches!(number & !X32, 0 | 1 | 17 | 18);
    }
    matches!(number, 3 | 4 | 180 | 181)
}

/// Whether what is there could have become an open file that is recorded: a link itself cannot be
/// opened, and what it leads to is not known.
fn may_be_recorded(looked: &Looked) -> bool {
    looked.kind().is_some() || looked.mode & libc::S_IFMT == libc::S_IFLNK
}

/// The directory and the path of a name that a call was given.
fn place(at: At, first: usize, a: &[u64; 6]) -> (i32, u64) {
    match at {
        At::Here => (libc::AT_FDCWD, a[first]),
        At::Directory => (a[first] as i32, a[first + 1]),
    }
}

/// The open files that a call moves in position, each once.
fn moved(what: &PendingKind) -> Vec<(u64, Way)> {
    match what {
        PendingKind::Transfer { sides, .. } => {
            let at_position = |side: &Side| match side.place {
                Place::Position { way, .. } => side.file.number.map(|number| (number, way)),
                Place::Given(_) | Place::End(_) => None,
            };
            let mut moved: Vec<_> = sides.iter().filter_map(at_position).collect();
            moved.dedup();
            moved
        }
        PendingKind::Seek { file } => file.number.map(|number| (number, Way::Waiting)).into_iter().collect(),
        _ => Vec::new(),
    }
}

impl Call {
    /// The kind of loss when such a call could not be read.
    fn name(self) -> Option<&'static str> {
        Some(match self {
            Call::Open(_) => "open",
            Call::Close | Call::CloseRange | Call::DuplicateTo => "close",
            Call::Transfer(op, ..) => op.name(),
            Call::Move(_) => "read",
            Call::Delete(_) => "delete",
            Call::Rename(..) => "rename",
            Call::Link(_) => "link",
            Call::Truncate | Call::TruncateOpen => "truncate",
            Call::Allocate => "allocate",
            Call::Sync | Call::SyncRange => "sync",
            Call::Map => "mmap",
            Call::Count(_)
            | Call::Seek
            | Call::Duplicate
            | Call::RingSetup
            | Call::RingEnter
            | Call::Submit
            | Call::Unshare
            | Call::ChangeRoot => {
                return None;
            }
        })
    }
}

//! Requests about open files: open, read, write, close, allocate, copy, synchronise.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use flowmine_trace::clock;
use flowmine_trace::options::Detail;
use flowmine_trace::record::{FileKey, Op, Via};

use crate::caller::{Call, Pieces, Thread};
use crate::handles::Handle;
use crate::identity::with_own_capabilities;
use crate::lock_ranges::Owner;
use crate::names::{entry, file_kind, path_descriptor};
use crate::nodes::Node;
use crate::open_flags::{FMODE_EXEC, open_flags};
use crate::process::Phase;
use crate::report::{Item, More};
use crate::session::{Answer, Request, Worker};
use crate::system::{self, Errno};
use crate::tracer::Tracer;
use crate::wire::{self, OpenOut, fopen, init};

/// Calls that wait for the bytes that they move.
const MOVING: &[libc::c_long] = &[
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_pread64,
    libc::SYS_pwrite64,
    libc::SYS_readv,
    libc::SYS_writev,
    libc::SYS_preadv,
    libc::SYS_pwritev,
    libc::SYS_preadv2,
    libc::SYS_pwritev2,
    libc::SYS_sendfile,
    libc::SYS_splice,
    libc::SYS_copy_file_range,
];

/// Calls for which the kernel reads by itself, the head of a program for example.
const EXECUTING: &[libc::c_long] = &[libc::SYS_execve, libc::SYS_execveat, libc::SYS_finit_module];

/// Calls that read through the page cache: the bytes that it requests do not show what the call
/// read.
const THROUGH_THE_CACHE: &[libc::c_long] = &[libc::SYS_sendfile, libc::SYS_splice, libc::SYS_copy_file_range];

/// Calls that read through the page cache where the open file has one.
const READING: &[libc::c_long] = &[libc::SYS_read, libc::SYS_pread64, libc::SYS_readv, libc::SYS_preadv, libc::SYS_preadv2];

/// Calls that fill the page cache and read nothing.
const FILLING: &[libc::c_long] = &[libc::SYS_readahead, libc::SYS_fadvise64, libc::SYS_madvise];

const SYNCHRONISING: &[libc::c_long] = &[libc::SYS_fsync, libc::SYS_fdatasync, libc::SYS_io_uring_enter];

#[cfg(target_arch = "x86_64")]
const OPENING: &[libc::c_long] =
    &[libc::SYS_openat, libc::SYS_openat2, libc::SYS_open, libc::SYS_creat, libc::SYS_io_uring_enter, libc::SYS_open_by_handle_at];
#[cfg(not(target_arch = "x86_64"))]
const OPENING: &[libc::c_long] = &[libc::SYS_openat, libc::SYS_openat2, libc::SYS_io_uring_enter, libc::SYS_open_by_handle_at];

#[cfg(target_arch = "x86_64")]
const CLOSING: &[libc::c_long] = &[libc::SYS_close, libc::SYS_close_range, libc::SYS_dup2, libc::SYS_dup3, libc::SYS_io_uring_enter];
#[cfg(not(target_arch = "x86_64"))]
const CLOSING: &[libc::c_long] = &[libc::SYS_close, libc::SYS_close_range, libc::SYS_dup3, libc::SYS_io_uring_enter];

impl Worker {
    pub(crate) fn open(&mut self, request: &Request<'_>) -> Result<Answer, Errno> {
        let (open, _) = request.take::<wire::OpenIn>()?;
        let node = request.session.nodes.get(request.header.node)?;
        let flags = underneath(open.flags);
        let fd = request.session.tracer.files.for_one_more().and_then(|()| {
            let fd = node.fd()?;
            if open.flags & FMODE_EXEC == 0 {
                request.session.tracer.keeper.with_room(|| system::reopen(fd.raw(), flags))
            } else {
                self.open_program(request, fd.raw(), flags)
            }
        });
        match fd {
            Ok(fd) => {
                let stat = system::stat(fd.as_raw_fd())?;
                let out = self.opened(request, fd, &node, &stat, open.flags);
                self.put(&out);
                Ok(Answer::Out)
            }
            Err(errno) => {
                self.open_refused(request, open.flags, node.path(), errno);
                Err(errno)
            }
        }
    }

    pub(crate) fn create(&mut self, request: &Request<'_>) -> Result<Answer, Errno> {
        let (create, rest) = request.take::<wire::CreateIn>()?;
        let (name, _) = wire::take_name(rest).ok_or(libc::EINVAL)?;
        let parent = request.session.nodes.get(request.header.node)?;
        let c_name = system::name(name)?;
        self.identity.mask(create.umask);
        let tracer = &request.session.tracer;
        let fd = tracer.files.for_one_more().and_then(|()| {
            let directory = parent.fd()?;
            let flags = underneath(create.flags) | libc::O_CREAT | libc::O_NOFOLLOW;
            // For want of a descriptor it fails before the file is made.
            // SAFETY: a zero-terminated name; the descriptor that is returned is ours.
            tracer.keeper.with_room(|| unsafe {
                system::positive(libc::openat(directory.raw(), c_name.as_ptr(), flags, create.mode)).map(|fd| OwnedFd::from_raw_fd(fd))
            })
        });
        let fd = match fd {
            Ok(fd) => fd,
            Err(errno) => {
                self.open_refused(request, create.flags, parent.path_of(name), errno);
                return Err(errno);
            }
        };
        let (node, stat) = request.session.nodes.insert(tracer.keeper.with_room(|| path_descriptor(&fd))?)?;
        node.found(&parent, name);
        let out = self.opened(request, fd, &node, &stat, create.flags);
        self.put(&entry(request.session, &node, &stat));
        self.put(&out);
        Ok(Answer::Out)
    }

    pub(crate) fn tmpfile(&mut self, request: &Request<'_>) -> Result<Answer, Errno> {
        let (create, _) = request.take::<wire::CreateIn>()?;
        let parent = request.session.nodes.get(request.header.node)?;
        self.identity.mask(create.umask);
        let tracer = &request.session.tracer;
        tracer.files.for_one_more()?;
        let directory = parent.fd()?;
        let flags = (underneath(create.flags) & !libc::O_CREAT) | libc::O_TMPFILE;
        // SAFETY: a zero-terminated name; the descriptor that is returned is ours.
        let fd = tracer.keeper.with_room(|| unsafe {
            Ok(OwnedFd::from_raw_fd(system::positive(libc::openat(directory.raw(), c".".as_ptr(), flags, create.mode))?))
        })?;
        let (node, stat) = request.session.nodes.insert(tracer.keeper.with_room(|| path_descriptor(&fd))?)?;
        let out = self.opened(request, fd, &node, &stat, create.flags);
        self.put(&entry(request.session, &node, &stat));
        self.put(&out);
        Ok(Answer::Out)
    }

    /// Opens a program for execve(2), which needs the right to execute and not the one to read.
    /// The kernel reads it, and the caller gets no descriptor: so the tracer opens it with its own
    /// rights where the caller may not read.
    fn open_program(&mut self, request: &Request<'_>, fd: RawFd, flags: i32) -> Result<OwnedFd, Errno> {
        system::may_access(fd, libc::X_OK)?;
        let open = || request.session.tracer.keeper.with_room(|| system::reopen(fd, flags));
        open().or_else(|errno| {
            if errno != libc::EACCES {
                return Err(errno);
            }
            self.identity.become_self()?;
            open()
        })
    }

    /// Keeps a file that was opened, and reports it.
    fn opened(&self, request: &Request<'_>, fd: OwnedFd, node: &Arc<Node>, stat: &libc::stat, flags: u32) -> OpenOut {
        let session = request.session;
        let tracer = &session.tracer;
        let path = node.path();
        let file = FileKey { device: stat.st_dev, inode: stat.st_ino, generation: system::generation(fd.as_raw_fd()) };
        let file_system = tracer.file_system(stat.st_dev, fd.as_raw_fd());
        let recorded =
            file_kind(stat.st_mode).is_some() && tracer.wants_file_system(file_system.as_deref()) && tracer.wants_path(path.as_deref());
        let id = tracer.next_handle.fetch_add(1, Ordering::Relaxed);
        let append = flags & libc::O_APPEND as u32 != 0;
        let mut out = OpenOut { handle: id, flags: 0, backing: 0 };
        if recorded {
            out.flags = fopen::DIRECT_IO;
            // A kernel that refuses shared mappings of such files would break programs that want to write one: those are served from the page cache.
            if session.features & init::DIRECT_IO_ALLOW_MMAP == 0 && flags & libc::O_ACCMODE as u32 == libc::O_RDWR as u32 {
                out.flags = fopen::KEEP_CACHE;
            }
            if flags & libc::O_DIRECT as u32 != 0 {
                out.flags |= fopen::PARALLEL_DIRECT_WRITES;
            }
        }
        let open = tracer.files.keep(fd);
        node.opened(&open);
        let mut handle = Handle::new(id, open, Arc::clone(node), file, recorded, append);
        handle.direct = out.flags & fopen::DIRECT_IO != 0;
        session.handles.insert(Arc::new(handle));
        if recorded && flags & FMODE_EXEC == 0 {
            with_own_capabilities(|| Self::tell_opened(request, id, file, stat, flags, path, file_system));
        }
        out
    }

    /// Reports an open. One for exec gives no row, and before Linux 5.7 who asks for the call of a
    /// thread in an exec waits for its end.
    fn tell_opened(
        request: &Request<'_>,
        id: u64,
        file: FileKey,
        stat: &libc::stat,
        flags: u32,
        path: Option<Vec<u8>>,
        file_system: Option<Arc<str>>,
    ) {
        let tracer = &request.session.tracer;
        let Some((thread, call)) = request.caller() else { return };
        if call.is_none_or(|call| call.is(OPENING)) {
            tracer.processes.look_again(&thread.process, &tracer.reporter);
            if tracer.wants(Op::Open, &request.header) {
                let kind = file_kind(stat.st_mode);
                let container_path = tracer.seen_by(thread, path.as_deref());
                let more = More { kind, file_system, file_size: Some(stat.st_size as u64), path, container_path, new_path: None };
                tracer.reporter.send(thread.operation(Op::Open, request.start_boot_ns, |row| {
                    row.end_boot_ns = Some(clock::boot_ns());
                    row.open_file = Some(id);
                    row.file = Some(file);
                    row.result = Some(0);
                    row.flags = Some(open_flags(tracer, call.as_ref(), thread, flags));
                    row.more = Some(Box::new(more));
                }));
            }
        }
    }

    fn open_refused(&self, request: &Request<'_>, flags: u32, path: Option<Vec<u8>>, errno: Errno) {
        let tracer = &request.session.tracer;
        if !tracer.wants(Op::Open, &request.header) || !tracer.wants_path(path.as_deref()) {
            return;
        }
        let Some((thread, call)) = request.caller() else { return };
        if call.is_none_or(|call| call.is(OPENING)) {
            tracer.reporter.send(thread.operation(Op::Open, request.start_boot_ns, |row| {
                row.end_boot_ns = Some(clock::boot_ns());
                row.result = Some(-i64::from(errno));
                row.flags = Some(open_flags(tracer, call.as_ref(), thread, flags));
                let container_path = tracer.seen_by(thread, path.as_deref());
                row.more = Some(Box::new(More { path, container_path, ..More::default() }));
            }));
        }
    }

    pub(crate) fn read(&mut self, request: &Request<'_>) -> Result<Answer, Errno> {
        let (read, _) = request.take::<wire::ReadIn>()?;
        let handle = request.session.handles.get(read.handle)?;
        let fd = handle.fd()?;
        let size = (read.size as usize).min(request.session.max_bytes);
        let buffer = &mut self.data.all()[..size];
        // SAFETY: the buffer is as long as stated.
        let n = unsafe { libc::pread(fd.raw(), buffer.as_mut_ptr().cast(), size, read.offset as libc::off_t) };
        let result = system::moved(n);
        if handle.recorded {
            let by_program = read.read_flags & wire::READ_LOCKOWNER != 0;
            let op = if by_program { Op::Read } else { Op::Fault };
            transfer(request, op, &handle, read.offset, read.size.into(), result);
        }
        result.map(Answer::Data)
    }

    pub(crate) fn write(&mut self, request: &Request<'_>) -> Result<Answer, Errno> {
        let (write, data) = request.take::<wire::WriteIn>()?;
        let handle = request.session.handles.get(write.handle)?;
        let fd = handle.fd()?;
        let data = data.get(..write.size as usize).ok_or(libc::EINVAL)?;
        let cached = write.write_flags & wire::WRITE_CACHE != 0;
        let append = !cached && write.flags & libc::O_APPEND as u32 != 0;
        if !cached && handle.append.swap(append, Ordering::Relaxed) != append {
            // fcntl(F_SETFL) has changed it.
            set_append(fd.raw(), append);
        }
        // SAFETY: the buffer is as long as stated.
        let n = unsafe { libc::pwrite(fd.raw(), data.as_ptr().cast(), data.len(), write.offset as libc::off_t) };
        let result = system::moved(n);
        if handle.recorded && !cached {
            let mut offset = write.offset;
            if append && let (Ok(written), Ok(stat)) = (result, system::stat(fd.raw())) {
                // The kernel's idea of the end can be old when others append as well.
                offset = offset.max((stat.st_size as u64).saturating_sub(written as u64).min(stat.st_size as u64));
            }
            transfer(request, Op::Write, &handle, offset, write.size.into(), result);
        }
        let written = result?;
        self.put(&wire::WriteOut { size: written as u32, pad: 0 });
        Ok(Answer::Out)
    }

    pub(crate) fn flush(&mut self, request: &Request<'_>) -> Result<Answer, Errno> {
        let (flush, _) = request.take::<wire::FlushIn>()?;
        let session = request.session;
        let handle = session.handles.get(flush.handle)?;
        session.tracer.locks.closed(&handle, Owner { session: session.number, id: flush.lock_owner });
        let fd = handle.fd()?;
        // Network file systems report delayed failures when a descriptor is closed.
        // SAFETY: duplicates a descriptor of ours and closes the duplicate.
        let result = unsafe {
            let duplicate = session.tracer.keeper.with_room(|| system::positive(libc::fcntl(fd.raw(), libc::F_DUPFD_CLOEXEC, 0)));
            duplicate.and_then(|duplicate| system::positive(libc::close(duplicate)).map(|_| ()))
        };
        if handle.recorded {
            with_own_capabilities(|| self.closed(request, &handle, result));
        }
        result.map(|()| Answer::Done)
    }

    /// A descriptor of a recorded file was closed: by a call, by exec, or because the process ends.
    fn closed(&self, request: &Request<'_>, handle: &Handle, result: Result<(), Errno>) {
        let tracer = &request.session.tracer;
        let phase = tracer.threads.phase(request.header.pid);
        if phase != Phase::Exec
            && let Some((thread, call)) = request.caller()
        {
            tell_pieces(request, thread, |pieces| pieces.handle.id == handle.id);
            // io_uring closes without a call of its own.
            let by_call = call.map_or(phase == Phase::Running, |call| call.is(CLOSING));
            if by_call && tracer.wants(Op::Close, &request.header) {
                tracer.reporter.send(thread.operation(Op::Close, request.start_boot_ns, |row| {
                    row.end_boot_ns = Some(clock::boot_ns());
                    row.open_file = Some(handle.id);
                    row.file = Some(handle.file);
                    row.result = Some(result.map_or_else(|errno| -i64::from(errno), |()| 0));
                }));
            } else if phase == Phase::Exiting {
                // The last that can be known of a process that ends.
                tracer.processes.update(&thread.process, &tracer.reporter);
            }
        }
        for totals in handle.take_totals() {
            tracer.reporter.send(Item::Totals(totals));
        }
    }

    pub(crate) fn release(&mut self, request: &Request<'_>) -> Result<Answer, Errno> {
        let (release, _) = request.take::<wire::ReleaseIn>()?;
        if let Some(handle) = request.session.handles.remove(release.handle) {
            handle.close();
            request.session.tracer.locks.released(&handle);
            for totals in handle.take_totals() {
                request.session.tracer.reporter.send(Item::Totals(totals));
            }
        }
        Ok(Answer::Done)
    }

    pub(crate) fn fsync(&mut self, request: &Request<'_>) -> Result<Answer, Errno> {
        let (fsync, _) = request.take::<wire::FsyncIn>()?;
        let handle = request.session.handles.get(fsync.handle)?;
        let fd = handle.fd()?;
        // SAFETY: a descriptor of ours.
        let result = system::positive(unsafe {
            if fsync.flags & wire::FSYNC_DATA != 0 { libc::fdatasync(fd.raw()) } else { libc::fsync(fd.raw()) }
        });
        let result = result.map(|_| ());
        // Not msync(2), and not a write that is to be synchronous.
        if request.caller().is_some_and(|(_, call)| call.is_none_or(|call| call.is(SYNCHRONISING))) {
            simple(request, Op::Sync, &handle, result, None, None, None);
        }
        result.map(|()| Answer::Done)
    }

    pub(crate) fn syncfs(&mut self, request: &Request<'_>) -> Result<Answer, Errno> {
        let node = request.session.nodes.get(request.header.node)?;
        // It needs no right to read.
        self.identity.become_self()?;
        let fd = node.fd()?;
        let fd = request.session.tracer.keeper.with_room(|| system::reopen(fd.raw(), libc::O_RDONLY))?;
        // SAFETY: a descriptor of ours.
        system::positive(unsafe { libc::syncfs(fd.as_raw_fd()) })?;
        Ok(Answer::Done)
    }

    pub(crate) fn allocate(&mut self, request: &Request<'_>) -> Result<Answer, Errno> {
        let (allocate, _) = request.take::<wire::FallocateIn>()?;
        let handle = request.session.handles.get(allocate.handle)?;
        let fd = handle.fd()?;
        let (offset, length) = (allocate.offset, allocate.length);
        // SAFETY: a descriptor of ours.
        let result = unsafe { libc::fallocate(fd.raw(), allocate.mode as i32, offset as libc::off_t, length as libc::off_t) };
        let result = system::positive(result).map(|_| ());
        simple(request, Op::Allocate, &handle, result, Some(offset), Some(length), Some(allocate.mode));
        result.map(|()| Answer::Done)
    }

    pub(crate) fn seek(&mut self, request: &Request<'_>) -> Result<Answer, Errno> {
        let (seek, _) = request.take::<wire::LseekIn>()?;
        let fd = request.session.handles.get(seek.handle)?.fd()?;
        // SAFETY: a descriptor of ours, and its offset is used here only.
        let at = unsafe { libc::lseek(fd.raw(), seek.offset as libc::off_t, seek.whence as i32) };
        let offset = u64::try_from(at).map_err(|_| system::last())?;
        self.put(&wire::LseekOut { offset });
        Ok(Answer::Out)
    }

    pub(crate) fn copy(&mut self, request: &Request<'_>) -> Result<Answer, Errno> {
        let (copy, _) = request.take::<wire::CopyIn>()?;
        let from = request.session.handles.get(copy.handle_in)?;
        let to = request.session.handles.get(copy.handle_out)?;
        let (fd_in, fd_out) = (from.fd()?, to.fd()?);
        let (mut offset_in, mut offset_out) = (copy.offset_in as libc::loff_t, copy.offset_out as libc::loff_t);
        let length = usize::try_from(copy.length).map_err(|_| libc::EINVAL)?;
        // The bare system call: the function came with glibc 2.27, and the program also runs with 2.17.
        // SAFETY: descriptors of ours and two offsets of this frame.
        let n = unsafe {
            let (offset_in, offset_out) = (&raw mut offset_in, &raw mut offset_out);
            libc::syscall(libc::SYS_copy_file_range, fd_in.raw(), offset_in, fd_out.raw(), offset_out, length, copy.flags as u32)
        };
        let result = system::moved(n as isize);
        // Nothing was done when the kernel goes on by other means: these give rows.
        if !matches!(result, Err(libc::EXDEV | libc::EOPNOTSUPP | libc::ENOSYS)) {
            let rows = [(Op::Read, &from, copy.offset_in), (Op::Write, &to, copy.offset_out)];
            for (op, handle, offset) in rows.into_iter().filter(|(_, handle, _)| handle.recorded) {
                let size = copied_size(request, copy.length);
                tell_transfer(request, op, handle, Some(Via::CopyFileRange), offset, Some(size), as_result(result));
            }
        }
        let size = result?;
        if request.header.opcode == wire::op::COPY_FILE_RANGE_64 {
            self.put(&wire::CopyOut { size: size as u64 });
        } else {
            self.put(&wire::WriteOut { size: size as u32, pad: 0 });
        }
        Ok(Answer::Out)
    }
}

/// A kernel before 6.18 cuts a length to 4 GiB less a page; the call says what was asked.
fn copied_size(request: &Request<'_>, length: u64) -> u64 {
    let call = request.caller().and_then(|(_, call)| *call).filter(|call| call.is(&[libc::SYS_copy_file_range]));
    call.and_then(|call| call.size()).unwrap_or(length)
}

/// The flags for the file underneath: what the kernel above has done already is left out.
fn underneath(flags: u32) -> i32 {
    let without = libc::O_NOFOLLOW | libc::O_CLOEXEC | libc::O_NOCTTY | libc::O_NONBLOCK;
    ((flags & !FMODE_EXEC) as i32 & !without) | libc::O_CLOEXEC
}

fn set_append(fd: i32, append: bool) {
    // SAFETY: a descriptor of ours.
    unsafe {
        let flags = libc::fcntl(fd, libc::F_GETFL);
        if flags >= 0 {
            libc::fcntl(fd, libc::F_SETFL, if append { flags | libc::O_APPEND } else { flags & !libc::O_APPEND });
        }
    }
}

fn as_result(result: Result<usize, Errno>) -> i64 {
    result.map_or_else(|errno| -i64::from(errno), |n| n as i64)
}

/// A row of an operation on an open file.
pub(crate) fn simple(
    request: &Request<'_>,
    op: Op,
    handle: &Handle,
    result: Result<(), Errno>,
    offset: Option<u64>,
    size: Option<u64>,
    flags: Option<u32>,
) {
    let tracer = &request.session.tracer;
    if !handle.recorded || !tracer.wants(op, &request.header) {
        return;
    }
    let Some((thread, _)) = request.caller() else { return };
    tracer.reporter.send(thread.operation(op, request.start_boot_ns, |row| {
        row.end_boot_ns = Some(clock::boot_ns());
        row.open_file = Some(handle.id);
        row.file = Some(handle.file);
        row.result = Some(result.map_or_else(|errno| -i64::from(errno), |()| 0));
        (row.offset, row.size, row.flags) = (offset, size, flags);
    }));
}

/// Bytes moved: a row, a sum, or a piece of a call that the kernel has cut up.
fn transfer(request: &Request<'_>, op: Op, handle: &Arc<Handle>, offset: u64, size: u64, result: Result<usize, Errno>) {
    let tracer = &request.session.tracer;
    if op == Op::Fault {
        page_filled(request, handle, offset, size, result);
        return;
    }
    if !tracer.wants(op, &request.header) {
        return;
    }
    let Some((thread, call)) = request.caller() else { return };
    let Some(call) = call.as_ref().filter(|call| call.is(MOVING)) else {
        if call.is_none_or(|call| !call.is(EXECUTING)) {
            // Of io_uring, or of libaio in whatever call the thread is by now. The kernel shortens such reads where the file ends.
            let at_end = op == Op::Read
                && handle
                    .fd()
                    .and_then(|fd| system::stat(fd.raw()))
                    .is_ok_and(|stat| offset.saturating_add(result.unwrap_or(0) as u64) >= stat.st_size as u64);
            let via = call.as_ref().map(Call::via);
            tell_transfer(request, op, handle, via, offset, (!at_end).then_some(size), as_result(result));
        }
        return;
    };
    let vector = || call.vector().and_then(|(at, n)| with_own_capabilities(|| tracer.memory(thread.tid).vector_bytes(at, n)));
    let asked = call.size().or_else(vector).unwrap_or(size);
    // One splice(2) is one read or write.
    let cut = asked > size && !call.is(&[libc::SYS_splice]);
    let mut begun = thread.pieces.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let slot = &mut begun[usize::from(op == Op::Write)];
    let goes_on = slot.take_if(|pieces| {
        let next = pieces.offset.saturating_add(pieces.moved) == offset && pieces.moved.saturating_add(size) <= pieces.size;
        !(cut && pieces.call == *call && pieces.handle.id == handle.id && next)
    });
    if let Some(other) = goes_on {
        tell_gathered(tracer, thread, other);
    }
    if !cut {
        drop(begun);
        tell_transfer(request, op, handle, Some(call.via()), offset, Some(asked), as_result(result));
        return;
    }
    let now = clock::boot_ns();
    let pieces = slot.get_or_insert_with(|| Pieces {
        call: *call,
        op,
        handle: Arc::clone(handle),
        start_boot_ns: request.start_boot_ns,
        end_boot_ns: now,
        offset,
        size: asked,
        moved: 0,
        error: None,
    });
    pieces.end_boot_ns = now;
    let moved = result.unwrap_or(0) as u64;
    pieces.moved += moved;
    if pieces.moved == 0 {
        pieces.error = result.err();
    }
    // sendfile goes on after a short piece, until there is nothing.
    let over = if call.is(&[libc::SYS_sendfile, libc::SYS_copy_file_range]) { moved == 0 } else { moved < size };
    if over || pieces.moved >= pieces.size {
        let ended = slot.take();
        let other = if moved == 0 { begun[usize::from(op != Op::Write)].take() } else { None };
        for pieces in ended.into_iter().chain(other) {
            tell_gathered(tracer, thread, pieces);
        }
    }
}

/// The page cache was filled: for a mapping, or for a call of which only this is seen.
fn page_filled(request: &Request<'_>, handle: &Handle, offset: u64, size: u64, result: Result<usize, Errno>) {
    let tracer = &request.session.tracer;
    if ![Op::Fault, Op::Read].into_iter().any(|op| tracer.wants(op, &request.header)) {
        return;
    }
    let Some((thread, call)) = request.caller() else { return };
    match call {
        Some(call) if call.is(THROUGH_THE_CACHE) || (!handle.direct && call.is(READING)) => {
            // One call may request many pages.
            if tracer.wants(Op::Read, &request.header) && thread.begins_unseen(call) {
                tracer.room.lose("read", "page-cache");
            }
        }
        Some(call) if call.is(FILLING) || (!handle.direct && call.is(MOVING)) => {}
        _ => tell_transfer(request, Op::Fault, handle, None, offset, Some(size), result.map_or_else(|errno| -i64::from(errno), |_| 0)),
    }
}

/// Reports what a thread has begun, where `which` says so.
fn tell_pieces(request: &Request<'_>, thread: &Thread, which: impl Fn(&Pieces) -> bool) {
    let mut begun = thread.pieces.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    for slot in begun.iter_mut() {
        if let Some(pieces) = slot.take_if(|pieces| which(pieces)) {
            tell_gathered(&request.session.tracer, thread, pieces);
        }
    }
}

/// The row of a call with all its pieces.
pub(crate) fn tell_gathered(tracer: &Tracer, thread: &Thread, pieces: Pieces) {
    let result = match pieces.error {
        Some(errno) if pieces.moved == 0 => -i64::from(errno),
        _ => pieces.moved as i64,
    };
    let times = (pieces.start_boot_ns, pieces.end_boot_ns);
    if tracer.detail == Detail::Totals {
        pieces.handle.add(thread.process.key, pieces.op, times, Some(pieces.offset), result);
        return;
    }
    tracer.reporter.send(thread.operation(pieces.op, times.0, |row| {
        row.end_boot_ns = Some(times.1);
        row.via = pieces.call.via();
        row.open_file = Some(pieces.handle.id);
        row.file = Some(pieces.handle.file);
        row.offset = Some(pieces.offset);
        row.size = Some(pieces.size);
        row.result = Some(result);
    }));
}

fn tell_transfer(request: &Request<'_>, op: Op, handle: &Handle, via: Option<Via>, offset: u64, size: Option<u64>, result: i64) {
    let tracer = &request.session.tracer;
    if !tracer.wants(op, &request.header) {
        return;
    }
    let Some((thread, _)) = request.caller() else { return };
    let end_boot_ns = clock::boot_ns();
    if tracer.detail == Detail::Totals {
        handle.add(thread.process.key, op, (request.start_boot_ns, end_boot_ns), Some(offset), result);
        return;
    }
    tracer.reporter.send(thread.operation(op, request.start_boot_ns, |row| {
        row.end_boot_ns = Some(end_boot_ns);
        if let Some(via) = via {
            row.via = via;
        }
        row.open_file = Some(handle.id);
        row.file = Some(handle.file);
        row.offset = Some(offset);
        row.size = size;
        row.result = Some(result);
    }));
}

//! Requests about locks: what is asked, and which open file carries a file's locks underneath.
//! Owners and waiting requests are in `lock_table.rs`.

use std::sync::Arc;

use crate::handles::Handle;
use crate::identity::Identity;
use crate::lock_ranges::{Owner, Range};
use crate::lock_table::{Carrier, Locked, Waiting, Wanted, for_system, kind};
use crate::room::no_room;
use crate::session::{Answer, Request, Worker};
use crate::system::{self, Errno};
use crate::wire::{self, LockIn, LockOut};

/// fcntl(2) with locks of open file descriptions, that wait.
const F_OFD_SETLKW: u64 = libc::F_OFD_SETLKW as u64;

fn range(lock: &LockIn) -> Range {
    Range { first: lock.start, last: lock.end }
}

fn owner(request: &Request<'_>, id: u64) -> Owner {
    Owner { session: request.session.number, id }
}

/// Opens a file once more, to carry its locks. Whoever holds the file open may lock it, also one
/// who may not open it any more: it is the tracer itself that opens it. Which kind of lock goes
/// with
/// how the file is open has been looked at by the kernel.
fn open_carrier(request: &Request<'_>, identity: &mut Identity, handle: &Handle, modes: &[libc::c_int]) -> Result<Carrier, Errno> {
    let tracer = &request.session.tracer;
    tracer.files.for_one_more()?;
    let held = handle.fd()?;
    let again = || {
        let mut refused = libc::ENOLCK;
        for mode in modes {
            match tracer.keeper.with_room(|| system::reopen(held.raw(), *mode)) {
                Ok(fd) => return Ok((fd, *mode)),
                Err(errno) if no_room(errno) => return Err(errno),
                Err(errno) => refused = errno,
            }
        }
        Err(refused)
    };
    identity.become_self()?;
    let (fd, mode) = again().or_else(|errno| {
        if no_room(errno) {
            return Err(errno);
        }
        // Where a file server maps root to the anonymous user.
        identity.become_caller(request.whom(), true, request.start_boot_ns)?;
        again()
    })?;
    Ok(Carrier { file: tracer.files.keep(fd), reads: mode != libc::O_WRONLY, writes: mode != libc::O_RDONLY })
}

/// Sees to it that a file has a carrier for a lock of this kind. A file that is only read is not
/// opened for writing: it could not be executed meanwhile.
fn carry(request: &Request<'_>, identity: &mut Identity, wanted: &Wanted, file: &mut Locked) -> Result<(), Errno> {
    let Some(write) = wanted.write else { return Ok(()) };
    let has = file.carrier.as_ref();
    if has.is_some_and(|carrier| if write { carrier.writes } else { carrier.reads }) {
        return Ok(());
    }
    let modes: &[libc::c_int] = match (has, write) {
        (Some(_), _) => &[libc::O_RDWR],
        (None, true) => &[libc::O_RDWR, libc::O_WRONLY],
        (None, false) if writes(&wanted.handle)? => &[libc::O_RDWR, libc::O_RDONLY],
        (None, false) => &[libc::O_RDONLY],
    };
    let carrier = open_carrier(request, identity, &wanted.handle, modes)?;
    // One that could not write has locks for reading only, which coexist with those of the new one
    // until it goes.
    for lock in file.locks.all() {
        carrier.set(lock.range, kind(lock.write))?;
    }
    file.carrier = Some(carrier);
    Ok(())
}

fn writes(handle: &Handle) -> Result<bool, Errno> {
    let fd = handle.fd()?;
    // SAFETY: a descriptor of ours.
    let flags = system::positive(unsafe { libc::fcntl(fd.raw(), libc::F_GETFL) })?;
    Ok(flags & libc::O_ACCMODE != libc::O_RDONLY)
}

impl Worker {
    pub(crate) fn get_lock(&mut self, request: &Request<'_>) -> Result<Answer, Errno> {
        let (lock, _) = request.take::<LockIn>()?;
        let handle = request.session.handles.get(lock.handle)?;
        let (range, write) = (range(&lock), lock.kind as libc::c_int == libc::F_WRLCK);
        let mut state = request.session.tracer.locks.state();
        let id = (handle.file.device, handle.file.inode);
        let file = state.file(id);
        if let Some(other) = file.locks.against(owner(request, lock.owner), range, write).next() {
            let out = LockOut { start: other.range.first, end: other.range.last, kind: kind(other.write) as u32, pid: other.pid };
            self.put(&out);
            return Ok(Answer::Out);
        }
        // The carrier has nothing against what it carries. Without one, no process here has a lock.
        let fd = file.carrier.as_ref().map_or_else(|| handle.fd(), |carrier| carrier.file.fd())?;
        let mut found = for_system(range, kind(write));
        // SAFETY: a descriptor of ours, and a lock of this frame.
        let result = system::positive(unsafe { libc::fcntl(fd.raw(), libc::F_OFD_GETLK, &mut found) });
        state.tidy(id);
        drop(state);
        result?;
        let end = if found.l_len == 0 { i64::MAX as u64 } else { (found.l_start + found.l_len - 1) as u64 };
        // Of an open file description it is negative.
        let pid = u32::try_from(found.l_pid).unwrap_or(0);
        self.put(&LockOut { start: found.l_start as u64, end, kind: found.l_type as u32, pid });
        Ok(Answer::Out)
    }

    pub(crate) fn set_lock(&mut self, request: &Request<'_>, wait: bool) -> Result<Answer, Errno> {
        let (lock, _) = request.take::<LockIn>()?;
        let handle = request.session.handles.get(lock.handle)?;
        let wanted = Wanted {
            handle,
            owner: owner(request, lock.owner),
            pid: lock.pid,
            range: (lock.flags & wire::LOCK_FLOCK == 0).then(|| range(&lock)),
            write: match lock.kind as libc::c_int {
                libc::F_RDLCK => Some(false),
                libc::F_WRLCK => Some(true),
                _ => None,
            },
            detects: wait && lock.flags & wire::LOCK_FLOCK == 0 && detects(request),
        };
        let table = &request.session.tracer.locks;
        let mut state = table.state();
        let carried = if wanted.range.is_some() { carry(request, &mut self.identity, &wanted, state.file(wanted.file())) } else { Ok(()) };
        let result = match carried.and_then(|()| state.attempt(&wanted)) {
            Ok(went) => {
                if went {
                    table.changed();
                }
                Ok(Answer::Done)
            }
            Err(libc::EAGAIN) => {
                let until = if wait { None } else { state.refused_at(&wanted) };
                if wait && wanted.detects && state.is_deadlock(&wanted) {
                    Err(libc::EDEADLK)
                } else if wait || until.is_some() {
                    let device = Arc::clone(request.device);
                    let waiting = Waiting { wanted: wanted.clone(), device, unique: request.header.unique, until };
                    table.wait(&mut state, waiting).map(|()| Answer::Silence)
                } else {
                    Err(libc::EAGAIN)
                }
            }
            Err(errno) => Err(errno),
        };
        state.tidy(wanted.file());
        result
    }

    /// A request is not waited for any more.
    pub(crate) fn interrupt(&mut self, request: &Request<'_>) -> Result<Answer, Errno> {
        let (interrupt, _) = request.take::<wire::InterruptIn>()?;
        request.session.tracer.locks.interrupt(request.session.number, interrupt.unique);
        Ok(Answer::Silence)
    }
}

/// Whether a request that waits is for a POSIX lock, of which the kernel detects deadlocks. The
/// protocol does not distinguish it from a lock of an open file description; the call does.
fn detects(request: &Request<'_>) -> bool {
    let call = request.caller().and_then(|(_, call)| *call);
    call.is_none_or(|call| !(call.is(&[libc::SYS_fcntl]) && call.arguments[1] & 0xffff_ffff == F_OFD_SETLKW))
}

//! Locks, kept by the file system underneath, so that they also hold between the command and what
//! runs outside of the overlay.
//!
//! flock(2) belongs to an open file description, as does ours. A POSIX lock belongs to a process:
//! for each owner and file there is a descriptor with locks of its own (`F_OFD_SETLK`,
//! fcntl_locking(2)). A request that must wait does so in a thread of its own and can be
//! interrupted.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use crate::handles::Handle;
use crate::identity::Identity;
use crate::lock_owners::{Locks, Owner, locked};
use crate::room::no_room;
use crate::session::{Answer, Request, Session, Worker, reply};
use crate::system::{self, Errno};
use crate::wire::{self, LockIn, LockOut};

impl Locks {
    /// Whoever holds the file open may lock it, also one who may not open it any more: it is the
    /// tracer itself that opens it once more. Which kind of lock goes with how the file is open has
    /// been looked at by the kernel.
    fn owner(&self, request: &Request<'_>, identity: &mut Identity, handle: &Handle, lock: &LockIn) -> Result<Arc<Owner>, Errno> {
        let mut owners = locked(&self.owners);
        if let Some(owner) = owners.get(&(handle.node.id, lock.owner)) {
            return Ok(Arc::clone(owner));
        }
        let tracer = &request.session.tracer;
        tracer.room.for_one_more()?;
        let again = || {
            // Read locks need a descriptor for reading and write locks one for writing: best is one for both.
            let one = |flags| system::reopen(handle.fd(), flags);
            let less = |errno, flags| if no_room(errno) { Err(errno) } else { one(flags) };
            tracer
                .keeper
                .with_room(|| one(libc::O_RDWR).or_else(|errno| less(errno, libc::O_RDONLY)).or_else(|errno| less(errno, libc::O_WRONLY)))
        };
        identity.become_self()?;
        let fd = again().or_else(|errno| {
            if no_room(errno) {
                return Err(errno);
            }
            // Where a server of files takes root for nobody.
            identity.become_caller(request.whom(), true, request.start_boot_ns)?;
            again()
        })?;
        let owner = Arc::new(Owner { fd: tracer.room.hold(fd), pid: lock.pid });
        owners.insert((handle.node.id, lock.owner), Arc::clone(&owner));
        Ok(owner)
    }
}

fn range(lock: &LockIn) -> libc::flock {
    // SAFETY: all-zero is a valid `flock`.
    let mut range: libc::flock = unsafe { std::mem::zeroed() };
    range.l_type = lock.kind as _;
    range.l_whence = libc::SEEK_SET as _;
    range.l_start = lock.start as libc::off_t;
    // The protocol has the last byte; the system a length, where 0 goes on for ever.
    range.l_len = if lock.end >= i64::MAX as u64 { 0 } else { (lock.end - lock.start + 1) as libc::off_t };
    range
}

/// One attempt, which does not wait.
fn attempt(handle: &Handle, owner: Option<&Owner>, lock: &LockIn) -> Result<(), Errno> {
    // SAFETY: descriptors of ours, and a lock of this frame.
    system::positive(unsafe {
        match owner {
            None => {
                let operation = match lock.kind as libc::c_int {
                    libc::F_RDLCK => libc::LOCK_SH,
                    libc::F_WRLCK => libc::LOCK_EX,
                    _ => libc::LOCK_UN,
                };
                libc::flock(handle.fd(), operation | libc::LOCK_NB)
            }
            Some(owner) => libc::fcntl(owner.fd.raw(), libc::F_OFD_SETLK, &range(lock)),
        }
    })
    .map(|_| ())
}

impl Worker {
    pub(crate) fn get_lock(&mut self, request: &Request<'_>) -> Result<Answer, Errno> {
        let (lock, _) = request.take::<LockIn>()?;
        let handle = request.session.handles.get(lock.handle)?;
        let owner = request.session.locks.owner(request, &mut self.identity, &handle, &lock)?;
        let mut found = range(&lock);
        // SAFETY: a descriptor of ours, and a lock of this frame.
        system::positive(unsafe { libc::fcntl(owner.fd.raw(), libc::F_OFD_GETLK, &mut found) })?;
        let end = if found.l_len == 0 { i64::MAX as u64 } else { (found.l_start + found.l_len - 1) as u64 };
        let free = i32::from(found.l_type) == libc::F_UNLCK;
        let pid = if free { 0 } else { request.session.locks.holder(&handle, lock.owner, found) };
        self.put(&LockOut { start: found.l_start as u64, end, kind: found.l_type as u32, pid });
        Ok(Answer::Out)
    }

    pub(crate) fn set_lock(&mut self, request: &Request<'_>, wait: bool) -> Result<Answer, Errno> {
        let (lock, _) = request.take::<LockIn>()?;
        let session = request.session;
        let handle = session.handles.get(lock.handle)?;
        let owner = if lock.flags & wire::LOCK_FLOCK != 0 {
            None
        } else {
            Some(session.locks.owner(request, &mut self.identity, &handle, &lock)?)
        };
        let unique = request.header.unique;
        // Before the first attempt: the interrupt may come at any moment.
        locked(&session.locks.waiting).insert(unique);
        let first = attempt(&handle, owner.as_deref(), &lock);
        if !wait || !matches!(first, Err(libc::EAGAIN | libc::EACCES)) {
            locked(&session.locks.waiting).remove(&unique);
            return first.map(|()| Answer::Done);
        }
        let (session, device) = (Arc::clone(session), Arc::clone(request.device));
        let waiter = move || session.wait_for_lock(&device, unique, &handle, owner.as_deref(), &lock);
        std::thread::Builder::new().name("flowmine-lock".into()).spawn(waiter).map_err(|_| libc::ENOLCK)?;
        Ok(Answer::Silence)
    }

    /// A request is not waited for any more: only locks wait here.
    pub(crate) fn interrupt(&mut self, request: &Request<'_>) -> Result<Answer, Errno> {
        let (interrupt, _) = request.take::<wire::InterruptIn>()?;
        locked(&request.session.locks.waiting).remove(&interrupt.unique);
        Ok(Answer::Silence)
    }
}

impl Session {
    /// Tries until it succeeds or nobody waits. A blocking call could not be ended from here; the
    /// pauses grow to 10 ms.
    fn wait_for_lock(&self, device: &OwnedFd, unique: u64, handle: &Handle, owner: Option<&Owner>, lock: &LockIn) {
        let mut pause = Duration::from_micros(100);
        let result = loop {
            if !locked(&self.locks.waiting).contains(&unique) {
                break Err(libc::EINTR);
            }
            match attempt(handle, owner, lock) {
                Err(libc::EAGAIN | libc::EACCES) => {}
                result => break result,
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(10));
        };
        locked(&self.locks.waiting).remove(&unique);
        // An answer that nobody waits for is refused, and the overlay may be gone: nothing is left to do then.
        let _ = reply(device, unique, result.err().unwrap_or(0), &[]);
    }
}

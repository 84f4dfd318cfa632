//! As whom a serving thread acts: as the caller, so that owners, groups, quotas, default ACLs,
//! umask and what is denied are as without the overlay.
//!
//! User, group and supplementary groups of setfsuid(2) and the raw setgroups(2) are a thread's own,
//! and so are the capabilities of capset(2) and, after `unshare(CLONE_FS)`, the umask. What is
//! permitted to the thread stays, so that it can become the next caller; what is effective is never
//! more than what the caller has itself, and that only in the user namespace in which the overlay
//! is mounted: a capability in another one says nothing of our files.
//!
//! Who cannot be identified (a process of another PID namespace has the number 0 here) has the user
//! and group that the kernel reports and nothing else. What the tracer must know of a caller it
//! reads with its own capabilities ([`with_own_capabilities`]), for no longer than that takes.

use std::cell::Cell;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::system::{self, Errno};
use flowmine_files::kernel;

/// Id of the overflow user (`/proc/sys/kernel/overflowuid`): the kernel's own requests are done as
/// this one.
const NOBODY: u32 = 65534;
/// The kernel names no user or group in a request (`FUSE_INVALID_UIDGID`).
const NOT_TOLD: u32 = u32::MAX;
/// The capabilities with which nothing about a file is refused (`CAP_CHOWN`, `CAP_DAC_OVERRIDE`,
/// `CAP_DAC_READ_SEARCH`, `CAP_FOWNER`, `CAP_FSETID`).
const ALL_FILES: u64 = 0b1_1111;
/// An identity that need not be asked for anew is used for so long at most: the number of a thread
/// is not another's sooner.
const REMEMBERED_NS: u64 = 100_000_000;

/// The capabilities of a thread that serves.
#[derive(Debug, Clone, Copy)]
struct Sets {
    effective: u64,
    permitted: u64,
    inheritable: u64,
}

thread_local! {
    /// Of this thread, where they are not what the tracer began with.
    static CAPABILITIES: Cell<Option<Sets>> = const { Cell::new(None) };
}

/// Runs `observe` with all capabilities of the tracer: what it looks at are facts of the caller,
/// never its files.
pub(crate) fn with_own_capabilities<T>(observe: impl FnOnce() -> T) -> T {
    let before = CAPABILITIES.get();
    let raised = before.is_some_and(|sets| sets.effective != sets.permitted && set_effective(sets.permitted).is_ok());
    let seen = observe();
    if let (true, Some(sets)) = (raised, before)
        && set_effective(sets.effective).is_err()
    {
        // No caller may be served with the rights of another, and to give up a capability is always
        // allowed.
        std::process::abort();
    }
    seen
}

/// The head of capget(2) and capset(2), and one of the two halves of their sets.
#[repr(C)]
struct Head {
    version: u32,
    pid: i32,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Half {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

/// `_LINUX_CAPABILITY_VERSION_3`.
const VERSION: u32 = 0x2008_0522;

/// The capability sets of a thread as capget(2) gives them, in halves; 0 is this thread.
fn halves(tid: u32) -> Result<[Half; 2], Errno> {
    let mut head = Head { version: VERSION, pid: tid as i32 };
    let mut halves = [Half::default(); 2];
    // SAFETY: the structures are as the kernel has them for this version.
    system::positive(unsafe { libc::syscall(libc::SYS_capget, &mut head, halves.as_mut_ptr()) } as libc::c_int)?;
    Ok(halves)
}

/// The sets of a thread as the kernel has them.
fn sets(tid: u32) -> Result<Sets, Errno> {
    let halves = halves(tid)?;
    let whole = |of: fn(&Half) -> u32| u64::from(of(&halves[0])) | u64::from(of(&halves[1])) << 32;
    Ok(Sets {
        effective: whole(|half| half.effective),
        permitted: whole(|half| half.permitted),
        inheritable: whole(|half| half.inheritable),
    })
}

/// Makes these of the permitted capabilities effective; no call is made if they already are.
fn set_effective(effective: u64) -> Result<(), Errno> {
    let Some(sets) = CAPABILITIES.get() else { return Ok(()) };
    if sets.effective == effective { Ok(()) } else { force_effective(effective) }
}

fn force_effective(effective: u64) -> Result<(), Errno> {
    let sets = CAPABILITIES.get().map_or_else(|| sets(0), Ok)?;
    let half = |shift: u32| Half {
        effective: (effective >> shift) as u32,
        permitted: (sets.permitted >> shift) as u32,
        inheritable: (sets.inheritable >> shift) as u32,
    };
    let (mut head, halves) = (Head { version: VERSION, pid: 0 }, [half(0), half(32)]);
    // SAFETY: the structures are as the kernel has them for this version; it changes this thread only.
    system::positive(unsafe { libc::syscall(libc::SYS_capset, &mut head, halves.as_ptr()) } as libc::c_int)?;
    CAPABILITIES.set(Some(Sets { effective, ..sets }));
    Ok(())
}

/// The inode of a user namespace.
type Namespace = u64;

/// Identity of the tracer, and how it identifies its callers.
#[derive(Debug)]
pub(crate) struct Own {
    proc: PathBuf,
    /// Whether the overlay is in its own user namespace and serves several users.
    privileged: bool,
    user: User,
    permitted: u64,
    /// Of these a caller has at most as many as it has itself. A program with file capabilities has
    /// more than it gives to what it starts.
    given: u64,
    /// Whether each number of a group is one: otherwise those that are unknown here look like
    /// [`NOBODY`]'s.
    all_groups: bool,
    own_namespace: Option<Namespace>,
    /// The user namespace in which the overlay is mounted, once it is known.
    namespace: OnceLock<Namespace>,
}

/// User and groups as files are accessed with.
#[derive(Debug, Clone, PartialEq, Eq)]
struct User {
    uid: u32,
    gid: u32,
    groups: Vec<libc::gid_t>,
}

/// The supplementary groups of this thread.
fn groups() -> Vec<libc::gid_t> {
    // SAFETY: the buffer has the room that is stated.
    unsafe {
        let mut groups = vec![0; usize::try_from(libc::getgroups(0, std::ptr::null_mut())).unwrap_or(0)];
        let n = libc::getgroups(groups.len() as libc::c_int, groups.as_mut_ptr());
        groups.truncate(usize::try_from(n).unwrap_or(0));
        groups
    }
}

/// Whether this thread has these groups already: who may not change them can still serve its own
/// user.
fn same(wanted: &[libc::gid_t]) -> bool {
    let (mut have, mut wanted) = (groups(), wanted.to_vec());
    have.sort_unstable();
    wanted.sort_unstable();
    have == wanted
}

impl Own {
    /// To be called before any thread serves.
    pub(crate) fn read(proc: PathBuf, privileged: bool) -> Self {
        let permitted = sets(0).map_or(0, |sets| sets.permitted);
        let status = kernel::read(proc.join("self/status")).unwrap_or_default();
        // SAFETY: these only return numbers.
        let user = unsafe { User { uid: libc::geteuid(), gid: libc::getegid(), groups: groups() } };
        let given = if privileged || user.uid == 0 { permitted } else { permitted & capabilities(&status, b"CapAmb:") };
        let all_groups =
            kernel::read_to_string(proc.join("self/gid_map")).is_ok_and(|map| map.split_ascii_whitespace().eq(["0", "0", "4294967295"]));
        let own_namespace = namespace(&proc.join("self/ns/user"));
        let mounted = OnceLock::new();
        if let (true, Some(own)) = (privileged, own_namespace) {
            let _ = mounted.set(own);
        }
        Own { proc, privileged, user, permitted, given, all_groups, own_namespace, namespace: mounted }
    }

    /// Whether it may open files by their handles (`CAP_DAC_READ_SEARCH`).
    pub(crate) fn opens_by_handle(&self) -> bool {
        self.permitted & (1 << 2) != 0
    }

    /// Whether a thread's capabilities are ones over the overlay's files.
    fn in_namespace(&self, tid: u32) -> bool {
        let path = self.proc.join(format!("{tid}/ns/user"));
        let Some(its) = namespace(&path) else { return false };
        match self.namespace.get() {
            Some(ours) => its == *ours,
            // The kernel lets only those in who are in the namespace of the mount or below, and of these only that namespace has ours as its parent.
            None => {
                let below = parent(&path) == self.own_namespace && self.own_namespace.is_some();
                if below {
                    let _ = self.namespace.set(its);
                }
                below
            }
        }
    }
}

/// From the link itself, `user:[NUMBER]`, which costs half of looking at what it leads to.
fn namespace(path: &Path) -> Option<Namespace> {
    let link = std::fs::read_link(path).ok()?;
    link.to_str()?.strip_prefix("user:[")?.strip_suffix(']')?.parse().ok()
}

/// The user namespace in which another one was made (ioctl_ns(2)).
fn parent(path: &Path) -> Option<Namespace> {
    const NS_GET_PARENT: u64 = 0xb702;
    let file = kernel::open(path).ok()?;
    // SAFETY: the descriptor that is returned is ours.
    let parent = unsafe {
        let fd = libc::ioctl(file.as_raw_fd(), NS_GET_PARENT as _);
        (fd >= 0).then(|| OwnedFd::from_raw_fd(fd))?
    };
    system::stat(parent.as_raw_fd()).ok().map(|stat| stat.st_ino)
}

/// The user, group and thread for whom a request is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Caller {
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    /// 0 for one who is not of our PID namespace, and for the kernel.
    pub(crate) tid: u32,
    /// Bytes that were stored long ago in a mapping, or other requests without a waiting caller.
    pub(crate) kernel: bool,
}

/// The user and the rights with which this thread acts at present.
#[derive(Debug)]
pub(crate) struct Identity {
    own: std::sync::Arc<Own>,
    /// `None` when it has to be set: a new thread is what the one was that has started it.
    now: Option<User>,
    /// The last caller, and when the thread took on its identity, in nanoseconds.
    caller: Option<(Caller, u64)>,
    /// `/proc/TID/status` of the last caller, kept open; it fails when the number is another's.
    status: Option<(u32, File)>,
    umask: u32,
}

impl Identity {
    /// To be called in the thread itself.
    pub(crate) fn new(own: std::sync::Arc<Own>) -> Self {
        // SAFETY: these change this thread's own state only.
        unsafe {
            // Without it the umask of all threads is one; it cannot fail for lack of rights.
            libc::unshare(libc::CLONE_FS);
            libc::umask(0);
        }
        // What a thread has is what the one had that has started it. Where that is not known, all of it has to be set.
        let unknown = Sets { effective: u64::MAX, permitted: own.permitted, inheritable: 0 };
        CAPABILITIES.set(Some(sets(0).unwrap_or(unknown)));
        Identity { own, now: None, caller: None, status: None, umask: 0 }
    }

    /// Becomes the caller. What it is now is asked for when `anew`; otherwise what it was a moment
    /// ago does as well.
    ///
    /// # Errors
    /// `EPERM` when the thread cannot become it: nothing is done then.
    pub(crate) fn become_caller(&mut self, caller: Caller, anew: bool, now_ns: u64) -> Result<(), Errno> {
        if !self.own.privileged && self.own.permitted == 0 {
            return Ok(());
        }
        if let Some((last, since_ns)) = self.caller
            && !anew
            && last == caller
            && now_ns.saturating_sub(since_ns) < REMEMBERED_NS
        {
            return Ok(());
        }
        if self.is_still(caller, now_ns) {
            return Ok(());
        }
        self.caller = None;
        let (mut user, mut effective) = (User { uid: caller.uid, gid: caller.gid, groups: Vec::new() }, 0);
        if caller.kernel || caller.uid == NOT_TOLD || caller.gid == NOT_TOLD {
            (user.uid, user.gid) = (NOBODY, NOBODY);
        } else if caller.tid != 0
            // Where others do not see a process, those with the tracer's capabilities do.
            && let Some(status) = self.status(caller.tid).or_else(|| with_own_capabilities(|| self.status(caller.tid)))
            // Otherwise something acts in its name, such as another file system on top of the
            // overlay: its rights are not known.
            && (!self.own.privileged || (status.uid, status.gid) == (caller.uid, caller.gid))
        {
            user.groups = status.groups;
            effective = status.effective & self.own.given;
            if effective != 0 && !self.in_namespace(caller.tid) {
                effective = 0;
            }
        }
        let became = self.set(user);
        // If the overflow user has no number here, the tracer's own user without capabilities is
        // used.
        let became = if caller.kernel { became.or_else(|_| self.set(self.own.user.clone())) } else { became };
        let dropped = set_effective(effective);
        became?;
        dropped.map_err(|_| libc::EPERM)?;
        self.caller = Some((caller, now_ns));
        Ok(())
    }

    /// Whether this is already all that a caller may be: one who has each capability of the tracer
    /// needs none of its groups, so that these need not be read again and again.
    fn is_still(&self, caller: Caller, now_ns: u64) -> bool {
        let own = &self.own;
        self.caller.is_some_and(|(last, since_ns)| last == caller && now_ns.saturating_sub(since_ns) < REMEMBERED_NS)
            && caller.tid != 0
            && own.given & ALL_FILES == ALL_FILES
            && CAPABILITIES.get().is_some_and(|sets| sets.effective == own.given)
            && sets(caller.tid).is_ok_and(|sets| sets.effective & own.given == own.given)
            && self.in_namespace(caller.tid)
    }

    /// Becomes the tracer itself: for what the caller has been allowed already.
    pub(crate) fn become_self(&mut self) -> Result<(), Errno> {
        if !self.own.privileged && self.own.permitted == 0 {
            return Ok(());
        }
        self.caller = None;
        self.set(self.own.user.clone())?;
        set_effective(self.own.permitted).map_err(|_| libc::EPERM)
    }

    /// Whether a caller is in the user namespace in which the overlay is mounted.
    pub(crate) fn in_namespace(&self, tid: u32) -> bool {
        tid != 0 && with_own_capabilities(|| self.own.in_namespace(tid))
    }

    /// User and groups, each only if it differs, and checked afterwards: a failure would leave the
    /// rights of another user.
    fn set(&mut self, user: User) -> Result<(), Errno> {
        if !self.own.privileged || self.now.as_ref() == Some(&user) {
            return Ok(());
        }
        // The right to become others comes back first; and setfsuid(2) gives and takes some by itself, so that they are set once more afterwards.
        force_effective(self.own.permitted).map_err(|_| libc::EPERM)?;
        let before = self.now.take();
        let same_groups = before.as_ref().is_some_and(|before| before.groups == user.groups);
        // SAFETY: raw calls, which change this thread only; the list is as long as stated.
        unsafe {
            if !same_groups && libc::syscall(libc::SYS_setgroups, user.groups.len(), user.groups.as_ptr()) != 0 && !same(&user.groups) {
                return Err(libc::EPERM);
            }
            libc::setfsgid(user.gid);
            libc::setfsuid(user.uid);
            // No user has this number: it only says who one is.
            if libc::setfsgid(NOT_TOLD) as u32 != user.gid || libc::setfsuid(NOT_TOLD) as u32 != user.uid {
                return Err(libc::EPERM);
            }
        }
        force_effective(self.own.permitted).map_err(|_| libc::EPERM)?;
        self.now = Some(user);
        Ok(())
    }

    fn status(&mut self, tid: u32) -> Option<Status> {
        if tid == 0 {
            return None;
        }
        let mut text = [0u8; 4096];
        for _ in 0..2 {
            if self.status.as_ref().is_none_or(|(of, _)| *of != tid) {
                // Closed first: there may be no room for two.
                self.status = None;
                self.status = Some((tid, kernel::open(self.own.proc.join(format!("{tid}/status"))).ok()?));
            }
            let read = self.status.as_ref().map(|(_, file)| read_to_end(file, &mut text));
            match read? {
                Ok(length) if length < text.len() => return Status::parse(&text[..length], self.own.all_groups),
                // Very many groups.
                Ok(_) => return Status::parse(&kernel::read(self.own.proc.join(format!("{tid}/status"))).ok()?, self.own.all_groups),
                // The thread that had this number is gone.
                Err(_) => self.status = None,
            }
        }
        None
    }

    /// Takes the caller's umask for what is made next.
    pub(crate) fn mask(&mut self, umask: u32) {
        if self.umask != umask {
            // SAFETY: this thread's own, see `new`.
            unsafe { libc::umask(umask as libc::mode_t) };
            self.umask = umask;
        }
    }
}

fn read_to_end(file: &File, buffer: &mut [u8]) -> io::Result<usize> {
    let mut length = 0;
    while length < buffer.len() {
        match file.read_at(&mut buffer[length..], length as u64)? {
            0 => break,
            n => length += n,
        }
    }
    Ok(length)
}

/// What `/proc/TID/status` says of a thread's rights over files.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Status {
    uid: u32,
    gid: u32,
    groups: Vec<libc::gid_t>,
    effective: u64,
}

impl Status {
    fn parse(status: &[u8], all_groups: bool) -> Option<Self> {
        // The last of real, effective, saved and file system.
        let fourth = |name: &[u8]| numbers(line(status, name)?).nth(3);
        let mut groups: Vec<_> = numbers(line(status, b"Groups:")?).collect();
        if !all_groups {
            groups.retain(|&group| group != NOBODY);
        }
        Some(Status { uid: fourth(b"Uid:")?, gid: fourth(b"Gid:")?, groups, effective: capabilities(status, b"CapEff:") })
    }
}

fn line<'a>(status: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    status.split(|&byte| byte == b'\n').find_map(|line| line.strip_prefix(name))
}

fn numbers(line: &[u8]) -> impl Iterator<Item = u32> + '_ {
    line.split(|byte| byte.is_ascii_whitespace()).filter_map(|number| std::str::from_utf8(number).ok()?.parse().ok())
}

/// A set of capabilities; one that is not there has none.
fn capabilities(status: &[u8], name: &[u8]) -> u64 {
    let text = line(status, name).and_then(|hex| std::str::from_utf8(hex).ok());
    text.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATUS: &[u8] =
        b"Name:\tx\nUid:\t1\t2\t3\t4\nGid:\t5\t6\t7\t8\nGroups:\t10 65534 \nCapEff:\t000000000000000f\nCapAmb:\t0000000000000001\n";

    #[test]
    fn rights_are_those_over_files() {
        let status = Status::parse(STATUS, true).unwrap();
        assert_eq!(status, Status { uid: 4, gid: 8, groups: vec![10, 65534], effective: 15 });
        // A group without a number here looks like the overflow group.
        assert_eq!(Status::parse(STATUS, false).unwrap().groups, [10]);
        assert_eq!(capabilities(STATUS, b"CapAmb:"), 1);
        assert_eq!(Status::parse(b"Uid:\t1\t2\t3\t4\nGroups:\t\n", true), None);
    }

    #[test]
    fn one_who_is_gone_or_not_of_here_has_no_status() {
        let own = std::sync::Arc::new(Own::read("/proc".into(), false));
        let mut identity = Identity::new(own);
        assert!(identity.status(0).is_none());
        assert!(identity.status(u32::MAX >> 1).is_none());
        let tid = std::process::id();
        assert!(identity.status(tid).is_some() && identity.status(tid).is_some());
    }
}

//! As whom a serving thread acts: as the caller, so that owners, groups, quotas, default ACLs, umask and what is denied are as without the overlay.
//!
//! User, group and supplementary groups of setfsuid(2) and the raw setgroups(2) are a thread's own, and so is the umask after `unshare(CLONE_FS)`.
//! They stay until a request of another asks for something else.

use std::fs;
use std::path::Path;

/// What this thread is now.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Identity {
    /// Whether the tracer can become others at all.
    privileged: bool,
    uid: u32,
    gid: u32,
    /// Whose supplementary groups it has: processes of one user can have different ones.
    tid: u32,
    umask: u32,
}

impl Identity {
    /// To be called in the thread itself.
    pub(super) fn new(privileged: bool) -> Self {
        // SAFETY: these change and read only this thread's own state.
        unsafe {
            // Without it the umask of all threads is one; it cannot fail for lack of rights.
            libc::unshare(libc::CLONE_FS);
            libc::umask(0);
            Identity { privileged, uid: libc::geteuid(), gid: libc::getegid(), tid: 0, umask: 0 }
        }
    }

    /// Becomes the caller.
    pub(super) fn become_caller(&mut self, proc: &Path, uid: u32, gid: u32, tid: u32) {
        if !self.privileged || (self.uid == uid && self.gid == gid && (uid == 0 || self.tid == tid)) {
            return;
        }
        // SAFETY: raw calls, which change this thread only; they cannot fail for one who is privileged, and what fails leaves fewer rights.
        unsafe {
            // Rights first: setgroups needs CAP_SETGID, which going back to root gives again.
            libc::setfsuid(0);
            libc::setfsgid(0);
            let groups = if uid == 0 { Vec::new() } else { groups(proc, tid) };
            libc::syscall(libc::SYS_setgroups, groups.len(), groups.as_ptr());
            libc::setfsgid(gid);
            libc::setfsuid(uid);
        }
        (self.uid, self.gid, self.tid) = (uid, gid, tid);
    }

    /// Takes the caller's umask for what is made next.
    pub(super) fn mask(&mut self, umask: u32) {
        if self.umask != umask {
            // SAFETY: this thread's own, see `new`.
            unsafe { libc::umask(umask as libc::mode_t) };
            self.umask = umask;
        }
    }
}

/// The line `Groups:` of `/proc/TID/status`.
fn groups(proc: &Path, tid: u32) -> Vec<libc::gid_t> {
    let status = fs::read(proc.join(format!("{tid}/status"))).unwrap_or_default();
    let line = status.split(|&byte| byte == b'\n').find_map(|line| line.strip_prefix(b"Groups:")).unwrap_or_default();
    line.split(|byte| byte.is_ascii_whitespace()).filter_map(|group| std::str::from_utf8(group).ok()?.parse().ok()).collect()
}

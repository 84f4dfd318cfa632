//! Files as places in the tree (`O_PATH`), found and looked at without a question to a process
//! that serves files.
//!
//! A tracer by ptrace stops the command's processes while it looks. If one of them serves a file
//! system (FUSE) on which the file is, it cannot answer until the tracer goes on: both would wait
//! for ever. So the kernel is asked for what it remembers, by the flags that it has for this
//! (`AT_STATX_DONT_SYNC`, `RESOLVE_CACHED`), and directories of such file systems are not searched
//! for a name that it has forgotten.
//!
//! In: links below `/proc/PID`, descriptors, paths. Out: [`Looked`], or descriptors of places.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use super::files::{Looked, look, open};
use super::paths::{View, Views};

/// Why a place was not opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotOpened {
    /// It is not there, or may not be opened.
    Absent,
    /// A process that serves files would have to be asked.
    Unasked,
}

/// Where a path may lead (openat2(2)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bounds {
    /// Anywhere.
    None,
    /// Below the directory from which it starts.
    Beneath,
    /// The directory from which it starts is its root.
    Root,
}

/// Flags of openat2(2).
const RESOLVE_NO_XDEV: u64 = 0x01;
const RESOLVE_BENEATH: u64 = 0x08;
const RESOLVE_IN_ROOT: u64 = 0x10;
/// Since Linux 5.12; older ones refuse it with EINVAL.
const RESOLVE_CACHED: u64 = 0x20;

impl Bounds {
    fn flags(self) -> u64 {
        match self {
            Bounds::None => 0,
            Bounds::Beneath => RESOLVE_BENEATH,
            Bounds::Root => RESOLVE_IN_ROOT,
        }
    }
}

impl Views {
    /// Looks at the file behind a link below `/proc/PID`, or behind a descriptor (`AT_EMPTY_PATH`).
    /// Size and number of links of a served file are those that the kernel remembers.
    ///
    /// # Errors
    /// As statx(2).
    pub fn look(&mut self, view: Option<&View>, dir: RawFd, path: &CStr, flags: libc::c_int) -> io::Result<Looked> {
        let remembered = look(dir, path, flags | libc::AT_STATX_DONT_SYNC)?;
        if self.is_served(view, &remembered) {
            return Ok(Looked { served: true, ..remembered });
        }
        look(dir, path, flags)
    }

    /// Opens a place. `flags` are added to `O_PATH`. A path without a directory to start from is
    /// absolute.
    ///
    /// # Errors
    /// [`NotOpened`].
    pub fn open_place(
        &mut self,
        view: Option<&View>,
        from: Option<BorrowedFd<'_>>,
        path: &CStr,
        flags: libc::c_int,
        bounds: Bounds,
    ) -> Result<OwnedFd, NotOpened> {
        let dir = from.map_or(libc::AT_FDCWD, |from| from.as_raw_fd());
        if !self.knows_servers(view) {
            // Linux 5.6 brought openat2(2).
            let opened =
                if bounds == Bounds::None { open(dir, path, flags | libc::O_PATH) } else { resolve(dir, path, flags, bounds.flags()) };
            return opened.map_err(|_| NotOpened::Absent);
        }
        match resolve(dir, path, flags, bounds.flags() | RESOLVE_CACHED) {
            Err(e) if is_untold(&e) => self.by_steps(view, from, path, flags, bounds),
            opened => opened.map_err(|_| NotOpened::Absent),
        }
    }

    /// Goes along a path name by name. Each name is looked up where its directory is on no served
    /// file system, and only remembered elsewhere.
    fn by_steps(
        &mut self,
        view: Option<&View>,
        from: Option<BorrowedFd<'_>>,
        path: &CStr,
        flags: libc::c_int,
        bounds: Bounds,
    ) -> Result<OwnedFd, NotOpened> {
        let bytes = path.to_bytes();
        let mut names = bytes.split(|&byte| byte == b'/').filter(|name| !name.is_empty()).peekable();
        let start = match from {
            Some(from) if bounds != Bounds::None || bytes.first() != Some(&b'/') => from.try_clone_to_owned(),
            _ => open(libc::AT_FDCWD, c"/", libc::O_PATH),
        };
        let mut at = start.map_err(|_| NotOpened::Absent)?;
        while let Some(name) = names.next() {
            let name = CString::new(name).map_err(|_| NotOpened::Absent)?;
            let flags = if names.peek().is_some() { libc::O_DIRECTORY } else { flags };
            // A step out of its directory is bounded by the directory that the path may not leave.
            let bounds = if bounds == Bounds::None { 0 } else { RESOLVE_BENEATH };
            at = self.step(view, &at, &name, flags, bounds)?;
        }
        Ok(at)
    }

    fn step(&mut self, view: Option<&View>, at: &OwnedFd, name: &CStr, flags: libc::c_int, bounds: u64) -> Result<OwnedFd, NotOpened> {
        let remembered = |flags: libc::c_int| match resolve(at.as_raw_fd(), name, flags, bounds | RESOLVE_CACHED) {
            Err(e) if is_untold(&e) => Err(NotOpened::Unasked),
            opened => opened.map_err(|_| NotOpened::Absent),
        };
        let directory = look(at.as_raw_fd(), c"", libc::AT_EMPTY_PATH | libc::AT_STATX_DONT_SYNC).map_err(|_| NotOpened::Absent)?;
        if self.is_served(view, &directory) {
            return remembered(flags);
        }
        if bounds == 0 && self.kind(view, &directory).as_deref() == Some("proc") {
            // Its links lead to files, not along paths.
            return open(at.as_raw_fd(), name, flags | libc::O_PATH).map_err(|_| NotOpened::Absent);
        }
        match resolve(at.as_raw_fd(), name, flags, bounds | RESOLVE_NO_XDEV) {
            // A mount, which is always remembered, or a link that leads away.
            Err(e) if e.raw_os_error() == Some(libc::EXDEV) => remembered(flags),
            opened => opened.map_err(|_| NotOpened::Absent),
        }
    }
}

/// Whether the kernel would have had to ask a file system, or cannot be asked not to.
fn is_untold(e: &io::Error) -> bool {
    matches!(e.raw_os_error(), Some(libc::EAGAIN | libc::EINVAL | libc::ENOSYS))
}

/// openat2(2) of a place.
fn resolve(from: RawFd, path: &CStr, flags: libc::c_int, resolve: u64) -> io::Result<OwnedFd> {
    // struct open_how: flags, mode, resolve.
    let how = [(flags | libc::O_PATH | libc::O_CLOEXEC) as u64, 0, resolve];
    // SAFETY: the path ends with a zero byte; `how` has the size that is given.
    let fd = unsafe { libc::syscall(libc::SYS_openat2, from, path.as_ptr(), how.as_ptr(), size_of_val(&how)) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor was just opened and has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as i32) })
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;
    use std::os::unix::fs::{MetadataExt, symlink};

    use super::*;
    use crate::proc::Proc;

    fn inode(views: &mut Views, place: &OwnedFd) -> u64 {
        views.look(None, place.as_raw_fd(), c"", libc::AT_EMPTY_PATH).unwrap().inode
    }

    #[test]
    fn both_ways_lead_to_the_same_place() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("a/b")).unwrap();
        std::fs::write(root.join("a/b/file"), "x").unwrap();
        symlink("../a/b", root.join("a/near")).unwrap();
        symlink(root.join("a"), root.join("far")).unwrap();
        symlink("nowhere", root.join("a/broken")).unwrap();
        let from = open(libc::AT_FDCWD, &CString::new(root.to_str().unwrap()).unwrap(), libc::O_PATH).unwrap();
        let from = Some(from.as_fd());
        let mut views = Views::new(&Proc::here()).unwrap();
        let expected = Ok(std::fs::metadata(root.join("a/b/file")).unwrap().ino());
        let absolute = format!("{}/far/near/file", root.display());
        for path in ["a/b/file", "a//./b/../b/file", "a/near/file", "far/b/file", &absolute] {
            let path = CString::new(path).unwrap();
            let steps = views.by_steps(None, from, &path, 0, Bounds::None).map(|place| inode(&mut views, &place));
            assert_eq!(steps, expected, "{path:?}");
            let whole = views.open_place(None, from, &path, 0, Bounds::None).map(|place| inode(&mut views, &place));
            assert_eq!(whole, expected, "{path:?}");
        }
        for path in [c"a/c/file", c"a/broken", c"a/b/file/x"] {
            let steps = views.by_steps(None, from, path, 0, Bounds::None);
            assert_eq!(steps.err(), Some(NotOpened::Absent), "{path:?}");
        }
        // A link out of the bounds is never followed, whatever it leads to.
        for bounds in [Bounds::Beneath, Bounds::Root] {
            let steps = views.by_steps(None, from, c"far/b/file", 0, bounds);
            assert_eq!(steps.err(), Some(NotOpened::Absent));
            let inside = views.by_steps(None, from, c"/a/b/file", 0, bounds).map(|place| inode(&mut views, &place));
            assert_eq!(inside, expected);
        }
    }

    #[test]
    fn links_of_proc_lead_to_their_files() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = CString::new(format!("/proc/self/fd/{}", file.as_file().as_raw_fd())).unwrap();
        let mut views = Views::new(&Proc::here()).unwrap();
        let place = views.by_steps(None, None, &path, 0, Bounds::None).unwrap();
        assert_eq!(inode(&mut views, &place), file.as_file().metadata().unwrap().ino());
    }
}

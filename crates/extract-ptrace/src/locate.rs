//! Where a path that a thread passed to a call leads.
//!
//! In: a thread, the descriptor of a directory and a path, at a stop of the call. Out: the
//! canonical directory with the last name of the path, as the kernel names a directory entry, and
//! what is there. Nothing is opened but directories, and these only as places (`O_PATH`).

use std::ffi::CString;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use flowmine_trace::proc::Proc;
use flowmine_trace::proc::files::{Looked, look, open};
use flowmine_trace::proc::paths::{Paths, View, Views};

/// A place in the tree of files.
#[derive(Debug, Default)]
pub(crate) struct Located {
    pub(crate) paths: Paths,
    /// The deepest directory of the path that exists.
    pub(crate) directory: Option<(OwnedFd, Looked)>,
    /// The last name of the path, when only that is left below the directory.
    pub(crate) name: Option<CString>,
}

const PLACE: libc::c_int = libc::O_PATH | libc::O_DIRECTORY;
/// Flag of openat2(2): the path must stay below the directory.
const RESOLVE_BENEATH: u64 = 0x08;
const RESOLVE_IN_ROOT: u64 = 0x10;

/// The thread from whose place a path is looked up.
pub(crate) struct Asker<'a> {
    pub(crate) proc: &'a Proc,
    pub(crate) process: u32,
    pub(crate) thread: u32,
    pub(crate) view: Option<&'a View>,
}

impl Asker<'_> {
    fn is_ours(&self) -> bool {
        self.view.is_some_and(View::is_ours)
    }

    /// What a relative path is relative to.
    fn base(&self, directory: i32) -> CString {
        match directory {
            libc::AT_FDCWD => self.proc.c_path(self.thread, "cwd"),
            fd => self.proc.c_path(self.thread, &format!("fd/{fd}")),
        }
    }

    /// The path with `/proc/self` and what is like it replaced: for us, `self` would be the tracer.
    fn without_self(&self, path: &[u8]) -> Vec<u8> {
        let process = format!("/proc/{}", self.process);
        let thread = format!("/proc/{0}/task/{1}", self.process, self.thread);
        let fds = format!("/proc/{}/fd", self.process);
        let (stdin, stdout, stderr) = (format!("{fds}/0"), format!("{fds}/1"), format!("{fds}/2"));
        let known = [
            ("/proc/self", &process),
            ("/proc/thread-self", &thread),
            ("/dev/fd", &fds),
            ("/dev/stdin", &stdin),
            ("/dev/stdout", &stdout),
            ("/dev/stderr", &stderr),
        ];
        for (own, theirs) in known {
            if let Some(rest) = path.strip_prefix(own.as_bytes())
                && (rest.is_empty() || rest[0] == b'/')
            {
                return [theirs.as_bytes(), rest].concat();
            }
        }
        path.to_vec()
    }

    /// Opens a directory of a path; an empty one is the base.
    fn directory(&self, base: i32, path: &[u8]) -> Option<OwnedFd> {
        let c_path = CString::new(path).ok()?;
        let absolute = path.first() == Some(&b'/');
        if self.is_ours() {
            if absolute {
                return open(libc::AT_FDCWD, &c_path, PLACE).ok();
            }
            let base = open(libc::AT_FDCWD, &self.base(base), PLACE).ok()?;
            return if path.is_empty() { Some(base) } else { open(base.as_raw_fd(), &c_path, PLACE).ok() };
        }
        let root = open(libc::AT_FDCWD, &self.proc.c_path(self.thread, "root"), PLACE).ok()?;
        if absolute {
            return open_within(&root, &c_path, RESOLVE_IN_ROOT);
        }
        let from = open(libc::AT_FDCWD, &self.base(base), PLACE).ok()?;
        if path.is_empty() {
            return Some(from);
        }
        // Whatever leaves the base is relative to the root of the process, which ours is not.
        open_within(&from, &c_path, RESOLVE_BENEATH)
    }

    /// Finds out where a path leads, without following a link that the last name may be.
    pub(crate) fn locate(&self, views: &mut Views, base: i32, path: &[u8]) -> Located {
        let path = self.without_self(path);
        let trimmed = match path.iter().rposition(|&byte| byte != b'/') {
            Some(last) => &path[..=last],
            None if path.is_empty() => &path[..],
            None => b"/",
        };
        let mut cut = trimmed.len();
        // From the whole path upwards, until a directory is there.
        for _ in 0..PARTS {
            let end = trimmed[..cut].iter().rposition(|&byte| byte == b'/');
            let directory = match end {
                Some(0) => &trimmed[..1],
                Some(end) => &trimmed[..end],
                None => b"",
            };
            let rest = &trimmed[end.map_or(0, |end| end + 1)..];
            if let Some(place) = self.directory(base, directory)
                && let Ok(looked) = look(place.as_raw_fd(), c"", libc::AT_EMPTY_PATH)
            {
                let mut paths = self.paths(views, &place, &looked);
                for path in [&mut paths.host, &mut paths.container].into_iter().flatten() {
                    if !rest.is_empty() {
                        if path.last() != Some(&b'/') {
                            path.push(b'/');
                        }
                        path.extend_from_slice(rest);
                    }
                }
                let whole = !rest.is_empty() && !rest.contains(&b'/');
                return Located { paths, directory: Some((place, looked)), name: whole.then(|| CString::new(rest).ok()).flatten() };
            }
            match end {
                Some(end) if end > 0 => cut = end,
                _ => break,
            }
        }
        Located::default()
    }

    fn paths(&self, views: &mut Views, place: &OwnedFd, looked: &Looked) -> Paths {
        match self.proc.link(std::process::id(), &format!("fd/{}", place.as_raw_fd())) {
            Some(link) => views.paths(self.view, &link, looked),
            None => Paths::default(),
        }
    }
}

/// A path has at most so many names that are looked at from its end.
const PARTS: usize = 256;

fn open_within(directory: &OwnedFd, path: &CString, resolve: u64) -> Option<OwnedFd> {
    // struct open_how: flags, mode, resolve.
    let how = [(PLACE | libc::O_CLOEXEC) as u64, 0, resolve];
    // SAFETY: the path ends with a zero byte; `how` has the size that is given.
    let fd = unsafe { libc::syscall(libc::SYS_openat2, directory.as_raw_fd(), path.as_ptr(), how.as_ptr(), size_of_val(&how)) };
    // SAFETY: the descriptor was just opened and belongs to nobody else.
    (fd >= 0).then(|| unsafe { OwnedFd::from_raw_fd(fd as i32) })
}

impl Located {
    /// What is there; `follow` says whether a link leads further.
    pub(crate) fn look(&self, follow: bool) -> Option<Looked> {
        let (directory, _) = self.directory.as_ref()?;
        let flags = if follow { 0 } else { libc::AT_SYMLINK_NOFOLLOW };
        look(directory.as_raw_fd(), self.name.as_ref()?, flags).ok()
    }
}

//! Where a path that a thread passed to a call leads.
//!
//! In: a thread, the descriptor of a directory and a path, at a stop of the call. Out: the
//! canonical directory with the last name of the path, as the kernel names a directory entry, and
//! what is there. Nothing is opened but directories, and these only as places (`O_PATH`).

use std::ffi::CString;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use flowmine_trace::proc::Proc;
use flowmine_trace::proc::files::{Looked, open};
use flowmine_trace::proc::paths::{Paths, View, Views};
use flowmine_trace::proc::places::{Bounds, NotOpened};

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

/// The thread from which a path is looked up.
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
    fn directory(&self, views: &mut Views, base: i32, path: &[u8]) -> Result<OwnedFd, NotOpened> {
        // The links of a process lead to its directories without a look at what is above them.
        let linked = |link: &CString| open(libc::AT_FDCWD, link, PLACE).map_err(|_| NotOpened::Absent);
        let c_path = CString::new(path).map_err(|_| NotOpened::Absent)?;
        let absolute = path.first() == Some(&b'/');
        if absolute && self.is_ours() {
            return views.open_place(self.view, None, &c_path, PLACE, Bounds::None);
        }
        if absolute {
            let root = linked(&self.proc.c_path(self.thread, "root"))?;
            return views.open_place(self.view, Some(root.as_fd()), &c_path, PLACE, Bounds::Root);
        }
        let from = linked(&self.base(base))?;
        if path.is_empty() {
            return Ok(from);
        }
        // Whatever leaves the base is relative to the root of the process, which ours may not be.
        let bounds = if self.is_ours() { Bounds::None } else { Bounds::Beneath };
        views.open_place(self.view, Some(from.as_fd()), &c_path, PLACE, bounds)
    }

    /// Finds out where a path leads, without following a link that the last name may be. The path
    /// is unknown if only a process that serves the files could answer.
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
            let opened = self.directory(views, base, directory);
            if opened.as_ref().err() == Some(&NotOpened::Unasked) {
                break;
            }
            if let Ok(place) = opened
                && let Ok(looked) = views.look(self.view, place.as_raw_fd(), c"", libc::AT_EMPTY_PATH)
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

/// Maximum number of names of a path that are examined from its end.
const PARTS: usize = 256;

impl Located {
    /// Opens what is there as a place; `follow` says whether a link leads further.
    pub(crate) fn open(&self, views: &mut Views, view: Option<&View>, follow: bool) -> Option<OwnedFd> {
        let (directory, _) = self.directory.as_ref()?;
        let flags = if follow { 0 } else { libc::O_NOFOLLOW };
        views.open_place(view, Some(directory.as_fd()), self.name.as_ref()?, flags, Bounds::None).ok()
    }
}

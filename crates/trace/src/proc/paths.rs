//! Paths of files: as the host sees them, and as a process with a root or mounts of its own sees
//! them.
//!
//! In: what readlink(2) says of a link below `/proc/PID`. It is a path relative to our root when
//! the file is on a mount of our namespace, and relative to the root of its own namespace when not
//! (d_path in the kernel's fs/d_path.c). Out: [`Paths`]. A name that does not exist is no path.

use std::cell::RefCell;
use std::ffi::{CString, OsStr};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::Proc;
use super::files::Looked;
use super::mounts::{MountTable, below, elsewhere};
use super::places::Bounds;

/// The two paths of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Paths {
    /// The path as the host sees it.
    pub host: Option<Vec<u8>>,
    /// The path as the process sees it, where that differs.
    pub container: Option<Vec<u8>>,
}

/// What a process sees of the files of the machine.
#[derive(Debug, Clone)]
pub struct View {
    /// Its root, as the link in `/proc` says.
    root: Vec<u8>,
    /// Its mounts, when they are not ours.
    mounts: Option<Rc<RefCell<MountTable>>>,
}

impl View {
    /// Whether it sees files under the same paths as we do.
    pub fn is_ours(&self) -> bool {
        self.root == b"/" && self.mounts.is_none()
    }

    /// A path within its mounts, as it sees it from its root.
    fn seen_from_root(&self, path: &[u8]) -> Option<Vec<u8>> {
        match below(&self.root, path)? {
            b"" => Some(b"/".to_vec()),
            rest => Some(rest.to_vec()),
        }
    }
}

/// The mounts of all namespaces that were met; ours among them.
#[derive(Debug)]
pub struct Views {
    here: MountTable,
    ours: Option<(u64, u64)>,
    /// The link of our own root: `/`, also when that is not the machine's.
    others: FxHashMap<(u64, u64), Rc<RefCell<MountTable>>>,
    /// Devices of served file systems of namespaces that were forgotten.
    served: FxHashSet<u64>,
}

/// Maximum number of remembered namespaces; each costs an open file.
const NAMESPACES: usize = 64;

fn namespace(path: &Path) -> Option<(u64, u64)> {
    std::fs::metadata(path).ok().map(|metadata| (metadata.dev(), metadata.ino()))
}

impl Views {
    /// Reads the mounts of this process, with which those of others are compared.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn new(proc: &Proc) -> std::io::Result<Self> {
        let own = proc.root().join("self");
        Ok(Views {
            here: MountTable::open(&own.join("mountinfo"))?,
            ours: namespace(&own.join("ns/mnt")),
            others: FxHashMap::default(),
            served: FxHashSet::default(),
        })
    }

    /// How a process or thread sees files. `None` when it cannot be found out.
    pub fn of(&mut self, proc: &Proc, pid: u32) -> Option<View> {
        let root = proc.link(pid, "root")?;
        let theirs = namespace(&proc.path(pid, "ns/mnt"));
        if theirs.is_none() || theirs == self.ours {
            return Some(View { root, mounts: None });
        }
        let theirs = theirs?;
        if let Some(table) = self.others.get(&theirs) {
            return Some(View { root, mounts: Some(Rc::clone(table)) });
        }
        let table = Rc::new(RefCell::new(MountTable::open(&proc.path(pid, "mountinfo")).ok()?));
        if self.others.len() >= NAMESPACES {
            self.forget(|_| false);
        }
        self.others.insert(theirs, Rc::clone(&table));
        Some(View { root, mounts: Some(table) })
    }

    /// Forgets the namespaces of which no view is left. As long as one is known it stays, with its
    /// mounts: a process that serves one of them would wait for its end.
    pub fn forget_unused(&mut self) {
        if !self.others.is_empty() {
            self.forget(|table| Rc::strong_count(table) > 1);
        }
    }

    fn forget(&mut self, stays: impl Fn(&Rc<RefCell<MountTable>>) -> bool) {
        let served = &mut self.served;
        self.others.retain(|_, table| {
            served.extend(table.borrow().served());
            stays(table)
        });
    }

    /// The type of the file system of a file that a process has open.
    pub fn kind(&mut self, view: Option<&View>, file: &Looked) -> Option<String> {
        match view.and_then(|view| view.mounts.as_ref()) {
            Some(mounts) => mounts.borrow_mut().kind(file.mount, file.device).map(str::to_owned),
            None => self.here.kind(file.mount, file.device).map(str::to_owned),
        }
    }

    /// Whether a process may answer for a file ([`Mount::served`](super::mounts::Mount::served)). A
    /// file of which no mount is known may be one that was unmounted while it is in use.
    pub(super) fn is_served(&mut self, view: Option<&View>, file: &Looked) -> bool {
        let theirs = view
            .and_then(|view| view.mounts.as_ref())
            .and_then(|mounts| mounts.borrow_mut().find(file.mount, file.device).map(|mount| mount.served));
        theirs.or_else(|| self.here.find(file.mount, file.device).map(|mount| mount.served)).unwrap_or(true)
    }

    /// Whether a path may lead to files for which a process answers.
    pub(super) fn knows_servers(&mut self, view: Option<&View>) -> bool {
        self.here.changed();
        if let Some(mounts) = view.and_then(|view| view.mounts.as_ref()) {
            mounts.borrow_mut().changed();
        }
        let has_served = |table: &Rc<RefCell<MountTable>>| !table.borrow().served().is_empty();
        !self.here.served().is_empty() || !self.served.is_empty() || self.others.values().any(has_served)
    }

    /// Devices of the served file systems that were met.
    pub(super) fn served_devices(&self) -> FxHashSet<u64> {
        let mut all = self.here.served() | &self.served;
        self.others.values().for_each(|table| all.extend(table.borrow().served()));
        all
    }

    /// The paths of a file from what a link says of it. `None` for a view: nothing is known of how
    /// the process sees it.
    pub fn paths(&mut self, view: Option<&View>, link: &[u8], file: &Looked) -> Paths {
        let (name, gone) = match link.strip_suffix(DELETED) {
            // The kernel adds it to what has no name any more. A file may have such a name itself, or others of its names may be left.
            Some(name) if file.links == 0 => (name, true),
            Some(name) => {
                let whole = self.resolved(view, link, file, false);
                if whole.host.as_deref().is_some_and(|path| self.is_file(path, file)) {
                    return whole;
                }
                (name, true)
            }
            None => (link, false),
        };
        self.resolved(view, name, file, gone)
    }

    /// Whether a path of ours leads to this very file.
    fn is_file(&mut self, path: &[u8], file: &Looked) -> bool {
        let Ok(path) = CString::new(path) else { return false };
        let place = self.open_place(None, None, &path, libc::O_NOFOLLOW, Bounds::None);
        let found = place.ok().and_then(|place| self.look(None, place.as_raw_fd(), c"", libc::AT_EMPTY_PATH).ok());
        found.is_some_and(|found| found.same(file))
    }

    fn resolved(&mut self, view: Option<&View>, path: &[u8], file: &Looked, gone: bool) -> Paths {
        // Files without any name have links such as `/memfd:x` or `pipe:[1]`, and unreachable ones none that leads there.
        if path.first() != Some(&b'/') || (gone && (path.starts_with(b"/memfd:") || path.starts_with(b"/dev/zero"))) {
            return Paths::default();
        }
        let Some(view) = view else { return Paths { host: Some(path.to_vec()), container: None } };
        let container = view.seen_from_root(path);
        let host = match &view.mounts {
            None => Some(path.to_vec()),
            Some(mounts) => {
                let candidates = elsewhere(mounts.borrow_mut().mounts(), self.here.mounts(), file.mount, path);
                // One that hides behind another mount is another file; of a deleted one only the most likely can be known.
                if gone { candidates.into_iter().next() } else { candidates.into_iter().find(|path| self.is_file(path, file)) }
            }
        };
        if host == container { Paths { host, container: None } } else { Paths { host, container } }
    }
}

const DELETED: &[u8] = b" (deleted)";

/// A path as the standard library wants it.
pub fn as_path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::proc::files::look;

    fn of(file: &fs::File) -> Paths {
        let proc = Proc::here();
        let mut views = Views::new(&proc).unwrap();
        let pid = std::process::id();
        let view = views.of(&proc, pid).unwrap();
        assert!(view.is_ours());
        let name = format!("fd/{}", file.as_raw_fd());
        let looked = look(libc::AT_FDCWD, &proc.c_path(pid, &name), 0).unwrap();
        views.paths(Some(&view), &proc.link(pid, &name).unwrap(), &looked)
    }

    #[test]
    fn deleted_is_never_part_of_a_path_unless_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        for name in ["plain", "odd (deleted)"] {
            let path = base.join(name);
            let file = fs::File::create(&path).unwrap();
            let expected = Some(path.as_os_str().as_bytes().to_vec());
            assert_eq!(of(&file), Paths { host: expected.clone(), container: None });
            // Another of its names is left.
            fs::hard_link(&path, base.join("other")).unwrap();
            fs::remove_file(&path).unwrap();
            assert_eq!(of(&file).host, expected);
            fs::remove_file(base.join("other")).unwrap();
            assert_eq!(of(&file).host, expected);
        }
    }

    #[test]
    fn a_view_from_another_root_has_two_paths() {
        let mut views = Views::new(&Proc::here()).unwrap();
        let file = Looked { device: 1, inode: 1, mode: libc::S_IFREG, links: 1, size: 0, mount: None, served: false };
        let jail = View { root: b"/jail".to_vec(), mounts: None };
        let paths = |views: &mut Views, path: &[u8]| views.paths(Some(&jail), path, &file);
        let both = Paths { host: Some(b"/jail/in/x".to_vec()), container: Some(b"/in/x".to_vec()) };
        assert_eq!(paths(&mut views, b"/jail/in/x"), both);
        // Outside of its root: it has no path for that.
        assert_eq!(paths(&mut views, b"/jailed/x"), Paths { host: Some(b"/jailed/x".to_vec()), container: None });
        assert_eq!(paths(&mut views, b"socket:[7]"), Paths::default());
    }
}

//! The files that the kernel knows of an overlay: a node for each (device, inode), counted as the
//! kernel counts its lookups.
//!
//! A node is this file, whatever is renamed, linked or unlinked, and hard links are one node. It is
//! reached by an `O_PATH` descriptor, of which only a share of what the tracer may have is kept
//! ([`Keeper`]): those that were not used for longest are let go. A closed one is found again by
//! its file handle (open_by_handle_at(2), with `CAP_DAC_READ_SEARCH`), or by its name in its
//! directory; only what can be found again is let go. A file that is found again must have the mark
//! of the one that was let go, since the number of its inode can be another's by now.
//!
//! A node knows the directory and the name by which it was reached last, which gives its path: also
//! when it is longer than what `/proc` gives, and when the file has other names or none any more.
//! The kernel looks up a file's name at each open (see [`crate::names::entry`]).

use std::collections::VecDeque;
use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak};

use rustc_hash::FxHashMap;

use crate::identity::with_own_capabilities;
use crate::open_files::{OpenFile, OpenFiles};
use crate::room::{Held, Room, no_room};
use crate::system::{self, Errno};
use crate::wire;

/// How a node was reached last.
#[derive(Debug, Clone)]
enum Place {
    /// It is the directory of the overlay itself, at this path.
    Root(Arc<[u8]>),
    /// It is found by this name in a directory.
    In(Arc<Node>, Arc<[u8]>),
    /// Never by a name (`O_TMPFILE`).
    Nowhere,
}

/// Maximum depth of directories: a walk through a ring of stale places ends.
const DEEPEST: usize = 1 << 16;

/// A file or directory that the kernel knows by a node number.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) id: u64,
    pub(crate) device: u64,
    pub(crate) inode: u64,
    me: Weak<Node>,
    keeper: Arc<Keeper>,
    kept: Mutex<Kept>,
    /// Since it was last looked at whether it can go.
    used: AtomicBool,
    lookups: AtomicU64,
    place: Mutex<Place>,
}

/// The descriptors by which a node is reached.
#[derive(Debug, Default)]
struct Kept {
    fd: Option<Arc<Held>>,
    /// Informed when the descriptor is let go.
    mark: Option<Mark>,
    /// The command's open files.
    open: Vec<Weak<OpenFile>>,
}

/// Identity of a file without a descriptor.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Mark {
    /// Its handle and the number of its mount, where its file system has them.
    handle: Option<(Handle, i32)>,
    /// When it was made, where that is known.
    born: Option<(i64, u32)>,
}

impl Mark {
    fn of(fd: RawFd) -> Self {
        // STATX_BTIME
        let stat = flowmine_trace::proc::files::statx(fd, c"", libc::AT_EMPTY_PATH, 0x800).ok();
        let born = stat.filter(|stat| stat.stx_mask & 0x800 != 0).map(|stat| (stat.stx_btime.tv_sec, stat.stx_btime.tv_nsec));
        Mark { handle: Handle::of(fd), born }
    }

    /// Whether both are of one file, as far as can be known.
    fn same(&self, other: &Mark) -> bool {
        match (&self.handle, &other.handle) {
            (Some((one, _)), Some((two, _))) => one == two,
            _ => self.born == other.born,
        }
    }
}

/// `struct file_handle`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Handle {
    length: u32,
    kind: i32,
    bytes: [u8; 128],
}

impl Handle {
    /// The handle of a descriptor and the number of its mount.
    fn of(fd: RawFd) -> Option<(Self, i32)> {
        let mut handle = Handle { length: 128, kind: 0, bytes: [0; 128] };
        let mut mount = 0;
        let (empty, flags) = (c"".as_ptr(), libc::AT_EMPTY_PATH);
        // SAFETY: the structure has the room that it states.
        let result = unsafe { libc::syscall(libc::SYS_name_to_handle_at, fd, empty, &mut handle, &mut mount, flags) };
        (result == 0).then_some((handle, mount))
    }

    /// Opens it; `mount` is a descriptor on its mount.
    fn open(&self, mount: RawFd) -> Result<OwnedFd, Errno> {
        let mut handle = *self;
        // SAFETY: the structure is as it was filled in; the descriptor that is returned is ours.
        unsafe {
            let fd = libc::syscall(libc::SYS_open_by_handle_at, mount, &mut handle, libc::O_PATH | libc::O_NOFOLLOW | libc::O_CLOEXEC);
            Ok(OwnedFd::from_raw_fd(system::positive(fd as libc::c_int)?))
        }
    }
}

fn open_name(parent: RawFd, name: &CStr) -> Result<OwnedFd, Errno> {
    // SAFETY: a zero-terminated name; the descriptor that is returned is ours.
    unsafe {
        let fd = libc::openat(parent, name.as_ptr(), libc::O_PATH | libc::O_NOFOLLOW | libc::O_CLOEXEC);
        Ok(OwnedFd::from_raw_fd(system::positive(fd)?))
    }
}

/// Which nodes have a descriptor, of all overlays.
#[derive(Debug)]
pub(crate) struct Keeper {
    room: Arc<Room>,
    files: Arc<OpenFiles>,
    /// Those with one, in the order in which they got it.
    ring: Mutex<VecDeque<Weak<Node>>>,
    /// Descriptors by which handles of a mount are opened; `None` where that does not work.
    mounts: Mutex<FxHashMap<i32, Option<Arc<OwnedFd>>>>,
    by_handle: bool,
    /// Whether any node was ever let go.
    lets_go: AtomicBool,
}

/// Number of nodes that are examined when one has to go.
const LOOKED_AT: usize = 64;

impl Keeper {
    /// `by_handle`: whether files can be opened by their handles.
    pub(crate) fn new(room: Arc<Room>, files: Arc<OpenFiles>, by_handle: bool) -> Self {
        Keeper { room, files, ring: Mutex::default(), mounts: Mutex::default(), by_handle, lets_go: AtomicBool::new(false) }
    }

    fn ring(&self) -> MutexGuard<'_, VecDeque<Weak<Node>>> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens something; where there is no room all goes that can, and it is tried once more.
    pub(crate) fn with_room<T>(&self, mut open: impl FnMut() -> Result<T, Errno>) -> Result<T, Errno> {
        match open() {
            Err(errno) if no_room(errno) => {
                let all = self.ring().len();
                self.let_go(all, |_| true);
                self.files.make_room();
                open()
            }
            result => result,
        }
    }

    fn enter(&self, node: &Weak<Node>) {
        self.ring().push_back(Weak::clone(node));
    }

    /// Makes room after one more has a descriptor.
    fn entered(&self) {
        let mut ring = self.ring();
        // A node that the kernel has forgotten leaves only its place here.
        if ring.len() > 1024 && ring.len() / 2 > self.room.nodes() {
            ring.retain(|node| node.upgrade().is_some_and(|node| node.kept().fd.is_some()));
        }
        drop(ring);
        if self.room.too_many() {
            self.let_go(LOOKED_AT, |node| !node.used.load(Ordering::Relaxed));
        }
    }

    /// Closes those that `may` go, among the given number, until there is room.
    fn let_go(&self, mut look_at: usize, may: impl Fn(&Node) -> bool) {
        let all = look_at > LOOKED_AT;
        while look_at > 0 && (all || self.room.too_many()) {
            look_at -= 1;
            let Some(node) = self.ring().pop_front() else { return };
            let Some(node) = node.upgrade() else { continue };
            let gone = may(&node) && self.let_one_go(&node);
            node.used.store(false, Ordering::Relaxed);
            if !gone {
                self.ring().push_back(Weak::clone(&node.me));
            }
        }
    }

    fn let_one_go(&self, node: &Node) -> bool {
        let Some(fd) = node.kept().fd.clone() else { return true };
        node.used.store(false, Ordering::Relaxed);
        self.lets_go.store(true, Ordering::SeqCst);
        let Some(mark) = with_own_capabilities(|| self.mark(node, &fd)) else { return false };
        let mut kept = node.kept();
        // Who uses it now may be about to unlink it.
        if Arc::strong_count(&fd) > 2 || node.used.load(Ordering::Relaxed) {
            return false;
        }
        kept.mark = Some(mark);
        kept.fd = None;
        true
    }

    /// The mark of a node that can be found again; nothing for one that cannot.
    fn mark(&self, node: &Node, fd: &Held) -> Option<Mark> {
        let stat = system::stat(fd.raw()).ok()?;
        let mark = Mark::of(fd.raw());
        if node.kept().open.iter().any(|open| open.strong_count() > 0) {
            return Some(mark);
        }
        // Without a name only a descriptor keeps it.
        if stat.st_nlink == 0 {
            return None;
        }
        let Place::In(parent, name) = node.place() else { return None };
        let parent = parent.fd_without_room().ok()?;
        if let (true, Some((handle, mount))) = (self.by_handle, mark.handle) {
            let directory = if stat.st_mode & libc::S_IFMT == libc::S_IFDIR { fd.raw() } else { parent.raw() };
            if self.mount(mount, directory, &handle).is_some() {
                return Some(mark);
            }
        }
        let there = system::stat_at(parent.raw(), &system::name(&name).ok()?).ok()?;
        ((there.st_dev, there.st_ino) == (node.device, node.inode)).then_some(mark)
    }

    /// A descriptor on a mount by which a handle can be opened, through a directory that may be on
    /// it.
    fn mount(&self, number: i32, directory: RawFd, handle: &Handle) -> Option<Arc<OwnedFd>> {
        if let Some(known) = self.mounts.lock().unwrap_or_else(PoisonError::into_inner).get(&number) {
            return known.clone();
        }
        // The other mount of a file that is mounted alone.
        if Handle::of(directory).is_none_or(|(_, of)| of != number) {
            return None;
        }
        let fd = system::reopen(directory, libc::O_RDONLY | libc::O_DIRECTORY).ok();
        let works = fd.filter(|fd| handle.open(fd.as_raw_fd()).is_ok()).map(Arc::new);
        self.mounts.lock().unwrap_or_else(PoisonError::into_inner).insert(number, works.clone());
        works
    }
}

impl Node {
    /// A descriptor of the file, opened anew when there is none.
    pub(crate) fn fd(&self) -> Result<Arc<Held>, Errno> {
        if let Some(fd) = self.known_fd() {
            return Ok(fd);
        }
        let fd = self.fd_without_room()?;
        self.keeper.entered();
        Ok(fd)
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn known_fd(&self) -> Option<Arc<Held>> {
        let kept = self.kept();
        self.used.store(true, Ordering::Relaxed);
        if let Some(fd) = &kept.fd {
            return Some(Arc::clone(fd));
        }
        let open: Vec<_> = kept.open.iter().filter_map(Weak::upgrade).collect();
        drop(kept);
        open.iter().find_map(|file| file.fd().ok())
    }

    /// An open file of the command has a descriptor of the node, too.
    pub(crate) fn opened(&self, file: &Arc<OpenFile>) {
        let mut kept = self.kept();
        kept.open.retain(|open| open.strong_count() > 0);
        kept.open.push(Arc::downgrade(file));
    }

    /// As [`Node::fd`], but it lets go of nothing.
    fn fd_without_room(&self) -> Result<Arc<Held>, Errno> {
        // From the nearest one that has a descriptor downwards; no recursion, since there is no end to how deep directories lie in each other.
        let mut chain: Vec<Arc<Node>> = Vec::new();
        let mut at = self.me.upgrade().ok_or(libc::ESTALE)?;
        let mut fd = loop {
            if let Some(fd) = at.known_fd() {
                break fd;
            }
            if let Some(fd) = at.by_handle() {
                break at.keep(fd);
            }
            let Place::In(parent, _) = at.place() else { return Err(libc::ESTALE) };
            chain.push(std::mem::replace(&mut at, parent));
            if chain.len() > DEEPEST {
                return Err(libc::ELOOP);
            }
        };
        while let Some(node) = chain.pop() {
            let Place::In(_, name) = node.place() else { return Err(libc::ESTALE) };
            let name = system::name(&name)?;
            let found = with_own_capabilities(|| self.keeper.with_room(|| open_name(fd.raw(), &name)));
            // Renamed or taken away behind our back: the kernel looks again.
            let found = found.map_err(|errno| if errno == libc::ENOENT { libc::ESTALE } else { errno })?;
            if !node.is(&found) {
                return Err(libc::ESTALE);
            }
            fd = node.keep(found);
        }
        Ok(fd)
    }

    /// Opens the file by its file handle (open_by_handle_at(2)).
    fn by_handle(&self) -> Option<OwnedFd> {
        let (handle, mount) = self.kept().mark.as_ref()?.handle?;
        let mount = self.keeper.mounts.lock().unwrap_or_else(PoisonError::into_inner).get(&mount)?.clone()?;
        let found = with_own_capabilities(|| self.keeper.with_room(|| handle.open(mount.as_raw_fd())));
        found.ok().filter(|found| self.is(found))
    }

    /// Whether a descriptor is of the file that was let go.
    fn is(&self, fd: &OwnedFd) -> bool {
        let same = system::stat(fd.as_raw_fd()).is_ok_and(|stat| (stat.st_dev, stat.st_ino) == (self.device, self.inode));
        same && self.kept().mark.as_ref().is_none_or(|mark| mark.same(&Mark::of(fd.as_raw_fd())))
    }

    /// Keeps a descriptor, where another thread has not found one already.
    fn keep(&self, fd: OwnedFd) -> Arc<Held> {
        let mut kept = self.kept();
        if let Some(fd) = &kept.fd {
            return Arc::clone(fd);
        }
        let fd = self.keeper.room.keep(fd);
        kept.fd = Some(Arc::clone(&fd));
        drop(kept);
        self.keeper.enter(&self.me);
        fd
    }

    /// Whether it has a descriptor, so that its inode is no other's.
    fn is_kept(&self) -> bool {
        let kept = self.kept();
        self.used.store(true, Ordering::Relaxed);
        kept.fd.is_some() || kept.open.iter().any(|open| open.strong_count() > 0)
    }

    fn place(&self) -> Place {
        self.place.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Notes that the node is found by this name from now on.
    pub(crate) fn found(&self, parent: &Arc<Node>, name: &[u8]) {
        let mut place = self.place.lock().unwrap_or_else(PoisonError::into_inner);
        let same =
            matches!(&*place, Place::Root(_)) || matches!(&*place, Place::In(node, known) if node.id == parent.id && **known == *name);
        if !same {
            let before = std::mem::replace(&mut *place, Place::In(Arc::clone(parent), name.into()));
            drop(place);
            drop(before);
        }
    }

    /// Its path, `None` when it never had a name.
    pub(crate) fn path(&self) -> Option<Vec<u8>> {
        let mut names = Vec::new();
        let mut place = self.place();
        while names.len() < DEEPEST {
            match place {
                Place::Nowhere => return None,
                Place::In(parent, name) => {
                    names.push(name);
                    place = parent.place();
                }
                Place::Root(root) => {
                    let mut path = root.to_vec();
                    for name in names.iter().rev() {
                        path.push(b'/');
                        path.extend_from_slice(name);
                    }
                    return Some(path);
                }
            }
        }
        None
    }

    /// The path of a name in this directory.
    pub(crate) fn path_of(&self, name: &[u8]) -> Option<Vec<u8>> {
        let mut path = self.path()?;
        path.push(b'/');
        path.extend_from_slice(name);
        Some(path)
    }
}

#[derive(Debug, Default)]
struct Tables {
    by_id: FxHashMap<u64, Arc<Node>>,
    by_key: FxHashMap<(u64, u64), Arc<Node>>,
}

/// All nodes of an overlay.
#[derive(Debug)]
pub(crate) struct Nodes {
    tables: RwLock<Tables>,
    next: AtomicU64,
    keeper: Arc<Keeper>,
}

impl Nodes {
    /// Begins with the directory itself.
    pub(crate) fn new(root: OwnedFd, path: &[u8], keeper: Arc<Keeper>) -> io::Result<Self> {
        let stat = system::stat(root.as_raw_fd()).map_err(io::Error::from_raw_os_error)?;
        // Never forgotten, and never let go.
        let (lookups, place) = (u64::MAX / 2, Place::Root(path.into()));
        let node = node(&keeper, wire::ROOT, &stat, root, lookups, place);
        let mut tables = Tables::default();
        tables.by_key.insert((node.device, node.inode), Arc::clone(&node));
        tables.by_id.insert(wire::ROOT, node);
        Ok(Self { tables: RwLock::new(tables), next: AtomicU64::new(wire::ROOT + 1), keeper })
    }

    pub(crate) fn get(&self, id: u64) -> Result<Arc<Node>, Errno> {
        let tables = self.tables.read().unwrap_or_else(PoisonError::into_inner);
        tables.by_id.get(&id).cloned().ok_or(libc::ESTALE)
    }

    fn by_key(&self, stat: &libc::stat) -> Option<Arc<Node>> {
        let tables = self.tables.read().unwrap_or_else(PoisonError::into_inner);
        tables.by_key.get(&(stat.st_dev, stat.st_ino)).cloned()
    }

    /// The node of a name, counted as one lookup.
    pub(crate) fn look_up(&self, parent: &Arc<Node>, name: &[u8]) -> Result<(Arc<Node>, libc::stat), Errno> {
        let c_name = system::name(name)?;
        let directory = parent.fd()?;
        let stat = system::stat_at(directory.raw(), &c_name)?;
        let (node, stat) = match self.known(&stat) {
            Some(node) => (node, stat),
            None => self.insert(self.keeper.with_room(|| open_name(directory.raw(), &c_name))?)?,
        };
        if !matches!(name, b"." | b"..") {
            node.found(parent, name);
        }
        Ok((node, stat))
    }

    /// What was renamed is to be found by its new name.
    pub(crate) fn renamed(&self, parent: &Arc<Node>, name: &[u8]) {
        let Ok(directory) = parent.fd() else { return };
        let Ok(stat) = system::name(name).and_then(|name| system::stat_at(directory.raw(), &name)) else { return };
        if let Some(node) = self.by_key(&stat) {
            node.found(parent, name);
        }
    }

    /// What is about to lose a name must not be let go meanwhile: it may be its last.
    pub(crate) fn hold(&self, parent: &Node, name: &CStr) -> Option<Arc<Held>> {
        if !self.keeper.lets_go.load(Ordering::SeqCst) {
            return None;
        }
        let stat = system::stat_at(parent.fd().ok()?.raw(), name).ok()?;
        self.by_key(&stat)?.fd().ok()
    }

    /// The file of an `O_PATH` descriptor, counted as one lookup.
    pub(crate) fn insert(&self, fd: OwnedFd) -> Result<(Arc<Node>, libc::stat), Errno> {
        let stat = system::stat(fd.as_raw_fd())?;
        let key = (stat.st_dev, stat.st_ino);
        let mut tables = self.tables.write().unwrap_or_else(PoisonError::into_inner);
        // Of one that was let go the inode can be another's by now. The kernel finds that out when it asks for it.
        if let Some(node) = tables.by_key.get(&key).filter(|node| node.is_kept() || node.is(&fd)) {
            node.lookups.fetch_add(1, Ordering::Relaxed);
            let node = Arc::clone(node);
            drop(tables);
            if !node.is_kept() {
                node.keep(fd);
                self.keeper.entered();
            }
            return Ok((node, stat));
        }
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let node = node(&self.keeper, id, &stat, fd, 1, Place::Nowhere);
        let other = tables.by_key.insert(key, Arc::clone(&node));
        tables.by_id.insert(id, Arc::clone(&node));
        drop(tables);
        drop(other);
        self.keeper.enter(&node.me);
        self.keeper.entered();
        Ok((node, stat))
    }

    /// A node that is certainly the file of these attributes.
    fn known(&self, stat: &libc::stat) -> Option<Arc<Node>> {
        let tables = self.tables.read().unwrap_or_else(PoisonError::into_inner);
        let node = tables.by_key.get(&(stat.st_dev, stat.st_ino)).filter(|node| node.is_kept())?;
        // Under the lock: it cannot be forgotten in between.
        node.lookups.fetch_add(1, Ordering::Relaxed);
        Some(Arc::clone(node))
    }

    /// The kernel forgets this number of lookups.
    pub(crate) fn forget(&self, id: u64, lookups: u64) {
        let gone = {
            let mut tables = self.tables.write().unwrap_or_else(PoisonError::into_inner);
            let Some(node) = tables.by_id.get(&id) else { return };
            let before = node.lookups.load(Ordering::Relaxed);
            node.lookups.store(before.saturating_sub(lookups), Ordering::Relaxed);
            if before > lookups || id == wire::ROOT {
                return;
            }
            let key = (node.device, node.inode);
            if tables.by_key.get(&key).is_some_and(|node| node.id == id) {
                tables.by_key.remove(&key);
            }
            tables.by_id.remove(&id)
        };
        // Closed outside of the lock.
        drop(gone);
    }
}

fn node(keeper: &Arc<Keeper>, id: u64, stat: &libc::stat, fd: OwnedFd, lookups: u64, place: Place) -> Arc<Node> {
    let kept = Kept { fd: Some(keeper.room.keep(fd)), ..Kept::default() };
    Arc::new_cyclic(|me| Node {
        id,
        device: stat.st_dev,
        inode: stat.st_ino,
        me: Weak::clone(me),
        keeper: Arc::clone(keeper),
        kept: Mutex::new(kept),
        used: AtomicBool::new(true),
        lookups: AtomicU64::new(lookups),
        place: Mutex::new(place),
    })
}

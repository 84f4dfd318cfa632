//! The files that the kernel knows of an overlay: a node for each (device, inode), counted as the kernel counts its lookups.
//!
//! A node is an `O_PATH` descriptor: whatever is renamed, linked or unlinked, it stays this file. Hard links are one node. While a node lives its
//! inode cannot be used again, so (device, inode) is enough as a key.
//!
//! A node knows the directory and the name by which it was reached last, which gives its path: also when it is longer than what `/proc` tells, and
//! when the file has other names or none any more. The kernel looks up a file's name at each open (see [`super::names::entry`]).

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use rustc_hash::FxHashMap;

use super::system::{self, Errno};
use super::wire;

/// How a node was reached last.
#[derive(Debug, Clone)]
enum Place {
    /// It is the directory of the overlay itself, at this path.
    Root(Arc<[u8]>),
    /// By this name in a directory.
    In(Arc<Node>, Arc<[u8]>),
    /// Never by a name (`O_TMPFILE`).
    Nowhere,
}

/// So many directories lie in each other at most: in a ring of stale places nobody walks for ever.
const DEEPEST: usize = 1 << 16;

/// A file.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) id: u64,
    pub(super) device: u64,
    pub(super) inode: u64,
    fd: OwnedFd,
    lookups: AtomicU64,
    place: Mutex<Place>,
}

impl Node {
    pub(super) fn fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }

    fn place(&self) -> Place {
        self.place.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// It is now to be found by this name.
    pub(super) fn found(&self, parent: &Arc<Node>, name: &[u8]) {
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
    pub(super) fn path(&self) -> Option<Vec<u8>> {
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
    pub(super) fn path_of(&self, name: &[u8]) -> Option<Vec<u8>> {
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
pub(super) struct Nodes {
    tables: RwLock<Tables>,
    next: AtomicU64,
}

impl Nodes {
    /// Begins with the directory itself.
    pub(super) fn new(root: OwnedFd, path: &[u8]) -> io::Result<Self> {
        let stat = system::stat(root.as_raw_fd()).map_err(io::Error::from_raw_os_error)?;
        let node = Arc::new(Node {
            id: wire::ROOT,
            device: stat.st_dev,
            inode: stat.st_ino,
            fd: root,
            // Never forgotten.
            lookups: AtomicU64::new(u64::MAX / 2),
            place: Mutex::new(Place::Root(path.into())),
        });
        let mut tables = Tables::default();
        tables.by_key.insert((node.device, node.inode), Arc::clone(&node));
        tables.by_id.insert(wire::ROOT, node);
        Ok(Self { tables: RwLock::new(tables), next: AtomicU64::new(wire::ROOT + 1) })
    }

    pub(super) fn get(&self, id: u64) -> Result<Arc<Node>, Errno> {
        let tables = self.tables.read().unwrap_or_else(PoisonError::into_inner);
        tables.by_id.get(&id).cloned().ok_or(libc::ESTALE)
    }

    /// What a name stands for, counted as one lookup.
    pub(super) fn look_up(&self, parent: &Arc<Node>, name: &[u8]) -> Result<(Arc<Node>, libc::stat), Errno> {
        let c_name = system::name(name)?;
        let stat = system::stat_at(parent.fd(), &c_name)?;
        let (node, stat) = match self.known(&stat) {
            Some(node) => (node, stat),
            None => {
                // SAFETY: a zero-terminated name; the descriptor that is returned is ours.
                let fd = unsafe {
                    let fd = libc::openat(parent.fd(), c_name.as_ptr(), libc::O_PATH | libc::O_NOFOLLOW | libc::O_CLOEXEC);
                    OwnedFd::from_raw_fd(system::positive(fd)?)
                };
                self.insert(fd)?
            }
        };
        if !matches!(name, b"." | b"..") {
            node.found(parent, name);
        }
        Ok((node, stat))
    }

    /// What was renamed is to be found by its new name.
    pub(super) fn renamed(&self, parent: &Arc<Node>, name: &[u8]) {
        let Ok(stat) = system::name(name).and_then(|name| system::stat_at(parent.fd(), &name)) else { return };
        let node = {
            let tables = self.tables.read().unwrap_or_else(PoisonError::into_inner);
            tables.by_key.get(&(stat.st_dev, stat.st_ino)).cloned()
        };
        if let Some(node) = node {
            node.found(parent, name);
        }
    }

    /// The file of an `O_PATH` descriptor, counted as one lookup.
    pub(super) fn insert(&self, fd: OwnedFd) -> Result<(Arc<Node>, libc::stat), Errno> {
        let stat = system::stat(fd.as_raw_fd())?;
        let mut tables = self.tables.write().unwrap_or_else(PoisonError::into_inner);
        let key = (stat.st_dev, stat.st_ino);
        if let Some(node) = tables.by_key.get(&key) {
            node.lookups.fetch_add(1, Ordering::Relaxed);
            return Ok((Arc::clone(node), stat));
        }
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let node = Arc::new(Node { id, device: key.0, inode: key.1, fd, lookups: AtomicU64::new(1), place: Mutex::new(Place::Nowhere) });
        tables.by_key.insert(key, Arc::clone(&node));
        tables.by_id.insert(id, Arc::clone(&node));
        Ok((node, stat))
    }

    fn known(&self, stat: &libc::stat) -> Option<Arc<Node>> {
        let tables = self.tables.read().unwrap_or_else(PoisonError::into_inner);
        let node = tables.by_key.get(&(stat.st_dev, stat.st_ino))?;
        // Under the lock: nobody can forget it in between.
        node.lookups.fetch_add(1, Ordering::Relaxed);
        Some(Arc::clone(node))
    }

    /// The kernel forgets so many lookups.
    pub(super) fn forget(&self, id: u64, lookups: u64) {
        let gone = {
            let mut tables = self.tables.write().unwrap_or_else(PoisonError::into_inner);
            let Some(node) = tables.by_id.get(&id) else { return };
            let before = node.lookups.load(Ordering::Relaxed);
            node.lookups.store(before.saturating_sub(lookups), Ordering::Relaxed);
            if before > lookups || id == wire::ROOT {
                return;
            }
            let key = (node.device, node.inode);
            tables.by_key.remove(&key);
            tables.by_id.remove(&id)
        };
        // Closed outside of the lock.
        drop(gone);
    }
}

//! The files that the kernel knows of an overlay: a node for each (device, inode), counted as the kernel counts its lookups.
//!
//! A node is an `O_PATH` descriptor: whatever is renamed, linked or unlinked, it stays this file, and its present path can be asked of `/proc`.
//! Hard links are one node. While a node lives its inode cannot be used again, so (device, inode) is enough as a key.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use rustc_hash::FxHashMap;

use super::system::{self, Errno};
use super::wire;

/// A file.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) id: u64,
    pub(super) device: u64,
    pub(super) inode: u64,
    fd: OwnedFd,
    lookups: AtomicU64,
}

impl Node {
    pub(super) fn fd(&self) -> RawFd {
        self.fd.as_raw_fd()
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
    pub(super) fn new(root: OwnedFd) -> io::Result<Self> {
        let stat = system::stat(root.as_raw_fd()).map_err(io::Error::from_raw_os_error)?;
        let node = Arc::new(Node {
            id: wire::ROOT,
            device: stat.st_dev,
            inode: stat.st_ino,
            fd: root,
            // Never forgotten.
            lookups: AtomicU64::new(u64::MAX / 2),
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
    pub(super) fn look_up(&self, parent: RawFd, name: &[u8]) -> Result<(Arc<Node>, libc::stat), Errno> {
        let name = system::name(name)?;
        let stat = system::stat_at(parent, &name)?;
        if let Some(node) = self.known(&stat) {
            return Ok((node, stat));
        }
        // SAFETY: a zero-terminated name; the descriptor that is returned is ours.
        let fd = unsafe {
            let fd = libc::openat(parent, name.as_ptr(), libc::O_PATH | libc::O_NOFOLLOW | libc::O_CLOEXEC);
            OwnedFd::from_raw_fd(system::positive(fd)?)
        };
        self.insert(fd)
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
        let node = Arc::new(Node { id, device: key.0, inode: key.1, fd, lookups: AtomicU64::new(1) });
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

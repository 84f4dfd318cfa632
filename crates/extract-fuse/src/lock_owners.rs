//! Who holds POSIX locks on which file, by a descriptor of its own each, and which requests wait
//! for a lock.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::handles::Handle;
use crate::room::Held;

/// The descriptors that hold POSIX locks, by file and owner, and the requests that wait.
#[derive(Debug, Default)]
pub(crate) struct Locks {
    pub(crate) owners: Mutex<FxHashMap<(u64, u64), Arc<Owner>>>,
    /// Requests that wait, by their numbers.
    pub(crate) waiting: Mutex<FxHashSet<u64>>,
}

/// Whoever has POSIX locks on a file.
#[derive(Debug)]
pub(crate) struct Owner {
    /// A descriptor of its own, which holds them.
    pub(crate) fd: Arc<Held>,
    /// Number of the process that holds the locks, which F_GETLK gives (fcntl(2)).
    pub(crate) pid: u32,
}

/// A table, whatever became of the thread that had it last.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Locks {
    /// A descriptor of the file was closed by the owner: POSIX ends its locks on it.
    pub(crate) fn closed(&self, node: u64, owner: u64) {
        let gone = locked(&self.owners).remove(&(node, owner));
        drop(gone);
    }

    /// Who of ours holds what stands against a lock, 0 when it is somebody else.
    pub(crate) fn holder(&self, handle: &Handle, asker: u64, found: libc::flock) -> u32 {
        let owners: Vec<_> = locked(&self.owners)
            .iter()
            .filter(|((node, owner), _)| *node == handle.node.id && *owner != asker)
            .map(|(_, owner)| Arc::clone(owner))
            .collect();
        let others = owners.iter().filter(|owner| {
            // The holder itself has nothing against the range, while everybody else has.
            let mut probe = found;
            probe.l_pid = 0;
            probe.l_type = libc::F_WRLCK as _;
            // SAFETY: a descriptor of ours, and a lock of this frame.
            unsafe { libc::fcntl(owner.fd.raw(), libc::F_OFD_GETLK, &mut probe) == 0 && i32::from(probe.l_type) == libc::F_UNLCK }
        });
        others.map(|owner| owner.pid).next().unwrap_or(0)
    }
}

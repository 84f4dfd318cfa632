//! How many descriptors the tracer may have, and what they are for: what the kernel knows of the
//! overlay is more than any limit lets one hold.
//!
//! Descriptors that can be opened again (files that the kernel knows but no process has open, files
//! of `/proc`) get a share and are closed beyond it. Others (open files, locks) get the rest, and
//! is kept elsewhere beyond that (`open_files.rs`). A request for which there is no room is refused
//! and counted: nothing is lost without a word.

use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use flowmine_trace::record::Loss;
use flowmine_trace::{clock, limits};
use rustc_hash::FxHashMap;

use crate::system::Errno;

/// Descriptors of the dataset, the standard ones, those of a moment.
const OTHER: usize = 48;
/// What a serving thread has: its way to the kernel, the file of its last caller, and what it opens
/// for a moment.
const OF_A_WORKER: usize = 5;
/// Maximum number that is worth its memory.
const MOST_NODES: usize = 1 << 16;
/// Divisor of the limit of descriptors for the share of nodes.
const NODES: usize = 4;
const SMALL: usize = 16;
/// Threads that serve one overlay at most where memory is limited: each takes 2 MiB of addresses.
const WORKERS_OF_LITTLE: usize = 8;

/// A descriptor that is counted while it is there.
#[derive(Debug)]
pub(crate) struct Held {
    fd: OwnedFd,
    count: Arc<AtomicUsize>,
}

impl Held {
    pub(crate) fn raw(&self) -> RawFd {
        self.fd.as_raw_fd()
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.count.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What was lost, by kind and reason.
type Losses = FxHashMap<(&'static str, &'static str), u64>;

/// The limit and its shares.
#[derive(Debug)]
pub(crate) struct Room {
    /// Threads that serve one overlay at most.
    pub(crate) workers: usize,
    /// Threads of the command of which files in `/proc` are kept open.
    pub(crate) threads: usize,
    /// Processes of which a descriptor is kept.
    pub(crate) processes: usize,
    /// Whether more than what is needed can be kept.
    pub(crate) plenty: bool,
    /// For all that can be had again and all that cannot.
    shared: usize,
    nodes: Arc<AtomicUsize>,
    most_nodes: usize,
    open: Arc<AtomicUsize>,
    lost: Mutex<(Losses, u64)>,
}

impl Room {
    /// With this number of descriptors and overlays.
    pub(crate) fn new(limit: usize, overlays: usize) -> Self {
        let overlays = overlays.max(1);
        let most_workers = if limits::memory_is_limited() { WORKERS_OF_LITTLE } else { 64 };
        let workers = (limit / (2 * SMALL) / overlays).clamp(4, most_workers);
        let plenty = limit >= 4096;
        let threads = (limit / SMALL).clamp(16, 4096);
        let processes = (limit / SMALL).clamp(8, 4096);
        let files = if plenty { 2 } else { 1 };
        let others = OTHER + workers * overlays * OF_A_WORKER + (threads * 2 + processes) * files;
        let shared = limit.saturating_sub(others).max(SMALL * 2);
        let (nodes, open) = (Arc::default(), Arc::default());
        let most_nodes = (limit / NODES).min(MOST_NODES).min(shared);
        Room {
            workers,
            threads,
            processes,
            plenty,
            shared,
            nodes,
            most_nodes,
            open,
            lost: Mutex::new((Losses::default(), clock::boot_ns())),
        }
    }

    /// Keeps a descriptor that can be opened again.
    pub(crate) fn keep(&self, fd: OwnedFd) -> Arc<Held> {
        self.nodes.fetch_add(1, Ordering::Relaxed);
        Arc::new(Held { fd, count: Arc::clone(&self.nodes) })
    }

    /// How many of these there are.
    pub(crate) fn nodes(&self) -> usize {
        self.nodes.load(Ordering::Relaxed)
    }

    /// Whether some of these have to go.
    pub(crate) fn too_many(&self) -> bool {
        let left = self.shared.saturating_sub(self.open());
        self.nodes.load(Ordering::Relaxed) > self.most_nodes.min(left).max(SMALL)
    }

    /// Keeps the descriptor of an open file or a lock.
    pub(crate) fn hold(&self, fd: OwnedFd) -> Arc<Held> {
        self.open.fetch_add(1, Ordering::Relaxed);
        Arc::new(Held { fd, count: Arc::clone(&self.open) })
    }

    /// How many there are of open files and locks.
    pub(crate) fn open(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }

    /// Whether some of them should go, so that what can be had again keeps some room.
    pub(crate) fn crowded(&self) -> bool {
        self.open() > self.shared - self.shared / NODES
    }

    /// Whether one more can be open: asked before anything is made.
    pub(crate) fn for_one_more(&self) -> Result<(), Errno> {
        if self.open() + SMALL < self.shared { Ok(()) } else { Err(libc::ENFILE) }
    }

    /// Something could not be served or recorded.
    pub(crate) fn lose(&self, kind: &'static str, reason: &'static str) {
        let mut lost = self.lost.lock().unwrap_or_else(PoisonError::into_inner);
        *lost.0.entry((kind, reason)).or_default() += 1;
    }

    /// What was lost since the last time.
    pub(crate) fn take_losses(&self) -> Vec<Loss> {
        let now = clock::boot_ns();
        let mut lost = self.lost.lock().unwrap_or_else(PoisonError::into_inner);
        let since = std::mem::replace(&mut lost.1, now);
        let mut losses: Vec<_> = lost.0.drain().collect();
        losses.sort_unstable();
        let loss = |((kind, reason), count)| Loss {
            processor: None,
            kind,
            reason,
            count,
            bytes: None,
            not_before_boot_ns: since,
            observed_boot_ns: now,
        };
        losses.into_iter().map(loss).collect()
    }
}

/// Whether a call failed because there was no room for a descriptor.
pub(crate) fn no_room(errno: Errno) -> bool {
    matches!(errno, libc::EMFILE | libc::ENFILE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn null() -> OwnedFd {
        std::fs::File::open("/dev/null").unwrap().into()
    }

    #[test]
    fn shares_stay_below_the_limit() {
        for (limit, overlays) in [(256, 1), (1024, 1), (4096, 3), (1 << 20, 2)] {
            let room = Room::new(limit, overlays);
            let files = if room.plenty { 2 } else { 1 };
            let others = OTHER + room.workers * overlays * OF_A_WORKER + (room.threads * 2 + room.processes) * files;
            assert!(room.shared + others <= limit, "{limit}: {room:?}");
            assert!(room.most_nodes <= room.shared);
        }
    }

    #[test]
    fn what_is_open_takes_room_from_what_can_be_had_again() {
        let room = Room::new(256, 1);
        let mut open = Vec::new();
        while room.for_one_more().is_ok() {
            open.push(room.hold(null()));
        }
        assert!(open.len() > 32 && open.len() < 256);
        let kept: Vec<_> = (0..=SMALL).map(|_| room.keep(null())).collect();
        assert!(room.too_many());
        drop(open);
        assert!(!room.too_many() && room.for_one_more().is_ok());
        drop(kept);
        room.lose("request", "no-descriptor");
        room.lose("request", "no-descriptor");
        let losses = room.take_losses();
        assert_eq!(losses.iter().map(|loss| (loss.kind, loss.reason, loss.count)).collect::<Vec<_>>(), [("request", "no-descriptor", 2)]);
        assert_eq!(room.take_losses(), []);
    }
}

//! The descriptors of the command's open files, of which only a share is in the tracer's own table:
//! those that were not used for longest lie in the [`Depot`].
//!
//! A process may have as many files open as its own limit lets it, and a command has many
//! processes; the tracer has one limit for all of them.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::depot::{Deposit, Depot};
use crate::room::{Held, Room, no_room};
use crate::system::Errno;

/// Number of handles that are closed at a time.
const GO: usize = 64;

/// An open file description on a file underneath.
#[derive(Debug)]
pub(crate) struct OpenFile {
    me: Weak<OpenFile>,
    files: Arc<OpenFiles>,
    kept: Mutex<Kept>,
    /// Since it was last looked at whether its descriptor can go.
    used: AtomicBool,
}

/// Where an open file has descriptors; none when it is closed.
#[derive(Debug)]
struct Kept {
    here: Option<Arc<Held>>,
    there: Option<Deposit>,
}

impl OpenFile {
    /// A descriptor, which stays while it is used.
    ///
    /// # Errors
    /// `EBADF` when it was closed, `EMFILE` or `ENFILE` when there is no room for a descriptor.
    pub(crate) fn fd(&self) -> Result<Arc<Held>, Errno> {
        self.used.store(true, Ordering::Relaxed);
        if let Some(fd) = &self.kept().here {
            return Ok(Arc::clone(fd));
        }
        self.files.for_one_more()?;
        let mut kept = self.kept();
        if let Some(fd) = &kept.here {
            return Ok(Arc::clone(fd));
        }
        let fd = kept.there.as_ref().ok_or(libc::EBADF)?.get()?;
        let fd = self.files.room.hold(fd);
        kept.here = Some(Arc::clone(&fd));
        drop(kept);
        self.files.enter(Weak::clone(&self.me));
        Ok(fd)
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Closes it, whoever still knows it.
    pub(crate) fn close(&self) {
        let mut kept = self.kept();
        let gone = (kept.here.take(), kept.there.take());
        drop(kept);
        drop(gone);
    }

    /// Leaves the tracer's own table. Returns whether it did.
    fn leave(&self, depot: &Depot) -> Result<bool, Errno> {
        let mut kept = self.kept();
        let Some(fd) = &kept.here else { return Ok(false) };
        if Arc::strong_count(fd) > 1 {
            return Ok(false);
        }
        if kept.there.is_none() {
            kept.there = Some(depot.put(fd.raw())?);
        }
        kept.here = None;
        Ok(true)
    }
}

/// All open files of a trace.
#[derive(Debug)]
pub(crate) struct OpenFiles {
    room: Arc<Room>,
    depot: Depot,
    /// Those with a descriptor here, in the order in which they got it.
    ring: Mutex<VecDeque<Weak<OpenFile>>>,
}

impl OpenFiles {
    pub(crate) fn new(room: Arc<Room>, depot: Depot) -> Self {
        OpenFiles { room, depot, ring: Mutex::default() }
    }

    fn ring(&self) -> MutexGuard<'_, VecDeque<Weak<OpenFile>>> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps the descriptor of an open file or of a lock.
    pub(crate) fn keep(self: &Arc<Self>, fd: OwnedFd) -> Arc<OpenFile> {
        let kept = Kept { here: Some(self.room.hold(fd)), there: None };
        let file = Arc::new_cyclic(|me| OpenFile {
            me: Weak::clone(me),
            files: Arc::clone(self),
            kept: Mutex::new(kept),
            used: AtomicBool::new(true),
        });
        self.enter(Weak::clone(&file.me));
        file
    }

    fn enter(&self, file: Weak<OpenFile>) {
        let mut ring = self.ring();
        // A closed handle leaves only its place here.
        if ring.len() > 1024 && ring.len() / 2 > self.room.open() {
            ring.retain(|file| file.strong_count() > 0);
        }
        ring.push_back(file);
    }

    /// Sees to it that one more can be open: asked before anything is made.
    ///
    /// # Errors
    /// `ENFILE` when it cannot.
    pub(crate) fn for_one_more(&self) -> Result<(), Errno> {
        if self.room.crowded() {
            self.make_room();
        }
        self.room.for_one_more()
    }

    /// Lets some go that were not used for longest.
    pub(crate) fn make_room(&self) {
        // Each is passed by once if it was used meanwhile.
        let mut look_at = 2 * self.ring().len();
        let mut gone = 0;
        while gone < GO && look_at > 0 {
            look_at -= 1;
            let Some(file) = self.ring().pop_front() else { return };
            let Some(file) = file.upgrade() else { continue };
            if file.used.swap(false, Ordering::Relaxed) {
                self.ring().push_back(Weak::clone(&file.me));
                continue;
            }
            match file.leave(&self.depot) {
                Ok(true) => gone += 1,
                Ok(false) => self.ring().push_back(Weak::clone(&file.me)),
                Err(errno) => {
                    self.ring().push_back(Weak::clone(&file.me));
                    if no_room(errno) {
                        return;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::fs::FileExt;

    use super::*;

    fn files(limit: usize) -> Arc<OpenFiles> {
        Arc::new(OpenFiles::new(Arc::new(Room::new(limit, 1)), Depot::new(limit).unwrap()))
    }

    #[test]
    fn more_are_open_than_have_room_here() {
        let files = files(256);
        let mut open = Vec::new();
        for n in 0..1000 {
            files.for_one_more().unwrap();
            let mut file = tempfile::tempfile().unwrap();
            write!(file, "{n:04}").unwrap();
            open.push(files.keep(file.into()));
        }
        assert!(files.room.open() < 256, "{}", files.room.open());
        for (n, file) in open.iter().enumerate().rev() {
            let fd = file.fd().unwrap();
            let mut text = [0; 4];
            std::fs::File::open(format!("/proc/self/fd/{}", fd.raw())).unwrap().read_exact_at(&mut text, 0).unwrap();
            assert_eq!(text, format!("{n:04}").as_bytes());
        }
        open[0].close();
        assert_eq!(open[0].fd().unwrap_err(), libc::EBADF);
        drop(open);
        assert_eq!(files.room.open(), 0);
    }

    /// Only what is in use at this moment has to have room.
    #[test]
    fn what_has_no_room_is_refused() {
        let files = files(256);
        let mut used = Vec::new();
        let refused = loop {
            if let Err(errno) = files.for_one_more() {
                break errno;
            }
            let file = files.keep(tempfile::tempfile().unwrap().into());
            used.push(file.fd().unwrap());
        };
        assert_eq!(refused, libc::ENFILE);
        assert!(used.len() > 32);
        // They are closed with their last users.
        used.clear();
        assert!(files.for_one_more().is_ok());
    }

    #[test]
    fn what_is_in_use_stays() {
        let files = files(256);
        let file = files.keep(tempfile::tempfile().unwrap().into());
        let fd = file.fd().unwrap();
        files.make_room();
        files.make_room();
        assert!(file.kept().here.is_some());
        drop(fd);
        files.make_room();
        files.make_room();
        assert!(file.kept().here.is_none() && file.fd().is_ok());
    }
}

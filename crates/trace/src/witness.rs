//! Distinguishes a signal to the tracer alone from one to all processes around it.
//!
//! Slurm signals every process of a step, `kill -- -PGID` every process of a group: the command
//! gets such a signal by itself, and passing it on would be a second one. A signal does not contain
//! its other receivers. So an idle process in our process group and control group reports the
//! signals that it gets: the command gets the same.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// The process, ended with this value.
#[derive(Debug)]
pub(crate) struct Witness {
    pid: libc::pid_t,
    told: OwnedFd,
}

impl Witness {
    /// Starts it. To be called while this program has one thread.
    ///
    /// # Errors
    /// When the system makes no process or no pipe.
    pub(crate) fn start() -> io::Result<Self> {
        let mut ends = [0; 2];
        // SAFETY: room for two descriptors.
        if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC | libc::O_NONBLOCK) } != 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: both were just made and have no other owner.
        let (told, tell) = unsafe { (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])) };
        // SAFETY: the numbers are plain; the child never returns and only makes calls that signal-safety(7) allows.
        unsafe {
            let parent = libc::getpid();
            match libc::fork() {
                0 => witness(parent, tell.as_raw_fd()),
                pid if pid < 0 => Err(io::Error::last_os_error()),
                pid => Ok(Witness { pid, told }),
            }
        }
    }

    /// The signals that it got since this was last asked.
    pub(crate) fn heard(&self) -> Vec<u8> {
        let mut bytes = [0; 256];
        // SAFETY: the buffer is ours and as long as is said. The pipe does not block.
        let count = unsafe { libc::read(self.told.as_raw_fd(), bytes.as_mut_ptr().cast(), bytes.len()) };
        bytes[..usize::try_from(count).unwrap_or(0)].to_vec()
    }
}

impl Drop for Witness {
    fn drop(&mut self) {
        // SAFETY: our own child, which only a tracer of all children waits for; a number that is
        // gone is refused.
        unsafe {
            libc::kill(self.pid, libc::SIGKILL);
            libc::waitpid(self.pid, std::ptr::null_mut(), 0);
        }
    }
}

/// # Safety
/// Only in a child just forked.
unsafe fn witness(parent: libc::pid_t, tell: RawFd) -> ! {
    // SAFETY: plain system calls, with memory of this frame.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        // Who looks for flowmine by its name means the tracer.
        libc::prctl(libc::PR_SET_NAME, c"fm-witness".as_ptr());
        let mut all: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const all, std::ptr::null_mut());
        // It keeps nothing open that another process may wait to see closed.
        for descriptor in 0..1024 {
            if descriptor != tell {
                libc::close(descriptor);
            }
        }
        while libc::getppid() == parent {
            let signal = libc::sigwaitinfo(&raw const all, std::ptr::null_mut());
            if signal > 0 {
                let byte = signal as u8;
                libc::write(tell, (&raw const byte).cast(), 1);
            }
        }
        libc::_exit(0)
    }
}

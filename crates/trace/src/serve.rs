//! One tracer for many commands. Loading the programs takes half a second; a command that joins a
//! tracer which has loaded them takes a few milliseconds.
//!
//! The tracer listens at a Unix socket. A process that connects asks that its future children are
//! traced. The kernel provides its identity (`SO_PEERCRED`, unix(7)), so no process can ask for
//! another one. The answer is one line: `traced`, or `no: ` and why. The command also gets the
//! listener's identity from the kernel. It trusts root and its own user, since any other user could
//! answer `traced` and record nothing, or more than the command's user wants to show.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::time::Duration;

use flowmine_files::Folder;
use nix::sys::stat::{Mode, umask};
use nix::unistd::geteuid;

use crate::connect::connect;
use crate::error::TraceError;

const TRACED: &str = "traced";
const NO: &str = "no: ";
/// So long a command waits for room in the tracer's queue, and for the answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// The socket at which commands ask. Only its owner may connect, until its mode is changed.
#[derive(Debug)]
pub struct Door {
    listener: UnixListener,
    folder: Folder,
    name: OsString,
}

/// A process that asks, and waits for the answer.
pub struct Asking {
    /// Number of the process that asks.
    pub pid: u32,
    stream: UnixStream,
}

impl Door {
    /// Opens it. A socket that a killed tracer left there is replaced.
    ///
    /// # Errors
    /// When another tracer listens there, something else has that name, a link of another user leads
    /// there, or no socket can be made.
    pub fn open(path: &Path) -> Result<Self, TraceError> {
        let what = || format!("listening at {}", path.display());
        let (folder, name) = flowmine_files::place_of(path).map_err(|error| TraceError::NotHere(format!("{}: {error}", what())))?;
        // The directory as it was checked, whoever renames what is above it meanwhile.
        let here = Path::new("/proc/self/fd").join(folder.as_fd().as_raw_fd().to_string()).join(&name);
        match std::fs::symlink_metadata(&here) {
            Ok(about) if !about.file_type().is_socket() => {
                return Err(TraceError::NotHere(format!("{}: is there already, and is no socket", path.display())));
            }
            Ok(_) if is_listened_at(&here) => {
                return Err(TraceError::NotHere(format!("{}: another tracer listens there", path.display())));
            }
            Ok(about) if about.uid() != geteuid().as_raw() => {
                return Err(TraceError::NotHere(format!(
                    "{}: a socket of user {} exists, without a listener: remove it, or choose another path",
                    path.display(),
                    about.uid()
                )));
            }
            Ok(_) => folder.remove(&name).map_err(|error| TraceError::system(what())(error.into()))?,
            Err(_) => {}
        }
        let before = umask(Mode::from_bits_truncate(0o177));
        let bound = UnixListener::bind(&here);
        umask(before);
        let listener = bound.map_err(TraceError::system(what()))?;
        listener.set_nonblocking(true).map_err(TraceError::system(what()))?;
        Ok(Door { listener, folder, name })
    }

    /// The next process that asks. One that this tracer cannot see gets a refusal.
    pub fn asking(&self) -> Option<Asking> {
        loop {
            // Whatever fails here concerns the one who asks: the tracer goes on.
            let (stream, _) = self.listener.accept().ok()?;
            if stream.set_nonblocking(true).is_err() {
                continue;
            }
            match peer(&stream).ok().and_then(|peer| u32::try_from(peer.pid).ok()) {
                Some(pid) if pid != 0 => return Some(Asking { pid, stream }),
                // A process of a PID namespace that is not seen from here has the number 0.
                _ => answer(stream, &format!("{NO}this tracer does not see processes of that PID namespace")),
            }
        }
    }
}

/// Whether somebody listens at a socket, even if the queue there is full.
fn is_listened_at(path: &Path) -> bool {
    connect(path, Duration::ZERO).map_or_else(|error| error.kind() == io::ErrorKind::WouldBlock, |_| true)
}

/// Returns the process, user and group at the other end of a connection: of the tracer, those that
/// it had when it began to listen (`SO_PEERCRED`, unix(7)).
fn peer(stream: &UnixStream) -> io::Result<libc::ucred> {
    let mut peer = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut length = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: room for the structure, and its length.
    let done =
        unsafe { libc::getsockopt(stream.as_raw_fd(), libc::SOL_SOCKET, libc::SO_PEERCRED, (&raw mut peer).cast(), &raw mut length) };
    if done == 0 { Ok(peer) } else { Err(io::Error::last_os_error()) }
}

/// Whether a tracer of this user may be believed by a process of `own`.
fn is_trusted(tracer: u32, own: u32) -> bool {
    tracer == 0 || tracer == own
}

impl AsFd for Door {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        let _ = self.folder.remove(&self.name);
    }
}

impl Asking {
    /// Whether he went away without waiting for the answer. Then his number may be another's soon.
    pub fn is_gone(&self) -> bool {
        let mut byte = 0u8;
        // SAFETY: room for the one byte that is asked for.
        let got = unsafe { libc::recv(self.stream.as_raw_fd(), (&raw mut byte).cast(), 1, libc::MSG_PEEK | libc::MSG_DONTWAIT) };
        got == 0
    }

    /// Answers the one who asked: traced, or why not.
    pub fn answer(self, done: Result<(), TraceError>) {
        match done {
            Ok(()) => answer(self.stream, TRACED),
            Err(error) => answer(self.stream, &format!("{NO}{error}")),
        }
    }
}

fn answer(mut stream: UnixStream, line: &str) {
    // A line has room in the socket's buffer. Who asked may be gone.
    let _ = stream.write_all(format!("{line}\n").as_bytes());
}

/// Has a tracer trace what this process starts from now on.
///
/// # Errors
/// When no tracer listens there, when another user than root and the caller does, or when the
/// tracer refuses.
pub fn join(path: &Path) -> Result<(), TraceError> {
    let silent = || TraceError::system(format!("no tracer answers at {}", path.display()));
    let stream = connect(path, PATIENCE).map_err(silent())?;
    let tracer = peer(&stream).map_err(silent())?.uid;
    if !is_trusted(tracer, geteuid().as_raw()) {
        return Err(TraceError::NotHere(format!(
            "the socket {} belongs to a process of user {tracer}: only a tracer of root or of your own user is believed",
            path.display()
        )));
    }
    let answer = || -> io::Result<String> {
        stream.set_read_timeout(Some(PATIENCE))?;
        let mut line = String::new();
        (&stream).take(4096).read_to_string(&mut line)?;
        Ok(line)
    };
    let line = answer().map_err(silent())?;
    match line.trim_end() {
        TRACED => Ok(()),
        other => {
            let why = flowmine_schema::text::visible(other.strip_prefix(NO).unwrap_or("it ended")).into_owned();
            Err(TraceError::NotHere(format!("the tracer at {} refuses: {why}", path.display())))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_says_who_asks() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("socket");
        assert!(join(&path).unwrap_err().to_string().contains("No such file"));
        let door = Door::open(&path).unwrap();
        assert!(Door::open(&path).unwrap_err().to_string().contains("another tracer"));
        // The connection that tested whether a tracer listens.
        assert!(door.asking().is_some_and(|asking| asking.is_gone()));
        assert!(door.asking().is_none());
        let asked = |done: Result<(), TraceError>| {
            std::thread::scope(|scope| {
                let joined = scope.spawn(|| join(&path));
                let asking = loop {
                    match door.asking() {
                        Some(asking) => break asking,
                        None => std::thread::sleep(Duration::from_millis(1)),
                    }
                };
                assert_eq!((asking.pid, asking.is_gone()), (std::process::id(), false));
                asking.answer(done);
                joined.join().unwrap()
            })
        };
        asked(Ok(())).unwrap();
        let refused = asked(Err(TraceError::NotHere("no room".to_owned()))).unwrap_err();
        assert!(refused.to_string().contains("refuses: no room"), "{refused}");
        drop(door);
        assert!(!path.exists());
    }

    #[test]
    fn root_and_the_own_user_are_believed() {
        assert!(is_trusted(0, 1000) && is_trusted(1000, 1000) && is_trusted(0, 0));
        assert!(!is_trusted(1000, 0) && !is_trusted(1001, 1000) && !is_trusted(65534, 1000));
    }

    #[test]
    fn a_socket_that_was_left_is_replaced_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let (left, file) = (dir.path().join("left"), dir.path().join("file"));
        drop(UnixListener::bind(&left).unwrap());
        assert!(join(&left).is_err());
        use std::os::unix::fs::PermissionsExt;
        let door = Door::open(&left).unwrap();
        assert_eq!(std::fs::metadata(&left).unwrap().permissions().mode() & 0o777, 0o600);
        drop(door);
        std::fs::write(&file, "mine").unwrap();
        assert!(Door::open(&file).unwrap_err().to_string().contains("no socket"));
        assert_eq!(std::fs::read(&file).unwrap(), b"mine");
    }
}

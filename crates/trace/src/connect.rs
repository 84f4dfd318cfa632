//! A connection to a Unix socket, without waiting for whoever listens there.
//!
//! connect(2) of a Unix socket waits as long as the queue of the listener is full, before anybody
//! knows who listens (unix(7)). Another user can keep a queue full.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// Time between two attempts while the queue of the listener is full.
const PAUSE: Duration = Duration::from_millis(20);

/// Connects to the socket at a path.
///
/// # Errors
/// When nobody listens there. [`io::ErrorKind::WouldBlock`]: somebody listens, and the queue was
/// full for as long as the caller waits.
pub fn connect(path: &Path, patience: Duration) -> io::Result<UnixStream> {
    let end = Instant::now() + patience;
    loop {
        match connect_at_once(path) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock && Instant::now() < end => thread::sleep(PAUSE),
            other => return other,
        }
    }
}

fn connect_at_once(path: &Path) -> io::Result<UnixStream> {
    // SAFETY: an address of zeros is a valid one.
    let mut address: libc::sockaddr_un = unsafe { std::mem::zeroed() };
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    let bytes = path.as_os_str().as_bytes();
    // The last byte is the end of the text.
    if bytes.is_empty() || bytes.contains(&0) || bytes.len() >= address.sun_path.len() {
        let message = format!("the path of a socket has at most {} bytes and no zero byte", address.sun_path.len() - 1);
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    for (place, byte) in address.sun_path.iter_mut().zip(bytes) {
        *place = *byte as libc::c_char;
    }
    // SAFETY: no pointers.
    let fd = unsafe { libc::socket(libc::AF_UNIX, libc::SOCK_STREAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK, 0) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new and of nobody else.
    let socket = unsafe { OwnedFd::from_raw_fd(fd) };
    // SAFETY: the address and its size.
    let done = unsafe { libc::connect(socket.as_raw_fd(), (&raw const address).cast(), size_of_val(&address) as libc::socklen_t) };
    if done != 0 {
        return Err(io::Error::last_os_error());
    }
    let stream = UnixStream::from(socket);
    stream.set_nonblocking(false)?;
    Ok(stream)
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn a_listener_that_takes_nobody_holds_nobody_up() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("socket");
        assert_eq!(connect(&path, Duration::ZERO).unwrap_err().kind(), io::ErrorKind::NotFound);
        let listener = UnixListener::bind(&path).unwrap();
        // SAFETY: no pointers.
        assert_eq!(unsafe { libc::listen(listener.as_raw_fd(), 0) }, 0);
        let mut taken = Vec::new();
        let full = loop {
            match connect(&path, Duration::ZERO) {
                Ok(stream) => taken.push(stream),
                Err(error) => break error,
            }
        };
        assert_eq!(full.kind(), io::ErrorKind::WouldBlock);
        assert!(!taken.is_empty());
        // There is room again, and who waits gets it.
        let waiting = std::thread::spawn(move || connect(&path, Duration::from_secs(60)).is_ok());
        drop(listener.accept().unwrap());
        assert!(waiting.join().unwrap());
    }

    #[test]
    fn a_path_that_is_no_address_is_refused() {
        for path in ["", "a\0b", &"a".repeat(108)] {
            assert_eq!(connect(Path::new(path), Duration::ZERO).unwrap_err().kind(), io::ErrorKind::InvalidInput, "{path:?}");
        }
    }
}

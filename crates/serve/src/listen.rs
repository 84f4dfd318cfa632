//! Where a server listens: a port of loopback, or a Unix socket for its user alone.

use std::ffi::OsString;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use flowmine_files::{FileId, Folder, place_of};

/// Permissions of others than its owner to write into a folder.
const WRITTEN_BY_OTHERS: u32 = 0o022;
/// Permissions of a socket.
const OWN: u32 = 0o600;

/// Why a place cannot be listened at.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// The port cannot be had.
    #[error("port {port} of 127.0.0.1 cannot be listened at: {source}")]
    Port {
        /// The port; 0 is any free one.
        port: u16,
        /// The error of the system.
        source: io::Error,
    },
    /// The socket cannot be made.
    #[error("{place}: the socket cannot be made: {source}")]
    Socket {
        /// Its path.
        place: String,
        /// The error of the system.
        source: io::Error,
    },
    /// The path of the socket cannot be used.
    #[error("{place}: {why}")]
    Place {
        /// Its path.
        place: String,
        /// The reason, and what to do.
        why: String,
    },
}

/// Where a server listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// A port of loopback; 0 is any free one.
    Port(u16),
    /// A Unix socket.
    Socket(PathBuf),
}

/// A place that is listened at.
pub enum Listening {
    /// A port of loopback.
    Port(TcpListener, u16),
    /// A Unix socket; it is removed with the second.
    Socket(UnixListener, OwnSocket),
}

/// A socket in the file system, which is removed when this is dropped.
pub struct OwnSocket {
    folder: Folder,
    name: OsString,
    id: Option<FileId>,
}

impl Drop for OwnSocket {
    fn drop(&mut self) {
        // Another server may have another in its place.
        if self.id.is_some() && self.folder.id_of(&self.name).ok().flatten() == self.id {
            let _ = self.folder.remove(&self.name);
        }
    }
}

/// Begins to listen.
///
/// # Errors
/// When the port is taken, or the socket cannot be made in a folder of the user.
pub fn listen(address: &Address) -> Result<Listening, ListenError> {
    match address {
        Address::Port(port) => {
            let at = |source| ListenError::Port { port: *port, source };
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).map_err(at)?;
            listener.set_nonblocking(true).map_err(at)?;
            let port = listener.local_addr().map_err(at)?.port();
            Ok(Listening::Port(listener, port))
        }
        Address::Socket(path) => socket(path),
    }
}

fn socket(path: &Path) -> Result<Listening, ListenError> {
    let place = || flowmine_schema::text::visible(&path.display().to_string()).into_owned();
    let refused = |why: String| ListenError::Place { place: place(), why };
    let failed = |source: io::Error| ListenError::Socket { place: place(), source };
    let (folder, name) = place_of(path).map_err(|error| refused(error.to_string()))?;
    let is_shared = folder.mode().map_err(failed)? & WRITTEN_BY_OTHERS != 0;
    if is_shared || folder.owner().map_err(failed)? != flowmine_files::user() {
        return Err(refused("others can write into this folder: choose one that is yours alone, such as $XDG_RUNTIME_DIR".to_owned()));
    }
    // A path through the folder that was checked, whatever is renamed meanwhile.
    let through = PathBuf::from(format!("/proc/self/fd/{}", folder.as_fd().as_raw_fd())).join(&name);
    if let Ok(there) = std::fs::symlink_metadata(&through) {
        if !there.file_type().is_socket() {
            return Err(refused("there is a file of this name, which is no socket".to_owned()));
        }
        if UnixStream::connect(&through).is_ok() {
            return Err(refused("another server listens at this socket".to_owned()));
        }
        folder.remove(&name).map_err(|error| refused(error.to_string()))?;
    }
    let listener = UnixListener::bind(&through).map_err(failed)?;
    let mut own = OwnSocket { folder, name, id: None };
    own.id = own.folder.id_of(&own.name).ok().flatten();
    shut(&through).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    Ok(Listening::Socket(listener, own))
}

/// Gives a socket to its owner alone. Who connects before is refused by user.
#[expect(clippy::disallowed_methods, reason = "through a folder into which nobody else can write")]
fn shut(socket: &Path) -> io::Result<()> {
    std::fs::set_permissions(socket, std::fs::Permissions::from_mode(OWN))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_socket_is_for_its_user_and_ends_with_its_server() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s");
        let listening = listen(&Address::Socket(path.clone())).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let again = listen(&Address::Socket(path.clone())).err().map(|error| error.to_string()).unwrap();
        assert!(again.ends_with("another server listens at this socket"), "{again}");
        drop(listening);
        assert!(!path.exists());
        // What a killed server left is replaced, and a file is not.
        drop(UnixListener::bind(&path).unwrap());
        drop(listen(&Address::Socket(path.clone())).unwrap());
        fs::write(&path, "mine").unwrap();
        assert!(listen(&Address::Socket(path.clone())).is_err());
        assert_eq!(fs::read(&path).unwrap(), b"mine");
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o777)).unwrap();
        assert!(listen(&Address::Socket(dir.path().join("t"))).is_err());
    }
}

//! The directories over which overlays lie, and how each is mounted.

use std::ffi::{CStr, CString};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use flowmine_trace::TraceError;

use crate::system;

/// The type of file system as which an overlay is mounted.
pub(crate) const KIND: &CStr = c"fuse.flowmine";

/// A directory over which an overlay is mounted, and how.
#[derive(Debug, Clone)]
pub(crate) struct Mount {
    /// The directory, without symbolic links.
    pub(crate) at: PathBuf,
    /// `st_mode` of the directory.
    pub(crate) mode: u32,
    /// `MS_*` as the directory's mount has them.
    pub(crate) flags: u64,
}

/// A directory to lie over.
pub(crate) struct Root {
    pub(crate) path: PathBuf,
    pub(crate) fd: OwnedFd,
}

impl Root {
    /// Mount flags as underneath, so that what is read-only or without set-id programs stays so.
    pub(crate) fn mount(&self) -> Result<Mount, TraceError> {
        let of = |errno| TraceError::system(format!("statvfs(3) of {}", self.path.display()))(std::io::Error::from_raw_os_error(errno));
        let stat = system::stat(self.fd.as_raw_fd()).map_err(of)?;
        // SAFETY: all-zero is a valid `statvfs`, which the call fills in.
        let bits = unsafe {
            let mut stat: libc::statvfs = std::mem::zeroed();
            system::positive(libc::fstatvfs(self.fd.as_raw_fd(), &mut stat)).map_err(of)?;
            stat.f_flag
        };
        let flags = [
            (libc::ST_RDONLY, libc::MS_RDONLY),
            (libc::ST_NOSUID, libc::MS_NOSUID),
            (libc::ST_NODEV, libc::MS_NODEV),
            (libc::ST_NOEXEC, libc::MS_NOEXEC),
            (libc::ST_NOATIME, libc::MS_NOATIME),
            (libc::ST_NODIRATIME, libc::MS_NODIRATIME),
        ];
        let flags = flags.iter().filter(|(has, _)| bits & has != 0).fold(0, |all, (_, flag)| all | flag);
        Ok(Mount { at: self.path.clone(), mode: stat.st_mode, flags })
    }
}

/// Opens the directories, without those that lie in another of them.
pub(crate) fn roots(directories: &[PathBuf], current: &Path) -> Result<Vec<Root>, TraceError> {
    let all = if directories.is_empty() { &[current.to_owned()][..] } else { directories };
    let mut paths = Vec::new();
    for directory in all {
        let directory = current.join(directory);
        let path = directory.canonicalize().map_err(TraceError::system(directory.display().to_string()))?;
        if path == Path::new("/") {
            return Err(TraceError::NotHere("FUSE: an overlay cannot lie on /; name the directories that matter".into()));
        }
        paths.push(path);
    }
    paths.sort();
    paths.dedup();
    let inner: Vec<bool> = paths.iter().map(|path| paths.iter().any(|other| path != other && path.starts_with(other))).collect();
    let mut roots = Vec::new();
    for (path, _) in paths.into_iter().zip(inner).filter(|(_, inner)| !inner) {
        let name = CString::new(path.as_os_str().as_bytes()).map_err(|error| TraceError::NotHere(error.to_string()))?;
        // SAFETY: a zero-terminated path; the descriptor that is returned is ours.
        let fd = unsafe {
            let fd = libc::open(name.as_ptr(), libc::O_PATH | libc::O_DIRECTORY | libc::O_CLOEXEC);
            if fd < 0 {
                return Err(TraceError::system(path.display().to_string())(std::io::Error::last_os_error()));
            }
            OwnedFd::from_raw_fd(fd)
        };
        roots.push(Root { path, fd });
    }
    Ok(roots)
}

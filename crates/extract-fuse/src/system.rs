//! System calls on descriptors, with the error number as error: what a request is answered with.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::path::Path;
use std::sync::Arc;

use flowmine_files::kernel;

/// An error number, positive.
pub(crate) type Errno = i32;

/// The last error of this thread.
pub(crate) fn last() -> Errno {
    io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)
}

/// The result of a call that is negative when it failed.
pub(crate) fn positive(result: libc::c_int) -> Result<libc::c_int, Errno> {
    if result < 0 { Err(last()) } else { Ok(result) }
}

/// The result of a call that moves bytes.
pub(crate) fn moved(result: isize) -> Result<usize, Errno> {
    usize::try_from(result).map_err(|_| last())
}

/// A name as the system wants it.
pub(crate) fn name(bytes: &[u8]) -> Result<CString, Errno> {
    CString::new(bytes).map_err(|_| libc::EINVAL)
}

/// Status of an open file, by fstat(2).
pub(crate) fn stat(fd: RawFd) -> Result<libc::stat, Errno> {
    // SAFETY: all-zero is a valid `stat`, which the call fills in.
    unsafe {
        let mut stat: libc::stat = std::mem::zeroed();
        positive(libc::fstat(fd, &mut stat))?;
        Ok(stat)
    }
}

/// Status of a name in a directory, by fstatat(2); a symbolic link is not followed.
pub(crate) fn stat_at(parent: RawFd, name: &CStr) -> Result<libc::stat, Errno> {
    // SAFETY: all-zero is a valid `stat`, which the call fills in.
    unsafe {
        let mut stat: libc::stat = std::mem::zeroed();
        positive(libc::fstatat(parent, name.as_ptr(), &mut stat, libc::AT_SYMLINK_NOFOLLOW))?;
        Ok(stat)
    }
}

/// The path of a descriptor in `/proc`, zero-terminated, on the stack.
pub(crate) struct ProcPath([u8; 32]);

impl ProcPath {
    /// The path of this descriptor of our process.
    pub(crate) fn new(fd: RawFd) -> Self {
        let mut path = [0; 32];
        // 14 bytes and at most ten digits: it fits, and the last byte stays zero.
        let _ = io::Write::write_fmt(&mut &mut path[..31], format_args!("/proc/self/fd/{fd}"));
        ProcPath(path)
    }

    pub(crate) fn as_ptr(&self) -> *const libc::c_char {
        self.0.as_ptr().cast()
    }
}

/// Opens the file of a descriptor again.
pub(crate) fn reopen(fd: RawFd, flags: i32) -> Result<OwnedFd, Errno> {
    let path = ProcPath::new(fd);
    // SAFETY: a zero-terminated path; the descriptor that is returned is ours.
    unsafe { Ok(OwnedFd::from_raw_fd(positive(libc::open(path.as_ptr(), flags | libc::O_CLOEXEC))?)) }
}

/// Whether this thread may access the file of a descriptor, with the identity that files are opened
/// with (`R_OK`, `W_OK`, `X_OK`).
///
/// # Errors
/// `EACCES` when it may not.
pub(crate) fn may_access(fd: RawFd, mode: libc::c_int) -> Result<(), Errno> {
    let path = ProcPath::new(fd);
    // SAFETY: a zero-terminated path.
    let checked = unsafe { libc::syscall(libc::SYS_faccessat2, libc::AT_FDCWD, path.as_ptr(), mode, libc::AT_EACCESS) };
    let checked = match positive(checked as libc::c_int) {
        // Linux before 5.8: as the real user, who is the same in every thread that is not privileged. For a privileged one the kernel has checked.
        // SAFETY: as above.
        Err(libc::ENOSYS) => positive(unsafe { libc::access(path.as_ptr(), mode) }),
        checked => checked,
    };
    checked.map(|_| ())
}

/// The generation of an inode (`FS_IOC_GETVERSION`), where the file system has it.
pub(crate) fn generation(fd: RawFd) -> Option<u32> {
    // `_IOR('v', 1, long)`, of which the kernel fills an int.
    let request: u64 = 0x8000_7601 | ((size_of::<libc::c_long>() as u64) << 16);
    let mut generation: libc::c_long = 0;
    // SAFETY: the kernel writes at most a long.
    let result = unsafe { libc::ioctl(fd, request as _, &mut generation) };
    (result == 0).then_some(generation as u32)
}

/// The type of the file system that a descriptor is on, as /proc/self/mountinfo has it
/// (proc_pid_mountinfo(5)).
pub(crate) fn file_system(proc: &Path, fd: RawFd) -> Option<Arc<str>> {
    let info = kernel::read_to_string(proc.join(format!("self/fdinfo/{fd}"))).ok()?;
    let mount = info.lines().find_map(|line| line.strip_prefix("mnt_id:"))?.trim();
    let mounts = kernel::read(proc.join("self/mountinfo")).ok()?;
    mount_type(&mounts, mount)
}

/// After the mount's number and more fields, ` - ` comes before the type.
fn mount_type(mounts: &[u8], mount: &str) -> Option<Arc<str>> {
    mounts.split(|&byte| byte == b'\n').find_map(|line| {
        let line = String::from_utf8_lossy(line);
        (line.split(' ').next()? == mount).then_some(())?;
        Some(line.split_once(" - ")?.1.split(' ').next()?.into())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_has_its_type_after_the_dash() {
        let mounts = b"25 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n26 25 0:5 / /a\\040-\\040b rw shared:1 master:2 - tmpfs tmpfs rw\n";
        assert_eq!(mount_type(mounts, "26").as_deref(), Some("tmpfs"));
        assert_eq!(mount_type(mounts, "2"), None);
    }
}

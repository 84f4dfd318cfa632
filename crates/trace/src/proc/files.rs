//! What a file is: its device, inode and generation, its kind and size, its mount (statx(2),
//! ioctl_iflags(2)).
//!
//! In: a path, usually a link below `/proc/PID/fd`, which leads to the file itself even when its
//! name is gone. Out: [`Looked`].

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use rustc_hash::FxHashSet;

use crate::record::FileKind;

/// What statx(2) says of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Looked {
    /// Device number as stat(2) gives it.
    pub device: u64,
    /// Inode number, `stx_ino`.
    pub inode: u64,
    /// File type and permission bits, as in `st_mode` (inode(7)).
    pub mode: u32,
    /// How many names it has.
    pub links: u32,
    /// Size of the file in bytes.
    pub size: u64,
    /// The number of its mount, as in `mountinfo`.
    pub mount: Option<u64>,
    /// Whether a process may answer for the file: it is never opened then.
    pub served: bool,
}

impl Looked {
    /// What it is, if it is of a kind that is recorded.
    pub fn kind(&self) -> Option<FileKind> {
        match self.mode & libc::S_IFMT {
            libc::S_IFREG => Some(FileKind::Regular),
            libc::S_IFBLK => Some(FileKind::Block),
            _ => None,
        }
    }

    /// Whether both are the same inode.
    pub fn same(&self, other: &Looked) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }
}

/// `STATX_MNT_ID` of statx(2), since Linux 5.8; a kernel without it leaves it out of the answer.
const MOUNT_ID: u32 = 0x1000;

/// statx(2), as a bare system call: the function came with glibc 2.28, and the program also runs
/// with 2.17.
///
/// # Errors
/// As statx(2).
pub fn statx(dir: RawFd, path: &CStr, flags: libc::c_int, mask: u32) -> io::Result<libc::statx> {
    // SAFETY: all-zero is a valid `statx` (integers only).
    let mut status: libc::statx = unsafe { std::mem::zeroed() };
    // SAFETY: the path ends with a zero byte and the buffer is a `statx`; both live until the call returns.
    let result = unsafe { libc::syscall(libc::SYS_statx, dir, path.as_ptr(), flags, mask, &raw mut status) };
    if result == 0 { Ok(status) } else { Err(io::Error::last_os_error()) }
}

/// Looks at a file, whoever serves it ([`Views::look`](super::paths::Views::look) does not ask a
/// process). `flags` are those of statx(2), such as `AT_SYMLINK_NOFOLLOW`.
///
/// # Errors
/// As statx(2).
pub fn look(dir: RawFd, path: &CStr, flags: libc::c_int) -> io::Result<Looked> {
    let status = statx(dir, path, flags | libc::AT_NO_AUTOMOUNT, libc::STATX_BASIC_STATS | MOUNT_ID)?;
    Ok(Looked {
        device: libc::makedev(status.stx_dev_major, status.stx_dev_minor),
        inode: status.stx_ino,
        mode: u32::from(status.stx_mode),
        links: status.stx_nlink,
        size: status.stx_size,
        mount: (status.stx_mask & MOUNT_ID != 0).then_some(status.stx_mnt_id),
        served: false,
    })
}

/// Opens a path relative to a directory, with `O_CLOEXEC`.
///
/// # Errors
/// As open(2).
pub fn open(dir: RawFd, path: &CStr, flags: libc::c_int) -> io::Result<OwnedFd> {
    // SAFETY: the path ends with a zero byte and lives until the call returns; without O_CREAT no mode is read.
    let fd = unsafe { libc::openat(dir, path.as_ptr(), flags | libc::O_CLOEXEC) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor was just opened and has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Asks file systems for the generations of inodes, and remembers which of them do not give any.
#[derive(Debug, Default)]
pub struct Generations {
    silent: FxHashSet<u64>,
}

impl Generations {
    /// The generation of a regular file (`FS_IOC_GETVERSION`). `path` must lead to the file that
    /// was looked at; it is opened for reading, which changes nothing in it, and only when its file
    /// system has not refused before, and is served by no process.
    pub fn ask(&mut self, path: &CStr, file: &Looked) -> Option<u32> {
        if file.served || file.kind() != Some(FileKind::Regular) || self.silent.contains(&file.device) {
            return None;
        }
        // Not to wait should it be something else by now.
        let open = open(libc::AT_FDCWD, path, libc::O_RDONLY | libc::O_NONBLOCK | libc::O_NOCTTY).ok()?;
        // The kernel writes an int, whatever the size in the number of the call says.
        let mut generation: [u32; 2] = [0; 2];
        // SAFETY: the buffer is larger than what any file system writes (an int or a long).
        let result = unsafe { libc::ioctl(open.as_raw_fd(), libc::FS_IOC_GETVERSION as _, generation.as_mut_ptr()) };
        if result != 0 {
            self.silent.insert(file.device);
            return None;
        }
        #[cfg(target_endian = "big")]
        generation.reverse();
        Some(generation[0])
    }
}

/// The file systems that the kernel mounts for itself, by their devices.
#[derive(Debug)]
pub struct Unmounted {
    devices: Vec<(u64, &'static str)>,
}

impl Unmounted {
    /// Learns the devices from a file of each: statfs(2) of a file would ask who serves it.
    pub fn here() -> Self {
        let kinds = [(0, "tmpfs"), (libc::MFD_HUGETLB, "hugetlbfs")];
        let memory = kinds.into_iter().filter_map(|(flags, kind)| {
            // SAFETY: memfd_create(2) reads a name that ends with a zero byte.
            let fd = unsafe { libc::syscall(libc::SYS_memfd_create, c"flowmine".as_ptr(), libc::MFD_CLOEXEC | flags) };
            // SAFETY: the descriptor was just opened and has no other owner.
            let file = (fd >= 0).then(|| unsafe { OwnedFd::from_raw_fd(fd as i32) })?;
            Some((look(file.as_raw_fd(), c"", libc::AT_EMPTY_PATH).ok()?.device, kind))
        });
        let namespace = look(libc::AT_FDCWD, c"/proc/self/ns/mnt", 0).ok().map(|looked| (looked.device, "nsfs"));
        Unmounted { devices: memory.chain(namespace).collect() }
    }

    /// The type of the file system of an open file that is on no mount, such as one of
    /// memfd_create(2).
    pub fn kind(&self, file: &Looked) -> Option<&'static str> {
        self.devices.iter().find(|(device, _)| *device == file.device).map(|(_, kind)| *kind)
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;
    use std::os::unix::fs::MetadataExt;

    use super::*;

    #[test]
    fn it_says_what_stat_says() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        std::fs::write(&path, "abc").unwrap();
        let metadata = std::fs::metadata(&path).unwrap();
        let path = CString::new(path.into_os_string().into_encoded_bytes()).unwrap();
        let looked = look(libc::AT_FDCWD, &path, 0).unwrap();
        assert_eq!((looked.device, looked.inode, looked.size, looked.links), (metadata.dev(), metadata.ino(), 3, 1));
        assert_eq!(looked.kind(), Some(FileKind::Regular));
        let mut generations = Generations::default();
        let first = generations.ask(&path, &looked);
        assert_eq!(first, generations.ask(&path, &looked));
        assert_eq!(first.is_none(), generations.silent.contains(&looked.device));
        let proc = look(libc::AT_FDCWD, c"/proc/self/stat", 0).unwrap();
        assert_eq!(generations.ask(c"/proc/self/stat", &proc), None);
        assert_eq!(generations.ask(&path, &Looked { served: true, device: 1, ..looked }), None);
        assert!(!generations.silent.contains(&1), "a served file was opened");
        assert!(look(libc::AT_FDCWD, c"/nowhere", 0).is_err());
    }

    #[test]
    fn memory_has_a_file_system_of_its_own() {
        // SAFETY: memfd_create(2) reads a name that ends with a zero byte.
        let fd = unsafe { libc::syscall(libc::SYS_memfd_create, c"x".as_ptr(), libc::MFD_CLOEXEC) } as RawFd;
        // SAFETY: the descriptor was just opened and has no other owner.
        let file = unsafe { OwnedFd::from_raw_fd(fd) };
        let unmounted = Unmounted::here();
        assert_eq!(unmounted.kind(&look(file.as_raw_fd(), c"", libc::AT_EMPTY_PATH).unwrap()), Some("tmpfs"));
        assert_eq!(unmounted.kind(&look(libc::AT_FDCWD, c"/proc/self/ns/net", 0).unwrap()), Some("nsfs"));
        assert_eq!(unmounted.kind(&look(libc::AT_FDCWD, c"/proc/self/stat", 0).unwrap()), None);
    }
}

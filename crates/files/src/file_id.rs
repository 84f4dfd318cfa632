//! Which file it is, whatever its names.

use std::io;
use std::path::Path;

use nix::sys::stat::FileStat;

/// The device and the inode of a file: two paths with the same lead to one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    /// The file at the end of a path, links followed.
    ///
    /// # Errors
    /// When there is none.
    pub fn at(path: &Path) -> io::Result<Self> {
        Ok(Self::new(&nix::sys::stat::stat(path)?))
    }

    /// An open file.
    ///
    /// # Errors
    /// When the kernel does not know it any more, as on a network file system.
    pub fn of(file: &std::fs::File) -> io::Result<Self> {
        Ok(Self::new(&nix::sys::stat::fstat(file)?))
    }

    pub(crate) fn new(stat: &FileStat) -> Self {
        Self { device: stat.st_dev, inode: stat.st_ino }
    }
}

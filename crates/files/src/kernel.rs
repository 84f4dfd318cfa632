//! Files that the kernel writes, in `/proc`, `/sys` and `/dev/fd`.
//!
//! No other user can put a link or a FIFO in their place, and their size is known only after they
//! are read. The tracers read them by the thousand, so these functions are those of the standard
//! library under a name that a reviewer finds.

#![expect(clippy::disallowed_methods, reason = "no other user can put anything in the place of a file of the kernel")]

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::Path;

/// Opens a file of the kernel for reading.
///
/// # Errors
/// When there is none, or it is closed to the caller.
pub fn open(path: impl AsRef<Path>) -> io::Result<File> {
    File::open(path)
}

/// Returns the bytes of a file of the kernel.
///
/// # Errors
/// When it cannot be read.
pub fn read(path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    fs::read(path)
}

/// Returns the text of a file of the kernel.
///
/// # Errors
/// When it cannot be read or is not UTF-8.
///
/// ```
/// assert!(flowmine_files::kernel::read_to_string("/proc/self/stat")?.contains('('));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn read_to_string(path: impl AsRef<Path>) -> io::Result<String> {
    fs::read_to_string(path)
}

/// Returns the names in a directory of the kernel, in the order of the kernel. Those that are gone
/// meanwhile are left out.
///
/// # Errors
/// When the directory cannot be read.
pub fn names(path: impl AsRef<Path>) -> io::Result<Vec<OsString>> {
    Ok(fs::read_dir(path)?.flatten().map(|entry| entry.file_name()).collect())
}

/// Returns the names of the directories in a directory of the kernel, as [`names`] does.
///
/// # Errors
/// When the directory cannot be read.
pub fn folders(path: impl AsRef<Path>) -> io::Result<Vec<OsString>> {
    let is_folder = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    Ok(fs::read_dir(path)?.flatten().filter(is_folder).map(|entry| entry.file_name()).collect())
}

//! Files that are only read, by the paths that users and other programs give.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use nix::fcntl::{FcntlArg, OFlag};
use nix::sys::stat::{FileStat, Mode, SFlag, major, minor};
use nix::sys::statfs::{FsType, fstatfs};

use crate::way::kind;
use crate::{FileError, NOT_A_FILE, is_file};

/// Opens a plain file by its path for reading, links followed, without waiting. Below a directory
/// that was given ([`crate::within`]) links are not followed.
///
/// A path from another program can name a FIFO, which keeps its reader waiting, or a device, which
/// acts when it is opened. Neither is opened here.
///
/// # Errors
/// When there is no such file, or something else has that path.
///
/// ```
/// assert!(flowmine_files::open_plain(std::path::Path::new("/dev/zero")).is_err());
/// ```
pub fn open_plain(path: &Path) -> Result<File, FileError> {
    open(path, NOT_A_FILE, |stat, _| Ok(is_file(stat)))
}

/// Opens what a user named to be read: a plain file, a pipe of this command, as `<(…)` and
/// `/dev/stdin` are, or `/dev/null`. Links are followed.
///
/// A named pipe in a directory is refused: its reader would wait for a writer.
///
/// # Errors
/// When there is no such file, or something else has that path.
///
/// ```
/// assert!(flowmine_files::open_given(std::path::Path::new("/dev/null")).is_ok());
/// assert!(flowmine_files::open_given(std::path::Path::new("/dev/zero")).is_err());
/// ```
pub fn open_given(path: &Path) -> Result<File, FileError> {
    open(path, NOT_GIVEN, |stat, file| {
        let is_pipe = || kind(stat) == SFlag::S_IFIFO;
        Ok(is_file(stat) || is_null(stat) || is_pipe() && file.map_or(Ok(true), is_anonymous)?)
    })
}

/// Reads a plain file as a whole, links followed.
///
/// # Errors
/// When it cannot be read, has more than `most` bytes, or is no plain file.
pub fn read_plain(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    read(open_plain(path)?, most)
}

/// Reads what a user named ([`open_given`]) as a whole.
///
/// # Errors
/// When it cannot be read, has more than `most` bytes, or is something else.
pub fn read_given(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    read(open_given(path)?, most)
}

/// Opens a path if `is_right` holds for what has it, before it is opened and afterwards.
fn open(path: &Path, wrong: &'static str, is_right: impl Fn(&FileStat, Option<&File>) -> io::Result<bool>) -> Result<File, FileError> {
    if let Some(file) = crate::within::open(path)? {
        return Ok(file);
    }
    // A device can act when it is opened.
    if !is_right(&nix::sys::stat::stat(path)?, None)? {
        return Err(FileError::Foreign(wrong));
    }
    // What has the path now need not be what had it a moment ago.
    let flags = OFlag::O_RDONLY | OFlag::O_NONBLOCK | OFlag::O_NOCTTY | OFlag::O_CLOEXEC;
    let file = File::from(nix::fcntl::open(path, flags, Mode::empty())?);
    let stat = nix::sys::stat::fstat(&file)?;
    if !is_right(&stat, Some(&file))? {
        return Err(FileError::Foreign(wrong));
    }
    if !is_file(&stat) {
        // Whoever reads a pipe waits for its writer.
        nix::fcntl::fcntl(&file, FcntlArg::F_SETFL(OFlag::empty()))?;
    }
    Ok(file)
}

/// Whether an open pipe has no name in any directory (pipe(7)).
fn is_anonymous(pipe: &File) -> io::Result<bool> {
    Ok(fstatfs(pipe)?.filesystem_type() == FsType(PIPEFS))
}

/// Whether this is `/dev/null` (null(4)).
fn is_null(stat: &FileStat) -> bool {
    kind(stat) == SFlag::S_IFCHR && (major(stat.st_rdev), minor(stat.st_rdev)) == (1, 3)
}

fn read(file: File, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {most} bytes")));
    }
    Ok(bytes)
}

/// `PIPEFS_MAGIC` of `linux/magic.h`.
const PIPEFS: i64 = 0x5049_5045;

const NOT_GIVEN: &str = "it is neither a plain file nor a pipe of this command: give a named pipe as <(cat PIPE)";

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

    use super::*;

    fn of_fd(fd: &impl AsRawFd) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", fd.as_raw_fd()))
    }

    #[test]
    fn nothing_that_waits_or_acts_is_opened() {
        let dir = tempfile::tempdir().unwrap();
        let fifo = dir.path().join("fifo");
        nix::unistd::mkfifo(&fifo, Mode::from_bits_truncate(0o600)).unwrap();
        symlink("fifo", dir.path().join("link")).unwrap();
        for path in [fifo.as_path(), &dir.path().join("link"), dir.path(), Path::new("/dev/zero"), Path::new("/dev/tty")] {
            assert!(matches!(open_plain(path), Err(FileError::Foreign(NOT_A_FILE))), "{}", path.display());
            assert!(matches!(open_given(path), Err(FileError::Foreign(NOT_GIVEN))), "{}", path.display());
        }
        // Also if it is open already and is only named by a descriptor.
        let held = fs::File::options().read(true).write(true).open(&fifo).unwrap();
        assert!(matches!(open_given(&of_fd(&held)), Err(FileError::Foreign(NOT_GIVEN))));
        assert!(open_plain(&dir.path().join("none")).unwrap_err().is_not_found());
        assert!(open_given(&dir.path().join("none")).unwrap_err().is_not_found());
    }

    #[test]
    fn files_links_and_pipes_of_this_command_are_read() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("file"), "content").unwrap();
        symlink("file", dir.path().join("link")).unwrap();
        for name in ["file", "link"] {
            assert_eq!(read_plain(&dir.path().join(name), 7).unwrap(), b"content");
            assert_eq!(read_given(&dir.path().join(name), 7).unwrap(), b"content");
            assert_eq!(read_given(&dir.path().join(name), 6).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        }
        assert_eq!(read_given(Path::new("/dev/null"), 0).unwrap(), b"");
        // A writer that comes later is waited for, as in `<(sleep 1; echo late)`.
        let (reader, writer) = nix::unistd::pipe().unwrap();
        let path = of_fd(&reader);
        assert!(open_plain(&path).is_err());
        let reading = std::thread::spawn(move || read_given(&path, 99).unwrap());
        let mut writer = fs::File::from(writer);
        std::thread::sleep(std::time::Duration::from_millis(20));
        writer.write_all(b"late").unwrap();
        drop(writer);
        assert_eq!(reading.join().unwrap(), b"late");
    }
}

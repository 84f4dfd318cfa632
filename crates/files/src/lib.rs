//! Directories held open, so that no other user can redirect a writer.
//!
//! - **In:** a directory ([`Folder::open`]), and single names in it, never paths. Results begin
//!   with the path that a user gave ([`place_of`], [`Folder::open_to_write`], [`Folder::make`]).
//! - **Out:** its files and folders, opened, made, renamed, linked and removed.
//!
//! Files that are only read are opened by their paths ([`open_plain`], [`open_given`]), without
//! waiting and within bounds; those of the kernel by [`kernel`].
//!
//! **One rule for links.** Whoever writes follows a symbolic link on a path only when root or the
//! acting user made it. A link of another user is an error that names it ([`FileError::Led`]), in
//! whichever component it lies. Whoever only reads follows links as the kernel does.
//!
//! A [`Folder`] is a descriptor: later changes to the path by which it was found have no effect. It
//! refuses symbolic links and whatever is not a plain file or a folder (a FIFO or a device would
//! hang or never end), so that a link that another user puts in the way, at any moment, is an error
//! and not a way out ([`path_resolution(7)`], `O_NOFOLLOW` of open(2)).
//!
//! **Units.** Modes are permission bits as in chmod(2), cut by the umask; owners are user ids.
//!
//! **Errors.** [`FileError`]: what the operating system refuses, and [`FileError::Foreign`] for
//! something else that lies there than there should.
//!
//! ```
//! use std::io::Write;
//! use flowmine_files::Folder;
//!
//! # let dir = tempfile::tempdir()?;
//! # let path = dir.path();
//! let folder = Folder::open(path)?;
//! // It has no name before it is complete, so that nobody sees half of it.
//! let mut file = folder.new_file("result", 0o644)?;
//! file.write_all(b"done")?;
//! file.replace()?;
//! assert_eq!(std::io::read_to_string(folder.read("result")?)?, "done");
//!
//! std::os::unix::fs::symlink("/etc/passwd", path.join("link"))?;
//! assert!(folder.read("link").is_err());
//! assert!(folder.read("../result").is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`path_resolution(7)`]: https://man7.org/linux/man-pages/man7/path_resolution.7.html

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod access_list;
mod batch;
mod entries;
mod file_id;
mod given;
pub mod kernel;
mod made;
mod new_file;
mod strangers;
mod way;
mod within;

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use nix::dir::Dir;
use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag};
use nix::sys::stat::{FileStat, Mode, SFlag};
use nix::unistd::{Gid, Uid, UnlinkatFlags};

pub use crate::batch::Batch;
pub use crate::entries::{Entries, Entry, EntryKind};
pub use crate::file_id::FileId;
pub use crate::given::{open_given, open_plain, read_given, read_plain};
pub use crate::made::MadeFiles;
pub use crate::new_file::{NewFile, WorkFolder};
pub use crate::strangers::Stranger;
pub use crate::way::LinkOfAnother;
use crate::way::{Trust, Way, is_of_proc, is_trusted, kind};
pub use crate::within::{Within, is_within, within};

/// Why a file in a folder could not be opened, made or removed.
#[derive(Debug)]
pub enum FileError {
    /// The operating system refused; its error.
    Io(io::Error),
    /// Something else lies there than there should; what.
    Foreign(&'static str),
    /// A symbolic link of another user leads there, where something was to be written.
    Led(Box<LinkOfAnother>),
    /// Something has the name of a result and was not made as one; the name.
    NotMade(String),
    /// A result is not as flowmine made it; its name.
    Changed(String),
}

impl FileError {
    /// Whether there is nothing of that name.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::Io(error) if error.kind() == io::ErrorKind::NotFound)
    }

    /// Whether something of that name is there already.
    pub fn is_already_there(&self) -> bool {
        matches!(self, Self::Io(error) if error.kind() == io::ErrorKind::AlreadyExists)
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Foreign(why) => f.write_str(why),
            Self::NotMade(name) => {
                write!(f, "{name} is there already and was not made by flowmine: rename or remove it, or name another directory")
            }
            Self::Changed(name) => {
                write!(f, "{name} was changed since flowmine made it: rename or remove it, or name another directory")
            }
            Self::Led(found) => {
                let LinkOfAnother { link, owner, target } = &**found;
                write!(
                    f,
                    "{} is a symbolic link of another user (id {owner}): \
                     give the path to which it leads ({})",
                    link.display(),
                    target.display()
                )
            }
        }
    }
}

impl std::error::Error for FileError {}

impl From<io::Error> for FileError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<Errno> for FileError {
    fn from(error: Errno) -> Self {
        Self::Io(error.into())
    }
}

impl From<FileError> for io::Error {
    fn from(error: FileError) -> Self {
        match error {
            FileError::Io(error) => error,
            FileError::Foreign(why) => io::Error::other(why),
            other @ (FileError::Led(_) | FileError::NotMade(_) | FileError::Changed(_)) => io::Error::other(other.to_string()),
        }
    }
}

const NOT_A_FILE: &str = "it is not a plain file";
const ANOTHERS: &str = "it belongs to another user, who could change it later; remove it, or write elsewhere";
const NOT_A_FOLDER: &str = "it is not a folder";
const LINKED: &str = "it has more than one name (a hard link)";
const NOT_A_NAME: &str = "it is not the name of a file";
const PIPE_OF_ANOTHER: &str = "it is a named pipe of another user: write elsewhere";
const BECAME_A_FILE: &str = "it became a plain file while it was opened";

/// An open directory, in which files are opened and made by their names.
#[derive(Debug)]
pub struct Folder {
    file: File,
    path: PathBuf,
    /// As whom files are made, where that is not the process's own user.
    owner: Option<(Uid, Gid)>,
    /// Who could have led to it.
    trust: Trust,
}

impl Folder {
    /// Opens a directory by its path. Links on the way are followed, whoever made them: whoever
    /// writes into it calls [`Folder::check_way`] first, or [`Folder::open_to_write`] instead.
    ///
    /// # Errors
    /// When there is none.
    pub fn open(path: &Path) -> io::Result<Self> {
        Way::along(path)?.directory(path)
    }

    /// Opens a directory by its path, to write into it.
    ///
    /// # Errors
    /// When there is none, or a link of another user leads there.
    pub fn open_to_write(path: &Path) -> Result<Self, FileError> {
        let folder = Self::open(path)?;
        folder.check_way()?;
        Ok(folder)
    }

    /// Opens a directory by its path, to write into it. Where there is none it is made with these
    /// permissions (less the umask); those above it are made with all that the umask leaves.
    ///
    /// # Errors
    /// When it cannot be made, or a link of another user leads there.
    pub fn make(path: &Path, mode: u32) -> Result<Self, FileError> {
        let folder = Way::along(path)?.made_directory(path, mode)?;
        folder.check_way()?;
        Ok(folder)
    }

    /// Whether only those have led here who may: root, the acting user, and the folder's owner
    /// where everything is done as him.
    ///
    /// # Errors
    /// [`FileError::Led`] with the first link that another user made.
    pub fn check_way(&self) -> Result<(), FileError> {
        self.trust.check(self.owner.map(|(uid, _)| uid))
    }

    /// The same directory, in which everything is done as its owner: what is made belongs to him,
    /// and he needs the rights. It takes root to become another; for everybody else nothing
    /// changes.
    ///
    /// # Errors
    /// When the owner cannot be found out.
    pub fn as_owner(self) -> io::Result<Self> {
        let stat = nix::sys::stat::fstat(&self.file)?;
        let owner = Uid::effective().is_root().then(|| (Uid::from_raw(stat.st_uid), Gid::from_raw(stat.st_gid)));
        Ok(Self { owner, ..self })
    }

    /// Where it was found, for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Who owns it (a user id).
    ///
    /// # Errors
    /// When that cannot be found out.
    pub fn owner(&self) -> io::Result<u32> {
        Ok(nix::sys::stat::fstat(&self.file)?.st_uid)
    }

    /// Its permissions (the lower twelve bits of `st_mode`).
    ///
    /// # Errors
    /// When they cannot be found out.
    pub fn mode(&self) -> io::Result<u32> {
        Ok(nix::sys::stat::fstat(&self.file)?.st_mode & 0o7777)
    }

    /// Changes the folder's permission bits (fchmod(2)).
    ///
    /// # Errors
    /// When it belongs to another.
    pub fn set_mode(&self, mode: u32) -> io::Result<()> {
        Ok(nix::sys::stat::fchmod(&self.file, Mode::from_bits_truncate(mode))?)
    }

    /// A second descriptor of it.
    ///
    /// # Errors
    /// When the process has no more.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self { file: self.file.try_clone()?, path: self.path.clone(), owner: self.owner, trust: self.trust.clone() })
    }

    /// The folder that this one lies in, to look into it; nothing above the root.
    ///
    /// # Errors
    /// When it cannot be entered.
    pub fn above(&self) -> io::Result<Option<Self>> {
        // It may be closed to readers, as /home often is: only its names are looked up.
        let flags = OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
        let file = File::from(nix::fcntl::openat(&self.file, "..", flags, Mode::empty())?);
        let above = Self { file, path: self.path.join(".."), owner: self.owner, trust: self.trust.clone() };
        let is_root = self.id()? == above.id()?;
        Ok((!is_root).then_some(above))
    }

    /// Which file the folder is.
    ///
    /// # Errors
    /// When it cannot be found out.
    pub fn id(&self) -> io::Result<FileId> {
        Ok(FileId::new(&nix::sys::stat::fstat(&self.file)?))
    }

    /// Which file has a name here; nothing where none has. A symbolic link is a file of its own.
    ///
    /// # Errors
    /// When it cannot be found out.
    pub fn id_of(&self, name: impl AsRef<OsStr>) -> Result<Option<FileId>, FileError> {
        match nix::sys::stat::fstatat(&self.file, one(&name)?, AtFlags::AT_SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(FileId::new(&stat))),
            Err(Errno::ENOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Size and time of change of the file with a name, as a text; `None` if there is no such file.
    /// No link is followed.
    ///
    /// # Errors
    /// When it cannot be found out.
    pub fn stamp_of(&self, name: impl AsRef<OsStr>) -> Result<Option<String>, FileError> {
        match nix::sys::stat::fstatat(&self.file, one(&name)?, AtFlags::AT_SYMLINK_NOFOLLOW) {
            // The time of a folder changes with each file that is written into it.
            Ok(stat) if kind(&stat) == SFlag::S_IFDIR => Ok(Some("folder".to_owned())),
            Ok(stat) => Ok(Some(format!("{} {}.{:09}", stat.st_size, stat.st_mtime, stat.st_mtime_nsec))),
            Err(Errno::ENOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens a folder that lies in this one.
    ///
    /// # Errors
    /// When there is none, or something else.
    pub fn folder(&self, name: impl AsRef<OsStr>) -> Result<Self, FileError> {
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let fd = match nix::fcntl::openat(&self.file, one(&name)?, flags, Mode::empty()) {
            Err(Errno::ENOTDIR | Errno::ELOOP) => return Err(FileError::Foreign(NOT_A_FOLDER)),
            other => other?,
        };
        Ok(Self { file: File::from(fd), path: self.path.join(name.as_ref()), owner: self.owner, trust: self.trust.clone() })
    }

    /// A folder in it, made with these permissions (less the umask) where there is none. Returns
    /// whether it was made.
    ///
    /// # Errors
    /// When it cannot be made, or something else lies there.
    pub fn make_folder(&self, name: impl AsRef<OsStr>, mode: u32) -> Result<(Self, bool), FileError> {
        let made = {
            let _as_owner = self.act();
            match nix::sys::stat::mkdirat(&self.file, one(&name)?, Mode::from_bits_truncate(mode)) {
                Ok(()) => true,
                Err(Errno::EEXIST) => false,
                Err(error) => return Err(error.into()),
            }
        };
        Ok((self.folder(name)?, made))
    }

    /// A folder of the caller in it, as [`Folder::make_folder`] makes it. An existing one has to be
    /// the caller's, and no other user may write it.
    ///
    /// # Errors
    /// When it cannot be made, or something else has that name.
    pub fn make_own_folder(&self, name: impl AsRef<OsStr>, mode: u32) -> Result<Self, FileError> {
        let (folder, _) = self.make_folder(name, mode)?;
        let caller = self.owner.map_or_else(Uid::effective, |(uid, _)| uid);
        let own = folder.owner()? == caller.as_raw() && folder.mode()? & 0o022 == 0;
        if own { Ok(folder) } else { Err(FileError::Foreign(ANOTHERS)) }
    }

    /// A file in it, open for reading.
    ///
    /// # Errors
    /// When there is none, or something that is no plain file.
    pub fn read(&self, name: impl AsRef<OsStr>) -> Result<File, FileError> {
        self.plain(name, OFlag::O_RDONLY, Mode::empty()).map(|(file, _)| file)
    }

    /// A note in it that this program left, open for reading: `None` where there is none, or one of
    /// another user than root and the acting one. Such a user could claim that files of others were
    /// made here.
    ///
    /// # Errors
    /// When something lies there that is no plain file, or it cannot be opened.
    pub fn own_note(&self, name: impl AsRef<OsStr>) -> Result<Option<File>, FileError> {
        match self.plain(name, OFlag::O_RDONLY, Mode::empty()) {
            Ok((file, stat)) => Ok((way::is_trusted(stat.st_uid) || stat.st_uid == self.acting_user().as_raw()).then_some(file)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Makes a file that was not there, with these permissions (less the umask), open for reading
    /// and writing.
    ///
    /// # Errors
    /// When something of that name is there, or it cannot be made.
    pub fn create_new(&self, name: impl AsRef<OsStr>, mode: u32) -> Result<File, FileError> {
        let flags = OFlag::O_RDWR | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let _as_owner = self.act();
        Ok(File::from(nix::fcntl::openat(&self.file, one(&name)?, flags, Mode::from_bits_truncate(mode))?))
    }

    /// A file in it, open for writing at its end; made with these permissions (less the umask)
    /// where there is none.
    ///
    /// # Errors
    /// When it cannot be made, or something that is no plain file lies there.
    pub fn append(&self, name: impl AsRef<OsStr>, mode: u32) -> Result<File, FileError> {
        self.plain(name, OFlag::O_WRONLY | OFlag::O_APPEND | OFlag::O_CREAT, Mode::from_bits_truncate(mode)).map(|(file, _)| file)
    }

    /// A file that is opened to be locked, made where there is none. Its permissions are those of
    /// who may write here: whoever can open a file can also lock it, and so keep others out.
    ///
    /// # Errors
    /// When something else lies there, or it cannot be opened for writing.
    pub fn lock_file(&self, name: impl AsRef<OsStr>) -> Result<File, FileError> {
        let writers = self.mode()?;
        let mode = 0o600 | if writers & 0o020 == 0 { 0 } else { 0o060 } | if writers & 0o002 == 0 { 0 } else { 0o006 };
        let (file, stat) = self.plain(name, OFlag::O_RDWR | OFlag::O_CREAT, Mode::from_bits_truncate(mode))?;
        if stat.st_nlink > 1 {
            return Err(FileError::Foreign(LINKED));
        }
        // It may be of a time when readers could open it, and the umask took from those who may write. Another's stays as it is.
        if stat.st_mode & 0o777 != mode {
            let _as_owner = self.act();
            let _ = nix::sys::stat::fchmod(&file, Mode::from_bits_truncate(mode));
        }
        Ok(file)
    }

    fn plain(&self, name: impl AsRef<OsStr>, flags: OFlag, mode: Mode) -> Result<(File, FileStat), FileError> {
        let name = one(&name)?;
        // A device can act when it is opened: it is looked at first. What is opened is looked at again.
        let before = nix::sys::stat::fstatat(&self.file, name, AtFlags::AT_SYMLINK_NOFOLLOW);
        match before {
            Ok(stat) if !is_file(&stat) => return Err(FileError::Foreign(NOT_A_FILE)),
            Err(Errno::ENOENT) if flags.contains(OFlag::O_CREAT) => {}
            other => _ = other?,
        }
        // A FIFO that came in between would let us wait without O_NONBLOCK.
        let flags = flags | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_NOCTTY | OFlag::O_CLOEXEC;
        let _as_owner = flags.contains(OFlag::O_CREAT).then(|| self.act());
        let file = match nix::fcntl::openat(&self.file, name, flags, mode) {
            Err(Errno::ELOOP) => return Err(FileError::Foreign(NOT_A_FILE)),
            other => File::from(other?),
        };
        let stat = nix::sys::stat::fstat(&file)?;
        if is_file(&stat) { Ok((file, stat)) } else { Err(FileError::Foreign(NOT_A_FILE)) }
    }

    /// Whether there is a plain file of that name.
    ///
    /// # Errors
    /// When something else is there.
    pub fn has_file(&self, name: impl AsRef<OsStr>) -> Result<bool, FileError> {
        match nix::sys::stat::fstatat(&self.file, one(&name)?, AtFlags::AT_SYMLINK_NOFOLLOW) {
            Ok(stat) if is_file(&stat) => Ok(true),
            Ok(_) => Err(FileError::Foreign(NOT_A_FILE)),
            Err(Errno::ENOENT) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens for writing what is neither a plain file nor missing: a pipe, a terminal, a device.
    ///
    /// # Errors
    /// When it is a folder or a named pipe of another user, or cannot be opened.
    pub fn special(&self, name: impl AsRef<OsStr>) -> Result<Option<File>, FileError> {
        let name = one(&name)?;
        // Links of proc(5), as those of /dev/stdout, lead to what is open; all others were followed before.
        let in_proc = is_of_proc(&self.file)?;
        let (at, of_link) = if in_proc { (AtFlags::empty(), OFlag::empty()) } else { (AtFlags::AT_SYMLINK_NOFOLLOW, OFlag::O_NOFOLLOW) };
        let stat = match nix::sys::stat::fstatat(&self.file, name, at) {
            Err(Errno::ENOENT) => return Ok(None),
            other => other?,
        };
        if is_file(&stat) {
            return Ok(None);
        }
        if kind(&stat) == SFlag::S_IFIFO && !in_proc && !is_trusted(stat.st_uid) {
            return Err(FileError::Foreign(PIPE_OF_ANOTHER));
        }
        let flags = OFlag::O_WRONLY | OFlag::O_NOCTTY | OFlag::O_CLOEXEC | of_link;
        let file = File::from(nix::fcntl::openat(&self.file, name, flags, Mode::empty())?);
        if is_file(&nix::sys::stat::fstat(&file)?) { Err(FileError::Foreign(BECAME_A_FILE)) } else { Ok(Some(file)) }
    }

    /// Renames a file of this folder to a name in another folder, and replaces the file of that
    /// name.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn rename(&self, from: impl AsRef<OsStr>, folder: &Folder, to: impl AsRef<OsStr>) -> Result<(), FileError> {
        let _as_owner = self.act();
        Ok(nix::fcntl::renameat(&self.file, one(&from)?, &folder.file, one(&to)?)?)
    }

    /// Gives what is here a second name in the same folder.
    ///
    /// # Errors
    /// When that name is taken, or the file system has no hard links.
    pub fn link(&self, from: impl AsRef<OsStr>, to: impl AsRef<OsStr>) -> Result<(), FileError> {
        let _as_owner = self.act();
        Ok(nix::unistd::linkat(&self.file, one(&from)?, &self.file, one(&to)?, AtFlags::empty())?)
    }

    /// Removes a file that lies in this folder.
    ///
    /// # Errors
    /// When there is none, or it is a folder.
    pub fn remove(&self, name: impl AsRef<OsStr>) -> Result<(), FileError> {
        let _as_owner = self.act();
        Ok(nix::unistd::unlinkat(&self.file, one(&name)?, UnlinkatFlags::NoRemoveDir)?)
    }

    /// Removes an empty folder that lies in this one.
    ///
    /// # Errors
    /// When it is not empty.
    pub fn remove_folder(&self, name: impl AsRef<OsStr>) -> Result<(), FileError> {
        let _as_owner = self.act();
        Ok(nix::unistd::unlinkat(&self.file, one(&name)?, UnlinkatFlags::RemoveDir)?)
    }

    /// The names of what is in it, in no order. Bytes that are not UTF-8 are replaced by U+FFFD:
    /// such a name is none of ours.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn names(&self) -> io::Result<Vec<String>> {
        // A descriptor of its own: the place up to which it was read is shared with copies.
        let fd = nix::fcntl::openat(&self.file, ".", OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC, Mode::empty())?;
        let mut names = Vec::new();
        for entry in Dir::from_fd(fd)?.iter() {
            match &*entry?.file_name().to_string_lossy() {
                "." | ".." => {}
                name => names.push(name.to_owned()),
            }
        }
        Ok(names)
    }

    /// Waits until what was made, renamed and removed in it is on the disk.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_all()
    }

    /// Owner of the files that are made here.
    fn acting_user(&self) -> Uid {
        self.owner.map_or_else(Uid::effective, |(uid, _)| uid)
    }

    fn act(&self) -> Option<Acting> {
        let (uid, gid) = self.owner?;
        Some(Acting::begin(uid, gid))
    }
}

/// While it lives, this thread does with files what another user may do (setfsuid(2)).
struct Acting;

impl Acting {
    fn begin(uid: Uid, gid: Gid) -> Self {
        nix::unistd::setfsgid(gid);
        nix::unistd::setfsuid(uid);
        Self
    }
}

impl Drop for Acting {
    fn drop(&mut self) {
        nix::unistd::setfsuid(Uid::effective());
        nix::unistd::setfsgid(Gid::effective());
    }
}

/// Whether the caller is root, as far as files are concerned.
pub fn is_root() -> bool {
    Uid::effective().is_root()
}

/// The user id as which files are opened and made.
pub fn user() -> u32 {
    Uid::effective().as_raw()
}

fn is_file(stat: &FileStat) -> bool {
    kind(stat) == SFlag::S_IFREG
}

/// For calls that take a path: `/proc/self/fd/N/NAME` is in this folder, whatever is renamed.
impl AsFd for Folder {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

fn one<N: AsRef<OsStr> + ?Sized>(name: &N) -> Result<&OsStr, FileError> {
    let name = name.as_ref();
    let bytes = name.as_bytes();
    let is_name = !matches!(bytes, b"" | b"." | b"..") && !bytes.contains(&b'/') && !bytes.contains(&0);
    if is_name { Ok(name) } else { Err(FileError::Foreign(NOT_A_NAME)) }
}

/// The folder and the name of a file that is to be written. Links are followed, also one at the end
/// of the path, which so stays one, when the caller or root made them.
///
/// # Errors
/// When the folder cannot be opened, or a link of another user leads there.
pub fn place_of(path: &Path) -> Result<(Folder, OsString), FileError> {
    let (folder, name) = Way::along(path)?.last_name()?;
    folder.check_way()?;
    Ok((folder, name))
}

fn hidden_name() -> String {
    format!(".flowmine-{:016x}.tmp", RandomState::new().hash_one(std::process::id()))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn nothing_leads_out() {
        let dir = tempfile::tempdir().unwrap();
        let inside = dir.path().join("in");
        fs::create_dir(&inside).unwrap();
        fs::write(dir.path().join("victim"), "root's").unwrap();
        symlink("../victim", inside.join("link")).unwrap();
        symlink("..", inside.join("way")).unwrap();
        nix::unistd::mkfifo(&inside.join("fifo"), Mode::from_bits_truncate(0o600)).unwrap();
        symlink("/dev/zero", inside.join("zero")).unwrap();
        let folder = Folder::open(&inside).unwrap();
        for name in ["link", "fifo", "zero", "way"] {
            assert!(matches!(folder.read(name), Err(FileError::Foreign(_))), "{name}");
            assert!(matches!(folder.lock_file(name), Err(FileError::Foreign(_))), "{name}");
            assert!(folder.has_file(name).is_err(), "{name}");
            assert!(folder.create_new(name, 0o600).is_err(), "{name}");
            assert!(folder.folder(name).is_err(), "{name}");
            assert!(folder.make_folder(name, 0o700).is_err(), "{name}");
        }
        for name in ["..", ".", "", "a/b", "../victim", "a\0"] {
            assert!(matches!(folder.read(name), Err(FileError::Foreign(_))), "{name:?}");
            assert!(folder.remove(name).is_err(), "{name:?}");
        }
        assert_eq!(fs::read_to_string(dir.path().join("victim")).unwrap(), "root's");
        // The folder stays the same one, whatever lies at its path.
        fs::rename(&inside, dir.path().join("moved")).unwrap();
        symlink("/nowhere", &inside).unwrap();
        folder.create_new("new", 0o600).unwrap();
        assert!(dir.path().join("moved/new").is_file());
    }

    #[test]
    fn who_cannot_write_cannot_lock() {
        let dir = tempfile::tempdir().unwrap();
        for (folder_mode, expected) in [(0o755, 0o600), (0o775, 0o660), (0o777, 0o666), (0o700, 0o600)] {
            let path = dir.path().join(format!("{folder_mode:o}"));
            fs::create_dir(&path).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(folder_mode)).unwrap();
            fs::write(path.join("old"), "").unwrap();
            fs::set_permissions(path.join("old"), fs::Permissions::from_mode(0o644)).unwrap();
            let folder = Folder::open(&path).unwrap();
            for name in ["new", "old"] {
                let lock = folder.lock_file(name).unwrap();
                assert_eq!(lock.metadata().unwrap().permissions().mode() & 0o777, expected, "{folder_mode:o} {name}");
            }
        }
        let folder = Folder::open(dir.path()).unwrap();
        fs::write(dir.path().join("a"), "x").unwrap();
        fs::hard_link(dir.path().join("a"), dir.path().join("b")).unwrap();
        assert!(matches!(folder.lock_file("b"), Err(FileError::Foreign(LINKED))));
    }

    #[test]
    fn a_link_that_comes_and_goes_is_never_followed() {
        let dir = tempfile::tempdir().unwrap();
        let victim = dir.path().join("victim");
        fs::write(&victim, "root's").unwrap();
        let inside = dir.path().join("in");
        fs::create_dir(&inside).unwrap();
        let folder = Folder::open(&inside).unwrap();
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    let _ = symlink(&victim, inside.join("l"));
                    let _ = fs::remove_file(inside.join("l"));
                }
            });
            for _ in 0..20_000 {
                if let Ok(lock) = folder.lock_file("l") {
                    lock.set_len(0).unwrap();
                }
            }
            over.store(true, Ordering::Relaxed);
        });
        assert_eq!(fs::read_to_string(&victim).unwrap(), "root's");
    }

    #[test]
    fn own_links_are_followed() {
        let dir = tempfile::tempdir().unwrap();
        let other = dir.path().join("other");
        fs::create_dir(&other).unwrap();
        symlink("other/file", dir.path().join("link")).unwrap();
        let (folder, name) = place_of(&dir.path().join("link")).unwrap();
        assert_eq!((folder.path(), name.to_str()), (&*dir.path().join("other"), Some("file")));
        symlink("ring", dir.path().join("ring")).unwrap();
        assert!(place_of(&dir.path().join("ring")).is_err());
        assert!(place_of(Path::new("/")).is_err());
    }
}

//! The way along a path, one component after the other, each opened relative to the one before it.
//!
//! The kernel follows every symbolic link on a path, whoever made it. [`Way`] follows links itself
//! and notes those that another user made, so that a writer can refuse them. It holds descriptors
//! (`O_PATH` of open(2)): renaming directories meanwhile cannot lead it elsewhere. It needs no
//! `openat2(2)`, which kernels before 5.6 and some containers do not have.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::sys::stat::{FileStat, Mode, SFlag};
use nix::unistd::Uid;

use crate::{FileError, Folder, NOT_A_NAME, is_file};

/// What is known of a way after it was taken.
#[derive(Debug, Clone, Default)]
pub(crate) struct Trust {
    /// The links that neither root nor the acting user made, in the order of the way.
    pub(crate) links: Vec<LinkOfAnother>,
}

/// A symbolic link that another user made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkOfAnother {
    /// Path of the link.
    pub link: PathBuf,
    /// Its owner's user id.
    pub owner: u32,
    /// The text of the link.
    pub target: PathBuf,
}

/// A path of which some components have been taken.
pub(crate) struct Way {
    at: File,
    shown: PathBuf,
    left: VecDeque<OsString>,
    links: usize,
    trust: Trust,
}

impl Way {
    /// The way along a path; nothing of it has been taken yet.
    pub(crate) fn along(path: &Path) -> io::Result<Self> {
        let start = if path.is_absolute() { "/" } else { "." };
        let at = File::from(nix::fcntl::open(start, DIRECTORY, Mode::empty())?);
        let shown = if path.is_absolute() { PathBuf::from("/") } else { PathBuf::new() };
        Ok(Self { at, shown, left: components(path).collect(), links: 0, trust: Trust::default() })
    }

    /// Opens the directory at the end of the way.
    pub(crate) fn directory(mut self, path: &Path) -> io::Result<Folder> {
        while let Some(name) = self.left.pop_front() {
            self.step(&name)?;
        }
        self.folder(path)
    }

    /// Opens the directory at the end of the way, made with this mode where there is none, as are
    /// those above it with the umask's.
    pub(crate) fn made_directory(mut self, path: &Path, mode: u32) -> Result<Folder, FileError> {
        while let Some(name) = self.left.pop_front() {
            match self.step(&name) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    self.trust.check(None)?;
                    let mode = if self.left.is_empty() { mode } else { 0o777 };
                    match nix::sys::stat::mkdirat(&self.at, &*name, Mode::from_bits_truncate(mode)) {
                        Ok(()) | Err(Errno::EEXIST) => self.step(&name)?,
                        Err(error) => return Err(error.into()),
                    }
                }
                other => other?,
            }
        }
        Ok(self.folder(path)?)
    }

    /// Opens the directory in which the last name of the way is. A link of that name is followed,
    /// so that it stays one when its file is replaced.
    pub(crate) fn last_name(mut self) -> Result<(Folder, OsString), FileError> {
        while let Some(name) = self.left.pop_front() {
            if !self.left.is_empty() {
                self.step(&name)?;
                continue;
            }
            if name == ".." {
                break;
            }
            match self.link(&name) {
                Ok(Some((link, stat))) if !leads_to_special(&self.at, &name, &link)? => {
                    let target = self.target(&name, &link, &stat)?;
                    self.lead(&target)?;
                }
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error.into()),
            }
            if self.left.is_empty() {
                let shown = self.shown.clone();
                return Ok((self.folder(&shown)?, name));
            }
        }
        Err(FileError::Foreign(NOT_A_NAME))
    }

    fn folder(self, path: &Path) -> io::Result<Folder> {
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
        let fd = nix::fcntl::openat(&self.at, ".", flags, Mode::empty())?;
        Ok(Folder { file: File::from(fd), path: path.to_owned(), owner: None, trust: self.trust })
    }

    /// Goes into a directory, or to where a link leads.
    fn step(&mut self, name: &OsStr) -> io::Result<()> {
        // With O_DIRECTORY, so that an automounter (autofs(5)) mounts what is there.
        match nix::fcntl::openat(&self.at, name, DIRECTORY | OFlag::O_NOFOLLOW, Mode::empty()) {
            Ok(fd) => {
                self.enter(File::from(fd), name);
                Ok(())
            }
            Err(Errno::ENOTDIR | Errno::ELOOP) => {
                let Some((link, stat)) = self.link(name)? else { return Err(Errno::ENOTDIR.into()) };
                let target = self.target(name, &link, &stat)?;
                if is_of_proc(&link)? {
                    // Such a link leads to an open file, and its text is only for people.
                    let fd = nix::fcntl::openat(&self.at, name, DIRECTORY, Mode::empty())?;
                    self.enter(File::from(fd), name);
                    return Ok(());
                }
                self.lead(&target)
            }
            Err(error) => Err(error.into()),
        }
    }

    fn enter(&mut self, directory: File, name: &OsStr) {
        self.at = directory;
        self.shown.push(name);
    }

    /// The link of this name, open as one; nothing where something else has the name.
    fn link(&self, name: &OsStr) -> io::Result<Option<(File, FileStat)>> {
        let flags = OFlag::O_PATH | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let link = File::from(nix::fcntl::openat(&self.at, name, flags, Mode::empty())?);
        let stat = nix::sys::stat::fstat(&link)?;
        Ok((kind(&stat) == SFlag::S_IFLNK).then_some((link, stat)))
    }

    /// Reads a link, and notes it when another user made it.
    fn target(&mut self, name: &OsStr, link: &File, stat: &FileStat) -> io::Result<PathBuf> {
        self.links += 1;
        if self.links > MOST_LINKS {
            return Err(Errno::ELOOP.into());
        }
        let target = PathBuf::from(nix::fcntl::readlinkat(link, "")?);
        if !is_trusted(stat.st_uid) {
            let link = self.shown.join(name);
            self.trust.links.push(LinkOfAnother { link, owner: stat.st_uid, target: target.clone() });
        }
        Ok(target)
    }

    /// Goes on as the text of a link says.
    fn lead(&mut self, target: &Path) -> io::Result<()> {
        if target.is_absolute() {
            self.at = File::from(nix::fcntl::open("/", DIRECTORY, Mode::empty())?);
            self.shown = PathBuf::from("/");
        }
        for name in components(target).rev() {
            self.left.push_front(name);
        }
        Ok(())
    }
}

impl Trust {
    /// Refuses a way with links of others than root, the acting user, and `owner`.
    pub(crate) fn check(&self, owner: Option<Uid>) -> Result<(), FileError> {
        let owner = owner.map(Uid::as_raw);
        match self.links.iter().find(|link| Some(link.owner) != owner) {
            None => Ok(()),
            Some(link) => Err(FileError::Led(Box::new(link.clone()))),
        }
    }
}

/// Whether what this user makes is followed: root, or the acting user.
pub(crate) fn is_trusted(uid: u32) -> bool {
    uid == 0 || uid == Uid::effective().as_raw() || Some(uid) == unknown_owner()
}

/// The user id of files with an owner that a user namespace does not know, such as the host's root
/// in a container without root (user_namespaces(7)); nothing outside of one.
fn unknown_owner() -> Option<u32> {
    static UNKNOWN: OnceLock<Option<u32>> = OnceLock::new();
    *UNKNOWN.get_or_init(|| {
        let map = crate::kernel::read_to_string("/proc/self/uid_map").ok()?;
        let is_whole = map.split_whitespace().eq(["0", "0", "4294967295"]);
        let overflow = crate::kernel::read_to_string("/proc/sys/kernel/overflowuid").ok()?;
        if is_whole { None } else { overflow.trim().parse().ok() }
    })
}

pub(crate) fn kind(stat: &FileStat) -> SFlag {
    SFlag::from_bits_truncate(stat.st_mode & SFlag::S_IFMT.bits())
}

/// Whether a file lies in proc(5), where links are no texts.
pub(crate) fn is_of_proc(file: impl AsFd) -> io::Result<bool> {
    Ok(nix::sys::statfs::fstatfs(file)?.filesystem_type() == nix::sys::statfs::PROC_SUPER_MAGIC)
}

/// Whether a link is one of proc(5) to a pipe, a terminal or a device: these have no path.
fn leads_to_special(at: &File, name: &OsStr, link: &File) -> io::Result<bool> {
    if !is_of_proc(link)? {
        return Ok(false);
    }
    let stat = nix::sys::stat::fstatat(at, name, nix::fcntl::AtFlags::empty())?;
    Ok(!is_file(&stat))
}

fn components(path: &Path) -> impl DoubleEndedIterator<Item = OsString> {
    path.components().filter_map(|component| match component {
        Component::ParentDir => Some(OsString::from("..")),
        Component::Normal(name) => Some(name.to_owned()),
        _ => None,
    })
}

const DIRECTORY: OFlag = OFlag::O_PATH.union(OFlag::O_DIRECTORY).union(OFlag::O_CLOEXEC);

/// As many links one after the other as the kernel follows.
const MOST_LINKS: usize = 40;

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{MetadataExt, lchown, symlink};

    use super::*;
    use crate::{is_root, place_of};

    fn inode(folder: &Folder) -> u64 {
        folder.file.metadata().unwrap().ino()
    }

    #[test]
    fn every_path_leads_where_the_kernel_leads() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path();
        fs::create_dir_all(base.join("a/b")).unwrap();
        symlink("a/b", base.join("down")).unwrap();
        symlink("../..", base.join("a/b/up")).unwrap();
        symlink(base.join("a"), base.join("whole")).unwrap();
        symlink("down/up/whole", base.join("chain")).unwrap();
        symlink("nowhere", base.join("dangling")).unwrap();
        symlink("ring", base.join("ring")).unwrap();
        fs::write(base.join("file"), "").unwrap();
        for path in [".", "a", "a/", "a/./b", "a/..", "a/b/../b", "down", "down/..", "down/up", "down/up/whole/b", "chain", "chain/b/up/a"]
        {
            let folder = Folder::open_to_write(&base.join(path)).unwrap();
            assert_eq!(inode(&folder), fs::metadata(base.join(path)).unwrap().ino(), "{path}");
            assert_eq!(folder.path(), base.join(path));
        }
        for path in ["dangling", "ring", "file", "file/a", "none", "a/none/.."] {
            let found = Folder::open(&base.join(path)).unwrap_err().kind();
            let kernel = fs::read_dir(base.join(path)).unwrap_err().kind();
            assert_eq!(found, kernel, "{path}");
        }
        for path in ["/", ".", "/proc/self/cwd", "/proc/self/fd"] {
            assert_eq!(inode(&Folder::open_to_write(Path::new(path)).unwrap()), fs::metadata(path).unwrap().ino(), "{path}");
        }
    }

    #[test]
    fn directories_are_made_also_behind_own_links() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("a")).unwrap();
        symlink("a", dir.path().join("link")).unwrap();
        Folder::make(&dir.path().join("link/b/c"), 0o700).unwrap();
        assert_eq!(fs::metadata(dir.path().join("a/b/c")).unwrap().mode() & 0o777, 0o700);
        fs::write(dir.path().join("file"), "").unwrap();
        assert!(Folder::make(&dir.path().join("file/b"), 0o700).is_err());
    }

    #[test]
    fn what_is_open_is_written_to_as_it_is() {
        for (path, name) in [("/dev/null", "null"), ("/dev/tty", "tty")] {
            assert_eq!(place_of(Path::new(path)).unwrap().1, name);
        }
        let (reader, writer) = nix::unistd::pipe().unwrap();
        let (folder, name) = place_of(&Path::new("/proc/self/fd").join(std::os::fd::AsRawFd::as_raw_fd(&writer).to_string())).unwrap();
        io::Write::write_all(&mut folder.special(name).unwrap().unwrap(), b"here").unwrap();
        drop(writer);
        assert_eq!(io::read_to_string(File::from(reader)).unwrap(), "here");
        let (folder, name) = place_of(Path::new("/dev/null")).unwrap();
        assert!(folder.special(name).unwrap().is_some());
        assert!(folder.special("none").unwrap().is_none());
    }

    #[test]
    fn links_of_others_are_refused_wherever_they_lie() {
        if !is_root() {
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path();
        fs::create_dir_all(base.join("victim/below")).unwrap();
        fs::write(base.join("victim/file"), "root's").unwrap();
        symlink(base.join("victim"), base.join("own")).unwrap();
        // A link of root's to a link of another.
        symlink("others", base.join("to-others")).unwrap();
        for (target, link) in [("victim", "others"), ("victim/file", "file-of-others"), ("/dev/null", "null-of-others")] {
            symlink(base.join(target), base.join(link)).unwrap();
            lchown(base.join(link), Some(4711), Some(4711)).unwrap();
        }
        for path in ["others", "others/below", "others/below/..", "to-others", "own/../others", "others/new"] {
            assert!(matches!(Folder::make(&base.join(path), 0o700), Err(FileError::Led(_))), "{path}");
            assert!(matches!(place_of(&base.join(path).join("new")), Err(FileError::Led(_)) | Err(FileError::Io(_))), "{path}");
        }
        for path in ["file-of-others", "null-of-others", "others"] {
            assert!(matches!(place_of(&base.join(path)), Err(FileError::Led(_))), "{path}");
        }
        assert!(!base.join("victim/new").exists());
        // Whoever reads may.
        assert_eq!(inode(&Folder::open(&base.join("others")).unwrap()), fs::metadata(base.join("victim")).unwrap().ino());
        assert!(Folder::make(&base.join("own/new"), 0o700).is_ok());
        // As whom a folder belongs to, his own links are followed and those of third parties are not.
        for (owner, is_led) in [(4711, false), (4712, true)] {
            std::os::unix::fs::chown(base.join("victim"), Some(owner), None).unwrap();
            let folder = Folder::open(&base.join("others")).unwrap().as_owner().unwrap();
            assert_eq!(matches!(folder.check_way(), Err(FileError::Led(_))), is_led, "{owner}");
        }
    }
}

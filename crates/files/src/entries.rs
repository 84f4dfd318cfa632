//! Bounded listings of directories.

use std::collections::BinaryHeap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;

use nix::dir::{Dir, Type};
use nix::fcntl::{AtFlags, OFlag};
use nix::sys::stat::{Mode, SFlag};

use crate::Folder;
use crate::way::kind;

/// Kind of a directory entry. Links are not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryKind {
    /// A plain file.
    File,
    /// A directory.
    Folder,
    /// A symbolic link.
    Link,
    /// A FIFO, a socket or a device.
    Special,
}

/// An entry of a directory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// Its name.
    pub name: OsString,
    /// What it is.
    pub kind: EntryKind,
}

/// Entries of a directory, at most as many as were asked for.
#[derive(Debug, Default)]
pub struct Entries {
    /// The entries with the smallest names, sorted by name.
    pub entries: Vec<Entry>,
    /// Number of entries that are not listed.
    pub rest: u64,
}

impl Folder {
    /// Lists at most `most` entries, those with the smallest names. The order in which the file
    /// system returns them does not matter, and memory holds no more than these.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub fn entries(&self, most: usize) -> io::Result<Entries> {
        // A descriptor of its own: the read position is shared with copies.
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
        let fd = nix::fcntl::openat(&self.file, ".", flags, Mode::empty())?;
        let mut smallest: BinaryHeap<Entry> = BinaryHeap::new();
        let mut rest = 0;
        for entry in Dir::from_fd(fd)?.iter() {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if matches!(name.as_bytes(), b"." | b"..") {
                continue;
            }
            if smallest.len() >= most {
                rest += 1;
                if smallest.peek().is_none_or(|largest| largest.name.as_os_str() <= name) {
                    continue;
                }
                smallest.pop();
            }
            // An entry that was removed since is none.
            let Some(kind) = self.kind_of(name, entry.file_type())? else { continue };
            smallest.push(Entry { name: name.to_owned(), kind });
        }
        Ok(Entries { entries: smallest.into_sorted_vec(), rest })
    }

    fn kind_of(&self, name: &OsStr, reported: Option<Type>) -> io::Result<Option<EntryKind>> {
        Ok(Some(match reported {
            Some(Type::File) => EntryKind::File,
            Some(Type::Directory) => EntryKind::Folder,
            Some(Type::Symlink) => EntryKind::Link,
            Some(_) => EntryKind::Special,
            // Some file systems do not report kinds.
            None => match nix::sys::stat::fstatat(&self.file, name, AtFlags::AT_SYMLINK_NOFOLLOW) {
                Ok(stat) => match kind(&stat) {
                    SFlag::S_IFREG => EntryKind::File,
                    SFlag::S_IFDIR => EntryKind::Folder,
                    SFlag::S_IFLNK => EntryKind::Link,
                    _ => EntryKind::Special,
                },
                Err(nix::errno::Errno::ENOENT) => return Ok(None),
                Err(error) => return Err(error.into()),
            },
        }))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn the_smallest_names_are_listed_with_their_kinds() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["d", "a", "c", "b"] {
            fs::write(dir.path().join(name), "").unwrap();
        }
        fs::create_dir(dir.path().join(".hidden")).unwrap();
        symlink("/etc", dir.path().join("link")).unwrap();
        nix::unistd::mkfifo(&dir.path().join("pipe"), Mode::from_bits_truncate(0o600)).unwrap();
        let folder = Folder::open(dir.path()).unwrap();
        let listed = |most| {
            let Entries { entries, rest } = folder.entries(most).unwrap();
            let shown = entries.iter().map(|entry| format!("{} {:?}", entry.name.display(), entry.kind));
            (shown.collect::<Vec<_>>().join(", "), rest)
        };
        assert_eq!(listed(3), (".hidden Folder, a File, b File".to_owned(), 4));
        let all = ".hidden Folder, a File, b File, c File, d File, link Link, pipe Special";
        assert_eq!(listed(9), (all.to_owned(), 0));
        assert_eq!(listed(0), (String::new(), 7));
    }
}

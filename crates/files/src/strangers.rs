//! Other users who could replace what lies in a folder.

use std::fmt;
use std::fs::File;
use std::io;
use std::path::PathBuf;

use nix::fcntl::OFlag;
use nix::sys::stat::{FileStat, Mode, fstat};
use nix::unistd::Uid;

use super::Folder;
use crate::access_list::{self, Writer};

/// A user other than the caller and root who could replace a folder's files, or the folder itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stranger {
    /// The owner of the folder or of one above it: that folder, and the owner's user id.
    Owner(PathBuf, u32),
    /// Those who may write a folder that is not sticky: all users.
    Everybody(PathBuf),
    /// Those who may write a folder that is not sticky: a group, and its id.
    Group(PathBuf, u32),
    /// One who may write a folder that is not sticky by its access control list: a user, with its
    /// id, or the name of a user or a group of NFS.
    Listed(PathBuf, String),
}

impl fmt::Display for Stranger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Owner(folder, uid) => write!(f, "{} belongs to the user with the id {uid}", folder.display()),
            Self::Everybody(folder) => write!(f, "all users may write {}", folder.display()),
            Self::Group(folder, gid) => write!(f, "the group with the id {gid} may write {}", folder.display()),
            Self::Listed(folder, who) => {
                write!(f, "the access control list of {} lets {} write it", folder.display(), who)
            }
        }
    }
}

impl Folder {
    /// The first stranger, from the folder upwards to the root of the file system. In a sticky
    /// folder (as `/tmp` is) only the owner of a file, and of the folder, can rename or remove it.
    ///
    /// # Errors
    /// When a folder above cannot be opened.
    pub fn stranger(&self) -> io::Result<Option<Stranger>> {
        let path = self.path().canonicalize().unwrap_or_else(|_| self.path().to_owned());
        let mut names = path.ancestors();
        let mut folder = self.file.try_clone()?;
        let mut stat = fstat(&folder)?;
        loop {
            let here = names.next().unwrap_or(&path).to_owned();
            if let Some(stranger) = stranger_in(here, &stat, &folder)? {
                return Ok(Some(stranger));
            }
            let flags = OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
            let above = File::from(nix::fcntl::openat(&folder, "..", flags, Mode::empty())?);
            let of_above = fstat(&above)?;
            if (of_above.st_dev, of_above.st_ino) == (stat.st_dev, stat.st_ino) {
                return Ok(None);
            }
            (folder, stat) = (above, of_above);
        }
    }
}

fn stranger_in(folder: PathBuf, stat: &FileStat, open: &File) -> io::Result<Option<Stranger>> {
    let sticky = stat.st_mode & 0o1000 != 0;
    let lists = if sticky { None } else { access_list::writers(open)? };
    let own = Uid::effective().as_raw();
    let listed = lists.iter().flatten().find_map(|writer| match writer {
        Writer::User(uid) => (![0, own].contains(uid)).then(|| Stranger::Listed(folder.clone(), format!("the user with the id {uid}"))),
        Writer::Group(gid) => (*gid != 0).then(|| Stranger::Group(folder.clone(), *gid)),
        Writer::OwnGroup => (stat.st_gid != 0).then(|| Stranger::Group(folder.clone(), stat.st_gid)),
        Writer::Named(name) => Some(Stranger::Listed(folder.clone(), name.clone())),
    });
    // With a list the bits of the group are its mask.
    let is_of_group = lists.is_none() && stat.st_mode & 0o020 != 0;
    Ok(if stat.st_uid != 0 && stat.st_uid != own {
        Some(Stranger::Owner(folder, stat.st_uid))
    } else if stat.st_mode & 0o002 != 0 && !sticky {
        Some(Stranger::Everybody(folder))
    } else if is_of_group && !sticky && stat.st_gid != 0 {
        Some(Stranger::Group(folder, stat.st_gid))
    } else {
        listed
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, chown};

    use super::*;

    #[test]
    fn strangers_are_found_here_and_above() {
        let dir = tempfile::tempdir().unwrap();
        let inside = dir.path().join("above/inside");
        fs::create_dir_all(&inside).unwrap();
        let (above, inside) = (dir.path().join("above").canonicalize().unwrap(), inside.canonicalize().unwrap());
        let mode = |folder: &PathBuf, mode| fs::set_permissions(folder, PermissionsExt::from_mode(mode)).unwrap();
        let found = || Folder::open(&inside).unwrap().stranger().unwrap();
        mode(&above, 0o755);
        mode(&inside, 0o755);
        // What is above the test's own folders is not the test's.
        let far = found();
        assert!(!matches!(&far, Some(Stranger::Owner(at, _) | Stranger::Everybody(at)) if at.starts_with(dir.path())), "{far:?}");
        mode(&inside, 0o757);
        assert_eq!(found(), Some(Stranger::Everybody(inside.clone())));
        mode(&inside, 0o1777);
        assert_eq!(found(), far, "sticky");
        mode(&above, 0o777);
        assert_eq!(found(), Some(Stranger::Everybody(above.clone())));
        mode(&above, 0o755);
        if crate::is_root() {
            chown(&above, Some(6001), Some(6001)).unwrap();
            assert_eq!(found(), Some(Stranger::Owner(above.clone(), 6001)));
            chown(&above, Some(0), Some(6001)).unwrap();
            mode(&above, 0o775);
            assert_eq!(found(), Some(Stranger::Group(above.clone(), 6001)));
            chown(&above, Some(0), Some(0)).unwrap();
            mode(&above, 0o755);
            let list = |folder: &PathBuf, mask: u16| {
                let entries: [(u16, u16, u32); 5] =
                    [(1, 7, u32::MAX), (2, 7, 6001), (4, 5, u32::MAX), (16, mask, u32::MAX), (32, 5, u32::MAX)];
                let entry =
                    |(tag, rights, id): (u16, u16, u32)| [&tag.to_le_bytes()[..], &rights.to_le_bytes(), &id.to_le_bytes()].concat();
                let bytes = entries.into_iter().fold(2_u32.to_le_bytes().to_vec(), |list, one| [list, entry(one)].concat());
                let path = std::ffi::CString::new(folder.as_os_str().as_encoded_bytes()).unwrap();
                // SAFETY: two texts with a zero at their ends, and bytes of the length that is given.
                unsafe {
                    nix::libc::setxattr(path.as_ptr(), c"system.posix_acl_access".as_ptr(), bytes.as_ptr().cast(), bytes.len(), 0) == 0
                }
            };
            // Not every file system has lists.
            if list(&above, 7) {
                let who = "the user with the id 6001".to_owned();
                assert_eq!(found(), Some(Stranger::Listed(above.clone(), who)));
                assert!(list(&above, 5));
                assert_eq!(found(), far, "the mask lets nobody write");
            }
        }
    }
}

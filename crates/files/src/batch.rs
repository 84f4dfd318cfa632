//! Several files of one folder, each of which appears whole or not at all.

use std::collections::BTreeSet;
use std::io::{Read, Write};

use nix::fcntl::AtFlags;
use nix::sys::stat::FileStat;
use nix::unistd::Uid;

use super::{ANOTHERS, FileError, Folder, LINKED, NOT_A_FILE, WorkFolder, is_file, one};
use nix::errno::Errno;

/// Above this number of files one syncfs(2) costs less than an fsync(2) of each. Below it, no write
/// of other programs to the same file system is waited for.
const FEW: usize = 64;
/// What the hidden folders of batches are called after.
const PLACE: &str = "batch";

/// Files on their way into a folder.
///
/// They are written into a hidden folder and get their place with [`Batch::publish`], when all of
/// them are on the disk. Without that call they are removed, so that a full disk leaves nothing.
/// What a killed writer leaves goes with the next batch.
///
/// ```
/// use flowmine_files::{Batch, Folder};
///
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path();
/// let mut batch = Batch::new(Folder::open(path)?);
/// batch.add("script.sh", 0o755, b"#!/bin/sh\n")?;
/// assert!(!path.join("script.sh").exists());
/// batch.publish()?;
/// assert!(path.join("script.sh").exists());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Batch {
    folder: Folder,
    /// Where files are until all are on the disk; made for the first one.
    work: Option<WorkFolder>,
    /// The names of the files that wait there.
    waiting: BTreeSet<String>,
}

impl Batch {
    /// A batch without files.
    pub fn new(folder: Folder) -> Self {
        Self { folder, work: None, waiting: BTreeSet::new() }
    }

    /// Writes a file that waits for its place, with these permissions (less the umask). A file of the
    /// caller with that name, content and permissions stays as it is, with its times.
    ///
    /// # Errors
    /// When something has that name which is not a plain file of the caller with one name, or when
    /// the file cannot be written.
    pub fn add(&mut self, name: &str, mode: u32, bytes: &[u8]) -> Result<(), FileError> {
        if let Some(stat) = self.own(name)?
            && stat.st_size == bytes.len() as i64
            && stat.st_mode & 0o777 & !mode == 0
            && stat.st_mode & mode & 0o700 == mode & 0o700
            && self.holds(name, bytes)?
        {
            return Ok(());
        }
        let is_again = !self.waiting.insert(name.to_owned());
        let inside = self.inside()?;
        if is_again {
            inside.remove(name)?;
        }
        Ok(inside.create_new(name, mode)?.write_all(bytes)?)
    }

    /// Gives the files their names, once they are on the disk.
    ///
    /// # Errors
    /// When the disk fails, or a name cannot be taken. Files that have their name by then keep it.
    pub fn publish(mut self) -> Result<(), FileError> {
        let Some(work) = self.work.take() else { return Ok(()) };
        let inside = work.folder();
        if self.waiting.len() > FEW {
            nix::unistd::syncfs(&self.folder.file)?;
        } else {
            self.waiting.iter().try_for_each(|name| Ok::<_, FileError>(inside.read(name)?.sync_all()?))?;
        }
        self.waiting.iter().try_for_each(|name| inside.rename(name, &self.folder, name))?;
        Ok(self.folder.sync()?)
    }

    fn inside(&mut self) -> Result<&Folder, FileError> {
        let work = match self.work.take() {
            Some(work) => work,
            None => self.folder.work_folder(PLACE)?,
        };
        Ok(self.work.insert(work).folder())
    }

    /// The plain file of the caller that has a name.
    fn own(&self, name: &str) -> Result<Option<FileStat>, FileError> {
        let stat = match nix::sys::stat::fstatat(&self.folder.file, one(name)?, AtFlags::AT_SYMLINK_NOFOLLOW) {
            Err(Errno::ENOENT) => return Ok(None),
            other => other?,
        };
        let caller = self.folder.owner.map_or_else(Uid::effective, |(uid, _)| uid);
        match stat {
            _ if !is_file(&stat) => Err(FileError::Foreign(NOT_A_FILE)),
            _ if stat.st_uid != caller.as_raw() => Err(FileError::Foreign(ANOTHERS)),
            _ if stat.st_nlink > 1 => Err(FileError::Foreign(LINKED)),
            _ => Ok(Some(stat)),
        }
    }

    fn holds(&self, name: &str, bytes: &[u8]) -> Result<bool, FileError> {
        let mut content = Vec::with_capacity(bytes.len() + 1);
        self.folder.read(name)?.take(bytes.len() as u64 + 1).read_to_end(&mut content)?;
        Ok(content == bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
    use std::path::Path;

    use super::*;

    fn put(dir: &Path, name: &str, bytes: &[u8]) -> Result<(), FileError> {
        let mut batch = Batch::new(Folder::open(dir)?);
        batch.add(name, 0o755, bytes)?;
        batch.publish()
    }

    #[test]
    fn batches_of_one_folder_do_not_meet() {
        let dir = tempfile::tempdir().unwrap();
        std::thread::scope(|threads| {
            for thread in 0..6 {
                let dir = dir.path();
                threads.spawn(move || (0..150).for_each(|n| put(dir, &format!("{thread}-{n}"), b"one").unwrap()));
            }
        });
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 900);
    }

    #[test]
    fn what_is_there_and_the_same_keeps_its_inode() {
        let dir = tempfile::tempdir().unwrap();
        let inode = || fs::metadata(dir.path().join("s")).unwrap().ino();
        put(dir.path(), "s", b"one").unwrap();
        let first = inode();
        put(dir.path(), "s", b"one").unwrap();
        assert_eq!(inode(), first);
        // Others could have written it, or it cannot be run.
        for mode in [0o777, 0o775, 0o644] {
            fs::set_permissions(dir.path().join("s"), PermissionsExt::from_mode(mode)).unwrap();
            put(dir.path(), "s", b"one").unwrap();
            assert_eq!(fs::metadata(dir.path().join("s")).unwrap().mode() & 0o722, 0o700, "{mode:o}");
        }
        put(dir.path(), "s", b"two").unwrap();
        assert_eq!(fs::read(dir.path().join("s")).unwrap(), b"two");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "no hidden file is left");
    }

    #[test]
    fn what_is_not_the_callers_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("victim"), "theirs").unwrap();
        symlink("victim", at("link")).unwrap();
        symlink("nowhere", at("dangling")).unwrap();
        fs::hard_link(at("victim"), at("twice")).unwrap();
        fs::create_dir(at("folder")).unwrap();
        nix::unistd::mkfifo(&at("fifo"), nix::sys::stat::Mode::from_bits_truncate(0o600)).unwrap();
        let mut names = vec!["link", "dangling", "twice", "folder", "fifo", "../victim"];
        if crate::is_root() {
            fs::write(at("foreign"), "mine").unwrap();
            chown(at("foreign"), Some(6001), Some(6001)).unwrap();
            names.push("foreign");
        }
        for name in names {
            assert!(matches!(put(dir.path(), name, b"mine"), Err(FileError::Foreign(_))), "{name}");
        }
        assert_eq!(fs::read(at("victim")).unwrap(), b"theirs");
        assert!(!at("nowhere").exists());
    }

    #[test]
    fn nothing_is_left_of_a_batch_that_is_given_up() {
        let dir = tempfile::tempdir().unwrap();
        let mut batch = Batch::new(Folder::open(dir.path()).unwrap());
        batch.add("a", 0o755, b"one").unwrap();
        fs::create_dir(dir.path().join("b")).unwrap();
        assert!(batch.add("b", 0o755, b"two").is_err());
        drop(batch);
        let left: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["b"]);
    }

    #[test]
    fn what_a_killed_batch_leaves_goes_with_the_next() {
        let dir = tempfile::tempdir().unwrap();
        let left = dir.path().join(".batch.flowmine-0.tmp");
        fs::create_dir(&left).unwrap();
        fs::write(left.join(".lock"), "").unwrap();
        fs::write(left.join("s"), "half").unwrap();
        let mut living = Batch::new(Folder::open(dir.path()).unwrap());
        living.add("other", 0o755, b"one").unwrap();
        put(dir.path(), "s", b"whole").unwrap();
        living.publish().unwrap();
        let mut names: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["other", "s"]);
        assert_eq!(fs::read(dir.path().join("s")).unwrap(), b"whole");
    }

    #[test]
    fn many_files_appear_too() {
        let dir = tempfile::tempdir().unwrap();
        let mut batch = Batch::new(Folder::open(dir.path()).unwrap());
        (0..2 * FEW).for_each(|n| batch.add(&n.to_string(), 0o755, b"one").unwrap());
        assert!(fs::read_dir(dir.path()).unwrap().all(|entry| entry.unwrap().file_name().to_string_lossy().starts_with('.')));
        batch.publish().unwrap();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2 * FEW);
        assert!(dir.path().join("0").is_file());
    }
}

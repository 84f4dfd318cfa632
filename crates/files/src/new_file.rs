//! A file that appears when it is complete.
//!
//! Where the file system can (`O_TMPFILE` of open(2)), it has no name while it is written, and the
//! kernel removes it with its writer. Elsewhere, as on NFS, it has a hidden name next to its place,
//! and its writer holds a lock on it (flock(2)). The next writer of the same place removes hidden
//! files of the same owner with a free lock: their writers were killed.

use std::ffi::{OsStr, OsString};
use std::fs::{File, TryLockError};
use std::io::{self, Seek, Write};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;

use nix::fcntl::{AT_FDCWD, AtFlags, OFlag};
use nix::sys::stat::Mode;

use crate::{FileError, Folder, hidden_name, one};

/// A file that is being written, and appears when it is complete.
///
/// Dropped before [`NewFile::replace`] or [`NewFile::add`], it leaves nothing.
#[derive(Debug)]
pub struct NewFile {
    file: File,
    folder: Folder,
    name: OsString,
    mode: u32,
    /// `None` while it has no name at all.
    hidden: Option<OsString>,
}

impl Folder {
    /// Begins a file that is to have this name, with these permissions (less the umask).
    ///
    /// # Errors
    /// When no file can be made here.
    pub fn new_file(&self, name: impl AsRef<OsStr>, mode: u32) -> Result<NewFile, FileError> {
        let name = one(&name)?.to_owned();
        let (file, hidden) = match self.nameless(mode) {
            Some(file) => (file, None),
            None => self.hidden_file(&name, mode).map(|(file, hidden)| (file, Some(hidden)))?,
        };
        Ok(NewFile { file, folder: self.try_clone()?, name, mode, hidden })
    }

    /// A file without a name; nothing where it could not be given one later.
    fn nameless(&self, mode: u32) -> Option<File> {
        let flags = OFlag::O_TMPFILE | OFlag::O_RDWR | OFlag::O_CLOEXEC;
        let _as_owner = self.act();
        let file = File::from(nix::fcntl::openat(&self.file, ".", flags, Mode::from_bits_truncate(mode)).ok()?);
        // Without /proc it cannot be linked. The lock is for the moment in which it has a hidden name.
        let can_be_linked = nix::sys::stat::stat(&*by_descriptor(&file)).is_ok_and(|stat| stat.st_nlink == 0);
        let _ = file.try_lock();
        can_be_linked.then_some(file)
    }

    /// A locked file under a hidden name for the place of another.
    fn hidden_file(&self, name: &OsStr, mode: u32) -> Result<(File, OsString), FileError> {
        self.in_hidden_place(name, |hidden| {
            let file = self.create_new(hidden, mode)?;
            let _ = file.try_lock();
            // Another writer may have removed it, as it was not locked yet.
            let is_there = nix::sys::stat::fstat(&file)?.st_nlink > 0;
            if is_there { Ok(file) } else { Err(FileError::Io(io::ErrorKind::AlreadyExists.into())) }
        })
    }

    /// Makes something under the first hidden name of a place that is free, and frees those that
    /// killed writers hold.
    pub(crate) fn in_hidden_place<T>(
        &self,
        name: &OsStr,
        make: impl Fn(&OsStr) -> Result<T, FileError>,
    ) -> Result<(T, OsString), FileError> {
        let places: Vec<OsString> = (0..HIDDEN_PLACES).map(|number| hidden_place(name, number)).collect();
        for hidden in &places {
            self.free(hidden);
        }
        // Who wants to keep us out can take all the names that he knows.
        for hidden in places.into_iter().chain([OsString::from(hidden_name())]) {
            match make(&hidden) {
                Err(error) if error.is_already_there() => {}
                other => return other.map(|made| (made, hidden)),
            }
        }
        Err(FileError::Io(io::ErrorKind::AlreadyExists.into()))
    }

    /// Removes what a killed writer left under a hidden name. What is not certain to be that stays.
    fn free(&self, hidden: &OsStr) {
        let is_left = |file: &File, stat: &nix::sys::stat::FileStat| {
            stat.st_uid == self.acting_user().as_raw() && stat.st_nlink == 1 && file.try_lock().is_ok()
        };
        if let Ok((file, stat)) = self.plain(hidden, OFlag::O_RDWR, Mode::empty()) {
            if is_left(&file, &stat) {
                let _ = self.remove(hidden);
            }
        } else if let Ok(folder) = self.folder(hidden)
            && nix::sys::stat::fstat(&folder.file).is_ok_and(|stat| stat.st_uid == self.acting_user().as_raw())
        {
            match folder.plain(LOCK, OFlag::O_RDWR, Mode::empty()) {
                Ok((lock, stat)) if is_left(&lock, &stat) => folder.clear(),
                // Killed before it locked anything: there is nothing in it, or it is none of ours.
                _ => {}
            }
            let _ = self.remove_folder(hidden);
        }
    }
}

impl NewFile {
    /// Gives the file its name once its bytes are on the disk, and replaces the file of that name.
    ///
    /// # Errors
    /// When the disk or the file system refuses; then nothing has changed.
    pub fn replace(mut self) -> Result<(), FileError> {
        self.file.sync_all()?;
        if self.hidden.is_none() {
            match self.link(&self.name) {
                Ok(()) => return Ok(self.folder.sync()?),
                Err(error) if error.is_already_there() => match self.folder.in_hidden_place(&self.name, |name| self.link(name)) {
                    Ok(((), hidden)) => self.hidden = Some(hidden),
                    Err(_) => self.copy()?,
                },
                Err(_) => self.copy()?,
            }
        }
        self.rename()
    }

    /// Gives the file its name once its bytes are on the disk, unless something has that name.
    ///
    /// # Errors
    /// When something has that name ([`FileError::is_already_there`]), or the disk refuses.
    pub fn add(mut self) -> Result<(), FileError> {
        self.file.sync_all()?;
        let linked = match &self.hidden {
            None => self.link(&self.name),
            Some(hidden) => self.folder.link(hidden, &self.name),
        };
        match linked {
            Ok(()) => return Ok(self.folder.sync()?),
            Err(error) if error.is_already_there() => return Err(error),
            Err(_) => {}
        }
        // The file system has no hard links, as exFAT.
        if self.folder.id_of(&self.name)?.is_some() {
            return Err(FileError::Io(io::ErrorKind::AlreadyExists.into()));
        }
        if self.hidden.is_none() {
            self.copy()?;
        }
        self.rename()
    }

    /// Gives the file without a name a name that is free.
    fn link(&self, name: &OsStr) -> Result<(), FileError> {
        let _as_owner = self.folder.act();
        let from = by_descriptor(&self.file);
        Ok(nix::unistd::linkat(AT_FDCWD, &*from, &self.folder.file, name, AtFlags::AT_SYMLINK_FOLLOW)?)
    }

    /// Copies the file into one with a hidden name, where the file system gives it none.
    fn copy(&mut self) -> Result<(), FileError> {
        let (mut file, hidden) = self.folder.hidden_file(&self.name, self.mode)?;
        self.hidden = Some(hidden);
        self.file.rewind()?;
        io::copy(&mut self.file, &mut file)?;
        self.file = file;
        Ok(self.file.sync_all()?)
    }

    fn rename(&mut self) -> Result<(), FileError> {
        if let Some(hidden) = &self.hidden {
            self.folder.rename(hidden, &self.folder, &self.name)?;
            self.hidden = None;
        }
        Ok(self.folder.sync()?)
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if let Some(hidden) = &self.hidden {
            let _ = self.folder.remove(hidden);
        }
    }
}

/// A hidden folder for the parts of a result; it goes with its contents when it is dropped.
#[derive(Debug)]
pub struct WorkFolder {
    folder: Folder,
    above: Folder,
    name: OsString,
    _lock: File,
}

impl Folder {
    /// Makes a hidden folder for the parts of the result of this name, for the caller alone.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn work_folder(&self, name: impl AsRef<OsStr>) -> Result<WorkFolder, FileError> {
        // Until its lock is held another writer may take the folder for one that was left, and remove it.
        let taken = || FileError::Io(io::ErrorKind::AlreadyExists.into());
        let make = |hidden: &OsStr| {
            let (folder, is_new) = self.make_folder(hidden, 0o700)?;
            let lock = if is_new { folder.create_new(LOCK, 0o600)? } else { return Err(taken()) };
            let is_ours = !matches!(lock.try_lock(), Err(TryLockError::WouldBlock));
            let is_there = nix::sys::stat::fstat(&lock)?.st_nlink > 0;
            if is_ours && is_there { Ok((folder, lock)) } else { Err(taken()) }
        };
        let ((folder, lock), name) = self.in_hidden_place(one(&name)?, |hidden| match make(hidden) {
            Err(error) if error.is_not_found() => Err(taken()),
            other => other,
        })?;
        Ok(WorkFolder { folder, above: self.try_clone()?, name, _lock: lock })
    }

    /// Removes the files that are in it.
    fn clear(&self) {
        for name in self.names().unwrap_or_default() {
            let _ = self.remove(name);
        }
    }
}

impl WorkFolder {
    /// The folder itself.
    pub fn folder(&self) -> &Folder {
        &self.folder
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        self.folder.clear();
        let _ = self.above.remove_folder(&self.name);
    }
}

/// The name of a descriptor of ours that linkat(2) takes without privileges.
fn by_descriptor(file: &File) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

/// A hidden name for what is to have this name, such as `.log.xes.flowmine-0.tmp`.
fn hidden_place(name: &OsStr, number: u32) -> OsString {
    let name = String::from_utf8_lossy(name.as_bytes());
    // File systems take 255 bytes.
    let end = name.char_indices().map(|(at, _)| at).take_while(|&at| at <= 200).last().unwrap_or(0);
    let short = if name.len() <= 200 { &*name } else { &name[..end] };
    format!(".{short}.flowmine-{number}.tmp").into()
}

/// Number of writers of one place whose hidden files are found again.
const HIDDEN_PLACES: u32 = 8;

/// The file that is locked as long as a [`WorkFolder`] is used.
const LOCK: &str = ".lock";

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    /// As on a file system without `O_TMPFILE`.
    fn with_hidden_name(folder: &Folder, name: &str) -> NewFile {
        let (file, hidden) = folder.hidden_file(OsStr::new(name), 0o644).unwrap();
        NewFile { file, folder: folder.try_clone().unwrap(), name: name.into(), mode: 0o644, hidden: Some(hidden) }
    }

    fn both(folder: &Folder, name: &str) -> [NewFile; 2] {
        let nameless = folder.new_file(name, 0o644).unwrap();
        assert_eq!(nameless.hidden, None, "tests need a temporary directory with O_TMPFILE");
        [nameless, with_hidden_name(folder, name)]
    }

    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_appears_whole_or_not_at_all() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::open(dir.path()).unwrap();
        for way in 0..2 {
            let begin = |text: &str| {
                let [nameless, hidden] = both(&folder, "log");
                let mut file = if way == 0 { nameless } else { hidden };
                file.write_all(text.as_bytes()).unwrap();
                file
            };
            drop(begin("half"));
            assert!(names(dir.path()).is_empty());
            begin("first").add().unwrap();
            assert!(begin("second").add().unwrap_err().is_already_there());
            assert_eq!(fs::read_to_string(dir.path().join("log")).unwrap(), "first");
            begin("third").replace().unwrap();
            assert_eq!(fs::read_to_string(dir.path().join("log")).unwrap(), "third");
            assert_eq!(names(dir.path()), ["log"]);
            fs::remove_file(dir.path().join("log")).unwrap();
            // A folder is not replaced.
            fs::create_dir(dir.path().join("log")).unwrap();
            assert!(begin("fourth").replace().is_err());
            assert_eq!(names(dir.path()), ["log"]);
            fs::remove_dir(dir.path().join("log")).unwrap();
        }
    }

    #[test]
    fn a_file_that_cannot_be_linked_is_copied() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::open(dir.path()).unwrap();
        let mut file = folder.new_file("log", 0o644).unwrap();
        file.write_all(b"all of it").unwrap();
        file.copy().unwrap();
        assert_eq!(names(dir.path()), [".log.flowmine-0.tmp"]);
        file.replace().unwrap();
        assert_eq!(fs::read_to_string(dir.path().join("log")).unwrap(), "all of it");
    }

    #[test]
    fn the_next_writer_removes_what_killed_ones_left_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::open(dir.path()).unwrap();
        let living = with_hidden_name(&folder, "log");
        // Killed: the lock is free.
        fs::write(dir.path().join(".log.flowmine-1.tmp"), "half").unwrap();
        fs::create_dir(dir.path().join(".log.flowmine-2.tmp")).unwrap();
        fs::write(dir.path().join(".log.flowmine-2.tmp/.lock"), "").unwrap();
        fs::write(dir.path().join(".log.flowmine-2.tmp/part"), "half").unwrap();
        // Not ours: another place, a link, a second name of a file, a folder with other things.
        fs::write(dir.path().join(".other.flowmine-1.tmp"), "").unwrap();
        fs::write(dir.path().join("mine"), "precious").unwrap();
        std::os::unix::fs::symlink("mine", dir.path().join(".log.flowmine-3.tmp")).unwrap();
        fs::hard_link(dir.path().join("mine"), dir.path().join(".log.flowmine-4.tmp")).unwrap();
        fs::create_dir(dir.path().join(".log.flowmine-5.tmp")).unwrap();
        fs::write(dir.path().join(".log.flowmine-5.tmp/mine"), "precious").unwrap();
        let next = with_hidden_name(&folder, "log");
        let expected = [
            ".log.flowmine-0.tmp",
            ".log.flowmine-1.tmp",
            ".log.flowmine-3.tmp",
            ".log.flowmine-4.tmp",
            ".log.flowmine-5.tmp",
            ".other.flowmine-1.tmp",
            "mine",
        ];
        assert_eq!(names(dir.path()), expected);
        assert_eq!(next.hidden.as_deref(), Some(OsStr::new(".log.flowmine-1.tmp")));
        assert_eq!(fs::read_to_string(dir.path().join(".log.flowmine-5.tmp/mine")).unwrap(), "precious");
        living.replace().unwrap();
        drop(next);
        assert_eq!(names(dir.path()), [&expected[2..6], &["log", "mine"]].concat());
    }

    #[test]
    fn a_work_folder_goes_with_its_parts() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::open(dir.path()).unwrap();
        let work = folder.work_folder("log").unwrap();
        work.folder().create_new("part", 0o600).unwrap();
        assert_eq!(names(dir.path()), [".log.flowmine-0.tmp"]);
        let second = folder.work_folder("log").unwrap();
        assert_eq!(names(dir.path()).len(), 2, "that of a living writer stays");
        drop((work, second));
        assert!(names(dir.path()).is_empty());
    }

    #[test]
    fn long_names_have_hidden_ones() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::open(dir.path()).unwrap();
        for name in ["ä".repeat(127), "x".repeat(255)] {
            with_hidden_name(&folder, &name).replace().unwrap();
            assert_eq!(names(dir.path()), [name.as_str()]);
            fs::remove_file(dir.path().join(name)).unwrap();
        }
    }
}

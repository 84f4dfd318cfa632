//! Files and folders as the operating system has them: what may be followed, what has to be synced, how a lock is taken.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;
use std::time::Duration;

use super::Access;
use super::error::{DatasetError, io_error};

/// Refuses what is not a plain file, without following a symbolic link. Nothing there is fine.
pub(super) fn plain_file(path: &Path) -> Result<(), DatasetError> {
    plain(path, fs::FileType::is_file, "it is not a plain file")
}

/// Refuses what is not a folder, likewise.
pub(super) fn plain_folder(path: &Path) -> Result<(), DatasetError> {
    plain(path, fs::FileType::is_dir, "it is not a folder")
}

fn plain(path: &Path, wanted: impl Fn(&fs::FileType) -> bool, why: &'static str) -> Result<(), DatasetError> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if wanted(&metadata.file_type()) => Ok(()),
        Ok(_) => Err(DatasetError::Foreign { path: path.to_owned(), why }),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(e) => Err(io_error(path)(e)),
    }
}

/// Takes a lock, or gives up after a while.
pub(super) fn try_lock(lock: &File, wait: Duration) -> Result<(), TryLockError> {
    let step = Duration::from_millis(10);
    let mut waited = Duration::ZERO;
    while waited < wait {
        match lock.try_lock() {
            Err(TryLockError::WouldBlock) => std::thread::sleep(step),
            other => return other,
        }
        waited += step;
    }
    lock.try_lock()
}

pub(super) fn write_synced(access: Access, path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let mut file = access.options().write(true).create_new(true).open(path)?;
    write(&mut file)?;
    file.sync_all()
}

pub(super) fn sync_dir(dir: &Path) -> Result<(), DatasetError> {
    File::open(dir).and_then(|file| file.sync_all()).map_err(io_error(dir))
}

//! How a file is written for good, and how a lock is taken.

use std::fs::{File, TryLockError};
use std::io::{self, Read};
use std::time::Duration;

use flowmine_files::{FileError, Folder};

/// A file of JSON. Lists of a million imported files are smaller than this.
pub(crate) fn read_small(file: File) -> io::Result<Vec<u8>> {
    const LARGEST: u64 = 256 << 20;
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "it has more than 256 MiB: flowmine writes no such file"));
    }
    Ok(bytes)
}

/// Takes a lock, or gives up after a while.
pub(crate) fn try_lock(lock: &File, wait: Duration) -> Result<(), TryLockError> {
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

/// Makes a file that was not there, and waits until it is on the disk.
pub(crate) fn write_synced(
    folder: &Folder,
    name: &str,
    mode: u32,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<(), FileError> {
    let mut file = folder.create_new(name, mode)?;
    write(&mut file)?;
    Ok(file.sync_all()?)
}

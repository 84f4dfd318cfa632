//! Directories on file systems with generations of inodes, such as ext4, XFS and Btrfs: without them
//! a deleted file and a new one with its number are the same file to a tracer, also in exact sums.
//! Overlays and tmpfs have none.

use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use tempfile::TempDir;

use super::require::require;

/// A temporary directory with generations: in the target directory, or else where the system has
/// its temporary files. Without one the test is reported as not run, or fails where
/// `FLOWMINE_REQUIRE` holds `generations`.
pub fn directory() -> Option<TempDir> {
    static PLACE: OnceLock<Option<PathBuf>> = OnceLock::new();
    let find = || {
        let places = [PathBuf::from(env!("CARGO_TARGET_TMPDIR")), std::env::temp_dir(), "/var/tmp".into()];
        places.into_iter().find(|place| has_generations(place))
    };
    let place = PLACE.get_or_init(find);
    let needs = "a directory on a file system with generations of inodes (ext4, XFS, Btrfs): the target directory, TMPDIR or /var/tmp";
    if !require("generations", needs, place.is_some()) {
        return None;
    }
    Some(tempfile::tempdir_in(place.as_ref()?).expect("a file was made there"))
}

/// Whether the file system of a directory gives the generation of a new file.
fn has_generations(place: &Path) -> bool {
    let Ok(file) = tempfile::tempfile_in(place) else { return false };
    let mut generation = [0u32; 2];
    // SAFETY: the buffer is larger than what any file system writes (an int or a long).
    unsafe { libc::ioctl(file.as_raw_fd(), libc::FS_IOC_GETVERSION as _, generation.as_mut_ptr()) == 0 }
}

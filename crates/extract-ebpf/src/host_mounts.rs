//! The host's mounts, to find where it has a file of a container, also when the container is gone
//! by the time that its records are read.

use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use flowmine_trace::proc::mounts::{Mount, MountTable, kind_of_path, places};

/// Maximum number of known mounts, including removed ones.
const KNOWN: usize = 65_536;

/// Mounts as the host sees them, and those that it saw.
#[derive(Debug)]
pub struct HostMounts {
    table: MountTable,
    /// As they are, then those that are gone, unless their device number is another file system's
    /// by now.
    known: Vec<Mount>,
}

impl HostMounts {
    /// Those of the host; `proc` is `/proc`.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn read(proc: &Path) -> std::io::Result<Self> {
        let mut table = MountTable::of_host(proc)?;
        let known = table.mounts().to_vec();
        Ok(HostMounts { table, known })
    }

    /// To be called when POLLPRI came for its descriptor.
    pub fn changed(&mut self) {
        self.table.read_again();
        self.learn();
    }

    fn look(&mut self) {
        if self.table.changed() {
            self.learn();
        }
    }

    fn learn(&mut self) {
        let now = self.table.last().to_vec();
        let devices: std::collections::HashSet<u64> = now.iter().map(|mount| mount.device).collect();
        let gone = std::mem::replace(&mut self.known, now).into_iter().filter(|mount| !devices.contains(&mount.device));
        self.known.extend(gone);
        self.known.truncate(KNOWN);
    }

    /// Where the host has, or had, a path within a file system.
    pub fn place(&mut self, device: u64, inside: &[u8]) -> Option<Vec<u8>> {
        self.look();
        places(&self.known, device, inside).into_iter().next()
    }

    /// The type of the file system on which a path lies.
    pub fn kind_of_path(&mut self, path: &[u8]) -> Option<&str> {
        self.look();
        kind_of_path(self.table.last(), path)
    }
}

impl AsFd for HostMounts {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.table.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file instead of `/proc/1/mountinfo`: it reports no changes by itself.
    #[test]
    fn what_is_gone_is_known_until_its_number_is_used_again() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("1")).unwrap();
        let write = |text: &str| std::fs::write(dir.path().join("1/mountinfo"), text).unwrap();
        let (root, first) = ("1 0 8:1 / / rw - ext4 a rw\n", "2 1 0:50 / /c/first rw - overlay overlay rw\n");
        write(&format!("{root}{first}"));
        let mut mounts = HostMounts::read(dir.path()).unwrap();
        let device = libc::makedev(0, 50);
        let mut after = |text: &str| {
            write(text);
            mounts.changed();
            let place = mounts.place(device, b"/f");
            (place.map(|path| String::from_utf8(path).unwrap()), mounts.kind_of_path(b"/c/first/f").map(str::to_owned))
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(after(root), (some("/c/first/f"), some("ext4")));
        assert_eq!(after(&format!("{root}3 1 0:50 / /c/second rw - overlay overlay rw\n")), (some("/c/second/f"), some("ext4")));
        assert_eq!(after(&format!("{root}3 1 0:50 /only /c/second rw - overlay overlay rw\n")), (None, some("ext4")));
    }
}

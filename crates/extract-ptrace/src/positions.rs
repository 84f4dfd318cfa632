//! Positions of open files, as `/proc/PID/fdinfo/FD` gives them (proc_pid_fdinfo(5)).

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use flowmine_files::kernel;
use flowmine_trace::proc::fdinfo::FdInfo;
use rustc_hash::FxHashMap;

use crate::descriptors::TableId;

/// Open `fdinfo` files, which are read again and again. What they say is always of the descriptor
/// as it is now.
#[derive(Debug, Default)]
pub(crate) struct Positions {
    files: FxHashMap<(TableId, i32), File>,
}

/// Maximum number of `fdinfo` files that are kept open.
const KEPT: usize = 128;

impl Positions {
    /// What a descriptor is now; `path` is its `fdinfo`.
    pub(crate) fn read(&mut self, table: TableId, fd: i32, path: impl FnOnce() -> PathBuf) -> Option<FdInfo> {
        let mut buffer = [0; 256];
        let key = (table, fd);
        if let Some(file) = self.files.get(&key) {
            // The thread by which it was opened may be gone, while others still have the table.
            if let Some(info) = file.read_at(&mut buffer, 0).ok().and_then(|count| FdInfo::parse(&buffer[..count])) {
                return Some(info);
            }
        }
        let file = kernel::open(path()).ok()?;
        let count = file.read_at(&mut buffer, 0).ok()?;
        if self.files.len() >= KEPT {
            self.files.clear();
        }
        self.files.insert(key, file);
        FdInfo::parse(&buffer[..count])
    }
}

//! Open files and directories: one for each open file description of the command, with a descriptor
//! of ours on the file underneath.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use flowmine_trace::record::{FileKey, Op, ProcessKey, Sum, Totals};
use rustc_hash::FxHashMap;

use crate::nodes::Node;
use crate::open_files::OpenFile;
use crate::room::Held;
use crate::system::Errno;

/// An open file description of the overlay (open(2)).
#[derive(Debug)]
pub(crate) struct Handle {
    pub(crate) id: u64,
    open: Arc<OpenFile>,
    pub(crate) node: Arc<Node>,
    pub(crate) file: FileKey,
    /// Whether its operations become rows.
    pub(crate) recorded: bool,
    /// Whether its reads and writes come to us as the program does them, not through the page
    /// cache.
    pub(crate) direct: bool,
    pub(crate) append: AtomicBool,
    pub(crate) directory: Mutex<Directory>,
    totals: Mutex<FxHashMap<ProcessKey, Totals>>,
}

/// How far a directory has been read.
#[derive(Debug, Default)]
pub(crate) struct Directory {
    /// The records that the last getdents64(2) gave.
    pub(crate) entries: Vec<u8>,
    /// From here on it has not been handed out.
    pub(crate) at: usize,
    /// The offset in the directory that goes with `at`, as getdents64(2) gave it.
    pub(crate) offset: u64,
}

impl Handle {
    pub(crate) fn new(id: u64, open: Arc<OpenFile>, node: Arc<Node>, file: FileKey, recorded: bool, append: bool) -> Self {
        let append = AtomicBool::new(append);
        Handle { id, open, node, file, recorded, direct: false, append, directory: Mutex::default(), totals: Mutex::default() }
    }

    /// A descriptor on the file underneath.
    ///
    /// # Errors
    /// Those of [`OpenFile::fd`].
    pub(crate) fn fd(&self) -> Result<Arc<Held>, Errno> {
        self.open.fd()
    }

    /// Closes the file underneath, whoever still adds to the sums of the handle.
    pub(crate) fn close(&self) {
        self.open.close();
    }

    /// Adds a read or write, where they are not kept one by one.
    pub(crate) fn add(&self, process: ProcessKey, op: Op, times: (u64, u64), offset: Option<u64>, result: i64) {
        let mut totals = self.totals.lock().unwrap_or_else(PoisonError::into_inner);
        let total = totals.entry(process).or_insert_with(|| Totals {
            process,
            open_file: Some(self.id),
            file: self.file,
            first_boot_ns: times.0,
            last_boot_ns: times.1,
            read: Sum::default(),
            write: Sum::default(),
            faults: 0,
        });
        total.last_boot_ns = total.last_boot_ns.max(times.1);
        let sum = match op {
            Op::Fault => {
                total.faults += 1;
                return;
            }
            Op::Write => &mut total.write,
            _ => &mut total.read,
        };
        sum.calls += 1;
        sum.time_ns += times.1.saturating_sub(times.0);
        match u64::try_from(result) {
            Err(_) => sum.errors += 1,
            Ok(moved) => {
                sum.bytes += moved;
                if let Some(offset) = offset.filter(|_| moved > 0) {
                    let end = offset.saturating_add(moved);
                    sum.range = Some(sum.range.map_or((offset, end), |(from, to)| (from.min(offset), to.max(end))));
                }
            }
        }
    }

    /// Takes what was added up since the last time.
    pub(crate) fn take_totals(&self) -> Vec<Totals> {
        let mut totals: Vec<_> = std::mem::take(&mut *self.totals.lock().unwrap_or_else(PoisonError::into_inner)).into_values().collect();
        totals.sort_by_key(|total| total.first_boot_ns);
        totals
    }
}

/// The open files of an overlay.
#[derive(Debug, Default)]
pub(crate) struct Handles {
    open: RwLock<FxHashMap<u64, Arc<Handle>>>,
}

impl Handles {
    pub(crate) fn get(&self, id: u64) -> Result<Arc<Handle>, Errno> {
        self.open.read().unwrap_or_else(PoisonError::into_inner).get(&id).cloned().ok_or(libc::EBADF)
    }

    pub(crate) fn insert(&self, handle: Arc<Handle>) {
        self.open.write().unwrap_or_else(PoisonError::into_inner).insert(handle.id, handle);
    }

    pub(crate) fn remove(&self, id: u64) -> Option<Arc<Handle>> {
        self.open.write().unwrap_or_else(PoisonError::into_inner).remove(&id)
    }

    pub(crate) fn all(&self) -> Vec<Arc<Handle>> {
        self.open.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }
}

//! What all overlays of a trace share: what is asked for, who asks, where records go.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use flowmine_files::kernel;
use flowmine_trace::options::{Detail, Filters, PSEUDO_FILE_SYSTEMS};
use flowmine_trace::proc::Proc;
use flowmine_trace::proc::memory::Memory;
use flowmine_trace::proc::mounts::{self, Mount};
use flowmine_trace::record::Op;
use rustc_hash::FxHashMap;

use crate::caller::{Thread, Threads};
use crate::identity::{Own, with_own_capabilities};
use crate::lock_table::LockTable;
use crate::nodes::Keeper;
use crate::open_files::OpenFiles;
use crate::process::Processes;
use crate::report::Reporter;
use crate::room::Room;
use crate::root::KIND;
use crate::system;
use crate::wire::InHeader;

/// What all overlays of a trace share.
#[derive(Debug)]
pub(crate) struct Tracer {
    pub(crate) proc: PathBuf,
    pub(crate) own: Arc<Own>,
    pub(crate) room: Arc<Room>,
    pub(crate) keeper: Arc<Keeper>,
    pub(crate) files: Arc<OpenFiles>,
    pub(crate) locks: Arc<LockTable>,
    pub(crate) reporter: Reporter,
    pub(crate) threads: Threads,
    pub(crate) processes: Processes,
    pub(crate) detail: Detail,
    pub(crate) filters: Filters,
    pub(crate) next_handle: AtomicU64,
    pub(crate) file_systems: Mutex<FxHashMap<u64, Option<Arc<str>>>>,
    /// Informed when the command has begun.
    pub(crate) overlays: OnceLock<Overlays>,
}

/// In which mount namespace the overlays lie, and which mounts they are.
#[derive(Debug)]
pub(crate) struct Overlays {
    /// The inode of the mount namespace of the command.
    pub(crate) namespace: u64,
    /// Its mounts that are overlays.
    pub(crate) mounts: Vec<Mount>,
}

impl Tracer {
    /// Whether rows of this kind and of this caller are asked for.
    pub(crate) fn wants(&self, op: Op, header: &InHeader) -> bool {
        let filters = &self.filters;
        (filters.ops.is_empty() || filters.ops.contains(&op))
            && (filters.uids.is_empty() || filters.uids.contains(&header.uid))
            && (filters.gids.is_empty() || filters.gids.contains(&header.gid))
    }

    /// Whether the filters by type of file system let a file pass.
    pub(crate) fn wants_file_system(&self, kind: Option<&str>) -> bool {
        let Some(kind) = kind else { return true };
        let is = |list: &[String]| list.iter().any(|name| name == kind);
        if self.filters.file_systems.is_empty() {
            !PSEUDO_FILE_SYSTEMS.contains(&kind) && !is(&self.filters.file_systems_out)
        } else {
            is(&self.filters.file_systems) && !is(&self.filters.file_systems_out)
        }
    }

    /// Whether the filters by directory let a path pass; one that is not known passes.
    pub(crate) fn wants_path(&self, path: Option<&[u8]>) -> bool {
        let Some(path) = path else { return true };
        let path = Path::new(OsStr::from_bytes(path));
        (self.filters.directories.is_empty() || self.filters.directories.iter().any(|directory| path.starts_with(directory)))
            && !self.filters.directories_out.iter().any(|directory| path.starts_with(directory))
    }

    /// How many processes are in the mount namespace of the overlays.
    pub(crate) fn in_namespace(&self) -> usize {
        let Some(overlays) = self.overlays.get() else { return 0 };
        let Ok(names) = kernel::names(&self.proc) else { return 0 };
        let numbered = |name: &&OsString| name.as_bytes().iter().all(u8::is_ascii_digit);
        let is_in = |name: &&OsString| {
            let namespace = self.proc.join(name).join("ns/mnt");
            std::fs::metadata(namespace).is_ok_and(|namespace| namespace.ino() == overlays.namespace)
        };
        names.iter().filter(numbered).filter(is_in).count()
    }

    /// What a thread has in memory that waits for us.
    pub(crate) fn memory(&self, tid: u32) -> Memory {
        Memory::of_caller(&Proc::at(&self.proc), tid)
    }

    /// Where a link of a thread in `/proc` points, as we see it.
    pub(crate) fn link(&self, tid: u32, what: &str) -> Option<Vec<u8>> {
        let target = with_own_capabilities(|| std::fs::read_link(self.proc.join(format!("{tid}/{what}")))).ok()?;
        Some(target.into_os_string().into_vec())
    }

    fn mounts(&self, tid: u32) -> Option<Vec<Mount>> {
        Some(mounts::parse(&with_own_capabilities(|| kernel::read(self.proc.join(format!("{tid}/mountinfo")))).ok()?))
    }

    fn namespace(&self, tid: u32) -> Option<u64> {
        with_own_capabilities(|| std::fs::metadata(self.proc.join(format!("{tid}/ns/mnt")))).ok().map(|namespace| namespace.ino())
    }

    /// Looks where the overlays lie for the command.
    pub(crate) fn find_overlays(&self, pid: u32) {
        if let (Some(namespace), Some(mut mounts)) = (self.namespace(pid), self.mounts(pid)) {
            mounts.retain(|mount| mount.kind.as_bytes() == KIND.to_bytes());
            // The command begins once.
            let _ = self.overlays.set(Overlays { namespace, mounts });
        }
    }

    /// A path as a thread with another root or other mounts sees it; `None` if it is the same.
    pub(crate) fn seen_by(&self, thread: &Thread, path: Option<&[u8]>) -> Option<Vec<u8>> {
        let path = path?;
        let root = self.link(thread.tid, "root")?;
        if root != b"/" {
            return mounts::below(&root, path).filter(|rest| !rest.is_empty()).map(<[u8]>::to_vec);
        }
        let overlays = self.overlays.get()?;
        if self.namespace(thread.tid)? == overlays.namespace {
            return None;
        }
        let seen = mounts::elsewhere(&overlays.mounts, &self.mounts(thread.tid)?, None, path).into_iter().next();
        seen.filter(|seen| seen != path)
    }

    /// The type of the file system that a descriptor is on.
    pub(crate) fn file_system(&self, device: u64, fd: i32) -> Option<Arc<str>> {
        let mut known = self.file_systems.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(device).or_insert_with(|| with_own_capabilities(|| system::file_system(&self.proc, fd))).clone()
    }
}

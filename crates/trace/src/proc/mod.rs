//! What `/proc` says of processes (proc(5)): facts, counters, open files, mounts. For all
//! backends.
//!
//! In: a root folder, `/proc` or one of a test, and numbers of processes or threads. Out: values
//! with units; `None` where the kernel does not say, where the process is gone, or where we may
//! not look. The text is that of other users' processes: nothing in it is trusted, and no reader
//! panics on it.

pub mod facts;
pub mod fdinfo;
pub mod files;
pub mod memory;
pub mod mounts;
pub mod paths;
pub mod places;
pub mod stat;
mod text;

use std::ffi::CString;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::record::ProcessKey;
use text::{LONGEST, read_up_to};

/// A mounted `/proc`.
#[derive(Debug, Clone)]
pub struct Proc {
    root: PathBuf,
    tick_ns: u64,
}

impl Proc {
    /// The `/proc` of this machine.
    pub fn here() -> Self {
        Self::at(Path::new("/proc"))
    }

    /// Another folder that looks like `/proc`.
    pub fn at(root: &Path) -> Self {
        // SAFETY: sysconf(3) takes a number and has no effect.
        let hertz = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
        let hertz = u64::try_from(hertz).ok().filter(|hertz| *hertz > 0).unwrap_or(100);
        Self { root: root.to_owned(), tick_ns: 1_000_000_000 / hertz }
    }

    /// The folder where `/proc` is.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// How exact times in `/proc/PID/stat` are, in nanoseconds.
    pub fn tick_ns(&self) -> u64 {
        self.tick_ns
    }

    /// The path of something of a process or thread.
    pub fn path(&self, pid: u32, what: &str) -> PathBuf {
        let mut path = self.root.join(pid.to_string());
        path.push(what);
        path
    }

    /// The same path, zero-terminated for a system call.
    pub fn c_path(&self, pid: u32, what: &str) -> CString {
        let mut path = Vec::with_capacity(40 + what.len());
        path.extend_from_slice(self.root.as_os_str().as_bytes());
        path.extend_from_slice(format!("/{pid}/{what}").as_bytes());
        // The root comes from us and has no zero byte; should it have one, nothing is found there.
        CString::new(path).unwrap_or_default()
    }

    /// A whole file of a process.
    pub fn read(&self, pid: u32, what: &str) -> Option<Vec<u8>> {
        read_up_to(&self.path(pid, what), LONGEST)
    }

    /// Where a link of a process points, as we see it.
    pub fn link(&self, pid: u32, what: &str) -> Option<Vec<u8>> {
        fs::read_link(self.path(pid, what)).ok().map(|target| target.into_os_string().into_vec())
    }

    /// Reads `/proc/PID/stat` (proc_pid_stat(5)).
    pub fn stat(&self, pid: u32) -> Option<stat::Stat> {
        stat::Stat::parse(&self.read(pid, "stat")?, self.tick_ns)
    }

    /// Reads `/proc/PID/status` (proc_pid_status(5)).
    pub fn status(&self, pid: u32) -> Option<stat::Status> {
        Some(stat::Status::parse(&self.read(pid, "status")?))
    }

    /// The key of a process: its number and start time. The time is a multiple of
    /// [`Proc::tick_ns`], rounded down.
    pub fn key(&self, pid: u32) -> Option<ProcessKey> {
        self.stat(pid).map(|stat| ProcessKey { pid, start_boot_ns: stat.start_boot_ns })
    }

    /// Numbers of the processes that exist now.
    pub fn pids(&self) -> Vec<u32> {
        numbers(&self.root)
    }

    /// The open descriptors of a process, in order.
    pub fn descriptors(&self, pid: u32) -> Vec<u32> {
        numbers(&self.path(pid, "fd"))
    }
}

/// The entries of a folder that are numbers, in order.
fn numbers(dir: &Path) -> Vec<u32> {
    let Ok(names) = flowmine_files::kernel::names(dir) else { return Vec::new() };
    let mut numbers: Vec<u32> = names.iter().filter_map(|name| name.to_str()?.parse().ok()).collect();
    numbers.sort_unstable();
    numbers
}

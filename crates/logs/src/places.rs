//! Where processes are among the processes of a dataset.

use flowmine_activity_log::{Interner, NONE};
use rustc_hash::FxHashMap;

/// One generation of a process number on a host: its start after boot or, where that is not known,
/// its start.
pub(crate) type Key = (u32, i32, i64);

pub(crate) fn key(host: u32, pid: i32, after_boot: Option<i64>, started: Option<i64>) -> Key {
    (host, pid, after_boot.or(started).unwrap_or(i64::MIN))
}

/// Where processes are among [`Processes::rows`](flowmine_activity_log::Processes).
pub struct Places {
    pub(crate) hosts: Interner,
    pub(crate) place: FxHashMap<Key, u32>,
    /// When the generations of each process number were forked, in order, for sources that report
    /// operations by number alone.
    pub(crate) forks: FxHashMap<(u32, i32), Vec<(i64, u32)>>,
}

impl Places {
    /// The number of a host, if processes ran on it.
    pub fn host(&self, name: &str) -> Option<u32> {
        self.hosts.find(name)
    }

    /// The process with this number that did something at a moment, by its start after boot or,
    /// where that is not known, the last that was forked; [`NONE`] when it is not known.
    pub fn find(&self, host: u32, pid: i32, start: Option<i64>, at_ns: i64) -> u32 {
        let found = match start {
            Some(start) => self.place.get(&(host, pid, start)).copied(),
            None => self.forks.get(&(host, pid)).and_then(|of| {
                let last = of.partition_point(|(forked, _)| *forked <= at_ns).checked_sub(1)?;
                Some(of[last].1)
            }),
        };
        found.unwrap_or(NONE)
    }
}

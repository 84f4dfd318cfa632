//! Time and memory that tasks need, from the numbers of rows in the dataset's files.
//!
//! The rates are those of `docs/performance.md` for a release build, and a factor covers slower
//! machines and file systems. An estimate that is too low ends a job; one that is too high only lets
//! it wait longer.

use std::collections::BTreeMap;

use flowmine_dataset::Dataset;
use flowmine_schema::row::Row;
use flowmine_schema::tables::{IoEvent, IoTotal, JobState, Process, TaskRun, TracedFile};

use crate::error::Result;

/// Operations that are attributed in a second: 10⁸ take 31.8 s.
const OPERATIONS_PER_S: u64 = 3_000_000;
/// Rows of jobs that are read in a second: 5.1 million take 13 s.
const JOB_ROWS_PER_S: u64 = 400_000;
/// Rows of `task_io` that are merged in a second.
const MERGED_ROWS_PER_S: u64 = 60_000;
/// Factor for slower machines and file systems.
const SAFETY: u64 = 4;
/// Time for which is asked at least, in minutes.
const LEAST_MINUTES: u64 = 5;
/// Memory for which is asked at least, in mebibytes.
const LEAST_MEBIBYTES: u64 = 512;
/// Memory of a row of jobs, of a task attempt and of a process, in bytes.
const JOB_ROW_BYTES: u64 = 60;
const TASK_BYTES: u64 = 2048;
const PROCESS_BYTES: u64 = 64;
/// Memory of an owner while hosts are merged, in bytes.
const OWNER_BYTES: u64 = 1024;

/// Numbers of rows of a dataset.
pub(super) struct Estimate {
    /// Operations, processes and files of each host.
    hosts: BTreeMap<String, [u64; 3]>,
    job_rows: u64,
    tasks: u64,
}

/// Time and memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Need {
    pub(super) minutes: u64,
    pub(super) mebibytes: u64,
}

/// The needs of the largest task, and of the merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Needs {
    pub(super) task: Need,
    pub(super) merge: Need,
}

impl Need {
    fn new(seconds: u64, bytes: u64) -> Self {
        Self {
            minutes: seconds.saturating_mul(SAFETY).div_ceil(60).saturating_add(1).max(LEAST_MINUTES),
            mebibytes: bytes.saturating_mul(2).div_ceil(1 << 20).saturating_add(256).max(LEAST_MEBIBYTES),
        }
    }
}

impl Estimate {
    /// Counts the rows; only footers are read.
    pub(super) fn new(dataset: &Dataset, hosts: &[String]) -> Result<Self> {
        let mut rows: BTreeMap<String, [u64; 3]> = hosts.iter().map(|host| (host.clone(), [0; 3])).collect();
        add::<IoEvent<'static>>(dataset, 0, &mut rows)?;
        add::<IoTotal<'static>>(dataset, 0, &mut rows)?;
        add::<Process<'static>>(dataset, 1, &mut rows)?;
        add::<TracedFile<'static>>(dataset, 2, &mut rows)?;
        Ok(Self { hosts: rows, job_rows: dataset.row_count::<JobState<'static>>()?, tasks: dataset.row_count::<TaskRun<'static>>()? })
    }

    fn weight([operations, processes, files]: &[u64; 3]) -> u64 {
        operations.saturating_add(*processes).saturating_add(*files)
    }

    /// Shares of the hosts, at most this number, of about the same size: the largest host first, to
    /// the share that is smallest then.
    pub(super) fn shares(&self, most: usize) -> Vec<Vec<String>> {
        let mut hosts: Vec<(&String, u64)> = self.hosts.iter().map(|(host, rows)| (host, Self::weight(rows))).collect();
        hosts.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        let mut shares: Vec<(u64, Vec<String>)> = vec![(0, Vec::new()); most.clamp(1, hosts.len().max(1))];
        for (host, weight) in hosts {
            if let Some(share) = shares.iter_mut().min_by_key(|share| share.0) {
                // A host without rows counts too.
                share.0 = share.0.saturating_add(weight).saturating_add(1);
                share.1.push(host.clone());
            }
        }
        let mut shares: Vec<Vec<String>> = shares.into_iter().map(|(_, hosts)| hosts).collect();
        shares.iter_mut().for_each(|hosts| hosts.sort());
        shares.sort();
        shares
    }

    /// What the largest of these tasks and the merge need.
    pub(super) fn needs(&self, shares: &[Vec<String>]) -> Needs {
        let jobs_s = self.job_rows / JOB_ROWS_PER_S;
        let shared_bytes = self.job_rows.saturating_mul(JOB_ROW_BYTES).saturating_add(self.tasks.saturating_mul(TASK_BYTES));
        let rows = |host: &String| self.hosts.get(host).copied().unwrap_or_default();
        let of_share = |share: &Vec<String>| {
            let operations: u64 = share.iter().map(|host| rows(host)[0]).sum();
            let processes = share.iter().map(|host| rows(host)[1]).max().unwrap_or(0);
            Need::new(
                jobs_s.saturating_add(operations / OPERATIONS_PER_S),
                shared_bytes.saturating_add(processes.saturating_mul(PROCESS_BYTES)),
            )
        };
        let largest = |a: Need, b: Need| Need { minutes: a.minutes.max(b.minutes), mebibytes: a.mebibytes.max(b.mebibytes) };
        let task = shares.iter().map(of_share).fold(Need::new(0, 0), largest);
        let (processes, files) = self.hosts.values().fold((0u64, 0u64), |(processes, files), of| (processes + of[1], files + of[2]));
        let merged = processes.saturating_add(files);
        let merge = Need::new(
            jobs_s.saturating_add(merged / MERGED_ROWS_PER_S),
            shared_bytes.saturating_add(processes.saturating_mul(OWNER_BYTES)),
        );
        Needs { task, merge }
    }
}

/// Adds the number of rows that a table has of each host.
fn add<R: Row>(dataset: &Dataset, column: usize, rows: &mut BTreeMap<String, [u64; 3]>) -> Result<()> {
    for leaf in dataset.leaves::<R>()? {
        let Some(of_host) = leaf.host().and_then(|host| rows.get_mut(host)) else { continue };
        for part in dataset.leaf_parts(&leaf)? {
            of_host[column] = of_host[column].saturating_add(part.rows()?);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(hosts: &[(&str, u64)]) -> Estimate {
        let hosts = hosts.iter().map(|(host, operations)| ((*host).to_owned(), [*operations, 1000, 10])).collect();
        Estimate { hosts, job_rows: 5_100_000, tasks: 1000 }
    }

    #[test]
    fn shares_are_of_about_the_same_size() {
        let estimate = estimate(&[("a", 10), ("b", 50), ("c", 20), ("d", 25)]);
        assert_eq!(estimate.shares(2), [vec!["a", "b"], vec!["c", "d"]]);
        assert_eq!(estimate.shares(1), [vec!["a", "b", "c", "d"]]);
        // No share is empty.
        assert_eq!(estimate.shares(100).len(), 4);
    }

    #[test]
    fn needs_grow_with_the_largest_task() {
        let small = estimate(&[("a", 10), ("b", 10)]);
        let large = estimate(&[("a", 10), ("b", 10_000_000_000)]);
        let needs = |estimate: &Estimate| estimate.needs(&estimate.shares(2));
        assert_eq!(needs(&small).task, Need { minutes: 5, mebibytes: 844 });
        // 3333 s and 12 s for the jobs, four times, and a minute.
        assert_eq!(needs(&large).task.minutes, 224);
        assert_eq!(needs(&large).merge, needs(&small).merge);
    }
}

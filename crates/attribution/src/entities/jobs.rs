//! Attempts at Slurm jobs, found by their raw id.

use std::sync::Arc;

use flowmine_schema::time::SECOND_NS;
use flowmine_slurm::host_list;
use rustc_hash::{FxHashMap, FxHashSet};

/// Largest difference between Slurm's clock and a host's; times of Slurm are whole seconds. It
/// separates attempts, and ids that are used again.
const SLACK_NS: i64 = 5 * SECOND_NS;

/// Maximum number of nodes of a host list that are compared.
const MOST_NODES: usize = 100_000;

/// A host's name without its domain, in small letters.
fn short(host: &str) -> String {
    host.split('.').next().unwrap_or_default().to_ascii_lowercase()
}

/// An attempt at a job.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownJob {
    /// Name of the Slurm cluster.
    pub cluster: String,
    /// The job's id as Slurm prints it, such as `8_3`.
    pub job: String,
    /// Slurm's raw job id.
    pub job_id: i64,
    /// Submit time, UTC nanoseconds since 1970.
    pub submit_ns: Option<i64>,
    /// When it was submitted or first seen, in nanoseconds since 1970.
    pub since_ns: i64,
    /// When the attempt started, UTC nanoseconds since 1970.
    pub start_ns: Option<i64>,
    /// When the attempt ended, UTC nanoseconds since 1970.
    pub ended_ns: Option<i64>,
    /// The name of its user.
    pub user: Option<Box<str>>,
    /// The nodes on which it ran, as Slurm's host list.
    pub node_list: Option<Arc<str>>,
}

/// All attempts at jobs, to be looked up by raw job id.
#[derive(Debug, Default)]
pub struct KnownJobs {
    all: Vec<KnownJob>,
    by_id: FxHashMap<i64, Vec<u32>>,
    /// The host lists that were seen, each expanded once.
    lists: FxHashSet<Arc<str>>,
    /// Slurm's names of nodes, in small letters and without domains.
    nodes: FxHashSet<String>,
}

impl KnownJobs {
    /// Takes an attempt, as Slurm reports it. Those at the same job come in the order in which
    /// they were made.
    pub fn add(&mut self, mut job: KnownJob) {
        self.by_id.entry(job.job_id).or_default().push(self.all.len() as u32);
        if let Some(list) = &mut job.node_list {
            if let Some(known) = self.lists.get(list) {
                *list = known.clone();
            } else {
                self.lists.insert(list.clone());
                self.nodes.extend(host_list::expand(list, MOST_NODES).into_iter().flatten().map(|name| short(&name)));
            }
        }
        self.all.push(job);
    }

    /// Whether a job ran on other nodes than this host, which Slurm calls a node. A machine can
    /// have another name there (`NodeHostname` of slurm.conf(5)): then nothing is known.
    pub fn ran_elsewhere(&self, job: &KnownJob, host: &str) -> bool {
        let host = short(host);
        let Some(list) = job.node_list.as_deref().filter(|_| self.nodes.contains(&host)) else { return false };
        host_list::expand(list, MOST_NODES).is_ok_and(|names| !names.iter().any(|name| short(name) == host))
    }

    /// The attempt with this number, a place in the list of all attempts.
    pub fn get(&self, at: u32) -> &KnownJob {
        &self.all[at as usize]
    }

    /// The attempts that a raw id can mean: at that moment, and on that cluster when it is known.
    /// Nearly always one or none.
    pub fn find(&self, job_id: i64, cluster: Option<&str>, at_ns: Option<i64>) -> Vec<u32> {
        let Some(all) = self.by_id.get(&job_id) else { return Vec::new() };
        let of_cluster = |at: &&u32| cluster.is_none_or(|cluster| self.get(**at).cluster == cluster);
        let mut found: Vec<u32> = all.iter().filter(of_cluster).copied().collect();
        if let Some(ns) = at_ns {
            found.retain(|at| {
                let job = self.get(*at);
                job.start_ns.unwrap_or(job.since_ns).saturating_sub(SLACK_NS) <= ns
                    && job.ended_ns.is_none_or(|end| ns <= end.saturating_add(SLACK_NS))
            });
            // Within the slack of two attempts at one job: the later one that had begun, as the earlier one was over.
            if let [first, .., last] = found[..]
                && self.get(first).cluster == self.get(last).cluster
            {
                found = vec![last];
            }
        }
        found
    }

    /// The attempts of which a claim can speak, the closer ones before all others: at that moment,
    /// at any time, and on other clusters than the one that is named.
    pub fn meant(&self, job_id: i64, cluster: Option<&str>, at_ns: Option<i64>) -> Vec<u32> {
        let ways = [(cluster, at_ns), (cluster, None), (None, at_ns), (None, None)];
        ways.into_iter().map(|(cluster, at_ns)| self.find(job_id, cluster, at_ns)).find(|found| !found.is_empty()).unwrap_or_default()
    }

    /// The attempts with a raw id, on any cluster, that were waiting or running at a moment.
    pub fn there_at(&self, job_id: i64, ns: i64) -> Vec<u32> {
        let there = |at: &u32| {
            let job = self.get(*at);
            job.since_ns - SLACK_NS <= ns && job.ended_ns.is_none_or(|end| ns <= end.saturating_add(SLACK_NS))
        };
        self.by_id.get(&job_id).into_iter().flatten().copied().filter(there).collect()
    }
}

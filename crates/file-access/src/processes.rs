//! Owners of the processes that used a file, by the links that `flowmine correlate` wrote.

use flowmine_attribution::AttributionError;
use flowmine_dataset::Dataset;
use flowmine_schema::tables::{Link, Process};
use rustc_hash::FxHashMap;

use super::Owner;

flowmine_schema::columns! {
    /// When a process was forked, and its control group.
    struct Fork of Process { pid, process_start_ns, started_ns, cgroup_id }
}

/// The start of a process that the source does not report (`io-csv`).
const UNTOLD: i64 = i64::MIN;

/// Known properties of one generation of a process number.
#[derive(Debug, Default)]
struct Generation {
    started_ns: Option<i64>,
    cgroup_id: Option<i64>,
    owner: Option<Owner>,
    container: Option<String>,
}

/// The processes of one host that used the file.
#[derive(Debug, Default)]
pub struct Processes {
    /// By number and start; if the start is unknown, by the time of the fork.
    known: FxHashMap<(i32, i64), Generation>,
    /// Fork times of the generations of each number without known starts, in order.
    forks: FxHashMap<i32, Vec<i64>>,
}

impl Processes {
    /// Adds a process that used the file.
    pub fn add(&mut self, pid: i32, start_ns: Option<i64>) {
        match start_ns {
            Some(start) => {
                self.known.entry((pid, start)).or_default();
            }
            None => {
                self.forks.entry(pid).or_default();
            }
        }
    }

    /// Reads `processes` and `links`.
    ///
    /// # Errors
    /// When the dataset cannot be read.
    pub fn find_owners(&mut self, dataset: &Dataset, host: &str) -> Result<(), AttributionError> {
        dataset.read_host::<Fork<'static>, AttributionError>(host, |row| {
            let key = match (row.process_start_ns, self.forks.get_mut(&row.pid)) {
                (Some(start), _) if self.known.contains_key(&(row.pid, start)) => (row.pid, start),
                (None, Some(forks)) => {
                    let forked = row.started_ns.unwrap_or(UNTOLD);
                    forks.push(forked);
                    (row.pid, forked)
                }
                _ => return Ok(()),
            };
            let generation = self.known.entry(key).or_default();
            generation.started_ns = row.started_ns;
            generation.cgroup_id = row.cgroup_id;
            Ok(())
        })?;
        self.forks.values_mut().for_each(|forks| forks.sort_unstable());
        self.read_links(dataset, host)
    }

    fn read_links(&mut self, dataset: &Dataset, host: &str) -> Result<(), AttributionError> {
        let mut by_link: FxHashMap<(i32, Option<i64>), (i32, i64)> = FxHashMap::default();
        for (key, generation) in &self.known {
            by_link.insert((key.0, generation.started_ns), *key);
        }
        // Containers and control groups that belong to a task as a whole.
        let mut groups: FxHashMap<(bool, String), String> = FxHashMap::default();
        dataset.read::<Link<'static>, AttributionError>(|link| {
            if link.source_scope != host || link.relation != "belongs-to" {
                return Ok(());
            }
            let target = link.target.to_string();
            match &*link.source_type {
                kind @ ("container" | "cgroup") if link.target_type == "task" => {
                    groups.insert((kind == "container", link.source.to_string()), target);
                }
                "process" => {
                    let key = link.source.parse().ok().and_then(|pid| by_link.get(&(pid, link.source_ns)));
                    let Some(generation) = key.and_then(|key| self.known.get_mut(key)) else { return Ok(()) };
                    if link.target_type == "container" {
                        generation.container = Some(target.clone());
                    }
                    let owner = match &*link.target_type {
                        "task" => Owner::Task(target),
                        "job" => Owner::Job { cluster: link.target_scope.to_string(), job: target },
                        // The job, a dot, the step.
                        "step" => Owner::Job {
                            cluster: link.target_scope.to_string(),
                            job: target.split('.').next().unwrap_or_default().to_owned(),
                        },
                        "pod" => Owner::Pod(target),
                        "container" => Owner::Container(target),
                        _ => return Ok(()),
                    };
                    // The order of the variants is from the most to the least specific.
                    generation.owner = Some(generation.owner.take().map_or_else(|| owner.clone(), |known| known.min(owner.clone())));
                }
                _ => {}
            }
            Ok(())
        })?;
        for generation in self.known.values_mut().filter(|generation| !matches!(generation.owner, Some(Owner::Task(_)))) {
            let group = match (&generation.container, generation.cgroup_id) {
                (Some(container), _) => (true, container.clone()),
                (None, Some(cgroup)) => (false, cgroup.to_string()),
                (None, None) => continue,
            };
            if let Some(task) = groups.get(&group) {
                generation.owner = Some(Owner::Task(task.clone()));
            }
        }
        Ok(())
    }

    /// Returns the owner of an operation of a process at a moment.
    pub fn owner(&self, pid: i32, start_ns: Option<i64>, at_ns: i64) -> Owner {
        let start = start_ns.or_else(|| {
            // The generation that was forked last has the operations.
            let forks = self.forks.get(&pid)?;
            forks.get(forks.partition_point(|forked| *forked <= at_ns).checked_sub(1)?).copied()
        });
        let generation = start.and_then(|start| self.known.get(&(pid, start)));
        generation.and_then(|generation| generation.owner.clone()).unwrap_or(Owner::Nobody)
    }
}

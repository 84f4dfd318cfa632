//! Processes with rates that depend on each other: users of a shared resource that stream to each
//! other, or that use several shared resources.
//!
//! The rate of a process depends on the shared resources that it uses and on the writers of its
//! streams. The division of a shared resource depends on its users. A strongly connected component
//! of this graph is a *cluster* if it has more than one shared resource or a stream inside. The
//! rates of a cluster are solved together (`analysis/division.rs`). All other shared resources are
//! divided one by one.

use crate::check::{Process, Shared, Supply, Workflow};

/// Straight pieces that replace a curved piece, where the number of pieces allows it.
const CUTS: usize = 256;
/// Most straight pieces that replace the curves of one function.
const MAX_CUTS: usize = 1 << 16;

/// Numbers the clusters and enters each one's number at its processes and shared resources.
/// Returns the shared resources of each cluster.
pub(crate) fn find_clusters(processes: &mut [Process], shared: &mut [Shared]) -> Vec<Vec<usize>> {
    if shared.is_empty() {
        return Vec::new();
    }
    let component = components(processes, shared);
    let (of_processes, of_shared) = component.split_at(processes.len());
    let count = component.iter().max().map_or(0, |last| last + 1);
    let mut pools = vec![Vec::new(); count];
    of_shared.iter().enumerate().for_each(|(pool, of)| pools[*of].push(pool));
    let mut coupled: Vec<bool> = pools.iter().map(|pools| pools.len() > 1).collect();
    for (at, process) in processes.iter().enumerate() {
        if process.writers().any(|writer| of_processes[writer] == of_processes[at]) {
            coupled[of_processes[at]] = true;
        }
    }
    let mut clusters = Vec::new();
    let mut number = vec![None; count];
    for (of, pools) in pools.into_iter().enumerate().filter(|(of, _)| coupled[*of]) {
        number[of] = Some(clusters.len());
        clusters.push(pools);
    }
    processes.iter_mut().zip(of_processes).for_each(|(process, of)| process.cluster = number[*of]);
    shared.iter_mut().zip(of_shared).for_each(|(shared, of)| shared.cluster = number[*of]);
    clusters
}

/// The strongly connected component of each process and then of each shared resource (Tarjan's
/// algorithm without recursion).
fn components(processes: &[Process], shared: &[Shared]) -> Vec<usize> {
    let n = processes.len();
    let successors = |node: usize| -> Vec<usize> {
        match processes.get(node) {
            Some(process) => process.uses.iter().map(|(pool, _)| n + pool).chain(process.writers()).collect(),
            None => shared[node - n].users.iter().map(|user| user.process).collect(),
        }
    };
    const NEW: usize = usize::MAX;
    let nodes = n + shared.len();
    let (mut seen, mut low) = (vec![NEW; nodes], vec![0; nodes]);
    let mut component = vec![NEW; nodes];
    let (mut count, mut clock) = (0, 0);
    let mut open = Vec::new();
    for root in 0..nodes {
        if seen[root] != NEW {
            continue;
        }
        let mut path = vec![(root, successors(root))];
        (seen[root], low[root]) = (clock, clock);
        clock += 1;
        open.push(root);
        while let Some((node, rest)) = path.last_mut() {
            let node = *node;
            match rest.pop() {
                Some(next) if seen[next] == NEW => {
                    (seen[next], low[next]) = (clock, clock);
                    clock += 1;
                    open.push(next);
                    path.push((next, successors(next)));
                }
                Some(next) if component[next] == NEW => low[node] = low[node].min(seen[next]),
                Some(_) => {}
                None => {
                    path.pop();
                    if let Some((parent, _)) = path.last() {
                        low[*parent] = low[*parent].min(low[node]);
                    }
                    if low[node] == seen[node] {
                        while let Some(member) = open.pop() {
                            component[member] = count;
                            if member == node {
                                break;
                            }
                        }
                        count += 1;
                    }
                }
            }
        }
    }
    component
}

impl Process {
    /// The processes with output that this one reads as it is written.
    pub(crate) fn writers(&self) -> impl Iterator<Item = usize> {
        self.data.iter().filter_map(|data| match data.supply {
            Supply::Stream { process, .. } => Some(process),
            _ => None,
        })
    }
}

impl Workflow {
    /// Replaces curves by straight pieces in the streams inside a cluster. There the rate of the
    /// reader in relation to the writer's has to be constant between events. Records a note for
    /// each function that changes.
    pub(crate) fn straighten_streams(&mut self) -> Option<()> {
        for at in 0..self.processes.len() {
            for input in 0..self.processes[at].data.len() {
                let Supply::Stream { process: writer, output } = self.processes[at].data[input].supply else { continue };
                let cluster = self.processes[at].cluster;
                if cluster.is_none() || cluster != self.processes[writer].cluster {
                    continue;
                }
                let end = self.processes[writer].end;
                let written = &self.processes[writer].outputs[output].written;
                let total = written.at(end);
                if !written.is_linear() {
                    let (straight, error) = written.straightened(end, CUTS, MAX_CUTS)?;
                    self.processes[writer].outputs[output].written = straight;
                    self.processes[writer].find_breaks();
                    self.note_straight(format!("processes[{writer}].outputs[{output}].written"), error);
                }
                let requirement = &self.processes[at].data[input].requirement;
                if !requirement.is_linear() {
                    let (straight, error) = requirement.straightened(total, CUTS, MAX_CUTS)?;
                    self.processes[at].data[input].requirement = straight;
                    self.note_straight(format!("processes[{at}].data[{input}].requirement"), error);
                }
            }
        }
        Some(())
    }

    fn note_straight(&mut self, path: String, error: f64) {
        self.notes.push(format!(
            "{path}: straight pieces replace the curve, because reader and writer share a resource; \
             the difference is at most {error:.1e} of its height"
        ));
    }
}

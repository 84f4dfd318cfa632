//! Dependencies between logical tasks, as declared by workflow engines; no times are needed.
//!
//! In go attempts at tasks, each with the tasks of its run that must end before it; out comes a
//! graph. Its nodes are logical tasks; its edges have the number of times that a task of one waits
//! for a task of the other. Several attempts at a task are one task. Gaps in the engine's records
//! are counted: tasks without a list of parents, and parents without a row.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::Serialize;

use crate::stats::Stats;

/// An attempt at a task.
#[derive(Debug, Clone, Default)]
pub struct Task<'t> {
    /// Name of its run.
    pub run: &'t str,
    /// Its id in the run; attempts with the same id are one task.
    pub id: Option<&'t str>,
    /// Name of its logical task.
    pub logical_task: &'t str,
    /// The ids of the tasks of its run that must end before it; `None` if they are not known.
    pub parents: Option<Vec<String>>,
    /// Time from start to end, in nanoseconds.
    pub run_time_ns: Option<i64>,
}

/// Logical tasks with their dependencies, over all runs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Dag {
    /// Number of runs.
    pub runs: u64,
    /// Number of tasks over all runs; several attempts at a task are one.
    pub tasks: u64,
    /// Number of tasks without declared dependencies.
    pub without_parents: u64,
    /// Number of dependencies on tasks without a row.
    pub unknown_parents: u64,
    /// Logical tasks, by name.
    pub nodes: Vec<Node>,
    /// Dependencies, by the indices of the nodes.
    pub edges: Vec<Edge>,
}

/// A logical task: the common definition of several tasks.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Node {
    /// Name of the logical task.
    pub name: String,
    /// Number of tasks that are instances of it.
    pub tasks: u64,
    /// Number of attempts at these tasks.
    pub attempts: u64,
    /// Time from start to end, in nanoseconds, of the attempts with known times.
    pub run_time_ns: Option<Stats>,
}

/// Dependency of the tasks of one logical task on those of another, or of the same.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Edge {
    /// The logical task that must end first: an index into [`Dag::nodes`].
    pub from: usize,
    /// The logical task that waits for it: an index into [`Dag::nodes`].
    pub to: usize,
    /// Number of pairs of tasks in which the second waits for the first.
    pub dependencies: u64,
    /// Number of tasks of `to` that wait for at least one task of `from`.
    pub waiting: u64,
}

/// Known data of a task so far.
#[derive(Debug, Clone, Copy, Default)]
struct Known {
    /// Its logical task, once its row was read.
    of: Option<u32>,
    has_parents: bool,
}

/// Builder of the graph from attempts in any order. It holds an id for each task and a number for
/// each dependency.
#[derive(Debug, Default)]
pub struct Builder {
    runs: FxHashMap<String, u32>,
    names: BTreeMap<String, u32>,
    nodes: Vec<(u64, u64, Vec<i64>)>,
    ids: FxHashMap<(u32, String), u32>,
    tasks: Vec<Known>,
    waiting: Vec<(u32, Vec<u32>)>,
}

impl Builder {
    /// Adds an attempt at a task; a further attempt with the same run and id is of the same task.
    pub fn add(&mut self, task: &Task<'_>) {
        let next = self.runs.len() as u32;
        let run = *self.runs.entry(task.run.to_owned()).or_insert(next);
        let next = self.names.len() as u32;
        let node = *self.names.entry(task.logical_task.to_owned()).or_insert(next);
        if node == next {
            self.nodes.push((0, 0, Vec::new()));
        }
        let at = match task.id {
            Some(id) => self.place(run, id),
            None => self.new_task(),
        };
        let known = &mut self.tasks[at as usize];
        let (tasks, attempts, times) = &mut self.nodes[node as usize];
        *tasks += u64::from(known.of.is_none());
        *attempts += 1;
        times.extend(task.run_time_ns);
        let of = *known.of.get_or_insert(node);
        if let Some(parents) = task.parents.as_ref().filter(|_| !known.has_parents) {
            known.has_parents = true;
            let parents: BTreeSet<u32> = parents.iter().map(|id| self.place(run, id)).collect();
            self.waiting.push((of, parents.into_iter().collect()));
        }
    }

    fn place(&mut self, run: u32, id: &str) -> u32 {
        if let Some(&at) = self.ids.get(&(run, id.to_owned())) {
            return at;
        }
        let at = self.new_task();
        self.ids.insert((run, id.to_owned()), at);
        at
    }

    fn new_task(&mut self) -> u32 {
        self.tasks.push(Known::default());
        self.tasks.len() as u32 - 1
    }

    /// Returns the graph of all attempts that were added.
    pub fn finish(self) -> Dag {
        let mut found = Dag { runs: self.runs.len() as u64, ..Dag::default() };
        // Nodes are sorted by name; until here their numbers follow their first appearance.
        let mut place = vec![0; self.names.len()];
        let mut rows: Vec<Option<(u64, u64, Vec<i64>)>> = self.nodes.into_iter().map(Some).collect();
        for (name, number) in self.names {
            place[number as usize] = found.nodes.len();
            let (tasks, attempts, mut times) = rows[number as usize].take().unwrap_or_default();
            found.tasks += tasks;
            found.nodes.push(Node { name, tasks, attempts, run_time_ns: Stats::new(&mut times) });
        }
        found.without_parents = self.tasks.iter().filter(|known| known.of.is_some() && !known.has_parents).count() as u64;
        let mut edges: BTreeMap<(usize, usize), (u64, u64)> = BTreeMap::new();
        for (of, parents) in self.waiting {
            let to = place[of as usize];
            let mut from: BTreeMap<usize, u64> = BTreeMap::new();
            for parent in parents {
                match self.tasks[parent as usize].of {
                    Some(of) => *from.entry(place[of as usize]).or_default() += 1,
                    None => found.unknown_parents += 1,
                }
            }
            for (from, count) in from {
                let (dependencies, waiting) = edges.entry((from, to)).or_default();
                *dependencies += count;
                *waiting += 1;
            }
        }
        let edge = |((from, to), (dependencies, waiting))| Edge { from, to, dependencies, waiting };
        found.edges = edges.into_iter().map(edge).collect();
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(builder: &mut Builder, run: &str, id: Option<&str>, logical_task: &str, parents: Option<&[&str]>, run_time_ns: Option<i64>) {
        let parents = parents.map(|parents| parents.iter().map(|id| (*id).to_owned()).collect());
        builder.add(&Task { run, id, logical_task, parents, run_time_ns });
    }

    #[test]
    fn tasks_wait_for_tasks_of_their_run() {
        let mut builder = Builder::default();
        // A child can come before its parents, and an attempt before another.
        add(&mut builder, "r", Some("3"), "merge", Some(&["1", "2", "2"]), Some(7));
        add(&mut builder, "r", Some("1"), "align", Some(&[]), Some(4));
        add(&mut builder, "r", Some("1"), "align", Some(&[]), Some(2));
        add(&mut builder, "r", Some("2"), "align", Some(&["9"]), None);
        add(&mut builder, "s", Some("3"), "merge", Some(&["1"]), None);
        add(&mut builder, "s", None, "align", None, None);
        let found = builder.finish();
        assert_eq!((found.runs, found.tasks, found.without_parents, found.unknown_parents), (2, 5, 1, 2));
        let nodes: Vec<_> = found.nodes.iter().map(|node| (node.name.as_str(), node.tasks, node.attempts)).collect();
        assert_eq!(nodes, [("align", 3, 4), ("merge", 2, 2)]);
        assert_eq!(found.nodes[0].run_time_ns.map(|times| (times.count, times.median)), Some((2, 3.0)));
        assert_eq!(found.edges, [Edge { from: 0, to: 1, dependencies: 2, waiting: 1 }]);
    }

    #[test]
    fn nothing_is_an_empty_graph() {
        assert_eq!(Builder::default().finish(), Dag::default());
    }
}

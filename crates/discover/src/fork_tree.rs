//! Fork tree: processes and their children, with times and bytes, and with equal sub-trees folded.
//!
//! In go processes ([`Processes`]); out comes a tree of programs. Processes with the same parent
//! are one node when they are equal, and their children are folded in the same way, so that a
//! thousand samples are one branch with "× 1000". [`Fold`] defines equality; by default, it is the
//! strictest value that leaves few enough nodes.

use std::collections::BTreeMap;

use flowmine_activity_log::{NONE, ProcessIo, ProcessRow, Processes, elapsed_ns};
use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::Serialize;

pub use crate::fold::Fold;
use crate::stats::Stats;

/// Definition of the processes that are folded into one node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Equality of processes with the same parent: they run the same program and, except with
    /// [`Fold::Name`], have equal descendants. `None`: the strictest of [`Fold::Equal`] and the
    /// coarser ones that has at most `most_nodes`.
    pub fold: Option<Fold>,
    /// Maximum number of nodes of a tree if `fold` is `None`.
    pub most_nodes: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { fold: None, most_nodes: 60 }
    }
}

/// The fork tree of the traced processes, with equal sub-trees folded.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct ProcessTree {
    /// Applied folding.
    pub fold: Fold,
    /// Number of processes in the tree.
    pub processes: u64,
    /// Number of hosts on which they ran.
    pub hosts: u64,
    /// Time from the first start to the last end, in nanoseconds; null if either is not known.
    pub time_ns: Option<i64>,
    /// Number of processes that ran before the trace began and neither forked nor read nor wrote a
    /// file; they are not in the tree.
    pub idle_before: u64,
    /// Number of processes with parents in a cycle; they are not in the tree.
    pub circular: u64,
    /// Number of lost records of forks, programs and ends.
    pub lost: u64,
    /// Nodes, each before its children: depth first, siblings by their first start.
    pub nodes: Vec<Node>,
}

/// Processes that are folded into one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Node {
    /// Node of their parent: an index into [`ProcessTree::nodes`]; null for a root.
    pub parent: Option<u32>,
    /// Distance from the root: 0 for a root.
    pub depth: u32,
    /// Name of the program that they run; null if it is not known.
    pub program: Option<String>,
    /// Whether they continued with the program of their parent.
    pub forked_only: bool,
    /// Number of processes in the node.
    pub processes: u64,
    /// Number of tasks and jobs to which they belong.
    pub owners: u64,
    /// Name of one of these tasks or jobs; null if they belong to none.
    pub owner: Option<String>,
    /// Process number (PID), if there is a single process.
    pub pid: Option<i32>,
    /// Start of the first of them, in nanoseconds since 1970.
    pub started_ns: Option<i64>,
    /// End of the last of them, in nanoseconds since 1970; null while one runs.
    pub ended_ns: Option<i64>,
    /// Times from start to end, in nanoseconds.
    pub time_ns: Option<Stats>,
    /// Sum of their CPU time, in nanoseconds; null if that of one is not known.
    pub cpu_ns: Option<i64>,
    /// Traced bytes that they read from files.
    pub read_bytes: i64,
    /// Traced bytes that they wrote to files.
    pub written_bytes: i64,
    /// Time in these reads and writes, in nanoseconds.
    pub io_ns: i64,
    /// Bytes that they and their descendants read.
    pub all_read_bytes: i64,
    /// Bytes that they and their descendants wrote.
    pub all_written_bytes: i64,
    /// CPU time of them and their descendants, as far as known, in nanoseconds.
    pub all_cpu_ns: i64,
    /// Number that failed: with a nonzero exit code, or by a signal.
    pub failed: u64,
    /// Number that had not ended, or with an unknown end.
    pub without_end: u64,
    /// Intervals in which at least one of them ran, in order and disjoint, in nanoseconds since
    /// 1970. A process without an end counts until the last moment of the trace.
    pub running_ns: Vec<(i64, i64)>,
}

/// Makes the fork tree of processes.
pub fn discover(all: &Processes, options: &Options) -> ProcessTree {
    let (children, _) = all.children();
    let kept: Vec<bool> = all.rows.iter().zip(&children).map(|(row, below)| !(is_idle(row) && below.is_empty())).collect();
    let idle_before = kept.iter().filter(|kept| !**kept).count() as u64;
    let all = &all.only(&kept);
    let (children, roots) = all.children();
    let order = from_roots(&children, &roots);
    let mut found = ProcessTree::default();
    for fold in Fold::candidates(options.fold) {
        found = ProcessTree { fold, nodes: folded(all, &children, &roots, &kinds(all, &children, &order, fold)), ..ProcessTree::default() };
        if found.nodes.len() <= options.most_nodes {
            break;
        }
    }
    let times = |ns: Option<i64>| ns.filter(|_| !order.is_empty());
    let first = order.iter().filter_map(|&at| all.rows[at as usize].started_ns).min();
    let last = order.iter().filter_map(|&at| all.rows[at as usize].ended_ns).max();
    found.processes = order.len() as u64;
    found.hosts = order.iter().map(|&at| all.rows[at as usize].host).collect::<std::collections::BTreeSet<_>>().len() as u64;
    found.time_ns = times(first.zip(last).and_then(|(first, last)| elapsed_ns(first, last)));
    found.idle_before = idle_before;
    found.circular = (all.rows.len() - order.len()) as u64;
    found.lost = all.lost;
    found
}

/// Returns whether the process only existed when the trace began, without further data.
fn is_idle(row: &ProcessRow) -> bool {
    row.was_running && row.io == ProcessIo::default()
}

/// Returns the processes that can be reached from the roots, each after its parent.
fn from_roots(children: &[Vec<u32>], roots: &[u32]) -> Vec<u32> {
    let mut order = roots.to_vec();
    let mut next = 0;
    while let Some(&at) = order.get(next) {
        next += 1;
        order.extend(&children[at as usize]);
    }
    order
}

/// Returns a number for each process: processes with the same parent and number are one node.
fn kinds(all: &Processes, children: &[Vec<u32>], order: &[u32], fold: Fold) -> Vec<u32> {
    let mut kinds: Vec<u32> = (0..all.rows.len() as u32).collect();
    if fold == Fold::Never {
        return kinds;
    }
    let mut numbers: FxHashMap<(u32, bool, Vec<u32>), u32> = FxHashMap::default();
    for &at in order.iter().rev() {
        let mut below: Vec<u32> = match fold {
            Fold::Name | Fold::Never => Vec::new(),
            Fold::Equal | Fold::Alike => children[at as usize].iter().map(|&child| kinds[child as usize]).collect(),
        };
        below.sort_unstable();
        if fold == Fold::Alike {
            below.dedup();
        }
        let row = &all.rows[at as usize];
        let next = numbers.len() as u32;
        kinds[at as usize] = *numbers.entry((row.program, row.forked_only, below)).or_insert(next);
    }
    kinds
}

/// Processes that become a node, with its parent and depth.
struct Open {
    members: Vec<u32>,
    parent: Option<u32>,
    depth: u32,
}

fn folded(all: &Processes, children: &[Vec<u32>], roots: &[u32], kinds: &[u32]) -> Vec<Node> {
    let last_ns = all.rows.iter().filter_map(|row| row.ended_ns.max(row.started_ns)).max().unwrap_or(0);
    let mut nodes: Vec<Node> = Vec::new();
    let mut open = groups(all, roots, kinds, None, 0);
    while let Some(Open { members, parent, depth }) = open.pop() {
        let at = nodes.len() as u32;
        let below: Vec<u32> = members.iter().flat_map(|&member| children[member as usize].iter().copied()).collect();
        nodes.push(Node { running_ns: running(all, &members, last_ns), ..node(all, &members, parent, depth) });
        open.extend(groups(all, &below, kinds, Some(at), depth.saturating_add(1)));
    }
    for at in (0..nodes.len()).rev() {
        let (read, written, cpu) = (nodes[at].all_read_bytes, nodes[at].all_written_bytes, nodes[at].all_cpu_ns);
        if let Some(above) = nodes[at].parent.and_then(|parent| nodes.get_mut(parent as usize)) {
            flowmine_sums::add_to(&mut above.all_read_bytes, read);
            flowmine_sums::add_to(&mut above.all_written_bytes, written);
            flowmine_sums::add_to(&mut above.all_cpu_ns, cpu);
        }
    }
    nodes
}

/// Returns the intervals in which at least one of them ran.
fn running(all: &Processes, members: &[u32], last_ns: i64) -> Vec<(i64, i64)> {
    let times = members.iter().map(|&at| &all.rows[at as usize]);
    let mut times: Vec<(i64, i64)> = times.filter_map(|row| Some((row.started_ns?, row.ended_ns.unwrap_or(last_ns)))).collect();
    times.sort_unstable();
    let mut running: Vec<(i64, i64)> = Vec::new();
    for (from, to) in times {
        match running.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(to),
            _ => running.push((from, to.max(from))),
        }
    }
    running
}

/// Groups the processes of a list by kind; the one that started first is last, because the last is
/// removed first.
fn groups(all: &Processes, list: &[u32], kinds: &[u32], parent: Option<u32>, depth: u32) -> Vec<Open> {
    let mut by_kind: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for &at in list {
        by_kind.entry(kinds[at as usize]).or_default().push(at);
    }
    let mut open: Vec<Open> = by_kind.into_values().map(|members| Open { members, parent, depth }).collect();
    let first = |of: &Open| of.members.iter().map(|&at| (all.rows[at as usize].started_ns, at)).min();
    open.sort_by_key(|of| std::cmp::Reverse(first(of)));
    open
}

fn node(all: &Processes, members: &[u32], parent: Option<u32>, depth: u32) -> Node {
    let mut made = Node { parent, depth, processes: members.len() as u64, ..Node::default() };
    let mut io = ProcessIo::default();
    let mut times = Vec::with_capacity(members.len());
    let mut owners: Vec<u32> = Vec::new();
    let mut cpu_ns = Some(0i64);
    for row in members.iter().map(|&at| &all.rows[at as usize]) {
        io.add(&row.io);
        times.extend(row.time_ns());
        owners.extend(Some(row.owner).filter(|owner| *owner != NONE));
        cpu_ns = cpu_ns.zip(row.cpu_ns).map(|(sum, more)| flowmine_sums::add(sum, more));
        flowmine_sums::add_to(&mut made.all_cpu_ns, row.cpu_ns.unwrap_or(0));
        made.failed += u64::from(row.failed());
        made.without_end += u64::from(row.ended_ns.is_none());
        made.started_ns = [made.started_ns, row.started_ns].into_iter().flatten().min();
        made.ended_ns = made.ended_ns.max(row.ended_ns);
    }
    owners.sort_unstable();
    owners.dedup();
    if let Some(row) = members.first().map(|&at| &all.rows[at as usize]) {
        made.program = (row.program != NONE).then(|| all.programs.get(row.program).to_owned());
        made.forked_only = row.forked_only;
        made.pid = (members.len() == 1).then_some(row.pid);
    }
    made.ended_ns = made.ended_ns.filter(|_| made.without_end == 0);
    made.owner = owners.first().map(|&owner| all.owners.get(owner).to_owned());
    made.owners = owners.len() as u64;
    made.time_ns = Stats::new(&mut times);
    made.cpu_ns = cpu_ns;
    (made.read_bytes, made.written_bytes, made.io_ns) = (io.read_bytes, io.written_bytes, io.time_ns);
    (made.all_read_bytes, made.all_written_bytes) = (io.read_bytes, io.written_bytes);
    made
}

#[cfg(test)]
mod tests {
    use flowmine_activity_log::Names;
    use proptest::prelude::*;

    use super::*;

    /// Makes processes from parents and programs; each starts at its index and runs for 10 ns.
    fn of(rows: &[(u32, u32)]) -> Processes {
        let row = |(at, &(parent, program)): (usize, &(u32, u32))| ProcessRow {
            host: 0,
            pid: at as i32 + 100,
            parent,
            program,
            forked_only: false,
            was_running: false,
            owner: program,
            started_ns: Some(at as i64),
            ended_ns: Some(at as i64 + 10),
            exit_code: Some(i32::from(program == 3)),
            exit_signal: None,
            cpu_ns: Some(2),
            io: ProcessIo { read_bytes: 1, written_bytes: 1 << at.min(40), ..ProcessIo::default() },
        };
        let programs: Names = ["sh", "mProject", "mDiff", "mFit"].iter().collect();
        Processes { rows: rows.iter().enumerate().map(row).collect(), owners: programs.clone(), programs, ..Processes::default() }
    }

    fn words(tree: &ProcessTree) -> Vec<String> {
        let name = |node: &Node| node.program.clone().unwrap_or_default();
        tree.nodes.iter().map(|node| format!("{}{}×{}", " ".repeat(node.depth as usize), name(node), node.processes)).collect()
    }

    /// A shell that runs mProject, and twice a shell that runs mDiff and mFit; then one that runs
    /// mDiff twice.
    const RUN: [(u32, u32); 11] = [(NONE, 0), (0, 1), (0, 0), (2, 2), (2, 3), (0, 0), (5, 2), (5, 3), (0, 0), (8, 2), (8, 2)];

    #[test]
    fn equal_sub_trees_are_one() {
        let tree = |fold| words(&discover(&of(&RUN), &Options { fold: Some(fold), most_nodes: 60 }));
        assert_eq!(tree(Fold::Equal), ["sh×1", " mProject×1", " sh×2", "  mDiff×2", "  mFit×2", " sh×1", "  mDiff×2"]);
        assert_eq!(tree(Fold::Name), ["sh×1", " mProject×1", " sh×3", "  mDiff×4", "  mFit×2"]);
        assert_eq!(tree(Fold::Never).len(), 11);
        let few = discover(&of(&RUN), &Options { fold: None, most_nodes: 5 });
        assert_eq!((few.fold, few.nodes.len()), (Fold::Name, 5));
        assert_eq!(discover(&of(&RUN), &Options::default()).fold, Fold::Equal);
    }

    #[test]
    fn sums_are_those_of_all_below() {
        let tree = discover(&of(&RUN), &Options::default());
        let root = &tree.nodes[0];
        assert_eq!((root.read_bytes, root.all_read_bytes, root.all_written_bytes, root.all_cpu_ns), (1, 11, (1 << 11) - 1, 22));
        assert_eq!((tree.nodes[4].failed, tree.nodes[4].time_ns.map(|times| times.sum)), (2, Some(20)));
        assert_eq!((tree.processes, tree.time_ns), (11, Some(20)));
        assert_eq!((root.running_ns.as_slice(), tree.nodes[4].running_ns.as_slice()), ([(0, 10)].as_slice(), [(4, 17)].as_slice()));
    }

    #[test]
    fn what_ran_before_and_did_nothing_is_counted() {
        let mut all = of(&[(NONE, 0), (0, 1), (NONE, 2)]);
        all.rows[2].was_running = true;
        all.rows[2].io = ProcessIo::default();
        let tree = discover(&all, &Options::default());
        assert_eq!((tree.processes, tree.idle_before, tree.nodes.len()), (2, 1, 2));
    }

    proptest! {
        /// For any parents, including cycles, every process is in one node or counted, and the sums
        /// are complete.
        #[test]
        fn nothing_is_lost(rows in prop::collection::vec((0u32..40, 0u32..4), 0..40), fold in 0usize..4) {
            let all = of(&rows);
            let tree = discover(&all, &Options { fold: Some(Fold::ALL[fold]), most_nodes: 60 });
            prop_assert_eq!(tree.nodes.iter().map(|node| node.processes).sum::<u64>(), tree.processes);
            prop_assert_eq!(tree.processes + tree.circular, rows.len() as u64);
            let roots = tree.nodes.iter().filter(|node| node.parent.is_none());
            prop_assert_eq!(roots.map(|node| node.all_read_bytes).sum::<i64>() as u64, tree.processes);
            for (at, node) in tree.nodes.iter().enumerate() {
                prop_assert!(node.parent.is_none_or(|parent| (parent as usize) < at));
            }
        }
    }

    #[test]
    fn a_chain_of_a_hundred_thousand_forks_ends() {
        let rows: Vec<(u32, u32)> = (0..100_000u32).map(|at| (at.checked_sub(1).unwrap_or(NONE), 0)).collect();
        let tree = discover(&of(&rows), &Options::default());
        assert_eq!((tree.nodes.len(), tree.nodes[99_999].depth), (100_000, 99_999));
    }
}

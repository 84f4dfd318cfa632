//! Network of tasks by the precedence diagramming method: start, end and slack of each.
//!
//! In go edges between numbered tasks and two times for each task: the delay from the end of all
//! its predecessors to its start, and its running time. An edge without a lag leads from an end to
//! a start, one with a lag from a start to a start. Edges in a cycle are left out and counted. All
//! times are nanoseconds from the start of the run; sums saturate at the limits of `i64`.

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

/// Dependency of a task on another, with its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// Number of the predecessor.
    pub from: u32,
    /// Number of the successor.
    pub to: u32,
    /// Whether it was declared, not only observed.
    pub declared: bool,
    /// Confidence of the dependency, in percent; 100 if it is known.
    pub confidence_percent: u8,
    /// Time between the starts for an edge from start to start, in nanoseconds.
    pub lag_ns: Option<i64>,
}

/// Two times of each task, in nanoseconds, by the numbers of tasks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Times {
    /// Time from the end of all its predecessors to its start, in nanoseconds.
    pub before_ns: Vec<i64>,
    /// Time from its start to its end, in nanoseconds.
    pub run_ns: Vec<i64>,
}

/// Tasks with their dependencies.
#[derive(Debug, Clone, Default)]
pub struct Network {
    /// Ordered by successor, edges from ends first.
    edges: Vec<Edge>,
    /// Index of the first edge of each task in `edges`; one more entry than tasks.
    first: Vec<u32>,
    /// Tasks, each after its predecessors.
    order: Vec<u32>,
}

/// Starts and ends of tasks, in nanoseconds from the start of the run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Schedule {
    /// The start of each task.
    pub start_ns: Vec<i64>,
    /// Last wait of each task: the number of an edge. `None`: no wait.
    pub after: Vec<Option<u32>>,
    /// The end of the task that ends last.
    pub end_ns: i64,
    /// Number of the task that ends last; `None` without tasks.
    pub last: Option<u32>,
}

impl Network {
    /// Creates the network of the given number of tasks, and counts the edges that are left out
    /// because they are in a cycle.
    pub fn new(tasks: usize, edges: Vec<Edge>) -> (Self, u64) {
        let network = Self::ordered(tasks, edges);
        if network.order.len() == tasks {
            return (network, 0);
        }
        let before = network.edges.len();
        let circle = circles(tasks, &network.edges);
        let kept = network.edges.into_iter().filter(|edge| circle[edge.from as usize] != circle[edge.to as usize]);
        let network = Self::ordered(tasks, kept.collect());
        let left_out = before - network.edges.len();
        (network, left_out as u64)
    }

    fn ordered(tasks: usize, mut edges: Vec<Edge>) -> Self {
        edges.sort_by_key(|edge| (edge.to, edge.lag_ns.is_some(), edge.from));
        let mut first = vec![0u32; tasks + 1];
        let mut leaving = vec![0u32; tasks + 1];
        for edge in &edges {
            first[edge.to as usize + 1] += 1;
            leaving[edge.from as usize + 1] += 1;
        }
        for at in 0..tasks {
            first[at + 1] += first[at];
            leaving[at + 1] += leaving[at];
        }
        let mut put = leaving.clone();
        let mut followers = vec![0u32; edges.len()];
        for edge in &edges {
            let place = &mut put[edge.from as usize];
            followers[*place as usize] = edge.to;
            *place += 1;
        }
        // Kahn's algorithm: a task follows when all its predecessors are in the order.
        let mut open: Vec<u32> = (0..tasks).map(|at| first[at + 1] - first[at]).collect();
        let mut order: Vec<u32> = (0..tasks as u32).filter(|&at| open[at as usize] == 0).collect();
        let mut next = 0;
        while let Some(&at) = order.get(next) {
            next += 1;
            for &to in &followers[leaving[at as usize] as usize..leaving[at as usize + 1] as usize] {
                open[to as usize] -= 1;
                if open[to as usize] == 0 {
                    order.push(to);
                }
            }
        }
        Self { edges, first, order }
    }

    /// Tasks, each after its predecessors.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// Returns the edge with this number.
    pub fn edge(&self, number: u32) -> Edge {
        self.edges[number as usize]
    }

    /// Returns the edges to a task, from its predecessors.
    pub fn waits_for(&self, task: u32) -> impl Iterator<Item = &Edge> {
        self.numbers(task).map(|at| &self.edges[at])
    }

    fn numbers(&self, task: u32) -> std::ops::Range<usize> {
        self.first[task as usize] as usize..self.first[task as usize + 1] as usize
    }

    /// Computes the earliest start of each task. If several predecessors determine it, an end
    /// precedes a start, then the first task counts.
    pub fn schedule(&self, times: &Times) -> Schedule {
        let tasks = times.run_ns.len();
        let mut made = Schedule { start_ns: vec![0; tasks], after: vec![None; tasks], ..Schedule::default() };
        let mut ends = vec![0i64; tasks];
        for &at in &self.order {
            let place = at as usize;
            let mut start: Option<(i64, u32)> = None;
            for number in self.numbers(at) {
                let edge = &self.edges[number];
                let earliest = match edge.lag_ns {
                    None => ends[edge.from as usize].saturating_add(times.before_ns[place]),
                    Some(lag) => made.start_ns[edge.from as usize].saturating_add(lag),
                };
                if start.is_none_or(|(known, _)| earliest > known) {
                    start = Some((earliest, number as u32));
                }
            }
            let (start_ns, after) = start.map_or((times.before_ns[place], None), |(ns, number)| (ns, Some(number)));
            made.start_ns[place] = start_ns;
            made.after[place] = after;
            ends[place] = start_ns.saturating_add(times.run_ns[place]);
        }
        for (at, &end) in ends.iter().enumerate() {
            if made.last.is_none() || end > made.end_ns {
                made.end_ns = end;
                made.last = Some(at as u32);
            }
        }
        made
    }

    /// Computes how much later each task could end without making the run longer (the total float).
    pub fn slack(&self, times: &Times, schedule: &Schedule) -> Vec<i64> {
        let mut latest: Vec<i64> = vec![schedule.end_ns; times.run_ns.len()];
        for &at in self.order.iter().rev() {
            let latest_start = latest[at as usize].saturating_sub(times.run_ns[at as usize]);
            for number in self.numbers(at) {
                let edge = &self.edges[number];
                let from = edge.from as usize;
                let end = match edge.lag_ns {
                    None => latest_start.saturating_sub(times.before_ns[at as usize]),
                    Some(lag) => latest_start.saturating_sub(lag).saturating_add(times.run_ns[from]),
                };
                latest[from] = latest[from].min(end);
            }
        }
        let end = |at: usize| schedule.start_ns[at].saturating_add(times.run_ns[at]);
        latest.iter().enumerate().map(|(at, latest)| latest.saturating_sub(end(at))).collect()
    }
}

/// Returns a number for each task: those with the same number reach each other.
pub fn circles(tasks: usize, edges: &[Edge]) -> Vec<u32> {
    let pairs = edges.iter().map(|edge| (NodeIndex::<u32>::from(edge.from), NodeIndex::from(edge.to)));
    let mut graph = DiGraph::<(), ()>::with_capacity(tasks, edges.len());
    for _ in 0..tasks {
        graph.add_node(());
    }
    graph.extend_with_edges(pairs);
    let mut number = vec![0; tasks];
    for (at, same) in kosaraju_scc(&graph).into_iter().enumerate() {
        for node in same {
            number[node.index()] = at as u32;
        }
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn edge(from: u32, to: u32, lag_ns: Option<i64>) -> Edge {
        Edge { from, to, declared: true, confidence_percent: 100, lag_ns }
    }

    #[test]
    fn edges_in_circles_are_left_out() {
        let edges = vec![edge(0, 1, None), edge(1, 2, None), edge(2, 1, None), edge(2, 3, None)];
        let (network, left_out) = Network::new(4, edges);
        assert_eq!(left_out, 2);
        let times = Times { before_ns: vec![1; 4], run_ns: vec![10; 4] };
        let made = network.schedule(&times);
        assert_eq!(made.start_ns, [1, 12, 1, 12]);
        assert_eq!(network.slack(&times, &made), [0; 4]);
    }

    #[test]
    fn nothing_is_a_network() {
        let (network, left_out) = Network::new(0, Vec::new());
        assert_eq!((network.schedule(&Times::default()), left_out), (Schedule::default(), 0));
    }

    /// Computes the longest path to the end of a task by trying every path.
    fn longest(at: u32, edges: &[Edge], times: &Times) -> i64 {
        start(at, edges, times) + times.run_ns[at as usize]
    }

    fn start(at: u32, edges: &[Edge], times: &Times) -> i64 {
        let before = times.before_ns[at as usize];
        let of = edges.iter().filter(|edge| edge.to == at).map(|edge| match edge.lag_ns {
            None => longest(edge.from, edges, times) + before,
            Some(lag) => start(edge.from, edges, times) + lag,
        });
        of.max().unwrap_or(before)
    }

    proptest! {
        /// The end is that of the longest of all paths; a task that ends later by at most its slack
        /// does not move it; by more, it does.
        #[test]
        fn a_schedule_is_the_longest_path(
            tasks in 1usize..9,
            picked in prop::collection::vec((0u32..9, 0u32..9, prop::option::of(0i64..30)), 0..16),
            before in prop::collection::vec(0i64..10, 9),
            run in prop::collection::vec(0i64..50, 9),
        ) {
            let count = tasks as u32;
            let mut edges: Vec<Edge> = picked
                .into_iter()
                .map(|(a, b, lag)| edge(a % count, b % count, lag))
                .filter(|edge| edge.from < edge.to)
                .collect();
            edges.sort_by_key(|edge| (edge.from, edge.to));
            edges.dedup_by_key(|edge| (edge.from, edge.to));
            let times = Times { before_ns: before[..tasks].to_vec(), run_ns: run[..tasks].to_vec() };
            let (network, left_out) = Network::new(tasks, edges.clone());
            prop_assert_eq!(left_out, 0);
            let made = network.schedule(&times);
            let wanted = (0..count).map(|at| longest(at, &edges, &times)).max().unwrap_or(0);
            prop_assert_eq!(made.end_ns, wanted);
            let slack = network.slack(&times, &made);
            for (at, &slack) in slack.iter().enumerate() {
                prop_assert!(slack >= 0);
                // Longer without starting later affects only tasks that wait for its end, so the
                // sensitivity is at most that of its slack.
                let mut longer = times.clone();
                longer.run_ns[at] += slack;
                prop_assert_eq!(network.schedule(&longer).end_ns, wanted);
                let mut later = times.clone();
                later.before_ns[at] += slack + 1;
                let waits_for_start = network.waits_for(at as u32).any(|edge| edge.lag_ns.is_some());
                if !waits_for_start {
                    prop_assert_eq!(network.schedule(&later).end_ns, wanted + 1);
                }
            }
        }

        /// For any edges, including cycles, every task has a time, and the last edge of each is one
        /// of its own.
        #[test]
        fn circles_end(picked in prop::collection::vec((0u32..12, 0u32..12, prop::option::of(0i64..5)), 0..60)) {
            let edges: Vec<Edge> = picked.into_iter().map(|(a, b, lag)| edge(a, b, lag)).collect();
            let (network, left_out) = Network::new(12, edges.clone());
            prop_assert_eq!(network.order.len(), 12);
            prop_assert_eq!(network.edges.len() as u64 + left_out, edges.len() as u64);
            let made = network.schedule(&Times { before_ns: vec![0; 12], run_ns: vec![1; 12] });
            for at in 0..12u32 {
                if let Some(number) = made.after[at as usize] {
                    prop_assert_eq!(network.edge(number).to, at);
                }
            }
        }
    }
}

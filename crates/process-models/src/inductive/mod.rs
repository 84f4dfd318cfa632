//! The Inductive Miner: a process tree from the variants of a log.
//!
//! In: [`Variants`] and [`Options`]. Out: a [`Discovered`] tree in canonical form, in which each
//! activity of the log is once. Refused: a noise threshold outside 0 to 1, and more events than
//! memory indices hold.
//!
//! The log is divided where its directly-follows graph shows an exclusive choice, a sequence, a
//! concurrency or a loop, and each part again, until single activities are left; where the graph
//! shows nothing, one of six fall-throughs is taken. With noise 0 (IM) every trace of the log is in
//! the language of the tree. With a threshold above 0 (IMf) rare edges, starts and empty traces are
//! not looked at where the whole graph shows nothing.
//!
//! Leemans, Fahland, van der Aalst: Discovering block-structured process models from event logs, a
//! constructive approach, Petri Nets 2013; … containing infrequent behaviour, BPM Workshops 2013.
//! The fall-throughs and the strict sequence cut as in Leemans: Robust Process Mining with
//! Guarantees, 2017. Differences from PM4Py are listed in `docs/process-models.md`.

mod graph;
mod log;
mod split;

use graph::{Cut, Graph, Operator};
use log::SubLog;

use crate::tree::{Node, ProcessTree, compact};
use crate::{Error, Variants};

/// How a tree is discovered, and how long that may take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// The share, 0 to 1, of the most frequent edge out of an activity below which an edge is
    /// noise. 0 is IM, above it IMf.
    pub noise: f64,
    /// How many steps (events or edges looked at) the fall-throughs that try each activity may take
    /// in all. Beyond it they are passed over, and the tree is more general than it could be;
    /// [`Discovered::passed_over`] says how often.
    pub max_steps: u64,
}

impl Default for Options {
    /// IM, and at most a few seconds for fall-throughs.
    fn default() -> Self {
        Options { noise: 0.0, max_steps: 200_000_000 }
    }
}

/// The discovered tree, and where it is more general than it could be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Discovered {
    /// The tree, in canonical form.
    pub tree: ProcessTree,
    /// How often the fall-throughs "activity once per trace" and "activity concurrent" were not
    /// tried because [`Options::max_steps`] were spent.
    pub passed_over: u64,
    /// How many parts of the log ended in a flower: any number of any of their activities, in any
    /// order.
    pub flowers: u64,
}

/// Discovers a process tree from the variants of a log.
///
/// # Errors
/// [`Error::Option`] for a noise threshold that is not from 0 to 1, [`Error::TooLarge`] beyond 2³²
/// − 2 activities.
pub fn discover(variants: &Variants, options: Options) -> Result<Discovered, Error> {
    if !(0.0..=1.0).contains(&options.noise) {
        return Err(Error::Option { option: "the noise threshold", value: options.noise, must: "from 0 to 1" });
    }
    if u32::try_from(variants.activities().len()).is_err() {
        return Err(Error::TooLarge { what: "activities", limit: u64::from(u32::MAX) });
    }
    let mut log = SubLog::default();
    for variant in variants.variants() {
        log.push(&variant.trace, variant.count);
    }
    let mut miner = Miner {
        noise: options.noise,
        steps_left: options.max_steps,
        scratch: vec![u32::MAX; variants.activities().len()],
        nodes: Vec::new(),
        todo: Vec::new(),
        passed_over: 0,
        flowers: 0,
    };
    let root = miner.later(log);
    while let Some((slot, log)) = miner.todo.pop() {
        miner.step(slot, log);
    }
    let tree = compact(variants.activities().to_vec(), &miner.nodes, root).canonical();
    Ok(Discovered { tree, passed_over: miner.passed_over, flowers: miner.flowers })
}

struct Miner {
    noise: f64,
    steps_left: u64,
    /// One place for each activity; `u32::MAX` between uses.
    scratch: Vec<u32>,
    nodes: Vec<Node>,
    /// Parts of the log, each with the node that its tree becomes.
    todo: Vec<(usize, SubLog)>,
    passed_over: u64,
    flowers: u64,
}

impl Miner {
    fn node(&mut self, node: Node) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// A node with a tree that is still to be found in `log`.
    fn later(&mut self, log: SubLog) -> usize {
        let slot = self.node(Node::Tau);
        self.todo.push((slot, log));
        slot
    }

    fn step(&mut self, slot: usize, mut log: SubLog) {
        if log.distinct() == 0 {
            self.nodes[slot] = Node::Tau;
            return;
        }
        if log.empty > 0 {
            let matter = self.noise == 0.0 || log.empty as f64 > self.noise * log.cases() as f64;
            log.empty = 0;
            if matter {
                let (tau, rest) = (self.node(Node::Tau), self.later(log));
                self.nodes[slot] = Node::Xor(vec![tau, rest]);
                return;
            }
        }
        if log.size() == 1
            && let Some(&a) = log.traces().next().and_then(|(t, _)| t.first())
        {
            self.nodes[slot] = Node::Activity(a);
            return;
        }
        let graph = Graph::of(&log, &mut self.scratch);
        let cut = graph.cut().or_else(|| if self.noise > 0.0 { graph.without_noise(self.noise).cut() } else { None });
        match cut {
            Some(cut) => self.divide(slot, &log, &graph, &cut),
            None => self.fall_through(slot, &log, &graph),
        }
    }

    fn divide(&mut self, slot: usize, log: &SubLog, graph: &Graph, cut: &Cut) {
        let parts = split::split(log, graph, cut, &mut self.scratch);
        let children: Vec<usize> = parts.into_iter().map(|part| self.later(part)).collect();
        self.nodes[slot] = match (cut.operator, children.as_slice()) {
            (Operator::Loop, &[body, redo]) => Node::Loop { body, redo },
            (Operator::Xor, _) => Node::Xor(children),
            (Operator::Parallel, _) => Node::Parallel(children),
            _ => Node::Sequence(children),
        };
    }

    fn fall_through(&mut self, slot: usize, log: &SubLog, graph: &Graph) {
        match self.once_per_trace(log, graph).or_else(|| self.concurrent(log, graph)) {
            Some(activity) => {
                let group = graph.activities.iter().map(|&a| u32::from(a != activity)).collect();
                self.divide(slot, log, graph, &Cut { operator: Operator::Parallel, group, groups: 2 });
            }
            None => match self.tau_loop(log, graph, true).or_else(|| self.tau_loop(log, graph, false)) {
                Some(pieces) => {
                    let (body, redo) = (self.later(pieces), self.node(Node::Tau));
                    self.nodes[slot] = Node::Loop { body, redo };
                }
                None => {
                    self.flowers += 1;
                    let activities = graph.activities.iter().map(|&a| self.node(Node::Activity(a))).collect();
                    let (body, redo) = (self.node(Node::Tau), self.node(Node::Xor(activities)));
                    self.nodes[slot] = Node::Loop { body, redo };
                }
            },
        }
    }

    /// Takes steps from what is left; whether there were enough.
    fn spend(&mut self, steps: u64) -> bool {
        match self.steps_left.checked_sub(steps) {
            Some(left) => {
                self.steps_left = left;
                true
            }
            None => {
                self.steps_left = 0;
                self.passed_over += 1;
                false
            }
        }
    }

    /// The first activity that is in every trace exactly once.
    fn once_per_trace(&mut self, log: &SubLog, graph: &Graph) -> Option<u32> {
        if graph.len() < 2 || !self.spend(5 * log.size() as u64) {
            return None;
        }
        let (mut traces_once, mut often) = (vec![0u64; graph.len()], vec![false; graph.len()]);
        let mut seen = vec![0usize; graph.len()];
        for (number, &a) in (0u32..).zip(&graph.activities) {
            self.scratch[a as usize] = number;
        }
        for (at, (trace, _)) in (1..).zip(log.traces()) {
            for &a in trace {
                let a = self.scratch[a as usize] as usize;
                if seen[a] == at {
                    often[a] = true;
                } else {
                    seen[a] = at;
                    traces_once[a] += 1;
                }
            }
        }
        for &a in &graph.activities {
            self.scratch[a as usize] = u32::MAX;
        }
        let found = (0..graph.len()).find(|&a| !often[a] && traces_once[a] == log.distinct() as u64);
        found.map(|a| graph.activities[a])
    }

    /// The first activity without which the log has a cut.
    ///
    /// The graph without an activity is the graph's other edges, and those that join what stood
    /// before and after it.
    fn concurrent(&mut self, log: &SubLog, graph: &Graph) -> Option<u32> {
        let n = graph.len();
        // Sorting what stands around each event, and dividing the log, take longer than looking at it.
        if n < 2 || !self.spend(15 * log.size() as u64) {
            return None;
        }
        for (number, &a) in (0u32..).zip(&graph.activities) {
            self.scratch[a as usize] = number;
        }
        // (activity, what is before, what is after); `n` for the border of the trace.
        let border = n as u32;
        let mut bridges: Vec<(u32, u32, u32)> = Vec::new();
        for (trace, _) in log.traces() {
            let mut before = border;
            let mut runs = trace.chunk_by(|a, b| a == b).map(|run| self.scratch[run[0] as usize]).peekable();
            while let Some(a) = runs.next() {
                bridges.push((a, before, runs.peek().copied().unwrap_or(border)));
                before = a;
            }
            if bridges.len() > 1 << 22 {
                bridges.sort_unstable();
                bridges.dedup();
            }
        }
        bridges.sort_unstable();
        bridges.dedup();
        for &a in &graph.activities {
            self.scratch[a as usize] = u32::MAX;
        }
        let mut at = 0;
        for a in 0..n as u32 {
            let from = at;
            while bridges.get(at).is_some_and(|b| b.0 == a) {
                at += 1;
            }
            if !self.spend(10 * (graph.edges.len() + n + 2 * (at - from)) as u64) {
                return None;
            }
            if graph_without(graph, a, &bridges[from..at]).cut().is_some() {
                return Some(graph.activities[a as usize]);
            }
        }
        None
    }

    /// The pieces of the traces cut before each start activity (where `strict`, only after an end
    /// activity), if that cuts any.
    fn tau_loop(&mut self, log: &SubLog, graph: &Graph, strict: bool) -> Option<SubLog> {
        for (i, &a) in graph.activities.iter().enumerate() {
            self.scratch[a as usize] = u32::from(graph.starts[i] > 0) + 2 * u32::from(graph.ends[i] > 0);
        }
        let mut pieces = SubLog::default();
        let mut any = false;
        for (trace, count) in log.traces() {
            let begins = |&a: &u32, &b: &u32| {
                let (a, b) = (self.scratch[a as usize], self.scratch[b as usize]);
                !(b & 1 != 0 && (!strict || a & 2 != 0))
            };
            for (i, piece) in trace.chunk_by(begins).enumerate() {
                any |= i > 0;
                pieces.push(piece, count);
            }
        }
        for &a in &graph.activities {
            self.scratch[a as usize] = u32::MAX;
        }
        any.then(|| pieces.joined())
    }
}

/// The graph of the log without one activity, with the given bridges. Counts are 1: cuts ignore
/// them.
fn graph_without(graph: &Graph, without: u32, bridges: &[(u32, u32, u32)]) -> Graph {
    let n = graph.len();
    let border = n as u32;
    let number = |a: u32| if a > without { a - 1 } else { a };
    let keep = |v: &[u64]| -> Vec<u64> { v.iter().enumerate().filter(|(i, _)| *i != without as usize).map(|(_, &n)| n).collect() };
    let mut out = Graph {
        activities: (0..n as u32 - 1).collect(),
        edges: Vec::with_capacity(graph.edges.len() + bridges.len()),
        starts: keep(&graph.starts),
        ends: keep(&graph.ends),
    };
    let mut extra: Vec<(u32, u32, u64)> = Vec::new();
    for &(_, before, after) in bridges {
        match (before == border, after == border) {
            (true, true) => {}
            (true, false) => out.starts[number(after) as usize] |= 1,
            (false, true) => out.ends[number(before) as usize] |= 1,
            (false, false) => extra.push((number(before), number(after), 1)),
        }
    }
    extra.sort_unstable();
    let rest = graph.edges.iter().filter(|&&(a, b, _)| a != without && b != without).map(|&(a, b, _)| (number(a), number(b), 1));
    // Both lists are sorted.
    let mut extra = extra.into_iter().peekable();
    for edge in rest {
        while let Some(e) = extra.next_if(|e| *e <= edge) {
            push_new(&mut out.edges, e);
        }
        push_new(&mut out.edges, edge);
    }
    for e in extra {
        push_new(&mut out.edges, e);
    }
    out
}

fn push_new(edges: &mut Vec<(u32, u32, u64)>, edge: (u32, u32, u64)) {
    if edges.last().is_none_or(|last| (last.0, last.1) != (edge.0, edge.1)) {
        edges.push(edge);
    }
}

//! Alignments: how far a trace is from the traces that a model allows.
//!
//! In: a [`ProcessTree`] in which each activity is at most once, as discovered trees are, and
//! [`Variants`], with activities that are matched by name. Out: for each variant the least number
//! of events to take away and activities to put in that make it a trace of the model (the standard
//! cost: 1 for a move in the log or the model alone, 0 for a move in both and for silent ones), and
//! where a second, bounded search ends, the moves. Refused: a tree with an activity twice.
//!
//! The cost is found on the tree, not by a search through states (Adriansyah 2014 does the latter):
//! as each event belongs to one place in the tree, the cost of a node for an interval of its events
//! follows from its children's. This takes at most the third power of a trace's length in steps,
//! whatever the model; beyond [`Options::max_steps_each`] there is no result.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use crate::net::PetriNet;
use crate::tree::{Node, ProcessTree};
use crate::{Error, Variants};

/// How far an alignment is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// How many steps the cost of one variant may take; a step is a few nanoseconds. Longer
    /// variants have no result.
    pub max_steps_each: u64,
    /// How many states the search for the moves of one variant may look at. 0 leaves moves out.
    pub max_states_each: usize,
}

impl Default for Options {
    /// Traces of a few hundred events in any model, and no moves.
    fn default() -> Self {
        Options { max_steps_each: 200_000_000, max_states_each: 0 }
    }
}

/// One step of an alignment. Silent steps of the model are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Move {
    /// An event that the model does as well; the activity's index in the log.
    Both(u32),
    /// An event that the model cannot do; the activity's index in the log.
    Log(u32),
    /// An activity that the model must do and the log has not; its index in the tree's labels.
    Model(u32),
}

/// A variant and the nearest trace of the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alignment {
    /// How many events and activities stand alone. 0 exactly where the variant is a trace of the
    /// model.
    pub cost: u64,
    /// The most that it could be: all events and the model's shortest trace.
    pub worst: u64,
    /// The steps, where they were looked for and found within the bound.
    pub moves: Option<Vec<Move>>,
}

impl Alignment {
    /// `1 − cost / worst`; 1 for an empty trace that the model allows (PM4Py says 0 of it).
    pub fn fitness(&self) -> f64 {
        if self.worst == 0 { 1.0 } else { 1.0 - self.cost as f64 / self.worst as f64 }
    }
}

/// The alignments of a log's variants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alignments {
    /// One for each of [`Variants::variants`]; `None` where it would take more steps than allowed.
    pub variants: Vec<Option<Alignment>>,
    counts: Vec<u64>,
}

impl Alignments {
    /// `1 − Σ cost / Σ worst` over the cases that have a result; `None` where no case has one.
    pub fn fitness(&self) -> Option<f64> {
        let (mut cost, mut worst, mut cases) = (0.0, 0.0, 0u64);
        for (alignment, &count) in self.done() {
            cost += alignment.cost as f64 * count as f64;
            worst += alignment.worst as f64 * count as f64;
            cases += count;
        }
        (cases > 0).then_some(if worst > 0.0 { 1.0 - cost / worst } else { 1.0 })
    }

    /// The mean fitness of the cases that have a result; `None` where no case has one.
    pub fn mean_fitness(&self) -> Option<f64> {
        let cases: u64 = self.done().map(|(_, &n)| n).sum();
        let sum: f64 = self.done().map(|(a, &n)| a.fitness() * n as f64).sum();
        (cases > 0).then(|| sum / cases as f64)
    }

    /// How many cases have no result.
    pub fn undecided(&self) -> u64 {
        self.variants.iter().zip(&self.counts).filter(|(a, _)| a.is_none()).map(|(_, &n)| n).sum()
    }

    fn done(&self) -> impl Iterator<Item = (&Alignment, &u64)> {
        self.variants.iter().zip(&self.counts).filter_map(|(a, n)| a.as_ref().map(|a| (a, n)))
    }
}

/// Aligns each variant with a tree.
///
/// # Errors
/// [`Error::ActivityTwice`] for a tree that has an activity at two places.
pub fn align(tree: &ProcessTree, variants: &Variants, options: Options) -> Result<Alignments, Error> {
    let aligner = Aligner::new(tree, variants)?;
    let net = (options.max_states_each > 0).then(|| PetriNet::of_tree(tree));
    let mut out = Alignments { variants: Vec::new(), counts: Vec::new() };
    for variant in variants.variants() {
        let worst = variant.trace.len() as u64 + aligner.shortest[tree.root()];
        let alignment = aligner.cost(&variant.trace, options.max_steps_each).map(|cost| {
            let moves = net.as_ref().and_then(|net| moves(net, &aligner, &variant.trace, cost, options.max_states_each));
            Alignment { cost, worst, moves }
        });
        out.variants.push(alignment);
        out.counts.push(variant.count);
    }
    Ok(out)
}

const ABSENT: u32 = u32::MAX;

struct Aligner<'a> {
    tree: &'a ProcessTree,
    shortest: Vec<u64>,
    parent: Vec<usize>,
    /// The children of choices, the one with the shortest trace first.
    by_length: Vec<Vec<usize>>,
    /// For each activity of the log its label in the tree, or `ABSENT`.
    label: Vec<u32>,
    /// For each label of the tree its leaf.
    leaf: Vec<usize>,
}

/// The costs of a node that has events in the trace: for each interval of them, or only for all of
/// them.
struct Costs {
    /// The trace's positions that are below this node, ascending.
    events: Vec<u32>,
    /// Row `i` holds the costs of the intervals `i..j` for `j` from `i` on; only row 0 where no
    /// other is needed.
    rows: Vec<Vec<u64>>,
}

impl<'a> Aligner<'a> {
    fn new(tree: &'a ProcessTree, variants: &Variants) -> Result<Self, Error> {
        let mut parent = vec![usize::MAX; tree.nodes().len()];
        let mut leaf = vec![usize::MAX; tree.labels().len()];
        let shortest = tree.shortest();
        let mut by_length = vec![Vec::new(); tree.nodes().len()];
        for (at, node) in tree.nodes().iter().enumerate() {
            for child in node.children() {
                parent[child] = at;
            }
            match node {
                Node::Activity(a) if std::mem::replace(&mut leaf[*a as usize], at) != usize::MAX => {
                    return Err(Error::ActivityTwice { activity: tree.label(*a).to_owned() });
                }
                Node::Xor(children) => {
                    by_length[at] = children.clone();
                    by_length[at].sort_by_key(|&c| (shortest[c], c));
                }
                _ => {}
            }
        }
        let labels: FxHashMap<&str, u32> =
            (0u32..).zip(tree.labels()).filter(|(i, _)| leaf[*i as usize] != usize::MAX).map(|(i, label)| (label.as_str(), i)).collect();
        let label = variants.activities().iter().map(|a| labels.get(a.as_str()).copied().unwrap_or(ABSENT)).collect();
        Ok(Aligner { tree, shortest, parent, by_length, label, leaf })
    }

    /// The least cost, `None` beyond `max_steps`.
    fn cost(&self, trace: &[u32], max_steps: u64) -> Option<u64> {
        let nodes = self.tree.nodes();
        let labels: Vec<u32> = trace.iter().map(|&a| self.label[a as usize]).collect();
        let known = labels.iter().filter(|&&l| l != ABSENT).count();
        let foreign = (trace.len() - known) as u64;
        // The events below each node that has any.
        let mut active: FxHashMap<usize, Costs> = FxHashMap::default();
        let mut steps = 0u64;
        for (at, &label) in (0u32..).zip(labels.iter()) {
            let mut node = if label == ABSENT { usize::MAX } else { self.leaf[label as usize] };
            while node != usize::MAX {
                active.entry(node).or_insert_with(|| Costs { events: Vec::new(), rows: Vec::new() }).events.push(at);
                node = self.parent[node];
                steps += 1;
            }
            if steps > max_steps {
                return None;
            }
        }
        let root = self.tree.root();
        if active.is_empty() {
            return Some(foreign + self.shortest[root]);
        }
        let mut order: Vec<usize> = active.keys().copied().collect();
        order.sort_unstable();
        // Whether each interval of a node is asked for: below a sequence or a loop.
        let mut all: FxHashMap<usize, bool> = FxHashMap::default();
        for &node in order.iter().rev() {
            let parent = self.parent[node];
            let asked = parent != usize::MAX
                && (all.get(&parent).copied().unwrap_or(false) || matches!(nodes[parent], Node::Sequence(_) | Node::Loop { .. }));
            all.insert(node, asked);
            let n = active.get(&node).map_or(0, |c| c.events.len() as u64 + 1);
            let linear = matches!(nodes[node], Node::Activity(_));
            let row = if linear { n } else { n.saturating_mul(n) };
            steps = steps.saturating_add(if asked { row.saturating_mul(n) } else { row });
            if steps > max_steps {
                return None;
            }
        }
        for &node in &order {
            let rows = self.rows(node, &active, all.get(&node).copied().unwrap_or(false));
            if let Some(costs) = active.get_mut(&node) {
                costs.rows = rows;
            }
        }
        active.get(&root).and_then(|c| c.rows.first()?.last().copied()).map(|cost| cost + foreign)
    }

    fn rows(&self, node: usize, active: &FxHashMap<usize, Costs>, all: bool) -> Vec<Vec<u64>> {
        let Some(own) = active.get(&node) else { return Vec::new() };
        let n = own.events.len();
        let last_row = if all { n } else { 0 };
        if let Node::Activity(_) = self.tree.nodes()[node] {
            return (0..=last_row).map(|i| (i..=n).map(|j| if j == i { 1 } else { (j - i - 1) as u64 }).collect()).collect();
        }
        // The children with events, in order; with each, how many of its events come before each border of ours.
        let children: Vec<Child<'_>> = self.tree.nodes()[node]
            .children()
            .into_iter()
            .filter_map(|c| active.get(&c).map(|costs| Child { node: c, costs, before: before(&own.events, &costs.events) }))
            .collect();
        let rest = |of: u64| of - children.iter().map(|c| self.shortest[c.node]).sum::<u64>();
        let row = |i: usize| -> Vec<u64> {
            match &self.tree.nodes()[node] {
                Node::Parallel(_) => {
                    let rest = rest(self.shortest[node]);
                    (i..=n).map(|j| rest + children.iter().map(|c| c.cost(i, j)).sum::<u64>()).collect()
                }
                Node::Xor(_) => {
                    let without = self.by_length[node].iter().find(|c| !active.contains_key(c)).map(|&c| self.shortest[c]);
                    let least = |j: usize| {
                        let foreign = |c: &Child<'_>| (j - i) as u64 - (c.before[j] - c.before[i]) as u64;
                        let with = children.iter().map(|c| c.cost(i, j) + foreign(c)).min();
                        with.into_iter().chain(without.map(|w| w + (j - i) as u64)).min().unwrap_or(0)
                    };
                    (i..=n).map(least).collect()
                }
                Node::Sequence(_) => {
                    // Nothing is done yet at border i.
                    let mut sums: Vec<Option<u64>> = vec![None; n - i + 1];
                    sums[0] = Some(rest(self.shortest[node]));
                    for child in &children {
                        let mut from = From::new(child, i);
                        sums = (i..=n)
                            .map(|j| {
                                if let Some(sum) = sums[j - i] {
                                    from.add(j, sum);
                                }
                                from.least(j)
                            })
                            .collect();
                    }
                    sums.into_iter().map(|s| s.unwrap_or(0)).collect()
                }
                Node::Loop { body, redo } => {
                    let empty = Costs { events: Vec::new(), rows: Vec::new() };
                    let child = |c: usize| {
                        let costs = active.get(&c).unwrap_or(&empty);
                        Child { node: c, costs, before: before(&own.events, &costs.events) }
                    };
                    let (body, redo) = (child(*body), child(*redo));
                    let (body_least, redo_least) = (self.shortest[body.node], self.shortest[redo.node]);
                    let mut to_body = From::with_empty(&body, i, body_least);
                    let mut to_redo = From::with_empty(&redo, i, redo_least);
                    to_body.add(i, 0);
                    let mut row = Vec::with_capacity(n - i + 1);
                    for j in i..=n {
                        // After the body, after the redo part, and after a body without events behind that.
                        let mut done = to_body.least(j);
                        if let Some(done) = done {
                            to_redo.add(j, done);
                        }
                        if let Some(again) = to_redo.least(j) {
                            to_body.add(j, again);
                            done = to_body.least(j).into_iter().chain(done).min();
                            if let Some(done) = done {
                                to_redo.add(j, done);
                            }
                        }
                        row.push(done.unwrap_or(0));
                    }
                    row
                }
                Node::Activity(_) | Node::Tau => vec![0; n - i + 1],
            }
        };
        (0..=last_row).map(row).collect()
    }
}

struct Child<'a> {
    node: usize,
    costs: &'a Costs,
    before: Vec<u32>,
}

impl Child<'_> {
    /// The cost of the child's events between two borders of its parent.
    fn cost(&self, i: usize, j: usize) -> u64 {
        let (i, j) = (self.before[i] as usize, self.before[j] as usize);
        self.costs.rows[i][j - i]
    }
}

/// How many of a child's events come before each border between its parent's events.
fn before(own: &[u32], child: &[u32]) -> Vec<u32> {
    let mut out = Vec::with_capacity(own.len() + 1);
    let mut count = 0u32;
    out.push(0);
    for position in own {
        if child.get(count as usize) == Some(position) {
            count += 1;
        }
        out.push(count);
    }
    out
}

/// The least cost to come to a border by a child that begins at an earlier border, where each has a
/// cost so far.
///
/// Events between the two that are not the child's cost 1 each. So, of all borders before which the
/// child has equally many events, only the best matters: the one with the least cost less the other
/// events before it.
struct From<'a> {
    child: &'a Child<'a>,
    /// For each number of the child's events, from `first` on, the best; may be below zero.
    best: Vec<Option<i64>>,
    first: usize,
    /// The cost of the child without events, where it has none in the trace.
    without: Option<u64>,
}

impl<'a> From<'a> {
    fn new(child: &'a Child<'a>, i: usize) -> Self {
        let first = child.before[i] as usize;
        From { child, best: vec![None; child.costs.events.len() - first + 1], first, without: None }
    }

    fn with_empty(child: &'a Child<'a>, i: usize, without: u64) -> Self {
        From { without: child.costs.events.is_empty().then_some(without), ..From::new(child, i) }
    }

    fn add(&mut self, border: usize, cost: u64) {
        let events = self.child.before[border] as usize;
        let value = cost as i64 - (border - events) as i64;
        let best = &mut self.best[events - self.first];
        *best = Some(best.map_or(value, |b| b.min(value)));
    }

    fn least(&self, border: usize) -> Option<u64> {
        let events = self.child.before[border] as usize;
        let others = (border - events) as i64;
        let from = |(k, best): (usize, &Option<i64>)| {
            let begin = self.first + k;
            let own = match self.without {
                Some(without) => without,
                None => self.child.costs.rows[begin][events - begin],
            };
            best.map(|b| b + others + own as i64)
        };
        self.best[..=events - self.first].iter().enumerate().filter_map(from).min().map(i64::unsigned_abs)
    }
}

/// The steps of an alignment with a known cost, by a search through the net's states that never
/// goes beyond that cost.
fn moves(net: &PetriNet, aligner: &Aligner<'_>, trace: &[u32], cost: u64, max_states: usize) -> Option<Vec<Move>> {
    type Marking = Vec<u32>;
    let mut from = vec![Vec::new(); net.places() as usize];
    let mut leaf_of: FxHashMap<&str, u32> = FxHashMap::default();
    for (t, transition) in (0u32..).zip(net.transitions()) {
        transition.inputs.iter().for_each(|&p| from[p as usize].push(t));
        if let Some(a) = transition.activity {
            leaf_of.insert(net.label(a), t);
        }
    }
    let wanted: Vec<u32> = trace
        .iter()
        .map(|&a| match aligner.label[a as usize] {
            ABSENT => ABSENT,
            label => leaf_of.get(aligner.tree.label(label)).copied().unwrap_or(ABSENT),
        })
        .collect();
    // Nets of trees are 1-safe: a marking is a set of places.
    let mut states: Vec<(usize, Marking, usize, Option<Move>)> = vec![(0, vec![PetriNet::SOURCE], usize::MAX, None)];
    let mut best: FxHashMap<(usize, Marking), (u64, u64)> = FxHashMap::default();
    best.insert((0, vec![PetriNet::SOURCE]), (0, 0));
    // Cost, silent steps, how far in the trace (furthest first), state.
    let mut queue = BinaryHeap::from([Reverse((0u64, 0u64, Reverse(0usize), 0usize))]);
    while let Some(Reverse((g, silent, Reverse(position), at))) = queue.pop() {
        let marking = states[at].1.clone();
        if best.get(&(position, marking.clone())).is_some_and(|&b| b < (g, silent)) {
            continue;
        }
        if position == trace.len() && marking == [PetriNet::SINK] {
            let mut steps = Vec::new();
            let mut s = at;
            while s != usize::MAX {
                steps.extend(states[s].3);
                s = states[s].2;
            }
            steps.reverse();
            return Some(steps);
        }
        if states.len() >= max_states {
            return None;
        }
        let mut enabled: Vec<u32> = marking.iter().flat_map(|&p| from[p as usize].iter().copied()).collect();
        enabled.sort_unstable();
        enabled.dedup();
        enabled.retain(|&t| net.transitions()[t as usize].inputs.iter().all(|p| marking.binary_search(p).is_ok()));
        let mut next: Vec<(u64, u64, usize, Marking, Option<Move>)> = Vec::new();
        for t in enabled {
            let transition = &net.transitions()[t as usize];
            let mut after: Marking = marking.iter().copied().filter(|p| !transition.inputs.contains(p)).collect();
            after.extend_from_slice(&transition.outputs);
            after.sort_unstable();
            match transition.activity {
                None => next.push((g, silent + 1, position, after, None)),
                Some(a) => {
                    if position < trace.len() && wanted[position] == t {
                        next.push((g, silent, position + 1, after.clone(), Some(Move::Both(trace[position]))));
                    }
                    next.push((g + 1, silent, position, after, Some(Move::Model(a))));
                }
            }
        }
        if position < trace.len() {
            next.push((g + 1, silent, position + 1, marking, Some(Move::Log(trace[position]))));
        }
        for (g, silent, position, marking, step) in next {
            if g > cost || best.get(&(position, marking.clone())).is_some_and(|&b| b <= (g, silent)) {
                continue;
            }
            best.insert((position, marking.clone()), (g, silent));
            states.push((position, marking, at, step));
            queue.push(Reverse((g, silent, Reverse(position), states.len() - 1)));
        }
    }
    None
}

//! Horizontal positions: ordered layers in, a column for each item and a port for each end of an
//! edge out.
//!
//! Distances in a layer are constraints, bends cost: those within a long edge most, those of heavy
//! edges more than those of light ones (Gansner and others, 1993, section 4.2). Ports are chosen
//! first, in the order in which the edges run, so that an edge can be straight from port to port.

use super::layers::{Item, Layered, Segment, VertexKind, magnitude};
use super::simplex::{self, Constraint};
use super::{Graph, Spacing};
use std::collections::BTreeMap;

/// How much more bends cost on the main path: a little where there are few lines; in a dense figure
/// it would be lost otherwise.
const MAIN_STIFFNESS: [i64; 2] = [2, 60];

/// Above this many items, places are good and no longer the best.
const MOST_EXACT: usize = 1500;

/// Sweeps for places that are not the best, half of them downwards; in the last four both sides
/// count.
const RELAXATIONS: usize = 12;

/// Where items are, and where on a node each edge begins and ends.
pub(super) struct Columns {
    /// Of each item, relative to the leftmost border.
    pub x: Vec<i64>,
    /// For each edge, how far from the centre of its upper node it leaves, and of its lower node it
    /// arrives.
    pub ports: Vec<(i64, i64)>,
    pub width: i64,
}

pub(super) fn columns(graph: &Graph, layered: &Layered, spacing: &Spacing) -> Columns {
    let ports = ports(layered);
    let items = &layered.items;
    let at = if items.len() <= MOST_EXACT { exact(graph, layered, &ports, spacing) } else { relaxed(graph, layered, &ports, spacing) };
    let border = |v: usize| at[v] - items[v].left.ceil() as i64;
    let leftmost = (0..items.len()).map(border).min().unwrap_or(0);
    let x: Vec<i64> = at.iter().map(|at| at - leftmost).collect();
    let width = (0..items.len()).map(|v| x[v] + items[v].right.ceil() as i64).max().unwrap_or(0);
    Columns { x, ports, width }
}

/// What a bend between two items costs: most within a long edge, and on the main path.
fn stiffness(graph: &Graph, layered: &Layered, edge: usize, pair: [usize; 2]) -> i64 {
    let items = &layered.items;
    let ends = pair.iter().filter(|&&i| matches!(items[i].kind, VertexKind::Node(_))).count();
    let main = if !layered.main[edge] {
        1
    } else if graph.edges.len() > 2 * graph.nodes.len() {
        MAIN_STIFFNESS[1]
    } else {
        MAIN_STIFFNESS[0]
    };
    [8, 2, 1][ends] * magnitude(graph.edges[edge].weight).min(8) * main
}

/// The distance between the centre lines of two neighbours in a layer.
fn distance(a: &Item, b: &Item, spacing: &Spacing) -> i64 {
    (a.right + b.left + gap(a, b, spacing)).ceil() as i64
}

/// The places of all items with the least sum of all bends of edges.
fn exact(graph: &Graph, layered: &Layered, ports: &[(i64, i64)], spacing: &Spacing) -> Vec<i64> {
    let items = &layered.items;
    let (column, count) = straight_runs(graph, layered);
    let mut distances: BTreeMap<(usize, usize), i64> = BTreeMap::new();
    for layer in &layered.layers {
        for pair in layer.windows(2) {
            let length = distance(&items[pair[0]], &items[pair[1]], spacing);
            let least = distances.entry((column[pair[0]], column[pair[1]])).or_insert(length);
            *least = length.max(*least);
        }
    }
    let mut constraints: Vec<Constraint> =
        distances.into_iter().map(|((tail, head), length)| Constraint { tail, head, length, weight: 0 }).collect();
    let mut next = count;
    for (e, chain) in layered.chains.iter().enumerate() {
        for (k, pair) in chain.windows(2).enumerate() {
            let (upper, lower) = (column[pair[0]], column[pair[1]]);
            if upper == lower {
                continue;
            }
            let upper_port = if k == 0 { ports[e].0 } else { 0 };
            let lower_port = if k + 2 == chain.len() { ports[e].1 } else { 0 };
            let weight = stiffness(graph, layered, e, [pair[0], pair[1]]);
            // The auxiliary node is left of both ends; the sum of both distances is the bend.
            constraints.push(Constraint { tail: next, head: upper, length: -upper_port, weight });
            constraints.push(Constraint { tail: next, head: lower, length: -lower_port, weight });
            next += 1;
        }
    }
    let solution = simplex::solve(next, &constraints, true);
    column.into_iter().map(|c| solution[c]).collect()
}

/// A small sum of bends, in a time that grows little faster than the graph: layer after layer,
/// downwards and upwards, every item goes as near as its neighbours in the layer let it to the
/// weighted median of where its edges want it.
fn relaxed(graph: &Graph, layered: &Layered, ports: &[(i64, i64)], spacing: &Spacing) -> Vec<i64> {
    let items = &layered.items;
    let mut at = vec![0i64; items.len()];
    // Each layer as narrow as it can be, centred.
    for layer in &layered.layers {
        let mut x = 0;
        for (k, &i) in layer.iter().enumerate() {
            x += k.checked_sub(1).map_or(0, |before| distance(&items[layer[before]], &items[i], spacing));
            at[i] = x;
        }
        layer.iter().for_each(|&i| at[i] -= x / 2);
    }
    let wish = |at: &[i64], i: usize, other: usize, edge: usize| {
        let chain = &layered.chains[edge];
        let port = |i: usize| {
            if chain.first() == Some(&i) {
                ports[edge].0
            } else if chain.last() == Some(&i) {
                ports[edge].1
            } else {
                0
            }
        };
        (at[other] + port(other) - port(i), stiffness(graph, layered, edge, [i, other]))
    };
    for round in 0..RELAXATIONS {
        let down = round % 2 == 0;
        let both = round + 4 >= RELAXATIONS;
        for step in 0..layered.layers.len() {
            let l = if down { step } else { layered.layers.len() - 1 - step };
            let layer = &layered.layers[l];
            let mut offset = 0;
            let mut blocks = Blocks::default();
            for (k, &i) in layer.iter().enumerate() {
                offset += k.checked_sub(1).map_or(0, |before| distance(&items[layer[before]], &items[i], spacing));
                let mut wishes: Vec<(i64, i64)> = Vec::new();
                if down || both {
                    wishes.extend(items[i].up.iter().map(|s| wish(&at, i, s.other, s.edge)));
                }
                if !down || both {
                    wishes.extend(items[i].down.iter().map(|s| wish(&at, i, s.other, s.edge)));
                }
                if wishes.is_empty() {
                    wishes.push((at[i], 1));
                }
                wishes.iter_mut().for_each(|w| w.0 -= offset);
                blocks.push(i, offset, wishes);
            }
            for block in blocks.0 {
                for (i, offset) in block.members {
                    at[i] = block.median + offset;
                }
            }
        }
    }
    at
}

/// Items that touch their neighbours move together, to the median of all their wishes (pool
/// adjacent violators).
#[derive(Default)]
struct Blocks(Vec<Block>);

struct Block {
    members: Vec<(usize, i64)>,
    /// Where neighbours want the block, and how strongly; sorted.
    wishes: Vec<(i64, i64)>,
    median: i64,
}

impl Blocks {
    fn push(&mut self, item: usize, offset: i64, mut wishes: Vec<(i64, i64)>) {
        wishes.sort_unstable();
        let median = weighted_median(&wishes);
        let mut last = Block { members: vec![(item, offset)], wishes, median };
        while let Some(before) = self.0.pop_if(|before| before.median > last.median) {
            let mut merged = before;
            merged.members.append(&mut last.members);
            merged.wishes.append(&mut last.wishes);
            // Two sorted runs: this sort merges them.
            merged.wishes.sort();
            merged.median = weighted_median(&merged.wishes);
            last = merged;
        }
        self.0.push(last);
    }
}

fn weighted_median(wishes: &[(i64, i64)]) -> i64 {
    let total: i64 = wishes.iter().map(|w| w.1).sum();
    let mut sum = 0;
    for (k, &(place, weight)) in wishes.iter().enumerate() {
        sum += weight;
        if 2 * sum == total {
            return wishes.get(k + 1).map_or(place, |next| i64::midpoint(place, next.0));
        }
        if 2 * sum > total {
            return place;
        }
    }
    0
}

/// A column for each item, and how many columns there are. What an edge passes lies in one column
/// for a few layers where it can; where two edges cross on their way, the lighter one bends (as in
/// Brandes and Köpf, 2001). Since the steps that are kept straight do not cross, columns have an
/// order from left to right.
fn straight_runs(graph: &Graph, layered: &Layered) -> (Vec<usize>, usize) {
    let mut place = vec![0; layered.items.len()];
    for layer in &layered.layers {
        for (i, &v) in layer.iter().enumerate() {
            place[v] = i;
        }
    }
    let is_node = |v: usize| matches!(layered.items[v].kind, VertexKind::Node(_));
    let mut column: Vec<usize> = (0..layered.items.len()).collect();
    // Long straight runs make a figure wide and the search for positions fast; small graphs can do
    // without.
    let longest = 2 + layered.items.len() / 1500;
    for layer in &layered.layers {
        let mut steps: Vec<(usize, Segment)> = layer
            .iter()
            .filter(|&&v| !is_node(v))
            .flat_map(|&v| layered.items[v].down.iter().map(move |s| (v, *s)))
            .filter(|(_, s)| !is_node(s.other))
            .collect();
        steps.sort_by_key(|(v, s)| (std::cmp::Reverse(graph.edges[s.edge].weight), place[*v]));
        let mut kept: BTreeMap<usize, usize> = BTreeMap::new();
        for (v, s) in steps {
            let (above, below) = (place[v], place[s.other]);
            let left = kept.range(..above).next_back().is_none_or(|(_, &b)| b < below);
            let right = kept.range(above..).next().is_none_or(|(_, &b)| b > below);
            if left && right {
                kept.insert(above, below);
                // Layers are visited from the top, so the column of `v` is final.
                if layered.items[s.other].layer - layered.items[column[v]].layer < longest {
                    column[s.other] = column[v];
                }
            }
        }
    }
    let mut names = vec![usize::MAX; column.len()];
    let mut count = 0;
    for c in &mut column {
        if names[*c] == usize::MAX {
            names[*c] = count;
            count += 1;
        }
        *c = names[*c];
    }
    (column, count)
}

fn gap(a: &Item, b: &Item, spacing: &Spacing) -> f64 {
    if a.kind == VertexKind::Pass || b.kind == VertexKind::Pass { spacing.beside_edges } else { spacing.between_boxes }
}

fn ports(layered: &Layered) -> Vec<(i64, i64)> {
    let mut place = vec![0; layered.items.len()];
    for layer in &layered.layers {
        for (i, &v) in layer.iter().enumerate() {
            place[v] = i;
        }
    }
    let mut ports = vec![(0, 0); layered.chains.len()];
    for item in &layered.items {
        if matches!(item.kind, VertexKind::Node(_)) {
            for (edge, at) in spread(&item.down, item.flat, &place) {
                ports[edge].0 = at;
            }
            for (edge, at) in spread(&item.up, item.flat, &place) {
                ports[edge].1 = at;
            }
        }
    }
    ports
}

/// Puts edges side by side, in the order of where they go, and closer together when the node is too
/// narrow.
fn spread(segments: &[Segment], flat: f64, place: &[usize]) -> Vec<(usize, i64)> {
    let mut sorted: Vec<&Segment> = segments.iter().collect();
    sorted.sort_by_key(|s| (place[s.other], s.edge));
    let mut at = Vec::with_capacity(sorted.len());
    let mut cursor = 0.0;
    for (i, s) in sorted.iter().enumerate() {
        if i > 0 {
            cursor += (sorted[i - 1].breadth + s.breadth) / 2.0 + 3.0;
        }
        at.push(cursor);
    }
    let scale = if cursor > flat { flat / cursor } else { 1.0 };
    sorted.iter().zip(at).map(|(s, a)| (s.edge, ((a - cursor / 2.0) * scale).round() as i64)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{Edge, Node, acyclic, layers, order};
    use super::*;

    /// Two layers that edges pass, in each the items of edge 0 and edge 1, crossed in the second.
    fn crossed(heavier: usize) -> (Graph, Layered) {
        let edge = |weight| Edge { weight, ..Edge::default() };
        let graph = Graph { nodes: Vec::new(), edges: (0..2).map(|e| edge(if e == heavier { 9 } else { 1 })).collect() };
        let item = |layer, down: Vec<Segment>, up: Vec<Segment>| Item {
            layer,
            kind: VertexKind::Pass,
            left: 5.0,
            right: 5.0,
            height: 0.0,
            flat: 0.0,
            up,
            down,
        };
        let to = |edge, other| vec![Segment { edge, other, breadth: 10.0 }];
        let items = vec![
            item(0, to(0, 2), Vec::new()),
            item(0, to(1, 3), Vec::new()),
            item(1, Vec::new(), to(0, 0)),
            item(1, Vec::new(), to(1, 1)),
        ];
        (graph, Layered { items, layers: vec![vec![0, 1], vec![3, 2]], chains: vec![vec![0, 2], vec![1, 3]], main: vec![false; 2] })
    }

    #[test]
    fn of_two_edges_that_cross_the_lighter_one_bends() {
        for heavier in 0..2 {
            let (graph, layered) = crossed(heavier);
            let (column, count) = straight_runs(&graph, &layered);
            assert_eq!(count, 3);
            assert_eq!(column[heavier], column[heavier + 2]);
            let x = columns(&graph, &layered, &Spacing::default()).x;
            assert_eq!(x[heavier], x[heavier + 2]);
            assert!(x[1] - x[0] >= 22 && x[2] - x[3] >= 22, "{x:?}");
        }
    }

    /// Large enough for long straight runs: if two of them crossed, the distances would contradict
    /// each other.
    #[test]
    fn everything_in_a_layer_keeps_its_distance() {
        let node = Node { width: 80.0, height: 40.0, inset: 8.0, ..Node::default() };
        for seed in 1..4usize {
            // Ten parallel chains, and long edges across them.
            let chains = (0..50usize).map(|i| (i, i + 10, 900));
            let across = (0..120usize).map(|i| (i * 7 * seed % 20, 40 + (i * i * 3 + i * seed) % 20, (i % 9) as u64));
            let edges = chains
                .chain(across)
                .map(|(from, to, weight)| Edge { from, to, weight, label: Some((70.0, 18.0)), breadth: 10.0, head: 9.0 })
                .collect();
            let graph = Graph { nodes: vec![node.clone(); 60], edges };
            let spacing = Spacing::default();
            let mut layered = layers::assign(&graph, &acyclic::against_flow(&graph), &spacing).expect("the graph is small");
            order::reduce_crossings(&mut layered);
            let (columns, names) = (columns(&graph, &layered, &spacing), straight_runs(&graph, &layered));
            assert!(names.1 < layered.items.len(), "something is kept straight");
            for layer in &layered.layers {
                for pair in layer.windows(2) {
                    let (a, b) = (&layered.items[pair[0]], &layered.items[pair[1]]);
                    let apart = (columns.x[pair[1]] - columns.x[pair[0]]) as f64;
                    assert!(apart >= a.right + b.left + gap(a, b, &spacing), "{apart} between {:?} and {:?}", a.kind, b.kind);
                }
            }
        }
    }
}

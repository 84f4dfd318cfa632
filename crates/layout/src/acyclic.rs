//! Which edges run against the flow: a graph in, one flag an edge out, such that the other edges
//! are free of cycles.
//!
//! Nodes are put in a row so that the weight of the edges that point backwards is small: first
//! greedily, from both ends (Eades, Lin and Smyth, 1993, with weights), then by moving single nodes
//! to the place in the row that is best for them, as long as that helps. A row that follows all but
//! the lightest edges is taken if it is better. Cycles of any length are
//! treated alike. Where weights leave a choice, the node nearer to the top decides.

use std::collections::BTreeSet;

use super::{Graph, Position};

/// How far nodes are moved in all, in places of the row: bounds the time for large graphs.
const SIFT_STEPS: usize = 20_000_000;

/// For each edge, whether it has to be turned round. Loops are never turned.
pub(super) fn against_flow(graph: &Graph) -> Vec<bool> {
    let n = graph.nodes.len();
    let mut row = greedy_row(graph);
    sift(graph, &mut row);
    let mut place = places(&row);
    // Where light edges close all cycles, a row that follows all others can be better.
    let backward = |place: &[usize]| graph.edges.iter().filter(|e| place[e.from] > place[e.to]).map(|e| weight(e.weight)).sum::<i128>();
    if backward(&place) > 0 {
        let mut other = heavy_row(graph);
        if other.len() == n && backward(&places(&other)) < backward(&place) {
            sift(graph, &mut other);
            place = places(&other);
        }
    }
    graph.edges.iter().map(|e| place[e.from] > place[e.to]).collect()
}

/// The place of each node in a row.
fn places(row: &[usize]) -> Vec<usize> {
    let mut place = vec![0; row.len()];
    for (i, &v) in row.iter().enumerate() {
        place[v] = i;
    }
    place
}

/// A row that all edges above a weight follow, the lowest such weight.
fn heavy_row(graph: &Graph) -> Vec<usize> {
    let depth = depths(graph);
    let mut weights: Vec<i128> = graph.edges.iter().map(|e| weight(e.weight)).collect();
    weights.sort_unstable();
    weights.dedup();
    let (mut low, mut high) = (0, weights.len().saturating_sub(1));
    let mut best = Vec::new();
    while low <= high {
        let middle = usize::midpoint(low, high);
        let row = weights.get(middle).map_or_else(Vec::new, |&above| topological_row(graph, &depth, above));
        if row.len() == graph.nodes.len() {
            best = row;
            match middle.checked_sub(1) {
                Some(below) => high = below,
                None => break,
            }
        } else {
            low = middle + 1;
        }
    }
    best
}

/// The nodes in an order that all edges above a weight follow; fewer nodes if these have a cycle.
fn topological_row(graph: &Graph, depth: &[usize], above: i128) -> Vec<usize> {
    let n = graph.nodes.len();
    let bands: Vec<u8> = graph.nodes.iter().map(|node| band(node.position)).collect();
    let (mut out, mut before) = (vec![Vec::new(); n], vec![0usize; n]);
    for e in graph.edges.iter().filter(|e| e.from != e.to && bands[e.from] == bands[e.to] && weight(e.weight) > above) {
        out[e.from].push(e.to);
        before[e.to] += 1;
    }
    let mut row = Vec::with_capacity(n);
    let mut free: BTreeSet<(u8, usize, usize)> = (0..n).filter(|&v| before[v] == 0).map(|v| (bands[v], depth[v], v)).collect();
    while let Some((.., v)) = free.pop_first() {
        row.push(v);
        for &next in &out[v] {
            before[next] -= 1;
            if before[next] == 0 {
                free.insert((bands[next], depth[next], next));
            }
        }
    }
    // Nodes of a band that become free later belong before those of the next one.
    row.sort_by_key(|&v| bands[v]);
    row
}

/// Weight for which an edge counts; an edge without weight still counts a little.
fn weight(w: u64) -> i128 {
    i128::from(w.max(1))
}

fn band(position: Position) -> u8 {
    match position {
        Position::Top => 0,
        Position::Free => 1,
        Position::Bottom => 2,
    }
}

fn greedy_row(graph: &Graph) -> Vec<usize> {
    let n = graph.nodes.len();
    let depth = depths(graph);
    let mut row = Vec::with_capacity(n);
    for wanted in [Position::Top, Position::Free, Position::Bottom] {
        let members: Vec<usize> = (0..n).filter(|&v| graph.nodes[v].position == wanted).collect();
        row.extend(greedy_band(graph, &members, &depth));
    }
    row
}

/// Steps from a top node, or from a node that nothing points at; unreachable nodes last.
fn depths(graph: &Graph) -> Vec<usize> {
    let n = graph.nodes.len();
    let mut out: Vec<Vec<usize>> = vec![Vec::new(); n];
    let mut pointed_at = vec![false; n];
    for e in graph.edges.iter().filter(|e| e.from != e.to) {
        out[e.from].push(e.to);
        pointed_at[e.to] = true;
    }
    let mut depth = vec![usize::MAX; n];
    let mut queue: Vec<usize> = (0..n).filter(|&v| graph.nodes[v].position == Position::Top || !pointed_at[v]).collect();
    for &v in &queue {
        depth[v] = 0;
    }
    let mut at = 0;
    while at < queue.len() {
        let v = queue[at];
        at += 1;
        for &w in &out[v] {
            if depth[w] == usize::MAX {
                depth[w] = depth[v] + 1;
                queue.push(w);
            }
        }
    }
    depth
}

fn greedy_band(graph: &Graph, members: &[usize], depth: &[usize]) -> Vec<usize> {
    let n = graph.nodes.len();
    let mut waiting = vec![false; n];
    for &v in members {
        waiting[v] = true;
    }
    // Edges between bands have only one possible direction and do not take part, except that weight that comes
    // from above pulls a node up and weight that goes below pulls it down.
    let mut inward = vec![0i128; n];
    let mut outward = vec![0i128; n];
    let mut pull = vec![0i128; n];
    let mut near: Vec<Vec<(usize, i128, bool)>> = vec![Vec::new(); n];
    for e in graph.edges.iter().filter(|e| e.from != e.to) {
        let w = weight(e.weight);
        match (waiting[e.from], waiting[e.to]) {
            (true, true) => {
                outward[e.from] += w;
                inward[e.to] += w;
                near[e.from].push((e.to, w, true));
                near[e.to].push((e.from, w, false));
            }
            (true, false) => pull[e.from] -= w,
            (false, true) => pull[e.to] += w,
            (false, false) => {}
        }
    }
    let mut left = Vec::new();
    let mut right = Vec::new();
    let mut remaining: Vec<usize> = members.to_vec();
    while !remaining.is_empty() {
        let sink = remaining.iter().position(|&v| outward[v] == 0 && inward[v] > 0);
        let source = remaining.iter().position(|&v| inward[v] == 0);
        let (at, to_right) = if let Some(at) = sink {
            (at, true)
        } else if let Some(at) = source {
            (at, false)
        } else {
            let best = (0..remaining.len()).max_by_key(|&i| {
                let v = remaining[i];
                (outward[v] - inward[v] + pull[v], std::cmp::Reverse(depth[v]), std::cmp::Reverse(v))
            });
            (best.unwrap_or(0), false)
        };
        let v = remaining.remove(at);
        waiting[v] = false;
        for &(w, weight, leaves) in &near[v] {
            if leaves {
                inward[w] -= weight;
            } else {
                outward[w] -= weight;
            }
        }
        if to_right {
            right.push(v);
        } else {
            left.push(v);
        }
    }
    left.extend(right.into_iter().rev());
    left
}

/// Moves single nodes along the row while the weight that points backwards shrinks. Only places
/// next to a neighbour are better than others.
fn sift(graph: &Graph, row: &mut [usize]) {
    let n = row.len();
    // What a node saves when it stays before a neighbour.
    let mut net: Vec<Vec<(usize, i128)>> = vec![Vec::new(); n];
    for e in graph.edges.iter().filter(|e| e.from != e.to) {
        net[e.from].push((e.to, weight(e.weight)));
        net[e.to].push((e.from, -weight(e.weight)));
    }
    let bands: Vec<u8> = graph.nodes.iter().map(|node| band(node.position)).collect();
    let mut place = vec![0; n];
    for (i, &v) in row.iter().enumerate() {
        place[v] = i;
    }
    let mut steps = SIFT_STEPS;
    let mut near: Vec<(usize, i128)> = Vec::new();
    for _ in 0..8 {
        let mut moved = false;
        for v in 0..n {
            let at = place[v];
            near.clear();
            near.extend(net[v].iter().filter(|(u, _)| bands[*u] == bands[v]).map(|&(u, w)| (place[u], w)));
            near.sort_unstable();
            let split = near.partition_point(|(i, _)| *i < at);
            let (mut best, mut best_at) = (0i128, at);
            let mut consider = |list: &mut dyn Iterator<Item = &(usize, i128)>, sign: i128| {
                let mut cost = 0;
                let mut list = list.peekable();
                while let Some(&(i, w)) = list.next() {
                    cost += sign * w;
                    // Parallel edges lead to the same place and count together.
                    if list.peek().is_none_or(|next| next.0 != i) && cost < best {
                        (best, best_at) = (cost, i);
                    }
                }
            };
            consider(&mut near[split..].iter(), 1);
            consider(&mut near[..split].iter().rev(), -1);
            if best_at == at {
                continue;
            }
            let (low, high) = (at.min(best_at), at.max(best_at));
            if high - low > steps {
                return;
            }
            steps -= high - low;
            if best_at > at {
                row[low..=high].rotate_left(1);
            } else {
                row[low..=high].rotate_right(1);
            }
            for i in low..=high {
                place[row[i]] = i;
            }
            moved = true;
        }
        if !moved {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Edge, Node};
    use super::*;
    use proptest::prelude::*;

    fn graph(n: usize, edges: &[(usize, usize, u64)]) -> Graph {
        Graph {
            nodes: vec![Node::default(); n],
            edges: edges.iter().map(|&(from, to, weight)| Edge { from, to, weight, ..Edge::default() }).collect(),
        }
    }

    #[test]
    fn the_rare_edge_of_a_long_cycle_is_turned() {
        let ring = graph(5, &[(0, 1, 9), (1, 2, 9), (2, 3, 2), (3, 4, 9), (4, 0, 9)]);
        assert_eq!(against_flow(&ring), [false, false, true, false, false]);
    }

    #[test]
    fn the_rarer_direction_of_a_pair_is_turned_and_loops_never() {
        let pair = graph(2, &[(0, 1, 3), (1, 0, 8), (0, 0, 99)]);
        assert_eq!(against_flow(&pair), [true, false, false]);
    }

    #[test]
    fn equal_weights_follow_the_start() {
        let mut g = graph(3, &[(2, 1, 5), (1, 0, 5), (0, 1, 5)]);
        g.nodes[2].position = Position::Top;
        assert_eq!(against_flow(&g), [false, false, true]);
    }

    #[test]
    fn an_edge_into_the_top_is_turned_however_heavy() {
        let mut g = graph(2, &[(0, 1, 5)]);
        g.nodes[1].position = Position::Top;
        assert_eq!(against_flow(&g), [true]);
    }

    proptest! {
        #[test]
        fn nothing_cyclic_is_left(raw in proptest::collection::vec((0usize..8, 0usize..8, 0u64..9), 0..40)) {
            let g = graph(8, &raw);
            let turned = against_flow(&g);
            let mut near = [[false; 8]; 8];
            for (e, t) in g.edges.iter().zip(turned) {
                if e.from != e.to {
                    let (a, b) = if t { (e.to, e.from) } else { (e.from, e.to) };
                    near[a][b] = true;
                }
            }
            for k in 0..8 {
                for i in 0..8 {
                    for j in 0..8 {
                        near[i][j] |= near[i][k] && near[k][j];
                    }
                }
            }
            prop_assert!((0..8).all(|i| !near[i][i]));
        }
    }
}

//! Which edges run against the flow: a graph in, one flag an edge out, such that the other edges are free of cycles.
//!
//! Nodes are put in a row so that the weight of the edges that point backwards is small: first greedily, from both
//! ends (Eades, Lin and Smyth, 1993, with weights), then by moving single nodes to the place in the row that is best
//! for them, as long as that helps. Cycles of any length are treated alike. Where weights leave a choice, the
//! node nearer to the top decides.

use super::{Graph, Position};

/// Above this many nodes single nodes are not moved any more, since that takes quadratic memory.
const SIFT_LIMIT: usize = 1500;

/// For each edge, whether it has to be turned round. Loops are never turned.
pub(super) fn against_flow(graph: &Graph) -> Vec<bool> {
    let n = graph.nodes.len();
    let mut row = greedy_row(graph);
    if n <= SIFT_LIMIT {
        sift(graph, &mut row);
    }
    let mut place = vec![0; n];
    for (i, &v) in row.iter().enumerate() {
        place[v] = i;
    }
    graph.edges.iter().map(|e| place[e.from] > place[e.to]).collect()
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

/// Moves single nodes along the row while the weight that points backwards shrinks.
fn sift(graph: &Graph, row: &mut [usize]) {
    let n = row.len();
    let mut net = vec![0i128; n * n];
    for e in graph.edges.iter().filter(|e| e.from != e.to) {
        net[e.from * n + e.to] += weight(e.weight);
        net[e.to * n + e.from] -= weight(e.weight);
    }
    let bands: Vec<u8> = graph.nodes.iter().map(|node| band(node.position)).collect();
    for _ in 0..8 {
        let mut moved = false;
        for v in 0..n {
            let Some(at) = row.iter().position(|&x| x == v) else { continue };
            let (mut best, mut best_at) = (0i128, at);
            let mut cost = 0;
            for (i, &u) in row.iter().enumerate().skip(at + 1) {
                if bands[u] != bands[v] {
                    break;
                }
                cost += net[v * n + u];
                if cost < best {
                    (best, best_at) = (cost, i);
                }
            }
            cost = 0;
            for (i, &u) in row[..at].iter().enumerate().rev() {
                if bands[u] != bands[v] {
                    break;
                }
                cost += net[u * n + v];
                if cost < best {
                    (best, best_at) = (cost, i);
                }
            }
            if best_at > at {
                row[at..=best_at].rotate_left(1);
                moved = true;
            } else if best_at < at {
                row[best_at..=at].rotate_right(1);
                moved = true;
            }
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

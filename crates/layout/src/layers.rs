//! Layers: a graph without cycles in, items in layers out.
//!
//! Nodes get even layers, weighted distances being as short as possible. Between two node layers
//! lies a layer for labels. An edge gets an item in each layer that it passes, and one of those in
//! label layers is its label: the one in the narrowest layer, so that the figure does not grow
//! where it is already wide.

use super::simplex::{self, Constraint};
use super::{Edge, Graph, LayoutError, MOST_ITEMS, Node, Position, Spacing};

/// The graph with an item for everything that needs room in a layer.
pub(super) struct Layered {
    pub items: Vec<Item>,
    /// The items of each layer, from left to right.
    pub layers: Vec<Vec<usize>>,
    /// The items of each edge from top to bottom: its upper node, what it passes, its lower node.
    /// Empty for loops.
    pub chains: Vec<Vec<usize>>,
    /// For each edge, whether it is a step of the main path.
    pub main: Vec<bool>,
}

pub(super) struct Item {
    pub layer: usize,
    pub kind: VertexKind,
    /// Room needed to the left of the item's centre line, and to the right.
    pub left: f64,
    pub right: f64,
    pub height: f64,
    /// Width without what is rounded off, for arrows.
    pub flat: f64,
    /// Pieces of edges that leave upwards and downwards.
    pub up: Vec<Segment>,
    pub down: Vec<Segment>,
}

/// A piece of an edge between two items in neighbouring layers, as seen from one of them.
#[derive(Clone, Copy)]
pub(super) struct Segment {
    pub edge: usize,
    pub other: usize,
    pub breadth: f64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum VertexKind {
    Node(usize),
    /// A place in a layer where an edge passes.
    Pass,
    /// An edge passes below its label.
    Label,
}

/// Distance between the loops of a node, in the unit of the nodes.
pub(super) const LOOP_GAP: f64 = 4.0;

/// The loops of a node, which are below each other on its right, each next to its label.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Loops {
    /// How far they reach out of the node, without labels.
    pub reach: f64,
    /// The width of the widest label.
    pub label: f64,
    /// The height of all loops with their labels, in the unit of the nodes.
    pub height: f64,
}

/// Half the distance of the ends of a loop.
pub(super) fn loop_half(edge: &Edge, node: &Node) -> f64 {
    (edge.breadth * 0.75 + 3.0).min(node.height / 2.0)
}

/// The height of a loop and its label.
pub(super) fn loop_height(edge: &Edge, node: &Node) -> f64 {
    edge.label.map_or(0.0, |label| label.1).max(2.0 * loop_half(edge, node))
}

/// The room that the loops of each node need.
pub(super) fn loops(graph: &Graph) -> Vec<Loops> {
    let mut all = vec![Loops::default(); graph.nodes.len()];
    for edge in graph.edges.iter().filter(|e| e.from == e.to) {
        let of = &mut all[edge.from];
        of.reach = of.reach.max(14.0 + edge.head.max(edge.breadth));
        of.label = of.label.max(edge.label.map_or(0.0, |label| label.0));
        of.height += loop_height(edge, &graph.nodes[edge.from]) + if of.height > 0.0 { LOOP_GAP } else { 0.0 };
    }
    all
}

pub(super) fn assign(graph: &Graph, against: &[bool], spacing: &Spacing) -> Result<Layered, LayoutError> {
    let n = graph.nodes.len();
    let main = main_path(graph, against);
    let rank = ranks(graph, against);
    let passed = graph.edges.iter().map(|e| (2 * rank[e.from].abs_diff(rank[e.to])).saturating_sub(1)).sum();
    if passed > MOST_ITEMS {
        return Err(LayoutError::TooLarge { nodes: n, edges: graph.edges.len(), passed });
    }
    let deepest = rank.iter().copied().max().unwrap_or(0);
    let mut layered =
        Layered { items: Vec::new(), layers: vec![Vec::new(); 2 * deepest + 1], chains: vec![Vec::new(); graph.edges.len()], main };
    for (v, node) in graph.nodes.iter().enumerate() {
        let half = node.width / 2.0;
        layered.items.push(Item {
            layer: 2 * rank[v],
            kind: VertexKind::Node(v),
            left: half,
            right: half,
            height: node.height,
            flat: (node.width - 2.0 * node.inset).max(0.0),
            up: Vec::new(),
            down: Vec::new(),
        });
        layered.layers[2 * rank[v]].push(v);
    }
    for (item, of) in layered.items.iter_mut().zip(loops(graph)) {
        item.right += of.reach + of.label;
        item.height = item.height.max(of.height);
    }
    for e in graph.edges.iter().filter(|e| e.from == e.to) {
        let item = &mut layered.items[e.from];
        item.height = item.height.max(2.0 * e.breadth);
    }
    let mut widths: Vec<f64> = layered
        .layers
        .iter()
        .map(|layer| layer.iter().map(|&i| layered.items[i].left + layered.items[i].right + spacing.between_boxes).sum())
        .collect();
    // Short edges have no choice of layer for their label, so they are served first.
    let mut served: Vec<usize> = (0..graph.edges.len()).filter(|&e| graph.edges[e].from != graph.edges[e].to).collect();
    served.sort_by_key(|&e| (rank[graph.edges[e].from].abs_diff(rank[graph.edges[e].to]), e));
    for e in served {
        let edge = &graph.edges[e];
        let (upper, lower) = if against[e] { (edge.to, edge.from) } else { (edge.from, edge.to) };
        let (first, last) = (2 * rank[upper], 2 * rank[lower]);
        let label_layer = edge.label.and_then(|_| {
            let middle = (first + last) / 2;
            (first + 1..last)
                .step_by(2)
                .min_by(|&a, &b| widths[a].total_cmp(&widths[b]).then(a.abs_diff(middle).cmp(&b.abs_diff(middle))).then(a.cmp(&b)))
        });
        let mut chain = vec![upper];
        for (layer, used) in widths.iter_mut().enumerate().take(last).skip(first + 1) {
            let labelled = label_layer == Some(layer);
            let size = edge.label.filter(|_| labelled).unwrap_or_default();
            let half = size.0.max(edge.breadth) / 2.0;
            let gap = if labelled { spacing.between_boxes } else { spacing.beside_edges };
            *used += 2.0 * half + gap;
            chain.push(layered.items.len());
            layered.layers[layer].push(layered.items.len());
            layered.items.push(Item {
                layer,
                kind: if labelled { VertexKind::Label } else { VertexKind::Pass },
                left: half,
                right: half,
                height: size.1,
                flat: 0.0,
                up: Vec::new(),
                down: Vec::new(),
            });
        }
        chain.push(lower);
        for pair in chain.windows(2) {
            layered.items[pair[0]].down.push(Segment { edge: e, other: pair[1], breadth: edge.breadth });
            layered.items[pair[1]].up.push(Segment { edge: e, other: pair[0], breadth: edge.breadth });
        }
        layered.chains[e] = chain;
    }
    debug_assert!(layered.items.len() >= n);
    Ok(layered)
}

/// Weights of edges differ by orders of magnitude; layers and columns listen to the order of
/// magnitude.
pub(super) fn magnitude(weight: u64) -> i64 {
    i64::from(weight.max(1).ilog2()) + 1
}

/// The steps of the main path: from the heaviest edge on, downwards and upwards, the heaviest edge
/// as long as it carries at least half of what leaves or arrives there, edges against the flow
/// aside. The eye follows it, so it should be straight before all others.
fn main_path(graph: &Graph, against: &[bool]) -> Vec<bool> {
    let n = graph.nodes.len();
    let follows = |e: usize| !against[e] && graph.edges[e].from != graph.edges[e].to;
    let mut main = vec![false; graph.edges.len()];
    // For each node, the sum and the maximum of the weights of its outgoing edges, and of its
    // incoming edges.
    let mut sides: [Vec<(u128, Option<usize>)>; 2] = [vec![(0, None); n], vec![(0, None); n]];
    let heavier = |e: usize, than: Option<usize>| than.is_none_or(|than| graph.edges[e].weight > graph.edges[than].weight);
    let mut heaviest: Option<usize> = None;
    for (e, edge) in graph.edges.iter().enumerate().filter(|(e, _)| follows(*e)) {
        for (side, v) in sides.iter_mut().zip([edge.from, edge.to]) {
            side[v].0 += u128::from(edge.weight);
            if heavier(e, side[v].1) {
                side[v].1 = Some(e);
            }
        }
        if heavier(e, heaviest) {
            heaviest = Some(e);
        }
    }
    let Some(first) = heaviest else { return main };
    main[first] = true;
    let [leaving, arriving] = &sides;
    let walk = |main: &mut Vec<bool>, side: &[(u128, Option<usize>)], mut at: usize, end: fn(&Edge) -> usize| {
        // Edges that follow the flow have no cycles, so this ends.
        while let (sum, Some(e)) = side[at] {
            if 2 * u128::from(graph.edges[e].weight) < sum {
                return;
            }
            main[e] = true;
            at = end(&graph.edges[e]);
        }
    };
    walk(&mut main, leaving, graph.edges[first].to, |e| e.to);
    walk(&mut main, arriving, graph.edges[first].from, |e| e.from);
    main
}

fn ranks(graph: &Graph, against: &[bool]) -> Vec<usize> {
    let n = graph.nodes.len();
    let mut constraints: Vec<Constraint> = Vec::new();
    for (e, edge) in graph.edges.iter().enumerate().filter(|(_, e)| e.from != e.to) {
        let (tail, head) = if against[e] { (edge.to, edge.from) } else { (edge.from, edge.to) };
        constraints.push(Constraint { tail, head, length: 1, weight: magnitude(edge.weight) });
    }
    let with = |position: Position| (0..n).filter(move |&v| graph.nodes[v].position == position);
    for top in with(Position::Top) {
        for v in with(Position::Free).chain(with(Position::Bottom)) {
            constraints.push(Constraint { tail: top, head: v, length: 1, weight: 0 });
        }
    }
    for bottom in with(Position::Bottom) {
        for v in with(Position::Free) {
            constraints.push(Constraint { tail: v, head: bottom, length: 1, weight: 0 });
        }
    }
    simplex::solve(n, &constraints, false).into_iter().map(|r| usize::try_from(r).unwrap_or(0)).collect()
}

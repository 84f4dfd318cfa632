//! Layered graph layout: nodes and edges without positions in, positions and smooth routes out. No
//! Graphviz.
//!
//! - **In:** a [`Graph`] of [`Node`]s with their sizes and [`Edge`]s with their weights and labels,
//!   and the [`Spacing`] between them.
//! - **Out:** a [`Layout`]: the centre of each node and the [`Route`] of each edge, in the order in
//!   which they were given, and the size of the whole.
//!
//! **Units.** All lengths are in one unit, pixels or any unit of the figure. The flow of
//! [`layout`](layout()) is from top to bottom, that of [`layout_across`] from left to right; `y`
//! grows downwards. The same graph gives the same numbers, rounded to 1/100.
//!
//! **Errors.** [`LayoutError`]: an edge to a node that does not exist, sizes that are not finite or
//! negative, and more than [`MOST_NODES`] nodes, [`MOST_EDGES`] edges or [`MOST_ITEMS`] passed
//! layers. Parallel edges, loops, isolated nodes, parts without connection and empty graphs are
//! fine.
//!
//! ```
//! use flowmine_layout::{Edge, Graph, Node, Spacing, layout};
//!
//! let node = Node { width: 80.0, height: 30.0, ..Node::default() };
//! let edge = Edge { from: 0, to: 1, weight: 1, ..Edge::default() };
//! let graph = Graph { nodes: vec![node.clone(), node], edges: vec![edge] };
//! let layout = layout(&graph, &Spacing::default())?;
//! assert!(layout.nodes[0].y < layout.nodes[1].y);
//! // From the lower border of the first to the upper border of the second.
//! assert_eq!(layout.edges[0].start.y, layout.nodes[0].y + 15.0);
//! assert_eq!(layout.edges[0].end().y, layout.nodes[1].y - 15.0);
//! # Ok::<(), flowmine_layout::LayoutError>(())
//! ```
//!
//! **How.** The classical four steps (Sugiyama, Tagawa and Toda, 1981), each in a file of its own:
//!
//! 1. `acyclic` picks the edges that run against the flow, so that the light ones are the backward
//!    ones;
//! 2. `layers` gives every node a layer such that heavy edges are short (`simplex`), and every
//!    edge, of whatever length, an item in each layer it passes; its label is one of these items,
//!    so that labels have room;
//! 3. `order` sorts each layer so that few edges cross;
//! 4. `place` finds horizontal positions that keep long and heavy edges straight, and `route`
//!    draws.
//!
//! What holds for every result: nodes, labels and the columns in which edges pass a layer keep a
//! distance from each other; lines stay in their columns and the free room next to them, so that no
//! edge runs through a node or a foreign label; a route begins on the border of its source and ends
//! on the border of its target; loops are to the right of their node.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod across;
mod acyclic;
mod graph;
mod layers;
mod order;
mod place;
mod route;
mod simplex;

pub use across::layout_across;
pub use graph::{Edge, Graph, Layout, LayoutError, MOST_EDGES, MOST_ITEMS, MOST_NODES, Node, Piece, Point, Position, Route, Spacing};

/// Lays a graph out: a place for each node and a route for each edge.
///
/// # Errors
/// [`LayoutError`] when the graph is not one, and when it is larger than [`MOST_NODES`],
/// [`MOST_EDGES`] or [`MOST_ITEMS`] say.
pub fn layout(graph: &Graph, spacing: &Spacing) -> Result<Layout, LayoutError> {
    check(graph)?;
    if graph.nodes.is_empty() {
        return Ok(Layout::default());
    }
    let against = acyclic::against_flow(graph);
    let mut layered = layers::assign(graph, &against, spacing)?;
    order::reduce_crossings(&mut layered);
    let columns = place::columns(graph, &layered, spacing);
    Ok(route::draw(graph, &against, &layered, &columns, spacing))
}

fn check(graph: &Graph) -> Result<(), LayoutError> {
    let (nodes, edges) = (graph.nodes.len(), graph.edges.len());
    if nodes > MOST_NODES || edges > MOST_EDGES {
        return Err(LayoutError::TooLarge { nodes, edges, passed: 0 });
    }
    let drawable = |length: f64| (0.0..=100_000.0).contains(&length);
    for (node, n) in graph.nodes.iter().enumerate() {
        if ![n.width, n.height, n.inset].into_iter().all(drawable) {
            return Err(LayoutError::NodeSize { node });
        }
    }
    for (edge, e) in graph.edges.iter().enumerate() {
        let nodes = graph.nodes.len();
        if let Some(node) = [e.from, e.to].into_iter().find(|&node| node >= nodes) {
            return Err(LayoutError::UnknownNode { edge, node, nodes });
        }
        let label = e.label.unwrap_or_default();
        if ![label.0, label.1, e.breadth, e.head].into_iter().all(drawable) {
            return Err(LayoutError::EdgeSize { edge });
        }
    }
    Ok(())
}

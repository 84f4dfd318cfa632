//! Layered graph layout: boxes and arrows without positions in, positions and smooth routes out. No
//! Graphviz.
//!
//! - **In:** a [`Graph`] of [`Node`]s with their sizes and [`Edge`]s with their weights and labels,
//!   and the [`Spacing`] between them.
//! - **Out:** a [`Layout`]: the centre of each node and the [`Route`] of each edge, in the order in
//!   which they were given, and the size of the whole.
//!
//! **Units.** All lengths are in one unit, pixels or whatever the picture has. The flow is from top
//! to bottom; `y` grows downwards. The same graph gives the same numbers, rounded to 1/100.
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
//! distance from each other; lines stay in their columns and what is free beside them, so that no
//! edge runs through a node or a foreign label; a route begins on the border of its source and ends
//! on the border of its target; loops stand to the right of their node.

mod acyclic;
mod layers;
mod order;
mod place;
mod route;
mod simplex;

/// What is to be laid out.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Graph {
    /// Boxes.
    pub nodes: Vec<Node>,
    /// Arrows.
    pub edges: Vec<Edge>,
}

/// A box; lengths are in pixels, or whatever unit the picture has.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Node {
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
    /// This much of the width, on each side, is rounded off and takes no arrows.
    pub inset: f64,
    /// Where in the flow.
    pub position: Position,
}

/// Where in the flow a node has to be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Position {
    /// Where its edges put it.
    #[default]
    Free,
    /// Above all free nodes.
    Top,
    /// Below all free nodes.
    Bottom,
}

/// An arrow.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Edge {
    /// Index of the node where it begins.
    pub from: usize,
    /// Index of the node at which it points.
    pub to: usize,
    /// Importance: heavy edges follow the flow, are short and straight.
    pub weight: u64,
    /// Width and height of the label, if it has one.
    pub label: Option<(f64, f64)>,
    /// Width of the line with its arrowhead.
    pub breadth: f64,
    /// Length of the arrowhead; the route ends in a straight piece that is at least this long.
    pub head: f64,
}

/// Distances between things.
#[derive(Debug, Clone, PartialEq)]
pub struct Spacing {
    /// Between two nodes or labels in a layer.
    pub between_boxes: f64,
    /// Between an edge and whatever is beside it in a layer.
    pub beside_edges: f64,
    /// Between two layers, without the arrowheads; grows where edges run far sideways.
    pub between_layers: f64,
}

impl Default for Spacing {
    fn default() -> Self {
        Self { between_boxes: 22.0, beside_edges: 12.0, between_layers: 16.0 }
    }
}

/// A place in the picture.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Point {
    /// From left to right.
    pub x: f64,
    /// From top to bottom.
    pub y: f64,
}

/// Where everything goes; all coordinates are within 0 to `width` and 0 to `height`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Layout {
    /// Width of the whole.
    pub width: f64,
    /// Height of the whole.
    pub height: f64,
    /// Centre of each node.
    pub nodes: Vec<Point>,
    /// Route of each edge.
    pub edges: Vec<Route>,
}

/// The way of an edge, from its source to its target.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Route {
    /// On the border of the source.
    pub start: Point,
    /// Pieces, each beginning where the one before it ended; the last ends on the border of the target.
    pub pieces: Vec<Piece>,
    /// Centre of the label; the line enters it above and leaves it below, or it is right beside the line of a loop.
    pub label: Option<Point>,
    /// Whether it runs upwards, against the flow.
    pub against_flow: bool,
}

/// A piece of a route.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Piece {
    /// A straight line to this point.
    Line(Point),
    /// A cubic Bézier curve: two control points and the end.
    Curve(Point, Point, Point),
}

impl Piece {
    /// Where the piece ends.
    pub fn end(&self) -> Point {
        match *self {
            Piece::Line(end) | Piece::Curve(_, _, end) => end,
        }
    }
}

impl Route {
    /// Where the route ends.
    pub fn end(&self) -> Point {
        self.pieces.last().map_or(self.start, Piece::end)
    }
}

/// Why a graph cannot be laid out.
#[derive(Debug, Clone, thiserror::Error, PartialEq, Eq)]
pub enum LayoutError {
    /// An edge has an end that does not exist.
    #[error("edge {edge} names node {node}, but there are only {nodes} nodes")]
    UnknownNode {
        /// Index of the edge.
        edge: usize,
        /// The node it names.
        node: usize,
        /// How many nodes there are.
        nodes: usize,
    },
    /// More than can be laid out in reasonable time and memory, and than anybody could read.
    #[error(
        "{nodes} nodes and {edges} edges, which pass {passed} layers in all, are too many to lay out (at most {MOST_NODES}, {MOST_EDGES} and \
         {MOST_ITEMS}); leave out rare ones"
    )]
    TooLarge {
        /// How many nodes there are.
        nodes: usize,
        /// How many edges there are.
        edges: usize,
        /// Layers that edges pass, added up; 0 if it did not come to that.
        passed: usize,
    },
    /// A node has no size that could be drawn.
    #[error("node {node} has a size that is negative, not finite or above 100000; give it a width and height to draw")]
    NodeSize {
        /// Index of the node.
        node: usize,
    },
    /// An edge, its arrowhead or its label has no size that could be drawn.
    #[error("edge {edge} has a label, breadth or head that is negative, not finite or above 100000")]
    EdgeSize {
        /// Index of the edge.
        edge: usize,
    },
}

/// Most nodes that are laid out.
pub const MOST_NODES: usize = 10_000;

/// Most edges that are laid out.
pub const MOST_EDGES: usize = 30_000;

/// Most layers that all edges together may pass: long edges cost as much as many short ones.
pub const MOST_ITEMS: usize = 300_000;

/// Lays a graph out.
///
/// # Errors
/// [`LayoutError`] when the graph is not one, and when it is larger than [`MOST_NODES`], [`MOST_EDGES`] or [`MOST_ITEMS`] say.
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

//! What is laid out, what comes of it, and why a graph can be refused.

/// The nodes and edges that are laid out.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Graph {
    /// The nodes.
    pub nodes: Vec<Node>,
    /// The edges between the nodes.
    pub edges: Vec<Edge>,
}

/// A node; lengths are in pixels, or any unit of the figure.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Node {
    /// Width, in the unit of the figure.
    pub width: f64,
    /// Height, in the unit of the figure.
    pub height: f64,
    /// This much of the width, on each side, is rounded off and takes no arrows.
    pub inset: f64,
    /// Where in the flow it has to be.
    pub position: Position,
}

/// Where in the flow a node has to be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Position {
    /// Where its edges put it in the flow.
    #[default]
    Free,
    /// Above all free nodes.
    Top,
    /// Below all free nodes.
    Bottom,
}

/// An edge; lengths are in the unit of the nodes.
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

/// Distances, in the unit of the nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct Spacing {
    /// Between two nodes or labels in a layer.
    pub between_boxes: f64,
    /// Between an edge and its neighbour in a layer.
    pub beside_edges: f64,
    /// Between two layers, without the arrowheads; grows where edges run far sideways.
    pub between_layers: f64,
}

impl Default for Spacing {
    fn default() -> Self {
        Self { between_boxes: 22.0, beside_edges: 12.0, between_layers: 16.0 }
    }
}

/// A position in the figure, in the unit of the nodes.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Point {
    /// From the left side of the figure to the right.
    pub x: f64,
    /// From the upper side of the figure down.
    pub y: f64,
}

/// Where everything goes; all coordinates are within 0 to `width` and 0 to `height`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Layout {
    /// Width of the figure, in the unit of the nodes.
    pub width: f64,
    /// Height of the figure, in the unit of the nodes.
    pub height: f64,
    /// Centre of each node, in the order of [`Graph::nodes`].
    pub nodes: Vec<Point>,
    /// Route of each edge, in the order of [`Graph::edges`].
    pub edges: Vec<Route>,
}

/// The way of an edge, from its source to its target.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Route {
    /// On the border of the source.
    pub start: Point,
    /// Pieces, each beginning where the one before it ended; the last ends on the border of the
    /// target.
    pub pieces: Vec<Piece>,
    /// Centre of the label; the line enters it above and leaves it below, or it is right next to
    /// the line of a loop.
    pub label: Option<Point>,
    /// Whether it runs upwards, against the flow.
    pub against_flow: bool,
}

/// A piece of an edge's route, from where the piece before ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Piece {
    /// A straight line to this point.
    Line(Point),
    /// A cubic Bézier curve: two control points and the end.
    Curve(Point, Point, Point),
}

impl Piece {
    /// The point where the piece ends.
    pub fn end(&self) -> Point {
        match *self {
            Piece::Line(end) | Piece::Curve(_, _, end) => end,
        }
    }
}

impl Route {
    /// The point where the route ends; its start when it has no pieces.
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
        /// Index of the edge in [`Graph::edges`].
        edge: usize,
        /// Index of the node that it names.
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
        /// Index of the node in [`Graph::nodes`].
        node: usize,
    },
    /// An edge, its arrowhead or its label has no size that could be drawn.
    #[error("edge {edge} has a label, breadth or head that is negative, not finite or above 100000")]
    EdgeSize {
        /// Index of the edge in [`Graph::edges`].
        edge: usize,
    },
}

/// Most nodes that are laid out.
pub const MOST_NODES: usize = 10_000;

/// Most edges that are laid out.
pub const MOST_EDGES: usize = 30_000;

/// Most layers that all edges together may pass: long edges cost as much as many short ones.
pub const MOST_ITEMS: usize = 300_000;

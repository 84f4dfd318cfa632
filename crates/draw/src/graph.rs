//! The figure of a graph before its layout.

use crate::legend::Entry;

/// Nodes and edges with their labels, and notes for the reader.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Graph {
    /// Heading of the figure.
    pub title: String,
    /// Sentences below the heading: what was counted, what a case is, filters.
    pub facts: Vec<String>,
    /// What is not shown, in parts of a sentence; empty when everything is.
    pub left_out: Vec<String>,
    /// The nodes of the graph; edges refer to them by their index here.
    pub nodes: Vec<Node>,
    /// The edges between the nodes.
    pub edges: Vec<Edge>,
    /// Explanations of the marks, below the graph.
    pub legend: Vec<Entry>,
    /// The name of the graph in files for other programs: letters, digits and underscores.
    pub name: &'static str,
    /// The direction in which edges lead.
    pub direction: Direction,
}

/// The direction of a graph's flow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Direction {
    /// From top to bottom.
    #[default]
    Down,
    /// From left to right.
    Across,
}

/// The form of a node.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Shape {
    /// A rectangle with its name in it.
    #[default]
    Box,
    /// Where cases begin; above all others.
    Start,
    /// Where cases end; below all others.
    End,
    /// A disc, such as a place of a Petri net.
    Circle,
    /// A thin bar, such as a silent transition.
    Bar,
    /// A sheet with a turned corner: a file.
    File,
}

/// A mark that says: look here.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mark {
    /// Nothing is marked.
    #[default]
    None,
    /// A yellow halo around the node or edge.
    Halo,
}

/// A node, with its [`Shape`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Node {
    /// Unique among nodes: letters, digits and underscores, so that it can be an id in any format
    /// and be linked to.
    pub id: String,
    /// The form in which it is drawn.
    pub shape: Shape,
    /// Its name, as the log has it; broken into lines and made visible here.
    pub name: String,
    /// Lines below the name, smaller; already fit to be seen.
    pub lines: Vec<String>,
    /// Fill, `#rrggbb`.
    pub fill: String,
    /// The mark that highlights the node.
    pub mark: Mark,
    /// Whether what is known of it is uncertain: its border is dashed.
    pub unsure: bool,
    /// All that is known, in lines, for those who point at it.
    pub title: Vec<String>,
    /// The numbers for other programs.
    pub data: Vec<(&'static str, Datum)>,
}

/// A line from node to node.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Edge {
    /// Index of the node where it begins.
    pub from: usize,
    /// Index of the node at which it points.
    pub to: usize,
    /// What stands on it, in lines; already fit to be seen.
    pub label: Vec<String>,
    /// Colour, `#rrggbb`.
    pub colour: String,
    /// Width in pixels.
    pub width: f64,
    /// Whether the line is dashed.
    pub dashed: bool,
    /// Whether the line has no arrowhead.
    pub headless: bool,
    /// The mark on the line, by which it stands out.
    pub mark: Mark,
    /// Importance: heavy edges follow the flow, are short and straight.
    pub weight: u64,
    /// All that is known, in lines.
    pub title: Vec<String>,
    /// The numbers for other programs.
    pub data: Vec<(&'static str, Datum)>,
}

/// A value for other programs.
#[derive(Debug, Clone, PartialEq)]
pub enum Datum {
    /// A whole number.
    Integer(i64),
    /// A floating-point number.
    Number(f64),
    /// A text.
    Text(String),
}

impl From<u64> for Datum {
    fn from(number: u64) -> Self {
        i64::try_from(number).map_or(Self::Number(number as f64), Self::Integer)
    }
}

impl From<i64> for Datum {
    fn from(number: i64) -> Self {
        Self::Integer(number)
    }
}

impl From<i128> for Datum {
    fn from(number: i128) -> Self {
        i64::try_from(number).map_or(Self::Number(number as f64), Self::Integer)
    }
}

impl From<f64> for Datum {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<&str> for Datum {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

//! Figures: graphs and charts with their labels, colours and legends in; SVG, DOT, GraphML, GML and
//! Cytoscape's JSON out.
//!
//! - **In:** a [`Graph`]: nodes and edges with their labels, a heading, facts and a legend, before
//!   the layout. Charts are drawn on a [`sheet`] with an [`axis`] each way.
//! - **Out:** [`svg`] lays a graph out (`flowmine-layout`) and draws it; [`dot`] says the same to
//!   Graphviz; [`exchange`] gives it to other programs with all its numbers. [`plain`](plain::plain) leaves
//!   heading and legend out. With the feature `png`, `png` makes pixels of an SVG text for slides.
//!
//! **Units.** Lengths are pixels, colours `#rrggbb`. [`count`] and [`duration`] write numbers as
//! people read them.
//!
//! **Errors.** [`LayoutError`]: an edge to a node that does not exist, or more than can be laid
//! out.
//!
//! **Names** may hold anything: what is invisible or special is shown as an escape (`\n`, `\x1b`,
//! `\u{202e}`) and never reaches a file as markup. Lines below a name and on edges are taken to be
//! fit to be seen already ([`visible`] makes them so).
//!
//! ```
//! use flowmine_draw::{Edge, Graph, Node, dot, svg};
//!
//! let node = |id: &str, name: &str| Node { id: id.into(), name: name.into(), ..Node::default() };
//! let edge = Edge { from: 0, to: 1, label: vec!["3 times".into()], width: 1.0, ..Edge::default() };
//! let graph = Graph {
//!     title: "Two steps".into(),
//!     nodes: vec![node("a", "align"), node("b", "<b>")],
//!     edges: vec![edge],
//!     name: "steps",
//!     ..Graph::default()
//! };
//! let picture = svg::svg(&graph)?;
//! assert!(picture.contains("3 times") && !picture.contains("<b>"));
//! assert!(dot::dot(&graph)?.contains("digraph"));
//! # Ok::<(), flowmine_draw::LayoutError>(())
//! ```
//!
//! Nothing here knows logs or models. The same figure gives the same bytes. `docs/pictures.md`
//! describes the marks.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod axis;
pub mod document;
pub mod dot;
pub mod embed;
pub mod exchange;
pub mod graph;
pub mod json;
pub mod legend;
pub mod plain;
#[cfg(feature = "png")]
pub mod png;
pub mod scale;
pub mod sheet;
pub mod svg;
pub mod text;

pub use flowmine_layout::LayoutError;
pub use graph::{Datum, Direction, Edge, Graph, Mark, Node, Shape};
pub use text::{count, duration, visible};

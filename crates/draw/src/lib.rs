//! Pictures: graphs and charts with their words, colours and legends in; SVG, DOT, GraphML, GML and Cytoscape's JSON out.
//!
//! [`graph`] is a picture of a graph before anything has a place: boxes and lines with what stands on them, and a legend. [`svg`] lays it out
//! (`flowmine-layout`) and draws it; [`dot`] says the same to Graphviz; [`exchange`] gives it to other programs with all its numbers. With the feature `png`, `png` makes pixels
//! of an SVG text for slides. Charts are
//! drawn on a [`sheet`] with an [`axis`] each way.
//!
//! Nothing here knows logs or models. Names may hold anything: what is invisible or special is shown as an escape (`\n`, `\x1b`,
//! `\u{202e}`) and never reaches a file as markup. The same picture gives the same bytes. `docs/pictures.md` says what the marks mean.

pub mod axis;
pub mod dot;
pub mod exchange;
pub mod graph;
pub mod json;
pub mod legend;
#[cfg(feature = "png")]
pub mod png;
pub mod scale;
pub mod sheet;
pub mod svg;
pub mod text;

pub use flowmine_layout::LayoutError;
pub use graph::{Datum, Edge, Graph, Mark, Node, Shape};
pub use text::{count, duration, visible};

//! A graph for other programs: GraphML, GML and Cytoscape's JSON, each with all numbers of the picture.

use std::io::{self, Write};

use crate::graph::Graph;

/// GraphML.
///
/// # Errors
/// What the writer says.
pub fn graphml(_: &Graph, _: &mut dyn Write) -> io::Result<()> {
    Err(io::Error::other("not yet"))
}

/// GML.
///
/// # Errors
/// What the writer says.
pub fn gml(_: &Graph, _: &mut dyn Write) -> io::Result<()> {
    Err(io::Error::other("not yet"))
}

/// Cytoscape's JSON.
///
/// # Errors
/// What the writer says.
pub fn cytoscape(_: &Graph, _: &mut dyn Write) -> io::Result<()> {
    Err(io::Error::other("not yet"))
}

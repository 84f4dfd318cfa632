//! Petri net.

use super::process_model::{self, DOCUMENT, NOISE};
use super::{About, Input, Model};
use crate::error::Result;
use crate::format::Format;
use crate::found::Found;
use crate::request::Request;
use crate::sink::Sink;

/// Petri net.
pub struct Petri;

static ABOUT: About = About {
    name: "petri",
    question: "the same process model as a Petri net",
    input: Input::Log,
    has_graph_options: false,
    own: &[NOISE],
    formats: &[Format::Pnml, Format::Svg, Format::Png, Format::Dot, Format::Json, Format::Graphml, Format::Gml, Format::Cytoscape],
    documents: &[DOCUMENT],
};

impl Model for Petri {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn discover(&self, request: &Request, sink: &dyn Sink) -> Result<Found> {
        process_model::discover(request, sink, true)
    }
}

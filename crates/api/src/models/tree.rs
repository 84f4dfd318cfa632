//! Process tree.

use super::process_model::{self, DIRECTION, DOCUMENT, NOISE, ROW_WIDTH};
use super::{About, Input, Model};
use crate::error::Result;
use crate::format::Format;
use crate::found::Found;
use crate::request::Request;
use crate::sink::Sink;

/// Process tree.
pub struct Tree;

static ABOUT: About = About {
    name: "tree",
    question: "a process tree by the Inductive Miner, with fitness, precision, generalisation and alignments",
    input: Input::Log,
    has_graph_options: false,
    own: &[NOISE, DIRECTION, ROW_WIDTH],
    formats: &[Format::Svg, Format::Png, Format::Text, Format::Json, Format::Pnml, Format::Bpmn],
    documents: &[DOCUMENT],
};

impl Model for Tree {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn discover(&self, request: &Request, sink: &dyn Sink) -> Result<Found> {
        process_model::discover(request, sink, false)
    }
}

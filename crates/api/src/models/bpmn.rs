//! BPMN.

use super::process_model::{self, DIRECTION, DOCUMENT, NOISE, ROW_WIDTH};
use super::{About, Input, Model};
use crate::error::Result;
use crate::format::Format;
use crate::found::Found;
use crate::request::Request;
use crate::sink::Sink;

/// BPMN.
pub struct Bpmn;

static ABOUT: About = About {
    name: "bpmn",
    question: "the same process model as BPMN 2.0",
    input: Input::Log,
    has_graph_options: false,
    own: &[NOISE, DIRECTION, ROW_WIDTH],
    formats: &[Format::Bpmn, Format::Svg, Format::Png, Format::Json],
    documents: &[DOCUMENT],
};

impl Model for Bpmn {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn discover(&self, request: &Request, sink: &dyn Sink) -> Result<Found> {
        process_model::discover(request, sink, false)
    }
}

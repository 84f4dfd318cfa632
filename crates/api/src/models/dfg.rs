//! Directly-follows graph.

use flowmine_discover::dfg::dfg;
use flowmine_discover::pictures::dfg as picture;

use super::{About, Input, Model};
use crate::error::Result;
use crate::format::Format;
use crate::found::{Found, write_graph};
use crate::groups::{Figure, Grouped};
use crate::log;
use crate::request::Request;
use crate::sink::Sink;

/// Directly-follows graph.
pub struct Dfg;

static ABOUT: About = About {
    name: "dfg",
    question: "which activity follows which, how often, where time and bytes go",
    input: Input::Log,
    has_graph_options: true,
    own: &[],
    formats: Format::GRAPH,
    documents: &[picture::DOCUMENT],
};

impl Model for Dfg {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn discover(&self, request: &Request, sink: &dyn Sink) -> Result<Found> {
        let loaded = log::load(request, &log::Attributes::default(), sink)?;
        let _stage = sink.stage("discovering");
        let found = dfg(&loaded.log, loaded.cases()?);
        let drawing = request.drawing;
        let Figure(options) = Figure::read(&request.values);
        Ok(Found::new(request, loaded.is_lossy, move |format, out| match format {
            Format::Json => Ok(picture::json(&found, out)?),
            Format::Csv => Ok(picture::csv(&found, out)?),
            _ => write_graph(picture::graph(&found, &options), drawing, format, out),
        }))
    }
}

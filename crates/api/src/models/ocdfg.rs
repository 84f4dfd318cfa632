//! Object-centric directly-follows graph.

use flowmine_discover::ocdfg::ocdfg;
use flowmine_discover::pictures::ocdfg as picture;

use super::{About, Input, Model};
use crate::error::{Result, refuse};
use crate::format::Format;
use crate::found::{Found, write_graph};
use crate::groups::{Figure, Grouped};
use crate::log;
use crate::options::OptionSpec;
use crate::request::Request;
use crate::sink::Sink;

/// Object-centric directly-follows graph.
pub struct ObjectDfg;

static ABOUT: About = About {
    name: "ocdfg",
    question: "the same for each type of objects (jobs, users, files, orders), in one graph",
    input: Input::Objects,
    has_graph_options: true,
    own: &[OptionSpec::text("object-types", "TYPE", "Types of objects, separated by commas; by default all").list()],
    formats: Format::GRAPH,
    documents: &[picture::DOCUMENT],
};

impl Model for ObjectDfg {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn discover(&self, request: &Request, sink: &dyn Sink) -> Result<Found> {
        let types = request.values.texts("object-types");
        let loaded = log::load(request, &log::Attributes::default(), sink)?;
        let _stage = sink.stage("discovering");
        let found = ocdfg(&loaded.log, &types);
        if let Some(missing) = types.iter().find(|name| found.types.iter().all(|of| of.kind != **name)) {
            let known: Vec<&str> = loaded.log.groups.iter().map(|group| group.kind.as_str()).collect();
            refuse!("there are no objects of type {missing:?}; there are: {}", known.join(", "));
        }
        let drawing = request.drawing;
        let Figure(options) = Figure::read(&request.values);
        Ok(Found::new(request, loaded.is_lossy, move |format, out| match format {
            Format::Json => Ok(picture::json(&found, out)?),
            Format::Csv => Ok(picture::csv(&found, out)?),
            _ => write_graph(picture::graph(&found, &options), drawing, format, out),
        }))
    }
}

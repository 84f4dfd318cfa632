//! Handover of work.

use flowmine_discover::handover::{self, Options};
use flowmine_discover::pictures::handover as picture;

use super::{About, Input, Model};
use crate::error::Result;
use crate::format::Format;
use crate::found::{Found, write_graph};
use crate::log::{self, Attributes};
use crate::options::OptionSpec;
use crate::request::Request;
use crate::sink::Sink;

/// Handover of work.
pub struct Handover;

static ABOUT: About = About {
    name: "handover",
    question: "who hands work to whom (users, hosts, accounts), how often, and how long it takes",
    input: Input::Log,
    has_graph_options: false,
    own: &[OptionSpec::text("by", "KEY", "Attribute of the two sides of a handover; by default the resource")
        .details("Of jobs user, account or node_list; of tasks host; of other logs any attribute, such as org:group")],
    formats: &[
        Format::Text,
        Format::Svg,
        Format::Png,
        Format::Csv,
        Format::Json,
        Format::Dot,
        Format::Graphml,
        Format::Gml,
        Format::Cytoscape,
    ],
    documents: &[picture::DOCUMENT],
};

impl Model for Handover {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn discover(&self, request: &Request, sink: &dyn Sink) -> Result<Found> {
        let drawing = request.drawing;
        let options = Options { by: request.values.text("by") };
        let attributes = Attributes { of_all: options.by.iter().cloned().collect(), ..Attributes::default() };
        let loaded = log::load(request, &attributes, sink)?;
        let _stage = sink.stage("discovering");
        let found = handover::discover(&loaded.log, loaded.cases()?, &options);
        Ok(Found::new(request, loaded.is_lossy, move |format, out| match format {
            Format::Json => Ok(picture::json(&found, out)?),
            Format::Csv => Ok(picture::csv(&found, out)?),
            Format::Text => Ok(out.write_all(picture::text(&found).as_bytes())?),
            _ => write_graph(picture::graph(&found), drawing, format, out),
        }))
    }
}

//! Batches of instances.

use flowmine_discover::batches;
use flowmine_discover::pictures::batches as picture;

use super::{About, Input, Model};
use crate::error::Result;
use crate::format::Format;
use crate::found::Found;
use crate::log;
use crate::options::{Kind, OptionSpec};
use crate::request::Request;
use crate::sink::Sink;

/// Batches of instances.
pub struct Batches;

static ABOUT: About = About {
    name: "batches",
    question: "which instances of an activity were done together",
    input: Input::Log,
    has_graph_options: false,
    own: &[OptionSpec::new("batch-gap", "TIME", Kind::Length, "Longest time from the end of an instance to the next one of its batch")
        .by_default("15m")],
    formats: Format::CHART,
    documents: &[picture::DOCUMENT],
};

impl Model for Batches {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn discover(&self, request: &Request, sink: &dyn Sink) -> Result<Found> {
        let usual = batches::Options::default();
        let merge_distance_ns = request.values.length_ns("batch-gap").unwrap_or(usual.merge_distance_ns);
        let options = batches::Options { merge_distance_ns, ..usual };
        let loaded = log::load(request, &log::Attributes::default(), sink)?;
        let _stage = sink.stage("discovering");
        let found = batches::discover(&loaded.log, loaded.cases()?, &options);
        Ok(Found::new(request, loaded.is_lossy, move |format, out| match format {
            Format::Json => Ok(picture::json(&found, out)?),
            Format::Csv => Ok(picture::csv(&found, out)?),
            _ => Ok(out.write_all(picture::svg(&found, &picture::Drawing::default()).as_bytes())?),
        }))
    }
}

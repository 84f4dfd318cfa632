//! Resources occupied and used.

use flowmine_discover::pictures::resources as picture;
use flowmine_discover::resources;

use super::{About, Input, Model};
use crate::error::Result;
use crate::format::Format;
use crate::found::Found;
use crate::log::{self, Attributes};
use crate::request::Request;
use crate::sink::Sink;

/// Resources occupied and used.
pub struct Resources;

static ABOUT: About = About {
    name: "resources",
    question: "core-hours, GPU-hours and memory occupied and used, losses to failures, cancellations and idle CPUs, and efficiencies",
    input: Input::Log,
    has_graph_options: false,
    own: &[],
    formats: Format::LIST,
    documents: &[picture::DOCUMENT],
};

impl Model for Resources {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn discover(&self, request: &Request, sink: &dyn Sink) -> Result<Found> {
        let loaded = log::load(request, &Attributes::of_resources(), sink)?;
        let _stage = sink.stage("discovering");
        let found = resources::discover(&loaded.log, loaded.cases()?);
        Ok(Found::new(request, loaded.is_lossy, move |format, out| match format {
            Format::Json => Ok(picture::json(&found, out)?),
            Format::Csv => Ok(picture::csv(&found, out)?),
            _ => Ok(out.write_all(picture::text(&found).as_bytes())?),
        }))
    }
}

//! Lifecycle of activities.

use flowmine_discover::lifecycle;
use flowmine_discover::pictures::lifecycle as picture;

use super::{About, Input, Model};
use crate::error::Result;
use crate::format::Format;
use crate::found::Found;
use crate::log;
use crate::request::Request;
use crate::sink::Sink;

/// Lifecycle of activities.
pub struct Lifecycle;

static ABOUT: About = About {
    name: "lifecycle",
    question: "where activities spend their time (queued, running), and their outcome",
    input: Input::Log,
    has_graph_options: false,
    own: &[],
    formats: Format::CHART,
    documents: &[picture::DOCUMENT],
};

impl Model for Lifecycle {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn discover(&self, request: &Request, sink: &dyn Sink) -> Result<Found> {
        let loaded = log::load(request, &log::Attributes::default(), sink)?;
        let _stage = sink.stage("discovering");
        let found = lifecycle::discover(&loaded.log, loaded.cases()?, &lifecycle::Options::default());
        Ok(Found::new(request, loaded.is_lossy, move |format, out| match format {
            Format::Json => Ok(picture::json(&found, out)?),
            Format::Csv => Ok(picture::csv(&found, out)?),
            _ => Ok(out.write_all(picture::svg(&found, &picture::Drawing::default()).as_bytes())?),
        }))
    }
}

//! Bottlenecks.

use flowmine_activity_log::{NOT_READY_FOR, QUEUED_FOR};
use flowmine_discover::bottlenecks;
use flowmine_discover::pictures::bottlenecks as picture;

use super::{About, Input, Model};
use crate::error::Result;
use crate::format::Format;
use crate::found::Found;
use crate::log::{self, Attributes};
use crate::request::Request;
use crate::sink::Sink;

/// Bottlenecks.
pub struct Bottlenecks;

static ABOUT: About = About {
    name: "bottlenecks",
    question: "what costs most: queue waits, slow steps, failures, stragglers, small or repeated reads, idle CPUs; with the time at stake and advice",
    input: Input::Log,
    has_graph_options: false,
    own: &[],
    formats: Format::LIST,
    documents: &[picture::DOCUMENT],
};

impl Model for Bottlenecks {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn discover(&self, request: &Request, sink: &dyn Sink) -> Result<Found> {
        // The list names jobs, tasks and what they waited for.
        let mut attributes = Attributes::of_evidence();
        attributes.of_jobs.extend([QUEUED_FOR, NOT_READY_FOR].map(str::to_owned));
        let loaded = log::load(request, &attributes, sink)?;
        let _stage = sink.stage("discovering");
        let found = bottlenecks::discover(&loaded.log, loaded.cases()?, &bottlenecks::Options::default());
        Ok(Found::new(request, loaded.is_lossy, move |format, out| match format {
            Format::Json => Ok(picture::json(&found, out)?),
            Format::Csv => Ok(picture::csv(&found, out)?),
            _ => Ok(out.write_all(picture::text(&found).as_bytes())?),
        }))
    }
}

//! Sequences of activities.

use flowmine_discover::pictures::variants as picture;
use flowmine_discover::variants;

use super::{About, Input, Model};
use crate::error::Result;
use crate::format::Format;
use crate::found::Found;
use crate::log;
use crate::request::Request;
use crate::sink::Sink;

/// Sequences of activities.
pub struct Variants;

static ABOUT: About = About {
    name: "variants",
    question: "which sequences of activities there are, with shares, times and bytes",
    input: Input::Log,
    has_graph_options: false,
    own: &[],
    formats: Format::CHART,
    documents: &[picture::DOCUMENT],
};

impl Model for Variants {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn discover(&self, request: &Request, sink: &dyn Sink) -> Result<Found> {
        let loaded = log::load(request, &log::Attributes::default(), sink)?;
        let _stage = sink.stage("discovering");
        let found = variants::discover(&loaded.log, loaded.cases()?, &variants::Options::default());
        Ok(Found::new(request, loaded.is_lossy, move |format, out| match format {
            Format::Json => Ok(picture::json(&found, out)?),
            Format::Csv => Ok(picture::csv(&found, out)?),
            _ => Ok(out.write_all(picture::svg(&found, &picture::Drawing::default()).as_bytes())?),
        }))
    }
}

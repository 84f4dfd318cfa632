//! Constraints between activities.

use flowmine_discover::pictures::process_model as picture;
use flowmine_discover::process_model;
use flowmine_process_models::declare::Options;

use super::{About, Input, Model};
use crate::error::Result;
use crate::format::Format;
use crate::found::Found;
use crate::log;
use crate::request::Request;
use crate::sink::Sink;

/// Constraints between activities.
pub struct Declare;

static ABOUT: About = About {
    name: "declare",
    question: "which constraints the cases keep, such as response(align, merge)",
    input: Input::Log,
    has_graph_options: false,
    own: &[],
    formats: Format::LIST,
    documents: &[picture::CONSTRAINTS_DOCUMENT],
};

impl Model for Declare {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn discover(&self, request: &Request, sink: &dyn Sink) -> Result<Found> {
        let loaded = log::load(request, &log::Attributes::default(), sink)?;
        let _stage = sink.stage("discovering");
        let found = process_model::constraints(&loaded.log, loaded.cases()?, &Options::default())?;
        Ok(Found::new(request, loaded.is_lossy, move |format, out| match format {
            Format::Json => Ok(picture::constraints_json(&found, out)?),
            Format::Csv => Ok(picture::constraints_csv(&found, out)?),
            _ => Ok(out.write_all(picture::constraints_text(&found).as_bytes())?),
        }))
    }
}

//! Performance spectrum.

use flowmine_discover::performance_spectrum;
use flowmine_discover::pictures::performance_spectrum as picture;

use super::{About, Input, Model};
use crate::error::Result;
use crate::format::Format;
use crate::found::Found;
use crate::log;
use crate::options::OptionSpec;
use crate::request::Request;
use crate::sink::Sink;

/// Performance spectrum.
pub struct PerformanceSpectrum;

static ABOUT: About = About {
    name: "performance-spectrum",
    question: "where cases slow down: each passage from activity to activity over time",
    input: Input::Log,
    has_graph_options: false,
    own: &[OptionSpec::text("segments", "NAME", "Activities in their order; by default those of the most frequent variant").list()],
    formats: Format::CHART,
    documents: &[picture::DOCUMENT],
};

impl Model for PerformanceSpectrum {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn discover(&self, request: &Request, sink: &dyn Sink) -> Result<Found> {
        let options = performance_spectrum::Options { path: request.values.texts("segments"), ..performance_spectrum::Options::default() };
        let loaded = log::load(request, &log::Attributes::default(), sink)?;
        let _stage = sink.stage("discovering");
        let found = performance_spectrum::discover(&loaded.log, loaded.cases()?, &options)?;
        Ok(Found::new(request, loaded.is_lossy, move |format, out| match format {
            Format::Json => Ok(picture::json(&found, out)?),
            Format::Csv => Ok(picture::csv(&found, out)?),
            _ => Ok(out.write_all(picture::svg(&found, &picture::Drawing::default()).as_bytes())?),
        }))
    }
}

//! Declared dependencies and files against what was done.

use flowmine_discover::dependency_audit;
use flowmine_discover::pictures::dependency_audit as picture;

use super::{About, Input, Model};
use crate::error::Result;
use crate::format::Format;
use crate::found::Found;
use crate::one_run;
use crate::request::Request;
use crate::sink::Sink;

/// Declared dependencies and files against what was done.
pub struct DependencyAudit;

static ABOUT: About = About {
    name: "dependency-audit",
    question: "declared against traced dependencies: races, needless waits, undeclared files, files that no task read",
    input: Input::Run,
    has_graph_options: false,
    own: &[],
    formats: Format::LIST,
    documents: &[picture::DOCUMENT],
};

impl Model for DependencyAudit {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn discover(&self, request: &Request, sink: &dyn Sink) -> Result<Found> {
        let (_, run) = one_run::read(request, sink)?;
        let _stage = sink.stage("discovering");
        let found = dependency_audit::discover(&run);
        Ok(Found::new(request, false, move |format, out| match format {
            Format::Json => Ok(picture::json(&found, out)?),
            Format::Csv => Ok(picture::csv(&found, out)?),
            _ => Ok(out.write_all(picture::text(&found).as_bytes())?),
        }))
    }
}

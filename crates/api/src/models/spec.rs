//! A run as a workflow that can be run again.

use flowmine_discover::pictures::spec as language;
use flowmine_discover::spec;
use flowmine_logs::unrecorded;

use super::{About, Input, Model, spec_notes};
use crate::error::{Context, Result};
use crate::format::Format;
use crate::found::Found;
use crate::one_run;
use crate::request::Request;
use crate::sink::Sink;

/// A run as a workflow that can be run again.
pub struct Spec;

static ABOUT: About = About {
    name: "spec",
    question: "the run as a workflow that can be run again, for Makeflow, Snakemake or Slurm",
    input: Input::Run,
    has_graph_options: false,
    own: &[],
    formats: &[Format::Makeflow, Format::Make, Format::Snakemake, Format::Slurm],
    documents: &[],
};

impl Model for Spec {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn discover(&self, request: &Request, sink: &dyn Sink) -> Result<Found> {
        let (dataset, mut run) = one_run::read(request, sink)?;
        unrecorded::find(&dataset, &mut run)?;
        let _stage = sink.stage("discovering");
        let made = spec::discover(&run).with_context(|| format!("{} cannot be written as a workflow", run.name))?;
        let is_lossy = spec_notes::report(&made, sink);
        Ok(Found::new(request, is_lossy, move |format, out| {
            let text = match format {
                Format::Make => language::make(&made)?,
                Format::Snakemake => language::snakemake(&made)?,
                Format::Slurm => language::slurm(&made)?,
                _ => language::makeflow(&made)?,
            };
            Ok(out.write_all(text.as_bytes())?)
        }))
    }
}

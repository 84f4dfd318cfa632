//! A run as a workflow that can be run again.

use flowmine_discover::pictures::spec as language;
use flowmine_discover::spec::{self, Workflow};
use flowmine_logs::unrecorded;

use super::{About, Input, Model};
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
};

impl Model for Spec {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn discover(&self, request: &Request, sink: &dyn Sink) -> Result<Found> {
        let (dataset, mut run) = one_run::read(request, sink)?;
        unrecorded::find(&dataset, &mut run)?;
        unrecorded::find_renames(&dataset, &mut run)?;
        let _stage = sink.stage("discovering");
        let made = spec::discover(&run).with_context(|| format!("{} cannot be written as a workflow", run.name))?;
        report_doubts(&made, sink);
        let is_lossy = !(made.doubts.is_empty() && made.doubts_of_script.is_empty());
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

/// Reports what may differ between the workflow and the run.
fn report_doubts(made: &Workflow, sink: &dyn Sink) {
    if made.cached > 0 {
        let words = "tasks were not run because earlier results were taken; they are in the workflow";
        sink.warning(&format!("{} {words}", made.cached));
    }
    if made.of_script {
        sink.note("variables that the script set for its commands are not in the workflow: the trace does not record them");
    }
    for (task, doubt) in &made.doubts {
        sink.warning(&format!("the command of {task:?} may not be all of it: {doubt}"));
    }
    for doubt in &made.doubts_of_script {
        sink.warning(doubt);
    }
    if let Some(directory) = &made.directory {
        sink.note(&format!("the workflow is to be run in {directory:?}"));
    }
}

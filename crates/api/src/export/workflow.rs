//! A run of a dataset as a workflow that can be run again.

use flowmine_activity_log::TimeFrame;
use flowmine_correlate::Timestamp;
use flowmine_discover::pictures::workflow::{self as language, LanguageError};
use flowmine_discover::workflow::{self, Workflow};
use flowmine_logs::unrecorded;

use super::{Exported, Request, workflow_notes};
use crate::error::{Context, Result, ensure};
use crate::groups::Part;
use crate::one_run::{self, Chosen};
use crate::output;
use crate::sink::Sink;

/// Writes a workflow in a language.
type Write = fn(&Workflow) -> Result<String, LanguageError>;

/// Writes the run for Makeflow, in JX.
pub fn makeflow(request: &Request, sink: &dyn Sink) -> Result<Exported> {
    export(request, language::makeflow, sink)
}

/// Writes the run for Makeflow, in its own language.
pub fn make(request: &Request, sink: &dyn Sink) -> Result<Exported> {
    export(request, language::make, sink)
}

/// Writes the run for Snakemake.
pub fn snakemake(request: &Request, sink: &dyn Sink) -> Result<Exported> {
    export(request, language::snakemake, sink)
}

/// Writes the run for Slurm, as a script that submits its jobs.
pub fn slurm(request: &Request, sink: &dyn Sink) -> Result<Exported> {
    export(request, language::slurm, sink)
}

fn export(request: &Request, write: Write, sink: &dyn Sink) -> Result<Exported> {
    let what = format!("{} is a workflow that is made of one run", request.format.name);
    ensure!(
        request.case_notion.is_none() && !request.milliseconds && request.timestamp == Timestamp::default(),
        "{what}: --case-notion, --milliseconds and --timestamp are for event logs"
    );
    ensure!(!request.columns.is_some(), "{what}: --case-column and the like are for tables (CSV, Parquet)");
    // Names appear in each path and command: codes in their places would be another workflow.
    ensure!(
        request.pseudonymise.is_none() && request.drop.is_empty(),
        "{what} with names as they are: --pseudonymise and --drop are for event logs"
    );
    let mut part: Part = request.of_log.clone();
    let cases = std::mem::take(&mut part.filter.case_names);
    ensure!(
        part.is_open() && part.filter.frame == TimeFrame::default(),
        "{what}: choose the run with --run or --case; filters by activity, path, variant and attribute are for event logs"
    );
    let chosen = Chosen { source: &request.source, run: request.run.as_deref(), cases: &cases, filter: &request.filter };
    let (dataset, mut run) = one_run::read_chosen(&chosen, sink)?;
    unrecorded::find(&dataset, &mut run)?;
    let _stage = sink.stage("writing the workflow");
    let made = workflow::discover(&run).with_context(|| format!("{} cannot be written as a workflow", run.name))?;
    let text = write(&made)?;
    let is_lossy = workflow_notes::report(&made, sink);
    output::write(request.place(), |out| Ok(out.write_all(text.as_bytes())?))?;
    Ok(Exported { is_lossy })
}

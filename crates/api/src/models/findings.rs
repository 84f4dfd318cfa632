//! Findings.

use std::cmp::Reverse;

use flowmine_activity_log::{ActivityLog, Cases, NOT_READY_FOR, QUEUED_FOR, RunGraph};
use flowmine_dataset::Dataset;
use flowmine_discover::about;
use flowmine_discover::critical_path::{self, CriticalPath};
use flowmine_discover::findings::{self, Input as Made, waits};
use flowmine_discover::io_profile::Profile;
use flowmine_discover::pictures::findings as picture;
use flowmine_logs::process_groups::GroupBy;
use flowmine_schema::tables::Process;

use super::{About, Input, Model, io_profile};
use crate::error::{Result, is_of_dataset};
use crate::format::Format;
use crate::found::Found;
use crate::groups::CASE;
use crate::log::{self, Attributes, Loaded};
use crate::predicted_gains::FittedRun;
use crate::report::messages::Messages;
use crate::request::Request;
use crate::sink::Sink;
use crate::{job_waits, one_run, usual_notion};

/// Findings.
pub struct Findings;

static ABOUT: About = About {
    name: "findings",
    question: "what costs most and can be changed: waits by cause, failures, slow nodes, idle CPUs and memory, small or repeated reads; with gain and action",
    input: Input::Log,
    has_graph_options: false,
    own: &[],
    formats: Format::LIST,
    documents: &[picture::DOCUMENT],
};

/// The attributes of instances from which findings are made.
pub(crate) fn attributes() -> Attributes {
    let owned = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect::<Vec<_>>();
    let mut attributes = Attributes::of_evidence();
    attributes.of_jobs.extend(owned(&[QUEUED_FOR, NOT_READY_FOR, "partition", flowmine_discover::resources::STATE, findings::NODES]));
    attributes.of_tasks.extend(owned(&findings::OF_TASKS));
    attributes.of_files.extend(owned(&findings::OF_TASKS));
    attributes.of_files.extend(owned(&["slurm:state", "slurm:exit_code", "slurm:partition", "slurm:node_list", QUEUED_FOR]));
    attributes
}

/// What findings are made of besides a log.
#[derive(Debug, Default)]
pub(crate) struct Evidence {
    pub waits: Option<Vec<waits::Wait>>,
    pub run: Option<(RunGraph, CriticalPath)>,
    pub profile: Option<Profile>,
    pub prediction: Option<FittedRun>,
}

impl Evidence {
    /// Findings of a log with this evidence.
    pub fn findings(&self, loaded: &Loaded) -> Result<findings::Findings> {
        Ok(findings::discover(&Made {
            log: &loaded.log,
            cases: loaded.cases()?,
            waits: self.waits.as_deref(),
            run: self.run.as_ref().map(|(run, _)| run),
            path: self.run.as_ref().map(|(_, path)| path),
            profile: self.profile.as_ref(),
            prediction: self.prediction.as_ref().map(|model| model as _),
        }))
    }

    /// Reads it of the dataset of a request, of which the log was read.
    fn read(request: &Request, loaded: &Loaded, sink: &dyn Sink) -> Result<Self> {
        let Some(dir) = request.source.only_dataset() else { return Ok(Self::default()) };
        let dataset = Dataset::open(dir)?;
        let mut evidence = Self::default();
        let mut builder = waits::Builder::new(&loaded.log);
        // A notion of tasks has no waits of jobs.
        let notion = usual_notion::chosen(request.cases.case_notion.as_deref());
        if let (true, Ok(notion)) = (builder.is_wanted(), notion) {
            job_waits::for_each(&dataset, notion, &request.filter, request.cases.timestamp, sink, |job| builder.add(job))?;
            evidence.waits = builder.finish();
        }
        let cases = loaded.cases()?;
        if let Some(case) = longest(&loaded.log, cases, 1).first().filter(|case| cases.of(**case).len() <= MOST_INSTANCES) {
            evidence.run = run_of(&dataset, request, cases.names.get(*case as u32), sink)?;
        }
        let longest = longest(&loaded.log, cases, 1).first().map(|case| cases.names.get(*case as u32));
        evidence.prediction = FittedRun::new(&request.source, &dataset, longest)?;
        if dataset.row_count::<Process<'static>>()? > 0 {
            // A trace of processes alone has no operations: then there is nothing to profile.
            evidence.profile = match io_profile::of_whole(&dataset, GroupBy::Activity, sink) {
                Ok((found, _)) => Some(found),
                Err(error) if is_of_dataset(&error) => return Err(error),
                Err(_) => None,
            };
        }
        Ok(evidence)
    }
}

/// The most instances of a case that is read as a run.
pub(crate) const MOST_INSTANCES: usize = 20_000;

/// The cases with the longest time from begin to end, longest first: those with several instances,
/// if there are any.
pub(crate) fn longest(log: &ActivityLog, cases: &Cases, number: usize) -> Vec<usize> {
    let mut found: Vec<usize> = (0..cases.len()).filter(|&case| cases.of(case).len() > 0).collect();
    if found.iter().any(|&case| cases.of(case).len() > 1) {
        found.retain(|&case| cases.of(case).len() > 1);
    }
    let length = |case: usize| about::span(log, cases, case).map(|(begin, end)| i128::from(end) - i128::from(begin));
    let mut found: Vec<_> = found.into_iter().map(|case| (Reverse(length(case)), cases.names.get(case as u32), case)).collect();
    if found.len() > number && number > 0 {
        found.select_nth_unstable(number - 1);
    }
    found.truncate(number);
    found.sort_unstable();
    found.into_iter().map(|(_, _, case)| case).collect()
}

/// The run that a case is, with its critical path; `None` where the case is no run.
fn run_of(dataset: &Dataset, request: &Request, case: &str, sink: &dyn Sink) -> Result<Option<(RunGraph, CriticalPath)>> {
    let Ok(mut of_run) = Request::read("critical-path", request.source.clone(), None, [(CASE.name, case)]) else { return Ok(None) };
    of_run.filter = request.filter.clone();
    let run = match one_run::graph(dataset, &of_run, sink).and_then(|run| Ok(run?)) {
        Ok(run) => run,
        Err(error) if is_of_dataset(&error) => return Err(error),
        // A case of another notion is no run.
        Err(_) => return Ok(None),
    };
    let path = critical_path::discover(&run, &critical_path::Options::default());
    Ok(Some((run, path)))
}

impl Model for Findings {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn discover(&self, request: &Request, sink: &dyn Sink) -> Result<Found> {
        // Log, waits and profile are read of one dataset, and each reports what it lacks.
        let messages = Messages::new(sink);
        let sink: &dyn Sink = &messages;
        let loaded = log::load(request, &attributes(), sink)?;
        let evidence = Evidence::read(request, &loaded, sink)?;
        let _stage = sink.stage("discovering");
        let found = evidence.findings(&loaded)?;
        Ok(Found::new(request, loaded.is_lossy, move |format, out| match format {
            Format::Json => Ok(picture::json(&found, out)?),
            Format::Csv => Ok(picture::csv(&found, out)?),
            _ => Ok(out.write_all(picture::text(&found).as_bytes())?),
        }))
    }
}

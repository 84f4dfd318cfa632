//! The run of which a model is made: a run of an engine, or a case of any notion.

use flowmine_activity_log::RunGraph;
use flowmine_correlate::cases::CaseNotion;
use flowmine_correlate::{Overview, Timestamp};
use flowmine_dataset::Dataset;
use flowmine_logs::run_graph::{self, NotionOfCase, RunGraphError, RunPart};
use flowmine_logs::task_log::Tasks;
use flowmine_privacy::RowRules;

use crate::error::{Context, Error, Result, ensure, refuse};
use crate::groups::{CASE, EventFilter};
use crate::request::Request;
use crate::sink::Sink;
use crate::source::SourcePaths;
use crate::{jobs, lower_bounds};

/// Number of cases that a warning names.
const NAMED: usize = 3;

/// A run that is chosen.
pub struct Chosen<'a> {
    /// Source; only a dataset has runs.
    pub source: &'a SourcePaths,
    /// Name or id of the run.
    pub run: Option<&'a str>,
    /// Names of the cases that are the run, as NOTION:NAME.
    pub cases: &'a [String],
    /// Filter of jobs and of times.
    pub filter: &'a EventFilter,
}

/// Opens the dataset of a request and reads its run.
pub fn read(request: &Request, sink: &dyn Sink) -> Result<(Dataset, RunGraph)> {
    let cases = request.values.texts(CASE.name);
    read_chosen(&Chosen { source: &request.source, run: request.run.as_deref(), cases: &cases, filter: &request.filter }, sink)
}

/// Opens the dataset of a chosen run and reads the run.
pub fn read_chosen(chosen: &Chosen<'_>, sink: &dyn Sink) -> Result<(Dataset, RunGraph)> {
    let Some(dir) = chosen.source.only_dataset() else {
        refuse!(
            "a run has dependencies between its tasks, and event logs do not record them: give a dataset, or files of the engine, instead of \
             an event log"
        );
    };
    let dataset = Dataset::open(dir)?;
    lower_bounds::warn(&dataset, sink)?;
    let _stage = sink.stage("reading the dataset");
    let run = graph_of(&dataset, chosen, sink)?.with_context(|| format!("{}: this model needs one run", dir.display()))?;
    warn_of_cases(&run, sink);
    Ok((dataset, run))
}

/// The run that a request chooses with `--run` or `--case`. The inner error is that of the choice.
///
/// # Errors
/// When the request contradicts itself, or the dataset cannot be read.
pub fn graph(dataset: &Dataset, request: &Request, sink: &dyn Sink) -> Result<Result<RunGraph, RunGraphError>> {
    let cases = request.values.texts(CASE.name);
    let chosen = Chosen { source: &request.source, run: request.run.as_deref(), cases: &cases, filter: &request.filter };
    graph_of(dataset, &chosen, sink)
}

/// Each of some cases as a run of its own, in the order of their names. The inner error is that of
/// one case.
///
/// # Errors
/// When the dataset cannot be read, or the cases are of no notion or of several.
pub fn graphs(dataset: &Dataset, filter: &EventFilter, cases: &[String], sink: &dyn Sink) -> Result<Vec<Result<RunGraph, RunGraphError>>> {
    let rules = RowRules::default();
    let times = jobs::time_filter(filter)?;
    let filter = jobs::filter(filter)?;
    let tasks = Tasks::new(dataset, &rules, &times);
    match notion(cases)? {
        None => Ok(Vec::new()),
        Some(NotionOfCase::Tasks(notion)) => {
            let read = |case| run_graph::read(dataset, &tasks, &filter, RunPart::TaskCases(notion, std::slice::from_ref(case)));
            Ok(cases.iter().map(read).collect())
        }
        Some(NotionOfCase::Jobs(notion)) => {
            let overview = overview(dataset, &rules, notion, sink)?;
            Ok(run_graph::of_job_cases(dataset, &tasks, &filter, notion, cases, &overview)?)
        }
    }
}

/// What a notion of jobs needs to know of all of them.
fn overview(dataset: &Dataset, rules: &RowRules, notion: &'static dyn CaseNotion, sink: &dyn Sink) -> Result<Overview> {
    if !notion.uses_data_flow() && notion.grouping().is_none() {
        return Ok(Overview::default());
    }
    let parts = jobs::parts(dataset, Timestamp::default(), rules, sink)?;
    jobs::overview(dataset, &parts, rules, &[notion], sink)
}

fn graph_of(dataset: &Dataset, chosen: &Chosen<'_>, sink: &dyn Sink) -> Result<Result<RunGraph, RunGraphError>> {
    let rules = RowRules::default();
    let times = jobs::time_filter(chosen.filter)?;
    let filter = jobs::filter(chosen.filter)?;
    let tasks = Tasks::new(dataset, &rules, &times);
    let read = |part| Ok(run_graph::read(dataset, &tasks, &filter, part));
    let Some(notion) = notion(chosen.cases)? else {
        return read(chosen.run.map_or(RunPart::Whole, RunPart::Run));
    };
    ensure!(chosen.run.is_none(), "--run and --case both choose the run: leave one out");
    match notion {
        NotionOfCase::Tasks(notion) => read(RunPart::TaskCases(notion, chosen.cases)),
        NotionOfCase::Jobs(notion) => {
            let overview = overview(dataset, &rules, notion, sink)?;
            read(RunPart::JobCases(notion, chosen.cases, &overview))
        }
    }
}

/// The notion of the cases that are asked for; `None` where none is.
fn notion(cases: &[String]) -> Result<Option<NotionOfCase>> {
    let mut found: Option<NotionOfCase> = None;
    for case in cases {
        let Some(notion) = NotionOfCase::new(case) else {
            return Err(Error::Refused(format!(
                "{case:?} is no case that can be a run: a case is named as NOTION:NAME, with one of the notions {}",
                NotionOfCase::all().map(NotionOfCase::name).collect::<Vec<_>>().join(", ")
            )));
        };
        if let Some(found) = found {
            ensure!(found.name() == notion.name(), "the cases of --case are of different notions: {} and {}", found.name(), notion.name());
        }
        found = Some(notion);
    }
    Ok(found)
}

/// Warns where jobs that do not depend on each other are taken as one run.
pub fn warn_of_cases(run: &RunGraph, sink: &dyn Sink) {
    if run.cases.len() > 1 {
        let longest = run.cases[..run.cases.len().min(NAMED)].join(", ");
        sink.warning(&format!(
            "the jobs are {} cases that do not depend on each other, treated as one run here: choose one with --case; the longest: {longest}",
            run.cases.len()
        ));
    }
}

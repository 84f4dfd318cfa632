//! The report: one page about whatever was given.
//!
//! All models that the page shows are made of one log, which is read once; what jobs waited for,
//! the critical path and the profile are read of the dataset. What cannot be made is missing on the
//! page, with the reason.

mod damage;
mod details;
pub(crate) mod messages;
mod text;
mod views;

use flowmine_dataset::Dataset;
use flowmine_discover::io_profile::Profile;
use flowmine_discover::summary::{self, Summary};
use flowmine_discover::{arrivals, findings, history, requests, resources, variants, waits};
use flowmine_logs::process_groups::GroupBy;
use flowmine_logs::summary::diagnostic_counts;
use flowmine_report::{LogResults, Outcome, Quality, Results, WaitResults};
use flowmine_schema::tables::Process;

use crate::error::{Context, Error, Result, chain, ensure};
use crate::groups::{CaseOptions, EventFilter, TableColumns};
use crate::log::{self, Attributes, Loaded};
use crate::models::findings::Evidence;
use crate::models::{self, gantt, io_profile};
use crate::predicted_gains::FittedRun;
use crate::request::Request;
use crate::sink::Sink;
use crate::source::SourcePaths;
use crate::{job_waits, lower_bounds, usual_notion};

use damage::Damage;
use messages::Messages;

pub use flowmine_report::Place;
pub use text::text;

/// What a report is made of.
#[derive(Debug, Clone, Default)]
pub struct ReportRequest {
    /// The dataset or log files.
    pub source: SourcePaths,
    /// What a case, an event and an activity are.
    pub cases: CaseOptions,
    /// Which events are read.
    pub filter: EventFilter,
    /// Which columns of a table hold what.
    pub columns: TableColumns,
    /// Where the page is opened.
    pub place: Place,
}

/// A report.
#[derive(Debug)]
pub struct Report {
    /// The page: HTML.
    pub html: String,
    /// The tables of its log, where there is a log.
    pub tables: Option<Tables>,
    /// Whether something of the sources was lost, or could not be read.
    pub is_lossy: bool,
}

/// What a page shows of its log, for files next to it.
#[derive(Debug)]
pub struct Tables {
    /// What costs time and can be changed.
    pub findings: findings::Findings,
    /// Activities and cases in numbers.
    pub summary: Summary,
}

/// Makes a report.
///
/// # Errors
/// When a log file or the dataset as a whole cannot be read, or the page cannot be made. A dataset
/// of which a table is damaged, or that is empty, gives a page that states so.
pub fn report(request: &ReportRequest, sink: &dyn Sink) -> Result<Report> {
    let messages = Messages::new(sink);
    let dataset = request.source.only_dataset().map(Dataset::open).transpose()?;
    let sink: &dyn Sink = &messages;
    let damage = Damage::new(sink);
    let (loaded, mut is_lossy) = match load(request, sink) {
        Ok(loaded) => {
            let is_lossy = loaded.0.is_lossy;
            (Ok(loaded), is_lossy)
        }
        // What the caller has to decide is no fault of the data.
        Err(error @ Error::Refused(_)) => return Err(error),
        Err(error) if dataset.is_none() => return Err(error),
        Err(error) => {
            let reason = chain(&error);
            sink.warning(&format!("the report has no log: {reason}"));
            (Err(reason), true)
        }
    };
    let loaded = loaded.and_then(|loaded| if loaded.0.log.is_empty() { Err("the source has no rows".to_owned()) } else { Ok(loaded) });
    let mut of_findings = loaded.as_ref().ok().map(|(loaded, _)| findings::waits::Builder::new(&loaded.log));
    let waits = of_dataset(dataset.as_ref(), &damage, |dataset| wait_results(dataset, request, of_findings.as_mut(), sink));
    let (runs, run) = match &loaded {
        Ok((loaded, _)) => details::runs(request, dataset.as_ref(), (&loaded.log, loaded.cases()?), &damage, sink),
        Err(_) => (Vec::new(), None),
    };
    let file_access = of_dataset(dataset.as_ref(), &damage, |dataset| details::file_access(dataset, &damage, sink));
    let longest = runs.first().map(|run| run.case.clone());
    let fitted = of_dataset(dataset.as_ref(), &damage, |dataset| {
        FittedRun::new(&request.source, dataset, longest.as_deref())?.context("no process was traced")
    });
    let prediction = fitted.as_ref().map_err(Clone::clone).and_then(|fitted| details::prediction(fitted, longest.as_deref(), &damage));
    let profile = of_dataset(dataset.as_ref(), &damage, |dataset| profile_of(dataset, sink));
    let evidence = Evidence {
        waits: of_findings.filter(|_| waits.is_ok()).and_then(findings::waits::Builder::finish),
        run,
        profile: profile.as_ref().ok().cloned(),
        prediction: fitted.ok(),
    };
    let log = match loaded {
        Ok((loaded, summary)) => Ok(log_results(request, loaded, summary, &evidence, dataset.as_ref(), &damage, sink)?),
        Err(reason) => Err(reason),
    };
    let mut quality = dataset.as_ref().map(|dataset| quality(dataset, sink)).transpose()?.unwrap_or_default();
    is_lossy |= quality.errors > 0 || damage.is_found();
    quality.messages = messages.all();
    let sources = request.source.names().map(|path| path.display().to_string()).collect();
    let _stage = sink.stage("writing the report");
    let results = Results { sources, quality, log, waits, runs, file_access, prediction, profile };
    let html = flowmine_report::page(&results, request.place)?;
    let tables = results.log.ok().map(|LogResults { findings, summary, .. }| Tables { findings, summary });
    Ok(Report { html, tables, is_lossy })
}

/// A result of a dataset, or why there is none.
fn of_dataset<T>(dataset: Option<&Dataset>, damage: &Damage<'_>, make: impl FnOnce(&Dataset) -> Result<T>) -> Outcome<T> {
    let dataset = dataset.ok_or("the source is a log file and no dataset")?;
    make(dataset).map_err(|error| damage.reason(&error))
}

/// The attributes of instances that the page shows.
fn attributes() -> Attributes {
    let mut attributes = models::findings::attributes();
    let of_resources = Attributes::of_resources();
    attributes.of_jobs.extend(of_resources.of_jobs);
    attributes.of_jobs.push(log::NODES.to_owned());
    attributes.of_tasks.extend(["task:status", "task:exit_code", "task:error", "task:user", gantt::TASK_KEY].map(str::to_owned));
    attributes.of_files.extend(of_resources.of_files);
    attributes.of_files.extend(["slurm:state", "slurm:exit_code"].map(str::to_owned));
    attributes
}

/// The log with its numbers.
fn load(request: &ReportRequest, sink: &dyn Sink) -> Result<(Loaded, Summary)> {
    let mut of_log = Request::read::<&str>("findings", request.source.clone(), None, [])?;
    of_log.cases = request.cases.clone();
    of_log.filter = request.filter.clone();
    of_log.columns = request.columns.clone();
    let loaded = log::load(&of_log, &attributes(), sink)?;
    let _stage = sink.stage("discovering");
    let summary = summary::discover(&loaded.log, loaded.cases()?, &summary::Options::default());
    Ok((loaded, summary))
}

/// The models of a log.
fn log_results(
    request: &ReportRequest,
    loaded: Loaded,
    summary: Summary,
    evidence: &Evidence,
    dataset: Option<&Dataset>,
    damage: &Damage<'_>,
    sink: &dyn Sink,
) -> Result<LogResults> {
    let _stage = sink.stage("discovering");
    let cases = loaded.cases()?;
    let log = &loaded.log;
    let process = views::all(request, dataset, log, cases, damage, sink);
    Ok(LogResults {
        findings: evidence.findings(&loaded)?,
        variants: variants::discover(log, cases, &variants::Options::default()),
        resources: resources::discover(log, cases),
        requests: requests::discover(log, cases, requests::Rule::default()),
        views: process.views,
        views_left_out: process.left_out,
        arrivals: arrivals::discover(log),
        history: history::discover(log, cases),
        summary,
        log: loaded.log,
    })
}

/// What the jobs of a dataset waited for.
fn wait_results(
    dataset: &Dataset,
    request: &ReportRequest,
    mut of_findings: Option<&mut findings::waits::Builder>,
    sink: &dyn Sink,
) -> Result<WaitResults> {
    let notion = usual_notion::chosen(request.cases.case_notion.as_deref())?;
    let (mut causes, mut weeks) = (waits::Builder::default(), waits::weeks::Builder::default());
    job_waits::for_each(dataset, notion, &request.filter, request.cases.timestamp, sink, |job| {
        causes.add(job);
        weeks.add(job);
        if let Some(builder) = &mut of_findings {
            builder.add(job);
        }
    })?;
    Ok(WaitResults { causes: causes.finish(), weeks: weeks.finish() })
}

/// How files were read and written.
fn profile_of(dataset: &Dataset, sink: &dyn Sink) -> Result<Profile> {
    ensure!(dataset.row_count::<Process<'static>>()? > 0, "no process was traced");
    let (found, _) = io_profile::of_whole(dataset, GroupBy::Activity, sink)?;
    Ok(found)
}

/// What a dataset lacks.
fn quality(dataset: &Dataset, sink: &dyn Sink) -> Result<Quality> {
    let (warnings, errors) = diagnostic_counts(dataset)?;
    let lost = lower_bounds::warn(dataset, sink)?;
    Ok(Quality { errors, warnings, lost: lost.sentence(), messages: Vec::new() })
}

//! A directory of results: the page of a dataset, its logs, graphs, tables and numbers.
//!
//! It is made again only when something is new. Findings and activities of the tables are those of
//! the page.
//!
//! What a dataset has no rows of is not known of: without jobs there is no log, picture or number
//! of jobs, without tasks none of tasks.

mod last_run;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use flowmine_activity_log::ActivityLog;
use flowmine_correlate::cases::{self, CaseNotion};
use flowmine_correlate::groups::Groups;
use flowmine_correlate::parts::Parts;
use flowmine_correlate::tasks_as_jobs::TasksAsJobs;
use flowmine_correlate::{CorrelateError, Entities, Exchanges, Filter, Overview, RowRules, Traces};
use flowmine_dataset::{Dataset, DatasetError};
use flowmine_discover::dag::Dag;
use flowmine_discover::dfg::dfg;
use flowmine_discover::pictures;
use flowmine_discover::pictures::dfg::{self as picture, Options};
use flowmine_draw::document::{self, Document};
use flowmine_draw::svg;
use flowmine_eventlog::{CaseLog, Counts, ObjectLog, xes};
use flowmine_logs::columns::{self, JobColumns, ReadOptions};
use flowmine_logs::job_log::JobLogs;
use flowmine_logs::summary::{Summary, SummaryBuilder, diagnostic_counts};
use flowmine_logs::task_log::notions::{self, TaskNotion};
use flowmine_logs::task_log::{self, Tasks};
use flowmine_logs::task_summary::TaskSummary;
use flowmine_schema::diagnostic::Diagnostics;
use schemars::JsonSchema;

use crate::error::{Context, Result, ensure};
use crate::groups::{CaseOptions, EventFilter, TableColumns};
use crate::log_format::LogFormat;
use crate::models::dag;
use crate::report::messages::Messages;
use crate::report::{Place, ReportRequest, Tables, report};
use crate::sink::{Message, Sink};
use crate::source::{self, Notion, SourcePaths};
use crate::{export, jobs, lower_bounds, output, task_waits, usual_notion};

/// What is made, of which dataset, and where.
#[derive(Debug, Clone)]
pub struct Request {
    /// The dataset, and the names of its sources.
    pub source: SourcePaths,
    /// For root: whether the dataset is written as its owner.
    pub as_owner: bool,
    /// The directory for the results; made when it does not exist.
    pub out: PathBuf,
    /// The formats of the logs.
    pub formats: Vec<&'static LogFormat>,
    /// What a case is on the page, and which moment of an observed interval is the time of an event.
    pub cases: CaseOptions,
    /// Which events.
    pub filter: EventFilter,
    /// Which columns of a table hold what, for the page.
    pub columns: TableColumns,
}

/// What was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made {
    /// The results and numbers, for people.
    pub text: String,
    /// Whether inputs of the dataset were rejected.
    pub is_lossy: bool,
    /// Whether it was made now; otherwise the results of the last run are still true.
    pub is_new: bool,
}

/// What was written, and what of it the log writers could not carry as it was.
struct Written<'a> {
    out: &'a Path,
    formats: &'a [&'static LogFormat],
    files: Vec<(String, String)>,
    counts: Counts,
    sink: &'a dyn Sink,
}

impl Written<'_> {
    fn log(&mut self, suffix: &str, log: &dyn CaseLog, case: &str) -> Result<()> {
        for &format in self.formats.iter().filter(|format| !format.has_objects()) {
            let name = format!("log{suffix}.{}", format.name);
            self.counts += export::write_cases(Some(&self.out.join(&name)), format, xes::Options::default(), log, self.sink)?;
            self.files.push((name, format!("event log, a case is: {case}")));
        }
        Ok(())
    }

    fn objects(&mut self, log: &dyn ObjectLog) -> Result<()> {
        for &format in self.formats.iter().filter(|format| format.has_objects()) {
            let name = format!("log.{}", format.name);
            self.counts += export::write_objects(Some(&self.out.join(&name)), format, log, self.sink)?;
            self.files.push((name, "object-centric event log, OCEL 2.0".to_owned()));
        }
        Ok(())
    }

    /// The directly-follows graph of a log's instances.
    fn graph(&mut self, name: String, log: &ActivityLog, what: &str) -> Result<()> {
        let _stage = self.sink.stage("drawing");
        let Some(cases) = log.cases().filter(|_| !log.is_empty()) else { return Ok(()) };
        let svg = svg::svg(&picture::graph(&dfg(log, cases), &Options::default()))?;
        output::write(Some(&self.out.join(&name)), |out| Ok(out.write_all(svg.as_bytes())?))?;
        self.files.push((name, what.to_owned()));
        Ok(())
    }

    /// Who waits for whom, where engines report it.
    fn dependencies(&mut self, found: &Dag) -> Result<()> {
        if found.edges.is_empty() {
            return Ok(());
        }
        let svg = svg::svg(&pictures::dag::graph(found))?;
        output::write(Some(&self.out.join("dag.svg")), |out| Ok(out.write_all(svg.as_bytes())?))?;
        self.files.push(("dag.svg".to_owned(), "which tasks wait for which, as the workflow engine declares it".to_owned()));
        Ok(())
    }

    /// The page, and its findings and activities as tables.
    fn page(&mut self, html: &str, tables: Option<&Tables>) -> Result<()> {
        // What a person opens comes first in the list of results.
        let mut files = vec![(PAGE.to_owned(), "the report: open it in a browser".to_owned())];
        output::write(Some(&self.out.join(PAGE)), |out| Ok(out.write_all(html.as_bytes())?))?;
        if let Some(Tables { findings, summary }) = tables {
            let text = pictures::findings::text(findings);
            output::write(Some(&self.out.join("findings.txt")), |out| Ok(out.write_all(text.as_bytes())?))?;
            files.push(("findings.txt".to_owned(), "what costs most and can be changed, with evidence, gain and action".to_owned()));
            output::write(Some(&self.out.join("activities.csv")), |out| Ok(pictures::summary::csv(summary, out)?))?;
            files.push(("activities.csv".to_owned(), "times, failures, bytes of each activity".to_owned()));
        }
        self.files.splice(..0, files);
        Ok(())
    }
}

/// The name of the page in a directory of results.
const PAGE: &str = "report.html";

/// The names of all results that there can be.
fn possible_names(formats: &[&LogFormat]) -> Vec<String> {
    let of_jobs = cases::ALL.iter().map(|notion| notion.name());
    let notions = of_jobs.chain(task_notions().map(|notion| notion.name()));
    let mut names: Vec<String> =
        [PAGE, "dag.svg", "bottlenecks.txt", "findings.txt", "activities.csv", "summary.json"].map(str::to_owned).to_vec();
    for suffix in std::iter::once(String::new()).chain(notions.map(|name| format!("-{name}"))) {
        names.push(format!("dfg{suffix}.svg"));
        names.extend(formats.iter().map(|&format| format!("log{suffix}.{}", format.name)));
    }
    names
}

/// What the cases of tasks are, in the order in which their logs are written.
fn task_notions() -> impl Iterator<Item = &'static dyn TaskNotion> {
    notions::ALL.iter().copied().filter(|notion| notion.is_standard())
}

/// Correlates, exports, discovers and summarises.
///
/// # Errors
/// When the dataset cannot be read, or a result cannot be written.
pub fn run(request: &Request, sink: &dyn Sink) -> Result<Made> {
    // The page and the logs are made of the same dataset, and each reports what it lacks.
    let messages = Messages::new(sink);
    let sink: &dyn Sink = &messages;
    let dir = request.source.only_dataset().context("logs and tables are made of a dataset")?;
    Dataset::open(dir)?;
    let formats: Vec<&str> = request.formats.iter().map(|format| format.name).collect();
    // The page names its sources.
    let sources: Vec<&PathBuf> = request.source.names().collect();
    let options = format!("{} {sources:?} {:?} {:?} {:?}", formats.join(","), request.cases, request.filter, request.columns);
    let of = last_run::of(dir, &options).with_context(|| dir.display().to_string())?;
    if let Some((told, losses)) = last_run::current(&request.out, &of) {
        return Ok(Made { text: told, is_lossy: losses, is_new: false });
    }
    let dataset = jobs::open(dir, request.as_owner)?;
    let filter = jobs::filter(&request.filter)?;
    let rules = RowRules::default();
    let parts = jobs::parts(&dataset, request.cases.timestamp, &rules, sink)?;
    ensure!(!request.out.join("flowmine.json").exists(), "{} is a dataset: choose another directory for --out", request.out.display());
    let mut made = output::made_in(&request.out)?;
    made.add_known(last_run::files(&request.out));
    made.claim(possible_names(&request.formats)).with_context(|| request.out.display().to_string())?;
    last_run::forget(&request.out).with_context(|| request.out.display().to_string())?;
    let usual = usual_notion::usual()?;
    correlate(&dataset, &parts, usual, sink)?;

    let has_jobs = jobs::has_any(&dataset)?;
    let has_tasks = task_log::has_tasks(&dataset)?;
    let has_more = task_log::has_more_than_jobs(&dataset)?;
    let mut written = Written { out: &request.out, formats: &request.formats, files: Vec::new(), counts: Counts::default(), sink };
    let stage = sink.stage("making logs");
    let with_objects = request.formats.iter().any(|format| format.has_objects());
    // Only what was traced shows who gave data to whom.
    let exchanges = if has_jobs && has_more { Exchanges::read(&dataset, &rules, &parts)? } else { Exchanges::default() };
    let telling = cases::telling(&exchanges, usual);
    let asked: Vec<&dyn CaseNotion> = telling.iter().map(|notion| *notion as &dyn CaseNotion).collect();
    let groups = if has_jobs { Groups::find(&parts, &asked, &exchanges)? } else { Groups::default() };
    let overview = Overview { exchanges, groups, tasks: TasksAsJobs::read(&dataset, &rules, &asked)? };
    let notions = if has_jobs { &telling[..] } else { &[] };
    let traced = task_log::of_jobs(&dataset, &rules)?;
    let options = ReadOptions::default();
    let mut columns = Vec::new();
    for notion in notions {
        columns.push(JobColumns::new(&dataset, *notion, &filter, &traced, &options)?);
    }
    let mut logs = JobLogs::new(filter.clone(), with_objects, notions, task_log::of_jobs(&dataset, &rules)?);
    let mut summary = SummaryBuilder::new(&filter, &telling);
    let (mut unknown, mut odd) = (jobs::Unknown::new(&filter), Diagnostics::default());
    parts.for_each(|jobs| -> Result<()> {
        odd.extend(jobs.diagnostics.clone());
        unknown.look(jobs);
        let entities = Entities { jobs, overview: &overview };
        summary.add(&entities);
        for columns in &mut columns {
            columns.add(&entities)?;
        }
        Ok(logs.add(&entities)?)
    })?;
    drop(parts);
    sink.message(Message::Diagnostics("dataset", &odd));
    unknown.say(&request.filter, sink);
    let mut logs = logs.finish()?;
    if with_objects {
        let wanted = source::usual_objects(&Notion::Tasks(notions::usual()));
        logs.objects = Some(source::beside_jobs(&dataset, &rules, &filter, wanted, logs.objects, sink)?);
    }
    sink.message(Message::Diagnostics("log", &logs.diagnostics));
    drop(stage);
    for ((notion, log), columns) in notions.iter().zip(&logs.cases).zip(columns) {
        // log.xes.gz and dfg.svg are those of the first notion; each other notion's name is in its files' names.
        let suffix = if notion.name() == usual.name() { String::new() } else { format!("-{}", notion.name()) };
        written.log(&suffix, log, notion.description())?;
        let log = columns.finish(&dataset)?;
        written.graph(format!("dfg{suffix}.svg"), &log, &format!("directly-follows graph of jobs, {} cases", notion.name()))?;
    }
    let tasks = if has_tasks { Some(TaskSummary::new(&Tasks::new(&dataset, &rules, &filter))?) } else { None };
    if tasks.as_ref().is_some_and(|tasks| tasks.without_time < tasks.attempts) {
        for notion in task_notions() {
            tasks_in_cases(&mut written, &dataset, notion, &filter, has_jobs)?;
        }
    } else if has_tasks {
        sink.warning("no time of any task is known: there is no log with cases, and no directly-follows graph");
    }
    if has_tasks {
        written.dependencies(&dag::of(&dataset, &filter)?)?;
    }
    if let Some(log) = logs.objects.as_ref().filter(|_| has_jobs || has_more) {
        written.objects(log)?;
    }
    export::tell(written.counts, sink);
    let page = report(
        &ReportRequest {
            source: request.source.clone(),
            cases: request.cases.clone(),
            filter: request.filter.clone(),
            columns: request.columns.clone(),
            place: Place::File,
        },
        sink,
    )?;
    written.page(&page.html, page.tables.as_ref())?;

    let (warnings, errors) = diagnostic_counts(&dataset)?;
    let counts = (warnings + odd.warnings(), errors + odd.errors());
    let lost = lower_bounds::warn(&dataset, sink)?;
    let numbers = Numbers {
        jobs: has_jobs.then(|| summary.finish()),
        tasks,
        warnings: counts.0,
        errors: counts.1,
        lost: (lost.count > 0).then_some(Lost { operations: lost.count, bytes: lost.bytes }),
    };
    if has_jobs || has_tasks {
        output::write(Some(&request.out.join("summary.json")), |out| Ok(document::write(&numbers, out)?))?;
        written.files.push(("summary.json".to_owned(), "the numbers below".to_owned()));
    } else if !has_more {
        sink.warning("the dataset has no jobs, no tasks and nothing that was traced: there is nothing to make logs of");
    }
    let mut told = format!("{}\n", request.out.display());
    for (name, what) in &written.files {
        told.push_str(&format!("  {name:<28} {what}\n"));
    }
    told.push_str(&numbers.text());
    if let Some(sentence) = lost.sentence() {
        told.push_str(&format!("\n{sentence}\n"));
    }
    let losses = numbers.errors > 0 || page.is_lossy;
    made.finish().with_context(|| request.out.display().to_string())?;
    last_run::remember(&request.out, &of, written.files.iter().map(|(name, _)| name.as_str()), &told, losses)?;
    Ok(Made { text: told, is_lossy: losses, is_new: true })
}

/// Log and graph of tasks, a case being what the notion says.
fn tasks_in_cases(written: &mut Written<'_>, dataset: &Dataset, notion: &dyn TaskNotion, filter: &Filter, has_jobs: bool) -> Result<()> {
    let rules = RowRules::default();
    let stage = written.sink.stage("making logs");
    let held = task_waits::held_until(dataset, &rules)?;
    let columns = columns::tasks(&Tasks::new(dataset, &rules, filter).with_held(&held), notion, &ReadOptions::default())?;
    drop(stage);
    if columns.is_empty() {
        return Ok(());
    }
    // What the dataset is mostly about has the plain names.
    let is_first = !has_jobs && notion.name() == notions::usual().name();
    let suffix = if is_first { String::new() } else { format!("-{}", notion.name()) };
    written.log(&suffix, &source::task_cases(dataset, notion, &rules, filter, written.sink)?, notion.description())?;
    written.graph(format!("dfg{suffix}.svg"), &columns, &format!("directly-follows graph of tasks, {} cases", notion.name()))
}

/// The numbers of a dataset: of jobs, of tasks, and what was wrong with their sources. What the
/// dataset has no rows of is absent.
#[derive(serde::Serialize, JsonSchema)]
pub struct Numbers {
    #[serde(flatten)]
    jobs: Option<Summary>,
    /// The numbers of tasks.
    #[serde(skip_serializing_if = "Option::is_none")]
    tasks: Option<TaskSummary>,
    /// Warnings in the dataset and from correlating.
    warnings: u64,
    /// Number of inputs that were rejected.
    errors: u64,
    /// Operations that the traces lack; bytes are lower bounds. Absent when nothing was lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    lost: Option<Lost>,
}

/// Operations that traces lack.
#[derive(serde::Serialize, JsonSchema)]
struct Lost {
    /// Number of operations.
    operations: u64,
    /// Bytes of their reads and writes, as far as they are known.
    bytes: u64,
}

impl Document for Numbers {
    const FORMAT: &'static str = "flowmine-run-summary";
}

impl Numbers {
    /// For a terminal: ends with a newline, or is empty.
    fn text(&self) -> String {
        let texts = self.jobs.iter().map(Summary::text).chain(self.tasks.iter().map(TaskSummary::text));
        let mut text: String = texts.map(|text| format!("\n{text}")).collect();
        if self.warnings + self.errors > 0 {
            text.push_str(&format!("\n{} errors and {} warnings are listed in the table diagnostics\n", self.errors, self.warnings));
        }
        text
    }
}

fn correlate(dataset: &Dataset, parts: &Parts<'_>, usual: &dyn CaseNotion, sink: &dyn Sink) -> Result<()> {
    let _stage = sink.stage("correlating");
    match flowmine_correlate::correlate_with_tasks(dataset, parts, cases::ALL, Some(usual.name()), Traces::Rows, task_waits::ROWS) {
        Ok(_) => {}
        // Somebody else's dataset can be read all the same.
        Err(CorrelateError::Dataset(error @ DatasetError::Locked { .. })) => {
            sink.warning(&format!("the tables links and cases are left to the other: {error}"));
        }
        Err(CorrelateError::Dataset(DatasetError::Io { path, source }))
            if matches!(source.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem) =>
        {
            sink.warning(&format!("the tables links and cases are not written: {}: {source}", path.display()));
        }
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

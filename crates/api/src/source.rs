//! Where logs are read from: the jobs of a dataset, a log that was
//! imported into it, or a log file.

use std::io::Read;
use std::path::{Path, PathBuf};

use flowmine_correlate::cases::{self, CaseNotion};
use flowmine_correlate::parts::{Parts, ROWS_AT_ONCE};
use flowmine_correlate::row_rules::RowRules;
use flowmine_correlate::{Entities, Filter, Share, Timestamp};
use flowmine_dataset::Dataset;
use flowmine_eventlog::read::{Finding, Severity};
use flowmine_eventlog::{CaseLog, LogError, ObjectLog};
use flowmine_logs::job_log::{CutOff, Finished, JobLogs, JobObjectLog};
use flowmine_logs::log_file::as_objects::{CASE, Untimed};
use flowmine_logs::log_file::{self, Content, FileObjectLog, LogFile, LogRules, TraceLog, stored};
use flowmine_logs::tables;
use flowmine_logs::task_log::objects::ObjectSelection;
use flowmine_logs::task_log::{self, LeftOut, TaskCaseLog, TaskNotion, Tasks, TracedJobs, notions};
use flowmine_schema::diagnostic::Diagnostics;
use flowmine_schema::tables::JobState;
use flowmine_schema::text::visible;

use crate::error::{Context, Error, Result, ensure, refuse};
use crate::groups::{EventFilter, TableColumns};
use crate::inputs;
use crate::jobs;
use crate::sink::{Message, Sink};
use crate::{task_waits, usual_notion};

/// Number of bytes by which a table is recognised.
const HEAD_BYTES: u64 = 4096;

/// Where a log comes from, as a caller names it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourcePaths {
    /// The dataset.
    pub dataset: Option<PathBuf>,
    /// Log files; with a dataset the name of a log that was imported into it.
    pub logs: Vec<PathBuf>,
    /// The sources as a user named them, where the dataset or the logs were made of these.
    pub given: Vec<PathBuf>,
}

impl SourcePaths {
    /// Returns the sources as a user named them.
    pub fn names(&self) -> impl Iterator<Item = &PathBuf> {
        let own = self.given.is_empty().then_some(self.dataset.iter().chain(&self.logs));
        self.given.iter().chain(own.into_iter().flatten())
    }

    /// The dataset, when no log is asked for.
    pub fn only_dataset(&self) -> Option<&Path> {
        self.dataset.as_deref().filter(|_| self.logs.is_empty())
    }
}

/// Where a log comes from: a dataset's jobs or tasks, or a log of another program.
pub enum Source {
    /// The jobs or tasks of a dataset.
    Jobs(Dataset),
    /// A log of another program, from a file or imported.
    Log(LogFile),
}

/// Opens what was asked for. A dataset without jobs and tasks and with one imported log is that
/// log.
pub fn open(paths: &SourcePaths, columns: &TableColumns, timestamp: Timestamp, rules: LogRules, sink: &dyn Sink) -> Result<Source> {
    let log = match (&paths.dataset, &paths.logs[..]) {
        (None, [path]) => {
            inputs::note(path);
            let log = read_file(path, columns, rules, sink)?;
            findings(&path.display().to_string(), &log.findings, sink);
            log
        }
        (Some(dir), []) => {
            let dataset = Dataset::open(dir)?;
            if dataset.row_count::<JobState<'static>>()? > 0 || task_log::has_tasks(&dataset)? {
                return Ok(Source::Jobs(dataset));
            }
            match &stored::names(&dataset)?[..] {
                [] => return Ok(Source::Jobs(dataset)),
                [name] => load(&dataset, name, rules, sink)?,
                names => {
                    let names: Vec<_> = names.iter().map(|name| visible(name)).collect();
                    refuse!("the dataset has {} imported logs: choose one with --log ({})", names.len(), names.join(", "))
                }
            }
        }
        (Some(dir), [name]) => load(&Dataset::open(dir)?, &name.to_string_lossy(), rules, sink)?,
        (None, []) => refuse!("nothing to look at: give --dataset DIR or --log FILE"),
        (_, [_, _, ..]) => refuse!("one --log is enough here: only discover takes several, all of them files, as one log"),
    };
    ensure!(
        timestamp == Timestamp::default(),
        "--timestamp chooses among the ends of the intervals in which jobs of a dataset changed; in a log of others an event has one time"
    );
    Ok(Source::Log(log))
}

/// Reads a log file or a table (CSV, Parquet) of traces.
///
/// # Errors
/// When it is neither, or no more of it can be used.
pub fn read_file(path: &Path, columns: &TableColumns, rules: LogRules, sink: &dyn Sink) -> Result<LogFile> {
    let _stage = sink.stage("reading the log");
    if !is_table(path)? {
        ensure!(!columns.is_some(), "{}: --case-column and the like are for tables (CSV, Parquet), and this is none", path.display());
        return log_file::read(path, rules).map_err(|error| in_file(path, error));
    }
    let (log, inferred) = tables::read_traces(path, &columns.options(), rules)?;
    if let Some(inferred) = inferred {
        sink.note(&format!("{}: {inferred}", path.display()));
    }
    Ok(log)
}

/// Whether a file is a table (CSV, Parquet).
///
/// # Errors
/// When it cannot be read.
pub fn is_table(path: &Path) -> Result<bool> {
    let mut head = Vec::new();
    let file = flowmine_files::open_given(path).with_context(|| path.display().to_string())?;
    if file.metadata().is_ok_and(|data| data.is_file()) {
        file.take(HEAD_BYTES).read_to_end(&mut head).with_context(|| path.display().to_string())?;
    }
    Ok(!head.starts_with(b"SQLite format 3\0") && tables::is_table(Some(path), &head))
}

fn load(dataset: &Dataset, name: &str, rules: LogRules, sink: &dyn Sink) -> Result<LogFile> {
    let _stage = sink.stage("reading the imported log");
    let log = stored::load(dataset, name, rules)?;
    findings(name, &log.findings, sink);
    Ok(log)
}

/// An error with the file's name before its place.
pub fn in_file(path: &Path, error: LogError) -> Error {
    match error {
        LogError::Refused { line, column, message } => Error::Refused(format!("{}:{line}:{column}: {message}", path.display())),
        other => Error::At { place: path.display().to_string(), source: Box::new(other.into()) },
    }
}

/// Sends what was odd about a log. Whether something is lost, so that the result is.
pub fn findings(name: &str, findings: &[Finding], sink: &dyn Sink) -> bool {
    for finding in findings {
        sink.message(Message::Finding(name, finding));
    }
    has_losses(findings)
}

/// Whether something of a log is lost.
pub fn has_losses(findings: &[Finding]) -> bool {
    findings.iter().any(|finding| finding.severity == Severity::Error)
}

/// What a case is: of jobs, of tasks, or of the objects of a type.
pub enum Notion {
    /// A case notion of jobs, as `flowmine-correlate` has them.
    Jobs(&'static dyn CaseNotion),
    /// A case notion of tasks, as `flowmine-logs` has them.
    Tasks(&'static dyn TaskNotion),
    /// The objects of this type are the cases.
    Objects(String),
}

/// What the beginning of a notion's name says when a type of objects follows.
const OBJECT: &str = "object:";

/// The notion of that name; without one the usual notion of jobs, or runs where a dataset has tasks
/// and no jobs. There, `auto` is the runs, too: the engine declares which task is of which.
pub fn notion(name: Option<&str>, dataset: &Dataset) -> Result<Notion> {
    let is_usual = name.is_none_or(|name| name == cases::Auto.name());
    let name = match name {
        _ if is_usual && dataset.row_count::<JobState<'static>>()? == 0 && task_log::has_tasks(dataset)? => notions::usual().name(),
        Some(name) => name,
        None => usual_notion::usual()?.name(),
    };
    if let Some(notion) = notions::find(name) {
        return Ok(Notion::Tasks(notion));
    }
    if let Some(kind) = name.strip_prefix(OBJECT) {
        return Ok(Notion::Objects(kind.to_owned()));
    }
    Ok(Notion::Jobs(jobs::notion(name)?))
}

/// Which logs are made of jobs, and of which of their events.
pub struct Selection<'a> {
    /// What is in an object-centric log, if there is to be one.
    pub objects: Option<ObjectSelection>,
    /// The case notions of which logs are written.
    pub notions: &'a [&'static dyn CaseNotion],
    /// Which part of the cases is read, where each case lies within one: of other notions all are.
    pub part: Option<Share>,
    /// Options that choose which events are in the logs.
    pub filter: &'a EventFilter,
    /// Which of the possible moments of an event counts.
    pub timestamp: Timestamp,
    /// Rules that are applied to each row first: pseudonyms, columns left out.
    pub rules: &'a RowRules,
}

/// Makes logs of a dataset's jobs, and of its tasks.
pub fn job_logs(dataset: &Dataset, wanted: &Selection<'_>, sink: &dyn Sink) -> Result<Finished> {
    let _stage = sink.stage("reading the dataset");
    let filter = filter(wanted)?;
    let mut unknown = jobs::Unknown::new(&filter);
    let traced = if wanted.notions.is_empty() { TracedJobs::default() } else { task_log::of_jobs(dataset, wanted.rules)? };
    let objects = wanted.objects.is_some_and(|objects| objects.jobs);
    let mut logs = JobLogs::new(filter.clone(), objects, wanted.notions, traced);
    if objects || !wanted.notions.is_empty() {
        let mut odd = Diagnostics::default();
        let part = wanted.part.filter(|_| !objects && wanted.notions.iter().all(|notion| notion.within_parts()));
        let parts = match part {
            Some(part) => Parts::of_share(dataset, wanted.timestamp, wanted.rules, ROWS_AT_ONCE, part)?,
            None => Parts::new(dataset, wanted.timestamp, wanted.rules, ROWS_AT_ONCE)?,
        };
        let overview = jobs::overview(dataset, &parts, wanted.rules, wanted.notions, sink)?;
        parts.for_each(|jobs| -> Result<()> {
            odd.extend(jobs.diagnostics.clone());
            unknown.look(jobs);
            Ok(logs.add(&Entities { jobs, overview: &overview })?)
        })?;
        sink.message(Message::Diagnostics("dataset", &odd));
        unknown.say(wanted.filter, sink);
    }
    let mut finished = logs.finish()?;
    sink.message(Message::Diagnostics("log", &finished.diagnostics));
    note_cut_off(finished.cut_off, "job", sink);
    if let Some(objects) = wanted.objects {
        finished.objects = Some(beside_jobs(dataset, wanted.rules, &filter, objects, finished.objects, sink)?);
    }
    Ok(finished)
}

/// Puts tasks, processes and files beside jobs, where a dataset has them.
pub fn beside_jobs(
    dataset: &Dataset,
    rules: &RowRules,
    filter: &Filter,
    wanted: ObjectSelection,
    jobs: Option<JobObjectLog>,
    sink: &dyn Sink,
) -> Result<JobObjectLog> {
    let jobs = match jobs {
        Some(jobs) if !(wanted.tasks || wanted.files || wanted.processes) || !task_log::has_more_than_jobs(dataset)? => return Ok(jobs),
        jobs => jobs,
    };
    let (log, left_out) = task_log::objects::objects(&Tasks::new(dataset, rules, filter), wanted, jobs)?;
    without_tasks(filter, sink);
    if task_log::is_uncorrelated(dataset)? {
        sink.warning("whose the traced operations are is not known yet: run `flowmine correlate` first");
    }
    tell_left_out(left_out, sink);
    Ok(log)
}

/// The tasks of a dataset as cases.
pub fn task_cases(dataset: &Dataset, notion: &dyn TaskNotion, rules: &RowRules, filter: &Filter, sink: &dyn Sink) -> Result<TaskCaseLog> {
    let _stage = sink.stage("reading the dataset");
    let held = task_waits::held_until(dataset, rules)?;
    let (log, left_out) = task_log::cases::cases(&Tasks::new(dataset, rules, filter).with_held(&held), notion)?;
    without_tasks(filter, sink);
    tell_left_out(left_out, sink);
    Ok(log)
}

fn without_tasks(filter: &Filter, sink: &dyn Sink) {
    if !filter.accounts.is_empty() || !filter.users.is_empty() {
        sink.warning("tasks are of no account and no user that is known: --account and --user leave all of them out");
    }
}

/// Notes what a time frame leaves out of jobs or tasks of which the log has a part.
fn note_cut_off(cut: CutOff, noun: &str, sink: &dyn Sink) {
    let CutOff { attempts, events } = cut;
    if attempts > 0 {
        let of = if attempts == 1 { format!("1 {noun}") } else { format!("{attempts} {noun}s") };
        let outside = if events == 1 { "1 event lies outside and is".to_owned() } else { format!("{events} events lie outside and are") };
        sink.note(&format!(
            "the time frame cuts {of}, of which {outside} left out; --time-frame contained or intersecting keeps cases whole"
        ));
    }
}

fn tell_left_out(left_out: LeftOut, sink: &dyn Sink) {
    let LeftOut { tasks_without_event, tasks_without_case, tasks_clamped, accesses_of_others, bytes_of_others, layer_events, cut_off } =
        left_out;
    note_cut_off(cut_off, "task", sink);
    if tasks_without_event > 0 {
        sink.note(&format!("{tasks_without_event} tasks have no event in the log: no time of them is known"));
    }
    if tasks_without_case > 0 {
        sink.note(&format!("{tasks_without_case} tasks have no tag and are in no case"));
    }
    if tasks_clamped > 0 {
        sink.note(&format!(
            "{tasks_clamped} tasks are reported to be submitted or to start after they ended or started: those events have the time of that end or start"
        ));
    }
    if accesses_of_others > 0 {
        sink.note(&format!(
            "{accesses_of_others} rows of task_io ({bytes_of_others} bytes) are not in the log: they belong to no task or job that is"
        ));
    }
    if layer_events > 0 {
        sink.note(&format!("{layer_events} events of layers are not in the log: of each task it has those of the first hundred layers"));
    }
}

/// The filter that was asked for, with names as the rules make them.
pub fn filter(wanted: &Selection<'_>) -> Result<Filter> {
    let filter = jobs::time_filter(wanted.filter)?;
    // What the user typed are the names as they are; the rows have theirs replaced by now.
    let pseudonymiser = wanted.rules.pseudonymiser.as_ref();
    let account = |name: &String| pseudonymiser.map_or_else(|| name.clone(), |p| p.account(name));
    let user = |name: &String| pseudonymiser.map_or_else(|| name.clone(), |p| p.user(name));
    Ok(Filter {
        accounts: wanted.filter.account.iter().map(account).collect(),
        users: wanted.filter.user.iter().map(user).collect(),
        ..filter
    })
}

/// A log file as objects, and whether something is lost by that.
pub fn as_objects(file: LogFile, name: Option<&str>, untimed: Untimed, sink: &dyn Sink) -> Result<(Box<dyn ObjectLog>, bool)> {
    ensure!(name.is_none(), "an object-centric log has no case notion: leave --case-notion out, or choose a format with cases");
    Ok(match file.content {
        Content::Objects(log) => (log, false),
        Content::Traces(log) => {
            let (log, odd) = FileObjectLog::of_cases(&*log, untimed)?;
            let lossy = findings("log", &odd, sink);
            (Box::new(log), lossy)
        }
    })
}

/// A log file as a log of cases; of an object-centric one the objects of a type are the cases.
pub fn as_cases(file: LogFile, name: Option<&str>, sink: &dyn Sink) -> Result<Box<dyn CaseLog>> {
    match (file.content, name) {
        (Content::Traces(log), None) => Ok(log),
        (Content::Traces(log), Some(name)) => {
            traces_are_cases(name)?;
            Ok(log)
        }
        (Content::Objects(log), name) => objects_as_cases(&*log, name.unwrap_or_default(), sink),
    }
}

/// Whether a notion is that of the traces of an XES file, the only objects that it has.
pub fn traces_are_cases(name: &str) -> Result<()> {
    ensure!(
        name.strip_prefix(OBJECT) == Some(CASE),
        "the cases of an XES log are its traces, and there is no case notion {name:?}: leave --case-notion out, or give {OBJECT}{CASE}"
    );
    Ok(())
}

/// The objects of a type as cases; the type is said as `object:TYPE`.
pub fn objects_as_cases(log: &dyn ObjectLog, name: &str, sink: &dyn Sink) -> Result<Box<dyn CaseLog>> {
    let kinds: Vec<&str> = log.types().objects.iter().map(|def| def.name.as_str()).collect();
    let kind = name.strip_prefix(OBJECT).filter(|kind| kinds.contains(kind));
    let Some(kind) = kind else {
        let known: Vec<String> = kinds.iter().map(|kind| format!("{OBJECT}{}", visible(kind))).collect();
        refuse!("which objects are the cases of this object-centric log? Give --case-notion with one of: {}", known.join(", "));
    };
    let (log, odd) = TraceLog::of_objects(log, kind)?;
    findings("log", &odd, sink);
    Ok(Box::new(log))
}

/// The objects of a log when nothing else is asked for: jobs, tasks and files, and processes where
/// they are the cases.
pub fn usual_objects(notion: &Notion) -> ObjectSelection {
    ObjectSelection { jobs: true, tasks: true, files: true, processes: matches!(notion, Notion::Objects(kind) if kind == "process") }
}

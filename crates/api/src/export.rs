//! Exports: event logs, and what else a dataset holds, written in formats of others.

mod activity;
pub(crate) mod io_csv;
pub(crate) mod ro_crate;
pub(crate) mod wfformat;
pub(crate) mod workflow;
mod workflow_notes;

use std::path::{Path, PathBuf};

use flowmine_activity_log::TimeFrame;
use flowmine_correlate::Timestamp;
use flowmine_dataset::Dataset;
use flowmine_eventlog::part_of_cases::{PartOfCases, Takes};
use flowmine_eventlog::{CaseLog, Counts, ObjectLog, xes};
use flowmine_logs::log_file::LogRules;
use flowmine_logs::task_log::objects::ObjectSelection;
use flowmine_privacy::RowRules;
use flowmine_privacy::drop::DropColumns;

use activity::Activities;

use crate::error::{Context, Result, ensure, refuse};
use crate::groups::{EventFilter, Part, TableColumns};
use crate::log_format::{LogFormat, Writer};
use crate::options::Choice;
use crate::sink::{Message, Sink};
use crate::source::{self, Notion, Selection, Source, SourcePaths};
use crate::{lower_bounds, output, part_of_log, pseudonyms};

pub use flowmine_correlate::Share;
pub use flowmine_logs::log_file::as_objects::Untimed;

/// Objects of an object-centric log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Objects {
    /// Jobs.
    Job,
    /// Attempts at tasks.
    Task,
    /// Processes.
    Process,
    /// Files.
    File,
}

impl Choice for Objects {
    const VALUES: &'static [(&'static str, &'static str, Self)] = &[
        ("job", "Jobs, with arrays, workflow runs, users, groups, accounts, partitions and nodes", Self::Job),
        ("task", "Attempts at tasks, with runs of workflow engines", Self::Task),
        ("process", "Processes that belong to tasks or jobs", Self::Process),
        ("file", "Files that tasks or jobs read or wrote", Self::File),
    ];
}

impl Choice for Untimed {
    const VALUES: &'static [(&'static str, &'static str, Self)] = &[
        ("leave-out", "They are left out, and the exit code is 1", Self::LeaveOut),
        ("neighbour", "They have the time of the event before them in their trace, or of the first that has one", Self::Neighbour),
    ];
}

/// An export: what is written, how, and where.
#[derive(Debug, Clone)]
pub struct Request {
    /// The dataset or log file.
    pub source: SourcePaths,
    /// The format.
    pub format: &'static LogFormat,
    /// What a case is; the usual notion where it is not given.
    pub case_notion: Option<String>,
    /// The attributes that name an activity, for a log of a dataset; the usual activity where there are
    /// none.
    pub activity: Option<String>,
    /// The objects of an object-centric log of a dataset.
    pub objects: Vec<Objects>,
    /// Whether times are cut to milliseconds.
    pub milliseconds: bool,
    /// What becomes of events without a time where the format cannot hold them.
    pub untimed: Untimed,
    /// The file with the key of pseudonyms, where names are replaced.
    pub pseudonymise: Option<PathBuf>,
    /// Columns and attributes that are left out.
    pub drop: Vec<String>,
    /// Which moment of an observed interval is the time of an event.
    pub timestamp: Timestamp,
    /// Which part of the cases is written.
    pub part: Option<Share>,
    /// Workflow run, for formats of runs.
    pub run: Option<String>,
    /// The file or directory of the result; standard output where there is none.
    pub output: Option<PathBuf>,
    /// Which events.
    pub filter: EventFilter,
    /// Which part of the log.
    pub of_log: Part,
    /// What the columns of a table hold.
    pub columns: TableColumns,
}

/// What was exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exported {
    /// Whether something of the source is not in the result.
    pub is_lossy: bool,
}

impl Request {
    /// The file or directory of the result, unless it is standard output.
    fn place(&self) -> Option<&Path> {
        self.output.as_deref().filter(|path| *path != "-")
    }
}

/// Writes an event log or what else a dataset holds.
///
/// # Errors
/// When the source cannot be read, the result cannot be written, or options contradict each other.
pub fn export(request: &Request, sink: &dyn Sink) -> Result<Exported> {
    let format = request.format;
    ensure!(
        request.part.is_none() || format.has_cases(),
        "--part is for formats with cases, such as xes or parquet: an object can be in several parts, which would not be one log again"
    );
    match format.writer {
        Writer::Dataset(write) => {
            ensure!(request.activity.is_none(), "--activity is for event logs with cases");
            write(request, sink)
        }
        _ => log(request, sink),
    }
}

/// Writes an event log.
fn log(request: &Request, sink: &dyn Sink) -> Result<Exported> {
    let format = request.format;
    ensure!(
        request.run.is_none(),
        "--run chooses the run of a workflow engine for wfformat, ro-crate and workflows (makeflow, snakemake, slurm); an event log has all jobs of a dataset"
    );
    let name = request.case_notion.as_deref();
    ensure!(
        !format.has_objects() || name.is_none(),
        "an object-centric log has no case notion: leave --case-notion out, or choose a format with cases, such as xes"
    );
    ensure!(
        !request.milliseconds || matches!(format.writer, Writer::Cases { has_milliseconds: true, .. }),
        "--milliseconds is for XES; the other formats keep every digit for every reader"
    );
    ensure!(
        request.place().is_some() || !matches!(format.writer, Writer::Database(_)),
        "a database cannot go to standard output: give the output file with -o FILE"
    );
    let pseudonymiser = request.pseudonymise.as_deref().map(|key| pseudonyms::read_key(key, sink)).transpose()?;
    let log_rules = LogRules { pseudonymiser: pseudonymiser.clone(), drop: request.drop.clone() };
    let mut is_lossy = false;
    let counts = match source::open(&request.source, &request.columns, request.timestamp, log_rules, sink)? {
        Source::Jobs(dataset) => {
            lower_bounds::warn(&dataset, sink)?;
            ensure!(!request.columns.is_some(), "--case-column and the like are for tables (CSV, Parquet), and this is a dataset");
            let pseudonymiser = pseudonymiser.map(|codes| pseudonyms::of_dataset(&dataset, codes, sink)).transpose()?;
            let rules = RowRules { drop: DropColumns::parse(&request.drop).context("--drop")?, pseudonymiser };
            of_dataset(request, &dataset, &rules, sink)?
        }
        Source::Log(file) => {
            ensure!(request.activity.is_none(), "--activity is for datasets: a log has its own activities");
            is_lossy = source::has_losses(&file.findings);
            if format.has_objects() {
                let (log, lossy_as_objects) = source::as_objects(file, name, request.untimed, sink)?;
                is_lossy |= lossy_as_objects;
                write_chosen_objects(request, &*log, &request.filter, sink)?
            } else {
                write_chosen_cases(request, &*source::as_cases(file, name, sink)?, &request.filter, &PartOf::default(), sink)?
            }
        }
    };
    tell(counts, sink);
    Ok(Exported { is_lossy })
}

/// Writes a log of jobs or tasks, with the activities that were asked for.
fn write_of_dataset(
    request: &Request,
    log: &dyn CaseLog,
    activities: Option<&Activities>,
    (filter, of): (&EventFilter, &PartOf),
    sink: &dyn Sink,
) -> Result<Counts> {
    match activities {
        None => write_chosen_cases(request, log, filter, of, sink),
        Some(activities) => write_chosen_cases(request, &activities.of(log), filter, of, sink),
    }
}

/// Writes a log of the jobs, tasks and files of a dataset.
fn of_dataset(request: &Request, dataset: &Dataset, rules: &RowRules, sink: &dyn Sink) -> Result<Counts> {
    let (of_events, of_log) = filters(request);
    let notion = source::notion(request.case_notion.as_deref(), dataset)?;
    let has_objects = request.format.has_objects();
    let activity = request.activity.as_deref();
    ensure!(activity.is_none() || !has_objects, "--activity is for formats with cases, such as xes: an event of objects keeps its type");
    let activities = activity.map(|activity| Activities::new(activity, &notion, dataset, !rules.is_empty(), sink)).transpose()?;
    let rows = rows_of_part(request, dataset)?;
    let notions = match &notion {
        Notion::Jobs(notion) if !has_objects => vec![*notion],
        _ => Vec::new(),
    };
    let wanted = Selection {
        objects: notions.is_empty().then(|| objects(&request.objects, &notion)),
        notions: &notions,
        part: request.part,
        filter: &of_events,
        timestamp: request.timestamp,
        rules,
    };
    if let Notion::Tasks(notion) = notion
        && !has_objects
    {
        let log = source::task_cases(dataset, notion, rules, &source::filter(&wanted)?, sink)?;
        unchanged(request, dataset, rows.as_deref())?;
        return write_of_dataset(request, &log, activities.as_ref(), (&of_log, &PartOf { rows, alone: false }), sink);
    }
    let finished = source::job_logs(dataset, &wanted, sink)?;
    unchanged(request, dataset, rows.as_deref())?;
    let alone = matches!(notion, Notion::Jobs(notion) if notion.within_parts());
    let of = PartOf { rows, alone };
    match (finished.objects, finished.cases.first(), &notion) {
        (_, Some(log), _) => write_of_dataset(request, log, activities.as_ref(), (&of_log, &of), sink),
        (Some(log), None, Notion::Objects(kind)) => {
            write_chosen_cases(request, &*source::objects_as_cases(&log, &format!("object:{kind}"), sink)?, &of_log, &of, sink)
        }
        (Some(log), None, _) => write_chosen_objects(request, &log, &of_log, sink),
        (None, None, _) => Ok(Counts::default()),
    }
}

/// Which objects were asked for, or are needed for the cases that were.
fn objects(asked: &[Objects], notion: &Notion) -> ObjectSelection {
    let has = |kind| asked.contains(&kind);
    let of_processes = matches!(notion, Notion::Objects(kind) if kind == "process");
    ObjectSelection {
        jobs: has(Objects::Job),
        tasks: has(Objects::Task),
        processes: has(Objects::Process) || of_processes,
        files: has(Objects::File),
    }
}

/// The rows of which a part of a dataset's cases is, when one is asked for: those that were there
/// when `correlate` last read them, since parts of different rows do not fit together.
fn rows_of_part(request: &Request, dataset: &Dataset) -> Result<Option<String>> {
    if request.part.is_none() {
        return Ok(None);
    }
    let rows = flowmine_correlate::joined::kept_state(dataset)?.context(
        "the dataset has other rows than its last `flowmine correlate` read, and parts of different rows are not one log: \
         run `flowmine correlate` again, and export all parts before rows are added",
    )?;
    Ok(Some(format!("{rows:016x}")))
}

/// Whether the rows are still those of which the part is.
fn unchanged(request: &Request, dataset: &Dataset, rows: Option<&str>) -> Result<()> {
    ensure!(
        rows_of_part(request, dataset)?.as_deref() == rows,
        "the dataset was correlated again while it was read: export all parts again"
    );
    Ok(())
}

/// What a part of the cases is written with.
#[derive(Default)]
struct PartOf {
    /// Of which rows of a dataset it is.
    rows: Option<String>,
    /// Whether the log is made of the part alone, and not of all cases.
    alone: bool,
}

/// The filter by which the events of a dataset's jobs are read, and the one for the log that is made
/// of them. A time frame that does not cut cases is one of the log.
fn filters(request: &Request) -> (EventFilter, EventFilter) {
    let EventFilter { from, to, .. } = request.filter;
    if request.of_log.filter.frame == TimeFrame::Trimmed {
        return (request.filter.clone(), EventFilter::default());
    }
    (EventFilter { from: None, to: None, ..request.filter.clone() }, EventFilter { from, to, ..EventFilter::default() })
}

/// Writes the part of an object-centric log that is asked for.
fn write_chosen_objects(request: &Request, log: &dyn ObjectLog, filter: &EventFilter, sink: &dyn Sink) -> Result<Counts> {
    let write = |log: &dyn ObjectLog| write_objects(request.output.as_deref(), request.format, log, sink);
    if request.of_log.is_open() && filter.is_open() {
        return write(log);
    }
    write(&part_of_log::of_objects(log, &request.of_log, filter, sink)?)
}

/// Writes the part of a log with cases that is asked for.
fn write_chosen_cases(request: &Request, log: &dyn CaseLog, filter: &EventFilter, of: &PartOf, sink: &dyn Sink) -> Result<Counts> {
    if request.of_log.is_open() && filter.is_open() {
        return write_part(request, log, of, sink);
    }
    write_part(request, &part_of_log::of_cases(log, &request.of_log, filter, sink)?, of, sink)
}

fn write_part(request: &Request, log: &dyn CaseLog, of: &PartOf, sink: &dyn Sink) -> Result<Counts> {
    let options = xes::Options { milliseconds: request.milliseconds };
    let write = |log: &dyn CaseLog| write_cases(request.output.as_deref(), request.format, options, log, sink);
    let Some(part) = request.part else { return write(log) };
    let takes: Option<Takes<'_>> = if of.alone { None } else { Some(Box::new(move |name| part.has_case(name))) };
    write(&PartOfCases::new(log, &part.to_string(), of.rows.as_deref(), takes))
}

/// Writes a log with cases.
///
/// # Errors
/// When it cannot be written, or the format has no cases.
pub fn write_cases(path: Option<&Path>, format: &LogFormat, options: xes::Options, log: &dyn CaseLog, sink: &dyn Sink) -> Result<Counts> {
    let _stage = sink.stage("writing the log");
    match format.writer {
        Writer::Cases { write, .. } => output::write_log(path, |out| write(log, out, options)),
        _ => refuse!("the format {} has no cases", format.name),
    }
}

/// Writes an object-centric log.
///
/// # Errors
/// When it cannot be written, or the format has no objects.
pub fn write_objects(path: Option<&Path>, format: &LogFormat, log: &dyn ObjectLog, sink: &dyn Sink) -> Result<Counts> {
    let _stage = sink.stage("writing the log");
    match (format.writer, path) {
        (Writer::Objects(write), _) => output::write_log(path, |out| write(log, out)),
        (Writer::Database(write), Some(path)) => output::write_beside(path, |path| write(log, path)),
        (Writer::Database(_), None) => refuse!("a database cannot go to standard output: give the output file with -o FILE"),
        _ => refuse!("the format {} has no objects", format.name),
    }
}

/// Sends what the format could not carry as it was.
pub fn tell(counts: Counts, sink: &dyn Sink) {
    if counts.replaced_characters > 0 {
        sink.warning(&format!(
            "{} characters that XML cannot carry are written visibly, byte by byte as \\xNN",
            counts.replaced_characters
        ));
    }
    if counts.simplified_values > 0 {
        sink.warning(&format!(
            "{} values are written in a simpler form, because the format has no other (docs/standards.md lists them)",
            counts.simplified_values
        ));
    }
    if counts.repeated > 0 {
        sink.warning(&format!("{} relations repeated another and are written once", counts.repeated));
    }
    if counts.renamed_cases > 0 {
        sink.message(Message::Done(&format!(
            "{} traces have no name, or that of an earlier trace; in the table each has one of its own (NAME#2, case 5)",
            counts.renamed_cases
        )));
    }
}

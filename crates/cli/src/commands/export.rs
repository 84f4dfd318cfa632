//! `flowmine export`: writes an event log or the I/O of a dataset.

use std::path::Path;

use anyhow::Context;
use flowmine_activity_log::TimeFrame;
use flowmine_api::groups::EventFilter;
use flowmine_api::source::{self, Notion, Selection, Source};
use flowmine_api::{lower_bounds, part_of_log};
use flowmine_dataset::Dataset;
use flowmine_eventlog::part_of_cases::{PartOfCases, Takes};
use flowmine_eventlog::{CaseLog, Counts, ObjectLog, csv, ocel, xes};
use flowmine_logs::flat_parquet;
use flowmine_logs::log_file::LogRules;
use flowmine_logs::log_file::as_objects::Untimed;
use flowmine_logs::task_log::objects::ObjectSelection as Objects;
use flowmine_privacy::RowRules;
use flowmine_privacy::drop::DropColumns;
use flowmine_privacy::pseudonym::Pseudonymiser;

use super::observe::pseudonymiser_for;
use super::{io_csv, wfformat};
use crate::args::{Export, LogFormat, ObjectsArg, UntimedArg};
use crate::outcome::Outcome;
use crate::progress::Stage;
use crate::terminal::Terminal;
use crate::{inputs, messages, output};

/// Runs `flowmine export`: writes an event log or the I/O of a dataset.
pub fn run(args: &Export) -> anyhow::Result<Outcome> {
    let has_cases = !args.format.has_objects() && !matches!(args.format, LogFormat::IoCsv | LogFormat::Wfformat);
    anyhow::ensure!(
        args.part.is_none() || has_cases,
        "--part is for formats with cases, such as xes or parquet: an object can be in several parts, which would not be one log again"
    );
    if args.format == LogFormat::IoCsv {
        return io_csv::export(args);
    }
    if args.format == LogFormat::Wfformat {
        return wfformat::export(args);
    }
    anyhow::ensure!(args.run.is_none(), "--run chooses a workflow run for --format wfformat; event logs have the jobs of a dataset");
    let name = args.case_notion.as_deref();
    anyhow::ensure!(
        !args.format.has_objects() || name.is_none(),
        "an object-centric log has no case notion: leave --case-notion out, or choose a format with cases, such as xes"
    );
    let xes = matches!(args.format, LogFormat::Xes | LogFormat::XesGz);
    anyhow::ensure!(xes || !args.milliseconds, "--milliseconds is for XES; the other formats keep every digit for every reader");
    let to_file = args.output.as_deref().is_some_and(|path| path != "-");
    anyhow::ensure!(args.format != LogFormat::OcelSqlite || to_file, "a database cannot go to standard output: say where to with -o FILE");
    let pseudonymiser = pseudonymiser(args.pseudonymise.as_deref())?;
    let log_rules = LogRules { pseudonymiser: pseudonymiser.clone(), drop: args.drop.clone() };
    let mut lossy = false;
    let (of_events, of_log) = filters(args);
    let counts = match source::open(&args.source.paths(), &args.columns, args.timestamp, log_rules, &Terminal)? {
        Source::Jobs(dataset) => {
            lower_bounds::warn(&dataset, &Terminal)?;
            let pseudonymiser = pseudonymiser.map(|codes| pseudonymiser_for(&dataset, codes)).transpose()?;
            anyhow::ensure!(!args.columns.is_some(), "--case-column and the like are for tables (CSV, Parquet), and this is a dataset");
            let rules = RowRules { drop: DropColumns::parse(&args.drop).context("--drop")?, pseudonymiser };
            let notion = source::notion(name, &dataset)?;
            let has_objects = args.format.has_objects();
            let rows = rows_of_part(args, &dataset)?;
            let notions = match &notion {
                Notion::Jobs(notion) if !has_objects => vec![*notion],
                _ => Vec::new(),
            };
            let wanted = Selection {
                objects: notions.is_empty().then(|| objects(&args.objects, &notion)),
                notions: &notions,
                part: args.part,
                filter: &of_events,
                timestamp: args.timestamp,
                rules: &rules,
            };
            if let Notion::Tasks(notion) = notion
                && !has_objects
            {
                let log = source::task_cases(&dataset, notion, &rules, &source::filter(&wanted)?, &Terminal)?;
                unchanged(args, &dataset, rows.as_deref())?;
                tell(write_cases(args, &log, &of_log, &PartOf { rows, alone: false })?);
                return Ok(Outcome::Clean);
            }
            let finished = source::job_logs(&dataset, &wanted, &Terminal)?;
            unchanged(args, &dataset, rows.as_deref())?;
            let alone = matches!(notion, Notion::Jobs(notion) if notion.within_parts());
            let of = PartOf { rows, alone };
            match (finished.objects, finished.cases.first(), &notion) {
                (_, Some(log), _) => write_cases(args, log, &of_log, &of)?,
                (Some(log), None, Notion::Objects(kind)) => {
                    write_cases(args, &*source::objects_as_cases(&log, &format!("object:{kind}"), &Terminal)?, &of_log, &of)?
                }
                (Some(log), None, _) => write_objects(args, &log, &of_log)?,
                (None, None, _) => Counts::default(),
            }
        }
        Source::Log(file) => {
            lossy = source::has_losses(&file.findings);
            if args.format.has_objects() {
                let untimed = match args.untimed_events {
                    UntimedArg::LeaveOut => Untimed::LeaveOut,
                    UntimedArg::Neighbour => Untimed::Neighbour,
                };
                let (log, lossy_as_objects) = source::as_objects(file, name, untimed, &Terminal)?;
                lossy |= lossy_as_objects;
                write_objects(args, &*log, &args.filter)?
            } else {
                write_cases(args, &*source::as_cases(file, name, &Terminal)?, &args.filter, &PartOf::default())?
            }
        }
    };
    tell(counts);
    Ok(if lossy { Outcome::WithLosses } else { Outcome::Clean })
}

/// Which objects were asked for, or are needed for the cases that were.
pub fn objects(asked: &[ObjectsArg], notion: &Notion) -> Objects {
    let has = |kind| asked.contains(&kind);
    let of_processes = matches!(notion, Notion::Objects(kind) if kind == "process");
    Objects {
        jobs: has(ObjectsArg::Job),
        tasks: has(ObjectsArg::Task),
        processes: has(ObjectsArg::Process) || of_processes,
        files: has(ObjectsArg::File),
    }
}

/// Reads the key of `--pseudonymise`.
pub fn pseudonymiser(key: Option<&Path>) -> anyhow::Result<Option<Pseudonymiser>> {
    let Some(path) = key else { return Ok(None) };
    inputs::note(path);
    let (pseudonymiser, warning) = Pseudonymiser::from_key_file(path)?;
    if let Some(warning) = warning {
        messages::warning(&warning.to_string());
    }
    Ok(Some(pseudonymiser))
}

/// The filter by which the events of a dataset's jobs are read, and the one for the log that is made
/// of them. A time frame that does not cut cases is one of the log.
fn filters(args: &Export) -> (EventFilter, EventFilter) {
    let EventFilter { from, to, .. } = *args.filter;
    if args.of_log.frame == TimeFrame::Trimmed {
        return ((*args.filter).clone(), EventFilter::default());
    }
    (EventFilter { from: None, to: None, ..(*args.filter).clone() }, EventFilter { from, to, ..EventFilter::default() })
}

fn write_objects(args: &Export, log: &dyn ObjectLog, filter: &EventFilter) -> anyhow::Result<Counts> {
    if args.of_log.is_open() && filter.is_open() {
        return objects_to(args.output.as_deref(), args.format, log);
    }
    let chosen = part_of_log::of_objects(log, &args.of_log, filter)?;
    objects_to(args.output.as_deref(), args.format, &chosen)
}

/// Writes an object-centric log.
pub(super) fn objects_to(path: Option<&Path>, format: LogFormat, log: &dyn ObjectLog) -> anyhow::Result<Counts> {
    let _stage = Stage::new("writing the log");
    match format {
        LogFormat::OcelJson => output::write_log(path, |out| ocel::json::write(log, out)),
        LogFormat::OcelXml => output::write_log(path, |out| ocel::xml::write(log, out)),
        _ => output::write_beside(path, |path| ocel::sqlite::write(log, path)),
    }
}

/// The rows of which a part of a dataset's cases is, when one is asked for: those that were there
/// when `correlate` last read them, since parts of different rows do not fit together.
fn rows_of_part(args: &Export, dataset: &Dataset) -> anyhow::Result<Option<String>> {
    if args.part.is_none() {
        return Ok(None);
    }
    let rows = flowmine_correlate::joined::kept_state(dataset)?.context(
        "the dataset has other rows than its last `flowmine correlate` read, and parts of different rows are not one log: \
         run `flowmine correlate` again, and export all parts before rows are added",
    )?;
    Ok(Some(format!("{rows:016x}")))
}

/// Whether the rows are still those of which the part is.
fn unchanged(args: &Export, dataset: &Dataset, rows: Option<&str>) -> anyhow::Result<()> {
    anyhow::ensure!(
        rows_of_part(args, dataset)?.as_deref() == rows,
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

fn write_cases(args: &Export, log: &dyn CaseLog, filter: &EventFilter, of: &PartOf) -> anyhow::Result<Counts> {
    if args.of_log.is_open() && filter.is_open() {
        return write_part(args, log, of);
    }
    write_part(args, &part_of_log::of_cases(log, &args.of_log, filter)?, of)
}

fn write_part(args: &Export, log: &dyn CaseLog, of: &PartOf) -> anyhow::Result<Counts> {
    let Some(part) = args.part else { return write(args, log) };
    let takes: Option<Takes<'_>> = if of.alone { None } else { Some(Box::new(move |name| part.has_case(name))) };
    write(args, &PartOfCases::new(log, &part.to_string(), of.rows.as_deref(), takes))
}

fn write(args: &Export, log: &dyn CaseLog) -> anyhow::Result<Counts> {
    cases_to(args.output.as_deref(), args.format, xes::Options { milliseconds: args.milliseconds }, log)
}

/// Writes a log with cases.
pub(super) fn cases_to(path: Option<&Path>, format: LogFormat, options: xes::Options, log: &dyn CaseLog) -> anyhow::Result<Counts> {
    let _stage = Stage::new("writing the log");
    output::write_log(path, |out| match format {
        LogFormat::XesGz => xes::gzip::write_with(log, options, out),
        LogFormat::Csv => csv::write(log, out),
        LogFormat::Parquet => flat_parquet::write(log, out),
        _ => xes::write_with(log, options, out),
    })
}

/// Says what the format could not carry as it was.
pub fn tell(counts: Counts) {
    if counts.replaced_characters > 0 {
        messages::warning(&format!(
            "{} characters that XML cannot carry are written visibly, byte by byte as \\xNN",
            counts.replaced_characters
        ));
    }
    if counts.simplified_values > 0 {
        messages::warning(&format!(
            "{} values are written in a simpler form, because the format has no other (docs/standards.md says which)",
            counts.simplified_values
        ));
    }
    if counts.repeated > 0 {
        messages::warning(&format!("{} relations said the same as another and are written once", counts.repeated));
    }
    if counts.renamed_cases > 0 {
        messages::note(&format!(
            "{} traces have no name, or that of an earlier trace; in the table each has one of its own (NAME#2, case 5)",
            counts.renamed_cases
        ));
    }
}

//! `flowmine export`: writes an event log or the I/O of a dataset.

use std::path::Path;

use anyhow::Context;
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

use super::source::{self, Notion, Selection, Source};
use super::{io_csv, jobs, wfformat};
use crate::args::{Export, LogFormat, ObjectsArg, UntimedArg};
use crate::outcome::Outcome;
use crate::progress::Stage;
use crate::{messages, output};

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
    let counts = match source::open(&args.source, &args.filter, args.timestamp, log_rules)? {
        Source::Jobs(dataset) => {
            let rules = RowRules { drop: DropColumns::parse(&args.drop).context("--drop")?, pseudonymiser };
            let notion = source::notion(name, &dataset)?;
            let has_objects = args.format.has_objects();
            unchanged(args, &dataset)?;
            let notions = match &notion {
                Notion::Jobs(notion) if !has_objects => vec![*notion],
                _ => Vec::new(),
            };
            let wanted = Selection {
                objects: notions.is_empty().then(|| objects(&args.objects, &notion)),
                notions: &notions,
                part: args.part,
                filter: &args.filter,
                timestamp: jobs::timestamp(args.timestamp),
                rules: &rules,
            };
            if let Notion::Tasks(notion) = notion
                && !has_objects
            {
                let log = source::task_cases(&dataset, notion, &rules, &source::filter(&wanted)?)?;
                unchanged(args, &dataset)?;
                tell(write_cases(args, &log)?);
                return Ok(Outcome::Clean);
            }
            let finished = source::job_logs(&dataset, &wanted)?;
            unchanged(args, &dataset)?;
            match (finished.objects, finished.cases.first(), &notion) {
                (_, Some(log), Notion::Jobs(notion)) if notion.within_parts() => write_part(args, log, None)?,
                (_, Some(log), _) => write_cases(args, log)?,
                (Some(log), None, Notion::Objects(kind)) => {
                    write_cases(args, &*source::objects_as_cases(&log, &format!("object:{kind}"))?)?
                }
                (Some(log), None, _) => write_objects(args, &log)?,
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
                let (log, lossy_as_objects) = source::as_objects(file, name, untimed)?;
                lossy |= lossy_as_objects;
                write_objects(args, &*log)?
            } else {
                write_cases(args, &*source::as_cases(file, name)?)?
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
    let (pseudonymiser, warning) = Pseudonymiser::from_key_file(path)?;
    if let Some(warning) = warning {
        messages::warning(&warning.to_string());
    }
    Ok(Some(pseudonymiser))
}

fn write_objects(args: &Export, log: &dyn ObjectLog) -> anyhow::Result<Counts> {
    objects_to(args.output.as_deref(), args.format, log)
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

/// Whether parts of a dataset's cases fit together, when one is asked for: all are of the rows that
/// were there when `correlate` last read them.
fn unchanged(args: &Export, dataset: &Dataset) -> anyhow::Result<()> {
    anyhow::ensure!(
        args.part.is_none() || flowmine_correlate::joined::is_kept(dataset)?,
        "the dataset has other rows than its last `flowmine correlate` read, and parts of different rows are not one log: \
         run `flowmine correlate` again, and export all parts before rows are added"
    );
    Ok(())
}

fn write_cases(args: &Export, log: &dyn CaseLog) -> anyhow::Result<Counts> {
    write_part(args, log, args.part.map(|part| -> Takes<'_> { Box::new(move |name| part.has_case(name)) }))
}

/// Writes the cases that are taken; all when nothing chooses, as where the log is made of one part
/// alone.
fn write_part(args: &Export, log: &dyn CaseLog, takes: Option<Takes<'_>>) -> anyhow::Result<Counts> {
    match args.part {
        Some(part) => write(args, &PartOfCases::new(log, &part.to_string(), takes)),
        None => write(args, log),
    }
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

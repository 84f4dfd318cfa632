//! `flowmine export`.

use anyhow::Context;
use flowmine_correlate::drop::DropColumns;
use flowmine_correlate::pseudonym::Pseudonymiser;
use flowmine_correlate::rules::RowRules;
use flowmine_discover::flat_parquet;
use flowmine_eventlog::{CaseLog, Counts, LogError, ObjectLog, csv, ocel, xes};

use super::jobs;
use super::source::{self, Notion, Source, Wanted};
use crate::args::{Export, LogFormat};
use crate::progress::Stage;
use crate::{Outcome, messages, output};

/// Writes an event log.
pub fn run(args: &Export) -> anyhow::Result<Outcome> {
    let name = args.case_notion.as_deref();
    anyhow::ensure!(
        !args.format.has_objects() || name.is_none(),
        "an object-centric log has no case notion: leave --case-notion out, or choose a format with cases, such as xes"
    );
    let to_file = args.output.as_deref().is_some_and(|path| path != "-");
    anyhow::ensure!(args.format != LogFormat::OcelSqlite || to_file, "a database cannot go to standard output: say where to with -o FILE");
    let counts = match source::open(&args.source, &args.filter, args.timestamp)? {
        Source::Jobs(dataset) => {
            let rules = rules(args)?;
            let notion = source::notion(name)?;
            let notions = match &notion {
                Notion::Jobs(notion) if !args.format.has_objects() => vec![*notion],
                _ => Vec::new(),
            };
            let wanted = Wanted {
                objects: notions.is_empty(),
                notions: &notions,
                filter: &args.filter,
                timestamp: jobs::timestamp(args.timestamp),
                rules: &rules,
            };
            let finished = source::job_logs(&dataset, &wanted)?;
            match (finished.objects, finished.cases.first(), &notion) {
                (_, Some(log), _) => write_cases(args, log)?,
                (Some(log), None, Notion::Objects(kind)) => {
                    write_cases(args, &*source::objects_as_cases(&log, &format!("object:{kind}"))?)?
                }
                (Some(log), None, _) => write_objects(args, &log)?,
                (None, None, _) => Counts::default(),
            }
        }
        Source::Log(file) => {
            anyhow::ensure!(
                args.pseudonymise.is_none() && args.drop.is_empty(),
                "--pseudonymise and --drop know the columns of a dataset's jobs, not what stands in a log of others"
            );
            if args.format.has_objects() {
                write_objects(args, &*source::as_objects(file, name)?)?
            } else {
                write_cases(args, &*source::as_cases(file, name)?)?
            }
        }
    };
    Ok(tell(counts))
}

fn rules(args: &Export) -> anyhow::Result<RowRules> {
    let mut rules = RowRules { drop: DropColumns::parse(&args.drop).context("--drop")?, ..RowRules::default() };
    if let Some(path) = &args.pseudonymise {
        let (pseudonymiser, warning) = Pseudonymiser::from_key_file(path)?;
        if let Some(warning) = warning {
            messages::warning(&warning.to_string());
        }
        rules.pseudonymiser = Some(pseudonymiser);
    }
    Ok(rules)
}

fn write_objects(args: &Export, log: &dyn ObjectLog) -> anyhow::Result<Counts> {
    let _stage = Stage::new("writing the log");
    let path = args.output.as_deref();
    match args.format {
        LogFormat::OcelJson => output::write_log(path, |out| ocel::json::write(log, out)),
        LogFormat::OcelXml => output::write_log(path, |out| ocel::xml::write(log, out)),
        _ => output::write_beside(path, |path| ocel::sqlite::write(log, path)),
    }
}

fn write_cases(args: &Export, log: &dyn CaseLog) -> anyhow::Result<Counts> {
    let _stage = Stage::new("writing the log");
    let write: fn(&dyn CaseLog, &mut dyn std::io::Write) -> Result<Counts, LogError> = match args.format {
        LogFormat::XesGz => xes::gzip::write,
        LogFormat::Csv => csv::write,
        LogFormat::Parquet => flat_parquet::write,
        _ => xes::write,
    };
    output::write_log(args.output.as_deref(), |out| write(log, out))
}

/// Says what the format could not carry as it was.
pub fn tell(counts: Counts) -> Outcome {
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
    Outcome::Clean
}

//! `flowmine run`: the whole batch over a dataset.

use std::fs;
use std::io::ErrorKind;

use anyhow::Context;
use flowmine_correlate::cases;
use flowmine_correlate::{Classifier, CorrelateError, RowRules};
use flowmine_discover::draw::{Options, svg};
use flowmine_logs::job_log::JobLogs;
use flowmine_discover::log::Which;
use flowmine_logs::summary::{Summary, diagnostic_counts};
use flowmine_logs::task_log;
use flowmine_eventlog::{Counts, ocel, xes};
use flowmine_schema::DatasetError;

use super::source::Notion;
use super::{discover, export, jobs, source};
use crate::args::{ObjectsArg, Run};
use crate::progress::Stage;
use crate::{Outcome, messages, output};

/// Correlates, exports, discovers and summarises.
pub fn run(args: &Run) -> anyhow::Result<Outcome> {
    let (dataset, jobs) = jobs::read(&args.dataset, args.timestamp)?;
    let filter = jobs::filter(&args.filter, &jobs)?;
    anyhow::ensure!(!args.out.join("flowmine.json").exists(), "{} is a dataset: choose another directory for --out", args.out.display());
    fs::create_dir_all(&args.out).with_context(|| args.out.display().to_string())?;

    let stage = Stage::new("correlating");
    match flowmine_correlate::correlate(&dataset, &jobs, cases::ALL) {
        Ok(_) => {}
        // Somebody else's dataset can be read all the same.
        Err(CorrelateError::Dataset(error @ DatasetError::Locked { .. })) => {
            messages::warning(&format!("the tables links and cases are left to the other: {error}"));
        }
        Err(CorrelateError::Dataset(DatasetError::Io { path, source }))
            if matches!(source.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem) =>
        {
            messages::warning(&format!("the tables links and cases are not written: {}: {source}", path.display()));
        }
        Err(error) => return Err(error.into()),
    }
    drop(stage);

    let mut written = Vec::new();
    let stage = Stage::new("making logs");
    let rules = RowRules::default();
    let mut logs = JobLogs::new(filter.clone(), true, cases::ALL, task_log::of_jobs(&dataset, &rules)?);
    logs.add(&jobs)?;
    let mut logs = logs.finish()?;
    let wanted = export::objects(&ObjectsArg::DEFAULT, &Notion::Tasks);
    logs.objects = Some(source::beside_jobs(&dataset, &rules, &filter, wanted, logs.objects)?);
    messages::diagnostics("log", &logs.diagnostics);
    drop(stage);
    let mut counts = Counts::default();
    for (notion, log) in cases::ALL.iter().zip(&logs.cases) {
        // log.xes and dfg.svg are those of the first notion; each other notion's name is in its files' names.
        let suffix = if notion.name() == cases::ALL[0].name() { String::new() } else { format!("-{}", notion.name()) };
        let _stage = Stage::new("writing logs and pictures");
        let name = format!("log{suffix}.xes");
        counts += output::write_log(Some(&args.out.join(&name)), |out| xes::write(log, out))?;
        written.push((name, format!("event log, a case is: {}", notion.description())));
        for (which, what, picture) in [(Which::All, "", "all events"), (Which::Starts, "-starts", "job starts")] {
            let graph = discover::graph(&jobs, *notion, &filter, Classifier::Activity, which, &args.filter)?;
            let name = format!("dfg{suffix}{what}.svg");
            let svg = svg::svg(&graph, &Options::default())?;
            output::write(Some(&args.out.join(&name)), |out| Ok(out.write_all(svg.as_bytes())?))?;
            written.push((name, format!("directly-follows graph of {picture}, {} cases", notion.name())));
        }
    }
    if task_log::has_tasks(&dataset)? {
        let log = source::task_cases(&dataset, &rules, &filter)?;
        let _stage = Stage::new("writing logs and pictures");
        let name = format!("log-{}.xes", task_log::NOTION);
        counts += output::write_log(Some(&args.out.join(&name)), |out| xes::write(&log, out))?;
        written.push((name, format!("event log, a case is: {}", task_log::cases::DESCRIPTION)));
        for (which, what, picture) in [(Which::All, "", "all events"), (Which::Starts, "-starts", "task starts")] {
            let graph = discover::graph_of_log(&log, Classifier::Activity, which, task_log::NOTION, &args.filter)?;
            let name = format!("dfg-{}{what}.svg", task_log::NOTION);
            let svg = svg::svg(&graph, &Options::default())?;
            output::write(Some(&args.out.join(&name)), |out| Ok(out.write_all(svg.as_bytes())?))?;
            written.push((name, format!("directly-follows graph of {picture}, {} cases", task_log::NOTION)));
        }
    }
    let stage = Stage::new("writing the object-centric log");
    if let Some(log) = &logs.objects {
        counts += output::write_log(Some(&args.out.join("log.ocel.json")), |out| ocel::json::write(log, out))?;
    }
    drop(stage);
    export::tell(counts);
    written.push(("log.ocel.json".to_owned(), "object-centric event log, OCEL 2.0".to_owned()));

    let counts = diagnostic_counts(&dataset)?;
    let summary = Summary::new(&jobs, &filter, cases::ALL, counts);
    output::write(Some(&args.out.join("summary.json")), |out| {
        serde_json::to_writer_pretty(&mut *out, &summary)?;
        Ok(out.write_all(b"\n")?)
    })?;
    written.push(("summary.json".to_owned(), "the numbers below".to_owned()));
    output::write(None, |out| {
        writeln!(out, "{}", args.out.display())?;
        for (name, what) in &written {
            writeln!(out, "  {name:<28} {what}")?;
        }
        Ok(write!(out, "\n{}", summary.text())?)
    })?;
    Ok(if summary.errors > 0 { Outcome::WithLosses } else { Outcome::Clean })
}

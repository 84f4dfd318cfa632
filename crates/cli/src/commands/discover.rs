//! `flowmine discover`.

use anyhow::Context;
use flowmine_correlate::cases::CaseNotion;
use flowmine_correlate::row_rules::RowRules;
use flowmine_correlate::{Classifier, EventLog, Filter, Jobs};
use flowmine_discover::dfg::Dfg;
use flowmine_discover::draw::{self, dot, json, svg};
use flowmine_discover::log::{Which, directly_follows, directly_follows_of_cases};
use flowmine_logs::log_file::LogRules;
use flowmine_logs::task_log;
use flowmine_eventlog::CaseLog;

use super::source::{self, Notion, Source, Wanted};
use super::{export, file_access, jobs};
use crate::args::{ActivityArg, Discover, EventsArg, FilterArgs, Model, ModelFormat, ObjectsArg, TimeArg};
use crate::progress::Stage;
use crate::{Outcome, messages, output};

/// Discovers a model and writes it.
pub fn run(args: &Discover) -> anyhow::Result<Outcome> {
    if args.model != Model::Dfg {
        return file_access::run(args);
    }
    anyhow::ensure!(args.file.is_none(), "--file chooses the file of --model accesses");
    let which = match args.events {
        EventsArg::All => Which::All,
        EventsArg::Starts => Which::Starts,
        EventsArg::Ends => Which::Ends,
    };
    let classifier = match args.activity {
        ActivityArg::Command => Classifier::Activity,
        ActivityArg::CommandState => Classifier::ActivityState,
    };
    let name = args.case_notion.as_deref();
    let dfg = match source::open(&args.source, &args.filter, args.timestamp, LogRules::default())? {
        Source::Jobs(dataset) => match source::notion(name, &dataset)? {
            Notion::Jobs(notion) => {
                let jobs = jobs::of(&dataset, args.timestamp)?;
                let filter = jobs::filter(&args.filter, &jobs)?;
                let _stage = Stage::new("discovering");
                graph(&jobs, notion, &filter, classifier, which, &args.filter)?
            }
            Notion::Tasks => {
                let filter =
                    Filter { accounts: args.filter.account.clone(), users: args.filter.user.clone(), ..jobs::time_filter(&args.filter)? };
                let log = source::task_cases(&dataset, &RowRules::default(), &filter)?;
                graph_of_log(&log, classifier, which, task_log::NOTION, &args.filter)?
            }
            notion @ Notion::Objects(_) => {
                let rules = RowRules::default();
                let timestamp = jobs::timestamp(args.timestamp);
                let objects = export::objects(&ObjectsArg::DEFAULT, &notion);
                let wanted = Wanted { objects: Some(objects), notions: &[], filter: &args.filter, timestamp, rules: &rules };
                let objects = source::job_logs(&dataset, &wanted)?.objects.context("no object-centric log was made")?;
                let log = source::objects_as_cases(&objects, name.unwrap_or_default())?;
                graph_of_log(&*log, classifier, which, name.unwrap_or_default(), &args.filter)?
            }
        },
        Source::Log(file) => graph_of_log(&*source::as_cases(file, name)?, classifier, which, name.unwrap_or("trace"), &args.filter)?,
    };
    let time = match args.time {
        TimeArg::Median => draw::Time::Median,
        TimeArg::Mean => draw::Time::Mean,
        TimeArg::P95 => draw::Time::P95,
    };
    let options = draw::Options { time, ..draw::Options::default() };
    output::write(args.output.as_deref(), |out| {
        match args.format {
            ModelFormat::Svg => out.write_all(svg::svg(&dfg, &options)?.as_bytes())?,
            ModelFormat::Dot => out.write_all(dot::dot(&dfg, &options)?.as_bytes())?,
            ModelFormat::Json => json::write(&dfg, out)?,
            ModelFormat::Csv => anyhow::bail!("a graph is written as svg, dot or json; csv is for --model access-share and accesses"),
        }
        Ok(())
    })?;
    Ok(Outcome::Clean)
}

/// The directly-follows graph of a log of cases.
pub fn graph_of_log(log: &dyn CaseLog, classifier: Classifier, which: Which, notion: &str, typed: &FilterArgs) -> anyhow::Result<Dfg> {
    let _stage = Stage::new("discovering");
    let (mut dfg, left_out) = directly_follows_of_cases(log, classifier, which)?;
    if left_out > 0 {
        messages::warning(&format!("{left_out} events without time:timestamp are not in the graph"));
    }
    if which != Which::All && dfg.events == 0 {
        messages::warning(
            "the graph is empty: no event says in its lifecycle:transition that something began or ended, by which --events chooses",
        );
    }
    dfg.notion = match notion.strip_prefix("object:") {
        Some(kind) => format!("objects of type {kind}"),
        None if notion == task_log::NOTION => format!("{notion}: {}", task_log::cases::DESCRIPTION),
        None => "the traces of the log".to_owned(),
    };
    words(&mut dfg, classifier, which, typed);
    Ok(dfg)
}

/// The directly-follows graph with the words that its picture needs.
pub fn graph(
    jobs: &Jobs,
    notion: &dyn CaseNotion,
    filter: &Filter,
    classifier: Classifier,
    which: Which,
    typed: &FilterArgs,
) -> anyhow::Result<Dfg> {
    let log = EventLog::build(jobs, notion, filter);
    let mut dfg = directly_follows(&log, classifier, which)?;
    dfg.notion = format!("{}: {}", notion.name(), notion.description());
    words(&mut dfg, classifier, which, typed);
    Ok(dfg)
}

fn words(dfg: &mut Dfg, classifier: Classifier, which: Which, typed: &FilterArgs) {
    let what = if dfg.notion.starts_with(task_log::NOTION) { "task" } else { "job" };
    dfg.title = match which {
        Which::All => "Directly-follows graph of all events".to_owned(),
        Which::Starts => format!("Directly-follows graph of {what} starts"),
        Which::Ends => format!("Directly-follows graph of {what} ends"),
    };
    dfg.filters = jobs::filter_words(typed);
    if classifier == Classifier::ActivityState {
        dfg.abstraction = "an activity is a command in a state".to_owned();
    }
}

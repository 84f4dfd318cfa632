//! `flowmine discover`.

use flowmine_correlate::cases::CaseNotion;
use flowmine_correlate::{Classifier, EventLog, Filter, Jobs};
use flowmine_discover::dfg::Dfg;
use flowmine_discover::draw::{self, dot, json, svg};
use flowmine_discover::log::{Which, directly_follows};

use super::jobs;
use crate::args::{ActivityArg, Discover, EventsArg, FilterArgs, Model, ModelFormat, TimeArg};
use crate::progress::Stage;
use crate::{Outcome, output};

/// Discovers a model and writes it.
pub fn run(args: &Discover) -> anyhow::Result<Outcome> {
    let notion = jobs::notion(&args.case_notion)?;
    let (_, jobs) = jobs::read(&args.dataset, args.timestamp)?;
    let filter = jobs::filter(&args.filter, &jobs)?;
    let _stage = Stage::new("discovering");
    let Model::Dfg = args.model;
    let which = match args.events {
        EventsArg::All => Which::All,
        EventsArg::Starts => Which::Starts,
        EventsArg::Ends => Which::Ends,
    };
    let classifier = match args.activity {
        ActivityArg::Command => Classifier::Activity,
        ActivityArg::CommandState => Classifier::ActivityState,
    };
    let dfg = graph(&jobs, notion, &filter, classifier, which, &args.filter)?;
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
        }
        Ok(())
    })?;
    Ok(Outcome::Clean)
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
    dfg.title = match which {
        Which::All => "Directly-follows graph of all events".to_owned(),
        Which::Starts => "Directly-follows graph of job starts".to_owned(),
        Which::Ends => "Directly-follows graph of job ends".to_owned(),
    };
    dfg.notion = format!("{}: {}", notion.name(), notion.description());
    dfg.filters = jobs::filter_words(typed);
    if classifier == Classifier::ActivityState {
        dfg.abstraction = "an activity is a command in a state".to_owned();
    }
    Ok(dfg)
}

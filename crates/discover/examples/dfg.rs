//! Reads a log in XES and writes its directly-follows graph: SVG, or DOT when the name ends so.
//!
//! ```text
//! cargo run --release -p flowmine-discover --example dfg -- LOG.xes GRAPH.svg
//! cargo run --release -p flowmine-discover --example dfg -- LOG.xes GRAPH.dot
//! ```

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use flowmine_activity_log::{EventRow, LogBuilder, Transition, UNKNOWN};
use flowmine_discover::{dfg, pictures};
use flowmine_draw::{dot, svg};
use flowmine_eventlog::read::{self, Finding, Format, Limits, Sink};
use flowmine_eventlog::{Attribute, CaseHeader, LogError, Record, Types, Value};

/// Puts the records of a log of cases into columns.
struct Columns {
    builder: LogBuilder,
    case: String,
}

fn text(attributes: &[Attribute<'_>], key: &str) -> Option<String> {
    Attribute::find(attributes, key)?.value.as_name().map(|name| name.into_owned())
}

impl Sink for Columns {
    fn types(&mut self, _: Types) -> Result<(), LogError> {
        Ok(()) // Only OCEL has them.
    }

    fn header(&mut self, _: CaseHeader) -> Result<(), LogError> {
        Ok(())
    }

    fn record(&mut self, record: &Record<'_>) -> Result<(), LogError> {
        match record {
            Record::Trace(attributes) => {
                self.case = text(attributes, "concept:name").unwrap_or_default();
                Ok(())
            }
            Record::CaseEvent(attributes) => {
                let time_ns = match Attribute::find(attributes, "time:timestamp").map(|time| &time.value) {
                    Some(Value::Time(ns)) => *ns,
                    _ => UNKNOWN,
                };
                let transition = text(attributes, "lifecycle:transition");
                let instance = text(attributes, "concept:instance");
                let row = EventRow {
                    activity: self.builder.activity(&text(attributes, "concept:name").unwrap_or_default()),
                    time_ns,
                    transition: transition.map_or(Transition::Untold, |word| Transition::parse(&word)),
                    instance: instance.map(|id| self.builder.instance_id(&id)),
                    ..EventRow::default()
                };
                self.builder.event(&row).map_err(LogError::source)
            }
            Record::TraceEnd => self.builder.end_case(&self.case).map_err(LogError::source),
            Record::Object(_) | Record::Event(_) => Ok(()),
        }
    }

    fn finding(&mut self, _: Finding) {}
}

/// Reads the log and writes the graph.
pub fn run(log: &Path, graph: &Path) -> Result<(), Box<dyn Error>> {
    let refused = |file: &Path, why: &dyn std::fmt::Display| format!("{}: {why}", file.display());
    if read::detect(log).map_err(|error| refused(log, &error))? != Format::Xes {
        return Err(refused(log, &"this is OCEL, which has no cases; a log in XES has").into());
    }
    let mut columns = Columns { builder: LogBuilder::new(&[]), case: String::new() };
    read::read_file(log, &Limits::default(), &mut columns).map_err(|error| refused(log, &error))?;
    let log_in_columns = columns.builder.finish();
    let cases = log_in_columns.cases().ok_or_else(|| refused(log, &"there are no cases in it"))?;
    let model = dfg::dfg(&log_in_columns, cases);
    let picture = pictures::dfg::graph(&model, &pictures::dfg::Options::default());
    let drawn = if graph.extension().is_some_and(|ending| ending == "dot") { dot::dot(&picture)? } else { svg::svg(&picture)? };
    fs::write(graph, drawn).map_err(|error| refused(graph, &error))?;
    Ok(())
}

#[allow(dead_code, reason = "a test takes this file in and calls `run`")]
fn main() -> ExitCode {
    match of_arguments() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn of_arguments() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let (Some(log), Some(graph), None) = (arguments.next(), arguments.next(), arguments.next()) else {
        return Err("usage: dfg LOG.xes GRAPH.svg|GRAPH.dot".into());
    };
    run(Path::new(&log), Path::new(&graph))
}

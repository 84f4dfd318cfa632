//! Workflow Run RO-Crate: `ro-crate-metadata.json` with the actions of a run, in the profiles
//! Process, Workflow and Provenance Run Crate 0.1 to 0.5.
//!
//! An action of a tool is a task. The action of the workflow is the run; without actions of tools
//! it is the only task. An action of a tool that is no part of the workflow, such as the drawing of
//! a diagram, is no task of its run. The properties `result` and `object` contain the written and the read
//! files, from which the parents follow.

mod columns;
mod graph;
mod ids;
mod usage;
pub mod write;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use chrono::{DateTime, NaiveDateTime};
use flowmine_schema::diagnostic::{Diagnostic, Diagnostics};
use flowmine_schema::time::SECOND_NS;
use serde_json::{Value, json};

use self::graph::Graph;
use crate::{Engine, Options, Row, Source, input, json as bounded};

/// Name of the format, as in the column `engine`.
pub const NAME: &str = "ro-crate";

const CRATE: &str = "Workflow Run RO-Crate";
/// Largest offset of a zone from UTC, in nanoseconds.
const ANY_ZONE_NS: i64 = 14 * 3600 * SECOND_NS;

/// The format, with the interface of an engine.
#[derive(Debug, Clone, Copy)]
pub struct RoCrate;

impl Engine for RoCrate {
    fn name(&self) -> &'static str {
        NAME
    }

    fn find(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        input::files_in(dir)
    }

    fn recognise(&self, _path: &Path, head: &[u8]) -> Option<&'static str> {
        let text = String::from_utf8_lossy(head);
        let is_one = text.trim_start().starts_with('{') && text.contains("\"@graph\"") && text.contains("w3id.org/ro/crate");
        is_one.then_some(CRATE)
    }

    fn read(&self, sources: &mut [Source], options: &Options) -> Vec<Row> {
        sources.sort_by(|a, b| (&a.name, &a.path).cmp(&(&b.name, &b.path)));
        let mut rows = Vec::new();
        for source in sources.iter_mut() {
            let text = input::whole(&source.path).map_err(|error| Diagnostic::of_reading(&error));
            match text.and_then(|text| read_one(&text, source, options)) {
                Ok(mut told) => {
                    told.iter_mut().for_each(|row| source.sign(row));
                    source.rows = told.len() as u64;
                    rows.extend(told);
                }
                Err(diagnostic) => source.refuse(diagnostic),
            }
        }
        rows
    }
}

fn read_one(text: &str, source: &mut Source, options: &Options) -> Result<Vec<Row>, Diagnostic> {
    let json = bounded::from_str(text)
        .map_err(|error| Diagnostic::error("json_bad", error.to_string()).at(error.line() as u64, Some(error.column() as u64)))?;
    rows_of(&json, &mut source.diagnostics, options)
}

fn rows_of(json: &Value, diagnostics: &mut Diagnostics, options: &Options) -> Result<Vec<Row>, Diagnostic> {
    let graph = Graph::of(json);
    let (runs, mut tools): (Vec<&Value>, Vec<&Value>) = graph.with_type("CreateAction").partition(|action| graph.is_of_workflow(action));
    if !runs.is_empty() {
        // Who wrote the crate may also have drawn a diagram or packed a file.
        let of_runs = graph.parts_of_runs(&runs);
        let all = tools.len();
        tools.retain(|action| graph.is_part(action, &of_runs));
        if tools.len() < all {
            let message = "an action of a tool that is no part of the workflow is left out";
            let advice = "a task is in an OrganizeAction or ControlAction, or its tool is in hasPart of the workflow";
            let count = (all - tools.len()) as u64;
            diagnostics.push(Diagnostic { count, ..Diagnostic::warning("action_of_no_run", message).advise(advice) });
        }
    }
    if runs.is_empty() && tools.is_empty() {
        let message = "the crate has no CreateAction: it describes data or a workflow, and no run of it";
        return Err(Diagnostic::error("crate_without_run", message));
    }
    let tasks = if tools.is_empty() { &runs } else { &tools };
    if tools.is_empty() {
        let message = "the crate has no actions of tools: the run of the workflow is its only task";
        diagnostics.push(Diagnostic::warning("tasks_not_described", message));
    }
    let run = if let [run] = runs[..] { Some(run) } else { None };
    let run_id = run.and_then(graph::id).map(str::to_owned);
    let run_name = run.and_then(|run| graph.name(run)).or_else(|| graph.root_name());
    let mut makers: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for task in tasks {
        for file in graph.references(&task["result"]) {
            makers.entry(file).or_default().extend(graph::id(task));
        }
    }
    let mut repeated = [&run_id, &run_name].into_iter().flatten().map(String::len).sum::<usize>().saturating_mul(tasks.len());
    let (mut without_zone, mut without_id, mut rows) = (false, 0, Vec::new());
    for task in tasks {
        let Some(id) = graph::id(task) else {
            without_id += 1;
            continue;
        };
        let mut row = row(&graph, task, id, options, &mut without_zone);
        // Tools, images and tasks with long names can be in many rows. A file can have many makers.
        repeated += row.logical_task.len() + row.container_image.as_ref().map_or(0, |image| image.len());
        let objects = graph.references(&task["object"]);
        let of_objects = || objects.iter().filter_map(|file| makers.get(file)).flatten().copied();
        for parent in of_objects() {
            repeated += parent.len();
            if repeated > input::MOST_REPEATED {
                break;
            }
        }
        if repeated > input::MOST_REPEATED {
            let message = "the texts of the run, its tools and the predecessors of its tasks are too long for so many tasks";
            return Err(Diagnostic::error("too_much_repeated", message));
        }
        // Without a list the inputs of the task are unknown.
        row.parents = (!tools.is_empty() && !task["object"].is_null()).then(|| {
            let parents: BTreeSet<&str> = of_objects().filter(|parent| *parent != id).collect();
            json!(parents).to_string().into()
        });
        row.run_id = run_id.clone().map(Into::into);
        row.run_name = run_name.clone().map(Into::into);
        columns::put(&graph, task, &mut row);
        rows.push(row);
    }
    if without_id > 0 {
        let message = "an action without @id is left out";
        diagnostics.push(Diagnostic { count: without_id, ..Diagnostic::warning("action_without_id", message) });
    }
    if without_zone {
        let message = "times have no zone; they are interpreted as UTC and can be wrong by up to 14 hours, all by the same amount";
        diagnostics.push(Diagnostic::warning("no_zone", message).advise("give the zone with --zone, as in --zone=+01:00"));
    }
    Ok(rows)
}

fn row(graph: &Graph<'_>, task: &Value, id: &str, options: &Options, without_zone: &mut bool) -> Row {
    let mut time = |name: &str| task[name].as_str().and_then(|text| time(text, options, without_zone));
    let (start, end) = (time("startTime"), time("endTime"));
    let instrument = graph.references(&task["instrument"]).into_iter().next();
    let tool = instrument.map(|tool| graph.get(tool).and_then(|tool| graph.name(tool)).unwrap_or_else(|| tool.to_owned()));
    let name = graph.name(task).unwrap_or_else(|| id.to_owned());
    let files = |list: &Value| {
        (!list.is_null()).then(|| {
            let files = graph.references(list).into_iter().filter_map(|file| graph.file(file)).collect();
            Value::Array(files).to_string().into()
        })
    };
    let image = graph.references(&task["containerImage"]).into_iter().next().map(|image| graph.image(image));
    let mut row = Row {
        engine: NAME.into(),
        task_id: Some(id.to_owned().into()),
        logical_task: tool.unwrap_or_else(|| name.clone()).into(),
        name: name.into(),
        status: status(task).into(),
        started_ns: start.map(|told| told.0),
        started_precision_ns: start.map(|told| told.1),
        finished_ns: end.map(|told| told.0),
        finished_precision_ns: end.map(|told| told.1),
        error: task["error"].as_str().map(|error| error.to_owned().into()),
        container_image: image.or_else(|| task["containerImage"].as_str().map(str::to_owned)).map(Into::into),
        inputs: files(&task["object"]),
        outputs: files(&task["result"]),
        ..Row::default()
    };
    usage::put(graph, task, &mut row);
    row
}

/// Returns the status; the profile defines an action without a status as completed.
fn status(task: &Value) -> &'static str {
    let status = &task["actionStatus"];
    let told = status.as_str().or_else(|| status["@id"].as_str()).unwrap_or("CompletedActionStatus");
    match told.rsplit(['/', ':']).next() {
        Some("CompletedActionStatus") => "completed",
        Some("FailedActionStatus") => "failed",
        Some("ActiveActionStatus") => "running",
        _ => "unknown",
    }
}

/// Parses a time in nanoseconds since 1970 with its precision.
fn time(text: &str, options: &Options, without_zone: &mut bool) -> Option<(i64, i64)> {
    let digits = text.split_once('.').map_or(0, |(_, rest)| rest.bytes().take_while(u8::is_ascii_digit).count().min(9));
    let precision = 10_i64.pow(9 - digits as u32);
    if let Ok(time) = DateTime::parse_from_rfc3339(text) {
        return Some((time.timestamp_nanos_opt()?, precision));
    }
    let local = NaiveDateTime::parse_from_str(text, "%Y-%m-%dT%H:%M:%S%.f").ok()?.and_utc().timestamp_nanos_opt()?;
    *without_zone |= options.zone_offset_s.is_none();
    let offset = options.zone_offset_s.unwrap_or(0);
    Some((local.checked_sub(offset * SECOND_NS)?, precision + if options.zone_offset_s.is_none() { ANY_ZONE_NS } else { 0 }))
}

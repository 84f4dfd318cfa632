//! WfFormat, versions 1.4 to 1.6: the JSON in which WfCommons keeps runs of many engines (the schema's README says what its properties mean).
//!
//! It tells runtimes and bytes, seldom times, and never whether a task succeeded. Up to 1.4 everything of a task stands in one object and tasks refer to
//! each other by name; since 1.5 there is a specification and an execution, and they refer to each other by id. [`mod@write`] makes instances.

pub mod write;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use chrono::{DateTime, NaiveDateTime};
use flowmine_schema::diagnostic::Diagnostic;
use flowmine_schema::time::SECOND_NS;
use serde_json::Value;

use crate::{Engine, Options, Row, Source, input, json};

/// As in the column `engine`.
pub const NAME: &str = "wfformat";

const INSTANCE: &str = "WfFormat instance";
/// As wide as zones differ.
const ANY_ZONE_NS: i64 = 14 * 3600 * SECOND_NS;

/// The format, as if it were an engine.
#[derive(Debug, Clone, Copy)]
pub struct WfFormat;

impl Engine for WfFormat {
    fn name(&self) -> &'static str {
        NAME
    }

    fn find(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        let entries = fs::read_dir(dir)?.collect::<io::Result<Vec<_>>>()?;
        Ok(entries.iter().map(fs::DirEntry::path).filter(|path| path.is_file()).collect())
    }

    fn recognise(&self, _path: &Path, head: &[u8]) -> Option<&'static str> {
        let text = String::from_utf8_lossy(head);
        let is_one = text.trim_start().starts_with('{') && text.contains("\"schemaVersion\"") && text.contains("\"workflow\"");
        is_one.then_some(INSTANCE)
    }

    fn read(&self, sources: &mut [Source], options: &Options) -> Vec<Row> {
        sources.sort_by(|a, b| (&a.name, &a.path).cmp(&(&b.name, &b.path)));
        let mut rows = Vec::new();
        for source in sources.iter_mut() {
            match input::whole(&source.path)
                .map_err(|e| Diagnostic::error("file_unreadable", e.to_string()))
                .and_then(|text| read_one(&text, source, options))
            {
                Ok(told) => {
                    source.rows = told.len() as u64;
                    rows.extend(told);
                }
                Err(diagnostic) => source.refuse(diagnostic),
            }
        }
        rows
    }
}

fn slice(list: &Value) -> &[Value] {
    list.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn read_one(text: &str, source: &mut Source, options: &Options) -> Result<Vec<Row>, Diagnostic> {
    let instance =
        json::from_str(text).map_err(|e| Diagnostic::error("json_bad", e.to_string()).at(e.line() as u64, Some(e.column() as u64)))?;
    let version = instance["schemaVersion"].as_str().unwrap_or_default();
    let workflow = &instance["workflow"];
    let flat = version == "1.4";
    let (described, ran, execution) = match version {
        "1.4" => (slice(&workflow["tasks"]), slice(&workflow["tasks"]), workflow),
        "1.5" | "1.6" => (slice(&workflow["specification"]["tasks"]), slice(&workflow["execution"]["tasks"]), &workflow["execution"]),
        _ => {
            let message = format!("its version is {version:?}; 1.4, 1.5 and 1.6 are read");
            return Err(Diagnostic::error("version_unknown", message).advise("WfCommons has a tool that migrates older ones"));
        }
    };
    if ran.is_empty() {
        let message = "this describes a workflow and no run of it: there is no task that ran";
        source.diagnostics.push(Diagnostic::warning("workflow_without_run", message));
    }
    let id_of = |task: &Value| task["id"].as_str().or(task["name"].as_str()).map(str::to_owned);
    let by_id: HashMap<String, &Value> = described.iter().filter_map(|task| Some((id_of(task)?, task))).collect();
    // By name too, because up to 1.4 that is how parents are named.
    let names: HashMap<&str, String> = described.iter().filter_map(|task| Some((task["name"].as_str()?, id_of(task)?))).collect();
    let sizes: HashMap<&str, i64> = list_ref(&workflow["specification"]["files"])
        .filter_map(|file| Some((file["id"].as_str()?, file["sizeInBytes"].as_i64()?)))
        .collect();
    let mut without_zone = false;
    let mut rows = Vec::new();
    for (at, task) in ran.iter().enumerate() {
        let Some(id) = id_of(task) else {
            source.diagnostics.push(Diagnostic::error("task_without_name", format!("task {} has no id", at + 1)));
            continue;
        };
        let nothing = Value::Null;
        let described = by_id.get(&id).copied().unwrap_or(&nothing);
        let name = described["name"].as_str().or(task["name"].as_str()).unwrap_or(&id).to_owned();
        let (inputs, outputs) =
            if flat { files_of_flat(task) } else { (files(&described["inputFiles"], &sizes), files(&described["outputFiles"], &sizes)) };
        let start = task["executedAt"].as_str().and_then(|text| time(text, options, &mut without_zone));
        let runtime = number(&task["runtimeInSeconds"]);
        let end = start
            .zip(runtime)
            .and_then(|((ns, precision), runtime)| Some((ns.checked_add((runtime * 1e9).round() as i64)?, precision + SECOND_NS / 1000)));
        let parents = described["parents"].as_array().map(|parents| {
            let id = |parent: &Value| {
                parent.as_str().map(|parent| names.get(parent).filter(|_| flat).cloned().unwrap_or_else(|| parent.to_owned()))
            };
            serde_json::json!(parents.iter().filter_map(id).collect::<Vec<_>>()).to_string().into()
        });
        rows.push(Row {
            engine: NAME.into(),
            run_id: execution["executedAt"].as_str().map(|text| text.to_owned().into()),
            run_name: instance["name"].as_str().map(|text| text.to_owned().into()),
            logical_task: task["category"].as_str().unwrap_or_else(|| without_number(&name)).to_owned().into(),
            task_id: Some(id.into()),
            name: name.into(),
            status: "unknown".into(),
            host: host(task).map(Into::into),
            started_ns: start.map(|told| told.0),
            started_precision_ns: start.map(|told| told.1),
            finished_ns: end.map(|told| told.0),
            finished_precision_ns: end.map(|told| told.1),
            command: command(&task["command"]).map(Into::into),
            cpus: task["coreCount"].as_i64().or(task["cores"].as_i64()),
            realtime_s: runtime,
            cpu_percent: number(&task["avgCPU"]),
            peak_rss_bytes: whole(&task["memoryInBytes"]),
            read_bytes: whole(&task["readBytes"]),
            write_bytes: whole(&task["writtenBytes"]),
            parents,
            inputs,
            outputs,
            source: source.name.clone().into(),
            ..Row::default()
        });
    }
    if without_zone {
        let message = "times do not tell their zone; they are taken as UTC and can be wrong by up to 14 hours, all by the same";
        source.diagnostics.push(Diagnostic::warning("no_zone", message).advise("say the zone with --zone, as in --zone=+01:00"));
    }
    Ok(rows)
}

fn list_ref(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn number(value: &Value) -> Option<f64> {
    value.as_f64().filter(|number| (0.0..9e9).contains(number))
}

fn whole(value: &Value) -> Option<i64> {
    value
        .as_i64()
        .or_else(|| value.as_f64().filter(|number| *number < 9e18).map(|number| number.round() as i64))
        .filter(|number| *number >= 0)
}

/// A time and its precision: a second where it has no fraction, else a millisecond; more where its zone is not told.
fn time(text: &str, options: &Options, without_zone: &mut bool) -> Option<(i64, i64)> {
    let precision = if text.contains('.') { SECOND_NS / 1000 } else { SECOND_NS };
    if let Ok(time) = DateTime::parse_from_rfc3339(text) {
        return Some((time.timestamp_nanos_opt()?, precision));
    }
    let local = NaiveDateTime::parse_from_str(text, "%Y-%m-%dT%H:%M:%S%.f").ok()?.and_utc().timestamp_nanos_opt()?;
    *without_zone |= options.zone_offset_s.is_none();
    let offset = options.zone_offset_s.unwrap_or(0);
    Some((local.checked_sub(offset * SECOND_NS)?, precision + if options.zone_offset_s.is_none() { ANY_ZONE_NS } else { 0 }))
}

/// `blastall_ID000002` is an instance of `blastall`.
fn without_number(name: &str) -> &str {
    let numbered = |rest: &str| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit());
    match name.rsplit_once("_ID").filter(|(name, rest)| !name.is_empty() && numbered(rest)) {
        Some((logical, _)) => logical,
        None => name,
    }
}

/// Program and arguments with blanks between; makers whose arguments begin with the program are not doubled.
fn command(command: &Value) -> Option<String> {
    let program = command["program"].as_str();
    let arguments: Vec<&str> = list_ref(&command["arguments"]).filter_map(Value::as_str).collect();
    let doubled = arguments.first().is_some_and(|first| first.rsplit('/').next() == program);
    let words: Vec<&str> = program.filter(|_| !doubled).into_iter().chain(arguments).collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// The machine, where it is one.
fn host(task: &Value) -> Option<String> {
    let machines: Vec<&str> = list_ref(&task["machines"]).chain([&task["machine"]]).filter_map(Value::as_str).collect();
    if let [machine] = machines[..] { Some(machine.to_owned()) } else { None }
}

type Files = Option<std::borrow::Cow<'static, str>>;

fn files(ids: &Value, sizes: &HashMap<&str, i64>) -> Files {
    let file = |id: &str| match sizes.get(id) {
        Some(bytes) => serde_json::json!({ "path": id, "bytes": bytes }),
        None => serde_json::json!({ "path": id }),
    };
    ids.as_array().map(|ids| Value::Array(ids.iter().filter_map(Value::as_str).map(file).collect()).to_string().into())
}

/// Inputs and outputs of a task of 1.4.
fn files_of_flat(task: &Value) -> (Files, Files) {
    let linked = |link: &str| {
        let of_link = |file: &&Value| file["link"].as_str().is_some_and(|told| told.eq_ignore_ascii_case(link));
        let file = |file: &Value| {
            let path = format!("{}{}", file["path"].as_str().unwrap_or_default(), file["name"].as_str()?);
            let bytes = whole(&file["sizeInBytes"]).map(|bytes| serde_json::json!({ "path": path, "bytes": bytes }));
            Some(bytes.unwrap_or_else(|| serde_json::json!({ "path": path })))
        };
        task["files"].as_array().map(|files| Value::Array(files.iter().filter(of_link).filter_map(file).collect()).to_string().into())
    };
    (linked("input"), linked("output"))
}

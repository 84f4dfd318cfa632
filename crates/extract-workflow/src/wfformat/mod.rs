//! WfFormat, versions 1.4 to 1.6: the JSON in which WfCommons publishes runs of many engines (the
//! schema's README defines its properties).
//!
//! It contains runtimes and bytes, seldom times, and never the outcome of a task. Up to 1.4 all
//! properties of a task are in one object, and tasks refer to each other by name; since 1.5 there
//! is a specification and an execution, and they refer to each other by id (`parents.rs`).
//! [`mod@write`] writes instances.

mod machines;
mod parents;
mod values;
pub mod write;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use values::{list_ref, whole};

use chrono::{DateTime, NaiveDateTime};
use flowmine_schema::diagnostic::{Diagnostic, Diagnostics};
use flowmine_schema::time::SECOND_NS;
use serde_json::{Value, json};

use self::machines::Machines;
use self::parents::{By, Described};
use crate::{Engine, Options, Row, Source, input, json};

/// Name of the engine, as in the column `engine`.
pub const NAME: &str = "wfformat";

const INSTANCE: &str = "WfFormat instance";
/// The end of 2099, in nanoseconds since 1970; later times are rejected.
const LATEST_NS: i64 = 4_102_444_800_000_000_000;
/// Largest offset of a zone from UTC, in nanoseconds.
const ANY_ZONE_NS: i64 = 14 * 3600 * SECOND_NS;

/// The format, with the interface of an engine.
#[derive(Debug, Clone, Copy)]
pub struct WfFormat;

impl Engine for WfFormat {
    fn name(&self) -> &'static str {
        NAME
    }

    fn find(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        input::files_in(dir)
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
            match input::whole(&source.path).map_err(|e| Diagnostic::of_reading(&e)).and_then(|text| read_one(&text, source, options)) {
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

fn slice(list: &Value) -> &[Value] {
    list.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// An instance of any version.
struct Instance<'i> {
    json: &'i Value,
    by: By,
    /// Tasks in the specification and in the execution; up to 1.4 both are the same.
    specified: &'i [Value],
    ran: &'i [Value],
    execution: &'i Value,
    described: Vec<Described<'i>>,
    sizes: HashMap<&'i str, i64>,
}

fn read_one(text: &str, source: &mut Source, options: &Options) -> Result<Vec<Row>, Diagnostic> {
    let json =
        json::from_str(text).map_err(|e| Diagnostic::error("json_bad", e.to_string()).at(e.line() as u64, Some(e.column() as u64)))?;
    let instance = Instance::new(&json, &mut source.diagnostics)?;
    let repeated = [&json["name"], &instance.execution["executedAt"]].into_iter().filter_map(Value::as_str).map(str::len).sum::<usize>();
    let mut repeated = repeated.saturating_mul(instance.ran.len());
    let parents = parents::of(&instance.described, instance.by, &mut source.diagnostics);
    let mut machines = Machines::new(&instance.execution["machines"]);
    let mut without_zone = false;
    let mut rows = Vec::new();
    for (at, place) in instance.places(&mut source.diagnostics) {
        let mut row = instance.row(at, place, &mut machines, options, &mut without_zone);
        row.parents = place.and_then(|place| parents[place].as_ref()).map(|parents| json!(parents).to_string().into());
        source.sign(&mut row);
        repeated = repeated.saturating_add(row.machines.as_deref().map_or(0, str::len));
        if repeated > input::MOST_REPEATED {
            return Err(Diagnostic::error(
                "too_much_repeated",
                "the texts of the run and of its machines are too long for this number of tasks",
            ));
        }
        rows.push(row);
    }
    if without_zone {
        let message = "times have no zone; they are interpreted as UTC and can be wrong by up to 14 hours, all by the same amount";
        source.diagnostics.push(Diagnostic::warning("no_zone", message).advise("give the zone with --zone, as in --zone=+01:00"));
    }
    instance.say_what_is_left(&machines, &mut source.diagnostics);
    instance.say_what_is_bad(options, &mut source.diagnostics);
    Ok(rows)
}

impl<'i> Instance<'i> {
    fn new(json: &'i Value, diagnostics: &mut Diagnostics) -> Result<Self, Diagnostic> {
        let version = json["schemaVersion"].as_str().unwrap_or_default();
        let workflow = &json["workflow"];
        let specification = &workflow["specification"];
        let (by, specified, ran, execution) = match version {
            "1.4" => (By::Name, slice(&workflow["tasks"]), slice(&workflow["tasks"]), workflow),
            "1.5" | "1.6" => (By::Id, slice(&specification["tasks"]), slice(&workflow["execution"]["tasks"]), &workflow["execution"]),
            _ => {
                let message = format!("its version is {version:?}; 1.4, 1.5 and 1.6 are read");
                return Err(Diagnostic::error("version_unknown", message).advise("WfCommons has a tool that migrates older ones"));
            }
        };
        if ran.is_empty() {
            let message = "this describes a workflow and no run of it: there is no task that ran";
            diagnostics.push(Diagnostic::warning("workflow_without_run", message));
        }
        let described = specified.iter().zip(ids(specified, diagnostics)).map(|(task, id)| describe(task, id, by)).collect();
        let sizes =
            list_ref(&specification["files"]).filter_map(|file| Some((file["id"].as_str()?, whole(&file["sizeInBytes"])?))).collect();
        Ok(Self { json, by, specified, ran, execution, described, sizes })
    }

    /// Returns the index of each task that ran, with the index of its specification.
    fn places(&self, diagnostics: &mut Diagnostics) -> Vec<(usize, Option<usize>)> {
        if self.by == By::Name {
            return (0..self.ran.len()).filter(|at| !self.described[*at].id.is_empty()).map(|at| (at, Some(at))).collect();
        }
        let mut by_id: HashMap<&str, Option<usize>> = HashMap::new();
        for (place, task) in self.described.iter().enumerate().filter(|(_, task)| !task.id.is_empty()) {
            // If several have the same id, none is chosen.
            by_id.entry(&task.id).and_modify(|known| *known = None).or_insert(Some(place));
        }
        let mut ran = HashSet::new();
        let mut places = Vec::new();
        for (at, task) in self.ran.iter().enumerate() {
            let Some(id) = text(&task["id"]) else {
                diagnostics.push(without_id(at, "execution"));
                continue;
            };
            if !ran.insert(id) {
                diagnostics.push(Diagnostic::warning("task_id_twice", format!("{id:?} is the id of several tasks that ran")));
            }
            if !by_id.contains_key(id) {
                let message = format!("task {id:?} ran and is not specified: its name, files and parents are not known");
                diagnostics.push(Diagnostic::warning("task_not_specified", message));
            }
            places.push((at, by_id.get(id).copied().flatten()));
        }
        let idle: Vec<&str> = self.described.iter().map(|task| task.id.as_str()).filter(|id| !id.is_empty() && !ran.contains(id)).collect();
        if let Some(first) = idle.first().filter(|_| !ran.is_empty()) {
            let message = format!("a task that is specified did not run, the first is {first:?}");
            diagnostics.push(Diagnostic { count: idle.len() as u64, ..Diagnostic::warning("task_did_not_run", message) });
        }
        places
    }

    fn row(&self, at: usize, place: Option<usize>, machines: &mut Machines, options: &Options, without_zone: &mut bool) -> Row {
        let task = &self.ran[at];
        let specified = place.map_or(&Value::Null, |place| &self.specified[place]);
        let id = place.map_or_else(|| text(&task["id"]).unwrap_or_default(), |place| self.described[place].id.as_str()).to_owned();
        let name = text(&specified["name"]).or_else(|| text(&task["name"])).unwrap_or(&id).to_owned();
        let (inputs, outputs) = match self.by {
            By::Name => (linked(task, Link::Input), linked(task, Link::Output)),
            By::Id => (files(&specified["inputFiles"], &self.sizes), files(&specified["outputFiles"], &self.sizes)),
        };
        let start = task["executedAt"].as_str().and_then(|text| time(text, options, without_zone));
        let runtime = number(&task["runtimeInSeconds"]);
        let end = start
            .zip(runtime)
            .and_then(|((ns, precision), runtime)| Some((ns.checked_add((runtime * 1e9).round() as i64)?, precision + SECOND_NS / 1000)));
        let on: Vec<&str> = list_ref(&task["machines"]).chain([&task["machine"]]).filter_map(text).collect();
        Row {
            engine: NAME.into(),
            run_id: self.execution["executedAt"].as_str().map(|text| text.to_owned().into()),
            run_name: self.json["name"].as_str().map(|text| text.to_owned().into()),
            logical_task: text(&task["category"]).unwrap_or_else(|| without_number(&name)).to_owned().into(),
            task_id: Some(id.into()),
            name: name.into(),
            status: "unknown".into(),
            host: if let [machine] = on[..] { Some(machine.to_owned().into()) } else { None },
            machines: machines.column(&on).map(Into::into),
            started_ns: start.map(|told| told.0),
            started_precision_ns: start.map(|told| told.1),
            finished_ns: end.map(|told| told.0),
            finished_precision_ns: end.map(|told| told.1),
            command: command(&task["command"]).map(Into::into),
            cpus: cpus(task),
            realtime_s: runtime,
            run_makespan_s: number(&self.execution["makespanInSeconds"]),
            cpu_percent: number(&task["avgCPU"]),
            peak_rss_bytes: whole(&task["memoryInBytes"]),
            read_bytes: whole(&task["readBytes"]),
            write_bytes: whole(&task["writtenBytes"]),
            inputs: told(inputs),
            outputs: told(outputs),
            ..Row::default()
        }
    }

    /// Reports values that are invalid for their property.
    fn say_what_is_bad(&self, options: &Options, diagnostics: &mut Diagnostics) {
        let is_time = |value: &Value| value.as_str().is_some_and(|text| time(text, options, &mut false).is_some());
        let is_number = |value: &Value| number(value).is_some();
        let is_whole = |value: &Value| whole(value).is_some();
        let mut check = |objects: &mut dyn Iterator<Item = &Value>, property: &str, is_one: &dyn Fn(&Value) -> bool| {
            let mut bad = objects.map(|object| &object[property]).filter(|value| !value.is_null() && !is_one(value));
            let Some(first) = bad.next() else { return };
            let shown: String = first.to_string().chars().take(40).collect();
            let message = format!("{shown} is no value of {property}: it is left out");
            diagnostics.push(Diagnostic { count: 1 + bad.count() as u64, ..Diagnostic::warning("value_bad", message) });
        };
        check(&mut self.ran.iter(), "executedAt", &is_time);
        check(&mut self.ran.iter(), "runtimeInSeconds", &is_number);
        check(&mut self.ran.iter(), "avgCPU", &is_number);
        for property in ["memoryInBytes", "readBytes", "writtenBytes"] {
            check(&mut self.ran.iter(), property, &is_whole);
        }
        check(&mut std::iter::once(self.execution), "makespanInSeconds", &is_number);
        let of_tasks = self.ran.iter().flat_map(|task| list_ref(&task["files"]));
        let mut files = list_ref(&self.json["workflow"]["specification"]["files"]).chain(of_tasks);
        check(&mut files, "sizeInBytes", &is_whole);
    }

    /// Reports properties for which the table has no column.
    fn say_what_is_left(&self, machines: &Machines, diagnostics: &mut Diagnostics) {
        const PROPERTIES: [&str; 5] = ["energyInKWh", "energy", "avgPowerInW", "avgPower", "priority"];
        let mut left: BTreeMap<&str, u64> = BTreeMap::new();
        for task in self.ran {
            PROPERTIES.iter().filter(|name| !task[**name].is_null()).for_each(|name| *left.entry(name).or_default() += 1);
            if text(&task["type"]).is_some_and(|kind| kind != "compute") {
                *left.entry("type (not compute)").or_default() += 1;
            }
            if cpus(task).is_none() && !(task["coreCount"].is_null() && task["cores"].is_null()) {
                *left.entry("coreCount (a part of a core)").or_default() += 1;
            }
        }
        let unused = machines.unused();
        left.extend((!unused.is_empty()).then_some(("machines (no task names them)", unused.len() as u64)));
        if !left.is_empty() {
            let list: Vec<String> = left.iter().map(|(name, count)| format!("{count} {name}")).collect();
            let message = format!("what the table has no column for is left out: {}", list.join(", "));
            diagnostics.push(Diagnostic::warning("values_left_out", message));
        }
    }
}

/// Returns an id for each specified task; empty where it has none.
fn ids(tasks: &[Value], diagnostics: &mut Diagnostics) -> Vec<String> {
    let mut named: HashMap<&str, u64> = HashMap::new();
    tasks
        .iter()
        .filter(|task| text(&task["id"]).is_none())
        .filter_map(|task| text(&task["name"]))
        .for_each(|name| *named.entry(name).or_default() += 1);
    let shared = named.values().filter(|count| **count > 1).sum::<u64>();
    if shared > 0 {
        let message = "a task has no id and a name that others have too: it is NAME_N, N from 0, as WfCommons' own migration calls it";
        diagnostics.push(Diagnostic { count: shared, ..Diagnostic::warning("task_without_id", message) });
    }
    let mut seen = HashSet::new();
    let mut ids = Vec::with_capacity(tasks.len());
    for (at, task) in tasks.iter().enumerate() {
        let id = match (text(&task["id"]), text(&task["name"])) {
            (Some(id), _) => id.to_owned(),
            (None, Some(name)) if named[name] > 1 => format!("{name}_{at}"),
            (None, Some(name)) => name.to_owned(),
            (None, None) => {
                diagnostics.push(without_id(at, "specification"));
                String::new()
            }
        };
        if !id.is_empty() && !seen.insert(id.clone()) {
            diagnostics.push(Diagnostic::warning("task_id_twice", format!("{id:?} is the id of several tasks")));
        }
        ids.push(id);
    }
    ids
}

fn without_id(at: usize, of: &str) -> Diagnostic {
    Diagnostic::error("task_without_name", format!("task {} of the {of} has neither id nor name", at + 1))
}

/// Returns the values by which its neighbours are found.
fn describe<'t>(task: &'t Value, id: String, by: By) -> Described<'t> {
    let strings = |list: &'t Value| list.as_array().map(|list| list.iter().filter_map(text).collect());
    let paths = |files: Option<Vec<(String, Option<i64>)>>| files.into_iter().flatten().map(|(path, _)| path).collect();
    let no_sizes = HashMap::new();
    let (reads, writes) = match by {
        By::Name => (linked(task, Link::Input), linked(task, Link::Output)),
        By::Id => (files(&task["inputFiles"], &no_sizes), files(&task["outputFiles"], &no_sizes)),
    };
    Described {
        id,
        name: task["name"].as_str().unwrap_or_default(),
        parents: strings(&task["parents"]),
        children: strings(&task["children"]),
        reads: paths(reads),
        writes: paths(writes),
    }
}

/// Returns a text that is not empty.
fn text(value: &Value) -> Option<&str> {
    value.as_str().filter(|text| !text.is_empty())
}

fn cpus(task: &Value) -> Option<i64> {
    [&task["coreCount"], &task["cores"]].into_iter().find_map(|cores| whole(cores).filter(|whole| cores.as_f64() == Some(*whole as f64)))
}

/// Maximum duration in seconds, about 150 years; the sum of a time and a longer one could overflow.
const LONGEST_S: f64 = 5e9;

fn number(value: &Value) -> Option<f64> {
    value.as_f64().filter(|number| (0.0..LONGEST_S).contains(number))
}

/// Parses a time with its precision: a second without a fraction, else a millisecond; more where
/// its zone is not known.
fn time(text: &str, options: &Options, without_zone: &mut bool) -> Option<(i64, i64)> {
    let precision = if text.contains('.') { SECOND_NS / 1000 } else { SECOND_NS };
    if let Ok(time) = DateTime::parse_from_rfc3339(text) {
        return Some((time.timestamp_nanos_opt().filter(|ns| *ns < LATEST_NS)?, precision));
    }
    let local =
        NaiveDateTime::parse_from_str(text, "%Y-%m-%dT%H:%M:%S%.f").ok()?.and_utc().timestamp_nanos_opt().filter(|ns| *ns < LATEST_NS)?;
    *without_zone |= options.zone_offset_s.is_none();
    let offset = options.zone_offset_s.unwrap_or(0);
    Some((local.checked_sub(offset * SECOND_NS)?, precision + if options.zone_offset_s.is_none() { ANY_ZONE_NS } else { 0 }))
}

/// Removes the number of an instance: `blastall_ID000002` is an instance of `blastall`.
fn without_number(name: &str) -> &str {
    let numbered = |rest: &str| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit());
    match name.rsplit_once("_ID").filter(|(name, rest)| !name.is_empty() && numbered(rest)) {
        Some((logical, _)) => logical,
        None => name,
    }
}

/// Joins program and arguments with blanks. Some makers begin the arguments with the program, which
/// is then not repeated.
fn command(command: &Value) -> Option<String> {
    let program = command["program"].as_str();
    let arguments: Vec<&str> = list_ref(&command["arguments"]).filter_map(Value::as_str).collect();
    let doubled = arguments.first().is_some_and(|first| first.rsplit('/').next() == program);
    let words: Vec<&str> = program.filter(|_| !doubled).into_iter().chain(arguments).collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// Paths with sizes, if given; `None` without a list.
type Files = Option<Vec<(String, Option<i64>)>>;

/// Returns the files of a task by their ids, as the format has them since 1.5.
fn files(ids: &Value, sizes: &HashMap<&str, i64>) -> Files {
    ids.as_array().map(|ids| ids.iter().filter_map(text).map(|id| (id.to_owned(), sizes.get(id).copied())).collect())
}

#[derive(Clone, Copy)]
enum Link {
    Input,
    Output,
}

/// Returns the inputs or outputs of a task in version 1.4.
fn linked(task: &Value, link: Link) -> Files {
    let link = match link {
        Link::Input => "input",
        Link::Output => "output",
    };
    let of_link = |file: &&Value| file["link"].as_str().is_some_and(|told| told.eq_ignore_ascii_case(link));
    let file = |file: &Value| {
        let path = format!("{}{}", file["path"].as_str().unwrap_or_default(), text(&file["name"])?);
        Some((path, whole(&file["sizeInBytes"])))
    };
    task["files"].as_array().map(|files| files.iter().filter(of_link).filter_map(file).collect())
}

/// Converts files to the form of the columns `inputs` and `outputs`.
fn told(files: Files) -> Option<std::borrow::Cow<'static, str>> {
    let file = |(path, bytes): (String, Option<i64>)| match bytes {
        Some(bytes) => json!({ "path": path, "bytes": bytes }),
        None => json!({ "path": path }),
    };
    files.map(|files| Value::Array(files.into_iter().map(file).collect()).to_string().into())
}

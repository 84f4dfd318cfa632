//! Writes rows of `task_runs` as instances of WfFormat 1.6, one for each run.
//!
//! An instance has one entry for each task: of several attempts the completed one, else the last,
//! is written. Values that the format cannot hold are counted in [`Instance::left`]. Required
//! values that no source reports are never invented: a run with unknown dependencies is refused,
//! and without times or runtimes there is no `execution`, or tasks are missing in it. Values of an
//! imported instance for its run (start, makespan, machines) are written unchanged.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use flowmine_dataset::{Dataset, DatasetError};
use flowmine_schema::tables::TaskRun;
use flowmine_schema::time::rfc3339;
use serde_json::{Map, Value, json};

use super::{NAME, machines, without_number};
use crate::Row;

/// Version of the format that is written.
const VERSION: &str = "1.6";

/// A run of a workflow.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Run {
    /// The run's engine, as in `task_runs`.
    pub engine: String,
    /// The run's id, as in `run_id` of `task_runs`.
    pub id: Option<String>,
    /// The run's name, as in `run_name` of `task_runs`.
    pub name: Option<String>,
    /// Its attempts, in the table's order.
    pub rows: Vec<Row>,
    /// For each traced task the tasks with data that it read, by task id. They replace parents that
    /// the engine does not report.
    pub read_from: BTreeMap<String, BTreeSet<String>>,
    /// For each task the files that it wrote and another task of the run read, according to the
    /// trace, by task id.
    pub gave: BTreeMap<String, BTreeSet<String>>,
    /// End of the tasks' traced writes to a file, in bytes, by path: the size of the file, where no
    /// engine reports one.
    pub written_to: BTreeMap<String, i64>,
}

/// A run of a workflow, written in WfFormat.
#[derive(Debug, Clone, PartialEq)]
pub struct Instance {
    /// The instance as JSON in WfFormat.
    pub json: Value,
    /// Number of omitted values by description.
    pub left: BTreeMap<&'static str, u64>,
}

/// Reads the runs of a dataset, sorted, or those with the id or name `wanted`.
///
/// # Errors
/// When the dataset cannot be read.
pub fn runs(dataset: &Dataset, wanted: Option<&str>) -> Result<Vec<Run>, DatasetError> {
    let mut runs: BTreeMap<(String, Option<String>, Option<String>), Vec<Row>> = BTreeMap::new();
    dataset.read::<TaskRun<'static>, DatasetError>(|row| {
        let is_wanted = wanted.is_none_or(|wanted| row.run_id.as_deref() == Some(wanted) || row.run_name.as_deref() == Some(wanted));
        if is_wanted {
            let text = |text: &Option<std::borrow::Cow<'_, str>>| text.as_deref().map(str::to_owned);
            let run = (row.engine.to_string(), text(&row.run_id), text(&row.run_name));
            runs.entry(run).or_default().push(row.into_owned());
        }
        Ok(())
    })?;
    Ok(runs.into_iter().map(|((engine, id, name), rows)| Run { engine, id, name, rows, ..Run::default() }).collect())
}

impl Run {
    /// Returns a label for messages and file names: the name, else the id.
    pub fn label(&self) -> Option<&str> {
        self.name.as_deref().or(self.id.as_deref()).filter(|label| !label.is_empty())
    }

    /// Converts the run to an instance.
    ///
    /// # Errors
    /// A message with the values that the format requires and that are not known.
    pub fn instance(&self) -> Result<Instance, String> {
        let label = self.label().ok_or_else(|| format!("{} attempts belong to no run that is known", self.rows.len()))?;
        let mut left = BTreeMap::new();
        let mut leave = |what: &'static str, count: usize| {
            if count > 0 {
                *left.entry(what).or_insert(0) += count as u64;
            }
        };
        let tasks = chosen(&self.rows, &mut leave);
        if tasks.is_empty() {
            return Err("none of its tasks has an id".to_owned());
        }
        are_distinct(tasks.iter().map(|(task_id, _)| *task_id))?;
        let (graph, traced) = self.graph(&tasks, &mut leave)?;
        let mut sizes = sizes_told(&tasks, &mut leave);
        let (mut specified, mut executed) = (Vec::new(), Vec::new());
        let mut named: BTreeSet<String> = BTreeSet::new();
        for ((task_id, row), edges) in tasks.iter().zip(&graph) {
            let mut task = Map::new();
            task.insert("id".into(), id(task_id).into());
            task.insert("name".into(), json!(if row.name.is_empty() { task_id } else { row.name.as_ref() }));
            let ids = |places: &[usize]| places.iter().map(|place| id(tasks[*place].0)).collect::<Vec<_>>();
            task.insert("parents".into(), json!(ids(&edges.parents)));
            task.insert("children".into(), json!(ids(&edges.children)));
            for (name, told) in [("inputFiles", &row.inputs), ("outputFiles", &row.outputs)] {
                let Some(files) = files(told.as_deref()) else { continue };
                let files = if name == "outputFiles" { self.made(task_id, row, files, &mut leave) } else { files };
                for (path, _) in &files {
                    if let Some(size) = self.size(row, path) {
                        sizes.entry(path.clone()).or_insert(size);
                    }
                }
                task.insert(name.into(), json!(files.iter().map(|(path, _)| id(path)).collect::<Vec<_>>()));
                named.extend(files.into_iter().map(|(path, _)| path));
            }
            specified.push(Value::Object(task));
            match runtime_s(row) {
                Some(runtime) => executed.push(execution(task_id, row, runtime)),
                None => leave("tasks have no runtime, and are described without their execution", 1),
            }
        }
        are_distinct(named.iter().map(String::as_str))?;
        let unlisted = named.iter().filter(|path| !sizes.contains_key(*path)).count();
        leave("files have no size that is known: tasks name them, the list of files does not", unlisted);
        let listed: Vec<Value> = sizes.iter().map(|(path, bytes)| json!({ "id": id(path), "sizeInBytes": bytes })).collect();
        let mut workflow = json!({ "specification": { "tasks": specified, "files": listed } });
        match (self.began_and_makespan(), executed.is_empty()) {
            (Some((began, makespan_s)), false) => {
                let mut execution = json!({ "executedAt": began, "makespanInSeconds": makespan_s, "tasks": executed });
                let machines = machines_of(&tasks, &mut leave);
                if !machines.is_empty() {
                    execution["machines"] = machines.into();
                }
                workflow["execution"] = execution;
            }
            (None, false) => leave("runs have no beginning or end that is known, and are described without their execution", 1),
            (_, true) => {}
        }
        let changed = |texts: &mut dyn Iterator<Item = &str>| texts.filter(|text| id(text) != *text).count();
        leave(
            "ids of tasks have characters that the format does not allow: each is written as _xNN",
            changed(&mut tasks.iter().map(|task| task.0)),
        );
        leave(
            "paths of files have characters that the format does not allow: each is written as _xNN",
            changed(&mut named.iter().map(String::as_str)),
        );
        let json = json!({
            "name": label,
            "description": self.description(traced),
            "schemaVersion": VERSION,
            "workflow": workflow,
        });
        Ok(Instance { json, left })
    }

    /// Returns the size of a traced file.
    fn size(&self, row: &Row, path: &str) -> Option<i64> {
        let there = || self.written_to.get(&format!("{}/{path}", row.work_dir.as_deref()?));
        self.written_to.get(path).or_else(there).copied()
    }

    /// Returns the files that a task made. Nextflow reports names or patterns in the task's own
    /// directory; they are converted to paths, as its inputs have.
    fn made(
        &self,
        task_id: &str,
        row: &Row,
        told: Vec<(String, Option<i64>)>,
        leave: &mut impl FnMut(&'static str, usize),
    ) -> Vec<(String, Option<i64>)> {
        let Some(dir) = row.work_dir.as_deref().filter(|_| row.engine == "nextflow") else { return told };
        let (patterns, names): (Vec<_>, Vec<_>) = told.into_iter().partition(|(path, _)| path.contains(['*', '?', '[', '{']));
        let place = |(path, size): (String, _)| (if path.starts_with('/') { path } else { format!("{dir}/{path}") }, size);
        let mut made: BTreeMap<String, Option<i64>> = names.into_iter().map(place).collect();
        if !patterns.is_empty() {
            leave("outputs are patterns: what others were seen to read of them is written", patterns.len());
            let own = |path: &&String| path.strip_prefix(dir).is_some_and(|rest| rest.starts_with('/') && !rest.starts_with("/.command."));
            made.extend(self.gave.get(task_id).into_iter().flatten().filter(own).map(|path| (path.clone(), None)));
        }
        made.into_iter().collect()
    }

    fn description(&self, traced: usize) -> String {
        let description = format!("A run of {}, written by flowmine", self.engine);
        if traced == 0 {
            return description;
        }
        format!("{description}. The parents of {traced} tasks are not those of the engine but those whose data they read, as traced")
    }

    /// Returns the neighbours of each task, and the number of tasks with traced parents.
    fn graph(&self, tasks: &[(&str, &Row)], leave: &mut impl FnMut(&'static str, usize)) -> Result<(Vec<Edges>, usize), String> {
        let places: HashMap<&str, usize> = tasks.iter().enumerate().map(|(at, (id, _))| (*id, at)).collect();
        let mut graph: Vec<Edges> = tasks.iter().map(|_| Edges::default()).collect();
        let (mut unknown, mut traced) = (0, 0);
        for (at, (task_id, row)) in tasks.iter().enumerate() {
            let told = row.parents.as_deref().and_then(|parents| serde_json::from_str::<Vec<String>>(parents).ok());
            let is_told = told.is_some();
            let read_from = || Some(self.read_from.get(*task_id)?.iter().cloned().collect());
            let Some(parents) = told.or_else(read_from) else {
                unknown += 1;
                continue;
            };
            traced += usize::from(!is_told);
            let mut seen = HashSet::new();
            for parent in parents.iter().filter(|parent| seen.insert(parent.as_str())) {
                let Some(place) = places.get(parent.as_str()) else {
                    leave("dependencies are on tasks that the run does not have", 1);
                    continue;
                };
                graph[at].parents.push(*place);
                graph[*place].children.push(at);
            }
        }
        if unknown > 0 {
            return Err(format!("the parents of {unknown} of its {} tasks are not known, and the format requires them", tasks.len()));
        }
        if traced > 0
            && let Some(at) = in_circle(&graph)
        {
            return Err(format!("its data flow, which replaces unknown parents, has a cycle through {:?}", tasks[at].0));
        }
        leave("tasks have parents from traced data flow, because their engine records none", traced);
        Ok((graph, traced))
    }

    /// Returns start and makespan of the run. Those of an imported instance are kept.
    fn began_and_makespan(&self) -> Option<(String, f64)> {
        let span = span(&self.rows);
        let told = self.id.clone().filter(|id| self.engine == NAME && !id.is_empty());
        let began = told.or_else(|| span.map(|(from, _)| rfc3339(from)))?;
        let told = self.rows.iter().find_map(|row| row.run_makespan_s);
        Some((began, told.or_else(|| span.map(|(from, to)| seconds(to - from)))?))
    }
}

/// Returns the attempt at each task that is written, in the order in which tasks first appear.
fn chosen<'a>(rows: &'a [Row], leave: &mut impl FnMut(&'static str, usize)) -> Vec<(&'a str, &'a Row)> {
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut tasks: Vec<(&str, &Row)> = Vec::new();
    let rank = |row: &Row| (row.status == "completed", row.attempt, row.finished_ns);
    for row in rows {
        let Some(task_id) = row.task_id.as_deref().filter(|id| !id.is_empty()) else {
            leave("attempts have no task id", 1);
            continue;
        };
        let at = *places.entry(task_id).or_insert(tasks.len());
        if at == tasks.len() {
            tasks.push((task_id, row));
            continue;
        }
        leave("attempts were followed by others at the same task, or are not the one that completed", 1);
        if rank(row) > rank(tasks[at].1) {
            tasks[at].1 = row;
        }
    }
    let unfinished = tasks.iter().filter(|(_, row)| !matches!(row.status.as_ref(), "completed" | "cached" | "unknown")).count();
    leave("tasks did not complete, which the format cannot express", unfinished);
    tasks
}

/// A task's neighbours, by their indices.
#[derive(Debug, Default)]
struct Edges {
    parents: Vec<usize>,
    children: Vec<usize>,
}

/// Returns a task of a dependency cycle, if there is one.
fn in_circle(graph: &[Edges]) -> Option<usize> {
    let mut waits_for: Vec<usize> = graph.iter().map(|edges| edges.parents.len()).collect();
    let mut ready: Vec<usize> = (0..graph.len()).filter(|at| waits_for[*at] == 0).collect();
    while let Some(at) = ready.pop() {
        for child in &graph[at].children {
            waits_for[*child] -= 1;
            ready.extend((waits_for[*child] == 0).then_some(*child));
        }
    }
    waits_for.iter().position(|left| *left > 0)
}

/// Returns the sizes of files in the rows.
fn sizes_told(tasks: &[(&str, &Row)], leave: &mut impl FnMut(&'static str, usize)) -> BTreeMap<String, i64> {
    let mut sizes = BTreeMap::new();
    let mut several = HashSet::new();
    // The size at the maker of a file takes precedence.
    for told in [|row: &Row| files(row.outputs.as_deref()), |row: &Row| files(row.inputs.as_deref())] {
        for (path, bytes) in tasks.iter().filter_map(|(_, row)| told(row)).flatten() {
            let Some(bytes) = bytes else { continue };
            if *sizes.entry(path.clone()).or_insert(bytes) != bytes {
                several.insert(path);
            }
        }
    }
    leave("files had several sizes: the first that a task gave to one as its output is written", several.len());
    sizes
}

/// Parses paths with sizes from the columns `inputs` and `outputs`.
fn files(told: Option<&str>) -> Option<Vec<(String, Option<i64>)>> {
    let list: Value = serde_json::from_str(told?).ok()?;
    let file = |file: &Value| {
        Some((file["path"].as_str().filter(|path| !path.is_empty())?.to_owned(), file["bytes"].as_i64().filter(|n| *n >= 0)))
    };
    Some(list.as_array()?.iter().filter_map(file).collect())
}

fn execution(task_id: &str, row: &Row, runtime_s: f64) -> Value {
    let mut task = Map::new();
    task.insert("id".into(), id(task_id).into());
    task.insert("runtimeInSeconds".into(), json!(runtime_s));
    let mut add = |name: &str, value: Option<Value>| value.map(|value| task.insert(name.into(), value));
    // Properties of later or earlier versions: the schema allows unknown ones.
    add("executedAt", row.started_ns.map(|ns| rfc3339(ns).into()));
    add("category", Some(row.logical_task.as_ref()).filter(|task| *task != without_number(&row.name)).map(Into::into));
    add("command", row.command.as_deref().filter(|command| !command.trim().is_empty()).map(command));
    add("coreCount", row.cpus.filter(|cpus| *cpus >= 1).map(Into::into));
    add("avgCPU", row.cpu_percent.map(Into::into));
    add("readBytes", row.read_bytes.or(row.rchar_bytes).map(Into::into));
    add("writtenBytes", row.write_bytes.or(row.wchar_bytes).map(Into::into));
    add("memoryInBytes", row.peak_rss_bytes.map(Into::into));
    let machines: Vec<String> = machines_told(row).into_iter().map(|(name, _)| name).collect();
    add("machines", Some(machines).filter(|names| !names.is_empty()).map(Into::into));
    Value::Object(task)
}

/// Returns the machines of a task by name; a machine without further properties is in the column
/// `host`.
fn machines_told(row: &Row) -> Vec<(String, Value)> {
    let told = row.machines.as_deref().and_then(|told| serde_json::from_str::<Vec<Value>>(told).ok());
    let host = || row.host.as_deref().map(|host| vec![json!({ "name": host })]);
    told.or_else(host).unwrap_or_default().iter().filter_map(machines::of_format).collect()
}

fn machines_of(tasks: &[(&str, &Row)], leave: &mut impl FnMut(&'static str, usize)) -> Vec<Value> {
    let mut machines: BTreeMap<String, Value> = BTreeMap::new();
    let mut several = HashSet::new();
    for (name, machine) in tasks.iter().flat_map(|(_, row)| machines_told(row)) {
        let known = machines.entry(name).or_insert_with(|| machine.clone());
        if *known != machine {
            several.insert(machine["nodeName"].to_string());
            // The description with more properties.
            if machine.to_string().len() > known.to_string().len() {
                *known = machine;
            }
        }
    }
    leave("machines are described in several ways: the longest is written", several.len());
    machines.into_values().collect()
}

/// Splits a command into program and arguments, if it needs no shell; else returns the whole as one
/// argument.
fn command(command: &str) -> Value {
    let is_plain = command.chars().all(|c| c.is_ascii_alphanumeric() || " ./_-+=:,@%".contains(c));
    let words: Vec<&str> = command.split(' ').collect();
    match words[..] {
        // Other readers and ours drop a program that its arguments begin with.
        [program, ref arguments @ ..]
            if is_plain
                && !program.contains('=')
                && words.iter().all(|word| !word.is_empty())
                && arguments.first().is_none_or(|first| first.rsplit('/').next() != Some(program)) =>
        {
            json!({ "program": program, "arguments": arguments })
        }
        _ => json!({ "arguments": [command] }),
    }
}

fn runtime_s(row: &Row) -> Option<f64> {
    let took = || row.started_ns.zip(row.finished_ns).and_then(|(from, to)| to.checked_sub(from)).map(seconds);
    row.realtime_s.or_else(took).filter(|seconds| seconds.is_finite() && *seconds >= 0.0)
}

/// Returns the interval from the first submission or start to the last end.
fn span(rows: &[Row]) -> Option<(i64, i64)> {
    let from = rows.iter().filter(|row| !row.cached).filter_map(|row| row.submitted_ns.or(row.started_ns)).min()?;
    let to = rows.iter().filter(|row| !row.cached).filter_map(|row| row.finished_ns).max()?;
    to.checked_sub(from).filter(|span| *span >= 0).map(|_| (from, to))
}

fn seconds(ns: i64) -> f64 {
    ns as f64 / 1e9
}

/// Converts a text to an id of the format, with letters, digits and `-_./:#` only (since 1.6; paths
/// are ids of files); every other byte becomes `_xNN`.
pub fn id(text: &str) -> String {
    with_only(text, b"-_./:#")
}

/// Converts a text to a part of a file's name: letters, digits, `-`, `_` and `.`; every other byte
/// becomes `_xNN`.
pub fn file_name(text: &str) -> String {
    with_only(text, b"-_.")
}

fn with_only(text: &str, allowed: &[u8]) -> String {
    let mut id = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || allowed.contains(&byte) {
            id.push(char::from(byte));
        } else {
            id.push_str(&format!("_x{byte:02x}"));
        }
    }
    id
}

/// Refuses texts that become the same id: `a b` and `a_x20b`.
fn are_distinct<'a>(texts: impl Iterator<Item = &'a str>) -> Result<(), String> {
    let mut ids: HashMap<String, &str> = HashMap::new();
    for text in texts {
        let known = *ids.entry(id(text)).or_insert(text);
        if known != text {
            return Err(format!("{known:?} and {text:?} would have the same id"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids() {
        for (text, expected) in [
            ("a-b_c.d9", "a-b_c.d9"),
            ("s3://data/a b#1", "s3://data/a_x20b#1"),
            ("é", "_xc3_xa9"),
            ("data_x2fa", "data_x2fa"),
            ("end_", "end_"),
        ] {
            assert_eq!(id(text), expected);
        }
        assert!(are_distinct(["a/b", "a b", "a/b"].into_iter()).is_ok());
        assert!(are_distinct(["a b", "a_x20b"].into_iter()).is_err());
    }

    #[test]
    fn commands() {
        for (text, expected) in [
            ("./split in.txt -n 2", json!({ "program": "./split", "arguments": ["in.txt", "-n", "2"] })),
            ("true", json!({ "program": "true", "arguments": [] })),
            ("wc -l < in", json!({ "arguments": ["wc -l < in"] })),
            ("a  b", json!({ "arguments": ["a  b"] })),
            ("A=1 b", json!({ "arguments": ["A=1 b"] })),
            ("time ./time", json!({ "arguments": ["time ./time"] })),
            ("a\nb", json!({ "arguments": ["a\nb"] })),
        ] {
            assert_eq!(command(text), expected, "{text}");
        }
    }
}

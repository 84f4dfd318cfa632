//! A run of a dataset as a graph ([`flowmine_activity_log::RunGraph`]): its tasks, who waits for
//! whom, and what passed between them.
//!
//! In go the tables `task_runs`, `task_totals` and `data_flow` or, where there are no tasks,
//! `job_states`, `job_dependencies` and `data_flow`. A case of any notion of tasks or jobs is a run
//! as well ([`RunPart`]). Attempts at one task are one task. Where an
//! engine reports no parents but inputs and outputs by their paths (Nextflow's outputs are names in
//! the task's own directory), who makes a declared input is a parent.
//!
//! What is refused: a run that is not there, and to choose among several.

mod by_run;
mod part;

use std::collections::{BTreeMap, BTreeSet};

use flowmine_activity_log::{
    Declared, EngineSteps, FileFlow, Interner, LogicalParent, Loss, NONE, Names, RunGraph, RunTask, TracedProcess,
};
use flowmine_attribution::task_attempts::{self, TaskAttempt};
use flowmine_correlate::cases::{CaseNotion, Dependency};
use flowmine_correlate::dependencies::Target;
use flowmine_correlate::parts::{Parts, ROWS_AT_ONCE};
use flowmine_correlate::{CorrelateError, Entities, Filter, Jobs, Overview, PackedInt, Timestamp, Waits};
use flowmine_dataset::{Dataset, DatasetError};
use flowmine_schema::tables::{DataFlow, IoLoss, TaskRun, TaskTotal};
use flowmine_schema::time;
use rustc_hash::FxHashMap;

use part::{JobsOf, TasksOf};
pub use part::{NotionOfCase, RunPart};

use crate::columns::{FlowRow, each_flow, each_flow_of, each_task_in_job, some_wrote_nothing};
use crate::task_log::run_names::{run_or_engine, run_or_its_engine};
use crate::task_log::{TaskLogError, Tasks, TracedJobs};
use crate::task_summary::run_time_s;

flowmine_schema::columns! {
    /// The run of an attempt at a task, and when it was what.
    struct RunTimes of TaskRun { engine, run_id, run_name, queued_ns, submitted_ns, started_ns, finished_ns, cached_ns }
}

flowmine_schema::columns! {
    /// The job in which a task ran.
    struct JobOfTask of TaskTotal { task, job }
}

/// Why there is no graph.
#[derive(Debug, thiserror::Error)]
pub enum RunGraphError {
    /// The dataset could not be read.
    #[error("{0}")]
    Tasks(#[from] TaskLogError),
    /// A table could not be read.
    #[error("{0}")]
    Dataset(#[from] DatasetError),
    /// Nothing in the dataset is a task or a job.
    #[error(
        "the dataset has neither tasks nor jobs: import what a workflow engine or Slurm wrote, or trace with --task or --tasks commands"
    )]
    Empty,
    /// Several runs, and none was chosen.
    #[error("the dataset has {count} runs: choose one with --run; there are {known}")]
    Several {
        /// Number of runs that the dataset has.
        count: usize,
        /// Names of some of these runs.
        known: String,
    },
    /// No case is called so, or none has a task or job that passes the filters.
    #[error(
        "no case is called {case:?}, or no {noun} of it passes the filters: flowmine discover summary --table cases --format csv lists cases"
    )]
    NoCase {
        /// What the case is made of: `task` or `job`.
        noun: &'static str,
        /// The names that were asked for.
        case: String,
    },
    /// No run is called so, or several are.
    #[error("{} is called {wanted:?}; there are {known}", if *.several { "more than one run" } else { "no run" })]
    Unknown {
        /// The name or id that was asked for.
        wanted: String,
        /// Whether several are called so.
        several: bool,
        /// Names of some of the runs that there are.
        known: String,
    },
}

/// A part of a dataset as a graph.
///
/// # Errors
/// When the dataset cannot be read, the part has no run or several, or no case is called so.
pub fn read(dataset: &Dataset, tasks: &Tasks<'_>, filter: &Filter, part: RunPart<'_>) -> Result<RunGraph, RunGraphError> {
    let run = match part {
        RunPart::TaskCases(notion, cases) => return of_tasks(dataset, tasks, TasksOf::Cases(notion, cases)),
        RunPart::JobCases(notion, cases, overview) => return of_jobs(dataset, tasks, filter, JobsOf::Cases(notion, cases, overview)),
        RunPart::Run(run) => Some(run),
        RunPart::Whole => None,
    };
    let runs = Runs::read(tasks)?;
    if runs.is_empty() {
        return match run {
            Some(wanted) => Err(RunGraphError::Unknown { wanted: wanted.to_owned(), several: false, known: "no runs of engines".into() }),
            None => of_jobs(dataset, tasks, filter, JobsOf::All),
        };
    }
    of_tasks(dataset, tasks, TasksOf::Run(runs.choose(run)?))
}

/// The name of the run that is called so, as cases of tasks have it.
///
/// # Errors
/// When the dataset cannot be read, or no run or several are called so.
pub fn run_called(tasks: &Tasks<'_>, run: &str) -> Result<String, RunGraphError> {
    Runs::read(tasks)?.choose(Some(run)).map(str::to_owned)
}

/// The attempts at the tasks of a run, as `links` and `task_io` call them.
///
/// # Errors
/// When the dataset cannot be read, or no run or several are called so.
pub fn attempts(tasks: &Tasks<'_>, run: &str) -> Result<BTreeSet<String>, RunGraphError> {
    let runs = Runs::read(tasks)?;
    let chosen = runs.choose(Some(run))?;
    let mut keys = BTreeSet::new();
    task_attempts::for_each::<TaskLogError>(tasks.dataset, tasks.rules, |attempt| {
        if run_or_engine(&attempt.row) == chosen {
            keys.insert(attempt.key);
        }
        Ok(())
    })?;
    Ok(keys)
}

/// The runs of a dataset: what they are called, and their ids and names.
pub(crate) struct Runs(BTreeMap<String, BTreeSet<String>>);

/// Maximum number of names in an error.
const NAMED: usize = 8;

impl Runs {
    pub fn read(tasks: &Tasks<'_>) -> Result<Self, TaskLogError> {
        let mut runs: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        tasks.dataset.read::<RunTimes<'static>, TaskLogError>(|row| {
            let row = tasks.rules.apply(row);
            let times = [row.queued_ns, row.submitted_ns, row.started_ns, row.finished_ns, row.cached_ns];
            if tasks.wants_all() || times.into_iter().flatten().any(|ns| tasks.wants(ns)) {
                let names = runs.entry(run_or_its_engine(&row.engine, row.run_name.as_deref(), row.run_id.as_deref())).or_default();
                names.extend([&row.run_id, &row.run_name].into_iter().flatten().map(|name| name.to_string()));
            }
            Ok(())
        })?;
        Ok(Self(runs))
    }

    fn known(&self) -> String {
        let mut names: Vec<String> = self.0.keys().take(NAMED).map(|name| format!("{name:?}")).collect();
        if self.0.len() > NAMED {
            names.push(format!("{} more", self.0.len() - NAMED));
        }
        names.join(", ")
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What they are called, each with its ids and names.
    pub fn into_names(self) -> impl Iterator<Item = (String, Vec<String>)> {
        self.0.into_iter().map(|(name, names)| (name, names.into_iter().collect()))
    }

    pub fn choose(&self, wanted: Option<&str>) -> Result<&str, RunGraphError> {
        let Some(wanted) = wanted else {
            let mut all = self.0.keys();
            return match (all.next(), all.next()) {
                (Some(only), None) => Ok(only),
                _ => Err(RunGraphError::Several { count: self.0.len(), known: self.known() }),
            };
        };
        if let Some((name, _)) = self.0.get_key_value(wanted) {
            return Ok(name);
        }
        let mut called = self.0.iter().filter(|(_, names)| names.contains(wanted)).map(|(name, _)| name);
        match (called.next(), called.next()) {
            (Some(only), None) => Ok(only),
            (first, _) => Err(RunGraphError::Unknown { wanted: wanted.to_owned(), several: first.is_some(), known: self.known() }),
        }
    }
}

/// Tasks while they are gathered.
#[derive(Default)]
struct Gathered {
    graph: RunGraph,
    /// The place of each task in the graph, by its run and its id.
    by_id: FxHashMap<(u32, String), u32>,
    /// The runs of which there are tasks.
    runs: Interner,
    /// Of each task its run.
    run_of: Vec<u32>,
    /// Index of an attempt's task and number of the attempt, by the name of the attempt in
    /// `data_flow`.
    by_key: FxHashMap<String, (u32, u32)>,
    parents: Vec<Option<Vec<String>>>,
    /// Of each task whether its files are known by their paths, so that who writes what another
    /// reads is known. Nextflow's outputs are names and patterns in the task's own directory.
    has_paths: Vec<bool>,
    /// Until when the attempt that holds was known: the last one holds.
    last: Vec<(Option<i64>, Option<i64>)>,
}

fn of_tasks(dataset: &Dataset, tasks: &Tasks<'_>, of: TasksOf<'_>) -> Result<RunGraph, RunGraphError> {
    Ok(gather(dataset, tasks, of)?.0)
}

/// Each run of an engine in the dataset as a graph, by its name. Nothing is in it that belongs to no
/// single run, such as unknown parents.
///
/// # Errors
/// When the dataset cannot be read.
pub fn read_all(dataset: &Dataset, tasks: &Tasks<'_>) -> Result<Vec<RunGraph>, RunGraphError> {
    let (graph, run_of, names) = gather(dataset, tasks, TasksOf::All)?;
    Ok(by_run::split(graph, &run_of, &names))
}

/// The graph of chosen tasks, of each task its run, and the names of runs.
fn gather(dataset: &Dataset, tasks: &Tasks<'_>, of: TasksOf<'_>) -> Result<(RunGraph, Vec<u32>, Names), RunGraphError> {
    let mut gathered = Gathered { graph: RunGraph { name: of.name(), noun: "task", ..RunGraph::default() }, ..Gathered::default() };
    let (any, done) = std::thread::scope(|scope| {
        let any = flowmine_threads::beside(scope, || some_wrote_nothing(dataset));
        let done = task_attempts::for_each::<TaskLogError>(tasks.dataset, tasks.rules, |attempt| {
            if of.has(&attempt.row) {
                gathered.add(attempt);
            }
            Ok(())
        });
        gathered.declare();
        (any.join(), done)
    });
    done?;
    let any = any?;
    let Gathered { mut graph, by_key, run_of, runs, .. } = gathered;
    if graph.tasks.is_empty() && matches!(of, TasksOf::Cases(..)) {
        return Err(RunGraphError::NoCase { noun: graph.noun, case: graph.name });
    }
    dataset.read::<JobOfTask<'static>, DatasetError>(|row| {
        let row = tasks.rules.apply(row);
        let at = row.task.as_deref().and_then(|task| by_key.get(task));
        if let (Some(&(at, _)), Some(job)) = (at, &row.job) {
            graph.tasks[at as usize].job = Some(job.to_string());
        }
        Ok(())
    })?;
    let mut flows = Flows::new(dataset)?;
    each_flow_of::<TaskLogError>(dataset, any, |row| {
        let row = tasks.rules.apply(row);
        let find = |kind: Option<&str>, id: Option<&str>| match (kind, id) {
            (Some("task"), Some(id)) => by_key.get(id).copied().unwrap_or((NONE, 0)),
            _ => (NONE, 0),
        };
        let writer = find(row.writer_type.as_deref(), row.writer.as_deref());
        let reader = find(row.reader_type.as_deref(), row.reader.as_deref());
        flows.add(&row, writer, reader);
        Ok(())
    })?;
    flows.finish(&mut graph);
    graph.losses = losses(dataset)?;
    Ok((graph, run_of, runs.into_names()))
}

/// When records of traces were lost: times of one host that touch each other are one.
///
/// # Errors
/// When the dataset cannot be read.
pub(crate) fn losses(dataset: &Dataset) -> Result<Vec<Loss>, DatasetError> {
    let mut losses = Vec::new();
    dataset.read::<IoLoss<'static>, DatasetError>(|row| {
        let count = u64::try_from(row.count).unwrap_or(0);
        losses.push(Loss { host: row.host.into_owned(), from_ns: row.not_before_ns, to_ns: row.observed_at_ns, count });
        Ok(())
    })?;
    losses.sort_unstable();
    losses.dedup_by(|next: &mut Loss, before: &mut Loss| {
        let touches = next.host == before.host && next.from_ns <= before.to_ns;
        if touches {
            before.to_ns = before.to_ns.max(next.to_ns);
            flowmine_sums::add_to(&mut before.count, next.count);
        }
        touches
    });
    Ok(losses)
}

/// A name is not longer than this, in characters.
const LONGEST_NAME: usize = 60;

/// What a task is called: its name or, where that is a whole command, what it is an instance of
/// and its id.
fn label(row: &TaskRun<'_>) -> String {
    match &row.task_id {
        Some(id) if row.name.chars().count() > LONGEST_NAME => format!("{} [{id}]", row.logical_task),
        _ => row.name.to_string(),
    }
}

fn paths(told: Option<&str>) -> Option<Vec<String>> {
    let list: Vec<serde_json::Value> = serde_json::from_str(told?).ok()?;
    Some(list.iter().filter_map(|file| Some(file.get("path")?.as_str()?.to_owned())).collect())
}

/// The column `logical_parents`.
fn logical_parents(told: Option<&str>) -> Option<Vec<LogicalParent>> {
    let list: Vec<serde_json::Value> = serde_json::from_str(told?).ok()?;
    let parent =
        |of: &serde_json::Value| Some(LogicalParent { activity: of["logical_task"].as_str()?.to_owned(), each: of["each"] == true });
    Some(list.iter().filter_map(parent).collect())
}

impl Gathered {
    fn add(&mut self, attempt: TaskAttempt) {
        let row = &attempt.row;
        let run = self.runs.intern(&run_or_engine(row));
        let key = row.task_id.as_deref().map(|id| (run, id.to_owned()));
        let known = key.as_ref().and_then(|key| self.by_id.get(key)).copied();
        let at = known.unwrap_or_else(|| self.new_task(row, run));
        if let Some(key) = key {
            self.by_id.entry(key).or_insert(at);
        }
        let task = &mut self.graph.tasks[at as usize];
        task.attempts += 1;
        let first = [row.queued_ns, row.submitted_ns, row.started_ns].into_iter().flatten().min();
        task.first_ns = [task.first_ns, first].into_iter().flatten().min();
        task.traced |= attempt.traced.is_some();
        // The attempt that ended, or of which anything is known, last.
        let known = (row.finished_ns.or(row.cached_ns), row.started_ns.or(row.submitted_ns));
        if task.attempts == 1 || known >= self.last[at as usize] {
            self.last[at as usize] = known;
            put_last(task, &attempt);
            task.attempt_ids.push(attempt.key.clone());
        } else {
            task.attempt_ids.insert(0, attempt.key.clone());
        }
        let parents = &mut self.parents[at as usize];
        if parents.is_none() {
            *parents = row.parents.as_deref().and_then(|told| serde_json::from_str(told).ok());
        }
        if task.logical_parents.is_none() {
            task.logical_parents = logical_parents(row.logical_parents.as_deref());
        }
        for (known, told) in [(&mut task.inputs, &row.inputs), (&mut task.outputs, &row.outputs)] {
            if known.is_none() {
                *known = paths(told.as_deref());
            }
        }
        let number = task.attempts;
        self.by_key.insert(attempt.key, (at, number));
    }

    fn new_task(&mut self, row: &TaskRun<'_>, run: u32) -> u32 {
        let at = self.graph.tasks.len() as u32;
        self.graph.tasks.push(RunTask {
            name: label(row),
            activity: row.logical_task.to_string(),
            tag: row.tag.as_deref().map(str::to_owned),
            ..RunTask::default()
        });
        self.run_of.push(run);
        self.parents.push(None);
        self.has_paths.push(row.engine != "nextflow");
        self.last.push((None, None));
        at
    }

    /// Turns names of parents, or of files that others make, into dependencies.
    fn declare(&mut self) {
        let mut edges = BTreeSet::new();
        for (to, parents) in self.parents.iter().enumerate() {
            self.graph.tasks[to].parents_known = parents.is_some();
            for parent in parents.iter().flatten().collect::<BTreeSet<_>>() {
                match self.by_id.get(&(self.run_of[to], parent.clone())) {
                    Some(&from) => {
                        edges.insert(Declared { from, to: to as u32, for_start: false });
                    }
                    None => self.graph.unknown_parents += 1,
                }
            }
        }
        // Who makes a file is looked for within a run.
        let mut makers: FxHashMap<(u32, &str), u32> = FxHashMap::default();
        for (at, task) in self.graph.tasks.iter().enumerate() {
            let outputs = task.outputs.iter().flatten().filter(|_| self.has_paths[at]);
            makers.extend(outputs.map(|path| ((self.run_of[at], path.as_str()), at as u32)));
        }
        let by_files = |to: &u32| {
            let at = *to as usize;
            self.parents[at].is_none() && self.has_paths[at] && self.graph.tasks[at].inputs.is_some()
        };
        let mut known = Vec::new();
        for to in (0..self.graph.tasks.len() as u32).filter(by_files) {
            let inputs = self.graph.tasks[to as usize].inputs.iter().flatten();
            let makers = inputs.filter_map(|path| makers.get(&(self.run_of[to as usize], path.as_str()))).filter(|from| **from != to);
            edges.extend(makers.map(|&from| Declared { from, to, for_start: false }));
            known.push(to);
        }
        // Without any file that one declares to write, nothing is known.
        if !makers.is_empty() {
            let with_makers: BTreeSet<u32> = makers.keys().map(|(run, _)| *run).collect();
            for to in known.into_iter().filter(|to| with_makers.contains(&self.run_of[*to as usize])) {
                self.graph.tasks[to as usize].parents_known = true;
            }
        }
        self.graph.declared = edges.into_iter().collect();
    }
}

/// The engine of tasks that `flowmine trace` itself finds.
const TRACE_ENGINE: &str = "flowmine";

/// What a Nextflow task is in its work directory: links to its inputs, its container, its script.
const NEXTFLOW_WRAPPER: &str = "bash .command.run";

/// The engine that itself prepares the commands and files of its tasks.
const SNAKEMAKE: &str = "snakemake";
const MAKEFLOW: &str = "makeflow";

/// What Snakemake puts before each command that it gives to bash, and to no other shell.
const SNAKEMAKE_PROLOGUE: &str = "set -euo pipefail; ";

/// A command as Snakemake gives it to its shell.
fn by_snakemake(command: &str, steps: &serde_json::Value) -> String {
    match steps["shell"].as_str().filter(|shell| shell.rsplit('/').next() != Some("bash")) {
        Some(shell) => format!("{} -c {}", quoted(shell), quoted(command)),
        None => format!("bash -c {}", quoted(&[SNAKEMAKE_PROLOGUE, command].concat())),
    }
}

/// The column `engine_steps`.
fn engine_steps(steps: &serde_json::Value) -> EngineSteps {
    let texts = |name: &str| steps[name].as_array().into_iter().flatten().filter_map(|text| Some(text.as_str()?.to_owned())).collect();
    let special = |of: &serde_json::Value| Some((of["path"].as_str()?.to_owned(), of["kind"].as_str()?.to_owned()));
    EngineSteps {
        logs: texts("logs"),
        touched: texts("touched"),
        special: steps["special"].as_array().into_iter().flatten().filter_map(special).collect(),
    }
}

/// By whole hours times can be wrong where the zone is not known: all times of a run by the same.
const ZONE_STEP_NS: i64 = 3600 * flowmine_schema::time::SECOND_NS;

/// What the last attempt says.
fn put_last(task: &mut RunTask, attempt: &TaskAttempt) {
    let row = &attempt.row;
    let traced = attempt.traced.as_ref();
    let steps: serde_json::Value = serde_json::from_str(row.engine_steps.as_deref().unwrap_or("{}")).unwrap_or_default();
    task.work_dir = row.work_dir.as_deref().map(str::to_owned);
    task.command = match &task.work_dir {
        // The script finds its inputs only through Nextflow's wrapper next to it, which links them.
        Some(_) if row.engine == "nextflow" => Some(NEXTFLOW_WRAPPER.to_owned()),
        _ if row.engine == SNAKEMAKE => row.command.as_deref().map(|command| by_snakemake(command, &steps)),
        _ => row.command.as_deref().map(str::to_owned),
    };
    task.of_makeflow = row.engine == MAKEFLOW;
    task.engine_steps = (row.engine == SNAKEMAKE).then(|| engine_steps(&steps));
    task.cached = row.cached;
    task.submitted_ns = row.submitted_ns.or(row.queued_ns);
    (task.started_ns, task.finished_ns) = match row.cached_ns.filter(|_| row.cached) {
        Some(ns) => (Some(ns), Some(ns)),
        None if row.cached => (None, None),
        None => (row.started_ns.or(traced.and_then(|traced| traced.started_ns)), row.finished_ns),
    };
    let worst = |precisions: [Option<i64>; 2]| precisions.into_iter().flatten().max().unwrap_or(0).max(0) % ZONE_STEP_NS;
    task.precision_ns = worst([row.started_precision_ns, row.finished_precision_ns]);
    task.order_precision_ns = worst([row.submitted_precision_ns, row.finished_precision_ns]);
    task.run_time_ns = run_time_s(row).and_then(time::length_ns);
    task.read_ns = traced.map(|traced| traced.read_time_ns);
    task.write_ns = traced.map(|traced| traced.write_time_ns);
    (task.engine_read_bytes, task.engine_written_bytes) = (row.rchar_bytes, row.wchar_bytes);
    task.failed = matches!(&*row.status, "failed" | "aborted");
    task.host = row.host.as_deref().map(str::to_owned).or_else(|| traced.and_then(|traced| traced.host.clone()));
    task.user = row.user.as_deref().map(str::to_owned);
    task.queue = row.queue.as_deref().map(str::to_owned);
    task.cpus = row.cpus.filter(|cpus| *cpus > 0);
    task.process = traced_process(row);
    task.job = row.native_id.as_deref().filter(|_| row.native_kind.as_deref() == Some("slurm_job")).map(str::to_owned);
}

/// The process that is a command of a traced script.
fn traced_process(row: &TaskRun<'_>) -> Option<TracedProcess> {
    if row.engine != TRACE_ENGINE || row.native_kind.as_deref() != Some("pid") {
        return None;
    }
    let trace_ns = row.run_id.as_deref()?.rsplit(':').next()?.parse().ok()?;
    let host = row.host.as_deref()?.to_owned();
    Some(TracedProcess { host, trace_ns, pid: row.native_id.as_deref()?.parse().ok()?, forked_ns: row.submitted_ns })
}

/// Rows of `data_flow` while they are gathered.
#[derive(Default)]
struct Flows {
    files: Interner,
    hosts: Interner,
    /// Of each path the first file that was seen there.
    first_file: Vec<FileNumbers>,
    /// Other files that were seen at a path, by a number from 1.
    other_files: FxHashMap<(u32, FileNumbers), u32>,
    /// By path, number of the file there (0 is the first), and version of it.
    versions: FxHashMap<(u32, u32, i64), u64>,
    flows: Vec<FileFlow>,
}

/// Numbers that distinguish files at one path.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct FileNumbers {
    host: Option<u32>,
    device: Option<i64>,
    inode: Option<i64>,
    generation: Option<i64>,
    incarnation: i64,
}

/// Maximum number of files and versions for which memory is reserved in advance; more memory is
/// allocated when needed.
const ROOM: usize = 1 << 20;

impl Flows {
    /// With room for the rows of a dataset.
    fn new(dataset: &Dataset) -> Result<Self, DatasetError> {
        let rows = usize::try_from(dataset.row_count::<DataFlow<'static>>()?).unwrap_or(0).min(ROOM);
        let mut flows = Self::default();
        flows.files.reserve(rows);
        flows.first_file.reserve(rows);
        flows.versions.reserve(rows);
        Ok(flows)
    }

    fn add(&mut self, row: &FlowRow<'_>, (writer, writer_attempt): (u32, u32), (reader, reader_attempt): (u32, u32)) {
        if writer == NONE && reader == NONE {
            return;
        }
        let file = self.files.intern(row.path.as_deref().unwrap_or("(path not known)"));
        let host = row.host.as_deref().map(|host| self.hosts.intern(host));
        let numbers = FileNumbers { host, device: row.device, inode: row.inode, generation: row.generation, incarnation: row.incarnation };
        let which = match self.first_file.get(file as usize) {
            None => {
                self.first_file.push(numbers);
                0
            }
            Some(first) if *first == numbers => 0,
            Some(_) => {
                let next = self.other_files.len() as u32 + 1;
                *self.other_files.entry((file, numbers)).or_insert(next)
            }
        };
        let next = self.versions.len() as u64;
        let version = *self.versions.entry((file, which, row.version)).or_insert(next);
        self.flows.push(FileFlow {
            file,
            version,
            writer,
            writer_attempt,
            reader_attempt,
            was_there: row.writer_type.is_none(),
            reader,
            read_outside: reader == NONE && row.reader_type.is_some(),
            written_bytes: row.written_bytes,
            read_bytes: row.read_bytes,
            first_write_ns: row.first_write_ns,
            last_write_ns: row.last_write_ns,
            first_read_ns: row.first_read_ns,
            last_read_ns: row.last_read_ns,
            doubtful: row.order_doubtful,
        });
    }

    fn finish(self, graph: &mut RunGraph) {
        graph.files = self.files.into_names();
        graph.flows = self.flows;
    }
}

/// Jobs of a dataset as one run.
/// Each of some cases of a notion of jobs as a run of its own, in the order of the names. The jobs
/// are read once for all of them, and part after part where a case lies within a part.
///
/// # Errors
/// When the dataset cannot be read. The inner error is that of one case.
pub fn of_job_cases(
    dataset: &Dataset,
    tasks: &Tasks<'_>,
    filter: &Filter,
    notion: &dyn CaseNotion,
    cases: &[String],
    overview: &Overview,
) -> Result<Vec<Result<RunGraph, RunGraphError>>, RunGraphError> {
    let traced = crate::task_log::of_jobs(dataset, tasks.rules)?;
    let of = |case| JobsOf::Cases(notion, std::slice::from_ref(case), overview);
    // Who gave data to whom is told by the ids of jobs, which have to be compared with all others.
    if !notion.within_parts() || dataset.row_count::<DataFlow<'static>>()? > 0 {
        let jobs = Jobs::read_with(dataset, Timestamp::default(), tasks.rules).map_err(TaskLogError::from)?;
        return Ok(cases.iter().map(|case| graph_of_jobs(dataset, tasks, filter, (&jobs, &traced), of(case))).collect());
    }
    let mut found: Vec<Option<Result<RunGraph, RunGraphError>>> = cases.iter().map(|_| None).collect();
    let parts = Parts::new(dataset, Timestamp::default(), tasks.rules, ROWS_AT_ONCE).map_err(TaskLogError::from)?;
    let each = |jobs: &Jobs| {
        let ids = notion.assign(&Entities { jobs, overview }).ids;
        for (case, found) in cases.iter().zip(&mut found).filter(|(case, _)| ids.contains(case)) {
            *found = Some(graph_of_jobs(dataset, tasks, filter, (jobs, &traced), of(case)));
        }
        Ok::<_, CorrelateError>(())
    };
    parts.for_each(each).map_err(TaskLogError::from)?;
    let none = |case: &String| Err(RunGraphError::NoCase { noun: "job", case: case.clone() });
    Ok(found.into_iter().zip(cases).map(|(found, case)| found.unwrap_or_else(|| none(case))).collect())
}

fn of_jobs(dataset: &Dataset, tasks: &Tasks<'_>, filter: &Filter, of: JobsOf<'_>) -> Result<RunGraph, RunGraphError> {
    let jobs = Jobs::read_with(dataset, Timestamp::default(), tasks.rules).map_err(TaskLogError::from)?;
    let traced = crate::task_log::of_jobs(dataset, tasks.rules)?;
    graph_of_jobs(dataset, tasks, filter, (&jobs, &traced), of)
}

fn graph_of_jobs(
    dataset: &Dataset,
    tasks: &Tasks<'_>,
    filter: &Filter,
    (jobs, traced): (&Jobs, &TracedJobs),
    of: JobsOf<'_>,
) -> Result<RunGraph, RunGraphError> {
    let (mut graph, of_attempt) = job_tasks(jobs, filter, traced, of);
    if graph.tasks.is_empty() {
        return Err(match of {
            JobsOf::All => RunGraphError::Empty,
            JobsOf::Cases(..) => RunGraphError::NoCase { noun: graph.noun, case: graph.name },
        });
    }
    if matches!(of, JobsOf::All) {
        graph.cases = cases_of(jobs, &of_attempt);
    }
    graph.declared = job_dependencies(jobs, &of_attempt);
    let mut by_name: FxHashMap<(&str, &str), u32> = FxHashMap::default();
    for (attempt, &at) in jobs.attempts.iter().zip(&of_attempt) {
        let name = (jobs.text(attempt.cluster), jobs.text(attempt.job));
        by_name.entry(name).and_modify(|known| *known = if *known == at { at } else { NONE }).or_insert(at);
    }
    let of_job = |cluster: Option<&str>, job: Option<&str>| {
        by_name.get(&(cluster.unwrap_or_default(), job.unwrap_or_default())).copied().unwrap_or(NONE)
    };
    let mut of_tasks: FxHashMap<Box<str>, u32> = FxHashMap::default();
    each_task_in_job(dataset, |task, cluster, job| {
        of_tasks.insert(task.into(), of_job(cluster, Some(job)));
    })?;
    let find = |kind: Option<&str>, scope: Option<&str>, id: Option<&str>| match kind {
        Some("job") => of_job(scope, id),
        Some("task") => id.and_then(|task| of_tasks.get(task)).copied().unwrap_or(NONE),
        _ => NONE,
    };
    let mut flows = Flows::new(dataset)?;
    each_flow::<DatasetError>(dataset, |row| {
        let row = tasks.rules.apply(row);
        let writer = find(row.writer_type.as_deref(), row.writer_scope.as_deref(), row.writer.as_deref());
        let reader = find(row.reader_type.as_deref(), row.reader_scope.as_deref(), row.reader.as_deref());
        flows.add(&row, (writer, 0), (reader, 0));
        Ok(())
    })?;
    flows.finish(&mut graph);
    graph.losses = losses(dataset)?;
    Ok(graph)
}

/// Jobs as tasks, and which of them each attempt is at.
fn job_tasks(jobs: &Jobs, filter: &Filter, traced: &TracedJobs, of: JobsOf<'_>) -> (RunGraph, Vec<u32>) {
    let chosen = of.chosen(jobs);
    let mut graph = RunGraph { name: of.name(), noun: "job", submission_orders: true, ..RunGraph::default() };
    let mut of_attempt = vec![NONE; jobs.attempts.len()];
    let mut by_job: FxHashMap<(u32, flowmine_correlate::Sym), u32> = FxHashMap::default();
    let filter = filter.resolve(jobs);
    let waits = Waits::new(jobs, None);
    for ((attempt, of), is_chosen) in jobs.attempts.iter().zip(&mut of_attempt).zip(chosen) {
        if !is_chosen || filter.events(attempt).next().is_none() || jobs.is_array_record(attempt) {
            continue;
        }
        let next = graph.tasks.len() as u32;
        let at = *by_job.entry((attempt.submission, attempt.job)).or_insert(next);
        if at == next {
            let name = jobs.text(attempt.job).to_owned();
            let activity = jobs.text(attempt.activity).to_owned();
            graph.tasks.push(RunTask { name, activity, parents_known: true, ..RunTask::default() });
        }
        *of = at;
        let task = &mut graph.tasks[at as usize];
        // The work of an array task depends on its number, which no command contains.
        task.command = attempt.command.filter(|_| attempt.array_task_id.get().is_none()).map(|command| {
            let arguments = attempt.arguments.map(|arguments| format!(" {}", jobs.text(arguments)));
            format!("{}{}", word(jobs.text(command)), arguments.unwrap_or_default())
        });
        task.work_dir = attempt.work_dir.map(|dir| jobs.text(dir).to_owned());
        task.attempts += 1;
        task.first_ns = [task.first_ns, attempt.submit_ns.get()].into_iter().flatten().min();
        task.submitted_ns = attempt.submit_ns.get();
        task.ready_ns =
            waits.of(attempt).before_ready_ns.zip(task.submitted_ns).map(|(before, submitted)| submitted.saturating_add(before));
        task.started_ns = attempt.start_ns.get();
        task.finished_ns = attempt.end_ns.get().or(attempt.ended_ns.get());
        task.job = Some(task.name.clone());
        // A list of several nodes says of no host that it ran there.
        let node = attempt.node_list.map(|list| jobs.text(list)).filter(|list| !list.contains(['[', ',']));
        task.host = node.map(str::to_owned);
        task.failed = attempt.final_state.is_some_and(|state| jobs.text(state) != "COMPLETED");
        // Slurm reports whole seconds.
        task.precision_ns = flowmine_schema::time::SECOND_NS;
        let of_job = if traced.is_empty() { None } else { traced.of(&jobs.attempt_id(attempt)) };
        task.traced |= of_job.is_some();
        task.read_ns = of_job.map(|of| of.read_time_ns);
        task.write_ns = of_job.map(|of| of.write_time_ns);
    }
    (graph, of_attempt)
}

/// The cases of jobs by their dependencies, the longest first.
fn cases_of(jobs: &Jobs, of_attempt: &[u32]) -> Vec<String> {
    let assignment = Dependency.assign(&Entities::new(jobs));
    let mut times: BTreeMap<&str, (i64, i64)> = BTreeMap::new();
    for (at, attempt) in jobs.attempts.iter().enumerate().filter(|(at, _)| of_attempt[*at] != NONE) {
        let last = [attempt.ended_ns, attempt.end_ns, attempt.start_ns].into_iter().filter_map(PackedInt::get).max();
        let (first, last) = (attempt.since_ns, last.unwrap_or(attempt.since_ns));
        let of = times.entry(assignment.id_of(at)).or_insert((first, last));
        *of = (of.0.min(first), of.1.max(last));
    }
    let mut cases: Vec<(&str, (i64, i64))> = times.into_iter().collect();
    cases.sort_by_key(|(name, (first, last))| (std::cmp::Reverse(last.saturating_sub(*first)), *name));
    cases.into_iter().map(|(name, _)| name.to_owned()).collect()
}

/// A path as a word of a shell.
fn word(path: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./=:,+@%".contains(c);
    if path.chars().all(is_plain) { path.to_owned() } else { quoted(path) }
}

/// Any text as a word of a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Who was declared to wait for whom.
fn job_dependencies(jobs: &Jobs, of_attempt: &[u32]) -> Vec<Declared> {
    let mut of_submission: FxHashMap<u32, BTreeSet<u32>> = FxHashMap::default();
    for (attempt, &at) in jobs.attempts.iter().zip(of_attempt) {
        if at != NONE {
            of_submission.entry(attempt.submission).or_default().insert(at);
        }
    }
    let mut edges = BTreeSet::new();
    for edge in &jobs.dependencies.edges {
        let Some(term) = jobs.dependencies.terms.get(edge.term as usize) else { continue };
        let to = of_attempt.get(term.attempt as usize).copied().unwrap_or(NONE);
        let for_start = jobs.text(term.kind) == "after";
        let mut add = |from: u32| {
            if from != NONE && to != NONE && from != to {
                edges.insert(Declared { from, to, for_start });
            }
        };
        match edge.to {
            Target::Seen(_, Some(attempt)) => add(of_attempt.get(attempt as usize).copied().unwrap_or(NONE)),
            Target::Seen(submission, None) => of_submission.get(&submission).into_iter().flatten().for_each(|&from| add(from)),
            Target::Unseen(_) => {}
        }
    }
    edges.into_iter().collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that panics has failed")]
mod tests {
    use flowmine_privacy::RowRules;
    use flowmine_test_support::TempDataset;

    use super::*;

    /// Returns, for a run of two tasks of which the second reads a file that the first writes,
    /// whether the parents of each task are known, and the dependencies. `parents` are the declared
    /// parents of the first task.
    fn declared(engine: &'static str, parents: Option<&'static str>) -> (Vec<bool>, Vec<(u32, u32)>) {
        let row = |id: &'static str, inputs: &'static str, outputs: &'static str| TaskRun {
            engine: engine.into(),
            run_name: Some("a_b".into()),
            task_id: Some(id.into()),
            name: id.into(),
            status: "completed".into(),
            inputs: Some(inputs.into()),
            outputs: Some(outputs.into()),
            ..TaskRun::default()
        };
        let dataset = TempDataset::new();
        let first = TaskRun { parents: parents.map(Into::into), ..row("1", r#"[{"path":"/in"}]"#, r#"[{"path":"x"}]"#) };
        dataset.append::<TaskRun<'static>>(&[first, row("2", r#"[{"path":"x"}]"#, r#"[{"path":"y"}]"#)]);
        let (rules, filter) = (RowRules::default(), Filter::default());
        let run = read(&dataset, &Tasks::new(&dataset, &rules, &filter), &filter, RunPart::Whole).unwrap();
        let edges = run.declared.iter().map(|edge| (edge.from, edge.to)).collect();
        (run.tasks.iter().map(|task| task.parents_known).collect(), edges)
    }

    #[test]
    fn parents_by_files_are_known_where_files_have_paths() {
        assert_eq!(declared("makeflow", None), (vec![true, true], vec![(0, 1)]));
        // Its outputs are names in the task's own directory: they do not identify the writer of an
        // input.
        assert_eq!(declared("nextflow", None), (vec![false, false], vec![]));
        assert_eq!(declared("nextflow", Some("[]")), (vec![true, false], vec![]));
    }
}

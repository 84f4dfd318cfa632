//! Attempts at tasks of workflow engines, each once, and how they are found.
//!
//! The input is the table `task_runs`. A log that was imported again after it had grown, before
//! earlier rows were replaced, describes its tasks twice: rows of the same attempt that do not
//! contradict each other are merged, and the one with the later status holds.

use std::collections::BTreeMap;

use flowmine_dataset::Dataset;
use flowmine_schema::tables::TaskRun;
use rustc_hash::FxHashMap;

use super::run::starts_jobs;
use crate::AttributionError;
use flowmine_schema::text::ids::escape;

/// A time and how exact it is: the true moment is at most so far away; `None` is a bound that is
/// not known.
pub type Moment = (i64, Option<i64>);

/// An attempt at a task.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Task {
    /// Engine, run, task and attempt as one id: `makeflow:diamond:1795179770.5/3#1`.
    pub key: String,
    /// Name of the workflow engine, as in `task_runs`.
    pub engine: String,
    /// Id of the run, as in `task_runs`.
    pub run_id: Option<String>,
    /// Name of the run, as in `task_runs`.
    pub run_name: Option<String>,
    /// The task in the run.
    pub task_id: Option<String>,
    /// Number of the attempt at the task, from 1.
    pub attempt: Option<i64>,
    /// Name of the attempt as the engine shows it.
    pub name: String,
    /// The task in the workflow that it is an instance of.
    pub logical_task: String,
    /// The engine's name of its result.
    pub cache_key: Option<String>,
    /// Work directory of the attempt.
    pub work_dir: Option<String>,
    /// Id that the executor gave it, such as a job id.
    pub native_id: Option<String>,
    /// Kind of the id `native_id`.
    pub native_kind: Option<String>,
    /// Host on which the attempt ran.
    pub host: Option<String>,
    /// Name of the user as whom its engine ran.
    pub user: Option<String>,
    /// Id of the attempt's container.
    pub container_id: Option<String>,
    /// Script or command line of the attempt.
    pub command: Option<String>,
    /// When it was submitted to the executor.
    pub submitted: Option<Moment>,
    /// When the attempt began.
    pub started: Option<Moment>,
    /// When the attempt had ended.
    pub finished: Option<Moment>,
    /// When its earlier result was used.
    pub cached: Option<Moment>,
    /// Outcome of the attempt, as in `status` of `task_runs`.
    pub status: String,
    /// Exit code of the attempt.
    pub exit_code: Option<i64>,
    /// Declared outputs, for engines with jobs that are found by them; empty once they are in
    /// [`Tasks`].
    pub(crate) outputs: Vec<String>,
    /// The identifiers of the layers that `flowmine transform` put around it; empty once they are
    /// in [`Tasks`].
    pub(crate) layers: Vec<String>,
}

impl Task {
    /// Whether both are of the same run of the same engine.
    pub fn same_run(&self, other: &Task) -> bool {
        (&self.engine, &self.run_id, &self.run_name) == (&other.engine, &other.run_id, &other.run_name)
    }

    /// Whether something at a moment can be part of it. Unknown times, and times of unknown
    /// precision, exclude nothing.
    pub fn covers(&self, ns: i64, slack_ns: i64) -> bool {
        let within = |moment: Option<Moment>| moment.and_then(|(at, precision)| Some((at, precision?.saturating_add(slack_ns))));
        let begun = within(self.submitted).or(within(self.started));
        begun.is_none_or(|(at, slack)| ns >= at.saturating_sub(slack))
            && within(self.finished).is_none_or(|(at, slack)| ns <= at.saturating_add(slack))
    }

    /// From start to end, as the engine reports them.
    pub fn time(&self) -> Option<(i64, i64)> {
        Some((self.started?.0, self.finished?.0)).filter(|(started, finished)| started <= finished)
    }

    /// Whether the uncertainty of start and end is smaller than the time between them.
    pub fn time_is_exact(&self) -> bool {
        let told = |moment: Option<Moment>| moment.and_then(|(at, precision)| Some((at, precision?)));
        let (Some((started, a)), Some((finished, b))) = (told(self.started), told(self.finished)) else { return false };
        finished.saturating_sub(started) > a.saturating_add(b)
    }

    fn contradicts(&self, other: &Task) -> bool {
        fn differ<T: PartialEq>(a: &Option<T>, b: &Option<T>) -> bool {
            matches!((a, b), (Some(a), Some(b)) if a != b)
        }
        let at = |moment: Option<Moment>| moment.map(|(at, _)| at);
        // Empty names, and names in each other's place, give the same key.
        !self.same_run(other)
            || self.task_id != other.task_id
            || (self.task_id.is_none() && (self.cache_key != other.cache_key || self.name != other.name))
            || differ(&self.native_id, &other.native_id)
            || differ(&self.work_dir, &other.work_dir)
            || differ(&at(self.submitted), &at(other.submitted))
            || differ(&at(self.finished), &at(other.finished))
            || differ(&at(self.cached), &at(other.cached))
    }

    /// Returns the rank of its status, from unknown to ended.
    fn told(&self) -> u8 {
        match &*self.status {
            "unknown" => 0,
            "submitted" => 1,
            "running" => 2,
            _ => 3,
        }
    }
}

impl AsRef<Task> for Task {
    fn as_ref(&self) -> &Task {
        self
    }
}

/// Tasks with the same key: rows that do not contradict each other are one attempt.
#[derive(Debug)]
pub(crate) struct SameKey<T>(Vec<T>);

impl<T> Default for SameKey<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: AsRef<Task>> SameKey<T> {
    /// Adds a row; of rows that do not contradict each other, the one with the later status is
    /// kept.
    pub(crate) fn push(&mut self, told: T) {
        match self.0.iter_mut().find(|known| !known.as_ref().contradicts(told.as_ref())) {
            Some(known) if told.as_ref().told() >= known.as_ref().told() => *known = told,
            Some(_) => {}
            None => self.0.push(told),
        }
    }

    /// The first of the attempts, if there is one.
    pub(crate) fn first(&self) -> Option<&T> {
        self.0.first()
    }

    /// The attempts, each with a unique key, which contains the number of earlier ones with the
    /// same key.
    pub(crate) fn finish(mut self, key: &str, others: usize) -> Vec<(String, T)> {
        self.0.sort_by_cached_key(|told| {
            let Task { submitted, native_id, work_dir, finished, cached, run_id, task_id, cache_key, name, .. } = told.as_ref().clone();
            (submitted, native_id, work_dir, finished, cached, run_id, task_id, cache_key, name)
        });
        let key = |number: usize| if number == 0 { key.to_owned() } else { format!("{key}({})", number + 1) };
        self.0.into_iter().enumerate().map(|(at, told)| (key(others + at), told)).collect()
    }
}

/// The key without the number that distinguishes attempts with the same one.
pub(crate) fn without_number(key: &str) -> &str {
    // Parentheses of names are escaped.
    key.split_once('(').map_or(key, |(key, _)| key)
}

/// All attempts, by their keys.
#[derive(Debug, Default)]
pub struct Tasks {
    all: Vec<Task>,
    by_work_dir: FxHashMap<String, Vec<u32>>,
    by_native_id: FxHashMap<String, Vec<u32>>,
    by_container: FxHashMap<String, Vec<u32>>,
    by_task_id: FxHashMap<String, Vec<u32>>,
    by_command: FxHashMap<String, Vec<u32>>,
    by_layer: FxHashMap<String, Vec<u32>>,
    /// Tasks of runs that start them as their own children, by the name of the run.
    of_runs: FxHashMap<String, OfRun>,
}

/// Tasks of one run of an engine that starts them as its own children.
#[derive(Debug, Default)]
struct OfRun {
    by_name: FxHashMap<String, Vec<u32>>,
    by_output: FxHashMap<String, Vec<u32>>,
}

flowmine_schema::columns! {
    /// Columns of `task_runs` that are read.
    pub(crate) struct TaskRow of TaskRun {
        engine, run_id, run_name, task_id, attempt, name, logical_task, cache_key, work_dir,
        native_id, native_kind, host, user, container_id, command, submitted_ns,
        submitted_precision_ns, started_ns, started_precision_ns, finished_ns,
        finished_precision_ns, cached_ns, cached_precision_ns, status, exit_code, cached, outputs, layers,
    }
}

/// The engine of which the column `command` has the variables too.
const MAKEFLOW: &str = "makeflow";

impl Tasks {
    /// Reads the table `task_runs`. Cached tasks did not run, and are left out.
    ///
    /// # Errors
    /// When the dataset cannot be read.
    pub fn read(dataset: &Dataset) -> Result<Self, AttributionError> {
        let mut tasks = Vec::new();
        dataset.read::<TaskRow<'static>, AttributionError>(|row| {
            if !row.cached {
                tasks.push(of_row(&row));
            }
            Ok(())
        })?;
        Ok(Self::from_all(tasks))
    }

    pub(crate) fn from_all(told: Vec<Task>) -> Self {
        let mut attempts: BTreeMap<String, SameKey<Task>> = BTreeMap::new();
        for task in told {
            attempts.entry(key(&task)).or_default().push(task);
        }
        let mut all: Vec<Task> = Vec::new();
        for (key, same_key) in attempts {
            all.extend(same_key.finish(&key, 0).into_iter().map(|(key, task)| Task { key, ..task }));
        }
        all.sort_by(|a, b| a.key.cmp(&b.key));
        let mut tasks = Self::default();
        for (at, task) in all.iter_mut().enumerate() {
            let at = at as u32;
            if let Some(run) = task.run_name.as_ref().filter(|_| starts_jobs(&task.engine)) {
                let of_run = tasks.of_runs.entry(run.clone()).or_default();
                of_run.by_name.entry(task.name.replace(", ", ",")).or_default().push(at);
                for output in std::mem::take(&mut task.outputs) {
                    of_run.by_output.entry(output).or_default().push(at);
                }
            }
            for id in std::mem::take(&mut task.layers) {
                tasks.by_layer.entry(id).or_default().push(at);
            }
            if let Some(dir) = &task.work_dir {
                tasks.by_work_dir.entry(dir.trim_end_matches('/').to_owned()).or_default().push(at);
            }
            if let Some(id) = &task.native_id {
                tasks.by_native_id.entry(id.clone()).or_default().push(at);
            }
            if let Some(id) = &task.container_id {
                tasks.by_container.entry(id.clone()).or_default().push(at);
            }
            if let Some(id) = &task.task_id {
                tasks.by_task_id.entry(id.clone()).or_default().push(at);
            }
            // Makeflow calls a rule by its command, and sets its variables in its own process.
            let command = if task.engine == MAKEFLOW { task.command.as_ref().map(|_| &task.name) } else { task.command.as_ref() };
            if let Some(command) = command {
                tasks.by_command.entry(command.trim().to_owned()).or_default().push(at);
            }
        }
        tasks.all = all;
        tasks
    }

    /// Number of attempts.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether there are no attempts.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// An attempt by its number; numbers are in the order of the keys.
    pub fn get(&self, at: u32) -> &Task {
        &self.all[at as usize]
    }

    /// The number of the attempt with this key.
    pub fn number(&self, key: &str) -> Option<u32> {
        self.all.binary_search_by(|task| task.key.as_str().cmp(key)).ok().map(|at| at as u32)
    }

    /// All attempts in the order of their keys.
    pub fn iter(&self) -> impl Iterator<Item = &Task> {
        self.all.iter()
    }

    /// Numbers of the attempts that ran in a directory.
    pub fn in_work_dir(&self, dir: &str) -> &[u32] {
        self.by_work_dir.get(dir.trim_end_matches('/')).map_or(&[], Vec::as_slice)
    }

    /// Those that their executor calls so, whatever kind of id that is.
    pub fn with_native_id(&self, id: &str) -> &[u32] {
        self.by_native_id.get(id).map_or(&[], Vec::as_slice)
    }

    /// Numbers of the attempts that ran in the container with this id.
    pub fn in_container(&self, id: &str) -> &[u32] {
        self.by_container.get(id).map_or(&[], Vec::as_slice)
    }

    /// Numbers of the attempts that their run calls so, of any engine.
    pub fn with_task_id(&self, id: &str) -> &[u32] {
        self.by_task_id.get(id).map_or(&[], Vec::as_slice)
    }

    /// Tasks of a run that the engine starts as its own children, and that declare this output
    /// literally.
    pub fn of_run_with_output(&self, run: &str, output: &str) -> &[u32] {
        self.of_runs.get(run).and_then(|of_run| of_run.by_output.get(output)).map_or(&[], Vec::as_slice)
    }

    /// Those of such a run that are called so, without blanks after commas.
    pub fn of_run_with_name(&self, run: &str, name: &str) -> &[u32] {
        self.of_runs.get(run).and_then(|of_run| of_run.by_name.get(name)).map_or(&[], Vec::as_slice)
    }

    /// Tasks with a layer of `flowmine transform` that has this identifier, or with this identifier
    /// of their own.
    pub fn with_layer(&self, id: &str) -> &[u32] {
        self.by_layer.get(id).map_or(&[], Vec::as_slice)
    }

    /// Those that run exactly this, but for space around it.
    pub fn with_command(&self, command: &str) -> &[u32] {
        self.by_command.get(command.trim()).map_or(&[], Vec::as_slice)
    }
}

pub(crate) fn of_row(row: &TaskRow<'_>) -> Task {
    let text = |value: &Option<std::borrow::Cow<'_, str>>| value.as_deref().map(str::to_owned);
    Task {
        key: String::new(),
        engine: row.engine.to_string(),
        run_id: text(&row.run_id),
        run_name: text(&row.run_name),
        task_id: text(&row.task_id),
        attempt: row.attempt,
        name: row.name.to_string(),
        logical_task: row.logical_task.to_string(),
        cache_key: text(&row.cache_key),
        work_dir: text(&row.work_dir),
        native_id: text(&row.native_id),
        native_kind: text(&row.native_kind),
        host: text(&row.host),
        user: text(&row.user),
        container_id: text(&row.container_id),
        command: text(&row.command),
        submitted: row.submitted_ns.map(|at| (at, row.submitted_precision_ns)),
        started: row.started_ns.map(|at| (at, row.started_precision_ns)),
        finished: row.finished_ns.map(|at| (at, row.finished_precision_ns)),
        cached: row.cached_ns.map(|at| (at, row.cached_precision_ns)),
        status: row.status.to_string(),
        exit_code: row.exit_code,
        outputs: row.outputs.as_deref().filter(|_| starts_jobs(&row.engine)).map(outputs).unwrap_or_default(),
        layers: row.layers.as_deref().map(layers).unwrap_or_default(),
    }
}

/// Paths in the column `outputs`.
fn outputs(text: &str) -> Vec<String> {
    let read = serde_json::from_str::<Vec<serde_json::Value>>(text).unwrap_or_default();
    read.iter().filter_map(|output| Some(output["path"].as_str()?.trim_start_matches("./").to_owned())).collect()
}

/// Identifiers in the column `layers`.
fn layers(text: &str) -> Vec<String> {
    let read = serde_json::from_str::<Vec<serde_json::Value>>(text).unwrap_or_default();
    read.iter().filter_map(|layer| Some(layer["id"].as_str()?.to_owned())).collect()
}

/// Engine, run, task and attempt; what is between them is escaped in names.
pub(crate) fn key(task: &Task) -> String {
    let mut key = task.engine.clone();
    for part in [&task.run_name, &task.run_id].into_iter().flatten() {
        key.push(':');
        escape(part, &mut key);
    }
    key.push('/');
    escape(task.task_id.as_ref().or(task.cache_key.as_ref()).unwrap_or(&task.name), &mut key);
    if let Some(attempt) = task.attempt {
        key.push_str(&format!("#{attempt}"));
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(id: &str, status: &str, submitted: i64) -> Task {
        Task {
            engine: "makeflow".into(),
            run_name: Some("a/b".into()),
            run_id: Some("17".into()),
            task_id: Some(id.into()),
            attempt: Some(1),
            status: status.into(),
            submitted: Some((submitted, Some(0))),
            ..Task::default()
        }
    }

    #[test]
    fn a_log_that_has_grown_tells_of_each_attempt_once() {
        let tasks = Tasks::from_all(vec![task("1", "running", 5), task("2", "completed", 6), task("1", "completed", 5)]);
        let keys: Vec<_> = tasks.iter().map(|task| (task.key.as_str(), task.status.as_str())).collect();
        assert_eq!(keys, [("makeflow:a%2Fb:17/1#1", "completed"), ("makeflow:a%2Fb:17/2#1", "completed")]);
        let earlier_last = Tasks::from_all(vec![task("1", "completed", 5), task("1", "running", 5)]);
        assert_eq!(earlier_last.get(0).status, "completed");
    }

    #[test]
    fn attempts_that_differ_stay_apart() {
        let tasks = Tasks::from_all(vec![task("1", "failed", 9), task("1", "completed", 5)]);
        let keys: Vec<_> = tasks.iter().map(|task| (task.key.as_str(), task.status.as_str())).collect();
        assert_eq!(keys, [("makeflow:a%2Fb:17/1#1", "completed"), ("makeflow:a%2Fb:17/1#1(2)", "failed")]);
    }

    #[test]
    fn tasks_without_number_that_share_a_short_hash_stay_apart() {
        let cached = |name: &str, at: i64| Task {
            task_id: None,
            cache_key: Some("aa/000000".into()),
            name: name.into(),
            submitted: None,
            cached: Some((at, Some(0))),
            ..task("", "cached", 0)
        };
        let keys: Vec<String> = Tasks::from_all(vec![cached("B", 5), cached("A", 5), cached("A", 6), cached("A", 5)])
            .iter()
            .map(|task| format!("{} {}", task.key, task.name))
            .collect();
        let key = "makeflow:a%2Fb:17/aa%2F000000#1";
        assert_eq!(keys, [format!("{key} A"), format!("{key}(2) B"), format!("{key}(3) A")]);
    }

    #[test]
    fn runs_whose_names_stand_in_each_others_place_stay_apart() {
        let named = Task { run_name: Some("r".into()), run_id: None, ..task("1", "completed", 5) };
        let numbered = Task { run_name: None, run_id: Some("r".into()), ..task("1", "completed", 5) };
        let keys = |told: Vec<Task>| Tasks::from_all(told).iter().map(|task| (task.key.clone(), task.run_id.clone())).collect::<Vec<_>>();
        let expected = [("makeflow:r/1#1".to_owned(), None), ("makeflow:r/1#1(2)".to_owned(), Some("r".to_owned()))];
        assert_eq!(keys(vec![named.clone(), numbered.clone()]), expected);
        assert_eq!(keys(vec![numbered, named]), expected);
    }

    #[test]
    fn times() {
        let mut task = task("1", "completed", 100);
        assert!(task.covers(100, 5) && task.covers(95, 5) && !task.covers(94, 5) && task.covers(1 << 40, 5));
        task.finished = Some((200, None));
        assert!(task.covers(1 << 40, 5), "a bound that is not known excludes nothing");
        task.finished = Some((200, Some(10)));
        assert!(task.covers(215, 5) && !task.covers(216, 5));
    }
}

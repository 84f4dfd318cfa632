//! An attempt at a task, merged from several sources.

use std::collections::BTreeMap;

use flowmine_schema::diagnostic::Diagnostic;

use crate::{Row, Source};

/// Key of an attempt, unique within an Airflow installation.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// Airflow's `dag_id`.
    pub dag: String,
    /// Airflow's `run_id` of the DAG run.
    pub run: String,
    /// Airflow's `task_id`.
    pub task: String,
    /// Index among the instances of a mapped task; -1 for a task that is not mapped.
    pub map_index: i64,
    /// Number of the attempt, from 1; `None` when it is not known.
    pub attempt: Option<i64>,
}

impl Key {
    /// Returns the task's id, as in the column `task_id` of `task_runs`.
    pub fn task_id(&self) -> String {
        instance(&self.task, self.map_index)
    }

    /// Returns a row with the columns that the key determines.
    pub fn row(&self, source: &str) -> Row {
        let task_id = self.task_id();
        Row {
            engine: crate::engine_names::AIRFLOW.into(),
            run_id: Some(self.run.clone().into()),
            run_name: Some(self.dag.clone().into()),
            name: task_id.clone().into(),
            task_id: Some(task_id.into()),
            attempt: self.attempt,
            logical_task: format!("{}.{}", self.dag, self.task).into(),
            tag: (self.map_index >= 0).then(|| self.map_index.to_string().into()),
            status: "unknown".into(),
            source: source.to_owned().into(),
            ..Row::default()
        }
    }
}

/// Returns the id of a task instance. It is unique because a task's name has no brackets.
pub fn instance(task: &str, map_index: i64) -> String {
    if map_index < 0 { task.to_owned() } else { format!("{task}[{map_index}]") }
}

/// The attempts by their keys.
#[derive(Debug, Default)]
pub struct Attempts {
    rows: BTreeMap<Key, Row>,
}

impl Attempts {
    /// Merges a row of a source into its attempt. Values of earlier sources are kept;
    /// contradictions are diagnostics of the later source.
    pub fn add(&mut self, key: Key, mut told: Row, source: &mut Source) {
        let Some(row) = self.rows.get_mut(&key) else {
            source.rows += 1;
            source.sign(&mut told);
            self.rows.insert(key, told);
            return;
        };
        source.joined += 1;
        let open = |status: &str| matches!(status, "running" | "submitted" | "unknown");
        if row.status != told.status && !open(&row.status) && !open(&told.status) {
            let message = format!(
                "attempt {} at {} in {} is {} by {} and {} here; the first is kept",
                key.attempt.unwrap_or_default(),
                row.name,
                key.run,
                row.status,
                row.source,
                told.status
            );
            source.diagnostics.push(Diagnostic::warning("sources_contradict", message));
        } else if told.status != "unknown" && (row.status == "unknown" || open(&row.status) && !open(&told.status)) {
            row.status = told.status.clone();
        }
        fill(row, told);
    }

    /// Returns the attempts, in the order of their keys.
    pub fn into_rows(self) -> BTreeMap<Key, Row> {
        self.rows
    }
}

fn fill(row: &mut Row, told: Row) {
    // The task's own process knows its end best; other sources notice it only after that process
    // wrote its last line.
    if row.finished_precision_ns.is_none() && told.finished_ns.is_some_and(|told| row.finished_ns.is_none_or(|known| told < known)) {
        (row.finished_ns, row.finished_precision_ns) = (told.finished_ns, told.finished_precision_ns);
    }
    for (time, precision, told_time, told_precision) in [
        (&mut row.queued_ns, &mut row.queued_precision_ns, told.queued_ns, told.queued_precision_ns),
        (&mut row.submitted_ns, &mut row.submitted_precision_ns, told.submitted_ns, told.submitted_precision_ns),
        (&mut row.started_ns, &mut row.started_precision_ns, told.started_ns, told.started_precision_ns),
    ] {
        if time.is_none() {
            (*time, *precision) = (told_time, told_precision);
        }
    }
    if row.native_id.is_none() {
        (row.native_id, row.native_kind) = (told.native_id, told.native_kind);
    }
    row.executor = row.executor.take().or(told.executor);
    row.queue = row.queue.take().or(told.queue);
    row.host = row.host.take().or(told.host);
    row.exit_code = row.exit_code.or(told.exit_code);
    row.command = row.command.take().or(told.command);
    row.error = row.error.take().or(told.error);
    row.duration_s = row.duration_s.or(told.duration_s);
    row.realtime_s = row.realtime_s.or(told.realtime_s);
}

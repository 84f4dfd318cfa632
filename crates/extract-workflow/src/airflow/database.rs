//! The metadata database: rows of its tables in, attempts out. [`super::sqlite`] and
//! [`super::postgres`] read the rows.
//!
//! | table | what is read |
//! |---|---|
//! | `task_instance` | the last attempt at each task |
//! | `task_instance_history` (2.10 and later) | the earlier attempts |
//! | `rendered_task_instance_fields` | the command of the last attempt |
//! | `serialized_dag` | dependencies of the tasks |
//!
//! Columns differ between versions: a missing column is null.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use flowmine_schema::diagnostic::Diagnostic;
use flowmine_schema::time;
use serde_json::{Map, Value};

use super::attempt::{Attempts, Key, instance};
use super::dag::Dag;
use super::{common, state};
use crate::{Row, Source, json};

/// The tables, with the columns that are read.
pub const TABLES: [(&str, &[&str]); 4] = [
    ("serialized_dag", &["dag_id", "dag_version_id", "data", "data_compressed"]),
    ("rendered_task_instance_fields", &["dag_id", "task_id", "run_id", "map_index", "rendered_fields"]),
    (INSTANCES, COLUMNS),
    (HISTORY, COLUMNS),
];
const INSTANCES: &str = "task_instance";
/// The table of earlier attempts; its presence determines how attempts are counted.
pub const HISTORY: &str = "task_instance_history";
const COLUMNS: &[&str] = &[
    "dag_id",
    "task_id",
    "run_id",
    "map_index",
    "try_number",
    "state",
    "start_date",
    "end_date",
    "duration",
    "hostname",
    "pid",
    "external_executor_id",
    "queue",
    "executor",
    "queued_dttm",
    "scheduled_dttm",
    "rendered_map_index",
    "dag_version_id",
];

/// Maximum number of instances of a parent task that are listed one by one. A task with more is
/// listed once, by its name, so that the lists do not grow with the square of the instances.
const MOST_INSTANCES: usize = 1000;

/// Beginning of a field that Airflow has truncated to the limit of the site.
const TRUNCATED: &str = "Truncated. You can change this behaviour";

/// DAGs and attempts from Airflow's metadata database.
#[derive(Debug, Default)]
pub struct Database {
    /// Whether it has the table of earlier attempts.
    pub has_history: bool,
    dags: HashMap<String, Dag>,
    commands: HashMap<Key, String>,
    /// Attempts, each with the version of its DAG and whether it is the last attempt at its task.
    attempts: Vec<(Key, Row, Option<String>, bool)>,
    /// Indices of the instances of a task in a run, by DAG, run and task.
    instances: HashMap<(String, String, String), BTreeSet<i64>>,
    never_ran: BTreeMap<String, u64>,
}

impl Database {
    /// Adds a row; an error describes what it lacks.
    pub fn add(&mut self, table: &str, row: &Map<String, Value>, source: &str) -> Result<(), String> {
        match table {
            "serialized_dag" => {
                let null = Value::Null;
                let value = |name: &str| row.get(name).unwrap_or(&null);
                let dag = Dag::read(value("data"), value("data_compressed")).ok_or("a row of serialized_dag is not what Airflow writes")?;
                let id = word(row, "dag_version_id").or_else(|| word(row, "dag_id")).ok_or("a row of serialized_dag has no dag_id")?;
                self.dags.insert(id, dag);
            }
            "rendered_task_instance_fields" => {
                let key = key(row).ok_or("a row of rendered_task_instance_fields does not name its task")?;
                if let Some(command) = row.get("rendered_fields").and_then(command) {
                    self.commands.insert(key, command);
                }
            }
            INSTANCES | HISTORY => self.add_instance(table, row, source)?,
            _ => {}
        }
        Ok(())
    }

    fn add_instance(&mut self, table: &str, row: &Map<String, Value>, source: &str) -> Result<(), String> {
        let mut key = key(row).ok_or_else(|| format!("a row of {table} does not name its task"))?;
        self.instances.entry((key.dag.clone(), key.run.clone(), key.task.clone())).or_default().insert(key.map_index);
        let state = word(row, "state");
        let pid = number(row, "pid").filter(|pid| *pid > 0);
        let Some(status) = state::status(state.as_deref(), pid.is_some()) else {
            if table == INSTANCES {
                *self.never_ran.entry(state.unwrap_or_else(|| "no state".to_owned())).or_default() += 1;
            }
            return Ok(());
        };
        // Until 2.9 an attempt is counted when it begins, and a deferred task is counted back.
        let not_counted = !self.has_history && matches!(state.as_deref(), Some("queued" | "deferred" | "up_for_reschedule"));
        key.attempt = number(row, "try_number").map(|attempt| attempt.saturating_add(not_counted.into())).filter(|attempt| *attempt > 0);
        let moment = |name: &str| word(row, name).and_then(|text| time::parse(&text));
        let [queued, submitted, started] = ["scheduled_dttm", "queued_dttm", "start_date"].map(moment);
        let finished = moment("end_date").filter(|_| !matches!(status, "running" | "submitted"));
        let external = word(row, "external_executor_id");
        let plain = key.row(source);
        let tag = word(row, "rendered_map_index").filter(|_| key.map_index >= 0);
        let told = Row {
            status: status.into(),
            tag: tag.map(Into::into).or(plain.tag),
            host: word(row, "hostname").map(Into::into),
            native_kind: if pid.is_some() { Some("pid".into()) } else { external.as_ref().map(|_| "executor_id".into()) },
            native_id: pid.map(|pid| pid.to_string()).or(external).map(Into::into),
            queue: word(row, "queue").map(Into::into),
            executor: word(row, "executor").map(Into::into),
            queued_ns: queued,
            queued_precision_ns: queued.map(|_| 1000),
            submitted_ns: submitted,
            submitted_precision_ns: submitted.map(|_| 1000),
            // A waiting attempt still has the start of the attempt before.
            started_ns: started.filter(|_| status != "submitted"),
            started_precision_ns: started.filter(|_| status != "submitted").map(|_| 1000),
            finished_ns: finished,
            finished_precision_ns: finished.filter(|_| common::ended_itself(state.as_deref())).map(|_| 1000),
            realtime_s: row.get("duration").and_then(Value::as_f64).filter(|s| (0.0..1e12).contains(s) && finished.is_some()),
            ..plain
        };
        self.attempts.push((key, told, word(row, "dag_version_id"), table == INSTANCES));
        Ok(())
    }

    /// Adds the attempts that were read to `attempts`.
    pub fn finish(self, attempts: &mut Attempts, source: &mut Source) {
        for (key, mut row, version, is_last) in self.attempts {
            let task = Key { attempt: None, ..key.clone() };
            row.command = self.commands.get(&task).filter(|_| is_last).cloned().map(Into::into);
            let dag = version.as_ref().and_then(|version| self.dags.get(version)).or_else(|| self.dags.get(&key.dag));
            row.parents = dag.and_then(|dag| parents(dag, &key, &self.instances)).map(Into::into);
            attempts.add(key, row, source);
        }
        if !self.never_ran.is_empty() {
            let counts: Vec<String> = self.never_ran.iter().map(|(state, count)| format!("{count} {state}")).collect();
            let message =
                format!("{} task instances never ran and have no rows: {}", self.never_ran.values().sum::<u64>(), counts.join(", "));
            source.diagnostics.push(Diagnostic::warning("tasks_never_ran", message));
        }
    }
}

/// Returns the instances of the parent tasks in this run.
fn parents(dag: &Dag, key: &Key, instances: &HashMap<(String, String, String), BTreeSet<i64>>) -> Option<String> {
    let mut ids = Vec::new();
    for parent in dag.parents(&key.task)? {
        let known = instances.get(&(key.dag.clone(), key.run.clone(), parent.clone()));
        match known {
            Some(known) if dag.expand_together(&key.task, parent) && known.contains(&key.map_index) => {
                ids.push(instance(parent, key.map_index));
            }
            Some(known) if known.len() <= MOST_INSTANCES => ids.extend(known.iter().map(|index| instance(parent, *index))),
            _ => ids.push(parent.clone()),
        }
    }
    Some(serde_json::json!(ids).to_string())
}

/// Returns the command of a shell operator; other operators have other fields.
fn command(fields: &Value) -> Option<String> {
    let read;
    let fields = match fields {
        Value::String(text) => {
            read = json::from_str(text).ok()?;
            &read
        }
        fields => fields,
    };
    fields["bash_command"].as_str().filter(|command| !command.starts_with(TRUNCATED)).map(str::to_owned)
}

fn key(row: &Map<String, Value>) -> Option<Key> {
    Some(Key {
        dag: word(row, "dag_id")?,
        // Before 2.2 a run was identified by its execution date, which is in another table.
        run: word(row, "run_id")?,
        task: word(row, "task_id")?,
        map_index: number(row, "map_index").unwrap_or(-1),
        attempt: None,
    })
}

fn word(row: &Map<String, Value>, name: &str) -> Option<String> {
    row.get(name)?.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

fn number(row: &Map<String, Value>, name: &str) -> Option<i64> {
    row.get(name)?.as_i64()
}

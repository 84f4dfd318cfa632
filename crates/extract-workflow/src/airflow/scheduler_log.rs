//! The scheduler's log, with or without colours: when an attempt was passed to its executor, what
//! the executor reported, and the state in which the scheduler then found the task.
//!
//! ```text
//! Setting the following tasks to queued state (scheduler job_id=1):
//!     <TaskInstance: dag.task run map_index=2 [scheduled] ti_id=…> (id=…, try_number=1)                      the number since 3
//! Sending TaskInstanceKey(dag_id='dag', task_id='task', run_id='run', try_number=1, map_index=-1) to LocalExecutor with priority 1 and queue default       2
//! Received executor event with state success for task instance TaskInstanceKey(…)
//! Setting external_executor_id for <TaskInstance: dag.task run [queued]> to 4f…
//! TaskInstance Finished: dag_id=dag, task_id=task, run_id=run, map_index=-1, …, state=success, executor=LocalExecutor(…), …, pid=10178
//! ```
//!
//! Only lines of the scheduler and its executors count: with the LocalExecutor the same file
//! contains the tasks' own lines.

use std::collections::BTreeMap;
use std::io::{self, BufRead};

use flowmine_schema::diagnostic::Diagnostic;
use flowmine_schema::{text, time};

use super::attempt::Key;
use super::between::between;
use super::line::Line;
use super::{common, state};
use crate::input::without_escapes;
use crate::{Options, Row, Source, input};

const FINISHED: &str = "TaskInstance Finished: ";
const RECEIVED: &str = "Received executor event with state ";
const QUEUED: &str = "Setting the following tasks to queued state";

/// Reads the log of Airflow's scheduler and returns attempts by their keys.
///
/// # Errors
/// When reading fails. Errors in a line are diagnostics of the source.
pub fn read(reader: impl BufRead, source: &mut Source, options: &Options) -> io::Result<BTreeMap<Key, Row>> {
    let mut lines = input::lines(reader);
    let mut rows: BTreeMap<Key, Row> = BTreeMap::new();
    // Time of the heading after which lines name the tasks that are being queued.
    let mut queued: Option<(i64, i64)> = None;
    let mut without_zone = false;
    while let Some((number, bytes)) = input::next_line(&mut lines, &mut source.diagnostics)? {
        let decoded = text::decode(bytes);
        let shown = without_escapes(&decoded);
        let told = match Line::read(&shown, options) {
            Some(line) => {
                without_zone |= line.without_zone;
                queued = line.time.filter(|_| line.text.starts_with(QUEUED));
                see(&line, &mut rows, source, number)
            }
            None => queued.map(|time| see_queued(&shown, time, &mut rows, source, number)).unwrap_or(Some(())),
        };
        if told.is_none() {
            let shown: String = shown.chars().take(60).collect();
            let message = format!("{shown:?} does not name its task");
            source.diagnostics.push(Diagnostic::error("line_without_task", message).at(number, Some(1)));
        }
    }
    common::without_zone(without_zone, source);
    Ok(rows)
}

/// Reads a line; `None` when its form is that of a line about a task but it cannot be read.
fn see(line: &Line, rows: &mut BTreeMap<Key, Row>, source: &Source, number: u64) -> Option<()> {
    let text = line.text.as_str();
    // In JSON the same message contains the queued tasks.
    if !line.is_of_scheduler() && !text.starts_with(QUEUED) {
        return Some(());
    }
    if let Some(rest) = text.strip_prefix(FINISHED) {
        let (key, told) = finished(rest)?;
        let row = rows.entry(key.clone()).or_insert_with(|| begin(&key, source, number));
        *row = Row { submitted_ns: told.submitted_ns.or(row.submitted_ns), line: row.line, ..Row { source: row.source.clone(), ..told } };
    } else if let Some(rest) = text.strip_prefix(RECEIVED) {
        let key = key_in(rest)?;
        let row = rows.entry(key.clone()).or_insert_with(|| begin(&key, source, number));
        // The executor's `success` refers to the process that ran the task, which also exits with
        // success when the task failed.
        row.status = match rest.split(' ').next()?.trim_start_matches("TaskInstanceState.").to_ascii_lowercase().as_str() {
            "running" => "running",
            "queued" => "submitted",
            "failed" => "failed",
            _ => "unknown",
        }
        .into();
    } else if let Some(rest) = text.strip_prefix("Sending ") {
        let Some(key) = key_in(rest) else { return Some(()) };
        let row = rows.entry(key.clone()).or_insert_with(|| begin(&key, source, number));
        (row.submitted_ns, row.submitted_precision_ns, row.status) = (line.time.map(|t| t.0), line.time.map(|t| t.1), "submitted".into());
        row.queue = rest.rsplit_once(" and queue ").map(|(_, queue)| queue.trim().to_owned().into());
    } else if let Some(rest) = text.strip_prefix("Setting external_executor_id for ") {
        let (task, id) = rest.rsplit_once("> to ")?;
        let key = instance(task.strip_prefix("<TaskInstance: ")?)?;
        let id = id.split_whitespace().next()?.to_owned();
        // The line does not name the attempt; it is the one that was passed to the executor last.
        let of_task = |other: &&mut Row| other.native_id.is_none();
        let last = rows.iter_mut().rev().find(|(other, _)| Key { attempt: None, ..(*other).clone() } == key).map(|(_, row)| row);
        if let Some(row) = last.filter(of_task) {
            (row.native_id, row.native_kind) = (Some(id.into()), Some("executor_id".into()));
        }
    } else if text.starts_with(QUEUED) {
        for task in text.lines().skip(1) {
            see_queued(task, line.time?, rows, source, number);
        }
    }
    Some(())
}

/// Reads one of the tasks that are being queued. Before Airflow 3 this line lacks the attempt,
/// which the `Sending` line contains.
fn see_queued(text: &str, (ns, precision): (i64, i64), rows: &mut BTreeMap<Key, Row>, source: &Source, number: u64) -> Option<()> {
    let Some(task) = text.trim_start().strip_prefix("<TaskInstance: ") else { return Some(()) };
    let mut key = instance(task)?;
    let Some(attempt) = between(task, " try_number=", ")").and_then(|n| n.parse().ok()).filter(|n| *n > 0) else { return Some(()) };
    key.attempt = Some(attempt);
    let row = rows.entry(key.clone()).or_insert_with(|| begin(&key, source, number));
    (row.submitted_ns, row.submitted_precision_ns, row.status) = (Some(ns), Some(precision), "submitted".into());
    Some(())
}

fn begin(key: &Key, source: &Source, number: u64) -> Row {
    Row { line: Some(number as i64), ..key.row(&source.name) }
}

/// Parses `dag.task run map_index=2 [scheduled] …`. The name of a DAG and that of a task in a group
/// may contain dots; the first dot separates them.
pub fn instance(text: &str) -> Option<Key> {
    let mut words = text.split(' ');
    let (dag, task) = words.next()?.split_once('.')?;
    let run = words.next().filter(|run| !run.is_empty())?;
    let map_index = words.next().and_then(|word| word.strip_prefix("map_index=")).map_or(Some(-1), |n| n.parse().ok())?;
    Some(Key { dag: dag.to_owned(), run: run.to_owned(), task: task.to_owned(), map_index, attempt: None })
}

/// Parses the contents of `TaskInstanceKey(dag_id='…', task_id='…', run_id='…', try_number=1,
/// map_index=-1)`.
fn key_in(text: &str) -> Option<Key> {
    let inside = between(text, "TaskInstanceKey(", ")")?;
    let word = |name: &str| between(inside, &format!("{name}='"), "'").map(str::to_owned);
    let number = |name: &str| inside.split_once(name)?.1.split(',').next()?.trim().parse::<i64>().ok();
    Some(Key {
        dag: word("dag_id")?,
        run: word("run_id")?,
        task: word("task_id")?,
        map_index: number("map_index=").unwrap_or(-1),
        attempt: Some(number("try_number=").filter(|n| *n > 0)?),
    })
}

/// Parses `dag_id=…, task_id=…, …`: the names have a fixed order, and each value extends to the
/// next name.
fn finished(text: &str) -> Option<(Key, Row)> {
    let mut values: BTreeMap<&str, &str> = BTreeMap::new();
    for part in text.split(", ").flat_map(|part| part.split(",queued_by")) {
        if let Some((name, value)) = part.split_once('=') {
            // In text of Airflow 3 the logger follows the last value.
            values.entry(name).or_insert(value.split(" [airflow.").next().unwrap_or_default().trim());
        }
    }
    let word = |name: &str| values.get(name).copied().filter(|value| !matches!(*value, "" | "None"));
    let number = |name: &str| word(name)?.parse::<i64>().ok();
    let moment = |name: &str| word(name).and_then(time::parse);
    let key = Key {
        dag: word("dag_id")?.to_owned(),
        run: word("run_id")?.to_owned(),
        task: word("task_id")?.to_owned(),
        map_index: number("map_index").unwrap_or(-1),
        attempt: Some(number("try_number").filter(|n| *n > 0)?),
    };
    let pid = word("pid").filter(|pid| pid.bytes().all(|b| b.is_ascii_digit()));
    let mut status = state::status(word("state"), pid.is_some()).unwrap_or("unknown");
    // The executor gave up before the task reported anything; the scheduler marks it as failed
    // next.
    if matches!(status, "submitted" | "running") && word("executor_state") == Some("failed") {
        status = "failed";
    }
    let (queued, submitted, started) = (moment("scheduled_dttm"), moment("queued_dttm"), moment("run_start_date"));
    let finished = moment("run_end_date").filter(|_| !matches!(status, "running" | "submitted"));
    let own = |text: &str| text.to_owned().into();
    let row = Row {
        status: status.into(),
        native_id: pid.map(own),
        native_kind: pid.map(|_| "pid".into()),
        executor: word("executor").map(|executor| own(executor.split('(').next().unwrap_or(executor))),
        queue: word("queue").map(own),
        queued_ns: queued,
        queued_precision_ns: queued.map(|_| 1000),
        submitted_ns: submitted,
        submitted_precision_ns: submitted.map(|_| 1000),
        started_ns: started,
        started_precision_ns: started.map(|_| 1000),
        finished_ns: finished,
        finished_precision_ns: finished.filter(|_| common::ended_itself(word("state"))).map(|_| 1000),
        realtime_s: word("run_duration").and_then(|text| text.parse().ok()).filter(|s: &f64| (0.0..1e12).contains(s)),
        ..key.row("")
    };
    Some((key, row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instances() {
        let key = instance("d.g.t manual__1 map_index=2 [scheduled] ti_id=x>").unwrap();
        assert_eq!((key.dag.as_str(), key.task.as_str(), key.run.as_str(), key.map_index), ("d", "g.t", "manual__1", 2));
        assert_eq!(instance("d.t manual__1 [queued]>").unwrap().map_index, -1);
        assert!(instance("d.t").is_none() && instance("").is_none() && instance("d r").is_none());
    }
}

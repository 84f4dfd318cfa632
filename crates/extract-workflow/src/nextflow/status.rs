//! Outcome of each task, after all lines of its run are read.
//!
//! The status `COMPLETED` in the log is not an outcome: it only means that the handler is done with
//! the task. A task has failed when its exit code is not 0, or when a NOTE, an ERROR or an
//! exception is about it. An exit `-` without any of these is success if there is no native id (a
//! task that ran inside Nextflow), and unknown if there is one (a job that vanished).

use std::collections::{BTreeSet, HashSet};

use flowmine_schema::diagnostic::{Diagnostic, Diagnostics};

use super::clock::{Resolved, Stamp};
use super::counts::{Aside, Counts, count_of};
use super::run_builder::RunBuilder;
use super::tasks::Task;
use crate::{Options, Row};

/// A run of Nextflow, from its log.
#[derive(Debug)]
pub struct Run {
    /// Its tasks in the order in which the log first names them.
    pub rows: Vec<Row>,
    /// For each row the known part of its hash.
    pub hashes: Vec<Option<String>>,
    /// Conversion of its local times to UTC; `None` when its year is not known.
    pub clock: Option<Resolved>,
    /// File name of its trace file.
    pub trace_file: Option<String>,
    /// File name of its graph of processes.
    pub graph_file: Option<String>,
    /// The run's id, the session's UUID, where the log has it.
    pub id: Option<String>,
    /// The run's name, where the log has it.
    pub name: Option<String>,
    /// Number of tasks that Nextflow counted and the log does not describe, and the line of the
    /// counts.
    pub missing: Option<(usize, u64)>,
}

impl RunBuilder {
    /// Returns the executor of a task that no executor acknowledged.
    fn executor_of(&self, row: &Row, acknowledging: &BTreeSet<String>) -> Option<String> {
        if let Some(executor) = self.processes.get(row.logical_task.as_ref()) {
            return Some(executor.clone());
        }
        let acknowledged = row.native_id.is_some();
        let mut fit =
            self.executors.keys().filter(|executor| acknowledging.contains(*executor) == acknowledged || self.executors.len() == 1);
        fit.next().filter(|_| fit.next().is_none()).cloned()
    }

    /// Returns the run; `None` when there was none. `mtime_ns` is the modification time of the log.
    pub fn finish(mut self, options: &Options, mtime_ns: Option<i64>, diagnostics: &mut Diagnostics) -> Option<Run> {
        let mut tasks = std::mem::take(&mut self.tasks).all;
        self.leave_out_waiting(&mut tasks, diagnostics);
        // An array job is acknowledged like a task; its tasks have its id with an index.
        let arrays: HashSet<String> = tasks
            .iter()
            .filter(|task| task.is_task)
            .filter_map(|task| Some(task.row.native_id.as_ref()?.rsplit_once('_')?.0.to_owned()))
            .collect();
        tasks.retain(|task| task.is_task || task.row.native_id.as_deref().is_none_or(|id| !arrays.contains(id)));
        tasks.retain(|task| {
            if task.row.name.is_empty() {
                let place = task.row.line.unwrap_or(1) as u64;
                diagnostics.push(Diagnostic::error("task_without_name", "this task has no name; it is left out").at(place, None));
            }
            !task.row.name.is_empty()
        });
        if tasks.is_empty() && self.run_id.is_none() {
            return None;
        }
        let timed = tasks.iter().any(|task| task.submitted.is_some() || task.done.is_some() || task.cached.is_some());
        let clock = if timed { self.clock.resolve(options, mtime_ns, self.first_line.unwrap_or(1), diagnostics) } else { None };
        let acknowledging: BTreeSet<String> = tasks.iter().filter_map(|task| task.row.executor.as_deref().map(str::to_owned)).collect();
        let hashes = tasks.iter_mut().map(|task| task.hash.take()).collect();
        let mut counts = Counts::default();
        let count = |task: Task| {
            let aside = Aside::new(&task);
            let row = self.finish_task(task, clock, &acknowledging);
            counts.add(aside, &row);
            row
        };
        let rows: Vec<Row> = tasks.into_iter().map(count).collect();
        let mut missing = None;
        if let Some((line, stats)) = &self.stats {
            missing = Some((counts.compare(stats, *line, diagnostics), *line));
        } else if !self.has_end && !rows.is_empty() {
            let open = rows.iter().filter(|row| matches!(row.status.as_ref(), "running" | "submitted" | "unknown")).count();
            let message = format!(
                "the log does not contain the end of the run: the run still runs, Nextflow was killed, or the file was cut; {open} of its tasks have no end"
            );
            let advice = "import the log again when it has grown: its tasks are then replaced";
            diagnostics.push(Diagnostic::warning("run_without_end", message).advise(advice));
        }
        Some(Run {
            rows,
            hashes,
            clock,
            trace_file: self.trace_file,
            graph_file: self.graph_file,
            id: self.run_id,
            name: self.run_name,
            missing,
        })
    }

    /// Leaves out tasks that are known only from a dump of the first tasks waiting for submission.
    fn leave_out_waiting(&self, tasks: &mut Vec<Task>, diagnostics: &mut Diagnostics) {
        let (all, line) = (tasks.len(), tasks.iter().find(|task| task.waits).and_then(|task| task.row.line));
        tasks.retain(|task| !task.waits);
        let told = self.stats.as_ref().and_then(|(_, stats)| count_of(stats, "pendingCount"));
        let waiting = told.unwrap_or(0).max(all - tasks.len());
        if waiting > 0 {
            let at_least = if told.is_some() { "" } else { "at least " };
            let message = match (told, waiting) {
                (Some(_), 1) => "1 task waited and was not submitted before the log ended; it has no row".to_owned(),
                _ => format!("{at_least}{waiting} tasks waited and were not submitted before the log ended; they have no rows"),
            };
            let line = line.map(|line| line as u64).or(self.stats.as_ref().map(|(line, _)| *line)).unwrap_or(1);
            diagnostics.push(Diagnostic::warning("tasks_not_submitted", message).at(line, None));
        }
    }

    /// Whether a task of an aborted run was ended with it. Jobs on AWS Batch are ended one by one,
    /// and there can be too many for Nextflow to end all: where the log names the jobs that it
    /// ended, only those count.
    fn ended(&self, is_late: bool, executor: Option<&str>) -> bool {
        let is_left_alone = self.left_running || is_late || self.kills_are_told && executor == Some("awsbatch");
        self.aborted && !is_left_alone
    }

    fn finish_task(&self, task: Task, clock: Option<Resolved>, acknowledging: &BTreeSet<String>) -> Row {
        let Task { mut row, submitted, cached, done, started_ms, exited, failed, killed, is_late, running, .. } = task;
        row.engine = super::NAME.into();
        row.run_id = self.run_id.clone().map(Into::into);
        row.run_name = self.run_name.clone().map(Into::into);
        row.status = match (&done, row.exit_code) {
            _ if row.cached => "cached",
            _ if failed => "failed",
            (Some((_, word)), _) if word == "ABORTED" => "aborted",
            (Some(_), Some(0)) => "completed",
            _ if killed => "aborted",
            (Some(_), Some(_)) => "failed",
            (Some(_), None) if row.native_id.is_none() => "completed",
            (Some(_), None) => "unknown",
            (None, _) if self.ended(is_late, row.executor.as_deref()) => "aborted",
            (None, _) if running => "running",
            (None, _) => "submitted",
        }
        .into();
        let utc = |stamp: Option<Stamp>| clock?.utc(stamp?);
        if row.cached {
            (row.cached_ns, row.cached_precision_ns) = utc(cached).unzip();
            return row;
        }
        if row.executor.is_none() {
            row.executor = self.executor_of(&row, acknowledging).map(Into::into);
        }
        let executor = row.executor.as_deref().unwrap_or_default().to_owned();
        if executor == "local" {
            row.host = self.host.clone().map(Into::into);
        }
        if row.native_id.is_some() {
            row.native_kind = super::native_kind(&executor).map(Into::into);
        }
        if let Some((ns, precision)) = utc(submitted) {
            row.submitted_ns = Some(ns);
            row.submitted_precision_ns = Some(precision);
        }
        if let Some((ns, precision)) = exited {
            row.finished_ns = Some(ns);
            row.finished_precision_ns = Some(precision);
        } else if let Some((ns, precision)) = done.and_then(|(stamp, _)| utc(stamp)) {
            // Noticed between two polls.
            row.finished_ns = Some(ns);
            row.finished_precision_ns = self.executors.get(&executor).copied().flatten().map(|interval| interval + precision);
        }
        if let Some(noticed) = started_ms.and_then(|ms| ms.checked_mul(1_000_000)) {
            // The start is often noticed after the end; the true start lies between the submission
            // and the end.
            let (started, digits) = exited.filter(|(ended, _)| *ended < noticed).unwrap_or((noticed, 0));
            row.started_ns = Some(started);
            row.started_precision_ns =
                row.submitted_ns.map(|submitted| (started - submitted).max(0) + row.submitted_precision_ns.unwrap_or(0) + digits);
        }
        row
    }
}

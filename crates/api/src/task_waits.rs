//! What each task of a dataset's workflow runs waited for.

use flowmine_activity_log::{JobWait, RunTask, WaitPart};
use flowmine_correlate::{CorrelateError, Filter, TaskRows};
use flowmine_dataset::Dataset;
use flowmine_discover::critical_path::task_waits::{self, TaskWait};
use flowmine_logs::run_graph::{self, RunGraphError};
use flowmine_logs::task_log::{HeldUntil, Tasks, case_rows};
use flowmine_privacy::RowRules;
use flowmine_schema::tables;
use flowmine_schema::tables::TaskRun;

use crate::error::{Result, ensure};
use crate::groups::EventFilter;
use crate::jobs;
use crate::sink::Sink;

/// What follows of tasks, for [`flowmine_correlate::correlate_with_tasks`].
pub const ROWS: TaskRows<'static> = TaskRows { waits: &put_rows, cases: &case_rows::put_rows };

/// Puts the parts of the time of all tasks as rows of the table `waits`, in the order of runs and
/// tasks ([`flowmine_correlate::TaskRows`]).
///
/// # Errors
/// When the dataset cannot be read, or a row cannot be put.
pub fn put_rows(dataset: &Dataset, put: flowmine_correlate::PutWait<'_>) -> std::result::Result<(), CorrelateError> {
    let rules = RowRules::default();
    let runs = run_graph::read_all(dataset, &Tasks::new(dataset, &rules, &Filter::default()));
    let mut done = Ok(());
    for run in &runs.map_err(|error| CorrelateError::TaskWaits(Box::new(error)))? {
        task_waits::for_each_task(run, |task| {
            for (number, part) in (0i64..).zip(&task.wait.parts) {
                if done.is_ok() {
                    done = put(&row(&run.name, task, number, part));
                }
            }
        });
    }
    done
}

/// Part of a task's time, its n-th, as a row.
fn row<'r>(run: &'r str, task: &TaskWait<'_, 'r>, number: i64, part: &WaitPart<'r>) -> tables::WaitPart<'r> {
    let within = |(earliest, latest): (i64, i64)| (earliest < latest).then_some((earliest, latest));
    let (from, to) = (within(part.from_within_ns), within(part.to_within_ns));
    let last = |task: &'r RunTask| task.attempt_ids.last().map(String::as_str);
    let waited_for: Vec<&str> = task.waited_for(part).into_iter().filter_map(last).collect();
    tables::WaitPart {
        submit_ns: task.task.submitted_ns,
        attempt: i64::from(task.task.attempts),
        part: number,
        cause: part.cause.into(),
        from_ns: part.from_ns,
        to_ns: part.to_ns,
        from_earliest_ns: from.map(|(earliest, _)| earliest),
        from_latest_ns: from.map(|(_, latest)| latest),
        to_earliest_ns: to.map(|(earliest, _)| earliest),
        to_latest_ns: to.map(|(_, latest)| latest),
        evidence: part.evidence.into(),
        task: last(task.task).map(Into::into),
        run: Some(run.into()),
        predecessor_tasks: (!waited_for.is_empty()).then(|| serde_json::json!(waited_for).to_string().into()),
        ..tables::WaitPart::default()
    }
}

/// Returns until when tasks waited for others after they were submitted, by the ids of their
/// attempts as the rules make them.
///
/// # Errors
/// When the dataset cannot be read.
pub fn held_until(dataset: &Dataset, rules: &RowRules) -> std::result::Result<HeldUntil, RunGraphError> {
    let mut held = HeldUntil::default();
    for run in &run_graph::read_all(dataset, &Tasks::new(dataset, rules, &Filter::default()))? {
        task_waits::for_each_task(run, |task| {
            if let Some(until_ns) = task.held_until_ns() {
                held.extend(task.task.attempt_ids.iter().map(|id| (id.clone(), until_ns)));
            }
        });
    }
    Ok(held)
}

/// Whether a dataset has tasks of workflow engines.
pub fn has_any(dataset: &Dataset) -> Result<bool> {
    Ok(dataset.row_count::<TaskRun<'static>>()? > 0)
}

/// Calls `each` with every task that passes the filter and of which times are known.
///
/// # Errors
/// When the dataset cannot be read or has no tasks, or the filter is one of jobs.
pub fn for_each(dataset: &Dataset, chosen: &EventFilter, sink: &dyn Sink, mut each: impl FnMut(&JobWait<'_>)) -> Result<()> {
    ensure!(has_any(dataset)?, "the dataset has no tasks: import what a workflow engine wrote");
    ensure!(chosen.account.is_empty(), "--account chooses jobs, and tasks of workflow engines have no account");
    let rules = RowRules::default();
    let times = jobs::time_filter(chosen)?;
    // Of whole runs, so that a task waits for the same with and without a filter.
    let runs = run_graph::read_all(dataset, &Tasks::new(dataset, &rules, &Filter::default()))?;
    let mut without_times = 0;
    for run in &runs {
        let left_out = task_waits::for_each(run, |task| {
            let is_of_user = chosen.user.is_empty() || task.user.is_some_and(|user| chosen.user.iter().any(|of| of == user));
            let moments = task.parts.iter().flat_map(|part| [part.from_ns, part.to_ns]);
            let is_in_time =
                moments.into_iter().any(|ns| times.from_ns.is_none_or(|from| ns >= from) && times.to_ns.is_none_or(|to| ns < to));
            if is_of_user && is_in_time {
                each(task);
            }
        });
        without_times += left_out.tasks_without_times + left_out.tasks_backwards;
    }
    if without_times > 0 {
        sink.warning(&format!("{without_times} tasks are left out: it is not known when they started and ended"));
    }
    Ok(())
}

//! What each task of a dataset's workflow runs waited for.

use flowmine_activity_log::JobWait;
use flowmine_correlate::Filter;
use flowmine_dataset::Dataset;
use flowmine_discover::critical_path::task_waits;
use flowmine_logs::run_graph;
use flowmine_logs::task_log::Tasks;
use flowmine_privacy::RowRules;
use flowmine_schema::tables::TaskRun;

use crate::error::{Result, ensure};
use crate::groups::EventFilter;
use crate::jobs;
use crate::sink::Sink;

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

//! `flowmine discover --model dag`, and the picture of it in `flowmine run`.

use flowmine_correlate::Filter;
use flowmine_correlate::row_rules::RowRules;
use flowmine_discover::dag::{Builder, Dag, Task};
use flowmine_logs::task_log::notion::run_or_engine;
use flowmine_logs::task_log::{self, TaskLogError, Tasks};
use flowmine_logs::task_summary::run_time_s;
use flowmine_schema::Dataset;

use super::jobs;
use crate::args::Discover;
use crate::progress::Stage;

/// The graph that was asked for.
pub fn asked_for(args: &Discover) -> anyhow::Result<Dag> {
    let (Some(dir), None) = (&args.source.dataset, &args.source.log) else {
        anyhow::bail!("--model dag is made of the tasks of a dataset, as workflow engines tell of them: give --dataset DIR alone");
    };
    let chooses = args.chooses_a_part() || !args.filter.account.is_empty() || !args.filter.user.is_empty();
    anyhow::ensure!(!chooses, "--model dag is made of all tasks, or of those --from and --to a time: leave the other filters out");
    let dataset = Dataset::open(dir)?;
    anyhow::ensure!(task_log::has_tasks(&dataset)?, "the dataset has no tasks of workflow engines: import what one wrote first");
    Ok(of(&dataset, &jobs::time_filter(&args.filter)?)?)
}

/// The graph of a dataset's tasks.
pub fn of(dataset: &Dataset, filter: &Filter) -> Result<Dag, TaskLogError> {
    let _stage = Stage::new("reading the dataset");
    let mut builder = Builder::default();
    task_log::for_each(&Tasks::new(dataset, &RowRules::default(), filter), |row| {
        builder.add(&Task {
            run: &run_or_engine(row),
            id: row.task_id.as_deref(),
            logical_task: &row.logical_task,
            parents: row.parents.as_deref().and_then(|told| serde_json::from_str(told).ok()),
            run_time_ns: run_time_s(row).filter(|s| (0.0..9e9).contains(s)).map(|s| (s * 1e9) as i64),
        });
    })?;
    Ok(builder.finish())
}

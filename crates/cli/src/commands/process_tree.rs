//! `flowmine discover --model process-tree`.

use std::collections::BTreeSet;

use anyhow::Context;
use flowmine_activity_log::NONE;
use flowmine_correlate::Filter;
use flowmine_correlate::row_rules::RowRules;
use flowmine_discover::process_tree::{self, Fold, Options, ProcessTree};
use flowmine_logs::process_rows;
use flowmine_logs::run_graph;
use flowmine_logs::task_log::Tasks;
use flowmine_schema::Dataset;

use crate::args::{Discover, FilterArgs, FoldArg, TimestampArg};
use crate::progress::Stage;

/// Makes the fork tree of a dataset, or of the part of it that is asked for.
pub fn make(args: &Discover) -> anyhow::Result<ProcessTree> {
    let what = "process-tree is made of the processes of a dataset";
    let (Some(dir), None) = (&args.source.dataset, &args.source.log) else { anyhow::bail!("{what}: give --dataset DIR") };
    let FilterArgs { account, user, from, to } = &args.filter;
    let of_jobs = !account.is_empty() || !user.is_empty() || from.is_some() || to.is_some() || args.timestamp != TimestampArg::default();
    anyhow::ensure!(
        !of_jobs && !args.chooses_a_part(),
        "{what}: choose among them with --run, --job and --pid, and leave other filters out"
    );
    let dataset = Dataset::open(dir)?;
    let stage = Stage::new("reading the dataset");
    let mut processes = process_rows::read(&dataset)?;
    if let Some(run) = &args.run {
        let owners = owners_of_run(&dataset, run).with_context(|| dir.display().to_string())?;
        let chosen: BTreeSet<u32> =
            (0..).zip(processes.owners.iter()).filter(|(_, name)| owners.contains(*name)).map(|(at, _)| at).collect();
        processes = processes.around(|row| chosen.contains(&row.owner));
        anyhow::ensure!(
            !processes.rows.is_empty(),
            "no traced process belongs to a task of that run: is the dataset correlated (flowmine correlate)?"
        );
    }
    for job in &args.job {
        anyhow::ensure!(processes.owners.find(&format!("job {job}")).is_some(), "no traced process belongs to job {job:?}");
    }
    if !args.job.is_empty() {
        let chosen: BTreeSet<u32> = args.job.iter().filter_map(|job| processes.owners.find(&format!("job {job}"))).collect();
        processes = processes.around(|row| row.owner != NONE && chosen.contains(&row.owner));
    }
    for pid in &args.pid {
        anyhow::ensure!(processes.rows.iter().any(|row| row.pid == *pid), "no process with the number {pid} was traced");
    }
    if !args.pid.is_empty() {
        processes = processes.around(|row| args.pid.contains(&row.pid));
    }
    drop(stage);
    let _stage = Stage::new("discovering");
    let fold = args.fold.map(|fold| match fold {
        FoldArg::Never => Fold::Never,
        FoldArg::Equal => Fold::Equal,
        FoldArg::Programs => Fold::Programs,
        FoldArg::Program => Fold::Program,
    });
    Ok(process_tree::discover(&processes, &Options { fold, ..Options::default() }))
}

/// The tasks of a run, as links call them.
fn owners_of_run(dataset: &Dataset, run: &str) -> anyhow::Result<BTreeSet<String>> {
    let (rules, filter) = (RowRules::default(), Filter::default());
    Ok(run_graph::attempts(&Tasks::new(dataset, &rules, &filter), run)?)
}

//! Which processes of a dataset are asked for: those of a run, of jobs, and what was forked by
//! processes with a number.

use std::collections::BTreeSet;

use anyhow::Context;
use flowmine_activity_log::{NONE, Processes};
use flowmine_correlate::Filter;
use flowmine_dataset::Dataset;
use flowmine_logs::process_groups::{self, GroupBy};
use flowmine_logs::run_graph;
use flowmine_logs::task_log::Tasks;
use flowmine_privacy::RowRules;

use crate::args::{Discover, FilterArgs, TimestampArg};

/// Refuses what cannot choose among processes.
pub fn check(args: &Discover, what: &str) -> anyhow::Result<()> {
    let FilterArgs { account, user, from, to } = &args.filter;
    let of_jobs = !account.is_empty() || !user.is_empty() || from.is_some() || to.is_some() || args.timestamp != TimestampArg::default();
    anyhow::ensure!(
        !of_jobs && !args.chooses_a_part(),
        "{what}: choose among them with --run, --job and --pid, and leave other filters out"
    );
    Ok(())
}

/// The processes that are asked for; `None` for all.
pub fn chosen(args: &Discover, dataset: &Dataset, processes: &Processes) -> anyhow::Result<Option<Vec<bool>>> {
    let mut chosen: Option<Vec<bool>> = None;
    let mut keep = |these: Vec<bool>| {
        chosen = Some(match chosen.take() {
            None => these,
            Some(known) => known.into_iter().zip(these).map(|(a, b)| a && b).collect(),
        });
    };
    if let Some(run) = &args.run {
        let (rules, filter) = (RowRules::default(), Filter::default());
        let owners = run_graph::attempts(&Tasks::new(dataset, &rules, &filter), run)?;
        let of_run: BTreeSet<u32> =
            (0..).zip(processes.owners.iter()).filter(|(_, name)| owners.contains(*name)).map(|(at, _)| at).collect();
        let these: Vec<bool> = processes.rows.iter().map(|row| row.owner != NONE && of_run.contains(&row.owner)).collect();
        anyhow::ensure!(
            these.contains(&true),
            "no traced process belongs to a task of that run: is the dataset correlated (flowmine correlate)?"
        );
        keep(these);
    }
    if !args.job.is_empty() {
        let (names, of) = process_groups::groups(dataset, processes, GroupBy::Job).context("the jobs of processes")?;
        let mut wanted = BTreeSet::new();
        for job in &args.job {
            let found = names.find(job).with_context(|| format!("no traced process belongs to job {job:?}"))?;
            wanted.insert(found);
        }
        keep(of.iter().map(|group| wanted.contains(group)).collect());
    }
    for pid in &args.pid {
        anyhow::ensure!(processes.rows.iter().any(|row| row.pid == *pid), "no process with the number {pid} was traced");
    }
    if !args.pid.is_empty() {
        keep(processes.below(|row| args.pid.contains(&row.pid)));
    }
    Ok(chosen)
}

//! Which processes of a dataset are asked for: those of a run, of jobs, and what was forked by
//! processes with a number.

use std::collections::BTreeSet;

use flowmine_activity_log::{NONE, Processes};
use flowmine_correlate::Filter;
use flowmine_dataset::Dataset;
use flowmine_logs::process_groups::{self, GroupBy};
use flowmine_logs::run_graph;
use flowmine_logs::task_log::Tasks;
use flowmine_privacy::RowRules;

use crate::error::{Context, Result, ensure};
use crate::options::{Kind, OptionSpec, Values};
use crate::request::Request;

/// `--pid`.
pub const PID: OptionSpec = OptionSpec::new("pid", "PID", Kind::Pid, "Only processes with this number and what they forked").repeated();
/// `--job`.
pub const JOB: OptionSpec = OptionSpec::text("job", "JOB", "Only this job, or its processes; may be given more than once").repeated();

/// Which processes are wanted, by number and by job.
pub struct Chosen {
    /// Numbers of processes, with what they forked.
    pub pids: Vec<i32>,
    /// Jobs.
    pub jobs: Vec<String>,
}

impl Chosen {
    /// Reads [`PID`] and [`JOB`].
    pub fn read(values: &Values) -> Self {
        Self { pids: values.pids(PID.name), jobs: values.texts(JOB.name) }
    }
}

/// The processes that are asked for; `None` for all.
pub fn chosen(request: &Request, dataset: &Dataset, processes: &Processes) -> Result<Option<Vec<bool>>> {
    let wanted = Chosen::read(&request.values);
    let mut chosen: Option<Vec<bool>> = None;
    let mut keep = |these: Vec<bool>| {
        chosen = Some(match chosen.take() {
            None => these,
            Some(known) => known.into_iter().zip(these).map(|(a, b)| a && b).collect(),
        });
    };
    if let Some(run) = &request.run {
        let (rules, filter) = (RowRules::default(), Filter::default());
        let owners = run_graph::attempts(&Tasks::new(dataset, &rules, &filter), run)?;
        let of_run: BTreeSet<u32> =
            (0..).zip(processes.owners.iter()).filter(|(_, name)| owners.contains(*name)).map(|(at, _)| at).collect();
        let these: Vec<bool> = processes.rows.iter().map(|row| row.owner != NONE && of_run.contains(&row.owner)).collect();
        ensure!(these.contains(&true), "no traced process belongs to a task of that run: is the dataset correlated (flowmine correlate)?");
        keep(these);
    }
    if !wanted.jobs.is_empty() {
        let (names, of) = process_groups::groups(dataset, processes, GroupBy::Job).context("the jobs of processes")?;
        let mut groups = BTreeSet::new();
        for job in &wanted.jobs {
            let found = names.find(job).with_context(|| format!("no traced process belongs to job {job:?}"))?;
            groups.insert(found);
        }
        keep(of.iter().map(|group| groups.contains(group)).collect());
    }
    for pid in &wanted.pids {
        ensure!(processes.rows.iter().any(|row| row.pid == *pid), "no process with the number {pid} was traced");
    }
    if !wanted.pids.is_empty() {
        keep(processes.below(|row| wanted.pids.contains(&row.pid)));
    }
    Ok(chosen)
}

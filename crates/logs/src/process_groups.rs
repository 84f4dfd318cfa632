//! Groups of the processes of a dataset: by activity, program, task, job or host.
//!
//! In go processes ([`crate::process_rows`]) with the tables `task_totals`, which says what tasks
//! are instances of, and `job_states`.

use flowmine_activity_log::{Interner, NONE, Names, Processes};
use flowmine_correlate::parts::{Parts, ROWS_AT_ONCE};
use flowmine_correlate::{CorrelateError, Timestamp};
use flowmine_dataset::Dataset;
use flowmine_privacy::RowRules;
use flowmine_schema::tables::TaskTotal;
use rustc_hash::FxHashMap;

flowmine_schema::columns! {
    /// What a task is an instance of, and its job.
    struct OwnerRow of TaskTotal { task, logical_task, job }
}

/// Attribute by which processes are grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupBy {
    /// What their task or job is an instance of; where a dataset has neither, their program.
    Activity,
    /// The program that the processes run.
    Program,
    /// The task to which they belong.
    Task,
    /// The job to which they belong.
    Job,
    /// The host on which they ran.
    Host,
}

impl GroupBy {
    /// What a group is, in a word: `activity`, `program`, `task`, `job`, `host`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Activity => "activity",
            Self::Program => "program",
            Self::Task => "task",
            Self::Job => "job",
            Self::Host => "host",
        }
    }
}

/// Known facts about a task or job to which processes belong.
#[derive(Debug, Clone, Default)]
struct Owner {
    activity: Option<String>,
    job: Option<String>,
    /// When a job was submitted or, where that is not known, first seen, in nanoseconds since 1970.
    since_ns: Option<i64>,
}

/// The prefix by which [`Processes::owners`] names jobs.
const JOB: &str = "job ";

fn owners(dataset: &Dataset) -> Result<FxHashMap<String, Owner>, CorrelateError> {
    let mut owners: FxHashMap<String, Owner> = FxHashMap::default();
    dataset.read::<OwnerRow<'static>, CorrelateError>(|row| {
        let Some(task) = &row.task else { return Ok(()) };
        let owner = owners.entry(task.to_string()).or_default();
        owner.activity = row.logical_task.as_deref().map(str::to_owned);
        owner.job = owner.job.take().or_else(|| row.job.as_deref().map(str::to_owned));
        Ok(())
    })?;
    let rules = RowRules::default();
    Parts::new(dataset, Timestamp::default(), &rules, ROWS_AT_ONCE)?.for_each(|jobs| {
        for attempt in &jobs.attempts {
            let job = jobs.text(attempt.job);
            let owner = owners.entry(format!("{JOB}{job}")).or_default();
            // The one that was submitted last is meant.
            if owner.since_ns.is_none_or(|since_ns| since_ns <= attempt.since_ns) {
                let activity = Some(jobs.text(attempt.activity).to_owned());
                *owner = Owner { activity, job: Some(job.to_owned()), since_ns: Some(attempt.since_ns) };
            }
        }
        Ok::<_, CorrelateError>(())
    })?;
    Ok(owners)
}

/// The groups of processes and the group of each.
///
/// # Errors
/// When the dataset cannot be read.
pub fn groups(dataset: &Dataset, processes: &Processes, by: GroupBy) -> Result<(Names, Vec<u32>), CorrelateError> {
    let mut names = Interner::default();
    let program = |row: u32| if row == NONE { "(program not known)" } else { processes.programs.get(row) };
    if by == GroupBy::Host {
        let of = processes.rows.iter().map(|row| names.intern(processes.hosts.get(row.host))).collect();
        return Ok((names.into_names(), of));
    }
    let any = processes.rows.iter().any(|row| row.owner != NONE);
    if by == GroupBy::Program || by == GroupBy::Activity && !any {
        let of = processes.rows.iter().map(|row| names.intern(program(row.program))).collect();
        return Ok((names.into_names(), of));
    }
    let known = owners(dataset)?;
    let of_owner: Vec<u32> = processes
        .owners
        .iter()
        .map(|name| {
            let owner = known.get(name);
            let job = || owner.and_then(|owner| owner.job.as_deref()).or_else(|| name.strip_prefix(JOB));
            match by {
                GroupBy::Activity => names.intern(owner.and_then(|owner| owner.activity.as_deref()).unwrap_or(name)),
                GroupBy::Job => names.intern(job().unwrap_or("(no job)")),
                _ => names.intern(name),
            }
        })
        .collect();
    let nothing = match by {
        GroupBy::Job => "(no job)",
        GroupBy::Task => "(no task)",
        _ => "(no task or job)",
    };
    let of = processes
        .rows
        .iter()
        .map(|row| match of_owner.get(row.owner as usize) {
            Some(&group) if row.owner != NONE => group,
            _ => names.intern(nothing),
        })
        .collect();
    Ok((names.into_names(), of))
}

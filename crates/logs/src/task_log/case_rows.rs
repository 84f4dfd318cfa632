//! Rows of the table `cases` for tasks, and for the jobs that these ran as.
//!
//! In go the tables `task_runs`, `links` and `cases`, of which the last has the rows of jobs; out come
//! rows in the order of tasks, then of jobs. A task that ran as a job is in the cases of that job. A
//! job is in the cases of the tasks that it was, where these agree. Memory grows with the tasks that
//! ran as jobs.

use std::collections::{BTreeMap, BTreeSet};

use flowmine_attribution::task_attempts;
use flowmine_correlate::jobs::attempt_name;
use flowmine_correlate::tasks_as_jobs::{RAN_AS, agreed, ran_as};
use flowmine_correlate::{CorrelateError, PutCase};
use flowmine_dataset::Dataset;
use flowmine_privacy::RowRules;
use flowmine_schema::tables::Case;
use rustc_hash::FxHashSet;

use super::notions::{self, TaskNotion, case_id};

/// A task, and its case by each notion.
type CasesOfJob = (String, Vec<Option<String>>);

/// Puts the rows of tasks, of the standard notions and of the one with the name `asked`. Returns the
/// number of cases of each notion of tasks.
///
/// # Errors
/// When the dataset or a temporary file cannot be read or written, or a row cannot be put.
pub fn put_rows(dataset: &Dataset, asked: Option<&str>, put: PutCase<'_>) -> Result<Vec<(&'static str, usize)>, CorrelateError> {
    let wanted = |notion: &&'static dyn TaskNotion| notion.is_standard() || asked == Some(notion.name());
    let notions: Vec<&'static dyn TaskNotion> = notions::ALL.iter().copied().filter(wanted).collect();
    let rules = RowRules::default();
    let ran = ran_as(dataset, &rules)?;
    let of_jobs = of_jobs(dataset, ran.values().flatten().collect())?;
    let mut found: Vec<FxHashSet<String>> = vec![FxHashSet::default(); notions.len()];
    // Of each job and notion the cases of its tasks, with the tasks.
    let mut of_tasks: BTreeMap<&str, Vec<CasesOfJob>> = BTreeMap::new();
    task_attempts::for_each::<CorrelateError>(dataset, &rules, |attempt| {
        let base = Case {
            task: Some(attempt.key.as_str().into()),
            submit_ns: attempt.row.submitted_ns,
            attempt: attempt.row.attempt,
            ..Case::default()
        };
        let own: Vec<Option<String>> = notions.iter().map(|notion| case_id(*notion, &attempt.row)).collect();
        for ((notion, id), found) in notions.iter().zip(&own).zip(&mut found) {
            let Some(id) = id else { continue };
            let name = notion.name();
            put(&Case {
                notion: name.into(),
                case_id: id.as_str().into(),
                reason: name.into(),
                strength: "declared".into(),
                ..base.clone()
            })?;
            if !found.contains(id) {
                found.insert(id.clone());
            }
        }
        let Some(jobs) = ran.get(&attempt.key) else { return Ok(()) };
        for row in in_cases_of(jobs, &of_jobs) {
            put(&Case { reason: RAN_AS.into(), evidence: Some(named(row).into()), task: base.task.clone(), ..taken(row, &base) })?;
        }
        for job in jobs {
            of_tasks.entry(job).or_default().push((attempt.key.clone(), own.clone()));
        }
        Ok(())
    })?;
    for (job, tasks) in &of_tasks {
        for (at, notion) in notions.iter().enumerate() {
            let Some(id) = agreed(tasks.iter().map(|(_, cases)| cases[at].as_deref())).flatten() else { continue };
            let names: Vec<&str> = tasks.iter().map(|(task, _)| task.as_str()).collect();
            for (_, row) in attempts(of_jobs.get(*job)) {
                put(&Case {
                    notion: notion.name().into(),
                    case_id: id.into(),
                    reason: RAN_AS.into(),
                    strength: "derived".into(),
                    evidence: Some(format!("task {}", names.join(" ")).into()),
                    confidence: None,
                    ..row.clone()
                })?;
            }
        }
    }
    Ok(notions.iter().zip(found).map(|(notion, found)| (notion.name(), found.len())).collect())
}

/// The rows of these jobs, by the name of their attempts.
fn of_jobs(dataset: &Dataset, jobs: BTreeSet<&String>) -> Result<BTreeMap<String, Vec<Case<'static>>>, CorrelateError> {
    let mut rows: BTreeMap<String, Vec<Case<'static>>> = BTreeMap::new();
    if jobs.is_empty() {
        return Ok(rows);
    }
    dataset.read::<Case<'static>, CorrelateError>(|row| {
        if let (Some(cluster), Some(job)) = (&row.cluster, &row.job) {
            let name = attempt_name(cluster, job, row.submit_ns);
            if jobs.contains(&name) {
                rows.entry(name).or_default().push(row.into_owned());
            }
        }
        Ok(())
    })?;
    Ok(rows)
}

/// Of each notion the case that all attempts at these jobs are in, as the row of one of them.
fn in_cases_of<'r>(jobs: &BTreeSet<String>, rows: &'r BTreeMap<String, Vec<Case<'static>>>) -> Vec<&'r Case<'static>> {
    let mut of_notions: BTreeMap<&str, Vec<&Case<'static>>> = BTreeMap::new();
    for row in jobs.iter().filter_map(|job| rows.get(job)).flatten() {
        of_notions.entry(&row.notion).or_default().push(row);
    }
    of_notions.into_values().filter(|rows| agreed(rows.iter().map(|row| &row.case_id)).is_some()).map(|rows| rows[0]).collect()
}

/// The attempts of one submission, by their number.
fn attempts<'r>(rows: Option<&'r Vec<Case<'static>>>) -> BTreeMap<Option<i64>, &'r Case<'static>> {
    rows.into_iter().flatten().map(|row| (row.attempt, row)).collect()
}

/// The row of a task in the case of a job, with what is known of the task.
fn taken<'r>(row: &Case<'r>, task: &Case<'r>) -> Case<'r> {
    // What follows from a declaration by way of what was observed is derived.
    let strength = if row.strength == "declared" { "derived".into() } else { row.strength.clone() };
    Case { notion: row.notion.clone(), case_id: row.case_id.clone(), strength, confidence: row.confidence, ..task.clone() }
}

fn named(row: &Case<'_>) -> String {
    format!("job {} of {}", row.job.as_deref().unwrap_or_default(), row.cluster.as_deref().unwrap_or_default())
}

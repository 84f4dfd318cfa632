//! Which tasks of workflow engines ran as which jobs, and the cases of these tasks.
//!
//! In go the tables `links` and `task_runs`; out come the jobs that tasks ran as, by the name of
//! their attempts ([`attempt_name`]). Memory grows with these.

use std::collections::{BTreeMap, BTreeSet};

use flowmine_attribution::task_attempts;
use flowmine_dataset::Dataset;
use flowmine_schema::tables::Link;
use rustc_hash::FxHashMap;

use crate::CorrelateError;
use crate::cases::CaseNotion;
use crate::jobs::attempt_name;
use crate::row_rules::RowRules;

/// Relation of a task to the job that it was.
pub const RAN_AS: &str = "ran-as";

/// Returns the jobs that each task ran as: by the task (`task_io.task`) the names of attempts.
///
/// # Errors
/// When the dataset cannot be read.
pub fn ran_as(dataset: &Dataset, rules: &RowRules) -> Result<BTreeMap<String, BTreeSet<String>>, CorrelateError> {
    let mut ran: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    dataset.read::<Link<'static>, CorrelateError>(|row| {
        let row = rules.apply(row);
        if row.relation == RAN_AS && row.source_type == "task" && row.target_type == "job" {
            let job = attempt_name(&row.target_scope, &row.target, row.target_ns);
            ran.entry(row.source.to_string()).or_default().insert(job);
        }
        Ok(())
    })?;
    Ok(ran)
}

/// What of all that `values` say is the same; `None` where they differ or there are none.
pub fn agreed<T: PartialEq>(mut values: impl Iterator<Item = T>) -> Option<T> {
    let first = values.next()?;
    values.all(|value| value == first).then_some(first)
}

/// A task, and its case by each notion.
type TaskCases = (String, Vec<Option<String>>);

/// The tasks that ran as jobs, with their cases.
#[derive(Debug, Clone, Default)]
pub struct TasksAsJobs {
    /// The notions of tasks.
    notions: Vec<&'static str>,
    /// By the name of a job's attempt its tasks, and of each notion the case that all of them have.
    of_job: FxHashMap<String, TaskCases>,
}

impl TasksAsJobs {
    /// Reads the cases of these notions of tasks; nothing where none is one.
    ///
    /// # Errors
    /// When the dataset or a temporary file cannot be read or written.
    pub fn read(dataset: &Dataset, rules: &RowRules, notions: &[&dyn CaseNotion]) -> Result<Self, CorrelateError> {
        let notions: Vec<&dyn CaseNotion> = notions.iter().copied().filter(|notion| notion.is_of_tasks()).collect();
        if notions.is_empty() {
            return Ok(Self::default());
        }
        let ran = ran_as(dataset, rules)?;
        let mut cases: BTreeMap<String, Vec<TaskCases>> = BTreeMap::new();
        task_attempts::for_each::<CorrelateError>(dataset, rules, |attempt| {
            for job in ran.get(&attempt.key).into_iter().flatten() {
                let of_notions = notions.iter().map(|notion| notion.case_of_task(&attempt.row)).collect();
                cases.entry(job.clone()).or_default().push((attempt.key.clone(), of_notions));
            }
            Ok(())
        })?;
        let of_job = cases.into_iter().map(|(job, tasks)| {
            let of_notions = (0..notions.len()).map(|at| agreed(tasks.iter().map(|(_, cases)| cases[at].clone())).flatten()).collect();
            let names: Vec<String> = tasks.into_iter().map(|(task, _)| task).collect();
            (job, (names.join(" "), of_notions))
        });
        Ok(Self { of_job: of_job.collect(), notions: notions.iter().map(|notion| notion.name()).collect() })
    }

    /// The case of the task that an attempt at a job was, and that task. `None` for a job of no task,
    /// or of tasks in several cases.
    pub fn case(&self, notion: &str, attempt: &str) -> Option<(&str, &str)> {
        let at = self.notions.iter().position(|known| *known == notion)?;
        let (task, cases) = self.of_job.get(attempt)?;
        Some((cases[at].as_deref()?, task))
    }
}

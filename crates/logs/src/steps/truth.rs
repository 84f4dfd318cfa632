//! The logical tasks that engines declare, for the attempts at tasks and at the jobs that these were.

use flowmine_attribution::task_attempts;
use flowmine_correlate::RowRules;
use flowmine_correlate::jobs::attempt_name;
use flowmine_dataset::Dataset;
use flowmine_schema::tables::Link;
use rustc_hash::FxHashMap;

use super::declared;
use crate::task_log::TaskLogError;

/// The attempts of which a logical task is known, with its name. A job has that of the task that it
/// was; a job of several logical tasks is left out.
///
/// # Errors
/// When the dataset or a temporary file cannot be read or written.
pub fn logical_tasks(dataset: &Dataset, rules: &RowRules) -> Result<Vec<(String, String)>, TaskLogError> {
    let mut tasks: Vec<(String, String)> = Vec::new();
    task_attempts::for_each::<TaskLogError>(dataset, rules, |attempt| {
        tasks.extend(declared(&attempt.row).map(|logical| (attempt.key.clone(), logical.to_owned())));
        Ok(())
    })?;
    let of_task: FxHashMap<&str, &str> = tasks.iter().map(|(key, logical)| (key.as_str(), logical.as_str())).collect();
    let mut jobs: std::collections::BTreeMap<String, Option<String>> = std::collections::BTreeMap::new();
    dataset.read::<Link<'static>, TaskLogError>(|row| {
        let is_job = row.relation == "ran-as" && row.source_type == "task" && row.target_type == "job";
        if let Some(logical) = of_task.get(&*row.source).filter(|_| is_job) {
            let job = attempt_name(&row.target_scope, &row.target, row.target_ns);
            let known = jobs.entry(job).or_insert_with(|| Some((*logical).to_owned()));
            if known.as_deref() != Some(*logical) {
                *known = None;
            }
        }
        Ok(())
    })?;
    tasks.extend(jobs.into_iter().filter_map(|(job, logical)| Some((job, logical?))));
    Ok(tasks)
}

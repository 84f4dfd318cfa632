//! What single jobs and tasks waited for.

use std::collections::BTreeSet;
use std::path::PathBuf;

use flowmine_correlate::{Timestamp, cases};
use flowmine_dataset::Dataset;
use flowmine_discover::pictures;

use crate::error::{Result, ensure};
use crate::groups::EventFilter;
use crate::sink::Sink;
use crate::{job_waits, jobs, task_waits};

/// The jobs that are asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// The dataset.
    pub dataset: PathBuf,
    /// Names of jobs as squeue prints them; 8 also stands for all tasks of the array 8. Of what is no
    /// job: names of tasks, as their engine gives them.
    pub jobs: Vec<String>,
    /// The only cluster.
    pub cluster: Option<String>,
}

/// Returns a text for each attempt at the jobs, and for each task: the parts of its time, with their causes.
///
/// # Errors
/// When the dataset cannot be read, or lacks one of the jobs.
pub fn why(options: &Options, sink: &dyn Sink) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let mut unknown: Vec<&str> = options.jobs.iter().map(String::as_str).collect();
    let (dataset, filter) = (Dataset::open(&options.dataset)?, EventFilter::default());
    let has_tasks = options.cluster.is_none() && task_waits::has_any(&dataset)?;
    if jobs::has_any(&dataset)? || !has_tasks {
        job_waits::for_each(&dataset, &cases::Dependency, &filter, Timestamp::default(), sink, |job| {
            let asked = options.jobs.iter().find(|asked| is_asked(asked, job.job));
            if let Some(asked) = asked.filter(|_| options.cluster.as_deref().is_none_or(|cluster| cluster == job.cluster)) {
                unknown.retain(|known| known != asked);
                found.push(pictures::why::text(job));
            }
        })?;
    }
    if has_tasks && !unknown.is_empty() {
        let mut known: BTreeSet<String> = BTreeSet::new();
        task_waits::for_each(&dataset, &filter, sink, |task| {
            if unknown.contains(&task.job) {
                known.insert(task.job.to_owned());
                found.push(pictures::why::text(task));
            }
        })?;
        unknown.retain(|name| !known.contains(*name));
    }
    let unknown = unknown.join(", ");
    let tasks = if has_tasks {
        "no such job or task in the dataset; name a task as its engine does, and a"
    } else {
        "no such job in the dataset; name a"
    };
    ensure!(unknown.is_empty(), "{unknown}: {tasks} job as squeue and sacct print it (7, 8_3, 18+1)");
    Ok(found)
}

/// Whether a job is the one that was typed, or a task or component of it.
fn is_asked(asked: &str, job: &str) -> bool {
    job.strip_prefix(asked).is_some_and(|rest| rest.is_empty() || rest.starts_with(['_', '+']))
}

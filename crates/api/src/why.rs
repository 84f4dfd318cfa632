//! What single jobs waited for.

use std::path::PathBuf;

use flowmine_correlate::{Timestamp, cases};
use flowmine_dataset::Dataset;
use flowmine_discover::pictures;

use crate::error::{Result, ensure};
use crate::groups::EventFilter;
use crate::job_waits;
use crate::sink::Sink;

/// The jobs that are asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// The dataset.
    pub dataset: PathBuf,
    /// Names of jobs as squeue prints them; 8 also stands for all tasks of the array 8.
    pub jobs: Vec<String>,
    /// The only cluster.
    pub cluster: Option<String>,
}

/// Returns a text for each attempt at the jobs: the parts of its time, with their causes.
///
/// # Errors
/// When the dataset cannot be read, or lacks one of the jobs.
pub fn why(options: &Options, sink: &dyn Sink) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let mut unknown: Vec<&str> = options.jobs.iter().map(String::as_str).collect();
    let (dataset, filter) = (Dataset::open(&options.dataset)?, EventFilter::default());
    job_waits::for_each(&dataset, cases::ALL[0], &filter, Timestamp::default(), sink, |job| {
        let asked = options.jobs.iter().find(|asked| is_asked(asked, job.job));
        if let Some(asked) = asked.filter(|_| options.cluster.as_deref().is_none_or(|cluster| cluster == job.cluster)) {
            unknown.retain(|known| known != asked);
            found.push(pictures::why::text(job));
        }
    })?;
    let unknown = unknown.join(", ");
    ensure!(unknown.is_empty(), "{unknown}: no such job in the dataset; name it as squeue and sacct print it (7, 8_3, 18+1)");
    Ok(found)
}

/// Whether a job is the one that was typed, or a task or component of it.
fn is_asked(asked: &str, job: &str) -> bool {
    job.strip_prefix(asked).is_some_and(|rest| rest.is_empty() || rest.starts_with(['_', '+']))
}

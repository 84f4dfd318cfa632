//! Jobs of imagined users, with their true runs.

use std::path::{Path, PathBuf};

pub use flowmine_generate::Options;
use flowmine_generate::{generate, squeue};
use flowmine_schema::time::{SECOND_NS, rfc3339};

use crate::error::{Context, Result};
use crate::output;

/// Name of the file of true runs.
const TRUTH: &str = "truth.csv";

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generated {
    /// The jobs, as squeue prints them.
    pub jobs: PathBuf,
    /// A table with the columns job, run and step.
    pub truth: PathBuf,
    /// Number of jobs.
    pub count: usize,
}

/// Writes the jobs of imagined users into a directory, and beside it the run of each.
///
/// # Errors
/// When the files cannot be written.
pub fn write(options: &Options, dir: &Path) -> Result<Generated> {
    let jobs = generate(options);
    let mut made = output::made_in(dir)?;
    let polled = rfc3339(squeue::polled_s(&jobs) * SECOND_NS).replace(['-', ':'], "");
    // A poll's file is named by when the call began and ended.
    let name = format!("squeue-{polled}-{polled}.txt");
    made.claim([name.clone(), TRUTH.to_owned()]).with_context(|| dir.display().to_string())?;
    let (poll, truth) = (dir.join(name), dir.join(TRUTH));
    output::write(Some(&poll), |out| Ok(squeue::write(&jobs, out)?))?;
    output::write(Some(&truth), |out| {
        writeln!(out, "job,run,step")?;
        for job in &jobs {
            writeln!(out, "{},{},{}", job.id, job.run, job.step)?;
        }
        Ok(())
    })?;
    made.finish().with_context(|| dir.display().to_string())?;
    Ok(Generated { jobs: poll, truth, count: jobs.len() })
}

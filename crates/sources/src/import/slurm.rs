//! Files of squeue, sacct and SLURMminer.

use std::path::PathBuf;

use flowmine_dataset::Dataset;
use flowmine_extract_slurm::import_files::{FileReport, Options, import_files};

use super::{Imported, Input, already_and_errors, counted};
use crate::SourceError;

/// Imports files of Slurm and those in directories. `progress` gets how many of how many are done.
///
/// # Errors
/// When the cluster is not clear, or the dataset cannot be written.
pub fn slurm(
    dataset: &Dataset,
    paths: &[PathBuf],
    options: &Options,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Imported, SourceError> {
    let reports = import_files(dataset, paths, options, progress)?;
    let is_read = |report: &&FileReport| report.kind.is_some() && report.diagnostics.errors() == 0 && !report.already_there;
    let taken: Vec<&FileReport> = reports.iter().filter(|report| report.records > 0 || is_read(report)).collect();
    let records = taken.iter().map(|report| report.records).sum::<usize>();
    let changes = taken.iter().map(|report| report.changes).sum::<usize>();
    let already = reports.iter().filter(|report| report.already_there).count();
    let errors: u64 = reports.iter().map(|report| report.diagnostics.errors()).sum();
    let summary = format!(
        "{} with {} imported, {} of job_states written{}",
        counted(taken.len(), "file", "files"),
        counted(records, "record", "records"),
        counted(changes, "row", "rows"),
        already_and_errors(already, errors),
    );
    let is_empty = taken.is_empty() && already == 0;
    let inputs = reports.into_iter().map(|report| Input {
        name: report.path.display().to_string(),
        kind: report.kind.map(|kind| kind.name()),
        diagnostics: report.diagnostics,
    });
    Ok(Imported { inputs: inputs.collect(), summary, errors, is_empty })
}

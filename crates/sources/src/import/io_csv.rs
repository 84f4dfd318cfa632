//! I/O traces of the published monitoring tools.

use std::fs;
use std::path::PathBuf;

use flowmine_dataset::Dataset;
use flowmine_io_csv::read;

use super::{Imported, Input, already_and_errors, counted, in_path};
use crate::SourceError;

/// Checks that paths are directories, as the traces of a host are.
///
/// # Errors
/// When one is not, or does not exist.
pub fn are_directories(dirs: &[PathBuf]) -> Result<(), SourceError> {
    for dir in dirs {
        if !fs::metadata(dir).map_err(in_path(dir))?.is_dir() {
            let what = "it is no directory".to_owned();
            let advice = "give the directory in which file-bpf.csv and cgroups.csv lie; its name is the host's".to_owned();
            return Err(SourceError::NotRead { path: dir.clone(), what, advice });
        }
    }
    Ok(())
}

/// Imports the traces in directories and below them. `progress` gets how many of how many are done.
///
/// # Errors
/// When a file cannot be read, or the dataset cannot be written.
pub fn io_csv(dataset: &Dataset, dirs: &[PathBuf], progress: &mut dyn FnMut(usize, usize)) -> Result<Imported, SourceError> {
    let reports = read::import(dataset, dirs, progress)?;
    let already = reports.iter().filter(|report| report.already_there).count();
    let errors: u64 = reports.iter().map(|report| report.diagnostics.errors()).sum();
    let rows: u64 = reports.iter().map(|report| report.rows).sum();
    let files = reports.iter().filter(|report| report.rows > 0).count();
    let summary = format!(
        "{} with {} imported{}",
        counted(files, "file", "files"),
        counted(rows, "line", "lines"),
        already_and_errors(already, errors),
    );
    let inputs =
        reports.into_iter().map(|report| Input { name: report.path.display().to_string(), kind: None, diagnostics: report.diagnostics });
    Ok(Imported { inputs: inputs.collect(), summary, errors, is_empty: files == 0 && already == 0 && errors > 0 })
}

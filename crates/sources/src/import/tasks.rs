//! Records of workflow engines.

use std::path::PathBuf;

use flowmine_dataset::Dataset;
use flowmine_extract_workflow::import_files::{ImportFilesError, Report, import_files};
use flowmine_extract_workflow::{Engine, Options};
use tempfile::TempDir;

use super::{Imported, Input, and_errors, counted, exist, in_path};
use crate::SourceError;

/// Paths of an engine's records; data that has an address is fetched into files.
#[derive(Debug)]
pub struct Fetched {
    paths: Vec<PathBuf>,
    dir: TempDir,
}

impl Fetched {
    /// Fetches what has an address, and checks that the other paths exist.
    ///
    /// # Errors
    /// When a path does not exist, or data cannot be fetched.
    pub fn new(engine: &dyn Engine, given: &[PathBuf]) -> Result<Self, SourceError> {
        let dir = tempfile::tempdir().map_err(in_path(&std::env::temp_dir()))?;
        let mut paths = Vec::new();
        for path in given {
            paths.push(match engine.fetch(path, dir.path()) {
                Some(file) => file.map_err(SourceError::Fetch)?,
                None => path.clone(),
            });
        }
        exist(&paths)?;
        Ok(Self { paths, dir })
    }
}

/// Imports what an engine recorded.
///
/// # Errors
/// When the dataset cannot be written.
pub fn tasks(dataset: &Dataset, engine: &dyn Engine, fetched: &Fetched, options: &Options) -> Result<Imported, SourceError> {
    let report = import_files(dataset, engine, &fetched.paths, options).map_err(|ImportFilesError::Dataset(error)| error)?;
    let files = report.sources.iter().filter(|source| !source.kind.is_empty()).count();
    let (summary, errors) = (summary(&report, files), report.errors());
    let inputs = report.sources.into_iter().map(|source| Input {
        // What was fetched lies in a directory that is soon gone.
        name: source.path.strip_prefix(fetched.dir.path()).unwrap_or(&source.path).display().to_string(),
        kind: Some(source.kind).filter(|kind| !kind.is_empty()),
        diagnostics: source.diagnostics,
    });
    Ok(Imported { inputs: inputs.collect(), summary, errors, is_empty: files == 0 && report.already_there == 0 })
}

fn summary(report: &Report, files: usize) -> String {
    let statuses: Vec<_> = report.statuses.iter().map(|(status, count)| format!("{count} {status}")).collect();
    let (already, passed_over) = (report.already_there, report.passed_over);
    let mut text = format!("{} imported, {} of task_runs written", counted(files, "file", "files"), counted(report.rows(), "row", "rows"));
    if !statuses.is_empty() {
        text.push_str(&format!(" ({})", statuses.join(", ")));
    }
    if report.grown > 0 {
        let have = if report.grown == 1 { "has" } else { "have" };
        text.push_str(&format!("; {} had been imported before and {have} grown, the rows now replace the earlier ones", report.grown));
    }
    if already > 0 {
        let were = if already == 1 { "was" } else { "were" };
        text.push_str(&format!("; {already} had been imported before and {were} skipped"));
    }
    if passed_over > 0 {
        let are = if passed_over == 1 { "is a link" } else { "are links" };
        text.push_str(&format!("; {} in the directories {are} or not of this engine", counted(passed_over, "file", "files")));
    }
    if !report.folders_not_read.is_empty() {
        text.push_str(&folders(&report.folders_not_read));
    }
    text + &and_errors(report.errors())
}

/// Number of folders that are named.
const SHOWN: usize = 10;

/// Which folders of the directories were not read.
fn folders(not_read: &[PathBuf]) -> String {
    let mut names: Vec<String> = not_read.iter().take(SHOWN).map(|path| path.display().to_string()).collect();
    if not_read.len() > SHOWN {
        names.push(format!("and {} more", not_read.len() - SHOWN));
    }
    let were = if not_read.len() == 1 { "folder was" } else { "folders were" };
    format!("; {} {were} not read, name them to import what lies there: {}", not_read.len(), names.join(", "))
}

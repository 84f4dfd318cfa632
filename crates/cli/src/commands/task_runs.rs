//! `flowmine import nextflow` and the other workflow engines.

use std::path::PathBuf;

use anyhow::Context;
use flowmine_extract_workflow::import_files::import_files;
use flowmine_extract_workflow::{Engine, Options};

use super::datasets::dataset_to_write;
use crate::args::ImportTasks;
use crate::messages::{self, counted};
use crate::outcome::Outcome;
use crate::progress::Stage;

/// How many files with warnings or errors are shown.
const SHOWN: usize = 10;

/// Imports what an engine recorded.
pub fn import(engine: &dyn Engine, args: &ImportTasks) -> anyhow::Result<Outcome> {
    let fetched = tempfile::tempdir().context("a temporary directory")?;
    let mut paths = Vec::new();
    for path in &args.paths {
        let path = match engine.fetch(path, fetched.path()) {
            Some(file) => file.map_err(anyhow::Error::msg)?,
            None => path.clone(),
        };
        std::fs::metadata(&path).with_context(|| path.display().to_string())?;
        paths.push(path);
    }
    let dataset = dataset_to_write(&args.dataset, &args.kept)?;
    let options = Options { zone_offset_s: args.zone, year: args.year };
    let stage = Stage::new("importing");
    let report = import_files(&dataset, engine, &paths, &options)?;
    drop(stage);
    let odd: Vec<_> = report.sources.iter().filter(|source| !source.diagnostics.is_empty()).collect();
    for source in odd.iter().take(SHOWN) {
        // What was fetched lies in a directory that is soon gone.
        let path = source.path.strip_prefix(fetched.path()).unwrap_or(&source.path);
        messages::diagnostics(&path.display().to_string(), &source.diagnostics, messages::Kept::InDataset);
    }
    if odd.len() > SHOWN {
        let more = odd.len() - SHOWN;
        messages::note(&format!("and {more} more files with warnings or errors; all stand in the table `diagnostics` of the dataset"));
    }
    let (already, passed_over, errors) = (report.already_there, report.passed_over, report.errors());
    let files = report.sources.iter().filter(|source| !source.kind.is_empty()).count();
    let statuses: Vec<_> = report.statuses.iter().map(|(status, count)| format!("{count} {status}")).collect();
    messages::note(&format!(
        "{} imported, {} of task_runs written{}{}{}{}{}{}",
        counted(files, "file", "files"),
        counted(report.rows(), "row", "rows"),
        if statuses.is_empty() { String::new() } else { format!(" ({})", statuses.join(", ")) },
        if report.grown > 0 {
            let have = if report.grown == 1 { "has" } else { "have" };
            format!("; {} had been imported before and {have} grown, the rows now replace the earlier ones", report.grown)
        } else {
            String::new()
        },
        if already > 0 {
            format!("; {already} had been imported before and {} skipped", if already == 1 { "was" } else { "were" })
        } else {
            String::new()
        },
        if passed_over > 0 {
            format!(
                "; {} in the directories {} or not of this engine",
                counted(passed_over, "file", "files"),
                if passed_over == 1 { "is a link" } else { "are links" }
            )
        } else {
            String::new()
        },
        folders(&report.folders_not_read),
        if errors > 0 { format!("; {}, see above and the table `diagnostics`", counted(errors, "error", "errors")) } else { String::new() },
    ));
    anyhow::ensure!(files > 0 || already > 0, "nothing could be imported");
    Ok(if errors > 0 { Outcome::WithLosses } else { Outcome::Clean })
}

/// Which folders of the directories were not read.
fn folders(not_read: &[PathBuf]) -> String {
    if not_read.is_empty() {
        return String::new();
    }
    let mut names: Vec<String> = not_read.iter().take(SHOWN).map(|path| path.display().to_string()).collect();
    if not_read.len() > SHOWN {
        names.push(format!("and {} more", not_read.len() - SHOWN));
    }
    let were = if not_read.len() == 1 { "folder was" } else { "folders were" };
    format!("; {} {were} not read, name them to import what lies there: {}", not_read.len(), names.join(", "))
}

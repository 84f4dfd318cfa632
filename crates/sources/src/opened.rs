//! Sources as a dataset or as log files.

use std::path::{Path, PathBuf};

use flowmine_correlate::parts::{Parts, ROWS_AT_ONCE};
use flowmine_correlate::{RowRules, Timestamp, cases};
use flowmine_dataset::{Access, Dataset};
use flowmine_extract_slurm::import_files::{Options as SlurmOptions, UNNAMED};
use flowmine_extract_workflow::Options as TaskOptions;
use flowmine_schema::diagnostic::{Diagnostics, Severity};
use flowmine_schema::text::visible;
use tempfile::TempDir;

use crate::import::{self, Fetched, Input};
use crate::kinds::KINDS;
use crate::plan::{Plan, Shape};
use crate::{Reading, SourceError};

/// What sources became.
#[derive(Debug)]
pub enum Data {
    /// A dataset that was given.
    Dataset(PathBuf),
    /// A dataset that was made, and is removed with this.
    Temporary(TempDir),
    /// Log files or tables, which are one log.
    Logs(Vec<PathBuf>),
}

/// Opened sources.
#[derive(Debug)]
pub struct Opened {
    /// The data.
    pub data: Data,
    /// Defaults that were used, a sentence each.
    pub notes: Vec<String>,
    /// Inputs of which something was wrong.
    pub odd: Vec<Input>,
    /// Whether something was lost or rejected, which the exit code reports.
    pub is_lossy: bool,
}

impl Opened {
    /// Directory of the dataset, where there is one.
    pub fn dataset(&self) -> Option<&Path> {
        match &self.data {
            Data::Dataset(dir) => Some(dir),
            Data::Temporary(dir) => Some(dir.path()),
            Data::Logs(_) => None,
        }
    }
}

/// What [`open`] reports while it works. `()` ignores it.
pub trait Sink {
    /// The directory of a temporary dataset, before anything is written into it.
    fn directory(&mut self, dir: &Path) {
        let _ = dir;
    }

    /// Number of inputs that are imported, and of all.
    fn progress(&mut self, done: usize, total: usize) {
        let _ = (done, total);
    }
}

impl Sink for () {}

/// Carries a plan out.
///
/// # Errors
/// When nothing can be imported, or the temporary dataset cannot be written. It is then removed.
pub fn open(plan: &Plan, sink: &mut dyn Sink) -> Result<Opened, SourceError> {
    let as_given = |data| Ok(Opened { data, notes: Vec::new(), odd: Vec::new(), is_lossy: false });
    match plan.shape() {
        Some(Shape::Dataset) => as_given(Data::Dataset(plan.sources()[0].read.clone())),
        Some(Shape::Logs) => as_given(Data::Logs(plan.sources().iter().map(|source| source.read.clone()).collect())),
        Some(Shape::Imports) => imported(plan, sink),
        None => as_given(Data::Logs(Vec::new())),
    }
}

fn imported(plan: &Plan, sink: &mut dyn Sink) -> Result<Opened, SourceError> {
    let made = tempfile::Builder::new().prefix("flowmine-").tempdir();
    let dir = made.map_err(|source| SourceError::Io { path: std::env::temp_dir(), source })?;
    sink.directory(dir.path());
    let mut progress = |done, total| sink.progress(done, total);
    let dataset = Dataset::open_or_create_with(dir.path(), Access::Private, false)?;
    let mut odd = Vec::new();
    let (mut errors, mut is_empty) = (0, true);
    for kind in KINDS {
        let paths = plan.paths_of(kind);
        if paths.is_empty() {
            continue;
        }
        let imported = match kind.reading {
            Reading::Slurm => import::slurm(&dataset, &paths, &SlurmOptions::default(), &mut progress)?,
            Reading::IoCsv => import::io_csv(&dataset, &paths, &mut progress)?,
            Reading::Tasks(engine) => import::tasks(&dataset, engine, &Fetched::new(engine, &paths)?, &TaskOptions::default())?,
            Reading::Dataset | Reading::Log | Reading::NotRead => continue,
        };
        errors += imported.errors;
        is_empty &= imported.is_empty;
        odd.extend(imported.inputs.into_iter().filter(|input| !input.diagnostics.is_empty()));
    }
    if is_empty {
        return Err(SourceError::Nothing(why(plan, &odd)));
    }
    let mut notes = Vec::new();
    if dataset.manifest()?.clusters.contains(UNNAMED) {
        notes.push(format!("no file names the cluster; it is called {UNNAMED}"));
    }
    odd.extend(correlate(&dataset)?);
    Ok(Opened { is_lossy: errors > 0 || odd.iter().any(|input| input.diagnostics.errors() > 0), odd, notes, data: Data::Temporary(dir) })
}

/// The first error of the inputs in words.
fn why(plan: &Plan, odd: &[Input]) -> String {
    let all = odd.iter().flat_map(|input| input.diagnostics.iter().map(move |found| (&input.name, found)));
    let error = all.filter(|(_, found)| found.severity == Severity::Error).map(|(name, found)| {
        let place = found.line.map(|line| format!(":{line}")).unwrap_or_default();
        let advice = found.advice.map(|advice| format!(" ({advice})")).unwrap_or_default();
        format!("{}{place}: {}{advice}", visible(name), found.message)
    });
    let seen = || plan.sources().iter().map(|source| source.note()).collect::<Vec<_>>().join("; ");
    error.into_iter().next().unwrap_or_else(|| format!("{}: there is nothing to import", seen()))
}

fn correlate(dataset: &Dataset) -> Result<Vec<Input>, SourceError> {
    let rules = RowRules::default();
    let parts = Parts::new(dataset, Timestamp::default(), &rules, ROWS_AT_ONCE)?;
    let done = flowmine_correlate::correlate(dataset, &parts, cases::ALL, None)?;
    let input = |name: &str, diagnostics: Diagnostics| Input { name: name.to_owned(), kind: None, diagnostics };
    let all = [input("dataset", done.diagnostics), input("correlate", done.attributed.diagnostics)];
    Ok(all.into_iter().filter(|input| !input.diagnostics.is_empty()).collect())
}

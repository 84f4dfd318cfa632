//! Task records of workflow engines: their files in, rows of the table `task_runs` out.
//!
//! | engine | reads | module |
//! |---|---|---|
//! | Nextflow | `.nextflow.log`, reports, `trace.txt`, `.nextflow/history`, work directories, graphs of processes | [`nextflow`] |
//! | Makeflow | `.makeflowlog`, workflows in JSON, summaries of the resource monitor | [`makeflow`] |
//! | Snakemake | its logs, `.snakemake/metadata`, benchmark files, logs of its jobs on Slurm | [`snakemake`] |
//! | Kubernetes | pods and events as JSON: lists, watch streams | [`kubernetes`] |
//! | Argo | workflows as JSON | [`argo`] |
//! | Airflow | task logs, scheduler logs, metadata databases | [`airflow`] |
//! | `flowmine transform` | the records of the tasks that it wrapped | [`transform`] |
//! | WfFormat | instances of WfCommons, into which runs of many engines are converted | [`wfformat`] |
//!
//! [`import_files`] writes them to a dataset. An engine is a module with an [`Engine`];
//! `docs/engines.md` describes how to add one.
//!
//! Files that have grown are read again, unchanged files are skipped. A problem in a file or a line
//! is not an error of the call, but is recorded in the [`import_files::Report`] and in the table
//! `diagnostics`.
//!
//! ```
//! use flowmine_extract_workflow::makeflow::Makeflow;
//! use flowmine_extract_workflow::{Options, import_files::import_files};
//! use flowmine_dataset::Dataset;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let dir = tempfile::tempdir()?;
//! let log = dir.path().join("sort.makeflow.makeflowlog");
//! // A task's command; then by time in microseconds that task 0 began to run (1) and ended (2).
//! let lines = concat!(
//!     "# STARTED 1700000000000000\n",
//!     "# NODE\t0\tsort a > b\n",
//!     "1700000001000000 0 1 42 0 1 0 0 0 1\n",
//!     "1700000004000000 0 2 42 0 0 1 0 0 1\n",
//!     "# COMPLETED 1700000004000001\n",
//! );
//! std::fs::write(&log, lines)?;
//! let dataset = Dataset::open_or_create(&dir.path().join("dataset"))?;
//!
//! let report = import_files(&dataset, &Makeflow, &[log], &Options::default())?;
//! assert_eq!((report.rows(), report.errors()), (1, 0));
//! assert_eq!(report.statuses.get("completed"), Some(&1));
//! # Ok(())
//! # }
//! ```

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod airflow;
pub mod argo;
pub mod commands;
mod engine_names;
pub mod import_files;
mod input;
mod json;
pub mod kubernetes;
pub mod makeflow;
pub mod nextflow;
pub mod ro_crate;
pub mod snakemake;
pub mod taskvine;
pub mod transform;
mod units;
pub mod wfformat;

use std::path::{Path, PathBuf};

use flowmine_schema::diagnostic::{Diagnostic, Diagnostics};
use flowmine_schema::tables::TaskRun;

/// A row that owns its text.
pub type Row = TaskRun<'static>;

/// Settings of the user for facts that the files do not contain.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Offset of times without zone, in seconds east of UTC, where the files do not contain it.
    pub zone_offset_s: Option<i64>,
    /// The year in which a log without years begins, where the log does not contain it.
    pub year: Option<i32>,
}

/// A file, or a directory that an engine reads as one source (a task's work directory).
#[derive(Debug)]
pub struct Source {
    /// Path of the file or directory.
    pub path: PathBuf,
    /// Name as in the column `source`: without folders; for a work directory with its parent
    /// folder.
    pub name: String,
    /// Kind of the file, also for messages. Empty when the file was refused as a whole
    /// ([`Source::refuse`]).
    pub kind: &'static str,
    /// SHA-256 of its bytes, in hexadecimal, as in the column `source_sha256`; empty when it is not
    /// known.
    pub sha256: String,
    /// Number of rows that this source was the first to describe.
    pub rows: u64,
    /// Number of rows of other sources to which it added, where the engine's module counts them.
    pub joined: u64,
    /// Problems found in it.
    pub diagnostics: Diagnostics,
}

impl Source {
    /// Records in a row that this source was the first to describe it.
    pub fn sign(&self, row: &mut Row) {
        row.source = self.name.clone().into();
        row.source_sha256 = Some(self.sha256.clone()).filter(|sha256| !sha256.is_empty()).map(Into::into);
    }

    /// Records that nothing of it could be used.
    pub fn refuse(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
        self.kind = "";
    }
}

/// Returns the plain files of a directory with names that begin with a dot.
fn hidden_files(dir: &Path) -> std::io::Result<Vec<PathBuf>> {
    let is_hidden = |entry: &input::Entry| entry.is_file() && entry.name.as_encoded_bytes().starts_with(b".");
    Ok(input::entries(dir)?.into_iter().filter(is_hidden).map(|entry| entry.path).collect())
}

/// Interface of an engine's module.
pub trait Engine: Sync {
    /// Name of the engine, as in the column `engine`.
    fn name(&self) -> &'static str;

    /// Returns the files at or below a directory that may be the engine's, in any order;
    /// [`Engine::recognise`] then inspects each. Links are not followed but returned, so that they
    /// are counted among the files that are passed over.
    ///
    /// # Errors
    /// When the directory cannot be read.
    fn find(&self, dir: &Path) -> std::io::Result<Vec<PathBuf>>;

    /// Returns the kind of a file from its first bytes (64 KiB, uncompressed), or that of a
    /// directory from its contents; `None` when the engine does not read it.
    fn recognise(&self, path: &Path, head: &[u8]) -> Option<&'static str>;

    /// For a file that the engine writes but that is not read, returns a message for the user with
    /// the file to give instead.
    fn not_read(&self, _head: &[u8]) -> Option<&'static str> {
        None
    }

    /// Returns the files that make up a directory that is read as one source: those of the engine,
    /// not those of the task.
    ///
    /// # Errors
    /// When the directory cannot be read.
    fn parts(&self, dir: &Path) -> std::io::Result<Vec<PathBuf>> {
        hidden_files(dir)
    }

    /// Returns a companion file that changes in place of this one; its bytes count when earlier
    /// imports are recognised.
    fn beside(&self, _path: &Path) -> Option<PathBuf> {
        None
    }

    /// Whether a path is the address of data that is not in a file; [`Engine::fetch`] retrieves it.
    fn is_address(&self, _path: &Path) -> bool {
        false
    }

    /// Writes the data at an address to a file in `dir`, which is then a source as any other.
    /// `None` when the path is no address. An error is a message for the user.
    fn fetch(&self, _address: &Path, _dir: &Path) -> Option<Result<PathBuf, String>> {
        None
    }

    /// Reads all sources and merges their rows for the same attempt. The order of `sources` does
    /// not matter.
    fn read(&self, sources: &mut [Source], options: &Options) -> Vec<Row>;
}

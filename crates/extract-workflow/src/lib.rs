//! What workflow engines say about their tasks: their files in, rows of the table `task_runs` out.
//!
//! | engine | reads | module |
//! |---|---|---|
//! | Nextflow | `.nextflow.log`, reports, `trace.txt`, `.nextflow/history`, work directories, graphs of processes | [`nextflow`] |
//! | Makeflow | `.makeflowlog`, workflows in JSON, summaries of the resource monitor | [`makeflow`] |
//! | Snakemake | its logs, `.snakemake/metadata`, benchmark files, logs of its jobs on Slurm | [`snakemake`] |
//! | Kubernetes | pods and events as JSON: lists, watch streams | [`kubernetes`] |
//! | Argo | workflows as JSON | [`argo`] |
//! | Airflow | task logs, scheduler logs, metadata databases | [`airflow`] |
//! | `flowmine transform` | the records of tasks that it wrapped | [`transform`] |
//! | WfFormat | instances of WfCommons, which many engines' runs are turned into | [`wfformat`] |
//!
//! [`import_files`] puts them into a dataset. An engine is a module with an [`Engine`];
//! `docs/engines.md` says how to add one.
//!
//! Files that grew since are read again, those that did not are skipped. What is wrong with a file
//! or a line of it is no error, but stands in the [`import_files::Report`] and in the table
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

/// What is known beside the files.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// How far east of UTC times without zone are, in seconds, where the files do not say.
    pub zone_offset_s: Option<i64>,
    /// The year in which a log without years begins, where it does not say.
    pub year: Option<i32>,
}

/// A file, or a directory that an engine reads as one thing (a task's work directory).
#[derive(Debug)]
pub struct Source {
    /// Path of the file or directory.
    pub path: PathBuf,
    /// As in the column `source`: without folders, but for a work directory with the one above it.
    pub name: String,
    /// What it was recognised as, for messages too. Empty when it was refused as a whole, which
    /// [`Source::refuse`] says.
    pub kind: &'static str,
    /// SHA-256 of its bytes, in hexadecimal, as in the column `source_sha256`; empty when it is not
    /// known.
    pub sha256: String,
    /// Rows that it was the first to describe.
    pub rows: u64,
    /// Rows that another described first and to which it added, where the engine's module counts
    /// them.
    pub joined: u64,
    /// What was wrong with it.
    pub diagnostics: Diagnostics,
}

impl Source {
    /// Says of a row that this source was the first to describe it.
    pub fn sign(&self, row: &mut Row) {
        row.source = self.name.clone().into();
        row.source_sha256 = Some(self.sha256.clone()).filter(|sha256| !sha256.is_empty()).map(Into::into);
    }

    /// Says that nothing of it could be used.
    pub fn refuse(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
        self.kind = "";
    }
}

/// What an engine's module offers.
pub trait Engine: Sync {
    /// Name of the engine, as in the column `engine`.
    fn name(&self) -> &'static str;

    /// What may be the engine's at or below a directory, in any order; [`Engine::recognise`] then
    /// looks at each. Links are not followed but given as what they are, so that they are counted
    /// among what is passed over.
    ///
    /// # Errors
    /// When the directory cannot be read.
    fn find(&self, dir: &Path) -> std::io::Result<Vec<PathBuf>>;

    /// What a file is, by its first bytes (64 KiB, unpacked), or a directory, by what lies in it;
    /// `None` when the engine does not read it.
    fn recognise(&self, path: &Path, head: &[u8]) -> Option<&'static str>;

    /// What a file is that the engine writes and that is not read, and what to give in its place; a
    /// sentence for people.
    fn not_read(&self, _head: &[u8]) -> Option<&'static str> {
        None
    }

    /// The files that make up a directory that is read as one thing: those of the engine, not what
    /// the task made.
    ///
    /// # Errors
    /// When the directory cannot be read.
    fn parts(&self, dir: &Path) -> std::io::Result<Vec<PathBuf>> {
        let files = std::fs::read_dir(dir)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
        let is_hidden = |path: &PathBuf| path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        Ok(files.into_iter().filter(|path| is_hidden(path) && path.is_file() && !path.is_symlink()).collect())
    }

    /// A file that belongs to this one and changes in its stead; it counts when what was imported
    /// before is recognised.
    fn beside(&self, _path: &Path) -> Option<PathBuf> {
        None
    }

    /// Whether a path is the address of data that is not a file, which [`Engine::fetch`] gets.
    fn is_address(&self, _path: &Path) -> bool {
        false
    }

    /// Where the engine's data is not a file but has an address: writes it into a file in `dir`,
    /// which is then a source as any other. `None` when the path is no address. An error is a
    /// sentence for people.
    fn fetch(&self, _address: &Path, _dir: &Path) -> Option<Result<PathBuf, String>> {
        None
    }

    /// Reads all sources and joins what they say of the same attempt. The order of `sources` does
    /// not matter.
    fn read(&self, sources: &mut [Source], options: &Options) -> Vec<Row>;
}

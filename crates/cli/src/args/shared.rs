//! Arguments that several commands take.

use std::path::{Path, PathBuf};

use clap::Args;
use flowmine_api::SourcePaths;
use flowmine_api::target::{Access, Target};

/// Readers of written files.
#[derive(Debug, Args)]
pub struct Kept {
    /// Make the dataset for its owner alone (modes 0700 and 0600, whatever the umask); such a
    /// dataset stays so without this option.
    #[arg(long)]
    pub private: bool,
    /// Owner of written files.
    #[command(flatten)]
    pub written: AsOwner,
}

impl Kept {
    /// The dataset for the library.
    pub fn target(&self, dir: &Path) -> Target {
        let access = if self.private { Access::Private } else { Access::Umask };
        Target { dir: dir.to_owned(), access, as_owner: self.written.as_owner }
    }
}

/// Owner of a written dataset.
#[derive(Debug, Clone, Copy, Args)]
pub struct AsOwner {
    /// For root: write into a dataset of another user, as that user. Without it root refuses,
    /// because the owner of a directory can place links in the way of a writer.
    #[arg(long)]
    pub as_owner: bool,
}

/// Where a log comes from.
#[derive(Debug, Args, Clone)]
#[group(required = true, multiple = true)]
pub struct SourceArgs {
    /// Sources: a dataset, logs, tables, recordings of Slurm, traces, runs of workflow engines.
    ///
    /// They are recognised by their content: a dataset, log files (XES, OCEL), tables (CSV,
    /// Parquet), recordings of squeue or sacct, I/O traces, files and directories of workflow
    /// engines. Several are read together.
    #[arg(value_name = "PATH", conflicts_with = "dataset")]
    pub paths: Vec<PathBuf>,
    /// The dataset.
    #[arg(long, value_name = "DIR")]
    pub dataset: Option<PathBuf>,
    /// A log file; with --dataset the name of a log that was imported into it.
    ///
    /// XES, OCEL. `discover` also takes tables (CSV, Parquet), `-` for standard input, and
    /// several files (--log A --log B) as one log, such as those of `export --part`.
    #[arg(long, value_name = "FILE")]
    pub log: Vec<PathBuf>,
}

impl SourceArgs {
    /// The dataset, logs and paths for the library.
    pub fn paths(&self) -> SourcePaths {
        SourcePaths { dataset: self.dataset.clone(), logs: self.log.clone(), given: self.paths.clone() }
    }
}

/// The dataset of a command that reads only datasets.
#[derive(Debug, Args, Clone)]
#[group(required = true, multiple = false)]
pub struct DatasetArgs {
    /// A dataset, or sources of one, recognised by their content: recordings of squeue or sacct,
    /// I/O traces, files and directories of workflow engines.
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// The dataset.
    #[arg(long, value_name = "DIR")]
    pub dataset: Option<PathBuf>,
}

impl DatasetArgs {
    /// Directory of the dataset. Paths are recognised before a command runs.
    ///
    /// # Errors
    /// When there is none.
    pub fn dir(&self) -> anyhow::Result<&Path> {
        self.dataset.as_deref().ok_or_else(|| anyhow::anyhow!("there is no dataset: give PATH or --dataset DIR"))
    }
}

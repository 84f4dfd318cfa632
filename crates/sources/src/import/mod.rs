//! Imports into a dataset, with what they report.

mod io_csv;
mod slurm;
mod tasks;

use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};

use flowmine_schema::diagnostic::Diagnostics;

use crate::SourceError;

pub use io_csv::{are_directories, io_csv};
pub use slurm::slurm;
pub use tasks::{Fetched, tasks};

/// An input of an import.
#[derive(Debug)]
pub struct Input {
    /// Its name in messages.
    pub name: String,
    /// What it was recognised as.
    pub kind: Option<&'static str>,
    /// What was wrong with it.
    pub diagnostics: Diagnostics,
}

/// What an import brought.
#[derive(Debug)]
pub struct Imported {
    /// The inputs.
    pub inputs: Vec<Input>,
    /// What was imported, in one line for people.
    pub summary: String,
    /// Number of inputs and lines that were rejected.
    pub errors: u64,
    /// Whether nothing could be imported, and nothing had been imported before.
    pub is_empty: bool,
}

/// A count with its word: `1 file`, `2 files`.
pub fn counted<N: Display + From<u8> + PartialEq>(n: N, one: &str, many: &str) -> String {
    let word = if n == N::from(1) { one } else { many };
    format!("{n} {word}")
}

/// The end of a summary: inputs that were there already, and errors.
fn already_and_errors(already: usize, errors: u64) -> String {
    let skipped =
        if already > 0 { format!("; {} had been imported before and skipped", counted(already, "file", "files")) } else { String::new() };
    skipped + &and_errors(errors)
}

fn and_errors(errors: u64) -> String {
    if errors == 0 {
        return String::new();
    }
    format!("; {}, see above and the table `diagnostics`", counted(errors, "error", "errors"))
}

/// Checks that paths exist, before a dataset is made for them.
///
/// # Errors
/// When one does not.
pub fn exist(paths: &[PathBuf]) -> Result<(), SourceError> {
    paths.iter().try_for_each(|path| fs::metadata(path).map(drop).map_err(in_path(path)))
}

fn in_path(path: &Path) -> impl FnOnce(std::io::Error) -> SourceError {
    let path = path.to_owned();
    move |source| SourceError::Io { path, source }
}

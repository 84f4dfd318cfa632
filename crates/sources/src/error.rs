//! Errors of recognition and import.

use std::io;
use std::path::PathBuf;

use flowmine_correlate::CorrelateError;
use flowmine_dataset::DatasetError;
use flowmine_extract_slurm::import_files::ImportFilesError;
use flowmine_io_csv::IoCsvError;
use flowmine_schema::text::visible;

/// Why sources could not be recognised or opened.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// A path cannot be read.
    #[error("{}: {source}", .path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A path is a FIFO, a socket or a device.
    #[error("{}: it is neither a file nor a directory, and is not opened; standard input is given as -", .0.display())]
    Special(PathBuf),
    /// A file is empty.
    #[error("{}: the file is empty", .0.display())]
    Empty(PathBuf),
    /// Several kinds fit.
    #[error("{}: several kinds fit: {}; {advice}", .path.display(), .kinds.join(", "))]
    Ambiguous {
        /// The path.
        path: PathBuf,
        /// The kinds with their evidence.
        kinds: Vec<String>,
        /// How to say which is meant.
        advice: String,
    },
    /// No kind fits a file.
    #[error("{}: flowmine does not recognise it; {seen}; tried: {}", .path.display(), crate::kinds::list())]
    Unrecognised {
        /// The path.
        path: PathBuf,
        /// What was seen of it.
        seen: String,
    },
    /// A file is known, and not read.
    #[error("{}: {what}: {advice}", .path.display())]
    NotRead {
        /// The path.
        path: PathBuf,
        /// What it is.
        what: String,
        /// Why it is not read, or what to give instead.
        advice: String,
    },
    /// Sources that do not go together.
    #[error("{first} and {second} cannot be read together: {why}")]
    Together {
        /// One of them, with its kind.
        first: String,
        /// The other.
        second: String,
        /// What goes together, and what to do.
        why: &'static str,
    },
    /// Nothing of the recognised sources could be read.
    #[error("nothing could be read: {}", visible(.0))]
    Nothing(String),
    /// Data that has an address could not be fetched.
    #[error("{}", visible(.0))]
    Fetch(String),
    /// Files of Slurm could not be imported.
    #[error("{0}")]
    Slurm(#[from] ImportFilesError),
    /// I/O traces could not be imported.
    #[error("{0}")]
    IoCsv(#[from] IoCsvError),
    /// The dataset could not be written or read.
    #[error("{0}")]
    Dataset(#[from] DatasetError),
    /// The dataset could not be correlated.
    #[error("{0}")]
    Correlate(#[from] CorrelateError),
}

//! Why a log could not be read or written.

use std::io;

/// Why a log could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// An error of the operating system while a file is read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// An error that SQLite gives.
    #[error("SQLite: {0}")]
    Sqlite(#[from] rusqlite::Error),
    /// An error of the side that gives the records.
    #[error(transparent)]
    Source(Box<dyn std::error::Error + Send + Sync>),
    /// A file that is not what it should be; nothing more of it can be used.
    #[error("line {line}, column {column}: {message}")]
    Refused {
        /// Line in the file, from 1.
        line: u64,
        /// Column in the line, in bytes, from 1.
        column: u64,
        /// What is wrong, and what to do about it.
        message: String,
    },
    /// A file without lines that is not what it should be.
    #[error("{place}: {message}")]
    RefusedAt {
        /// The table and row, or the path within the document.
        place: String,
        /// What is wrong, and what to do about it.
        message: String,
    },
    /// What we wrote ourselves a moment ago reads otherwise now.
    #[error("a temporary file was changed or damaged while it was in use")]
    Damaged,
    /// A thread that reads or formats records panicked; why is on standard error.
    #[error("a worker thread stopped unexpectedly")]
    Worker,
}

impl LogError {
    /// Wraps an error of the side that gives records.
    pub fn source(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self::Source(Box::new(error))
    }
}

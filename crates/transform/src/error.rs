//! Errors and their places.

use std::fmt;
use std::path::PathBuf;

use flowmine_text::visible;

/// A place in a file of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Place {
    /// Line, from 1; 0 outside of any file.
    pub line: u32,
    /// Column in the line, in characters, from 1.
    pub column: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// An error in a text, before the name of its file is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Its place in the text.
    pub at: Place,
    /// The error and its remedy.
    pub message: String,
}

impl Fault {
    /// A fault with its place.
    pub fn new(at: Place, message: impl Into<String>) -> Self {
        Self { at, message: message.into() }
    }

    /// The fault with the name of the file in which it is.
    pub fn in_file(self, file: &str) -> Error {
        Error::Text { file: file.to_owned(), at: self.at, message: self.message }
    }
}

/// Why a workflow is not transformed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A fault in a workflow or in a transformation.
    #[error("{}:{at}: {}", visible(file), visible(message))]
    Text {
        /// The file as the user named it.
        file: String,
        /// Place of the error in the file.
        at: Place,
        /// The error and its remedy.
        message: String,
    },
    /// A transformation does not go with a task.
    #[error("{}:{at}: {} cannot be applied to {}: {}", visible(file), visible(layer), visible(task), visible(message))]
    Application {
        /// The file of the transformation.
        file: String,
        /// Place of the error in that file.
        at: Place,
        /// Name of the transformation.
        layer: String,
        /// The task, by its name and where it stands.
        task: String,
        /// The error and its remedy.
        message: String,
    },
    /// Tasks of one workflow do not go together.
    #[error("{}:{at}: {}", visible(file), visible(message))]
    Collision {
        /// The file of the workflow, as the user named it.
        file: String,
        /// Place of the task at which the collision was found.
        at: Place,
        /// The collision and its remedy.
        message: String,
    },
    /// A file could not be read or written.
    #[error("{}: {source}", visible(&path.display().to_string()))]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// Why it could not be read or written.
        source: std::io::Error,
    },
}

/// Result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

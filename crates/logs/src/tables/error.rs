//! Why a table cannot be read as a log.

use flowmine_activity_log::TooLarge;
use flowmine_dataset::foreign_parquet::ForeignError;

/// Why a table could not be read.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// An error of the operating system.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// An error of the Parquet file.
    #[error(transparent)]
    Parquet(#[from] ForeignError),
    /// There is more than can be counted.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
    /// A column that a log needs is not there.
    #[error(
        "no column is the {what}: name one with {option} (most tables need --case-column, --activity-column and --timestamp-column). \
         The columns are {columns}"
    )]
    NoColumn {
        /// What no column is: `case`, `activity` and the like.
        what: &'static str,
        /// The option that names it.
        option: &'static str,
        /// The columns of the file.
        columns: String,
    },
    /// No line names the columns, and one that a log needs is not named by an option.
    #[error(
        "the first line has values and no names of columns, so that no column is the {what}. Name the columns by their numbers, \
         as in --case-column 1 --activity-column 2 --timestamp-column 3 (or --header yes): {columns}"
    )]
    NoHeader {
        /// What no column is: `case`, `activity` and the like.
        what: &'static str,
        /// The columns by number, with their first values.
        columns: String,
    },
    /// A column was asked for that is not there.
    #[error("there is no column {column:?} (requested as the {what}). The columns are {columns}")]
    NoSuchColumn {
        /// What the column was to be, in words.
        what: &'static str,
        /// The name that was asked for.
        column: String,
        /// The columns of the file.
        columns: String,
    },
    /// What else is wrong with it.
    #[error("{0}")]
    Refused(String),
    /// An error with the file in which it is.
    #[error("{file}: {error}")]
    In {
        /// The file, as it is named to the user.
        file: String,
        /// What is wrong with the file.
        #[source]
        error: Box<TableError>,
    },
}

impl TableError {
    /// The same error, said of this file.
    pub(super) fn of(self, file: &str) -> Self {
        Self::In { file: file.to_owned(), error: Box::new(self) }
    }
}

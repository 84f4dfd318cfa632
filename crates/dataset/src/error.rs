//! Why a dataset could not be read or written.

use std::io;
use std::path::{Path, PathBuf};

use flowmine_files::FileError;

use crate::format::FORMAT_VERSION;
use crate::parquet_error::ParquetError;

/// Why a dataset could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum DatasetError {
    /// There is no dataset at this place.
    #[error("{} is not a flowmine dataset (it has no flowmine.json): give --dataset the directory that `flowmine observe` or `flowmine import` wrote", .0.display())]
    NotADataset(PathBuf),
    /// It is a file, or the directory holds other things.
    #[error("{} is not an empty directory and not a flowmine dataset: choose another directory for --dataset", .0.display())]
    NotEmpty(PathBuf),
    /// A newer flowmine wrote the dataset, in a format that this one does not know.
    #[error("{}: format version {found} is newer than {FORMAT_VERSION}, the newest that this flowmine reads: use a newer flowmine", .path.display())]
    Version {
        /// Path of the manifest, `flowmine.json`.
        path: PathBuf,
        /// The format version that the manifest has.
        found: u32,
    },
    /// An older flowmine derived a table, and its rows have a different meaning now.
    #[error("{}: the table {table} was derived by an older flowmine (format version {found}; this one reads {FORMAT_VERSION}): derive it again with `flowmine correlate --dataset {}`", .path.display(), .path.display())]
    Older {
        /// Directory of the dataset.
        path: PathBuf,
        /// The table's name.
        table: &'static str,
        /// The version that its manifest says.
        found: u32,
    },
    /// Another writer of the same rows holds the lock.
    #[error("{}: another flowmine is writing here ({holder}): stop it first, or use another dataset", .path.display())]
    Locked {
        /// Directory of the dataset.
        path: PathBuf,
        /// What it wrote about itself into the lock file.
        holder: String,
    },
    /// The operating system refused to read or write a file.
    #[error("{}: {source}", .path.display())]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// A JSON file of the dataset is damaged.
    #[error("{}: line {}, column {}: {source}", .path.display(), .source.line(), .source.column())]
    Json {
        /// Path of the JSON file.
        path: PathBuf,
        /// The JSON parser's error, with line and column.
        source: serde_json::Error,
    },
    /// Something lies where flowmine's own files should be, and following it would lead out of the
    /// dataset.
    #[error("{}: {why}: the dataset was tampered with; inspect this file, and remove it if it is not yours", .path.display())]
    Foreign {
        /// Path of the existing file or folder.
        path: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A symbolic link of another user leads to the dataset that was to be written.
    #[error("{}: {source}", .path.display())]
    Led {
        /// Path of the dataset.
        path: PathBuf,
        /// The link, its owner, and where it leads.
        source: FileError,
    },
    /// Root would write where another user rules, who could put anything in its way.
    #[error("{}: it belongs to the user with id {owner}, and you are root: write as that user (`--as-owner`, or `sudo -u \\#{owner} …`), or use a dataset of your own", .path.display())]
    OfAnother {
        /// Directory of the dataset.
        path: PathBuf,
        /// Its owner's user id.
        owner: u32,
    },
    /// A Parquet file is damaged or was written by something else.
    #[error("{}: {source}", .path.display())]
    Parquet {
        /// Path of the Parquet file.
        path: PathBuf,
        /// The Parquet reader's error.
        source: ParquetError,
    },
}

pub(crate) fn io_error(path: &Path) -> impl FnOnce(io::Error) -> DatasetError {
    move |source| DatasetError::Io { path: path.to_owned(), source }
}

pub(crate) fn file_error(path: &Path) -> impl FnOnce(FileError) -> DatasetError {
    move |error| match error {
        FileError::Io(source) => DatasetError::Io { path: path.to_owned(), source },
        FileError::Foreign(why) => DatasetError::Foreign { path: path.to_owned(), why },
        other @ (FileError::NotMade(_) | FileError::Changed(_)) => DatasetError::Io { path: path.to_owned(), source: other.into() },
        source @ FileError::Led(_) => DatasetError::Led { path: path.to_owned(), source },
    }
}

pub(crate) fn parquet_error(path: &Path) -> impl FnOnce(ParquetError) -> DatasetError {
    move |error| match error {
        ParquetError::Io(source) => DatasetError::Io { path: path.to_owned(), source },
        source => DatasetError::Parquet { path: path.to_owned(), source },
    }
}

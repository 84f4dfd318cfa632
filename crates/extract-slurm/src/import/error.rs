//! Why a file cannot be imported.

use flowmine_schema::diagnostic::{Diagnostic, Diagnostics, Severity};

use super::kind::FileKind;

/// Why a file could not be imported.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// The file holds nothing but blanks.
    #[error("the file is empty")]
    Empty,
    /// The file is compressed or archived; it is not unpacked here.
    #[error("the file is packed with {with}: unpack it first ({unpack})")]
    Packed {
        /// Name of the format or program that packed it, for the message.
        with: &'static str,
        /// The command that undoes it.
        unpack: &'static str,
    },
    /// The file is text in UTF-16.
    #[error("the file is UTF-16 text: convert it first (iconv -f UTF-16 -t UTF-8)")]
    Utf16,
    /// The file is none of the kinds of [`FileKind`].
    #[error("line {line} is {seen:?}, which is the beginning of none of: {}", kinds())]
    Unrecognised {
        /// Number of the line, counted from 1.
        line: u64,
        /// The beginning of that line, made visible.
        seen: String,
    },
    /// The header does not fit the kind.
    #[error("line {line}, column {column}: not {}: {why}", kind.name())]
    Header {
        /// The kind that was tried.
        kind: FileKind,
        /// Number of the header's line, counted from 1.
        line: u64,
        /// Column of the fault, in bytes, from 1.
        column: u64,
        /// What is wrong and what to do.
        why: String,
    },
    /// Not JSON, or cut before the first job.
    #[error("line {line}, column {column}: not {}: {why}", kind.name())]
    Json {
        /// The kind that was tried.
        kind: FileKind,
        /// Number of the line, counted from 1.
        line: u64,
        /// Column of the fault, in bytes, from 1.
        column: u64,
        /// The JSON parser's message.
        why: String,
    },
    /// Several polls one after the other.
    #[error(
        "line {line} begins a second poll: one file must hold one poll, because a job is in each of them; split the file there and import the \
             parts, each with its time"
    )]
    SeveralPolls {
        /// Number of the line with which the second poll begins, counted from 1.
        line: u64,
    },
    /// One queue of several clusters.
    #[error("the jobs are of several clusters ({clusters}), whose ids may be the same: import one file a cluster (`squeue -M NAME`)")]
    SeveralClusters {
        /// Names of the clusters.
        clusters: String,
    },
    /// More than can be held.
    #[error(
        "there are more than {MOST_RECORDS} jobs in the file: split it and import its parts (sacct can be asked with --starttime and --endtime)"
    )]
    TooMany,
    /// Every row of the file was rejected.
    #[error("not one of the {rejected} rows can be read as {}{}: {why}", kind.name(), place(*line))]
    NothingUsable {
        /// The kind that was tried.
        kind: FileKind,
        /// Number of rejected rows.
        rejected: u64,
        /// Line of the first rejected row, where it is known.
        line: Option<u64>,
        /// Why the first was rejected.
        why: String,
    },
}

impl ImportError {
    /// What is said of the file.
    pub fn diagnostic(&self) -> Diagnostic {
        let message = self.to_string();
        match self {
            Self::Empty => Diagnostic::error("file_empty", message),
            Self::Packed { .. } => Diagnostic::error("file_packed", message),
            Self::Utf16 => Diagnostic::error("encoding_not_read", message),
            Self::Unrecognised { .. } => Diagnostic::error("file_not_recognised", message),
            Self::Header { line, column, .. } => Diagnostic::error("header_bad", message).at(*line, Some(*column)),
            Self::Json { line, column, .. } => Diagnostic::error("json_bad", message).at(*line, Some(*column)),
            Self::SeveralPolls { line } => Diagnostic::error("several_polls", message).at(*line, None),
            Self::SeveralClusters { .. } => Diagnostic::error("several_clusters", message),
            Self::TooMany => Diagnostic::error("file_too_large", message),
            Self::NothingUsable { line, .. } => {
                let diagnostic = Diagnostic::error("nothing_usable", message);
                line.map_or(diagnostic.clone(), |line| diagnostic.at(line, None))
            }
        }
    }
}

/// The most jobs that a file may describe. All of a file's are in memory, each with less than a
/// kilobyte, while Slurm can hold some hundred thousand at once and a month of accounting is some
/// million.
pub const MOST_RECORDS: usize = 4_000_000;

fn kinds() -> String {
    let names: Vec<&str> = FileKind::ALL.iter().map(|kind| kind.name()).collect();
    format!("{} (text needs its header line)", names.join(", "))
}

fn place(line: Option<u64>) -> String {
    line.map(|line| format!(", the first in line {line}")).unwrap_or_default()
}

/// Ends an import: an error when rows were rejected and none was read.
pub(super) fn usable(kind: FileKind, read: usize, rejected: u64, diagnostics: &Diagnostics) -> Result<(), ImportError> {
    if read > 0 || rejected == 0 {
        return Ok(());
    }
    let first = diagnostics.iter().find(|d| d.severity == Severity::Error);
    Err(ImportError::NothingUsable {
        kind,
        rejected,
        line: first.and_then(|d| d.line),
        why: first.map(|d| d.message.clone()).unwrap_or_default(),
    })
}

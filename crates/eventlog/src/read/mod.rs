//! Log files of others in, records out.
//!
//! A file is taken for hostile: nothing of it is believed before it is read, no text, nesting or number of types can be so large that
//! memory fills, entities are not expanded, and an error says where. What can be kept is kept, and a [`Finding`] says what was odd.

pub mod ocel_sqlite;

use crate::error::LogError;
use crate::log::{CaseHeader, Types};
use crate::record::Record;

/// How large the parts of a file may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one text: a value, a key, an id.
    pub text_bytes: usize,
    /// Bytes of one event, object or head of a trace, with all that is in it.
    pub record_bytes: usize,
    /// How deep elements, lists and attributes of attributes may be nested.
    pub depth: usize,
    /// How many event types, object types, attributes of one type, extensions, globals and classifiers there may be, each.
    pub definitions: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { text_bytes: 16 << 20, record_bytes: 64 << 20, depth: 64, definitions: 100_000 }
    }
}

/// The formats of log files that can be read and checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// XES, plain or gz.
    Xes,
    /// OCEL 2.0 JSON, plain or gz.
    OcelJson,
    /// OCEL 2.0 XML, plain or gz.
    OcelXml,
    /// OCEL 2.0 SQLite.
    OcelSqlite,
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Allowed, and worth knowing.
    Note,
    /// Read otherwise than written, or against the standard in a way that readers forgive.
    Warning,
    /// Against the standard.
    Error,
}

/// Something that is odd about a file, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// A word for the kind: `duplicate_object_id`.
    pub rule: &'static str,
    /// From 1; unknown where the format has no lines.
    pub line: Option<u64>,
    /// In bytes, from 1.
    pub column: Option<u64>,
    /// The id, the path within the document, or the table and row; empty when line and column say it.
    pub place: String,
    /// What is wrong, and what to do about it.
    pub message: String,
}

/// Takes what a reader finds, in the order of the file.
pub trait Sink {
    /// The types of an OCEL file. They can come after the records (JSON knows no order), and in two parts.
    ///
    /// # Errors
    /// Whatever ends the reading.
    fn types(&mut self, types: Types) -> Result<(), LogError>;

    /// What an XES file says outside of its traces; comes once, when the file has been read to its end.
    ///
    /// # Errors
    /// Whatever ends the reading.
    fn header(&mut self, header: CaseHeader) -> Result<(), LogError>;

    /// A record: from OCEL objects and events in the order of the file, from XES traces with their events.
    ///
    /// # Errors
    /// Whatever ends the reading.
    fn record(&mut self, record: &Record<'_>) -> Result<(), LogError>;

    /// Something odd; the reading goes on.
    fn finding(&mut self, finding: Finding);
}

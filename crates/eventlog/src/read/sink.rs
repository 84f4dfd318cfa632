//! What takes the content of a log file.

use crate::error::LogError;
use crate::log::{CaseHeader, Types};
use crate::read::finding::Finding;
use crate::record::Record;

/// Takes what a reader finds, in the order of the file.
pub trait Sink {
    /// The types of an OCEL file. They can come after the records (JSON knows no order), and in two
    /// parts.
    ///
    /// # Errors
    /// Whatever ends the reading.
    fn types(&mut self, types: Types) -> Result<(), LogError>;

    /// Takes the contents of an XES file outside of its traces; called once, at the end of the
    /// file.
    ///
    /// # Errors
    /// Whatever ends the reading.
    fn header(&mut self, header: CaseHeader) -> Result<(), LogError>;

    /// A record: from OCEL objects and events in the order of the file, from XES traces with their
    /// events.
    ///
    /// # Errors
    /// Whatever ends the reading.
    fn record(&mut self, record: &Record<'_>) -> Result<(), LogError>;

    /// Something odd; the reading goes on.
    fn finding(&mut self, finding: Finding);
}

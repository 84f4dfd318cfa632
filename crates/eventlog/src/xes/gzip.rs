//! XES as gz: a log of cases in, the bytes of [`super::write`] in one gzip member out.

use std::io::Write;

use crate::error::LogError;
use crate::log::{CaseLog, Counts};

/// Writes a log as `.xes.gz`. The caller flushes `out`.
///
/// # Errors
/// Those of the log and of `out`.
pub fn write(log: &dyn CaseLog, out: &mut dyn Write) -> Result<Counts, LogError> {
    crate::gzip::write(out, |plain| super::write(log, plain))
}

//! XES as gz: a log of cases in, the bytes of [`super::write_with`] in one gzip member out.

use std::io::Write;

use super::Options;
use crate::error::LogError;
use crate::log::{CaseLog, Counts};

/// Writes a log as `.xes.gz` with nothing cut. The caller flushes `out`.
///
/// # Errors
/// Those of the log and of `out`.
pub fn write(log: &dyn CaseLog, out: &mut dyn Write) -> Result<Counts, LogError> {
    write_with(log, Options::default(), out)
}

/// Writes a log as `.xes.gz` with these options. The caller flushes `out`.
///
/// # Errors
/// Those of the log and of `out`.
pub fn write_with(log: &dyn CaseLog, options: Options, out: &mut dyn Write) -> Result<Counts, LogError> {
    crate::gzip::write(out, |plain| super::write_with(log, options, plain))
}

//! OCEL 2.0 SQLite in, records out.

use std::path::Path;

use crate::error::LogError;
use crate::read::{Limits, Sink};

/// To be written.
///
/// # Errors
/// Always.
pub fn read(_path: &Path, _limits: &Limits, _sink: &mut dyn Sink) -> Result<(), LogError> {
    Err(LogError::RefusedAt { place: "database".into(), message: "not yet read".into() })
}

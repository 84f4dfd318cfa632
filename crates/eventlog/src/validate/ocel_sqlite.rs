//! To be written.

use std::path::Path;

use crate::error::LogError;
use crate::read::Finding;

/// To be written.
///
/// # Errors
/// From SQLite.
pub fn check(path: &Path, found: &mut dyn FnMut(Finding)) -> Result<(), LogError> {
    let _ = (path, found);
    Ok(())
}

//! The case notion of jobs where a request names none.

use flowmine_correlate::cases::{Auto, CaseNotion};

use crate::error::{Context, Result};
use crate::jobs;

/// Environment variable with the name of a case notion that replaces `auto`.
pub const VARIABLE: &str = "FLOWMINE_CASE_NOTION";

/// The notion that the environment names, else [`Auto`].
///
/// # Errors
/// When the environment names none that there is.
pub fn usual() -> Result<&'static dyn CaseNotion> {
    match std::env::var_os(VARIABLE) {
        Some(name) if !name.is_empty() => jobs::notion(&name.to_string_lossy()).context(VARIABLE),
        _ => Ok(&Auto),
    }
}

/// The notion of a request.
///
/// # Errors
/// When there is none of that name.
pub fn chosen(name: Option<&str>) -> Result<&'static dyn CaseNotion> {
    name.map_or_else(usual, jobs::notion)
}

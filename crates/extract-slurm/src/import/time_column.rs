//! The column of SLURMminer that says when.

/// The column that only this tool has.
pub const TIME_COLUMN: &str = "CURRENT_TIMESTAMP";

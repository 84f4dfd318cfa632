//! Pictures of what tasks did to files.

pub mod file_span;
pub mod file_timeline;

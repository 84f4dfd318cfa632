//! Figures of the accesses of tasks to files.

pub mod file_span;
pub mod file_timeline;

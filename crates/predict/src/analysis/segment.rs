//! What limits a process, and for how long.

use crate::functions::Poly;

/// What keeps the progress of a process from being faster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// The process has not started.
    NotStarted,
    /// A data input, by its number.
    Data(usize),
    /// A resource of the process, by its number.
    Resource(usize),
    /// The process has finished.
    Finished,
}

/// A time in which one thing limits a process and its progress is one polynomial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Segment {
    /// When the segment begins, in seconds.
    pub from: f64,
    /// Until when, in seconds; infinite for one that never finishes.
    pub to: f64,
    /// Progress, of the seconds since `from`.
    pub progress: Poly,
    /// What limits the process in this time.
    pub limit: Limit,
}

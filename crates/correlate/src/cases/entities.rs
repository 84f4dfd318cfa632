//! What a case notion looks at.

use crate::jobs::Jobs;
use crate::overview::{self, Overview};

/// Jobs, and what is known of them beyond what Slurm reports. Notions that look at more than this
/// have it added here.
#[derive(Debug, Clone, Copy)]
pub struct Entities<'a> {
    /// All jobs of a dataset, or those of one of its parts ([`crate::parts`]).
    pub jobs: &'a Jobs,
    /// What is known of all jobs, those of other parts included.
    pub overview: &'a Overview,
}

impl<'a> Entities<'a> {
    /// Jobs of which nothing more is known: for notions that need no data flow and no grouping
    /// ([`super::CaseNotion::needs_data_flow`], [`super::CaseNotion::grouping`]).
    pub fn new(jobs: &'a Jobs) -> Self {
        Self { jobs, overview: &overview::NONE }
    }
}

//! What a case notion looks at.

use crate::exchanges::{self, Exchanges};
use crate::jobs::Jobs;

/// Jobs, and what is known of them beyond what Slurm reports. Notions that look at more than this
/// have it added here.
#[derive(Debug, Clone, Copy)]
pub struct Entities<'a> {
    /// All jobs of a dataset, or those of one of its parts ([`crate::parts`]).
    pub jobs: &'a Jobs,
    /// Which jobs gave data to each other, those of other parts included.
    pub exchanges: &'a Exchanges,
}

impl<'a> Entities<'a> {
    /// Jobs of which nothing more is known: for notions that need no data flow
    /// ([`super::CaseNotion::needs_data_flow`]).
    pub fn of(jobs: &'a Jobs) -> Self {
        Self { jobs, exchanges: &exchanges::NONE }
    }
}

//! What a case notion is, and what it gives.

use std::fmt;

use crate::jobs::Jobs;

/// A way to say which attempts belong together.
pub trait CaseNotion: fmt::Debug + Sync {
    /// Its name, as on the command line and at the start of its case ids.
    fn name(&self) -> &'static str;
    /// What a case is, in one line.
    fn description(&self) -> &'static str;
    /// Whether only jobs that declared dependencies join are ever in one case, so that a case lies within one of [`crate::parts`].
    fn within_parts(&self) -> bool;
    /// Puts every attempt into exactly one case.
    fn assign(&self, jobs: &Jobs) -> Assignment;
}

/// Which attempt is in which case.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Assignment {
    /// The case ids, all different.
    pub ids: Vec<String>,
    /// For each attempt of [`Jobs::attempts`] its case: an index into `ids`.
    pub case_of: Vec<u32>,
}

impl Assignment {
    /// The case id of an attempt.
    pub fn id_of(&self, attempt: usize) -> &str {
        &self.ids[self.case_of[attempt] as usize]
    }
}

//! What a case notion is, and what it gives.

use std::fmt;

use super::entities::Entities;

/// A way to say which attempts belong together.
pub trait CaseNotion: fmt::Debug + Sync {
    /// Its name, as on the command line and at the start of its case ids.
    fn name(&self) -> &'static str;
    /// What a case is, in one line.
    fn description(&self) -> &'static str;
    /// Whether only jobs that declared dependencies join are ever in one case, so that a case lies
    /// within one of [`crate::parts`].
    fn within_parts(&self) -> bool;
    /// Whether it asks which jobs gave data to each other ([`Entities::exchanges`]): without that
    /// its cases would not be what it says.
    fn needs_data_flow(&self) -> bool {
        false
    }
    /// Puts every attempt into exactly one case.
    fn assign(&self, entities: &Entities<'_>) -> Assignment;
}

/// Which attempt is in which case.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Assignment {
    /// The case ids, all different.
    pub ids: Vec<String>,
    /// Of each case whether attempts of other parts ([`crate::parts`]) can be in it too.
    pub goes_on: Vec<bool>,
    /// For each attempt of [`Jobs::attempts`](crate::Jobs::attempts) its case: an index into `ids`.
    pub case_of: Vec<u32>,
}

impl Assignment {
    /// Adds a case, gives its index.
    pub(super) fn case(&mut self, id: String, goes_on: bool) -> u32 {
        self.ids.push(id);
        self.goes_on.push(goes_on);
        self.ids.len() as u32 - 1
    }

    /// The case id of an attempt.
    pub fn id_of(&self, attempt: usize) -> &str {
        &self.ids[self.case_of[attempt] as usize]
    }
}

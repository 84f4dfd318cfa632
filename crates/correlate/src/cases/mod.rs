//! Case notions: which attempts belong together.
//!
//! In go jobs; out comes, for a notion, one case for each attempt. A new notion is a new file with an implementation of
//! [`CaseNotion`] and one line in [`ALL`].
//!
//! A case id begins with the notion's name and a colon, so that it never equals a job id. Names in it are escaped by
//! [`escape`], so that two different things never get the same id.

mod account_group;
mod dependency;

use std::fmt;

pub use account_group::AccountGroup;
pub use dependency::Dependency;

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

/// Every notion.
pub static ALL: &[&dyn CaseNotion] = &[&Dependency, &AccountGroup];

/// The notion of that name.
pub fn find(name: &str) -> Option<&'static dyn CaseNotion> {
    ALL.iter().copied().find(|notion| notion.name() == name)
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

/// Writes the characters that divide a case id, and those that the id uses for what has no name, as `%NN`.
pub fn escape(name: &str, out: &mut String) {
    for c in name.chars() {
        match c {
            '%' => out.push_str("%25"),
            ':' => out.push_str("%3A"),
            '/' => out.push_str("%2F"),
            '#' => out.push_str("%23"),
            '(' => out.push_str("%28"),
            ')' => out.push_str("%29"),
            c => out.push(c),
        }
    }
}

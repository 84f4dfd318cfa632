//! Notions with cases of jobs of one user that share an attribute.

use rustc_hash::FxHashMap;

use flowmine_schema::text::ids::escape;

use super::entities::Entities;
use super::notion::{Assignment, CaseNotion, Strength};
use crate::attempts::JobAttempt;
use crate::jobs::Jobs;

/// A notion with one case for each user and value.
#[derive(Debug)]
pub struct OfUser {
    /// Name, as on the command line.
    pub(super) name: &'static str,
    /// Description of a case, in one line.
    pub(super) description: &'static str,
    /// Value of an attempt.
    pub(super) value: fn(&Jobs, &JobAttempt) -> Option<String>,
}

impl CaseNotion for OfUser {
    fn name(&self) -> &'static str {
        self.name
    }

    fn description(&self) -> &'static str {
        self.description
    }

    fn within_parts(&self) -> bool {
        false
    }

    fn strength(&self) -> Strength {
        Strength::Inferred
    }

    fn assign(&self, entities: &Entities<'_>) -> Assignment {
        assign(entities.jobs, self.name, |attempt| (self.value)(entities.jobs, attempt))
    }
}

/// One case for each user and value. The id is `<notion>:<cluster>:<user>:<value>`, with `(none)`
/// for a user or value that is not known; in real names parentheses are escaped.
fn assign(jobs: &Jobs, notion: &str, value: impl Fn(&JobAttempt) -> Option<String>) -> Assignment {
    let mut assignment = Assignment::default();
    let mut known: FxHashMap<String, u32> = FxHashMap::default();
    for attempt in &jobs.attempts {
        let mut id = format!("{notion}:");
        escape(jobs.text(attempt.cluster), &mut id);
        for name in [jobs.text_of(attempt.user), value(attempt).as_deref()] {
            id.push(':');
            match name {
                Some(name) => escape(name, &mut id),
                None => id.push_str("(none)"),
            }
        }
        let case = match known.get(&id) {
            Some(&case) => case,
            None => {
                let case = assignment.case(id.clone(), true);
                known.insert(id, case);
                case
            }
        };
        assignment.case_of.push(case);
    }
    assignment
}

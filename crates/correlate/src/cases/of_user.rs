//! Notions with cases of jobs of one user that share an attribute.

use rustc_hash::FxHashMap;

use flowmine_schema::text::ids::escape;

use super::notion::Assignment;
use crate::attempts::Attempt;
use crate::jobs::Jobs;

/// One case for each user and value. The id is `<notion>:<cluster>:<user>:<value>`, with `(none)`
/// for a user or value that is not known; in real names parentheses are escaped.
pub(super) fn assign(jobs: &Jobs, notion: &str, value: impl Fn(&Attempt) -> Option<String>) -> Assignment {
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

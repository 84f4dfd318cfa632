//! The notion `account-group`: all that ran on one account for one group is one case.
//!
//! The case study's notion for jobs without declared dependencies. The id is
//! `account-group:<cluster>:<account>/<group>`, with `(none)` for an account or group that is not
//! known; in real names parentheses are escaped, so no name can look like that.

use rustc_hash::FxHashMap;

use flowmine_schema::text::ids::escape;

use super::entities::Entities;
use super::notion::{Assignment, CaseNotion, Strength};

/// One case for each account and group.
#[derive(Debug, Clone, Copy)]
pub struct AccountGroup;

impl CaseNotion for AccountGroup {
    fn name(&self) -> &'static str {
        "account-group"
    }

    fn description(&self) -> &'static str {
        "all jobs of one account and group"
    }

    fn within_parts(&self) -> bool {
        false
    }

    fn is_standard(&self) -> bool {
        true
    }

    fn strength(&self) -> Strength {
        Strength::Declared
    }

    fn assign(&self, entities: &Entities<'_>) -> Assignment {
        let jobs = entities.jobs;
        let mut assignment = Assignment::default();
        let mut known = FxHashMap::default();
        let mut case_of = Vec::with_capacity(jobs.attempts.len());
        for attempt in &jobs.attempts {
            let case = *known.entry((attempt.cluster, attempt.account, attempt.group)).or_insert_with(|| {
                let mut id = format!("{}:", self.name());
                escape(jobs.text(attempt.cluster), &mut id);
                for (divider, name) in [(':', attempt.account), ('/', attempt.group)] {
                    id.push(divider);
                    match jobs.text_of(name) {
                        Some(name) => escape(name, &mut id),
                        None => id.push_str("(none)"),
                    }
                }
                assignment.case(id, true)
            });
            case_of.push(case);
        }
        Assignment { case_of, ..assignment }
    }
}

//! What is done to raw rows before anything is derived from them: columns that are dropped, names that are replaced.
//!
//! In goes a row; out comes the row. Without rules a row comes out as it is, at no cost.

use flowmine_schema::tables::{JobDependency, JobState};

use crate::drop::DropColumns;
use crate::pseudonym::Pseudonymiser;

/// The rules for rows. The default changes nothing.
#[derive(Debug, Clone, Default)]
pub struct RowRules {
    /// Replaces names.
    pub pseudonymiser: Option<Pseudonymiser>,
    /// Columns of `job_states` that become null.
    pub drop: DropColumns,
}

impl RowRules {
    /// Whether rows come out as they are.
    pub fn is_empty(&self) -> bool {
        self.pseudonymiser.is_none() && self.drop.is_empty()
    }

    /// A row of `job_states` by the rules.
    pub fn apply<'r>(&self, mut row: JobState<'r>) -> JobState<'r> {
        self.drop.apply(&mut row);
        match &self.pseudonymiser {
            Some(pseudonymiser) => pseudonymiser.job_state(row),
            None => row,
        }
    }

    /// A row of `job_dependencies` by the rules. Columns are only dropped from `job_states`.
    pub fn apply_dependency<'r>(&self, row: JobDependency<'r>) -> JobDependency<'r> {
        match &self.pseudonymiser {
            Some(pseudonymiser) => pseudonymiser.job_dependency(row),
            None => row,
        }
    }
}

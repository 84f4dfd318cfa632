//! What is done to raw rows before anything is derived from them: columns that are dropped, names
//! that are replaced.
//!
//! In goes a row; out comes the row. Without rules a row comes out as it is, at no cost.

use flowmine_schema::Record;

use crate::drop::DropColumns;
use crate::pseudonym::Pseudonymiser;

/// The rules for rows. The default changes nothing.
#[derive(Debug, Clone, Default)]
pub struct RowRules {
    /// Replaces names by pseudonyms; `None` leaves names as they are.
    pub pseudonymiser: Option<Pseudonymiser>,
    /// Columns of `job_states` that become null.
    pub drop: DropColumns,
}

impl RowRules {
    /// Whether rows come out as they are.
    pub fn is_empty(&self) -> bool {
        self.pseudonymiser.is_none() && self.drop.is_empty()
    }

    /// A row of any table by the rules. Columns are only dropped from `job_states`.
    pub fn apply<'r, R: Record<'r>>(&self, mut row: R) -> R {
        self.drop.apply(&mut row);
        match &self.pseudonymiser {
            Some(pseudonymiser) => pseudonymiser.row(row),
            None => row,
        }
    }

    /// A task's id, or its pseudonym where there are pseudonyms.
    pub fn apply_task_key(&self, key: String) -> String {
        match &self.pseudonymiser {
            Some(pseudonymiser) => pseudonymiser.task(&key),
            None => key,
        }
    }
}

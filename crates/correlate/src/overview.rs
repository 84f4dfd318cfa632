//! What case notions ask of a whole dataset, beyond the part of the jobs that they are given.

use std::sync::LazyLock;

use flowmine_dataset::Dataset;

use crate::CorrelateError;
use crate::cases::CaseNotion;
use crate::exchanges::Exchanges;
use crate::groups::Groups;
use crate::parts::Parts;
use crate::row_rules::RowRules;
use crate::tasks_as_jobs::TasksAsJobs;

/// An overview in which nothing is known.
pub(crate) static NONE: LazyLock<Overview> = LazyLock::new(Overview::default);

/// What is known of all jobs of a dataset.
#[derive(Debug, Clone, Default)]
pub struct Overview {
    /// Jobs that gave data to each other.
    pub exchanges: Exchanges,
    /// Cases of the notions that must see all jobs at once.
    pub groups: Groups,
    /// Tasks that ran as jobs, for the notions of tasks.
    pub tasks: TasksAsJobs,
}

impl Overview {
    /// Reads what these notions ask, with rules that change each row as they change those of the
    /// jobs. Nothing is read that none of them asks.
    ///
    /// # Errors
    /// When the dataset or a temporary file cannot be read or written.
    pub fn read(dataset: &Dataset, rules: &RowRules, parts: &Parts<'_>, notions: &[&dyn CaseNotion]) -> Result<Self, CorrelateError> {
        let uses_data_flow = notions.iter().any(|notion| notion.uses_data_flow());
        let exchanges = if uses_data_flow { Exchanges::read(dataset, rules, parts)? } else { Exchanges::default() };
        let groups = Groups::find(parts, notions, &exchanges)?;
        Ok(Self { exchanges, groups, tasks: TasksAsJobs::read(dataset, rules, notions)? })
    }
}

//! What is done to raw rows before anything is derived from them: columns that are dropped, names that are replaced.
//!
//! In goes a row; out comes the row. Without rules a row comes out as it is, at no cost.

use flowmine_schema::tables::{DataFlow, JobDependency, JobState, Link, Process, TaskIo, TaskRun, TaskTotal};

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

    /// A task's id by the rules.
    pub fn apply_task_key(&self, key: String) -> String {
        match &self.pseudonymiser {
            Some(pseudonymiser) => pseudonymiser.task(&key),
            None => key,
        }
    }

    /// A row of `task_runs` by the rules.
    pub fn apply_task_run<'r>(&self, row: TaskRun<'r>) -> TaskRun<'r> {
        match &self.pseudonymiser {
            Some(pseudonymiser) => pseudonymiser.task_run(row),
            None => row,
        }
    }

    /// A row of `task_io` by the rules.
    pub fn apply_task_io<'r>(&self, row: TaskIo<'r>) -> TaskIo<'r> {
        match &self.pseudonymiser {
            Some(pseudonymiser) => pseudonymiser.task_io(row),
            None => row,
        }
    }

    /// A row of `task_totals` by the rules.
    pub fn apply_task_total<'r>(&self, row: TaskTotal<'r>) -> TaskTotal<'r> {
        match &self.pseudonymiser {
            Some(pseudonymiser) => pseudonymiser.task_total(row),
            None => row,
        }
    }

    /// A row of `data_flow` by the rules.
    pub fn apply_data_flow<'r>(&self, row: DataFlow<'r>) -> DataFlow<'r> {
        match &self.pseudonymiser {
            Some(pseudonymiser) => pseudonymiser.data_flow(row),
            None => row,
        }
    }

    /// A row of `links` by the rules.
    pub fn apply_link<'r>(&self, row: Link<'r>) -> Link<'r> {
        match &self.pseudonymiser {
            Some(pseudonymiser) => pseudonymiser.link(row),
            None => row,
        }
    }

    /// A row of `processes` by the rules.
    pub fn apply_process<'r>(&self, row: Process<'r>) -> Process<'r> {
        match &self.pseudonymiser {
            Some(pseudonymiser) => pseudonymiser.process(row),
            None => row,
        }
    }
}

//! The notion `task-run`: the tasks of one run of a workflow engine.
//!
//! The id is `task-run:<engine>:<name>:<id>`. Tasks of unknown runs are one case for each engine,
//! `task-run:<engine>:(unknown)`.

use flowmine_schema::tables::TaskRun;

use super::TaskNotion;
use crate::task_log::run_names::run_or_engine;

/// The tasks of one run.
#[derive(Debug, Clone, Copy)]
pub struct Run;

impl TaskNotion for Run {
    fn name(&self) -> &'static str {
        "task-run"
    }

    fn description(&self) -> &'static str {
        "tasks of one run of a workflow engine"
    }

    fn is_standard(&self) -> bool {
        true
    }

    fn of_case(&self, _: &TaskRun<'_>) -> &'static [&'static str] {
        &["engine", "run_id", "run_name"]
    }

    fn case_of(&self, row: &TaskRun<'_>) -> Option<String> {
        Some(run_or_engine(row))
    }
}

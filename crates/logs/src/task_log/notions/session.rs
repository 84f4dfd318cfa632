//! The notion `task-session`: a run with those that resume it, as Nextflow's sessions. Runs of other
//! engines are sessions of their own.
//!
//! The id is `task-session:nextflow:<id>`, and for other engines that of `task-run`.

use flowmine_schema::tables::TaskRun;

use super::TaskNotion;
use crate::task_log::run_names::{is_resumed_by_id, session_name};

/// The tasks of a run and of those that resume it.
#[derive(Debug, Clone, Copy)]
pub struct Session;

impl TaskNotion for Session {
    fn name(&self) -> &'static str {
        "task-session"
    }

    fn description(&self) -> &'static str {
        "tasks of a run and of those that resume it"
    }

    fn of_case(&self, row: &TaskRun<'_>) -> &'static [&'static str] {
        if is_resumed_by_id(row) { &["engine", "run_id"] } else { &["engine", "run_id", "run_name"] }
    }

    fn case_of(&self, row: &TaskRun<'_>) -> Option<String> {
        Some(session_name(row))
    }
}

//! The notion `task-tag`: the tasks of a session with the same `tag`, in nf-core's pipelines those of
//! a sample. A task without a tag is in no case.
//!
//! The id is `task-tag:<session>:<tag>`.

use flowmine_schema::tables::TaskRun;
use flowmine_schema::text::ids::escape;

use super::TaskNotion;
use crate::task_log::run_names::{is_resumed_by_id, session_name};

/// The tasks of a session with one tag.
#[derive(Debug, Clone, Copy)]
pub struct Tag;

impl TaskNotion for Tag {
    fn name(&self) -> &'static str {
        "task-tag"
    }

    fn description(&self) -> &'static str {
        "tasks with one tag, in nf-core's pipelines of one sample"
    }

    fn is_standard(&self) -> bool {
        true
    }

    fn of_case(&self, row: &TaskRun<'_>) -> &'static [&'static str] {
        if is_resumed_by_id(row) { &["engine", "run_id", "tag"] } else { &["engine", "run_id", "run_name", "tag"] }
    }

    fn case_of(&self, row: &TaskRun<'_>) -> Option<String> {
        let mut case = format!("{}:", session_name(row));
        escape(row.tag.as_deref().filter(|tag| !tag.is_empty())?, &mut case);
        Some(case)
    }
}

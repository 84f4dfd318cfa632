//! Whose an access is.

use flowmine_schema::tables::{TaskIo, TaskTotal};

/// To whom a read or write belongs, as one thing in a picture. What ran in a job, pod or container for a task of an engine is the task's.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Owner {
    /// A task attempt, by its id (`task_io.task`).
    Task(String),
    /// A Slurm job without an engine's task.
    Job {
        /// Its cluster; empty when it is not known.
        cluster: String,
        /// As `task_io.job` names it.
        job: String,
    },
    /// A pod, by its uid.
    Pod(String),
    /// A container, by its id.
    Container(String),
    /// Nobody.
    Nobody,
}

macro_rules! of_row {
    ($row:expr) => {{
        let row = $row;
        let text = |text: &Option<std::borrow::Cow<'_, str>>| text.as_deref().map(str::to_owned);
        if let Some(task) = text(&row.task) {
            Owner::Task(task)
        } else if let Some(job) = text(&row.job) {
            Owner::Job { cluster: text(&row.cluster).unwrap_or_default(), job }
        } else if let Some(pod) = text(&row.pod) {
            Owner::Pod(pod)
        } else if let Some(container) = text(&row.container) {
            Owner::Container(container)
        } else {
            Owner::Nobody
        }
    }};
}

impl Owner {
    /// Of a row of `task_io`.
    pub fn of_io(row: &TaskIo<'_>) -> Self {
        of_row!(row)
    }

    /// Of a row of `task_totals`.
    pub fn of_total(row: &TaskTotal<'_>) -> Self {
        of_row!(row)
    }

    /// As in `links`: `task`, `job`, `pod`, `container`, `unassigned`.
    pub fn kind(&self) -> &'static str {
        match self {
            Owner::Task(_) => "task",
            Owner::Job { .. } => "job",
            Owner::Pod(_) => "pod",
            Owner::Container(_) => "container",
            Owner::Nobody => "unassigned",
        }
    }

    /// Its id; empty for nobody.
    pub fn id(&self) -> &str {
        match self {
            Owner::Task(id) | Owner::Job { job: id, .. } | Owner::Pod(id) | Owner::Container(id) => id,
            Owner::Nobody => "",
        }
    }
}

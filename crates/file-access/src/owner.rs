//! The owner of an access to a file.

use std::borrow::Cow;

/// Owner of a read or write, as one item of a figure. Accesses in a job, pod or container for a
/// task of an engine belong to the task.
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
    /// No owner: it belongs to no task, job, pod or container.
    Nobody,
}

impl Owner {
    /// Returns the owner of a row of `task_io` or `task_totals`, by its task, cluster, job, pod and
    /// container.
    pub fn new([task, cluster, job, pod, container]: [&Option<Cow<'_, str>>; 5]) -> Self {
        let text = |text: &Option<Cow<'_, str>>| text.as_deref().map(str::to_owned);
        if let Some(task) = text(task) {
            Owner::Task(task)
        } else if let Some(job) = text(job) {
            Owner::Job { cluster: text(cluster).unwrap_or_default(), job }
        } else if let Some(pod) = text(pod) {
            Owner::Pod(pod)
        } else if let Some(container) = text(container) {
            Owner::Container(container)
        } else {
            Owner::Nobody
        }
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

    /// Returns its id, such as that of the task; empty for [`Owner::Nobody`].
    pub fn id(&self) -> &str {
        match self {
            Owner::Task(id) | Owner::Job { job: id, .. } | Owner::Pod(id) | Owner::Container(id) => id,
            Owner::Nobody => "",
        }
    }
}

//! Kinds of entities that ids can name.

/// Kind of an id, as far as its pseudonym depends on it; as `links` and `data_flow` name them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Entity {
    Job,
    Step,
    Task,
    /// A process or a control group, which have numbers.
    Numbered,
    Unassigned,
    Other,
}

impl Entity {
    pub fn new(kind: Option<&str>) -> Self {
        match kind {
            Some("job") => Self::Job,
            Some("step") => Self::Step,
            Some("task") => Self::Task,
            Some("process" | "cgroup") => Self::Numbered,
            Some("unassigned") => Self::Unassigned,
            _ => Self::Other,
        }
    }
}

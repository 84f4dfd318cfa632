//! What a process belongs to, its children belong to, when nothing else is found of them.
//!
//! Processes are distinguished by host, number and start, so that a number that is used again has
//! its own parent; the parent is the one that forked, also when it ended first. A child that was
//! forked before its parent came to belong to something does not belong to it.

/// The rule's name, as in the table `links`.
pub const NAME: &str = "process-tree";

/// Whether a child that started at a moment inherits what its parent belongs to since another.
pub fn inherits(child_started_ns: Option<i64>, since_ns: i64) -> bool {
    since_ns == i64::MIN || child_started_ns.is_none_or(|started| started >= since_ns)
}

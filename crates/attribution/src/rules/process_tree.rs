//! Inheritance: the children of a process belong to its owner, if nothing else is found for them.
//!
//! Processes are distinguished by host, number and start, so that a number that is used again has
//! its own parent. The parent is the process that forked, even if it ended first. A child that was
//! forked before its parent got an owner does not inherit it.

/// The rule's name, as in the table `links`.
pub const NAME: &str = "process-tree";

/// Whether a child that started at a moment inherits what its parent belongs to since another.
pub fn inherits(child_started_ns: Option<i64>, since_ns: i64) -> bool {
    since_ns == i64::MIN || child_started_ns.is_none_or(|started| started >= since_ns)
}

//! Jobs as Slurm displays them: `7`, a task of an array `8_3`, what is pending of one `8_[3-9%3]`,
//! a component of a heterogeneous job `18+1`.

use std::borrow::Cow;

/// Which job something is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum JobRef<'a> {
    /// A job that is neither of an array nor a component of a heterogeneous job.
    Single,
    /// A task of an array.
    Task {
        /// The array's id.
        array: i64,
        /// Index of the task in the array.
        task: i64,
    },
    /// What is still pending of an array, with Slurm's list of indices (`3-9%3`, without brackets).
    PendingArray {
        /// The array's id.
        array: i64,
        /// Slurm's list of the indices that are pending, without brackets.
        tasks: Cow<'a, str>,
    },
    /// A component of a heterogeneous job.
    Het {
        /// The first component's id.
        leader: i64,
        /// Number of the component, 0 for the first one.
        offset: i64,
    },
}

/// The job's name in the tables: `7`, `8_3`, `8_*`, `18+1`.
pub fn label(job_id: i64, job: &JobRef<'_>) -> String {
    match job {
        JobRef::Single => job_id.to_string(),
        JobRef::Task { array, task } => format!("{array}_{task}"),
        JobRef::PendingArray { array, .. } => format!("{array}_*"),
        JobRef::Het { leader, offset } => format!("{leader}+{offset}"),
    }
}

/// Reads a job as Slurm displays it (`%i`, sacct's JobID): `7`, `8_3`, `8_[3-9%3]`, `18+1`. A list
/// that Slurm cut short has no closing bracket; its last index may be half a number and is left
/// out, so that the list ends in a comma ([`crate::index_set::IndexSet`] interprets that as cut), or
/// in the `%` before a limit that was cut.
/// Returns the raw id too if the text has it (`None` for a task, which has a different raw id).
pub fn parse_displayed(text: &str) -> Option<(Option<i64>, JobRef<'_>)> {
    let number = |text: &str| crate::units::digits(text.as_bytes());
    if let Some((array, rest)) = text.split_once('_') {
        let array = number(array)?;
        if let Some(list) = rest.strip_prefix('[') {
            let whole = || list.find('%').or_else(|| list.rfind(',')).map_or(0, |last| last + 1);
            let tasks = Cow::Borrowed(list.strip_suffix(']').unwrap_or_else(|| &list[..whole()]));
            return Some((Some(array), JobRef::PendingArray { array, tasks }));
        }
        return Some((None, JobRef::Task { array, task: number(rest)? }));
    }
    if let Some((leader, offset)) = text.split_once('+') {
        return Some((None, JobRef::Het { leader: number(leader)?, offset: number(offset)? }));
    }
    Some((Some(number(text)?), JobRef::Single))
}

/// The id of the whole that a job's name says it is part of: `8` of `8_3` and `8_*`, `18` of
/// `18+1`. `None` for a job that is no part of anything.
pub fn whole(label: &str) -> Option<i64> {
    let (head, _) = label.split_once(['_', '+'])?;
    head.parse().ok()
}

/// Whether a job's name is that of the pending rest of an array: `8_*`.
pub fn is_pending_array(label: &str) -> bool {
    label.ends_with("_*")
}

/// The name of all that was submitted with a job of this name, under the id of the whole: `8_*` for
/// an array, `18+0` for a heterogeneous job, otherwise the job's own.
pub fn name_of_whole(id: i64, label: &str) -> String {
    if label.contains('_') {
        format!("{id}_*")
    } else if label.contains('+') {
        format!("{id}+0")
    } else {
        label.to_owned()
    }
}

/// A job with its raw id, from the raw id where there is one and what [`parse_displayed`] gave.
/// `None` when nothing was displayed.
///
/// Where the raw id of a task or component is not known, its array's id, or the first component's
/// and the number, are the nearest truth.
pub fn with_raw_id<'a>(raw_id: Option<i64>, displayed: Option<(Option<i64>, JobRef<'a>)>) -> Option<(i64, JobRef<'a>)> {
    let (displayed_id, job) = displayed?;
    let nearest = match job {
        JobRef::Task { array, .. } | JobRef::PendingArray { array, .. } => Some(array),
        JobRef::Het { leader, offset } => Some(leader.saturating_add(offset)),
        JobRef::Single => None,
    };
    Some((raw_id.or(displayed_id).or(nearest)?, job))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_as_displayed() {
        assert_eq!(parse_displayed("7"), Some((Some(7), JobRef::Single)));
        assert_eq!(parse_displayed("70_3"), Some((None, JobRef::Task { array: 70, task: 3 })));
        assert_eq!(parse_displayed("8_[3-9%3]"), Some((Some(8), JobRef::PendingArray { array: 8, tasks: "3-9%3".into() })));
        assert_eq!(parse_displayed("11_[1,3,41,"), Some((Some(11), JobRef::PendingArray { array: 11, tasks: "1,3,41,".into() })));
        assert_eq!(parse_displayed("11_[1,3,4"), Some((Some(11), JobRef::PendingArray { array: 11, tasks: "1,3,".into() })), "4 may be 41");
        assert_eq!(parse_displayed("11_[1-40%..."), Some((Some(11), JobRef::PendingArray { array: 11, tasks: "1-40%".into() })));
        assert_eq!(parse_displayed("18+1"), Some((None, JobRef::Het { leader: 18, offset: 1 })));
        assert_eq!(parse_displayed("evil"), None);
    }

    #[test]
    fn parts_and_wholes() {
        let wholes = ["7", "8_3", "8_*", "18+1", "evil_3"].map(whole);
        assert_eq!(wholes, [None, Some(8), Some(8), Some(18), None]);
        let names = ["7", "8_3", "18+1"].map(|label| name_of_whole(whole(label).unwrap_or(7), label));
        assert_eq!(names, ["7", "8_*", "18+0"]);
        assert!(is_pending_array("8_*") && !is_pending_array("8_3"));
    }
}

//! What is known of the list of an array's waiting tasks that squeue cut short.

use flowmine_slurm::index_set::IndexSet;
use flowmine_slurm::units::shown;

/// A sentence with what is known of a list that was cut short, and of its limit; `None` for a list
/// that is whole.
pub fn cut_array(tasks: &str) -> Option<String> {
    let (list, limit) = tasks.split_once('%').map_or((tasks, None), |(list, limit)| (list, Some(limit)));
    let is_whole = IndexSet::parse(list).is_some_and(|set| !set.cut);
    let known = shown(list.as_bytes());
    if is_whole {
        let is_cut = limit.is_some_and(|limit| limit.is_empty() || !limit.bytes().all(|byte| byte.is_ascii_digit()));
        return is_cut.then(|| format!("the limit of array tasks was cut short; the tasks {known} are all"));
    }
    Some(match known.as_str() {
        "" => "the list of array tasks was cut short before its first comma, so that no task is known".to_owned(),
        _ => format!("the list of array tasks was cut short: {known:?}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_is_said() {
        let said = |tasks: &str| cut_array(tasks).unwrap_or_default();
        assert_eq!(["1,3-9%3", "610-640", ""].map(|tasks| said(tasks).is_empty()), [true, true, false]);
        assert!(said("").ends_with("no task is known"));
        assert!(said("610-640%").ends_with("the tasks 610-640 are all") && said("610-640%...").contains("limit"));
        assert!(said("1,3,...").contains("1,3,...") && said("1,3,").contains("\"1,3,\""));
    }
}

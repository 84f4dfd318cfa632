//! The order of a traced script's commands.
//!
//! A script runs its commands one after the other. A workflow runs commands in parallel if they do
//! not wait for each other, which is correct only if neither observes the effects of the other. A
//! trace cannot prove that: it records no path of stat(2), access(2), readlink(2), mkdir(2),
//! symlink(2), chmod(2) and utime(2), and no count of most of them. So a command waits for every
//! command that had ended when it began, whatever the two did.
//!
//! The script itself did not order commands that ran at the same time. If the trace shows that one
//! of them changed a name that the other used, the result depends on timing, and the script is
//! refused.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound::{Excluded, Included};

use flowmine_activity_log::{RunGraph, RunTask};

use super::WorkflowError;

/// Order of the commands of a script.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ScriptOrder {
    /// Dependencies, as indices of the run's tasks, without pairs that follow from others.
    pub pairs: BTreeSet<(u32, u32)>,
    /// Number of commands that ran at the same time as another.
    pub at_once: usize,
}

/// Returns whether a script ran one command before another: the first had ended when the other
/// began.
///
/// Recorded starts can be too early. If two commands could then each precede the other, the one
/// that ended first does.
fn comes_before(first: &RunTask, then: &RunTask) -> bool {
    let Some(((end, start), last)) = first.finished_ns.zip(then.started_ns).zip(then.finished_ns) else { return false };
    let unsure = first.precision_ns.max(then.precision_ns);
    end <= start.saturating_add(unsure) && (end, first.process.as_ref()) < (last, then.process.as_ref())
}

/// Returns the order of a script's commands; empty for runs that are not traced scripts.
///
/// # Errors
/// [`WorkflowError`] if a command has no known start and end, or if two that ran at the same time
/// used a path that one of them changed.
pub(super) fn of(run: &RunGraph) -> Result<ScriptOrder, WorkflowError> {
    let mut commands: Vec<u32> = (0..run.tasks.len() as u32).filter(|at| run.tasks[*at as usize].process.is_some()).collect();
    let task = |at: u32| &run.tasks[at as usize];
    if let Some(at) = commands.iter().find(|at| task(**at).started_ns.is_none() || task(**at).finished_ns.is_none()) {
        return Err(WorkflowError::Unended { task: task(*at).name.clone() });
    }
    commands.sort_by_key(|at| (task(*at).finished_ns, task(*at).process.as_ref()));
    let mut found = ScriptOrder::default();
    let mut at_once = BTreeSet::new();
    for (place, &to) in commands.iter().enumerate() {
        // The last commands that had ended; these waited for the earlier ones.
        let mut last: Vec<u32> = Vec::new();
        for &from in commands[..place].iter().rev() {
            if last.iter().any(|between| task(from).finished_ns <= task(*between).started_ns) {
                break;
            }
            if !comes_before(task(from), task(to)) {
                at_once.extend([from, to]);
            } else if !last.iter().any(|between| comes_before(task(from), task(*between))) {
                last.push(from);
            }
        }
        found.pairs.extend(last.into_iter().map(|from| (from, to)));
    }
    found.at_once = at_once.len();
    refuse_shared(run)?;
    Ok(found)
}

/// Refuses commands that ran at the same time if one changed a name that the other used.
fn refuse_shared(run: &RunGraph) -> Result<(), WorkflowError> {
    let mut touched: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for touch in &run.touches {
        touched.entry(&touch.path).or_default().push(touch.task);
    }
    for changes in run.touches.iter().filter(|touch| touch.changes) {
        // The name can be that of a directory: then all paths below it count.
        let (from, to) = (format!("{}/", changes.path), format!("{}0", changes.path));
        let below = touched.range::<str, _>((Included(&*from), Excluded(&*to))).flat_map(|(_, users)| users);
        for &user in touched.get(&*changes.path).into_iter().flatten().chain(below) {
            let (one, other) = (&run.tasks[changes.task as usize], &run.tasks[user as usize]);
            if changes.task != user && !comes_before(one, other) && !comes_before(other, one) {
                return Err(WorkflowError::AtOnce { one: one.name.clone(), other: other.name.clone(), path: changes.path.clone() });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use flowmine_activity_log::{Touch, TracedProcess};

    use super::*;

    fn script(times: &[(i64, i64)]) -> RunGraph {
        let task = |(at, (start, end)): (usize, &(i64, i64))| RunTask {
            name: format!("c{at}"),
            started_ns: Some(*start),
            finished_ns: Some(*end),
            precision_ns: 1,
            process: Some(TracedProcess { host: "n1".to_owned(), trace_ns: 7, pid: at as i32, forked_ns: Some(*start) }),
            ..RunTask::default()
        };
        RunGraph { tasks: times.iter().enumerate().map(task).collect(), ..RunGraph::default() }
    }

    fn pairs(times: &[(i64, i64)]) -> (Vec<(u32, u32)>, usize) {
        let found = of(&script(times)).unwrap();
        (found.pairs.into_iter().collect(), found.at_once)
    }

    #[test]
    fn a_command_waits_for_the_last_ones_that_had_ended() {
        assert_eq!(pairs(&[(0, 10), (10, 20), (30, 40)]), (vec![(0, 1), (1, 2)], 0));
        // Two in parallel between others; and one in parallel to two.
        assert_eq!(pairs(&[(0, 10), (20, 40), (25, 50), (60, 70)]), (vec![(0, 1), (0, 2), (1, 3), (2, 3)], 2));
        assert_eq!(pairs(&[(0, 100), (10, 20), (30, 40), (110, 120)]), (vec![(0, 3), (1, 2), (2, 3)], 3));
        // The recorded start is a moment too early.
        assert_eq!(pairs(&[(9, 20), (0, 10)]), (vec![(1, 0)], 0));
    }

    /// Every pair in which one had ended when the other began is ordered, directly or through
    /// others.
    #[test]
    fn what_is_left_out_follows_from_the_rest() {
        proptest::proptest!(|(times in proptest::collection::vec((0_i64..60, 0_i64..25), 1..14))| {
            let times: Vec<(i64, i64)> = times.into_iter().map(|(start, length)| (start * 3, start * 3 + length)).collect();
            let run = script(&times);
            let pairs = of(&run).unwrap().pairs;
            let count = times.len();
            let mut reached = vec![vec![false; count]; count];
            pairs.iter().for_each(|(from, to)| reached[*from as usize][*to as usize] = true);
            for between in 0..count {
                for from in 0..count {
                    for to in 0..count {
                        reached[from][to] |= reached[from][between] && reached[between][to];
                    }
                }
            }
            for from in 0..count {
                for to in 0..count {
                    let (end, start) = (times[from].1, times[to].0);
                    if from != to && end < start {
                        proptest::prop_assert!(reached[from][to] && !reached[to][from], "{from} {to} {times:?} {pairs:?}");
                    }
                }
                proptest::prop_assert!(!reached[from][from], "{times:?} {pairs:?}");
            }
        });
    }

    #[test]
    fn an_accident_is_refused() {
        let mut run = script(&[(0, 10), (5, 15), (20, 30)]);
        let touch = |path: &str, task, changes| Touch { path: path.to_owned(), task, changes };
        run.touches = vec![touch("/w/d", 0, true), touch("/w/d/x", 2, false), touch("/w/e", 1, false)];
        assert!(of(&run).is_ok());
        run.touches.push(touch("/w/d/x", 1, false));
        assert_eq!(of(&run), Err(WorkflowError::AtOnce { one: "c0".to_owned(), other: "c1".to_owned(), path: "/w/d".to_owned() }));
        run.tasks[1].finished_ns = None;
        assert!(matches!(of(&run), Err(WorkflowError::Unended { .. })));
    }
}

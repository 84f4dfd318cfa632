//! Probable predecessors of tasks without recorded dependencies.
//!
//! Four rules, each of which selects a task only if no other fits as well:
//!
//! 1. **Graph and tag.** The engine's graph of activities shows that an activity uses results of
//!    another, and exactly one task of that one has the same tag (a sample's name, not a number).
//! 2. **Graph and only task.** The graph shows that each task of the activity uses results of
//!    another, and that one had a single task.
//! 3. **Graph and bytes.** The graph shows it, both activities have the same number of tasks, and
//!    the bytes that the engine measured allow one pairing only (`by_bytes.rs`).
//! 4. **Just after an end.** The task was submitted just after the end of exactly one task. Before
//!    that end a slot was free, so that it did not wait for a slot. All tasks of its activity that
//!    were submitted in this way, at least two, followed tasks of one and the same activity, and
//!    never a task with another tag.
//!
//! A rule holds only for tasks that had ended when the other was submitted. The confidence is the
//! precision that `tests/integration/inferred.rs` requires on runs with known dependencies.

mod by_bytes;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]
mod simulated;

use std::collections::{BTreeMap, BTreeSet};

use flowmine_activity_log::{RunGraph, RunTask};

use crate::slots;

/// A probable dependency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Inferred {
    /// Predecessor: an index into the tasks of the run.
    pub from: u32,
    /// Successor: an index into the tasks of the run.
    pub to: u32,
    /// Confidence, in percent.
    pub confidence_percent: u8,
}

/// Confidence of all rules, in percent.
pub const CONFIDENCE_PERCENT: u8 = 95;

/// Maximum time from the end of its predecessors until an engine submits a task, without other
/// delays.
const AT_ONCE_NS: i64 = 1_500_000_000;

/// Limit of times, as distance from 1970; later and earlier ones are treated as unknown.
const FARTHEST_NS: u64 = 4_000_000_000_000_000_000;

/// Submission and end of a task, in nanoseconds since 1970.
struct Times {
    submitted_ns: i64,
    finished_ns: i64,
}

fn times(task: &RunTask) -> Option<Times> {
    let sane = |ns: &i64| ns.unsigned_abs() < FARTHEST_NS;
    let submitted_ns = task.submitted_ns.or(task.started_ns).filter(sane)?;
    let finished_ns = task.finished_ns.filter(sane).filter(|ended| *ended >= submitted_ns)?;
    (!task.cached).then_some(Times { submitted_ns, finished_ns })
}

/// Returns the tag of a task if it can name the same thing in several activities: not a number,
/// which counts tasks.
fn tag(task: &RunTask) -> Option<&str> {
    task.tag.as_deref().filter(|tag| !tag.is_empty() && !tag.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Returns the probable predecessors of all tasks of a run without known ones, ascending.
pub fn predecessors(run: &RunGraph) -> Vec<Inferred> {
    if run.noun != "task" || run.tasks.iter().all(|task| task.parents_known || task.traced) {
        return Vec::new();
    }
    let known: Vec<Option<Times>> = run.tasks.iter().map(times).collect();
    let of_activity = activities(run);
    let mut pairs = by_graph(run, &known, &of_activity);
    pairs.extend(by_sizes(run, &known, &of_activity));
    let done: BTreeSet<u32> = pairs.iter().map(|(_, to)| *to).collect();
    pairs.extend(just_after(run, &known, &done));
    pairs.sort_unstable();
    pairs.dedup();
    pairs.into_iter().map(|(from, to)| Inferred { from, to, confidence_percent: CONFIDENCE_PERCENT }).collect()
}

/// Tasks without known predecessors, with their times.
fn unknown<'r>(run: &'r RunGraph, known: &'r [Option<Times>]) -> impl Iterator<Item = (u32, &'r RunTask, &'r Times)> {
    let tasks = (0..).zip(run.tasks.iter().zip(known));
    tasks.filter(|(_, (task, _))| !task.parents_known && !task.traced).filter_map(|(at, (task, times))| Some((at, task, times.as_ref()?)))
}

/// Returns the tasks of each activity.
fn activities(run: &RunGraph) -> BTreeMap<&str, Vec<u32>> {
    let mut of_activity: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for (at, task) in (0..).zip(&run.tasks) {
        of_activity.entry(&task.activity).or_default().push(at);
    }
    of_activity
}

/// Infers by the engine's graph of activities, and the bytes that the engine measured.
fn by_sizes(run: &RunGraph, known: &[Option<Times>], of_activity: &BTreeMap<&str, Vec<u32>>) -> Vec<(u32, u32)> {
    let mut pairs = Vec::new();
    for (activity, readers) in of_activity {
        let Some(above) = readers.first().and_then(|at| run.tasks[*at as usize].logical_parents.as_ref()) else { continue };
        let is_open = |at: &u32| !run.tasks[*at as usize].parents_known && !run.tasks[*at as usize].traced;
        if !readers.iter().all(is_open) {
            continue;
        }
        for above in above.iter().filter(|above| above.activity != *activity) {
            let Some(writers) = of_activity.get(above.activity.as_str()) else { continue };
            let written: Option<Vec<i64>> = writers.iter().map(|at| run.tasks[*at as usize].engine_written_bytes).collect();
            let read: Option<Vec<i64>> = readers.iter().map(|at| run.tasks[*at as usize].engine_read_bytes).collect();
            let Some(found) = written.zip(read).and_then(|(written, read)| by_bytes::pair(&written, &read)) else { continue };
            let found: Vec<(u32, u32)> = found.into_iter().map(|(from, to)| (writers[from], readers[to])).collect();
            let in_time = |&(from, to): &(u32, u32)| {
                let times = known[from as usize].as_ref().zip(known[to as usize].as_ref());
                let unsure = run.tasks[to as usize].order_precision_ns;
                times.is_some_and(|(from, to)| from.finished_ns <= to.submitted_ns.saturating_add(unsure))
            };
            if found.iter().all(in_time) {
                pairs.extend(found);
            }
        }
    }
    pairs
}

/// Infers by the engine's graph of activities.
fn by_graph(run: &RunGraph, known: &[Option<Times>], of_activity: &BTreeMap<&str, Vec<u32>>) -> Vec<(u32, u32)> {
    let mut of_tag: BTreeMap<(&str, &str), Vec<u32>> = BTreeMap::new();
    for (at, task) in (0..).zip(&run.tasks) {
        if let Some(tag) = tag(task) {
            of_tag.entry((&task.activity, tag)).or_default().push(at);
        }
    }
    let ended = |at: u32, by: i64| known[at as usize].as_ref().is_some_and(|times| times.finished_ns <= by);
    let mut pairs = Vec::new();
    for (to, task, times) in unknown(run, known) {
        let of_own = tag(task).and_then(|tag| of_tag.get(&(task.activity.as_str(), tag))).map_or(0, Vec::len);
        for above in task.logical_parents.iter().flatten().filter(|above| above.activity != task.activity) {
            let same = tag(task).and_then(|tag| of_tag.get(&(above.activity.as_str(), tag)));
            let all = of_activity.get(above.activity.as_str()).map_or(&[][..], Vec::as_slice);
            let from = match (same.map(Vec::as_slice), all) {
                (Some([from]), _) if of_own == 1 => from,
                (None, [from]) if above.each => from,
                _ => continue,
            };
            if ended(*from, times.submitted_ns.saturating_add(task.order_precision_ns)) {
                pairs.push((*from, to));
            }
        }
    }
    pairs
}

/// Infers by submissions just after ends.
fn just_after(run: &RunGraph, known: &[Option<Times>], done: &BTreeSet<u32>) -> Vec<(u32, u32)> {
    let ran = |task: &RunTask| task.started_ns.zip(task.finished_ns);
    let full = slots::full(run.tasks.iter().filter(|task| !task.cached).filter_map(ran));
    let mut ends: Vec<(i64, u32)> = (0..).zip(known).filter_map(|(at, times)| Some((times.as_ref()?.finished_ns, at))).collect();
    ends.sort_unstable();
    // Activities that the tasks of each activity followed.
    let mut followed: BTreeMap<&str, Vec<Option<(u32, u32)>>> = BTreeMap::new();
    for (to, task, times) in unknown(run, known) {
        let unsure = task.order_precision_ns;
        let from = ends.partition_point(|(end, _)| *end < times.submitted_ns.saturating_sub(AT_ONCE_NS + unsure));
        let until = ends.partition_point(|(end, _)| *end <= times.submitted_ns.saturating_add(unsure));
        let just: Vec<(i64, u32)> = ends[from..until.max(from)].iter().copied().filter(|(_, at)| *at != to).collect();
        let of = match just[..] {
            // If all slots were taken, the end freed a slot, and the task need not have waited for
            // its result.
            [(end, at)] if !slots::is_within(&full, end.saturating_sub(1)) => Some((at, to)),
            [] => continue,
            _ => None,
        };
        followed.entry(&task.activity).or_default().push(of);
    }
    let mut pairs = Vec::new();
    for of in followed.values() {
        let certain: Vec<(u32, u32)> = of.iter().copied().flatten().collect();
        let activities: BTreeSet<&str> = certain.iter().map(|(from, _)| run.tasks[*from as usize].activity.as_str()).collect();
        let other_tag = |(from, to): &(u32, u32)| {
            let tags = tag(&run.tasks[*from as usize]).zip(tag(&run.tasks[*to as usize]));
            tags.is_some_and(|(from, to)| from != to)
        };
        if activities.len() == 1 && certain.len() >= 2 && !certain.iter().any(other_tag) {
            pairs.extend(certain.into_iter().filter(|(_, to)| !done.contains(to)));
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use flowmine_activity_log::LogicalParent;

    const S: i64 = 1_000_000_000;

    fn task(activity: &str, tag: &str, submitted: i64, finished: i64) -> RunTask {
        RunTask {
            name: format!("{activity} ({tag})"),
            activity: activity.to_owned(),
            tag: Some(tag.to_owned()),
            submitted_ns: Some(submitted * S),
            started_ns: Some(submitted * S),
            finished_ns: Some(finished * S),
            ..RunTask::default()
        }
    }

    fn pairs(tasks: Vec<RunTask>) -> Vec<(u32, u32)> {
        let run = RunGraph { noun: "task", tasks, ..RunGraph::default() };
        predecessors(&run).into_iter().map(|of| (of.from, of.to)).collect()
    }

    #[test]
    fn the_graph_with_tags_and_with_the_only_task() {
        let above = |mut task: RunTask, names: &[&str]| {
            let parent = |name: &&str| LogicalParent { activity: (*name).to_owned(), each: *name != "MIXED" };
            task.logical_parents = Some(names.iter().map(parent).collect());
            task
        };
        let tasks = vec![
            task("INDEX", "1", 0, 30),
            task("TRIM", "s1", 0, 20),
            task("TRIM", "s2", 0, 22),
            above(task("MAP", "s1", 31, 40), &["TRIM", "INDEX"]),
            above(task("MAP", "s2", 31, 45), &["TRIM", "INDEX"]),
            above(task("REPORT", "3", 46, 50), &["MAP"]),
            // It began before the index existed.
            above(task("EARLY", "4", 10, 12), &["INDEX"]),
            // It may use the results of another task.
            task("MIXED", "9", 0, 5),
            above(task("ANY", "7", 60, 61), &["MIXED"]),
        ];
        assert_eq!(pairs(tasks), [(0, 3), (0, 4), (1, 3), (2, 4)], "which of MAP the report waited for is not known");
    }

    #[test]
    fn just_after_an_end_where_a_slot_was_free() {
        let chains = vec![
            task("A", "1", 0, 10),
            task("A", "2", 0, 20),
            task("A", "3", 0, 30),
            task("B", "1", 11, 13),
            task("B", "2", 21, 23),
            task("B", "3", 31, 33),
        ];
        // The end of the first freed a slot: three ran, the maximum.
        assert_eq!(pairs(chains.clone()), [(1, 4), (2, 5)]);
        let mut other = chains;
        for (task, tag) in other.iter_mut().zip(["x", "y", "z", "z", "x", "y"]) {
            task.tag = Some(tag.to_owned());
        }
        assert_eq!(pairs(other), [], "of another sample each");
        assert_eq!(pairs(vec![task("A", "1", 0, 10), task("B", "1", 11, 12)]), [], "one pair is no pattern");
    }
}

//! The order of a script's commands, where no file keeps it.
//!
//! A script runs its commands one after the other, and an engine those at once that share no file. So
//! what changed a file (wrote, made, removed or renamed it) waits for all that used it before, and all
//! that use it later wait for it. A command of which no output is known (`mkdir`, `rm`, `mv`), or that
//! lists directories, waits for all before it, and all after it wait for it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound::{Excluded, Included};

use flowmine_activity_log::{NONE, RunGraph};

use super::inside;

/// Who waits for whom beyond what passed in files, as places in the run's tasks. Nothing for runs that
/// are no traced script.
pub(super) fn pairs(run: &RunGraph, base: Option<&str>) -> BTreeSet<(u32, u32)> {
    let mut pairs = BTreeSet::new();
    if run.tasks.iter().all(|task| task.process.is_none()) {
        return pairs;
    }
    // Starts can be told too early; of two commands that could then come before each other, the one that
    // ended first does.
    let comes_before = |from: u32, to: u32| {
        let (first, then) = (&run.tasks[from as usize], &run.tasks[to as usize]);
        let unsure = first.precision_ns.max(then.precision_ns);
        let times = first.finished_ns.zip(then.started_ns);
        let may = times.is_some_and(|(end, start)| end <= start.saturating_add(unsure));
        from != to && may && (first.finished_ns, from) < (then.finished_ns.or(Some(i64::MAX)), to)
    };
    let mut order = |one: u32, other: u32| {
        if comes_before(one, other) {
            pairs.insert((one, other));
        } else if comes_before(other, one) {
            pairs.insert((other, one));
        }
    };
    let makes: BTreeSet<u32> =
        run.flows.iter().filter(|flow| flow.writer != NONE && makes_output(run, flow, base)).map(|flow| flow.writer).collect();
    let all = 0..run.tasks.len() as u32;
    for alone in all.clone().filter(|task| !makes.contains(task) || run.tasks[*task as usize].lists_names) {
        all.clone().for_each(|other| order(alone, other));
    }
    for (users, writers) in users(run).values() {
        for &writer in writers {
            users.iter().for_each(|user| order(writer, *user));
        }
    }
    let mut touched: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for touch in &run.touches {
        touched.entry(&touch.path).or_default().push(touch.task);
    }
    for changes in run.touches.iter().filter(|touch| touch.changes) {
        // What has the name can be a directory: then it is all that is below.
        let (from, to) = (format!("{}/", changes.path), format!("{}0", changes.path));
        let below = touched.range::<str, _>((Included(&*from), Excluded(&*to))).flat_map(|(_, users)| users);
        touched.get(&*changes.path).into_iter().flatten().chain(below).for_each(|user| order(changes.task, *user));
    }
    pairs
}

/// Of each file of the run who used it, and who of them wrote it.
fn users(run: &RunGraph) -> BTreeMap<u32, (BTreeSet<u32>, BTreeSet<u32>)> {
    let mut users: BTreeMap<u32, (BTreeSet<u32>, BTreeSet<u32>)> = BTreeMap::new();
    for flow in &run.flows {
        let (all, writers) = users.entry(flow.file).or_default();
        all.extend([flow.writer, flow.reader].into_iter().filter(|task| *task != NONE));
        writers.extend(Some(flow.writer).filter(|task| *task != NONE));
    }
    users
}

/// Whether a file becomes an output of the task that wrote it.
fn makes_output(run: &RunGraph, flow: &flowmine_activity_log::FileFlow, base: Option<&str>) -> bool {
    let unread = flow.reader == NONE && !flow.read_outside && base.is_some_and(|base| inside(base, run.files.get(flow.file)).is_some());
    flow.pair().is_some() || unread
}

//! Declared dependencies over which no data passed.

use std::collections::{BTreeMap, BTreeSet};

use flowmine_activity_log::RunGraph;
use flowmine_draw::text::visible;

use super::*;
use crate::findings::thresholds::DEPENDENCY_SHARE;
use crate::findings::{Example, Gain};
use crate::who::Who;

pub(super) static RULE: Rule = Rule {
    name: "needless-dependency",
    finds: "a task waited for another of which it read nothing, directly or through others",
    at_stake: "the time by which the dependency delayed the task",
    gain: "nothing to all of it, if the task starts when what it reads is there",
    needs: &[Need::Dependencies],
    thresholds: &[&DEPENDENCY_SHARE],
    is_always_listed: false,
    find,
};

/// Maximum number of predecessors that are judged, the longest waits first: each takes a walk
/// through all data.
const MOST_WAITED_FOR: usize = 200;

/// A needless wait: the task, its predecessor and the duration.
struct Delay {
    from: u32,
    to: u32,
    ns: i128,
}

fn find(facts: &Facts<'_>) -> Vec<Finding> {
    let Some(run) = facts.input.run else { return Vec::new() };
    // If operations were lost, data may have passed unseen.
    if run.flows.is_empty() || !run.losses.is_empty() {
        return Vec::new();
    }
    let mut by_pair: BTreeMap<(&str, &str), Vec<Delay>> = BTreeMap::new();
    let least_ns = (DEPENDENCY_SHARE.value * facts.whole.makespan_ns as f64) as i128;
    for delay in delays(run, least_ns.max(1)) {
        let name = |at: u32| run.tasks[at as usize].activity.as_str();
        by_pair.entry((name(delay.from), name(delay.to))).or_default().push(delay);
    }
    by_pair.into_iter().filter_map(|((from, to), delays)| finding(facts, run, from, to, &delays)).collect()
}

fn delays(run: &RunGraph, least_ns: i128) -> Vec<Delay> {
    let mut readers: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    let mut written_by: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    for (writer, reader) in run.flows.iter().filter_map(|flow| flow.pair()) {
        readers.entry(writer).or_default().insert(reader);
        written_by.entry(reader).or_default().insert(writer);
    }
    let mut declared: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for edge in run.declared.iter().filter(|edge| !edge.for_start) {
        declared.entry(edge.to).or_default().push(edge.from);
    }
    let mut found = Vec::new();
    for (&to, before) in &declared {
        let task = &run.tasks[to as usize];
        let needed = written_by.get(&to);
        let is_judged = |at: u32| run.tasks[at as usize].traced;
        // A task that read nothing may need the dependency as a signal to start.
        let Some((start, needed)) = task.started_ns.zip(needed).filter(|_| is_judged(to)) else { continue };
        let end = |at: &u32| run.tasks[*at as usize].finished_ns;
        let Some(last) = before.iter().copied().max_by_key(|at| (end(at), std::cmp::Reverse(*at))) else { continue };
        if needed.contains(&last) || !is_judged(last) {
            continue;
        }
        let others = before.iter().filter(|at| **at != last).chain(needed).filter_map(end).max();
        let (Some(ended), Some(others)) = (end(&last), others) else { continue };
        let ns = i128::from(ended.min(start)) - i128::from(others);
        if ns >= least_ns {
            found.push(Delay { from: last, to, ns });
        }
    }
    without_data(&readers, found)
}

/// Returns delays by tasks from which no data reached the waiting task, directly or indirectly.
fn without_data(readers: &BTreeMap<u32, BTreeSet<u32>>, mut delays: Vec<Delay>) -> Vec<Delay> {
    delays.sort_by_key(|delay| (std::cmp::Reverse(delay.ns), delay.from, delay.to));
    let mut reached: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    delays.retain(|delay| {
        if reached.len() >= MOST_WAITED_FOR && !reached.contains_key(&delay.from) {
            return false;
        }
        !reached.entry(delay.from).or_insert_with(|| reached_from(readers, delay.from)).contains(&delay.to)
    });
    delays
}

/// Returns the tasks that data of one task reached, directly or indirectly.
fn reached_from(readers: &BTreeMap<u32, BTreeSet<u32>>, from: u32) -> BTreeSet<u32> {
    let (mut seen, mut next) = (BTreeSet::new(), vec![from]);
    while let Some(at) = next.pop() {
        next.extend(readers.get(&at).into_iter().flatten().copied().filter(|reader| seen.insert(*reader)));
    }
    seen
}

fn finding(facts: &Facts<'_>, run: &RunGraph, from: &str, to: &str, delays: &[Delay]) -> Option<Finding> {
    // Parallel tasks lose the same time.
    let longest = delays.iter().map(|delay| delay.ns).max()?;
    let share = ratio(longest, facts.whole.makespan_ns);
    if share < DEPENDENCY_SHARE.value {
        return None;
    }
    let (from, to) = (visible(from), visible(to));
    let mut examples: Vec<Example> = delays
        .iter()
        .map(|delay| {
            let task = &run.tasks[delay.to as usize];
            Example { who: Who::of_task(run, task), case: None, start_ns: task.started_ns, resource: task.host.clone(), time_ns: delay.ns }
        })
        .collect();
    examples.sort_by_key(|example| std::cmp::Reverse(example.time_ns));
    examples.truncate(3);
    let is_critical = facts.input.path.is_none_or(|path| path.path.iter().any(|step| delays.iter().any(|delay| delay.to == step.place)));
    Some(Finding {
        rule: RULE.name,
        cause: format!("{to} after {from}"),
        activities: vec![to.clone()],
        activity_shares: vec![1.0],
        found: format!(
            "{} of {to} waited for {from}, of which they read nothing, up to {} each",
            flowmine_draw::text::counted(delays.len() as u64, run.noun, &format!("{}s", run.noun)),
            duration(longest)
        ),
        shared: Vec::new(),
        instances: delays.len() as u64,
        examples,
        at_stake_ns: longest,
        at_stake_core_ns: None,
        share,
        share_of: Quantity::Makespan,
        gain: Gain {
            low_ns: 0,
            high_ns: if is_critical { longest } else { 0 },
            of: Quantity::Makespan,
            from: "critical path",
            assumption: if is_critical {
                "nothing if all CPUs are busy meanwhile; all of it if it starts when what it reads is there".to_owned()
            } else {
                "nothing: it is not on the critical path, but CPUs are free earlier".to_owned()
            },
        },
        action: format!("Leave out the dependency of {to} on {from}, unless it is needed for something besides files."),
        weight_ns: (share * facts.whole.core_ns as f64) as i128,
    })
}

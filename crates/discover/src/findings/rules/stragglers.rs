//! Instances that are much slower than others of their activity.

use super::*;
use crate::findings::facts::{Draft, times, total};
use crate::findings::shared;
use crate::findings::thresholds::{INPUT_FACTOR, SHARED_BY, SHARED_ELSEWHERE, STRAGGLER_FACTOR, STRAGGLER_INSTANCES, STRAGGLER_SHARE};

pub(super) static RULE: Rule = Rule {
    name: "stragglers",
    finds: "single instances ran far longer than others of their activity; nodes, hours and input sizes that they share are named",
    at_stake: "their running times above the median",
    gain: "at the least what is above three times the median, at the most what is above the median",
    needs: &[Need::Intervals],
    thresholds: &[&STRAGGLER_FACTOR, &STRAGGLER_INSTANCES, &STRAGGLER_SHARE, &SHARED_BY, &SHARED_ELSEWHERE, &INPUT_FACTOR],
    is_always_listed: false,
    find,
};

fn find(facts: &Facts<'_>) -> Vec<Finding> {
    facts.activities.iter().filter_map(|(activity, all)| finding(facts, *activity, all)).collect()
}

fn finding(facts: &Facts<'_>, activity: u32, all: &[u32]) -> Option<Finding> {
    let median = facts.medians.get(&activity).copied().filter(|median| *median > 0.0)?;
    let usual: Vec<(u32, i64)> = all.iter().filter(|&&at| facts.is_usual(at)).filter_map(|&at| Some((at, facts.ran(at)?))).collect();
    // Instances on a slow node have a finding of their own.
    let is_on_slow_node = |at: u32| facts.resource(at).is_some_and(|node| facts.slow_nodes.contains_key(&node));
    let (slow, others): (Vec<_>, Vec<_>) =
        usual.iter().partition(|(at, ns)| *ns as f64 > STRAGGLER_FACTOR.value * median && !is_on_slow_node(*at));
    if (usual.len() as f64) < STRAGGLER_INSTANCES.value
        || slow.is_empty()
        || slow.len() as f64 > (STRAGGLER_SHARE.value * usual.len() as f64).max(1.0)
    {
        return None;
    }
    let above = |factor: f64| -> Vec<(u32, i128)> { slow.iter().map(|&(at, ns)| (at, (ns as f64 - factor * median) as i128)).collect() };
    let of = above(1.0);
    let these: Vec<u32> = slow.iter().map(|(at, _)| *at).collect();
    let others: Vec<u32> = others.iter().map(|(at, _)| *at).collect();
    let mut shared = shared::shared(facts, &these, &others, &[shared::NODE, shared::HOUR]);
    shared.extend(shared::larger_input(facts, &these, &others));
    let longest = slow.iter().map(|(_, ns)| *ns).max().unwrap_or(0) as f64 / median;
    let name = facts.names(&of);
    let common = if shared.is_empty() { String::new() } else { format!("; they share {}", shared::words(&shared)) };
    let found = format!(
        "{} of {} ran up to {} times the median of {}, {} above it{common}",
        facts.counted(of.len()),
        list(&name),
        times(longest),
        duration(median as i128),
        duration(total(&of))
    );
    let has_sizes = facts.log.measures(flowmine_activity_log::Measure::ReadBytes).is_some();
    let action = match shared.last() {
        Some(of) if of.what == "input size" => format!("Split the inputs of {} by size, or start the largest first.", list(&name)),
        Some(of) if of.what == "node" => {
            format!("Compare {} {} with the others: load, clock rate, local disk.", facts.node_word(), of.value)
        }
        Some(of) => format!("Find what else was busy {}: the file system, the network, other work on the nodes.", of.value),
        None if has_sizes || !facts.source.is_computation() => {
            format!("Compare the slow instances of {} with others: they share no {} and no hour.", list(&name), facts.node_word())
        }
        None => format!(
            "Why the slow ones of {} are slow is not recorded: trace a run with `flowmine trace`, which records what each reads.",
            list(&name)
        ),
    };
    Some(facts.finding(Draft {
        rule: RULE.name,
        cause: format!("stragglers of {}", list(&name)),
        of: &of,
        found,
        shared,
        low_ns: Some(above(STRAGGLER_FACTOR.value)),
        assumption: "at the least, if each ran for three times the median; at the most, if each ran for the median".to_owned(),
        action,
        ..Draft::default()
    }))
}

//! Nodes on which all activities run longer than elsewhere.

use flowmine_draw::text::visible;
use rustc_hash::FxHashMap;

use super::*;
use crate::findings::facts::{Draft, times, total};
use crate::findings::source::Source;
use crate::findings::thresholds::{SLOW_NODE_FACTOR, SLOW_NODE_INSTANCES, SLOW_NODE_SHARE};
use crate::stats::percentile;

pub(super) static RULE: Rule = Rule {
    name: "slow-node",
    finds: "almost everything on a node ran longer than the same activities on other nodes",
    at_stake: "the running times above those of the other nodes",
    gain: "at the least what is above 1.2 times the median of the other nodes, at the most what is above the median",
    needs: &[Need::Nodes, Need::Intervals],
    thresholds: &[&SLOW_NODE_FACTOR, &SLOW_NODE_INSTANCES, &SLOW_NODE_SHARE],
    is_always_listed: false,
    find,
};

/// Multiple of the median up to which running times count as usual.
const USUAL: f64 = 1.2;

/// Returns for each node the successful instances, with their running times and the median of their
/// activity on all other nodes.
fn compared(facts: &Facts<'_>) -> FxHashMap<u32, Vec<(u32, f64, f64)>> {
    let mut found: FxHashMap<u32, Vec<(u32, f64, f64)>> = FxHashMap::default();
    for (_, all) in &facts.activities {
        let mut by_node: FxHashMap<u32, Vec<(u32, i64)>> = FxHashMap::default();
        for &at in all.iter().filter(|&&at| facts.is_usual(at)) {
            if let Some((node, ran)) = facts.resource(at).zip(facts.ran(at)) {
                by_node.entry(node).or_default().push((at, ran));
            }
        }
        let count: usize = by_node.values().map(Vec::len).sum();
        let mut medians: Vec<(f64, u32)> =
            by_node.iter().map(|(&node, of)| (percentile(&mut of.iter().map(|(_, ns)| *ns).collect::<Vec<_>>(), 0.5), node)).collect();
        medians.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then_with(|| facts.resource_called(a.1).cmp(facts.resource_called(b.1))));
        for (place, &(_, node)) in medians.iter().enumerate() {
            let of = &by_node[&node];
            if ((count - of.len()) as f64) < SLOW_NODE_INSTANCES.value {
                continue;
            }
            // The lower median of the other nodes' medians.
            let middle = (medians.len() - 2) / 2;
            let baseline = medians[if middle >= place { middle + 1 } else { middle }].0;
            found.entry(node).or_default().extend(of.iter().map(|&(at, ns)| (at, ns as f64, baseline)));
        }
    }
    found
}

/// Returns the slow nodes of a log, each with the factor by which it is slower.
pub(in crate::findings) fn slow_nodes(facts: &Facts<'_>) -> FxHashMap<u32, f64> {
    let mut slow = FxHashMap::default();
    for (node, of) in compared(facts) {
        let mut ratios: Vec<f64> = of.iter().filter(|(_, _, base)| *base > 0.0).map(|(_, ns, base)| ns / base).collect();
        if (ratios.len() as f64) < SLOW_NODE_INSTANCES.value {
            continue;
        }
        ratios.sort_unstable_by(f64::total_cmp);
        let median = ratios[ratios.len() / 2];
        let longer = ratios.iter().filter(|ratio| **ratio >= USUAL).count();
        if median >= SLOW_NODE_FACTOR.value && longer as f64 >= SLOW_NODE_SHARE.value * ratios.len() as f64 {
            slow.insert(node, median);
        }
    }
    slow
}

fn find(facts: &Facts<'_>) -> Vec<Finding> {
    if facts.slow_nodes.is_empty() {
        return Vec::new();
    }
    let all = compared(facts);
    let mut nodes: Vec<(&str, u32, f64)> =
        facts.slow_nodes.iter().map(|(&node, &factor)| (facts.resource_called(node), node, factor)).collect();
    nodes.sort_unstable_by(|a, b| a.0.cmp(b.0));
    nodes.into_iter().filter_map(|(name, node, factor)| finding(facts, name, factor, all.get(&node)?)).collect()
}

fn finding(facts: &Facts<'_>, name: &str, factor: f64, all: &[(u32, f64, f64)]) -> Option<Finding> {
    let above = |factor: f64| -> Vec<(u32, i128)> {
        all.iter().map(|&(at, ns, base)| (at, (ns - factor * base) as i128)).filter(|(_, ns)| *ns > 0).collect()
    };
    let of = above(1.0);
    let (name, word) = (visible(name), facts.node_word());
    let action = match facts.source {
        Source::Slurm => format!("Leave it out (`--exclude={name}`) until it is repaired, and report it to the administrators."),
        Source::Engine => format!("Take {name} out of the engine's nodes until it is repaired."),
        Source::Other => format!("Compare how {name} works with the others."),
    };
    (!of.is_empty()).then(|| {
        facts.finding(Draft {
            rule: RULE.name,
            cause: format!("{word} {name}"),
            found: format!(
                "{} of {} on {word} {name} ran {} times as long as on the others, {} longer in all",
                facts.counted(all.len()),
                facts.listed(&of),
                times(factor),
                duration(total(&of))
            ),
            shared: vec![crate::findings::Shared { what: word, value: name.clone() }],
            of: &of,
            low_ns: Some(above(USUAL)),
            assumption: "if they had run on the others: at 1.2 times their median at the least, at their median at the most".to_owned(),
            action,
            ..Draft::default()
        })
    })
}

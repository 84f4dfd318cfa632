//! Running times that grow within a log.

use super::*;
use crate::findings::facts::{Draft, total};
use crate::findings::thresholds::{TREND_FACTOR, TREND_INSTANCES, TREND_ORDER};
use crate::stats::percentile;

pub(super) static RULE: Rule = Rule {
    name: "trend",
    finds: "running times of an activity grow from the first third of its instances to the last",
    at_stake: "the running times above the median of the first third",
    gain: "at the least half of it, at the most all of it",
    needs: &[Need::Intervals],
    thresholds: &[&TREND_INSTANCES, &TREND_FACTOR, &TREND_ORDER],
    is_always_listed: false,
    find,
};

/// Maximum number of instances that are compared in pairs; of more, evenly spaced ones.
const COMPARED: usize = 300;

fn find(facts: &Facts<'_>) -> Vec<Finding> {
    facts.activities.iter().filter_map(|(_, all)| finding(facts, all)).collect()
}

fn finding(facts: &Facts<'_>, all: &[u32]) -> Option<Finding> {
    let ran = |at: &u32| Some((facts.log.start_ns(*at)?, facts.key(*at), *at, facts.ran(*at)?));
    let mut times: Vec<_> = all.iter().filter(|&&at| facts.is_usual(at)).filter_map(ran).collect();
    if (times.len() as f64) < TREND_INSTANCES.value {
        return None;
    }
    times.sort_unstable();
    let third = times.len() / 3;
    let ran: Vec<i64> = times.iter().map(|of| of.3).collect();
    let median = |of: &[i64]| percentile(&mut of.to_vec(), 0.5);
    let (first, last) = (median(&ran[..third]), median(&ran[ran.len() - third..]));
    if first <= 0.0 || last < TREND_FACTOR.value * first || order(&ran) < TREND_ORDER.value {
        return None;
    }
    let of: Vec<(u32, i128)> = times.iter().map(|of| (of.2, i128::from(of.3) - first as i128)).filter(|(_, ns)| *ns > 0).collect();
    let half = of.iter().map(|&(at, ns)| (at, ns / 2)).collect();
    let name = list(&facts.names(&of));
    let action = if facts.source.is_computation() {
        format!("Look for what grows while {name} runs: a file or table that each reads, a disk that fills, inputs sorted by size.")
    } else {
        format!("Look for what changes while {name} is repeated: the number of open cases, the people, the kind of cases.")
    };
    Some(facts.finding(Draft {
        rule: RULE.name,
        cause: format!("growing times of {name}"),
        found: format!(
            "{name}: running times grow from {} to {}, as medians of the first and the last third of {}, {} in all",
            duration(first as i128),
            duration(last as i128),
            facts.counted(times.len()),
            duration(total(&of))
        ),
        of: &of,
        low_ns: Some(half),
        assumption: "at the least, if they grow half as fast; at the most, if they stay as short as at the beginning".to_owned(),
        action,
        ..Draft::default()
    }))
}

/// Returns the share of pairs in which the later instance is longer.
fn order(times: &[i64]) -> f64 {
    let step = times.len().div_ceil(COMPARED);
    let some: Vec<i64> = times.iter().copied().step_by(step.max(1)).collect();
    let (mut longer, mut pairs) = (0u64, 0u64);
    for (at, earlier) in some.iter().enumerate() {
        for later in &some[at + 1..] {
            longer += u64::from(later > earlier);
            pairs += u64::from(later != earlier);
        }
    }
    if pairs == 0 { 0.0 } else { longer as f64 / pairs as f64 }
}

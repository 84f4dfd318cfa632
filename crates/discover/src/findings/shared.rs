//! Values that some instances share and others do not have.

use std::collections::BTreeMap;

use flowmine_activity_log::Measure;
use flowmine_draw::axis::bytes;
use flowmine_draw::text::visible;

use super::Shared;
use super::facts::{Facts, times};
use super::thresholds::{INPUT_FACTOR, SHARED_BY, SHARED_ELSEWHERE};
use crate::stats::percentile;

/// Kind of value that instances can share.
type Value = fn(&Facts<'_>, u32) -> Option<String>;

/// Kind of shared value: its word and its value.
pub(super) type Dimension = (&'static str, Value);

const HOUR_NS: i64 = 3_600_000_000_000;

pub(super) const NODE: Dimension = ("node", |facts, at| facts.resource_name(at).map(visible));
pub(super) const HOUR: Dimension = ("hour", |facts, at| {
    let hour = facts.log.start_ns(at)?.div_euclid(HOUR_NS) * HOUR_NS;
    Some(format!("from {} on", crate::calendar::iso(hour)))
});
pub(super) const PARTITION: Dimension = ("partition", |facts, at| facts.text(at, facts.keys.partition).map(visible));
pub(super) const EXIT_CODE: Dimension = ("exit code", |facts, at| {
    // Instances that did not fail have 0, which is not a shared value.
    facts.text(at, facts.keys.exit_code).filter(|code| !matches!(*code, "0" | "0:0")).map(visible)
});
pub(super) const ERROR: Dimension = ("error", |facts, at| {
    let line = facts.text(at, facts.keys.error)?.lines().rev().find(|line| !line.trim().is_empty())?;
    Some(visible(&line.trim().chars().take(200).collect::<String>()))
});
pub(super) const INPUT: Dimension = ("input", |facts, at| facts.text(at, facts.keys.tag).map(visible));
pub(super) const MEMORY: Dimension =
    ("requested memory", |facts, at| facts.log.measure(Measure::MemoryBytes, at).filter(|asked| *asked > 0).map(bytes));
pub(super) const TIME_LIMIT: Dimension = ("time limit", |facts, at| {
    let limit = facts.log.measure(Measure::TimeLimitNs, at).filter(|limit| *limit > 0)?;
    Some(flowmine_draw::text::duration(limit as f64))
});

/// Returns the values that `these` share and `others` do not have, in the order of `dimensions`.
pub(super) fn shared(facts: &Facts<'_>, these: &[u32], others: &[u32], dimensions: &[Dimension]) -> Vec<Shared> {
    if these.len() < 2 {
        return Vec::new();
    }
    let of = |(what, value): &Dimension| {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        these.iter().filter_map(|&at| value(facts, at)).for_each(|value| *counts.entry(value).or_default() += 1);
        let (most, count) = counts.into_iter().rev().max_by_key(|(_, count)| *count)?;
        if (count as f64) < SHARED_BY.value * these.len() as f64 {
            return None;
        }
        let known: Vec<String> = others.iter().filter_map(|&at| value(facts, at)).collect();
        let elsewhere = known.iter().filter(|value| **value == most).count();
        // A value that all instances have explains nothing.
        let is_common = elsewhere as f64 > SHARED_ELSEWHERE.value * known.len() as f64;
        (!is_common && !others.is_empty() || others.is_empty() && matches!(*what, "exit code" | "error"))
            .then_some(Shared { what, value: most })
    };
    dimensions.iter().filter_map(of).collect()
}

/// Returns how much more `these` read than `others`, if the difference is large; one instance is
/// enough.
pub(super) fn larger_input(facts: &Facts<'_>, these: &[u32], others: &[u32]) -> Option<Shared> {
    let median = |of: &[u32]| {
        let mut read: Vec<i64> = of.iter().filter_map(|&at| facts.log.measure(Measure::ReadBytes, at)).collect();
        (!read.is_empty()).then(|| percentile(&mut read, 0.5))
    };
    let (here, there) = (median(these)?, median(others)?);
    let factor = here / there.max(1.0);
    (factor >= INPUT_FACTOR.value).then(|| Shared {
        what: "input size",
        value: format!("{} read, {} times as much as by the others", bytes(here as i128), times(factor)),
    })
}

/// Returns shared values as a clause: `on node n7, exit code 1`; empty without values.
pub(super) fn words(shared: &[Shared]) -> String {
    shared.iter().map(|of| format!("{} {}", of.what, of.value)).collect::<Vec<_>>().join(", ")
}

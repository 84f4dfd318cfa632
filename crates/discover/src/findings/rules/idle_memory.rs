//! Memory that was requested and not used.

use flowmine_draw::axis::bytes;

use super::*;
use crate::findings::facts::{Draft, times};
use crate::findings::thresholds::{MEMORY_FACTOR, MEMORY_PER_CPU_GIB};
use crate::resources::Outcome;

pub(super) static RULE: Rule = Rule {
    name: "idle-memory",
    finds: "instances requested several times the memory that they used",
    at_stake: "their core time, in proportion to the unused memory",
    gain: "nothing to all of it: it depends on whether memory or CPUs fill the nodes",
    needs: &[Need::Memory],
    thresholds: &[&MEMORY_FACTOR, &MEMORY_PER_CPU_GIB],
    is_always_listed: false,
    find,
};

fn find(facts: &Facts<'_>) -> Vec<Finding> {
    let mut of = Vec::new();
    let (mut asked_most, mut used_most) = (0i64, 0i64);
    for &at in facts.activities.iter().flat_map(|(_, all)| all) {
        // A failed instance may have needed it.
        let Some(usage) = facts.usage(at).filter(|usage| usage.outcome == Outcome::Other) else { continue };
        let Some((asked, used)) = usage.memory_bytes.zip(usage.peak_bytes.filter(|peak| *peak > 0)) else { continue };
        let idle_per_cpu = (asked - used) as f64 / usage.cpus.unwrap_or(1) as f64;
        if asked as f64 >= MEMORY_FACTOR.value * used as f64 && idle_per_cpu >= MEMORY_PER_CPU_GIB.value * f64::from(1u32 << 30) {
            of.push((at, (usage.elapsed_ns as f64 * (1.0 - used as f64 / asked as f64)) as i128));
            (asked_most, used_most) = (asked_most.max(asked), used_most.max(used));
        }
    }
    if of.is_empty() {
        return Vec::new();
    }
    let names = list(&facts.names(&of));
    let listed = facts.listed(&of);
    vec![facts.finding(Draft {
        rule: RULE.name,
        cause: "unused memory".to_owned(),
        found: format!(
            "{} of {listed} requested up to {} of memory and used {} at most, {} times less",
            facts.counted(of.len()),
            bytes(asked_most),
            bytes(used_most),
            times(asked_most as f64 / used_most.max(1) as f64)
        ),
        of: &of,
        assumption: "nothing if CPUs fill the nodes; all of it if memory does, so that CPUs stay idle".to_owned(),
        action: format!("Request {} of memory for each of {names}: the maximum and a fifth more.", bytes((used_most as f64 * 1.2) as i64)),
        ..Draft::default()
    })]
}

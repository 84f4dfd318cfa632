//! Memory that is too small.

use flowmine_activity_log::Measure;
use flowmine_draw::axis::bytes;

use super::*;
use crate::findings::endings::Ending;
use crate::findings::facts::{Draft, total, were};
use crate::findings::thresholds::NEAR_MEMORY;

pub(super) static RULE: Rule = Rule {
    name: "memory-limit",
    finds: "instances were killed because they used up the requested memory",
    at_stake: "their running times",
    gain: "all of it, if the memory is enough",
    needs: &[Need::Outcomes],
    thresholds: &[&NEAR_MEMORY],
    is_always_listed: true,
    find,
};

fn find(facts: &Facts<'_>) -> Vec<Finding> {
    let all = facts.activities.iter().flat_map(|(_, all)| all).copied();
    let of: Vec<(u32, i128)> =
        all.filter(|&at| facts.ending(at) == Ending::Memory).filter_map(|at| Some((at, i128::from(facts.ran(at)?)))).collect();
    if of.is_empty() {
        return Vec::new();
    }
    let asked = of.iter().filter_map(|&(at, _)| facts.log.measure(Measure::MemoryBytes, at)).max().filter(|asked| *asked > 0);
    let listed = facts.listed(&of);
    let action = match asked {
        Some(asked) => format!("Ask for {} instead of {} of memory.", bytes(asked.saturating_mul(2)), bytes(asked)),
        None => "Record requested memory and peak memory: how much they need is not known.".to_owned(),
    };
    let draft = Draft {
        rule: RULE.name,
        cause: "memory used up".to_owned(),
        found: format!(
            "{} of {listed} {} killed for lack of memory after {} of running",
            facts.counted(of.len()),
            were(of.len()),
            duration(total(&of))
        ),
        of: &of,
        low_ns: Some(of.clone()),
        assumption: "if their memory is enough".to_owned(),
        action,
        ..Draft::default()
    };
    vec![facts.finding(draft)]
}

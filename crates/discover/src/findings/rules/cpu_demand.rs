//! More CPU time than the requested CPUs can give.

use super::*;
use crate::findings::facts::{Draft, times};
use crate::findings::thresholds::MORE_CPUS;

pub(super) static RULE: Rule = Rule {
    name: "cpu-demand",
    finds: "instances used more CPU time than their CPUs can give",
    at_stake: "the core time beyond their CPUs, which others on the node lack",
    gain: "nothing to all of it, for others on the node",
    needs: &[Need::Cpus],
    thresholds: &[&MORE_CPUS],
    is_always_listed: false,
    find,
};

fn find(facts: &Facts<'_>) -> Vec<Finding> {
    let mut of = Vec::new();
    let mut most = 0.0f64;
    for &at in facts.activities.iter().flat_map(|(_, all)| all) {
        let usage = facts.usage(at);
        if let Some((usage, share)) =
            usage.and_then(|usage| Some((usage, usage.cpu_efficiency()?))).filter(|(_, share)| *share > MORE_CPUS.value)
        {
            // One CPU is available: the time beyond it is at stake.
            of.push((at, (usage.elapsed_ns as f64 * (share - 1.0)) as i128));
            most = most.max(share);
        }
    }
    if of.is_empty() {
        return Vec::new();
    }
    let names = list(&facts.names(&of));
    let listed = facts.listed(&of);
    vec![facts.finding(Draft {
        rule: RULE.name,
        cause: "more CPUs than requested".to_owned(),
        of: &of,
        found: format!(
            "{} of {listed} used up to {} times the CPU time of the CPUs that they requested",
            facts.counted(of.len()),
            times(most)
        ),
        assumption: "nothing if the node was free anyway; all of it if others wait for these CPUs".to_owned(),
        action: format!("Limit the threads of {names} to its CPUs, or request as many CPUs as it has threads."),
        ..Draft::default()
    })]
}

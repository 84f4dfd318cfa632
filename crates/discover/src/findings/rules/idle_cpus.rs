//! CPUs that were requested and not used.

use super::small_requests::io_ns;
use super::*;
use crate::findings::facts::Draft;
use crate::findings::thresholds::{CPU_EFFICIENCY, IO_SHARE};
use crate::resources::Outcome;

pub(super) static RULE: Rule = Rule {
    name: "idle-cpus",
    finds: "instances used less than half of their CPUs, of two or more, and reads and writes do not explain it",
    at_stake: "the core time of the idle CPUs",
    gain: "at the least with the CPUs that `requests` suggests, at the most with exactly those that were used",
    needs: &[Need::Cpus],
    thresholds: &[&CPU_EFFICIENCY, &IO_SHARE],
    is_always_listed: false,
    find,
};

/// Margin of the suggestion, as a share of the CPUs used, as in the model of requests.
const MARGIN: f64 = 1.2;

fn find(facts: &Facts<'_>) -> Vec<Finding> {
    // Times are those of the whole instance, because core time is time × CPUs.
    let (mut of, mut low) = (Vec::new(), Vec::new());
    let (mut used, mut there) = (0i128, 0i128);
    let mut most = (0i64, 0.0f64);
    for &at in facts.activities.iter().flat_map(|(_, all)| all) {
        let Some(usage) = facts.usage(at).filter(|usage| usage.cpus.is_some_and(|cpus| cpus > 1) && usage.outcome == Outcome::Other) else {
            continue;
        };
        // A smaller request does not help CPUs that wait for reads and writes.
        if io_ns(facts, at).is_some_and(|io| io as f64 >= IO_SHARE.value * usage.elapsed_ns as f64) {
            continue;
        }
        let Some(share) = usage.cpu_efficiency().filter(|share| *share < CPU_EFFICIENCY.value) else { continue };
        let cpus = usage.cpus.unwrap_or(1);
        let needed = usage.mean_cpus().unwrap_or(0.0);
        let suggested = ((needed * MARGIN).ceil() as i64).clamp(1, cpus);
        let ns = i128::from(usage.elapsed_ns);
        of.push((at, (ns as f64 * (1.0 - share)) as i128));
        low.push((at, ns * i128::from(cpus - suggested) / i128::from(cpus)));
        used = used.saturating_add(usage.cpu_used_ns().unwrap_or(0));
        there = there.saturating_add(usage.core_ns().unwrap_or(0));
        most = (most.0.max(cpus), most.1.max(needed));
    }
    if of.is_empty() {
        return Vec::new();
    }
    let names = list(&facts.names(&of));
    let listed = facts.listed(&of);
    let found = format!(
        "{} of {listed} used {} of their CPUs on average: up to {} CPUs were requested, and at most {:.1} used",
        facts.counted(of.len()),
        flowmine_draw::axis::percent(ratio(used, there)),
        most.0,
        most.1
    );
    vec![facts.finding(Draft {
        rule: RULE.name,
        cause: "idle CPUs".to_owned(),
        of: &of,
        found,
        low_ns: Some(low),
        assumption: "at the least with a fifth more CPUs than were used, at the most with exactly those".to_owned(),
        action: format!("Request {} for each of {names}, or let the program use its CPUs (threads, parts).", cpus_words(most.1)),
        ..Draft::default()
    })]
}

fn cpus_words(used: f64) -> String {
    let suggested = ((used * MARGIN).ceil() as u64).max(1);
    flowmine_draw::text::counted(suggested, "CPU", "CPUs")
}

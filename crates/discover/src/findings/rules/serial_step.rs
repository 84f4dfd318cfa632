//! A single instance that runs alone for much of a case, after many ran at the same time.

use std::collections::BTreeMap;

use super::*;
use crate::critical_path::TimePart;
use crate::findings::Limit;
use crate::findings::facts::Draft;
use crate::findings::thresholds::{SERIAL_SHARE, SERIAL_WIDTH};

pub(super) static RULE: Rule = Rule {
    name: "serial-step",
    finds: "one instance of an activity ran alone for much of the makespan, after many had run at the same time",
    at_stake: "the time in which it ran alone",
    gain: "at the least the what-if of the critical path with the step twice as fast, at the most the step divided by the width of the run",
    needs: &[Need::Intervals],
    thresholds: &[&SERIAL_SHARE, &SERIAL_WIDTH],
    is_always_listed: false,
    find,
};

/// Instances of one activity with the time in which each ran alone, and the largest width before.
#[derive(Default)]
struct Alone {
    of: Vec<(u32, i128)>,
    width: usize,
}

fn find(facts: &Facts<'_>) -> Vec<Finding> {
    if !facts.source.is_computation() {
        return Vec::new();
    }
    let mut by_activity: BTreeMap<String, Alone> = BTreeMap::new();
    for case in 0..facts.input.cases.len() {
        in_case(facts, case, &mut by_activity);
    }
    by_activity.iter().filter_map(|(name, alone)| finding(facts, name, alone)).collect()
}

/// Adds the time in which instances ran alone in a case, after at least as many as the width had
/// started.
fn in_case(facts: &Facts<'_>, case: usize, found: &mut BTreeMap<String, Alone>) {
    // Ends come before starts of the same moment.
    let mut moments: Vec<(i64, bool, u32)> = Vec::new();
    let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
    for at in facts.input.cases.of(case) {
        if let (Some(start), Some(end), Some(_)) = (facts.log.start_ns(at), facts.log.end_ns(at), facts.ran(at)) {
            moments.extend([(start, true, at), (end, false, at)]);
            *counts.entry(facts.log.instances.activity[at as usize]).or_default() += 1;
        }
    }
    moments.sort_unstable();
    let mut running: std::collections::BTreeSet<u32> = std::collections::BTreeSet::new();
    let (mut width, mut since) = (0, 0i64);
    let mut alone: BTreeMap<u32, i128> = BTreeMap::new();
    for (time, starts, at) in moments {
        if running.len() == 1
            && width as f64 >= SERIAL_WIDTH.value
            && let Some(&one) = running.first()
        {
            *alone.entry(one).or_default() += i128::from(time) - i128::from(since);
        }
        if starts {
            running.insert(at)
        } else {
            running.remove(&at)
        };
        width = width.max(running.len());
        since = time;
    }
    for (at, ns) in alone {
        let is_single = counts.get(&facts.log.instances.activity[at as usize]) == Some(&1);
        if is_single && ns > 0 {
            let of = found.entry(facts.log.activity(at).to_owned()).or_default();
            of.of.push((at, ns));
            of.width = of.width.max(width);
        }
    }
}

fn finding(facts: &Facts<'_>, name: &str, alone: &Alone) -> Option<Finding> {
    let sum: i128 = alone.of.iter().map(|(_, ns)| ns).sum();
    if ratio(sum, facts.whole.makespan_ns) < SERIAL_SHARE.value {
        return None;
    }
    let name_seen = flowmine_draw::text::visible(name);
    let most = sum - sum / (alone.width.max(1) as i128);
    let what_if = facts.input.path.filter(|_| facts.input.cases.len() == 1).and_then(|path| {
        let is_run = |part| matches!(part, TimePart::Run | TimePart::Compute);
        path.gains.iter().find(|gain| gain.activity.as_deref() == Some(name) && is_run(gain.part))
    });
    let (low, from) = match what_if {
        Some(gain) => (i128::from(gain.gain_ns.max(0)).min(most), "critical path"),
        // Of several runs, the model of the longest stands for it alone.
        None => match facts.input.prediction.and_then(|model| model.gain(name, Limit::Cpu)).filter(|(low, _)| *low > 0) {
            Some((low, _)) => (low.min(most), "prediction"),
            None => (most.min(sum / 2), "log"),
        },
    };
    let found = format!(
        "{name_seen} ran alone for {} in {}, after up to {} had run at the same time",
        duration(sum),
        flowmine_draw::text::counted(alone.of.len() as u64, "case", "cases"),
        facts.counted(alone.width)
    );
    let draft = Draft {
        rule: RULE.name,
        cause: format!("serial {name_seen}"),
        of: &alone.of,
        found,
        from,
        assumption: format!(
            "at the least, if it is twice as fast; at the most, if it is divided into {} parts that run at the same time",
            alone.width
        ),
        action: format!(
            "Divide {name_seen} into parts that run at the same time (by region, sample or a tree of merges), or give it threads."
        ),
        ..Draft::default()
    };
    Some(facts.makespan_finding(draft, (low, most)))
}

//! Time limits that are too short.

use flowmine_activity_log::Measure;

use super::*;
use crate::findings::endings::Ending;
use crate::findings::facts::{Draft, total, were};
use crate::findings::source::Source;
use crate::findings::thresholds::NEAR_LIMIT;

pub(super) static RULE: Rule = Rule {
    name: "time-limit",
    finds: "instances were killed at their time limit, or ended close to it",
    at_stake: "the running times of the killed ones, and a tenth of those that ended close to the limit",
    gain: "the running times of the killed ones, to that and a tenth of the others, if the limit is long enough",
    needs: &[Need::TimeLimits, Need::Intervals],
    thresholds: &[&NEAR_LIMIT],
    is_always_listed: false,
    find,
};

fn find(facts: &Facts<'_>) -> Vec<Finding> {
    let (mut killed, mut near) = (Vec::new(), Vec::new());
    let mut most: Option<(i64, i64)> = None;
    for &at in facts.activities.iter().flat_map(|(_, all)| all) {
        let Some(ran) = facts.ran(at) else { continue };
        let limit = facts.log.measure(Measure::TimeLimitNs, at).filter(|limit| *limit > 0);
        let is_near = limit.is_some_and(|limit| ran as f64 >= NEAR_LIMIT.value * limit as f64);
        match facts.ending(at) {
            Ending::TimeLimit => killed.push((at, i128::from(ran))),
            // Running times vary by a tenth: about one of ten instances so close to the limit is
            // killed next time.
            Ending::Done if is_near => near.push((at, i128::from(ran) / 10)),
            _ => continue,
        }
        most = most.max(limit.map(|limit| (ran, limit)));
    }
    let all: Vec<(u32, i128)> = killed.iter().chain(&near).copied().collect();
    if all.is_empty() {
        return Vec::new();
    }
    let close = match near.len() {
        0 => String::new(),
        n => format!("{} ended within a tenth of it", facts.counted(n)),
    };
    let what = match (killed.len(), close.is_empty()) {
        (0, _) => format!("{close}: no margin for a larger input"),
        (n, is_alone) => {
            let whose = if n == 1 { "its" } else { "their" };
            let also = if is_alone { String::new() } else { format!(", and {close}") };
            let ran = duration(total(&killed));
            format!("{} {} killed at {whose} time limit after {ran} of running{also}", facts.counted(n), were(n))
        }
    };
    let ask = most.map(|(ran, limit)| {
        let asked = suggested(ran, limit, !killed.is_empty());
        let option = if facts.source == Source::Slurm { " (`--time`)" } else { "" };
        format!("Ask for {}{option} instead of {} for the longest of them, or split its input.", duration(asked), duration(limit.into()))
    });
    let draft = Draft {
        rule: RULE.name,
        cause: "time limit too short".to_owned(),
        found: format!("{}: {what}", facts.listed(&all)),
        low_ns: Some(killed),
        of: &all,
        assumption: "at the least, nothing is killed; at the most, one of ten that ended close to the limit is saved, too".to_owned(),
        action: ask.unwrap_or_else(|| "Record time limits: how far these are too short is not known.".to_owned()),
        ..Draft::default()
    };
    vec![facts.finding(draft)]
}

/// Returns the limit to request: 1.5 times the longest time. If instances were killed, it is twice
/// the longest time or limit, because their full running time is not known.
fn suggested(ran: i64, limit: i64, is_killed: bool) -> i128 {
    let most = i128::from(ran.max(if is_killed { limit } else { 0 }));
    if is_killed { most * 2 } else { most * 3 / 2 }
}

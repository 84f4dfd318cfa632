//! Time in which no instance of a case runs or waits, until the next activity.

use std::collections::BTreeMap;

use flowmine_draw::text::visible;

use super::*;
use crate::findings::facts::{Draft, total, were};
use crate::findings::source::Source;
use crate::findings::thresholds::GAP_SHARE;

pub(super) static RULE: Rule = Rule {
    name: "submission-gap",
    finds: "nothing of a case ran or queued until its next activity was submitted or began",
    at_stake: "the time of these gaps",
    gain: "up to all of it, if each step is submitted when the one before it ends; a minute of each gap can remain",
    needs: &[Need::Intervals],
    thresholds: &[&GAP_SHARE],
    is_always_listed: false,
    find,
};

/// Wait that can remain in each gap: the poll interval of schedulers and engines.
const REMAINS_NS: i128 = 60_000_000_000;

/// Two activities, one after the other.
type Pair = (String, String);
/// Instances with the time before each, after one of a pair or of any.
type Gaps = (Option<Pair>, Vec<(u32, i128)>);

fn find(facts: &Facts<'_>) -> Vec<Finding> {
    let (log, cases) = (facts.log, facts.input.cases);
    if !log.has_intervals() {
        return Vec::new();
    }
    let mut gaps: BTreeMap<(String, String), Vec<(u32, i128)>> = BTreeMap::new();
    for case in 0..cases.len() {
        let mut latest: Option<(i64, u32)> = None;
        for at in cases.of(case) {
            if let (Some((ended, before)), Some(start)) = (latest, log.start_ns(at).filter(|_| log.start_is_known(at))) {
                // Waits after the submission belong to other rules.
                let gap = i128::from(log.submitted_ns(at).unwrap_or(start)) - i128::from(ended);
                if gap > 0 {
                    let pair = (log.activity(before).to_owned(), log.activity(at).to_owned());
                    gaps.entry(pair).or_default().push((at, gap));
                }
            }
            if let Some(end) = log.end_ns(at)
                && latest.is_none_or(|(known, _)| end >= known)
            {
                latest = Some((end, at));
            }
        }
    }
    // Programs are submitted by one engine or script; in business logs, the people differ by step.
    let merged: Vec<Gaps> = if facts.source.is_computation() {
        vec![(None, gaps.into_values().flatten().collect())]
    } else {
        gaps.into_iter().map(|(pair, of)| (Some(pair), of)).collect()
    };
    merged.into_iter().filter_map(|(pair, of)| finding(facts, pair, &of)).collect()
}

fn finding(facts: &Facts<'_>, pair: Option<Pair>, of: &[(u32, i128)]) -> Option<Finding> {
    let sum = total(of);
    if ratio(sum, facts.whole.makespan_ns) < GAP_SHARE.value {
        return None;
    }
    let mean = duration(sum / (of.len().max(1) as i128));
    let before = |pair: &Pair| format!("{} → {}", visible(&pair.0), visible(&pair.1));
    let (cause, found, action) = match (&pair, facts.source) {
        (Some(pair), _) => {
            let words = before(pair);
            let found = format!("{words}: cases waited {} between the two {}, {mean} on average", duration(sum), counted_times(of.len()));
            let action =
                format!("Find what happens between the steps of {words}: work that is not recorded, or cases without anyone in charge.");
            (words, found, action)
        }
        (None, source) => {
            let found = format!(
                "Nothing ran or queued for {} before {} of {} {} submitted, {mean} on average",
                duration(sum),
                facts.counted(of.len()),
                facts.listed(of),
                were(of.len())
            );
            let action = match source {
                Source::Slurm => "Submit each step with a dependency (`sbatch --dependency=afterok:…`) instead of after the one before it.",
                _ => "Let the engine start the next step by itself, or let it poll for finished tasks more often.",
            };
            ("late submission".to_owned(), found, action.to_owned())
        }
    };
    let low = of.iter().map(|&(_, ns)| (ns - REMAINS_NS).max(0)).sum();
    let draft = Draft {
        rule: RULE.name,
        cause,
        of,
        found,
        assumption: "if each step begins when the one before it ends; at the least, a minute of each gap remains".to_owned(),
        action,
        ..Draft::default()
    };
    Some(facts.makespan_finding(draft, (low, sum)))
}

fn counted_times(n: usize) -> String {
    flowmine_draw::text::counted(n as u64, "time", "times")
}

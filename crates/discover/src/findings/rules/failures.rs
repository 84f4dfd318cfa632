//! Failures without a later success, grouped by ending.

use std::collections::BTreeMap;

use super::flaky::later_success;
use super::*;
use crate::findings::Shared;
use crate::findings::endings::Ending;
use crate::findings::facts::{Draft, total, were};
use crate::findings::shared::{self, Dimension};

pub(super) static RULE: Rule = Rule {
    name: "failures",
    finds: "instances failed or were cancelled, and no later attempt succeeded",
    at_stake: "their running times",
    gain: "all of it, if the cause is repaired",
    needs: &[Need::Outcomes],
    thresholds: &[&crate::findings::thresholds::SHARED_BY, &crate::findings::thresholds::SHARED_ELSEWHERE],
    is_always_listed: true,
    find,
};

/// Maximum number of endings with a finding of their own.
const GROUPS: usize = 5;

/// Signature of all other endings together.
const OTHER_ENDINGS: &str = "one of several other endings";

/// Values that failures can share.
const DIMENSIONS: [Dimension; 8] =
    [shared::NODE, shared::EXIT_CODE, shared::ERROR, shared::INPUT, shared::MEMORY, shared::TIME_LIMIT, shared::PARTITION, shared::HOUR];

fn find(facts: &Facts<'_>) -> Vec<Finding> {
    let successes = later_success(facts);
    let mut groups: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    let mut others: Vec<u32> = Vec::new();
    for &at in facts.activities.iter().flat_map(|(_, all)| all) {
        match facts.ending(at) {
            Ending::Failed | Ending::Cancelled if !successes.contains(&at) && facts.ran(at).is_some() => {
                groups.entry(signature(facts, at)).or_default().push(at);
            }
            Ending::Done => others.push(at),
            _ => {}
        }
    }
    // The endings that cost most, each separately, and all others together.
    let mut groups: Vec<(String, Vec<u32>)> = groups.into_iter().collect();
    let ran = |these: &[u32]| these.iter().filter_map(|&at| facts.ran(at)).map(i128::from).sum::<i128>();
    groups.sort_by_cached_key(|(signature, these)| (std::cmp::Reverse(ran(these)), signature.clone()));
    let rest: Vec<u32> = groups.split_off(groups.len().min(GROUPS)).into_iter().flat_map(|(_, these)| these).collect();
    groups.extend((!rest.is_empty()).then(|| (OTHER_ENDINGS.to_owned(), rest)));
    groups.into_iter().map(|(signature, these)| finding(facts, &signature, &these, &others)).collect()
}

/// Returns the ending of an instance in words: failures with the same ending are one finding.
fn signature(facts: &Facts<'_>, at: u32) -> String {
    if facts.ending(at) == Ending::Cancelled {
        return "cancelled".to_owned();
    }
    let error = shared::ERROR.1(facts, at).map(|line| format!("error {line}"));
    let code = shared::EXIT_CODE.1(facts, at).map(|code| format!("exit code {code}"));
    let state = facts.text(at, facts.keys.state).filter(|state| *state != "FAILED").map(|state| format!("state {state}"));
    code.or(error).or(state).unwrap_or_else(|| "failed".to_owned())
}

fn finding(facts: &Facts<'_>, signature: &str, these: &[u32], others: &[u32]) -> Finding {
    let of: Vec<(u32, i128)> = these.iter().filter_map(|&at| Some((at, i128::from(facts.ran(at)?)))).collect();
    let shared = shared::shared(facts, these, others, &DIMENSIONS);
    let is_cancelled = signature == "cancelled";
    let verb = if is_cancelled { format!("{} cancelled", were(of.len())) } else { "failed".to_owned() };
    let how = match signature {
        "cancelled" | "failed" => String::new(),
        how => format!(" with {how}"),
    };
    let beyond: Vec<Shared> = shared.iter().filter(|of| !signature.contains(&of.value)).cloned().collect();
    let common = if beyond.is_empty() { String::new() } else { format!("; they share {}", shared::words(&beyond)) };
    let found =
        format!("{} of {} {verb}{how} after {} of running{common}", facts.counted(of.len()), facts.listed(&of), duration(total(&of)));
    let node = shared.iter().find(|of| of.what == "node");
    let action = match (node, is_cancelled) {
        (_, true) => "Find out who cancelled them and why: a wrong input is cheaper to find before the start.".to_owned(),
        (Some(node), _) => {
            format!("Leave {} {} out, and report it: what ran elsewhere did not fail like that.", facts.node_word(), node.value)
        }
        (None, _) if !beyond.is_empty() => format!("Look at what they share first: {}.", shared::words(&beyond)),
        (None, _) if facts.source.is_computation() => {
            format!("Read the error output of the failures{how}: no node, input, limit or hour is shared.")
        }
        (None, _) => "Look up the examples: no resource and no hour is shared.".to_owned(),
    };
    Facts::finding(
        facts,
        Draft {
            rule: RULE.name,
            cause: signature.to_owned(),
            of: &of,
            found,
            shared,
            low_ns: Some(of.clone()),
            assumption: "if none of them fails".to_owned(),
            action,
            ..Draft::default()
        },
    )
}

//! Failures after which another attempt succeeded.

use flowmine_activity_log::{NONE, Status};
use rustc_hash::{FxHashMap, FxHashSet};

use super::*;
use crate::findings::endings::Ending;
use crate::findings::facts::{Draft, total};
use crate::findings::shared::{self, Dimension};

pub(super) static RULE: Rule = Rule {
    name: "flaky",
    finds: "attempts failed and a later attempt at the same task or job succeeded",
    at_stake: "the running times of the failed attempts",
    gain: "all of it, if the first attempt succeeds",
    needs: &[Need::Outcomes],
    thresholds: &[&crate::findings::thresholds::SHARED_BY, &crate::findings::thresholds::SHARED_ELSEWHERE],
    is_always_listed: false,
    find,
};

const DIMENSIONS: [Dimension; 5] = [shared::INPUT, shared::NODE, shared::EXIT_CODE, shared::ERROR, shared::HOUR];

/// Returns the key of the attempts at one task: case, activity, and name if there is one.
fn task(facts: &Facts<'_>, at: u32) -> Option<(u32, u32, u32)> {
    let name = facts.keys.name.and_then(|names| names.of.get(at as usize).copied()).unwrap_or(NONE);
    // Without a name, only attempt numbers show that there are several attempts.
    (name != NONE || facts.log.attempt(at).is_some()).then(|| (facts.case(at), facts.log.instances.activity[at as usize], name))
}

/// Returns the instances that failed before a later attempt succeeded.
pub(super) fn later_success(facts: &Facts<'_>) -> FxHashSet<u32> {
    let mut done: FxHashMap<(u32, u32, u32), i64> = FxHashMap::default();
    for &at in facts.activities.iter().flat_map(|(_, all)| all) {
        if facts.log.status(at) == Status::Completed
            && let Some((task, start)) = task(facts, at).zip(facts.log.start_ns(at))
        {
            let latest = done.entry(task).or_insert(start);
            *latest = start.max(*latest);
        }
    }
    let is_retried = |at: u32| {
        let end = facts.log.end_ns(at)?;
        task(facts, at).and_then(|task| done.get(&task)).filter(|success| **success >= end).map(|_| at)
    };
    let all = facts.activities.iter().flat_map(|(_, all)| all).copied();
    all.filter(|&at| facts.ending(at) == Ending::Failed).filter_map(is_retried).collect()
}

fn find(facts: &Facts<'_>) -> Vec<Finding> {
    let retried = later_success(facts);
    let (mut these, mut others) = (Vec::new(), Vec::new());
    for &at in facts.activities.iter().flat_map(|(_, all)| all) {
        match facts.ending(at) {
            _ if retried.contains(&at) => these.push(at),
            Ending::Done => others.push(at),
            _ => {}
        }
    }
    let of: Vec<(u32, i128)> = these.iter().filter_map(|&at| Some((at, i128::from(facts.ran(at)?)))).collect();
    if of.is_empty() {
        return Vec::new();
    }
    // The successful attempt has the same input, so it does not count as another instance.
    let tasks: FxHashSet<_> = these.iter().filter_map(|&at| task(facts, at)).collect();
    others.retain(|&at| task(facts, at).is_none_or(|task| !tasks.contains(&task)));
    let shared = shared::shared(facts, &these, &others, &DIMENSIONS);
    let common = if shared.is_empty() { String::new() } else { format!("; they share {}", shared::words(&shared)) };
    let found = format!(
        "{} of {} failed after {} of running, and a later attempt succeeded{common}",
        facts.counted(of.len()),
        facts.listed(&of),
        duration(total(&of))
    );
    let action = match shared.iter().find(|of| matches!(of.what, "node" | "input")) {
        Some(of) if of.what == "node" => format!("Leave node {} out, and report it: attempts elsewhere succeeded.", of.value),
        Some(of) => format!("Look at how {} reaches its task: the same input is read well later.", of.value),
        None => {
            "Compare the error output of a failed attempt with the one that succeeded: downloads, licences and shared files come first."
                .to_owned()
        }
    };
    let draft = Draft {
        rule: RULE.name,
        cause: "failed first, succeeded later".to_owned(),
        of: &of,
        found,
        shared,
        low_ns: Some(of.clone()),
        assumption: "if the first attempts succeed".to_owned(),
        action,
        ..Draft::default()
    };
    vec![facts.finding(draft)]
}

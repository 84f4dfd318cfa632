//! Running time that is mostly reads and writes.

use flowmine_activity_log::Measure;
use flowmine_draw::axis::bytes;
use flowmine_draw::text::visible;

use super::small_requests::{io_ns, is_small};
use super::*;
use crate::findings::facts::{Draft, total};
use crate::findings::predicted::of_files;
use crate::findings::thresholds::IO_SHARE;

pub(super) static RULE: Rule = Rule {
    name: "io-time",
    finds: "reads and writes took half of the running time or more, with requests that are not small",
    at_stake: "the time in reads and writes",
    gain: "nothing to all of it: it depends on the speed of other storage; of a traced run, what the fitted model predicts",
    needs: &[Need::Operations],
    thresholds: &[&IO_SHARE],
    is_always_listed: false,
    find,
};

fn find(facts: &Facts<'_>) -> Vec<Finding> {
    facts.activities.iter().filter_map(|(activity, all)| finding(facts, facts.log.activities.get(*activity), all)).collect()
}

fn finding(facts: &Facts<'_>, activity: &str, all: &[u32]) -> Option<Finding> {
    let of: Vec<(u32, i128)> = all.iter().filter(|&&at| !is_small(facts, at)).filter_map(|&at| Some((at, io_ns(facts, at)?))).collect();
    let ran: i128 = of.iter().filter_map(|(at, _)| facts.ran(*at)).map(i128::from).sum();
    let sum = total(&of);
    if sum == 0 || ratio(sum, ran) < IO_SHARE.value {
        return None;
    }
    let moved: i128 = of
        .iter()
        .flat_map(|(at, _)| [Measure::ReadBytes, Measure::WrittenBytes].map(|measure| facts.log.measure(measure, *at).unwrap_or(0)))
        .map(i128::from)
        .sum();
    let name = visible(activity);
    let rate = bytes((moved as f64 / (sum as f64 / 1e9)) as i64);
    let finding = facts.finding(Draft {
        rule: RULE.name,
        cause: format!("reads and writes of {name}"),
        found: format!(
            "{} of {name} spent {} of {} of running in reads and writes, at {rate}/s",
            facts.counted(of.len()),
            duration(sum),
            duration(ran)
        ),
        of: &of,
        assumption: "nothing if its storage is as fast as any; all of it if reads and writes take no time".to_owned(),
        action: format!("Put the files of {name} on node-local or faster storage, or compress them."),
        ..Draft::default()
    });
    Some(of_files(facts, finding, activity))
}

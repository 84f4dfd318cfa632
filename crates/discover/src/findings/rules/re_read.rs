//! Bytes that one instance reads repeatedly.

use flowmine_activity_log::Measure;
use flowmine_draw::axis::bytes;
use flowmine_draw::text::visible;

use super::small_requests::{Place, io_ns};
use super::*;
use crate::findings::facts::{Draft, total};
use crate::findings::thresholds::{LEAST_SHARE, READ_AGAIN};

pub(super) static RULE: Rule = Rule {
    name: "re-read",
    finds: "instances read the same bytes again; program and file are named",
    at_stake: "the share of the time in reads and writes that these bytes have",
    gain: "nothing to all of it: it depends on whether the bytes come from memory already",
    needs: &[Need::Operations, Need::Profile],
    thresholds: &[&READ_AGAIN],
    is_always_listed: false,
    find,
};

fn find(facts: &Facts<'_>) -> Vec<Finding> {
    facts.activities.iter().filter_map(|(activity, all)| finding(facts, facts.log.activities.get(*activity), all)).collect()
}

fn finding(facts: &Facts<'_>, activity: &str, all: &[u32]) -> Option<Finding> {
    let again = |at: u32| {
        let read = facts.log.measure(Measure::ReadBytes, at).filter(|read| *read > 0)?;
        let unique = facts.log.measure(Measure::UniqueReadBytes, at).filter(|unique| *unique < read)?;
        Some((read, read - unique))
    };
    let these: Vec<(u32, i64, i64)> = all.iter().filter_map(|&at| again(at).map(|(read, again)| (at, read, again))).collect();
    let these: Vec<_> = these.into_iter().filter(|of| of.2 as f64 >= READ_AGAIN.value * of.1 as f64).collect();
    let of: Vec<(u32, i128)> =
        these.iter().filter_map(|&(at, read, again)| Some((at, io_ns(facts, at)? * i128::from(again) / i128::from(read)))).collect();
    if of.is_empty() {
        return None;
    }
    let (read, again) = these.iter().fold((0i128, 0i128), |sum, of| (sum.0 + i128::from(of.1), sum.1 + i128::from(of.2)));
    let name = visible(activity);
    // The names are looked up only for findings that can be listed.
    let is_large = ratio(total(&of), facts.whole.time_ns) >= LEAST_SHARE.value;
    let place = facts.input.profile.filter(|_| is_large).map(|profile| Place::of(profile, activity, |_, bytes| bytes > 0));
    // Processes of one instance that each read a file once are no process that reads it again.
    let is_reference = |file: &String| facts.input.profile.is_some_and(|profile| reference::is_reference(profile, file));
    if place.as_ref().and_then(|place| place.file.as_ref()).is_some_and(is_reference) {
        return None;
    }
    let words = place.as_ref().map(Place::words).unwrap_or_default();
    let file = place.as_ref().and_then(|place| place.file.clone()).unwrap_or_else(|| "the file".to_owned());
    Some(facts.finding(Draft {
        rule: RULE.name,
        cause: format!("repeated reads of {name}"),
        found: format!("{} of {name} read {} again, of {} in all{words}", facts.counted(of.len()), bytes(again), bytes(read)),
        of: &of,
        from: if place.is_some() { "profile" } else { "log" },
        assumption: "nothing if the bytes come from the page cache already; all of it if each is read from storage".to_owned(),
        action: format!("Keep what {name} reads in memory, or copy {file} to node-local storage first."),
        ..Draft::default()
    }))
}

//! One file that very many processes read.

use flowmine_draw::axis::{bytes, percent};
use flowmine_draw::text::{count, visible};

use super::*;
use crate::findings::thresholds::{REFERENCE_PROCESSES, REFERENCE_SHARE};
use crate::io_profile::{FileUse, Profile};

pub(super) static RULE: Rule = Rule {
    name: "reference",
    finds: "one file, such as a reference, was read by very many processes",
    at_stake: "the time in reads of this file",
    gain: "nothing to all but one of the reads: it depends on the cache of the nodes",
    needs: &[Need::Profile],
    thresholds: &[&REFERENCE_PROCESSES, &REFERENCE_SHARE],
    is_always_listed: false,
    find,
};

fn find(facts: &Facts<'_>) -> Vec<Finding> {
    let Some(profile) = facts.input.profile else { return Vec::new() };
    references(profile).map(|file| finding(facts, profile, file)).collect()
}

/// Returns the files of a profile that very many processes read.
fn references(profile: &Profile) -> impl Iterator<Item = &FileUse> {
    let all = i128::from(profile.total.read_bytes);
    profile.files.iter().filter(move |file| {
        file.processes as f64 >= REFERENCE_PROCESSES.value
            && file.sums.written_bytes == 0
            && ratio(file.sums.read_bytes.into(), all) >= REFERENCE_SHARE.value
    })
}

/// Returns whether a file, by its name on display, is one that very many processes read, so that
/// other rules leave its reads to this one.
pub(super) fn is_reference(profile: &Profile, shown: &str) -> bool {
    references(profile).any(|file| visible(&file.path) == shown)
}

fn finding(facts: &Facts<'_>, profile: &Profile, file: &FileUse) -> Finding {
    let mut uses: Vec<_> = profile.uses.iter().filter(|of| of.path == file.path).collect();
    uses.sort_by(|a, b| b.sums.time_ns.cmp(&a.sums.time_ns).then_with(|| a.group.cmp(&b.group)));
    let groups: Vec<(String, i128)> = uses.iter().map(|of| (of.group.clone(), of.sums.time_ns.into())).collect();
    let names = list_with_shares(&groups);
    let (activities, activity_shares) = with_shares(groups);
    let time_ns = i128::from(file.sums.time_ns);
    let path = visible(&file.path);
    let share = ratio(file.sums.read_bytes.into(), profile.total.read_bytes.into());
    Finding {
        rule: RULE.name,
        cause: format!("file {path}"),
        found: format!(
            "{path} was read by {} processes of {}: {}, {} of all bytes read, in {}",
            count(file.processes),
            names,
            bytes(file.sums.read_bytes),
            percent(share),
            duration(time_ns)
        ),
        activities,
        activity_shares,
        shared: vec![crate::findings::Shared { what: "file", value: path.clone() }],
        instances: file.processes,
        examples: Vec::new(),
        at_stake_ns: time_ns,
        at_stake_core_ns: None,
        share: ratio(time_ns, facts.whole.time_ns.max(time_ns)),
        share_of: Quantity::Time,
        gain: Gain {
            low_ns: 0,
            high_ns: time_ns - time_ns / i128::from(file.processes.max(1)),
            of: Quantity::Time,
            from: "profile",
            assumption: "nothing if each node caches the file; at the most if it is read once".to_owned(),
        },
        action: format!("Copy {path} to node-local storage once for each node, or let one process serve several inputs."),
        weight_ns: time_ns,
    }
}

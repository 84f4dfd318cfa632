//! Reads and writes of few bytes each.

use flowmine_activity_log::Measure;
use flowmine_draw::axis::bytes;
use flowmine_draw::text::{count, visible};

use super::*;
use crate::findings::facts::{Draft, total};
use crate::findings::predicted::of_files;
use crate::findings::thresholds::{LEAST_SHARE, SMALL_BYTES, SMALL_CALLS};
use crate::io_profile::Profile;

pub(super) static RULE: Rule = Rule {
    name: "small-requests",
    finds: "instances read or wrote few bytes at a time, in many calls; program and file are named",
    at_stake: "the time in these reads and writes",
    gain: "nothing to what requests of 1 MiB save, at the same cost of a call; of a traced run, what the fitted model predicts",
    needs: &[Need::Operations, Need::Profile],
    thresholds: &[&SMALL_BYTES, &SMALL_CALLS],
    is_always_listed: false,
    find,
};

/// Recommended size of requests, in bytes.
const ADVISED_BYTES: f64 = 1_048_576.0;

/// Returns calls and bytes of an instance, if its requests are small.
fn small(facts: &Facts<'_>, at: u32) -> Option<(i64, i64)> {
    let of = |calls, bytes| {
        let calls = facts.log.measure(calls, at).filter(|calls| *calls > 0)?;
        Some((calls, facts.log.measure(bytes, at)?))
    };
    let both = [of(Measure::ReadCalls, Measure::ReadBytes), of(Measure::WriteCalls, Measure::WrittenBytes)];
    let (calls, moved) = both.into_iter().flatten().fold((0, 0), |sum, of| (sum.0 + of.0, sum.1 + of.1));
    (calls as f64 >= SMALL_CALLS.value && (moved as f64) < SMALL_BYTES.value * calls as f64).then_some((calls, moved))
}

/// Returns whether the requests of an instance are small, so that other rules leave its I/O to this
/// one.
pub(super) fn is_small(facts: &Facts<'_>, at: u32) -> bool {
    small(facts, at).is_some()
}

/// Returns the time in reads and writes, at most the running time, because threads read in
/// parallel.
pub(super) fn io_ns(facts: &Facts<'_>, at: u32) -> Option<i128> {
    let io = facts.log.measure(Measure::IoTimeNs, at)?;
    Some(i128::from(io.min(facts.ran(at)?)))
}

fn find(facts: &Facts<'_>) -> Vec<Finding> {
    facts.activities.iter().filter_map(|(activity, all)| finding(facts, facts.log.activities.get(*activity), all)).collect()
}

fn finding(facts: &Facts<'_>, activity: &str, all: &[u32]) -> Option<Finding> {
    let these: Vec<(u32, i128, i64, i64)> = all
        .iter()
        .filter_map(|&at| {
            let (calls, moved) = small(facts, at)?;
            Some((at, io_ns(facts, at)?, calls, moved))
        })
        .collect();
    let (calls, moved) = these.iter().fold((0i128, 0i128), |sum, of| (sum.0 + i128::from(of.2), sum.1 + i128::from(of.3)));
    if calls == 0 {
        return None;
    }
    let of: Vec<(u32, i128)> = these.iter().map(|of| (of.0, of.1)).collect();
    let mean = moved as f64 / calls as f64;
    let saved = 1.0 - (mean / ADVISED_BYTES).min(1.0);
    let high = of.iter().map(|&(at, ns)| (at, (ns as f64 * saved) as i128)).collect();
    let name = visible(activity);
    // The names are looked up only for findings that can be listed.
    let is_large = ratio(total(&of), facts.whole.time_ns) >= LEAST_SHARE.value;
    let profile = facts.input.profile.filter(|_| is_large);
    let place = profile.map(|profile| Place::of(profile, activity, |reads, bytes| (bytes as f64) < SMALL_BYTES.value * reads as f64));
    let words = place.as_ref().map(Place::words).unwrap_or_default();
    let program = place.as_ref().and_then(|place| place.program.clone()).unwrap_or_else(|| name.clone());
    let finding = facts.finding(Draft {
        rule: RULE.name,
        cause: format!("small requests of {name}"),
        found: format!(
            "{} of {name} moved {} on average in {} calls, which took {}{words}",
            facts.counted(of.len()),
            bytes(mean as i64),
            count(calls.unsigned_abs()),
            duration(total(&of))
        ),
        of: &of,
        high_ns: Some(high),
        from: if place.is_some() { "profile" } else { "log" },
        assumption: "nothing if the program copies in memory only; at the most with requests of 1 MiB, if a call costs what it costs now"
            .to_owned(),
        action: format!(
            "Give {program} a larger buffer (1 MiB), or a library that collects requests; put many small files into one archive."
        ),
        ..Draft::default()
    });
    Some(of_files(facts, finding, activity))
}

/// Program and file with most requests.
pub(super) struct Place {
    pub program: Option<String>,
    pub file: Option<String>,
}

impl Place {
    /// Returns the file and program of an activity with most calls, among those for which `is_of`
    /// holds.
    pub fn of(profile: &Profile, activity: &str, is_of: impl Fn(u64, i64) -> bool) -> Self {
        let calls = |of: &crate::io_profile::Sums| (of.read_calls + of.write_calls, of.read_bytes.saturating_add(of.written_bytes));
        let mine = profile.by == "program" || profile.groups.iter().any(|group| group.name == activity);
        let uses = profile.uses.iter().filter(|of| mine && of.group == activity && is_of(calls(&of.sums).0, calls(&of.sums).1));
        let file = uses.max_by_key(|of| (calls(&of.sums).0, std::cmp::Reverse(&of.path))).map(|of| visible(&of.path));
        let processes = profile.processes.iter().filter(|of| mine && of.group == activity);
        let program = processes.max_by_key(|of| (calls(&of.sums).0, std::cmp::Reverse(of.pid))).and_then(|of| of.program.as_deref());
        Self { program: program.map(visible), file }
    }

    /// Returns ` (program P, file F)`, as far as they are known.
    pub fn words(&self) -> String {
        let parts: Vec<String> =
            [self.program.as_ref().map(|of| format!("program {of}")), self.file.as_ref().map(|of| format!("file {of}"))]
                .into_iter()
                .flatten()
                .collect();
        if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
    }
}

//! The rules. A rule is a file here and a line in [`ALL`].

mod array_throttle;
mod cpu_demand;
mod failures;
mod flaky;
mod idle_cpus;
mod idle_memory;
mod io_time;
mod limits;
mod memory_limit;
mod needless_dependency;
mod own_wish;
mod queue;
mod re_read;
mod reference;
mod serial_step;
pub(super) mod slow_node;
mod small_requests;
mod stragglers;
mod submission_gap;
mod time_limit;
mod trend;
mod unavailable;

use super::facts::{Facts, duration, is_long_wait, list, list_with_shares, ratio, with_shares};
use super::thresholds::{QUEUE_MEAN_S, QUEUE_SHARE, Threshold};
use super::waits::Wait;
use super::{Finding, Gain, Need, Quantity};

/// A rule, with the data that it needs.
pub struct Rule {
    /// Name of the rule.
    pub name: &'static str,
    /// Its findings, as a clause.
    pub finds: &'static str,
    /// Time at stake, as a noun phrase.
    pub at_stake: &'static str,
    /// Range of the gain, with its assumption.
    pub gain: &'static str,
    /// Data that it requires.
    pub needs: &'static [Need],
    /// Thresholds of the rule.
    pub thresholds: &'static [&'static Threshold],
    /// Whether its findings are listed even if little is at stake.
    pub is_always_listed: bool,
    /// Function that returns its findings.
    pub(super) find: fn(&Facts<'_>) -> Vec<Finding>,
}

impl std::fmt::Debug for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rule").field("name", &self.name).finish_non_exhaustive()
    }
}

/// All rules, in the order of the documentation.
pub static ALL: &[&Rule] = &[
    &queue::RULE,
    &unavailable::RULE,
    &limits::RULE,
    &array_throttle::RULE,
    &own_wish::RULE,
    &submission_gap::RULE,
    &failures::RULE,
    &flaky::RULE,
    &time_limit::RULE,
    &memory_limit::RULE,
    &stragglers::RULE,
    &slow_node::RULE,
    &trend::RULE,
    &serial_step::RULE,
    &needless_dependency::RULE,
    &idle_cpus::RULE,
    &cpu_demand::RULE,
    &idle_memory::RULE,
    &small_requests::RULE,
    &re_read::RULE,
    &reference::RULE,
    &io_time::RULE,
];

/// Returns whether findings of the rule with this name are listed even if little is at stake.
pub(super) fn is_always_listed(name: &str) -> bool {
    ALL.iter().any(|rule| rule.name == name && rule.is_always_listed)
}

/// Required data and thresholds of rules about waiting.
const WAIT_NEEDS: &[Need] = &[Need::Submissions, Need::Causes];
const WAIT_THRESHOLDS: &[&Threshold] = &[&QUEUE_MEAN_S, &QUEUE_SHARE];

/// Finding about waiting: the waits, the rule, the cause, the words after `waited … `, the gain and
/// the action.
struct Waited<'w> {
    rule: &'static str,
    waits: Vec<&'w Wait>,
    cause: String,
    /// Words between the number and the time, such as `waited`.
    verb: &'static str,
    /// Words after the time, such as `for priority in partition long`.
    words: String,
    assumption: &'static str,
    action: String,
}

impl Waited<'_> {
    /// Returns the finding if instances waited for long.
    fn finding(self, facts: &Facts<'_>) -> Option<Finding> {
        let Sums { time_ns, core_ns, instances, is_known } = Sums::new(&self.waits);
        let share_of = if is_known { Quantity::CoreTime } else { Quantity::Time };
        let part = if is_known { core_ns } else { time_ns };
        let share = share(facts, &self.waits);
        if !is_large(facts, &self.waits) {
            return None;
        }
        let mut activities: std::collections::BTreeMap<&str, i128> = std::collections::BTreeMap::new();
        for (name, ns) in self.waits.iter().flat_map(|wait| &wait.activities) {
            *activities.entry(name).or_default() += ns;
        }
        let mut activities: Vec<(&str, i128)> = activities.into_iter().collect();
        activities.sort_by_key(|&(_, ns)| std::cmp::Reverse(ns));
        let activities: Vec<(String, i128)> = activities.into_iter().map(|(name, ns)| (name.to_owned(), ns)).collect();
        let mut examples: Vec<_> = self.waits.iter().flat_map(|wait| wait.examples.clone()).collect();
        examples.sort_by_key(|example| std::cmp::Reverse(example.time_ns));
        examples.truncate(3);
        let found = format!(
            "{} of {} {} {} {}, {} on average",
            facts.counted(instances as usize),
            list_with_shares(&activities),
            self.verb,
            duration(time_ns),
            self.words,
            duration(time_ns / i128::from(instances.max(1)))
        );
        let (activities, activity_shares) = with_shares(activities);
        Some(Finding {
            rule: self.rule,
            cause: self.cause,
            activities,
            activity_shares,
            found,
            shared: Vec::new(),
            instances,
            examples,
            at_stake_ns: time_ns,
            at_stake_core_ns: is_known.then_some(core_ns),
            share,
            share_of,
            gain: Gain { low_ns: 0, high_ns: part, of: share_of, from: "log", assumption: self.assumption.to_owned() },
            action: self.action,
            weight_ns: core_ns,
        })
    }
}

/// Waits added up.
struct Sums {
    time_ns: i128,
    core_ns: i128,
    instances: u64,
    /// Whether the CPUs of all are known.
    is_known: bool,
}

impl Sums {
    fn new(waits: &[&Wait]) -> Self {
        let sum = |of: fn(&Wait) -> i128| waits.iter().map(|wait| of(wait)).sum::<i128>();
        Self {
            time_ns: sum(|wait| wait.time_ns),
            core_ns: sum(|wait| wait.core_ns),
            instances: waits.iter().map(|wait| wait.instances).sum(),
            is_known: waits.iter().all(|wait| wait.cpus_are_known),
        }
    }
}

/// Returns the share of waits in the time in the queue and running.
fn share(facts: &Facts<'_>, waits: &[&Wait]) -> f64 {
    let sums = Sums::new(waits);
    let (part, whole) = if sums.is_known { (sums.core_ns, facts.whole.core_ns) } else { (sums.time_ns, facts.whole.time_ns) };
    // Delays by the job's own settings are not part of the time in the queue.
    ratio(part, whole.max(part))
}

/// Returns whether instances waited for long, and for much of their time.
fn is_large(facts: &Facts<'_>, waits: &[&Wait]) -> bool {
    let sums = Sums::new(waits);
    is_long_wait(sums.time_ns, sums.instances) && share(facts, waits) >= QUEUE_SHARE.value
}

/// Returns waits of some causes, grouped by cause and partition.
fn by_cause_and_partition<'f>(facts: &'f Facts<'_>, is_of_rule: impl Fn(&Wait) -> bool) -> Vec<(&'f str, Option<&'f str>, Vec<&'f Wait>)> {
    let mut found: std::collections::BTreeMap<(&str, Option<&str>), Vec<&Wait>> = std::collections::BTreeMap::new();
    for wait in facts.waits.iter().filter(|wait| is_of_rule(wait)) {
        found.entry((&wait.cause, wait.partition.as_deref())).or_default().push(wait);
    }
    found.into_iter().map(|((cause, partition), waits)| (cause, partition, waits)).collect()
}

/// Returns ` in partition long`, or nothing if the partition is not known.
fn in_partition(partition: Option<&str>) -> String {
    partition.map(|name| format!(" in partition {}", flowmine_draw::text::visible(name))).unwrap_or_default()
}

/// Returns whether a cause belongs to the rule about limits.
fn is_limit(cause: &str) -> bool {
    cause.starts_with("limit_of_")
}

/// Returns whether a cause is an unavailable resource: a partition, nodes.
fn is_unavailable(cause: &str) -> bool {
    matches!(cause, "partition_down" | "node_down" | "reservation_of_others" | "reservation")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_unique_and_descriptions_are_clauses() {
        for of in [|rule: &Rule| rule.name, |rule: &Rule| rule.finds] {
            assert_eq!(ALL.iter().map(|rule| of(rule)).collect::<BTreeSet<_>>().len(), ALL.len());
        }
        for rule in ALL {
            assert!(!rule.needs.is_empty(), "{}", rule.name);
            assert!(![rule.finds, rule.at_stake, rule.gain].iter().any(|text| text.is_empty() || text.ends_with('.')), "{}", rule.name);
        }
    }
}

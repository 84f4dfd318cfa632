//! Facts about a log that rules need, computed once.

use std::cmp::Reverse;

use flowmine_activity_log::{ActivityLog, Attribute, JOB, Measure, NONE, Status};
use flowmine_draw::axis::percent;
use flowmine_draw::text::{counted, visible};
use rustc_hash::FxHashMap;

use super::endings::Ending;
use super::source::{EXECUTOR, Source};
use super::waits::{self, Wait};
use super::{Example, Finding, Gain, Input, Quantity, Shared, Whole, thresholds};
use crate::about::{About, span};
use crate::ranks::InstanceRanks;
use crate::resources::{STATE, Usage};
use crate::stats::percentile;
use crate::who::{Identities, JOB_IN_FILES};

/// Maximum number of instances that a finding names.
const EXAMPLES: usize = 3;

/// Maximum number of activities that a sentence names.
const NAMED: usize = 3;

/// Attributes that rules read, if the log has them.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Keys<'a> {
    pub state: Option<&'a Attribute>,
    pub exit_code: Option<&'a Attribute>,
    pub error: Option<&'a Attribute>,
    pub partition: Option<&'a Attribute>,
    pub tag: Option<&'a Attribute>,
    pub name: Option<&'a Attribute>,
    /// The nodes of jobs.
    pub nodes: Option<&'a Attribute>,
}

impl<'a> Keys<'a> {
    fn new(log: &'a ActivityLog) -> Self {
        // An attribute without values is treated as missing.
        let first = |keys: &[&str]| keys.iter().find_map(|key| log.attribute(key).filter(|attribute| !attribute.names.is_empty()));
        Self {
            state: first(&[STATE, "slurm:state"]),
            exit_code: first(&["task:exit_code", "slurm:exit_code", "exit_code"]),
            error: first(&["task:error", "error"]),
            partition: first(&["partition", "slurm:partition"]),
            tag: first(&["task:tag"]),
            name: first(&["task:name", JOB, JOB_IN_FILES]),
            nodes: first(&[NODES, "slurm:node_list"]),
        }
    }
}

/// The attribute that names the nodes of a job.
pub const NODES: &str = "node_list";

/// Attributes of instances that rules read, in addition to those that identify them.
pub const OF_TASKS: [&str; 3] = ["task:exit_code", "task:error", EXECUTOR];

pub(super) struct Facts<'a> {
    pub input: Input<'a>,
    pub log: &'a ActivityLog,
    pub source: Source,
    pub keys: Keys<'a>,
    pub whole: Whole,
    /// Activities that occur in cases, by name, each with its instances.
    pub activities: Vec<(u32, Vec<u32>)>,
    /// Medians of running times, by activity.
    pub medians: FxHashMap<u32, f64>,
    /// Slow nodes, each with the factor by which it is slower.
    pub slow_nodes: FxHashMap<u32, f64>,
    /// Waits of instances.
    pub waits: Vec<Wait>,
    ranks: InstanceRanks<'a>,
    identities: Identities,
    endings: Vec<Ending>,
    word: String,
}

impl<'a> Facts<'a> {
    pub fn new(input: &Input<'a>) -> Self {
        let (log, cases) = (input.log, input.cases);
        let ranks = InstanceRanks::new(log, cases);
        let mut of: Vec<Vec<u32>> = vec![Vec::new(); log.activities.len()];
        for (at, &activity) in (0u32..).zip(&log.instances.activity) {
            if ranks.case(at) != NONE {
                of[activity as usize].push(at);
            }
        }
        let activities = log.activities.sorted().into_iter().map(|number| {
            let mut all = std::mem::take(&mut of[number as usize]);
            // Cases can be in any order.
            all.sort_unstable_by_key(|&at| ranks.key(at));
            (number, all)
        });
        let activities: Vec<(u32, Vec<u32>)> = activities.filter(|(_, all)| !all.is_empty()).collect();
        let mut facts = Self {
            input: *input,
            log,
            source: Source::new(log),
            keys: Keys::new(log),
            whole: Whole::default(),
            activities,
            medians: FxHashMap::default(),
            slow_nodes: FxHashMap::default(),
            waits: Vec::new(),
            ranks,
            identities: Identities::new(log),
            endings: Vec::new(),
            word: About::new(log, cases).word(),
        };
        facts.endings = (0..log.len() as u32).map(|at| Ending::new(&facts, at)).collect();
        for (activity, all) in &facts.activities {
            let mut times: Vec<i64> = all.iter().filter(|&&at| facts.is_usual(at)).filter_map(|&at| facts.ran(at)).collect();
            facts.medians.insert(*activity, percentile(&mut times, 0.5));
        }
        facts.whole = facts.measure_whole();
        facts.waits = input.waits.map_or_else(|| waits::of_log(&facts), <[Wait]>::to_vec);
        facts.slow_nodes = super::rules::slow_node::slow_nodes(&facts);
        facts
    }

    fn measure_whole(&self) -> Whole {
        let mut whole = Whole::default();
        for &at in self.activities.iter().flat_map(|(_, all)| all) {
            let queue = self.log.queue_ns(at).unwrap_or(0);
            let time = i128::from(queue) + i128::from(self.ran(at).unwrap_or(0));
            whole.time_ns = whole.time_ns.saturating_add(time);
            whole.core_ns = whole.core_ns.saturating_add(time.saturating_mul(self.cpus(at).unwrap_or(1).into()));
        }
        for case in 0..self.input.cases.len() {
            if let Some((begin, end)) = span(self.log, self.input.cases, case) {
                whole.makespan_ns = whole.makespan_ns.saturating_add(i128::from(end) - i128::from(begin));
            }
        }
        whole
    }

    /// Returns the running time of an instance; none for reused results of an earlier run.
    pub fn ran(&self, at: u32) -> Option<i64> {
        self.log.service_ns(at).filter(|ns| *ns > 0 && self.log.status(at) != Status::Cached)
    }

    pub fn ending(&self, at: u32) -> Ending {
        self.endings[at as usize]
    }

    /// Returns whether an instance ended with a result, so that its running time is typical of its
    /// activity.
    pub fn is_usual(&self, at: u32) -> bool {
        Ending::new(self, at) == Ending::Done
    }

    pub fn cpus(&self, at: u32) -> Option<i64> {
        self.log.measure(Measure::Cpus, at).filter(|cpus| *cpus > 0)
    }

    pub fn usage(&self, at: u32) -> Option<Usage> {
        Usage::new(self.log, self.keys.state, at)
    }

    pub fn text<'t>(&self, at: u32, of: Option<&'t Attribute>) -> Option<&'t str> {
        of.and_then(|of| of.value(at)).filter(|text| !text.is_empty())
    }

    /// Returns the number of the node, or other resource, of an instance.
    pub fn resource(&self, at: u32) -> Option<u32> {
        let numbers = match (self.keys.nodes, self.source) {
            (Some(nodes), _) => &nodes.of,
            // The resource of a job is its user.
            (None, Source::Slurm) if self.log.words.instance != "task" => return None,
            _ => &self.log.instances.resource,
        };
        let number = numbers.get(at as usize).copied().filter(|number| *number != NONE)?;
        (!self.resource_called(number).is_empty()).then_some(number)
    }

    /// Returns the name of a node or other resource, by its number.
    pub fn resource_called(&self, number: u32) -> &'a str {
        self.keys.nodes.map_or(&self.log.resources, |nodes| &nodes.names).get(number)
    }

    pub fn resource_name(&self, at: u32) -> Option<&'a str> {
        self.resource(at).map(|resource| self.resource_called(resource))
    }

    /// Returns the word for a resource.
    pub fn node_word(&self) -> &'static str {
        if self.source.is_computation() { "node" } else { "resource" }
    }

    pub fn case(&self, at: u32) -> u32 {
        self.ranks.case(at)
    }

    pub fn key(&self, at: u32) -> (u32, u32, u32) {
        self.ranks.key(at)
    }

    /// Returns a number of instances with their word.
    pub fn counted(&self, n: usize) -> String {
        counted(n as u64, &self.word, &format!("{}s", self.word))
    }

    /// Returns the core time of these times of instances, and whether the CPUs of all are known.
    pub fn core_ns(&self, of: &[(u32, i128)]) -> (i128, bool) {
        let (mut core, mut is_known) = (0i128, !of.is_empty());
        for &(at, ns) in of {
            let cpus = self.cpus(at);
            is_known &= cpus.is_some();
            core = core.saturating_add(ns.saturating_mul(cpus.unwrap_or(1).into()));
        }
        (core, is_known)
    }

    /// Returns the names of the activities of instances, most time first.
    pub fn names(&self, of: &[(u32, i128)]) -> Vec<String> {
        self.names_with_times(of).into_iter().map(|(name, _)| name).collect()
    }

    /// Returns the first activities of instances, each with its share of their time.
    pub fn listed(&self, of: &[(u32, i128)]) -> String {
        list_with_shares(&self.names_with_times(of))
    }

    /// Returns the names of the activities of instances with their times, most time first.
    fn names_with_times(&self, of: &[(u32, i128)]) -> Vec<(String, i128)> {
        let mut by_activity: FxHashMap<u32, i128> = FxHashMap::default();
        for &(at, ns) in of {
            *by_activity.entry(self.log.instances.activity[at as usize]).or_default() += ns;
        }
        let mut sums: Vec<(i128, &str)> = by_activity.iter().map(|(&number, &ns)| (ns, self.log.activities.get(number))).collect();
        sums.sort_unstable_by_key(|&(ns, name)| (Reverse(ns), name));
        sums.into_iter().map(|(ns, name)| (name.to_owned(), ns)).collect()
    }

    fn example(&self, at: u32, time_ns: i128) -> Example {
        let case = self.case(at);
        Example {
            who: self.identities.who(at),
            case: (case != NONE).then(|| self.input.cases.names.get(case).to_owned()),
            start_ns: self.log.start_ns(at),
            resource: self.resource_name(at).map(str::to_owned),
            time_ns,
        }
    }

    pub fn examples(&self, of: &[(u32, i128)]) -> Vec<Example> {
        let mut most = of.to_vec();
        most.sort_unstable_by_key(|&(at, ns)| (Reverse(ns), self.key(at)));
        most.into_iter().take(EXAMPLES).map(|(at, ns)| self.example(at, ns)).collect()
    }

    /// Makes a finding about the times of instances.
    pub fn finding(&self, draft: Draft<'_>) -> Finding {
        let Draft { rule, cause, of, found, shared, low_ns, high_ns, from, assumption, action } = draft;
        let (core, is_known) = self.core_ns(of);
        let at_stake_ns: i128 = of.iter().map(|(_, ns)| ns).sum();
        let (quantity, part, whole) =
            if is_known { (Quantity::CoreTime, core, self.whole.core_ns) } else { (Quantity::Time, at_stake_ns, self.whole.time_ns) };
        let gain = |of: Option<Vec<(u32, i128)>>, usual: i128| {
            of.map_or(usual, |of| if is_known { self.core_ns(&of).0 } else { of.iter().map(|(_, ns)| ns).sum() })
        };
        let (activities, activity_shares) = with_shares(self.names_with_times(of));
        Finding {
            rule,
            cause,
            activities,
            activity_shares,
            found,
            shared,
            instances: of.len() as u64,
            examples: self.examples(of),
            at_stake_ns,
            at_stake_core_ns: is_known.then_some(core),
            share: ratio(part, whole),
            share_of: quantity,
            gain: Gain { low_ns: gain(low_ns, 0), high_ns: gain(high_ns, part), of: quantity, from, assumption },
            action,
            weight_ns: core,
        }
    }

    /// Makes a finding about the makespan of cases: it weighs the same share of all core time.
    pub fn makespan_finding(&self, draft: Draft<'_>, (low_ns, high_ns): (i128, i128)) -> Finding {
        let mut finding = self.finding(draft);
        finding.share = ratio(finding.at_stake_ns, self.whole.makespan_ns);
        finding.share_of = Quantity::Makespan;
        finding.at_stake_core_ns = None;
        finding.gain.low_ns = low_ns;
        finding.gain.high_ns = high_ns;
        finding.gain.of = Quantity::Makespan;
        finding.weight_ns = (finding.share * self.whole.core_ns as f64) as i128;
        finding
    }
}

/// Result of a rule, before it is added up.
pub(super) struct Draft<'a> {
    pub rule: &'static str,
    pub cause: String,
    /// The instances with their time at stake.
    pub of: &'a [(u32, i128)],
    pub found: String,
    pub shared: Vec<Shared>,
    /// Minimum gain of each; empty if there is none.
    pub low_ns: Option<Vec<(u32, i128)>>,
    /// Maximum gain of each; if empty, the time at stake.
    pub high_ns: Option<Vec<(u32, i128)>>,
    pub from: &'static str,
    pub assumption: String,
    pub action: String,
}

impl Default for Draft<'_> {
    fn default() -> Self {
        Self {
            rule: "",
            cause: String::new(),
            of: &[],
            found: String::new(),
            shared: Vec::new(),
            low_ns: None,
            high_ns: None,
            from: "log",
            assumption: String::new(),
            action: String::new(),
        }
    }
}

pub(super) fn ratio(part: i128, whole: i128) -> f64 {
    if whole > 0 { part as f64 / whole as f64 } else { 0.0 }
}

/// Returns the first names, escaped for display, and the number of the others.
pub(super) fn list(names: &[String]) -> String {
    let words: Vec<String> = names.iter().take(NAMED).map(|name| visible(name)).collect();
    and_more(&words.join(", "), names.len(), "")
}

/// Returns the first names with their shares of the time, if there are more than are named: then a
/// reader has to know which matter.
pub(super) fn list_with_shares(names: &[(String, i128)]) -> String {
    let sum: i128 = names.iter().map(|(_, ns)| ns).sum();
    let share = |ns: i128| if names.len() > NAMED && sum > 0 { format!(" ({})", percent(ratio(ns, sum))) } else { String::new() };
    let words: Vec<String> = names.iter().take(NAMED).map(|(name, ns)| format!("{}{}", visible(name), share(*ns))).collect();
    let others = names.iter().skip(NAMED).map(|(_, ns)| ns).sum();
    and_more(&words.join(", "), names.len(), &share(others))
}

fn and_more(words: &str, all: usize, share: &str) -> String {
    match all.saturating_sub(NAMED) {
        0 => words.to_owned(),
        more => format!("{words} and {more} more{share}"),
    }
}

/// Returns names and their shares of the sum of their times.
pub(super) fn with_shares(names: Vec<(String, i128)>) -> (Vec<String>, Vec<f64>) {
    let sum: i128 = names.iter().map(|(_, ns)| ns).sum();
    names.into_iter().map(|(name, ns)| (name, ratio(ns, sum))).unzip()
}

/// Returns `was` for one, `were` for other numbers.
pub(super) fn were(n: usize) -> &'static str {
    if n == 1 { "was" } else { "were" }
}

pub(super) fn duration(ns: i128) -> String {
    flowmine_draw::text::duration(ns as f64)
}

pub(super) fn total(of: &[(u32, i128)]) -> i128 {
    of.iter().map(|(_, ns)| ns).sum()
}

/// Formats a number without trailing zeros: `12`, `3.5`.
pub(super) fn times(factor: f64) -> String {
    if factor >= 10.0 { format!("{factor:.0}") } else { format!("{factor:.1}") }
}

/// Returns whether a mean is worth a finding about the queue.
pub(super) fn is_long_wait(time_ns: i128, instances: u64) -> bool {
    time_ns as f64 >= thresholds::QUEUE_MEAN_S.value * 1e9 * instances.max(1) as f64
}

//! Findings: avoidable losses of time in a log, each with its cause, evidence, share, gain and
//! action.
//!
//! In goes a log with its cases and, if available, the waits of jobs, one run as a graph with its
//! critical path, and a profile of reads and writes ([`Input`]). Out comes a list, ranked by the
//! **weight** of each finding: core time, in which an instance without known CPUs counts as one
//! CPU. A finding about the makespan of runs weighs the same share of all core time.
//!
//! A rule is a file below `findings/rules/` and a line in [`rules::ALL`]. Thresholds are in
//! [`thresholds`], each with its reason. Rules merge findings with the same cause in several
//! activities.
//!
//! The stakes of findings overlap (a slow node delays a critical path); do not add them.

mod endings;
mod facts;
mod needs;
mod predicted;
pub mod rules;
mod shared;
mod source;
#[cfg(test)]
mod tests;
pub mod thresholds;
pub mod waits;

use flowmine_activity_log::{ActivityLog, Cases, RunGraph};
use schemars::JsonSchema;
use serde::Serialize;

use crate::about::About;
use crate::critical_path::CriticalPath;
use crate::io_profile::Profile;
use crate::who::Who;
use facts::Facts;

pub use facts::{NODES, OF_TASKS};
pub use needs::Need;
pub use predicted::{Limit, Predictor};
pub use source::Source;
pub use thresholds::Threshold;

/// Input of the rules.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// The log.
    pub log: &'a ActivityLog,
    /// Its cases.
    pub cases: &'a Cases,
    /// Waits of its jobs; without them, queue times and causes come from the log.
    pub waits: Option<&'a [waits::Wait]>,
    /// One run as a graph: the case with the longest time from start to end.
    pub run: Option<&'a RunGraph>,
    /// The critical path of this run.
    pub path: Option<&'a CriticalPath>,
    /// Profile of reads and writes of files, by activity.
    pub profile: Option<&'a Profile>,
    /// Model of a traced run, which predicts gains.
    pub prediction: Option<&'a dyn Predictor>,
}

impl<'a> Input<'a> {
    /// Creates an input from a log and its cases alone.
    pub fn of(log: &'a ActivityLog, cases: &'a Cases) -> Self {
        Self { log, cases, waits: None, run: None, path: None, profile: None, prediction: None }
    }
}

/// The ranked findings of a log.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Findings {
    /// Description of the log.
    pub about: About,
    /// Recorder of the log, as far as advice depends on it.
    pub source: Source,
    /// Totals of which shares are parts.
    pub whole: Whole,
    /// The findings, most at stake first.
    pub findings: Vec<Finding>,
    /// Number of findings with less than the least share at stake.
    pub small: u64,
    /// Gaps: what could not be judged, and what to record.
    pub not_judged: Vec<NotJudged>,
    /// Thresholds of the rules.
    pub thresholds: Vec<Threshold>,
}

/// Totals of which shares are parts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Whole {
    /// Time in the queue and running time, over all instances, in nanoseconds.
    pub time_ns: i128,
    /// Time in the queue and running time × CPUs, in nanoseconds of one core. An instance without
    /// known CPUs counts as one CPU.
    pub core_ns: i128,
    /// Time from start to end, over all cases, in nanoseconds.
    pub makespan_ns: i128,
}

/// Quantity of a share or a gain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// Core time in the queue and running.
    CoreTime,
    /// Time in the queue and running, if CPUs are not known.
    Time,
    /// Time from start to end of the cases.
    Makespan,
}

impl Quantity {
    /// Returns its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::CoreTime => "core_time",
            Self::Time => "time",
            Self::Makespan => "makespan",
        }
    }

    /// Returns its description.
    pub fn words(self) -> &'static str {
        match self {
            Self::CoreTime => "the core time in the queue and running",
            Self::Time => "the time in the queue and running",
            Self::Makespan => "the time from begin to end of the cases",
        }
    }
}

/// A finding.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Finding {
    /// Name of the rule that found it.
    pub rule: &'static str,
    /// The cause, in a few words.
    pub cause: String,
    /// Activities of the finding, most at stake first.
    pub activities: Vec<String>,
    /// Share of each activity in the time at stake, 0 to 1, in the order of `activities`.
    pub activity_shares: Vec<f64>,
    /// The fact: a sentence with its numbers, without a full stop.
    pub found: String,
    /// Values that the instances share and others do not have.
    pub shared: Vec<Shared>,
    /// Number of instances that show it.
    pub instances: u64,
    /// Up to three instances that show it most.
    pub examples: Vec<Example>,
    /// Time at stake, in nanoseconds.
    pub at_stake_ns: i128,
    /// Core time at stake, in nanoseconds of one core; null if CPUs are not known, and for findings
    /// about makespan.
    pub at_stake_core_ns: Option<i128>,
    /// The share at stake, 0 to 1.
    pub share: f64,
    /// Quantity of which `share` is a part.
    pub share_of: Quantity,
    /// Estimated gain.
    pub gain: Gain,
    /// Recommended action, in sentences.
    pub action: String,
    /// Weight for the ranking, in nanoseconds of one core.
    #[serde(skip)]
    weight_ns: i128,
}

/// Value that a finding's instances share and most others do not have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Shared {
    /// Kind of value: node, hour, exit code, …
    pub what: &'static str,
    /// Its value, in words.
    pub value: String,
}

/// Estimated gain, as a range with its assumption.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Gain {
    /// Lower bound, in nanoseconds of `of`.
    pub low_ns: i128,
    /// Upper bound, in nanoseconds of `of`.
    pub high_ns: i128,
    /// Quantity that is gained.
    pub of: Quantity,
    /// Source of the range: `log`, `critical path`, `profile` or `prediction`.
    pub from: &'static str,
    /// The assumption, as a clause.
    pub assumption: String,
}

/// An instance that shows a finding.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Example {
    /// Identity of the instance.
    #[serde(flatten)]
    pub who: Who,
    /// The name of its case; null if it is not known.
    pub case: Option<String>,
    /// Start, in nanoseconds since 1970.
    pub start_ns: Option<i64>,
    /// The node or other resource on which it ran.
    pub resource: Option<String>,
    /// Time at stake, in nanoseconds.
    pub time_ns: i128,
}

/// Gap: missing data, and rules that could not be judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NotJudged {
    /// The data that is missing, as a noun phrase.
    pub missing: &'static str,
    /// The rules that need it.
    pub rules: Vec<&'static str>,
    /// What to record, as a sentence.
    pub record: &'static str,
}

/// Finds avoidable losses of time, and ranks them.
pub fn discover(input: &Input<'_>) -> Findings {
    let facts = Facts::new(input);
    let mut findings: Vec<Finding> = rules::ALL.iter().flat_map(|rule| (rule.find)(&facts)).collect();
    findings.retain(|finding| finding.at_stake_ns > 0);
    findings.sort_by(|a, b| b.weight_ns.cmp(&a.weight_ns).then_with(|| (a.rule, &a.cause, &a.found).cmp(&(b.rule, &b.cause, &b.found))));
    let all = findings.len();
    findings.retain(|finding| finding.share >= thresholds::LEAST_SHARE.value || rules::is_always_listed(finding.rule));
    let small = (all - findings.len()) as u64;
    refer_to_repeated_sentences(&mut findings);
    Findings {
        about: About::new(input.log, input.cases),
        source: facts.source,
        whole: facts.whole,
        small,
        findings,
        not_judged: needs::not_judged(&facts),
        thresholds: thresholds::ALL.iter().map(|threshold| **threshold).collect(),
    }
}

/// Replaces an action or assumption that an earlier finding states by a reference to it.
fn refer_to_repeated_sentences(findings: &mut [Finding]) {
    for at in 1..findings.len() {
        let (before, rest) = findings.split_at_mut(at);
        if let Some(same) = before.iter().position(|earlier| earlier.action == rest[0].action) {
            rest[0].action = format!("Finding {} has the same action.", same + 1);
        }
        if let Some(same) = before.iter().position(|earlier| earlier.gain.assumption == rest[0].gain.assumption) {
            rest[0].gain.assumption = format!("as finding {} assumes", same + 1);
        }
    }
}

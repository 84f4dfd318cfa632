//! Findings: what costs a log time that can be won back, each with its cause, evidence, share, gain
//! and action.
//!
//! In goes a log with its cases, and, where they are known, what jobs waited for, one run as a
//! graph with its critical path, and a profile of reads and writes ([`Input`]). Out comes a list,
//! ranked by the **weight** of each finding: core time, in which an instance whose CPUs are not
//! known counts as one CPU. A finding about the makespan of runs weighs the same share of all core
//! time.
//!
//! A rule is a file below `findings/rules/` and a line in [`rules::ALL`]. Thresholds are in
//! [`thresholds`], each with its reason. Rules merge what has one cause over activities.
//!
//! Stakes of findings overlap (a slow node delays a critical path) and are not to be added.

mod endings;
mod facts;
mod needs;
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
pub use source::Source;
pub use thresholds::Threshold;

/// What findings are made of.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// The log.
    pub log: &'a ActivityLog,
    /// Its cases.
    pub cases: &'a Cases,
    /// What its jobs waited for; without them the log's own queue times and causes count.
    pub waits: Option<&'a [waits::Wait]>,
    /// One run as a graph: that of the case with the longest time from begin to end.
    pub run: Option<&'a RunGraph>,
    /// The critical path of this run.
    pub path: Option<&'a CriticalPath>,
    /// How files were read and written, by activity.
    pub profile: Option<&'a Profile>,
}

impl<'a> Input<'a> {
    /// A log and its cases, and nothing else.
    pub fn of(log: &'a ActivityLog, cases: &'a Cases) -> Self {
        Self { log, cases, waits: None, run: None, path: None, profile: None }
    }
}

/// The ranked findings of a log.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Findings {
    /// The log that the findings are of.
    pub about: About,
    /// What recorded the log, as far as advice depends on it.
    pub source: Source,
    /// What shares are parts of.
    pub whole: Whole,
    /// The findings, most at stake first.
    pub findings: Vec<Finding>,
    /// Number of findings with less than the least share at stake.
    pub small: u64,
    /// What could not be judged, and what to record so that it can.
    pub not_judged: Vec<NotJudged>,
    /// The thresholds by which findings were made.
    pub thresholds: Vec<Threshold>,
}

/// What shares are parts of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Whole {
    /// Time in the queue and running time, over all instances, in nanoseconds.
    pub time_ns: i128,
    /// The same, each multiplied by the CPUs of its instance, in nanoseconds of one core. An
    /// instance whose CPUs are not known counts as one.
    pub core_ns: i128,
    /// From begin to end, over all cases, in nanoseconds.
    pub makespan_ns: i128,
}

/// What a share is a part of, and what a gain is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// Core time in the queue and running.
    CoreTime,
    /// Time in the queue and running, where CPUs are not known.
    Time,
    /// Time from begin to end of the cases.
    Makespan,
}

impl Quantity {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::CoreTime => "core_time",
            Self::Time => "time",
            Self::Makespan => "makespan",
        }
    }

    /// What it is, in words.
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
    /// The activities that it is about, most at stake first.
    pub activities: Vec<String>,
    /// What was found, in a sentence with its numbers, without a full stop.
    pub found: String,
    /// What the instances have in common that others have not.
    pub shared: Vec<Shared>,
    /// Number of instances that show it.
    pub instances: u64,
    /// Up to three instances that show it most.
    pub examples: Vec<Example>,
    /// Time at stake, in nanoseconds.
    pub at_stake_ns: i128,
    /// Core time at stake, in nanoseconds of one core; null where CPUs are not known, and of
    /// findings about makespan.
    pub at_stake_core_ns: Option<i128>,
    /// The share at stake, 0 to 1.
    pub share: f64,
    /// What `share` is a part of.
    pub share_of: Quantity,
    /// What would be gained.
    pub gain: Gain,
    /// What to do, in sentences.
    pub action: String,
    /// What the finding is ranked by, in nanoseconds of one core.
    #[serde(skip)]
    weight_ns: i128,
}

/// What a finding's instances have in common that most others have not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Shared {
    /// What it is: node, hour, exit code, …
    pub what: &'static str,
    /// Its value, in words.
    pub value: String,
}

/// What would be gained, as a range with its assumption.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Gain {
    /// The least, in nanoseconds of `of`.
    pub low_ns: i128,
    /// The most, in nanoseconds of `of`.
    pub high_ns: i128,
    /// What is gained.
    pub of: Quantity,
    /// What the range is computed from: `log`, `critical path` or `profile`.
    pub from: &'static str,
    /// The assumption, as a clause.
    pub assumption: String,
}

/// An instance that shows a finding.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Example {
    /// What identifies it.
    #[serde(flatten)]
    pub who: Who,
    /// The name of its case; null where it is not known.
    pub case: Option<String>,
    /// When it started, in nanoseconds since 1970.
    pub start_ns: Option<i64>,
    /// The node or other resource on which it ran.
    pub resource: Option<String>,
    /// What of its time is at stake, in nanoseconds.
    pub time_ns: i128,
}

/// What could not be judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NotJudged {
    /// The data that is missing, as a noun phrase.
    pub missing: &'static str,
    /// The rules that need it.
    pub rules: Vec<&'static str>,
    /// What to record, as a sentence.
    pub record: &'static str,
}

/// Finds what costs time, and ranks it.
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
        about: About::of(input.log, input.cases),
        source: facts.source,
        whole: facts.whole,
        small,
        findings,
        not_judged: needs::not_judged(&facts),
        thresholds: thresholds::ALL.iter().map(|threshold| **threshold).collect(),
    }
}

/// An action or assumption that an earlier finding states is referred to, not repeated.
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

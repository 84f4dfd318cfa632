//! From an event log to a directly-follows graph.
//!
//! In goes an [`EventLog`] of `flowmine-correlate`; out comes a [`Dfg`] whose activities are the labels of a [`Classifier`]. With [`Which::All`]
//! every event of the log counts, in the order that the log has, so the counts are those of any other tool that reads the same
//! log from an exported file.

use std::collections::BTreeSet;

use flowmine_correlate::{Classifier, Event, EventLog, Jobs, Lifecycle};

use flowmine_eventlog::{Attribute, CaseLog, LogError, Record, Value};

use crate::dfg::{Dfg, DfgBuilder, DfgError};
use crate::log_file::as_objects;

/// Which events of a job count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Which {
    /// Every event.
    #[default]
    All,
    /// Those at which an attempt begins to run: transition `start`.
    Starts,
    /// Those at which an attempt is over: transitions `complete`, `ate_abort` and `withdraw`.
    Ends,
}

impl Which {
    fn counts(self, event: &Event) -> bool {
        match self {
            Which::All => true,
            Which::Starts => event.lifecycle == Lifecycle::Start,
            Which::Ends => matches!(event.lifecycle, Lifecycle::Complete | Lifecycle::AteAbort | Lifecycle::Withdraw),
        }
    }
}

/// The directly-follows graph of a log. Title, notion and filters are the caller's to fill in, except the notion's name.
///
/// # Errors
/// Never for a log that was built by `flowmine-correlate`: its labels name every event.
pub fn directly_follows(log: &EventLog<'_>, classifier: Classifier, which: Which) -> Result<Dfg, DfgError> {
    let labels = log.labels(classifier);
    let mut builder = DfgBuilder::new(labels.names.iter().map(String::as_str));
    let mut trace = Vec::new();
    for case in &log.cases {
        if which == Which::All {
            log.label_trace(case, &labels, &mut trace);
        } else {
            trace.clear();
            let jobs: &Jobs = log.jobs;
            let events = log.event_indices(case).iter().map(|&at| (at as usize, &jobs.events[at as usize]));
            trace.extend(events.filter(|(_, event)| which.counts(event)).map(|(at, event)| (labels.of_event[at], event.time_ns)));
        }
        builder.add_trace(&trace)?;
    }
    let mut dfg = builder.finish();
    dfg.notion = log.notion.to_owned();
    Ok(dfg)
}

/// The keys whose values make an event's label, and between which a plus sign stands: of several the first that the event has.
fn label_keys(log: &dyn CaseLog, classifier: Classifier) -> &'static [&'static [&'static str]] {
    let knows_states = Attribute::find(&log.header().event_globals, "slurm:state").is_some();
    match classifier {
        Classifier::Activity => &[&["concept:name"]],
        Classifier::ActivityState if knows_states => &[&["concept:name"], &["slurm:state"]],
        Classifier::ActivityState => &[&["concept:name"], &["lifecycle:transition", "state", LIFECYCLE]],
    }
}

/// What our object-centric logs call `lifecycle:transition`.
const LIFECYCLE: &str = "lifecycle";

/// The label of an event; what is not known is left out of it.
fn label(attributes: &[Attribute<'_>], keys: &[&[&str]]) -> String {
    let value = |keys: &&[&str]| match &keys.iter().find_map(|key| Attribute::find(attributes, key))?.value {
        Value::String(text) | Value::Id(text) => Some(text.to_string()),
        Value::Integer(number) => Some(number.to_string()),
        Value::Boolean(truth) => Some(truth.to_string()),
        _ => None,
    };
    let known: Vec<String> = keys.iter().filter_map(value).collect();
    if known.is_empty() { as_objects::UNNAMED.to_owned() } else { known.join("+") }
}

impl Which {
    fn counts_transition(self, attributes: &[Attribute<'_>]) -> bool {
        let transition =
            Attribute::find(attributes, "lifecycle:transition").or_else(|| Attribute::find(attributes, LIFECYCLE)).map(|a| &a.value);
        let is = |names: &[&str]| matches!(transition, Some(Value::String(name)) if names.contains(&name.as_ref()));
        match self {
            Which::All => true,
            Which::Starts => is(&["start"]),
            Which::Ends => is(&["complete", "ate_abort", "pi_abort", "withdraw"]),
        }
    }
}

/// The directly-follows graph of a log of cases, whose events follow each other as they stand in their traces; and how many events without
/// `time:timestamp` are not in it. Memory holds one trace, besides the graph.
///
/// # Errors
/// When the log cannot be walked through.
pub fn directly_follows_of_cases(log: &dyn CaseLog, classifier: Classifier, which: Which) -> Result<(Dfg, u64), LogError> {
    let keys = label_keys(log, classifier);
    let mut names: BTreeSet<String> = BTreeSet::new();
    for batch in log.traces() {
        for record in batch?.records() {
            if let Record::CaseEvent(attributes) = record?
                && which.counts_transition(&attributes)
            {
                names.insert(label(&attributes, keys));
            }
        }
    }
    let names: Vec<String> = names.into_iter().collect();
    let mut builder = DfgBuilder::new(names.iter().map(String::as_str));
    let mut trace = Vec::new();
    let mut left_out = 0;
    for batch in log.traces() {
        for record in batch?.records() {
            match record? {
                Record::Trace(_) => trace.clear(),
                Record::CaseEvent(attributes) if which.counts_transition(&attributes) => {
                    match Attribute::find(&attributes, "time:timestamp").map(|a| &a.value) {
                        Some(Value::Time(ns)) => {
                            let at = names.binary_search(&label(&attributes, keys)).map_err(|_| LogError::Damaged)?;
                            trace.push((at as u32, *ns));
                        }
                        _ => left_out += 1,
                    }
                }
                Record::TraceEnd => builder.add_trace(&trace).map_err(LogError::source)?,
                _ => {}
            }
        }
    }
    Ok((builder.finish(), left_out))
}

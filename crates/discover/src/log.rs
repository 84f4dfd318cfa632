//! From an event log to a directly-follows graph.
//!
//! In goes an [`EventLog`] of `flowmine-correlate`; out comes a [`Dfg`] whose activities are the labels of a [`Classifier`]. With [`Which::All`]
//! every event of the log counts, in the order that the log has, so the counts are those of any other tool that reads the same
//! log from an exported file.

use flowmine_correlate::{Classifier, Event, EventLog, Jobs, Lifecycle};

use crate::dfg::{Dfg, DfgBuilder, DfgError};

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

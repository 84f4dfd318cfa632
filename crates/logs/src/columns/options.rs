//! How a log is read: which events count, and as what.

use std::sync::Arc;

use flowmine_activity_log::Transition;

use crate::steps::StepNames;

/// Which events count, and whether as instances or each by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Unit {
    /// Activity instances: events paired by their lifecycle.
    #[default]
    Instances,
    /// Each event by itself, as PM4Py and process_mining take a log.
    Events,
    /// Only events at which an instance starts: transition `start`.
    Starts,
    /// Only events at which an instance is over: `complete`, the aborts, `withdraw`.
    Ends,
}

impl Unit {
    /// The transition by which an event is to be paired; `None` when it does not count.
    pub(super) fn takes(self, transition: Transition) -> Option<Transition> {
        let counts = match self {
            Unit::Instances => return Some(transition),
            Unit::Events => true,
            Unit::Starts => transition == Transition::Start,
            Unit::Ends => matches!(transition, Transition::Complete | Transition::Failed | Transition::Aborted),
        };
        counts.then_some(Transition::Untold)
    }

    /// What an instance is called.
    pub fn word(self, instance: &str) -> String {
        match self {
            Unit::Instances => instance.to_owned(),
            Unit::Events => "event".to_owned(),
            Unit::Starts => format!("{instance} start"),
            Unit::Ends => format!("{instance} end"),
        }
    }
}

/// How a log is read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReadOptions {
    /// Which events count, and whether as instances or each by itself.
    pub unit: Unit,
    /// The attributes that make up the activity: their values are joined by plus signs. Empty for
    /// the usual activity of the source. Alternative keys are separated by [`OR`]: the first that
    /// an event has counts.
    pub activity: Vec<String>,
    /// The type of objects that are the cases of an object-centric log. Without it each type is a
    /// grouping.
    pub case_type: Option<String>,
    /// Attributes to keep, for filters: of events, or of cases with `case:` before the key.
    pub keep: Vec<String>,
    /// Those of the kept attributes that a log of others must have: without one it is refused.
    pub required: Vec<String>,
    /// Only relations of events to objects with one of these qualifiers. Empty for all.
    pub qualifiers: Vec<String>,
    /// The steps of a dataset, where the activity or a kept attribute is [`STEP`](crate::steps::STEP).
    pub steps: Option<Arc<StepNames>>,
}

/// Separator of alternative keys in [`ReadOptions::activity`]: the first that an event has counts.
pub const OR: char = '\u{1f}';

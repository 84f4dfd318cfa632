//! Gains that a model of a traced run predicts.

use std::fmt::Debug;

use flowmine_draw::text::visible;

use super::facts::Facts;
use super::thresholds::LEAST_SHARE;
use super::{Finding, Gain, Quantity};

/// What limits an activity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// Reads and writes of files.
    Files,
    /// CPU time.
    Cpu,
}

/// A model of a traced run, such as that of `flowmine predict`.
pub trait Predictor: Debug {
    /// Returns by how many nanoseconds the run would end earlier if all instances of an activity
    /// spent half of the time on a limit, and none; `None` if the model does not have both.
    fn gain(&self, activity: &str, limit: Limit) -> Option<(i128, i128)>;
}

/// Replaces the gain of a finding about the reads and writes of an activity by that of the
/// prediction, if it has one: it regards what else delays the run.
pub(super) fn of_files(facts: &Facts<'_>, mut finding: Finding, activity: &str) -> Finding {
    // A model is fitted only for findings that can be listed.
    if finding.share < LEAST_SHARE.value {
        return finding;
    }
    let gain = facts.input.prediction.and_then(|model| model.gain(activity, Limit::Files));
    let Some((low, high)) = gain.filter(|(_, high)| *high > 0) else { return finding };
    let high_ns = high.min(finding.at_stake_ns);
    finding.gain = Gain {
        // The model puts each piece of work down to what takes most of it, which can be more.
        low_ns: low.clamp(0, high_ns / 2),
        high_ns,
        of: Quantity::Makespan,
        from: "prediction",
        assumption: format!(
            "at the least, if reads and writes of {} take half their time in the model of the longest traced run; \
             at the most, if they take none",
            visible(activity)
        ),
    };
    finding
}

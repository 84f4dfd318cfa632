//! Endings of instances, as far as advice depends on them.

use flowmine_activity_log::{Measure, Status};

use super::facts::Facts;
use super::thresholds::NEAR_MEMORY;

/// Ending of an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Ending {
    /// With a result, or with an unknown outcome.
    Done,
    /// Killed at its time limit.
    TimeLimit,
    /// Killed because its memory was used up.
    Memory,
    /// Cancelled by a person or a program.
    Cancelled,
    /// By a failure of its own.
    Failed,
}

/// Exit code of a program that SIGKILL ended: the kernel sends it when memory is used up.
const KILLED: &str = "137";

/// Share of the time limit above which a failed instance counts as killed at the limit.
const AT_LIMIT: f64 = 0.99;

impl Ending {
    pub fn new(facts: &Facts<'_>, at: u32) -> Self {
        let log = facts.log;
        let state = facts.text(at, facts.keys.state).unwrap_or_default();
        match (log.status(at), state) {
            (_, "TIMEOUT" | "DEADLINE") => return Self::TimeLimit,
            (_, "OUT_OF_MEMORY") => return Self::Memory,
            (Status::Aborted, _) | (Status::Failed, "CANCELLED") => return Self::Cancelled,
            (Status::Failed, _) => {}
            _ => return Self::Done,
        }
        let ran = log.service_ns(at);
        let limit = log.measure(Measure::TimeLimitNs, at).filter(|limit| *limit > 0);
        if ran.zip(limit).is_some_and(|(ran, limit)| ran as f64 >= AT_LIMIT * limit as f64) {
            return Self::TimeLimit;
        }
        let memory = log.measure(Measure::MemoryBytes, at).filter(|memory| *memory > 0);
        let peak = log.measure(Measure::PeakMemoryBytes, at);
        let is_full = peak.zip(memory).is_some_and(|(peak, memory)| peak as f64 >= NEAR_MEMORY.value * memory as f64);
        // Without a known peak, the signal alone decides.
        let is_killed = facts.text(at, facts.keys.exit_code) == Some(KILLED) && (is_full || peak.is_none() && memory.is_some());
        if is_full || is_killed { Self::Memory } else { Self::Failed }
    }
}

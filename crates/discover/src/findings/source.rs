//! Recorder of a log, as far as advice depends on it.

use flowmine_activity_log::{ActivityLog, JOB, Measure};
use schemars::JsonSchema;
use serde::Serialize;

use crate::who::JOB_IN_FILES;

/// The attribute that names the executor of a task.
pub const EXECUTOR: &str = "task:executor";

/// Measures that only programs have.
const OF_PROGRAMS: [Measure; 4] = [Measure::CpuTimeNs, Measure::PeakMemoryBytes, Measure::IoTimeNs, Measure::ReadCalls];

/// Recorder of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Jobs of Slurm, or tasks that an engine submitted to it.
    Slurm,
    /// Tasks of a workflow engine or commands that ran without Slurm.
    Engine,
    /// Anything else: orders, patients, requests.
    Other,
}

impl Source {
    /// Returns the source of a log.
    pub fn new(log: &ActivityLog) -> Self {
        let has = |key: &str| log.attribute(key).is_some_and(|attribute| !attribute.names.is_empty());
        let is_slurm = |attribute: &flowmine_activity_log::Attribute| {
            (0..attribute.names.len() as u32).any(|name| attribute.names.get(name).eq_ignore_ascii_case("slurm"))
        };
        match log.words.instance.as_str() {
            "job" => Self::Slurm,
            "task" if log.attribute(EXECUTOR).is_some_and(is_slurm) => Self::Slurm,
            "task" | "process" | "command" => Self::Engine,
            _ if has(JOB) || has(JOB_IN_FILES) => Self::Slurm,
            _ if has("task:name") => Self::Engine,
            // Only programs have CPU time, memory or reads.
            _ if OF_PROGRAMS.iter().any(|measure| log.measures(*measure).is_some()) => Self::Engine,
            _ => Self::Other,
        }
    }

    /// Returns whether instances are computations: programs that ran.
    pub fn is_computation(self) -> bool {
        self != Self::Other
    }
}

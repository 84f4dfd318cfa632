//! Data that rules need, and what to record if it is missing.

use flowmine_activity_log::{Measure, QUEUED_FOR};

use super::facts::Facts;
use super::source::Source;
use super::{NotJudged, rules};

/// Data that a rule needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// Starts and ends.
    Intervals,
    /// Moments of submission or readiness.
    Submissions,
    /// Reasons of waits.
    Causes,
    /// CPUs and CPU time.
    Cpus,
    /// Memory requested and used.
    Memory,
    /// Time limits.
    TimeLimits,
    /// Nodes of instances.
    Nodes,
    /// Outcomes of instances.
    Outcomes,
    /// Reads and writes of instances.
    Operations,
    /// Reads and writes by file and program.
    Profile,
    /// Declared dependencies with traced data between tasks.
    Dependencies,
}

impl Need {
    /// All kinds of data.
    pub const ALL: [Self; 11] = [
        Self::Intervals,
        Self::Submissions,
        Self::Causes,
        Self::Cpus,
        Self::Memory,
        Self::TimeLimits,
        Self::Nodes,
        Self::Outcomes,
        Self::Operations,
        Self::Profile,
        Self::Dependencies,
    ];

    /// Returns its description, as a noun phrase.
    pub fn words(self) -> &'static str {
        match self {
            Self::Intervals => "starts and ends",
            Self::Submissions => "times of submission",
            Self::Causes => "reasons for waiting",
            Self::Cpus => "CPUs and CPU time",
            Self::Memory => "requested and used memory",
            Self::TimeLimits => "time limits",
            Self::Nodes => "nodes",
            Self::Outcomes => "outcomes",
            Self::Operations => "reads and writes of instances",
            Self::Profile => "reads and writes by file and program",
            Self::Dependencies => "declared dependencies with traced data",
        }
    }

    fn is_met(self, facts: &Facts<'_>) -> bool {
        let log = facts.log;
        let has = |measure| log.measures(measure).is_some();
        match self {
            Self::Intervals => log.has_intervals(),
            Self::Submissions => !log.instances.ready.is_empty(),
            Self::Causes => facts.input.waits.is_some() || log.attribute(QUEUED_FOR).is_some(),
            Self::Cpus => has(Measure::Cpus) && has(Measure::CpuTimeNs),
            Self::Memory => has(Measure::MemoryBytes) && has(Measure::PeakMemoryBytes),
            Self::TimeLimits => has(Measure::TimeLimitNs),
            Self::Nodes => (0..log.len() as u32).any(|at| facts.resource(at).is_some()),
            Self::Outcomes => !log.instances.status.is_empty(),
            Self::Operations => has(Measure::IoTimeNs),
            Self::Profile => facts.input.profile.is_some(),
            Self::Dependencies => facts.input.run.is_some_and(|run| !run.declared.is_empty() && !run.flows.is_empty()),
        }
    }

    /// Returns what to record; `None` if the source cannot contain it.
    fn record(self, source: Source) -> Option<&'static str> {
        Some(match (self, source) {
            (Self::Intervals, _) => "Record the start and the end of each activity.",
            (Self::Submissions, Source::Slurm) => "Import accounting (`flowmine import slurm`), which has times of submission.",
            (Self::Submissions, Source::Engine) => "Import the engine's trace file, which has times of submission.",
            (Self::Causes, Source::Slurm) => "Poll the queue (`flowmine observe`) to record the scheduler's reasons.",
            (Self::Cpus | Self::Memory, Source::Slurm) => "Import accounting with CPU time and peak memory of the jobs.",
            (Self::Cpus | Self::Memory, Source::Engine) => "Import the engine's trace file with its columns of CPUs and memory.",
            (Self::TimeLimits, Source::Slurm) => "Import accounting or poll the queue: both have time limits.",
            (Self::Nodes, Source::Slurm | Source::Engine) => "Record on which node each instance ran.",
            (Self::Outcomes, Source::Slurm | Source::Engine) => "Record the states or exit codes in which instances ended.",
            (Self::Operations | Self::Profile, Source::Slurm | Source::Engine) => "Trace the run with `flowmine trace`.",
            (Self::Dependencies, Source::Slurm | Source::Engine) => "Trace a run of an engine or of jobs that declares its dependencies.",
            _ => return None,
        })
    }
}

/// Returns what could not be judged in a log, each kind of missing data once.
pub(super) fn not_judged(facts: &Facts<'_>) -> Vec<NotJudged> {
    let mut found: Vec<NotJudged> = Vec::new();
    if facts.log.is_empty() {
        return found;
    }
    for need in Need::ALL {
        let Some(record) = need.record(facts.source).filter(|_| !need.is_met(facts)) else { continue };
        let rules: Vec<&str> = rules::ALL.iter().filter(|rule| rule.needs.contains(&need)).map(|rule| rule.name).collect();
        // One sentence for all data of the same recording.
        match found.iter_mut().find(|known| known.record == record) {
            Some(known) => {
                known.rules.extend(rules);
                known.rules.sort_unstable();
                known.rules.dedup();
            }
            None => found.push(NotJudged { missing: need.words(), rules, record }),
        }
    }
    found
}

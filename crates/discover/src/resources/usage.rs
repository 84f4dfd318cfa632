//! What one instance occupied and used: one definition for each quantity.
//!
//! | quantity | definition | as in |
//! |---|---|---|
//! | core time | running time × CPUs | `seff`: core-walltime |
//! | CPU efficiency | CPU time ÷ core time | `seff`: CPU Efficiency, `reportseff`: `CPUEff` |
//! | memory efficiency | peak memory ÷ memory | `seff`: Memory Efficiency, `reportseff`: `MemEff` |
//! | time efficiency | running time ÷ time limit | `reportseff`: `TimeEff` |
//!
//! Sources: `contribs/seff/seff` (version 2.1) in Slurm's sources, `src/reportseff/job.py` in those
//! of reportseff. Running time is from start to end. Efficiencies can be above 1. Both programs
//! print 0 where a number is not known; here it is `None`.

use flowmine_activity_log::{ActivityLog, Attribute, Measure, Status};

/// The outcome of an instance, as far as its resources are concerned.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Outcome {
    /// It failed: all that it occupied is lost.
    Failed,
    /// It was cancelled: all that it occupied is lost.
    Cancelled,
    /// It completed, or its outcome is not known: what it did not use is lost.
    #[default]
    Other,
}

/// What an instance that ran occupied and used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// How long it ran, in nanoseconds.
    pub elapsed_ns: i64,
    /// Number of CPUs.
    pub cpus: Option<i64>,
    /// Number of GPUs.
    pub gpus: Option<i64>,
    /// Memory of the whole instance, in bytes.
    pub memory_bytes: Option<i64>,
    /// The most memory that it used, in bytes.
    pub peak_bytes: Option<i64>,
    /// CPU time that it used, in nanoseconds.
    pub cpu_time_ns: Option<i64>,
    /// Its time limit, in nanoseconds.
    pub limit_ns: Option<i64>,
    /// Its outcome.
    pub outcome: Outcome,
}

impl Usage {
    /// What an instance occupied and used; `None` where its running time is not known, or an
    /// earlier result was taken. `state` is the attribute with the states of jobs.
    pub fn of(log: &ActivityLog, state: Option<&Attribute>, instance: u32) -> Option<Self> {
        let status = log.status(instance);
        let elapsed_ns = log.service_ns(instance).filter(|_| status != Status::Cached)?;
        let measure = |measure| log.measure(measure, instance);
        let state = state.and_then(|states| states.value(instance));
        let outcome = match status {
            Status::Aborted => Outcome::Cancelled,
            Status::Failed if state == Some("CANCELLED") => Outcome::Cancelled,
            Status::Failed => Outcome::Failed,
            _ => Outcome::Other,
        };
        Some(Self {
            elapsed_ns,
            cpus: measure(Measure::Cpus).filter(|cpus| *cpus > 0),
            gpus: measure(Measure::Gpus),
            memory_bytes: measure(Measure::MemoryBytes).filter(|bytes| *bytes > 0),
            peak_bytes: measure(Measure::PeakMemoryBytes),
            cpu_time_ns: measure(Measure::CpuTimeNs),
            limit_ns: measure(Measure::TimeLimitNs).filter(|limit| *limit > 0),
            outcome,
        })
    }

    /// Running time × a number of things.
    fn time_of(&self, things: Option<i64>) -> Option<i128> {
        things.map(|things| i128::from(self.elapsed_ns) * i128::from(things))
    }

    /// Core time occupied, in nanoseconds.
    pub fn core_ns(&self) -> Option<i128> {
        self.time_of(self.cpus)
    }

    /// CPU time used, in nanoseconds.
    pub fn cpu_used_ns(&self) -> Option<i128> {
        self.cpu_time_ns.map(i128::from)
    }

    /// GPU time occupied, in nanoseconds.
    pub fn gpu_ns(&self) -> Option<i128> {
        self.time_of(self.gpus)
    }

    /// Memory time occupied, in byte-nanoseconds.
    pub fn memory_byte_ns(&self) -> Option<i128> {
        self.time_of(self.memory_bytes)
    }

    /// Running time × peak memory, in byte-nanoseconds.
    pub fn memory_used_byte_ns(&self) -> Option<i128> {
        self.time_of(self.peak_bytes)
    }

    /// CPU efficiency; `None` where it is not known.
    pub fn cpu_efficiency(&self) -> Option<f64> {
        let (used, there) = (self.cpu_used_ns()?, self.core_ns()?);
        (there > 0).then(|| used as f64 / there as f64)
    }

    /// Core time lost: all of it of what failed or was cancelled, else that of idle CPUs.
    pub fn lost_core_ns(&self) -> Option<i128> {
        let core_ns = self.core_ns()?;
        match self.outcome {
            Outcome::Failed | Outcome::Cancelled => Some(core_ns),
            Outcome::Other => Some((core_ns - self.cpu_used_ns()?).max(0)),
        }
    }

    /// The mean number of CPUs that it used.
    pub fn mean_cpus(&self) -> Option<f64> {
        let used = self.cpu_used_ns()?;
        (self.elapsed_ns > 0).then(|| used as f64 / self.elapsed_ns as f64)
    }
}

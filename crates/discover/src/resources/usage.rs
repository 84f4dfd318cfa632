//! Resources that one instance occupied and used: one definition for each quantity.
//!
//! | quantity | definition | as in |
//! |---|---|---|
//! | core time | running time × CPUs | `seff`: core-walltime |
//! | CPU efficiency | CPU time ÷ core time | `seff`: CPU Efficiency, `reportseff`: `CPUEff` |
//! | memory efficiency | peak memory ÷ memory | `seff`: Memory Efficiency, `reportseff`: `MemEff` |
//! | time efficiency | running time ÷ time limit | `reportseff`: `TimeEff` |
//! | GPU efficiency | running time × utilisation ÷ (running time × GPUs) | |
//!
//! Sources: `contribs/seff/seff` (version 2.1) in Slurm's sources, `src/reportseff/job.py` in those
//! of reportseff. Running time is from start to end. Efficiencies can be above 1. Both programs
//! print 0 for an unknown number; here it is `None`. Utilisation of GPUs is what Slurm's plugin
//! sampled.

use flowmine_activity_log::{ActivityLog, Attribute, Measure, Status};

/// The outcome of an instance, as far as its resources are concerned.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Outcome {
    /// It failed: all that it occupied is lost.
    Failed,
    /// It was cancelled: all that it occupied is lost.
    Cancelled,
    /// It completed, or its outcome is not known: the unused part is lost.
    #[default]
    Other,
}

/// Resources that an instance occupied and used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Running time, in nanoseconds.
    pub elapsed_ns: i64,
    /// Number of CPUs.
    pub cpus: Option<i64>,
    /// Number of GPUs.
    pub gpus: Option<i64>,
    /// Utilisation of its GPUs in percent, summed over them.
    pub gpu_percent: Option<i64>,
    /// Memory of the whole instance, in bytes.
    pub memory_bytes: Option<i64>,
    /// Peak memory, in bytes.
    pub peak_bytes: Option<i64>,
    /// CPU time that it used, in nanoseconds.
    pub cpu_time_ns: Option<i64>,
    /// Its time limit, in nanoseconds.
    pub limit_ns: Option<i64>,
    /// Its outcome.
    pub outcome: Outcome,
}

impl Usage {
    /// Returns the resources that an instance occupied and used; `None` if its running time is not
    /// known, or an earlier result was reused. `state` is the attribute with the states of jobs.
    pub fn new(log: &ActivityLog, state: Option<&Attribute>, instance: u32) -> Option<Self> {
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
            gpu_percent: measure(Measure::GpuPercent),
            memory_bytes: measure(Measure::MemoryBytes).filter(|bytes| *bytes > 0),
            peak_bytes: measure(Measure::PeakMemoryBytes),
            cpu_time_ns: measure(Measure::CpuTimeNs),
            limit_ns: measure(Measure::TimeLimitNs).filter(|limit| *limit > 0),
            outcome,
        })
    }

    /// Returns running time × an amount.
    fn time_of(&self, things: Option<i64>) -> Option<i128> {
        things.map(|things| i128::from(self.elapsed_ns) * i128::from(things))
    }

    /// Returns the core time occupied, in nanoseconds.
    pub fn core_ns(&self) -> Option<i128> {
        self.time_of(self.cpus)
    }

    /// Returns the CPU time used, in nanoseconds.
    pub fn cpu_used_ns(&self) -> Option<i128> {
        self.cpu_time_ns.map(i128::from)
    }

    /// Returns the GPU time occupied, in nanoseconds.
    pub fn gpu_ns(&self) -> Option<i128> {
        self.time_of(self.gpus)
    }

    /// Returns the GPU time used, in nanoseconds: running time × utilisation.
    pub fn gpu_used_ns(&self) -> Option<i128> {
        self.time_of(self.gpu_percent).map(|percent_ns| percent_ns / 100)
    }

    /// Returns the lost GPU time, in nanoseconds: all of a failed or cancelled instance, none of
    /// another; `None` without GPUs.
    pub fn lost_gpu_ns(&self) -> Option<i128> {
        let gpu_ns = self.gpu_ns()?;
        Some(if self.outcome == Outcome::Other { 0 } else { gpu_ns })
    }

    /// Returns the memory time occupied, in byte-nanoseconds.
    pub fn memory_byte_ns(&self) -> Option<i128> {
        self.time_of(self.memory_bytes)
    }

    /// Returns running time × peak memory, in byte-nanoseconds.
    pub fn memory_used_byte_ns(&self) -> Option<i128> {
        self.time_of(self.peak_bytes)
    }

    /// Returns the CPU efficiency; `None` if it is not known.
    pub fn cpu_efficiency(&self) -> Option<f64> {
        let (used, there) = (self.cpu_used_ns()?, self.core_ns()?);
        (there > 0).then(|| used as f64 / there as f64)
    }

    /// Returns the lost core time: all of a failed or cancelled instance, otherwise that of idle
    /// CPUs.
    pub fn lost_core_ns(&self) -> Option<i128> {
        let core_ns = self.core_ns()?;
        match self.outcome {
            Outcome::Failed | Outcome::Cancelled => Some(core_ns),
            Outcome::Other => Some((core_ns - self.cpu_used_ns()?).max(0)),
        }
    }

    /// Returns the mean number of CPUs that it used.
    pub fn mean_cpus(&self) -> Option<f64> {
        let used = self.cpu_used_ns()?;
        (self.elapsed_ns > 0).then(|| used as f64 / self.elapsed_ns as f64)
    }
}

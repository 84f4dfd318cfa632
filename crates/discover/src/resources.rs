//! Resources occupied and used, by job or task, activity, run, user, account and partition.
//!
//! In goes a log with the measures of its instances; out come sums for each value of each of these
//! dimensions: core time, GPU time and memory time occupied and used, lost core time by cause, and
//! efficiencies. [`Usage`] defines each quantity, for every model.
//!
//! A sum covers the instances with a known value. It is `None` if there are none.

mod usage;

#[cfg(test)]
mod tests;

use std::cmp::Reverse;

use flowmine_activity_log::{ActivityLog, Cases, JOB, NONE};
use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::Serialize;

use crate::about::About;
use crate::who;

pub use usage::{Outcome, Usage};

/// Attribute with the final state of a job.
pub const STATE: &str = "state";

/// A dimension: its name, and the attributes with its values in datasets and log files.
struct Dimension {
    name: &'static str,
    values: Values,
}

/// Source of the values of a dimension.
enum Values {
    /// The activities of the log.
    Activities,
    /// The cases of the log.
    Cases,
    /// The first of these attributes that the log has.
    Attribute(&'static [&'static str]),
}

/// Dimensions by which instances are grouped.
const DIMENSIONS: [Dimension; 7] = [
    Dimension { name: "job", values: Values::Attribute(&[JOB, who::JOB_IN_FILES]) },
    Dimension { name: "task", values: Values::Attribute(&["task:name"]) },
    Dimension { name: "activity", values: Values::Activities },
    Dimension { name: "run", values: Values::Cases },
    Dimension { name: "user", values: Values::Attribute(&["user", "org:resource"]) },
    Dimension { name: "account", values: Values::Attribute(&["account", "slurm:account"]) },
    Dimension { name: "partition", values: Values::Attribute(&["partition", "slurm:partition"]) },
];

/// The resources of a log's instances.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Resources {
    /// Description of the log.
    #[serde(flatten)]
    pub about: About,
    /// The sums of all instances.
    pub total: Row,
    /// Values of each dimension of the log, most core time at stake first.
    pub by: Vec<Group>,
}

/// The values of a dimension.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Group {
    /// Its name: job, task, activity, run, user, account or partition.
    pub name: &'static str,
    /// Its values.
    pub rows: Vec<Row>,
}

/// Sums of instances. Times are nanoseconds, core times nanoseconds of one core.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Row {
    /// The value of the dimension; empty for all instances.
    pub value: String,
    /// Number of instances that ran, with a known start and end.
    pub instances: u64,
    /// Number of those without known CPUs: they are in no core time.
    pub without_cpus: u64,
    /// Running time.
    pub elapsed_ns: i128,
    /// Core time occupied: running time × CPUs.
    pub core_ns: Option<i128>,
    /// CPU time used.
    pub cpu_used_ns: Option<i128>,
    /// CPU time used divided by core time occupied, of instances with both known.
    pub cpu_efficiency: Option<f64>,
    /// GPU time occupied: running time × GPUs.
    pub gpu_ns: Option<i128>,
    /// GPU time used: running time × utilisation, as Slurm sampled that.
    pub gpu_used_ns: Option<i128>,
    /// GPU time used divided by GPU time occupied, of instances with both known.
    pub gpu_efficiency: Option<f64>,
    /// GPU time of instances that failed or were cancelled. Idle GPUs of others are not in it.
    pub lost_gpu_ns: Option<i128>,
    /// Memory time occupied: running time × memory, in byte-nanoseconds.
    pub memory_byte_ns: Option<i128>,
    /// Running time × peak memory, in byte-nanoseconds: an upper bound of the use.
    pub memory_used_byte_ns: Option<i128>,
    /// Peak memory divided by memory occupied, weighted by running time, of instances with both
    /// known.
    pub memory_efficiency: Option<f64>,
    /// Core time of instances that failed.
    pub failed_core_ns: Option<i128>,
    /// Core time of instances that were cancelled.
    pub cancelled_core_ns: Option<i128>,
    /// Core time in which CPUs were idle, of all other instances.
    pub idle_core_ns: Option<i128>,
    /// The sum of the three: core time at stake.
    pub at_stake_core_ns: Option<i128>,
    /// Sum of time limits.
    pub limit_ns: Option<i128>,
    /// Running time divided by time limit, of instances with both known.
    pub time_efficiency: Option<f64>,
}

impl Row {
    fn rank(&self) -> impl Ord + use<> {
        (Reverse((self.at_stake_core_ns, self.core_ns, self.elapsed_ns)), self.value.clone())
    }
}

/// Sums of a value while instances are added.
#[derive(Debug, Clone, Default)]
struct Sums {
    row: Row,
    cpu: Share,
    memory: Share,
    time: Share,
    gpu: Share,
}

/// A part and the whole, of instances with both known.
#[derive(Debug, Clone, Copy, Default)]
struct Share {
    part: i128,
    whole: i128,
}

impl Share {
    fn add(&mut self, part: Option<i128>, whole: Option<i128>) {
        if let (Some(part), Some(whole)) = (part, whole) {
            self.part = self.part.saturating_add(part);
            self.whole = self.whole.saturating_add(whole);
        }
    }

    fn ratio(self) -> Option<f64> {
        (self.whole > 0).then(|| self.part as f64 / self.whole as f64)
    }
}

fn add(sum: &mut Option<i128>, value: Option<i128>) {
    if let Some(value) = value {
        *sum = Some(sum.unwrap_or(0).saturating_add(value));
    }
}

impl Sums {
    fn add(&mut self, usage: &Usage) {
        let row = &mut self.row;
        row.instances += 1;
        row.without_cpus += u64::from(usage.cpus.is_none());
        row.elapsed_ns = row.elapsed_ns.saturating_add(usage.elapsed_ns.into());
        add(&mut row.core_ns, usage.core_ns());
        add(&mut row.cpu_used_ns, usage.cpu_used_ns());
        add(&mut row.gpu_ns, usage.gpu_ns());
        add(&mut row.gpu_used_ns, usage.gpu_used_ns());
        add(&mut row.lost_gpu_ns, usage.lost_gpu_ns());
        add(&mut row.memory_byte_ns, usage.memory_byte_ns());
        add(&mut row.memory_used_byte_ns, usage.memory_used_byte_ns());
        add(&mut row.limit_ns, usage.limit_ns.map(i128::from));
        match usage.outcome {
            Outcome::Failed => add(&mut row.failed_core_ns, usage.lost_core_ns()),
            Outcome::Cancelled => add(&mut row.cancelled_core_ns, usage.lost_core_ns()),
            Outcome::Other => add(&mut row.idle_core_ns, usage.lost_core_ns()),
        }
        add(&mut row.at_stake_core_ns, usage.lost_core_ns());
        self.cpu.add(usage.cpu_used_ns(), usage.core_ns());
        self.gpu.add(usage.gpu_used_ns(), usage.gpu_ns());
        self.memory.add(usage.memory_used_byte_ns(), usage.memory_byte_ns());
        self.time.add(usage.limit_ns.map(|_| usage.elapsed_ns.into()), usage.limit_ns.map(i128::from));
    }

    fn finish(self, value: &str) -> Row {
        Row {
            value: value.to_owned(),
            cpu_efficiency: self.cpu.ratio(),
            memory_efficiency: self.memory.ratio(),
            time_efficiency: self.time.ratio(),
            gpu_efficiency: self.gpu.ratio(),
            ..self.row
        }
    }
}

/// Adds up the resources of a log. An instance counts once, for the last of its cases.
pub fn discover(log: &ActivityLog, cases: &Cases) -> Resources {
    let case_of = cases.of_instances(log.len());
    let state = log.attribute(STATE);
    let mut total = Sums::default();
    let usages: Vec<(u32, Usage)> = (0..log.len() as u32).filter_map(|at| Some((at, Usage::new(log, state, at)?))).collect();
    for (_, usage) in &usages {
        total.add(usage);
    }
    let by = DIMENSIONS.iter().filter_map(|dimension| {
        let names = match dimension.values {
            Values::Activities => Some((&log.activities, &log.instances.activity)),
            Values::Cases => Some((&cases.names, &case_of)),
            Values::Attribute(keys) => keys.iter().find_map(|key| log.attribute(key)).map(|of| (&of.names, &of.of)),
        };
        let (names, of) = names?;
        let mut sums: FxHashMap<u32, Sums> = FxHashMap::default();
        for (at, usage) in &usages {
            if let Some(&value) = of.get(*at as usize).filter(|value| **value != NONE) {
                sums.entry(value).or_default().add(usage);
            }
        }
        let mut rows: Vec<Row> = sums.into_iter().map(|(value, sums)| sums.finish(names.get(value))).collect();
        rows.sort_by_cached_key(Row::rank);
        Some(Group { name: dimension.name, rows })
    });
    let by = by.collect();
    Resources { about: About::new(log, cases), total: total.finish(""), by }
}

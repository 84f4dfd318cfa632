//! The thresholds of all rules, each with its reason. A healthy run is below all of them.

use schemars::JsonSchema;
use serde::Serialize;

/// A number above which there is a finding.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Threshold {
    /// Name of the threshold.
    pub name: &'static str,
    /// The number, in the unit of `meaning`.
    pub value: f64,
    /// Quantity that it limits.
    pub meaning: &'static str,
    /// Reason for its value.
    pub reason: &'static str,
}

macro_rules! thresholds {
    ($($constant:ident = $value:expr, $name:literal, $meaning:literal, $reason:literal;)*) => {
        $(
            #[doc = $meaning]
            pub const $constant: Threshold = Threshold { name: $name, value: $value, meaning: $meaning, reason: $reason };
        )*

        /// All thresholds.
        pub const ALL: &[&Threshold] = &[$(&$constant),*];
    };
}

thresholds! {
    LEAST_SHARE = 0.02, "least_share", "Least share of core time or makespan of a finding; failures are always listed",
        "two runs of one workflow on one cluster differ by about as much";
    QUEUE_MEAN_S = 3.0, "queue_mean_s", "Mean wait in the queue, in seconds",
        "Slurm delays the scheduling of a batch job by up to 3 s by default (batch_sched_delay)";
    QUEUE_SHARE = 0.1, "queue_share", "Share of the time in the queue and running that a cause of waiting takes",
        "a shared cluster always has some queue; a tenth is noticed by users";
    GAP_SHARE = 0.1, "gap_share", "Share of the makespan in which nothing runs before the next submission",
        "engines poll every few seconds, which is less than a tenth of any run of minutes";
    CPU_EFFICIENCY = 0.5, "cpu_efficiency", "CPU efficiency below which CPUs are idle, of two CPUs or more",
        "hyper-threads count as CPUs on many clusters, so that half is full use of the cores";
    MORE_CPUS = 1.2, "more_cpus", "CPU efficiency above which a program uses more than its CPUs",
        "accounting samples CPU time and running time at different moments; a fifth is beyond that";
    MEMORY_FACTOR = 5.0, "memory_factor", "Requested memory divided by the memory used",
        "a request with a margin for inputs twice as large is below a factor of three";
    MEMORY_PER_CPU_GIB = 2.0, "memory_per_cpu_gib", "Unused memory of each CPU, in GiB",
        "nodes have 2 to 8 GiB for each core; less leaves the other cores usable";
    NEAR_LIMIT = 0.9, "near_limit", "Share of the time limit that an instance ran",
        "running times of one activity vary by a tenth";
    NEAR_MEMORY = 0.95, "near_memory", "Share of the requested memory that a failed instance used",
        "peaks are sampled every 30 s by Slurm, and the last sample is below the peak that killed it";
    FREE_LIMIT = 2.0, "free_limit", "Time limit divided by the running time from which on a shorter limit is advised",
        "a limit of twice the running time has a margin for larger inputs";
    STRAGGLER_FACTOR = 3.0, "straggler_factor", "Running time divided by the median of the activity",
        "three times the median is beyond the variation of equal inputs";
    STRAGGLER_INSTANCES = 5.0, "straggler_instances", "Number of instances of an activity with stragglers",
        "of fewer the median is no measure of the usual";
    STRAGGLER_SHARE = 0.1, "straggler_share", "Share of the instances that are slow at most",
        "if every tenth is slow, slowness is a property of the activity";
    SHARED_BY = 0.8, "shared_by", "Share of a finding's instances that have a value in common",
        "one of five can have another cause";
    SHARED_ELSEWHERE = 0.5, "shared_elsewhere", "Share of all other instances that have this value at most",
        "a value that most have explains nothing";
    INPUT_FACTOR = 2.0, "input_factor", "Bytes read by slow instances divided by those of the others, as medians",
        "running time is about proportional to input, and slow is three times as long";
    SLOW_NODE_FACTOR = 1.4, "slow_node_factor", "Running times on a node divided by those on the other nodes, as medians",
        "nodes of one partition differ by less than a fifth in clock rate";
    SLOW_NODE_INSTANCES = 4.0, "slow_node_instances", "Number of instances on a slow node, and on all others",
        "fewer can be slow for their own reasons";
    SLOW_NODE_SHARE = 0.8, "slow_node_share", "Share of the instances on a slow node that are slow",
        "an activity that is slow on a node only now and then has another cause";
    TREND_INSTANCES = 12.0, "trend_instances", "Number of instances of an activity with a trend",
        "thirds of fewer instances have no median";
    TREND_FACTOR = 1.5, "trend_factor", "Running times of the last third divided by those of the first, as medians",
        "caches and clock rates change running times by less";
    TREND_ORDER = 0.75, "trend_order", "Share of pairs of instances of which the later one ran longer",
        "half of the pairs do so by chance";
    SERIAL_SHARE = 0.25, "serial_share", "Share of the makespan in which one single instance runs",
        "a last step of a tenth is usual; at a quarter more nodes stop helping";
    SERIAL_WIDTH = 4.0, "serial_width", "Number of instances that ran at the same time before a serial step",
        "without a wider part the whole run is serial, and the step is no exception";
    SMALL_BYTES = 4096.0, "small_bytes", "Bytes of a mean request below which requests are small",
        "a page, the least that a file system moves";
    SMALL_CALLS = 1000.0, "small_calls", "Number of small requests of an instance",
        "fewer take milliseconds";
    READ_AGAIN = 0.5, "read_again", "Share of the bytes that an instance read again",
        "headers and indexes are read twice by many programs; half is the whole file twice";
    REFERENCE_PROCESSES = 50.0, "reference_processes", "Number of processes that read one file",
        "a node caches a file for its processes; more than 50 are on several nodes or later";
    REFERENCE_SHARE = 0.5, "reference_share", "Share of all bytes read that are of one file",
        "below half, the file is not what the storage is busy with";
    IO_SHARE = 0.5, "io_share", "Share of the running time in reads and writes",
        "below half, a faster program gains more than faster storage";
    DEPENDENCY_SHARE = 0.05, "dependency_share", "Share of the makespan by which a needless dependency delays a task",
        "a shorter delay is cheaper to keep than to judge";
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_has_a_name_and_a_reason_of_its_own() {
        for of in [|t: &Threshold| t.name, |t: &Threshold| t.reason, |t: &Threshold| t.meaning] {
            let texts: BTreeSet<_> = ALL.iter().map(|threshold| of(threshold)).collect();
            assert_eq!(texts.len(), ALL.len());
            assert!(texts.iter().all(|text| text.len() > 5 && !text.ends_with('.')));
        }
    }
}

//! Numbers of an I/O profile, as written in JSON and shown in tables.

use flowmine_activity_log::Names;
use schemars::JsonSchema;
use serde::Serialize;

use crate::distribution::{Distribution, Step, Summary};
use crate::noteworthy::{Advice, Thresholds};
use crate::over_time::OverTime;

/// Number of groups of a profile, and thresholds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Options {
    /// Maximum number of groups that are distinguished; further ones are merged into one.
    pub most_groups: usize,
    /// Thresholds of noteworthy values.
    pub thresholds: Thresholds,
}

impl Default for Options {
    fn default() -> Self {
        Self { most_groups: 500, thresholds: Thresholds::default() }
    }
}

/// Groups of processes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Groups {
    /// Kind of group: `activity`, `program`, `task`, `job`, `host`.
    pub by: &'static str,
    /// Names of the groups; [`Self::of`] has their numbers.
    pub names: Names,
    /// The group of each process; [`NONE`](flowmine_activity_log::NONE) for one that is excluded.
    pub of: Vec<u32>,
    /// Whether all operations are included, even those of unknown processes.
    pub whole: bool,
    /// Whether operations on a file are included, by its number; `None`: all.
    pub files: Option<Vec<bool>>,
}

/// Reads and writes of a run: numbers by group, file and process, and over time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Profile {
    /// Kind of group: `activity`, `program`, `task`, `job`, `host`.
    pub by: &'static str,
    /// Tables from which it was computed: `events`, `sums` or `both`.
    pub made_of: MadeOf,
    /// First and last moment of the operations, in nanoseconds since 1970.
    pub span_ns: Option<(i64, i64)>,
    /// The numbers of all groups together.
    pub total: Group,
    /// Groups, those with most time in operations first.
    pub groups: Vec<Group>,
    /// Bytes of each group over time, in the order of `groups`.
    pub over_time: OverTime,
    /// Bytes by offset in the file over time: row `n` has offsets from 2ⁿ⁻¹ to 2ⁿ − 1, the first
    /// row has offset 0.
    pub over_offset: OverTime,
    /// Files, those with most bytes first.
    pub files: Vec<FileUse>,
    /// Processes that accessed files, those with most bytes first.
    pub processes: Vec<ProcessUse>,
    /// Operations of each group on each file, those with most bytes first.
    pub uses: Vec<Use>,
    /// Noteworthy values, those with the largest cost first.
    pub advice: Vec<Advice>,
    /// Number of distinguished groups, and thresholds of noteworthy values.
    pub options: Option<Options>,
    /// Parts of the trace that are not in the profile.
    pub left_out: LeftOut,
}

/// Tables from which a profile was computed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MadeOf {
    /// Operations that were traced one by one.
    pub events: u64,
    /// Sums of operations, added up in the kernel: without sizes, latencies, order and opens.
    pub sums: u64,
}

/// Parts of the trace that are not in a profile, by reason.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LeftOut {
    /// Number of excluded operations.
    pub not_wanted: u64,
    /// Number of groups that were merged with others.
    pub groups: u64,
    /// Number of operations that the trace lost or could not record: bytes and counts are lower
    /// bounds.
    pub lost: u64,
    /// Bytes of lost operations, as far as known.
    pub lost_bytes: u64,
    /// Number of operations without a known end, which have no latency.
    pub without_latency: u64,
    /// Number of reads and writes at an unknown offset: they are in no order, and the bytes that
    /// their process read from the file are not compared with its extent.
    pub without_offset: u64,
}

/// Numbers of files or processes by direction of access.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Kinds {
    /// Number of those with reads and without writes.
    pub read_only: u64,
    /// Number of those with writes and without reads.
    pub write_only: u64,
    /// Number of those with both reads and writes.
    pub read_write: u64,
    /// Number of those that were only opened; null if opens were not traced.
    pub untouched: Option<u64>,
}

impl Kinds {
    pub(crate) fn add(&mut self, read: bool, written: bool) {
        match (read, written) {
            (true, true) => self.read_write += 1,
            (true, false) => self.read_only += 1,
            (false, true) => self.write_only += 1,
            (false, false) => *self.untouched.get_or_insert(0) += 1,
        }
    }
}

/// A group of processes: an activity, a program, a task, …
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Group {
    /// Name of the group.
    pub name: String,
    /// Number of tasks and jobs to which its processes belong.
    pub tasks: u64,
    /// Number of processes in the group.
    pub processes: u64,
    /// Number of its processes without any operation on a file.
    pub without_files: u64,
    /// Its operations, by kind.
    pub operations: Vec<KindOf>,
    /// Bytes read by its traced operations.
    pub read_bytes: i64,
    /// Bytes written by its traced operations.
    pub written_bytes: i64,
    /// Numbers of files by the group's access to them.
    pub files: Kinds,
    /// Numbers of processes by their access to files.
    pub processes_by_access: Kinds,
    /// Sequential reads and writes: each began at the end of the previous one of the same process
    /// in the same direction on the same file. The first of each is neither sequential, strided nor
    /// random.
    pub sequential: [u64; 2],
    /// Strided reads and writes: the distance from the previous one equals the distance before
    /// that; see `sequential`.
    pub strided: [u64; 2],
    /// Random reads and writes: neither sequential nor strided; see `sequential`.
    pub random: [u64; 2],
    /// Number of reads and writes with an offset or size that is not a multiple of 4,096.
    pub unaligned: [u64; 2],
    /// Bytes read in excess of the extent that a process read of a file: these were read at least
    /// twice.
    pub read_again_bytes: i64,
    /// Bytes requested by reads, and by writes.
    #[serde(serialize_with = "summaries")]
    #[schemars(with = "Both")]
    pub sizes: [Distribution; 2],
    /// Lifetimes of its processes, in nanoseconds.
    #[serde(serialize_with = "summary")]
    #[schemars(with = "SummaryAndSteps")]
    pub life_times: Distribution,
    /// Bytes moved by each process that moved any, as a measure of balance.
    #[serde(serialize_with = "summary")]
    #[schemars(with = "SummaryAndSteps")]
    pub process_bytes: Distribution,
}

/// A distribution; without values it has no fields but `cumulative`.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Distribution")]
struct SummaryAndSteps {
    #[serde(flatten)]
    summary: Option<Summary>,
    /// Steps of the cumulative distribution.
    cumulative: Vec<Step>,
}

impl SummaryAndSteps {
    fn new(values: &Distribution) -> Self {
        Self { summary: values.summary(), cumulative: values.steps() }
    }
}

/// Distributions of reads and of writes.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ReadsAndWrites")]
struct Both {
    /// Distribution of reads.
    read: SummaryAndSteps,
    /// Distribution of writes.
    write: SummaryAndSteps,
}

fn summary<S: serde::Serializer>(of: &Distribution, out: S) -> Result<S::Ok, S::Error> {
    SummaryAndSteps::new(of).serialize(out)
}

fn summaries<S: serde::Serializer>(of: &[Distribution; 2], out: S) -> Result<S::Ok, S::Error> {
    Both { read: SummaryAndSteps::new(&of[0]), write: SummaryAndSteps::new(&of[1]) }.serialize(out)
}

/// Operations of one kind in a group.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct KindOf {
    /// Kind, with the name in `io_events.op`.
    pub kind: &'static str,
    /// Number of operations of this kind, failed ones included.
    pub count: u64,
    /// Number of these operations that failed.
    pub failed: u64,
    /// Sum of the known times of these operations, in nanoseconds.
    pub time_ns: i128,
    /// Latencies of single operations; none for operations that were added up.
    #[serde(serialize_with = "summary")]
    #[schemars(with = "SummaryAndSteps")]
    pub latencies: Distribution,
}

/// A file, with the operations of the profile's processes on it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FileUse {
    /// Path of the file.
    pub path: String,
    /// Number of processes that accessed it.
    pub processes: u64,
    /// Number of groups to which these processes belong.
    pub groups: u64,
    /// Operations of the profile's processes on it.
    #[serde(flatten)]
    pub sums: Sums,
}

/// A process, with its operations on all files together.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ProcessUse {
    /// Its process number (PID) on its host.
    pub pid: i32,
    /// Program that it ran; null if it is not known.
    pub program: Option<String>,
    /// Name of the group to which it belongs.
    pub group: String,
    /// Running time, in nanoseconds.
    pub life_time_ns: Option<i64>,
    /// Number of files that it accessed.
    pub files: u64,
    /// Operations, bytes and times of the process on files.
    #[serde(flatten)]
    pub sums: Sums,
}

/// Operations of a group on a file.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Use {
    /// Name of the group.
    pub group: String,
    /// Path of the file.
    pub path: String,
    /// Number of processes of the group that accessed it.
    pub processes: u64,
    /// Operations of these processes on the file.
    #[serde(flatten)]
    pub sums: Sums,
}

/// Sums of operations of a file, a process, or a group and a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Sums {
    /// Number of successful opens; zero if opens were not traced.
    pub opens: u64,
    /// Number of read calls, failed ones included.
    pub read_calls: u64,
    /// Bytes read by these calls.
    pub read_bytes: i64,
    /// Number of write calls, failed ones included.
    pub write_calls: u64,
    /// Bytes written by these calls.
    pub written_bytes: i64,
    /// Time in reads and writes, in nanoseconds.
    pub time_ns: i64,
    /// Start of the first operation, in nanoseconds since 1970.
    pub first_ns: Option<i64>,
    /// End of the last operation, in nanoseconds since 1970.
    pub last_ns: Option<i64>,
}

impl Sums {
    pub(crate) fn add(&mut self, other: &Self) {
        flowmine_sums::add_to(&mut self.opens, other.opens);
        flowmine_sums::add_to(&mut self.read_calls, other.read_calls);
        flowmine_sums::add_to(&mut self.write_calls, other.write_calls);
        flowmine_sums::add_to(&mut self.read_bytes, other.read_bytes);
        flowmine_sums::add_to(&mut self.written_bytes, other.written_bytes);
        flowmine_sums::add_to(&mut self.time_ns, other.time_ns);
        self.first_ns = [self.first_ns, other.first_ns].into_iter().flatten().min();
        self.last_ns = self.last_ns.max(other.last_ns);
    }

    pub(crate) fn bytes(&self) -> i64 {
        flowmine_sums::add(self.read_bytes, self.written_bytes)
    }

    pub(crate) fn seen(&mut self, first_ns: i64, last_ns: i64) {
        self.first_ns = Some(self.first_ns.map_or(first_ns, |known| known.min(first_ns)));
        self.last_ns = self.last_ns.max(Some(last_ns));
    }
}

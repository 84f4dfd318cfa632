//! The numbers of an I/O profile, as they are written in JSON and shown in tables.

use flowmine_activity_log::Names;
use schemars::JsonSchema;
use serde::Serialize;

use crate::distribution::{Distribution, Step, Summary};
use crate::noteworthy::{Advice, Thresholds};
use crate::over_time::OverTime;

/// How many groups a profile has, and what is noteworthy of it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Options {
    /// The most groups that are distinguished; further ones are put together into one.
    pub most_groups: usize,
    /// Thresholds from which on something is noteworthy.
    pub thresholds: Thresholds,
}

impl Default for Options {
    fn default() -> Self {
        Self { most_groups: 500, thresholds: Thresholds::default() }
    }
}

/// To which groups processes belong.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Groups {
    /// What groups are: `activity`, `program`, `task`, `job`, `host`.
    pub by: &'static str,
    /// Names of the groups; [`Self::of`] has their numbers.
    pub names: Names,
    /// The group of each process; [`NONE`](flowmine_activity_log::NONE) for one that is not wanted.
    pub of: Vec<u32>,
    /// Whether everything is wanted, also what processes did of which nothing else is known.
    pub whole: bool,
    /// Whether operations on a file are wanted, by its number; `None`: all.
    pub files: Option<Vec<bool>>,
}

/// How a run reads and writes: numbers by group, file and process, and over time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Profile {
    /// What groups are: `activity`, `program`, `task`, `job`, `host`.
    pub by: &'static str,
    /// Which tables it is made of: `events`, `sums` or `both`.
    pub made_of: MadeOf,
    /// From the first to the last operation, in nanoseconds since 1970.
    pub span_ns: Option<(i64, i64)>,
    /// The numbers of all groups together.
    pub total: Group,
    /// Groups, those with most time in operations first.
    pub groups: Vec<Group>,
    /// Bytes of each group over time, in the order of `groups`.
    pub over_time: OverTime,
    /// Bytes by place in the file over time: row `n` is of offsets from 2ⁿ⁻¹ to 2ⁿ − 1, the first
    /// of offset 0.
    pub over_offset: OverTime,
    /// Files, those with most bytes first.
    pub files: Vec<FileUse>,
    /// Processes that had to do with files, those with most bytes first.
    pub processes: Vec<ProcessUse>,
    /// What each group did to each file, those with most bytes first.
    pub uses: Vec<Use>,
    /// What is noteworthy, what costs most first.
    pub advice: Vec<Advice>,
    /// How many groups were distinguished, and the thresholds of what is noteworthy.
    pub options: Option<Options>,
    /// What of the trace is not in the profile.
    pub left_out: LeftOut,
}

/// Which tables a profile is made of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MadeOf {
    /// Operations that were traced one by one.
    pub events: u64,
    /// Rows of operations that were added up by the kernel: of these there are no sizes, latencies,
    /// orders, opens.
    pub sums: u64,
}

/// How much of the trace is not in a profile, and why.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LeftOut {
    /// Operations that were not wanted.
    pub not_wanted: u64,
    /// Groups that are one with others.
    pub groups: u64,
    /// Operations that the trace lost or could not record: bytes and counts are lower bounds.
    pub lost: u64,
    /// Bytes of these, as far as they are known.
    pub lost_bytes: u64,
    /// Operations whose end is not known, so that they have no latency.
    pub without_latency: u64,
    /// Reads and writes of which it is not known where in the file they began: they are in no order,
    /// and what their process read of the file is not compared with its extent.
    pub without_offset: u64,
}

/// Files or processes by how they read and wrote.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Kinds {
    /// Number of those with reads and without writes.
    pub read_only: u64,
    /// Number of those with writes and without reads.
    pub write_only: u64,
    /// Number of those with both reads and writes.
    pub read_write: u64,
    /// Opened only; null where opens were not traced.
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
    /// Tasks and jobs to which its processes belong.
    pub tasks: u64,
    /// Number of processes in the group.
    pub processes: u64,
    /// Of these, processes without any operation on a file.
    pub without_files: u64,
    /// Its operations, each kind for itself.
    pub operations: Vec<KindOf>,
    /// Bytes read by its traced operations.
    pub read_bytes: i64,
    /// Bytes written by its traced operations.
    pub written_bytes: i64,
    /// Files by what the group did to them.
    pub files: Kinds,
    /// Processes by what they did to files.
    pub processes_by_access: Kinds,
    /// Reads and writes that began where the one before of the same process in the same direction
    /// on the same file ended; as far from it as that from its predecessor; elsewhere. The first of
    /// each is in none.
    pub sequential: [u64; 2],
    /// Strided reads and writes: as far from the one before as that from its own; see `sequential`.
    pub strided: [u64; 2],
    /// Random reads and writes: neither sequential nor strided; see `sequential`.
    pub random: [u64; 2],
    /// Reads and writes whose offset or size is no multiple of 4,096.
    pub unaligned: [u64; 2],
    /// Bytes that were read beyond the extent of what a process read of a file: read again at least
    /// once.
    pub read_again_bytes: i64,
    /// Bytes asked for by reads, and by writes.
    #[serde(serialize_with = "summaries")]
    #[schemars(with = "Both")]
    pub sizes: [Distribution; 2],
    /// Life times of its processes, in nanoseconds.
    #[serde(serialize_with = "summary")]
    #[schemars(with = "SummaryAndSteps")]
    pub life_times: Distribution,
    /// Bytes moved by each process that moved any: how evenly the work lies.
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
    fn of(values: &Distribution) -> Self {
        Self { summary: values.summary(), cumulative: values.steps() }
    }
}

/// Distributions of reads and of writes.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ReadsAndWrites")]
struct Both {
    /// Of reads.
    read: SummaryAndSteps,
    /// Of writes.
    write: SummaryAndSteps,
}

fn summary<S: serde::Serializer>(of: &Distribution, out: S) -> Result<S::Ok, S::Error> {
    SummaryAndSteps::of(of).serialize(out)
}

fn summaries<S: serde::Serializer>(of: &[Distribution; 2], out: S) -> Result<S::Ok, S::Error> {
    Both { read: SummaryAndSteps::of(&of[0]), write: SummaryAndSteps::of(&of[1]) }.serialize(out)
}

/// Operations of one kind in a group.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct KindOf {
    /// What: as `io_events.op` calls it.
    pub kind: &'static str,
    /// Number of operations of this kind, failed ones included.
    pub count: u64,
    /// Number of these operations that failed.
    pub failed: u64,
    /// Time in them, in nanoseconds, of those of which it is known.
    pub time_ns: i128,
    /// Their latencies, one by one; of what was added up there are none.
    #[serde(serialize_with = "summary")]
    #[schemars(with = "SummaryAndSteps")]
    pub latencies: Distribution,
}

/// A file and what the processes of the profile did to it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FileUse {
    /// Path of the file.
    pub path: String,
    /// Processes that had to do with it.
    pub processes: u64,
    /// Number of groups to which these processes belong.
    pub groups: u64,
    /// What the processes of the profile did to it.
    #[serde(flatten)]
    pub sums: Sums,
}

/// A process and what it did to all files together.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ProcessUse {
    /// Its process number (PID) on its host.
    pub pid: i32,
    /// The program that it ran; null when that is not known.
    pub program: Option<String>,
    /// Name of the group to which it belongs.
    pub group: String,
    /// How long it ran, in nanoseconds.
    pub life_time_ns: Option<i64>,
    /// Files that it had to do with.
    pub files: u64,
    /// Operations, bytes and times of the process on files.
    #[serde(flatten)]
    pub sums: Sums,
}

/// What a group did to a file.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Use {
    /// Name of the group.
    pub group: String,
    /// Path of the file.
    pub path: String,
    /// Processes of the group that had to do with it.
    pub processes: u64,
    /// What these processes did to the file.
    #[serde(flatten)]
    pub sums: Sums,
}

/// Operations added up: of a file, a process, or a group and a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Sums {
    /// Successful opens; zero where they were not traced.
    pub opens: u64,
    /// Calls that read, failed ones included.
    pub read_calls: u64,
    /// Bytes read by these calls.
    pub read_bytes: i64,
    /// Calls that wrote, failed ones included.
    pub write_calls: u64,
    /// Bytes written by these calls.
    pub written_bytes: i64,
    /// Time in reads and writes, in nanoseconds.
    pub time_ns: i64,
    /// When the first operation began, in nanoseconds since 1970.
    pub first_ns: Option<i64>,
    /// When the last operation ended, in nanoseconds since 1970.
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

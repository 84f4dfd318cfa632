//! Traced operations of processes on files, single ones or sums: the input of models of input and
//! output.

/// Kind of an operation of a process on a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OperationKind {
    /// It opened the file.
    Open,
    /// It read from the file.
    Read,
    /// It wrote to the file.
    Write,
    /// It closed the file.
    Close,
    /// It deleted a name of the file.
    Delete,
    /// It gave the file another name in place of the one it had.
    Rename,
    /// It gave the file one more name.
    Link,
    /// It cut the file, or made it longer.
    Truncate,
    /// It reserved room for the file.
    Allocate,
    /// It waited until its writes were on disk.
    Sync,
    /// It mapped the file into memory.
    Map,
    /// It touched a mapping, so that a page of the file was brought in.
    Fault,
    /// Any other operation.
    Other,
}

impl OperationKind {
    /// All kinds, in the order of their numbers (`kind as usize`).
    pub const ALL: [Self; 13] = [
        Self::Open,
        Self::Read,
        Self::Write,
        Self::Close,
        Self::Delete,
        Self::Rename,
        Self::Link,
        Self::Truncate,
        Self::Allocate,
        Self::Sync,
        Self::Map,
        Self::Fault,
        Self::Other,
    ];

    /// Its name in the table `io_events`, such as `read`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Read => "read",
            Self::Write => "write",
            Self::Close => "close",
            Self::Delete => "delete",
            Self::Rename => "rename",
            Self::Link => "link",
            Self::Truncate => "truncate",
            Self::Allocate => "allocate",
            Self::Sync => "sync",
            Self::Map => "mmap",
            Self::Fault => "fault",
            Self::Other => "other",
        }
    }

    /// The kind that the table `io_events` calls by this name; [`Self::Other`] for any other name.
    pub fn new(name: &str) -> Self {
        Self::ALL.into_iter().find(|kind| kind.name() == name).unwrap_or(Self::Other)
    }
}

/// An operation of a process on a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operation {
    /// Process of the operation: a place in [`Processes::rows`](crate::Processes::rows), or
    /// [`NONE`](crate::NONE).
    pub process: u32,
    /// On which file: its number.
    pub file: u32,
    /// Kind of the operation.
    pub kind: OperationKind,
    /// When it began, in nanoseconds since 1970.
    pub start_ns: i64,
    /// When it ended, in nanoseconds since 1970; `None` when that is not known.
    pub end_ns: Option<i64>,
    /// Offset at which it began, in bytes.
    pub offset: Option<i64>,
    /// Number of requested bytes.
    pub size: Option<i64>,
    /// Bytes that it moved, or a negative error number.
    pub result: Option<i64>,
}

impl Operation {
    /// Duration, in nanoseconds.
    pub fn latency_ns(&self) -> Option<i64> {
        self.end_ns.map(|end| end.saturating_sub(self.start_ns).max(0))
    }

    /// Bytes that it moved; 0 for what failed and for all but reads and writes.
    pub fn bytes(&self) -> i64 {
        match self.kind {
            OperationKind::Read | OperationKind::Write => self.result.unwrap_or(0).max(0),
            _ => 0,
        }
    }

    /// Whether it failed: its result is an error number.
    pub fn failed(&self) -> bool {
        self.result.is_some_and(|result| result < 0)
    }
}

/// Sums of the reads and writes of a process on an open file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OperationSum {
    /// Process of the operation: a place in [`Processes::rows`](crate::Processes::rows), or
    /// [`NONE`](crate::NONE).
    pub process: u32,
    /// On which file: its number.
    pub file: u32,
    /// When the first of them began, in nanoseconds since 1970.
    pub first_ns: i64,
    /// When the last of them ended, in nanoseconds since 1970.
    pub last_ns: i64,
    /// Sums of the reads: calls, bytes, time and range.
    pub read: DirectionSum,
    /// Sums of the writes: calls, bytes, time and range.
    pub write: DirectionSum,
    /// Number of page faults on mappings of the file.
    pub faults: i64,
}

/// Sums of the operations in one direction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DirectionSum {
    /// Calls, failed ones included.
    pub calls: i64,
    /// Bytes that the calls moved.
    pub bytes: i64,
    /// Number of calls that failed.
    pub errors: i64,
    /// Time in them, in nanoseconds.
    pub time_ns: i64,
    /// Lowest offset and end of the highest range.
    pub extent: Option<(i64, i64)>,
}

/// One record of a trace: a single operation, or a sum of many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TracedOperation {
    /// A single operation with its times.
    One(Operation),
    /// Reads and writes that were summed during tracing.
    Sum(OperationSum),
}

/// A time in which a process read or wrote, with small gaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct IoPhase {
    /// When it began, in nanoseconds since 1970.
    pub from_ns: i64,
    /// When it ended, in nanoseconds since 1970.
    pub to_ns: i64,
    /// Whether its operations are writes; otherwise they are reads.
    pub write: bool,
    /// Bytes that were read or written in it.
    pub bytes: i64,
    /// Number of operations in the phase.
    pub operations: u64,
    /// Whether the operations were summed during tracing: then only the first and the last moment
    /// are known.
    pub added_up: bool,
}

/// Traced properties of a task or a job.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TracedOwner {
    /// When its first process that was forked in the trace started, in nanoseconds since 1970.
    pub first_start_ns: Option<i64>,
    /// When its processes read and wrote, in order.
    pub phases: Vec<IoPhase>,
}

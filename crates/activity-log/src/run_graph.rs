//! A run as a graph: its tasks, who waits for whom, and which files passed between them.
//!
//! It is the other view that models take, beside the log in columns: a model of one run follows
//! dependencies, which a log does not have. What is not known is `None`, or [`NONE`] for a task.

use crate::NONE;

/// A run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunGraph {
    /// What the run is called.
    pub name: String,
    /// What its nodes are: `task` or `job`.
    pub noun: &'static str,
    /// Its tasks, in a fixed order.
    pub tasks: Vec<RunTask>,
    /// Who waits for whom as it was declared: ascending, each pair once.
    pub declared: Vec<Declared>,
    /// Declared dependencies on tasks that no row tells of.
    pub unknown_parents: u64,
    /// Whether who is submitted after another's end was ordered by whoever submits: true of jobs,
    /// which a script or an engine can hold back without telling the scheduler why.
    pub submission_orders: bool,
    /// Paths of the files in [`RunGraph::flows`].
    pub files: Vec<String>,
    /// Who read what others wrote, as it was traced: one for each version, writer and reader.
    pub flows: Vec<FileFlow>,
}

/// A task, with all attempts at it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunTask {
    /// What its run calls it; where that is a whole command, its activity and its id there.
    pub name: String,
    /// What it is an instance of.
    pub activity: String,
    /// What it executed, as a shell would be given it; `None` when that is not told.
    pub command: Option<String>,
    /// Where it ran, if that is told.
    pub work_dir: Option<String>,
    /// Attempts at it.
    pub attempts: u32,
    /// When its first attempt was ready or submitted, whichever is known to be earlier.
    pub first_ns: Option<i64>,
    /// When its last attempt was submitted.
    pub submitted_ns: Option<i64>,
    /// When its last attempt began to run.
    pub started_ns: Option<i64>,
    /// When its last attempt ended.
    pub finished_ns: Option<i64>,
    /// By how much start and end can be wrong, in nanoseconds.
    pub precision_ns: i64,
    /// How long the last attempt ran, in nanoseconds, where that is told without times.
    pub run_time_ns: Option<i64>,
    /// Time in traced reads of the last attempt, added up over its processes and threads.
    pub read_ns: Option<i64>,
    /// Time in traced writes, likewise.
    pub write_ns: Option<i64>,
    /// Whether what it waits for is told, be it that it waits for nothing.
    pub parents_known: bool,
    /// Paths of the files that it is declared to read; `None` when that is not told.
    pub inputs: Option<Vec<String>>,
    /// Paths of the files that it is declared to write.
    pub outputs: Option<Vec<String>>,
    /// Whether anything that it read or wrote was traced.
    pub traced: bool,
    /// Whether it was not run because an earlier result was taken.
    pub cached: bool,
}

/// A declared dependency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Declared {
    /// What is waited for.
    pub from: u32,
    /// What waits.
    pub to: u32,
    /// Whether it is the start that is waited for (Slurm's `after`), not the end.
    pub for_start: bool,
}

/// A version of a file on its way from who wrote it to who read it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileFlow {
    /// The path: a place in [`RunGraph::files`].
    pub file: u32,
    /// Which version of which file, so that two flows of one version are known as such.
    pub version: u64,
    /// Who wrote it; [`NONE`] for nobody of the run.
    pub writer: u32,
    /// Whether it was there before anything was traced.
    pub was_there: bool,
    /// Who read it; [`NONE`] for nobody of the run.
    pub reader: u32,
    /// Whether somebody outside of the run read it.
    pub read_outside: bool,
    /// Bytes that the writer wrote.
    pub written_bytes: i64,
    /// Bytes that the reader read.
    pub read_bytes: i64,
    /// When the writer's last write ended.
    pub last_write_ns: Option<i64>,
    /// When the reader's first read began.
    pub first_read_ns: Option<i64>,
    /// Whether the order of the two is not sure, because their hosts' clocks differ.
    pub doubtful: bool,
}

impl FileFlow {
    /// Writer and reader, when both are tasks of the run and not the same.
    pub fn pair(&self) -> Option<(u32, u32)> {
        let both = self.writer != NONE && self.reader != NONE && self.writer != self.reader;
        both.then_some((self.writer, self.reader))
    }
}

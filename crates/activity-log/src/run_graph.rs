//! A run as a graph: its tasks, their dependencies, and the files that passed between them.
//!
//! Models take it in addition to the log in columns: a model of one run follows dependencies, which
//! a log does not have. Unknown values are `None`, or [`NONE`] for a task.

use std::collections::BTreeSet;

use crate::{NONE, Names};

/// A run as a graph: tasks, their dependencies, and the files that passed between them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunGraph {
    /// Name of the run.
    pub name: String,
    /// Noun for its nodes: `task`, `job` or `process`.
    pub noun: &'static str,
    /// Cases of a graph of all jobs, by declared dependencies, the longest first.
    pub cases: Vec<String>,
    /// Its tasks, in a fixed order.
    pub tasks: Vec<RunTask>,
    /// Declared dependencies, ascending, each pair once.
    pub declared: Vec<Declared>,
    /// Declared dependencies on tasks that no row describes.
    pub unknown_parents: u64,
    /// Whether a submission after another's end implies an order by the submitter. True for jobs: a
    /// script or an engine can hold them back without giving the scheduler a reason.
    pub submission_orders: bool,
    /// Paths of the files in [`RunGraph::flows`].
    pub files: Names,
    /// Traced flows of files from writers to readers: one for each version, writer and reader.
    pub flows: Vec<FileFlow>,
    /// Forks of processes, as parent and child, ascending.
    pub forks: Vec<(u32, u32)>,
    /// Names that files were given later, by the paths that they had when they were written.
    pub renames: Vec<Rename>,
    /// Paths of files that were written, and that are no longer there.
    pub removed: Vec<String>,
    /// Actions of a traced script itself that no task contains.
    pub missing: Vec<String>,
    /// Possible omissions in the commands of a traced script, of which the command is unknown.
    pub doubts: Vec<String>,
    /// Names that commands of a traced script used and that a command changed.
    pub touches: Vec<Touch>,
    /// Paths that a command of a traced script changed, and that existed before the run.
    pub was_there: BTreeSet<String>,
    /// Times at which records of the trace were lost: the graph may be incomplete for these times.
    pub losses: Vec<Loss>,
}

/// A command's use of the name of a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Touch {
    /// The path.
    pub path: String,
    /// The command: a place in [`RunGraph::tasks`].
    pub task: u32,
    /// Whether it wrote, made, removed or renamed what has the path, not only read or executed it.
    pub changes: bool,
}

/// A file that was given another name while it was traced.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rename {
    /// When, in nanoseconds since 1970.
    pub at_ns: i64,
    /// The path that it had.
    pub from: String,
    /// The path that it has since.
    pub to: String,
}

/// A process of a trace.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TracedProcess {
    /// Name of the host.
    pub host: String,
    /// The trace, as in the column `trace_ns`.
    pub trace_ns: i64,
    /// Its number.
    pub pid: i32,
    /// When it was forked, in nanoseconds since 1970.
    pub forked_ns: Option<i64>,
}

/// Records of a host's trace that were lost.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Loss {
    /// Name of the host.
    pub host: String,
    /// It happened after this, in nanoseconds since 1970.
    pub from_ns: i64,
    /// It happened before this, in nanoseconds since 1970.
    pub to_ns: i64,
    /// Number of records that were lost.
    pub count: u64,
}

impl RunGraph {
    /// Records that were lost while a task ran, on its host or, where that is not known, on any.
    pub fn lost_during(&self, task: &RunTask) -> u64 {
        let (from, to) = (task.started_ns.unwrap_or(i64::MIN), task.finished_ns.unwrap_or(i64::MAX));
        let there = |loss: &&Loss| task.host.as_ref().is_none_or(|host| *host == loss.host) && loss.from_ns <= to && from <= loss.to_ns;
        flowmine_sums::total(self.losses.iter().filter(there).map(|loss| loss.count))
    }
}

/// A task, with all attempts at it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunTask {
    /// Its name in the run; if that is a whole command, its activity and its id there.
    pub name: String,
    /// Ids of the attempts at it in tables (`task_io.task`), the last one last; empty for jobs and
    /// processes.
    pub attempt_ids: Vec<String>,
    /// Name of the activity of which it is an instance.
    pub activity: String,
    /// Engine's label that distinguishes it from others of its activity.
    pub tag: Option<String>,
    /// The command that it executed, in the syntax of a shell; `None` when unknown.
    pub command: Option<String>,
    /// Path of the directory in which it ran; `None` when unknown.
    pub work_dir: Option<String>,
    /// Number of attempts at it.
    pub attempts: u32,
    /// When its first attempt was ready or submitted, whichever is known to be earlier, in
    /// nanoseconds since 1970.
    pub first_ns: Option<i64>,
    /// When its last attempt was submitted, in nanoseconds since 1970.
    pub submitted_ns: Option<i64>,
    /// When its last attempt was ready, in nanoseconds since 1970: all that it wished for itself
    /// had come (predecessors, a begin time, the end of a hold). `None` where that is not known.
    pub ready_ns: Option<i64>,
    /// When its last attempt began to run, in nanoseconds since 1970.
    pub started_ns: Option<i64>,
    /// When its last attempt ended, in nanoseconds since 1970.
    pub finished_ns: Option<i64>,
    /// Uncertainty of start and end relative to other tasks, in nanoseconds.
    pub precision_ns: i64,
    /// Uncertainty of submission and end relative to other tasks, in nanoseconds.
    pub order_precision_ns: i64,
    /// Run time of the last attempt, in nanoseconds, if it is known without times.
    pub run_time_ns: Option<i64>,
    /// Time in traced reads of the last attempt, in nanoseconds, summed over its processes and
    /// threads.
    pub read_ns: Option<i64>,
    /// Time in traced writes of the last attempt, in nanoseconds, summed over its processes and
    /// threads.
    pub write_ns: Option<i64>,
    /// Bytes that the last attempt read, as its engine measured them.
    pub engine_read_bytes: Option<i64>,
    /// Bytes that the last attempt wrote, as its engine measured them.
    pub engine_written_bytes: Option<i64>,
    /// Whether its dependencies are known; it may have none.
    pub parents_known: bool,
    /// The activities of which it uses results, as its engine's graph of activities shows them;
    /// `None` when that is not known.
    pub logical_parents: Option<Vec<LogicalParent>>,
    /// Paths of the files that it is declared to read; `None` when that is not known.
    pub inputs: Option<Vec<String>>,
    /// Paths of the files that it is declared to write.
    pub outputs: Option<Vec<String>>,
    /// Whether anything that it read or wrote was traced.
    pub traced: bool,
    /// Whether it did not run because an earlier result was used.
    pub cached: bool,
    /// Whether it ended otherwise than completed.
    pub failed: bool,
    /// The user as whom its engine ran.
    pub user: Option<String>,
    /// The requested queue or partition.
    pub queue: Option<String>,
    /// Number of requested CPUs.
    pub cpus: Option<i64>,
    /// The host on which it ran, if there is only one.
    pub host: Option<String>,
    /// The job that it was or ran in.
    pub job: Option<String>,
    /// For a process, whether it forked others; it may have waited for them all the time.
    pub forked_others: bool,
    /// Process of a command of a traced script.
    pub process: Option<TracedProcess>,
    /// Actions of its engine before and after the command; `None` for engines without any.
    pub engine_steps: Option<EngineSteps>,
    /// Whether Makeflow ran it.
    pub of_makeflow: bool,
    /// Known omissions in the command, such as a redirection.
    pub missing: Vec<String>,
    /// Possible omissions in the command.
    pub doubts: Vec<String>,
}

/// An activity of which a task uses results.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogicalParent {
    /// Its name.
    pub activity: String,
    /// Whether each task of the activity uses them; otherwise it may use those of another.
    pub each: bool,
}

/// Actions of an engine around the command of a task: it creates the directories of outputs and
/// logs before it, and checks the outputs after it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EngineSteps {
    /// Paths of the task's log files, of which the engine makes the directories.
    pub logs: Vec<String>,
    /// Outputs that the engine touches after the command.
    pub touched: Vec<String>,
    /// Outputs that are no plain files, each with what the engine calls it.
    pub special: Vec<(String, String)>,
}

/// A dependency between two tasks, as it was declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Declared {
    /// The task that is waited for: a place in [`RunGraph::tasks`].
    pub from: u32,
    /// The task that waits: a place in [`RunGraph::tasks`].
    pub to: u32,
    /// Whether it is the start that is waited for (Slurm's `after`), not the end.
    pub for_start: bool,
}

/// A version of a file on its way from who wrote it to who read it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FileFlow {
    /// The path: a place in [`RunGraph::files`].
    pub file: u32,
    /// Identifies the version of the file: two flows of one version have the same number.
    pub version: u64,
    /// Task that wrote it; [`NONE`] if no task of the run did.
    pub writer: u32,
    /// Attempt of the writer, which distinguishes what several attempts wrote.
    pub writer_attempt: u32,
    /// Attempt of the reader.
    pub reader_attempt: u32,
    /// Whether it existed before the trace.
    pub was_there: bool,
    /// Task that read it; [`NONE`] if no task of the run did.
    pub reader: u32,
    /// Whether a process outside the run read it.
    pub read_outside: bool,
    /// Bytes that the writer wrote.
    pub written_bytes: i64,
    /// Bytes that the reader read.
    pub read_bytes: i64,
    /// When the writer's first write began, in nanoseconds since 1970.
    pub first_write_ns: Option<i64>,
    /// When the writer's last write ended, in nanoseconds since 1970.
    pub last_write_ns: Option<i64>,
    /// When the reader's first read began, in nanoseconds since 1970.
    pub first_read_ns: Option<i64>,
    /// When the reader's last read ended, in nanoseconds since 1970.
    pub last_read_ns: Option<i64>,
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

//! A traced run: reads, writes and CPU time of each task over time, and the data flow between
//! tasks. Models of progress are fitted to it.
//!
//! Times are seconds since the run's first task began, amounts are bytes.

use crate::NONE;

/// A run with the traced properties of its tasks.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TracedRun {
    /// Name of the run.
    pub name: String,
    /// Its tasks, in the order of their starts.
    pub tasks: Vec<TracedTask>,
    /// From the first start to the last end, in seconds; `None` when no end is known.
    pub makespan_s: Option<f64>,
    /// Processors of each host that was traced, by name.
    pub processors: Vec<(String, u32)>,
    /// Numbers of tasks and operations of the run that are left out.
    pub left_out: RunLeftOut,
}

/// Numbers of tasks and operations of a run that could not be used, by reason.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RunLeftOut {
    /// Tasks without a start or an end, and without a run time.
    pub without_times: u64,
    /// Tasks that had not ended, failed or were aborted.
    pub not_completed: u64,
    /// Tasks that did not run because an earlier result was used.
    pub cached: u64,
    /// Flows of data that would have made a cycle of tasks.
    pub circular: u64,
    /// Operations that were lost while the run was traced.
    pub lost: u64,
    /// Whether operations were summed during tracing: then only the first and the last time are
    /// known.
    pub only_totals: bool,
    /// Whether nothing was traced: no operation of any task.
    pub untraced: bool,
    /// Whether operations were traced and belong to no task: `flowmine correlate` has not run.
    pub uncorrelated: bool,
}

/// A task that ran to its end.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TracedTask {
    /// Its name in the run.
    pub name: String,
    /// Name of the activity of which it is an instance.
    pub activity: String,
    /// When it began, in seconds since the run's first task; `None` when only its run time is
    /// known.
    pub start_s: Option<f64>,
    /// Run time, in seconds.
    pub run_s: f64,
    /// Its host, if there is only one.
    pub host: Option<String>,
    /// Tasks that had to end before it began, as its engine declares.
    pub after: Vec<u32>,
    /// Whether its reads and writes were traced.
    pub traced: bool,
    /// Its reads, by the task that wrote the data.
    pub inputs: Vec<TracedInput>,
    /// Its writes, by the task that read the data.
    pub outputs: Vec<TracedOutput>,
    /// Sum of the extents that it wrote in all its files, each counted once, in bytes; `None` when
    /// nothing was traced.
    pub written: Option<f64>,
    /// CPU time of all its processes by time since its start; empty when not known.
    pub cpu_s: Curve,
    /// Time that threads of all its processes were runnable and waited for a processor, by time
    /// since its start; empty when not known.
    pub run_delay_s: Curve,
    /// Time in reads and writes of all its threads, by time since its start.
    pub io_s: Curve,
}

/// A non-decreasing function: places and values, both ascending.
pub type Curve = Vec<(f64, f64)>;

/// What a task read that one other task wrote, or that existed before.
#[derive(Debug, Clone, PartialEq)]
pub struct TracedInput {
    /// Task that wrote it; [`NONE`] if no task of the run did.
    pub from: u32,
    /// Extent that it had read, in bytes from the beginnings of the files, by time since the task's
    /// start.
    pub read: Curve,
    /// Whether it read while the other was still writing.
    pub streamed: bool,
}

/// What a task wrote that one other task read, or no task of the run.
#[derive(Debug, Clone, PartialEq)]
pub struct TracedOutput {
    /// Task that read it; [`NONE`] if no task of the run did.
    pub to: u32,
    /// Extent that it had written, in bytes, by time since the task's start.
    pub written: Curve,
}

impl Default for TracedInput {
    fn default() -> Self {
        Self { from: NONE, read: Curve::new(), streamed: false }
    }
}

impl TracedTask {
    /// Returns the total number of bytes that it read.
    pub fn read_bytes(&self) -> f64 {
        self.inputs.iter().filter_map(|input| input.read.last()).map(|last| last.1).sum()
    }
}

//! What is known of a traced command while it runs, and what the recorder gets of it.

use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Instant;

use flowmine_trace::clock::boot_ns;
use flowmine_trace::options::Filters;
use flowmine_trace::proc::Proc;
use flowmine_trace::proc::facts::FactReader;
use flowmine_trace::proc::files::{Generations, Unmounted};
use flowmine_trace::proc::paths::{View, Views};
use flowmine_trace::record::{
    Counters, DirectoryCalls, Loss, Op, OpenFile, Operation, ProcessChange, ProcessFacts, ProcessKey, ProcessNews, Record,
};
use flowmine_trace::{Recorder, TraceError};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::calls::Call;
use crate::descriptors::{Descriptors, TableId};
use crate::moves::Moves;
use crate::pending::Pending;
use crate::positions::Positions;
use crate::requests::{self, Resume};
use crate::untraced::Changed;

/// A traced thread, and the call that it is in.
pub(crate) struct Task {
    pub(crate) process: ProcessKey,
    pub(crate) table: TableId,
    /// The call that has not ended yet.
    pub(crate) pending: Option<Pending>,
    /// A call that was interrupted, and when: it either begins again or ended so.
    pub(crate) interrupted: Option<(Pending, u64)>,
    /// How it sees files, and when that was found out.
    pub(crate) view: Option<(u64, Option<Rc<View>>)>,
    pub(crate) exiting: bool,
    /// What was changed of the call that it is in, or that made it.
    pub(crate) changed: Option<Changed>,
}

impl Task {
    /// A thread that has not done anything yet.
    pub(crate) fn new(process: ProcessKey, table: TableId) -> Self {
        Task { process, table, pending: None, interrupted: None, view: None, exiting: false, changed: None }
    }
}

/// A traced process, and what it has used.
pub(crate) struct Process {
    pub(crate) uid: Option<u32>,
    pub(crate) gid: Option<u32>,
    pub(crate) counters: Counters,
    /// Time that its threads which ended had waited for a processor, in nanoseconds; `None` when
    /// that of one is not known.
    run_delay_ns: Option<u64>,
    /// Calls on directories so far.
    pub(crate) directories: DirectoryCalls,
}

impl Process {
    /// A process that has not used anything yet.
    pub(crate) fn new(uid: Option<u32>, gid: Option<u32>) -> Self {
        Process { uid, gid, counters: Counters::default(), run_delay_ns: Some(0), directories: DirectoryCalls::default() }
    }

    /// Adds the run delay of a thread that ends.
    pub(crate) fn thread_ends(&mut self, run_delay_ns: Option<u64>) {
        self.run_delay_ns = self.run_delay_ns.zip(run_delay_ns).map(|(sum, more)| sum.saturating_add(more));
    }

    /// What it has used, calls on directories and run delays included.
    pub(crate) fn used(self) -> Counters {
        Counters { directories: Some(self.directories), run_delay_ns: self.run_delay_ns, ..self.counters }
    }
}

/// Everything that one run of the tracer knows and has.
pub(crate) struct Tracer<'r> {
    pub(crate) proc: Proc,
    pub(crate) reader: FactReader,
    pub(crate) views: Views,
    pub(crate) generations: Generations,
    pub(crate) unmounted: Unmounted,
    pub(crate) descriptors: Descriptors,
    pub(crate) positions: Positions,
    pub(crate) calls: FxHashMap<u32, Call>,
    pub(crate) foreign: FxHashMap<u32, &'static str>,
    pub(crate) filters: Filters,
    pub(crate) tasks: FxHashMap<u32, Task>,
    pub(crate) processes: FxHashMap<ProcessKey, Process>,
    /// Threads that stopped for the first time before their makers reported them, and when.
    pub(crate) newborn: FxHashMap<u32, Instant>,
    /// Threads that went on without a report of their makers, which may still come.
    pub(crate) adopted: FxHashSet<ProcessKey>,
    /// Grows when roots and mounts of threads may have changed.
    pub(crate) views_age: u64,
    /// Calls that are moving positions, and threads that wait for them.
    pub(crate) moves: Moves,
    pub(crate) held: VecDeque<u32>,
    pub(crate) recorder: &'r mut Recorder,
    pub(crate) failed: Option<TraceError>,
    pub(crate) losses: FxHashMap<(&'static str, &'static str, bool), (u64, u64)>,
    pub(crate) losses_since: u64,
    pub(crate) main: u32,
    pub(crate) status: Option<i32>,
    /// When those that the command left behind were asked to end.
    pub(crate) asked: Option<Instant>,
    /// The time of the trace is over: the command goes on unrecorded.
    pub(crate) over: bool,
}

impl Tracer<'_> {
    /// Lets a thread go on, to the end of its call if that is awaited.
    pub(crate) fn go(&self, tid: u32, signal: i32) {
        let awaited = self.tasks.get(&tid).is_some_and(|task| task.pending.is_some() || task.changed.is_some());
        requests::go(tid, if awaited { Resume::ToCallEnd } else { Resume::On }, signal);
    }

    /// Hands a record to the recorder. A failure is remembered and reported at the end.
    fn take(&mut self, record: &Record<'_>) {
        if self.failed.is_none()
            && !self.over
            && let Err(e) = self.recorder.take(record)
        {
            self.failed = Some(e);
        }
    }

    /// Records news of a process.
    pub(crate) fn tell_process(&mut self, process: ProcessKey, change: ProcessChange, facts: ProcessFacts, counters: Counters) {
        self.take(&Record::Process(Box::new(ProcessNews { process, at_boot_ns: boot_ns(), change, facts, counters })));
    }

    /// Whether operations of this kind are wanted.
    pub(crate) fn wants(&self, op: Op) -> bool {
        self.filters.ops.is_empty() || self.filters.ops.contains(&op)
    }

    /// Records an operation, if it is wanted.
    pub(crate) fn tell(&mut self, operation: Operation<'_>) {
        if !self.wants(operation.op) {
            return;
        }
        if let Some(process) = self.processes.get(&operation.process) {
            let wanted = |list: &[u32], id: Option<u32>| list.is_empty() || id.is_some_and(|id| list.contains(&id));
            if !wanted(&self.filters.uids, process.uid) || !wanted(&self.filters.gids, process.gid) {
                return;
            }
        }
        self.take(&Record::Operation(operation));
    }

    /// Whether each read and write is recorded.
    pub(crate) fn keeps_events(&self) -> bool {
        self.recorder.keeps_events()
    }

    /// Records a file that was open already.
    pub(crate) fn tell_open(&mut self, file: OpenFile<'_>) {
        self.take(&Record::OpenFile(file));
    }

    /// Something could not be recorded.
    pub(crate) fn lose(&mut self, kind: &'static str, reason: &'static str, count: u64, bytes: Option<u64>) {
        // Those of which the bytes are known have a row of their own.
        let lost = self.losses.entry((kind, reason, bytes.is_some())).or_default();
        lost.0 += count;
        lost.1 += bytes.unwrap_or(0);
    }

    /// Records what was lost since this was last done.
    pub(crate) fn tell_losses(&mut self) {
        let now = boot_ns();
        let since = std::mem::replace(&mut self.losses_since, now);
        let mut losses: Vec<_> = self.losses.drain().collect();
        losses.sort_unstable();
        for ((kind, reason, known), (count, bytes)) in losses {
            let bytes = known.then_some(bytes);
            let loss = Loss { processor: None, kind, reason, count, bytes, not_before_boot_ns: since, observed_boot_ns: now };
            self.take(&Record::Loss(loss));
        }
    }
}

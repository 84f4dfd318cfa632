//! The loop: waits for stops, keeps threads and processes apart, and lets everything go on.
//!
//! In: stops of ptrace(2). Out: news of processes; stops of calls go to `operations.rs`. Whatever
//! happens, a stopped thread is let go on: a failure to record is remembered and reported at the
//! end.

use std::collections::VecDeque;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use flowmine_trace::clock::boot_ns;
use flowmine_trace::options::Options;
use flowmine_trace::proc::Proc;
use flowmine_trace::proc::facts::FactReader;
use flowmine_trace::proc::files::{Generations, Unmounted};
use flowmine_trace::proc::paths::Views;
use flowmine_trace::record::{Counters, ProcessChange, ProcessFacts, ProcessKey};
use flowmine_trace::stop::Stop;
use flowmine_trace::{Recorder, TraceError};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::descriptors::{Descriptors, TableId};
use crate::moves::Moves;
use crate::positions::Positions;
use crate::requests::{self, Resume, Shared};
use crate::start::{self, Command, Started};
use crate::ticker::Ticker;
use crate::tracer::{Process, Task, Tracer};
use crate::{calls, filter};

/// After so long those that the command left behind and that were asked to end are made to.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often the time is looked at when nothing happens.
const TICK: Duration = Duration::from_millis(100);

pub(crate) fn run(command: &Command, options: &Options, recorder: &mut Recorder, stop: &Stop) -> Result<ExitStatus, TraceError> {
    let proc = Proc::here();
    let known = calls::calls(options.detail);
    let foreign = calls::foreign(options.detail);
    let views = Views::new(&proc).map_err(TraceError::system("reading /proc/self/mountinfo"))?;
    let ticker = Ticker::start(TICK).map_err(TraceError::system("starting a timer"))?;
    let started = start::start(command, &filter::program(&known, &foreign))?;
    recorder.command_is(started.pid);
    let mut tracer = Tracer {
        reader: FactReader::new(&proc, options),
        views,
        generations: Generations::default(),
        unmounted: Unmounted::here(),
        descriptors: Descriptors::default(),
        positions: Positions::default(),
        calls: known.iter().map(|known| (known.number, known.call)).collect(),
        foreign: foreign.into_iter().collect(),
        filters: options.filters.clone(),
        tasks: FxHashMap::default(),
        processes: FxHashMap::default(),
        newborn: FxHashMap::default(),
        adopted: FxHashSet::default(),
        views_age: 0,
        moves: Moves::default(),
        held: VecDeque::new(),
        recorder,
        failed: None,
        losses: FxHashMap::default(),
        losses_since: boot_ns(),
        main: started.pid,
        status: None,
        asked: None,
        over: false,
        proc,
    };
    let outcome = tracer.all(&started, stop);
    drop(ticker);
    outcome?;
    if let Some(e) = started.error() {
        let program = command.arguments.first().map(|program| program.to_string_lossy().into_owned()).unwrap_or_default();
        return Err(TraceError::system(format!("starting {program}"))(e));
    }
    match (tracer.failed, tracer.status) {
        (Some(e), _) => Err(e),
        (None, Some(status)) => Ok(ExitStatus::from_raw(status)),
        (None, None) => Err(TraceError::NotHere("another process waited for the traced command, so its end is not known".to_owned())),
    }
}

impl Tracer<'_> {
    fn all(&mut self, started: &Started, stop: &Stop) -> Result<(), TraceError> {
        stop.begin();
        let table = self.descriptors.new_table(started.pid);
        let parent = self.proc.key(std::process::id());
        self.new_process(started.pid, parent, table);
        started.release();
        let mut next_tick = Instant::now() + TICK;
        let mut stops = 0u32;
        while !self.tasks.is_empty() || !self.newborn.is_empty() {
            match requests::wait(true) {
                Ok(Some((tid, status))) => {
                    self.news(tid, status);
                    // Reading the clock at each stop would cost more than it is worth.
                    stops = stops.wrapping_add(1);
                    if !stops.is_multiple_of(64) {
                        continue;
                    }
                }
                Ok(None) => {}
                Err(e) if e.raw_os_error() == Some(libc::ECHILD) => break,
                Err(e) => return Err(TraceError::system("waiting for the traced command")(e)),
            }
            let now = Instant::now();
            if now < next_tick {
                continue;
            }
            next_tick = now + TICK;
            self.orphans(now);
            self.pass_on(stop, now);
            self.tell_losses();
            self.over |= stop.time_is_over();
            if self.failed.is_none()
                && let Err(e) = self.recorder.tick()
            {
                self.failed = Some(e);
            }
        }
        self.tell_losses();
        Ok(())
    }

    /// Handles one change of a thread, with its status as wait(2) gives it.
    fn news(&mut self, tid: u32, status: i32) {
        if libc::WIFEXITED(status) || libc::WIFSIGNALED(status) {
            self.ended(tid, status);
            return;
        }
        if !libc::WIFSTOPPED(status) {
            return;
        }
        let signal = libc::WSTOPSIG(status);
        match status >> 16 {
            0 if signal == libc::SIGTRAP | 0x80 => self.call_ended(tid),
            // A signal for the program, which gets it.
            0 => self.go(tid, signal),
            libc::PTRACE_EVENT_SECCOMP => self.call_begins(tid),
            libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK | libc::PTRACE_EVENT_CLONE => {
                if let Some(new) = requests::event_message(tid) {
                    self.made(tid, new as u32);
                }
                self.go(tid, 0);
            }
            libc::PTRACE_EVENT_EXEC => {
                self.became_program(tid);
                self.go(tid, 0);
            }
            libc::PTRACE_EVENT_EXIT => {
                self.exits(tid);
                self.go(tid, 0);
            }
            libc::PTRACE_EVENT_STOP => match signal {
                libc::SIGSTOP | libc::SIGTSTP | libc::SIGTTIN | libc::SIGTTOU => requests::go(tid, Resume::Stopped, 0),
                _ if self.tasks.contains_key(&tid) => {
                    self.restore(tid);
                    self.go(tid, 0);
                }
                // Its maker's news of it has not come yet.
                _ => {
                    self.newborn.insert(tid, Instant::now());
                }
            },
            _ => self.go(tid, 0),
        }
    }

    fn made(&mut self, maker: u32, new: u32) {
        let Some(task) = self.tasks.get(&maker) else { return };
        let (process, table, changed) = (task.process, task.table, task.changed);
        // It is stopped, unless it was killed already, or its maker comes late with its report and it has gone on.
        let went_on = self.proc.key(new).is_some_and(|key| self.adopted.remove(&key));
        if !went_on && let Some(status) = self.proc.status(new) {
            let shares = requests::same(maker, new, Shared::Descriptors);
            let is_thread = status.process == Some(process.pid);
            let table = if shares.unwrap_or(is_thread) {
                self.descriptors.share(table, new);
                table
            } else {
                self.descriptors.copy(table, new)
            };
            if is_thread {
                self.tasks.insert(new, Task::new(process, table));
            } else {
                self.new_process(new, Some(process), table);
            }
            if let Some(task) = self.tasks.get_mut(&new) {
                task.changed = changed;
            }
        }
        if self.newborn.remove(&new).is_some() {
            self.restore(new);
            requests::go(new, Resume::On, 0);
        }
    }

    /// Threads with creators that were killed before they reported them, or have not done so yet.
    fn orphans(&mut self, now: Instant) {
        let waiting: Vec<u32> = self.newborn.iter().filter(|(_, since)| now - **since >= TICK).map(|(tid, _)| *tid).collect();
        for tid in waiting {
            self.newborn.remove(&tid);
            self.adopted.extend(self.proc.key(tid));
            if let Some(status) = self.proc.status(tid) {
                let process = status.process.and_then(|pid| self.tasks.get(&pid)).map(|leader| leader.process);
                let table = self.descriptors.new_table(tid);
                match process {
                    Some(process) => {
                        self.tasks.insert(tid, Task::new(process, table));
                    }
                    None => {
                        let parent = status.parent.and_then(|pid| self.proc.key(pid));
                        self.new_process(tid, parent, table);
                    }
                }
            }
            requests::go(tid, Resume::On, 0);
        }
    }

    fn new_process(&mut self, pid: u32, parent: Option<ProcessKey>, table: TableId) {
        let Some(key) = self.proc.key(pid) else {
            // Killed in this moment.
            self.descriptors.leave(table, pid);
            return;
        };
        let facts = ProcessFacts { parent, ..self.reader.of_fork(pid) };
        self.processes.insert(key, Process::new(facts.uid, facts.gid));
        self.tasks.insert(pid, Task::new(key, table));
        self.tell_process(key, ProcessChange::Fork, facts, Counters::default());
    }

    fn became_program(&mut self, tid: u32) {
        // By now all other threads of the process are gone. The one that called has taken the number of the first.
        if let Some(former) = requests::event_message(tid).map(|former| former as u32)
            && former != tid
            && let Some(task) = self.tasks.remove(&former)
        {
            self.forget(tid);
            self.descriptors.renumber(task.table, former, tid);
            self.tasks.insert(tid, task);
        }
        let Some(task) = self.tasks.get_mut(&tid) else { return };
        (task.pending, task.interrupted, task.view) = (None, None, None);
        let (process, mut table) = (task.process, task.table);
        let others: Vec<u32> =
            self.tasks.iter().filter(|(other, task)| **other != tid && task.process == process).map(|(other, _)| *other).collect();
        for other in others {
            self.forget(other);
        }
        if self.descriptors.threads(table) > 1 {
            let own = self.descriptors.copy(table, tid);
            self.descriptors.leave(table, tid);
            table = own;
        }
        if let Some(task) = self.tasks.get_mut(&tid) {
            task.table = table;
        }
        self.descriptors.keep_only(table, &self.proc.descriptors(tid));
        let facts = self.reader.of_program(tid, &mut self.views);
        if let Some(known) = self.processes.get_mut(&process) {
            (known.uid, known.gid) = (facts.uid.or(known.uid), facts.gid.or(known.gid));
        }
        self.tell_process(process, ProcessChange::Exec, facts, Counters::default());
    }

    /// A thread is about to end, still with all that it has.
    fn exits(&mut self, tid: u32) {
        self.ends_in_call(tid);
        let Some(task) = self.tasks.get_mut(&tid) else { return };
        task.exiting = true;
        let process = task.process;
        let run_delay_ns = self.reader.run_delay_ns(tid);
        if let Some(process) = self.processes.get_mut(&process) {
            process.thread_ends(run_delay_ns);
        }
        let last = !self.tasks.values().any(|task| task.process == process && !task.exiting);
        if last || tid == process.pid {
            let counters = self.reader.counters(tid);
            if let Some(process) = self.processes.get_mut(&process) {
                process.counters = counters;
            }
        }
    }

    fn ended(&mut self, tid: u32, status: i32) {
        self.newborn.remove(&tid);
        self.call_given_up(tid);
        let process = self.tasks.get(&tid).map(|task| task.process);
        self.forget(tid);
        if tid == self.main {
            self.status = Some(status);
        }
        // A process ends with its first thread, which waits for the others.
        if let Some(key) = process
            && key.pid == tid
        {
            let counters = self.processes.remove(&key).map(Process::used).unwrap_or_default();
            self.tell_process(key, ProcessChange::Exit(Some(status)), ProcessFacts::default(), counters);
        }
    }

    fn forget(&mut self, tid: u32) {
        self.call_given_up(tid);
        if let Some(task) = self.tasks.remove(&tid) {
            if let Some(process) = self.processes.get_mut(&task.process).filter(|_| !task.exiting) {
                // Killed, and gone before it could be looked at.
                process.thread_ends(None);
            }
            self.descriptors.leave(task.table, tid);
            drop(task);
            self.views.forget_unused();
        }
    }

    /// Signals to us are signals to the command. What it left behind gets none of them: it is not
    /// the one that they were meant for. It cannot run without us either, as its calls stop at the
    /// filter: so it is asked to end, and made to, when the trace is to end ([`Stop::ends_the_rest`]).
    fn pass_on(&mut self, stop: &Stop, now: Instant) {
        let send = |pid: u32, signal: i32| {
            // SAFETY: kill(2) takes numbers; the process is one that we trace and have not waited for to its end, so the number is its own.
            unsafe { libc::kill(pid as libc::pid_t, signal) };
        };
        if self.status.is_none() {
            stop.forwarded().for_each(|signal| send(self.main, signal));
            return;
        }
        let pids: FxHashSet<u32> = self.tasks.values().map(|task| task.process.pid).collect();
        let about = || {
            let left = pids.len();
            format!(
                "flowmine: the command has ended; {left} processes that it left behind are still traced, and cannot run without the tracer. A second signal ends them"
            )
        };
        if self.asked.is_none() && stop.ends_the_rest(about) {
            self.asked = Some(now);
            pids.iter().for_each(|pid| send(*pid, libc::SIGTERM));
        }
        if self.asked.is_some_and(|asked| now - asked >= PATIENCE) {
            pids.iter().for_each(|pid| send(*pid, libc::SIGKILL));
        }
    }
}

//! Waits of the tasks of a run: the same parts as on its critical path, task by task.
//!
//! In goes a run as a graph; out comes each task with times as a [`JobWait`]. Its parts cover the
//! time from its first moment, or from the end of all its predecessors if that was earlier, to its
//! end. `division.rs` divides the time, as for the critical path. Two waits that the path does not
//! contain are added: waiting for predecessors after the first submission, and the whole time
//! before the start of a task that overlapped its predecessor.

use flowmine_activity_log::{JobWait, RunGraph, RunTask, WaitKind, WaitPart};

use super::division::{self, Span};
use super::{Chosen, CriticalPath, LeftOut, TimePart, bounds, edges, facts, full_slots, put_inferred};
use crate::precedence::Network;

/// Returns the cause and the kind of waiting for a part of a task's time.
fn cause(part: TimePart) -> (&'static str, WaitKind) {
    match part {
        // As for jobs: it could have started, and the reason for the delay is not known.
        TimePart::Queue => ("queued", WaitKind::Queue),
        TimePart::OwnWish => ("not_eligible", WaitKind::Wish),
        TimePart::Retry => ("retry", WaitKind::Wish),
        TimePart::Lag => ("lag", WaitKind::Predecessor),
        TimePart::Unknown | TimePart::Slots | TimePart::Submission | TimePart::Waiting => (part.name(), WaitKind::Engine),
        TimePart::Turnaround => ("turnaround", WaitKind::Started),
        TimePart::Read | TimePart::Write | TimePart::Compute | TimePart::Run | TimePart::Overhead => ("running", WaitKind::Started),
    }
}

/// Returns the name of the cause for a part of a task's time on the critical path.
pub fn cause_name(part: TimePart) -> &'static str {
    cause(part).0
}

/// A task with the parts of its time.
pub struct TaskWait<'w, 'r> {
    /// The task.
    pub task: &'r RunTask,
    /// The parts of its time.
    pub wait: JobWait<'r>,
    of_run: &'w OfRun<'r>,
    at: u32,
}

impl<'r> TaskWait<'_, 'r> {
    /// Returns the predecessors for which it waited in a part; empty for other causes.
    pub fn waited_for(&self, part: &WaitPart<'_>) -> Vec<&'r RunTask> {
        if part.kind != WaitKind::Predecessor { Vec::new() } else { self.of_run.waited_for(self.at, part.from_ns).collect() }
    }

    /// Returns the moment until which it waited for predecessors after its first submission, in
    /// nanoseconds since 1970; `None` if it did not. No such time is time in the queue.
    pub fn held_until_ns(&self) -> Option<i64> {
        self.wait.parts.iter().filter(|part| part.kind == WaitKind::Predecessor).map(|part| part.to_ns).max()
    }
}

/// Calls `each` with every task with known times, in the order of the run. Returns the numbers of
/// tasks that are left out.
pub fn for_each(run: &RunGraph, mut each: impl FnMut(&JobWait<'_>)) -> LeftOut {
    for_each_task(run, |task| each(&task.wait))
}

/// Calls `each` with every task with known times and its parts, in the order of the run. Returns
/// the numbers of tasks that are left out.
pub fn for_each_task(run: &RunGraph, mut each: impl FnMut(&TaskWait<'_, '_>)) -> LeftOut {
    let mut found = CriticalPath::default();
    let chosen = Chosen::new(run, &mut found.left_out);
    let mut edges = edges(run, &chosen, &mut found);
    put_inferred(run, &chosen, &mut edges);
    let (network, _) = Network::new(chosen.tasks.len(), edges);
    let Some(begin_ns) = chosen.begin_ns else {
        // Running times alone contain no waits.
        found.left_out.tasks_without_times += chosen.tasks.len() as u64;
        return found.left_out;
    };
    let full = full_slots(&chosen);
    let of_run = OfRun { run, chosen: &chosen, network: &network, begin_ns, full: &full };
    for (at, task) in (0u32..).zip(&chosen.tasks) {
        each(&TaskWait { task, wait: of_run.wait(at, task), of_run: &of_run, at });
    }
    found.left_out
}

/// A run with its computed data.
struct OfRun<'r> {
    run: &'r RunGraph,
    chosen: &'r Chosen<'r>,
    network: &'r Network,
    begin_ns: i64,
    full: &'r [(i64, i64)],
}

impl<'r> OfRun<'r> {
    fn wait(&self, at: u32, task: &'r RunTask) -> JobWait<'r> {
        JobWait {
            job: &task.name,
            is_task: true,
            attempt: task.attempts,
            activity: &task.activity,
            user: task.user.as_deref(),
            partition: task.queue.as_deref(),
            run: &self.run.name,
            cpus: task.cpus,
            ended_ns: task.finished_ns,
            state: task.finished_ns.map(|_| if task.failed { "failed" } else { "completed" }),
            parts: self.parts(at, task),
            ..JobWait::default()
        }
    }

    fn parts(&self, at: u32, task: &RunTask) -> Vec<WaitPart<'r>> {
        let (start_ns, end_ns) = bounds(task).unwrap_or_default();
        let moments = [task.first_ns, task.submitted_ns].into_iter().flatten().min();
        let first_ns = moments.map_or(start_ns, |first| first.min(start_ns));
        let mut spans = match facts(self.chosen, self.network, at, self.begin_ns, self.full) {
            Some(facts) => {
                let ready_ns = facts.ready_ns.unwrap_or(first_ns).min(start_ns);
                let mut spans = vec![Span { part: TimePart::Lag, from_ns: first_ns, to_ns: ready_ns }];
                spans.extend(division::before(&facts));
                spans
            }
            None => vec![Span { part: TimePart::Lag, from_ns: first_ns, to_ns: start_ns }],
        };
        let run = if task.started_ns.is_none() && task.submitted_ns.is_some() { TimePart::Turnaround } else { TimePart::Run };
        spans.push(Span { part: run, from_ns: start_ns, to_ns: end_ns });
        // If clocks are not exact, a span can end before it begins: it is no wait.
        let mut parts: Vec<WaitPart<'r>> = Vec::new();
        let is_beside = self.network.waits_for(at).all(|edge| edge.lag_ns.is_some());
        for span in spans.into_iter().filter(|span| span.from_ns < span.to_ns) {
            parts.push(self.part(at, task, span, is_beside));
        }
        parts
    }

    fn part(&self, at: u32, task: &RunTask, span: Span, is_beside: bool) -> WaitPart<'r> {
        let (name, kind) = cause(span.part);
        let is_predecessor = kind == WaitKind::Predecessor;
        let within = |moment: i64| {
            let unsure = if kind == WaitKind::Started { task.precision_ns } else { task.order_precision_ns.max(task.precision_ns) };
            (moment.saturating_sub(unsure), moment.saturating_add(unsure))
        };
        let is_inferred = || self.network.waits_for(at).any(|edge| edge.confidence_percent < 100);
        WaitPart {
            cause: if is_predecessor && !is_beside { "predecessor" } else { name },
            kind,
            from_ns: span.from_ns,
            to_ns: span.to_ns,
            from_within_ns: within(span.from_ns),
            to_within_ns: within(span.to_ns),
            reason: None,
            limit: None,
            predecessors: is_predecessor.then(|| self.names(at, span.from_ns)).filter(|names| !names.is_empty()),
            evidence: match span.part {
                TimePart::Unknown => "nothing",
                _ if is_predecessor && is_inferred() => "inferred",
                _ if is_predecessor => "dependencies",
                _ => "times",
            },
        }
    }

    /// Returns the predecessors of a task that had not ended.
    fn waited_for(&self, at: u32, from_ns: i64) -> impl Iterator<Item = &'r RunTask> + '_ {
        let of = self.network.waits_for(at).map(|edge| self.chosen.tasks[edge.from as usize]);
        of.filter(move |task| task.finished_ns.is_none_or(|end| end > from_ns))
    }

    /// Returns their names, separated by commas.
    fn names(&self, at: u32, from_ns: i64) -> String {
        self.waited_for(at, from_ns).map(|task| task.name.as_str()).collect::<Vec<_>>().join(",")
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{S, run, task};
    use super::*;

    fn parts(tasks: Vec<RunTask>, declared: &[(u32, u32)]) -> Vec<Vec<(String, i64, i64)>> {
        let mut all = Vec::new();
        for_each(&run(tasks, declared), |job| {
            let part = |part: &WaitPart<'_>| {
                let of = part.predecessors.as_ref().map_or(String::new(), |names| format!(" {names}"));
                (format!("{}{of}", part.cause), part.from_ns / S, part.to_ns / S)
            };
            all.push(job.parts.iter().map(part).collect());
        });
        all
    }

    fn of(cause: &str, from: i64, to: i64) -> (String, i64, i64) {
        (cause.to_owned(), from, to)
    }

    #[test]
    fn a_task_waits_for_its_engine_and_its_executor() {
        let mut again = task("again", 14, 16, 20);
        (again.attempts, again.first_ns) = (2, Some(11 * S));
        let found = parts(vec![task("a", 0, 1, 10), again], &[(0, 1)]);
        assert_eq!(found[0], [of("queued", 0, 1), of("running", 1, 10)]);
        assert_eq!(found[1], [of("submission", 10, 11), of("retry", 11, 14), of("queued", 14, 16), of("running", 16, 20)]);
    }

    #[test]
    fn slots_are_full_while_as_many_run_as_ever_did() {
        // One slot: c could have started at 10, and starts when b has ended.
        let found = parts(vec![task("a", 0, 0, 10), task("b", 10, 10, 25), task("c", 26, 26, 30)], &[(0, 1), (0, 2)]);
        assert_eq!(found[2], [of("slots", 10, 25), of("submission", 25, 26), of("running", 26, 30)]);
    }

    #[test]
    fn what_is_submitted_early_waits_for_the_tasks_before_it() {
        let found = parts(vec![task("a", 0, 0, 10), task("b", 0, 0, 4), task("c", 3, 11, 12)], &[(0, 2), (1, 2)]);
        assert_eq!(found[2], [of("predecessor a,b", 3, 10), of("queued", 10, 11), of("running", 11, 12)]);
        // It overlapped the task from which it reads a stream.
        let found = parts(vec![task("make", 0, 2, 10), task("use", 1, 3, 12)], &[(0, 1)]);
        assert_eq!(found[1], [of("lag make", 1, 3), of("running", 3, 12)]);
    }

    #[test]
    fn nothing_is_said_of_tasks_without_times() {
        let tasks = vec![RunTask { run_time_ns: Some(S), ..RunTask::default() }, RunTask::default()];
        let run = RunGraph { noun: "task", tasks, ..RunGraph::default() };
        let left_out = for_each(&run, |job| panic!("{job:?}"));
        assert_eq!(left_out.tasks_without_times, 2);
    }
}

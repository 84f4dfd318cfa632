//! Poll after poll in, changes out.
//!
//! As the case study has it: a job that is new is an event, a job in another state than before is
//! an event, a job that did not change is nothing. Beyond it: a job that left the queue, an attempt
//! that was requeued, the tasks of a pending array as they appear, and what else changed of a job
//! in the same state ([`Details`]). Each row carries the interval in which the change happened:
//! after the poll before began, before this one ended.
//!
//! **Dependencies that were withdrawn.** Slurm no longer shows a term once it is met, and also when
//! a user withdrew it. The same poll distinguishes the two: a term with a target that is still to
//! come cannot have been met ([`Poll::finish`]). When one of several terms joined by `?` is met,
//! all are removed.
//!
//! What must be remembered between polls is [`Queue`]; it is written to the dataset in the same
//! transaction as the rows, so that a restart neither repeats nor loses one.

use std::borrow::Cow;

use flowmine_dataset::{Builder, Rows};
use flowmine_schema::diagnostic::{Diagnostic, Diagnostics};
use flowmine_schema::tables::{ControllerClock, JobDependency, JobState, NodeState, WITHDRAWN, change};
use flowmine_schema::text;
use flowmine_slurm::clock::Ahead;
use flowmine_slurm::dependency::{self, Operator, Target, Term};
use flowmine_slurm::index_set::IndexSet;
use flowmine_slurm::job_ref::{JobRef, label};
use flowmine_slurm::state::State;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::clock::Shown;
use crate::details::Details;
use crate::naming::Naming;
use crate::record::JobRecord;
pub use crate::remembered::Remembered;

/// When a poll was made, in nanoseconds on the cluster's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PollTime {
    /// When the poll began, before squeue was asked, since 1970 by that clock.
    pub began_ns: i64,
    /// When the poll ended, after squeue had answered, since 1970 by that clock.
    pub ended_ns: i64,
}

impl PollTime {
    /// A poll at one moment, as files hold it.
    pub fn at(ns: i64) -> Self {
        Self { began_ns: ns, ended_ns: ns }
    }
}

/// The rows of one or more polls.
#[derive(Default)]
pub struct Changes {
    /// Rows of `job_states`.
    pub states: Builder<JobState<'static>>,
    /// Rows of `job_dependencies`.
    pub dependencies: Builder<JobDependency<'static>>,
    /// Rows of `controller_clocks`.
    pub clocks: Builder<ControllerClock<'static>>,
    /// Rows of `node_states`.
    pub nodes: Builder<NodeState<'static>>,
    /// How names are written in the rows.
    pub naming: Naming,
}

impl Changes {
    /// No rows yet; names will be written as `naming` has it.
    pub fn new(naming: Naming) -> Self {
        Self { naming, ..Self::default() }
    }

    /// Adds a row of `job_states`.
    pub fn push_state(&mut self, row: &JobState<'_>) {
        self.states.push(&self.naming.job_state(row));
    }

    /// Adds a row of `job_dependencies`.
    pub fn push_dependency(&mut self, row: &JobDependency<'_>) {
        self.dependencies.push(&self.naming.job_dependency(row));
    }
}

/// What identifies a job in the queue from poll to poll. A pending array's record carries the
/// array's id, and so does its last task, so a raw id alone does not do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Key {
    id: i64,
    task: i64,
}

const NO_TASK: i64 = -1;
const PENDING_ARRAY: i64 = -2;

impl Key {
    fn new(record: &JobRecord<'_>) -> Self {
        match record.job {
            JobRef::Single | JobRef::Het { .. } => Self { id: record.job_id, task: NO_TASK },
            JobRef::Task { array, task } => Self { id: array, task },
            JobRef::PendingArray { array, .. } => Self { id: array, task: PENDING_ARRAY },
        }
    }
}

/// What is known of a job that was in the queue at the last poll.
#[derive(Debug, Clone)]
struct Known {
    job_id: i64,
    submit_ns: Option<i64>,
    state: State,
    het: Option<(i64, i64)>,
    poll: u32,
    /// Nothing when an older flowmine remembered it.
    details: Option<Box<Details>>,
    // Most jobs have none of these.
    more: Option<Box<More>>,
}

#[derive(Debug, Clone, Default)]
struct More {
    /// The indices of a pending array as last printed, and what they mean; parsed once, because
    /// thousands of tasks ask.
    tasks: Option<String>,
    pending: Option<IndexSet>,
    /// The dependency column as last printed.
    dependency: Option<String>,
    /// Every term seen of this attempt, with its state.
    terms: Vec<Term>,
}

/// The queue of one cluster as it was at the last poll.
#[derive(Debug, Clone)]
pub struct Queue {
    cluster: String,
    last: Option<PollTime>,
    jobs: FxHashMap<Key, Known>,
    poll: u32,
    changed: bool,
}

impl Queue {
    /// Returns a queue before its first poll.
    pub fn new(cluster: impl Into<String>) -> Self {
        Self { cluster: cluster.into(), last: None, jobs: FxHashMap::default(), poll: 0, changed: false }
    }

    /// Name of the cluster of which this is the queue.
    pub fn cluster(&self) -> &str {
        &self.cluster
    }

    /// When the queue was last looked at; `None` before the first poll.
    pub fn last_poll(&self) -> Option<PollTime> {
        self.last
    }

    /// How many records the queue held at the last poll.
    pub fn len(&self) -> usize {
        self.jobs.len()
    }

    /// Whether it held no records at the last poll.
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    /// Whether the poll just finished changed what must be remembered of jobs.
    pub fn has_changed(&self) -> bool {
        self.changed
    }

    /// Begins a poll. [`Poll::see`] every record, then [`Poll::finish`]. When the input turns out
    /// not to be whole, drop the queue and the changes and load it again: it has forgotten what it
    /// compared.
    pub fn poll<'q>(
        &'q mut self,
        time: PollTime,
        source: &'static str,
        changes: &'q mut Changes,
        diagnostics: &'q mut Diagnostics,
    ) -> Poll<'q> {
        self.poll = self.poll.wrapping_add(1);
        self.changed = false;
        Poll { queue: self, time, source, changes, diagnostics, vanished: Vec::new(), shown: Shown::default() }
    }
}

/// A job with fewer dependencies than before.
struct Vanished {
    key: Key,
    /// Its row, should something have been taken back, with the columns that changed as well.
    /// Nothing where the state changed too.
    row: Option<JobState<'static>>,
    terms: Vec<Term>,
    /// Whether one term that is met removes the others.
    one_suffices: bool,
}

/// A poll that is being compared.
pub struct Poll<'q> {
    vanished: Vec<Vanished>,
    queue: &'q mut Queue,
    time: PollTime,
    source: &'static str,
    changes: &'q mut Changes,
    diagnostics: &'q mut Diagnostics,
    /// What its jobs show of the clock.
    shown: Shown,
}

impl Poll<'_> {
    /// Compares one record with what was known.
    pub fn see(&mut self, record: &JobRecord<'_>) {
        let key = Key::new(record);
        let queue = &mut *self.queue;
        let poll = queue.poll;
        let kind = match queue.jobs.get_mut(&key) {
            Some(known) if known.poll == poll => {
                let shown = record.label();
                self.diagnostics
                    .push(Diagnostic::warning("queue_duplicate", format!("job {shown} is listed twice in one poll; the first is used")));
                return;
            }
            Some(known) => {
                known.poll = poll;
                let resubmitted = record.submit_ns.is_some() && known.submit_ns.is_some() && record.submit_ns != known.submit_ns;
                if resubmitted {
                    change::REQUEUED
                } else if known.state != *self.changes.naming.state(&record.state) {
                    // Where Slurm keeps the submit time: a job that ran and waits again was
                    // requeued.
                    let waits_again = record.state == State::Pending
                        && !matches!(known.state, State::Pending | State::RequeueHold | State::SpecialExit | State::ReservationDeleted);
                    if waits_again { change::REQUEUED } else { change::STATE }
                } else {
                    self.see_details(key, record);
                    return;
                }
            }
            None => change::NEW,
        };
        let not_before = self.not_before(kind, record);
        let mut row = row_of(&self.queue.cluster, kind, record, not_before, self.time.ended_ns, self.source);
        row.reported_ns = record.state.reported_ns(record.times(), not_before, self.time.ended_ns);
        let attempt_goes_on = kind == change::STATE;
        let before = self.queue.jobs.get(&key).filter(|_| attempt_goes_on).map(|known| &known.state);
        self.shown.add(record, before.zip(self.queue.last), self.time);
        if attempt_goes_on {
            let known = self.queue.jobs.get(&key).and_then(|known| known.details.as_ref());
            let changed = known.map_or_else(Vec::new, |details| details.changed_with_state(record, &self.changes.naming));
            row.changed = (!changed.is_empty()).then(|| changed.join(",").into());
        }
        self.changes.push_state(&row);

        let queue = &mut *self.queue;
        queue.changed = true;
        let known = queue.jobs.entry(key).or_insert_with(|| Known {
            job_id: 0,
            submit_ns: None,
            state: State::Pending,
            het: None,
            poll,
            details: None,
            more: None,
        });
        known.job_id = record.job_id;
        known.submit_ns = record.submit_ns;
        known.state = self.changes.naming.state(&record.state).into_owned();
        known.het = match record.job {
            JobRef::Het { leader, offset } => Some((leader, offset)),
            _ => None,
        };
        known.details.get_or_insert_default().take(record, &self.changes.naming);
        if !attempt_goes_on && let Some(more) = &mut known.more {
            // The terms of a new attempt are its own.
            more.terms.clear();
            more.dependency = None;
        }
        let vanished = self.update_more(key, record);
        if !vanished.terms.is_empty() {
            self.vanished.push(vanished);
        }
    }

    /// Compares a record with one in the same state.
    fn see_details(&mut self, key: Key, record: &JobRecord<'_>) {
        let Some(known) = self.queue.jobs.get(&key) else { return };
        let mut changed = known.details.as_ref().map_or_else(Vec::new, |details| details.changed(record, &self.changes.naming));
        let was_held = known.details.as_ref().map(|details| details.held);
        let terms = known.more.as_ref().map_or(0, |more| more.terms.len());
        let mut vanished = Vanished { key, row: None, terms: Vec::new(), one_suffices: false };
        if known.more.is_some() || record.dependency.is_some() || matches!(record.job, JobRef::PendingArray { .. }) {
            vanished = self.update_more(key, record);
            let more = self.queue.jobs.get(&key).and_then(|known| known.more.as_ref());
            if more.is_some_and(|more| more.terms.len() > terms) {
                changed.push(DEPENDENCY);
            }
        }
        if changed.is_empty() && vanished.terms.is_empty() && was_held.is_some() {
            return;
        }
        let kind = match was_held {
            Some(false) if record.is_held() => change::HELD,
            Some(true) if !record.is_held() => change::RELEASED,
            _ => change::CHANGED,
        };
        let not_before = self.queue.last.map(|last| last.began_ns);
        let mut row = row_of(&self.queue.cluster, kind, record, not_before, self.time.ended_ns, self.source);
        row.changed = Some(changed.join(",").into());
        if !vanished.terms.is_empty() {
            vanished.row = Some(row.into_owned());
            self.vanished.push(vanished);
        } else if !changed.is_empty() {
            self.changes.push_state(&row);
        }
        self.queue.changed = true;
        if let Some(known) = self.queue.jobs.get_mut(&key) {
            known.details.get_or_insert_default().take(record, &self.changes.naming);
        }
    }

    /// After what time the change happened.
    fn not_before(&self, kind: &str, record: &JobRecord<'_>) -> Option<i64> {
        let last = self.queue.last.map(|last| last.began_ns);
        if kind != change::NEW {
            return last;
        }
        if let (JobRef::Task { array, task }, Some(last)) = (&record.job, last) {
            // The task was waiting in its array's record at the last poll.
            let pending = self.queue.jobs.get(&Key { id: *array, task: PENDING_ARRAY });
            let set = pending.filter(|known| known.submit_ns == record.submit_ns).and_then(|known| known.more.as_ref()?.pending.as_ref());
            if set.is_some_and(|set| u32::try_from(*task).is_ok_and(|task| set.contains(task))) {
                return Some(last);
            }
        }
        // A submit time after the poll is from another clock: the change did happen before the poll.
        match (last, record.submit_ns.filter(|&submit| submit <= self.time.ended_ns)) {
            (Some(last), Some(submit)) => Some(last.max(submit)),
            (last, submit) => last.or(submit),
        }
    }

    /// Remembers the array's list and the dependencies, and writes a row for each term that is new
    /// or in another state. Returns which terms are no longer shown.
    fn update_more(&mut self, key: Key, record: &JobRecord<'_>) -> Vanished {
        let mut vanished = Vanished { key, row: None, terms: Vec::new(), one_suffices: false };
        let shown_tasks = match &record.job {
            JobRef::PendingArray { tasks, .. } => Some(tasks.as_ref()),
            _ => None,
        };
        let tasks = shown_tasks.map(|tasks| self.changes.naming.array_tasks(tasks));
        let shown_dependency = record.dependency.as_deref();
        let dependency = shown_dependency.map(|text| self.changes.naming.dependency(text));
        let queue = &mut *self.queue;
        let Some(known) = queue.jobs.get_mut(&key) else { return vanished };
        let (known_tasks, known_dependency) = match &known.more {
            Some(more) => (more.tasks.as_deref(), more.dependency.as_deref()),
            None => (None, None),
        };
        if known_tasks == tasks.as_deref() && known_dependency == dependency.as_deref() {
            return vanished;
        }
        queue.changed = true;
        let more = known.more.get_or_insert_default();
        if more.tasks.as_deref() != tasks.as_deref() {
            more.tasks = tasks.map(Cow::into_owned);
            more.pending = shown_tasks.and_then(IndexSet::parse);
        }
        if more.dependency.as_deref() == dependency.as_deref() || dependency.is_none() && !record.tells_dependency {
            return vanished;
        }
        let before = std::mem::replace(&mut more.dependency, dependency.map(Cow::into_owned));
        let expression = match dependency::parse(shown_dependency.unwrap_or_default()) {
            Ok(expression) => expression,
            Err(dependency::NotUnderstood(at)) => {
                let shown = text::visible(shown_dependency.unwrap_or_default());
                let message = format!("job {}: dependency {shown:?} is not understood at byte {}", record.label(), at + 1);
                self.diagnostics.push(Diagnostic::error("dependency_not_understood", message));
                return vanished;
            }
        };
        let shown_before = before.as_deref().and_then(|text| dependency::parse(text).ok()).unwrap_or_default();
        vanished.one_suffices = shown_before.operator == Some(Operator::Or);
        vanished.terms = shown_before.terms;
        vanished.terms.retain(|term| !expression.terms.iter().any(|now| now.is_same(term)));
        let job = record.label();
        for (position, term) in expression.terms.iter().enumerate() {
            let position = match more.terms.iter().position(|t| t.is_same(term)) {
                Some(at) if more.terms[at].state == term.state => continue,
                Some(at) => {
                    more.terms[at].state.clone_from(&term.state);
                    at
                }
                None => {
                    more.terms.extend(Some(term).filter(|term| self.changes.naming.can_keep(term)).cloned());
                    position.max(more.terms.len().saturating_sub(1))
                }
            };
            push_dependency(
                self.changes,
                &queue.cluster,
                &job,
                record,
                term,
                expression.operator,
                position,
                self.time.ended_ns,
                self.source,
            );
        }
        vanished
    }

    /// Whether this poll has already seen the job of a record.
    pub fn has_seen(&self, record: &JobRecord<'_>) -> bool {
        self.queue.jobs.get(&Key::new(record)).is_some_and(|known| known.poll == self.queue.poll)
    }

    /// Ends a poll of which only the changes are known, as a log of changes has them: what was
    /// not seen is still there. With `whole`, no more changes of this time follow.
    pub fn finish_changes(mut self, whole: bool) {
        // What it waits for may have changed in a line that is still to come: nothing is known to have been taken back.
        for Vanished { row, .. } in std::mem::take(&mut self.vanished) {
            if let Some(row) = row.filter(|row| row.changed.as_deref().is_some_and(|changed| !changed.is_empty())) {
                self.changes.push_state(&row);
            }
        }
        if whole {
            self.queue.last = Some(self.time);
        }
    }

    /// Ends the poll: what was known and was not seen has left the queue. Returns by how much the
    /// clock of the poll can be ahead of slurmctld's.
    pub fn finish(mut self) -> Ahead {
        for vanished in std::mem::take(&mut self.vanished) {
            self.report_withdrawn(vanished);
        }
        let Self { queue, time, source, changes, shown, .. } = self;
        let mut left: Vec<Key> = queue.jobs.iter().filter(|(_, known)| known.poll != queue.poll).map(|(key, _)| *key).collect();
        left.sort_unstable();
        for key in left {
            // A pending array that has wholly become tasks has not left; its tasks speak for themselves.
            let remaining = if key.task == PENDING_ARRAY { Some(remaining_tasks(queue, key)) } else { None };
            let Some(known) = queue.jobs.remove(&key) else { continue };
            queue.changed = true;
            if remaining.as_ref().is_some_and(|remaining| remaining.as_ref().is_some_and(IndexSet::is_empty)) {
                continue;
            }
            let job = job_ref(key, &known);
            changes.push_state(&JobState {
                cluster: Cow::Borrowed(&queue.cluster),
                job: label(known.job_id, &job).into(),
                job_id: known.job_id,
                submit_ns: known.submit_ns,
                change: change::LEFT.into(),
                not_before_ns: queue.last.map(|last| last.began_ns),
                observed_at_ns: time.ended_ns,
                source: source.into(),
                array_job_id: (key.task != NO_TASK).then_some(key.id),
                array_task_id: (key.task >= 0).then_some(key.task),
                array_tasks: remaining.flatten().map(|set| set.to_string().into()),
                het_job_id: known.het.map(|(leader, _)| leader),
                het_offset: known.het.map(|(_, offset)| offset),
                ..JobState::default()
            });
        }
        queue.last = Some(time);
        shown.ahead()
    }
}

impl Poll<'_> {
    /// Writes what was taken back of terms that are no longer shown.
    fn report_withdrawn(&mut self, vanished: Vanished) {
        let Vanished { key, row, terms, one_suffices } = vanished;
        let queue = &mut *self.queue;
        let mut open: Vec<&Term> = terms.iter().filter(|term| is_to_come(queue, key, term)).collect();
        if one_suffices && open.len() < terms.len() {
            open.clear();
        }
        let mut withdrawn = Vec::new();
        if let Some(known) = queue.jobs.get_mut(&key)
            && let Some(more) = &mut known.more
        {
            for term in open {
                if let Some(at) = more.terms.iter().position(|known| known.is_same(term)) {
                    more.terms[at].state = Some(WITHDRAWN.to_owned());
                    withdrawn.push((at, more.terms[at].clone()));
                }
            }
        }
        for (position, term) in &withdrawn {
            let Some(known) = queue.jobs.get(&key) else { continue };
            let job = label(known.job_id, &job_ref(key, known));
            let row = of_term(&queue.cluster, &job, known.job_id, known.submit_ns, term, None, *position, self.time.ended_ns, self.source);
            self.changes.push_dependency(&row);
        }
        let Some(mut row) = row else { return };
        let mut changed: Vec<&str> =
            row.changed.as_deref().into_iter().flat_map(|names| names.split(',')).filter(|name| !name.is_empty()).collect();
        if !withdrawn.is_empty() && !changed.contains(&DEPENDENCY) {
            changed.push(DEPENDENCY);
        }
        if !changed.is_empty() {
            row.changed = Some(changed.join(",").into());
            self.changes.push_state(&row);
        }
    }
}

/// The row of a record that is written.
fn row_of<'r>(
    cluster: &'r str,
    kind: &'static str,
    record: &'r JobRecord<'_>,
    not_before_ns: Option<i64>,
    observed_at_ns: i64,
    source: &'static str,
) -> JobState<'r> {
    let mut row = record.to_row();
    row.cluster = Cow::Borrowed(cluster);
    row.change = kind.into();
    row.source = source.into();
    row.not_before_ns = not_before_ns;
    row.observed_at_ns = observed_at_ns;
    row
}

/// Name in `changed` of the dependencies of a job, which are not a column of the table.
const DEPENDENCY: &str = "dependency";

/// Whether this poll shows that a term of a job cannot have been met yet. Slurm holds a dependency
/// met when its target has wholly ended, or has started (`after`); a target that this poll does not
/// show says nothing.
fn is_to_come(queue: &Queue, waiting: Key, term: &Term) -> bool {
    let current = |key: Key| queue.jobs.get(&key).filter(|known| known.poll == queue.poll);
    let lives = |known: &Known| matches!(known.state, State::Pending | State::Configuring | State::Running | State::Suspended);
    if current(waiting).is_none_or(|known| !lives(known)) {
        return false;
    }
    let waits = |known: &Known| known.state == State::Pending;
    let of = |key: Key| match term.kind.as_str() {
        "afterok" | "afterany" | "afternotok" => current(key).is_some_and(lives),
        "after" | "aftercorr" => current(key).is_some_and(waits),
        _ => false,
    };
    match term.target {
        Target::ArrayTask(id, task) => of(Key { id, task }),
        // While tasks still wait in the array's record, not all can have ended.
        Target::Array(id) => {
            of(Key { id, task: PENDING_ARRAY }) && (term.kind != "after" && term.kind != "aftercorr" || !has_tasks(queue, id))
        }
        Target::Job(id) => of(Key { id, task: NO_TASK }) || of(Key { id, task: PENDING_ARRAY }) && !has_tasks(queue, id),
        Target::UserAndName => is_singleton_to_come(queue, waiting),
    }
}

/// Whether the queue shows a task of an array by itself.
fn has_tasks(queue: &Queue, array: i64) -> bool {
    queue.jobs.iter().any(|(key, known)| key.id == array && key.task >= 0 && known.poll == queue.poll)
}

/// Whether an earlier job of the same user and name is still in the queue.
fn is_singleton_to_come(queue: &Queue, waiting: Key) -> bool {
    let whose = |key: Key| {
        let known = queue.jobs.get(&key).filter(|known| known.poll == queue.poll)?;
        let details = known.details.as_deref()?;
        matches!(known.state, State::Pending | State::Running | State::Suspended)
            .then_some((details.user.as_deref()?, details.name.as_deref()?))
    };
    let Some(own) = whose(waiting) else { return false };
    queue.jobs.keys().any(|&key| key.id < waiting.id && whose(key) == Some(own))
}

/// Returns the job that a key of the queue identifies.
fn job_ref(key: Key, known: &Known) -> JobRef<'static> {
    match (key.task, known.het) {
        (PENDING_ARRAY, _) => JobRef::PendingArray { array: key.id, tasks: Cow::Borrowed("") },
        (NO_TASK, Some((leader, offset))) => JobRef::Het { leader, offset },
        (NO_TASK, None) => JobRef::Single,
        (task, _) => JobRef::Task { array: key.id, task },
    }
}

/// The indices of a pending array that are not in the queue as tasks. `None` when the list could
/// not be read.
fn remaining_tasks(queue: &Queue, key: Key) -> Option<IndexSet> {
    let pending = queue.jobs.get(&key)?.more.as_ref()?.pending.as_ref()?;
    Some(pending.filter(|index| !queue.jobs.contains_key(&Key { id: key.id, task: i64::from(index) })))
}

/// One term as a row.
#[allow(clippy::too_many_arguments, reason = "the columns of one row")]
fn of_term<'r>(
    cluster: &'r str,
    job: &'r str,
    job_id: i64,
    submit_ns: Option<i64>,
    term: &Term,
    operator: Option<Operator>,
    position: usize,
    observed_at_ns: i64,
    source: &'static str,
) -> JobDependency<'r> {
    let mut row = JobDependency {
        cluster: cluster.into(),
        job: job.into(),
        job_id,
        submit_ns,
        observed_at_ns,
        source: source.into(),
        ..JobDependency::default()
    };
    let (target_kind, job, task) = term.target.parts();
    row.position = position as i32;
    row.operator = operator.map(|operator| operator.name().into());
    row.kind = term.kind.clone().into();
    row.target_kind = target_kind.name().into();
    row.target_job_id = job;
    row.target_task_id = task;
    row.delay_s = Some(term.delay_s).filter(|&delay| delay != 0);
    row.state = term.state.clone().map(Into::into);
    row
}

/// Writes one term of a record as a row.
#[allow(clippy::too_many_arguments, reason = "the columns of one row, used in two places")]
pub(crate) fn push_dependency(
    changes: &mut Changes,
    cluster: &str,
    job: &str,
    record: &JobRecord<'_>,
    term: &Term,
    operator: Option<Operator>,
    position: usize,
    observed_at_ns: i64,
    source: &'static str,
) {
    changes.push_dependency(&of_term(cluster, job, record.job_id, record.submit_ns, term, operator, position, observed_at_ns, source));
}

impl Queue {
    /// What must be remembered, as rows in a fixed order.
    pub fn remember(&self) -> Builder<Remembered<'static>> {
        let mut keys: Vec<&Key> = self.jobs.keys().collect();
        keys.sort_unstable();
        let mut rows = Builder::with_capacity(keys.len());
        for key in keys {
            let known = &self.jobs[key];
            let more = known.more.as_deref();
            let terms = more.filter(|more| !more.terms.is_empty()).map(|more| write_terms(&more.terms));
            let mut row = Remembered {
                id: key.id,
                task: key.task,
                job_id: known.job_id,
                submit_ns: known.submit_ns,
                state: known.state.name().into(),
                het_job_id: known.het.map(|(leader, _)| leader),
                het_offset: known.het.map(|(_, offset)| offset),
                tasks: more.and_then(|more| more.tasks.as_deref()).map(Into::into),
                dependency: more.and_then(|more| more.dependency.as_deref()).map(Into::into),
                terms: terms.map(Into::into),
                ..Default::default()
            };
            if let Some(details) = &known.details {
                details.remember(&mut row);
            }
            rows.push(&row);
        }
        rows
    }

    /// The queue that was remembered.
    ///
    /// # Errors
    /// When the file is not what [`Queue::remember`] wrote.
    pub fn recall(cluster: &str, last: Option<PollTime>, rows: &Rows<Remembered<'static>>) -> Result<Self, String> {
        let mut queue = Self::new(cluster);
        queue.last = last;
        queue.jobs.reserve(rows.len());
        for row in rows.iter() {
            let mut terms = Vec::new();
            if let Some(text) = row.terms.as_deref() {
                terms = dependency::parse(text).map_err(|at| format!("terms {text:?} are not understood at byte {}", at.0 + 1))?.terms;
            }
            let details = Details::recall(&row).map(Box::new);
            let pending = row.tasks.as_deref().and_then(IndexSet::parse);
            let more = More { tasks: row.tasks.map(Cow::into_owned), pending, dependency: row.dependency.map(Cow::into_owned), terms };
            let is_plain = more.tasks.is_none() && more.dependency.is_none() && more.terms.is_empty();
            let known = Known {
                job_id: row.job_id,
                submit_ns: row.submit_ns,
                state: State::parse(&row.state),
                het: row.het_job_id.zip(row.het_offset),
                poll: 0,
                details,
                more: (!is_plain).then(|| Box::new(more)),
            };
            queue.jobs.insert(Key { id: row.id, task: row.task }, known);
        }
        Ok(queue)
    }
}

fn write_terms(terms: &[Term]) -> String {
    let mut out = String::new();
    for term in terms {
        if !out.is_empty() {
            out.push(',');
        }
        out.push_str(&term.to_string());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use flowmine_schema::tables::source::SQUEUE;
    use flowmine_schema::time::SECOND_NS;

    const S: i64 = SECOND_NS;

    #[derive(Default)]
    struct Polled {
        states: Vec<JobState<'static>>,
        dependencies: Vec<JobDependency<'static>>,
        diagnostics: Diagnostics,
    }

    /// Polls a queue with records at a time and gives what came out, as short text.
    fn poll(queue: &mut Queue, at_s: i64, records: &[JobRecord<'_>]) -> Polled {
        let mut changes = Changes::default();
        let mut diagnostics = Diagnostics::default();
        let mut poll = queue.poll(PollTime { began_ns: at_s * S, ended_ns: at_s * S + S / 10 }, SQUEUE, &mut changes, &mut diagnostics);
        for record in records {
            poll.see(record);
        }
        poll.finish();
        // Every poll also goes through what is remembered on disk.
        let rows = queue.remember().finish().unwrap();
        *queue = Queue::recall("lab", queue.last, &rows).unwrap();
        let states = changes.states.finish().unwrap();
        let dependencies = changes.dependencies.finish().unwrap();
        Polled {
            states: states.iter().map(JobState::into_owned).collect(),
            dependencies: dependencies.iter().map(JobDependency::into_owned).collect(),
            diagnostics,
        }
    }

    fn short(told: &Polled) -> String {
        let rows: Vec<String> =
            told.states.iter().map(|r| format!("{} {} {}", r.job, r.change, r.state.as_deref().unwrap_or("-"))).collect();
        rows.join("; ")
    }

    fn job(id: i64, state: State, submit_s: i64) -> JobRecord<'static> {
        let mut record = JobRecord::new(id, JobRef::Single, state);
        record.submit_ns = Some(submit_s * S);
        record
    }

    fn pending_array(id: i64, tasks: &'static str, submit_s: i64) -> JobRecord<'static> {
        JobRecord { job: JobRef::PendingArray { array: id, tasks: tasks.into() }, ..job(id, State::Pending, submit_s) }
    }

    fn task(raw: i64, array: i64, task: i64, state: State, submit_s: i64) -> JobRecord<'static> {
        JobRecord { job: JobRef::Task { array, task }, ..job(raw, state, submit_s) }
    }

    #[test]
    fn new_changed_same_and_left() {
        let mut queue = Queue::new("lab");
        assert_eq!(
            short(&poll(&mut queue, 100, &[job(1, State::Pending, 95), job(2, State::Running, 90)])),
            "1 new PENDING; 2 new RUNNING"
        );
        assert_eq!(short(&poll(&mut queue, 110, &[job(1, State::Pending, 95), job(2, State::Running, 90)])), "");
        let mut running = job(1, State::Running, 95);
        running.start_ns = Some(113 * S);
        let told = poll(&mut queue, 120, &[running]);
        assert_eq!(short(&told), "1 state RUNNING; 2 left -");
        let row = &told.states[0];
        assert_eq!((row.not_before_ns, row.observed_at_ns, row.reported_ns), (Some(110 * S), 120 * S + S / 10, Some(113 * S)));
        assert_eq!((told.states[1].not_before_ns, told.states[1].submit_ns), (Some(110 * S), Some(90 * S)));
    }

    #[test]
    fn a_first_sight_is_not_before_the_submit_time() {
        let mut queue = Queue::new("lab");
        let told = poll(&mut queue, 100, &[job(1, State::Pending, 95)]);
        assert_eq!((told.states[0].not_before_ns, told.states[0].reported_ns), (Some(95 * S), Some(95 * S)));
        let told = poll(&mut queue, 200, &[job(1, State::Pending, 95), job(2, State::Pending, 150)]);
        assert_eq!(told.states[0].not_before_ns, Some(150 * S));
    }

    #[test]
    fn a_submit_time_ahead_of_the_poll_begins_no_interval() {
        let mut queue = Queue::new("lab");
        let told = poll(&mut queue, 100, &[job(1, State::Pending, 105)]);
        assert_eq!((told.states[0].not_before_ns, told.states[0].reported_ns), (None, None));
    }

    #[test]
    fn a_start_time_outside_the_interval_is_not_the_time_of_the_change() {
        let mut queue = Queue::new("lab");
        poll(&mut queue, 100, &[job(1, State::Suspended, 95)]);
        let mut resumed = job(1, State::Running, 95);
        resumed.start_ns = Some(96 * S);
        assert_eq!(poll(&mut queue, 110, &[resumed]).states[0].reported_ns, None);
    }

    #[test]
    fn requeued_job() {
        let mut queue = Queue::new("lab");
        poll(&mut queue, 100, &[job(1, State::Running, 95)]);
        let told = poll(&mut queue, 110, &[job(1, State::Pending, 105)]);
        assert_eq!(short(&told), "1 requeued PENDING");
        assert_eq!(told.states[0].submit_ns, Some(105 * S));
        // Between two polls it can even run again: the submit time shows it.
        assert_eq!(short(&poll(&mut queue, 120, &[job(1, State::Pending, 115)])), "1 requeued PENDING");
        // A Slurm that keeps the submit time.
        poll(&mut queue, 130, &[job(1, State::Running, 115)]);
        assert_eq!(short(&poll(&mut queue, 140, &[job(1, State::Pending, 115)])), "1 requeued PENDING");
    }

    #[test]
    fn an_array_becomes_tasks_as_they_appear() {
        let mut queue = Queue::new("lab");
        assert_eq!(short(&poll(&mut queue, 100, &[pending_array(8, "0-3%2", 95)])), "8_* new PENDING");
        let told =
            poll(&mut queue, 110, &[pending_array(8, "2-3%2", 95), task(9, 8, 0, State::Running, 95), task(10, 8, 1, State::Running, 95)]);
        assert_eq!(short(&told), "8_0 new RUNNING; 8_1 new RUNNING");
        assert_eq!(told.states[0].not_before_ns, Some(100 * S), "it still waited at the poll before");
        // The last task has the array's raw id; the array's record is gone without having left.
        let told = poll(
            &mut queue,
            120,
            &[task(11, 8, 2, State::Running, 95), task(8, 8, 3, State::Pending, 95), task(10, 8, 1, State::Running, 95)],
        );
        assert_eq!(short(&told), "8_2 new RUNNING; 8_3 new PENDING; 8_0 left -");
        assert_eq!(told.states[1].job_id, 8);
        assert_eq!(short(&poll(&mut queue, 130, &[])), "8_1 left -; 8_2 left -; 8_3 left -");
    }

    #[test]
    fn the_rest_of_a_pending_array_can_leave() {
        let mut queue = Queue::new("lab");
        poll(&mut queue, 100, &[pending_array(8, "0-9%3", 95)]);
        let told = poll(&mut queue, 110, &[task(9, 8, 0, State::Running, 95)]);
        assert_eq!(short(&told), "8_0 new RUNNING; 8_* left -");
        assert_eq!(told.states[1].array_tasks.as_deref(), Some("1-9"));
    }

    #[test]
    fn dependencies_are_a_union_with_the_state_last_seen() {
        let mut queue = Queue::new("lab");
        let with = |text: &'static str| JobRecord { dependency: Some(text.into()), ..job(5, State::Pending, 95) };
        let told = poll(&mut queue, 100, &[with("afterok:3(unfulfilled),afterany:2(unfulfilled)")]);
        assert_eq!(told.dependencies.len(), 2);
        assert_eq!(told.dependencies[1].target_job_id, Some(2));
        assert_eq!(told.dependencies[1].position, 1);
        let told = poll(&mut queue, 110, &[with("afterok:3(unfulfilled)")]);
        assert!(told.dependencies.is_empty() && told.states.is_empty());
        let told = poll(&mut queue, 120, &[with("afterok:3(failed)")]);
        assert_eq!((told.dependencies.len(), told.dependencies[0].state.as_deref(), told.dependencies[0].position), (1, Some("failed"), 0));
        let told = poll(&mut queue, 130, &[job(5, State::Pending, 95)]);
        assert!(told.dependencies.is_empty());
        // The user gives it another dependency (scontrol update).
        let told = poll(&mut queue, 140, &[with("afterok:4_*(unfulfilled)?singleton(unfulfilled)")]);
        let kinds: Vec<(&str, i32)> = told.dependencies.iter().map(|d| (d.target_kind.as_ref(), d.position)).collect();
        assert_eq!(kinds, [("array", 2), ("user_and_name", 3)]);
        assert_eq!(told.dependencies[0].operator.as_deref(), Some("or"));
    }

    #[test]
    fn nonsense_in_the_dependency_column_is_told() {
        let mut queue = Queue::new("lab");
        let told = poll(&mut queue, 100, &[JobRecord { dependency: Some("afterok:x".into()), ..job(5, State::Pending, 95) }]);
        assert_eq!((told.states.len(), told.dependencies.len(), told.diagnostics.errors()), (1, 0, 1));
    }

    #[test]
    fn a_job_listed_twice_is_one() {
        let mut queue = Queue::new("lab");
        let told = poll(&mut queue, 100, &[job(1, State::Pending, 95), job(1, State::Running, 95)]);
        assert_eq!((short(&told).as_str(), told.diagnostics.warnings()), ("1 new PENDING", 1));
    }

    #[test]
    fn heterogeneous_components_keep_their_names() {
        let mut queue = Queue::new("lab");
        let component = JobRecord { job: JobRef::Het { leader: 18, offset: 1 }, ..job(19, State::Running, 95) };
        assert_eq!(short(&poll(&mut queue, 100, &[component])), "18+1 new RUNNING");
        assert_eq!(short(&poll(&mut queue, 110, &[])), "18+1 left -");
    }

    fn waiting(id: i64, change: impl FnOnce(&mut JobRecord<'static>)) -> JobRecord<'static> {
        let mut record = job(id, State::Pending, 95);
        (record.user, record.name, record.partition) = (Some("ann".into()), Some("x".into()), Some("debug".into()));
        (record.priority, record.reason, record.tells_dependency) = (Some(1000), Some("Priority".into()), true);
        change(&mut record);
        record
    }

    fn what(told: &Polled) -> String {
        let rows: Vec<String> =
            told.states.iter().map(|r| format!("{} {} {}", r.job, r.change, r.changed.as_deref().unwrap_or("-"))).collect();
        rows.join("; ")
    }

    #[test]
    fn what_changes_while_a_job_waits() {
        let mut queue = Queue::new("lab");
        assert_eq!(what(&poll(&mut queue, 100, &[waiting(1, |_| ())])), "1 new -");
        assert_eq!(what(&poll(&mut queue, 110, &[waiting(1, |_| ())])), "");
        let told = poll(&mut queue, 120, &[waiting(1, |r| r.reason = Some("Resources".into()))]);
        assert_eq!(what(&told), "1 changed reason");
        let row = &told.states[0];
        assert_eq!((row.state.as_deref(), row.not_before_ns, row.observed_at_ns), (Some("PENDING"), Some(110 * S), 120 * S + S / 10));
        assert_eq!((row.reason.as_deref(), row.reported_ns), (Some("Resources"), None));
        let held = |r: &mut JobRecord<'static>| (r.reason, r.priority) = (Some("JobHeldUser".into()), Some(0));
        assert_eq!(what(&poll(&mut queue, 130, &[waiting(1, held)])), "1 held reason,priority");
        assert_eq!(what(&poll(&mut queue, 140, &[waiting(1, held)])), "");
        let moved = |r: &mut JobRecord<'static>| r.partition = Some("short".into());
        assert_eq!(what(&poll(&mut queue, 150, &[waiting(1, moved)])), "1 released partition,reason,priority");
        let again = |r: &mut JobRecord<'static>| (r.name, r.time_limit_s, r.partition) = (Some("y".into()), Some(60), Some("short".into()));
        assert_eq!(what(&poll(&mut queue, 160, &[waiting(1, again)])), "1 changed name", "a limit that was not known is no change");
        assert_eq!(
            what(&poll(
                &mut queue,
                170,
                &[waiting(1, |r| {
                    again(r);
                    r.time_limit_s = Some(90)
                })]
            )),
            "1 changed time_limit_s"
        );
    }

    #[test]
    fn what_an_older_memory_did_not_keep_is_no_change() {
        let mut queue = Queue::new("lab");
        poll(&mut queue, 100, &[waiting(1, |_| ())]);
        for known in queue.jobs.values_mut() {
            known.details = None;
        }
        assert_eq!(what(&poll(&mut queue, 110, &[waiting(1, |r| r.reason = Some("Resources".into()))])), "");
        assert_eq!(what(&poll(&mut queue, 120, &[waiting(1, |r| r.reason = Some("Priority".into()))])), "1 changed reason");
    }

    fn dependencies(told: &Polled) -> String {
        let rows: Vec<String> = (told.dependencies.iter())
            .map(|d| format!("{} {}:{} {}", d.job, d.kind, d.target_job_id.unwrap_or(0), d.state.as_deref().unwrap_or("-")))
            .collect();
        rows.join("; ")
    }

    #[test]
    fn a_dependency_that_was_taken_back_is_told_and_one_that_was_met_is_not() {
        let on = |text: &'static str| waiting(9, move |r| r.dependency = Some(text.into()));
        let running = |id: i64| job(id, State::Running, 90);
        let mut queue = Queue::new("lab");
        poll(&mut queue, 100, &[running(2), running(3), on("afterok:2(unfulfilled),afterok:3(unfulfilled)")]);
        // 2 ended and 3 still runs, whichever record comes first.
        let told = poll(&mut queue, 110, &[on("afterok:3(unfulfilled)"), running(3), job(2, State::Completed, 90)]);
        assert_eq!((what(&told).as_str(), dependencies(&told).as_str()), ("2 state -", ""));
        let told = poll(&mut queue, 120, &[waiting(9, |_| ()), running(3)]);
        assert_eq!((what(&told).as_str(), dependencies(&told).as_str()), ("9 changed dependency; 2 left -", "9 afterok:3 withdrawn"));
        assert_eq!(told.dependencies[0].position, 1);
        // Declared again.
        let told = poll(&mut queue, 130, &[on("afterok:3(unfulfilled)"), running(3)]);
        assert_eq!(dependencies(&told), "9 afterok:3 unfulfilled");
        // What is not in the queue any more says nothing.
        let told = poll(&mut queue, 140, &[waiting(9, |_| ())]);
        assert_eq!((what(&told).as_str(), dependencies(&told).as_str()), ("3 left -", ""));
    }

    #[test]
    fn of_terms_of_which_one_suffices_the_others_are_not_taken_back() {
        let on = |text: &'static str| waiting(9, move |r| r.dependency = Some(text.into()));
        let mut queue = Queue::new("lab");
        let either = "afterok:2(unfulfilled)?afterok:3(unfulfilled)";
        poll(&mut queue, 100, &[job(2, State::Running, 90), job(3, State::Running, 90), on(either)]);
        let told = poll(&mut queue, 110, &[job(2, State::Completed, 90), job(3, State::Running, 90), waiting(9, |_| ())]);
        assert_eq!(dependencies(&told), "");
        let mut queue = Queue::new("lab");
        poll(&mut queue, 100, &[job(2, State::Running, 90), job(3, State::Running, 90), on(either)]);
        let told = poll(&mut queue, 110, &[job(2, State::Running, 90), job(3, State::Running, 90), job(9, State::Running, 95)]);
        assert_eq!(dependencies(&told), "", "a source that does not tell dependencies");
        let started = JobRecord { state: State::Running, ..waiting(9, |_| ()) };
        let told = poll(&mut queue, 120, &[job(2, State::Running, 90), job(3, State::Running, 90), started]);
        assert_eq!(
            (what(&told).as_str(), dependencies(&told).as_str()),
            ("9 changed dependency", "9 afterok:2 withdrawn; 9 afterok:3 withdrawn")
        );
    }

    #[test]
    fn what_changed_in_the_interval_of_a_start_stands_with_it() {
        let mut queue = Queue::new("lab");
        poll(&mut queue, 100, &[waiting(2, |r| r.partition = Some("debug,short".into()))]);
        let started = |name: &'static str| JobRecord {
            name: Some(name.into()),
            partition: Some("short".into()),
            priority: Some(7),
            cpus: Some(64),
            ..job(2, State::Running, 95)
        };
        let told = poll(&mut queue, 110, &[started("other")]);
        assert_eq!(what(&told), "2 state name,partition");
        let told = poll(&mut queue, 120, &[JobRecord { state: State::Completing, ..started("other") }]);
        assert_eq!(what(&told), "2 state -");
    }

    #[test]
    fn a_singleton_that_was_taken_back_and_one_whose_target_was_renamed() {
        let single = || waiting(9, |r| r.dependency = Some("singleton(unfulfilled)".into()));
        let mut queue = Queue::new("lab");
        poll(&mut queue, 100, &[waiting(2, |_| ()), single()]);
        let told = poll(&mut queue, 110, &[waiting(2, |r| r.name = Some("other".into())), waiting(9, |_| ())]);
        assert_eq!((what(&told).as_str(), dependencies(&told).as_str()), ("2 changed name", ""));
        let mut queue = Queue::new("lab");
        poll(&mut queue, 100, &[waiting(2, |_| ()), single()]);
        let told = poll(&mut queue, 110, &[waiting(2, |_| ()), waiting(9, |_| ())]);
        assert_eq!((what(&told).as_str(), dependencies(&told).as_str()), ("9 changed dependency", "9 singleton:0 withdrawn"));
    }
}

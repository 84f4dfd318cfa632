//! The facts of each attempt out of [`Jobs`], and its wait.

use flowmine_dataset::Dataset;
use flowmine_schema::tables::JobState;
use flowmine_slurm::reason::Blocker;

use super::meanings::{Meaning, Meanings};
use super::predecessors::{Predecessors, moment_of};
use super::{Change, Doing, Facts, Moment, Predecessor, Wait, divide};
use crate::CorrelateError;
use crate::attempts::JobAttempt;
use crate::clocks::Clocks;
use crate::events::Event;
use crate::jobs::Jobs;
use crate::state::{self, Phase};

flowmine_schema::columns! {
    /// When a row was observed.
    struct Observed of JobState { cluster, source, observed_at_ns }
}

/// The latest observation in a dataset, in nanoseconds since 1970: until then what has not ended is
/// known to go on.
///
/// # Errors
/// When the dataset cannot be read.
pub fn last_observation(dataset: &Dataset) -> Result<Option<i64>, CorrelateError> {
    let clocks = Clocks::read(dataset)?;
    let mut last = None;
    dataset.read::<Observed<'static>, CorrelateError>(|row| {
        last = last.max(Some(clocks.observed_at(&row.cluster, &row.source, row.observed_at_ns)));
        Ok(())
    })?;
    Ok(last)
}

/// The waits of the attempts of a dataset or part.
#[derive(Debug)]
pub struct Waits<'j> {
    jobs: &'j Jobs,
    meanings: Meanings,
    predecessors: Predecessors<'j>,
    until_ns: Option<i64>,
}

impl<'j> Waits<'j> {
    /// The waits of these jobs; those that have not ended are divided until `until_ns`, or until
    /// they were last seen to change.
    pub fn new(jobs: &'j Jobs, until_ns: Option<i64>) -> Self {
        Self { jobs, meanings: Meanings::new(&jobs.strings), predecessors: Predecessors::new(jobs), until_ns }
    }

    /// The jobs on which an attempt depends.
    pub fn predecessors(&self, attempt: &JobAttempt) -> Vec<Predecessor> {
        self.predecessors.of(attempt, &self.meanings)
    }

    /// The wait of an attempt; empty for one of which nothing is known.
    pub fn of(&self, attempt: &JobAttempt) -> Wait<'j> {
        let events = self.jobs.events_of(attempt);
        let (Some(first), Some(last)) = (events.first(), events.last()) else { return Wait::default() };
        let mut changes = Vec::with_capacity(events.len() + 1);
        let mut phase = Phase::Waiting;
        changes.extend(self.as_array_record(attempt, events));
        for event in events {
            self.change(attempt, event, &mut phase, &mut changes);
        }
        let end = match attempt.ended_ns.get() {
            Some(_) => moment_of(events.iter().rev().find(|event| self.meanings.of(event.state).is_end()).unwrap_or(last)),
            None => Moment::exact(self.until_ns.unwrap_or(last.observed_at_ns).max(last.observed_at_ns)),
        };
        divide(Facts {
            submit_ns: first.time_ns,
            end,
            eligible_ns: self.eligible(attempt, events),
            released: self.predecessors.released(attempt, &self.meanings),
            is_again: attempt.number > 1,
            changes,
        })
    }

    /// How a task waited while it was part of its array's record, before it was seen by itself.
    fn as_array_record(&self, attempt: &JobAttempt, events: &[Event]) -> Option<Change<'j>> {
        let record = self.jobs.records.get(&attempt.submission).filter(|_| attempt.number == 1)?;
        let seen = events.iter().filter(|event| event.polled).map(|event| event.observed_at_ns).min();
        let is_before = seen.is_none_or(|seen| record.observed_at_ns < seen);
        is_before.then(|| self.waits(record, self.jobs.text(record.state)))
    }

    /// When it became eligible: the event of that, or its submission where Slurm says that it was
    /// eligible by then.
    fn eligible(&self, attempt: &JobAttempt, events: &[Event]) -> Option<i64> {
        let event = events.iter().find(|event| self.meanings.of(event.state) == Meaning::Eligible);
        let at_once = || attempt.eligible_ns.get().zip(attempt.submit_ns.get()).filter(|(eligible, submit)| eligible <= submit);
        event.map(|event| event.time_ns).or_else(|| at_once().map(|(_, submit)| submit))
    }

    /// Adds the changes that an event reports.
    fn change(&self, attempt: &JobAttempt, event: &Event, phase: &mut Phase, changes: &mut Vec<Change<'j>>) {
        let moment = moment_of(event);
        let (now, doing) = match self.meanings.of(event.state) {
            Meaning::End { left } => {
                // It may have run unseen between the last poll that saw it wait and its end.
                if phase.before_run() && (left || attempt.ran) {
                    let gone = Moment { at_ns: moment.earliest_ns, ..moment };
                    changes.push(Change { moment: gone, doing: Doing::Unseen });
                }
                return;
            }
            Meaning::Kept => {
                if *phase == Phase::Waiting {
                    changes.push(self.waits(event, self.jobs.text(event.state)));
                }
                return;
            }
            Meaning::In(Phase::Waiting) => {
                *phase = Phase::Waiting;
                // Of an event that no poll saw, only the time is known.
                changes.extend(event.polled.then(|| self.waits(event, self.jobs.text(event.state))));
                return;
            }
            Meaning::In(now @ Phase::Configuring) => (now, Doing::Configures),
            Meaning::In(now @ (Phase::Running | Phase::Resizing)) => (now, Doing::Runs),
            Meaning::In(now @ Phase::Paused) => (now, Doing::Pauses),
            Meaning::In(now @ Phase::Ending) if phase.has_run() => (now, Doing::Runs),
            Meaning::Eligible | Meaning::In(_) => return,
        };
        *phase = now;
        changes.push(Change { moment, doing });
    }

    /// That it waited when a poll saw it, and why.
    fn waits(&self, event: &Event, word: &str) -> Change<'j> {
        let reason = self.jobs.text_of(event.reason).filter(|reason| !reason.is_empty() && *reason != "None");
        let known = reason.and_then(Blocker::of_reason);
        let is_held = matches!(word, state::HELD | "REQUEUE_HOLD" | "RESV_DEL_HOLD" | "SPECIAL_EXIT");
        let blocker = match known {
            Some(blocker) if blocker.is_hold() || !is_held => Some(blocker),
            _ if is_held => Some(Blocker::Held),
            other => other,
        };
        let earliest_ns = event.not_before_ns.get().unwrap_or(event.time_ns).min(event.observed_at_ns);
        let moment = Moment { at_ns: event.observed_at_ns, earliest_ns, latest_ns: event.observed_at_ns };
        Change { moment, doing: Doing::Waits(reason, blocker) }
    }
}

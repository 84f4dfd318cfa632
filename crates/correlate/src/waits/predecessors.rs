//! The jobs on which an attempt depends, and when it no longer had to wait for them.
//!
//! `after` waits for a start, all other kinds for an end, and a delay comes on top (sbatch(1)).
//! Terms joined by `?` are met when one of them is. `aftercorr` waits for the task with the same
//! number. Of a job with several attempts the last one counts.

use flowmine_schema::time::SECOND_NS;

use super::meanings::Meanings;
use super::{Moment, Released};
use crate::attempts::JobAttempt;
use crate::dependencies::{Edge, Target, Term};
use crate::events::Event;
use crate::jobs::Jobs;
use crate::state::Lifecycle;

/// A job on which an attempt depends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Predecessor {
    /// The job as Slurm prints it.
    pub job: String,
    /// When it no longer kept the attempt waiting; `None` while it does, or when that is not known.
    pub released: Option<Moment>,
}

/// Numbers by the submission that they belong to, in the order in which they came.
#[derive(Debug)]
struct BySubmission {
    /// For each submission where its numbers begin; then where those of the last one end.
    begins: Vec<u32>,
    numbers: Vec<u32>,
}

impl BySubmission {
    /// Takes the submission of each number that counts.
    fn new(submissions: usize, of: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut begins = vec![0u32; submissions + 1];
        for (submission, _) in of.clone() {
            begins[submission as usize + 1] += 1;
        }
        for at in 1..begins.len() {
            begins[at] += begins[at - 1];
        }
        let mut next = begins.clone();
        let mut numbers = vec![0u32; begins[submissions] as usize];
        for (submission, number) in of {
            let place = &mut next[submission as usize];
            numbers[*place as usize] = number;
            *place += 1;
        }
        Self { begins, numbers }
    }

    fn of(&self, submission: u32) -> &[u32] {
        let at = submission as usize;
        &self.numbers[self.begins[at] as usize..self.begins[at + 1] as usize]
    }
}

/// The declared dependencies of the attempts of a dataset or part.
#[derive(Debug)]
pub(super) struct Predecessors<'j> {
    jobs: &'j Jobs,
    /// Edges by the submission that waits: places in [`crate::dependencies::Dependencies::edges`].
    edges: BySubmission,
    /// Attempts, without the records of arrays; nothing where no job waits for another.
    attempts: BySubmission,
}

impl<'j> Predecessors<'j> {
    pub fn new(jobs: &'j Jobs) -> Self {
        let (edges, submissions) = (&jobs.dependencies.edges, jobs.submissions.len());
        let attempts = if edges.is_empty() { &[] } else { &jobs.attempts[..] };
        let attempts = (0u32..).zip(attempts).filter(|(_, attempt)| !jobs.is_array_record(attempt));
        Self {
            jobs,
            edges: BySubmission::new(submissions, (0u32..).zip(edges).map(|(at, edge)| (edge.from, at))),
            attempts: BySubmission::new(submissions, attempts.map(|(at, attempt)| (attempt.submission, at))),
        }
    }

    fn edges(&self, attempt: &JobAttempt) -> impl Iterator<Item = (&'j Edge, &'j Term)> {
        let dependencies = &self.jobs.dependencies;
        self.edges.of(attempt.submission).iter().map(|&edge| {
            let edge = &dependencies.edges[edge as usize];
            (edge, &dependencies.terms[edge.term as usize])
        })
    }

    /// The jobs on which an attempt depends.
    pub fn of(&self, attempt: &JobAttempt, meanings: &Meanings) -> Vec<Predecessor> {
        let predecessor =
            |(edge, term)| Predecessor { job: self.name(edge, term), released: self.released_by(attempt, edge, term, meanings) };
        let mut all: Vec<Predecessor> = self.edges(attempt).map(predecessor).collect();
        all.sort_by(|a, b| a.job.cmp(&b.job));
        all.dedup_by(|a, b| a.job == b.job);
        all
    }

    /// When the dependencies of an attempt were met.
    pub fn released(&self, attempt: &JobAttempt, meanings: &Meanings) -> Released {
        let (mut all, mut any) = (Released::WithoutDependency, None::<Moment>);
        let mut has_or = false;
        for (edge, term) in self.edges(attempt) {
            let released = self.released_by(attempt, edge, term, meanings);
            if term.operator.is_some_and(|operator| self.jobs.text(operator) == "or") {
                has_or = true;
                any = [any, released].into_iter().flatten().min_by_key(|moment| moment.at_ns);
                continue;
            }
            all = match (all, released) {
                (Released::Unknown, _) | (_, None) => Released::Unknown,
                (Released::WithoutDependency, Some(moment)) => Released::At(moment),
                (Released::At(known), Some(moment)) => Released::At(if moment.at_ns > known.at_ns { moment } else { known }),
            };
        }
        match (has_or, any) {
            (true, Some(moment)) => Released::At(moment),
            (true, None) => Released::Unknown,
            (false, _) => all,
        }
    }

    fn released_by(&self, attempt: &JobAttempt, edge: &Edge, term: &Term, meanings: &Meanings) -> Option<Moment> {
        let (submission, exact) = match edge.to {
            Target::Seen(submission, exact) => (submission, exact),
            Target::Unseen(_) => return None,
        };
        let attempts = &self.jobs.attempts;
        let kind = self.jobs.text(term.kind);
        let (is_one_by_one, for_start) = (kind == "aftercorr", kind == "after");
        let belongs = |other: &JobAttempt| match exact {
            Some(exact) => other.job == attempts[exact as usize].job,
            None => !is_one_by_one || other.array_task_id == attempt.array_task_id,
        };
        let event = |other: &JobAttempt| self.event(other, for_start, meanings).map(moment_of);
        let last = match self.attempts.of(submission) {
            // Nearly all: a job that is no array, and was not put back.
            &[only] => event(Some(&attempts[only as usize]).filter(|other| belongs(other))?)?,
            of => {
                let mut last: Vec<&JobAttempt> = of.iter().map(|&at| &attempts[at as usize]).filter(|other| belongs(other)).collect();
                // Attempts come in the order of submission; the last at each job counts.
                last.sort_by_key(|attempt| (attempt.job, std::cmp::Reverse((attempt.number, attempt.copy))));
                last.dedup_by_key(|attempt| attempt.job);
                let moments: Option<Vec<Moment>> = last.into_iter().map(event).collect();
                moments?.into_iter().max_by_key(|moment| moment.at_ns)?
            }
        };
        let delay_ns = term.delay_s.get().unwrap_or(0).saturating_mul(SECOND_NS);
        let later = |time_ns: i64| time_ns.saturating_add(delay_ns);
        Some(Moment { at_ns: later(last.at_ns), earliest_ns: later(last.earliest_ns), latest_ns: later(last.latest_ns) })
    }

    /// The event of a start or an end.
    fn event(&self, attempt: &JobAttempt, for_start: bool, meanings: &Meanings) -> Option<&'j Event> {
        let events = self.jobs.events_of(attempt);
        if for_start {
            return events.iter().find(|event| event.lifecycle == Lifecycle::Start);
        }
        events.iter().rev().find(|event| meanings.of(event.state).is_end())
    }

    fn name(&self, edge: &Edge, term: &Term) -> String {
        match edge.to {
            Target::Unseen(id) => crate::write::written(term, id),
            Target::Seen(_, Some(attempt)) => self.jobs.text(self.jobs.attempts[attempt as usize].job).to_owned(),
            Target::Seen(submission, None) => self.jobs.label(submission),
        }
    }
}

/// When an event happened, with the interval in which that lies.
pub(super) fn moment_of(event: &Event) -> Moment {
    let at_ns = event.time_ns;
    if !event.polled || event.reported_ns.get() == Some(at_ns) {
        return Moment::exact(at_ns);
    }
    let earliest_ns = event.not_before_ns.get().map_or(at_ns, |time| time.min(at_ns));
    Moment { at_ns, earliest_ns, latest_ns: event.observed_at_ns.max(at_ns) }
}

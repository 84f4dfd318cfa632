//! The jobs on which an attempt depends, and when it no longer had to wait for them.
//!
//! `after` waits for a start, all other kinds for an end, and a delay comes on top (sbatch(1)).
//! Terms joined by `?` are met when one of them is. `aftercorr` waits for the task with the same
//! number. Of a job with several attempts the last one counts.

use flowmine_schema::time::SECOND_NS;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Moment, Released};
use crate::attempts::JobAttempt;
use crate::dependencies::{Edge, Target, Term};
use crate::events::Event;
use crate::jobs::Jobs;
use crate::state::{self, Lifecycle};

/// A job on which an attempt depends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Predecessor {
    /// The job as Slurm prints it.
    pub job: String,
    /// When it no longer kept the attempt waiting; `None` while it does, or when that is not known.
    pub released: Option<Moment>,
}

/// The declared dependencies of the attempts of a dataset or part.
#[derive(Debug)]
pub(super) struct Predecessors<'j> {
    jobs: &'j Jobs,
    /// Edges by the submission that waits: places in [`crate::dependencies::Dependencies::edges`].
    of_submission: Vec<(u32, u32)>,
    /// The attempts of the submissions that are waited for, in the order of submission.
    attempts_of: FxHashMap<u32, Vec<u32>>,
}

impl<'j> Predecessors<'j> {
    pub fn new(jobs: &'j Jobs) -> Self {
        let edges = &jobs.dependencies.edges;
        let mut of_submission: Vec<(u32, u32)> = (0u32..).zip(edges).map(|(at, edge)| (edge.from, at)).collect();
        of_submission.sort_unstable();
        let targets: FxHashSet<u32> = edges.iter().filter_map(target).collect();
        let mut attempts_of: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        if !targets.is_empty() {
            let is_target = |(_, attempt): &(u32, &JobAttempt)| targets.contains(&attempt.submission) && !jobs.is_array_record(attempt);
            for (at, attempt) in (0u32..).zip(&jobs.attempts).filter(is_target) {
                attempts_of.entry(attempt.submission).or_default().push(at);
            }
        }
        Self { jobs, of_submission, attempts_of }
    }

    fn edges(&self, attempt: &JobAttempt) -> impl Iterator<Item = (&'j Edge, &'j Term)> {
        let first = self.of_submission.partition_point(|(from, _)| *from < attempt.submission);
        let of = self.of_submission[first..].iter().take_while(|(from, _)| *from == attempt.submission);
        let dependencies = &self.jobs.dependencies;
        of.map(|&(_, edge)| {
            let edge = &dependencies.edges[edge as usize];
            (edge, &dependencies.terms[edge.term as usize])
        })
    }

    /// The jobs on which an attempt depends.
    pub fn of(&self, attempt: &JobAttempt) -> Vec<Predecessor> {
        let mut all: Vec<Predecessor> = self
            .edges(attempt)
            .map(|(edge, term)| Predecessor { job: self.name(edge, term), released: self.released_by(attempt, edge, term) })
            .collect();
        all.sort_by(|a, b| a.job.cmp(&b.job));
        all.dedup_by(|a, b| a.job == b.job);
        all
    }

    /// When the dependencies of an attempt were met.
    pub fn released(&self, attempt: &JobAttempt) -> Released {
        let (mut all, mut any) = (Released::WithoutDependency, None::<Moment>);
        let mut has_or = false;
        for (edge, term) in self.edges(attempt) {
            let released = self.released_by(attempt, edge, term);
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

    /// The attempts that are waited for.
    fn waited_for(&self, attempt: &JobAttempt, edge: &Edge, term: &Term) -> Vec<&'j JobAttempt> {
        let (submission, exact) = match edge.to {
            Target::Seen(submission, exact) => (submission, exact),
            Target::Unseen(_) => return Vec::new(),
        };
        let attempts = &self.jobs.attempts;
        let is_one_by_one = self.jobs.text(term.kind) == "aftercorr";
        let belongs = |other: &&JobAttempt| match exact {
            Some(exact) => other.job == attempts[exact as usize].job,
            None => !is_one_by_one || other.array_task_id == attempt.array_task_id,
        };
        let of = self.attempts_of.get(&submission).into_iter().flatten();
        let mut last: Vec<&JobAttempt> = of.map(|&at| &attempts[at as usize]).filter(belongs).collect();
        // Attempts come in the order of submission; the last at each job counts.
        last.sort_by_key(|attempt| (attempt.job, std::cmp::Reverse((attempt.number, attempt.copy))));
        last.dedup_by_key(|attempt| attempt.job);
        last
    }

    fn released_by(&self, attempt: &JobAttempt, edge: &Edge, term: &Term) -> Option<Moment> {
        let for_start = self.jobs.text(term.kind) == "after";
        let delay_ns = term.delay_s.get().unwrap_or(0).saturating_mul(SECOND_NS);
        let moment = |other: &&JobAttempt| self.event(other, for_start).map(moment_of);
        let moments: Option<Vec<Moment>> = self.waited_for(attempt, edge, term).iter().map(moment).collect();
        let last = moments?.into_iter().max_by_key(|moment| moment.at_ns)?;
        let later = |time_ns: i64| time_ns.saturating_add(delay_ns);
        Some(Moment { at_ns: later(last.at_ns), earliest_ns: later(last.earliest_ns), latest_ns: later(last.latest_ns) })
    }

    /// The event of a start or an end.
    fn event(&self, attempt: &JobAttempt, for_start: bool) -> Option<&'j Event> {
        let events = self.jobs.events_of(attempt);
        if for_start {
            return events.iter().find(|event| event.lifecycle == Lifecycle::Start);
        }
        events.iter().rev().find(|event| {
            let word = self.jobs.text(event.state);
            word == state::LEFT || state::phase(word).ends_attempt()
        })
    }

    fn name(&self, edge: &Edge, term: &Term) -> String {
        match edge.to {
            Target::Unseen(id) => crate::write::written(term, id),
            Target::Seen(_, Some(attempt)) => self.jobs.text(self.jobs.attempts[attempt as usize].job).to_owned(),
            Target::Seen(submission, None) => self.jobs.label(submission),
        }
    }
}

fn target(edge: &Edge) -> Option<u32> {
    match edge.to {
        Target::Seen(submission, _) => Some(submission),
        Target::Unseen(_) => None,
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

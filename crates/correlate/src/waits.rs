//! The wait of a job attempt, divided by its causes: one definition for every table, model, export
//! and diagram.
//!
//! In goes what is known of one attempt ([`Facts`]): submission, eligible time, start and end, what
//! polls saw of it, and the ends of the jobs on which it depends. Out come [`Part`]s that tile the
//! time from submission to end exactly, each with its cause and the interval in which each of its
//! borders lies. [`Waits`] collects the facts from [`crate::Jobs`].
//!
//! * **Eligible.** Slurm's eligible time divides the job's own wishes (dependency, begin time,
//!   hold, limit of its array, its reservation) from queueing. Queueing is sacct's `Reserved`.
//! * **Reasons.** A reason that a poll saw holds from that poll until the poll that saw another.
//!   The change lies between two polls: where the eligible time or the end of the last predecessor
//!   lies in that interval, the border is there. Before the first poll nothing is assumed.
//! * **Predecessors.** Without an eligible time, the latest end of the declared predecessors
//!   divides waiting for them from the rest.
//! * **The rest** is [`Cause::NotEligible`] before the eligible time, [`Cause::Queued`] after it,
//!   and [`Cause::Unknown`] where no eligible time is known.

mod divide;
mod meanings;
mod of_jobs;
mod predecessors;
mod rows;

#[cfg(test)]
mod tests;

pub use divide::divide;
pub use of_jobs::{Waits, last_observation};
pub use predecessors::Predecessor;
pub use rows::row;

use flowmine_slurm::reason::Blocker;

/// The cause of a part of an attempt's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// What kept it from starting is known.
    Blocked(Blocker),
    /// It was not eligible: its own wishes were not met, which of them is not known.
    NotEligible,
    /// It was put back into the queue, and Slurm delayed its next attempt.
    Requeued,
    /// It was eligible and the cluster let it wait; why is not known.
    Queued,
    /// Nothing is known of the cause.
    Unknown,
    /// Its nodes were being made ready.
    Configuring,
    /// It ran.
    Running,
    /// It was suspended or stopped.
    Suspended,
}

impl Cause {
    /// Its name in tables and diagrams.
    pub fn name(self) -> &'static str {
        match self {
            Cause::Blocked(blocker) => blocker.name(),
            Cause::NotEligible => "not_eligible",
            Cause::Requeued => "requeued",
            Cause::Queued => "queued",
            Cause::Unknown => "unknown",
            Cause::Configuring => "configuring",
            Cause::Running => "running",
            Cause::Suspended => "suspended",
        }
    }

    /// Whether the attempt's own wishes, or its requeue, kept it from being eligible.
    pub fn is_own_wish(self) -> bool {
        match self {
            Cause::Blocked(blocker) => blocker.is_own_wish(),
            cause => matches!(cause, Cause::NotEligible | Cause::Requeued),
        }
    }

    /// Whether the attempt had started.
    pub fn is_after_start(self) -> bool {
        matches!(self, Cause::Configuring | Cause::Running | Cause::Suspended)
    }
}

/// What a part is known from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Evidence {
    /// A poll saw the state or the reason.
    Poll,
    /// The times that Slurm reports.
    Times,
    /// Declared dependencies and the ends of the jobs waited for.
    Dependencies,
    /// Nothing.
    Nothing,
}

impl Evidence {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Evidence::Poll => "poll",
            Evidence::Times => "times",
            Evidence::Dependencies => "dependencies",
            Evidence::Nothing => "nothing",
        }
    }
}

/// A moment, with the interval in which it lies; UTC nanoseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// The moment that counts.
    pub at_ns: i64,
    /// It was not before this.
    pub earliest_ns: i64,
    /// It was not after this.
    pub latest_ns: i64,
}

impl Moment {
    /// A moment that is known exactly.
    pub fn exact(at_ns: i64) -> Self {
        Self { at_ns, earliest_ns: at_ns, latest_ns: at_ns }
    }

    /// The interval in which it lies, where it is not known exactly.
    pub fn within_ns(&self) -> Option<(i64, i64)> {
        let within = (self.earliest_ns.min(self.at_ns), self.latest_ns.max(self.at_ns));
        (within.0 < within.1).then_some(within)
    }

    fn can_be(&self, time_ns: i64) -> bool {
        (self.earliest_ns..=self.latest_ns).contains(&time_ns)
    }
}

/// State of an attempt from some moment on, as far as waits are concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doing<'a> {
    /// It waits; with the reason that Slurm gave and what that means.
    Waits(Option<&'a str>, Option<Blocker>),
    /// Its nodes are being made ready.
    Configures,
    /// It runs, or cleans up after that.
    Runs,
    /// It is suspended or stopped.
    Pauses,
    /// Unknown: it waited when it was last seen, and had ended when it was gone.
    Unseen,
}

/// A change of an attempt's [`Doing`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change<'a> {
    /// When it changed.
    pub moment: Moment,
    /// What it did from then on.
    pub doing: Doing<'a>,
}

/// When the dependencies of an attempt were met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Released {
    /// None is declared.
    WithoutDependency,
    /// At this moment.
    At(Moment),
    /// They have not been, or a job waited for was never seen.
    Unknown,
}

/// What is known of one attempt, as far as its wait needs it. Times are UTC nanoseconds since 1970.
#[derive(Debug, Clone)]
pub struct Facts<'a> {
    /// When it was submitted.
    pub submit_ns: i64,
    /// When it ended, or until when anything is known of it.
    pub end: Moment,
    /// When it became eligible, as Slurm reports.
    pub eligible_ns: Option<i64>,
    /// When its dependencies were met.
    pub released: Released,
    /// Whether an attempt before it was put back into the queue.
    pub is_again: bool,
    /// What was seen of it, in order; before the first it waited, unseen.
    pub changes: Vec<Change<'a>>,
}

/// A part of an attempt's time from submission to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part<'a> {
    /// Its cause.
    pub cause: Cause,
    /// Its begin.
    pub from: Moment,
    /// Its end.
    pub to: Moment,
    /// The reason that Slurm gave, as it wrote it.
    pub reason: Option<&'a str>,
    /// What it is known from.
    pub evidence: Evidence,
}

impl Part<'_> {
    /// Its length in nanoseconds.
    pub fn len_ns(&self) -> i64 {
        self.to.at_ns.saturating_sub(self.from.at_ns)
    }
}

/// The parts of an attempt's time, and what follows from them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wait<'a> {
    /// The parts, in order; they tile the time from submission to end.
    pub parts: Vec<Part<'a>>,
    /// The time in which it was not ready, in nanoseconds: its own wishes and requeues. `None` when
    /// that cannot be known. The rest until its start is queueing.
    pub before_ready_ns: Option<i64>,
}

impl Wait<'_> {
    /// Of the causes that are chosen, the one of most of the time before the start; of equal ones
    /// the first.
    pub fn main_cause(&self, choose: impl Fn(Cause) -> bool) -> Option<Cause> {
        let waiting = || self.parts.iter().filter(|part| !part.cause.is_after_start() && choose(part.cause));
        let time = |cause: Cause| -> i64 { waiting().filter(|part| part.cause == cause).map(Part::len_ns).sum() };
        waiting().map(|part| part.cause).min_by_key(|cause| std::cmp::Reverse(time(*cause)))
    }

    /// The reason that Slurm gave for most of the time before the start; of equal ones the first.
    pub fn main_reason(&self) -> Option<&str> {
        let waiting = || self.parts.iter().filter(|part| !part.cause.is_after_start());
        let time = |reason: &str| -> i64 { waiting().filter(|part| part.reason == Some(reason)).map(Part::len_ns).sum() };
        waiting().filter_map(|part| part.reason).min_by_key(|reason| std::cmp::Reverse(time(reason)))
    }
}

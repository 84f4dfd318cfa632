//! Times of polls on slurmctld's clock.
//!
//! In go the rows of `controller_clocks`. Rows of `job_states` and `job_dependencies` then get the
//! time of slurmctld's clock at their observation, before anything is derived from them. Slurm's
//! own times stay. Where both clocks can be the same, only a poll that its clock puts before one of
//! Slurm's times in it, by less than the uncertainty of clocks, gets that time.
//!
//! Rows of `controller_clocks` that agree with each other make a period. In it, the clock of the
//! polls was ahead by an amount that all of its rows allow. A row that contradicts its period
//! begins the next: the clock was set. A time belongs to the period of its poll, where slurmctld
//! was asked at that poll; else to the last period that had begun by then.

use flowmine_dataset::Dataset;
use flowmine_schema::tables::{ControllerClock, change, source};
use flowmine_schema::time::SECOND_NS;
use flowmine_slurm::clock::{Ahead, UNCERTAINTY_NS};
use flowmine_slurm::state::{State, Times};
use rustc_hash::FxHashMap;

use crate::CorrelateError;
use crate::attempts::JobRow;
use crate::dependencies::DependencyRow;

/// A time in which the clock of the polls was ahead of slurmctld's by the same.
#[derive(Debug)]
struct Period {
    /// The begin of its first poll.
    begin_ns: i64,
    ahead: Ahead,
}

/// The clock of the polls of one cluster that have one source.
#[derive(Debug, Default)]
struct Clock {
    periods: Vec<Period>,
    /// The periods of polls with a row of their own, by begin and end.
    of_poll: FxHashMap<i64, usize>,
}

impl Clock {
    fn push(&mut self, row: &ControllerClock<'_>) {
        let ahead = Ahead { least_ns: row.ahead_least_ns, most_ns: row.ahead_most_ns };
        match self.periods.last_mut().and_then(|last| Some((last.ahead.and(ahead)?, last))) {
            Some((both, last)) => last.ahead = both,
            None => self.periods.push(Period { begin_ns: row.began_ns, ahead }),
        }
        let last = self.periods.len() - 1;
        self.of_poll.extend([(row.began_ns, last), (row.ended_ns, last)]);
    }

    /// The least and the most by which the clock was ahead at one of its times.
    fn difference_ns(&self, time_ns: i64) -> Option<(i64, i64)> {
        let begun = || self.periods.iter().rev().find(|period| period.begin_ns <= time_ns);
        let period = self.of_poll.get(&time_ns).map(|at| &self.periods[*at]).or_else(begun).or(self.periods.first())?;
        period.ahead.difference_ns()
    }

    fn is_right(&self) -> bool {
        self.periods.iter().all(|period| period.ahead.difference_ns().is_none())
    }

    /// The latest that slurmctld's clock can have been.
    fn latest(&self, time_ns: i64) -> i64 {
        self.difference_ns(time_ns).map_or(time_ns, |(least, _)| time_ns.saturating_sub(least))
    }

    /// The earliest that slurmctld's clock can have been.
    fn earliest(&self, time_ns: i64) -> i64 {
        self.difference_ns(time_ns).map_or(time_ns, |(_, most)| time_ns.saturating_sub(most))
    }
}

/// Whether the clock of a poll puts one of Slurm's times after it, by less than the uncertainty of
/// clocks. A later time is not used.
fn is_after(time_ns: i64, observed_at_ns: i64) -> bool {
    (1..=UNCERTAINTY_NS).contains(&time_ns.saturating_sub(observed_at_ns))
}

/// The latest of Slurm's times that a poll shows as past and that its clock puts after it. Such a
/// clock is behind.
fn latest_time(state: &State, times: Times, observed_at_ns: i64) -> Option<i64> {
    state.past(times).into_iter().flatten().filter(|time| is_after(*time, observed_at_ns)).max()
}

/// The clocks of all polls in a dataset that differ from slurmctld's.
#[derive(Debug, Default)]
pub struct Clocks {
    of: FxHashMap<(String, String), Clock>,
}

impl Clocks {
    /// Reads what a dataset has on clocks.
    ///
    /// # Errors
    /// When the dataset cannot be read.
    pub fn read(dataset: &Dataset) -> Result<Self, CorrelateError> {
        let mut of: FxHashMap<(String, String), Clock> = FxHashMap::default();
        dataset.read::<ControllerClock<'static>, CorrelateError>(|row| {
            of.entry((row.cluster.to_string(), row.source.to_string())).or_default().push(&row);
            Ok(())
        })?;
        of.retain(|_, clock| !clock.is_right());
        Ok(Self { of })
    }

    /// The clock by which a row was observed. Rows of accounting have the time of a poll when
    /// accounting was asked at one, else one of Slurm's, which are whole seconds.
    fn of(&self, cluster: &str, by: &str, observed_at_ns: i64) -> Option<&Clock> {
        if self.of.is_empty() {
            return None;
        }
        let by = if !source::is_accounting(by) {
            by
        } else if observed_at_ns % SECOND_NS != 0 {
            source::SQUEUE
        } else {
            return None;
        };
        self.of.get(&(cluster.to_owned(), by.to_owned()))
    }

    /// When a row was observed, on slurmctld's clock.
    pub fn observed_at(&self, cluster: &str, source: &str, observed_at_ns: i64) -> i64 {
        self.of(cluster, source, observed_at_ns).map_or(observed_at_ns, |clock| clock.latest(observed_at_ns))
    }

    /// The row with times on slurmctld's clock.
    pub fn job_row<'r>(&self, mut row: JobRow<'r>) -> JobRow<'r> {
        let clock = self.of(&row.cluster, &row.source, row.observed_at_ns);
        if let Some(clock) = clock {
            row.observed_at_ns = clock.latest(row.observed_at_ns);
        }
        if row.change == change::ACCOUNTING {
            return row;
        }
        let all = [row.submit_ns, row.start_ns, row.end_ns];
        if clock.is_none() && !all.into_iter().flatten().any(|time| is_after(time, row.observed_at_ns)) {
            return row;
        }
        let state = row.state.as_deref().map(State::parse);
        let times = Times { submit_ns: row.submit_ns, start_ns: row.start_ns, end_ns: row.end_ns };
        let shown_ns = state.as_ref().and_then(|state| latest_time(state, times, row.observed_at_ns));
        if let Some(shown_ns) = shown_ns {
            row.observed_at_ns = shown_ns;
        } else if clock.is_none() {
            return row;
        }
        if let Some(clock) = clock {
            // The submission bounds what polls saw first, and is one of Slurm's times.
            row.not_before_ns = row.not_before_ns.map(|time| if row.submit_ns == Some(time) { time } else { clock.earliest(time) });
        }
        let is_of_state = matches!(&*row.change, change::NEW | change::STATE | change::REQUEUED);
        if let Some(state) = state.filter(|_| is_of_state) {
            row.reported_ns = state.reported_ns(times, row.not_before_ns, row.observed_at_ns);
        }
        row
    }

    /// The row with times on slurmctld's clock.
    pub fn dependency_row<'r>(&self, mut row: DependencyRow<'r>) -> DependencyRow<'r> {
        row.observed_at_ns = self.observed_at(&row.cluster, &row.source, row.observed_at_ns);
        row
    }
}

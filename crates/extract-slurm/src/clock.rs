//! The clock of the machine that polls, compared with slurmctld's.
//!
//! `scontrol show config` reports slurmctld's time to the second. Polls bound the difference
//! further: a job that a poll shows as running had started, and a job that it shows as waiting had
//! not. The bounds of a poll are only used where they agree with the known ones. Where they
//! contradict those, slurmctld is asked again, and its answer holds; where slurmctld cannot be
//! asked (a recorded queue), a second poll has to confirm them.

use flowmine_schema::diagnostic::{Diagnostic, Diagnostics};
use flowmine_schema::tables::ControllerClock as Row;
use flowmine_schema::time::SECOND_NS;
use flowmine_slurm::clock::{Ahead, WORTH_A_ROW_NS};
use flowmine_slurm::state::{Phase, State};
use serde::{Deserialize, Serialize};

use crate::queue::PollTime;
use crate::record::JobRecord;

/// Age at which a reading of slurmctld's clock is repeated.
const READING_IS_GOOD_NS: i64 = 3600 * SECOND_NS;
/// Minimum time between two readings of slurmctld's clock after polls that contradict the known
/// bounds.
const ASKED_AGAIN_NS: i64 = 300 * SECOND_NS;
/// Slurm takes the time of a start when it begins to schedule, and squeue shows the job as waiting
/// until that is done: in a busy cluster some seconds (`bf_yield_interval`, `max_sched_time`).
const SCHEDULING_NS: i64 = 3 * SECOND_NS;
/// A difference of the clocks up to this is no news.
const NO_NEWS_NS: i64 = 2 * SECOND_NS;

/// What is known of the clock of the machine that polls.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clock {
    least_ns: Option<i64>,
    most_ns: Option<i64>,
    /// What one poll showed that contradicts the rest.
    doubt: Option<(Option<i64>, Option<i64>)>,
    /// Whether slurmctld itself gave its time when it was last asked.
    is_read: bool,
    /// When slurmctld was asked for its time, by the clock of the machine that polls.
    asked_ns: Option<i64>,
    /// The difference that was reported last.
    reported_ns: i64,
}

/// What a poll shows of the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finding {
    /// Nothing that was not known.
    Nothing,
    /// The bounds are narrower, or known for the first time.
    Narrower,
    /// The clock was set.
    Set,
    /// It contradicts what slurmctld said, or what is known, and no other poll confirms it.
    Doubtful,
}

impl Clock {
    /// By how much the clock is ahead of slurmctld's.
    pub fn ahead(&self) -> Ahead {
        Ahead { least_ns: self.least_ns, most_ns: self.most_ns }
    }

    /// Whether slurmctld is to be asked for its time at a poll: once an hour, and earlier when the
    /// poll contradicts what is known.
    pub fn is_due(&self, poll: PollTime, finding: Finding) -> bool {
        let is_good_ns = if finding == Finding::Doubtful { ASKED_AGAIN_NS } else { READING_IS_GOOD_NS };
        self.asked_ns.is_none_or(|asked| !(0..is_good_ns).contains(&poll.ended_ns.saturating_sub(asked)))
    }

    /// Remembers that slurmctld was asked, and has not answered yet.
    pub fn asked(&mut self, poll: PollTime) {
        self.asked_ns = Some(poll.ended_ns);
        self.is_read = false;
    }

    /// Takes what slurmctld itself says, which counts more than all that was known.
    pub fn read(&mut self, reading: Ahead) -> Finding {
        self.doubt = None;
        self.is_read = true;
        match self.ahead().and(reading) {
            Some(both) => self.narrow(both),
            None => self.set(reading),
        }
    }

    /// Takes what a poll shows.
    pub fn see(&mut self, shown: Ahead) -> Finding {
        if let Some(both) = self.ahead().and(shown) {
            self.doubt = self.doubt.filter(|_| shown.is_unknown());
            return self.narrow(both);
        }
        if self.is_read {
            return Finding::Doubtful;
        }
        let doubt = self.doubt.map(|(least_ns, most_ns)| Ahead { least_ns, most_ns });
        match doubt.and_then(|doubt| doubt.and(shown)) {
            Some(confirmed) => {
                self.doubt = None;
                self.set(confirmed)
            }
            None => {
                self.doubt = Some((shown.least_ns, shown.most_ns));
                Finding::Doubtful
            }
        }
    }

    fn set(&mut self, ahead: Ahead) -> Finding {
        (self.least_ns, self.most_ns) = (ahead.least_ns, ahead.most_ns);
        Finding::Set
    }

    fn narrow(&mut self, to: Ahead) -> Finding {
        let is_news = |before: Option<i64>, now: Option<i64>| match (before, now) {
            (Some(before), Some(now)) => before.abs_diff(now) >= WORTH_A_ROW_NS.unsigned_abs(),
            (before, now) => before != now,
        };
        let is_narrower = is_news(self.least_ns, to.least_ns) || is_news(self.most_ns, to.most_ns);
        if is_narrower {
            (self.least_ns, self.most_ns) = (to.least_ns, to.most_ns);
        }
        if is_narrower { Finding::Narrower } else { Finding::Nothing }
    }

    /// Reports a difference that was not reported yet.
    pub fn report(&mut self, diagnostics: &mut Diagnostics) {
        let now = self.ahead().middle_ns();
        let (least, most) = self.ahead().difference_ns().unwrap_or((0, 0));
        if (least - NO_NEWS_NS..=most + NO_NEWS_NS).contains(&self.reported_ns) {
            return;
        }
        let before = std::mem::replace(&mut self.reported_ns, now);
        let shown = |ns: i64| format!("{:+.1} s", ns as f64 / 1e9);
        let was = if before == 0 { String::new() } else { format!(" (before: {})", shown(before)) };
        let doubt = if most > least { format!(", to {:.1} s", (most - least) as f64 / 2e9) } else { String::new() };
        let message = format!("the clock there is {}{doubt} against slurmctld's{was}", shown(now));
        diagnostics.push(
            Diagnostic::warning("controller_clock", message)
                .advise("nothing: times derived from polls are corrected; the rows stay as observed"),
        );
    }

    /// What is known, as a row of `controller_clocks`.
    pub fn row<'r>(&self, cluster: &'r str, source: &'static str, poll: PollTime, evidence: &'static str) -> Row<'r> {
        Row {
            cluster: cluster.into(),
            source: source.into(),
            began_ns: poll.began_ns,
            ended_ns: poll.ended_ns,
            ahead_least_ns: self.least_ns,
            ahead_most_ns: self.most_ns,
            evidence: evidence.into(),
            ..Row::default()
        }
    }
}

/// What the jobs of one poll show of the clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct Shown {
    ahead: Ahead,
    contradicts_itself: bool,
}

impl Shown {
    /// Takes a job that is new, or in another state than at the poll before.
    pub fn add(&mut self, record: &JobRecord<'_>, before: Option<(&State, PollTime)>, poll: PollTime) {
        let phase = record.state.phase();
        for time in record.state.past(record.times()).into_iter().flatten() {
            self.bound(Ahead::already(poll.ended_ns, time));
        }
        let start = record.start_ns.filter(|_| phase == Phase::Running);
        let end = record.end_ns.filter(|_| matches!(record.state, State::Completed | State::Failed));
        let Some((state, last)) = before else { return };
        // The start of a job that ran before, or was suspended, was long ago.
        let changed_ns = match state.phase() {
            Phase::Waiting => start,
            Phase::Running => end,
            _ => None,
        };
        if let Some(time) = changed_ns {
            self.bound(Ahead::not_yet(last.began_ns, time, SCHEDULING_NS));
        }
    }

    fn bound(&mut self, by: Ahead) {
        match self.ahead.and(by) {
            Some(both) => self.ahead = both,
            None => self.contradicts_itself = true,
        }
    }

    /// The bounds; nothing where they contradict each other.
    pub fn ahead(&self) -> Ahead {
        if self.contradicts_itself { Ahead::default() } else { self.ahead }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const S: i64 = SECOND_NS;

    fn ahead(least_s: i64, most_s: i64) -> Ahead {
        Ahead { least_ns: Some(least_s * S), most_ns: Some(most_s * S) }
    }

    fn reports(clock: &mut Clock) -> usize {
        let mut diagnostics = Diagnostics::default();
        clock.report(&mut diagnostics);
        diagnostics.warnings() as usize
    }

    #[test]
    fn a_clock_that_is_right_is_no_news() {
        let mut clock = Clock::default();
        assert_eq!((clock.read(ahead(-1, 0)), reports(&mut clock)), (Finding::Narrower, 0));
        assert_eq!((clock.see(Ahead::already(100 * S, 99 * S)), reports(&mut clock)), (Finding::Nothing, 0));
        assert_eq!((clock.see(ahead(-2, 1)), reports(&mut clock)), (Finding::Nothing, 0));
    }

    #[test]
    fn a_difference_is_reported_once_and_again_when_the_clock_was_set() {
        let mut clock = Clock::default();
        assert_eq!((clock.read(ahead(89, 90)), reports(&mut clock), reports(&mut clock)), (Finding::Narrower, 1, 0));
        // A year ahead for one poll, and back.
        let year = 365 * 86_400;
        assert_eq!((clock.read(ahead(year, year + 1)), reports(&mut clock)), (Finding::Set, 1));
        assert_eq!((clock.read(ahead(-1, 0)), reports(&mut clock)), (Finding::Set, 1));
        assert_eq!((clock.ahead(), reports(&mut clock)), (ahead(-1, 0), 0));
    }

    #[test]
    fn one_poll_alone_does_not_contradict_the_rest() {
        let mut clock = Clock::default();
        clock.see(ahead(-1, 30));
        assert_eq!(clock.see(ahead(80, 140)), Finding::Doubtful);
        assert_eq!(clock.see(ahead(-5, 20)), Finding::Narrower);
        assert_eq!(clock.see(ahead(80, 140)), Finding::Doubtful, "the poll between agreed with the rest");
        assert_eq!((clock.see(ahead(85, 200)), clock.ahead()), (Finding::Set, ahead(85, 140)));
    }

    proptest! {
        /// Jobs that start and end as they like, polled by a clock that is ahead or behind: polls
        /// never say anything that is wrong.
        #[test]
        fn polls_never_contradict_the_truth(
            ahead_s in -300i64..300,
            jobs in proptest::collection::vec((0..2000i64, 0..600i64, 1..600i64), 1..30),
            every_s in 1..120i64,
        ) {
            let base = 1_795_000_000;
            let mut clock = Clock::default();
            let mut seen: Vec<Option<State>> = vec![None; jobs.len()];
            let mut last = None;
            for at in (0..3400).step_by(every_s as usize) {
                let moment = (base + at + ahead_s) * S + S / 3;
                let poll = PollTime { began_ns: moment, ended_ns: moment + S / 10 };
                let mut shown = Shown::default();
                for ((submit, wait, run), state) in jobs.iter().zip(&mut seen) {
                    let (start, end) = (submit + wait, submit + wait + run);
                    let now = match at {
                        at if at < *submit => continue,
                        at if at < start => State::Pending,
                        at if at < end => State::Running,
                        _ => State::Completed,
                    };
                    if *state == Some(now.clone()) {
                        continue;
                    }
                    let mut record = JobRecord::new(1, flowmine_slurm::job_ref::JobRef::Single, now.clone());
                    record.submit_ns = Some((base + submit) * S);
                    record.start_ns = Some((base + start) * S).filter(|_| now != State::Pending);
                    record.end_ns = Some((base + end) * S).filter(|_| now != State::Pending);
                    shown.add(&record, state.as_ref().zip(last), poll);
                    *state = Some(now);
                }
                last = Some(poll);
                prop_assert_ne!(clock.see(shown.ahead()), Finding::Doubtful);
                let Ahead { least_ns, most_ns } = clock.ahead();
                prop_assert!(least_ns.is_none_or(|least| least <= ahead_s * S) && most_ns.is_none_or(|most| ahead_s * S <= most));
            }
        }
    }
}

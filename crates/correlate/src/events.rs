//! The events of one attempt, derived from polls and accounting.
//!
//! * Each polled row that has another state than the one before is an event with that state. A
//!   second observer's row that has the state that is already known is none.
//! * Slurm also reports times of changes that no poll saw: `squeue` shows the submission and start
//!   of a job that runs or has ended; accounting records these and the end of all jobs. Where the
//!   submit time (PENDING), the start (RUNNING) or the end (the ended state) is known, the polled
//!   event of that kind gets it as `reported_ns`; when polling missed the change, an event is added
//!   ([`Event::polled`] is false), with the source of the time as its source. A time from
//!   accounting takes precedence over one from `squeue`.
//! * When polling saw another ended state than the record of accounting has, that one stays and the
//!   record's comes after it.
//! * `LEFT` is an event only while no ended state is known, neither from polling nor from
//!   accounting; a row `left` after which the same attempt was seen again was no leaving. It has
//!   the end that a row before it reported (COMPLETING).
//! * A change without a new state is an event HELD, RELEASED or CHANGED, with the names of the
//!   changed columns. A job that is held when it is first seen is HELD in the interval of that
//!   observation. These events are placed where they were observed, between the events of states.
//! * A job that could begin later than it was submitted (begin time, dependency, hold) is ELIGIBLE
//!   then, where Slurm reports that time.
//! * An attempt without an end, after which the same job was submitted again, was REQUEUED at that
//!   submission or before it, when polls missed an attempt between the two.
//!
//! Nothing else is added.
//!
//! **Order.** Polled events keep the order in which they were written. When two sources (say
//! `squeue` and a SLURMminer log) saw the same attempt, their rows are merged by time of
//! observation.
//!
//! **Time.** See [`Timestamp`]. Within an attempt times never run backwards: an event that would
//! precede the event observed before it gets the time of that event. An event with only a poll's
//! time does not follow a later event with an exact time, as far as its own interval allows.

use flowmine_schema::time::SECOND_NS;

use crate::attempts::{Change, Fact, Seen};
use crate::packed_int::PackedInt;
use crate::state::{self, Lifecycle, LifecycleTracker, Phase};
use crate::strings::{Strings, Sym};

/// Which time an event gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Timestamp {
    /// What Slurm reports, within the interval in which polling saw the change; where Slurm reports
    /// nothing, the poll's time.
    #[default]
    Reported,
    /// When it was seen. Events that no poll saw (from accounting) keep their reported time.
    ObservedAt,
    /// The start of the interval in which it happened, where that is known, else what Slurm
    /// reports, else when it was seen. Events that no poll saw keep their reported time.
    NotBefore,
}

/// One event of one attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// Time of the event, as [`Timestamp`] chooses it, UTC nanoseconds since 1970.
    pub time_ns: i64,
    /// The change happened after this time. Unknown for what no poll saw.
    pub not_before_ns: PackedInt,
    /// The change had happened at this time, UTC nanoseconds since 1970.
    pub observed_at_ns: i64,
    /// When Slurm says that it happened, UTC nanoseconds since 1970.
    pub reported_ns: PackedInt,
    /// Index of the attempt in [`crate::Jobs::attempts`].
    pub attempt: u32,
    /// The state's full name, or `LEFT`.
    pub state: Sym,
    /// Where the event is known from: `squeue`, `sacct`, …
    pub source: Sym,
    /// Slurm's reason for the state.
    pub reason: Option<Sym>,
    /// The nodes of the job at that time, as Slurm writes a list of hosts.
    pub node_list: Option<Sym>,
    /// Transition of the XES lifecycle model.
    pub lifecycle: Lifecycle,
    /// Whether a poll saw the change. Otherwise Slurm reported later when it had been.
    pub polled: bool,
    /// Whether accounting reports its time, which holds whatever the clock of a poll says.
    pub recorded: bool,
    /// What else changed: names of columns of `job_states`, or `dependency`.
    pub changed: Option<Sym>,
    /// What that was before: an index into [`crate::Jobs::before`].
    pub before: Option<u32>,
}

impl Event {
    /// Slurm's own time for it. When polling saw nothing of the attempt before it, an interval that
    /// begins later says only when the job was not yet looked at.
    fn exactly(&mut self, time: PackedInt, is_first: bool) {
        self.reported_ns = time.or(self.reported_ns);
        if is_first && self.is_seen_late() {
            self.not_before_ns = PackedInt::UNKNOWN;
        }
    }

    /// Whether a time of Slurm's, which is cut to whole seconds, lies outside its interval.
    fn contradicts_poll(&self, time_ns: i64) -> bool {
        let is_early = self.not_before_ns.get().is_some_and(|not_before| time_ns.saturating_add(SECOND_NS) <= not_before);
        is_early || time_ns > self.observed_at_ns
    }

    /// Whether its interval begins after Slurm's time for it, which is cut to whole seconds.
    fn is_seen_late(&self) -> bool {
        let known = self.reported_ns.get().zip(self.not_before_ns.get());
        known.is_some_and(|(time, not_before)| time.saturating_add(SECOND_NS) <= not_before)
    }
}

/// What making events needs besides rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Context<'s> {
    pub strings: &'s Strings,
    pub pending: Sym,
    pub running: Sym,
    pub left: Sym,
    pub eligible: Sym,
    pub held: Sym,
    pub released: Sym,
    pub changed: Sym,
    pub timestamp: Timestamp,
}

/// The attempt as far as making its events needs it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AttemptFacts {
    pub attempt: u32,
    pub submit_ns: PackedInt,
    /// Whether it is the only or first one with this submit time.
    pub is_first: bool,
    /// Its attributes show that it has run.
    pub ran: bool,
}

/// How an attempt ended, and when it ran.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Outcome {
    pub final_state: Option<Sym>,
    pub ended_ns: PackedInt,
    pub left_ns: PackedInt,
    pub ran: bool,
    /// Start and end that accounting reports for the attempt.
    pub start_ns: PackedInt,
    pub end_ns: PackedInt,
}

/// All facts about one attempt as one, in the order in which they were reported.
fn known(facts: &[Fact], strings: &Strings) -> Option<Fact> {
    let (first, rest) = facts.split_first()?;
    let mut all = *first;
    for fact in rest {
        let ended = |sym: Option<Sym>| sym.is_some_and(|sym| state::phase(strings.get(sym)).ends_attempt());
        let resized = |sym: Option<Sym>| sym.is_some_and(|sym| state::phase(strings.get(sym)) == Phase::Resizing);
        if ended(all.state) && fact.state.is_some() && !ended(fact.state) && !resized(fact.state) && !resized(all.state) {
            // An older answer that was imported later: the attempt has ended nevertheless.
            all.start_ns = all.start_ns.or(fact.start_ns);
            continue;
        }
        // A job that changed its size has one record for each size, all with the same submit time.
        let piece = [all.state, fact.state].iter().flatten().any(|s| state::phase(strings.get(*s)) == Phase::Resizing);
        all.start_ns = match (all.start_ns.get(), fact.start_ns.get()) {
            (Some(a), Some(b)) if piece => PackedInt::known(a.min(b)),
            _ => fact.start_ns.or(all.start_ns),
        };
        // Asked again while it runs: the end of a first piece is not its end.
        all.eligible_ns = fact.eligible_ns.or(all.eligible_ns);
        all.end_ns = if piece { fact.end_ns } else { fact.end_ns.or(all.end_ns) };
        all.state = fact.state.or(all.state);
        all.reason = fact.reason.or(all.reason);
        all.node_list = fact.node_list.or(all.node_list);
        all.observed_at_ns = fact.observed_at_ns;
        all.source = fact.source;
    }
    Some(all)
}

/// Polled rows of several sources in one order: by the latest time of observation so far within
/// each source, so that one source's rows are never reordered, not even when its clock was set
/// back.
fn by_observation(seen: &[Seen]) -> Option<Vec<Seen>> {
    let first = seen.first()?.source;
    if seen.iter().all(|s| s.source == first) {
        return None;
    }
    let mut latest: Vec<(Sym, i64)> = Vec::new();
    let mut keyed: Vec<(i64, Seen)> = seen
        .iter()
        .map(|s| {
            let at = latest.iter().position(|(source, _)| *source == s.source).unwrap_or_else(|| {
                latest.push((s.source, i64::MIN));
                latest.len() - 1
            });
            latest[at].1 = latest[at].1.max(s.observed_at_ns);
            (latest[at].1, *s)
        })
        .collect();
    // Equal times: by the source's name, so that it does not matter which was written first.
    keyed.sort_by_key(|(time, s)| (*time, s.source));
    Some(keyed.into_iter().map(|(_, s)| s).collect())
}

/// A time that Slurm reports, and what reported it.
#[derive(Clone, Copy)]
struct ReportedTime {
    time: PackedInt,
    observed_at_ns: i64,
    source: Sym,
    reason: Option<Sym>,
    node_list: Option<Sym>,
}

impl ReportedTime {
    fn by(seen: &Seen, time: PackedInt) -> Self {
        Self { time, observed_at_ns: seen.observed_at_ns, source: seen.source, reason: None, node_list: seen.node_list }
    }

    fn by_record(fact: &Fact, time: PackedInt) -> Self {
        Self { time, observed_at_ns: fact.observed_at_ns, source: fact.source, reason: fact.reason, node_list: fact.node_list }
    }

    /// The event, for an attempt and a state, of a change that no poll saw.
    fn event(self, attempt: u32, state: Sym) -> Event {
        Event {
            time_ns: 0,
            not_before_ns: PackedInt::UNKNOWN,
            observed_at_ns: self.observed_at_ns,
            reported_ns: self.time,
            attempt,
            state,
            source: self.source,
            reason: self.reason,
            node_list: self.node_list,
            lifecycle: Lifecycle::Unknown,
            polled: false,
            recorded: false,
            changed: None,
            before: None,
        }
    }
}

/// Makes the events of one attempt; its facts and rows are in the order of writing.
pub(crate) fn merge(of: AttemptFacts, seen: &[Seen], facts: &[Fact], context: &Context<'_>, events: &mut Vec<Event>) -> Outcome {
    let AttemptFacts { attempt, submit_ns, is_first, ran } = of;
    let strings = context.strings;
    let sorted = by_observation(seen);
    let seen = sorted.as_deref().unwrap_or(seen);
    let mut outcome = Outcome { ran, ..Outcome::default() };
    let phase = |sym: Sym| state::phase(strings.get(sym));
    let mut made: Vec<Event> = Vec::with_capacity(seen.len() + 3);

    for s in seen {
        let Some(state) = s.state.filter(|_| matches!(s.change, Change::New | Change::State)) else { continue };
        if made.last().is_some_and(|e| e.state == state) {
            continue;
        }
        let told = ReportedTime::by(s, s.reported_ns);
        made.push(Event {
            not_before_ns: s.not_before_ns,
            reason: s.reason,
            polled: true,
            changed: s.changed,
            before: s.before,
            ..told.event(attempt, state)
        });
        outcome.ran |= phase(state).has_run();
    }
    let record = known(facts, strings);
    submitted(&mut made, submit_ns, is_first, seen, record.as_ref(), context, attempt);
    eligible(&mut made, submit_ns, seen, record.as_ref(), context, attempt);
    started(&mut made, seen, record.as_ref(), context, attempt, &mut outcome);
    ended(&mut made, seen, record.as_ref(), context, attempt, &mut outcome);
    if let Some(gone) = seen.last().filter(|s| s.state.is_none()) {
        outcome.left_ns = PackedInt::known(gone.observed_at_ns);
        if !made.iter().any(|e| phase(e.state).ends_attempt()) {
            let end = seen.iter().rev().find(|s| s.state.is_some()).map_or(PackedInt::UNKNOWN, |s| s.end_ns);
            let mut left =
                Event { not_before_ns: gone.not_before_ns, polled: true, ..ReportedTime::by(gone, end).event(attempt, context.left) };
            after_completing(&mut left, made.last(), phase);
            made.push(left);
        }
    }

    set_times(&mut made, context);
    put_changes(&mut made, seen, context, attempt);
    let mut tracker = LifecycleTracker::new(outcome.ran);
    for event in &mut made {
        event.lifecycle = tracker.enter(strings.get(event.state));
        let over = phase(event.state).ends_attempt();
        if over || event.state == context.left {
            outcome.ended_ns = PackedInt::known(event.time_ns);
        }
        if over {
            outcome.final_state = Some(event.state);
        }
    }
    events.append(&mut made);
    outcome
}

/// Makes the event that an attempt was submitted.
fn submitted(
    made: &mut Vec<Event>,
    submit_ns: PackedInt,
    is_first: bool,
    seen: &[Seen],
    record: Option<&Fact>,
    context: &Context<'_>,
    attempt: u32,
) {
    let Some(submit) = submit_ns.get() else { return };
    let is_waiting = |e: &Event| state::phase(context.strings.get(e.state)) == Phase::Waiting;
    // A job that was put back within a second keeps its submit time, which is that of the attempt before.
    match made.first_mut().filter(|e| is_waiting(e)) {
        Some(first) if is_first && submit <= first.observed_at_ns || record.is_some() => {
            first.exactly(submit_ns, is_first);
            // An attempt that was put back within a second has the submit time of the one before.
            first.recorded = is_first && record.is_some();
        }
        Some(_) => {}
        None => {
            let by_poll = seen.iter().find(|s| s.state.is_some() && is_first && submit <= s.observed_at_ns);
            let told = record.map(|fact| ReportedTime::by_record(fact, submit_ns)).or(by_poll.map(|s| ReportedTime::by(s, submit_ns)));
            if let Some(told) = told {
                made.insert(0, ReportedTime { reason: None, node_list: None, ..told }.event(attempt, context.pending));
            }
        }
    }
}

/// The event from which on nothing but resources and its turn kept a job from starting.
fn eligible(made: &mut Vec<Event>, submit_ns: PackedInt, seen: &[Seen], record: Option<&Fact>, context: &Context<'_>, attempt: u32) {
    let by_record = record.filter(|fact| fact.eligible_ns.is_known()).map(|fact| ReportedTime::by_record(fact, fact.eligible_ns));
    let by_poll = || seen.iter().rev().find(|s| s.eligible_ns.is_known()).map(|s| ReportedTime::by(s, s.eligible_ns));
    let Some(told) = by_record.or_else(by_poll) else { return };
    // Slurm also reports when a job is to become eligible (a begin time).
    let is_later = submit_ns.get().zip(told.time.get()).is_some_and(|(submit, time)| submit < time && time <= told.observed_at_ns);
    if is_later {
        let is_waiting = |e: &&Event| state::phase(context.strings.get(e.state)) == Phase::Waiting;
        let at = made.iter().take_while(is_waiting).count();
        made.insert(at, ReportedTime { reason: None, node_list: None, ..told }.event(attempt, context.eligible));
    }
}

/// Inserts the events of changes without a new state between the events of states, which have their
/// times already.
fn put_changes(made: &mut Vec<Event>, seen: &[Seen], context: &Context<'_>, attempt: u32) {
    for s in seen {
        let state = match s.change {
            Change::Held => context.held,
            Change::New if s.held => context.held,
            Change::Released => context.released,
            Change::Other => context.changed,
            Change::New | Change::State => continue,
        };
        let time = PackedInt::UNKNOWN;
        let event =
            Event { not_before_ns: s.not_before_ns, reason: s.reason, polled: true, ..ReportedTime::by(s, time).event(attempt, state) };
        let mut event = [Event { changed: s.changed, before: s.before, ..event }];
        set_times(&mut event, context);
        insert_change(made, event[0], context.timestamp);
    }
}

/// Puts a change where it was observed: it happened in the state that was seen then. What had
/// happened when its interval began comes before it, also when it was seen later.
pub(crate) fn insert_change(made: &mut Vec<Event>, mut event: Event, timestamp: Timestamp) {
    let begin = event.not_before_ns.get().unwrap_or(event.time_ns);
    let is_after = |e: &Event| e.time_ns > begin && (!e.polled || e.observed_at_ns > event.observed_at_ns);
    let at = made.iter().position(is_after).unwrap_or(made.len());
    let (before, after) = made.split_at(at);
    if timestamp == Timestamp::Reported {
        event.time_ns = after.first().map_or(event.time_ns, |next| event.time_ns.min(next.time_ns));
    }
    event.time_ns = before.last().map_or(event.time_ns, |last| event.time_ns.max(last.time_ns));
    made.insert(at, event);
    for later in &mut made[at + 1..] {
        later.time_ns = later.time_ns.max(event.time_ns);
    }
}

/// Gives the event of the start its reported time, or adds one where no poll saw the start.
fn started(made: &mut Vec<Event>, seen: &[Seen], record: Option<&Fact>, context: &Context<'_>, attempt: u32, outcome: &mut Outcome) {
    let phase = |sym: Sym| state::phase(context.strings.get(sym));
    // Accounting gives a job that was cancelled before it started a start that equals its end, and no nodes.
    let ran = |fact: &&Fact| {
        let never_ran = fact.node_list.is_none() && fact.start_ns == fact.end_ns;
        fact.start_ns.is_known() && !never_ran && fact.state.map_or(Phase::Other, phase) != Phase::Waiting
    };
    outcome.start_ns = record.map_or(PackedInt::UNKNOWN, |fact| fact.start_ns);
    let by_record = record.filter(ran).map(|fact| ReportedTime::by_record(fact, fact.start_ns));
    let by_poll = || seen.iter().rev().find(|s| s.start_ns.is_known()).map(|s| ReportedTime::by(s, s.start_ns));
    let Some(told) = by_record.or_else(by_poll) else { return };
    outcome.ran = true;
    let at = made.iter().position(|e| !phase(e.state).before_run()).unwrap_or(made.len());
    let is_first = !made[..at].iter().any(|e| e.polled);
    match made.get_mut(at).filter(|e| e.state == context.running) {
        Some(running) => {
            running.exactly(told.time, is_first);
            running.recorded = by_record.is_some();
        }
        None => made.insert(at, ReportedTime { reason: None, ..told }.event(attempt, context.running)),
    }
}

/// Gives the event of the end its reported time, or adds one where no poll saw the end.
fn ended(made: &mut Vec<Event>, seen: &[Seen], record: Option<&Fact>, context: &Context<'_>, attempt: u32, outcome: &mut Outcome) {
    let phase = |sym: Sym| state::phase(context.strings.get(sym));
    // The last ended state that polling saw, with the end that Slurm reported in the same row.
    let last = made.iter().rposition(|e| phase(e.state).ends_attempt());
    if let Some(at) = last {
        let row = seen.iter().rev().find(|s| s.state == Some(made[at].state));
        let end = row.map_or(PackedInt::UNKNOWN, |s| s.end_ns);
        tell_end(made, at, end, phase);
    }
    let Some(fact) = record else { return };
    let Some(state) = fact.state.filter(|&state| phase(state).ends_attempt()) else { return };
    outcome.end_ns = fact.end_ns;
    match made.iter().rposition(|e| e.state == state) {
        Some(at) => {
            tell_end(made, at, fact.end_ns, phase);
            made[at].recorded = fact.end_ns.is_known();
        }
        // Where polling saw another end (COMPLETED before the user put it back: REQUEUED) both happened.
        None => made.push(ReportedTime::by_record(fact, fact.end_ns).event(attempt, state)),
    }
}

/// Gives the end at a place Slurm's time.
fn tell_end(made: &mut [Event], at: usize, time: PackedInt, phase: impl Fn(Sym) -> Phase) {
    let (before, rest) = made.split_at_mut(at);
    rest[0].reported_ns = time.or(rest[0].reported_ns);
    after_completing(&mut rest[0], before.last(), phase);
}

/// Slurm's end of a job is when COMPLETING begins; what comes later is its own cleaning up. An end
/// that was seen after COMPLETING lies in the interval of that, when Slurm reports it. So does the
/// end of a job of which nothing was seen before.
fn after_completing(end: &mut Event, before: Option<&Event>, phase: impl Fn(Sym) -> Phase) {
    if end.is_seen_late() {
        match before {
            Some(before) if phase(before.state) == Phase::Ending => end.not_before_ns = before.not_before_ns,
            Some(before) if before.polled => {}
            _ => end.not_before_ns = PackedInt::UNKNOWN,
        }
    }
}

/// The end of an attempt without one, after which the same job waited again: by `next`, the first
/// event of the next attempt that is known. Between two polls a job can be put back more than once,
/// so that it ended when that attempt was submitted, or before.
pub(crate) fn requeued(attempt: u32, last: Option<&Event>, next: &Event, state: Sym) -> Event {
    let submitted = next.reported_ns.get().map_or(next.observed_at_ns, |time| time.min(next.observed_at_ns));
    let known_at = last.map(|last| last.time_ns).into_iter().chain(next.not_before_ns.get()).max();
    Event {
        attempt,
        state,
        time_ns: last.map_or(next.time_ns, |last| last.time_ns.max(next.time_ns)),
        not_before_ns: known_at.filter(|time| *time < submitted).map_or(PackedInt::UNKNOWN, PackedInt::known),
        observed_at_ns: submitted,
        reported_ns: PackedInt::UNKNOWN,
        reason: None,
        node_list: None,
        lifecycle: Lifecycle::AteAbort,
        ..*next
    }
}

fn set_times(events: &mut [Event], context: &Context<'_>) {
    let timestamp = context.timestamp;
    // The submit time of a job that was put back within a second is that of the attempt before.
    let is_ahead = |event: &Event| event.state != context.pending && event.is_seen_late();
    for event in events.iter_mut() {
        let reported = event.reported_ns.get();
        event.time_ns = if !event.polled {
            reported.unwrap_or(event.observed_at_ns)
        } else {
            // An interval that ends before it begins comes from a clock that was set back: then only its end is used.
            let not_before = event.not_before_ns.get().filter(|&t| t <= event.observed_at_ns);
            match timestamp {
                Timestamp::ObservedAt => event.observed_at_ns,
                Timestamp::NotBefore => not_before.or(reported.filter(|&t| t <= event.observed_at_ns)).unwrap_or(event.observed_at_ns),
                Timestamp::Reported => match reported {
                    // A time of Slurm's before the interval shows that the clock of the polls was ahead.
                    Some(t) if is_ahead(event) || event.recorded && event.contradicts_poll(t) => t,
                    Some(t) => t.max(not_before.unwrap_or(t)).min(event.observed_at_ns),
                    None => event.observed_at_ns,
                },
            }
        };
    }
    if timestamp == Timestamp::Reported {
        let mut next_exact = i64::MAX;
        // The clock of the polls was ahead: intervals begin too late by it.
        let mut is_late = false;
        for event in events.iter_mut().rev() {
            if event.reported_ns.is_known() {
                next_exact = next_exact.min(event.time_ns);
                is_late |= is_ahead(event);
            } else if event.time_ns > next_exact && event.not_before_ns.get().is_some_and(|t| t <= next_exact || is_late) {
                event.time_ns = next_exact;
            }
        }
    }
    let mut latest = i64::MIN;
    for event in events {
        latest = latest.max(event.time_ns);
        event.time_ns = latest;
    }
}

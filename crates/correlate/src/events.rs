//! The events of one attempt, out of what polling saw and what accounting tells.
//!
//! * Each polled row that tells another state than the one before is an event with that state. A second observer's row that
//!   tells the state that is already known is none.
//! * Where accounting knows the submit time (PENDING), the start (RUNNING) or the end (the ended state), the polled event of
//!   that kind gets the exact time as `reported_ns`; when polling missed it, an event is added whose source is accounting. When
//!   polling saw another ended state than the record has, that one stays and the record's comes after it.
//! * `LEFT` is an event only while no ended state is known, neither from polling nor from accounting; a row `left` after which
//!   the same attempt was seen again was no leaving.
//! * Nothing else is added: a job first seen RUNNING without accounting has no PENDING event.
//!
//! **Order.** Polled events keep the order in which they were written. When two sources (say `squeue` and a SLURMminer log)
//! saw the same attempt, their rows are merged by time of observation.
//!
//! **Time.** See [`Timestamp`]. Within an attempt times never run backwards: an event that would come before the one that was
//! observed before it gets that one's time; and an event for which only the poll's time is known does not come after a later
//! one whose time is known exactly, as far as its own interval allows.

use crate::attempts::{Fact, Seen};
use crate::maybe::Maybe;
use crate::state::{self, Lifecycle, LifecycleTracker, Phase};
use crate::strings::{Strings, Sym};

/// Which time an event gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Timestamp {
    /// What Slurm reports, within the interval in which polling saw the change; where Slurm reports nothing, the poll's time.
    #[default]
    Reported,
    /// When it was seen. Events that no poll saw (from accounting) keep their reported time.
    ObservedAt,
    /// The start of the interval in which it happened, where that is known, else when it was seen. Events that no poll saw
    /// keep their reported time.
    NotBefore,
}

/// One event of one attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// The event's time.
    pub time_ns: i64,
    /// The change happened after this time. Unknown for what no poll saw.
    pub not_before_ns: Maybe,
    /// The change had happened at this time.
    pub observed_at_ns: i64,
    /// When Slurm says that it happened.
    pub reported_ns: Maybe,
    /// Index of the attempt in [`crate::Jobs::attempts`].
    pub attempt: u32,
    /// The state's full name, or `LEFT`.
    pub state: Sym,
    /// What told us: `squeue`, `sacct`, …
    pub source: Sym,
    /// Why, as Slurm says.
    pub reason: Option<Sym>,
    /// The nodes at that time.
    pub node_list: Option<Sym>,
    /// Transition of the XES lifecycle model.
    pub lifecycle: Lifecycle,
}

/// What making events needs besides rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Context<'s> {
    pub strings: &'s Strings,
    pub pending: Sym,
    pub running: Sym,
    pub left: Sym,
    pub timestamp: Timestamp,
}

/// The attempt as far as making its events needs it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Of {
    pub attempt: u32,
    pub submit_ns: Maybe,
    /// Its attributes show that it has run.
    pub ran: bool,
}

/// What became of an attempt.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Outcome {
    pub final_state: Option<Sym>,
    pub ended_ns: Maybe,
    pub left_ns: Maybe,
    pub ran: bool,
    /// Start and end that accounting tells, to stand for the attempt.
    pub start_ns: Maybe,
    pub end_ns: Maybe,
}

/// All facts about one attempt as one, in the order in which they were told.
fn known(facts: &[Fact], strings: &Strings) -> Option<Fact> {
    let (first, rest) = facts.split_first()?;
    let mut all = *first;
    for fact in rest {
        let ended = |sym: Option<Sym>| sym.is_some_and(|sym| state::phase(strings.get(sym)).ends_attempt());
        let resized = |sym: Option<Sym>| sym.is_some_and(|sym| state::phase(strings.get(sym)) == Phase::Resizing);
        if ended(all.state) && fact.state.is_some() && !ended(fact.state) && !resized(fact.state) && !resized(all.state) {
            // An older answer that was taken in later: the attempt has ended all the same.
            all.start_ns = all.start_ns.or(fact.start_ns);
            continue;
        }
        // A job that changed its size has one record for each size, all with the same submit time.
        let piece = [all.state, fact.state].iter().flatten().any(|s| state::phase(strings.get(*s)) == Phase::Resizing);
        all.start_ns = match (all.start_ns.get(), fact.start_ns.get()) {
            (Some(a), Some(b)) if piece => Maybe::known(a.min(b)),
            _ => fact.start_ns.or(all.start_ns),
        };
        // Asked again while it runs: the end of a first piece is not its end.
        all.end_ns = if piece { fact.end_ns } else { fact.end_ns.or(all.end_ns) };
        all.state = fact.state.or(all.state);
        all.reason = fact.reason.or(all.reason);
        all.node_list = fact.node_list.or(all.node_list);
        all.observed_at_ns = fact.observed_at_ns;
        all.source = fact.source;
    }
    Some(all)
}

/// Polled rows of several sources in one order: by the latest time of observation so far within each source, so that one
/// source's rows are never reordered, not even when its clock was set back.
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

/// Makes the events of one attempt; its facts and rows are in the order of writing.
pub(crate) fn merge(of: Of, seen: &[Seen], facts: &[Fact], context: &Context<'_>, events: &mut Vec<Event>) -> Outcome {
    let Of { attempt, submit_ns, ran } = of;
    let strings = context.strings;
    let start_at = events.len();
    let sorted = by_observation(seen);
    let seen = sorted.as_deref().unwrap_or(seen);
    let mut outcome = Outcome { ran, ..Outcome::default() };
    let phase = |sym: Sym| state::phase(strings.get(sym));

    for s in seen {
        let Some(state) = s.state else { continue };
        if events[start_at..].last().is_some_and(|e| e.state == state) {
            continue;
        }
        events.push(Event {
            time_ns: 0,
            not_before_ns: s.not_before_ns,
            observed_at_ns: s.observed_at_ns,
            reported_ns: s.reported_ns,
            attempt,
            state,
            source: s.source,
            reason: s.reason,
            node_list: s.node_list,
            lifecycle: Lifecycle::Unknown,
        });
        outcome.ran |= phase(state).has_run();
    }

    let fact = known(facts, strings);
    if let Some(fact) = fact {
        let told = |state: Sym, time: Maybe| Event {
            time_ns: 0,
            not_before_ns: Maybe::UNKNOWN,
            observed_at_ns: fact.observed_at_ns,
            reported_ns: time,
            attempt,
            state,
            source: fact.source,
            reason: fact.reason,
            node_list: fact.node_list,
            lifecycle: Lifecycle::Unknown,
        };
        outcome.start_ns = fact.start_ns;
        if submit_ns.is_known() {
            match events.get_mut(start_at).filter(|e| phase(e.state) == Phase::Waiting) {
                Some(first) => first.reported_ns = submit_ns,
                None => events.insert(start_at, Event { reason: None, node_list: None, ..told(context.pending, submit_ns) }),
            }
        }
        // Accounting gives a job that was cancelled before it started a start that equals its end, and no nodes.
        let never_ran = fact.node_list.is_none() && fact.start_ns == fact.end_ns;
        let last_phase = fact.state.map_or(Phase::Other, phase);
        if fact.start_ns.is_known() && !never_ran && last_phase != Phase::Waiting {
            outcome.ran = true;
            match events[start_at..].iter_mut().find(|e| e.state == context.running) {
                Some(running) => running.reported_ns = fact.start_ns,
                None => {
                    let after = events[start_at..].iter().position(|e| !phase(e.state).before_run());
                    let at = after.map_or(events.len(), |n| start_at + n);
                    events.insert(at, Event { reason: None, ..told(context.running, fact.start_ns) });
                }
            }
        }
        if let Some(state) = fact.state
            && phase(state).ends_attempt()
        {
            outcome.end_ns = fact.end_ns;
            match events[start_at..].iter_mut().rev().find(|e| e.state == state) {
                Some(end) => end.reported_ns = fact.end_ns.or(end.reported_ns),
                // Where polling saw another end (COMPLETED before the user put it back: REQUEUED) both happened.
                None => events.push(told(state, fact.end_ns)),
            }
        }
    }

    if let Some(gone) = seen.last().filter(|s| s.state.is_none()) {
        outcome.left_ns = Maybe::known(gone.observed_at_ns);
        if !events[start_at..].iter().any(|e| phase(e.state).ends_attempt()) {
            events.push(Event {
                time_ns: 0,
                not_before_ns: gone.not_before_ns,
                observed_at_ns: gone.observed_at_ns,
                reported_ns: Maybe::UNKNOWN,
                attempt,
                state: context.left,
                source: gone.source,
                reason: None,
                node_list: None,
                lifecycle: Lifecycle::Unknown,
            });
        }
    }

    let polled = |e: &Event| fact.is_none_or(|f| f.source != e.source);
    set_times(&mut events[start_at..], context.timestamp, polled);
    let mut tracker = LifecycleTracker::new(outcome.ran);
    for event in &mut events[start_at..] {
        event.lifecycle = tracker.enter(strings.get(event.state));
        let over = phase(event.state).ends_attempt();
        if over || event.state == context.left {
            outcome.ended_ns = Maybe::known(event.time_ns);
        }
        if over {
            outcome.final_state = Some(event.state);
        }
    }
    outcome
}

fn set_times(events: &mut [Event], timestamp: Timestamp, polled: impl Fn(&Event) -> bool) {
    for event in events.iter_mut() {
        let reported = event.reported_ns.get();
        event.time_ns = if !polled(event) {
            reported.unwrap_or(event.observed_at_ns)
        } else {
            // An interval that ends before it begins comes from a clock that was set back: then only its end is used.
            let not_before = event.not_before_ns.get().filter(|&t| t <= event.observed_at_ns);
            match timestamp {
                Timestamp::ObservedAt => event.observed_at_ns,
                Timestamp::NotBefore => not_before.unwrap_or(event.observed_at_ns),
                Timestamp::Reported => reported.map_or(event.observed_at_ns, |t| t.max(not_before.unwrap_or(t)).min(event.observed_at_ns)),
            }
        };
    }
    if timestamp == Timestamp::Reported {
        let mut next_exact = i64::MAX;
        for event in events.iter_mut().rev() {
            if event.reported_ns.is_known() {
                next_exact = next_exact.min(event.time_ns);
            } else if event.time_ns > next_exact && event.not_before_ns.get().is_some_and(|t| t <= next_exact) {
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

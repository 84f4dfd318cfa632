//! Makes a log out of events or of instances, case after case.
//!
//! **Events** ([`LogBuilder::event`]) keep the order in which they are given. They are paired to
//! instances by the standard lifecycle of XES (IEEE 1849-2016, Annex C): `schedule` and `assign`
//! make an instance ready, `start` starts it, `complete`, the aborts, `withdraw` and the skips end
//! it. Events with the same instance id (`concept:instance`) are one instance; an event without an
//! id belongs to the first open instance. A log with events without lifecycle gives an instance for
//! each event.
//!
//! **Instances** ([`LogBuilder::instance`]) bring their times with them and are put in order here.
//! At equal times ends come before starts, so that what ended at 10:00 precedes what started at
//! 10:00, and an instance that took no time stands between them.

use rustc_hash::FxHashMap;
use std::collections::VecDeque;

use crate::columns::{ActivityLog, Attribute, BytesFrom, Cases, Measure, NONE, Status, UNKNOWN};
use crate::names::Interner;

/// The log exceeds what 32 bits can count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("more than {} {what} in one log: take a part of it, by time or by case", u32::MAX - 1)]
pub struct TooLarge {
    /// Kind of items that there are too many of, in the plural.
    pub what: &'static str,
}

/// A step in the life of an activity instance (XES, lifecycle extension, standard model).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Transition {
    /// The log records no transition: the event is an instance of its own.
    #[default]
    Untold,
    /// `schedule`, `assign`: it is ready to run.
    Ready,
    /// `start`.
    Start,
    /// `complete`.
    Complete,
    /// `ate_abort`: it ended by a failure of its own.
    Failed,
    /// `pi_abort`, `withdraw`: it was ended from outside, perhaps before it started.
    Aborted,
    /// `autoskip`, `manualskip`: it did not run.
    Skipped,
    /// `suspend`, `resume`, `reassign` and what else happens between start and end.
    Inner,
    /// `unknown`: of an open instance it is the end when no other end is known; else an instance of
    /// its own.
    Unknown,
}

impl Transition {
    /// Reads a transition, in any case: `COMPLETE` occurs in published logs.
    pub fn parse(text: &str) -> Self {
        const KNOWN: [(&str, Transition); 14] = [
            ("complete", Transition::Complete),
            ("start", Transition::Start),
            ("schedule", Transition::Ready),
            ("assign", Transition::Ready),
            ("ate_abort", Transition::Failed),
            ("pi_abort", Transition::Aborted),
            ("withdraw", Transition::Aborted),
            ("autoskip", Transition::Skipped),
            ("manualskip", Transition::Skipped),
            ("suspend", Transition::Inner),
            ("resume", Transition::Inner),
            ("reassign", Transition::Inner),
            ("todo", Transition::Inner),
            ("unknown", Transition::Unknown),
        ];
        KNOWN.iter().find(|(name, _)| text.eq_ignore_ascii_case(name)).map_or(Self::Untold, |(_, transition)| *transition)
    }

    /// Whether it ends an instance.
    pub fn ends(self) -> bool {
        matches!(self, Self::Complete | Self::Failed | Self::Aborted | Self::Skipped)
    }

    /// Returns the outcome of an instance that ends with this transition.
    pub fn status(self) -> Status {
        match self {
            Self::Complete => Status::Completed,
            Self::Failed => Status::Failed,
            Self::Aborted => Status::Aborted,
            Self::Skipped => Status::Cached,
            _ => Status::Unknown,
        }
    }
}

/// An event to be added to a case.
#[derive(Debug, Clone, Copy, Default)]
pub struct EventRow<'a> {
    /// Its activity, by [`LogBuilder::activity`].
    pub activity: u32,
    /// UTC nanoseconds since 1970; [`UNKNOWN`] when it has none.
    pub time_ns: i64,
    /// Lifecycle transition of the instance.
    pub transition: Transition,
    /// The instance's id within the case, by [`LogBuilder::instance_id`].
    pub instance: Option<u32>,
    /// The resource, by [`LogBuilder::resource`]; the last one known of an instance counts.
    pub resource: Option<u32>,
    /// Attempt of the activity, from 1; 0 when the source does not record it.
    pub attempt: u32,
    /// Numbers; the last one known of an instance counts.
    pub measures: &'a [(Measure, i64)],
    /// Source of the byte counts among them.
    pub bytes_from: BytesFrom,
    /// Values of requested attributes: place in the list passed to [`LogBuilder::new`], and number
    /// of the value by [`LogBuilder::value`].
    pub attributes: &'a [(usize, u32)],
}

/// An instance to be added to a case.
#[derive(Debug, Clone, Copy)]
pub struct InstanceRow<'a> {
    /// Its activity, by [`LogBuilder::activity`].
    pub activity: u32,
    /// When it was ready, UTC nanoseconds since 1970, or [`UNKNOWN`].
    pub ready_ns: i64,
    /// When it started, UTC nanoseconds since 1970, or [`UNKNOWN`].
    pub start_ns: i64,
    /// When it ended, UTC nanoseconds since 1970, or [`UNKNOWN`].
    pub end_ns: i64,
    /// The resource, by [`LogBuilder::resource`].
    pub resource: Option<u32>,
    /// Outcome, if known.
    pub status: Status,
    /// Attempt of the activity, from 1; 0 when the source does not record it.
    pub attempt: u32,
    /// Its known measures; see [`Measure`] for their units.
    pub measures: &'a [(Measure, i64)],
    /// Source of the byte counts among them.
    pub bytes_from: BytesFrom,
    /// As [`EventRow::attributes`].
    pub attributes: &'a [(usize, u32)],
}

/// A column that is there only once a value other than the usual one has come.
#[derive(Debug)]
struct Optional<T>(Vec<T>, T);

impl<T: Copy + PartialEq> Optional<T> {
    fn set(&mut self, at: usize, value: T) {
        if value != self.1 {
            if self.0.len() <= at {
                self.0.resize(at + 1, self.1);
            }
            self.0[at] = value;
        }
    }

    fn finish(mut self, rows: usize) -> Vec<T> {
        if !self.0.is_empty() {
            self.0.resize(rows, self.1);
        }
        self.0
    }

    fn in_order(&mut self, first: usize, order: &[u32]) {
        if self.0.len() > first {
            self.0.resize(first + order.len(), self.1);
            let old = self.0[first..].to_vec();
            for (to, &from) in order.iter().enumerate() {
                self.0[first + to] = old[from as usize];
            }
        }
    }
}

/// Takes cases, one after the other.
#[derive(Debug)]
pub struct LogBuilder {
    activities: Interner,
    resources: Interner,
    ids: Interner,
    values: Vec<Interner>,
    keys: Vec<String>,
    log: ActivityLog,
    ready: Optional<u32>,
    resource: Optional<u32>,
    status: Optional<Status>,
    attempt: Optional<u32>,
    bytes_from: Optional<BytesFrom>,
    measures: Vec<(Measure, Optional<i64>)>,
    attributes: Vec<Optional<u32>>,
    cases: Cases,
    /// First instance and event of the case that is open.
    first: usize,
    first_event: usize,
    open: FxHashMap<(u32, Option<u32>), VecDeque<u32>>,
    /// Event that ends an open instance if no other end is known.
    perhaps_ended: FxHashMap<u32, u32>,
    moments: Vec<Moment>,
    starts: u64,
    lone_ends: u64,
    places: Vec<u32>,
}

/// A moment of an instance that brought its times.
#[derive(Debug, Clone, Copy)]
struct Moment {
    sort: (i64, u8, u32, u8),
    time_ns: i64,
}

const READY: u8 = 0;
/// Ready, and the first that is known of the time in which it ran.
const READY_FROM: u8 = 1;
const START: u8 = 2;
const END: u8 = 3;

impl LogBuilder {
    /// A builder for a log that keeps these attributes.
    pub fn new(keys: &[String]) -> Self {
        Self {
            activities: Interner::default(),
            resources: Interner::default(),
            ids: Interner::default(),
            values: keys.iter().map(|_| Interner::default()).collect(),
            keys: keys.to_vec(),
            log: ActivityLog::default(),
            ready: Optional(Vec::new(), NONE),
            resource: Optional(Vec::new(), NONE),
            status: Optional(Vec::new(), Status::Unknown),
            attempt: Optional(Vec::new(), 0),
            bytes_from: Optional(Vec::new(), BytesFrom::Nobody),
            measures: Vec::new(),
            attributes: keys.iter().map(|_| Optional(Vec::new(), NONE)).collect(),
            cases: Cases { offsets: vec![0], ..Cases::default() },
            first: 0,
            first_event: 0,
            open: FxHashMap::default(),
            perhaps_ended: FxHashMap::default(),
            moments: Vec::new(),
            starts: 0,
            lone_ends: 0,
            places: Vec::new(),
        }
    }

    /// The number of an activity.
    pub fn activity(&mut self, name: &str) -> u32 {
        self.activities.intern(name)
    }

    /// The name of an activity.
    pub fn activity_name(&self, activity: u32) -> &str {
        self.activities.names().get(activity)
    }

    /// The number of a resource.
    pub fn resource(&mut self, name: &str) -> u32 {
        self.resources.intern(name)
    }

    /// The number of an instance's id, which holds within the case that is open.
    pub fn instance_id(&mut self, id: &str) -> u32 {
        self.ids.intern(id)
    }

    /// The number of a value of the attribute at this place of the list given to
    /// [`LogBuilder::new`].
    pub fn value(&mut self, attribute: usize, value: &str) -> u32 {
        self.values.get_mut(attribute).map_or(NONE, |values| values.intern(value))
    }

    /// Returns the counts of omissions, to which the caller can add.
    pub fn left_out(&mut self) -> &mut crate::LeftOut {
        &mut self.log.left_out
    }

    /// Number of the next instance as it is added; [`LogBuilder::places`] has the final ones.
    pub fn next_instance(&self) -> u32 {
        self.log.instances.activity.len() as u32
    }

    /// The final numbers of the instances of the case that was ended last: `places()[i]` is that of
    /// the `i`th instance that was added.
    pub fn places(&self) -> &[u32] {
        &self.places
    }

    fn add_instance(&mut self, activity: u32, event: u32) -> u32 {
        let at = self.log.instances.activity.len() as u32;
        self.log.instances.activity.push(activity);
        self.log.instances.start.push(event);
        self.log.instances.end.push(event);
        at
    }

    fn set(&mut self, at: usize, measures: &[(Measure, i64)], bytes_from: BytesFrom, attributes: &[(usize, u32)]) {
        for &(measure, value) in measures {
            let value = if !measure.allows(value) && value != UNKNOWN {
                self.log.left_out.bad_numbers += 1;
                UNKNOWN
            } else {
                value
            };
            let column = match self.measures.iter_mut().position(|(of, _)| *of == measure) {
                Some(place) => &mut self.measures[place].1,
                None => {
                    self.measures.push((measure, Optional(Vec::new(), UNKNOWN)));
                    let last = self.measures.len() - 1;
                    &mut self.measures[last].1
                }
            };
            column.set(at, value);
        }
        self.bytes_from.set(at, bytes_from);
        for &(place, value) in attributes {
            if let Some(column) = self.attributes.get_mut(place) {
                column.set(at, value);
            }
        }
    }

    fn check(&self) -> Result<(), TooLarge> {
        // A row adds three events at most.
        if self.log.events.time_ns.len() + self.moments.len() >= NONE as usize - 4 { Err(TooLarge { what: "events" }) } else { Ok(()) }
    }

    /// Adds an event to the open case, after those before it.
    ///
    /// # Errors
    /// When there are too many.
    pub fn event(&mut self, row: &EventRow<'_>) -> Result<(), TooLarge> {
        self.check()?;
        let event = self.log.events.time_ns.len() as u32;
        self.log.events.time_ns.push(row.time_ns);
        self.log.left_out.events_without_time += u64::from(row.time_ns == UNKNOWN);
        let key = (row.activity, row.instance);
        let at = match row.transition {
            Transition::Untold => self.add_instance(row.activity, event),
            Transition::Ready => match self.waiting(key) {
                // Assigned after it was scheduled: it was ready before.
                Some(at) => at,
                None => {
                    let at = self.add_instance(row.activity, event);
                    self.ready.set(at as usize, event);
                    self.open.entry(key).or_default().push_back(at);
                    at
                }
            },
            Transition::Start => {
                self.starts += 1;
                match self.waiting(key) {
                    Some(at) => {
                        self.log.instances.start[at as usize] = event;
                        // Marks it as running until its end is known.
                        self.log.instances.end[at as usize] = NONE;
                        at
                    }
                    None => {
                        let at = self.add_instance(row.activity, event);
                        self.log.instances.end[at as usize] = NONE;
                        self.open.entry(key).or_default().push_back(at);
                        at
                    }
                }
            }
            Transition::Inner | Transition::Unknown => {
                let open = self.open.get(&key).and_then(|open| open.front()).copied();
                self.log.left_out.inner_events += u64::from(open.is_some() && row.transition == Transition::Inner);
                if let (Some(at), Transition::Unknown) = (open, row.transition) {
                    self.perhaps_ended.insert(at, event);
                }
                match open {
                    Some(at) => at,
                    None => self.add_instance(row.activity, event),
                }
            }
            Transition::Complete | Transition::Failed | Transition::Aborted | Transition::Skipped => {
                let at = match self.take_open(key) {
                    Some(at) => {
                        if self.log.instances.end[at as usize] == NONE {
                            self.log.instances.end[at as usize] = event;
                        } else if matches!(row.transition, Transition::Complete | Transition::Failed) {
                            // It ran, from some time on after it was ready: it stands from there.
                            self.log.instances.end[at as usize] = event;
                            self.log.left_out.start_unknown += 1;
                        } else {
                            self.log.instances.start[at as usize] = event;
                            self.log.instances.end[at as usize] = event;
                        }
                        at
                    }
                    None => {
                        self.lone_ends += u64::from(matches!(row.transition, Transition::Complete | Transition::Failed));
                        self.add_instance(row.activity, event)
                    }
                };
                self.status.set(at as usize, row.transition.status());
                at
            }
        };
        let at = at as usize;
        self.resource.set(at, row.resource.unwrap_or(NONE));
        self.attempt.set(at, row.attempt);
        self.set(at, row.measures, row.bytes_from, row.attributes);
        Ok(())
    }

    /// The first open instance of the key that has not started.
    fn waiting(&self, key: (u32, Option<u32>)) -> Option<u32> {
        self.open.get(&key)?.iter().copied().find(|&at| self.log.instances.end[at as usize] != NONE)
    }

    /// Takes the open instance that an end belongs to: the first that runs, else the first that
    /// waits.
    fn take_open(&mut self, key: (u32, Option<u32>)) -> Option<u32> {
        let ends = &self.log.instances.end;
        let open = self.open.get_mut(&key)?;
        let place = open.iter().position(|&at| ends[at as usize] == NONE).or_else(|| (!open.is_empty()).then_some(0))?;
        open.remove(place)
    }

    /// Adds an instance with its times to the open case. One without any time is counted and left
    /// out; then `false` is returned.
    ///
    /// # Errors
    /// When there are too many.
    pub fn instance(&mut self, row: &InstanceRow<'_>) -> Result<bool, TooLarge> {
        self.check()?;
        let (ready, start, end) = (row.ready_ns, row.start_ns, row.end_ns);
        if ready == UNKNOWN && start == UNKNOWN && end == UNKNOWN {
            self.log.left_out.without_moment += 1;
            return Ok(false);
        }
        let at = self.add_instance(row.activity, NONE);
        let number = at - self.first as u32;
        // It ran, from some time on after it was ready: it stands from there.
        let from_ready = start == UNKNOWN && ready != UNKNOWN && end != UNKNOWN && !matches!(row.status, Status::Aborted | Status::Cached);
        let instant = if from_ready { ready >= end } else { start == UNKNOWN || end == UNKNOWN || start >= end };
        self.log.left_out.start_unknown += u64::from(from_ready);
        let mut moment = |time_ns: i64, sort_ns: i64, class: u8, kind: u8| {
            self.moments.push(Moment { sort: (sort_ns, class, number, kind), time_ns });
        };
        if ready != UNKNOWN {
            // Ready before everything that starts at that time; what is ready after its start stays where it says.
            let first = if start != UNKNOWN && !from_ready { start } else { end };
            let with_it = first == ready && instant;
            moment(ready, ready, if with_it { 1 } else { 2 }, if from_ready { READY_FROM } else { READY });
        }
        if start != UNKNOWN {
            moment(start, start, if instant { 1 } else { 2 }, START);
        }
        if end != UNKNOWN {
            // An end before the start is shown as it is, but cannot come first.
            let sort_ns = if from_ready {
                end.max(ready)
            } else if start == UNKNOWN {
                end
            } else {
                end.max(start)
            };
            moment(end, sort_ns, if instant { 1 } else { 0 }, END);
        }
        let place = at as usize;
        self.resource.set(place, row.resource.unwrap_or(NONE));
        self.status.set(place, row.status);
        self.attempt.set(place, row.attempt);
        self.set(place, row.measures, row.bytes_from, row.attributes);
        self.log.left_out.without_end += u64::from(start != UNKNOWN && end == UNKNOWN);
        self.starts += u64::from(start != UNKNOWN);
        self.lone_ends += u64::from(start == UNKNOWN && end != UNKNOWN && !from_ready && row.status != Status::Cached);
        Ok(true)
    }

    fn put_moments(&mut self) {
        let mut moments = std::mem::take(&mut self.moments);
        moments.sort_unstable_by_key(|moment| moment.sort);
        for moment in &moments {
            let event = self.log.events.time_ns.len() as u32;
            self.log.events.time_ns.push(moment.time_ns);
            let at = self.first + moment.sort.2 as usize;
            let instances = &mut self.log.instances;
            match moment.sort.3 {
                READY => {
                    self.ready.set(at, event);
                    if instances.start[at] == NONE {
                        instances.end[at] = event;
                    }
                }
                READY_FROM => {
                    self.ready.set(at, event);
                    instances.start[at] = event;
                    instances.end[at] = event;
                }
                START => {
                    instances.start[at] = event;
                    instances.end[at] = event;
                }
                _ => {
                    if instances.start[at] == NONE {
                        instances.start[at] = event;
                    }
                    instances.end[at] = event;
                }
            }
        }
        for at in self.first..self.log.instances.activity.len() {
            // Only when it was ready is known.
            if self.log.instances.start[at] == NONE {
                self.log.instances.start[at] = self.log.instances.end[at];
            }
        }
        moments.clear();
        self.moments = moments;
    }

    /// Ends the open case, which gets this name, and begins the next.
    ///
    /// # Errors
    /// When there are too many.
    pub fn end_case(&mut self, name: &str) -> Result<(), TooLarge> {
        self.put_moments();
        let first = self.first;
        for at in first..self.log.instances.activity.len() {
            if self.log.instances.end[at] == NONE {
                self.log.instances.end[at] = match self.perhaps_ended.remove(&(at as u32)) {
                    Some(event) => event,
                    None => {
                        self.status.set(at, Status::Unfinished);
                        self.log.left_out.without_end += 1;
                        self.log.instances.start[at]
                    }
                };
            }
        }
        // Those that only waited.
        for (at, event) in self.perhaps_ended.drain() {
            let instances = &mut self.log.instances;
            if self.open.values().any(|open| open.contains(&at)) {
                // Nothing says whether it started: it stands from when it was ready.
                instances.end[at as usize] = event;
                self.log.left_out.start_unknown += 1;
            }
        }
        self.open.clear();
        self.ends_before_starts();
        if !self.ids.is_empty() {
            self.ids = Interner::default();
        }
        self.in_order_of_start();
        let rows = self.log.instances.activity.len();
        self.first = rows;
        self.first_event = self.log.events.time_ns.len();
        if self.cases.names.len() >= NONE as usize - 1 {
            return Err(TooLarge { what: "cases" });
        }
        self.cases.names.push(name);
        self.cases.offsets.push(rows as u32);
        Ok(())
    }

    /// Sorts events of the open case at the same time into the order of [`LogBuilder::instance`],
    /// so that the log is the same for both ways of adding to it.
    fn ends_before_starts(&mut self) {
        let instances = &mut self.log.instances;
        let first = self.first;
        let intervals = || (first..instances.activity.len()).filter(|&at| instances.start[at] != instances.end[at]);
        if intervals().next().is_none() {
            return;
        }
        let time = &self.log.events.time_ns;
        let first_event = self.first_event;
        let mut class = vec![1u8; time.len() - first_event];
        for at in intervals() {
            let (start, end) = (instances.start[at] as usize, instances.end[at] as usize);
            if start >= first_event && end >= first_event && time[start] != UNKNOWN && time[start] < time[end] {
                class[start - first_event] = 2;
                class[end - first_event] = 0;
            }
        }
        let mut order: Vec<u32> = (0..class.len() as u32).collect();
        let mut run = 0;
        while run < order.len() {
            let ns = time[first_event + run];
            let end = (run..order.len()).find(|&at| time[first_event + at] != ns).unwrap_or(order.len());
            if ns != UNKNOWN {
                order[run..end].sort_by_key(|&at| class[at as usize]);
            }
            run = end;
        }
        if order.is_sorted() {
            return;
        }
        // Times that are permuted are equal: only who points at them changes, and which record they were.
        let record = &mut self.log.events.record;
        record.extend(record.len() as u32..time.len() as u32);
        let old = record[first_event..].to_vec();
        for (to, &from) in order.iter().enumerate() {
            record[first_event + to] = old[from as usize];
        }
        let mut place = vec![0u32; order.len()];
        for (to, &from) in order.iter().enumerate() {
            place[from as usize] = (first_event + to) as u32;
        }
        let moved = |event: &mut u32| {
            if *event != NONE && *event as usize >= first_event {
                *event = place[*event as usize - first_event];
            }
        };
        instances.start[first..].iter_mut().for_each(moved);
        instances.end[first..].iter_mut().for_each(moved);
        if let Some(ready) = self.ready.0.get_mut(first..) {
            ready.iter_mut().for_each(moved);
        }
    }

    fn in_order_of_start(&mut self) {
        let first = self.first;
        let instances = &mut self.log.instances;
        let starts = &instances.start[first..];
        self.places.clear();
        self.places.extend(first as u32..(first + starts.len()) as u32);
        if starts.is_sorted() {
            return;
        }
        let mut order: Vec<u32> = (0..starts.len() as u32).collect();
        order.sort_unstable_by_key(|&at| (starts[at as usize], at));
        for (to, &from) in order.iter().enumerate() {
            self.places[from as usize] = (first + to) as u32;
        }
        for column in [&mut instances.activity, &mut instances.start, &mut instances.end] {
            let old = column[first..].to_vec();
            for (to, &from) in order.iter().enumerate() {
                column[first + to] = old[from as usize];
            }
        }
        self.ready.in_order(first, &order);
        self.resource.in_order(first, &order);
        self.status.in_order(first, &order);
        self.attempt.in_order(first, &order);
        self.bytes_from.in_order(first, &order);
        self.measures.iter_mut().for_each(|(_, column)| column.in_order(first, &order));
        self.attributes.iter_mut().for_each(|column| column.in_order(first, &order));
    }

    /// Says which record of the source each event was that was added: a number for each, in the
    /// order of adding. Not needed where that is the order of the source.
    pub fn records(&mut self, added: &[u32]) {
        if added.iter().enumerate().all(|(at, &number)| at as u32 == number) {
            return;
        }
        let record = &mut self.log.events.record;
        record.extend(record.len() as u32..self.log.events.time_ns.len() as u32);
        for number in record.iter_mut() {
            *number = added.get(*number as usize).copied().unwrap_or(*number);
        }
    }

    /// The log of all cases that were ended.
    pub fn finish(mut self) -> ActivityLog {
        let rows = self.log.instances.activity.len();
        let mut log = self.log;
        log.activities = self.activities.into_names();
        log.resources = self.resources.into_names();
        log.instances.ready = self.ready.finish(rows);
        log.instances.resource = self.resource.finish(rows);
        log.instances.status = self.status.finish(rows);
        log.instances.attempt = self.attempt.finish(rows);
        log.instances.bytes_from = self.bytes_from.finish(rows);
        self.measures.sort_by_key(|(measure, _)| *measure);
        log.instances.measures = self.measures.into_iter().map(|(measure, column)| (measure, column.finish(rows))).collect();
        log.instances.measures.retain(|(_, column)| !column.is_empty());
        let columns = self.keys.into_iter().zip(self.values).zip(self.attributes);
        log.attributes = columns
            .map(|((key, values), of)| {
                let mut of = of.finish(rows);
                of.resize(rows, NONE);
                Attribute { key, names: values.into_names(), of }
            })
            .collect();
        if self.starts > 0 {
            log.left_out.without_start += self.lone_ends;
        }
        if !log.events.record.is_empty() {
            let known = log.events.record.len() as u32;
            log.events.record.extend(known..log.events.time_ns.len() as u32);
        }
        log.groups = vec![self.cases];
        log.count_contradictions();
        log
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paired(rows: &[(&str, i64, &str)]) -> ActivityLog {
        let mut builder = LogBuilder::new(&[]);
        for &(activity, time_ns, transition) in rows {
            let activity = builder.activity(activity);
            let row = EventRow { activity, time_ns, transition: Transition::parse(transition), ..EventRow::default() };
            builder.event(&row).expect("few events");
        }
        builder.end_case("c").expect("one case");
        builder.finish()
    }

    fn spans(log: &ActivityLog) -> Vec<(&str, Option<i64>, Option<i64>)> {
        (0..log.len() as u32).map(|at| (log.activity(at), log.start_ns(at), log.end_ns(at))).collect()
    }

    #[test]
    fn starts_and_ends_are_paired_in_their_order() {
        let log = paired(&[("a", 1, "start"), ("b", 2, "START"), ("a", 3, "complete"), ("b", 4, "Complete"), ("c", 5, "")]);
        assert_eq!(spans(&log), [("a", Some(1), Some(3)), ("b", Some(2), Some(4)), ("c", Some(5), Some(5))]);
        assert_eq!(log.left_out, crate::LeftOut::default());
    }

    #[test]
    fn what_has_no_partner_is_a_moment_and_counted() {
        let log = paired(&[("a", 1, "start"), ("b", 2, "complete"), ("c", 3, "start"), ("c", 4, "complete")]);
        assert_eq!(spans(&log), [("a", Some(1), Some(1)), ("b", Some(2), Some(2)), ("c", Some(3), Some(4))]);
        assert_eq!((log.left_out.without_end, log.left_out.without_start), (1, 1));
        // A log of ends only lacks nothing.
        assert_eq!(paired(&[("a", 1, "complete"), ("b", 2, "complete")]).left_out, crate::LeftOut::default());
    }

    #[test]
    fn readiness_and_inner_events_belong_to_their_instance() {
        let log = paired(&[
            ("a", 1, "schedule"),
            ("a", 2, "assign"),
            ("a", 3, "start"),
            ("a", 4, "suspend"),
            ("a", 5, "resume"),
            ("a", 6, "ate_abort"),
        ]);
        assert_eq!(spans(&log), [("a", Some(3), Some(6))]);
        assert_eq!((log.ready_ns(0), log.queue_ns(0), log.service_ns(0), log.status(0)), (Some(1), Some(2), Some(3), Status::Failed));
        assert_eq!(log.left_out.inner_events, 2);
    }

    #[test]
    fn an_unknown_transition_is_the_end_if_no_other_is_told() {
        let log = paired(&[("a", 1, "schedule"), ("a", 2, "start"), ("a", 3, "unknown"), ("a", 4, "complete"), ("a", 5, "unknown")]);
        assert_eq!(spans(&log), [("a", Some(2), Some(4)), ("a", Some(5), Some(5))]);
        let log = paired(&[("a", 1, "schedule"), ("a", 2, "start"), ("a", 3, "unknown"), ("b", 4, "schedule"), ("b", 6, "unknown")]);
        assert_eq!(spans(&log), [("a", Some(2), Some(3)), ("b", Some(4), Some(6))]);
        assert_eq!((log.ready_ns(1), log.queue_ns(1), log.left_out.without_end, log.left_out.start_unknown), (Some(4), None, 0, 1));
    }

    #[test]
    fn at_equal_times_events_are_ordered_as_instances_are() {
        let log = paired(&[("b", 2, "schedule"), ("a", 1, "start"), ("b", 2, "start"), ("a", 2, "complete"), ("b", 3, "complete")]);
        let (a, b) = (0, 1);
        assert_eq!(spans(&log), [("a", Some(1), Some(2)), ("b", Some(2), Some(3))]);
        assert!(log.instances.end[a] < log.instances.start[b], "{:?}", log.instances);
    }

    #[test]
    fn an_end_without_start_stands_from_when_it_was_ready() {
        let log = paired(&[("a", 1, "schedule"), ("b", 2, "schedule"), ("a", 3, "complete"), ("b", 4, "withdraw")]);
        assert_eq!(spans(&log), [("a", Some(1), Some(3)), ("b", Some(4), Some(4))]);
        assert_eq!((log.service_ns(0), log.queue_ns(0), log.queue_ns(1), log.left_out.start_unknown), (None, None, None, 1));
    }

    #[test]
    fn an_event_without_time_keeps_its_place() {
        let log = paired(&[("a", 1, "complete"), ("b", UNKNOWN, "complete"), ("c", 3, "complete")]);
        assert_eq!(spans(&log), [("a", Some(1), Some(1)), ("b", None, None), ("c", Some(3), Some(3))]);
        assert_eq!(log.left_out.events_without_time, 1);
    }

    fn instance(activity: u32, ready_ns: i64, start_ns: i64, end_ns: i64) -> InstanceRow<'static> {
        InstanceRow {
            activity,
            ready_ns,
            start_ns,
            end_ns,
            resource: None,
            status: Status::Unknown,
            attempt: 0,
            measures: &[],
            bytes_from: BytesFrom::Nobody,
            attributes: &[],
        }
    }

    #[test]
    fn at_equal_times_ends_come_first_and_moments_between() {
        let mut builder = LogBuilder::new(&[]);
        let names = ["late", "moment", "early"];
        let [late, moment, early] = names.map(|name| builder.activity(name));
        for row in [instance(late, 0, 10, 20), instance(moment, 10, 10, 10), instance(early, UNKNOWN, 5, 10)] {
            assert!(builder.instance(&row).expect("few"));
        }
        assert!(!builder.instance(&instance(late, UNKNOWN, UNKNOWN, UNKNOWN)).expect("few"));
        builder.end_case("c").expect("one");
        assert_eq!(builder.places(), [2, 1, 0]);
        let log = builder.finish();
        assert_eq!(spans(&log), [("early", Some(5), Some(10)), ("moment", Some(10), Some(10)), ("late", Some(10), Some(20))]);
        let order: Vec<(u32, u32)> = log.instances.start.iter().copied().zip(log.instances.end.iter().copied()).collect();
        assert!(order[0].1 < order[1].0 && order[1].1 < order[2].0, "{order:?}");
        assert_eq!((log.queue_ns(2), log.queue_ns(1), log.left_out.without_moment), (Some(10), Some(0), 1));
        // A moment that brought start and end is an instance that took no time, not one of which only a moment is known.
        assert_eq!(log.service_ns(1), Some(0));
    }

    #[test]
    fn half_known_instances() {
        let mut builder = LogBuilder::new(&[]);
        let a = builder.activity("a");
        for row in [
            instance(a, 1, UNKNOWN, UNKNOWN),
            instance(a, UNKNOWN, 2, UNKNOWN),
            instance(a, UNKNOWN, UNKNOWN, 3),
            instance(a, 4, UNKNOWN, 5),
        ] {
            builder.instance(&row).expect("few");
        }
        builder.end_case("c").expect("one");
        let log = builder.finish();
        let moments: Vec<Option<i64>> = (0..4).map(|at| log.start_ns(at)).collect();
        assert_eq!(moments, [Some(1), Some(2), Some(3), Some(4)]);
        assert!((0..3).all(|at| log.is_moment(at)));
        // From when it was ready to its end: how long it ran and queued is not known.
        assert_eq!((log.ready_ns(3), log.end_ns(3), log.queue_ns(3), log.service_ns(3)), (Some(4), Some(5), None, None));
        assert!(!log.start_is_known(3) && log.start_is_known(0));
        assert_eq!((log.queue_ns(0), log.left_out.start_unknown), (None, 1));
    }
}

//! An activity log in columns: its events, activity instances and cases.

use flowmine_schema::losses::LostOperations;

use crate::elapsed::elapsed_ns;
use crate::names::Names;

/// A time or measure that is not known.
pub const UNKNOWN: i64 = i64::MIN;

/// In place of the number of an event or a name, where there is none.
pub const NONE: u32 = u32::MAX;

/// An event log in memory, a column for each value of its events and instances.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ActivityLog {
    /// Names of activities. A name can stand there that no instance has.
    pub activities: Names,
    /// Names of resources: machines for tasks and jobs, people or systems in logs of others.
    pub resources: Names,
    /// The moments of the log, those of a case together where there are cases.
    pub events: Events,
    /// The executions of activities, in the order of their first events.
    pub instances: Instances,
    /// The cases; of an object-centric log a grouping for each type of objects.
    pub groups: Vec<Cases>,
    /// Requested attributes of instances, by which a [`Filter`](crate::Filter) can select.
    pub attributes: Vec<Attribute>,
    /// Bytes that instances gave to others.
    pub flows: Option<Flows>,
    /// Numbers of records that are missing or incomplete in the log.
    pub left_out: LeftOut,
    /// Descriptions of instances and cases, and of the filters that were applied.
    pub words: Words,
}

/// The moments of a log, a column for each of their values.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Events {
    /// UTC nanoseconds since 1970, or [`UNKNOWN`].
    pub time_ns: Vec<i64>,
    /// Number of the event among those of its source, from 0; empty when that is the place in this
    /// column.
    pub record: Vec<u32>,
}

/// Activity instances, a column each; optional columns are empty when the log does not have them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Instances {
    /// Activity: a number in [`ActivityLog::activities`].
    pub activity: Vec<u32>,
    /// The event at which it was submitted or scheduled, or [`NONE`]: it was ready to run from then
    /// on, or later by [`Measure::BeforeReadyNs`]. Optional.
    pub ready: Vec<u32>,
    /// The event at which it started. Equal to `end` where only one moment is known, and to `ready`
    /// where only its end and when it was ready are.
    pub start: Vec<u32>,
    /// The event at which it ended.
    pub end: Vec<u32>,
    /// Resource: a number in [`ActivityLog::resources`], or [`NONE`]. Optional.
    pub resource: Vec<u32>,
    /// Outcome. Optional.
    pub status: Vec<Status>,
    /// Attempt of the activity, from 1; 0 when unknown. Optional.
    pub attempt: Vec<u32>,
    /// Source of the byte counts. Optional.
    pub bytes_from: Vec<BytesFrom>,
    /// Other numbers, in the order of [`Measure`]; [`UNKNOWN`] where not known.
    pub measures: Vec<(Measure, Vec<i64>)>,
}

/// Outcome of an activity instance.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// The log does not record the outcome.
    #[default]
    Unknown,
    /// It ended without a failure.
    Completed,
    /// It ended by a failure of its own.
    Failed,
    /// It was cancelled, or never ran.
    Aborted,
    /// It did not run: an earlier result was used.
    Cached,
    /// It had not ended when the log did.
    Unfinished,
}

/// Source of the byte counts of an instance. Numbers from different sources are never added without
/// a note.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BytesFrom {
    /// No bytes are known.
    #[default]
    Nobody,
    /// flowmine's own trace: what calls returned (`task_totals`).
    Trace,
    /// The workflow engine: `rchar` and `wchar` of proc(5), or what the engine counts instead.
    Engine,
    /// Slurm's accounting: `TRESUsageInTot` and `TRESUsageOutTot` of sacct(1).
    Accounting,
    /// The log file itself.
    Log,
}

/// A numeric value that an instance can have; see each for its unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Measure {
    /// Bytes read.
    ReadBytes,
    /// Bytes written.
    WrittenBytes,
    /// Bytes of files that were read at least once; what `ReadBytes` has more was read again.
    UniqueReadBytes,
    /// Number of calls that read.
    ReadCalls,
    /// Number of calls that wrote.
    WriteCalls,
    /// Time spent in reads and writes, summed over all threads, in nanoseconds.
    IoTimeNs,
    /// CPU time, user and system, in nanoseconds.
    CpuTimeNs,
    /// Running time as an engine measured it, in nanoseconds.
    RunTimeNs,
    /// Number of CPUs requested or allocated.
    Cpus,
    /// Number of GPUs requested or allocated.
    Gpus,
    /// Mean utilisation of GPUs in percent, summed over them.
    GpuPercent,
    /// Memory of the whole instance, requested or allocated, in bytes.
    MemoryBytes,
    /// Largest resident memory, in bytes.
    PeakMemoryBytes,
    /// Time limit, in nanoseconds.
    TimeLimitNs,
    /// Time between the `ready` event and readiness, in nanoseconds: it had been submitted, and
    /// what it wished for itself (predecessors, a begin time, a hold) was still to come. Below
    /// zero where that is not known; then neither is how long it queued.
    BeforeReadyNs,
}

impl Measure {
    /// Whether a number can be a value of the measure.
    pub fn allows(self, value: i64) -> bool {
        value >= 0 || self == Measure::BeforeReadyNs
    }
}

/// A grouping of instances into cases, with their order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cases {
    /// Kind of the cases: the case notion, or the type of objects. Empty for the traces of a file.
    pub kind: String,
    /// The name of each case, in the order of the cases.
    pub names: Names,
    /// Offset of the first member of each case, then the end of the last case: one entry more than
    /// there are cases.
    pub offsets: Vec<u32>,
    /// Instances, by first event; `None` when they are all instances in their order.
    pub members: Option<Vec<u32>>,
}

/// The instances of a case, as an iterator over their numbers.
#[derive(Debug, Clone)]
pub enum Members<'a> {
    /// Consecutive numbers of instances.
    Range(std::ops::Range<u32>),
    /// Numbers of instances, one by one.
    List(std::iter::Copied<std::slice::Iter<'a, u32>>),
}

impl Iterator for Members<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        match self {
            Members::Range(range) => range.next(),
            Members::List(list) => list.next(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match self {
            Members::Range(range) => range.size_hint(),
            Members::List(list) => list.size_hint(),
        }
    }
}

impl ExactSizeIterator for Members<'_> {}

impl Cases {
    /// Returns the number of cases, including those without instances.
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Whether there is no case.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The instances of a case, by first event.
    pub fn of(&self, case: usize) -> Members<'_> {
        let (start, end) = (self.offsets[case], self.offsets[case + 1]);
        match &self.members {
            None => Members::Range(start..end),
            Some(members) => Members::List(members[start as usize..end as usize].iter().copied()),
        }
    }

    /// The case of each instance, or [`NONE`]; of several the last.
    pub fn of_instances(&self, instances: usize) -> Vec<u32> {
        let mut of = vec![NONE; instances];
        for case in 0..self.len() {
            for instance in self.of(case) {
                of[instance as usize] = case as u32;
            }
        }
        of
    }
}

/// An attribute of instances, with its value for each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Attribute {
    /// Its name in the source.
    pub key: String,
    /// Its values; `of` contains their numbers.
    pub names: Names,
    /// Number of the value of each instance, or [`NONE`].
    pub of: Vec<u32>,
}

impl Attribute {
    /// The value of an instance.
    pub fn value(&self, instance: u32) -> Option<&str> {
        let number = self.of.get(instance as usize).copied().filter(|number| *number != NONE)?;
        Some(self.names.get(number))
    }
}

/// Bytes that instances gave to others through files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Flows {
    /// From writer to reader, sorted, each pair once.
    pub between: Vec<Flow>,
    /// Bytes read that existed before the trace or that no instance of the log wrote, by instance,
    /// sorted.
    pub from_outside: Vec<(u32, i128)>,
    /// Bytes read in the dataset by processes outside the log.
    pub read_by_others: i128,
    /// Bytes that instances read and had written themselves.
    pub read_back: i128,
    /// Whether the bytes were traced (`data_flow`) or are sizes of declared files.
    pub declared: bool,
}

/// Bytes from one instance to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Flow {
    /// The instance that wrote: its number in the log.
    pub from: u32,
    /// The instance that read: its number in the log.
    pub to: u32,
    /// Bytes that `from` wrote and `to` read.
    pub bytes: i64,
}

/// Numbers of records that are missing or incomplete in a log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Events of which no time is known. They are in the log, in their place.
    pub events_without_time: u64,
    /// Instances that started and of which no end is known, in a log that has ends.
    pub without_end: u64,
    /// Instances that ended and of which no start is known, in a log that has starts.
    pub without_start: u64,
    /// Events that begin or end nothing (suspended, resumed, reassigned, …) and belong to no
    /// instance of their own.
    pub inner_events: u64,
    /// Events without a name of an activity; theirs is a placeholder.
    pub unnamed: u64,
    /// Records without a case, or related to no object.
    pub without_case: u64,
    /// Numbers above 2⁶³ or below zero where there can be none; they count as not known.
    pub bad_numbers: u64,
    /// Tasks for which the source records no time at all; the log cannot contain them.
    pub without_moment: u64,
    /// Cached tasks without a time: they did not run.
    pub cached: u64,
    /// Instances with a known end and no known start; they begin when they were ready, and their
    /// service time is unknown.
    pub start_unknown: u64,
    /// Instances without a recorded start; theirs is the traced start of their first process.
    pub start_traced: u64,
    /// Instances that end before they start; their end counts as not known.
    pub ends_before_start: u64,
    /// Instances that start before they were ready; when they were ready counts as not known.
    pub starts_before_ready: u64,
    /// Instances for which the source records an earlier moment (submission, start) after a later
    /// one (start, end): both get the time of the later one.
    pub clamped: u64,
    /// Cases of which a time frame has only a part.
    pub cut_cases: u64,
    /// Instances of these cases outside of the time frame.
    pub cut_instances: u64,
    /// Bytes read in the dataset that belong to no instance of the log.
    pub read_bytes_of_others: u64,
    /// Bytes written in the dataset that belong to no instance of the log.
    pub written_bytes_of_others: u64,
    /// Operations that the traces of the dataset do not have.
    pub lost: LostOperations,
}

impl LeftOut {
    /// Adds the counts of another log.
    pub(crate) fn add(&mut self, other: &Self) {
        let Self {
            events_without_time,
            without_end,
            without_start,
            inner_events,
            unnamed,
            without_case,
            bad_numbers,
            without_moment,
            cached,
            start_unknown,
            start_traced,
            ends_before_start,
            starts_before_ready,
            clamped,
            cut_cases,
            cut_instances,
            read_bytes_of_others,
            written_bytes_of_others,
            lost,
        } = other;
        for (sum, more) in [
            (&mut self.events_without_time, events_without_time),
            (&mut self.without_end, without_end),
            (&mut self.without_start, without_start),
            (&mut self.inner_events, inner_events),
            (&mut self.unnamed, unnamed),
            (&mut self.without_case, without_case),
            (&mut self.bad_numbers, bad_numbers),
            (&mut self.without_moment, without_moment),
            (&mut self.cached, cached),
            (&mut self.start_unknown, start_unknown),
            (&mut self.start_traced, start_traced),
            (&mut self.ends_before_start, ends_before_start),
            (&mut self.starts_before_ready, starts_before_ready),
            (&mut self.clamped, clamped),
            (&mut self.cut_cases, cut_cases),
            (&mut self.cut_instances, cut_instances),
            (&mut self.read_bytes_of_others, read_bytes_of_others),
            (&mut self.written_bytes_of_others, written_bytes_of_others),
        ] {
            flowmine_sums::add_to(sum, *more);
        }
        self.lost.merge(lost);
    }

    /// Returns a sentence about instances that a time frame cut off cases, if it did.
    pub fn cut_sentence(&self) -> Option<String> {
        let instances = match self.cut_instances {
            1 => "1 instance lies outside and is left out".to_owned(),
            n => format!("{n} instances lie outside and are left out"),
        };
        match self.cut_cases {
            0 => None,
            1 => Some(format!("the time frame cuts 1 case, of which {instances}")),
            n => Some(format!("the time frame cuts {n} cases, of which {instances}")),
        }
    }

    /// Each count that is not zero, in a sentence.
    pub fn sentences(&self) -> Vec<String> {
        let words = |count: u64, one: &str, many: &str| match count {
            0 => None,
            1 => Some(format!("1 {one}")),
            n => Some(format!("{n} {many}")),
        };
        [
            words(self.events_without_time, "event without a time keeps its place", "events without a time keep their places"),
            words(self.without_end, "instance has a start and no end", "instances have a start and no end"),
            words(self.without_start, "instance has an end and no start", "instances have an end and no start"),
            words(
                self.inner_events,
                "event between start and end of an instance (suspend, resume, …) forms no instance",
                "events between start and end of instances (suspend, resume, …) form no instances",
            ),
            words(self.unnamed, "event has no activity", "events have no activity"),
            words(self.without_case, "record belongs to no case and is left out", "records belong to no case and are left out"),
            words(self.bad_numbers, "number is out of range and counts as unknown", "numbers are out of range and count as unknown"),
            words(
                self.start_unknown,
                "instance has no known start and is shown from the time at which it was ready",
                "instances have no known start and are shown from the time at which they were ready",
            ),
            words(
                self.start_traced,
                "start is that of the first traced process, because the engine records none",
                "starts are those of the first traced process, because the engine records none",
            ),
            words(
                self.ends_before_start,
                "instance ends before it starts, and its end counts as unknown",
                "instances end before they start, and their ends count as unknown",
            ),
            words(
                self.starts_before_ready,
                "instance starts before it is ready, and when it was ready counts as unknown",
                "instances start before they are ready, and when they were ready counts as unknown",
            ),
            words(
                self.clamped,
                "instance is reported to be submitted or to start after it ended or started, and counts from that moment",
                "instances are reported to be submitted or to start after they ended or started, and count from that moment",
            ),
            words(self.without_moment, "task has no known time and is left out", "tasks have no known time and are left out"),
            words(
                self.cached,
                "cached task did not run and is left out: its result is of an earlier run",
                "cached tasks did not run and are left out: their results are of an earlier run",
            ),
        ]
        .into_iter()
        .chain([
            self.cut_sentence(),
            (self.read_bytes_of_others > 0).then(|| format!("{} bytes read belong to nothing in the log", self.read_bytes_of_others)),
            (self.written_bytes_of_others > 0)
                .then(|| format!("{} bytes written belong to nothing in the log", self.written_bytes_of_others)),
            self.lost.sentence(),
        ])
        .flatten()
        .collect()
    }

    /// Whether records are lost, which the exit code must report.
    pub fn is_loss(&self) -> bool {
        self.events_without_time + self.bad_numbers > 0
    }
}

/// Description of a log for people.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Words {
    /// Noun for an instance: `task`, `job`, `event`.
    pub instance: String,
    /// Description of a case; empty when the log contains none.
    pub notion: String,
    /// Description of the activity, if it is not the usual one.
    pub activity: String,
    /// Filters that were applied, in words.
    pub filters: Vec<String>,
    /// Word for the moment at which an instance is ready: `submitted`, `eligible`, `scheduled`.
    pub ready: String,
}

impl ActivityLog {
    /// Number of bytes that its columns take in memory.
    pub fn size_bytes(&self) -> usize {
        let Instances { activity, ready, start, end, resource, status, attempt, bytes_from, measures } = &self.instances;
        let numbers = [activity, ready, start, end, resource, attempt, &self.events.record];
        let names = self.activities.size_bytes() + self.resources.size_bytes();
        let cases = |of: &Cases| of.names.size_bytes() + size_of_val(&of.offsets[..]) + of.members.as_deref().map_or(0, size_of_val);
        let flows = self.flows.as_ref().map_or(0, |flows| size_of_val(&flows.between[..]) + size_of_val(&flows.from_outside[..]));
        numbers.iter().map(|column| size_of_val(&column[..])).sum::<usize>()
            + size_of_val(&status[..])
            + size_of_val(&bytes_from[..])
            + size_of_val(&self.events.time_ns[..])
            + measures.iter().map(|(_, values)| size_of_val(&values[..])).sum::<usize>()
            + self.groups.iter().map(cases).sum::<usize>()
            + self.attributes.iter().map(|of| of.names.size_bytes() + size_of_val(&of.of[..])).sum::<usize>()
            + names
            + flows
    }

    /// Number of instances.
    pub fn len(&self) -> usize {
        self.instances.activity.len()
    }

    /// Whether there is no instance.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The time of an event; `None` for no event or an unknown time.
    pub fn time_ns(&self, event: u32) -> Option<i64> {
        self.events.time_ns.get(event as usize).copied().filter(|&ns| ns != UNKNOWN)
    }

    /// When an instance started, or its only moment; where its start is not known
    /// ([`ActivityLog::start_is_known`]), when it was ready.
    pub fn start_ns(&self, instance: u32) -> Option<i64> {
        self.time_ns(self.instances.start[instance as usize])
    }

    /// When an instance ended, or its only moment, UTC nanoseconds since 1970. An end before the
    /// first moment of its instance is not known ([`LeftOut::ends_before_start`]).
    pub fn end_ns(&self, instance: u32) -> Option<i64> {
        let end = self.time_ns(self.instances.end[instance as usize])?;
        Some(end).filter(|&end| self.is_moment(instance) || self.start_ns(instance).is_none_or(|start| start <= end))
    }

    /// When an instance was submitted or scheduled, UTC nanoseconds since 1970. What is so only
    /// after its start was so at a time that is not known ([`LeftOut::starts_before_ready`]).
    pub fn submitted_ns(&self, instance: u32) -> Option<i64> {
        let submitted = self.instances.ready.get(instance as usize).and_then(|&event| self.time_ns(event))?;
        Some(submitted).filter(|&submitted| self.start_ns(instance).is_none_or(|start| submitted <= start))
    }

    /// When an instance was ready to run, UTC nanoseconds since 1970: submitted, and all that it
    /// wished for itself had come ([`Measure::BeforeReadyNs`]). From then on it queued.
    pub fn ready_ns(&self, instance: u32) -> Option<i64> {
        let submitted = self.submitted_ns(instance)?;
        match self.measure(Measure::BeforeReadyNs, instance) {
            None => Some(submitted),
            Some(before) if before < 0 => None,
            Some(before) => {
                let ready = submitted.saturating_add(before);
                Some(self.start_ns(instance).map_or(ready, |start| ready.min(start)))
            }
        }
    }

    /// Whether an instance ends before it starts.
    pub fn ends_before_start(&self, instance: u32) -> bool {
        self.end_ns(instance).is_none() && self.time_ns(self.instances.end[instance as usize]).is_some()
    }

    /// Whether an instance starts before it is ready.
    pub fn starts_before_ready(&self, instance: u32) -> bool {
        let ready = self.instances.ready.get(instance as usize).and_then(|&event| self.time_ns(event));
        ready.is_some() && self.submitted_ns(instance).is_none()
    }

    /// Counts times that contradict each other, and lengths of time that 64 bits cannot count. For
    /// whoever made the log, once all instances are there.
    pub fn count_contradictions(&mut self) {
        let mut counts = [0; 3];
        for at in 0..self.len() as u32 {
            // Of a moment nothing can contradict itself.
            if self.is_moment(at) && self.instances.ready.is_empty() {
                continue;
            }
            counts[0] += u64::from(self.ends_before_start(at));
            counts[1] += u64::from(self.starts_before_ready(at));
            let too_long = |from: Option<i64>, to: Option<i64>| from.zip(to).is_some_and(|(from, to)| elapsed_ns(from, to).is_none());
            let (start, end) = (self.start_ns(at), self.end_ns(at));
            counts[2] += u64::from(too_long(start, end)) + u64::from(too_long(self.submitted_ns(at), start));
        }
        self.left_out.ends_before_start += counts[0];
        self.left_out.starts_before_ready += counts[1];
        self.left_out.bad_numbers += counts[2];
    }

    /// Whether only one moment of the instance is known.
    pub fn is_moment(&self, instance: u32) -> bool {
        self.instances.start[instance as usize] == self.instances.end[instance as usize]
    }

    /// Whether the first moment of an instance is its start, and not when it was ready.
    pub fn start_is_known(&self, instance: u32) -> bool {
        self.is_moment(instance) || self.instances.ready.get(instance as usize) != self.instances.start.get(instance as usize)
    }

    /// The running time: what the engine measured, otherwise from start to end, never below zero;
    /// `None` where only one moment or no time is known.
    pub fn service_ns(&self, instance: u32) -> Option<i64> {
        if self.is_moment(instance) {
            return None;
        }
        if let Some(measured) = self.measure(Measure::RunTimeNs, instance) {
            return Some(measured);
        }
        if !self.start_is_known(instance) {
            return None;
        }
        elapsed_ns(self.start_ns(instance)?, self.end_ns(instance)?)
    }

    /// From when it was ready to when it started, never below zero; `None` where one of them is not
    /// known. What never started has not queued for a start.
    pub fn queue_ns(&self, instance: u32) -> Option<i64> {
        let ready = self.ready_ns(instance)?;
        // Of a moment only one that is no end is a start.
        let is_end = self.is_moment(instance) && !matches!(self.status(instance), Status::Unfinished | Status::Unknown);
        let is_ready = self.instances.ready[instance as usize] == self.instances.start[instance as usize];
        if is_end || is_ready {
            return None;
        }
        elapsed_ns(ready, self.start_ns(instance)?)
    }

    /// A column of measures, if the log has it.
    pub fn measures(&self, measure: Measure) -> Option<&[i64]> {
        self.instances.measures.iter().find(|(of, _)| *of == measure).map(|(_, column)| &column[..])
    }

    /// A measure of an instance.
    pub fn measure(&self, measure: Measure, instance: u32) -> Option<i64> {
        self.measures(measure).and_then(|column| column.get(instance as usize)).copied().filter(|&value| value != UNKNOWN)
    }

    /// Returns the outcome of an instance.
    pub fn status(&self, instance: u32) -> Status {
        self.instances.status.get(instance as usize).copied().unwrap_or_default()
    }

    /// The number of its attempt, from 1.
    pub fn attempt(&self, instance: u32) -> Option<u32> {
        self.instances.attempt.get(instance as usize).copied().filter(|&attempt| attempt > 0)
    }

    /// An attribute, if it was kept.
    pub fn attribute(&self, key: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|attribute| attribute.key == key)
    }

    /// The name of an instance's activity.
    pub fn activity(&self, instance: u32) -> &str {
        self.activities.get(self.instances.activity[instance as usize])
    }

    /// Whether some instance has a start and an end that are different events.
    pub fn has_intervals(&self) -> bool {
        self.instances.start.iter().zip(&self.instances.end).any(|(start, end)| start != end)
    }

    /// Whether each instance is one event, that of its own number: a log of moments, in which
    /// nothing overlaps.
    pub fn is_of_moments(&self) -> bool {
        let instances = &self.instances;
        let own = |(at, (&start, &end)): (usize, (&u32, &u32))| start as usize == at && end as usize == at;
        instances.start.len() == self.events.time_ns.len() && instances.start.iter().zip(&instances.end).enumerate().all(own)
    }

    /// Returns the default grouping of the log: its first one.
    pub fn cases(&self) -> Option<&Cases> {
        self.groups.first()
    }
}

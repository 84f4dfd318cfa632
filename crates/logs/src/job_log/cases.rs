//! Jobs as a log of cases, for XES, CSV and Parquet.
//!
//! | key | value |
//! |---|---|
//! | `concept:name` of a trace | the case id |
//! | `concept:name` of an event | the activity: the command's file name; the job's name where the command is unknown, else `(unknown)` |
//! | `concept:instance` | the job attempt: its events are one activity instance |
//! | `lifecycle:transition` | see [`flowmine_correlate::state`] |
//! | `time:timestamp` | the event's time |
//! | `org:resource`, `org:group` | user, group |
//! | `identity:id` | a UUID made of the attempt and the number of its event (RFC 9562, version 5): the same event has the same in every case notion |
//! | `io:read_bytes`, `io:written_bytes`, … | at the event that ends an attempt: what was traced of its whole run; where nothing was, what accounting counted |
//! | `slurm:read_bytes`, `slurm:written_bytes` | where something was traced, what accounting counted |
//! | `slurm:before_ready_ns` | at `schedule`: nanoseconds in which its own wishes (dependency, begin time, hold) kept it from being eligible; -1 where that is not known |
//! | `slurm:…` | what Slurm says, under the names of the table `job_states`, without the `_ns` of times |
//!
//! A column that changed while the job waited or ran (`slurm:changed` at the event that reports it)
//! has at each event the value that it had then.
//!
//! The interval of an observed change is `slurm:not_before` and `slurm:observed_at`;
//! `slurm:reported` is the time that Slurm reports. A value that is not known has no attribute. A
//! trace has those of cluster, account, user and group on which all its events agree. A notion that
//! estimates it gives a trace `slurm:case_strength` and `slurm:case_confidence`, the lowest
//! confidence of its jobs. `cost` does not apply: Slurm knows no money.
//!
//! Traces come in the order of their first event, then by case id. Where a case can hold jobs that
//! no dependency joins (`account-group`, `data-flow`), they come by case id.

use std::collections::BTreeMap;
use std::rc::Rc;

use flowmine_correlate::attempts::Value as Earlier;
use flowmine_correlate::cases::{CaseNotion, lower, rounded};
use flowmine_correlate::{Entities, Event, EventLog, Filter, JobAttempt, Jobs, Lifecycle, Sym, Waits, state};
use flowmine_eventlog::sorted::{SortRecords, SortedRecords};
use flowmine_eventlog::{Attribute, Batches, CaseHeader, CaseLog, Classifier, LogError, Record, Value, xes};
use flowmine_spill::{Sorted, Sorter, put_ordered, put_ordered_text};
use sha1::{Digest, Sha1};

use super::columns::{BYTES, NUMBERS, Pick, TEXTS, TIMES};
use crate::task_log::{self, TracedJobs};

/// How long after its submission an attempt was not ready, in nanoseconds: see
/// [`flowmine_correlate::waits`].
const BEFORE_READY: &str = "slurm:before_ready_ns";

/// Its value where that is not known.
const NOT_KNOWN: i64 = -1;

const TRACE: u8 = 0;
const EVENT: u8 = 1;
const END: u8 = 2;

/// What all events of a trace can agree on.
const AGREED: [Pick<JobAttempt, Option<Sym>>; 4] =
    [("slurm:cluster", |a| Some(a.cluster)), ("slurm:account", |a| a.account), ("slurm:user", |a| a.user), ("slurm:group", |a| a.group)];

/// Of each of [`AGREED`]: nothing seen yet, the one value, or disagreement.
#[derive(Debug, Clone, Default)]
struct Agreement([Option<Option<String>>; AGREED.len()]);

impl Agreement {
    fn with(&mut self, jobs: &Jobs, attempt: &JobAttempt) {
        for ((_, pick), agreed) in AGREED.iter().zip(&mut self.0) {
            let value = jobs.text_of(pick(attempt));
            match agreed {
                None => *agreed = Some(value.map(str::to_owned)),
                Some(Some(known)) if value != Some(known) => *agreed = Some(None),
                Some(_) => {}
            }
        }
    }

    fn attributes(&self) -> impl Iterator<Item = Attribute<'_>> {
        let known = |((key, _), agreed): (&Pick<JobAttempt, Option<Sym>>, &'_ Option<Option<String>>)| {
            let value = agreed.as_ref()?.as_ref()?.clone();
            Some(Attribute::text(*key, value))
        };
        AGREED.iter().zip(&self.0).filter_map(known)
    }
}

/// Takes jobs part by part and makes the log of one notion of cases.
pub(super) struct Builder {
    notion: &'static dyn CaseNotion,
    records: Sorter,
    /// Cases that can go on in another part, with the lowest confidence of their jobs.
    open: BTreeMap<String, (Agreement, Option<f32>)>,
    traced: Rc<TracedJobs>,
}

impl Builder {
    pub fn new(notion: &'static dyn CaseNotion, traced: Rc<TracedJobs>) -> Self {
        Self { notion, records: Sorter::default(), open: BTreeMap::new(), traced }
    }

    pub fn add(&mut self, entities: &Entities<'_>, filter: &Filter) -> Result<(), LogError> {
        let jobs = entities.jobs;
        let log = EventLog::build(entities, self.notion, filter);
        let waits = Waits::new(jobs, None);
        let mut key = Vec::new();
        for case in &log.cases {
            key.clear();
            if self.notion.within_parts() {
                let first = log.events(case).next().map_or(0, |event| event.time_ns);
                put_ordered(first, &mut key);
            }
            put_ordered_text(&case.id, &mut key);
            let case_key = key.len();
            let mut agreement = Agreement::default();
            for event in log.events(case) {
                let attempt = jobs.attempt_of(event);
                agreement.with(jobs, attempt);
                let number = jobs.events_of(attempt).iter().position(|e| std::ptr::eq(e, event)).unwrap_or_default();
                key.truncate(case_key);
                key.push(EVENT);
                put_ordered(event.time_ns, &mut key);
                jobs.put_order(attempt, &mut key);
                put_ordered(number as i64, &mut key);
                let mut attributes = attributes(jobs, attempt, event, number, &self.traced);
                if event.lifecycle == Lifecycle::Schedule {
                    attributes.push(Attribute::integer(BEFORE_READY, waits.of(attempt).before_ready_ns.unwrap_or(NOT_KNOWN)));
                }
                self.records.push_record(&key, &Record::CaseEvent(attributes))?;
            }
            if !case.goes_on {
                key.truncate(case_key);
                self.frame(&mut key, &case.id, &agreement, case.confidence)?;
            } else {
                let (open, confidence) = self.open.entry(case.id.clone()).or_default();
                log.events(case).for_each(|event| open.with(jobs, jobs.attempt_of(event)));
                *confidence = lower(*confidence, case.confidence);
            }
        }
        Ok(())
    }

    /// The beginning and the end of a trace.
    fn frame(&mut self, key: &mut Vec<u8>, id: &str, agreement: &Agreement, confidence: Option<f32>) -> Result<(), LogError> {
        let mut trace = vec![Attribute::text("concept:name", id)];
        // Where it is not estimated, the notion alone shows how far its cases can be trusted.
        if let Some(confidence) = confidence {
            trace.push(Attribute::text("slurm:case_strength", self.notion.strength().name()));
            trace.push(Attribute::new("slurm:case_confidence", Value::Float(rounded(confidence))));
        }
        trace.extend(agreement.attributes());
        key.push(TRACE);
        self.records.push_record(key, &Record::Trace(trace))?;
        key.pop();
        key.push(END);
        self.records.push_record(key, &Record::TraceEnd)
    }

    pub fn finish(mut self) -> Result<JobCaseLog, LogError> {
        for (id, (agreement, confidence)) in std::mem::take(&mut self.open) {
            let mut key = Vec::new();
            put_ordered_text(&id, &mut key);
            self.frame(&mut key, &id, &agreement, confidence)?;
        }
        Ok(JobCaseLog { header: header(self.notion), records: self.records.finish()? })
    }
}

fn header(notion: &dyn CaseNotion) -> CaseHeader {
    use xes::extensions::{CONCEPT, IDENTITY, IO, LIFECYCLE, ORGANIZATIONAL, SLURM, TIME};
    CaseHeader {
        extensions: [CONCEPT, LIFECYCLE, TIME, ORGANIZATIONAL, IDENTITY, IO, SLURM].iter().map(|known| known.extension()).collect(),
        trace_globals: vec![Attribute::text("concept:name", "")],
        event_globals: vec![
            Attribute::text("concept:name", ""),
            Attribute::text("concept:instance", ""),
            Attribute::text("lifecycle:transition", "unknown"),
            Attribute::time("time:timestamp", 0),
            Attribute::text("slurm:state", ""),
        ],
        classifiers: vec![
            Classifier::new("Activity", &["concept:name"]),
            Classifier::new("ActivityState", &["concept:name", "slurm:state"]),
            Classifier::new("ActivityTransition", &["concept:name", "lifecycle:transition"]),
        ],
        attributes: vec![
            Attribute::text("concept:name", format!("Slurm jobs by {}", notion.name())),
            Attribute::text("lifecycle:model", "standard"),
            Attribute::text("slurm:case_notion", notion.name()),
        ],
    }
}

/// The keys of [`TEXTS`], [`NUMBERS`] and [`TIMES`] in a log of cases.
macro_rules! slurm {
    ($($name:literal),+) => { [$(($name, concat!("slurm:", $name))),+] };
}

const KEYS: &[(&str, &str)] = &slurm!(
    "cluster",
    "job",
    "name",
    "account",
    "partition",
    "qos",
    "comment",
    "activity",
    "command",
    "arguments",
    "work_dir",
    "job_id",
    "attempt",
    "array_job_id",
    "array_task_id",
    "het_job_id",
    "het_offset",
    "nodes",
    "cpus",
    "memory_bytes",
    "time_limit_s",
    "priority",
    "nice",
    "gpus",
    "gpu_percent",
    "max_rss_bytes",
    "cpu_time_ns",
    "job_memory_bytes",
    "job_peak_bytes",
    "features",
    "tres_per_node",
    "requested_tres",
    "allocated_tres",
    "eligible",
    "exit_code",
    "exit_signal",
    "cancelled_by_uid",
    "submit",
    "start",
    "end"
);

fn key(name: &'static str) -> &'static str {
    KEYS.iter().find(|(known, _)| *known == name).map_or(name, |(_, key)| *key)
}

fn attributes<'j>(jobs: &'j Jobs, a: &JobAttempt, event: &Event, number: usize, traced: &TracedJobs) -> Vec<Attribute<'j>> {
    let mut out = Vec::with_capacity(40);
    let attempt_id = jobs.attempt_id(a);
    let identity = uuid(&NAMESPACE, &attempt_id, number);
    let traced = traced.of(&attempt_id).filter(|_| state::phase(jobs.text(event.state)).ends_attempt());
    out.push(Attribute::text("concept:name", jobs.text(a.activity)));
    out.push(Attribute::text("concept:instance", attempt_id));
    out.push(Attribute::text("lifecycle:transition", event.lifecycle.name()));
    out.push(Attribute::time("time:timestamp", event.time_ns));
    for (key, text) in [("org:resource", a.user), ("org:group", a.group), ("slurm:state", Some(event.state))] {
        out.extend(jobs.text_of(text).map(|text| Attribute::text(key, text)));
    }
    out.push(Attribute::new("identity:id", Value::Id(identity.into())));
    // What is the activity is not said twice.
    let changes = jobs.has_changes(a);
    let earlier = |name: &str| if changes { jobs.value_at(a, number, name) } else { None };
    for (name, pick) in TEXTS.iter().filter(|(name, _)| *name != "activity") {
        let value = match earlier(name) {
            Some(Earlier::Text(text)) => text,
            _ => pick(a),
        };
        out.extend(jobs.text_of(value).map(|text| Attribute::text(key(name), text)));
    }
    for (key, text) in [
        ("slurm:changed", event.changed),
        ("slurm:reason", event.reason),
        ("slurm:node_list", event.node_list),
        ("slurm:source", Some(event.source)),
    ] {
        out.extend(jobs.text_of(text).map(|text| Attribute::text(key, text)));
    }
    for (name, pick) in NUMBERS {
        let value = match earlier(name) {
            Some(Earlier::Number(number)) => number,
            _ => pick(a),
        };
        out.extend(value.get().map(|number| Attribute::integer(key(name), number)));
    }
    let times = [
        ("slurm:not_before", event.not_before_ns.get()),
        ("slurm:observed_at", Some(event.observed_at_ns)),
        ("slurm:reported", event.reported_ns.get()),
    ];
    for (key, time) in times {
        out.extend(time.map(|time| Attribute::time(key, time)));
    }
    for (name, pick) in TIMES {
        out.extend(pick(a).get().map(|time| Attribute::time(key(name), time)));
    }
    if state::phase(jobs.text(event.state)).ends_attempt() {
        let keys = if traced.is_some() { ["slurm:read_bytes", "slurm:written_bytes"] } else { ["io:read_bytes", "io:written_bytes"] };
        for (key, (_, pick)) in keys.into_iter().zip(BYTES) {
            out.extend(pick(a).get().map(|bytes| Attribute::integer(key, bytes)));
        }
    }
    if let Some(traced) = traced {
        out.extend(task_log::io(traced));
    }
    out
}

/// The namespace of the identities of job events: the UUID of `urn:flowmine:job-event` in the URL
/// namespace of RFC 9562.
const NAMESPACE: [u8; 16] = [0x75, 0xb4, 0x8a, 0x54, 0xb4, 0x79, 0x5f, 0xcd, 0x95, 0x8b, 0x9e, 0xb3, 0xe1, 0xd5, 0x1b, 0x51];

/// The identity of an attempt's event in a namespace: a UUID of version 5.
pub(crate) fn uuid(namespace: &[u8; 16], attempt: &str, number: usize) -> String {
    let mut hash = Sha1::new();
    hash.update(namespace);
    hash.update(attempt.as_bytes());
    hash.update([0]);
    hash.update((number as u64).to_be_bytes());
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hash.finalize()[..16]);
    uuid::Builder::from_sha1_bytes(bytes).into_uuid().hyphenated().to_string()
}

/// Jobs in cases of one notion.
pub struct JobCaseLog {
    header: CaseHeader,
    records: Sorted,
}

impl CaseLog for JobCaseLog {
    fn header(&self) -> &CaseHeader {
        &self.header
    }

    fn traces(&self) -> Batches<'_> {
        self.records.batches(|_, _| false)
    }
}

//! Tasks as a log of cases, for XES, CSV and Parquet. A [`TaskNotion`] defines the cases.
//!
//! | key | value |
//! |---|---|
//! | `concept:name` of an event | the logical task: process, rule, operator |
//! | `concept:instance` | the task attempt: its events are one activity instance |
//! | `lifecycle:transition` | `schedule` (queued, or submitted when that is not known), `assign` (submitted after that), `start`, `complete`, `ate_abort` (failed, aborted), `withdraw` (aborted before it started), `autoskip` (cached), `unknown` |
//! | `time:timestamp` | the event's time, as the engine reports it; `task:precision_ns` is how exact that is |
//! | `identity:id` | a UUID made of the attempt and the event |
//! | `task:status` | what the attempt was then: `submitted`, `running`, and at its last event the outcome |
//! | `task:…` | what the engine reports, under the names of the table `task_runs`, without the `_ns` of times: what was asked for from the first event on, what is known from the start at the start, what only the end shows at the end. The last event of an attempt has all that is known of it |
//! | `task:before_ready_ns` | at the first event of an attempt that was not ready then: the time until it was submitted and the tasks for which it waited had ended |
//! | `io:…` | at the last event of an attempt: what was traced of the whole of it |
//!
//! An attempt of which no time is known has no event, which is counted. Traces come in the order of
//! their first event, then by case id.

use flowmine_attribution::task_attempts;
use flowmine_correlate::attempts::UNKNOWN_ACTIVITY;
use flowmine_eventlog::sorted::{SortRecords, SortedRecords};
use flowmine_eventlog::{Attribute, Batches, CaseHeader, CaseLog, Classifier, LogError, Record, Value, xes};
use flowmine_spill::{Sorted, Sorter, put_ordered, put_ordered_text};

use super::attributes::{self, IO, TASK};
use super::moments::{Moment, moments};
use super::notions::{TaskNotion, case_id};
use super::{LeftOut, TaskLogError, Tasks};
use crate::job_log::cases::uuid;

/// Time from the first moment of an attempt to the one from which it queued.
const BEFORE_READY: &str = "task:before_ready_ns";

const TRACE: u8 = 0;
const EVENT: u8 = 1;
const END: u8 = 2;

/// The namespace of the identities of task events: the UUID of `urn:flowmine:task-event` in the URL
/// namespace of RFC 9562.
const NAMESPACE: [u8; 16] = [0x3e, 0x33, 0x3d, 0xa3, 0x74, 0x7f, 0x58, 0x14, 0xae, 0x30, 0x55, 0xa9, 0x14, 0xa5, 0xe4, 0xdb];

/// What the names of the table become as keys, and by which moment of an attempt
/// ([`Moment::number`](super::moments::Moment)) they are known.
macro_rules! keys {
    ($($from:literal: $($name:literal),+;)+) => { &[$($(($name, concat!("task:", $name), $from)),+),+] };
}

const KEYS: &[(&str, &str, u8)] = keys!(
    0: "engine", "run_id", "run_name", "task_id", "attempt", "name", "tag", "cache_key", "work_dir", "executor", "queue", "user", "container_image", "command", "cpus", "memory_bytes", "disk_bytes", "time_s", "queued";
    1: "native_id", "native_kind", "submitted";
    2: "host", "container_id", "started";
    3: "exit_code", "cached", "error", "layers", "failed_layer", "failed_in", "duration_s", "realtime_s", "cpu_percent", "peak_rss_bytes", "peak_vmem_bytes", "rchar_bytes", "wchar_bytes", "read_bytes", "write_bytes", "finished";
);

/// The tasks of a dataset in cases.
///
/// # Errors
/// When the dataset cannot be read or a temporary file not be written.
pub fn cases(from: &Tasks<'_>, notion: &dyn TaskNotion) -> Result<(TaskCaseLog, LeftOut), TaskLogError> {
    let mut left_out = LeftOut::default();
    let mut by_case = Sorter::default();
    let mut key = Vec::new();
    let drop = &from.rules.drop;
    task_attempts::for_each::<TaskLogError>(from.dataset, from.rules, |attempt| {
        let row = &attempt.row;
        let Some(case) = case_id(notion, row) else {
            left_out.tasks_without_case += 1;
            return Ok(());
        };
        key.clear();
        put_ordered_text(&case, &mut key);
        let of_case = key.len();
        let of_case_attributes = || attributes::of(TASK, row, drop).filter(|attribute| notion.of_case(row).contains(&&*attribute.key));
        let told: Vec<_> = attributes::of(TASK, row, drop).filter_map(with_prefix).collect();
        let (mut all, mut inside, mut clamped) = (0, 0, false);
        let moments: Vec<Moment> = moments(row).collect();
        let before_ready = from.before_ready_ns(&attempt.key, &moments);
        for (at, moment) in moments.iter().enumerate() {
            all += 1;
            if !from.wants(moment.time_ns) {
                continue;
            }
            inside += 1;
            clamped |= moment.is_clamped;
            let activity = if drop.leaves_out("logical_task") { UNKNOWN_ACTIVITY } else { &*row.logical_task };
            let mut event = vec![
                Attribute::text("concept:name", activity),
                Attribute::text("concept:instance", attempt.key.as_str()),
                Attribute::text("lifecycle:transition", moment.lifecycle),
                Attribute::time("time:timestamp", moment.time_ns),
                Attribute::new("identity:id", Value::Id(uuid(&NAMESPACE, &attempt.key, moment.number.into()).into())),
            ];
            event.extend(moment.precision_ns.map(|precision| Attribute::integer("task:precision_ns", precision)));
            if !drop.leaves_out("status") {
                event.push(Attribute::text("task:status", if moment.is_last { &*row.status } else { moment.status_then() }));
            }
            event.extend(told.iter().filter(|(_, from)| moment.is_last || *from <= moment.number).map(|(attribute, _)| attribute.clone()));
            event.extend(before_ready.filter(|_| at == 0).map(|before| Attribute::integer(BEFORE_READY, before)));
            if let Some(traced) = attempt.traced.as_ref().filter(|_| moment.is_last) {
                event.extend(attributes::of(IO, traced, drop));
            }
            key.truncate(of_case);
            put_ordered(moment.time_ns, &mut key);
            put_ordered_text(&attempt.key, &mut key);
            key.push(moment.number);
            // What the trace says goes along with each of its events: the first one is not known before all are sorted.
            let mut trace = vec![Attribute::text("concept:name", case.as_str())];
            trace.extend(of_case_attributes().filter_map(with_prefix).map(|(attribute, _)| attribute));
            by_case.push(&key, |bytes| put_both(&Record::Trace(trace), &Record::CaseEvent(event), bytes))?;
        }
        left_out.tasks_without_event += u64::from(all == 0);
        left_out.cut_off.add(inside, all);
        left_out.tasks_clamped += u64::from(clamped);
        Ok(())
    })?;
    Ok((TaskCaseLog { header: header(notion), records: by_first_event(&by_case.finish()?)? }, left_out))
}

/// An attribute under its key, and by which moment it is known.
fn with_prefix(attribute: Attribute<'_>) -> Option<(Attribute<'_>, u8)> {
    // The logical task is the activity, and the status changes.
    let (_, key, from) = KEYS.iter().find(|(name, ..)| attribute.key == *name)?;
    Some((Attribute { key: (*key).into(), ..attribute }, *from))
}

fn put_both(trace: &Record<'_>, event: &Record<'_>, bytes: &mut Vec<u8>) {
    let start = bytes.len();
    bytes.extend_from_slice(&[0; 4]);
    trace.encode(bytes);
    let length = (bytes.len() - start - 4) as u32;
    bytes[start..start + 4].copy_from_slice(&length.to_le_bytes());
    event.encode(bytes);
}

/// The events of cases one after the other, as traces in the order of their first events.
fn by_first_event(by_case: &Sorted) -> Result<Sorted, LogError> {
    let mut records = Sorter::default();
    let mut walk = by_case.walk()?;
    let (mut of_case, mut place, mut number) = (Vec::new(), Vec::new(), 0i64);
    while let Some((key, both)) = walk.next()? {
        let (length, both) = both.split_first_chunk().ok_or(LogError::Damaged)?;
        let (trace, event) = both.split_at_checked(u32::from_le_bytes(*length) as usize).ok_or(LogError::Damaged)?;
        if of_case.is_empty() || !key.starts_with(&of_case) {
            let end = key.windows(2).position(|two| two == [0, 0]).ok_or(LogError::Damaged)? + 2;
            of_case = key[..end].to_vec();
            // The time as encoded in the key, then the case.
            place = [key.get(end..end + 8).ok_or(LogError::Damaged)?, &of_case].concat();
            records.push(&[&place[..], &[TRACE]].concat(), |bytes| bytes.extend_from_slice(trace))?;
            records.push_record(&[&place[..], &[END]].concat(), &Record::TraceEnd)?;
            number = 0;
        }
        let mut key = [&place[..], &[EVENT]].concat();
        put_ordered(number, &mut key);
        number += 1;
        records.push(&key, |bytes| bytes.extend_from_slice(event))?;
    }
    records.finish().map_err(Into::into)
}

fn header(notion: &dyn TaskNotion) -> CaseHeader {
    use xes::extensions::{CONCEPT, IDENTITY, IO, LIFECYCLE, TASK, TIME};
    CaseHeader {
        extensions: [CONCEPT, LIFECYCLE, TIME, IDENTITY, IO, TASK].iter().map(|known| known.extension()).collect(),
        trace_globals: vec![Attribute::text("concept:name", "")],
        event_globals: vec![
            Attribute::text("concept:name", ""),
            Attribute::text("concept:instance", ""),
            Attribute::text("lifecycle:transition", "unknown"),
            Attribute::time("time:timestamp", 0),
            Attribute::text("task:status", ""),
        ],
        classifiers: vec![
            Classifier::new("Activity", &["concept:name"]),
            Classifier::new("ActivityTransition", &["concept:name", "lifecycle:transition"]),
            Classifier::new("ActivityStatus", &["concept:name", "task:status"]),
        ],
        attributes: vec![
            Attribute::text("concept:name", format!("Tasks by {}", notion.name())),
            Attribute::text("lifecycle:model", "standard"),
            Attribute::text("task:case_notion", notion.name()),
        ],
    }
}

/// The tasks of a dataset as a log of cases.
pub struct TaskCaseLog {
    header: CaseHeader,
    records: Sorted,
}

impl CaseLog for TaskCaseLog {
    fn header(&self) -> &CaseHeader {
        &self.header
    }

    fn traces(&self) -> Batches<'_> {
        self.records.batches(|_, _| false)
    }
}

//! The tasks of a dataset as columns: an instance is an attempt at a task, and the notion defines
//! the cases.
//!
//! The events are those of the log of cases ([`crate::task_log::cases`]), in the same order, so
//! that an exported XES file has the same content.

use flowmine_activity_log::{ActivityLog, BytesFrom, EventRow, Interner, LeftOut, LogBuilder, Measure, NONE, Transition};
use flowmine_attribution::task_attempts::{self, TaskAttempt};
use flowmine_correlate::attempts::UNKNOWN_ACTIVITY;
use flowmine_eventlog::{LogError, Value};
use flowmine_schema::tables::{DataFlow, TaskRun, TaskTotal};
use flowmine_schema::time::{self, SECOND_NS};
use rustc_hash::FxHashMap;

use super::jobs::{GatheredFlows, each_flow};
use super::options::{ReadOptions, Unit};
use super::traced::put_traced;
use crate::steps::STEP;
use crate::task_log::attributes::TASK;
use crate::task_log::moments::{Moment, moments};
use crate::task_log::notions::{TaskNotion, case_id};
use crate::task_log::{TaskLogError, Tasks};

/// The attribute that is what `task_io` and `links` call an attempt.
pub const TASK_KEY: &str = "task:key";

/// What is kept of an attempt until all are known.
struct AttemptRow {
    case: u32,
    /// Numbers of the labels of its moments.
    label: u32,
    host: Option<u32>,
    attempt: u32,
    moments: Vec<Moment>,
    measures: Vec<(Measure, i64)>,
    bytes_from: BytesFrom,
    kept: Vec<(usize, u32)>,
    key: String,
    outputs: Vec<(String, Option<i64>)>,
    inputs: Vec<(String, Option<i64>)>,
}

fn put_told(row: &TaskRun<'static>, measures: &mut Vec<(Measure, i64)>) -> BytesFrom {
    let seconds = time::length_ns;
    for (measure, value) in [
        (Measure::Cpus, row.cpus),
        (Measure::MemoryBytes, row.memory_bytes),
        (Measure::PeakMemoryBytes, row.peak_rss_bytes),
        (Measure::TimeLimitNs, row.time_s.and_then(seconds)),
        (Measure::RunTimeNs, row.realtime_s.filter(|_| !row.cached).and_then(seconds)),
        (Measure::CpuTimeNs, row.cpu_percent.zip(row.realtime_s).and_then(|(percent, time)| seconds(percent / 100.0 * time))),
    ] {
        measures.extend(value.map(|value| (measure, value)));
    }
    // What calls moved, and where the engine does not report that, what it counts instead.
    let (read, written) = if row.rchar_bytes.is_some() || row.wchar_bytes.is_some() {
        (row.rchar_bytes, row.wchar_bytes)
    } else {
        (row.read_bytes, row.write_bytes)
    };
    measures.extend(read.map(|bytes| (Measure::ReadBytes, bytes)));
    measures.extend(written.map(|bytes| (Measure::WrittenBytes, bytes)));
    if read.is_some() || written.is_some() { BytesFrom::Engine } else { BytesFrom::Nobody }
}

fn text_of(row: &TaskRun<'static>, key: &str) -> Option<String> {
    let key = key.strip_prefix("task:").or_else(|| key.strip_prefix("case:task:")).unwrap_or(key);
    let key = match key {
        "concept:name" | "activity" => "logical_task",
        "org:resource" => "host",
        key => key,
    };
    let (_, _, pick) = TASK.iter().find(|(name, ..)| *name == key)?;
    match pick(row)? {
        Value::String(text) | Value::Id(text) => Some(text.into_owned()),
        Value::Integer(number) => Some(number.to_string()),
        Value::Float(number) => Some(number.to_string()),
        Value::Boolean(truth) => Some(truth.to_string()),
        Value::Time(ns) => Some(flowmine_schema::time::rfc3339(ns)),
        Value::List(_) | Value::Container => None,
    }
}

/// The text of an attempt under a key.
fn text(attempt: &TaskAttempt, key: &str, options: &ReadOptions) -> Option<String> {
    match key {
        TASK_KEY => Some(attempt.key.clone()),
        STEP => options.steps.as_ref()?.of(&attempt.key).map(str::to_owned),
        key => text_of(&attempt.row, key),
    }
}

/// Whether tasks have attributes of these names.
pub fn unknown_attribute(keys: &[String]) -> Option<&str> {
    let known = |key: &str| {
        let key = key.strip_prefix("task:").or_else(|| key.strip_prefix("case:task:")).unwrap_or(key);
        matches!(key, "key" | "concept:name" | "activity" | "org:resource" | "lifecycle:transition" | STEP)
            || TASK.iter().any(|(name, ..)| *name == key)
    };
    keys.iter().map(String::as_str).find(|key| !known(key))
}

/// The log of the tasks of a dataset.
///
/// # Errors
/// When the dataset cannot be read, or there are too many events.
pub fn tasks(from: &Tasks<'_>, notion: &dyn TaskNotion, options: &ReadOptions) -> Result<ActivityLog, TaskLogError> {
    let mut builder = LogBuilder::new(&options.keep);
    let mut cases = Interner::default();
    let mut attempts: Vec<AttemptRow> = Vec::new();
    let (mut without_moment, mut cached, mut without_case, mut start_traced, mut clamped) = (0, 0, 0, 0, 0);
    let (mut read, mut written) = (0i128, 0i128);
    let with_transition = options.activity.iter().any(|key| key == "lifecycle:transition");
    let has_flow = from.dataset.row_count::<DataFlow<'static>>()? > 0;
    task_attempts::for_each::<TaskLogError>(from.dataset, from.rules, |attempt| {
        let row = &attempt.row;
        let Some(case) = case_id(notion, row) else {
            without_case += 1;
            return Ok(());
        };
        let mut all: Vec<Moment> = moments(row).collect();
        let traced_start = attempt.traced.as_ref().and_then(|traced| traced.started_ns);
        if let (None, Some(time_ns), Unit::Instances) = (row.started_ns, traced_start, options.unit) {
            // Engines note a submission when the process has begun already: up to a second before it is the same moment. What is further off, or
            // after the end, is not the task's start.
            let ready = all.iter().filter(|moment| moment.number < 2).map(|moment| moment.time_ns).max();
            let after = ready.is_none_or(|ready| time_ns >= ready.saturating_sub(SECOND_NS));
            let time_ns = ready.map_or(time_ns, |ready| ready.max(time_ns));
            if after && row.finished_ns.is_some_and(|end| time_ns <= end) && !row.cached {
                let moment = Moment {
                    number: 2,
                    kind: "task started",
                    lifecycle: "start",
                    time_ns,
                    precision_ns: None,
                    is_last: false,
                    is_clamped: false,
                };
                all.insert(all.iter().position(|moment| moment.number > 2).unwrap_or(all.len()), moment);
                start_traced += 1;
            }
        }
        let before_ready = from.before_ready_ns(&attempt.key, &all).filter(|_| options.unit == Unit::Instances);
        without_moment += u64::from(all.is_empty() && !row.cached);
        cached += u64::from(all.is_empty() && row.cached);
        let wanted: Vec<Moment> = all.into_iter().filter(|moment| from.wants(moment.time_ns)).collect();
        if wanted.is_empty() {
            return Ok(());
        }
        clamped += u64::from(wanted.iter().any(|moment| moment.is_clamped));
        let label = if options.activity.is_empty() {
            row.logical_task.to_string()
        } else {
            let keys = options.activity.iter().filter(|key| *key != "lifecycle:transition");
            keys.filter_map(|key| text(&attempt, key, options)).collect::<Vec<_>>().join("+")
        };
        let label = if label.is_empty() && !with_transition { UNKNOWN_ACTIVITY.to_owned() } else { label };
        let mut measures = Vec::new();
        let mut bytes_from = put_told(row, &mut measures);
        measures.extend(before_ready.map(|before| (Measure::BeforeReadyNs, before)));
        if let Some(traced) = &attempt.traced {
            measures.retain(|(measure, _)| !matches!(measure, Measure::ReadBytes | Measure::WrittenBytes | Measure::CpuTimeNs));
            put_traced(traced, &mut measures);
            bytes_from = BytesFrom::Trace;
            read += i128::from(traced.read_bytes);
            written += i128::from(traced.written_bytes);
        }
        let traced_host = || attempt.traced.as_ref().and_then(|traced| traced.host.clone());
        let host = row.host.as_deref().map(str::to_owned).or_else(traced_host);
        let kept = (0..options.keep.len())
            .filter_map(|at| {
                let value = text(&attempt, &options.keep[at], options);
                value.map(|value| (at, value))
            })
            .map(|(at, value)| (at, builder.value(at, &value)))
            .collect();
        let files = |told: &Option<std::borrow::Cow<'_, str>>| if has_flow { Vec::new() } else { files(told.as_deref()) };
        attempts.push(AttemptRow {
            case: cases.intern(&case),
            label: builder.activity(&label),
            host: host.map(|host| builder.resource(&host)),
            attempt: row.attempt.and_then(|attempt| u32::try_from(attempt).ok()).unwrap_or(0),
            moments: wanted,
            measures,
            bytes_from,
            kept,
            key: attempt.key,
            outputs: files(&row.outputs),
            inputs: files(&row.inputs),
        });
        Ok(())
    })?;
    builder.left_out().without_moment = without_moment;
    builder.left_out().cached = cached;
    builder.left_out().without_case = without_case;
    builder.left_out().start_traced = start_traced;
    builder.left_out().clamped = clamped;
    let instance_of = put_cases(&mut builder, &attempts, &cases, options, with_transition)?;
    let mut log = builder.finish();
    log.words.instance = options.unit.word("task");
    log.words.ready = "submitted".to_owned();
    log.words.notion = format!("{}: {}", notion.name(), notion.description());
    if let Some(cases) = log.groups.first_mut() {
        cases.kind = notion.name().to_owned();
    }
    if options.unit == Unit::Instances {
        let by_key: FxHashMap<&str, u32> = attempts.iter().zip(&instance_of).map(|(attempt, &at)| (attempt.key.as_str(), at)).collect();
        if has_flow {
            log.flows = Some(traced_flows(from, &by_key)?.finish(&mut log.left_out));
        } else {
            log.flows = declared_flows(&attempts, &instance_of, &mut log.left_out);
        }
    }
    of_others(from, &mut log, read, written)?;
    Ok(log)
}

/// Adds the cases in the order of their first events, and says which instance each attempt is.
fn put_cases(
    builder: &mut LogBuilder,
    attempts: &[AttemptRow],
    cases: &Interner,
    options: &ReadOptions,
    with_transition: bool,
) -> Result<Vec<u32>, TaskLogError> {
    let mut of_case: Vec<Vec<u32>> = vec![Vec::new(); cases.len()];
    for (at, attempt) in attempts.iter().enumerate() {
        of_case[attempt.case as usize].push(at as u32);
    }
    let names = cases.names();
    let first =
        |case: u32| of_case[case as usize].iter().filter_map(|&at| attempts[at as usize].moments.iter().map(|m| m.time_ns).min()).min();
    let mut order: Vec<u32> = (0..cases.len() as u32).collect();
    order.sort_by_key(|&case| (first(case), names.get(case)));
    let mut instance_of = vec![NONE; attempts.len()];
    for case in order {
        let mut events: Vec<(&AttemptRow, &Moment, u32)> = of_case[case as usize]
            .iter()
            .flat_map(|&at| attempts[at as usize].moments.iter().map(move |m| (&attempts[at as usize], m, at)))
            .collect();
        events.sort_by(|(a, m, _), (b, n, _)| (m.time_ns, &a.key, m.number).cmp(&(n.time_ns, &b.key, n.number)));
        let start = builder.next_instance();
        let mut added = Vec::new();
        for (attempt, moment, at) in events {
            let Some(transition) = options.unit.takes(Transition::parse(moment.lifecycle)) else { continue };
            let (activity, transition) = if with_transition {
                let label = format!("{}+{}", builder.activity_name(attempt.label), moment.lifecycle);
                (builder.activity(label.trim_start_matches('+')), Transition::Untold)
            } else {
                (attempt.label, transition)
            };
            let before = builder.next_instance();
            let whole = moment.is_last;
            builder
                .event(&EventRow {
                    activity,
                    time_ns: moment.time_ns,
                    transition,
                    instance: Some(at),
                    resource: attempt.host,
                    attempt: attempt.attempt,
                    measures: if whole { &attempt.measures } else { &[] },
                    bytes_from: if whole { attempt.bytes_from } else { BytesFrom::Nobody },
                    attributes: &attempt.kept,
                })
                .map_err(LogError::source)?;
            if builder.next_instance() > before {
                added.push((at, before - start));
            }
        }
        if builder.next_instance() == start {
            continue;
        }
        builder.end_case(names.get(case)).map_err(LogError::source)?;
        for &(at, place) in added.iter().rev() {
            instance_of[at as usize] = builder.places()[place as usize];
        }
    }
    Ok(instance_of)
}

/// The bytes that were traced from task to task.
fn traced_flows(from: &Tasks<'_>, by_key: &FxHashMap<&str, u32>) -> Result<GatheredFlows, TaskLogError> {
    let mut gathered = GatheredFlows::default();
    each_flow::<TaskLogError>(from.dataset, |row| {
        let row = from.rules.apply(row);
        let find = |kind: Option<&str>, id: Option<&str>| match (kind, id) {
            (Some("task"), Some(id)) => by_key.get(id).copied().unwrap_or(NONE),
            _ => NONE,
        };
        let writer = find(row.writer_type.as_deref(), row.writer.as_deref());
        gathered.add(writer, find(row.reader_type.as_deref(), row.reader.as_deref()), row.read_bytes);
        Ok(())
    })?;
    Ok(gathered)
}

/// Files of a column of `task_runs` with their sizes.
fn files(told: Option<&str>) -> Vec<(String, Option<i64>)> {
    let list: Vec<serde_json::Value> = told.and_then(|told| serde_json::from_str(told).ok()).unwrap_or_default();
    list.into_iter()
        .filter_map(|file| Some((file.get("path")?.as_str()?.to_owned(), file.get("bytes").and_then(serde_json::Value::as_i64))))
        .collect()
}

/// Sizes of files that one task of a run declares as output and another as input.
fn declared_flows(attempts: &[AttemptRow], instance_of: &[u32], left_out: &mut LeftOut) -> Option<flowmine_activity_log::Flows> {
    let mut writers: FxHashMap<(u32, &str), (u32, Option<i64>)> = FxHashMap::default();
    for (attempt, &instance) in attempts.iter().zip(instance_of) {
        for (path, bytes) in &attempt.outputs {
            writers.insert((attempt.case, path), (instance, *bytes));
        }
    }
    let mut gathered = GatheredFlows::default();
    let mut any = false;
    for (attempt, &instance) in attempts.iter().zip(instance_of) {
        for (path, bytes) in &attempt.inputs {
            let (writer, written) = writers.get(&(attempt.case, path.as_str())).copied().unwrap_or((NONE, None));
            if let Some(bytes) = bytes.or(written).filter(|&bytes| bytes >= 0) {
                gathered.add(writer, instance, bytes);
                any |= writer != NONE;
            }
        }
    }
    any.then(|| flowmine_activity_log::Flows { declared: true, ..gathered.finish(left_out) })
}

/// Counts what was traced and belongs to nothing in the log.
fn of_others(from: &Tasks<'_>, log: &mut ActivityLog, read: i128, written: i128) -> Result<(), TaskLogError> {
    let (mut all_read, mut all_written) = (0i128, 0i128);
    from.dataset.read::<TaskTotal<'static>, TaskLogError>(|row| {
        all_read += i128::from(row.read_bytes);
        all_written += i128::from(row.written_bytes);
        Ok(())
    })?;
    log.left_out.read_bytes_of_others = u64::try_from(all_read - read).unwrap_or(0);
    log.left_out.written_bytes_of_others = u64::try_from(all_written - written).unwrap_or(0);
    Ok(())
}

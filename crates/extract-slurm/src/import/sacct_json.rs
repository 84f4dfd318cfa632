//! `sacct --json`: 22.05's shape and those of the data_parser plugins.
//!
//! Times are in an object (`time.submission`, 0 or null when there is none), limits in minutes,
//! memory in MiB; the steps stand inside their job, with `tres.requested.total` what sacct(1) calls
//! TRESUsageInTot and `tres.consumed.total` what it calls TRESUsageOutTot. The indices of a pending
//! array are a hexadecimal bit mask (`0x3FF`) in 22.05. 22.05 also says `return_code` 0 of every
//! job that failed with a code; such a 0 is unknown here.

use std::borrow::Cow;

use flowmine_schema::diagnostic::Diagnostics;
use flowmine_schema::tables::source;
use flowmine_slurm::index_set::IndexSet;
use flowmine_slurm::job_ref::JobRef;
use flowmine_slurm::state::State;
use serde_json::Value;

use super::error::{ImportError, usable};
use super::imported::Imported;
use super::json::{self, Job, Number};
use super::kind::FileKind;
use super::squeue_json::{exit, mebibytes, minutes, state};
use crate::record::JobRecord;

const KEEP: &[&str] = &[
    "account",
    "allocation_nodes",
    "array",
    "association",
    "cluster",
    "comment",
    "constraints",
    "exit_code",
    "group",
    "het",
    "job_id",
    "kill_request_user",
    "name",
    "nodes",
    "partition",
    "priority",
    "qos",
    "required",
    "state",
    "steps",
    "submit_line",
    "time",
    "tres",
    "user",
    "working_directory",
];

/// Reads what `sacct --json` printed (sacct(1)).
///
/// # Errors
/// See [`ImportError`].
pub fn read<'a>(bytes: &'a [u8], diagnostics: &mut Diagnostics) -> Result<Imported<'a>, ImportError> {
    let kind = FileKind::SacctJson;
    let mut records = Vec::new();
    let around = json::read(bytes, kind, KEEP, diagnostics, |job, diagnostics| match record(job, diagnostics) {
        Ok(record) => {
            let cluster = job.text(&["cluster"]).or_else(|| job.text(&["association", "cluster"]));
            records.push((cluster.map(|cluster| cluster.into_owned()), record));
        }
        Err(why) => diagnostics.push(job.reject(why)),
    })?;
    usable(kind, records.len(), around.jobs - records.len() as u64, diagnostics)?;
    if let Some(cluster) = around.cluster() {
        for (of_record, _) in &mut records {
            of_record.get_or_insert_with(|| cluster.clone());
        }
    }
    Ok(Imported::Accounting { source: source::SACCT_JSON, records })
}

fn record(job: &Job, diagnostics: &mut Diagnostics) -> Result<JobRecord<'static>, &'static str> {
    let job_id = job.nonzero(&["job_id"]).filter(|&id| id > 0).ok_or("it has no job_id")?;
    let state = state(job, &["state", "current"]).ok_or("it has no state")?;
    let job_ref = match (job.nonzero(&["array", "job_id"]), job.nonzero(&["het", "job_id"])) {
        (Some(array), _) => match job.number(&["array", "task_id"]).value() {
            Some(task) => JobRef::Task { array, task },
            None => JobRef::PendingArray { array, tasks: tasks(job, diagnostics).into() },
        },
        (None, Some(leader)) => JobRef::Het { leader, offset: job.number(&["het", "job_offset"]).value().unwrap_or(0) },
        (None, None) => JobRef::Single,
    };
    let mut record = JobRecord::new(job_id, job_ref, state);
    record.submit_ns = job.time(&["time", "submission"]);
    record.start_ns = job.time(&["time", "start"]);
    record.end_ns = job.time(&["time", "end"]);
    record.times_out_of_order().for_each(|what| diagnostics.push(job.warn("times_out_of_order", what)));
    record.time_limit_s = minutes(job.number(&["time", "limit"]));
    record.name = job.text(&["name"]);
    record.user = job.text(&["user"]).or_else(|| job.text(&["association", "user"]));
    record.group = job.text(&["group"]);
    record.account = job.text(&["account"]).or_else(|| job.text(&["association", "account"]));
    record.partition = job.text(&["partition"]);
    record.qos = job.text(&["qos"]);
    record.reason = job.text(&["state", "reason"]).filter(|reason| reason != "None");
    record.comment = job.text(&["comment", "job"]).or_else(|| job.text(&["comment"]));
    record.work_dir = job.text(&["working_directory"]);
    record.nodes = job.nonzero(&["allocation_nodes"]).or_else(|| counted(job, &["tres", "requested"], "node", ""));
    record.node_list = job.text(&["nodes"]).filter(|nodes| nodes != "None assigned");
    record.cpus = counted(job, &["tres", "allocated"], "cpu", "").or_else(|| job.nonzero(&["required", "CPUs"]));
    record.memory_bytes = memory(job);
    record.eligible_ns = job.time(&["time", "eligible"]);
    record.priority = job.number(&["priority"]).value();
    record.features = job.text(&["constraints"]);
    record.requested_tres = tres_list(job.get(&["tres", "requested"]));
    record.allocated_tres = tres_list(job.get(&["tres", "allocated"]));
    record.cpu_time_ns = cpu_time(job);
    record.submit_line = job.text(&["submit_line"]);
    record.dependency = record.submitted_dependency().map(|(dependency, _)| dependency.into());
    if record.state.has_ended() {
        (record.exit_code, record.exit_signal) = exit(job, &["exit_code"]);
        // 22.05 says 0 of failed jobs too, where sacct's text knows better.
        if record.state == State::Failed && record.exit_signal.is_none() {
            record.exit_code = record.exit_code.filter(|&code| code != 0);
        }
    }
    if record.state == State::Cancelled {
        record.cancelled_by_uid = job.number(&["kill_request_user"]).value();
    }
    for step in job.get(&["steps"]).and_then(Value::as_array).into_iter().flatten() {
        let max = step.get("tres").and_then(|tres| tres.get("requested")).and_then(|usage| usage.get("max"));
        record.max_rss_bytes = record.max_rss_bytes.max(count_in(max, "mem", "").filter(|&bytes| bytes != 0));
        let total = step.get("tres").and_then(|tres| tres.get("requested")).and_then(|usage| usage.get("total"));
        record.step_memory_bytes = record.step_memory_bytes.max(count_in(total, "mem", "").filter(|&bytes| bytes != 0));
        record.gpu_percent = record.gpu_percent.max(count_in(total, "gres", "gpuutil"));
        record.gpu_memory_bytes = record.gpu_memory_bytes.max(count_in(total, "gres", "gpumem"));
        for (direction, sum) in [("requested", &mut record.read_bytes), ("consumed", &mut record.written_bytes)] {
            let total = step.get("tres").and_then(|tres| tres.get(direction)).and_then(|usage| usage.get("total"));
            if let Some(bytes) = count_in(total, "fs", "disk") {
                flowmine_sums::add_to(sum.get_or_insert(0), bytes);
            }
        }
    }
    for (what, sum) in [("bytes read", record.read_bytes), ("bytes written", record.written_bytes), ("CPU time", record.cpu_time_ns)] {
        if sum.is_some_and(flowmine_sums::is_bound) {
            diagnostics
                .push(job.warn("sum_out_of_range", &format!("the sum of the {what} of its steps does not fit; kept as {}", i64::MAX)));
        }
    }
    for path in [["time", "submission"], ["time", "start"], ["time", "end"], ["time", "limit"]] {
        if job.number(&path) == Number::Odd {
            diagnostics.push(job.warn("json_value", &format!("{} is not a number; treated as unknown", path.join("."))));
        }
    }
    Ok(record)
}

/// A resource in a list of them.
fn counted(job: &Job, path: &[&str], kind: &str, name: &str) -> Option<i64> {
    count_in(job.get(path), kind, name).filter(|&count| count != 0)
}

fn count_in(list: Option<&Value>, kind: &str, name: &str) -> Option<i64> {
    let has = |item: &Value, key: &str| item.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let item = list?.as_array()?.iter().find(|item| has(item, "type") == kind && has(item, "name") == name)?;
    json::number(item.get("count")).value().filter(|&count| count >= 0)
}

/// A list of resources as sacct's text writes it: `cpu=4,gres/gpu=2`. Memory is in MiB here; the
/// unit is said, as there.
fn tres_list(list: Option<&Value>) -> Option<Cow<'static, str>> {
    let mut parts = Vec::new();
    for item in list?.as_array()? {
        let text = |key: &str| item.get(key).and_then(Value::as_str).unwrap_or_default();
        let Some(count) = json::number(item.get("count")).value() else { continue };
        let slash = if text("name").is_empty() { "" } else { "/" };
        let unit = if text("type") == "mem" { "M" } else { "" };
        parts.push(format!("{}{slash}{}={count}{unit}", text("type"), text("name")));
    }
    (!parts.is_empty()).then(|| parts.join(",").into())
}

/// CPU seconds and microseconds of all steps, in nanoseconds: `time.total`. Where 22.05 says 0
/// there, those of the steps count.
fn cpu_time(job: &Job) -> Option<i64> {
    let of = |time: Option<&Value>| {
        let total = time?.get("total")?;
        let seconds = json::number(total.get("seconds")).value()?;
        let microseconds = json::number(total.get("microseconds")).value().unwrap_or(0);
        seconds.checked_mul(1_000_000_000)?.checked_add(microseconds.checked_mul(1000)?).filter(|&ns| ns != 0)
    };
    let steps = job.get(&["steps"]).and_then(Value::as_array).into_iter().flatten();
    of(job.get(&["time"])).or_else(|| steps.filter_map(|step| of(step.get("time"))).reduce(flowmine_sums::add))
}

/// `memory_per_node` or `memory_per_cpu`; in 22.05 `memory`, with the topmost bit for "per CPU".
fn memory(job: &Job) -> Option<i64> {
    let newer = job.nonzero(&["required", "memory_per_node"]).or_else(|| job.nonzero(&["required", "memory_per_cpu"]));
    if newer.is_some() {
        return mebibytes(newer);
    }
    let older = job.get(&["required", "memory"])?;
    let number = older.as_u64().map(|memory| memory & !(1 << 63)).or_else(|| older.as_i64().map(|memory| memory as u64 & !(1 << 63)))?;
    mebibytes(i64::try_from(number).ok().filter(|&number| number != 0))
}

/// The indices of a pending array, as squeue writes them, with the limit.
fn tasks(job: &Job, diagnostics: &mut Diagnostics) -> String {
    let Some(said) = job.text(&["array", "task"]) else { return String::new() };
    let list = match said.strip_prefix("0x") {
        Some(mask) => match indices(mask) {
            Some(list) => list,
            None => {
                diagnostics.push(job.warn("json_value", "its array's task list is not a bit mask; treated as unknown"));
                String::new()
            }
        },
        None => said.trim_matches(['[', ']']).to_owned(),
    };
    match job.nonzero(&["array", "limits", "max", "running", "tasks"]) {
        Some(limit) if !list.is_empty() && !list.contains('%') => format!("{list}%{limit}"),
        _ => list,
    }
}

/// A bit mask in hexadecimal as a list of indices.
fn indices(mask: &str) -> Option<String> {
    if mask.len() > IndexSet::MOST_RANGES / 4 + 1 {
        return None;
    }
    let mut list = String::new();
    let mut range: Option<(usize, usize)> = None;
    let mut close = |range: (usize, usize)| {
        let comma = if list.is_empty() { "" } else { "," };
        let (first, last) = range;
        list.push_str(&if first == last { format!("{comma}{first}") } else { format!("{comma}{first}-{last}") });
    };
    for (place, digit) in mask.bytes().rev().enumerate() {
        let digit = char::from(digit).to_digit(16)?;
        for index in (0..4).filter(|bit| digit >> bit & 1 == 1).map(|bit| place * 4 + bit) {
            range = match range {
                Some((first, last)) if last + 1 == index => Some((first, index)),
                Some(done) => {
                    close(done);
                    Some((index, index))
                }
                None => Some((index, index)),
            };
        }
    }
    if let Some(done) = range {
        close(done);
    }
    Some(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bit_masks() {
        assert_eq!(indices("3FF").as_deref(), Some("0-9"));
        assert_eq!(indices("0").as_deref(), Some(""));
        assert_eq!(indices("8000000000000000A").as_deref(), Some("1,3,67"));
        assert_eq!(indices("1,2"), None);
        assert_eq!(indices(&"F".repeat(2_000_000)), None);
    }
}

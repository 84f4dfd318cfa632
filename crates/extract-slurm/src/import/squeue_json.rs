//! `squeue --json` (and `scontrol show jobs --json`): 22.05's shape and those of the data_parser
//! plugins.
//!
//! Numbers may be bare, `{"set", "infinite", "number"}`, or missing; states a word or a list of a
//! base state and flags. `array_job_id` 0 is no array, `het_job_id` 0 no heterogeneous job, a time
//! of 0 not set; limits are in minutes, memory in MiB, exit codes either wait(2)'s status or an
//! object.

use std::borrow::Cow;

use flowmine_schema::diagnostic::Diagnostics;
use flowmine_schema::tables::source;
use flowmine_schema::time;
use flowmine_slurm::job_ref::JobRef;
use flowmine_slurm::state::{State, from_accounting, from_flags};
use serde_json::Value;

use super::cut_array::cut_array;
use super::error::{ImportError, usable};
use super::imported::Imported;
use super::json::{self, Job, Number};
use super::kind::FileKind;
use crate::record::JobRecord;

const KEEP: &[&str] = &[
    "account",
    "allocating_node",
    "array_job_id",
    "array_task_id",
    "array_task_string",
    "cluster",
    "command",
    "comment",
    "cpus",
    "current_working_directory",
    "dependency",
    "eligible_time",
    "end_time",
    "exit_code",
    "features",
    "group_name",
    "het_job_id",
    "het_job_offset",
    "job_id",
    "job_state",
    "licenses",
    "memory_per_cpu",
    "memory_per_node",
    "name",
    "nice",
    "node_count",
    "nodes",
    "partition",
    "priority",
    "qos",
    "start_time",
    "state_reason",
    "submit_line",
    "submit_time",
    "time_limit",
    "tres_alloc_str",
    "tres_per_node",
    "tres_req_str",
    "user_name",
];

/// Reads what `squeue --json` printed (squeue(1)).
///
/// # Errors
/// See [`ImportError`].
pub fn read<'a>(bytes: &'a [u8], diagnostics: &mut Diagnostics) -> Result<Imported<'a>, ImportError> {
    let kind = FileKind::SqueueJson;
    let mut records = Vec::new();
    let mut clusters: Vec<Cow<'static, str>> = Vec::new();
    let errors = diagnostics.errors();
    let around = json::read(bytes, kind, KEEP, diagnostics, |job, diagnostics| match record(job, diagnostics) {
        Ok(record) => {
            if let Some(cluster) = job.text(&["cluster"]).filter(|cluster| !clusters.contains(cluster)).filter(|_| clusters.len() < 9) {
                clusters.push(cluster);
            }
            records.push(record);
        }
        Err(why) => diagnostics.push(job.reject(why)),
    })?;
    usable(kind, records.len(), around.jobs - records.len() as u64, diagnostics)?;
    if clusters.len() > 1 {
        return Err(ImportError::SeveralClusters { clusters: clusters.join(", ") });
    }
    let cluster = around.cluster().or(clusters.into_iter().next().map(Cow::into_owned));
    let updated = json::number(Some(&around.last_update)).value().filter(|&seconds| seconds > 0);
    Ok(Imported::Queue {
        observed_at_ns: updated.and_then(time::from_seconds),
        source: source::SQUEUE_JSON,
        records,
        cluster,
        whole: diagnostics.errors() == errors,
    })
}

fn record(job: &Job, diagnostics: &mut Diagnostics) -> Result<JobRecord<'static>, &'static str> {
    let job_id = job.nonzero(&["job_id"]).filter(|&id| id > 0).ok_or("it has no job_id")?;
    let state = state(job, &["job_state"]).ok_or("it has no job_state")?;
    let het = job.nonzero(&["het_job_id"]);
    let job_ref = match job.nonzero(&["array_job_id"]) {
        Some(array) => match (job.number(&["array_task_id"]).value(), job.text(&["array_task_string"])) {
            (Some(task), _) => JobRef::Task { array, task },
            (None, tasks) => JobRef::PendingArray { array, tasks: tasks.unwrap_or_default() },
        },
        None => match het {
            Some(leader) => JobRef::Het { leader, offset: job.number(&["het_job_offset"]).value().unwrap_or(0) },
            None => JobRef::Single,
        },
    };
    if let JobRef::PendingArray { tasks, .. } = &job_ref
        && let Some(message) = cut_array(tasks)
    {
        let warning = job.warn("array_cut", &message);
        diagnostics.push(warning.advise("run squeue with SLURM_BITSTR_LEN=0 in the environment for whole lists"));
    }
    let mut record = JobRecord::new(job_id, job_ref, state);
    record.submit_ns = job.time(&["submit_time"]);
    record.start_ns = job.time(&["start_time"]);
    record.end_ns = job.time(&["end_time"]);
    record.time_limit_s = minutes(job.number(&["time_limit"]));
    record.name = job.text(&["name"]);
    record.user = job.text(&["user_name"]);
    record.group = job.text(&["group_name"]);
    record.account = job.text(&["account"]);
    record.partition = job.text(&["partition"]);
    record.qos = job.text(&["qos"]);
    record.reason = job.text(&["state_reason"]).filter(|reason| reason != "None");
    record.comment = job.text(&["comment"]);
    record.command_line = job.text(&["command"]);
    record.work_dir = job.text(&["current_working_directory"]);
    record.nodes = job.nonzero(&["node_count"]);
    record.node_list = job.text(&["nodes"]);
    record.cpus = job.nonzero(&["cpus"]);
    record.memory_bytes = mebibytes(job.nonzero(&["memory_per_node"]).or(job.nonzero(&["memory_per_cpu"])));
    record.priority = job.number(&["priority"]).value();
    record.nice = job.get(&["nice"]).and_then(Value::as_i64);
    record.features = job.text(&["features"]);
    record.tres_per_node = job.text(&["tres_per_node"]);
    record.licenses = job.text(&["licenses"]);
    record.submit_node = job.text(&["allocating_node"]);
    record.requested_tres = job.text(&["tres_req_str"]);
    record.allocated_tres = job.text(&["tres_alloc_str"]);
    record.eligible_ns = job.time(&["eligible_time"]);
    record.dependency = job.text(&["dependency"]);
    record.tells_dependency = job.get(&["dependency"]).is_some();
    record.submit_line = job.text(&["submit_line"]);
    if record.dependency.is_none() && record.state == State::Pending {
        // What is met already is no longer shown; the line with which it was submitted still says it.
        record.dependency = record.submitted_dependency().map(|(dependency, _)| dependency.into());
    }
    if record.state.has_ended() {
        (record.exit_code, record.exit_signal) = exit(job, &["exit_code"]);
    } else if record.time_limit_s.is_none() {
        // An end a year after the start means "never"; squeue's text has NONE.
        record.end_ns = None;
    }
    odd_numbers(
        job,
        &["submit_time", "start_time", "end_time", "time_limit", "node_count", "cpus", "memory_per_node", "memory_per_cpu"],
        diagnostics,
    );
    Ok(record)
}

/// Reports numbers that are none.
fn odd_numbers(job: &Job, keys: &[&str], diagnostics: &mut Diagnostics) {
    for key in keys {
        if job.number(&[key]) == Number::Odd {
            diagnostics.push(job.warn("json_value", &format!("{key} is not a number; treated as unknown")));
        }
    }
}

/// The state at a path: a word, or a list of a state and flags.
pub(super) fn state(job: &Job, path: &[&str]) -> Option<State> {
    let mut words = job.states(path);
    match words.len() {
        0 => None,
        1 => words.pop().map(|word| from_accounting(&word).0),
        _ => from_flags(words),
    }
}

/// A limit in minutes, in seconds; nothing when there is none.
pub(super) fn minutes(number: Number) -> Option<i64> {
    number.value()?.checked_mul(60)
}

/// Converts mebibytes (2^20 bytes) to bytes; `None` where that is more than an `i64` holds.
pub(super) fn mebibytes(number: Option<i64>) -> Option<i64> {
    number?.checked_mul(1 << 20)
}

/// An exit code and signal: wait(2)'s status, bare or as a data_parser number, or an object that
/// has both.
pub(super) fn exit(job: &Job, path: &[&str]) -> (Option<i64>, Option<i64>) {
    let Some(value) = job.get(path) else { return (None, None) };
    if value.get("return_code").is_none() && value.get("signal").is_none() {
        let Some(status) = json::number(Some(value)).value().filter(|status| (0..1 << 16).contains(status)) else { return (None, None) };
        return (Some(status >> 8), Some(status & 0x7f).filter(|&signal| signal != 0));
    }
    let signal = value.get("signal").and_then(|signal| signal.get("id").or_else(|| signal.get("signal_id")));
    let signal = json::number(signal).value().filter(|&signal| signal != 0);
    let code = json::number(value.get("return_code")).value();
    // sacct's text has 0 next to a signal.
    (code.or(signal.map(|_| 0)), signal)
}

//! Columns of attempts that a log of jobs contains.

use flowmine_correlate::{JobAttempt, PackedInt, Sym};

/// A name and where its value comes from.
pub(super) type Pick<From, To> = (&'static str, fn(&From) -> To);

/// The texts of a job. Those of [`flowmine_correlate::attempts::CHANGING`] may have had other
/// values before ([`flowmine_correlate::Jobs::value_at`]).
pub(super) const TEXTS: [Pick<JobAttempt, Option<Sym>>; 15] = [
    ("cluster", |a| Some(a.cluster)),
    ("job", |a| Some(a.job)),
    ("name", |a| a.name),
    ("account", |a| a.account),
    ("partition", |a| a.partition),
    ("qos", |a| a.qos),
    ("comment", |a| a.comment),
    ("activity", |a| Some(a.activity)),
    ("command", |a| a.command),
    ("arguments", |a| a.arguments),
    ("work_dir", |a| a.work_dir),
    ("features", |a| a.features),
    ("tres_per_node", |a| a.tres_per_node),
    ("requested_tres", |a| a.requested_tres),
    ("allocated_tres", |a| a.allocated_tres),
];

/// The numbers of a job. Those of [`flowmine_correlate::attempts::CHANGING`] may have had other
/// values before.
pub(super) const NUMBERS: [Pick<JobAttempt, PackedInt>; 21] = [
    ("job_id", |a| PackedInt::known(a.job_id)),
    ("attempt", |a| PackedInt::known(i64::from(a.number))),
    ("array_job_id", |a| a.array_job_id),
    ("array_task_id", |a| a.array_task_id),
    ("het_job_id", |a| a.het_job_id),
    ("het_offset", |a| a.het_offset),
    ("nodes", |a| a.nodes),
    ("cpus", |a| a.cpus),
    ("memory_bytes", |a| a.memory_bytes),
    ("time_limit_s", |a| a.time_limit_s),
    ("priority", |a| a.priority),
    ("nice", |a| a.nice),
    ("gpus", |a| a.gpus),
    ("gpu_percent", |a| a.gpu_percent),
    ("max_rss_bytes", |a| a.max_rss_bytes),
    ("cpu_time_ns", |a| a.cpu_time_ns),
    ("job_memory_bytes", |a| a.job_memory_bytes),
    ("job_peak_bytes", |a| a.job_peak_bytes),
    ("exit_code", |a| a.exit_code),
    ("exit_signal", |a| a.exit_signal),
    ("cancelled_by_uid", |a| a.cancelled_by_uid),
];

/// Its bytes as accounting counted them over its whole run.
pub(super) const BYTES: [Pick<JobAttempt, PackedInt>; 2] = [("read_bytes", |a| a.read_bytes), ("written_bytes", |a| a.written_bytes)];

/// The times of a job.
pub(super) const TIMES: [Pick<JobAttempt, PackedInt>; 4] =
    [("submit", |a| a.submit_ns), ("eligible", |a| a.eligible_ns), ("start", |a| a.start_ns), ("end", |a| a.end_ns)];

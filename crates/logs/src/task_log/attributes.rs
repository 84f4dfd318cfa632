//! Which columns become attributes, by which names. A value that is not known has no attribute.

use flowmine_attribution::task_attempts::Traced;
use flowmine_eventlog::{Attribute, Value, ValueType};
use flowmine_privacy::drop::DropColumns;
use flowmine_schema::tables::{Process, TaskRun};

use ValueType::{Boolean, Float, Integer, String, Time};

/// The name of an attribute, its type, and where its value comes from.
pub type Pick<Row> = (&'static str, ValueType, for<'r> fn(&'r Row) -> Option<Value<'r>>);

fn text(value: Option<&str>) -> Option<Value<'_>> {
    value.map(|text| Value::String(text.into()))
}

fn integer(value: Option<impl Into<i64>>) -> Option<Value<'static>> {
    value.map(|number| Value::Integer(number.into()))
}

fn time(value: Option<i64>) -> Option<Value<'static>> {
    value.map(Value::Time)
}

/// What engines report of a task.
pub const TASK: &[Pick<TaskRun<'static>>] = &[
    ("engine", String, |t| text(Some(&t.engine))),
    ("run_id", String, |t| text(t.run_id.as_deref())),
    ("run_name", String, |t| text(t.run_name.as_deref())),
    ("task_id", String, |t| text(t.task_id.as_deref())),
    ("attempt", Integer, |t| integer(t.attempt)),
    ("name", String, |t| text(Some(&t.name))),
    ("logical_task", String, |t| text(Some(&t.logical_task))),
    ("tag", String, |t| text(t.tag.as_deref())),
    ("cache_key", String, |t| text(t.cache_key.as_deref())),
    ("work_dir", String, |t| text(t.work_dir.as_deref())),
    ("executor", String, |t| text(t.executor.as_deref())),
    ("queue", String, |t| text(t.queue.as_deref())),
    ("native_id", String, |t| text(t.native_id.as_deref())),
    ("native_kind", String, |t| text(t.native_kind.as_deref())),
    ("host", String, |t| text(t.host.as_deref())),
    ("user", String, |t| text(t.user.as_deref())),
    ("container_image", String, |t| text(t.container_image.as_deref())),
    ("container_id", String, |t| text(t.container_id.as_deref())),
    ("status", String, |t| text(Some(&t.status))),
    ("exit_code", Integer, |t| integer(t.exit_code)),
    ("cached", Boolean, |t| Some(Value::Boolean(t.cached))),
    ("command", String, |t| text(t.command.as_deref())),
    ("error", String, |t| text(t.error.as_deref())),
    ("layers", String, |t| text(t.layers.as_deref())),
    ("failed_layer", String, |t| text(t.failed_layer.as_deref())),
    ("failed_in", String, |t| text(t.failed_in.as_deref())),
    ("cpus", Integer, |t| integer(t.cpus)),
    ("memory_bytes", Integer, |t| integer(t.memory_bytes)),
    ("disk_bytes", Integer, |t| integer(t.disk_bytes)),
    ("time_s", Float, |t| t.time_s.map(Value::Float)),
    ("duration_s", Float, |t| t.duration_s.map(Value::Float)),
    ("realtime_s", Float, |t| t.realtime_s.map(Value::Float)),
    ("cpu_percent", Float, |t| t.cpu_percent.map(Value::Float)),
    ("peak_rss_bytes", Integer, |t| integer(t.peak_rss_bytes)),
    ("peak_vmem_bytes", Integer, |t| integer(t.peak_vmem_bytes)),
    ("rchar_bytes", Integer, |t| integer(t.rchar_bytes)),
    ("wchar_bytes", Integer, |t| integer(t.wchar_bytes)),
    ("read_bytes", Integer, |t| integer(t.read_bytes)),
    ("write_bytes", Integer, |t| integer(t.write_bytes)),
    ("queued", Time, |t| time(t.queued_ns)),
    ("submitted", Time, |t| time(t.submitted_ns)),
    ("started", Time, |t| time(t.started_ns)),
    ("finished", Time, |t| time(t.finished_ns)),
];

/// Attributes of a task from traces, in addition to those that its engine reports.
pub const TRACED: &[Pick<Traced>] = &[
    ("traced_processes", Integer, |t| integer(Some(t.processes))),
    ("traced_opens", Integer, |t| integer(Some(t.opens))),
    ("traced_read_calls", Integer, |t| integer(Some(t.read_calls))),
    ("traced_write_calls", Integer, |t| integer(Some(t.write_calls))),
    ("traced_read_bytes", Integer, |t| integer(Some(t.read_bytes))),
    ("traced_written_bytes", Integer, |t| integer(Some(t.written_bytes))),
    ("traced_unique_read_bytes", Integer, |t| integer(t.unique_read_bytes)),
    ("traced_unique_written_bytes", Integer, |t| integer(t.unique_written_bytes)),
    ("traced_read_time_ns", Integer, |t| integer(Some(t.read_time_ns))),
    ("traced_write_time_ns", Integer, |t| integer(Some(t.write_time_ns))),
    ("traced_utime_ns", Integer, |t| integer(t.utime_ns)),
    ("traced_stime_ns", Integer, |t| integer(t.stime_ns)),
    ("traced_first_access", Time, |t| time(t.first_ns)),
    ("traced_last_access", Time, |t| time(t.last_ns)),
];

/// The same under the keys of the XES extension `io`.
pub const IO: &[Pick<Traced>] = &[
    ("io:read_bytes", Integer, |t| integer(Some(t.read_bytes))),
    ("io:written_bytes", Integer, |t| integer(Some(t.written_bytes))),
    ("io:read_operations", Integer, |t| integer(Some(t.read_calls))),
    ("io:write_operations", Integer, |t| integer(Some(t.write_calls))),
    ("io:unique_read_bytes", Integer, |t| integer(t.unique_read_bytes)),
    ("io:unique_written_bytes", Integer, |t| integer(t.unique_written_bytes)),
    ("io:read_time_ns", Integer, |t| integer(Some(t.read_time_ns))),
    ("io:write_time_ns", Integer, |t| integer(Some(t.write_time_ns))),
    ("io:first_access", Time, |t| time(t.first_ns)),
    ("io:last_access", Time, |t| time(t.last_ns)),
];

/// What is known of a process.
pub const PROCESS: &[Pick<Process<'static>>] = &[
    ("host", String, |p| text(Some(&p.host))),
    ("pid", Integer, |p| integer(Some(p.pid))),
    ("container_pid", Integer, |p| integer(p.container_pid)),
    ("parent_pid", Integer, |p| integer(p.parent_pid)),
    ("first_seen", String, |p| text(Some(&p.first_seen))),
    ("executable", String, |p| text(p.executable.as_deref())),
    ("command_line", String, |p| text(p.command_line.as_deref())),
    ("command_line_cut", Boolean, |p| p.command_line.as_ref().map(|_| Value::Boolean(p.command_line_cut))),
    ("cgroup_path", String, |p| text(p.cgroup_path.as_deref())),
    ("exit_code", Integer, |p| integer(p.exit_code)),
    ("exit_signal", Integer, |p| integer(p.exit_signal)),
    ("utime_ns", Integer, |p| integer(p.utime_ns)),
    ("stime_ns", Integer, |p| integer(p.stime_ns)),
    ("rchar_bytes", Integer, |p| integer(p.rchar_bytes)),
    ("wchar_bytes", Integer, |p| integer(p.wchar_bytes)),
    ("read_bytes", Integer, |p| integer(p.read_bytes)),
    ("write_bytes", Integer, |p| integer(p.write_bytes)),
    ("started", Time, |p| time(p.started_ns)),
    ("ended", Time, |p| time(p.exit_ns)),
];

/// The attributes of a row, without those that are left out.
pub fn of<'r, Row>(picks: &[Pick<Row>], row: &'r Row, drop: &DropColumns) -> impl Iterator<Item = Attribute<'r>> {
    let kept = picks.iter().filter(|(name, ..)| !drop.leaves_out(name));
    kept.filter_map(|(name, _, pick)| pick(row).map(|value| Attribute::new(*name, value)))
}

/// Names and types, for the types of a log.
pub fn declared<Row>(picks: &[Pick<Row>]) -> impl Iterator<Item = (std::string::String, ValueType)> {
    picks.iter().map(|(name, kind, _)| ((*name).to_owned(), *kind))
}

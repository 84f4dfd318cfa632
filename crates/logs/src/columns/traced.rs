//! What was traced of a job or task, as measures of an instance.

use flowmine_activity_log::Measure;
use flowmine_attribution::task_attempts::Traced;

/// Adds what was traced of a job or task to an instance's measures.
pub(super) fn put_traced(traced: &Traced, measures: &mut Vec<(Measure, i64)>) {
    measures.extend([
        (Measure::ReadBytes, traced.read_bytes),
        (Measure::WrittenBytes, traced.written_bytes),
        (Measure::ReadCalls, traced.read_calls),
        (Measure::WriteCalls, traced.write_calls),
        (Measure::IoTimeNs, flowmine_sums::add(traced.read_time_ns, traced.write_time_ns)),
    ]);
    measures.extend(traced.unique_read_bytes.map(|bytes| (Measure::UniqueReadBytes, bytes)));
    measures.extend(traced.utime_ns.zip(traced.stime_ns).map(|(user, system)| (Measure::CpuTimeNs, flowmine_sums::add(user, system))));
}

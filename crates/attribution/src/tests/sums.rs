//! What a row of `task_io` says of many operations.

use super::*;

const A: P = P("n1", 10, 1);

#[test]
fn by_result_and_not_by_what_was_asked_for() {
    let mut world = World::default();
    world.process(A, 11, |_| {});
    world.task("makeflow", "1", (1, 11), |row| {
        (row.native_id, row.native_kind) = (Some("10".into()), Some("pid".into()));
        (row.started_ns, row.started_precision_ns) = (Some(T0 + SECOND), Some(0));
    });
    world.opens(A, 2000, F(1, 5), "/d/f", 0o2);
    // A file of 150 bytes, asked for 4096 at a time: the second read shows its end.
    for (ms, offset, bytes) in [(3000, 0, 150), (4000, 150, 0), (5000, 0, 150), (6000, 20, 10)] {
        world.event(A, ms, "read", F(1, 5), |row| (row.offset, row.size, row.result) = (Some(offset), Some(4096), Some(bytes)));
    }
    world.event(A, 6500, "read", F(1, 5), |row| (row.offset, row.size, row.result) = (None, Some(4096), Some(-5)));
    for (ms, offset) in [(7000, 1000), (7100, 1100), (7200, 1200), (7300, 1300)] {
        world.writes(A, ms, F(1, 5), offset, 10);
    }
    // Two pages of a mapping.
    for (ms, offset) in [(8000, 0), (8100, 4096)] {
        world.event(A, ms, "fault", F(1, 5), |row| (row.offset, row.size) = (Some(offset), Some(4096)));
    }
    world.event(A, 7900, "mmap", F(1, 5), |row| (row.offset, row.size) = (Some(0), Some(10_000)));
    let told = world.correlated();
    let [row] = &told.io[..] else { panic!("{:?}", told.io) };
    assert_eq!((row.opens, row.read_calls, row.read_errors, row.read_bytes, row.unique_read_bytes), (1, 5, 1, 310, Some(150)));
    assert_eq!((row.read_ranges, row.read_offset_min, row.read_offset_end), (Some(1), Some(0), Some(150)));
    assert_eq!((row.sequential_reads, row.strided_reads, row.random_reads), (1, 0, 2));
    assert_eq!((row.read_sizes.as_deref(), row.read_size_min, row.read_size_max), (Some(r#"{"4096":5}"#), Some(4096), Some(4096)));
    assert_eq!(row.read_latencies.as_deref(), Some(r#"{"1024":5}"#));
    assert_eq!((row.written_bytes, row.unique_written_bytes, row.written_ranges), (40, Some(40), Some(4)));
    assert_eq!((row.sequential_writes, row.strided_writes, row.random_writes), (0, 2, 1));
    assert_eq!((row.read_pattern.as_deref(), row.write_pattern.as_deref()), (Some("mixed"), Some("mixed")));
    assert_eq!((row.read_time_ns, row.read_latency_max_ns, row.faults), (5000, Some(1000), 2));
    assert_eq!((row.mappings, row.mapped_bytes, row.faulted_bytes), (1, Some(10_000), Some(8192)));
    assert_eq!((row.first_read_ns, row.last_read_ns), (Some(T0 + 3 * SECOND), Some(T0 + 6 * SECOND + 1000)));
    // From 3 s to 7.300001 s of ten seconds.
    assert!((row.access_share.unwrap() - 0.4300001).abs() < 1e-9);
    assert!((row.read_bytes_per_s.unwrap() - 310.0 / 3.000_001).abs() < 1e-6);
    let total = &told.totals[0];
    assert_eq!((total.files, total.errors, total.time_ns, total.time_source.as_deref()), (1, 1, Some(10 * SECOND), Some("engine")));
}

/// One write with an unknown offset: then neither the written bytes, nor their range, nor the order
/// of the others is known.
#[test]
fn one_unknown_offset_leaves_no_ranges_and_no_pattern() {
    let mut world = World::default();
    world.process(A, 11, |_| {});
    world.task_of_pid("1", A, 11);
    world.opens(A, 2000, F(1, 5), "/d/f", 0o2);
    for (ms, offset) in [(3000, Some(0)), (3100, Some(10)), (3200, None), (3300, Some(30)), (3400, Some(40))] {
        world.event(A, ms, "write", F(1, 5), |row| {
            (row.offset, row.offset_uncertain) = (offset, offset.is_none().then_some(true));
            (row.size, row.result) = (Some(10), Some(10));
        });
        world.reads(A, ms + 1, F(1, 5), ms, 10);
    }
    let told = world.correlated();
    let [row] = &told.io[..] else { panic!("{:?}", told.io) };
    assert_eq!((row.write_calls, row.written_bytes, row.unique_written_bytes, row.written_ranges), (5, 50, None, None));
    assert_eq!((row.write_offset_min, row.write_offset_end, row.write_pattern.as_deref()), (None, None, None));
    // The second follows the first, the fifth the fourth; of the fourth it is not known what it follows.
    assert_eq!((row.sequential_writes, row.strided_writes, row.random_writes), (2, 0, 0));
    assert_eq!((row.unique_read_bytes, row.read_pattern.as_deref()), (Some(50), Some("mixed")));
    assert_eq!((told.totals[0].unique_read_bytes, told.totals[0].unique_written_bytes), (Some(50), None));
}

#[test]
fn processes_of_a_task_are_added_up_by_file() {
    let mut world = World::default();
    let child = P("n1", 11, 2);
    world.process(A, 11, |_| {});
    world.process(child, 8, |row| (row.parent_pid, row.parent_start_ns) = (Some(10), Some(SECOND)));
    world.task_of_pid("1", A, 11);
    world.opens(A, 1500, F(1, 5), "/d/before", 0);
    world.opens(child, 2500, F(1, 5), "/d/after", 0);
    world.reads(A, 3000, F(1, 5), 0, 100);
    world.reads(child, 3001, F(1, 5), 50, 100);
    let told = world.correlated();
    let [row] = &told.io[..] else { panic!("{:?}", told.io) };
    assert_eq!((row.processes, row.opens, row.read_bytes, row.unique_read_bytes, row.read_ranges), (2, 2, 200, Some(150), Some(1)));
    assert_eq!(row.path.as_deref(), Some("/d/after"));
}

#[test]
fn sums_from_the_kernel_have_bytes_and_no_ranges() {
    let mut world = World::default();
    world.process(A, 11, |_| {});
    world.task_of_pid("1", A, 11);
    world.opens(A, 1500, F(1, 5), "/d/f", 0);
    for first in [2, 4] {
        world.totals.push(IoTotal {
            host: "n1".into(),
            trace_ns: T0,
            pid: 10,
            process_start_ns: Some(SECOND),
            handle: Some(1),
            device: 1,
            inode: 5,
            generation: Some(1),
            first_ns: T0 + first * SECOND,
            last_ns: T0 + (first + 1) * SECOND,
            read_calls: 10,
            read_bytes: 1000,
            read_errors: 1,
            read_time_ns: 77,
            read_offset_min: Some(0),
            read_offset_end: Some(2000),
            ..IoTotal::default()
        });
    }
    let told = world.correlated();
    let [row] = &told.io[..] else { panic!("{:?}", told.io) };
    assert_eq!((row.opens, row.read_calls, row.read_errors, row.read_bytes, row.unique_read_bytes), (1, 20, 2, 2000, None));
    assert_eq!((row.first_read_ns, row.last_read_ns), (Some(T0 + 2 * SECOND), Some(T0 + 5 * SECOND)));
    assert_eq!((row.unique_written_bytes, row.read_time_ns, row.path.as_deref()), (Some(0), 154, Some("/d/f")));
    assert_eq!((row.read_offset_min, row.read_offset_end), (Some(0), Some(2000)));
    assert_eq!(told.totals[0].unique_read_bytes, None);
}

/// Where the kernel side did not know all offsets, it records no range.
#[test]
fn sums_without_a_range_leave_none() {
    let mut world = World::default();
    world.process(A, 11, |_| {});
    world.task_of_pid("1", A, 11);
    world.opens(A, 1500, F(1, 5), "/d/f", 0);
    for range in [Some((0, 2000)), None] {
        world.totals.push(IoTotal {
            host: "n1".into(),
            trace_ns: T0,
            pid: 10,
            process_start_ns: Some(SECOND),
            handle: Some(1),
            device: 1,
            inode: 5,
            generation: Some(1),
            first_ns: T0 + 2 * SECOND,
            last_ns: T0 + 3 * SECOND,
            write_calls: 10,
            write_bytes: 1000,
            write_offset_min: range.map(|(low, _)| low),
            write_offset_end: range.map(|(_, end)| end),
            ..IoTotal::default()
        });
    }
    let told = world.correlated();
    let [row] = &told.io[..] else { panic!("{:?}", told.io) };
    assert_eq!((row.written_bytes, row.write_offset_min, row.write_offset_end), (2000, None, None));
}

#[test]
fn instances_of_a_logical_task_are_added_up_with_their_spread() {
    let mut world = World::default();
    for n in 0..4 {
        let process = P("n1", 10 + n, 1);
        world.process(process, 2 + i64::from(n), |_| {});
        world.writes(process, 1500, F(1, i64::from(n)), 0, 10i64.pow(n as u32));
        world.task_of_pid(&n.to_string(), process, 20);
    }
    // One of which nothing was traced.
    world.task("makeflow", "9", (1, 9), |_| {});
    let told = world.correlated();
    let [row] = &told.logical[..] else { panic!("{:?}", told.logical) };
    assert_eq!((row.instances, row.written_bytes, row.written_bytes_min, row.written_bytes_q1), (4, 1111, 1, 1));
    assert_eq!((row.written_bytes_median, row.written_bytes_q3, row.written_bytes_max), (10, 100, 1000));
    assert_eq!((row.time_min_ns, row.time_max_ns), (Some(SECOND), Some(4 * SECOND)));
}

#[test]
fn what_is_told_long_after_a_process_ended_counts_also_when_its_children_live() {
    let mut world = World::default();
    let (child, late) = (P("n1", 11, 2), P("n1", 12, 40));
    world.process(A, 3, |_| {});
    world.process(child, 90, |row| (row.parent_pid, row.parent_start_ns) = (Some(10), Some(SECOND)));
    world.process(late, 90, |_| {});
    world.task_of_pid("1", A, 90);
    world.writes(A, 2000, F(1, 5), 0, 10);
    world.writes(late, 50_000, F(1, 6), 0, 1);
    world.writes(A, 2500, F(1, 5), 10, 7);
    world.writes(child, 60_000, F(1, 5), 0, 5);
    assert_eq!(world.correlated().bytes(), ["1: 0 22", "no-rule: 0 1"]);
}

#[test]
fn the_path_of_a_file_that_was_open_before_is_known() {
    let mut world = World::default();
    world.process(A, 11, |_| {});
    world.task_of_pid("1", A, 11);
    world.files.push(TracedFile {
        host: "n1".into(),
        trace_ns: T0,
        device: Some(1),
        inode: 5,
        generation: Some(1),
        first_seen_ns: T0 + 2 * SECOND,
        path: Some("/d/open before".into()),
        ..TracedFile::default()
    });
    world.reads(A, 2000, F(1, 5), 0, 10);
    assert_eq!(world.correlated().io[0].path.as_deref(), Some("/d/open before"));
}

/// A part of the waiting would be less than the waiting of the task.
#[test]
fn the_run_delay_of_a_task_is_that_of_all_its_processes_or_not_known() {
    for (delays, sum) in
        [([Some(1), Some(20), Some(300)], Some(321)), ([Some(1), None, Some(300)], None), ([None, Some(20), Some(300)], None)]
    {
        let mut world = World::default();
        for (pid, delay) in (10..).zip(delays) {
            world.process(P("n1", pid, 1), 11, |row| {
                row.run_delay_ns = delay;
                if pid > 10 {
                    (row.parent_pid, row.parent_start_ns) = (Some(10), Some(SECOND));
                }
            });
        }
        world.task_of_pid("1", A, 11);
        let told = world.correlated();
        let totals: Vec<_> = told.totals.iter().map(|row| (row.processes, row.run_delay_ns)).collect();
        assert_eq!(totals, [(3, sum)], "{delays:?}");
    }
}

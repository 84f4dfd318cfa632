//! Versions of files, and data flow between writers and readers.

use super::*;

const A: P = P("n1", 10, 1);
const B: P = P("n1", 20, 1);
const C: P = P("n1", 30, 1);

fn world() -> World {
    let mut world = World::default();
    for (id, process) in [("a", A), ("b", B), ("c", C)] {
        world.process(process, 90, |_| {});
        world.task_of_pid(id, process, 90);
    }
    world
}

#[test]
fn a_file_that_is_rewritten_has_versions() {
    let mut world = world();
    let file = F(1, 5);
    world.opens(A, 1000, file, "/d/f", 0o301);
    world.writes(A, 1001, file, 0, 10);
    // Reading back what it wrote makes no version.
    world.reads(A, 1002, file, 0, 4);
    world.writes(A, 1003, file, 10, 10);
    world.reads(B, 2000, file, 0, 20);
    world.opens(A, 3000, file, "/d/f", 0o1001);
    world.writes(A, 3001, file, 0, 7);
    world.reads(C, 4000, file, 0, 7);
    world.writes(C, 5000, file, 7, 3);
    let told = world.correlated();
    assert_eq!(
        told.flow(),
        ["/d/f v1 created: a 20 -> a 4", "/d/f v1 created: a 20 -> b 20", "/d/f v2 truncated: a 7 -> c 7", "/d/f v3 changed: c 3 -> - 0"]
    );
}

#[test]
fn inputs_from_outside_and_results_that_nobody_reads_are_kept() {
    let mut world = world();
    let nobody = P("n1", 99, 2);
    world.process(nobody, 90, |_| {});
    world.opens(A, 1000, F(1, 1), "/d/in", 0);
    world.reads(A, 1001, F(1, 1), 0, 100);
    world.opens(A, 1002, F(1, 2), "/d/out", 0o1101);
    world.writes(A, 1003, F(1, 2), 0, 50);
    // There is no data flow between unassigned processes.
    world.opens(nobody, 1004, F(1, 3), "/d/other", 0o1102);
    world.writes(nobody, 1005, F(1, 3), 0, 50);
    world.reads(nobody, 1006, F(1, 1), 0, 100);
    world.reads(nobody, 1007, F(1, 2), 0, 50);
    assert_eq!(world.correlated().flow(), ["/d/in v0 before: - 0 -> a 100", "/d/out v1 truncated: a 50 -> unassigned no-rule 50"]);
}

#[test]
fn tasks_that_talk_in_both_directions_are_joined_by_different_phases() {
    let mut world = world();
    for round in 0..2 {
        let at = 1000 + round * 1000;
        world.writes(A, at, F(1, 1), round * 10, 10);
        world.reads(B, at + 1, F(1, 1), round * 10, 10);
        world.writes(B, at + 2, F(1, 2), round * 10, 10);
        world.reads(A, at + 3, F(1, 2), round * 10, 10);
    }
    let told = world.correlated();
    let mut edges: Vec<_> = told
        .flows
        .iter()
        .map(|row| {
            let name = |id: &Option<std::borrow::Cow<'_, str>>| {
                id.as_deref().unwrap().split('/').nth(1).unwrap().split('#').next().unwrap().to_owned()
            };
            format!("{}{} -> {}{}", name(&row.writer), row.writer_phase.unwrap(), name(&row.reader), row.reader_phase.unwrap())
        })
        .collect();
    edges.sort();
    assert_eq!(edges, ["a0 -> b0", "a1 -> b1", "b0 -> a1", "b1 -> a2"]);
}

#[test]
fn an_inode_number_that_is_used_again_is_another_file() {
    // Where the file system gives the generation, and where it does not.
    for told in [true, false] {
        let mut world = world();
        let mut step =
            |process: P, ms: i64, op: &'static str, generation: i64, path: Option<&'static str>, flags: Option<i32>, bytes: i64| {
                world.event(process, ms, op, F(1, 5), |row| {
                    row.generation = told.then_some(generation);
                    (row.path, row.flags, row.result) = (path.map(Into::into), flags, Some(bytes));
                    row.offset = (op == "read" || op == "write").then_some(0);
                });
            };
        step(A, 1000, "open", 1, Some("/d/first"), Some(0o1101), 0);
        step(A, 1001, "write", 1, None, None, 100);
        step(A, 1002, "delete", 1, Some("/d/first"), None, 0);
        step(B, 2000, "open", 2, Some("/d/second"), Some(0o301), 0);
        step(B, 2001, "write", 2, None, None, 7);
        step(C, 3000, "open", 2, Some("/d/second"), Some(0), 0);
        step(C, 3001, "read", 2, None, None, 7);
        let result = world.correlated();
        assert_eq!(result.flow(), ["/d/first v1 truncated: a 100 -> - 0", "/d/second v1 created: b 7 -> c 7"], "generation told: {told}");
        assert_eq!(result.io.iter().map(|row| row.incarnation).max(), Some(if told { 1 } else { 2 }));
    }
}

#[test]
fn a_file_with_two_names_stays_the_same_when_one_is_deleted() {
    let mut world = world();
    let mut step = |process: P, ms: i64, op: &'static str, path: &'static str, new_path: Option<&'static str>, bytes: i64| {
        world.event(process, ms, op, F(1, 5), |row| {
            (row.generation, row.path, row.new_path, row.result) = (None, Some(path.into()), new_path.map(Into::into), Some(bytes));
        });
    };
    step(A, 1000, "open", "/d/tmp", None, 0);
    step(A, 1001, "write", "/d/tmp", None, 100);
    step(A, 1002, "link", "/d/tmp", Some("/d/final"), 0);
    step(A, 1003, "delete", "/d/tmp", None, 0);
    step(B, 2000, "open", "/d/final", None, 0);
    step(B, 2001, "read", "/d/final", None, 100);
    assert_eq!(world.correlated().flow(), ["/d/final v1 changed: a 100 -> b 100"]);
}

#[test]
fn a_file_of_a_network_file_system_is_one_on_all_hosts() {
    let mut world = World::default();
    let (writer, reader) = (P("n1", 10, 1), P("n2", 10, 1));
    for (id, process, device) in [("a", writer, 45), ("b", reader, 61)] {
        world.process(process, 90, |_| {});
        world.task_of_pid(id, process, 90);
        for (inode, file_system, path) in [(5, "nfs4", "/home/x/f"), (6, "ext4", "/tmp/f")] {
            world.files.push(TracedFile {
                host: process.0.into(),
                trace_ns: T0,
                device: Some(if inode == 5 { device } else { 1 }),
                inode,
                generation: Some(1),
                first_seen_ns: T0,
                file_system: Some(file_system.into()),
                path: Some(path.into()),
                ..TracedFile::default()
            });
        }
    }
    for (device, inode, path) in [(45, 5, "/home/x/f"), (1, 6, "/tmp/f")] {
        world.opens(writer, 1000, F(device, inode), path, 0o1101);
        world.writes(writer, 1001, F(device, inode), 0, 100);
    }
    for (device, inode, path) in [(61, 5, "/home/x/f"), (1, 6, "/tmp/f")] {
        world.opens(reader, 1500, F(device, inode), path, 0);
        world.reads(reader, 1501, F(device, inode), 0, 100);
    }
    let told = world.correlated();
    assert_eq!(
        told.flow(),
        ["/home/x/f v1 truncated: a 100 -> b 100", "/tmp/f v0 before: - 0 -> b 100", "/tmp/f v1 truncated: a 100 -> - 0"]
    );
    let shared = told.flows.iter().find(|row| row.path.as_deref() == Some("/home/x/f")).unwrap();
    // Half a second between them, and the difference of the clocks is not known.
    assert_eq!((&shared.host, shared.order_doubtful), (&None, true));
}

#[test]
fn sums_are_put_in_order() {
    let mut world = world();
    world.opens(A, 1000, F(1, 5), "/d/f", 0o1101);
    world.opens(B, 3000, F(1, 5), "/d/f", 0);
    // The reader's sum is reported before the writer's.
    for (process, first, read, written) in [(B, 3, 70, 0), (A, 1, 0, 70)] {
        world.totals.push(IoTotal {
            host: "n1".into(),
            trace_ns: T0,
            pid: process.1,
            process_start_ns: Some(process.2 * SECOND),
            device: 1,
            inode: 5,
            generation: Some(1),
            first_ns: T0 + first * SECOND + 1,
            last_ns: T0 + (first + 1) * SECOND,
            read_calls: read / 7,
            read_bytes: read,
            write_calls: written / 7,
            write_bytes: written,
            ..IoTotal::default()
        });
    }
    assert_eq!(world.correlated().flow(), ["/d/f v1 truncated: a 70 -> b 70"]);
}

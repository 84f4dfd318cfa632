//! Files that get other names, and files that are made without a write.

use super::*;

const A: P = P("n1", 10, 1);
const B: P = P("n1", 20, 1);
const C: P = P("n1", 30, 1);
const NOBODY: P = P("n1", 99, 2);
const FILE: F = F(1, 5);

fn world() -> World {
    let mut world = World::default();
    for (id, process) in [("a", A), ("b", B), ("c", C)] {
        world.process(process, 90, |_| {});
        world.task_of_pid(id, process, 90);
    }
    world.process(NOBODY, 90, |_| {});
    world
}

fn written(path: &str) -> World {
    let mut world = world();
    world.opens(A, 1000, FILE, path, 0o301);
    world.writes(A, 1001, FILE, 0, 10);
    world
}

impl Derived {
    /// Paths of files, with their earlier names, as `task_io` has them.
    fn names(&self) -> Vec<String> {
        let earlier = |row: &TaskIo<'_>| row.earlier_paths.as_deref().map(|names| format!(" was {names}")).unwrap_or_default();
        let mut names: Vec<String> = self.io.iter().filter_map(|row| Some(format!("{}{}", row.path.as_deref()?, earlier(row)))).collect();
        names.sort();
        names.dedup();
        names
    }
}

#[test]
fn a_task_that_renames_what_it_wrote_wrote_it_under_the_last_name() {
    for by in [A, NOBODY] {
        let mut world = written("/d/x.1");
        world.renames(by, 1100, FILE, ("/d/x.1", "/d/x.2"));
        world.renames(by, 1101, FILE, ("/d/x.2", "/d/x"));
        world.opens(B, 2000, FILE, "/d/x", 0);
        world.reads(B, 2001, FILE, 0, 10);
        let told = world.correlated();
        assert_eq!(told.flow(), ["/d/x v1 created: a 10 -> b 10"]);
        assert_eq!(told.names(), [r#"/d/x was ["/d/x.1","/d/x.2"]"#]);
        assert_eq!(told.flows[0].earlier_paths.as_deref(), Some(r#"["/d/x.1","/d/x.2"]"#));
    }
}

#[test]
fn a_file_that_another_task_renames_is_the_same_file() {
    let mut world = written("/d/out.part");
    world.renames(B, 1100, FILE, ("/d/out.part", "/d/out"));
    world.opens(C, 2000, FILE, "/d/out", 0);
    world.reads(C, 2001, FILE, 0, 10);
    assert_eq!(world.correlated().flow(), ["/d/out v1 created: a 10 -> c 10"]);
}

#[test]
fn a_version_has_the_last_name_of_its_file() {
    let mut world = written("/d/log");
    world.opens(B, 1050, FILE, "/d/log", 0);
    world.reads(B, 1051, FILE, 0, 10);
    world.renames(A, 1100, FILE, ("/d/log", "/d/log.1"));
    world.opens(A, 1200, F(1, 6), "/d/log", 0o301);
    world.writes(A, 1201, F(1, 6), 0, 7);
    world.opens(C, 2000, F(1, 6), "/d/log", 0);
    world.reads(C, 2001, F(1, 6), 0, 7);
    let told = world.correlated();
    // The name is another file's now.
    assert_eq!(told.flow(), ["/d/log v1 created: a 7 -> c 7", "/d/log.1 v1 created: a 10 -> b 10"]);
    assert_eq!(told.names(), ["/d/log", r#"/d/log.1 was ["/d/log"]"#]);
}

#[test]
fn a_file_from_before_the_trace_has_its_new_name() {
    let mut world = world();
    world.renames(A, 1000, FILE, ("/d/old", "/d/new"));
    world.opens(B, 2000, FILE, "/d/new", 0);
    world.reads(B, 2001, FILE, 0, 10);
    assert_eq!(world.correlated().flow(), ["/d/new v0 before: - 0 -> b 10"]);
}

#[test]
fn the_files_of_a_renamed_directory_have_its_name() {
    let mut world = written("/d/tmp/sub/x");
    world.opens(A, 1010, F(1, 7), "/d/tmp.log", 0o301);
    world.writes(A, 1011, F(1, 7), 0, 3);
    world.renames(A, 1100, F(1, 2), ("/d/tmp", "/d/final"));
    world.opens(B, 2000, FILE, "/d/final/sub/x", 0);
    world.reads(B, 2001, FILE, 0, 10);
    let told = world.correlated();
    assert_eq!(told.flow(), ["/d/final/sub/x v1 created: a 10 -> b 10", "/d/tmp.log v1 created: a 3 -> - 0"]);
    assert_eq!(told.names(), [r#"/d/final/sub/x was ["/d/tmp/sub/x"]"#, "/d/tmp.log"]);
}

#[test]
fn what_is_renamed_over_a_file_is_not_that_file() {
    // Without generations the number of the file that is gone is used for another.
    let mut world = world();
    let mut step = |process: P, ms: i64, op: &'static str, file: F, paths: (Option<&'static str>, Option<&'static str>), bytes: i64| {
        world.event(process, ms, op, file, |row| {
            (row.path, row.new_path) = (paths.0.map(Into::into), paths.1.map(Into::into));
            (row.generation, row.flags, row.result) = (None, (op == "open").then_some(0o1101), Some(bytes));
            row.offset = (bytes > 0).then_some(0);
        });
    };
    step(A, 1000, "open", FILE, (Some("/d/x"), None), 0);
    step(A, 1001, "write", FILE, (None, None), 10);
    step(B, 1100, "open", F(1, 6), (Some("/d/x.part"), None), 0);
    step(B, 1101, "write", F(1, 6), (None, None), 20);
    step(B, 1102, "rename", F(1, 6), (Some("/d/x.part"), Some("/d/x")), 0);
    step(C, 1200, "open", FILE, (Some("/d/y"), None), 0);
    step(C, 1201, "write", FILE, (None, None), 30);
    let told = world.correlated();
    let flow = ["/d/x v1 truncated: a 10 -> - 0", "/d/x v1 truncated: b 20 -> - 0", "/d/y v1 truncated: c 30 -> - 0"];
    assert_eq!(told.flow(), flow);
}

#[test]
fn two_files_can_exchange_their_names() {
    let mut world = written("/d/a");
    world.opens(A, 1010, F(1, 6), "/d/b", 0o301);
    world.writes(A, 1011, F(1, 6), 0, 20);
    world.event(A, 1100, "rename", FILE, |row| {
        (row.path, row.new_path, row.flags) = (Some("/d/a".into()), Some("/d/b".into()), Some(2));
    });
    assert_eq!(world.correlated().flow(), ["/d/a v1 created: a 20 -> - 0", "/d/b v1 created: a 10 -> - 0"]);
}

#[test]
fn a_link_and_a_deletion_are_a_rename() {
    let mut world = written("/d/x.part");
    for (ms, op, new) in [(1100, "link", Some("/d/x")), (1101, "delete", None)] {
        world.event(A, ms, op, FILE, |row| (row.path, row.new_path) = (Some("/d/x.part".into()), new.map(Into::into)));
    }
    world.opens(B, 2000, FILE, "/d/x", 0);
    world.reads(B, 2001, FILE, 0, 10);
    assert_eq!(world.correlated().flow(), ["/d/x v1 created: a 10 -> b 10"]);
}

#[test]
fn a_file_that_is_made_without_a_write_is_an_edge() {
    for (size, flow) in [(0, vec!["/d/flag v1 truncated: a 0 -> b 0"]), (9, vec!["/d/flag v0 before: - 0 -> b 0"])] {
        let mut world = world();
        world.files.push(TracedFile {
            host: "n1".into(),
            trace_ns: T0,
            device: Some(1),
            inode: 5,
            generation: Some(1),
            first_seen_ns: T0 + 1_000_000_000,
            path: Some("/d/flag".into()),
            size_bytes: Some(size),
            ..TracedFile::default()
        });
        // touch(1): O_WRONLY, O_CREAT, O_NOCTTY, O_NONBLOCK.
        world.opens(A, 1000, FILE, "/d/flag", 0o4501);
        world.opens(B, 2000, FILE, "/d/flag", 0);
        world.reads(B, 2001, FILE, 0, 0);
        // A lock that all open in the same way is made by none of the later ones.
        world.opens(C, 2000, FILE, "/d/flag", 0o102);
        assert_eq!(world.correlated().flow(), flow, "{size} bytes");
    }
}

//! Whose the bars of a file are: what is drawn of each file has to be what `task_io` says of it, in
//! worlds where that is not easy.

use std::collections::BTreeMap;

use flowmine_correlate::cases::ALL;
use flowmine_correlate::parts::{Parts, ROWS_AT_ONCE};
use flowmine_correlate::{RowRules, Timestamp, correlate};
use flowmine_dataset::{Dataset, DatasetError};
use flowmine_file_access::file_timeline::{Accesses, read};
use flowmine_file_access::find::find;
use flowmine_file_access::{FileAccessError, Owner, file_span};
use flowmine_schema::tables::{IoEvent, IoTotal, Process, TaskIo, TaskRun, TracedFile};
use flowmine_test_support::{TempDataset, write_by_host};
use proptest::prelude::*;

const T0: i64 = 1_795_000_000_000_000_000;
const SECOND: i64 = 1_000_000_000;

/// What was traced, and what engines and Slurm reported.
#[derive(Default)]
struct World {
    events: Vec<IoEvent<'static>>,
    totals: Vec<IoTotal<'static>>,
    processes: Vec<Process<'static>>,
    files: Vec<TracedFile<'static>>,
    runs: Vec<TaskRun<'static>>,
}

/// A process: host, pid, start in seconds.
#[derive(Clone, Copy)]
struct P(&'static str, i32, i64);

/// A file: device, inode, generation.
#[derive(Clone, Copy)]
struct F(i64, i64, Option<i64>);

const O_CREAT_TRUNC_WRONLY: i32 = 0o1101;

impl World {
    /// A process that runs for ten seconds and is a task with this id.
    fn task(&mut self, id: &str, process: P) {
        let P(host, pid, start) = process;
        self.process(process, Some(start * SECOND), "/user.slice");
        self.runs.push(TaskRun {
            engine: "makeflow".into(),
            run_id: Some("r".into()),
            task_id: Some(id.to_owned().into()),
            attempt: Some(1),
            name: id.to_owned().into(),
            logical_task: format!("STEP_{id}").into(),
            native_id: Some(pid.to_string().into()),
            native_kind: Some("pid".into()),
            host: Some(host.into()),
            started_ns: Some(T0 + start * SECOND),
            submitted_ns: Some(T0 + start * SECOND),
            submitted_precision_ns: Some(0),
            finished_ns: Some(T0 + (start + 10) * SECOND),
            finished_precision_ns: Some(0),
            status: "completed".into(),
            source: "log".into(),
            ..TaskRun::default()
        });
    }

    fn process(&mut self, P(host, pid, start): P, process_start_ns: Option<i64>, cgroup: &'static str) {
        self.processes.push(Process {
            host: host.into(),
            trace_ns: T0,
            pid,
            process_start_ns,
            as_of_ns: T0 + (start + 10) * SECOND,
            started_ns: Some(T0 + start * SECOND),
            first_seen: "fork".into(),
            parent_pid: Some(1),
            uid: Some(1000),
            cgroup_id: Some(7),
            cgroup_path: Some(cgroup.into()),
            command_line: Some("[\"work\"]".into()),
            exit_ns: Some(T0 + (start + 10) * SECOND),
            exit_code: Some(0),
            ..Process::default()
        });
    }

    fn event(
        &mut self,
        P(host, pid, start): P,
        ms: i64,
        op: &'static str,
        F(device, inode, generation): F,
        change: impl FnOnce(&mut IoEvent<'static>),
    ) {
        let at = T0 + start * SECOND + ms * 1_000_000;
        let mut row = IoEvent {
            host: host.into(),
            trace_ns: T0,
            pid,
            process_start_ns: Some(start * SECOND),
            op: op.into(),
            via: "call".into(),
            start_ns: at,
            end_ns: Some(at + 1000),
            handle: Some(inode),
            device: Some(device),
            inode: Some(inode),
            generation,
            result: Some(0),
            ..IoEvent::default()
        };
        change(&mut row);
        self.events.push(row);
    }

    fn named(&mut self, process: P, ms: i64, op: &'static str, file: F, path: &'static str) {
        self.event(process, ms, op, file, |row| (row.path, row.flags) = (Some(path.into()), Some(O_CREAT_TRUNC_WRONLY)));
    }

    fn moves(&mut self, process: P, ms: i64, op: &'static str, file: F, offset: i64, bytes: i64) {
        self.event(process, ms, op, file, |row| (row.offset, row.size, row.result) = (Some(offset), Some(bytes), Some(bytes)));
    }

    /// The dataset, correlated.
    fn dataset(&self) -> TempDataset {
        let dataset = TempDataset::new();
        write_by_host(&dataset, &self.events, |row| (row.host.to_string(), row.start_ns));
        write_by_host(&dataset, &self.totals, |row| (row.host.to_string(), row.first_ns));
        write_by_host(&dataset, &self.processes, |row| (row.host.to_string(), row.as_of_ns));
        write_by_host(&dataset, &self.files, |row| (row.host.to_string(), row.first_seen_ns));
        dataset.append::<TaskRun<'static>>(&self.runs);
        let rules = RowRules::default();
        let parts = Parts::new(&dataset, Timestamp::Reported, &rules, ROWS_AT_ONCE).expect("no jobs");
        correlate(&dataset, &parts, ALL, None).expect("attributed");
        dataset
    }
}

/// Bytes read and written by whom, as drawn.
fn drawn(accesses: &Accesses) -> BTreeMap<String, (i64, i64)> {
    let mut sums = BTreeMap::new();
    for bar in &accesses.bars {
        let sum: &mut (i64, i64) = sums.entry(short(&accesses.users[bar.owner as usize].owner)).or_default();
        if bar.write { sum.1 += bar.bytes } else { sum.0 += bar.bytes }
    }
    sums
}

fn short(owner: &Owner) -> String {
    let id = owner.id().rsplit('/').next().unwrap_or_default();
    format!("{} {}", owner.kind(), id.trim_end_matches("#1")).trim().to_owned()
}

/// What is drawn of a file that was asked for; it has to be what `task_io` says.
fn accesses(dataset: &Dataset, file: &str) -> Result<Accesses, FileAccessError> {
    let found = find(dataset, file)?;
    let accesses = read(dataset, &found)?;
    let mut counted: BTreeMap<String, (i64, i64)> = BTreeMap::new();
    let counts = dataset.read::<TaskIo<'static>, DatasetError>(|row| {
        let id = (row.host.to_string(), row.inode, row.generation, row.incarnation);
        let untold = |number: i64| (number != i64::MIN).then_some(number);
        let same = found.ids.iter().any(|one| (one.host.clone(), untold(one.inode), untold(one.generation), one.incarnation) == id);
        if same && row.read_calls + row.write_calls > 0 {
            let sum = counted.entry(short(&Owner::new([&row.task, &row.cluster, &row.job, &row.pod, &row.container]))).or_default();
            *sum = (sum.0 + row.read_bytes, sum.1 + row.written_bytes);
        }
        Ok(())
    });
    counts.expect("the table");
    assert_eq!(drawn(&accesses), counted, "{file}");
    assert_eq!(accesses.missing.only_sums, (0, 0));
    Ok(accesses)
}

#[test]
fn a_process_number_that_comes_again_is_another_task() {
    let (first, second) = (P("n1", 50, 10), P("n1", 50, 40));
    let mut world = World::default();
    world.task("1", first);
    world.task("2", second);
    let file = F(1, 7, Some(3));
    world.named(first, 100, "open", file, "/d/a");
    world.moves(first, 200, "write", file, 0, 1000);
    world.named(second, 100, "open", file, "/d/a");
    world.moves(second, 200, "read", file, 0, 600);
    world.moves(second, 300, "read", file, 600, 400);
    // The same numbers on another host are another file and another process.
    world.process(P("n2", 50, 10), Some(10 * SECOND), "/user.slice");
    world.named(P("n2", 50, 10), 1, "open", file, "/d/b");
    world.moves(P("n2", 50, 10), 2, "write", file, 0, 77);
    let dataset = world.dataset();
    let found = accesses(&dataset, "/d/a").expect("one file");
    assert_eq!(drawn(&found), BTreeMap::from([("task 1".to_owned(), (0, 1000)), ("task 2".to_owned(), (1000, 0))]));
    let shares: Vec<_> = found.users.iter().map(|user| (user.name(), user.share(T0 + 10 * SECOND + 200_000_000))).collect();
    assert_eq!(shares, [("STEP_1".to_owned(), Some(0.02)), ("STEP_2".to_owned(), Some(-2.98))]);
    let other = accesses(&dataset, "/d/b").expect("the other host's");
    assert_eq!(drawn(&other), BTreeMap::from([("unassigned".to_owned(), (0, 77))]));
}

#[test]
fn a_file_number_that_comes_again_is_another_file() {
    let process = P("n1", 50, 10);
    let mut world = World::default();
    world.task("1", process);
    let file = F(1, 7, None);
    world.named(process, 1, "open", file, "/d/old");
    world.moves(process, 2, "write", file, 0, 10);
    world.named(process, 3, "delete", file, "/d/old");
    world.named(process, 4, "open", file, "/d/new");
    world.moves(process, 5, "write", file, 0, 200);
    let dataset = world.dataset();
    assert_eq!(drawn(&accesses(&dataset, "/d/old").expect("the old one")), BTreeMap::from([("task 1".to_owned(), (0, 10))]));
    assert_eq!(drawn(&accesses(&dataset, "/d/new").expect("the new one")), BTreeMap::from([("task 1".to_owned(), (0, 200))]));
}

#[test]
fn of_several_files_with_one_path_one_is_chosen_by_its_id() {
    let process = P("n1", 50, 10);
    let mut world = World::default();
    world.task("1", process);
    for (generation, bytes) in [(1, 10), (2, 200)] {
        let file = F(1, 7, Some(generation));
        world.named(process, generation * 10, "open", file, "/d/a");
        world.moves(process, generation * 10 + 1, "write", file, 0, bytes);
        world.named(process, generation * 10 + 2, "delete", file, "/d/a");
    }
    let dataset = world.dataset();
    let Err(FileAccessError::SeveralFiles { which, .. }) = accesses(&dataset, "/d/a") else { panic!("two files had this path") };
    assert_eq!(which[1], "n1:1:7:2:1 (0 bytes read, 200 written, among others by STEP_1)");
    assert_eq!(drawn(&accesses(&dataset, "n1:1:7:2:1").expect("one")), BTreeMap::from([("task 1".to_owned(), (0, 200))]));
}

#[test]
fn a_file_of_a_network_file_system_is_one_on_all_hosts() {
    let (writer, reader) = (P("n1", 50, 10), P("n2", 60, 30));
    let mut world = World::default();
    world.task("1", writer);
    world.task("2", reader);
    // The device numbers are each host's own.
    for (process, device, op) in [(writer, 5, "write"), (reader, 9, "read")] {
        let file = F(device, 7, Some(3));
        world.files.push(TracedFile {
            host: process.0.into(),
            trace_ns: T0,
            device: Some(device),
            inode: 7,
            generation: Some(3),
            first_seen_ns: T0 + process.2 * SECOND,
            file_system: Some("nfs4".into()),
            path: Some("/home/a".into()),
            ..TracedFile::default()
        });
        world.event(process, 1, "open", file, |row| row.path = Some("/home/a".into()));
        world.moves(process, 2, op, file, 0, 500);
    }
    let dataset = world.dataset();
    let found = accesses(&dataset, "/home/a").expect("one file");
    assert_eq!(found.hosts, ["n1", "n2"]);
    assert_eq!(drawn(&found), BTreeMap::from([("task 1".to_owned(), (0, 500)), ("task 2".to_owned(), (500, 0))]));
}

#[test]
fn jobs_containers_and_processes_without_told_starts_have_their_bars() {
    let (job, container) = (P("n1", 50, 10), P("n1", 60, 10));
    let mut world = World::default();
    world.process(job, Some(10 * SECOND), "/system.slice/slurmstepd.scope/job_7/step_0/user/task_0");
    let id = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    let path: &'static str = Box::leak(format!("/machine.slice/libpod-{id}.scope/container").into_boxed_str());
    world.process(container, Some(10 * SECOND), path);
    // A source that does not report starts: the generation that was forked last has the operations.
    world.process(P("n1", 70, 10), None, "/system.slice/slurmstepd.scope/job_8/step_0/user/task_0");
    world.process(P("n1", 70, 30), None, "/system.slice/slurmstepd.scope/job_9/step_batch/user/task_0");
    let file = F(1, 7, Some(3));
    world.named(job, 0, "open", file, "/d/a");
    for (process, bytes) in [(job, 1), (container, 10)] {
        world.moves(process, 1, "write", file, 0, bytes);
    }
    for (start, bytes) in [(10, 100), (30, 1000)] {
        world.event(P("n1", 70, start), 5, "read", file, |row| {
            (row.process_start_ns, row.offset, row.result) = (None, Some(0), Some(bytes));
        });
    }
    let dataset = world.dataset();
    let found = drawn(&accesses(&dataset, "/d/a").expect("one file"));
    let expected = [
        ("job 7".to_owned(), (0, 1)),
        ("job 8".to_owned(), (100, 0)),
        ("job 9".to_owned(), (1000, 0)),
        (format!("container {id}"), (0, 10)),
    ];
    assert_eq!(found, BTreeMap::from(expected));
    let shares = file_span::read(&dataset).expect("points");
    assert_eq!((shares.groups.len(), shares.groups[0].points.len(), shares.groups[0].tasks), (1, 4, 4));
}

#[test]
fn a_control_group_of_a_task_has_its_bars() {
    // As io-csv, which reports neither starts nor paths of control groups: the task's script was opened in one of its processes.
    let mut world = World::default();
    for (pid, start, cgroup) in [(50, 12, 77), (60, 11, 77), (70, 11, 90)] {
        world.process(P("n1", pid, start), None, "/");
        if let Some(process) = world.processes.last_mut() {
            (process.cgroup_id, process.cgroup_path, process.command_line) = (Some(cgroup), None, None);
        }
    }
    world.runs.push(TaskRun {
        engine: "nextflow".into(),
        task_id: Some("1".into()),
        attempt: Some(1),
        name: "ALIGN (1)".into(),
        logical_task: "ALIGN".into(),
        work_dir: Some("/w/aa".into()),
        submitted_ns: Some(T0 + 10 * SECOND),
        submitted_precision_ns: Some(0),
        finished_ns: Some(T0 + 30 * SECOND),
        status: "completed".into(),
        source: "log".into(),
        ..TaskRun::default()
    });
    let untold = |row: &mut IoEvent<'static>| (row.process_start_ns, row.device) = (None, None);
    world.event(P("n1", 50, 12), 100, "open", F(0, 8, None), |row| {
        untold(row);
        row.path = Some("/w/aa/.command.run".into());
    });
    world.event(P("n1", 60, 11), 1500, "open", F(0, 7, None), |row| {
        untold(row);
        row.path = Some("/d/a".into());
    });
    for (pid, start, bytes) in [(50, 12, 1), (60, 11, 20), (70, 11, 300)] {
        world.event(P("n1", pid, start), 2000, "write", F(0, 7, None), |row| {
            untold(row);
            (row.offset, row.result) = (Some(0), Some(bytes));
        });
    }
    let dataset = world.dataset();
    let found = drawn(&accesses(&dataset, "/d/a").expect("one file"));
    assert_eq!(found, BTreeMap::from([("task 1".to_owned(), (0, 21)), ("unassigned".to_owned(), (0, 300))]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn bars_of_any_file_are_what_task_io_says(
        operations in proptest::collection::vec((0usize..4, 0usize..5, 0i64..3, 0usize..3, 0i64..5000), 1..80), generation in any::<bool>(),
    ) {
        let processes = [P("n1", 50, 10), P("n1", 50, 40), P("n1", 60, 10), P("n2", 50, 10)];
        let mut world = World::default();
        processes.iter().enumerate().for_each(|(at, process)| world.task(&at.to_string(), *process));
        for (ms, (process, op, inode, path, bytes)) in operations.into_iter().enumerate() {
            let file = F(1, inode, generation.then_some(1));
            let (process, ms, path) = (processes[process], ms as i64, ["/d/a", "/d/b", "/d/c"][path]);
            match op {
                0 => world.named(process, ms, "open", file, path),
                1 => world.named(process, ms, "delete", file, path),
                2 => world.event(process, ms, "rename", file, |row| row.new_path = Some(path.into())),
                3 => world.moves(process, ms, "read", file, bytes, bytes),
                _ => world.moves(process, ms, "write", file, bytes / 2, bytes),
            }
        }
        // As a trace does: in the order of time on each host.
        world.events.sort_by_key(|row| row.start_ns);
        let dataset = world.dataset();
        let mut ids = BTreeMap::new();
        let rows = dataset.read::<TaskIo<'static>, DatasetError>(|row| {
            if row.read_calls + row.write_calls > 0 {
                let generation = row.generation.map_or("-".to_owned(), |generation| generation.to_string());
                ids.insert(format!("{}:1:{}:{generation}:{}", row.host, row.inode.unwrap_or(-1), row.incarnation), ());
            }
            Ok(())
        });
        rows.expect("the table");
        for id in ids.keys() {
            prop_assert!(accesses(&dataset, id).is_ok(), "{}", id);
        }
    }
}

#[test]
fn what_has_no_bar_is_counted_or_refused() {
    let process = P("n1", 50, 10);
    let mut world = World::default();
    world.task("1", process);
    let (file, sums, opened) = (F(1, 7, Some(3)), F(1, 8, Some(3)), F(1, 9, Some(3)));
    world.named(process, 1, "open", file, "/d/a");
    world.moves(process, 2, "write", file, 0, 100);
    world.event(process, 3, "read", file, |row| row.result = Some(-5));
    world.event(process, 4, "write", file, |row| row.result = Some(40));
    world.event(process, 5, "fault", file, |_| {});
    world.named(process, 6, "open", sums, "/d/sums");
    world.named(process, 7, "open", opened, "/d/opened");
    world.totals.push(IoTotal {
        host: "n1".into(),
        trace_ns: T0,
        pid: 50,
        process_start_ns: Some(10 * SECOND),
        device: 1,
        inode: 8,
        generation: Some(3),
        first_ns: T0 + 11 * SECOND,
        last_ns: T0 + 12 * SECOND,
        read_calls: 2,
        read_bytes: 64,
        ..IoTotal::default()
    });
    let dataset = world.dataset();
    let missing = read(&dataset, &find(&dataset, "/d/a").expect("one file")).expect("bars").missing;
    assert_eq!((missing.failed, missing.no_offset, missing.faults, missing.only_sums), (1, (1, 40), 1, (0, 0)));
    let refused = |path: &str| read(&dataset, &find(&dataset, path).expect("one file"));
    assert!(matches!(refused("/d/sums"), Err(FileAccessError::OnlySums { .. })));
    assert!(matches!(refused("/d/opened"), Err(FileAccessError::NoAccess { .. })));
}

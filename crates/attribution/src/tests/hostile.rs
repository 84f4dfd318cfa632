//! Rows that no tracer writes: every column is anything, out of few values so that they collide.
//! Nothing panics, no byte is lost or doubled, and the same rows give the same tables.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use proptest::prelude::*;

use super::*;

/// Chooses by the bytes that a test case consists of.
struct Dice<'d> {
    bytes: &'d [u8],
    at: usize,
    huge: bool,
}

impl Dice<'_> {
    fn of<T: Copy>(&mut self, values: &[T]) -> T {
        self.at += 1;
        // Bytes are used again with another offset.
        values[(usize::from(self.bytes[self.at % self.bytes.len()]) + self.at / self.bytes.len()) % values.len()]
    }

    fn time(&mut self) -> i64 {
        let near = self.of(&[0, 1, 2, 3, 5, 9, 20, 40]);
        let far = self.of(&[i64::MIN, i64::MAX, 0, -1, T0, T0, T0, T0]);
        if self.huge && near < 2 { far } else { T0 + near * SECOND }
    }

    fn number(&mut self) -> i64 {
        let number = self.of(&[0, 1, 2, 5, 100, 4096, -1, -5]);
        let far = self.of(&[i64::MIN, i64::MAX, i64::MAX - 3, -(1 << 62), 1 << 40, i64::MIN + 3]);
        if self.huge && number == 2 { far } else { number }
    }

    fn pid(&mut self) -> i32 {
        self.of(&[1, 2, 3, 4, 5, 6, i32::MAX, i32::MIN])
    }

    fn start(&mut self) -> Option<i64> {
        self.of(&[Some(1), Some(1), Some(SECOND), Some(SECOND), Some(2 * SECOND), None, Some(i64::MIN), Some(i64::MAX)])
    }

    fn maybe<T>(&mut self, value: T) -> Option<T> {
        self.of(&[true, true, true, false]).then_some(value)
    }

    fn host(&mut self) -> Cow<'static, str> {
        self.of(&["n1", "n1", "n2"]).into()
    }

    fn text(&mut self) -> Cow<'static, str> {
        const ID: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
        let container = format!("/docker/{ID}");
        let texts = [
            "",
            "1",
            "2",
            "a",
            "/",
            "pid",
            "slurm_job",
            "/w/.command.sh",
            "/w/task_1_x",
            "/w",
            "makeflow",
            "snakemake",
            "2026-11-22T060002.317716",
            "/w/.snakemake/log/2026-11-22T060002.317716.snakemake.log",
            r#"[{"path":"out"}]"#,
            "/w/out",
            r#"["python","-m","snakemake","--target-jobs","a"]"#,
            r#"[{"exec_ns":5,"command_line":["sh","-c","sort in > out"],"work_dir":"/w"}]"#,
            "airflow",
            "nfs",
            "{}",
            "[",
            r#"["sh","-c","; ;;make all; make all"]"#,
            r#"["bash","/w/.command.sh"]"#,
            "make all",
            r#"{"SLURM_JOB_ID":"1","NXF_TASK_WORKDIR":"/w"}"#,
            r#"{"SLURM_JOB_ID":"-9223372036854775808","AIRFLOW_CTX_DAG_RUN_ID":"a","AIRFLOW_CTX_TASK_ID":"1"}"#,
            "/slurm/uid_0/job_2/step_0",
            "/system.slice/a.service",
            &container,
            ID,
        ];
        self.of(&texts).to_owned().into()
    }

    fn maybe_text(&mut self) -> Option<Cow<'static, str>> {
        let text = self.text();
        self.maybe(text)
    }

    fn maybe_number(&mut self) -> Option<i64> {
        let number = self.number();
        self.maybe(number)
    }

    fn maybe_time(&mut self) -> Option<i64> {
        let time = self.time();
        self.maybe(time)
    }

    fn event(&mut self) -> IoEvent<'static> {
        IoEvent {
            host: self.host(),
            trace_ns: T0,
            pid: self.pid(),
            process_start_ns: self.start(),
            op: self.of(&["open", "read", "read", "write", "write", "close", "delete", "rename", "truncate", "mmap", "fault", ""]).into(),
            start_ns: self.time(),
            end_ns: self.maybe_time(),
            handle: self.maybe_number(),
            device: self.of(&[Some(1), Some(1), Some(2), None]),
            inode: self.of(&[Some(1), Some(1), Some(2), Some(i64::MIN), None]),
            generation: self.of(&[Some(1), None, None]),
            offset: self.maybe_number(),
            size: self.maybe_number(),
            result: self.maybe_number(),
            flags: self.of(&[Some(0), Some(0o101), Some(0o301), Some(0o1001), Some(-1), None]),
            path: self.maybe_text(),
            container_path: self.maybe_text(),
            new_path: self.maybe_text(),
            ..IoEvent::default()
        }
    }

    fn total(&mut self) -> IoTotal<'static> {
        IoTotal {
            host: self.host(),
            trace_ns: T0,
            pid: self.pid(),
            process_start_ns: self.start(),
            handle: self.maybe_number(),
            device: self.of(&[1, 2, i64::MIN]),
            inode: self.of(&[1, 2, i64::MAX]),
            generation: self.of(&[Some(1), None]),
            first_ns: self.time(),
            last_ns: self.time(),
            read_calls: self.number(),
            read_bytes: self.number(),
            read_errors: self.number(),
            read_time_ns: self.number(),
            read_offset_min: self.maybe_number(),
            read_offset_end: self.maybe_number(),
            write_calls: self.number(),
            write_bytes: self.number(),
            write_errors: self.number(),
            write_time_ns: self.number(),
            write_offset_min: self.maybe_number(),
            write_offset_end: self.maybe_number(),
            faults: self.number(),
            ..IoTotal::default()
        }
    }

    fn process(&mut self) -> Process<'static> {
        let (parent_pid, container_pid) = (self.pid(), self.pid());
        Process {
            host: self.host(),
            trace_ns: T0,
            pid: self.pid(),
            process_start_ns: self.start(),
            start_precision_ns: self.maybe_number(),
            as_of_ns: self.time(),
            started_ns: self.maybe_time(),
            first_seen: self.of(&["fork", "running", "operation", ""]).into(),
            container_pid: self.maybe(container_pid),
            parent_pid: self.maybe(parent_pid),
            parent_start_ns: self.start(),
            uid: self.maybe_number(),
            real_uid: self.maybe_number(),
            real_user: self.maybe_text(),
            environment_users: self.of(&[Some(r#"["root","1"]"#), Some(r#"[1,"a",-5]"#), Some("["), None]).map(Into::into),
            gid: self.maybe_number(),
            cgroup_id: self.maybe_number(),
            cgroup_path: self.maybe_text(),
            cgroup_v1: self.maybe_text(),
            command_line: self.maybe_text(),
            work_dir: self.maybe_text(),
            earlier_programs: self.maybe_text(),
            environment: self.maybe_text(),
            exec_ns: self.maybe_time(),
            exit_ns: self.maybe_time(),
            utime_ns: self.maybe_number(),
            stime_ns: self.maybe_number(),
            run_delay_ns: self.maybe_number(),
            ..Process::default()
        }
    }

    fn file(&mut self) -> TracedFile<'static> {
        TracedFile {
            host: self.host(),
            trace_ns: T0,
            device: self.of(&[Some(1), Some(2), None]),
            inode: self.of(&[1, 2, i64::MIN]),
            generation: self.of(&[Some(1), None]),
            first_seen_ns: self.time(),
            file_system: self.maybe_text(),
            path: self.maybe_text(),
            ..TracedFile::default()
        }
    }

    fn loss(&mut self) -> IoLoss<'static> {
        IoLoss {
            host: self.host(),
            trace_ns: T0,
            kind: self.of(&["read", "write", "open", "fork", ""]).into(),
            reason: self.text(),
            count: self.number(),
            bytes: self.maybe_number(),
            not_before_ns: self.time(),
            observed_at_ns: self.time(),
            ..IoLoss::default()
        }
    }

    fn run(&mut self) -> TaskRun<'static> {
        TaskRun {
            engine: self.text(),
            run_id: self.maybe_text(),
            run_name: self.maybe_text(),
            task_id: self.maybe_text(),
            attempt: self.maybe_number(),
            name: self.text(),
            logical_task: self.text(),
            cache_key: self.maybe_text(),
            work_dir: self.maybe_text(),
            native_id: self.maybe_text(),
            native_kind: self.maybe_text(),
            host: self.maybe_text(),
            container_id: self.maybe_text(),
            command: self.maybe_text(),
            submitted_ns: self.maybe_time(),
            submitted_precision_ns: self.maybe_number(),
            started_ns: self.maybe_time(),
            started_precision_ns: self.maybe_number(),
            finished_ns: self.maybe_time(),
            finished_precision_ns: self.maybe_number(),
            user: self.maybe_text(),
            outputs: self.maybe_text(),
            status: self.of(&["completed", "failed", "running", "unknown", ""]).into(),
            cached: self.of(&[false, false, true]),
            source: self.text(),
            ..TaskRun::default()
        }
    }

    fn clock(&mut self) -> (Host<'static>, Clock<'static>) {
        let host = Host { host: self.host(), trace_ns: T0, at_ns: self.time(), boot_offset_ns: self.maybe_number(), ..Host::default() };
        let clock = Clock {
            host: self.host(),
            trace_ns: T0,
            boot_ns: self.number(),
            real_ns: self.time(),
            error_ns: self.number(),
            synchronised: self.of(&[Some(true), Some(false), None]),
            ..Clock::default()
        };
        (host, clock)
    }
}

fn world(rows: &[(u8, [u8; 24])], huge: bool) -> World {
    let mut world = World::default();
    for (kind, bytes) in rows {
        let mut dice = Dice { bytes, at: usize::from(*kind), huge };
        match kind % 16 {
            0..7 => world.events.push(dice.event()),
            7..9 => world.totals.push(dice.total()),
            9..12 => world.processes.push(dice.process()),
            12 => world.files.push(dice.file()),
            13 => world.losses.push(dice.loss()),
            14 => world.runs.push(dice.run()),
            _ => {
                let (host, clock) = dice.clock();
                world.hosts.push(host);
                world.clocks.push(clock);
            }
        }
    }
    world
}

/// Calls and bytes read and written, as `task_totals` must have them, by host.
fn traced(world: &World) -> BTreeMap<String, [i128; 4]> {
    let mut hosts: BTreeMap<String, [i128; 4]> = BTreeMap::new();
    let mut add = |host: &str, read: bool, calls: i64, bytes: i64| {
        let sums = hosts.entry(host.to_owned()).or_default();
        let at = if read { 0 } else { 2 };
        sums[at] += i128::from(calls.max(0));
        sums[at + 1] += i128::from(bytes.max(0));
    };
    for row in world.events.iter().filter(|row| matches!(&*row.op, "read" | "write")) {
        add(&row.host, row.op == "read", 1, row.result.unwrap_or(0));
    }
    for row in &world.totals {
        add(&row.host, true, row.read_calls, row.read_bytes);
        add(&row.host, false, row.write_calls, row.write_bytes);
    }
    for row in world.losses.iter().filter(|row| matches!(&*row.kind, "read" | "write")) {
        add(&row.host, row.kind == "read", row.count, row.bytes.unwrap_or(0));
    }
    hosts.retain(|_, sums| *sums != [0; 4]);
    hosts
}

/// What was written of traces, to the byte.
fn bytes(dataset: &Path) -> BTreeMap<&'static str, Vec<Vec<u8>>> {
    let table = |name: &'static str| {
        let dir = dataset.join(name);
        let mut files: Vec<_> = dir.read_dir().into_iter().flatten().map(|file| file.unwrap().path()).collect();
        files.retain(|file| file.extension().is_some_and(|extension| extension == "parquet"));
        files.sort();
        (name, files.into_iter().map(|file| std::fs::read(file).unwrap()).collect())
    };
    ["task_io", "task_totals", "logical_task_totals", "data_flow", "links", "diagnostics"].into_iter().map(table).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20, ..ProptestConfig::default() })]
    #[test]
    fn rows_that_no_tracer_writes(rows in proptest::collection::vec(any::<(u8, [u8; 24])>(), 1..80), huge in any::<bool>(), part in 5usize..40) {
        let world = world(&rows, huge);
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("d");
        let dataset = world.written(&path, usize::MAX);
        attributed(&dataset, &[]);
        let (first, told) = (bytes(&path), Derived::new(&dataset));
        attributed(&dataset, &[]);
        prop_assert!(first == bytes(&path), "twice the same");
        let parts = world.written(&dir.path().join("parts"), part);
        attributed(&parts, &[]);
        prop_assert_eq!(&Derived::new(&parts), &told, "however many rows a file holds");

        let mut sums: BTreeMap<String, [i128; 4]> = BTreeMap::new();
        for row in &told.totals {
            let sum = sums.entry(row.host.to_string()).or_default();
            for (sum, more) in sum.iter_mut().zip([row.read_calls, row.read_bytes, row.write_calls, row.written_bytes]) {
                prop_assert!(more >= 0, "{:?}", row);
                *sum += i128::from(more);
            }
        }
        sums.retain(|_, sums| *sums != [0; 4]);
        let traced = traced(&world);
        prop_assert_eq!(sums.keys().collect::<Vec<_>>(), traced.keys().collect::<Vec<_>>());
        for (host, expected) in &traced {
            for (sum, expected) in sums[host].iter().zip(expected) {
                let most = i128::from(i64::MAX);
                // A sum that does not fit stays at the largest number.
                prop_assert!(sum == expected || (*expected > most && *sum >= most), "{}: {} {}", host, sum, expected);
            }
        }
        for row in &told.io {
            prop_assert_eq!(row.unassigned.is_some(), row.task.is_none() && row.job.is_none() && row.pod.is_none() && row.container.is_none());
            prop_assert!(row.unique_read_bytes.is_none_or(|unique| (0..=row.read_bytes).contains(&unique)), "{:?}", row);
        }
    }
}

/// A library that thousands of programs read is thousands of steps; what is known of the file stays
/// small.
#[test]
fn a_file_that_many_processes_read_one_after_the_other() {
    let mut world = World::default();
    let writer = P("n1", 1, 1);
    world.process(writer, 90, |_| {});
    world.task_of_pid("w", writer, 90);
    let file = F(1, 1);
    let readers = |world: &mut World, from: i64| {
        for n in 0..600 {
            let reader = P("n1", 10 + n, 2);
            world.reads(reader, from + i64::from(n), file, 0, 3);
        }
    };
    for n in 0..600 {
        let reader = P("n1", 10 + n, 2);
        world.process(reader, 90, |_| {});
        world.task_of_pid(&n.to_string(), reader, 90);
    }
    world.opens(writer, 1000, file, "/d/f", 0o301);
    world.writes(writer, 1001, file, 0, 10);
    readers(&mut world, 2000);
    // Who reads again belongs to the same version.
    readers(&mut world, 3000);
    world.writes(writer, 4000, file, 0, 10);
    readers(&mut world, 5000);
    let mut flows: BTreeMap<(i64, i64, i64), usize> = BTreeMap::new();
    for row in world.correlated().flows {
        *flows.entry((row.version, row.written_bytes, row.read_bytes)).or_default() += 1;
    }
    assert_eq!(flows, BTreeMap::from([((1, 10, 6), 600), ((2, 10, 3), 600)]));
}
/// Sums said to end at the last time that there is are added up too, all of them.
#[test]
fn sums_at_the_end_of_time() {
    let total = |pid, bytes| IoTotal {
        host: "n1".into(),
        trace_ns: T0,
        pid,
        process_start_ns: Some(1),
        device: 1,
        inode: 1,
        first_ns: T0,
        last_ns: i64::MAX,
        read_calls: 1,
        read_bytes: bytes,
        ..IoTotal::default()
    };
    let event = IoEvent { host: "n1".into(), trace_ns: T0, pid: 1, op: "delete".into(), start_ns: T0 + SECOND, ..IoEvent::default() };
    let world = World { totals: vec![total(1, 100), total(2, 5)], events: vec![event], ..World::default() };
    assert_eq!(world.correlated().totals.iter().map(|row| row.read_bytes).sum::<i64>(), 105);
}

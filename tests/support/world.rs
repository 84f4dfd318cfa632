//! A small dataset of tasks, processes, files and jobs, whose numbers are known.
//!
//! A run of Makeflow on two hosts: `make` writes `raw.dat`, which `use` (as a Slurm job) reads.
//! `again` failed at first, then came through. A cached task has no times. A job without an engine
//! reads a file of its own. Somebody else's process reads too.

use std::path::{Path, PathBuf};

use flowmine_dataset::{Dataset, Role};
use flowmine_schema::tables::{IoEvent, JobState, Process, TaskRun, TracedFile};
use flowmine_schema::time::Day;
use flowmine_test_support::built;

/// All times are after this.
pub const T0: i64 = 1_795_000_000_000_000_000;
/// A second.
pub const SECOND: i64 = 1_000_000_000;

/// Names that must not survive pseudonyms.
pub const NAMES: [&str; 18] = [
    "alice",
    "secretproject",
    "raw.dat",
    "raw",
    "node-one",
    "node-two",
    "labcluster",
    "makething",
    "useit",
    "againit",
    "skipped-sample",
    "physics",
    "chem",
    "mflow-run",
    "imagename",
    "deadbeefcafe",
    "exploded",
    "ownfile",
];

struct Host {
    name: &'static str,
    events: Vec<IoEvent<'static>>,
    processes: Vec<Process<'static>>,
    files: Vec<TracedFile<'static>>,
}

impl Host {
    fn new(name: &'static str) -> Self {
        Self { name, events: Vec::new(), processes: Vec::new(), files: Vec::new() }
    }

    fn process(&mut self, pid: i32, parent: i32, (start, end): (i64, i64), command: &str, change: impl FnOnce(&mut Process<'static>)) {
        let row = |as_of: i64, ended: bool| Process {
            host: self.name.into(),
            trace_ns: T0,
            pid,
            process_start_ns: Some(start * SECOND),
            start_precision_ns: Some(1),
            as_of_ns: T0 + as_of * SECOND,
            started_ns: Some(T0 + start * SECOND),
            first_seen: "fork".into(),
            parent_pid: Some(parent),
            parent_start_ns: Some(0),
            uid: Some(1000),
            cgroup_path: Some("/user.slice/user-1000.slice/alice.scope".into()),
            executable: Some(format!("/home/alice/bin/{command}").into()),
            command_line: Some(format!("[{command:?},\"/home/alice/secretproject/raw.dat\"]").into()),
            exit_ns: ended.then_some(T0 + end * SECOND),
            exit_code: ended.then_some(0),
            utime_ns: Some(as_of * 1000),
            stime_ns: Some(7),
            ..Process::default()
        };
        // A process that outlives a flush has two rows.
        let (mut first, mut last) = (row(start, false), row(end, true));
        change(&mut last);
        (first.cgroup_path, first.parent_start_ns, first.uid) = (last.cgroup_path.clone(), last.parent_start_ns, last.uid);
        self.processes.extend([first, last]);
    }

    fn moves(&mut self, (pid, start): (i32, i64), ms: i64, op: &'static str, inode: i64, path: &'static str, bytes: i64) {
        let at = T0 + ms * 1_000_000;
        let mut row = IoEvent {
            host: self.name.into(),
            trace_ns: T0,
            pid,
            process_start_ns: Some(start * SECOND),
            tid: Some(pid),
            op: "open".into(),
            via: "call".into(),
            start_ns: at,
            end_ns: Some(at + 1000),
            handle: Some(inode * 100 + i64::from(pid)),
            device: Some(5),
            inode: Some(inode),
            generation: Some(1),
            result: Some(0),
            flags: Some(i32::from(op == "write")),
            path: Some(path.into()),
            ..IoEvent::default()
        };
        self.events.push(row.clone());
        (row.op, row.path, row.flags) = (op.into(), None, None);
        (row.start_ns, row.end_ns) = (at + 2000, Some(at + 5000));
        (row.offset, row.size, row.result) = (Some(0), Some(bytes), Some(bytes));
        self.events.push(row);
    }

    fn file(&mut self, inode: i64, path: &'static str) {
        self.files.push(TracedFile {
            host: self.name.into(),
            trace_ns: T0,
            device: Some(5),
            inode,
            generation: Some(1),
            first_seen_ns: T0 - SECOND,
            kind: Some("regular".into()),
            file_system: Some("ext4".into()),
            path: Some(path.into()),
            ..TracedFile::default()
        });
    }

    fn write(mut self, dataset: &Dataset) {
        self.events.sort_by_key(|event| event.start_ns);
        self.processes.sort_by_key(|process| process.as_of_ns);
        let mut writer = dataset.writer(Role::Host(self.name.to_owned()), "test").unwrap();
        let mut transaction = writer.begin().unwrap();
        transaction.append_split(built::<IoEvent<'static>>(&self.events), self.name, Day::new(T0)).unwrap();
        transaction.append_split(built::<Process<'static>>(&self.processes), self.name, Day::new(T0)).unwrap();
        transaction.append_split(built::<TracedFile<'static>>(&self.files), self.name, Day::new(T0)).unwrap();
        transaction.commit().unwrap();
    }
}

fn task(
    id: &str,
    attempt: i64,
    logical: &'static str,
    times: [Option<i64>; 4],
    change: impl FnOnce(&mut TaskRun<'static>),
) -> TaskRun<'static> {
    let [queued, submitted, started, finished] = times.map(|time| time.map(|s| T0 + s * SECOND));
    let mut row = TaskRun {
        engine: "makeflow".into(),
        run_id: Some("1795".into()),
        run_name: Some("mflow-run".into()),
        task_id: Some(id.to_owned().into()),
        attempt: Some(attempt),
        name: format!("{logical} (alice {id})").into(),
        logical_task: logical.into(),
        tag: Some("secretproject".into()),
        work_dir: Some("/home/alice/secretproject".into()),
        container_image: Some("registry/alice/imagename".into()),
        container_id: Some("deadbeefcafe".into()),
        queued_ns: queued,
        submitted_ns: submitted,
        submitted_precision_ns: submitted.map(|_| 0),
        started_ns: started,
        finished_ns: finished,
        finished_precision_ns: finished.map(|_| 0),
        status: "completed".into(),
        exit_code: Some(0),
        command: Some(format!("./{logical} --user alice /home/alice/secretproject/raw.dat").into()),
        cpus: Some(2),
        time_s: Some(60.5),
        source: "mflow-run.makeflowlog".into(),
        ..TaskRun::default()
    };
    change(&mut row);
    row
}

fn job(id: i64, name: &'static str, state: &'static str, at: i64) -> JobState<'static> {
    let time = T0 + at * SECOND;
    JobState {
        cluster: "labcluster".into(),
        job: id.to_string().into(),
        job_id: id,
        submit_ns: Some(T0 + 10 * SECOND),
        change: if state == "PENDING" { "new" } else { "state" }.into(),
        state: Some(state.into()),
        not_before_ns: Some(time - SECOND),
        observed_at_ns: time,
        reported_ns: Some(time),
        source: "squeue".into(),
        name: Some(name.into()),
        user: Some("alice".into()),
        account: Some("physics".into()),
        group: Some("chem".into()),
        activity: Some(name.into()),
        command: Some(format!("/home/alice/{name}").into()),
        start_ns: (state != "PENDING").then_some(T0 + 12 * SECOND),
        end_ns: (state == "COMPLETED").then_some(time),
        // What accounting counted is another number than what was traced.
        read_bytes: (state == "COMPLETED").then_some(11),
        written_bytes: (state == "COMPLETED").then_some(12),
        ..JobState::default()
    }
}

/// What a dataset has of it.
#[derive(Debug, Clone, Copy)]
pub struct Parts {
    pub jobs: bool,
    pub tasks: bool,
    pub traces: bool,
}

/// Makes a dataset in a directory.
pub fn make(dir: &Path, parts: Parts) -> PathBuf {
    let path = dir.join("world");
    let dataset = Dataset::open_or_create(&path).unwrap();
    let raw = "/home/alice/secretproject/raw.dat";
    let mut one = Host::new("node-one");
    one.file(7, raw);
    one.file(9, "/home/alice/secretproject/log.txt");
    one.process(50, 1, (0, 40), "makeflow", |_| {});
    one.process(100, 50, (1, 5), "makething", |_| {});
    one.moves((100, 1), 2000, "write", 7, raw, 1000);
    one.moves((100, 1), 2500, "write", 9, "/home/alice/secretproject/log.txt", 30);
    one.process(101, 50, (20, 22), "againit", |p| p.exit_code = Some(1));
    one.moves((101, 20), 20_500, "read", 7, raw, 1000);
    one.process(102, 50, (23, 26), "againit", |_| {});
    one.moves((102, 23), 23_500, "read", 7, raw, 600);
    one.process(103, 102, (24, 25), "againit", |p| p.parent_start_ns = Some(23 * SECOND));
    one.moves((103, 24), 24_500, "read", 7, raw, 400);
    one.process(300, 1, (1, 30), "exploded", |p| p.uid = Some(4));
    one.moves((300, 1), 9000, "read", 9, "/home/alice/secretproject/log.txt", 30);
    let mut two = Host::new("node-two");
    // The same numbers as on the other host.
    two.file(7, "/scratch/alice/ownfile");
    two.file(8, "/scratch/alice/out.csv");
    let step = |id: i64| format!("/system.slice/slurmstepd.scope/job_{id}/step_batch/user/task_0");
    two.process(100, 1, (12, 18), "useit", |p| p.cgroup_path = Some(step(70).into()));
    two.moves((100, 12), 13_000, "read", 7, "/scratch/alice/ownfile", 512);
    two.moves((100, 12), 14_000, "write", 8, "/scratch/alice/out.csv", 64);
    two.process(200, 1, (13, 16), "ownjob", |p| p.cgroup_path = Some(step(71).into()));
    two.moves((200, 13), 15_000, "read", 7, "/scratch/alice/ownfile", 256);
    if parts.traces {
        one.write(&dataset);
        two.write(&dataset);
    }
    let pid = |pid: i32, host: &'static str| {
        move |row: &mut TaskRun<'static>| {
            (row.native_id, row.native_kind, row.host) = (Some(pid.to_string().into()), Some("pid".into()), Some(host.into()));
        }
    };
    let tasks = [
        task("1", 1, "makething", [None, Some(1), None, Some(5)], pid(100, "node-one")),
        task("2", 1, "useit", [Some(6), Some(10), Some(12), Some(18)], |row| {
            (row.native_id, row.native_kind) = (Some("70".into()), Some("slurm_job".into()));
            row.executor = Some("slurm".into());
        }),
        task("3", 1, "againit", [None, Some(20), None, Some(22)], |row| {
            pid(101, "node-one")(row);
            (row.status, row.exit_code, row.error) = ("failed".into(), Some(1), Some("alice exploded".into()));
        }),
        task("3", 2, "againit", [None, Some(23), None, Some(26)], pid(102, "node-one")),
        task("4", 1, "makething", [None; 4], |row| {
            (row.status, row.cached, row.tag) = ("cached".into(), true, Some("skipped-sample".into()));
        }),
    ];
    let mut writer = dataset.writer(Role::Raw, "test").unwrap();
    let mut transaction = writer.begin().unwrap();
    if parts.tasks {
        transaction.append(built::<TaskRun<'static>>(&tasks)).unwrap();
    }
    if parts.jobs {
        let states = [("PENDING", 10), ("RUNNING", 12), ("COMPLETED", 18)];
        let jobs = [(70, "useit"), (71, "ownjob")];
        let rows: Vec<JobState<'static>> = jobs.iter().flat_map(|(id, name)| states.map(|(state, at)| job(*id, name, state, at))).collect();
        transaction.append(built::<JobState<'static>>(&rows)).unwrap();
    }
    transaction.commit().unwrap();
    path
}

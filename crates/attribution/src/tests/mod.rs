//! Small worlds of processes, files and tasks, and the owners of their bytes.

mod belonging;
mod engines;
mod flow;
mod forged;
mod hostile;
mod machine;
mod names;
mod partials;
mod properties;
mod sums;

use flowmine_dataset::{Builder, Dataset, Role};
use flowmine_schema::row::Row;
use flowmine_schema::tables::{
    Clock, DataFlow, DiagnosticRow, Host, IoEvent, IoLoss, IoTotal, Link, LogicalTaskTotal, Process, TaskIo, TaskRun, TaskTotal, TracedFile,
};
use flowmine_test_support::{built, each_row, write_by_host};

use crate::attribute;
use crate::entities::{Entities, KnownJob, KnownJobs};

/// All times are after this.
const T0: i64 = 1_795_000_000_000_000_000;
const SECOND: i64 = 1_000_000_000;

/// The rows of a dataset to be attributed: traces, task runs and jobs.
#[derive(Default)]
struct World {
    events: Vec<IoEvent<'static>>,
    totals: Vec<IoTotal<'static>>,
    processes: Vec<Process<'static>>,
    files: Vec<TracedFile<'static>>,
    losses: Vec<IoLoss<'static>>,
    hosts: Vec<Host<'static>>,
    clocks: Vec<Clock<'static>>,
    runs: Vec<TaskRun<'static>>,
    jobs: Vec<KnownJob>,
}

/// A process: host, pid, start in seconds.
#[derive(Clone, Copy)]
struct P(&'static str, i32, i64);

/// A file: device, inode.
#[derive(Clone, Copy)]
struct F(i64, i64);

impl World {
    /// A process from its start to its end, both in seconds; `change` says more of it.
    fn process(&mut self, P(host, pid, start): P, end: i64, change: impl FnOnce(&mut Process<'static>)) {
        let mut row = Process {
            host: host.into(),
            trace_ns: T0,
            pid,
            process_start_ns: Some(start * SECOND),
            start_precision_ns: Some(1),
            as_of_ns: T0 + end * SECOND,
            started_ns: Some(T0 + start * SECOND),
            first_seen: "fork".into(),
            parent_pid: Some(1),
            parent_start_ns: Some(0),
            uid: Some(1000),
            cgroup_id: Some(7),
            cgroup_path: Some("/user.slice".into()),
            command_line: Some("[\"work\"]".into()),
            exit_ns: Some(T0 + end * SECOND),
            exit_code: Some(0),
            ..Process::default()
        };
        change(&mut row);
        self.processes.push(row);
    }

    /// An operation that begins at a time in milliseconds and takes a microsecond.
    fn event(
        &mut self,
        P(host, pid, start): P,
        ms: i64,
        op: &'static str,
        F(device, inode): F,
        change: impl FnOnce(&mut IoEvent<'static>),
    ) {
        let at = T0 + ms * 1_000_000;
        let mut row = IoEvent {
            host: host.into(),
            trace_ns: T0,
            pid,
            process_start_ns: Some(start * SECOND),
            tid: Some(pid),
            op: op.into(),
            via: "call".into(),
            start_ns: at,
            end_ns: Some(at + 1000),
            handle: Some(inode * 100 + i64::from(pid)),
            device: Some(device),
            inode: Some(inode),
            generation: Some(1),
            result: Some(0),
            ..IoEvent::default()
        };
        change(&mut row);
        self.events.push(row);
    }

    fn opens(&mut self, process: P, ms: i64, file: F, path: &str, flags: i32) {
        let path = path.to_owned();
        self.event(process, ms, "open", file, |row| (row.path, row.flags) = (Some(path.into()), Some(flags)));
    }

    fn renames(&mut self, process: P, ms: i64, file: F, (old, new): (&'static str, &'static str)) {
        self.event(process, ms, "rename", file, |row| (row.path, row.new_path) = (Some(old.into()), Some(new.into())));
    }

    fn moves(&mut self, process: P, ms: i64, op: &'static str, file: F, offset: i64, bytes: i64) {
        self.event(process, ms, op, file, |row| {
            (row.offset, row.size, row.result) = (Some(offset), Some(bytes), Some(bytes));
        });
    }

    fn reads(&mut self, process: P, ms: i64, file: F, offset: i64, bytes: i64) {
        self.moves(process, ms, "read", file, offset, bytes);
    }

    fn writes(&mut self, process: P, ms: i64, file: F, offset: i64, bytes: i64) {
        self.moves(process, ms, "write", file, offset, bytes);
    }

    /// A task that ran for a time in seconds.
    fn task(&mut self, engine: &'static str, id: &str, (start, end): (i64, i64), change: impl FnOnce(&mut TaskRun<'static>)) {
        let mut row = TaskRun {
            engine: engine.into(),
            run_id: Some("r".into()),
            task_id: Some(id.to_owned().into()),
            attempt: Some(1),
            name: format!("task {id}").into(),
            logical_task: "step".into(),
            submitted_ns: Some(T0 + start * SECOND),
            submitted_precision_ns: Some(0),
            finished_ns: Some(T0 + end * SECOND),
            finished_precision_ns: Some(0),
            status: "completed".into(),
            source: "log".into(),
            ..TaskRun::default()
        };
        change(&mut row);
        self.runs.push(row);
    }

    /// A task that was this process.
    fn task_of_pid(&mut self, id: &str, process: P, end: i64) {
        let P(host, pid, start) = process;
        self.task("makeflow", id, (start, end), |row| {
            (row.native_id, row.native_kind, row.host) = (Some(pid.to_string().into()), Some("pid".into()), Some(host.into()));
        });
    }

    fn correlated(&self) -> Derived {
        let dir = tempfile::tempdir().unwrap();
        let dataset = self.written(&dir.path().join("d"), usize::MAX);
        // Twice: the second replaces the first.
        attributed(&dataset, &self.jobs);
        attributed(&dataset, &self.jobs);
        Derived::new(&dataset)
    }

    /// As a dataset with at most this number of rows in a file.
    fn written(&self, dir: &std::path::Path, rows: usize) -> Dataset {
        let dataset = Dataset::open_or_create(dir).unwrap();
        self.events.chunks(rows).for_each(|rows| write_by_host(&dataset, rows, |row| (row.host.to_string(), row.start_ns)));
        self.totals.chunks(rows).for_each(|rows| write_by_host(&dataset, rows, |row| (row.host.to_string(), row.first_ns)));
        self.processes.chunks(rows).for_each(|rows| write_by_host(&dataset, rows, |row| (row.host.to_string(), row.as_of_ns)));
        self.files.chunks(rows).for_each(|rows| write_by_host(&dataset, rows, |row| (row.host.to_string(), row.first_seen_ns)));
        self.losses.chunks(rows).for_each(|rows| write_by_host(&dataset, rows, |row| (row.host.to_string(), row.observed_at_ns)));
        write_by_host(&dataset, &self.hosts, |row| (row.host.to_string(), row.at_ns));
        write_by_host(&dataset, &self.clocks, |row| (row.host.to_string(), row.real_ns));
        let mut writer = dataset.writer(Role::Raw, "test").unwrap();
        let mut transaction = writer.begin().unwrap();
        transaction.append(built::<TaskRun<'static>>(&self.runs)).unwrap();
        transaction.commit().unwrap();
        drop(writer);
        dataset
    }
}

/// The rows that attribution derived from a [`World`].
#[derive(Debug, PartialEq)]
struct Derived {
    io: Vec<TaskIo<'static>>,
    totals: Vec<TaskTotal<'static>>,
    logical: Vec<LogicalTaskTotal<'static>>,
    flows: Vec<DataFlow<'static>>,
    links: Vec<Link<'static>>,
    diagnostics: Vec<DiagnosticRow<'static>>,
}

impl Derived {
    fn new(dataset: &Dataset) -> Self {
        Self {
            io: read::<TaskIo<'static>, _>(dataset, |row| row.into_owned()),
            totals: read::<TaskTotal<'static>, _>(dataset, |row| row.into_owned()),
            logical: read::<LogicalTaskTotal<'static>, _>(dataset, |row| row.into_owned()),
            flows: read::<DataFlow<'static>, _>(dataset, |row| row.into_owned()),
            links: read::<Link<'static>, _>(dataset, |row| row.into_owned()),
            diagnostics: read::<DiagnosticRow<'static>, _>(dataset, |row| row.into_owned()),
        }
    }
}

/// Writes what follows from a dataset's traces and tasks, and these jobs, and replaces earlier
/// derived rows.
fn attributed(dataset: &Dataset, jobs: &[KnownJob]) {
    let mut known = KnownJobs::default();
    jobs.iter().cloned().for_each(|job| known.add(job));
    let mut writer = dataset.writer(Role::Derived, "test").unwrap();
    let mut transaction = writer.begin().unwrap();
    transaction.replace(Builder::<Link<'static>>::new()).unwrap();
    let entities = Entities::read(dataset, known).unwrap();
    let found = attribute(dataset, &entities, &mut transaction).unwrap();
    let mut diagnostics = Builder::<DiagnosticRow<'static>>::new();
    diagnostics.extend(found.diagnostics.rows("correlate", None));
    transaction.replace(diagnostics).unwrap();
    transaction.commit().unwrap();
}

fn read<R: Row, T>(dataset: &Dataset, own: impl Fn(R::Of<'_>) -> T) -> Vec<T> {
    let mut rows = Vec::new();
    each_row::<R>(dataset, |row| rows.push(own(row)));
    rows
}

/// A task by its own id, or the job, container, or reason.
fn whose(task: Option<&str>, job: Option<&str>, container: Option<&str>, unassigned: Option<&str>) -> String {
    let task = task.map(|task| task.split_once('/').unwrap().1.split('#').next().unwrap());
    let job = job.map(|job| format!("job {job}"));
    let short = container.map(|id| format!("container {}", &id[..id.len().min(3)]));
    let all = [task.map(str::to_owned), job, short, unassigned.map(str::to_owned)];
    all.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

impl Derived {
    /// Bytes read and written, by owner.
    fn bytes(&self) -> Vec<String> {
        let mut lines: Vec<_> = self
            .totals
            .iter()
            .filter(|row| row.read_bytes + row.written_bytes > 0)
            .map(|row| {
                let whose = whose(row.task.as_deref(), row.job.as_deref(), row.container.as_deref(), row.unassigned.as_deref());
                format!("{whose}: {} {}", row.read_bytes, row.written_bytes)
            })
            .collect();
        lines.sort();
        lines
    }

    /// Who wrote what that who read.
    fn flow(&self) -> Vec<String> {
        let name = |kind: &Option<std::borrow::Cow<'_, str>>, id: &Option<std::borrow::Cow<'_, str>>| match (kind.as_deref(), id.as_deref())
        {
            (Some("task"), Some(id)) => whose(Some(id), None, None, None),
            (Some(kind), Some(id)) => format!("{kind} {id}"),
            _ => "-".to_owned(),
        };
        let mut lines: Vec<_> = self
            .flows
            .iter()
            .map(|row| {
                format!(
                    "{} v{} {}: {} {} -> {} {}",
                    row.path.as_deref().unwrap_or("?"),
                    row.version,
                    row.origin,
                    name(&row.writer_type, &row.writer),
                    row.written_bytes,
                    name(&row.reader_type, &row.reader),
                    row.read_bytes
                )
            })
            .collect();
        lines.sort();
        lines
    }
}

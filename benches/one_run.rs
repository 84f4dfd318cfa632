//! How long the models of one large run take, and how much memory:
//! `flowmine discover dag|critical-path` of a made run of many tasks and versions of files,
//! and `discover profile` of many traced operations.
//!
//! `cargo bench --bench one_run [-- --tasks N] [--operations N]`: samples of a hundred steps each;
//! a step reads two files of the step before it, one of the sample's first step and one that all
//! share, and writes ten; one last task reads of each sample. Making it does not count. Wall clock,
//! CPU time and the largest memory of the commands are printed, and what comes out is compared with
//! what was made. A table of measured values stands in docs/performance.md.

use std::error::Error;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use flowmine_dataset::{Builder, Dataset, Role};
use flowmine_schema::row::Row;
use flowmine_schema::tables::{DataFlow, IoEvent, Process, TaskRun};
use flowmine_schema::time::Day;

type Outcome<T> = Result<T, Box<dyn Error>>;

const T0: i64 = 1_795_000_000_000_000_000;
const STEPS: u64 = 100;
const WRITTEN: u64 = 10;
const SECOND: i64 = 1_000_000_000;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let number = |name: &str, usual: u64| -> Outcome<u64> {
        match arguments.iter().position(|argument| argument == name) {
            Some(at) => Ok(arguments.get(at + 1).ok_or(format!("{name} N"))?.parse()?),
            None => Ok(usual),
        }
    };
    let (tasks, operations) = (number("--tasks", 100_000)?, number("--operations", 10_000_000)?);
    let dir = tempfile::tempdir_in("/var/tmp")?;
    println!("of | model | wall s | CPU s | peak MB");
    if tasks > 0 {
        let made = dir.path().join("run");
        let versions = make_run(&made, tasks)?;
        let what = format!("{tasks} tasks, {versions} versions");
        for more in [&["dag"][..], &["dag", "--fold", "equal"], &["dag", "--fold", "name"], &["critical-path"]] {
            measured(&what, &made, more)?;
        }
        let found = run(&made, &["dag", "--fold", "equal"])?.0;
        let found: serde_json::Value = serde_json::from_slice(&found)?;
        if found["versions"] != versions || found["tasks"] != tasks {
            return Err(format!("{} tasks and {} versions came out", found["tasks"], found["versions"]).into());
        }
        let most = found["nodes"].as_array().ok_or("nodes")?.iter().filter_map(|node| node["members"].as_u64()).max();
        println!("folded: {} nodes, the largest of {}", found["nodes"].as_array().map_or(0, Vec::len), most.unwrap_or(0));
    }
    if operations > 0 {
        let made = dir.path().join("operations");
        let bytes = make_operations(&made, operations)?;
        measured(&format!("{operations} operations"), &made, &["io-profile"])?;
        let found: serde_json::Value = serde_json::from_slice(&run(&made, &["io-profile"])?.0)?;
        let sum = found["total"]["read_bytes"].as_i64().unwrap_or(0) + found["total"]["written_bytes"].as_i64().unwrap_or(0);
        if sum != bytes {
            return Err(format!("{sum} bytes came out, {bytes} were made").into());
        }
    }
    Ok(())
}

fn measured(what: &str, dataset: &Path, more: &[&str]) -> Outcome<()> {
    let (_, wall, cpu, peak) = run(dataset, more)?;
    println!("{what} | {} | {wall:.2} | {cpu:.2} | {peak:.0}", more.join(" "));
    Ok(())
}

/// What the command writes, its time, CPU time and largest memory.
fn run(dataset: &Path, more: &[&str]) -> Outcome<(Vec<u8>, f64, f64, f64)> {
    let out = dataset.with_extension("json");
    let began = Instant::now();
    let mut command = Command::new(env!("CARGO_BIN_EXE_flowmine"));
    command.arg("discover").args(more).args(["--format", "json", "--dataset"]).arg(dataset).arg("-o").arg(&out);
    let mut child = command.spawn()?;
    let (mut status, mut usage) = (0, std::mem::MaybeUninit::<libc::rusage>::zeroed());
    // SAFETY: the process is a child of ours that nobody has waited for, and both places are ours and large enough.
    let ended = unsafe { libc::wait4(child.id() as i32, &mut status, 0, usage.as_mut_ptr()) };
    let wall = began.elapsed().as_secs_f64();
    if ended < 0 || !libc::WIFEXITED(status) || libc::WEXITSTATUS(status) != 0 {
        let _ = child.kill();
        return Err(format!("flowmine {more:?} failed").into());
    }
    // SAFETY: wait4 filled it.
    let usage = unsafe { usage.assume_init() };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    Ok((std::fs::read(&out)?, wall, seconds(usage.ru_utime) + seconds(usage.ru_stime), usage.ru_maxrss as f64 / 1024.0))
}

/// Rows in files of so many.
const ROWS: u64 = 500_000;

type Put<R> = fn(&Dataset, Builder<R>) -> Outcome<()>;

struct Rows<'d, R: Row> {
    dataset: &'d Dataset,
    put: Put<R>,
    builder: Builder<R>,
    rows: u64,
}

impl<'d, R: Row> Rows<'d, R> {
    fn new(dataset: &'d Dataset, put: Put<R>) -> Self {
        Self { dataset, put, builder: Builder::new(), rows: 0 }
    }

    fn push(&mut self, row: &R::Of<'_>) -> Outcome<()> {
        self.builder.push(row);
        self.rows += 1;
        if self.rows.is_multiple_of(ROWS) { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Outcome<()> {
        (self.put)(self.dataset, std::mem::replace(&mut self.builder, Builder::new()))
    }
}

fn times(task: u64) -> (i64, i64) {
    let step = (task % STEPS) as i64;
    let start = T0 + step * 100 * SECOND + (task / STEPS % 50) as i64 * SECOND;
    (start, start + 40 * SECOND)
}

/// Makes the run; gives the versions of files in it.
fn make_run(dir: &Path, tasks: u64) -> Outcome<u64> {
    let dataset = Dataset::open_or_create(dir)?;
    let mut runs = Rows::<TaskRun<'static>>::new(&dataset, |dataset, rows| {
        let mut writer = dataset.writer(Role::Raw, "bench")?;
        let mut transaction = writer.begin()?;
        transaction.append(rows)?;
        transaction.commit()?;
        Ok(())
    });
    for task in 0..tasks {
        let (start, end) = times(task);
        let parents = if task % STEPS == 0 { "[]".to_owned() } else { format!("[\"{}\"]", task - 1) };
        runs.push(&TaskRun {
            engine: "makeflow".into(),
            run_id: Some("1".into()),
            run_name: Some("bench".into()),
            task_id: Some(task.to_string().into()),
            attempt: Some(1),
            name: format!("step{} of sample {}", task % STEPS, task / STEPS).into(),
            logical_task: format!("step{}", task % STEPS).into(),
            submitted_ns: Some(start - SECOND),
            started_ns: Some(start),
            finished_ns: Some(end),
            status: "completed".into(),
            parents: Some(parents.into()),
            source: "bench".into(),
            ..TaskRun::default()
        })?;
    }
    runs.flush()?;
    let mut flows = Rows::<DataFlow<'static>>::new(&dataset, |dataset, rows| {
        let mut writer = dataset.writer(Role::Derived, "bench")?;
        let mut transaction = writer.begin()?;
        transaction.append(rows)?;
        transaction.commit()?;
        Ok(())
    });
    let key = |task: u64| format!("makeflow:bench:1/{task}#1");
    let mut versions = 0;
    // A file that was there and that all read.
    for task in 0..tasks {
        flows.push(&flow(0, "/data/shared.fa", None, Some((&key(task), task))))?;
    }
    versions += 1;
    for task in 0..tasks {
        for file in 0..WRITTEN {
            versions += 1;
            let path = format!("/data/sample{}/step{}.{file}.bam", task / STEPS, task % STEPS);
            let writer = key(task);
            let next = (task + 1 < tasks && (task + 1) % STEPS != 0).then_some(task + 1);
            // Two are read by the next step, one of the first step by all of its sample; the last of each sample by nobody.
            let readers: Vec<u64> = match file {
                0 | 1 => next.into_iter().collect(),
                2 if task % STEPS == 0 => (task + 1..tasks.min(task + STEPS)).collect(),
                _ => Vec::new(),
            };
            let inode = 1 + task * WRITTEN + file;
            if readers.is_empty() {
                flows.push(&flow(inode, &path, Some((&writer, task)), None))?;
            }
            for reader in readers {
                flows.push(&flow(inode, &path, Some((&writer, task)), Some((&key(reader), reader))))?;
            }
        }
    }
    flows.flush()?;
    Ok(versions)
}

fn flow(inode: u64, path: &str, writer: Option<(&str, u64)>, reader: Option<(&str, u64)>) -> DataFlow<'static> {
    let moment = |of: Option<(&str, u64)>, after: i64| of.map(|(_, task)| times(task).0 + after * SECOND);
    DataFlow {
        host: Some("node1".into()),
        device: Some(1),
        inode: Some(inode as i64),
        generation: Some(1),
        incarnation: 1,
        path: Some(path.to_owned().into()),
        version: i64::from(writer.is_some()),
        origin: if writer.is_some() { "created".into() } else { "before".into() },
        writer_type: writer.map(|_| "task".into()),
        writer_scope: writer.map(|_| "makeflow".into()),
        writer: writer.map(|(key, _)| key.to_owned().into()),
        written_bytes: if writer.is_some() { 1 << 20 } else { 0 },
        first_write_ns: moment(writer, 30),
        last_write_ns: moment(writer, 39),
        reader_type: reader.map(|_| "task".into()),
        reader_scope: reader.map(|_| "makeflow".into()),
        reader: reader.map(|(key, _)| key.to_owned().into()),
        read_bytes: if reader.is_some() { 1 << 20 } else { 0 },
        first_read_ns: moment(reader, 1),
        last_read_ns: moment(reader, 5),
        ..DataFlow::default()
    }
}

/// Bits that look like chance, the same each time (splitmix64).
fn mixed(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A thousand processes of twenty programs that open, read, write and close files; gives the bytes.
fn make_operations(dir: &Path, operations: u64) -> Outcome<i64> {
    const EACH_NS: i64 = 20_000;
    let dataset = Dataset::open_or_create(dir)?;
    let mut processes = Rows::<Process<'static>>::new(&dataset, |dataset, rows| {
        let mut writer = dataset.writer(Role::Host("node1".to_owned()), "bench")?;
        let mut transaction = writer.begin()?;
        transaction.append_split(rows, "node1", Day::new(T0))?;
        transaction.commit()?;
        Ok(())
    });
    let all = 1000u64;
    for at in 0..all {
        processes.push(&Process {
            host: "node1".into(),
            trace_ns: T0,
            pid: 1000 + at as i32,
            process_start_ns: Some(at as i64),
            as_of_ns: T0 + operations as i64 * EACH_NS,
            started_ns: Some(T0 + at as i64),
            first_seen: "fork".into(),
            executable: Some(format!("/usr/bin/program{}", at % 20).into()),
            execs: 1,
            exit_ns: Some(T0 + operations as i64 * EACH_NS),
            ..Process::default()
        })?;
    }
    processes.flush()?;
    let mut events = Rows::<IoEvent<'static>>::new(&dataset, |dataset, rows| {
        let mut writer = dataset.writer(Role::Host("node1".to_owned()), "bench")?;
        let mut transaction = writer.begin()?;
        transaction.append_split(rows, "node1", Day::new(T0))?;
        transaction.commit()?;
        Ok(())
    });
    let mut bytes = 0;
    for at in 0..operations {
        let (process, random) = (at % all, mixed(at));
        let start_ns = T0 + at as i64 * EACH_NS;
        let step = at / all % 200;
        let op = match step {
            0 => "open",
            199 => "close",
            step if step % 2 == 1 => "read",
            _ => "write",
        };
        let size = (step > 0 && step < 199).then_some(1 << (random % 20));
        bytes += size.unwrap_or(0);
        let file = process * 50 + at / all / 200 % 50;
        events.push(&IoEvent {
            host: "node1".into(),
            trace_ns: T0,
            pid: 1000 + process as i32,
            process_start_ns: Some(process as i64),
            op: op.into(),
            via: "call".into(),
            start_ns,
            end_ns: Some(start_ns + 300 + (random >> 40 & 0xffff) as i64),
            handle: Some(file as i64),
            device: Some(1),
            inode: Some(file as i64 + 10),
            generation: Some(1),
            offset: size.map(|_| (step as i64) << 12),
            size,
            result: Some(size.unwrap_or(0)),
            path: (op == "open").then(|| format!("/data/file{file}").into()),
            ..IoEvent::default()
        })?;
    }
    events.flush()?;
    Ok(bytes)
}

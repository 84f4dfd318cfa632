//! How fast traced operations become tasks' operations: `flowmine correlate` on a made dataset,
//! from Parquet and from the monitoring paper's CSV, beside the paper's own script.
//!
//! `cargo bench --bench attribution [-- --operations N] [--csv]` makes a trace of a workflow in
//! Nextflow's layout: tasks four at a time, each a shell in a control group of its own that opens
//! its `.command.sh`, reads a file that an earlier task wrote and one that all share (at random
//! places), writes one in order and one by strides, and closes them; and the engine's table of
//! tasks. Making it does not count. Wall clock, CPU time and the largest memory of the commands are
//! printed, and the sums are compared with what was made.
//!
//! With `--hosts H` the operations are those of H hosts. The tables are then also made on one
//! processor (`taskset`), and by partial results and their merge. `--of-task N` sets the operations
//! of a task, 2000 by default: 1,000 hosts with 1,000 tasks and 4,000 rows of `task_io` each are
//! `--hosts 1000 --of-task 16 --operations 16000000`.
//!
//! With `FLOWMINE_PAPER_SCRIPT` (the published `nextflow_eval.py`, run by `FLOWMINE_PYTHON` with
//! the packages that it imports) and `--csv` the script is run on the same files, and ended after
//! ten minutes. A table of measured values stands in docs/performance.md.

use std::error::Error;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;
use std::time::Instant;

use flowmine_dataset::{Builder, Dataset, DatasetError, Role};
use flowmine_schema::tables::{Host, IoEvent, Process, TaskRun, TaskTotal, TracedFile};
use flowmine_schema::time::Day;

/// Operations of a task.
static OF_TASK: OnceLock<u64> = OnceLock::new();

fn of_task() -> u64 {
    *OF_TASK.get_or_init(|| 2000)
}
const T0: i64 = 1_795_000_000_000_000_000;
const EACH_NS: i64 = 20_000;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let number = |name: &str| -> Result<Option<u64>, Box<dyn Error>> {
        let Some(at) = arguments.iter().position(|argument| argument == name) else { return Ok(None) };
        Ok(Some(arguments.get(at + 1).ok_or(format!("{name} N"))?.parse()?))
    };
    let sizes: Vec<u64> = number("--operations")?.map_or(vec![100_000, 1_000_000, 10_000_000], |operations| vec![operations]);
    let hosts = number("--hosts")?.unwrap_or(1);
    if let Some(operations) = number("--of-task")? {
        OF_TASK.get_or_init(|| operations);
    }
    let csv = arguments.iter().any(|argument| argument == "--csv");
    println!("operations | from | wall s | CPU s | peak MB | million operations a second");
    for operations in sizes {
        let dir = tempfile::tempdir_in("/var/tmp")?;
        let made = dir.path().join("made");
        let (read, written) = make(&made, operations, hosts)?;
        measured("Parquet", operations, &[&["correlate", "--dataset", &text(&made)]])?;
        compare(&made, read, written)?;
        if hosts > 1 {
            on_one_processor(operations, &made)?;
            in_parts(operations, dir.path(), &made)?;
            compare(&made, read, written)?;
        }
        if csv {
            let (files, copy) = (dir.path().join("csv"), dir.path().join("copy"));
            run(&["export", "--format", "io-csv", "--dataset", &text(&made), "-o", &text(&files)])?;
            let import = ["import", "io-csv", &text(&files), "--dataset", &text(&copy)];
            append_runs(&Dataset::open_or_create(&copy)?, operations)?;
            measured("CSV", operations, &[&import, &["correlate", "--dataset", &text(&copy)]])?;
            compare(&copy, read, written)?;
            paper(dir.path(), &files, operations)?;
        }
    }
    Ok(())
}

/// The same on one processor.
fn on_one_processor(operations: u64, made: &Path) -> Result<(), Box<dyn Error>> {
    let mut command = Command::new("taskset");
    command.args(["-c", "0", env!("CARGO_BIN_EXE_flowmine"), "correlate", "--dataset"]).arg(made);
    let (wall, cpu, peak) = used(&mut command)?;
    println!("{operations} | Parquet, one processor | {wall:.2} | {cpu:.2} | {peak:.0} | {:.2}", operations as f64 / wall / 1e6);
    Ok(())
}

/// Partial results of all hosts, and their merge.
fn in_parts(operations: u64, dir: &Path, made: &Path) -> Result<(), Box<dyn Error>> {
    let parts = text(&dir.join("parts"));
    measured("partial results", operations, &[&["correlate", "--dataset", &text(made), "--partial", &parts]])?;
    measured("merge", operations, &[&["merge", &parts, "--dataset", &text(made)]])
}

/// The paper's script on the same files.
fn paper(dir: &Path, files: &Path, operations: u64) -> Result<(), Box<dyn Error>> {
    let (Some(script), Some(python)) = (std::env::var_os("FLOWMINE_PAPER_SCRIPT"), std::env::var_os("FLOWMINE_PYTHON")) else {
        return Ok(());
    };
    let log = dir.join("nextflow.log");
    let lines = (0..operations.div_ceil(of_task())).map(|task| {
        format!(
            "TaskHandler[id: {task}; name: process{} ({task}); status: COMPLETED; exit: 0; error: -; workDir: {}]\n",
            task % 20,
            work_dir(task)
        )
    });
    std::fs::write(&log, lines.collect::<String>())?;
    let mut command = Command::new("timeout");
    command.args(["600"]).arg(python).arg(script).arg(&log).arg("").arg(files).current_dir(dir).env("MPLBACKEND", "agg");
    let began = Instant::now();
    let mut child = command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn()?;
    let usage = child::wait(&mut child)?;
    let wall = began.elapsed().as_secs_f64();
    let how = if usage.code == 0 { "" } else { " (did not end)" };
    println!(
        "{operations} | the paper's script{how} | {wall:.2} | {:.2} | {:.0} | {:.3}",
        usage.cpu,
        usage.peak_mb,
        operations as f64 / wall / 1e6
    );
    Ok(())
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

fn run(arguments: &[&str]) -> Result<(f64, f64, f64), Box<dyn Error>> {
    used(Command::new(env!("CARGO_BIN_EXE_flowmine")).args(arguments))
}

fn used(command: &mut Command) -> Result<(f64, f64, f64), Box<dyn Error>> {
    let began = Instant::now();
    // GNU time (Debian's package `time`) is not needed: wait4(2) tells what the child used.
    let mut child = command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn()?;
    let mut usage = child::wait(&mut child)?;
    if usage.code > 1 {
        return Err(format!("{command:?} ended with {}", usage.code).into());
    }
    usage.wall = began.elapsed().as_secs_f64();
    Ok((usage.wall, usage.cpu, usage.peak_mb))
}

fn measured(from: &str, operations: u64, commands: &[&[&str]]) -> Result<(), Box<dyn Error>> {
    let (mut wall, mut cpu, mut peak) = (0.0, 0.0, 0f64);
    for command in commands {
        let (w, c, p) = run(command)?;
        (wall, cpu, peak) = (wall + w, cpu + c, peak.max(p));
    }
    println!("{operations} | {from} | {wall:.2} | {cpu:.2} | {peak:.0} | {:.2}", operations as f64 / wall / 1e6);
    Ok(())
}

mod child {
    //! What a child used.

    pub struct Usage {
        pub code: i32,
        pub wall: f64,
        pub cpu: f64,
        pub peak_mb: f64,
    }

    pub fn wait(child: &mut std::process::Child) -> std::io::Result<Usage> {
        let (mut status, mut usage) = (0, std::mem::MaybeUninit::<libc::rusage>::zeroed());
        // SAFETY: the process is a child of ours that nobody has waited for, and both places are ours and large enough.
        let ended = unsafe { libc::wait4(child.id() as i32, &mut status, 0, usage.as_mut_ptr()) };
        if ended < 0 {
            return Err(std::io::Error::last_os_error());
        }
        // SAFETY: wait4 filled it.
        let usage = unsafe { usage.assume_init() };
        let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
        let code = if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { 255 };
        Ok(Usage { code, wall: 0.0, cpu: seconds(usage.ru_utime) + seconds(usage.ru_stime), peak_mb: usage.ru_maxrss as f64 / 1024.0 })
    }
}

/// Makes the dataset; gives the bytes that all tasks read and wrote.
fn make(dir: &Path, operations: u64, hosts: u64) -> Result<(i64, i64), Box<dyn Error>> {
    let dataset = Dataset::open_or_create(dir)?;
    // Tasks come four at a time.
    let of_host = operations.div_ceil(hosts).next_multiple_of(if hosts > 1 { 4 * of_task() } else { 1 });
    let (mut read, mut written) = (0, 0);
    for host in 0..hosts {
        let end = operations.min((host + 1) * of_host);
        let (more_read, more_written) = make_host(&dataset, &format!("node{}", host + 1), host * of_host..end)?;
        (read, written) = (read + more_read, written + more_written);
    }
    append_runs(&dataset, operations)?;
    Ok((read, written))
}

/// Makes the rows of a host; gives the bytes that its tasks read and wrote.
fn make_host(dataset: &Dataset, host: &str, operations: std::ops::Range<u64>) -> Result<(i64, i64), Box<dyn Error>> {
    let (first_task, tasks) = (operations.start / of_task(), operations.end.div_ceil(of_task()));
    let mut writer = dataset.writer(Role::Host(host.to_owned()), "bench")?;
    let (mut read, mut written, mut at) = (0, 0, operations.start);
    let operations = operations.end;
    let mut transaction = writer.begin()?;
    let mut hosts = Builder::<Host<'static>>::new();
    hosts.push(&Host {
        host: host.to_owned().into(),
        trace_ns: T0,
        state: "began".into(),
        at_ns: T0,
        backend: "ebpf".into(),
        detail: "events".into(),
        boot_offset_ns: Some(T0),
        ..Host::default()
    });
    transaction.append_split(hosts, host, Day::new(T0))?;
    transaction.update_manifest(|manifest| {
        manifest.hosts.insert(host.to_owned());
    })?;
    // Four tasks at a time, as a tracer would see them: their operations alternate.
    for first in (first_task..tasks).step_by(4) {
        let together: Vec<u64> = (first..tasks.min(first + 4)).collect();
        let mut events = Builder::<IoEvent<'static>>::new();
        let mut files = Builder::<TracedFile<'static>>::new();
        let mut processes = Builder::<Process<'static>>::new();
        let begin = T0 + at as i64 * EACH_NS;
        for step in 0..of_task() {
            for &task in &together {
                if at >= operations {
                    break;
                }
                let start_ns = T0 + at as i64 * EACH_NS;
                let event = IoEvent { host: host.to_owned().into(), ..operation(task, step, start_ns) };
                match &*event.op {
                    "read" => read += event.result.unwrap_or(0),
                    "write" => written += event.result.unwrap_or(0),
                    "open" => files.push(&TracedFile {
                        host: host.to_owned().into(),
                        trace_ns: T0,
                        device: event.device,
                        inode: event.inode.unwrap_or(0),
                        generation: event.generation,
                        first_seen_ns: start_ns,
                        kind: Some("regular".into()),
                        file_system: Some("ext4".into()),
                        path: event.path.clone(),
                        ..TracedFile::default()
                    }),
                    _ => {}
                }
                events.push(&event);
                at += 1;
            }
        }
        let end = T0 + at as i64 * EACH_NS;
        for &task in &together {
            processes.push(&Process { host: host.to_owned().into(), ..process(task, begin, end) });
        }
        // As many rows in a file as a flush of the tracer has.
        transaction.append_split(events, host, Day::new(begin))?;
        transaction.append_split(files, host, Day::new(begin))?;
        transaction.append_split(processes, host, Day::new(begin))?;
        if first % 128 == 124 {
            transaction.commit()?;
            transaction = writer.begin()?;
        }
    }
    transaction.commit()?;
    writer.merge_small_files::<IoEvent<'static>>()?;
    writer.merge_small_files::<TracedFile<'static>>()?;
    writer.merge_small_files::<Process<'static>>()?;
    Ok((read, written))
}

/// What the engine tells.
fn append_runs(dataset: &Dataset, operations: u64) -> Result<(), Box<dyn Error>> {
    let mut writer = dataset.writer(Role::Raw, "bench")?;
    let mut transaction = writer.begin()?;
    let mut runs = Builder::<TaskRun<'static>>::new();
    for task in 0..operations.div_ceil(of_task()) {
        let begin = T0 + (task / 4 * 4 * of_task()) as i64 * EACH_NS;
        let end = begin + (4 * of_task()) as i64 * EACH_NS;
        runs.push(&TaskRun {
            engine: "nextflow".into(),
            run_id: Some("1".into()),
            task_id: Some(task.to_string().into()),
            attempt: Some(1),
            name: format!("process{} ({task})", task % 20).into(),
            logical_task: format!("process{}", task % 20).into(),
            work_dir: Some(work_dir(task).into()),
            submitted_ns: Some(begin),
            submitted_precision_ns: Some(1_000_000),
            finished_ns: Some(end),
            finished_precision_ns: Some(1_000_000),
            status: "completed".into(),
            source: "bench".into(),
            ..TaskRun::default()
        });
    }
    transaction.append(runs)?;
    transaction.commit()?;
    Ok(())
}

fn work_dir(task: u64) -> String {
    format!("/work/run/{:02x}/{task:030x}", task % 256)
}

/// Numbers are used again, as pids are.
fn pid(task: u64) -> i32 {
    1000 + (task % 30_000) as i32
}

fn process(task: u64, begin: i64, end: i64) -> Process<'static> {
    Process {
        trace_ns: T0,
        pid: pid(task),
        process_start_ns: Some(begin - T0),
        start_precision_ns: Some(1),
        as_of_ns: end,
        started_ns: Some(begin),
        first_seen: "fork".into(),
        parent_pid: Some(1),
        parent_start_ns: Some(0),
        uid: Some(1000),
        gid: Some(1000),
        cgroup_id: Some(100_000 + task as i64),
        cgroup_path: Some(format!("/system.slice/docker-{task:064x}.scope").into()),
        executable: Some("/usr/bin/bash".into()),
        command_line: Some(r#"["/bin/bash","-ue",".command.sh"]"#.into()),
        exec_ns: Some(begin),
        execs: 1,
        exit_ns: Some(end),
        exit_code: Some(0),
        utime_ns: Some(1_000_000),
        stime_ns: Some(2_000_000),
        ..Process::default()
    }
}

/// What a task does at a step: three files are opened, read or written, and closed.
fn operation(task: u64, step: u64, start_ns: i64) -> IoEvent<'static> {
    let random = mixed(task * of_task() + step);
    // Its script is opened by the last of the first four.
    let (file, name) = match step % 4 {
        0 => (task.saturating_sub(7), "result.fastq.gz"),
        1 => (u64::MAX >> 24, "shared.fa"),
        2 => (task, "result.fastq.gz"),
        _ => (task + (1 << 32), if step == 3 { ".command.sh" } else { "table" }),
    };
    let round = (step / 4) as i64;
    let last = (of_task() / 4) as i64 - 1;
    let (op, offset) = match (step % 4, round) {
        (_, 0) => ("open", None),
        (_, n) if n == last => ("close", None),
        (0, n) => ("read", Some(n * 4096)),
        (1, _) => ("read", Some(((random >> 44) << 12) as i64)),
        (2, n) => ("write", Some(n * 4096)),
        (_, n) => ("write", Some((1 << 30) + (n % 100) * 65_536)),
    };
    let size = if op == "open" || op == "close" { None } else { Some(4096) };
    let path =
        (op == "open").then(|| format!("{}/{name}", if step % 4 == 1 { "/work/reference".to_owned() } else { work_dir(file % (1 << 32)) }));
    IoEvent {
        trace_ns: T0,
        pid: pid(task),
        process_start_ns: Some((task / 4 * 4 * of_task()) as i64 * EACH_NS),
        tid: Some(pid(task)),
        op: op.into(),
        via: "call".into(),
        start_ns,
        end_ns: Some(start_ns + 300 + (random & 1023) as i64),
        handle: Some((task * 4 + step % 4) as i64),
        device: Some(0x801),
        inode: Some((1_000_000 + file) as i64),
        generation: Some((file % 1_000_003) as i64),
        offset,
        size,
        result: Some(size.unwrap_or(0)),
        flags: (op == "open").then_some(if step % 4 == 2 { 0o1101 } else { 0 }),
        path: path.map(Into::into),
        ..IoEvent::default()
    }
}

/// Bits that look like chance, the same each time (splitmix64).
fn mixed(at: u64) -> u64 {
    let mut bits = at.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// The tasks have all bytes, and nobody else has any.
fn compare(dir: &Path, read: i64, written: i64) -> Result<(), Box<dyn Error>> {
    let (mut of_tasks, mut of_nobody) = ((0, 0), (0, 0));
    Dataset::open(dir)?.read::<TaskTotal<'static>, DatasetError>(|row| {
        let sums = if row.task.is_some() { &mut of_tasks } else { &mut of_nobody };
        sums.0 += row.read_bytes;
        sums.1 += row.written_bytes;
        Ok(())
    })?;
    if (of_tasks, of_nobody) != ((read, written), (0, 0)) {
        return Err(format!("tasks have {of_tasks:?} and nobody {of_nobody:?} of {:?} bytes", (read, written)).into());
    }
    Ok(())
}

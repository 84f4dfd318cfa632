//! What a large dataset of jobs costs, whole commands: time and peak memory of `flowmine export` in
//! every format, of `correlate`, `discover` and `run`.
//!
//! `cargo bench --bench export [-- EVENTS]` makes a dataset of that many events (1,000,000 unless
//! told otherwise): jobs of five rows (pending, configuring, running, completing, completed;
//! accounting is not asked) in workflows of ten, each waiting for the one before, of 200 users. A
//! table of measured values stands in docs/performance.md. With `--keep DIR` the dataset is made
//! there and nothing measured.

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use flowmine_dataset::{Builder, Dataset, DatasetError, Role};
use flowmine_schema::tables::{JobDependency, JobState, change, source};
use flowmine_schema::time::SECOND_NS;

const START_S: i64 = 1_795_000_000;
const STATES: [&str; 5] = ["PENDING", "CONFIGURING", "RUNNING", "COMPLETING", "COMPLETED"];
const JOBS_OF_A_WORKFLOW: i64 = 10;

/// A poll sees this many jobs change at once; they are the rows of a file.
const JOBS_OF_A_FILE: i64 = 20_000;

fn dataset(dir: &Path, events: i64) -> Result<(), DatasetError> {
    let dataset = Dataset::open_or_create(dir)?;
    let mut writer = dataset.writer(Role::Raw, "bench")?;
    let jobs = events / STATES.len() as i64;
    for first in (0..jobs).step_by(JOBS_OF_A_FILE as usize) {
        let (mut states, mut dependencies) = (Builder::<JobState<'static>>::new(), Builder::<JobDependency<'static>>::new());
        for (step, state) in STATES.into_iter().enumerate() {
            for job in first..(first + JOBS_OF_A_FILE).min(jobs) {
                states.push(&row(job, step as i64, state));
            }
        }
        for job in (first..(first + JOBS_OF_A_FILE).min(jobs)).filter(|job| job % JOBS_OF_A_WORKFLOW != 0) {
            dependencies.push(&JobDependency {
                cluster: "bench".into(),
                job: job.to_string().into(),
                job_id: job,
                submit_ns: Some(submit_s(job) * SECOND_NS),
                kind: "afterok".into(),
                target_kind: "job".into(),
                target_job_id: Some(job - 1),
                observed_at_ns: (submit_s(job) + 30) * SECOND_NS,
                source: source::SQUEUE.into(),
                ..JobDependency::default()
            });
        }
        let mut transaction = writer.begin()?;
        transaction.append(states)?;
        transaction.append(dependencies)?;
        transaction.commit()?;
    }
    Ok(())
}

fn submit_s(job: i64) -> i64 {
    START_S + job / 4
}

fn row(job: i64, step: i64, state: &'static str) -> JobState<'static> {
    let workflow = job / JOBS_OF_A_WORKFLOW;
    let user = workflow % 200;
    let seen = (submit_s(job) + 30 + 600 * step) * SECOND_NS + 123_456_789;
    let runs = step > 1;
    JobState {
        cluster: "bench".into(),
        job: job.to_string().into(),
        job_id: job,
        submit_ns: Some(submit_s(job) * SECOND_NS),
        change: if step == 0 { change::NEW } else { change::STATE }.into(),
        state: Some(state.into()),
        not_before_ns: Some(seen - 60 * SECOND_NS),
        observed_at_ns: seen,
        reported_ns: (step == 0 || step == 2).then_some((submit_s(job) + 600 * step) * SECOND_NS),
        source: source::SQUEUE.into(),
        name: Some(format!("step-{}", job % JOBS_OF_A_WORKFLOW).into()),
        user: Some(format!("user{user:03}").into()),
        group: Some(format!("group{:02}", user % 20).into()),
        account: Some(format!("proj{:02}", user % 50).into()),
        partition: Some("standard".into()),
        qos: Some("normal".into()),
        reason: (step == 0).then_some("Dependency".into()),
        activity: Some(format!("step{}.sh", job % JOBS_OF_A_WORKFLOW).into()),
        command: Some(format!("/home/user{user:03}/flow/step{}.sh", job % JOBS_OF_A_WORKFLOW).into()),
        work_dir: Some(format!("/scratch/user{user:03}/run{}", workflow % 1000).into()),
        nodes: Some(1),
        node_list: runs.then(|| format!("n{:03}", job % 500).into()),
        cpus: Some(16),
        memory_bytes: Some(32 << 30),
        time_limit_s: Some(86_400),
        start_ns: runs.then_some((submit_s(job) + 1200) * SECOND_NS),
        ..JobState::default()
    }
}

fn main() -> ExitCode {
    let events = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(1_000_000);
    let keep = std::env::args().skip_while(|argument| argument != "--keep").nth(1);
    match measure(events, keep.as_deref().map(Path::new)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn measure(events: i64, keep: Option<&Path>) -> Result<(), Box<dyn std::error::Error>> {
    let dir = tempfile::tempdir()?;
    let stored = keep.map_or_else(|| dir.path().join("dataset"), Path::to_owned);
    dataset(&stored, events)?;
    if keep.is_some() {
        return Ok(());
    }
    println!("{events} events\n\n| format | seconds | peak | file |\n|---|---|---|---|");
    for format in ["ocel.json", "ocel.xml", "ocel.sqlite", "xes", "xes.gz", "csv", "parquet"] {
        let out = dir.path().join(format!("log.{format}"));
        let started = Instant::now();
        // GNU time is not everywhere; the child says itself what it took at most.
        let mut command = Command::new(env!("CARGO_BIN_EXE_flowmine"));
        command.args(["export", "--format", format, "--dataset"]).arg(&stored).arg("-o").arg(&out);
        let peak = peak_of(command)?;
        let seconds = started.elapsed().as_secs_f64();
        println!("| {format} | {seconds:.1} | {:.0} MB | {:.0} MB |", peak as f64 / 1e6, std::fs::metadata(&out)?.len() as f64 / 1e6);
        std::fs::remove_file(&out)?;
    }
    println!("\n| command | seconds | peak |\n|---|---|---|");
    let out = dir.path().join("out");
    let commands: [(&str, &[&str]); 3] =
        [("correlate", &[]), ("discover", &["--format", "json", "-o"]), ("run", &["--formats", "xes.gz,ocel.json", "--out"])];
    for (name, more) in commands {
        let started = Instant::now();
        let mut command = Command::new(env!("CARGO_BIN_EXE_flowmine"));
        command.arg(name).arg("--dataset").arg(&stored).args(more).stdout(Stdio::null());
        command.args((!more.is_empty()).then_some(&out));
        let peak = peak_of(command)?;
        println!("| {name} | {:.1} | {:.0} MB |", started.elapsed().as_secs_f64(), peak as f64 / 1e6);
        let _ = std::fs::remove_file(&out);
    }
    Ok(())
}

/// Runs a command and gives the most memory that it held, in bytes: `VmHWM` of proc(5), looked at
/// until it ends.
fn peak_of(mut command: Command) -> Result<u64, Box<dyn std::error::Error>> {
    let mut child = command.spawn()?;
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    let code = loop {
        if let Ok(text) = std::fs::read_to_string(&status)
            && let Some(line) = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))
        {
            peak = line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or(peak);
        }
        if let Some(code) = child.try_wait()? {
            break code;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    };
    if code.success() { Ok(peak * 1024) } else { Err(format!("flowmine ended with {code}").into()) }
}

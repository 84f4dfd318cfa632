//! What one poll of a long queue costs: decode, compare, write.
//!
//! `cargo bench --bench poll [-- JOBS]` generates the output of squeue for that many queued jobs
//! (100,000 unless told otherwise), takes it through the code that `flowmine observe` runs, and
//! prints each part's time and the peak memory of the process. Three polls: everything is new; one
//! job in a hundred changed; nothing changed. A table of measured values stands in
//! docs/performance.md.

use std::time::{Duration, Instant};

use flowmine_dataset::{Dataset, Role, Writer};
use flowmine_extract_slurm::memory::Memory;
use flowmine_extract_slurm::observe;
use flowmine_extract_slurm::queue::{Changes, PollTime};
use flowmine_extract_slurm::squeue::{self, FIELDS, Field};
use flowmine_schema::diagnostic::Diagnostics;
use flowmine_schema::time::SECOND_NS;

const TOKEN: &str = "\u{1f}k3Jw9QzA";
const START_S: i64 = 1_795_000_000;

/// squeue's output for `jobs` jobs; those whose number is divisible by `running` run.
fn output(jobs: usize, running: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(jobs * 640);
    for (_, _, header) in FIELDS {
        out.extend(header.as_bytes());
        out.extend(TOKEN.as_bytes());
    }
    out.push(b'\n');
    for job in 0..jobs {
        let runs = job % running == 0;
        let id = 40_000_000 + job;
        let submit = START_S + job as i64 / 4;
        for (field, _, _) in FIELDS {
            let value = match field {
                Field::RawId | Field::DisplayedId | Field::ArrayId => id.to_string(),
                Field::ArrayTask => "N/A".to_owned(),
                Field::Submit => submit.to_string(),
                Field::Start if runs => (submit + 3600).to_string(),
                Field::End if runs => (submit + 90_000).to_string(),
                Field::Start | Field::End => "N/A".to_owned(),
                Field::TimeLimit => "1-00:00:00".to_owned(),
                Field::State => if runs { "RUNNING" } else { "PENDING" }.to_owned(),
                Field::Reason => if runs { "None" } else { "Priority" }.to_owned(),
                Field::Account => format!("proj{:04}", job % 123),
                Field::User => format!("user{:04}", job % 400),
                Field::Group => format!("grp{:03}", job % 90),
                Field::Partition => "standard,large".to_owned(),
                Field::Qos => "normal".to_owned(),
                Field::Nodes => (1 + job % 16).to_string(),
                Field::NodeList => {
                    if runs {
                        format!("nc[{:04}-{:04}]", job % 900, job % 900 + 15)
                    } else {
                        String::new()
                    }
                }
                Field::Cpus => (48 * (1 + job % 16)).to_string(),
                Field::Memory => "3900M".to_owned(),
                Field::Name => format!("md_production_run_{:05}", job % 3000),
                Field::Command => format!(
                    "/home/user{:04}/projects/simulation/run_{:03}/submit_step_{:02}.sh --input conf.yaml --seed {job}",
                    job % 400,
                    job % 700,
                    job % 12
                ),
                Field::WorkDir => format!("/scratch/user{:04}/projects/simulation/run_{:03}", job % 400, job % 700),
                Field::Comment => "(null)".to_owned(),
                Field::Dependency if job % 50 == 1 => format!("afterok:{}(unfulfilled)", id - 1),
                Field::Dependency => "(null)".to_owned(),
                Field::Priority => (4_000_000 - job % 1000).to_string(),
                Field::Nice => "0".to_owned(),
                Field::Features => "(null)".to_owned(),
                Field::TresPerNode => if job % 10 == 0 { "gres:gpu:4" } else { "N/A" }.to_owned(),
                Field::Licenses => "(null)".to_owned(),
                Field::SubmitNode => format!("login{:02}", job % 8),
                Field::SubmitSession => (10_000 + job % 5000).to_string(),
            };
            out.extend(value.as_bytes());
            out.extend(TOKEN.as_bytes());
        }
        out.push(b'\n');
    }
    out
}

struct Times {
    decode: Duration,
    all: Duration,
    write: Duration,
    rows: usize,
}

/// One poll as the observer makes it, and decoding alone beside it.
fn poll(writer: &mut Writer, memory: &mut Memory, bytes: &[u8], at_s: i64) -> Times {
    let mut diagnostics = Diagnostics::default();
    let begin = Instant::now();
    let mut sum = 0i64;
    squeue::parse(bytes, TOKEN.as_bytes(), &mut diagnostics, |record| sum += record.job_id).expect("the output is whole");
    let decode = begin.elapsed();
    assert!(sum > 0);

    let begin = Instant::now();
    let mut changes = Changes::default();
    let time = PollTime { began_ns: at_s * SECOND_NS, ended_ns: at_s * SECOND_NS + 1 };
    observe::compare(memory, bytes, TOKEN.as_bytes(), time, &mut changes, &mut diagnostics).expect("the output is whole");
    let all = begin.elapsed();
    let rows = changes.states.len() + changes.dependencies.len();
    assert!(diagnostics.is_empty());

    let begin = Instant::now();
    observe::write(writer, memory, changes, &diagnostics, "bench", Some(time.ended_ns)).expect("the dataset is writable");
    Times { decode, all, write: begin.elapsed(), rows }
}

fn peak_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().split(' ').next()?.parse::<f64>().ok()).map_or(f64::NAN, |kib| kib / 1000.0 * 1.024)
}

fn main() {
    let jobs = std::env::args().skip(1).find_map(|arg| arg.parse().ok()).unwrap_or(100_000);
    // What one job in how many runs, and when the poll is made: one output is held at a time, as an observer does.
    let polls = [("all are new", 50, 0), ("1 in 100 changed", 34, 60), ("nothing changed", 34, 120)];
    println!("{jobs} jobs, {:.1} MB of squeue output", output(jobs, 50).len() as f64 / 1e6);
    println!("\n| poll | rows | decode | compare and make rows | write | together |\n|---|---|---|---|---|---|");
    let ms = |time: Duration| format!("{:.0} ms", time.as_secs_f64() * 1e3);
    let mut best: Vec<Option<Times>> = polls.iter().map(|_| None).collect();
    for _ in 0..5 {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let dataset = Dataset::open_or_create(dir.path()).expect("a new dataset");
        let mut writer = dataset.writer(Role::Raw, "bench").expect("the only writer");
        let mut memory = Memory::new("bench");
        for (&(_, running, after_s), best) in polls.iter().zip(&mut best) {
            let bytes = output(jobs, running);
            let times = poll(&mut writer, &mut memory, &bytes, START_S + jobs as i64 + after_s);
            if best.as_ref().is_none_or(|best| times.all + times.write < best.all + best.write) {
                *best = Some(times);
            }
        }
    }
    for ((name, _, _), times) in polls.iter().zip(best.into_iter().flatten()) {
        let compare = times.all.saturating_sub(times.decode);
        println!(
            "| {name} | {} | {} | {} | {} | {} |",
            times.rows,
            ms(times.decode),
            ms(compare),
            ms(times.write),
            ms(times.all + times.write)
        );
    }
    println!("\npeak memory {:.0} MB", peak_mb());
}

//! How long it takes to answer questions about `job_states`, and how much memory, by three readers
//! of Parquet: flowmine's own scan ([`flowmine_dataset::Dataset::read`]), arrow-rs (the crate
//! `parquet`), and polars' lazy engine.
//!
//! `flowmine-codecs DATASET` asks each question of each reader in a process of its own, in turn,
//! five times, and prints a table: the best wall clock, its CPU time, the largest memory, and both
//! times as a multiple of flowmine's. All three have to give the same answer. A table of measured
//! values stands in docs/performance.md.
//!
//! The questions: *sum* reads two columns of numbers; *filter* counts the rows of one state after a
//! time; *group* has the number of rows and the first and last time of each job; *all* reads every
//! column of every row, as `correlate` does for most.

mod arrow;
mod own;
mod usage;
mod with_polars;

use std::error::Error;
use std::path::Path;
use std::process::{Command, ExitCode};

use usage::Usage;

/// What can go wrong is printed.
pub type Outcome<T> = Result<T, Box<dyn Error>>;

/// What a question is answered with: numbers that are the same whoever counts.
pub type Answer = [i64; 3];

const ROUNDS: usize = 5;
const READERS: [&str; 3] = ["flowmine", "arrow-rs", "polars lazy"];
const QUESTIONS: [&str; 4] = ["sum", "filter", "group", "all"];

/// The state that *filter* looks for.
pub const STATE: &str = "RUNNING";

/// Where the rows of `job_states` with a later time are, of all rows: from the middle on.
pub fn after(dataset: &Path) -> Outcome<i64> {
    Ok(std::env::var("FLOWMINE_CODECS_AFTER").ok().map_or_else(|| own::middle(dataset), |text| Ok(text.parse()?))?)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match arguments.as_slice() {
        [dataset] => all(Path::new(dataset)),
        [dataset, reader, question] => one(Path::new(dataset), reader, question),
        _ => Err("usage: flowmine-codecs DATASET".into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("flowmine-codecs: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Answers one question and prints what it took.
fn one(dataset: &Path, reader: &str, question: &str) -> Outcome<()> {
    let after = if question == "filter" { after(dataset)? } else { 0 };
    let begin = Usage::now();
    let answer = match reader {
        "flowmine" => own::answer(dataset, question, after),
        "arrow-rs" => arrow::answer(dataset, question, after),
        _ => with_polars::answer(dataset, question, after),
    }?;
    let took = Usage::since(begin);
    println!("{} {} {} {} {} {}", took.wall_s, took.cpu_s, took.peak_kib, answer[0], answer[1], answer[2]);
    Ok(())
}

fn all(dataset: &Path) -> Outcome<()> {
    let middle = own::middle(dataset)?.to_string();
    println!("| question | reader | wall | CPU | peak | wall, of flowmine's | CPU, of flowmine's |");
    println!("|---|---|---|---|---|---|---|");
    for question in QUESTIONS {
        let mut best: [Option<Usage>; READERS.len()] = Default::default();
        let mut answers: [Option<Answer>; READERS.len()] = Default::default();
        for _ in 0..ROUNDS {
            for (at, reader) in READERS.into_iter().enumerate() {
                let mut command = Command::new(std::env::current_exe()?);
                let output = command.arg(dataset).args([reader, question]).env("FLOWMINE_CODECS_AFTER", &middle).output()?;
                if !output.status.success() {
                    return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
                }
                let text = String::from_utf8(output.stdout)?;
                let fields: Vec<&str> = text.split_whitespace().collect();
                let [wall, cpu, peak, a, b, c] = fields.as_slice() else { return Err(text.into()) };
                let usage = Usage { wall_s: wall.parse()?, cpu_s: cpu.parse()?, peak_kib: peak.parse()? };
                if best[at].as_ref().is_none_or(|best| usage.wall_s < best.wall_s) {
                    best[at] = Some(usage);
                }
                answers[at] = Some([a.parse()?, b.parse()?, c.parse()?]);
            }
        }
        if answers.iter().any(|answer| *answer != answers[0]) {
            return Err(format!("{question}: the answers differ: {answers:?}").into());
        }
        let Some(own) = best[0].clone() else { continue };
        for (reader, usage) in READERS.into_iter().zip(best.into_iter().flatten()) {
            let (wall, cpu) = (usage.wall_s / own.wall_s, usage.cpu_s / own.cpu_s);
            let peak = usage.peak_kib / 1024;
            println!("| {question} | {reader} | {:.3} s | {:.3} s | {peak} MB | {wall:.2} | {cpu:.2} |", usage.wall_s, usage.cpu_s);
        }
    }
    Ok(())
}

//! Jobs as squeue prints them in one poll after the last end, each field followed by a token.

use std::io::{self, Write};

use crate::Job;

/// Behind each field: the unit separator and eight characters, as polls of flowmine have it.
const TOKEN: &str = "\u{1f}generate";

const HEADER: [&str; 14] = [
    "JOBID",
    "SUBMIT_TIME",
    "START_TIME",
    "END_TIME",
    "STATE",
    "ACCOUNT",
    "USER",
    "PARTITION",
    "NODELIST",
    "NAME",
    "COMMAND",
    "WORK_DIR",
    "ALLOC_NODES",
    "ALLOC_SID",
];

/// Writes the jobs as a recorded poll of squeue, which `flowmine import slurm` reads.
///
/// # Errors
/// When it cannot be written.
pub fn write(jobs: &[Job], out: &mut dyn Write) -> io::Result<()> {
    record(&HEADER.map(str::to_owned), out)?;
    for job in jobs {
        let command = format!("{} {}", job.command, job.arguments);
        let texts = [&job.account, &job.user, "batch", "n1", &job.name, command.trim_end(), &job.work_dir, "login"].map(str::to_owned);
        let state = if job.failed { "FAILED" } else { "COMPLETED" };
        let numbers = [job.id, job.submit_s, job.start_s, job.end_s].map(|number| number.to_string());
        let fields: Vec<String> = numbers.into_iter().chain([state.to_owned()]).chain(texts).chain([job.session.to_string()]).collect();
        record(&fields, out)?;
    }
    Ok(())
}

/// When the poll is taken: a minute after the last end, in seconds since 1970.
pub fn polled_s(jobs: &[Job]) -> i64 {
    jobs.iter().map(|job| job.end_s).max().unwrap_or(crate::FIRST_S) + 60
}

fn record(fields: &[String], out: &mut dyn Write) -> io::Result<()> {
    for field in fields {
        write!(out, "{field}{TOKEN}")?;
    }
    writeln!(out)
}

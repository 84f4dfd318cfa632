//! A log that Snakemake writes: `.snakemake/log/*.snakemake.log`, and what a job on a cluster writes, in which Snakemake runs once more.
//!
//! ```text
//! SLURM run ID: e002c48a-bd17-4090-a9d2-1d7ec2a01b9c
//! [Sun Nov 22 06:00:16 2026]
//! rule count:
//!     input: data/a.txt
//!     output: counts/a.n, counts/a.bytes
//!     jobid: 2
//!     wildcards: sample=a
//! Job 2 has been submitted with SLURM jobid 14 (log: …/rule_count/a/14.log).
//! [Sun Nov 22 06:00:30 2026]
//! Finished jobid: 2 (Rule: count)
//! ```
//!
//! Versions 7 to 9 differ in blank lines and in the wording of the last line. What programs and Snakemake itself print between is passed over: a log has no
//! form that all of its lines have. Blocks of a group's jobs are indented by four more.

use std::collections::HashMap;
use std::io::{self, BufRead};

use chrono::NaiveDateTime;
use flowmine_schema::text;

use crate::input;

/// A log is a run, or one job of a run.
#[derive(Debug, Default)]
pub struct Log {
    /// `SLURM run ID`, which is the name of its jobs in Slurm; else `Workflow ID`, since version 9.
    pub run_id: Option<String>,
    /// Since version 8.
    pub host: Option<String>,
    /// Since version 9.
    pub work_dir: Option<String>,
    /// Whether jobs run where Snakemake does; `None` when the log ends before it tells.
    pub is_local: Option<bool>,
    /// In the order in which they began.
    pub attempts: Vec<Attempt>,
    /// Job ids that Slurm gave, also to groups of jobs.
    pub slurm_jobs: Vec<String>,
    /// Whether it tells how it ended, and whether the user ended it.
    pub ended: bool,
    /// See `ended`.
    pub interrupted: bool,
    /// Of the last error: a command and its exit code, before it is said whose it is.
    exits: Vec<(String, i64)>,
}

/// An attempt at a job.
#[derive(Debug, Default, Clone)]
pub struct Attempt {
    /// Line of its block.
    pub line: u64,
    /// Snakemake's number.
    pub job: String,
    /// Null where the rule has a message, which is then told instead of everything else.
    pub rule: Option<String>,
    /// By rule and wildcards, not by a message.
    pub is_described: bool,
    /// Whether it is a `localrule`.
    pub is_local_rule: bool,
    /// Local time, of which the log does not tell the zone.
    pub began: Option<NaiveDateTime>,
    /// Likewise; when Snakemake noticed.
    pub ended: Option<NaiveDateTime>,
    /// Line that told its end.
    pub end_line: Option<u64>,
    /// `None` while it runs.
    pub succeeded: Option<bool>,
    /// Whether it failed after the user had ended the run.
    pub interrupted: bool,
    /// As declared.
    pub inputs: Vec<String>,
    /// As declared.
    pub outputs: Vec<String>,
    /// Those that were missing, which were the reason to run it.
    pub missing: Vec<String>,
    /// `sample=a`.
    pub wildcards: Option<String>,
    /// Left out where it is 1.
    pub threads: Option<i64>,
    /// Names and values.
    pub resources: Vec<(String, String)>,
    /// The benchmark's file.
    pub benchmark: Option<String>,
    /// What the executor calls it, and whether that is Slurm.
    pub native: Option<(String, bool)>,
    /// Its shell command.
    pub command: Option<String>,
    /// Why it failed.
    pub error: Option<String>,
    /// Exit code of its command.
    pub exit_code: Option<i64>,
}

/// What a block is about.
#[derive(Debug, Default)]
enum Block {
    #[default]
    None,
    /// The attempt at this place.
    Job(usize),
    /// A job failed; which one, its line `jobid` says.
    Error(Failure),
    /// A text of several lines that begins with `Command '`, and how many lines it has.
    Exception(String, usize),
    /// The command of the attempt at this place, which ends where something known begins.
    Shell(usize, String),
}

#[derive(Debug, Default)]
struct Failure {
    rule: Option<String>,
    jobs: Vec<String>,
    message: Option<String>,
    /// Its lines, while they are read.
    shell: Option<String>,
    in_shell: bool,
    native: Option<String>,
}

/// So many lines may a command in an exception have.
const LONGEST_COMMAND: usize = 1000;

/// Reads a log.
///
/// # Errors
/// When reading fails.
pub fn read(reader: impl BufRead) -> io::Result<Log> {
    let mut lines = input::lines(reader);
    let mut reading = Reading::default();
    while let Some((number, line)) = lines.next()? {
        reading.see(&text::decode(line), number);
    }
    reading.close_block();
    Ok(reading.log)
}

/// A time as Snakemake writes it, and what follows: `[Sun Nov 22 06:00:16 2026]`.
pub fn stamp(line: &str) -> Option<(NaiveDateTime, &str)> {
    let (time, rest) = line.strip_prefix('[')?.split_once(']')?;
    let time = time.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
    Some((NaiveDateTime::parse_from_str(&time, "%a %b %d %H:%M:%S %Y").ok()?, rest.trim()))
}

#[derive(Debug, Default)]
struct Reading {
    log: Log,
    block: Block,
    now: Option<NaiveDateTime>,
    /// Its line.
    now_line: u64,
    /// The last time was told on the line before, or on blank lines before.
    is_headed: bool,
    /// How far the block is indented.
    indent: usize,
    /// Attempts that have not ended, by job; jobs within jobs have the same numbers, and the inner one ends first.
    open: HashMap<String, Vec<usize>>,
}

impl Reading {
    fn see(&mut self, line: &str, number: u64) {
        let inner = line.trim_start();
        let depth = line.len() - inner.len();
        if self.see_of_exception(line) || self.see_of_shell(line, inner) {
            return;
        }
        if let Some((time, rest)) = stamp(inner).filter(|_| depth <= 4) {
            self.close_block();
            (self.now, self.now_line) = (Some(time), number);
            self.indent = depth;
            // A group's jobs follow, each with a time of its own.
            self.is_headed = rest.is_empty();
            return;
        }
        if inner.is_empty() {
            return;
        }
        if self.is_headed && depth == self.indent && self.see_head(inner, number) {
            self.is_headed = false;
            return;
        }
        if self.is_headed && depth == self.indent + 4 && matches!(inner.split(':').next(), Some("message" | "jobs" | "log")) {
            // The failure of a group, which version 9 tells without saying so.
            self.block = Block::Error(Failure::default());
        }
        self.is_headed = false;
        let of_block =
            depth > self.indent || inner.starts_with("Reason: ") || matches!(&self.block, Block::Error(failure) if failure.in_shell);
        if of_block && self.see_property(line, inner, depth) {
            return;
        }
        if depth <= self.indent && !matches!(self.block, Block::Error(_)) {
            self.block = Block::None;
        }
        self.see_plain(inner, depth);
    }

    /// The line after the time.
    fn see_head(&mut self, line: &str, number: u64) -> bool {
        if let Some(rest) = line.strip_prefix("Finished job") {
            // `Finished jobid: 2 (Rule: count)`, and before version 9 `Finished job 2.`
            let (job, rule) = match rest.strip_prefix("id: ") {
                Some(rest) => match rest.split_once(" (Rule: ") {
                    Some((job, rule)) => (job, rule.strip_suffix(')')),
                    None => (rest, None),
                },
                None => (rest.trim().trim_end_matches('.'), None),
            };
            self.end(job.trim(), rule, true);
            return true;
        }
        if let Some(rest) = line.strip_prefix("Error in ") {
            let rule = rest.strip_prefix("rule ").map(|rule| rule.trim_end_matches(':').split(',').next().unwrap_or_default().to_owned());
            self.block = Block::Error(Failure { rule, ..Failure::default() });
            return true;
        }
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let mut attempt = Attempt { line: number, began: self.now, ..Attempt::default() };
        if let Some(rule) = rest.strip_suffix(':').filter(|_| matches!(word, "rule" | "localrule" | "checkpoint" | "localcheckpoint")) {
            attempt.rule = Some(rule.to_owned());
            attempt.is_described = true;
            attempt.is_local_rule = word.starts_with("local");
        } else if let Some((job, _message)) = rest.split_once(':').filter(|(job, _)| word == "Job" && !job.contains(' ')) {
            attempt.job = job.to_owned();
        } else {
            return false;
        }
        self.log.attempts.push(attempt);
        let at = self.log.attempts.len() - 1;
        if !self.log.attempts[at].job.is_empty() {
            self.open.entry(self.log.attempts[at].job.clone()).or_default().push(at);
        }
        self.block = Block::Job(at);
        true
    }

    /// An indented line of a block; `false` when it is none.
    fn see_property(&mut self, line: &str, inner: &str, depth: usize) -> bool {
        let (name, value) = inner.split_once(':').map_or((inner, ""), |(name, value)| (name, value.trim()));
        match &mut self.block {
            Block::Job(at) => {
                let attempt = &mut self.log.attempts[*at];
                match name {
                    "input" => attempt.inputs = names(value),
                    "output" => attempt.outputs = names(value),
                    "jobid" if attempt.job.is_empty() => {
                        attempt.job = value.to_owned();
                        self.open.entry(value.to_owned()).or_default().push(*at);
                    }
                    "benchmark" => attempt.benchmark = Some(value.to_owned()),
                    "reason" | "Reason" => {
                        let missing = value.split("; ").find_map(|reason| reason.strip_prefix("Missing output files: "));
                        attempt.missing = missing.map(names).unwrap_or_default();
                    }
                    "wildcards" => attempt.wildcards = Some(value.to_owned()),
                    "threads" => attempt.threads = value.parse().ok(),
                    "resources" => {
                        attempt.resources = names(value).iter().filter_map(|pair| pair.split_once('=').map(owned)).collect();
                    }
                    _ => {}
                }
                true
            }
            Block::Error(failure) => {
                if let Some(shell) = failure.shell.as_mut().filter(|_| failure.in_shell) {
                    if inner.starts_with("(command exited with") || inner.starts_with("(one of the commands exited with") {
                        failure.in_shell = false;
                    } else {
                        shell.push_str(line);
                        shell.push('\n');
                    }
                    return true;
                }
                match name {
                    "jobid" => failure.jobs.push(value.to_owned()),
                    "message" => failure.message = Some(value.to_owned()).filter(|message| message != "None"),
                    "external_jobid" => failure.native = Some(value.to_owned()),
                    "shell" if depth == self.indent + 4 => (failure.shell, failure.in_shell) = (Some(String::new()), true),
                    _ => {}
                }
                true
            }
            _ => false,
        }
    }

    fn see_plain(&mut self, line: &str, depth: usize) {
        if let Some((name, value)) = line.split_once(": ") {
            match (name, depth) {
                ("SLURM run ID", 0) => self.log.run_id = Some(value.to_owned()),
                ("Workflow ID", 2) => self.log.run_id = self.log.run_id.take().or_else(|| Some(value.to_owned())),
                ("Host", 2) | ("host", 0) => self.log.host = Some(value.to_owned()),
                ("Working directory", 2) => self.log.work_dir = Some(value.to_owned()),
                ("Provided cores", 0) => self.log.is_local = Some(true),
                ("Provided remote nodes" | "Provided cluster nodes", 0) => self.log.is_local = Some(false),
                ("Complete log" | "Complete log(s)", 0) => self.log.ended = true,
                ("Shell command", 0) if value != "None" => {
                    // Versions before 9 print the bare command, which cannot be told from other lines.
                    if let Some(at) = self.log.attempts.len().checked_sub(1) {
                        self.close_block();
                        self.block = Block::Shell(at, value.to_owned());
                    }
                    return;
                }
                _ => {}
            }
        }
        if line.starts_with("Terminating processes on user request") {
            self.log.interrupted = true;
        }
        if line.starts_with("Command '") {
            self.close_block();
            self.block = Block::Exception(String::new(), 0);
            self.see_of_exception(line);
            return;
        }
        self.see_submission(line);
    }

    fn see_submission(&mut self, line: &str) {
        let slurm = line.strip_prefix("Job ").and_then(|rest| rest.split_once(" has been submitted with SLURM jobid "));
        if let Some((job, rest)) = slurm {
            let id = rest.split_whitespace().next().unwrap_or_default().trim_end_matches('.');
            self.native(job, id, true);
            return;
        }
        let job = line.strip_prefix("Submitted ").map(|rest| rest.strip_prefix("DRMAA ").unwrap_or(rest));
        let Some((job, id)) = job.and_then(|rest| rest.strip_prefix("job ")?.split_once(" with external jobid ")) else {
            return self.see_array(line);
        };
        let id = id.trim_end_matches('.').trim_matches('\'');
        // What sbatch prints when it is not told to be brief.
        match id.strip_prefix("Submitted batch job ") {
            Some(id) => self.native(job, id, true),
            None => self.native(job, id, false),
        }
    }

    /// `Submitted array job with Snakemake IDs 3,5 and SLURM job ID 17. The individual task IDs are 1-2.`
    fn see_array(&mut self, line: &str) {
        let told = line.strip_prefix("Submitted array job with Snakemake IDs ").and_then(|rest| {
            let (jobs, rest) = rest.split_once(" and SLURM job ID ")?;
            let (id, range) = rest.split_once(". The individual task IDs are ")?;
            let first: u32 = range.split('-').next()?.parse().ok()?;
            Some((jobs, id, first))
        });
        let Some((jobs, id, first)) = told else { return };
        for (task, job) in (first..=u32::MAX).zip(jobs.split(',')) {
            self.native(job, &format!("{id}_{task}"), true);
        }
    }

    fn native(&mut self, job: &str, id: &str, is_slurm: bool) {
        if is_slurm {
            self.log.slurm_jobs.push(id.to_owned());
        }
        if let Some(at) = self.open.get(job).and_then(|open| open.last()) {
            self.log.attempts[*at].native = Some((id.to_owned(), is_slurm));
        }
    }

    /// The last of the job's attempts that have not ended.
    fn end(&mut self, job: &str, rule: Option<&str>, succeeded: bool) -> Option<&mut Attempt> {
        let open = self.open.get_mut(job)?;
        let of_rule = |at: &usize| {
            let known = self.log.attempts[*at].rule.as_deref();
            known.is_none() || rule.is_none() || known == rule
        };
        let at = open.remove(open.iter().rposition(of_rule)?);
        let attempt = &mut self.log.attempts[at];
        attempt.succeeded = Some(succeeded);
        attempt.ended = self.now;
        attempt.end_line = Some(self.now_line);
        attempt.interrupted = self.log.interrupted && !succeeded;
        attempt.rule = attempt.rule.take().or_else(|| rule.map(str::to_owned));
        Some(attempt)
    }

    fn close_block(&mut self) {
        match std::mem::take(&mut self.block) {
            Block::Error(failure) => {
                let command = failure.shell.as_deref().map(str::trim).filter(|command| !command.is_empty());
                let exit = command.and_then(|command| self.log.exits.iter().rposition(|(ran, _)| ran.ends_with(command)));
                let exit = exit.map(|at| self.log.exits.remove(at).1);
                for job in &failure.jobs {
                    let Some(attempt) = self.end(job, failure.rule.as_deref(), false) else { continue };
                    attempt.error = failure.message.clone();
                    attempt.exit_code = exit;
                    attempt.command = attempt.command.take().or_else(|| command.map(str::to_owned));
                    let native = failure.native.clone().map(|id| (id, false));
                    attempt.native = attempt.native.take().or(native);
                }
            }
            // It ended with the log.
            Block::Shell(at, command) => self.shell(at, &command),
            _ => {}
        }
    }

    fn shell(&mut self, at: usize, command: &str) {
        self.log.attempts[at].command = Some(command.trim().to_owned()).filter(|command| !command.is_empty());
    }

    fn see_of_shell(&mut self, line: &str, inner: &str) -> bool {
        let Block::Shell(at, command) = &mut self.block else { return false };
        if line.starts_with(char::is_whitespace) || line.is_empty() {
            command.push('\n');
            command.push_str(line);
            return true;
        }
        let (at, command) = (*at, std::mem::take(command));
        self.block = Block::None;
        // A command whose lines are not all indented cannot be told from what follows.
        const KNOWN: [&str; 9] = ["[", "Select ", "Execute ", "Trying ", "RuleException", "Job ", "Finished ", "Complete ", "Shutting "];
        if KNOWN.iter().any(|known| inner.starts_with(known)) {
            self.shell(at, &command);
        }
        false
    }

    /// `Command 'set -euo pipefail;  …' returned non-zero exit status 3.`, over as many lines as the command has.
    fn see_of_exception(&mut self, line: &str) -> bool {
        let Block::Exception(text, lines) = &mut self.block else { return false };
        *lines += 1;
        text.push_str(line);
        text.push('\n');
        let Some((command, status)) = text.rsplit_once("' returned non-zero exit status ") else {
            if line.contains("' died with <Signals.") {
                self.block = Block::None;
                return true;
            }
            if *lines > LONGEST_COMMAND || stamp(line).is_some() {
                self.block = Block::None;
                return false;
            }
            return true;
        };
        if let Ok(status) = status.trim().trim_end_matches('.').parse() {
            let command = command.trim_start_matches("Command '").trim_end().to_owned();
            self.log.exits.push((command, status));
        }
        self.block = Block::None;
        true
    }
}

/// Names with commas between; a name that holds a comma and a blank is cut there, which the log does not tell apart.
fn names(list: &str) -> Vec<String> {
    // `(check log file(s) for error details)` and its like follow some lists only.
    list.split(", ").filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

fn owned((name, value): (&str, &str)) -> (String, String) {
    (name.to_owned(), value.to_owned())
}

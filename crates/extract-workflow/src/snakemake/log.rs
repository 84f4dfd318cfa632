//! A log of Snakemake: `.snakemake/log/*.snakemake.log`, and the output of a job on a cluster, in
//! which Snakemake runs once more.
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
//! Versions 7 to 9 differ in blank lines and in the wording of the last line. Other output of
//! programs and of Snakemake is ignored, since the lines of a log have no common form. Blocks of
//! the jobs in a group are indented by four more blanks.

use std::collections::{BTreeSet, HashMap};
use std::io::{self, BufRead};

use chrono::NaiveDateTime;
use flowmine_schema::text;

use super::files;
use crate::input;

/// The log of a run, or of one job of a run.
#[derive(Debug, Default)]
pub struct Log {
    /// Value of `SLURM run ID`, which is the name of its jobs in Slurm; else of `Workflow ID`,
    /// since version 9.
    pub run_id: Option<String>,
    /// Host on which Snakemake runs; in the log since version 8.
    pub host: Option<String>,
    /// Work directory of the run; in the log since version 9.
    pub work_dir: Option<String>,
    /// User who runs Snakemake; in the log since version 9.
    pub user: Option<String>,
    /// Whether jobs run on Snakemake's own host; `None` when the log ends before the line about it.
    pub is_local: Option<bool>,
    /// The attempts, in the order in which they began.
    pub attempts: Vec<LoggedAttempt>,
    /// Slurm's job ids, including those of groups of jobs.
    pub slurm_jobs: Vec<String>,
    /// Whether the log contains the end of the run.
    pub ended: bool,
    /// Whether the user ended the run.
    pub interrupted: bool,
    /// Whether it ended because a job had failed; no job runs any more then.
    pub gave_up: bool,
    /// Whether another run follows in the same file.
    pub is_followed: bool,
    /// Whether it was killed while jobs ran. Its lines do not show this; `join.rs` determines it.
    pub was_killed: bool,
    /// Whether jobs are only displayed and not executed (`--dry-run`).
    pub is_dry: bool,
    /// Line of the first job without a time, and the number of such jobs.
    pub undated: Option<(u64, u64)>,
    /// Shell that executes the commands; in the log since version 5.
    pub shell: Option<String>,
    /// Outputs that Snakemake touched after the command (`touch()`).
    pub touched: BTreeSet<String>,
    /// File name of its own log, which appears at the end: a run with redirected output has two
    /// logs.
    pub own_log: Option<String>,
    /// Commands of errors with their exit codes, until the job of each is known.
    exits: Vec<(String, i64)>,
}

/// One attempt at a job, from its block and the lines about it.
#[derive(Debug, Default, Clone)]
pub struct LoggedAttempt {
    /// Line at which the job's block begins, from 1.
    pub line: u64,
    /// Snakemake's number of the job in the run.
    pub job: String,
    /// Name of the rule; null where the rule has a message, which is then logged instead of
    /// everything else.
    pub rule: Option<String>,
    /// Whether the log contains its rule and wildcards, and not a message.
    pub is_described: bool,
    /// Whether it is a `localrule`.
    pub is_local_rule: bool,
    /// Start in local time; the log does not contain the zone.
    pub began: Option<NaiveDateTime>,
    /// Time at which Snakemake noticed its end, local time without zone.
    pub ended: Option<NaiveDateTime>,
    /// Maximum time in seconds from the end to `ended`, if the end is logged without a time and
    /// `ended` is the next time in the log.
    pub ended_within_s: i64,
    /// Line of its end, from 1.
    pub end_line: Option<u64>,
    /// Whether the job succeeded; `None` while it runs.
    pub succeeded: Option<bool>,
    /// Whether it failed after the user had ended the run.
    pub interrupted: bool,
    /// The job's input files, as the rule declares them.
    pub inputs: Vec<String>,
    /// Whether there are input files with names that the log does not contain.
    pub has_unknown_inputs: bool,
    /// The job's output files, as the rule declares them.
    pub outputs: Vec<String>,
    /// The missing outputs, if they were the reason to run it.
    pub missing: Vec<String>,
    /// The job's wildcards as the log writes them, such as `sample=a`.
    pub wildcards: Option<String>,
    /// Number of threads; omitted from the log where it is 1.
    pub threads: Option<i64>,
    /// The job's resources: name and value, as the log writes them.
    pub resources: Vec<(String, String)>,
    /// Path of the job's benchmark file.
    pub benchmark: Option<String>,
    /// Paths of the job's log files.
    pub logs: Vec<String>,
    /// Special output files, each with its flag in the log (`pipe`).
    pub special: Vec<(String, String)>,
    /// The executor's id of the job, and whether the executor is Slurm.
    pub native: Option<(String, bool)>,
    /// Shell command of the job.
    pub command: Option<String>,
    /// Reason of the job's failure, from the log.
    pub error: Option<String>,
    /// Exit code of its command.
    pub exit_code: Option<i64>,
}

/// The block of lines that is being read.
#[derive(Debug, Default)]
enum Block {
    #[default]
    None,
    /// The block of the attempt with this index.
    Job(usize),
    /// The failure of a job, which its line `jobid` identifies.
    Error(Failure),
    /// A text of several lines that begins with `Command '`, and its number of lines.
    Exception(String, usize),
    /// The command of the attempt with this index, which ends at the next known line.
    Shell(usize, String),
    /// A Python exception from its first line: `MissingOutputException in rule r in file f, line
    /// 3:`, or `RuleException:` and the lines after it.
    Raised(Raised),
}

#[derive(Debug, Default)]
struct Raised {
    /// The first lines of the error.
    text: Vec<String>,
    /// Whether it is itself the failure of a job; otherwise a block `Error in rule` before or after
    /// it reports the failure.
    is_failure: bool,
    rule: Option<String>,
    job: Option<String>,
}

#[derive(Debug, Default)]
struct Failure {
    rule: Option<String>,
    jobs: Vec<String>,
    message: Option<String>,
    /// Lines of the shell command while it is read.
    shell: Option<String>,
    in_shell: bool,
    native: Option<String>,
    outputs: Vec<String>,
}

/// Maximum number of lines of an exception that are kept as the reason.
const REASON: usize = 4;

/// Maximum number of lines of a command in an exception.
const LONGEST_COMMAND: usize = 1000;

/// Reads the runs of a log; several runs may have been written to the same file one after the
/// other.
///
/// # Errors
/// When reading fails.
pub fn read(reader: impl BufRead) -> io::Result<Vec<Log>> {
    let mut runs = Vec::new();
    let mut reading = Reading::default();
    let mut lines = input::lines(reader);
    while let Some((number, line)) = lines.next()? {
        input::not_too_long(number, line)?;
        let line = text::decode(line);
        let line = without_colours(&line);
        if reading.is_another_run(&line) {
            let mut log = std::mem::take(&mut reading).finish();
            log.is_followed = true;
            // The lines before the one that marks the run.
            (reading.log.host, reading.log.shell, reading.log.is_local) = (log.host.clone(), log.shell.clone(), log.is_local);
            runs.push(log);
        }
        reading.see(&line, number);
    }
    runs.push(reading.finish());
    Ok(runs)
}

/// Reads the log of one job on a cluster, in which Snakemake runs within Snakemake.
///
/// # Errors
/// When reading fails.
pub fn read_job(reader: impl BufRead) -> io::Result<Log> {
    let mut lines = input::lines(reader);
    let mut reading = Reading::default();
    while let Some((number, line)) = lines.next()? {
        input::not_too_long(number, line)?;
        reading.see(&without_colours(&text::decode(line)), number);
    }
    Ok(reading.finish())
}

/// Removes the terminal's colours (`ESC [ 31 m`), which a redirected log can contain.
fn without_colours(line: &str) -> std::borrow::Cow<'_, str> {
    if !line.contains("\u{1b}[") {
        return line.into();
    }
    let mut parts = line.split("\u{1b}[");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_digit() && c != ';');
        plain.push_str(match end {
            Some(end) if part[end..].starts_with('m') => &part[end + 1..],
            _ => part,
        });
    }
    plain.into()
}

/// Parses a time of Snakemake, and returns it with the rest: `[Sun Nov 22 06:00:16 2026]`.
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
    /// Line of the time in `now`.
    now_line: u64,
    /// Whether only blank lines follow the last time so far.
    is_headed: bool,
    /// Indent of the block, in bytes.
    indent: usize,
    /// Whether another run may have begun, within a job or because the one before was killed. The
    /// number of jobs in its table decides, which comes before further attempts.
    maybe_another: bool,
    /// Number of attempts before the run that may have begun, see `maybe_another`.
    begun: usize,
    /// Attempts with ends logged without a time; the next time is an upper bound.
    without_time: Vec<usize>,
    /// An exception of a job that the next block identifies.
    raised: Option<Vec<String>>,
    /// Exceptions of a rule that no block reports as failed: index of the attempt, and reason.
    blamed: Vec<(usize, String)>,
    /// Attempts that failed, if nothing else has been logged since.
    just_failed: Vec<usize>,
    /// Unfinished attempts by job. A job within a job can have the same number; the inner one ends
    /// first.
    open: HashMap<String, Vec<usize>>,
}

impl Reading {
    /// Whether another run begins with this line. Snakemake builds its graph of jobs once a run;
    /// the graph of a run within a job contains that job alone.
    fn is_another_run(&mut self, line: &str) -> bool {
        let has_begun = !self.log.attempts.is_empty() || self.log.undated.is_some() || self.log.ended || self.log.is_dry;
        if line.starts_with("Building DAG of jobs") {
            let in_between = !self.open.values().all(Vec::is_empty) && !self.log.ended;
            self.maybe_another = has_begun && in_between;
            self.begun = self.log.attempts.len();
            return has_begun && !in_between;
        }
        // First line of version 9, once a run.
        if line == "SNAKEMAKE" {
            return has_begun;
        }
        if !self.maybe_another {
            return false;
        }
        // `total  7` in the table of jobs, and `7` alone before version 6.
        let total: Option<u64> = line.trim().trim_start_matches("total").trim().parse().ok();
        self.maybe_another = total.is_none() && self.log.attempts.len() == self.begun;
        total.is_some_and(|total| total > 1)
    }

    /// Returns the run, after setting the ends of attempts that are not logged one by one.
    fn finish(mut self) -> Log {
        self.close_block();
        for (at, reason) in std::mem::take(&mut self.blamed) {
            self.fail(at, Some(reason));
        }
        if self.log.gave_up {
            let open: Vec<usize> = self.open.values().flatten().copied().collect();
            for at in open {
                self.fail(at, None);
            }
        }
        self.log
    }

    /// Marks an attempt as failed at an unknown time.
    fn fail(&mut self, at: usize, reason: Option<String>) {
        let attempt = &mut self.log.attempts[at];
        if attempt.succeeded.is_none() {
            (attempt.succeeded, attempt.error, attempt.interrupted) = (Some(false), reason, self.log.interrupted);
        }
    }

    fn see(&mut self, line: &str, number: u64) {
        let inner = line.trim_start();
        let depth = line.len() - inner.len();
        if self.see_of_exception(line) || self.see_of_shell(line, inner) || self.see_of_raised(line, inner) {
            return;
        }
        if let Some((time, rest)) = stamp(inner).filter(|_| depth <= 4) {
            self.close_block();
            for at in self.without_time.drain(..) {
                let attempt = &mut self.log.attempts[at];
                attempt.ended = Some(time);
                attempt.ended_within_s = self.now.map_or(0, |before| (time - before).num_seconds().max(0));
            }
            (self.now, self.now_line) = (Some(time), number);
            self.indent = depth;
            // The jobs of a group follow, each with its own time.
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
            // The failure of a group, which version 9 logs without a heading.
            self.block = Block::Error(Failure::default());
        }
        self.is_headed = false;
        let of_block =
            depth > self.indent || inner.starts_with("Reason: ") || matches!(&self.block, Block::Error(failure) if failure.in_shell);
        if of_block && self.see_property(line, inner, depth) {
            return;
        }
        if depth <= self.indent && !matches!(self.block, Block::Error(_)) && !self.is_in_message() {
            self.block = Block::None;
        }
        if depth == 0 && rule_of(inner).is_some() {
            let (_, count) = *self.log.undated.get_or_insert((number, 0));
            self.log.undated = self.log.undated.map(|(first, _)| (first, count + 1));
        }
        self.see_plain(inner, depth);
    }

    /// Whether a rule's message may continue, which can have several lines before the reason.
    fn is_in_message(&self) -> bool {
        matches!(&self.block, Block::Job(at) if !self.log.attempts[*at].is_described && self.log.attempts[*at].missing.is_empty())
    }

    /// Reads the line after a time, which determines the block.
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
        self.log.gave_up = false;
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let mut attempt = LoggedAttempt { line: number, began: self.now, ..LoggedAttempt::default() };
        if let Some(rule) = rule_of(line) {
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

    /// Reads an indented line of a block; `false` when it does not belong to it.
    fn see_property(&mut self, line: &str, inner: &str, depth: usize) -> bool {
        let (name, value) = inner.split_once(':').map_or((inner, ""), |(name, value)| (name, value.trim()));
        match &mut self.block {
            Block::Job(at) => {
                let attempt = &mut self.log.attempts[*at];
                if !attempt.is_described && name != "Reason" {
                    return true;
                }
                match name {
                    "input" => {
                        let inputs = files::read(value);
                        (attempt.inputs, attempt.has_unknown_inputs) = (inputs.paths, inputs.has_undecided);
                    }
                    "output" => {
                        let outputs = files::read(value);
                        (attempt.outputs, attempt.special) = (outputs.paths, outputs.special);
                    }
                    "log" => attempt.logs = files::read(value).paths,
                    "jobid" if attempt.job.is_empty() => {
                        attempt.job = value.to_owned();
                        self.open.entry(value.to_owned()).or_default().push(*at);
                    }
                    "benchmark" => attempt.benchmark = Some(files::path(value).to_owned()),
                    "reason" | "Reason" => {
                        let missing = value.split("; ").find_map(|reason| reason.strip_prefix("Missing output files: "));
                        attempt.missing = missing.map(|list| files::read(list).paths).unwrap_or_default();
                    }
                    "wildcards" => attempt.wildcards = Some(value.to_owned()),
                    "threads" => attempt.threads = value.parse().ok(),
                    "resources" => {
                        attempt.resources = value.split(", ").filter_map(|pair| pair.split_once('=').map(owned)).collect();
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
                    "output" => failure.outputs = files::read(value).paths,
                    "external_jobid" | "cluster_jobid" => failure.native = Some(value.to_owned()),
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
                ("User", 2) => self.log.user = Some(value.to_owned()),
                ("Working directory", 2) => self.log.work_dir = Some(value.to_owned()),
                ("Using shell", 0) => self.log.shell = Some(value.to_owned()),
                ("Provided cores", 0) => self.log.is_local = Some(true),
                ("Provided remote nodes" | "Provided cluster nodes", 0) => self.log.is_local = Some(false),
                ("Complete log" | "Complete log(s)", 0) => {
                    self.log.ended = true;
                    let name = value.rsplit('/').next().unwrap_or_default().strip_suffix(".snakemake.log");
                    self.log.own_log = name.map(str::to_owned);
                }
                ("Shell command", 0) if value != "None" => {
                    // Versions before 9 print the bare command, which cannot be distinguished from
                    // other lines.
                    if let Some(at) = self.log.attempts.len().checked_sub(1) {
                        self.close_block();
                        self.block = Block::Shell(at, value.to_owned());
                    }
                    return;
                }
                _ => {}
            }
        }
        if let Some(touched) = line.strip_prefix("Touching output file ").and_then(|rest| rest.strip_suffix('.')) {
            self.log.touched.insert(touched.to_owned());
        }
        if line.starts_with("Terminating processes on user request") {
            self.interrupt();
        }
        if line.starts_with("Will exit after finishing currently running jobs") {
            self.log.interrupted = true;
        }
        self.log.gave_up |= line.starts_with("Exiting because a job execution failed");
        self.log.is_dry |= line.starts_with("This was a dry-run");
        if let Some(raised) = raised(line) {
            self.close_block();
            self.block = Block::Raised(raised);
            return;
        }
        self.just_failed.clear();
        if line.starts_with("Command '") {
            self.close_block();
            self.block = Block::Exception(String::new(), 0);
            self.see_of_exception(line);
            return;
        }
        self.see_submission(line);
    }

    /// Records that the user ended the run. Ctrl-C ends the jobs as well, which may have been
    /// logged as failed before. They count as interrupted if all running jobs failed and nothing
    /// else was logged in between.
    fn interrupt(&mut self) {
        self.close_block();
        self.log.interrupted = true;
        let at_once = self.just_failed.iter().all(|at| self.log.attempts[*at].ended == self.now);
        if at_once && self.open.values().all(Vec::is_empty) {
            self.just_failed.iter().for_each(|at| self.log.attempts[*at].interrupted = true);
        }
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
        // Output of sbatch without `--parsable`.
        match id.strip_prefix("Submitted batch job ") {
            Some(id) => self.native(job, id, true),
            None => self.native(job, id, false),
        }
    }

    /// Reads `Submitted array job with Snakemake IDs 3,5 and SLURM job ID 17. The individual task
    /// IDs are 1-2.`
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

    /// Ends the last unfinished attempt of a job and returns it.
    fn end(&mut self, job: &str, rule: Option<&str>, succeeded: bool) -> Option<usize> {
        let open = self.open.get_mut(job)?;
        let of_rule = |at: &usize| {
            let known = self.log.attempts[*at].rule.as_deref();
            known.is_none() || rule.is_none() || known == rule
        };
        let at = open.remove(open.iter().rposition(of_rule)?);
        self.ended(at, rule, succeeded);
        Some(at)
    }

    /// Ends the only unfinished attempt of a rule, with these outputs where they are known, and
    /// returns it.
    fn end_of_rule(&mut self, rule: Option<&str>, outputs: &[String]) -> Option<usize> {
        let (job, at) = self.running(rule, outputs)?;
        self.open.get_mut(&job)?.retain(|other| *other != at);
        self.ended(at, rule, false);
        Some(at)
    }

    fn running(&self, rule: Option<&str>, outputs: &[String]) -> Option<(String, usize)> {
        let all = self.open.iter().flat_map(|(job, open)| open.iter().map(move |at| (job.clone(), *at)));
        let mut fitting = all.filter(|(_, at)| {
            let attempt = &self.log.attempts[*at];
            let same_rule = rule.is_none_or(|rule| attempt.rule.as_deref() == Some(rule));
            same_rule && outputs.iter().all(|output| attempt.outputs.contains(output)) && (rule.is_some() || !outputs.is_empty())
        });
        fitting.next().filter(|_| fitting.next().is_none())
    }

    fn ended(&mut self, at: usize, rule: Option<&str>, succeeded: bool) {
        let attempt = &mut self.log.attempts[at];
        attempt.succeeded = Some(succeeded);
        attempt.ended = self.now;
        attempt.end_line = Some(self.now_line);
        attempt.interrupted = self.log.interrupted && !succeeded;
        attempt.rule = attempt.rule.take().or_else(|| rule.map(str::to_owned));
        self.log.gave_up = false;
        if succeeded {
            self.just_failed.clear();
        } else {
            self.just_failed.push(at);
        }
    }

    fn close_block(&mut self) {
        match std::mem::take(&mut self.block) {
            Block::Error(failure) => {
                let command = failure.shell.as_deref().map(str::trim).filter(|command| !command.is_empty());
                let exit = command.and_then(|command| self.log.exits.iter().rposition(|(ran, _)| ran.ends_with(command)));
                let exit = exit.map(|at| self.log.exits.remove(at).1);
                let raised = self.raised.take().map(|lines| lines.join("\n"));
                for job in &failure.jobs {
                    let rule = failure.rule.as_deref();
                    // Snakemake within Snakemake numbers its jobs anew.
                    let Some(at) = self.end(job, rule, false).or_else(|| self.end_of_rule(rule, &failure.outputs)) else { continue };
                    let attempt = &mut self.log.attempts[at];
                    attempt.error = failure.message.clone().or(raised.clone());
                    attempt.exit_code = exit;
                    attempt.command = attempt.command.take().or_else(|| command.map(str::to_owned));
                    let native = failure.native.clone().map(|id| (id, false));
                    attempt.native = attempt.native.take().or(native);
                }
            }
            // The log ended within the block.
            Block::Shell(at, command) => self.shell(at, &command),
            Block::Raised(raised) => self.close_raised(raised),
            _ => {}
        }
    }

    /// Assigns an exception to an attempt. Versions before 9 print it after the block of the failed
    /// job, version 9 before it; for some failures there is no block.
    fn close_raised(&mut self, raised: Raised) {
        let reason = raised.text.join("\n");
        if raised.is_failure {
            let rule = raised.rule.as_deref();
            let missing: Vec<String> = raised.text.iter().skip(1).flat_map(|line| line.split(" (").next().map(str::to_owned)).collect();
            let by_job = raised.job.and_then(|job| self.end(&job, rule, false));
            // A line of the Snakefile is not the name of a rule: only the files identify the job.
            let missing: Vec<String> =
                missing.into_iter().filter(|line| self.log.attempts.iter().any(|known| known.outputs.contains(line))).collect();
            let Some(at) = by_job.or_else(|| self.end_of_rule(rule, &missing)) else { return };
            self.log.attempts[at].error = Some(reason);
            self.log.attempts[at].ended = None;
            self.without_time.push(at);
            return;
        }
        let of_rule = |at: &usize| raised.rule.is_none() || self.log.attempts[*at].rule == raised.rule;
        let told = self.just_failed.iter().rev().find(|at| of_rule(at) && self.log.attempts[**at].error.is_none()).copied();
        match (told, self.running(raised.rule.as_deref(), &[])) {
            (Some(at), _) => self.log.attempts[at].error = Some(reason),
            (None, Some((_, at))) => {
                self.blamed.push((at, reason));
                self.raised = Some(raised.text);
            }
            (None, None) => self.raised = Some(raised.text),
        }
    }

    fn see_of_raised(&mut self, line: &str, inner: &str) -> bool {
        let Block::Raised(raised) = &mut self.block else { return false };
        const AFTER: [&str; 9] = [
            "Removing output",
            "Shutting down",
            "Select jobs",
            "Exiting because",
            "Trying to",
            "Job failed",
            "Complete log",
            "Finished ",
            "Waiting at",
        ];
        if inner.is_empty()
            || stamp(inner).is_some()
            || AFTER.iter().any(|after| inner.starts_with(after))
            || raised.text.len() > LONGEST_COMMAND
        {
            self.close_block();
            return false;
        }
        // `  File "Snakefile", line 13, in __rule_raises`
        if let Some((_, rule)) = inner.rsplit_once(", in __rule_").filter(|_| inner.starts_with("File ")) {
            raised.rule = raised.rule.take().or_else(|| Some(rule.to_owned()));
        }
        let told = inner
            .strip_prefix("Job id: ")
            .or_else(|| inner.strip_prefix("Job "))
            .and_then(|rest| rest.split_once(" completed successfully"));
        if let Some((job, _)) =
            told.filter(|(job, _)| raised.is_failure && !job.trim().is_empty() && job.trim().bytes().all(|b| b.is_ascii_digit()))
        {
            raised.job = Some(job.trim().to_owned());
        }
        if let Some(rule) = inner.strip_prefix("Write-protected output files for rule ").and_then(|rest| rest.strip_suffix(':')) {
            raised.rule = raised.rule.take().or_else(|| Some(rule.to_owned()));
        }
        if raised.text.len() < REASON && !inner.starts_with("File ") {
            raised.text.push(inner.to_owned());
        }
        // A command is logged over all of its lines.
        if line.starts_with("Command '") {
            self.close_block();
            self.block = Block::Exception(String::new(), 0);
            return self.see_of_exception(line);
        }
        true
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
        // A command with lines that are not all indented cannot be distinguished from the lines
        // after it.
        const KNOWN: [&str; 9] = ["[", "Select ", "Execute ", "Trying ", "RuleException", "Job ", "Finished ", "Complete ", "Shutting "];
        if KNOWN.iter().any(|known| inner.starts_with(known)) {
            self.shell(at, &command);
        }
        false
    }

    /// Reads a line of `Command 'set -euo pipefail;  …' returned non-zero exit status 3.`, which
    /// spans all lines of the command.
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

/// Returns the rule of `rule count:`.
fn rule_of(line: &str) -> Option<&str> {
    let (word, rest) = line.split_once(' ')?;
    let rule = rest.strip_suffix(':').filter(|rule| !rule.is_empty())?;
    matches!(word, "rule" | "localrule" | "checkpoint" | "localcheckpoint").then_some(rule)
}

/// Parses the first line of a Python exception.
fn raised(line: &str) -> Option<Raised> {
    if line == "RuleException:" {
        return Some(Raised { text: vec![line.to_owned()], ..Raised::default() });
    }
    // For outputs that are missing, protected, or not files: `MissingOutputException in rule r in
    // file f, line 3:`, before version 7 `… in line 3 of f:`; since version 8 also for values that
    // cannot be filled in.
    let (name, place) = line.strip_suffix(':')?.split_once(" in ")?;
    let rule = place.strip_prefix("rule ").map(|rest| rest.split(' ').next().unwrap_or_default().to_owned());
    if !name.ends_with(if rule.is_some() { "Exception" } else { "OutputException" }) || name.contains(' ') {
        return None;
    }
    Some(Raised { text: vec![line.to_owned()], is_failure: true, rule, job: None })
}

fn owned((name, value): (&str, &str)) -> (String, String) {
    (name.to_owned(), value.to_owned())
}

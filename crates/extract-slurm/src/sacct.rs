//! sacct's text: what accounting remembers of jobs, one row a job attempt and one a step.
//!
//! In goes the output of `sacct`, steps and header included, fields and records ended by a token
//! drawn at random ([`crate::squeue::draw_token`]), so that no job name can forge a row; out comes
//! one [`JobRecord`] an attempt, with the I/O counters of its steps added up. What is not
//! understood becomes null and a diagnostic; a row without an id or a state is rejected; an output
//! that ends inside a row is refused whole.
//!
//! The caller runs `sacct --duplicates --parsable --delimiter=TOKEN --format=FORMAT` ([`FORMAT`])
//! with `SLURM_TIME_FORMAT=%s` in the environment, and without `--noheader`. It must be
//! `--parsable`, not `--parsable2`: only there does the token follow the last field too, so that
//! rows are distinguished by counting fields and a newline in a name does no harm.
//!
//! An attempt that was requeued keeps its id, so sacct shows several rows with the same JobID and
//! different Submit times. They are kept apart, and a step belongs to the attempt during which it
//! began.

use flowmine_schema::diagnostic::{Diagnostic, Diagnostics};
use flowmine_schema::text;
use flowmine_slurm::job_ref::{JobRef, parse_displayed, with_raw_id};
use flowmine_slurm::state::{State, from_accounting};
use flowmine_slurm::tres;
use flowmine_slurm::units::{self, BadValue, shown};
use memchr::memmem;
use rustc_hash::FxHashMap;

use crate::record::JobRecord;

/// A field of sacct(1), as `--format` names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each is the sacct(1) field of the name that stands beside it in COLUMNS")]
pub enum Column {
    Cluster,
    JobId,
    JobIdRaw,
    JobName,
    User,
    Account,
    Group,
    Partition,
    State,
    Submit,
    Start,
    End,
    ExitCode,
    Reason,
    Nodes,
    AllocNodes,
    Cpus,
    AllocCpus,
    ReqCpus,
    ReqMem,
    NodeList,
    TimeLimit,
    TimeLimitRaw,
    WorkDir,
    Qos,
    UsageIn,
    UsageOut,
    Comment,
    SubmitLine,
    Eligible,
    Priority,
    Constraints,
    ReqTres,
    AllocTres,
    MaxRss,
    Tasks,
    TotalCpu,
    Elapsed,
    ElapsedRaw,
}

impl Column {
    /// Number of fields that are known.
    pub const COUNT: usize = COLUMNS.len();

    /// The column that a header names. sacct prints a name in its own letters whatever was typed,
    /// and squeue's `JOBID` is not it.
    pub fn named(header: &[u8]) -> Option<Column> {
        COLUMNS.iter().find(|(_, name)| name.as_bytes() == header).map(|&(column, _)| column)
    }
}

/// The columns that are read and their names in sacct(1).
pub const COLUMNS: &[(Column, &str)] = &[
    (Column::Cluster, "Cluster"),
    (Column::JobId, "JobID"),
    (Column::JobIdRaw, "JobIDRaw"),
    (Column::JobName, "JobName"),
    (Column::User, "User"),
    (Column::Account, "Account"),
    (Column::Group, "Group"),
    (Column::Partition, "Partition"),
    (Column::State, "State"),
    (Column::Submit, "Submit"),
    (Column::Start, "Start"),
    (Column::End, "End"),
    (Column::ExitCode, "ExitCode"),
    (Column::Reason, "Reason"),
    (Column::Nodes, "NNodes"),
    (Column::AllocNodes, "AllocNodes"),
    (Column::Cpus, "NCPUS"),
    (Column::AllocCpus, "AllocCPUS"),
    (Column::ReqCpus, "ReqCPUS"),
    (Column::ReqMem, "ReqMem"),
    (Column::NodeList, "NodeList"),
    (Column::TimeLimit, "Timelimit"),
    (Column::TimeLimitRaw, "TimelimitRaw"),
    (Column::WorkDir, "WorkDir"),
    (Column::Qos, "QOS"),
    (Column::UsageIn, "TRESUsageInTot"),
    (Column::UsageOut, "TRESUsageOutTot"),
    (Column::Comment, "Comment"),
    (Column::SubmitLine, "SubmitLine"),
    (Column::Eligible, "Eligible"),
    (Column::Priority, "Priority"),
    (Column::Constraints, "Constraints"),
    (Column::ReqTres, "ReqTRES"),
    (Column::AllocTres, "AllocTRES"),
    (Column::MaxRss, "MaxRSS"),
    (Column::Tasks, "NTasks"),
    (Column::TotalCpu, "TotalCPU"),
    (Column::Elapsed, "Elapsed"),
    (Column::ElapsedRaw, "ElapsedRaw"),
];

/// What to ask sacct for (`--format` or `SACCT_FORMAT`). `SubmitLine` exists since Slurm 21.08; an
/// older sacct refuses it.
pub const FORMAT: &str = "Cluster,JobID,JobIDRaw,JobName,User,Account,Group,Partition,State,Submit,Start,End,ExitCode,Reason,NNodes,\
    NCPUS,ReqCPUS,ReqMem,NodeList,TimelimitRaw,WorkDir,QOS,TRESUsageInTot,TRESUsageOutTot,Comment,SubmitLine,Eligible,Priority,\
    Constraints,ReqTRES,AllocTRES,MaxRSS,TotalCPU";

/// Fields of one row as written in the output; missing ones are `None`.
pub type Row<'a> = [Option<&'a [u8]>; Column::COUNT];

/// An attempt and the cluster that it ran on, where sacct said so.
pub type Attempt<'a> = (Option<String>, JobRecord<'a>);

/// Why an output could not be read at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SacctError {
    /// It does not begin with a header that has the columns without which nothing can be known.
    #[error(
        "sacct did not print a header with JobID and State (it began with {begins:?}): is another program installed under its name, \
             or is this Slurm too old for a field?"
    )]
    Header {
        /// The first bytes, made visible.
        begins: String,
    },
    /// More jobs than can be held.
    #[error("sacct reported more than {} jobs at once", crate::import::MOST_RECORDS)]
    TooMany,
    /// The output ends inside a row.
    #[error("sacct's output ends inside row {row}: the connection was cut or sacct was ended; nothing of it is used")]
    Truncated {
        /// Number of the row, from 1; the header is not counted.
        row: u64,
    },
}

/// Reads an output whole. `zone_offset_s` says how far east of UTC times without zone are; with
/// `SLURM_TIME_FORMAT=%s` there are none.
///
/// # Errors
/// [`SacctError`] when the output is not whole or is not sacct's.
pub fn parse<'a>(
    output: &'a [u8],
    token: &[u8],
    zone_offset_s: i64,
    diagnostics: &mut Diagnostics,
) -> Result<Vec<Attempt<'a>>, SacctError> {
    let refused = || SacctError::Header { begins: shown(output) };
    let line_end = memchr::memchr(b'\n', output).ok_or_else(refused)?;
    if token.is_empty() || !output[..line_end].ends_with(token) {
        return Err(refused());
    }
    let header: Vec<Option<Column>> = split(&output[..line_end - token.len()], token).map(Column::named).collect();
    if !header.contains(&Some(Column::State)) || !(header.contains(&Some(Column::JobId)) || header.contains(&Some(Column::JobIdRaw))) {
        return Err(refused());
    }
    let mut attempts = Attempts::default();
    let body = &output[line_end + 1..];
    let mut found = memmem::find_iter(body, token);
    let (mut at, mut count, mut line) = (0, 0, 2);
    while at < body.len() {
        count += 1;
        let began = at;
        let mut row: Row<'a> = [None; Column::COUNT];
        for column in &header {
            let end = found.next().ok_or(SacctError::Truncated { row: count })?;
            if let Some(column) = column {
                row[*column as usize] = Some(&body[at..end]);
            }
            at = end + token.len();
        }
        if body.get(at) != Some(&b'\n') {
            return Err(SacctError::Truncated { row: count });
        }
        at += 1;
        attempts.push(&row, line, zone_offset_s, diagnostics);
        if attempts.too_many() {
            return Err(SacctError::TooMany);
        }
        line += memchr::memchr_iter(b'\n', &body[began..at]).count() as u64;
    }
    Ok(attempts.finish())
}

fn split<'a>(line: &'a [u8], delimiter: &[u8]) -> impl Iterator<Item = &'a [u8]> {
    let mut ends: Vec<usize> = memmem::find_iter(line, delimiter).collect();
    ends.push(line.len());
    let width = delimiter.len();
    let mut at = 0;
    ends.into_iter().map(move |end| {
        let piece = &line[at..end];
        at = end + width;
        piece
    })
}

/// Attempts as they are read, and the steps that go into them.
#[derive(Debug, Default)]
pub struct Attempts<'a> {
    attempts: Vec<Attempt<'a>>,
    /// JobID as printed, with the cluster, to the attempts of that job. Looked up only, never
    /// walked.
    by_id: FxHashMap<(&'a [u8], &'a [u8]), Vec<usize>>,
}

impl<'a> Attempts<'a> {
    /// Whether there are more than may be held.
    pub fn too_many(&self) -> bool {
        self.attempts.len() > crate::import::MOST_RECORDS
    }

    /// Takes one row, a job's or a step's. Says whether it was used.
    pub fn push(&mut self, row: &Row<'a>, line: u64, zone_offset_s: i64, diagnostics: &mut Diagnostics) -> bool {
        let raw = |column: Column| row[column as usize];
        let cluster = raw(Column::Cluster).unwrap_or_default();
        let id = raw(Column::JobId).or(raw(Column::JobIdRaw)).unwrap_or_default();
        if let Some(dot) = memchr::memchr(b'.', id) {
            return self.push_step(row, (cluster, &id[..dot]), line, zone_offset_s, diagnostics);
        }
        let Some(record) = interpret(row, line, zone_offset_s, diagnostics) else { return false };
        self.by_id.entry((cluster, id)).or_default().push(self.attempts.len());
        let cluster = Some(cluster).filter(|cluster| !units::is_nothing(cluster)).map(|cluster| text::decode(cluster).into_owned());
        self.attempts.push((cluster, record));
        true
    }

    fn push_step(
        &mut self,
        row: &Row<'a>,
        job: (&'a [u8], &'a [u8]),
        line: u64,
        zone_offset_s: i64,
        diagnostics: &mut Diagnostics,
    ) -> bool {
        let Some(candidates) = self.by_id.get(&job) else {
            let message = format!("a step of job {:?}, whose own row does not come before it; its I/O is not counted", shown(job.1));
            diagnostics.push(Diagnostic::warning("sacct_step", message).at(line, None));
            return false;
        };
        let began = row[Column::Start as usize].and_then(|bytes| units::time(bytes, zone_offset_s).ok().flatten());
        let holds = |&&index: &&usize| {
            let (from, to) = (self.attempts[index].1.start_ns, self.attempts[index].1.end_ns);
            began.is_some_and(|began| from.is_some_and(|from| from <= began) && to.is_none_or(|to| began <= to))
        };
        // The row that stands nearest before the step is tried first: that is how sacct prints them.
        let Some(&index) = candidates.iter().rev().find(holds).or(candidates.last()) else { return false };
        let record = &mut self.attempts[index].1;
        for (column, sum) in [(Column::UsageIn, &mut record.read_bytes), (Column::UsageOut, &mut record.written_bytes)] {
            let Some(list) = row[column as usize] else { continue };
            match disk_bytes(list) {
                Ok(Some(bytes)) => {
                    let sum = sum.get_or_insert(0);
                    flowmine_sums::add_to(sum, bytes);
                    if flowmine_sums::is_bound(*sum) {
                        let message = format!("the sum of the bytes of a job's steps does not fit; kept as {sum}");
                        diagnostics.push(Diagnostic::warning("sum_out_of_range", message).at(line, None));
                    }
                }
                Ok(None) => {}
                Err(BadValue) => {
                    let shown = shown(list);
                    diagnostics
                        .push(Diagnostic::warning("sacct_value", format!("{shown:?} is not a list of usages; not counted")).at(line, None));
                }
            }
        }
        let usage = row[Column::UsageIn as usize].and_then(text_of);
        let of_tasks = usage.and_then(tres::memory_bytes);
        record.step_memory_bytes = record.step_memory_bytes.max(of_tasks);
        record.gpu_percent = record.gpu_percent.max(usage.and_then(tres::gpu_percent));
        record.gpu_memory_bytes = record.gpu_memory_bytes.max(usage.and_then(tres::gpu_memory_bytes));
        if let Some(size) = row[Column::MaxRss as usize] {
            match max_rss(size) {
                Ok(bytes) => {
                    record.max_rss_bytes = record.max_rss_bytes.max(bytes);
                    // Where sacct was not asked for the sum: reportseff's formula.
                    let tasks = row[Column::Tasks as usize].and_then(units::digits).filter(|_| of_tasks.is_none());
                    let sum = bytes.zip(tasks).and_then(|(bytes, tasks)| bytes.checked_mul(tasks));
                    record.step_memory_bytes = record.step_memory_bytes.max(sum);
                }
                Err(BadValue) => {
                    let message = format!("{:?} is not a size of memory; treated as unknown", shown(size));
                    diagnostics.push(Diagnostic::warning("sacct_value", message).at(line, None));
                }
            }
        }
        true
    }

    /// What was read, in the order of the output.
    pub fn finish(self) -> Vec<Attempt<'a>> {
        self.attempts
    }
}

fn text_of(field: &[u8]) -> Option<&str> {
    std::str::from_utf8(field).ok()
}

/// `fs/disk` in a list of trackable resources (`cpu=00:00:01,fs/disk=11171,mem=3180K`): bytes,
/// counted by the task's gatherer.
fn disk_bytes(list: &[u8]) -> Result<Option<i64>, BadValue> {
    if units::is_nothing(list) {
        return Ok(None);
    }
    for item in list.split(|&b| b == b',') {
        let Some(value) = item.strip_prefix(b"fs/disk=") else { continue };
        return match units::digits(value) {
            Some(bytes) => Ok(Some(bytes)),
            // A number with a unit; without one it would be megabytes to `memory`.
            None if value.last().is_some_and(u8::is_ascii_alphabetic) => units::memory(value).map(|bytes| Some(bytes.unwrap_or(0))),
            None => Err(BadValue),
        };
    }
    Ok(None)
}

/// `MaxRSS`: a number of bytes with a unit; bare, it is bytes (0 too, which is what a step without
/// samples has).
fn max_rss(field: &[u8]) -> Result<Option<i64>, BadValue> {
    match units::digits(field) {
        Some(0) => Ok(None),
        Some(bytes) => Ok(Some(bytes)),
        None => units::memory(field),
    }
}

/// Makes a record of a job's row. `None`, with a diagnostic, when there is no job id or no state.
pub fn interpret<'a>(row: &Row<'a>, line: u64, zone_offset_s: i64, diagnostics: &mut Diagnostics) -> Option<JobRecord<'a>> {
    let raw = |column: Column| row[column as usize];
    let free = |column: Column| raw(column).filter(|bytes| !bytes.is_empty()).map(text::decode);
    let words = |column: Column| raw(column).filter(|bytes| !units::is_nothing(bytes)).map(text::decode);
    let displayed = raw(Column::JobId).and_then(|bytes| parse_displayed(std::str::from_utf8(bytes).ok()?));
    let raw_id = raw(Column::JobIdRaw).and_then(units::digits);
    let without_display = raw_id.filter(|_| raw(Column::JobId).is_none()).map(|id| (id, JobRef::Single));
    let Some((job_id, job)) = with_raw_id(raw_id, displayed).or(without_display) else {
        let id = shown(raw(Column::JobId).or(raw(Column::JobIdRaw)).unwrap_or_default());
        diagnostics.push(Diagnostic::error("sacct_job_id", format!("{id:?} is not a job id")).at(line, None));
        return None;
    };
    let Some(state) = raw(Column::State).filter(|bytes| !bytes.is_empty()) else {
        diagnostics.push(Diagnostic::error("sacct_state", "the row has no state").at(line, None));
        return None;
    };
    let (state, cancelled_by_uid) = from_accounting(&text::decode(state));

    let mut number = |column: Column, name: &str, read: &units::Read<'_>| -> Option<i64> {
        let bytes = raw(column)?;
        read(bytes).unwrap_or_else(|_| {
            let message = format!("{:?} is not a {name}; treated as unknown", shown(bytes));
            diagnostics.push(Diagnostic::warning("sacct_value", message).at(line, None));
            None
        })
    };
    let time = |bytes: &[u8]| units::time(bytes, zone_offset_s);
    let mut record = JobRecord::new(job_id, job, state);
    record.cancelled_by_uid = cancelled_by_uid;
    record.submit_ns = number(Column::Submit, "time", &time);
    record.start_ns = number(Column::Start, "time", &time);
    record.end_ns = number(Column::End, "time", &time);
    let elapsed_ns =
        number(Column::ElapsedRaw, "number of seconds", &seconds).or_else(|| number(Column::Elapsed, "length of time", &units::cpu_time));
    infer_from_elapsed(&mut record, elapsed_ns, raw(Column::Start).is_some(), raw(Column::End).is_some());
    record.eligible_ns = number(Column::Eligible, "time", &time);
    record.priority = number(Column::Priority, "priority", &units::signed);
    record.cpu_time_ns = number(Column::TotalCpu, "CPU time", &units::cpu_time).filter(|&ns| ns != 0);
    record.time_limit_s = number(Column::TimeLimitRaw, "number of minutes", &minutes)
        .or_else(|| number(Column::TimeLimit, "length of time", &units::duration));
    // A job that never ran has 0 allocated; another column holds its request.
    let mut first_of = |columns: &[Column]| columns.iter().find_map(|&column| number(column, "count", &units::count).filter(|&n| n != 0));
    record.nodes = first_of(&[Column::AllocNodes, Column::Nodes]);
    record.cpus = first_of(&[Column::AllocCpus, Column::Cpus, Column::ReqCpus]);
    // Since 21.08 of the whole job; before per node or per CPU, and then a letter says so.
    let memory = number(Column::ReqMem, "size of memory", &units::memory);
    let of_a_part = raw(Column::ReqMem).is_some_and(|bytes| matches!(bytes.last(), Some(b'n' | b'c')));
    if of_a_part {
        record.memory_bytes = memory
    } else {
        record.total_memory_bytes = memory
    }
    if record.state.has_ended()
        && let Some(bytes) = raw(Column::ExitCode).filter(|bytes| !units::is_nothing(bytes))
    {
        match exit(bytes) {
            Some((code, signal)) => (record.exit_code, record.exit_signal) = (Some(code), Some(signal).filter(|&signal| signal != 0)),
            None => {
                let message = format!("{:?} is not an exit code and signal; treated as unknown", shown(bytes));
                diagnostics.push(Diagnostic::warning("sacct_value", message).at(line, None));
            }
        }
    }
    record.reason = words(Column::Reason);
    record.node_list = words(Column::NodeList).filter(|nodes| nodes != "None assigned");
    record.name = free(Column::JobName);
    record.user = free(Column::User);
    record.account = free(Column::Account);
    record.group = free(Column::Group);
    record.partition = free(Column::Partition);
    record.qos = free(Column::Qos);
    record.work_dir = free(Column::WorkDir);
    record.comment = free(Column::Comment);
    record.submit_line = free(Column::SubmitLine);
    record.features = words(Column::Constraints);
    record.requested_tres = words(Column::ReqTres);
    record.allocated_tres = words(Column::AllocTres);
    record.dependency = record.submitted_dependency().map(|(dependency, _)| dependency.into());
    for what in record.times_out_of_order() {
        diagnostics.push(Diagnostic::warning("times_out_of_order", format!("job {job_id}: {what}")).at(line, None));
    }
    Some(record)
}

/// Infers the time without a column, start or end of a job that has ended, from the other one.
/// Suspended time is not in `Elapsed`, so that the inferred length is then too short.
fn infer_from_elapsed(record: &mut JobRecord<'_>, elapsed_ns: Option<i64>, has_start: bool, has_end: bool) {
    let Some(elapsed_ns) = elapsed_ns.filter(|_| record.state.has_ended()) else { return };
    match (record.start_ns, record.end_ns) {
        (Some(start_ns), None) if !has_end => record.end_ns = start_ns.checked_add(elapsed_ns),
        // A job that never ran has elapsed 0.
        (None, Some(end_ns)) if !has_start && elapsed_ns > 0 => record.start_ns = end_ns.checked_sub(elapsed_ns),
        _ => {}
    }
}

fn seconds(field: &[u8]) -> Result<Option<i64>, BadValue> {
    if units::is_nothing(field) {
        return Ok(None);
    }
    units::digits(field).and_then(|seconds| seconds.checked_mul(1_000_000_000)).map(Some).ok_or(BadValue)
}

fn minutes(field: &[u8]) -> Result<Option<i64>, BadValue> {
    if units::is_nothing(field) || matches!(field, b"UNLIMITED" | b"Partition_Limit") {
        return Ok(None);
    }
    units::digits(field).and_then(|minutes| minutes.checked_mul(60)).map(Some).ok_or(BadValue)
}

/// Exit code and signal of a field `code:signal`, as sacct(1) writes `ExitCode`.
fn exit(field: &[u8]) -> Option<(i64, i64)> {
    let colon = memchr::memchr(b':', field)?;
    Some((units::digits(&field[..colon])?, units::digits(&field[colon + 1..])?))
}

/// Whether a field is a state as sacct writes it: one of the 24, perhaps cut short with a `+`,
/// perhaps with who cancelled.
pub(crate) fn is_state(field: &[u8]) -> bool {
    let Ok(field) = std::str::from_utf8(field) else { return false };
    let (word, rest) = field.split_once(' ').unwrap_or((field, ""));
    let by =
        rest.is_empty() || (word.starts_with("CANCELLED") && rest.strip_prefix("by ").is_some_and(|uid| uid.trim().parse::<u32>().is_ok()));
    by && !matches!(from_accounting(word).0, State::Other(_))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TOKEN: &str = "\u{1f}aB3dE6gH";

    fn output(rows: &[&[(&str, &[u8])]]) -> Vec<u8> {
        let names: Vec<&str> = FORMAT.split(',').collect();
        let mut out = Vec::new();
        for name in &names {
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(TOKEN.as_bytes());
        }
        out.push(b'\n');
        for row in rows {
            for name in &names {
                let plain: &[u8] = match *name {
                    "Cluster" => b"lab",
                    "JobID" | "JobIDRaw" => b"7",
                    "State" => b"COMPLETED",
                    "Submit" => b"1795179700",
                    "Start" => b"1795179710",
                    "End" => b"1795179770",
                    "ExitCode" => b"0:0",
                    "TimelimitRaw" => b"5",
                    _ => b"",
                };
                out.extend_from_slice(row.iter().find(|(n, _)| n == name).map_or(plain, |(_, value)| value));
                out.extend_from_slice(TOKEN.as_bytes());
            }
            out.push(b'\n');
        }
        out
    }

    fn read(output: &[u8]) -> (Vec<Attempt<'_>>, Diagnostics) {
        let mut diagnostics = Diagnostics::default();
        let attempts = parse(output, TOKEN.as_bytes(), 0, &mut diagnostics).unwrap();
        (attempts, diagnostics)
    }

    #[test]
    fn every_asked_field_is_read() {
        assert!(FORMAT.split(',').all(|name| Column::named(name.as_bytes()).is_some()));
        for (at, (column, _)) in COLUMNS.iter().enumerate() {
            assert_eq!(*column as usize, at);
        }
    }

    #[test]
    fn a_job_with_its_steps() {
        let rows = output(&[
            &[("State", b"FAILED"), ("ExitCode", b"3:0"), ("ReqMem", b"4Gn"), ("SubmitLine", b"sbatch -d afterok:1:2 step.sh 4")],
            &[
                ("JobID", b"7.batch"),
                ("TRESUsageInTot", b"cpu=00:00:00,fs/disk=11171,mem=3180K"),
                ("TRESUsageOutTot", b"energy=0,fs/disk=5"),
            ],
            &[("JobID", b"7.0"), ("TRESUsageInTot", b"fs/disk=829")],
        ]);
        let (attempts, diagnostics) = read(&rows);
        assert!(diagnostics.is_empty());
        let [(cluster, record)] = &attempts[..] else { panic!("{attempts:?}") };
        assert_eq!(cluster.as_deref(), Some("lab"));
        assert_eq!((record.read_bytes, record.written_bytes), (Some(12_000), Some(5)));
        assert_eq!((record.exit_code, record.exit_signal), (Some(3), None));
        assert_eq!(record.time_limit_s, Some(300));
        assert_eq!(record.memory_bytes, Some(4 << 30));
        assert_eq!(record.dependency.as_deref(), Some("afterok:1:2"));
    }

    #[test]
    fn steps_go_to_the_attempt_in_whose_time_they_began() {
        let first: &[(&str, &[u8])] = &[("State", b"REQUEUED")];
        let second: &[(&str, &[u8])] = &[("Submit", b"1795179770"), ("Start", b"1795179800"), ("End", b"Unknown"), ("State", b"RUNNING")];
        let early: &[(&str, &[u8])] = &[("JobID", b"7.batch"), ("Start", b"1795179710"), ("TRESUsageInTot", b"fs/disk=1")];
        let late: &[(&str, &[u8])] = &[("JobID", b"7.batch"), ("Start", b"1795179801"), ("TRESUsageInTot", b"fs/disk=20")];
        for rows in [[first, early, second, late], [first, second, late, early]] {
            let output = output(&rows);
            let (attempts, _) = read(&output);
            let bytes: Vec<_> = attempts.iter().map(|(_, record)| record.read_bytes).collect();
            assert_eq!(bytes, [Some(1), Some(20)]);
            assert_eq!(attempts[1].1.exit_code, None, "0:0 of a running job says nothing");
        }
    }

    #[test]
    fn times_that_cannot_be_are_kept_and_said() {
        let rows: [&[(&str, &[u8])]; 3] = [
            &[("Submit", b"1795179770"), ("Start", b"1795179769"), ("End", b"1795179800")],
            &[("Submit", b"1795179770"), ("Start", b"1795179770"), ("End", b"1795179769")],
            &[("Submit", b"1795179770"), ("Start", b"Unknown"), ("End", b"1795179769")],
        ];
        let output = output(&rows);
        let (attempts, diagnostics) = read(&output);
        assert_eq!(attempts[0].1.start_ns, Some(1_795_179_769_000_000_000));
        let said: Vec<_> = diagnostics.iter().map(|told| (told.code, told.line, told.message.contains("before it"))).collect();
        assert_eq!(said, [("times_out_of_order", Some(2), true), ("times_out_of_order", Some(3), true)]);
    }

    #[test]
    fn no_name_can_forge_a_row() {
        let name = b"x\n8\x1fFAKE8888\x1fFAKE\n7|8|COMPLETED\n";
        let rows = output(&[&[("JobName", name), ("Comment", b"a\nb")], &[("JobID", b"8"), ("JobIDRaw", b"8")]]);
        let (attempts, diagnostics) = read(&rows);
        assert!(diagnostics.is_empty());
        assert_eq!(attempts.len(), 2);
        assert_eq!(attempts[0].1.name.as_deref().unwrap().as_bytes(), name);
    }

    #[test]
    fn a_cut_output_is_refused() {
        let whole = output(&[&[], &[]]);
        let header = output(&[]).len();
        let one = output(&[&[]]).len();
        for end in header..whole.len() {
            let result = parse(&whole[..end], TOKEN.as_bytes(), 0, &mut Diagnostics::default());
            match end {
                end if end == header || end == one => assert!(result.is_ok()),
                _ => assert!(matches!(result, Err(SacctError::Truncated { .. })), "cut at {end}"),
            }
        }
        assert!(matches!(parse(b"sacct: error: no database\n", b"|", 0, &mut Diagnostics::default()), Err(SacctError::Header { .. })));
    }

    #[test]
    fn who_cancelled_and_jobs_that_never_ran() {
        let rows = output(&[
            &[
                ("JobID", b"30+1"),
                ("JobIDRaw", b"31"),
                ("State", b"CANCELLED by 1001"),
                ("Start", b"None"),
                ("NNodes", b"1"),
                ("NCPUS", b"0"),
                ("ReqCPUS", b"2"),
                ("NodeList", b"None assigned"),
            ],
            &[("JobID", b"8_[3-9%3]"), ("JobIDRaw", b"8"), ("State", b"PENDING"), ("End", b"Unknown")],
        ]);
        let (attempts, _) = read(&rows);
        let record = &attempts[0].1;
        assert_eq!(record.label(), "30+1");
        assert_eq!((record.state.clone(), record.cancelled_by_uid), (State::Cancelled, Some(1001)));
        assert_eq!((record.start_ns, record.nodes, record.cpus, record.node_list.clone()), (None, Some(1), Some(2), None));
        assert_eq!(attempts[1].1.label(), "8_*");
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        let rows = output(&[
            &[("JobName", b"two\nlines"), ("Submit", b"soon")],
            &[("JobID", b"evil"), ("JobIDRaw", b"")],
            &[("JobID", b"9.batch")],
        ]);
        let (attempts, diagnostics) = read(&rows);
        assert_eq!(attempts.len(), 1);
        let told: Vec<_> = diagnostics.iter().map(|d| (d.code, d.line)).collect();
        assert_eq!(told, [("sacct_value", Some(2)), ("sacct_job_id", Some(4)), ("sacct_step", Some(5))]);
    }

    proptest! {
        #[test]
        fn nothing_panics(body in proptest::collection::vec(any::<u8>(), 0..300)) {
            let all = [output(&[]), body].concat();
            let _ = parse(&all, TOKEN.as_bytes(), 0, &mut Diagnostics::default());
        }
        #[test]
        fn any_bytes_in_free_text_come_through(name in proptest::collection::vec(1u8..=255, 1..60)) {
            prop_assume!(memmem::find(&name, TOKEN.as_bytes()).is_none());
            let rows = output(&[&[("JobName", &name)]]);
            let (attempts, _) = read(&rows);
            prop_assert_eq!(text::encode(attempts[0].1.name.as_deref().unwrap()), name);
        }
    }
}

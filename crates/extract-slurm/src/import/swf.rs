//! The Standard Workload Format, version 2.2 (S. J. Chapin et al., Benchmarks and Standards for the
//! Evaluation of Parallel Job Schedulers, JSSPP 1999; Parallel Workloads Archive).
//!
//! A line is a job with 18 numbers between blanks, -1 where a number is unknown. Lines that begin
//! with `;` are comments; `; UnixStartTime: 1` and `; Computer: NAME` are read. Times are seconds
//! after the start time. Without a start time, they are seconds after 1970, with a warning. Users,
//! groups, executables, queues and partitions are numbers in this format, and keep them as names.
//!
//! A line with another number of fields, or with a field that is no number, is rejected. A status
//! of -1 is the state `UNKNOWN`. Partial executions (status 2) are preempted attempts.

use std::borrow::Cow;

use flowmine_schema::diagnostic::{Diagnostic, Diagnostics};
use flowmine_schema::tables::source;
use flowmine_schema::time::SECOND_NS;
use flowmine_slurm::job_ref::JobRef;
use flowmine_slurm::state::State;
use flowmine_slurm::units::shown;

use super::error::{ImportError, MOST_RECORDS, usable};
use super::imported::Imported;
use super::kind::FileKind;
use super::table;
use crate::record::JobRecord;
use crate::sacct::Attempt;

/// Fields of a line.
const FIELDS: usize = 18;

/// Comments that [`is_one`] passes over, at most.
const MOST_COMMENTS: usize = 1000;

// Places of the fields that are read.
const JOB: usize = 0;
const SUBMIT: usize = 1;
const WAIT: usize = 2;
const RUN: usize = 3;
const PROCESSORS: usize = 4;
const CPU_TIME: usize = 5;
const REQUESTED_PROCESSORS: usize = 7;
const REQUESTED_TIME: usize = 8;
const REQUESTED_MEMORY: usize = 9;
const STATUS: usize = 10;
const USER: usize = 11;
const GROUP: usize = 12;
const EXECUTABLE: usize = 13;
const QUEUE: usize = 14;
const PARTITION: usize = 15;
const PRECEDING: usize = 16;

/// Whether the first line that is no comment is a job of this format.
pub fn is_one(bytes: &[u8]) -> bool {
    let mut lines = table::lines(bytes).map(|(_, line)| line.trim_ascii()).filter(|line| !line.is_empty());
    lines.by_ref().take(MOST_COMMENTS).find(|line| !line.starts_with(b";")).is_some_and(|line| fields(line).is_ok())
}

/// Reads a log.
///
/// # Errors
/// See [`ImportError`].
pub fn read<'a>(bytes: &'a [u8], diagnostics: &mut Diagnostics) -> Result<Imported<'a>, ImportError> {
    let mut start_s = None;
    let mut cluster = None;
    let mut records: Vec<Attempt<'a>> = Vec::new();
    let (mut rejected, mut without_status) = (0, 0_usize);
    for (number, line) in table::lines(bytes) {
        let line = line.trim_ascii();
        if let Some(comment) = line.strip_prefix(b";") {
            let (name, value) = label(comment);
            match name {
                b"UnixStartTime" => start_s = std::str::from_utf8(value).ok().and_then(|value| value.parse::<i64>().ok()).or(start_s),
                b"Computer" => cluster = Some(String::from_utf8_lossy(value).into_owned()).filter(|name| !name.is_empty()),
                _ => {}
            }
            continue;
        }
        if line.is_empty() {
            continue;
        }
        match fields(line) {
            Ok(fields) if fields[JOB].is_some_and(|job| job >= 0.0) => {
                if records.len() == MOST_RECORDS {
                    return Err(ImportError::TooMany);
                }
                without_status += usize::from(fields[STATUS].is_none());
                records.push((None, record(&fields, start_s.unwrap_or(0))));
            }
            Ok(_) => {
                rejected += 1;
                diagnostics.push(Diagnostic::error("row_rejected", "the job number is unknown").at(number, Some(1)));
            }
            Err(why) => {
                rejected += 1;
                diagnostics.push(Diagnostic::error("row_rejected", why).at(number, None));
            }
        }
    }
    usable(FileKind::Swf, records.len(), rejected, diagnostics)?;
    if records.is_empty() {
        return Err(ImportError::Empty);
    }
    if start_s.is_none() {
        let message = "the log has no UnixStartTime: its times are counted from 1970";
        diagnostics.push(Diagnostic::warning("swf_no_start_time", message));
    }
    if without_status > 0 {
        let message = format!("{without_status} of {} jobs have no status: their state is UNKNOWN", records.len());
        diagnostics.push(Diagnostic::warning("swf_no_status", message));
    }
    records.iter_mut().for_each(|(of, _)| of.clone_from(&cluster));
    Ok(Imported::Accounting { source: source::SWF, records })
}

/// The name and the value of a comment such as ` Computer: IBM SP2`.
fn label(comment: &[u8]) -> (&[u8], &[u8]) {
    let at = comment.iter().position(|&byte| byte == b':').unwrap_or(comment.len());
    (comment[..at].trim_ascii(), comment.get(at + 1..).unwrap_or_default().trim_ascii())
}

/// The numbers of a line; those that are unknown are `None`.
fn fields(line: &[u8]) -> Result<[Option<f64>; FIELDS], String> {
    let mut fields = [None; FIELDS];
    let mut count = 0;
    for word in line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()) {
        if let Some(field) = fields.get_mut(count) {
            let number = std::str::from_utf8(word).ok().and_then(|word| word.parse::<f64>().ok()).filter(|number| number.is_finite());
            let number = number.ok_or_else(|| format!("field {}: {:?} is not a number", count + 1, shown(word)))?;
            *field = (number >= 0.0).then_some(number);
        }
        count += 1;
    }
    if count == FIELDS { Ok(fields) } else { Err(format!("{count} fields, and the format has {FIELDS}")) }
}

fn record<'a>(fields: &[Option<f64>; FIELDS], start_s: i64) -> JobRecord<'a> {
    let whole = |at: usize| fields[at].map(|number| number as i64);
    let text = |at: usize| whole(at).map(|number| Cow::Owned(number.to_string()));
    let after = |ns: Option<i64>, seconds: Option<f64>| ns.zip(seconds).map(|(ns, seconds)| ns.saturating_add(nanoseconds(seconds)));
    let state = match whole(STATUS) {
        Some(0 | 4) => State::Failed,
        Some(1 | 3) => State::Completed,
        Some(2) => State::Preempted,
        Some(5) => State::Cancelled,
        _ => State::Other("UNKNOWN".to_owned()),
    };
    let job_id = whole(JOB).unwrap_or_default();
    let submit_ns = after(start_s.checked_mul(SECOND_NS), fields[SUBMIT]);
    let start_ns = after(submit_ns, fields[WAIT]);
    let cpus = whole(PROCESSORS).or(whole(REQUESTED_PROCESSORS));
    let of_all = |number: Option<f64>| number.zip(cpus).map(|(number, cpus)| number * cpus as f64);
    JobRecord {
        submit_ns,
        start_ns,
        // A job that was cancelled in the queue ended when its wait did.
        end_ns: after(start_ns, fields[RUN]).or(start_ns.filter(|_| state == State::Cancelled)),
        time_limit_s: whole(REQUESTED_TIME),
        cpus,
        cpu_time_ns: of_all(fields[CPU_TIME]).map(nanoseconds),
        total_memory_bytes: of_all(fields[REQUESTED_MEMORY]).map(|kilobytes| (kilobytes * 1024.0) as i64),
        user: text(USER),
        group: text(GROUP),
        name: text(EXECUTABLE),
        partition: text(PARTITION).or(text(QUEUE)),
        dependency: whole(PRECEDING).map(|job| Cow::Owned(format!("afterany:{job}"))),
        tells_dependency: fields[PRECEDING].is_some(),
        ..JobRecord::new(job_id, JobRef::Single, state)
    }
}

/// Seconds as whole nanoseconds; the fraction is rounded to microseconds, since logs have no more.
fn nanoseconds(seconds: f64) -> i64 {
    ((seconds * 1e6).round() as i64).saturating_mul(1000)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]
mod tests {
    use super::*;

    const LOG: &str = "; Computer: IBM SP2\n; UnixStartTime: 1000\n;\n\
        1 5 10 20.5 4 15 -1 4 60 2048 1 3 7 2 1 -1 -1 -1\n\
        2 6 -1 -1 -1 -1 -1 8 -1 -1 5 3 -1 -1 -1 -1 1 30\n\
        3 7 1 2 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1\n";

    fn records(log: &str) -> (Vec<Attempt<'_>>, Vec<String>) {
        let mut diagnostics = Diagnostics::default();
        let Imported::Accounting { source: "swf", records } = read(log.as_bytes(), &mut diagnostics).unwrap() else { panic!() };
        (records, diagnostics.iter().map(|diagnostic| diagnostic.message.clone()).collect())
    }

    #[test]
    fn jobs_with_18_numbers() {
        let (records, told) = records(LOG);
        assert_eq!(told, ["1 of 3 jobs have no status: their state is UNKNOWN"]);
        let (cluster, job) = &records[0];
        let s = |seconds: i64| Some(seconds * SECOND_NS);
        assert_eq!((cluster.as_deref(), job.job_id, job.submit_ns, job.start_ns), (Some("IBM SP2"), 1, s(1005), s(1015)));
        assert_eq!((job.end_ns, job.cpus, job.time_limit_s), (s(1035).map(|end| end + SECOND_NS / 2), Some(4), Some(60)));
        assert_eq!((job.cpu_time_ns, job.total_memory_bytes), (s(60), Some(4 * 2048 * 1024)));
        let texts = [&job.user, &job.group, &job.name, &job.partition].map(|text| text.as_deref());
        assert_eq!((texts, &job.state), ([Some("3"), Some("7"), Some("2"), Some("1")], &State::Completed));
        let (_, job) = &records[1];
        assert_eq!((job.start_ns, job.end_ns, job.cpus, &job.state), (None, None, Some(8), &State::Cancelled));
        assert_eq!((job.dependency.as_deref(), job.user.as_deref(), &job.group), (Some("afterany:1"), Some("3"), &None));
    }

    #[test]
    fn recognised_by_content_and_bad_lines_are_told() {
        assert!(is_one(LOG.as_bytes()) && is_one(b"\n;x\n1 0 0 1 1 -1 -1 1 1 -1 1 -1 -1 -1 -1 -1 -1 -1"));
        assert!(!is_one(b"; only a comment\n") && !is_one(b"JOBID STATE\n1 2\n") && !is_one(b"1 2 3\n"));
        let bad = LOG.replace("2 6 -1", "2 x -1") + "9 1 2\n";
        let (records, told) = records(&bad);
        assert_eq!(records.len(), 2);
        assert_eq!(told[..2], ["field 2: \"x\" is not a number", "3 fields, and the format has 18"]);
        let mut diagnostics = Diagnostics::default();
        assert!(read(b"; nothing\n", &mut diagnostics).is_err() && read(b"a b\n", &mut diagnostics).is_err());
    }
}

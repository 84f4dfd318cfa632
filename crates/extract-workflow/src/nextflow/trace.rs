//! `trace.txt`: a table of tasks, humanised (`52.5 GB`, `1h 9m`) or raw (bytes, milliseconds), with
//! columns that the user chose.
//!
//! Values are converted by column: a bare number is milliseconds for a duration, bytes for a size,
//! and milliseconds since 1970 for a date. Humanised numbers have only two or three significant
//! digits. The columns `script` and `env` may contain newlines.

use std::collections::HashSet;
use std::io::{self, BufRead};

use chrono::{Datelike, NaiveDateTime};
use flowmine_schema::diagnostic::{Diagnostic, Diagnostics};
use flowmine_schema::text;

use super::clock::Resolved;
use super::names::{hash_of_dir, is_hash, process_and_tag};
use super::trace_times::{Times, WithPrecision, span};
use crate::{Row, input, units};

/// Columns that only Nextflow's trace file has. A trace file has one of them and one of `status`,
/// `exit`, `name`, `process`.
const KEYS: [&str; 3] = ["task_id", "hash", "native_id"];
/// Maximum size of a record in bytes; a longer one is interpreted as an error.
const LONGEST_RECORD: usize = 1 << 18;
/// Status of a task with a result from an earlier run.
const CACHED: &str = "CACHED";

/// Plausible years. Within them, the sum of a time and a [`span`] is also a time.
const YEARS: std::ops::Range<i32> = 1970..2100;
/// The end of these years, in nanoseconds since 1970.
const LATEST_NS: i64 = 4_102_444_800_000_000_000;

/// A time in a trace file: UTC or local.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Written {
    /// A time in UTC, in nanoseconds since 1970.
    Utc(i64),
    /// A time by the clock of the machine on which Nextflow ran.
    Local(NaiveDateTime),
}

impl Written {
    fn read(text: &str) -> Option<Self> {
        if let Ok(ms) = text.parse::<i64>() {
            return ms.checked_mul(1_000_000).filter(|ns| (1..LATEST_NS).contains(ns)).map(Self::Utc);
        }
        let local = NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S%.f").ok()?;
        YEARS.contains(&local.year()).then_some(Self::Local(local))
    }

    fn utc(self, clock: &Resolved) -> Option<(i64, i64)> {
        match self {
            Self::Utc(ns) => Some((ns, 1_000_000)),
            Self::Local(local) => clock.local_to_utc(local),
        }
    }
}

/// A row of a trace file; its times are converted once the zone is known.
#[derive(Debug, Default)]
pub struct Record {
    /// All columns except run and times. The name is empty where no column has it.
    pub row: Row,
    pub submit: Option<Written>,
    start: Option<Written>,
    complete: Option<Written>,
    duration: Option<WithPrecision>,
    realtime: Option<WithPrecision>,
}

impl Record {
    /// Whether some of its times are local, so that the zone is needed.
    pub fn needs_zone(&self) -> bool {
        [self.submit, self.start, self.complete].iter().any(|told| matches!(told, Some(Written::Local(_))))
    }

    /// Returns the time of its submission, else that of its start or end, by the local clock.
    pub fn local(&self) -> Option<NaiveDateTime> {
        [self.submit, self.start, self.complete].into_iter().flatten().find_map(|told| match told {
            Written::Local(local) => Some(local),
            Written::Utc(_) => None,
        })
    }

    /// Returns the same time in UTC, in nanoseconds since 1970.
    pub fn utc(&self) -> Option<i64> {
        [self.submit, self.start, self.complete].into_iter().flatten().find_map(|told| match told {
            Written::Utc(ns) => Some(ns),
            Written::Local(_) => None,
        })
    }

    /// Returns the known part of the hash.
    pub fn hash(&self) -> Option<&str> {
        self.row.work_dir.as_deref().and_then(hash_of_dir).or(self.row.cache_key.as_deref())
    }

    /// Returns values that identify the attempt within the file; `None` where two attempts can
    /// share them. The times of a cached task belong to an earlier run.
    pub fn key(&self) -> Option<[Option<String>; 9]> {
        let row = &self.row;
        let text = |text: &Option<std::borrow::Cow<'static, str>>| text.as_deref().map(str::to_owned);
        let time = |time: Option<Written>| time.map(|time| format!("{time:?}"));
        let is_one =
            if row.cached { row.task_id.is_some() } else { row.native_id.is_some() || row.task_id.is_some() || self.submit.is_some() };
        let key = [
            self.hash().map(str::to_owned),
            text(&row.task_id),
            text(&row.native_id),
            Some(row.name.to_string()),
            Some(row.status.to_string()),
            row.attempt.map(|attempt| attempt.to_string()),
            time(self.submit),
            time(self.start),
            time(self.complete),
        ];
        (is_one && key[0].is_some()).then_some(key)
    }

    /// Converts the record to a row with times in UTC.
    pub fn finish(mut self, clock: &Resolved) -> Row {
        let utc = |told: Option<Written>| told.and_then(|told| told.utc(clock));
        let row = &mut self.row;
        let counted = [row.peak_rss_bytes, row.peak_vmem_bytes, row.rchar_bytes, row.wchar_bytes, row.read_bytes, row.write_bytes];
        let times = Times {
            submit: utc(self.submit),
            start: utc(self.start),
            complete: utc(self.complete),
            duration: self.duration,
            realtime: self.realtime,
            measured: row.cpu_percent.is_some() || counted.iter().any(Option::is_some),
        };
        times.put(row);
        self.row
    }
}

/// Returns the separator of the columns in a header; `None` when it is not that of a trace file.
pub fn separator(header: &str) -> Option<char> {
    ['\t', ',', ';', '|'].into_iter().find(|separator| {
        let columns: Vec<&str> = header.trim_start_matches('\u{feff}').split(*separator).map(str::trim).collect();
        let has = |names: &[&str]| columns.iter().any(|column| names.contains(column));
        has(&KEYS) && has(&["status", "exit", "name", "process"])
    })
}

/// Whether a text begins as a trace file does: with its header and, if that has a hash and the
/// first row is complete, with one of Nextflow's hashes. Other tables have names and hashes too.
pub fn is_one(head: &str) -> bool {
    let mut lines = head.lines();
    let Some((header, separator)) = lines.next().and_then(|header| Some((header, separator(header)?))) else { return false };
    let columns: Vec<&str> = header.trim_start_matches('\u{feff}').split(separator).map(str::trim).collect();
    let row = lines.find(|line| *line != header).unwrap_or_default();
    let fields: Vec<&str> = row.split(separator).map(str::trim).collect();
    let hash = columns.iter().position(|column| *column == "hash").filter(|_| fields.len() == columns.len()).map(|at| fields[at]);
    hash.is_none_or(|hash| matches!(hash, "" | "-" | "null") || is_hash(hash))
}

/// Reads a trace file (`-with-trace`).
///
/// # Errors
/// When reading fails.
pub fn read(reader: impl BufRead, diagnostics: &mut Diagnostics) -> io::Result<Vec<Record>> {
    let mut lines = input::lines(reader);
    let header = match lines.next()? {
        Some((_, header)) => text::decode(header).into_owned(),
        None => return Ok(Vec::new()),
    };
    let Some(separator) = separator(&header) else { return Ok(Vec::new()) };
    let columns: Vec<&str> = header.trim_start_matches('\u{feff}').split(separator).map(str::trim).collect();
    let many_lines = columns.iter().any(|column| matches!(*column, "script" | "env"));
    let last_is_text = columns.last().is_some_and(|column| matches!(*column, "script" | "env"));
    let mut records = Vec::new();
    let mut record = String::new();
    let mut begin = 0;
    let mut cached: HashSet<String> = HashSet::new();
    let mut again: Option<(u64, u64)> = None;
    let mut finish = |record: &mut String, line: u64, diagnostics: &mut Diagnostics| {
        // The trace file of a resumed run can contain the line of a cached task several times.
        if record.contains(CACHED) && !cached.insert(record.clone()) {
            let (_, count) = again.get_or_insert((line, 0));
            *count += 1;
            record.clear();
        }
        if !record.is_empty() {
            let fields: Vec<&str> = record.split(separator).collect();
            if fields.len() == columns.len() {
                records.push(decode(columns.iter().copied().zip(fields), line, diagnostics));
            } else {
                let message = format!("there are {} columns and {} fields", columns.len(), fields.len());
                diagnostics.push(Diagnostic::error("trace_row_bad", message).at(line, None));
            }
            record.clear();
        }
        input::not_too_many(records.len())
    };
    while let Some((number, line)) = input::next_line(&mut lines, diagnostics)? {
        let line = text::decode(line);
        let fields = record.matches(separator).count() + 1;
        let goes_on = many_lines && !record.is_empty() && record.len() < LONGEST_RECORD && {
            let with_this = fields + line.matches(separator).count();
            with_this <= columns.len() && (fields < columns.len() || last_is_text && !line.contains(separator))
        };
        if goes_on {
            record.push('\n');
            record.push_str(&line);
        } else {
            finish(&mut record, begin, diagnostics)?;
            if line != header {
                record.push_str(&line);
                begin = number;
            }
        }
    }
    let fields = record.matches(separator).count() + 1;
    if !lines.whole && !record.is_empty() && fields < columns.len() {
        record.clear();
        let message = "the file ends within this row, which is left out; the rows that follow it are missing";
        diagnostics.push(Diagnostic::warning("last_line_cut", message).at(begin, None));
    } else if !lines.whole && fields == columns.len() {
        // A truncated number can look like a complete one.
        record.truncate(record.rfind(separator).map_or(0, |at| at + separator.len_utf8()));
        let message = "the file ends within this row, whose last value is left out; the rows that follow it are missing";
        diagnostics.push(Diagnostic::warning("last_line_cut", message).at(begin, None));
    }
    finish(&mut record, begin, diagnostics)?;
    if let Some((line, count)) = again {
        let message = "the line of a cached task is repeated, this one first; it is one task";
        diagnostics.push(Diagnostic { count, ..Diagnostic::warning("trace_row_again", message).at(line, None) });
    }
    Ok(records)
}

/// Converts the columns of a row with their values.
pub fn decode<'a>(fields: impl Iterator<Item = (&'a str, &'a str)>, line: u64, diagnostics: &mut Diagnostics) -> Record {
    let mut out = Record::default();
    let mut process_told = None;
    let mut at = 1;
    for (column, field) in fields {
        let place = at;
        at += field.len() as u64 + 1;
        let value = field.trim();
        // A report contains 0 for an event that was never noticed, since the task ended before.
        let no_time = value == "0" && matches!(column, "submit" | "start" | "complete");
        if value.is_empty() || value == "-" || value == "null" || no_time {
            continue;
        }
        if column == "process" {
            process_told = Some(value);
        } else if !set(&mut out, column, value) {
            let message = format!(
                "{} is no value of the column {column}; it is left out",
                text::visible(&value.chars().take(40).collect::<String>())
            );
            diagnostics.push(Diagnostic::warning("trace_value_bad", message).at(line, Some(place)));
        }
    }
    let row = &mut out.row;
    if row.name.is_empty()
        && let Some(process) = process_told
    {
        row.name = row.tag.as_ref().map_or(process.to_owned(), |tag| format!("{process} ({tag})")).into();
    }
    let (process, tag) = process_and_tag(&row.name);
    let (process, tag) = (process_told.unwrap_or(process).to_owned(), tag.map(str::to_owned));
    row.logical_task = process.into();
    row.tag = row.tag.take().or(tag.map(Into::into));
    row.engine = super::NAME.into();
    row.line = Some(line as i64);
    if row.status.is_empty() {
        row.status = match row.exit_code {
            Some(0) => "completed",
            Some(_) => "failed",
            None => "unknown",
        }
        .into();
    }
    row.cached = row.status == "cached";
    out
}

/// Sets the value of a column; `false` when the value does not fit the column.
fn set(out: &mut Record, column: &str, value: &str) -> bool {
    let Record { row, submit, start, complete, duration, realtime } = out;
    let text = || Some(value.to_owned().into());
    let whole = || value.parse::<i64>().ok();
    let raw = || value.parse::<i64>().ok().map(|ms| ms as f64 / 1e3);
    let seconds = || raw().or_else(|| units::duration_s(value));
    let as_span = || span(seconds()?, raw().is_some());
    macro_rules! put {
        ($place:expr, $value:expr) => {{
            let read = $value;
            $place = read;
            $place.is_some()
        }};
    }
    match column {
        "task_id" => put!(row.task_id, text()),
        "hash" => put!(row.cache_key, text()),
        "native_id" => put!(row.native_id, text()),
        "name" => {
            row.name = value.to_owned().into();
            true
        }
        "tag" => put!(row.tag, text()),
        "container" => put!(row.container_image, text()),
        "status" => {
            row.status = match value {
                "COMPLETED" | "FAILED" | "ABORTED" | "CACHED" | "RUNNING" | "SUBMITTED" => value.to_lowercase(),
                _ => "unknown".to_owned(),
            }
            .into();
            row.status != "unknown"
        }
        "exit" => put!(row.exit_code, whole()),
        "submit" => put!(*submit, Written::read(value)),
        "start" => put!(*start, Written::read(value)),
        "complete" => put!(*complete, Written::read(value)),
        "duration" => {
            *duration = as_span();
            put!(row.duration_s, seconds().filter(|_| duration.is_some()))
        }
        "realtime" => {
            *realtime = as_span();
            put!(row.realtime_s, seconds().filter(|_| realtime.is_some()))
        }
        "%cpu" => put!(row.cpu_percent, units::percent(value)),
        "peak_rss" => put!(row.peak_rss_bytes, units::bytes(value)),
        "peak_vmem" => put!(row.peak_vmem_bytes, units::bytes(value)),
        "rchar" => put!(row.rchar_bytes, units::bytes(value)),
        "wchar" => put!(row.wchar_bytes, units::bytes(value)),
        "read_bytes" => put!(row.read_bytes, units::bytes(value)),
        "write_bytes" => put!(row.write_bytes, units::bytes(value)),
        "attempt" => put!(row.attempt, whole().filter(|number| *number > 0)),
        "workdir" => put!(row.work_dir, text()),
        "script" => put!(row.command, text()),
        "queue" => put!(row.queue, text()),
        "cpus" => put!(row.cpus, whole().filter(|number| *number >= 0)),
        "memory" => put!(row.memory_bytes, units::bytes(value)),
        "disk" => put!(row.disk_bytes, units::bytes(value)),
        "time" => put!(row.time_s, seconds().filter(|_| as_span().is_some())),
        "hostname" => put!(row.host, text()),
        _ => true,
    }
}

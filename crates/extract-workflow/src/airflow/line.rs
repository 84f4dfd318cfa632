//! A line of an Airflow log, in any form that its versions write.
//!
//! ```text
//! {"timestamp":"2026-11-22T06:13:13.894758Z","level":"info","event":"text","logger":"task",…}                3, task logs
//! 2026-11-22T06:13:07.243108Z [info     ] text [airflow.jobs.scheduler_job_runner.SchedulerJobRunner] …      3, scheduler
//! [2024-05-01T12:00:00.123+0000] {taskinstance.py:1157} INFO - text                                          2.3 and later
//! [2022-03-01, 00:12:17 UTC] {taskinstance.py:1032} INFO - text                                              2.2, task logs
//! [2021-03-01 00:12:17,123] {scheduler_job.py:1032} INFO - text                                              before, without zone
//! ```

use chrono::{DateTime, NaiveDateTime};
use flowmine_schema::time::SECOND_NS;

use super::attempt::Key;
use crate::{Options, json};

/// Largest offset of a zone from UTC, in nanoseconds.
const ANY_ZONE_NS: i64 = 14 * 3600 * SECOND_NS;

/// A parsed line of an Airflow log.
#[derive(Debug)]
pub struct Line {
    /// Time at which it was written, in nanoseconds, and its precision.
    pub time: Option<(i64, i64)>,
    /// The message; in text of Airflow 3 with the text after it.
    pub text: String,
    /// The logger (JSON), the source file (Airflow 2), or nothing.
    pub from: String,
    /// Key of the attempt, where the line contains it.
    pub key: Option<Key>,
    /// The last exception, where the line contains one.
    pub error: Option<String>,
    /// Whether the zone of its time had to be assumed.
    pub without_zone: bool,
}

impl Line {
    /// Parses a line; `None` for the continuation of the line before, a banner, or a broken line.
    pub fn read(text: &str, options: &Options) -> Option<Self> {
        match text.as_bytes().first()? {
            b'{' => Self::of_json(text),
            b'[' => Self::of_two(text, options),
            _ => Self::of_three(text),
        }
    }

    /// Whether the scheduler or its executor wrote the line, and not a task.
    pub fn is_of_scheduler(&self) -> bool {
        ["airflow.jobs.", "airflow.executors.", "scheduler_job", "base_executor.py", "celery_executor.py", "kubernetes_executor.py"]
            .iter()
            .any(|from| self.from.starts_with(from))
    }

    fn of_json(text: &str) -> Option<Self> {
        let line = json::from_str(text).ok()?;
        let time = line["timestamp"].as_str().and_then(|time| DateTime::parse_from_rfc3339(time).ok()?.timestamp_nanos_opt());
        let word = |name: &str| line[name].as_str().map(str::to_owned);
        let key = || {
            let attempt = line["try_number"].as_i64().filter(|attempt| *attempt > 0);
            let map_index = line["map_index"].as_i64().unwrap_or(-1);
            attempt?;
            Some(Key { dag: word("dag_id")?, run: word("run_id")?, task: word("task_id")?, map_index, attempt })
        };
        let last = line["error_detail"].as_array().and_then(|errors| errors.first());
        let error = last.map(|error| {
            let what = error["exc_type"].as_str().unwrap_or_default();
            error["exc_value"].as_str().filter(|why| !why.is_empty()).map_or(what.to_owned(), |why| format!("{what}: {why}"))
        });
        Some(Self {
            time: time.map(|ns| (ns, 1000)),
            text: word("event")?,
            from: word("logger").unwrap_or_default(),
            key: key(),
            error,
            without_zone: false,
        })
    }

    fn of_three(text: &str) -> Option<Self> {
        // A scheduler with the LocalExecutor also prints the tasks' lines, which have a blank in
        // the place of `T`.
        let (time, rest) = text.split_once(" [").filter(|(time, _)| (20..=35).contains(&time.len()) && time.as_bytes()[10] == b'T')?;
        let ns = DateTime::parse_from_rfc3339(time).ok()?.timestamp_nanos_opt()?;
        let (_, text) = rest.split_once("] ")?;
        let from = text.rmatch_indices(" [airflow.").next().map(|(at, _)| text[at + 2..].split(']').next().unwrap_or_default());
        let (text, from) = (text.trim().to_owned(), from.unwrap_or_default().to_owned());
        Some(Self { time: Some((ns, 1000)), text, from, key: None, error: None, without_zone: false })
    }

    fn of_two(text: &str, options: &Options) -> Option<Self> {
        let (time, rest) = text.strip_prefix('[')?.split_once("] {")?;
        let (from, rest) = rest.split_once("} ")?;
        let (_, text) = rest.split_once(" - ")?;
        let (ns, precision, without_zone) = time_of_two(time, options)?;
        let from = from.split(':').next().unwrap_or_default().to_owned();
        Some(Self { time: Some((ns, precision)), text: text.to_owned(), from, key: None, error: None, without_zone })
    }
}

fn time_of_two(text: &str, options: &Options) -> Option<(i64, i64, bool)> {
    if let Ok(time) = DateTime::parse_from_str(text, "%Y-%m-%dT%H:%M:%S%.f%z") {
        return Some((time.timestamp_nanos_opt()?, SECOND_NS / 1000, false));
    }
    let (naive, precision, utc) = if let Some((time, zone)) = text.rsplit_once(' ').filter(|(time, _)| time.contains(", ")) {
        (NaiveDateTime::parse_from_str(time, "%Y-%m-%d, %H:%M:%S").ok()?, SECOND_NS, zone == "UTC")
    } else {
        (NaiveDateTime::parse_from_str(&text.replacen(',', ".", 1), "%Y-%m-%d %H:%M:%S%.f").ok()?, SECOND_NS / 1000, false)
    };
    let ns = naive.and_utc().timestamp_nanos_opt()?;
    if utc {
        return Some((ns, precision, false));
    }
    let offset = options.zone_offset_s.unwrap_or(0);
    let assumed = options.zone_offset_s.is_none();
    Some((ns.checked_sub(offset.checked_mul(SECOND_NS)?)?, precision + if assumed { ANY_ZONE_NS } else { 0 }, assumed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms() {
        let options = Options { zone_offset_s: Some(3600), year: None };
        for (line, ns, from, text) in [
            (r#"{"timestamp":"1970-01-01T00:00:01.5Z","event":"it ran","logger":"task"}"#, 1_500_000_000, "task", "it ran"),
            (
                "1970-01-01T00:00:01.000001Z [info     ] 2 ready   [airflow.jobs.a.B] loc=a.py:1",
                1_000_001_000,
                "airflow.jobs.a.B",
                "2 ready   [airflow.jobs.a.B] loc=a.py:1",
            ),
            ("[1970-01-01T01:00:01.123+0100] {local.py:20} INFO - a - b", 1_123_000_000, "local.py", "a - b"),
            ("[1970-01-01, 00:00:02 UTC] {local.py:20} INFO - a", 2_000_000_000, "local.py", "a"),
            ("[1970-01-01 01:00:02,250] {local.py:20} INFO - a", 2_250_000_000, "local.py", "a"),
        ] {
            let read = Line::read(line, &options).unwrap();
            assert_eq!((read.time.unwrap().0, read.from.as_str(), read.text.as_str()), (ns, from, text), "{line}");
        }
        let assumed = Line::read("[1970-01-01 01:00:02,250] {local.py:20} INFO - a", &Options::default()).unwrap();
        assert_eq!((assumed.time, assumed.without_zone), (Some((3_602_250_000_000, ANY_ZONE_NS + 1_000_000)), true));
        for none in
            ["", "    at x", "{", "[x] {y} z", "2026-11-22 06:13:07.446989+00:00 [info     ] of a task [task]", "2026-11-22T [", "{}"]
        {
            assert!(Line::read(none, &options).is_none(), "{none}");
        }
    }
}

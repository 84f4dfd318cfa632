//! What a dataset's tasks are, in numbers, as their engines report them: also of tasks of which no
//! time is known, which no event log has.
//!
//! In go attempts at tasks; out comes a [`TaskSummary`], which serialises as it is and has a text
//! for terminals with names made harmless.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use flowmine_schema::tables::TaskRun;
use flowmine_schema::text::visible;
use flowmine_schema::time;
use schemars::JsonSchema;
use serde::Serialize;

use crate::summary::human_bytes;
use crate::task_log::run_names::run_name;
use crate::task_log::{self, TaskLogError, Tasks};

/// The numbers of a dataset's tasks.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct TaskSummary {
    /// Number of attempts at tasks.
    pub attempts: u64,
    /// Runs whose engine names them.
    pub runs: u64,
    /// Number of attempts by the engine's name.
    pub engines: BTreeMap<String, u64>,
    /// Attempts by status, in the words of `task_runs.status`.
    pub statuses: BTreeMap<String, u64>,
    /// Attempts of which no time is known: they are in no event log.
    pub without_time: u64,
    /// The first time of any attempt, UTC.
    pub first: Option<String>,
    /// The last time of any attempt, UTC.
    pub last: Option<String>,
    /// The logical tasks, by name.
    pub logical_tasks: BTreeMap<String, LogicalTask>,
}

/// A process, rule or operator: the attempts at its instances.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct LogicalTask {
    /// Number of attempts at its instances.
    pub attempts: u64,
    /// Number of attempts that failed.
    pub failed: u64,
    /// Those that were ended by the engine or the user.
    pub aborted: u64,
    /// Those that did not run, since an earlier result was taken.
    pub cached: u64,
    /// Those that were second or later attempts at the same task, as far as attempts are numbered.
    pub retried: u64,
    /// Seconds from start to end, of the attempts of which the engine reports that or both times.
    pub run_time_s: Numbers,
    /// Number of CPUs asked for by an attempt.
    pub cpus: Numbers,
    /// Memory asked for, in bytes.
    pub memory_bytes: Numbers,
    /// Largest resident memory, in bytes.
    pub peak_rss_bytes: Numbers,
}

/// What is known of a number of several attempts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Numbers {
    /// Of how many attempts it is known.
    pub known: u64,
    /// The median; null when it is known of none.
    pub median: Option<f64>,
    /// The largest of the numbers; null when none is known.
    pub max: Option<f64>,
    /// Sum of the numbers that are known.
    pub sum: f64,
    #[serde(skip)]
    values: Vec<f64>,
}

impl Numbers {
    fn add(&mut self, value: Option<f64>) {
        self.values.extend(value.filter(|value| value.is_finite()));
    }

    fn finish(&mut self) {
        let mut values = std::mem::take(&mut self.values);
        values.sort_by(f64::total_cmp);
        self.known = values.len() as u64;
        self.sum = values.iter().sum();
        self.max = values.last().copied();
        self.median = match values.len() {
            0 => None,
            n if n % 2 == 1 => Some(values[n / 2]),
            n => Some((values[n / 2 - 1] + values[n / 2]) / 2.0),
        };
    }
}

/// Seconds from start to end, as the engine says or as its times do; `None` of a cached task, which
/// did not run.
pub fn run_time_s(row: &TaskRun<'_>) -> Option<f64> {
    let between = || row.started_ns.zip(row.finished_ns).filter(|(start, end)| start <= end).map(|(start, end)| (end - start) as f64 / 1e9);
    row.realtime_s.or_else(between).filter(|_| !row.cached)
}

impl TaskSummary {
    /// Counts the tasks of a dataset.
    ///
    /// # Errors
    /// When the dataset cannot be read.
    pub fn new(from: &Tasks<'_>) -> Result<Self, TaskLogError> {
        let mut summary = Self::default();
        let mut runs = BTreeSet::new();
        let mut range: Option<(i64, i64)> = None;
        task_log::for_each(from, |row| {
            let times = || task_log::times(row);
            summary.attempts += 1;
            *summary.engines.entry(row.engine.to_string()).or_default() += 1;
            *summary.statuses.entry(row.status.to_string()).or_default() += 1;
            runs.extend(run_name(row));
            summary.without_time += u64::from(times().next().is_none());
            for ns in times() {
                range = Some(range.map_or((ns, ns), |(first, last)| (first.min(ns), last.max(ns))));
            }
            let of = summary.logical_tasks.entry(row.logical_task.to_string()).or_default();
            of.attempts += 1;
            of.failed += u64::from(row.status == "failed");
            of.aborted += u64::from(row.status == "aborted");
            of.cached += u64::from(row.cached);
            of.retried += u64::from(row.attempt.is_some_and(|attempt| attempt > 1));
            of.run_time_s.add(run_time_s(row));
            of.cpus.add(row.cpus.map(|cpus| cpus as f64));
            of.memory_bytes.add(row.memory_bytes.map(|bytes| bytes as f64));
            of.peak_rss_bytes.add(row.peak_rss_bytes.map(|bytes| bytes as f64));
        })?;
        summary.runs = runs.len() as u64;
        (summary.first, summary.last) = range.map(|(first, last)| (time::rfc3339(first), time::rfc3339(last))).unzip();
        for of in summary.logical_tasks.values_mut() {
            for numbers in [&mut of.run_time_s, &mut of.cpus, &mut of.memory_bytes, &mut of.peak_rss_bytes] {
                numbers.finish();
            }
        }
        Ok(summary)
    }

    /// For a terminal: one line a number, then a table of logical tasks, those that ran longest
    /// first. Ends with a newline.
    pub fn text(&self) -> String {
        let list = |counts: &BTreeMap<String, u64>| {
            counts.iter().map(|(name, count)| format!("{count} {}", visible(name))).collect::<Vec<_>>().join(", ")
        };
        let mut rows = vec![
            ("Attempts at tasks".to_owned(), list(&self.engines)),
            ("Runs of workflow engines".to_owned(), self.runs.to_string()),
            ("Logical tasks".to_owned(), self.logical_tasks.len().to_string()),
            ("Status".to_owned(), list(&self.statuses)),
        ];
        if let (Some(first), Some(last)) = (&self.first, &self.last) {
            rows.push(("First time of a task".to_owned(), first.clone()));
            rows.push(("Last time of a task".to_owned(), last.clone()));
        }
        if self.without_time > 0 {
            rows.push(("Without a known time".to_owned(), format!("{} (in no event log)", self.without_time)));
        }
        let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        let mut out = String::new();
        for (name, value) in rows {
            // Writing to a string does not fail.
            let _ = writeln!(out, "{name:<width$}  {value}");
        }
        out.push('\n');
        out.push_str(&self.table());
        out
    }

    fn table(&self) -> String {
        let mut of: Vec<_> = self.logical_tasks.iter().collect();
        of.sort_by(|(a, x), (b, y)| y.run_time_s.sum.total_cmp(&x.run_time_s.sum).then(y.attempts.cmp(&x.attempts)).then(a.cmp(b)));
        let left_out = of.len().saturating_sub(MOST_LINES);
        of.truncate(MOST_LINES);
        let bytes = |numbers: &Numbers| numbers.max.map_or_else(String::new, human_bytes);
        let count = |count: u64| if count == 0 { String::new() } else { count.to_string() };
        let lines = of.iter().map(|(name, of)| {
            [
                visible(name).chars().take(MOST_NAME).collect::<String>(),
                of.attempts.to_string(),
                count(of.failed),
                count(of.retried),
                count(of.cached),
                count(of.aborted),
                of.run_time_s.median.map_or_else(String::new, seconds),
                of.run_time_s.max.map_or_else(String::new, seconds),
                bytes(&of.memory_bytes),
                bytes(&of.peak_rss_bytes),
            ]
        });
        let names =
            ["logical task", "attempts", "failed", "retried", "cached", "aborted", "median time", "longest", "memory asked", "memory used"];
        let lines: Vec<[String; 10]> = std::iter::once(names.map(str::to_owned)).chain(lines).collect();
        // A column of which nothing is known is left out.
        let shown: Vec<usize> = (0..names.len()).filter(|&at| lines[1..].iter().any(|line| !line[at].is_empty())).collect();
        let width = |at: usize| lines.iter().map(|line| line[at].chars().count()).max().unwrap_or(0);
        let mut out = String::new();
        for line in &lines {
            for &at in &shown {
                let (cell, width) = (&line[at], width(at));
                let _ = if at == 0 { write!(out, "{cell:<width$}") } else { write!(out, "  {cell:>width$}") };
            }
            out.push('\n');
        }
        if left_out > 0 {
            let _ = writeln!(out, "and {left_out} more, in summary.json");
        }
        out
    }
}

/// How many logical tasks the text shows.
const MOST_LINES: usize = 30;

/// How many characters of a name it shows.
const MOST_NAME: usize = 60;

/// A length of time for people: `0.25 s`, `3 min 20 s`, `2 h 05 min`.
fn seconds(s: f64) -> String {
    match s {
        s if s < 9.995 => format!("{s:.2} s"),
        s if s < 99.95 => format!("{s:.1} s"),
        s if s < 3600.0 => format!("{} min {:02} s", s as u64 / 60, s as u64 % 60),
        s => format!("{} h {:02} min", s as u64 / 3600, s as u64 % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_several_attempts() {
        let mut numbers = Numbers::default();
        [Some(4.0), None, Some(1.0), Some(f64::NAN), Some(2.0), Some(8.0)].into_iter().for_each(|value| numbers.add(value));
        numbers.finish();
        assert_eq!((numbers.known, numbers.median, numbers.max, numbers.sum), (4, Some(3.0), Some(8.0), 15.0));
        let mut none = Numbers::default();
        none.finish();
        assert_eq!((none.known, none.median, none.max), (0, None, None));
    }

    #[test]
    fn lengths_of_time() {
        let shown = [0.25, 9.994, 42.0, 99.96, 3599.0, 7500.0].map(seconds);
        assert_eq!(shown, ["0.25 s", "9.99 s", "42.0 s", "1 min 39 s", "59 min 59 s", "2 h 05 min"]);
    }
}

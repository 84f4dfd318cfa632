//! The transactions log: lines in, attempts at tasks out.
//!
//! ```text
//! # time manager_pid TASK task_id WAITING category_name (FIRST_RESOURCES|MAX_RESOURCES) attempt_number {resources_requested}
//! 1742250321362810 318561 MANAGER 318561 START 0                                microseconds since 1970
//! 1742250321494673 318561 TASK 1 READY sort FIRST_RESOURCES 1 {"cores":[2,"cores"]}   WAITING until 7.4
//! 1742250321494999 318561 TASK 1 RUNNING worker-6126 FIRST_RESOURCES {"cores":[2,"cores"]}
//! 1742250321496999 318561 TASK 1 RETRIEVED SUCCESS 0 {} {"wall_time":[17.3,"s"]}
//! 1742250321497000 318561 TASK 1 DONE SUCCESS 0
//! ```
//!
//! A task that loses its worker, or has exhausted its resources, becomes ready again: this begins
//! another attempt.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, BufRead};

use flowmine_schema::diagnostic::{Diagnostic, Diagnostics};
use flowmine_schema::text;
use serde_json::Value;

use super::NAME;
use crate::{Row, input};

/// Precision of the manager's times: lines have microseconds.
const LINE_NS: i64 = 1000;
/// TaskVine's MB, in bytes.
const MEGABYTE: f64 = 1_048_576.0;

/// Logical task of the libraries; a library serves function calls on a worker.
const LIBRARY: &str = "library";

/// Whether a file begins as a transactions log does.
pub fn is_first_line(head: &str) -> bool {
    head.starts_with("# time manager_pid MANAGER manager_pid ")
}

/// Reads a log. Errors in a line are in `diagnostics`.
///
/// # Errors
/// When reading fails, or there are too many tasks.
pub fn read(reader: impl BufRead, run_name: &str, diagnostics: &mut Diagnostics) -> io::Result<Vec<Row>> {
    let mut lines = input::lines(reader);
    let mut log = Log { run_name: run_name.to_owned(), ..Log::default() };
    while let Some((number, line)) = input::next_line(&mut lines, diagnostics)? {
        input::not_too_many(log.rows.len() + log.hosts.len())?;
        if log.repeated > input::MOST_REPEATED {
            return Err(input::too_large(format!("line {number}: the names of hosts and categories are too long for so many attempts")));
        }
        let line = text::decode(line);
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if log.see(line, number).is_none() {
            let shown: String = line.chars().take(60).collect();
            let message = format!("{shown:?} is no line of a transactions log");
            diagnostics.push(Diagnostic::error("line_bad", message).at(number, Some(1)));
        }
    }
    log.finish();
    Ok(log.rows)
}

#[derive(Default)]
struct Log {
    run_name: String,
    /// Start of the manager, as the log writes it.
    run_id: Option<String>,
    rows: Vec<Row>,
    /// Index of the last attempt of each task in the run, and its number.
    last: BTreeMap<String, (usize, i64)>,
    /// Hosts of the workers.
    hosts: HashMap<String, String>,
    /// Size of the names in rows whose lines do not contain them, in bytes.
    repeated: usize,
    /// Whether the log contains the end of the last run.
    has_ended: bool,
}

impl Log {
    /// Reads a line; `None` where it cannot be parsed.
    fn see(&mut self, line: &str, number: u64) -> Option<()> {
        let mut words = line.split_whitespace();
        let microseconds = words.next()?.parse::<i64>().ok().filter(|time| *time > 0)?;
        let ns = microseconds.checked_mul(1000)?;
        words.next()?.parse::<u64>().ok()?;
        match words.next()? {
            "MANAGER" => {
                let event = words.nth(1)?;
                if event == "START" {
                    self.finish();
                    self.run_id = Some(microseconds.to_string());
                    self.has_ended = false;
                }
                self.has_ended |= event == "END";
            }
            "WORKER" => {
                let (worker, event) = (words.next()?, words.next()?);
                if event == "CONNECTION" {
                    let address = words.next()?;
                    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
                    self.hosts.insert(worker.to_owned(), host.to_owned());
                }
            }
            "TASK" => {
                let (task, state) = (words.next()?, words.next()?);
                task.parse::<u64>().ok()?;
                let rest: Vec<&str> = words.take_while(|word| !word.starts_with('{')).collect();
                self.task(task, state, &rest, &objects(line), (ns, number))?;
            }
            // These lines do not concern tasks.
            "CATEGORY" | "LIBRARY" | "APPLICATION" | "DUPLICATE" => {}
            _ => return None,
        }
        Some(())
    }

    fn task(&mut self, task: &str, state: &str, words: &[&str], objects: &[Value], (ns, line): (i64, u64)) -> Option<()> {
        let known = self.last.get(task).copied();
        match state {
            "READY" | "WAITING" | "INITIAL" => {
                let category = words.first().copied();
                if state == "INITIAL" {
                    return Some(());
                }
                if let Some((at, _)) = known.filter(|(at, _)| self.rows[*at].submitted_ns.is_none()) {
                    self.rows[at].queued_ns.get_or_insert(ns);
                    return Some(());
                }
                if let Some((at, _)) = known {
                    abort(&mut self.rows[at], ns);
                }
                let attempt = known.map_or(1, |(_, attempt)| attempt + 1);
                let category = category.or_else(|| known.map(|(at, _)| &*self.rows[at].logical_task)).unwrap_or("default").to_owned();
                // The row has it twice.
                self.repeated += 2 * category.len();
                let row = self.row(task, &category, attempt, ns, line);
                self.last.insert(task.to_owned(), (self.rows.len(), attempt));
                self.rows.push(row);
                ask(self.rows.last_mut()?, objects.last());
            }
            "RUNNING" => {
                let at = match known {
                    Some((at, _)) => at,
                    // A library is sent to a worker without having been ready.
                    None => {
                        let mut row = self.row(task, LIBRARY, 1, ns, line);
                        (row.queued_ns, row.queued_precision_ns) = (None, None);
                        self.last.insert(task.to_owned(), (self.rows.len(), 1));
                        self.rows.push(row);
                        self.rows.len() - 1
                    }
                };
                let host = words.first().and_then(|worker| self.hosts.get(*worker)).cloned();
                self.repeated += host.as_ref().map_or(0, String::len);
                let row = &mut self.rows[at];
                (row.submitted_ns, row.submitted_precision_ns) = (Some(ns), Some(LINE_NS));
                row.host = host.map(Into::into);
                row.status = "running".into();
                ask(row, objects.last());
            }
            "WAITING_RETRIEVAL" => {
                let (at, _) = known?;
                (self.rows[at].finished_ns, self.rows[at].finished_precision_ns) = (Some(ns), Some(LINE_NS));
            }
            "RETRIEVED" | "DONE" => {
                let (at, _) = known?;
                let row = &mut self.rows[at];
                end(row, words.first().copied().unwrap_or("UNKNOWN"), words.get(1).and_then(|code| code.parse().ok()), ns);
                if state == "RETRIEVED" || objects.len() > 1 {
                    measured(row, objects.last());
                }
            }
            "CANCELED" => {
                let (at, _) = known?;
                abort(&mut self.rows[at], ns);
            }
            _ => return None,
        }
        Some(())
    }

    fn row(&self, task: &str, category: &str, attempt: i64, ns: i64, line: u64) -> Row {
        Row {
            engine: NAME.into(),
            run_id: self.run_id.clone().map(Into::into),
            run_name: Some(self.run_name.clone().into()),
            task_id: Some(task.to_owned().into()),
            attempt: Some(attempt),
            name: format!("{category} {task}").into(),
            logical_task: category.to_owned().into(),
            queued_ns: Some(ns),
            queued_precision_ns: Some(LINE_NS),
            status: "unknown".into(),
            line: i64::try_from(line).ok(),
            ..Row::default()
        }
    }

    /// Ends the run, or the log: tasks left by a manager that has ended are not running.
    fn finish(&mut self) {
        for (at, _) in std::mem::take(&mut self.last).into_values() {
            if self.has_ended && self.rows[at].status == "running" {
                self.rows[at].status = "unknown".into();
            }
        }
        self.hosts.clear();
    }
}

/// Ends an attempt without a result: its worker is gone, or it was cancelled.
fn abort(row: &mut Row, ns: i64) {
    if matches!(&*row.status, "running" | "unknown") {
        row.status = "aborted".into();
        if row.finished_ns.is_none() {
            (row.finished_ns, row.finished_precision_ns) = (Some(ns), Some(LINE_NS));
        }
    }
}

fn end(row: &mut Row, result: &str, exit_code: Option<i64>, ns: i64) {
    if row.finished_ns.is_none() {
        (row.finished_ns, row.finished_precision_ns) = (Some(ns), Some(LINE_NS));
    }
    let status = match (result, exit_code) {
        ("SUCCESS", None | Some(0)) => "completed",
        // A library serves until the manager or its worker ends.
        ("LIBRARY_EXIT", _) => "aborted",
        _ => "failed",
    };
    row.status = status.into();
    row.exit_code = exit_code.filter(|code| *code >= 0);
    row.error = (result != "SUCCESS").then(|| result.to_owned().into());
}

/// Sets the requested or allocated resources.
fn ask(row: &mut Row, resources: Option<&Value>) {
    let Some(resources) = resources else { return };
    // Zero means that nothing was requested.
    let asked = |name: &str| number(resources, name).filter(|number| *number > 0.0);
    let whole = |number: f64| (number < 9e15).then_some(number.round() as i64);
    row.cpus = asked("cores").filter(|cores| cores.fract() == 0.0).and_then(whole).or(row.cpus);
    row.memory_bytes = asked("memory").and_then(|size| whole(size * MEGABYTE)).or(row.memory_bytes);
    row.disk_bytes = asked("disk").and_then(|size| whole(size * MEGABYTE)).or(row.disk_bytes);
}

/// Sets the worker's measurements.
fn measured(row: &mut Row, measured: Option<&Value>) {
    let Some(measured) = measured else { return };
    let ns = |name: &str| number(measured, name).filter(|s| (1.0..9e9).contains(s)).map(|s| (s * 1e6).round() as i64 * 1000);
    if let Some((start, end)) = ns("time_worker_start").zip(ns("time_worker_end")).filter(|(start, end)| start <= end) {
        (row.started_ns, row.started_precision_ns) = (Some(start), Some(LINE_NS));
        (row.finished_ns, row.finished_precision_ns) = (Some(end), Some(LINE_NS));
    }
    row.realtime_s = number(measured, "wall_time").filter(|s| (0.0..9e9).contains(s) && row.started_ns.is_some());
    let bytes = |name: &str| number(measured, name).filter(|size| *size > 0.0 && *size < 8e9).map(|size| (size * MEGABYTE).round() as i64);
    // They are zero without a resource monitor.
    row.peak_rss_bytes = bytes("memory");
    row.read_bytes = bytes("bytes_read");
    row.write_bytes = bytes("bytes_written");
    let used = number(measured, "cpu_time").filter(|s| *s > 0.0).zip(row.realtime_s.filter(|s| *s > 0.0));
    row.cpu_percent = used.map(|(cpu, wall)| 100.0 * cpu / wall);
}

/// Returns the number of a resource, which is an array of number and unit.
fn number(resources: &Value, name: &str) -> Option<f64> {
    resources[name][0].as_f64().filter(|number| number.is_finite())
}

/// Parses the JSON objects at the end of a line.
fn objects(line: &str) -> Vec<Value> {
    let Some(at) = line.find('{') else { return Vec::new() };
    serde_json::Deserializer::from_str(&line[at..]).into_iter::<Value>().map_while(Result::ok).collect()
}

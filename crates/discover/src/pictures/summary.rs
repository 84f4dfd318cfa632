//! A summary as text for terminals, JSON and CSV.
//!
//! Text has two tables: activities and cases. Columns of which nothing is known are left out, and
//! so is what would fill the screen, which is then counted. CSV has a table for each of both, JSON
//! everything.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{self, Write};

use flowmine_draw::axis::percent;
use flowmine_draw::document::{self, Document, DocumentFormat};
use flowmine_draw::text::{count, counted, duration};

use super::calendar;
use super::csv::{Csv, mean_seconds, seconds};
use super::text_table::{self, Column};
use crate::about::{ORIGINS, origin};
use crate::summary::{Activity, Bytes, Case, Summary, Times};

/// How much of a summary is written as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drawing {
    /// At most so many activities are in the text, those with most time first.
    pub activities: usize,
    /// At most so many cases are in the text: the longest ones, in the order of the summary.
    pub cases: usize,
}

impl Default for Drawing {
    fn default() -> Self {
        Self { activities: 60, cases: 20 }
    }
}

/// Writes the summary as text.
pub fn text(summary: &Summary, drawing: &Drawing) -> String {
    let (about, total) = (&summary.about, &summary.total);
    let mut out = format!(
        "{} of {} in {}",
        about.counted(total.instances),
        counted(summary.activities.len() as u64, "activity", "activities"),
        counted(about.cases, "case", "cases")
    );
    if let Some((first, last)) = summary.first_ns.zip(summary.last_ns) {
        let span = (i128::from(last) - i128::from(first)) as f64;
        let _ = write!(out, ", {} to {} UTC ({})", calendar::moment(first), calendar::moment(last), duration(span));
    }
    out.push('\n');
    for fact in about.facts() {
        out.push_str(&fact);
        out.push('\n');
    }
    if summary.backwards > 0 {
        let _ = writeln!(
            out,
            "{}: ended before the start, or started before being ready; such times are left out.",
            about.counted(summary.backwards)
        );
    }
    if !summary.activities.is_empty() {
        let shown = &summary.activities[..summary.activities.len().min(drawing.activities)];
        let mut rows: Vec<&Activity> = shown.iter().collect();
        if shown.len() > 1 || summary.activities.len() > shown.len() {
            rows.push(total);
        }
        out.push('\n');
        out.push_str(&text_table::write(&activity_columns(summary, &rows)));
        more(&mut out, summary.activities.len() - shown.len(), ("activity", "activities"), "");
    }
    if !summary.case_list.is_empty() {
        let shown = longest(&summary.case_list, drawing.cases);
        out.push('\n');
        out.push_str(&text_table::write(&case_columns(summary, &shown)));
        more(&mut out, summary.case_list.len() - shown.len(), ("case", "cases"), ", none of them longer");
    }
    out
}

/// The longest cases, at most a number of them, in their order.
fn longest(cases: &[Case], most: usize) -> Vec<&Case> {
    let mut places: Vec<usize> = (0..cases.len()).collect();
    places.sort_by_key(|&at| (std::cmp::Reverse(cases[at].duration_ns), at));
    places.truncate(most);
    places.sort_unstable();
    places.into_iter().map(|at| &cases[at]).collect()
}

fn more(out: &mut String, n: usize, (one, many): (&str, &str), which: &str) {
    if n > 0 {
        let more = counted(n as u64, &format!("more {one}"), &format!("more {many}"));
        let _ = writeln!(out, "… and {more}{which}: JSON and CSV have all.");
    }
}

/// Columns under construction; those without any value are dropped.
struct Columns<'a, R> {
    rows: &'a [R],
    columns: Vec<Column>,
}

impl<R> Columns<'_, R> {
    fn add(&mut self, group: &str, heading: &str, cell: impl Fn(&R) -> Option<String>) {
        let cells: Vec<Option<String>> = self.rows.iter().map(cell).collect();
        if cells.iter().any(Option::is_some) {
            let cells = cells.into_iter().map(Option::unwrap_or_default).collect();
            self.columns.push(Column { group: group.to_owned(), heading: heading.to_owned(), right: true, cells });
        }
    }
}

fn activity_columns(summary: &Summary, rows: &[&Activity]) -> Vec<Column> {
    let name =
        |row: &&Activity| if row.activity.is_empty() && std::ptr::eq(*row, &summary.total) { "all" } else { &row.activity }.to_owned();
    let names = Column { heading: "activity".to_owned(), cells: rows.iter().map(name).collect(), ..Column::default() };
    let mut table = Columns { rows, columns: vec![names] };
    let n = |n: u64| Some(count(n));
    table.add("", &format!("{}s", summary.about.word()), |row| n(row.instances));
    table.add("", "cases", |row| n(row.cases));
    table.add("", "failed", |row| row.failed.and_then(n));
    table.add("", "retried", |row| row.retried.and_then(n));
    table.add("", "cached", |row| row.cached.and_then(n));
    table.add("", "aborted", |row| row.aborted.and_then(n));
    let time = |times: Option<Times>, of: fn(Times) -> f64| times.map(|times| duration(of(times)));
    table.add("queue", "median", |row| time(row.queue, |times| times.median_ns));
    table.add("queue", "p95", |row| time(row.queue, |times| times.p95_ns));
    table.add("queue", "sum", |row| time(row.queue, |times| times.sum_ns as f64));
    table.add("service", "median", |row| time(row.service, |times| times.median_ns));
    table.add("service", "p95", |row| time(row.service, |times| times.p95_ns));
    table.add("service", "max", |row| time(row.service, |times| times.max_ns as f64));
    table.add("service", "sum", |row| time(row.service, |times| times.sum_ns as f64));
    for by in ORIGINS.map(origin) {
        let of = |row: &&Activity| row.bytes.iter().find(|bytes| bytes.counted_by == by).copied();
        let group = format!("bytes ({by})");
        table.add(&group, "read", |row| of(row)?.read_bytes.map(flowmine_draw::axis::bytes));
        table.add(&group, "written", |row| of(row)?.written_bytes.map(flowmine_draw::axis::bytes));
        table.add(&group, "per s", |row| of(row)?.bytes_per_s.map(|rate| flowmine_draw::axis::bytes(rate.round() as i128)));
    }
    table.add("CPU", "time", |row| row.cpu_ns.map(|ns| duration(ns as f64)));
    table.add("CPU", "used", |row| row.cpu_efficiency.map(percent));
    table.add("memory", "asked", |row| row.memory_asked_bytes.map(flowmine_draw::axis::bytes));
    table.add("memory", "peak", |row| row.memory_peak_bytes.map(flowmine_draw::axis::bytes));
    table.add("memory", "used", |row| row.memory_used_share.map(percent));
    table.columns
}

fn case_columns(summary: &Summary, rows: &[&Case]) -> Vec<Column> {
    let names = Column { heading: "case".to_owned(), cells: rows.iter().map(|case| case.case.clone()).collect(), ..Column::default() };
    let mut table = Columns { rows, columns: vec![names] };
    table.add("", "start (UTC)", |case| case.start_ns.map(calendar::moment));
    table.add("", "end (UTC)", |case| case.end_ns.map(calendar::moment));
    table.add("", "duration", |case| case.duration_ns.map(|ns| duration(ns as f64)));
    table.add("", &format!("{}s", summary.about.word()), |case| Some(count(case.instances)));
    table.add("", "failed", |case| case.failed.map(count));
    table.add("", "service", |case| case.service_ns.map(|ns| duration(ns as f64)));
    table.add("", "waiting", |case| case.waiting_share.map(percent));
    table.columns
}

impl Document for Summary {
    const FORMAT: &'static str = "flowmine-summary";
}

/// The format of the JSON document.
pub const DOCUMENT: DocumentFormat = DocumentFormat::new::<Summary>();

/// Writes the whole summary as JSON.
///
/// # Errors
/// When `out` cannot be written.
pub fn json(summary: &Summary, out: impl Write) -> io::Result<()> {
    document::write(summary, out)
}

/// Writes the activities as a table. Bytes have columns for each who counted them.
///
/// # Errors
/// When `out` cannot be written.
pub fn csv(summary: &Summary, out: impl Write) -> io::Result<()> {
    let there: BTreeSet<&str> = summary.activities.iter().flat_map(|row| &row.bytes).map(|bytes| bytes.counted_by).collect();
    let byte_columns: Vec<String> =
        (there.iter()).flat_map(|by| ["read_bytes", "written_bytes", "bytes_per_s"].map(|column| format!("{column}_{by}"))).collect();
    let mut columns = vec!["activity", "instances", "cases", "failed", "retried", "cached", "aborted"];
    columns.extend(["queue_count", "queue_median_s", "queue_p95_s", "queue_max_s", "queue_sum_s"]);
    columns.extend(["service_count", "service_median_s", "service_p95_s", "service_max_s", "service_sum_s"]);
    columns.extend(["cpu_s", "cpu_efficiency", "memory_asked_bytes", "memory_peak_bytes", "memory_used_share"]);
    columns.extend(byte_columns.iter().map(String::as_str));
    let mut csv = Csv::new(out, &columns)?;
    for row in &summary.activities {
        csv.text(&row.activity).count(row.instances).count(row.cases);
        csv.number(row.failed).number(row.retried).number(row.cached).number(row.aborted);
        for times in [row.queue, row.service] {
            csv.count(times.map_or(0, |times| times.count));
            csv.number(times.and_then(|times| mean_seconds(times.median_ns))).number(times.and_then(|times| mean_seconds(times.p95_ns)));
            csv.number(times.map(|times| seconds(i128::from(times.max_ns)))).number(times.map(|times| seconds(times.sum_ns)));
        }
        csv.number(row.cpu_ns.map(seconds)).number(row.cpu_efficiency);
        csv.number(row.memory_asked_bytes).number(row.memory_peak_bytes).number(row.memory_used_share);
        for by in &there {
            let of: Option<&Bytes> = row.bytes.iter().find(|bytes| bytes.counted_by == *by);
            csv.number(of.and_then(|bytes| bytes.read_bytes)).number(of.and_then(|bytes| bytes.written_bytes));
            csv.number(of.and_then(|bytes| bytes.bytes_per_s));
        }
        csv.end()?;
    }
    csv.finish()
}

/// Writes the cases as a table.
///
/// # Errors
/// When `out` cannot be written.
pub fn cases_csv(summary: &Summary, out: impl Write) -> io::Result<()> {
    let mut csv = Csv::new(out, &["case", "start", "end", "duration_s", "instances", "failed", "service_s", "waiting_share"])?;
    for case in &summary.case_list {
        csv.text(&case.case).number(case.start_ns.map(calendar::iso)).number(case.end_ns.map(calendar::iso));
        csv.number(case.duration_ns.map(|ns| seconds(i128::from(ns)))).count(case.instances).number(case.failed);
        csv.number(case.service_ns.map(seconds)).number(case.waiting_share).end()?;
    }
    csv.finish()
}

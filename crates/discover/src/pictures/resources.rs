//! Resources occupied and used, as text for a terminal, a table and JSON.

use std::fmt::Write as _;
use std::io::{self, Write};

use flowmine_draw::axis::percent;
use flowmine_draw::document::{self, Document, DocumentFormat};
use flowmine_draw::duration;
use flowmine_draw::text::{count, counted};

use super::csv::{Csv, seconds};
use super::text_table::{self, Column};
use super::units::{core_hours, gib_hours};
use crate::resources::{Group, Resources, Row};

/// Number of values of a dimension that a terminal shows.
const SHOWN: usize = 8;

fn hours(core_ns: Option<i128>) -> Option<String> {
    core_ns.map(core_hours)
}

/// The sums, and the values of each dimension, for a terminal.
pub fn text(found: &Resources) -> String {
    let mut out = String::new();
    let total = &found.total;
    let word = found.about.word();
    let many = format!("{word}s");
    let _ = match (hours(total.at_stake_core_ns), hours(total.core_ns)) {
        (Some(stake), Some(core)) => writeln!(
            out,
            "{stake} of {core} core-hours at stake: idle CPUs {}, failures {}, cancellations {}",
            hours(total.idle_core_ns).unwrap_or_else(|| "unknown".to_owned()),
            core_hours(total.failed_core_ns.unwrap_or(0)),
            core_hours(total.cancelled_core_ns.unwrap_or(0)),
        ),
        (None, Some(core)) => writeln!(out, "{core} core-hours occupied; how much of them was used is not known"),
        (_, None) => writeln!(out, "Core-hours are not known: the log has no number of CPUs."),
    };
    let _ = writeln!(out, "{} ran {}", counted(total.instances, &word, &many), duration(total.elapsed_ns as f64));
    for fact in found.about.facts() {
        let _ = writeln!(out, "{fact}");
    }
    if total.without_cpus > 0 && total.core_ns.is_some() {
        let _ = writeln!(out, "The CPUs of {} are not known: they are in no core-hours.", counted(total.without_cpus, &word, &many));
    }
    for group in found.by.iter().filter(|group| !group.rows.is_empty()) {
        let _ = write!(out, "\n{}", table(group));
    }
    out
}

fn table(group: &Group) -> String {
    let shown = &group.rows[..group.rows.len().min(SHOWN)];
    let names = Column { heading: group.name.to_owned(), cells: shown.iter().map(|row| row.value.clone()).collect(), ..Column::default() };
    let mut columns = vec![names];
    // A column of which nothing is known is left out.
    let mut add = |over: &str, heading: &str, of: &dyn Fn(&Row) -> Option<String>| {
        let cells: Vec<Option<String>> = shown.iter().map(of).collect();
        if cells.iter().any(Option::is_some) {
            let cells = cells.into_iter().map(Option::unwrap_or_default).collect();
            columns.push(Column { group: over.to_owned(), heading: heading.to_owned(), right: true, cells });
        }
    };
    add("", "number", &|row| Some(count(row.instances)));
    add("", "ran", &|row| Some(duration(row.elapsed_ns as f64)));
    add("core-hours", "occupied", &|row| hours(row.core_ns));
    add("core-hours", "at stake", &|row| hours(row.at_stake_core_ns));
    add("core-hours", "idle", &|row| hours(row.idle_core_ns));
    add("core-hours", "failed", &|row| hours(row.failed_core_ns));
    add("core-hours", "cancelled", &|row| hours(row.cancelled_core_ns));
    add("used", "CPU", &|row| row.cpu_efficiency.map(percent));
    add("used", "memory", &|row| row.memory_efficiency.map(percent));
    add("used", "time limit", &|row| row.time_efficiency.map(percent));
    add("GPU-hours", "occupied", &|row| hours(row.gpu_ns));
    add("GPU-hours", "used", &|row| row.gpu_efficiency.map(percent));
    add("GPU-hours", "lost", &|row| hours(row.lost_gpu_ns));
    add("", "GiB-hours", &|row| row.memory_byte_ns.map(gib_hours));
    let mut out = text_table::write(&columns);
    let more = group.rows.len() - shown.len();
    if more > 0 {
        let _ = writeln!(out, "{} more; --format csv has them", count(more as u64));
    }
    out
}

/// Writes the values of all dimensions as one table.
///
/// # Errors
/// When `out` cannot be written.
pub fn csv(found: &Resources, out: &mut dyn Write) -> io::Result<()> {
    const COLUMNS: [&str; 21] = [
        "by",
        "value",
        "instances",
        "without_cpus",
        "elapsed_s",
        "core_hours",
        "core_hours_at_stake",
        "core_hours_idle",
        "core_hours_failed",
        "core_hours_cancelled",
        "cpu_hours_used",
        "cpu_efficiency",
        "gpu_hours",
        "memory_gib_hours",
        "memory_gib_hours_used",
        "memory_efficiency",
        "time_limit_s",
        "time_efficiency",
        "gpu_hours_lost",
        "gpu_hours_used",
        "gpu_efficiency",
    ];
    let mut table = Csv::new(out, &COLUMNS)?;
    let all = std::iter::once(("all", &found.total));
    for (by, row) in all.chain(found.by.iter().flat_map(|group| group.rows.iter().map(|row| (group.name, row)))) {
        table.text(by).text(&row.value).count(row.instances).count(row.without_cpus).number(Some(seconds(row.elapsed_ns)));
        table.number(hours(row.core_ns)).number(hours(row.at_stake_core_ns)).number(hours(row.idle_core_ns));
        table.number(hours(row.failed_core_ns)).number(hours(row.cancelled_core_ns));
        table.number(hours(row.cpu_used_ns)).number(row.cpu_efficiency).number(hours(row.gpu_ns));
        table.number(row.memory_byte_ns.map(gib_hours)).number(row.memory_used_byte_ns.map(gib_hours));
        table.number(row.memory_efficiency).number(row.limit_ns.map(seconds)).number(row.time_efficiency);
        table.number(hours(row.lost_gpu_ns)).number(hours(row.gpu_used_ns)).number(row.gpu_efficiency);
        table.end()?;
    }
    table.finish()
}

impl Document for Resources {
    const FORMAT: &'static str = "flowmine-resources";
}

/// The format of the JSON document.
pub const DOCUMENT: DocumentFormat = DocumentFormat::new::<Resources>();

/// Writes everything as JSON.
///
/// # Errors
/// When `out` cannot be written.
pub fn json(found: &Resources, out: &mut dyn Write) -> io::Result<()> {
    document::write(found, out)
}

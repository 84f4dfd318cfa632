//! Suggested requests, as text for a terminal, a table, JSON, and as what programs read: `#SBATCH`
//! lines ([`slurm`]), configuration of Nextflow ([`nextflow`]), a profile of Snakemake
//! ([`snakemake`]).

mod languages;

use std::fmt::Write as _;
use std::io::{self, Write};

use flowmine_draw::document::{self, Document, DocumentFormat};
use flowmine_draw::text::{count, counted, visible};
use flowmine_draw::{axis, duration};

use super::csv::{Csv, seconds};
use super::text_table::{self, Column};
use super::units::{core_hours, gib_hours};
use crate::requests::{Request, Requests, Rule, Suggestion};

pub use languages::{nextflow, slurm, snakemake};

/// The rule in a sentence without a full stop.
fn rule(of: Rule) -> String {
    match of {
        Rule::Maximum { margin } => format!("the most that was used, plus {} (CPUs without a margin)", axis::percent(margin)),
        Rule::Percentile { share } => format!("what {} of the instances did not exceed", axis::percent(share)),
    }
}

/// How many instances a suggestion would have killed, where it would have killed any.
fn killed(of: &Request) -> Option<String> {
    let parts = [("time limit", of.time_ns), ("memory", of.memory_bytes)];
    let parts: Vec<String> = parts
        .into_iter()
        .filter_map(|(what, of)| {
            let of = of.filter(|of| of.exceeding > 0)?;
            Some(format!("{} of {} at the {what}", count(of.exceeding), count(of.measured)))
        })
        .collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// The suggestions for a terminal.
pub fn text(found: &Requests) -> String {
    let mut out = format!("Suggested: {}\n", rule(found.rule));
    for fact in found.about.facts() {
        let _ = writeln!(out, "{fact}");
    }
    if found.activities.is_empty() {
        out.push_str("\nNothing ran of which a running time is known.\n");
        return out;
    }
    let names = found.activities.iter().map(|of| of.activity.clone()).collect();
    let mut columns = vec![Column { heading: "activity".to_owned(), cells: names, ..Column::default() }];
    let mut add = |over: &str, heading: &str, of: &dyn Fn(&Request) -> Option<String>| {
        let cells: Vec<Option<String>> = found.activities.iter().map(of).collect();
        if cells.iter().any(Option::is_some) {
            let cells = cells.into_iter().map(Option::unwrap_or_default).collect();
            columns.push(Column { group: over.to_owned(), heading: heading.to_owned(), right: true, cells });
        }
    };
    let time: fn(i64) -> String = |ns| duration(ns as f64);
    let bytes: fn(i64) -> String = axis::bytes;
    add("", "number", &|of| Some(count(of.instances)));
    add("time limit", "asked", &|of| of.time_ns?.asked.map(time));
    add("time limit", "used", &|of| Some(time(of.time_ns?.used)));
    add("time limit", "suggested", &|of| Some(time(of.time_ns?.suggested)));
    add("time limit", "hours saved", &|of| of.time_ns?.saved.map(core_hours));
    add("memory", "asked", &|of| of.memory_bytes?.asked.map(bytes));
    add("memory", "used", &|of| Some(bytes(of.memory_bytes?.used)));
    add("memory", "suggested", &|of| Some(bytes(of.memory_bytes?.suggested)));
    add("memory", "GiB-hours saved", &|of| of.memory_bytes?.saved.map(gib_hours));
    add("CPUs", "asked", &|of| of.cpus?.asked.map(|cpus| cpus.to_string()));
    add("CPUs", "used", &|of| Some(of.cpus?.used.to_string()));
    add("CPUs", "suggested", &|of| Some(of.cpus?.suggested.to_string()));
    add("CPUs", "core-hours saved", &|of| of.cpus?.saved.map(core_hours));
    let _ = write!(out, "\n{}", text_table::write(&columns));
    for of in &found.activities {
        if let Some(killed) = killed(of) {
            let _ = writeln!(out, "{}: would have killed {killed}", visible(&of.activity));
        }
        let lines = [("time limit", of.time_by_input, time), ("memory", of.memory_by_input, bytes)];
        for (what, line, unit) in lines.into_iter().filter_map(|(what, line, unit)| Some((what, line?, unit))) {
            let _ = writeln!(
                out,
                "{}: {what} by input: {} and {} for each GiB read ({} of the variance of {}, which read {} to {})",
                visible(&of.activity),
                unit(line.base),
                unit(line.per_gib),
                axis::percent(line.explained),
                counted(line.instances, "instance", "instances"),
                axis::bytes(line.smallest_bytes),
                axis::bytes(line.largest_bytes),
            );
        }
        if of.cut_short > 0 {
            let jobs = counted(of.cut_short, "instance was", "instances were");
            let _ = writeln!(out, "{}: {jobs} ended at a limit and needed at least the amount used", visible(&of.activity));
        }
    }
    out
}

/// Writes the suggestions as a table.
///
/// # Errors
/// When `out` cannot be written.
pub fn csv(found: &Requests, out: &mut dyn Write) -> io::Result<()> {
    const COLUMNS: [&str; 25] = [
        "activity",
        "instances",
        "cut_short",
        "time_measured",
        "time_asked_s",
        "time_used_s",
        "time_suggested_s",
        "time_killed",
        "time_hours_saved",
        "memory_measured",
        "memory_asked_bytes",
        "memory_used_bytes",
        "memory_suggested_bytes",
        "memory_killed",
        "memory_gib_hours_saved",
        "cpus_measured",
        "cpus_asked",
        "cpus_used",
        "cpus_suggested",
        "cpus_exceeding",
        "cpu_core_hours_saved",
        "time_by_input_base_s",
        "time_by_input_s_per_gib",
        "memory_by_input_base_bytes",
        "memory_by_input_bytes_per_gib",
    ];
    let mut table = Csv::new(out, &COLUMNS)?;
    for of in &found.activities {
        table.text(&of.activity).count(of.instances).count(of.cut_short);
        let mut put = |of: Option<Suggestion>, unit: fn(i64) -> String, saved: fn(i128) -> String| {
            table.number(of.map(|of| of.measured)).number(of.and_then(|of| of.asked).map(unit)).number(of.map(|of| unit(of.used)));
            table.number(of.map(|of| unit(of.suggested))).number(of.map(|of| of.exceeding)).number(of.and_then(|of| of.saved).map(saved));
        };
        put(of.time_ns, |ns| seconds(ns.into()), core_hours);
        put(of.memory_bytes, |bytes| bytes.to_string(), gib_hours);
        put(of.cpus, |cpus| cpus.to_string(), core_hours);
        let time = of.time_by_input.map(|line| (seconds(line.base.into()), seconds(line.per_gib.into())));
        table.number(time.as_ref().map(|(base, _)| base)).number(time.as_ref().map(|(_, per_gib)| per_gib));
        table.number(of.memory_by_input.map(|line| line.base)).number(of.memory_by_input.map(|line| line.per_gib));
        table.end()?;
    }
    table.finish()
}

impl Document for Requests {
    const FORMAT: &'static str = "flowmine-requests";
}

/// The format of the JSON document.
pub const DOCUMENT: DocumentFormat = DocumentFormat::new::<Requests>();

/// Writes everything as JSON.
///
/// # Errors
/// When `out` cannot be written.
pub fn json(found: &Requests, out: &mut dyn Write) -> io::Result<()> {
    document::write(found, out)
}

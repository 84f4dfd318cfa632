//! What jobs waited for, as text for a terminal, a diagram over time, a table and JSON.

use std::fmt::Write as _;
use std::io::{self, Write};

use flowmine_draw::axis::{self, Axis, SMALL, Ticks};
use flowmine_draw::document::{self, Document, DocumentFormat};
use flowmine_draw::duration;
use flowmine_draw::legend::{Entry, Sample};
use flowmine_draw::sheet::{Frame, Sheet, WEAK_TEXT};
use flowmine_draw::text::{count, counted, visible};

use super::calendar;
use super::csv::{Csv, seconds};
use super::page::{INNER, MARGIN, Page, nothing};
use super::text_table::{self, Column};
use super::units::core_hours;
use crate::wait_advice;
use crate::waits::{CauseRow, Dimension, DimensionRow, Example, Waits};

/// Number of values of a dimension that a terminal shows.
const SHOWN: usize = 8;

/// A number of the jobs or tasks that waited.
fn number_of(found: &Waits, number: u64) -> String {
    if found.of_tasks { counted(number, "task", "tasks") } else { counted(number, "job", "jobs") }
}

fn main_of<'r>(row: &'r CauseRow, dimension: &str) -> Option<&'r str> {
    row.main.iter().find(|main| main.dimension == dimension).map(|main| main.value.as_str())
}

/// The cause in a line: core-hours, time, the limit, and whose jobs waited most.
fn headline(row: &CauseRow) -> String {
    let mut words = String::new();
    // Of jobs whose CPUs are not known the time alone is said.
    if row.core_ns > 0 {
        let _ = write!(words, "{} core-hours, ", core_hours(row.core_ns));
    }
    let _ = write!(words, "{}: {}", duration(row.time_ns as f64), row.cause);
    if let Some(limit) = &row.limit {
        let _ = write!(words, " {}", visible(limit));
    }
    for dimension in ["partition", "user"] {
        if let Some(value) = main_of(row, dimension) {
            let _ = write!(words, ", {dimension} {}", visible(value));
        }
    }
    // Who held what others waited for, where that is most of it.
    if let Some(one) = row.occupants.first().filter(|one| one.core_ns.saturating_mul(2) >= row.core_ns) {
        let _ = write!(words, "; meanwhile {} ran {} core-hours there", visible(&one.user), core_hours(one.core_ns));
    }
    words
}

fn example(found: &Waits, one: &Example) -> String {
    let (from, to) = (calendar::moment(one.from_ns), calendar::moment(one.to_ns));
    let mut words = format!(
        "{} {}: {}, from {from} to {to} UTC",
        if found.of_tasks { "task" } else { "job" },
        visible(&one.job),
        duration(one.time_ns as f64)
    );
    if let Some(user) = &one.user {
        let _ = write!(words, ", {}", visible(user));
    }
    if let Some(jobs) = &one.predecessors {
        let _ = write!(words, ", for {}", visible(&jobs.replace(',', ", ")));
    }
    if let Some(reason) = &one.reason {
        let _ = write!(words, " ({})", visible(reason));
    }
    words
}

/// The causes, most core-hours first, and the values of each dimension, for a terminal.
pub fn text(found: &Waits) -> String {
    let mut out = String::new();
    if let Some(first) = found.causes.first() {
        let _ = writeln!(out, "{}", headline(first));
    }
    let _ = writeln!(out, "{} of {} waited", count(found.waited), number_of(found, found.jobs));
    if let (Some(begin), Some(end)) = (found.begin_ns, found.end_ns) {
        let _ = writeln!(out, "{} to {} UTC", calendar::moment(begin), calendar::moment(end));
    }
    if found.without_cpus > 0 {
        let _ = writeln!(out, "The CPUs of {} are not known: they are in no core-hours.", number_of(found, found.without_cpus));
    }
    for (at, row) in found.causes.iter().enumerate() {
        let _ = writeln!(out, "\n{:>2}. {}", at + 1, headline(row));
        let _ = writeln!(out, "    {}, half of them {} or less", number_of(found, row.jobs), duration(row.median_ns as f64));
        let main: Vec<String> =
            row.main.iter().map(|main| format!("{} {} ({})", main.dimension, visible(&main.value), number_of(found, main.jobs))).collect();
        if !main.is_empty() {
            let _ = writeln!(out, "    mostly of {}", main.join(", "));
        }
        for one in &row.occupants {
            let _ = writeln!(
                out,
                "    meanwhile {} ran {} core-hours in partition {}",
                visible(&one.user),
                core_hours(one.core_ns),
                visible(&one.partition)
            );
        }
        for one in &row.examples {
            let _ = writeln!(out, "    - {}", example(found, one));
        }
        let _ = writeln!(out, "    {}", wait_advice::of(row.cause, found.of_tasks));
    }
    for dimension in found.by.iter().filter(|dimension| !dimension.rows.is_empty()) {
        let _ = write!(out, "\n{}", table(dimension, if found.of_tasks { "tasks" } else { "jobs" }));
    }
    out
}

fn table(dimension: &Dimension, entities: &str) -> String {
    let by_time = matches!(dimension.name, "hour" | "week");
    let shown = &dimension.rows[..if by_time { dimension.rows.len() } else { dimension.rows.len().min(SHOWN) }];
    let column = |heading: &str, right: bool, of: &dyn Fn(&DimensionRow) -> String| Column {
        heading: heading.to_owned(),
        right,
        cells: shown.iter().map(of).collect(),
        ..Column::default()
    };
    let columns = [
        column(dimension.name, false, &|row| row.value.clone()),
        column(entities, true, &|row| count(row.jobs)),
        column("queued", true, &|row| duration(row.queue_ns as f64)),
        column("core-hours", true, &|row| core_hours(row.queue_core_ns)),
        column("median", true, &|row| duration(row.median_queue_ns as f64)),
        column("own wishes", true, &|row| duration(row.wish_ns as f64)),
        column("predecessors", true, &|row| duration(row.predecessor_ns as f64)),
        column("mostly for", false, &|row| row.main_cause.unwrap_or("").to_owned()),
    ];
    let mut out = text_table::write(&columns);
    let more = dimension.rows.len() - shown.len();
    if more > 0 {
        let _ = writeln!(out, "{} more; --format csv has them", count(more as u64));
    }
    out
}

/// Writes causes and the values of all dimensions as one table.
///
/// # Errors
/// When `out` cannot be written.
pub fn csv(found: &Waits, out: &mut dyn Write) -> io::Result<()> {
    const COLUMNS: [&str; 13] = [
        "by",
        "value",
        "kind",
        "limit",
        "jobs",
        "waited_s",
        "core_hours",
        "median_s",
        "wish_s",
        "predecessor_s",
        "main_cause",
        "main_user",
        "longest_job",
    ];
    let mut table = Csv::new(out, &COLUMNS)?;
    for row in &found.causes {
        table.text("cause").text(row.cause).text(row.kind);
        table.text_or_unknown(row.limit.as_deref());
        table.count(row.jobs).number(Some(seconds(row.time_ns))).number(Some(core_hours(row.core_ns)));
        table.number(Some(seconds(row.median_ns.into()))).number(None::<u64>).number(None::<u64>).number(None::<u64>);
        table.text_or_unknown(main_of(row, "user"));
        table.text_or_unknown(row.examples.first().map(|one| one.job.as_str()));
        table.end()?;
    }
    for dimension in &found.by {
        for row in &dimension.rows {
            table.text(dimension.name).text(&row.value).text("queue").number(None::<u64>);
            table.count(row.jobs).number(Some(seconds(row.queue_ns))).number(Some(core_hours(row.queue_core_ns)));
            table.number(Some(seconds(row.median_queue_ns.into()))).number(Some(seconds(row.wish_ns)));
            table.number(Some(seconds(row.predecessor_ns)));
            table.text_or_unknown(row.main_cause);
            table.number(None::<u64>).number(None::<u64>);
            table.end()?;
        }
    }
    table.finish()
}

impl Document for Waits {
    const FORMAT: &'static str = "flowmine-waits";
}

/// The format of the JSON document.
pub const DOCUMENT: DocumentFormat = DocumentFormat::new::<Waits>();

/// Writes everything as JSON.
///
/// # Errors
/// When `out` cannot be written.
pub fn json(found: &Waits, out: &mut dyn Write) -> io::Result<()> {
    document::write(found, out)
}

const HEIGHT: f64 = 260.0;
const LEFT: f64 = 64.0;

/// A colour for each cause; those that are not listed share the last one.
fn colour(cause: &str) -> &'static str {
    const COLOURS: [(&str, &str); 19] = [
        ("slots", "#332288"),
        ("submission", "#e6a817"),
        ("retry", "#cc3311"),
        ("resources", "#2b7bba"),
        ("licenses", "#6699cc"),
        ("priority", "#88ccee"),
        ("queued", "#b9c8d8"),
        ("unknown", "#dfe5ec"),
        ("partition_down", "#a5122e"),
        ("node_down", "#cc6677"),
        ("reservation", "#882255"),
        ("reservation_of_others", "#661133"),
        ("limit_of_qos", "#117733"),
        ("limit_of_user", "#44aa99"),
        ("limit_of_account", "#999933"),
        ("array_throttle", "#aa4499"),
        ("predecessor", "#ddcc77"),
        ("held_by_user", "#e08a5b"),
        ("held_by_admin", "#8a2c0d"),
    ];
    COLOURS.iter().find(|(known, _)| *known == cause).map_or("#776677", |(_, colour)| colour)
}

/// A cause as people read it.
fn words(cause: &str) -> String {
    cause.replace('_', " ")
}

/// Draws the CPUs that were waited for over time, by cause, as an SVG document.
pub fn svg(found: &Waits) -> String {
    let mut page =
        Page { title: if found.of_tasks { "What tasks waited for" } else { "What jobs waited for" }.to_owned(), ..Page::default() };
    page.facts.extend(found.causes.first().map(|first| format!("Most: {}.", headline(first))));
    page.facts.push(format!("{} of {} waited.", count(found.waited), number_of(found, found.jobs)));
    if found.without_cpus > 0 {
        page.facts.push(format!("The CPUs of {} are not known: each counts as one.", number_of(found, found.without_cpus)));
    }
    let series = &found.series;
    let bins = series.causes.first().map_or(0, |of| of.cpus.len());
    let sum = |bin: usize| -> f64 { series.causes.iter().map(|of| of.cpus[bin]).sum() };
    let most = (0..bins).map(sum).fold(0.0, f64::max);
    if most <= 0.0 {
        return page.draw(|sheet, top| nothing(sheet, top, "No job waited."));
    }
    // Those with most core-hours lie at the bottom.
    let rank = |cause: &str| found.causes.iter().position(|row| row.cause == cause);
    let mut order: Vec<usize> = (0..series.causes.len()).collect();
    order.sort_by_key(|at| (rank(series.causes[*at].cause), *at));
    let swatches: Vec<(String, String)> =
        order.iter().map(|at| series.causes[*at].cause).map(|cause| (colour(cause).to_owned(), words(cause))).collect();
    for (at, part) in swatches.chunks(5).enumerate() {
        let heading = if at == 0 { "Colour: the cause" } else { "Colour, continued" };
        page.legend.push(Entry::new(heading, Sample::Swatches(part.to_vec()), ""));
    }
    let span = duration(series.step_ns as f64);
    page.legend.push(Entry::new("Height", Sample::Words, format!("CPUs of the jobs that waited, on average over {span}.")));
    page.draw(|sheet, top| draw(sheet, top, found, &order, most))
}

fn draw(sheet: &mut Sheet, top: f64, found: &Waits, order: &[usize], most: f64) -> f64 {
    let series = &found.series;
    let bins = series.causes.first().map_or(0, |of| of.cpus.len());
    let (left, right, bottom) = (MARGIN + LEFT, MARGIN + INNER, top + HEIGHT);
    let cpus = Axis { low: 0.0, high: most, from: bottom, to: top };
    axis::up(sheet, &cpus, &Ticks::of_numbers(&cpus, 5.0), left, right);
    axis::upward_words(sheet, MARGIN + 8.0, top + HEIGHT / 2.0, "CPUs waited for");
    let width = (right - left) / bins.max(1) as f64;
    for bin in 0..bins {
        let mut below = 0.0;
        if order.iter().all(|at| series.causes[*at].cpus[bin] <= 0.0) {
            continue;
        }
        sheet.body.push_str("<g>");
        sheet.title(&told(found, order, bin));
        for &at in order {
            let of = &series.causes[at];
            if of.cpus[bin] > 0.0 {
                let (from, to) = (cpus.at(below), cpus.at(below + of.cpus[bin]));
                sheet.rect(Frame { x: left + width * bin as f64, y: to, w: width, h: from - to }, 0.0, colour(of.cause), None);
                below += of.cpus[bin];
            }
        }
        sheet.body.push_str("</g>\n");
    }
    let time = Axis { low: 0.0, high: series.step_ns as f64 * bins as f64, from: left, to: right };
    let (ticks, words) = calendar::ticks(&time, series.begin_ns, 7.0);
    axis::across(sheet, &time, &ticks, bottom, bottom);
    sheet.text(right, bottom + 34.0, SMALL, WEAK_TEXT, "text-anchor=\"end\"", &words);
    bottom + 40.0
}

/// What those see who point at a span of time: its begin, and the CPUs waited for by cause.
fn told(found: &Waits, order: &[usize], bin: usize) -> Vec<String> {
    let series = &found.series;
    let begin = series.begin_ns.saturating_add(series.step_ns.saturating_mul(bin as i64));
    let causes = order.iter().map(|at| &series.causes[*at]).filter(|of| of.cpus[bin] > 0.0);
    let lines = causes.map(|of| format!("{}: {:.1} CPUs", words(of.cause), of.cpus[bin]));
    std::iter::once(format!("from {} UTC", calendar::moment(begin))).chain(lines).collect()
}

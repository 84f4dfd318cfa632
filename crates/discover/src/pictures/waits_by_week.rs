//! Time in the queue week after week, as text for a terminal, a diagram, a table and JSON.

use std::fmt::Write as _;
use std::io::{self, Write};

use flowmine_draw::axis::{self, Axis, SMALL, Ticks};
use flowmine_draw::document::{self, Document, DocumentFormat};
use flowmine_draw::duration;
use flowmine_draw::legend::{Entry, Sample};
use flowmine_draw::sheet::{Num, Sheet, WEAK_TEXT};
use flowmine_draw::text::{count, counted, visible};

use super::colours::PALETTE;
use super::csv::{Csv, seconds};
use super::page::{INNER, MARGIN, Page, nothing};
use super::text_table::{self, Column};
use super::units::core_hours;
use crate::calendar;
use crate::waits::Slot;
use crate::waits::weeks::{Group, Week, Weeks};

/// Number of groups of a kind that a terminal shows.
const SHOWN: usize = 8;
/// Number of days that a terminal shows.
const SHOWN_DAYS: usize = 14;
/// Number of partitions that are drawn.
const DRAWN: usize = 6;

fn all(found: &Weeks) -> Option<&Group> {
    found.groups.iter().find(|group| group.by == "all")
}

/// A change each week: `+1h 00m a week`.
fn trend(ns: Option<i64>) -> String {
    match ns {
        None => "too few weeks".to_owned(),
        Some(ns) if ns < 0 => format!("−{} a week", duration(ns.unsigned_abs() as f64)),
        Some(0) => "none".to_owned(),
        Some(ns) => format!("+{} a week", duration(ns as f64)),
    }
}

/// The first and the last week in a sentence, and the trend.
fn headline(group: &Group) -> Option<String> {
    let (first, last) = (group.weeks.first()?, group.weeks.last()?);
    let mut words = format!(
        "Half of the jobs queued for {} or less in the week of {}",
        duration(last.median_ns as f64),
        calendar::monday(last.begin_ns)
    );
    if group.weeks.len() > 1 {
        let _ = write!(words, ", {} in that of {}", duration(first.median_ns as f64), calendar::monday(first.begin_ns));
        let _ = write!(words, "; trend: {}", trend(group.trend_ns));
    }
    Some(words)
}

/// All weeks, and the first and last of each partition, account and user, for a terminal.
pub fn text(found: &Weeks) -> String {
    let Some(all) = all(found) else { return "No jobs.\n".to_owned() };
    let mut out = String::new();
    out.extend(headline(all));
    let _ = writeln!(out, "\n{} in {}", counted(all.jobs, "job", "jobs"), counted(all.weeks.len() as u64, "week", "weeks"));
    if found.without_cpus > 0 {
        let _ = writeln!(out, "The CPUs of {} are not known: they are in no core-hours.", counted(found.without_cpus, "job", "jobs"));
    }
    let _ = write!(out, "\n{}", of_weeks(all));
    for by in ["partition", "account", "user"] {
        let groups: Vec<&Group> = found.groups.iter().filter(|group| group.by == by).collect();
        if !groups.is_empty() {
            let _ = write!(out, "\n{}", of_groups(by, &groups));
        }
    }
    for by in ["day", "hour", "weekday"] {
        // The last days; of the others there are few.
        let slots: Vec<&Slot> = found.slots.iter().filter(|slot| slot.by == by).collect();
        let left_out = if by == "day" { slots.len().saturating_sub(SHOWN_DAYS) } else { 0 };
        let _ = write!(out, "\n{}", of_slots(by, &slots[left_out..]));
        if left_out > 0 {
            let _ = writeln!(out, "{} before them; --format csv has them", counted(left_out as u64, "day", "days"));
        }
    }
    out
}

fn of_slots(by: &str, slots: &[&Slot]) -> String {
    let column = |heading: &str, right: bool, of: &dyn Fn(&Slot) -> String| Column {
        heading: heading.to_owned(),
        right,
        cells: slots.iter().map(|slot| of(slot)).collect(),
        ..Column::default()
    };
    let time = |ns: Option<i64>| ns.map_or_else(String::new, |ns| duration(ns as f64));
    let mean = |of: Option<f64>| of.map_or_else(String::new, |of| format!("{of:.1}"));
    let mut columns = vec![
        column(by, false, &|slot| slot.value.clone()),
        column("jobs", true, &|slot| count(slot.jobs)),
        column("median", true, &|slot| time(slot.median_ns)),
        column("nine of ten", true, &|slot| time(slot.ninth_decile_ns)),
        column("core-hours", true, &|slot| core_hours(slot.queue_core_ns)),
        column("ran at once", true, &|slot| mean(slot.running)),
        column("waited at once", true, &|slot| mean(slot.waiting)),
        column("CPUs in use", true, &|slot| mean(slot.cpus)),
    ];
    if slots.iter().any(|slot| slot.allocated_cpus.is_some()) {
        let of_nodes = |heading: &str, of: &dyn Fn(&Slot) -> Option<f64>| Column {
            group: "CPUs of nodes".to_owned(),
            ..column(heading, true, &|slot| mean(of(slot)))
        };
        columns.push(of_nodes("allocated", &|slot| slot.allocated_cpus));
        columns.push(of_nodes("idle", &|slot| slot.idle_cpus));
        columns.push(of_nodes("down", &|slot| slot.down_cpus));
    }
    text_table::write(&columns)
}

fn of_weeks(group: &Group) -> String {
    let column = |heading: &str, right: bool, of: &dyn Fn(&Week) -> String| Column {
        heading: heading.to_owned(),
        right,
        cells: group.weeks.iter().map(of).collect(),
        ..Column::default()
    };
    text_table::write(&[
        column("week", false, &|week| calendar::monday(week.begin_ns)),
        column("jobs", true, &|week| count(week.jobs)),
        column("median", true, &|week| duration(week.median_ns as f64)),
        column("nine of ten", true, &|week| duration(week.ninth_decile_ns as f64)),
        column("core-hours", true, &|week| core_hours(week.queue_core_ns)),
        column("mostly for", false, &|week| week.main_cause.unwrap_or("").to_owned()),
    ])
}

fn of_groups(by: &str, groups: &[&Group]) -> String {
    let shown = &groups[..groups.len().min(SHOWN)];
    let column = |heading: &str, right: bool, of: &dyn Fn(&Group) -> String| Column {
        heading: heading.to_owned(),
        right,
        cells: shown.iter().map(|group| of(group)).collect(),
        ..Column::default()
    };
    let median = |week: Option<&Week>| week.map_or_else(String::new, |week| duration(week.median_ns as f64));
    let mut out = text_table::write(&[
        column(by, false, &|group| group.value.clone()),
        column("jobs", true, &|group| count(group.jobs)),
        column("core-hours", true, &|group| core_hours(group.queue_core_ns)),
        column("first week", true, &|group| median(group.weeks.first())),
        column("last week", true, &|group| median(group.weeks.last())),
        column("trend of the median", true, &|group| trend(group.trend_ns)),
    ]);
    let more = groups.len() - shown.len();
    if more > 0 {
        let _ = writeln!(out, "{} more; --format csv has them", count(more as u64));
    }
    out
}

/// Writes a row for each week of each group, then one for each day, hour of the day and weekday.
///
/// # Errors
/// When `out` cannot be written.
pub fn csv(found: &Weeks, out: &mut dyn Write) -> io::Result<()> {
    const COLUMNS: [&str; 16] = [
        "by",
        "value",
        "week",
        "jobs",
        "queued_s",
        "core_hours",
        "median_s",
        "ninth_decile_s",
        "main_cause",
        "trend_s_per_week",
        "running",
        "waiting",
        "cpus",
        "allocated_cpus",
        "idle_cpus",
        "down_cpus",
    ];
    let mut table = Csv::new(out, &COLUMNS)?;
    for (group, week) in found.groups.iter().flat_map(|group| group.weeks.iter().map(move |week| (group, week))) {
        table.text(group.by).text(&group.value).text(&calendar::monday(week.begin_ns)).count(week.jobs);
        table.number(Some(seconds(week.queue_ns))).number(Some(core_hours(week.queue_core_ns)));
        table.number(Some(seconds(week.median_ns.into()))).number(Some(seconds(week.ninth_decile_ns.into())));
        match week.main_cause {
            Some(cause) => table.text(cause),
            None => table.number(None::<u64>),
        };
        table.number(group.trend_ns.map(|ns| seconds(ns.into())));
        for _ in 0..6 {
            table.number(None::<u64>);
        }
        table.end()?;
    }
    for slot in &found.slots {
        let time = |ns: Option<i64>| ns.map(|ns| seconds(ns.into()));
        table.text(slot.by).text(&slot.value).number(None::<u64>).count(slot.jobs);
        table.number(Some(seconds(slot.queue_ns))).number(Some(core_hours(slot.queue_core_ns)));
        table.number(time(slot.median_ns)).number(time(slot.ninth_decile_ns)).number(None::<u64>).number(None::<u64>);
        for mean in [slot.running, slot.waiting, slot.cpus, slot.allocated_cpus, slot.idle_cpus, slot.down_cpus] {
            table.number(mean.map(|mean| format!("{mean:.2}")));
        }
        table.end()?;
    }
    table.finish()
}

impl Document for Weeks {
    const FORMAT: &'static str = "flowmine-waits-over-time";
}

/// The format of the JSON document.
pub const DOCUMENT: DocumentFormat = DocumentFormat::new::<Weeks>();

/// Writes everything as JSON.
///
/// # Errors
/// When `out` cannot be written.
pub fn json(found: &Weeks, out: &mut dyn Write) -> io::Result<()> {
    document::write(found, out)
}

const HEIGHT: f64 = 260.0;
const LEFT: f64 = 64.0;
const DAY_NS: i64 = 86_400_000_000_000;

/// Draws the medians of all jobs and of the partitions with most core-hours, as an SVG document.
pub fn svg(found: &Weeks) -> String {
    let mut page = Page { title: "How long jobs queued, week by week".to_owned(), ..Page::default() };
    let Some(all) = all(found) else { return page.draw(|sheet, top| nothing(sheet, top, "No jobs.")) };
    page.facts.extend(headline(all).map(|words| format!("{words}.")));
    page.facts.push(format!("{} in {}.", counted(all.jobs, "job", "jobs"), counted(all.weeks.len() as u64, "week", "weeks")));
    let partitions: Vec<&Group> = found.groups.iter().filter(|group| group.by == "partition").collect();
    let drawn = &partitions[..partitions.len().min(DRAWN)];
    if partitions.len() > drawn.len() {
        page.left_out.push(counted((partitions.len() - drawn.len()) as u64, "partition", "partitions"));
    }
    page.legend.push(Entry::new("Thick line", Sample::Swatches(vec![(ALL.to_owned(), "median of all jobs".to_owned())]), ""));
    page.legend.push(Entry::new("Band", Sample::Swatches(vec![(BAND.to_owned(), "up to nine of ten jobs".to_owned())]), ""));
    let swatches = drawn.iter().zip(PALETTE).map(|(group, colour)| (colour.to_owned(), visible(&group.value)));
    for part in swatches.collect::<Vec<_>>().chunks(3) {
        page.legend.push(Entry::new("Median by partition", Sample::Swatches(part.to_vec()), ""));
    }
    page.draw(|sheet, top| draw(sheet, top, all, drawn))
}

const ALL: &str = "#1d2733";
const BAND: &str = "#dfe5ec";

fn draw(sheet: &mut Sheet, top: f64, all: &Group, partitions: &[&Group]) -> f64 {
    let (left, right, bottom) = (MARGIN + LEFT, MARGIN + INNER, top + HEIGHT);
    let highest = all
        .weeks
        .iter()
        .map(|week| week.ninth_decile_ns)
        .chain(partitions.iter().flat_map(|of| of.weeks.iter().map(|week| week.median_ns)));
    let long = Axis { low: 0.0, high: highest.max().unwrap_or(0).max(1) as f64, from: bottom, to: top };
    let ticks = Ticks::of_time(&long, 5.0);
    axis::up(sheet, &long, &ticks, left, right);
    axis::upward_words(sheet, MARGIN + 8.0, top + HEIGHT / 2.0, &format!("time in the queue ({})", ticks.unit));
    let (begin, end) = (all.weeks.first().map_or(0, |week| week.begin_ns), all.weeks.last().map_or(0, |week| week.begin_ns));
    // Points lie in the middle of their week.
    let time = Axis { low: 0.0, high: end.saturating_sub(begin).saturating_add(7 * DAY_NS) as f64, from: left, to: right };
    let x = |week: &Week| time.at(week.begin_ns.saturating_sub(begin) as f64 + 3.5 * DAY_NS as f64);
    let points = |weeks: &[Week], of: &dyn Fn(&Week) -> i64| -> Vec<(f64, f64)> {
        weeks.iter().map(|week| (x(week), long.at(of(week) as f64))).collect()
    };
    let mut band = points(&all.weeks, &|week| week.ninth_decile_ns);
    band.extend(points(&all.weeks, &|_| 0).into_iter().rev());
    sheet.path(&format!("{}Z", data(&band)), BAND, "");
    for (group, colour) in partitions.iter().zip(PALETTE) {
        curve(sheet, group, &points(&group.weeks, &|week| week.median_ns), colour, 1.5);
    }
    curve(sheet, all, &points(&all.weeks, &|week| week.median_ns), ALL, 3.0);
    let (ticks, words) = calendar::ticks(&time, begin, 7.0);
    axis::across(sheet, &time, &ticks, bottom, bottom);
    sheet.text(right, bottom + 34.0, SMALL, WEAK_TEXT, "text-anchor=\"end\"", &words);
    bottom + 40.0
}

/// A line through points, with a dot for each week that says what it is.
fn curve(sheet: &mut Sheet, group: &Group, points: &[(f64, f64)], colour: &str, width: f64) {
    sheet.path(&data(points), "none", &format!("stroke=\"{colour}\" stroke-width=\"{}\"", Num(width)));
    for (week, point) in group.weeks.iter().zip(points) {
        sheet.body.push_str("<g>");
        let of = if group.value.is_empty() { "all jobs".to_owned() } else { format!("{} {}", group.by, visible(&group.value)) };
        sheet.title(&[
            format!("week of {}, {of}", calendar::monday(week.begin_ns)),
            format!("{}, half of them {} or less", counted(week.jobs, "job", "jobs"), duration(week.median_ns as f64)),
            format!("nine of ten {} or less", duration(week.ninth_decile_ns as f64)),
            format!("{} core-hours in the queue", core_hours(week.queue_core_ns)),
        ]);
        sheet.dot(*point, width + 1.5, colour);
        sheet.body.push_str("</g>\n");
    }
}

/// Path data of a line through points.
fn data(points: &[(f64, f64)]) -> String {
    let mut data = String::new();
    for (at, (x, y)) in points.iter().enumerate() {
        let _ = write!(data, "{}{} {}", if at == 0 { 'M' } else { 'L' }, Num(*x), Num(*y));
    }
    data
}

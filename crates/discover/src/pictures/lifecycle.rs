//! Lifecycles as a picture, JSON and CSV.
//!
//! The picture has two bars for each activity: the time its instances spent waiting and running,
//! all added up, and what became of them.

use std::io::{self, Write};

use flowmine_draw::axis::SMALL;
use flowmine_draw::document::{self, Document, DocumentFormat};
use flowmine_draw::legend::{Entry, Sample};
use flowmine_draw::sheet::{Frame, Sheet, TEXT, WEAK_TEXT};
use flowmine_draw::text::{count, counted, duration};

use super::csv::{Csv, seconds};
use super::page::{INNER, MARGIN, NAME, Page, RULE, WARNING, name_in, nothing};
use crate::lifecycle::{Activity, Lifecycle};

/// How much of a lifecycle is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drawing {
    /// Number of activities that are drawn, those with most time; 200 at most.
    pub rows: usize,
}

impl Default for Drawing {
    fn default() -> Self {
        Self { rows: 25 }
    }
}

const NAMES: f64 = 220.0;
const TIMES: f64 = 400.0;
const GAP: f64 = 24.0;
const STATES: f64 = INNER - NAMES - TIMES - GAP;
const STEP: f64 = 44.0;
const QUEUE: &str = "#ddcc77";
const SERVICE: &str = "#2b7bba";

/// What became of instances: colour, word, and how many of an activity.
type State = (&'static str, &'static str, fn(&Activity) -> u64);

const STATUSES: [State; 6] = [
    ("#44aa99", "completed", |row| row.completed),
    ("#88ccee", "cached", |row| row.cached),
    ("#a5122e", "failed", |row| row.failed),
    ("#e08a5b", "aborted", |row| row.aborted),
    ("#aa4499", "not ended", |row| row.unfinished),
    ("#d5dce4", "not known", |row| row.status_unknown),
];

/// Draws the lifecycle as an SVG document: two bars for each activity.
pub fn svg(lifecycle: &Lifecycle, drawing: &Drawing) -> String {
    let shown = &lifecycle.activities[..lifecycle.activities.len().min(drawing.rows.clamp(1, 200))];
    let (about, total) = (&lifecycle.about, &lifecycle.total);
    let mut page = Page { title: "Lifecycle: waiting, running and outcome".to_owned(), ..Page::default() };
    let mut said =
        vec![format!("{} of {}", about.counted(total.instances), counted(lifecycle.activities.len() as u64, "activity", "activities"))];
    said.extend(total.queue_ns.map(|ns| format!("{} in the queue", duration(ns as f64))));
    said.extend(total.service_ns.map(|ns| format!("{} in service", duration(ns as f64))));
    said.extend(total.retries.map(|n| counted(n, "retry", "retries")));
    page.facts.push(said.join(" · ") + ".");
    let (queue, service) = (total.queue_known, total.service_known);
    if queue < total.instances || service < total.instances {
        page.facts.push(format!(
            "Of {} the queue time is known of {}, the service time of {}; the rest is not in the bars of time.",
            about.counted(total.instances),
            count(queue),
            count(service)
        ));
    }
    page.facts.extend(about.facts());
    if total.queue_backwards > 0 {
        page.left_out.push(format!("queue times of {} that start before they are ready", about.counted(total.queue_backwards)));
    }
    if total.service_backwards > 0 {
        page.left_out.push(format!("service times of {} that end before they start", about.counted(total.service_backwards)));
    }
    let hidden = &lifecycle.activities[shown.len()..];
    if !hidden.is_empty() {
        let ns: i128 = hidden.iter().map(Activity::known_ns).sum();
        let n: u64 = hidden.iter().map(|row| row.instances).sum();
        let words = counted(hidden.len() as u64, "activity with less time", "activities with less time");
        page.left_out.push(format!("{words} ({}, {})", about.counted(n), duration(ns as f64)));
    }
    if shown.is_empty() {
        return page.draw(|sheet, top| nothing(sheet, top, "There are no instances."));
    }
    let times = vec![
        (QUEUE.to_owned(), format!("queue: {} to start", about_ready(&about.ready))),
        (SERVICE.to_owned(), "service: start to end".to_owned()),
    ];
    let most = shown.iter().map(Activity::known_ns).max().unwrap_or(0).max(1);
    page.legend.push(Entry::new("Left bar: time, added up", Sample::Swatches(times), format!("The longest is {}.", duration(most as f64))));
    let there: Vec<&State> = STATUSES.iter().filter(|(_, _, of)| shown.iter().any(|row| of(row) > 0)).collect();
    let entries: Vec<(String, String)> = there.iter().map(|(colour, word, _)| ((*colour).to_owned(), (*word).to_owned())).collect();
    for (at, part) in entries.chunks(3).enumerate() {
        let heading = if at == 0 { "Right bar: outcome" } else { "Right bar, continued" };
        page.legend.push(Entry::new(heading, Sample::Swatches(part.to_vec()), ""));
    }
    page.draw(|sheet, top| {
        let mut y = top;
        for row in shown {
            sheet.line((MARGIN, y), (MARGIN + INNER, y), RULE, 1.0, "");
            draw(sheet, row, most, y, lifecycle);
            y += STEP;
        }
        y
    })
}

fn about_ready(ready: &str) -> String {
    name_in(ready, SMALL, 90.0)
}

fn draw(sheet: &mut Sheet, row: &Activity, most: i128, y: f64, lifecycle: &Lifecycle) {
    sheet.text(MARGIN, y + 18.0, NAME, TEXT, "", &name_in(&row.activity, NAME, NAMES - 14.0));
    let words = lifecycle.about.counted(row.instances);
    let words = match row.retries {
        Some(n) if n > 0 => format!("{words} · {}", counted(n, "retry", "retries")),
        _ => words,
    };
    sheet.text(MARGIN, y + 34.0, SMALL, WEAK_TEXT, "", &name_in(&words, SMALL, NAMES - 14.0));
    let bar = |x: f64, w: f64| Frame { x, y: y + 7.0, w, h: 14.0 };
    let mut x = MARGIN + NAMES;
    for (ns, colour) in [(row.queue_ns, QUEUE), (row.service_ns, SERVICE)] {
        if let Some(ns) = ns.filter(|ns| *ns > 0) {
            let w = (TIMES * ns as f64 / most as f64).max(0.5);
            sheet.rect(bar(x, w), 0.0, colour, None);
            x += w;
        }
    }
    let part = |ns: Option<i128>, known: u64, word: &str| {
        let of = if known < row.instances { format!(" (of {})", count(known)) } else { String::new() };
        ns.map(|ns| format!("{word} {}{of}", duration(ns as f64)))
    };
    let said: Vec<String> =
        [part(row.queue_ns, row.queue_known, "queue"), part(row.service_ns, row.service_known, "service")].into_iter().flatten().collect();
    let (words, colour) = if said.is_empty() { ("time not known".to_owned(), WARNING) } else { (said.join(" · "), TEXT) };
    sheet.text(MARGIN + NAMES, y + 36.0, SMALL, colour, "", &words);
    let left = MARGIN + NAMES + TIMES + GAP;
    let mut x = left;
    let mut said = Vec::new();
    for (colour, word, of) in &STATUSES {
        let n = of(row);
        if n > 0 {
            let w = STATES * n as f64 / row.instances.max(1) as f64;
            sheet.rect(bar(x, w), 0.0, colour, None);
            x += w;
            said.push(format!("{} {word}", count(n)));
        }
    }
    sheet.text(left, y + 36.0, SMALL, TEXT, "", &name_in(&said.join(" · "), SMALL, STATES));
}

impl Document for Lifecycle {
    const FORMAT: &'static str = "flowmine-lifecycle";
}

/// The format of the JSON document.
pub const DOCUMENT: DocumentFormat = DocumentFormat::new::<Lifecycle>();

/// Writes all activities as JSON.
///
/// # Errors
/// When `out` cannot be written.
pub fn json(lifecycle: &Lifecycle, out: impl Write) -> io::Result<()> {
    document::write(lifecycle, out)
}

/// Writes all activities as a table.
///
/// # Errors
/// When `out` cannot be written.
pub fn csv(lifecycle: &Lifecycle, out: impl Write) -> io::Result<()> {
    let columns = [
        "activity",
        "instances",
        "completed",
        "failed",
        "aborted",
        "cached",
        "unfinished",
        "status_unknown",
        "retries",
        "queue_s",
        "queue_known",
        "queue_backwards",
        "service_s",
        "service_known",
        "service_backwards",
    ];
    let mut csv = Csv::new(out, &columns)?;
    for row in &lifecycle.activities {
        csv.text(&row.activity).count(row.instances).count(row.completed).count(row.failed).count(row.aborted).count(row.cached);
        csv.count(row.unfinished).count(row.status_unknown).number(row.retries);
        csv.number(row.queue_ns.map(seconds)).count(row.queue_known).count(row.queue_backwards);
        csv.number(row.service_ns.map(seconds)).count(row.service_known).count(row.service_backwards).end()?;
    }
    csv.finish()
}

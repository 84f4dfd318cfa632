//! Batches as a picture, JSON and CSV.
//!
//! The picture has a bar for each activity: how many of its instances are in batches, by kind. JSON
//! has all batches with their cases, the table a line for each batch.

use std::collections::BTreeMap;
use std::io::{self, Write};

use flowmine_draw::axis::{SMALL, percent};
use flowmine_draw::document::{self, Document, DocumentFormat};
use flowmine_draw::legend::{Entry, Sample};
use flowmine_draw::sheet::{Frame, TEXT, WEAK_TEXT};
use flowmine_draw::text::{count, counted, duration};

use super::calendar;
use super::csv::{Csv, seconds};
use super::page::{INNER, MARGIN, NAME, Page, RULE, name_in, nothing};
use crate::batches::{BatchKind, Batches};

/// How much of the batches is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drawing {
    /// Number of activities that are drawn, those with most instances in batches; 200 at most.
    pub rows: usize,
}

impl Default for Drawing {
    fn default() -> Self {
        Self { rows: 25 }
    }
}

const NAMES: f64 = 230.0;
const BARS: f64 = 450.0;
const STEP: f64 = 36.0;

fn colour(kind: BatchKind) -> &'static str {
    match kind {
        BatchKind::Simultaneous => "#332288",
        BatchKind::AtStart => "#44aa99",
        BatchKind::AtEnd => "#ddcc77",
        BatchKind::Sequential => "#88ccee",
        BatchKind::Concurrent => "#cc6677",
    }
}

fn words(kind: BatchKind) -> &'static str {
    match kind {
        BatchKind::Simultaneous => "all start and end together",
        BatchKind::AtStart => "all start together",
        BatchKind::AtEnd => "all end together",
        BatchKind::Sequential => "one right after the other",
        BatchKind::Concurrent => "otherwise close in time",
    }
}

/// An activity over all its resources.
#[derive(Default)]
struct Row {
    instances: u64,
    by_kind: BTreeMap<BatchKind, u64>,
    sizes: Vec<u64>,
    resources: u64,
}

impl Row {
    fn in_batches(&self) -> u64 {
        self.by_kind.values().sum()
    }
}

/// Draws the batches as an SVG document: a bar for each activity.
pub fn svg(batches: &Batches, drawing: &Drawing) -> String {
    let mut rows: BTreeMap<&str, Row> = BTreeMap::new();
    for group in &batches.groups {
        let row = rows.entry(&group.activity).or_default();
        row.instances += group.instances;
        row.resources += 1;
        for batch in &group.batches {
            *row.by_kind.entry(batch.kind).or_default() += batch.instances;
            row.sizes.push(batch.instances);
        }
    }
    let mut rows: Vec<(&str, Row)> = rows.into_iter().collect();
    rows.sort_by_key(|(_, row)| std::cmp::Reverse(row.in_batches()));
    let all = rows.len();
    rows.truncate(drawing.rows.clamp(1, 200));
    let found: u64 = batches.groups.iter().map(|group| group.batches.len() as u64).sum();
    let inside: u64 = batches.groups.iter().map(|group| group.in_batches).sum();
    let mut page = Page { title: "Batches: instances that start together".to_owned(), ..Page::default() };
    page.facts.push(format!(
        "{} with {} of {}.",
        counted(found, "batch", "batches"),
        count(inside),
        batches.about.counted(batches.about.instances)
    ));
    let who = if batches.by_resource { "one activity on one resource" } else { "one activity, whatever resource they ran on" };
    page.facts.push(format!(
        "A batch: {} or more {}s of {who}, each of which starts no later than {} after those before it ended.",
        count(batches.min_size as u64),
        batches.about.word(),
        duration(batches.merge_distance_ns as f64)
    ));
    page.facts.extend(batches.about.facts());
    let mut out = |n: u64, words: &str| {
        if n > 0 {
            page.left_out.push(format!("{} {words}", batches.about.counted(n)));
        }
    };
    out(batches.without_resource, "without a resource");
    out(batches.without_time, "without a known time");
    out(batches.backwards, "that end before they start");
    if all > rows.len() {
        page.left_out.push(counted((all - rows.len()) as u64, "activity with fewer in batches", "activities with fewer in batches"));
    }
    if rows.is_empty() {
        let words = if batches.by_resource && batches.without_resource > 0 && batches.without_resource == batches.about.instances {
            "The log has no resources; batches can be looked for without them."
        } else {
            "There are no batches."
        };
        return page.draw(|sheet, top| nothing(sheet, top, words));
    }
    let kinds: Vec<(String, String)> = (BatchKind::ALL.into_iter())
        .filter(|kind| rows.iter().any(|(_, row)| row.by_kind.contains_key(kind)))
        .map(|kind| (colour(kind).to_owned(), words(kind).to_owned()))
        .chain([("#e3e8ee".to_owned(), "in no batch".to_owned())])
        .collect();
    page.legend.push(Entry::new("Colour: how they lie to each other", Sample::Swatches(kinds), ""));
    let note = format!("All {}s of an activity on resources that have batches of it.", batches.about.word());
    page.legend.push(Entry::new("Bar", Sample::Words, note));
    let (left, right) = (MARGIN + NAMES, MARGIN + NAMES + BARS);
    page.draw(|sheet, top| {
        let mut y = top;
        for (name, row) in &mut rows {
            sheet.line((MARGIN, y), (MARGIN + INNER, y), RULE, 1.0, "");
            sheet.text(MARGIN, y + 22.0, NAME, TEXT, "", &name_in(name, NAME, NAMES - 14.0));
            let bar = |x: f64, w: f64| Frame { x, y: y + 10.0, w, h: 16.0 };
            sheet.rect(bar(left, BARS), 0.0, "#e3e8ee", None);
            let mut x = left;
            for (kind, n) in &row.by_kind {
                let w = BARS * *n as f64 / row.instances.max(1) as f64;
                sheet.rect(bar(x, w), 0.0, colour(*kind), None);
                x += w;
            }
            let share = row.in_batches() as f64 / row.instances.max(1) as f64;
            let line = format!("{} of {} ({})", count(row.in_batches()), count(row.instances), percent(share));
            sheet.text(right + 12.0, y + 15.0, SMALL, TEXT, "", &line);
            row.sizes.sort_unstable();
            let median = row.sizes.get(row.sizes.len().saturating_sub(1) / 2).copied().unwrap_or(0);
            let most = row.sizes.last().copied().unwrap_or(0);
            let line =
                format!("{}, median {}, largest {}", counted(row.sizes.len() as u64, "batch", "batches"), count(median), count(most));
            sheet.text(right + 12.0, y + 29.0, SMALL, WEAK_TEXT, "", &line);
            y += STEP;
        }
        y
    })
}

impl Document for Batches {
    const FORMAT: &'static str = "flowmine-batches";
}

/// The format of the JSON document.
pub const DOCUMENT: DocumentFormat = DocumentFormat::new::<Batches>();

/// Writes all batches as JSON.
///
/// # Errors
/// When `out` cannot be written.
pub fn json(batches: &Batches, out: impl Write) -> io::Result<()> {
    document::write(batches, out)
}

/// Writes all batches as a table; the names of cases are joined by ` ; `.
///
/// # Errors
/// When `out` cannot be written.
pub fn csv(batches: &Batches, out: impl Write) -> io::Result<()> {
    let columns = ["activity", "resource", "kind", "start", "end", "duration_s", "instances", "cases", "case_names"];
    let mut csv = Csv::new(out, &columns)?;
    for group in &batches.groups {
        for batch in &group.batches {
            csv.text(&group.activity);
            match &group.resource {
                Some(resource) => csv.text(resource),
                None => csv.number(None::<u64>),
            };
            csv.text(batch.kind.name()).number(Some(calendar::iso(batch.start_ns))).number(Some(calendar::iso(batch.end_ns)));
            csv.number(Some(seconds(i128::from(batch.end_ns) - i128::from(batch.start_ns))));
            csv.count(batch.instances).count(batch.cases.len() as u64).text(&batch.cases.join(" ; ")).end()?;
        }
    }
    csv.finish()
}

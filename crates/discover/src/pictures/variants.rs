//! Variants as a picture, JSON and CSV.
//!
//! The picture has a row for each of the most frequent variants: how many cases, which activities
//! in which order, how long, how many bytes. The table has a line for each variant, its activities
//! joined by ` > `; JSON has them as a list.

use std::collections::HashSet;
use std::io::{self, Write};

use flowmine_draw::axis::{SMALL, bytes, percent};
use flowmine_draw::document::{self, Document, DocumentFormat, Entries};
use flowmine_draw::legend::{Entry, Sample};
use flowmine_draw::sheet::{Frame, Num, Sheet, TEXT, WEAK_TEXT};
use flowmine_draw::text::{count, counted, duration, visible, width};
use schemars::JsonSchema;
use serde::Serialize;

use super::colours::{OTHER, PALETTE, ink};
use super::csv::{Csv, mean_seconds};
use super::page::{INNER, MARGIN, NAME, Page, RULE, name_in, nothing};
use crate::about::{About, origin_words};
use crate::variants::{Bytes, Variant, VariantsModel};

/// How a picture of variants is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drawing {
    /// Number of variants that are drawn, the most frequent ones; 60 at most.
    pub rows: usize,
}

impl Default for Drawing {
    fn default() -> Self {
        Self { rows: 15 }
    }
}

const MOST_ROWS: usize = 60;
/// Columns: shares, traces, numbers.
const SHARES: f64 = 132.0;
const TRACES: f64 = 640.0;
const GAP: f64 = 14.0;
/// A chevron: its height, its point, the widest name in it.
const HEIGHT: f64 = 22.0;
const POINT: f64 = 7.0;
const WIDEST: f64 = 126.0;
/// So many lines of chevrons in a row at most.
const LINES: usize = 3;
const STEP: f64 = HEIGHT + 4.0;

/// Draws the most frequent variants as an SVG document, a row for each.
pub fn svg(model: &VariantsModel, drawing: &Drawing) -> String {
    let shown = &model.variants[..model.variants.len().min(drawing.rows.clamp(1, MOST_ROWS))];
    let colours = Colours::new(model);
    let counted_by = most_counted(model);
    let mut page = Page { title: "Variants: the sequences of activities of cases".to_owned(), ..Page::default() };
    let covered: u64 = shown.iter().map(|variant| variant.cases).sum();
    let share = covered as f64 / model.about.cases.max(1) as f64;
    page.facts.push(format!(
        "{} in {}; the {} shown cover {} of the cases.",
        counted(model.total, "variant", "variants"),
        counted(model.about.cases, "case", "cases"),
        count(shown.len() as u64),
        percent(share)
    ));
    let untimed: u64 = shown.iter().map(|variant| variant.cases - variant.timed_cases).sum();
    if untimed > 0 {
        page.facts.push(format!("Of {} no time is known.", counted(untimed, "case shown", "cases shown")));
    }
    if let Some(by) = counted_by {
        let known: u64 = shown.iter().flat_map(|variant| &variant.bytes).filter(|bytes| bytes.counted_by == by).map(|b| b.instances).sum();
        let all: u64 = shown.iter().map(|variant| variant.cases * variant.trace.len() as u64).sum();
        page.facts.push(format!(
            "Bytes are means per case, counted by {}; known of {} of {}.",
            origin_words(by),
            count(known),
            model.about.counted(all)
        ));
    }
    page.facts.extend(model.about.facts());
    let hidden = model.total - shown.len() as u64;
    if hidden > 0 {
        page.left_out.push(format!(
            "{} with {}",
            counted(hidden, "rarer variant", "rarer variants"),
            counted(model.about.cases - covered, "case", "cases")
        ));
    }
    let others: u64 = (shown.iter().flat_map(|variant| &variant.bytes))
        .filter(|bytes| Some(bytes.counted_by) != counted_by)
        .map(|bytes| bytes.instances)
        .sum();
    if others > 0 {
        page.left_out.push(format!("bytes of {} that others counted", model.about.counted(others)));
    }
    if !shown.is_empty() {
        page.legend = legend(&colours, counted_by.is_some());
    }
    page.draw(|sheet, top| {
        if shown.is_empty() {
            return nothing(sheet, top, "There are no cases.");
        }
        let mut y = top;
        let heads = [
            (MARGIN, "cases"),
            (MARGIN + SHARES + GAP, "activities in order of start"),
            (MARGIN + SHARES + TRACES + 2.0 * GAP, "per case"),
        ];
        for (x, words) in heads {
            sheet.text(x, y, SMALL, WEAK_TEXT, "", words);
        }
        y += 8.0;
        for (number, variant) in shown.iter().enumerate() {
            sheet.line((MARGIN, y), (MARGIN + INNER, y), RULE, 1.0, "");
            y = row(sheet, model, &colours, variant, (number + 1, counted_by), y + 8.0) + 8.0;
        }
        y
    })
}

/// The origin that knows of most instances.
fn most_counted(model: &VariantsModel) -> Option<&'static str> {
    let mut sums: Vec<(&'static str, u64)> = Vec::new();
    for bytes in model.variants.iter().flat_map(|variant| &variant.bytes) {
        match sums.iter_mut().find(|(by, _)| *by == bytes.counted_by) {
            Some((_, sum)) => *sum += bytes.instances,
            None => sums.push((bytes.counted_by, bytes.instances)),
        }
    }
    sums.into_iter().min_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0))).map(|(by, _)| by)
}

fn row(
    sheet: &mut Sheet,
    model: &VariantsModel,
    colours: &Colours,
    variant: &Variant,
    (number, counted_by): (usize, Option<&str>),
    top: f64,
) -> f64 {
    let words = format!("{} · {}", count(variant.cases), percent(variant.share));
    sheet.text(MARGIN, top + 13.0, NAME, TEXT, "font-weight=\"bold\"", &words);
    let bar = |w: f64| Frame { x: MARGIN, y: top + 19.0, w, h: 6.0 };
    sheet.rect(bar(SHARES), 1.0, "#e3e8ee", None);
    sheet.rect(bar(SHARES * variant.cumulative_share.clamp(0.0, 1.0)), 1.0, "#a8cce8", None);
    sheet.rect(bar((SHARES * variant.share.clamp(0.0, 1.0)).max(1.0)), 1.0, "#2b7bba", None);
    let words = format!("{number}. · to here {}", percent(variant.cumulative_share));
    sheet.text(MARGIN, top + 38.0, SMALL, WEAK_TEXT, "", &words);
    let lines = trace(sheet, model, colours, &variant.trace, MARGIN + SHARES + GAP, top + 2.0);
    let x = MARGIN + SHARES + TRACES + 2.0 * GAP;
    let mut said = match variant.mean_ns.zip(variant.median_ns) {
        Some((mean, _)) if variant.timed_cases == 1 => vec![format!("time {}", duration(mean))],
        Some((mean, median)) => vec![format!("mean {}", duration(mean)), format!("median {}", duration(median))],
        None => vec!["time not known".to_owned()],
    };
    if let Some(bytes) = variant.bytes.iter().find(|bytes| Some(bytes.counted_by) == counted_by) {
        let mut add = |verb: &str, number: Option<f64>| said.extend(number.map(|number| format!("{verb} {}", about_bytes(number))));
        add("read", bytes.read_bytes_per_case);
        add("wrote", bytes.written_bytes_per_case);
    }
    for (at, words) in said.iter().enumerate() {
        sheet.text(x, top + 12.0 + 14.0 * at as f64, SMALL, TEXT, "", words);
    }
    top + f64::max(42.0, f64::max(STEP * lines as f64 + 4.0, 14.0 * said.len() as f64 + 2.0))
}

/// A mean of bytes, rounded to whole bytes, in words.
pub(super) fn about_bytes(number: f64) -> String {
    bytes(number.round() as i64)
}

/// Draws chevrons and gives the number of their lines.
fn trace(sheet: &mut Sheet, model: &VariantsModel, colours: &Colours, trace: &[u32], left: f64, top: f64) -> usize {
    if trace.is_empty() {
        sheet.text(left, top + 15.0, SMALL, WEAK_TEXT, "", "no activity at all");
        return 1;
    }
    let (mut x, mut line, mut done) = (left, 0, 0);
    let more = |n: usize| format!("… {} more", count(n as u64));
    for run in trace.chunk_by(|a, b| a == b) {
        let name = model.activities.get(run[0]);
        let times = if run.len() > 1 { format!(" ×{}", count(run.len() as u64)) } else { String::new() };
        let short = name_in(name, SMALL, WIDEST - width(&times, SMALL));
        let words = format!("{short}{times}");
        let w = (width(&words, SMALL) + 2.0 * POINT + 8.0).max(30.0);
        let rest = trace.len() - done - run.len();
        // Behind the last chevron there must be room to say how many are not drawn.
        let room = if line + 1 == LINES && rest > 0 { TRACES - width(&more(rest), SMALL) - 10.0 } else { TRACES };
        if x - left + w > room {
            if line + 1 == LINES {
                sheet.text(x + 6.0, top + STEP * line as f64 + 15.0, SMALL, WEAK_TEXT, "", &more(trace.len() - done));
                break;
            }
            (x, line) = (left, line + 1);
        }
        let y = top + STEP * line as f64;
        let cut = short != visible(name);
        if cut {
            sheet.body.push_str("<g>");
            let whole: String = visible(name).chars().take(300).collect();
            sheet.title(&[whole]);
        }
        let Style { fill, border } = colours.style(run[0]);
        let (half, body) = (Num(HEIGHT / 2.0), Num(w - POINT));
        let path = format!("M{} {}h{body}l{POINT} {half}l-{POINT} {half}h-{body}l{POINT} -{half}z", Num(x), Num(y));
        sheet.path(&path, fill, &format!("stroke=\"{border}\" stroke-width=\"1.5\""));
        sheet.text(x + (w + POINT) / 2.0 - 1.0, y + 15.0, SMALL, ink(fill), "text-anchor=\"middle\"", &words);
        if cut {
            sheet.body.push_str("</g>\n");
        }
        x += w - POINT + 3.0;
        done += run.len();
    }
    line + 1
}

struct Style {
    fill: &'static str,
    border: &'static str,
}

/// The look of each activity: the most frequent are filled, the next ones have a border of the same
/// colours, all others are grey.
struct Colours {
    of: Vec<u32>,
    used: usize,
}

impl Colours {
    fn new(model: &VariantsModel) -> Self {
        let mut counts = vec![0u64; model.activities.len()];
        for variant in &model.variants {
            for &activity in &variant.trace {
                if let Some(count) = counts.get_mut(activity as usize) {
                    *count = count.saturating_add(variant.cases);
                }
            }
        }
        let mut order: Vec<u32> = (0..counts.len() as u32).filter(|&at| counts[at as usize] > 0).collect();
        order.sort_unstable_by(|&a, &b| {
            let names = || model.activities.get(a).cmp(model.activities.get(b));
            counts[b as usize].cmp(&counts[a as usize]).then_with(names)
        });
        let mut of = vec![u32::MAX; counts.len()];
        for (place, &activity) in order.iter().enumerate() {
            of[activity as usize] = place as u32;
        }
        Self { of, used: order.len() }
    }

    fn style(&self, activity: u32) -> Style {
        let place = self.of.get(activity as usize).map_or(usize::MAX, |&place| place as usize);
        match place.checked_sub(PALETTE.len()) {
            None => Style { fill: PALETTE[place], border: PALETTE[place] },
            Some(second) if second < PALETTE.len() => Style { fill: "#ffffff", border: PALETTE[second] },
            Some(_) => Style { fill: "#eef1f5", border: OTHER },
        }
    }
}

fn legend(colours: &Colours, has_bytes: bool) -> Vec<Entry> {
    let mut look = "Equal activities look equal".to_owned();
    if colours.used > PALETTE.len() {
        look.push_str("; those after the nine most frequent have a border instead");
    }
    if colours.used > 2 * PALETTE.len() {
        look.push_str(", those after eighteen a grey one");
    }
    let bytes = if has_bytes { ", and the bytes of its instances" } else { "" };
    let shares = [("#2b7bba", "of this variant"), ("#a8cce8", "with those above it")];
    let shares = shares.map(|(colour, words)| (colour.to_owned(), words.to_owned())).to_vec();
    vec![
        Entry::new("Bar: share of the cases", Sample::Swatches(shares), ""),
        Entry::new("Arrow: an activity", Sample::Words, "×3 means three in a row; long names are cut in their middle."),
        Entry::new("Colour: which activity", Sample::Words, look + "."),
        Entry::new("Per case", Sample::Words, format!("Time from a case's first to its last moment{bytes}.")),
    ]
}

/// The sequences of activities.
#[derive(Serialize, JsonSchema)]
struct Json<'a> {
    #[serde(flatten)]
    about: &'a About,
    /// Number of all variants.
    total_variants: u64,
    /// Number of cases of variants that are not listed.
    cases_not_listed: u64,
    /// The variants, the most frequent first.
    variants: Entries<'a, JsonVariant<'a>>,
}

/// A sequence of activities.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Variant")]
struct JsonVariant<'a> {
    /// Number of its cases.
    cases: u64,
    /// Their share of all cases, 0 to 1.
    share: f64,
    /// The share of the cases of this variant and of those before it, 0 to 1.
    cumulative_share: f64,
    /// Name of its first case.
    example_case: &'a str,
    /// Number of cases of which the duration is known.
    timed_cases: u64,
    /// Mean of these durations.
    mean_duration_ns: Option<f64>,
    /// Median of these durations.
    median_duration_ns: Option<f64>,
    /// Bytes moved, by who counted them.
    bytes: &'a [Bytes],
    /// Its activities, in order.
    activities: Vec<&'a str>,
}

fn json_variant<'a>(model: &'a VariantsModel, variant: &'a Variant) -> JsonVariant<'a> {
    JsonVariant {
        cases: variant.cases,
        share: variant.share,
        cumulative_share: variant.cumulative_share,
        example_case: &variant.example,
        timed_cases: variant.timed_cases,
        mean_duration_ns: variant.mean_ns,
        median_duration_ns: variant.median_ns,
        bytes: &variant.bytes,
        activities: variant.trace.iter().map(|&activity| model.activities.get(activity)).collect(),
    }
}

impl Document for Json<'_> {
    const FORMAT: &'static str = "flowmine-variants";
}

/// The format of the JSON document.
pub const DOCUMENT: DocumentFormat = DocumentFormat::new::<Json<'static>>();

/// Writes all variants as JSON.
///
/// # Errors
/// When `out` cannot be written.
pub fn json(model: &VariantsModel, out: impl Write) -> io::Result<()> {
    let variants = Entries::new(&model.variants, |variant| json_variant(model, variant));
    let whole = Json { about: &model.about, total_variants: model.total, cases_not_listed: model.cases_not_listed, variants };
    document::write(&whole, out)
}

/// Writes all variants as a table.
///
/// # Errors
/// When `out` cannot be written.
pub fn csv(model: &VariantsModel, out: impl Write) -> io::Result<()> {
    let mut origins: Vec<&str> = Vec::new();
    let mut seen = HashSet::new();
    for bytes in model.variants.iter().flat_map(|variant| &variant.bytes) {
        if seen.insert(bytes.counted_by) {
            origins.push(bytes.counted_by);
        }
    }
    origins.sort_unstable();
    let byte_columns: Vec<String> =
        origins.iter().flat_map(|by| [format!("read_bytes_per_case_{by}"), format!("written_bytes_per_case_{by}")]).collect();
    let mut columns = vec![
        "variant",
        "cases",
        "share",
        "cumulative_share",
        "example_case",
        "timed_cases",
        "mean_duration_s",
        "median_duration_s",
        "instances",
        "activities",
    ];
    columns.extend(byte_columns.iter().map(String::as_str));
    let mut csv = Csv::new(out, &columns)?;
    for (number, variant) in model.variants.iter().enumerate() {
        let names: Vec<&str> = variant.trace.iter().map(|&activity| model.activities.get(activity)).collect();
        csv.count(number as u64 + 1).count(variant.cases).number(Some(variant.share)).number(Some(variant.cumulative_share));
        csv.text(&variant.example).count(variant.timed_cases);
        csv.number(variant.mean_ns.and_then(mean_seconds)).number(variant.median_ns.and_then(mean_seconds));
        csv.count(variant.trace.len() as u64).text(&names.join(" > "));
        for by in &origins {
            let of = variant.bytes.iter().find(|bytes| bytes.counted_by == *by);
            csv.number(of.and_then(|bytes| bytes.read_bytes_per_case)).number(of.and_then(|bytes| bytes.written_bytes_per_case));
        }
        csv.end()?;
    }
    csv.finish()
}

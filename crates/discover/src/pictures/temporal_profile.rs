//! A temporal profile as a picture, JSON and CSV.
//!
//! The picture has a cell for each two activities, those of its row first, in the colour of the
//! mean time between them; a mark says that some of the times deviate. Below are the times that
//! deviate most. JSON and the tables have all pairs and all listed deviations.

use std::io::{self, Write};

use flowmine_draw::axis::SMALL;
use flowmine_draw::document::{self, Document, DocumentFormat};
use flowmine_draw::legend::{Entry, Sample};
use flowmine_draw::scale::TimeScale;
use flowmine_draw::sheet::{Frame, Num, Sheet, TEXT, WEAK_TEXT};
use flowmine_draw::text::{count, counted, duration, width};

use super::colours::ink;
use super::csv::{Csv, mean_seconds, seconds};
use super::page::{INNER, MARGIN, NAME, Page, WARNING, name_in, nothing};
use crate::temporal_profile::{Deviation, Pair, TemporalProfile};

/// How a profile is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drawing {
    /// Number of activities that are drawn, the most frequent ones; 60 at most.
    pub activities: usize,
    /// Number of deviations that are listed below, the furthest ones; 100 at most.
    pub deviations: usize,
}

impl Default for Drawing {
    fn default() -> Self {
        Self { activities: 30, deviations: 10 }
    }
}

const NAMES: f64 = 190.0;
const HEADS: f64 = 120.0;
const WIDEST: f64 = 54.0;
const LEAST: f64 = 12.0;

/// Draws the profile as an SVG document.
pub fn svg(profile: &TemporalProfile, drawing: &Drawing) -> String {
    let n = profile.activities.len().min(drawing.activities.clamp(1, 60));
    let inside = |pair: &&Pair| (pair.from as usize) < n && (pair.to as usize) < n;
    let order = order(profile, n);
    let shown: Vec<&Pair> = profile.pairs.iter().filter(inside).collect();
    let mut page = Page { title: "Temporal profile: time between activities of a case".to_owned(), ..Page::default() };
    page.facts.push(format!(
        "{} of {}: from the end of the one in the row to the start of the one in the column, where that is not before.",
        counted(profile.pairs.len() as u64, "pair", "pairs"),
        counted(profile.activities.len() as u64, "activity", "activities")
    ));
    let times: u64 = profile.pairs.iter().map(|pair| pair.count).sum();
    page.facts.push(format!(
        "{} of {} further from their mean than {} standard deviations.",
        count(profile.deviating),
        counted(times, "time is", "times are"),
        profile.zeta
    ));
    page.facts.extend(profile.about.facts());
    if profile.activities.len() > n {
        let more = (profile.activities.len() - n) as u64;
        let pairs = (profile.pairs.len() - shown.len()) as u64;
        page.left_out.push(format!(
            "{} with {}",
            counted(more, "rarer activity", "rarer activities"),
            counted(pairs, "pair, which the tables have", "pairs, which the tables have")
        ));
    }
    if profile.activities_left_out > 0 {
        page.left_out.push(format!(
            "{} that were not looked at ({})",
            counted(profile.activities_left_out, "activity", "activities"),
            profile.about.counted(profile.instances_left_out)
        ));
    }
    if profile.without_time > 0 {
        page.left_out.push(format!("{} without a known time", profile.about.counted(profile.without_time)));
    }
    if shown.is_empty() {
        return page.draw(|sheet, top| nothing(sheet, top, "There is no case with two activities one after the other at known times."));
    }
    let scale = TimeScale::new(shown.iter().map(|pair| pair.mean_ns));
    let cell = ((INNER - NAMES - 8.0) / n as f64).clamp(LEAST, WIDEST);
    let ends = [scale.least, scale.time_at(0.5), scale.most].map(duration);
    page.legend.push(Entry::new("Colour: mean time between", Sample::Ramp(scale.ramp(9), ends), ""));
    page.legend.push(Entry::new(
        "Row, column",
        Sample::Words,
        "Row: the activity before; column: the one after. Empty: never in this order.",
    ));
    if shown.iter().any(|pair| pair.deviating > 0) {
        let note = format!("Some times deviate by more than {} standard deviations.", profile.zeta);
        page.legend.push(Entry::new("Yellow corner", Sample::Words, note));
    }
    page.draw(|sheet, top| {
        let size = SMALL.min(cell * 0.85);
        let heads: Vec<String> = order.iter().map(|&activity| name_in(&profile.activities[activity], size, HEADS - 16.0)).collect();
        let (left, first) = (MARGIN + NAMES, top + heads.iter().map(|head| width(head, size)).fold(0.0, f64::max).ceil() + 4.0);
        for (at, &activity) in order.iter().enumerate() {
            let name = &profile.activities[activity];
            let middle = cell * (at as f64 + 0.5) + 4.0;
            sheet.text(left - 8.0, first + middle, size, TEXT, "text-anchor=\"end\"", &name_in(name, size, NAMES - 12.0));
            let (x, y) = (left + middle, first - 8.0);
            let turn = format!("transform=\"rotate(-90 {} {})\"", Num(x), Num(y));
            sheet.text(x, y, size, TEXT, &turn, &heads[at]);
        }
        let side = cell * n as f64;
        sheet.rect(Frame { x: left, y: first, w: side, h: side }, 0.0, "#f4f6f8", None);
        let mut place = vec![0.0; n];
        order.iter().enumerate().for_each(|(at, &activity)| place[activity] = cell * at as f64);
        for pair in &shown {
            draw(sheet, profile, pair, &scale, (left + place[pair.to as usize], first + place[pair.from as usize], cell));
        }
        deviations(sheet, profile, drawing.deviations.min(100), first + side + 12.0)
    })
}

/// Activities in the order in which they usually come: by how many others they come before more
/// often than after.
fn order(profile: &TemporalProfile, n: usize) -> Vec<usize> {
    let mut counts = vec![0u64; n * n];
    for pair in &profile.pairs {
        let (from, to) = (pair.from as usize, pair.to as usize);
        if from < n && to < n {
            counts[from * n + to] = pair.count;
        }
    }
    let score = |a: usize| {
        let others = (0..n).map(|b| (counts[a * n + b] as f64, counts[b * n + a] as f64)).filter(|(before, after)| before + after > 0.0);
        others.map(|(before, after)| (before - after) / (before + after)).sum::<f64>()
    };
    let scores: Vec<f64> = (0..n).map(score).collect();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]).then_with(|| profile.activities[a].cmp(&profile.activities[b])));
    order
}

fn draw(sheet: &mut Sheet, profile: &TemporalProfile, pair: &Pair, scale: &TimeScale, (x, y, cell): (f64, f64, f64)) {
    let fill = scale.colour(pair.mean_ns);
    let name = |at: u32| profile.activities.get(at as usize).map_or_else(String::new, |name| name_in(name, SMALL, 300.0));
    sheet.body.push_str("<g>");
    sheet.title(&[
        format!("{} → {}", name(pair.from), name(pair.to)),
        format!("mean {} · standard deviation {}", duration(pair.mean_ns), duration(pair.stdev_ns)),
        format!("{}, {} of them deviating", counted(pair.count, "time", "times"), count(pair.deviating)),
    ]);
    sheet.rect(Frame { x: x + 0.5, y: y + 0.5, w: cell - 1.0, h: cell - 1.0 }, 0.0, &fill, None);
    if pair.deviating > 0 {
        let corner = (cell * 0.3).min(9.0);
        let data = format!("M{} {}h{}v{}z", Num(x + cell - 0.5 - corner), Num(y + 0.5), Num(corner), Num(corner));
        sheet.path(&data, "#ffd766", "stroke=\"#1b2733\" stroke-width=\"0.5\"");
    }
    let words = duration(pair.mean_ns);
    if width(&words, 10.0) <= cell - 4.0 {
        sheet.text(x + cell / 2.0, y + cell / 2.0 + 4.0, 10.0, ink(&fill), "text-anchor=\"middle\"", &words);
    }
    sheet.body.push_str("</g>\n");
}

fn deviations(sheet: &mut Sheet, profile: &TemporalProfile, most: usize, top: f64) -> f64 {
    let listed = &profile.deviations[..profile.deviations.len().min(most)];
    if listed.is_empty() {
        return top;
    }
    let mut y = top + 14.0;
    let of =
        format!("Furthest from their means: {} of {}", count(listed.len() as u64), counted(profile.deviating, "deviation", "deviations"));
    sheet.text(MARGIN, y, NAME, WARNING, "font-weight=\"bold\"", &of);
    for Deviation { case, from, to, time_ns, mean_ns, deviations } in listed {
        y += 17.0;
        let name = |at: &u32| profile.activities.get(*at as usize).map_or_else(String::new, |name| name_in(name, SMALL, 210.0));
        sheet.text(MARGIN, y, SMALL, TEXT, "", &name_in(case, SMALL, 170.0));
        sheet.text(MARGIN + 180.0, y, SMALL, TEXT, "", &format!("{} → {}", name(from), name(to)));
        let far = match deviations {
            Some(far) => format!("{far:.1} standard deviations"),
            None => "all others are equal".to_owned(),
        };
        let words = format!("{}, mean {}: {far}", duration(*time_ns as f64), duration(*mean_ns));
        sheet.text(MARGIN + INNER, y, SMALL, WEAK_TEXT, "text-anchor=\"end\"", &words);
    }
    y + 8.0
}

impl Document for TemporalProfile {
    const FORMAT: &'static str = "flowmine-temporal-profile";
}

/// The format of the JSON document.
pub const DOCUMENT: DocumentFormat = DocumentFormat::new::<TemporalProfile>();

/// Writes all pairs and all listed deviations as JSON; `from` and `to` are places in `activities`.
///
/// # Errors
/// When `out` cannot be written.
pub fn json(profile: &TemporalProfile, out: impl Write) -> io::Result<()> {
    document::write(profile, out)
}

/// Writes all pairs as a table.
///
/// # Errors
/// When `out` cannot be written.
pub fn csv(profile: &TemporalProfile, out: impl Write) -> io::Result<()> {
    let mut csv = Csv::new(out, &["from", "to", "count", "mean_s", "stdev_s", "deviating"])?;
    for pair in &profile.pairs {
        csv.text(name(profile, pair.from)).text(name(profile, pair.to)).count(pair.count);
        csv.number(mean_seconds(pair.mean_ns)).number(mean_seconds(pair.stdev_ns)).count(pair.deviating).end()?;
    }
    csv.finish()
}

fn name(profile: &TemporalProfile, at: u32) -> &str {
    profile.activities.get(at as usize).map_or("", String::as_str)
}

/// Writes the listed deviations as a table.
///
/// # Errors
/// When `out` cannot be written.
pub fn deviations_csv(profile: &TemporalProfile, out: impl Write) -> io::Result<()> {
    let mut csv = Csv::new(out, &["case", "from", "to", "time_s", "mean_s", "standard_deviations"])?;
    for found in &profile.deviations {
        csv.text(&found.case).text(name(profile, found.from)).text(name(profile, found.to));
        csv.number(Some(seconds(i128::from(found.time_ns)))).number(mean_seconds(found.mean_ns)).number(found.deviations).end()?;
    }
    csv.finish()
}

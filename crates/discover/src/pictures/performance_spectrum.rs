//! A performance spectrum as a picture, JSON and CSV.
//!
//! The picture has a line of time for each activity of the path, one below the other, and between
//! two of them a line for each passage, from when the first activity ended to when the second
//! started, in the colour of the quarter in which its duration lies. With more passages than
//! [`Drawing::most_lines`] those that begin and finish in the same parts of the time are one line,
//! whose width says how many. JSON has the segments' numbers, the table every passage.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};

use flowmine_draw::axis::{self, Axis, SMALL};
use flowmine_draw::document::{self, Document, DocumentFormat};
use flowmine_draw::legend::{Entry, Sample};
use flowmine_draw::sheet::{Num, Sheet, TEXT, WEAK_TEXT};
use flowmine_draw::text::{count, counted, duration};

use super::calendar;
use super::csv::{Csv, seconds};
use super::page::{INNER, MARGIN, NAME, Page, name_in, nothing};
use crate::performance_spectrum::{PerformanceSpectrum, Segment};

/// How a spectrum is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drawing {
    /// With more passages those that look alike are one line; 20,000 at most.
    pub most_lines: usize,
}

impl Default for Drawing {
    fn default() -> Self {
        Self { most_lines: 4000 }
    }
}

/// From the shortest quarter of durations to the longest: lightness falls, blue and red are
/// distinguished with every common colour blindness.
const QUARTERS: [&str; 4] = ["#8ec1e0", "#5f7fc2", "#94429b", "#a5122e"];
const NAMES: f64 = 150.0;
const NUMBERS: f64 = 96.0;
const HEIGHT: f64 = 92.0;
const MOST_SEGMENTS: usize = 24;
/// More lines than this in a picture of parts of the time, and the parts get longer.
const MOST_MERGED: usize = 20_000;

/// Draws the spectrum as an SVG document.
pub fn svg(spectrum: &PerformanceSpectrum, drawing: &Drawing) -> String {
    let shown = &spectrum.segments[..spectrum.segments.len().min(MOST_SEGMENTS)];
    let mut page = Page { title: "Performance spectrum: how long each passage took, and when".to_owned(), ..Page::default() };
    let passages: u64 = shown.iter().map(|segment| segment.count).sum();
    let how = if spectrum.path_is_most_frequent { "activities of the most frequent variant" } else { "requested activities" };
    if !shown.is_empty() {
        page.facts.push(format!(
            "{} between the {} {how}; of each case only these activities are looked at.",
            counted(passages, "passage", "passages"),
            count(shown.len() as u64 + 1)
        ));
    }
    let overlapping: u64 = shown.iter().map(|segment| segment.overlapping).sum();
    if overlapping > 0 {
        page.facts.push(format!(
            "{}, since the activities overlap.",
            counted(overlapping, "passage ends before it begins", "passages end before they begin")
        ));
    }
    page.facts.extend(spectrum.about.facts());
    let without: u64 = shown.iter().map(|segment| segment.without_time).sum();
    if without > 0 {
        page.left_out.push(counted(without, "passage without a known time", "passages without a known time"));
    }
    let more = spectrum.segments.len() - shown.len();
    if more > 0 {
        page.left_out.push(counted(more as u64, "further activity of the path", "further activities of the path"));
    }
    let times = || shown.iter().flat_map(|segment| &segment.passages).flat_map(|passage| [passage.start_ns, passage.finish_ns]);
    let Some((low, high)) = times().min().zip(times().max()) else {
        let words = if shown.is_empty() {
            "There is no case with two different activities."
        } else {
            "No case has one of these activities after the one before it, with known times."
        };
        return page.draw(|sheet, top| nothing(sheet, top, words));
    };
    let span = ((i128::from(high) - i128::from(low)) as f64).max(1.0);
    let axis = Axis { low: -span * 0.005, high: span * 1.005, from: MARGIN + NAMES, to: MARGIN + INNER - NUMBERS - 40.0 };
    let (ticks, words) = calendar::ticks(&axis, low, 7.0);
    let merged = passages > drawing.most_lines.min(20_000) as u64;
    let lines = lines(shown, &axis, low, merged);
    if merged {
        let width = lines.part * span * 1.01 / (axis.to - axis.from);
        page.facts.push(format!(
            "Too much for single lines: the time is cut into parts of {}; passages of one quarter with equal parts are one line, or part of a bar.",
            duration(width)
        ));
    }
    page.legend = legend(&lines, shown);
    page.draw(|sheet, top| {
        let top = top + 4.0;
        let bottom = top + HEIGHT * shown.len() as f64;
        axis::across(sheet, &axis, &ticks, top, bottom);
        for (at, name) in spectrum.path.iter().take(shown.len() + 1).enumerate() {
            let y = top + HEIGHT * at as f64;
            sheet.line((axis.from, y), (axis.to, y), "#9aa5b1", 1.0, "");
            let short = name_in(name, NAME, NAMES - 14.0);
            sheet.text(axis.from - 8.0, y + 4.0, NAME, TEXT, "text-anchor=\"end\"", &short);
        }
        for (at, segment) in shown.iter().enumerate() {
            let y = top + HEIGHT * at as f64;
            draw(sheet, &lines, &lines.of[at], (y, y + HEIGHT));
            let mut said = vec![counted(segment.count, "passage", "passages")];
            if let (Some(q1), Some(median), Some(q3)) = (segment.q1_ns, segment.median_ns, segment.q3_ns) {
                said.extend([format!("¼ {}", duration(q1)), format!("½ {}", duration(median)), format!("¾ {}", duration(q3))]);
            }
            for (line, words) in said.iter().enumerate() {
                sheet.text(axis.to + 12.0, y + 26.0 + 15.0 * line as f64, SMALL, if line == 0 { TEXT } else { WEAK_TEXT }, "", words);
            }
        }
        sheet.text((axis.from + axis.to) / 2.0, bottom + 34.0, SMALL, WEAK_TEXT, "text-anchor=\"middle\"", &words);
        bottom + 40.0
    })
}

/// Quarter, from, to (in tenths of pixels): how many passages.
type Merged = BTreeMap<(usize, i64, i64), u64>;

struct Lines {
    of: Vec<Merged>,
    merged: bool,
    /// The most passages in a line.
    most: u64,
    /// The most passages in a bar.
    highest: u64,
    /// Pixels that a part of the time has.
    part: f64,
}

fn lines(segments: &[Segment], axis: &Axis, zero: i64, merged: bool) -> Lines {
    let at = |ns: i64| axis.at((i128::from(ns) - i128::from(zero)) as f64).clamp(axis.from, axis.to);
    let mut part = if merged { 6.0 } else { 0.1 };
    loop {
        let tenths = |ns: i64| {
            let place = if merged { axis.from + (((at(ns) - axis.from) / part).floor() + 0.5) * part } else { at(ns) };
            (place.min(axis.to) * 10.0).round() as i64
        };
        let of: Vec<Merged> = (segments.iter())
            .map(|segment| {
                let mut lines = Merged::new();
                for passage in &segment.passages {
                    let quarter = segment.quarter(passage.duration_ns());
                    *lines.entry((quarter, tenths(passage.start_ns), tenths(passage.finish_ns))).or_default() += 1;
                }
                lines
            })
            .collect();
        let drawn: usize = of.iter().map(BTreeMap::len).sum();
        if drawn <= MOST_MERGED || part > 100.0 {
            let mut found = Lines { of, merged, most: 0, highest: 0, part };
            for lines in &found.of {
                let mut bars: BTreeMap<i64, u64> = BTreeMap::new();
                for (&(_, from, to), &n) in lines {
                    if merged && from == to {
                        *bars.entry(from).or_default() += n;
                    } else {
                        found.most = found.most.max(n);
                    }
                }
                found.highest = found.highest.max(bars.values().copied().max().unwrap_or(0));
            }
            return found;
        }
        part *= 1.5;
    }
}

const LEVELS: usize = 4;

fn level(n: u64, most: u64) -> usize {
    let share = if most > 1 { (n as f64).ln() / (most as f64).ln() } else { 0.0 };
    ((share * LEVELS as f64) as usize).min(LEVELS - 1)
}

/// Width of a line: all widths only where numbers differ by a factor of 30 or more.
fn line_width(level: usize, most: u64) -> f64 {
    let range = ((most as f64).ln() / 30f64.ln()).min(1.0);
    if most > 1 { 0.8 + 4.0 * range * level as f64 / (LEVELS - 1) as f64 } else { 1.2 }
}

/// Whether it is part of a bar: a passage that begins and finishes in the same part of the time.
fn is_bar(lines: &Lines, from: i64, to: i64) -> bool {
    lines.merged && from == to
}

fn draw(sheet: &mut Sheet, lines: &Lines, of: &Merged, (top, bottom): (f64, f64)) {
    let mut bars: BTreeMap<i64, [u64; 4]> = BTreeMap::new();
    let mut paths: BTreeMap<(usize, usize), String> = BTreeMap::new();
    for (&(quarter, from, to), &n) in of {
        if is_bar(lines, from, to) {
            bars.entry(from).or_default()[quarter] += n;
            continue;
        }
        let data = paths.entry((quarter, level(n, lines.most))).or_default();
        let _ = write!(data, "M{} {}L{} {}", Num(from as f64 / 10.0), Num(top), Num(to as f64 / 10.0), Num(bottom));
    }
    let opacity = if of.len() > 300 { 0.6 } else { 0.85 };
    let mut stacks = [const { String::new() }; 4];
    let scale = (bottom - top - 10.0) / lines.highest.max(1) as f64;
    for (middle, counts) in bars {
        let (x, mut y) = (middle as f64 / 10.0 - lines.part / 2.0 + 0.5, bottom);
        for (data, n) in stacks.iter_mut().zip(counts).filter(|(_, n)| *n > 0) {
            let h = n as f64 * scale;
            let w = Num((lines.part - 1.0).max(1.0));
            let _ = write!(data, "M{} {}h{w}v-{}h-{w}z", Num(x), Num(y), Num(h));
            y -= h;
        }
    }
    for (data, colour) in stacks.iter().zip(QUARTERS).filter(|(data, _)| !data.is_empty()) {
        sheet.path(data, colour, "");
    }
    for ((quarter, level), data) in paths {
        let width = Num(line_width(level, lines.most));
        let extra = format!("stroke=\"{}\" stroke-width=\"{width}\" stroke-opacity=\"{}\"", QUARTERS[quarter], Num(opacity));
        sheet.path(&data, "none", &extra);
    }
}

fn legend(lines: &Lines, segments: &[Segment]) -> Vec<Entry> {
    let (one, most, merged) = (segments.len() == 1, lines.most, lines.merged);
    let names = ["shortest quarter", "second quarter", "third quarter", "longest quarter"];
    let bounds = |quarter: usize| {
        let segment = segments.first()?;
        let ends =
            [segment.min_ns.map(|ns| ns as f64), segment.q1_ns, segment.median_ns, segment.q3_ns, segment.max_ns.map(|ns| ns as f64)];
        let (low, high) = ends[quarter].zip(ends[quarter + 1])?;
        Some(format!(", {} to {}", duration(low), duration(high)))
    };
    let words = |quarter: usize| {
        let bounds = if one { bounds(quarter).unwrap_or_default() } else { String::new() };
        (QUARTERS[quarter].to_owned(), format!("{}{bounds}", names[quarter]))
    };
    let mut entries = vec![
        Entry::new("Line: a passage", Sample::Words, "From when the upper activity ended to when the lower one started. Steep is fast."),
        Entry::new(
            "Colour: duration",
            Sample::Swatches((0..4).map(words).collect()),
            if one { "" } else { "Quarters of each pair's own durations." },
        ),
        Entry::new(
            "Next to it",
            Sample::Words,
            "Number of passages, and the times within which a quarter, half and three quarters of them end.",
        ),
    ];
    if lines.highest > 0 {
        let note = format!("Passages that begin and finish in one part of the time, by quarter. The highest is {}.", count(lines.highest));
        entries.push(Entry::new("Bar: many passages", Sample::Words, note));
    }
    if most > 1 {
        let step = |level: usize| (most as f64).powf(level as f64 / LEVELS as f64).ceil().max(1.0) as u64;
        let widths: Vec<(f64, String)> = (0..LEVELS)
            .filter(|&at| level(step(at), most) == at)
            .map(|at| (line_width(at, most), format!("{} or more", count(step(at)))))
            .collect();
        let heading = if merged { "Width: passages in a line" } else { "Width: equal passages" };
        entries.push(Entry::new(heading, Sample::Widths(widths), ""));
    }
    entries
}

impl Document for PerformanceSpectrum {
    const FORMAT: &'static str = "flowmine-performance-spectrum";
}

/// The format of the JSON document.
pub const DOCUMENT: DocumentFormat = DocumentFormat::new::<PerformanceSpectrum>();

/// Writes the numbers of the segments as JSON.
///
/// # Errors
/// When `out` cannot be written.
pub fn json(spectrum: &PerformanceSpectrum, out: impl Write) -> io::Result<()> {
    document::write(spectrum, out)
}

/// Writes all passages as a table.
///
/// # Errors
/// When `out` cannot be written.
pub fn csv(spectrum: &PerformanceSpectrum, out: impl Write) -> io::Result<()> {
    let mut csv = Csv::new(out, &["segment", "from", "to", "case", "start", "finish", "duration_s", "quarter"])?;
    for (at, segment) in spectrum.segments.iter().enumerate() {
        for passage in &segment.passages {
            csv.count(at as u64 + 1).text(&segment.from).text(&segment.to).text(spectrum.cases.get(passage.case));
            csv.number(Some(calendar::iso(passage.start_ns))).number(Some(calendar::iso(passage.finish_ns)));
            let ns = passage.duration_ns();
            csv.number(Some(seconds(i128::from(ns)))).count(segment.quarter(ns) as u64 + 1).end()?;
        }
    }
    csv.finish()
}

//! A dotted chart as a picture, JSON and CSV.
//!
//! The picture has a row for each case, time from left to right, and a dot for each instance; a bar
//! from start to end where both are known. With more dots than [`Drawing::most_dots`], or more
//! cases than there are pixels for, it has cells instead, whose depth says how many instances they
//! hold and whose colour which activity most of them are.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};

use flowmine_draw::axis::{self, Axis, SMALL, Ticks};
use flowmine_draw::document::{self, Document, DocumentFormat, Entries};
use flowmine_draw::legend::{Entry, Sample};
use flowmine_draw::scale::blend;
use flowmine_draw::sheet::{Num, Sheet, TEXT, WEAK_TEXT};
use flowmine_draw::text::{count, counted, duration};
use schemars::JsonSchema;
use serde::Serialize;

use super::calendar;
use super::colours::{OTHER, PALETTE};
use super::csv::{Csv, seconds};
use super::page::{INNER, MARGIN, Page, name_in, nothing};
use crate::about::About;
use crate::dotted_chart::{Dot, DottedChart, Sort, Time};

/// How a dotted chart is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drawing {
    /// With more dots cells are drawn; 40,000 at most.
    pub most_dots: usize,
    /// Number of activities with a colour of their own, the most frequent ones; 9 at most.
    pub colours: usize,
}

impl Default for Drawing {
    fn default() -> Self {
        Self { most_dots: 20_000, colours: PALETTE.len() }
    }
}

const NAMES: f64 = 130.0;
/// Rows with names are so high, and so many of them have names.
const ROW: f64 = 14.0;
const NAMED: usize = 50;
/// Bars of a row that overlap are so far apart, and so many at most, unless the chart would be
/// higher than this.
const LANE: f64 = 6.0;
const MOST_LANES: f64 = 8.0;
const HIGHEST: f64 = 800.0;
/// A chart without names is so high.
const HEIGHT: f64 = 560.0;
/// Width of a cell, in pixels.
const CELL: f64 = 4.0;
/// Number of shades by which cells say how many dots they hold.
const LEVELS: usize = 5;

/// Draws the chart as an SVG document.
pub fn svg(chart: &DottedChart, drawing: &Drawing) -> String {
    let colours = Colours::new(chart, drawing.colours.clamp(1, PALETTE.len()));
    let named = chart.rows.len() <= NAMED;
    let cells = chart.dots.len() > drawing.most_dots.min(40_000) || chart.rows.len() as f64 * 1.5 > HEIGHT && chart.dots.len() > 4000;
    let mut page = Page { title: "Dotted chart: when each case did what".to_owned(), ..Page::default() };
    page.facts.push(format!(
        "{} of {}, {} from the top.",
        chart.about.counted(chart.dots.len() as u64),
        counted(chart.rows.len() as u64, "case", "cases"),
        match chart.sort {
            Sort::Start => "the first to start",
            Sort::Duration => "the shortest",
            Sort::End => "the first to end",
            Sort::Name => "by name",
        }
    ));
    let extent = extent(chart);
    if let Some((low, high)) = extent {
        let span = (i128::from(high) - i128::from(low)) as f64;
        page.facts.push(match chart.time {
            Time::Absolute => format!("From {} to {} UTC ({}).", calendar::moment(low), calendar::moment(high), duration(span)),
            Time::Relative => format!("Each case from its first moment on; the longest takes {}.", duration(span)),
        });
        if let Some(reason) = chart.chosen.filter(|reason| reason.time() == Time::Relative) {
            page.facts.push(format!("Time is relative because {}; --absolute draws dates.", reason.words()));
        }
    }
    page.facts.extend(chart.about.facts());
    if chart.without_time > 0 {
        page.left_out.push(format!("{} without a known time", chart.about.counted(chart.without_time)));
    }
    if chart.cases_without_time > 0 {
        page.left_out.push(counted(chart.cases_without_time, "case without a known time", "cases without a known time"));
    }
    let Some((low, high)) = extent else {
        return page.draw(|sheet, top| nothing(sheet, top, "There is no instance with a known time."));
    };
    let left = if named { MARGIN + NAMES } else { MARGIN + 26.0 };
    let right = MARGIN + INNER - 40.0;
    let zero = low;
    let span = ((i128::from(high) - i128::from(low)) as f64).max(1.0);
    let axis = Axis { low: -span * 0.01, high: span * 1.01, from: left, to: right };
    let (ticks, words) = match chart.time {
        Time::Absolute => calendar::ticks(&axis, zero, 8.0),
        Time::Relative => {
            let ticks = Ticks::of_time(&axis, 8.0);
            let words = format!("time since the case's first moment ({})", ticks.unit);
            (ticks, words)
        }
    };
    let lanes = if named && !cells { Lanes::new(chart) } else { Lanes::default() };
    let rows = chart.rows.len() as f64;
    let tops = lanes.tops(chart.rows.len());
    let height = if named { tops.last().copied().unwrap_or(ROW) } else { HEIGHT.min(3.0 * rows).max(0.5 * ROW * NAMED as f64) };
    let grid = cells.then(|| Grid::new(chart, &colours, &axis, zero, height));
    if let Some(grid) = &grid {
        page.facts.push(format!(
            "Too many for single dots: a cell shows all {}s that {} in it, in the colour of the activity that most of them are.",
            chart.about.word(),
            if chart.intervals { "start" } else { "lie" }
        ));
        page.legend.push(grid.legend(chart));
    } else {
        let form = if chart.intervals { "Bar: from start to end; dot: one moment" } else { "Dot" };
        let side = if lanes.most > 1 { " Those at the same time lie side by side, as far as there is room." } else { "" };
        page.legend.push(Entry::new(form, Sample::Words, format!("One {}, in the row of its case.{side}", chart.about.word())));
    }
    for (heading, entries) in colours.legend(chart) {
        page.legend.push(Entry::new(heading, Sample::Swatches(entries), ""));
    }
    page.draw(|sheet, top| {
        let bottom = top + height;
        axis::across(sheet, &axis, &ticks, top, bottom);
        if named {
            for (row, name) in chart.rows.iter().enumerate() {
                let y = top + (tops[row] + tops[row + 1]) / 2.0;
                sheet.line((left, y), (right, y), "#eef1f5", 1.0, "");
                let short = name_in(name, SMALL, NAMES - 12.0);
                sheet.text(left - 8.0, y + 4.0, SMALL, TEXT, "text-anchor=\"end\"", &short);
            }
        } else {
            axis::upward_words(sheet, MARGIN + 11.0, (top + bottom) / 2.0, &counted(chart.rows.len() as u64, "case", "cases"));
        }
        match &grid {
            Some(grid) => grid.draw(sheet, &colours, (left, top)),
            None => dots(sheet, chart, (&colours, &lanes), (&axis, zero), (top, height / rows, &tops)),
        }
        sheet.text((left + right) / 2.0, bottom + 34.0, SMALL, WEAK_TEXT, "text-anchor=\"middle\"", &words);
        bottom + 40.0
    })
}

/// The first and last time of all dots.
fn extent(chart: &DottedChart) -> Option<(i64, i64)> {
    let times = chart.dots.iter().flat_map(|dot| [Some(dot.start_ns), dot.end_ns]).flatten();
    times.fold(None, |found: Option<(i64, i64)>, ns| {
        let (low, high) = found.unwrap_or((ns, ns));
        Some((low.min(ns), high.max(ns)))
    })
}

fn place(axis: &Axis, zero: i64, ns: i64) -> f64 {
    axis.at((i128::from(ns) - i128::from(zero)) as f64).clamp(axis.from, axis.to)
}

fn dots(
    sheet: &mut Sheet,
    chart: &DottedChart,
    (colours, lanes): (&Colours, &Lanes),
    (axis, zero): (&Axis, i64),
    (top, row, tops): (f64, f64, &[f64]),
) {
    let lane = lanes.apart;
    let thick = if lanes.most > 1 { lane - 1.0 } else { (row * 0.6).clamp(1.5, 7.0) };
    // The rarest last, so that it is not hidden.
    let mut paths: BTreeMap<usize, (String, String)> = BTreeMap::new();
    for (number, dot) in chart.dots.iter().enumerate() {
        let middle = match tops.get(dot.row as usize..dot.row as usize + 2) {
            Some(ends) if !lanes.of.is_empty() => top + (ends[0] + ends[1]) / 2.0,
            _ => top + row * (f64::from(dot.row) + 0.5),
        };
        let y = match lanes.of.get(number) {
            Some(&(at, of)) => middle + lane * (f64::from(at) - (f64::from(of) - 1.0) / 2.0),
            None => middle,
        };
        let x = place(axis, zero, dot.start_ns);
        let (points, bars) = paths.entry(colours.draw_order(dot.activity)).or_default();
        let end = dot.end_ns.map(|end| place(axis, zero, end)).filter(|end| (end - x).abs() > 1.0);
        let _ = match end {
            Some(end) => write!(bars, "M{} {}H{}", Num(x), Num(y), Num(end)),
            None => write!(points, "M{} {}h0", Num(x), Num(y)),
        };
    }
    for (order, (points, bars)) in paths {
        let (colour, thick, wide) = (colours.by_draw_order(order), Num(thick), Num((thick * 0.9).max(2.0)));
        for (data, extra) in [
            (bars, format!("stroke=\"{colour}\" stroke-width=\"{thick}\" stroke-opacity=\"0.85\"")),
            (points, format!("stroke=\"{colour}\" stroke-width=\"{wide}\" stroke-linecap=\"round\" stroke-opacity=\"0.85\"")),
        ] {
            if !data.is_empty() {
                sheet.path(&data, "none", &extra);
            }
        }
    }
}

/// Where bars of a row overlap in time, one below the other.
#[derive(Default)]
struct Lanes {
    /// Of each dot its lane, and how many lanes its row has.
    of: Vec<(u16, u16)>,
    /// How many lanes each row has.
    rows: Vec<u16>,
    most: u16,
    /// From one lane of a row to the next, in pixels.
    apart: f64,
}

impl Lanes {
    fn new(chart: &DottedChart) -> Self {
        let rows = chart.rows.len();
        let apart = if rows <= 12 { LANE + 2.0 } else { LANE };
        let fit = ((HIGHEST / rows.max(1) as f64 - 4.0) / apart).clamp(1.0, MOST_LANES) as usize;
        let mut lanes = Self { of: Vec::with_capacity(chart.dots.len()), rows: vec![1; rows], most: 1, apart };
        let mut until: Vec<i64> = Vec::new();
        for row in chart.dots.chunk_by(|a, b| a.row == b.row) {
            until.clear();
            let first = lanes.of.len();
            for dot in row {
                // The first lane that is free; where there are too many the one that is free first.
                let free = until.iter().position(|end| *end <= dot.start_ns);
                let at = match free {
                    Some(at) => at,
                    None if until.len() < fit => {
                        until.push(i64::MIN);
                        until.len() - 1
                    }
                    None => until.iter().enumerate().min_by_key(|(_, end)| **end).map_or(0, |(at, _)| at),
                };
                until[at] = dot.end_ns.unwrap_or(dot.start_ns).max(until[at]);
                lanes.of.push((at as u16, 1));
            }
            let used = until.len() as u16;
            lanes.of[first..].iter_mut().for_each(|lane| lane.1 = used);
            lanes.most = lanes.most.max(used);
            if let Some(of) = row.first().and_then(|dot| lanes.rows.get_mut(dot.row as usize)) {
                *of = used;
            }
        }
        lanes
    }

    /// Where each named row begins below the first, and where the last one ends.
    fn tops(&self, rows: usize) -> Vec<f64> {
        let mut tops = vec![0.0];
        for row in 0..rows {
            let lanes = self.rows.get(row).copied().unwrap_or(1);
            tops.push(tops[row] + ROW.max(self.apart * f64::from(lanes) + 4.0));
        }
        tops
    }
}

/// The colours of the most frequent activities.
struct Colours {
    /// By activity: its place among the most frequent, or `most`.
    of: Vec<u8>,
    order: Vec<u32>,
    most: usize,
}

impl Colours {
    fn new(chart: &DottedChart, most: usize) -> Self {
        let mut order: Vec<u32> = (0..chart.counts.len() as u32).filter(|&at| chart.counts[at as usize] > 0).collect();
        order.sort_unstable_by(|&a, &b| {
            let names = || chart.activities.get(a).cmp(chart.activities.get(b));
            chart.counts[b as usize].cmp(&chart.counts[a as usize]).then_with(names)
        });
        let mut of = vec![most as u8; chart.counts.len()];
        for (place, &activity) in order.iter().take(most).enumerate() {
            of[activity as usize] = place as u8;
        }
        Self { of, order, most }
    }

    fn place(&self, activity: u32) -> usize {
        self.of.get(activity as usize).map_or(self.most, |&place| usize::from(place))
    }

    fn colour(&self, place: usize) -> &'static str {
        if place < self.most { PALETTE[place] } else { OTHER }
    }

    /// All others first, then the most frequent, then the rarer ones.
    fn draw_order(&self, activity: u32) -> usize {
        let place = self.place(activity);
        if place == self.most { 0 } else { place + 1 }
    }

    fn by_draw_order(&self, order: usize) -> &'static str {
        self.colour(order.checked_sub(1).unwrap_or(self.most))
    }

    /// Names and counts, in blocks of five.
    fn legend(&self, chart: &DottedChart) -> Vec<(String, Vec<(String, String)>)> {
        let mut entries: Vec<(String, String)> = (self.order.iter().take(self.most).enumerate())
            .map(|(place, &activity)| {
                let n = format!(" · {}", count(chart.counts[activity as usize]));
                let room = 200.0 - flowmine_draw::text::width(&n, SMALL);
                (self.colour(place).to_owned(), name_in(chart.activities.get(activity), SMALL, room) + &n)
            })
            .collect();
        let others = self.order.len().saturating_sub(self.most);
        if others > 0 {
            let n: u64 = self.order.iter().skip(self.most).map(|&activity| chart.counts[activity as usize]).sum();
            entries.push((OTHER.to_owned(), format!("{} · {}", counted(others as u64, "other", "others"), count(n))));
        }
        let heading = |at: usize| if at == 0 { "Colour: activity, and how often" } else { "Colour, continued" };
        entries.chunks(5).enumerate().map(|(at, part)| (heading(at).to_owned(), part.to_vec())).collect()
    }
}

/// Dots that are counted in cells, where there are too many to draw each.
struct Grid {
    /// By place: the most frequent colour, and how many dots.
    cells: BTreeMap<(u32, u32), (usize, u64)>,
    most: u64,
    /// Height of a cell, in pixels.
    high: f64,
}

impl Grid {
    fn new(chart: &DottedChart, colours: &Colours, axis: &Axis, zero: i64, height: f64) -> Self {
        let all = chart.rows.len().max(1) as u64;
        let rows = ((height / CELL).floor().max(1.0) as u64).min(all);
        let columns = ((axis.to - axis.from) / CELL).floor().max(1.0) as usize;
        let kinds = colours.most + 1;
        // Whole rows of cells at a time: dots come by row.
        let mut counts = vec![0u64; columns * kinds];
        let mut cells = BTreeMap::new();
        let row_of = |dot: &Dot| (u64::from(dot.row) * rows / all) as u32;
        for part in chart.dots.chunk_by(|a, b| row_of(a) == row_of(b)) {
            counts.fill(0);
            for dot in part {
                let column = ((place(axis, zero, dot.start_ns) - axis.from) / CELL) as usize;
                counts[column.min(columns - 1) * kinds + colours.place(dot.activity)] += 1;
            }
            for (column, counts) in counts.chunks(kinds).enumerate() {
                let sum: u64 = counts.iter().sum();
                if sum > 0 {
                    let kind = (0..kinds).max_by_key(|&kind| (counts[kind], std::cmp::Reverse(kind))).unwrap_or(0);
                    cells.insert((row_of(&part[0]), column as u32), (kind, sum));
                }
            }
        }
        let most = cells.values().map(|cell: &(usize, u64)| cell.1).max().unwrap_or(1);
        Self { cells, most, high: height / rows as f64 }
    }

    fn level(&self, n: u64) -> usize {
        if self.most <= 1 {
            return LEVELS - 1;
        }
        let share = (n as f64).ln() / (self.most as f64).ln();
        ((share * LEVELS as f64) as usize).min(LEVELS - 1)
    }

    fn colour(fill: &str, level: usize) -> String {
        let part = |at: usize| fill.get(at..at + 2).and_then(|hex| u8::from_str_radix(hex, 16).ok()).unwrap_or(0);
        let full = [part(1), part(3), part(5)];
        blend(&[full.map(|part| 255 - (255 - part) / 3), full], level as f64 / (LEVELS - 1) as f64)
    }

    fn draw(&self, sheet: &mut Sheet, colours: &Colours, (left, top): (f64, f64)) {
        let mut paths: BTreeMap<(usize, usize), String> = BTreeMap::new();
        let high = Num(if self.high > 8.0 { self.high - 2.0 } else { self.high });
        for (&(row, column), &(kind, n)) in &self.cells {
            let (x, y) = (left + CELL * f64::from(column), top + self.high * f64::from(row));
            let data = paths.entry((kind, self.level(n))).or_default();
            let _ = write!(data, "M{} {}h{CELL}v{high}h-{CELL}z", Num(x), Num(y));
        }
        for ((kind, level), data) in paths {
            sheet.path(&data, &Self::colour(colours.colour(kind), level), "");
        }
    }

    fn legend(&self, chart: &DottedChart) -> Entry {
        let step = |level: usize| (self.most as f64).powf(level as f64 / LEVELS as f64).ceil().max(1.0) as u64;
        let levels = if self.most > 1 { 0..LEVELS } else { LEVELS - 1..LEVELS };
        let mut entries: Vec<(String, String)> = Vec::new();
        for level in levels {
            let (from, to) = (step(level).max(1), if level + 1 == LEVELS { self.most } else { (step(level + 1) - 1).max(1) });
            if from <= to && self.level(from) == level {
                let words = if from == to { count(from) } else { format!("{} to {}", count(from), count(to)) };
                entries.push((Self::colour("#52606d", level), words));
            }
        }
        let cells = self.cells.len() as f64;
        let note = format!("{:.1} on average.", chart.dots.len() as f64 / cells.max(1.0));
        Entry::new(format!("Depth: {}s in a cell", chart.about.word()), Sample::Swatches(entries), note)
    }
}

/// A dotted chart.
#[derive(Serialize, JsonSchema)]
struct Json<'a> {
    #[serde(flatten)]
    about: &'a About,
    /// Order of the cases.
    sort: Sort,
    /// The time axis.
    time: Time,
    /// Number of instances without a time, which are not in it.
    without_time: u64,
    /// Number of cases without a time, which are not in it.
    cases_without_time: u64,
    /// The instances.
    dots: Entries<'a, JsonDot<'a>>,
}

/// An instance.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Dot")]
struct JsonDot<'a> {
    /// Row of its case, from zero at the top.
    row: u32,
    /// Name of its case.
    case: &'a str,
    /// Its activity.
    activity: &'a str,
    /// Its start, in nanoseconds; see `time`.
    start_ns: i64,
    /// Its end; null for an instance without a duration.
    end_ns: Option<i64>,
}

fn row_name<'a>(chart: &'a DottedChart, dot: &Dot) -> &'a str {
    chart.rows.get(dot.row)
}

impl Document for Json<'_> {
    const FORMAT: &'static str = "flowmine-dotted-chart";
}

/// The format of the JSON document.
pub const DOCUMENT: DocumentFormat = DocumentFormat::new::<Json<'static>>();

/// Writes all dots as JSON.
///
/// # Errors
/// When `out` cannot be written.
pub fn json(chart: &DottedChart, out: impl Write) -> io::Result<()> {
    let dot = |dot: &Dot| JsonDot {
        row: dot.row,
        case: row_name(chart, dot),
        activity: chart.activities.get(dot.activity),
        start_ns: dot.start_ns,
        end_ns: dot.end_ns,
    };
    let whole = Json {
        about: &chart.about,
        sort: chart.sort,
        time: chart.time,
        without_time: chart.without_time,
        cases_without_time: chart.cases_without_time,
        dots: Entries::new(&chart.dots, dot),
    };
    document::write(&whole, out)
}

/// Writes all dots as a table: times as ISO 8601, or as seconds since the case's first moment.
///
/// # Errors
/// When `out` cannot be written.
pub fn csv(chart: &DottedChart, out: impl Write) -> io::Result<()> {
    let relative = chart.time == Time::Relative;
    let columns = if relative { ["row", "case", "activity", "start_s", "end_s"] } else { ["row", "case", "activity", "start", "end"] };
    let time = |ns: i64| if relative { seconds(i128::from(ns)) } else { calendar::iso(ns) };
    let mut csv = Csv::new(out, &columns)?;
    for dot in &chart.dots {
        csv.count(u64::from(dot.row)).text(row_name(chart, dot)).text(chart.activities.get(dot.activity));
        csv.number(Some(time(dot.start_ns))).number(dot.end_ns.map(time)).end()?;
    }
    csv.finish()
}

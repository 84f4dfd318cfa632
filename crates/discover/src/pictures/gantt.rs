//! A Gantt chart as a picture, as a table and as JSON (`flowmine-gantt`).
//!
//! The picture has a field that says how many ran and waited at each time and, below it, a lane for
//! each slot of each resource, as far as there is height for them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};

use flowmine_activity_log::{IoPhase, NONE, Status};
use flowmine_draw::axis::{self, Axis, SMALL};
use flowmine_draw::document::{self, Document, DocumentFormat, Entries};
use flowmine_draw::legend::{Entry, Sample};
use flowmine_draw::sheet::{Frame, Num, Sheet, TEXT, WEAK_TEXT};
use flowmine_draw::text::{count, counted, duration, visible, width};
use schemars::JsonSchema;
use serde::Serialize;

use super::calendar;
use super::colours::{OTHER, PALETTE, ink};
use super::csv::{Csv, seconds};
use super::page::{INNER, MARGIN, Page, RULE, name_in, nothing};
use crate::about::About;
use crate::gantt::{Bar, Gantt, Level, Occupied, Resource};
use crate::who::Who;

/// How a Gantt chart is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drawing {
    /// With more bars they have no tooltips and no names.
    pub most_named: usize,
}

impl Default for Drawing {
    fn default() -> Self {
        Self { most_named: 4000 }
    }
}

const NAMES: f64 = 130.0;
/// Lanes are at most and at least so high, and all together at most.
const HIGHEST_LANE: f64 = 18.0;
const LOWEST_LANE: f64 = 2.0;
const HEIGHT: f64 = 620.0;
/// The field of how many ran at once.
const USE: f64 = 96.0;
const WAITED: &str = "#d9dee5";
/// Below bars, where lanes are so high at least, lie strips of this share of them that say when
/// they read and wrote.
const LANE_WITH_PHASES: f64 = 11.0;
const STRIPS: f64 = 0.3;
const HIGHEST_WITH_PHASES: f64 = 26.0;
const READ: &str = "#0f8f7a";
const WROTE: &str = "#c2334d";
const FAILED: &str = "#a5122e";
const WAITING_LINE: &str = "#7a6a00";
/// Number of columns into which the field of how many ran divides the time.
const COLUMNS: usize = 400;

/// Draws the chart as an SVG document.
pub fn svg(chart: &Gantt, drawing: &Drawing) -> String {
    let mut page = Page { title: "Gantt chart: what ran where and when".to_owned(), ..Page::default() };
    page.facts = facts(chart);
    page.left_out.extend(
        (chart.without_time > 0).then(|| format!("{} of which start and end are not known", chart.about.counted(chart.without_time))),
    );
    page.left_out.extend((chart.backwards > 0).then(|| format!("{} that ended before the start", chart.about.counted(chart.backwards))));
    let Some((first, last)) = chart.span_ns else {
        return page.draw(|sheet, top| nothing(sheet, top, "There is nothing of which start and end are known."));
    };
    let colours = Colours::new(chart);
    let lanes: u32 = chart.resources.iter().map(|resource| resource.lanes).sum();
    let lane = (HEIGHT / f64::from(lanes.max(1))).min(if chart.phases.is_empty() { HIGHEST_LANE } else { HIGHEST_WITH_PHASES });
    let with_lanes = lane >= LOWEST_LANE;
    if !with_lanes {
        page.left_out.push(format!("{}, for which there is no room (--format csv has all)", counted(lanes.into(), "lane", "lanes")));
    }
    let with_phases = with_lanes && !chart.phases.is_empty() && lane >= LANE_WITH_PHASES;
    if !chart.phases.is_empty() && !with_phases {
        page.left_out.push("when they read and wrote, for which lanes are too low (--format csv and perfetto have it)".to_owned());
    }
    legend(&mut page, chart, &colours, (with_lanes, with_phases));
    let axis = Axis { low: 0.0, high: (last.saturating_sub(first)).max(1) as f64, from: MARGIN + NAMES, to: MARGIN + INNER - 10.0 };
    page.draw(|sheet, top| {
        let (ticks, words) = calendar::ticks(&axis, first, 8.0);
        let height = if with_lanes { lane * f64::from(lanes) + 14.0 } else { 0.0 };
        let bottom = top + USE + height;
        axis::across(sheet, &axis, &ticks, top, bottom);
        draw_use(sheet, chart, &colours, (&axis, first), top);
        if with_lanes {
            let named = chart.bars.len() <= drawing.most_named;
            draw_lanes(sheet, chart, (&colours, named), (&axis, first), (bottom - lane * f64::from(lanes), lane));
        }
        sheet.text((axis.from + axis.to) / 2.0, bottom + 34.0, SMALL, WEAK_TEXT, "text-anchor=\"middle\"", &words);
        bottom + 40.0
    })
}

/// The bars that stand for instances.
fn first_bars(chart: &Gantt) -> impl Iterator<Item = &Bar> {
    chart.bars.iter().filter(|bar| bar.is_first())
}

fn facts(chart: &Gantt) -> Vec<String> {
    let on = chart.resources.iter().filter(|resource| resource.name.is_some()).count() as u64;
    let place = if on > 0 { format!(" on {}", counted(on, "resource", "resources")) } else { String::new() };
    let mut facts = vec![format!("{}{place}.", chart.about.counted(first_bars(chart).count() as u64))];
    if let Some((first, last)) = chart.span_ns {
        let whole = last.saturating_sub(first) as f64;
        facts.push(format!("From {} to {} UTC ({}).", calendar::moment(first), calendar::moment(last), duration(whole)));
        let level = |what: &str, level: &Level| {
            format!(
                "{what} at once: {} at most (for {}), {:.1} on average.",
                count(level.most),
                duration(level.at_most_ns as f64),
                level.mean
            )
        };
        facts.push(match chart.running.most {
            0 => "All began and ended at the same moment, as far as times are known.".to_owned(),
            _ => level("Ran", &chart.running),
        });
        facts.extend((chart.queued.most > 0).then(|| level("Waited", &chart.queued)));
    }
    facts.extend(chart.about.facts());
    facts
}

fn legend(page: &mut Page, chart: &Gantt, colours: &Colours, (with_lanes, with_phases): (bool, bool)) {
    for (heading, entries) in colours.legend(chart) {
        page.legend.push(Entry::new(heading, Sample::Swatches(entries), ""));
    }
    let mut marks = Vec::new();
    if with_lanes && chart.bars.iter().any(|bar| bar.ready_ns.is_some()) {
        marks.push((WAITED.to_owned(), "ready and not started".to_owned()));
    }
    if with_lanes && chart.bars.iter().any(|bar| bar.status == Status::Failed) {
        marks.push((FAILED.to_owned(), "under a bar: failed".to_owned()));
    }
    if !marks.is_empty() {
        let hidden = marks.iter().any(|(colour, _)| colour == WAITED);
        let note = if hidden { "Waiting is drawn where its lane was free." } else { "" };
        page.legend.push(Entry::new("Marks", Sample::Swatches(marks), note));
    }
    if with_lanes && chart.bars.iter().any(|bar| bar.staged_until_ns.is_some()) {
        let note = "It had started, as reported, and had no process yet that was traced.";
        page.legend.push(Entry::new("Pale begin of a bar", Sample::Words, note));
    }
    if with_phases {
        let mut samples = vec![(READ.to_owned(), "it read".to_owned()), (WROTE.to_owned(), "it wrote".to_owned())];
        samples.retain(|(colour, _)| chart.phases.iter().any(|phase| phase.write == (colour == WROTE)));
        let added_up = chart.phases.iter().any(|phase| phase.added_up);
        let note = if added_up { "Operations were added up: from the first to the last one on an open file." } else { "" };
        page.legend.push(Entry::new("Below a bar", Sample::Swatches(samples), note));
    }
    if with_lanes && chart.bars.iter().any(|bar| !bar.start_is_known) {
        let note = "Its start is not known: the bar begins when it was ready.";
        page.legend.push(Entry::new("Pale bar", Sample::Words, note));
    }
    if with_lanes && chart.resources.iter().any(|resource| occupied(resource).is_some()) {
        let note = "The most CPUs, GPUs and memory occupied at once; a job on several nodes counts on each with an equal share.";
        page.legend.push(Entry::new("≤ at a name", Sample::Words, note));
    }
    if chart.queued.most > 0 {
        page.legend.push(Entry::new(
            "Dashed line above",
            Sample::Dashed(WAITING_LINE.to_owned(), 1.5),
            "Number of ready instances that waited.",
        ));
    }
}

/// Which activities have which colour.
struct Colours {
    /// By activity: its place among those with most time, or [`PALETTE`]'s length.
    of: Vec<usize>,
    /// The activities with bars, by time.
    order: Vec<(u32, u64, i128)>,
}

impl Colours {
    fn new(chart: &Gantt) -> Self {
        let mut sums = vec![(0u64, 0i128); chart.activities.len()];
        for bar in first_bars(chart) {
            let (n, time) = &mut sums[bar.activity as usize];
            *n += 1;
            *time += i128::from(bar.end_ns) - i128::from(bar.start_ns);
        }
        let mut order: Vec<(u32, u64, i128)> = (0..).zip(&sums).filter(|(_, sum)| sum.0 > 0).map(|(at, sum)| (at, sum.0, sum.1)).collect();
        order.sort_by(|a, b| (b.2, b.1).cmp(&(a.2, a.1)).then_with(|| chart.activities.get(a.0).cmp(chart.activities.get(b.0))));
        let mut of = vec![PALETTE.len(); sums.len()];
        for (place, (activity, ..)) in order.iter().enumerate().take(PALETTE.len()) {
            of[*activity as usize] = place;
        }
        Self { of, order }
    }

    fn place(&self, activity: u32) -> usize {
        self.of.get(activity as usize).copied().unwrap_or(PALETTE.len())
    }

    fn colour(place: usize) -> &'static str {
        PALETTE.get(place).copied().unwrap_or(OTHER)
    }

    fn legend(&self, chart: &Gantt) -> Vec<(String, Vec<(String, String)>)> {
        let words = |activity: u32, n: u64, time: i128| {
            let rest = format!(" · {} · {}", count(n), duration(time as f64));
            name_in(chart.activities.get(activity), SMALL, 205.0 - width(&rest, SMALL)) + &rest
        };
        let shown = self.order.iter().take(PALETTE.len()).enumerate();
        let mut entries: Vec<(String, String)> =
            shown.map(|(place, &(at, n, time))| (Self::colour(place).to_owned(), words(at, n, time))).collect();
        let others = self.order.get(PALETTE.len()..).unwrap_or_default();
        if !others.is_empty() {
            let n: u64 = others.iter().map(|other| other.1).sum();
            entries.push((OTHER.to_owned(), format!("{} · {}", counted(others.len() as u64, "other", "others"), count(n))));
        }
        let heading = |at: usize| if at == 0 { "Colour: activity, number, time" } else { "Colour, continued" };
        entries.chunks(5).enumerate().map(|(at, part)| (heading(at).to_owned(), part.to_vec())).collect()
    }
}

/// How many ran, by activity, and how many waited: the mean over each column.
struct Use {
    running: Vec<[f64; PALETTE.len() + 1]>,
    waiting: Vec<f64>,
}

impl Use {
    fn new(chart: &Gantt, colours: &Colours, first: i64, span: f64) -> Self {
        let mut found = Self { running: vec![[0.0; PALETTE.len() + 1]; COLUMNS], waiting: vec![0.0; COLUMNS] };
        let column = |ns: i64| (ns.saturating_sub(first) as f64 / span * COLUMNS as f64).clamp(0.0, COLUMNS as f64);
        for bar in first_bars(chart) {
            let place = colours.place(bar.activity);
            spread(column(bar.start_ns), column(bar.end_ns), |at, share| found.running[at][place] += share);
            if let Some(ready) = bar.ready_ns {
                spread(column(ready), column(bar.start_ns), |at, share| found.waiting[at] += share);
            }
        }
        found
    }
}

/// Calls with each column between two places, and the share of it that lies between them.
fn spread(from: f64, to: f64, mut each: impl FnMut(usize, f64)) {
    let mut at = from as usize;
    while at < COLUMNS && (at as f64) < to {
        each(at, to.min(at as f64 + 1.0) - from.max(at as f64));
        at += 1;
    }
}

fn draw_use(sheet: &mut Sheet, chart: &Gantt, colours: &Colours, (axis, first): (&Axis, i64), top: f64) {
    let levels = Use::new(chart, colours, first, axis.high);
    let sums = levels.running.iter().map(|column| column.iter().sum::<f64>());
    let most = sums.chain(levels.waiting.iter().copied()).fold(0.0f64, f64::max).max(1.0);
    let bottom = top + USE;
    let up = |n: f64| bottom - n / most * (USE - 6.0);
    let x = |at: usize| axis.from + (axis.to - axis.from) * at as f64 / COLUMNS as f64;
    sheet.text(MARGIN, top + 12.0, SMALL, TEXT, "", "number at once");
    let whole = most.floor() as u64;
    let steps = if whole <= 4 { (0..=whole).collect() } else { vec![0, whole / 2, whole] };
    for n in steps.into_iter().map(|n| n as f64) {
        sheet.line((axis.from, up(n)), (axis.to, up(n)), axis::GRID, 1.0, "");
        sheet.text(axis.from - 6.0, up(n) + 4.0, SMALL, WEAK_TEXT, "text-anchor=\"end\"", &count(n as u64));
    }
    let mut floor = vec![0.0; COLUMNS];
    for place in 0..=PALETTE.len() {
        let part = |at: usize| levels.running[at][place];
        if (0..COLUMNS).all(|at| part(at) == 0.0) {
            continue;
        }
        let mut data = String::new();
        for (at, low) in floor.iter_mut().enumerate() {
            let high = *low + part(at);
            if high > *low {
                let _ = write!(data, "M{} {}H{}V{}H{}z", Num(x(at)), Num(up(*low)), Num(x(at + 1)), Num(up(high)), Num(x(at)));
            }
            *low = high;
        }
        sheet.path(&data, Colours::colour(place), "");
    }
    if chart.queued.most > 0 {
        let mut data = String::new();
        for (at, n) in levels.waiting.iter().enumerate() {
            let _ = write!(data, "{}{} {}H{}", if at == 0 { "M" } else { "L" }, Num(x(at)), Num(up(*n)), Num(x(at + 1)));
        }
        let extra = format!("stroke=\"{WAITING_LINE}\" stroke-width=\"1.5\" stroke-dasharray=\"5 3\"");
        sheet.path(&data, "none", &extra);
    }
}

/// The CPUs, GPUs and memory of a resource that were occupied at most, in words.
fn occupied(resource: &Resource) -> Option<String> {
    let number = |of: Option<Occupied>, words: &str| of.filter(|of| of.most > 0.0).map(|of| format!("{:.0} {words}", of.most));
    let memory = resource.memory_bytes.filter(|of| of.most > 0.0).map(|of| axis::bytes(of.most as i128));
    let words: Vec<String> = [number(resource.cpus, "CPUs"), number(resource.gpus, "GPUs"), memory].into_iter().flatten().collect();
    (!words.is_empty()).then(|| format!("≤ {}", words.join(", ")))
}

fn draw_lanes(sheet: &mut Sheet, chart: &Gantt, (colours, named): (&Colours, bool), (axis, first): (&Axis, i64), (top, lane): (f64, f64)) {
    let x = |ns: i64| axis.at(ns.saturating_sub(first) as f64).clamp(axis.from, axis.to);
    // Names of resources stand where there is room for them.
    let mut free = top;
    for resource in &chart.resources {
        let y = top + lane * f64::from(resource.first_lane);
        sheet.line((MARGIN, y), (axis.to, y), RULE, 1.0, "");
        let middle = y + lane * f64::from(resource.lanes) / 2.0 + 4.0;
        if middle - 10.0 >= free - 1.0 {
            let name = resource.name.as_deref().unwrap_or("(not known)");
            let words = occupied(resource);
            let has_second_line = middle + 12.0 <= y + lane * f64::from(resource.lanes);
            // Where there is no second line, what is occupied stands behind the name if it fits.
            let both = words.as_ref().filter(|_| !has_second_line).map(|words| format!("{} · {words}", visible(name)));
            let label = both.filter(|both| width(both, SMALL) <= NAMES - 14.0).unwrap_or_else(|| name_in(name, SMALL, NAMES - 14.0));
            sheet.text(axis.from - 8.0, middle, SMALL, TEXT, "text-anchor=\"end\"", &label);
            free = middle + 3.0;
            if let Some(words) = words.filter(|_| has_second_line) {
                sheet.text(axis.from - 8.0, middle + 11.0, 9.0, WEAK_TEXT, "text-anchor=\"end\"", &name_in(&words, 9.0, NAMES - 14.0));
                free = middle + 14.0;
            }
        }
    }
    let strips = if !chart.phases.is_empty() && lane >= LANE_WITH_PHASES { (lane * STRIPS).floor() } else { 0.0 };
    let full = (lane - if lane > 5.0 { 2.0 } else { 0.3 }).max(1.0);
    let high = full - strips;
    let waited: String = chart
        .bars
        .iter()
        .filter_map(|bar| {
            let from = x(bar.ready_ns?);
            let y = top + lane * f64::from(bar.lane) + (lane - full) / 2.0 + high * 0.3;
            let to = x(bar.start_ns);
            (to - from >= 0.3).then(|| format!("M{} {}H{}v{}H{}z", Num(from), Num(y), Num(to), Num(high * 0.4), Num(from)))
        })
        .collect();
    if !waited.is_empty() {
        sheet.path(&waited, WAITED, "");
    }
    let mut paths: BTreeMap<(usize, bool), String> = BTreeMap::new();
    for bar in &chart.bars {
        let (from, to) = (x(bar.start_ns), x(bar.end_ns));
        let y = top + lane * f64::from(bar.lane) + (lane - full) / 2.0;
        let frame = Frame { x: from, y, w: (to - from).max(0.8), h: high };
        let place = colours.place(bar.activity);
        if named {
            draw_bar(sheet, chart, bar, frame, Colours::colour(place));
        } else {
            let data = paths.entry((place, bar.start_is_known)).or_default();
            let _ = write!(data, "M{} {}h{}v{}h{}z", Num(frame.x), Num(frame.y), Num(frame.w), Num(frame.h), Num(-frame.w));
        }
    }
    for ((place, known), data) in paths {
        sheet.path(&data, Colours::colour(place), if known { "" } else { "fill-opacity=\"0.45\"" });
    }
    let pale: String = chart
        .bars
        .iter()
        .filter_map(|bar| {
            let (from, to) = (x(bar.start_ns), x(bar.staged_until_ns?));
            let y = top + lane * f64::from(bar.lane) + (lane - full) / 2.0;
            (to - from >= 0.3).then(|| format!("M{} {}H{}v{}H{}z", Num(from), Num(y), Num(to), Num(high), Num(from)))
        })
        .collect();
    if !pale.is_empty() {
        sheet.path(&pale, "#ffffff", "fill-opacity=\"0.6\"");
    }
    if strips > 0.0 {
        for (write, colour) in [(false, READ), (true, WROTE)] {
            let mut data = String::new();
            for bar in &chart.bars {
                let y = top + lane * f64::from(bar.lane) + (lane - full) / 2.0 + high + if write { strips / 2.0 } else { 0.0 };
                for phase in chart.phases_of(bar).iter().filter(|phase| phase.write == write) {
                    let (from, to) = (x(phase.from_ns.max(bar.start_ns)), x(phase.to_ns.min(bar.end_ns)));
                    let _ = write!(
                        data,
                        "M{} {}h{}v{}h{}z",
                        Num(from),
                        Num(y),
                        Num((to - from).max(0.5)),
                        Num(strips / 2.0),
                        Num(-(to - from).max(0.5))
                    );
                }
            }
            if !data.is_empty() {
                sheet.path(&data, colour, "");
            }
        }
    }
    let failed: String = chart
        .bars
        .iter()
        .filter(|bar| bar.status == Status::Failed)
        .map(|bar| {
            let (from, to) = (x(bar.start_ns), x(bar.end_ns));
            let y = top + lane * f64::from(bar.lane) + (lane - full) / 2.0 + high;
            let thick = (high / 4.0).clamp(0.8, 3.0);
            format!("M{} {}h{}v{}h{}z", Num(from), Num(y - thick), Num((to - from).max(1.5)), Num(thick), Num(-(to - from).max(1.5)))
        })
        .collect();
    if !failed.is_empty() {
        sheet.path(&failed, FAILED, "");
    }
}

fn draw_bar(sheet: &mut Sheet, chart: &Gantt, bar: &Bar, frame: Frame, colour: &str) {
    sheet.body.push_str("<g>");
    sheet.title(&told(chart, bar));
    if bar.start_is_known {
        sheet.rect(frame, 0.0, colour, None);
    } else {
        let data = format!("M{} {}h{}v{}h{}z", Num(frame.x), Num(frame.y), Num(frame.w), Num(frame.h), Num(-frame.w));
        sheet.path(&data, colour, "fill-opacity=\"0.45\"");
    }
    if frame.h >= 12.0 && frame.w > 26.0 {
        let words = name_in(chart.activities.get(bar.activity), 10.0, frame.w - 8.0);
        // A name of which next to nothing is left says nothing.
        if words.chars().count() > 2 {
            let ink = if bar.start_is_known { ink(colour) } else { TEXT };
            sheet.text(frame.x + 4.0, frame.y + frame.h / 2.0 + 3.5, 10.0, ink, "", &words);
        }
    }
    sheet.body.push_str("</g>\n");
}

fn told(chart: &Gantt, bar: &Bar) -> Vec<String> {
    let mut lines = vec![visible(chart.activities.get(bar.activity))];
    lines.extend(chart.identities.who(bar.instance).words());
    lines.extend((bar.parts > 1).then(|| format!("on {} nodes", bar.parts)));
    lines.extend(Some(bar.case).filter(|case| *case != NONE).map(|case| format!("case {}", visible(chart.cases.get(case)))));
    lines.extend(bar.not_ready_ns().map(|ns| format!("submitted {} before it was ready", duration(ns as f64))));
    lines.extend(bar.ready_ns.map(|ready| format!("waited {}", duration(bar.start_ns.saturating_sub(ready) as f64))));
    let whole = duration(bar.end_ns.saturating_sub(bar.start_ns) as f64);
    let begin = calendar::moment(bar.start_ns);
    let ran = bar.running_ns.map(|ns| duration(ns as f64)).filter(|ran| *ran != whole || bar.start_is_known);
    lines.push(match ran {
        Some(ran) if ran == whole => format!("ran {ran}, from {begin} UTC"),
        Some(ran) => format!("ran {ran} within {whole}, from {begin} UTC"),
        None if bar.start_is_known => format!("ran {whole}, from {begin} UTC"),
        None => format!("waited and ran {whole}, from {begin} UTC"),
    });
    lines.extend(bar.staged_until_ns.map(|until| format!("staged {}", duration(until.saturating_sub(bar.start_ns) as f64))));
    for (write, what) in [(false, "read"), (true, "wrote")] {
        let of = || chart.phases_of(bar).iter().filter(|phase| phase.write == write);
        let bytes = flowmine_sums::total(of().map(|phase| phase.bytes));
        lines.extend((bytes > 0).then(|| format!("{what} {} in {}", axis::bytes(bytes), counted(of().count() as u64, "phase", "phases"))));
    }
    lines.extend(bar.attempt.filter(|attempt| *attempt > 1).map(|attempt| format!("attempt {attempt}")));
    lines.push(status(bar.status).to_owned());
    lines
}

fn status(status: Status) -> &'static str {
    match status {
        Status::Unknown => "unknown",
        Status::Completed => "completed",
        Status::Failed => "failed",
        Status::Aborted => "aborted",
        Status::Cached => "cached",
        Status::Unfinished => "unfinished",
    }
}

/// Instances as bars over time.
#[derive(Serialize, JsonSchema)]
struct Json<'a> {
    #[serde(flatten)]
    about: &'a About,
    /// The first moment; null without any.
    from_ns: Option<i64>,
    /// The last moment; null without any.
    to_ns: Option<i64>,
    /// Number of instances that run at the same time.
    running: Level,
    /// Number of instances that wait at the same time.
    queued: Level,
    /// Number of instances without a time, which are not in it.
    without_time: u64,
    /// Number of instances that end before they start.
    backwards: u64,
    /// The resources, each with its lanes.
    resources: &'a [Resource],
    /// The instances.
    bars: Entries<'a, JsonBar<'a>>,
}

/// An instance.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Bar")]
struct JsonBar<'a> {
    /// Its lane, from zero at the top.
    lane: u32,
    #[serde(flatten)]
    who: Who,
    /// Number of resources that it has at the same time.
    resources: u32,
    /// Its activity.
    activity: &'a str,
    /// Name of its case; null for an instance of none.
    case: Option<&'a str>,
    /// When it was submitted, if it was not ready then; null otherwise.
    submitted_ns: Option<i64>,
    /// When it was ready, if before its start; null otherwise.
    ready_ns: Option<i64>,
    /// When it started; null where that is not known.
    start_ns: Option<i64>,
    /// Running time: what the engine measured, otherwise from start to end; null where neither is
    /// known.
    running_ns: Option<i64>,
    /// When its input was in place; null where that is not known.
    staged_until_ns: Option<i64>,
    /// When it ended; null for an instance that has not.
    end_ns: Option<i64>,
    /// `unknown`, `completed`, `failed`, `aborted`, `cached` or `unfinished`.
    status: &'static str,
    /// Number of the attempt, from one; null where that is not known.
    attempt: Option<u32>,
    /// Its times of reading and writing, as far as they were traced.
    io: Vec<JsonPhase>,
}

/// A time in which an instance reads or writes.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Phase")]
struct JsonPhase {
    /// Its beginning.
    from_ns: i64,
    /// Its end.
    to_ns: i64,
    /// Whether it writes; else it reads.
    write: bool,
    /// Bytes moved.
    bytes: i64,
    /// Number of operations.
    operations: u64,
    /// Whether only sums were traced.
    added_up: bool,
}

fn json_phase(of: &IoPhase) -> JsonPhase {
    let &IoPhase { from_ns, to_ns, write, bytes, operations, added_up } = of;
    JsonPhase { from_ns, to_ns, write, bytes, operations, added_up }
}

/// What is known of a bar: its moment of being ready, its start, its end.
fn moments(bar: &Bar) -> (Option<i64>, Option<i64>, Option<i64>) {
    let end = (bar.status != Status::Unfinished).then_some(bar.end_ns);
    if bar.start_is_known { (bar.ready_ns, Some(bar.start_ns), end) } else { (Some(bar.start_ns), None, end) }
}

fn json_bar<'a>(chart: &'a Gantt, bar: &Bar) -> JsonBar<'a> {
    let (ready_ns, start_ns, end_ns) = moments(bar);
    JsonBar {
        lane: bar.lane,
        who: chart.identities.who(bar.instance),
        resources: bar.parts,
        activity: chart.activities.get(bar.activity),
        case: (bar.case != NONE).then(|| chart.cases.get(bar.case)),
        submitted_ns: bar.submitted_ns,
        ready_ns,
        start_ns,
        running_ns: bar.running_ns,
        staged_until_ns: bar.staged_until_ns,
        end_ns,
        status: status(bar.status),
        attempt: bar.attempt,
        io: chart.phases_of(bar).iter().map(json_phase).collect(),
    }
}

impl Document for Json<'_> {
    const FORMAT: &'static str = "flowmine-gantt";
}

/// The format of the JSON document.
pub const DOCUMENT: DocumentFormat = DocumentFormat::new::<Json<'static>>();

/// Writes all bars as JSON.
///
/// # Errors
/// When `out` cannot be written.
pub fn json(chart: &Gantt, out: impl Write) -> io::Result<()> {
    let whole = Json {
        about: &chart.about,
        from_ns: chart.span_ns.map(|span| span.0),
        to_ns: chart.span_ns.map(|span| span.1),
        running: chart.running,
        queued: chart.queued,
        without_time: chart.without_time,
        backwards: chart.backwards,
        resources: &chart.resources,
        bars: Entries::new(&chart.bars, |bar| json_bar(chart, bar)),
    };
    document::write(&whole, out)
}

const COLUMNS_OF_BARS: [&str; 18] = [
    "resource",
    "slot",
    "activity",
    "case",
    "ready",
    "start",
    "staged_until",
    "end",
    "status",
    "attempt",
    "read_phases_s",
    "read_phases_bytes",
    "write_phases_s",
    "write_phases_bytes",
    "job",
    "task",
    "work_dir",
    "resources",
];

/// Writes all bars as a table.
///
/// # Errors
/// When `out` cannot be written.
pub fn csv(chart: &Gantt, out: impl Write) -> io::Result<()> {
    let mut csv = Csv::new(out, &COLUMNS_OF_BARS)?;
    let mut resources = chart.resources.iter().peekable();
    let mut resource = resources.next();
    for bar in &chart.bars {
        while let Some(next) = resources.next_if(|next| next.first_lane <= bar.lane) {
            resource = Some(next);
        }
        let (name, slot) = resource.map_or((None, 0), |of| (of.name.as_deref(), bar.lane - of.first_lane + 1));
        let (ready, start, end) = moments(bar);
        csv.text(name.unwrap_or_default()).count(slot.into()).text(chart.activities.get(bar.activity));
        csv.text(if bar.case == NONE { "" } else { chart.cases.get(bar.case) });
        csv.number(ready.map(calendar::iso)).number(start.map(calendar::iso)).number(bar.staged_until_ns.map(calendar::iso));
        csv.number(end.map(calendar::iso)).text(status(bar.status)).number(bar.attempt);
        for write in [false, true] {
            let phases = || chart.phases_of(bar).iter().filter(|phase| phase.write == write);
            let known = phases().next().is_some();
            let time: i128 = phases().map(|phase| i128::from(phase.to_ns) - i128::from(phase.from_ns)).sum();
            let bytes: i128 = phases().map(|phase| i128::from(phase.bytes)).sum();
            csv.number(known.then(|| seconds(time))).number(known.then_some(bytes));
        }
        let who = chart.identities.who(bar.instance);
        csv.text_or_unknown(who.job.as_deref()).text_or_unknown(who.task.as_deref()).text_or_unknown(who.work_dir.as_deref());
        csv.count(bar.parts.into());
        csv.end()?;
    }
    csv.finish()
}

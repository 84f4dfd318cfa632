//! Shares of tasks' times between first and last access to their files as a self-contained SVG
//! figure (Figure 4 of the monitoring paper).
//!
//! A row is a logical task, a point a file of a task attempt. A row with many points is a histogram
//! of the shares instead, in cells of one percent.

use crate::file_span::{Group, Point, Shares, Use};
use flowmine_draw::axis::{self, Axis, SMALL, Ticks, percent};
use flowmine_draw::scale::blend;
use flowmine_draw::sheet::{Frame, Part, Sheet, TEXT, WEAK_TEXT};
use flowmine_draw::text::{count, counted, width, wrap_name, wrap_words};

const MARGIN: f64 = 24.0;
const NAMES: f64 = 178.0;
const PLOT: f64 = 606.0;
/// Width of the area right of 100 %, in which larger shares are drawn.
const ABOVE: f64 = 46.0;
const NUMBERS: f64 = 132.0;
/// Maximum number of points of a row; a row with more, or a higher one, is a histogram.
const MOST_POINTS: usize = 250;
const HIGHEST: f64 = 96.0;
const CELLS: usize = 100;
const CELL: f64 = 13.0;
/// Maximum number of logical tasks in the figure; those with most points are drawn.
const ROWS: usize = 60;
const WARNING: &str = "#8a2c0d";

fn colour(used: Use) -> [u8; 3] {
    match used {
        Use::Read => [0x2b, 0x7b, 0xba],
        Use::Both => [0x55, 0x30, 0x8a],
        Use::Written => [0xcc, 0x66, 0x00],
    }
}

fn hex([r, g, b]: [u8; 3]) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// Draws the shares as an SVG document.
pub fn svg(shares: &Shares) -> String {
    let mut sheet = Sheet::default();
    let title = "How much of a task's time lies between its first and last access to a file";
    let mut shown: Vec<usize> = (0..shares.groups.len()).collect();
    shown.sort_by_key(|&at| std::cmp::Reverse(shares.groups[at].points.len()));
    shown.truncate(ROWS);
    shown.sort_unstable();
    let groups: Vec<&Group> = shown.iter().map(|&at| &shares.groups[at]).collect();

    let left = MARGIN + NAMES;
    let axis = Axis { low: 0.0, high: 1.0, from: left, to: left + PLOT };
    let right = axis.to + ABOVE + NUMBERS;
    let inner = right - MARGIN;
    sheet.begin(Part::Heading);
    let mut y = MARGIN;
    for line in wrap_words(title, 18.0 * 1.14, inner) {
        y += 20.0;
        sheet.text(MARGIN, y, 18.0, TEXT, "font-weight=\"bold\"", &line);
    }
    y += 6.0;
    let (facts, told) = (facts(shares), told(shares, groups.len()));
    for line in facts.iter().flat_map(|fact| wrap_words(fact, 12.0, inner)) {
        y += 16.0;
        sheet.text(MARGIN, y, 12.0, WEAK_TEXT, "", &line);
    }
    for line in told.iter().flat_map(|fact| wrap_words(fact, 12.0 * 1.14, inner)) {
        y += 16.0;
        sheet.text(MARGIN, y, 12.0, WARNING, "font-weight=\"bold\"", &line);
    }
    sheet.end();
    let top = y + 20.0;
    let rows: Vec<Row> = groups.iter().map(|group| Row::new(group, &axis)).collect();
    let bottom = top + rows.iter().map(|row| row.height).sum::<f64>();
    let ticks = Ticks { at: (0..=10).map(|n| (f64::from(n) / 10.0, format!("{}", n * 10))).collect(), unit: "%" };
    axis::across(&mut sheet, &axis, &ticks, top, bottom);
    let above = shares.groups.iter().flat_map(|group| &group.points).any(|point| point.share.is_some_and(|share| share > 1.0));
    if above {
        sheet.line((axis.to + 4.0, top), (axis.to + 4.0, bottom), WARNING, 1.0, "stroke-dasharray=\"3 3\"");
        sheet.text(axis.to + 15.0, bottom + 17.0, SMALL, WARNING, "", ">100");
    }
    let most = rows.iter().filter_map(Row::most).max().unwrap_or(1);
    y = top;
    for (row, group) in rows.iter().zip(&groups) {
        if y > top {
            sheet.line((MARGIN, y), (right, y), "#d5dce4", 1.0, "");
        }
        row.draw(&mut sheet, group, &axis, most, y);
        y += row.height;
    }
    y = bottom + 34.0;
    let middle = (axis.from + axis.to) / 2.0;
    sheet.text(
        middle,
        y,
        SMALL,
        WEAK_TEXT,
        "text-anchor=\"middle\"",
        "share of the task's time (%): small is bulky access, near 100 streaming",
    );
    sheet.drawing(Frame { x: MARGIN - 12.0, y: top - 12.0, w: inner + 24.0, h: y - top + 24.0 });
    sheet.begin(Part::Legend);
    let bottom = legend(&mut sheet, shares, &rows, most, y + 16.0, inner);
    sheet.end();
    sheet.document(right + MARGIN, (bottom + MARGIN).ceil(), title, &[facts, told].concat().join(" "))
}

fn facts(shares: &Shares) -> Vec<String> {
    let points: usize = shares.groups.iter().map(|group| group.points.len()).sum();
    let tasks: usize = shares.groups.iter().map(|group| group.tasks).sum();
    let logical = shares.groups.iter().filter(|group| group.logical_task.is_some()).count();
    vec![format!(
        "{} of {} at {}; a file that several tasks used is there for each",
        counted(points as u64, "file", "files"),
        counted(tasks as u64, "attempt", "attempts"),
        counted(logical as u64, "logical task", "logical tasks")
    )]
}

fn told(shares: &Shares, drawn: usize) -> Vec<String> {
    let all = || shares.groups.iter().flat_map(|group| &group.points);
    let above = all().filter(|point| point.share.is_some_and(|share| share > 1.0));
    let mut told = Vec::new();
    let n = above.clone().count() as u64;
    if n > 0 {
        let most = above.filter_map(|point| point.share).fold(0.0, f64::max);
        let files = counted(n, "file is", "files are");
        told.push(format!(
            "{files} above 100% (up to {}): accesses outside of the time that is known of the task, drawn at the right.",
            percent(most)
        ));
    }
    told.extend(shares.lost.sentence().map(|sentence| format!("{sentence}.")));
    let mut not = Vec::new();
    let unknown = all().filter(|point| point.share.is_none()).count() as u64;
    if unknown > 0 {
        not.push(counted(unknown, "file of a task whose time is not known or zero", "files of tasks whose times are not known or zero"));
    }
    if shares.nobodys > 0 {
        not.push(counted(shares.nobodys, "file of processes that belong to no task", "files of processes that belong to no task"));
    }
    if shares.groups.len() > drawn {
        not.push(counted(
            (shares.groups.len() - drawn) as u64,
            "logical task with the fewest files",
            "logical tasks with the fewest files",
        ));
    }
    if !not.is_empty() {
        told.push(format!("Not shown: {}.", not.join("; ")));
    }
    told
}

/// The shape that represents a logical task.
enum Shape {
    /// Points: place across, distance from the row's middle, radius, access.
    Swarm(Vec<Dot>),
    /// Numbers of points by access and by percent; the last cell is for those above 100 %.
    Cells(Vec<(Use, Vec<u64>)>),
}

struct Dot {
    x: f64,
    y: f64,
    radius: f64,
    used: Use,
}

struct Row {
    shape: Shape,
    names: Vec<String>,
    height: f64,
}

impl Row {
    fn new(group: &Group, axis: &Axis) -> Self {
        let names = wrap_name(group.name(), 12.0, NAMES - 16.0, 3);
        let (shape, height) = match swarm(&group.points, axis) {
            Some((dots, height)) => (Shape::Swarm(dots), height + 16.0),
            None => {
                let cells = cells(&group.points);
                let height = CELL * cells.len() as f64 + 18.0;
                (Shape::Cells(cells), height)
            }
        };
        Self { shape, height: height.max(15.0 * names.len() as f64 + 12.0).max(46.0).ceil(), names }
    }

    /// The largest number in a cell.
    fn most(&self) -> Option<u64> {
        match &self.shape {
            Shape::Swarm(_) => None,
            Shape::Cells(cells) => cells.iter().flat_map(|(_, counts)| counts).copied().max(),
        }
    }

    fn draw(&self, sheet: &mut Sheet, group: &Group, axis: &Axis, most: u64, top: f64) {
        let middle = top + self.height / 2.0;
        for (at, line) in self.names.iter().enumerate() {
            let y = middle + 4.0 + 15.0 * (at as f64 - (self.names.len() - 1) as f64 / 2.0);
            sheet.text(MARGIN, y, 12.0, TEXT, "", line);
        }
        let shares: Vec<f64> = group.points.iter().filter_map(|point| point.share).collect();
        let median = shares.get(shares.len().saturating_sub(1) / 2).copied();
        let line = |sheet: &mut Sheet| {
            if let Some(median) = median.filter(|_| shares.len() > 2) {
                let (x, half) = (axis.at(median.clamp(0.0, 1.0)), self.height / 2.0 - 4.0);
                sheet.line((x, middle - half), (x, middle + half), TEXT, 1.5, "");
            }
        };
        match &self.shape {
            Shape::Swarm(dots) => {
                // Behind the points, which it would hide.
                line(sheet);
                dots.iter().for_each(|dot| sheet.dot((dot.x, middle + dot.y), dot.radius, &hex(colour(dot.used))));
            }
            Shape::Cells(cells) => {
                let step = (axis.to - axis.from) / CELLS as f64;
                for (lane, (used, counts)) in cells.iter().enumerate() {
                    let y = middle + CELL * (lane as f64 - cells.len() as f64 / 2.0);
                    for (at, &n) in counts.iter().enumerate().filter(|(_, n)| **n > 0) {
                        let (x, w) = if at < CELLS { (axis.from + step * at as f64, step) } else { (axis.to + 10.0, ABOVE - 12.0) };
                        sheet.rect(Frame { x, y: y + 1.0, w, h: CELL - 2.0 }, 0.0, &cell_colour(*used, n, most), None);
                    }
                }
                line(sheet);
            }
        }
        let x = axis.to + ABOVE + 12.0;
        sheet.text(x, middle - 9.0, SMALL, TEXT, "", &counted(group.points.len() as u64, "file", "files"));
        sheet.text(x, middle + 4.0, SMALL, TEXT, "", &format!("of {}", counted(group.tasks as u64, "attempt", "attempts")));
        if let Some(median) = median {
            sheet.text(x, middle + 17.0, SMALL, WEAK_TEXT, "", &format!("median {}", percent(median)));
        }
    }
}

/// Radius of a point: by the logarithm of the bytes, from 1 KiB and less to 1 GiB and more.
fn radius(bytes: i64) -> f64 {
    let share = ((bytes.max(1) as f64).log2() - 10.0) / 20.0;
    2.0 + 4.0 * share.clamp(0.0, 1.0)
}

fn place(share: f64, axis: &Axis) -> f64 {
    if share > 1.0 { axis.to + 4.0 + ABOVE / 2.0 } else { axis.at(share.max(0.0)) }
}

/// Places points so that none covers another: each as near to the middle as there is room. `None`
/// where they are too many.
fn swarm(points: &[Point], axis: &Axis) -> Option<(Vec<Dot>, f64)> {
    if points.len() > MOST_POINTS {
        return None;
    }
    let mut dots: Vec<Dot> = Vec::new();
    for point in points {
        let Some(share) = point.share else { continue };
        let (x, radius) = (place(share, axis), radius(point.bytes()));
        let near: Vec<(f64, f64)> = dots
            .iter()
            .filter_map(|dot| {
                let (apart, dx) = (dot.radius + radius, (dot.x - x).abs());
                (dx < apart).then(|| (dot.y, (apart * apart - dx * dx).sqrt()))
            })
            .collect();
        // Free places are the middle, and right above or below a neighbour.
        let mut places: Vec<f64> = near.iter().flat_map(|(y, away)| [y + away, y - away]).collect();
        places.push(0.0);
        places.sort_by(|a, b| a.abs().total_cmp(&b.abs()).then(b.total_cmp(a)));
        let y = places.into_iter().find(|y| near.iter().all(|(other, away)| (y - other).abs() >= away - 1e-6))?;
        dots.push(Dot { x, y, radius, used: point.used });
    }
    let reach = dots.iter().map(|dot| dot.y.abs() + dot.radius).fold(0.0, f64::max);
    (2.0 * reach <= HIGHEST).then_some((dots, 2.0 * reach))
}

fn cells(points: &[Point]) -> Vec<(Use, Vec<u64>)> {
    let of = |used: Use| {
        let mut counts = vec![0; CELLS + 1];
        for share in points.iter().filter(|point| point.used == used).filter_map(|point| point.share) {
            let at = if share > 1.0 { CELLS } else { ((share * CELLS as f64) as usize).min(CELLS - 1) };
            counts[at] += 1;
        }
        (used, counts)
    };
    Use::ALL.into_iter().map(of).filter(|(_, counts)| counts.iter().any(|n| *n > 0)).collect()
}

/// Logarithmic: from pale for one to the full colour for the most.
fn cell_colour(used: Use, n: u64, most: u64) -> String {
    let share = if most > 1 { (n as f64).ln() / (most as f64).ln() } else { 1.0 };
    let full = colour(used);
    blend(&[full.map(|part| 255 - (255 - part) / 4), full, full.map(|part| part / 2)], share)
}

/// Draws the legend of colours, sizes and lines; returns its lower end.
fn legend(sheet: &mut Sheet, shares: &Shares, rows: &[Row], most: u64, top: f64, inner: f64) -> f64 {
    sheet.line((MARGIN, top), (MARGIN + inner, top), "#d5dce4", 1.0, "");
    let there = |used: Use| shares.groups.iter().flat_map(|group| &group.points).any(|point| point.used == used);
    let heading = |sheet: &mut Sheet, x: f64, words: &str| sheet.text(x, top + 20.0, SMALL, TEXT, "font-weight=\"bold\"", words);
    let y = top + 38.0;
    let mut x = MARGIN;
    heading(sheet, x, "Colour: what the task did to the file");
    for used in Use::ALL.into_iter().filter(|used| there(*used)) {
        let words = match used {
            Use::Read => "read",
            Use::Both => "read and written",
            Use::Written => "written",
        };
        sheet.rect(Frame { x, y: y - 9.0, w: 10.0, h: 10.0 }, 1.0, &hex(colour(used)), None);
        sheet.text(x + 15.0, y, SMALL, TEXT, "", words);
        x += 32.0 + width(words, SMALL);
    }
    x = MARGIN + 268.0;
    if rows.iter().any(|row| matches!(row.shape, Shape::Swarm(_))) {
        heading(sheet, x, "Point: a file; size: its bytes");
        for (bytes, words) in [(1i64 << 10, "≤ 1 KiB"), (1 << 20, "1 MiB"), (1 << 30, "≥ 1 GiB")] {
            sheet.dot((x + 6.0, y - 4.0), radius(bytes), "#64748b");
            sheet.text(x + 15.0, y, SMALL, TEXT, "", words);
            x += 26.0 + width(words, SMALL);
        }
        x = MARGIN + 268.0 + 228.0;
    }
    if rows.iter().any(|row| matches!(row.shape, Shape::Cells(_))) {
        heading(sheet, x, "Cell: number of files (logarithmic)");
        let mut samples = vec![1, (most as f64).sqrt().round() as u64, most];
        samples.dedup();
        for n in samples {
            sheet.rect(Frame { x, y: y - 9.0, w: 10.0, h: 10.0 }, 0.0, &cell_colour(Use::Read, n, most), None);
            sheet.text(x + 15.0, y, SMALL, TEXT, "", &count(n));
            x += 28.0 + width(&count(n), SMALL);
        }
        x = MARGIN + 268.0 + if rows.iter().any(|row| matches!(row.shape, Shape::Swarm(_))) { 470.0 } else { 242.0 };
    }
    sheet.line((x + 2.0, y - 10.0), (x + 2.0, y + 2.0), TEXT, 1.5, "");
    heading(sheet, x, "Line: median");
    sheet.text(x + 12.0, y, SMALL, TEXT, "", "of three files or more");
    y + 4.0
}

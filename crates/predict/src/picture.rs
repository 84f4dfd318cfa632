//! Figures. [`svg`] is like the paper's Figures 4 and 8: for each process its progress over time on
//! a ground in the colour of its limit, with dashed lines for what each data input allows, and for
//! each shared resource the use of each process. [`detailed`] adds below each process how much it
//! uses of what it is given of each resource and what of each data input waits, as Figure 4 does.
//! [`sweep`] is like Figure 7. At most [`MAX_ROWS`] processes and as many shared resources have a
//! row.

mod details;
mod styles;

use std::fmt::Write;

use flowmine_draw::axis::{self, Axis, Ticks};
use flowmine_draw::sheet::{Frame, Num, Part, Sheet, TEXT, WEAK_TEXT};
use flowmine_draw::visible;

use crate::analysis::{Limit, Prediction};
use crate::study::{Change, Point, Sweep};
use styles::{ACROSS, DATA, DATA_LINES, LEFT, RESOURCES, SEEN, STEPS};

/// More processes are not drawn; the heading says how many are left out.
pub const MAX_ROWS: usize = 100;
const WIDTH: f64 = 760.0;
const ROW: f64 = 96.0;
/// Height of the heading.
const HEADING: f64 = 54.0;
const BELOW: f64 = 44.0;
/// What the names below a row need.
const KEY: f64 = 22.0;
/// The least width of a separate mark, in pixels.
const LEAST: f64 = 0.2;
/// Users of a shared resource, one after the other.
const USERS: [&str; 6] = ["#4e79a7", "#f28e2b", "#76b7b2", "#e15759", "#b07aa1", "#9c755f"];

/// Draws a prediction; one of a single process with all that [`detailed`] draws.
pub fn svg(prediction: &Prediction<'_>) -> String {
    draw(prediction, prediction.len() == 1)
}

/// Draws a prediction with the use of each resource and what waits of each data input.
pub fn detailed(prediction: &Prediction<'_>) -> String {
    draw(prediction, true)
}

fn draw(prediction: &Prediction<'_>, details: bool) -> String {
    let mut sheet = Sheet::default();
    let rows = prediction.len().min(MAX_ROWS);
    // What never ends is drawn until a little after the last thing that happens.
    let known = (0..prediction.len()).flat_map(|at| prediction.segments(at)).flat_map(|s| [s.from, s.to]).filter(|t| t.is_finite());
    let last = known.fold(0.0, f64::max);
    let high = if prediction.finish_s().is_some() { last } else { last * 1.1 };
    let high = if high > 0.0 { high } else { 1.0 };
    let time = Axis { low: 0.0, high: high * 1e9, from: LEFT, to: LEFT + WIDTH };
    let heading = match prediction.finish_s() {
        Some(finish) => format!("Predicted: all has finished after {}", flowmine_draw::duration(finish * 1e9)),
        None => "Predicted: not all processes finish".to_owned(),
    };
    sheet.begin(Part::Heading);
    sheet.text(LEFT, 28.0, 16.0, TEXT, " font-weight=\"bold\"", &heading);
    let legend = "Line: progress from nothing to all. Ground: what limits it. Dashed: what each data input allows.";
    let legend = if details { format!("{legend} Below: resources in use, and processes that wait.") } else { legend.to_owned() };
    let legend = match prediction.len() - rows {
        0 => legend,
        _ => format!("{legend} The first {rows} of {} processes are drawn.", prediction.len()),
    };
    sheet.text(LEFT, 46.0, 11.0, WEAK_TEXT, "", &legend);
    sheet.end();
    let mut top = 62.0;
    for at in 0..rows {
        row(&mut sheet, prediction, at, &time, top);
        top += ROW + if details { KEY } else { BELOW };
        if details {
            top = details::strips(&mut sheet, prediction, at, &time, top) + BELOW - KEY;
        }
    }
    let shared: Vec<String> = prediction.shared_names().take(MAX_ROWS).map(visible).collect();
    for (at, name) in shared.iter().enumerate() {
        use_of_shared(&mut sheet, prediction, at, name, &time, top);
        top += ROW + BELOW;
    }
    let ticks = Ticks::of_time(&time, 8.0);
    axis::across(&mut sheet, &time, &ticks, top - 20.0, top - 16.0);
    sheet.text(LEFT + WIDTH, top + 16.0, 11.0, WEAK_TEXT, "text-anchor=\"end\"", ticks.unit);
    let (width, height) = (WIDTH + 2.0 * LEFT, top + 28.0);
    sheet.drawing(Frame { x: 0.0, y: HEADING, w: width, h: height - HEADING });
    sheet.document(width, height, &heading, "Progress of each process over time with its limiting resource, and use of shared resources")
}

fn row(sheet: &mut Sheet, prediction: &Prediction<'_>, at: usize, time: &Axis, top: f64) {
    let end = prediction.progress_at_end(at);
    let up = Axis { low: 0.0, high: end, from: top + ROW, to: top + 18.0 };
    sheet.text(LEFT, top + 10.0, 13.0, TEXT, " font-weight=\"bold\"", &visible(prediction.name(at)));
    let segments = prediction.segments(at);
    if segments.is_empty() {
        let words = if prediction.finished_s(at).is_some() { "takes no time" } else { "does not start" };
        sheet.text(LEFT, top + ROW - 6.0, 11.0, WEAK_TEXT, "", words);
    }
    let mut line = String::new();
    let mut named: Vec<Limit> = Vec::new();
    let mut ground = Ground::default();
    let mut last = f64::NEG_INFINITY;
    for s in segments {
        let to = if s.to.is_finite() { s.to } else { time.high / 1e9 };
        let (x, x2) = (time.at(s.from * 1e9), time.at(to * 1e9));
        ground.add(sheet, prediction, at, (s.from, to, s.limit), (x, x2), top);
        for step in 0..=STEPS {
            if s.progress.degree() <= 1 && step % STEPS != 0 {
                continue;
            }
            let t = s.from + (to - s.from) * step as f64 / STEPS as f64;
            let (x, y) = (time.at(t * 1e9), up.at(s.progress.at(t - s.from).clamp(0.0, end)));
            // Of a curve of very many pieces as much as can be seen.
            if segments.len() <= SEEN || x - last >= LEAST {
                let _ = write!(line, "{}{} {}", if line.is_empty() { "M" } else { " L" }, Num(x), Num(y));
                last = x;
            }
        }
        if !named.contains(&s.limit) {
            named.push(s.limit);
        }
    }
    ground.draw(sheet, prediction, at, top);
    allowed(sheet, prediction, at, time, &up);
    if let (Some(finish), false) = (prediction.finished_s(at), line.is_empty()) {
        let _ = write!(line, " L{} {}", Num(time.at(finish * 1e9)), Num(up.to));
    }
    if !line.is_empty() {
        sheet.path(&line, "none", &format!(" stroke=\"{TEXT}\" stroke-width=\"2\""));
    }
    let base = top + ROW;
    sheet.line((time.from, base), (time.to, base), WEAK_TEXT, 1.0, "");
    let words = named.iter().map(|limit| (visible(&prediction.limit_name(at, *limit)), colour(*limit), line_of(*limit)));
    // Inputs that never limit still have a dashed line.
    let others = (0..prediction.names(at)[0].len()).map(Limit::Data).filter(|limit| !segments.is_empty() && !named.contains(limit));
    let others = others.map(|limit| (visible(&prediction.limit_name(at, limit)), "none", line_of(limit)));
    key(sheet, base, &words.chain(others).collect::<Vec<_>>());
}

/// The ground of a row: what limits. Times too short to be seen one by one are drawn together, in
/// the colour of the longest.
#[derive(Default)]
struct Ground {
    from: Option<(f64, f64)>,
    to: (f64, f64),
    longest: Option<(f64, Limit)>,
}

impl Ground {
    fn add(&mut self, sheet: &mut Sheet, prediction: &Prediction<'_>, at: usize, part: (f64, f64, Limit), (x, x2): (f64, f64), top: f64) {
        let (from, to, limit) = part;
        let alike = self.longest.is_some_and(|(_, longest)| longest == limit) && self.to.0 == from;
        if !alike && self.from.is_some_and(|(_, begin)| x2 - begin >= LEAST && x - begin >= LEAST) {
            self.draw(sheet, prediction, at, top);
        }
        self.from.get_or_insert((from, x));
        self.to = (to, x2);
        if self.longest.is_none_or(|(length, _)| to - from > length) {
            self.longest = Some((to - from, limit));
        }
    }

    fn draw(&mut self, sheet: &mut Sheet, prediction: &Prediction<'_>, at: usize, top: f64) {
        if let (Some((from, x)), Some((_, limit))) = (self.from.take(), self.longest.take()) {
            let _ = sheet.body.write_str("<g>");
            sheet.title(&[format!("{from:.3} s to {:.3} s: {}", self.to.0, visible(&prediction.limit_name(at, limit)))]);
            sheet.rect(Frame { x, y: top + 18.0, w: self.to.1 - x, h: ROW - 18.0 }, 0.0, colour(limit), None);
            let _ = sheet.body.write_str("</g>\n");
        }
    }
}

/// Names with their colours on one line; those for which there is no room are counted.
fn key(sheet: &mut Sheet, base: f64, words: &[(String, &str, Option<&str>)]) {
    let mut x = LEFT;
    for (at, (words_of, colour, line)) in words.iter().enumerate() {
        let wide = flowmine_draw::text::width(words_of, 11.0) + 32.0;
        if x + wide > LEFT + WIDTH + 16.0 {
            sheet.text(x, base + 14.0, 11.0, WEAK_TEXT, "", &format!("and {} more", words.len() - at));
            return;
        }
        sheet.rect(Frame { x, y: base + 5.0, w: 10.0, h: 10.0 }, 0.0, colour, None);
        if let Some(line) = line {
            sheet.line((x - 1.0, base + 10.0), (x + 11.0, base + 10.0), line, 1.2, "stroke-dasharray=\"4 3\"");
        }
        sheet.text(x + 14.0, base + 14.0, 11.0, WEAK_TEXT, "", words_of);
        x += wide;
    }
}

/// Dashed lines for what data allow while the process runs, where that is less than all.
fn allowed(sheet: &mut Sheet, prediction: &Prediction<'_>, at: usize, time: &Axis, up: &Axis) {
    let Some(start) = prediction.started_s(at) else { return };
    let end = prediction.finished_s(at).unwrap_or(time.high / 1e9);
    let places = with_ends_of(prediction, &[at], (0..=ACROSS).map(|step| start + (end - start) * step as f64 / ACROSS as f64).collect());
    for data in 0..prediction.names(at)[0].len() {
        let mut line = String::new();
        for t in &places {
            let y = up.at(prediction.allowed(at, data, *t));
            let _ = write!(line, "{}{} {}", if line.is_empty() { "M" } else { " L" }, Num(time.at(t * 1e9)), Num(y));
        }
        let colour = DATA_LINES[data % DATA_LINES.len()];
        sheet.path(&line, "none", &format!(" stroke=\"{colour}\" stroke-width=\"1.2\" stroke-dasharray=\"4 3\""));
    }
}

/// Times, and those just before and just after each end of a segment of these processes, so that
/// jumps stand upright; of very many the times alone.
fn with_ends_of(prediction: &Prediction<'_>, processes: &[usize], mut times: Vec<f64>) -> Vec<f64> {
    let (Some(low), Some(high)) = (times.first().copied(), times.last().copied()) else { return times };
    if processes.iter().map(|at| prediction.segments(*at).len()).sum::<usize>() <= SEEN {
        let ends = processes.iter().flat_map(|at| prediction.segments(*at)).flat_map(|s| [s.from, s.to]);
        let near = 1e-6 * (high - low);
        times.extend(ends.flat_map(|t| [t - near, t + near]).filter(|t| *t > low && *t < high));
        times.sort_by(f64::total_cmp);
        times.dedup();
    }
    times
}

/// Who uses how much of a shared resource, one upon the other.
fn use_of_shared(sheet: &mut Sheet, prediction: &Prediction<'_>, shared: usize, name: &str, time: &Axis, top: f64) {
    let users: Vec<(usize, usize)> = prediction.users(shared).take(MAX_ROWS).collect();
    let processes: Vec<usize> = users.iter().map(|(process, _)| *process).collect();
    let grid = (0..=ACROSS).map(|step| time.high / 1e9 * (step as f64 + 0.5) / (ACROSS + 1) as f64).collect();
    let places = with_ends_of(prediction, &processes, grid);
    let high = places.iter().map(|t| prediction.capacity(shared, *t)).fold(0.0, f64::max);
    sheet.text(LEFT, top + 10.0, 13.0, TEXT, " font-weight=\"bold\"", &format!("{name}: use, of {high} a second at most"));
    let up = Axis { low: 0.0, high, from: top + ROW, to: top + 18.0 };
    let mut below = vec![0.0; places.len()];
    let mut words = Vec::new();
    for (at, (process, resource)) in users.into_iter().enumerate() {
        let colour = USERS[at % USERS.len()];
        let used: Vec<f64> = places.iter().zip(&below).map(|(t, below)| below + prediction.used(process, resource, *t)).collect();
        let mut line = String::new();
        let mut point = |t: f64, value: f64| {
            let _ = write!(line, "{}{} {}", if line.is_empty() { "M" } else { " L" }, Num(time.at(t * 1e9)), Num(up.at(value.min(high))));
        };
        places.iter().zip(&used).for_each(|(t, value)| point(*t, *value));
        places.iter().zip(&below).rev().for_each(|(t, value)| point(*t, *value));
        if used.iter().zip(&below).any(|(used, below)| used > below) {
            let _ = sheet.body.write_str("<g>");
            sheet.title(&[visible(prediction.name(process))]);
            sheet.path(&format!("{line} Z"), colour, "");
            let _ = sheet.body.write_str("</g>\n");
            words.push((visible(prediction.name(process)), colour, None));
        }
        below = used;
    }
    let base = top + ROW;
    sheet.line((time.from, up.to), (time.to, up.to), WEAK_TEXT, 1.0, " stroke-dasharray=\"4 3\"");
    sheet.line((time.from, base), (time.to, base), WEAK_TEXT, 1.0, "");
    key(sheet, base, &words);
}

/// The colour of the dashed line of a data input.
fn line_of(limit: Limit) -> Option<&'static str> {
    match limit {
        Limit::Data(k) => Some(DATA_LINES[k % DATA_LINES.len()]),
        _ => None,
    }
}

fn colour(limit: Limit) -> &'static str {
    match limit {
        Limit::Data(k) => DATA[k % DATA.len()],
        Limit::Resource(l) => RESOURCES[l % RESOURCES.len()],
        Limit::NotStarted | Limit::Finished => "#f1f5f9",
    }
}

const HIGH: f64 = 320.0;
const WORDS: f64 = 72.0;

/// Draws a sweep: the finish over the value, the best, and what was measured: pairs of value and
/// seconds.
pub fn sweep(of: &Sweep, points: &[Point], best: Option<usize>, measured: &[(f64, f64)]) -> String {
    let mut sheet = Sheet::default();
    let path = visible(&of.path);
    let heading = match best.map(|at| points[at]) {
        Some(best) => {
            format!("Best: {} with {} after {}", path, short(best.value), flowmine_draw::duration(best.finish_s.unwrap_or(0.0) * 1e9))
        }
        None => "Not all processes finish, whatever the value".to_owned(),
    };
    sheet.begin(Part::Heading);
    sheet.text(LEFT, 28.0, 16.0, TEXT, " font-weight=\"bold\"", &heading);
    sheet.end();
    let left = LEFT + WORDS;
    let (low, high) = (of.low.min(of.high), of.low.max(of.high));
    let high = if high > low { high } else { low + 1.0 };
    let across = Axis { low, high, from: left, to: left + WIDTH - WORDS };
    let shown: Vec<(f64, f64)> = measured.iter().copied().filter(|(value, _)| *value >= low && *value <= high).collect();
    let finishes = points.iter().filter_map(|point| point.finish_s).chain(shown.iter().map(|point| point.1));
    let (least, most) = finishes.fold((f64::INFINITY, 0.0f64), |(least, most), finish| (least.min(finish), most.max(finish)));
    let least = if least.is_finite() { least } else { 0.0 };
    let room = ((most - least) * 0.08).max(most * 0.01).max(1e-9);
    let top = 60.0;
    let up = Axis { low: (least - room).max(0.0) * 1e9, high: (most + room) * 1e9, from: top + HIGH, to: top };
    axis::across(&mut sheet, &across, &numbers(&across, 10.0), top, top + HIGH);
    let ticks = Ticks::of_time(&up, 8.0);
    axis::up(&mut sheet, &up, &ticks, left, across.to);
    axis::upward_words(&mut sheet, LEFT + 12.0, top + HIGH / 2.0, &format!("all has finished after ({})", ticks.unit));
    let (mut line, mut broken) = (String::new(), true);
    for point in points {
        match point.finish_s {
            Some(finish) => {
                let _ = write!(line, "{}{} {}", if broken { " M" } else { " L" }, Num(across.at(point.value)), Num(up.at(finish * 1e9)));
                broken = false;
            }
            None => broken = true,
        }
    }
    if !line.is_empty() {
        sheet.path(line.trim_start(), "none", " stroke=\"#d97706\" stroke-width=\"2\"");
    }
    for (value, finish) in &shown {
        sheet.dot((across.at(*value), up.at(finish * 1e9)), 3.0, TEXT);
    }
    if !shown.is_empty() {
        sheet.text(LEFT, 46.0, 11.0, WEAK_TEXT, "", "Line: predicted. Dots: measured. Ring: the best predicted.");
    }
    if let Some(Point { value, finish_s: Some(finish) }) = best.map(|at| points[at]) {
        sheet.circle((across.at(value), up.at(finish * 1e9)), 4.5, "#ffffff", "#d97706", 2.0);
    }
    let words = if of.change == Change::Set { path } else { format!("{path}, times") };
    sheet.text(left + (WIDTH - WORDS) / 2.0, top + HIGH + 38.0, 12.0, TEXT, "text-anchor=\"middle\"", &words);
    let (width, height, from) = (WIDTH + 2.0 * LEFT, top + HIGH + 56.0, top - 16.0);
    sheet.drawing(Frame { x: 0.0, y: from, w: width, h: height - from });
    sheet.document(width, height, &heading, "When all has finished, over a number of the model")
}

/// Six digits, without those that are zero.
fn short(number: f64) -> String {
    let text = format!("{number:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Ticks of plain numbers, at most about `most` of them.
fn numbers(axis: &Axis, most: f64) -> Ticks {
    let ideal = ((axis.high - axis.low) / most).max(f64::MIN_POSITIVE);
    let power = 10f64.powf(ideal.log10().floor());
    let step =
        [1.0, 2.0, 5.0, 10.0].into_iter().map(|factor| factor * power).find(|step| *step >= ideal * 0.999_999).unwrap_or(10.0 * power);
    let (first, last) = ((axis.low / step - 1e-9).ceil() as i64, (axis.high / step + 1e-9).floor() as i64);
    let decimals = (-step.log10().floor()).clamp(0.0, 9.0) as usize;
    let words = |n: i64| (n as f64 * step, format!("{:.decimals$}", n as f64 * step));
    Ticks { at: (first..=last.min(first.saturating_add(20))).map(words).collect(), unit: "" }
}

//! A picture like the upper part of the paper's Figure 4, a row for each process: progress over
//! time on a ground in the colour of what limits. At most [`MAX_ROWS`] processes have a row.

use std::fmt::Write;

use flowmine_draw::axis::{self, Axis, Ticks};
use flowmine_draw::sheet::{Frame, Num, Sheet, TEXT, WEAK_TEXT};
use flowmine_draw::visible;

use crate::analysis::{Limit, Prediction};

/// More processes are not drawn; the heading says how many are left out.
pub const MAX_ROWS: usize = 100;
const LEFT: f64 = 24.0;
const WIDTH: f64 = 760.0;
const ROW: f64 = 96.0;
/// Steps of a curve.
const STEPS: usize = 24;
const DATA: [&str; 4] = ["#bfdbfe", "#a5f3fc", "#c7d2fe", "#93c5fd"];
const RESOURCES: [&str; 4] = ["#fed7aa", "#fde68a", "#fecaca", "#fbcfe8"];

/// Draws a prediction.
pub fn svg(prediction: &Prediction<'_>) -> String {
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
    sheet.text(LEFT, 28.0, 16.0, TEXT, " font-weight=\"bold\"", &heading);
    if rows < prediction.len() {
        sheet.text(LEFT, 46.0, 11.0, WEAK_TEXT, "", &format!("The first {rows} of {} processes are drawn.", prediction.len()));
    }
    for at in 0..rows {
        row(&mut sheet, prediction, at, &time, 62.0 + at as f64 * (ROW + 44.0));
    }
    let bottom = 62.0 + rows as f64 * (ROW + 44.0);
    let ticks = Ticks::of_time(&time, 8.0);
    axis::across(&mut sheet, &time, &ticks, bottom - 20.0, bottom - 16.0);
    sheet.text(LEFT + WIDTH + 8.0, bottom - 4.0, 11.0, WEAK_TEXT, "", ticks.unit);
    sheet.document(WIDTH + 2.0 * LEFT, bottom + 24.0, &heading, "Progress of each process over time and what limits it")
}

fn row(sheet: &mut Sheet, prediction: &Prediction<'_>, at: usize, time: &Axis, top: f64) {
    let end = prediction.progress_at_end(at);
    let up = Axis { low: 0.0, high: end, from: top + ROW, to: top + 18.0 };
    sheet.text(LEFT, top + 10.0, 13.0, TEXT, " font-weight=\"bold\"", &visible(prediction.name(at)));
    let mut line = String::new();
    let mut named: Vec<Limit> = Vec::new();
    for s in prediction.segments(at) {
        let to = if s.to.is_finite() { s.to } else { time.high / 1e9 };
        let (x, x2) = (time.at(s.from * 1e9), time.at(to * 1e9));
        let _ = sheet.body.write_str("<g>");
        sheet.title(&[format!("{:.3} s to {:.3} s: {}", s.from, to, visible(&prediction.limit_name(at, s.limit)))]);
        sheet.rect(Frame { x, y: top + 18.0, w: x2 - x, h: ROW - 18.0 }, 0.0, colour(s.limit), None);
        let _ = sheet.body.write_str("</g>\n");
        for step in 0..=STEPS {
            if s.progress.degree() <= 1 && step % STEPS != 0 {
                continue;
            }
            let t = s.from + (to - s.from) * step as f64 / STEPS as f64;
            let y = up.at(s.progress.at(t - s.from).clamp(0.0, end));
            let _ = write!(line, "{}{} {}", if line.is_empty() { "M" } else { " L" }, Num(time.at(t * 1e9)), Num(y));
        }
        if !named.contains(&s.limit) {
            named.push(s.limit);
        }
    }
    if let (Some(finish), false) = (prediction.finished_s(at), line.is_empty()) {
        let _ = write!(line, " L{} {}", Num(time.at(finish * 1e9)), Num(up.to));
    }
    if !line.is_empty() {
        sheet.path(&line, "none", &format!(" stroke=\"{TEXT}\" stroke-width=\"2\""));
    }
    let base = top + ROW;
    sheet.line((time.from, base), (time.to, base), WEAK_TEXT, 1.0, "");
    let mut x = LEFT;
    for limit in named {
        let words = visible(&prediction.limit_name(at, limit));
        sheet.rect(Frame { x, y: base + 5.0, w: 10.0, h: 10.0 }, 0.0, colour(limit), None);
        sheet.text(x + 14.0, base + 14.0, 11.0, WEAK_TEXT, "", &words);
        x += flowmine_draw::text::width(&words, 11.0) + 32.0;
    }
}

fn colour(limit: Limit) -> &'static str {
    match limit {
        Limit::Data(k) => DATA[k % DATA.len()],
        Limit::Resource(l) => RESOURCES[l % RESOURCES.len()],
        Limit::NotStarted | Limit::Finished => "#f1f5f9",
    }
}

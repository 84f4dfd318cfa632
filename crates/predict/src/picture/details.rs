//! Below a process, a strip for each resource (the used part of its share, equation 7) and for each
//! data input (what is there and not yet used, equation 8, of the most that ever is).

use std::fmt::Write;

use flowmine_draw::axis::Axis;
use flowmine_draw::sheet::{Num, Sheet, WEAK_TEXT};
use flowmine_draw::visible;

use super::styles::{ACROSS, DATA, DATA_LINES, LEFT, RESOURCE_LINES, RESOURCES, SEEN, STEPS};
use crate::analysis::Prediction;

/// Height of a strip with its heading, and without.
const STRIP: f64 = 50.0;
const CURVE: f64 = 24.0;
/// More strips of one kind are not drawn; the last says how many are left out.
const MOST: usize = 12;

/// Draws the strips of a process from `top` down; gives where they end.
pub(super) fn strips(sheet: &mut Sheet, prediction: &Prediction<'_>, at: usize, time: &Axis, top: f64) -> f64 {
    let places = places(prediction, at, time);
    if places.is_empty() {
        return top;
    }
    let [data, resources, _] = prediction.names(at);
    let mut top = top;
    for (l, name) in resources.iter().enumerate().take(MOST) {
        let values: Vec<Option<f64>> = places.iter().map(|t| prediction.relative_use(at, l, *t)).collect();
        let known = values.iter().flatten().copied();
        let (least, most) = known.fold((f64::INFINITY, 0.0f64), |(least, most), value| (least.min(value), most.max(value)));
        let words = match (least.is_finite(), per_cent(least), per_cent(most)) {
            (false, ..) => "nothing is given".to_owned(),
            (true, least, most) if least == most => format!("{most} % of the amount given is used"),
            (true, least, most) => format!("{least} to {most} % of the amount given is used"),
        };
        let colours = (RESOURCES[l % RESOURCES.len()], RESOURCE_LINES[l % RESOURCE_LINES.len()]);
        strip(sheet, (&format!("resource {}: {words}", visible(name)), colours), time, (&places, &values, 1.0), top);
        top += STRIP;
    }
    top = left_out(sheet, resources.len(), "resources", top);
    for (k, name) in data.iter().enumerate().take(MOST) {
        let values: Vec<Option<f64>> = places.iter().map(|t| Some(prediction.buffered(at, k, *t))).collect();
        let most = values.iter().flatten().copied().fold(0.0, f64::max);
        let words = if most > 0.0 { format!("up to {} wait to be used", four_digits(most)) } else { "nothing waits to be used".to_owned() };
        let colours = (DATA[k % DATA.len()], DATA_LINES[k % DATA_LINES.len()]);
        strip(sheet, (&format!("data {}: {words}", visible(name)), colours), time, (&places, &values, most), top);
        top += STRIP;
    }
    left_out(sheet, data.len(), "data inputs", top)
}

fn left_out(sheet: &mut Sheet, all: usize, what: &str, top: f64) -> f64 {
    if all <= MOST {
        return top;
    }
    sheet.text(LEFT, top + 12.0, 11.0, WEAK_TEXT, "", &format!("and {} more {what}", all - MOST));
    top + 20.0
}

/// Where values are taken: inside each segment, next to its ends; of very many segments as often as
/// can be seen.
fn places(prediction: &Prediction<'_>, at: usize, time: &Axis) -> Vec<f64> {
    let segments = prediction.segments(at);
    let end = time.high / 1e9;
    let bounded = |to: f64| if to.is_finite() { to } else { end };
    let (Some(first), Some(last)) = (segments.first(), segments.last()) else { return Vec::new() };
    let inside = |from: f64, to: f64, steps: usize| {
        // As near to the ends as a number can say.
        let near = 1e-9 * (to - from);
        (0..=steps).map(move |step| (from + near) + (to - from - 2.0 * near) * step as f64 / steps as f64)
    };
    if segments.len() > SEEN {
        return inside(first.from, bounded(last.to), ACROSS).collect();
    }
    segments.iter().filter(|s| bounded(s.to) > s.from).flat_map(|s| inside(s.from, bounded(s.to), STEPS)).collect()
}

/// One curve on its own ground, from nothing to `high`, broken where there is no value.
fn strip(
    sheet: &mut Sheet,
    (words, (ground, line)): (&str, (&str, &str)),
    time: &Axis,
    (places, values, high): (&[f64], &[Option<f64>], f64),
    top: f64,
) {
    sheet.text(LEFT, top + 12.0, 11.0, WEAK_TEXT, "", words);
    let base = top + STRIP - 8.0;
    let up = Axis { low: 0.0, high: if high > 0.0 { high } else { 1.0 }, from: base, to: base - CURVE };
    let at = |n: usize, value: f64| (time.at(places[n] * 1e9), up.at(value.clamp(0.0, up.high)));
    let mut from = 0;
    while from < values.len() {
        let length = values[from..].iter().take_while(|value| value.is_some()).count();
        if length == 0 {
            from += 1;
            continue;
        }
        let points: Vec<(f64, f64)> = (from..from + length).map(|n| at(n, values[n].unwrap_or_default())).collect();
        let mut curve = String::new();
        for (n, (x, y)) in points.iter().enumerate() {
            let _ = write!(curve, "{}{} {}", if n == 0 { "M" } else { " L" }, Num(*x), Num(*y));
        }
        let (first, last) = (points[0].0, points[points.len() - 1].0);
        sheet.path(&format!("{curve} L{} {} L{} {} Z", Num(last), Num(base), Num(first), Num(base)), ground, "");
        sheet.path(&curve, "none", &format!(" stroke=\"{line}\" stroke-width=\"1.5\""));
        from += length;
    }
    sheet.line((time.from, base), (time.to, base), WEAK_TEXT, 1.0, "");
}

fn per_cent(share: f64) -> String {
    format!("{:.0}", share * 100.0)
}

/// Four digits that count, with as many zeros as it takes up to a million.
fn four_digits(number: f64) -> String {
    if !(1e-3..1e7).contains(&number) {
        return format!("{number:.3e}");
    }
    let decimals = (3.0 - number.log10().floor()).clamp(0.0, 6.0) as usize;
    let text = format!("{number:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

//! Axes: a range of numbers in, places on the paper and ticks with their words out.

use crate::sheet::{Num, Sheet, TEXT, WEAK_TEXT};
use crate::text::{count, width};

/// Font size of the words at ticks, in pixels.
pub const SMALL: f64 = 11.0;
/// Colour of grid lines, `#rrggbb`.
pub const GRID: &str = "#e3e8ee";
const LINE: &str = "#9aa5b1";

/// A range of numbers, drawn between two places.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Axis {
    /// The number at one end, in the unit of the data.
    pub low: f64,
    /// The number at the other end.
    pub high: f64,
    /// Where the lower number is, in pixels.
    pub from: f64,
    /// Where the higher number is, in pixels.
    pub to: f64,
}

impl Axis {
    /// Where a number is drawn, in pixels.
    pub fn at(&self, number: f64) -> f64 {
        self.from + (number - self.low) / (self.high - self.low).max(f64::MIN_POSITIVE) * (self.to - self.from)
    }
}

/// Ticks of an axis: places among its numbers and words, and the unit of these.
#[derive(Debug, Clone, PartialEq)]
pub struct Ticks {
    /// The number at each tick, in the unit of the axis, and its label.
    pub at: Vec<(f64, String)>,
    /// The unit of the words, such as `min`.
    pub unit: &'static str,
}

impl Ticks {
    fn every(step: f64, unit: f64, name: &'static str, axis: &Axis) -> Self {
        let first = (axis.low / step).ceil() as i64;
        let last = (axis.high / step).floor() as i64;
        let decimals = (0..6).find(|&digits| (step / unit * 10f64.powi(digits)).fract().abs() < 1e-6).unwrap_or(6);
        let words = |at: f64| {
            let text = format!("{:.*}", decimals as usize, (at / unit).abs());
            let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
            let sign = if at < 0.0 { "−" } else { "" };
            format!("{sign}{}{rest}", whole.parse::<u64>().map_or_else(|_| whole.to_owned(), count))
        };
        // No axis has room for more.
        let last = last.min(first.saturating_add(60));
        Self { at: (first..=last).map(|n| n as f64 * step).map(|at| (at, words(at))).collect(), unit: name }
    }

    /// At most about `most` ticks of an axis of nanoseconds.
    pub fn of_time(axis: &Axis, most: f64) -> Self {
        const MINUTE: f64 = 60e9;
        const UNITS: [(f64, f64, &str); 7] = [
            (2e3, 1.0, "ns"),
            (2e6, 1e3, "µs"),
            (2e9, 1e6, "ms"),
            (10.0 * MINUTE, 1e9, "s"),
            (180.0 * MINUTE, MINUTE, "min"),
            (4320.0 * MINUTE, 60.0 * MINUTE, "h"),
            (f64::INFINITY, 1440.0 * MINUTE, "days"),
        ];
        let span = axis.high - axis.low;
        let (_, unit, name) = UNITS.into_iter().find(|(below, _, _)| span < *below).unwrap_or(UNITS[6]);
        let round: &[f64] = match name {
            "min" => &[0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0],
            "h" => &[0.5, 1.0, 2.0, 3.0, 6.0, 12.0, 24.0],
            _ => &[],
        };
        let fits = |step: f64| span / (step * unit) <= most;
        let step = round.iter().copied().find(|&step| fits(step)).unwrap_or_else(|| decimal_step(span / unit, most));
        // A nanosecond has no parts.
        let step = if name == "ns" { step.max(1.0) } else { step };
        Self::every(step * unit, unit, name, axis)
    }

    /// At most about `most` ticks of an axis of numbers without a unit.
    pub fn of_numbers(axis: &Axis, most: f64) -> Self {
        Self::every(decimal_step(axis.high - axis.low, most), 1.0, "", axis)
    }

    /// At most about `most` ticks of an axis of bytes.
    pub fn of_bytes(axis: &Axis, most: f64) -> Self {
        const NAMES: [&str; 7] = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
        let step = ((axis.high - axis.low) / most).max(1.0).log2().ceil().exp2();
        let power = ((step * 4.0).log2() / 10.0).floor().clamp(0.0, 6.0) as usize;
        Self::every(step, 1024f64.powi(power as i32), NAMES[power], axis)
    }
}

/// The smallest of 1, 2, 5, 10, 20, … (or 0.5, …) that divides a range into at most the given
/// number of parts.
fn decimal_step(span: f64, most: f64) -> f64 {
    let ideal = (span / most).max(1e-9);
    let power = 10f64.powf(ideal.log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|factor| factor * power).find(|step| *step >= ideal * 0.999_999).unwrap_or(10.0 * power)
}

/// Draws a horizontal axis below a field that begins at `top`, with grid lines in it.
pub fn across(sheet: &mut Sheet, axis: &Axis, ticks: &Ticks, top: f64, bottom: f64) {
    for (number, words) in &ticks.at {
        let x = axis.at(*number);
        sheet.line((x, top), (x, bottom + 4.0), GRID, 1.0, "");
        sheet.text(x, bottom + 17.0, SMALL, TEXT, "text-anchor=\"middle\"", words);
    }
    sheet.line((axis.from, bottom), (axis.to, bottom), LINE, 1.0, "");
}

/// Draws a vertical axis left of a field that ends at `right`, with grid lines in it.
pub fn up(sheet: &mut Sheet, axis: &Axis, ticks: &Ticks, left: f64, right: f64) {
    for (number, words) in &ticks.at {
        let y = axis.at(*number);
        sheet.line((left - 4.0, y), (right, y), GRID, 1.0, "");
        sheet.text(left - 8.0, y + 4.0, SMALL, TEXT, "text-anchor=\"end\"", words);
    }
    sheet.line((left, axis.from), (left, axis.to), LINE, 1.0, "");
}

/// Title of an axis; that of a vertical one runs from below to above.
pub fn upward_words(sheet: &mut Sheet, x: f64, middle: f64, words: &str) {
    let turn = format!("text-anchor=\"middle\" transform=\"rotate(-90 {} {})\"", Num(x), Num(middle));
    sheet.text(x, middle, SMALL, WEAK_TEXT, &turn, words);
}

/// Room that the words of a vertical axis need.
pub fn room(ticks: &Ticks) -> f64 {
    ticks.at.iter().map(|(_, words)| width(words, SMALL)).fold(0.0, f64::max)
}

/// A number of bytes: `17 bytes`, `2.0 MiB`.
pub fn bytes(n: impl Into<i128>) -> String {
    const NAMES: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let n = n.into();
    if (0..1024).contains(&n) {
        return format!("{n} {}", if n == 1 { "byte" } else { "bytes" });
    }
    let mut value = n as f64 / 1024.0;
    let mut unit = 0;
    // 1023.96 KiB would be shown as 1024.0.
    while value >= 1023.95 && unit + 1 < NAMES.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.1} {}", NAMES[unit])
}

/// A share in percent: `0%`, `0.4%`, `32%`, `100%`.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent == 0.0 || percent.abs() >= 9.95 {
        let rounded = percent.round();
        // What is not everything is not shown as everything.
        let rounded = if rounded == 100.0 && percent < 100.0 { return "99.9%".to_owned() } else { rounded };
        return format!("{rounded:.0}%");
    }
    if percent.abs() < 0.1 { "<0.1%".to_owned() } else { format!("{percent:.1}%") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(ticks: Ticks) -> (Vec<String>, &'static str) {
        (ticks.at.into_iter().map(|(_, words)| words).collect(), ticks.unit)
    }

    fn axis(low: f64, high: f64) -> Axis {
        Axis { low, high, from: 0.0, to: 100.0 }
    }

    #[test]
    fn ticks_by_hand() {
        let shown = words(Ticks::of_time(&axis(-1.2e9, 23.8e9), 6.0));
        assert_eq!(shown, (["0", "5", "10", "15", "20"].map(String::from).to_vec(), "s"));
        let shown = words(Ticks::of_bytes(&axis(0.0, 2_126_453.0), 6.0));
        assert_eq!(shown, (["0.0", "0.5", "1.0", "1.5", "2.0"].map(String::from).to_vec(), "MiB"));
        let shown = words(Ticks::of_bytes(&axis(0.0, 3.0), 6.0));
        assert_eq!(shown, (["0", "1", "2", "3"].map(String::from).to_vec(), "bytes"));
        let shown = words(Ticks::of_bytes(&axis(0.0, 1_000_000.0), 8.0));
        assert_eq!(shown.0[1..3], ["128", "256"]);
        assert_eq!(words(Ticks::of_time(&axis(0.0, 7200e9), 8.0)).0.last().map(String::as_str), Some("120"));
    }

    #[test]
    fn numbers_by_hand() {
        assert_eq!(
            [0, 1, 1023, 1024, 2_126_453, i64::MAX].map(bytes),
            ["0 bytes", "1 byte", "1023 bytes", "1.0 KiB", "2.0 MiB", "8.0 EiB"]
        );
        assert_eq!([0.0, 0.0004, 0.004, 0.325, 0.9999, 1.0].map(percent), ["0%", "<0.1%", "0.4%", "33%", "99.9%", "100%"]);
    }

    proptest! {
        #[test]
        fn ticks_are_within_and_few(low in -1e18f64..1e18, span in 1.0f64..1e18, most in 2.0f64..12.0) {
            let axis = axis(low, low + span);
            for ticks in [Ticks::of_time(&axis, most), Ticks::of_bytes(&axis, most)] {
                prop_assert!(ticks.at.len() as f64 <= most + 2.0, "{ticks:?}");
                for (at, _) in ticks.at {
                    prop_assert!(at >= low - span * 1e-3 && at <= low + span * 1.001);
                }
            }
        }
    }
}

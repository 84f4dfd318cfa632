//! Scales: counts and times in, line widths and colours out. The legend draws the same functions,
//! so it cannot differ from the figure.

use crate::text::{count, duration};

/// Line widths for counts: logarithmic, from 1 to 8 pixels when counts differ by a factor of 30 or
/// more. Smaller differences get a smaller part of that range, so that 3 next to 2 does not look
/// like 3,000 next to 2.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WidthScale {
    /// The least count, drawn thinnest.
    pub least: u64,
    /// The highest count, drawn widest.
    pub most: u64,
}

const THINNEST: f64 = 1.0;
const THICKEST: f64 = 8.0;
const FULL_RANGE: f64 = 30.0;

impl WidthScale {
    /// The scale from the least to the highest of these counts; from 0 to 0 when there is none.
    pub fn new(counts: impl Iterator<Item = u64>) -> Self {
        let (least, most) = counts.fold((u64::MAX, 0), |(a, b), n| (a.min(n), b.max(n)));
        Self { least: least.min(most), most }
    }

    /// Width of the line for a count, in pixels.
    pub fn width(&self, n: u64) -> f64 {
        let span = (THICKEST - THINNEST) * self.span();
        THINNEST + (THICKEST - THINNEST - span) * 0.2 + span * self.share(n)
    }

    /// `3 to 120`, or `all 7`.
    pub fn words(&self) -> String {
        if self.least == self.most {
            return format!("all {}", count(self.most));
        }
        format!("{} to {}", count(self.least), count(self.most))
    }

    fn range(&self) -> f64 {
        ln(self.most) - ln(self.least)
    }

    /// How much of the range of widths or colours is used.
    fn span(&self) -> f64 {
        (self.range() / FULL_RANGE.ln()).min(1.0)
    }

    /// From 0 for the least to 1 for the most.
    fn share(&self, n: u64) -> f64 {
        let range = self.range();
        if range > 0.0 { ((ln(n) - ln(self.least)) / range).clamp(0.0, 1.0) } else { 0.0 }
    }

    /// Counts for a legend: least, most, and the one halfway between their widths.
    pub fn samples(&self) -> Vec<u64> {
        let middle = ((self.least.max(1) as f64) * (self.most.max(1) as f64)).sqrt().round() as u64;
        let mut samples = vec![self.least, middle, self.most];
        samples.dedup();
        samples
    }
}

fn ln(n: u64) -> f64 {
    (n.max(1) as f64).ln()
}

/// Colours for times: from a light blue for short to a dark red for long. Lightness falls all the
/// way, so that the order is also seen without colour; blue and red differ for every common colour
/// blindness.
///
/// Logarithmic above the shortest positive time, and zero (or less) at the light end, since queues
/// give many zeros. Times that differ little get colours that differ little.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimeScale {
    /// The shortest time in nanoseconds.
    pub least: f64,
    /// The longest time in nanoseconds.
    pub most: f64,
    knee: f64,
}

/// Length of the logarithmic scale from which on all colours are used: the longest time is five
/// times the shortest.
const ALL_COLOURS: f64 = 1.1;

const TIME_STOPS: [[u8; 3]; 5] = [[0x5a, 0xa2, 0xd0], [0x5f, 0x7f, 0xc2], [0x7a, 0x50, 0xa3], [0x94, 0x2b, 0x73], [0x86, 0x0d, 0x22]];

impl TimeScale {
    /// The scale from the shortest to the longest of these times, in nanoseconds; from 0 to 0 when
    /// there is none.
    pub fn new(times: impl Iterator<Item = f64> + Clone) -> Self {
        let least = times.clone().fold(f64::INFINITY, f64::min);
        let most = times.clone().fold(f64::NEG_INFINITY, f64::max);
        let knee = times.filter(|&t| t > 0.0).fold(f64::INFINITY, f64::min);
        Self {
            least: if least.is_finite() { least } else { 0.0 },
            most: if most.is_finite() { most } else { 0.0 },
            knee: if knee.is_finite() { knee } else { 1.0 },
        }
    }

    /// Whether there is more than one time, and so more than one colour.
    pub fn has_range(&self) -> bool {
        self.log(self.most) > self.log(self.least)
    }

    /// `9s to 3m 05s`, or `all 9s`.
    pub fn words(&self) -> String {
        let (least, most) = (duration(self.least), duration(self.most));
        if least == most { format!("all {most}") } else { format!("{least} to {most}") }
    }

    fn log(&self, ns: f64) -> f64 {
        (1.0 + ns.max(0.0) / self.knee).ln()
    }

    /// From 0 (light, short) to 1 (dark, long).
    fn share(&self, ns: f64) -> f64 {
        let (low, high) = (self.log(self.least), self.log(self.most));
        if high > low { ((self.log(ns) - low) / (high - low)).clamp(0.0, 1.0) } else { 0.0 }
    }

    /// Colour as `#rrggbb`.
    pub fn colour(&self, ns: f64) -> String {
        self.colour_at(self.share(ns))
    }

    fn colour_at(&self, share: f64) -> String {
        let span = ((self.log(self.most) - self.log(self.least)) / ALL_COLOURS).clamp(0.0, 1.0);
        blend(&TIME_STOPS, share * span + (1.0 - span) * 0.25)
    }

    /// The time at a share of the scale: the inverse of the colour.
    pub fn time_at(&self, share: f64) -> f64 {
        let (low, high) = (self.log(self.least), self.log(self.most));
        match share {
            s if s <= 0.0 => self.least,
            s if s >= 1.0 => self.most,
            s => ((low + (high - low) * s).exp() - 1.0) * self.knee,
        }
    }

    /// Colours at `n` equal steps along the scale.
    pub fn ramp(&self, n: usize) -> Vec<String> {
        (0..n).map(|i| self.colour_at(i as f64 / (n.max(2) - 1) as f64)).collect()
    }
}

const BOX_STOPS: [[u8; 3]; 2] = [[0xf4, 0xf8, 0xfc], [0xa8, 0xcc, 0xe8]];

/// Fill of a node for a count, light enough for dark text; logarithmic.
pub fn box_colour(scale: WidthScale, n: u64) -> String {
    let span = scale.span();
    blend(&BOX_STOPS, (1.0 - span) * 0.5 + span * scale.share(n))
}

/// The colour, as `#rrggbb`, at a share from 0 to 1 of the way through these stops.
pub fn blend(stops: &[[u8; 3]], share: f64) -> String {
    let at = share.clamp(0.0, 1.0) * (stops.len() - 1) as f64;
    let i = (at.floor() as usize).min(stops.len() - 2);
    let part = at - i as f64;
    let mix = |k: usize| {
        let (a, b) = (f64::from(stops[i][k]), f64::from(stops[i + 1][k]));
        (a + (b - a) * part).round() as u8
    };
    format!("#{:02x}{:02x}{:02x}", mix(0), mix(1), mix(2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lightness(colour: &str) -> f64 {
        let part = |i: usize| {
            let c = f64::from(u8::from_str_radix(&colour[i..i + 2], 16).expect("the test's own input")) / 255.0;
            if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
    }

    #[test]
    fn the_ramp_darkens_and_can_be_read_on_white() {
        let scale = TimeScale::new([1e9, 1e12].into_iter());
        let ramp: Vec<f64> = scale.ramp(50).iter().map(|c| lightness(c)).collect();
        assert!(ramp.windows(2).all(|p| p[1] < p[0] + 1e-3), "{ramp:?}");
        assert!(1.05 / (ramp[0] + 0.05) > 2.7, "{}", 1.05 / (ramp[0] + 0.05));
    }

    #[test]
    fn text_on_the_darkest_box_can_be_read() {
        let scale = WidthScale { least: 1, most: 1000 };
        assert!((lightness(&box_colour(scale, 1000)) + 0.05) / 0.07 > 7.0);
    }

    #[test]
    fn widths_by_hand() {
        let wide = WidthScale { least: 1, most: 900 };
        assert_eq!((wide.width(1), wide.width(30), wide.width(900)), (1.0, 4.5, 8.0));
        let flat = WidthScale { least: 7, most: 7 };
        assert!((flat.width(7) - 2.4).abs() < 1e-9);
        assert_eq!(flat.samples(), [7]);
        assert_eq!(WidthScale::new(std::iter::empty()).width(3), flat.width(3));
    }

    proptest! {
        #[test]
        fn scales_are_monotone(mut times in proptest::collection::vec(-10i64..1_000_000, 2..9), n in 1u64..99, m in 1u64..99) {
            times.sort_unstable();
            let scale = TimeScale::new(times.iter().map(|&t| t as f64));
            for p in times.windows(2) {
                prop_assert!(scale.share(p[0] as f64) <= scale.share(p[1] as f64));
            }
            let middle = scale.time_at(0.5);
            prop_assert!(scale.least <= middle && middle <= scale.most);
            if scale.has_range() {
                prop_assert!((scale.share(middle) - 0.5).abs() < 1e-6);
            }
            let widths = WidthScale { least: n.min(m), most: n.max(m) };
            prop_assert!(widths.width(n.min(m)) <= widths.width(n.max(m)));
            prop_assert!((1.0..=8.0).contains(&widths.width(n)));
        }
    }
}

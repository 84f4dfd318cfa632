//! Statistics of numbers: sum, mean, median, 95th percentile, extremes, standard deviation.

use serde::Serialize;

/// What a list of numbers says. Of nanoseconds or bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Stats {
    /// How many there are.
    pub count: u64,
    /// Their sum.
    pub sum: i128,
    /// Arithmetic mean.
    pub mean: f64,
    /// Median, halfway between the two middle values when their number is even.
    pub median: f64,
    /// 95th percentile, linear between the neighbours (as NumPy's and PM4Py's).
    pub p95: f64,
    /// Smallest.
    pub min: i64,
    /// Largest.
    pub max: i64,
    /// Standard deviation of the numbers themselves (divided by their count).
    pub stdev: f64,
}

impl Stats {
    /// The statistics of these numbers, whose order changes; `None` of no numbers.
    pub fn of(values: &mut [i64]) -> Option<Self> {
        let (&first, count) = (values.first()?, values.len());
        let (mut sum, mut min, mut max) = (0i128, first, first);
        for &value in values.iter() {
            sum += i128::from(value);
            min = min.min(value);
            max = max.max(value);
        }
        let mean = sum as f64 / count as f64;
        // Differences from the mean, so that large numbers that differ little keep their digits.
        let squares: f64 = values.iter().map(|&value| (value as f64 - mean).powi(2)).sum();
        let median = percentile(values, 0.5);
        let p95 = percentile(values, 0.95);
        Some(Self { count: count as u64, sum, mean, median, p95, min, max, stdev: (squares / count as f64).sqrt() })
    }
}

/// The value below which a share of the numbers lies, linear between neighbours; their order changes. Zero of no numbers.
pub fn percentile(values: &mut [i64], share: f64) -> f64 {
    let Some(last) = values.len().checked_sub(1) else { return 0.0 };
    let place = share.clamp(0.0, 1.0) * last as f64;
    let low = place.floor() as usize;
    let (_, &mut at, above) = values.select_nth_unstable(low);
    let part = place - low as f64;
    match above.iter().min() {
        Some(&next) if part > 0.0 => at as f64 + (next as f64 - at as f64) * part,
        _ => at as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        let stats = Stats::of(&mut [4, 1, 3, 2]).expect("there are numbers");
        assert_eq!((stats.count, stats.sum, stats.mean, stats.median, stats.min, stats.max), (4, 10, 2.5, 2.5, 1, 4));
        assert!((stats.p95 - 3.85).abs() < 1e-12 && (stats.stdev - 1.25f64.sqrt()).abs() < 1e-12);
        assert_eq!(Stats::of(&mut []), None);
        let one = Stats::of(&mut [i64::MAX]).expect("a number");
        assert_eq!((one.sum, one.p95), (i128::from(i64::MAX), i64::MAX as f64));
    }
}

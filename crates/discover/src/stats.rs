//! Statistics of numbers: sum, mean, median, 95th percentile, extremes, standard deviation.

use schemars::JsonSchema;
use serde::Serialize;

/// Statistics of a list of numbers, in nanoseconds or bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, JsonSchema)]
pub struct Stats {
    /// Number of values.
    pub count: u64,
    /// Sum of the values, in their unit.
    pub sum: i128,
    /// Arithmetic mean of the values, in their unit.
    pub mean: f64,
    /// Median, halfway between the two middle values when their number is even.
    pub median: f64,
    /// 95th percentile, linear between the neighbours (as NumPy's and PM4Py's).
    pub p95: f64,
    /// Smallest value.
    pub min: i64,
    /// Largest value.
    pub max: i64,
    /// Standard deviation of the numbers themselves (divided by their count).
    pub stdev: f64,
}

impl Stats {
    /// Returns the statistics of these numbers, and changes their order; `None` without numbers.
    pub fn new(values: &mut [i64]) -> Option<Self> {
        let (&first, count) = (values.first()?, values.len());
        let (mut sum, mut min, mut max) = (0i128, first, first);
        for &value in values.iter() {
            sum += i128::from(value);
            min = min.min(value);
            max = max.max(value);
        }
        let mean = sum as f64 / count as f64;
        let stdev = deviation(values, sum, (min, max));
        let median = percentile(values, 0.5);
        let p95 = percentile(values, 0.95);
        Some(Self { count: count as u64, sum, mean, median, p95, min, max, stdev })
    }
}

/// Returns the standard deviation. Squares are added up as integers, so that the order of the
/// numbers does not change the last digit; if they would not fit, the lowest bits are dropped and
/// 47 remain.
fn deviation(values: &[i64], sum: i128, (min, max): (i64, i64)) -> f64 {
    let count = values.len() as i128;
    let middle = sum / count;
    let widest = (i128::from(max) - middle).max(middle - i128::from(min)).unsigned_abs();
    let bits = |n: u128| 128 - n.leading_zeros();
    let shift = (2 * bits(widest) + bits(count.unsigned_abs())).saturating_sub(127).div_ceil(2);
    let squares: u128 = values.iter().map(|&value| ((i128::from(value) - middle).unsigned_abs() >> shift).pow(2)).sum();
    let off = (sum - middle * count) as f64 / count as f64;
    (squares as f64 * 4f64.powi(shift as i32) / count as f64 - off * off).max(0.0).sqrt()
}

/// Returns the value below which a share of the numbers lies, linear between neighbours, and
/// changes their order. Zero without numbers.
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
        let stats = Stats::new(&mut [4, 1, 3, 2]).expect("there are numbers");
        assert_eq!((stats.count, stats.sum, stats.mean, stats.median, stats.min, stats.max), (4, 10, 2.5, 2.5, 1, 4));
        assert!((stats.p95 - 3.85).abs() < 1e-12 && (stats.stdev - 1.25f64.sqrt()).abs() < 1e-12);
        assert_eq!(Stats::new(&mut []), None);
        let one = Stats::new(&mut [i64::MAX]).expect("a number");
        assert_eq!((one.sum, one.p95, one.stdev), (i128::from(i64::MAX), i64::MAX as f64, 0.0));
        let far = Stats::new(&mut [i64::MIN, i64::MAX]).expect("numbers").stdev;
        assert!((far / 2f64.powi(63) - 1.0).abs() < 1e-12, "{far}");
        let (mut up, mut down) = ([1, 7, 100, 12_345_678_901], [12_345_678_901, 100, 7, 1]);
        assert_eq!(Stats::new(&mut up), Stats::new(&mut down));
    }
}

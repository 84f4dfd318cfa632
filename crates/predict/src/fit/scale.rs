//! How a number grows with the bytes that a task reads: a part that is always the same and a part
//! for each byte, neither below zero.

/// A number as a function of bytes: `fixed + per_byte · bytes`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    /// The part that does not depend on the bytes.
    pub fixed: f64,
    /// What each byte adds, in the unit of `fixed`.
    pub per_byte: f64,
    /// The largest difference to what was seen, as a share of that.
    pub error: f64,
    /// Whether only one size was seen, so that growth with the bytes is assumed.
    pub one_size: bool,
    /// The mean of the numbers that were seen, in the unit of `fixed`.
    pub mean: f64,
}

/// Sizes that differ by less than this share are one size.
const SAME_SIZE: f64 = 0.02;

impl Scale {
    /// Of pairs of bytes and numbers, by least squares of relative differences; nothing of none.
    pub fn new(seen: &[(f64, f64)]) -> Option<Self> {
        let n = seen.len() as f64;
        let (low, high) = seen.iter().fold((f64::INFINITY, 0.0f64), |(low, high), (x, _)| (low.min(*x), high.max(*x)));
        if seen.is_empty() {
            return None;
        }
        let mean = |of: &dyn Fn(&(f64, f64)) -> f64| seen.iter().map(of).sum::<f64>() / n;
        let one_size = high - low <= SAME_SIZE * high;
        let (mean_x, mean_y) = (mean(&|p| p.0), mean(&|p| p.1));
        let proportional = || if mean_x > 0.0 { (0.0, mean_y / mean_x) } else { (mean_y, 0.0) };
        let (fixed, per_byte) = if one_size { proportional() } else { line(seen).unwrap_or_else(proportional) };
        let mut scale = Self { fixed, per_byte, error: 0.0, one_size, mean: mean_y };
        let off = |(x, y): &(f64, f64)| if *y > 0.0 { (scale.at(*x) - y).abs() / y } else { 0.0 };
        scale.error = seen.iter().map(off).fold(0.0, f64::max);
        Some(scale)
    }

    /// The number for the given bytes.
    pub fn at(&self, bytes: f64) -> f64 {
        self.fixed + self.per_byte * bytes
    }
}

/// The line with the least squares of differences as shares of the observations; `None` if it is
/// not determined.
fn line(seen: &[(f64, f64)]) -> Option<(f64, f64)> {
    let (mut s, mut sx, mut sxx, mut sy, mut sxy) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for (x, y) in seen {
        let weight = if *y > 0.0 { 1.0 / (y * y) } else { return None };
        (s, sx, sxx, sy, sxy) = (s + weight, sx + weight * x, sxx + weight * x * x, sy + weight * y, sxy + weight * x * y);
    }
    let slope = (s * sxy - sx * sy) / (s * sxx - sx * sx);
    let fixed = (sy - slope * sx) / s;
    // Neither part is below zero: where the best line has one that is, the best line without it.
    let pair = match (fixed >= 0.0, slope >= 0.0) {
        (true, true) => (fixed, slope),
        (false, _) => (0.0, sxy / sxx),
        (true, false) => (sy / s, 0.0),
    };
    (pair.0.is_finite() && pair.1.is_finite()).then_some(pair)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_size_is_proportional_and_two_are_a_line() {
        let one = Scale::new(&[(10.0, 5.0), (10.0, 7.0)]).unwrap();
        assert!(one.one_size && (one.at(20.0) - 12.0).abs() < 1e-12 && (one.error - 0.2).abs() < 1e-12);
        let two = Scale::new(&[(10.0, 5.0), (30.0, 7.0)]).unwrap();
        assert!(!two.one_size && (two.at(20.0) - 6.0).abs() < 1e-9 && two.error < 1e-9);
        // A number that falls with the size is assumed to be constant; so is one that would be
        // below zero at size zero.
        assert_eq!(Scale::new(&[(10.0, 7.0), (30.0, 5.0)]).unwrap().per_byte, 0.0);
        assert_eq!(Scale::new(&[(10.0, 1.0), (30.0, 5.0)]).unwrap().fixed, 0.0);
        let nothing_read = Scale::new(&[(0.0, 3.0)]).unwrap();
        assert_eq!(nothing_read.at(1e9), 3.0);
        assert_eq!(Scale::new(&[]), None);
    }
}

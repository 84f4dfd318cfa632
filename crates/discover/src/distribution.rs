//! Distribution of a stream of numbers: count, sum, mean, deviation, and a histogram with exact
//! cumulative shares.
//!
//! Numbers lie in buckets, eight to a doubling; up to 16 each number has its own. Each bucket keeps
//! its least and its greatest number, so that the share of numbers up to the greatest of a bucket
//! is exact; the distribution within a bucket is not known.

use schemars::JsonSchema;
use serde::Serialize;

/// Distribution of numbers in nanoseconds or bytes; negative ones count as zero.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Distribution {
    count: u64,
    sum: i128,
    mean: f64,
    squares: f64,
    buckets: Vec<Bucket>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Bucket {
    count: u64,
    min: i64,
    max: i64,
}

/// A step of the cumulative distribution.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Step {
    /// Smallest value in this step.
    pub from: i64,
    /// Largest value in this step.
    pub to: i64,
    /// Number of values in this step.
    pub count: u64,
    /// Share of all values that are not greater.
    pub share: f64,
}

/// Summary of a distribution, in the unit of the added values.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Summary {
    /// Number of values.
    pub count: u64,
    /// Sum of all values.
    pub sum: i128,
    /// Arithmetic mean of all values.
    pub mean: f64,
    /// Standard deviation of the values (divided by their count).
    pub stdev: f64,
    /// Smallest value.
    pub min: i64,
    /// Median, up to an eighth too high.
    pub median: i64,
    /// 95th percentile, up to an eighth too high.
    pub p95: i64,
    /// Largest value.
    pub max: i64,
}

fn place(number: i64) -> usize {
    if number < 8 {
        return number as usize;
    }
    let exponent = 63 - number.leading_zeros() as usize;
    (exponent - 2) * 8 + ((number >> (exponent - 3)) & 7) as usize
}

impl Distribution {
    /// Adds a value; a negative one counts as zero.
    pub fn add(&mut self, number: i64) {
        let number = number.max(0);
        self.count += 1;
        self.sum += i128::from(number);
        // Welford's algorithm, which loses no precision if the deviation is small compared with the
        // mean.
        let off = number as f64 - self.mean;
        self.mean += off / self.count as f64;
        self.squares += off * (number as f64 - self.mean);
        let at = place(number);
        if at >= self.buckets.len() {
            self.buckets.resize(at + 1, Bucket::default());
        }
        let bucket = &mut self.buckets[at];
        (bucket.min, bucket.max) = match bucket.count {
            0 => (number, number),
            _ => (bucket.min.min(number), bucket.max.max(number)),
        };
        bucket.count += 1;
    }

    /// Returns the number of values that were added.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the sum of all values, in their unit.
    pub fn sum(&self) -> i128 {
        self.sum
    }

    /// Adds all values of another distribution.
    pub fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        let (n, m) = (self.count as f64, other.count as f64);
        let off = other.mean - self.mean;
        self.squares += other.squares + off * off * n * m / (n + m);
        self.mean += off * m / (n + m);
        self.count += other.count;
        self.sum += other.sum;
        if other.buckets.len() > self.buckets.len() {
            self.buckets.resize(other.buckets.len(), Bucket::default());
        }
        for (bucket, more) in self.buckets.iter_mut().zip(&other.buckets).filter(|(_, more)| more.count > 0) {
            (bucket.min, bucket.max) = match bucket.count {
                0 => (more.min, more.max),
                _ => (bucket.min.min(more.min), bucket.max.max(more.max)),
            };
            bucket.count += more.count;
        }
    }

    /// Returns the cumulative distribution: each of its shares is exact.
    pub fn steps(&self) -> Vec<Step> {
        let mut up_to = 0;
        let there = self.buckets.iter().filter(|bucket| bucket.count > 0);
        there
            .map(|bucket| {
                up_to += bucket.count;
                Step { from: bucket.min, to: bucket.max, count: bucket.count, share: up_to as f64 / self.count as f64 }
            })
            .collect()
    }

    /// Returns how many values are less than a number, by buckets: values in the number's own
    /// bucket count if all of them are less.
    pub fn below(&self, number: i64) -> u64 {
        self.buckets.iter().filter(|bucket| bucket.count > 0 && bucket.max < number).map(|bucket| bucket.count).sum()
    }

    /// Returns the summary; `None` without values.
    pub fn summary(&self) -> Option<Summary> {
        let steps = self.steps();
        let (first, last) = (steps.first()?, steps.last()?);
        let up_to = |share: f64| steps.iter().find(|step| step.share >= share).map_or(last.to, |step| step.to);
        Some(Summary {
            count: self.count,
            sum: self.sum,
            mean: self.sum as f64 / self.count as f64,
            stdev: (self.squares / self.count as f64).max(0.0).sqrt(),
            min: first.from,
            median: up_to(0.5),
            p95: up_to(0.95),
            max: last.to,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(numbers: &[i64]) -> Distribution {
        let mut made = Distribution::default();
        numbers.iter().for_each(|&number| made.add(number));
        made
    }

    #[test]
    fn by_hand() {
        let made = of(&[1, 2, 3, 4096, 4096]).summary().expect("there are numbers");
        assert_eq!((made.count, made.sum, made.min, made.median, made.max), (5, 8198, 1, 3, 4096));
        assert_eq!(of(&[2, 4]).summary().expect("two").stdev, 1.0);
        assert_eq!(Distribution::default().summary(), None);
        assert_eq!(of(&[-7]).summary().expect("one").max, 0);
    }

    proptest! {
        /// Shares are those of the numbers, sums are exact, and two parts add up to the whole.
        #[test]
        fn shares_are_exact(numbers in prop::collection::vec(0i64..2_000_000_000_000, 1..200), cut in 0usize..200) {
            let whole = of(&numbers);
            prop_assert_eq!(whole.sum(), numbers.iter().map(|&n| i128::from(n)).sum::<i128>());
            for step in whole.steps() {
                let not_greater = numbers.iter().filter(|&&n| n <= step.to).count();
                prop_assert_eq!(step.share, not_greater as f64 / numbers.len() as f64);
                prop_assert!(numbers.contains(&step.to) && numbers.contains(&step.from));
                prop_assert!(step.from <= 16 || step.to as f64 <= step.from as f64 * 1.125);
            }
            let cut = cut.min(numbers.len());
            let mut parts = of(&numbers[..cut]);
            parts.merge(&of(&numbers[cut..]));
            prop_assert_eq!(parts.steps(), whole.steps());
            let (a, b) = (parts.summary().unwrap().stdev, whole.summary().unwrap().stdev);
            prop_assert!((a - b).abs() <= 1e-6 * (1.0 + b), "{} {}", a, b);
        }
    }
}

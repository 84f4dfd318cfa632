//! Requests as a function of the input: a base and an amount for each GiB that an instance read.
//!
//! In go the bytes read and the use of an activity's instances; out comes a straight line that the
//! instances follow (least squares), raised until it covers what the rule asks for. There is none
//! where the data does not carry it: for few instances, inputs of about one size, or a use that
//! the size explains badly.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Rule, round_up};

/// Number of bytes in a GiB.
const GIB: f64 = (1u64 << 30) as f64;

/// Minimum number of instances: a line through fewer says little about the next one.
const INSTANCES: usize = 10;

/// Minimum ratio of the largest to the smallest input.
const SPREAD: f64 = 2.0;

/// Minimum share of the variance that the size explains (the coefficient of determination).
const EXPLAINED: f64 = 0.8;

/// A suggestion that grows with the input, in the unit of its field.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct ByInput {
    /// Number of instances with known use and bytes read.
    pub instances: u64,
    /// Request for an instance that reads nothing.
    pub base: i64,
    /// Further request for each GiB read.
    pub per_gib: i64,
    /// Share of the variance of the use that the size explains, 0.8 to 1.
    pub explained: f64,
    /// Number of instances that used more than their request would have been.
    pub exceeding: u64,
    /// Smallest number of bytes read. It is not known whether the line holds below.
    pub smallest_bytes: i64,
    /// Largest number of bytes read. It is not known whether the line holds above.
    pub largest_bytes: i64,
}

impl ByInput {
    /// Returns the suggested request for an instance that reads so many bytes.
    pub fn request(&self, read_bytes: i64) -> f64 {
        self.base as f64 + self.per_gib as f64 * read_bytes as f64 / GIB
    }
}

/// Returns the line for instances as pairs of bytes read and use, if there is one. The base is
/// rounded up to multiples of `step`, the amount for each GiB to multiples of `gib_step`.
pub(super) fn suggest(samples: &[(i64, i64)], rule: Rule, (step, gib_step): (i64, i64)) -> Option<ByInput> {
    let smallest = samples.iter().map(|(read, _)| *read).min()?;
    let largest = samples.iter().map(|(read, _)| *read).max()?;
    if samples.len() < INSTANCES || smallest <= 0 || (largest as f64) < SPREAD * smallest as f64 {
        return None;
    }
    let points: Vec<(f64, f64)> = samples.iter().map(|&(read, used)| (read as f64 / GIB, used as f64)).collect();
    let number = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / number;
    let (mean_read, mean_used) = (mean(|point| point.0), mean(|point| point.1));
    let sum = |of: &dyn Fn(f64, f64) -> f64| points.iter().map(|(read, used)| of(read - mean_read, used - mean_used)).sum::<f64>();
    let (both, reads, uses) = (sum(&|read, used| read * used), sum(&|read, _| read * read), sum(&|_, used| used * used));
    if reads <= 0.0 || uses <= 0.0 {
        return None;
    }
    let (slope, explained) = (both / reads, both * both / (reads * uses));
    if slope <= 0.0 || explained < EXPLAINED {
        return None;
    }
    let mut above: Vec<f64> = points.iter().map(|(read, used)| used - slope * read).collect();
    above.sort_by(f64::total_cmp);
    let (base, factor) = match rule {
        Rule::Maximum { margin } => (above.last().copied()?, 1.0 + margin),
        Rule::Percentile { share } => {
            let rank = (share.clamp(0.0, 1.0) * number).ceil() as usize;
            (above.get(rank.clamp(1, above.len()) - 1).copied()?, 1.0)
        }
    };
    let rounded = |of: f64, step: i64| round_up((of * factor).max(0.0).ceil() as i64, step);
    let mut found = ByInput {
        instances: samples.len() as u64,
        base: rounded(base, step),
        per_gib: rounded(slope, gib_step),
        explained,
        exceeding: 0,
        smallest_bytes: smallest,
        largest_bytes: largest,
    };
    found.exceeding = samples.iter().filter(|(read, used)| *used as f64 > found.request(*read)).count() as u64;
    Some(found)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ONE_GIB: i64 = 1 << 30;

    #[test]
    fn a_line_by_hand() {
        // 100 and 7 for each GiB, exactly.
        let samples: Vec<(i64, i64)> = (1..=12).map(|gib| (gib * ONE_GIB, 100 + 7 * gib)).collect();
        let found = suggest(&samples, Rule::Maximum { margin: 0.0 }, (10, 1)).expect("a line");
        assert_eq!((found.base, found.per_gib, found.exceeding, found.instances), (100, 7, 0, 12));
        assert_eq!((found.smallest_bytes, found.largest_bytes), (ONE_GIB, 12 * ONE_GIB));
        let with_margin = suggest(&samples, Rule::Maximum { margin: 0.5 }, (10, 1)).expect("a line");
        assert_eq!((with_margin.base, with_margin.per_gib), (150, 11));
    }

    #[test]
    fn there_is_none_where_the_data_does_not_carry_it() {
        let rule = Rule::default();
        let line = |gib: i64| (gib * ONE_GIB, 100 + 7 * gib);
        let few: Vec<_> = (1..=9).map(line).collect();
        let one_size: Vec<_> = (100..=120).map(line).collect();
        let no_line: Vec<_> = (1..=20).map(|gib| (gib * ONE_GIB, [100, 900, 300][gib as usize % 3])).collect();
        let constant: Vec<_> = (1..=20).map(|gib| (gib * ONE_GIB, 5)).collect();
        let shrinking: Vec<_> = (1..=20).map(|gib| (gib * ONE_GIB, 1000 - gib)).collect();
        let unread: Vec<_> = (0..=20).map(line).collect();
        for samples in [few, one_size, no_line, constant, shrinking, unread] {
            assert_eq!(suggest(&samples, rule, (1, 1)), None, "{samples:?}");
        }
    }

    proptest! {
        /// With the rule of the maximum no instance uses more than its request; with a percentile
        /// at least the share does not.
        #[test]
        fn the_line_covers_what_the_rule_asks_for(
            points in prop::collection::vec((1i64..1000, 0i64..50), 10..60), share in 0.1f64..1.0
        ) {
            let samples: Vec<(i64, i64)> = points.iter().map(|&(read, more)| (read << 24, 1000 + 40 * read + more)).collect();
            if let Some(found) = suggest(&samples, Rule::Maximum { margin: 0.0 }, (1, 1)) {
                prop_assert_eq!(found.exceeding, 0);
            }
            if let Some(found) = suggest(&samples, Rule::Percentile { share }, (1, 1)) {
                prop_assert!((samples.len() as u64 - found.exceeding) as f64 >= share * samples.len() as f64 - 1e-9);
            }
        }
    }
}

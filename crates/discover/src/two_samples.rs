//! Comparison of two samples of numbers: the effect size, and whether chance explains the
//! difference.
//!
//! The test is that of Wilcoxon, Mann and Whitney (Mann & Whitney, *On a test of whether one of two
//! random variables is stochastically larger than the other*, Annals of Mathematical Statistics
//! 1947), two-sided: exact for small samples without equal numbers, otherwise by the normal
//! approximation with corrections for ties and continuity. The effect is Cliff's delta (Cliff,
//! *Dominance statistics*, Psychological Bulletin 1993). The p-values of several tests are
//! corrected by Holm's method (*A simple sequentially rejective multiple test procedure*,
//! Scandinavian Journal of Statistics 1979).

use schemars::JsonSchema;
use serde::Serialize;

/// Effect size of the difference of two samples, and its p-value.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct TwoSamples {
    /// Cliff's delta: the share of pairs in which the number of the second sample is greater, minus
    /// the share in which it is smaller; −1 to 1.
    pub cliffs_delta: f64,
    /// The p-value: probability that chance alone causes a difference at least as large.
    pub p: f64,
    /// Smallest p-value that samples of these sizes can have; if it is above 0.05, no difference is
    /// significant.
    pub least_p: f64,
}

/// Maximum number of pairs for which the exact distribution is computed.
const MOST_PAIRS: usize = 2500;

/// Compares two samples, and changes their order. Returns `None` if one is empty.
pub fn compare(first: &mut [i64], second: &mut [i64]) -> Option<TwoSamples> {
    if first.is_empty() || second.is_empty() {
        return None;
    }
    first.sort_unstable();
    second.sort_unstable();
    let pairs = first.len() as f64 * second.len() as f64;
    // Pairs in which the number of the second is greater, and equal ones.
    let (mut above, mut equal) = (0f64, 0f64);
    for &number in first.iter() {
        let low = second.partition_point(|&other| other < number);
        let high = second.partition_point(|&other| other <= number);
        above += (second.len() - high) as f64;
        equal += (high - low) as f64;
    }
    let below = pairs - above - equal;
    let u = above + equal / 2.0;
    let ties = ties(first, second);
    let exact = ties == 0.0 && first.len() * second.len() <= MOST_PAIRS;
    let p =
        if exact { exact_p(first.len(), second.len(), above.min(below) as usize) } else { normal_p(first.len(), second.len(), u, ties) };
    Some(TwoSamples { cliffs_delta: (above - below) / pairs, p, least_p: least_p(first.len(), second.len()) })
}

/// Returns the sum of t³ − t over all groups of t equal numbers of both samples.
fn ties(first: &[i64], second: &[i64]) -> f64 {
    let mut all: Vec<i64> = first.iter().chain(second).copied().collect();
    all.sort_unstable();
    all.chunk_by(|a, b| a == b).map(|same| (same.len() as f64).powi(3) - same.len() as f64).sum()
}

/// Returns the smallest p-value: two of all selections of the numbers of the first sample are the
/// most extreme.
fn least_p(n: usize, m: usize) -> f64 {
    let ways: f64 = (1..=n.min(m)).map(|k| (n.max(m) + k) as f64 / k as f64).product();
    (2.0 / ways).min(1.0)
}

/// Returns twice the share of all orders in which U is at most the given value.
fn exact_p(n: usize, m: usize, smaller_u: usize) -> f64 {
    // Probabilities of each U: of n and m numbers the largest is one of the first (then it is above all m of the second) or of the second.
    let most = n * m;
    let mut of: Vec<Vec<f64>> = vec![vec![0.0; most + 1]; m + 1];
    for (j, row) in of.iter_mut().enumerate() {
        row[0] = 1.0;
        debug_assert!(j <= m);
    }
    for i in 1..=n {
        // `of[j]` is the distribution of i − 1 and j numbers; row 0 does not change.
        let mut below = of[0].clone();
        for (j, row) in of.iter_mut().enumerate().skip(1) {
            let (with_first, with_second) = (i as f64 / (i + j) as f64, j as f64 / (i + j) as f64);
            let mut next = vec![0.0; most + 1];
            for u in 0..=i * j {
                let shifted = u.checked_sub(j).map_or(0.0, |at| row[at]);
                next[u] = with_first * shifted + with_second * below[u];
            }
            below.clone_from(&next);
            *row = next;
        }
    }
    let tail: f64 = of[m].iter().take(smaller_u + 1).sum();
    (2.0 * tail).min(1.0)
}

fn normal_p(n: usize, m: usize, u: f64, ties: f64) -> f64 {
    let (n, m) = (n as f64, m as f64);
    let all = n + m;
    let variance = n * m / 12.0 * (all + 1.0 - ties / (all * (all - 1.0)));
    if variance <= 0.0 {
        return 1.0;
    }
    let far = ((u - n * m / 2.0).abs() - 0.5).max(0.0);
    erfc(far / variance.sqrt() / std::f64::consts::SQRT_2).min(1.0)
}

/// Returns the complementary error function of a number of at least 0: a series for small ones,
/// Lentz's continued fraction for large ones (Abramowitz & Stegun, *Handbook of Mathematical
/// Functions*, 7.1.6 and 7.1.14).
fn erfc(x: f64) -> f64 {
    let scale = (-x * x).exp() / std::f64::consts::PI.sqrt();
    if x < 2.5 {
        let (mut term, mut sum) = (2.0 * x, 2.0 * x);
        let mut n = 0.0;
        while term > sum * 1e-17 && n < 200.0 {
            n += 1.0;
            term *= 2.0 * x * x / (2.0 * n + 1.0);
            sum += term;
        }
        return 1.0 - scale * sum;
    }
    let mut fraction = x;
    for n in (1..=60).rev() {
        fraction = x + f64::from(n) / 2.0 / fraction;
    }
    scale / fraction
}

/// Corrects p-values for the number of tests.
pub fn holm(p: &mut [f64]) {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]).then(a.cmp(&b)));
    let mut least = 0f64;
    for (place, &at) in order.iter().enumerate() {
        least = least.max((p[at] * (order.len() - place) as f64).min(1.0));
        p[at] = least;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Values of scipy.stats.mannwhitneyu (1.17.1), two-sided, with the same method.
    #[test]
    fn as_scipy_says() {
        let p = |first: &[i64], second: &[i64]| compare(&mut first.to_vec(), &mut second.to_vec()).expect("both have numbers").p;
        for (first, second, expected) in [
            (&[1i64, 2, 3][..], &[4i64, 5, 6][..], 0.1),
            (&[1, 3, 5, 7], &[2, 4, 6, 8], 0.685_714_285_714_285_7),
            (&[19, 22, 16, 29, 24], &[20, 11, 17, 12], 0.111_111_111_111_111_12),
            // With ties: asymptotic.
            (&[1, 2, 2, 3], &[2, 4, 5, 6], 0.103_753_677_520_985_65),
            (&[5, 5, 5], &[5, 5, 5], 1.0),
        ] {
            let found = p(first, second);
            assert!((found - expected).abs() < 1e-9, "{first:?} {second:?}: {found} is not {expected}");
        }
    }

    #[test]
    fn error_functions_by_table() {
        for (x, expected) in [(0.0, 1.0), (0.5, 0.479_500_122_186_953_5), (1.0, 0.157_299_207_050_285_13), (3.0, 2.209_049_699_858_544e-5)]
        {
            assert!((erfc(x) / expected - 1.0).abs() < 1e-10, "{x}: {}", erfc(x));
        }
    }

    #[test]
    fn holm_by_hand() {
        let mut p = [0.01, 0.04, 0.03, 0.9];
        holm(&mut p);
        assert_eq!(p, [0.04, 0.09, 0.09, 0.9]);
    }

    #[test]
    fn so_few_can_say_nothing() {
        let one = compare(&mut [1], &mut [100]).expect("both have numbers");
        assert_eq!((one.p, one.least_p, one.cliffs_delta), (1.0, 1.0, 1.0));
        assert_eq!(compare(&mut [], &mut [1]), None);
        assert!((least_p(3, 3) - 0.1).abs() < 1e-12);
    }

    proptest! {
        /// The exact probability equals that of trying every order.
        #[test]
        fn exact_is_what_all_orders_say(marks in prop::collection::vec(any::<bool>(), 2..10)) {
            let (mut first, mut second) = (Vec::new(), Vec::new());
            for (at, mark) in marks.iter().enumerate() {
                if *mark { first.push(at as i64) } else { second.push(at as i64) }
            }
            prop_assume!(!first.is_empty() && !second.is_empty());
            let (n, m) = (first.len(), second.len());
            let u = |chosen: u32| -> usize {
                let is = |at: usize| chosen >> at & 1 == 1;
                (0..n + m).filter(|&a| is(a)).map(|a| (0..a).filter(|&b| !is(b)).count()).sum()
            };
            let smaller = |u: usize| u.min(n * m - u);
            let seen = smaller(u((0..n + m).filter(|&at| marks[at]).map(|at| 1 << at).sum()));
            let all: Vec<usize> = (0u32..1 << (n + m)).filter(|chosen| chosen.count_ones() as usize == n).map(u).collect();
            let tail = all.iter().filter(|&&u| u <= seen).count() as f64 / all.len() as f64;
            let found = compare(&mut first, &mut second).expect("both have numbers");
            prop_assert!((found.p - (2.0 * tail).min(1.0)).abs() < 1e-9, "{} {}", found.p, tail);
            prop_assert!(found.p >= found.least_p - 1e-12);
        }

        /// Both orders of the samples have the same result.
        #[test]
        fn both_ways(first in prop::collection::vec(0i64..20, 1..40), second in prop::collection::vec(0i64..20, 1..40)) {
            let one = compare(&mut first.clone(), &mut second.clone()).expect("numbers");
            let other = compare(&mut second.clone(), &mut first.clone()).expect("numbers");
            prop_assert!((one.p - other.p).abs() < 1e-12 && (one.cliffs_delta + other.cliffs_delta).abs() < 1e-12);
            prop_assert!((0.0..=1.0).contains(&one.p));
        }
    }
}

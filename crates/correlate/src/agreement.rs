//! How far two ways to put jobs into cases agree: a truth and what a notion found.
//!
//! In go, for each job, its case by the truth and its case by the notion; out come the measures of
//! clusterings. Pairs are pairs of jobs that are in one case.

use rustc_hash::FxHashMap;

/// Measures of how far found cases agree with true ones. Each is 1 where they are equal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Agreement {
    /// Number of jobs.
    pub jobs: usize,
    /// Number of true cases.
    pub true_cases: usize,
    /// Number of found cases.
    pub found_cases: usize,
    /// Share of the pairs found that are true; 1 where no pair is found.
    pub precision: f64,
    /// Share of the true pairs that are found; 1 where there is none.
    pub recall: f64,
    /// Harmonic mean of precision and recall.
    pub f1: f64,
    /// Adjusted Rand index (Hubert and Arabie, Comparing partitions, 1985).
    pub adjusted_rand: f64,
    /// V-measure, the harmonic mean of homogeneity and completeness (Rosenberg and Hirschberg,
    /// EMNLP 2007).
    pub v_measure: f64,
    /// True cases that are found exactly.
    pub exact: usize,
    /// True cases with jobs in several found cases.
    pub split: usize,
    /// Found cases with jobs of several true cases.
    pub merged: usize,
}

/// Compares cases: `truth` and `found` have a number for each job.
pub fn agreement(truth: &[u32], found: &[u32]) -> Agreement {
    let mut both: FxHashMap<(u32, u32), u64> = FxHashMap::default();
    for (&truth, &found) in truth.iter().zip(found) {
        *both.entry((truth, found)).or_default() += 1;
    }
    let (truth, found) = (Side::new(&both, |key| key.0), Side::new(&both, |key| key.1));
    let jobs: u64 = both.values().sum();
    let pairs_of_both = both.values().copied().map(pairs).sum();
    let (precision, recall) = (share(pairs_of_both, found.pairs()), share(pairs_of_both, truth.pairs()));
    let is_exact = |(key, count): (&(u32, u32), &u64)| truth.sizes[&key.0] == *count && found.sizes[&key.1] == *count;
    Agreement {
        jobs: jobs as usize,
        true_cases: truth.sizes.len(),
        found_cases: found.sizes.len(),
        precision,
        recall,
        f1: harmonic_mean(precision, recall),
        adjusted_rand: adjusted_rand(pairs_of_both, truth.pairs(), found.pairs(), pairs(jobs)),
        v_measure: v_measure(&both, &truth, &found, jobs as f64),
        exact: both.iter().filter(|entry| is_exact(*entry)).count(),
        split: truth.in_several(),
        merged: found.in_several(),
    }
}

/// The cases of one side.
struct Side {
    /// The number of jobs of each case.
    sizes: FxHashMap<u32, u64>,
    /// The number of the other side's cases in which each case's jobs are.
    others: FxHashMap<u32, u32>,
}

impl Side {
    fn new(both: &FxHashMap<(u32, u32), u64>, case: impl Fn(&(u32, u32)) -> u32) -> Self {
        let mut side = Self { sizes: FxHashMap::default(), others: FxHashMap::default() };
        for (key, count) in both {
            *side.sizes.entry(case(key)).or_default() += count;
            *side.others.entry(case(key)).or_default() += 1;
        }
        side
    }

    fn pairs(&self) -> f64 {
        self.sizes.values().copied().map(pairs).sum()
    }

    fn in_several(&self) -> usize {
        self.others.values().filter(|&&others| others > 1).count()
    }

    /// The entropy of the cases, in nats. Summed in the order of size, so that it is always the same.
    fn entropy(&self, jobs: f64) -> f64 {
        let mut sizes: Vec<u64> = self.sizes.values().copied().collect();
        sizes.sort_unstable();
        sizes.iter().map(|&size| size as f64 / jobs).map(|share| -share * share.ln()).sum()
    }
}

fn pairs(jobs: u64) -> f64 {
    jobs as f64 * (jobs as f64 - 1.0) / 2.0
}

fn share(part: f64, whole: f64) -> f64 {
    if whole == 0.0 { 1.0 } else { part / whole }
}

fn harmonic_mean(a: f64, b: f64) -> f64 {
    if a + b == 0.0 { 0.0 } else { 2.0 * a * b / (a + b) }
}

fn adjusted_rand(both: f64, truth: f64, found: f64, all: f64) -> f64 {
    let expected = if all == 0.0 { 0.0 } else { truth * found / all };
    let most = (truth + found) / 2.0;
    // Both have one case, or none with two jobs: they are equal.
    if most == expected { 1.0 } else { (both - expected) / (most - expected) }
}

fn v_measure(both: &FxHashMap<(u32, u32), u64>, truth: &Side, found: &Side, jobs: f64) -> f64 {
    let mut counts: Vec<(u64, u64, u64)> = both.iter().map(|(key, &count)| (count, truth.sizes[&key.0], found.sizes[&key.1])).collect();
    counts.sort_unstable();
    let information: f64 =
        counts.iter().map(|&(count, truth, found)| count as f64 / jobs * (count as f64 * jobs / (truth as f64 * found as f64)).ln()).sum();
    let part = |entropy: f64| if entropy == 0.0 { 1.0 } else { (information / entropy).max(0.0) };
    harmonic_mean(part(truth.entropy(jobs)), part(found.entropy(jobs)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::agreement;

    /// The same by counting pairs one by one.
    fn by_pairs(truth: &[u32], found: &[u32]) -> (f64, f64, f64) {
        let (mut both, mut in_truth, mut in_found, mut all) = (0.0, 0.0, 0.0, 0.0);
        let jobs: Vec<(u32, u32)> = truth.iter().copied().zip(found.iter().copied()).collect();
        for (number, a) in jobs.iter().enumerate() {
            for b in &jobs[number + 1..] {
                let (t, f) = (a.0 == b.0, a.1 == b.1);
                both += f64::from(u8::from(t && f));
                in_truth += f64::from(u8::from(t));
                in_found += f64::from(u8::from(f));
                all += 1.0;
            }
        }
        let part = |whole: f64| if whole == 0.0 { 1.0 } else { both / whole };
        let expected = if all == 0.0 { 0.0 } else { in_truth * in_found / all };
        let most = (in_truth + in_found) / 2.0;
        (part(in_found), part(in_truth), if most == expected { 1.0 } else { (both - expected) / (most - expected) })
    }

    proptest! {
        #[test]
        fn pairs_counted_one_by_one(cases in proptest::collection::vec((0u32..6, 0u32..6), 0..40)) {
            let (truth, found): (Vec<u32>, Vec<u32>) = cases.into_iter().unzip();
            let got = agreement(&truth, &found);
            let (precision, recall, adjusted_rand) = by_pairs(&truth, &found);
            for (got, want) in [(got.precision, precision), (got.recall, recall), (got.adjusted_rand, adjusted_rand)] {
                prop_assert!((got - want).abs() < 1e-9, "{got} {want}");
            }
            let turned = agreement(&found, &truth);
            prop_assert!((got.v_measure - turned.v_measure).abs() < 1e-9 && (got.f1 - turned.f1).abs() < 1e-9);
            prop_assert_eq!((got.exact, got.true_cases), (turned.exact, turned.found_cases));
            prop_assert!(got.exact + got.split <= got.true_cases && got.exact + got.merged <= got.found_cases);
        }
    }

    /// Values of scikit-learn 1.9's `adjusted_rand_score` and `v_measure_score`.
    #[test]
    fn scikit_learns_values() {
        for (truth, found, rand, v) in SCIKIT_LEARN {
            let got = agreement(truth, found);
            assert!((got.adjusted_rand - rand).abs() < 1e-12 && (got.v_measure - v).abs() < 1e-12, "{truth:?} {found:?} {got:?}");
        }
    }

    const SCIKIT_LEARN: &[(&[u32], &[u32], f64, f64)] = &[
        (&[0, 0, 1, 2], &[0, 0, 1, 1], 0.5714285714285714, 0.7999999999999999),
        (&[0, 0, 1, 1], &[0, 1, 0, 1], -0.5, 0.0),
        (&[0, 0, 1, 1], &[0, 1, 2, 3], 0.0, 0.6666666666666666),
        (&[0, 0, 0, 1, 1, 1, 2, 2, 2, 3], &[0, 0, 1, 1, 1, 1, 2, 2, 3, 3], 0.4444444444444444, 0.7182659441747594),
        (&[0, 0, 0, 0], &[1, 1, 1, 1], 1.0, 1.0),
    ];

    #[test]
    fn exact_split_and_merged_cases() {
        let got = agreement(&[0, 0, 1, 1, 2, 3], &[5, 5, 6, 7, 8, 8]);
        assert_eq!((got.jobs, got.true_cases, got.found_cases, got.exact, got.split, got.merged), (6, 4, 4, 1, 1, 1));
        let empty = agreement(&[], &[]);
        assert_eq!((empty.jobs, empty.f1, empty.adjusted_rand), (0, 1.0, 1.0));
    }
}

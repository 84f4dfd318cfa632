//! How far the jobs that each kind of evidence decided are where they belong.

use std::collections::BTreeMap;

use flowmine_correlate::agreement::{Agreement, agreement};

/// The measures of one kind of evidence.
#[derive(Debug, Clone, PartialEq)]
pub struct OfEvidence {
    /// The kind, as `cases.reason`.
    pub reason: String,
    /// Number of jobs that it decided.
    pub jobs: usize,
    /// Share of all jobs.
    pub share: f64,
    /// Agreement among these jobs alone: pairs with jobs that other evidence decided do not count.
    pub agreement: Agreement,
    /// Share of the jobs that are in one true case with the job that they follow, or follow none and
    /// are the oldest of their true case.
    pub right: f64,
}

/// The measures of each kind, the most frequent first; none where all jobs have the same.
pub fn of_each(reasons: &[&str], truth: &[u32], found: &[u32], right: &[bool]) -> Vec<OfEvidence> {
    let mut jobs: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, reason) in reasons.iter().enumerate() {
        jobs.entry(reason).or_default().push(at);
    }
    if jobs.len() < 2 {
        return Vec::new();
    }
    let of = |(reason, jobs): (&&str, &Vec<usize>)| {
        let (truth, found): (Vec<u32>, Vec<u32>) = jobs.iter().map(|&at| (truth[at], found[at])).unzip();
        let are_right = jobs.iter().filter(|&&at| right[at]).count();
        OfEvidence {
            reason: (*reason).to_owned(),
            jobs: jobs.len(),
            share: jobs.len() as f64 / reasons.len() as f64,
            agreement: agreement(&truth, &found),
            right: are_right as f64 / jobs.len() as f64,
        }
    };
    let mut all: Vec<OfEvidence> = jobs.iter().map(of).collect();
    all.sort_by(|a, b| b.jobs.cmp(&a.jobs).then_with(|| a.reason.cmp(&b.reason)));
    all
}

#[cfg(test)]
mod tests {
    use super::of_each;

    #[test]
    fn each_kind_counts_its_own_jobs() {
        let found = of_each(&["time", "time", "words", "time"], &[0, 0, 0, 1], &[0, 0, 0, 0], &[true, true, true, false]);
        let text: Vec<String> = found
            .iter()
            .map(|of| format!("{} {} {:.2} {:.2} {:.2}", of.reason, of.jobs, of.share, of.agreement.precision, of.right))
            .collect();
        assert_eq!(text, ["time 3 0.75 0.33 0.67", "words 1 0.25 1.00 1.00"]);
        assert!(of_each(&["", ""], &[0, 1], &[0, 1], &[true, true]).is_empty());
    }
}

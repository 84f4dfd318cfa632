//! Attempts that the log shows only by a message (`message:` of a rule), and the metadata of their
//! outputs.
//!
//! Snakemake writes the record of a job and the line about its end before those of the next job.
//! Both therefore have the same order, if the numbers of attempts and jobs that ended in the same
//! seconds are equal.

/// Assignment of attempts to jobs of the metadata.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Pairs {
    /// Index of an attempt and index of its job.
    pub pairs: Vec<(usize, usize)>,
    /// Indices of jobs that can belong to several attempts.
    pub ambiguous: Vec<usize>,
}

/// Pairs attempts with jobs. `attempts` contains their ends in the order of the log, `jobs` the
/// ends in the metadata, ascending. The end of a job is at most `early_ns` after and at most
/// `late_ns` before that of its attempt.
pub fn pair(attempts: &[i64], jobs: &[i64], early_ns: i64, late_ns: i64) -> Pairs {
    let mut found = Pairs::default();
    let first = |ended: i64| jobs.partition_point(|job| *job < ended.saturating_sub(late_ns));
    let end = |ended: i64| jobs.partition_point(|job| *job <= ended.saturating_add(early_ns));
    let mut at = 0;
    while at < attempts.len() {
        // All attempts with overlapping ranges of possible jobs.
        let (from, mut to) = (first(attempts[at]), end(attempts[at]));
        let begin = at;
        at += 1;
        while at < attempts.len() && first(attempts[at]) < to {
            to = to.max(end(attempts[at]));
            at += 1;
        }
        let fits = |(attempt, job): (usize, usize)| (first(attempts[attempt])..end(attempts[attempt])).contains(&job);
        let pairs = (begin..at).zip(from..to);
        if at - begin == to.saturating_sub(from) && pairs.clone().all(fits) {
            found.pairs.extend(pairs);
        } else {
            found.ambiguous.extend(from..to);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_attempts_as_jobs_are_in_the_same_order() {
        let found = pair(&[10, 10, 20, 30, 31], &[9, 10, 18, 29], 2, 5);
        assert_eq!(found.pairs, [(0, 0), (1, 1), (2, 2)]);
        assert_eq!(found.ambiguous, [3], "of one of two attempts");
        assert_eq!(pair(&[10], &[], 2, 5), Pairs::default());
        assert_eq!(pair(&[10], &[40], 2, 5), Pairs::default(), "of another run");
    }
}

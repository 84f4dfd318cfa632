//! Attempts of which the log shows only a message (`message:` of a rule), and the metadata of their
//! outputs.
//!
//! Snakemake writes a job's record and the line about its end one job after the other. So both are
//! in the same order, where as many attempts as jobs ended in the same seconds.

/// Which attempt is which job of the metadata.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Pairs {
    /// Places of an attempt and of a job.
    pub pairs: Vec<(usize, usize)>,
    /// Places of jobs that are of one of several attempts.
    pub ambiguous: Vec<usize>,
}

/// Pairs attempts with jobs. `attempts` are their ends in the order of the log, `jobs` the ends in
/// the metadata, ascending. A job's end lies between `early_ns` after and `late_ns` before that of
/// its attempt.
pub fn pair(attempts: &[i64], jobs: &[i64], early_ns: i64, late_ns: i64) -> Pairs {
    let mut found = Pairs::default();
    let first = |ended: i64| jobs.partition_point(|job| *job < ended.saturating_sub(late_ns));
    let end = |ended: i64| jobs.partition_point(|job| *job <= ended.saturating_add(early_ns));
    let mut at = 0;
    while at < attempts.len() {
        // All attempts whose possible jobs overlap.
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

//! Pairing of the tasks of two activities, by the bytes that the engine measured.
//!
//! A task reads its programs, which are the same for all tasks of its activity, and its input once
//! or a few times. So the bytes read are a constant plus a small multiple of the bytes written if
//! tasks are paired correctly. Sizes with differences above the deviations from that rule allow one
//! pairing only.

/// Minimum number of tasks of each activity.
const LEAST: usize = 3;

/// Maximum number of times that an input is read.
const MOST_TIMES: i64 = 3;

/// Maximum deviation, as a share of the smallest difference between sizes.
const DEVIATION: f64 = 0.05;

/// Pairs indices of `written` and `read`: the bytes that tasks of one activity wrote and tasks of
/// another read. Returns nothing unless exactly one pairing fits.
pub fn pair(written: &[i64], read: &[i64]) -> Option<Vec<(usize, usize)>> {
    if written.len() != read.len() || written.len() < LEAST {
        return None;
    }
    let by_size = |sizes: &[i64]| {
        let mut order: Vec<usize> = (0..sizes.len()).collect();
        order.sort_by_key(|&at| (sizes[at], at));
        order
    };
    let pairs: Vec<(usize, usize)> = by_size(written).into_iter().zip(by_size(read)).collect();
    let gap = pairs.windows(2).map(|two| written[two[1].0].saturating_sub(written[two[0].0])).min()?;
    let fits = |times: i64| {
        let rest = pairs.iter().map(|&(from, to)| read[to].saturating_sub(written[from].saturating_mul(times)));
        let (least, most) = (rest.clone().min()?, rest.max()?);
        let deviation = most.saturating_sub(least) as f64;
        (least >= 0 && deviation <= DEVIATION * gap.saturating_mul(times) as f64).then_some(())
    };
    (gap > 0 && (1..=MOST_TIMES).any(|times| fits(times).is_some())).then_some(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_that_allow_one_pairing() {
        let written = [97_800, 195_500, 293_100];
        assert_eq!(pair(&written, &[489_600, 684_900, 294_300]), Some(vec![(0, 2), (1, 0), (2, 1)]), "read twice");
        assert_eq!(pair(&written, &[489_600, 600_000, 294_300]), None, "of something else");
        assert_eq!(pair(&[5, 5, 5], &[10, 10, 10]), None, "of equal size");
        assert_eq!(pair(&[5, 100], &[10, 105]), None, "two are too few");
        assert_eq!(pair(&[i64::MIN, 0, i64::MAX], &[1, 2, 3]), None, "no sizes");
    }
}

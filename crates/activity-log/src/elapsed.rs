//! Lengths of time, by the one rule that all models follow: no length is below zero.

/// The time from a start to an end, in nanoseconds; `None` when the end is before the start, which
/// makes one of the two wrong, or when 64 bits cannot count it (292 years).
pub fn elapsed_ns(start_ns: i64, end_ns: i64) -> Option<i64> {
    end_ns.checked_sub(start_ns).filter(|ns| *ns >= 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_never_below_zero_and_never_cut() {
        assert_eq!((elapsed_ns(3, 5), elapsed_ns(5, 5), elapsed_ns(5, 3)), (Some(2), Some(0), None));
        assert_eq!((elapsed_ns(-1, i64::MAX), elapsed_ns(i64::MIN, i64::MAX)), (None, None));
    }
}

//! Sums of bytes, times and calls, as the columns of tables hold them: exact, or noted.
//!
//! - **In:** numbers of rows, which may be any: a damaged or foreign table holds what it likes.
//! - **Out:** their sum.
//!
//! **One rule.** A sum that does not fit is given as the largest number of its type, and the process
//! notes it ([`any_out_of_range`]): the command prints a warning. So that number means "at least
//! this many" in every table and model, and a sum with such a summand is noted again, by whichever
//! command adds it up.
//!
//! Instants and offsets are no sums: nothing here is for them.
//!
//! The note is kept for the whole process, because one command adds up in many places and warns
//! once.
//!
//! ```
//! let mut bytes = 40i64;
//! flowmine_sums::add_to(&mut bytes, 2);
//! assert_eq!((bytes, flowmine_sums::any_out_of_range()), (42, false));
//! flowmine_sums::add_to(&mut bytes, i64::MAX);
//! assert_eq!((bytes, flowmine_sums::any_out_of_range()), (i64::MAX, true));
//! assert!(flowmine_sums::is_bound(bytes));
//! ```

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

use std::sync::atomic::{AtomicBool, Ordering};

/// Whether a sum of this process was out of range. A flag alone: nothing else is read with it.
static OUT_OF_RANGE: AtomicBool = AtomicBool::new(false);

/// A type of the numbers in tables: `i64`, or `u64` for counts.
pub trait Number: Copy + Eq + 'static {
    /// What a sum is given as when it does not fit.
    const BOUNDS: &'static [Self];

    /// The sum, or the bound next to it.
    fn bounded_add(self, more: Self) -> Self;
}

impl Number for i64 {
    const BOUNDS: &'static [Self] = &[Self::MIN, Self::MAX];

    fn bounded_add(self, more: Self) -> Self {
        self.saturating_add(more)
    }
}

impl Number for u64 {
    const BOUNDS: &'static [Self] = &[Self::MAX];

    fn bounded_add(self, more: Self) -> Self {
        self.saturating_add(more)
    }
}

/// The sum of two numbers; if it does not fit, its bound.
pub fn add<N: Number>(a: N, b: N) -> N {
    let sum = a.bounded_add(b);
    if is_bound(sum) {
        OUT_OF_RANGE.store(true, Ordering::Relaxed);
    }
    sum
}

/// Adds to a sum, as [`add`] does.
pub fn add_to<N: Number>(sum: &mut N, more: N) {
    *sum = add(*sum, more);
}

/// The sum of all numbers, as [`add`] does.
pub fn total<N: Number + Default>(numbers: impl IntoIterator<Item = N>) -> N {
    numbers.into_iter().fold(N::default(), add)
}

/// Whether a sum is a bound because the true one does not fit.
pub fn is_bound<N: Number>(sum: N) -> bool {
    N::BOUNDS.contains(&sum)
}

/// Whether a sum of this process did not fit, or had a summand that is such a bound.
pub fn any_out_of_range() -> bool {
    OUT_OF_RANGE.load(Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn numbers() -> impl Strategy<Value = Vec<i64>> {
        prop::collection::vec(prop_oneof![0..1000i64, (i64::MAX - 1000)..=i64::MAX, 0..=i64::MAX], 0..6)
    }

    proptest! {
        /// A sum that is no bound is the exact one; one that does not fit is the bound and noted.
        #[test]
        fn exact_or_noted(numbers in numbers()) {
            let exact: i128 = numbers.iter().copied().map(i128::from).sum();
            let sum = total(numbers.iter().copied());
            prop_assert_eq!(i128::from(sum), exact.min(i128::from(i64::MAX)));
            prop_assert!(!is_bound(sum) || any_out_of_range());
            let count = total(numbers.iter().map(|&n| n.unsigned_abs()));
            prop_assert_eq!(i128::from(count), exact.min(i128::from(u64::MAX)));
            prop_assert_eq!(is_bound(count), exact >= i128::from(u64::MAX));
        }
    }

    #[test]
    fn nothing_is_no_bound() {
        assert_eq!((total::<u64>([]), total::<i64>([])), (0, 0));
        assert!(!is_bound(0u64) && !is_bound(0i64));
        assert!(is_bound(add(i64::MIN, -1)) && is_bound(add(u64::MAX, 0)));
    }
}

//! A number that may be unknown, in eight bytes.
//!
//! A log of millions of events holds many numbers that are mostly known; `Option<i64>` would take
//! twice the room. The smallest `i64` represents an unknown number: as a time it is the year 1677,
//! as a size or a count it has no meaning.

use std::fmt;

/// An `i64` or unknown; unknown sorts first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PackedInt(i64);

impl PackedInt {
    /// The unknown number.
    pub const UNKNOWN: PackedInt = PackedInt(i64::MIN);

    /// A known number; `i64::MIN` is the unknown one.
    pub const fn known(value: i64) -> Self {
        Self(value)
    }

    /// The number, or `None` when it is unknown.
    pub const fn get(self) -> Option<i64> {
        if self.0 == i64::MIN { None } else { Some(self.0) }
    }

    /// Whether the number is known.
    pub const fn is_known(self) -> bool {
        self.0 != i64::MIN
    }

    /// This number, or the other when it is unknown.
    pub const fn or(self, other: PackedInt) -> PackedInt {
        if self.is_known() { self } else { other }
    }
}

impl Default for PackedInt {
    fn default() -> Self {
        Self::UNKNOWN
    }
}

impl From<Option<i64>> for PackedInt {
    fn from(value: Option<i64>) -> Self {
        value.map_or(Self::UNKNOWN, Self)
    }
}

impl fmt::Debug for PackedInt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_and_unknown() {
        assert_eq!(PackedInt::from(Some(3)).get(), Some(3));
        assert_eq!(PackedInt::from(None).get(), None);
        assert_eq!(PackedInt::UNKNOWN.or(PackedInt::known(0)).get(), Some(0));
        assert!(PackedInt::UNKNOWN < PackedInt::known(-5));
        assert_eq!(size_of::<PackedInt>(), 8);
    }
}

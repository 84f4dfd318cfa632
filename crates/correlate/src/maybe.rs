//! A number that may be unknown, in eight bytes.
//!
//! A log of millions of events holds many numbers that are mostly known; `Option<i64>` would take
//! twice the room. The smallest `i64` represents an unknown number: as a time it is the year 1677,
//! as a size or a count it has no meaning.

use std::fmt;

/// An `i64` or unknown; unknown sorts first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Maybe(i64);

impl Maybe {
    /// The unknown number.
    pub const UNKNOWN: Maybe = Maybe(i64::MIN);

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
    pub const fn or(self, other: Maybe) -> Maybe {
        if self.is_known() { self } else { other }
    }
}

impl Default for Maybe {
    fn default() -> Self {
        Self::UNKNOWN
    }
}

impl From<Option<i64>> for Maybe {
    fn from(value: Option<i64>) -> Self {
        value.map_or(Self::UNKNOWN, Self)
    }
}

impl fmt::Debug for Maybe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_and_unknown() {
        assert_eq!(Maybe::from(Some(3)).get(), Some(3));
        assert_eq!(Maybe::from(None).get(), None);
        assert_eq!(Maybe::UNKNOWN.or(Maybe::known(0)).get(), Some(0));
        assert!(Maybe::UNKNOWN < Maybe::known(-5));
        assert_eq!(size_of::<Maybe>(), 8);
    }
}

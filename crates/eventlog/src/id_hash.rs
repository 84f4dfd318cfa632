//! Hashes of ids, for places where many ids are kept: 16 bytes for an id of any length.
//!
//! SipHash with two constant keys. By chance, two of a billion ids have the same hash once in 10^20
//! files; a file made for it would need 2^64 tries and would gain a wrong finding about itself.

use std::hash::{DefaultHasher, Hash, Hasher};

/// A 128-bit hash of an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct IdHash([u64; 2]);

impl IdHash {
    /// The hash of the id's text, the same in each run.
    pub fn new(text: &str) -> Self {
        Self([1_u8, 2].map(|key| {
            // A hasher of std without random keys; a leading byte makes two functions of it.
            let mut hasher = DefaultHasher::new();
            hasher.write_u8(key);
            hasher.write(text.as_bytes());
            hasher.finish()
        }))
    }

    /// That of several parts of an id.
    pub fn of_parts(parts: &impl Hash) -> Self {
        Self([3_u8, 4].map(|key| {
            let mut hasher = DefaultHasher::new();
            hasher.write_u8(key);
            parts.hash(&mut hasher);
            hasher.finish()
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_halves_are_two_functions() {
        assert_ne!(IdHash::new("a").0[0], IdHash::new("a").0[1]);
    }
}

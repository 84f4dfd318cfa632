//! Random numbers from a seed, the same on every machine.
//!
//! - **In:** a seed.
//! - **Out:** numbers, choices and durations that look random.
//!
//! They are for samples and made-up data, not for secrets.
//!
//! ```
//! use flowmine_random::Random;
//!
//! let (mut one, mut other) = (Random::new(7), Random::new(7));
//! assert_eq!(one.below(1000), other.below(1000));
//! let share = one.unit();
//! assert!(share > 0.0 && share < 1.0);
//! ```

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

/// A generator of random numbers: SplitMix64 (Steele, Lea and Flood, OOPSLA 2014, figure 17).
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// The numbers of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number above zero and below one, each equally likely.
    pub fn unit(&mut self) -> f64 {
        ((self.next() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// A number from 0 up to, and without, `end`, which is at least 1.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    /// A number from `first` up to and with `last`.
    pub fn between(&mut self, first: u64, last: u64) -> u64 {
        first + self.below(last.saturating_sub(first) + 1)
    }

    /// Whether something happens that happens in the given number of a hundred cases.
    pub fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One of several.
    pub fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }

    /// A duration around a median, in seconds: half of them within a factor of two of it, a few ten
    /// times as long. Twelve steps of equal factors, up or down at random: whole numbers only, so
    /// that all machines agree.
    pub fn around(&mut self, median_s: u64) -> u64 {
        let ups = (self.next() & 0xfff).count_ones() as i32 - 6;
        // 1.78 is about ten to the fourth root: six steps up are a factor of 30.
        let mut value = median_s.max(1) * 1000;
        for _ in 0..ups.unsigned_abs() {
            value = if ups > 0 { value * 178 / 100 } else { value * 100 / 178 };
        }
        // Within a step, anywhere.
        (value * self.between(75, 133) / 100 / 1000).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_of_the_published_generator() {
        // The first outputs of `splitmix64.c` (Vigna) for the seed 1234567.
        let mut random = Random::new(1_234_567);
        let expected = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!([random.next(), random.next(), random.next()], expected);
    }
}

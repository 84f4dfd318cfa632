//! Random numbers from a seed, the same on every machine.

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

//! Numbers by group in one allocation, for medians and percentiles of each group.

use crate::stats::Stats;

/// Numbers, with those of a group adjacent.
pub struct Grouped {
    offsets: Vec<usize>,
    values: Vec<i64>,
}

impl Grouped {
    /// Sorts numbers into `groups` groups; the numbers are read twice.
    pub fn new<I: Iterator<Item = (u32, i64)>>(groups: usize, numbers: impl Fn() -> I) -> Self {
        let mut offsets = vec![0usize; groups + 1];
        for (group, _) in numbers() {
            if let Some(count) = offsets.get_mut(group as usize + 1) {
                *count += 1;
            }
        }
        for at in 0..groups {
            offsets[at + 1] += offsets[at];
        }
        let mut free = offsets.clone();
        let mut values = vec![0; offsets[groups]];
        for (group, value) in numbers().filter(|(group, _)| (*group as usize) < groups) {
            let place = &mut free[group as usize];
            values[*place] = value;
            *place += 1;
        }
        Self { offsets, values }
    }

    /// Returns the numbers of a group, initially in the order of the input.
    pub fn get(&mut self, group: usize) -> &mut [i64] {
        &mut self.values[self.offsets[group]..self.offsets[group + 1]]
    }

    /// Returns the statistics of each group.
    pub fn stats(mut self) -> Vec<Option<Stats>> {
        (0..self.offsets.len() - 1).map(|group| Stats::new(self.get(group))).collect()
    }
}

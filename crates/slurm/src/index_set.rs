//! Array index sets: `3-9%3`, `1,3,5-15:5`, as squeue prints them for the pending rest of an array.

/// A set of array indices as sorted, disjoint ranges.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IndexSet {
    ranges: Vec<(u32, u32)>,
    /// Whether Slurm cut the list short (`1,3,…`), so that it is not whole.
    pub cut: bool,
}

impl IndexSet {
    /// Reads an expression without brackets; the `%limit` at its end is skipped. `None` when it is
    /// not one.
    ///
    /// Steps (`1-9:4`) are spelled out; one expression may hold at most [`IndexSet::MOST_RANGES`]
    /// ranges.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.split('%').next().unwrap_or_default();
        let mut set = Self::default();
        for item in text.split(',') {
            // `4...` may be the beginning of 46.
            if item.ends_with("...") || item.is_empty() {
                set.cut = true;
                continue;
            }
            let (range, step) = match item.split_once(':') {
                Some((range, step)) => (range, step.parse::<u32>().ok().filter(|&step| step > 0)?),
                None => (item, 1),
            };
            let (first, last) = match range.split_once('-') {
                Some((first, last)) => (first.parse().ok()?, last.parse().ok()?),
                None => {
                    let index = range.parse().ok()?;
                    (index, index)
                }
            };
            // Slurm's largest index is below MaxArraySize, so that no list can make us count to four thousand million.
            if first > last || last as usize >= Self::MOST_RANGES {
                return None;
            }
            if step == 1 {
                set.ranges.push((first, last));
            } else {
                set.ranges.extend((first..=last).step_by(step as usize).take(Self::MOST_RANGES + 1).map(|i| (i, i)));
            }
            if set.ranges.len() > Self::MOST_RANGES {
                return None;
            }
        }
        set.normalise();
        Some(set)
    }

    /// More ranges than any array has: Slurm's MaxArraySize is at most 4,000,001.
    pub const MOST_RANGES: usize = 4_000_001;

    fn normalise(&mut self) {
        self.ranges.sort_unstable();
        let mut joined: Vec<(u32, u32)> = Vec::with_capacity(self.ranges.len());
        for &(first, last) in &self.ranges {
            match joined.last_mut() {
                Some(before) if first <= before.1.saturating_add(1) => before.1 = before.1.max(last),
                _ => joined.push((first, last)),
            }
        }
        self.ranges = joined;
    }

    /// Whether an index is in the set.
    pub fn contains(&self, index: u32) -> bool {
        let at = self.ranges.partition_point(|&(first, _)| first <= index);
        at > 0 && index <= self.ranges[at - 1].1
    }

    /// Whether the set has no indices.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The indices, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.ranges.iter().flat_map(|&(first, last)| first..=last)
    }

    /// The indices for which `keep` holds.
    pub fn filter(&self, mut keep: impl FnMut(u32) -> bool) -> Self {
        let mut set = Self { ranges: Vec::new(), cut: self.cut };
        for index in self.iter().filter(|&index| keep(index)) {
            match set.ranges.last_mut() {
                Some(last) if last.1 + 1 == index => last.1 = index,
                _ => set.ranges.push((index, index)),
            }
        }
        set
    }
}

impl std::fmt::Display for IndexSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (at, &(first, last)) in self.ranges.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            if first == last {
                write!(f, "{comma}{first}")?;
            } else {
                write!(f, "{comma}{first}-{last}")?;
            }
        }
        if self.cut { f.write_str(",...") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn forms_that_slurm_prints() {
        assert_eq!(IndexSet::parse("3-9%3").unwrap().to_string(), "3-9");
        assert_eq!(IndexSet::parse("1,3,5-15:5").unwrap().to_string(), "1,3,5,10,15");
        assert_eq!(IndexSet::parse("0").unwrap().to_string(), "0");
        assert!(IndexSet::parse("1,3,5,").unwrap().cut);
        assert!(IndexSet::parse("1,3,...").unwrap().cut);
        let cut = IndexSet::parse("1,40-41,4...").unwrap();
        assert!(cut.cut && cut.contains(41) && !cut.contains(4));
        assert_eq!(IndexSet::parse("x"), None);
        assert_eq!(IndexSet::parse("0-4000000").unwrap().to_string(), "0-4000000");
        assert_eq!(IndexSet::parse("0-4294967295"), None);
    }

    #[test]
    fn filtering() {
        let set = IndexSet::parse("0-9").unwrap();
        assert_eq!(set.filter(|i| i % 5 != 0).to_string(), "1-4,6-9");
        assert!(set.contains(9) && !set.contains(10));
    }

    proptest! {
        #[test]
        fn what_is_printed_is_read(indices in proptest::collection::btree_set(0u32..200, 1..40)) {
            let text = indices.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
            let set = IndexSet::parse(&text).unwrap();
            prop_assert_eq!(IndexSet::parse(&set.to_string()).unwrap(), set.clone());
            prop_assert!((0..250).all(|i| set.contains(i) == indices.contains(&i)));
        }
        #[test]
        fn nothing_panics(text in "[0-9,:%.-]{0,20}") {
            let _ = IndexSet::parse(&text);
        }
    }
}

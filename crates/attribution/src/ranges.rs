//! Touched bytes of a file: ranges that neither overlap nor touch, from transfers in any order.
//!
//! A transfer that begins where the last one ended only moves an end. Others are collected, and
//! sorted into the rest in batches of 4096, so that a random access costs little. A set that has
//! grown large is passed on as sorted chunks; [`Union`] joins the chunks of several sets without
//! holding them all.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A range from its first byte to the one after its last.
pub type Range = (i64, i64);

/// Number of transfers that are collected before they are sorted in.
const GATHERED: usize = 1 << 12;

/// A set of byte offsets of a file, as ranges.
#[derive(Debug, Clone, Default)]
pub struct Ranges {
    /// Apart from each other, in order.
    sorted: Vec<Range>,
    /// The range of the last transfer, which the next one may continue.
    last: Option<Range>,
    new: Vec<Range>,
}

impl Ranges {
    /// Adds the bytes of a transfer.
    pub fn add(&mut self, start: i64, length: i64) {
        if length <= 0 {
            return;
        }
        let end = start.saturating_add(length);
        match &mut self.last {
            Some(last) if start >= last.0 && start <= last.1 => last.1 = last.1.max(end),
            last => {
                if let Some(before) = last.replace((start, end)) {
                    self.new.push(before);
                    if self.new.len() >= GATHERED {
                        self.merge();
                    }
                }
            }
        }
    }

    /// Returns the number of ranges that it keeps; some may overlap.
    pub fn kept(&self) -> usize {
        self.sorted.len() + self.new.len() + usize::from(self.last.is_some())
    }

    fn merge(&mut self) {
        self.new.extend(self.last.take());
        if self.new.is_empty() {
            return;
        }
        self.new.sort_unstable();
        let old = std::mem::take(&mut self.sorted);
        let (mut old, mut new) = (old.into_iter().peekable(), self.new.drain(..).peekable());
        loop {
            let next = match (old.peek(), new.peek()) {
                (Some(a), Some(b)) if a <= b => old.next(),
                (_, Some(_)) => new.next(),
                _ => old.next(),
            };
            let Some(next) = next else { break };
            join(&mut self.sorted, next);
        }
    }

    /// The ranges in order; the set is then empty.
    pub fn take(&mut self) -> Vec<Range> {
        self.merge();
        std::mem::take(&mut self.sorted)
    }
}

/// Adds a range that does not begin before the last one.
fn join(ranges: &mut Vec<Range>, next: Range) {
    match ranges.last_mut() {
        Some(last) if next.0 <= last.1 => last.1 = last.1.max(next.1),
        _ => ranges.push(next),
    }
}

/// Number of ranges, and their total size.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Extent {
    /// Number of ranges, none touching another.
    pub ranges: i64,
    /// Bytes in the ranges together.
    pub bytes: i64,
}

impl Extent {
    fn add(&mut self, (start, end): Range) {
        self.ranges += 1;
        flowmine_sums::add_to(&mut self.bytes, end.saturating_sub(start));
    }
}

/// Joins sorted lists that come in the order of their beginnings. Memory holds the lists that
/// overlap.
#[derive(Debug, Default)]
pub struct Union {
    lists: BinaryHeap<Reverse<(Range, usize)>>,
    waiting: Vec<std::vec::IntoIter<Range>>,
    free: Vec<usize>,
    open: Option<Range>,
    extent: Extent,
}

impl Union {
    /// Adds a list in order. Its first range must not begin before that of any list before.
    pub fn add(&mut self, list: Vec<Range>) {
        let Some(&(start, _)) = list.first() else { return };
        self.advance(start);
        let mut list = list.into_iter();
        let Some(first) = list.next() else { return };
        let at = match self.free.pop() {
            Some(at) => {
                self.waiting[at] = list;
                at
            }
            None => {
                self.waiting.push(list);
                self.waiting.len() - 1
            }
        };
        self.lists.push(Reverse((first, at)));
    }

    /// Merges all ranges that begin before an offset.
    fn advance(&mut self, until: i64) {
        while let Some(Reverse((range, at))) = self.lists.peek().copied() {
            if range.0 > until {
                return;
            }
            self.lists.pop();
            match self.waiting[at].next() {
                Some(next) => self.lists.push(Reverse((next, at))),
                None => self.free.push(at),
            }
            match &mut self.open {
                Some(open) if range.0 <= open.1 => open.1 = open.1.max(range.1),
                open => {
                    if let Some(done) = open.replace(range) {
                        self.extent.add(done);
                    }
                }
            }
        }
    }

    /// The number of ranges and bytes of all lists together.
    pub fn finish(mut self) -> Extent {
        self.advance(i64::MAX);
        if let Some(done) = self.open {
            self.extent.add(done);
        }
        self.extent
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The same extent computed byte by byte, to compare with.
    fn plain(transfers: &[Range]) -> Extent {
        let mut touched = [false; 1200];
        transfers.iter().for_each(|&(start, length)| touched[start as usize..(start + length) as usize].fill(true));
        let bytes = touched.iter().filter(|t| **t).count() as i64;
        let ranges = (0..touched.len()).filter(|&at| touched[at] && (at == 0 || !touched[at - 1])).count() as i64;
        Extent { ranges, bytes }
    }

    proptest! {
        #[test]
        fn ranges_are_those_of_the_bytes(transfers in proptest::collection::vec((0i64..1000, 0i64..100), 0..300), cut in 1usize..50, chunk in 1usize..9) {
            let mut chunks = Vec::new();
            for part in transfers.chunks(cut) {
                let mut ranges = Ranges::default();
                part.iter().for_each(|&(start, length)| ranges.add(start, length));
                let ranges = ranges.take();
                prop_assert!(ranges.windows(2).all(|pair| pair[0].1 < pair[1].0));
                chunks.extend(ranges.chunks(chunk).map(<[Range]>::to_vec));
            }
            chunks.sort();
            let mut union = Union::default();
            chunks.into_iter().for_each(|list| union.add(list));
            prop_assert_eq!(union.finish(), plain(&transfers));
        }
    }

    #[test]
    fn one_after_the_other_is_one_range() {
        let mut ranges = Ranges::default();
        (0..100_000).for_each(|n| ranges.add(n * 10, 10));
        assert_eq!(ranges.kept(), 1);
        (0..100_000).rev().for_each(|n| ranges.add(n * 10, 10));
        assert_eq!(ranges.take(), [(0, 1_000_000)]);
    }
}

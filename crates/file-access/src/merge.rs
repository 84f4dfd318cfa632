//! A bounded number of bars out of any number of reads and writes.
//!
//! Each of up to [`EXACT`] operations is a bar. Beyond that, operations of one owner in the same
//! column of the figure and in rows that touch share a bar, which keeps the lowest and the highest
//! byte, the first and the last moment, the number of operations and their bytes. While there are
//! still too many bars, the widths of columns and rows are doubled.

use std::collections::BTreeMap;

/// Maximum number of operations that are drawn one by one.
pub const EXACT: usize = 4_000;
/// Number of bars above which columns and rows get wider, if there is more than one.
const MOST: usize = 24_000;

/// One read or write, or several that are drawn as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bar {
    /// Owner of the operations: a place among the owners.
    pub owner: u32,
    /// Whether it wrote; otherwise it read.
    pub write: bool,
    /// When the first operation began, UTC nanoseconds since 1970.
    pub first_ns: i64,
    /// When the last operation ended, UTC nanoseconds since 1970.
    pub last_ns: i64,
    /// Offset of the lowest byte.
    pub offset: i64,
    /// The end of the highest one.
    pub end: i64,
    /// Number of operations that are drawn as this bar.
    pub operations: u64,
    /// Bytes that they moved, by result.
    pub bytes: i64,
}

impl Bar {
    fn take(&mut self, other: &Bar) {
        self.first_ns = self.first_ns.min(other.first_ns);
        self.last_ns = self.last_ns.max(other.last_ns);
        self.offset = self.offset.min(other.offset);
        self.end = self.end.max(other.end);
        self.operations += other.operations;
        flowmine_sums::add_to(&mut self.bytes, other.bytes);
    }
}

/// The range of times and bytes that contains all operations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Extent {
    /// When the first operation began, UTC nanoseconds since 1970.
    pub first_ns: i64,
    /// When the last operation ended, UTC nanoseconds since 1970.
    pub last_ns: i64,
    /// Offset of the lowest byte.
    pub offset: i64,
    /// The end of the highest one.
    pub end: i64,
}

type Column = (u32, bool, i64);

/// Gathers operations and makes bars of them.
#[derive(Debug)]
pub struct Bars {
    extent: Extent,
    /// Columns and rows of the figure that the extent covers.
    cells: (i64, i64),
    exact: usize,
    most: usize,
    single: Vec<Bar>,
    /// The bars of a column do not touch and are in the order of their offsets.
    merged: Option<BTreeMap<Column, Vec<Bar>>>,
    count: usize,
}

impl Bars {
    /// Creates bars for a figure with this number of columns and rows of pixels.
    pub fn new(extent: Extent, columns: i64, rows: i64) -> Self {
        Self { extent, cells: (columns.max(1), rows.max(1)), exact: EXACT, most: MOST, single: Vec::new(), merged: None, count: 0 }
    }

    /// Takes the bar of one operation.
    pub fn push(&mut self, bar: Bar) {
        if self.merged.is_none() {
            self.single.push(bar);
            if self.single.len() > self.exact {
                self.merge();
            }
            return;
        }
        self.insert(bar);
        while self.count > self.most && self.cells.0.max(self.cells.1) > 1 {
            self.cells = ((self.cells.0 / 2).max(1), (self.cells.1 / 2).max(1));
            self.merge();
        }
    }

    /// Returns the bars in the order of owner, direction, time and offset, and whether some of them
    /// represent several operations.
    pub fn finish(self) -> (Vec<Bar>, bool) {
        let merged = self.merged.is_some();
        let mut bars: Vec<Bar> = self.single.into_iter().chain(self.merged.into_iter().flat_map(BTreeMap::into_values).flatten()).collect();
        bars.sort_unstable();
        (bars, merged)
    }

    fn merge(&mut self) {
        let before =
            std::mem::take(&mut self.single).into_iter().chain(self.merged.take().into_iter().flat_map(BTreeMap::into_values).flatten());
        let before: Vec<Bar> = before.collect();
        self.merged = Some(BTreeMap::new());
        self.count = 0;
        before.into_iter().for_each(|bar| self.insert(bar));
    }

    fn insert(&mut self, bar: Bar) {
        let column = (bar.owner, bar.write, self.column(bar.first_ns));
        let rows = self.rows();
        let Some(merged) = &mut self.merged else { return };
        let bars = merged.entry(column).or_default();
        let (low, high) = rows(&bar);
        let from = bars.partition_point(|other| rows(other).1.saturating_add(1) < low);
        let to = from + bars[from..].partition_point(|other| rows(other).0 <= high.saturating_add(1));
        let mut one = bar;
        bars[from..to].iter().for_each(|other| one.take(other));
        self.count = self.count + 1 - (to - from);
        bars.splice(from..to, [one]);
    }

    fn column(&self, ns: i64) -> i64 {
        place(ns, self.extent.first_ns, self.extent.last_ns, self.cells.0)
    }

    /// The first and the last row of a bar.
    fn rows(&self) -> impl Fn(&Bar) -> (i64, i64) + use<> {
        let (Extent { offset, end, .. }, cells) = (self.extent, self.cells.1);
        move |bar| (place(bar.offset, offset, end, cells), place(bar.end.saturating_sub(1).max(bar.offset), offset, end, cells))
    }
}

/// Returns the index of the part that contains a number, with a range in `parts` equal parts.
fn place(number: i64, first: i64, last: i64, parts: i64) -> i64 {
    let (number, range) = (i128::from(number) - i128::from(first), (i128::from(last) - i128::from(first)).max(1));
    (number * i128::from(parts) / range).clamp(0, i128::from(parts - 1)) as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bar(ns: i64, offset: i64, bytes: i64) -> Bar {
        Bar { owner: 0, write: false, first_ns: ns, last_ns: ns + 1, offset, end: offset + bytes, operations: 1, bytes }
    }

    #[test]
    fn what_falls_on_the_same_pixels_is_one_bar_and_neighbours_are_not() {
        let extent = Extent { first_ns: 0, last_ns: 100, offset: 0, end: 1000 };
        let mut bars = Bars { exact: 0, ..Bars::new(extent, 10, 100) };
        // One column: rows 0 and 1 touch, row 50 does not. Another column. A far owner.
        for one in [bar(0, 0, 10), bar(5, 10, 10), bar(9, 500, 10), bar(10, 0, 10), Bar { owner: 1, ..bar(0, 0, 10) }] {
            bars.push(one);
        }
        let (bars, merged) = bars.finish();
        assert!(merged);
        let shown: Vec<_> = bars.iter().map(|bar| (bar.owner, bar.first_ns, bar.last_ns, bar.offset, bar.end, bar.operations)).collect();
        assert_eq!(shown, [(0, 0, 6, 0, 20, 2), (0, 9, 10, 500, 510, 1), (0, 10, 11, 0, 10, 1), (1, 0, 1, 0, 10, 1)]);
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_the_number_is_bounded(
            ops in proptest::collection::vec((0i64..1000, any::<i64>(), 0i64..100_000, 0u32..3, any::<bool>()), 1..400), most in 20usize..60,
        ) {
            let all = ops.iter().map(|&(ns, offset, bytes, owner, write)| Bar { owner, write, ..bar(ns, offset.max(0) >> 1, bytes) });
            let all: Vec<Bar> = all.collect();
            let extent = Extent {
                first_ns: all.iter().map(|bar| bar.first_ns).min().unwrap_or(0),
                last_ns: all.iter().map(|bar| bar.last_ns).max().unwrap_or(0),
                offset: all.iter().map(|bar| bar.offset).min().unwrap_or(0),
                end: all.iter().map(|bar| bar.end).max().unwrap_or(0),
            };
            let mut bars = Bars { exact: 10, most, ..Bars::new(extent, 50, 40) };
            all.iter().for_each(|bar| bars.push(*bar));
            let (bars, _) = bars.finish();
            prop_assert!(bars.len() <= most.max(10));
            for owner in 0..3 {
                for write in [false, true] {
                    let sum = |bars: &[Bar]| bars.iter().filter(|bar| bar.owner == owner && bar.write == write)
                        .fold((0, 0, i64::MAX, 0, i64::MAX, 0), |s, bar| (
                            s.0 + bar.operations, s.1 + bar.bytes, s.2.min(bar.offset), s.3.max(bar.end), s.4.min(bar.first_ns), s.5.max(bar.last_ns),
                        ));
                    prop_assert_eq!(sum(&bars), sum(&all));
                }
            }
        }
    }
}

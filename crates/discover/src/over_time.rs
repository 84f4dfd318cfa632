//! Bytes over time of a stream of operations: rows (activities, offsets) and a bounded number of
//! columns, which become wider as time passes.

use schemars::JsonSchema;
use serde::Serialize;

/// Maximum number of columns.
pub const COLUMNS: usize = 400;

/// Bytes read and written in each row and column.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct OverTime {
    /// Start of the first column, in nanoseconds since 1970; null without data.
    pub from_ns: Option<i64>,
    /// Width of a column, in nanoseconds.
    pub column_ns: i64,
    /// Bytes read and written of each row, by column.
    pub rows: Vec<Row>,
}

/// Bytes in each column of one row.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Row {
    /// Bytes read in each column, up to the last column with any.
    pub read_bytes: Vec<i64>,
    /// Bytes written in each column, up to the last column with any.
    pub written_bytes: Vec<i64>,
}

impl OverTime {
    /// Adds bytes that were moved between two moments, spread evenly.
    pub fn add(&mut self, row: usize, write: bool, (from_ns, to_ns): (i64, i64), bytes: i64) {
        if bytes <= 0 {
            return;
        }
        let to_ns = to_ns.max(from_ns);
        self.make_room(from_ns, to_ns);
        let Some(origin) = self.from_ns else { return };
        if row >= self.rows.len() {
            self.rows.resize_with(row + 1, Row::default);
        }
        let column = |ns: i64| (ns.saturating_sub(origin) / self.column_ns).clamp(0, COLUMNS as i64 - 1) as usize;
        let (first, last) = (column(from_ns), column(to_ns));
        let cells = if write { &mut self.rows[row].written_bytes } else { &mut self.rows[row].read_bytes };
        if cells.len() <= last {
            cells.resize(last + 1, 0);
        }
        if first == last {
            flowmine_sums::add_to(&mut cells[first], bytes);
            return;
        }
        // Up to the end of each column, so that nothing is lost by rounding.
        let after = |ns: i64| (i128::from(ns) - i128::from(from_ns)).clamp(0, i128::from(u64::MAX)) as u128;
        let mut given = 0i64;
        for (at, cell) in cells.iter_mut().enumerate().take(last + 1).skip(first) {
            let end = if at == last { to_ns } else { origin.saturating_add((at as i64 + 1).saturating_mul(self.column_ns)).min(to_ns) };
            let up_to = (bytes.unsigned_abs() as u128 * after(end) / after(to_ns).max(1)) as i64;
            flowmine_sums::add_to(cell, up_to - given);
            given = up_to;
        }
    }

    fn make_room(&mut self, from_ns: i64, to_ns: i64) {
        let Some(origin) = self.from_ns else {
            (self.from_ns, self.column_ns) = (Some(from_ns), 1000);
            return self.make_room(from_ns, to_ns);
        };
        let mut origin = origin;
        loop {
            let before = if from_ns < origin {
                (i128::from(origin) - i128::from(from_ns) + i128::from(self.column_ns) - 1) / i128::from(self.column_ns)
            } else {
                0
            };
            let used = self.rows.iter().map(|row| row.read_bytes.len().max(row.written_bytes.len())).max().unwrap_or(0) as i128;
            let after = (i128::from(to_ns) - i128::from(origin)) / i128::from(self.column_ns) + 1;
            if before + used.max(after) <= COLUMNS as i128 {
                if before > 0 {
                    let before = before as usize;
                    for row in &mut self.rows {
                        for cells in [&mut row.read_bytes, &mut row.written_bytes] {
                            cells.splice(0..0, std::iter::repeat_n(0, before));
                        }
                    }
                    origin = origin.saturating_sub((before as i64).saturating_mul(self.column_ns));
                }
                self.from_ns = Some(origin);
                return;
            }
            let Some(wider) = self.column_ns.checked_mul(2) else { return };
            self.column_ns = wider;
            for row in &mut self.rows {
                for cells in [&mut row.read_bytes, &mut row.written_bytes] {
                    *cells = cells.chunks(2).map(|two| flowmine_sums::total(two.iter().copied())).collect();
                }
            }
        }
    }

    /// Returns the number of used columns.
    pub fn columns(&self) -> usize {
        self.rows.iter().map(|row| row.read_bytes.len().max(row.written_bytes.len())).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// For any order of times, no byte is lost, each stays within a column of where it was, and
        /// there are never too many columns.
        #[test]
        fn no_byte_is_lost(moved in prop::collection::vec((0usize..3, any::<bool>(), -1_000_000_000_000i64..1_000_000_000_000, 0i64..1_000_000_000, 0i64..1_000_000), 1..60)) {
            let mut made = OverTime::default();
            for &(row, write, from, time, bytes) in &moved {
                made.add(row, write, (from, from + time), bytes);
            }
            prop_assert!(made.columns() <= COLUMNS);
            for row in 0..3 {
                let sum = |write: bool| moved.iter().filter(|of| of.0 == row && of.1 == write).map(|of| of.4).sum::<i64>();
                let of = made.rows.get(row).cloned().unwrap_or_default();
                prop_assert_eq!((of.read_bytes.iter().sum::<i64>(), of.written_bytes.iter().sum::<i64>()), (sum(false), sum(true)));
            }
            if let Some(origin) = made.from_ns {
                let first = moved.iter().filter(|of| of.4 > 0).map(|of| of.2).min().unwrap();
                prop_assert!(origin <= first && first - origin < made.column_ns * 2);
            }
        }
    }
}

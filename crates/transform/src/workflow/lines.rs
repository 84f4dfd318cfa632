//! Lines and columns of bytes in a text.

use std::cell::Cell;

use crate::error::Place;

/// Finds line and column of bytes in a text.
pub(super) struct Lines<'t> {
    text: &'t str,
    starts: Vec<usize>,
    /// The last requested byte and its column, from which the columns of later bytes of its line
    /// are counted.
    last: Cell<(usize, usize)>,
}

impl<'t> Lines<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { text, starts, last: Cell::new((0, 1)) }
    }

    pub(super) fn place(&self, byte: usize) -> Place {
        let line = self.starts.partition_point(|start| *start <= byte);
        let start = self.starts[line - 1];
        let (known, column) = Some(self.last.get()).filter(|(known, _)| (start..=byte).contains(known)).unwrap_or((start, 1));
        let column = self.text.get(known..byte).map_or(1, |between| between.chars().count() + column);
        self.last.set((byte, column));
        let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Place { line: number(line), column: number(column) }
    }
}

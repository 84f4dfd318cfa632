//! Ids of a whole file, 24 bytes each however long they are.
//!
//! An id is kept as its [`IdHash`], with a place.

use std::collections::HashMap;

use crate::id_hash::IdHash;
use crate::read::input::Position;

/// A place in 64 bits: one for whether the id is declared there, 31 for the line, 32 for the
/// column.
#[derive(Debug, Clone, Copy)]
struct Mark(u64);

const LINES: u64 = (1 << 31) - 1;

impl Mark {
    fn new(declared: bool, at: Position) -> Self {
        Self(u64::from(declared) << 63 | at.line.min(LINES) << 32 | at.column.min(u64::from(u32::MAX)))
    }

    fn declared(self) -> bool {
        self.0 >> 63 == 1
    }

    fn place(self) -> Position {
        Position { line: self.0 >> 32 & LINES, column: self.0 & u64::from(u32::MAX) }
    }
}

/// Ids, where they are declared, and those that are only referred to.
#[derive(Debug, Default)]
pub(super) struct Ids {
    marks: HashMap<IdHash, Mark>,
}

impl Ids {
    /// Declares an id. Gives the place where it was declared before.
    pub(super) fn declare(&mut self, id: &str, at: Position) -> Option<Position> {
        let before = self.marks.insert(IdHash::new(id), Mark::new(true, at)).filter(|mark| mark.declared())?;
        // The first declaration is the one that later findings name.
        self.marks.insert(IdHash::new(id), before);
        Some(before.place())
    }

    /// Whether an id is declared so far.
    pub(super) fn declared(&self, id: &str) -> bool {
        self.marks.get(&IdHash::new(id)).is_some_and(|mark| mark.declared())
    }

    /// Refers to an id that can be declared later.
    pub(super) fn refer(&mut self, id: &str, at: Position) {
        self.marks.entry(IdHash::new(id)).or_insert_with(|| Mark::new(false, at));
    }

    /// The places of the first references to ids that were never declared, in the order of the
    /// file.
    pub(super) fn dangling(&self) -> Vec<Position> {
        let mut places: Vec<_> = self.marks.values().filter(|mark| !mark.declared()).map(|mark| mark.place()).collect();
        places.sort_unstable_by_key(|at| (at.line, at.column));
        places
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_declared_twice_or_never() {
        let at = |line, column| Position { line, column };
        let mut ids = Ids::default();
        ids.refer("later", at(1, 1));
        ids.refer("never", at(3, u64::from(u32::MAX)));
        ids.refer("never", at(4, 1));
        ids.refer("", at(2, 7));
        assert!(!ids.declared("later"));
        assert_eq!(ids.declare("later", at(5, 1)), None);
        assert_eq!(ids.declare("later", at(6, 1)), Some(at(5, 1)));
        assert_eq!(ids.declare("later", at(7, 1)), Some(at(5, 1)));
        assert!(ids.declared("later"));
        assert_eq!(ids.dangling(), [at(2, 7), at(3, u64::from(u32::MAX))]);
    }
}

//! Calls that move the positions of open files, and which of them overlapped.
//!
//! read(2), write(2) and lseek(2) hold the lock of the position, and a thread that wants to make
//! such a call waits until another has made its own. sendfile(2) and splice(2) hold no lock: they
//! read the position when they begin and write it when they end, so that they can set it back.
//! Where such a call overlaps with another one, neither offset follows from the positions before
//! and after it.

use rustc_hash::FxHashMap;

/// How a call moves the position of an open file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// No other call that waits moves it meanwhile.
    Waiting,
    /// At any time: the call may block, and would keep others from what it waits for.
    AtOnce,
}

#[derive(Debug)]
struct Move {
    tid: u32,
    way: Way,
    overlapped: bool,
}

/// The calls under way that move a position, by the number of the open file.
#[derive(Debug, Default)]
pub(crate) struct Moves {
    under_way: FxHashMap<u64, Vec<Move>>,
}

impl Moves {
    /// Notes that a thread's call begins to move the positions of these open files, or returns
    /// `false` when it has to wait. No open file is named twice.
    pub(crate) fn begin(&mut self, tid: u32, files: &[(u64, Way)]) -> bool {
        let is_taken = |(number, way): &(u64, Way)| {
            let others = self.under_way.get(number).into_iter().flatten();
            *way == Way::Waiting && others.into_iter().any(|other| other.way == Way::Waiting)
        };
        if files.iter().any(is_taken) {
            return false;
        }
        for (number, way) in files {
            let others = self.under_way.entry(*number).or_default();
            others.iter_mut().for_each(|other| other.overlapped = true);
            others.push(Move { tid, way: *way, overlapped: !others.is_empty() });
        }
        true
    }

    /// Whether another call moved the position of an open file during a thread's call, which has
    /// not been ended yet.
    pub(crate) fn overlapped(&self, tid: u32, number: u64) -> bool {
        self.under_way.get(&number).into_iter().flatten().any(|own| own.tid == tid && own.overlapped)
    }

    /// Notes that a thread's call has ended, and returns whether others may have waited for it.
    pub(crate) fn end(&mut self, tid: u32, files: &[(u64, Way)]) -> bool {
        let mut any = false;
        for (number, way) in files {
            let Some(all) = self.under_way.get_mut(number) else { continue };
            let before = all.len();
            all.retain(|own| own.tid != tid);
            any |= all.len() < before && *way == Way::Waiting;
            if all.is_empty() {
                self.under_way.remove(number);
            }
        }
        any
    }
}

#[cfg(test)]
mod tests {
    use super::Way::{AtOnce, Waiting};
    use super::*;

    #[test]
    fn calls_that_wait_follow_each_other() {
        let mut moves = Moves::default();
        assert!(moves.begin(1, &[(7, Waiting)]));
        // It holds no part of its request while it waits for another part.
        assert!(!moves.begin(2, &[(8, Waiting), (7, Waiting)]));
        assert!(moves.begin(3, &[(8, Waiting)]));
        assert!(moves.end(1, &[(7, Waiting)]) && moves.end(3, &[(8, Waiting)]));
        assert!(moves.begin(2, &[(8, Waiting), (7, Waiting)]));
        assert!(!moves.overlapped(2, 7) && !moves.overlapped(2, 8));
        assert!(moves.end(2, &[(8, Waiting), (7, Waiting)]));
        assert!(moves.under_way.is_empty());
        assert!(!moves.end(2, &[(7, Waiting)]), "it has no call under way");
    }

    #[test]
    fn what_does_not_wait_overlaps() {
        let mut moves = Moves::default();
        assert!(moves.begin(1, &[(7, AtOnce)]));
        assert!(!moves.overlapped(1, 7));
        assert!(moves.begin(2, &[(7, Waiting)]) && moves.begin(3, &[(9, AtOnce)]));
        assert!(moves.overlapped(1, 7) && moves.overlapped(2, 7) && !moves.overlapped(3, 9));
        // The one that began first ends last: it overlapped with each of the others.
        assert!(moves.end(2, &[(7, Waiting)]));
        assert!(moves.begin(4, &[(7, AtOnce)]));
        assert!(!moves.end(1, &[(7, AtOnce)]), "nobody waited for it");
        assert!(moves.overlapped(4, 7));
        assert!(!moves.end(4, &[(7, AtOnce)]));
        assert!(moves.begin(1, &[(7, AtOnce)]) && !moves.overlapped(1, 7));
    }
}

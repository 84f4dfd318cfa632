//! POSIX locks and locks of open file descriptions on the bytes of one file (fcntl_locking(2)):
//! which are in each other's way, how they split and merge.

/// Whoever owns locks, as the kernel of an overlay names it: a process for POSIX locks, an open
/// file description for others. The names of two overlays are unrelated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Owner {
    pub(crate) session: u32,
    pub(crate) id: u64,
}

/// Bytes from a first to a last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) first: u64,
    pub(crate) last: u64,
}

/// The last byte of a range that has no end (`OFFSET_MAX` in the kernel).
pub(crate) const ENDLESS: u64 = i64::MAX as u64;

impl Range {
    fn meets(self, other: Range) -> bool {
        self.first <= other.last && other.first <= self.last
    }
}

/// A lock on a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lock {
    pub(crate) owner: Owner,
    /// The process that took it, which F_GETLK gives; 0 when it has no number here.
    pub(crate) pid: u32,
    /// The open file by which it was taken.
    pub(crate) handle: u64,
    pub(crate) range: Range,
    pub(crate) write: bool,
}

/// The locks on one file, in the order of their first bytes.
#[derive(Debug, Default)]
pub(crate) struct Locks(Vec<Lock>);

impl Locks {
    pub(crate) fn all(&self) -> &[Lock] {
        &self.0
    }

    /// The locks of others that conflict with a lock of this owner.
    pub(crate) fn against(&self, owner: Owner, range: Range, write: bool) -> impl Iterator<Item = &Lock> {
        self.0.iter().filter(move |lock| lock.owner != owner && lock.range.meets(range) && (lock.write || write))
    }

    /// Takes a lock, and replaces the owner's locks on these bytes.
    pub(crate) fn set(&mut self, lock: Lock) {
        self.clear(lock.owner, lock.range);
        let mut whole = lock;
        let touches =
            |other: Range, range: Range| other.first <= range.last.saturating_add(1) && range.first <= other.last.saturating_add(1);
        self.0.retain(|other| {
            let joins = (other.owner, other.write) == (lock.owner, lock.write) && touches(other.range, lock.range);
            if joins {
                whole.range.first = whole.range.first.min(other.range.first);
                whole.range.last = whole.range.last.max(other.range.last);
            }
            !joins
        });
        self.insert(whole);
    }

    /// Takes an owner's locks from a range.
    pub(crate) fn clear(&mut self, owner: Owner, range: Range) {
        let (met, rest): (Vec<_>, Vec<_>) = self.0.drain(..).partition(|lock| lock.owner == owner && lock.range.meets(range));
        self.0 = rest;
        for lock in met {
            if lock.range.first < range.first {
                self.insert(Lock { range: Range { last: range.first - 1, ..lock.range }, ..lock });
            }
            if lock.range.last > range.last {
                self.insert(Lock { range: Range { first: range.last + 1, ..lock.range }, ..lock });
            }
        }
    }

    /// Takes all locks that are `gone`, and returns their ranges.
    pub(crate) fn take(&mut self, gone: impl Fn(&Lock) -> bool) -> Vec<Range> {
        let (taken, rest): (Vec<_>, Vec<_>) = self.0.drain(..).partition(gone);
        self.0 = rest;
        taken.into_iter().map(|lock| lock.range).collect()
    }

    fn insert(&mut self, lock: Lock) {
        let at = self.0.partition_point(|other| other.range.first <= lock.range.first);
        self.0.insert(at, lock);
    }

    /// The parts of a range on which there is no lock.
    pub(crate) fn gaps(&self, range: Range) -> Vec<Range> {
        let mut gaps = Vec::new();
        let mut first = range.first;
        for lock in self.0.iter().filter(|lock| lock.range.meets(range)) {
            if lock.range.first > first {
                gaps.push(Range { first, last: lock.range.first - 1 });
            }
            if lock.range.last >= range.last {
                return gaps;
            }
            first = first.max(lock.range.last + 1);
        }
        gaps.push(Range { first, last: range.last });
        gaps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Owner = Owner { session: 0, id: 1 };
    const TWO: Owner = Owner { session: 0, id: 2 };

    fn range(first: u64, last: u64) -> Range {
        Range { first, last }
    }

    fn lock(owner: Owner, first: u64, last: u64, write: bool) -> Lock {
        Lock { owner, pid: owner.id as u32, handle: 7, range: range(first, last), write }
    }

    fn show(locks: &Locks) -> Vec<(u64, u64, u64, bool)> {
        locks.all().iter().map(|lock| (lock.owner.id, lock.range.first, lock.range.last, lock.write)).collect()
    }

    #[test]
    fn a_lock_splits_and_merges() {
        let mut locks = Locks::default();
        locks.set(lock(ONE, 0, 99, true));
        locks.clear(ONE, range(40, 59));
        assert_eq!(show(&locks), [(1, 0, 39, true), (1, 60, 99, true)]);
        locks.set(lock(ONE, 30, 70, false));
        assert_eq!(show(&locks), [(1, 0, 29, true), (1, 30, 70, false), (1, 71, 99, true)]);
        locks.set(lock(ONE, 30, 70, true));
        assert_eq!(show(&locks), [(1, 0, 99, true)]);
        locks.set(lock(ONE, 100, ENDLESS, true));
        assert_eq!(show(&locks), [(1, 0, ENDLESS, true)]);
        locks.clear(ONE, range(0, ENDLESS));
        assert_eq!(show(&locks), []);
    }

    #[test]
    fn readers_lie_beside_each_other_and_writers_do_not() {
        let mut locks = Locks::default();
        locks.set(lock(ONE, 10, 19, false));
        locks.set(lock(TWO, 15, 24, false));
        let against = |locks: &Locks, owner, range, write| locks.against(owner, range, write).map(|lock| lock.owner.id).collect::<Vec<_>>();
        assert_eq!(against(&locks, ONE, range(0, 99), true), [2]);
        assert_eq!(against(&locks, ONE, range(0, 14), true), [0u64; 0]);
        assert_eq!(against(&locks, ONE, range(0, 99), false), [0u64; 0]);
        assert_eq!(against(&locks, Owner { session: 1, id: 1 }, range(0, 99), true), [1, 2]);
        locks.clear(ONE, range(0, 99));
        assert_eq!(locks.gaps(range(10, 19)), [range(10, 14)]);
        assert_eq!(locks.gaps(range(0, ENDLESS)), [range(0, 14), range(25, ENDLESS)]);
        assert_eq!(locks.take(|lock| lock.owner == TWO), [range(15, 24)]);
        assert_eq!(locks.gaps(range(3, 5)), [range(3, 5)]);
    }

    /// Against a model of single bytes.
    #[test]
    fn it_is_as_byte_by_byte() {
        let mut locks = Locks::default();
        let mut bytes = [[None; 16]; 3];
        let mut seed = 1u64;
        let mut next = |below: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % below
        };
        for _ in 0..20_000 {
            let owner = next(3);
            let (a, b) = (next(16), next(16));
            let (first, last) = (a.min(b), a.max(b));
            let who = Owner { session: 0, id: owner };
            let kind = [None, Some(false), Some(true)][next(3) as usize];
            if let Some(write) = kind {
                let blocked = locks.against(who, range(first, last), write).count() > 0;
                let others = (0..3).filter(|other| *other != owner as usize);
                let model = others.flat_map(|other| &bytes[other][first as usize..=last as usize]).flatten().any(|held| *held || write);
                assert_eq!(blocked, model);
                if blocked {
                    continue;
                }
                locks.set(lock(who, first, last, write));
            } else {
                locks.clear(who, range(first, last));
            }
            bytes[owner as usize][first as usize..=last as usize].fill(kind);
            for (owner, bytes) in bytes.iter().enumerate() {
                let mut held = [None; 16];
                for lock in locks.all().iter().filter(|lock| lock.owner.id == owner as u64) {
                    for byte in &mut held[lock.range.first as usize..=lock.range.last as usize] {
                        assert_eq!(byte.replace(lock.write), None, "two locks of one owner on a byte");
                    }
                }
                assert_eq!(&held, bytes);
            }
            let mut free = [true; 16];
            bytes.iter().for_each(|bytes| bytes.iter().zip(&mut free).for_each(|(held, free)| *free &= held.is_none()));
            let gaps = locks.gaps(range(0, 15));
            for (n, free) in free.iter().enumerate() {
                assert_eq!(gaps.iter().any(|gap| (gap.first..=gap.last).contains(&(n as u64))), *free);
            }
        }
    }
}

//! Which open file description (open(2)) a descriptor of a process is.
//!
//! Tables of descriptors are kept as processes share and copy them. What the tracer saw being
//! opened, duplicated, inherited and closed is known; any other descriptor is looked at when it is
//! first used: if its file is open somewhere else among the traced, kcmp(2) says whether it is the
//! same open file, passed over a socket or by another way. Where kcmp(2) is not allowed, such a
//! descriptor has no number, because none can be known.

use std::collections::BTreeMap;

use flowmine_trace::record::FileKey;
use rustc_hash::FxHashMap;

/// The number of a table.
pub(crate) type TableId = u32;

/// What is known of a descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slot {
    /// Of a kind that is not recorded, or left out by a filter.
    Other,
    /// An open file that is recorded.
    File(OpenRef),
}

/// An open file description that a descriptor leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OpenRef {
    /// Its number; `None` where it is not known which it is.
    pub(crate) number: Option<u64>,
    pub(crate) file: FileKey,
    /// Its open was traced: no untraced process has it.
    pub(crate) seen_open: bool,
    /// Opened with `O_PATH`: nothing can be read or written by it.
    pub(crate) path_only: bool,
}

#[derive(Debug, Default)]
struct Table {
    threads: Vec<u32>,
    slots: BTreeMap<i32, Slot>,
    /// Descriptors change in ways that are not seen (io_uring, 32-bit calls): each use has to be
    /// looked at.
    unsure: bool,
}

/// The number of an open file, a table and a descriptor there that leads to it.
type Holder = (u64, TableId, i32);

/// All tables, and who has which file open.
#[derive(Debug, Default)]
pub(crate) struct Descriptors {
    tables: FxHashMap<TableId, Table>,
    next_table: TableId,
    next_number: u64,
    /// Who has a file open, by its device and inode number.
    holders: FxHashMap<(u64, u64), Vec<Holder>>,
}

impl Descriptors {
    /// A table of which nothing is known.
    pub(crate) fn new_table(&mut self, thread: u32) -> TableId {
        self.next_table = self.next_table.wrapping_add(1);
        self.tables.insert(self.next_table, Table { threads: vec![thread], ..Table::default() });
        self.next_table
    }

    /// A copy, as fork(2) makes it.
    pub(crate) fn copy(&mut self, of: TableId, thread: u32) -> TableId {
        let new = self.new_table(thread);
        let Some(table) = self.tables.get(&of) else { return new };
        let (slots, unsure) = (table.slots.clone(), table.unsure);
        for (fd, slot) in slots {
            self.set(new, fd, slot);
        }
        if unsure {
            self.doubt(new);
        }
        new
    }

    /// Another thread uses the table.
    pub(crate) fn share(&mut self, table: TableId, thread: u32) {
        if let Some(table) = self.tables.get_mut(&table) {
            table.threads.push(thread);
        }
    }

    /// A thread does not use the table any more; the last one takes it away.
    pub(crate) fn leave(&mut self, id: TableId, thread: u32) {
        let Some(table) = self.tables.get_mut(&id) else { return };
        table.threads.retain(|user| *user != thread);
        if table.threads.is_empty() {
            let fds: Vec<i32> = table.slots.keys().copied().collect();
            for fd in fds {
                self.clear(id, fd);
            }
            self.tables.remove(&id);
        }
    }

    /// A thread has another number from now on (exec by a thread).
    pub(crate) fn renumber(&mut self, id: TableId, from: u32, to: u32) {
        if let Some(table) = self.tables.get_mut(&id) {
            table.threads.iter_mut().filter(|thread| **thread == from).for_each(|thread| *thread = to);
        }
    }

    /// Descriptors of this table change unseen from now on.
    pub(crate) fn doubt(&mut self, id: TableId) {
        if let Some(table) = self.tables.get_mut(&id) {
            table.unsure = true;
        }
    }

    /// Whether what is known of a descriptor has to be checked against the file that it leads to.
    pub(crate) fn doubted(&self, id: TableId) -> bool {
        self.tables.get(&id).is_none_or(|table| table.unsure)
    }

    /// Whether one descriptor of one thread is all that leads to an open file.
    pub(crate) fn is_alone(&self, file: &OpenRef) -> bool {
        let all = self.holders.get(&(file.file.device, file.file.inode)).into_iter().flatten();
        let mut tables = all.filter(|(number, ..)| file.seen_open && Some(*number) == file.number).map(|(_, table, _)| *table);
        match (tables.next(), tables.next()) {
            (Some(table), None) => self.threads(table) == 1 && !self.doubted(table),
            _ => false,
        }
    }

    /// Whether several threads use the table.
    pub(crate) fn threads(&self, id: TableId) -> usize {
        self.tables.get(&id).map_or(0, |table| table.threads.len())
    }

    /// What is known of a descriptor.
    pub(crate) fn get(&self, id: TableId, fd: i32) -> Option<Slot> {
        self.tables.get(&id)?.slots.get(&fd).copied()
    }

    /// What is known of descriptors from one to another, in order.
    pub(crate) fn range(&self, id: TableId, first: i32, last: i32) -> Vec<(i32, Slot)> {
        let Some(table) = self.tables.get(&id).filter(|_| first <= last) else { return Vec::new() };
        table.slots.range(first..=last).map(|(fd, slot)| (*fd, *slot)).collect()
    }

    /// Notes what a descriptor of a table is from now on.
    pub(crate) fn set(&mut self, id: TableId, fd: i32, slot: Slot) {
        self.clear(id, fd);
        let Some(table) = self.tables.get_mut(&id) else { return };
        table.slots.insert(fd, slot);
        if let Slot::File(OpenRef { number: Some(number), file, .. }) = slot {
            self.holders.entry((file.device, file.inode)).or_default().push((number, id, fd));
        }
    }

    /// Nothing is known of a descriptor any more.
    pub(crate) fn clear(&mut self, id: TableId, fd: i32) {
        let Some(Slot::File(file)) = self.tables.get_mut(&id).and_then(|table| table.slots.remove(&fd)) else { return };
        let key = (file.file.device, file.file.inode);
        if let Some(holders) = self.holders.get_mut(&key) {
            if let Some(at) = holders.iter().position(|(_, table, descriptor)| (*table, *descriptor) == (id, fd)) {
                holders.swap_remove(at);
            }
            if holders.is_empty() {
                self.holders.remove(&key);
            }
        }
    }

    /// Only these descriptors are left (exec).
    pub(crate) fn keep_only(&mut self, id: TableId, open: &[u32]) {
        let Some(table) = self.tables.get(&id) else { return };
        let gone: Vec<i32> =
            table.slots.keys().copied().filter(|fd| u32::try_from(*fd).is_ok_and(|fd| open.binary_search(&fd).is_err())).collect();
        for fd in gone {
            self.clear(id, fd);
        }
    }

    /// A number that no open file has had.
    pub(crate) fn new_number(&mut self) -> u64 {
        self.next_number += 1;
        self.next_number
    }

    /// The number of the open file of a descriptor that is new to us, if one of the known ones is
    /// the same, or `Err(false)` if none is, and `Err(true)` if that could not be found out. `same`
    /// compares a thread's descriptor with it.
    pub(crate) fn recognise(&self, device: u64, inode: u64, mut same: impl FnMut(u32, i32) -> Option<bool>) -> Result<u64, bool> {
        let Some(holders) = self.holders.get(&(device, inode)) else { return Err(false) };
        let mut untold = false;
        let mut asked: Vec<u64> = Vec::new();
        for (number, table, fd) in holders {
            if asked.contains(number) {
                continue;
            }
            let Some(thread) = self.tables.get(table).and_then(|table| table.threads.first()) else { continue };
            match same(*thread, *fd) {
                Some(true) => return Ok(*number),
                Some(false) => asked.push(*number),
                None => untold = true,
            }
        }
        Err(untold)
    }

    /// A generation that another open of the same file has, which is why the file cannot have
    /// become another one.
    pub(crate) fn known_file(&self, device: u64, inode: u64) -> Option<FileKey> {
        let (_, table, fd) = self.holders.get(&(device, inode))?.first()?;
        match self.get(*table, *fd)? {
            Slot::File(file) => Some(file.file),
            Slot::Other => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(number: u64, inode: u64) -> Slot {
        Slot::File(OpenRef {
            number: Some(number),
            file: FileKey { device: 1, inode, generation: None },
            seen_open: true,
            path_only: false,
        })
    }

    #[test]
    fn tables_are_copied_and_shared() {
        let mut all = Descriptors::default();
        let parent = all.new_table(10);
        all.set(parent, 3, file(1, 7));
        let child = all.copy(parent, 20);
        all.share(parent, 11);
        all.clear(parent, 3);
        assert_eq!((all.get(parent, 3), all.get(child, 3)), (None, Some(file(1, 7))));
        // It is still known by the child, which is asked.
        assert_eq!(all.recognise(1, 7, |thread, fd| Some((thread, fd) == (20, 3))), Ok(1));
        assert_eq!(all.recognise(1, 7, |_, _| Some(false)), Err(false));
        assert_eq!(all.recognise(1, 7, |_, _| None), Err(true));
        assert_eq!(all.recognise(1, 8, |_, _| Some(true)), Err(false));
        all.leave(child, 20);
        assert_eq!(all.known_file(1, 7), None);
        all.leave(parent, 10);
        assert_eq!(all.threads(parent), 1);
        all.leave(parent, 11);
        assert!(all.tables.is_empty() && all.holders.is_empty());
    }

    #[test]
    fn exec_leaves_what_is_still_open() {
        let mut all = Descriptors::default();
        let table = all.new_table(1);
        for fd in [0, 3, 5] {
            all.set(table, fd, file(fd as u64, 9));
        }
        all.set(table, 6, Slot::Other);
        all.keep_only(table, &[0, 1, 5]);
        assert_eq!(all.range(table, 0, i32::MAX), [(0, file(0, 9)), (5, file(5, 9))]);
        assert_eq!(all.range(table, 4, 3), []);
        assert_eq!(all.holders.values().map(Vec::len).sum::<usize>(), 2);
    }
}

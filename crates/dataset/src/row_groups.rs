//! A table's row groups, one after the other.

use std::collections::VecDeque;
use std::marker::PhantomData;
use std::sync::mpsc::sync_channel;

use flowmine_schema::row::View;

use crate::dataset::Dataset;
use crate::error::DatasetError;
use crate::part::Part;
use crate::place::Leaf;
use crate::rows::Rows;
use crate::table_file::TableFile;

impl Dataset {
    /// Reads a table, file after file: the columns that the view has. The next row group is read
    /// while `each` has the rows of one: memory holds two of them at a time, besides what `each`
    /// keeps.
    ///
    /// # Errors
    /// When a file cannot be read, or what `each` returns.
    pub fn read<V: View, E: From<DatasetError>>(&self, mut each: impl FnMut(V::Of<'_>) -> Result<(), E>) -> Result<(), E> {
        let mut all = |group: Result<Rows<V>, DatasetError>| -> Result<(), E> { group?.iter().try_for_each(&mut each) };
        let mut groups = RowGroups::<V>::new(self)?;
        // A thread for what is read at once would cost more than it gains.
        for _ in 0..2 {
            let Some(group) = groups.next() else { return Ok(()) };
            all(group)?;
        }
        std::thread::scope(|scope| {
            let (to, groups_read) = sync_channel(0);
            scope.spawn(move || {
                while let Some(group) = groups.next()
                    && to.send(group).is_ok()
                {}
            });
            groups_read.into_iter().try_for_each(all)
        })
    }
}

/// The row groups of some files, file after file.
#[derive(Default)]
pub(crate) struct Groups {
    parts: VecDeque<Part>,
    /// The first of them, once it is read, and the number of its row group that comes next.
    first: Option<(TableFile, usize)>,
}

/// Where a row group is.
pub(crate) struct Group<'p> {
    part: &'p Part,
    file: &'p TableFile,
    number: usize,
}

impl Group<'_> {
    pub fn read<V: View>(&self) -> Result<Rows<V>, DatasetError> {
        self.part.read_group(self.file, self.number)
    }
}

impl Groups {
    pub fn push(&mut self, part: Part) {
        self.parts.push_back(part);
    }

    pub fn next(&mut self) -> Result<Option<Group<'_>>, DatasetError> {
        while self.first.as_ref().is_none_or(|(file, next)| *next >= file.groups().len()) {
            if self.first.take().is_some() {
                self.parts.pop_front();
            }
            let Some(part) = self.parts.front() else { return Ok(None) };
            self.first = Some((part.open()?, 0));
        }
        let (Some(part), Some((file, next))) = (self.parts.front(), &mut self.first) else { return Ok(None) };
        *next += 1;
        Ok(Some(Group { part, file, number: *next - 1 }))
    }
}

/// The row groups of a table, folder by folder and file by file. The files of one folder are open
/// at a time.
pub(crate) struct RowGroups<'d, V> {
    dataset: &'d Dataset,
    leaves: VecDeque<Leaf>,
    groups: Groups,
    view: PhantomData<fn() -> V>,
}

impl<'d, V: View> RowGroups<'d, V> {
    pub fn new(dataset: &'d Dataset) -> Result<Self, DatasetError> {
        let leaves = dataset.leaves::<V::Table>()?.into();
        Ok(Self { dataset, leaves, groups: Groups::default(), view: PhantomData })
    }

    /// The next row group; after an error there is none.
    pub fn next(&mut self) -> Option<Result<Rows<V>, DatasetError>> {
        let next = self.read_next().transpose();
        if matches!(next, Some(Err(_))) {
            self.leaves.clear();
            self.groups = Groups::default();
        }
        next
    }

    fn read_next(&mut self) -> Result<Option<Rows<V>>, DatasetError> {
        loop {
            if let Some(group) = self.groups.next()? {
                return group.read().map(Some);
            }
            let Some(leaf) = self.leaves.pop_front() else { return Ok(None) };
            self.dataset.leaf_parts(&leaf)?.into_iter().for_each(|part| self.groups.push(part));
        }
    }
}

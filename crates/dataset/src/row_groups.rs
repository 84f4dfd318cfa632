//! A table's row groups, one after the other.

use std::collections::VecDeque;

use flowmine_schema::row::View;

use crate::columns::Columns;
use crate::dataset::Dataset;
use crate::error::DatasetError;
use crate::part::Part;
use crate::place::Leaf;
use crate::projection::Projection;
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
        let mut failed = Ok(());
        self.read_groups(Projection::new::<V>(), &mut |group| {
            failed = group
                .and_then(|group| Rows::<V>::read(group, self.dir()))
                .map_err(E::from)
                .and_then(|rows| rows.iter().try_for_each(&mut each));
            failed.is_ok()
        });
        failed
    }

    /// Reads the rows of one host in a table that is split, in the order of files.
    ///
    /// # Errors
    /// As [`Dataset::read`].
    pub fn read_of_host<V: View, E: From<DatasetError>>(
        &self,
        host: &str,
        mut each: impl FnMut(V::Of<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let projection = Projection::new::<V>();
        let leaves = self.leaves_of_host(projection.table, host)?.into();
        let mut groups = RowGroups { dataset: self, projection, leaves, groups: Groups::default() };
        while let Some(group) = groups.next() {
            Rows::<V>::read(group?, self.dir())?.iter().try_for_each(&mut each)?;
        }
        Ok(())
    }

    /// Calls `take` with one row group after the other, or with why it could not be read, until it
    /// says no.
    fn read_groups(&self, projection: Projection<'static>, take: &mut dyn FnMut(Result<Columns, DatasetError>) -> bool) {
        let mut groups = match RowGroups::new(self, projection) {
            Ok(groups) => groups,
            Err(error) => {
                take(Err(error));
                return;
            }
        };
        // A thread for what is read at once would cost more than it gains.
        for _ in 0..2 {
            if !groups.next().is_some_and(&mut *take) {
                return;
            }
        }
        flowmine_threads::ahead(std::iter::from_fn(move || groups.next()), 0, |groups| {
            for group in groups {
                if !take(group) {
                    break;
                }
            }
        });
    }
}

/// The row groups of some files, file after file.
#[derive(Default)]
pub(crate) struct Groups {
    parts: VecDeque<Part>,
    /// The first of them, once it is read, and the number of its row group that comes next.
    first: Option<(TableFile, usize)>,
}

/// A row group, by its file and its number there.
pub(crate) struct Group<'p> {
    part: &'p Part,
    file: &'p TableFile,
    number: usize,
}

impl Group<'_> {
    pub fn read(&self, projection: Projection<'_>) -> Result<Columns, DatasetError> {
        self.part.read_group(self.file, self.number, projection)
    }

    pub fn rows<V: View>(&self) -> Result<Rows<V>, DatasetError> {
        Rows::read(self.read(Projection::new::<V>())?, self.part.path())
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
pub(crate) struct RowGroups<'d> {
    dataset: &'d Dataset,
    projection: Projection<'static>,
    leaves: VecDeque<Leaf>,
    groups: Groups,
}

impl<'d> RowGroups<'d> {
    pub fn new(dataset: &'d Dataset, projection: Projection<'static>) -> Result<Self, DatasetError> {
        let leaves = dataset.leaves_of(projection.table, projection.is_split)?.into();
        Ok(Self { dataset, projection, leaves, groups: Groups::default() })
    }

    /// The next row group; after an error there is none.
    pub fn next(&mut self) -> Option<Result<Columns, DatasetError>> {
        let next = self.read_next().transpose();
        if matches!(next, Some(Err(_))) {
            self.leaves.clear();
            self.groups = Groups::default();
        }
        next
    }

    fn read_next(&mut self) -> Result<Option<Columns>, DatasetError> {
        loop {
            if let Some(group) = self.groups.next()? {
                return group.read(self.projection).map(Some);
            }
            let Some(leaf) = self.leaves.pop_front() else { return Ok(None) };
            self.dataset.leaf_parts(&leaf)?.into_iter().for_each(|part| self.groups.push(part));
        }
    }
}

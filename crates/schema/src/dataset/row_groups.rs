//! A table's row groups, one after the other.

use std::collections::VecDeque;
use std::path::PathBuf;

use super::Dataset;
use super::error::DatasetError;
use super::part::Part;
use super::place::Leaf;
use crate::row::{Projection, Row, Rows};

/// The row groups of a table, folder by folder and file by file, each with the path of its file for
/// messages. The files of one folder are open at a time.
pub(super) struct RowGroups<'d> {
    dataset: &'d Dataset,
    projection: Projection<'d>,
    leaves: VecDeque<Leaf>,
    parts: VecDeque<Part>,
    /// First row and number of rows of the row groups of the first file that are still to be read.
    groups: VecDeque<(usize, usize)>,
    /// Whether the row groups of the first file have been looked up.
    opened: bool,
}

impl<'d> RowGroups<'d> {
    pub fn new<R: Row>(dataset: &'d Dataset, projection: Projection<'d>) -> Result<Self, DatasetError> {
        let leaves = dataset.leaves::<R>()?.into();
        Ok(Self { dataset, projection, leaves, parts: VecDeque::new(), groups: VecDeque::new(), opened: false })
    }

    /// The next row group; after an error there is none.
    pub fn next<R: Row>(&mut self) -> Option<Result<(PathBuf, Rows<R>), DatasetError>> {
        let next = self.read_next().transpose();
        if matches!(next, Some(Err(_))) {
            (self.leaves, self.parts, self.groups) = Default::default();
        }
        next
    }

    fn read_next<R: Row>(&mut self) -> Result<Option<(PathBuf, Rows<R>)>, DatasetError> {
        loop {
            if let (Some(part), Some((first, count))) = (self.parts.front(), self.groups.pop_front()) {
                return Ok(Some((part.path.clone(), part.read_rows(self.projection, first, count)?)));
            }
            if std::mem::take(&mut self.opened) {
                self.parts.pop_front();
            }
            if let Some(part) = self.parts.front() {
                self.opened = true;
                let mut first = 0;
                for count in part.group_sizes()? {
                    self.groups.push_back((first, count));
                    first += count;
                }
                continue;
            }
            match self.leaves.pop_front() {
                Some(leaf) => self.parts = self.dataset.leaf_parts(&leaf)?.into(),
                None => return Ok(None),
            }
        }
    }
}

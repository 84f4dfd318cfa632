//! Rows of a host's tables as streams: memory holds a row group of each.

use std::collections::VecDeque;
use std::sync::mpsc::sync_channel;

use flowmine_schema::dataset::{Leaf, Part};
use flowmine_schema::row::Row;
use flowmine_schema::{Dataset, DatasetError, Projection, Rows};

use crate::CorrelateError;

/// The hosts of which a table has rows, in order.
pub fn hosts<R: Row>(dataset: &Dataset) -> Result<Vec<String>, CorrelateError> {
    let mut hosts: Vec<String> = dataset.leaves::<R>()?.iter().filter_map(|leaf| leaf.host().map(str::to_owned)).collect();
    hosts.dedup();
    Ok(hosts)
}

fn leaves<R: Row>(dataset: &Dataset, host: &str) -> Result<VecDeque<Leaf>, DatasetError> {
    Ok(dataset.leaves::<R>()?.into_iter().filter(|leaf| leaf.host() == Some(host)).collect())
}

/// The row groups of a host's table, one after the other.
struct Groups<'d, R: Row> {
    dataset: &'d Dataset,
    projection: Projection<'d>,
    leaves: VecDeque<Leaf>,
    parts: VecDeque<Part>,
    groups: VecDeque<(usize, usize)>,
    table: std::marker::PhantomData<R>,
}

impl<'d, R: Row> Groups<'d, R> {
    fn new(dataset: &'d Dataset, host: &str, projection: Projection<'d>) -> Result<Self, DatasetError> {
        let leaves = leaves::<R>(dataset, host)?;
        Ok(Self { dataset, projection, leaves, parts: VecDeque::new(), groups: VecDeque::new(), table: std::marker::PhantomData })
    }

    fn next(&mut self) -> Result<Option<Rows<R>>, DatasetError> {
        loop {
            if let (Some(part), Some((first, count))) = (self.parts.front(), self.groups.pop_front()) {
                return part.read_rows::<R>(self.projection, first, count).map(Some);
            }
            self.parts.pop_front();
            while self.parts.is_empty() {
                let Some(leaf) = self.leaves.pop_front() else { return Ok(None) };
                self.parts = self.dataset.leaf_parts(&leaf)?.into();
            }
            let mut first = 0;
            for count in self.parts.front().map_or_else(|| Ok(Vec::new()), Part::group_sizes)? {
                self.groups.push_back((first, count));
                first += count;
            }
        }
    }
}

/// Calls `each` with the row groups of a host's table, while another thread reads the next one.
pub fn each_group<R>(
    dataset: &Dataset,
    host: &str,
    projection: Projection<'_>,
    mut each: impl FnMut(&Rows<R>) -> Result<(), CorrelateError>,
) -> Result<(), CorrelateError>
where
    R: Row + Send,
{
    let mut groups = Groups::<R>::new(dataset, host, projection)?;
    std::thread::scope(|scope| {
        let (give, taken) = sync_channel(1);
        scope.spawn(move || {
            loop {
                let next = groups.next().transpose();
                let Some(next) = next else { return };
                let failed = next.is_err();
                if give.send(next).is_err() || failed {
                    return;
                }
            }
        });
        taken.into_iter().try_for_each(|rows| each(&rows?))
    })
}

/// The rows of a host's table one by one, so that others can be read in step with them.
pub struct Stream<'d, R: Row> {
    groups: Groups<'d, R>,
    rows: Option<Rows<R>>,
    at: usize,
}

impl<'d, R: Row> Stream<'d, R> {
    /// From the first row on.
    pub fn new(dataset: &'d Dataset, host: &str) -> Result<Self, CorrelateError> {
        Ok(Self { groups: Groups::new(dataset, host, Projection::All)?, rows: None, at: 0 })
    }

    /// The next row, which stays the next one.
    pub fn peek(&mut self) -> Result<Option<R::Of<'_>>, CorrelateError> {
        while self.rows.as_ref().is_none_or(|rows| self.at >= rows.len()) {
            self.at = 0;
            self.rows = self.groups.next()?;
            if self.rows.is_none() {
                return Ok(None);
            }
        }
        // A column of another type was refused when the rows were read.
        let row = self.rows.as_ref().map(|rows| rows.get(self.at)).transpose();
        row.map_err(|_| CorrelateError::Damaged(R::TABLE))
    }

    /// Goes on.
    pub fn advance(&mut self) {
        self.at += 1;
    }
}

//! Rows of a host's tables as streams: memory holds a row group of each writer.

use std::collections::VecDeque;
use std::sync::mpsc::sync_channel;

use flowmine_schema::dataset::{Leaf, Part};
use flowmine_schema::row::Row;
use flowmine_schema::tables::{IoEvent, IoTotal, Process, TracedFile};
use flowmine_schema::{Builder, Dataset, DatasetError, Projection, Rows};

use crate::CorrelateError;

/// The hosts of which a table has rows, in order.
///
/// # Errors
/// When the dataset cannot be read.
pub fn hosts<R: Row>(dataset: &Dataset) -> Result<Vec<String>, CorrelateError> {
    let mut hosts: Vec<String> = dataset.leaves::<R>()?.iter().filter_map(|leaf| leaf.host().map(str::to_owned)).collect();
    hosts.dedup();
    Ok(hosts)
}

fn leaves<R: Row>(dataset: &Dataset, host: &str) -> Result<VecDeque<Leaf>, DatasetError> {
    Ok(dataset.leaves::<R>()?.into_iter().filter(|leaf| leaf.host() == Some(host)).collect())
}

/// A table whose rows can be put in one order where traces ran side by side.
pub trait Timed: Row {
    /// When what a row tells of was over, or at least had begun. The rows of one writer need not be sorted by it.
    fn at(row: &Self::Of<'_>) -> i64;
}

impl Timed for IoEvent<'static> {
    fn at(row: &IoEvent<'_>) -> i64 {
        row.end_ns.unwrap_or(row.start_ns)
    }
}

impl Timed for IoTotal<'static> {
    fn at(row: &IoTotal<'_>) -> i64 {
        row.last_ns
    }
}

impl Timed for Process<'static> {
    fn at(row: &Process<'_>) -> i64 {
        row.started_ns.unwrap_or(i64::MIN)
    }
}

impl Timed for TracedFile<'static> {
    fn at(row: &TracedFile<'_>) -> i64 {
        row.first_seen_ns
    }
}

/// The files of one writer in a folder, row group by row group.
struct Lane<R: Row> {
    parts: VecDeque<Part>,
    groups: VecDeque<(usize, usize)>,
    /// Whether the row groups of the first of the files have been looked up.
    opened: bool,
    /// Rows that were read, and how many of them have been given on.
    rows: Option<Rows<R>>,
    given: usize,
    /// For each of the rows the latest time up to it, so that rows of one writer stay in the order in which they were written.
    times: Vec<i64>,
}

impl<R: Timed> Lane<R> {
    fn next_group(&mut self, projection: Projection<'_>) -> Result<Option<Rows<R>>, DatasetError> {
        loop {
            if let (Some(part), Some((first, count))) = (self.parts.front(), self.groups.pop_front()) {
                return part.read_rows::<R>(projection, first, count).map(Some);
            }
            if self.opened {
                self.parts.pop_front();
            }
            let Some(part) = self.parts.front() else { return Ok(None) };
            self.opened = true;
            let mut first = 0;
            for count in part.group_sizes()? {
                self.groups.push_back((first, count));
                first += count;
            }
        }
    }

    /// Sees to it that there is a row to give; says whether there is one.
    fn fill(&mut self, projection: Projection<'_>) -> Result<bool, CorrelateError> {
        while self.rows.as_ref().is_none_or(|rows| self.given >= rows.len()) {
            let mut latest = self.times.last().copied().unwrap_or(i64::MIN);
            self.rows = self.next_group(projection)?;
            let Some(rows) = &self.rows else { return Ok(false) };
            let all = rows.iter().map_err(|_| CorrelateError::Damaged(R::TABLE))?;
            self.times = all
                .map(|row| {
                    latest = latest.max(R::at(&row));
                    latest
                })
                .collect();
            self.given = 0;
        }
        Ok(true)
    }
}

/// The row groups of a host's table, one after the other. Where several writers wrote on a day, their rows are in the order of time, and
/// those of each in the order in which it wrote them.
struct Groups<'d, R: Row> {
    dataset: &'d Dataset,
    projection: Projection<'d>,
    leaves: VecDeque<Leaf>,
    lanes: Vec<Lane<R>>,
}

impl<'d, R: Timed> Groups<'d, R> {
    fn new(dataset: &'d Dataset, host: &str, projection: Projection<'d>) -> Result<Self, DatasetError> {
        let leaves = leaves::<R>(dataset, host)?;
        Ok(Self { dataset, projection, leaves, lanes: Vec::new() })
    }

    fn next(&mut self) -> Result<Option<Rows<R>>, CorrelateError> {
        loop {
            if let [lane] = self.lanes.as_mut_slice()
                && lane.rows.is_none()
            {
                // One writer: nothing to merge.
                if let Some(rows) = lane.next_group(self.projection)? {
                    return Ok(Some(rows));
                }
                self.lanes.clear();
            }
            let mut at = 0;
            while at < self.lanes.len() {
                if self.lanes[at].fill(self.projection)? {
                    at += 1;
                } else {
                    self.lanes.remove(at);
                }
            }
            if !self.lanes.is_empty() {
                return self.merged().map(Some);
            }
            let Some(leaf) = self.leaves.pop_front() else { return Ok(None) };
            let mut lanes: Vec<(Option<String>, Lane<R>)> = Vec::new();
            for part in self.dataset.leaf_parts(&leaf)? {
                let writer = part.writer().map(str::to_owned);
                if lanes.last().is_none_or(|(of, _)| *of != writer) {
                    let (parts, groups) = (VecDeque::new(), VecDeque::new());
                    lanes.push((writer, Lane { parts, groups, opened: false, rows: None, given: 0, times: Vec::new() }));
                }
                if let Some((_, lane)) = lanes.last_mut() {
                    lane.parts.push_back(part);
                }
            }
            self.lanes = lanes.into_iter().map(|(_, lane)| lane).collect();
        }
    }

    /// The rows that are here, as far as no writer can have an earlier one that is not; at least all of one writer.
    fn merged(&mut self) -> Result<Rows<R>, CorrelateError> {
        let horizon = self.lanes.iter().filter_map(|lane| lane.times.last()).min().copied().unwrap_or(i64::MAX);
        let mut merged = Builder::<R>::new();
        let mut given: Vec<usize> = self.lanes.iter().map(|lane| lane.given).collect();
        {
            let damaged = |_| CorrelateError::Damaged(R::TABLE);
            let mut rows = Vec::with_capacity(self.lanes.len());
            for lane in &self.lanes {
                if let Some(of) = &lane.rows {
                    rows.push(of.iter().map_err(damaged)?.skip(lane.given));
                }
            }
            let due = |given: &[usize]| {
                let heads = self.lanes.iter().enumerate().filter_map(|(at, lane)| lane.times.get(given[at]).map(|time| (*time, at)));
                heads.filter(|(time, _)| *time <= horizon).min()
            };
            while let Some((_, at)) = due(&given) {
                if let Some(row) = rows[at].next() {
                    merged.push(&row);
                }
                given[at] += 1;
            }
        }
        for (lane, given) in self.lanes.iter_mut().zip(given) {
            lane.given = given;
        }
        merged.finish().map_err(|_| CorrelateError::Damaged(R::TABLE))
    }
}

/// Calls `each` with the row groups of a host's table, while another thread reads the next one.
///
/// # Errors
/// When the dataset cannot be read, or what `each` returns.
pub fn each_group<R: Timed + Send>(
    dataset: &Dataset,
    host: &str,
    projection: Projection<'_>,
    mut each: impl FnMut(&Rows<R>) -> Result<(), CorrelateError>,
) -> Result<(), CorrelateError> {
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

impl<'d, R: Timed> Stream<'d, R> {
    /// From the first row on.
    ///
    /// # Errors
    /// When the dataset cannot be read.
    pub fn new(dataset: &'d Dataset, host: &str) -> Result<Self, CorrelateError> {
        Ok(Self { groups: Groups::new(dataset, host, Projection::All)?, rows: None, at: 0 })
    }

    /// The next row, which stays the next one.
    ///
    /// # Errors
    /// When the dataset cannot be read.
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

#[cfg(test)]
mod tests {
    use flowmine_schema::time::Day;

    use super::*;

    /// Traces side by side, whose flushes lie across each other: rows come in the order of time, those of one trace as it wrote them.
    #[test]
    fn what_was_traced_side_by_side_is_read_in_one_order() {
        let dir = tempfile::tempdir().unwrap();
        let dataset = Dataset::open_or_create(dir.path()).unwrap();
        let mut writers: Vec<_> = (0..3).map(|_| dataset.host_writer("n", "test").unwrap()).collect();
        // Start, end; each trace writes operations as they end.
        let flushes: [&[(i64, i64)]; 4] = [&[(0, 10), (5, 40)], &[(1, 2), (3, 3), (1, 60)], &[(41, 41), (50, 50)], &[(61, 61), (30, 62)]];
        for (flush, rows) in flushes.iter().enumerate() {
            let mut builder = Builder::<IoEvent<'static>>::new();
            for (start_ns, end_ns) in *rows {
                let inode = Some(flush as i64 % 2);
                builder.push(&IoEvent { host: "n".into(), start_ns: *start_ns, end_ns: Some(*end_ns), inode, ..IoEvent::default() });
            }
            let mut transaction = writers[flush % 2].begin().unwrap();
            transaction.append_split(builder, "n", Day::parse("2026-11-20").unwrap()).unwrap();
            transaction.commit().unwrap();
        }
        let mut ends = Vec::new();
        each_group::<IoEvent<'static>>(&dataset, "n", Projection::All, |rows| {
            ends.extend(rows.iter().unwrap().map(|row| (row.inode.unwrap(), row.end_ns.unwrap())));
            Ok(())
        })
        .unwrap();
        assert_eq!(ends, [(1, 2), (1, 3), (0, 10), (0, 40), (0, 41), (0, 50), (1, 60), (1, 61), (1, 62)]);
        let mut stream = Stream::<IoEvent<'static>>::new(&dataset, "n").unwrap();
        let mut streamed = Vec::new();
        while let Some(row) = stream.peek().unwrap() {
            streamed.push((row.inode.unwrap(), row.end_ns.unwrap()));
            stream.advance();
        }
        assert_eq!(streamed, ends);
    }
}

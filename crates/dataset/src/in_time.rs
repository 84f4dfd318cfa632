//! Rows of one host's table as a stream: memory holds a row group or two of each writer.
//!
//! Where several writers wrote on a day (traces side by side), their rows come in the order of
//! time, and those of each in the order in which it wrote them.

use std::collections::VecDeque;
use std::sync::Arc;

use flowmine_schema::row::{Row, View};
use flowmine_schema::tables::{IoEvent, IoTotal, Process, TracedFile};

use crate::dataset::Dataset;
use crate::error::DatasetError;
use crate::place::Leaf;
use crate::row_groups::Groups;
use crate::rows::Rows;

/// A table with rows that have one order when several writers wrote at the same time.
pub trait InTime: Row {
    /// The columns from which the time of a row is computed.
    type Time: View<Table = Self>;
    /// When what a row is about was over, or at least had begun, in nanoseconds since 1970. The
    /// rows of one writer need not be sorted by it.
    fn at(row: &<Self::Time as View>::Of<'_>) -> i64;
}

macro_rules! in_time {
    ($($table:ident by $name:ident { $($column:ident),+ }, |$row:ident| $at:expr;)+) => { $(
        flowmine_schema::columns! {
            /// The columns that say when what a row is about was over, see [`InTime::at`].
            pub struct $name of $table { $($column),+ }
        }
        impl InTime for $table<'static> {
            type Time = $name<'static>;
            fn at($row: &$name<'_>) -> i64 {
                $at
            }
        }
    )+ };
}
in_time! {
    IoEvent by EventTime { start_ns, end_ns }, |row| row.end_ns.unwrap_or(row.start_ns);
    IoTotal by TotalTime { last_ns }, |row| row.last_ns;
    Process by ProcessTime { started_ns }, |row| row.started_ns.unwrap_or(i64::MIN);
    TracedFile by FileTime { first_seen_ns }, |row| row.first_seen_ns;
}

impl Dataset {
    /// The hosts of which a table has rows, in order.
    ///
    /// # Errors
    /// When the dataset cannot be read.
    pub fn hosts_of<R: Row>(&self) -> Result<Vec<String>, DatasetError> {
        let mut hosts: Vec<String> = self.leaves::<R>()?.iter().filter_map(|leaf| leaf.host().map(str::to_owned)).collect();
        hosts.dedup();
        Ok(hosts)
    }

    /// Reads the rows of one host, in order; the next ones are read while `each` has those before
    /// them.
    ///
    /// # Errors
    /// When the dataset cannot be read, or what `each` returns.
    pub fn read_host<V: View, E: From<DatasetError>>(&self, host: &str, mut each: impl FnMut(V::Of<'_>) -> Result<(), E>) -> Result<(), E>
    where
        V::Table: InTime,
    {
        let mut pieces = Pieces::<V>::new(self, host)?;
        let pieces = std::iter::from_fn(move || pieces.next().transpose());
        flowmine_threads::ahead(pieces, 1, |pieces| {
            for piece in pieces {
                let piece = piece?;
                (0..piece.len()).try_for_each(|at| each(piece.get(at)))?;
            }
            Ok(())
        })
    }

    /// The rows of one host one by one, so that others can be read in step with them.
    ///
    /// # Errors
    /// When the dataset cannot be read.
    pub fn host_rows<V: View>(&self, host: &str) -> Result<HostRows<'_, V>, DatasetError>
    where
        V::Table: InTime,
    {
        Ok(HostRows { pieces: Pieces::new(self, host)?, piece: None, at: 0 })
    }
}

/// The rows of one host's table, one by one, in order.
pub struct HostRows<'d, V: View> {
    pieces: Pieces<'d, V>,
    piece: Option<Piece<V>>,
    at: usize,
}

impl<V: View> HostRows<'_, V>
where
    V::Table: InTime,
{
    /// The next row, which stays the next one.
    ///
    /// # Errors
    /// When the dataset cannot be read.
    pub fn peek(&mut self) -> Result<Option<V::Of<'_>>, DatasetError> {
        while self.piece.as_ref().is_none_or(|piece| self.at >= piece.len()) {
            self.at = 0;
            self.piece = self.pieces.next()?;
            if self.piece.is_none() {
                return Ok(None);
            }
        }
        Ok(self.piece.as_ref().map(|piece| piece.get(self.at)))
    }

    /// Goes on to the next row.
    pub fn advance(&mut self) {
        self.at += 1;
    }
}

/// Rows that follow one another: a row group of one writer, or some of those of several.
enum Piece<V: View> {
    Whole(Rows<V>),
    /// For each row its writer, and its number among the writer's rows.
    Merged(Vec<Arc<Rows<V>>>, Vec<(usize, usize)>),
}

impl<V: View> Piece<V> {
    fn len(&self) -> usize {
        match self {
            Self::Whole(rows) => rows.len(),
            Self::Merged(_, order) => order.len(),
        }
    }

    fn get(&self, at: usize) -> V::Of<'_> {
        match self {
            Self::Whole(rows) => rows.get(at),
            Self::Merged(rows, order) => rows[order[at].0].get(order[at].1),
        }
    }
}

/// The files of one writer in a folder, row group by row group.
struct Lane<V: View> {
    groups: Groups,
    /// Rows that were read to be merged, and how many of them have been given on.
    rows: Option<Arc<Rows<V>>>,
    given: usize,
    /// For each of the rows the latest time up to it, so that rows of one writer stay in the order
    /// in which they were written.
    times: Vec<i64>,
}

impl<V: View> Lane<V>
where
    V::Table: InTime,
{
    /// Sees to it that there is a row to give; says whether there is one.
    fn fill(&mut self) -> Result<bool, DatasetError> {
        while self.rows.as_ref().is_none_or(|rows| self.given >= rows.len()) {
            let mut latest = self.times.last().copied().unwrap_or(i64::MIN);
            self.rows = None;
            let Some(group) = self.groups.next()? else { return Ok(false) };
            let times = group.rows::<<V::Table as InTime>::Time>()?;
            self.times = times
                .iter()
                .map(|row| {
                    latest = latest.max(V::Table::at(&row));
                    latest
                })
                .collect();
            self.rows = Some(Arc::new(group.rows()?));
            self.given = 0;
        }
        Ok(true)
    }
}

/// The rows of a host's table, piece after piece.
struct Pieces<'d, V: View> {
    dataset: &'d Dataset,
    leaves: VecDeque<Leaf>,
    lanes: Vec<Lane<V>>,
}

impl<'d, V: View> Pieces<'d, V>
where
    V::Table: InTime,
{
    fn new(dataset: &'d Dataset, host: &str) -> Result<Self, DatasetError> {
        let leaves = dataset.leaves_of_host(<V::Table as Row>::TABLE, host)?.into();
        Ok(Self { dataset, leaves, lanes: Vec::new() })
    }

    fn next(&mut self) -> Result<Option<Piece<V>>, DatasetError> {
        loop {
            if let [lane] = self.lanes.as_mut_slice()
                && lane.rows.is_none()
            {
                // One writer: nothing to merge.
                if let Some(group) = lane.groups.next()? {
                    return group.rows().map(|rows| Some(Piece::Whole(rows)));
                }
                self.lanes.clear();
            }
            let mut at = 0;
            while at < self.lanes.len() {
                if self.lanes[at].fill()? {
                    at += 1;
                } else {
                    self.lanes.remove(at);
                }
            }
            if !self.lanes.is_empty() {
                return Ok(Some(self.merged()));
            }
            let Some(leaf) = self.leaves.pop_front() else { return Ok(None) };
            let mut lanes: Vec<(Option<String>, Lane<V>)> = Vec::new();
            for part in self.dataset.leaf_parts(&leaf)? {
                let writer = part.writer().map(str::to_owned);
                if lanes.last().is_none_or(|(of, _)| *of != writer) {
                    lanes.push((writer, Lane { groups: Groups::default(), rows: None, given: 0, times: Vec::new() }));
                }
                if let Some((_, lane)) = lanes.last_mut() {
                    lane.groups.push(part);
                }
            }
            self.lanes = lanes.into_iter().map(|(_, lane)| lane).collect();
        }
    }

    /// The rows that are here, as far as no writer can have an earlier one that is not; at least
    /// all of one writer.
    fn merged(&mut self) -> Piece<V> {
        let horizon = self.lanes.iter().filter_map(|lane| lane.times.last()).min().copied().unwrap_or(i64::MAX);
        let due = |lanes: &[Lane<V>]| {
            let heads = lanes.iter().enumerate().filter_map(|(at, lane)| lane.times.get(lane.given).map(|time| (*time, at)));
            heads.filter(|(time, _)| *time <= horizon).min()
        };
        let mut order = Vec::new();
        while let Some((_, at)) = due(&self.lanes) {
            order.push((at, self.lanes[at].given));
            self.lanes[at].given += 1;
        }
        Piece::Merged(self.lanes.iter().filter_map(|lane| lane.rows.clone()).collect(), order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::Builder;
    use flowmine_schema::time::Day;

    flowmine_schema::columns! {
        /// Of an operation: its file, and when it ended.
        struct Ends of IoEvent { inode, end_ns }
    }

    /// Simultaneous traces with overlapping flushes: rows come in the order of time, those of one
    /// trace as it wrote them.
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
        let read = dataset.read_host::<Ends<'static>, DatasetError>("n", |row| {
            ends.push((row.inode.unwrap(), row.end_ns.unwrap()));
            Ok(())
        });
        read.unwrap();
        assert_eq!(ends, [(1, 2), (1, 3), (0, 10), (0, 40), (0, 41), (0, 50), (1, 60), (1, 61), (1, 62)]);
        let mut rows = dataset.host_rows::<IoEvent<'static>>("n").unwrap();
        let mut streamed = Vec::new();
        while let Some(row) = rows.peek().unwrap() {
            assert_eq!(row.host, "n");
            streamed.push((row.inode.unwrap(), row.end_ns.unwrap()));
            rows.advance();
        }
        assert_eq!(streamed, ends);
        assert_eq!(dataset.hosts_of::<IoEvent<'static>>().unwrap(), ["n"]);
    }
}

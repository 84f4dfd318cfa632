//! A dataset's jobs, in parts that fit in memory.
//!
//! In goes a dataset; out come [`Jobs`], part after part. A part holds whole submissions, each with
//! all submissions that it is joined to by declared dependencies or a singleton's name. So the
//! contents of `Jobs` for a job are the same as if all were read at once. So is its case, where
//! cases are made of such joins. A dataset of no more than [`ROWS_AT_ONCE`] rows is one part. Of a
//! larger one the rows are partitioned into a temporary file first; memory then holds one part's
//! rows, and eight to twelve bytes for each id that takes part in a dependency. Jobs that one chain
//! of dependencies joins are in one part, so that the largest part is at least as large as the
//! largest case.
//!
//! The order of the parts, and of their contents, depends on the rows only.

use std::fs::File;
use std::io::Write;
use std::num::NonZero;
use std::os::unix::fs::FileExt;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::Builder;

use flowmine_dataset::{Dataset, Transaction};
use flowmine_schema::row::Record;
use flowmine_schema::tables::JobState;
use flowmine_spill::SpillError;
use flowmine_spill::{temporary, temporary_error};

use crate::attempts::JobRow;
use crate::clocks::Clocks;
use crate::dependencies::DependencyRow;
use crate::jobs::{Jobs, JobsBuilder};
use crate::joined::{Joined, Node, node, root, source_of};
use crate::row_rules::RowRules;
use crate::share::Share;
use crate::waits::last_observation;
use crate::{CorrelateError, Timestamp};

/// Target number of rows of `job_states` in memory at once.
pub const ROWS_AT_ONCE: u64 = 50_000;

/// Maximum number of parts that are made at once.
const MOST_THREADS: usize = 4;

/// A dataset's jobs, ready to be walked through part after part, as often as wanted.
pub struct Parts<'r> {
    rows: Rows,
    /// The raw files that were read ([`Dataset::raw_state`]), if they stayed the same meanwhile.
    raw_state: Option<u64>,
    timestamp: Timestamp,
    rules: &'r RowRules,
}

enum Rows {
    /// All rows in memory, as one part.
    One(Box<Jobs>),
    /// The rows in a temporary file, to be read part after part.
    Spilled(Spilled),
}

impl<'r> Parts<'r> {
    /// Reads a dataset, with rules that change its rows. Of more than `rows_at_once` rows, only the
    /// joins stay in memory.
    ///
    /// # Errors
    /// When the dataset cannot be read or the temporary file not be written.
    pub fn new(dataset: &Dataset, timestamp: Timestamp, rules: &'r RowRules, rows_at_once: u64) -> Result<Self, CorrelateError> {
        let before = dataset.raw_state()?;
        let count = dataset.row_count::<JobState<'static>>()?;
        let rows = if count <= rows_at_once {
            Rows::One(Box::new(Jobs::read_with(dataset, timestamp, rules)?))
        } else {
            Rows::Spilled(partition(dataset, Joined::of(dataset, before)?, count.div_ceil(rows_at_once), None)?)
        };
        let raw_state = (dataset.raw_state()? == before).then_some(before);
        Ok(Self { rows, raw_state, timestamp, rules })
    }

    /// Does the same as [`Parts::new`] for one share of the joined jobs; the rows of the other
    /// shares are skipped.
    ///
    /// # Errors
    /// When the dataset cannot be read or the temporary file not be written.
    pub fn of_share(
        dataset: &Dataset,
        timestamp: Timestamp,
        rules: &'r RowRules,
        rows_at_once: u64,
        share: Share,
    ) -> Result<Self, CorrelateError> {
        let before = dataset.raw_state()?;
        let count = dataset.row_count::<JobState<'static>>()?.div_ceil(rows_at_once.saturating_mul(share.of().into()));
        let rows = Rows::Spilled(partition(dataset, Joined::of(dataset, before)?, count.max(1), Some(share))?);
        let raw_state = (dataset.raw_state()? == before).then_some(before);
        Ok(Self { rows, raw_state, timestamp, rules })
    }

    /// Keeps in the dataset what is joined in it, for those that partition the same rows
    /// ([`crate::joined`]). Where rows were added while they were read nothing is kept.
    ///
    /// # Errors
    /// When the dataset cannot be read or the file not be written.
    pub(crate) fn keep(&self, dataset: &Dataset, transaction: &mut Transaction<'_>) -> Result<(), CorrelateError> {
        let Some(raw_state) = self.raw_state.filter(|known| dataset.raw_state().is_ok_and(|now| now == *known)) else { return Ok(()) };
        match &self.rows {
            Rows::One(_) => Joined::of(dataset, raw_state)?.keep(raw_state, transaction),
            Rows::Spilled(spilled) => spilled.joined.clone().keep(raw_state, transaction),
        }
    }

    /// The latest observation in the dataset that was read ([`last_observation`]).
    ///
    /// # Errors
    /// When the dataset cannot be read.
    pub(crate) fn last_observation(&self, dataset: &Dataset) -> Result<Option<i64>, CorrelateError> {
        match &self.rows {
            Rows::One(_) => last_observation(dataset),
            Rows::Spilled(spilled) => Ok(spilled.last_ns),
        }
    }

    /// Number of parts.
    pub fn count(&self) -> usize {
        match &self.rows {
            Rows::One(_) => 1,
            Rows::Spilled(spilled) => spilled.blocks.iter().filter(|block| !block.is_empty()).count(),
        }
    }

    /// Calls `each` with every part, always in the same order. While `each` runs, the next parts
    /// are made on several threads, as far as the system has them.
    ///
    /// # Errors
    /// When the temporary file cannot be read, or `each` returns an error.
    pub fn for_each<E: From<CorrelateError>>(&self, mut each: impl FnMut(&Jobs) -> Result<(), E>) -> Result<(), E> {
        let spilled = match &self.rows {
            Rows::One(jobs) => return each(jobs),
            Rows::Spilled(spilled) => spilled,
        };
        let parts: Vec<usize> = (0..spilled.blocks.len()).filter(|&part| !spilled.blocks[part].is_empty()).collect();
        let threads = std::thread::available_parallelism().map_or(1, NonZero::get).min(MOST_THREADS);
        std::thread::scope(|scope| {
            // A thread waits with its part until that is taken: no more than one of each is in memory.
            let make = |part| spilled.jobs(part, self.timestamp, self.rules);
            let made: Vec<Option<Receiver<Result<Jobs, CorrelateError>>>> = (0..threads)
                .map(|first| {
                    let (send, receive) = sync_channel(0);
                    let own = parts.iter().skip(first).step_by(threads);
                    let run = move || {
                        for &part in own {
                            // The receiver is gone when `each` has failed.
                            if send.send(make(part)).is_err() {
                                break;
                            }
                        }
                    };
                    Builder::new().spawn_scoped(scope, run).is_ok().then_some(receive)
                })
                .collect();
            for (&part, from) in parts.iter().zip(made.iter().cycle()) {
                let jobs = match from {
                    // A thread that panicked makes the whole panic.
                    Some(from) => match from.recv() {
                        Ok(jobs) => jobs,
                        Err(_) => break,
                    },
                    None => make(part),
                };
                each(&jobs?)?;
            }
            Ok(())
        })
    }
}

const STATE: u8 = 0;
const DEPENDENCY: u8 = 1;

/// Rows in a temporary file, those of each part in blocks of whole rows.
struct Spilled {
    file: File,
    joined: Joined,
    blocks: Vec<Vec<(u64, u32)>>,
    /// The latest observation, of all shares.
    last_ns: Option<i64>,
}

struct Partitioner {
    spilled: Spilled,
    share: Option<Share>,
    buffers: Vec<Vec<u8>>,
    block: usize,
    end: u64,
}

impl Partitioner {
    fn push<'r>(&mut self, kind: u8, whole: Node, row: &impl Record<'r>) -> Result<(), CorrelateError> {
        let representative = self.spilled.joined.representative(whole);
        if self.share.is_some_and(|share| !share.has(representative)) {
            return Ok(());
        }
        let part = (representative % self.buffers.len() as u64) as usize;
        let buffer = &mut self.buffers[part];
        let start = buffer.len();
        buffer.extend_from_slice(&[0, 0, 0, 0, kind]);
        row.put(buffer);
        let length = u32::try_from(buffer.len() - start - 5).map_err(|_| CorrelateError::TooMany { what: "bytes in one row" })?;
        buffer[start..start + 4].copy_from_slice(&length.to_le_bytes());
        if buffer.len() >= self.block { self.flush(part) } else { Ok(()) }
    }

    fn flush(&mut self, part: usize) -> Result<(), CorrelateError> {
        let buffer = &mut self.buffers[part];
        if !buffer.is_empty() {
            let length = u32::try_from(buffer.len()).map_err(|_| CorrelateError::TooMany { what: "bytes in one row" })?;
            self.spilled.file.write_all(buffer).map_err(|e| CorrelateError::Temporary(temporary_error(e).into()))?;
            self.spilled.blocks[part].push((self.end, length));
            self.end += u64::from(length);
            buffer.clear();
        }
        Ok(())
    }
}

fn partition(dataset: &Dataset, joined: Joined, parts: u64, share: Option<Share>) -> Result<Spilled, CorrelateError> {
    let parts = usize::try_from(parts).map_err(|_| CorrelateError::TooMany { what: "rows" })?;
    let spilled = Spilled { file: temporary().map_err(CorrelateError::Temporary)?, joined, blocks: vec![Vec::new(); parts], last_ns: None };
    let block = ((12 << 20) / parts).clamp(1 << 12, 1 << 18);
    let mut partitioner = Partitioner { spilled, share, buffers: vec![Vec::new(); parts], block, end: 0 };
    let clocks = Clocks::read(dataset)?;
    dataset.read::<JobRow<'static>, CorrelateError>(|row| {
        let observed_at_ns = clocks.observed_at(&row.cluster, &row.source, row.observed_at_ns);
        partitioner.spilled.last_ns = partitioner.spilled.last_ns.max(Some(observed_at_ns));
        let row = clocks.job_row(row);
        let whole = node(&row.cluster, root!(row));
        partitioner.push(STATE, whole, &row)
    })?;
    dataset.read::<DependencyRow<'static>, CorrelateError>(|row| {
        let row = clocks.dependency_row(row);
        partitioner.push(DEPENDENCY, source_of(&row), &row)
    })?;
    for part in 0..parts {
        partitioner.flush(part)?;
    }
    Ok(partitioner.spilled)
}

impl Spilled {
    fn jobs(&self, part: usize, timestamp: Timestamp, rules: &RowRules) -> Result<Jobs, CorrelateError> {
        let damaged = || CorrelateError::Temporary(SpillError::Damaged);
        let mut builder = JobsBuilder::default();
        let mut block = Vec::new();
        for &(start, length) in &self.blocks[part] {
            block.resize(length as usize, 0);
            self.file.read_exact_at(&mut block, start).map_err(|e| CorrelateError::Temporary(temporary_error(e).into()))?;
            let mut rest = &block[..];
            while let Some((&[a, b, c, d, kind], after)) = rest.split_first_chunk() {
                let length = u32::from_le_bytes([a, b, c, d]) as usize;
                let (row, after) = after.split_at_checked(length).ok_or_else(damaged)?;
                match kind {
                    STATE => builder.push_state(&rules.apply(JobRow::take(row).ok_or_else(damaged)?)),
                    _ => builder.push_dependency(&rules.apply(DependencyRow::take(row).ok_or_else(damaged)?)),
                }
                rest = after;
            }
        }
        builder.finish(timestamp)
    }
}

//! Rows of `data_flow` and `links` that show which job gave data to which.
//!
//! In go rows, those of one table in any order; out come the writers and readers of each version of
//! a file, as often as wanted. Names are kept once in memory, the rest is sorted outside of it.

use std::borrow::Cow;

use flowmine_attribution::{AttributionError, Listener};
use flowmine_dataset::Dataset;
use flowmine_schema::tables::{DataFlow, Link};
use flowmine_spill::{Sorted, Sorter, SpillError, put_ordered, put_ordered_text};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::CorrelateError;
use crate::row_rules::RowRules;

flowmine_schema::columns! {
    /// One version of a file, who wrote it and who read it.
    struct FlowRow of DataFlow {
        host, device, inode, generation, incarnation, path, version, writer_type, writer_scope,
        writer, written_bytes, first_write_ns, last_write_ns, reader_type, reader_scope, reader,
        first_read_ns, last_read_ns,
    }
}

flowmine_schema::columns! {
    /// The columns of `links` that say which job a task, pod or container belongs to.
    struct BelongingRow of Link { source_type, source_scope, source, target_type, target_scope, target, target_ns, relation }
}

/// The reader or writer of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Owner {
    /// No possible job: the row names no task, job, pod or container.
    Nobody,
    /// A job, by its number.
    Job(u32),
    /// A task, a pod or a container, by its number.
    Other(u32),
}

/// An access to a version of a file: its owner and start time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Done {
    pub by: Owner,
    pub at_ns: Option<i64>,
}

/// A job, and the time of its submission where the row has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Job {
    pub number: u32,
    pub submit_ns: Option<i64>,
}

/// A job, or another owner, to which a task, pod or container belongs.
#[derive(Debug, Clone, Copy)]
enum Target {
    Job(Job),
    Other(u32),
}

#[derive(Debug, Default)]
struct Names {
    /// Numbers of jobs by cluster and job.
    jobs: FxHashMap<Box<str>, FxHashMap<Box<str>, u32>>,
    job_count: u32,
    /// Numbers of the others by type, scope and id.
    others: FxHashMap<Box<[u8]>, u32>,
    key: Vec<u8>,
}

impl Names {
    /// The owner of this type, scope and id, as in the table `links`.
    fn owner(&mut self, kind: &str, scope: &str, id: &str) -> Owner {
        match kind {
            "job" if !scope.is_empty() => Owner::Job(self.job(scope, id)),
            "task" | "pod" | "container" => Owner::Other(self.other(kind, scope, id)),
            _ => Owner::Nobody,
        }
    }

    fn job(&mut self, cluster: &str, job: &str) -> u32 {
        if let Some(&number) = self.jobs.get(cluster).and_then(|of_cluster| of_cluster.get(job)) {
            return number;
        }
        self.jobs.entry(cluster.into()).or_default().insert(job.into(), self.job_count);
        self.job_count += 1;
        self.job_count - 1
    }

    fn other(&mut self, kind: &str, scope: &str, id: &str) -> u32 {
        self.key.clear();
        [kind, scope, id].into_iter().for_each(|text| put_ordered_text(text, &mut self.key));
        if let Some(&number) = self.others.get(&*self.key) {
            return number;
        }
        let number = self.others.len() as u32;
        self.others.insert(self.key.as_slice().into(), number);
        number
    }
}

/// Takes rows of `data_flow` and `links`, to be sorted.
#[derive(Default)]
pub struct Rows {
    names: Names,
    /// Of tasks, pods and containers, by number.
    belongs_to: FxHashMap<u32, Vec<Target>>,
    sorter: Sorter,
    /// Whether a possible job read data that possibly another job wrote.
    any: bool,
}

impl Rows {
    /// Reads both tables, with rules that change each row.
    pub(super) fn read(dataset: &Dataset, rules: &RowRules) -> Result<Self, CorrelateError> {
        let mut rows = Self::default();
        dataset.read::<FlowRow<'static>, CorrelateError>(|row| {
            if may_join(&row) { rows.push_flow(&rules.apply(row)).map_err(CorrelateError::Temporary) } else { Ok(()) }
        })?;
        if rows.names.others.is_empty() {
            return Ok(rows);
        }
        dataset.read::<BelongingRow<'static>, CorrelateError>(|row| {
            if is_belonging(&row) {
                rows.push_belonging(&rules.apply(row));
            }
            Ok(())
        })?;
        Ok(rows)
    }

    fn push_flow(&mut self, row: &FlowRow<'_>) -> Result<(), SpillError> {
        let text = |text: &Option<Cow<'_, str>>| text.as_deref().unwrap_or_default().to_owned();
        let mut owner = |kind, scope, id| self.names.owner(&text(kind), &text(scope), &text(id));
        let writer = Done { by: owner(&row.writer_type, &row.writer_scope, &row.writer), at_ns: row.first_write_ns.or(row.last_write_ns) };
        let reader = Done { by: owner(&row.reader_type, &row.reader_scope, &row.reader), at_ns: row.first_read_ns.or(row.last_read_ns) };
        let wrote = row.written_bytes > 0;
        // A writer that is no job matters only if it wrote: then writers that wrote nothing gave
        // nothing.
        if reader.by == Owner::Nobody || (writer.by == Owner::Nobody && !wrote) {
            return Ok(());
        }
        // A job can read what another that had its id before it wrote.
        self.any |= writer.by != Owner::Nobody && (writer.by != reader.by || matches!(writer.by, Owner::Job(_)));
        let mut key = Vec::new();
        for part in [row.device, row.inode, row.generation, Some(row.incarnation), Some(row.version)] {
            key.push(u8::from(part.is_some()));
            put_ordered(part.unwrap_or_default(), &mut key);
        }
        for part in [&row.host, &row.path] {
            key.push(u8::from(part.is_some()));
            put_ordered_text(part.as_deref().unwrap_or_default(), &mut key);
        }
        let version_length = key.len() as u32;
        put_owner(reader.by, &mut key);
        let path = row.path.as_deref().unwrap_or_default();
        self.sorter.push(&key, |bytes| {
            bytes.extend_from_slice(&version_length.to_le_bytes());
            bytes.push(u8::from(wrote));
            for done in [writer, reader] {
                put_owner(done.by, bytes);
                bytes.push(u8::from(done.at_ns.is_some()));
                bytes.extend_from_slice(&done.at_ns.unwrap_or_default().to_le_bytes());
            }
            bytes.extend_from_slice(path.as_bytes());
        })
    }

    fn push_belonging(&mut self, row: &BelongingRow<'_>) {
        let Owner::Other(source) = self.names.owner(&row.source_type, &row.source_scope, &row.source) else { return };
        // A step is a part of its job.
        let (kind, target) = match &*row.target_type {
            "step" => ("job", row.target.split('.').next().unwrap_or_default()),
            kind => (kind, &*row.target),
        };
        let target = match self.names.owner(kind, &row.target_scope, target) {
            Owner::Nobody => return,
            Owner::Job(number) => Target::Job(Job { number, submit_ns: row.target_ns }),
            Owner::Other(number) => Target::Other(number),
        };
        self.belongs_to.entry(source).or_default().push(target);
    }

    /// All rows, once all have been taken.
    ///
    /// # Errors
    /// When the temporary file cannot be written.
    pub fn finish(self) -> Result<SortedRows, CorrelateError> {
        let Self { names, belongs_to, sorter, any } = self;
        let jobs_of = belongs_to.keys().map(|&other| (other, jobs_of(other, &belongs_to))).collect();
        let as_it_is = (0..names.job_count).map(|number| Job { number, submit_ns: None }).collect();
        Ok(SortedRows {
            any: any && names.job_count > 0,
            names,
            jobs_of,
            as_it_is,
            sorted: sorter.finish().map_err(CorrelateError::Temporary)?,
        })
    }
}

/// Whether a row can say that a job gave data to another, or that it did not.
fn may_join(row: &FlowRow<'_>) -> bool {
    row.writer_type.is_some() && row.reader_type.as_deref().is_some_and(|kind| kind != "unassigned")
}

fn is_belonging(row: &BelongingRow<'_>) -> bool {
    matches!(&*row.source_type, "task" | "pod" | "container") && matches!(&*row.relation, "ran-as" | "belongs-to")
}

/// Returns the jobs that an owner belongs to, directly or through other owners.
fn jobs_of(other: u32, belongs_to: &FxHashMap<u32, Vec<Target>>) -> Vec<Job> {
    let (mut jobs, mut seen, mut ahead) = (Vec::new(), FxHashSet::default(), vec![other]);
    while let Some(other) = ahead.pop() {
        if seen.insert(other) {
            for target in belongs_to.get(&other).into_iter().flatten() {
                match target {
                    Target::Job(job) => jobs.push(*job),
                    Target::Other(other) => ahead.push(*other),
                }
            }
        }
    }
    jobs.sort_unstable();
    jobs.dedup();
    jobs
}

impl Listener for Rows {
    fn link(&mut self, link: &Link<'_>) {
        let row = BelongingRow::of(link);
        if is_belonging(&row) {
            self.push_belonging(&row);
        }
    }

    fn flow(&mut self, flow: &DataFlow<'_>) -> Result<(), AttributionError> {
        let row = FlowRow::of(flow);
        if may_join(&row) { self.push_flow(&row).map_err(AttributionError::Temporary) } else { Ok(()) }
    }
}

fn put_owner(owner: Owner, bytes: &mut Vec<u8>) {
    let (kind, number) = match owner {
        Owner::Nobody => (0, 0),
        Owner::Job(number) => (1, number),
        Owner::Other(number) => (2, number),
    };
    bytes.push(kind);
    bytes.extend_from_slice(&number.to_le_bytes());
}

fn take_done(bytes: &mut &[u8]) -> Option<Done> {
    let (&[kind, a, b, c, d, known], rest) = bytes.split_first_chunk()?;
    let (ns, rest) = rest.split_first_chunk()?;
    *bytes = rest;
    let number = u32::from_le_bytes([a, b, c, d]);
    let by = match kind {
        0 => Owner::Nobody,
        1 => Owner::Job(number),
        _ => Owner::Other(number),
    };
    Some(Done { by, at_ns: (known != 0).then(|| i64::from_le_bytes(*ns)) })
}

/// The rows by file, version and reader.
pub struct SortedRows {
    names: Names,
    /// Of tasks, pods and containers, by number.
    jobs_of: FxHashMap<u32, Vec<Job>>,
    /// All jobs by their numbers, so that one can be given as a slice.
    as_it_is: Vec<Job>,
    sorted: Sorted,
    any: bool,
}

impl SortedRows {
    /// Whether it is certain that no job read what another wrote.
    pub fn is_empty(&self) -> bool {
        !self.any
    }

    /// How many jobs are named.
    pub(super) fn jobs(&self) -> usize {
        self.as_it_is.len()
    }

    /// The number of a job, if it is named.
    pub(super) fn job(&self, cluster: &str, job: &str) -> Option<u32> {
        self.names.jobs.get(cluster)?.get(job).copied()
    }

    /// Returns the jobs that an owner is or belongs to.
    pub(super) fn jobs_of(&self, owner: Owner) -> &[Job] {
        match owner {
            Owner::Nobody => &[],
            Owner::Job(number) => std::slice::from_ref(&self.as_it_is[number as usize]),
            Owner::Other(number) => self.jobs_of.get(&number).map(Vec::as_slice).unwrap_or_default(),
        }
    }

    /// Calls `each` for each version of a file, with its path, who wrote it and who read it, but for
    /// those who made or emptied the file and wrote nothing, where another wrote what was read: a
    /// shell opens what its commands write to.
    pub(super) fn for_each(&self, mut each: impl FnMut(&str, &[(Done, Done)])) -> Result<(), CorrelateError> {
        let damaged = || CorrelateError::Temporary(SpillError::Damaged);
        let mut walk = self.sorted.walk().map_err(CorrelateError::Temporary)?;
        let mut version: Vec<u8> = Vec::new();
        let mut reading: Vec<u8> = Vec::new();
        let mut path = String::new();
        // Of one version and one who read it: whether each writer wrote anything, and what both did.
        let mut of_reading: Vec<(bool, Done, Done)> = Vec::new();
        let mut of_version: Vec<(Done, Done)> = Vec::new();
        let end = |all: &mut Vec<(bool, Done, Done)>, of_version: &mut Vec<(Done, Done)>| {
            let some_wrote = all.iter().any(|(wrote, ..)| *wrote);
            of_version.extend(all.drain(..).filter(|(wrote, ..)| *wrote || !some_wrote).map(|(_, writer, reader)| (writer, reader)));
        };
        while let Some((key, record)) = walk.next().map_err(CorrelateError::Temporary)? {
            let (length, record) = record.split_first_chunk().ok_or_else(damaged)?;
            let (&wrote, mut record) = record.split_first().ok_or_else(damaged)?;
            let new_version = key.get(..u32::from_le_bytes(*length) as usize).ok_or_else(damaged)?;
            if key != reading {
                end(&mut of_reading, &mut of_version);
                reading = key.to_vec();
            }
            if new_version != version {
                if !of_version.is_empty() {
                    each(&path, &of_version);
                    of_version.clear();
                }
                version = new_version.to_vec();
            }
            let mut take = || take_done(&mut record).ok_or_else(damaged);
            of_reading.push((wrote != 0, take()?, take()?));
            path.clear();
            path.push_str(&String::from_utf8_lossy(record));
        }
        end(&mut of_reading, &mut of_version);
        if !of_version.is_empty() {
            each(&path, &of_version);
        }
        Ok(())
    }
}

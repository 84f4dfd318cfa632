//! Aggregation of the accesses of single processes into the tables `task_io`, `task_totals` and
//! `logical_task_totals`.
//!
//! The access of a process to a file is spilled when the process is resolved
//! ([`ProcessAccesses::put`]). When all owners of a host are known, the accesses are sorted by owner
//! and file, and summed row by row ([`ProcessAccesses::gather`]). These rows are a part of the host's
//! partial result. Those of all hosts are sorted once more ([`Accesses`]). Memory holds one file's
//! sums, and the sums of owners.

use std::collections::BTreeMap;

use flowmine_dataset::{Builder, Transaction};
use flowmine_schema::tables::{LogicalTaskTotal, TaskIo, TaskTotal};
use flowmine_schema::{Record, Row};
use flowmine_spill::{Sorter, put_ordered};
use rustc_hash::FxHashSet;

use crate::AttributionError;
use crate::access::Access;
use crate::bytes::{damaged, put, put_text, put_unsigned, take, take_byte, take_text, take_unsigned};
use crate::entities::Entities;
use crate::files::FileKey;
use crate::names::LastNames;
use crate::out_of_range::OutOfRange;
use crate::owners::{HostOwners, ResolvedOwners, Time, io_row, total_row};
use crate::partial::Tables;
use crate::partial::tables::{AccessRange, OwnerAccess, names as tables_of};
use crate::ranges::{Extent, Range, Union};

/// Largest number of ranges in one record of the temporary file.
const CHUNK: usize = 512;
/// Rows that are written at once.
const ROWS: usize = 1 << 15;
/// Rows of `task_totals` in a file.
const TOTAL_ROWS: usize = 1 << 18;

const SUMS: u8 = 0;
const READ_RANGES: u8 = 1;
const WRITE_RANGES: u8 = 2;

/// Spilled accesses of single processes to files.
#[derive(Default)]
pub struct ProcessAccesses(Sorter);

/// The file of a record: its identity and known properties.
#[derive(Debug, Clone, Copy)]
pub struct OfFile<'f> {
    /// The numbers that identify the file on its host.
    pub key: FileKey,
    /// Type of its file system.
    pub file_system: Option<&'f str>,
    /// The path under which it is known.
    pub path: Option<&'f str>,
}

impl ProcessAccesses {
    /// Spills the access of a process to a file.
    ///
    /// # Errors
    /// When the temporary file cannot be written.
    pub fn put(&mut self, process: u32, file: OfFile<'_>, mut access: Access) -> Result<(), AttributionError> {
        self.record(process, &file.key, SUMS, |bytes| {
            access.put(bytes);
            put_text(file.file_system, bytes);
            put_text(file.path, bytes);
        })?;
        self.put_ranges(process, &file.key, &mut access)
    }

    /// Spills the ranges of an access, and removes them from it.
    ///
    /// # Errors
    /// When the temporary file cannot be written.
    pub fn put_ranges(&mut self, process: u32, key: &FileKey, access: &mut Access) -> Result<(), AttributionError> {
        for (kind, transfers) in [(READ_RANGES, &mut access.read), (WRITE_RANGES, &mut access.write)] {
            let Some(transfers) = transfers else { continue };
            for chunk in transfers.ranges.take().chunks(CHUNK) {
                self.record(process, key, kind, |bytes| put_chunk(chunk, bytes))?;
            }
        }
        Ok(())
    }

    fn record(&mut self, process: u32, key: &FileKey, kind: u8, fill: impl FnOnce(&mut Vec<u8>)) -> Result<(), AttributionError> {
        // Without a key: they come back in the order in which they were put.
        let put = self.0.push(&[], |bytes| {
            put_unsigned(process.into(), bytes);
            key.put(bytes);
            bytes.push(kind);
            fill(bytes);
        });
        put.map_err(AttributionError::Temporary)
    }

    /// Gives the records to the owners of their processes, and sorts them by owner and file. Each
    /// begins with its place among all records.
    fn by_owner(self, owner_of: &[u32], owners: &HostOwners) -> Result<flowmine_spill::Sorted, AttributionError> {
        let all = self.0.finish().map_err(AttributionError::Temporary)?;
        let mut sorter = Sorter::default();
        let mut walk = all.walk().map_err(AttributionError::Temporary)?;
        let (mut key, mut place) = (Vec::new(), 0u64);
        while let Some((_, record)) = walk.next().map_err(AttributionError::Temporary)? {
            let mut rest = record;
            let process = damaged(take_unsigned(&mut rest))?;
            let file = damaged(FileKey::take(&mut rest))?;
            let kind = damaged(take_byte(&mut rest))?;
            let owner = damaged(owner_of.get(process as usize).and_then(|owner| owners.of.get(*owner as usize)))?;
            key.clear();
            put_key(*owner, &file, &mut key);
            key.push(kind);
            if kind != SUMS {
                put_ordered(damaged(first_of_chunk(rest))?, &mut key);
            }
            let put = sorter.push(&key, |bytes| {
                put_unsigned(place, bytes);
                bytes.extend_from_slice(record);
            });
            put.map_err(AttributionError::Temporary)?;
            place += 1;
        }
        sorter.finish().map_err(AttributionError::Temporary)
    }

    /// Adds up what the processes of each owner of a host did to each file, as rows of the host's
    /// partial result.
    ///
    /// # Errors
    /// When a temporary file cannot be read or written.
    pub fn gather(self, owner_of: &[u32], owners: &HostOwners, tables: &mut Tables) -> Result<(), AttributionError> {
        let sorted = self.by_owner(owner_of, owners)?;
        let mut gathering: Option<Gathering> = None;
        let mut walk = sorted.walk().map_err(AttributionError::Temporary)?;
        loop {
            let next = walk.next().map_err(AttributionError::Temporary)?;
            if let Some(done) = gathering.take_if(|gathering| next.is_none_or(|(key, _)| owner_and_file(key) != gathering.key)) {
                tables.push(tables_of::ACCESSES, &done.row())?;
            }
            let Some((key, record)) = next else { return Ok(()) };
            let mut rest = record;
            let place = damaged(take_unsigned(&mut rest))?;
            let process = damaged(take_unsigned(&mut rest))? as u32;
            let file = damaged(FileKey::take(&mut rest))?;
            let kind = damaged(take_byte(&mut rest))?;
            let owner = damaged(owner_of_key(key))?;
            let may_merge = damaged(owners.all.get(owner as usize))?.may_be_other_user().is_some();
            let gathering = gathering.get_or_insert_with(|| Gathering::new(owner_and_file(key).to_vec(), owner, file, may_merge));
            match damaged(gathering.take(place, process, kind, &mut rest))? {
                Some(ranges) if may_merge => {
                    for (start, end) in ranges {
                        tables.push(tables_of::RANGES, &range_row(owner, &file, kind == WRITE_RANGES, (start, end)))?;
                    }
                }
                Some(ranges) => if kind == READ_RANGES { &mut gathering.read } else { &mut gathering.write }.add(ranges),
                None => {}
            }
        }
    }
}

fn put_key(owner: u32, file: &FileKey, key: &mut Vec<u8>) {
    key.extend_from_slice(&owner.to_be_bytes());
    file.put_ordered(key);
}

/// The part of a key that all records of an owner and a file have.
fn owner_and_file(key: &[u8]) -> &[u8] {
    key.get(..key.len().min(4 + 4 * 8)).unwrap_or_default()
}

fn owner_of_key(key: &[u8]) -> Option<u32> {
    key.first_chunk().map(|owner| u32::from_be_bytes(*owner))
}

fn range_row(owner: u32, file: &FileKey, written: bool, (start, end): Range) -> AccessRange<'static> {
    AccessRange {
        owner: owner.into(),
        device: FileKey::told(file.device),
        inode: FileKey::told(file.inode),
        generation: FileKey::told(file.generation),
        incarnation: file.incarnation.into(),
        written,
        start,
        end,
        ..AccessRange::default()
    }
}

/// What the processes of an owner did to a file, while it is summed up.
struct Gathering {
    key: Vec<u8>,
    owner: u32,
    file: FileKey,
    /// Whether the owner may be merged with another one when all hosts are known.
    may_merge: bool,
    access: Access,
    processes: FxHashSet<u32>,
    file_system: Option<String>,
    path: Option<(u64, String)>,
    read: Union,
    write: Union,
}

impl Gathering {
    fn new(key: Vec<u8>, owner: u32, file: FileKey, may_merge: bool) -> Self {
        Self {
            key,
            owner,
            file,
            may_merge,
            access: Access::default(),
            processes: FxHashSet::default(),
            file_system: None,
            path: None,
            read: Union::default(),
            write: Union::default(),
        }
    }

    /// Takes a record; gives the ranges that it has.
    fn take(&mut self, place: u64, process: u32, kind: u8, bytes: &mut &[u8]) -> Option<Option<Vec<Range>>> {
        self.processes.insert(process);
        if kind != SUMS {
            return take_chunk(bytes).map(Some);
        }
        self.access.add(&Access::take(bytes)?);
        let (file_system, path) = (take_text(bytes)?, take_text(bytes)?);
        self.file_system = self.file_system.take().or(file_system.map(str::to_owned));
        self.path = self.path.take().or(path.map(|path| (place, path.to_owned())));
        Some(None)
    }

    fn row(self) -> OwnerAccess<'static> {
        let mut row = OwnerAccess {
            owner: self.owner.into(),
            device: FileKey::told(self.file.device),
            inode: FileKey::told(self.file.inode),
            generation: FileKey::told(self.file.generation),
            incarnation: self.file.incarnation.into(),
            file_system: self.file_system.map(Into::into),
            processes: self.processes.len() as i64,
            ..OwnerAccess::default()
        };
        self.access.fill_partial(&mut row);
        (row.known_path_at, row.known_path) = self.path.map(|(at, path)| (at as i64, path.into())).unzip();
        let extent = |union: Union| Some(union.finish()).filter(|_| !self.may_merge).map(|extent| (extent.bytes, extent.ranges)).unzip();
        (row.unique_read_bytes, row.read_ranges) = extent(self.read);
        (row.unique_written_bytes, row.written_ranges) = extent(self.write);
        row
    }
}

/// The accesses of all owners of all hosts, spilled.
#[derive(Default)]
pub struct Accesses(Sorter);

impl Accesses {
    /// Takes a row of a host's partial result, of the owner with this number.
    ///
    /// # Errors
    /// When the temporary file cannot be written.
    pub fn put(&mut self, owner: u32, row: &OwnerAccess<'_>) -> Result<(), AttributionError> {
        self.record(owner, SUMS, |bytes| row.put(bytes))
    }

    /// Takes a range of a host's partial result, of the owner with this number.
    ///
    /// # Errors
    /// When the temporary file cannot be written.
    pub fn put_range(&mut self, owner: u32, row: &AccessRange<'_>) -> Result<(), AttributionError> {
        self.record(owner, if row.written { WRITE_RANGES } else { READ_RANGES }, |bytes| row.put(bytes))
    }

    fn record(&mut self, owner: u32, kind: u8, fill: impl FnOnce(&mut Vec<u8>)) -> Result<(), AttributionError> {
        let put = self.0.push(&[], |bytes| {
            put_unsigned(owner.into(), bytes);
            bytes.push(kind);
            fill(bytes);
        });
        put.map_err(AttributionError::Temporary)
    }

    /// Sorts the rows by their final owners and files.
    fn by_owner(self, resolved: &ResolvedOwners) -> Result<flowmine_spill::Sorted, AttributionError> {
        let all = self.0.finish().map_err(AttributionError::Temporary)?;
        let mut sorter = Sorter::default();
        let mut walk = all.walk().map_err(AttributionError::Temporary)?;
        let mut key = Vec::new();
        while let Some((_, record)) = walk.next().map_err(AttributionError::Temporary)? {
            let mut rest = record;
            let owner = damaged(take_unsigned(&mut rest))?;
            let kind = damaged(take_byte(&mut rest))?;
            let owner = *damaged(resolved.of.get(owner as usize))?;
            key.clear();
            if kind == SUMS {
                let row = damaged(OwnerAccess::take(rest))?;
                put_key(owner, &damaged(file_of_access(&row))?, &mut key);
                key.push(kind);
            } else {
                let row = damaged(AccessRange::take(rest))?;
                put_key(owner, &damaged(FileKey::of(row.device, row.inode, row.generation, row.incarnation))?, &mut key);
                key.push(kind);
                put_ordered(row.start, &mut key);
            }
            sorter.push(&key, |bytes| bytes.extend_from_slice(rest)).map_err(AttributionError::Temporary)?;
        }
        sorter.finish().map_err(AttributionError::Temporary)
    }

    /// Adds up and writes `task_io`, `task_totals` and `logical_task_totals`.
    ///
    /// # Errors
    /// When a temporary file cannot be read or written, or the dataset cannot be written.
    pub fn write(
        self,
        resolved: &ResolvedOwners,
        names: &LastNames,
        (hosts, entities): (&[String], &Entities),
        lost: Vec<TaskTotal<'static>>,
        transaction: &mut Transaction<'_>,
    ) -> Result<Written, AttributionError> {
        let sorted = self.by_owner(resolved)?;
        transaction.clear::<TaskIo<'static>>()?;
        let mut rows = Builder::<TaskIo<'static>>::new();
        let mut totals = Totals::new(resolved, hosts, entities);
        let mut written = Written::default();
        let mut summing: Option<Summing> = None;
        let mut walk = sorted.walk().map_err(AttributionError::Temporary)?;
        loop {
            let next = walk.next().map_err(AttributionError::Temporary)?;
            if let Some(done) = summing.take_if(|summing| next.is_none_or(|(key, _)| owner_and_file(key) != summing.key)) {
                let owner = done.owner;
                let row = done.row(resolved, names, hosts, entities);
                totals.add(owner, &row);
                written.out_of_range.check(<TaskIo<'static> as Row>::TABLE, &sums_of_io(&row));
                written.rows += 1;
                rows.push(&row);
                if rows.len() >= ROWS {
                    transaction.append(std::mem::take(&mut rows))?;
                }
            }
            let Some((key, record)) = next else { break };
            let owner = damaged(owner_of_key(key))?;
            let kind = *damaged(key.get(owner_and_file(key).len()))?;
            if kind == SUMS {
                let row = damaged(OwnerAccess::take(record))?;
                let file = damaged(file_of_access(&row))?;
                let summing = summing.get_or_insert_with(|| Summing::new(owner_and_file(key).to_vec(), owner, file));
                damaged(summing.take(&row))?;
            } else {
                let row = damaged(AccessRange::take(record))?;
                // Ranges are of accesses, which come before them.
                let summing = damaged(summing.as_mut())?;
                if row.written { &mut summing.write } else { &mut summing.read }.add(vec![(row.start, row.end)]);
            }
        }
        transaction.append(rows)?;
        totals.write(lost, transaction, &mut written)?;
        Ok(written)
    }
}

fn file_of_access(row: &OwnerAccess<'_>) -> Option<FileKey> {
    FileKey::of(row.device, row.inode, row.generation, row.incarnation)
}

/// Numbers of rows and bytes written to the tables of sums.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Written {
    /// Number of rows of `task_io`.
    pub rows: u64,
    /// Number of tasks that have rows.
    pub tasks: u64,
    /// Bytes read and written by owners.
    pub assigned: (i64, i64),
    /// Unassigned bytes read and written, by reason.
    pub unassigned: BTreeMap<String, (i64, i64)>,
    /// Rows of derived tables with a sum that does not fit.
    pub out_of_range: OutOfRange,
}

/// Returns the values of a row of `task_io` that are summed.
fn sums_of_io(row: &TaskIo<'_>) -> [i64; 13] {
    [
        row.opens,
        row.read_calls,
        row.write_calls,
        row.read_bytes,
        row.written_bytes,
        row.unique_read_bytes.unwrap_or(0),
        row.unique_written_bytes.unwrap_or(0),
        row.read_time_ns,
        row.write_time_ns,
        row.faults,
        row.mappings,
        row.mapped_bytes.unwrap_or(0),
        row.faulted_bytes.unwrap_or(0),
    ]
}

/// Returns the values of a row of `task_totals` that are summed.
fn sums_of_total(row: &TaskTotal<'_>) -> [i64; 14] {
    [
        row.opens,
        row.read_calls,
        row.write_calls,
        row.errors,
        row.read_bytes,
        row.written_bytes,
        row.unique_read_bytes.unwrap_or(0),
        row.unique_written_bytes.unwrap_or(0),
        row.read_time_ns,
        row.write_time_ns,
        row.utime_ns.unwrap_or(0),
        row.stime_ns.unwrap_or(0),
        row.run_delay_ns.unwrap_or(0),
        row.lost,
    ]
}

fn put_chunk(chunk: &[Range], bytes: &mut Vec<u8>) {
    let mut at = 0;
    for (start, end) in chunk {
        // Offsets as far apart as there can be wrap around, and back.
        put(start.wrapping_sub(at), bytes);
        put(end.wrapping_sub(*start), bytes);
        at = *end;
    }
}

fn first_of_chunk(mut bytes: &[u8]) -> Option<i64> {
    take(&mut bytes)
}

fn take_chunk(bytes: &mut &[u8]) -> Option<Vec<Range>> {
    let (mut ranges, mut at) = (Vec::new(), 0i64);
    while !bytes.is_empty() {
        let start = at.wrapping_add(take(bytes)?);
        at = start.wrapping_add(take(bytes)?);
        ranges.push((start, at));
    }
    Some(ranges)
}

/// One row of `task_io` while it is summed up.
struct Summing {
    key: Vec<u8>,
    owner: u32,
    file: FileKey,
    access: Access,
    processes: i64,
    file_system: Option<String>,
    /// The path by which the file was known first, and its place among those of the host.
    path: Option<(i64, String)>,
    /// Extents, where they are final.
    read_extent: Option<Extent>,
    write_extent: Option<Extent>,
    read: Union,
    write: Union,
}

impl Summing {
    fn new(key: Vec<u8>, owner: u32, file: FileKey) -> Self {
        Self {
            key,
            owner,
            file,
            access: Access::default(),
            processes: 0,
            file_system: None,
            path: None,
            read_extent: None,
            write_extent: None,
            read: Union::default(),
            write: Union::default(),
        }
    }

    fn take(&mut self, row: &OwnerAccess<'_>) -> Option<()> {
        self.access.add(&Access::of_partial(row)?);
        self.processes += row.processes;
        self.file_system = self.file_system.take().or(row.file_system.as_deref().map(str::to_owned));
        if let (Some(at), Some(path)) = (row.known_path_at, row.known_path.as_deref())
            && self.path.as_ref().is_none_or(|(known, _)| at < *known)
        {
            self.path = Some((at, path.to_owned()));
        }
        let extent = |bytes: Option<i64>, ranges: Option<i64>| bytes.zip(ranges).map(|(bytes, ranges)| Extent { ranges, bytes });
        self.read_extent = extent(row.unique_read_bytes, row.read_ranges);
        self.write_extent = extent(row.unique_written_bytes, row.written_ranges);
        Some(())
    }

    fn row(self, resolved: &ResolvedOwners, names: &LastNames, hosts: &[String], entities: &Entities) -> TaskIo<'static> {
        let owner = &resolved.all[self.owner as usize];
        let mut row = io_row(owner, resolved.uid(self.owner), entities);
        self.access.fill(&mut row);
        row.host = hosts[owner.host as usize].clone().into();
        row.device = FileKey::told(self.file.device);
        row.inode = FileKey::told(self.file.inode);
        row.generation = FileKey::told(self.file.generation);
        row.incarnation = self.file.incarnation.into();
        row.file_system = self.file_system.map(Into::into);
        let opened = row.path.take().map(std::borrow::Cow::into_owned).or(self.path.map(|(_, path)| path));
        let (path, earlier) = names.of(owner.host, self.file, opened);
        (row.path, row.earlier_paths) = (path.map(Into::into), earlier.map(Into::into));
        row.processes = self.processes;
        let exact = |transfers: &Option<Box<crate::access::Transfers>>, extent: Extent| match transfers {
            Some(transfers) if transfers.inexact => (None, None),
            _ => (Some(extent.bytes), Some(extent.ranges)),
        };
        (row.unique_read_bytes, row.read_ranges) = exact(&self.access.read, self.read_extent.unwrap_or_else(|| self.read.finish()));
        (row.unique_written_bytes, row.written_ranges) =
            exact(&self.access.write, self.write_extent.unwrap_or_else(|| self.write.finish()));
        let time = resolved.time(self.owner, entities).time_ns.filter(|time| *time > 0);
        row.access_share = self.access.span().zip(time).map(|((first, last), time)| last.saturating_sub(first) as f64 / time as f64);
        row
    }
}

/// The sums of each owner, which become the rows of `task_totals`.
struct Totals<'a> {
    resolved: &'a ResolvedOwners,
    hosts: &'a [String],
    entities: &'a Entities,
    sums: Vec<OwnerSums>,
}

/// The sums of an owner over all files: there can be a million owners.
#[derive(Debug, Clone, Copy)]
struct OwnerSums {
    files: i64,
    opens: i64,
    read_calls: i64,
    write_calls: i64,
    errors: i64,
    read_bytes: i64,
    written_bytes: i64,
    read_time_ns: i64,
    write_time_ns: i64,
    unique_read_bytes: Option<i64>,
    unique_written_bytes: Option<i64>,
    first_ns: Option<i64>,
    last_ns: Option<i64>,
}

impl OwnerSums {
    const NONE: Self = Self {
        files: 0,
        opens: 0,
        read_calls: 0,
        write_calls: 0,
        errors: 0,
        read_bytes: 0,
        written_bytes: 0,
        read_time_ns: 0,
        write_time_ns: 0,
        unique_read_bytes: Some(0),
        unique_written_bytes: Some(0),
        first_ns: None,
        last_ns: None,
    };

    fn add(&mut self, row: &TaskIo<'_>) {
        self.files += i64::from(row.read_calls > row.read_errors || row.write_calls > row.write_errors);
        for (sum, more) in [
            (&mut self.opens, row.opens),
            (&mut self.read_calls, row.read_calls),
            (&mut self.write_calls, row.write_calls),
            (&mut self.errors, flowmine_sums::add(row.read_errors, row.write_errors)),
            (&mut self.read_bytes, row.read_bytes),
            (&mut self.written_bytes, row.written_bytes),
            (&mut self.read_time_ns, row.read_time_ns),
            (&mut self.write_time_ns, row.write_time_ns),
        ] {
            flowmine_sums::add_to(sum, more);
        }
        let sum = |a: Option<i64>, b: Option<i64>| a.zip(b).map(|(a, b)| flowmine_sums::add(a, b));
        self.unique_read_bytes = sum(self.unique_read_bytes, row.unique_read_bytes);
        self.unique_written_bytes = sum(self.unique_written_bytes, row.unique_written_bytes);
        self.first_ns = [self.first_ns, row.first_read_ns, row.first_write_ns].into_iter().flatten().min();
        self.last_ns = self.last_ns.max(row.last_read_ns).max(row.last_write_ns);
    }
}

impl<'a> Totals<'a> {
    fn new(resolved: &'a ResolvedOwners, hosts: &'a [String], entities: &'a Entities) -> Self {
        Self { resolved, hosts, entities, sums: vec![OwnerSums::NONE; resolved.all.len()] }
    }

    fn add(&mut self, owner: u32, row: &TaskIo<'_>) {
        self.sums[owner as usize].add(row);
    }

    /// The row of an owner.
    fn row(&self, number: u32) -> TaskTotal<'static> {
        let owner = &self.resolved.all[number as usize];
        let of_processes = &self.resolved.sums[number as usize];
        let of_files = &self.sums[number as usize];
        let Time { started_ns, ended_ns, time_ns, source } = self.resolved.time(number, self.entities);
        TaskTotal {
            host: self.hosts[owner.host as usize].clone().into(),
            processes: of_processes.processes,
            started_ns,
            ended_ns,
            time_ns,
            time_source: source.map(Into::into),
            utime_ns: of_processes.utime_ns,
            stime_ns: of_processes.stime_ns,
            run_delay_ns: of_processes.run_delay_ns,
            files: of_files.files,
            opens: of_files.opens,
            read_calls: of_files.read_calls,
            write_calls: of_files.write_calls,
            errors: of_files.errors,
            read_bytes: of_files.read_bytes,
            written_bytes: of_files.written_bytes,
            read_time_ns: of_files.read_time_ns,
            write_time_ns: of_files.write_time_ns,
            unique_read_bytes: of_files.unique_read_bytes,
            unique_written_bytes: of_files.unique_written_bytes,
            first_ns: of_files.first_ns,
            last_ns: of_files.last_ns,
            ..total_row(owner, self.resolved.uid(number), self.entities)
        }
    }

    fn write(
        self,
        lost: Vec<TaskTotal<'static>>,
        transaction: &mut Transaction<'_>,
        written: &mut Written,
    ) -> Result<(), AttributionError> {
        transaction.clear::<TaskTotal<'static>>()?;
        let mut rows = Builder::<TaskTotal<'static>>::new();
        for row in (0..self.sums.len()).map(|number| self.row(number as u32)).chain(lost) {
            rows.push(&row);
            written.out_of_range.check(<TaskTotal<'static> as Row>::TABLE, &sums_of_total(&row));
            let (read, write) = match &row.unassigned {
                None => (&mut written.assigned.0, &mut written.assigned.1),
                Some(reason) => {
                    let sums = written.unassigned.entry(reason.to_string()).or_default();
                    (&mut sums.0, &mut sums.1)
                }
            };
            flowmine_sums::add_to(read, row.read_bytes);
            flowmine_sums::add_to(write, row.written_bytes);
            if rows.len() >= TOTAL_ROWS {
                transaction.append(std::mem::take(&mut rows))?;
            }
        }
        transaction.append(rows)?;
        let logical = self.logical();
        written.tasks = logical.iter().map(|row| row.instances as u64).sum();
        let mut rows = Builder::<LogicalTaskTotal<'static>>::new();
        for row in &logical {
            rows.push(row);
            let sums = [row.read_bytes, row.written_bytes, row.time_ns.unwrap_or(0), row.io_time_ns];
            written.out_of_range.check(<LogicalTaskTotal<'static> as Row>::TABLE, &sums);
        }
        transaction.replace(rows)?;
        Ok(())
    }

    /// The sums of logical tasks.
    fn logical(&self) -> Vec<LogicalTaskTotal<'static>> {
        #[derive(Default)]
        struct Instance {
            read: i64,
            written: i64,
            time: Option<i64>,
            io_time: i64,
        }
        let mut instances: BTreeMap<u32, Instance> = BTreeMap::new();
        for (number, (owner, row)) in (0..).zip(self.resolved.all.iter().zip(&self.sums)) {
            let Some(task) = owner.task else { continue };
            let instance = instances.entry(task).or_default();
            flowmine_sums::add_to(&mut instance.read, row.read_bytes);
            flowmine_sums::add_to(&mut instance.written, row.written_bytes);
            flowmine_sums::add_to(&mut instance.io_time, flowmine_sums::add(row.read_time_ns, row.write_time_ns));
            // The engine's value is the same in each row; of the hosts' values the longest is used.
            instance.time = instance.time.max(self.resolved.time(number, self.entities).time_ns);
        }
        let mut logical: BTreeMap<LogicalTask<'_>, Vec<&Instance>> = BTreeMap::new();
        for (task, instance) in &instances {
            let task = self.entities.tasks.get(*task);
            logical.entry((&task.engine, &task.run_name, &task.run_id, &task.logical_task)).or_default().push(instance);
        }
        let row = |(name, instances): (LogicalTask<'_>, Vec<&Instance>)| {
            let (engine, run_name, run_id, logical_task) = name;
            let read = Spread::new(instances.iter().map(|instance| instance.read));
            let written = Spread::new(instances.iter().map(|instance| instance.written));
            let time = Some(Spread::new(instances.iter().filter_map(|instance| instance.time))).filter(|spread| spread.count > 0);
            LogicalTaskTotal {
                engine: engine.clone().into(),
                run_id: run_id.clone().map(Into::into),
                run_name: run_name.clone().map(Into::into),
                logical_task: logical_task.clone().into(),
                instances: instances.len() as i64,
                read_bytes: read.sum,
                read_bytes_min: read.quantiles[0],
                read_bytes_q1: read.quantiles[1],
                read_bytes_median: read.quantiles[2],
                read_bytes_q3: read.quantiles[3],
                read_bytes_max: read.quantiles[4],
                read_bytes_sd: read.sd,
                written_bytes: written.sum,
                written_bytes_min: written.quantiles[0],
                written_bytes_q1: written.quantiles[1],
                written_bytes_median: written.quantiles[2],
                written_bytes_q3: written.quantiles[3],
                written_bytes_max: written.quantiles[4],
                written_bytes_sd: written.sd,
                time_ns: time.map(|spread| spread.sum),
                time_min_ns: time.map(|spread| spread.quantiles[0]),
                time_q1_ns: time.map(|spread| spread.quantiles[1]),
                time_median_ns: time.map(|spread| spread.quantiles[2]),
                time_q3_ns: time.map(|spread| spread.quantiles[3]),
                time_max_ns: time.map(|spread| spread.quantiles[4]),
                time_sd_ns: time.map(|spread| spread.sd),
                io_time_ns: flowmine_sums::total(instances.iter().map(|instance| instance.io_time)),
                ..LogicalTaskTotal::default()
            }
        };
        logical.into_iter().map(row).collect()
    }
}

/// Engine, name and id of the run, logical task.
type LogicalTask<'e> = (&'e String, &'e Option<String>, &'e Option<String>, &'e String);

/// Sum, least, quartiles, most and standard deviation of numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Spread {
    count: usize,
    sum: i64,
    quantiles: [i64; 5],
    sd: f64,
}

impl Spread {
    fn new(values: impl Iterator<Item = i64>) -> Self {
        let mut values: Vec<i64> = values.collect();
        values.sort_unstable();
        let Some(last) = values.len().checked_sub(1) else { return Self::default() };
        let count = values.len();
        // The smallest value that at least this number of quarters of all values do not exceed.
        let quantile = |quarters: usize| values[(count * quarters).div_ceil(4).saturating_sub(1).min(last)];
        let mean = values.iter().map(|value| *value as f64).sum::<f64>() / count as f64;
        let variance = values.iter().map(|value| (*value as f64 - mean).powi(2)).sum::<f64>() / count as f64;
        let sum = flowmine_sums::total(values.iter().copied());
        Self { count, sum, quantiles: [values[0], quantile(1), quantile(2), quantile(3), values[last]], sd: variance.sqrt() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_are_values() {
        let spread = Spread::new([7, 1, 3, 5].into_iter());
        assert_eq!((spread.sum, spread.quantiles, spread.count), (16, [1, 1, 3, 5, 7], 4));
        assert!((spread.sd - 5f64.sqrt()).abs() < 1e-12);
        assert_eq!(Spread::new([4].into_iter()).quantiles, [4; 5]);
        assert_eq!(Spread::new(std::iter::empty()), Spread::default());
    }

    #[test]
    fn chunks() {
        let far = [(i64::MIN, -7), (-5, i64::MAX - 2), (i64::MAX - 1, i64::MAX)];
        for ranges in [[(0, 5), (9, 10), (1 << 40, (1 << 40) + 1)], far] {
            let mut bytes = Vec::new();
            put_chunk(&ranges, &mut bytes);
            assert_eq!(first_of_chunk(&bytes), Some(ranges[0].0));
            assert_eq!(take_chunk(&mut bytes.as_slice()).unwrap(), ranges);
        }
    }
}

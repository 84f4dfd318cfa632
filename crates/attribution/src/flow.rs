//! Data flow between writers and readers: versions of files, and the table `data_flow`.
//!
//! In go the steps of files ([`crate::files`]), spilled with their order; they come back file by
//! file. A new version of a file begins with the first write after an owner who is not its only
//! writer has read it. Phases of owners follow from the order of their writes and first reads,
//! which is sorted once more by owner. Of all this memory holds one file's version, and four bytes
//! for each writer and reader of a version.
//!
//! Files of network file systems are the same on several hosts when type, inode number and
//! generation are, and they were seen under one path.

use flowmine_dataset::{Builder, Transaction};
use flowmine_schema::Record;
use flowmine_schema::tables::DataFlow;
use flowmine_spill::{Sorter, put_ordered, put_ordered_text};
use rustc_hash::FxHashMap;

use crate::AttributionError;
use crate::bytes::{damaged, put_text, put_unsigned, take_text, take_unsigned};
use crate::entities::Entities;
use crate::files::{File, FileKey, Order, Step};
use crate::listener::Listener;
use crate::out_of_range::OutOfRange;
use crate::owners::{Owner, ResolvedOwners};
use crate::partial::Tables;
use crate::partial::tables::{FileStep, names};

/// Rows that are written at once.
const ROWS: usize = 1 << 15;

const HEADER: u8 = 0;
const STEP: u8 = 1;
const NAME: u8 = 2;
/// Length of a place in the order within a key.
const ORDER: usize = 16;

/// A row of a host's partial result about a file, without what happened to it.
fn row_of<'r>(kind: u8, file: &File, shared: Option<&'r str>, at: Order) -> FileStep<'r> {
    FileStep {
        kind: kind.into(),
        shared: shared.map(Into::into),
        device: FileKey::told(file.key.device),
        inode: FileKey::told(file.key.inode),
        generation: FileKey::told(file.key.generation),
        incarnation: file.key.incarnation.into(),
        at_ns: at.0,
        at: at.1 as i64,
        ..FileStep::default()
    }
}

/// Puts the steps of an epoch of a file into a host's partial result.
///
/// # Errors
/// When the temporary file cannot be written.
pub fn put_steps(file: &File, shared: Option<&str>, epoch: Order, steps: &[Step], tables: &mut Tables) -> Result<(), AttributionError> {
    for step in steps {
        let row = FileStep {
            process: Some(step.process.into()),
            truncated: step.truncated,
            created: step.created,
            written_bytes: step.written,
            first_write_ns: step.first_write_ns,
            last_write_ns: step.last_write_ns,
            read_bytes: step.read,
            first_read_ns: step.first_read_ns,
            last_read_ns: step.last_read_ns,
            first_write_at_ns: step.first_write_at.0,
            first_write_at: step.first_write_at.1 as i64,
            last_write_at_ns: step.last_write_at.0,
            last_write_at: step.last_write_at.1 as i64,
            first_read_at_ns: step.first_read_at.0,
            first_read_at: step.first_read_at.1 as i64,
            ..row_of(STEP, file, shared, epoch)
        };
        tables.push(names::STEPS, &row)?;
    }
    Ok(())
}

/// Puts the last name of a file, which a process gave to it, into a host's partial result.
///
/// # Errors
/// When the temporary file cannot be written.
pub fn put_name(file: &File, shared: Option<&str>, at: Order, tables: &mut Tables) -> Result<(), AttributionError> {
    tables.push(names::STEPS, &FileStep { path: file.names.last().map(Into::into), ..row_of(NAME, file, shared, at) })
}

/// Puts the known properties of a file into a host's partial result.
///
/// # Errors
/// When the temporary file cannot be written.
pub fn put_header(file: &File, shared: Option<&str>, tables: &mut Tables) -> Result<(), AttributionError> {
    let numbers: Vec<String> = file.paths.iter().map(|path| format!("{path:x}")).collect();
    let row = FileStep {
        path: file.names.first().map(Into::into),
        path_numbers: (!numbers.is_empty()).then(|| numbers.join(" ").into()),
        ..row_of(HEADER, file, shared, (i64::MIN, 0))
    };
    tables.push(names::STEPS, &row)
}

/// The steps of all files of all hosts, spilled.
#[derive(Default)]
pub struct Steps {
    sorter: Sorter,
    key: Vec<u8>,
}

/// A host whose steps are added, and what its numbers are among those of all hosts.
pub struct StepsOf<'h> {
    /// The host's number.
    pub host: u32,
    /// Number of operations of the hosts before it.
    pub operations_before: u64,
    /// The owner of each of its processes, by the number that the owner has among all.
    pub owner_of: &'h [u32],
}

impl Steps {
    /// Takes a row of a host's partial result; false if it refers to nothing.
    ///
    /// # Errors
    /// When the temporary file cannot be written.
    pub fn put(&mut self, of: &StepsOf<'_>, row: &FileStep<'_>) -> Result<bool, AttributionError> {
        let Some(key) = FileKey::of(row.device, row.inode, row.generation, row.incarnation) else { return Ok(false) };
        // Operations are counted from 1: 0 is none.
        let order = |ns: i64, at: i64| (ns, if at == 0 { 0 } else { (at as u64).saturating_add(of.operations_before) });
        let mut bytes = Vec::new();
        match u8::try_from(row.kind) {
            Ok(HEADER) => {
                put_text(row.path.as_deref(), &mut bytes);
                let numbers: Option<Vec<u64>> = row
                    .path_numbers
                    .as_deref()
                    .map_or(Some(Vec::new()), |text| text.split(' ').map(|number| u64::from_str_radix(number, 16).ok()).collect());
                let Some(numbers) = numbers else { return Ok(false) };
                put_unsigned(numbers.len() as u64, &mut bytes);
                numbers.into_iter().for_each(|number| put_unsigned(number, &mut bytes));
            }
            Ok(NAME) if row.path.is_some() => put_text(row.path.as_deref(), &mut bytes),
            Ok(STEP) => {
                let process = row.process.and_then(|process| usize::try_from(process).ok());
                let Some(owner) = process.and_then(|process| of.owner_of.get(process)) else { return Ok(false) };
                let step = Step {
                    process: *owner,
                    truncated: row.truncated,
                    created: row.created,
                    written: row.written_bytes,
                    first_write_ns: row.first_write_ns,
                    last_write_ns: row.last_write_ns,
                    read: row.read_bytes,
                    first_read_ns: row.first_read_ns,
                    last_read_ns: row.last_read_ns,
                    first_write_at: order(row.first_write_at_ns, row.first_write_at),
                    last_write_at: order(row.last_write_at_ns, row.last_write_at),
                    first_read_at: order(row.first_read_at_ns, row.first_read_at),
                };
                step.put(&mut bytes);
            }
            _ => return Ok(false),
        }
        self.place(of.host, &key, row.shared.as_deref(), order(row.at_ns, row.at));
        let put = self.sorter.push(&self.key, |record| {
            record.push(row.kind as u8);
            put_unsigned(of.host.into(), record);
            key.put(record);
            record.extend_from_slice(&bytes);
        });
        put.map_err(AttributionError::Temporary).map(|()| true)
    }

    /// Files that may be the same on several hosts are sorted next to each other.
    fn place(&mut self, host: u32, file: &FileKey, shared: Option<&str>, order: Order) {
        self.key.clear();
        match shared {
            None => {
                self.key.push(0);
                self.key.extend_from_slice(&host.to_be_bytes());
                file.put_ordered(&mut self.key);
            }
            Some(file_system) => {
                self.key.push(1);
                put_ordered_text(file_system, &mut self.key);
                FileKey { device: 0, ..*file }.put_ordered(&mut self.key);
            }
        }
        put_ordered(order.0, &mut self.key);
        self.key.extend_from_slice(&order.1.to_be_bytes());
    }

    /// Writes the table, and gives each row to the listener. Gives the number of rows.
    ///
    /// # Errors
    /// When a temporary file cannot be read or written, or the dataset cannot be written, or what
    /// the listener returns.
    pub fn write(
        self,
        context: &Context<'_>,
        transaction: &mut Transaction<'_>,
        listener: &mut dyn Listener,
        out_of_range: &mut OutOfRange,
    ) -> Result<u64, AttributionError> {
        let sorted = self.sorter.finish().map_err(AttributionError::Temporary)?;
        let mut walk = sorted.walk().map_err(AttributionError::Temporary)?;
        let mut flows = Flows::default();
        let mut of_file: Vec<u8> = Vec::new();
        let mut copies = Copies::default();
        loop {
            let next = walk.next().map_err(AttributionError::Temporary)?;
            let file = next.map(|(key, _)| &key[..key.len().saturating_sub(ORDER)]);
            if file != Some(&of_file) {
                std::mem::take(&mut copies).finish(&mut flows, context)?;
                of_file = file.unwrap_or_default().to_vec();
            }
            let Some((key, record)) = next else { break };
            damaged(copies.take(key, record, context, &mut flows))??;
        }
        flows.write(transaction, listener, out_of_range)
    }
}

/// What the rows of `data_flow` need in addition to the steps of files.
pub struct Context<'a> {
    /// The owners of the processes.
    pub resolved: &'a ResolvedOwners,
    /// Names of the hosts, by their numbers.
    pub hosts: &'a [String],
    /// Maximum error of the clock of each host, in nanoseconds.
    pub clock_doubts: &'a [i64],
    /// The tasks and jobs of which owners are made.
    pub entities: &'a Entities,
}

/// Files with the same numbers, which may be one file on several hosts.
#[derive(Default)]
struct Copies {
    files: Vec<OneFile>,
    /// Place in `files`, by a host's number and the file's numbers there.
    of: FxHashMap<(u32, FileKey), usize>,
    by_path: FxHashMap<u64, usize>,
}

/// A file and its present version.
#[derive(Default)]
struct OneFile {
    host: u32,
    hosts: Vec<u32>,
    key: Option<FileKey>,
    path: Option<String>,
    /// Names before `path`, in their order.
    earlier: Vec<String>,
    version: i64,
    origin: Option<&'static str>,
    writers: Parts,
    readers: Parts,
    epoch: Vec<u8>,
    /// Steps of one epoch: first its writes, then its reads.
    steps: Vec<(u32, Step)>,
    /// Place of the file into which this one was merged.
    into: Option<usize>,
}

/// Use of a version by an owner.
#[derive(Debug, Clone, Copy)]
struct VersionUse {
    owner: u32,
    bytes: i64,
    first_ns: Option<i64>,
    last_ns: Option<i64>,
    first_at: Order,
    last_at: Order,
}

/// Uses of a version by owners, in the order of the first use.
#[derive(Debug, Default)]
struct Parts {
    all: Vec<VersionUse>,
    of: FxHashMap<u32, usize>,
}

impl Parts {
    /// Adds a use to the earlier ones of the same owner.
    fn add(&mut self, more: VersionUse) {
        let at = *self.of.entry(more.owner).or_insert(self.all.len());
        let Some(part) = self.all.get_mut(at) else { return self.all.push(more) };
        flowmine_sums::add_to(&mut part.bytes, more.bytes);
        part.first_ns = [part.first_ns, more.first_ns].into_iter().flatten().min();
        part.first_at = part.first_at.min(more.first_at);
        part.last_ns = part.last_ns.max(more.last_ns);
        part.last_at = part.last_at.max(more.last_at);
    }
}

impl Copies {
    fn take(&mut self, key: &[u8], mut record: &[u8], context: &Context<'_>, flows: &mut Flows) -> Option<Result<(), AttributionError>> {
        let kind = crate::bytes::take_byte(&mut record)?;
        let host = take_unsigned(&mut record)? as u32;
        let file = FileKey::take(&mut record)?;
        let at = self.file(host, file);
        if kind == HEADER {
            let path = take_text(&mut record)?.map(str::to_owned);
            self.files[at].path = self.files[at].path.take().or(path);
            for _ in 0..take_unsigned(&mut record)? {
                let path = take_unsigned(&mut record)?;
                match self.by_path.get(&path).copied() {
                    Some(other) => self.join(other, at),
                    None => drop(self.by_path.insert(path, at)),
                }
            }
            return Some(Ok(()));
        }
        if kind == NAME {
            return self.named(at, record).map(Ok);
        }
        let step = Step::take(&mut record)?;
        let owner = *context.resolved.of.get(step.process as usize)?;
        let at = self.top(at);
        let file = &mut self.files[at];
        let epoch = &key[key.len().saturating_sub(ORDER)..];
        if file.epoch != epoch {
            if let Err(error) = file.end_epoch(context, flows) {
                return Some(Err(error));
            }
            file.epoch = epoch.to_vec();
        }
        if !file.hosts.contains(&host) {
            file.hosts.push(host);
        }
        file.steps.push((owner, step));
        Some(Ok(()))
    }

    fn named(&mut self, at: usize, mut record: &[u8]) -> Option<()> {
        let name = take_text(&mut record)??.to_owned();
        let at = self.top(at);
        self.files[at].rename(name);
        Some(())
    }

    fn file(&mut self, host: u32, key: FileKey) -> usize {
        let files = &mut self.files;
        *self.of.entry((host, key)).or_insert_with(|| {
            files.push(OneFile { host, key: Some(key), ..OneFile::default() });
            files.len() - 1
        })
    }

    fn top(&self, mut at: usize) -> usize {
        while let Some(into) = self.files[at].into {
            at = into;
        }
        at
    }

    /// Two hosts' files are one. Headers come before steps, so that nothing has happened to them
    /// yet.
    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.top(a), self.top(b));
        if a != b {
            self.files[a.max(b)].into = Some(a.min(b));
        }
    }

    fn finish(self, flows: &mut Flows, context: &Context<'_>) -> Result<(), AttributionError> {
        for mut file in self.files {
            file.end_epoch(context, flows)?;
            file.end_version(context, flows)?;
        }
        Ok(())
    }
}

impl OneFile {
    /// The file gets another name; its versions go on.
    fn rename(&mut self, name: String) {
        if let Some(before) = self.path.replace(name).filter(|before| Some(before) != self.path.as_ref()) {
            self.earlier.retain(|known| *known != before && Some(known) != self.path.as_ref());
            self.earlier.push(before);
        }
    }

    fn end_epoch(&mut self, context: &Context<'_>, flows: &mut Flows) -> Result<(), AttributionError> {
        let steps = std::mem::take(&mut self.steps);
        let mut writes = steps.iter().filter(|(_, step)| step.first_write_ns.is_some()).peekable();
        if writes.peek().is_some() {
            let only_writer = if let [writer] = self.writers.all[..] { Some(writer.owner) } else { None };
            // What only its writer has read, its writer can go on to write.
            let by_others = self.readers.all.iter().any(|reader| Some(reader.owner) != only_writer)
                || (!self.readers.all.is_empty() && writes.clone().any(|(owner, _)| Some(*owner) != only_writer));
            if self.version == 0 || by_others {
                self.end_version(context, flows)?;
                self.version += 1;
                let origin = |(_, step): &(u32, Step)| match () {
                    () if step.created => Some("created"),
                    () if step.truncated => Some("truncated"),
                    () => None,
                };
                self.origin = Some(writes.clone().find_map(origin).unwrap_or("changed"));
            }
        }
        for (owner, step) in writes {
            self.writers.add(VersionUse {
                owner: *owner,
                bytes: step.written,
                first_ns: step.first_write_ns,
                last_ns: step.last_write_ns,
                first_at: step.first_write_at,
                last_at: step.last_write_at,
            });
        }
        for (owner, step) in steps.iter().filter(|(_, step)| step.first_read_ns.is_some()) {
            self.readers.add(VersionUse {
                owner: *owner,
                bytes: step.read,
                first_ns: step.first_read_ns,
                last_ns: step.last_read_ns,
                first_at: step.first_read_at,
                last_at: step.first_read_at,
            });
        }
        Ok(())
    }

    fn end_version(&mut self, context: &Context<'_>, flows: &mut Flows) -> Result<(), AttributionError> {
        let (writers, readers) = (std::mem::take(&mut self.writers).all, std::mem::take(&mut self.readers).all);
        let somebody = |part: &VersionUse| context.resolved.all[part.owner as usize].is_somebody();
        if !writers.iter().chain(&readers).any(somebody) {
            return Ok(());
        }
        // Versions from before the trace have a row only if they were read.
        let readers: Vec<VersionUse> = readers.into_iter().filter(|reader| !writers.is_empty() || somebody(reader)).collect();
        let writers: Vec<(u64, VersionUse)> =
            writers.into_iter().map(|part| Ok((flows.part(&part, UseKind::Write)?, part))).collect::<Result<_, AttributionError>>()?;
        let did = if writers.is_empty() { UseKind::Look } else { UseKind::Read };
        let only_writer = if let [(_, writer)] = writers[..] { Some(writer.owner) } else { None };
        let readers: Vec<(u64, VersionUse)> = readers
            .into_iter()
            .map(|part| {
                let own = only_writer == Some(part.owner);
                Ok((if own { flows.unordered() } else { flows.part(&part, did)? }, part))
            })
            .collect::<Result<_, AttributionError>>()?;
        let none = [None];
        let each = |parts: &[(u64, VersionUse)]| -> Vec<Option<(u64, VersionUse)>> {
            if parts.is_empty() { none.to_vec() } else { parts.iter().map(|part| Some(*part)).collect() }
        };
        for writer in each(&writers) {
            for reader in each(&readers) {
                let row = self.row(writer.map(|(_, part)| part), reader.map(|(_, part)| part), context);
                flows.row(writer.map(|(id, _)| id), reader.map(|(id, _)| id), &row)?;
            }
        }
        Ok(())
    }

    fn row<'c>(&self, writer: Option<VersionUse>, reader: Option<VersionUse>, context: &Context<'c>) -> DataFlow<'c> {
        let name = |part: Option<VersionUse>| part.map(|part| name(&context.resolved.all[part.owner as usize], context));
        let told = |number: fn(&FileKey) -> i64| self.key.as_ref().map(number).and_then(FileKey::told);
        let alone = self.hosts.len() < 2;
        let host_of = |part: &VersionUse| context.resolved.all[part.owner as usize].host;
        let order_doubtful = match (writer, reader) {
            (Some(writer), Some(reader)) if host_of(&writer) != host_of(&reader) => {
                let gap = reader.first_ns.zip(writer.last_ns).map(|(read, wrote)| read.saturating_sub(wrote));
                gap.is_none_or(|gap| {
                    let doubt = |part: &VersionUse| context.clock_doubts.get(host_of(part) as usize).copied().unwrap_or(i64::MAX);
                    gap < doubt(&writer).saturating_add(doubt(&reader))
                })
            }
            _ => false,
        };
        let (writer_name, reader_name) = (name(writer), name(reader));
        let mut row = DataFlow {
            host: alone.then(|| context.hosts[self.host as usize].as_str().into()),
            device: told(|key| key.device).filter(|_| alone),
            inode: told(|key| key.inode),
            generation: told(|key| key.generation),
            incarnation: self.key.map_or(1, |key| key.incarnation.into()),
            path: self.path.clone().map(Into::into),
            earlier_paths: crate::names::json(&self.earlier).map(Into::into),
            version: self.version,
            origin: self.origin.unwrap_or("before").into(),
            written_bytes: writer.map_or(0, |part| part.bytes),
            first_write_ns: writer.and_then(|part| part.first_ns),
            last_write_ns: writer.and_then(|part| part.last_ns),
            read_bytes: reader.map_or(0, |part| part.bytes),
            first_read_ns: reader.and_then(|part| part.first_ns),
            last_read_ns: reader.and_then(|part| part.last_ns),
            order_doubtful,
            ..DataFlow::default()
        };
        if let Some((kind, scope, id)) = writer_name {
            (row.writer_type, row.writer_scope, row.writer) = (Some(kind.into()), scope.map(Into::into), Some(id.into()));
        }
        if let Some((kind, scope, id)) = reader_name {
            (row.reader_type, row.reader_scope, row.reader) = (Some(kind.into()), scope.map(Into::into), Some(id.into()));
        }
        row
    }
}

/// Type, scope and id of an owner, as in `links`.
fn name<'c>(owner: &Owner, context: &Context<'c>) -> (&'static str, Option<String>, String) {
    let host = || Some(context.hosts[owner.host as usize].clone());
    if let Some(task) = owner.task {
        let task = context.entities.tasks.get(task);
        return ("task", Some(task.engine.clone()), task.key.clone());
    }
    if let Some(job) = &owner.job {
        return ("job", job.cluster.as_ref().map(ToString::to_string), job.job.to_string());
    }
    if let Some(container) = &owner.container {
        return ("container", host(), container.to_string());
    }
    match &owner.pod {
        Some(pod) => ("pod", None, pod.to_string()),
        None => ("unassigned", host(), owner.unassigned.map_or("no-rule", crate::owners::Reason::name).to_owned()),
    }
}

/// Kind of a use of a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum UseKind {
    Write,
    Read,
    /// It read a version from before the trace.
    Look,
}

/// Rows that are kept until the phases of their owners are known.
#[derive(Default)]
struct Flows {
    rows: Sorter,
    count: u64,
    /// Uses with their times, by owner and order.
    moments: Sorter,
    parts: u64,
}

const WRITE_BEGAN: u8 = 1;
const WRITE_ENDED: u8 = 2;
const FIRST_READ: u8 = 0;
/// A version without a writer: it can be part of no cycle.
const LOOK: u8 = 3;
const NOBODY: u64 = u64::MAX;

impl Flows {
    /// An owner's writes to a version, or its first read of one; gives the number by which its
    /// phase is found.
    fn part(&mut self, part: &VersionUse, did: UseKind) -> Result<u64, AttributionError> {
        let number = self.unordered();
        let mut moment = |order: Order, kind: u8| {
            let mut key = part.owner.to_be_bytes().to_vec();
            put_ordered(order.0, &mut key);
            key.extend_from_slice(&order.1.to_be_bytes());
            key.push(kind);
            self.moments.push(&key, |bytes| put_unsigned(number, bytes)).map_err(AttributionError::Temporary)
        };
        match did {
            UseKind::Write => {
                moment(part.first_at, WRITE_BEGAN)?;
                moment(part.last_at, WRITE_ENDED)?;
            }
            UseKind::Read => moment(part.first_at, FIRST_READ)?,
            UseKind::Look => moment(part.first_at, LOOK)?,
        }
        Ok(number)
    }

    /// Returns a number for reads of the reader's own writes: they begin no phase.
    fn unordered(&mut self) -> u64 {
        self.parts += 1;
        self.parts - 1
    }

    fn row(&mut self, writer: Option<u64>, reader: Option<u64>, row: &DataFlow<'_>) -> Result<(), AttributionError> {
        self.count += 1;
        let put = self.rows.push(&self.count.to_be_bytes(), |bytes| {
            [writer, reader].into_iter().for_each(|part| bytes.extend_from_slice(&part.unwrap_or(NOBODY).to_le_bytes()));
            row.put(bytes);
        });
        put.map_err(AttributionError::Temporary)
    }

    /// The phase of each part. A phase ends with the first read of something new after, or while,
    /// its owner writes.
    fn phases(moments: Sorter, parts: u64) -> Result<Vec<u32>, AttributionError> {
        let sorted = moments.finish().map_err(AttributionError::Temporary)?;
        let mut walk = sorted.walk().map_err(AttributionError::Temporary)?;
        let mut phases = vec![u32::MAX; usize::try_from(parts).unwrap_or_default()];
        let (mut owner, mut phase, mut wrote, mut writing) = (None, 0u32, false, 0u64);
        while let Some((key, record)) = walk.next().map_err(AttributionError::Temporary)? {
            let mut rest = record;
            let part = damaged(take_unsigned(&mut rest))? as usize;
            let of = key.first_chunk::<4>().copied();
            if owner != of {
                (owner, phase, wrote, writing) = (of, 0, false, 0);
            }
            match key.last() {
                Some(&WRITE_BEGAN) => {
                    wrote = true;
                    writing += 1;
                }
                Some(&WRITE_ENDED) => {
                    writing = writing.saturating_sub(1);
                    phases[part] = phase;
                }
                Some(&LOOK) => phases[part] = phase,
                _ => {
                    if wrote {
                        phase = phase.saturating_add(1);
                        wrote = writing > 0;
                    }
                    phases[part] = phase;
                }
            }
        }
        Ok(phases)
    }

    fn write(
        self,
        transaction: &mut Transaction<'_>,
        listener: &mut dyn Listener,
        out_of_range: &mut OutOfRange,
    ) -> Result<u64, AttributionError> {
        let phases = Self::phases(self.moments, self.parts)?;
        let phase = |part: [u8; 8]| {
            phases.get(u64::from_le_bytes(part) as usize).filter(|phase| **phase != u32::MAX).map(|phase| i64::from(*phase))
        };
        let sorted = self.rows.finish().map_err(AttributionError::Temporary)?;
        let mut walk = sorted.walk().map_err(AttributionError::Temporary)?;
        transaction.clear::<DataFlow<'static>>()?;
        let mut rows = Builder::<DataFlow<'static>>::new();
        while let Some((_, record)) = walk.next().map_err(AttributionError::Temporary)? {
            let (writer, rest) = damaged(record.split_first_chunk::<8>())?;
            let (reader, rest) = damaged(rest.split_first_chunk::<8>())?;
            let row = damaged(DataFlow::take(rest))?;
            let row = DataFlow { writer_phase: phase(*writer), reader_phase: phase(*reader), ..row };
            listener.flow(&row)?;
            out_of_range.check(<DataFlow<'static> as flowmine_schema::Row>::TABLE, &[row.written_bytes, row.read_bytes]);
            rows.push(&row);
            if rows.len() >= ROWS {
                transaction.append(std::mem::take(&mut rows))?;
            }
        }
        transaction.append(rows)?;
        Ok(self.count)
    }
}

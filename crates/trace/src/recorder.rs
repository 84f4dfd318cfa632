//! Records in, rows in a dataset out: the same for every backend.
//!
//! It keeps what is known of each live process, says each file once, turns times after boot into
//! UTC, and writes what has gathered when [`Options::flush_every`] is over or enough rows are
//! there. Memory holds live processes, open files, a bounded set of file paths and the rows since
//! the last flush.
//!
//! It counts what it received, so that the kernel's count can be compared with it at the end. When
//! the dataset cannot be written any more, the trace goes on without rows, which are counted as
//! lost: the traced program waits for it (`writing.rs`).

mod dated;
mod origin;
mod process_rows;
mod rows;
mod writing;

use std::collections::BTreeMap;
use std::hash::BuildHasher;
use std::path::Path;
use std::time::Instant;

use flowmine_dataset::Writer;
use flowmine_schema::tables::{Clock, Host, IoEvent, IoLoss, IoTotal, TracedFile};
use flowmine_schema::text::decode;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use crate::clock::{self, Reading};
use crate::error::TraceError;
use crate::host::HostFacts;
use crate::limits;
use crate::options::{CommandLines, Detail, Filters, Options};
use crate::record::{FileKey, Loss, Op, OpenFile, Operation, ProcessKey, Record, Totals, is_operation};
use process_rows::Processes;
use writing::{Counts, Gathered, Writing};

/// What a backend says of itself, for the table `hosts`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backend {
    /// Name of the backend: `ebpf`, `fuse` or `ptrace`.
    pub name: &'static str,
    /// The backend's hooks, as in the column `hooks` of `hosts`.
    pub hooks: Option<String>,
    /// The size of its ring in bytes.
    pub ring_bytes: Option<u64>,
}

/// How a trace went, in numbers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outcome {
    /// Operations that arrived, added up ones included, without those of which the rows could not
    /// be written.
    pub received: u64,
    /// Number of rows of `io_events`.
    pub events: u64,
    /// Number of rows of `io_totals`.
    pub totals: u64,
    /// Number of process generations that were seen.
    pub processes: u64,
    /// Records of any kind that were lost, and calls that could not be seen.
    pub lost: u64,
    /// Records that were lost, by the reason of the loss.
    pub lost_by_reason: BTreeMap<&'static str, u64>,
    /// Operations among them, those that cannot be recorded included: with those received they are
    /// what was counted.
    pub lost_operations: u64,
    /// Bytes of these operations, as far as they are known.
    pub lost_bytes: u64,
    /// Operations that the kernel side counted, where it counts.
    pub counted: Option<u64>,
    /// Why the dataset could not be written, the first time that it could not.
    pub not_written: Option<String>,
    /// The trace, as in the column `trace_ns`.
    pub trace_ns: i64,
    /// The process that the command was.
    pub command: Option<u32>,
}

impl Outcome {
    /// What was lost, in words; `None` when nothing was. Operations are counted with those that
    /// arrived, and other records, such as those of processes, for themselves.
    pub fn losses(&self) -> Option<String> {
        if self.lost == 0 {
            return None;
        }
        let operations = self.counted.unwrap_or(self.received.saturating_add(self.lost_operations));
        let others = self.lost.saturating_sub(self.lost_operations);
        let were = |count: u64, one: &str, many: &str| if count == 1 { format!("1 {one} was") } else { format!("{count} {many} were") };
        let records = were(others, "record of processes or open files", "records of processes and open files");
        let bytes = if self.lost_bytes > 0 { format!(", with {} bytes of reads and writes,", self.lost_bytes) } else { String::new() };
        let what = match (self.lost_operations, others) {
            (0, _) => records,
            (1, 0) => format!("1 of {operations} operations{bytes} was"),
            (lost, 0) => format!("{lost} of {operations} operations{bytes} were"),
            (lost, _) => format!("{lost} of {operations} operations{bytes} and {}", records.replace(" was", " were")),
        };
        let reasons: Vec<String> = self.lost_by_reason.iter().map(|(reason, count)| format!("{reason}: {count}")).collect();
        Some(format!("{what} lost ({})", reasons.join(", ")))
    }
}

/// What is kept at most.
struct Most {
    /// Number of rows after which they are written, at any time.
    rows: usize,
    /// Maximum number of pairs of file and path that are remembered as recorded; beyond it they are
    /// recorded again.
    files: usize,
}

const MOST: Most = Most { rows: 1 << 18, files: 1 << 20 };
/// Where memory is limited.
const MOST_OF_LITTLE: Most = Most { rows: 1 << 14, files: 1 << 16 };

/// Reason for rows that could not be written.
const NOT_WRITTEN: &str = "not-written";
/// In the place of a path: that a row of the file has been made.
const TOLD: u64 = 0;

/// Takes the records of one trace.
pub struct Recorder {
    writing: Writing,
    host: HostFacts,
    /// Name of the host, as in the tables.
    name: String,
    trace_ns: i64,
    options: Options,
    backend: Backend,
    command: Option<String>,
    rows: Gathered,
    processes: Processes,
    /// Open files that a filter by directory leaves out.
    left_out: FxHashSet<u64>,
    told_files: FxHashSet<(FileKey, u64)>,
    /// With filters by directory: whether they let a file pass that was opened, by any of its
    /// paths. For page faults, which know no open file.
    wanted_files: FxHashMap<FileKey, bool>,
    gathered: usize,
    most: Most,
    flushed: Instant,
    /// Since when what could not be written was not written.
    unwritten_since: u64,
    outcome: Outcome,
}

impl Recorder {
    /// Begins a trace: a row of `hosts` says so at once, in the dataset. `command` is what was
    /// started, if anything.
    ///
    /// # Errors
    /// When the dataset cannot be written.
    pub fn begin(
        writer: Writer,
        host: HostFacts,
        backend: Backend,
        options: &Options,
        command: Option<&[Vec<u8>]>,
    ) -> Result<Self, TraceError> {
        let reading = clock::pair();
        let name = host.name.clone();
        let trace_ns = reading.boot_ns as i64 + host.boot_offset_ns;
        let mut recorder = Recorder {
            writing: Writing::start(writer, name.clone())?,
            name,
            trace_ns,
            options: options.clone(),
            processes: Processes::new(if backend.name == "ebpf" { 1 } else { 10_000_000 }, options.command_lines),
            backend,
            command: command.map(|words| {
                // That there was a command is recorded in any case: it represents the trace.
                let kept = if options.command_lines == CommandLines::All { CommandLines::All } else { CommandLines::Program };
                rows::json_array(&kept.of(words).0.unwrap_or_default())
            }),
            rows: Gathered::default(),
            left_out: FxHashSet::default(),
            told_files: FxHashSet::default(),
            wanted_files: FxHashMap::default(),
            gathered: 0,
            most: if limits::memory_is_limited() { MOST_OF_LITTLE } else { MOST },
            flushed: Instant::now(),
            unwritten_since: reading.boot_ns,
            outcome: Outcome { trace_ns, ..Outcome::default() },
            host,
        };
        recorder.host_row("began", reading, None);
        recorder.clock_row(reading);
        recorder.flush()?;
        // A dataset that cannot be written at all is reported before anything is traced.
        recorder.writing.drain()?;
        Ok(recorder)
    }

    /// What to add to nanoseconds after boot.
    fn utc(&self, boot_ns: u64) -> i64 {
        (boot_ns as i64).saturating_add(self.host.boot_offset_ns)
    }

    /// Takes one record of a backend.
    ///
    /// # Errors
    /// None at present: what cannot be written is counted.
    pub fn take(&mut self, record: &Record<'_>) -> Result<(), TraceError> {
        match record {
            Record::Operation(operation) => self.operation(operation),
            Record::OpenFile(file) => self.open_file(file),
            Record::FileGone(number) => {
                self.left_out.remove(number);
            }
            Record::Totals(totals) => self.total(totals),
            Record::Process(news) if self.is_of_another(news.facts.uid) => {}
            Record::Process(news) => {
                let at = self.utc(news.at_boot_ns);
                self.gathered += 1;
                self.processes.take(news, at, &self.name, self.trace_ns, self.host.boot_offset_ns);
            }
            Record::Loss(loss) => self.loss(loss),
        }
        if self.gathered >= self.most.rows { self.flush() } else { Ok(()) }
    }

    /// Writes what has gathered when it is time; to be called at least once a second, also when
    /// nothing comes.
    ///
    /// # Errors
    /// None at present, as [`Recorder::take`].
    pub fn tick(&mut self) -> Result<(), TraceError> {
        if self.flushed.elapsed() < self.options.flush_every {
            return Ok(());
        }
        self.clock_row(clock::pair());
        self.flush()
    }

    /// Whether a process is none of ours, where only those of one user are.
    fn is_of_another(&self, uid: Option<u32>) -> bool {
        self.options.only_user.is_some_and(|own| uid.is_some_and(|uid| uid != own))
    }

    fn operation(&mut self, operation: &Operation<'_>) {
        self.outcome.received += 1;
        let opened = operation.op == Op::Open && operation.result == Some(0);
        let mut skipped = match operation.open_file {
            Some(number) if opened => {
                let wanted = self.wanted(operation.file, operation.path);
                if !wanted {
                    self.left_out.insert(number);
                }
                !wanted
            }
            Some(number) => self.left_out.contains(&number),
            None => false,
        };
        if operation.open_file.is_none() && operation.path.is_some() {
            skipped = !wanted_path(&self.options.filters, operation.path)
                && (operation.new_path.is_none() || !wanted_path(&self.options.filters, operation.new_path));
        }
        if skipped || operation.open_file.is_none() && operation.path.is_none() && self.is_elsewhere(operation.file) {
            return;
        }
        let start_ns = self.utc(operation.start_boot_ns);
        if let Some(file) = operation.file
            && (opened || operation.path.is_some())
        {
            self.file_row(file, start_ns, operation);
        }
        self.processes.seen(operation.process, start_ns, &self.name, self.trace_ns, self.host.boot_offset_ns);
        let end_ns = operation.end_boot_ns.map(|end| self.utc(end));
        self.outcome.events += 1;
        self.gathered += 1;
        self.rows.counts.operation(operation.op, 1, operation.result.and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(0));
        let row = IoEvent { host: self.name.as_str().into(), trace_ns: self.trace_ns, start_ns, end_ns, ..rows::io_event(operation) };
        self.rows.events.at(start_ns).push(&row);
    }

    /// Whether the filters by directory let an open file pass, which is remembered of the file.
    fn wanted(&mut self, file: Option<FileKey>, path: Option<&[u8]>) -> bool {
        let filters = &self.options.filters;
        let wanted = wanted_path(filters, path);
        if let Some(file) = file.filter(|_| !filters.directories.is_empty() || !filters.directories_out.is_empty()) {
            if self.wanted_files.len() >= self.most.files {
                self.wanted_files.clear();
            }
            *self.wanted_files.entry(file).or_default() |= wanted;
        }
        wanted
    }

    /// Whether a file was opened, and only by paths that the filters leave out.
    fn is_elsewhere(&self, file: Option<FileKey>) -> bool {
        file.is_some_and(|file| self.wanted_files.get(&file) == Some(&false))
    }

    fn open_file(&mut self, file: &OpenFile<'_>) {
        // One of which no open is known, such as what a child has after its parent closed it, is
        // left out when the file was opened elsewhere only.
        let is_elsewhere = file.path.is_none() && self.is_elsewhere(Some(file.file));
        let wanted = !is_elsewhere && self.wanted(Some(file.file), file.path);
        if let Some(number) = file.open_file.filter(|_| !wanted) {
            self.left_out.insert(number);
            return;
        }
        let operation = Operation {
            kind: file.kind,
            file_system: file.file_system,
            file_size: file.size,
            path: file.path,
            container_path: file.container_path,
            ..Operation::new(ProcessKey { pid: 0, start_boot_ns: 0 }, 0, Op::Open, file.at_boot_ns)
        };
        self.file_row(file.file, self.utc(file.at_boot_ns), &operation);
    }

    fn file_row(&mut self, file: FileKey, first_seen_ns: i64, seen: &Operation<'_>) {
        let paths = FxBuildHasher.hash_one((seen.path, seen.container_path));
        if self.told_files.len() >= self.most.files {
            self.told_files.clear();
        }
        let nothing_known = seen.path.is_none() && seen.container_path.is_none() && seen.kind.is_none() && seen.file_size.is_none();
        // The record of the file itself is kept next to its paths: a row without content would
        // count its bytes twice in a join.
        let first = self.told_files.insert((file, TOLD));
        if (nothing_known && !first) || !self.told_files.insert((file, paths)) {
            return;
        }
        self.gathered += 1;
        let row = TracedFile {
            host: self.name.clone().into(),
            trace_ns: self.trace_ns,
            device: Some(file.device as i64),
            inode: file.inode as i64,
            generation: file.generation.map(i64::from),
            first_seen_ns,
            kind: seen.kind.map(|kind| kind.name().into()),
            file_system: seen.file_system.map(|name| name.to_owned().into()),
            path: seen.path.map(|path| decode(path).into_owned().into()),
            container_path: seen.container_path.map(|path| decode(path).into_owned().into()),
            size_bytes: seen.file_size.and_then(|size| i64::try_from(size).ok()),
            ..TracedFile::default()
        };
        self.rows.small.files.push(first_seen_ns, row);
    }

    fn total(&mut self, totals: &Totals) {
        self.outcome.received += totals.read.calls + totals.write.calls + totals.faults;
        let left_out = match totals.open_file {
            Some(number) => self.left_out.contains(&number),
            None => self.is_elsewhere(Some(totals.file)),
        };
        if left_out {
            return;
        }
        let (first_ns, last_ns) = (self.utc(totals.first_boot_ns), self.utc(totals.last_boot_ns));
        self.processes.seen(totals.process, first_ns, &self.name, self.trace_ns, self.host.boot_offset_ns);
        self.outcome.totals += 1;
        self.gathered += 1;
        self.rows.counts.operation(Op::Read, totals.read.calls, totals.read.bytes);
        self.rows.counts.operation(Op::Write, totals.write.calls, totals.write.bytes);
        self.rows.counts.operation(Op::Fault, totals.faults, 0);
        let row = IoTotal { host: self.name.as_str().into(), trace_ns: self.trace_ns, first_ns, last_ns, ..rows::io_total(totals) };
        self.rows.totals.at(first_ns).push(&row);
    }

    fn loss(&mut self, loss: &Loss) {
        self.outcome.lost += loss.count;
        *self.outcome.lost_by_reason.entry(loss.reason).or_default() += loss.count;
        if is_operation(loss.kind) {
            self.outcome.lost_operations += loss.count;
            self.outcome.lost_bytes += loss.bytes.unwrap_or(0);
        }
        self.gathered += 1;
        let observed_at_ns = self.utc(loss.observed_boot_ns);
        let row = IoLoss {
            host: self.name.clone().into(),
            trace_ns: self.trace_ns,
            processor: loss.processor.and_then(|cpu| i32::try_from(cpu).ok()),
            kind: loss.kind.into(),
            reason: loss.reason.into(),
            count: loss.count as i64,
            bytes: loss.bytes.and_then(|bytes| i64::try_from(bytes).ok()),
            not_before_ns: self.utc(loss.not_before_boot_ns),
            observed_at_ns,
            ..IoLoss::default()
        };
        self.rows.small.losses.push(observed_at_ns, row);
    }

    fn clock_row(&mut self, reading: Reading) {
        let row = Clock {
            host: self.name.clone().into(),
            trace_ns: self.trace_ns,
            boot_id: self.host.boot_id.clone().map(Into::into),
            boot_ns: reading.boot_ns as i64,
            real_ns: reading.real_ns,
            error_ns: i64::try_from(reading.error_ns).unwrap_or(i64::MAX),
            synchronised: clock::synchronised(),
            ..Clock::default()
        };
        self.rows.small.clocks.push(reading.real_ns, row);
        self.gathered += 1;
    }

    fn host_row(&mut self, state: &'static str, reading: Reading, ended: Option<&Outcome>) {
        let row = Host {
            host: self.name.clone().into(),
            trace_ns: self.trace_ns,
            state: state.into(),
            at_ns: reading.boot_ns as i64 + self.host.boot_offset_ns,
            boot_id: self.host.boot_id.clone().map(Into::into),
            kernel: self.host.kernel.clone().map(Into::into),
            architecture: self.host.architecture.clone().map(Into::into),
            processors: self.host.processors.and_then(|n| i32::try_from(n).ok()),
            memory_bytes: self.host.memory_bytes.and_then(|n| i64::try_from(n).ok()),
            boot_offset_ns: Some(self.host.boot_offset_ns),
            backend: self.backend.name.into(),
            hooks: self.backend.hooks.clone().map(Into::into),
            detail: self.options.detail.name().into(),
            filters: rows::filters(&self.options.filters, self.options.serve.is_some()).map(Into::into),
            command: self.command.clone().map(Into::into),
            ring_bytes: self.backend.ring_bytes.and_then(|n| i64::try_from(n).ok()),
            operations: ended.and_then(|ended| ended.counted).and_then(|n| i64::try_from(n).ok()),
            received: ended.and_then(|ended| i64::try_from(ended.received).ok()),
            lost: ended.and_then(|ended| i64::try_from(ended.lost_operations).ok()),
            command_lines: Some(self.options.command_lines.name().into()),
            ..Host::default()
        };
        self.rows.small.hosts.push(row.at_ns, row);
        self.gathered += 1;
    }

    /// Has everything that has gathered written, in one transaction, while we go on. Waits only
    /// when two flushes before are not written yet, and not for ever.
    ///
    /// # Errors
    /// None at present, as [`Recorder::take`].
    pub fn flush(&mut self) -> Result<(), TraceError> {
        self.flushed = Instant::now();
        self.tell_unwritten();
        let now = self.utc(clock::boot_ns());
        if self.gathered == 0 && !self.processes.unwritten() {
            return Ok(());
        }
        self.processes.write(now, |row| self.rows.small.processes.push(row.as_of_ns, row));
        self.give();
        Ok(())
    }

    /// Has the rows that are there written.
    fn give(&mut self) {
        self.gathered = 0;
        let rows = std::mem::take(&mut self.rows);
        if let Some(small) = self.writing.give(rows) {
            let mut lost = Counts::default();
            self.rows.small.put_before(small, &mut lost);
            self.writing.lose(lost);
            self.gathered += 1;
        }
    }

    /// Ends the trace; `counted` is what the kernel side counted after the filters, where it
    /// counts. When this returns everything is written that could be, and small files are merged.
    ///
    /// # Errors
    /// None at present: [`Outcome::not_written`] says why something could not be written.
    pub fn end(mut self, counted: Option<u64>) -> Result<Outcome, TraceError> {
        self.outcome.counted = counted;
        self.outcome.processes = self.processes.generations();
        // The last row of `hosts` says what was lost of all rows before it: so these are written first. Why something was lost is recorded below.
        self.give();
        let _ = self.writing.drain();
        self.tell_unwritten();
        let reading = clock::pair();
        self.clock_row(reading);
        let outcome = self.outcome.clone();
        self.host_row("ended", reading, Some(&outcome));
        self.processes.finish();
        self.flush()?;
        self.writing.end();
        for (kind, count, bytes) in self.writing.lost().into_iter() {
            self.outcome.lost += count;
            *self.outcome.lost_by_reason.entry(NOT_WRITTEN).or_default() += count;
            if is_operation(kind) {
                self.outcome.lost_operations += count;
                self.outcome.lost_bytes += bytes.unwrap_or(0);
                self.outcome.received = self.outcome.received.saturating_sub(count);
            }
        }
        self.outcome.not_written = self.writing.reason();
        Ok(self.outcome)
    }

    /// Flushes and waits until all is written.
    ///
    /// # Errors
    /// When something could not be written so far.
    pub fn drain(&mut self) -> Result<(), TraceError> {
        self.flush()?;
        self.writing.drain()
    }

    /// Has the thread that writes do something to itself, such as giving up capabilities.
    pub fn in_writer(&mut self, work: fn()) {
        self.writing.call(work);
    }

    /// Says which process is the traced command.
    pub fn command_is(&mut self, pid: u32) {
        self.outcome.command = Some(pid);
    }

    /// Number of records that have arrived.
    pub fn outcome(&self) -> Outcome {
        self.outcome.clone()
    }

    /// The options with which the trace was started.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Whether each read and write is kept.
    pub fn keeps_events(&self) -> bool {
        self.options.detail == Detail::Events
    }

    /// Records what could not be written. These rows wait for a disk with room like others.
    fn tell_unwritten(&mut self) {
        let now = clock::boot_ns();
        let since = std::mem::replace(&mut self.unwritten_since, now);
        for (kind, count, bytes) in self.writing.lost().into_iter() {
            if is_operation(kind) {
                self.outcome.received = self.outcome.received.saturating_sub(count);
            } else {
                // They are recorded once: so they have to be recorded again.
                self.processes.finish();
                self.told_files.clear();
            }
            let (not_before_boot_ns, observed_boot_ns) = (since, now);
            self.loss(&Loss { processor: None, kind, reason: NOT_WRITTEN, count, bytes, not_before_boot_ns, observed_boot_ns });
        }
    }
}

/// Whether the filters by directory let a path pass. A path that is not known passes: leaving it
/// out could lose what was asked for.
fn wanted_path(filters: &Filters, path: Option<&[u8]>) -> bool {
    let Some(path) = path else { return true };
    let path = Path::new(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(path));
    (filters.directories.is_empty() || filters.directories.iter().any(|dir| path.starts_with(dir)))
        && !filters.directories_out.iter().any(|dir| path.starts_with(dir))
}

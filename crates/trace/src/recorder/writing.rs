//! Writing rows while more arrive: a thread of its own owns the dataset's writer, so that a backend
//! is never kept from its ring by a slow disk. Small files are merged meanwhile by one more thread,
//! so that a trace of days leaves no thousands of them and ends at once.
//!
//! A dataset that cannot be written (a full disk, a quota, a limit of file sizes, a folder that is
//! gone) ends no trace, because a program waits for it: operations and sums that were to be written
//! then are counted and dropped, what is said once only (processes, files, losses) is kept for the
//! next try.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use flowmine_dataset::{Builder, DatasetError, Merge, Merged, Transaction, Writer};
use flowmine_schema::Row;
use flowmine_schema::tables::{Clock, Host, IoEvent, IoLoss, IoTotal, Process, TracedFile};
use flowmine_schema::time::Day;

use super::dated::Dated;
use crate::error::TraceError;
use crate::limits;
use crate::record::Op;

/// Rows that are kept until they are written, by the day of their partition.
pub(super) struct Kept<R: Row>(BTreeMap<Day, Vec<R::Of<'static>>>);

impl<R: Row> Default for Kept<R> {
    fn default() -> Self {
        Kept(BTreeMap::new())
    }
}

impl<R: Row> Kept<R> {
    pub(super) fn push(&mut self, utc_ns: i64, row: R::Of<'static>) {
        self.0.entry(Day::new(utc_ns)).or_default().push(row);
    }

    fn write(&self, transaction: &mut Transaction<'_>, host: &str) -> Result<(), DatasetError> {
        for (day, rows) in &self.0 {
            let mut builder = Builder::<R>::with_capacity(rows.len());
            rows.iter().for_each(|row| builder.push(row));
            transaction.append_split(builder, host, *day)?;
        }
        Ok(())
    }

    fn len(&self) -> usize {
        self.0.values().map(Vec::len).sum()
    }

    /// Puts older rows before these.
    fn put_before(&mut self, older: Self) {
        for (day, mut rows) in older.0 {
            let newer = self.0.entry(day).or_default();
            rows.append(newer);
            *newer = rows;
        }
    }
}

/// Rows that are said once only, and are kept until they can be written.
#[derive(Default)]
pub(super) struct Small {
    pub(super) hosts: Kept<Host<'static>>,
    pub(super) clocks: Kept<Clock<'static>>,
    pub(super) processes: Kept<Process<'static>>,
    pub(super) files: Kept<TracedFile<'static>>,
    pub(super) losses: Kept<IoLoss<'static>>,
}

impl Small {
    fn write(&self, transaction: &mut Transaction<'_>, host: &str) -> Result<(), DatasetError> {
        self.hosts.write(transaction, host)?;
        self.clocks.write(transaction, host)?;
        self.processes.write(transaction, host)?;
        self.files.write(transaction, host)?;
        self.losses.write(transaction, host)
    }

    /// Puts older ones before these, as long as they are not too many. Those that are too many are
    /// counted in `lost`.
    pub(super) fn put_before(&mut self, older: Self, lost: &mut Counts) {
        self.hosts.put_before(older.hosts);
        self.losses.put_before(older.losses);
        if self.clocks.len() + older.clocks.len() <= HELD {
            self.clocks.put_before(older.clocks);
        }
        for (held, name, count) in [
            (self.processes.len() + older.processes.len() <= HELD, "process", older.processes.len()),
            (self.files.len() + older.files.len() <= HELD, "open-file", older.files.len()),
        ] {
            if !held {
                lost.add(name, count as u64, None);
            }
        }
        if self.processes.len() + older.processes.len() <= HELD {
            self.processes.put_before(older.processes);
        }
        if self.files.len() + older.files.len() <= HELD {
            self.files.put_before(older.files);
        }
    }
}

/// The rows since the last flush.
#[derive(Default)]
pub(super) struct Gathered {
    pub(super) small: Small,
    pub(super) events: Dated<IoEvent<'static>>,
    pub(super) totals: Dated<IoTotal<'static>>,
    /// What `events` and `totals` hold.
    pub(super) counts: Counts,
}

/// Records by kind, with their bytes where they moved some.
#[derive(Debug, Default)]
pub(super) struct Counts(BTreeMap<&'static str, (u64, Option<u64>)>);

impl Counts {
    pub(super) fn operation(&mut self, op: Op, count: u64, bytes: u64) {
        self.add(op.name(), count, matches!(op, Op::Read | Op::Write).then_some(bytes));
    }

    fn add(&mut self, kind: &'static str, count: u64, bytes: Option<u64>) {
        if count == 0 {
            return;
        }
        let sum = self.0.entry(kind).or_default();
        sum.0 += count;
        sum.1 = bytes.map(|bytes| sum.1.unwrap_or(0) + bytes).or(sum.1);
    }

    fn add_all(&mut self, other: Counts) {
        other.0.into_iter().for_each(|(kind, (count, bytes))| self.add(kind, count, bytes));
    }

    pub(super) fn into_iter(self) -> impl Iterator<Item = (&'static str, u64, Option<u64>)> {
        self.0.into_iter().map(|(kind, (count, bytes))| (kind, count, bytes))
    }
}

/// What could not be written so far, and why.
#[derive(Default)]
struct Unwritten {
    /// Records that could not be written and are not yet reported as lost.
    counts: Counts,
    /// The first error for which something could not be written.
    reason: Option<TraceError>,
    told: Option<String>,
}

impl Unwritten {
    fn because(&mut self, error: TraceError) {
        self.told.get_or_insert_with(|| error.to_string());
        self.reason.get_or_insert(error);
    }
}

enum Order {
    Write(Box<Gathered>),
    /// Answers when all before it is written, or could not be.
    Drain(SyncSender<()>),
    Call(fn()),
}

/// Maximum number of waiting flushes.
const WAITING: usize = 1;
/// Maximum number of processes, and of files, that are kept until the dataset can be written again.
const HELD: usize = 1 << 17;
/// So long a backend waits for a disk that takes nothing; then it goes on and what it has is
/// dropped, until the disk moves.
const PATIENCE: Duration = Duration::from_secs(10);

/// The thread that writes rows into the dataset, and what waits for it.
pub(super) struct Writing {
    /// The channel to the writing thread; `None` when the thread is being ended.
    orders: Option<SyncSender<Order>>,
    thread: Option<JoinHandle<()>>,
    unwritten: Arc<Mutex<Unwritten>>,
    /// The disk has taken nothing for [`PATIENCE`].
    stuck: bool,
}

fn locked(unwritten: &Mutex<Unwritten>) -> MutexGuard<'_, Unwritten> {
    unwritten.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Writing {
    /// # Errors
    /// When no thread can be started.
    pub(super) fn start(writer: Writer, host: String) -> Result<Self, TraceError> {
        let (orders, received) = sync_channel(WAITING);
        let unwritten = Arc::<Mutex<Unwritten>>::default();
        let tally = Arc::clone(&unwritten);
        let thread = std::thread::Builder::new().spawn(move || write(writer, &host, &received, &tally));
        let thread = thread.map_err(TraceError::system("starting a thread"))?;
        Ok(Writing { orders: Some(orders), thread: Some(thread), unwritten, stuck: false })
    }

    /// Has rows written. What is said once comes back when the disk takes nothing.
    pub(super) fn give(&mut self, rows: Gathered) -> Option<Small> {
        let begun = Instant::now();
        let mut order = Order::Write(Box::new(rows));
        loop {
            let sent = match &self.orders {
                Some(orders) => orders.try_send(order),
                None => Err(TrySendError::Disconnected(order)),
            };
            let why = match sent {
                Ok(()) => {
                    self.stuck = false;
                    return None;
                }
                Err(TrySendError::Full(back)) => {
                    if !self.stuck && begun.elapsed() < PATIENCE {
                        std::thread::sleep(Duration::from_millis(2));
                        order = back;
                        continue;
                    }
                    order = back;
                    "the disk of the dataset took nothing for 10 seconds"
                }
                Err(TrySendError::Disconnected(back)) => {
                    order = back;
                    "the thread that writes the dataset failed"
                }
            };
            self.stuck = true;
            let mut unwritten = locked(&self.unwritten);
            unwritten.because(TraceError::NotHere(why.to_owned()));
            let Order::Write(rows) = order else { return None };
            unwritten.counts.add_all(rows.counts);
            return Some(rows.small);
        }
    }

    /// What could not be written since this was last asked.
    pub(super) fn lost(&self) -> Counts {
        std::mem::take(&mut locked(&self.unwritten).counts)
    }

    /// Counts what is dropped here.
    pub(super) fn lose(&self, counts: Counts) {
        locked(&self.unwritten).counts.add_all(counts);
    }

    /// Why something could not be written, if anything.
    pub(super) fn reason(&self) -> Option<String> {
        locked(&self.unwritten).told.clone()
    }

    /// Waits until everything given is written, or could not be.
    ///
    /// # Errors
    /// When something could not be written so far.
    pub(super) fn drain(&mut self) -> Result<(), TraceError> {
        let (answer, answered) = sync_channel(1);
        if let Some(orders) = &self.orders {
            let _ = orders.send(Order::Drain(answer)).is_ok_and(|()| answered.recv().is_ok());
        }
        locked(&self.unwritten).reason.take().map_or(Ok(()), Err)
    }

    pub(super) fn call(&mut self, work: fn()) {
        // A thread that is gone has nothing to do.
        let _ = self.orders.as_ref().map(|orders| orders.send(Order::Call(work)));
    }

    /// Lets the thread write what is left, merge small files for a moment and end.
    pub(super) fn end(&mut self) {
        drop(self.orders.take());
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            locked(&self.unwritten).because(TraceError::NotHere("the thread that writes the dataset failed".to_owned()));
        }
    }
}

fn write(mut writer: Writer, host: &str, orders: &Receiver<Order>, unwritten: &Mutex<Unwritten>) {
    let mut held = Small::default();
    let mut merging = Merging::default();
    let mut given_back = Instant::now();
    while let Ok(order) = orders.recv() {
        match order {
            Order::Write(rows) => {
                let Gathered { mut small, events, totals, counts } = *rows;
                let mut dropped = Counts::default();
                small.put_before(std::mem::take(&mut held), &mut dropped);
                if let Err(error) = flush(&mut writer, host, &small, events, totals) {
                    held = small;
                    dropped.add_all(counts);
                    locked(unwritten).because(error.into());
                }
                locked(unwritten).counts.add_all(dropped);
                // What could not be merged stays as it is: no row is lost by it, and a full disk is
                // reported by the next write.
                let _ = merging.go_on(&mut writer);
                if given_back.elapsed() >= GIVE_BACK_EVERY {
                    give_back();
                    given_back = Instant::now();
                }
            }
            // Whoever asked may have gone.
            Order::Call(work) => work(),
            Order::Drain(answer) => drop(answer.send(())),
        }
    }
    let mut never = Counts::default();
    never.add("process", held.processes.len() as u64, None);
    never.add("open-file", held.files.len() as u64, None);
    locked(unwritten).counts.add_all(never);
    // What is left small can be merged by the next trace as well.
    if let Err(error) = merging.end(&mut writer) {
        locked(unwritten).because(error.into());
    }
}

/// Memory that is free again is given back to the system this often.
const GIVE_BACK_EVERY: Duration = Duration::from_secs(5);

/// Gives free memory back to the system. The C library keeps what threads that are gone had, and
/// each merge is one: a trace of hours would hold several times what it uses.
fn give_back() {
    // SAFETY: malloc_trim(3) takes a number and may be called at any time.
    #[cfg(target_env = "gnu")]
    unsafe {
        libc::malloc_trim(0);
    }
}

/// A merge that runs.
type Merger = JoinHandle<Result<Merged, DatasetError>>;

/// Merges of small files, one at a time, during the writing.
#[derive(Default)]
struct Merging {
    running: Option<Merger>,
    flushes: u32,
}

/// Number of flushes after which a merge is considered: before, there are not enough files of any
/// table.
const FLUSHES: u32 = 16;
/// So long a trace goes on merging at its end.
const AT_THE_END: Duration = Duration::from_millis(500);

impl Merging {
    /// Puts in its place what has been merged, and begins the next one when there is one to do.
    fn go_on(&mut self, writer: &mut Writer) -> Result<(), DatasetError> {
        self.flushes += 1;
        if let Some(done) = self.running.take_if(|running| running.is_finished()) {
            take_merged(done, writer)?;
            // There may be more to do.
            self.flushes = FLUSHES;
        }
        if self.running.is_none() && self.flushes >= FLUSHES {
            self.flushes = 0;
            self.running = begin_merge(writer)?;
        }
        Ok(())
    }

    /// Merges what can be merged soon. A merge that takes longer is left: nothing of it has been
    /// written.
    fn end(mut self, writer: &mut Writer) -> Result<(), DatasetError> {
        let begun = Instant::now();
        while begun.elapsed() < AT_THE_END {
            match self.running.take_if(|running| running.is_finished()) {
                Some(done) => take_merged(done, writer)?,
                None if self.running.is_some() => std::thread::sleep(Duration::from_millis(2)),
                None => match begin_merge(writer)? {
                    Some(merge) => self.running = Some(merge),
                    None => break,
                },
            }
        }
        Ok(())
    }
}

/// Begins the next merge. Where memory is limited or no thread can be had there is none: the files
/// stay as they are, for the next trace.
fn begin_merge(writer: &Writer) -> Result<Option<Merger>, DatasetError> {
    if limits::memory_is_limited() {
        return Ok(None);
    }
    Ok(next_merge(writer)?.and_then(|merge| std::thread::Builder::new().spawn(|| merge.run()).ok()))
}

fn take_merged(done: Merger, writer: &mut Writer) -> Result<(), DatasetError> {
    // A thread that failed leaves the files as they were.
    done.join().map_or(Ok(()), |merged| writer.put_merged(merged?))
}

/// The next merge of any of a trace's tables.
fn next_merge(writer: &Writer) -> Result<Option<Merge>, DatasetError> {
    for next in [
        Writer::next_merge::<IoEvent<'static>>,
        Writer::next_merge::<IoTotal<'static>>,
        Writer::next_merge::<TracedFile<'static>>,
        Writer::next_merge::<Process<'static>>,
        Writer::next_merge::<IoLoss<'static>>,
        Writer::next_merge::<Clock<'static>>,
        Writer::next_merge::<Host<'static>>,
    ] {
        if let Some(merge) = next(writer)? {
            return Ok(Some(merge));
        }
    }
    Ok(None)
}

/// Writes all of it or, when this fails, nothing.
fn flush(
    writer: &mut Writer,
    host: &str,
    small: &Small,
    events: Dated<IoEvent<'static>>,
    totals: Dated<IoTotal<'static>>,
) -> Result<(), DatasetError> {
    let mut transaction = writer.begin()?;
    small.write(&mut transaction, host)?;
    events.write(&mut transaction, host)?;
    totals.write(&mut transaction, host)?;
    transaction.update_manifest(|manifest| {
        manifest.hosts.insert(host.to_owned());
    })?;
    match transaction.commit() {
        // It counts: readers see it, and the next transaction or the next writer puts its files in their places.
        Err(_) if writer.is_unfinished() => Ok(()),
        other => other,
    }
}

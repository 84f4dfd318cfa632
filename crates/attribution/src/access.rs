//! Sums of the operations of one process on one file, updated with each operation, and merged over
//! several processes.

use flowmine_schema::tables::{IoTotal, TaskIo};

use crate::bytes::{put, put_maybe, put_text, put_unsigned, take, take_byte, take_maybe, take_text, take_unsigned};
use crate::files::FileEvent;
use crate::histogram::Histogram;
use crate::partial::tables::OwnerAccess;
use crate::ranges::Ranges;

/// Maximum number of open files of one process on one file with a remembered last offset.
const STREAMS: usize = 8;

/// Sums of the operations of one process, or of all processes of a task, on one file.
#[derive(Debug, Clone, Default)]
pub struct Access {
    /// The transfers that read, if any.
    pub read: Option<Box<Transfers>>,
    /// The transfers that wrote, if any.
    pub write: Option<Box<Transfers>>,
    /// Number of successful opens.
    pub opens: i64,
    /// Number of page faults on mappings of the file.
    pub faults: i64,
    /// Number of mappings of the file (mmap(2)).
    pub mappings: i64,
    /// Lengths of mappings, as far as they are known.
    mapped: Lengths,
    /// Pages of which there was a fault, as far as their size is known.
    faulted: Lengths,
    /// The path of the last open, and when.
    pub path: Option<(i64, Box<str>)>,
    streams: Vec<Stream>,
}

/// Sum of the bytes of mappings or faults, and their number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Lengths {
    bytes: i64,
    count: i64,
}

impl Lengths {
    fn add(&mut self, bytes: Option<i64>) {
        if let Some(bytes) = bytes {
            self.add_all(Self { bytes: bytes.max(0), count: 1 });
        }
    }

    fn add_all(&mut self, other: Self) {
        flowmine_sums::add_to(&mut self.bytes, other.bytes);
        flowmine_sums::add_to(&mut self.count, other.count);
    }

    /// The sum, when there were as many and at least one.
    fn of_all(self, count: i64) -> Option<i64> {
        (count > 0 && self.count == count).then_some(self.bytes)
    }
}

/// The transfers in one direction.
#[derive(Debug, Clone, Default)]
pub struct Transfers {
    /// Number of calls, failed ones included.
    pub calls: i64,
    /// Number of calls that failed.
    pub errors: i64,
    /// Bytes transferred, summed from what the calls returned.
    pub bytes: i64,
    /// When the first that did not fail began, in nanoseconds since 1970.
    pub first_ns: Option<i64>,
    /// When the last that did not fail ended, in nanoseconds since 1970.
    pub last_ns: Option<i64>,
    /// Lowest offset in the file of a transfer, in bytes.
    pub offset_min: Option<i64>,
    /// End of the highest range of a transfer, in bytes.
    pub offset_end: Option<i64>,
    /// Number of transfers that began where the one before ended.
    pub sequential: i64,
    /// Number of transfers that began as far from the one before as that from its predecessor.
    pub strided: i64,
    /// Number of transfers that began elsewhere than sequential and strided ones do.
    pub random: i64,
    /// Smallest number of bytes requested in one call.
    pub size_min: Option<i64>,
    /// Largest number of bytes requested in one call.
    pub size_max: Option<i64>,
    /// Histogram of the bytes requested in each call.
    pub sizes: Histogram,
    /// Time spent in the calls, in nanoseconds.
    pub time_ns: i64,
    /// Duration of the longest call, in nanoseconds.
    pub latency_max_ns: Option<i64>,
    /// Durations of the calls, in nanoseconds.
    pub latencies: Histogram,
    /// The bytes of the file that were touched, each counted once.
    pub ranges: Ranges,
    /// Whether some bytes are at unknown offsets: then the touched ranges are unknown too.
    pub inexact: bool,
    /// Whether even the lowest and the highest offset are unknown.
    pub unplaced: bool,
}

/// Places of the last transfers of an open file.
#[derive(Debug, Clone, Copy, Default)]
struct Stream {
    handle: i64,
    read: Step,
    write: Step,
}

#[derive(Debug, Clone, Copy, Default)]
struct Step {
    /// Offsets at which the last transfer began and ended, in bytes.
    before: Option<(i64, i64)>,
    /// Distance from its predecessor, in bytes.
    stride: Option<i64>,
}

fn least(a: &mut Option<i64>, b: Option<i64>) {
    if let Some(b) = b {
        *a = Some(a.map_or(b, |a| a.min(b)));
    }
}

fn most(a: &mut Option<i64>, b: Option<i64>) {
    if let Some(b) = b {
        *a = Some(a.map_or(b, |a| a.max(b)));
    }
}

impl Transfers {
    fn event(&mut self, event: &FileEvent<'_>, step: Option<&mut Step>) {
        self.calls += 1;
        if let Some(size) = event.size {
            least(&mut self.size_min, Some(size));
            most(&mut self.size_max, Some(size));
            self.sizes.add(size);
        }
        if let Some(time) = event.end_ns.map(|end| end.saturating_sub(event.start_ns).max(0)) {
            flowmine_sums::add_to(&mut self.time_ns, time);
            most(&mut self.latency_max_ns, Some(time));
            self.latencies.add(time);
        }
        let Some(result) = event.result else {
            (self.inexact, self.unplaced) = (true, true);
            return;
        };
        if result < 0 {
            self.errors += 1;
            return;
        }
        least(&mut self.first_ns, Some(event.start_ns));
        most(&mut self.last_ns, Some(event.end_ns.unwrap_or(event.start_ns)));
        flowmine_sums::add_to(&mut self.bytes, result);
        let Some(offset) = event.offset else {
            self.inexact |= result > 0;
            self.unplaced |= result > 0;
            // The next one can be judged by none before it.
            step.map(std::mem::take);
            return;
        };
        let end = offset.saturating_add(result);
        if result > 0 {
            least(&mut self.offset_min, Some(offset));
            most(&mut self.offset_end, Some(end));
            self.ranges.add(offset, result);
        }
        if let Some(step) = step {
            if let Some((began, ended)) = step.before {
                let stride = offset.wrapping_sub(began);
                match () {
                    () if offset == ended => self.sequential += 1,
                    () if step.stride == Some(stride) => self.strided += 1,
                    () => self.random += 1,
                }
                step.stride = Some(stride);
            }
            step.before = Some((offset, end));
        }
    }

    /// Adds the sums of another process; ranges are merged elsewhere.
    fn add(&mut self, other: &Transfers) {
        for (sum, more) in [
            (&mut self.calls, other.calls),
            (&mut self.errors, other.errors),
            (&mut self.bytes, other.bytes),
            (&mut self.sequential, other.sequential),
            (&mut self.strided, other.strided),
            (&mut self.random, other.random),
            (&mut self.time_ns, other.time_ns),
        ] {
            flowmine_sums::add_to(sum, more);
        }
        least(&mut self.first_ns, other.first_ns);
        most(&mut self.last_ns, other.last_ns);
        least(&mut self.offset_min, other.offset_min);
        most(&mut self.offset_end, other.offset_end);
        least(&mut self.size_min, other.size_min);
        most(&mut self.size_max, other.size_max);
        most(&mut self.latency_max_ns, other.latency_max_ns);
        self.sizes.add_all(&other.sizes);
        self.latencies.add_all(&other.latencies);
        self.inexact |= other.inexact;
        self.unplaced |= other.unplaced;
    }

    fn put(&self, bytes: &mut Vec<u8>) {
        for number in [self.calls, self.errors, self.bytes, self.sequential, self.strided, self.random, self.time_ns] {
            put(number, bytes);
        }
        for number in [self.first_ns, self.last_ns, self.offset_min, self.offset_end, self.size_min, self.size_max, self.latency_max_ns] {
            put_maybe(number, bytes);
        }
        self.sizes.put(bytes);
        self.latencies.put(bytes);
        bytes.push(u8::from(self.inexact) | u8::from(self.unplaced) << 1);
    }

    fn take(bytes: &mut &[u8]) -> Option<Self> {
        let mut taken = Self {
            calls: take(bytes)?,
            errors: take(bytes)?,
            bytes: take(bytes)?,
            sequential: take(bytes)?,
            strided: take(bytes)?,
            random: take(bytes)?,
            time_ns: take(bytes)?,
            first_ns: take_maybe(bytes)?,
            last_ns: take_maybe(bytes)?,
            offset_min: take_maybe(bytes)?,
            offset_end: take_maybe(bytes)?,
            size_min: take_maybe(bytes)?,
            size_max: take_maybe(bytes)?,
            latency_max_ns: take_maybe(bytes)?,
            sizes: Histogram::take(bytes)?,
            latencies: Histogram::take(bytes)?,
            ..Self::default()
        };
        let flags = take_byte(bytes)?;
        (taken.inexact, taken.unplaced) = (flags & 1 != 0, flags & 2 != 0);
        Some(taken)
    }

    /// The lowest offset and the end of the highest range, when all are known.
    fn extent(&self) -> (Option<i64>, Option<i64>) {
        if self.unplaced { (None, None) } else { (self.offset_min, self.offset_end) }
    }

    /// Returns the pattern of at least nine of ten transfers that can be classified; `None` if some
    /// offsets are unknown.
    pub fn pattern(&self) -> Option<&'static str> {
        if self.unplaced {
            return None;
        }
        let judged = i128::from(self.sequential) + i128::from(self.strided) + i128::from(self.random);
        let mostly = |count: i64| i128::from(count) * 10 >= judged * 9;
        match () {
            () if judged == 0 => None,
            () if mostly(self.sequential) => Some("sequential"),
            () if mostly(self.strided) => Some("strided"),
            () if mostly(self.random) => Some("random"),
            () => Some("mixed"),
        }
    }

    /// Bytes for each second from the first to the last.
    fn bytes_per_s(&self) -> Option<f64> {
        let time = self.last_ns?.checked_sub(self.first_ns?)?;
        (time > 0).then(|| self.bytes as f64 / (time as f64 / 1e9))
    }
}

/// The memory of an open file; the oldest is forgotten for it.
fn stream(streams: &mut Vec<Stream>, handle: i64) -> &mut Stream {
    let at = match streams.iter().rposition(|stream| stream.handle == handle) {
        Some(at) => at,
        None => {
            if streams.len() == STREAMS {
                streams.remove(0);
            }
            streams.push(Stream { handle, ..Stream::default() });
            streams.len() - 1
        }
    };
    &mut streams[at]
}

impl Access {
    /// Adds an operation; returns the maximum number of ranges that it added.
    pub fn event(&mut self, event: &FileEvent<'_>) -> usize {
        match &*event.op {
            "read" | "write" => {
                let reads = &*event.op == "read";
                let step = event.handle.map(|handle| {
                    let stream = stream(&mut self.streams, handle);
                    if reads { &mut stream.read } else { &mut stream.write }
                });
                let transfers = if reads { &mut self.read } else { &mut self.write }.get_or_insert_default();
                let before = transfers.ranges.kept();
                transfers.event(event, step);
                return transfers.ranges.kept().saturating_sub(before);
            }
            "open" if event.result.is_none_or(|result| result >= 0) => {
                self.opens += 1;
                if let Some(path) = &event.path {
                    self.path = Some((event.start_ns, (**path).into()));
                }
            }
            "close" => {
                if let Some(handle) = event.handle {
                    self.streams.retain(|stream| stream.handle != handle);
                }
            }
            "fault" => {
                self.faults += 1;
                self.faulted.add(event.size);
            }
            "mmap" if event.result.is_none_or(|result| result >= 0) => {
                self.mappings += 1;
                self.mapped.add(event.size);
            }
            _ => {}
        }
        0
    }

    /// Adds operations that were summed in the kernel.
    pub fn total(&mut self, total: &IoTotal<'_>) {
        // A count is at least 0, even if a file contains less.
        let sums = |calls: i64, errors: i64, bytes: i64, time_ns: i64, offset_min, offset_end| Transfers {
            calls: calls.max(0),
            errors: errors.max(0),
            bytes: bytes.max(0),
            time_ns: time_ns.max(0),
            offset_min,
            offset_end,
            first_ns: (calls > errors).then_some(total.first_ns),
            last_ns: (calls > errors).then_some(total.last_ns),
            inexact: bytes > 0,
            unplaced: bytes > 0 && (offset_min.is_none() || offset_end.is_none()),
            ..Transfers::default()
        };
        if total.read_calls > 0 || total.read_bytes > 0 {
            self.read.get_or_insert_default().add(&sums(
                total.read_calls,
                total.read_errors,
                total.read_bytes,
                total.read_time_ns,
                total.read_offset_min,
                total.read_offset_end,
            ));
        }
        if total.write_calls > 0 || total.write_bytes > 0 {
            self.write.get_or_insert_default().add(&sums(
                total.write_calls,
                total.write_errors,
                total.write_bytes,
                total.write_time_ns,
                total.write_offset_min,
                total.write_offset_end,
            ));
        }
        flowmine_sums::add_to(&mut self.faults, total.faults.max(0));
    }

    /// Adds the sums of another; ranges are merged elsewhere.
    pub fn add(&mut self, other: &Access) {
        for (mine, others) in [(&mut self.read, &other.read), (&mut self.write, &other.write)] {
            if let Some(others) = others {
                mine.get_or_insert_default().add(others);
            }
        }
        flowmine_sums::add_to(&mut self.opens, other.opens);
        flowmine_sums::add_to(&mut self.faults, other.faults);
        flowmine_sums::add_to(&mut self.mappings, other.mappings);
        self.mapped.add_all(other.mapped);
        self.faulted.add_all(other.faulted);
        if let Some(path) = &other.path
            && self.path.as_ref().is_none_or(|(at, text)| (*at, text) < (path.0, &path.1))
        {
            self.path = Some(path.clone());
        }
    }

    /// Appends the sums, without ranges.
    pub(crate) fn put(&self, bytes: &mut Vec<u8>) {
        for transfers in [&self.read, &self.write] {
            bytes.push(u8::from(transfers.is_some()));
            if let Some(transfers) = transfers {
                transfers.put(bytes);
            }
        }
        let (mapped, faulted) = (self.mapped, self.faulted);
        let numbers = [self.opens, self.faults, self.mappings, mapped.bytes, mapped.count, faulted.bytes, faulted.count];
        numbers.into_iter().for_each(|number| put_unsigned(number as u64, bytes));
        put_text(self.path.as_ref().map(|(_, path)| &**path), bytes);
        if let Some((at, _)) = &self.path {
            put(*at, bytes);
        }
    }

    pub(crate) fn take(bytes: &mut &[u8]) -> Option<Self> {
        let mut transfers = || match take_byte(bytes)? {
            0 => Some(None),
            _ => Some(Some(Box::new(Transfers::take(bytes)?))),
        };
        let (read, write) = (transfers()?, transfers()?);
        let mut number = || take_unsigned(bytes).map(|number| number as i64);
        let (opens, faults, mappings) = (number()?, number()?, number()?);
        let mapped = Lengths { bytes: number()?, count: number()? };
        let faulted = Lengths { bytes: number()?, count: number()? };
        let path = match take_text(bytes)? {
            None => None,
            Some(path) => Some((take(bytes)?, path.into())),
        };
        Some(Self { read, write, opens, faults, mappings, mapped, faulted, path, streams: Vec::new() })
    }

    /// Fills the columns of a row of a partial result, without ranges.
    pub(crate) fn fill_partial(&self, row: &mut OwnerAccess<'static>) {
        (row.path_ns, row.path) = self.path.as_ref().map(|(at, path)| (*at, path.to_string().into())).unzip();
        (row.opens, row.faults, row.mappings) = (self.opens, self.faults, self.mappings);
        (row.mapped_bytes, row.mapped_count) = (self.mapped.bytes, self.mapped.count);
        (row.faulted_bytes, row.faulted_count) = (self.faulted.bytes, self.faulted.count);
        (row.reads, row.writes) = (self.read.is_some(), self.write.is_some());
        if let Some(read) = &self.read {
            (row.read_calls, row.read_errors, row.read_bytes, row.read_time_ns) = (read.calls, read.errors, read.bytes, read.time_ns);
            (row.sequential_reads, row.strided_reads, row.random_reads) = (read.sequential, read.strided, read.random);
            (row.first_read_ns, row.last_read_ns) = (read.first_ns, read.last_ns);
            (row.read_offset_min, row.read_offset_end) = (read.offset_min, read.offset_end);
            (row.read_size_min, row.read_size_max) = (read.size_min, read.size_max);
            row.read_latency_max_ns = read.latency_max_ns;
            (row.read_sizes, row.read_latencies) = (read.sizes.text().map(Into::into), read.latencies.text().map(Into::into));
            (row.read_inexact, row.read_unplaced) = (read.inexact, read.unplaced);
        }
        if let Some(write) = &self.write {
            (row.write_calls, row.write_errors, row.written_bytes, row.write_time_ns) =
                (write.calls, write.errors, write.bytes, write.time_ns);
            (row.sequential_writes, row.strided_writes, row.random_writes) = (write.sequential, write.strided, write.random);
            (row.first_write_ns, row.last_write_ns) = (write.first_ns, write.last_ns);
            (row.write_offset_min, row.write_offset_end) = (write.offset_min, write.offset_end);
            (row.write_size_min, row.write_size_max) = (write.size_min, write.size_max);
            row.write_latency_max_ns = write.latency_max_ns;
            (row.write_sizes, row.write_latencies) = (write.sizes.text().map(Into::into), write.latencies.text().map(Into::into));
            (row.write_inexact, row.write_unplaced) = (write.inexact, write.unplaced);
        }
    }

    /// The sums in a row of a partial result, without ranges; `None` if they can be none's.
    pub(crate) fn of_partial(row: &OwnerAccess<'_>) -> Option<Self> {
        let read = Transfers {
            calls: row.read_calls,
            errors: row.read_errors,
            bytes: row.read_bytes,
            first_ns: row.first_read_ns,
            last_ns: row.last_read_ns,
            offset_min: row.read_offset_min,
            offset_end: row.read_offset_end,
            sequential: row.sequential_reads,
            strided: row.strided_reads,
            random: row.random_reads,
            size_min: row.read_size_min,
            size_max: row.read_size_max,
            sizes: Histogram::of_text(row.read_sizes.as_deref())?,
            time_ns: row.read_time_ns,
            latency_max_ns: row.read_latency_max_ns,
            latencies: Histogram::of_text(row.read_latencies.as_deref())?,
            ranges: Ranges::default(),
            inexact: row.read_inexact,
            unplaced: row.read_unplaced,
        };
        let write = Transfers {
            calls: row.write_calls,
            errors: row.write_errors,
            bytes: row.written_bytes,
            first_ns: row.first_write_ns,
            last_ns: row.last_write_ns,
            offset_min: row.write_offset_min,
            offset_end: row.write_offset_end,
            sequential: row.sequential_writes,
            strided: row.strided_writes,
            random: row.random_writes,
            size_min: row.write_size_min,
            size_max: row.write_size_max,
            sizes: Histogram::of_text(row.write_sizes.as_deref())?,
            time_ns: row.write_time_ns,
            latency_max_ns: row.write_latency_max_ns,
            latencies: Histogram::of_text(row.write_latencies.as_deref())?,
            ranges: Ranges::default(),
            inexact: row.write_inexact,
            unplaced: row.write_unplaced,
        };
        Some(Self {
            read: row.reads.then(|| Box::new(read)),
            write: row.writes.then(|| Box::new(write)),
            opens: row.opens,
            faults: row.faults,
            mappings: row.mappings,
            mapped: Lengths { bytes: row.mapped_bytes, count: row.mapped_count },
            faulted: Lengths { bytes: row.faulted_bytes, count: row.faulted_count },
            path: row.path_ns.zip(row.path.as_deref()).map(|(at, path)| (at, path.into())),
            streams: Vec::new(),
        })
    }

    /// From the first read or write to the end of the last.
    pub fn span(&self) -> Option<Range> {
        let both = || [&self.read, &self.write].into_iter().flatten();
        let first = both().filter_map(|transfers| transfers.first_ns).min()?;
        let last = both().filter_map(|transfers| transfers.last_ns).max()?;
        Some((first, last))
    }

    /// Fills the columns of a row for which it has values.
    pub fn fill(&self, row: &mut TaskIo<'_>) {
        let none = Transfers::default();
        let (read, write) = (self.read.as_deref().unwrap_or(&none), self.write.as_deref().unwrap_or(&none));
        row.path = self.path.as_ref().map(|(_, path)| path.to_string().into());
        (row.opens, row.faults, row.mappings) = (self.opens, self.faults, self.mappings);
        (row.mapped_bytes, row.faulted_bytes) = (self.mapped.of_all(self.mappings), self.faulted.of_all(self.faults));
        (row.read_calls, row.write_calls) = (read.calls, write.calls);
        (row.read_errors, row.write_errors) = (read.errors, write.errors);
        (row.read_bytes, row.written_bytes) = (read.bytes, write.bytes);
        (row.read_offset_min, row.read_offset_end) = read.extent();
        (row.write_offset_min, row.write_offset_end) = write.extent();
        (row.first_read_ns, row.last_read_ns) = (read.first_ns, read.last_ns);
        (row.first_write_ns, row.last_write_ns) = (write.first_ns, write.last_ns);
        (row.sequential_reads, row.strided_reads, row.random_reads) = (read.sequential, read.strided, read.random);
        (row.sequential_writes, row.strided_writes, row.random_writes) = (write.sequential, write.strided, write.random);
        (row.read_pattern, row.write_pattern) = (read.pattern().map(Into::into), write.pattern().map(Into::into));
        (row.read_size_min, row.read_size_max) = (read.size_min, read.size_max);
        (row.write_size_min, row.write_size_max) = (write.size_min, write.size_max);
        (row.read_sizes, row.write_sizes) = (read.sizes.json().map(Into::into), write.sizes.json().map(Into::into));
        (row.read_time_ns, row.write_time_ns) = (read.time_ns, write.time_ns);
        (row.read_latency_max_ns, row.write_latency_max_ns) = (read.latency_max_ns, write.latency_max_ns);
        (row.read_latencies, row.write_latencies) = (read.latencies.json().map(Into::into), write.latencies.json().map(Into::into));
        (row.read_bytes_per_s, row.write_bytes_per_s) = (read.bytes_per_s(), write.bytes_per_s());
    }
}

/// From one moment to another, in nanoseconds since 1970.
type Range = (i64, i64);

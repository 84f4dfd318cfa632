//! Attempts at tasks, each once, with the records of their engines and the traced sums.
//!
//! The input is the tables `task_runs` and `task_totals`; the result is attempts in the order of
//! their keys, which are those of `task_io.task`. Rows are sorted outside of memory, which holds
//! those with one key.

use flowmine_dataset::Dataset;
use flowmine_schema::Record;
use flowmine_schema::tables::{TaskRun, TaskTotal};
use flowmine_spill::{Sorter, put_ordered_text};

use crate::AttributionError;
use crate::entities::{SameKey, Task, TaskRow, key, of_row, without_number};
use flowmine_privacy::RowRules;

/// An attempt at a task.
#[derive(Debug)]
pub struct TaskAttempt {
    /// Its key, as in `task_io.task`, by the rules for rows.
    pub key: String,
    /// The record of its engine, by the rules for rows.
    pub row: TaskRun<'static>,
    /// Traced sums; `None` if nothing was traced.
    pub traced: Option<Traced>,
}

/// The sums of rows of `task_totals`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Traced {
    /// The host, if there is only one.
    pub host: Option<String>,
    /// Rows: hosts, and on each of them steps, containers and users.
    pub rows: i64,
    /// Number of processes.
    pub processes: i64,
    /// Number of successful opens.
    pub opens: i64,
    /// Calls that read, failed ones included.
    pub read_calls: i64,
    /// Calls that wrote, failed ones included.
    pub write_calls: i64,
    /// Bytes read.
    pub read_bytes: i64,
    /// Bytes written.
    pub written_bytes: i64,
    /// Bytes read at least once; `None` when it is not known, or of several rows, which may have
    /// read the same.
    pub unique_read_bytes: Option<i64>,
    /// Bytes written at least once, with the same meaning of `None`.
    pub unique_written_bytes: Option<i64>,
    /// Time spent in reads, in nanoseconds.
    pub read_time_ns: i64,
    /// Time spent in writes, in nanoseconds.
    pub write_time_ns: i64,
    /// When the first process started, or the task according to its engine, in nanoseconds since
    /// 1970.
    pub started_ns: Option<i64>,
    /// When the first read or write began, in nanoseconds since 1970.
    pub first_ns: Option<i64>,
    /// When the last read or write ended, in nanoseconds since 1970.
    pub last_ns: Option<i64>,
    /// CPU time in user mode, in nanoseconds; `None` when that of a row is not known.
    pub utime_ns: Option<i64>,
    /// CPU time in the kernel, in nanoseconds; `None` if it is not known.
    pub stime_ns: Option<i64>,
}

impl Traced {
    /// Adds a row of `task_totals` to the sums.
    pub fn add(&mut self, row: &TaskTotal<'_>) {
        let first = self.rows == 0;
        self.host = Some(row.host.to_string()).filter(|host| first || self.host.as_ref() == Some(host));
        let both =
            |sum: Option<i64>, more: Option<i64>| if first { more } else { sum.zip(more).map(|(sum, more)| flowmine_sums::add(sum, more)) };
        self.utime_ns = both(self.utime_ns, row.utime_ns);
        self.stime_ns = both(self.stime_ns, row.stime_ns);
        self.unique_read_bytes = row.unique_read_bytes.filter(|_| first);
        self.unique_written_bytes = row.unique_written_bytes.filter(|_| first);
        self.rows += 1;
        for (sum, more) in [
            (&mut self.processes, row.processes),
            (&mut self.opens, row.opens),
            (&mut self.read_calls, row.read_calls),
            (&mut self.write_calls, row.write_calls),
            (&mut self.read_bytes, row.read_bytes),
            (&mut self.written_bytes, row.written_bytes),
            (&mut self.read_time_ns, row.read_time_ns),
            (&mut self.write_time_ns, row.write_time_ns),
        ] {
            flowmine_sums::add_to(sum, more);
        }
        self.started_ns = [self.started_ns, row.started_ns].into_iter().flatten().min();
        self.first_ns = [self.first_ns, row.first_ns].into_iter().flatten().min();
        self.last_ns = self.last_ns.max(row.last_ns);
    }
}

/// A row and what its attempt is known by.
struct KeyedRow {
    task: Task,
    row: TaskRun<'static>,
}

impl AsRef<Task> for KeyedRow {
    fn as_ref(&self) -> &Task {
        &self.task
    }
}

const RUN: u8 = 0;
const TOTAL: u8 = 1;

/// Calls `each` with every attempt. Cached tasks come after attempts with the same key.
///
/// # Errors
/// When the dataset or a temporary file cannot be read or written, or what `each` returns.
pub fn for_each<E: From<AttributionError>>(
    dataset: &Dataset,
    rules: &RowRules,
    mut each: impl FnMut(TaskAttempt) -> Result<(), E>,
) -> Result<(), E> {
    let sorted = sorted(dataset)?;
    let mut walk = sorted.walk().map_err(AttributionError::Temporary)?;
    let mut group = Group::default();
    loop {
        let next = walk.next().map_err(AttributionError::Temporary)?;
        if next.is_none_or(|(key, _)| !key.starts_with(&group.sorted_by)) {
            std::mem::take(&mut group).finish(rules, &mut each)?;
        }
        let Some((key, record)) = next else { return Ok(()) };
        if group.sorted_by.is_empty() {
            group.sorted_by = key.to_vec();
        }
        group.take(record).ok_or(AttributionError::Temporary(flowmine_spill::SpillError::Damaged))?;
    }
}

/// Rows by their key without number.
fn sorted(dataset: &Dataset) -> Result<flowmine_spill::Sorted, AttributionError> {
    let mut sorter = Sorter::default();
    let mut place = Vec::new();
    dataset.read::<TaskRun<'static>, AttributionError>(|row| {
        place.clear();
        put_ordered_text(&key(&of_row(&TaskRow::of(&row))), &mut place);
        let put = sorter.push(&place, |bytes| {
            bytes.push(RUN);
            row.put(bytes);
        });
        put.map_err(AttributionError::Temporary)
    })?;
    dataset.read::<TaskTotal<'static>, AttributionError>(|row| {
        let Some(task) = &row.task else { return Ok(()) };
        place.clear();
        put_ordered_text(without_number(task), &mut place);
        // Behind what engines report, those of one attempt together.
        place.push(TOTAL);
        put_ordered_text(task, &mut place);
        let put = sorter.push(&place, |bytes| {
            bytes.push(TOTAL);
            row.put(bytes);
        });
        put.map_err(AttributionError::Temporary)
    })?;
    sorter.finish().map_err(AttributionError::Temporary)
}

/// The rows of the tasks that share one key.
#[derive(Default)]
struct Group {
    sorted_by: Vec<u8>,
    ran: SameKey<KeyedRow>,
    cached: SameKey<KeyedRow>,
    traced: Vec<(String, Traced)>,
}

impl Group {
    fn take(&mut self, record: &[u8]) -> Option<()> {
        let (kind, row) = record.split_first()?;
        if *kind == RUN {
            let row = TaskRun::take(row)?.into_owned();
            let told = KeyedRow { task: of_row(&TaskRow::of(&row)), row };
            if told.row.cached {
                self.cached.push(told)
            } else {
                self.ran.push(told)
            }
            return Some(());
        }
        let row = TaskTotal::take(row)?;
        let task = row.task.as_deref()?;
        if self.traced.last().is_none_or(|(key, _)| key != task) {
            self.traced.push((task.to_owned(), Traced::default()));
        }
        if let Some((_, traced)) = self.traced.last_mut() {
            traced.add(&row);
        }
        Some(())
    }

    fn finish<E>(self, rules: &RowRules, each: &mut impl FnMut(TaskAttempt) -> Result<(), E>) -> Result<(), E> {
        let Some(same_key) = self.ran.first().or(self.cached.first()).map(|told| key(&told.task)) else { return Ok(()) };
        let ran = self.ran.finish(&same_key, 0);
        let before = ran.len();
        let cached = self.cached.finish(&same_key, before);
        for (key, told) in ran.into_iter().chain(cached) {
            let traced = self.traced.iter().find(|(task, _)| *task == key).map(|(_, traced)| traced.clone());
            each(TaskAttempt { key: rules.apply_task_key(key), row: rules.apply(told.row), traced })?;
        }
        Ok(())
    }
}

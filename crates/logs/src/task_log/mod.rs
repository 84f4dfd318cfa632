//! Tasks, processes and files as event logs: what engines report and traces show in, logs that the
//! writers of `flowmine-eventlog` take out.
//!
//! In go the tables `task_runs`, `task_io`, `task_totals`, `data_flow`, `links` and `processes`.
//! [`objects`] lists the objects, events and relations that an object-centric log has in addition
//! to those of jobs ([`crate::job_log::objects`]); [`cases`] lists the attributes of a log of
//! cases. [`of_jobs`] sums up the traces of jobs, for logs of their cases.
//!
//! An unknown time gives no event. Tasks without an event, and accesses without an owner in the
//! log, are counted ([`LeftOut`]). Everything is sorted outside of memory. Memory grows by 16 bytes
//! for each task in a log that `--from` or `--to` cut, and by about 200 for each traced job.

mod assemble;
pub(crate) mod attributes;
pub mod case_rows;
pub mod cases;
mod files;
pub mod jobs_of_tasks;
mod layers;
mod making;
pub(crate) mod moments;
pub mod notions;
pub mod objects;
mod processes;
pub mod run_names;
mod tasks;

use flowmine_attribution::AttributionError;
use flowmine_attribution::task_attempts::{self, Traced};
use flowmine_correlate::jobs::attempt_name;
use flowmine_correlate::{CorrelateError, Filter};
use flowmine_dataset::{Dataset, DatasetError};
use flowmine_eventlog::{Attribute, IdHash, LogError};
use flowmine_privacy::RowRules;
use flowmine_privacy::drop::DropColumns;
use flowmine_schema::tables::{Process, TaskIo, TaskRun, TaskTotal};
use flowmine_spill::SpillError;
use rustc_hash::FxHashMap;

use self::moments::Moment;
use crate::job_log::CutOff;

pub use cases::TaskCaseLog;
pub use notions::TaskNotion;

/// Why no log could be made of a dataset's tasks.
#[derive(Debug, thiserror::Error)]
pub enum TaskLogError {
    /// The dataset could not be read.
    #[error("{0}")]
    Dataset(#[from] DatasetError),
    /// The jobs of the dataset could not be derived.
    #[error("{0}")]
    Correlate(#[from] CorrelateError),
    /// A temporary file could not be written or read.
    #[error("{0}")]
    Log(#[from] LogError),
}

impl From<AttributionError> for TaskLogError {
    fn from(error: AttributionError) -> Self {
        Self::Correlate(error.into())
    }
}

impl From<SpillError> for TaskLogError {
    fn from(error: SpillError) -> Self {
        Self::Log(error.into())
    }
}

/// Selection of tasks: the dataset, the rules for its rows, and the filter for their events.
#[derive(Debug, Clone, Copy)]
pub struct Tasks<'a> {
    pub(crate) dataset: &'a Dataset,
    pub(crate) rules: &'a RowRules,
    filter: &'a Filter,
    held: Option<&'a HeldUntil>,
}

/// When tasks that were submitted early could start, by the ids of their attempts (`task_io.task`):
/// the end of the last task for which each waited, in nanoseconds since 1970.
pub type HeldUntil = FxHashMap<String, i64>;

impl<'a> Tasks<'a> {
    /// The tasks of a dataset by these rules, and of their events those that pass the filter. No
    /// task is of an account or a user, so that a filter by these lets none pass.
    pub fn new(dataset: &'a Dataset, rules: &'a RowRules, filter: &'a Filter) -> Self {
        Self { dataset, rules, filter, held: None }
    }

    /// The same tasks, of which it is known until when they waited for others after their
    /// submission. Without that, a task queues from its submission on.
    pub fn with_held(self, held: &'a HeldUntil) -> Self {
        Self { held: Some(held), ..self }
    }

    /// The time between the first moment of an attempt and the one from which it queued: its
    /// submission or, if that is later, the end of the tasks for which it waited, in nanoseconds.
    /// `None` if there is none.
    pub(crate) fn before_ready_ns(&self, key: &str, moments: &[Moment]) -> Option<i64> {
        let mut waiting = moments.iter().filter(|moment| moment.number < 2).map(|moment| moment.time_ns);
        let first = waiting.next()?;
        let submitted = waiting.next_back().unwrap_or(first);
        let held = self.held.and_then(|held| held.get(key)).copied();
        let begin = moments.iter().find(|moment| moment.number >= 2).map(|moment| moment.time_ns);
        let ready = held.map_or(submitted, |held| held.max(submitted));
        Some(begin.map_or(ready, |begin| ready.min(begin)).saturating_sub(first)).filter(|before| *before > 0)
    }

    pub(crate) fn wants(&self, time_ns: i64) -> bool {
        self.filter.from_ns.is_none_or(|from| time_ns >= from) && self.filter.to_ns.is_none_or(|to| time_ns < to) && !self.wants_none()
    }

    fn wants_none(&self) -> bool {
        !self.filter.accounts.is_empty() || !self.filter.users.is_empty()
    }

    pub(crate) fn wants_all(&self) -> bool {
        self.filter.from_ns.is_none() && self.filter.to_ns.is_none() && !self.wants_none()
    }
}

/// Calls `each` with each attempt at a task that has a time in the interval that was asked for, and
/// with all when none was.
///
/// # Errors
/// When the dataset or a temporary file cannot be read or written.
pub fn for_each(from: &Tasks<'_>, mut each: impl FnMut(&TaskRun<'_>)) -> Result<(), TaskLogError> {
    task_attempts::for_each::<TaskLogError>(from.dataset, from.rules, |attempt| {
        if from.wants_all() || times(&attempt.row).any(|ns| from.wants(ns)) {
            each(&attempt.row);
        }
        Ok(())
    })
}

/// The times that are known of an attempt.
pub(crate) fn times(row: &TaskRun<'_>) -> impl Iterator<Item = i64> {
    [row.queued_ns, row.submitted_ns, row.started_ns, row.finished_ns, row.cached_ns].into_iter().flatten()
}

/// Whether a dataset has tasks of workflow engines.
///
/// # Errors
/// When it cannot be read.
pub fn has_tasks(dataset: &Dataset) -> Result<bool, DatasetError> {
    Ok(dataset.row_count::<TaskRun<'static>>()? > 0)
}

/// Whether a dataset has anything but jobs to show: tasks, or what was traced.
///
/// # Errors
/// When it cannot be read.
pub fn has_more_than_jobs(dataset: &Dataset) -> Result<bool, DatasetError> {
    Ok(has_tasks(dataset)? || dataset.row_count::<TaskIo<'static>>()? > 0 || dataset.row_count::<Process<'static>>()? > 0)
}

/// Returns whether the dataset has traces that have not been correlated yet.
///
/// # Errors
/// When the dataset cannot be read.
pub fn is_uncorrelated(dataset: &Dataset) -> Result<bool, DatasetError> {
    Ok(dataset.row_count::<Process<'static>>()? > 0 && dataset.row_count::<TaskTotal<'static>>()? == 0)
}

/// What is known and not in the log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Tasks of which no time is known, so that they have no event.
    pub tasks_without_event: u64,
    /// Tasks that are in no case of the notion: those without a tag.
    pub tasks_without_case: u64,
    /// Tasks for which the engine reports an earlier moment after a later one; both get the time of
    /// the later moment.
    pub tasks_clamped: u64,
    /// Rows of `task_io` with reads or writes without an owner in the log.
    pub accesses_of_others: u64,
    /// Bytes read and written in these rows, added up.
    pub bytes_of_others: i64,
    /// Events of the layers of tasks beyond the first hundred of each. Logs of objects alone have
    /// events of layers.
    pub layer_events: u64,
    /// Tasks that a time frame has a part of.
    pub cut_off: CutOff,
}

/// What was traced of each job, by the name of its attempt.
#[derive(Debug, Default)]
pub struct TracedJobs(FxHashMap<IdHash, Traced>);

impl TracedJobs {
    /// Whether nothing was traced of any job.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What was traced of the attempt with this name ([`flowmine_correlate::Jobs::attempt_id`]).
    pub fn of(&self, attempt: &str) -> Option<&Traced> {
        if self.0.is_empty() { None } else { self.0.get(&IdHash::new(attempt)) }
    }
}

/// What was traced, as attributes of the XES extension `io`.
pub(crate) fn io<'r>(traced: &Traced) -> Vec<Attribute<'r>> {
    attributes::of(attributes::IO, traced, &DropColumns::default()).map(Attribute::into_owned).collect()
}

/// Sums up what was traced of jobs.
///
/// # Errors
/// When the dataset cannot be read.
pub fn of_jobs(dataset: &Dataset, rules: &RowRules) -> Result<TracedJobs, DatasetError> {
    let mut jobs = TracedJobs::default();
    dataset.read::<TaskTotal<'static>, DatasetError>(|row| {
        let row = rules.apply(row);
        if let (Some(cluster), Some(job), Some(_)) = (&row.cluster, &row.job, row.job_submit_ns) {
            jobs.0.entry(IdHash::new(&attempt_name(cluster, job, row.job_submit_ns))).or_default().add(&row);
        }
        Ok(())
    })?;
    Ok(jobs)
}

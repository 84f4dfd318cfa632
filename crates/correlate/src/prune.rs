//! Taking out of a dataset what is older than a moment.
//!
//! In go a dataset and the moment; out comes what was taken out of each table. Raw rows go; the
//! tables that [`crate::correlate`] writes are left, and are made again by it.
//!
//! **What stays.** Of jobs: whole submissions (an array with its tasks, a heterogeneous job with
//! its components, a job with all of its attempts) with an attempt that had not ended by then or
//! has no known end. Of traces: whole traces that had not ended by then. The memory of observers,
//! the files that were imported, and the tables `task_runs` and those of imported logs.
//!
//! Refused is a dataset to which another process writes. Hosts that are being traced are skipped
//! and reported.

use flowmine_dataset::{Dataset, DatasetError, Leaf, Pruned, Role, Transaction, Writer};
use flowmine_schema::tables::{Clock, DiagnosticRow, Host, IoEvent, IoLoss, IoTotal, JobDependency, JobState, Process, TracedFile};
use flowmine_schema::time::Day;
use flowmine_schema::{Row, View};
use flowmine_slurm::job_ref;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::parts::{Parts, ROWS_AT_ONCE};
use crate::{CorrelateError, JobAttempt, Jobs, RowRules, Timestamp};

flowmine_schema::columns! {
    /// The attempt at a job that a row is of, and when it was seen.
    struct OfJob of JobState { cluster, job, submit_ns, observed_at_ns }
}

flowmine_schema::columns! {
    /// The attempt at a job that a dependency is of, and when it was seen.
    struct OfDependency of JobDependency { cluster, job, submit_ns, observed_at_ns }
}

flowmine_schema::columns! {
    /// When what a diagnostic is about was noticed.
    struct Observed of DiagnosticRow { observed_at_ns }
}

flowmine_schema::columns! {
    /// Which tasks of an array were still pending (`8_*`).
    struct Remaining of JobState { cluster, job, submit_ns, array_tasks }
}

flowmine_schema::columns! {
    /// Whether a trace had ended, and when that was written.
    struct TraceState of Host { trace_ns, state, at_ns }
}

/// What `flowmine prune` took out of a dataset.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pruning {
    /// Tables that had rows, in the order in which they are documented.
    pub tables: Vec<(&'static str, Pruned)>,
    /// Submissions of jobs that stayed because they had not ended by then.
    pub jobs_left: usize,
    /// Hosts that are being traced: their traces were left.
    pub busy: Vec<String>,
}

impl Pruning {
    fn add(&mut self, table: &'static str, pruned: Pruned) {
        match self.tables.iter_mut().find(|(name, _)| *name == table) {
            Some((_, sum)) => sum.add(pruned),
            None => self.tables.push((table, pruned)),
        }
    }
}

/// Takes out what is older than `before_ns` (nanoseconds since 1970). With `dry` it is only
/// counted.
///
/// # Errors
/// When the dataset cannot be read or written, or another writes raw tables.
pub fn prune(dataset: &Dataset, before_ns: i64, dry: bool) -> Result<Pruning, CorrelateError> {
    let mut done = Pruning::default();
    let who = format!("prune, process {}", std::process::id());
    let mut writer = dataset.writer(Role::Raw, &who)?;
    // No other process adds rows meanwhile.
    let ended = Ended::new(dataset, before_ns)?;
    done.jobs_left = ended.left;
    let mut transaction = writer.begin()?;
    of_table::<OfJob<'static>>(dataset, &mut transaction, &mut done, |row| {
        ended.stays(&row.cluster, &row.job, row.submit_ns, row.observed_at_ns)
    })?;
    of_table::<OfDependency<'static>>(dataset, &mut transaction, &mut done, |row| {
        ended.stays(&row.cluster, &row.job, row.submit_ns, row.observed_at_ns)
    })?;
    of_table::<Observed<'static>>(dataset, &mut transaction, &mut done, |row| row.observed_at_ns.is_none_or(|at| at >= before_ns))?;
    if !dry {
        transaction.commit()?;
    } else {
        drop(transaction);
    }
    for host in dataset.manifest()?.hosts {
        // Traces side by side have a place each. All are held, so that no trace of the host runs.
        let places = dataset.host_places(&host)?;
        let writers: Result<Vec<Writer>, DatasetError> = places.into_iter().map(|role| dataset.writer(role, &who)).collect();
        let mut writers = match writers {
            Ok(writers) => writers,
            Err(DatasetError::Locked { .. }) => {
                done.busy.push(host);
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        let old = old_traces(dataset, &host, before_ns)?;
        for writer in &mut writers {
            of_host(dataset, &mut done, writer, &host, &old, dry)?;
        }
    }
    Ok(done)
}

/// Removes the rows of old traces from the files of one writer of a host.
fn of_host(
    dataset: &Dataset,
    done: &mut Pruning,
    writer: &mut Writer,
    host: &str,
    old: &FxHashSet<i64>,
    dry: bool,
) -> Result<(), CorrelateError> {
    let mut transaction = writer.begin()?;
    macro_rules! traced {
            ($($table:ident),+) => { $({
                for leaf in dataset.leaves::<$table<'static>>()?.iter().filter(|leaf| leaf.host() == Some(host)) {
                    flowmine_schema::columns! {
                        /// The trace to which a row belongs, by its start in nanoseconds since
                        /// 1970.
                        struct OfTrace of $table { trace_ns }
                    }
                    done.add($table::TABLE, transaction.retain::<OfTrace<'static>>(leaf, |row| !old.contains(&row.trace_ns))?);
                }
            })+ };
        }
    traced!(Host, Clock, Process, TracedFile, IoEvent, IoTotal, IoLoss);
    if !dry {
        transaction.commit()?;
    } else {
        drop(transaction);
    }
    Ok(())
}

fn of_table<V: View>(
    dataset: &Dataset,
    transaction: &mut Transaction<'_>,
    done: &mut Pruning,
    mut stays: impl FnMut(&V::Of<'_>) -> bool,
) -> Result<(), CorrelateError> {
    for leaf in dataset.leaves::<V::Table>()? {
        done.add(V::Table::TABLE, transaction.retain::<V>(&leaf, &mut stays)?);
    }
    Ok(())
}

/// Attempts at jobs by cluster and job: when each was submitted, and whether it stays.
type Stays = FxHashMap<(String, String), Vec<(Option<i64>, bool)>>;

/// Which attempts ended before a moment, so that their rows are removed.
struct Ended {
    before_ns: i64,
    stays: Stays,
    left: usize,
}

impl Ended {
    fn new(dataset: &Dataset, before_ns: i64) -> Result<Self, CorrelateError> {
        let mut pending = Pending::new(dataset)?;
        let (mut stays, mut left) = (Stays::default(), 0);
        let rules = RowRules::default();
        Parts::new(dataset, Timestamp::default(), &rules, ROWS_AT_ONCE)?.for_each(|jobs| {
            pending.look(jobs);
            let mut going_on = vec![false; jobs.submissions.len()];
            for attempt in &jobs.attempts {
                let over = attempt.ended_ns.get().is_some_and(|ended| ended < before_ns) || pending.became_tasks(jobs, attempt);
                if !over {
                    going_on[attempt.submission as usize] = true;
                }
            }
            for attempt in &jobs.attempts {
                let key = (jobs.strings.get(attempt.cluster).to_owned(), jobs.strings.get(attempt.job).to_owned());
                stays.entry(key).or_default().push((attempt.submit_ns.get(), going_on[attempt.submission as usize]));
            }
            left += going_on.iter().filter(|on| **on).count();
            Ok::<_, CorrelateError>(())
        })?;
        Ok(Self { before_ns, stays, left })
    }

    /// Whether a row stays: its attempt does or, where that is not known as one, the row itself is
    /// young enough.
    fn stays(&self, cluster: &str, job: &str, submit_ns: Option<i64>, observed_at_ns: i64) -> bool {
        let attempts = self.stays.get(&(cluster.to_owned(), job.to_owned())).map(Vec::as_slice).unwrap_or_default();
        let mut of_row = attempts.iter().filter(|(submit, _)| *submit == submit_ns || submit_ns.is_none()).peekable();
        if of_row.peek().is_none() { observed_at_ns >= self.before_ns } else { of_row.any(|(_, stays)| *stays) }
    }
}

/// What remained of arrays when their records (`8_*`) were last seen: a record never ends when its
/// last task becomes a job.
struct Pending {
    /// Cluster, record, submit time: the indices, as Slurm writes them.
    remained: FxHashMap<(String, String, Option<i64>), String>,
    /// By submission of the part that was looked at, the tasks that were seen; of arrays only.
    tasks: FxHashMap<u32, FxHashSet<i64>>,
}

impl Pending {
    fn new(dataset: &Dataset) -> Result<Self, CorrelateError> {
        let mut remained = FxHashMap::default();
        dataset.read::<Remaining<'static>, CorrelateError>(|row| {
            if let (true, Some(list)) = (job_ref::is_pending_array(&row.job), row.array_tasks) {
                remained.insert((row.cluster.into_owned(), row.job.into_owned(), row.submit_ns), list.into_owned());
            }
            Ok(())
        })?;
        Ok(Self { remained, tasks: FxHashMap::default() })
    }

    /// Goes on to the jobs of the next part: notes which tasks of arrays were seen in it.
    fn look(&mut self, jobs: &Jobs) {
        self.tasks.clear();
        for attempt in jobs.attempts.iter().filter(|_| !self.remained.is_empty()) {
            if let Some(task) = attempt.array_task_id.get() {
                self.tasks.entry(attempt.submission).or_default().insert(task);
            }
        }
    }

    /// Whether each task that a record still stood for was seen as a job of its own.
    fn became_tasks(&self, jobs: &Jobs, attempt: &JobAttempt) -> bool {
        let text = |sym| jobs.strings.get(sym).to_owned();
        let key = || (text(attempt.cluster), text(attempt.job), attempt.submit_ns.get());
        attempt.is_pending_array(&jobs.strings)
            && self.tasks.get(&attempt.submission).is_some_and(|seen| self.remained.get(&key()).is_some_and(|list| all_seen(list, seen)))
    }
}

/// Whether all indices of a list such as `1,3-9,20-40:5%3` are in the set; not, where the list
/// cannot be read or is cut (`...`).
fn all_seen(list: &str, seen: &FxHashSet<i64>) -> bool {
    let indices = list.split_once('%').map_or(list, |(indices, _)| indices);
    indices.split(',').all(|part| {
        let (range, step) = part.split_once(':').unwrap_or((part, "1"));
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        match (first.parse::<i64>(), last.parse::<i64>(), step.parse::<usize>()) {
            // It ends at the first that was not seen, however far a range goes.
            (Ok(first), Ok(last), Ok(step)) if step > 0 && first <= last => (first..=last).step_by(step).all(|index| seen.contains(&index)),
            _ => false,
        }
    })
}

/// Returns the traces of a host that had ended by then. A killed trace had ended if it has no rows
/// in the folder of that day or a later one: no trace of the host runs now.
fn old_traces(dataset: &Dataset, host: &str, before_ns: i64) -> Result<FxHashSet<i64>, CorrelateError> {
    let mut ended: FxHashMap<i64, Option<i64>> = FxHashMap::default();
    each::<TraceState<'static>>(
        dataset,
        host,
        |_| true,
        |row| {
            let end = ended.entry(row.trace_ns).or_default();
            if row.state == "ended" {
                *end = Some(end.unwrap_or(i64::MIN).max(row.at_ns));
            }
        },
    )?;
    let border = Day::new(before_ns);
    let mut young: FxHashSet<i64> = FxHashSet::default();
    macro_rules! seen_in {
        ($($table:ident),+) => { $({
            flowmine_schema::columns! {
                /// The trace to which a row belongs, by its start in nanoseconds since 1970.
                struct OfTrace of $table { trace_ns }
            }
            each::<OfTrace<'static>>(dataset, host, |leaf| leaf.day().is_some_and(|day| day >= border), |row| {
                young.insert(row.trace_ns);
            })?;
        })+ };
    }
    seen_in!(Host, Clock, Process, TracedFile, IoEvent, IoTotal, IoLoss);
    let is_old = |(trace, end): (i64, Option<i64>)| end.map_or(!young.contains(&trace), |end| end < before_ns).then_some(trace);
    Ok(ended.into_iter().filter_map(is_old).collect())
}

fn each<V: View>(
    dataset: &Dataset,
    host: &str,
    wanted: impl Fn(&Leaf) -> bool,
    mut row: impl FnMut(&V::Of<'_>),
) -> Result<(), CorrelateError> {
    for leaf in dataset.leaves::<V::Table>()?.iter().filter(|leaf| leaf.host() == Some(host) && wanted(leaf)) {
        for part in dataset.leaf_parts(leaf)? {
            part.read::<V>()?.iter().for_each(|of| row(&of));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_of_arrays() {
        let seen: FxHashSet<i64> = (0..10).chain([20, 25]).collect();
        for list in ["3-9%3", "0", "1,3,5", "0-9,20,25", "20-29:5", "9-9"] {
            assert!(all_seen(list, &seen), "{list}");
        }
        for list in ["3-10", "11", "", "1,", "1,3,...", "9-3", "0-9223372036854775807", "1:0", "x", "20-30:5"] {
            assert!(!all_seen(list, &seen), "{list}");
        }
    }
}

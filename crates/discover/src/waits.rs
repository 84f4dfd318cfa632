//! Waits of jobs: by cause, user, account, partition, QOS, activity, run, hour and week.
//!
//! In goes one [`JobWait`] after the other ([`Builder::add`]); out come sums of time and of
//! core-time (CPUs × time), medians, the longest examples, the users who occupied the CPUs of a
//! partition while others waited for resources there, and the number of CPUs waited for over time.
//!
//! Causes are ranked by core-time. Waiting for a predecessor comes last: it is the running time of
//! another job.

mod load;
mod occupants;
mod rows;
mod series;
pub mod weeks;

#[cfg(test)]
mod tests;

use flowmine_activity_log::{Interner, JobWait, WaitKind, WaitPart};
use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::Serialize;

pub use load::{NodeCpus, Slot};
pub use occupants::Occupant;
pub use rows::{CauseRow, DIMENSIONS, DimensionRow, Example, Main};
pub use series::Series;

use occupants::Occupancy;
use rows::{CauseSums, DimensionSums, Keys};

/// Waits of jobs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Waits {
    /// Whether the jobs are tasks of workflow engines, each with all its attempts.
    pub of_tasks: bool,
    /// Number of attempts at jobs.
    pub jobs: u64,
    /// Number of those that waited.
    pub waited: u64,
    /// Number of those without known CPUs: their time is in no sum of core-time.
    pub without_cpus: u64,
    /// The first submission, in nanoseconds since 1970.
    pub begin_ns: Option<i64>,
    /// The last known moment, in nanoseconds since 1970.
    pub end_ns: Option<i64>,
    /// Causes, by core-time; waiting for predecessors last.
    pub causes: Vec<CauseRow>,
    /// Values of each of [`DIMENSIONS`], by core-time.
    pub by: Vec<Dimension>,
    /// CPUs waited for over time.
    pub series: Series,
}

/// The values of a dimension.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Dimension {
    /// Its name: one of [`DIMENSIONS`].
    pub name: &'static str,
    /// Its values with their sums.
    pub rows: Vec<DimensionRow>,
}

/// Builder of the sums from jobs.
#[derive(Debug, Default)]
pub struct Builder {
    found: Waits,
    names: Interner,
    causes: FxHashMap<(&'static str, u32), CauseSums>,
    by: FxHashMap<(usize, u32), DimensionSums>,
    occupancy: Occupancy,
    series: series::Builder,
    /// Sums of one job by cause, while it is added.
    of_job: Vec<(&'static str, WaitKind, u32, i64)>,
}

/// Causes in which other jobs hold the resources for which a job waits.
const HELD_BY_OTHERS: [&str; 2] = ["resources", "priority"];

impl Builder {
    /// Adds an attempt at a job.
    pub fn add(&mut self, job: &JobWait<'_>) {
        let (Some(first), Some(last)) = (job.parts.first(), job.parts.last()) else { return };
        let found = &mut self.found;
        found.jobs += 1;
        found.of_tasks |= job.is_task;
        found.begin_ns = Some(found.begin_ns.map_or(first.from_ns, |known| known.min(first.from_ns)));
        found.end_ns = Some(found.end_ns.map_or(last.to_ns, |known| known.max(last.to_ns)));
        let cpus = job.cpus.filter(|cpus| *cpus > 0);
        found.without_cpus += u64::from(cpus.is_none());
        let keys = Keys::new(job, first.from_ns, &mut self.names);
        self.of_job.clear();
        for part in &job.parts {
            self.occupancy.add(part, &keys, cpus);
            if part.kind == WaitKind::Started {
                continue;
            }
            self.series.add(part, cpus);
            let limit = part.limit.map_or(flowmine_activity_log::NONE, |limit| self.names.intern(limit));
            match self.of_job.iter_mut().find(|of| (of.0, of.2) == (part.cause, limit)) {
                Some(of) => of.3 = of.3.saturating_add(part.len_ns()),
                None => self.of_job.push((part.cause, part.kind, limit, part.len_ns())),
            }
        }
        self.found.waited += u64::from(!self.of_job.is_empty());
        for &(cause, kind, limit, time_ns) in &self.of_job {
            let longest = || longest(job, cause);
            let sums = self.causes.entry((cause, limit)).or_insert_with(|| CauseSums::new(kind));
            sums.add(time_ns, cpus, &keys, |time_ns| longest().map(|part| Example::new(job, part, time_ns)));
        }
        for (dimension, key) in keys.all() {
            self.by.entry((dimension, key)).or_default().add(&self.of_job, cpus);
        }
    }

    /// Returns the sums of all jobs that were added.
    pub fn finish(self) -> Waits {
        let Self { mut found, names, causes, by, occupancy, series, .. } = self;
        let names = names.names();
        found.causes = causes.into_iter().map(|((cause, limit), sums)| sums.finish(cause, limit, names)).collect();
        found.causes.sort_by_key(|row| row.rank());
        for row in found.causes.iter_mut().filter(|row| HELD_BY_OTHERS.contains(&row.cause)) {
            row.occupants = occupancy.during(row.cause, names);
        }
        found.by = DIMENSIONS.iter().map(|name| Dimension { name, rows: Vec::new() }).collect();
        for ((dimension, key), sums) in by {
            found.by[dimension].rows.push(sums.finish(names.get(key)));
        }
        for dimension in &mut found.by {
            let by_time = matches!(dimension.name, "hour" | "week");
            dimension.rows.sort_by(|a, b| if by_time { a.value.cmp(&b.value) } else { a.rank().cmp(&b.rank()) });
        }
        found.series = series.finish(found.begin_ns, found.end_ns);
        found
    }
}

/// Returns the longest part of a job with a cause.
fn longest<'p, 'a>(job: &'p JobWait<'a>, cause: &str) -> Option<&'p WaitPart<'a>> {
    let of = job.parts.iter().filter(|part| part.cause == cause);
    // Of equal ones, the first.
    of.min_by_key(|part| std::cmp::Reverse(part.len_ns()))
}

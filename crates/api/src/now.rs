//! The queue at the last observation: what runs, what waits and why, and what failed since a day
//! before.

use std::collections::BTreeMap;

use flowmine_activity_log::{JobWait, WaitKind};
use flowmine_correlate::Timestamp;
use flowmine_correlate::cases;
use flowmine_correlate::waits::last_observation;
use flowmine_dataset::Dataset;
use flowmine_draw::document::Document;
use flowmine_logs::summary::diagnostic_counts;
use schemars::JsonSchema;
use serde::Serialize;

use crate::error::{Context, Result};
use crate::groups::EventFilter;
use crate::job_waits;
use crate::sink::Sink;
use crate::source::SourcePaths;

/// How long before the last observation a failure is listed, in nanoseconds.
const SINCE_NS: i64 = 24 * 3600 * 1_000_000_000;
/// The most jobs of each list.
const LISTED: usize = 500;
/// The state of a job that ended as it should.
const COMPLETED: &str = "COMPLETED";

/// The queue of a dataset at its last observation.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Now {
    /// The last observation, in nanoseconds since 1970; null where nothing was observed.
    pub as_of_ns: Option<i64>,
    /// The time since which failures are counted: a day before the last observation.
    pub since_ns: Option<i64>,
    /// The jobs that have not ended, by what they do.
    pub queue: Vec<InQueue>,
    /// Number of jobs that run, are made ready or are suspended.
    pub running_jobs: u64,
    /// These jobs, the longest first, at most 500.
    pub running: Vec<JobNow>,
    /// Number of jobs that wait.
    pub waiting_jobs: u64,
    /// These jobs, the longest first, at most 500.
    pub waiting: Vec<JobNow>,
    /// Number of jobs that ended in another state than COMPLETED since a day before.
    pub failed_jobs: u64,
    /// These jobs, the latest first, at most 500.
    pub failed: Vec<JobNow>,
    /// Number of jobs that left the queue since a day before, with an unknown outcome.
    pub left_jobs: u64,
    /// Number of inputs that were rejected when the dataset was written.
    pub errors: u64,
    /// Number of odd inputs.
    pub warnings: u64,
}

/// The jobs of a cluster that do the same.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct InQueue {
    /// Name of the cluster.
    pub cluster: String,
    /// `running`, `configuring` or `suspended`, or the cause of the wait as in the table `waits`.
    pub doing: String,
    /// Whether these jobs wait.
    pub waits: bool,
    /// Number of jobs. The record of a pending array is one.
    pub jobs: u64,
    /// Number of CPUs requested or allocated; jobs with an unknown number are left out.
    pub cpus: u64,
    /// The sum of the times since when they do so, in nanoseconds.
    pub sum_ns: u64,
    /// The longest of these times, in nanoseconds.
    pub longest_ns: u64,
}

/// A job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct JobNow {
    /// Name of the cluster.
    pub cluster: String,
    /// The job, as Slurm prints it.
    pub job: String,
    /// Number of the attempt, from 1.
    pub attempt: u32,
    /// Its activity.
    pub activity: String,
    /// The case that it belongs to.
    pub case: String,
    /// The user; null if unknown.
    pub user: Option<String>,
    /// The account that is charged; null if unknown.
    pub account: Option<String>,
    /// The partition, or several with commas between; null if unknown.
    pub partition: Option<String>,
    /// Number of CPUs requested or allocated; null if unknown.
    pub cpus: Option<i64>,
    /// `running`, `configuring` or `suspended`, the cause of the wait, or the state in which it
    /// ended.
    pub doing: String,
    /// The scheduler's reason, as it wrote it; null where there is none.
    pub reason: Option<String>,
    /// When it began to do so or, of a failed job, when it ended; in nanoseconds since 1970. The
    /// begin of a wait is its submission.
    pub since_ns: i64,
}

impl Document for Now {
    const FORMAT: &'static str = "flowmine-now";
}

/// Returns the queue of a dataset at its last observation. The source is a dataset with jobs.
///
/// # Errors
/// When the source is none, or cannot be read.
pub fn now(source: &SourcePaths, filter: &EventFilter, sink: &dyn Sink) -> Result<Now> {
    let dir = source.only_dataset().context("the source is a log file and no dataset: it has no queue")?;
    let dataset = Dataset::open(dir)?;
    let as_of_ns = last_observation(&dataset)?;
    let since_ns = as_of_ns.map(|ns| ns.saturating_sub(SINCE_NS));
    let (warnings, errors) = diagnostic_counts(&dataset)?;
    let mut found = Builder { since_ns: since_ns.unwrap_or(i64::MIN), ..Builder::default() };
    job_waits::for_each(&dataset, &cases::Dependency, filter, Timestamp::default(), sink, |job| found.add(job))?;
    Ok(found.finish(as_of_ns, since_ns, (warnings, errors)))
}

/// Jobs of one list, the first by a number that sorts them.
#[derive(Default)]
struct First {
    count: u64,
    jobs: BTreeMap<(i64, u64), JobNow>,
}

impl First {
    /// Adds a job; those with the largest numbers are dropped where there are too many.
    fn add(&mut self, order: i64, job: JobNow) {
        self.jobs.insert((order, self.count), job);
        self.count += 1;
        if self.jobs.len() > LISTED {
            self.jobs.pop_last();
        }
    }

    fn finish(self) -> (u64, Vec<JobNow>) {
        (self.count, self.jobs.into_values().collect())
    }
}

#[derive(Default)]
struct Builder {
    since_ns: i64,
    queue: BTreeMap<(String, bool, String), InQueue>,
    running: First,
    waiting: First,
    failed: First,
    left: u64,
}

impl Builder {
    fn add(&mut self, job: &JobWait<'_>) {
        let (Some(first), Some(last)) = (job.parts.first(), job.parts.last()) else { return };
        if let Some(ended_ns) = job.ended_ns {
            self.ended(job, ended_ns);
            return;
        }
        let waits = last.kind != WaitKind::Started;
        let from_ns = if waits { first.from_ns } else { last.from_ns };
        let length = u64::try_from(last.to_ns.saturating_sub(from_ns)).unwrap_or(0);
        let of = self.queue.entry((job.cluster.to_owned(), waits, last.cause.to_owned())).or_insert_with(|| InQueue {
            cluster: job.cluster.to_owned(),
            doing: last.cause.to_owned(),
            waits,
            jobs: 0,
            cpus: 0,
            sum_ns: 0,
            longest_ns: 0,
        });
        of.jobs += 1;
        of.cpus = of.cpus.saturating_add(job.cpus.and_then(|cpus| u64::try_from(cpus).ok()).unwrap_or(0));
        of.sum_ns = of.sum_ns.saturating_add(length);
        of.longest_ns = of.longest_ns.max(length);
        let reason = last.reason.map(str::to_owned);
        let listed = JobNow { reason, ..listed(job, last.cause, from_ns) };
        if waits { &mut self.waiting } else { &mut self.running }.add(from_ns, listed);
    }

    fn ended(&mut self, job: &JobWait<'_>, ended_ns: i64) {
        match job.state {
            _ if ended_ns < self.since_ns => {}
            None => self.left += 1,
            Some(COMPLETED) => {}
            Some(state) => self.failed.add(ended_ns.saturating_neg(), listed(job, state, ended_ns)),
        }
    }

    fn finish(self, as_of_ns: Option<i64>, since_ns: Option<i64>, (warnings, errors): (u64, u64)) -> Now {
        let (running_jobs, running) = self.running.finish();
        let (waiting_jobs, waiting) = self.waiting.finish();
        let (failed_jobs, failed) = self.failed.finish();
        let queue = self.queue.into_values().collect();
        Now {
            as_of_ns,
            since_ns,
            queue,
            running_jobs,
            running,
            waiting_jobs,
            waiting,
            failed_jobs,
            failed,
            left_jobs: self.left,
            errors,
            warnings,
        }
    }
}

fn listed(job: &JobWait<'_>, doing: &str, since_ns: i64) -> JobNow {
    JobNow {
        cluster: job.cluster.to_owned(),
        job: job.job.to_owned(),
        attempt: job.attempt,
        activity: job.activity.to_owned(),
        case: job.run.to_owned(),
        user: job.user.map(str::to_owned),
        account: job.account.map(str::to_owned),
        partition: job.partition.map(str::to_owned),
        cpus: job.cpus,
        doing: doing.to_owned(),
        reason: None,
        since_ns,
    }
}

#[cfg(test)]
mod tests {
    use flowmine_activity_log::WaitPart;

    use super::*;

    const DAY: i64 = SINCE_NS;

    fn part(cause: &'static str, kind: WaitKind, from_ns: i64, to_ns: i64) -> WaitPart<'static> {
        let at = |ns| (ns, ns);
        WaitPart {
            cause,
            kind,
            from_ns,
            to_ns,
            from_within_ns: at(from_ns),
            to_within_ns: at(to_ns),
            reason: (kind == WaitKind::Queue).then_some("Priority"),
            limit: None,
            predecessors: None,
            evidence: "poll",
        }
    }

    fn job<'a>(job: &'a str, parts: Vec<WaitPart<'static>>) -> JobWait<'a> {
        JobWait { cluster: "lab", job, attempt: 1, cpus: Some(4), parts, ..JobWait::default() }
    }

    fn found(jobs: &[JobWait<'_>]) -> Now {
        let mut builder = Builder { since_ns: DAY, ..Builder::default() };
        jobs.iter().for_each(|job| builder.add(job));
        builder.finish(Some(2 * DAY), Some(DAY), (1, 2))
    }

    #[test]
    fn jobs_run_wait_fail_or_leave() {
        let until = 2 * DAY;
        let waits = || part("priority", WaitKind::Queue, 10, until);
        let ran = |from| vec![part("priority", WaitKind::Queue, 0, from), part("running", WaitKind::Started, from, until)];
        let ended = |name, state, ended_ns| JobWait { state, ended_ns: Some(ended_ns), ..job(name, ran(5)) };
        let now = found(&[
            job("runs", ran(20)),
            job("ran longer", ran(15)),
            job("waits", vec![part("dependency", WaitKind::Predecessor, 1, 10), waits()]),
            ended("completed", Some("COMPLETED"), until),
            ended("failed", Some("FAILED"), DAY),
            ended("failed later", Some("TIMEOUT"), until),
            ended("failed before", Some("FAILED"), DAY - 1),
            ended("left", None, until),
            job("nothing known", Vec::new()),
        ]);
        let names = |jobs: &[JobNow]| jobs.iter().map(|job| job.job.clone()).collect::<Vec<_>>();
        assert_eq!(names(&now.running), ["ran longer", "runs"]);
        assert_eq!(names(&now.failed), ["failed later", "failed"]);
        // A wait begins with the submission, whatever was waited for then.
        let waiting = &now.waiting[0];
        assert_eq!((waiting.since_ns, waiting.doing.as_str(), waiting.reason.as_deref()), (1, "priority", Some("Priority")));
        assert_eq!((now.running_jobs, now.waiting_jobs, now.failed_jobs, now.left_jobs), (2, 1, 2, 1));
        let queue: Vec<_> = now.queue.iter().map(|of| (of.doing.as_str(), of.waits, of.jobs, of.cpus)).collect();
        assert_eq!(queue, [("running", false, 2, 8), ("priority", true, 1, 4)]);
        assert_eq!(now.queue[0].longest_ns, (until - 15) as u64);
        assert_eq!((now.warnings, now.errors), (1, 2));
    }

    #[test]
    fn lists_are_bounded_and_counts_are_not() {
        let names: Vec<String> = (0..LISTED + 7).map(|number| number.to_string()).collect();
        let waits = |at: usize| vec![part("priority", WaitKind::Queue, 1000 - at as i64, 2 * DAY)];
        let jobs: Vec<_> = names.iter().enumerate().map(|(at, name)| job(name, waits(at))).collect();
        let now = found(&jobs);
        assert_eq!((now.waiting_jobs, now.waiting.len()), ((LISTED + 7) as u64, LISTED));
        assert_eq!(now.waiting[0].job, names[LISTED + 6], "the longest first");
    }
}

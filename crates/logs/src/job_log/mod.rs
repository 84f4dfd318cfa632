//! Jobs as event logs: what `flowmine-correlate` knows of jobs in, logs that the writers of `flowmine-eventlog` take out.
//!
//! Jobs are added part by part ([`flowmine_correlate::parts`]); their records are sorted outside of memory, so memory does not grow with the
//! log. [`objects`] says which objects, events and relations an object-centric log has, [`cases`] which attributes a log of cases.

pub mod cases;
pub mod objects;

use std::rc::Rc;

use flowmine_correlate::cases::CaseNotion;
use flowmine_correlate::{Attempt, Filter, Jobs, Maybe, Sym};
use flowmine_eventlog::LogError;
use flowmine_schema::diagnostic::Diagnostics;
use flowmine_spill::{put_ordered, put_ordered_text};

use crate::task_log::TracedJobs;

pub use cases::JobCaseLog;
pub use objects::JobObjectLog;

/// Takes jobs and makes the logs that were asked for.
pub struct JobLogs {
    filter: Filter,
    objects: Option<objects::Builder>,
    cases: Vec<cases::Builder>,
}

/// The logs.
pub struct Finished {
    /// The object-centric log, if it was asked for.
    pub objects: Option<JobObjectLog>,
    /// A log for each notion, in the order asked for.
    pub cases: Vec<JobCaseLog>,
    /// What could not be told as it is.
    pub diagnostics: Diagnostics,
}

impl JobLogs {
    /// Logs of the events that pass the filter, with what was traced of jobs in those of cases.
    pub fn new(filter: Filter, objects: bool, notions: &[&'static dyn CaseNotion], traced: TracedJobs) -> Self {
        let traced = Rc::new(traced);
        Self {
            filter,
            objects: objects.then(objects::Builder::default),
            cases: notions.iter().map(|notion| cases::Builder::new(*notion, Rc::clone(&traced))).collect(),
        }
    }

    /// Adds the jobs of one part, or all.
    ///
    /// # Errors
    /// When the temporary file cannot be written.
    pub fn add(&mut self, jobs: &Jobs) -> Result<(), LogError> {
        if let Some(objects) = &mut self.objects {
            objects.add(jobs, &self.filter)?;
        }
        for cases in &mut self.cases {
            cases.add(jobs, &self.filter)?;
        }
        Ok(())
    }

    /// The logs, once all jobs have been added.
    ///
    /// # Errors
    /// When the temporary file cannot be written.
    pub fn finish(self) -> Result<Finished, LogError> {
        let mut diagnostics = Diagnostics::default();
        let objects = self.objects.map(|objects| objects.finish(&mut diagnostics)).transpose()?;
        let cases = self.cases.into_iter().map(cases::Builder::finish).collect::<Result<_, _>>()?;
        Ok(Finished { objects, cases, diagnostics })
    }
}

/// A name and where its value comes from.
type Pick<From, To> = (&'static str, fn(&From) -> To);

/// The texts of a job. Those of [`flowmine_correlate::attempts::CHANGING`] may have been others before ([`Jobs::value_at`]).
const TEXTS: [Pick<Attempt, Option<Sym>>; 15] = [
    ("cluster", |a| Some(a.cluster)),
    ("job", |a| Some(a.job)),
    ("name", |a| a.name),
    ("account", |a| a.account),
    ("partition", |a| a.partition),
    ("qos", |a| a.qos),
    ("comment", |a| a.comment),
    ("activity", |a| Some(a.activity)),
    ("command", |a| a.command),
    ("arguments", |a| a.arguments),
    ("work_dir", |a| a.work_dir),
    ("features", |a| a.features),
    ("tres_per_node", |a| a.tres_per_node),
    ("requested_tres", |a| a.requested_tres),
    ("allocated_tres", |a| a.allocated_tres),
];

/// The numbers of a job, likewise.
const NUMBERS: [Pick<Attempt, Maybe>; 18] = [
    ("job_id", |a| Maybe::known(a.job_id)),
    ("attempt", |a| Maybe::known(i64::from(a.number))),
    ("array_job_id", |a| a.array_job_id),
    ("array_task_id", |a| a.array_task_id),
    ("het_job_id", |a| a.het_job_id),
    ("het_offset", |a| a.het_offset),
    ("nodes", |a| a.nodes),
    ("cpus", |a| a.cpus),
    ("memory_bytes", |a| a.memory_bytes),
    ("time_limit_s", |a| a.time_limit_s),
    ("priority", |a| a.priority),
    ("nice", |a| a.nice),
    ("gpus", |a| a.gpus),
    ("max_rss_bytes", |a| a.max_rss_bytes),
    ("cpu_time_ns", |a| a.cpu_time_ns),
    ("exit_code", |a| a.exit_code),
    ("exit_signal", |a| a.exit_signal),
    ("cancelled_by_uid", |a| a.cancelled_by_uid),
];

/// Its bytes as accounting counted them over its whole run.
const BYTES: [Pick<Attempt, Maybe>; 2] = [("read_bytes", |a| a.read_bytes), ("written_bytes", |a| a.written_bytes)];

/// Its times.
const TIMES: [Pick<Attempt, Maybe>; 4] =
    [("submit", |a| a.submit_ns), ("eligible", |a| a.eligible_ns), ("start", |a| a.start_ns), ("end", |a| a.end_ns)];

/// Appends what puts attempts in the order of submission: that of [`Jobs::attempts`], across parts.
fn put_attempt(jobs: &Jobs, attempt: &Attempt, key: &mut Vec<u8>) {
    put_ordered(attempt.since_ns, key);
    put_ordered_text(jobs.text(attempt.cluster), key);
    put_ordered(attempt.job_id, key);
    put_ordered_text(jobs.text(attempt.job), key);
    put_ordered(i64::from(attempt.number), key);
    put_ordered(i64::from(attempt.copy), key);
}

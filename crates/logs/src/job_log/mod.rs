//! Jobs as event logs: what `flowmine-correlate` knows of jobs in, logs that the writers of
//! `flowmine-eventlog` take out.
//!
//! Jobs are added part by part ([`flowmine_correlate::parts`]); their records are sorted outside of
//! memory, so memory does not grow with the log. [`objects`] says which objects, events and
//! relations an object-centric log has, [`cases`] which attributes a log of cases.

pub mod cases;
mod columns;
pub mod objects;

use std::rc::Rc;

use flowmine_correlate::cases::CaseNotion;
use flowmine_correlate::{Entities, Filter};
use flowmine_eventlog::LogError;
use flowmine_schema::diagnostic::Diagnostics;

use crate::task_log::TracedJobs;

pub use cases::JobCaseLog;
pub use objects::JobObjectLog;

/// Attempts that a time frame has a part of, and what it leaves out of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CutOff {
    /// Number of attempts with events within and outside of the time frame.
    pub attempts: u64,
    /// Number of their events outside of it.
    pub events: u64,
}

impl CutOff {
    /// Adds an attempt with `inside` of its `all` events in the time frame.
    pub fn add(&mut self, inside: usize, all: usize) {
        if (1..all).contains(&inside) {
            self.attempts += 1;
            self.events += (all - inside) as u64;
        }
    }
}

/// Takes jobs and makes the logs that were asked for.
pub struct JobLogs {
    filter: Filter,
    objects: Option<objects::Builder>,
    cases: Vec<cases::Builder>,
    cut_off: CutOff,
}

/// The logs that were asked for.
pub struct Finished {
    /// The object-centric log, if it was asked for.
    pub objects: Option<JobObjectLog>,
    /// A log for each notion, in the order asked for.
    pub cases: Vec<JobCaseLog>,
    /// What could not be put into the logs as it is.
    pub diagnostics: Diagnostics,
    /// Jobs of which only a part is in the logs.
    pub cut_off: CutOff,
}

impl JobLogs {
    /// Logs of the events that pass the filter, with what was traced of jobs in those of cases.
    pub fn new(filter: Filter, objects: bool, notions: &[&'static dyn CaseNotion], traced: TracedJobs) -> Self {
        let traced = Rc::new(traced);
        Self {
            filter,
            objects: objects.then(objects::Builder::default),
            cases: notions.iter().map(|notion| cases::Builder::new(*notion, Rc::clone(&traced))).collect(),
            cut_off: CutOff::default(),
        }
    }

    /// Adds the jobs of one part, or all.
    ///
    /// # Errors
    /// When the temporary file cannot be written.
    pub fn add(&mut self, entities: &Entities<'_>) -> Result<(), LogError> {
        if self.filter.from_ns.is_some() || self.filter.to_ns.is_some() {
            let filter = self.filter.resolve(entities.jobs);
            for attempt in &entities.jobs.attempts {
                self.cut_off.add(filter.events(attempt).count(), entities.jobs.events_of(attempt).len());
            }
        }
        if let Some(objects) = &mut self.objects {
            objects.add(entities.jobs, &self.filter)?;
        }
        for cases in &mut self.cases {
            cases.add(entities, &self.filter)?;
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
        Ok(Finished { objects, cases, diagnostics, cut_off: self.cut_off })
    }
}

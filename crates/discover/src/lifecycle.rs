//! Lifecycle: a log in; the waiting and running times of the instances of each activity, and their
//! outcomes, out.
//!
//! *Queue* is from when an instance was ready to when it started, *service* from its start to its
//! end. If one of the two moments is not known, or the second is before the first, the time counts
//! as unknown.

use flowmine_activity_log::{ActivityLog, Cases, Status};
use schemars::JsonSchema;
use serde::Serialize;

use crate::about::About;

/// Options of the lifecycle; there are none yet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Options {}

/// The lifecycle of a log's activities.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Lifecycle {
    /// Description of the log.
    #[serde(flatten)]
    pub about: About,
    /// Activities by time in queue and service, most first, then by instances, then by name.
    pub activities: Vec<Activity>,
    /// The sums over all activities.
    pub total: Activity,
}

/// The instances of an activity.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Activity {
    /// Its name; empty for all activities together.
    pub activity: String,
    /// Number of instances.
    pub instances: u64,
    /// Number of instances that completed.
    pub completed: u64,
    /// Number of instances with the status failed.
    pub failed: u64,
    /// Number of instances that were cancelled or never ran.
    pub aborted: u64,
    /// Number of instances that did not run because an earlier result was reused.
    pub cached: u64,
    /// Number of instances that had not ended at the end of the log.
    pub unfinished: u64,
    /// Number of instances without an outcome in the log.
    pub status_unknown: u64,
    /// Number of second or later attempts; `None` if the log numbers no attempts.
    pub retries: Option<u64>,
    /// Sum of the times from ready to start, in nanoseconds; `None` if it is known for no instance.
    pub queue_ns: Option<i128>,
    /// Number of instances with a known time from ready to start.
    pub queue_known: u64,
    /// Number of instances that start before they are ready.
    pub queue_backwards: u64,
    /// Sum of the times from start to end, in nanoseconds; `None` if it is known for no instance.
    pub service_ns: Option<i128>,
    /// Number of instances with a known time from start to end.
    pub service_known: u64,
    /// Number of instances that end before they start.
    pub service_backwards: u64,
}

impl Activity {
    /// Returns the time in queue and service, as far as known, in nanoseconds.
    pub fn known_ns(&self) -> i128 {
        self.queue_ns.unwrap_or(0) + self.service_ns.unwrap_or(0)
    }

    fn add(&mut self, log: &ActivityLog, at: u32) {
        self.instances += 1;
        let count = match log.status(at) {
            Status::Completed => &mut self.completed,
            Status::Failed => &mut self.failed,
            Status::Aborted => &mut self.aborted,
            Status::Cached => &mut self.cached,
            Status::Unfinished => &mut self.unfinished,
            Status::Unknown => &mut self.status_unknown,
        };
        *count += 1;
        if let Some(attempt) = log.attempt(at) {
            self.retries = Some(self.retries.unwrap_or(0) + u64::from(attempt > 1));
        }
        match log.queue_ns(at) {
            Some(ns) => {
                self.queue_ns = Some(self.queue_ns.unwrap_or(0) + i128::from(ns));
                self.queue_known += 1;
            }
            None => self.queue_backwards += u64::from(log.starts_before_ready(at)),
        }
        match log.service_ns(at) {
            Some(ns) => {
                self.service_ns = Some(self.service_ns.unwrap_or(0) + i128::from(ns));
                self.service_known += 1;
            }
            None => self.service_backwards += u64::from(log.ends_before_start(at)),
        }
    }
}

/// Sums up the lifecycles of instances. Each instance counts once, however many cases it is in.
pub fn discover(log: &ActivityLog, cases: &Cases, _options: &Options) -> Lifecycle {
    let mut activities = vec![Activity::default(); log.activities.len()];
    let mut total = Activity::default();
    for at in 0..log.len() as u32 {
        activities[log.instances.activity[at as usize] as usize].add(log, at);
        total.add(log, at);
    }
    for (number, activity) in activities.iter_mut().enumerate().filter(|(_, activity)| activity.instances > 0) {
        activity.activity = log.activities.get(number as u32).to_owned();
    }
    activities.retain(|activity| activity.instances > 0);
    activities.sort_by(|a, b| {
        let most_first = b.known_ns().cmp(&a.known_ns()).then(b.instances.cmp(&a.instances));
        most_first.then_with(|| a.activity.cmp(&b.activity))
    });
    Lifecycle { about: About::new(log, cases), activities, total }
}

//! Lifecycle: a log in, the time that the instances of each activity spent waiting and running, and
//! what became of them, out.
//!
//! *Queue* is from when an instance was ready to when it started, *service* from its start to its
//! end. Where one of the two times is not known, or the second is before the first, the time is not
//! known and counted as such.

use flowmine_activity_log::{ActivityLog, Cases, Status};
use schemars::JsonSchema;
use serde::Serialize;

use crate::about::About;

/// What is wanted. There is nothing to choose yet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Options {}

/// The lifecycle of a log's activities.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Lifecycle {
    /// The log that the lifecycle is of.
    #[serde(flatten)]
    pub about: About,
    /// By time in queue and service, most first, then by instances, then by name.
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
    /// How many ended as they should.
    pub completed: u64,
    /// How many failed, by their status.
    pub failed: u64,
    /// How many were ended by somebody, or never ran.
    pub aborted: u64,
    /// How many did not run because an earlier result was taken.
    pub cached: u64,
    /// How many had not ended when the log did.
    pub unfinished: u64,
    /// Number of instances of which the log does not say what became of them.
    pub status_unknown: u64,
    /// How many are second or further attempts; `None` when the log numbers no attempts.
    pub retries: Option<u64>,
    /// Time from ready to start, all added up, in nanoseconds; `None` when it is known of none.
    pub queue_ns: Option<i128>,
    /// Number of instances of which the time from ready to start is known.
    pub queue_known: u64,
    /// How many start before they are ready.
    pub queue_backwards: u64,
    /// Time from start to end, all added up, in nanoseconds; `None` when it is known of none.
    pub service_ns: Option<i128>,
    /// Number of instances of which the time from start to end is known.
    pub service_known: u64,
    /// How many end before they start.
    pub service_backwards: u64,
}

impl Activity {
    /// Time in queue and service, as far as it is known.
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

/// Sums up what instances went through. Each instance counts once, in however many cases it is.
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
    Lifecycle { about: About::of(log, cases), activities, total }
}

//! The steps of a dataset's jobs and tasks, and of the activities of a log.

use std::sync::Arc;

use flowmine_activity_log::{ActivityLog, Interner};
use flowmine_correlate::{RowRules, Timestamp};
use flowmine_dataset::Dataset;
use flowmine_logs::steps::{STEP, Sources, StepNames, StepsBuilder};
use flowmine_logs::task_log;
use flowmine_steps::{Builder, Evidence};

use crate::error::Result;
use crate::jobs;
use crate::sink::Sink;

/// Whether one of these keys is the step.
pub fn is_wanted<'k>(keys: impl IntoIterator<Item = &'k String>) -> bool {
    keys.into_iter().any(|key| key == STEP)
}

/// The steps of all jobs and tasks of a dataset, whatever filters a request has: a step has one name
/// in all of them.
///
/// # Errors
/// When the dataset cannot be read.
pub fn of_dataset(dataset: &Dataset, sources: Sources, with_members: bool, sink: &dyn Sink) -> Result<Arc<StepNames>> {
    let rules = RowRules::default();
    let mut builder = StepsBuilder::new(dataset, sources, with_members)?;
    // First, because jobs that were tasks are the same work.
    if task_log::has_tasks(dataset)? {
        builder.add_tasks(dataset, &rules)?;
    }
    if jobs::has_any(dataset)? {
        // The time of an event is no evidence.
        let parts = jobs::parts(dataset, Timestamp::default(), &rules, sink)?;
        let _stage = sink.stage("finding steps");
        parts.for_each(|jobs| -> Result<()> {
            builder.add_jobs(jobs);
            Ok(())
        })?;
    }
    Ok(Arc::new(builder.finish()))
}

/// Names each activity of a log by its step, as far as its name shows that.
pub fn rename(log: &mut ActivityLog) {
    let mut builder = Builder::default();
    for name in log.activities.iter() {
        builder.add(&Evidence { id: name, name: Some(name), ..Evidence::default() });
    }
    let found = builder.finish();
    let mut names = Interner::default();
    let numbers: Vec<u32> = found.of_member.iter().map(|step| names.intern(&found.steps[*step as usize].name)).collect();
    for activity in &mut log.instances.activity {
        *activity = numbers[*activity as usize];
    }
    log.activities = names.into_names();
}

#[cfg(test)]
mod tests {
    use flowmine_activity_log::{EventRow, LogBuilder};

    use super::*;

    #[test]
    fn activities_of_a_log_become_steps() {
        let mut builder = LogBuilder::new(&[]);
        for (time_ns, name) in (1i64..).zip(["align_S1", "align_S2", "sort.sh", "align_S1"]) {
            let activity = builder.activity(name);
            builder.event(&EventRow { activity, time_ns, ..EventRow::default() }).unwrap();
        }
        builder.end_case("1").unwrap();
        let mut log = builder.finish();
        rename(&mut log);
        let names: Vec<&str> = (0..log.len() as u32).map(|at| log.activity(at)).collect();
        assert_eq!(names, ["align_*", "align_*", "sort", "align_*"]);
    }
}

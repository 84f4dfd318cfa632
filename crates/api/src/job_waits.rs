//! What each job of a dataset waited for.

use flowmine_activity_log::JobWait;
use flowmine_correlate::cases::CaseNotion;
use flowmine_correlate::waits::last_observation;
use flowmine_correlate::{Entities, RowRules, Timestamp};
use flowmine_dataset::Dataset;
use flowmine_logs::job_waits;

use crate::error::{Result, ensure};
use crate::groups::EventFilter;
use crate::jobs;
use crate::sink::Sink;

/// Calls `each` with every attempt at a job that passes the filter.
///
/// # Errors
/// When the dataset cannot be read, or has no jobs.
pub fn for_each(
    dataset: &Dataset,
    notion: &'static dyn CaseNotion,
    chosen: &EventFilter,
    timestamp: Timestamp,
    sink: &dyn Sink,
    mut each: impl FnMut(&JobWait<'_>),
) -> Result<()> {
    ensure!(jobs::has_any(dataset)?, "the dataset has no jobs: observe a queue, or import what squeue or sacct wrote");
    let filter = jobs::filter(chosen)?;
    let mut unknown = jobs::Unknown::new(&filter);
    let rules = RowRules::default();
    let until_ns = last_observation(dataset)?;
    let parts = jobs::parts(dataset, timestamp, &rules, sink)?;
    let overview = jobs::overview(dataset, &parts, &rules, &[notion], sink)?;
    let stage = sink.stage("dividing waits");
    let (mut done, total) = (0, parts.count());
    parts.for_each(|jobs| -> Result<()> {
        stage.at(done, total);
        done += 1;
        unknown.look(jobs);
        job_waits::for_each(&Entities { jobs, overview: &overview }, notion, &filter, until_ns, &mut each);
        Ok(())
    })?;
    unknown.say(chosen, sink);
    Ok(())
}

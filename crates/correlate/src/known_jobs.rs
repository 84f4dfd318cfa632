//! Attempts at jobs as attribution wants them: in go [`Jobs`], out come plain values.

use flowmine_attribution::entities::{KnownJob, KnownJobs};

use crate::jobs::Jobs;

/// All attempts but the records of what has not yet become tasks of pending arrays (`8_*`).
pub fn known_jobs(jobs: &Jobs) -> KnownJobs {
    let mut known = KnownJobs::default();
    for attempt in jobs.attempts.iter().filter(|attempt| !attempt.is_pending_array(&jobs.strings)) {
        known.add(KnownJob {
            cluster: jobs.text(attempt.cluster).to_owned(),
            job: jobs.text(attempt.job).to_owned(),
            job_id: attempt.job_id,
            submit_ns: attempt.submit_ns.get(),
            since_ns: attempt.since_ns,
            start_ns: attempt.start_ns.get(),
            ended_ns: attempt.ended_ns.get(),
            user: jobs.text_of(attempt.user).map(Into::into),
            node_list: jobs.text_of(attempt.node_list).map(Into::into),
        });
    }
    known
}

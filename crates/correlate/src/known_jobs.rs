//! Attempts at jobs in the form that attribution takes: in go [`Jobs`], part after part, out come
//! plain values.

use flowmine_attribution::entities::{KnownJob, KnownJobs};

use crate::jobs::Jobs;

/// Returns the attempts of a part, without the records of pending tasks of arrays (`8_*`).
pub fn of_part(jobs: &Jobs) -> impl Iterator<Item = KnownJob> + '_ {
    jobs.attempts.iter().filter(|attempt| !attempt.is_pending_array(&jobs.strings)).map(|attempt| KnownJob {
        cluster: jobs.text(attempt.cluster).to_owned(),
        job: jobs.text(attempt.job).to_owned(),
        job_id: attempt.job_id,
        submit_ns: attempt.submit_ns.get(),
        since_ns: attempt.since_ns,
        start_ns: attempt.start_ns.get(),
        ended_ns: attempt.ended_ns.get(),
        user: jobs.text_of(attempt.user).map(Into::into),
        node_list: jobs.text_of(attempt.node_list).map(Into::into),
    })
}

/// Returns all attempts in the order of submission. Attempts with the same sort key are of one part
/// and keep its order.
pub fn known_jobs(mut all: Vec<KnownJob>) -> KnownJobs {
    all.sort_by(|a, b| (a.since_ns, &a.cluster, a.job_id, &a.job).cmp(&(b.since_ns, &b.cluster, b.job_id, &b.job)));
    let mut known = KnownJobs::default();
    all.into_iter().for_each(|job| known.add(job));
    known
}

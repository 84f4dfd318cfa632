//! Which attempts are attempts at the same thing: submissions.
//!
//! In go attempts; out come submissions: what was submitted at once and is waited for as one. An
//! array with all its tasks and the record of those still pending is one submission, so is a
//! heterogeneous job with its components, and every other job is one, with all its attempts.
//!
//! **Requeue or recycled id?** Job ids wrap, so one id can be that of unrelated jobs. Attempts of
//! one id are looked at in the order of their submit times. A later submit time is a requeue, the
//! next attempt at the same job, unless
//! * the job had left the queue (a `left` row) before that submit time, or
//! * no `left` row is known, but its end is, and more than a day lies between that end and the
//!   submit time, or
//! * the two belong to different users.
//!
//! Then it is another job, of the next *generation* of that id. For an array and a heterogeneous
//! job this is asked of all tasks together: as long as one of them is not gone, a later submit time
//! of another is a requeue.
//!
//! Two cases are not recognised. A job that a user requeues by hand after it has left the queue
//! counts as another job. Where a source has no submit time, an id that was recycled between two
//! polls counts as the same job.

use std::collections::BTreeSet;

use flowmine_slurm::job_ref;
use rustc_hash::FxHashMap;

use crate::attempts::JobAttempt;
use crate::strings::{Strings, Sym};

/// What was submitted at once: an array, a heterogeneous job, or another job, with all attempts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Submission {
    /// Name of the Slurm cluster.
    pub cluster: Sym,
    /// The array's id, the id of the first component, or the job's.
    pub id: i64,
    /// Which use of this id on this cluster among those in the dataset, from 1.
    pub generation: u32,
    /// When it was first submitted (or, where that is unknown, first seen).
    pub since_ns: i64,
    /// How many attempts it has.
    pub attempts: u32,
    /// How many jobs it has: an array those of its tasks that were seen, and the record of those
    /// still pending.
    pub jobs: u32,
    /// The first of its attempts in the order of [`crate::Jobs::attempts`].
    pub first_attempt: u32,
}

/// How long after its end a job without a `left` row can still be requeued under the same id.
pub const REQUEUE_WITHIN_NS: i64 = 24 * 3600 * flowmine_schema::time::SECOND_NS;

/// The id that the whole submission is known by: array id, id of the first component, or job id.
///
/// The label says it (`8_3`, `18+1`) even where the source has no column for it.
pub fn root_id(attempt: &JobAttempt, strings: &Strings) -> i64 {
    let told = job_ref::whole(strings.get(attempt.job));
    told.or(attempt.array_job_id.get()).or(attempt.het_job_id.get()).unwrap_or(attempt.job_id)
}

/// When an attempt is known to be gone for good; `i64::MAX` for never.
fn gone_at(attempt: &JobAttempt) -> i64 {
    match (attempt.left_ns.get(), attempt.ended_ns.get()) {
        (Some(left), _) => left,
        // The first moment that is more than that after its end.
        (None, Some(end)) => end.saturating_add(REQUEUE_WITHIN_NS + 1),
        (None, None) => i64::MAX,
    }
}

/// The attempts of the current generation of one id that have no successor yet.
#[derive(Default)]
struct Generation {
    submission: u32,
    user: Option<Sym>,
    latest: FxHashMap<Sym, (i64, u32)>,
    tasks: BTreeSet<(i64, Sym)>,
    pending_array: Option<(i64, bool)>,
}

impl Generation {
    fn gone_before(&self, submit_ns: i64) -> bool {
        let tasks = self.tasks.last().map(|&(gone, _)| gone);
        // The record of a pending array disappears when the last task has come out of it: once there are tasks they decide, unless
        // submit times are missing, where it alone shows that more tasks of the same array may come.
        let record = self.pending_array.filter(|&(_, submit_known)| tasks.is_none() || !submit_known).map(|(gone, _)| gone);
        tasks.max(record).is_some_and(|gone| gone <= submit_ns)
    }

    /// Takes an attempt in and returns its number at its job.
    fn add(&mut self, attempt: &JobAttempt, strings: &Strings) -> u32 {
        let gone = gone_at(attempt);
        self.user = self.user.or(attempt.user);
        let latest = self.latest.entry(attempt.job).or_insert((gone, 0));
        self.tasks.remove(&(latest.0, attempt.job));
        *latest = (gone, latest.1 + 1);
        let number = latest.1;
        if attempt.is_pending_array(strings) {
            self.pending_array = Some((gone, attempt.submit_ns.is_known()));
        } else {
            self.tasks.insert((gone, attempt.job));
        }
        number
    }
}

/// Finds the submissions and sets `submission` and `number` of every attempt. The submissions come
/// out in the order of their first submit time, then cluster, then id.
pub(crate) fn find(attempts: &mut [JobAttempt], strings: &Strings) -> Vec<Submission> {
    let mut order: Vec<(Sym, i64, i64, Sym, u32, u32)> =
        attempts.iter().enumerate().map(|(at, a)| (a.cluster, root_id(a, strings), a.since_ns, a.job, a.copy, at as u32)).collect();
    order.sort_unstable();
    let mut submissions: Vec<Submission> = Vec::new();
    for same_id in order.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        let mut generation = Generation::default();
        let mut count = 0;
        for batch in same_id.chunk_by(|a, b| a.2 == b.2) {
            let (cluster, id, since_ns, ..) = batch[0];
            let user = batch.iter().find_map(|b| attempts[b.5 as usize].user);
            let other_user = user.is_some() && generation.user.is_some() && user != generation.user;
            if count == 0 || other_user || generation.gone_before(since_ns) {
                count += 1;
                generation = Generation { submission: submissions.len() as u32, ..Generation::default() };
                submissions.push(Submission { cluster, id, generation: count, since_ns, attempts: 0, jobs: 0, first_attempt: 0 });
            }
            for &(.., at) in batch {
                let attempt = &mut attempts[at as usize];
                attempt.number = generation.add(attempt, strings);
                attempt.submission = generation.submission;
                let submission = &mut submissions[generation.submission as usize];
                submission.attempts += 1;
                submission.jobs += u32::from(attempt.number == 1);
            }
        }
    }
    let mut sorted: Vec<u32> = (0..submissions.len() as u32).collect();
    sorted.sort_unstable_by_key(|&at| {
        let s = &submissions[at as usize];
        (s.since_ns, s.cluster, s.id, s.generation)
    });
    let mut place = vec![0u32; sorted.len()];
    for (new, &old) in sorted.iter().enumerate() {
        place[old as usize] = new as u32;
    }
    for attempt in attempts.iter_mut() {
        attempt.submission = place[attempt.submission as usize];
    }
    sorted.iter().map(|&at| submissions[at as usize]).collect()
}
